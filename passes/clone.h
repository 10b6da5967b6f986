// Copying nodes from one graph into another, with the states and entries that they belong to.
//
// prune copies what a step needs out of the session's graph, partition what a device needs out of
// the step's. Types, attribute values, strings and the dims that there are are shared with the
// graph copied from, which must outlive the copy.
#ifndef LEAT_PASSES_CLONE_H
#define LEAT_PASSES_CLONE_H

#include "ir/graph.h"

typedef struct leat_cloner {
  const leat_graph *from;
  leat_graph *to;
  leat_map states, entries; // those of `from` → their copies, made at first use
} leat_cloner;

// `to` is a new graph in `arena` with the strings, dims and name of `from`, whose further dims are
// its own; the tables go into `scratch`.
leat_cloner leat_clone_begin(const leat_graph *from, leat_arena *arena, leat_arena *scratch);
// Appends a copy of `node` to the cloner's graph, or to a body in it, without control edges, called
// as like it as possible; inputs: as many as the node has.
leat_node *leat_clone_node(leat_cloner *cloner, leat_graph *to, const leat_node *node,
                           const leat_value *inputs);
leat_state *leat_clone_state(leat_cloner *cloner, const leat_state *state); // but its `init`
leat_entry *leat_clone_entry(leat_cloner *cloner, const leat_entry *entry); // empty; NULL for NULL
// Lists each entry's effects and parameters, by the nodes of `to` in their order.
void leat_clone_finish(leat_cloner *cloner);

#endif
