// Constants like another value, bits of floats, polynomials, sums and products with their errors:
// what the math functions are made of (math_parts.h says each).
#include "kernel/math_parts.h"

#include <assert.h>

static leat_dtype bits_of(k_value x) {
  static const leat_dtype by_size[] = {
      [1] = LEAT_i8, [2] = LEAT_i16, [4] = LEAT_i32, [8] = LEAT_i64};
  return by_size[leat_dtype_size(x->dtype)];
}

k_value k_real(k_builder *b, k_value x, double value) {
  return k_float(b, x->dtype, x->lanes, value);
}

k_value k_whole(k_builder *b, k_value x, int64_t value) {
  return k_int(b, bits_of(x), x->lanes, value);
}

k_value k_bits(k_builder *b, k_value x) {
  return k_bitcast(b, bits_of(x), x);
}

k_value k_sign_bit(k_builder *b, k_value x) {
  int64_t mask = leat_dtype_size(x->dtype) == 4 ? INT32_MIN : INT64_MIN;
  return k_binary(b, K_AND, k_bits(b, x), k_whole(b, x, mask));
}

k_value k_or_bits(k_builder *b, k_value x, k_value bits) {
  return k_bitcast(b, x->dtype, k_binary(b, K_OR, k_bits(b, x), bits));
}

k_value k_is_nan(k_builder *b, k_value x) {
  return k_binary(b, K_NE, x, x);
}

k_value k_less_than(k_builder *b, k_value x, double value) {
  return k_lt(b, x, k_real(b, x, value));
}

k_value k_clamp(k_builder *b, k_value x, double low, double high) {
  k_value least = k_real(b, x, low), most = k_real(b, x, high);
  x = k_select(b, k_lt(b, x, least), least, x);
  return k_select(b, k_lt(b, most, x), most, x);
}

k_value k_u64(k_builder *b, uint64_t value) {
  return k_int(b, LEAT_u64, 1, (int64_t)value);
}

k_value k_low_half(k_builder *b, k_value x) {
  return k_binary(b, K_AND, x, k_u64(b, UINT32_MAX));
}

k_value k_high_half(k_builder *b, k_value x) {
  return k_binary(b, K_SHR, x, k_u64(b, 32));
}

k_value k_polynomial(k_builder *b, k_value x, const double *c, int degree) {
  k_value sum = k_real(b, x, c[degree]);
  for (int i = degree - 1; i >= 0; i--) sum = k_mul_add(b, sum, x, k_real(b, x, c[i]));
  return sum;
}

// The product of two f32 is an f64; of two f64 it is exact in an fma alone, which a machine without
// one has to call.
k_value k_near_fma(k_builder *b, k_value x, k_value y, k_value z) {
  if (b->brief || !b->lacks_fma) return k_mul_add(b, x, y, z);
  if (x->dtype == LEAT_f64) return k_fma(b, x, y, z);
  k_value product = k_mul(b, k_cast(b, LEAT_f64, x), k_cast(b, LEAT_f64, y));
  return k_cast(b, x->dtype, k_add(b, product, k_cast(b, LEAT_f64, z)));
}

k_value k_series(k_builder *b, k_value x, const k_coefficients *c, bool brief) {
  return k_polynomial(b, x, brief ? c->brief : c->full, brief ? c->brief_degree : c->degree);
}

k_value k_in_f64(k_builder *b, k_value x, k_math_function *function) {
  bool brief = x->dtype == LEAT_f32, before = b->brief;
  assert(brief || x->dtype == LEAT_f64);
  b->brief = brief;
  k_value result = function(b, k_cast(b, LEAT_f64, x), brief);
  b->brief = before;
  return k_cast(b, x->dtype, result);
}

k_value k_in_f64_2(k_builder *b, k_value x, k_value y, k_math_function_2 *function) {
  bool brief = x->dtype == LEAT_f32, before = b->brief;
  assert(brief || x->dtype == LEAT_f64);
  b->brief = brief;
  k_value result = function(b, k_cast(b, LEAT_f64, x), k_cast(b, LEAT_f64, y), brief);
  b->brief = before;
  return k_cast(b, x->dtype, result);
}

k_pair k_two_sum(k_builder *b, k_value x, k_value y) {
  k_value sum = k_add(b, x, y), y_part = k_sub(b, sum, x), x_part = k_sub(b, sum, y_part);
  return (k_pair){sum, k_add(b, k_sub(b, x, x_part), k_sub(b, y, y_part))};
}

k_pair k_fast_two_sum(k_builder *b, k_value x, k_value y) {
  k_value sum = k_add(b, x, y);
  return (k_pair){sum, k_sub(b, y, k_sub(b, sum, x))};
}

k_pair k_two_product(k_builder *b, k_value x, k_value y) {
  k_value product = k_mul(b, x, y);
  return (k_pair){product, k_near_fma(b, x, y, k_unary(b, K_NEG, product))};
}

// Adding 1.5·2^52 leaves the whole number in the low bits.
k_value k_nearest(k_builder *b, k_value x, k_value *n) {
  k_value shifter = k_real(b, x, 0x1.8p52), shifted = k_add(b, x, shifter);
  *n = k_sub(b, k_bits(b, shifted), k_bits(b, shifter));
  return k_sub(b, shifted, shifter);
}

k_value k_power_of_two(k_builder *b, k_value n) {
  k_value biased = k_add(b, n, k_int(b, LEAT_i64, n->lanes, 1023));
  k_value bits = k_binary(b, K_SHL, biased, k_int(b, LEAT_i64, n->lanes, 52));
  return k_bitcast(b, LEAT_f64, bits);
}

// In two products. The first is exact: halves of n keep x between the extremes.
k_value k_scale(k_builder *b, k_value x, k_value n) {
  k_value half = k_binary(b, K_SHR, n, k_int(b, LEAT_i64, n->lanes, 1));
  x = k_mul(b, x, k_power_of_two(b, half));
  return k_mul(b, x, k_power_of_two(b, k_sub(b, n, half)));
}

k_value k_exponent(k_builder *b, k_value x, k_value *mantissa) {
  k_value small = k_less_than(b, x, 0x1p-1022);
  k_value bits = k_bits(b, k_select(b, small, k_mul(b, x, k_real(b, x, 0x1p54)), x));
  k_value exponent = k_binary(b, K_SHR, bits, k_whole(b, x, 52));
  k_value bias = k_select(b, small, k_whole(b, x, 1023 + 54), k_whole(b, x, 1023));
  k_value fraction = k_binary(b, K_AND, bits, k_whole(b, x, ((int64_t)1 << 52) - 1));
  k_value one = k_whole(b, x, 0x3ff0000000000000);
  if (mantissa) *mantissa = k_bitcast(b, LEAT_f64, k_binary(b, K_OR, fraction, one));
  return k_sub(b, exponent, bias);
}
