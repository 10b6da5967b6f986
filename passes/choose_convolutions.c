// Which convolutions are not computed as one product of their windows (passes/convolution.h), and
// what they become:
//
//   depthwise    each output reads one channel, of floats and of known extents: an op that is that,
//                where it takes less time, but not under `--numerics strict`
//   of channels  others that read one: a sum over the window, channels side by side
//   few          so few outputs that most lanes of a vector would be without one, as of the
//                gradient of what a net's first layer reads: what each element of x gives to all
//                windows that it is in, side by side, summed along one axis after the other
//   between      outputs between elements of x, which read only some elements of the window, as of
//                the gradient of windows in longer steps: a convolution for each residue of the
//                outputs' places
#include "passes/choose_convolutions.h"

#include "ops/cost.h"
#include "passes/convolution.h"
#include "passes/rewrite.h"

#include <string.h>

enum {
  LEAST_OUTPUTS = 8,       // that fill a vector well enough
  MOST_GIVEN = 4,          // numbers that an element gives, for one that it has
  LEAST_GIVEN = 16,        // numbers that it gives
  LEAST_TAPS_BETWEEN = 16, // of windows of channels, for putting residues between each other
};

static const leat_value none = {0};

typedef struct chooser {
  leat_maker m;
  const leat_target_info *target;
  bool strict;
} chooser;

static int64_t count_taps(const leat_sliding *s) {
  int64_t taps = 1;
  for (int i = 0; i < s->axes; i++) taps *= s->window[i];
  return taps;
}

// -- Of channels ----------------------------------------------------------------------------------

// x with the channel that each output reads.
static leat_value channels_of_outputs(leat_maker *m, leat_value x, int64_t outputs) {
  leat_type type = *leat_value_type(x);
  int rank = type.rank, last = rank - 1;
  int64_t channels = type.dims[last].value;
  if (outputs == channels) return x;
  type.dims[rank] = leat_dim_const(1);
  leat_value each = leat_make_reshape(m, x, type.dims, rank + 1);
  type.dims[rank] = leat_dim_const(outputs / channels);
  each = leat_make_broadcast(m, each, type.dims, rank + 1);
  type.dims[last] = leat_dim_const(outputs);
  return leat_make_reshape(m, each, type.dims, rank);
}

// Of halves rounded once, as a product of matrices is.
static leat_value sum_of_products(leat_maker *m, leat_value x, leat_value y, int first, int count) {
  if (!x.node || !y.node) return none;
  leat_dtype dtype = leat_value_type(x)->dtype;
  bool half = dtype == LEAT_f16 || dtype == LEAT_bf16;
  if (half) {
    x = leat_make_cast(m, x, LEAT_f32);
    y = leat_make_cast(m, y, LEAT_f32);
  }
  leat_value sum = leat_make_sum(m, leat_make_product(m, x, y), first, count);
  return half ? leat_make_cast(m, sum, dtype) : sum;
}

static leat_value windows_first(leat_maker *m, leat_value windows, int axes) {
  int64_t perm[LEAT_MAX_RANK];
  for (int i = 0; i < axes; i++) perm[i] = axes + 2 + i;
  for (int i = 0; i < axes + 2; i++) perm[axes + i] = i;
  return leat_make_transpose(m, windows, perm);
}

// `windows` of as many channels as there are outputs, [window…, N, size…, O].
static leat_value sum_of_channels(leat_maker *m, leat_value windows, leat_value w, int axes) {
  if (!windows.node || !w.node) return none;
  leat_dim dims[LEAT_MAX_RANK];
  const leat_dim *weights = leat_value_type(w)->dims;
  memcpy(dims, weights, (size_t)axes * sizeof *dims);
  for (int i = 0; i <= axes; i++) dims[axes + i] = leat_dim_const(1);
  dims[2 * axes + 1] = weights[axes + 1];
  return sum_of_products(m, windows, leat_make_reshape(m, w, dims, 2 * axes + 2), 0, axes);
}

static bool is_of_channels(const leat_convolution_node *c) {
  return c->groups > 1 && c->groups == c->channels;
}

