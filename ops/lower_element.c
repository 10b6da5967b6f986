// Lowering of element-wise arithmetic, comparison, logic and bits: the output element from the
// input elements at the same index. Each is an instruction of the kernel IR, whose meaning is the
// op's.
#include "ops/ops.h"

#define UNARY(function, code)                                                                      \
  k_value function(leat_lowering *l, const leat_node *node, const leat_index *at) {                \
    k_value x = leat_operand(l, node, 0, at);                                                      \
    return code;                                                                                   \
  }

#define BINARY(function, code)                                                                     \
  k_value function(leat_lowering *l, const leat_node *node, const leat_index *at) {                \
    k_value x = leat_operand(l, node, 0, at), y = leat_operand(l, node, 1, at);                    \
    return code;                                                                                   \
  }

UNARY(lower_identity, x)
UNARY(lower_stop_gradient, x)
UNARY(lower_ensure_shape, x)
UNARY(lower_neg, k_unary(l->b, K_NEG, x))
UNARY(lower_abs, k_unary(l->b, K_ABS, x))
UNARY(lower_sqrt, k_unary(l->b, K_SQRT, x))
UNARY(lower_floor, k_unary(l->b, K_FLOOR, x))
UNARY(lower_round, k_unary(l->b, K_ROUND, x))
UNARY(lower_bit_not, k_unary(l->b, K_NOT, x))
UNARY(lower_popcount, k_popcount(l->b, x))
UNARY(lower_count_leading_zeros, k_leading_zeros(l->b, x))
UNARY(lower_not, k_unary(l->b, K_NOT, x))
UNARY(lower_exp, k_exp(l->b, x))
UNARY(lower_log, k_log(l->b, x))
UNARY(lower_tanh, k_tanh(l->b, x))
UNARY(lower_exp2, k_exp2(l->b, x))
UNARY(lower_expm1, k_expm1(l->b, x))
UNARY(lower_log2, k_log2(l->b, x))
UNARY(lower_log10, k_log10(l->b, x))
UNARY(lower_log1p, k_log1p(l->b, x))
UNARY(lower_sin, k_sin(l->b, x))
UNARY(lower_cos, k_cos(l->b, x))
UNARY(lower_tan, k_tan(l->b, x))
UNARY(lower_asin, k_asin(l->b, x))
UNARY(lower_acos, k_acos(l->b, x))
UNARY(lower_atan, k_atan(l->b, x))
UNARY(lower_sinh, k_sinh(l->b, x))
UNARY(lower_cosh, k_cosh(l->b, x))
UNARY(lower_asinh, k_asinh(l->b, x))
UNARY(lower_acosh, k_acosh(l->b, x))
UNARY(lower_atanh, k_atanh(l->b, x))
UNARY(lower_cbrt, k_cbrt(l->b, x))
UNARY(lower_erf, k_erf(l->b, x))
UNARY(lower_erfc, k_erfc(l->b, x))
UNARY(lower_erfinv, k_erfinv(l->b, x))
UNARY(lower_lgamma, k_lgamma(l->b, x))
UNARY(lower_digamma, k_digamma(l->b, x))
UNARY(lower_bitcast, k_bitcast(l->b, k_dtype(node->outputs[0].dtype), x))
UNARY(lower_cast,
      k_convert(l->b, leat_value_type(node->inputs[0])->dtype, node->outputs[0].dtype, x))

BINARY(lower_add, k_add(l->b, x, y))
BINARY(lower_sub, k_sub(l->b, x, y))
BINARY(lower_mul, k_mul(l->b, x, y))
BINARY(lower_div, k_binary(l->b, K_DIV, x, y))
BINARY(lower_div_trunc, k_binary(l->b, K_DIV, x, y))
BINARY(lower_rem, k_mod(l->b, x, y))
BINARY(lower_floor_div, k_floor_div(l->b, x, y))
BINARY(lower_remainder, k_remainder(l->b, x, y))
BINARY(lower_gcd, k_gcd(l->b, x, y))
BINARY(lower_pow, k_pow(l->b, x, y))
BINARY(lower_atan2, k_atan2(l->b, x, y))
BINARY(lower_hypot, k_hypot(l->b, x, y))
BINARY(lower_copysign, k_copysign(l->b, x, y))
BINARY(lower_maximum, k_binary(l->b, K_MAX, x, y))
BINARY(lower_minimum, k_binary(l->b, K_MIN, x, y))
BINARY(lower_equal, k_binary(l->b, K_EQ, x, y))
BINARY(lower_not_equal, k_binary(l->b, K_NE, x, y))
BINARY(lower_less, k_binary(l->b, K_LT, x, y))
BINARY(lower_less_equal, k_binary(l->b, K_LE, x, y))
BINARY(lower_greater, k_binary(l->b, K_LT, y, x))
BINARY(lower_greater_equal, k_binary(l->b, K_LE, y, x))
BINARY(lower_and, k_binary(l->b, K_AND, x, y))
BINARY(lower_or, k_binary(l->b, K_OR, x, y))
BINARY(lower_bit_and, k_binary(l->b, K_AND, x, y))
BINARY(lower_bit_or, k_binary(l->b, K_OR, x, y))
BINARY(lower_bit_xor, k_binary(l->b, K_XOR, x, y))
BINARY(lower_shift_left, k_binary(l->b, K_SHL, x, y))
BINARY(lower_shift_right, k_binary(l->b, K_SHR, x, y))

k_value lower_fma(leat_lowering *l, const leat_node *node, const leat_index *at) {
  k_value x = leat_operand(l, node, 0, at), y = leat_operand(l, node, 1, at);
  return k_fma(l->b, x, y, leat_operand(l, node, 2, at));
}

k_value lower_where(leat_lowering *l, const leat_node *node, const leat_index *at) {
  k_value condition = leat_operand(l, node, 0, at);
  k_value x = leat_operand(l, node, 1, at), y = leat_operand(l, node, 2, at);
  return k_select(l->b, condition, x, y);
}
