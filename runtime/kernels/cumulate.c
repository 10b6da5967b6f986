// cumsum, cumprod, cummax and cummin: along each row the results so far, element by element.
#include "base/portable.h"
#include "leat/artifact.h"
#include "runtime/kernels/rows.h"

#include <math.h>

enum { COLUMNS = 64 }; // rows that lie next to each other are walked together, at most so many

enum { SUM, PRODUCT, MAXIMUM, MINIMUM, OPERATIONS }; // as ops/cumulate.c numbers them

typedef struct walk {
  const void *x;
  void *out;
  int64_t n, stride; // elements of a row, and how far apart they are
  bool reverse, exclusive;
} walk;

// `start` changes nothing; `none` is the result of no elements.
#define DEFINE_WALK(name, T, start, none, next)                                                    \
  static inline __attribute__((always_inline)) void columns_##name(const walk *w, int columns) {   \
    T sums[COLUMNS];                                                                               \
    for (int c = 0; c < columns; c++) sums[c] = start;                                             \
    for (int64_t k = 0; k < w->n; k++) {                                                           \
      int64_t first = (w->reverse ? w->n - 1 - k : k) * w->stride;                                 \
      const T *x = (const T *)w->x + first;                                                        \
      T *out = (T *)w->out + first;                                                                \
      for (int c = 0; c < columns; c++) {                                                          \
        T a = sums[c], b = x[c];                                                                   \
        sums[c] = (T)(next);                                                                       \
        out[c] = !w->exclusive ? sums[c] : k ? a : none;                                           \
      }                                                                                            \
    }                                                                                              \
  }                                                                                                \
  static void walk_##name(const walk *w, int columns) {                                            \
    if (columns == 1)                                                                              \
      columns_##name(w, 1);                                                                        \
    else                                                                                           \
      columns_##name(w, columns);                                                                  \
  }

#define DEFINE_INTEGER(T, lowest, highest)                                                         \
  DEFINE_WALK(sum_##T, T, 0, 0, (uint64_t)a + (uint64_t)b)                                         \
  DEFINE_WALK(product_##T, T, 1, 1, (uint64_t)a *(uint64_t)b)                                      \
  DEFINE_WALK(maximum_##T, T, lowest, lowest, a > b ? a : b)                                       \
  DEFINE_WALK(minimum_##T, T, highest, highest, a < b ? a : b)

// NaN if either is NaN; -0 < +0.
#define EITHER_NAN (a != a || b != b)
#define DEFINE_FLOAT(T)                                                                            \
  DEFINE_WALK(sum_##T, T, -(T)0, 0, a + b)                                                         \
  DEFINE_WALK(product_##T, T, 1, 1, a *b)                                                          \
  DEFINE_WALK(maximum_##T, T, -(T)INFINITY, -(T)INFINITY,                                          \
              EITHER_NAN                             ? a + b                                       \
              : a > b || (a == b && signbit(b) != 0) ? a                                           \
                                                     : b)                                          \
  DEFINE_WALK(minimum_##T, T, (T)INFINITY, (T)INFINITY,                                            \
              EITHER_NAN                             ? a + b                                       \
              : a < b || (a == b && signbit(a) != 0) ? a                                           \
                                                     : b)

#ifdef __GNUC__ // others have no complex numbers
typedef float _Complex complex64;
typedef double _Complex complex128;

// (ac - bd) + (ad + bc)i, each operation rounded: C's own product looks for infinities among NaNs.
#define TIMES(z, w)                                                                                \
  __builtin_complex(__real__(z) * __real__(w) - __imag__(z) * __imag__(w),                         \
                    __real__(z) * __imag__(w) + __imag__(z) * __real__(w))
#define DEFINE_COMPLEX(T)                                                                          \
  DEFINE_WALK(sum_##T, T, __builtin_complex(-0.0, -0.0), 0, a + b)                                 \
  DEFINE_WALK(product_##T, T, 1, 1, k ? TIMES(a, b) : b)

DEFINE_COMPLEX(complex64)
DEFINE_COMPLEX(complex128)
#endif

DEFINE_INTEGER(int8_t, INT8_MIN, INT8_MAX)
DEFINE_INTEGER(int16_t, INT16_MIN, INT16_MAX)
DEFINE_INTEGER(int32_t, INT32_MIN, INT32_MAX)
DEFINE_INTEGER(int64_t, INT64_MIN, INT64_MAX)
DEFINE_INTEGER(uint8_t, 0, UINT8_MAX)
DEFINE_INTEGER(uint16_t, 0, UINT16_MAX)
DEFINE_INTEGER(uint32_t, 0, UINT32_MAX)
DEFINE_INTEGER(uint64_t, 0, UINT64_MAX)
DEFINE_FLOAT(float)
DEFINE_FLOAT(double)

typedef void (*walk_function)(const walk *w, int columns);

#define WALKS(T)                                                                                   \
  { walk_sum_##T, walk_product_##T, walk_maximum_##T, walk_minimum_##T }
static const walk_function walks[LEAT_DTYPE_COUNT][OPERATIONS] = {
    [LEAT_i8] = WALKS(int8_t),
    [LEAT_i16] = WALKS(int16_t),
    [LEAT_i32] = WALKS(int32_t),
    [LEAT_i64] = WALKS(int64_t),
    [LEAT_u8] = WALKS(uint8_t),
    [LEAT_u16] = WALKS(uint16_t),
    [LEAT_u32] = WALKS(uint32_t),
    [LEAT_u64] = WALKS(uint64_t),
    [LEAT_f32] = WALKS(float),
    [LEAT_f64] = WALKS(double),
#ifdef __GNUC__
    [LEAT_c64] = {walk_sum_complex64, walk_product_complex64},
    [LEAT_c128] = {walk_sum_complex128, walk_product_complex128},
#endif
};

// Arguments: out, x, then dtype, rows, tiles, n, inner, what, reverse, exclusive.
int32_t leat_library_cumulate(leat_call *call, const leat_arg *args, int64_t tile_begin,
                              int64_t tile_end) {
  const leat_arg *scalars = args + 2;
  const leat_rows rows = {scalars[1].value, scalars[2].value, scalars[3].value, scalars[4].value};
  size_t size = leat_dtype_size((leat_dtype)scalars[0].value);
  walk_function function = walks[scalars[0].value][scalars[5].value];
  if (!function)
    return leat_call_explain(call, LEAT_UNSUPPORTED,
                             "prefix sums of complex numbers are compiled by gcc and clang alone");
  walk w = {.n = rows.n,
            .stride = rows.inner,
            .reverse = scalars[6].value != 0,
            .exclusive = scalars[7].value != 0};
  int64_t end = leat_rows_first(&rows, tile_end);
  for (int64_t row = leat_rows_first(&rows, tile_begin), columns; row < end; row += columns) {
    columns = rows.inner - row % rows.inner;
    if (columns > end - row) columns = end - row;
    if (columns > COLUMNS) columns = COLUMNS;
    size_t offset = (size_t)leat_rows_start(&rows, row, rows.n) * size;
    w.x = (const char *)args[1].pointer + offset;
    w.out = (char *)args[0].pointer + offset;
    function(&w, (int)columns);
  }
  return LEAT_OK;
}
