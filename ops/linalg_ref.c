// What the factorisations of linalg.c mean: textbook algorithms in long double, a matrix at a time.
#include "ops/complex.h"
#include "ops/ref.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

typedef long double real;
typedef long double _Complex complex_number;

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

static real *numbers_real(leat_arena *arena, int64_t count) {
  return leat_new_array(arena, real, (size_t)count + 1);
}

static real *load_real(leat_arena *arena, const leat_tensor *x, int64_t batch, int64_t count) {
  real *out = numbers_real(arena, count);
  for (int64_t i = 0; i < count; i++)
    out[i] = x->dtype == LEAT_f64 ? (real)((const double *)x->data)[batch * count + i]
                                  : (real)((const float *)x->data)[batch * count + i];
  return out;
}

static void store_real(leat_tensor *y, int64_t batch, int64_t count, const real *from) {
  for (int64_t i = 0; i < count; i++)
    if (y->dtype == LEAT_f64)
      ((double *)y->data)[batch * count + i] = (double)from[i];
    else
      ((float *)y->data)[batch * count + i] = (float)from[i];
}

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

// -- What Jacobi's rotations need -----------------------------------------------------------------

enum { MOST_SWEEPS = 100 };

// The rotation (c, s) that makes the off-diagonal pq of [[pp, pq], [pq, qq]] zero.
static void rotation(real pp, real pq, real qq, real *c, real *s) {
  real zeta = (qq - pp) / (2 * pq), t = 1 / (fabsl(zeta) + hypotl(zeta, 1));
  if (zeta < 0) t = -t;
  *c = 1 / hypotl(t, 1);
  *s = *c * t;
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

// -- Of real and of complex numbers --------------------------------------------------------------

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

leat_status ref_qr(leat_ref_context *context) {
  return each_number(context, qr_real, qr_complex);
}

leat_status ref_eigh(leat_ref_context *context) {
  return each_number(context, eigh_real, eigh_complex);
}

leat_status ref_svd(leat_ref_context *context) {
  return each_number(context, svd_real, svd_complex);
}
