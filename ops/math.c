// Element-wise functions. The meaning is the C library's one precision up, rounded once: of f32 its
// double, of f64 its long double. Zeros, infinities and domains are C99 Annex F's and NumPy's. How
// near the kernels (kernel/math_*.c) come is in the table of tests/sweep/op_errors.c.
#include "ops/element.h"

#define UP(function) sizeof a == 4 ? function((double)a) : function((long double)a)
#define UP_COMPLEX(function)                                                                       \
  sizeof a == 8 ? function((double _Complex)a) : function((long double _Complex)a)

UNARY_INEXACT(shape_sqrt, ref_sqrt, sqrt(a), UP_COMPLEX(sqrt))

#define UP_2(function) sizeof a == 4 ? function((double)a, b) : function((long double)a, b)

// What the C library has not of complex numbers. A part that is NaN, or infinite alone, stays so.
static long double _Complex logarithm(long double _Complex a, int base) {
  long double _Complex l = log(a);
  long double by = base == 2 ? log(2.0L) : log(10.0L);
  return __builtin_complex(__real__ l / by, __imag__ l / by);
}

// The angle is rounded to f64: of a large one no more is left of the result's.
static long double _Complex binary_power(long double _Complex a) {
  double angle = (double)__imag__ a * 0.693147180559945309417;
  return exp(__builtin_complex(__real__ a * log(2.0L), (long double)angle));
}

// exp(a) - 1: of a small real part x, whatever the imaginary part y,
// (e^x - 1) cos y - 2 sin(y/2)^2 + i e^x sin y.
static long double _Complex less_one(long double _Complex a) {
  long double x = __real__ a, y = __imag__ a, half = sin(y / 2);
  long double _Complex e = exp(a);
  bool small = fabs(x) < 1 && isfinite(y);
  return __builtin_complex(small ? expm1(x) * cos(y) - 2 * half * half : __real__ e - 1,
                           __imag__ e);
}

// log(1 + a): near 0 as 2 atanh(a / (2 + a)).
static long double _Complex of_one_more(long double _Complex a) {
  if (fabs(a) < 0.5L) return 2 * atanh(a / (2 + a));
  return log(__builtin_complex(1 + __real__ a, __imag__ a));
}

UNARY_INEXACT(shape_exp, ref_exp, UP(exp), UP_COMPLEX(exp))
UNARY_INEXACT(shape_log, ref_log, UP(log), UP_COMPLEX(log))
UNARY_INEXACT(shape_tanh, ref_tanh, UP(tanh), UP_COMPLEX(tanh))
UNARY_INEXACT(shape_exp2, ref_exp2, UP(exp2), binary_power(a))
UNARY_INEXACT(shape_expm1, ref_expm1, UP(expm1), less_one(a))
UNARY_INEXACT(shape_log2, ref_log2, UP(log2), logarithm(a, 2))
UNARY_INEXACT(shape_log10, ref_log10, UP(log10), logarithm(a, 10))
UNARY_INEXACT(shape_log1p, ref_log1p, UP(log1p), of_one_more(a))
UNARY_INEXACT(shape_sin, ref_sin, UP(sin), UP_COMPLEX(sin))
UNARY_INEXACT(shape_cos, ref_cos, UP(cos), UP_COMPLEX(cos))
UNARY_INEXACT(shape_tan, ref_tan, UP(tan), UP_COMPLEX(tan))
UNARY_INEXACT(shape_asin, ref_asin, UP(asin), UP_COMPLEX(asin))
UNARY_INEXACT(shape_acos, ref_acos, UP(acos), UP_COMPLEX(acos))
UNARY_INEXACT(shape_atan, ref_atan, UP(atan), UP_COMPLEX(atan))
UNARY_INEXACT(shape_sinh, ref_sinh, UP(sinh), UP_COMPLEX(sinh))
UNARY_INEXACT(shape_cosh, ref_cosh, UP(cosh), UP_COMPLEX(cosh))
UNARY_INEXACT(shape_asinh, ref_asinh, UP(asinh), UP_COMPLEX(asinh))
UNARY_INEXACT(shape_acosh, ref_acosh, UP(acosh), UP_COMPLEX(acosh))
UNARY_INEXACT(shape_atanh, ref_atanh, UP(atanh), UP_COMPLEX(atanh))
UNARY_FLOAT(shape_cbrt, ref_cbrt, UP(cbrt))
UNARY_FLOAT(shape_erf, ref_erf, UP(erf))
UNARY_FLOAT(shape_erfc, ref_erfc, UP(erfc))
BINARY_FLOAT(shape_atan2, ref_atan2, UP_2(atan2))
BINARY_FLOAT(shape_hypot, ref_hypot, UP_2(hypot))

