// What moves is written once, where it ends: those on its way move by one place.
#include "base/heap.h"

void leat_heap_push(leat_arena *arena, leat_heap *heap, uint64_t number) {
  leat_vec_push(arena, heap, number);
  uint32_t i = heap->count - 1;
  for (; i && heap->items[(i - 1) / 2] > number; i = (i - 1) / 2)
    heap->items[i] = heap->items[(i - 1) / 2];
  heap->items[i] = number;
}

uint64_t leat_heap_pop(leat_heap *heap) {
  uint64_t top = heap->items[0], last = heap->items[--heap->count];
  uint32_t i = 0;
  for (uint32_t child; (child = 2 * i + 1) < heap->count; i = child) {
    if (child + 1 < heap->count && heap->items[child + 1] < heap->items[child]) child++;
    if (heap->items[child] >= last) break;
    heap->items[i] = heap->items[child];
  }
  heap->items[i] = last;
  return top;
}
