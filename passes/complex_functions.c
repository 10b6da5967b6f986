// Part of `legalize`: exp, log, sin and their like of complex numbers z = x + iy, in functions of
// the parts. Branch cuts and special values are those of C's Annex G, which NumPy has too.
//
// Errors are small beside |f(z)|, not beside each of its parts. What overflows though the result
// does not is computed in two factors; of numbers beyond LARGE the logarithm alone counts.
#include "passes/legalize.h"

#include <math.h>

static const double LARGE = 0x1p60, LN_2 = 0.693147180559945309417;
static const double LN_10 = 2.30258509299404568402, PI = 3.14159265358979323846;

static double safe_exponent(leat_value x) { // e to it is far from overflow
  return r_dtype(x) == LEAT_f32 ? 80 : 700;
}

static leat_value is_infinite(leat_legalizer *l, leat_value x) {
  return r_is(l, r_abs(l, x), INFINITY);
}

// x is infinite and y has no direction.
static leat_value is_undirected(leat_legalizer *l, leat_value x, leat_value y) {
  leat_value finite = r_less(l, r_abs(l, y), r_number(l, y, INFINITY));
  return r_and(l, is_infinite(l, x), r_unary(l, LEAT_OP_not, finite));
}

static leat_value is_large(leat_legalizer *l, leat_parts z) {
  return r_or(l, r_exceeds(l, r_abs(l, z.re), LARGE), r_exceeds(l, r_abs(l, z.im), LARGE));
}

static leat_parts turned(leat_legalizer *l, leat_parts z) { // iz
  return (leat_parts){r_neg(l, z.im), z.re};
}

static leat_parts turned_back(leat_legalizer *l, leat_parts z) { // -iz
  return (leat_parts){z.im, r_neg(l, z.re)};
}

static leat_parts one_and(leat_legalizer *l, leat_op op, leat_parts z) { // 1 + z, 1 - z
  leat_value im = op == LEAT_OP_sub ? r_neg(l, z.im) : z.im;
  return (leat_parts){r_binary(l, op, r_number(l, z.re, 1), z.re), im};
}

// -- Exponentials and logarithms ------------------------------------------------------------------

// e or 2 (`op`: exp or exp2) to the x as first · second · lift · lift: with anything between the
// first two no product is infinite before the whole is, and the least number makes a finite one.
typedef struct growth {
  leat_value first, second, lift;
} growth;

static growth growth_of(leat_legalizer *l, leat_op op, leat_value x) {
  enum { LIFTED = 64 };
  leat_value one = r_number(l, x, 1), half = r_times(l, x, 0.5);
  leat_value high = r_exceeds(l, x, safe_exponent(x));
  leat_value vast = r_exceeds(l, x, 2 * safe_exponent(x));
  leat_value lowered = r_sub(l, half, r_number(l, x, LIFTED));
  leat_value e = r_unary(l, op, r_where(l, high, r_where(l, vast, lowered, half), x));
  double lift = op == LEAT_OP_exp ? exp(LIFTED) : exp2(LIFTED);
  return (growth){e, r_where(l, high, e, one), r_where(l, vast, r_number(l, x, lift), one)};
}

static leat_value grown(leat_legalizer *l, const growth *g, leat_value first, leat_value x) {
  leat_value product = r_mul(l, r_mul(l, first, x), g->second);
  return r_mul(l, r_mul(l, product, g->lift), g->lift);
}

// e or 2 to the x, in the direction y.
static leat_parts raised(leat_legalizer *l, leat_op op, leat_value x, leat_value y) {
  leat_value one = r_number(l, x, 1), zero = r_number(l, x, 0);
  growth g = growth_of(l, op, x);
  leat_value undirected = is_undirected(l, x, y), c = r_where(l, undirected, one, r_cos(l, y));
  leat_value s = r_where(l, r_and(l, undirected, r_less(l, x, zero)), one, r_sin(l, y));
  leat_value im = grown(l, &g, g.first, s);
  return (leat_parts){grown(l, &g, g.first, c), r_where(l, r_is(l, y, 0), y, im)};
}

static leat_parts exponential(leat_legalizer *l, const leat_parts *in) {
  return raised(l, LEAT_OP_exp, in->re, in->im);
}

