// Integer tensors among the indices of x[…], by NumPy's rules: they broadcast with each other and
// choose elements together. The axes of what they broadcast to stand in place of theirs, or in
// front of all others where a slice, `...` or None stands between indices (an int counts as an
// index here). The library's `gather_axes` does it, once the axes that they are for are next to
// each other.
#include "frontend/evaluate/calls.h"

void ev_add_index(ev_indices *indices, uint32_t item) {
  if (indices->any && item != indices->last + 1) indices->apart = true;
  indices->any = true;
  indices->last = item;
}

bool ev_add_index_tensor(evaluator *e, ev_indices *indices, ev index, int32_t axis,
                         leat_span span) {
  leat_dtype dtype = leat_value_type(index.tensor)->dtype;
  if (!leat_dtype_in_class(dtype, LEAT_CLASS_INTEGER)) {
    ev_fail(e, span, "an index is a slice, an int, a tensor of integers or a bool mask, not %s%s",
            leat_dtype_name(dtype), leat_quotient_hint(index.tensor));
    return false;
  }
  if (dtype != LEAT_i32 && dtype != LEAT_i64) { // which is what gather takes
    leat_attr to = {.i = LEAT_i64};
    index = ev_op(e, LEAT_OP_cast, &index, 1, &to, span, NULL);
  }
  indices->tensors[indices->count] = index;
  indices->axes[indices->count++] = axis;
  return index.kind == EV_TENSOR;
}

// Reported here, where the user's text is, rather than in the library.
static bool indices_broadcast(evaluator *e, const ev_indices *indices, leat_span span) {
  leat_builder builder = ev_builder(e, span);
  leat_type common = *leat_value_type(indices->tensors[0].tensor);
  for (uint32_t i = 1; i < indices->count; i++)
    if (!leat_broadcast_shape(&builder, &common, leat_value_type(indices->tensors[i].tensor),
                              &common))
      return false;
  return true;
}

// The axes that have index tensors, then the others.
static ev to_front(evaluator *e, const ev_indices *indices, ev value, leat_span span) {
  int32_t rank = leat_value_type(value.tensor)->rank, next = (int32_t)indices->count;
  int64_t *perm = leat_new_array(e->arena, int64_t, LEAT_MAX_RANK);
  for (int32_t axis = 0; axis < rank; axis++) {
    uint32_t i = 0;
    while (i < indices->count && indices->axes[i] != axis) i++;
    perm[i < indices->count ? (int32_t)i : next++] = axis;
  }
  leat_attr attr = {.count = (uint32_t)rank, .ints = perm};
  return ev_op(e, LEAT_OP_transpose, &value, 1, &attr, span, NULL);
}

ev ev_index_by_tensors(evaluator *e, const ev_indices *indices, ev value, leat_span span,
                       const char *hint) {
  if (!indices_broadcast(e, indices, span)) return ev_error();
  ev x = indices->apart ? to_front(e, indices, value, span) : value;
  if (x.kind == EV_ERROR) return x;
  ev_argument args[] = {
      {.value = x, .span = span},
      {.value = ev_make_list(e, indices->tensors, indices->count), .span = span},
      {.value = ev_int(indices->apart ? 0 : indices->axes[0]), .span = span},
  };
  return ev_call(e, ev_find_library(e, "gather_axes"), args, 3, span, NULL, hint);
}
