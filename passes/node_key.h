// What makes nodes equal, as bytes: op, inputs, attributes, types, device and colocation
// constraints, and control edges as a set; the inputs of ops that commute in either order.
// Internal to passes/.
#ifndef LEAT_PASSES_NODE_KEY_H
#define LEAT_PASSES_NODE_KEY_H

#include "passes/pass.h"

typedef struct leat_node_key {
  leat_arena *scratch;
  leat_vec(uint64_t) words;
} leat_node_key;

// Of the node, as if these were its inputs.
void leat_node_key_make(leat_node_key *key, const leat_node *node, const leat_value *inputs);
// And what else counts.
void leat_node_key_add(leat_node_key *key, uint64_t word);
// Of a table of nodes; NULL: none has it.
void *leat_node_key_find(const leat_node_key *key, const leat_bytes_map *nodes);
void leat_node_key_put(const leat_node_key *key, leat_bytes_map *nodes, leat_node *node);

#endif
