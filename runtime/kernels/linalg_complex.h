// The factorisations of complex matrices in one precision: REAL is their type, PART that of the
// parts, whose functions are named P. linalg.c includes it for both.
#define PARTS 2
#define NAME(x) R(x##_1)
#define TARGET
#define PASS "runtime/kernels/gemm_pass.h"
#include "runtime/kernels/one_width.h"
#undef PASS

// C -= A · B: m × n, m × k, k × n.
static void R(subtract)(int64_t m, int64_t n, int64_t k, const REAL *a, int64_t lda, const REAL *b,
                        int64_t ldb, REAL *c, int64_t ldc) {
  R(columns_1)(m, n, k, a, lda, b, ldb, c, ldc);
}

// Of x and the conjugate of y.
static REAL R(dot)(int64_t n, const REAL *x, const REAL *y) {
  REAL total = 0;
  for (int64_t i = 0; i < n; i++) total += x[i] * R_CONJ(y[i]);
  return total;
}

// A complex number is two parts one after the other.
static PART R(largest)(int64_t n, const REAL *x) {
  return P(largest)(n * PARTS, (const PART *)x);
}

#include "runtime/kernels/lu_number.h"

#include "runtime/kernels/cholesky_number.h"
#include "runtime/kernels/qr_number.h"

#include "runtime/kernels/eigh_number.h"

#include "runtime/kernels/svd_number.h"

#undef PART
#undef P
#undef PARTS
#undef REAL
#undef R
#undef R_ABS
#undef R_SQRT
#undef R_CONJ
#undef R_REAL
