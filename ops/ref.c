// What evaluations by reference share.
#include "ops/ref.h"

#include "base/float_mode.h"
#include "base/half.h"
#include "ops/complex.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

leat_status leat_ref_fail(leat_ref_context *context, leat_status status, const char *format, ...) {
  char words[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(words, sizeof words, format, arguments);
  va_end(arguments);
  return leat_fail(context->error, status, "%s", words);
}

leat_status leat_ref_unsupported(leat_ref_context *context) {
  return leat_ref_fail(context, LEAT_UNSUPPORTED, "not supported yet for these dtypes");
}

static leat_status fail_dim(leat_ref_context *context, leat_dim dim, const char *why) {
  leat_text text = {0};
  leat_dim_print(dim, &text);
  leat_ref_fail(context, LEAT_OUT_OF_RANGE, "dim %s %s", text.data, why);
  leat_text_finish(&text);
  return LEAT_OUT_OF_RANGE;
}

leat_status leat_ref_offset(leat_ref_context *context, leat_dim dim, int64_t *out) {
  bool known = leat_dim_eval(dim, context->dim_values, context->dim_known, out);
  return known ? LEAT_OK : fail_dim(context, dim, "has no value in this step");
}

leat_status leat_ref_dim(leat_ref_context *context, leat_dim dim, int64_t *out) {
  LEAT_TRY(leat_ref_offset(context, dim, out));
  return *out < 0 ? fail_dim(context, dim, "is negative in this step") : LEAT_OK;
}

int64_t leat_ref_count(const leat_tensor *tensor) {
  return leat_shape_elements(tensor->rank, tensor->shape);
}

void leat_unflatten(int64_t position, int32_t rank, const int64_t *shape, int64_t *out_at) {
  for (int32_t axis = rank - 1; axis > 0; position /= shape[axis], axis--)
    out_at[axis] = position % shape[axis];
  if (rank) out_at[0] = position;
}

void leat_next_index(int32_t rank, const int64_t *shape, int64_t *at) {
  for (int32_t axis = rank; axis-- > 0 && ++at[axis] == shape[axis];) at[axis] = 0;
}

int64_t leat_flatten(int32_t rank, const int64_t *shape, const int64_t *at) {
  int64_t position = 0;
  for (int32_t axis = 0; axis < rank; axis++) position = position * shape[axis] + at[axis];
  return position;
}

void leat_copy_element(leat_tensor *to_tensor, int64_t to, const leat_tensor *from_tensor,
                       int64_t from) {
  int64_t size = (int64_t)leat_dtype_size(from_tensor->dtype);
  memcpy((char *)to_tensor->data + to * size, (const char *)from_tensor->data + from * size,
         (size_t)size);
}

int64_t leat_load_index(const leat_tensor *tensor, int64_t i) {
#define LOAD(ID, T, WIDE, _)                                                                       \
  case ID: {                                                                                       \
    WIDE value = ((const T *)tensor->data)[i];                                                     \
    return value > (WIDE)INT64_MAX ? INT64_MAX : (int64_t)value;                                   \
  }
  switch (tensor->dtype) {
    LEAT_SIGNED_CASES(LOAD, )
    LEAT_UNSIGNED_CASES(LOAD, )
  default: assert(!"an integer tensor"); return -1;
  }
#undef LOAD
}

// -- Conversions ---------------------------------------------------------------------------------

#define STORE_INTEGER(ID, T, WIDE, value)                                                          \
  case ID:                                                                                         \
    ((T *)data)[i] = (T)(value);                                                                   \
    return true;
#define STORE_BOOL(ID, T, WIDE, value)                                                             \
  case ID:                                                                                         \
    ((T *)data)[i] = (value) != 0;                                                                 \
    return true;

#define STORE_COMPLEX(ID, T, WIDE, value)                                                          \
  case ID: ((T *)data)[i] = (T)(value); return true;
// Rounded once; what is zero as an f32, in this thread's mode, is zero.
#define STORE_HALF(ID, value)                                                                      \
  case ID: {                                                                                       \
    float near = (float)(value);                                                                   \
    ((uint16_t *)data)[i] = leat_half_of(ID, near == 0 ? (double)near : (double)(value));          \
    return true;                                                                                   \
  }

#define STORE_WHOLE(dtype, value)                                                                  \
  switch ((int)(dtype)) {                                                                          \
    LEAT_SIGNED_CASES(STORE_INTEGER, value)                                                        \
    LEAT_UNSIGNED_CASES(STORE_INTEGER, value)                                                      \
    LEAT_FLOAT_CASES(STORE_INTEGER, value)                                                         \
    LEAT_BOOL_CASES(STORE_BOOL, value)                                                             \
    LEAT_COMPLEX_CASES(STORE_COMPLEX, value)                                                       \
    STORE_HALF(LEAT_f16, value)                                                                    \
    STORE_HALF(LEAT_bf16, value)                                                                   \
  default: return false;                                                                           \
  }

bool leat_store_signed(leat_dtype dtype, void *data, int64_t i, int64_t value) {
  STORE_WHOLE(dtype, value)
}

bool leat_store_unsigned(leat_dtype dtype, void *data, int64_t i, uint64_t value) {
  STORE_WHOLE(dtype, value)
}

// Truncates and saturates; NaN gives 0. `high` may round up to 2^63 or 2^64 as a double: then >= is
// right too.
static int64_t saturate_signed(double x, int64_t low, int64_t high) {
  if (x != x) return 0;
  return x <= (double)low ? low : x >= (double)high ? high : (int64_t)x;
}

static uint64_t saturate_unsigned(double x, uint64_t high) {
  if (!(x > 0)) return 0;
  return x >= (double)high ? high : (uint64_t)x;
}

#define HALF_RANGE(T) ((int64_t)(UINT64_MAX >> (65 - 8 * sizeof(T)))) // largest of a signed T
#define STORE_SIGNED(ID, T, WIDE, x)                                                               \
  case ID:                                                                                         \
    ((T *)data)[i] = (T)saturate_signed((x), -HALF_RANGE(T) - 1, HALF_RANGE(T));                   \
    return true;
#define STORE_UNSIGNED(ID, T, WIDE, x)                                                             \
  case ID: ((T *)data)[i] = (T)saturate_unsigned((x), (T)UINT64_MAX); return true;

bool leat_store_float(leat_dtype dtype, void *data, int64_t i, double value) {
  switch ((int)dtype) {
    LEAT_SIGNED_CASES(STORE_SIGNED, value)
    LEAT_UNSIGNED_CASES(STORE_UNSIGNED, value)
    LEAT_FLOAT_CASES(STORE_INTEGER, value)
    LEAT_BOOL_CASES(STORE_BOOL, value)
    LEAT_COMPLEX_CASES(STORE_COMPLEX, value)
    STORE_HALF(LEAT_f16, value)
    STORE_HALF(LEAT_bf16, value)
  default: return false;
  }
}
