// The values of kernel instructions as LLVM IR, one for one: vectors are LLVM vectors, bool is i1
// in registers and a byte in memory. Nothing here carries a fast-math flag, so a value has the bits
// that kernel/kernel_eval.c says.
#include "targets/cpu/llvm_emitter.h"

#include <assert.h>
#include <string.h>

// -- Types and constants -------------------------------------------------------------------------

LLVMTypeRef ll_int_type(ll_emitter *e, unsigned bits) {
  return LLVMIntTypeInContext(e->context, bits);
}

LLVMTypeRef ll_pointer_type(ll_emitter *e) {
  return LLVMPointerTypeInContext(e->context, 0);
}

static LLVMTypeRef scalar_type(ll_emitter *e, leat_dtype dtype) {
  if (dtype == LEAT_bool) return ll_int_type(e, 1);
  if (dtype == LEAT_f32) return LLVMFloatTypeInContext(e->context);
  if (dtype == LEAT_f64) return LLVMDoubleTypeInContext(e->context);
  return ll_int_type(e, 8 * (unsigned)leat_dtype_size(dtype));
}

LLVMTypeRef ll_memory_type(ll_emitter *e, leat_dtype dtype) {
  return dtype == LEAT_bool ? ll_int_type(e, 8) : scalar_type(e, dtype);
}

LLVMTypeRef ll_with_lanes(LLVMTypeRef type, unsigned lanes) {
  return lanes == 1 ? type : LLVMVectorType(type, lanes);
}

LLVMTypeRef ll_value_type(ll_emitter *e, k_value value) {
  return ll_with_lanes(scalar_type(e, value->dtype), value->lanes);
}

LLVMValueRef ll_repeat(LLVMValueRef scalar, unsigned lanes) {
  LLVMValueRef all[LEAT_LANES];
  if (lanes == 1) return scalar;
  for (unsigned i = 0; i < lanes; i++) all[i] = scalar;
  return LLVMConstVector(all, lanes);
}

LLVMValueRef ll_i64_const(ll_emitter *e, int64_t value) {
  return LLVMConstInt(ll_int_type(e, 64), (uint64_t)value, true);
}

static LLVMValueRef constant(ll_emitter *e, k_value value) {
  LLVMTypeRef type = scalar_type(e, value->dtype);
  bool is_float = leat_dtype_kind_of(value->dtype) == LEAT_KIND_FLOAT;
  LLVMValueRef scalar = is_float ? LLVMConstReal(type, value->imm.f)
                                 : LLVMConstInt(type, (uint64_t)value->imm.i, true);
  return ll_repeat(scalar, value->lanes);
}

// The integer n in the type of `like`.
static LLVMValueRef int_like(ll_emitter *e, k_value like, int64_t n) {
  return ll_repeat(LLVMConstInt(scalar_type(e, like->dtype), (uint64_t)n, true), like->lanes);
}

static LLVMValueRef lane_numbers(ll_emitter *e, k_value value) {
  LLVMValueRef all[LEAT_LANES];
  for (unsigned i = 0; i < value->lanes; i++)
    all[i] = LLVMConstInt(scalar_type(e, value->dtype), i, false);
  return value->lanes == 1 ? all[0] : LLVMConstVector(all, value->lanes);
}

LLVMValueRef ll_get(ll_emitter *e, k_value value) {
  if (value->op == K_CONST) return constant(e, value);
  assert(e->values[value->id]);
  return e->values[value->id];
}

// -- Calls of intrinsics -------------------------------------------------------------------------

LLVMValueRef ll_call(ll_emitter *e, const char *name, LLVMTypeRef *overloads,
                     unsigned overload_count, LLVMValueRef *args, unsigned count) {
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef callee = LLVMGetIntrinsicDeclaration(e->module, id, overloads, overload_count);
  LLVMTypeRef type = LLVMIntrinsicGetType(e->context, id, overloads, overload_count);
  return LLVMBuildCall2(e->at, type, callee, args, count, "");
}

