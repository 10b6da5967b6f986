#include "passes/convolution.h"

#include <string.h>

static const leat_value none = {0};

static bool product_of(leat_graph *graph, const leat_dim *dims, int count, leat_dim *out) {
  *out = leat_dim_const(1);
  for (int i = 0; i < count; i++)
    if (!leat_dim_mul(graph->dims, *out, dims[i], out)) return false;
  return true;
}

static bool is_known(leat_dim dim) {
  return leat_dim_is_const(dim) && dim.value > 0;
}

// -- What is there --------------------------------------------------------------------------------

// The operand of the reshape that the value is; NULL: it is none.
static const leat_value *reshaped(const leat_value *value) {
  return value && value->node->op == LEAT_OP_reshape ? &value->node->inputs[0] : NULL;
}

static bool has_perm(const leat_node *node, const int64_t *perm, uint32_t count) {
  const leat_attr *attr = leat_node_attr(node, "perm");
  return attr->count == count && memcmp(attr->ints, perm, count * sizeof *perm) == 0;
}

// The same of a transpose by these axes.
static const leat_value *transposed(const leat_value *value, const int64_t *perm, uint32_t count) {
  if (!value || value->node->op != LEAT_OP_transpose || !has_perm(value->node, perm, count))
    return NULL;
  return &value->node->inputs[0];
}

static bool is_product(const leat_node *node, bool transpose_a) {
  return node->op == LEAT_OP_matmul &&
         (leat_node_attr(node, "transpose_a")->i != 0) == transpose_a &&
         !leat_node_attr(node, "transpose_b")->i;
}

static bool has_dims(const leat_type *type, const leat_dim *dims, int count) {
  bool same = type->rank == count;
  for (int i = 0; same && i < count; i++) same = leat_dim_equal(type->dims[i], dims[i]);
  return same;
}

// The perm of rank `rank` that brings axis `from` to the end.
static void last_perm(int64_t *perm, int rank, int from) {
  for (int i = 0; i < rank; i++) perm[i] = i < from ? i : i + 1;
  perm[rank - 1] = from;
}

// columns[N, size…, window… * C] times w[window… * C, O].
static bool find_plain(const leat_node *node, leat_convolution_node *out) {
  int64_t perm[LEAT_MAX_RANK];
  if (!is_product(node, false) || node->outputs[0].rank < 3) return false;
  out->axes = node->outputs[0].rank - 2;
  if (out->axes > LEAT_MOST_SPATIAL) return false;
  int rank = 2 * out->axes + 2;
  last_perm(perm, rank, out->axes + 1);
  const leat_value *w = reshaped(&node->inputs[1]);
  const leat_value *windows = transposed(reshaped(&node->inputs[0]), perm, (uint32_t)rank);
  if (!w || !windows) return false;
  out->windows = *windows;
  out->w = *w;
  out->groups = 1;
  out->weights = *leat_value_type(*w);
  return true;
}

// What is [groups, N * size…, window… * C / groups], of such windows.
static const leat_value *find_grouped_windows(const leat_value *columns, leat_dim *taps) {
  static const int64_t perm[] = {1, 0, 3, 2};
  const leat_value *parts = transposed(reshaped(columns), perm, 4);
  if (!reshaped(parts)) return NULL;
  *taps = leat_value_type(*parts)->dims[3];
  return reshaped(parts);
}

static bool find_grouped(const leat_node *node, leat_convolution_node *out) {
  static const int64_t groups_second[] = {1, 0, 2}, groups_first[] = {2, 0, 1, 3};
  const leat_value root = {(leat_node *)node, 0};
  const leat_value *y = transposed(reshaped(&root), groups_second, 3);
  if (!y || !is_product(y->node, false) || node->outputs[0].rank < 3) return false;
  leat_dim taps;
  out->axes = node->outputs[0].rank - 2;
  const leat_value *windows = find_grouped_windows(&y->node->inputs[0], &taps);
  const leat_value *parts = transposed(reshaped(&y->node->inputs[1]), groups_first, 4);
  if (!windows || !reshaped(parts)) return false;
  out->windows = *windows;
  out->w = *reshaped(parts);
  out->weights = *leat_value_type(out->w);
  out->groups = y->node->outputs[0].dims[0].value;
  const leat_dim *dims = leat_value_type(*parts)->dims;
  return leat_dim_is_const(y->node->outputs[0].dims[0]) && leat_dim_equal(dims[0], taps) &&
         leat_dim_is(dims[2], out->groups) &&
         leat_dim_equal(dims[1], out->weights.dims[out->weights.rank - 2]);
}

