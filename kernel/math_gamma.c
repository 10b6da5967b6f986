// lgamma and digamma. In f64, and for f32 below 0, where terms cancel:
//
//   lgamma   to 8.5 from lgamma(2 + t) = t·Q(t), |t| <= 1/2, and the logarithm of a product of x,
//            x ± 1, …; above by Stirling's series; below 0 by reflection
//   digamma  by its asymptotic series from 10 on, which smaller x come to by ten steps up
//
// and in f32 the same with Stirling's series from 2.5 on and digamma's from 4 (tools/fit_math.py).
// Within 4 ulp of f64 (of 1 where the value is smaller), but near the zeros and poles of negative
// x, where the error is 4 ulp of the terms that cancel; f32 within 4.5, or of 1 lgamma 1.2.
#include "kernel/math_parts.h"

#include <math.h>

static const double near_two_full[] = {
    0.42278433509846713,     0.3224670334241132,    -0.06735230105319809,    0.02058080842778463,
    -0.007385551028674025,   0.0028905103307344036, -0.0011927539116998623,  0.0005096695250242267,
    -0.00022315475858792396, 9.945750668729707e-05, -4.4926233824765536e-05, 2.0507292002946778e-05,
    -9.439526162114582e-06,  4.374223439135639e-06, -2.0389080195366975e-06, 9.584208680160086e-07,
    -4.5081597528954283e-07, 2.019380081934938e-07, -9.558345405882692e-08,  6.472600604062939e-08,
    -3.085845379804531e-08};
static const double near_two_brief[] = {
    0.4227843350984659,     0.32246703367408563,    -0.06735230116817803,  0.020580788483812756,
    -0.007385541842600872,  0.0028909539981829225,  -0.001192958350846575, 0.0005056691255402786,
    -0.0002213111572798269, 0.00011498274476236195, -5.207999787980662e-05};
// (lgamma(z) − (z − 1/2)·log z + z − log(2π)/2)·z as a polynomial of 1/z², z >= 8.5.
static const double stirling_full[] = {
    0.08333333333333333,   -0.002777777777775886,  0.000793650791455355, -0.0005952371357075331,
    0.0008415498834870068, -0.0018956633733736227, 0.005196058331272495};
static const double stirling_brief[] = {0.08333333333310632, -0.0027777772524073883,
                                        0.0007934600208228886, -0.0005728955226292203};
// (log z − 1/2z − digamma(z))·z² as a polynomial of 1/z², z >= 10.
static const double digamma_full[] = {
    0.08333333333333333,  -0.008333333333329107, 0.0039682539614681435, -0.004166662567441355,
    0.007574572233143086, -0.020915106433449827, 0.06980456112816179};
static const double digamma_brief[] = {0.08333333333277275, -0.008333331537937505,
                                       0.0039673521429654315, -0.00402069591222005};
// The same for f32: lgamma from 2.5 on, digamma from 4 on.
static const double near_two_single[] = {0.422784335,    0.322467019,    -0.0673522188,
                                         0.0205816019,   -0.00738742714, 0.00287905669,
                                         -0.00117784225, 0.00056982172,  -0.000269850748};
static const double stirling_single[] = {0.0833332978, -0.00277604071, 0.000764009052,
                                         -0.000367757915};
static const double digamma_single[] = {0.0833331837, -0.00831837874, 0.00353414627};
static const k_coefficients near_two = K_COEFFICIENTS(near_two_full, near_two_brief);
static const k_coefficients stirling = K_COEFFICIENTS(stirling_full, stirling_brief);
static const k_coefficients asymptotic = K_COEFFICIENTS(digamma_full, digamma_brief);

// For 0 < x < 8.5: lgamma(2 + t), t = x − 2 − k for a whole k from −2 to 6, and the product of what
// lies between: (x−1)…(x−k), or x, or x·(x+1) with the sign of k.
static k_value central(k_builder *b, k_value x, bool brief, k_value *product, k_value *sign) {
  k_value one = k_real(b, x, 1), n, above_two = k_sub(b, x, k_real(b, x, 2));
  k_value k = k_nearest(b, above_two, &n), t = k_sub(b, above_two, k);
  k_value below = k_less_than(b, x, 1.5), far_below = k_less_than(b, x, 0.5);
  t = k_select(b, far_below, x, k_select(b, below, k_sub(b, x, one), t));
  k_value up = k_select(b, far_below, k_near_fma(b, x, x, x), x);
  k_value down = one;
  for (int i = 1; i <= 6; i++) {
    k_value factor = k_sub(b, x, k_real(b, x, i));
    down = k_mul(b, down, k_select(b, k_less_than(b, k, i - 0.5), one, factor));
  }
  *product = k_select(b, below, up, down);
  *sign = k_select(b, below, k_real(b, x, -1), one);
  return k_mul(b, t, k_series(b, t, &near_two, brief));
}

