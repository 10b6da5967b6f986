// raise: makes regions of the primitives of control flow (white paper 4.4).
//
//   needs    a graph that prune has left; one without the primitives stays as it is
//   refuses  what breaks a rule of the primitives, and what is not supported yet (raise_web.c)
//   makes    a `while_loop` of each frame, `conditional`s of what is between switches and merges
//            (raise.h), asserts that what is fetched is alive
//   keeps    every bit of every value that is alive, names of the nodes that stay, the effects
#include "passes/raise.h"

static bool is_primitive(const leat_node *node) {
  return leat_op_last_phase(node->op) < LEAT_PHASE_RAISED;
}

static bool has_primitives(const leat_graph *graph) {
  for (uint32_t i = 0; i < graph->nodes.count; i++)
    if (is_primitive(graph->nodes.items[i])) return true;
  return false;
}

// Regions are called as what they come from.
static void free_names(leat_web *web) {
  for (uint32_t i = 0; i < web->count; i++)
    if (is_primitive(web->nodes[i].node))
      leat_map_set(&web->graph->names->by_name, web->nodes[i].node->name, NULL);
}

static leat_web_ref ref_of(const leat_web *web, leat_value value) {
  uint32_t i = 0;
  while (web->nodes[i].node != value.node) i++;
  return (leat_web_ref){&web->nodes[i], value.port};
}

// Initial values are pure, and wanted whatever is alive.
static bool want_initial_values(leat_web *web, leat_web_refs *wanted) {
  for (uint32_t i = 0; i < web->graph->states.count; i++) {
    leat_state *state = web->graph->states.items[i];
    if (!state->init.node) continue;
    leat_web_ref ref = ref_of(web, state->init);
    if (leat_web_live(ref) != LEAT_ALWAYS)
      return leat_web_fail(web, ref.of, "the initial value of `%s` may be dead", state->name);
    leat_vec_push(web->scratch, wanted, ref);
  }
  return true;
}

static void set_initial_values(leat_web *web, const leat_web_refs *wanted) {
  uint32_t next = 0;
  for (uint32_t i = 0; i < web->graph->states.count; i++)
    if (web->graph->states.items[i]->init.node)
      web->graph->states.items[i]->init = leat_web_now(wanted->items[next++]);
}

static bool raise_graph(leat_web *web) {
  leat_web_refs wanted = {0};
  leat_node *yield = web->graph->yield;
  if (!leat_web_find(web) || !want_initial_values(web, &wanted)) return false;
  free_names(web);
  web->graph->nodes.count = 0;
  if (!leat_web_place(web, LEAT_ALWAYS, &web->root.items, &wanted)) return false;
  web->graph->yield = yield;
  set_initial_values(web, &wanted);
  leat_graph_renumber(web->graph);
  return true;
}

leat_status leat_pass_raise(leat_pass_context *context) {
  leat_web web = {.context = context, .graph = context->graph, .scratch = context->scratch};
  if (!has_primitives(context->graph)) return LEAT_OK;
  return raise_graph(&web) ? LEAT_OK : LEAT_INVALID;
}
