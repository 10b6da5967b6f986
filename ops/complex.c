// Ops on complex numbers, by their parts (a + bi, c + di), each operation rounded:
//
//   +, −, neg, sum, scatter_add, scatter_set   each part by itself
//   ×        (ac − bd) + (ad + bc)i
//   ÷        Smith's: by the greater of |c| and |d|, as NumPy; z / 0 is each part over +0
//   matmul   (A@C − B@D) + (A@D + B@C)i
//   abs      m·√(1 + (n/m)²) of the greater m and the lesser n of |a| and |b|; infinite when either
//            part is
//   sqrt     the root with a part a ≥ 0, or with b's sign where a is negative
//   ==, !=   both parts are, either part is
//   cast     from a real: its imaginary part is +0; between the two complex dtypes part by part
//
// real, imag and complex themselves take apart and put together.
#include "ops/complex.h"

#include "ops/ref.h"
#include "ops/shape.h"

#include <assert.h>

typedef const leat_real_ops *real_ops;

leat_dtype leat_part_dtype(leat_dtype complex) {
  return complex == LEAT_c64 ? LEAT_f32 : LEAT_f64;
}

// -- Formulas -------------------------------------------------------------------------------------

static leat_value unary(real_ops ops, leat_op op, leat_value x) {
  return ops->apply(ops->context, op, &x, 1, NULL);
}

static leat_value binary(real_ops ops, leat_op op, leat_value x, leat_value y) {
  leat_value both[] = {x, y};
  return ops->apply(ops->context, op, both, 2, NULL);
}

static leat_value add(real_ops ops, leat_value x, leat_value y) {
  return binary(ops, LEAT_OP_add, x, y);
}

static leat_value sub(real_ops ops, leat_value x, leat_value y) {
  return binary(ops, LEAT_OP_sub, x, y);
}

static leat_value mul(real_ops ops, leat_value x, leat_value y) {
  return binary(ops, LEAT_OP_mul, x, y);
}

static leat_value divide(real_ops ops, leat_value x, leat_value y) {
  return binary(ops, LEAT_OP_div, x, y);
}

static leat_value where(real_ops ops, leat_value condition, leat_value x, leat_value y) {
  leat_value all[] = {condition, x, y};
  return ops->apply(ops->context, LEAT_OP_where, all, 3, NULL);
}

static leat_value number(real_ops ops, leat_value like, double value) {
  leat_dtype dtype = like.node ? leat_value_type(like)->dtype : LEAT_f32; // it failed before
  return ops->number(ops->context, dtype, value);
}

static leat_value both_are(real_ops ops, leat_value x, leat_value y, double value) {
  leat_value wanted = number(ops, x, value);
  return binary(ops, LEAT_OP_and, binary(ops, LEAT_OP_equal, x, wanted),
                binary(ops, LEAT_OP_equal, y, wanted));
}

static leat_parts part_by_part(real_ops ops, const leat_node *node, const leat_parts *in) {
  enum { MOST = 3 };
  leat_value inputs[2][MOST];
  assert(node->input_count <= MOST);
  for (uint32_t i = 0; i < node->input_count; i++) {
    inputs[0][i] = in[i].re;
    inputs[1][i] = in[i].im.node ? in[i].im : in[i].re; // indices serve both
  }
  return (leat_parts){
      ops->apply(ops->context, node->op, inputs[0], node->input_count, node->attrs),
      ops->apply(ops->context, node->op, inputs[1], node->input_count, node->attrs)};
}

static leat_parts times(real_ops ops, const leat_node *node, const leat_parts *in) {
  leat_value products[2][2]; // [part of the first][part of the second]
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      leat_value both[] = {i ? in[0].im : in[0].re, j ? in[1].im : in[1].re};
      products[i][j] = ops->apply(ops->context, node->op, both, 2, node->attrs);
    }
  return (leat_parts){sub(ops, products[0][0], products[1][1]),
                      add(ops, products[0][1], products[1][0])};
}