// The windows that such a convolution reads; {NULL}: outputs share a channel, and it is not known
// how its windows slide.
static leat_value windows_of_outputs(leat_maker *m, const leat_convolution_node *c) {
  leat_sliding s;
  if (c->outputs == c->channels) return windows_first(m, c->windows, c->axes);
  if (!leat_find_sliding(c, &s)) return none;
  s.x = channels_of_outputs(m, s.x, c->outputs);
  return windows_first(m, leat_make_windows(m, &s), c->axes);
}

static leat_value make_weights_of_channels(leat_maker *m, const leat_convolution_node *c) {
  leat_value sum = sum_of_products(m, windows_of_outputs(m, c), c->w, c->axes, c->axes + 1);
  return leat_make_reshape(m, sum, c->weights.dims, c->weights.rank);
}

// -- Depthwise ------------------------------------------------------------------------------------

static bool is_extent(leat_dim dim) {
  return leat_dim_is_const(dim) && dim.value > 0;
}

// Of `outputs` channels. False: it cannot be one.
static bool find_depthwise(const chooser *c, const leat_sliding *s, int64_t outputs,
                           leat_depthwise *out) {
  const leat_type *x = leat_value_type(s->x);
  bool known = !c->strict && s->axes <= 2 && leat_dtype_in_class(x->dtype, LEAT_CLASS_FLOAT);
  leat_window_axis one = {
      .extent = 1, .size = 1, .window = 1, .stride = 1, .dilation = 1, .base = 1};
  *out = (leat_depthwise){.axes = {one, one}, .channels = outputs};
  for (int i = 0; known && i < s->axes; i++) {
    out->axes[2 - s->axes + i] = (leat_window_axis){.extent = x->dims[i + 1].value,
                                                    .size = s->size[i].value,
                                                    .window = s->window[i],
                                                    .stride = s->stride[i],
                                                    .dilation = s->dilation[i],
                                                    .base = s->base[i],
                                                    .before = s->before[i]};
    known = is_extent(x->dims[i + 1]) && is_extent(s->size[i]) &&
            s->window[i] <= LEAT_MOST_WINDOW && s->before[i] >= -LEAT_FARTHEST &&
            s->before[i] <= LEAT_FARTHEST && s->dilation[i] >= -LEAT_FARTHEST &&
            s->dilation[i] <= LEAT_FARTHEST;
  }
  return known && leat_depthwise_fits(out);
}

// Whether it takes less time so. A batch that the text does not know counts as one image.
static bool gains_as_depthwise(const chooser *c, const leat_sliding *s, int64_t outputs) {
  leat_depthwise what;
  const leat_type *x = leat_value_type(s->x);
  if (!find_depthwise(c, s, outputs, &what)) return false;
  double images = is_extent(x->dims[0]) ? (double)x->dims[0].value : 1;
  leat_dtype dtype = x->dtype == LEAT_f64 ? LEAT_f64 : LEAT_f32;
  return leat_cost_depthwise(c->target, dtype, &what, images) <
         leat_cost_window_sums(c->target, dtype, &what, images);
}

// Of one axis as of two, the first of extent 1: [N, …, C] to [N, 1, …, C].
static leat_value with_two_axes(leat_maker *m, leat_value x, int axes, int at) {
  if (axes == 2 || !x.node) return x;
  const leat_type *type = leat_value_type(x);
  leat_dim dims[LEAT_MAX_RANK];
  for (int i = 0; i < type->rank; i++) dims[i < at ? i : i + 1] = type->dims[i];
  dims[at] = leat_dim_const(1);
  return leat_make_reshape(m, x, dims, type->rank + 1);
}

static leat_sliding sliding_along_two(leat_maker *m, const leat_sliding *s, int64_t outputs) {
  leat_sliding two = *s;
  if (s->axes == 1)
    two = (leat_sliding){.axes = 2,
                         .size = {leat_dim_const(1), s->size[0]},
                         .window = {1, s->window[0]},
                         .stride = {1, s->stride[0]},
                         .dilation = {1, s->dilation[0]},
                         .base = {1, s->base[0]},
                         .before = {0, s->before[0]}};
  two.x = with_two_axes(m, channels_of_outputs(m, s->x, outputs), s->axes, 1);
  return two;
}

