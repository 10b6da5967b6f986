// Shape and movement: the element at an output index is an input's element at another index, or is
// made from the index alone (iota, one_hot, dim). Movement is by bytes, so it serves every dtype.
#include "kernel/lowering.h"
#include "ops/ref.h"
#include "ops/shape.h"

#include <string.h>

static const leat_attr *attr(const leat_node *node, const char *name) {
  return leat_node_attr(node, name);
}

static bool check_counts(leat_shape_context *context, const char *name, uint32_t wanted) {
  uint32_t count = attr(context->node, name)->count;
  return count == wanted ||
         leat_shape_fail(context, "%s has %u entries for %u axes", name, count, wanted);
}

// -- reshape -------------------------------------------------------------------------------------

bool shape_reshape(leat_shape_context *context) {
  const leat_type *x = leat_shape_input(context, 0);
  leat_type *out = &context->outputs[0];
  leat_dim before, after;
  if (!leat_shape_of_dims(context, x->dtype, attr(context->node, "shape"), out)) return false;
  if (!leat_type_elements(context->graph->dims, x, &before) ||
      !leat_type_elements(context->graph->dims, out, &after))
    return leat_shape_fail(context, "too many elements");
  return leat_shape_dims_equal(context, before, after, "elements before and after, to %s",
                               leat_type_text(context->graph->arena, out));
}

leat_status ref_reshape(leat_ref_context *context) {
  int64_t bytes = leat_tensor_bytes(&context->outputs[0]);
  if (bytes != leat_tensor_bytes(&context->inputs[0]))
    return leat_ref_fail(context, LEAT_OUT_OF_RANGE, "the number of elements changes");
  if (bytes) memcpy(context->outputs[0].data, context->inputs[0].data, (size_t)bytes);
  return LEAT_OK;
}

// -- transpose -----------------------------------------------------------------------------------

bool shape_transpose(leat_shape_context *context) {
  const leat_type *x = leat_shape_input(context, 0);
  const leat_attr *perm = attr(context->node, "perm");
  leat_type *out = &context->outputs[0];
  bool seen[LEAT_MAX_RANK] = {false};
  if (!check_counts(context, "perm", (uint32_t)x->rank)) return false;
  *out = *x;
  for (int32_t i = 0; i < x->rank; i++) {
    if (!leat_shape_axis(context, perm->ints[i], x->rank)) return false;
    if (seen[perm->ints[i]])
      return leat_shape_fail(context, "perm names axis %lld twice", (long long)perm->ints[i]);
    seen[perm->ints[i]] = true;
    out->dims[i] = x->dims[perm->ints[i]];
  }
  return true;
}

leat_status ref_transpose(leat_ref_context *context) {
  const leat_tensor *x = &context->inputs[0];
  leat_tensor *out = &context->outputs[0];
  const int64_t *perm = attr(context->node, "perm")->ints;
  int64_t at[LEAT_MAX_RANK] = {0}, from[LEAT_MAX_RANK], count = leat_ref_count(out);
  for (int64_t i = 0; i < count; i++, leat_next_index(out->rank, out->shape, at)) {
    for (int32_t axis = 0; axis < out->rank; axis++) from[perm[axis]] = at[axis];
    leat_copy_element(out, i, x, leat_flatten(x->rank, x->shape, from));
  }
  return LEAT_OK;
}

// -- broadcast -----------------------------------------------------------------------------------

bool shape_broadcast(leat_shape_context *context) {
  const leat_type *x = leat_shape_input(context, 0);
  leat_type *out = &context->outputs[0];
  if (!leat_shape_of_dims(context, x->dtype, attr(context->node, "shape"), out)) return false;
  int32_t added = out->rank - x->rank;
  if (added < 0)
    return leat_shape_fail(context, "a broadcast to rank %d takes axes away", out->rank);
  for (int32_t i = 0; i < x->rank; i++)
    if (!leat_dim_is(x->dims[i], 1) &&
        !leat_shape_dims_equal(context, x->dims[i], out->dims[added + i], "axis %d", added + i))
      return false;
  return true;
}

leat_status ref_broadcast(leat_ref_context *context) {
  const leat_tensor *x = &context->inputs[0];
  leat_tensor *out = &context->outputs[0];
  int64_t at[LEAT_MAX_RANK] = {0}, from[LEAT_MAX_RANK], count = leat_ref_count(out);
  int32_t added = out->rank - x->rank;
  for (int64_t i = 0; i < count; i++, leat_next_index(out->rank, out->shape, at)) {
    for (int32_t axis = 0; axis < x->rank; axis++)
      from[axis] = x->shape[axis] == 1 ? 0 : at[added + axis];
    leat_copy_element(out, i, x, leat_flatten(x->rank, x->shape, from));
  }
  return LEAT_OK;
}

// -- concat --------------------------------------------------------------------------------------

