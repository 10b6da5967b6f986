// Host code by LLVM: the module leat-llvm (targets/cpu/llvm_*), loaded on first need.
#ifndef LEAT_TARGETS_CPU_CPU_H
#define LEAT_TARGETS_CPU_CPU_H

#include "targets/generator.h"

// The module's one symbol is a leat_code_generator of this name.
#define LEAT_CODEGEN_SYMBOL "leat_cpu_codegen_table"

// LLVM's, from the module, or LEAT_UNSUPPORTED with the reason. Loads the module once; the result
// lives for ever.
LEAT_MUST_USE leat_status leat_cpu_codegen(const leat_code_generator **out, leat_error *error);
// The compiler's text for cache keys without loading it: "" when the module does not exist.
const char *leat_cpu_codegen_key(void);

#endif
