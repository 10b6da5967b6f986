// Convolutions of which each output reads one channel, and the gradient of their weights: over the
// elements of a window, in their order, zeros outside of x; those between elements of x are none.
#include "ops/reduce.h"
#include "ops/ref.h"
#include "ops/shape.h"

#include <math.h>

leat_depthwise leat_depthwise_of(const leat_node *node) {
  bool weights = node->op == LEAT_OP_depthwise_weights;
  if (!weights && node->op != LEAT_OP_depthwise) return (leat_depthwise){0};
  const leat_type *x = leat_value_type(node->inputs[0]), *w = leat_value_type(node->inputs[1]);
  const leat_type *y = weights ? w : &node->outputs[0];
  leat_depthwise what = {.weights = weights, .channels = x->dims[3].value};
  for (int i = 0; i < 2; i++) {
    what.axes[i] = (leat_window_axis){.extent = x->dims[i + 1].value,
                                      .size = y->dims[i + 1].value,
                                      .window = weights ? leat_node_attr(node, "window")->ints[i]
                                                        : w->dims[i].value,
                                      .stride = leat_node_attr(node, "stride")->ints[i],
                                      .dilation = leat_node_attr(node, "dilation")->ints[i],
                                      .base = leat_node_attr(node, "base")->ints[i],
                                      .before = leat_node_attr(node, "before")->ints[i]};
  }
  return what;
}

// Elements that `count` windows reach over; a few more than that, where they are between others.
static int64_t reach(const leat_window_axis *a, int64_t count) {
  int64_t dilation = a->dilation < 0 ? -a->dilation : a->dilation;
  return ((count - 1) * a->stride + (a->window - 1) * dilation + a->base - 1) / a->base + 1;
}

int64_t leat_depthwise_slots(const leat_depthwise *what) {
  return reach(&what->axes[0], 1);
}

int64_t leat_depthwise_pitch(const leat_depthwise *what, int64_t outputs) {
  return reach(&what->axes[1], outputs);
}

bool leat_depthwise_fits(const leat_depthwise *what) {
  enum { OUTPUTS = 16 }; // more than are computed together
  for (int i = 0; i < 2; i++)
    if (what->axes[i].base > OUTPUTS || what->axes[i].stride > LEAT_FARTHEST >> 8) return false;
  return leat_depthwise_slots(what) * leat_depthwise_pitch(what, OUTPUTS) <= LEAT_MOST_RING;
}

// -- Shapes ---------------------------------------------------------------------------------------

static bool check_numbers(leat_shape_context *context, const char *name, int64_t least,
                          int64_t most) {
  const leat_attr *attr = leat_node_attr(context->node, name);
  if (attr->count != 2)
    return leat_shape_fail(context, "%s has two entries, not %u", name, attr->count);
  for (int i = 0; i < 2; i++)
    if (attr->ints[i] < least || attr->ints[i] > most)
      return leat_shape_fail(context, "%s of axis %d is %lld, not in %lld to %lld", name, i + 1,
                             (long long)attr->ints[i], (long long)least, (long long)most);
  return true;
}

static bool check_sliding(leat_shape_context *context) {
  return check_numbers(context, "stride", 1, LEAT_FARTHEST) &&
         check_numbers(context, "dilation", -LEAT_FARTHEST, LEAT_FARTHEST) &&
         check_numbers(context, "base", 1, LEAT_FARTHEST) &&
         check_numbers(context, "before", -LEAT_FARTHEST, LEAT_FARTHEST);
}

static bool is_known(leat_dim extent, int64_t least) {
  return leat_dim_is_const(extent) && extent.value >= least;
}

