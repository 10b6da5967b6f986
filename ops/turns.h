// How often a loop turns, as far as its nodes say so: a carried integer that grows or shrinks by 1
// is compared with what is known outside.
#ifndef LEAT_OPS_TURNS_H
#define LEAT_OPS_TURNS_H

#include "ir/graph.h"

// At most so many times; *exact: if it ends at all without an error, so many times.
bool leat_loop_turns(const leat_node *loop, leat_dim *out, bool *exact);
// Whether it ends for sure, after however many times: a counter nears what does not change.
bool leat_loop_ends(const leat_node *loop);
// Of a loop that turns so many times, what in its body has each number from 0 to below that once;
// {NULL}: nothing is known to.
leat_value leat_loop_row(const leat_node *loop);
// How much a carried integer grows in each turn; false: it does something else.
bool leat_loop_step(const leat_node *loop, uint32_t carried, int64_t *out);
// The value of an integer that is a constant, made of dims, or what a loop has counted.
bool leat_known_integer(leat_value value, leat_dim *out);

#endif
