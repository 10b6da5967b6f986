// Element-wise arithmetic. Each op is one shape line and one REF line: expressions of a (and b) for
// complex numbers, for signed and unsigned integers, computed in 64 bits and cut to their width,
// and for floats, computed in their own type.
#include "ops/element.h"

// -- Sums, products, signs -----------------------------------------------------------------------

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
BINARY_NUMERIC(shape_add, ref_add, a + b, WRAP(+), WRAP(+), a + b)
BINARY_NUMERIC(shape_sub, ref_sub, a - b, WRAP(-), WRAP(-), a - b)
BINARY_NUMERIC(shape_mul, ref_mul, LEAT_TIMES(a, b), WRAP(*), WRAP(*), (a * b))
BINARY_REAL(shape_maximum, ref_maximum, a > b ? a : b, a > b ? a : b, larger(a, b))
BINARY_REAL(shape_minimum, ref_minimum, a < b ? a : b, a < b ? a : b, smaller(a, b))
UNARY_NUMERIC(shape_neg, ref_neg, -a, 0 - (uint64_t)a, 0 - a, -a)
BINARY_FLOAT(shape_copysign, ref_copysign, copysign(a, b))

bool shape_abs(leat_shape_context *context) {
  leat_type *out = &context->outputs[0];
  *out = *leat_shape_input(context, 0);
  out->dtype = leat_part_dtype(out->dtype);
  return true;
}

// Of a complex number the magnitude, infinite when either part is. What is added sees to it that
// subnormals are what they are to arithmetic.
#define EACH_MAGNITUDE(ID, PART, WIDE)                                                             \
  case ID: {                                                                                       \
    const PART *x = context->inputs[0].data;                                                       \
    PART *out = context->outputs[0].data;                                                          \
    for (int64_t i = 0; i < count; i++)                                                            \
      out[i] = (PART)hypot((WIDE)(x[2 * i] + 0), (WIDE)(x[2 * i + 1] + 0));                        \
    return LEAT_OK;                                                                                \
  }

LEAT_REF(ref_abs, LEAT_SIGNED_CASES(EACH_UNARY, a < 0 ? 0 - (uint64_t)a : (uint64_t)a)
                      LEAT_UNSIGNED_CASES(EACH_UNARY, a) LEAT_FLOAT_CASES(EACH_UNARY, fabs(a))
                          EACH_MAGNITUDE(LEAT_c64, float, double)
                              EACH_MAGNITUDE(LEAT_c128, double, long double))

bool shape_fma(leat_shape_context *context) {
  return leat_shape_like_input(context);
}

#define EACH_FMA(ID, T, WIDE, _)                                                                   \
  case ID: {                                                                                       \
    const T *x = context->inputs[0].data, *y = context->inputs[1].data;                            \
    const T *z = context->inputs[2].data;                                                          \
    T *out = context->outputs[0].data;                                                             \
    for (int64_t i = 0; i < count; i++) out[i] = fma(x[i], y[i], z[i]);                            \
    return LEAT_OK;                                                                                \
  }
LEAT_REF(ref_fma, LEAT_FLOAT_CASES(EACH_FMA, ))

// -- Division ------------------------------------------------------------------------------------
// `div_trunc` and `rem` truncate (C's / and %, fmod), `floor_div` and `remainder` round down, so
// that the rest has the divisor's sign, as NumPy's. Of integers a quotient by 0 and any rest of it
// are 0, and MIN by -1 is MIN.

static int64_t divide(int64_t a, int64_t b) {
  return b == 0 ? 0 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

static int64_t rest_of(int64_t a, int64_t b) {
  return b == 0 || b == -1 ? 0 : a % b;
}

static bool rounds_down(int64_t a, int64_t b) { // the quotient, by one more than truncating does
  int64_t rest = rest_of(a, b);
  return rest != 0 && (rest < 0) != (b < 0);
}

// A rest of 0 has the divisor's sign.
#define REMAINDER(T, suffix)                                                                       \
  static T remainder_##T(T a, T b) {                                                               \
    T rest = fmod##suffix(a, b);                                                                   \
    if (rest == 0) return copysign##suffix(0, b);                                                  \
    return (rest < 0) != (b < 0) ? rest + b : rest;                                                \
  }                                                                                                \
  /* The nearest whole number to (a - remainder) / b, as NumPy's; a / b where b is 0. */           \
  static T floor_div_##T(T a, T b) {                                                               \
    T rest = fmod##suffix(a, b), quotient = (a - rest) / b;                                        \
    if (b == 0) return a / b;                                                                      \
    if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;                                         \
    if (quotient == 0) return copysign##suffix(0, a / b);                                          \
    T below = floor##suffix(quotient);                                                             \
    return quotient - below > (T)0.5 ? below + 1 : below;                                          \
  }
REMAINDER(float, f)
REMAINDER(double, )
#define BY_SIZE(function) sizeof a == 4 ? function##_float(a, b) : function##_double(a, b)

// Smith's quotient, by the greater part of the divisor, each operation rounded, as NumPy's; z / 0
// is each part over +0.
#define QUOTIENT(T, COMPLEX)                                                                       \
  static COMPLEX quotient_##T(COMPLEX z, COMPLEX w) {                                              \
    T a = __real__ z, b = __imag__ z, c = __real__ w, d = __imag__ w;                              \
    if (c == 0 && d == 0) return __builtin_complex(a / (T)fabs(c), b / (T)fabs(c));                \
    bool swapped = fabs(c) < fabs(d);                                                              \
    T ratio = swapped ? c / d : d / c, scale = 1 / (swapped ? d + c * ratio : c + d * ratio);      \
    return swapped ? __builtin_complex((b + a * ratio) * scale, (b * ratio - a) * scale)           \
                   : __builtin_complex((a + b * ratio) * scale, (b - a * ratio) * scale);          \
  }
QUOTIENT(float, leat_complex64)
QUOTIENT(double, leat_complex128)
#define QUOTIENT_OF(z, w) sizeof z == 8 ? quotient_float(z, w) : quotient_double(z, w)

BINARY_INEXACT(shape_div, ref_div, a / b, QUOTIENT_OF(a, b))
BINARY_INTEGER(shape_div_trunc, ref_div_trunc, divide(a, b), b ? a / b : 0)
BINARY_REAL(shape_rem, ref_rem, rest_of(a, b), b ? a % b : 0, fmod(a, b))
BINARY_REAL(shape_floor_div, ref_floor_div, divide(a, b) - rounds_down(a, b), b ? a / b : 0,
            BY_SIZE(floor_div))
BINARY_REAL(shape_remainder, ref_remainder, rest_of(a, b) + (rounds_down(a, b) ? b : 0),
            b ? a % b : 0, BY_SIZE(remainder))

// The greatest common divisor of the magnitudes; that of 0 and 0 is 0.
static uint64_t common_divisor(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

#define MAGNITUDE(x) ((x) < 0 ? 0 - (uint64_t)(x) : (uint64_t)(x))
BINARY_INTEGER(shape_gcd, ref_gcd, common_divisor(MAGNITUDE(a), MAGNITUDE(b)), common_divisor(a, b))

// -- Rounding ------------------------------------------------------------------------------------

UNARY_FLOAT(shape_floor, ref_floor, floor(a))
UNARY_FLOAT(shape_round, ref_round, rint(a)) // to nearest, ties to even
