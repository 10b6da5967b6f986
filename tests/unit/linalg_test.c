// ops/linalg.c and runtime/kernels/linalg.c: the factorisations as code calls them, with the
// scratch that library_X asks for, against what they promise and against ref_X.
#include "leat/artifact.h"
#include "ops/build.h"
#include "ops/complex.h"
#include "ops/ops.h"
#include "tests/unit/check.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

typedef leat_complex128 number; // an element of any dtype

static leat_arena *arena;
static leat_graph *graph;
static leat_builder builder;
static uint64_t state;

static void start(uint64_t seed) {
  if (arena) leat_arena_destroy(arena);
  arena = leat_arena_create();
  graph = leat_graph_create(arena, leat_strings_create(arena), "g");
  builder = (leat_builder){.graph = graph, .diag = leat_diag_create(arena)};
  state = seed;
}

static double next(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)state / 9223372036854775808.0;
}

// -- Calls ---------------------------------------------------------------------------------------

static number at(const leat_tensor *x, int64_t i) {
  switch ((int)x->dtype) {
  case LEAT_f32: return ((const float *)x->data)[i];
  case LEAT_f64: return ((const double *)x->data)[i];
  case LEAT_c64: return ((const leat_complex64 *)x->data)[i];
  case LEAT_c128: return ((const leat_complex128 *)x->data)[i];
  }
  return ((const int32_t *)x->data)[i];
}

static void put(leat_tensor *x, int64_t i, number value) {
  switch ((int)x->dtype) {
  case LEAT_f32: ((float *)x->data)[i] = (float)creal(value); break;
  case LEAT_f64: ((double *)x->data)[i] = creal(value); break;
  case LEAT_c64: ((leat_complex64 *)x->data)[i] = (leat_complex64)value; break;
  case LEAT_c128: ((leat_complex128 *)x->data)[i] = value; break;
  }
}

static bool is_nan(number x) {
  return isnan(creal(x)) || isnan(cimag(x));
}

static leat_tensor matrices(leat_dtype dtype, int64_t batch, int64_t m, int64_t n) {
  leat_tensor x = {dtype, 3, {batch, m, n}, NULL};
  x.data = leat_arena_alloc(arena, (size_t)leat_tensor_bytes(&x));
  for (int64_t i = 0; i < batch * m * n; i++) {
    double re = next(), im = leat_dtype_is_complex(dtype) ? next() : 0;
    put(&x, i, __builtin_complex(re, im));
  }
  return x;
}

