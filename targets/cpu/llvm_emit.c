// Kernels as LLVM functions: memory, control flow and the loop over tiles. Control flow becomes
// blocks and phis; loops are emitted rotated (a guard, then test at the end), as later passes want
// them.
#include "targets/cpu/llvm_emit.h"

#include "leat/artifact.h"
#include "targets/cpu/llvm_emitter.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

// -- Memory --------------------------------------------------------------------------------------

static LLVMValueRef base_of(ll_emitter *e, const k_buffer *buffer) {
  return buffer->space == K_SPACE_ARGUMENT ? e->buffers[buffer->number] : e->locals[buffer->number];
}

// An address for an index, or a vector of them.
static LLVMValueRef address(ll_emitter *e, const k_instr *instr) {
  LLVMValueRef index = ll_get(e, instr->args[0]);
  LLVMTypeRef element = ll_memory_type(e, instr->buffer->dtype);
  return LLVMBuildGEP2(e->at, element, base_of(e, instr->buffer), &index, 1, "");
}

// Where no lane holds, the buffer's beginning: processors take hundreds of cycles for what is
// masked where no page is, as it may be a row before the buffer.
static LLVMValueRef masked_address(ll_emitter *e, const k_instr *instr, LLVMValueRef mask) {
  unsigned lanes = LLVMGetVectorSize(LLVMTypeOf(mask));
  LLVMTypeRef bits = ll_int_type(e, lanes);
  LLVMValueRef all = LLVMBuildBitCast(e->at, mask, bits, "");
  LLVMValueRef any = LLVMBuildICmp(e->at, LLVMIntNE, all, LLVMConstNull(bits), "");
  return LLVMBuildSelect(e->at, any, address(e, instr), base_of(e, instr->buffer), "");
}

static LLVMBasicBlockRef new_block(ll_emitter *e) {
  return LLVMAppendBasicBlockInContext(e->context, e->function, "");
}

static void add_incoming(LLVMValueRef phi, LLVMValueRef value, LLVMBasicBlockRef from) {
  LLVMAddIncoming(phi, &value, &from, 1);
}

// Branches to a new block that runs only where the scalar mask holds; the builder is then in it.
// Returns the block after.
static LLVMBasicBlockRef begin_masked(ll_emitter *e, LLVMValueRef mask) {
  LLVMBasicBlockRef on = new_block(e), after = new_block(e);
  LLVMBuildCondBr(e->at, mask, on, after);
  LLVMPositionBuilderAtEnd(e->at, on);
  return after;
}

static void end_masked(ll_emitter *e, LLVMBasicBlockRef after) {
  LLVMBuildBr(e->at, after);
  LLVMPositionBuilderAtEnd(e->at, after);
}

static LLVMValueRef load_element(ll_emitter *e, LLVMTypeRef type, LLVMValueRef from,
                                 unsigned size) {
  LLVMValueRef value = LLVMBuildLoad2(e->at, type, from, "");
  LLVMSetAlignment(value, size);
  return value;
}

