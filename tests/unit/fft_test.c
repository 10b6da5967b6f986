// runtime/kernels/fft.c: every length to 130 and some larger ones, real and complex, in both
// precisions, against the sum that defines the transform.
#include "base/fft_plan.h"
#include "leat/artifact.h"
#include "tests/unit/check.h"

#include <math.h>
#include <stdlib.h>

static double next(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)*state / 9223372036854775808.0;
}

// A call of the function on `rows` rows, in one or in several ranges of tiles.
typedef struct transform {
  leat_fft_kind kind;
  leat_dtype dtype;
  int64_t n, rows;
  bool split;
} transform;

static void call(const transform *t, void *out, const void *in) {
  leat_fft_plan plan;
  size_t size = leat_dtype_size(t->dtype);
  bool halved = (t->kind == LEAT_FFT_FROM_REAL || t->kind == LEAT_FFT_TO_REAL) && t->n % 2 == 0;
  CHECK(leat_fft_plan_make(halved ? t->n / 2 : t->n, size, &plan));
  int64_t bytes = leat_fft_plan_reals(&plan) * (int64_t)size;
  int64_t tiles = (t->rows + LEAT_FFT_ROWS - 1) / LEAT_FFT_ROWS;
  CHECK(bytes <= (LEAT_FFT_MOST_REALS * t->n + LEAT_FFT_MORE_REALS) * (int64_t)size);
  void *scratch = aligned_alloc(64, (size_t)(bytes * tiles));
  leat_arg args[] = {{.pointer = out},    {.pointer = (void *)in}, {.pointer = scratch},
                     {.value = t->dtype}, {.value = t->n},         {.value = t->rows},
                     {.value = bytes},    {.value = t->kind}};
  if (t->split)
    for (int64_t i = tiles; i-- > 0;) CHECK_EQ_INT(leat_library_fft(NULL, args, i, i + 1), 0);
  else
    CHECK_EQ_INT(leat_library_fft(NULL, args, 0, tiles), 0);
  free(scratch);
}

// The worst error of out against the transform of in, both rows of complex numbers, over the
// largest size of a result. `to` of the results are there.
static double error_of(int64_t n, int64_t to, int64_t rows, bool inverse, const double *in,
                       const double *out) {
  double worst = 0, largest = 1e-30, sign = inverse ? 1 : -1, scale = inverse ? 1 / (double)n : 1;
  double *roots = malloc((size_t)(2 * n) * sizeof *roots);
  for (int64_t i = 0; i < n; i++) {
    double angle = sign * 2 * M_PI * (double)i / (double)n;
    roots[2 * i] = cos(angle), roots[2 * i + 1] = sin(angle);
  }
  for (int64_t row = 0; row < rows; row++)
    for (int64_t k = 0; k < to; k++) {
      double re = 0, im = 0;
      for (int64_t i = 0, turn = 0; i < n; i++, turn += turn + k < n ? k : k - n) {
        const double *x = in + 2 * (row * n + i);
        double c = roots[2 * turn], s = roots[2 * turn + 1];
        re += x[0] * c - x[1] * s;
        im += x[0] * s + x[1] * c;
      }
      const double *y = out + 2 * (row * to + k);
      worst = fmax(worst, hypot(y[0] - re * scale, y[1] - im * scale));
      largest = fmax(largest, hypot(re, im) * scale);
    }
  free(roots);
  return worst / largest;
}

static void *as_dtype(leat_dtype dtype, const double *x, int64_t count) {
  float *f = malloc((size_t)(count + 1) * sizeof(double));
  double *d = (double *)(void *)f;
  for (int64_t i = 0; i < count; i++)
    if (dtype == LEAT_f32)
      f[i] = (float)x[i];
    else
      d[i] = x[i];
  return f;
}

static double *as_double(leat_dtype dtype, const void *x, int64_t count) {
  double *out = malloc((size_t)(count + 1) * sizeof(double));
  for (int64_t i = 0; i < count; i++)
    out[i] = dtype == LEAT_f32 ? (double)((const float *)x)[i] : ((const double *)x)[i];
  return out;
}

