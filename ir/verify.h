// Checks that a graph keeps the rules of ir/graph.h: order, arity, attribute count, unique names,
// dtypes of the op's class, states that exist, entries whose results and effects are nodes of the
// graph. For our bugs, not for user input.
//
// A text may be a dump of any phase, so a graph of a text may have every op. On its way through the
// passes a graph has those of its phase, and what the text brought.
#ifndef LEAT_IR_VERIFY_H
#define LEAT_IR_VERIFY_H

#include "ir/graph.h"
#include "leat/status.h"

LEAT_MUST_USE leat_status leat_verify(const leat_graph *graph, leat_error *error);
// And that no op stands in it that belongs to other phases, but for those up to phase `brought`.
LEAT_MUST_USE leat_status leat_verify_phase(const leat_graph *graph, leat_phase phase,
                                            leat_phase brought, leat_error *error);
// Of a text: the first phase that could have dumped it, `brought` of the graphs that become of it.
leat_phase leat_brought_phase(leat_graph *graph);

#endif
