// Ops that bring values from outside, take them there, or hand them on: constants, files, feeds,
// fetches, messages.
#include "ops/ref.h"
#include "ops/shape.h"

#include <string.h>

static bool copy_input(leat_shape_context *context) {
  context->outputs[0] = *leat_shape_input(context, 0);
  return true;
}

static bool as_attribute(leat_shape_context *context) {
  context->outputs[0] = *leat_node_attr(context->node, "type")->type;
  return true;
}

static bool no_outputs(leat_shape_context *context) {
  (void)context;
  return true;
}

bool shape_const(leat_shape_context *context) {
  context->outputs[0] = leat_type_of_tensor(leat_node_attr(context->node, "value")->tensor);
  return true;
}

bool shape_load(leat_shape_context *context) {
  return as_attribute(context);
}
bool shape_feed(leat_shape_context *context) {
  return as_attribute(context);
}
bool shape_recv(leat_shape_context *context) {
  int64_t lag = leat_node_attr(context->node, "lag")->i;
  if (lag < 0 || lag > LEAT_MOST_AT_ONCE)
    return leat_shape_fail(context, "lag is 0 … %d, not %lld", LEAT_MOST_AT_ONCE, (long long)lag);
  if (lag && leat_node_attr(context->node, "type")->type->dtype != LEAT_bool)
    return leat_shape_fail(context, "what lags brings bools, which nobody reads");
  return as_attribute(context);
}
bool shape_fetch(leat_shape_context *context) {
  return no_outputs(context);
}
bool shape_send(leat_shape_context *context) {
  return no_outputs(context);
}
bool shape_print(leat_shape_context *context) {
  return no_outputs(context);
}
bool shape_assert(leat_shape_context *context) {
  leat_dtype dtype = leat_shape_input(context, 0)->dtype;
  if (dtype != LEAT_bool)
    return leat_shape_fail(context, "assert takes bool, not %s", leat_dtype_name(dtype));
  return no_outputs(context);
}
bool shape_identity(leat_shape_context *context) {
  return copy_input(context);
}
bool shape_stop_gradient(leat_shape_context *context) {
  return copy_input(context);
}

bool shape_run_count(leat_shape_context *context) {
  context->outputs[0] = leat_type_scalar(LEAT_i64);
  return true;
}

leat_status ref_identity(leat_ref_context *context) {
  int64_t bytes = leat_tensor_bytes(&context->inputs[0]);
  if (bytes) memcpy(context->outputs[0].data, context->inputs[0].data, (size_t)bytes);
  return LEAT_OK;
}

leat_status ref_stop_gradient(leat_ref_context *context) {
  return ref_identity(context);
}
