// Replacing values all over a graph in one walk, and dropping what nobody needs any more.
//
//     leat_rewriter r = leat_rewrite_begin(graph, scratch);
//     for (uint32_t i = 0; i < r.count; i++) {
//       leat_node *node = graph->nodes.items[i];
//       leat_rewrite_inputs(&r, node);             // its inputs are what replaced them
//       … either leat_rewrite_replace(&r, node, value) or leat_rewrite_keep(&r, node)
//     }
//     leat_rewrite_finish(&r);
//
// Nodes that are built meanwhile (ops/build.h) stand before the node being visited. The whole is
// linear.
#ifndef LEAT_PASSES_REWRITE_H
#define LEAT_PASSES_REWRITE_H

#include "passes/pass.h"

static inline bool leat_value_same(leat_value a, leat_value b) {
  return a.node == b.node && a.port == b.port;
}

typedef struct leat_rewriter {
  leat_graph *graph;
  leat_arena *scratch;
  uint32_t count;              // of nodes at the beginning
  uint32_t built;              // nodes of the graph before this one are old or in `nodes`
  leat_value **instead;        // by id: what stands for the outputs of a replaced node, or NULL
  bool *stays;                 // by id: its outputs are replaced, itself it is not
  leat_vec(leat_node *) nodes; // the new order
  uint32_t *seen;              // by id: see leat_rewrite_inputs
} leat_rewriter;

leat_rewriter leat_rewrite_begin(leat_graph *graph, leat_arena *scratch);
void leat_rewrite_inputs(leat_rewriter *r, leat_node *node);
void leat_rewrite_keep(leat_rewriter *r, leat_node *node);
// `node` has one output and no effect; `value` is older than it or was just built. Who is ordered
// after it, or shares its device, now refers to value.node. {NULL}: it is kept.
void leat_rewrite_replace(leat_rewriter *r, leat_node *node, leat_value value);
// The same of a node with any number of outputs: `values` has one for each.
void leat_rewrite_replace_all(leat_rewriter *r, leat_node *node, const leat_value *values);
// After the node was kept: who used the `count` outputs that it had uses these values, of which
// those that it has now, and what was built since, may be some.
void leat_rewrite_outputs(leat_rewriter *r, leat_node *node, const leat_value *values,
                          uint32_t count);
// Drops the nodes that no effect, feed, result or initial value needs, with the control edges from
// them.
void leat_rewrite_finish(leat_rewriter *r);

// By id: the step itself executes the node. The others only serve initial values of state.
bool *leat_step_nodes(const leat_graph *graph, leat_arena *scratch);

// "file:line:column" of the session's text, interned; NULL: of none.
const char *leat_place_of(const leat_pass_context *context, leat_span span);

// Narrows the node's device constraint to `device` too, if they can be met together.
void leat_constrain_device(leat_graph *graph, leat_node *node, const char *device);

#endif