bool shape_concat(leat_shape_context *context) {
  int64_t axis = attr(context->node, "axis")->i;
  leat_type *out = &context->outputs[0];
  *out = *leat_shape_input(context, 0);
  if (!leat_shape_axis(context, axis, out->rank)) return false;
  for (uint32_t i = 1; i < context->node->input_count; i++) {
    const leat_type *x = leat_shape_input(context, i);
    if (!leat_shape_same_dtype(context, 0, i)) return false;
    if (x->rank == 0)
      return leat_shape_fail(context, "input %u is a scalar; the axis goes by name, `axis=`",
                             i + 1);
    if (x->rank != out->rank)
      return leat_shape_fail(context, "input %u has rank %d, not %d", i + 1, x->rank, out->rank);
    for (int32_t j = 0; j < x->rank; j++)
      if (j != axis && !leat_shape_dims_equal(context, out->dims[j], x->dims[j],
                                              "axis %d of input %u", j, i + 1))
        return false;
    if (!leat_dim_add(context->graph->dims, out->dims[axis], x->dims[axis], &out->dims[axis]))
      return leat_shape_fail(context, "axis %lld grows too large", (long long)axis);
  }
  return true;
}

leat_status ref_concat(leat_ref_context *context) {
  leat_tensor *out = &context->outputs[0];
  int32_t axis = (int32_t)attr(context->node, "axis")->i;
  int64_t rows = leat_shape_elements(axis, out->shape), size = (int64_t)leat_dtype_size(out->dtype);
  char *to = out->data;
  for (int64_t row = 0; row < rows; row++)
    for (uint32_t input = 0; input < context->node->input_count; input++) {
      const leat_tensor *x = &context->inputs[input];
      int64_t bytes = size * leat_shape_elements(x->rank - axis, x->shape + axis);
      if (bytes == 0) continue; // there may be no memory at all
      memcpy(to, (const char *)x->data + row * bytes, (size_t)bytes);
      to += bytes;
    }
  return LEAT_OK;
}

// -- slice: element i of an axis is element start + i * step of the input's ----------------------

// Of a size that is not 0; whether it is negative, the result's shape tells.
static bool check_slice(leat_shape_context *context, int32_t axis, leat_dim start, leat_dim size,
                        int64_t step) {
  leat_dims *dims = context->graph->dims;
  leat_dim extent = leat_shape_input(context, 0)->dims[axis], last, room;
  if (step == 0) return leat_shape_fail(context, "the step of axis %d is 0", axis);
  bool fits = leat_dim_sub(dims, size, leat_dim_const(1), &last) &&
              leat_dim_mul(dims, last, leat_dim_const(step), &last) &&
              leat_dim_add(dims, start, last, &last) &&
              leat_dim_sub(dims, extent, step > 0 ? last : start, &room);
  if (!fits) return leat_shape_fail(context, "axis %d: numbers too large", axis);
  bool below =
      (leat_dim_is_const(start) && start.value < 0) || (leat_dim_is_const(last) && last.value < 0);
  bool above = leat_dim_is_const(room) && room.value < 1;
  return (!below && !above) ||
         leat_shape_fail(context, "axis %d: indices %s to %s are not all in 0 to %s - 1", axis,
                         leat_dim_text(context->graph->arena, start),
                         leat_dim_text(context->graph->arena, last),
                         leat_dim_text(context->graph->arena, extent));
}

bool shape_slice(leat_shape_context *context) {
  const leat_type *x = leat_shape_input(context, 0);
  const leat_attr *start = attr(context->node, "start"), *size = attr(context->node, "size");
  const leat_attr *step = attr(context->node, "step");
  uint32_t rank = (uint32_t)x->rank;
  if (!check_counts(context, "start", rank) || !check_counts(context, "size", rank) ||
      !check_counts(context, "step", rank))
    return false;
  bool empty = false; // then nothing is read
  for (int32_t i = 0; i < x->rank; i++) empty = empty || leat_dim_is(size->dims[i], 0);
  for (int32_t i = 0; i < x->rank && !empty; i++)
    if (!check_slice(context, i, start->dims[i], size->dims[i], step->ints[i])) return false;
  return leat_shape_of_dims(context, x->dtype, size, &context->outputs[0]);
}

