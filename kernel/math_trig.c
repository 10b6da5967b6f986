// sin, cos and tan. x = n·π/2 + r with |r| within π/4: with π/2 in three parts while n is small
// (Cody and Waite), else, if any lane has such an x, lane by lane with the bits of 2/π that matter
// (Payne and Hanek), so that every finite x has all its bits. sin r and cos r are polynomials; n
// says which of them, and its sign.
// f64 is within 1 ulp, tan 2.5; f32 within 0.51.
#include "kernel/math_parts.h"

#include <math.h>

// (sin r − r) / r³ and (cos r − 1 + r²/2) / r⁴ as polynomials of r².
static const double sin_full[] = {
    -0.16666666666666666,  0.008333333333333331,   -0.0001984126984126504, 2.755731921932058e-06,
    -2.50521062259944e-08, 1.6058530596645953e-10, -7.586636882825159e-13};
static const double sin_brief[] = {-0.16666666663844049, 0.008333331870341349,
                                   -0.00019840084376422702, 2.724962008007533e-06};
static const double cos_full[] = {
    0.041666666666666664,   -0.0013888888888888887,  2.4801587301584632e-05, -2.755731922139249e-07,
    2.0876755787492604e-09, -1.1470460319209511e-11, 4.745838412531023e-14};
static const double cos_brief[] = {0.041666666664311826, -0.0013888887668370663,
                                   2.480059840835012e-05, -2.730070403808665e-07};
static const k_coefficients sin_terms = K_COEFFICIENTS(sin_full, sin_brief);
static const k_coefficients cos_terms = K_COEFFICIENTS(cos_full, cos_brief);

#define TWO_OVER_PI 0x1.45f306dc9c883p-1
#define HALF_PI_HIGH 0x1.921fb54442d18p+0
#define HALF_PI_LOW 0x1.1a62633145c07p-54
// π/2 again, of which the first two have 33 bits: their products with a small n are exact.
#define HALF_PI_1 0x1.921fb54400000p+0
#define HALF_PI_2 0x1.0b4611a600000p-34
#define HALF_PI_3 0x1.3198a2e037073p-69
#define MOST_FULL 0x1p19  // |x| that three parts are enough for
#define MOST_BRIEF 0x1p30 // and, of an f32, two

// -- Large arguments -----------------------------------------------------------------------------

enum { WORDS = 41, TAKEN = 7, ZEROS = 3 };

// 2/π in 32 bits a word, after ZEROS words of 0.
static const uint32_t two_over_pi[WORDS] = {
    0,          0,          0,          0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
    0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea,
    0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41,
    0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b,
    0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab};

// TAKEN words of 2/π from its bit `begin` on; what is before stands for multiples of 4 in x·2/π.
static void take_words(k_builder *b, const k_buffer *table, k_value begin, k_value *out) {
  k_value first = k_binary(b, K_SHR, begin, k_i64(b, 5)), raw[TAKEN + 1];
  k_value shift = k_bitcast(b, LEAT_u64, k_binary(b, K_AND, begin, k_i64(b, 31)));
  for (int i = 0; i <= TAKEN; i++)
    raw[i] = k_cast(b, LEAT_u64, k_load(b, table, k_add(b, first, k_i64(b, i)), 1, NULL));
  for (int i = 0; i < TAKEN; i++) {
    k_value both = k_binary(b, K_OR, k_binary(b, K_SHL, raw[i], k_u64(b, 32)), raw[i + 1]);
    out[i] = k_low_half(b, k_high_half(b, k_binary(b, K_SHL, both, shift)));
  }
}