// In f64: the angle y log 2 is rounded, by so much of a turn as it is large.
static leat_parts power_of_two(leat_legalizer *l, const leat_parts *in) {
  leat_dtype dtype = r_dtype(in->re);
  leat_value x = leat_legal_cast(l, LEAT_f64, in->re), y = leat_legal_cast(l, LEAT_f64, in->im);
  leat_parts out = raised(l, LEAT_OP_exp2, x, r_times(l, y, LN_2));
  return (leat_parts){leat_legal_cast(l, dtype, out.re), leat_legal_cast(l, dtype, out.im)};
}

// Near 0 and its like (x is small) the real part is (e^x - 1) cos y - 2 sin(y/2)^2.
static leat_parts exponential_less_one(leat_legalizer *l, const leat_parts *in) {
  leat_value x = in->re, one = r_number(l, x, 1);
  leat_parts e = exponential(l, in);
  leat_value s = r_sin(l, r_times(l, in->im, 0.5));
  leat_value near = r_mul(l, r_unary(l, LEAT_OP_expm1, x), r_cos(l, in->im));
  near = r_sub(l, near, r_times(l, r_mul(l, s, s), 2));
  leat_value small = r_less(l, r_abs(l, x), one);
  return (leat_parts){r_where(l, small, near, r_sub(l, e.re, one)), e.im};
}

// log|z| by the greater part m and the lesser n: log m + log(1 + (n/m)^2) / 2.
static leat_value log_magnitude(leat_legalizer *l, leat_parts z) {
  leat_value x = r_abs(l, z.re), y = r_abs(l, z.im), rises = r_less(l, x, y);
  leat_value great = r_where(l, rises, y, x), less = r_where(l, rises, x, y);
  leat_value ratio = r_where(l, r_is(l, less, 0), less, r_div(l, less, great));
  leat_value rest = r_times(l, r_log1p(l, r_mul(l, ratio, ratio)), 0.5);
  leat_value infinite = r_or(l, r_is(l, x, INFINITY), r_is(l, y, INFINITY));
  leat_value sum = r_add(l, r_log(l, great), rest);
  return r_where(l, infinite, r_number(l, x, INFINITY), sum);
}

static leat_parts logarithm(leat_legalizer *l, const leat_parts *in) {
  return (leat_parts){log_magnitude(l, *in), r_atan2(l, in->im, in->re)};
}

static leat_parts over(leat_legalizer *l, leat_parts z, double divisor) {
  return (leat_parts){r_times(l, z.re, 1 / divisor), r_times(l, z.im, 1 / divisor)};
}

static leat_parts binary_logarithm(leat_legalizer *l, const leat_parts *in) {
  return over(l, logarithm(l, in), LN_2);
}

static leat_parts decimal_logarithm(leat_legalizer *l, const leat_parts *in) {
  return over(l, logarithm(l, in), LN_10);
}

// Near 0 the real part is log(1 + 2x + |z|^2) / 2.
static leat_parts logarithm_of_one_more(leat_legalizer *l, const leat_parts *in) {
  leat_value x = in->re, y = in->im, half = r_number(l, x, 0.5);
  leat_parts sum = one_and(l, LEAT_OP_add, *in);
  leat_value square = r_add(l, r_mul(l, x, x), r_mul(l, y, y));
  leat_value near = r_times(l, r_log1p(l, r_add(l, r_times(l, x, 2), square)), 0.5);
  leat_value small = r_and(l, r_less(l, r_abs(l, x), half), r_less(l, r_abs(l, y), half));
  return (leat_parts){r_where(l, small, near, log_magnitude(l, sum)), r_atan2(l, y, sum.re)};
}

