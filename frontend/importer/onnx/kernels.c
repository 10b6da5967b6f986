// Which values of the graph nothing but convolutions uses, as their weights: such constants are
// read with their window first, as the language's convolutions take them, so that no step turns
// them.
#include "frontend/importer/onnx/writer.h"

#include <string.h>

static char weights_alone, other; // what is said of a name

static void note(onnx_writer *w, const char *name, const char *use) {
  const char *before = leat_bytes_map_get(&w->kernels, name, strlen(name));
  if (before != &other) leat_bytes_map_set(&w->kernels, name, strlen(name), (void *)use);
}

// Input 1, where the table says that it is the weights.
static bool takes_weights(const onnx_writer *w, const onnx_node *node, size_t input) {
  if (input != 1 || !node->op_type) return false;
  const onnx_op *op = onnx_op_find(node->domain, node->op_type, onnx_version(w, node->domain));
  return op && strncmp(op->inputs, "t w", 3) == 0;
}

static void note_nodes(onnx_writer *w, onnx_node *const *nodes, size_t count, bool outside);

static void note_graph(onnx_writer *w, const onnx_graph *graph, bool outside) {
  note_nodes(w, graph->node, graph->n_node, outside);
  for (size_t i = 0; i < graph->n_output; i++)
    if (graph->output[i]->name) note(w, graph->output[i]->name, &other);
}

static void note_nodes(onnx_writer *w, onnx_node *const *nodes, size_t count, bool outside) {
  for (size_t i = 0; i < count; i++) {
    const onnx_node *node = nodes[i];
    for (size_t k = 0; k < node->n_input; k++)
      note(w, node->input[k], outside && takes_weights(w, node, k) ? &weights_alone : &other);
    for (size_t k = 0; k < node->n_attribute; k++)
      if (node->attribute[k]->g) note_graph(w, node->attribute[k]->g, false);
  }
}

void onnx_find_kernels(onnx_writer *w) {
  const onnx_graph *graph = w->proto->graph;
  note_graph(w, graph, true);
}

bool onnx_is_kernel(const onnx_writer *w, const char *name) {
  return leat_bytes_map_get(&w->kernels, name, strlen(name)) == &weights_alone;
}