static LLVMValueRef load_masked_element(ll_emitter *e, LLVMTypeRef type, LLVMValueRef from,
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

static LLVMValueRef load_masked(ll_emitter *e, const char *intrinsic, LLVMTypeRef type,
                                LLVMValueRef from, unsigned size, LLVMValueRef mask) {
  LLVMTypeRef types[] = {type, LLVMTypeOf(from)};
  LLVMValueRef alignment = LLVMConstInt(ll_int_type(e, 32), size, false);
  LLVMValueRef args[] = {from, alignment, mask, LLVMConstNull(type)};
  return ll_call(e, intrinsic, types, 2, args, 4);
}

// A register at a time. Of more than one LLVM 19 has loaded, for AVX2, those whole of which it knew
// that no lane holds, whatever lies there, if others have the same mask.
static LLVMValueRef load_masked_vector(ll_emitter *e, LLVMTypeRef element, LLVMValueRef from,
                                       unsigned size, LLVMValueRef mask) {
  unsigned lanes = LLVMGetVectorSize(LLVMTypeOf(mask)), half = lanes / 2;
  unsigned most = (unsigned)e->target->vector_bytes / size;
  if (!most || lanes <= most)
    return load_masked(e, "llvm.masked.load", LLVMVectorType(element, lanes), from, size, mask);
  LLVMValueRef parts[2], picks[LEAT_LANES];
  for (unsigned i = 0; i < 2; i++) {
    LLVMValueRef first = ll_i64_const(e, i * half);
    LLVMValueRef at = LLVMBuildGEP2(e->at, element, from, &first, 1, "");
    parts[i] = load_masked_vector(e, element, at, size, ll_shuffle(e, mask, i * half, 1, half));
  }
  for (unsigned i = 0; i < lanes; i++) picks[i] = LLVMConstInt(ll_int_type(e, 32), i, false);
  return LLVMBuildShuffleVector(e->at, parts[0], parts[1], LLVMConstVector(picks, lanes), "");
}

static LLVMValueRef emit_load(ll_emitter *e, const k_instr *instr) {
  LLVMTypeRef type = ll_with_lanes(ll_memory_type(e, instr->dtype), instr->lanes);
  LLVMValueRef from = address(e, instr), value;
  LLVMValueRef mask = instr->arg_count > 1 ? ll_get(e, instr->args[1]) : NULL;
  unsigned size = (unsigned)leat_dtype_size(instr->dtype);
  if (instr->op == K_GATHER) {
    if (!mask) mask = ll_repeat(LLVMConstInt(ll_int_type(e, 1), 1, false), instr->lanes);
    value = load_masked(e, "llvm.masked.gather", type, from, size, mask);
  } else if (!mask) {
    value = load_element(e, type, from, size);
  } else if (instr->lanes == 1) {
    value = load_masked_element(e, type, from, size, mask);
  } else {
    from = masked_address(e, instr, mask);
    value = load_masked_vector(e, ll_memory_type(e, instr->dtype), from, size, mask);
  }
  bool is_bool = instr->dtype == LEAT_bool;
  return is_bool ? LLVMBuildICmp(e->at, LLVMIntNE, value, LLVMConstNull(type), "") : value;
}

// Whether the store fills whole lines of a cache that need not be there.
static bool fills_lines(const ll_emitter *e, const k_instr *store) {
  int64_t size = (int64_t)leat_dtype_size(store->args[1]->dtype);
  return store->buffer->streamed && size * store->args[1]->lanes % e->target->line == 0 &&
         size * k_multiple(store->args[0]) % e->target->line == 0;
}

// Past the caches, so that the line is not read before it is written.
static void stream(ll_emitter *e, LLVMValueRef store) {
  LLVMMetadataRef one = LLVMValueAsMetadata(LLVMConstInt(ll_int_type(e, 32), 1, false));
  LLVMMetadataRef node = LLVMMDNodeInContext2(e->context, &one, 1);
  unsigned kind = LLVMGetMDKindIDInContext(e->context, "nontemporal", strlen("nontemporal"));
  LLVMSetMetadata(store, kind, LLVMMetadataAsValue(e->context, node));
  LLVMSetAlignment(store, (unsigned)e->target->line);
}

// How many lanes from the first on the mask keeps; -1: that is not known here.
static int kept_lanes(const k_instr *mask) {
  if (mask->op != K_LT || mask->args[0]->op != K_LANE || mask->args[1]->op != K_CONST) return -1;
  int64_t kept = mask->args[1]->imm.i;
  return kept < 0 ? 0 : kept < mask->lanes ? (int)kept : mask->lanes;
}

// The first lanes, as few vectors: processors without registers for masks may take ten times as
// long for a store with one.
static void store_first(ll_emitter *e, LLVMValueRef value, LLVMValueRef to, unsigned size,
                        unsigned lanes) {
  LLVMTypeRef element = LLVMGetElementType(LLVMTypeOf(value));
  for (unsigned first = 0, count; first < lanes; first += count) {
    for (count = LEAT_LANES; count > lanes - first;) count /= 2;
    LLVMValueRef at = ll_i64_const(e, first);
    LLVMValueRef part = ll_shuffle(e, value, first, 1, count);
    LLVMValueRef place = LLVMBuildGEP2(e->at, element, to, &at, 1, "");
    LLVMSetAlignment(LLVMBuildStore(e->at, part, place), size);
  }
}

static void emit_store(ll_emitter *e, const k_instr *instr) {
  k_value stored = instr->args[1];
  LLVMTypeRef type = ll_with_lanes(ll_memory_type(e, stored->dtype), stored->lanes);
  LLVMValueRef value = ll_get(e, stored), to = address(e, instr);
  unsigned size = (unsigned)leat_dtype_size(stored->dtype);
  if (stored->dtype == LEAT_bool) value = LLVMBuildZExt(e->at, value, type, "");
  LLVMValueRef mask = instr->arg_count > 2 ? ll_get(e, instr->args[2]) : NULL;
  if (mask && stored->lanes > 1 && !e->target->masks && kept_lanes(instr->args[2]) >= 0) {
    store_first(e, value, to, size, (unsigned)kept_lanes(instr->args[2]));
    return;
  }
  if (mask && stored->lanes > 1) {
    LLVMTypeRef types[] = {type, ll_pointer_type(e)};
    to = masked_address(e, instr, mask);
    LLVMValueRef args[] = {value, to, LLVMConstInt(ll_int_type(e, 32), size, false), mask};
    ll_call(e, "llvm.masked.store", types, 2, args, 4);
    return;
  }
  LLVMBasicBlockRef after = mask ? begin_masked(e, mask) : NULL;
  LLVMValueRef store = LLVMBuildStore(e->at, value, to);
  LLVMSetAlignment(store, size);
  if (!mask && fills_lines(e, instr)) stream(e, store);
  if (mask) end_masked(e, after);
}

static void emit_prefetch(ll_emitter *e, const k_instr *instr) {
  LLVMTypeRef number = ll_int_type(e, 32), types[] = {ll_pointer_type(e)};
  LLVMValueRef everywhere = LLVMConstInt(number, 3, false), data = LLVMConstInt(number, 1, false);
  LLVMValueRef args[] = {address(e, instr), LLVMConstNull(number), everywhere, data}; // to read
  ll_call(e, "llvm.prefetch", types, 1, args, 4);
}

// -- Control flow --------------------------------------------------------------------------------

static void emit_block(ll_emitter *e, const k_block *block);

static void add_phis(ll_emitter *e, const k_block *block) {
  for (uint32_t i = 0; i < block->phis.count; i++) {
    k_value phi = block->phis.items[i];
    e->values[phi->id] = LLVMBuildPhi(e->at, ll_value_type(e, phi), "");
  }
}

// for: guard → body ⟲ → after. Results merge the initial values (no iteration) and the last yields.
static void emit_loop(ll_emitter *e, const k_instr *loop) {
  const k_block *body = loop->body[0];
  uint32_t carried = loop->arg_count - 3;
  LLVMValueRef low = ll_get(e, loop->args[0]), high = ll_get(e, loop->args[1]),
               step = ll_get(e, loop->args[2]);
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
    LLVMValueRef first = ll_get(e, loop->args[i + 3]), last = ll_get(e, body->yields.items[i]);
    add_incoming(phi, first, guard);
    add_incoming(phi, last, latch);
    results[i] = LLVMBuildPhi(e->at, LLVMTypeOf(phi), "");
    add_incoming(results[i], first, guard);
    add_incoming(results[i], last, latch);
  }
  e->results[loop->id] = results;
}

