// Dtypes that kernels hold without computing in them (see kernel/lowering.h), and the conversions
// between them and the others: integer arithmetic, so the same on every target.
//
// A narrowing conversion rounds once. From f32 that is one step; wider numbers first become an f32
// by rounding to odd (the bits that are cut off, if any is set, set the last one that stays), which
// leaves to the second step all that it needs to know (Boldo and Melquiond, 2008).
#include "kernel/lowering.h"

#include "base/half.h"

leat_dtype k_dtype(leat_dtype dtype) {
  switch ((int)dtype) {
  case LEAT_f16:
  case LEAT_bf16: return LEAT_u16;
  case LEAT_c64: return LEAT_f32;
  case LEAT_c128: return LEAT_f64;
  case LEAT_str: return LEAT_u64;
  }
  return dtype;
}

int k_words(leat_dtype dtype) {
  return (int)(leat_dtype_size(dtype) / leat_dtype_size(k_dtype(dtype)));
}

static k_value number(k_builder *b, k_value like, int64_t value) {
  return k_int(b, like->dtype, like->lanes, value);
}

static k_value shift_left(k_builder *b, k_value x, int count) {
  return k_binary(b, K_SHL, x, number(b, x, count));
}

static k_value shift_right(k_builder *b, k_value x, int count) {
  return k_binary(b, K_SHR, x, number(b, x, count));
}

static k_value either(k_builder *b, k_value x, k_value y) {
  return k_binary(b, K_OR, x, y);
}

static k_value bits_and(k_builder *b, k_value x, int64_t mask) {
  return k_binary(b, K_AND, x, number(b, x, mask));
}

// -- To f32 ---------------------------------------------------------------------------------------

// The exponent's bias differs by 112. A denormal's bits count units of 2^-24: with the exponent of
// 2^-14 before them they are 2^-14 too large. No f32 here is denormal, as which it might be taken
// for 0.
static k_value f16_to_f32(k_builder *b, k_value half) {
  k_value wide = k_cast(b, LEAT_u32, half);
  k_value sign = shift_left(b, bits_and(b, wide, 0x8000), 16);
  k_value magnitude = shift_left(b, bits_and(b, wide, 0x7fff), 13);
  k_value normal = k_add(b, magnitude, number(b, magnitude, (int64_t)112 << 23));
  k_value lifted = k_add(b, magnitude, number(b, magnitude, (int64_t)113 << 23));
  k_value denormal =
      k_sub(b, k_bitcast(b, LEAT_f32, lifted), k_float(b, LEAT_f32, half->lanes, 0x1p-14));
  k_value special = k_binary(b, K_LE, number(b, magnitude, 0x7c00 << 13), magnitude);
  k_value is_small = k_lt(b, magnitude, number(b, magnitude, 0x400 << 13));
  k_value bits =
      k_select(b, special, either(b, magnitude, number(b, magnitude, 0x7f800000)), normal);
  bits = k_select(b, is_small, k_bitcast(b, LEAT_u32, denormal), bits);
  return k_bitcast(b, LEAT_f32, either(b, bits, sign));
}

static k_value bf16_to_f32(k_builder *b, k_value half) {
  return k_bitcast(b, LEAT_f32, shift_left(b, k_cast(b, LEAT_u32, half), 16));
}

// -- From f32 -------------------------------------------------------------------------------------

// x / 2^shift, to nearest even.
static k_value shift_rounding(k_builder *b, k_value x, int shift) {
  k_value odd = bits_and(b, shift_right(b, x, shift), 1);
  k_value half = number(b, x, ((int64_t)1 << (shift - 1)) - 1);
  return shift_right(b, k_add(b, x, k_add(b, odd, half)), shift);
}

// Bits of a NaN, quiet, with as much of its payload as there is room for.
static k_value quiet(k_builder *b, k_value magnitude, int shift, int64_t exponent, int64_t first) {
  k_value payload = bits_and(b, shift_right(b, magnitude, shift), 2 * first - 1);
  return either(b, payload, number(b, magnitude, exponent | first));
}

