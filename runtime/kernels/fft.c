// Discrete Fourier transforms of rows: Stockham's passes, and Bluestein's algorithm for lengths
// with large prime factors (base/fft_plan.h). Every element goes through the same arithmetic
// whether its row is transformed alone or beside others, and at every width of vectors: the same
// bits. The tables are made anew in each call, from √n sines and cosines in double.
#include "base/cpuid.h"
#include "base/fft_plan.h"
#include "leat/artifact.h"

#include <math.h>
#include <string.h>

typedef struct fft_call {
  leat_fft_kind kind;
  int64_t n; // points of a row
  leat_fft_plan plan;
  void *out, *scratch;
  const void *in;
} fft_call;

static int64_t vector_bytes(void) {
  leat_cpu_level level = leat_cpu_host_level();
  return level == LEAT_CPU_AVX512 ? 64 : level == LEAT_CPU_AVX2 ? 32 : 16;
}

// e^(-2πi k / n), 0 ≤ k < n: the angle is brought into an eighth of the circle first, exactly.
static void unit_root(int64_t k, int64_t n, double *c, double *s) {
  int64_t eighths = 8 * k, octant = eighths / n, within = eighths - octant * n;
  int64_t part = octant % 2 ? n - within : within; // of n: an eighth
  double angle = 0.78539816339744830962 * ((double)part / (double)n);
  double x = cos(angle), y = sin(angle);
  bool swapped = (octant + 1) / 2 % 2;
  double along = swapped ? y : x, across = swapped ? x : y;
  *c = octant >= 2 && octant < 6 ? -along : along;
  *s = octant < 4 ? -across : across;
}

// The roots of order n as products of two of about √n of them.
typedef struct root_table {
  int64_t n, mask;
  int shift;
  const double *low, *high; // e^(-2πi k / n), e^(-2πi k 2^shift / n)
} root_table;

// `memory` has room: 4 √n + 8 numbers are less than two complex buffers of n of any kind.
static root_table make_roots(int64_t n, void *memory) {
  root_table table = {.n = n};
  while (((int64_t)1 << 2 * table.shift) < n) table.shift++;
  int64_t low_count = (int64_t)1 << table.shift, high_count = n / low_count + 1;
  double *low = memory, *high = low + 2 * low_count;
  for (int64_t k = 0; k < low_count; k++) unit_root(k % n, n, &low[2 * k], &low[2 * k + 1]);
  for (int64_t k = 0; k < high_count; k++)
    unit_root((k << table.shift) % n, n, &high[2 * k], &high[2 * k + 1]);
  table.mask = low_count - 1;
  table.low = low;
  table.high = high;
  return table;
}

static inline void table_root(const root_table *table, int64_t k, double *c, double *s) {
  const double *a = table->low + 2 * (k & table->mask);
  const double *b = table->high + 2 * (k >> table->shift);
  *c = a[0] * b[0] - a[1] * b[1];
  *s = a[0] * b[1] + a[1] * b[0];
}

#define REAL float
#define R(x) x##_f32
#include "runtime/kernels/fft_real.h"
#define REAL double
#define R(x) x##_f64
#include "runtime/kernels/fft_real.h"

// out, in, scratch; dtype of the reals, n, rows, bytes of scratch a tile, leat_fft_kind. The
// scratch of a call begins with that of its first tile.
int32_t leat_library_fft(leat_call *call, const leat_arg *args, int64_t begin, int64_t end) {
  (void)call;
  bool is_double = args[3].value == LEAT_f64;
  size_t size = is_double ? sizeof(double) : sizeof(float);
  int64_t n = args[4].value, rows = args[5].value;
  fft_call fft = {.kind = (leat_fft_kind)args[7].value, .n = n, .out = args[0].pointer};
  bool real = fft.kind == LEAT_FFT_FROM_REAL || fft.kind == LEAT_FFT_TO_REAL;
  int64_t first = begin * LEAT_FFT_ROWS, last = end * LEAT_FFT_ROWS;
  if (last > rows) last = rows;
  if (first >= last) return LEAT_OK;
  if (n == 0 && fft.kind == LEAT_FFT_FROM_REAL)
    memset((char *)fft.out + (size_t)first * 2 * size, 0, (size_t)(last - first) * 2 * size);
  if (n == 0) return LEAT_OK;
  if (!leat_fft_plan_make(real && n % 2 == 0 ? n / 2 : n, size, &fft.plan))
    return LEAT_OUT_OF_RANGE;
  fft.in = args[1].pointer;
  fft.scratch = (char *)args[2].pointer + begin * args[6].value;
  (is_double ? rows_f64 : rows_f32)(&fft, first, last);
  return LEAT_OK;
}
