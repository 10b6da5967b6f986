// The machine that an artifact is for: what --triple and --cpu say. Artifacts are for 64-bit
// little-endian machines under Linux, whichever of them makes them.
#ifndef LEAT_SESSION_MACHINE_H
#define LEAT_SESSION_MACHINE_H

#include "base/arena.h"
#include "base/cpuid.h"
#include "leat/status.h"

enum { LEAT_MACHINE_LEVELS = 4 };

typedef struct leat_machine {
  const char *triple;                         // NULL: this one
  const char *name;                           // what a triple begins with: "aarch64"
  leat_cpu_level levels[LEAT_MACHINE_LEVELS]; // of x86-64: that kernels are made for, ascending
  int level_count;                            // 0 elsewhere: there is one kind of code
} leat_machine;

// `triple` may be NULL; so may `cpus`, names between commas: then the level of this CPU is meant,
// or with a triple the lowest. LEAT_INVALID: there is no such machine or level; LEAT_UNSUPPORTED:
// no code can be for it.
LEAT_MUST_USE leat_status leat_machine_find(const char *triple, const char *cpus, leat_arena *arena,
                                            leat_machine *out, leat_error *error);
const char *leat_machine_here(void);
bool leat_machine_is_here(const leat_machine *machine); // of this machine's architecture

#endif
