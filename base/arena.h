// Bump allocation for everything that lives as long as a compile or a pass.
//
// An arena only grows; leat_arena_reset frees all at once. Memory is zeroed and aligned to 16
// bytes. Where there is none, the call ends at its recovery point (base/recovery.h), so no caller
// checks for NULL. Inputs are bounded by stated limits long before. What is as large as a program's
// values is asked for with leat_arena_try_alloc, which gives NULL instead.
#ifndef LEAT_BASE_ARENA_H
#define LEAT_BASE_ARENA_H

#include "base/recovery.h"

#include <stdarg.h>
#include <stddef.h>

typedef struct leat_arena leat_arena;

leat_arena *leat_arena_create(void); // the recovery point holds it
// NULL: no memory. Nobody holds it but the caller, who has a way to destroy it.
leat_arena *leat_arena_try_create(void);
void leat_arena_destroy(leat_arena *arena); // NULL is fine
// All memory handed out becomes invalid; one block is kept for reuse.
void leat_arena_reset(leat_arena *arena);
void *leat_arena_alloc(leat_arena *arena, size_t size);
void *leat_arena_try_alloc(leat_arena *arena, size_t size);
// The multiplication is checked.
void *leat_arena_alloc_array(leat_arena *arena, size_t count, size_t size);
// What an arena holds, kept beside it. Putting it back makes the arena what it was, at the same
// places, whatever was written there since; what was handed out later is invalid.
typedef struct leat_arena_copy leat_arena_copy;
leat_arena_copy *leat_arena_copy_create(const leat_arena *arena); // NULL: no memory
void leat_arena_copy_put_back(const leat_arena_copy *copy);
void leat_arena_copy_destroy(leat_arena_copy *copy); // NULL is fine
size_t leat_arena_used(const leat_arena *arena);     // bytes handed out

#define leat_new(arena, T) ((T *)leat_arena_alloc((arena), sizeof(T)))
#define leat_new_array(arena, T, n) ((T *)leat_arena_alloc_array((arena), (n), sizeof(T)))

// Copies; the result is NUL-terminated where it is text.
char *leat_arena_strndup(leat_arena *arena, const char *text, size_t length);
char *leat_arena_printf(leat_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *leat_arena_vprintf(leat_arena *arena, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
void *leat_arena_memdup(leat_arena *arena, const void *data, size_t size);

#endif
