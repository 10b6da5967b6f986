// regions: branches and loops get, give and do no more than they need.
//
//   needs   graphs that are folded, simplified and without equal nodes; those that it has changed
//           are so again behind it
//   decides branches whose condition is a constant, and loops whose condition never holds: what
//           they come to stands in their place (regions_decide.c)
//   narrows what nodes with bodies are given and give (regions_narrow.c): a cheap constant is made
//           in the bodies; an input that no body uses, a result that nobody uses, a carried value
//           that only its own next value needs are gone; what a loop passes on as it is, or both
//           branches give, is the value outside
//   hoists  what does not vary in a loop and is worth it (regions_hoist.c), from inner loops first
//   batches products of the rows that a loop reads (regions_batch.c)
//   keeps   every bit of every value, the effects and their order; names of the nodes that stay
//
// A graph before the bodies in it, so that constants come in all the way, and again until nothing
// changes: each change leaves less inside, so that it ends. A body is looked at again only if it
// has changed.
#include "passes/regions.h"

#include <string.h>

// -- Nodes with bodies -----------------------------------------------------------------------

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

bool leat_value_same(leat_value a, leat_value b) {
  return a.node == b.node && a.port == b.port;
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

void leat_region_add_inputs(leat_graph *graph, const leat_region_node *region,
                            const leat_value *values, uint32_t count) {
  leat_node *node = region->node;
  uint32_t before = node->input_count;
  leat_value *inputs = leat_new_array(graph->arena, leat_value, before + count);
  memcpy(inputs, node->inputs, before * sizeof *inputs);
  memcpy(inputs + before, values, count * sizeof *inputs);
  node->inputs = inputs;
  node->input_count += count;
}

// How a body is, once the pass has met it.
typedef enum body_state { BODY_TOUCHED = 1, BODY_DONE } body_state;

static void set_state(leat_regions *regions, leat_graph *body, body_state state) {
  leat_map_set(&regions->bodies, body, (void *)(uintptr_t)state);
}

void leat_region_changed(leat_regions *regions, leat_graph *graph, leat_node *node) {
  leat_node_list binders = {0};
  leat_node_find_binders(graph, node, graph->arena, &binders);
  leat_node_add_controls(graph, node, binders.items, binders.count);
  for (int i = 0; i < LEAT_BODIES; i++) set_state(regions, leat_node_body(node, i), BODY_TOUCHED);
  regions->changes++;
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

// -- The pass --------------------------------------------------------------------------------

static bool has_regions(const leat_graph *graph) {
  for (uint32_t i = 0; i < graph->nodes.count; i++)
    if (graph->nodes.items[i]->info->kind == LEAT_KIND_REGION) return true;
  return false;
}

static leat_status put_in_order(leat_regions *regions, leat_graph *graph) {
  leat_pass_context *context = regions->context;
  leat_graph *step = context->graph;
  context->graph = graph;
  leat_status status = leat_pass_fold(context);
  if (!status) status = leat_pass_simplify(context);
  if (!status) status = leat_pass_cse(context);
  context->graph = step;
  return status;
}

static leat_status visit(leat_regions *regions, leat_graph *graph);

static leat_status visit_bodies(leat_regions *regions, const leat_graph *graph) {
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    const leat_node *node = graph->nodes.items[i];
    for (int k = 0; node->info->kind == LEAT_KIND_REGION && k < LEAT_BODIES; k++) {
      leat_graph *body = leat_node_body(node, k);
      body_state state = (body_state)(uintptr_t)leat_map_get(&regions->bodies, body);
      if (state == BODY_TOUCHED) LEAT_TRY(put_in_order(regions, body));
      if (state != BODY_DONE) LEAT_TRY(visit(regions, body));
      set_state(regions, body, BODY_DONE);
    }
  }
  return LEAT_OK;
}

static leat_status visit(leat_regions *regions, leat_graph *graph) {
  while (has_regions(graph)) {
    uint32_t before = regions->changes;
    leat_regions_decide(regions, graph);
    leat_regions_narrow(regions, graph);
    LEAT_TRY(visit_bodies(regions, graph));
    leat_regions_hoist(regions, graph);
    leat_regions_batch(regions, graph);
    if (regions->changes == before) return LEAT_OK;
    LEAT_TRY(put_in_order(regions, graph));
  }
  return LEAT_OK;
}

leat_status leat_pass_regions(leat_pass_context *context) {
  leat_regions regions = {.context = context};
  leat_map_init(&regions.bodies, context->scratch);
  return visit(&regions, context->graph);
}