// [N, extents, channels], all but N known; of extents from `least` on.
static bool check_images(leat_shape_context *context, uint32_t i, const char *form, int64_t least) {
  const leat_type *type = leat_shape_input(context, i);
  if (type->rank != 4) return leat_shape_fail(context, "takes %s", form);
  for (int k = 1; k < 4; k++)
    if (!is_known(type->dims[k], k < 3 ? least : 0))
      return leat_shape_fail(context, "the extent along axis %d of %s is not known%s", k, form,
                             least ? ", or 0" : "");
  return true;
}

static bool check_weights(leat_shape_context *context) {
  const leat_type *w = leat_shape_input(context, 1);
  bool known = w->rank == 4 && leat_dim_is(w->dims[2], 1) && is_known(w->dims[3], 0);
  for (int i = 0; i < 2; i++)
    known = known && is_known(w->dims[i], 1) && w->dims[i].value <= LEAT_MOST_WINDOW;
  return known || leat_shape_fail(context, "takes w[window, window, 1, C] of windows up to %d",
                                  LEAT_MOST_WINDOW);
}

static bool check_size(leat_shape_context *context) {
  const leat_attr *size = leat_node_attr(context->node, "size");
  if (size->count != 2)
    return leat_shape_fail(context, "size has two entries, not %u", size->count);
  for (int i = 0; i < 2; i++)
    if (!is_known(size->dims[i], 0))
      return leat_shape_fail(context, "the size along axis %d is not known", i + 1);
  return true;
}

static bool check_reach(leat_shape_context *context, int64_t down, int64_t across) {
  leat_depthwise what = {0};
  for (int i = 0; i < 2; i++)
    what.axes[i] =
        (leat_window_axis){.window = i ? across : down,
                           .stride = leat_node_attr(context->node, "stride")->ints[i],
                           .dilation = leat_node_attr(context->node, "dilation")->ints[i],
                           .base = leat_node_attr(context->node, "base")->ints[i]};
  return leat_depthwise_fits(&what) ||
         leat_shape_fail(context, "the windows reach over too many elements");
}

bool shape_depthwise(leat_shape_context *context) {
  const leat_type *x = leat_shape_input(context, 0), *w = leat_shape_input(context, 1);
  if (!leat_shape_same_dtype(context, 0, 1) || !check_images(context, 0, "x[N, H, W, C]", 1) ||
      !check_weights(context) || !check_size(context) || !check_sliding(context) ||
      !leat_shape_dims_equal(context, x->dims[3], w->dims[3], "axis 3 of the operands"))
    return false;
  const leat_dim *size = leat_node_attr(context->node, "size")->dims;
  context->outputs[0] =
      (leat_type){.dtype = x->dtype, .rank = 4, .dims = {x->dims[0], size[0], size[1], x->dims[3]}};
  return check_reach(context, w->dims[0].value, w->dims[1].value);
}

bool shape_depthwise_weights(leat_shape_context *context) {
  const leat_type *x = leat_shape_input(context, 0), *dy = leat_shape_input(context, 1);
  if (!leat_shape_same_dtype(context, 0, 1) || !check_images(context, 0, "x[N, H, W, C]", 1) ||
      !check_images(context, 1, "dy[N, h, w, C]", 0) ||
      !check_numbers(context, "window", 1, LEAT_MOST_WINDOW) || !check_sliding(context) ||
      !leat_shape_dims_equal(context, x->dims[0], dy->dims[0], "axis 0 of the operands") ||
      !leat_shape_dims_equal(context, x->dims[3], dy->dims[3], "axis 3 of the operands"))
    return false;
  const int64_t *window = leat_node_attr(context->node, "window")->ints;
  context->outputs[0] = (leat_type){.dtype = x->dtype,
                                    .rank = 4,
                                    .dims = {leat_dim_const(window[0]), leat_dim_const(window[1]),
                                             leat_dim_const(1), x->dims[3]}};
  return check_reach(context, window[0], window[1]);
}

// -- The meaning ----------------------------------------------------------------------------------

