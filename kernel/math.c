// exp, log, tanh, log1p and the inverses of the hyperbolic functions in kernel instructions, for
// f32 and f64, each in its own precision: one algorithm each, with a table of numbers per dtype.
// They have no branches, so they vectorise, and no step that a target may round differently.
//
//   exp    x = n·ln 2 + r, e^r − 1 = r + r²·P(r), and 2^n is added to the exponent
//   tanh   (e^2|x| − 1) / (e^2|x| + 1), from the same e^r − 1 so that nothing cancels near 0
//   log    x = 2^e·m, m near 1, s = (m−1)/(m+1): log m = 2s + s³·Q(s²), arranged as fdlibm does
//   log1p  f = 2^-e·(1 + x) − 1 is rounded once; then log(1 + f) + e·ln 2 as in log.
//          asinh and acosh are one of what is next to 1 + |x|, with what rounding it lost
//   atanh  k·ln 2 / 2 + s + s³·R(s²): the ratio whose logarithm it is gives k and s with one
//   division
//
// P, Q and R are minimax polynomials (Remez, weighted for the relative error of the whole; R is of
// tools/fit_math.py): within 2^-26, 2^-30 and 2^-31 for f32, 2^-61, 2^-59 and 2^-60 for f64, so
// what is left are roundings: exp and log err by about 1 ulp, tanh and acosh by less than 2, log1p
// by 1.4, atanh by 1.5, asinh by 1.7.
#include "kernel/math_parts.h"

#include <assert.h>
#include <math.h>

typedef struct numbers {
  int mantissa;                 // stored bits of it
  int64_t sign, one, sqrt_half; // as bits: the sign's, 1.0, sqrt(1/2)
  double shifter; // 1.5·2^mantissa: adding it rounds to an integer, kept in the low bits
  double ln2_high, ln2_low;
  double exp_low, exp_small,
      exp_high; // bounds: e^x is 0 · may be denormal, also times a factor of erfc · is infinite
  int exp_lift; // how far small exponents are lifted to be exact until the end
  double tanh_high; // above: 1
  double least;     // the least normal
  int exp_degree, log_degree;
  int atanh_degree;
  double exp[11], log[7], atanh[9];
} numbers;

static const numbers single = {
    .mantissa = 23,
    .sign = INT32_MIN,
    .one = 0x3f800000,
    .sqrt_half = 0x3f3504f3,
    .shifter = 0x1.8p23,
    .ln2_high = 0x1.62e4p-1,
    .ln2_low = 1.42860677e-06,
    .exp_low = -104,
    .exp_small = -80,
    .exp_high = 89,
    .exp_lift = 64,
    .tanh_high = 10,
    .least = 0x1p-126,
    .exp_degree = 4,
    .exp = {0.500000006, 0.166665421, 0.0416662779, 0.00836670905, 0.00139467195},
    .log_degree = 2,
    .log = {0.666667767, 0.399774956, 0.298730841},
    .atanh_degree = 3,
    .atanh = {0.33333312, 0.200028049, 0.141717691, 0.12906044},
};

static const numbers twice = {
    .mantissa = 52,
    .sign = INT64_MIN,
    .one = 0x3ff0000000000000,
    .sqrt_half = 0x3fe6a09e667f3bcd,
    .shifter = 0x1.8p52,
    .ln2_high = 0x1.62e42feep-1,
    .ln2_low = 1.9082149292705877e-10,
    .exp_low = -746,
    .exp_small = -700,
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
    .atanh_degree = 8,
    .atanh = {0.33333333333333437, 0.19999999999943641, 0.14285714296312454, 0.11111110135266265,
              0.0909095981346872, 0.076907209640926524, 0.066970545384335889, 0.055360777578026002,
              0.07375115360803905},
};

static const numbers *numbers_of(k_value x) {
  assert(x->dtype == LEAT_f32 || x->dtype == LEAT_f64);
  return x->dtype == LEAT_f32 ? &single : &twice;
}