// The fraction of mantissa·0.g₁g₂g₃…: 128 bits in two words. A column is of weight 2^-32(i+1).
static void fraction_of_product(k_builder *b, k_value mantissa, const k_value *g, k_value *out) {
  k_value low = k_low_half(b, mantissa), high = k_high_half(b, mantissa), carry = k_u64(b, 0), t[5];
  for (int i = 4; i >= 0; i--) {
    k_value sum = k_add(b, carry, k_low_half(b, k_mul(b, low, g[i])));
    k_value after = k_mul(b, high, g[i + 1]);
    sum = k_add(b, sum, k_add(b, k_high_half(b, k_mul(b, low, g[i + 1])), k_low_half(b, after)));
    sum = k_add(b, sum, k_high_half(b, k_mul(b, high, g[i + 2])));
    t[i] = k_low_half(b, sum);
    carry = k_high_half(b, sum);
  }
  for (int i = 0; i < 2; i++)
    out[i] = k_binary(b, K_OR, k_binary(b, K_SHL, t[2 * i], k_u64(b, 32)), t[2 * i + 1]);
}

// |x| scaled by 2/π: its nearest whole number modulo 4, and what is left times π/2.
static k_pair reduce_lane(k_builder *b, const k_buffer *table, k_value x, k_value *n) {
  k_value bits = k_bits(b, x), fraction[2], g[TAKEN];
  k_value exponent = k_sub(b, k_binary(b, K_SHR, bits, k_i64(b, 52)), k_i64(b, 1075));
  k_value mantissa = k_binary(b, K_AND, bits, k_i64(b, ((int64_t)1 << 52) - 1));
  mantissa = k_binary(b, K_OR, mantissa, k_i64(b, (int64_t)1 << 52));
  take_words(b, table, k_add(b, exponent, k_i64(b, 32 * ZEROS - 2)), g);
  fraction_of_product(b, k_bitcast(b, LEAT_u64, mantissa), g, fraction);
  k_value high = fraction[0], low = fraction[1]; // of a turn: the first two bits are quarters
  k_value rounded = k_add(b, high, k_u64(b, (uint64_t)1 << 61));
  *n = k_bitcast(b, LEAT_i64, k_binary(b, K_SHR, rounded, k_u64(b, 62)));
  high = k_binary(b, K_OR, k_binary(b, K_SHL, high, k_u64(b, 2)),
                  k_binary(b, K_SHR, low, k_u64(b, 62)));
  low = k_binary(b, K_SHL, low, k_u64(b, 2));
  k_value top = k_binary(b, K_SHR, k_bitcast(b, LEAT_i64, high), k_i64(b, 32)); // signed
  k_pair f =
      k_fast_two_sum(b, k_mul(b, k_cast(b, LEAT_f64, top), k_real(b, x, 0x1p-32)),
                     k_mul(b, k_cast(b, LEAT_f64, k_bitcast(b, LEAT_i64, k_low_half(b, high))),
                           k_real(b, x, 0x1p-64)));
  k_value rest = k_cast(b, LEAT_f64, k_bitcast(b, LEAT_i64, k_binary(b, K_SHR, low, k_u64(b, 1))));
  f.low = k_near_fma(b, rest, k_real(b, x, 0x1p-127), f.low);
  k_value half_pi = k_real(b, x, HALF_PI_HIGH);
  k_pair r = k_two_product(b, f.high, half_pi);
  r.low = k_near_fma(b, f.high, k_real(b, x, HALF_PI_LOW), k_near_fma(b, f.low, half_pi, r.low));
  return k_fast_two_sum(b, r.high, r.low);
}

static k_value load_lanes(k_builder *b, const k_buffer *from, int lanes) {
  return k_load(b, from, k_i64(b, 0), lanes, NULL);
}

