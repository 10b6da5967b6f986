// Discrete Fourier transforms along the last axis, as numpy.fft has them: fft sums x_i e^(-2πi i k
// / n), ifft is its inverse (with the 1 / n); rfft is the first n / 2 + 1 results for real x, irfft
// the way back to n real numbers (what the first number, and for an even n the last, has of an
// imaginary part counts for nothing). Of no points: no results; rfft gives one, 0.
#include "base/fft_plan.h"
#include "ops/library.h"
#include "ops/ref.h"
#include "ops/shape.h"

#include <math.h>

// -- Shapes --------------------------------------------------------------------------------------

static bool has_last_axis(leat_shape_context *context) {
  if (leat_shape_input(context, 0)->rank > 0) return true;
  return leat_shape_fail(context, "it needs an axis to transform along, found a scalar");
}

static bool is_real_pair(leat_dtype real, leat_dtype complex) {
  return (real == LEAT_f32 && complex == LEAT_c64) || (real == LEAT_f64 && complex == LEAT_c128);
}

bool shape_fft(leat_shape_context *context) {
  context->outputs[0] = *leat_shape_input(context, 0);
  return has_last_axis(context);
}

bool shape_ifft(leat_shape_context *context) {
  return shape_fft(context);
}

// n / 2 + 1
static bool bins_of(leat_shape_context *context, leat_dim n, leat_dim *out) {
  leat_dims *dims = context->graph->dims;
  if (leat_dim_floordiv(dims, n, leat_dim_const(2), out) &&
      leat_dim_add(dims, *out, leat_dim_const(1), out))
    return true;
  return leat_shape_fail(context, "its last axis has too many terms or digits");
}

bool shape_rfft(leat_shape_context *context) {
  const leat_type *in = leat_shape_input(context, 0);
  leat_type *out = &context->outputs[0];
  *out = *in;
  out->dtype = in->dtype == LEAT_f64 ? LEAT_c128 : LEAT_c64;
  if (!is_real_pair(in->dtype, out->dtype))
    return leat_shape_fail(context, "expected f32 or f64, found %s", leat_dtype_name(in->dtype));
  if (!has_last_axis(context)) return false;
  return bins_of(context, in->dims[in->rank - 1], &out->dims[in->rank - 1]);
}

bool shape_irfft(leat_shape_context *context) {
  const leat_type *in = leat_shape_input(context, 0);
  leat_type *out = &context->outputs[0];
  leat_dim n = leat_node_attr(context->node, "n")->dim, bins;
  *out = *in;
  out->dtype = in->dtype == LEAT_c128 ? LEAT_f64 : LEAT_f32;
  if (!has_last_axis(context) || !leat_shape_dim_ok(context, n) || !bins_of(context, n, &bins))
    return false;
  out->dims[in->rank - 1] = n;
  return leat_shape_dims_equal(context, in->dims[in->rank - 1], bins,
                               "the last axis, and n / 2 + 1 for an n of %s",
                               leat_dim_text(context->graph->arena, n));
}

// -- Meaning: the sums, in long double -----------------------------------------------------------

typedef struct rows {
  int64_t count, from, to; // rows; numbers of a row
} rows;

static rows rows_of(const leat_ref_context *context) {
  const leat_tensor *in = &context->inputs[0], *out = &context->outputs[0];
  int64_t from = in->shape[in->rank - 1], to = out->shape[out->rank - 1];
  return (rows){leat_shape_elements(in->rank - 1, in->shape), from, to};
}

static long double load(const leat_tensor *x, int64_t i) {
  bool is_double = x->dtype == LEAT_f64 || x->dtype == LEAT_c128;
  return is_double ? ((const double *)x->data)[i] : ((const float *)x->data)[i];
}

static void store(leat_tensor *y, int64_t i, long double value) {
  if (y->dtype == LEAT_f64 || y->dtype == LEAT_c128)
    ((double *)y->data)[i] = (double)value;
  else
    ((float *)y->data)[i] = (float)value;
}

typedef struct number {
  long double re, im;
} number;

// a × e^(2πi turns / n)
static number turned(number a, int64_t turns, int64_t n) {
  long double angle = 2 * 3.14159265358979323846264338327950288L * (long double)turns / n;
  long double c = cosl(angle), s = sinl(angle);
  return (number){a.re * c - a.im * s, a.re * s + a.im * c};
}

// (i × k) mod n without overflow: both are below 2^31 or the sums never end.
static int64_t turns_of(int64_t i, int64_t k, int64_t n) {
  return (int64_t)((uint64_t)i * (uint64_t)k % (uint64_t)n);
}