// x + low = n·ln 2 + r, low may be NULL: returns e^r − 1 and puts the bits of n, shifted to the
// exponent, into *power.
static k_value exp_minus_one(k_builder *b, k_value x, k_value low, k_value *power) {
  const numbers *c = numbers_of(x);
  k_value shifter = k_real(b, x, c->shifter);
  k_value shifted = k_near_fma(b, x, k_real(b, x, 0x1.71547652b82fep+0), shifter); // 1 / ln 2
  k_value n = k_sub(b, shifted, shifter);
  k_value r = k_near_fma(b, n, k_real(b, x, -c->ln2_high), x);
  r = k_near_fma(b, n, k_real(b, x, -c->ln2_low), r);
  if (low) r = k_add(b, r, low);
  *power = k_binary(b, K_SHL, k_bits(b, shifted), k_whole(b, x, c->mantissa));
  return k_near_fma(b, k_mul(b, r, r), k_polynomial(b, r, c->exp, c->exp_degree), r);
}

// 2^n is applied in two products, so that the first is neither denormal nor infinite and the second
// rounds once: 2^(n-1) and 2, or 2^(n+lift) and 2^-lift where the result is small. NaN passes the
// selects and the products.
k_value k_exp_times(k_builder *b, k_value x, k_value rest, k_value factor) {
  const numbers *c = numbers_of(x);
  k_value low = k_real(b, x, c->exp_low), high = k_real(b, x, c->exp_high), power;
  k_value clamped = k_select(b, k_lt(b, x, low), low, x);
  clamped = k_select(b, k_lt(b, high, clamped), high, clamped);
  k_value above = exp_minus_one(b, clamped, rest, &power), mantissa;
  mantissa = factor ? k_near_fma(b, above, factor, factor) : k_add(b, above, k_real(b, x, 1));
  k_value small = k_lt(b, clamped, k_real(b, x, c->exp_small));
  k_value lifted = k_whole(b, x, c->one + ((int64_t)c->exp_lift << c->mantissa));
  k_value lowered = k_whole(b, x, c->one - ((int64_t)1 << c->mantissa));
  power = k_add(b, power, k_select(b, small, lifted, lowered));
  k_value back = k_select(b, small, k_real(b, x, ldexp(1, -c->exp_lift)), k_real(b, x, 2));
  return k_mul(b, k_mul(b, mantissa, k_bitcast(b, x->dtype, power)), back);
}

k_value k_exp(k_builder *b, k_value x) {
  return k_exp_times(b, x, NULL, NULL);
}

k_value k_tanh(k_builder *b, k_value x) {
  const numbers *c = numbers_of(x);
  k_value magnitude = k_unary(b, K_ABS, x), high = k_real(b, x, c->tanh_high), power;
  k_value clamped = k_select(b, k_lt(b, high, magnitude), high, magnitude);
  k_value fraction = exp_minus_one(b, k_add(b, clamped, clamped), NULL, &power);
  k_value scale = k_bitcast(b, x->dtype, k_add(b, power, k_whole(b, x, c->one)));
  k_value above = k_near_fma(b, scale, fraction, k_sub(b, scale, k_real(b, x, 1))); // e^2|x| − 1
  k_value result = k_binary(b, K_DIV, above, k_add(b, above, k_real(b, x, 2)));
  k_value half = k_mul(b, above, k_real(b, x, 0.5));
  k_value near_zero =
      k_lt(b, above, k_real(b, x, 1)); // there u/(u+2) = u/2 - u/2·u/(u+2) rounds less
  result = k_select(b, near_zero, k_near_fma(b, k_unary(b, K_NEG, half), result, half), result);
  k_value sign = k_binary(b, K_AND, k_bits(b, x), k_whole(b, x, c->sign));
  return k_bitcast(b, x->dtype, k_binary(b, K_OR, k_bits(b, result), sign));
}

k_value k_log_split_normal(k_builder *b, k_value x, k_value *exponent) {
  const numbers *c = numbers_of(x);
  k_value offset = k_sub(b, k_bits(b, x), k_whole(b, x, c->sqrt_half));
  k_value mantissa = k_binary(b, K_AND, offset, k_whole(b, x, ((int64_t)1 << c->mantissa) - 1));
  mantissa = k_add(b, mantissa, k_whole(b, x, c->sqrt_half));
  *exponent = k_cast(b, x->dtype, k_binary(b, K_SHR, offset, k_whole(b, x, c->mantissa)));
  return k_sub(b, k_bitcast(b, x->dtype, mantissa), k_real(b, x, 1));
}

