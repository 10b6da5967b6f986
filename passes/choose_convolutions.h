// Convolutions that are computed otherwise than as one product of windows. Internal to passes/.
#ifndef LEAT_PASSES_CHOOSE_CONVOLUTIONS_H
#define LEAT_PASSES_CHOOSE_CONVOLUTIONS_H

#include "passes/pass.h"

void leat_choose_convolutions(leat_pass_context *context, leat_graph *graph);

#endif
