// Element-wise functions. The meaning is the C library's one precision up, rounded once: of f32 its
// double, of f64 its long double. Zeros, infinities and domains are C99 Annex F's and NumPy's. How
// near the kernels (kernel/math_*.c) come is in the table of tests/sweep/op_errors.c.
#include "ops/element.h"

UNARY_FLOAT(sqrt, sqrt(a))

#define UP(function) sizeof a == 4 ? function((double)a) : function((long double)a)
#define UP_2(function) sizeof a == 4 ? function((double)a, b) : function((long double)a, b)

UNARY_FLOAT(exp, UP(exp))
UNARY_FLOAT(log, UP(log))
UNARY_FLOAT(tanh, UP(tanh))
UNARY_FLOAT(exp2, UP(exp2))
UNARY_FLOAT(expm1, UP(expm1))
UNARY_FLOAT(log2, UP(log2))
UNARY_FLOAT(log10, UP(log10))
UNARY_FLOAT(log1p, UP(log1p))
UNARY_FLOAT(sin, UP(sin))
UNARY_FLOAT(cos, UP(cos))
UNARY_FLOAT(tan, UP(tan))
UNARY_FLOAT(asin, UP(asin))
UNARY_FLOAT(acos, UP(acos))
UNARY_FLOAT(atan, UP(atan))
UNARY_FLOAT(sinh, UP(sinh))
UNARY_FLOAT(cosh, UP(cosh))
UNARY_FLOAT(asinh, UP(asinh))
UNARY_FLOAT(acosh, UP(acosh))
UNARY_FLOAT(atanh, UP(atanh))
UNARY_FLOAT(cbrt, UP(cbrt))
UNARY_FLOAT(erf, UP(erf))
UNARY_FLOAT(erfc, UP(erfc))
BINARY_FLOAT(atan2, UP_2(atan2))
BINARY_FLOAT(hypot, UP_2(hypot))

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

BINARY_NUMERIC(pow, signed_power(a, b), unsigned_power(a, b),
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

UNARY_FLOAT(erfinv, inverse_erf(a))

static long double log_gamma(long double a) { // and not its sign
  int sign;
  return lgammal_r(a, &sign);
}

UNARY_FLOAT(lgamma, log_gamma(a))

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

UNARY_FLOAT(digamma, digamma(a))