static k_value log_split(k_builder *b, k_value x, k_value *exponent) {
  double scale = ldexp(1, numbers_of(x)->mantissa);
  k_value small = k_lt(b, x, k_real(b, x, numbers_of(x)->least));
  x = k_select(b, small, k_mul(b, x, k_real(b, x, scale)), x);
  k_value f = k_log_split_normal(b, x, exponent);
  k_value lift = k_select(b, small, k_real(b, x, numbers_of(x)->mantissa), k_real(b, x, 0));
  *exponent = k_sub(b, *exponent, lift);
  return f;
}

// log(2^n·(1 + f)) less n·ln2_high, 1 + f within [sqrt(1/2), sqrt(2)).
static k_value log_rest(k_builder *b, k_value n, k_value f) {
  const numbers *c = numbers_of(f);
  k_value s = k_binary(b, K_DIV, f, k_add(b, f, k_real(b, f, 2)));
  k_value z = k_mul(b, s, s), half_square = k_mul(b, k_mul(b, f, f), k_real(b, f, 0.5));
  k_value tail = k_near_fma(b, z, k_polynomial(b, z, c->log, c->log_degree), half_square);
  k_value low = k_near_fma(b, s, tail, k_mul(b, n, k_real(b, f, c->ln2_low)));
  return k_sub(b, f, k_sub(b, half_square, low));
}

static k_value log_of_parts(k_builder *b, k_value n, k_value f) {
  return k_near_fma(b, n, k_real(b, f, numbers_of(f)->ln2_high), log_rest(b, n, f));
}

k_value k_log_less_one(k_builder *b, k_value x, k_value *log) {
  k_value n, f = log_split(b, x, &n), rest = log_rest(b, n, f);
  k_value high = k_real(b, x, numbers_of(x)->ln2_high);
  *log = k_near_fma(b, n, high, rest);
  return k_add(b, k_near_fma(b, n, high, k_real(b, x, -1)), rest);
}

k_value k_log_normal(k_builder *b, k_value x) {
  k_value n, f = k_log_split_normal(b, x, &n);
  return log_of_parts(b, n, f);
}

k_value k_log(k_builder *b, k_value x) {
  k_value n, f = log_split(b, x, &n), result = log_of_parts(b, n, f);
  k_value zero = k_real(b, x, 0), infinity = k_real(b, x, INFINITY);
  k_value at_most_zero =
      k_select(b, k_binary(b, K_EQ, x, zero), k_real(b, x, -INFINITY), k_real(b, x, NAN));
  result = k_select(b, k_lt(b, zero, x), result, at_most_zero);
  return k_select(b, k_lt(b, x, infinity), result, x);
}

// -- log1p and the inverses of the hyperbolic functions ------------------------------------------

// log(1 + x + low) + more·ln 2 for finite x above −1; low and more may be NULL. A quarter of 1 + x,
// which cannot overflow, says what power of two p makes 1 + f = p·(1 + x), and f is rounded once.
static k_value log_near_one(k_builder *b, k_value x, k_value low, k_value more) {
  const numbers *c = numbers_of(x);
  k_value fourth = k_real(b, x, 0.25), one = k_real(b, x, 1);
  k_value offset =
      k_sub(b, k_bits(b, k_near_fma(b, x, fourth, fourth)), k_whole(b, x, c->sqrt_half));
  k_value exponent = k_binary(b, K_AND, offset, k_whole(b, x, -((int64_t)1 << c->mantissa)));
  k_value p = k_bitcast(b, x->dtype, k_sub(b, k_whole(b, x, c->one), exponent));
  k_value power = k_binary(b, K_SHR, offset, k_whole(b, x, c->mantissa));
  k_value n = k_cast(b, x->dtype, k_add(b, power, k_whole(b, x, 2)));
  if (more) n = k_add(b, n, more);
  k_value scaled = k_mul(b, x, p); // a quarter of p may be denormal, which adds nothing to −1
  p = k_mul(b, p, fourth);
  k_value rest = k_sub(b, p, one);
  if (low) rest = k_near_fma(b, low, p, rest);
  return log_of_parts(b, n, k_near_fma(b, scaled, fourth, rest));
}

