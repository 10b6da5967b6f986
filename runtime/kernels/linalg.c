// Factorisations of matrices, a tile a matrix: blocked algorithms whose bulk is C -= A · B. A call
// works on one matrix after the other in the scratch of its first tile. Results do not depend on
// the CPU or on how tiles are shared out.
#include "base/cpuid.h"
#include "base/linalg_plan.h"
#include "leat/artifact.h"

#include <float.h>
#include <math.h>
#include <string.h>

#ifdef __GNUC__ // others have no complex numbers
#include <complex.h>
#endif

#define ALIGNED(count) (((count) + 15) / 16 * 16)

enum { BLOCK = LEAT_LINALG_BLOCK, MOST_STEPS = 60 };

typedef struct triangle {
  bool right, lower, transpose, unit;
} triangle;

#define REAL float
#define R(x) x##_f32
#define R_ABS fabsf
#define R_SQRT sqrtf
#define R_HYPOT hypotf
#define R_EPSILON FLT_EPSILON
#define R_LEAST FLT_MIN
#define R_CONJ(x) (x)
#define R_REAL(x) (x)
#include "runtime/kernels/linalg_real.h"

#define REAL double
#define R(x) x##_f64
#define R_ABS fabs
#define R_SQRT sqrt
#define R_HYPOT hypot
#define R_EPSILON DBL_EPSILON
#define R_LEAST DBL_MIN
#define R_CONJ(x) (x)
#define R_REAL(x) (x)
#include "runtime/kernels/linalg_real.h"

#ifdef __GNUC__
#define REAL float _Complex
#define R(x) x##_c64
#define PART float
#define P(x) x##_f32
#define R_ABS cabsf
#define R_SQRT sqrtf
#define R_CONJ conjf
#define R_REAL crealf
#include "runtime/kernels/linalg_complex.h"

#define REAL double _Complex
#define R(x) x##_c128
#define PART double
#define P(x) x##_f64
#define R_ABS cabs
#define R_SQRT sqrt
#define R_CONJ conj
#define R_REAL creal
#include "runtime/kernels/linalg_complex.h"

#define COMPLEX(...) __VA_ARGS__
#else
#define COMPLEX(...)                                                                               \
  return leat_call_explain(call, LEAT_UNSUPPORTED,                                                 \
                           "complex matrices are factorised by gcc and clang alone")
#endif

// The arguments behind `buffers` buffers: the dtype, then numbers.
typedef struct numbers {
  leat_dtype dtype;
  int64_t size, part_size; // of a number of the matrix, and of its real part
  int64_t at[8];
} numbers;

