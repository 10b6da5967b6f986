// Operations that are exact, or rounded once, and take more than an instruction: rests of
// divisions, signs, counts of bits.
#include "kernel/math_parts.h"

#include <math.h>

static bool is_float(k_value x) {
  return leat_dtype_kind_of(x->dtype) == LEAT_KIND_FLOAT;
}

static k_value zero_of(k_builder *b, k_value x) {
  return is_float(x) ? k_real(b, x, 0) : k_int(b, x->dtype, x->lanes, 0);
}

k_value k_copysign(k_builder *b, k_value x, k_value y) {
  return k_or_bits(b, k_unary(b, K_ABS, x), k_sign_bit(b, y));
}

// The rest of r / y for finite positive r and y, by long division of 51 bits at a time: t = y·2^k
// is at most r, and the quotient's whole part at most one too large, so r - quotient·t is exact.
static k_value long_division(k_builder *b, k_value r, k_value y) {
  k_instr *loop = k_while_begin(b, &r, 1);
  r = k_loop_carried(loop, 0);
  k_while_do(b, k_any(b, k_binary(b, K_LE, y, r)));
  k_value k = k_sub(b, k_exponent(b, r, NULL), k_exponent(b, y, NULL));
  k = k_binary(b, K_MAX, k_sub(b, k, k_whole(b, y, 51)), k_whole(b, y, 0));
  k_value t = k_scale(b, y, k);
  k_value quotient = k_unary(b, K_FLOOR, k_binary(b, K_DIV, r, t));
  k_value rest = k_fma(b, k_unary(b, K_NEG, quotient), t, r);
  rest = k_select(b, k_less_than(b, rest, 0), k_add(b, rest, t), rest);
  k_while_end(b, &rest, 1);
  return k_result(b, loop, 0);
}

static k_value mod_f64(k_builder *b, k_value x, k_value y, bool brief) {
  (void)brief; // it is exact
  k_value zero = k_real(b, x, 0), infinity = k_real(b, x, INFINITY);
  k_value r = k_unary(b, K_ABS, x), divisor = k_unary(b, K_ABS, y);
  k_value finite = k_lt(b, r, infinity);
  k_value divides = k_binary(b, K_AND, k_lt(b, zero, divisor), k_lt(b, divisor, infinity));
  k_value plain = k_binary(b, K_AND, finite, divides);
  r = k_select(b, plain, r, zero);
  r = long_division(b, r, k_select(b, plain, divisor, k_real(b, x, 1)));
  k_value all = k_binary(b, K_AND, finite, k_binary(b, K_EQ, divisor, infinity)); // x / ±inf
  k_value special = k_select(b, all, x, k_real(b, x, NAN));
  return k_select(b, plain, k_copysign(b, r, x), special);
}

k_value k_mod(k_builder *b, k_value x, k_value y) {
  return is_float(x) ? k_in_f64_2(b, x, y, mod_f64) : k_binary(b, K_REM, x, y);
}

// Where the truncated quotient is one more than the rounded down one.
static k_value rounds_down(k_builder *b, k_value rest, k_value y) {
  k_value zero = zero_of(b, y);
  k_value differ = k_binary(b, K_XOR, k_lt(b, rest, zero), k_lt(b, y, zero));
  return k_binary(b, K_AND, differ, k_binary(b, K_NE, rest, zero));
}

k_value k_remainder(k_builder *b, k_value x, k_value y) {
  k_value rest = k_mod(b, x, y), zero = zero_of(b, y);
  k_value result = k_select(b, rounds_down(b, rest, y), k_add(b, rest, y), rest);
  if (!is_float(x)) return result;
  return k_select(b, k_binary(b, K_EQ, rest, zero), k_copysign(b, zero, y), result);
}

