// What the factorisations of linalg.c mean: textbook algorithms in long double, a matrix at a time.
#include "ops/complex.h"
#include "ops/ref.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

typedef long double real;

// -- Matrices in and out -------------------------------------------------------------------------

static int64_t batch_of(const leat_tensor *x) {
  return leat_shape_elements(x->rank - 2, x->shape);
}

static int64_t rows_of(const leat_tensor *x) {
  return x->shape[x->rank - 2];
}

static int64_t columns_of(const leat_tensor *x) {
  return x->shape[x->rank - 1];
}

static real *numbers(leat_arena *arena, int64_t count) {
  return leat_new_array(arena, real, (size_t)count + 1);
}

static real *load(leat_arena *arena, const leat_tensor *x, int64_t batch, int64_t count) {
  real *out = numbers(arena, count);
  for (int64_t i = 0; i < count; i++)
    out[i] = x->dtype == LEAT_f64 ? (real)((const double *)x->data)[batch * count + i]
                                  : (real)((const float *)x->data)[batch * count + i];
  return out;
}

static void store(leat_tensor *y, int64_t batch, int64_t count, const real *from) {
  for (int64_t i = 0; i < count; i++)
    if (y->dtype == LEAT_f64)
      ((double *)y->data)[batch * count + i] = (double)from[i];
    else
      ((float *)y->data)[batch * count + i] = (float)from[i];
}

static real *identity(leat_arena *arena, int64_t n) {
  real *out = numbers(arena, n * n);
  for (int64_t i = 0; i < n; i++) out[i * n + i] = 1;
  return out;
}

static bool is_finite(const real *x, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

// Evaluates one matrix of the batch.
typedef void (*matrix_function)(leat_ref_context *context, leat_arena *arena, int64_t batch);

static leat_status each(leat_ref_context *context, matrix_function function) {
  leat_arena *arena = leat_arena_create();
  for (int64_t batch = 0; batch < batch_of(&context->inputs[0]); batch++) {
    function(context, arena, batch);
    leat_arena_reset(arena);
  }
  leat_arena_destroy(arena);
  return LEAT_OK;
}

// -- Cholesky, LU, triangular systems ------------------------------------------------------------

typedef long double _Complex complex_number;

static complex_number *numbers_complex(leat_arena *arena, int64_t count) {
  return leat_new_array(arena, complex_number, (size_t)count + 1);
}

static complex_number *load_complex(leat_arena *arena, const leat_tensor *x, int64_t batch,
                                    int64_t count) {
  complex_number *out = numbers_complex(arena, count);
  for (int64_t i = 0; i < count; i++)
    out[i] = x->dtype == LEAT_c128 ? ((const leat_complex128 *)x->data)[batch * count + i]
                                   : ((const leat_complex64 *)x->data)[batch * count + i];
  return out;
}

static void store_complex(leat_tensor *y, int64_t batch, int64_t count,
                          const complex_number *from) {
  for (int64_t i = 0; i < count; i++)
    if (y->dtype == LEAT_c128)
      ((leat_complex128 *)y->data)[batch * count + i] = (leat_complex128)from[i];
    else
      ((leat_complex64 *)y->data)[batch * count + i] = (leat_complex64)from[i];
}

#define load_real load
#define store_real store
#define numbers_real numbers
#define NUMBER real
#define N(x) x##_real
#define N_ABS fabsl
#define N_CONJ(x) (x)
#define N_REAL(x) (x)
#include "ops/number_ref.h"
#define NUMBER complex_number
#define N(x) x##_complex
#define N_ABS cabsl
#define N_CONJ conjl
#define N_REAL creall
#include "ops/number_ref.h"

static leat_status each_number(leat_ref_context *context, matrix_function of_real,
                               matrix_function of_complex) {
  return each(context, leat_dtype_is_complex(context->inputs[0].dtype) ? of_complex : of_real);
}

leat_status ref_cholesky(leat_ref_context *context) {
  return each_number(context, cholesky_real, cholesky_complex);
}

leat_status ref_lu(leat_ref_context *context) {
  return each_number(context, lu_real, lu_complex);
}

leat_status ref_triangular_solve(leat_ref_context *context) {
  return each_number(context, triangular_solve_real, triangular_solve_complex);
}

// -- QR: Householder's reflections, each applied to r and to q ------------------------------------

// a (rows × columns) = (I - 2 v vᵀ / vᵀv) a, or a (I - 2 v vᵀ / vᵀv) from the right.
static void reflect_left(int64_t rows, int64_t columns, const real *v, real square, real *a) {
  for (int64_t j = 0; j < columns; j++) {
    real along = 0;
    for (int64_t i = 0; i < rows; i++) along += v[i] * a[i * columns + j];
    for (int64_t i = 0; i < rows; i++) a[i * columns + j] -= 2 * along / square * v[i];
  }
}

static void reflect_right(int64_t rows, int64_t columns, const real *v, real square, real *a) {
  for (int64_t i = 0; i < rows; i++) {
    real along = 0;
    for (int64_t j = 0; j < columns; j++) along += v[j] * a[i * columns + j];
    for (int64_t j = 0; j < columns; j++) a[i * columns + j] -= 2 * along / square * v[j];
  }
}

static void qr(leat_ref_context *context, leat_arena *arena, int64_t batch) {
  int64_t m = rows_of(&context->inputs[0]), n = columns_of(&context->inputs[0]);
  int64_t height = columns_of(&context->outputs[0]), count = m < n ? m : n;
  real *r = load(arena, &context->inputs[0], batch, m * n), *q = identity(arena, m);
  real *v = numbers(arena, m), *short_q = numbers(arena, m * height);
  for (int64_t k = 0; k < count; k++) {
    real square = 0, norm = 0;
    for (int64_t i = 0; i < m; i++) v[i] = i < k ? 0 : r[i * n + k];
    for (int64_t i = k; i < m; i++) norm += v[i] * v[i];
    v[k] += v[k] < 0 ? -sqrtl(norm) : sqrtl(norm);
    for (int64_t i = k; i < m; i++) square += v[i] * v[i];
    if (square == 0) continue;
    reflect_left(m, n, v, square, r);
    reflect_right(m, m, v, square, q);
    for (int64_t i = k + 1; i < m; i++) r[i * n + k] = 0;
  }
  for (int64_t k = 0; k < count; k++) {
    if (!(r[k * n + k] < 0)) continue;
    for (int64_t j = 0; j < n; j++) r[k * n + j] = -r[k * n + j];
    for (int64_t i = 0; i < m; i++) q[i * m + k] = -q[i * m + k];
  }
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < height; j++) short_q[i * height + j] = q[i * m + j];
  store(&context->outputs[0], batch, m * height, short_q);
  store(&context->outputs[1], batch, height * n, r);
}

