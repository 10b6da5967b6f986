// What reference evaluations share: cases over dtypes, wide numbers, indices.
//
// An element-wise op is one line (ops/element.h): the macro writes the loop for each dtype.
// Integers are computed in 64 bits and cut to their width, which is wrapping arithmetic without C's
// undefined overflow.
#ifndef LEAT_OPS_REF_H
#define LEAT_OPS_REF_H

#include "ops/ops.h"

// CASE(dtype id, storage type, type to compute in, …)
#define LEAT_SIGNED_CASES(CASE, ...)                                                               \
  CASE(LEAT_i8, int8_t, int64_t, __VA_ARGS__)                                                      \
  CASE(LEAT_i16, int16_t, int64_t, __VA_ARGS__)                                                    \
  CASE(LEAT_i32, int32_t, int64_t, __VA_ARGS__)                                                    \
  CASE(LEAT_i64, int64_t, int64_t, __VA_ARGS__)
#define LEAT_UNSIGNED_CASES(CASE, ...)                                                             \
  CASE(LEAT_u8, uint8_t, uint64_t, __VA_ARGS__)                                                    \
  CASE(LEAT_u16, uint16_t, uint64_t, __VA_ARGS__)                                                  \
  CASE(LEAT_u32, uint32_t, uint64_t, __VA_ARGS__)                                                  \
  CASE(LEAT_u64, uint64_t, uint64_t, __VA_ARGS__)
#define LEAT_FLOAT_CASES(CASE, ...)                                                                \
  CASE(LEAT_f32, float, float, __VA_ARGS__)                                                        \
  CASE(LEAT_f64, double, double, __VA_ARGS__)
#define LEAT_COMPLEX_CASES(CASE, ...)                                                              \
  CASE(LEAT_c64, leat_complex64, leat_complex64, __VA_ARGS__)                                      \
  CASE(LEAT_c128, leat_complex128, leat_complex128, __VA_ARGS__)
#define LEAT_BOOL_CASES(CASE, ...) CASE(LEAT_bool, uint8_t, uint8_t, __VA_ARGS__)

// The function, a ref_X, with a case for each dtype of input 0 that computes it. In scope: context,
// count.
#define LEAT_REF(function, ...)                                                                    \
  leat_status function(leat_ref_context *context) {                                                \
    int64_t count = leat_ref_count(&context->outputs[0]);                                          \
    switch (context->inputs[0].dtype) {                                                            \
      __VA_ARGS__ default : return leat_ref_unsupported(context);                                  \
    }                                                                                              \
  }

// A case: OUT elements from pairs (a, b) of T, widened.
#define LEAT_EACH_PAIR(ID, T, WIDE, OUT, expression)                                               \
  case ID: {                                                                                       \
    const T *x = context->inputs[0].data, *y = context->inputs[1].data;                            \
    OUT *out = context->outputs[0].data;                                                           \
    for (int64_t i = 0; i < count; i++) {                                                          \
      WIDE a = x[i], b = y[i];                                                                     \
      out[i] = (OUT)(expression);                                                                  \
    }                                                                                              \
    return LEAT_OK;                                                                                \
  }

// Who asked for the value says of which node.
leat_status leat_ref_fail(leat_ref_context *context, leat_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
leat_status leat_ref_unsupported(leat_ref_context *context); // shape rules keep this from happening

// The dim's value in this step; fails when it is unknown or negative.
leat_status leat_ref_dim(leat_ref_context *context, leat_dim dim, int64_t *out);
leat_status leat_ref_offset(leat_ref_context *context, leat_dim dim, int64_t *out); // may be < 0

// Elements of the tensor; shapes here are known to have a product.
int64_t leat_ref_count(const leat_tensor *tensor);

// Row-major position ↔ index along each axis.
void leat_unflatten(int64_t position, int32_t rank, const int64_t *shape, int64_t *out_at);
void leat_next_index(int32_t rank, const int64_t *shape, int64_t *at); // after the last: the first
int64_t leat_flatten(int32_t rank, const int64_t *shape, const int64_t *at);
// Copies element `from` of one tensor to element `to` of another of its dtype.
void leat_copy_element(leat_tensor *to_tensor, int64_t to, const leat_tensor *from_tensor,
                       int64_t from);

// Element `i` of an integer tensor (any u64 beyond i64 reads as INT64_MAX, which is out of every
// range).
int64_t leat_load_index(const leat_tensor *tensor, int64_t i);

// Conversions to element `i` as `cast` defines them. False: there is none to this dtype.
bool leat_store_signed(leat_dtype dtype, void *data, int64_t i, int64_t value);
bool leat_store_unsigned(leat_dtype dtype, void *data, int64_t i, uint64_t value);
bool leat_store_float(leat_dtype dtype, void *data, int64_t i, double value);

#endif
