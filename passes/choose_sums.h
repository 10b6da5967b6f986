// Part of the pass `choose`. Internal to passes/.
#ifndef LEAT_PASSES_CHOOSE_SUMS_H
#define LEAT_PASSES_CHOOSE_SUMS_H

#include "passes/pass.h"

// Says of each loop of the graph that says nothing yet how its sums over turns are made.
void leat_choose_sums(leat_pass_context *context, leat_graph *graph);

#endif