static double tolerance(leat_dtype dtype) {
  return dtype == LEAT_f32 ? 1.5e-6 : 1e-14;
}

static void check_complex(leat_dtype dtype, int64_t n, int64_t rows, bool inverse) {
  uint64_t state = (uint64_t)n;
  int64_t count = 2 * n * rows;
  double *x = calloc((size_t)(count + 1), sizeof *x);
  for (int64_t i = 0; i < count; i++) x[i] = (double)(float)next(&state);
  void *in = as_dtype(dtype, x, count), *out = as_dtype(dtype, x, count);
  transform t = {inverse ? LEAT_FFT_INVERSE : LEAT_FFT_FORWARD, dtype, n, rows, false};
  call(&t, out, in);
  double *y = as_double(dtype, out, count), error = error_of(n, n, rows, inverse, x, y);
  if (!(error < tolerance(dtype)))
    CHECK_FAILED("%s, n %lld: error %g", leat_dtype_name(dtype), (long long)n, error);
  void *again = as_dtype(dtype, x, count);
  t.split = true;
  call(&t, again, in);
  CHECK(!memcmp(out, again, (size_t)count * leat_dtype_size(dtype)));
  free(x), free(in), free(out), free(y), free(again);
}

static void check_real(leat_dtype dtype, int64_t n, int64_t rows) {
  uint64_t state = (uint64_t)n + 1;
  int64_t bins = n / 2 + 1;
  double *x = malloc((size_t)(n * rows) * sizeof *x),
         *z = calloc((size_t)(2 * n * rows), sizeof *z);
  for (int64_t i = 0; i < n * rows; i++) z[2 * i] = x[i] = (double)(float)next(&state);
  void *in = as_dtype(dtype, x, n * rows), *out = calloc((size_t)(2 * bins * rows), sizeof(double));
  void *back = calloc((size_t)(n * rows), sizeof(double));
  transform t = {LEAT_FFT_FROM_REAL, dtype, n, rows, false};
  call(&t, out, in);
  double *y = as_double(dtype, out, 2 * bins * rows), worst = 0;
  double error = error_of(n, bins, rows, false, z, y);
  t.kind = LEAT_FFT_TO_REAL;
  call(&t, back, out);
  double *w = as_double(dtype, back, n * rows);
  for (int64_t i = 0; i < n * rows; i++) worst = fmax(worst, fabs(w[i] - x[i]));
  if (!(error < tolerance(dtype)) || !(worst < tolerance(dtype)))
    CHECK_FAILED("%s, n %lld: errors %g, back %g", leat_dtype_name(dtype), (long long)n, error,
                 worst);
  free(x), free(z), free(in), free(out), free(back), free(y), free(w);
}

TEST(small_lengths) {
  CHECK_EACH(n, 1, 131, 5) {
    check_complex(LEAT_f32, n, 18, n % 2);
    check_complex(LEAT_f64, n, 3, n % 2);
    check_complex(LEAT_f64, n, 9, !(n % 2));
    check_real(LEAT_f32, n, 17);
    check_real(LEAT_f64, n, 1);
  }
}

TEST(large_lengths) {
  static const int64_t lengths[] = {720, 1000, 1009, 1024, 2187, 3125, 4096, 4100, 4608};
  check_complex(LEAT_f32, 1009, 19, false);
  CHECK_EACH(i, 0, sizeof lengths / sizeof *lengths, 4) {
    check_complex(LEAT_f64, lengths[i], 1, false);
    check_complex(LEAT_f32, lengths[i], 2, true);
    check_real(LEAT_f64, lengths[i], 1);
  }
}

TEST(no_points) {
  transform t = {LEAT_FFT_FORWARD, LEAT_f32, 0, 3, false};
  call(&t, NULL, NULL);
}

CHECK_MAIN("fft")
