// The module leat-blis and the library of executables libleat_blis: matmuls by BLIS, a call of one
// thread for each tile, so that no bit depends on how many threads share the tiles.
//
// BLIS 0.9 knows no CPU of today and would take its generic kernels: its configuration is chosen
// here, before its first call, unless the user has.
#include "base/cpuid.h"
#include "leat/artifact.h"

#include <blis.h>
#include <stdlib.h>

__attribute__((constructor)) static void choose_configuration(void) {
  static const char *const configurations[] = {
      [LEAT_CPU_BASELINE] = NULL,
      [LEAT_CPU_SSE4] = NULL,
      [LEAT_CPU_AVX2] = "3",   // haswell
      [LEAT_CPU_AVX512] = "0", // skx
  };
  const char *configuration = configurations[leat_cpu_host_level()];
  if (configuration) setenv("BLIS_ARCH_TYPE", configuration, 0);
}

// Matrices of `size` elements, one after the other, and where an element lies in one.
typedef struct operand {
  num_t type;
  char *data;
  int64_t size, row_step, column_step;
} operand;

// Row-major rows × columns, or its transpose in row-major order.
static operand operand_of(num_t type, const void *data, int64_t rows, int64_t columns,
                          bool transposed) {
  return (operand){.type = type,
                   .data = (char *)data,
                   .size = rows * columns,
                   .row_step = transposed ? 1 : columns,
                   .column_step = transposed ? rows : 1};
}

// `rows` × `columns` elements of a matrix, from (row, column) on.
static obj_t block(const operand *x, int64_t matrix, int64_t row, int64_t column, int64_t rows,
                   int64_t columns) {
  obj_t object;
  int64_t first = matrix * x->size + row * x->row_step + column * x->column_step;
  bli_obj_create_with_attached_buffer(x->type, rows, columns,
                                      x->data + first * (int64_t)bli_dt_size(x->type), x->row_step,
                                      x->column_step, &object);
  return object;
}

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

// BLIS has other code for small matrices, which adds in another order: it is switched off, so that
// an element's bits do not depend on how many rows there are.
static rntm_t one_thread(void) {
  rntm_t runtime = BLIS_RNTM_INITIALIZER;
  bli_rntm_set_num_threads(1, &runtime);
  bli_rntm_disable_l3_sup(&runtime);
  return runtime;
}

__attribute__((visibility("default"))) int32_t leat_blis_gemm(const leat_gemm *gemm,
                                                              int64_t tile_begin,
                                                              int64_t tile_end) {
  if (gemm->dtype != LEAT_f32 && gemm->dtype != LEAT_f64) return LEAT_UNSUPPORTED;
  num_t type = gemm->dtype == LEAT_f32 ? BLIS_FLOAT : BLIS_DOUBLE;
  int64_t m = gemm->m, n = gemm->n, k = gemm->k;
  int64_t down = (m + LEAT_GEMM_ROWS - 1) / LEAT_GEMM_ROWS;
  int64_t across = (n + LEAT_GEMM_COLUMNS - 1) / LEAT_GEMM_COLUMNS;
  operand a = operand_of(type, gemm->a, m, k, gemm->transpose_a);
  operand b = operand_of(type, gemm->b, k, n, gemm->transpose_b);
  operand c = operand_of(type, gemm->c, m, n, false);
  rntm_t runtime = one_thread();
  for (int64_t tile = tile_begin; tile < tile_end; tile++) {
    int64_t matrix = tile / (down * across);
    int64_t row = tile % down * LEAT_GEMM_ROWS, rows = least(m - row, LEAT_GEMM_ROWS);
    int64_t column = tile / down % across * LEAT_GEMM_COLUMNS;
    int64_t columns = least(n - column, LEAT_GEMM_COLUMNS);
    obj_t left = block(&a, matrix, row, 0, rows, k);
    obj_t right = block(&b, matrix, 0, column, k, columns);
    obj_t product = block(&c, matrix, row, column, rows, columns);
    bli_gemm_ex(&BLIS_ONE, &left, &right, &BLIS_ZERO, &product, NULL, &runtime);
  }
  return LEAT_OK;
}
