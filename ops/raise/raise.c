// A graph with primitives of control flow is taken apart and placed anew. See web.h.
#include "ops/raise/web.h"

bool leat_is_primitive(const leat_node *node) {
  return leat_op_last_phase(node->op) < LEAT_PHASE_RAISED;
}

bool leat_has_primitives(const leat_graph *graph) {
  for (uint32_t i = 0; i < graph->nodes.count; i++)
    if (leat_is_primitive(graph->nodes.items[i])) return true;
  return false;
}

// Regions are called as what they come from.
static void free_names(leat_web *web) {
  for (uint32_t i = 0; i < web->count; i++)
    if (leat_is_primitive(web->nodes[i].node))
      leat_map_set(&web->graph->names->by_name, web->nodes[i].node->name, NULL);
}

static leat_web_ref ref_of(const leat_web *web, leat_value value) {
  return (leat_web_ref){leat_map_get(&web->by_node, value.node), value.port};
}

leat_value leat_raised_now(const leat_web *web, leat_value was) {
  return leat_web_now(ref_of(web, was));
}

static bool is_wanted(leat_web *web, leat_web_ref ref, bool alive) {
  if (!alive || !ref.of) return ref.of;
  bool outermost = !ref.of->frame || ref.of->frame == &web->root;
  return outermost && leat_web_live(ref) == LEAT_ALWAYS;
}

bool leat_raise(const leat_raising *raising, leat_raised *wanted, uint32_t count) {
  leat_web web = {.raising = raising, .graph = raising->graph, .scratch = raising->scratch};
  leat_web_refs refs = {0};
  leat_node *yield = web.graph->yield;
  if (!leat_web_find(&web)) return false;
  for (uint32_t i = 0; i < count; i++) {
    leat_web_ref ref = ref_of(&web, wanted[i].value);
    wanted[i].alive = is_wanted(&web, ref, wanted[i].alive);
    if (wanted[i].alive) leat_vec_push(web.scratch, &refs, ref);
  }
  free_names(&web);
  web.graph->nodes.count = 0;
  if (!leat_web_place(&web, LEAT_ALWAYS, &web.root.items, &refs)) return false;
  web.graph->yield = yield;
  for (uint32_t i = 0, next = 0; i < count; i++)
    wanted[i].value = wanted[i].alive ? leat_web_now(refs.items[next++]) : (leat_value){0};
  leat_graph_renumber(web.graph);
  leat_graph_list_effects(web.graph); // what is in a body now is none of the entry's
  return true;
}