static k_value floor_div_float(k_builder *b, k_value x, k_value y) {
  k_value rest = k_mod(b, x, y), zero = k_real(b, x, 0), one = k_real(b, x, 1);
  k_value plain = k_binary(b, K_DIV, x, y);
  k_value quotient = k_binary(b, K_DIV, k_sub(b, x, rest), y);
  quotient = k_select(b, rounds_down(b, rest, y), k_sub(b, quotient, one), quotient);
  k_value below = k_unary(b, K_FLOOR, quotient);
  k_value up = k_lt(b, k_real(b, x, 0.5), k_sub(b, quotient, below));
  k_value result = k_select(b, up, k_add(b, below, one), below);
  k_value is_zero = k_binary(b, K_EQ, quotient, zero);
  result = k_select(b, is_zero, k_copysign(b, zero, plain), result);
  return k_select(b, k_binary(b, K_EQ, y, zero), plain, result);
}

k_value k_floor_div(k_builder *b, k_value x, k_value y) {
  if (is_float(x)) return floor_div_float(b, x, y);
  k_value quotient = k_binary(b, K_DIV, x, y), rest = k_binary(b, K_REM, x, y);
  k_value less = k_sub(b, quotient, k_int(b, x->dtype, x->lanes, 1));
  return k_select(b, rounds_down(b, rest, y), less, quotient);
}

k_value k_gcd(k_builder *b, k_value x, k_value y) {
  k_value start[] = {k_unary(b, K_ABS, x), k_unary(b, K_ABS, y)}, zero = zero_of(b, x);
  k_instr *loop = k_while_begin(b, start, 2);
  k_value larger = k_loop_carried(loop, 0), smaller = k_loop_carried(loop, 1);
  k_value goes_on = k_binary(b, K_NE, smaller, zero);
  k_while_do(b, k_any(b, goes_on));
  k_value rest = k_binary(b, K_REM, larger, smaller); // by 0 it is 0
  k_while_end(b, (k_value[]){k_select(b, goes_on, smaller, larger), rest}, 2);
  return k_unary(b, K_ABS, k_result(b, loop, 0));
}

// -- Bits ----------------------------------------------------------------------------------------

static leat_dtype unsigned_of(k_value x) {
  static const leat_dtype by_size[] = {
      [1] = LEAT_u8, [2] = LEAT_u16, [4] = LEAT_u32, [8] = LEAT_u64};
  return by_size[leat_dtype_size(x->dtype)];
}

static k_value shifted_right(k_builder *b, k_value x, int64_t count) {
  return k_binary(b, K_SHR, x, k_int(b, x->dtype, x->lanes, count));
}

static k_value masked(k_builder *b, k_value x, uint64_t mask) {
  return k_binary(b, K_AND, x, k_int(b, x->dtype, x->lanes, (int64_t)mask));
}

// Sums of neighbouring bits, of pairs, of fours; then all bytes are added by a product.
static k_value count_bits(k_builder *b, k_value x) {
  int64_t bits = 8 * (int64_t)leat_dtype_size(x->dtype);
  x = k_sub(b, x, masked(b, shifted_right(b, x, 1), 0x5555555555555555));
  k_value odd = masked(b, shifted_right(b, x, 2), 0x3333333333333333);
  x = k_add(b, masked(b, x, 0x3333333333333333), odd);
  x = masked(b, k_add(b, x, shifted_right(b, x, 4)), 0x0f0f0f0f0f0f0f0f);
  x = k_mul(b, x, k_int(b, x->dtype, x->lanes, 0x0101010101010101));
  return shifted_right(b, x, bits - 8);
}

k_value k_popcount(k_builder *b, k_value x) {
  return k_cast(b, x->dtype, count_bits(b, k_bitcast(b, unsigned_of(x), x)));
}

// The bits below the highest one set are set too: the others are the leading zeros.
k_value k_leading_zeros(k_builder *b, k_value x) {
  k_value all = k_bitcast(b, unsigned_of(x), x);
  for (int64_t n = 1; n < 8 * (int64_t)leat_dtype_size(x->dtype); n *= 2)
    all = k_binary(b, K_OR, all, shifted_right(b, all, n));
  return k_cast(b, x->dtype, count_bits(b, k_unary(b, K_NOT, all)));
}
