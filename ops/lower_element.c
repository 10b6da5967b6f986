// Lowering of element-wise arithmetic, comparison, logic and bits: the output element from the
// input elements at the same index. Each is an instruction of the kernel IR, whose meaning is the
// op's.
#include "ops/ops.h"

#define UNARY(name, code)                                                                          \
  k_value lower_##name(leat_lowering *l, const leat_node *node, const leat_index *at) {            \
    k_value x = leat_operand(l, node, 0, at);                                                      \
    return code;                                                                                   \
  }

#define BINARY(name, code)                                                                         \
  k_value lower_##name(leat_lowering *l, const leat_node *node, const leat_index *at) {            \
    k_value x = leat_operand(l, node, 0, at), y = leat_operand(l, node, 1, at);                    \
    return code;                                                                                   \
  }

UNARY(identity, x)
UNARY(stop_gradient, x)
UNARY(ensure_shape, x)
UNARY(neg, k_unary(l->b, K_NEG, x))
UNARY(abs, k_unary(l->b, K_ABS, x))
UNARY(sqrt, k_unary(l->b, K_SQRT, x))
UNARY(floor, k_unary(l->b, K_FLOOR, x))
UNARY(round, k_unary(l->b, K_ROUND, x))
UNARY(bit_not, k_unary(l->b, K_NOT, x))
UNARY(popcount, k_popcount(l->b, x))
UNARY(count_leading_zeros, k_leading_zeros(l->b, x))
UNARY(not, k_unary(l->b, K_NOT, x))
UNARY(exp, k_exp(l->b, x))
UNARY(log, k_log(l->b, x))
UNARY(tanh, k_tanh(l->b, x))
UNARY(exp2, k_exp2(l->b, x))
UNARY(expm1, k_expm1(l->b, x))
UNARY(log2, k_log2(l->b, x))
UNARY(log10, k_log10(l->b, x))
UNARY(log1p, k_log1p(l->b, x))
UNARY(sin, k_sin(l->b, x))
UNARY(cos, k_cos(l->b, x))
UNARY(tan, k_tan(l->b, x))
UNARY(asin, k_asin(l->b, x))
UNARY(acos, k_acos(l->b, x))
UNARY(atan, k_atan(l->b, x))
UNARY(sinh, k_sinh(l->b, x))
UNARY(cosh, k_cosh(l->b, x))
UNARY(asinh, k_asinh(l->b, x))
UNARY(acosh, k_acosh(l->b, x))
UNARY(atanh, k_atanh(l->b, x))
UNARY(cbrt, k_cbrt(l->b, x))
UNARY(erf, k_erf(l->b, x))
UNARY(erfc, k_erfc(l->b, x))
UNARY(erfinv, k_erfinv(l->b, x))
UNARY(lgamma, k_lgamma(l->b, x))
UNARY(digamma, k_digamma(l->b, x))
UNARY(bitcast, k_bitcast(l->b, k_dtype(node->outputs[0].dtype), x))
UNARY(cast, k_convert(l->b, leat_value_type(node->inputs[0])->dtype, node->outputs[0].dtype, x))

BINARY(add, k_add(l->b, x, y))
BINARY(sub, k_sub(l->b, x, y))
BINARY(mul, k_mul(l->b, x, y))
BINARY(div, k_binary(l->b, K_DIV, x, y))
BINARY(mod, k_mod(l->b, x, y))
BINARY(floor_div, k_floor_div(l->b, x, y))
BINARY(remainder, k_remainder(l->b, x, y))
BINARY(gcd, k_gcd(l->b, x, y))
BINARY(pow, k_pow(l->b, x, y))
BINARY(atan2, k_atan2(l->b, x, y))
BINARY(hypot, k_hypot(l->b, x, y))
BINARY(copysign, k_copysign(l->b, x, y))
BINARY(maximum, k_binary(l->b, K_MAX, x, y))
BINARY(minimum, k_binary(l->b, K_MIN, x, y))
BINARY(equal, k_binary(l->b, K_EQ, x, y))
BINARY(not_equal, k_binary(l->b, K_NE, x, y))
BINARY(less, k_binary(l->b, K_LT, x, y))
BINARY(less_equal, k_binary(l->b, K_LE, x, y))
BINARY(greater, k_binary(l->b, K_LT, y, x))
BINARY(greater_equal, k_binary(l->b, K_LE, y, x))
BINARY(and, k_binary(l->b, K_AND, x, y))
BINARY(or, k_binary(l->b, K_OR, x, y))
BINARY(bit_and, k_binary(l->b, K_AND, x, y))
BINARY(bit_or, k_binary(l->b, K_OR, x, y))
BINARY(bit_xor, k_binary(l->b, K_XOR, x, y))
BINARY(shift_left, k_binary(l->b, K_SHL, x, y))
BINARY(shift_right, k_binary(l->b, K_SHR, x, y))

k_value lower_fma(leat_lowering *l, const leat_node *node, const leat_index *at) {
  k_value x = leat_operand(l, node, 0, at), y = leat_operand(l, node, 1, at);
  return k_fma(l->b, x, y, leat_operand(l, node, 2, at));
}

k_value lower_where(leat_lowering *l, const leat_node *node, const leat_index *at) {
  k_value condition = leat_operand(l, node, 0, at);
  k_value x = leat_operand(l, node, 1, at), y = leat_operand(l, node, 2, at);
  return k_select(l->b, condition, x, y);
}