static bool find_grouped_weights(const leat_node *node, leat_convolution_node *out) {
  static const int64_t groups_behind[] = {1, 2, 0, 3}, groups_second[] = {1, 0, 2};
  const leat_value root = {(leat_node *)node, 0};
  const leat_value *rows = reshaped(transposed(reshaped(&root), groups_behind, 4));
  if (!rows || !is_product(rows->node, true) || node->outputs[0].rank < 3) return false;
  leat_dim taps;
  out->axes = node->outputs[0].rank - 2;
  const leat_value *windows = find_grouped_windows(&rows->node->inputs[0], &taps);
  const leat_value *parts = transposed(&rows->node->inputs[1], groups_second, 3);
  if (!windows || !reshaped(parts)) return false;
  out->windows = *windows;
  out->w = *reshaped(parts);
  out->weights = node->outputs[0];
  out->groups = rows->node->outputs[0].dims[0].value;
  out->of_weights = true;
  return leat_dim_is_const(rows->node->outputs[0].dims[0]) &&
         leat_dim_is(leat_value_type(*parts)->dims[1], out->groups);
}

// Whether the operands are what the reshapes between make them pass for.
static bool fits(const leat_node *node, const leat_convolution_node *c) {
  const leat_type *windows = leat_value_type(c->windows), *w = &c->weights;
  const leat_dim *dims = windows->dims;
  int n = c->axes;
  if (n < 1 || n > LEAT_MOST_SPATIAL || windows->rank != 2 * n + 2 || w->rank != n + 2)
    return false;
  if (!is_known(dims[n + 1]) || !is_known(w->dims[n]) || !is_known(w->dims[n + 1])) return false;
  bool same =
      dims[n + 1].value == w->dims[n].value * c->groups && w->dims[n + 1].value % c->groups == 0;
  for (int i = 0; same && i < n; i++) same = leat_dim_equal(dims[n + 2 + i], w->dims[i]);
  leat_dim outputs[LEAT_MAX_RANK];
  memcpy(outputs, dims, (size_t)(n + 1) * sizeof *dims);
  outputs[n + 1] = w->dims[n + 1];
  return same &&
         has_dims(c->of_weights ? leat_value_type(c->w) : &node->outputs[0], outputs, n + 2);
}

bool leat_find_convolution(const leat_node *node, leat_convolution_node *out) {
  *out = (leat_convolution_node){0};
  bool found = find_plain(node, out);
  if (!found) *out = (leat_convolution_node){0};
  if (!found) found = find_grouped(node, out);
  if (!found) *out = (leat_convolution_node){0};
  if (!found) found = find_grouped_weights(node, out);
  if (!found || !fits(node, out)) return false;
  out->channels = leat_value_type(out->windows)->dims[out->axes + 1].value;
  out->outputs = out->weights.dims[out->axes + 1].value;
  return true;
}

static bool is_zero(leat_value value) {
  const leat_node *node = value.node;
  const leat_tensor *tensor =
      node->op == LEAT_OP_const ? leat_node_attr(node, "value")->tensor : NULL;
  static const char zeros[16];
  return tensor && leat_dtype_size(tensor->dtype) <= sizeof zeros &&
         memcmp(tensor->data, zeros, leat_dtype_size(tensor->dtype)) == 0;
}

bool leat_find_sliding(const leat_convolution_node *convolution, leat_sliding *out) {
  const leat_node *node = convolution->windows.node;
  if (node->op != LEAT_OP_unfold || leat_node_attr(node, "windowed")->i) return false;
  const leat_attr *axes = leat_node_attr(node, "axes");
  *out = (leat_sliding){.axes = convolution->axes, .x = node->inputs[0]};
  if ((int)axes->count != out->axes || !is_zero(node->inputs[1])) return false;
  for (int i = 0; i < out->axes; i++) {
    if (axes->ints[i] != i + 1) return false;
    out->size[i] = leat_node_attr(node, "size")->dims[i];
    out->window[i] = leat_node_attr(node, "window")->ints[i];
    out->stride[i] = leat_node_attr(node, "stride")->ints[i];
    out->dilation[i] = leat_node_attr(node, "dilation")->ints[i];
    out->base[i] = leat_node_attr(node, "base")->ints[i];
    out->before[i] = leat_node_attr(node, "before")->ints[i];
  }
  return true;
}

