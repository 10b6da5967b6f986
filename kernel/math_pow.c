// pow, cbrt, hypot, and powers of integers.
//
//   pow     2^(y·log2 |x|), of the logarithm 65 bits are right, in f32 31; f32 in f64 instead where
//           x, y or the power is none of the normal numbers; by roots where y is 1/4, 1/2, 3/4 or
//           what is as far below 0
//   cbrt    a polynomial of the mantissa and one step of Newton; f32: a guess by bits of x^(-1/3)
//   hypot   of operands scaled away from overflow
//
// f64 is within 1 ulp; f32 within 0.55, pow 1.5, cbrt 0.75.
#include "kernel/math_parts.h"

#include <math.h>

// -- pow -----------------------------------------------------------------------------------------

// (2·atanh(s) − 2s − 2s³/3) / s⁵ as a polynomial of s².
static const double tail[] = {0.4,
                              0.28571428571429364,
                              0.22222222221655885,
                              0.18181818335392802,
                              0.1538459496251843,
                              0.1333480469384731,
                              0.11706236339491206,
                              0.11723178623876518};
// For f32: log2((1 + s)/(1 − s)) / s as one of s², within 2^-37 of it, and 2^r on ±1/2,
// within 2^-29, of which powers of two are exact: tools/fit_math.py.
#define TWICE_LOG2_E 2.8853900817779268
static const double brief_log2[] = {TWICE_LOG2_E, 0.961796679, 0.577082857, 0.411706007,
                                    0.34022514};
static const double brief_exp2[] = {
    1, 0.693147203, 0.240226479, 0.0555033247, 0.00961843762, 0.00133988739, 0.000153533029};

static k_pair pair_product(k_builder *b, k_pair x, k_pair y) {
  k_pair product = k_two_product(b, x.high, y.high);
  k_value low = k_near_fma(b, x.high, y.low, product.low);
  return k_fast_two_sum(b, product.high, k_near_fma(b, x.low, y.high, low));
}

// log(m) for m within [sqrt(1/2), sqrt(2)): 2s + s³·(2/3 + s²·tail(s²)), s = (m−1)/(m+1).
static k_pair log_of_mantissa(k_builder *b, k_value m) {
  k_value one = k_real(b, m, 1), f = k_sub(b, m, one);
  k_pair below = k_two_sum(b, one, m), s;
  s.high = k_binary(b, K_DIV, f, below.high);
  k_value rest = k_near_fma(b, k_unary(b, K_NEG, s.high), below.high, f);
  rest = k_near_fma(b, k_unary(b, K_NEG, s.high), below.low, rest);
  s.low = k_binary(b, K_DIV, rest, below.high);
  k_pair z = pair_product(b, s, s);
  k_value series = k_polynomial(b, z.high, tail, sizeof tail / sizeof *tail - 1);
  k_pair two_thirds = {k_real(b, m, 0x1.5555555555555p-1), k_real(b, m, 0x1.5555555555555p-55)};
  k_pair sum = k_fast_two_sum(b, two_thirds.high, k_mul(b, z.high, series));
  sum.low = k_add(b, sum.low, two_thirds.low);
  k_pair cube = pair_product(b, pair_product(b, z, s), sum);
  k_value twice = k_add(b, s.high, s.high);
  k_pair log = k_fast_two_sum(b, twice, cube.high);
  log.low = k_add(b, log.low, k_add(b, k_add(b, s.low, s.low), cube.low));
  return log;
}

// x, finite and positive, as 2^e·m.
static k_value split(k_builder *b, k_value x, k_value *e) {
  k_value m, exponent = k_exponent(b, x, &m);
  k_value above = k_lt(b, k_real(b, x, 0x1.6a09e667f3bcdp+0), m);
  m = k_select(b, above, k_mul(b, m, k_real(b, x, 0.5)), m);
  k_value more = k_select(b, above, k_whole(b, x, 1), k_whole(b, x, 0));
  *e = k_cast(b, LEAT_f64, k_add(b, exponent, more));
  return m;
}

static k_pair log2_pair(k_builder *b, k_value x) {
  k_value e, m = split(b, x, &e);
  k_pair log2_e = {k_real(b, x, 0x1.71547652b82fep+0), k_real(b, x, 0x1.777d0ffda0d24p-56)};
  k_pair log = pair_product(b, log_of_mantissa(b, m), log2_e);
  k_pair sum = k_two_sum(b, e, log.high);
  return k_fast_two_sum(b, sum.high, k_add(b, sum.low, log.low));
}

