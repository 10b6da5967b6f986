// Regions of a run-time `if` or `while`, for evaluation and gradients: what is evaluated while one
// is open stands in its body, which is e->at.body.
//
// A body neither reads nor writes state: a variable's value before the region is an input, and what
// a body leaves in it is a result, which is assigned behind the region.
#ifndef LEAT_FRONTEND_REGION_H
#define LEAT_FRONTEND_REGION_H

#include "frontend/values/evaluator.h"
#include "ir/substitution.h"
#include "ops/region.h"

// A variable that a body uses.
typedef struct ev_region_state {
  leat_state *state;
  uint32_t input;                      // its value before
  leat_value now;                      // in the open body; {NULL}: not used there yet
  leat_value left[LEAT_REGION_BODIES]; // what each closed body has written; {NULL}: nothing
  bool written;                        // by some body
} ev_region_state;

typedef struct ev_region {
  leat_op op;
  leat_region built;
  leat_vec(ev_region_state) states;
  uint32_t iteration; // of a while_loop: 1 + the input that counts iterations; 0: none is needed
  ev_scope *scope;    // around it
  ev_context around;
  uint32_t pending; // names in `after`, before the open body
  leat_span span;
} ev_region;

// `name`: what the region is called after.
void ev_region_begin(evaluator *e, ev_region *region, leat_op op, const char *name, leat_span span);
// Between these, statements are the body's, in a scope of its own.
void ev_region_open(evaluator *e);
void ev_region_close(evaluator *e);
// The node's results, behind which the variables have their new values: first `count` that the
// caller gave each body (leat_region_give). NULL: there is a mistake, reported.
leat_node *ev_region_end(evaluator *e, const leat_value *predicate);
void ev_region_drop(evaluator *e);

// Nodes are made in another place until e->at is what it was, which is returned: such as the first
// value of what a loop turns out to carry, or what is done again for a closed body.
ev_context ev_step_out(evaluator *e);                   // around the innermost region
ev_context ev_step_to(evaluator *e, ev_region *region); // into the open body of one around
ev_context ev_step_outermost(evaluator *e);             // of no region
ev_context ev_step_into(evaluator *e, uint32_t body);   // a body of the innermost

// Whether the node is of the open body, and goes when what is evaluated now is taken back.
bool ev_is_taken_back_with_us(const evaluator *e, const leat_node *node);

// state.c asks these inside a body.
leat_value ev_region_read(evaluator *e, leat_state *state, leat_span span);
// The variable whose value the node is: a read, or in an open body what stands for one. NULL: none.
leat_state *ev_state_read(const evaluator *e, const leat_node *node);
leat_value ev_region_last_read(evaluator *e, const leat_state *state); // {NULL}: it was not
void ev_region_write(evaluator *e, leat_state *state, leat_value value);

// -- leaves.c -------------------------------------------------------------------------------------
// A list that holds tensors, or nothing, is taken apart; what it is made of are its leaves.
typedef struct ev_leaf {
  ev value;
  const char *place; // "[1][0]" in the lists; "" of what is no list
} ev_leaf;
typedef leat_vec(ev_leaf) ev_leaves;
// Adds the leaves of two values of one form, which is the lists with the leaves' numbers. NONE:
// they differ in form.
ev ev_take_apart(evaluator *e, ev a, ev b, ev_leaves *out_a, ev_leaves *out_b);
ev ev_put_together(evaluator *e, ev form, const ev *leaves);                   // those by number
const char *ev_leaf_name(evaluator *e, const char *name, const ev_leaf *leaf); // "h_1_0"
const char *ev_form_text(evaluator *e, ev value); // for messages: "f32[3]", "[f32[], i32[]]"

// -- numbered.c -----------------------------------------------------------------------------------
// Nodes of the open body, and of the graphs around it, as one list, in which what a node uses comes
// before it: each has its place there as a number.
typedef struct ev_numbered {
  leat_node **nodes;
  uint32_t count;
  leat_vec(const leat_graph *) graphs; // the open body first
  const uint32_t *begins;              // by graph: the number of its first node
} ev_numbered;
// around: not of the open body alone.
ev_numbered ev_number_nodes(const evaluator *e, bool around, leat_arena *arena);
// Of what it was captured from; `count`: the list has it not.
uint32_t ev_number_of(const ev_numbered *numbered, leat_value value);

// -- repeat.c -------------------------------------------------------------------------------------
// Nodes done again, at the end of the open body, with what stands for others in their places.
typedef struct ev_repetition {
  evaluator *e;
  leat_map copies;       // leat_node * → leat_value *, what stands for its outputs
  leat_node_list copied; // those done again, in that order
  leat_substitution *dims;
} ev_repetition;
ev_repetition ev_repetition_begin(evaluator *e);
// The value itself, if nothing stands for it.
leat_value ev_repeated(const ev_repetition *r, leat_value value);
leat_node *ev_repeat_node(ev_repetition *r, const leat_node *node);
void ev_stand_in(ev_repetition *r, const leat_node *node, leat_value value); // for its only output
// Remembers that the gradient of the results, tensors that were just made, is the rule's.
void ev_record_call(evaluator *e, const ev_function *rule, const ev_list *args, const ev *results,
                    uint32_t count);
// Calls with rules of their own that were done again are such calls there, too.
void ev_repeat_records(ev_repetition *r);

// A copy of what a body does, in the open one, without its effects: its parameters are these
// values, its results go to `out`. Returns the copies by the ids of the body, NULL where there is
// none.
leat_node *const *ev_region_repeat(evaluator *e, const leat_graph *body, const leat_value *params,
                                   leat_value *out);
// What depends on some of `of`, each an only output, on the way to the values is copied, with those
// of `by` in their places: the values become those of that.
void ev_substitute(evaluator *e, leat_value *values, uint32_t count, const leat_value *of,
                   const leat_value *by, uint32_t of_count);

// -- state.c --------------------------------------------------------------------------------------
leat_value ev_last_read(evaluator *e, const leat_state *state); // what it was read as; {NULL}: not
leat_value ev_read(evaluator *e, leat_state *state, leat_span span);
ev ev_read_as(evaluator *e, leat_state *state, const char *hint, leat_span span);
// What the statement read whose nodes begin with number `first` waits for what the statement does:
// no other uses it.
void ev_forget_reads(evaluator *e, uint32_t first);
leat_node *ev_write(evaluator *e, leat_op op, leat_state *state, leat_value value, const char *hint,
                    leat_span span);
leat_state *ev_global_step(evaluator *e, leat_span span);

#endif
