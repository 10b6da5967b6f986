// The runtime's source as one text, in the pieces that tools/join_runtime.py made of it: what a C
// file that is to need nothing but libc and libm takes along.
#ifndef LEAT_SESSION_ARTIFACT_ONE_FILE_H
#define LEAT_SESSION_ARTIFACT_ONE_FILE_H

#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"

typedef struct leat_joined_unit {
  leat_bytes text, defines, needs; // the lists: words between spaces
  bool taken;
} leat_joined_unit;

typedef struct leat_joined {
  leat_bytes public, private; // headers
  leat_joined_unit *units;
  uint32_t count;
} leat_joined;

LEAT_MUST_USE leat_status leat_joined_read(leat_arena *arena, leat_joined *out, leat_error *error);
// The unit that defines the symbol, if any does, and all that it needs.
void leat_joined_take(leat_joined *joined, const char *symbol);
// What any program may call: leat/runtime.h.
void leat_joined_take_public(leat_joined *joined);
void leat_joined_print(const leat_joined *joined, leat_text *out); // what was taken, no header

#endif