// |x|^y for finite positive |x|, or NaN.
static k_value magnitude_f64(k_builder *b, k_value x, k_value y) {
  k_pair log = log2_pair(b, x);
  k_value high = k_mul(b, y, log.high), n;
  k_value low = k_near_fma(b, y, log.high, k_unary(b, K_NEG, high));
  low = k_near_fma(b, y, log.low, low);
  k_value tame = k_lt(b, k_unary(b, K_ABS, high), k_real(b, x, 2000));
  low = k_select(b, tame, low, k_real(b, x, 0));
  high = k_clamp(b, high, -1100, 1100);
  k_value whole = k_nearest(b, high, &n);
  return k_exp2_of_parts(b, n, k_add(b, k_sub(b, high, whole), low), false);
}

static k_value either(k_builder *b, k_value x, k_value y) {
  return k_binary(b, K_OR, x, y);
}

// C99's special cases but for the sign of x: 1 where |x| is 1 or y is 0 whatever the other is, 0 or
// infinite where |x| or y is.
static k_value special_cases(k_builder *b, k_value x, k_value y, k_value power) {
  k_value zero = k_real(b, x, 0), one = k_real(b, x, 1), infinity = k_real(b, x, INFINITY);
  k_value grows = k_lt(b, one, x);
  k_value endless = either(b, k_binary(b, K_EQ, x, zero), k_binary(b, K_EQ, x, infinity));
  endless = either(b, endless, k_binary(b, K_EQ, k_unary(b, K_ABS, y), infinity));
  k_value limit = k_select(b, k_binary(b, K_EQ, grows, k_lt(b, zero, y)), infinity, zero);
  power = k_select(b, endless, limit, power);
  k_value unordered = either(b, k_is_nan(b, x), k_is_nan(b, y));
  power = k_select(b, unordered, k_real(b, x, NAN), power);
  k_value unit = either(b, k_binary(b, K_EQ, x, one), k_binary(b, K_EQ, y, zero));
  return k_select(b, unit, one, power);
}

// 2^power; n is added to the exponent of 2^r.
static k_value brief_power(k_builder *b, k_value power, k_value low) {
  bool single = power->dtype == LEAT_f32;
  k_value shifter = k_real(b, power, single ? 0x1.8p23 : 0x1.8p52);
  k_value shifted = k_add(b, power, shifter), r = k_sub(b, power, k_sub(b, shifted, shifter));
  if (low) r = k_add(b, r, low);
  k_value n = k_binary(b, K_SHL, k_bits(b, shifted), k_whole(b, power, single ? 23 : 52));
  n = k_add(b, k_bits(b, k_polynomial(b, r, brief_exp2, 6)), n);
  return k_bitcast(b, power->dtype, n);
}

// |x|^y of any f32, in f64: 28 bits are enough.
static k_value any_magnitude_f32(k_builder *b, k_value x, k_value y) {
  k_value e, f = k_log_split_normal(b, k_cast(b, LEAT_f64, x), &e);
  k_value s = k_binary(b, K_DIV, f, k_add(b, f, k_real(b, f, 2))), z = k_mul(b, s, s);
  k_value log = k_near_fma(b, s, k_polynomial(b, z, brief_log2, 4), e);
  k_value power = k_clamp(b, k_mul(b, k_cast(b, LEAT_f64, y), log), -200, 200);
  return special_cases(b, x, y, k_cast(b, LEAT_f32, brief_power(b, power, NULL)));
}

// log2(x) of a normal f32: e + s·(2·log2 e + z·series(z)), z = s², of which what roundings lose is
// kept but for that of the series.
static k_pair log2_pair_f32(k_builder *b, k_value x) {
  k_value e, f = k_log_split_normal(b, x, &e), two = k_real(b, x, 2);
  k_pair below = k_fast_two_sum(b, two, f);
  k_value inverse = k_binary(b, K_DIV, k_real(b, x, 1), below.high), s = k_mul(b, f, inverse);
  k_value minus = k_unary(b, K_NEG, s), rest = k_near_fma(b, minus, below.high, f);
  k_value s_low = k_mul(b, k_near_fma(b, minus, below.low, rest), inverse);
  k_pair z = k_two_product(b, s, s);
  k_value series = k_polynomial(b, z.high, brief_log2 + 1, 3);
  k_pair tail = k_two_product(b, z.high, series);
  tail.low = k_near_fma(b, z.low, series, tail.low);
  k_pair factor = k_fast_two_sum(b, k_real(b, x, (float)TWICE_LOG2_E), tail.high);
  tail.low = k_add(b, tail.low, k_real(b, x, TWICE_LOG2_E - (float)TWICE_LOG2_E));
  k_value slope = k_near_fma(b, tail.high, two, factor.high); // of log2 by s, for s_low
  k_pair log = k_two_product(b, s, factor.high);
  log.low = k_near_fma(b, s, k_add(b, factor.low, tail.low), log.low);
  k_pair sum = k_fast_two_sum(b, e, log.high);
  return (k_pair){sum.high, k_add(b, sum.low, k_near_fma(b, s_low, slope, log.low))};
}

