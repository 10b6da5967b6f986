// The rules of ir/graph.h, checked one node, state and entry at a time.
#include "ir/verify.h"

typedef struct verifier {
  const leat_graph *graph;
  const leat_graph *top; // around all bodies: the states are its
  leat_error *error;
} verifier;

#define BROKEN(v, ...) leat_fail((v)->error, LEAT_INTERNAL, "verify: " __VA_ARGS__)

static bool is_node(const verifier *v, const leat_node *node) {
  return node && node->id < v->graph->nodes.count && v->graph->nodes.items[node->id] == node;
}

static bool is_value(const verifier *v, leat_value value) {
  return is_node(v, value.node) && value.port < value.node->output_count;
}

static bool is_state(const verifier *v, const leat_state *state) {
  return state && state->id < v->top->states.count && v->top->states.items[state->id] == state;
}

static bool is_entry(const verifier *v, const leat_entry *entry) {
  return leat_graph_find_entry(v->top, entry->name) == entry;
}

static bool is_type(const leat_type *type) {
  if ((unsigned)type->dtype >= LEAT_DTYPE_COUNT) return false;
  if (type->rank < 0 || type->rank > LEAT_MAX_RANK) return false;
  for (int32_t i = 0; i < type->rank; i++)
    if (leat_dim_is_const(type->dims[i]) && type->dims[i].value < 0) return false;
  return true;
}

static leat_status check_inputs(verifier *v, const leat_node *node) {
  const leat_op_info *info = node->info;
  int count = (int)node->input_count;
  if (count < info->min_inputs || (info->max_inputs >= 0 && count > info->max_inputs))
    return BROKEN(v, "node $%s: %s with %d inputs", node->name, info->name, count);
  for (int i = 0; i < count; i++) {
    if (!is_value(v, node->inputs[i]))
      return BROKEN(v, "node $%s: input %d is no value of the graph", node->name, i);
    if (node->inputs[i].node->id >= node->id)
      return BROKEN(v, "node $%s comes before its input %d", node->name, i);
    leat_dtype dtype = leat_value_type(node->inputs[i])->dtype;
    if (!leat_dtype_in_class(dtype, info->dtypes))
      return BROKEN(v, "node $%s: %s of %s", node->name, info->name, leat_dtype_name(dtype));
  }
  for (uint32_t i = 0; i < node->control_count; i++)
    if (!is_node(v, node->controls[i]) || node->controls[i]->id >= node->id)
      return BROKEN(v, "node $%s: control input %u is not a node before it", node->name, i);
  return LEAT_OK;
}

// What has a run-time dim runs after the node that binds it.
static leat_status check_binders(verifier *v, const leat_node *node) {
  leat_node_list binders = {0};
  leat_node_find_binders(v->graph, node, v->graph->arena, &binders);
  for (uint32_t i = 0; i < binders.count; i++) {
    uint32_t found = 0;
    while (found < node->control_count && node->controls[found] != binders.items[i]) found++;
    if (found == node->control_count)
      return BROKEN(v, "node $%s does not run after $%s, which binds a dim of it", node->name,
                    binders.items[i]->name);
  }
  return LEAT_OK;
}

static bool is_attr(const verifier *v, leat_attr_kind kind, const leat_attr *attr) {
  switch (kind) {
  case LEAT_ATTR_INT: return true;
  case LEAT_ATTR_BOOL: return attr->i == 0 || attr->i == 1;
  case LEAT_ATTR_STRING: return attr->string;
  case LEAT_ATTR_DTYPE: return attr->i >= 0 && attr->i < LEAT_DTYPE_COUNT;
  case LEAT_ATTR_DIM: return true;
  case LEAT_ATTR_INTS: return !attr->count || attr->ints;
  case LEAT_ATTR_DIMS: return !attr->count || attr->dims;
  case LEAT_ATTR_TYPE: return attr->type && is_type(attr->type);
  case LEAT_ATTR_TENSOR: return attr->tensor;
  case LEAT_ATTR_STATE: return is_state(v, attr->state);
  case LEAT_ATTR_GRAPH: return attr->body;
  }
  return false;
}

static leat_status check_nodes(verifier *v);

static leat_status check_body(const verifier *v, const leat_node *node, const leat_graph *body) {
  verifier inner = {body, v->top, v->error};
  uint32_t first = node->info->kind == LEAT_KIND_REGION ? (uint32_t)node->info->min_inputs : 0;
  if (body->owner != node || !body->yield || body->params.count + first != node->input_count)
    return BROKEN(v, "node $%s: its bodies are not of its inputs", node->name);
  LEAT_TRY(check_nodes(&inner));
  for (uint32_t i = 0; i < body->params.count; i++) {
    const leat_node *param = body->params.items[i];
    const leat_type *given = leat_value_type(node->inputs[first + i]);
    bool right = is_node(&inner, param) && param->op == LEAT_OP_parameter &&
                 leat_node_attr(param, "index")->i == i &&
                 (first ? leat_type_equal(&param->outputs[0], given)
                        : leat_region_fits(node, i, &param->outputs[0], given));
    if (!right)
      return BROKEN(v, "node $%s: a body's parameter %u is not input %u", node->name, i, first + i);
  }
  if (!is_node(&inner, body->yield) || body->yield->op != LEAT_OP_yield)
    return BROKEN(v, "node $%s: a body that has no results", node->name);
  return LEAT_OK;
}

