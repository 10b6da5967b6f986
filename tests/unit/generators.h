// What makes code here. Only what this build does not have, or this machine, is a reason to skip a
// test: a generator that does not load fails it.
#ifndef LEAT_TESTS_UNIT_GENERATORS_H
#define LEAT_TESTS_UNIT_GENERATORS_H

#include "session/machine.h"
#include "targets/c/c.h"
#include "targets/cpu/cpu.h"
#include "targets/target_info.h"
#include "tests/unit/check.h"

// This machine as the level has it.
static inline const leat_target_info *target_of(leat_cpu_level level) {
  return leat_target_info_find(leat_machine_here(), level);
}

// NULL: the build has no LLVM.
static inline leat_codegen_compile llvm_generator(void) {
  const leat_code_generator *llvm = NULL;
  leat_error error = {0};
  if (!HAS_LLVM) return NULL;
  if (leat_cpu_codegen(&llvm, &error)) CHECK_FAILED("%s", error.message);
  return llvm ? llvm->compile : NULL;
}

// NULL: there is no C compiler.
static inline leat_codegen_compile c_generator(void) {
  leat_text key = {0};
  leat_c_compiler_key(&key);
  bool found = key.size > 0;
  leat_text_finish(&key);
  return found ? leat_c_compile : NULL;
}

static inline leat_codegen_compile any_generator(void) {
  leat_codegen_compile llvm = llvm_generator();
  return llvm ? llvm : c_generator();
}

#endif
