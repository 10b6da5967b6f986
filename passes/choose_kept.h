// What a loop keeps of its turns for the loop that reverses it (passes/choose.c). Internal to
// passes/.
#ifndef LEAT_PASSES_CHOOSE_KEPT_H
#define LEAT_PASSES_CHOOSE_KEPT_H

#include "passes/regions.h"

// Of the graph's loops; *: node of a reverse's body → what reads the row there in its place.
leat_map leat_choose_kept(const leat_pass_context *context, leat_graph *graph);

#endif
