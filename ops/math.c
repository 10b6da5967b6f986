// Element-wise functions. The meaning is the C library's one precision up, rounded once: of f32 its
// double, of f64 its long double. Zeros, infinities and domains are C99 Annex F's and NumPy's. How
// near the kernels (kernel/math_*.c) come is in the table of tests/sweep/op_calls.c.
#include "ops/element.h"

UNARY_FLOAT(sqrt, sqrt(a))

#define UP(function) sizeof a == 4 ? function((double)a) : function((long double)a)
UNARY_FLOAT(exp, UP(exp))
UNARY_FLOAT(log, UP(log))
UNARY_FLOAT(tanh, UP(tanh))
