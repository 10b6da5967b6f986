// Nodes with bodies, taken apart and changed (regions.h).
#include "passes/regions.h"

leat_region_node leat_region_node_of(leat_node *node) {
  bool loop = node->op == LEAT_OP_while_loop;
  leat_region_node region = {
      .node = node, .yielding = loop, .carried = loop ? node->output_count : 0};
  for (int i = 0; i < LEAT_BODIES; i++) region.bodies[i] = leat_node_body(node, i);
  region.params = region.bodies[0]->params.count;
  region.first = node->input_count - region.params;
  return region;
}

leat_value leat_region_input(const leat_region_node *region, uint32_t param) {
  return region->node->inputs[region->first + param];
}

int64_t leat_region_param(leat_value value) {
  return value.node->op == LEAT_OP_parameter ? leat_node_attr(value.node, "index")->i : -1;
}

leat_value leat_region_captured(const leat_region_node *region, leat_value value) {
  int64_t param = leat_region_param(value);
  bool varies = param < region->carried;
  return varies ? (leat_value){0} : leat_region_input(region, (uint32_t)param);
}

leat_builder leat_region_builder(const leat_region_node *region, leat_diag *diag, leat_graph *graph,
                                 const leat_node *like) {
  return (leat_builder){.graph = graph,
                        .diag = diag,
                        .span = like->span,
                        .device = like->device,
                        .colocate = like->colocate,
                        .entry = graph->yield ? graph->yield->entry : region->node->entry,
                        .place = like->place ? like->place : region->node->place};
}

leat_value leat_region_add_parameter(const leat_region_node *region, leat_graph *body,
                                     leat_value value) {
  leat_attr attrs[] = {{.i = body->params.count}, {.type = leat_value_type(value)}};
  const char *path = leat_intern_path(body->strings, region->node->name,
                                      leat_intern(body->strings, leat_path_last(value.node->name)));
  leat_node *param = leat_graph_append(body, LEAT_OP_parameter, leat_graph_unique_name(body, path),
                                       NULL, 0, attrs);
  param->outputs = attrs[1].type;
  param->entry = body->yield->entry;
  param->span = value.node->span;
  leat_vec_push(body->arena, &body->params, param);
  return (leat_value){param, 0};
}

void leat_region_add_parameters(const leat_region_node *region, leat_graph *body,
                                const leat_value *values, uint32_t count, leat_arena *scratch) {
  leat_rewriter r = leat_rewrite_begin(body, scratch);
  for (uint32_t i = 0; i < count; i++) leat_region_add_parameter(region, body, values[i]);
  for (uint32_t i = 0; i < r.count; i++) leat_rewrite_keep(&r, body->nodes.items[i]);
  leat_rewrite_finish(&r);
}

static void add_values(leat_graph *graph, leat_node *node, const leat_value *values,
                       uint32_t count) {
  uint32_t before = node->input_count;
  leat_value *inputs = leat_new_array(graph->arena, leat_value, before + count);
  for (uint32_t i = 0; i < before; i++) inputs[i] = node->inputs[i];
  for (uint32_t i = 0; i < count; i++) inputs[before + i] = values[i];
  node->inputs = inputs;
  node->input_count += count;
}

void leat_region_add_inputs(leat_graph *graph, const leat_region_node *region,
                            const leat_value *values, uint32_t count) {
  add_values(graph, region->node, values, count);
}

// The last `more` parameters stand behind the carried ones.
static void put_behind_carried(leat_graph *body, uint32_t carried, uint32_t more) {
  uint32_t count = body->params.count;
  leat_node_list params = {0};
  for (uint32_t i = 0; i < carried; i++) leat_vec_push(body->arena, &params, body->params.items[i]);
  for (uint32_t i = count - more; i < count; i++)
    leat_vec_push(body->arena, &params, body->params.items[i]);
  for (uint32_t i = carried; i < count - more; i++)
    leat_vec_push(body->arena, &params, body->params.items[i]);
  for (uint32_t i = 0; i < count; i++)
    leat_node_set_attr(body, params.items[i], "index", (leat_attr){.i = i});
  body->params = params;
}

void leat_region_carry_more(leat_graph *graph, leat_region_node *region, const leat_value *values,
                            uint32_t more, leat_arena *scratch) {
  leat_node *loop = region->node;
  uint32_t carried = region->carried, captured = region->params - carried;
  leat_value *inputs = leat_new_array(graph->arena, leat_value, loop->input_count + more);
  leat_type *outputs = leat_new_array(graph->arena, leat_type, carried + more);
  for (uint32_t b = 0; b < LEAT_BODIES; b++) {
    leat_region_add_parameters(region, region->bodies[b], values, more, scratch);
    put_behind_carried(region->bodies[b], carried, more);
  }
  for (uint32_t i = 0; i < carried; i++) inputs[i] = loop->inputs[i];
  for (uint32_t i = 0; i < more; i++) inputs[carried + i] = values[i];
  for (uint32_t i = 0; i < captured; i++) inputs[carried + more + i] = loop->inputs[carried + i];
  for (uint32_t i = 0; i < carried; i++) outputs[i] = loop->outputs[i];
  for (uint32_t i = 0; i < more; i++) outputs[carried + i] = *leat_value_type(values[i]);
  loop->inputs = inputs;
  loop->input_count += more;
  loop->outputs = outputs;
  loop->output_count += more;
  leat_region_wait_for_dims(graph, loop);
  *region = leat_region_node_of(loop);
}

void leat_region_yield(leat_graph *body, const leat_value *values, uint32_t count) {
  add_values(body, body->yield, values, count);
}

void leat_region_wait_for_dims(leat_graph *graph, leat_node *node) {
  leat_node_list binders = {0};
  leat_node_find_binders(graph, node, graph->arena, &binders);
  leat_node_add_controls(graph, node, binders.items, binders.count);
}

void leat_region_effects(leat_graph *graph, const leat_node *node, leat_node *const *nodes,
                         uint32_t count) {
  leat_entry *entry = node->entry;
  if (!entry || graph->owner) return; // what is in a body is none of the entry's
  leat_node_list old = {0};
  for (uint32_t i = 0; i < entry->effects.count; i++)
    leat_vec_push(graph->arena, &old, entry->effects.items[i]);
  entry->effects.count = 0;
  for (uint32_t i = 0; i < old.count; i++) {
    if (old.items[i] != node) leat_vec_push(graph->arena, &entry->effects, old.items[i]);
    for (uint32_t k = 0; old.items[i] == node && k < count; k++)
      if (nodes[k]->effect) leat_vec_push(graph->arena, &entry->effects, nodes[k]);
  }
}
