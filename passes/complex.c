// Part of `legalize`: arithmetic of complex numbers by their parts (a + bi, c + di), each operation
// rounded, as the references of the ops have it; its functions are in complex_functions.c.
//
//   +, −, neg, sum, cumsum   each part by itself
//   ×        (ac − bd) + (ad + bc)i
//   ÷        Smith's: by the greater of |c| and |d|; z / 0 is each part over +0
//   matmul   (A@C − B@D) + (A@D + B@C)i
//   abs      hypot
//   ==, !=   both parts are, either part is
//   cast     from a real: its imaginary part is +0; between the two complex dtypes part by part
//   prod     of 1 and the products so far (cumprod) the last, the reduced axes being made one
#include "passes/legalize.h"

#include <assert.h>

static leat_parts part_by_part(leat_legalizer *l, const leat_node *node, const leat_parts *in) {
  enum { MOST = 3 };
  leat_value inputs[2][MOST];
  assert(node->input_count <= MOST);
  for (uint32_t i = 0; i < node->input_count; i++) {
    inputs[0][i] = in[i].re;
    inputs[1][i] = in[i].im;
  }
  return (leat_parts){leat_legal_op(l, node->op, inputs[0], node->input_count, node->attrs),
                      leat_legal_op(l, node->op, inputs[1], node->input_count, node->attrs)};
}

static leat_parts times(leat_legalizer *l, const leat_node *node, const leat_parts *in) {
  leat_value products[2][2]; // [part of the first][part of the second]
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      leat_value both[] = {i ? in[0].im : in[0].re, j ? in[1].im : in[1].re};
      products[i][j] = leat_legal_op(l, node->op, both, 2, node->attrs);
    }
  return (leat_parts){r_sub(l, products[0][0], products[1][1]),
                      r_add(l, products[0][1], products[1][0])};
}

static leat_parts quotient(leat_legalizer *l, const leat_node *node, const leat_parts *in) {
  (void)node;
  leat_value a = in[0].re, b = in[0].im, c = in[1].re, d = in[1].im;
  leat_value size = r_abs(l, c), other = r_abs(l, d), swapped = r_less(l, size, other);
  leat_value great = r_where(l, swapped, d, c), less = r_where(l, swapped, c, d);
  leat_value x = r_where(l, swapped, b, a), y = r_where(l, swapped, a, b);
  leat_value ratio = r_div(l, less, great);
  leat_value scale = r_div(l, r_number(l, c, 1), r_add(l, great, r_mul(l, less, ratio)));
  leat_value re = r_mul(l, r_add(l, x, r_mul(l, y, ratio)), scale);
  leat_value xr = r_mul(l, x, ratio);
  leat_value im = r_mul(l, r_where(l, swapped, r_sub(l, xr, y), r_sub(l, y, xr)), scale);
  leat_value zero = r_and(l, r_is(l, size, 0), r_is(l, other, 0));
  return (leat_parts){r_where(l, zero, r_div(l, a, size), re),
                      r_where(l, zero, r_div(l, b, size), im)};
}

static leat_parts magnitude(leat_legalizer *l, const leat_node *node, const leat_parts *in) {
  (void)node;
  return (leat_parts){r_hypot(l, in->re, in->im), {NULL, 0}};
}

static leat_parts comparison(leat_legalizer *l, const leat_node *node, const leat_parts *in) {
  leat_value re = r_binary(l, node->op, in[0].re, in[1].re);
  leat_value im = r_binary(l, node->op, in[0].im, in[1].im);
  return (leat_parts){node->op == LEAT_OP_equal ? r_and(l, re, im) : r_or(l, re, im), {NULL, 0}};
}

static leat_parts conversion(leat_legalizer *l, const leat_node *node, const leat_parts *in) {
  leat_dtype part = leat_part_dtype(node->outputs[0].dtype);
  leat_value re = leat_legal_cast(l, part, in->re);
  return (leat_parts){re, in->im.node ? leat_legal_cast(l, part, in->im) : r_number(l, re, 0)};
}

typedef leat_parts (*rule)(leat_legalizer *l, const leat_node *node, const leat_parts *in);

static const rule rules[LEAT_OP_COUNT] = {
    [LEAT_OP_add] = part_by_part,     [LEAT_OP_sub] = part_by_part, [LEAT_OP_neg] = part_by_part,
    [LEAT_OP_sum] = part_by_part,     [LEAT_OP_mul] = times,        [LEAT_OP_matmul] = times,
    [LEAT_OP_div] = quotient,         [LEAT_OP_abs] = magnitude,    [LEAT_OP_equal] = comparison,
    [LEAT_OP_not_equal] = comparison, [LEAT_OP_cast] = conversion,
};