// By squaring, wrapping. A negative exponent gives 1 / a^|b| truncated, and of a = 0, as a division
// by zero does, 0.
static uint64_t unsigned_power(uint64_t a, uint64_t b) {
  uint64_t power = 1;
  for (; b; b >>= 1, a *= a)
    if (b & 1) power *= a;
  return power;
}

static uint64_t signed_power(int64_t a, int64_t b) {
  if (b >= 0) return unsigned_power((uint64_t)a, (uint64_t)b);
  return a == 1 || a == -1 ? unsigned_power((uint64_t)a, (uint64_t)b & 1) : 0;
}

// glibc 2.36's powl says that (−∞)^(−2^63) is infinite.
static long double power(long double a, long double b) {
  return isinf(a) ? pow((double)a, (double)b) : powl(a, b);
}

// exp(b log a); of b = 0 it is 1; of a = 0 it is 0 for a positive real b, else NaN.
static long double _Complex complex_power(long double _Complex a, long double _Complex b) {
  if (b == 0) return 1;
  if (a == 0) return __real__ b > 0 && __imag__ b == 0 ? 0 : __builtin_complex(NAN, NAN);
  long double _Complex l = log(a);
  return exp(LEAT_TIMES(b, l));
}

BINARY_NUMERIC(shape_pow, ref_pow, complex_power(a, b), signed_power(a, b), unsigned_power(a, b),
               sizeof a == 4 ? pow((double)a, b) : power(a, b))

// The zero of erf(y) − a, from below: erf is concave there, so Newton's steps only rise to it.
static long double inverse_erf(long double a) {
  long double y = 0, wanted = fabsl(a);
  if (!(wanted < 1)) return wanted == 1 ? copysignl(INFINITY, a) : NAN;
  for (int i = 0; i < 1000; i++) {
    long double over = wanted < 0.5L ? erfl(y) - wanted : (1 - wanted) - erfcl(y);
    long double next = y - over * expl(y * y) * 0.886226925452758013649083741670572591L;
    if (next <= y) break;
    y = next;
  }
  return copysignl(y, a);
}

UNARY_FLOAT(shape_erfinv, ref_erfinv, inverse_erf(a))

static long double log_gamma(long double a) { // and not its sign
  int sign;
  return lgammal_r(a, &sign);
}

UNARY_FLOAT(shape_lgamma, ref_lgamma, log_gamma(a))

// The logarithmic derivative of the gamma function: −∞ at 0, ∞ at −0, NaN at negative whole
// numbers.
static long double digamma(long double a) {
  const long double pi = 3.14159265358979323846264338327950288L;
  long double sum = 0;
  if (a == 0) return copysignl(INFINITY, -a);
  if (a < 0) return a == floorl(a) ? NAN : digamma(1 - a) - pi / tanl(pi * (a - rintl(a)));
  for (; a < 32; a++) sum -= 1 / a;
  long double w = 1 / (a * a); // the numbers are Bernoulli's B(2k) / 2k
  long double tail = w * (1 / 12.L - w * (1 / 120.L - w * (1 / 252.L - w * (1 / 240.L - w / 132))));
  return isinf(a) ? a : sum + logl(a) - 0.5L / a - tail;
}

UNARY_FLOAT(shape_digamma, ref_digamma, digamma(a))
