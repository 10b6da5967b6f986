// Dims that are known only while running: their binding, and the checks that two dims are equal
// where their forms do not say so.
#include "ops/ref.h"
#include "ops/shape.h"

#include <string.h>

bool shape_bind(leat_shape_context *context) {
  const leat_atom *atom = leat_dim_atom(leat_node_attr(context->node, "size")->dim);
  const leat_type *count = leat_shape_input(context, 0);
  if (count->dtype != LEAT_i64 || count->rank != 0)
    return leat_shape_fail(context, "a dim is bound to an i64 scalar");
  if (!atom || atom->kind != LEAT_ATOM_ANONYMOUS)
    return leat_shape_fail(context, "only a dim like `?1` is bound");
  const leat_node *binder = leat_graph_binder(context->graph, atom);
  if (binder && binder != context->node && binder->name != context->node->name)
    return leat_shape_fail(context, "`%s` binds %s already", binder->name, atom->name);
  return true;
}

bool shape_check_dims(leat_shape_context *context) {
  uint32_t found = leat_node_attr(context->node, "found")->count;
  uint32_t expected = leat_node_attr(context->node, "expected")->count;
  return found == expected || leat_shape_fail(context, "%u dims and %u", found, expected);
}

bool shape_ensure_shape(leat_shape_context *context) {
  const leat_type *x = leat_shape_input(context, 0);
  const leat_attr *shape = leat_node_attr(context->node, "shape");
  leat_type *out = &context->outputs[0];
  if (!leat_shape_of_dims(context, x->dtype, shape, out)) return false;
  if (out->rank != x->rank)
    return leat_shape_fail(context, "rank %d expected, found %d", out->rank, x->rank);
  for (int32_t i = 0; i < x->rank; i++)
    if (!leat_dims_may_be_equal(context->graph, x->dims[i], out->dims[i]))
      return leat_shape_dims_equal(context, x->dims[i], out->dims[i], "axis %d", i);
  return true;
}

leat_status ref_ensure_shape(leat_ref_context *context) {
  const leat_tensor *x = &context->inputs[0], *out = &context->outputs[0];
  for (int32_t i = 0; i < x->rank; i++)
    if (x->shape[i] != out->shape[i])
      return leat_ref_fail(context, LEAT_INVALID, "axis %d: %lld and %lld differ", i,
                           (long long)x->shape[i], (long long)out->shape[i]);
  int64_t bytes = leat_tensor_bytes(x);
  if (bytes) memcpy(out->data, x->data, (size_t)bytes);
  return LEAT_OK;
}
