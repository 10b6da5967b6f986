// Branches that are decided and loops that never run, replaced by what they come to
// (passes/regions.c).
//
// The nodes of the chosen body move into the graph around, under their names: their effects stand
// in the place of the node's, and what can be seen of them (an effect, a failure) runs after what
// the node had to run after. What had to run after the node runs after these effects.
#include "passes/regions.h"

typedef struct decider {
  leat_regions *regions;
  leat_graph *graph;
  leat_rewriter r;
  leat_map gone; // node → leat_node_list: what runs instead, for who has to run after it
} decider;

// The bool that a value is, as 0 or 1; -1: it is known only while running.
static int decided(leat_value value) {
  if (value.node->op != LEAT_OP_const) return -1;
  return *(const uint8_t *)leat_node_attr(value.node, "value")->tensor->data;
}

static bool has_effects(const leat_graph *body) {
  for (uint32_t i = 0; i < body->nodes.count; i++)
    if (body->nodes.items[i]->effect && body->nodes.items[i] != body->yield) return true;
  return false;
}

// -- Control edges -------------------------------------------------------------------------------

static void run_after_instead(decider *d, leat_node *node) {
  leat_node_list instead = {0};
  uint32_t kept = 0;
  for (uint32_t i = 0; i < node->control_count; i++) {
    const leat_node_list *others = leat_map_get(&d->gone, node->controls[i]);
    if (!others) node->controls[kept++] = node->controls[i];
    for (uint32_t k = 0; others && k < others->count; k++)
      leat_vec_push(d->graph->arena, &instead, others->items[k]);
  }
  node->control_count = kept;
  leat_node_add_controls(d->graph, node, instead.items, instead.count);
}

// `effects` stand for the node, which is left out.
static void forget(decider *d, const leat_node *node, const leat_node_list *effects) {
  leat_node_list *instead = leat_new(d->regions->context->scratch, leat_node_list);
  for (uint32_t i = 0; i < effects->count; i++)
    leat_vec_push(d->graph->arena, instead, effects->items[i]);
  for (uint32_t i = 0; i < node->control_count; i++)
    leat_vec_push(d->graph->arena, instead, node->controls[i]);
  leat_map_set(&d->gone, node, instead);
  leat_region_effects(d->graph, node, effects->items, effects->count);
  d->regions->changes++;
}

// -- Branches ------------------------------------------------------------------------------------

static leat_value outside(const leat_region_node *region, leat_value value) {
  int64_t param = leat_region_param(value);
  return param < 0 ? value : leat_region_input(region, (uint32_t)param);
}

static void move_out(decider *d, const leat_region_node *region, leat_node *node) {
  leat_graph *graph = d->graph;
  uint32_t kept = 0;
  node->graph = graph;
  node->entry = region->node->entry;
  node->id = graph->nodes.count;
  leat_constrain_device(graph, node, region->node->device);
  for (uint32_t i = 0; i < node->input_count; i++)
    node->inputs[i] = outside(region, node->inputs[i]);
  for (uint32_t i = 0; i < node->control_count; i++)
    if (node->controls[i]->op != LEAT_OP_parameter) node->controls[kept++] = node->controls[i];
  node->control_count = kept;
  if (node->effect || leat_node_may_fail(node))
    leat_node_add_controls(graph, node, region->node->controls, region->node->control_count);
  leat_region_wait_for_dims(graph, node);
  leat_vec_push(graph->arena, &graph->nodes, node);
}

static void choose(decider *d, const leat_region_node *region, const leat_graph *body) {
  leat_arena *scratch = d->regions->context->scratch;
  const leat_node *yield = body->yield;
  leat_value *values = leat_new_array(scratch, leat_value, yield->input_count);
  leat_node_list effects = {0};
  for (uint32_t i = 0; i < body->nodes.count; i++) {
    leat_node *node = body->nodes.items[i];
    if (node->op == LEAT_OP_parameter || node == yield) continue;
    move_out(d, region, node);
    if (node->effect) leat_vec_push(scratch, &effects, node);
  }
  for (uint32_t i = 0; i < yield->input_count; i++) values[i] = outside(region, yield->inputs[i]);
  forget(d, region->node, &effects);
  if (yield->input_count) leat_rewrite_replace_all(&d->r, region->node, values);
}

static bool decide_branch(decider *d, leat_node *node) {
  leat_region_node region = leat_region_node_of(node);
  int holds = decided(node->inputs[0]);
  if (holds < 0 || leat_region_lets_grow(node)) return false;
  choose(d, &region, region.bodies[holds ? 0 : 1]);
  return true;
}

// -- Loops ---------------------------------------------------------------------------------------

static bool decide_loop(decider *d, leat_node *node) {
  leat_region_node region = leat_region_node_of(node);
  leat_node_list none = {0};
  const leat_graph *condition = region.bodies[0];
  if (decided(condition->yield->inputs[0]) || has_effects(condition) || leat_region_lets_grow(node))
    return false;
  forget(d, node, &none);
  if (node->output_count) leat_rewrite_replace_all(&d->r, node, node->inputs);
  return true;
}

void leat_regions_decide(leat_regions *regions, leat_graph *graph) {
  leat_arena *scratch = regions->context->scratch;
  decider d = {.regions = regions, .graph = graph, .r = leat_rewrite_begin(graph, scratch)};
  leat_map_init(&d.gone, scratch);
  for (uint32_t i = 0; i < d.r.count; i++) {
    leat_node *node = graph->nodes.items[i];
    run_after_instead(&d, node);
    leat_rewrite_inputs(&d.r, node);
    bool gone = node->op == LEAT_OP_conditional  ? decide_branch(&d, node)
                : node->op == LEAT_OP_while_loop ? decide_loop(&d, node)
                                                 : false;
    if (!gone) leat_rewrite_keep(&d.r, node);
  }
  leat_rewrite_finish(&d.r);
}
