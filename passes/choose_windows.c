// How products read the windows of a convolution (`convolution_columns` in stdlib/conv.leat), the
// channels last: where these fill vectors, vector by vector; else, where neighbours in a window are
// neighbours in the image, the last axis and the channels are read as one, whose windows are runs
// of channels. Both are the same numbers in the same order.
#include "passes/choose_windows.h"

#include "ops/build.h"
#include "passes/rewrite.h"

enum { LANES = 16 }; // of a vector of a kernel, on every machine

// The transpose that brings the channels behind the elements of the window.
static bool puts_channels_last(const leat_node *node, int32_t axes) {
  const leat_attr *perm = leat_node_attr(node, "perm");
  bool last = (int32_t)perm->count == 2 * axes + 2;
  for (int32_t i = 0; last && i < 2 * axes + 2; i++)
    last = perm->ints[i] == (i <= axes ? i : i < 2 * axes + 1 ? i + 1 : axes + 1);
  return last;
}

// Windows along all axes between those of images and channels.
static bool is_of_images(const leat_node *unfold, int32_t axes) {
  const leat_attr *along = leat_node_attr(unfold, "axes");
  bool all = (int32_t)along->count == axes && !leat_node_attr(unfold, "windowed")->i;
  for (int32_t i = 0; all && i < axes; i++) all = along->ints[i] == i + 1;
  return all;
}

static int64_t last_of(const leat_node *unfold, const char *name) {
  const leat_attr *numbers = leat_node_attr(unfold, name);
  return numbers->ints[numbers->count - 1];
}

// Whether the node has windows that are better read as runs.
static bool are_runs(const leat_node *node) {
  if (node->op != LEAT_OP_transpose || node->inputs[0].node->op != LEAT_OP_unfold) return false;
  const leat_node *unfold = node->inputs[0].node;
  const leat_type *x = leat_value_type(unfold->inputs[0]);
  int32_t axes = x->rank - 2;
  if (axes < 1 || !puts_channels_last(node, axes) || !is_of_images(unfold, axes)) return false;
  leat_dim channels = x->dims[axes + 1];
  return leat_dim_is_const(channels) && channels.value % LANES != 0 &&
         last_of(unfold, "dilation") == 1 && last_of(unfold, "base") == 1;
}

// With the last number so many times as large.
static void multiply_last(leat_graph *graph, leat_attr *attrs, const char *name, int64_t by) {
  leat_attr *attr = &attrs[leat_op_attr_index(LEAT_OP_unfold, name)];
  int64_t *ints = leat_arena_memdup(graph->arena, attr->ints, attr->count * sizeof *ints);
  ints[attr->count - 1] *= by;
  attr->ints = ints;
}

// {NULL}: a dim cannot be said.
static leat_value make_runs(leat_pass_context *context, leat_graph *graph, const leat_node *node) {
  static const char *const along[] = {"window", "stride", "before"};
  const leat_node *unfold = node->inputs[0].node;
  leat_attr attrs[LEAT_MAX_ATTRS];
  leat_type rows = *leat_value_type(unfold->inputs[0]);
  leat_dim channels = rows.dims[--rows.rank], *last = &rows.dims[rows.rank - 1];
  leat_builder builder = {.graph = graph,
                          .diag = context->diag,
                          .span = node->span,
                          .device = node->device,
                          .colocate = node->colocate,
                          .entry = node->entry,
                          .place = node->place};
  if (!leat_dim_mul(graph->dims, *last, channels, last)) return (leat_value){0};
  for (int i = 0; i < unfold->info->attr_count; i++) attrs[i] = unfold->attrs[i];
  for (int i = 0; i < 3; i++) multiply_last(graph, attrs, along[i], channels.value);
  leat_value inputs[] = {leat_build_reshape(&builder, node->name, unfold->inputs[0], &rows),
                         unfold->inputs[1]};
  leat_value runs = leat_build(&builder, node->name, LEAT_OP_unfold, inputs, 2, attrs);
  return leat_build_reshape(&builder, node->name, runs, &node->outputs[0]);
}

static bool has_runs(const leat_graph *graph) {
  for (uint32_t i = 0; i < graph->nodes.count; i++)
    if (are_runs(graph->nodes.items[i])) return true;
  return false;
}

void leat_choose_windows(leat_pass_context *context, leat_graph *graph) {
  if (!has_runs(graph)) return;
  leat_rewriter r = leat_rewrite_begin(graph, context->scratch);
  for (uint32_t i = 0; i < r.count; i++) {
    leat_node *node = graph->nodes.items[i];
    leat_rewrite_inputs(&r, node);
    leat_value runs = are_runs(node) ? make_runs(context, graph, node) : (leat_value){0};
    leat_rewrite_replace(&r, node, runs);
  }
  leat_rewrite_finish(&r);
}
