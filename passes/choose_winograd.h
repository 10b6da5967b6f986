// Convolutions that Winograd's transforms compute: choose_winograd.c finds them. Internal to
// passes/.
#ifndef LEAT_PASSES_CHOOSE_WINOGRAD_H
#define LEAT_PASSES_CHOOSE_WINOGRAD_H

#include "passes/pass.h"

// Makes `winograd` of products that are such convolutions, where it gains.
void leat_choose_winograd(leat_pass_context *context, leat_graph *graph);

#endif
