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
//   batches products of what a loop makes of one row that it reads (regions_batch.c,
//   regions_rows.c)
//
// Every bit of every value stays, the effects and their order, and the names of the nodes that do.
//
// A graph before the bodies in it, so that constants come in all the way, and again until nothing
// changes: each change leaves less inside, so that it ends. A body is looked at again only if it
// has changed.
#include "passes/regions.h"

// -- What the parts have in common ---------------------------------------------------------------

// How a body is, once the pass has met it.
typedef enum body_state { BODY_TOUCHED = 1, BODY_DONE } body_state;

static void set_state(leat_regions *regions, leat_graph *body, body_state state) {
  leat_map_set(&regions->bodies, body, (void *)(uintptr_t)state);
}

void leat_region_changed(leat_regions *regions, leat_graph *graph, leat_node *node) {
  leat_region_wait_for_dims(graph, node);
  for (int i = 0; i < LEAT_BODIES; i++) set_state(regions, leat_node_body(node, i), BODY_TOUCHED);
  regions->changes++;
}

bool leat_region_is_bound(const leat_node *node) {
  const leat_node *owner = node->graph->owner;
  return node->control_count || node->device != owner->device || node->colocate != owner->colocate;
}

// That a check in the body is about it, which need not hold where that does not run.
static bool is_checked(leat_diag *diag, const leat_node *node) {
  leat_claims claims = {0};
  if (!leat_node_may_claim(node)) return false;
  return !leat_node_claims(node->graph, diag, node, &claims) || claims.count;
}

// That it has dims which the body binds: where others see to that by control edges, what grows in a
// loop has its own in each iteration.
static bool has_dims_of_body(const leat_node *node) {
  const leat_op_info *info = node->info;
  bool has = false;
  for (uint32_t i = 0; i < node->output_count; i++)
    has |= leat_graph_binds(node->graph, &node->outputs[i]);
  for (int i = 0; i < info->attr_count; i++)
    if (info->attrs[i].kind == LEAT_ATTR_DIM)
      has |= leat_graph_binds(node->graph, &(leat_type){.rank = 1, .dims = {node->attrs[i].dim}});
  return has;
}

bool leat_region_may_move(leat_diag *diag, const leat_node *node) {
  const leat_op_info *info = node->info;
  unsigned never = LEAT_FLAG_RANDOM | LEAT_FLAG_STATE | LEAT_FLAG_EFFECT;
  bool structure = info->kind == LEAT_KIND_STRUCTURE && !leat_leaf_is_fixed(info->leaf);
  if (info->flags & never || structure || info->kind == LEAT_KIND_HOST ||
      leat_node_may_fail(node) || leat_region_is_bound(node))
    return false;
  return !is_checked(diag, node) && !has_dims_of_body(node);
}

void leat_regions_visit_loops(leat_regions *regions, leat_graph *graph, leat_loop_visitor *visit) {
  leat_rewriter r = leat_rewrite_begin(graph, regions->context->scratch);
  for (uint32_t i = 0; i < r.count; i++) {
    leat_node *node = graph->nodes.items[i];
    leat_rewrite_inputs(&r, node);
    if (node->op == LEAT_OP_while_loop) visit(regions, graph, node);
    leat_rewrite_keep(&r, node);
  }
  leat_rewrite_finish(&r);
}

// -- The pass ------------------------------------------------------------------------------------

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
