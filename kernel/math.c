// exp, log and tanh in kernel instructions, for f32 and f64: one algorithm each, with a table of
// numbers per dtype. They have no branches, so they vectorise, and no step that a target may round
// differently.
//
//   exp   x = n·ln 2 + r, e^r − 1 = r + r²·P(r), and 2^n is added to the exponent
//   tanh  (e^2|x| − 1) / (e^2|x| + 1), from the same e^r − 1 so that nothing cancels near 0
//   log   x = 2^e·m, m near 1, s = (m−1)/(m+1): log m = 2s + s³·Q(s²), arranged as fdlibm does
//
// P and Q are minimax polynomials (Remez, weighted for the relative error of the whole): within
// 2^-26 and 2^-30 for f32, 2^-61 and 2^-59 for f64, so what is left are roundings: exp and log err
// by less than 1 ulp, tanh by less than 2.
#include "kernel/lowering.h"

#include <assert.h>
#include <math.h>

typedef struct numbers {
  leat_dtype bits;              // the integers of the same width
  int mantissa;                 // stored bits of it
  int64_t sign, one, sqrt_half; // as bits: the sign's, 1.0, sqrt(1/2)
  double shifter; // 1.5·2^mantissa: adding it rounds to an integer, kept in the low bits
  double ln2_high, ln2_low;
  double exp_low, exp_small,
      exp_high;     // bounds: e^x is 0 · may be denormal · is infinite
  int exp_lift;     // how far small exponents are lifted to be exact until the end
  double tanh_high; // above: 1
  double least;     // the least normal
  int exp_degree, log_degree;
  double exp[11], log[7];
} numbers;

static const numbers single = {
    .bits = LEAT_i32,
    .mantissa = 23,
    .sign = INT32_MIN,
    .one = 0x3f800000,
    .sqrt_half = 0x3f3504f3,
    .shifter = 0x1.8p23,
    .ln2_high = 0x1.62e4p-1,
    .ln2_low = 1.42860677e-06,
    .exp_low = -104,
    .exp_small = -86,
    .exp_high = 89,
    .exp_lift = 64,
    .tanh_high = 10,
    .least = 0x1p-126,
    .exp_degree = 4,
    .exp = {0.500000006, 0.166665421, 0.0416662779, 0.00836670905, 0.00139467195},
    .log_degree = 2,
    .log = {0.666667767, 0.399774956, 0.298730841},
};

static const numbers twice = {
    .bits = LEAT_i64,
    .mantissa = 52,
    .sign = INT64_MIN,
    .one = 0x3ff0000000000000,
    .sqrt_half = 0x3fe6a09e667f3bcd,
    .shifter = 0x1.8p52,
    .ln2_high = 0x1.62e42feep-1,
    .ln2_low = 1.9082149292705877e-10,
    .exp_low = -746,
    .exp_small = -707,
    .exp_high = 710,
    .exp_lift = 512,
    .tanh_high = 20,
    .least = 0x1p-1022,
    .exp_degree = 10,
    .exp = {0.5, 0.16666666666666677, 0.041666666666666699, 0.0083333333333214365,
            0.0013888888888866347, 0.00019841269886672165, 2.4801587361482648e-05,
            2.755724361031537e-06, 2.7557241996702148e-07, 2.5109261448832909e-08,
            2.0924671851845263e-09},
    .log_degree = 6,
    .log = {0.66666666666667351, 0.39999999999411068, 0.28571428743266958, 0.22222198475617433,
            0.18183569756967066, 0.15313902834218956, 0.14797511723767842},
};

static const numbers *numbers_of(k_value x) {
  assert(x->dtype == LEAT_f32 || x->dtype == LEAT_f64);
  return x->dtype == LEAT_f32 ? &single : &twice;
}

// A float of x's type, and an integer of the type of its bits.
static k_value real(k_builder *b, k_value x, double value) {
  return k_float(b, x->dtype, x->lanes, value);
}

static k_value whole(k_builder *b, k_value x, int64_t value) {
  return k_int(b, numbers_of(x)->bits, x->lanes, value);
}

static k_value to_bits(k_builder *b, k_value x) {
  return k_bitcast(b, numbers_of(x)->bits, x);
}

static k_value polynomial(k_builder *b, k_value x, const double *coefficients, int degree) {
  k_value sum = real(b, x, coefficients[degree]);
  for (int i = degree - 1; i >= 0; i--) sum = k_fma(b, sum, x, real(b, x, coefficients[i]));
  return sum;
}

// x = n·ln 2 + r: returns e^r − 1 and puts the bits of n, shifted to the exponent, into *power.
static k_value exp_minus_one(k_builder *b, k_value x, k_value *power) {
  const numbers *c = numbers_of(x);
  k_value shifter = real(b, x, c->shifter);
  k_value shifted = k_fma(b, x, real(b, x, 0x1.71547652b82fep+0), shifter); // 1 / ln 2
  k_value n = k_sub(b, shifted, shifter);
  k_value r = k_fma(b, n, real(b, x, -c->ln2_high), x);
  r = k_fma(b, n, real(b, x, -c->ln2_low), r);
  *power = k_binary(b, K_SHL, to_bits(b, shifted), whole(b, x, c->mantissa));
  return k_fma(b, k_mul(b, r, r), polynomial(b, r, c->exp, c->exp_degree), r);
}

