// Which convolutions Winograd's transforms compute (Lavin and Gray, Fast Algorithms for
// Convolutional Neural Networks, 2015): those of f32 by windows of 3 x 3 or 5 x 5 in steps of 1,
// and what takes gradients back through them, where they take less time by the extents that the
// text has. A batch that it does not know counts as one image.
#include "passes/choose_winograd.h"

#include "ops/cost.h"
#include "ops/ops.h"
#include "passes/rewrite.h"

#include <string.h>

typedef struct convolution {
  const leat_node *unfold;
  leat_value x, w; // w[window, window, channels, outputs]
  int64_t window;
  leat_dim size[2];
  int64_t before[2];
  bool turned;
  double images, channels, outputs;
} convolution;

// -- What a product is ----------------------------------------------------------------------------

static const leat_node *made_by(leat_value value, leat_op op) {
  return value.node->op == op ? value.node : NULL;
}

static bool are(const leat_attr *attr, uint32_t count, const int64_t *ints) {
  bool same = attr->count == count;
  for (uint32_t i = 0; same && i < count; i++) same = attr->ints[i] == ints[i];
  return same;
}

static bool is_zero(leat_value value) {
  const leat_node *node = made_by(value, LEAT_OP_const);
  const leat_tensor *tensor = node ? leat_node_attr(node, "value")->tensor : NULL;
  return tensor && tensor->dtype == LEAT_f32 && *(const float *)tensor->data == 0;
}

static bool slides(convolution *c) {
  static const int64_t axes[] = {1, 2}, one[] = {1, 1}, back[] = {-1, -1};
  const leat_node *node = c->unfold;
  const leat_attr *size = leat_node_attr(node, "size"), *before = leat_node_attr(node, "before");
  const leat_attr *dilation = leat_node_attr(node, "dilation");
  const int64_t window[] = {c->window, c->window};
  bool fits = !leat_node_attr(node, "windowed")->i && is_zero(node->inputs[1]) &&
              are(leat_node_attr(node, "axes"), 2, axes) &&
              are(leat_node_attr(node, "window"), 2, window) &&
              are(leat_node_attr(node, "stride"), 2, one) &&
              are(leat_node_attr(node, "base"), 2, one);
  c->turned = are(dilation, 2, back);
  if (!fits || (!c->turned && !are(dilation, 2, one))) return false;
  for (int i = 0; i < 2; i++) {
    c->size[i] = size->dims[i];
    c->before[i] = before->ints[i] + (c->turned ? c->window - 1 : 0);
  }
  return true;
}

static bool is_known(leat_dim dim) {
  return leat_dim_is_const(dim) && dim.value > 0;
}

static leat_value behind_reshapes(leat_value value) {
  while (value.node->op == LEAT_OP_reshape) value = value.node->inputs[0];
  return value;
}

static bool same_dims(const leat_type *a, const leat_type *b, int count) {
  bool same = a->rank >= count && b->rank >= count;
  for (int i = 0; same && i < count; i++) same = leat_dim_equal(a->dims[i], b->dims[i]);
  return same;
}

// The columns of `convolve` in stdlib/conv.leat, whose windows are of extents that are known.
static bool find_columns(leat_value columns, convolution *out) {
  static const int64_t channels_last[] = {0, 1, 2, 4, 5, 3};
  const leat_node *apart = made_by(behind_reshapes(columns), LEAT_OP_transpose);
  if (!apart || !are(leat_node_attr(apart, "perm"), 6, channels_last)) return false;
  out->unfold = made_by(apart->inputs[0], LEAT_OP_unfold);
  if (!out->unfold || leat_value_type(out->unfold->inputs[0])->rank != 4) return false;
  out->x = out->unfold->inputs[0];
  out->window = leat_node_attr(out->unfold, "window")->ints[0];
  if ((out->window != 3 && out->window != 5) || !slides(out)) return false;
  const leat_type *x = leat_value_type(out->x);
  bool known = is_known(out->size[0]) && is_known(out->size[1]);
  for (int i = 1; i < 4; i++) known = known && is_known(x->dims[i]);
  out->images = is_known(x->dims[0]) ? (double)x->dims[0].value : 1;
  out->channels = (double)x->dims[3].value;
  return known;
}

