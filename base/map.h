// Hash maps in an arena. leat_map: interned pointer (or any pointer) → pointer. leat_bytes_map:
// bytes → pointer. Open addressing, no removal; iteration is in the order of insertion, so every
// walk is deterministic.
#ifndef LEAT_BASE_MAP_H
#define LEAT_BASE_MAP_H

#include "base/arena.h"

#include <stdint.h>

typedef struct leat_map_entry {
  const void *key;
  void *value;
} leat_map_entry;

typedef struct leat_map {
  leat_arena *arena;
  leat_map_entry *entries; // in the order of insertion
  uint32_t count, capacity;
  uint32_t *slots; // index + 1 into entries; 0 is empty; NULL while they are few
} leat_map;

void leat_map_init(leat_map *map, leat_arena *arena);
void *leat_map_get(const leat_map *map, const void *key); // NULL when absent
void leat_map_set(leat_map *map, const void *key, void *value);

typedef struct leat_bytes_map {
  leat_arena *arena;
  struct leat_bytes_entry *entries;
  uint32_t count, capacity;
  uint32_t *slots;
} leat_bytes_map;

void leat_bytes_map_init(leat_bytes_map *map, leat_arena *arena);
void *leat_bytes_map_get(const leat_bytes_map *map, const void *key, size_t size);
void leat_bytes_map_set(leat_bytes_map *map, const void *key, size_t size,
                        void *value); // copies the key
// The map's copy of the key, and a NUL; what the map did not have is added, with the value NULL.
const char *leat_bytes_map_keep(leat_bytes_map *map, const void *key, size_t size);

uint64_t leat_hash_bytes(const void *data, size_t size,
                         uint64_t seed); // for tables only, never for identity

#endif
