// asin, acos, atan and atan2.
//
//   atan    of y/x: a ratio within tan(π/8) after π/4 or π/2 is taken off, and a polynomial. f32,
//   in
//           f32: a polynomial of the ratio of the smaller to the larger
//   asin    a polynomial on 0 … 1/2; above, π/2 − 2·asin(sqrt((1 − x)/2))
//
// f64 is within 1 ulp, atan and atan2 2; f32 within 0.51, atan and atan2 1.5.
#include "kernel/math_parts.h"

#include <math.h>

// (atan t − t) / t³ and (asin x − x) / x³ as polynomials of the square.
static const double atan_twice[] = {
    -0.3333333333333333,   0.199999999999998,   -0.14285714285659326,  0.11111111105106705,
    -0.09090908751076636,  0.0769229630497447,  -0.06666423628069258,  0.058789145444006215,
    -0.052303478730160745, 0.04551108126325172, -0.034558092551413795, 0.01627194475162406};
static const double atan_single[] = {-0.333332991,  0.199985483, -0.142642416,  0.109521853,
                                     -0.0840344871, 0.057957565, -0.0311778169, 0.01091459,
                                     -0.00179361816}; // to 1: tools/fit_math.py
static const double asin_full[] = {
    0.16666666666666669, 0.07499999999998433,  0.04464285714635543,  0.030381944138531247,
    0.02237217294214989, 0.017352392720869973, 0.013971212973552933, 0.011479177415184906,
    0.01032281435018578, 0.005457506718640358, 0.01740087944269402,  -0.014851887071247204,
    0.028757851367421566};
static const double asin_brief[] = {
    0.16666666686085643,  0.07499992404401838,  0.04464766388813485, 0.030269138728589183,
    0.023611817008891752, 0.010574415516912909, 0.030974540371355073};
static const k_coefficients asin_terms = K_COEFFICIENTS(asin_full, asin_brief);

#define HALF_PI 0x1.921fb54442d18p+0
#define HALF_PI_LOW 0x1.1a62633145c07p-54

// atan(y / x) for y and x that are not negative, both zero or both infinite.
static k_value quadrant(k_builder *b, k_value y, k_value x) {
  k_value steep = k_lt(b, k_mul(b, x, k_real(b, x, 0x1.3504f333f9de6p+1)), y); // tan 3π/8
  k_value flat = k_binary(b, K_LE, y, k_mul(b, x, k_real(b, x, 0x1.a827999fcef32p-2)));
  k_value above = k_select(b, flat, y, k_sub(b, y, x)),
          below = k_select(b, flat, x, k_add(b, x, y));
  above = k_select(b, steep, k_unary(b, K_NEG, x), above);
  k_value t = k_binary(b, K_DIV, above, k_select(b, steep, y, below)), z = k_mul(b, t, t);
  k_value share = k_select(b, flat, k_real(b, x, 0), k_real(b, x, 0.5)); // of π/2
  share = k_select(b, steep, k_real(b, x, 1), share);
  k_value tail = k_mul(b, k_mul(b, z, t),
                       k_polynomial(b, z, atan_twice, sizeof atan_twice / sizeof *atan_twice - 1));
  tail = k_near_fma(b, share, k_real(b, x, HALF_PI_LOW), tail);
  k_pair sum = k_fast_two_sum(b, k_mul(b, share, k_real(b, x, HALF_PI)), t);
  return k_add(b, sum.high, k_add(b, sum.low, tail));
}

// atan(low / high) for 0 <= low <= high; π/4 of infinities.
static k_value octant_f32(k_builder *b, k_value low, k_value high) {
  k_value equal = k_binary(b, K_EQ, low, high), one = k_real(b, low, 1); // infinities, too
  k_value t = k_select(b, equal, one, k_binary(b, K_DIV, low, high));
  k_value z = k_mul(b, t, t);
  k_value series = k_polynomial(b, z, atan_single, sizeof atan_single / sizeof *atan_single - 1);
  return k_near_fma(b, k_mul(b, t, z), series, t);
}

// `share`, which is 0, π/2 or π rounded to f32, and what rounding it lost, with angle added.
static k_value turned_f32(k_builder *b, k_value share, k_value angle) {
  double rounded = (float)HALF_PI, lost = (HALF_PI - rounded) / rounded;
  return k_add(b, share, k_near_fma(b, share, k_real(b, share, lost), angle));
}

static k_value flip(k_builder *b, k_value condition, k_value x) {
  return k_select(b, condition, k_unary(b, K_NEG, x), x);
}

static k_value atan_f32(k_builder *b, k_value x) {
  k_value one = k_real(b, x, 1), magnitude = k_unary(b, K_ABS, x), steep = k_lt(b, one, magnitude);
  k_value angle =
      octant_f32(b, k_select(b, steep, one, magnitude), k_select(b, steep, magnitude, one));
  k_value share = k_select(b, steep, k_real(b, x, HALF_PI), k_real(b, x, 0));
  return k_copysign(b, turned_f32(b, share, flip(b, steep, angle)), x);
}

k_value k_atan(k_builder *b, k_value x) {
  if (x->dtype == LEAT_f32) return atan_f32(b, x);
  return k_copysign(b, quadrant(b, k_unary(b, K_ABS, x), k_real(b, x, 1)), x);
}

static k_value is_left(k_builder *b, k_value x) { // −0 too
  return k_lt(b, k_bits(b, x), k_whole(b, x, 0));
}

