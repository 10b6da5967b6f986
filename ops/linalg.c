// Factorisations of the matrices in the last two axes: their types and how code calls them. What
// they mean is in linalg_ref.c. Floats but halves, and complex numbers.
//
//   cholesky          the lower L with L Lᵀ = the symmetric part of x (of complex numbers L Lᴴ, and
//                     the Hermitian part); NaN everywhere when that is not positive definite
//   lu                lu, pivots, permutation: x[permutation] = L U by partial pivoting; lu holds L
//                     below its diagonal (which is 1 in L) and U; rows j and pivots[j] were
//                     exchanged at step j. A singular x gives zeros on U's diagonal
//   triangular_solve  op(a) x = b, with `right` x op(a) = b; op transposes with `transpose`; only
//                     the upper (with `lower` the lower) triangle of a is looked at, with
//                     `unit_diagonal` not even its diagonal. A zero there divides: inf or NaN
//   qr                q, r with x = q r, qᵀ q = I (of complex numbers qᴴ q) and only real numbers,
//                     none negative, on r's diagonal; q has min(m, n) columns, with `full` m
//   eigh              values ascending and the vectors (columns) of the symmetric (Hermitian) part
//                     of x; the largest number of each vector, of equal ones the first, is
//                     positive, and so real. The values are real numbers, of a complex x too
//   svd               u, s, vh: x = u diag(s) vh, with min(m, n) real values, descending, and the
//                     largest number of each column of u positive
//
// NaN or an infinity in x: eigh and svd are NaN everywhere.
#include "base/half.h"
#include "base/linalg_plan.h"
#include "ops/complex.h"
#include "ops/library.h"
#include "ops/ref.h"
#include "ops/shape.h"

#include <math.h>

// -- Shapes --------------------------------------------------------------------------------------

static bool is_matrix(leat_shape_context *context) {
  const leat_type *x = leat_shape_input(context, 0);
  if (leat_dtype_is_half(x->dtype))
    return leat_shape_fail(context, "expected f32 or f64, found %s", leat_dtype_name(x->dtype));
  if (x->rank >= 2) return true;
  return leat_shape_fail(context, "expected matrices, in at least 2 axes, found rank %d", x->rank);
}

static bool is_square(leat_shape_context *context) {
  const leat_type *x = leat_shape_input(context, 0);
  if (!is_matrix(context)) return false;
  return leat_shape_dims_equal(context, x->dims[x->rank - 2], x->dims[x->rank - 1],
                               "the matrices must be square");
}

// The type of x with other last axes; a second one of rank -1: there is just one.
static leat_type with_axes(const leat_type *x, leat_dtype dtype, int axes, leat_dim first,
                           leat_dim second) {
  leat_type out = *x;
  out.dtype = dtype;
  out.rank = x->rank - 2 + axes;
  out.dims[x->rank - 2] = first;
  if (axes == 2) out.dims[x->rank - 1] = second;
  return out;
}

// min(m, n) = m + n - max(m, n)
static bool smaller(leat_dims *dims, leat_dim m, leat_dim n, leat_dim *out) {
  leat_dim most;
  if (leat_dim_equal(m, n)) {
    *out = m;
    return true;
  }
  return leat_dim_max(dims, m, n, &most) && leat_dim_add(dims, m, n, out) &&
         leat_dim_sub(dims, *out, most, out);
}

bool shape_cholesky(leat_shape_context *context) {
  context->outputs[0] = *leat_shape_input(context, 0);
  return is_square(context);
}

// x of a factorisation, its extents and the smaller one.
typedef struct extents {
  leat_dim m, n, count;
} extents;

static bool extents_of(leat_shape_context *context, extents *out) {
  const leat_type *x = leat_shape_input(context, 0);
  if (!is_matrix(context)) return false;
  out->m = x->dims[x->rank - 2];
  out->n = x->dims[x->rank - 1];
  return smaller(context->graph->dims, out->m, out->n, &out->count) ||
         leat_shape_fail(context, "its axes have too many terms or digits");
}

bool shape_lu(leat_shape_context *context) {
  const leat_type *x = leat_shape_input(context, 0);
  extents e;
  if (!extents_of(context, &e)) return false;
  context->outputs[0] = *x;
  context->outputs[1] = with_axes(x, LEAT_i32, 1, e.count, e.count);
  context->outputs[2] = with_axes(x, LEAT_i32, 1, e.m, e.m);
  return true;
}

bool shape_triangular_solve(leat_shape_context *context) {
  const leat_type *a = leat_shape_input(context, 0), *b = leat_shape_input(context, 1);
  bool right = leat_node_attr(context->node, "right")->i;
  context->outputs[0] = *b;
  if (!is_square(context) || !leat_shape_same_dtype(context, 0, 1)) return false;
  if (a->rank != b->rank)
    return leat_shape_fail(context, "ranks %d and %d differ", a->rank, b->rank);
  for (int32_t i = 0; i < a->rank - 2; i++)
    if (!leat_shape_dims_equal(context, a->dims[i], b->dims[i], "batch axis %d", i)) return false;
  int32_t axis = a->rank - (right ? 1 : 2);
  return leat_shape_dims_equal(context, a->dims[axis], b->dims[axis], "axis %d", axis);
}

bool shape_qr(leat_shape_context *context) {
  const leat_type *x = leat_shape_input(context, 0);
  bool full = leat_node_attr(context->node, "full")->i;
  extents e;
  if (!extents_of(context, &e)) return false;
  leat_dim height = full ? e.m : e.count;
  context->outputs[0] = with_axes(x, x->dtype, 2, e.m, height);
  context->outputs[1] = with_axes(x, x->dtype, 2, height, e.n);
  return true;
}

