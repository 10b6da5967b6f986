// Reducers: how a lane folds, and how two lanes become one. Codegen decides which elements a lane
// sees, in the order of ops/reduce.c.
#include "ops/ops.h"

#include <math.h>

static bool is_float(leat_dtype dtype) {
  return leat_dtype_kind_of(dtype) == LEAT_KIND_FLOAT;
}

static leat_dtype value_dtype(const leat_node *node, int i) {
  (void)i;
  return leat_value_type(node->inputs[0])->dtype;
}

static k_value first(leat_lowering *l, const leat_node *node, const k_value *acc) {
  (void)l, (void)node;
  return acc[0];
}

// The least or greatest value of a dtype.
static k_value extreme(leat_lowering *l, leat_dtype dtype, bool least) {
  if (is_float(dtype)) return k_float(l->b, dtype, l->lanes, least ? -INFINITY : INFINITY);
  int bits = (int)leat_dtype_size(dtype) * 8;
  bool is_signed = leat_dtype_kind_of(dtype) == LEAT_KIND_SIGNED;
  int64_t value = least ? 0 : -1;
  if (is_signed) value = least ? INT64_MIN >> (64 - bits) : INT64_MAX >> (64 - bits);
  return k_int(l->b, dtype, l->lanes, value);
}

// -- Folds by one instruction ---------------------------------------------------------------------

static k_value number(leat_lowering *l, const leat_node *node, double of_float, int64_t of_int) {
  leat_dtype dtype = value_dtype(node, 0);
  return is_float(dtype) ? k_float(l->b, dtype, l->lanes, of_float)
                         : k_int(l->b, dtype, l->lanes, of_int);
}

static void init_sum(leat_lowering *l, const leat_node *node, k_value *out) {
  *out = number(l, node, -0.0, 0);
}

static void zero(leat_lowering *l, const leat_node *node, k_value *out) {
  *out = number(l, node, 0, 0);
}

static void one(leat_lowering *l, const leat_node *node, k_value *out) {
  *out = number(l, node, 1, 1);
}

static void init_max(leat_lowering *l, const leat_node *node, k_value *out) {
  *out = extreme(l, value_dtype(node, 0), true);
}

static void init_min(leat_lowering *l, const leat_node *node, k_value *out) {
  *out = extreme(l, value_dtype(node, 0), false);
}

#define REDUCER(reducer, op, ...)                                                                  \
  static void reducer##_step(leat_lowering *l, const leat_node *node, const k_value *acc,          \
                             k_value x, k_value position, k_value *out) {                          \
    (void)node, (void)position;                                                                    \
    *out = k_binary(l->b, op, *acc, x);                                                            \
  }                                                                                                \
  static void reducer##_merge(leat_lowering *l, const leat_node *node, const k_value *a,           \
                              const k_value *b, k_value *out) {                                    \
    (void)node;                                                                                    \
    *out = k_binary(l->b, op, *a, *b);                                                             \
  }                                                                                                \
  const leat_reducer reducer = {.count = 1,                                                        \
                                .dtype = value_dtype,                                              \
                                .step = reducer##_step,                                            \
                                .merge = reducer##_merge,                                          \
                                .finish = first,                                                   \
                                __VA_ARGS__};
REDUCER(reduce_sum, K_ADD, .rounds = true, .init = init_sum, .of_none = zero)
REDUCER(reduce_prod, K_MUL, .rounds = true, .init = one, .of_none = one)
REDUCER(reduce_any, K_OR, .init = zero, .of_none = zero)
REDUCER(reduce_all, K_AND, .init = one, .of_none = one)
REDUCER(reduce_max, K_MAX, .init = init_max)
REDUCER(reduce_min, K_MIN, .init = init_min)

// -- argmax, argmin: value and position; NaN wins, then the better, then the earlier --------------

// Of as few bytes as can count the elements.
static leat_dtype position_dtype(const leat_node *node) {
  int64_t elements = leat_type_static_elements(leat_value_type(node->inputs[0]));
  return elements >= 0 && elements < INT32_MAX ? LEAT_i32 : LEAT_i64;
}

// Where nothing has been found that is better than the worst value: the first element is as good.
static k_value nowhere(leat_lowering *l, const leat_node *node) {
  leat_dtype dtype = position_dtype(node);
  return k_int(l->b, dtype, l->lanes, dtype == LEAT_i32 ? INT32_MAX : INT64_MAX);
}

static leat_dtype choice_dtype(const leat_node *node, int i) {
  return i == 0 ? value_dtype(node, 0) : position_dtype(node);
}

static void init_choice(leat_lowering *l, const leat_node *node, k_value *out) {
  out[0] = extreme(l, value_dtype(node, 0), node->op == LEAT_OP_argmax);
  out[1] = nowhere(l, node);
}

static void merge_choice(leat_lowering *l, const leat_node *node, const k_value *a,
                         const k_value *b, k_value *out) {
  k_builder *k = l->b;
  k_value equal = k_binary(k, K_EQ, a[0], b[0]);
  k_value better = node->op == LEAT_OP_argmax ? k_lt(k, a[0], b[0]) : k_lt(k, b[0], a[0]);
  if (is_float(a[0]->dtype)) {
    k_value a_nan = k_binary(k, K_NE, a[0], a[0]), b_nan = k_binary(k, K_NE, b[0], b[0]);
    k_value wins = k_binary(k, K_AND, b_nan, k_unary(k, K_NOT, a_nan));
    better = k_binary(k, K_OR, better, wins);
    equal = k_binary(k, K_OR, equal, k_binary(k, K_AND, a_nan, b_nan));
  }
  k_value earlier = k_binary(k, K_AND, equal, k_lt(k, b[1], a[1]));
  k_value take = k_binary(k, K_OR, better, earlier);
  out[0] = k_select(k, take, b[0], a[0]);
  out[1] = k_select(k, take, b[1], a[1]);
}

// An element comes behind those that were folded before, so that it is never the earlier one.
static void step_choice(leat_lowering *l, const leat_node *node, const k_value *acc, k_value x,
                        k_value position, k_value *out) {
  k_builder *k = l->b;
  bool greatest = node->op == LEAT_OP_argmax;
  k_value take = greatest ? k_binary(k, K_LE, x, acc[0]) : k_binary(k, K_LE, acc[0], x);
  take = k_unary(k, K_NOT, take); // also where one of them is no number, …
  if (is_float(x->dtype))         // … but not where that is the one before
    take = k_binary(k, K_AND, take, k_binary(k, K_EQ, acc[0], acc[0]));
  out[0] = k_select(k, take, x, acc[0]);
  out[1] = k_select(k, take, k_cast(k, position_dtype(node), position), acc[1]);
}

static k_value finish_choice(leat_lowering *l, const leat_node *node, const k_value *acc) {
  k_value none = k_binary(l->b, K_EQ, acc[1], nowhere(l, node));
  k_value first = k_int(l->b, acc[1]->dtype, acc[1]->lanes, 0);
  return k_cast(l->b, node->outputs[0].dtype, k_select(l->b, none, first, acc[1]));
}

#define CHOICE                                                                                     \
  {                                                                                                \
    .count = 2, .dtype = choice_dtype, .init = init_choice, .step = step_choice,                   \
    .merge = merge_choice, .finish = finish_choice                                                 \
  }
const leat_reducer reduce_argmax = CHOICE;
const leat_reducer reduce_argmin = CHOICE;