static k_value lgamma_positive(k_builder *b, k_value x, bool brief) {
  k_value product, sign, large = k_binary(b, K_LE, k_real(b, x, 8.5), x);
  k_value tame = k_select(b, large, k_real(b, x, 2), x);
  k_value middle = central(b, tame, brief, &product, &sign);
  k_value log = k_log(b, k_select(b, large, x, product));
  k_value w = k_binary(b, K_DIV, k_real(b, x, 1), x), half = k_real(b, x, 0.5);
  k_value series = k_mul(b, w, k_series(b, k_mul(b, w, w), &stirling, brief));
  series = k_add(b, series, k_real(b, x, 0x1.d67f1c864beb5p-1)); // log(2π)/2
  k_value one = k_real(b, x, 1);
  k_value above = k_add(b, k_sub(b, k_mul(b, k_sub(b, x, half), k_sub(b, log, one)), half), series);
  return k_select(b, large, above, k_near_fma(b, log, sign, middle));
}

// For x >= 0.
static k_value lgamma_f64(k_builder *b, k_value x) {
  k_value magnitude = k_unary(b, K_ABS, x), infinity = k_real(b, x, INFINITY);
  k_value endless = k_binary(b, K_EQ, magnitude, infinity);
  endless = k_binary(b, K_OR, endless, k_binary(b, K_EQ, x, k_real(b, x, 0)));
  return k_select(b, endless, infinity, lgamma_positive(b, magnitude, false));
}

// lgamma(x) = log(π / |x·sin πx|) − lgamma(−x) for negative x; infinite at −1, −2, …
static k_value lgamma_negative(k_builder *b, k_value x, bool brief) {
  k_value magnitude = k_unary(b, K_ABS, x), most = k_real(b, x, 0x1p52);
  k_value plain = lgamma_positive(b, magnitude, brief);
  k_value tame = k_select(b, k_lt(b, magnitude, most), magnitude, k_real(b, x, 1));
  k_value rest = k_mul(b, k_unary(b, K_ABS, k_sin_pi(b, tame, brief)), magnitude);
  k_value reflected = k_log(b, k_binary(b, K_DIV, k_real(b, x, 0x1.921fb54442d18p+1), rest));
  reflected = k_sub(b, reflected, plain);
  k_value is_whole = k_binary(b, K_EQ, k_unary(b, K_FLOOR, x), x);
  reflected = k_select(b, is_whole, k_real(b, x, INFINITY), reflected);
  return k_select(b, k_less_than(b, magnitude, 0x1p-60), plain, reflected); // −log |x|
}

// For x > 0 in f32: lgamma(2 + t) below 2.5, of x + 2, x + 1 or x, less the logarithm of what lies
// between; Stirling's series above.
static k_value lgamma_f32(k_builder *b, k_value x) {
  k_value one = k_real(b, x, 1), large = k_binary(b, K_LE, k_real(b, x, 2.5), x);
  k_value below = k_less_than(b, x, 1.5), far_below = k_less_than(b, x, 0.5);
  k_value t = k_sub(b, x, k_select(b, below, one, k_real(b, x, 2)));
  t = k_select(b, far_below, x, t);
  k_value product = k_select(b, below, x, one), log;
  product = k_select(b, far_below, k_near_fma(b, x, x, x), k_select(b, large, x, product));
  k_value less_one = k_log_less_one(b, product, &log);
  k_value middle = k_near_fma(b, t, k_polynomial(b, t, near_two_single, 8), k_unary(b, K_NEG, log));
  k_value w = k_binary(b, K_DIV, one, x);
  k_value series = k_polynomial(b, k_mul(b, w, w), stirling_single, 3);
  series = k_near_fma(b, w, series, k_real(b, x, 0x1.acfe390c97d6ap-2)); // log(2π)/2 − 1/2
  k_value above = k_near_fma(b, k_sub(b, x, k_real(b, x, 0.5)), less_one, series);
  return k_select(b, k_binary(b, K_EQ, x, k_real(b, x, 0)), k_real(b, x, INFINITY),
                  k_select(b, large, above, middle));
}

// `plain` where x is not negative, and else the function, in f64 as its terms cancel: only if it
// occurs.
static k_value unless_negative(k_builder *b, k_value x, k_value plain, k_math_function *negative) {
  k_value is_negative = k_less_than(b, x, 0);
  k_instr *branch = k_if_begin(b, k_any(b, is_negative));
  k_value all = k_select(b, is_negative, k_in_f64(b, x, negative), plain);
  k_if_else(b, &all, 1);
  k_if_end(b, &plain, 1);
  return k_result(b, branch, 0);
}

