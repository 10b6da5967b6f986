// ops/: typing by the builder, errors of shape rules, and the values of reference evaluation.
//
// A test builds constants and ops, and compares the value as the printer writes it: `f32[2] =
// [1.0, 2.0]`.
#include "base/philox.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "ops/build.h"
#include "ops/ops.h"
#include "ops/random.h"
#include "ops/reduce.h"
#include "tests/unit/check.h"

#include <math.h>
#include <stdlib.h>

static leat_arena *arena;
static leat_graph *graph;
static leat_builder builder;
static int64_t dim_values[64];
static bool dim_known[64];
static leat_error error;
static uint32_t replica;

static void start(void) {
  if (arena) leat_arena_reset(arena);
  if (!arena) arena = leat_arena_create();
  graph = leat_graph_create(arena, leat_strings_create(arena), "g");
  builder = (leat_builder){.graph = graph, .diag = leat_diag_create(arena)};
  memset(dim_known, 0, sizeof dim_known);
  error = (leat_error){0};
  replica = 0;
}

// -- Making values
// ----------------------------------------------------------------------------------------------------

static leat_value number(leat_dtype dtype, double value) {
  return leat_build_scalar(&builder, "c", dtype, value);
}

static leat_value tensor(leat_dtype dtype, int32_t rank, const int64_t *shape,
                         const double *values) {
  leat_tensor t = {.dtype = dtype, .rank = rank};
  for (int32_t i = 0; i < rank; i++) t.shape[i] = shape[i];
  int64_t count = leat_shape_elements(rank, shape);
  char *data = t.data = leat_arena_alloc(arena, (size_t)leat_tensor_bytes(&t));
  for (int64_t i = 0; i < count; i++) {
    const leat_tensor *one = leat_node_attr(number(dtype, values[i]).node, "value")->tensor;
    memcpy(data + (size_t)i * leat_dtype_size(dtype), one->data, leat_dtype_size(dtype));
  }
  return leat_build_const(&builder, "c", &t);
}

#define INTS(...) ((const int64_t[]){__VA_ARGS__})
#define V(dtype, rank, shape, ...) tensor(LEAT_##dtype, rank, shape, (const double[]){__VA_ARGS__})
#define SHAPE(...) INTS(__VA_ARGS__)
#define V1(dtype, ...)                                                                             \
  tensor(LEAT_##dtype, 1, SHAPE(sizeof((double[]){__VA_ARGS__}) / sizeof(double)),                 \
         (const double[]){__VA_ARGS__})

static leat_value feed(leat_type type) {
  leat_attr attrs[2] = {{.string = "x"}, {.type = leat_arena_memdup(arena, &type, sizeof type)}};
  return leat_build(&builder, "x", LEAT_OP_feed, NULL, 0, attrs);
}

static leat_dim named(const char *name) {
  return leat_dim_named(graph->dims, name, 0, INT64_MAX);
}
static leat_dim num(int64_t value) {
  return leat_dim_const(value);
}