// x, in f32, has these bits or more, and is finite.
static k_value is_at_least(k_builder *b, k_value x, int64_t bits) {
  k_value offset = k_sub(b, k_bits(b, x), k_whole(b, x, bits));
  k_value count = k_int(b, LEAT_u32, 1, 0x7f800000 - bits);
  return k_lt(b, k_bitcast(b, LEAT_u32, offset), count);
}

static k_value normal_power_f32(k_builder *b, k_value x, k_value y, k_value *usual) {
  k_pair log = log2_pair_f32(b, x), power = k_two_product(b, y, log.high);
  *usual = is_at_least(b, x, 0x00800000);
  *usual = k_binary(b, K_AND, *usual, k_less_than(b, k_unary(b, K_ABS, power.high), 125));
  return brief_power(b, power.high, k_near_fma(b, y, log.low, power.low));
}

// The square root, and what rounding it lost: of `x`, beside which there is `low`.
static k_pair root_pair(k_builder *b, k_value x, k_value low) {
  k_value root = k_unary(b, K_SQRT, x), rest = k_near_fma(b, k_unary(b, K_NEG, root), root, x);
  if (low) rest = k_add(b, rest, low);
  return (k_pair){root, k_binary(b, K_DIV, k_mul(b, rest, k_real(b, x, 0.5)), root)};
}

// x to so many quarters, one to three of either sign, by roots.
static k_value quarter_power_f32(k_builder *b, k_value x, int quarters, k_value *usual) {
  k_pair half = root_pair(b, x, NULL), power = half;
  *usual = is_at_least(b, x, 0x0d800000); // 2^-100: what is lost is normal, too
  if (quarters % 2) power = root_pair(b, half.high, half.low);
  if (quarters == 3 || quarters == -3) power = pair_product(b, half, power);
  if (quarters > 0) return k_add(b, power.high, power.low);
  k_value one = k_real(b, x, 1), inverse = k_binary(b, K_DIV, one, power.high);
  k_value minus = k_unary(b, K_NEG, inverse), rest = k_near_fma(b, minus, power.high, one);
  rest = k_near_fma(b, minus, power.low, rest);
  return k_near_fma(b, inverse, rest, inverse);
}

// Of an exponent that is such a constant; else 0.
static int quarters_of(k_value y) {
  if (y->op != K_CONST) return 0;
  double quarters = y->imm.f * 4;
  return quarters == floor(quarters) && fabs(quarters) <= 3 ? (int)quarters : 0;
}

// |x|^y in f32. Vectors with a lane that is not normal, or whose power may not be, are computed in
// f64 too, for those lanes alone.
static k_value magnitude_f32(k_builder *b, k_value x, k_value y) {
  int quarters = quarters_of(y);
  k_value usual, result = quarters ? quarter_power_f32(b, x, quarters, &usual)
                                   : normal_power_f32(b, x, y, &usual);
  k_instr *branch = k_if_begin(b, k_any(b, k_unary(b, K_NOT, usual)));
  k_value all = k_select(b, usual, result, any_magnitude_f32(b, x, y));
  k_if_else(b, &all, 1);
  k_if_end(b, &result, 1);
  return k_result(b, branch, 0);
}

static k_value is_whole(k_builder *b, k_value x) {
  return k_binary(b, K_EQ, k_unary(b, K_FLOOR, x), x);
}

