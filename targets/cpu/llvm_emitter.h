// What the two files that emit a kernel share.
#ifndef LEAT_TARGETS_CPU_LLVM_EMITTER_H
#define LEAT_TARGETS_CPU_LLVM_EMITTER_H

#include "base/target_info.h"
#include "kernel/kernel.h"

#include <llvm-c/Core.h>

typedef struct ll_emitter {
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMBuilderRef at; // where instructions go
  const leat_kernel *kernel;
  const leat_target_info *target;
  leat_arena *scratch;
  LLVMValueRef function, tile;
  LLVMBasicBlockRef entry;
  LLVMValueRef *values;   // by instr id
  LLVMValueRef **results; // of loops, whiles and ifs, by instr id
  LLVMValueRef *buffers, *scalars, *locals;
} ll_emitter;

LLVMTypeRef ll_int_type(ll_emitter *e, unsigned bits);
LLVMTypeRef ll_pointer_type(ll_emitter *e);
LLVMTypeRef ll_memory_type(ll_emitter *e, leat_dtype dtype); // of an element in memory
LLVMTypeRef ll_with_lanes(LLVMTypeRef type, unsigned lanes); // a vector, if there are several
LLVMTypeRef ll_value_type(ll_emitter *e, k_value value);
// `lanes` of the vector's from `first` on, in steps.
LLVMValueRef ll_shuffle(ll_emitter *e, LLVMValueRef vector, unsigned first, unsigned step,
                        unsigned lanes);
LLVMValueRef ll_repeat(LLVMValueRef scalar, unsigned lanes); // a constant in all lanes
LLVMValueRef ll_i64_const(ll_emitter *e, int64_t value);

// A call of an intrinsic, which its overloads say the types of.
LLVMValueRef ll_call(ll_emitter *e, const char *name, LLVMTypeRef *overloads,
                     unsigned overload_count, LLVMValueRef *args, unsigned count);

LLVMValueRef ll_get(ll_emitter *e, k_value value); // of an instruction that has been emitted
LLVMValueRef ll_value(ll_emitter *e, const k_instr *instr); // of one that reads no memory

#endif
