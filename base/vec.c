// The one function behind the typed vectors of vec.h.
#include "base/vec.h"

#include <string.h>

void *leat_vec_grow(leat_arena *arena, void *items, uint32_t count, uint32_t *capacity,
                    uint32_t needed, size_t size) {
  if (needed < count) leat_out_of_memory(); // count + 1 wrapped
  if (needed <= *capacity) return items;
  uint64_t larger = (uint64_t)*capacity * 2;
  if (larger < 8) larger = 8;
  if (larger > UINT32_MAX) larger = UINT32_MAX;
  if (larger < needed) larger = needed;
  void *grown = leat_arena_alloc_array(arena, larger, size);
  if (count) memcpy(grown, items, count * size);
  *capacity = (uint32_t)larger;
  return grown;
}
