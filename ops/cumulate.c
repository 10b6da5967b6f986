// cumsum, cumprod, cummax, cummin: the results so far along an axis, added, multiplied or compared
// from left to right, or with `reverse` from right to left. With `exclusive` an element is not part
// of its own result: the first is 0, 1, or what every element is above or below. Integers wrap; NaN
// stays; -0 < +0.
#include "ops/axis.h"
#include "ops/complex.h"
#include "ops/ref.h"
#include "ops/shape.h"

#include <math.h>

static bool shape_cumulated(leat_shape_context *context) {
  return leat_shape_axis_attr(context) >= 0 && leat_shape_like_input(context);
}

bool shape_cumsum(leat_shape_context *context) {
  return shape_cumulated(context);
}
bool shape_cumprod(leat_shape_context *context) {
  return shape_cumulated(context);
}
bool shape_cummax(leat_shape_context *context) {
  return shape_cumulated(context);
}
bool shape_cummin(leat_shape_context *context) {
  return shape_cumulated(context);
}

// -- Values ---------------------------------------------------------------------------------------

// Element number k, as the walk goes, of each row.
typedef struct walk {
  leat_axis_view view;
  bool reverse, exclusive;
} walk;

static walk walk_of(const leat_ref_context *context) {
  return (walk){leat_axis_view_of(&context->inputs[0], leat_node_attr(context->node, "axis")->i),
                leat_node_attr(context->node, "reverse")->i != 0,
                leat_node_attr(context->node, "exclusive")->i != 0};
}

static int64_t element(const walk *w, int64_t row, int64_t k) {
  int64_t i = w->reverse ? w->view.n - 1 - k : k;
  return (row / w->view.inner * w->view.n + i) * w->view.inner + row % w->view.inner;
}

// `none`: the result of no elements; b is what comes to the result a.
#define CUMULATE(ID, T, WIDE, none, expression)                                                    \
  case ID: {                                                                                       \
    const T *x = context->inputs[0].data;                                                          \
    T *out = context->outputs[0].data;                                                             \
    for (int64_t row = 0; row < w.view.outer * w.view.inner; row++) {                              \
      T sum = (T)(none);                                                                           \
      for (int64_t k = 0; k < w.view.n; k++) {                                                     \
        WIDE a = sum, b = x[element(&w, row, k)];                                                  \
        if (w.exclusive) out[element(&w, row, k)] = sum;                                           \
        sum = (T)(expression);                                                                     \
        if (k == 0) sum = (T)b;                                                                    \
        if (!w.exclusive) out[element(&w, row, k)] = sum;                                          \
      }                                                                                            \
    }                                                                                              \
    return LEAT_OK;                                                                                \
  }

#define CUMULATE_COMPLEX(none, expression)                                                         \
  CUMULATE(LEAT_c64, leat_complex64, leat_complex64, none, expression)                             \
  CUMULATE(LEAT_c128, leat_complex128, leat_complex128, none, expression)
#define REF_CUMULATE(function, for_complex, of_signed, of_unsigned, of_float, none_signed,         \
                     none_unsigned, none_float)                                                    \
  leat_status function(leat_ref_context *context) {                                                \
    walk w = walk_of(context);                                                                     \
    switch (context->inputs[0].dtype) {                                                            \
      CUMULATE(LEAT_i8, int8_t, int64_t, none_signed(8), of_signed)                                \
      CUMULATE(LEAT_i16, int16_t, int64_t, none_signed(16), of_signed)                             \
      CUMULATE(LEAT_i32, int32_t, int64_t, none_signed(32), of_signed)                             \
      CUMULATE(LEAT_i64, int64_t, int64_t, none_signed(64), of_signed)                             \
      LEAT_UNSIGNED_CASES(CUMULATE, none_unsigned, of_unsigned)                                    \
      LEAT_FLOAT_CASES(CUMULATE, none_float, of_float)                                             \
      for_complex default : return leat_ref_unsupported(context);                                  \
    }                                                                                              \
  }

#define ZERO(bits) 0
#define ONE(bits) 1
#define LOWEST(bits) INT##bits##_MIN
#define HIGHEST(bits) INT##bits##_MAX
#define EITHER_NAN (a != a || b != b)

REF_CUMULATE(ref_cumsum, CUMULATE_COMPLEX(0, a + b), (uint64_t)a + (uint64_t)b, a + b, a + b, ZERO,
             0, 0)
REF_CUMULATE(ref_cumprod, CUMULATE_COMPLEX(1, LEAT_TIMES(a, b)), (uint64_t)a *(uint64_t)b, a *b,
             a *b, ONE, 1, 1)
REF_CUMULATE(ref_cummax, , a > b ? a : b, a > b ? a : b,
             EITHER_NAN                             ? a + b
             : a > b || (a == b && signbit(b) != 0) ? a
                                                    : b,
             LOWEST, 0, -INFINITY)
REF_CUMULATE(ref_cummin, , a < b ? a : b, a < b ? a : b,
             EITHER_NAN                             ? a + b
             : a < b || (a == b && signbit(a) != 0) ? a
                                                    : b,
             HIGHEST, UINT64_MAX, INFINITY)

// -- Code -----------------------------------------------------------------------------------------

enum { SUM, PRODUCT, MAXIMUM, MINIMUM }; // as runtime/kernels/cumulate.c numbers them

static bool cumulate(leat_dims *dims, const leat_node *node, int what, leat_library_call *out) {
  if (!leat_library_rows(dims, node, "cumulate", 1, out)) return false;
  leat_library_scalar(out, leat_dim_const(what));
  leat_library_scalar(out, leat_dim_const(leat_node_attr(node, "reverse")->i));
  leat_library_scalar(out, leat_dim_const(leat_node_attr(node, "exclusive")->i));
  return true;
}

bool library_cumsum(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  return cumulate(dims, node, SUM, out);
}
bool library_cumprod(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  return cumulate(dims, node, PRODUCT, out);
}
bool library_cummax(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  return cumulate(dims, node, MAXIMUM, out);
}
bool library_cummin(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  return cumulate(dims, node, MINIMUM, out);
}
