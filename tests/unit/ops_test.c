// ops/: typing by the builder, errors of shape rules, and the values of reference evaluation;
// ops_movement_test.c and ops_folds_test.c have the other ops.
#include "ops/shape.h"
#include "tests/unit/built.h"

#include <math.h>

// -- The builder ---------------------------------------------------------------------------------

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
  // What is equal to another is, through it, what that is found to be.
  leat_value square = F(f32, named("N"), named("M")), right = F(f32, num(3), num(2));
  CHECK_TYPE(OP(triangular_solve, IN(square, right), I(0), I(0), I(0), I(0)), "f32[3, 2]");
  CHECK_EQ_INT(leat_verify(graph, NULL), LEAT_OK);
}

// 2*B is never B, but where there is nothing; B + 1 and B*B may be either.
TEST(dims_may_be_equal) {
  start();
  leat_dim b = named("B"), twice, more, square;
  CHECK(leat_dim_add(graph->dims, b, b, &twice));
  CHECK(leat_dim_mul(graph->dims, b, b, &square));
  CHECK(leat_dim_add(graph->dims, b, num(1), &more));
  CHECK(!leat_dims_may_be_equal(graph, b, twice) && !leat_dims_may_be_equal(graph, twice, b));
  CHECK(!leat_dims_may_be_equal(graph, b, more) && leat_dims_may_be_equal(graph, b, b));
  CHECK(leat_dims_may_be_equal(graph, more, twice) && leat_dims_may_be_equal(graph, twice, more));
  CHECK(leat_dims_may_be_equal(graph, square, twice) && leat_dims_may_be_equal(graph, b, square));
}

TEST(build_checks_arity_and_dtypes) {
  start();
  leat_value x = V1(f32, 1, 2), i = V1(i32, 1, 2), half = F(f16, num(2)), text = F(str, num(2));
  CHECK_REFUSED(OP0(add, IN(x)), "add takes 2 inputs, not 1");
  CHECK_REFUSED(OP0(neg, IN(x, x)), "neg takes 1 input, not 2");
  CHECK_REFUSED(op(LEAT_OP_concat, NULL, 0, NULL), "concat takes 1 or more inputs, not 0");
  CHECK_REFUSED(OP0(add, IN(x, i)),
                "add of f32[2] and i32[2]: dtypes f32 and i32 differ; only `cast` converts");
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

// -- Arithmetic ----------------------------------------------------------------------------------

TEST(arithmetic_of_integers_wraps) {
  start();
  CHECK_VALUE(OP0(add, IN(V1(i8, 127, -128, 5), V1(i8, 1, -1, 6))), "i8[3] = [-128, 127, 11]");
  CHECK_VALUE(OP0(mul, IN(V1(u16, 65535, 2), V1(u16, 65535, 3))), "u16[2] = [1, 6]");
  CHECK_VALUE(OP0(sub, IN(V1(u32, 0), V1(u32, 1))), "u32[1] = [4294967295]");
  CHECK_VALUE(OP0(mul, IN(V1(i64, -9223372036854775808.0), V1(i64, -1))),
              "i64[1] = [-9223372036854775808]");
  CHECK_VALUE(OP0(div_trunc, IN(V1(i32, 7, -7, 5, -2147483648.0), V1(i32, 2, 2, 0, -1))),
              "i32[4] = [3, -3, 0, -2147483648]");
  CHECK_VALUE(OP0(rem, IN(V1(i32, 7, -7, 5, -2147483648.0), V1(i32, 3, 3, 0, -1))),
              "i32[4] = [1, -1, 0, 0]");
  CHECK_VALUE(OP0(div_trunc, IN(V1(u8, 200, 9), V1(u8, 3, 0))), "u8[2] = [66, 0]");
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

CHECK_MAIN("ops")