k_value k_log1p(k_builder *b, k_value x) {
  k_value result = log_near_one(b, x, NULL, NULL), least = k_real(b, x, -1);
  k_value outside =
      k_select(b, k_binary(b, K_EQ, x, least), k_real(b, x, -INFINITY), k_real(b, x, NAN));
  result = k_select(b, k_lt(b, least, x), result, outside);
  result = k_select(b, k_less_than(b, x, INFINITY), result, x);
  return k_copysign(b, result, x);
}

// log(1 + high + low), or log 2x where `large`.
static k_value log_of_sum(k_builder *b, k_value large, k_value x, k_pair y) {
  k_value zero = k_real(b, x, 0), more = k_select(b, large, k_real(b, x, 1), zero);
  k_value of = k_select(b, large, x, y.high), low = k_select(b, large, zero, y.low);
  return k_select(b, k_less_than(b, x, INFINITY), log_near_one(b, of, low, more), x);
}

// log(1 + |x| + x²/(1 + sqrt(1 + x²)))
k_value k_asinh(k_builder *b, k_value x) {
  k_value magnitude = k_unary(b, K_ABS, x), one = k_real(b, x, 1);
  k_value large = k_lt(b, k_real(b, x, 0x1p60), magnitude);
  k_value root = k_unary(b, K_SQRT, k_near_fma(b, x, x, one));
  k_value more = k_binary(b, K_DIV, k_mul(b, x, x), k_add(b, one, root));
  k_pair y = k_fast_two_sum(b, magnitude, more);
  return k_copysign(b, log_of_sum(b, large, magnitude, y), x);
}

// With t = x − 1: log(1 + t + sqrt(t·(t + 2)))
k_value k_acosh(k_builder *b, k_value x) {
  k_value t = k_sub(b, x, k_real(b, x, 1)), large = k_lt(b, k_real(b, x, 0x1p60), x);
  k_value root = k_unary(b, K_SQRT, k_near_fma(b, t, t, k_add(b, t, t)));
  k_value result = log_of_sum(b, large, x, k_fast_two_sum(b, root, t));
  return k_select(b, k_less_than(b, x, 1), k_real(b, x, NAN), result);
}

// Half the logarithm of (1 + |x|)/(1 − |x|) = p·(1 + s)/(1 − s): p is a power of two, which the
// bits of numerator and denominator tell, such that s is |x| to a quarter and within 0.27 above.
k_value k_atanh(k_builder *b, k_value x) {
  const numbers *c = numbers_of(x);
  k_value magnitude = k_unary(b, K_ABS, x), one = k_real(b, x, 1);
  k_value sum = k_add(b, one, magnitude), gap = k_sub(b, one, magnitude);
  k_value ratio = k_sub(b, k_bits(b, sum), k_bits(b, gap));
  ratio = k_add(b, ratio, k_whole(b, x, ((int64_t)1 << c->mantissa) / 4));
  k_value power = k_binary(b, K_SHR, ratio, k_whole(b, x, c->mantissa));
  k_value bits = k_binary(b, K_AND, ratio, k_whole(b, x, -((int64_t)1 << c->mantissa)));
  k_value p = k_bitcast(b, x->dtype, k_add(b, bits, k_whole(b, x, c->one)));
  k_value more = k_add(b, one, p), less = k_sub(b, one, p), n = k_cast(b, x->dtype, power);
  k_value vast = k_lt(b, k_real(b, x, 0x1p20), p); // 1 ± p may be p: but 1 − |x| is exact
  k_value over = k_near_fma(b, magnitude, more, less), under = k_near_fma(b, magnitude, less, more);
  over = k_select(b, vast, k_near_fma(b, k_unary(b, K_NEG, p), gap, sum), over);
  under = k_select(b, vast, k_near_fma(b, p, gap, sum), under);
  k_value s = k_binary(b, K_DIV, over, under);
  k_value z = k_mul(b, s, s);
  k_value tail = k_mul(b, k_mul(b, s, z), k_polynomial(b, z, c->atanh, c->atanh_degree));
  tail = k_near_fma(b, n, k_real(b, x, c->ln2_low / 2), tail);
  k_value result = k_add(b, k_near_fma(b, n, k_real(b, x, c->ln2_high / 2), s), tail);
  k_value edge =
      k_select(b, k_binary(b, K_EQ, magnitude, one), k_real(b, x, INFINITY), k_real(b, x, NAN));
  return k_copysign(b, k_select(b, k_lt(b, magnitude, one), result, edge), x);
}
