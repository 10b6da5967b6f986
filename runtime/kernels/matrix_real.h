// What the factorisations share, in one precision: C -= A · B, dot products, the largest number.
// Matrices are row-major, ld is from row to row. Orders of summation are fixed: the same bits on
// every CPU.

// Rotations of the rows of a matrix, gathered by sweeps: see turn_real.h.
typedef struct R(sweeps) {
  REAL *z; // n × columns
  int64_t n, columns;
  REAL *turns; // BLOCK × n × 2: cosine and sine of rows i and i + 1
  REAL *strip; // n rows of up to 4 vectors, 2 BLOCK numbers at most
  int count;   // sweeps; they go from the row `first` to `last`
  int64_t first[BLOCK], last[BLOCK];
} R(sweeps);

#define PASS "runtime/kernels/matrix_pass.h"
#include "runtime/kernels/each_width.h"

// C -= A · B: m × n, m × k, k × n.
static void R(subtract)(int64_t m, int64_t n, int64_t k, const REAL *a, int64_t lda, const REAL *b,
                        int64_t ldb, REAL *c, int64_t ldc) {
  int64_t done = 0;
#if WIDEST == 64
  leat_cpu_level level = leat_cpu_host_level();
  if (level == LEAT_CPU_AVX512) done = R(columns_64)(m, n, k, a, lda, b, ldb, c, ldc);
  if (level >= LEAT_CPU_AVX2)
    done += R(columns_32)(m, n - done, k, a, lda, b + done, ldb, c + done, ldc);
#endif
#if WIDEST >= 16
  done += R(columns_16)(m, n - done, k, a, lda, b + done, ldb, c + done, ldc);
#endif
  R(columns_1)(m, n - done, k, a, lda, b + done, ldb, c + done, ldc);
}

#define NAME(x) R(x)
#define TARGET
#if WIDEST
#define VECTOR_BYTES 16
#endif
#define PASS "runtime/kernels/dot_pass.h"
#include "runtime/kernels/one_width.h"
#undef PASS

static REAL R(largest)(int64_t n, const REAL *x) {
  REAL largest = 0;
  for (int64_t i = 0; i < n; i++)
    if (largest == largest && !(R_ABS(x[i]) <= largest)) largest = R_ABS(x[i]); // a NaN stays
  return largest;
}