// |x|^y as x^y, where some lane of x has a sign: it stays where y is odd, and a y that is not whole
// gives NaN, but of zero and infinity.
static k_value with_sign(k_builder *b, k_value x, k_value y, k_value power) {
  k_value sign = k_sign_bit(b, x), zero = k_whole(b, x, 0);
  k_instr *branch = k_if_begin(b, k_any(b, k_binary(b, K_NE, sign, zero)));
  k_value whole = is_whole(b, y), half = is_whole(b, k_mul(b, y, k_real(b, x, 0.5)));
  k_value odd = k_binary(b, K_AND, whole, k_unary(b, K_NOT, half));
  k_value result = k_or_bits(b, power, k_select(b, odd, sign, zero));
  k_value below = k_binary(b, K_AND, k_less_than(b, x, 0), k_lt(b, k_real(b, x, -INFINITY), x));
  k_value is_nan = k_binary(b, K_AND, below, k_unary(b, K_NOT, whole));
  result = k_select(b, is_nan, k_real(b, x, NAN), result);
  k_if_else(b, &result, 1);
  k_if_end(b, &power, 1);
  return k_result(b, branch, 0);
}

static k_value pow_float(k_builder *b, k_value x, k_value y) {
  k_value magnitude = k_unary(b, K_ABS, x), power;
  if (x->dtype == LEAT_f32)
    power = magnitude_f32(b, magnitude, y);
  else
    power = special_cases(b, magnitude, y, magnitude_f64(b, magnitude, y));
  return with_sign(b, x, y, power);
}

// -- Powers of integers --------------------------------------------------------------------------

// By squaring; wraps. A negative exponent gives 1/x^|y| truncated: 0 but for x = 1 and -1.
static k_value pow_int(k_builder *b, k_value x, k_value y) {
  bool is_signed = leat_dtype_kind_of(x->dtype) == LEAT_KIND_SIGNED;
  k_value zero = k_int(b, x->dtype, x->lanes, 0), one = k_int(b, x->dtype, x->lanes, 1);
  k_value start[] = {one, x, is_signed ? k_binary(b, K_MAX, y, zero) : y};
  k_instr *loop = k_while_begin(b, start, 3);
  k_value power = k_loop_carried(loop, 0), square = k_loop_carried(loop, 1);
  k_value left = k_loop_carried(loop, 2);
  k_while_do(b, k_any(b, k_binary(b, K_NE, left, zero)));
  k_value odd = k_binary(b, K_NE, k_binary(b, K_AND, left, one), zero);
  power = k_select(b, odd, k_mul(b, power, square), power);
  k_while_end(b, (k_value[]){power, k_mul(b, square, square), k_binary(b, K_SHR, left, one)}, 3);
  k_value result = k_result(b, loop, 0);
  if (!is_signed) return result;
  k_value minus = k_int(b, x->dtype, x->lanes, -1);
  k_value is_odd = k_binary(b, K_NE, k_binary(b, K_AND, y, one), zero);
  k_value inverse = k_select(b, k_binary(b, K_EQ, x, minus), k_select(b, is_odd, minus, one), zero);
  inverse = k_select(b, k_binary(b, K_EQ, x, one), one, inverse);
  return k_select(b, k_lt(b, y, zero), inverse, result);
}

k_value k_pow(k_builder *b, k_value x, k_value y) {
  bool is_float = leat_dtype_kind_of(x->dtype) == LEAT_KIND_FLOAT;
  return is_float ? pow_float(b, x, y) : pow_int(b, x, y);
}

// -- cbrt ----------------------------------------------------------------------------------------

// The cube root on [1, 2]: within 2^-30.
static const double root[] = {0.3941295457626128,   1.2467100346858004,   -1.3927365213975718,
                              1.4086176975034332,   -1.0586550266670098,  0.5692796583404337,
                              -0.21251451676850144, 0.052301582081578195, -0.00763300655056187,
                              0.0005005537972978773};

// (1 − h)^(-1/3) for |h| within 0.1075, within 2^-18: tools/fit_math.py.
static const double third_root[] = {0.999997568, 0.333327321, 0.223900774, 0.174745165};

