// Products by the module leat-blis, compared with sums in double, tile by tile and all at once.
#include "base/module.h"
#include "leat/artifact.h"
#include "tests/unit/check.h"

#include <math.h>
#include <stdlib.h>

static leat_gemm_function load(void) {
  const void *address;
  leat_error error = {0};
  leat_gemm_function gemm = NULL;
  if (leat_module_load("blis", "leat_blis_gemm", &address, &error) == LEAT_OK)
    memcpy(&gemm, &address, sizeof gemm);
  else if (error.status != LEAT_NOT_FOUND)
    CHECK_FAILED("%s", error.message);
  return gemm;
}

static void store(leat_dtype dtype, void *data, int64_t i, double value) {
  if (dtype == LEAT_f32)
    ((float *)data)[i] = (float)value;
  else
    ((double *)data)[i] = value;
}

static double fetch(leat_dtype dtype, const void *data, int64_t i) {
  return dtype == LEAT_f32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

// Numbers in [-1, 1), the same for the same count; what c holds at first must not matter.
static void *numbers(leat_dtype dtype, int64_t count, double fill) {
  void *data = malloc((size_t)(count + 1) * 8);
  for (int64_t i = 0; i < count; i++) {
    uint32_t bits = (uint32_t)i * 2654435761u ^ (uint32_t)(i >> 3) * 40503u;
    store(dtype, data, i, isnan(fill) ? fill : bits / 2147483648.0 - 1);
  }
  return data;
}

static int64_t size_of(const leat_gemm *g, int64_t rows, int64_t columns) {
  return g->batch * rows * columns;
}

static int64_t tiles_of(const leat_gemm *g) {
  return g->batch * ((g->m + LEAT_GEMM_ROWS - 1) / LEAT_GEMM_ROWS) *
         ((g->n + LEAT_GEMM_COLUMNS - 1) / LEAT_GEMM_COLUMNS);
}

static leat_gemm make(leat_dtype dtype, int64_t m, int64_t n, int64_t k, int64_t batch,
                      int transposed) {
  leat_gemm g = {.dtype = dtype,
                 .m = m,
                 .n = n,
                 .k = k,
                 .batch = batch,
                 .transpose_a = transposed & 1,
                 .transpose_b = transposed & 2};
  g.a = numbers(dtype, size_of(&g, m, k), 0);
  g.b = numbers(dtype, size_of(&g, k, n), 0);
  g.c = numbers(dtype, size_of(&g, m, n), NAN);
  return g;
}

static void finish(leat_gemm *g) {
  free((void *)g->a);
  free((void *)g->b);
  free(g->c);
}

static double exact(const leat_gemm *g, int64_t matrix, int64_t row, int64_t column) {
  double sum = 0;
  for (int64_t i = 0; i < g->k; i++) {
    int64_t a = matrix * g->m * g->k + (g->transpose_a ? i * g->m + row : row * g->k + i);
    int64_t b = matrix * g->k * g->n + (g->transpose_b ? column * g->k + i : i * g->n + column);
    sum += fetch(g->dtype, g->a, a) * fetch(g->dtype, g->b, b);
  }
  return sum;
}

// Every 7th element and the last.
static void check_values(const leat_gemm *g) {
  double allowed = (g->dtype == LEAT_f32 ? 1e-6 : 1e-14) * (double)(g->k + 1);
  int64_t count = size_of(g, g->m, g->n);
  for (int64_t i = 0; i < count; i += i + 7 < count || i == count - 1 ? 7 : count - 1 - i) {
    double want = exact(g, i / (g->m * g->n), i / g->n % g->m, i % g->n);
    if (fabs(fetch(g->dtype, g->c, i) - want) <= allowed) continue;
    CHECK_FAILED("%s %" PRId64 "×%" PRId64 "×%" PRId64 ": element %" PRId64 " is %g, not %g",
                 leat_dtype_name(g->dtype), g->m, g->n, g->k, i, fetch(g->dtype, g->c, i), want);
    return;
  }
}

static const int64_t sizes[][4] = {
    // m, n, k, batch
    {1, 1, 1, 1},    {1, 40, 16, 1},   {40, 1, 17, 1},    {3, 5, 0, 2},     {0, 16, 16, 1},
    {31, 33, 64, 3}, {300, 20, 19, 2}, {257, 513, 40, 1}, {20, 1100, 9, 2}, {64, 64, 800, 1},
};
enum { SIZES = sizeof sizes / sizeof *sizes };

TEST(products_are_right) {
  leat_gemm_function gemm = load();
  if (!gemm) CHECK_SKIP("the module leat-blis is not built");
  for (int i = 0; i < SIZES * 8; i++) {
    const int64_t *size = sizes[i / 8];
    leat_dtype dtype = i & 4 ? LEAT_f64 : LEAT_f32;
    leat_gemm g = make(dtype, size[0], size[1], size[2], size[3], i & 3);
    CHECK_EQ_INT(gemm(&g, 0, tiles_of(&g)), LEAT_OK);
    check_values(&g);
    finish(&g);
  }
}

TEST(bits_do_not_depend_on_who_computes_a_tile) {
  leat_gemm_function gemm = load();
  if (!gemm) CHECK_SKIP("the module leat-blis is not built");
  leat_gemm g = make(LEAT_f32, 700, 1300, 500, 2, 1), again = g;
  int64_t tiles = tiles_of(&g), bytes = size_of(&g, g.m, g.n) * 4;
  again.c = numbers(LEAT_f32, size_of(&g, g.m, g.n), 0);
  CHECK_EQ_INT(tiles, 18);
  CHECK_EQ_INT(gemm(&g, 0, tiles), LEAT_OK);
  for (int64_t tile = tiles; tile-- > 0;) CHECK_EQ_INT(gemm(&again, tile, tile + 1), LEAT_OK);
  CHECK(memcmp(g.c, again.c, (size_t)bytes) == 0);
  free(again.c);
  finish(&g);
}

TEST(bits_of_a_row_do_not_depend_on_how_many_there_are) {
  leat_gemm_function gemm = load();
  if (!gemm) CHECK_SKIP("the module leat-blis is not built");
  leat_gemm all = make(LEAT_f32, 300, 70, 500, 1, 0), few = all;
  few.m = 3;
  few.c = numbers(LEAT_f32, size_of(&few, few.m, few.n), 0);
  CHECK_EQ_INT(gemm(&all, 0, tiles_of(&all)), LEAT_OK);
  CHECK_EQ_INT(gemm(&few, 0, tiles_of(&few)), LEAT_OK);
  CHECK(memcmp(all.c, few.c, (size_t)size_of(&few, few.m, few.n) * 4) == 0);
  free(few.c);
  finish(&all);
}

CHECK_MAIN("blis")