static void emit_while(ll_emitter *e, const k_instr *loop) {
  const k_block *test = loop->body[0], *body = loop->body[1];
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->at);
  LLVMBasicBlockRef head = new_block(e), inside = new_block(e), after = new_block(e);
  LLVMBuildBr(e->at, head);
  LLVMPositionBuilderAtEnd(e->at, head);
  add_phis(e, test);
  emit_block(e, test);
  LLVMBuildCondBr(e->at, ll_get(e, test->condition), inside, after);
  LLVMPositionBuilderAtEnd(e->at, inside);
  emit_block(e, body);
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->at);
  LLVMBuildBr(e->at, head);
  LLVMValueRef *results = leat_new_array(e->scratch, LLVMValueRef, loop->arg_count);
  for (uint32_t i = 0; i < loop->arg_count; i++) {
    results[i] = e->values[test->phis.items[i]->id];
    add_incoming(results[i], ll_get(e, loop->args[i]), before);
    add_incoming(results[i], ll_get(e, body->yields.items[i]), latch);
  }
  e->results[loop->id] = results;
  LLVMPositionBuilderAtEnd(e->at, after);
}

static void emit_if(ll_emitter *e, const k_instr *branch) {
  LLVMBasicBlockRef sides[2], ends[2], after = new_block(e);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->at);
  for (int i = 0; i < 2; i++) sides[i] = branch->body[i] ? new_block(e) : after;
  LLVMBuildCondBr(e->at, ll_get(e, branch->args[0]), sides[0], sides[1]);
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
    results[i] = LLVMBuildPhi(e->at, ll_value_type(e, branch->body[0]->yields.items[i]), "");
    for (int j = 0; j < 2; j++)
      add_incoming(results[i], ll_get(e, branch->body[j]->yields.items[i]), ends[j]);
  }
  e->results[branch->id] = results;
}

// The number of the first of the lanes that are true, one of which is.
static LLVMValueRef first_lane(ll_emitter *e, LLVMValueRef lanes) {
  LLVMTypeRef bits = ll_int_type(e, LLVMGetVectorSize(LLVMTypeOf(lanes)));
  LLVMValueRef args[] = {LLVMBuildBitCast(e->at, lanes, bits, ""),
                         LLVMConstInt(ll_int_type(e, 1), 1, false)};
  return ll_call(e, "llvm.cttz", &bits, 1, args, 2);
}

