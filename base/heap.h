// A binary heap of numbers, the least on top, in an arena.
#ifndef LEAT_BASE_HEAP_H
#define LEAT_BASE_HEAP_H

#include "base/vec.h"

typedef leat_vec(uint64_t) leat_heap; // {0} is empty; `count` says how many are in it

void leat_heap_push(leat_arena *arena, leat_heap *heap, uint64_t number);
uint64_t leat_heap_pop(leat_heap *heap); // the least; the heap is not empty

#endif
