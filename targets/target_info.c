#include "targets/target_info.h"

#include <string.h>

enum { KB = 1 << 10, MB = 1 << 20 };

#define X86_64(level, registers, bytes)                                                            \
  .name = level, .leveled = true, .vector_registers = registers, .vector_bytes = bytes,            \
  .l1 = 32 * KB, .line = 64, .fence = LEAT_FENCE_STORES, .cores = 8

// By level. Caches are as machines have them of which it is the highest: for v2 Ivy Bridge, for v3
// between Zen 3 (512 KB) and Raptor Lake (2 MB), for v4 Sapphire Rapids.
static const leat_target_info x86_64[] = {
    [LEAT_CPU_BASELINE] = {X86_64("x86-64", 16, 16), .l2 = 256 * KB, .l3 = 8 * MB},
    [LEAT_CPU_SSE4] = {X86_64("x86-64-v2", 16, 16), .l2 = 256 * KB, .l3 = 8 * MB},
    [LEAT_CPU_AVX2] = {X86_64("x86-64-v3", 16, 32), .has_fma = true, .l2 = 1 * MB, .l3 = 32 * MB},
    [LEAT_CPU_AVX512] = {X86_64("x86-64-v4", 32, 64), .has_fma = true, .broadcasts = true,
                         .masks = true, .l2 = 2 * MB, .l3 = 32 * MB},
};

#define OTHER(machine, registers)                                                                  \
  .name = machine, .vector_registers = registers, .l1 = 32 * KB, .l2 = 1 * MB, .l3 = 32 * MB,      \
  .line = 64, .cores = 8

// What compilers make code for without being told more: no LSX, no V.
static const leat_target_info others[] = {
    {OTHER("aarch64", 32), .vector_bytes = 16, .has_fma = true},
    {OTHER("riscv64", 32), .has_fma = true},
    {OTHER("loongarch64", 32), .has_fma = true},
    {OTHER("powerpc64le", 64), .vector_bytes = 16, .has_fma = true},
};

const leat_target_info *leat_target_info_find(const char *machine, leat_cpu_level level) {
  static const leat_target_info unknown = {OTHER("unknown", 16)};
  if (strcmp(machine, "x86_64") == 0) return &x86_64[level];
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcmp(machine, others[i].name) == 0) return &others[i];
  return &unknown;
}