// Below the least normal an addition of 0.5 does the rounding: its last bit is the last of an f16
// denormal.
static k_value f32_to_f16(k_builder *b, k_value x) {
  k_value bits = k_bitcast(b, LEAT_u32, x), magnitude = bits_and(b, bits, 0x7fffffff);
  k_value sign = bits_and(b, shift_right(b, bits, 16), 0x8000);
  k_value lifted = k_add(b, k_bitcast(b, LEAT_f32, magnitude), k_float(b, LEAT_f32, x->lanes, 0.5));
  k_value denormal = k_sub(b, k_bitcast(b, LEAT_u32, lifted), number(b, bits, 0x3f000000));
  k_value rebiased = k_sub(b, magnitude, number(b, bits, (int64_t)112 << 23));
  k_value normal = shift_rounding(b, rebiased, 13);
  k_value nan = quiet(b, magnitude, 13, 0x7c00, 0x200), infinity = number(b, bits, 0x7c00);
  k_value is_nan = k_lt(b, number(b, bits, 0x7f800000), magnitude);
  k_value is_large = k_binary(b, K_LE, number(b, bits, 0x47800000), magnitude);
  k_value is_small = k_lt(b, magnitude, number(b, bits, 0x38800000));
  k_value result = k_select(b, is_small, denormal, normal);
  result = k_select(b, is_large, k_select(b, is_nan, nan, infinity), result);
  return k_cast(b, LEAT_u16, either(b, result, sign));
}

static k_value f32_to_bf16(k_builder *b, k_value x) {
  k_value bits = k_bitcast(b, LEAT_u32, x), magnitude = bits_and(b, bits, 0x7fffffff);
  k_value sign = bits_and(b, shift_right(b, bits, 16), 0x8000);
  k_value is_nan = k_lt(b, number(b, bits, 0x7f800000), magnitude);
  k_value result =
      k_select(b, is_nan, quiet(b, magnitude, 16, 0x7f80, 0x40), shift_rounding(b, magnitude, 16));
  return k_cast(b, LEAT_u16, either(b, result, sign));
}

// An f64 that is no f32 becomes the one of its two neighbours whose last bit is set. Infinity is
// such a neighbour of what is too large: the bits before it end in 1.
static k_value round_to_odd(k_builder *b, k_value x) {
  k_value near = k_cast(b, LEAT_f32, x), back = k_cast(b, LEAT_f64, near);
  k_value larger = k_lt(b, k_unary(b, K_ABS, x), k_unary(b, K_ABS, back));
  k_value smaller = k_lt(b, k_unary(b, K_ABS, back), k_unary(b, K_ABS, x));
  k_value bits = k_bitcast(b, LEAT_u32, near);
  bits = k_sub(b, bits, k_cast(b, LEAT_u32, larger));
  bits = either(b, bits, k_cast(b, LEAT_u32, either(b, larger, smaller)));
  return k_bitcast(b, LEAT_f32, bits);
}

static k_value to_f32(k_builder *b, k_value x) {
  bool exact = x->dtype == LEAT_f32 || x->dtype == LEAT_bool || leat_dtype_size(x->dtype) <= 2;
  return exact ? k_cast(b, LEAT_f32, x) : round_to_odd(b, k_cast(b, LEAT_f64, x));
}

k_value k_convert(k_builder *b, leat_dtype from, leat_dtype to, k_value x) {
  if (from == to) return x;
  if (from == LEAT_f16) x = f16_to_f32(b, x);
  if (from == LEAT_bf16) x = bf16_to_f32(b, x);
  if (to == LEAT_f16) return f32_to_f16(b, to_f32(b, x));
  if (to == LEAT_bf16) return f32_to_bf16(b, to_f32(b, x));
  return k_cast(b, to, x);
}
