// What the files of gradients use of one another. Internal to frontend/gradient/.
//
//   gradient.c   the walk of gradients          regions.c   through loops and branches (reversal.h)
//   minimize.c   grad, trainables, apply and
//                minimize                       webs.c      through switches and frames, with
//   directions.c vjp, jvp                                   find_web.c, web_calls.c
//   products.c   sums of products as one product
#ifndef LEAT_FRONTEND_WALK_H
#define LEAT_FRONTEND_WALK_H

#include "frontend/evaluate/evaluate.h"
#include "frontend/values/region.h"
#include "ops/raise.h"

// -- gradient.c -----------------------------------------------------------------------------------
// Where a walk begins: dys are the gradients of ys, tensors or rows, EV_ERROR where there is none.
typedef struct ev_seeds {
  const leat_value *ys;
  const ev *dys;
  uint32_t count;
} ev_seeds;

// The list of the sums of dys[k] · d ys[k] / d target for a list of targets, tensors and states.
// `of` says what does not depend on a target, in a warning; NULL: there is none.
ev ev_gradient_list(evaluator *e, const ev_seeds *seeds, const char *of, ev targets,
                    leat_span span);
// The same of a loss.
ev ev_loss_gradients(evaluator *e, leat_value loss, ev targets, leat_span span);
// Through the open body alone: out[i] is the sum of dys[k] · d ys[k] / d targets[i], EV_ERROR
// where nothing depends on the target. The targets are tensors, made there. False: reported.
bool ev_gradients_between(evaluator *e, const leat_value *ys, const ev *dys, uint32_t count,
                          const ev *targets, uint32_t target_count, ev *out, leat_span span);
// Whether it is a list of variables and tensors that can have gradients, or be gradients. False:
// reported.
bool ev_check_targets(evaluator *e, ev targets, bool may_be_rows, leat_span span);
// The trainable variables that the loss depends on, in the order of declaration.
ev ev_trainables(evaluator *e, leat_value loss, leat_span span);

// What new nodes are called, and where they run: as `like`; the caller puts back what e->at was.
ev_context ev_enter(evaluator *e, const char *path, const leat_node *like);

// -- products.c -----------------------------------------------------------------------------------
// The nodes [first, end) of the open body, and how many inputs among them each is.
typedef struct ev_made {
  leat_arena *scratch;
  uint32_t first, end;
  uint32_t *uses; // from `first` on
} ev_made;
ev_made ev_made_since(evaluator *e, uint32_t first, leat_arena *scratch);
// The gradient, or the same with what it adds up of products, all made for it alone, as one.
ev ev_join_products(evaluator *e, const ev_made *made, ev sum, leat_span span);

// -- regions.c ------------------------------------------------------------------------------------
// The gradients of a node with bodies: of its outputs they are `partials`, EV_ERROR where the loss
// does not depend on one; those of its inputs that are `wanted` go to `out`. False: reported.
bool ev_region_gradients(evaluator *e, leat_node *node, const ev *partials, const bool *wanted,
                         ev *out, leat_span span);

// -- webs.c ---------------------------------------------------------------------------------------
// What a walk goes through instead of the primitives of control flow, which are regions there.
typedef struct ev_webs {
  ev_seeds seeds;
  const ev *targets;
  leat_value *lives, loss; // by target, and of all: what the gradient is dead with; {NULL}: nothing
} ev_webs;
// around: not of the open body alone. False: reported.
bool ev_raise_webs(evaluator *e, bool around, const ev_seeds *seeds, const ev *targets,
                   uint32_t count, leat_span span, ev_webs *out);
// The gradient of that target, which is dead where that or the loss is.
ev ev_dead_again(evaluator *e, const ev_webs *webs, uint32_t target, ev gradient, leat_span span);

// -- find_web.c -----------------------------------------------------------------------------------
// The part that is raised: what the losses are made of that depends on a primitive.
typedef struct ev_web {
  evaluator *e;
  leat_span span;
  leat_arena *scratch;
  ev_numbered all;        // the nodes that are looked at
  bool *depends;          // by number: on a primitive
  const char **frames;    // by number: the frame that it is in, as far as inputs tell; NULL: none
  leat_map frames_around; // interned name of a frame → that of the one around it
  const char *frame;      // that the losses are in, of one turn of which they are; NULL: none
  bool *asked;            // by number: what the losses are made of
  leat_map back_edges;    // leat_node *, a merge → the leat_node * that says what it is next
  leat_node_list leaves;  // of what is asked
  leat_map instead;       // leat_node *, what is asked of the graph around → leat_value *
} ev_web;
bool ev_find_web(ev_web *w, bool around, const ev_seeds *seeds); // whether there is one
bool ev_may_die(const ev_web *w, leat_value value);
bool ev_is_part(const ev_web *w, uint32_t number);
bool ev_is_inside(const ev_web *w, uint32_t number); // of a frame in the one that the losses are in
// Whether a gradient goes through primitives. Of what a loss is made of by others alone all is
// alive where it is.
bool ev_web_is_between(const ev_web *w, const ev *targets, uint32_t count);
const void *ev_target_key(ev target); // the node or the state that it is

// -- web_calls.c ----------------------------------------------------------------------------------
// A result of a call with a rule of its own, where it was raised to.
typedef struct ev_found_result {
  const ev_call_record *of;
  const leat_node *was;
  leat_node *now;
  const ev_list *args;                  // NULL: some are dead there
  const struct ev_found_result *before; // of the same one, elsewhere
} ev_found_result;
typedef struct ev_found_calls {
  evaluator *e;
  leat_span span;
  leat_vec(const ev_found_result *) results;
  leat_map last; // leat_node *, as it was → ev_found_result *
} ev_found_calls;
ev_found_calls ev_no_calls(evaluator *e, leat_span span);
void ev_find_call(const void *calls, const leat_web *web, const leat_node *was, leat_node *now);
bool ev_set_found_calls(const ev_found_calls *calls); // they have their rules; false: reported

#endif