static leat_value make_depthwise(leat_maker *m, const leat_sliding *s, leat_value w) {
  int64_t outputs = leat_value_type(w)->dims[s->axes + 1].value;
  leat_sliding two = sliding_along_two(m, s, outputs);
  leat_value y = leat_make_depthwise(m, &two, with_two_axes(m, w, s->axes, 0));
  if (s->axes == 2 || !y.node) return y;
  const leat_dim *from = leat_value_type(y)->dims;
  leat_dim dims[] = {from[0], from[2], from[3]};
  return leat_make_reshape(m, y, dims, 3);
}

static leat_value make_depthwise_weights(leat_maker *m, const leat_convolution_node *c,
                                         const leat_sliding *s) {
  leat_sliding two = sliding_along_two(m, s, c->outputs);
  leat_value dw = leat_make_depthwise_weights(m, &two, with_two_axes(m, c->w, c->axes, 1));
  return leat_make_reshape(m, dw, c->weights.dims, c->weights.rank);
}

// -- Few ------------------------------------------------------------------------------------------

static bool gives_few(const leat_sliding *s, int64_t groups, const leat_type *weights) {
  int64_t inputs = weights->dims[s->axes].value, outputs = weights->dims[s->axes + 1].value;
  for (int i = 0; i < s->axes; i++)
    if (s->stride[i] != 1) return false;
  return groups == 1 && outputs < LEAST_OUTPUTS && count_taps(s) * outputs > LEAST_GIVEN &&
         count_taps(s) * outputs <= MOST_GIVEN * inputs;
}

static leat_value move_axis(leat_maker *m, leat_value x, int from, int to) {
  int64_t perm[LEAT_MAX_RANK];
  if (!x.node) return none;
  int rank = leat_value_type(x)->rank, next = 0;
  for (int i = 0; i < rank; i++) {
    if (next == from) next++;
    perm[i] = i == to ? from : next++;
  }
  return leat_make_transpose(m, x, perm);
}

// y[N, size before axis i…, spatial from it on…, rest], summed along axis i of the window.
static leat_value sum_along(leat_maker *m, const leat_sliding *s, leat_value y, int i,
                            int64_t outputs) {
  if (!y.node) return none;
  leat_dim dims[LEAT_MAX_RANK];
  int n = s->axes;
  int64_t rest = outputs;
  for (int k = i + 1; k < n; k++) rest *= s->window[k];
  memcpy(dims, leat_value_type(y)->dims, sizeof dims);
  dims[n + 1] = leat_dim_const(s->window[i]);
  dims[n + 2] = leat_dim_const(rest);
  leat_sliding along = {.axes = 1,
                        .x = move_axis(m, leat_make_reshape(m, y, dims, n + 3), n + 1, n + 2),
                        .size = {s->size[i]},
                        .window = {s->window[i]},
                        .stride = {s->stride[i]},
                        .dilation = {s->dilation[i]},
                        .base = {s->base[i]},
                        .before = {s->before[i]}};
  leat_value given = leat_make_unfold(m, &along, i + 1, true);
  return leat_make_sum(m, move_axis(m, given, n + 2, 0), 0, 1);
}

static leat_value make_few(leat_maker *m, const leat_sliding *s, leat_value w) {
  const leat_type *weights = leat_value_type(w);
  int n = s->axes;
  int64_t perm[LEAT_MAX_RANK], outputs = weights->dims[n + 1].value;
  perm[0] = n;
  for (int i = 0; i < n; i++) perm[i + 1] = i;
  perm[n + 1] = n + 1;
  leat_dim matrix[] = {weights->dims[n], leat_dim_const(count_taps(s) * outputs)};
  leat_value each = leat_make_reshape(m, leat_make_transpose(m, w, perm), matrix, 2);
  leat_value y = leat_make_matmul(m, s->x, each);
  for (int i = 0; i < n; i++) y = sum_along(m, s, y, i, outputs);
  return y;
}

// -- Between --------------------------------------------------------------------------------------

