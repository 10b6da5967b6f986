// What the CPU of this process can do: the level that code is generated for, and a key for caches
// of compiled code.
#ifndef LEAT_BASE_CPUID_H
#define LEAT_BASE_CPUID_H

#include "base/text.h"

#include <stdbool.h>

// The levels of the x86-64 psABI that code is generated for; each includes those before it.
#define LEAT_CPU_LEVEL_LIST(X)                                                                     \
  X(BASELINE, "x86-64")  /* SSE2; also what every CPU that is not x86-64 reports */                \
  X(SSE4, "x86-64-v2")   /* SSE4.2, SSSE3, POPCNT, CMPXCHG16B */                                   \
  X(AVX2, "x86-64-v3")   /* AVX2, FMA, BMI1, BMI2, F16C, LZCNT, MOVBE */                           \
  X(AVX512, "x86-64-v4") /* AVX-512 F, BW, CD, DQ, VL */

typedef enum leat_cpu_level {
#define X(id, name) LEAT_CPU_##id,
  LEAT_CPU_LEVEL_LIST(X)
#undef X
} leat_cpu_level;

leat_cpu_level leat_cpu_host_level(void); // what CPU and operating system both support
const char *leat_cpu_level_name(leat_cpu_level level);
// A name above, or "host", which "native" means too.
bool leat_cpu_level_parse(const char *text, leat_cpu_level *out);
const char *leat_cpu_level_names(void); // "x86-64, x86-64-v2, …"

// Adds a text that differs between CPUs that may run different code: vendor, family, model,
// stepping, features.
void leat_cpu_add_key(leat_text *out);

// That this process may run on, as many as its control group lets it have; at least 1.
int leat_cpu_cores(void);
// Moves the calling thread off the core, to any other that it may run on; false: there is none.
bool leat_cpu_leave(int core);

#endif
