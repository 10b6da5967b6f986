// Complex numbers: their parts, and what references compute them in.
#ifndef LEAT_OPS_COMPLEX_H
#define LEAT_OPS_COMPLEX_H

#include "leat/dtype.h"

#include <stdbool.h>

typedef float _Complex leat_complex64;
typedef double _Complex leat_complex128;

// The product by the school's formula, each operation rounded: C's own looks for infinities among
// NaNs.
#define LEAT_TIMES(z, w)                                                                           \
  __builtin_complex(__real__(z) * __real__(w) - __imag__(z) * __imag__(w),                         \
                    __real__(z) * __imag__(w) + __imag__(z) * __real__(w))

static inline bool leat_dtype_is_complex(leat_dtype dtype) {
  return leat_dtype_kind_of(dtype) == LEAT_KIND_COMPLEX;
}

static inline leat_dtype leat_part_dtype(leat_dtype dtype) { // of a real one itself
  return dtype == LEAT_c64 ? LEAT_f32 : dtype == LEAT_c128 ? LEAT_f64 : dtype;
}

#endif