// All lanes of |x|, one after the other, through memory. NaN for infinity.
static void reduce_large(k_builder *b, k_value x, k_value *out) {
  const k_buffer *table = k_local(b, K_SPACE_REGISTER, LEAT_u32, WORDS);
  const k_buffer *high = k_local(b, K_SPACE_REGISTER, LEAT_f64, x->lanes);
  const k_buffer *low = k_local(b, K_SPACE_REGISTER, LEAT_f64, x->lanes);
  const k_buffer *turns = k_local(b, K_SPACE_REGISTER, LEAT_i64, x->lanes);
  for (int i = 0; i < WORDS; i++)
    k_store(b, table, k_i64(b, i), k_int(b, LEAT_u32, 1, two_over_pi[i]), NULL);
  k_value tame = k_clamp(b, x, 1, 0x1.fffffffffffffp1023); // NaN is no large lane
  tame = k_select(b, k_is_nan(b, x), k_real(b, x, 1), tame);
  k_store(b, high, k_i64(b, 0), tame, NULL);
  k_instr *loop = k_loop_begin(b, k_i64(b, 0), k_i64(b, x->lanes), 1, NULL, 0);
  k_value at = k_loop_index(loop), n;
  k_pair r = reduce_lane(b, table, k_load(b, high, at, 1, NULL), &n);
  k_store(b, high, at, r.high, NULL);
  k_store(b, low, at, r.low, NULL);
  k_store(b, turns, at, n, NULL);
  k_loop_end(b, NULL, 0);
  k_value finite = k_less_than(b, x, INFINITY);
  out[0] = k_select(b, finite, load_lanes(b, high, x->lanes), k_real(b, x, NAN));
  out[1] = load_lanes(b, low, x->lanes);
  out[2] = load_lanes(b, turns, x->lanes);
}

// -- Reduction -----------------------------------------------------------------------------------

static k_pair reduce_small(k_builder *b, k_value x, bool brief, k_value *n) {
  k_value whole = k_nearest(b, k_mul(b, x, k_real(b, x, TWO_OVER_PI)), n);
  if (brief) {
    k_value r = k_near_fma(b, whole, k_real(b, x, -HALF_PI_HIGH), x);
    return (k_pair){k_near_fma(b, whole, k_real(b, x, -HALF_PI_LOW), r), k_real(b, x, 0)};
  }
  k_value minus = k_unary(b, K_NEG, whole);
  k_value first = k_near_fma(b, minus, k_real(b, x, HALF_PI_1), x); // exact, as is the next product
  k_pair r = k_two_sum(b, first, k_mul(b, minus, k_real(b, x, HALF_PI_2)));
  return k_fast_two_sum(b, r.high, k_near_fma(b, minus, k_real(b, x, HALF_PI_3), r.low));
}

// |x| = n·π/2 + r. Lanes keep what the way that is enough for them gives, whatever the others are.
static k_pair reduce(k_builder *b, k_value x, bool brief, k_value *n) {
  k_value small[3], large[3], out[3];
  k_value is_large = k_lt(b, k_real(b, x, brief ? MOST_BRIEF : MOST_FULL), x);
  k_pair r = reduce_small(b, x, brief, &small[2]);
  small[0] = r.high;
  small[1] = r.low;
  k_instr *branch = k_if_begin(b, k_any(b, is_large));
  reduce_large(b, x, large);
  for (int i = 0; i < 3; i++) out[i] = k_select(b, is_large, large[i], small[i]);
  k_if_else(b, out, 3);
  k_if_end(b, small, 3);
  *n = k_result(b, branch, 2);
  return (k_pair){k_result(b, branch, 0), brief ? k_real(b, x, 0) : k_result(b, branch, 1)};
}

// -- Functions -----------------------------------------------------------------------------------

// sin(r + low) = sin r + low·cos r, of which 1 − r²/2 is enough.
static k_value sin_of(k_builder *b, k_pair r, bool brief) {
  k_value z = k_mul(b, r.high, r.high), cube = k_mul(b, z, r.high);
  k_value series = k_series(b, z, &sin_terms, brief);
  if (brief) return k_near_fma(b, cube, series, r.high);
  k_value tail = k_mul(b, cube, series);
  k_value cosine = k_near_fma(b, z, k_real(b, z, -0.5), k_real(b, z, 1));
  return k_add(b, r.high, k_near_fma(b, r.low, cosine, tail));
}

// 1 − r²/2 + …, with what the first difference lost.
static k_value cos_of(k_builder *b, k_pair r, bool brief) {
  k_value z = k_mul(b, r.high, r.high), one = k_real(b, z, 1);
  k_value series = k_series(b, z, &cos_terms, brief);
  if (brief) return k_near_fma(b, z, k_near_fma(b, z, series, k_real(b, z, -0.5)), one);
  k_value half = k_mul(b, z, k_real(b, z, 0.5)), rest = k_sub(b, one, half);
  k_value tail = k_mul(b, k_mul(b, z, z), series);
  k_value lost = k_sub(b, k_sub(b, one, rest), half);
  tail = k_near_fma(b, k_unary(b, K_NEG, r.high), r.low, tail);
  return k_add(b, rest, k_add(b, lost, tail));
}