static void emit_fail(ll_emitter *e, const k_instr *fail) {
  LLVMBasicBlockRef failed = new_block(e), after = new_block(e);
  LLVMBuildCondBr(e->at, ll_get(e, fail->args[0]), failed, after);
  LLVMPositionBuilderAtEnd(e->at, failed);
  LLVMValueRef value = ll_get(e, fail->args[1]);
  if (fail->args[1]->lanes > 1)
    value = LLVMBuildExtractElement(e->at, value, first_lane(e, ll_get(e, fail->args[2])), "");
  bool is_signed = leat_dtype_kind_of(fail->args[1]->dtype) == LEAT_KIND_SIGNED;
  value = LLVMBuildIntCast2(e->at, value, ll_int_type(e, 64), is_signed, "");
  LLVMBuildStore(e->at, value, LLVMGetParam(e->function, 0)); // leat_call's first
  uint64_t code = (uint64_t)fail->imm.i << 8 | (uint64_t)fail->imm2;
  LLVMBuildRet(e->at, LLVMConstInt(ll_int_type(e, 32), code, false));
  LLVMPositionBuilderAtEnd(e->at, after);
}

// Reads leat_call's `ends` anew each time.
static void emit_poll(ll_emitter *e) {
  LLVMBasicBlockRef ends = new_block(e), after = new_block(e);
  LLVMTypeRef byte = ll_int_type(e, 8);
  LLVMValueRef offset = ll_i64_const(e, offsetof(leat_call, ends));
  LLVMValueRef at = LLVMBuildGEP2(e->at, byte, LLVMGetParam(e->function, 0), &offset, 1, "");
  LLVMValueRef flag =
      LLVMBuildLoad2(e->at, byte, LLVMBuildLoad2(e->at, ll_pointer_type(e), at, ""), "");
  LLVMSetVolatile(flag, true);
  LLVMValueRef set = LLVMBuildICmp(e->at, LLVMIntNE, flag, LLVMConstNull(byte), "");
  LLVMBuildCondBr(e->at, set, ends, after);
  LLVMPositionBuilderAtEnd(e->at, ends);
  LLVMBuildRet(e->at, LLVMConstInt(ll_int_type(e, 32), LEAT_ABORTED, false));
  LLVMPositionBuilderAtEnd(e->at, after);
}

// -- Instructions --------------------------------------------------------------------------------

// A local array lives in the entry block, so that a loop around it does not grow the stack.
static LLVMValueRef stack_array(ll_emitter *e, LLVMTypeRef element, int64_t count) {
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

static void emit_instr(ll_emitter *e, const k_instr *instr) {
  switch ((int)instr->op) {
  case K_CONST:
  case K_BARRIER: break; // one thread runs a tile
  case K_LOCAL:
    e->locals[instr->buffer->number] =
        stack_array(e, ll_memory_type(e, instr->buffer->dtype), instr->buffer->count);
    break;
  case K_LOOP: emit_loop(e, instr); break;
  case K_WHILE: emit_while(e, instr); break;
  case K_IF: emit_if(e, instr); break;
  case K_FAIL_IF: emit_fail(e, instr); break;
  case K_POLL: emit_poll(e); break;
  case K_STORE: emit_store(e, instr); break;
  case K_PREFETCH: emit_prefetch(e, instr); break;
  case K_LOAD:
  case K_GATHER: e->values[instr->id] = emit_load(e, instr); break;
  default: e->values[instr->id] = ll_value(e, instr);
  }
}

static void emit_block(ll_emitter *e, const k_block *block) {
  for (uint32_t i = 0; i < block->instrs.count; i++) emit_instr(e, block->instrs.items[i]);
}

// -- The function --------------------------------------------------------------------------------

static void add_attribute(ll_emitter *e, LLVMAttributeIndex where, const char *name) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(e->function, where, LLVMCreateEnumAttribute(e->context, kind, 0));
}

static void declare(ll_emitter *e, const char *symbol) {
  LLVMTypeRef i64 = ll_int_type(e, 64), pointer = ll_pointer_type(e);
  LLVMTypeRef types[] = {pointer, pointer, i64, i64};
  LLVMTypeRef type = LLVMFunctionType(ll_int_type(e, 32), types, 4, false);
  e->function = LLVMAddFunction(e->module, symbol, type);
  e->entry = new_block(e);
  add_attribute(e, LLVMAttributeFunctionIndex, "nounwind");
  const char *args_are[] = {"noalias", "readonly", "nonnull"};
  for (int i = 0; i < 3; i++) add_attribute(e, 2, args_are[i]); // args: the second parameter
  char width[16];
  snprintf(width, sizeof width, "%d", 8 * e->target->vector_bytes);
  LLVMAddTargetDependentFunctionAttr(e->function, "prefer-vector-width", width);
  // The same code runs in both modes of base/float_mode.h.
  LLVMAddTargetDependentFunctionAttr(e->function, "denormal-fp-math", "dynamic,dynamic");
}

