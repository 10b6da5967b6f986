// Reading and writing variables.
#include "ops/shape.h"

bool shape_read(leat_shape_context *context) {
  context->outputs[0] = leat_node_state(context->node)->type;
  return true;
}

static bool check_value(leat_shape_context *context) {
  const leat_state *state = leat_node_state(context->node);
  return leat_type_equal(leat_shape_input(context, 0), &state->type) ||
         leat_shape_fail(context, "the variable %s is %s", state->name,
                         leat_type_text(context->graph->arena, &state->type));
}

bool shape_assign(leat_shape_context *context) {
  return check_value(context);
}
bool shape_assign_add(leat_shape_context *context) {
  return check_value(context);
}
