// Blocks in a list, the newest first; allocation bumps through the newest. Blocks come zeroed from
// calloc, and a reset zeroes what was used of the one it keeps, so allocation itself never clears
// memory. Each is twice the one before, up to a size of which huge pages fill nearly all: a process
// that compiles much spends a quarter of its time in faults of small ones.
#include "base/arena.h"

#include "base/memory.h"
#include "base/portable.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 16, FIRST_BLOCK = 1 << 14, LARGEST_STEP = 1 << 25 };

typedef struct block {
  _Alignas(ALIGNMENT) struct block *older;
  size_t capacity, used; // bytes after this header
} block;

struct leat_arena {
  leat_held held;
  block *newest;
  size_t used; // bytes handed out, in all blocks
};

static char *block_bytes(block *b) {
  return (char *)(b + 1);
}

static bool block_push(leat_arena *arena, size_t capacity) {
  if (capacity > PTRDIFF_MAX - sizeof(block)) return false;
  block *b = calloc(1, sizeof(block) + capacity);
  if (!b) return false;
  leat_memory_in_huge_pages(b, sizeof(block) + capacity);
  b->capacity = capacity;
  b->older = arena->newest;
  arena->newest = b;
  return true;
}

static void free_blocks(block *b) {
  while (b) {
    block *older = b->older;
    free(b);
    b = older;
  }
}

leat_arena *leat_arena_try_create(void) {
  return calloc(1, sizeof(leat_arena));
}

static void release(leat_held *held) {
  leat_arena_destroy((leat_arena *)held);
}

leat_arena *leat_arena_create(void) {
  leat_arena *arena = leat_arena_try_create();
  if (!arena) leat_out_of_memory();
  leat_hold(&arena->held, release);
  return arena;
}

void leat_arena_destroy(leat_arena *arena) {
  if (!arena) return;
  leat_let_go(&arena->held);
  free_blocks(arena->newest);
  free(arena);
}

void leat_arena_reset(leat_arena *arena) {
  block *kept = arena->newest;
  arena->used = 0;
  if (!kept) return;
  free_blocks(kept->older);
  kept->older = NULL;
  memset(block_bytes(kept), 0, kept->used);
  kept->used = 0;
}

void *leat_arena_try_alloc(leat_arena *arena, size_t size) {
  if (size > PTRDIFF_MAX - ALIGNMENT) return NULL;
  size_t step = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
  block *b = arena->newest;
  if (!b || b->capacity - b->used < step) {
    size_t capacity = b ? b->capacity * 2 : FIRST_BLOCK;
    if (capacity > LARGEST_STEP) capacity = LARGEST_STEP;
    if (!block_push(arena, capacity < step ? step : capacity)) return NULL;
    b = arena->newest;
  }
  void *memory = block_bytes(b) + b->used;
  b->used += step;
  arena->used += step;
  return memory;
}

void *leat_arena_alloc(leat_arena *arena, size_t size) {
  void *memory = leat_arena_try_alloc(arena, size);
  if (!memory) leat_out_of_memory();
  return memory;
}

void *leat_arena_alloc_array(leat_arena *arena, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) leat_out_of_memory();
  return leat_arena_alloc(arena, bytes);
}

// The blocks there are keep their places; only the newest of them is written behind `used`.
struct leat_arena_copy {
  leat_arena *arena;
  block *newest;
  size_t used, used_of_newest;
  char bytes[]; // of the blocks, the newest first
};

leat_arena_copy *leat_arena_copy_create(const leat_arena *arena) {
  leat_arena_copy *copy = malloc(sizeof *copy + arena->used);
  if (!copy) return NULL;
  *copy = (leat_arena_copy){.arena = (leat_arena *)(uintptr_t)arena,
                            .newest = arena->newest,
                            .used = arena->used,
                            .used_of_newest = arena->newest ? arena->newest->used : 0};
  char *to = copy->bytes;
  for (block *b = arena->newest; b; to += b->used, b = b->older)
    memcpy(to, block_bytes(b), b->used);
  return copy;
}

void leat_arena_copy_put_back(const leat_arena_copy *copy) {
  leat_arena *arena = copy->arena;
  while (arena->newest != copy->newest) {
    block *later = arena->newest;
    arena->newest = later->older;
    free(later);
  }
  arena->used = copy->used;
  if (!arena->newest) return;
  size_t used = copy->used_of_newest;
  memset(block_bytes(arena->newest) + used, 0, arena->newest->used - used);
  arena->newest->used = used;
  const char *from = copy->bytes;
  for (block *b = arena->newest; b; from += b->used, b = b->older)
    memcpy(block_bytes(b), from, b->used);
}

void leat_arena_copy_destroy(leat_arena_copy *copy) {
  free(copy);
}

size_t leat_arena_used(const leat_arena *arena) {
  return arena->used;
}

void *leat_arena_memdup(leat_arena *arena, const void *data, size_t size) {
  void *copy = leat_arena_alloc(arena, size);
  if (size) memcpy(copy, data, size);
  return copy;
}

char *leat_arena_strndup(leat_arena *arena, const char *text, size_t length) {
  if (length == SIZE_MAX) leat_out_of_memory();
  char *copy = leat_arena_alloc(arena, length + 1); // zeroed, so terminated
  if (length) memcpy(copy, text, length);
  return copy;
}

char *leat_arena_vprintf(leat_arena *arena, const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  assert(length >= 0);
  char *text = leat_arena_alloc(arena, (size_t)length + 1);
  vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  return text;
}

char *leat_arena_printf(leat_arena *arena, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *text = leat_arena_vprintf(arena, format, arguments);
  va_end(arguments);
  return text;
}
