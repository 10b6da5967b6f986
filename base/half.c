// One algorithm for both formats, over the bits of a double, of which every f32 is one.
#include "base/half.h"

#include <math.h>
#include <string.h>

enum { DOUBLE_MANTISSA = 52, DOUBLE_BIAS = 1023, HALF_BITS = 16 };

static int mantissa_bits(leat_dtype dtype) {
  return dtype == LEAT_f16 ? 10 : 7;
}

static int bias_of(leat_dtype dtype) {
  return dtype == LEAT_f16 ? 15 : 127;
}

static uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static double value_of(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

double leat_half_value(leat_dtype dtype, uint16_t half) {
  int mantissa = mantissa_bits(dtype), bias = bias_of(dtype);
  uint64_t sign = (uint64_t)(half >> (HALF_BITS - 1)) << 63;
  uint64_t fraction = half & ((1u << mantissa) - 1), exponent = (half & 0x7fffu) >> mantissa;
  if (exponent > 2 * (uint64_t)bias) // infinity or NaN
    return value_of(sign | (uint64_t)0x7ff << DOUBLE_MANTISSA |
                    fraction << (DOUBLE_MANTISSA - mantissa));
  int scale = exponent ? (int)exponent : 1;
  double significand = (double)(exponent ? fraction | 1u << mantissa : fraction);
  return value_of(sign | bits_of(ldexp(significand, scale - bias - mantissa)));
}

// x / 2^shift, to nearest even.
static uint64_t shift_rounding(uint64_t x, int shift) {
  if (shift > 63) return 0;
  uint64_t half = (uint64_t)1 << (shift - 1), odd = x >> shift & 1;
  return (x + half - 1 + odd) >> shift;
}

uint16_t leat_half_of(leat_dtype dtype, double value) {
  int mantissa = mantissa_bits(dtype), bias = bias_of(dtype), drop = DOUBLE_MANTISSA - mantissa;
  uint64_t bits = bits_of(value), magnitude = bits & (UINT64_MAX >> 1);
  uint64_t fraction = magnitude & (((uint64_t)1 << DOUBLE_MANTISSA) - 1);
  uint64_t infinity = (2 * (uint64_t)bias + 1) << mantissa, result;
  int exponent = (int)(magnitude >> DOUBLE_MANTISSA) - DOUBLE_BIAS + bias;
  if (isnan(value))
    result = infinity | (uint64_t)1 << (mantissa - 1) | fraction >> drop;
  else if (exponent > 2 * bias)
    result = infinity;
  else if (exponent > 0) // what rounds up carries into the exponent, up to infinity
    result = shift_rounding((uint64_t)exponent << DOUBLE_MANTISSA | fraction, drop);
  else // a denormal, or the least normal
    result = shift_rounding(fraction | (uint64_t)1 << DOUBLE_MANTISSA, drop + 1 - exponent);
  return (uint16_t)(result | bits >> 63 << (HALF_BITS - 1));
}
