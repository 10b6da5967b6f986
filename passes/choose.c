// choose: picks what may change bits: the kernel family of each contraction, how convolutions are
// computed (choose_convolutions.c), how products read windows (choose_windows.c), which of them
// Winograd's transforms compute (choose_winograd.c), and which sums over the turns of a loop are
// made behind it (choose_sums.c). What loops keep of their turns (choose_kept.c) changes none: it
// is picked here as such sums read it.
//
//   needs   dims as the text has them: it runs before `infer`, because a family may change bits
//           and bits must not depend on whether a step is specialised
//   keeps   all but such windows, convolutions, loops, their rows and sums, and what it says on
//           nodes: the attribute `family` ("" is the generator's, "blis" is BLIS's), and `sums` of
//           a loop
//
// BLIS carries plain dense products of matrices when the session asks for it, one or a batch. The
// number of rows never counts. Where the text says that an inner dim is small, a call costs more
// than it gains, and the generator keeps the product.
#include "passes/choose_convolutions.h"
#include "passes/choose_kept.h"
#include "passes/choose_sums.h"
#include "passes/choose_windows.h"
#include "passes/choose_winograd.h"

enum { LEAST_BLIS_DIM = 16 };

static bool is_large(leat_dim dim) {
  return !leat_dim_is_const(dim) || dim.value >= LEAST_BLIS_DIM;
}

static bool suits_blis(const leat_node *node) {
  const leat_type *a = leat_value_type(node->inputs[0]), *b = leat_value_type(node->inputs[1]);
  bool plain = a->rank == b->rank && (a->dtype == LEAT_f32 || a->dtype == LEAT_f64);
  return plain && is_large(b->dims[b->rank - 2]) && is_large(b->dims[b->rank - 1]);
}

static void choose_families(const leat_pass_context *context, leat_graph *graph) {
  const char *families[] = {leat_intern(graph->strings, ""), leat_intern(graph->strings, "blis")};
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    leat_node *node = graph->nodes.items[i];
    if (node->op != LEAT_OP_matmul) continue;
    leat_attr family = {.string = families[context->blis && !context->strict && suits_blis(node)]};
    leat_node_set_attr(graph, node, "family", family);
  }
}

// Which sums there are, which changes bits, goes by what the loops kept before; they read what is
// kept now.
static void choose_of_turns(const leat_pass_context *context, leat_graph *graph) {
  leat_map sums = leat_choose_sums(context, graph);
  leat_map reads = leat_choose_kept(context, graph);
  leat_make_sums_behind(graph, &sums, &reads, context->scratch);
}

static void visit(void *context, leat_graph *graph) {
  leat_choose_convolutions(context, graph);
  leat_choose_windows(context, graph);
  choose_of_turns(context, graph);
  if (!((const leat_pass_context *)context)->strict) leat_choose_winograd(context, graph);
  choose_families(context, graph);
}

leat_status leat_pass_choose(leat_pass_context *context) {
  leat_graph_visit(context->graph, visit, context);
  return LEAT_OK;
}
