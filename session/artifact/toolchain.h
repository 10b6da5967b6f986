// The C compiler that links an artifact, and that compiles what is C for its machine: what --cc,
// --triple and --sysroot say.
#ifndef LEAT_SESSION_ARTIFACT_TOOLCHAIN_H
#define LEAT_SESSION_ARTIFACT_TOOLCHAIN_H

#include "session/machine.h"

typedef struct leat_toolchain {
  const char *words; // of its command, divided by blanks
  bool native;       // it links with the libleat_rt that stands beside this program
  bool glibc;        // its libc is glibc
} leat_toolchain;

// Without `cc`: $CC, else cc; with a triple T-gcc, else, with a sysroot, clang --target=T. `folder`
// is a temporary one. LEAT_UNSUPPORTED: there is none; LEAT_INVALID: it makes code for another
// machine.
LEAT_MUST_USE leat_status leat_toolchain_find(const leat_machine *machine, const char *cc,
                                              const char *sysroot, const char *folder,
                                              leat_arena *arena, leat_toolchain *out,
                                              leat_error *error);
// The words alone, unchecked: NULL when the machine's C compiler is this system's.
LEAT_MUST_USE leat_status leat_toolchain_words(const leat_machine *machine, const char *cc,
                                               const char *sysroot, leat_arena *arena,
                                               const char **out, leat_error *error);

#endif
