// Kernel instructions as LLVM IR, one for one: vectors are LLVM vectors, bool is i1 in registers
// and a byte in memory, control flow becomes blocks and phis. Loops are emitted rotated (a guard,
// then test at the end), as later passes want them. Nothing here carries a fast-math flag, so a
// value has the bits that kernel/kernel_eval.c says.
#include "targets/cpu/llvm_emit.h"

#include <assert.h>
#include <string.h>

typedef struct emitter {
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMBuilderRef at; // where instructions go
  const leat_kernel *kernel;
  leat_arena *scratch;
  LLVMValueRef function, tile;
  LLVMBasicBlockRef entry;
  LLVMValueRef *values;   // by instr id
  LLVMValueRef **results; // of loops, whiles and ifs, by instr id
  LLVMValueRef *buffers, *scalars, *locals;
} emitter;

// -- Types and constants -------------------------------------------------------------------------

static LLVMTypeRef int_type(emitter *e, unsigned bits) {
  return LLVMIntTypeInContext(e->context, bits);
}

static LLVMTypeRef pointer_type(emitter *e) {
  return LLVMPointerTypeInContext(e->context, 0);
}

static LLVMTypeRef scalar_type(emitter *e, leat_dtype dtype) {
  if (dtype == LEAT_bool) return int_type(e, 1);
  if (dtype == LEAT_f32) return LLVMFloatTypeInContext(e->context);
  if (dtype == LEAT_f64) return LLVMDoubleTypeInContext(e->context);
  return int_type(e, 8 * (unsigned)leat_dtype_size(dtype));
}

static LLVMTypeRef memory_type(emitter *e, leat_dtype dtype) {
  return dtype == LEAT_bool ? int_type(e, 8) : scalar_type(e, dtype);
}

static LLVMTypeRef with_lanes(LLVMTypeRef type, unsigned lanes) {
  return lanes == 1 ? type : LLVMVectorType(type, lanes);
}

static LLVMTypeRef value_type(emitter *e, k_value value) {
  return with_lanes(scalar_type(e, value->dtype), value->lanes);
}

static LLVMValueRef repeat(LLVMValueRef scalar, unsigned lanes) {
  LLVMValueRef all[LEAT_LANES];
  if (lanes == 1) return scalar;
  for (unsigned i = 0; i < lanes; i++) all[i] = scalar;
  return LLVMConstVector(all, lanes);
}

static LLVMValueRef i64_const(emitter *e, int64_t value) {
  return LLVMConstInt(int_type(e, 64), (uint64_t)value, true);
}

static LLVMValueRef constant(emitter *e, k_value value) {
  LLVMTypeRef type = scalar_type(e, value->dtype);
  bool is_float = leat_dtype_kind_of(value->dtype) == LEAT_KIND_FLOAT;
  LLVMValueRef scalar = is_float ? LLVMConstReal(type, value->imm.f)
                                 : LLVMConstInt(type, (uint64_t)value->imm.i, true);
  return repeat(scalar, value->lanes);
}

// The integer n in the type of `like`.
static LLVMValueRef int_like(emitter *e, k_value like, int64_t n) {
  return repeat(LLVMConstInt(scalar_type(e, like->dtype), (uint64_t)n, true), like->lanes);
}

static LLVMValueRef lane_numbers(emitter *e, k_value value) {
  LLVMValueRef all[LEAT_LANES];
  for (unsigned i = 0; i < value->lanes; i++)
    all[i] = LLVMConstInt(scalar_type(e, value->dtype), i, false);
  return value->lanes == 1 ? all[0] : LLVMConstVector(all, value->lanes);
}

static LLVMValueRef get(emitter *e, k_value value) {
  if (value->op == K_CONST) return constant(e, value);
  assert(e->values[value->id]);
  return e->values[value->id];
}

// -- Calls of intrinsics -------------------------------------------------------------------------

static LLVMValueRef call(emitter *e, const char *name, LLVMTypeRef *overloads,
                         unsigned overload_count, LLVMValueRef *args, unsigned count) {
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef callee = LLVMGetIntrinsicDeclaration(e->module, id, overloads, overload_count);
  LLVMTypeRef type = LLVMIntrinsicGetType(e->context, id, overloads, overload_count);
  return LLVMBuildCall2(e->at, type, callee, args, count, "");
}

// An intrinsic that is overloaded by the type of its result alone.
static LLVMValueRef call_on(emitter *e, const char *name, LLVMTypeRef type, LLVMValueRef *args,
                            unsigned count) {
  return call(e, name, &type, 1, args, count);
}