leat_status ref_qr(leat_ref_context *context) {
  return each(context, qr);
}

// -- Eigenvalues and singular values: Jacobi's rotations ------------------------------------------

enum { MOST_SWEEPS = 100 };

// The rotation (c, s) that makes the off-diagonal pq of [[pp, pq], [pq, qq]] zero.
static void rotation(real pp, real pq, real qq, real *c, real *s) {
  real zeta = (qq - pp) / (2 * pq), t = 1 / (fabsl(zeta) + hypotl(zeta, 1));
  if (zeta < 0) t = -t;
  *c = 1 / hypotl(t, 1);
  *s = *c * t;
}

static void rotate(int64_t count, int64_t step, real *x, real *y, real c, real s) {
  for (int64_t i = 0; i < count; i++) {
    real a = x[i * step], b = y[i * step];
    x[i * step] = c * a - s * b;
    y[i * step] = s * a + c * b;
  }
}

static bool is_below(real a, real b, bool descending) {
  return descending ? a > b : a < b;
}

// Which value comes first, second …; of equal ones as they stand.
static int64_t *sorted(leat_arena *arena, const real *values, int64_t n, bool descending) {
  int64_t *order = leat_new_array(arena, int64_t, (size_t)n + 1);
  for (int64_t i = 0; i < n; i++) {
    int64_t at = i;
    for (; at > 0 && is_below(values[i], values[order[at - 1]], descending); at--)
      order[at] = order[at - 1];
    order[at] = i;
  }
  return order;
}

static real sign_of(int64_t count, int64_t step, const real *x) {
  real best = 0;
  for (int64_t i = 0; i < count; i++)
    if (fabsl(x[i * step]) > fabsl(best)) best = x[i * step];
  return best < 0 ? -1 : 1;
}

static void eigh(leat_ref_context *context, leat_arena *arena, int64_t batch) {
  int64_t n = columns_of(&context->inputs[0]);
  real *a = load(arena, &context->inputs[0], batch, n * n), *v = identity(arena, n);
  real *values = numbers(arena, n), *out = numbers(arena, n), *vectors = numbers(arena, n * n);
  make_symmetric_real(n, a);
  bool finite = is_finite(a, n * n), turned = finite;
  for (int sweep = 0; sweep < MOST_SWEEPS && turned; sweep++) {
    turned = false;
    for (int64_t p = 0; p < n; p++)
      for (int64_t q = p + 1; q < n; q++) {
        real c, s, pp = a[p * n + p], qq = a[q * n + q], pq = a[p * n + q];
        if (fabsl(pq) <= 1e-22L * sqrtl(fabsl(pp)) * sqrtl(fabsl(qq)) || fabsl(pq) < 1e-4000L)
          continue;
        rotation(pp, pq, qq, &c, &s);
        rotate(n, 1, a + p * n, a + q * n, c, s);
        rotate(n, n, a + p, a + q, c, s);
        rotate(n, n, v + p, v + q, c, s);
        turned = true;
      }
  }
  for (int64_t i = 0; i < n; i++) values[i] = a[i * n + i];
  int64_t *order = sorted(arena, values, n, false);
  for (int64_t k = 0; k < n; k++) {
    real sign = sign_of(n, n, v + order[k]);
    out[k] = values[order[k]];
    for (int64_t i = 0; i < n; i++) vectors[i * n + k] = sign * v[i * n + order[k]];
  }
  if (!finite) fill_real(out, n, NAN), fill_real(vectors, n * n, NAN);
  store(&context->outputs[0], batch, n, out);
  store(&context->outputs[1], batch, n * n, vectors);
}