static leat_parts quotient(real_ops ops, const leat_node *node, const leat_parts *in) {
  (void)node;
  leat_value a = in[0].re, b = in[0].im, c = in[1].re, d = in[1].im;
  leat_value size = unary(ops, LEAT_OP_abs, c), other = unary(ops, LEAT_OP_abs, d);
  leat_value swapped = binary(ops, LEAT_OP_less, size, other);
  leat_value great = where(ops, swapped, d, c), less = where(ops, swapped, c, d);
  leat_value x = where(ops, swapped, b, a), y = where(ops, swapped, a, b);
  leat_value ratio = divide(ops, less, great);
  leat_value scale = divide(ops, number(ops, c, 1), add(ops, great, mul(ops, less, ratio)));
  leat_value re = mul(ops, add(ops, x, mul(ops, y, ratio)), scale);
  leat_value xr = mul(ops, x, ratio);
  leat_value im = mul(ops, where(ops, swapped, sub(ops, xr, y), sub(ops, y, xr)), scale);
  leat_value zero = both_are(ops, size, other, 0);
  return (leat_parts){where(ops, zero, divide(ops, a, size), re),
                      where(ops, zero, divide(ops, b, size), im)};
}

static leat_value magnitude(real_ops ops, leat_parts z) {
  leat_value x = unary(ops, LEAT_OP_abs, z.re), y = unary(ops, LEAT_OP_abs, z.im);
  leat_value rises = binary(ops, LEAT_OP_less, x, y), one = number(ops, x, 1);
  leat_value great = where(ops, rises, y, x), less = where(ops, rises, x, y);
  leat_value infinity = number(ops, x, __builtin_inf());
  leat_value ratio = divide(ops, less, great);
  leat_value root = unary(ops, LEAT_OP_sqrt, add(ops, mul(ops, ratio, ratio), one));
  leat_value size = where(ops, both_are(ops, x, y, 0), number(ops, x, 0), mul(ops, great, root));
  leat_value infinite = binary(ops, LEAT_OP_or, binary(ops, LEAT_OP_equal, x, infinity),
                               binary(ops, LEAT_OP_equal, y, infinity));
  return where(ops, infinite, infinity, size);
}

static leat_parts absolute(real_ops ops, const leat_node *node, const leat_parts *in) {
  (void)node;
  return (leat_parts){magnitude(ops, in[0]), {NULL, 0}};
}

static leat_parts root(real_ops ops, const leat_node *node, const leat_parts *in) {
  (void)node;
  leat_value a = in->re, b = in->im, half = number(ops, a, 0.5), zero = number(ops, a, 0);
  leat_value size = unary(ops, LEAT_OP_abs, a), infinity = number(ops, a, __builtin_inf());
  leat_value t = add(ops, mul(ops, size, half), mul(ops, magnitude(ops, *in), half));
  t = unary(ops, LEAT_OP_sqrt, t);
  leat_value rest = divide(ops, mul(ops, unary(ops, LEAT_OP_abs, b), half), t);
  leat_value left = binary(ops, LEAT_OP_less, a, zero);
  leat_value re = where(ops, left, rest, t), im = where(ops, left, t, rest);
  leat_value is_zero = binary(ops, LEAT_OP_equal, t, zero);
  leat_value high = binary(ops, LEAT_OP_equal, unary(ops, LEAT_OP_abs, b), infinity);
  im = where(ops, binary(ops, LEAT_OP_or, is_zero, high), b, binary(ops, LEAT_OP_copysign, im, b));
  return (leat_parts){where(ops, is_zero, zero, where(ops, high, infinity, re)), im};
}

static leat_parts comparison(real_ops ops, const leat_node *node, const leat_parts *in) {
  leat_op both = node->op == LEAT_OP_equal ? LEAT_OP_and : LEAT_OP_or;
  leat_value re = binary(ops, node->op, in[0].re, in[1].re);
  return (leat_parts){binary(ops, both, re, binary(ops, node->op, in[0].im, in[1].im)), {NULL, 0}};
}

static leat_parts conversion(real_ops ops, const leat_node *node, const leat_parts *in) {
  leat_attr attr = {.i = leat_part_dtype(node->outputs[0].dtype)};
  leat_parts out = {ops->apply(ops->context, LEAT_OP_cast, &in->re, 1, &attr), {NULL, 0}};
  out.im = in->im.node ? ops->apply(ops->context, LEAT_OP_cast, &in->im, 1, &attr)
                       : number(ops, out.re, 0);
  return out;
}

typedef leat_parts (*rule)(real_ops ops, const leat_node *node, const leat_parts *in);

