// libleat_rt for a compiler: the one that stands beside this program, or one that is made of the
// runtime's source, which is installed, when an artifact for another machine or libc is linked for
// the first time; it is kept in the cache of compiled code.
#ifndef LEAT_SESSION_ARTIFACT_RUNTIME_LIBRARY_H
#define LEAT_SESSION_ARTIFACT_RUNTIME_LIBRARY_H

#include "base/file.h"
#include "session/artifact/toolchain.h"
#include "session/object_cache.h"

// Its path, in the arena; one that is made lies in `folder`, a temporary one. `cache` may be NULL.
LEAT_MUST_USE leat_status leat_runtime_library(const leat_toolchain *toolchain,
                                               leat_object_cache *cache, const char *folder,
                                               leat_arena *arena, const char **out_path,
                                               leat_error *error);
// Copies the source into a folder that is made: base/, runtime/, include/ and in them what
// `cc -I FOLDER/include -I FOLDER FOLDER/*/*.c FOLDER/runtime/kernels/*.c` compiles.
LEAT_MUST_USE leat_status leat_runtime_source_copy(const char *folder, leat_error *error);

#endif