// Times its weights.
static bool find(const leat_node *product, convolution *out) {
  const leat_node *weights = made_by(product->inputs[1], LEAT_OP_reshape);
  const leat_type *columns = leat_value_type(product->inputs[0]);
  if (product->outputs[0].dtype != LEAT_f32 || product->outputs[0].rank != 4 || !weights ||
      leat_node_attr(product, "transpose_a")->i || leat_node_attr(product, "transpose_b")->i ||
      !find_columns(product->inputs[0], out))
    return false;
  out->w = weights->inputs[0];
  const leat_type *x = leat_value_type(out->x), *w = leat_value_type(out->w);
  out->outputs = (double)product->outputs[0].dims[3].value;
  return w->rank == 4 && leat_dim_is(w->dims[0], out->window) &&
         leat_dim_is(w->dims[1], out->window) && is_known(w->dims[3]) &&
         leat_dim_equal(x->dims[3], w->dims[2]) && same_dims(columns, &out->unfold->outputs[0], 3);
}

// The columns, transposed, times the gradient of the outputs, which is `w` then.
static bool find_weights(const leat_node *product, convolution *out) {
  const leat_type *type = &product->outputs[0];
  if (type->dtype != LEAT_f32 || type->rank != 2 || !leat_node_attr(product, "transpose_a")->i ||
      leat_node_attr(product, "transpose_b")->i || !find_columns(product->inputs[0], out) ||
      out->turned)
    return false;
  out->w = behind_reshapes(product->inputs[1]);
  const leat_type *dy = leat_value_type(out->w);
  out->outputs = (double)type->dims[1].value;
  double rows = (double)(out->window * out->window) * out->channels;
  return dy->rank == 4 && is_known(dy->dims[3]) && leat_dim_equal(dy->dims[3], type->dims[1]) &&
         leat_dim_is(type->dims[0], (int64_t)rows) && same_dims(dy, &out->unfold->outputs[0], 3);
}

// -------------------------------------------------------------------------------------------------

// 0: none gains.
static int best_tile(const leat_target_info *target, const convolution *c, bool weights) {
  static const int tiles[] = {4, 2};
  leat_convolution sizes = {.window = (int)c->window,
                            .weights = weights,
                            .images = c->images,
                            .down = (double)c->size[0].value,
                            .across = (double)c->size[1].value,
                            .channels = c->channels,
                            .outputs = c->outputs};
  double least = leat_cost_convolution(target, &sizes, 0) / 1.2;
  int best = 0;
  for (int i = 0; i < 2; i++) {
    if (tiles[i] + c->window > 7) continue; // more places than there are transforms of
    double cost = leat_cost_convolution(target, &sizes, tiles[i]);
    if (cost < least) least = cost, best = tiles[i];
  }
  return best;
}

static void become(leat_graph *graph, leat_node *node, const convolution *c, int tile) {
  leat_value inputs[] = {c->x, c->w};
  leat_attr attrs[] = {
      {.count = 2, .dims = leat_arena_memdup(graph->arena, c->size, sizeof c->size)},
      {.count = 2, .ints = leat_arena_memdup(graph->arena, c->before, sizeof c->before)},
      {.i = c->turned},
      {.i = tile}};
  leat_node_set_op(node, LEAT_OP_winograd);
  memcpy(node->inputs, inputs, sizeof inputs);
  node->attrs = leat_arena_memdup(graph->arena, attrs, sizeof attrs);
}

static void become_weights(leat_graph *graph, leat_node *node, const convolution *c, int tile) {
  leat_value inputs[] = {c->x, c->w};
  leat_attr attrs[] = {
      {.count = 2, .ints = leat_arena_memdup(graph->arena, c->before, sizeof c->before)},
      {.i = c->window},
      {.i = tile}};
  leat_node_set_op(node, LEAT_OP_winograd_weights);
  memcpy(node->inputs, inputs, sizeof inputs);
  node->attrs = leat_arena_memdup(graph->arena, attrs, sizeof attrs);
}

// Whether the product is one now.
static bool choose(const leat_pass_context *context, leat_graph *graph, leat_node *node) {
  convolution c;
  if (node->op != LEAT_OP_matmul) return false;
  int tile = find(node, &c) ? best_tile(context->target, &c, false) : 0;
  if (tile) {
    become(graph, node, &c, tile);
    return true;
  }
  tile = find_weights(node, &c) ? best_tile(context->target, &c, true) : 0;
  if (tile) become_weights(graph, node, &c, tile);
  return tile != 0;
}

static void drop_unused(leat_graph *graph, leat_arena *scratch) {
  leat_rewriter r = leat_rewrite_begin(graph, scratch);
  for (uint32_t i = 0; i < r.count; i++) leat_rewrite_keep(&r, graph->nodes.items[i]);
  leat_rewrite_finish(&r);
}

void leat_choose_winograd(leat_pass_context *context, leat_graph *graph) {
  bool some = false;
  for (uint32_t i = 0; i < graph->nodes.count; i++)
    some |= choose(context, graph, graph->nodes.items[i]);
  if (some) drop_unused(graph, context->scratch);
}
