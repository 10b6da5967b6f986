// Element-wise arithmetic. Each op is one shape line and one REF line: expressions of a (and b) for
// signed and unsigned integers, computed in 64 bits and cut to their width, and for floats,
// computed in their own type.
#include "ops/ref.h"
#include "ops/shape.h"

#include <tgmath.h>

// -- Shapes: the inputs'
// ----------------------------------------------------------------------------------------------

#define SHAPE_LIKE_INPUT(name)                                                                     \
  bool shape_##name(leat_shape_context *context) {                                                 \
    return leat_shape_like_input(context);                                                         \
  }
SHAPE_LIKE_INPUT(add)
SHAPE_LIKE_INPUT(sub)
SHAPE_LIKE_INPUT(mul)
SHAPE_LIKE_INPUT(div)
SHAPE_LIKE_INPUT(mod)
SHAPE_LIKE_INPUT(neg)
SHAPE_LIKE_INPUT(abs)
SHAPE_LIKE_INPUT(maximum)
SHAPE_LIKE_INPUT(minimum)
SHAPE_LIKE_INPUT(sqrt)
SHAPE_LIKE_INPUT(floor)
SHAPE_LIKE_INPUT(exp)
SHAPE_LIKE_INPUT(log)
SHAPE_LIKE_INPUT(tanh)

// -- Values
// -----------------------------------------------------------------------------------------------------------

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

#define REF_NUMERIC(each, name, for_signed, for_unsigned, for_float)                               \
  LEAT_REF(name, LEAT_SIGNED_CASES(each, for_signed) LEAT_UNSIGNED_CASES(each, for_unsigned)       \
                     LEAT_FLOAT_CASES(each, for_float))
#define REF_INTEGER(each, name, for_signed, for_unsigned)                                          \
  LEAT_REF(name, LEAT_SIGNED_CASES(each, for_signed) LEAT_UNSIGNED_CASES(each, for_unsigned))
#define REF_FLOAT(each, name, for_float) LEAT_REF(name, LEAT_FLOAT_CASES(each, for_float))

// x / 0 and x % 0 are 0; MIN / -1 is MIN.
static int64_t divide(int64_t a, int64_t b) {
  return b == 0 ? 0 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

static int64_t remainder_of(int64_t a, int64_t b) {
  return b == 0 || b == -1 ? 0 : a % b;
}

// NaN if either is NaN; -0 < +0. Every f32 is a double.
static double larger(double a, double b) {
  if (a != a || b != b) return a + b;
  return a > b || (a == b && signbit(b)) ? a : b;
}

static double smaller(double a, double b) {
  if (a != a || b != b) return a + b;
  return a < b || (a == b && signbit(a)) ? a : b;
}

#define WRAP(operator) (uint64_t) a operator(uint64_t) b
REF_NUMERIC(EACH_BINARY, add, WRAP(+), WRAP(+), a + b)
REF_NUMERIC(EACH_BINARY, sub, WRAP(-), WRAP(-), a - b)
REF_NUMERIC(EACH_BINARY, mul, WRAP(*), WRAP(*), (a * b))
REF_NUMERIC(EACH_BINARY, div, divide(a, b), b ? a / b : 0, a / b)
REF_INTEGER(EACH_BINARY, mod, remainder_of(a, b), b ? a % b : 0)
REF_NUMERIC(EACH_BINARY, maximum, a > b ? a : b, a > b ? a : b, larger(a, b))
REF_NUMERIC(EACH_BINARY, minimum, a < b ? a : b, a < b ? a : b, smaller(a, b))
REF_NUMERIC(EACH_UNARY, neg, 0 - (uint64_t)a, 0 - a, -a)
REF_NUMERIC(EACH_UNARY, abs, a < 0 ? 0 - (uint64_t)a : (uint64_t)a, a, fabs(a))
REF_FLOAT(EACH_UNARY, sqrt, sqrt(a))
REF_FLOAT(EACH_UNARY, floor, floor(a))

// One precision up, then rounded.
#define UP(function) sizeof a == 4 ? function((double)a) : function((long double)a)
REF_FLOAT(EACH_UNARY, exp, UP(exp))
REF_FLOAT(EACH_UNARY, log, UP(log))
REF_FLOAT(EACH_UNARY, tanh, UP(tanh))
