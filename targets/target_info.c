#include "targets/target_info.h"

#include <string.h>

// By level.
static const leat_target_info x86_64[] = {
    [LEAT_CPU_BASELINE] = {"x86-64", .vector_registers = 16, .vector_bytes = 16},
    [LEAT_CPU_SSE4] = {"x86-64-v2", .vector_registers = 16, .vector_bytes = 16},
    [LEAT_CPU_AVX2] = {"x86-64-v3", .vector_registers = 16, .vector_bytes = 32, .has_fma = true},
    [LEAT_CPU_AVX512] = {"x86-64-v4", .vector_registers = 32, .vector_bytes = 64, .has_fma = true,
                         .broadcasts = true},
};

// What compilers make code for without being told more: no LSX, no V.
static const leat_target_info others[] = {
    {"aarch64", .vector_registers = 32, .vector_bytes = 16, .has_fma = true},
    {"riscv64", .vector_registers = 32, .has_fma = true},
    {"loongarch64", .vector_registers = 32, .has_fma = true},
    {"powerpc64le", .vector_registers = 64, .vector_bytes = 16, .has_fma = true},
};

const leat_target_info *leat_target_info_find(const char *machine, leat_cpu_level level) {
  static const leat_target_info unknown = {"unknown", .vector_registers = 16};
  if (strcmp(machine, "x86_64") == 0) return &x86_64[level];
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcmp(machine, others[i].name) == 0) return &others[i];
  return &unknown;
}