static k_value is_odd(k_builder *b, k_value n) {
  k_value one = k_int(b, LEAT_i64, n->lanes, 1), zero = k_int(b, LEAT_i64, n->lanes, 0);
  return k_binary(b, K_NE, k_binary(b, K_AND, n, one), zero);
}

// The sign bit of a float where bit 1 of n is set.
static k_value sign_of_half_turn(k_builder *b, k_value n) {
  k_value half = k_binary(b, K_SHL, n, k_int(b, LEAT_i64, n->lanes, 62));
  return k_binary(b, K_AND, half, k_int(b, LEAT_i64, n->lanes, INT64_MIN));
}

static k_value flip(k_builder *b, k_value x, k_value sign) {
  return k_bitcast(b, LEAT_f64, k_binary(b, K_XOR, k_bits(b, x), sign));
}

static k_value sin_f64(k_builder *b, k_value x, bool brief) {
  k_value magnitude = k_unary(b, K_ABS, x), n;
  k_pair r = reduce(b, magnitude, brief, &n);
  k_value result = k_select(b, is_odd(b, n), cos_of(b, r, brief), sin_of(b, r, brief));
  k_value sign = k_binary(b, K_XOR, sign_of_half_turn(b, n), k_sign_bit(b, x));
  return flip(b, result, sign);
}

k_value k_sin(k_builder *b, k_value x) {
  return k_in_f64(b, x, sin_f64);
}

static k_value cos_f64(k_builder *b, k_value x, bool brief) {
  k_value magnitude = k_unary(b, K_ABS, x), n;
  k_pair r = reduce(b, magnitude, brief, &n);
  k_value result = k_select(b, is_odd(b, n), sin_of(b, r, brief), cos_of(b, r, brief));
  k_value next = k_add(b, n, k_int(b, LEAT_i64, n->lanes, 1)); // −sin, −cos: of n = 1 and 2
  return flip(b, result, sign_of_half_turn(b, next));
}

k_value k_cos(k_builder *b, k_value x) {
  return k_in_f64(b, x, cos_f64);
}

static k_value tan_f64(k_builder *b, k_value x, bool brief) {
  k_value magnitude = k_unary(b, K_ABS, x), n;
  k_pair r = reduce(b, magnitude, brief, &n);
  k_value sine = sin_of(b, r, brief), cosine = cos_of(b, r, brief), odd = is_odd(b, n);
  k_value above = k_select(b, odd, k_unary(b, K_NEG, cosine), sine);
  k_value result = k_binary(b, K_DIV, above, k_select(b, odd, sine, cosine));
  return flip(b, result, k_sign_bit(b, x));
}

k_value k_tan(k_builder *b, k_value x) {
  return k_in_f64(b, x, tan_f64);
}

k_value k_sin_pi(k_builder *b, k_value x, bool brief) {
  k_value n, whole = k_nearest(b, x, &n), r = k_sub(b, x, whole), half = k_real(b, x, 0.5);
  k_value magnitude = k_unary(b, K_ABS, r), far = k_lt(b, k_real(b, x, 0.25), magnitude);
  k_value part = k_select(b, far, k_sub(b, half, magnitude), magnitude); // exact, as r is
  k_pair angle = k_two_product(b, part, k_real(b, x, 2 * HALF_PI_HIGH));
  angle.low = k_near_fma(b, part, k_real(b, x, 2 * HALF_PI_LOW), angle.low);
  k_value result = k_select(b, far, cos_of(b, angle, brief), sin_of(b, angle, brief));
  k_value sign = k_binary(b, K_SHL, n, k_int(b, LEAT_i64, n->lanes, 63));
  return flip(b, k_copysign(b, result, r), sign);
}
