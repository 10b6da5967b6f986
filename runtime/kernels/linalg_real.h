// The factorisations in one precision; linalg.c includes it for float and for double.
#define PART REAL
#define P(x) R(x)
#include "runtime/kernels/matrix_real.h"

#include "runtime/kernels/lu_number.h"

#include "runtime/kernels/cholesky_number.h"
#include "runtime/kernels/qr_number.h"

#include "runtime/kernels/turn_real.h"

#include "runtime/kernels/eigen_real.h"

#include "runtime/kernels/svd_real.h"

#undef PART
#undef P
#undef REAL
#undef R
#undef R_ABS
#undef R_SQRT
#undef R_HYPOT
#undef R_EPSILON
#undef R_LEAST
#undef R_CONJ
#undef R_REAL