// 2^n is applied in two products, so that the first is neither denormal nor infinite and the second
// rounds once: 2^(n-1) and 2, or 2^(n+lift) and 2^-lift where the result is small. NaN passes the
// selects and the products.
k_value k_exp(k_builder *b, k_value x) {
  const numbers *c = numbers_of(x);
  k_value low = real(b, x, c->exp_low), high = real(b, x, c->exp_high), power;
  k_value clamped = k_select(b, k_lt(b, x, low), low, x);
  clamped = k_select(b, k_lt(b, high, clamped), high, clamped);
  k_value mantissa = k_add(b, exp_minus_one(b, clamped, &power), real(b, x, 1));
  k_value small = k_lt(b, clamped, real(b, x, c->exp_small));
  k_value lifted = whole(b, x, c->one + ((int64_t)c->exp_lift << c->mantissa));
  k_value lowered = whole(b, x, c->one - ((int64_t)1 << c->mantissa));
  power = k_add(b, power, k_select(b, small, lifted, lowered));
  k_value rest = k_select(b, small, real(b, x, ldexp(1, -c->exp_lift)), real(b, x, 2));
  return k_mul(b, k_mul(b, mantissa, k_bitcast(b, x->dtype, power)), rest);
}

k_value k_tanh(k_builder *b, k_value x) {
  const numbers *c = numbers_of(x);
  k_value magnitude = k_unary(b, K_ABS, x), high = real(b, x, c->tanh_high), power;
  k_value clamped = k_select(b, k_lt(b, high, magnitude), high, magnitude);
  k_value fraction = exp_minus_one(b, k_add(b, clamped, clamped), &power);
  k_value scale = k_bitcast(b, x->dtype, k_add(b, power, whole(b, x, c->one)));
  k_value above = k_fma(b, scale, fraction, k_sub(b, scale, real(b, x, 1))); // e^2|x| − 1
  k_value result = k_binary(b, K_DIV, above, k_add(b, above, real(b, x, 2)));
  k_value half = k_mul(b, above, real(b, x, 0.5));
  k_value near_zero =
      k_lt(b, above, real(b, x, 1)); // there u/(u+2) = u/2 - u/2·u/(u+2) rounds less
  result = k_select(b, near_zero, k_fma(b, k_unary(b, K_NEG, half), result, half), result);
  k_value sign = k_binary(b, K_AND, to_bits(b, x), whole(b, x, c->sign));
  return k_bitcast(b, x->dtype, k_binary(b, K_OR, to_bits(b, result), sign));
}

// x as 2^exponent · (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); a denormal is made normal first.
static k_value split(k_builder *b, k_value x, k_value *exponent) {
  const numbers *c = numbers_of(x);
  k_value small = k_lt(b, x, real(b, x, c->least));
  k_value normal = k_select(b, small, k_mul(b, x, real(b, x, ldexp(1, c->mantissa))), x);
  k_value offset = k_sub(b, to_bits(b, normal), whole(b, x, c->sqrt_half));
  k_value power = k_binary(b, K_SHR, offset, whole(b, x, c->mantissa));
  k_value mantissa = k_binary(b, K_AND, offset, whole(b, x, ((int64_t)1 << c->mantissa) - 1));
  mantissa = k_add(b, mantissa, whole(b, x, c->sqrt_half));
  power = k_sub(b, power, k_select(b, small, whole(b, x, c->mantissa), whole(b, x, 0)));
  *exponent = k_cast(b, x->dtype, power);
  return k_sub(b, k_bitcast(b, x->dtype, mantissa), real(b, x, 1));
}

k_value k_log(k_builder *b, k_value x) {
  const numbers *c = numbers_of(x);
  k_value n, f = split(b, x, &n);
  k_value s = k_binary(b, K_DIV, f, k_add(b, f, real(b, x, 2)));
  k_value z = k_mul(b, s, s), half_square = k_mul(b, k_mul(b, f, f), real(b, x, 0.5));
  k_value tail = k_fma(b, z, polynomial(b, z, c->log, c->log_degree), half_square);
  k_value low = k_fma(b, s, tail, k_mul(b, n, real(b, x, c->ln2_low)));
  k_value rest = k_sub(b, k_sub(b, half_square, low), f);
  k_value result = k_fma(b, n, real(b, x, c->ln2_high), k_unary(b, K_NEG, rest));
  k_value zero = real(b, x, 0), infinity = real(b, x, INFINITY);
  k_value at_most_zero =
      k_select(b, k_binary(b, K_EQ, x, zero), real(b, x, -INFINITY), real(b, x, NAN));
  result = k_select(b, k_lt(b, zero, x), result, at_most_zero);
  return k_select(b, k_lt(b, x, infinity), result, x);
}
