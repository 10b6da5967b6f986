// How far results may differ between targets, by op.
#include "tests/sweep/call.h"
#include "tests/sweep/op_calls.h"

#include <math.h>

// What kernel/math.c and math_*.c promise, and the rounding of the reference.
static int real_ulps(leat_op op) {
  static const uint8_t ulps[LEAT_OP_COUNT] = {
      [LEAT_OP_exp] = 2,   [LEAT_OP_log] = 2,    [LEAT_OP_tanh] = 3,   [LEAT_OP_exp2] = 2,
      [LEAT_OP_expm1] = 2, [LEAT_OP_log2] = 2,   [LEAT_OP_log10] = 2,  [LEAT_OP_log1p] = 2,
      [LEAT_OP_sin] = 2,   [LEAT_OP_cos] = 2,    [LEAT_OP_tan] = 3,    [LEAT_OP_asin] = 2,
      [LEAT_OP_acos] = 2,  [LEAT_OP_atan] = 2,   [LEAT_OP_atan2] = 2,  [LEAT_OP_sinh] = 3,
      [LEAT_OP_cosh] = 2,  [LEAT_OP_asinh] = 3,  [LEAT_OP_acosh] = 3,  [LEAT_OP_atanh] = 3,
      [LEAT_OP_cbrt] = 2,  [LEAT_OP_hypot] = 2,  [LEAT_OP_pow] = 2,    [LEAT_OP_erf] = 2,
      [LEAT_OP_erfc] = 5,  [LEAT_OP_erfinv] = 5, [LEAT_OP_lgamma] = 9, [LEAT_OP_digamma] = 9,
  };
  return ulps[op];
}

// What passes/complex_functions.c promises, in units of the result's magnitude.
static int complex_ulps(leat_op op) {
  static const uint8_t ulps[LEAT_OP_COUNT] = {
      [LEAT_OP_exp] = 4,   [LEAT_OP_exp2] = 4,  [LEAT_OP_log] = 4,   [LEAT_OP_expm1] = 5,
      [LEAT_OP_log1p] = 5, [LEAT_OP_log2] = 4,  [LEAT_OP_log10] = 4, [LEAT_OP_sqrt] = 4,
      [LEAT_OP_sin] = 5,   [LEAT_OP_cos] = 5,   [LEAT_OP_tan] = 8,   [LEAT_OP_sinh] = 5,
      [LEAT_OP_cosh] = 5,  [LEAT_OP_tanh] = 8,  [LEAT_OP_asin] = 8,  [LEAT_OP_acos] = 8,
      [LEAT_OP_atan] = 6,  [LEAT_OP_asinh] = 8, [LEAT_OP_acosh] = 8, [LEAT_OP_atanh] = 6,
      [LEAT_OP_pow] = 60,  [LEAT_OP_abs] = 2,
  };
  return ulps[op];
}

int op_ulps(leat_op op, leat_dtype dtype) {
  bool complex = leat_dtype_kind_of(dtype) == LEAT_KIND_COMPLEX;
  return complex ? complex_ulps(op) : real_ulps(op);
}

bool op_cancels(leat_op op) {
  return op == LEAT_OP_lgamma || op == LEAT_OP_digamma;
}

// Elements that go into one of the result.
static double terms(const call *c) {
  const test_value *x = &c->operand[0];
  double in = 1, out = 1;
  if (c->op == LEAT_OP_matmul) return (double)dim_most(c->inner);
  for (int i = 0; i < x->rank; i++) in *= (double)dim_most(x->dims[i]);
  for (int i = 0; i < c->out.rank; i++) out *= (double)dim_most(c->out.dims[i]);
  return out > 0 ? in / out : 1;
}

void call_propagate(call *c) {
  double b0 = c->operand[0].bound, b1 = c->operand[1].bound, e0 = c->operand[0].error;
  double e1 = c->operand[1].error, bound = c->out.bound, error = c->out.error;
  double unit = test_unit(c->dtype);
  switch ((int)c->op) {
  case LEAT_OP_add:
  case LEAT_OP_sub: bound = b0 + b1, error = e0 + e1; break;
  case LEAT_OP_mul: bound = b0 * b1, error = e0 * b1 + e1 * b0; break;
  case LEAT_OP_sum: bound = b0 * terms(c), error = e0 * terms(c); break;
  case LEAT_OP_prod:
  case LEAT_OP_scatter_mul:
  case LEAT_OP_scatter_add:
  case LEAT_OP_cumsum:
  case LEAT_OP_cumprod:
  case LEAT_OP_cummax: // of no elements
  case LEAT_OP_cummin: bound = INFINITY; break;
  case LEAT_OP_matmul: bound = b0 * b1 * terms(c), error = (e0 * b1 + e1 * b0) * terms(c); break;
  case LEAT_OP_exp: bound = exp(b0), error = (e0 + 4 * unit) * bound; break;
  case LEAT_OP_tanh: bound = 1, error = e0 + 4 * unit; break;
  case LEAT_OP_log: bound = fmax(1, log1p(b0)), error = e0 + 4 * unit * bound; break;
  case LEAT_OP_one_hot:
  case LEAT_OP_iota: bound = MOST_BOUND; break;
  }
  c->out.bound = bound;
  c->out.error = error > 0 ? error + unit * bound * fmax(4, terms(c)) : 0;
}