// -- What is made ---------------------------------------------------------------------------------

leat_maker leat_maker_like(leat_graph *graph, leat_diag *diag, const leat_node *node) {
  return (leat_maker){.builder = {.graph = graph,
                                  .diag = diag,
                                  .span = node->span,
                                  .device = node->device,
                                  .colocate = node->colocate,
                                  .entry = node->entry,
                                  .place = node->place},
                      .name = node->name};
}

static leat_attr ints_attr(leat_maker *m, const int64_t *ints, int count) {
  size_t size = (size_t)count * sizeof *ints;
  return (leat_attr){.count = (uint32_t)count,
                     .ints = leat_arena_memdup(m->builder.graph->arena, ints, size)};
}

static leat_attr dims_attr(leat_maker *m, const leat_dim *dims, int count) {
  size_t size = (size_t)count * sizeof *dims;
  return (leat_attr){.count = (uint32_t)count,
                     .dims = leat_arena_memdup(m->builder.graph->arena, dims, size)};
}

static leat_value make(leat_maker *m, leat_op op, const leat_value *inputs, uint32_t count,
                       const leat_attr *attrs) {
  for (uint32_t i = 0; i < count; i++)
    if (!inputs[i].node) return none;
  return leat_build(&m->builder, m->name, op, inputs, count, attrs);
}

leat_value leat_make_reshape(leat_maker *m, leat_value x, const leat_dim *dims, int rank) {
  leat_attr shape = dims_attr(m, dims, rank);
  return make(m, LEAT_OP_reshape, &x, 1, &shape);
}

leat_value leat_make_broadcast(leat_maker *m, leat_value x, const leat_dim *dims, int rank) {
  leat_attr shape = dims_attr(m, dims, rank);
  return make(m, LEAT_OP_broadcast, &x, 1, &shape);
}

leat_value leat_make_transpose(leat_maker *m, leat_value x, const int64_t *perm) {
  if (!x.node) return none;
  leat_attr attr = ints_attr(m, perm, leat_value_type(x)->rank);
  return make(m, LEAT_OP_transpose, &x, 1, &attr);
}

leat_value leat_make_cast(leat_maker *m, leat_value x, leat_dtype dtype) {
  leat_attr attr = {.i = dtype};
  return make(m, LEAT_OP_cast, &x, 1, &attr);
}

leat_value leat_make_product(leat_maker *m, leat_value x, leat_value y) {
  leat_value inputs[] = {x, y};
  return make(m, LEAT_OP_mul, inputs, 2, NULL);
}

leat_value leat_make_matmul(leat_maker *m, leat_value a, leat_value b) {
  leat_value inputs[] = {a, b};
  leat_attr attrs[] = {{.i = 0}, {.i = 0}, {.string = leat_intern(m->builder.graph->strings, "")}};
  return make(m, LEAT_OP_matmul, inputs, 2, attrs);
}

leat_value leat_make_sum(leat_maker *m, leat_value x, int first, int count) {
  int64_t axes[LEAT_MAX_RANK];
  for (int i = 0; i < count; i++) axes[i] = first + i;
  leat_attr attrs[] = {ints_attr(m, axes, count), {.i = 0}};
  return make(m, LEAT_OP_sum, &x, 1, attrs);
}

leat_value leat_make_slice(leat_maker *m, leat_value x, const int64_t *start, const leat_dim *size,
                           const int64_t *step) {
  leat_dim from[LEAT_MAX_RANK];
  if (!x.node) return none;
  int rank = leat_value_type(x)->rank;
  for (int i = 0; i < rank; i++) from[i] = leat_dim_const(start[i]);
  leat_attr attrs[] = {dims_attr(m, from, rank), dims_attr(m, size, rank),
                       ints_attr(m, step, rank)};
  return make(m, LEAT_OP_slice, &x, 1, attrs);
}

leat_value leat_make_unfold(leat_maker *m, const leat_sliding *s, int first, bool windowed) {
  int64_t axes[LEAT_MAX_RANK];
  if (!s->x.node) return none;
  for (int i = 0; i < s->axes; i++) axes[i] = first + i;
  leat_dtype dtype = leat_value_type(s->x)->dtype;
  leat_value inputs[] = {s->x, leat_build_scalar(&m->builder, m->name, dtype, 0)};
  leat_attr attrs[] = {ints_attr(m, axes, s->axes),        dims_attr(m, s->size, s->axes),
                       ints_attr(m, s->window, s->axes),   ints_attr(m, s->stride, s->axes),
                       ints_attr(m, s->dilation, s->axes), ints_attr(m, s->base, s->axes),
                       ints_attr(m, s->before, s->axes),   {.i = windowed}};
  return make(m, LEAT_OP_unfold, inputs, 2, attrs);
}

