// The factorisations in one precision; linalg.c includes it for float and for double.
#define PART REAL
#define P(x) R(x)
#define PARTS 1
#include "runtime/kernels/matrix_real.h"

#include "runtime/kernels/lu_number.h"

#include "runtime/kernels/cholesky_number.h"
#include "runtime/kernels/qr_number.h"

#include "runtime/kernels/turn_real.h"

#include "runtime/kernels/diagonals_real.h"

#include "runtime/kernels/eigh_number.h"

#include "runtime/kernels/svd_number.h"

#undef PART
#undef P
#undef PARTS
#undef REAL
#undef R
#undef R_ABS
#undef R_SQRT
#undef R_HYPOT
#undef R_EPSILON
#undef R_LEAST
#undef R_CONJ
#undef R_REAL
