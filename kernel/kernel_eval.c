// The meaning of element-wise ops, one lane at a time: constant folding uses it, and tests compare
// targets with it. Integers are computed in 64 bits and wrapped to their width; f32 is computed in
// float.
#include "kernel/kernel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static bool is_float(leat_dtype dtype) {
  return leat_dtype_kind_of(dtype) == LEAT_KIND_FLOAT;
}

static bool is_signed(leat_dtype dtype) {
  return leat_dtype_kind_of(dtype) == LEAT_KIND_SIGNED;
}

static int64_t wrap_int(leat_dtype dtype, int64_t value) {
  if (dtype == LEAT_bool) return value != 0;
  unsigned unused = 64 - 8 * (unsigned)leat_dtype_size(dtype);
  uint64_t high = (uint64_t)value << unused;
  return is_signed(dtype) ? (int64_t)high >> unused : (int64_t)(high >> unused);
}

k_imm k_imm_wrap(leat_dtype dtype, k_imm value) {
  if (dtype == LEAT_f32) return (k_imm){.f = (float)value.f};
  if (dtype == LEAT_f64) return value;
  return (k_imm){.i = wrap_int(dtype, value.i)};
}

static bool int_less(leat_dtype dtype, int64_t x, int64_t y) {
  return is_signed(dtype) ? x < y : (uint64_t)x < (uint64_t)y;
}

static int64_t divide(leat_dtype dtype, int64_t x, int64_t y) {
  if (y == 0) return 0;
  if (!is_signed(dtype)) return (int64_t)((uint64_t)x / (uint64_t)y);
  return y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
}

static int64_t shift(k_op op, leat_dtype dtype, int64_t x, int64_t count) {
  int64_t bits = 8 * (int64_t)leat_dtype_size(dtype);
  bool outside = (uint64_t)count >= (uint64_t)bits;
  if (op == K_SHL) return outside ? 0 : (int64_t)((uint64_t)x << count);
  if (is_signed(dtype)) return x >> (outside ? 63 : count);
  return outside ? 0 : (int64_t)((uint64_t)x >> count);
}

static int64_t eval_int(k_op op, leat_dtype dtype, int64_t x, int64_t y, int64_t z) {
  uint64_t ux = (uint64_t)x, uy = (uint64_t)y, uz = (uint64_t)z;
  switch ((int)op) {
  case K_ADD: return (int64_t)(ux + uy);
  case K_SUB: return (int64_t)(ux - uy);
  case K_MUL: return (int64_t)(ux * uy);
  case K_DIV: return divide(dtype, x, y);
  case K_REM: return y == 0 ? 0 : (int64_t)(ux - (uint64_t)divide(dtype, x, y) * uy);
  case K_FMA: return (int64_t)(ux * uy + uz);
  case K_NEG: return (int64_t)(0 - ux);
  case K_ABS: return is_signed(dtype) && x < 0 ? (int64_t)(0 - ux) : x;
  case K_MIN: return int_less(dtype, y, x) ? y : x;
  case K_MAX: return int_less(dtype, x, y) ? y : x;
  case K_EQ: return x == y;
  case K_NE: return x != y;
  case K_LT: return int_less(dtype, x, y);
  case K_LE: return !int_less(dtype, y, x);
  case K_AND: return x & y;
  case K_OR: return x | y;
  case K_XOR: return x ^ y;
  case K_NOT: return dtype == LEAT_bool ? !x : ~x;
  case K_SHL:
  case K_SHR: return shift(op, dtype, x, y);
  }
  assert(!"an op that integers do not have");
  return 0;
}

static bool float_compare(k_op op, double x, double y) {
  switch ((int)op) {
  case K_EQ: return x == y;
  case K_NE: return x != y;
  case K_LT: return x < y;
  default: return x <= y;
  }
}

static double eval_float(k_op op, leat_dtype dtype, double x, double y, double z) {
  bool single = dtype == LEAT_f32;
  switch ((int)op) {
  case K_ADD: return single ? (float)x + (float)y : x + y;
  case K_SUB: return single ? (float)x - (float)y : x - y;
  case K_MUL: return single ? (float)x * (float)y : x * y;
  case K_DIV: return single ? (float)x / (float)y : x / y;
  case K_FMA: return single ? fmaf((float)x, (float)y, (float)z) : fma(x, y, z);
  case K_NEG: return -x;
  case K_ABS: return fabs(x);
  case K_MIN:
    if (isnan(x) || isnan(y)) return NAN;
    return x < y || (x == y && signbit(x)) ? x : y;
  case K_MAX:
    if (isnan(x) || isnan(y)) return NAN;
    return x > y || (x == y && !signbit(x)) ? x : y;
  case K_SQRT: return single ? sqrtf((float)x) : sqrt(x);
  case K_FLOOR: return floor(x);
  case K_ROUND: return rint(x);
  }
  assert(!"an op that floats do not have");
  return 0;
}

static int64_t float_to_int(leat_dtype to, double x) {
  int bits = 8 * (int)leat_dtype_size(to) - is_signed(to);
  double limit = ldexp(1, bits); // the first value that is too large
  if (isnan(x)) return 0;
  if (x >= limit) return wrap_int(to, is_signed(to) ? (int64_t)(UINT64_MAX >> (64 - bits)) : -1);
  if (is_signed(to)) return x < -limit ? (int64_t)(0 - ((uint64_t)1 << bits)) : (int64_t)x;
  return x <= 0 ? 0 : (int64_t)(uint64_t)x;
}

static k_imm eval_cast(leat_dtype from, leat_dtype to, k_imm x) {
  if (is_float(from)) {
    if (is_float(to)) return k_imm_wrap(to, x);
    return (k_imm){.i = to == LEAT_bool ? x.f != 0 : float_to_int(to, x.f)};
  }
  if (!is_float(to)) return (k_imm){.i = wrap_int(to, x.i)};
  if (to == LEAT_f32) return (k_imm){.f = from == LEAT_u64 ? (float)(uint64_t)x.i : (float)x.i};
  return (k_imm){.f = from == LEAT_u64 ? (double)(uint64_t)x.i : (double)x.i};
}

static k_imm eval_bitcast(leat_dtype from, leat_dtype to, k_imm x) {
  float single = (float)x.f;
  uint32_t word;
  if (from == LEAT_f32) {
    memcpy(&word, &single, sizeof word);
    x.i = (int32_t)word;
  }
  if (to == LEAT_f32) {
    word = (uint32_t)x.i;
    memcpy(&single, &word, sizeof single);
    return (k_imm){.f = single};
  }
  return is_float(to) ? x : (k_imm){.i = wrap_int(to, x.i)}; // an f64 and its bits share the union
}

k_imm k_eval(k_op op, leat_dtype dtype, leat_dtype to, const k_imm *args) {
  if (op == K_SELECT) return args[0].i ? args[1] : args[2];
  if (op == K_CAST) return eval_cast(dtype, to, args[0]);
  if (op == K_BITCAST) return eval_bitcast(dtype, to, args[0]);
  int arity = k_op_arity(op);
  k_imm x = args[0], y = arity > 1 ? args[1] : x, z = arity > 2 ? args[2] : x;
  if (!is_float(dtype)) return (k_imm){.i = wrap_int(to, eval_int(op, dtype, x.i, y.i, z.i))};
  if (to == LEAT_bool) return (k_imm){.i = float_compare(op, x.f, y.f)};
  return (k_imm){.f = eval_float(op, dtype, x.f, y.f, z.f)};
}
