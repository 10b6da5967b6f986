// Regions: nodes that do what their bodies say, and what stands in these for inputs and results.
#include "ops/shape.h"
#include "ops/turns.h"

bool shape_parameter(leat_shape_context *context) {
  context->outputs[0] = *leat_node_attr(context->node, "type")->type;
  return true;
}

bool shape_yield(leat_shape_context *context) {
  (void)context;
  return true;
}

static const char *type_text(const leat_shape_context *context, const leat_type *type) {
  return leat_type_text(context->graph->arena, type);
}

static bool check_truth(leat_shape_context *context, const char *what, const leat_type *type) {
  if (type->dtype == LEAT_bool && type->rank == 0) return true;
  return leat_shape_fail(context, "%s is a bool[], not %s", what, type_text(context, type));
}

// What grows has another extent in each iteration.
static bool check_growing(leat_shape_context *context, const leat_node *param, uint32_t i) {
  const leat_type *type = &param->outputs[0];
  for (int32_t k = 0; k < type->rank; k++) {
    const leat_atom *atom = leat_dim_atom(type->dims[k]);
    const leat_node *binder = atom ? leat_graph_binder(context->graph, atom) : NULL;
    bool free = atom && atom->kind == LEAT_ATOM_ANONYMOUS && (!binder || binder == param);
    if (leat_region_grows(context->node, i, k) && !free)
      return leat_shape_fail(context, "parameter %u of a body grows, and is %s", i,
                             type_text(context, type));
  }
  return true;
}

// The inputs from `first` on are the body's.
static bool check_params(leat_shape_context *context, const leat_graph *body, uint32_t first) {
  const leat_node *node = context->node;
  if (body->params.count + first != node->input_count)
    return leat_shape_fail(context, "a body takes %u inputs, it is given %u", body->params.count,
                           node->input_count - first);
  for (uint32_t i = 0; i < body->params.count; i++) {
    const leat_type *wanted = &body->params.items[i]->outputs[0];
    const leat_type *found = leat_shape_input(context, first + i);
    bool carried = node->op == LEAT_OP_while_loop && i < node->output_count;
    if (carried && !check_growing(context, body->params.items[i], i)) return false;
    if (carried ? !leat_region_fits(node, i, wanted, found) : !leat_type_equal(wanted, found))
      return leat_shape_fail(context, "parameter %u of a body is %s, what it is given %s", i,
                             type_text(context, wanted), type_text(context, found));
  }
  return true;
}

// Result i is what the body yields there, which has the type.
static bool check_result(leat_shape_context *context, const leat_graph *body, uint32_t i,
                         const leat_type *wanted) {
  const leat_type *found = leat_value_type(body->yield->inputs[i]);
  context->outputs[i] = *found;
  if (leat_region_fits(context->node, i, wanted, found)) return true;
  return leat_shape_fail(context, "result %u is %s in one place and %s in another", i,
                         type_text(context, wanted), type_text(context, found));
}

// The extents that the node binds.
static bool set_growing(leat_shape_context *context) {
  const leat_node *node = context->node;
  const leat_attr *dims = leat_node_attr(node, "dims"), *axes = leat_node_attr(node, "axes");
  bool ok = dims->count == axes->count;
  for (uint32_t k = 0; ok && k < axes->count; k++) {
    int64_t i = axes->ints[k] / LEAT_MAX_RANK, axis = axes->ints[k] % LEAT_MAX_RANK;
    ok = axes->ints[k] >= 0 && i < node->output_count && axis < context->outputs[i].rank &&
         leat_shape_binds(context, dims->dims[k]);
    if (ok) context->outputs[i].dims[axis] = dims->dims[k];
  }
  return ok || leat_shape_fail(context, "`axes` and `dims` are not of its results");
}

static bool check_turns(leat_shape_context *context) {
  const leat_attr *turns = leat_node_attr(context->node, "turns");
  leat_arena *arena = context->graph->arena;
  leat_dim is;
  if (turns->count > 1 || (turns->count && leat_dim_bounds(*turns->dims).high < 0))
    return leat_shape_fail(context, "`turns` is one number");
  return leat_loop_turns_hold(context->node, context->graph, &is) ||
         leat_shape_fail(context, "it turns %s times, not %s", leat_dim_text(arena, is),
                         leat_dim_text(arena, *turns->dims));
}

bool shape_conditional(leat_shape_context *context) {
  const leat_node *node = context->node;
  const leat_graph *then = leat_node_attr(node, "then")->body;
  const leat_graph *otherwise = leat_node_attr(node, "otherwise")->body;
  uint32_t count = then->yield->input_count;
  if (!check_truth(context, "a condition", leat_shape_input(context, 0)) ||
      !check_params(context, then, 1) || !check_params(context, otherwise, 1))
    return false;
  if (otherwise->yield->input_count != count)
    return leat_shape_fail(context, "one branch has %u results, the other %u", count,
                           otherwise->yield->input_count);
  for (uint32_t i = 0; i < count; i++)
    if (!check_result(context, otherwise, i, leat_value_type(then->yield->inputs[i]))) return false;
  return set_growing(context);
}

bool shape_while_loop(leat_shape_context *context) {
  const leat_node *node = context->node;
  const leat_graph *condition = leat_node_attr(node, "condition")->body;
  const leat_graph *body = leat_node_attr(node, "body")->body;
  if (condition->yield->input_count != 1)
    return leat_shape_fail(context, "a condition has one result, not %u",
                           condition->yield->input_count);
  int64_t parallel = leat_node_attr(node, "parallel")->i;
  if (parallel < 0 || parallel > LEAT_MOST_AT_ONCE)
    return leat_shape_fail(context, "parallel is 1 … %d, not %lld", LEAT_MOST_AT_ONCE,
                           (long long)parallel);
  if (node->output_count > node->input_count)
    return leat_shape_fail(context, "of %u carried values %u are given", node->output_count,
                           node->input_count);
  if (!check_truth(context, "a condition", leat_value_type(condition->yield->inputs[0])) ||
      !check_params(context, condition, 0) || !check_params(context, body, 0))
    return false;
  for (uint32_t i = 0; i < node->output_count; i++)
    if (!check_result(context, body, i, leat_shape_input(context, i))) return false;
  return check_turns(context) && set_growing(context);
}
