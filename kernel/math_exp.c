// exp2, expm1, sinh and cosh: n·ln 2 (or n) is taken off x, e^r − 1 (or 2^r) of what is left is a
// polynomial, and 2^n is put back by exponents.
// f64 is within 1 ulp, expm1 and cosh 2, sinh 3; f32 within 0.52.
#include "kernel/math_parts.h"

#include <math.h>

// (e^r − 1 − r) / r² on ±ln 2 / 2: within 2^-61 and 2^-33 of e^r.
static const double full[] = {0.5,
                              0.16666666666666666,
                              0.04166666666666668,
                              0.008333333333333333,
                              0.0013888888888879004,
                              0.00019841269841263252,
                              2.480158733663095e-05,
                              2.7557319247344507e-06,
                              2.755726307730941e-07,
                              2.5052070959803662e-08,
                              2.091821231913398e-09,
                              1.6086677666787362e-10};
static const double brief_terms[] = {0.500000001353873,     0.16666666681704215,
                                     0.04166646419740569,   0.008333310844647862,
                                     0.0013933730715792083, 0.00019891080463998843};
static const k_coefficients terms = K_COEFFICIENTS(full, brief_terms);

#define LN2_HIGH 0x1.62e42feep-1 // 32 bits: n·LN2_HIGH is exact
#define LN2_LOW 0x1.a39ef35793c76p-33

// e^r − 1 for |r| within ln 2 / 2.
static k_value exp_less_one(k_builder *b, k_value r, bool brief) {
  return k_near_fma(b, k_mul(b, r, r), k_series(b, r, &terms, brief), r);
}

// x = n·ln 2 + r.
static k_value reduce(k_builder *b, k_value x, k_value *n) {
  k_value whole = k_nearest(b, k_mul(b, x, k_real(b, x, 0x1.71547652b82fep+0)), n);
  return k_near_fma(b, whole, k_real(b, x, -LN2_LOW),
                    k_near_fma(b, whole, k_real(b, x, -LN2_HIGH), x));
}

k_value k_exp2_of_parts(k_builder *b, k_value n, k_value r, bool brief) {
  k_pair f = k_two_product(b, r, k_real(b, r, 0x1.62e42fefa39efp-1)); // times ln 2
  k_pair sum = k_fast_two_sum(b, k_real(b, r, 1), f.high);
  k_value tail = k_mul(b, k_mul(b, f.high, f.high), k_series(b, f.high, &terms, brief));
  if (!brief) tail = k_add(b, sum.low, k_add(b, f.low, tail));
  k_value result = k_add(b, sum.high, tail);
  return brief ? k_mul(b, result, k_power_of_two(b, n)) : k_scale(b, result, n);
}

static k_value exp2_f64(k_builder *b, k_value x, bool brief) {
  k_value n, clamped = k_clamp(b, x, brief ? -160 : -1080, brief ? 130 : 1025);
  k_value whole = k_nearest(b, clamped, &n);
  return k_exp2_of_parts(b, n, k_sub(b, clamped, whole), brief);
}

k_value k_exp2(k_builder *b, k_value x) {
  return k_in_f64(b, x, exp2_f64);
}

static k_value tiny_or(k_builder *b, k_value x, k_value result) {
  k_value tiny = k_less_than(b, k_unary(b, K_ABS, x), 0x1p-60);
  return k_select(b, tiny, x, result); // its own value to all bits; -0 too
}

// Of e^x − 1 the half: 2^(n-1) is finite where the result is.
static k_value expm1_f64(k_builder *b, k_value x, bool brief) {
  k_value n, clamped = k_clamp(b, x, -60, brief ? 90 : 710), r = reduce(b, clamped, &n);
  k_value half_power = k_power_of_two(b, k_sub(b, n, k_whole(b, x, 1)));
  k_value rest = k_sub(b, half_power, k_real(b, x, 0.5));
  k_value half = k_near_fma(b, half_power, exp_less_one(b, r, brief), rest);
  return tiny_or(b, x, k_add(b, half, half));
}

k_value k_expm1(k_builder *b, k_value x) {
  return k_in_f64(b, x, expm1_f64);
}

// A quarter of e^|x|, and of e^|x| − 1.
static k_value quarter_exp(k_builder *b, k_value x, bool brief, k_value *less_one) {
  k_value n, r = reduce(b, k_clamp(b, k_unary(b, K_ABS, x), 0, brief ? 95 : 710.6), &n);
  k_value power = k_power_of_two(b, k_sub(b, n, k_whole(b, x, 2)));
  k_value above = exp_less_one(b, r, brief);
  *less_one = k_near_fma(b, power, above, k_sub(b, power, k_real(b, x, 0.25)));
  return k_near_fma(b, power, above, power);
}

// With u = e^|x| − 1: (u + u/(u+1)) / 2, in which nothing cancels.
static k_value sinh_f64(k_builder *b, k_value x, bool brief) {
  k_value u, quarter = quarter_exp(b, x, brief, &u), fourth = k_real(b, x, 0.25);
  k_value half = k_near_fma(b, k_binary(b, K_DIV, u, quarter), fourth, u);
  return tiny_or(b, x, k_copysign(b, k_add(b, half, half), x));
}

k_value k_sinh(k_builder *b, k_value x) {
  return k_in_f64(b, x, sinh_f64);
}

static k_value cosh_f64(k_builder *b, k_value x, bool brief) {
  k_value u, quarter = quarter_exp(b, x, brief, &u);
  k_value half = k_add(b, quarter, k_binary(b, K_DIV, k_real(b, x, 0.0625), quarter));
  return k_add(b, half, half);
}

k_value k_cosh(k_builder *b, k_value x) {
  return k_in_f64(b, x, cosh_f64);
}