k_value k_lgamma(k_builder *b, k_value x) {
  k_value plain = x->dtype == LEAT_f32 ? lgamma_f32(b, x) : lgamma_f64(b, x);
  return unless_negative(b, x, plain, lgamma_negative);
}

// Σ 1/(x+i), i = 0 … 9, as one fraction.
static k_value ten_steps(k_builder *b, k_value x) {
  k_value above = k_real(b, x, 1), below = x;
  for (int i = 1; i < 10; i++) {
    k_value factor = k_add(b, x, k_real(b, x, i));
    above = k_near_fma(b, above, factor, below);
    below = k_mul(b, below, factor);
  }
  return k_binary(b, K_DIV, above, below);
}

static k_value digamma_positive(k_builder *b, k_value x, bool brief) {
  k_value small = k_less_than(b, x, 10), ten = k_real(b, x, 10), zero = k_real(b, x, 0);
  k_value steps = k_select(b, small, ten_steps(b, k_select(b, small, x, ten)), zero);
  k_value z = k_select(b, small, k_add(b, x, ten), x), w = k_binary(b, K_DIV, k_real(b, x, 1), z);
  k_value tail = k_mul(b, w, k_series(b, k_mul(b, w, w), &asymptotic, brief));
  tail = k_mul(b, w, k_add(b, k_real(b, x, 0.5), tail));
  return k_sub(b, k_sub(b, k_log(b, z), tail), steps);
}

// digamma(x), and of negative x that of 1 − x.
static k_value digamma_away(k_builder *b, k_value x, bool brief) {
  k_value other = k_sub(b, k_real(b, x, 1), x);
  return digamma_positive(b, k_select(b, k_less_than(b, x, 0), other, x), brief);
}

// For x >= 0: −∞ at +0, ∞ at −0.
static k_value digamma_f64(k_builder *b, k_value x) {
  k_value pole = k_copysign(b, k_real(b, x, INFINITY), k_unary(b, K_NEG, x));
  k_value is_zero = k_binary(b, K_EQ, x, k_real(b, x, 0));
  k_value result = k_select(b, is_zero, pole, digamma_away(b, x, false));
  return k_select(b, k_binary(b, K_EQ, x, k_real(b, x, INFINITY)), x, result);
}

// digamma(x) = digamma(1 − x) − π/tan(πx) for negative x; NaN at −1, −2, …
static k_value digamma_negative(k_builder *b, k_value x, bool brief) {
  // What is far below is a whole number or half of an odd one, whose tangent is infinite.
  k_value tame = k_select(b, k_lt(b, k_real(b, x, -0x1p51), x), x, k_real(b, x, -0.5)), n;
  k_value r = k_sub(b, tame, k_nearest(b, tame, &n)), half = k_real(b, x, 0.5);
  k_value sine = k_sin_pi(b, r, brief); // and cos πr = sin(π(1/2 − |r|))
  k_value cosine = k_sin_pi(b, k_sub(b, half, k_unary(b, K_ABS, r)), brief);
  k_value cotangent =
      k_binary(b, K_DIV, k_mul(b, cosine, k_real(b, x, 0x1.921fb54442d18p+1)), sine);
  k_value is_whole = k_binary(b, K_EQ, k_unary(b, K_FLOOR, x), x);
  k_value below = k_sub(b, digamma_away(b, x, brief), cotangent);
  return k_select(b, is_whole, k_real(b, x, NAN), below);
}

// For x > 0 in f32: below 4 from x + 4, less Σ 1/(x+i) for i = 0 … 3, which is the derivative of
// x(x+1)(x+2)(x+3) = v(v+2), v = x(x+3), over it. The poles of ±0 come out by themselves.
static k_value digamma_f32(k_builder *b, k_value x) {
  k_value one = k_real(b, x, 1), two = k_real(b, x, 2), three = k_real(b, x, 3);
  k_value small = k_less_than(b, x, 4), v = k_mul(b, x, k_add(b, x, three));
  k_value above = k_mul(b, k_near_fma(b, x, two, three), k_near_fma(b, v, two, two));
  k_value steps = k_binary(b, K_DIV, above, k_mul(b, v, k_add(b, v, two)));
  k_value z = k_select(b, small, k_add(b, x, k_real(b, x, 4)), x), w = k_binary(b, K_DIV, one, z);
  k_value tail =
      k_near_fma(b, w, k_polynomial(b, k_mul(b, w, w), digamma_single, 2), k_real(b, x, 0.5));
  k_value plain = k_sub(b, k_log(b, z), k_mul(b, w, tail));
  return k_select(b, small, k_sub(b, plain, steps), plain);
}

k_value k_digamma(k_builder *b, k_value x) {
  k_value plain = x->dtype == LEAT_f32 ? digamma_f32(b, x) : digamma_f64(b, x);
  return unless_negative(b, x, plain, digamma_negative);
}