// -- Arithmetic ----------------------------------------------------------------------------------

// Division that is defined for every divisor: 0 and -1 are replaced by 1, and their quotients
// chosen afterwards.
static LLVMValueRef divide(emitter *e, const k_instr *instr, LLVMValueRef x, LLVMValueRef y) {
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

static LLVMValueRef shift(emitter *e, const k_instr *instr, LLVMValueRef x, LLVMValueRef count) {
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

static LLVMValueRef emit_int(emitter *e, const k_instr *instr, LLVMValueRef x, LLVMValueRef y,
                             LLVMValueRef z) {
  bool is_signed = leat_dtype_kind_of(instr->args[0]->dtype) == LEAT_KIND_SIGNED;
  LLVMTypeRef type = value_type(e, instr);
  switch ((int)instr->op) {
  case K_ADD: return LLVMBuildAdd(e->at, x, y, "");
  case K_SUB: return LLVMBuildSub(e->at, x, y, "");
  case K_MUL: return LLVMBuildMul(e->at, x, y, "");
  case K_DIV:
  case K_REM: return divide(e, instr, x, y);
  case K_FMA: return LLVMBuildAdd(e->at, LLVMBuildMul(e->at, x, y, ""), z, "");
  case K_NEG: return LLVMBuildNeg(e->at, x, "");
  case K_ABS: {
    LLVMValueRef args[] = {x, LLVMConstInt(int_type(e, 1), 0, false)};
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

static LLVMValueRef emit_float(emitter *e, const k_instr *instr, LLVMValueRef x, LLVMValueRef y,
                               LLVMValueRef z) {
  LLVMValueRef args[] = {x, y, z};
  LLVMTypeRef type = value_type(e, instr->args[0]);
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

static LLVMValueRef cast_from_float(emitter *e, const k_instr *instr, LLVMValueRef x) {
  LLVMTypeRef to = value_type(e, instr), from = value_type(e, instr->args[0]);
  if (instr->dtype == LEAT_bool)
    return LLVMBuildFCmp(e->at, LLVMRealUNE, x, LLVMConstNull(from), "");
  if (leat_dtype_kind_of(instr->dtype) == LEAT_KIND_FLOAT) return LLVMBuildFPCast(e->at, x, to, "");
  bool is_signed = leat_dtype_kind_of(instr->dtype) == LEAT_KIND_SIGNED;
  LLVMTypeRef types[] = {to, from};
  return call(e, is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat", types, 2, &x, 1);
}

static LLVMValueRef cast(emitter *e, const k_instr *instr, LLVMValueRef x) {
  leat_dtype_kind from = leat_dtype_kind_of(instr->args[0]->dtype);
  if (from == LEAT_KIND_FLOAT) return cast_from_float(e, instr, x);
  LLVMTypeRef to = value_type(e, instr);
  bool is_signed = from == LEAT_KIND_SIGNED;
  if (leat_dtype_kind_of(instr->dtype) == LEAT_KIND_FLOAT)
    return is_signed ? LLVMBuildSIToFP(e->at, x, to, "") : LLVMBuildUIToFP(e->at, x, to, "");
  if (instr->dtype == LEAT_bool)
    return LLVMBuildICmp(e->at, LLVMIntNE, x, LLVMConstNull(LLVMTypeOf(x)), "");
  return LLVMBuildIntCast2(e->at, x, to, is_signed, "");
}

// -- Lanes ---------------------------------------------------------------------------------------

static LLVMValueRef shuffle(emitter *e, LLVMValueRef vector, unsigned first, unsigned step,
                            unsigned lanes) {
  LLVMValueRef picks[LEAT_LANES];
  for (unsigned i = 0; i < lanes; i++)
    picks[i] = LLVMConstInt(int_type(e, 32), first + i * step, false);
  LLVMValueRef none = LLVMGetPoison(LLVMTypeOf(vector));
  return LLVMBuildShuffleVector(e->at, vector, none, LLVMConstVector(picks, lanes), "");
}

static LLVMValueRef extract(emitter *e, LLVMValueRef vector, int64_t lane) {
  return LLVMBuildExtractElement(e->at, vector, i64_const(e, lane), "");
}

static LLVMValueRef half(emitter *e, const k_instr *instr, LLVMValueRef vector) {
  unsigned first = (unsigned)instr->imm.i * instr->lanes;
  return instr->lanes == 1 ? extract(e, vector, first) : shuffle(e, vector, first, 1, instr->lanes);
}

static LLVMValueRef shuffle_two(emitter *e, const k_instr *instr, LLVMValueRef x, LLVMValueRef y) {
  LLVMValueRef picks[LEAT_LANES];
  for (int i = 0; i < instr->lanes; i++)
    picks[i] = LLVMConstInt(int_type(e, 32), (unsigned)k_shuffle_lane(instr, i), false);
  return LLVMBuildShuffleVector(e->at, x, y, LLVMConstVector(picks, instr->lanes), "");
}

static LLVMValueRef splat(emitter *e, const k_instr *instr, LLVMValueRef scalar) {
  LLVMValueRef none = LLVMGetPoison(value_type(e, instr));
  LLVMValueRef first = LLVMBuildInsertElement(e->at, none, scalar, i64_const(e, 0), "");
  return shuffle(e, first, 0, 0, instr->lanes);
}

// -- Memory --------------------------------------------------------------------------------------

static LLVMValueRef base_of(emitter *e, const k_buffer *buffer) {
  return buffer->space == K_SPACE_ARGUMENT ? e->buffers[buffer->number] : e->locals[buffer->number];
}

// An address for an index, or a vector of them.
static LLVMValueRef address(emitter *e, const k_instr *instr) {
  LLVMValueRef index = get(e, instr->args[0]);
  LLVMTypeRef element = memory_type(e, instr->buffer->dtype);
  return LLVMBuildGEP2(e->at, element, base_of(e, instr->buffer), &index, 1, "");
}

static LLVMBasicBlockRef new_block(emitter *e) {
  return LLVMAppendBasicBlockInContext(e->context, e->function, "");
}

static void add_incoming(LLVMValueRef phi, LLVMValueRef value, LLVMBasicBlockRef from) {
  LLVMAddIncoming(phi, &value, &from, 1);
}

// Branches to a new block that runs only where the scalar mask holds; the builder is then in it.
// Returns the block after.
static LLVMBasicBlockRef begin_masked(emitter *e, LLVMValueRef mask) {
  LLVMBasicBlockRef on = new_block(e), after = new_block(e);
  LLVMBuildCondBr(e->at, mask, on, after);
  LLVMPositionBuilderAtEnd(e->at, on);
  return after;
}

static void end_masked(emitter *e, LLVMBasicBlockRef after) {
  LLVMBuildBr(e->at, after);
  LLVMPositionBuilderAtEnd(e->at, after);
}

static LLVMValueRef load_element(emitter *e, LLVMTypeRef type, LLVMValueRef from, unsigned size) {
  LLVMValueRef value = LLVMBuildLoad2(e->at, type, from, "");
  LLVMSetAlignment(value, size);
  return value;
}

static LLVMValueRef load_masked_element(emitter *e, LLVMTypeRef type, LLVMValueRef from,
                                        unsigned size, LLVMValueRef mask) {
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->at), after = begin_masked(e, mask);
  LLVMBasicBlockRef on = LLVMGetInsertBlock(e->at);
  LLVMValueRef loaded = load_element(e, type, from, size);
  end_masked(e, after);
  LLVMValueRef value = LLVMBuildPhi(e->at, type, "");
  add_incoming(value, LLVMConstNull(type), before);
  add_incoming(value, loaded, on);
  return value;
}

static LLVMValueRef load_masked(emitter *e, const char *intrinsic, LLVMTypeRef type,
                                LLVMValueRef from, unsigned size, LLVMValueRef mask) {
  LLVMTypeRef types[] = {type, LLVMTypeOf(from)};
  LLVMValueRef alignment = LLVMConstInt(int_type(e, 32), size, false);
  LLVMValueRef args[] = {from, alignment, mask, LLVMConstNull(type)};
  return call(e, intrinsic, types, 2, args, 4);
}

static LLVMValueRef emit_load(emitter *e, const k_instr *instr) {
  LLVMTypeRef type = with_lanes(memory_type(e, instr->dtype), instr->lanes);
  LLVMValueRef from = address(e, instr), value;
  LLVMValueRef mask = instr->arg_count > 1 ? get(e, instr->args[1]) : NULL;
  unsigned size = (unsigned)leat_dtype_size(instr->dtype);
  if (instr->op == K_GATHER) {
    if (!mask) mask = repeat(LLVMConstInt(int_type(e, 1), 1, false), instr->lanes);
    value = load_masked(e, "llvm.masked.gather", type, from, size, mask);
  } else if (!mask) {
    value = load_element(e, type, from, size);
  } else if (instr->lanes == 1) {
    value = load_masked_element(e, type, from, size, mask);
  } else {
    value = load_masked(e, "llvm.masked.load", type, from, size, mask);
  }
  bool is_bool = instr->dtype == LEAT_bool;
  return is_bool ? LLVMBuildICmp(e->at, LLVMIntNE, value, LLVMConstNull(type), "") : value;
}

static void emit_store(emitter *e, const k_instr *instr) {
  k_value stored = instr->args[1];
  LLVMTypeRef type = with_lanes(memory_type(e, stored->dtype), stored->lanes);
  LLVMValueRef value = get(e, stored), to = address(e, instr);
  unsigned size = (unsigned)leat_dtype_size(stored->dtype);
  if (stored->dtype == LEAT_bool) value = LLVMBuildZExt(e->at, value, type, "");
  LLVMValueRef mask = instr->arg_count > 2 ? get(e, instr->args[2]) : NULL;
  if (mask && stored->lanes > 1) {
    LLVMTypeRef types[] = {type, pointer_type(e)};
    LLVMValueRef args[] = {value, to, LLVMConstInt(int_type(e, 32), size, false), mask};
    call(e, "llvm.masked.store", types, 2, args, 4);
    return;
  }
  LLVMBasicBlockRef after = mask ? begin_masked(e, mask) : NULL;
  LLVMSetAlignment(LLVMBuildStore(e->at, value, to), size);
  if (mask) end_masked(e, after);
}

// -- Control flow --------------------------------------------------------------------------------

static void emit_block(emitter *e, const k_block *block);

static void add_phis(emitter *e, const k_block *block) {
  for (uint32_t i = 0; i < block->phis.count; i++) {
    k_value phi = block->phis.items[i];
    e->values[phi->id] = LLVMBuildPhi(e->at, value_type(e, phi), "");
  }
}

// for: guard → body ⟲ → after. Results merge the initial values (no iteration) and the last yields.
static void emit_loop(emitter *e, const k_instr *loop) {
  const k_block *body = loop->body[0];
  uint32_t carried = loop->arg_count - 3;
  LLVMValueRef low = get(e, loop->args[0]), high = get(e, loop->args[1]),
               step = get(e, loop->args[2]);
  LLVMBasicBlockRef guard = LLVMGetInsertBlock(e->at), inside = new_block(e), after = new_block(e);
  LLVMBuildCondBr(e->at, LLVMBuildICmp(e->at, LLVMIntSLT, low, high, ""), inside, after);
  LLVMPositionBuilderAtEnd(e->at, inside);
  add_phis(e, body);
  emit_block(e, body);
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->at);
  LLVMValueRef index = e->values[body->phis.items[0]->id];
  LLVMValueRef next = LLVMBuildNSWAdd(e->at, index, step, "");
  LLVMBuildCondBr(e->at, LLVMBuildICmp(e->at, LLVMIntSLT, next, high, ""), inside, after);
  add_incoming(index, low, guard);
  add_incoming(index, next, latch);
  LLVMPositionBuilderAtEnd(e->at, after);
  LLVMValueRef *results = leat_new_array(e->scratch, LLVMValueRef, carried);
  for (uint32_t i = 0; i < carried; i++) {
    LLVMValueRef phi = e->values[body->phis.items[i + 1]->id];
    LLVMValueRef first = get(e, loop->args[i + 3]), last = get(e, body->yields.items[i]);
    add_incoming(phi, first, guard);
    add_incoming(phi, last, latch);
    results[i] = LLVMBuildPhi(e->at, LLVMTypeOf(phi), "");
    add_incoming(results[i], first, guard);
    add_incoming(results[i], last, latch);
  }
  e->results[loop->id] = results;
}

static void emit_while(emitter *e, const k_instr *loop) {
  const k_block *test = loop->body[0], *body = loop->body[1];
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->at);
  LLVMBasicBlockRef head = new_block(e), inside = new_block(e), after = new_block(e);
  LLVMBuildBr(e->at, head);
  LLVMPositionBuilderAtEnd(e->at, head);
  add_phis(e, test);
  emit_block(e, test);
  LLVMBuildCondBr(e->at, get(e, test->condition), inside, after);
  LLVMPositionBuilderAtEnd(e->at, inside);
  emit_block(e, body);
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->at);
  LLVMBuildBr(e->at, head);
  LLVMValueRef *results = leat_new_array(e->scratch, LLVMValueRef, loop->arg_count);
  for (uint32_t i = 0; i < loop->arg_count; i++) {
    results[i] = e->values[test->phis.items[i]->id];
    add_incoming(results[i], get(e, loop->args[i]), before);
    add_incoming(results[i], get(e, body->yields.items[i]), latch);
  }
  e->results[loop->id] = results;
  LLVMPositionBuilderAtEnd(e->at, after);
}

static void emit_if(emitter *e, const k_instr *branch) {
  LLVMBasicBlockRef sides[2], ends[2], after = new_block(e);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->at);
  for (int i = 0; i < 2; i++) sides[i] = branch->body[i] ? new_block(e) : after;
  LLVMBuildCondBr(e->at, get(e, branch->args[0]), sides[0], sides[1]);
  for (int i = 0; i < 2; i++) {
    ends[i] = before;
    if (!branch->body[i]) continue;
    LLVMPositionBuilderAtEnd(e->at, sides[i]);
    emit_block(e, branch->body[i]);
    ends[i] = LLVMGetInsertBlock(e->at);
    LLVMBuildBr(e->at, after);
  }
  LLVMPositionBuilderAtEnd(e->at, after);
  uint32_t count = branch->body[0]->yields.count;
  LLVMValueRef *results = leat_new_array(e->scratch, LLVMValueRef, count);
  for (uint32_t i = 0; i < count; i++) {
    results[i] = LLVMBuildPhi(e->at, value_type(e, branch->body[0]->yields.items[i]), "");
    for (int j = 0; j < 2; j++)
      add_incoming(results[i], get(e, branch->body[j]->yields.items[i]), ends[j]);
  }
  e->results[branch->id] = results;
}

static void emit_fail(emitter *e, const k_instr *fail) {
  LLVMBasicBlockRef failed = new_block(e), after = new_block(e);
  LLVMBuildCondBr(e->at, get(e, fail->args[0]), failed, after);
  LLVMPositionBuilderAtEnd(e->at, failed);
  uint64_t code = (uint64_t)fail->imm.i << 8 | (uint64_t)fail->imm2;
  LLVMBuildRet(e->at, LLVMConstInt(int_type(e, 32), code, false));
  LLVMPositionBuilderAtEnd(e->at, after);
}

// -- Instructions --------------------------------------------------------------------------------

static LLVMValueRef emit_value(emitter *e, const k_instr *instr) {
  LLVMValueRef x = instr->arg_count > 0 && instr->args[0]->lanes ? get(e, instr->args[0]) : NULL;
  LLVMValueRef y = instr->arg_count > 1 ? get(e, instr->args[1]) : NULL;
  LLVMValueRef z = instr->arg_count > 2 ? get(e, instr->args[2]) : NULL;
  switch ((int)instr->op) {
  case K_SCALAR: return e->scalars[instr->imm.i];
  case K_TILE: return e->tile;
  case K_RESULT: return e->results[instr->args[0]->id][instr->imm.i];
  case K_SELECT: return LLVMBuildSelect(e->at, x, y, z, "");
  case K_CAST: return cast(e, instr, x);
  case K_BITCAST: return LLVMBuildBitCast(e->at, x, value_type(e, instr), "");
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

// A local array lives in the entry block, so that a loop around it does not grow the stack.
static LLVMValueRef stack_array(emitter *e, LLVMTypeRef element, int64_t count) {
  LLVMBuilderRef at = LLVMCreateBuilderInContext(e->context);
  LLVMValueRef first = LLVMGetFirstInstruction(e->entry);
  if (first)
    LLVMPositionBuilderBefore(at, first);
  else
    LLVMPositionBuilderAtEnd(at, e->entry);
  LLVMValueRef array = LLVMBuildAlloca(at, LLVMArrayType2(element, (uint64_t)count), "");
  LLVMSetAlignment(array, 64);
  LLVMDisposeBuilder(at);
  return array;
}

static void emit_instr(emitter *e, const k_instr *instr) {
  switch ((int)instr->op) {
  case K_CONST:
  case K_BARRIER: break; // one thread runs a tile
  case K_LOCAL:
    e->locals[instr->buffer->number] =
        stack_array(e, memory_type(e, instr->buffer->dtype), instr->buffer->count);
    break;
  case K_LOOP: emit_loop(e, instr); break;
  case K_WHILE: emit_while(e, instr); break;
  case K_IF: emit_if(e, instr); break;
  case K_FAIL_IF: emit_fail(e, instr); break;
  case K_STORE: emit_store(e, instr); break;
  case K_LOAD:
  case K_GATHER: e->values[instr->id] = emit_load(e, instr); break;
  default: e->values[instr->id] = emit_value(e, instr);
  }
}

static void emit_block(emitter *e, const k_block *block) {
  for (uint32_t i = 0; i < block->instrs.count; i++) emit_instr(e, block->instrs.items[i]);
}

// -- The function --------------------------------------------------------------------------------

static void add_attribute(emitter *e, LLVMAttributeIndex where, const char *name) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(e->function, where, LLVMCreateEnumAttribute(e->context, kind, 0));
}

static void declare(emitter *e, const char *symbol) {
  LLVMTypeRef i64 = int_type(e, 64), pointer = pointer_type(e);
  LLVMTypeRef types[] = {pointer, pointer, i64, i64};
  LLVMTypeRef type = LLVMFunctionType(int_type(e, 32), types, 4, false);
  e->function = LLVMAddFunction(e->module, symbol, type);
  e->entry = new_block(e);
  add_attribute(e, LLVMAttributeFunctionIndex, "nounwind");
  const char *args_are[] = {"noalias", "readonly", "nonnull"};
  for (int i = 0; i < 3; i++) add_attribute(e, 2, args_are[i]); // args: the second parameter
  LLVMAddTargetDependentFunctionAttr(e->function, "prefer-vector-width", "512");
}

// Element i of the argument array.
static LLVMValueRef load_argument(emitter *e, LLVMTypeRef type, uint32_t i) {
  LLVMValueRef index = i64_const(e, i), array = LLVMGetParam(e->function, 1);
  LLVMValueRef at = LLVMBuildGEP2(e->at, int_type(e, 64), array, &index, 1, "");
  return LLVMBuildLoad2(e->at, type, at, "");
}

static void load_arguments(emitter *e) {
  const leat_kernel *k = e->kernel;
  for (uint32_t i = 0; i < k->buffer_count; i++)
    e->buffers[i] = load_argument(e, pointer_type(e), i);
  for (uint32_t i = 0; i < k->scalar_count; i++)
    e->scalars[i] = load_argument(e, int_type(e, 64), k->buffer_count + i);
}

// The loop over tiles, rotated as other loops are.
static void emit_tiles(emitter *e) {
  LLVMValueRef begin = LLVMGetParam(e->function, 2), end = LLVMGetParam(e->function, 3);
  LLVMBasicBlockRef body = new_block(e), done = new_block(e);
  LLVMBuildCondBr(e->at, LLVMBuildICmp(e->at, LLVMIntSLT, begin, end, ""), body, done);
  LLVMPositionBuilderAtEnd(e->at, body);
  e->tile = LLVMBuildPhi(e->at, int_type(e, 64), "");
  emit_block(e, &e->kernel->body);
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->at);
  LLVMValueRef next = LLVMBuildNSWAdd(e->at, e->tile, i64_const(e, 1), "");
  LLVMBuildCondBr(e->at, LLVMBuildICmp(e->at, LLVMIntSLT, next, end, ""), body, done);
  add_incoming(e->tile, begin, e->entry);
  add_incoming(e->tile, next, latch);
  LLVMPositionBuilderAtEnd(e->at, done);
  LLVMBuildRet(e->at, LLVMConstInt(int_type(e, 32), 0, false));
}

LLVMValueRef leat_llvm_emit(LLVMModuleRef module, const leat_kernel *kernel, const char *symbol) {
  leat_arena *scratch = leat_arena_create();
  emitter e = {.module = module, .kernel = kernel, .scratch = scratch};
  e.context = LLVMGetModuleContext(module);
  e.at = LLVMCreateBuilderInContext(e.context);
  e.values = leat_new_array(scratch, LLVMValueRef, kernel->instr_count);
  e.results = leat_new_array(scratch, LLVMValueRef *, kernel->instr_count);
  e.buffers = leat_new_array(scratch, LLVMValueRef, kernel->buffer_count);
  e.scalars = leat_new_array(scratch, LLVMValueRef, kernel->scalar_count);
  e.locals = leat_new_array(scratch, LLVMValueRef, kernel->local_count);
  declare(&e, symbol);
  LLVMPositionBuilderAtEnd(e.at, e.entry);
  load_arguments(&e);
  emit_tiles(&e);
  LLVMDisposeBuilder(e.at);
  leat_arena_destroy(scratch);
  return e.function;
}