// The function for matrices of the dtype.
#define CALL(dtype, name, ...)                                                                     \
  switch ((int)(dtype)) {                                                                          \
  case LEAT_f32: name##_f32(__VA_ARGS__); break;                                                   \
  case LEAT_f64: name##_f64(__VA_ARGS__); break;                                                   \
  case LEAT_c64: COMPLEX(name##_c64(__VA_ARGS__)); break;                                          \
  case LEAT_c128: COMPLEX(name##_c128(__VA_ARGS__)); break;                                        \
  }

static numbers numbers_of(const leat_arg *args, int buffers, int count) {
  leat_dtype dtype = (leat_dtype)args[buffers].value;
  int64_t size = (int64_t)leat_dtype_size(dtype);
  numbers n = {dtype, size, dtype == LEAT_c64 || dtype == LEAT_c128 ? size / 2 : size, {0}};
  for (int i = 0; i < count; i++) n.at[i] = args[buffers + 1 + i].value;
  return n;
}

// Where a tile's part begins, of `count` numbers of `size` bytes a tile.
static void *part(const leat_arg *arg, int64_t tile, int64_t count, int64_t size) {
  return (char *)arg->pointer + tile * count * size;
}

// l, x, scratch; dtype, n, bytes of scratch a tile
int32_t leat_library_cholesky(leat_call *call, const leat_arg *args, int64_t begin, int64_t end) {
  (void)call;
  numbers a = numbers_of(args, 3, 2);
  int64_t n = a.at[0];
  void *scratch = part(&args[2], begin, a.at[1], 1);
  for (int64_t tile = begin; tile < end; tile++) {
    void *l = part(&args[0], tile, n * n, a.size), *x = part(&args[1], tile, n * n, a.size);
    CALL(a.dtype, cholesky, n, x, l, scratch)
  }
  return LEAT_OK;
}

// lu, pivots, permutation, x; dtype, m, n
int32_t leat_library_lu(leat_call *call, const leat_arg *args, int64_t begin, int64_t end) {
  (void)call;
  numbers a = numbers_of(args, 4, 2);
  int64_t m = a.at[0], n = a.at[1];
  for (int64_t tile = begin; tile < end; tile++) {
    void *lu = part(&args[0], tile, m * n, a.size), *x = part(&args[3], tile, m * n, a.size);
    int32_t *pivots = part(&args[1], tile, m < n ? m : n, sizeof(int32_t));
    int32_t *permutation = part(&args[2], tile, m, sizeof(int32_t));
    CALL(a.dtype, lu, m, n, x, lu, pivots, permutation)
  }
  return LEAT_OK;
}

// x, a, b, scratch; dtype, n, rows and columns of b, right, lower, transpose, unit diagonal, bytes
// of scratch a tile
int32_t leat_library_triangular_solve(leat_call *call, const leat_arg *args, int64_t begin,
                                      int64_t end) {
  (void)call;
  numbers a = numbers_of(args, 4, 8);
  int64_t n = a.at[0], m = a.at[1], k = a.at[2];
  triangle how = {a.at[3], a.at[4], a.at[5], a.at[6]};
  void *scratch = part(&args[3], begin, a.at[7], 1);
  for (int64_t tile = begin; tile < end; tile++) {
    void *x = part(&args[0], tile, m * k, a.size), *t = part(&args[1], tile, n * n, a.size);
    void *b = part(&args[2], tile, m * k, a.size);
    CALL(a.dtype, triangular_solve, &how, n, m, k, t, b, x, scratch)
  }
  return LEAT_OK;
}

// q, r, x, scratch; dtype, m, n, columns of q, bytes of scratch a tile
int32_t leat_library_qr(leat_call *call, const leat_arg *args, int64_t begin, int64_t end) {
  (void)call;
  numbers a = numbers_of(args, 4, 4);
  int64_t m = a.at[0], n = a.at[1], height = a.at[2];
  void *scratch = part(&args[3], begin, a.at[3], 1);
  for (int64_t tile = begin; tile < end; tile++) {
    void *q = part(&args[0], tile, m * height, a.size),
         *r = part(&args[1], tile, height * n, a.size);
    void *x = part(&args[2], tile, m * n, a.size);
    CALL(a.dtype, qr, m, n, height, x, q, r, scratch)
  }
  return LEAT_OK;
}

// values, vectors, x, scratch; dtype, n, bytes of scratch a tile
int32_t leat_library_eigh(leat_call *call, const leat_arg *args, int64_t begin, int64_t end) {
  (void)call;
  numbers a = numbers_of(args, 4, 2);
  int64_t n = a.at[0];
  void *scratch = part(&args[3], begin, a.at[1], 1);
  for (int64_t tile = begin; tile < end; tile++) {
    void *values = part(&args[0], tile, n, a.part_size),
         *vectors = part(&args[1], tile, n * n, a.size);
    void *x = part(&args[2], tile, n * n, a.size);
    CALL(a.dtype, eigh, n, x, values, vectors, scratch)
  }
  return LEAT_OK;
}

// u, s, vh, x, scratch; dtype, m, n, bytes of scratch a tile
int32_t leat_library_svd(leat_call *call, const leat_arg *args, int64_t begin, int64_t end) {
  (void)call;
  numbers a = numbers_of(args, 5, 3);
  int64_t m = a.at[0], n = a.at[1], count = m < n ? m : n;
  void *scratch = part(&args[4], begin, a.at[2], 1);
  for (int64_t tile = begin; tile < end; tile++) {
    void *u = part(&args[0], tile, m * count, a.size),
         *s = part(&args[1], tile, count, a.part_size);
    void *vh = part(&args[2], tile, count * n, a.size), *x = part(&args[3], tile, m * n, a.size);
    CALL(a.dtype, svd, m, n, x, u, s, vh, scratch)
  }
  return LEAT_OK;
}