// exp(b log a), in f64; of b = 0 it is 1, of a = 0 it is 0 for a positive real b, else NaN.
static leat_parts power(leat_legalizer *l, const leat_parts *in) {
  leat_value p[4] = {in[0].re, in[0].im, in[1].re, in[1].im};
  leat_dtype dtype = r_dtype(p[0]);
  for (int i = 0; i < 4; i++) p[i] = leat_legal_cast(l, LEAT_f64, p[i]);
  leat_value zero = r_number(l, p[0], 0), one = r_number(l, p[0], 1);
  leat_parts base = {p[0], p[1]}, log = logarithm(l, &base), product, out;
  product.re = r_sub(l, r_mul(l, p[2], log.re), r_mul(l, p[3], log.im));
  product.im = r_add(l, r_mul(l, p[2], log.im), r_mul(l, p[3], log.re));
  out = exponential(l, &product);
  leat_value of_zero = r_and(l, r_is(l, p[0], 0), r_is(l, p[1], 0));
  leat_value real = r_is(l, p[3], 0), falls = r_and(l, real, r_exceeds(l, p[2], 0));
  leat_value at_zero = r_where(l, falls, zero, r_number(l, zero, NAN));
  leat_value to_zero = r_and(l, real, r_is(l, p[2], 0));
  out.re = r_where(l, to_zero, one, r_where(l, of_zero, at_zero, out.re));
  out.im = r_where(l, to_zero, zero, r_where(l, of_zero, at_zero, out.im));
  return (leat_parts){leat_legal_cast(l, dtype, out.re), leat_legal_cast(l, dtype, out.im)};
}

// -- The square root ------------------------------------------------------------------------------

// The one with a part x >= 0, or with y's sign where x is negative.
static leat_parts root(leat_legalizer *l, const leat_parts *in) {
  leat_value x = r_abs(l, in->re), y = r_abs(l, in->im), large = is_large(l, *in);
  leat_value one = r_number(l, x, 1), zero = r_number(l, x, 0), low = r_number(l, x, 1 / LARGE);
  leat_value small = r_and(l, r_less(l, x, low), r_less(l, y, low));
  leat_value scale = r_where(l, small, r_number(l, x, LARGE), r_where(l, large, low, one));
  leat_value back = r_where(l, large, r_number(l, x, 0x1p30), one); // scale^(-1/2)
  back = r_where(l, small, r_number(l, x, 0x1p-30), back);
  leat_value high = r_is(l, y, INFINITY), left = r_less(l, in->re, zero);
  x = r_mul(l, x, scale);
  y = r_mul(l, y, scale);
  leat_value t = r_sqrt(l, r_times(l, r_add(l, x, r_hypot(l, x, y)), 0.5));
  leat_value rest = r_div(l, r_times(l, y, 0.5), t), is_zero = r_is(l, t, 0);
  leat_value re = r_mul(l, r_where(l, left, rest, t), back);
  leat_value im = r_mul(l, r_where(l, left, t, rest), back);
  im = r_where(l, r_or(l, is_zero, high), in->im, r_copysign(l, im, in->im));
  re = r_where(l, is_zero, zero, r_where(l, high, r_number(l, re, INFINITY), re));
  return (leat_parts){re, im};
}

// -- Hyperbolic functions -------------------------------------------------------------------------

// sinh x, cosh x, cos y and sin y; the first two are to be `grown`.
typedef struct hyperbolic {
  leat_value sinh, cosh, cos, sin;
  growth growth;
} hyperbolic;

static hyperbolic hyperbolic_of(leat_legalizer *l, const leat_parts *z) {
  leat_value x = z->re, size = r_abs(l, x), high = r_exceeds(l, size, safe_exponent(x));
  growth g = growth_of(l, LEAT_OP_exp, size);
  leat_value half = r_times(l, g.first, 0.5), s = r_unary(l, LEAT_OP_sinh, x);
  leat_value undirected = is_undirected(l, x, z->im);
  return (hyperbolic){
      .sinh = r_where(l, high, r_copysign(l, half, x), s),
      .cosh = r_where(l, high, half, r_unary(l, LEAT_OP_cosh, x)),
      .cos = r_where(l, undirected, r_number(l, x, 1), r_cos(l, z->im)),
      .sin = r_sin(l, z->im),
      .growth = g,
  };
}

static leat_parts hyperbolic_sine(leat_legalizer *l, const leat_parts *in) {
  hyperbolic h = hyperbolic_of(l, in);
  leat_value re = grown(l, &h.growth, h.sinh, h.cos), im = grown(l, &h.growth, h.cosh, h.sin);
  leat_value none = r_unary(l, LEAT_OP_not, r_equal(l, re, re));
  return (leat_parts){r_where(l, r_and(l, none, r_is(l, in->re, 0)), in->re, re),
                      r_where(l, r_is(l, in->im, 0), in->im, im)};
}

