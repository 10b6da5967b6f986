// One kernel as an LLVM function: `i32 symbol(ptr frame, ptr args, i64 tile_begin, i64 tile_end)`.
#ifndef LEAT_TARGETS_CPU_LLVM_EMIT_H
#define LEAT_TARGETS_CPU_LLVM_EMIT_H

#include "base/target_info.h"
#include "kernel/kernel.h"

#include <llvm-c/Core.h>

LLVMValueRef leat_llvm_emit(LLVMModuleRef module, const leat_kernel *kernel, const char *symbol,
                            const leat_target_info *target);

#endif
