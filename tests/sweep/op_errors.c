// How far results may differ between targets, by op.
#include "tests/sweep/call.h"
#include "tests/sweep/op_calls.h"

#include <math.h>

// What kernel/math*.c and, in units of the result's magnitude, passes/complex_functions.c promise;
// near_test finds that it is no more than it must be. Of halves, computed in f32, it is 1.
static const struct {
  uint8_t f32, f64, c64, c128;
} ulps[LEAT_OP_COUNT] = {
    [LEAT_OP_abs] = {0, 0, 1, 1},      [LEAT_OP_sqrt] = {0, 0, 2, 2},
    [LEAT_OP_exp] = {1, 1, 3, 3},      [LEAT_OP_exp2] = {1, 1, 1, 3},
    [LEAT_OP_expm1] = {1, 2, 3, 3},    [LEAT_OP_log] = {1, 1, 2, 2},
    [LEAT_OP_log2] = {1, 1, 2, 2},     [LEAT_OP_log10] = {1, 1, 3, 3},
    [LEAT_OP_log1p] = {1, 1, 3, 3},    [LEAT_OP_sin] = {1, 1, 3, 3},
    [LEAT_OP_cos] = {1, 1, 3, 3},      [LEAT_OP_tan] = {1, 2, 4, 4},
    [LEAT_OP_asin] = {1, 1, 3, 3},     [LEAT_OP_acos] = {1, 1, 3, 3},
    [LEAT_OP_atan] = {2, 2, 3, 3},     [LEAT_OP_sinh] = {1, 2, 3, 3},
    [LEAT_OP_cosh] = {1, 1, 3, 3},     [LEAT_OP_tanh] = {2, 2, 4, 4},
    [LEAT_OP_asinh] = {2, 2, 3, 3},    [LEAT_OP_acosh] = {2, 2, 3, 3},
    [LEAT_OP_atanh] = {1, 2, 3, 3},    [LEAT_OP_cbrt] = {1, 1, 0, 0},
    [LEAT_OP_erf] = {1, 1, 0, 0},      [LEAT_OP_erfc] = {4, 4, 0, 0},
    [LEAT_OP_erfinv] = {3, 4, 0, 0},   [LEAT_OP_lgamma] = {2, 40, 0, 0},
    [LEAT_OP_digamma] = {5, 48, 0, 0}, [LEAT_OP_atan2] = {2, 2, 0, 0},
    [LEAT_OP_hypot] = {1, 1, 0, 0},    [LEAT_OP_pow] = {1, 1, 1, 3},
};

int op_ulps(leat_op op, leat_dtype dtype) {
  switch ((int)dtype) {
  case LEAT_f16:
  case LEAT_bf16: return ulps[op].f32 != 0;
  case LEAT_f32: return ulps[op].f32;
  case LEAT_f64: return ulps[op].f64;
  case LEAT_c64: return ulps[op].c64;
  case LEAT_c128: return ulps[op].c128;
  }
  return 0;
}

double op_growth(leat_op op) {
  switch ((int)op) {
  case LEAT_OP_cholesky: return 0.5;
  case LEAT_OP_winograd:
  case LEAT_OP_winograd_weights: return 24;
  case LEAT_OP_lu:
  case LEAT_OP_fft:
  case LEAT_OP_ifft:
  case LEAT_OP_rfft: return 0.75;
  case LEAT_OP_irfft: return 1;
  case LEAT_OP_depthwise:
  case LEAT_OP_depthwise_weights: return 1;
  case LEAT_OP_triangular_solve: return 1.25;
  case LEAT_OP_eigh: return 1.5;
  case LEAT_OP_qr:
  case LEAT_OP_svd: return 2;
  }
  return 0;
}

bool op_turns(leat_op op, leat_dtype dtype) {
  return op == LEAT_OP_pow && leat_dtype_kind_of(dtype) == LEAT_KIND_COMPLEX;
}

test_match op_match(leat_op op, leat_dtype result) {
  if (leat_dtype_kind_of(result) == LEAT_KIND_COMPLEX) return MATCH_COMPLEX;
  return op_cancels(op) ? MATCH_ULPS_OF_1 : MATCH_ULPS;
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
  case LEAT_OP_fma: bound = b0 * b1 + c->operand[2].bound; break;
  case LEAT_OP_sum: bound = b0 * terms(c), error = e0 * terms(c); break;
  case LEAT_OP_div:
  case LEAT_OP_floor_div:
  case LEAT_OP_prod:
  case LEAT_OP_scatter_mul:
  case LEAT_OP_scatter_add:
  case LEAT_OP_cumsum:
  case LEAT_OP_cumprod:
  case LEAT_OP_cummax: // of no elements
  case LEAT_OP_cummin: bound = INFINITY; break;
  case LEAT_OP_matmul: // with an fma or without
    bound = b0 * b1 * terms(c);
    error = (e0 * b1 + e1 * b0) * terms(c) + (c->p->smooth ? unit * bound : 0);
    break;
  case LEAT_OP_exp:
  case LEAT_OP_exp2:
  case LEAT_OP_expm1:
  case LEAT_OP_sinh:
  case LEAT_OP_cosh: bound = exp(b0), error = (e0 + 5 * unit) * bound; break;
  case LEAT_OP_tanh:
  case LEAT_OP_sin:
  case LEAT_OP_cos: bound = 1, error = e0 + 4 * unit; break;
  case LEAT_OP_atan:
  case LEAT_OP_erf:
  case LEAT_OP_erfc: bound = 2, error = 1.2 * e0 + 6 * unit * bound; break;
  case LEAT_OP_log:
  case LEAT_OP_log2: // of 1 and more
  case LEAT_OP_log10:
  case LEAT_OP_log1p: // of 0 and more
  case LEAT_OP_asinh: bound = fmax(1, 2 * log1p(b0)), error = 1.5 * e0 + 4 * unit * bound; break;
  case LEAT_OP_cbrt: // these of 2 and more
  case LEAT_OP_acosh:
  case LEAT_OP_atan2:
  case LEAT_OP_digamma: bound = fmax(4, b0 + 2), error = e0 + e1 + 12 * unit * bound; break;
  case LEAT_OP_lgamma: bound = (b0 + 2) * 8, error = 8 * e0 + 20 * unit * bound; break;
  case LEAT_OP_tan: // these of half a tanh
  case LEAT_OP_asin:
  case LEAT_OP_acos:
  case LEAT_OP_atanh:
  case LEAT_OP_erfinv: bound = 3, error = e0 + 10 * unit * bound; break;
  case LEAT_OP_hypot: bound = b0 + b1, error = e0 + e1 + 4 * unit * bound; break;
  case LEAT_OP_one_hot:
  case LEAT_OP_iota: bound = MOST_BOUND; break;
  }
  c->out.bound = bound;
  c->out.error = error > 0 ? error + unit * bound * fmax(4, terms(c)) : 0;
}