static leat_value make(chooser *c, const leat_sliding *s, leat_value w, int64_t groups);

// The first axis with outputs between elements of x; -1: none.
static int axis_between(const leat_sliding *s) {
  for (int i = 0; i < s->axes; i++)
    if (!leat_dim_is_const(s->size[i])) return -1;
  for (int i = 0; i < s->axes; i++)
    if (s->base[i] > 1 && s->stride[i] == 1) return i;
  return -1;
}

// Elements of the window that lie on elements of x: `first` and each `step`th from there on.
typedef struct leat_taps {
  int64_t first, step, count;
} leat_taps;

static leat_taps taps_of_residue(const leat_sliding *s, int axis, int64_t residue) {
  leat_taps taps = {.step = 1};
  for (int64_t k = 0; k < s->window[axis]; k++) {
    if ((k * s->dilation[axis] - s->before[axis] + residue) % s->base[axis]) continue;
    if (!taps.count) taps.first = k;
    if (taps.count == 1) taps.step = k - taps.first;
    taps.count++;
  }
  return taps;
}

static int64_t floor_div(int64_t x, int64_t y) {
  return x / y - (x % y != 0 && (x < 0) != (y < 0));
}

// The outputs at one residue, `count` of them along the axis.
static leat_value make_residue(chooser *c, const leat_sliding *s, leat_value w, int64_t groups,
                               int axis, int64_t residue, int64_t count) {
  const leat_type *weights = leat_value_type(w);
  leat_taps taps = taps_of_residue(s, axis, residue);
  leat_sliding part = *s;
  part.size[axis] = leat_dim_const(count);
  if (!taps.count) {
    leat_type type = *leat_value_type(s->x);
    memcpy(type.dims + 1, part.size, (size_t)s->axes * sizeof *part.size);
    type.dims[s->axes + 1] = weights->dims[s->axes + 1];
    return leat_build_zeros(&c->m.builder, c->m.name, &type);
  }
  int64_t start[LEAT_MAX_RANK] = {0}, step[LEAT_MAX_RANK];
  leat_dim size[LEAT_MAX_RANK];
  for (int i = 0; i < weights->rank; i++) step[i] = 1, size[i] = weights->dims[i];
  start[axis] = taps.first;
  step[axis] = taps.step;
  size[axis] = leat_dim_const(taps.count);
  part.window[axis] = taps.count;
  part.dilation[axis] = floor_div(taps.step * s->dilation[axis], s->base[axis]);
  part.before[axis] =
      floor_div(s->before[axis] - residue - taps.first * s->dilation[axis], s->base[axis]);
  part.base[axis] = 1;
  return make(c, &part, leat_make_slice(&c->m, w, start, size, step), groups);
}

static leat_value make_between(chooser *c, const leat_sliding *s, leat_value w, int64_t groups,
                               int axis) {
  leat_maker *m = &c->m;
  int n = s->axes;
  int64_t apart = s->base[axis], size = s->size[axis].value, count = (size + apart - 1) / apart;
  leat_value *parts = leat_new_array(m->builder.graph->arena, leat_value, (size_t)apart);
  leat_dim dims[LEAT_MAX_RANK];
  for (int64_t r = 0; r < apart; r++) {
    leat_value part = make_residue(c, s, w, groups, axis, r, count);
    if (!part.node) return none;
    const leat_dim *from = leat_value_type(part)->dims;
    memcpy(dims, from, (size_t)(axis + 2) * sizeof *dims);
    dims[axis + 2] = leat_dim_const(1);
    memcpy(dims + axis + 3, from + axis + 2, (size_t)(n - axis) * sizeof *dims);
    parts[r] = leat_make_reshape(m, part, dims, n + 3);
    if (!parts[r].node) return none;
  }
  leat_attr along = {.i = axis + 2};
  leat_value all = leat_build(&m->builder, m->name, LEAT_OP_concat, parts, (uint32_t)apart, &along);
  memmove(dims + axis + 2, dims + axis + 3, (size_t)(n - axis) * sizeof *dims);
  dims[axis + 1] = leat_dim_const(count * apart);
  all = leat_make_reshape(m, all, dims, n + 2);
  int64_t start[LEAT_MAX_RANK] = {0}, step[LEAT_MAX_RANK];
  for (int i = 0; i < n + 2; i++) step[i] = 1;
  dims[axis + 1] = s->size[axis];
  return leat_make_slice(m, all, start, dims, step);
}

