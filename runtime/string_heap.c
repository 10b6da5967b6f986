// Heaps: lists of blocks, which are freed together.
#include "runtime/string_heap.h"

#include "base/str.h"

#include <stdlib.h>

struct leat_string_heap_block { // the bytes follow
  leat_string_heap_block *next;
  uint64_t size; // of all of it
};

void leat_string_heap_init(leat_string_heap *heap) {
  *heap = (leat_string_heap){0};
  pthread_mutex_init(&heap->lock, NULL);
}

void leat_string_heap_finish(leat_string_heap *heap) {
  leat_string_heap_clear(heap);
  pthread_mutex_destroy(&heap->lock);
}

void leat_string_heap_clear(leat_string_heap *heap) {
  for (leat_string_heap_block *block = heap->blocks, *next; block; block = next) {
    next = block->next;
    free(block);
  }
  heap->blocks = NULL;
  heap->bytes = heap->enough = 0;
}

static void add(leat_string_heap *heap, leat_string_heap_block *first, leat_string_heap_block *last,
                uint64_t bytes) {
  pthread_mutex_lock(&heap->lock);
  last->next = heap->blocks;
  heap->blocks = first;
  heap->bytes += bytes;
  pthread_mutex_unlock(&heap->lock);
}

void *leat_string_heap_allocate(leat_string_heap *heap, uint64_t size) {
  leat_string_heap_block *block = NULL;
  if (size <= (uint64_t)PTRDIFF_MAX - sizeof *block) block = malloc(sizeof *block + size);
  if (!block) return NULL;
  block->size = sizeof *block + size;
  add(heap, block, block, block->size);
  return block + 1;
}

leat_status leat_string_heap_keep(leat_string_heap *heap, leat_str *out, const leat_str *x,
                                  int64_t count) {
  char *bytes = leat_string_heap_allocate(heap, leat_strs_bytes(x, count));
  if (!bytes) return LEAT_MEMORY;
  leat_strs_copy(out, x, count, bytes);
  return LEAT_OK;
}

void leat_string_heap_move(leat_string_heap *from, leat_string_heap *to) {
  leat_string_heap_block *last = from->blocks;
  while (last && last->next) last = last->next;
  if (last) add(to, from->blocks, last, from->bytes);
  from->blocks = NULL;
  from->bytes = from->enough = 0;
}