#define F(dtype, ...)                                                                              \
  feed((leat_type){                                                                                \
      LEAT_##dtype, sizeof((leat_dim[]){__VA_ARGS__}) / sizeof(leat_dim), {__VA_ARGS__}})

static leat_value op(leat_op which, const leat_value *inputs, uint32_t count,
                     const leat_attr *attrs) {
  return leat_build(&builder, "y", which, inputs, count, attrs);
}
#define IN(...)                                                                                    \
  (const leat_value[]){__VA_ARGS__}, sizeof((leat_value[]){__VA_ARGS__}) / sizeof(leat_value)
#define NONE (const leat_value *)NULL, 0
#define OP(which, in, ...) op(LEAT_OP_##which, in, (const leat_attr[]){__VA_ARGS__})
#define OP0(which, in) op(LEAT_OP_##which, in, NULL)
#define I(value)                                                                                   \
  { .i = (value) }
#define LIST(...)                                                                                  \
  { .count = sizeof((int64_t[]){__VA_ARGS__}) / 8, .ints = INTS(__VA_ARGS__) }
#define NO_INTS                                                                                    \
  { .count = 0, .ints = NULL }

// Dims given as an array of constants or named dims; copied, for attributes must live as long as
// the graph.
static leat_attr dims_attr(uint32_t count, const leat_dim *dims) {
  leat_attr attr = {0};
  attr.count = count;
  attr.dims = leat_arena_memdup(arena, dims, count * sizeof *dims);
  return attr;
}
#define DIMS(...)                                                                                  \
  dims_attr(sizeof((leat_dim[]){__VA_ARGS__}) / sizeof(leat_dim), (const leat_dim[]){__VA_ARGS__})

static void set_dim(const char *name, int64_t value) {
  uint32_t id = leat_dim_atom(named(name))->id;
  dim_values[id] = value;
  dim_known[id] = true;
}

// -- Evaluating
// -------------------------------------------------------------------------------------------------------

static leat_status evaluate(leat_value value, leat_tensor *out) {
  leat_node *node = value.node;
  if (node->op == LEAT_OP_const) {
    *out = *node->attrs[0].tensor;
    return LEAT_OK;
  }
  leat_tensor *inputs = leat_new_array(arena, leat_tensor, node->input_count);
  for (uint32_t i = 0; i < node->input_count; i++) LEAT_TRY(evaluate(node->inputs[i], &inputs[i]));
  leat_ref_context context = {.node = node,
                              .inputs = inputs,
                              .dim_values = dim_values,
                              .dim_known = dim_known,
                              .replica = replica,
                              .error = &error};
  LEAT_TRY(leat_ref_evaluate(arena, &context));
  *out = context.outputs[value.port];
  return LEAT_OK;
}

static const char *finish(leat_text *text) {
  const char *copy = text->data ? leat_arena_strndup(arena, text->data, text->size) : "";
  leat_text_finish(text);
  return copy;
}

// The value as text, or what went wrong.
static const char *value_of(leat_value value) {
  leat_text text = {0};
  leat_tensor result;
  if (!value.node) {
    leat_diag_print(builder.diag, &text);
    return finish(&text);
  }
  error = (leat_error){0};
  if (evaluate(value, &result))
    return leat_arena_printf(arena, "%s: %s", leat_status_name(error.status), error.message);
  leat_node_print(leat_build_const(&builder, "r", &result).node, &text);
  return strstr(finish(&text), ": ") + 2;
}

static const char *type_of(leat_value value) {
  if (!value.node) return value_of(value);
  leat_text text = {0};
  leat_type_print(leat_value_type(value), &text);
  return finish(&text);
}

#define CHECK_VALUE(value, expected) CHECK_EQ_STR(value_of(value), expected)
#define CHECK_TYPE(value, expected) CHECK_EQ_STR(type_of(value), expected)

// Nothing was built, and these words say why.
static void check_refused(leat_value value, const char *words, const char *file, int line) {
  leat_text text = {0};
  leat_diag_print(builder.diag, &text);
  const char *all = finish(&text);
  if (value.node || !strstr(all, words)) {
    check_failures++;
    printf("%s:%d: `%s` is not in `%s`\n", file, line, words, all);
  }
  leat_diag_clear(builder.diag);
}
#define CHECK_REFUSED(value, words) check_refused(value, words, __FILE__, __LINE__)

// -- The builder
// ------------------------------------------------------------------------------------------------------

TEST(build_broadcasts) {
  start();
  leat_value x = F(f32, named("B"), num(3)), row = V1(f32, 1, 2, 3), one = number(LEAT_f32, 1);
  CHECK_TYPE(OP0(add, IN(x, row)), "f32[B, 3]");
  CHECK_TYPE(OP0(add, IN(one, x)), "f32[B, 3]");
  CHECK_TYPE(OP0(add, IN(x, x)), "f32[B, 3]");
  CHECK_TYPE(OP0(less, IN(F(f32, named("B"), num(1)), row)), "bool[B, 3]");
  CHECK_TYPE(OP0(where, IN(F(bool, named("B"), num(1)), one, row)), "f32[B, 3]");
  leat_value y = leat_build(&builder, "net/sum", LEAT_OP_add, IN(x, one), NULL);
  CHECK_EQ_STR(y.node->inputs[1].node->name, "net/broadcast");
  CHECK(y.node->inputs[0].node == x.node);
  CHECK(leat_build_broadcast(&builder, x, leat_value_type(x)).node == x.node);
  CHECK_EQ_INT(leat_verify(graph, NULL), LEAT_OK);

  leat_value narrow = F(f32, named("B"), num(64)), other = F(f32, named("B"), num(32));
  uint32_t before = graph->nodes.count;
  CHECK_REFUSED(OP0(where, IN(one, row, one)), "input 1 must be bool");
  CHECK_EQ_INT(graph->nodes.count, before);
  CHECK_REFUSED(OP0(add, IN(narrow, other)),
                "f32[B, 64] and f32[B, 32] do not broadcast: axis 1: 64 and 32 differ");
  CHECK_REFUSED(OP0(add, IN(x, F(f32, leat_dim_named(graph->dims, "N", 1, 9), num(5)))),
                "axis 1: 3 and 5 differ");
  CHECK_REFUSED(OP0(add, IN(F(f32, named("N")), V1(f32, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10))),
                "axis 0: N and 10 differ");
}

// Dims that only a check while running can find equal: what is known later becomes the other.
TEST(build_ensures_equal_dims) {
  start();
  leat_dim anonymous = leat_dim_anonymous(graph->dims, NULL);
  leat_value x = F(f32, named("B"), num(3)), late = F(f32, anonymous, num(3));
  leat_value sum = OP0(add, IN(late, x));
  CHECK_TYPE(sum, "f32[B, 3]");
  CHECK(sum.node->inputs[0].node->op == LEAT_OP_ensure_shape);
  CHECK(sum.node->inputs[1].node == x.node);
  leat_value product = OP0(add, IN(F(f32, named("T"), num(3)), V1(f32, 1, 2, 3)));
  CHECK_TYPE(product, "f32[T, 3]");
  CHECK_TYPE(OP0(add, IN(F(f32, anonymous), V1(f32, 1, 2))), "f32[2]");
  CHECK_EQ_INT(leat_verify(graph, NULL), LEAT_OK);
}

TEST(build_checks_arity_and_dtypes) {
  start();
  leat_value x = V1(f32, 1, 2), i = V1(i32, 1, 2), half = F(f16, num(2)), text = F(str, num(2));
  CHECK_REFUSED(OP0(add, IN(x)), "add takes 2 inputs, not 1");
  CHECK_REFUSED(OP0(neg, IN(x, x)), "neg takes 1 input, not 2");
  CHECK_REFUSED(op(LEAT_OP_concat, NULL, 0, NULL), "concat takes 1 or more inputs, not 0");
  CHECK_REFUSED(OP0(add, IN(x, i)),
                "add of f32[2] and i32[2]: dtypes f32 and i32 differ, and there is no implicit");
  CHECK_REFUSED(OP0(sqrt, IN(i)), "sqrt of i32[2]: sqrt takes floats and complex numbers, not i32");
  CHECK_REFUSED(OP0(and, IN(i, i)), "and takes bool, not i32");
  CHECK_REFUSED(OP0(gcd, IN(x, x)), "gcd takes integers, not f32");
  CHECK_TYPE(OP0(equal, IN(text, text)), "bool[2]"); // str_compare == 0
  CHECK_TYPE(OP0(add, IN(half, half)), "f16[2]");
  CHECK_TYPE(OP(cast, IN(x), I(LEAT_bf16)), "bf16[2]");
  CHECK_TYPE(OP(reshape, IN(text), DIMS(num(1), num(2))), "str[1, 2]");
  CHECK_TYPE(OP(reshape, IN(half), DIMS(num(1), num(2))), "f16[1, 2]");
  CHECK(!OP0(add, IN(x, ((leat_value){NULL, 0}))).node && !leat_diag_errors(builder.diag));
}

TEST(build_entry_and_infer_again) {
  start();
  leat_type type = leat_type_scalar(LEAT_f32);
  leat_attr state = {.state = leat_graph_add_state(graph, "w", &type)};
  builder.entry = leat_graph_add_entry(graph, "f");
  builder.device = "/job:ps";
  leat_value w = op(LEAT_OP_read, NULL, 0, &state);
  CHECK_TYPE(w, "f32[]");
  leat_value assign = op(LEAT_OP_assign, &w, 1, &state);
  CHECK(builder.entry->effects.count == 1 && builder.entry->effects.items[0] == assign.node);
  CHECK_EQ_STR(assign.node->device, "/job:ps");
  leat_value two = V1(f32, 1, 2);
  CHECK_REFUSED(op(LEAT_OP_assign, &two, 1, &state), "assign of f32[2]: the variable w is f32[]");

  leat_value x = F(f32, named("B"), num(3)), y = OP(sum, IN(x), LIST(1), I(0));
  CHECK_TYPE(y, "f32[B]");
  leat_type *bound = leat_new(arena, leat_type);
  *bound = *leat_value_type(x);
  bound->dims[0] = num(7);
  x.node->outputs = bound;
  CHECK(leat_infer_node(graph, builder.diag, y.node));
  CHECK_TYPE(y, "f32[7]");
}

// -- Arithmetic
// -------------------------------------------------------------------------------------------------------

TEST(arithmetic_of_integers_wraps) {
  start();
  CHECK_VALUE(OP0(add, IN(V1(i8, 127, -128, 5), V1(i8, 1, -1, 6))), "i8[3] = [-128, 127, 11]");
  CHECK_VALUE(OP0(mul, IN(V1(u16, 65535, 2), V1(u16, 65535, 3))), "u16[2] = [1, 6]");
  CHECK_VALUE(OP0(sub, IN(V1(u32, 0), V1(u32, 1))), "u32[1] = [4294967295]");
  CHECK_VALUE(OP0(mul, IN(V1(i64, -9223372036854775808.0), V1(i64, -1))),
              "i64[1] = [-9223372036854775808]");
  CHECK_VALUE(OP0(div, IN(V1(i32, 7, -7, 5, -2147483648.0), V1(i32, 2, 2, 0, -1))),
              "i32[4] = [3, -3, 0, -2147483648]");
  CHECK_VALUE(OP0(mod, IN(V1(i32, 7, -7, 5, -2147483648.0), V1(i32, 3, 3, 0, -1))),
              "i32[4] = [1, -1, 0, 0]");
  CHECK_VALUE(OP0(div, IN(V1(u8, 200, 9), V1(u8, 3, 0))), "u8[2] = [66, 0]");
  CHECK_VALUE(OP0(neg, IN(V1(i8, -128, 3))), "i8[2] = [-128, -3]");
  CHECK_VALUE(OP0(abs, IN(V1(i16, -32768, -3))), "i16[2] = [-32768, 3]");
  CHECK_VALUE(OP0(maximum, IN(V1(i32, -1, 2), V1(i32, 0, 1))), "i32[2] = [0, 2]");
  CHECK_VALUE(OP0(minimum, IN(V1(u8, 255, 2), V1(u8, 0, 3))), "u8[2] = [0, 2]");
}

TEST(arithmetic_of_floats) {
  start();
  CHECK_VALUE(OP0(add, IN(V1(f32, 0.1, 1), V1(f32, 0.2, INFINITY))), "f32[2] = [0.3, inf]");
  CHECK_VALUE(OP0(add, IN(number(LEAT_f64, 0.1), number(LEAT_f64, 0.2))),
              "f64[] = 0.30000000000000004");
  CHECK_VALUE(OP0(div, IN(V1(f32, 1, -1, 0), V1(f32, 0, 0, 0))), "f32[3] = [inf, -inf, nan]");
  CHECK_VALUE(OP0(maximum, IN(V1(f32, NAN, 1, -0.0, 2), V1(f32, 1, NAN, 0.0, 1))),
              "f32[4] = [nan, nan, 0.0, 2.0]");
  CHECK_VALUE(OP0(minimum, IN(V1(f64, NAN, 0.0, -0.0), V1(f64, 1, -0.0, 0.0))),
              "f64[3] = [nan, -0.0, -0.0]");
  CHECK_VALUE(OP0(abs, IN(V1(f32, -0.0, -2.5))), "f32[2] = [0.0, 2.5]");
  CHECK_VALUE(OP0(neg, IN(V1(f32, 0, -2.5))), "f32[2] = [-0.0, 2.5]");
  CHECK_VALUE(OP0(sqrt, IN(V1(f32, 2, -1, 9))), "f32[3] = [1.4142135, nan, 3.0]");
  CHECK_VALUE(OP0(floor, IN(V1(f64, -1.5, 1.5, -0.5))), "f64[3] = [-2.0, 1.0, -1.0]");
  CHECK_VALUE(OP0(exp, IN(V1(f32, 0, 1, -INFINITY))), "f32[3] = [1.0, 2.7182817, 0.0]");
  CHECK_VALUE(OP0(exp, IN(number(LEAT_f64, 1))), "f64[] = 2.718281828459045");
  CHECK_VALUE(OP0(log, IN(V1(f32, 1, 0, -1))), "f32[3] = [0.0, -inf, nan]");
  CHECK_VALUE(OP0(tanh, IN(V1(f32, 0.5, 100))), "f32[2] = [0.46211717, 1.0]");
}

TEST(comparison_and_logic) {
  start();
  leat_value a = V1(f32, 1, 2, NAN), b = V1(f32, 2, 2, NAN);
  CHECK_VALUE(OP0(equal, IN(a, b)), "bool[3] = [false, true, false]");
  CHECK_VALUE(OP0(not_equal, IN(a, b)), "bool[3] = [true, false, true]");
  CHECK_VALUE(OP0(less, IN(a, b)), "bool[3] = [true, false, false]");
  CHECK_VALUE(OP0(less_equal, IN(a, b)), "bool[3] = [true, true, false]");
  CHECK_VALUE(OP0(greater, IN(b, a)), "bool[3] = [true, false, false]");
  CHECK_VALUE(OP0(greater_equal, IN(b, a)), "bool[3] = [true, true, false]");
  CHECK_VALUE(OP0(less, IN(V1(u64, 18e18), V1(u64, 1))), "bool[1] = [false]");
  leat_value p = V1(bool, 0, 0, 1, 1), q = V1(bool, 0, 1, 0, 1);
  CHECK_VALUE(OP0(and, IN(p, q)), "bool[4] = [false, false, false, true]");
  CHECK_VALUE(OP0(or, IN(p, q)), "bool[4] = [false, true, true, true]");
  CHECK_VALUE(OP0(not, IN(p)), "bool[4] = [true, true, false, false]");
  CHECK_VALUE(OP0(equal, IN(p, q)), "bool[4] = [true, false, false, true]");
  CHECK_VALUE(OP0(where, IN(V1(bool, 1, 0), V1(i64, 1, 2), V1(i64, 3, 4))), "i64[2] = [1, 4]");
}

TEST(bits) {
  start();
  leat_value a = V1(i8, 12, -1), b = V1(i8, 10, 3);
  CHECK_VALUE(OP0(bit_and, IN(a, b)), "i8[2] = [8, 3]");
  CHECK_VALUE(OP0(bit_or, IN(a, b)), "i8[2] = [14, -1]");
  CHECK_VALUE(OP0(bit_xor, IN(a, b)), "i8[2] = [6, -4]");
  CHECK_VALUE(OP0(shift_left, IN(V1(i8, 1, 1, 1, 1), V1(i8, 7, 8, -1, 0))),
              "i8[4] = [-128, 0, 0, 1]");
  CHECK_VALUE(OP0(shift_right, IN(V1(i32, -8, -8, 8, 8), V1(i32, 1, 32, 32, -1))),
              "i32[4] = [-4, -1, 0, 0]");
  CHECK_VALUE(OP0(shift_right, IN(V1(u32, 4294967295.0), V1(u32, 31))), "u32[1] = [1]");
}

TEST(cast) {
  start();
  leat_value x = V1(f32, -1.9, 300.7, NAN, INFINITY, -INFINITY, 0.5);
  CHECK_VALUE(OP(cast, IN(x), I(LEAT_i8)), "i8[6] = [-1, 127, 0, 127, -128, 0]");
  CHECK_VALUE(OP(cast, IN(x), I(LEAT_u8)), "u8[6] = [0, 255, 0, 255, 0, 0]");
  CHECK_VALUE(OP(cast, IN(x), I(LEAT_i64)),
              "i64[6] = [-1, 300, 0, 9223372036854775807, -9223372036854775808, 0]");
  CHECK_VALUE(OP(cast, IN(x), I(LEAT_u64)), "u64[6] = [0, 300, 0, 18446744073709551615, 0, 0]");
  CHECK_VALUE(OP(cast, IN(x), I(LEAT_bool)), "bool[6] = [true, true, true, true, true, true]");
  CHECK_VALUE(OP(cast, IN(V1(i32, -1, 256)), I(LEAT_u8)), "u8[2] = [255, 0]");
  CHECK_VALUE(OP(cast, IN(V1(i64, 16777217)), I(LEAT_f32)), "f32[1] = [16777216.0]");
  CHECK_VALUE(OP(cast, IN(V1(bool, 0, 1)), I(LEAT_f64)), "f64[2] = [0.0, 1.0]");
}

// -- Movement
// ---------------------------------------------------------------------------------------------------------

#define X23 V(i32, 2, SHAPE(2, 3), 1, 2, 3, 4, 5, 6)

TEST(reshape_transpose_broadcast) {
  start();
  leat_value x = X23, s = F(f32, named("B"), num(4));
  CHECK_VALUE(OP(reshape, IN(x), DIMS(num(3), num(2))), "i32[3, 2] = [[1, 2], [3, 4], [5, 6]]");
  CHECK_TYPE(OP(reshape, IN(s), DIMS(num(2), named("B"), num(2))), "f32[2, B, 2]");
  CHECK_REFUSED(OP(reshape, IN(x), DIMS(num(4))),
                "elements before and after, to i32[4]: 6 and 4 differ");
  CHECK_REFUSED(OP(reshape, IN(s), DIMS(named("B"), num(3))), "4*B and 3*B");
  CHECK_VALUE(OP(transpose, IN(x), LIST(1, 0)), "i32[3, 2] = [[1, 4], [2, 5], [3, 6]]");
  CHECK_REFUSED(OP(transpose, IN(x), LIST(1, 1)), "perm names axis 1 twice");
  CHECK_REFUSED(OP(transpose, IN(x), LIST(0, 2)), "there is no axis 2 in a tensor of rank 2");
  CHECK_REFUSED(OP(transpose, IN(x), LIST(0)), "perm has 1 entries for 2 axes");
  CHECK_VALUE(OP(broadcast, IN(V(i32, 2, SHAPE(2, 1), 7, 8)), DIMS(num(2), num(2), num(2))),
              "i32[2, 2, 2] = [[[7, 7], [8, 8]], [[7, 7], [8, 8]]]");
  CHECK_REFUSED(OP(broadcast, IN(x), DIMS(num(3))), "takes axes away");
  CHECK_REFUSED(OP(broadcast, IN(x), DIMS(num(2), num(4))), "axis 1: 3 and 4 differ");
  CHECK_REFUSED(OP(broadcast, IN(x), DIMS(num(-1), num(2), num(3))), "a dimension of -1");
  leat_value t = V(f64, 3, SHAPE(2, 1, 3), 1, 2, 3, 4, 5, 6);
  CHECK_VALUE(OP(transpose, IN(t), LIST(2, 0, 1)),
              "f64[3, 2, 1] = [[[1.0], [4.0]], [[2.0], [5.0]], [[3.0], [6.0]]]");
  CHECK_VALUE(OP0(identity, IN(x)), "i32[2, 3] = [[1, 2, 3], [4, 5, 6]]");
}

TEST(concat_slice_pad) {
  start();
  leat_value x = X23, y = V(i32, 2, SHAPE(2, 1), 8, 9), s = F(i32, named("B"), num(3));
  CHECK_VALUE(OP(concat, IN(x, y, x), I(1)),
              "i32[2, 7] = [[1, 2, 3, 8, 1, 2, 3], [4, 5, 6, 9, 4, 5, 6]]");
  CHECK_TYPE(OP(concat, IN(s, x, s), I(0)), "i32[2*B + 2, 3]");
  CHECK_REFUSED(OP(concat, IN(x, y), I(0)), "axis 1 of input 2: 3 and 1 differ");
  CHECK_REFUSED(OP(concat, IN(x, y), I(2)), "there is no axis 2");
  CHECK_REFUSED(OP(concat, IN(x, V1(i32, 1)), I(0)), "input 2 has rank 1, not 2");

  CHECK_VALUE(OP(slice, IN(x), DIMS(num(0), num(2)), DIMS(num(2), num(2)), LIST(1, -2)),
              "i32[2, 2] = [[3, 1], [6, 4]]");
  CHECK_VALUE(OP(slice, IN(x), DIMS(num(2), num(0)), DIMS(num(0), num(3)), LIST(1, 1)),
              "i32[0, 3] = []");
  CHECK_REFUSED(OP(slice, IN(x), DIMS(num(1), num(0)), DIMS(num(2), num(3)), LIST(1, 1)),
                "axis 0: indices 1 to 2 are not all in 0 to 2 - 1");
  CHECK_REFUSED(OP(slice, IN(x), DIMS(num(0), num(1)), DIMS(num(2), num(3)), LIST(1, -1)),
                "axis 1: indices 1 to -1");
  CHECK_REFUSED(OP(slice, IN(x), DIMS(num(0), num(0)), DIMS(num(1), num(1)), LIST(1, 0)),
                "the step of axis 1 is 0");
  leat_dim fewer, more;
  leat_dim_sub(graph->dims, named("B"), num(1), &fewer);
  leat_dim_add(graph->dims, named("B"), num(1), &more);
  CHECK_TYPE(OP(slice, IN(s), DIMS(num(1), num(0)), DIMS(fewer, num(3)), LIST(1, 1)),
             "i32[B - 1, 3]");
  CHECK_REFUSED(OP(slice, IN(s), DIMS(num(0), num(0)), DIMS(more, num(3)), LIST(1, 1)),
                "axis 0: indices 0 to B are not all in 0 to B - 1");

  leat_value zero = number(LEAT_i32, 0);
  CHECK_VALUE(OP(pad, IN(x, zero), LIST(1, 0), LIST(0, 2)),
              "i32[3, 5] = [[0, 0, 0, 0, 0], [1, 2, 3, 0, 0], [4, 5, 6, 0, 0]]");
  CHECK_TYPE(OP(pad, IN(s, zero), LIST(1, 0), LIST(1, 0)), "i32[B + 2, 3]");
  CHECK_REFUSED(OP(pad, IN(x, y), LIST(1, 0), LIST(0, 2)),
                "the value to pad with must be a scalar");
  CHECK_VALUE(OP(pad, IN(x, zero), LIST(-1, 1), LIST(1, -2)), "i32[2, 2] = [[0, 4], [0, 0]]");
  CHECK_REFUSED(OP(pad, IN(x, zero), LIST(-1, 0), LIST(-2, 2)),
                "axis 0 has too few elements to take those away");
}

TEST(run_time_dims_are_checked) {
  start();
  leat_value i = OP(iota, NONE, DIMS(named("B")), I(0), I(LEAT_i32));
  leat_value s = OP(slice, IN(i), DIMS(num(2)), DIMS(num(2)), LIST(1));
  CHECK_VALUE(i, "index out of range: $y: iota: dim B has no value in this step");
  set_dim("B", 4);
  CHECK_VALUE(s, "i32[2] = [2, 3]");
  set_dim("B", 3);
  CHECK_VALUE(s, "index out of range: $y_1: slice: axis 0: 2 elements from 2 by 1 leave 0 to 2");
  leat_attr value = {.dim = named("B")};
  CHECK_VALUE(op(LEAT_OP_dim, NULL, 0, &value), "i64[] = 3");
}

TEST(iota_and_one_hot) {
  start();
  CHECK_VALUE(OP(iota, NONE, DIMS(num(2), num(3)), I(1), I(LEAT_f32)),
              "f32[2, 3] = [[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]]");
  CHECK_REFUSED(OP(iota, NONE, DIMS(num(2)), I(1), I(LEAT_f32)), "iota: there is no axis 1");
  CHECK_REFUSED(OP(iota, NONE, DIMS(num(2)), I(0), I(LEAT_bool)),
                "iota gives real numbers, not bool");
  CHECK_VALUE(OP(one_hot, IN(V1(i32, 1, -1, 0, 3)), {.dim = num(3)}, I(LEAT_f32)),
              "f32[4, 3] = [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]");
  CHECK_VALUE(OP(one_hot, IN(number(LEAT_u8, 1)), {.dim = num(2)}, I(LEAT_bool)),
              "bool[2] = [false, true]");
  CHECK_REFUSED(OP(one_hot, IN(V1(f32, 1)), {.dim = num(3)}, I(LEAT_f32)),
                "one_hot takes integers, not f32");
}

TEST(gather_and_scatter_add) {
  start();
  leat_value x = X23, i = V(i64, 2, SHAPE(2, 2), 0, 2, 2, 1);
  CHECK_VALUE(OP(gather, IN(x, i), I(1)), "i32[2, 2, 2] = [[[1, 3], [3, 2]], [[4, 6], [6, 5]]]");
  CHECK_VALUE(OP(gather, IN(x, number(LEAT_i32, 1)), I(0)), "i32[3] = [4, 5, 6]");
  CHECK_VALUE(OP(gather, IN(x, V1(i32, 0, 2)), I(0)),
              "index out of range: $y_2: gather: index 2 is out of range for an axis of 2");
  CHECK_VALUE(OP(gather, IN(x, V1(i64, -1)), I(1)),
              "index out of range: $y_3: gather: index -1 is out of range for an axis of 3");
  CHECK_REFUSED(OP(gather, IN(x, V1(f32, 0)), I(0)), "indices must be i32 or i64, not f32");
  CHECK_REFUSED(OP(gather, IN(x, i), I(2)), "there is no axis 2");
  leat_value rows = V(i32, 2, SHAPE(3, 3), 1, 1, 1, 2, 2, 2, 3, 3, 3);
  CHECK_VALUE(OP(scatter_add, IN(x, V1(i32, 1, 0, 1), rows), I(0)),
              "i32[2, 3] = [[3, 4, 5], [8, 9, 10]]");
  CHECK_VALUE(OP(scatter_set, IN(x, V1(i32, 1, 0, 1), rows), I(0)),
              "i32[2, 3] = [[2, 2, 2], [3, 3, 3]]");
  CHECK_VALUE(OP(scatter_mul, IN(x, V1(i32, 1, 0, 1), rows), I(0)),
              "i32[2, 3] = [[2, 4, 6], [12, 15, 18]]");
  CHECK_VALUE(OP(scatter_min, IN(x, V1(i32, 0, 0, 1), rows), I(0)),
              "i32[2, 3] = [[1, 1, 1], [3, 3, 3]]");
  CHECK_VALUE(
      OP(scatter_max, IN(V1(f32, 0.0, 1, 2), V1(i32, 0, 1, 1), V1(f32, -0.0, NAN, 5)), I(0)),
      "f32[3] = [0.0, nan, 2.0]");
  leat_attr three = {.dim = num(3)};
  CHECK_VALUE(OP(check_index, IN(V1(u8, 2, 0)), three), "u8[2] = [2, 0]");
  CHECK_VALUE(OP(check_index, IN(V1(i64, 0, -1)), three),
              "index out of range: $y_10: check_index: index -1 is out of range for an axis of 3");
  leat_value f = V1(f32, 16777216, 0), ones = V1(f32, 1, 1, 1);
  CHECK_VALUE(OP(scatter_add, IN(f, V1(i64, 0, 0, 1), ones), I(0)), "f32[2] = [16777216.0, 1.0]");
  CHECK_VALUE(OP(scatter_add, IN(f, V1(i64, 0, 0, 5), ones), I(0)),
              "index out of range: $y_12: scatter_add: index 5 is out of range for an axis of 2");
  CHECK_REFUSED(OP(scatter_add, IN(f, V1(i64, 0, 0), ones), I(0)),
                "axis 0 of the updates: 3 and 2 differ");
  CHECK_REFUSED(OP(scatter_add, IN(f, V1(i64, 0), X23), I(0)), "dtypes f32 and i32 differ");
}

// -- Reductions
// -------------------------------------------------------------------------------------------------------

TEST(reductions) {
  start();
  leat_value x = X23, f = V(f32, 2, SHAPE(2, 3), 1, NAN, 3, -0.0, 0.0, -5);
  CHECK_VALUE(OP(sum, IN(x), LIST(0), I(0)), "i32[3] = [5, 7, 9]");
  CHECK_VALUE(OP(sum, IN(x), LIST(1), I(1)), "i32[2, 1] = [[6], [15]]");
  CHECK_VALUE(OP(sum, IN(x), LIST(0, 1), I(0)), "i32[] = 21");
  CHECK_VALUE(OP(sum, IN(x), NO_INTS, I(0)), "i32[2, 3] = [[1, 2, 3], [4, 5, 6]]");
  CHECK_VALUE(OP(sum, IN(V1(u8, 200, 100)), LIST(0), I(0)), "u8[] = 44");
  CHECK_VALUE(OP(sum, IN(V1(f32, -0.0)), LIST(0), I(0)), "f32[] = -0.0");
  CHECK_VALUE(OP(sum, IN(V(f32, 2, SHAPE(2, 0), 0)), LIST(1), I(0)), "f32[2] = [0.0, 0.0]");
  CHECK_VALUE(OP(prod, IN(x), LIST(1), I(0)), "i32[2] = [6, 120]");
  CHECK_VALUE(OP(prod, IN(V1(u8, 200, 2)), LIST(0), I(0)), "u8[] = 144");
  CHECK_VALUE(OP(prod, IN(V1(f32, -0.0, 3)), LIST(0), I(0)), "f32[] = -0.0");
  CHECK_VALUE(OP(prod, IN(V(f32, 2, SHAPE(2, 0), 0)), LIST(1), I(0)), "f32[2] = [1.0, 1.0]");
  leat_value p = V(bool, 2, SHAPE(3, 2), 0, 0, 0, 1, 1, 1), none = V(bool, 2, SHAPE(2, 0), 0);
  CHECK_VALUE(OP(any, IN(p), LIST(1), I(0)), "bool[3] = [false, true, true]");
  CHECK_VALUE(OP(all, IN(p), LIST(1), I(0)), "bool[3] = [false, false, true]");
  CHECK_VALUE(OP(any, IN(none), LIST(1), I(0)), "bool[2] = [false, false]");
  CHECK_VALUE(OP(all, IN(none), LIST(1), I(0)), "bool[2] = [true, true]");
  CHECK_REFUSED(OP(any, IN(x), LIST(1), I(0)), "any takes bool, not i32");
  CHECK_VALUE(OP(max, IN(f), LIST(1), I(0)), "f32[2] = [nan, 0.0]");
  CHECK_VALUE(OP(min, IN(f), LIST(0), I(1)), "f32[1, 3] = [[-0.0, nan, -5.0]]");
  CHECK_VALUE(OP(max, IN(V1(f32, 0.0, -0.0)), LIST(0), I(0)), "f32[] = 0.0");
  CHECK_VALUE(OP(min, IN(V1(f32, 0.0, -0.0)), LIST(0), I(0)), "f32[] = -0.0");
  CHECK_VALUE(OP(min, IN(V1(u64, 3, 18e18)), LIST(0), I(0)), "u64[] = 3");
  CHECK_VALUE(OP(argmax, IN(f), LIST(1), I(0)), "i32[2] = [1, 0]");
  CHECK_VALUE(OP(argmax, IN(V1(i32, 1, 5, 5)), LIST(0), I(1)), "i32[1] = [1]");
  CHECK_VALUE(OP(argmax, IN(x), LIST(0, 1), I(0)), "i32[] = 5");
  CHECK_VALUE(OP(argmin, IN(f), LIST(1), I(0)), "i32[2] = [1, 2]");
  CHECK_VALUE(OP(argmin, IN(V1(u8, 255, 1, 1)), LIST(0), I(0)), "i32[] = 1");
  CHECK_TYPE(OP(sum, IN(F(f64, named("B"), num(2), named("T"))), LIST(0, 2), I(1)), "f64[1, 2, 1]");
  CHECK_REFUSED(OP(sum, IN(x), LIST(1, 0), I(0)), "the axes are not in ascending order");
  CHECK_REFUSED(OP(sum, IN(x), LIST(2), I(0)), "there is no axis 2");
  CHECK_REFUSED(OP(max, IN(V(f32, 2, SHAPE(2, 0), 0)), LIST(1), I(0)),
                "axis 1 has no elements to choose from");
  CHECK_REFUSED(OP(argmax, IN(F(f32, num(65536), num(65536))), LIST(0, 1), I(0)),
                "more than an i32 can count");
  leat_value i = OP(iota, NONE, DIMS(named("B")), I(0), I(LEAT_i32));
  set_dim("B", 0);
  leat_value m = OP(max, IN(i), LIST(0), I(0));
  CHECK(strstr(value_of(m), "max: there are no elements to choose from"));
}

static float *noise(int64_t count) {
  float *data = leat_new_array(arena, float, (size_t)count);
  for (int64_t i = 0; i < count; i++)
    data[i] = (float)leat_random_word(1, 0, (uint64_t)i) / 4e9f - 0.3f;
  return data;
}

static float sum_lanes(const float *x, int64_t rows, int64_t row_step, int64_t n) {
  float a[LEAT_REDUCE_LANES];
  for (int i = 0; i < 16; i++) a[i] = -0.0f;
  for (int64_t r = 0; r < rows; r++)
    for (int64_t i = 0; i < n; i++) a[i & 15] += x[r * row_step + i];
  for (int i = 0; i < 8; i++) a[i] += a[i + 8];
  for (int i = 0; i < 4; i++) a[i] += a[i + 4];
  return (a[0] + a[2]) + (a[1] + a[3]);
}

// The result of a sum of noise of that shape, bit by bit.
static float sum_of_noise(int32_t rank, const int64_t *shape, leat_attr axes) {
  leat_tensor t = {.dtype = LEAT_f32, .rank = rank}, out;
  for (int32_t i = 0; i < rank; i++) t.shape[i] = shape[i];
  t.data = noise(leat_shape_elements(rank, shape));
  leat_value y = OP(sum, IN(leat_build_const(&builder, "c", &t)), axes, I(0));
  CHECK_EQ_INT(evaluate(y, &out), LEAT_OK);
  return *(float *)out.data;
}

TEST(sums_keep_the_promised_order) {
  start();
  float *x = noise(100000);
  leat_attr both = LIST(0, 1), first = LIST(0), ends = LIST(0, 2);
  // One logical axis, shorter and longer than a block.
  CHECK(sum_of_noise(2, SHAPE(3, 37), both) == sum_lanes(x, 1, 0, 111));
  float blocks[] = {sum_lanes(x, 1, 0, 16384), sum_lanes(x + 16384, 1, 0, 16384),
                    sum_lanes(x + 32768, 1, 0, 7232)};
  CHECK(sum_of_noise(2, SHAPE(200, 200), both) == sum_lanes(blocks, 1, 0, 3));
  // Two logical axes, the first output of [2, 3, 20] and of [2, 2, 20000] over 0 and 2.
  CHECK(sum_of_noise(3, SHAPE(2, 3, 20), ends) == sum_lanes(x, 2, 60, 20));
  float rows[] = {sum_lanes(x, 1, 0, 16384), sum_lanes(x + 16384, 1, 0, 3616),
                  sum_lanes(x + 40000, 1, 0, 16384), sum_lanes(x + 56384, 1, 0, 3616)};
  CHECK(sum_of_noise(3, SHAPE(2, 2, 20000), ends) == sum_lanes(rows, 2, 2, 2));
  // The innermost axis stays.
  float total = -0.0f;
  for (int64_t i = 0; i < 3000; i += 1024) {
    float block = -0.0f;
    for (int64_t k = i; k < 3000 && k < i + 1024; k++) block += x[k * 2];
    total += block;
  }
  CHECK(sum_of_noise(2, SHAPE(3000, 2), first) == total);
}

// -- Contractions
// -----------------------------------------------------------------------------------------------------

static leat_value matmul(leat_value a, leat_value b, bool transpose_a, bool transpose_b) {
  return OP(matmul, IN(a, b), I(transpose_a), I(transpose_b), {.string = ""});
}

TEST(matmul) {
  start();
  leat_value a = X23, b = V(i32, 2, SHAPE(3, 2), 1, 2, 3, 4, 5, 6);
  CHECK_VALUE(matmul(a, b, 0, 0), "i32[2, 2] = [[22, 28], [49, 64]]");
  CHECK_VALUE(matmul(a, a, 0, 1), "i32[2, 2] = [[14, 32], [32, 77]]");
  CHECK_VALUE(matmul(a, a, 1, 0), "i32[3, 3] = [[17, 22, 27], [22, 29, 36], [27, 36, 45]]");
  CHECK_VALUE(matmul(b, a, 1, 1), "i32[2, 2] = [[22, 49], [28, 64]]");
  leat_value batch = V(f32, 3, SHAPE(2, 1, 2), 1, 2, 3, 4), column = V(f32, 2, SHAPE(2, 1), 1, 10);
  CHECK_VALUE(matmul(batch, column, 0, 0), "f32[2, 1, 1] = [[[21.0]], [[43.0]]]");
  leat_value columns = V(f32, 3, SHAPE(2, 2, 1), 1, 10, 2, 20), row = V(f32, 2, SHAPE(1, 2), 1, 1);
  CHECK_VALUE(matmul(batch, columns, 0, 0), "f32[2, 1, 1] = [[[21.0]], [[86.0]]]");
  CHECK_VALUE(matmul(row, columns, 0, 0), "f32[2, 1, 1] = [[[11.0]], [[22.0]]]");
  // fma: 1 + e squared less 1 keeps what a rounded product would lose.
  float e = 1 + ldexpf(1, -12);
  CHECK_VALUE(matmul(V(f32, 2, SHAPE(1, 2), -1, e), V(f32, 2, SHAPE(2, 1), 1, e), 0, 0),
              "f32[1, 1] = [[0.00048834085]]");
  CHECK_VALUE(matmul(V(f32, 2, SHAPE(1, 0), 0), V(f32, 2, SHAPE(0, 2), 0), 0, 0),
              "f32[1, 2] = [[0.0, 0.0]]");
  CHECK_TYPE(matmul(F(f32, named("B"), num(64)), F(f32, num(64), num(10)), 0, 0), "f32[B, 10]");
  CHECK_TYPE(
      matmul(F(f32, named("B"), num(1), num(5), num(6)), F(f32, num(3), num(7), num(6)), 0, 1),
      "f32[B, 3, 5, 7]");
  CHECK_REFUSED(matmul(F(f32, named("B"), num(64)), F(f32, num(32), num(10)), 0, 0),
                "matmul of f32[B, 64] and f32[32, 10]: axis 1 of the first and axis 0 of the "
                "second: 64 and 32 differ");
  leat_value vector = V1(f32, 1, 10);
  CHECK_VALUE(matmul(V1(f32, 1), row, 0, 0), "f32[2] = [1.0, 1.0]");
  CHECK_VALUE(matmul(vector, vector, 1, 1), "f32[] = 101.0");
  CHECK_VALUE(matmul(batch, vector, 0, 0), "f32[2, 1] = [[21.0], [43.0]]");
  CHECK_VALUE(matmul(vector, columns, 0, 0), "f32[2, 1] = [[101.0], [202.0]]");
  CHECK_REFUSED(matmul(number(LEAT_f32, 1), row, 0, 0), "a scalar has no axis to contract");
  CHECK_REFUSED(matmul(batch, F(f32, num(3), num(2), num(1)), 0, 0), "axis 0: 2 and 3 differ");
}

// -- Random
// -----------------------------------------------------------------------------------------------------------

static leat_value bits(int64_t seed, int64_t key, int64_t count) {
  leat_value n = leat_build_scalar_i64(&builder, "c", LEAT_i64, count);
  return OP(random_bits, IN(n), I(seed), I(key), DIMS(num(6)));
}

TEST(random_bits) {
  start();
  // Random123's known answer for a zero counter and key, then block 1.
  uint32_t next[4];
  leat_philox((const uint32_t[4]){1, 0, 0, 0}, (const uint32_t[2]){0, 0}, next);
  CHECK_VALUE(bits(0, 0, 0),
              leat_arena_printf(arena, "u32[6] = [%u, %u, %u, %u, %u, %u]", 0x6627e8d5u,
                                0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u, next[0], next[1]));
  const char *base = value_of(bits(1, 2, 3));
  CHECK_EQ_STR(value_of(bits(1, 2, 3)), base);
  CHECK(strcmp(value_of(bits(2, 2, 3)), base) && strcmp(value_of(bits(1, 3, 3)), base));
  CHECK(strcmp(value_of(bits(1, 2, -3)), base));
  replica = 1;
  CHECK(strcmp(value_of(bits(1, 2, 3)), base));
  leat_value wrong = V1(i64, 1, 2), narrow = number(LEAT_i32, 1);
  CHECK_REFUSED(OP(random_bits, IN(wrong), I(0), I(0), DIMS(num(6))), "the count must be a scalar");
  CHECK_REFUSED(OP(random_bits, IN(narrow), I(0), I(0), DIMS(num(6))), "input 1 must be i64");
}

static bool is_permutation(const leat_tensor *t) {
  bool *seen = leat_new_array(arena, bool, (size_t)t->shape[0] + 1);
  for (int64_t i = 0; i < t->shape[0]; i++) {
    int32_t value = ((int32_t *)t->data)[i];
    if (value < 0 || value >= t->shape[0] || seen[value]) return false;
    seen[value] = true;
  }
  return true;
}

TEST(permutation) {
  start();
  const int64_t sizes[] = {0, 1, 2, 3, 4, 5, 16, 17, 100, 1438, 4096, 70000};
  leat_tensor t, other;
  leat_value c0 = leat_build_scalar_i64(&builder, "c", LEAT_i64, 0);
  leat_value c1 = leat_build_scalar_i64(&builder, "c", LEAT_i64, 1);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    leat_attr attrs[] = {I(7), I(9), {.dim = num(sizes[i])}};
    CHECK_EQ_INT(evaluate(op(LEAT_OP_permutation, &c0, 1, attrs), &t), LEAT_OK);
    CHECK(is_permutation(&t));
    CHECK_EQ_INT(evaluate(op(LEAT_OP_permutation, &c1, 1, attrs), &other), LEAT_OK);
    int64_t fixed = 0;
    for (int64_t k = 0; k < sizes[i]; k++)
      fixed += ((int32_t *)t.data)[k] == ((int32_t *)other.data)[k];
    if (sizes[i] >= 100) CHECK(fixed < 10);
  }
  CHECK_EQ_INT(leat_permutation_half(4), 1);
  CHECK_EQ_INT(leat_permutation_half(5), 2);
  CHECK_EQ_INT(leat_permutation_half(INT32_MAX), 16);
  leat_attr attrs[] = {I(7), I(9), {.dim = num(INT64_MAX)}};
  CHECK_REFUSED(op(LEAT_OP_permutation, &c0, 1, attrs), "more than an i32 can count");
}

CHECK_MAIN("ops")