static k_value cbrt_f64(k_builder *b, k_value x) {
  k_value m, exponent = k_exponent(b, x, &m);
  k_value e = k_cast(b, LEAT_f64, exponent), n; // 3n + 0, 1 or 2
  k_value third =
      k_unary(b, K_FLOOR, k_mul(b, k_add(b, e, k_real(b, x, 0.5)), k_real(b, x, 1.0 / 3)));
  k_value left = k_near_fma(b, third, k_real(b, x, -3), e);
  k_nearest(b, third, &n);
  k_value is_zero = k_less_than(b, left, 0.5), is_one = k_less_than(b, left, 1.5);
  k_value factor =
      k_select(b, is_one, k_real(b, x, 0x1.428a2f98d728bp+0), k_real(b, x, 0x1.965fea53d6e3dp+0));
  factor = k_select(b, is_zero, k_real(b, x, 1), factor);
  k_value y = k_mul(b, k_polynomial(b, m, root, sizeof root / sizeof *root - 1), factor);
  k_value power = k_select(b, is_one, k_real(b, x, 2), k_real(b, x, 4)), square = k_mul(b, y, y);
  k_value a = k_mul(b, m, k_select(b, is_zero, k_real(b, x, 1), power));
  k_value over = k_near_fma(b, square, y, k_unary(b, K_NEG, a)); // y − (y³ − a) / 3y²
  y = k_sub(b, y, k_binary(b, K_DIV, over, k_mul(b, square, k_real(b, x, 3))));
  return k_mul(b, y, k_power_of_two(b, n));
}

// A third of the exponent is a third of all bits: 21845/2^16 of them, from a number that makes the
// greatest |1 − x·r³| the least, gives r near x^(-1/3). y = x·r² has what rounding lost put back.
static k_value cbrt_f32(k_builder *b, k_value x) {
  k_value small = k_less_than(b, x, 0x1p-96);
  x = k_select(b, small, k_mul(b, x, k_real(b, x, 0x1p48)), x);
  k_value high = k_binary(b, K_SHR, k_bits(b, x), k_whole(b, x, 16));
  k_value third = k_mul(b, high, k_whole(b, x, 21845));
  k_value r = k_bitcast(b, x->dtype, k_sub(b, k_whole(b, x, 0x54a1c000), third));
  k_value minus = k_mul(b, k_mul(b, k_unary(b, K_NEG, x), r), r);
  k_value h = k_near_fma(b, minus, r, k_real(b, x, 1));
  r = k_mul(b, r, k_polynomial(b, h, third_root, 3));
  k_value square = k_mul(b, r, r), y = k_mul(b, x, square);
  k_value rest = k_near_fma(b, k_unary(b, K_NEG, k_mul(b, y, y)), y, x);
  y = k_near_fma(b, k_mul(b, rest, k_real(b, x, 1.0 / 3)), square, y);
  return k_mul(b, y, k_select(b, small, k_real(b, x, 0x1p-16), k_real(b, x, 1)));
}

k_value k_cbrt(k_builder *b, k_value x) {
  k_value magnitude = k_unary(b, K_ABS, x);
  k_value root = x->dtype == LEAT_f32 ? cbrt_f32(b, magnitude) : cbrt_f64(b, magnitude);
  k_value plain =
      k_binary(b, K_AND, k_less_than(b, magnitude, INFINITY), k_lt(b, k_real(b, x, 0), magnitude));
  return k_select(b, plain, k_copysign(b, root, x), k_add(b, x, x));
}

// -- hypot ---------------------------------------------------------------------------------------

// Infinite where either is, even beside NaN.
static k_value hypot_f64(k_builder *b, k_value x, k_value y, bool brief) {
  k_value infinity = k_real(b, x, INFINITY), one = k_real(b, x, 1), scale = one, back = one;
  x = k_unary(b, K_ABS, x);
  y = k_unary(b, K_ABS, y);
  k_value endless =
      k_binary(b, K_OR, k_binary(b, K_EQ, x, infinity), k_binary(b, K_EQ, y, infinity));
  k_value larger = k_select(b, k_lt(b, x, y), y, x), smaller = k_select(b, k_lt(b, x, y), x, y);
  if (!brief) {
    k_value big = k_lt(b, k_real(b, x, 0x1p500), larger), small = k_less_than(b, larger, 0x1p-450);
    scale =
        k_select(b, big, k_real(b, x, 0x1p-600), k_select(b, small, k_real(b, x, 0x1p600), one));
    back = k_select(b, big, k_real(b, x, 0x1p600), k_select(b, small, k_real(b, x, 0x1p-600), one));
    larger = k_mul(b, larger, scale);
    smaller = k_mul(b, smaller, scale);
  }
  k_value square = k_near_fma(b, larger, larger, k_mul(b, smaller, smaller));
  k_value result = k_mul(b, k_unary(b, K_SQRT, square), back);
  return k_select(b, endless, infinity, result);
}

k_value k_hypot(k_builder *b, k_value x, k_value y) {
  return k_in_f64_2(b, x, y, hypot_f64);
}
