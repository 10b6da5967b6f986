// Weights in ELF files, without their bytes passing through a compiler or a linker, which would
// hold all of them in memory (GNU ld does, and is slow at it). An object gets a section for them,
// large data (`.lrodata`), and the symbol that it refers to is defined there. For a linker the
// section has a size and no bytes, as `.bss` has, so that it places it and copies nothing; then the
// bytes are added to what it made. Objects of 64 bits, little-endian.
#ifndef LEAT_SESSION_ARTIFACT_ELF_H
#define LEAT_SESSION_ARTIFACT_ELF_H

#include "base/arena.h"
#include "base/file.h"

// A copy of the object, in the arena, with the section, `size` bytes at `symbol`, to which it
// refers. With `filled` they belong behind what is returned, else they are in no file.
LEAT_MUST_USE leat_status leat_elf_add_weights(leat_arena *arena, leat_bytes object,
                                               const char *symbol, uint64_t size, bool filled,
                                               leat_bytes *out, leat_error *error);

// A copy of what was linked of such an object that was not filled, in the arena, for the `size`
// bytes to stand behind. LEAT_UNSUPPORTED: the linker has placed the section where they cannot be
// added.
LEAT_MUST_USE leat_status leat_elf_fill_weights(leat_arena *arena, leat_bytes linked, uint64_t size,
                                                leat_bytes *out, leat_error *error);

#endif