leat_status ref_slice(leat_ref_context *context) {
  const leat_tensor *x = &context->inputs[0];
  leat_tensor *out = &context->outputs[0];
  const leat_attr *start = attr(context->node, "start"), *step = attr(context->node, "step");
  int64_t begin[LEAT_MAX_RANK], at[LEAT_MAX_RANK] = {0}, from[LEAT_MAX_RANK];
  int64_t count = leat_ref_count(out);
  for (int32_t axis = 0; count && axis < x->rank; axis++) {
    LEAT_TRY(leat_ref_offset(context, start->dims[axis], &begin[axis]));
    __int128 last = (__int128)(out->shape[axis] - 1) * step->ints[axis] + begin[axis];
    if (begin[axis] < 0 || begin[axis] >= x->shape[axis] || last < 0 || last >= x->shape[axis])
      return leat_ref_fail(context, LEAT_OUT_OF_RANGE, LEAT_SAYS_SLICE, (long long)axis,
                           (long long)x->shape[axis], (long long)out->shape[axis],
                           (long long)begin[axis], (long long)step->ints[axis]);
  }
  for (int64_t i = 0; i < count; i++, leat_next_index(out->rank, out->shape, at)) {
    for (int32_t axis = 0; axis < x->rank; axis++)
      from[axis] = begin[axis] + at[axis] * step->ints[axis];
    leat_copy_element(out, i, x, leat_flatten(x->rank, x->shape, from));
  }
  return LEAT_OK;
}

// -- pad: by a negative number takes elements away -----------------------------------------------

bool shape_pad(leat_shape_context *context) {
  const leat_attr *before = attr(context->node, "before"), *after = attr(context->node, "after");
  leat_type *out = &context->outputs[0];
  *out = *leat_shape_input(context, 0);
  uint32_t rank = (uint32_t)out->rank;
  if (!check_counts(context, "before", rank) || !check_counts(context, "after", rank)) return false;
  if (!leat_shape_same_dtype(context, 0, 1)) return false;
  if (leat_shape_input(context, 1)->rank != 0)
    return leat_shape_fail(context, "the value to pad with must be a scalar");
  for (int32_t i = 0; i < out->rank; i++) {
    if (!leat_dim_add(context->graph->dims, out->dims[i], before->dims[i], &out->dims[i]) ||
        !leat_dim_add(context->graph->dims, out->dims[i], after->dims[i], &out->dims[i]))
      return leat_shape_fail(context, "axis %d grows too large", i);
    if (leat_dim_is_const(out->dims[i]) && out->dims[i].value < 0)
      return leat_shape_fail(context, "axis %d has too few elements to take those away", i);
  }
  return true;
}

leat_status ref_pad(leat_ref_context *context) {
  const leat_tensor *x = &context->inputs[0];
  leat_tensor *out = &context->outputs[0];
  int64_t before[LEAT_MAX_RANK], at[LEAT_MAX_RANK] = {0}, from[LEAT_MAX_RANK];
  int64_t count = leat_ref_count(out);
  for (int32_t axis = 0; axis < x->rank; axis++)
    LEAT_TRY(leat_ref_offset(context, attr(context->node, "before")->dims[axis], &before[axis]));
  for (int64_t i = 0; i < count; i++, leat_next_index(out->rank, out->shape, at)) {
    bool inside = true;
    for (int32_t axis = 0; axis < x->rank; axis++) {
      from[axis] = at[axis] - before[axis];
      inside = inside && from[axis] >= 0 && from[axis] < x->shape[axis];
    }
    if (inside)
      leat_copy_element(out, i, x, leat_flatten(x->rank, x->shape, from));
    else
      leat_copy_element(out, i, &context->inputs[1], 0);
  }
  return LEAT_OK;
}

// -- iota, dim -----------------------------------------------------------------------------------

bool shape_iota(leat_shape_context *context) {
  leat_dtype dtype = (leat_dtype)attr(context->node, "dtype")->i;
  leat_type *out = &context->outputs[0];
  if (!leat_dtype_in_class(dtype, LEAT_CLASS_REAL))
    return leat_shape_fail(context, "iota gives real numbers, not %s", leat_dtype_name(dtype));
  return leat_shape_of_dims(context, dtype, attr(context->node, "shape"), out) &&
         leat_shape_axis(context, attr(context->node, "axis")->i, out->rank);
}

leat_status ref_iota(leat_ref_context *context) {
  leat_tensor *out = &context->outputs[0];
  int64_t axis = attr(context->node, "axis")->i, at[LEAT_MAX_RANK] = {0};
  int64_t count = leat_ref_count(out);
  for (int64_t i = 0; i < count; i++, leat_next_index(out->rank, out->shape, at))
    if (!leat_store_signed(out->dtype, out->data, i, at[axis]))
      return leat_ref_unsupported(context);
  return LEAT_OK;
}

bool shape_dim(leat_shape_context *context) {
  leat_dim value = attr(context->node, "value")->dim;
  leat_arena *arena = context->graph->arena;
  context->outputs[0] = leat_type_scalar(LEAT_i64);
  if (!attr(context->node, "extent")->i || leat_dim_bounds(value).low >= 0) return true;
  leat_claim claim = {.room = value, .count = 1, .values = {value}};
  claim.says = leat_arena_printf(arena, "an axis would have %s = %%lld elements",
                                 leat_dim_text(arena, value));
  return leat_shape_claim(context, &claim);
}

leat_status ref_dim(leat_ref_context *context) {
  return leat_ref_offset(context, attr(context->node, "value")->dim, context->outputs[0].data);
}
