// What the files of gradients use of one another. Internal to frontend/gradient/.
#ifndef LEAT_FRONTEND_WALK_H
#define LEAT_FRONTEND_WALK_H

#include "frontend/evaluate/evaluate.h"

// -- gradient.c -----------------------------------------------------------------------------------
// The list of d loss / d target for a list of targets, tensors and states.
ev ev_gradient_list(evaluator *e, leat_value loss, ev targets, leat_span span);
// The trainable variables that the loss depends on, in the order of declaration.
ev ev_trainables(evaluator *e, leat_value loss, leat_span span);

// -- minimize.c -----------------------------------------------------------------------------------
bool ev_check_targets(evaluator *e, ev targets, leat_span span);

// -- zeros.c --------------------------------------------------------------------------------------
// Zeros for the gradient of an output that the loss does not depend on.
leat_value ev_zeros(evaluator *e, const leat_type *type, leat_span span);
bool ev_is_zeros(const evaluator *e, leat_value value);

#endif
