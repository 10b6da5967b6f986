// Contractions. Each output element is a sum over k ascending, from 0, by fused multiply-add in the
// dtype itself: fma(a[k], b[k], sum); of more than LEAT_PRODUCT_BLOCK, a sum for each block of
// them, added in order. Integers wrap. `family` is for codegen and changes no meaning here.
#include "ops/reduce.h"
#include "ops/ref.h"
#include "ops/shape.h"

#include <math.h>

enum { MOST_BEFORE = 1 << 30 }; // zeros in front of an axis

// The matrix axes of an operand: rows and columns as the product sees them, after its transpose.
typedef struct sides {
  int32_t row, column;
} sides;

static sides sides_of(const leat_node *node, const char *transpose, int32_t rank) {
  bool swapped = leat_node_attr(node, transpose)->i;
  return (sides){rank - (swapped ? 1 : 2), rank - (swapped ? 2 : 1)};
}

// Building one makes matrices of vectors and gives the operands the same batches, but where b has
// none: then it serves all of a's.
bool shape_matmul(leat_shape_context *context) {
  const leat_type *a = leat_shape_input(context, 0), *b = leat_shape_input(context, 1);
  leat_type *out = &context->outputs[0];
  if (!leat_shape_same_dtype(context, 0, 1)) return false;
  sides left = sides_of(context->node, "transpose_a", a->rank);
  sides right = sides_of(context->node, "transpose_b", b->rank);
  if (!leat_shape_dims_equal(context, a->dims[left.column], b->dims[right.row],
                             "axis %d of the first and axis %d of the second", left.column,
                             right.row))
    return false;
  *out = *a;
  out->dims[a->rank - 2] = a->dims[left.row];
  out->dims[a->rank - 1] = b->dims[right.column];
  return true;
}

// An operand as matrices: how far apart its rows, columns and batches are.
typedef struct matrices {
  int64_t rows, columns, row_step, column_step, batch_step;
} matrices;

static matrices matrices_of(const leat_node *node, const char *transpose, const leat_tensor *x) {
  sides s = sides_of(node, transpose, x->rank);
  int64_t height = x->shape[x->rank - 2], width = x->shape[x->rank - 1];
  bool swapped = s.row > s.column;
  return (matrices){x->shape[s.row], x->shape[s.column], swapped ? 1 : width, swapped ? width : 1,
                    x->rank > 2 ? height * width : 0};
}

// Where the block ends that begins at k.
static int64_t end_of_block(int64_t depth, int64_t k) {
  return depth - k < LEAT_PRODUCT_BLOCK ? depth : k + LEAT_PRODUCT_BLOCK;
}

// Where the operands of an element of the result begin.
static int64_t first_of_row(const matrices *a, const matrices *b, int64_t i) {
  return i / (a->rows * b->columns) * a->batch_step + i / b->columns % a->rows * a->row_step;
}

static int64_t first_of_column(const matrices *a, const matrices *b, int64_t i) {
  return i / (a->rows * b->columns) * b->batch_step + i % b->columns * b->column_step;
}

static uint64_t fma_integer(uint64_t a, uint64_t b, uint64_t c) {
  return a * b + c;
}

#define MATMUL(ID, T, WIDE, ACC, FMA)                                                              \
  case ID: {                                                                                       \
    const T *x = context->inputs[0].data, *y = context->inputs[1].data;                            \
    T *out = context->outputs[0].data;                                                             \
    for (int64_t i = 0; i < count; i++) {                                                          \
      int64_t left = first_of_row(&a, &b, i), right = first_of_column(&a, &b, i);                  \
      ACC total = 0;                                                                               \
      for (int64_t k = 0; k < a.columns;) {                                                        \
        int64_t begin = k, end = end_of_block(a.columns, k);                                       \
        ACC sum = 0;                                                                               \
        for (; k < end; k++)                                                                       \
          sum = FMA((ACC)x[left + k * a.column_step], (ACC)y[right + k * b.row_step], sum);        \
        total = begin ? total + sum : sum;                                                         \
      }                                                                                            \
      out[i] = (T)total;                                                                           \
    }                                                                                              \
    return LEAT_OK;                                                                                \
  }

// (A@C - B@D) + (A@D + B@C)i of A + Bi and C + Di: each of the four as that of real numbers.
#define MATMUL_COMPLEX(ID, PART, FMA)                                                              \
  case ID: {                                                                                       \
    const PART *x = context->inputs[0].data, *y = context->inputs[1].data;                         \
    PART *out = context->outputs[0].data;                                                          \
    for (int64_t i = 0; i < count; i++) {                                                          \
      int64_t left = first_of_row(&a, &b, i), right = first_of_column(&a, &b, i);                  \
      PART totals[4] = {0};                                                                        \
      for (int64_t k = 0; k < a.columns;) {                                                        \
        int64_t begin = k, end = end_of_block(a.columns, k);                                       \
        PART sums[4] = {0};                                                                        \
        for (; k < end; k++)                                                                       \
          for (int part = 0; part < 4; part++)                                                     \
            sums[part] = FMA(x[2 * (left + k * a.column_step) + part / 2],                         \
                             y[2 * (right + k * b.row_step) + part % 2], sums[part]);              \
        for (int part = 0; part < 4; part++)                                                       \
          totals[part] = begin ? totals[part] + sums[part] : sums[part];                           \
      }                                                                                            \
      out[2 * i] = totals[0] - totals[3];                                                          \
      out[2 * i + 1] = totals[1] + totals[2];                                                      \
    }                                                                                              \
    return LEAT_OK;                                                                                \
  }