// The signs of zeros count: atan2(±0, -0) is ±π, atan2(±0, +0) is ±0.
static k_value atan2_f64(k_builder *b, k_value y, k_value x) {
  k_value one = k_real(b, x, 1), infinity = k_real(b, x, INFINITY), zero = k_real(b, x, 0);
  k_value height = k_unary(b, K_ABS, y), width = k_unary(b, K_ABS, x);
  k_value endless =
      k_binary(b, K_AND, k_binary(b, K_EQ, height, infinity), k_binary(b, K_EQ, width, infinity));
  k_value none =
      k_binary(b, K_AND, k_binary(b, K_EQ, height, zero), k_binary(b, K_EQ, width, zero));
  height = k_select(b, endless, one, height);
  width = k_select(b, k_binary(b, K_OR, endless, none), one, width);
  k_value larger = k_binary(b, K_MAX, height, width); // x + y must be finite, nothing denormal
  k_value big = k_lt(b, k_real(b, x, 0x1p1000), larger), small = k_less_than(b, larger, 0x1p-900);
  k_value scale = k_select(b, small, k_real(b, x, 0x1p100), one);
  scale = k_select(b, big, k_real(b, x, 0x1p-4), scale);
  k_value angle = quadrant(b, k_mul(b, height, scale), k_mul(b, width, scale));
  k_value back =
      k_sub(b, k_sub(b, angle, k_real(b, x, 2 * HALF_PI_LOW)), k_real(b, x, 2 * HALF_PI));
  angle = k_copysign(b, k_select(b, is_left(b, x), back, angle), y);
  k_value unordered = k_binary(b, K_OR, k_is_nan(b, x), k_is_nan(b, y));
  return k_select(b, unordered, k_real(b, x, NAN), angle);
}

static k_value atan2_f32(k_builder *b, k_value y, k_value x) {
  k_value height = k_unary(b, K_ABS, y), width = k_unary(b, K_ABS, x), zero = k_real(b, x, 0);
  k_value steep = k_lt(b, width, height), left = is_left(b, x);
  k_value low = k_select(b, steep, width, height), high = k_select(b, steep, height, width);
  high = k_select(b, k_binary(b, K_EQ, high, zero), k_real(b, x, 1), high);
  k_value share = k_select(b, left, k_real(b, x, 2 * HALF_PI), zero);
  share = k_select(b, steep, k_real(b, x, HALF_PI), share);
  k_value angle = flip(b, k_binary(b, K_XOR, steep, left), octant_f32(b, low, high));
  return k_copysign(b, turned_f32(b, share, angle), y);
}

k_value k_atan2(k_builder *b, k_value y, k_value x) {
  return x->dtype == LEAT_f32 ? atan2_f32(b, y, x) : atan2_f64(b, y, x);
}

// asin of |x| below a half, or of sqrt((1 − |x|) / 2) above: `high` and `low` add up to it.
static k_value half_asin(k_builder *b, k_value x, bool brief, k_value *large, k_value *low) {
  k_value magnitude = k_unary(b, K_ABS, x), half = k_real(b, x, 0.5), zero = k_real(b, x, 0);
  *large = k_lt(b, half, magnitude);
  k_value rest = k_mul(b, k_sub(b, k_real(b, x, 1), magnitude), half);
  k_value root = k_unary(b, K_SQRT, rest);
  k_value z = k_select(b, *large, rest, k_mul(b, x, x));
  k_value high = k_select(b, *large, root, magnitude);
  *low = k_mul(b, k_mul(b, high, z), k_series(b, z, &asin_terms, brief));
  if (brief) return high;
  k_value lost = k_near_fma(b, k_unary(b, K_NEG, root), root, rest); // of the root
  lost = k_binary(b, K_DIV, lost, k_add(b, root, root));
  k_value counts = k_binary(b, K_AND, *large, k_lt(b, zero, rest));
  *low = k_add(b, *low, k_select(b, counts, lost, zero));
  return high;
}

static k_value twice(k_builder *b, k_value x) {
  return k_add(b, x, x);
}

static k_value asin_f64(k_builder *b, k_value x, bool brief) {
  k_value large, low, high = half_asin(b, x, brief, &large, &low);
  k_pair rest = k_fast_two_sum(b, k_real(b, x, HALF_PI), k_unary(b, K_NEG, twice(b, high)));
  k_value tail = k_sub(b, k_real(b, x, HALF_PI_LOW), twice(b, low));
  k_value complement = k_add(b, rest.high, k_add(b, rest.low, tail));
  return k_copysign(b, k_select(b, large, complement, k_add(b, high, low)), x);
}

k_value k_asin(k_builder *b, k_value x) {
  return k_in_f64(b, x, asin_f64);
}

// 2·asin(sqrt((1 − x)/2)) near 1, π less it near −1, π/2 − asin x between.
static k_value acos_f64(k_builder *b, k_value x, bool brief) {
  k_value large, low, high = half_asin(b, x, brief, &large, &low);
  k_value is_negative = k_less_than(b, x, 0);
  k_value share = k_select(b, large, k_real(b, x, 2), k_real(b, x, 1)); // of π/2
  high =
      k_select(b, large, twice(b, high), k_select(b, is_negative, k_unary(b, K_NEG, high), high));
  low = k_select(b, large, twice(b, low), k_select(b, is_negative, k_unary(b, K_NEG, low), low));
  k_pair rest = k_fast_two_sum(b, k_mul(b, share, k_real(b, x, HALF_PI)), k_unary(b, K_NEG, high));
  k_value tail = k_sub(b, k_mul(b, share, k_real(b, x, HALF_PI_LOW)), low);
  k_value from_pi = k_add(b, rest.high, k_add(b, rest.low, tail));
  k_value near_one = k_binary(b, K_AND, large, k_unary(b, K_NOT, is_negative));
  return k_select(b, near_one, k_add(b, high, low), from_pi);
}

k_value k_acos(k_builder *b, k_value x) {
  return k_in_f64(b, x, acos_f64);
}
