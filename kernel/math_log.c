// log2 and log10. x = 2^e·(1 + f) with 1 + f
// within [sqrt(1/2), sqrt(2)), s = f/(2+f), and log(1 + f) = f − (f²/2 − s·(f²/2 + s²·Q(s²))), kept
// as f and the rest so that a product with log2(e) loses nothing.
// f64 is within 1.1 ulp; f32, computed in f64, within 0.51.
#include "kernel/math_parts.h"

#include <math.h>

// (2·atanh(s) − 2s) / s³ as a polynomial of s²: within 2^-59 and 2^-35 of log.
static const double full[] = {0.6666666666666666,  0.4000000000000088,  0.2857142857080323,
                              0.2222222239180047,  0.18181795630884753, 0.15386240205813478,
                              0.13268759668560612, 0.13086767009948175};
static const double short_terms[] = {0.6666666655445165, 0.40000121876972, 0.2855081659971155,
                                     0.23330581938241893};
static const k_coefficients terms = K_COEFFICIENTS(full, short_terms);

// x as 2^exponent·(1 + f), for finite positive x.
static k_value split(k_builder *b, k_value x, bool brief, k_value *exponent) {
  k_value small = k_less_than(b, x, 0x1p-1022), zero = k_whole(b, x, 0);
  k_value normal = brief ? x : k_select(b, small, k_mul(b, x, k_real(b, x, 0x1p54)), x);
  k_value sqrt_half = k_whole(b, x, 0x3fe6a09e667f3bcd);
  k_value offset = k_sub(b, k_bits(b, normal), sqrt_half);
  k_value power = k_binary(b, K_SHR, offset, k_whole(b, x, 52));
  if (!brief) power = k_sub(b, power, k_select(b, small, k_whole(b, x, 54), zero));
  k_value mantissa = k_binary(b, K_AND, offset, k_whole(b, x, ((int64_t)1 << 52) - 1));
  *exponent = k_cast(b, LEAT_f64, power);
  mantissa = k_bitcast(b, LEAT_f64, k_add(b, mantissa, sqrt_half));
  return k_sub(b, mantissa, k_real(b, x, 1));
}

// log(1 + f) − f
static k_value log_rest(k_builder *b, k_value f, bool brief) {
  k_value s = k_binary(b, K_DIV, f, k_add(b, f, k_real(b, f, 2))), z = k_mul(b, s, s);
  k_value half_square = k_mul(b, k_mul(b, f, f), k_real(b, f, 0.5));
  k_value tail = k_near_fma(b, z, k_series(b, z, &terms, brief), half_square);
  return k_sub(b, k_mul(b, s, tail), half_square);
}

// What the logarithm of x is where it is not that of a positive number.
static k_value special(k_builder *b, k_value x, k_value result) {
  k_value zero = k_real(b, x, 0), is_zero = k_binary(b, K_EQ, x, zero);
  k_value other = k_select(b, is_zero, k_real(b, x, -INFINITY), k_real(b, x, NAN));
  result = k_select(b, k_lt(b, zero, x), result, other);
  k_value finite = k_lt(b, x, k_real(b, x, INFINITY));
  return k_select(b, k_binary(b, K_AND, k_binary(b, K_LE, zero, x), k_unary(b, K_NOT, finite)), x,
                  result);
}

// e·step + (f + rest)·factor, each constant in two parts.
static k_value scaled_log(k_builder *b, k_value x, bool brief, const double *step,
                          const double *factor) {
  k_value e, f = split(b, x, brief, &e), rest = log_rest(b, f, brief);
  k_pair product = k_two_product(b, f, k_real(b, x, factor[0]));
  k_value low = k_near_fma(b, f, k_real(b, x, factor[1]), product.low);
  low = k_near_fma(b, rest, k_real(b, x, factor[0]), low);
  low = k_near_fma(b, e, k_real(b, x, step[1]), low);
  k_pair sum = k_two_sum(b, k_mul(b, e, k_real(b, x, step[0])), product.high);
  return special(b, x, k_add(b, sum.high, k_add(b, sum.low, low)));
}

static k_value log2_f64(k_builder *b, k_value x, bool brief) {
  static const double step[] = {1, 0}, factor[] = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
  return scaled_log(b, x, brief, step, factor);
}

k_value k_log2(k_builder *b, k_value x) {
  return k_in_f64(b, x, log2_f64);
}

static k_value log10_f64(k_builder *b, k_value x, bool brief) {
  static const double step[] = {0x1.34413509f6000p-2, 0x1.9fef311f12b36p-42};
  static const double factor[] = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
  return scaled_log(b, x, brief, step, factor);
}

k_value k_log10(k_builder *b, k_value x) {
  return k_in_f64(b, x, log10_f64);
}