// Where window `o` has its element `k`, or -1: outside; false: between elements.
static bool source(const leat_window_axis *a, int64_t o, int64_t k, int64_t *out) {
  __int128 at = (__int128)o * a->stride + (__int128)k * a->dilation - a->before;
  if (at % a->base) return false;
  *out = at < 0 || at / a->base >= a->extent ? -1 : (int64_t)(at / a->base);
  return true;
}

// The element of x that window [row, column] of the image reads in the channel, or -1: zero.
static bool element(const leat_depthwise *s, int64_t image, const int64_t *at, int64_t tap,
                    int64_t channel, int64_t *out) {
  int64_t row, column, across = s->axes[1].window;
  if (!source(&s->axes[0], at[0], tap / across, &row) ||
      !source(&s->axes[1], at[1], tap % across, &column))
    return false;
  *out = ((image * s->axes[0].extent + row) * s->axes[1].extent + column) * s->channels + channel;
  if (row < 0 || column < 0) *out = -1;
  return true;
}

#define DEPTHWISE(ID, T, FMA)                                                                      \
  case ID: {                                                                                       \
    const T *x = context->inputs[0].data, *w = context->inputs[1].data;                            \
    T *out = context->outputs[0].data;                                                             \
    for (int64_t i = 0; i < count; i++) {                                                          \
      int64_t place = i / s.channels, at[] = {place / across % down, place % across}, from;        \
      T sum = 0;                                                                                   \
      for (int64_t tap = 0; tap < taps; tap++)                                                     \
        if (element(&s, place / across / down, at, tap, i % s.channels, &from))                    \
          sum = FMA(from < 0 ? 0 : x[from], w[tap * s.channels + i % s.channels], sum);            \
      out[i] = sum;                                                                                \
    }                                                                                              \
    return LEAT_OK;                                                                                \
  }

leat_status ref_depthwise(leat_ref_context *context) {
  leat_depthwise s = leat_depthwise_of(context->node);
  int64_t count = leat_ref_count(&context->outputs[0]), taps = s.axes[0].window * s.axes[1].window;
  int64_t down = s.axes[0].size, across = s.axes[1].size;
  switch ((int)context->inputs[0].dtype) {
    DEPTHWISE(LEAT_f32, float, fmaf)
    DEPTHWISE(LEAT_f64, double, fma)
  default: return leat_ref_unsupported(context);
  }
}

#define WEIGHTS(ID, T, FMA)                                                                        \
  case ID: {                                                                                       \
    const T *x = context->inputs[0].data, *dy = context->inputs[1].data;                           \
    T *out = context->outputs[0].data;                                                             \
    for (int64_t i = 0; i < taps * s.channels; i++) {                                              \
      T total = 0, sum = 0;                                                                        \
      for (int64_t place = 0; place < places; place++) {                                           \
        int64_t at[] = {place / across % down, place % across}, channel = i % s.channels, from;    \
        if (element(&s, place / across / down, at, i / s.channels, channel, &from))                \
          sum = FMA(from < 0 ? 0 : x[from], dy[place * s.channels + channel], sum);                \
        if ((place + 1) % LEAT_PRODUCT_BLOCK == 0 || place + 1 == places) {                        \
          total += sum;                                                                            \
          sum = 0;                                                                                 \
        }                                                                                          \
      }                                                                                            \
      out[i] = total;                                                                              \
    }                                                                                              \
    return LEAT_OK;                                                                                \
  }

leat_status ref_depthwise_weights(leat_ref_context *context) {
  leat_depthwise s = leat_depthwise_of(context->node);
  int64_t taps = s.axes[0].window * s.axes[1].window, down = s.axes[0].size;
  int64_t across = s.axes[1].size, places = context->inputs[1].shape[0] * down * across;
  switch ((int)context->inputs[0].dtype) {
    WEIGHTS(LEAT_f32, float, fmaf)
    WEIGHTS(LEAT_f64, double, fma)
  default: return leat_ref_unsupported(context);
  }
}
