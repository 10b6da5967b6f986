// Sliding windows: element k of window o along an axis is element (o · stride + k · dilation −
// before) / base of the input's axis, or `value` where that is no element: outside, or, as if
// base − 1 places lay between neighbours, between two. The axes become the number of windows,
// `size`; the windows' own axes come last. With `windowed` the input has those axes too, and
// element k of a window is read at its own k: what sums windows back (the gradient) is the same op.
#include "ops/ref.h"
#include "ops/shape.h"

#include <string.h>

enum { LARGEST = 1 << 30 }; // of the numbers that describe a window

static const leat_attr *attr(const leat_node *node, const char *name) {
  return leat_node_attr(node, name);
}

static bool check_counts(leat_shape_context *context) {
  static const char *const lists[] = {"size", "window", "stride", "dilation", "base", "before"};
  uint32_t axes = attr(context->node, "axes")->count;
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    uint32_t count = attr(context->node, lists[i])->count;
    if (count != axes)
      return leat_shape_fail(context, "%s has %u entries for %u axes", lists[i], count, axes);
  }
  return true;
}

static bool check_numbers(leat_shape_context *context, uint32_t i) {
  static const struct {
    const char *name;
    int64_t least;
  } limits[] = {
      {"window", 1}, {"stride", 1}, {"dilation", -LARGEST}, {"base", 1}, {"before", -LARGEST}};
  for (size_t j = 0; j < sizeof limits / sizeof *limits; j++) {
    int64_t number = attr(context->node, limits[j].name)->ints[i];
    if (number < limits[j].least || number > LARGEST)
      return leat_shape_fail(context, "%s of axis %lld is %lld, not in %lld to %d", limits[j].name,
                             (long long)attr(context->node, "axes")->ints[i], (long long)number,
                             (long long)limits[j].least, LARGEST);
  }
  return true;
}

bool shape_unfold(leat_shape_context *context) {
  const leat_node *node = context->node;
  const leat_type *x = leat_shape_input(context, 0);
  const leat_attr *axes = attr(node, "axes"), *size = attr(node, "size");
  const int64_t *window = attr(node, "window")->ints;
  leat_type *out = &context->outputs[0];
  bool windowed = attr(node, "windowed")->i;
  int32_t count = (int32_t)axes->count, rank = x->rank - (windowed ? count : 0);
  if (!check_counts(context) || !leat_shape_same_dtype(context, 0, 1)) return false;
  if (leat_shape_input(context, 1)->rank != 0)
    return leat_shape_fail(context, "the value outside must be a scalar");
  if (rank + count > LEAT_MAX_RANK)
    return leat_shape_fail(context,
                           "windows along %d axes would make rank %d, at most %d is possible",
                           count, rank + count, LEAT_MAX_RANK);
  *out = *x;
  out->rank = rank + count;
  for (int32_t i = 0; i < count; i++) {
    if (!leat_shape_axis(context, axes->ints[i], rank) || !check_numbers(context, (uint32_t)i) ||
        !leat_shape_dim_ok(context, size->dims[i]))
      return false;
    if (i && axes->ints[i] <= axes->ints[i - 1])
      return leat_shape_fail(context, "the axes must ascend");
    leat_dim wide = leat_dim_const(window[i]);
    if (windowed && !leat_shape_dims_equal(context, x->dims[rank + i], wide, "window axis %d", i))
      return false;
    out->dims[axes->ints[i]] = size->dims[i];
    out->dims[rank + i] = wide;
  }
  return true;
}

// What describes the windows along an axis.
typedef struct windows {
  int64_t axis, stride, dilation, base, before;
} windows;

static uint32_t windows_of(const leat_node *node, windows *out) {
  uint32_t count = attr(node, "axes")->count;
  for (uint32_t i = 0; i < count; i++)
    out[i] = (windows){attr(node, "axes")->ints[i], attr(node, "stride")->ints[i],
                       attr(node, "dilation")->ints[i], attr(node, "base")->ints[i],
                       attr(node, "before")->ints[i]};
  return count;
}

// Where window `o` has its element `k`; false: nowhere.
static bool source(const windows *w, int64_t o, int64_t k, int64_t extent, int64_t *out) {
  __int128 at = (__int128)o * w->stride + (__int128)k * w->dilation - w->before;
  if (at < 0 || at % w->base || at / w->base >= extent) return false;
  *out = (int64_t)(at / w->base);
  return true;
}

leat_status ref_unfold(leat_ref_context *context) {
  const leat_tensor *x = &context->inputs[0];
  leat_tensor *out = &context->outputs[0];
  windows along[LEAT_MAX_RANK];
  uint32_t axes = windows_of(context->node, along);
  int32_t rank = out->rank - (int32_t)axes;
  int64_t at[LEAT_MAX_RANK] = {0}, from[LEAT_MAX_RANK], count = leat_ref_count(out);
  for (int64_t i = 0; i < count; i++, leat_next_index(out->rank, out->shape, at)) {
    bool inside = true;
    memcpy(from, at, sizeof at);
    for (uint32_t j = 0; inside && j < axes; j++) {
      int64_t axis = along[j].axis;
      inside = source(&along[j], at[axis], at[rank + (int32_t)j], x->shape[axis], &from[axis]);
    }
    leat_copy_element(out, i, inside ? x : &context->inputs[1],
                      inside ? leat_flatten(x->rank, x->shape, from) : 0);
  }
  return LEAT_OK;
}
