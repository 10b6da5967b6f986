// How often a loop turns: its attribute `turns`, if it turns as often each time that it runs. Who
// makes a loop sets it, from what the condition compares with a carried integer that grows or
// shrinks by 1; who changes one keeps it true.
#ifndef LEAT_OPS_TURNS_H
#define LEAT_OPS_TURNS_H

#include "ir/graph.h"

static inline bool leat_is_loop(const leat_node *node) {
  return node->op == LEAT_OP_while_loop;
}

// So many times, unless it ends with an error; false: only running shows it.
bool leat_loop_turns(const leat_node *loop, leat_dim *out);
// At most so many times: also of one with another reason to end.
bool leat_loop_most_turns(const leat_node *loop, leat_dim *out);
// Makes the attribute what its nodes say, which may be nothing.
void leat_loop_set_turns(leat_node *loop);
// The same of the node, if it is a loop, and of all loops in its bodies.
void leat_node_set_turns(leat_node *node);
// Whether that and its condition may both be right; *is: what that says if not. The loop may be one
// that is being made, in the graph `around`.
bool leat_loop_turns_hold(const leat_node *loop, const leat_graph *around, leat_dim *is);
// All loops of the graph and its bodies, behind leat_verify.
leat_status leat_verify_turns(const leat_graph *graph, leat_error *error);

// Whether it ends for sure, after however many times: a counter nears what does not change.
bool leat_loop_ends(const leat_node *loop);
// Of a loop that turns so many times: whether the value, in its body, has each number from 0 to
// below that once; and the first that has, {NULL}: nothing is known to.
bool leat_loop_is_row(const leat_node *loop, leat_value value);
leat_value leat_loop_row(const leat_node *loop);
// How much a carried integer grows in each turn; false: it does something else.
bool leat_loop_step(const leat_node *loop, uint32_t carried, int64_t *out);
bool leat_loop_counts(const leat_node *loop, uint32_t carried); // its turns, from 0 on
// The value of an integer that is a constant, made of dims, or what a loop has counted.
bool leat_known_integer(leat_value value, leat_dim *out);

#endif