static leat_status check_node(verifier *v, uint32_t position) {
  const leat_node *node = v->graph->nodes.items[position];
  if ((unsigned)node->op >= LEAT_OP_COUNT || !node->name)
    return BROKEN(v, "node %u has no op or no name", position);
  if (node->id != position)
    return BROKEN(v, "node $%s at %u has the id %u", node->name, position, node->id);
  if (leat_graph_find_node(v->graph, node->name) != node || node->graph != v->graph)
    return BROKEN(v, "the name $%s is another's, or of another graph", node->name);
  LEAT_TRY(check_inputs(v, node));
  const leat_op_info *info = node->info;
  if (info->attr_count && !node->attrs) return BROKEN(v, "node $%s has no attributes", node->name);
  for (int i = 0; i < info->attr_count; i++)
    if (!is_attr(v, info->attrs[i].kind, &node->attrs[i]))
      return BROKEN(v, "node $%s: attribute %s", node->name, info->attrs[i].name);
  for (int i = 0; i < info->attr_count; i++)
    if (leat_node_body(node, i)) LEAT_TRY(check_body(v, node, node->attrs[i].body));
  for (uint32_t i = 0; i < node->output_count; i++)
    if (!is_type(&node->outputs[i]))
      return BROKEN(v, "node $%s: the type of output %d", node->name, i);
  LEAT_TRY(check_binders(v, node));
  if (node->entry && !is_entry(v, node->entry))
    return BROKEN(v, "node $%s belongs to no entry of the graph", node->name);
  return LEAT_OK;
}

static leat_status check_state(verifier *v, uint32_t position) {
  const leat_state *state = v->graph->states.items[position];
  if (state->id != position)
    return BROKEN(v, "state $%s at %u has the id %u", state->name, position, state->id);
  if (leat_graph_find_state(v->graph, state->name) != state)
    return BROKEN(v, "the name $%s is another's", state->name);
  if (!is_type(&state->type) || !state->container)
    return BROKEN(v, "state $%s: its type or container", state->name);
  if (!state->init.node) return LEAT_OK;
  if (!is_value(v, state->init))
    return BROKEN(v, "state $%s starts as no value of the graph", state->name);
  if (!leat_type_equal(leat_value_type(state->init), &state->type))
    return BROKEN(v, "state $%s starts as a value of another type", state->name);
  return LEAT_OK;
}

static leat_status check_entry(verifier *v, const leat_entry *entry) {
  if (leat_graph_find_entry(v->graph, entry->name) != entry)
    return BROKEN(v, "the name %s is another's", entry->name);
  for (uint32_t i = 0; i < entry->params.count; i++) {
    const leat_node *node = entry->params.items[i].node;
    if (!is_node(v, node) || node->op != LEAT_OP_feed || node->entry != entry)
      return BROKEN(v, "entry %s: parameter %s is no feed of it", entry->name,
                    entry->params.items[i].name);
  }
  for (uint32_t i = 0; i < entry->results.count; i++)
    if (!is_value(v, entry->results.items[i].value))
      return BROKEN(v, "entry %s: result %s is no value of the graph", entry->name,
                    entry->results.items[i].name);
  for (uint32_t i = 0; i < entry->effects.count; i++) {
    const leat_node *node = entry->effects.items[i];
    if (!is_node(v, node) || !node->effect)
      return BROKEN(v, "entry %s: effect %u is no effect of the graph", entry->name, i);
  }
  return LEAT_OK;
}

static leat_status check_nodes(verifier *v) {
  for (uint32_t i = 0; i < v->graph->nodes.count; i++) LEAT_TRY(check_node(v, i));
  return LEAT_OK;
}

leat_status leat_verify(const leat_graph *graph, leat_error *error) {
  verifier v = {graph, graph, error};
  LEAT_TRY(check_nodes(&v));
  for (uint32_t i = 0; i < graph->states.count; i++) LEAT_TRY(check_state(&v, i));
  for (uint32_t i = 0; i < graph->entries.count; i++)
    LEAT_TRY(check_entry(&v, graph->entries.items[i]));
  return LEAT_OK;
}

static leat_status check_phase(verifier *v, leat_phase phase, leat_phase brought) {
  for (uint32_t i = 0; i < v->graph->nodes.count; i++) {
    const leat_node *node = v->graph->nodes.items[i];
    if (leat_op_first_phase(node->op) > brought || leat_op_last_phase(node->op) < phase)
      return BROKEN(v, "node $%s: no graph of the phase `%s` has %s", node->name,
                    leat_phase_name(phase), leat_op_name(node->op));
    for (int k = 0; k < node->info->attr_count; k++) {
      verifier inner = {leat_node_body(node, k), v->top, v->error};
      if (inner.graph) LEAT_TRY(check_phase(&inner, phase, brought));
    }
  }
  return LEAT_OK;
}

leat_status leat_verify_phase(const leat_graph *graph, leat_phase phase, leat_phase brought,
                              leat_error *error) {
  verifier v = {graph, graph, error};
  LEAT_TRY(leat_verify(graph, error));
  return check_phase(&v, phase, brought < phase ? phase : brought);
}

static void see_phase(void *context, leat_graph *graph) {
  leat_phase *brought = context;
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    leat_phase first = leat_op_first_phase(graph->nodes.items[i]->op);
    if (first > *brought) *brought = first;
  }
}

leat_phase leat_brought_phase(leat_graph *graph) {
  leat_phase brought = LEAT_PHASE_TEXT;
  leat_graph_visit(graph, see_phase, &brought);
  return brought;
}
