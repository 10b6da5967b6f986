// CPUID leaves 1, 7 and 0x80000001 and, since wide registers need the operating system to save
// them, XGETBV.
// It runs seldom: compiled for size.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // sched_getaffinity, CPU_COUNT
#endif
#include "base/cpuid.h"

#include "base/cgroup.h"
#include "base/portable.h"

#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/utsname.h>

static const char level_names[][12] = {
#define X(id, name) [LEAT_CPU_##id] = name,
    LEAT_CPU_LEVEL_LIST(X)
#undef X
};

enum { LEVEL_COUNT = sizeof level_names / sizeof *level_names };

const char *leat_cpu_level_name(leat_cpu_level level) {
  return level_names[level];
}

const char *leat_cpu_level_names(void) {
#define X(id, name) ", " name
  static const char names[] = LEAT_CPU_LEVEL_LIST(X);
#undef X
  return names + strlen(", ");
}

bool leat_cpu_level_parse(const char *text, leat_cpu_level *out) {
  if (strcmp(text, "host") == 0 || strcmp(text, "native") == 0) {
    *out = leat_cpu_host_level();
    return true;
  }
  for (size_t i = 0; i < LEVEL_COUNT; i++) {
    if (strcmp(text, level_names[i]) != 0) continue;
    *out = (leat_cpu_level)i;
    return true;
  }
  return false;
}

int leat_cpu_cores(void) {
  cpu_set_t sets[8]; // of 1,024 CPUs: all that Linux can count
  if (sched_getaffinity(0, sizeof sets, sets)) return 1;
  int cores = CPU_COUNT_S(sizeof sets, sets), left = leat_cgroup_cores("");
  return cores < left ? cores : left;
}

bool leat_cpu_leave(int core) {
  cpu_set_t all[8], others[8];
  if (sched_getaffinity(0, sizeof all, all)) return false;
  memcpy(others, all, sizeof all);
  CPU_CLR_S((size_t)core, sizeof others, others);
  if (sched_setaffinity(0, sizeof others, others)) return false;
  sched_setaffinity(0, sizeof all, all);
  return true;
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

typedef struct registers {
  uint32_t eax, ebx, ecx, edx;
} registers;

static registers query(uint32_t leaf, uint32_t subleaf) {
  registers r = {0};
  __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx); // zeros beyond the highest leaf
  return r;
}

// The register states that the operating system saves: bits 1–2 SSE and AVX, 5–7 AVX-512.
static uint32_t saved_states(void) {
  if (!(query(1, 0).ecx & bit_OSXSAVE)) return 0;
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

static bool has(uint32_t word, uint32_t bits) {
  return (word & bits) == bits;
}

static leat_cpu_level find_level(void) {
  registers basic = query(1, 0), extended = query(7, 0), amd = query(0x80000001u, 0);
  uint32_t states = saved_states();
  bool sse4 = has(basic.ecx,
                  bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT | bit_CMPXCHG16B) &&
              has(amd.ecx, bit_LAHF_LM);
  if (!sse4) return LEAT_CPU_BASELINE;
  bool avx2 = has(states, 0x6) && has(basic.ecx, bit_FMA | bit_MOVBE | bit_F16C | bit_AVX) &&
              has(extended.ebx, bit_AVX2 | bit_BMI | bit_BMI2) && has(amd.ecx, bit_LZCNT);
  if (!avx2) return LEAT_CPU_SSE4;
  bool avx512 = has(states, 0xe6) && has(extended.ebx, bit_AVX512F | bit_AVX512BW | bit_AVX512CD |
                                                           bit_AVX512DQ | bit_AVX512VL);
  return avx512 ? LEAT_CPU_AVX512 : LEAT_CPU_AVX2;
}

// Kept: in a virtual machine each CPUID takes microseconds. Threads that race find the same.
leat_cpu_level leat_cpu_host_level(void) {
  static int found = -1;
  int level = __atomic_load_n(&found, __ATOMIC_RELAXED);
  if (level < 0) __atomic_store_n(&found, level = (int)find_level(), __ATOMIC_RELAXED);
  return (leat_cpu_level)level;
}

void leat_cpu_add_key(leat_text *out) {
  registers vendor = query(0, 0), basic = query(1, 0), extended = query(7, 0);
  registers later = query(7, 1), amd = query(0x80000001u, 0);
  char name[13] = {0};
  memcpy(name, &vendor.ebx, 4);
  memcpy(name + 4, &vendor.edx, 4);
  memcpy(name + 8, &vendor.ecx, 4);
  // Leaf 1's eax is the signature: family, model, stepping. Its ebx varies from core to core and is
  // left out.
  leat_text_add(out, "%s-%08x-%08x-%08x-%08x-%08x-%08x-%08x-%08x-%08x", name, basic.eax, basic.ecx,
                basic.edx, extended.ebx, extended.ecx, extended.edx, later.eax, amd.ecx,
                saved_states());
}

#else

leat_cpu_level leat_cpu_host_level(void) {
  return LEAT_CPU_BASELINE;
}

void leat_cpu_add_key(leat_text *out) {
  struct utsname host;
  leat_text_add(out, "%s", uname(&host) == 0 ? host.machine : "unknown");
}

#endif