static const rule rules[LEAT_OP_COUNT] = {
    [LEAT_OP_add] = part_by_part,
    [LEAT_OP_sub] = part_by_part,
    [LEAT_OP_neg] = part_by_part,
    [LEAT_OP_sum] = part_by_part,
    [LEAT_OP_scatter_add] = part_by_part,
    [LEAT_OP_scatter_set] = part_by_part,
    [LEAT_OP_mul] = times,
    [LEAT_OP_matmul] = times,
    [LEAT_OP_div] = quotient,
    [LEAT_OP_abs] = absolute,
    [LEAT_OP_sqrt] = root,
    [LEAT_OP_equal] = comparison,
    [LEAT_OP_not_equal] = comparison,
    [LEAT_OP_cast] = conversion,
};

bool leat_is_complex_op(const leat_node *node) {
  bool complex = rules[node->op] && leat_dtype_is_complex(node->outputs[0].dtype);
  for (uint32_t i = 0; rules[node->op] && i < node->input_count; i++)
    complex = complex || leat_dtype_is_complex(leat_value_type(node->inputs[i])->dtype);
  return complex;
}

leat_parts leat_complex_parts(real_ops ops, const leat_node *node, const leat_parts *inputs) {
  return rules[node->op](ops, node, inputs);
}

// -- Taking apart and putting together ------------------------------------------------------------

static bool part_of(leat_shape_context *context) {
  context->outputs[0] = *leat_shape_input(context, 0);
  context->outputs[0].dtype = leat_part_dtype(context->outputs[0].dtype);
  return true;
}

bool shape_real(leat_shape_context *context) {
  return part_of(context);
}

bool shape_imag(leat_shape_context *context) {
  return part_of(context);
}

bool shape_complex(leat_shape_context *context) {
  if (!leat_shape_like_input(context)) return false;
  leat_dtype *dtype = &context->outputs[0].dtype;
  if (*dtype != LEAT_f32 && *dtype != LEAT_f64)
    return leat_shape_fail(context, "parts are f32 or f64, not %s", leat_dtype_name(*dtype));
  *dtype = *dtype == LEAT_f32 ? LEAT_c64 : LEAT_c128;
  return true;
}

// Element i of `part` and word 2i + which of `whole`, in either direction.
static void copy_part(leat_tensor *to, int64_t to_step, int64_t to_first, const leat_tensor *from,
                      int64_t from_step, int64_t from_first, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    leat_copy_element(to, i * to_step + to_first, from, i * from_step + from_first);
}

static leat_tensor as_parts(const leat_tensor *complex) {
  leat_tensor words = *complex;
  words.dtype = leat_part_dtype(complex->dtype);
  return words;
}

static leat_status take_part(leat_ref_context *context, int64_t which) {
  leat_tensor words = as_parts(&context->inputs[0]);
  copy_part(&context->outputs[0], 1, 0, &words, 2, which, leat_ref_count(&words));
  return LEAT_OK;
}

leat_status ref_real(leat_ref_context *context) {
  return take_part(context, 0);
}

leat_status ref_imag(leat_ref_context *context) {
  return take_part(context, 1);
}

leat_status ref_complex(leat_ref_context *context) {
  leat_tensor words = as_parts(&context->outputs[0]);
  for (int64_t which = 0; which < 2; which++)
    copy_part(&words, 2, which, &context->inputs[which], 1, 0, leat_ref_count(&words));
  return LEAT_OK;
}

static k_value word_of(leat_lowering *l, const leat_node *node, const leat_index *at, int word) {
  int outer = l->word;
  l->word = word;
  k_value value = leat_operand(l, node, 0, at);
  l->word = outer;
  return value;
}

k_value lower_real(leat_lowering *l, const leat_node *node, const leat_index *at) {
  return word_of(l, node, at, 0);
}

k_value lower_imag(leat_lowering *l, const leat_node *node, const leat_index *at) {
  return word_of(l, node, at, 1);
}

k_value lower_complex(leat_lowering *l, const leat_node *node, const leat_index *at) {
  return leat_operand(l, node, (uint32_t)l->word, at);
}

// -- The reference --------------------------------------------------------------------------------

// Values here are `const` nodes of the tensors that they are; results have the shape of the node's.
typedef struct evaluator {
  leat_arena *arena;
  leat_ref_context *context;
  leat_status status;
} evaluator;