bool leat_is_complex_op(const leat_node *node) {
  bool known = rules[node->op] || leat_complex_function(node->op);
  bool complex = known && leat_dtype_is_complex(node->outputs[0].dtype);
  for (uint32_t i = 0; known && i < node->input_count; i++)
    complex = complex || leat_dtype_is_complex(leat_value_type(node->inputs[i])->dtype);
  return complex;
}

leat_parts leat_complex_parts(leat_legalizer *l, const leat_node *node, const leat_parts *inputs) {
  leat_complex_rule function = leat_complex_function(node->op);
  return function ? function(l, inputs) : rules[node->op](l, node, inputs);
}

// -- prod -----------------------------------------------------------------------------------------

static leat_attr as_dims(leat_legalizer *l, const leat_dim *dims, uint32_t count) {
  const leat_dim *kept = leat_arena_memdup(l->graph->arena, dims, count * sizeof *dims);
  return (leat_attr){.count = count, .dims = kept};
}

static leat_attr as_ints(leat_legalizer *l, const int64_t *ints, uint32_t count) {
  const int64_t *kept = leat_arena_memdup(l->graph->arena, ints, count * sizeof *ints);
  return (leat_attr){.count = count, .ints = kept};
}

// x with the axes that `prod` reduces behind the others, as one of `count` elements.
static leat_value reduced_last(leat_legalizer *l, const leat_node *node, leat_dim *count) {
  const leat_attr *axes = leat_node_attr(node, "axis");
  const leat_type *x = leat_value_type(node->inputs[0]);
  int64_t perm[LEAT_MAX_RANK];
  leat_dim dims[LEAT_MAX_RANK + 1];
  uint32_t reduced = 0, kept = 0, rank = (uint32_t)x->rank;
  *count = leat_dim_const(1);
  for (int32_t axis = 0; axis < x->rank; axis++) {
    if (reduced == axes->count || axes->ints[reduced] != axis) {
      dims[kept] = x->dims[axis];
      perm[kept++] = axis;
    } else {
      perm[rank - axes->count + reduced++] = axis;
      if (!leat_dim_mul(l->graph->dims, *count, x->dims[axis], count)) return (leat_value){NULL, 0};
    }
  }
  dims[kept] = *count;
  leat_attr order = as_ints(l, perm, rank), shape = as_dims(l, dims, kept + 1);
  leat_value turned = leat_legal_op(l, LEAT_OP_transpose, node->inputs, 1, &order);
  return turned.node ? leat_legal_op(l, LEAT_OP_reshape, &turned, 1, &shape) : turned;
}

static leat_value one_before(leat_legalizer *l, leat_value x) {
  leat_dim before[LEAT_MAX_RANK] = {0}, after[LEAT_MAX_RANK] = {0};
  uint32_t rank = (uint32_t)leat_value_type(x)->rank;
  before[rank - 1] = leat_dim_const(1);
  leat_attr attrs[] = {as_dims(l, before, rank), as_dims(l, after, rank)};
  leat_value both[] = {x, leat_legal_number(l, leat_value_type(x)->dtype, 1)};
  return leat_legal_op(l, LEAT_OP_pad, both, 2, attrs);
}

static leat_value last_of(leat_legalizer *l, leat_value x, leat_dim at) {
  const leat_type *type = leat_value_type(x);
  leat_dim start[LEAT_MAX_RANK], size[LEAT_MAX_RANK];
  int64_t step[LEAT_MAX_RANK];
  for (int32_t i = 0; i < type->rank; i++) {
    bool last = i == type->rank - 1;
    start[i] = last ? at : leat_dim_const(0);
    size[i] = last ? leat_dim_const(1) : type->dims[i];
    step[i] = 1;
  }
  uint32_t rank = (uint32_t)type->rank;
  leat_attr attrs[] = {as_dims(l, start, rank), as_dims(l, size, rank), as_ints(l, step, rank)};
  return leat_legal_op(l, LEAT_OP_slice, &x, 1, attrs);
}

leat_value leat_complex_product(leat_legalizer *l, const leat_node *node) {
  const leat_type *out = &node->outputs[0];
  leat_dim count;
  if (!leat_node_attr(node, "axis")->count) return node->inputs[0];
  leat_value x = reduced_last(l, node, &count);
  if (!x.node) return x;
  leat_attr attrs[] = {{.i = leat_value_type(x)->rank - 1}, {.i = false}, {.i = false}};
  leat_attr shape = as_dims(l, out->dims, (uint32_t)out->rank);
  x = leat_legal_op(l, LEAT_OP_cumprod, &x, 1, attrs);
  if (x.node) x = one_before(l, x);
  if (x.node) x = last_of(l, x, count);
  return x.node ? leat_legal_op(l, LEAT_OP_reshape, &x, 1, &shape) : x;
}
