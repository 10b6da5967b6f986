// The two floats of 16 bits as numbers: f16 (IEEE 754 binary16: 5 bits of exponent, 10 of mantissa)
// and bf16 (the upper half of an f32: 8 and 7).
//
// Widening is exact. Narrowing rounds once, to nearest even, to denormals and to infinity as IEEE
// has it; a NaN stays a NaN, quiet, with the upper bits of its payload.
#ifndef LEAT_BASE_HALF_H
#define LEAT_BASE_HALF_H

#include "leat/dtype.h"

static inline bool leat_dtype_is_half(leat_dtype dtype) {
  return dtype == LEAT_f16 || dtype == LEAT_bf16;
}

// dtype: f16 or bf16.
double leat_half_value(leat_dtype dtype, uint16_t half);
uint16_t leat_half_of(leat_dtype dtype, double value);

#endif
