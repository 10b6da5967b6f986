// How products read the windows of a convolution: choose_windows.c says. Internal to passes/.
#ifndef LEAT_PASSES_CHOOSE_WINDOWS_H
#define LEAT_PASSES_CHOOSE_WINDOWS_H

#include "passes/pass.h"

// Makes windows of few channels windows of runs.
void leat_choose_windows(leat_pass_context *context, leat_graph *graph);

#endif
