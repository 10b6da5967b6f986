// cse: equal nodes become one (Click, "Global code motion, global value numbering", 1995, as the
// white paper's 5.1).
//
//   needs   nodes in order
//   keeps   the first of equal nodes; random and effectful ops, and nodes that only serve initial
//           values, which are computed apart
//   equal   what has the same key (passes/node_key.h); reads of a state with no write of it between
//           them
//
// In topological order, a node whose key is in the table is replaced by the node that put it
// there; since inputs have been replaced before, one walk finds all.
#include "passes/node_key.h"
#include "passes/rewrite.h"

typedef struct merger {
  leat_node_key key;
  leat_bytes_map nodes; // key → the first node that has it
  uint32_t *writes;     // by state id: writes so far
} merger;

// The node that stands for all equal ones: an earlier one or `node` itself.
static leat_node *representative(merger *m, leat_node *node) {
  const leat_state *state = leat_node_state(node);
  leat_node_key_make(&m->key, node, node->inputs);
  leat_node_key_add(&m->key, state ? m->writes[state->id] : 0);
  leat_node *first = leat_node_key_find(&m->key, &m->nodes);
  if (!first) leat_node_key_put(&m->key, &m->nodes, node);
  return first ? first : node;
}

static bool may_merge(const leat_node *node) {
  const leat_op_info *info = node->info;
  return node->output_count == 1 && !(info->flags & (LEAT_FLAG_RANDOM | LEAT_FLAG_EFFECT));
}

leat_status leat_pass_cse(leat_pass_context *context) {
  leat_graph *graph = context->graph;
  merger m = {.key.scratch = context->scratch};
  leat_bytes_map_init(&m.nodes, context->scratch);
  m.writes = leat_new_array(context->scratch, uint32_t, graph->states.count);
  const bool *in_step = leat_step_nodes(graph, context->scratch);
  leat_rewriter r = leat_rewrite_begin(graph, context->scratch);
  for (uint32_t i = 0; i < r.count; i++) {
    leat_node *node = graph->nodes.items[i];
    leat_rewrite_inputs(&r, node);
    const leat_op_info *info = node->info;
    if (info->flags & LEAT_FLAG_STATE && info->flags & LEAT_FLAG_EFFECT)
      m.writes[leat_node_state(node)->id]++;
    leat_node *first = in_step[i] && may_merge(node) ? representative(&m, node) : node;
    if (first != node)
      leat_rewrite_replace(&r, node, (leat_value){first, 0});
    else
      leat_rewrite_keep(&r, node);
  }
  leat_rewrite_finish(&r);
  return LEAT_OK;
}