// An intrinsic that is overloaded by the type of its result alone.
static LLVMValueRef call_on(ll_emitter *e, const char *name, LLVMTypeRef type, LLVMValueRef *args,
                            unsigned count) {
  return ll_call(e, name, &type, 1, args, count);
}

// -- Arithmetic ----------------------------------------------------------------------------------

// Division that is defined for every divisor: 0 and -1 are replaced by 1, and their quotients
// chosen afterwards.
static LLVMValueRef divide(ll_emitter *e, const k_instr *instr, LLVMValueRef x, LLVMValueRef y) {
  bool is_signed = leat_dtype_kind_of(instr->dtype) == LEAT_KIND_SIGNED;
  LLVMValueRef zero = int_like(e, instr, 0), one = int_like(e, instr, 1);
  LLVMValueRef by_zero = LLVMBuildICmp(e->at, LLVMIntEQ, y, zero, ""), by_minus = NULL;
  LLVMValueRef special = by_zero;
  if (is_signed) {
    by_minus = LLVMBuildICmp(e->at, LLVMIntEQ, y, int_like(e, instr, -1), "");
    special = LLVMBuildOr(e->at, by_zero, by_minus, "");
  }
  LLVMValueRef divisor = LLVMBuildSelect(e->at, special, one, y, "");
  if (instr->op == K_REM) {
    LLVMValueRef rest =
        is_signed ? LLVMBuildSRem(e->at, x, divisor, "") : LLVMBuildURem(e->at, x, divisor, "");
    return rest; // of a division by 1: 0
  }
  LLVMValueRef quotient =
      is_signed ? LLVMBuildSDiv(e->at, x, divisor, "") : LLVMBuildUDiv(e->at, x, divisor, "");
  if (is_signed)
    quotient = LLVMBuildSelect(e->at, by_minus, LLVMBuildNeg(e->at, x, ""), quotient, "");
  return LLVMBuildSelect(e->at, by_zero, zero, quotient, "");
}

static LLVMValueRef shift(ll_emitter *e, const k_instr *instr, LLVMValueRef x, LLVMValueRef count) {
  int64_t bits = 8 * (int64_t)leat_dtype_size(instr->dtype);
  LLVMValueRef inside = LLVMBuildICmp(e->at, LLVMIntULT, count, int_like(e, instr, bits), "");
  bool is_signed = leat_dtype_kind_of(instr->dtype) == LEAT_KIND_SIGNED;
  if (instr->op == K_SHR && is_signed) {
    count = LLVMBuildSelect(e->at, inside, count, int_like(e, instr, bits - 1), "");
    return LLVMBuildAShr(e->at, x, count, "");
  }
  LLVMValueRef shifted =
      instr->op == K_SHL ? LLVMBuildShl(e->at, x, count, "") : LLVMBuildLShr(e->at, x, count, "");
  return LLVMBuildSelect(e->at, inside, shifted, int_like(e, instr, 0), "");
}

static LLVMValueRef emit_int(ll_emitter *e, const k_instr *instr, LLVMValueRef x, LLVMValueRef y,
                             LLVMValueRef z) {
  bool is_signed = leat_dtype_kind_of(instr->args[0]->dtype) == LEAT_KIND_SIGNED;
  LLVMTypeRef type = ll_value_type(e, instr);
  switch ((int)instr->op) {
  case K_ADD: return LLVMBuildAdd(e->at, x, y, "");
  case K_SUB: return LLVMBuildSub(e->at, x, y, "");
  case K_MUL: return LLVMBuildMul(e->at, x, y, "");
  case K_DIV:
  case K_REM: return divide(e, instr, x, y);
  case K_FMA: return LLVMBuildAdd(e->at, LLVMBuildMul(e->at, x, y, ""), z, "");
  case K_NEG: return LLVMBuildNeg(e->at, x, "");
  case K_ABS: {
    LLVMValueRef args[] = {x, LLVMConstInt(ll_int_type(e, 1), 0, false)};
    return is_signed ? call_on(e, "llvm.abs", type, args, 2) : x;
  }
  case K_MIN:
    return call_on(e, is_signed ? "llvm.smin" : "llvm.umin", type, (LLVMValueRef[]){x, y}, 2);
  case K_MAX:
    return call_on(e, is_signed ? "llvm.smax" : "llvm.umax", type, (LLVMValueRef[]){x, y}, 2);
  case K_EQ: return LLVMBuildICmp(e->at, LLVMIntEQ, x, y, "");
  case K_NE: return LLVMBuildICmp(e->at, LLVMIntNE, x, y, "");
  case K_LT: return LLVMBuildICmp(e->at, is_signed ? LLVMIntSLT : LLVMIntULT, x, y, "");
  case K_LE: return LLVMBuildICmp(e->at, is_signed ? LLVMIntSLE : LLVMIntULE, x, y, "");
  case K_AND: return LLVMBuildAnd(e->at, x, y, "");
  case K_OR: return LLVMBuildOr(e->at, x, y, "");
  case K_XOR: return LLVMBuildXor(e->at, x, y, "");
  case K_NOT: return LLVMBuildNot(e->at, x, "");
  default: return shift(e, instr, x, y);
  }
}