leat_status ref_matmul(leat_ref_context *context) {
  matrices a = matrices_of(context->node, "transpose_a", &context->inputs[0]);
  matrices b = matrices_of(context->node, "transpose_b", &context->inputs[1]);
  int64_t count = leat_ref_count(&context->outputs[0]);
  switch (context->inputs[0].dtype) {
    LEAT_SIGNED_CASES(MATMUL, uint64_t, fma_integer)
    LEAT_UNSIGNED_CASES(MATMUL, uint64_t, fma_integer)
    MATMUL(LEAT_f32, float, float, float, fmaf)
    MATMUL(LEAT_f64, double, double, double, fma)
    MATMUL_COMPLEX(LEAT_c64, float, fmaf)
    MATMUL_COMPLEX(LEAT_c128, double, fma)
  default: return leat_ref_unsupported(context);
  }
}

// -- A convolution by Winograd's transforms -------------------------------------------------------

leat_winograd leat_winograd_of(const leat_node *node) {
  bool weights = node->op == LEAT_OP_winograd_weights;
  if (!weights && node->op != LEAT_OP_winograd) return (leat_winograd){0};
  const int64_t *before = leat_node_attr(node, "before")->ints;
  return (leat_winograd){.tile = (int)leat_node_attr(node, "tile")->i,
                         .window = (int)(weights ? leat_node_attr(node, "window")->i
                                                 : leat_value_type(node->inputs[1])->dims[0].value),
                         .weights = weights,
                         .turned = !weights && leat_node_attr(node, "turned")->i != 0,
                         .before = {before[0], before[1]}};
}

leat_dim leat_contraction_depth(const leat_node *node) {
  const leat_type *a = leat_value_type(node->inputs[0]);
  return a->dims[sides_of(node, "transpose_a", a->rank).column];
}

static bool is_known(leat_dim extent, int64_t least) {
  return leat_dim_is_const(extent) && extent.value >= least;
}

static bool check_tile(leat_shape_context *context, int64_t window, int64_t tile) {
  bool five = window == 5;
  if (tile == 2 || (!five && tile == 4)) return true;
  return leat_shape_fail(context, "tile is %lld, not 2%s", (long long)tile, five ? "" : " or 4");
}

static bool check_before(leat_shape_context *context, const leat_attr *before) {
  for (uint32_t i = 0; i < before->count; i++)
    if (before->ints[i] < -MOST_BEFORE || before->ints[i] > MOST_BEFORE)
      return leat_shape_fail(context, "before of axis %u is %lld, not in %d to %d", i + 1,
                             (long long)before->ints[i], -MOST_BEFORE, MOST_BEFORE);
  return true;
}

bool shape_winograd(leat_shape_context *context) {
  const leat_node *node = context->node;
  const leat_type *x = leat_shape_input(context, 0), *w = leat_shape_input(context, 1);
  const leat_attr *size = leat_node_attr(node, "size"), *before = leat_node_attr(node, "before");
  int64_t tile = leat_node_attr(node, "tile")->i;
  leat_type *out = &context->outputs[0];
  if (!leat_shape_same_dtype(context, 0, 1)) return false;
  bool three = w->rank == 4 && leat_dim_is(w->dims[0], 3) && leat_dim_is(w->dims[1], 3);
  bool five = w->rank == 4 && leat_dim_is(w->dims[0], 5) && leat_dim_is(w->dims[1], 5);
  if (x->rank != 4 || !(three || five))
    return leat_shape_fail(context, "takes x[N, H, W, C] and w[3, 3, C, O] or w[5, 5, C, O]");
  if (size->count != 2 || before->count != 2)
    return leat_shape_fail(context, "size and before have two entries");
  if (!check_tile(context, five ? 5 : 3, tile)) return false;
  *out = *x;
  for (int i = 0; i < 2; i++) {
    if (!is_known(x->dims[i + 1], 1) || !is_known(size->dims[i], 0))
      return leat_shape_fail(context, "extents along axis %d are not known, or 0", i + 1);
    out->dims[i + 1] = size->dims[i];
  }
  if (!check_before(context, before)) return false;
  out->dims[3] = w->dims[3];
  if (!is_known(w->dims[2], 0) || !is_known(w->dims[3], 0))
    return leat_shape_fail(context, "the channels of the weights are not known");
  return leat_shape_dims_equal(context, x->dims[3], w->dims[2],
                               "axis 3 of the first and axis 2 of the second");
}

