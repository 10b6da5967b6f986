// What raising is made of (white paper 4.4). Internal to ops/raise/.
//
// The graph has no cycle: a back edge ends in a `next_iteration`, which says its merge. A node is
// in a *frame*: that of the loop that it is computed in, or the root. Where it is alive, there, is
// a boolean function of the predicates of switches (truth.c). What is dead is not computed:
// nodes that live alike become the body of a `conditional`, and a merge one of its results
// (branch.c); a frame becomes a `while_loop` (loop.c). What is used where it may be
// dead is zeros there.
#ifndef LEAT_OPS_RAISE_WEB_H
#define LEAT_OPS_RAISE_WEB_H

#include "ops/raise.h"
#include "ops/region.h"

// -- Truths: truth.c ------------------------------------------------------------------------

typedef uint32_t leat_truth; // equal functions are equal numbers
enum { LEAT_NEVER, LEAT_ALWAYS };

typedef struct leat_truth_node {
  uint32_t variable; // the largest one of it
  leat_truth no, yes;
} leat_truth_node;

typedef leat_vec(uint32_t) leat_truth_support;

// In a map, of a function or a variable.
static inline const void *leat_truth_key(uint32_t number) {
  return (const void *)((uintptr_t)number + 1);
}

typedef struct leat_truths {
  leat_arena *arena;
  leat_vec(leat_truth_node) nodes;
  leat_vec(uint32_t) depths;
  leat_bytes_map known; // what was asked before
  leat_map supports;    // the same, of leat_truth_support_of
  bool full;            // they became too many or too deep, and mean nothing
} leat_truths;

void leat_truths_init(leat_truths *truths, leat_arena *arena);
leat_truth leat_truth_variable(leat_truths *truths, uint32_t variable);
leat_truth leat_truth_not(leat_truths *truths, leat_truth a);
leat_truth leat_truth_and(leat_truths *truths, leat_truth a, leat_truth b);
leat_truth leat_truth_or(leat_truths *truths, leat_truth a, leat_truth b);
// What it is once the variable is known.
leat_truth leat_truth_given(leat_truths *truths, leat_truth a, uint32_t variable, bool holds);
bool leat_truth_implies(leat_truths *truths, leat_truth a, leat_truth b);
// The variables that it depends on, ascending.
leat_truth_support leat_truth_support_of(leat_truths *truths, leat_truth a);

// -- The web: web.c -------------------------------------------------------------------------

typedef struct leat_web_node leat_web_node;
typedef struct leat_web_frame leat_web_frame;

typedef struct leat_web_ref {
  leat_web_node *of;
  uint32_t port;
} leat_web_ref;

// A node as it was, and what stands for it now.
struct leat_web_node {
  leat_node *node;
  leat_web_ref *inputs;
  leat_web_node **controls;
  uint32_t input_count, control_count;
  leat_web_frame *frame; // NULL: of none, being computed from constants alone
  leat_truth live[2];    // of the outputs; the last one of those behind it, too
  leat_truth entered;    // in a frame: where all that it depends on enters, in the one around
  leat_web_node *next;   // of a merge: its `next_iteration`
  bool numbered;         // of a merge: its second output is used
  leat_value *now;       // what stands for the outputs, where nodes are being placed
  leat_node *placed;     // the node, or the newest copy; NULL: none yet
  uint32_t plan, item;   // that gives it: see branch.c
};

typedef struct leat_web_choice {
  leat_web_ref value;
  uint32_t number; // among the inputs of the merge
} leat_web_choice;

// What is placed as one: a node, or a loop.
typedef struct leat_web_item {
  leat_web_node *node; // NULL: a loop
  leat_web_frame *loop;
  leat_truth live;
  leat_web_choice *choices; // of a merge: what is left of its inputs
  uint32_t choice_count;
} leat_web_item;
typedef leat_vec(leat_web_item) leat_web_items;
typedef leat_vec(leat_web_node *) leat_web_nodes;
typedef leat_vec(leat_web_ref) leat_web_refs;

struct leat_web_frame {
  const char *name; // NULL: the root
  leat_web_frame *outer;
  leat_web_nodes enters, leaves;
  leat_web_nodes carried; // the merges that have a next_iteration
  leat_web_node *cond;    // its loop_cond
  leat_web_items items;   // in order
  leat_truth live, again; // in the frame around it; in it, where it has another iteration
  bool listed;            // it is an item of the frame around it
};

typedef struct leat_web_predicate {
  leat_web_ref value;
  leat_truth live;
} leat_web_predicate;

struct leat_web {
  const leat_raising *raising;
  leat_graph *graph;
  leat_arena *scratch;
  leat_truths truths;
  leat_vec(leat_web_predicate) predicates; // by variable
  leat_web_node *nodes;                    // as they were
  leat_map by_node;                        // leat_node * → leat_web_node *
  uint32_t count;
  leat_web_frame root;
  leat_vec(leat_web_frame *) frames;
  bool late;             // a frame was found to be in another one when that had been asked already
  bool state_is_outside; // what is read is of the root: no frame uses a variable any more
  leat_vec(leat_value) iterations; // of the loops around what is being placed, the outermost first
  uint32_t plans;                  // so far
};

// Takes the graph apart. False: it is malformed, reported.
bool leat_web_find(leat_web *web);
// Through what only decides about x (switch, loop_cond): the value that it is.
leat_web_ref leat_web_through(leat_web_ref ref);
leat_truth leat_web_live(leat_web_ref ref);
// Reports at the node; returns false.
bool leat_web_fail(const leat_web *web, const leat_web_node *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
extern const char *const leat_web_too_many;

// -- State in frames: state.c ---------------------------------------------------------------

// Makes what the innermost frame does to variables something that it carries; *out_changed: the
// graph is to be taken apart anew. False: reported.
bool leat_web_carry_state(leat_web *web, bool *out_changed);

// -- Single nodes: node.c -------------------------------------------------------------------

leat_value leat_web_now(leat_web_ref ref);
leat_builder leat_web_builder(const leat_web *web, const leat_web_node *node);
leat_value leat_web_zeros(leat_web *web, leat_web_ref ref); // of its type
// The function as a bool[], made for that node.
leat_value leat_web_compute(leat_web *web, const leat_web_node *at, leat_truth truth);
// What has to do with state or with results of the step: it is never inside of a conditional, and
// says itself what holds where it is dead.
bool leat_web_is_outermost(const leat_web_node *n);
bool leat_web_place_node(leat_web *web, leat_web_node *n, leat_truth live);
bool leat_web_place_merge(leat_web *web, const leat_web_item *item); // of one input that is left

// -- Many: branch.c, loop.c -----------------------------------------------------------

// Places the items at the end of the graph, for what is alive under `context`; afterwards `wanted`
// have what stands for them now. False: reported.
bool leat_web_place(leat_web *web, leat_truth context, const leat_web_items *items,
                    const leat_web_refs *wanted);
bool leat_web_place_loop(leat_web *web, leat_web_frame *loop);
// Calls `use` for each value that the item uses.
typedef void (*leat_web_user)(void *context, leat_web_ref ref);
void leat_web_uses(const leat_web_item *item, leat_web_user use, void *context);
// Notes in what gives the items' values which items give them.
void leat_web_mark(const leat_web_items *items, uint32_t number);
bool leat_web_has_effect(const leat_web_item *item);

#endif
