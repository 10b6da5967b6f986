// Relocatable objects made executable in this process: the compiler's own, fresh from memory or out
// of a cache file.
//
// Loads an ELF64 x86-64 object: lays out its sections, applies relocations, protects the pages
// (never writable and executable at once). Code may refer to itself and to a short list of libc
// functions; anything else is refused, as is a writable section. Every offset is checked: the bytes
// may come from a damaged file.
#ifndef LEAT_RUNTIME_OBJECT_LOAD_H
#define LEAT_RUNTIME_OBJECT_LOAD_H

#include "leat/status.h"

#include <stddef.h>

typedef struct leat_loaded_object leat_loaded_object;

// The bytes are copied: they may go as soon as this returns.
LEAT_MUST_USE leat_status leat_object_load(const void *data, size_t size, leat_loaded_object **out,
                                           leat_error *error);
// The address of a global symbol that the object defines, or NULL.
void *leat_object_symbol(const leat_loaded_object *object, const char *name);
void leat_object_unload(leat_loaded_object *object); // NULL is fine; nothing of it may be running

#endif