leat_status ref_eigh(leat_ref_context *context) {
  return each(context, eigh);
}

static real product(int64_t count, int64_t step, const real *x, const real *y) {
  real sum = 0;
  for (int64_t i = 0; i < count; i++) sum += x[i * step] * y[i * step];
  return sum;
}

// Column k of u (rows × count) becomes orthogonal to those before it, and of length 1.
static void complete(int64_t rows, int64_t count, int64_t k, real *u) {
  for (int64_t axis = 0; axis < rows; axis++) {
    for (int64_t i = 0; i < rows; i++) u[i * count + k] = i == axis;
    for (int64_t j = 0; j < 2 * k; j++) { // twice all of them
      real along = product(rows, count, u + j % k, u + k);
      for (int64_t i = 0; i < rows; i++) u[i * count + k] -= along * u[i * count + j % k];
    }
    real size = sqrtl(product(rows, count, u + k, u + k));
    if (2 * size * size * (real)rows < 1) continue;
    for (int64_t i = 0; i < rows; i++) u[i * count + k] /= size;
    return;
  }
}

// The columns of a (m ≥ n) are turned until they are orthogonal: a v = u s.
static void svd_tall(leat_arena *arena, int64_t m, int64_t n, real *a, real *u, real *s, real *v) {
  real *turns = identity(arena, n), *sizes = numbers(arena, n);
  bool turned = true;
  for (int sweep = 0; sweep < MOST_SWEEPS && turned; sweep++) {
    turned = false;
    for (int64_t p = 0; p < n; p++)
      for (int64_t q = p + 1; q < n; q++) {
        real c, t, pp = product(m, n, a + p, a + p), qq = product(m, n, a + q, a + q);
        real pq = product(m, n, a + p, a + q);
        if (fabsl(pq) <= 1e-18L * sqrtl(pp) * sqrtl(qq)) continue;
        rotation(pp, pq, qq, &c, &t);
        rotate(m, n, a + p, a + q, c, t);
        rotate(n, n, turns + p, turns + q, c, t);
        turned = true;
      }
  }
  for (int64_t k = 0; k < n; k++) sizes[k] = sqrtl(product(m, n, a + k, a + k));
  int64_t *order = sorted(arena, sizes, n, true);
  for (int64_t k = 0; k < n; k++) {
    s[k] = sizes[order[k]];
    for (int64_t i = 0; i < m && s[k] > 0; i++) u[i * n + k] = a[i * n + order[k]] / s[k];
    if (!(s[k] > 0)) complete(m, n, k, u);
    for (int64_t i = 0; i < n; i++) v[i * n + k] = turns[i * n + order[k]];
  }
}

static real *transposed(leat_arena *arena, int64_t m, int64_t n, const real *x) {
  real *out = numbers(arena, m * n);
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) out[j * m + i] = x[i * n + j];
  return out;
}

static void svd(leat_ref_context *context, leat_arena *arena, int64_t batch) {
  int64_t m = rows_of(&context->inputs[0]), n = columns_of(&context->inputs[0]);
  int64_t count = m < n ? m : n, length = m < n ? n : m;
  real *x = load(arena, &context->inputs[0], batch, m * n), *s = numbers(arena, count);
  real *tall = numbers(arena, length * count), *small = numbers(arena, count * count);
  bool finite = is_finite(x, m * n);
  if (finite)
    svd_tall(arena, length, count, m < n ? transposed(arena, m, n, x) : x, tall, s, small);
  real *u = m < n ? small : tall, *v = m < n ? tall : small;
  for (int64_t k = 0; k < count; k++) {
    real sign = sign_of(m, count, u + k);
    for (int64_t i = 0; i < m; i++) u[i * count + k] *= sign;
    for (int64_t i = 0; i < n; i++) v[i * count + k] *= sign;
  }
  if (!finite) fill_real(u, m * count, NAN), fill_real(v, n * count, NAN), fill_real(s, count, NAN);
  store(&context->outputs[0], batch, m * count, u);
  store(&context->outputs[1], batch, count, s);
  store(&context->outputs[2], batch, count * n, transposed(arena, n, count, v));
}

leat_status ref_svd(leat_ref_context *context) {
  return each(context, svd);
}
