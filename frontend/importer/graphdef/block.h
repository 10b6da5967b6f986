// The nodes of a graph, or of a function, and their edges. Internal to frontend/importer/graphdef/.
#ifndef LEAT_FRONTEND_GRAPHDEF_BLOCK_H
#define LEAT_FRONTEND_GRAPHDEF_BLOCK_H

#include "frontend/importer/graphdef/model.h"

#include <string.h>

typedef struct tf_edge {
  uint32_t node, port;
  const char *output; // of a function's node: the name of the output, of which `port` is a part
} tf_edge;

// A loop of version 1: what comes in by an Enter of that name, up to the Exits.
typedef struct tf_frame {
  const char *name;
  struct tf_frame *outer;           // NULL: it is in none
  const struct tf_frame *outermost; // around it, or itself
  uint32_t number, depth;           // among the block's frames; how many it is in, with itself
  const struct tf_node *cond;       // its LoopCond; NULL: there is none
  bool kept;                        // a stack keeps what it, or one in it, computes
  bool conditional;                 // a switch decides whether it runs
} tf_frame;

typedef struct tf_node {
  const tf_node_def *def;
  tf_edge *inputs;
  uint32_t *controls;
  uint32_t input_count, control_count;
  uint32_t uses;      // of its outputs and by control edges
  bool effect;        // it changes or shows something
  bool changes;       // a variable
  bool conditional;   // a switch decides whether it is computed
  tf_frame *frame;    // NULL: it is in none
  uint32_t filled_by; // of a stack: 1 + who pushes to it; of an array: who scatters it; 0: nobody
  uint32_t behind;    // 1 + the node that it stands behind though no edge says so; 0: there is none
  const tf_edge *like; // what it has the type of though no edge says so; NULL: nothing
} tf_node;

typedef struct tf_block {
  leat_arena *arena;
  tf_node *nodes;
  uint32_t count;          // of nodes
  uint32_t argument_count; // of a function: those are the nodes from `count` on
  leat_bytes_map by_name;  // → tf_node *, of an argument too
  leat_vec(tf_frame *) frames;
  leat_bytes_map frames_by_name;
  const tf_function *function; // NULL: a graph
} tf_block;

typedef enum tf_effect { TF_NO_EFFECT, TF_SHOWS, TF_CHANGES } tf_effect;

// A missing input is a problem that `report` is told; `effect_of` says what a node does, with all
// that it calls.
typedef struct tf_reporter {
  void (*report)(void *context, const tf_node_def *def, const char *words);
  tf_effect (*effect_of)(void *context, const tf_node_def *def);
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

const tf_attr *tf_attribute(const tf_node *node, const char *name); // NULL: there is none

// -- frames.c -------------------------------------------------------------------------------------

// The node of that op that made the handle which is the node's first input; NULL: none did.
tf_node *tf_made_by(const tf_block *block, const tf_node *node, const char *op);
// Sets what stands behind what, which no edge says: what pops behind what pushes; an array behind
// what is written to it, or of whose flow it is the gradient.
void tf_order_stacks(tf_block *block);
void tf_order_arrays(tf_block *block);
void tf_set_frame(tf_block *block, tf_node *node);
// Whether the node is the flow with which an array of gradients begins.
bool tf_begins_gradient(const tf_block *block, const tf_node *node);
// Of an array's elements; NULL: it is not known.
const Tensorflow__TensorShapeProto *tf_element_shape(const tf_node *array);

// -- block.c --------------------------------------------------------------------------------------

// Marks the node and all that it needs, by data, control and back edges.
void tf_mark(const tf_block *block, uint32_t node, bool *needed);
// The needed nodes so that each stands behind what it needs, but for back edges; what has an effect
// as late as may be, so that what it does not wait for reads first. The count; *out is in the
// arena.
uint32_t tf_sort(const tf_block *block, const bool *needed, uint32_t **out);
// The nodes that have no place because they need each other.
uint32_t tf_count(const bool *needed, uint32_t count);

// "name:2" or "name" of an input; the port, TF_NO_PORT where that is no number.
#define TF_NO_PORT UINT32_MAX
uint32_t tf_split_input(leat_arena *arena, const char *input, const char **out_name);

#endif
