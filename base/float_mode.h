// Subnormal numbers (also called denormals) and this thread's arithmetic. In the mode *zero* an
// operation of f32 and f64 takes a subnormal operand as a zero of its sign and gives such a zero
// where its result would be subnormal; otherwise they are kept. What moves or takes apart bits sees
// no difference. The mode is MXCSR's FTZ and DAZ on x86-64 and FPCR's FZ on AArch64; other machines
// (and AArch64 for compilers without GNU C) have none, and keep them.
#ifndef LEAT_BASE_FLOAT_MODE_H
#define LEAT_BASE_FLOAT_MODE_H

#include <stdbool.h>
#include <stdint.h>

// All that the control register says, flags of exceptions included.
typedef uint64_t leat_float_mode;

leat_float_mode leat_float_mode_of_thread(void);
// Sets the mode; returns what there was, for leat_float_mode_end.
leat_float_mode leat_float_mode_begin(bool keep_denormals);
void leat_float_mode_end(leat_float_mode before);
bool leat_denormals_are_zero(void);
bool leat_denormals_can_be_zero(void); // the machine has the mode

#endif