bool shape_eigh(leat_shape_context *context) {
  const leat_type *x = leat_shape_input(context, 0);
  if (!is_square(context)) return false;
  leat_dim n = x->dims[x->rank - 1];
  context->outputs[0] = with_axes(x, leat_part_dtype(x->dtype), 1, n, n);
  context->outputs[1] = *x;
  return true;
}

bool shape_svd(leat_shape_context *context) {
  const leat_type *x = leat_shape_input(context, 0);
  extents e;
  if (!extents_of(context, &e)) return false;
  context->outputs[0] = with_axes(x, x->dtype, 2, e.m, e.count);
  context->outputs[1] = with_axes(x, leat_part_dtype(x->dtype), 1, e.count, e.count);
  context->outputs[2] = with_axes(x, x->dtype, 2, e.count, e.n);
  return true;
}

// -- Code: scalars are the dtype, extents and flags, and bytes of scratch a tile ------------------

static const leat_type *matrix_of(const leat_node *node) {
  return leat_value_type(node->inputs[0]);
}

static leat_dim rows_of(const leat_type *x) {
  return x->dims[x->rank - 2];
}

static leat_dim columns_of(const leat_type *x) {
  return x->dims[x->rank - 1];
}

static double extent_or_guess(leat_dim dim) {
  return leat_dim_is_const(dim) ? (double)dim.value : 100;
}

// A call for each matrix that does `flops` times the product of its extents and its width.
static bool begin_call(leat_dims *dims, const leat_node *node, const char *function, double flops,
                       leat_library_call *out) {
  const leat_type *x = matrix_of(node);
  double m = extent_or_guess(rows_of(x)), n = extent_or_guess(columns_of(x));
  out->function = function;
  out->work = 100 + flops * m * n * fmin(m, n);
  leat_library_scalar(out, leat_dim_const(x->dtype));
  return leat_library_batch(dims, x, 2, &out->tiles);
}

// Adds factor · a · b to the sum; b may be 1.
static bool add_product(leat_dims *dims, int64_t factor, leat_dim a, leat_dim b, leat_dim *sum) {
  leat_dim product;
  return leat_dim_mul(dims, a, b, &product) &&
         leat_dim_mul(dims, product, leat_dim_const(factor), &product) &&
         leat_dim_add(dims, *sum, product, sum);
}

// Scratch of `product` m n + each_m m + each_n n + more numbers.
static bool add_scratch(leat_dims *dims, const leat_type *x, int64_t product, int64_t each_m,
                        int64_t each_n, int64_t more, leat_library_call *out) {
  leat_dim m = rows_of(x), n = columns_of(x), one = leat_dim_const(1), size, bytes;
  size = leat_dim_const((int64_t)leat_dtype_size(x->dtype));
  bytes = leat_dim_const(more);
  return add_product(dims, product, m, n, &bytes) && add_product(dims, each_m, m, one, &bytes) &&
         add_product(dims, each_n, n, one, &bytes) && leat_dim_mul(dims, bytes, size, &bytes) &&
         leat_library_scratch(dims, out, bytes);
}

enum { BLOCK = LEAT_LINALG_BLOCK };

bool library_cholesky(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  const leat_type *x = matrix_of(node);
  if (!begin_call(dims, node, "cholesky", 0.1, out)) return false;
  leat_library_scalar(out, columns_of(x));
  return add_scratch(dims, x, 0, 0, BLOCK, 0, out);
}

bool library_lu(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  const leat_type *x = matrix_of(node);
  if (!begin_call(dims, node, "lu", 0.2, out)) return false;
  leat_library_scalar(out, rows_of(x));
  leat_library_scalar(out, columns_of(x));
  return true;
}

bool library_triangular_solve(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  static const char *const flags[] = {"right", "lower", "transpose", "unit_diagonal"};
  const leat_type *a = matrix_of(node), *b = leat_value_type(node->inputs[1]);
  if (!begin_call(dims, node, "triangular_solve", 0.3, out)) return false;
  leat_library_scalar(out, columns_of(a));
  leat_library_scalar(out, rows_of(b));
  leat_library_scalar(out, columns_of(b));
  for (int i = 0; i < 4; i++)
    leat_library_scalar(out, leat_dim_const(leat_node_attr(node, flags[i])->i));
  bool transposes = leat_node_attr(node, "transpose")->i;
  return add_scratch(dims, a, transposes, 0, 0, 1, out);
}

bool library_qr(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  const leat_type *x = matrix_of(node);
  if (!begin_call(dims, node, "qr", 1, out)) return false;
  leat_library_scalar(out, rows_of(x));
  leat_library_scalar(out, columns_of(x));
  leat_library_scalar(out, columns_of(&node->outputs[0]));
  return add_scratch(dims, x, 1, 4 * BLOCK + 2, 2 * BLOCK + 1, BLOCK * BLOCK + BLOCK, out);
}

bool library_eigh(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  const leat_type *x = matrix_of(node);
  if (!begin_call(dims, node, "eigh", 6, out)) return false;
  leat_library_scalar(out, columns_of(x));
  return add_scratch(dims, x, 1, 0, 4 * BLOCK + 8, BLOCK * BLOCK + BLOCK + 16, out);
}

bool library_svd(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  const leat_type *x = matrix_of(node);
  if (!begin_call(dims, node, "svd", 40, out)) return false;
  leat_library_scalar(out, rows_of(x));
  leat_library_scalar(out, columns_of(x));
  return add_scratch(dims, x, 4, 4 * BLOCK + 10, 4 * BLOCK + 10, BLOCK * BLOCK + BLOCK + 32, out);
}