static leat_parts hyperbolic_cosine(leat_legalizer *l, const leat_parts *in) {
  hyperbolic h = hyperbolic_of(l, in);
  leat_value re = grown(l, &h.growth, h.cosh, h.cos), im = grown(l, &h.growth, h.sinh, h.sin);
  leat_value one = r_number(l, re, 1), flat = r_or(l, r_is(l, in->re, 0), r_is(l, in->im, 0));
  leat_value zero = r_copysign(l, r_number(l, re, 0), in->re);
  return (leat_parts){re, r_where(l, flat, r_mul(l, zero, r_copysign(l, one, h.sin)), im)};
}

// (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y); of a large x ±1 + 4 i sin y cos y
// e^-2|x|.
static leat_parts hyperbolic_tangent(leat_legalizer *l, const leat_parts *in) {
  leat_value x = in->re, y = in->im, size = r_abs(l, x), zero = r_number(l, x, 0);
  leat_value sinh = r_unary(l, LEAT_OP_sinh, x), cosh = r_unary(l, LEAT_OP_cosh, x);
  leat_value c = r_cos(l, y), turn = r_mul(l, r_sin(l, y), c);
  leat_value divisor = r_add(l, r_mul(l, sinh, sinh), r_mul(l, c, c));
  leat_value direction = r_where(l, is_infinite(l, x), zero, r_sub(l, y, y)); // 0, or NaN
  leat_value far = r_add(l, r_copysign(l, r_number(l, x, 1), x), direction);
  leat_value rest = r_mul(l, r_times(l, turn, 4), r_exp(l, r_times(l, size, -2)));
  rest = r_where(l, is_undirected(l, x, y), zero, rest);
  leat_value large = r_exceeds(l, size, 20);
  leat_value re = r_where(l, large, far, r_div(l, r_mul(l, sinh, cosh), divisor));
  leat_value im = r_where(l, large, rest, r_div(l, turn, divisor));
  return (leat_parts){r_where(l, r_is(l, x, 0), x, re), r_where(l, r_is(l, y, 0), y, im)};
}

// sin z = -i sinh iz, cos z = cosh iz, tan z = -i tanh iz.
static leat_parts sine(leat_legalizer *l, const leat_parts *in) {
  leat_parts z = turned(l, *in);
  return turned_back(l, hyperbolic_sine(l, &z));
}

static leat_parts cosine(leat_legalizer *l, const leat_parts *in) {
  leat_parts z = turned(l, *in);
  return hyperbolic_cosine(l, &z);
}

static leat_parts tangent(leat_legalizer *l, const leat_parts *in) {
  leat_parts z = turned(l, *in);
  return turned_back(l, hyperbolic_tangent(l, &z));
}

// -- Inverse functions, by Kahan (1987) -----------------------------------------------------------

// With u = sqrt(1 - z) and v = sqrt(1 + z): no sum here cancels.
static leat_parts arc_sine(leat_legalizer *l, const leat_parts *in) {
  leat_parts less = one_and(l, LEAT_OP_sub, *in), more = one_and(l, LEAT_OP_add, *in);
  leat_parts u = root(l, &less), v = root(l, &more);
  leat_value across = r_sub(l, r_mul(l, u.re, v.re), r_mul(l, u.im, v.im));
  leat_value along = r_sub(l, r_mul(l, u.re, v.im), r_mul(l, u.im, v.re));
  leat_value log = r_add(l, log_magnitude(l, *in), r_number(l, in->re, LN_2));
  leat_value large = is_large(l, *in), distance = r_where(l, large, r_abs(l, in->im), across);
  leat_value re = r_atan2(l, in->re, distance);
  leat_value im = r_unary(l, LEAT_OP_asinh, along);
  return (leat_parts){r_where(l, r_is(l, in->re, 0), in->re, re),
                      r_where(l, large, r_copysign(l, log, in->im), im)};
}

static leat_parts arc_cosine(leat_legalizer *l, const leat_parts *in) {
  leat_parts less = one_and(l, LEAT_OP_sub, *in), more = one_and(l, LEAT_OP_add, *in);
  leat_parts u = root(l, &less), v = root(l, &more);
  leat_value along = r_sub(l, r_mul(l, v.re, u.im), r_mul(l, v.im, u.re));
  leat_value log = r_add(l, log_magnitude(l, *in), r_number(l, in->re, LN_2));
  leat_value large = is_large(l, *in);
  leat_value far = r_atan2(l, r_abs(l, in->im), in->re);
  leat_value re = r_where(l, large, far, r_times(l, r_atan2(l, u.re, v.re), 2));
  leat_value im = r_unary(l, LEAT_OP_asinh, along);
  leat_value up = r_copysign(l, log, r_neg(l, in->im));
  return (leat_parts){r_where(l, r_is(l, in->re, 0), r_number(l, re, PI / 2), re),
                      r_where(l, large, up, im)};
}

