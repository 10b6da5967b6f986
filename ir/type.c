// Types: comparison, sizes and text.
#include "ir/type.h"

bool leat_type_equal(const leat_type *a, const leat_type *b) {
  if (a->dtype != b->dtype || a->rank != b->rank) return false;
  for (int32_t i = 0; i < a->rank; i++)
    if (!leat_dim_equal(a->dims[i], b->dims[i])) return false;
  return true;
}

bool leat_type_is_static(const leat_type *type) {
  for (int32_t i = 0; i < type->rank; i++)
    if (!leat_dim_is_const(type->dims[i])) return false;
  return true;
}

bool leat_type_elements(leat_dims *dims, const leat_type *type, leat_dim *out) {
  leat_dim product = leat_dim_const(1);
  for (int32_t i = 0; i < type->rank; i++)
    if (!leat_dim_mul(dims, product, type->dims[i], &product)) return false;
  *out = product;
  return true;
}

int64_t leat_type_static_elements(const leat_type *type) {
  if (!leat_type_is_static(type)) return -1;
  int64_t shape[LEAT_MAX_RANK];
  for (int32_t i = 0; i < type->rank; i++) shape[i] = type->dims[i].value;
  return leat_shape_elements(type->rank, shape);
}

void leat_type_print(const leat_type *type, leat_text *out) {
  leat_text_add_string(out, leat_dtype_name(type->dtype));
  leat_text_add_n(out, "[", 1);
  for (int32_t i = 0; i < type->rank; i++) {
    if (i) leat_text_add_n(out, ", ", 2);
    leat_dim_print(type->dims[i], out);
  }
  leat_text_add_n(out, "]", 1);
}

const char *leat_type_text(leat_arena *arena, const leat_type *type) {
  leat_text text = {0};
  leat_type_print(type, &text);
  const char *copy = leat_arena_strndup(arena, text.data, text.size);
  leat_text_finish(&text);
  return copy;
}

leat_type leat_type_scalar(leat_dtype dtype) {
  return (leat_type){.dtype = dtype};
}

leat_type leat_type_rows(const leat_type *row, leat_dim count) {
  leat_type type = *row;
  for (int32_t i = type.rank++; i > 0; i--) type.dims[i] = type.dims[i - 1];
  type.dims[0] = count;
  return type;
}

leat_type leat_type_of_tensor(const leat_tensor *tensor) {
  leat_type type = {.dtype = tensor->dtype, .rank = tensor->rank};
  for (int32_t i = 0; i < tensor->rank; i++) type.dims[i] = leat_dim_const(tensor->shape[i]);
  return type;
}