leat_value leat_make_windows(leat_maker *m, const leat_sliding *s) {
  return leat_make_unfold(m, s, 1, false);
}

typedef struct grouped {
  leat_dim count, groups, taps, inputs, outputs, depth; // inputs, outputs: of a group
} grouped;

static leat_value grouped_columns(leat_maker *m, leat_value windows, const grouped *g) {
  static const int64_t perm[] = {1, 0, 3, 2};
  leat_dim apart[] = {g->count, g->groups, g->inputs, g->taps};
  leat_dim columns[] = {g->groups, g->count, g->depth};
  leat_value parts = leat_make_reshape(m, windows, apart, 4);
  return leat_make_reshape(m, leat_make_transpose(m, parts, perm), columns, 3);
}

static leat_value grouped_weights(leat_maker *m, leat_value w, const grouped *g) {
  static const int64_t perm[] = {2, 0, 1, 3};
  leat_dim apart[] = {g->taps, g->inputs, g->groups, g->outputs};
  leat_dim matrix[] = {g->groups, g->depth, g->outputs};
  leat_value parts = leat_make_reshape(m, w, apart, 4);
  return leat_make_reshape(m, leat_make_transpose(m, parts, perm), matrix, 3);
}

static leat_value plain_columns(leat_maker *m, leat_value windows, int axes, const leat_dim *dims) {
  int64_t perm[LEAT_MAX_RANK];
  last_perm(perm, 2 * axes + 2, axes + 1);
  return leat_make_reshape(m, leat_make_transpose(m, windows, perm), dims, axes + 2);
}

leat_value leat_make_convolution(leat_maker *m, const leat_sliding *s, leat_value w,
                                 int64_t groups) {
  leat_value windows = leat_make_windows(m, s);
  if (!windows.node || !w.node) return none;
  leat_graph *graph = m->builder.graph;
  const leat_type *weights = leat_value_type(w);
  leat_dim taps, depth, count, dims[LEAT_MAX_RANK];
  int n = s->axes;
  memcpy(dims, leat_value_type(windows)->dims, sizeof dims);
  if (!product_of(graph, weights->dims, n, &taps) || !product_of(graph, dims, n + 1, &count) ||
      !leat_dim_mul(graph->dims, taps, weights->dims[n], &depth))
    return none;
  leat_dim last = weights->dims[n + 1];
  if (groups == 1) {
    leat_dim matrix[] = {depth, last};
    dims[n + 1] = depth;
    leat_value columns = plain_columns(m, windows, n, dims);
    return leat_make_matmul(m, columns, leat_make_reshape(m, w, matrix, 2));
  }
  static const int64_t perm[] = {1, 0, 2};
  leat_dim outputs = leat_dim_const(last.value / groups);
  grouped g = {count, leat_dim_const(groups), taps, weights->dims[n], outputs, depth};
  leat_value b = grouped_weights(m, w, &g), a = grouped_columns(m, windows, &g);
  leat_value y = leat_make_matmul(m, a, b);
  dims[n + 1] = last;
  return leat_make_reshape(m, leat_make_transpose(m, y, perm), dims, n + 2);
}

static leat_value make_of_channels(leat_maker *m, leat_op op, const leat_sliding *s,
                                   leat_value other, leat_attr first) {
  leat_value inputs[] = {s->x, other};
  leat_attr attrs[] = {first, ints_attr(m, s->stride, 2), ints_attr(m, s->dilation, 2),
                       ints_attr(m, s->base, 2), ints_attr(m, s->before, 2)};
  return make(m, op, inputs, 2, attrs);
}

leat_value leat_make_depthwise(leat_maker *m, const leat_sliding *s, leat_value w) {
  return make_of_channels(m, LEAT_OP_depthwise, s, w, dims_attr(m, s->size, 2));
}

leat_value leat_make_depthwise_weights(leat_maker *m, const leat_sliding *s, leat_value dy) {
  return make_of_channels(m, LEAT_OP_depthwise_weights, s, dy, ints_attr(m, s->window, 2));
}