static LLVMValueRef emit_float(ll_emitter *e, const k_instr *instr, LLVMValueRef x, LLVMValueRef y,
                               LLVMValueRef z) {
  LLVMValueRef args[] = {x, y, z};
  LLVMTypeRef type = ll_value_type(e, instr->args[0]);
  switch ((int)instr->op) {
  case K_ADD: return LLVMBuildFAdd(e->at, x, y, "");
  case K_SUB: return LLVMBuildFSub(e->at, x, y, "");
  case K_MUL: return LLVMBuildFMul(e->at, x, y, "");
  case K_DIV: return LLVMBuildFDiv(e->at, x, y, "");
  case K_FMA: return call_on(e, "llvm.fma", type, args, 3);
  case K_NEG: return LLVMBuildFNeg(e->at, x, "");
  case K_ABS: return call_on(e, "llvm.fabs", type, args, 1);
  case K_MIN: return call_on(e, "llvm.minimum", type, args, 2);
  case K_MAX: return call_on(e, "llvm.maximum", type, args, 2);
  case K_SQRT: return call_on(e, "llvm.sqrt", type, args, 1);
  case K_FLOOR: return call_on(e, "llvm.floor", type, args, 1);
  case K_ROUND: return call_on(e, "llvm.roundeven", type, args, 1);
  case K_EQ: return LLVMBuildFCmp(e->at, LLVMRealOEQ, x, y, "");
  case K_NE: return LLVMBuildFCmp(e->at, LLVMRealUNE, x, y, "");
  case K_LT: return LLVMBuildFCmp(e->at, LLVMRealOLT, x, y, "");
  default: assert(instr->op == K_LE); return LLVMBuildFCmp(e->at, LLVMRealOLE, x, y, "");
  }
}