static leat_status transform(leat_ref_context *context, int sign) {
  const leat_tensor *x = &context->inputs[0];
  rows r = rows_of(context);
  bool real = leat_dtype_kind_of(x->dtype) == LEAT_KIND_FLOAT;
  int64_t step = real ? 1 : 2;
  for (int64_t row = 0; row < r.count; row++)
    for (int64_t k = 0; k < r.to; k++) {
      number sum = {0, 0};
      for (int64_t i = 0; i < r.from; i++) {
        int64_t at = step * (row * r.from + i);
        number a = {load(x, at), real ? 0 : load(x, at + 1)};
        a = turned(a, sign * turns_of(i, k, r.from), r.from);
        sum.re += a.re;
        sum.im += a.im;
      }
      long double scale = sign > 0 ? r.from : 1;
      store(&context->outputs[0], 2 * (row * r.to + k), sum.re / scale);
      store(&context->outputs[0], 2 * (row * r.to + k) + 1, sum.im / scale);
    }
  return LEAT_OK;
}

leat_status ref_fft(leat_ref_context *context) {
  return transform(context, -1);
}

leat_status ref_ifft(leat_ref_context *context) {
  return transform(context, 1);
}

leat_status ref_rfft(leat_ref_context *context) {
  return transform(context, -1);
}

leat_status ref_irfft(leat_ref_context *context) {
  const leat_tensor *x = &context->inputs[0];
  rows r = rows_of(context);
  for (int64_t row = 0; row < r.count; row++)
    for (int64_t i = 0; i < r.to; i++) {
      long double sum = 0;
      for (int64_t k = 0; k < r.from; k++) {
        int64_t at = 2 * (row * r.from + k);
        bool alone = k == 0 || 2 * k == r.to; // the others stand for their mirror images too
        number a = {load(x, at), alone ? 0 : load(x, at + 1)};
        sum += (alone ? 1 : 2) * turned(a, turns_of(i, k, r.to), r.to).re;
      }
      store(&context->outputs[0], row * r.to + i, sum / r.to);
    }
  return LEAT_OK;
}

// -- Code: scalars are the dtype of the reals, n, rows, bytes of scratch a tile and the kind -----

// What a tile needs for transforms of `points` complex numbers.
static bool tile_bytes(leat_dims *dims, leat_dim points, size_t size, leat_dim *out) {
  leat_fft_plan plan;
  int64_t bytes = (int64_t)size;
  if (leat_dim_is_const(points)) {
    if (!leat_fft_plan_make(points.value, size, &plan)) return false;
    *out = leat_dim_const(leat_fft_plan_reals(&plan) * bytes);
    return true;
  }
  return leat_dim_mul(dims, points, leat_dim_const(LEAT_FFT_MOST_REALS * bytes), out) &&
         leat_dim_add(dims, *out, leat_dim_const(LEAT_FFT_MORE_REALS * bytes), out);
}

static bool rows_call(leat_dims *dims, const leat_node *node, leat_dim n, leat_fft_kind kind,
                      leat_library_call *out) {
  const leat_type *in = leat_value_type(node->inputs[0]);
  bool is_double = in->dtype == LEAT_f64 || in->dtype == LEAT_c128;
  size_t size = is_double ? sizeof(double) : sizeof(float);
  bool halved = (kind == LEAT_FFT_FROM_REAL || kind == LEAT_FFT_TO_REAL) && leat_dim_is_const(n) &&
                n.value % 2 == 0;
  leat_dim rows, bytes, points = halved ? leat_dim_const(n.value / 2) : n;
  out->function = "fft";
  if (!leat_library_batch(dims, in, 1, &rows) ||
      !leat_dim_add(dims, rows, leat_dim_const(LEAT_FFT_ROWS - 1), &out->tiles) ||
      !leat_dim_floordiv(dims, out->tiles, leat_dim_const(LEAT_FFT_ROWS), &out->tiles) ||
      !tile_bytes(dims, points, size, &bytes))
    return false;
  leat_library_scalar(out, leat_dim_const(is_double ? LEAT_f64 : LEAT_f32));
  leat_library_scalar(out, n);
  leat_library_scalar(out, rows);
  if (!leat_library_scratch(dims, out, bytes)) return false;
  leat_library_scalar(out, leat_dim_const(kind));
  double length = leat_dim_is_const(n) ? (double)n.value : 1000;
  out->work = LEAT_FFT_ROWS * length * (2 + log2(length + 1)) * 0.3;
  return true;
}

static leat_dim last_dim(const leat_node *node) {
  const leat_type *in = leat_value_type(node->inputs[0]);
  return in->dims[in->rank - 1];
}

bool library_fft(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  return rows_call(dims, node, last_dim(node), LEAT_FFT_FORWARD, out);
}

bool library_ifft(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  return rows_call(dims, node, last_dim(node), LEAT_FFT_INVERSE, out);
}

bool library_rfft(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  return rows_call(dims, node, last_dim(node), LEAT_FFT_FROM_REAL, out);
}

bool library_irfft(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  return rows_call(dims, node, leat_node_attr(node, "n")->dim, LEAT_FFT_TO_REAL, out);
}