// -------------------------------------------------------------------------------------------------

typedef enum leat_way { WAY_PRODUCT, WAY_DEPTHWISE, WAY_CHANNELS, WAY_FEW, WAY_BETWEEN } leat_way;

static leat_way way_of(const chooser *c, const leat_sliding *s, const leat_type *weights,
                       int64_t groups, int *axis) {
  *axis = axis_between(s);
  bool of_channels = groups > 1 && leat_dim_is(weights->dims[s->axes], 1);
  if (of_channels && gains_as_depthwise(c, s, weights->dims[s->axes + 1].value))
    return WAY_DEPTHWISE;
  if (of_channels && (*axis < 0 || count_taps(s) < LEAST_TAPS_BETWEEN)) return WAY_CHANNELS;
  if (gives_few(s, groups, weights)) return WAY_FEW;
  return *axis >= 0 ? WAY_BETWEEN : WAY_PRODUCT;
}

static leat_value make(chooser *c, const leat_sliding *s, leat_value w, int64_t groups) {
  if (!w.node) return none;
  int axis;
  leat_maker *m = &c->m;
  leat_sliding each = *s;
  switch (way_of(c, s, leat_value_type(w), groups, &axis)) {
  case WAY_PRODUCT: return leat_make_convolution(m, s, w, groups);
  case WAY_DEPTHWISE: return make_depthwise(m, s, w);
  case WAY_FEW: return make_few(m, s, w);
  case WAY_BETWEEN: return make_between(c, s, w, groups, axis);
  case WAY_CHANNELS:
    each.x = channels_of_outputs(m, s->x, leat_value_type(w)->dims[s->axes + 1].value);
    return sum_of_channels(m, windows_first(m, leat_make_windows(m, &each), s->axes), w, s->axes);
  }
  return none;
}

// The gradient of weights; `s` is NULL if it is not known how the windows slide.
static leat_value weights_instead_of(chooser *c, const leat_convolution_node *found,
                                     const leat_sliding *s) {
  leat_depthwise what;
  if (!is_of_channels(found)) return none;
  if (s && find_depthwise(c, s, found->outputs, &what))
    return make_depthwise_weights(&c->m, found, s);
  return make_weights_of_channels(&c->m, found);
}

// {NULL}: it stays the product that it is.
static leat_value instead_of(leat_pass_context *context, leat_graph *graph, const leat_node *node) {
  leat_convolution_node found;
  leat_sliding s;
  int axis;
  if (!leat_find_convolution(node, &found)) return none;
  chooser c = {leat_maker_like(graph, context->diag, node), context->target, context->strict};
  bool slides = leat_find_sliding(&found, &s);
  if (found.of_weights) return weights_instead_of(&c, &found, slides ? &s : NULL);
  if (!slides && !is_of_channels(&found)) return none;
  if (!slides) return sum_of_channels(&c.m, windows_of_outputs(&c.m, &found), found.w, found.axes);
  if (way_of(&c, &s, &found.weights, found.groups, &axis) == WAY_PRODUCT) return none;
  return make(&c, &s, found.w, found.groups);
}

static bool has_convolutions(const leat_graph *graph) {
  leat_convolution_node found;
  for (uint32_t i = 0; i < graph->nodes.count; i++)
    if (leat_find_convolution(graph->nodes.items[i], &found)) return true;
  return false;
}

void leat_choose_convolutions(leat_pass_context *context, leat_graph *graph) {
  if (!has_convolutions(graph)) return;
  leat_rewriter r = leat_rewrite_begin(graph, context->scratch);
  for (uint32_t i = 0; i < r.count; i++) {
    leat_node *node = graph->nodes.items[i];
    leat_rewrite_inputs(&r, node);
    leat_rewrite_replace(&r, node, instead_of(context, graph, node));
  }
  leat_rewrite_finish(&r);
}
