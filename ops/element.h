// What the files of element-wise ops share: lines that define shape_X and ref_X, which they name,
// for ops whose inputs and output have one type. The expressions are of a (and b), see ops/ref.h
// for the types they are computed in.
#ifndef LEAT_OPS_ELEMENT_H
#define LEAT_OPS_ELEMENT_H

#include "ops/complex.h"
#include "ops/ref.h"
#include "ops/shape.h"

#include <tgmath.h>

#define EACH_UNARY(ID, T, WIDE, expression)                                                        \
  case ID: {                                                                                       \
    const T *x = context->inputs[0].data;                                                          \
    T *out = context->outputs[0].data;                                                             \
    for (int64_t i = 0; i < count; i++) {                                                          \
      WIDE a = x[i];                                                                               \
      out[i] = (T)(expression);                                                                    \
    }                                                                                              \
    return LEAT_OK;                                                                                \
  }
#define EACH_BINARY(ID, T, WIDE, expression) LEAT_EACH_PAIR(ID, T, WIDE, T, expression)

#define LIKE_INPUT(shape, ref, ...)                                                                \
  bool shape(leat_shape_context *context) {                                                        \
    return leat_shape_like_input(context);                                                         \
  }                                                                                                \
  LEAT_REF(ref, __VA_ARGS__)
#define REAL_CASES(each, for_signed, for_unsigned, for_float)                                      \
  LEAT_SIGNED_CASES(each, for_signed)                                                              \
  LEAT_UNSIGNED_CASES(each, for_unsigned) LEAT_FLOAT_CASES(each, for_float)
#define NUMERIC_OP(each, shape, ref, ...) LIKE_INPUT(shape, ref, REAL_CASES(each, __VA_ARGS__))
#define INTEGER_OP(each, shape, ref, for_signed, for_unsigned)                                     \
  LIKE_INPUT(shape, ref,                                                                           \
             LEAT_SIGNED_CASES(each, for_signed) LEAT_UNSIGNED_CASES(each, for_unsigned))
#define FLOAT_OP(each, shape, ref, for_float)                                                      \
  LIKE_INPUT(shape, ref, LEAT_FLOAT_CASES(each, for_float))

// Real numbers; and with an expression for complex ones too.
#define UNARY_REAL(shape, ref, ...) NUMERIC_OP(EACH_UNARY, shape, ref, __VA_ARGS__)
#define BINARY_REAL(shape, ref, ...) NUMERIC_OP(EACH_BINARY, shape, ref, __VA_ARGS__)
#define UNARY_NUMERIC(shape, ref, for_complex, ...)                                                \
  LIKE_INPUT(shape, ref,                                                                           \
             REAL_CASES(EACH_UNARY, __VA_ARGS__) LEAT_COMPLEX_CASES(EACH_UNARY, for_complex))
#define BINARY_NUMERIC(shape, ref, for_complex, ...)                                               \
  LIKE_INPUT(shape, ref,                                                                           \
             REAL_CASES(EACH_BINARY, __VA_ARGS__) LEAT_COMPLEX_CASES(EACH_BINARY, for_complex))
#define UNARY_INEXACT(shape, ref, for_float, for_complex)                                          \
  LIKE_INPUT(shape, ref,                                                                           \
             LEAT_FLOAT_CASES(EACH_UNARY, for_float) LEAT_COMPLEX_CASES(EACH_UNARY, for_complex))
#define BINARY_INEXACT(shape, ref, for_float, for_complex)                                         \
  LIKE_INPUT(shape, ref,                                                                           \
             LEAT_FLOAT_CASES(EACH_BINARY, for_float)                                              \
                 LEAT_COMPLEX_CASES(EACH_BINARY, for_complex))
#define UNARY_INTEGER(shape, ref, ...) INTEGER_OP(EACH_UNARY, shape, ref, __VA_ARGS__)
#define BINARY_INTEGER(shape, ref, ...) INTEGER_OP(EACH_BINARY, shape, ref, __VA_ARGS__)
#define UNARY_FLOAT(shape, ref, for_float) FLOAT_OP(EACH_UNARY, shape, ref, for_float)
#define BINARY_FLOAT(shape, ref, for_float) FLOAT_OP(EACH_BINARY, shape, ref, for_float)

#endif