static leat_value as_value(leat_arena *arena, const leat_tensor *tensor) {
  leat_node *node = leat_new(arena, leat_node);
  leat_attr attr = {.tensor = leat_arena_memdup(arena, tensor, sizeof *tensor)};
  leat_type type = leat_type_of_tensor(tensor);
  *node = (leat_node){.op = LEAT_OP_const,
                      .attrs = leat_arena_memdup(arena, &attr, sizeof attr),
                      .outputs = leat_arena_memdup(arena, &type, sizeof type)};
  return (leat_value){node, 0};
}

static const leat_tensor *tensor_of(leat_value value) {
  return leat_node_attr(value.node, "value")->tensor;
}

static leat_value evaluate_number(void *context, leat_dtype dtype, double value) {
  evaluator *e = context;
  leat_tensor filled = e->context->outputs[0];
  filled.dtype = dtype;
  int64_t count = leat_ref_count(&filled);
  filled.data = leat_arena_alloc_array(e->arena, (size_t)count, leat_dtype_size(dtype));
  for (int64_t i = 0; i < count; i++) leat_store_float(dtype, filled.data, i, value);
  return as_value(e->arena, &filled);
}

static leat_dtype result_dtype(leat_op op, const leat_value *inputs, const leat_attr *attrs) {
  switch ((int)op) {
  case LEAT_OP_equal:
  case LEAT_OP_not_equal:
  case LEAT_OP_less: return LEAT_bool;
  case LEAT_OP_cast: return (leat_dtype)attrs->i;
  case LEAT_OP_where: return leat_value_type(inputs[1])->dtype;
  }
  return leat_value_type(inputs[0])->dtype;
}

static leat_value evaluate_real(void *context, leat_op op, const leat_value *inputs, uint32_t count,
                                const leat_attr *attrs) {
  enum { MOST = 3 };
  evaluator *e = context;
  leat_tensor tensors[MOST];
  for (uint32_t i = 0; i < count; i++) {
    if (!inputs[i].node) return (leat_value){NULL, 0};
    tensors[i] = *tensor_of(inputs[i]);
  }
  leat_type type = e->context->node->outputs[0];
  type.dtype = result_dtype(op, inputs, attrs);
  leat_node node = *e->context->node;
  node.op = op;
  node.inputs = (leat_value *)inputs;
  node.input_count = count;
  node.attrs = attrs;
  node.outputs = &type;
  leat_ref_context real = *e->context;
  real.node = &node;
  real.inputs = tensors;
  e->status = leat_ref_evaluate(e->arena, &real);
  return e->status ? (leat_value){NULL, 0} : as_value(e->arena, &real.outputs[0]);
}

static leat_parts split(leat_arena *arena, const leat_tensor *tensor) {
  if (!leat_dtype_is_complex(tensor->dtype))
    return (leat_parts){as_value(arena, tensor), {NULL, 0}};
  leat_tensor words = as_parts(tensor), part[2];
  int64_t count = leat_ref_count(tensor);
  for (int64_t which = 0; which < 2; which++) {
    part[which] = words;
    part[which].data = leat_arena_alloc_array(arena, (size_t)count, leat_dtype_size(words.dtype));
    copy_part(&part[which], 1, 0, &words, 2, which, count);
  }
  return (leat_parts){as_value(arena, &part[0]), as_value(arena, &part[1])};
}

leat_status leat_ref_complex(leat_arena *arena, leat_ref_context *context) {
  evaluator e = {arena, context, LEAT_OK};
  leat_real_ops ops = {&e, evaluate_real, evaluate_number};
  uint32_t count = context->node->input_count;
  leat_parts *inputs = leat_new_array(arena, leat_parts, count);
  for (uint32_t i = 0; i < count; i++) inputs[i] = split(arena, &context->inputs[i]);
  leat_parts parts = leat_complex_parts(&ops, context->node, inputs);
  if (e.status) return e.status;
  leat_tensor *out = &context->outputs[0];
  if (!parts.im.node) {
    out->data = tensor_of(parts.re)->data;
    return LEAT_OK;
  }
  leat_tensor both[] = {*tensor_of(parts.re), *tensor_of(parts.im)};
  leat_ref_context whole = {.node = context->node, .inputs = both, .outputs = out};
  return ref_complex(&whole);
}
