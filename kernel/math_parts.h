// What the files of math functions and random bits share: constants of a value's type, polynomials,
// bits of floats, and sums and products whose rounding errors are kept.
#ifndef LEAT_KERNEL_MATH_PARTS_H
#define LEAT_KERNEL_MATH_PARTS_H

#include "kernel/lowering.h"

// A float or an integer of x's lanes: of its dtype, or of the integers as wide as it.
k_value k_real(k_builder *b, k_value x, double value);
k_value k_whole(k_builder *b, k_value x, int64_t value);
k_value k_bits(k_builder *b, k_value x);                  // a float's bits, as a signed integer
k_value k_sign_bit(k_builder *b, k_value x);              // alone: k_bits and a mask
k_value k_or_bits(k_builder *b, k_value x, k_value bits); // a float with these bits set too
k_value k_is_nan(k_builder *b, k_value x);
k_value k_less_than(k_builder *b, k_value x, double value);
k_value k_clamp(k_builder *b, k_value x, double low, double high); // NaN stays

// Scalars of u64, and the halves of one.
k_value k_u64(k_builder *b, uint64_t value);
k_value k_low_half(k_builder *b, k_value x);
k_value k_high_half(k_builder *b, k_value x);

// x·y + z, rounded but once, or so that no one sees it: of what cancels or is the rest of a
// product.
k_value k_near_fma(k_builder *b, k_value x, k_value y, k_value z);
// c[0] + c[1]·x + … + c[degree]·x^degree
k_value k_polynomial(k_builder *b, k_value x, const double *c, int degree);

// Most functions compute in f64, for f32 with shorter polynomials: then the arithmetic has bits to
// spare, no f32 is denormal, nothing overflows early, and the only rounding that counts is the
// last. `brief` says that 30 bits are enough.
typedef k_value k_math_function(k_builder *b, k_value x, bool brief);
k_value k_in_f64(k_builder *b, k_value x, k_math_function *function);
typedef k_value k_math_function_2(k_builder *b, k_value x, k_value y, bool brief);
k_value k_in_f64_2(k_builder *b, k_value x, k_value y, k_math_function_2 *function);

// Coefficients for f64, and fewer for f32.
typedef struct k_coefficients {
  int degree, brief_degree;
  const double *full, *brief;
} k_coefficients;
#define K_COEFFICIENTS(full, brief)                                                                \
  { sizeof full / sizeof *full - 1, sizeof brief / sizeof *brief - 1, full, brief }
k_value k_series(k_builder *b, k_value x, const k_coefficients *c, bool brief);

// high + low, of which |low| is at most half an ulp of high.
typedef struct k_pair {
  k_value high, low;
} k_pair;
k_pair k_two_sum(k_builder *b, k_value x, k_value y);
k_pair k_fast_two_sum(k_builder *b, k_value x, k_value y); // |x| >= |y|, or x is 0
k_pair k_two_product(k_builder *b, k_value x, k_value y);

// The nearest whole number to an f64 of magnitude below 2^51, as a float and as an i64.
k_value k_nearest(k_builder *b, k_value x, k_value *n);
// 2^n of an i64 vector n within -1022 … 1023, and x·2^n for any n within ±2098, rounded once.
k_value k_power_of_two(k_builder *b, k_value n);
k_value k_scale(k_builder *b, k_value x, k_value n);
// A finite positive f64 as 2^exponent·mantissa, mantissa within [1, 2); denormals too.
k_value k_exponent(k_builder *b, k_value x, k_value *mantissa);

// e^(x + rest)·factor: rest is at most an ulp of x. Either may be NULL, for 0 and 1.
k_value k_exp_times(k_builder *b, k_value x, k_value rest, k_value factor);
// A normal x as 2^exponent · (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)): returns f.
k_value k_log_split_normal(k_builder *b, k_value x, k_value *exponent);
k_value k_log_normal(k_builder *b, k_value x); // of a positive and normal x
// log(x) − 1 and log(x) of a positive x of either type, each rounded once at its end.
k_value k_log_less_one(k_builder *b, k_value x, k_value *log);
// 2^(n + r) for |r| within a half.
k_value k_exp2_of_parts(k_builder *b, k_value n, k_value r, bool brief);
k_value k_sin_pi(k_builder *b, k_value x, bool brief); // sin(π·x), |x| below 2^51

#endif
