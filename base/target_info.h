// What is decided by the machine that code is for: a machine as they mostly are of a CPU level,
// never the very one that is there, so that a plan is a function of the text and of `--cpu`. It
// changes no bit of a result but by `has_fma`, and by what `choose` and sums of parts make of the
// caches.
#ifndef LEAT_BASE_TARGET_INFO_H
#define LEAT_BASE_TARGET_INFO_H

#include <stdbool.h>
#include <stdint.h>

// What orders stores past the caches before those that follow.
typedef enum leat_fence {
  LEAT_FENCE_ALL,    // as for any memory, whoever asks
  LEAT_FENCE_STORES, // x86's sfence: other fences do not wait for them
} leat_fence;

typedef struct leat_target_info {
  const char *name;     // "x86-64-v3", "aarch64"
  bool leveled;         // the name is one of base/cpuid.h's
  int vector_registers; // architectural ones
  int vector_bytes;     // of such a register; 0: it holds one number
  bool has_fma;
  bool broadcasts;  // an instruction takes one number in memory for all lanes
  bool masks;       // those of vectors are registers, and cost nothing where something is loaded
  int64_t l1, l2;   // bytes of a core's caches of data
  int64_t l3;       // of the cache that cores share: what is larger is stored past the caches
  int line;         // bytes of a cache's line
  leat_fence fence; // behind what is stored past them
  int cores;        // for which there should be work, if there is enough of it
} leat_target_info;

#endif