static LLVMValueRef cast_from_float(ll_emitter *e, const k_instr *instr, LLVMValueRef x) {
  LLVMTypeRef to = ll_value_type(e, instr), from = ll_value_type(e, instr->args[0]);
  if (instr->dtype == LEAT_bool)
    return LLVMBuildFCmp(e->at, LLVMRealUNE, x, LLVMConstNull(from), "");
  if (leat_dtype_kind_of(instr->dtype) == LEAT_KIND_FLOAT) return LLVMBuildFPCast(e->at, x, to, "");
  bool is_signed = leat_dtype_kind_of(instr->dtype) == LEAT_KIND_SIGNED;
  LLVMTypeRef types[] = {to, from};
  return ll_call(e, is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat", types, 2, &x, 1);
}

static LLVMValueRef cast(ll_emitter *e, const k_instr *instr, LLVMValueRef x) {
  leat_dtype_kind from = leat_dtype_kind_of(instr->args[0]->dtype);
  if (from == LEAT_KIND_FLOAT) return cast_from_float(e, instr, x);
  LLVMTypeRef to = ll_value_type(e, instr);
  bool is_signed = from == LEAT_KIND_SIGNED;
  if (leat_dtype_kind_of(instr->dtype) == LEAT_KIND_FLOAT)
    return is_signed ? LLVMBuildSIToFP(e->at, x, to, "") : LLVMBuildUIToFP(e->at, x, to, "");
  if (instr->dtype == LEAT_bool)
    return LLVMBuildICmp(e->at, LLVMIntNE, x, LLVMConstNull(LLVMTypeOf(x)), "");
  return LLVMBuildIntCast2(e->at, x, to, is_signed, "");
}

// -- Lanes ---------------------------------------------------------------------------------------

LLVMValueRef ll_shuffle(ll_emitter *e, LLVMValueRef vector, unsigned first, unsigned step,
                        unsigned lanes) {
  LLVMValueRef picks[LEAT_LANES];
  for (unsigned i = 0; i < lanes; i++)
    picks[i] = LLVMConstInt(ll_int_type(e, 32), first + i * step, false);
  LLVMValueRef none = LLVMGetPoison(LLVMTypeOf(vector));
  return LLVMBuildShuffleVector(e->at, vector, none, LLVMConstVector(picks, lanes), "");
}

static LLVMValueRef extract(ll_emitter *e, LLVMValueRef vector, int64_t lane) {
  return LLVMBuildExtractElement(e->at, vector, ll_i64_const(e, lane), "");
}

static LLVMValueRef half(ll_emitter *e, const k_instr *instr, LLVMValueRef vector) {
  unsigned first = (unsigned)instr->imm.i * instr->lanes;
  return instr->lanes == 1 ? extract(e, vector, first)
                           : ll_shuffle(e, vector, first, 1, instr->lanes);
}

static LLVMValueRef shuffle_two(ll_emitter *e, const k_instr *instr, LLVMValueRef x,
                                LLVMValueRef y) {
  LLVMValueRef picks[LEAT_LANES];
  for (int i = 0; i < instr->lanes; i++)
    picks[i] = LLVMConstInt(ll_int_type(e, 32), (unsigned)k_shuffle_lane(instr, i), false);
  return LLVMBuildShuffleVector(e->at, x, y, LLVMConstVector(picks, instr->lanes), "");
}

static LLVMValueRef splat(ll_emitter *e, const k_instr *instr, LLVMValueRef scalar) {
  LLVMValueRef none = LLVMGetPoison(ll_value_type(e, instr));
  LLVMValueRef first = LLVMBuildInsertElement(e->at, none, scalar, ll_i64_const(e, 0), "");
  return ll_shuffle(e, first, 0, 0, instr->lanes);
}

// -- All of them ---------------------------------------------------------------------------------

LLVMValueRef ll_value(ll_emitter *e, const k_instr *instr) {
  LLVMValueRef x = instr->arg_count > 0 && instr->args[0]->lanes ? ll_get(e, instr->args[0]) : NULL;
  LLVMValueRef y = instr->arg_count > 1 ? ll_get(e, instr->args[1]) : NULL;
  LLVMValueRef z = instr->arg_count > 2 ? ll_get(e, instr->args[2]) : NULL;
  switch ((int)instr->op) {
  case K_SCALAR: return e->scalars[instr->imm.i];
  case K_TILE: return e->tile;
  case K_RESULT: return e->results[instr->args[0]->id][instr->imm.i];
  case K_SELECT: return LLVMBuildSelect(e->at, x, y, z, "");
  case K_CAST: return cast(e, instr, x);
  case K_BITCAST: return LLVMBuildBitCast(e->at, x, ll_value_type(e, instr), "");
  case K_SPLAT: return splat(e, instr, x);
  case K_LANE: return lane_numbers(e, instr);
  case K_HALF: return half(e, instr, x);
  case K_ZIP:
  case K_UNZIP: return shuffle_two(e, instr, x, y);
  case K_EXTRACT: return extract(e, x, instr->imm.i);
  case K_ANY:
    return instr->args[0]->lanes == 1 ? x
                                      : call_on(e, "llvm.vector.reduce.or", LLVMTypeOf(x), &x, 1);
  }
  bool is_float = leat_dtype_kind_of(instr->args[0]->dtype) == LEAT_KIND_FLOAT;
  return is_float ? emit_float(e, instr, x, y, z) : emit_int(e, instr, x, y, z);
}
