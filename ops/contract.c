// Contractions. Each output element is one accumulator, from 0, over k ascending, by fused
// multiply-add in the dtype itself: fma(a[k], b[k], acc); integers wrap. `family` is for codegen
// and changes no meaning here.
#include "ops/ref.h"
#include "ops/shape.h"

#include <math.h>

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

static uint64_t fma_integer(uint64_t a, uint64_t b, uint64_t c) {
  return a * b + c;
}

#define MATMUL(ID, T, WIDE, ACC, FMA)                                                              \
  case ID: {                                                                                       \
    const T *x = context->inputs[0].data, *y = context->inputs[1].data;                            \
    T *out = context->outputs[0].data;                                                             \
    for (int64_t i = 0; i < count; i++) {                                                          \
      int64_t batch = i / (a.rows * b.columns), row = i / b.columns % a.rows,                      \
              column = i % b.columns;                                                              \
      ACC sum = 0;                                                                                 \
      for (int64_t k = 0; k < a.columns; k++)                                                      \
        sum = FMA((ACC)x[batch * a.batch_step + row * a.row_step + k * a.column_step],             \
                  (ACC)y[batch * b.batch_step + k * b.row_step + column * b.column_step], sum);    \
      out[i] = (T)sum;                                                                             \
    }                                                                                              \
    return LEAT_OK;                                                                                \
  }

// (A@C - B@D) + (A@D + B@C)i of A + Bi and C + Di: each of the four as that of real numbers.
#define MATMUL_COMPLEX(ID, PART, FMA)                                                              \
  case ID: {                                                                                       \
    const PART *x = context->inputs[0].data, *y = context->inputs[1].data;                         \
    PART *out = context->outputs[0].data;                                                          \
    for (int64_t i = 0; i < count; i++) {                                                          \
      int64_t batch = i / (a.rows * b.columns), row = i / b.columns % a.rows,                      \
              column = i % b.columns;                                                              \
      PART sums[2][2] = {{0}};                                                                     \
      for (int64_t k = 0; k < a.columns; k++) {                                                    \
        const PART *z = &x[2 * (batch * a.batch_step + row * a.row_step + k * a.column_step)];     \
        const PART *w = &y[2 * (batch * b.batch_step + k * b.row_step + column * b.column_step)];  \
        for (int part = 0; part < 4; part++)                                                       \
          sums[part / 2][part % 2] = FMA(z[part / 2], w[part % 2], sums[part / 2][part % 2]);      \
      }                                                                                            \
      out[2 * i] = sums[0][0] - sums[1][1];                                                        \
      out[2 * i + 1] = sums[0][1] + sums[1][0];                                                    \
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
