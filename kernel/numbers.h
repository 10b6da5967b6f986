// Kernels that differ in numbers alone: what they have in common, and the numbers, which may become
// scalars, so that one kernel does for all.
//
// Numbers are places, extents and strides outside of the innermost loops, there strides, if wanted,
// and floats anywhere, as far as code gains nothing by knowing them: divisors in loops stay, and so
// do distances of addresses in an innermost loop. What folds was folded when the kernel was built.
#ifndef LEAT_KERNEL_NUMBERS_H
#define LEAT_KERNEL_NUMBERS_H

#include "kernel/kernel.h"

typedef struct k_numbers {
  leat_text shape;            // all but the numbers; the caller finishes it
  leat_vec(k_value *) places; // the operands that are numbers, K_CONST, in order
} k_numbers;

void k_numbers_find(leat_kernel *kernel, bool strides, leat_arena *arena, k_numbers *out);
// Whether an innermost loop has registers for what comes of arguments in these places (a bool for
// each), which addresses with constants in them would not need.
bool k_numbers_are_cheap(const leat_kernel *kernel, bool strides, leat_arena *scratch,
                         const bool *chosen);
// A value of the dtype and lanes of `number` that is the new scalar: its imm, as an i64.
k_value k_number_argument(leat_kernel *kernel, uint32_t scalar, k_value number);

#endif