bool shape_winograd_weights(leat_shape_context *context) {
  const leat_node *node = context->node;
  const leat_type *x = leat_shape_input(context, 0), *dy = leat_shape_input(context, 1);
  const leat_attr *before = leat_node_attr(node, "before");
  int64_t window = leat_node_attr(node, "window")->i;
  if (!leat_shape_same_dtype(context, 0, 1)) return false;
  if (x->rank != 4 || dy->rank != 4)
    return leat_shape_fail(context, "takes x[N, H, W, C] and dy[N, h, w, O]");
  if (before->count != 2) return leat_shape_fail(context, "before has two entries");
  if (window != 3 && window != 5)
    return leat_shape_fail(context, "window is %lld, not 3 or 5", (long long)window);
  if (!check_tile(context, window, leat_node_attr(node, "tile")->i)) return false;
  if (!check_before(context, before)) return false;
  for (int k = 1; k < 4; k++)
    if (!is_known(x->dims[k], k < 3) || !is_known(dy->dims[k], 0))
      return leat_shape_fail(context, "extents along axis %d are not known, or 0", k);
  if (!leat_shape_dims_equal(context, x->dims[0], dy->dims[0],
                             "axis 0 of the first and of the second"))
    return false;
  context->outputs[0] =
      (leat_type){.dtype = x->dtype,
                  .rank = 2,
                  .dims = {leat_dim_const(window * window * x->dims[3].value), dy->dims[3]}};
  return true;
}

// The products of a window, in their order.
typedef struct windows {
  const int64_t *x, *out, *before; // shapes
  int64_t channels, outputs, count, window;
  bool turned;
} windows;

// The element of x that window number `at` has as its number `k`, from the last one on if it is
// turned; -1: it hangs over.
static int64_t place(const windows *s, int64_t at, int64_t k) {
  int64_t taps = s->window * s->window;
  int64_t tap = s->turned ? taps - 1 - k / s->channels : k / s->channels;
  int64_t row = at / s->out[2] % s->out[1] + tap / s->window - s->before[0];
  int64_t column = at % s->out[2] + tap % s->window - s->before[1];
  if (row < 0 || row >= s->x[1] || column < 0 || column >= s->x[2]) return -1;
  int64_t image = at / s->out[2] / s->out[1];
  return ((image * s->x[1] + row) * s->x[2] + column) * s->channels + k % s->channels;
}

// Sums over a window's elements, or, of the gradient of weights, over all windows.
#define WINOGRAD(ID, T, FMA)                                                                       \
  case ID: {                                                                                       \
    const T *x = context->inputs[0].data, *y = context->inputs[1].data;                            \
    T *out = context->outputs[0].data, *row = leat_new_array(context->arena, T, (size_t)depth);    \
    for (int64_t i = 0; i < rows; i++) {                                                           \
      for (int64_t k = 0; k < depth; k++) {                                                        \
        int64_t from = weights ? place(&s, k, i) : place(&s, i, k);                                \
        row[k] = from < 0 ? 0 : x[from];                                                           \
      }                                                                                            \
      for (int64_t o = 0; o < s.outputs; o++) {                                                    \
        T total = 0;                                                                               \
        for (int64_t k = 0; k < depth;) {                                                          \
          int64_t begin = k, end = end_of_block(depth, k);                                         \
          T sum = 0;                                                                               \
          for (; k < end; k++) sum = FMA(row[k], y[k * s.outputs + o], sum);                       \
          total = begin ? total + sum : sum;                                                       \
        }                                                                                          \
        out[i * s.outputs + o] = total;                                                            \
      }                                                                                            \
    }                                                                                              \
    return LEAT_OK;                                                                                \
  }

// As the product of matrices that it is.
static leat_status multiply(leat_ref_context *context, bool weights) {
  const int64_t *out = weights ? context->inputs[1].shape : context->outputs[0].shape;
  leat_winograd what = leat_winograd_of(context->node);
  windows s = {.x = context->inputs[0].shape,
               .out = out,
               .before = leat_node_attr(context->node, "before")->ints,
               .channels = context->inputs[0].shape[3],
               .outputs = out[3],
               .count = out[0] * out[1] * out[2],
               .window = what.window,
               .turned = what.turned};
  int64_t elements = s.window * s.window * s.channels;
  int64_t rows = weights ? elements : s.count, depth = weights ? s.count : elements;
  switch ((int)context->inputs[0].dtype) {
    WINOGRAD(LEAT_f32, float, fmaf)
    WINOGRAD(LEAT_f64, double, fma)
  default: return leat_ref_unsupported(context);
  }
}

leat_status ref_winograd(leat_ref_context *context) {
  return multiply(context, false);
}

leat_status ref_winograd_weights(leat_ref_context *context) {
  return multiply(context, true);
}
