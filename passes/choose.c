// choose: picks the kernel family of each contraction.
//
//   needs   dims as the text has them: it runs before `infer`, because a family may change bits
//           and bits must not depend on whether a step is specialised
//   keeps   everything but the attribute `family`: "" is the generator's, "blis" is BLIS's
//
// BLIS carries plain dense products of matrices when the session asks for it, one or a batch. The
// number of rows never counts. Where the text says that an inner dim is small, a call costs more
// than it gains, and the generator keeps the product.
#include "passes/pass.h"

enum { LEAST_BLIS_DIM = 16 };

static bool is_large(leat_dim dim) {
  return !leat_dim_is_const(dim) || dim.value >= LEAST_BLIS_DIM;
}

static bool suits_blis(const leat_node *node) {
  const leat_type *a = leat_value_type(node->inputs[0]), *b = leat_value_type(node->inputs[1]);
  bool plain = a->rank == b->rank && (a->dtype == LEAT_f32 || a->dtype == LEAT_f64);
  return plain && is_large(b->dims[b->rank - 2]) && is_large(b->dims[b->rank - 1]);
}

leat_status leat_pass_choose(leat_pass_context *context) {
  leat_graph *graph = context->graph;
  const char *families[] = {leat_intern(graph->strings, ""), leat_intern(graph->strings, "blis")};
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    leat_node *node = graph->nodes.items[i];
    if (node->op != LEAT_OP_matmul) continue;
    leat_attr family = {.string = families[context->blis && suits_blis(node)]};
    leat_node_set_attr(graph, node, "family", family);
  }
  return LEAT_OK;
}
