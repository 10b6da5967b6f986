// What loops put behind what they carry, or into it row by row.
#include "ops/appended.h"

#include "ops/turns.h"

static bool is_used_once(const leat_graph *body, const leat_node *value) {
  uint32_t uses = 0;
  for (uint32_t i = 0; i < body->nodes.count; i++)
    for (uint32_t k = 0; k < body->nodes.items[i]->input_count; k++)
      uses += body->nodes.items[i]->inputs[k].node == value;
  return uses == 1;
}

bool leat_loop_appends(const leat_node *node, uint32_t i) {
  if (node->op != LEAT_OP_while_loop) return false;
  const leat_graph *body = leat_node_body(node, 1);
  const leat_node *next = body->yield->inputs[i].node;
  return leat_region_grows(node, i, 0) && next->op == LEAT_OP_concat && next->input_count == 2 &&
         leat_node_attr(next, "axis")->i == 0 && next->inputs[0].node == body->params.items[i] &&
         is_used_once(body, next);
}

// What the loop would have to know while it runs.
typedef struct dim_search {
  const leat_atom *atom;
  bool found;
} dim_search;

static void see_atom(void *context, const leat_atom *atom) {
  dim_search *search = context;
  search->found |= atom == search->atom;
}

static void search_attr(dim_search *search, leat_attr_kind kind, const leat_attr *attr) {
  if (kind == LEAT_ATTR_DIM) leat_dim_visit(attr->dim, see_atom, search);
  for (uint32_t i = 0; kind == LEAT_ATTR_DIMS && i < attr->count; i++)
    leat_dim_visit(attr->dims[i], see_atom, search);
}

static void search_node(dim_search *search, const leat_node *node) {
  for (uint32_t i = 0; i < node->output_count; i++)
    for (int32_t k = 0; k < node->outputs[i].rank; k++)
      leat_dim_visit(node->outputs[i].dims[k], see_atom, search);
  for (int i = 0; i < node->info->attr_count; i++) {
    const leat_graph *body = leat_node_body(node, i);
    search_attr(search, node->info->attrs[i].kind, &node->attrs[i]);
    for (uint32_t k = 0; body && k < body->nodes.count; k++)
      search_node(search, body->nodes.items[k]);
  }
}

// Whether something in the body, but these two, has the dim or uses the value that has it.
static bool needs(const leat_graph *body, const leat_node *param, const leat_node *next) {
  dim_search search = {.atom = leat_dim_atom(param->outputs[0].dims[0])};
  bool used = false;
  for (uint32_t i = 0; i < body->nodes.count; i++) {
    const leat_node *node = body->nodes.items[i];
    if (node == param || node == next) continue;
    search_node(&search, node);
    for (uint32_t k = 0; k < node->input_count; k++) used |= node->inputs[k].node == param;
  }
  return used || search.found || !search.atom;
}

bool leat_loop_only_appends(const leat_node *loop, uint32_t i) {
  const leat_graph *condition = leat_node_body(loop, 0), *body = leat_node_body(loop, 1);
  if (!leat_loop_appends(loop, i)) return false;
  for (int32_t k = 1; k < loop->outputs[i].rank; k++)
    if (leat_region_grows(loop, i, k)) return false;
  const leat_node *next = body->yield->inputs[i].node;
  return !leat_graph_binds(body, leat_value_type(next->inputs[1])) &&
         !needs(body, body->params.items[i], next) &&
         !needs(condition, condition->params.items[i], NULL);
}

void leat_append_at_once(leat_builder *builder, const char *name, leat_value carried,
                         leat_node *next) {
  if (next->op != LEAT_OP_concat || next->input_count < 3 || leat_node_attr(next, "axis")->i ||
      next->inputs[0].node != carried.node)
    return;
  leat_node *in_cycle;
  next->inputs[1] = leat_build(builder, name, LEAT_OP_concat, next->inputs + 1,
                               next->input_count - 1, next->attrs);
  next->input_count = 2;
  leat_graph_sort(builder->graph, &in_cycle);
}

// -- Rows -----------------------------------------------------------------------------------------

leat_value leat_reshape_origin(leat_value value) {
  while (value.node->op == LEAT_OP_reshape) value = value.node->inputs[0];
  return value;
}

bool leat_loop_sets_row(const leat_node *loop, uint32_t i) {
  const leat_graph *body = leat_node_body(loop, 1);
  const leat_node *next = body->yield->inputs[i].node;
  if (next->op != LEAT_OP_scatter_set || leat_node_attr(next, "axis")->i ||
      next->inputs[0].node != body->params.items[i])
    return false;
  const leat_node *at = leat_reshape_origin(next->inputs[1]).node;
  if (at->op != LEAT_OP_parameter || at->outputs[0].rank) return false;
  uint32_t index = (uint32_t)leat_node_attr(at, "index")->i;
  return index < loop->output_count && leat_loop_counts(loop, index);
}

leat_value leat_loop_row_put(const leat_node *loop, uint32_t i) {
  const leat_node *next = leat_node_body(loop, 1)->yield->inputs[i].node;
  if (leat_loop_sets_row(loop, i)) return next->inputs[2];
  bool each = leat_loop_only_appends(loop, i) &&
              leat_dim_is(leat_value_type(loop->inputs[i])->dims[0], 0) &&
              leat_dim_is(leat_value_type(next->inputs[1])->dims[0], 1);
  return each ? next->inputs[1] : (leat_value){0};
}

bool leat_reads_what_changes(const leat_node *node, const leat_node *scatter) {
  if (node->op != LEAT_OP_gather ||
      leat_node_attr(node, "axis")->i != leat_node_attr(scatter, "axis")->i)
    return false;
  for (int i = 0; i < 2; i++)
    if (node->inputs[i].node != scatter->inputs[i].node ||
        node->inputs[i].port != scatter->inputs[i].port)
      return false;
  return true;
}