// Element i of the argument array.
static LLVMValueRef load_argument(ll_emitter *e, LLVMTypeRef type, uint32_t i) {
  LLVMValueRef index = ll_i64_const(e, i), array = LLVMGetParam(e->function, 1);
  LLVMValueRef at = LLVMBuildGEP2(e->at, ll_int_type(e, 64), array, &index, 1, "");
  return LLVMBuildLoad2(e->at, type, at, "");
}

static void load_arguments(ll_emitter *e) {
  const leat_kernel *k = e->kernel;
  for (uint32_t i = 0; i < k->buffer_count; i++)
    e->buffers[i] = load_argument(e, ll_pointer_type(e), i);
  for (uint32_t i = 0; i < k->scalar_count; i++)
    e->scalars[i] = load_argument(e, ll_int_type(e, 64), k->buffer_count + i);
}

static void emit_fence(ll_emitter *e) {
  switch (e->target->fence) {
  case LEAT_FENCE_ALL:
    LLVMBuildFence(e->at, LLVMAtomicOrderingSequentiallyConsistent, false, "");
    break;
  case LEAT_FENCE_STORES: ll_call(e, "llvm.x86.sse.sfence", NULL, 0, NULL, 0); break;
  }
}

// What is stored past the caches is ordered before what follows the kernel by a fence only.
static bool has_streamed(const leat_kernel *kernel) {
  for (uint32_t i = 0; i < kernel->buffer_count; i++)
    if (kernel->buffers.items[i]->streamed) return true;
  return false;
}

// The loop over tiles, rotated as other loops are.
static void emit_tiles(ll_emitter *e) {
  LLVMValueRef begin = LLVMGetParam(e->function, 2), end = LLVMGetParam(e->function, 3);
  LLVMBasicBlockRef body = new_block(e), done = new_block(e);
  LLVMBuildCondBr(e->at, LLVMBuildICmp(e->at, LLVMIntSLT, begin, end, ""), body, done);
  LLVMPositionBuilderAtEnd(e->at, body);
  e->tile = LLVMBuildPhi(e->at, ll_int_type(e, 64), "");
  emit_block(e, &e->kernel->body);
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->at);
  LLVMValueRef next = LLVMBuildNSWAdd(e->at, e->tile, ll_i64_const(e, 1), "");
  LLVMBuildCondBr(e->at, LLVMBuildICmp(e->at, LLVMIntSLT, next, end, ""), body, done);
  add_incoming(e->tile, begin, e->entry);
  add_incoming(e->tile, next, latch);
  LLVMPositionBuilderAtEnd(e->at, done);
  if (has_streamed(e->kernel)) emit_fence(e);
  LLVMBuildRet(e->at, LLVMConstInt(ll_int_type(e, 32), 0, false));
}

static void dispose_builder(void *builder) {
  LLVMDisposeBuilder(builder);
}

LLVMValueRef leat_llvm_emit(LLVMModuleRef module, const leat_kernel *kernel, const char *symbol,
                            const leat_target_info *target) {
  leat_arena *scratch = leat_arena_create();
  ll_emitter e = {.module = module, .kernel = kernel, .target = target, .scratch = scratch};
  e.context = LLVMGetModuleContext(module);
  e.at = LLVMCreateBuilderInContext(e.context);
  leat_cleanup builder;
  leat_cleanup_hold(&builder, dispose_builder, e.at);
  e.values = leat_new_array(scratch, LLVMValueRef, kernel->instr_count);
  e.results = leat_new_array(scratch, LLVMValueRef *, kernel->instr_count);
  e.buffers = leat_new_array(scratch, LLVMValueRef, kernel->buffer_count);
  e.scalars = leat_new_array(scratch, LLVMValueRef, kernel->scalar_count);
  e.locals = leat_new_array(scratch, LLVMValueRef, kernel->local_count);
  declare(&e, symbol);
  LLVMPositionBuilderAtEnd(e.at, e.entry);
  load_arguments(&e);
  emit_tiles(&e);
  leat_cleanup_run(&builder);
  leat_arena_destroy(scratch);
  return e.function;
}
