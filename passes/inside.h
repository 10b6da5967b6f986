// Values in branches and loops that a step asks for. Internal to passes/ and session/.
//
// A region gives such a value as a further result, and a branch whether it was taken, a loop
// whether it had an iteration: where the value is missing, the step ends with an error at its
// place. Of a loop it is that of the last iteration, or all, stacked along a new first axis.
#ifndef LEAT_PASSES_INSIDE_H
#define LEAT_PASSES_INSIDE_H

#include "passes/pass.h"

static inline bool leat_is_inside(leat_value value) {
  return value.node && value.node->graph->owner;
}

// What is given for it; new dims are made in `dims`. False: it cannot be given, which is reported.
bool leat_inside_type(leat_dims *dims, leat_diag *diag, const leat_wanted *wanted, leat_type *out);
// The value outside, of a step that is being made: the new nodes stand at the end of its graph, and
// have no control edges but to each other. `value`: what is wanted, in the step.
leat_value leat_inside_take(leat_pass_context *context, leat_graph *step, const leat_wanted *wanted,
                            leat_value value);

#endif