// log(1 + 4|x| / ((1 - |x|)^2 + y^2)) / 4, with x's sign, and half the angle of (1 - x^2 - y^2,
// 2y).
static leat_parts arc_hyperbolic_tangent(leat_legalizer *l, const leat_parts *in) {
  leat_value x = in->re, y = in->im, size = r_abs(l, x), one = r_number(l, x, 1);
  leat_value gap = r_sub(l, one, size), square = r_mul(l, y, y), large = is_large(l, *in);
  leat_value divisor = r_add(l, r_mul(l, gap, gap), square);
  leat_value far = r_times(l, r_log1p(l, r_div(l, r_times(l, size, 4), divisor)), 0.25);
  leat_value height = r_abs(l, y), log = r_sub(l, r_number(l, x, LN_2), r_log(l, height));
  leat_value low = r_less(l, height, r_number(l, x, 0x1p-28));
  leat_value zero = r_number(l, x, 0);
  leat_value infinite = r_or(l, is_infinite(l, x), is_infinite(l, y));
  leat_value none = r_where(l, infinite, zero, r_add(l, r_sub(l, x, x), r_sub(l, y, y)));
  leat_value re = r_where(l, r_and(l, r_is(l, gap, 0), low), r_times(l, log, 0.5), far);
  re = r_copysign(l, r_where(l, large, none, re), x); // none: 0, or NaN
  leat_value beside = r_sub(l, r_mul(l, gap, r_add(l, one, size)), square);
  leat_value im = r_times(l, r_atan2(l, r_times(l, y, 2), beside), 0.5);
  leat_value up = r_add(l, r_copysign(l, r_number(l, x, PI / 2), y), none);
  up = r_where(l, r_equal(l, y, y), up, y);
  return (leat_parts){r_where(l, r_is(l, x, 0), x, re), r_where(l, large, up, im)};
}

// asinh z = -i asin iz, atan z = -i atanh iz; acosh z is acos z turned to the right half plane.
static leat_parts arc_hyperbolic_sine(leat_legalizer *l, const leat_parts *in) {
  leat_parts z = turned(l, *in);
  return turned_back(l, arc_sine(l, &z));
}

static leat_parts arc_hyperbolic_cosine(leat_legalizer *l, const leat_parts *in) {
  leat_parts z = arc_cosine(l, in);
  return (leat_parts){r_abs(l, z.im), r_copysign(l, z.re, in->im)};
}

static leat_parts arc_tangent(leat_legalizer *l, const leat_parts *in) {
  leat_parts z = turned(l, *in);
  return turned_back(l, arc_hyperbolic_tangent(l, &z));
}

leat_complex_rule leat_complex_function(leat_op op) {
  static const leat_complex_rule functions[LEAT_OP_COUNT] = {
      [LEAT_OP_exp] = exponential,
      [LEAT_OP_exp2] = power_of_two,
      [LEAT_OP_expm1] = exponential_less_one,
      [LEAT_OP_log] = logarithm,
      [LEAT_OP_log2] = binary_logarithm,
      [LEAT_OP_log10] = decimal_logarithm,
      [LEAT_OP_log1p] = logarithm_of_one_more,
      [LEAT_OP_pow] = power,
      [LEAT_OP_sqrt] = root,
      [LEAT_OP_sinh] = hyperbolic_sine,
      [LEAT_OP_cosh] = hyperbolic_cosine,
      [LEAT_OP_tanh] = hyperbolic_tangent,
      [LEAT_OP_sin] = sine,
      [LEAT_OP_cos] = cosine,
      [LEAT_OP_tan] = tangent,
      [LEAT_OP_asin] = arc_sine,
      [LEAT_OP_acos] = arc_cosine,
      [LEAT_OP_atan] = arc_tangent,
      [LEAT_OP_asinh] = arc_hyperbolic_sine,
      [LEAT_OP_acosh] = arc_hyperbolic_cosine,
      [LEAT_OP_atanh] = arc_hyperbolic_tangent,
  };
  return functions[op];
}
