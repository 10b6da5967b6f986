// The module leat-blis: plain dense matmuls by BLIS, one call of one thread for each tile, so that
// the bits do not depend on how many threads share the tiles.
//
// BLIS 0.9 does not know today's CPUs and would take its generic kernels: its configuration is
// chosen here, before its first call, unless the user has.
#include "base/cpuid.h"
#include "runtime/runtime.h"

#include <blis.h>
#include <stdlib.h>

__attribute__((constructor)) static void choose_configuration(void) {
  static const char *const architectures[] = {
      [LEAT_CPU_BASELINE] = NULL, [LEAT_CPU_AVX2] = "3" /* haswell */, [LEAT_CPU_AVX512] = "0"};
  const char *architecture = architectures[leat_cpu_host_level()]; // "0": skx
  if (architecture) setenv("BLIS_ARCH_TYPE", architecture, 0);
}

// The operand strides of a row-major matrix of `columns` columns, or of its transpose.
static void set_strides(bool transposed, int64_t rows, int64_t columns, inc_t *row, inc_t *column) {
  *row = transposed ? 1 : columns;
  *column = transposed ? rows : 1;
}

// c = a · b for `rows` rows of c; the strides say where the elements of a and b are.
static int32_t multiply(leat_dtype dtype, void *c, const void *a, const void *b, int64_t rows,
                        int64_t n, int64_t k, inc_t a_row, inc_t a_column, inc_t b_row,
                        inc_t b_column) {
  rntm_t one_thread = BLIS_RNTM_INITIALIZER;
  bli_rntm_set_num_threads(1, &one_thread);
  if (dtype == LEAT_f32) {
    float one = 1, zero = 0;
    bli_sgemm_ex(BLIS_NO_TRANSPOSE, BLIS_NO_TRANSPOSE, rows, n, k, &one, (float *)a, a_row,
                 a_column, (float *)b, b_row, b_column, &zero, c, n, 1, NULL, &one_thread);
  } else if (dtype == LEAT_f64) {
    double one = 1, zero = 0;
    bli_dgemm_ex(BLIS_NO_TRANSPOSE, BLIS_NO_TRANSPOSE, rows, n, k, &one, (double *)a, a_row,
                 a_column, (double *)b, b_row, b_column, &zero, c, n, 1, NULL, &one_thread);
  } else {
    return LEAT_UNSUPPORTED;
  }
  return LEAT_OK;
}

// A tile is a matrix of the batch, or rows of the one there is: as many as leave no tile empty.
static int32_t gemm(leat_dtype dtype, void *c, const void *a, const void *b, int64_t m, int64_t n,
                    int64_t k, bool transpose_a, bool transpose_b, int64_t batch, int64_t tiles,
                    int64_t tile_begin, int64_t tile_end) {
  int64_t size = (int64_t)leat_dtype_size(dtype);
  int64_t rows_of_tile = batch == 1 && tiles ? (m + tiles - 1) / tiles : m;
  inc_t a_row, a_column, b_row, b_column;
  set_strides(transpose_a, m, k, &a_row, &a_column);
  set_strides(transpose_b, k, n, &b_row, &b_column);
  for (int64_t tile = tile_begin; tile < tile_end; tile++) {
    int64_t matrix = batch == 1 ? 0 : tile, first = batch == 1 ? tile * rows_of_tile : 0;
    int64_t rows = m - first < rows_of_tile ? m - first : rows_of_tile;
    if (rows <= 0) break;
    int32_t status = multiply(dtype, (char *)c + (matrix * m + first) * n * size,
                              (const char *)a + (matrix * m * k + first * a_row) * size,
                              (const char *)b + matrix * k * n * size, rows, n, k, a_row, a_column,
                              b_row, b_column);
    if (status) return status;
  }
  return LEAT_OK;
}

__attribute__((visibility("default"))) extern const leat_gemm_function leat_blis_gemm;
const leat_gemm_function leat_blis_gemm = gemm;
