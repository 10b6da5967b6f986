// The nodes of a graph, or of a function, and their edges. Internal to frontend/graphdef/.
#ifndef LEAT_FRONTEND_GRAPHDEF_BLOCK_H
#define LEAT_FRONTEND_GRAPHDEF_BLOCK_H

#include "frontend/graphdef/model.h"

#include <string.h>

typedef struct tf_edge {
  uint32_t node, port;
  const char *output; // of a function's node: the name of the output, of which `port` is a part
} tf_edge;

typedef struct tf_node {
  const tf_node_def *def;
  tf_edge *inputs;
  uint32_t *controls;
  uint32_t input_count, control_count;
  uint32_t uses;    // of its outputs and by control edges
  bool effect;      // it changes or shows something
  bool conditional; // a switch decides whether it is computed
  uint32_t frames;  // that it is in, one in the other
} tf_node;

typedef struct tf_block {
  leat_arena *arena;
  tf_node *nodes;
  uint32_t count;              // of nodes
  uint32_t argument_count;     // of a function: those are the nodes from `count` on
  leat_bytes_map by_name;      // → tf_node *, of an argument too
  const tf_function *function; // NULL: a graph
} tf_block;

// A missing input is a problem that `report` is told.
typedef struct tf_reporter {
  void (*report)(void *context, const tf_node_def *def, const char *words);
  void *context;
} tf_reporter;

tf_block *tf_block_of_graph(leat_arena *arena, const Tensorflow__GraphDef *graph,
                            const tf_reporter *reporter);
tf_block *tf_block_of_function(leat_arena *arena, const tf_function *function,
                               const tf_reporter *reporter);

static inline bool tf_is(const tf_node *node, const char *op) {
  const char *name = node->def ? node->def->op : "";
  return strcmp(name, op) == 0 || (strncmp(name, "Ref", 3) == 0 && strcmp(name + 3, op) == 0);
}

// Marks the node and all that it needs, by data, control and back edges.
void tf_mark(const tf_block *block, uint32_t node, bool *needed);
// The needed nodes so that each stands behind what it needs, but for back edges; what has an effect
// as late as may be, so that what it does not wait for reads first. The count; *out is in the
// arena.
uint32_t tf_sort(const tf_block *block, const bool *needed, uint32_t **out);
// The nodes that have no place because they need each other.
uint32_t tf_count(const bool *needed, uint32_t count);

// "name:2" or "name" of an input; the port.
uint32_t tf_split_input(leat_arena *arena, const char *input, const char **out_name);

#endif
