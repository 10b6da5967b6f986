// Zeros that are known while a gradient is written.
//
// The gradient of an output that the loss does not depend on is zeros, and what a rule makes of
// them mostly zeros again. Such a node is taken back and zeros stand for it, a sum with them is its
// other term, and gradients that are zeros are handed on to nobody: nothing is computed for them,
// and nothing infinite spoils them, as it would a product. Other zeros are numbers like any.
#include "frontend/values/rows.h"

#include "frontend/values/region.h"
#include "frontend/values/tensors.h"

#include <string.h>

enum { MOST_ASKED = 7 }; // the inputs that leat_op_zeros has bits for

leat_value ev_zeros(evaluator *e, const leat_type *type, leat_span span) {
  leat_value zeros = ev_literal_tensor(e, ev_int(0), type, NULL, span);
  if (zeros.node) ev_set(e, &e->zeros, zeros.node, zeros.node);
  return zeros;
}

bool ev_is_zeros(const evaluator *e, leat_value value) {
  const leat_node *node = leat_region_origin(value).node;
  if (node->op == LEAT_OP_broadcast && !leat_map_get(&e->zeros, node))
    node = leat_region_origin(node->inputs[0]).node;
  return leat_map_get(&e->zeros, node);
}

// A number that the text says, such as the other choice of a `where`.
static bool is_literal_zero(leat_value value) {
  const leat_node *node = leat_region_origin(value).node;
  if (node->op == LEAT_OP_broadcast) node = leat_region_origin(node->inputs[0]).node;
  if (node->op != LEAT_OP_const || node->outputs[0].rank) return false;
  static const char zero[sizeof(double[2])];
  const leat_tensor *tensor = leat_node_attr(node, "value")->tensor;
  return tensor->dtype != LEAT_str && !memcmp(tensor->data, zero, leat_dtype_size(tensor->dtype));
}

// The term that is left of a sum or a difference.
static leat_value other_term(evaluator *e, const leat_node *node, leat_span span) {
  bool first = ev_is_zeros(e, node->inputs[0]);
  ev left = ev_tensor(node->inputs[first]);
  if (first && node->op == LEAT_OP_sub) left = ev_op(e, LEAT_OP_neg, &left, 1, NULL, span, NULL);
  return left.kind == EV_TENSOR ? left.tensor : (leat_value){0};
}

static void take_back(const leat_node *node) {
  leat_graph *graph = node->graph;
  leat_graph_truncate(graph, node->id, graph->states.count, graph->entries.count);
}

leat_value ev_fold_zeros(evaluator *e, leat_value value, leat_span span) {
  const leat_node *node = value.node;
  leat_op_zeros needed = node->info->zeros;
  bool one = needed == LEAT_ZEROS_EITHER; // is enough
  uint32_t known = 0, zero = 0, asked = 0;
  for (uint32_t i = 0; i < node->input_count && i < MOST_ASKED; i++) {
    if (!(needed >> i & 1)) continue;
    bool is_known = ev_is_zeros(e, node->inputs[i]);
    asked++;
    known += is_known;
    zero += is_known || is_literal_zero(node->inputs[i]);
  }
  bool sum = node->op == LEAT_OP_add || node->op == LEAT_OP_sub;
  if (!known || (zero < asked && !one && !sum)) return value;
  leat_type type = *leat_value_type(value);
  take_back(node);
  return zero == asked || one ? ev_zeros(e, &type, span) : other_term(e, node, span);
}
