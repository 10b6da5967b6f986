// The primitives of control flow, which are typed as any op; what they mean is ops/raise/web.h's.
#include "ops/shape.h"

// Dims that only a running step can tell to be equal are listed, where the node is made.
static bool same_type(leat_shape_context *context, const char *what, const leat_type *a,
                      const leat_type *b) {
  bool same = a->dtype == b->dtype && a->rank == b->rank;
  for (int32_t i = 0; same && i < a->rank; i++) {
    bool equal = leat_dim_equal(a->dims[i], b->dims[i]);
    bool listed = context->checks && leat_dims_may_be_equal(context->graph, a->dims[i], b->dims[i]);
    same = equal || listed;
    if (same && !equal)
      leat_vec_push(context->graph->arena, context->checks,
                    (leat_dim_pair){a->dims[i], b->dims[i]});
  }
  if (same) return true;
  leat_arena *arena = context->graph->arena;
  return leat_shape_fail(context, "%s is %s, and the first input of the merge %s", what,
                         leat_type_text(arena, b), leat_type_text(arena, a));
}

static bool check_truth(leat_shape_context *context, uint32_t input) {
  const leat_type *type = leat_shape_input(context, input);
  if (type->dtype == LEAT_bool && type->rank == 0) return true;
  return leat_shape_fail(context, "`%s` decides by a bool[], not %s", context->node->info->name,
                         leat_type_text(context->graph->arena, type));
}

bool shape_switch(leat_shape_context *context) {
  context->outputs[0] = context->outputs[1] = *leat_shape_input(context, 0);
  return check_truth(context, 1);
}

bool shape_merge(leat_shape_context *context) {
  const leat_type *first = leat_shape_input(context, 0);
  context->outputs[0] = *first;
  context->outputs[1] = (leat_type){.dtype = LEAT_i32};
  for (uint32_t i = 1; i < context->node->input_count; i++)
    if (!same_type(context, "another", first, leat_shape_input(context, i))) return false;
  return true;
}

bool shape_enter(leat_shape_context *context) {
  context->outputs[0] = *leat_shape_input(context, 0);
  return true;
}

bool shape_leave(leat_shape_context *context) {
  context->outputs[0] = *leat_shape_input(context, 0);
  return true;
}

bool shape_next_iteration(leat_shape_context *context) {
  leat_value merge = context->node->inputs[1];
  if (merge.node->op != LEAT_OP_merge || merge.port)
    return leat_shape_fail(context, "`next_iteration` takes the value that it gives, and the first "
                                    "output of the `merge` that it goes to");
  return same_type(context, "the next value", leat_value_type(merge), leat_shape_input(context, 0));
}

bool shape_loop_cond(leat_shape_context *context) {
  context->outputs[0] = *leat_shape_input(context, 0);
  return check_truth(context, 0);
}