static leat_kernel_function function_of(const char *name) {
#define LIBRARY(id)                                                                                \
  if (!strcmp(name, #id)) return leat_library_##id;
#include "leat/library.def"
  return NULL;
}

typedef struct result {
  leat_tensor out[3];
  leat_tensor ref[3];
} result;

// What the node gives by reference and by code, tile by tile from the last.
static result evaluate(leat_value value, const leat_tensor *inputs) {
  result r = {0};
  leat_node *node = value.node;
  leat_library_call call = {0};
  leat_error error = {0};
  leat_arg args[32];
  int count = 0, outputs = (int)node->output_count;
  leat_ref_context context = {.node = node, .inputs = inputs, .error = &error};
  CHECK_EQ_INT(leat_ref_evaluate(arena, &context), 0);
  CHECK(leat_library_of(node->op)(graph->dims, node, &call));
  for (int i = 0; i < outputs; i++) {
    r.ref[i] = r.out[i] = context.outputs[i];
    r.out[i].data = leat_arena_alloc(arena, (size_t)leat_tensor_bytes(&r.out[i]));
    args[count++].pointer = r.out[i].data;
  }
  for (uint32_t i = 0; i < node->input_count; i++) args[count++].pointer = inputs[i].data;
  void *scratch = call.scratch.value ? aligned_alloc(64, (size_t)call.scratch.value) : NULL;
  if (scratch) args[count++].pointer = scratch;
  for (uint32_t i = 0; i < call.scalar_count; i++) args[count++].value = call.scalars[i].value;
  for (int64_t tile = call.tiles.value; tile-- > 0;)
    CHECK_EQ_INT(function_of(call.function)(NULL, args, tile, tile + 1), 0);
  free(scratch);
  return r;
}

static result call(leat_op op, const leat_tensor *inputs, uint32_t count, const leat_attr *attrs) {
  leat_value values[2];
  for (uint32_t i = 0; i < count; i++) values[i] = leat_build_const(&builder, "x", &inputs[i]);
  leat_value node = leat_build(&builder, "y", op, values, count, attrs);
  return evaluate(node, inputs);
}

// -- Checks --------------------------------------------------------------------------------------

static int64_t rows_of(const leat_tensor *x) {
  return x->shape[1];
}

static int64_t columns_of(const leat_tensor *x) {
  return x->shape[2];
}

static leat_dtype doubled(leat_dtype dtype) {
  return leat_dtype_is_complex(dtype) ? LEAT_c128 : LEAT_f64;
}

// In double precision; `ta` and `tb` transpose, of complex numbers conjugate.
static leat_tensor product(const leat_tensor *a, bool ta, const leat_tensor *b, bool tb) {
  int64_t m = ta ? columns_of(a) : rows_of(a), k = ta ? rows_of(a) : columns_of(a);
  int64_t n = tb ? rows_of(b) : columns_of(b);
  leat_tensor c = matrices(doubled(a->dtype), a->shape[0], m, n);
  for (int64_t i = 0; i < a->shape[0] * m * n; i++) {
    int64_t batch = i / (m * n), row = i / n % m, column = i % n;
    number sum = 0;
    for (int64_t l = 0; l < k; l++) {
      number left = at(a, batch * m * k + (ta ? l * m + row : row * k + l));
      number right = at(b, batch * k * n + (tb ? column * k + l : l * n + column));
      sum += (ta ? conj(left) : left) * (tb ? conj(right) : right);
    }
    put(&c, i, sum);
  }
  return c;
}

static double distance(const leat_tensor *a, const leat_tensor *b) {
  double worst = 0;
  for (int64_t i = 0; i < leat_shape_elements(a->rank, a->shape); i++) {
    bool both_nan = is_nan(at(a, i)) && is_nan(at(b, i));
    if (!both_nan && !(cabs(at(a, i) - at(b, i)) <= worst)) worst = cabs(at(a, i) - at(b, i));
  }
  return worst;
}

static double from_identity(const leat_tensor *x) {
  double worst = 0;
  int64_t n = columns_of(x);
  for (int64_t i = 0; i < x->shape[0] * n * n; i++)
    worst = fmax(worst, cabs(at(x, i) - (i % (n * n) % (n + 1) == 0)));
  return worst;
}

static double unit(leat_dtype dtype) {
  return leat_part_dtype(dtype) == LEAT_f64 ? 0x1p-52 : 0x1p-23;
}

#define CHECK_NEAR(what, error, tolerance)                                                         \
  if (!((error) <= (tolerance)))                                                                   \
  CHECK_FAILED("%s: %s %lld × %lld: error %g, not %g", what, leat_dtype_name(x.dtype),             \
               (long long)rows_of(&x), (long long)columns_of(&x), (double)(error),                 \
               (double)(tolerance))

static const leat_dtype dtypes[] = {LEAT_f32, LEAT_f64, LEAT_c64, LEAT_c128};
static const int64_t shapes[][2] = {{0, 3},   {1, 1},  {2, 2},  {3, 3},   {5, 2},  {2, 5},
                                    {17, 17}, {33, 9}, {9, 33}, {37, 37}, {70, 40}};
enum { DTYPES = 4, SHAPES = sizeof shapes / sizeof *shapes };

#define EACH_MATRIX(x, seed)                                                                       \
  CHECK_EACH(k, 0, DTYPES *SHAPES, 4)                                                              \
  for (leat_tensor x =                                                                             \
           (start((seed) + (uint64_t)k),                                                           \
            matrices(dtypes[k / SHAPES], 2, shapes[k % SHAPES][0], shapes[k % SHAPES][1]));        \
       x.data; x.data = NULL)

TEST(cholesky) {
  EACH_MATRIX(y, 1) {
    int64_t n = rows_of(&y);
    leat_tensor x = product(&y, false, &y, true);
    for (int64_t i = 0; i < n; i++)
      for (int batch = 0; batch < 2; batch++)
        put(&x, batch * n * n + i * (n + 1), at(&x, batch * n * n + i * (n + 1)) + (double)n);
    result r = call(LEAT_OP_cholesky, &x, 1, NULL);
    leat_tensor back = product(&r.out[0], false, &r.out[0], true);
    CHECK_NEAR("cholesky", distance(&back, &x), 1e-15 * (double)(4 * n * n + 1));
    CHECK_NEAR("cholesky, ref", distance(&r.out[0], &r.ref[0]), 1e-15 * (double)(4 * n * n + 1));
  }
}

TEST(cholesky_of_an_indefinite_matrix) {
  start(1);
  leat_tensor x = matrices(LEAT_f32, 1, 2, 2);
  static const float values[] = {1, 2, 2, 1};
  memcpy(x.data, values, sizeof values);
  result r = call(LEAT_OP_cholesky, &x, 1, NULL);
  for (int i = 0; i < 4; i++) CHECK(is_nan(at(&r.out[0], i)) && is_nan(at(&r.ref[0], i)));
}

TEST(lu) {
  EACH_MATRIX(x, 2) {
    result r = call(LEAT_OP_lu, &x, 1, NULL);
    int64_t m = rows_of(&x), n = columns_of(&x), count = m < n ? m : n;
    double worst = 0;
    for (int64_t i = 0; i < 2 * m * n; i++) {
      int64_t batch = i / (m * n), row = i / n % m, column = i % n;
      int64_t origin = (int64_t)creal(at(&r.out[2], batch * m + row));
      number from = at(&x, batch * m * n + origin * n + column), sum = 0;
      for (int64_t l = 0; l <= row && l <= column && l < count; l++)
        sum += (l == row ? 1 : at(&r.out[0], batch * m * n + row * n + l)) *
               at(&r.out[0], batch * m * n + l * n + column);
      worst = fmax(worst, cabs(sum - from));
    }
    CHECK_NEAR("lu", worst, unit(x.dtype) * (double)(4 * count + 1));
    CHECK(!memcmp(r.out[1].data, r.ref[1].data, (size_t)leat_tensor_bytes(&r.out[1])));
    CHECK(!memcmp(r.out[2].data, r.ref[2].data, (size_t)leat_tensor_bytes(&r.out[2])));
  }
}

TEST(triangular_solve) {
  for (int flags = 0; flags < 16; flags++) EACH_MATRIX(x, 3) {
      int64_t m = rows_of(&x), n = columns_of(&x);
      bool right = flags & 1;
      leat_tensor a = matrices(x.dtype, 2, right ? n : m, right ? n : m);
      for (int64_t i = 0; i < 2 * rows_of(&a) * rows_of(&a); i++) {
        bool diagonal = i % (rows_of(&a) * rows_of(&a)) % (rows_of(&a) + 1) == 0;
        put(&a, i, diagonal ? 1 + fabs(next()) : next() / (double)(1 + rows_of(&a)));
      }
      leat_attr attrs[] = {
          {.i = right}, {.i = flags >> 1 & 1}, {.i = flags >> 2 & 1}, {.i = flags >> 3 & 1}};
      leat_tensor inputs[] = {a, x};
      result r = call(LEAT_OP_triangular_solve, inputs, 2, attrs);
      CHECK_NEAR("triangular_solve", distance(&r.out[0], &r.ref[0]), 64 * unit(x.dtype));
    }
}

TEST(qr) {
  for (int full = 0; full < 2; full++) EACH_MATRIX(x, 4) {
      result r = call(LEAT_OP_qr, &x, 1, &(leat_attr){.i = full});
      double near = unit(x.dtype) * (double)(4 * (rows_of(&x) + columns_of(&x)));
      leat_tensor back = product(&r.out[0], false, &r.out[1], false);
      leat_tensor one = product(&r.out[0], true, &r.out[0], false);
      CHECK_NEAR("qr", distance(&back, &x), near);
      CHECK_NEAR("qr: qᵀq", from_identity(&one), near);
      CHECK_NEAR("qr: r, ref", distance(&r.out[1], &r.ref[1]), 300 * near);
    }
}

static void check_eigh(leat_tensor x, double near) {
  int64_t n = rows_of(&x);
  result r = call(LEAT_OP_eigh, &x, 1, NULL);
  leat_tensor scaled = matrices(doubled(x.dtype), 2, n, n);
  for (int64_t i = 0; i < 2 * n * n; i++)
    put(&scaled, i, at(&r.out[1], i) * at(&r.out[0], i / (n * n) * n + i % n));
  leat_tensor back = product(&scaled, false, &r.out[1], true);
  leat_tensor one = product(&r.out[1], true, &r.out[1], false);
  CHECK_NEAR("eigh", distance(&back, &x), near);
  CHECK_NEAR("eigh: vᵀv", from_identity(&one), near);
  CHECK_NEAR("eigh: values, ref", distance(&r.out[0], &r.ref[0]), near);
}

TEST(eigh) {
  EACH_MATRIX(y, 5) {
    leat_tensor x = product(&y, false, &y, true);
    check_eigh(x, unit(x.dtype) * (double)(40 * rows_of(&x) * rows_of(&x)));
  }
}

static void check_svd(leat_tensor x) {
  result r = call(LEAT_OP_svd, &x, 1, NULL);
  int64_t m = rows_of(&x), n = columns_of(&x), count = m < n ? m : n;
  double near = unit(x.dtype) * (double)(10 * (m + n));
  leat_tensor scaled = matrices(doubled(x.dtype), 2, m, count);
  for (int64_t i = 0; i < 2 * m * count; i++)
    put(&scaled, i, at(&r.out[0], i) * at(&r.out[1], i / (m * count) * count + i % count));
  leat_tensor back = product(&scaled, false, &r.out[2], false);
  leat_tensor u = product(&r.out[0], true, &r.out[0], false);
  leat_tensor v = product(&r.out[2], false, &r.out[2], true);
  CHECK_NEAR("svd", distance(&back, &x), near);
  CHECK_NEAR("svd: uᵀu", from_identity(&u), near);
  CHECK_NEAR("svd: vhᵀvh", from_identity(&v), near);
  CHECK_NEAR("svd: s, ref", distance(&r.out[1], &r.ref[1]), near);
}

TEST(svd) {
  EACH_MATRIX(x, 6) check_svd(x);
}

// A row is zero, another twice its neighbour.
TEST(svd_of_singular_matrices) {
  EACH_MATRIX(x, 7) {
    int64_t m = rows_of(&x), n = columns_of(&x);
    for (int64_t j = 0; j < n && m > 0; j++) {
      put(&x, j, 0);
      if (m > 2) put(&x, 2 * n + j, 2 * at(&x, n + j));
    }
    check_svd(x);
  }
}

// Zeros, rank one, values of one size, graded ones, two diagonals with zeros on the first, and
// noise far below the rest.
static double hard(int kind, int64_t i, int64_t j) {
  switch (kind) {
  case 0: return 0;
  case 1: return 0.5;
  case 2: return i == j;
  case 3: return next() * pow(0.25, (double)(i + j));
  case 4: return i == j ? (i % 5 != 2) : i + 1 == j;
  case 5: return i == j ? i % 3 : i + 1 == j ? 1e-3 : 0;
  default: return i == 0 && j == 0 ? 1 : next() * 1e-14;
  }
}

TEST(svd_of_hard_matrices) {
  for (int kind = 0; kind < 7; kind++) EACH_MATRIX(x, 8) {
      if (columns_of(&x) == 65) continue; // as 100 × 70
      for (int64_t i = 0; i < 2 * rows_of(&x) * columns_of(&x); i++) {
        int64_t row = i / columns_of(&x) % rows_of(&x), column = i % columns_of(&x);
        bool reversed = i < rows_of(&x) * columns_of(&x); // in the first matrix: columns backwards
        put(&x, i, hard(kind, row, reversed ? columns_of(&x) - 1 - column : column));
      }
      check_svd(x);
    }
}

TEST(eigh_of_hard_matrices) {
  for (int kind = 0; kind < 7; kind++) EACH_MATRIX(x, 10) {
      int64_t n = rows_of(&x);
      if (n != columns_of(&x)) continue;
      for (int64_t i = 0; i < 2 * n * n; i++) {
        int64_t row = i / n % n, column = i % n, mirrored = i - row * n - column + column * n + row;
        put(&x, i, row > column ? at(&x, mirrored) : hard(kind, row, column));
      }
      check_eigh(x, unit(x.dtype) * (double)(20 * n));
    }
}

// Of numbers whose squares are 0 or infinite.
TEST(svd_of_small_and_large_matrices) {
  for (int large = 0; large < 2; large++) EACH_MATRIX(x, 9) {
      if (columns_of(&x) > 33) continue;
      double scale = leat_part_dtype(x.dtype) == LEAT_f64 ? large ? 0x1p1000 : 0x1p-1000
                     : large                              ? 0x1p120
                                                          : 0x1p-120;
      leat_tensor scaled = matrices(x.dtype, 2, rows_of(&x), columns_of(&x));
      for (int64_t i = 0; i < 2 * rows_of(&x) * columns_of(&x); i++)
        put(&scaled, i, scale * at(&x, i));
      result r = call(LEAT_OP_svd, &x, 1, NULL), t = call(LEAT_OP_svd, &scaled, 1, NULL);
      for (int64_t i = 0; i < leat_shape_elements(2, r.out[1].shape); i++)
        put(&t.out[1], i, at(&t.out[1], i) / scale);
      double near = unit(x.dtype) * (double)(10 * (rows_of(&x) + columns_of(&x)));
      CHECK_NEAR("svd: s, scaled", distance(&t.out[1], &r.out[1]), near);
    }
}

TEST(not_numbers) {
  for (int type = 0; type < DTYPES; type++) {
    start(1);
    leat_tensor x = matrices(dtypes[type], 1, 3, 3);
    put(&x, 4, NAN);
    result r = call(LEAT_OP_svd, &x, 1, NULL), w = call(LEAT_OP_eigh, &x, 1, NULL);
    call(LEAT_OP_qr, &x, 1, &(leat_attr){0});
    call(LEAT_OP_lu, &x, 1, NULL);
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 3; k++) {
        CHECK(is_nan(at(&r.out[k], i)) && is_nan(at(&r.ref[k], i)));
        if (k < 2) CHECK(is_nan(at(&w.out[k], i)) && is_nan(at(&w.ref[k], i)));
      }
  }
}

// The vectors' signs (of complex ones, how far they are turned), and the same vectors by reference:
// of a matrix whose values are far apart.
TEST(signs) {
  for (int type = 0; type < DTYPES; type++) {
    start(9);
    leat_tensor x = matrices(dtypes[type], 1, 6, 6);
    double near = 64 * unit(x.dtype);
    for (int i = 0; i < 6; i++) put(&x, i * 7, 10 * i);
    result w = call(LEAT_OP_eigh, &x, 1, NULL), r = call(LEAT_OP_svd, &x, 1, NULL);
    result f = call(LEAT_OP_qr, &x, 1, &(leat_attr){0});
    CHECK_NEAR("eigh: vectors", distance(&w.out[1], &w.ref[1]), near);
    CHECK_NEAR("svd: u", distance(&r.out[0], &r.ref[0]), near);
    CHECK_NEAR("svd: vh", distance(&r.out[2], &r.ref[2]), near);
    CHECK_NEAR("qr: q", distance(&f.out[0], &f.ref[0]), near);
    CHECK_NEAR("qr: r", distance(&f.out[1], &f.ref[1]), 64 * near);
    for (int k = 0; k < 6; k++) { // the diagonal is large
      CHECK(creal(at(&w.out[1], 7 * k)) > 0 && cimag(at(&w.out[1], 7 * k)) == 0);
      CHECK(creal(at(&f.out[1], 7 * k)) >= 0 && cimag(at(&f.out[1], 7 * k)) == 0);
    }
  }
}

CHECK_MAIN("linalg")
