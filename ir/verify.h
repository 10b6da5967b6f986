// Checks that a graph keeps the rules of ir/graph.h: order, arity, attribute count, unique names,
// dtypes of the op's class, states that exist, entries whose results and effects are nodes of the
// graph. For our bugs, not for user input.
#ifndef LEAT_IR_VERIFY_H
#define LEAT_IR_VERIFY_H

#include "ir/graph.h"
#include "leat/status.h"

LEAT_MUST_USE leat_status leat_verify(const leat_graph *graph, leat_error *error);

#endif
