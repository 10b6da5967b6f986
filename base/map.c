// Both maps are an array of entries in order of insertion and, once there are more than a few, a
// table of indices into it, probed linearly and at most half full. The table has twice the entries'
// capacity, a power of two; both grow together. Most maps are scopes and never have a table.
#include "base/map.h"

#include "base/vec.h"

#include <stdbool.h>
#include <string.h>

typedef struct leat_bytes_entry {
  const void *key;
  size_t size;
  uint64_t hash;
  void *value;
} leat_bytes_entry;

enum { FEW = 8 };

static uint64_t mix(uint64_t h) {
  h ^= h >> 32;
  h *= 0x9e3779b97f4a7c15u;
  return h ^ (h >> 29);
}

uint64_t leat_hash_bytes(const void *data, size_t size, uint64_t seed) {
  const unsigned char *bytes = data;
  uint64_t h = seed ^ (size * 0xff51afd7ed558ccdu), word;
  for (; size >= 8; bytes += 8, size -= 8) {
    memcpy(&word, bytes, 8);
    h = mix(h ^ word);
  }
  word = 0;
  if (size) memcpy(&word, bytes, size);
  return mix(mix(h ^ word));
}

static uint64_t hash_pointer(const void *key) {
  return mix((uint64_t)(uintptr_t)key);
}

// Makes room for more entries and, unless they are few, a larger table, still empty. A map changes
// when all memory for it is there.
static void *grow(leat_arena *arena, void *entries, uint32_t count, size_t size, uint32_t *capacity,
                  uint32_t **slots) {
  uint32_t room = *capacity, larger = room ? room * 2 : FEW;
  if (room > UINT32_MAX / 4) leat_out_of_memory();
  uint32_t *table = larger > FEW ? leat_new_array(arena, uint32_t, (size_t)larger * 2) : NULL;
  entries = leat_vec_grow(arena, entries, count, &room, larger, size);
  *slots = table;
  *capacity = larger;
  return entries;
}

static void put_slot(uint32_t *slots, uint32_t capacity, uint64_t hash, uint32_t index) {
  if (!slots) return;
  uint32_t mask = capacity * 2 - 1, slot = (uint32_t)hash & mask;
  while (slots[slot]) slot = (slot + 1) & mask;
  slots[slot] = index + 1;
}

void leat_map_init(leat_map *map, leat_arena *arena) {
  *map = (leat_map){.arena = arena};
}

static leat_map_entry *map_find(const leat_map *map, const void *key) {
  if (!map->slots) {
    for (uint32_t i = 0; i < map->count; i++)
      if (map->entries[i].key == key) return &map->entries[i];
    return NULL;
  }
  uint32_t mask = map->capacity * 2 - 1, slot = (uint32_t)hash_pointer(key) & mask;
  for (; map->slots[slot]; slot = (slot + 1) & mask) {
    leat_map_entry *entry = &map->entries[map->slots[slot] - 1];
    if (entry->key == key) return entry;
  }
  return NULL;
}

void *leat_map_get(const leat_map *map, const void *key) {
  leat_map_entry *entry = map_find(map, key);
  return entry ? entry->value : NULL;
}

static void map_grow(leat_map *map) {
  map->entries =
      grow(map->arena, map->entries, map->count, sizeof *map->entries, &map->capacity, &map->slots);
  for (uint32_t i = 0; i < map->count; i++)
    put_slot(map->slots, map->capacity, hash_pointer(map->entries[i].key), i);
}

void leat_map_set(leat_map *map, const void *key, void *value) {
  leat_map_entry *entry = map_find(map, key);
  if (entry) {
    entry->value = value;
    return;
  }
  if (map->count == map->capacity) map_grow(map);
  put_slot(map->slots, map->capacity, hash_pointer(key), map->count);
  map->entries[map->count++] = (leat_map_entry){key, value};
}

void leat_bytes_map_init(leat_bytes_map *map, leat_arena *arena) {
  *map = (leat_bytes_map){.arena = arena};
}

static bool is_key(const leat_bytes_entry *entry, const void *key, size_t size, uint64_t hash) {
  return entry->hash == hash && entry->size == size &&
         (size == 0 || memcmp(entry->key, key, size) == 0);
}

static leat_bytes_entry *bytes_find(const leat_bytes_map *map, const void *key, size_t size,
                                    uint64_t hash) {
  if (!map->slots) {
    for (uint32_t i = 0; i < map->count; i++)
      if (is_key(&map->entries[i], key, size, hash)) return &map->entries[i];
    return NULL;
  }
  uint32_t mask = map->capacity * 2 - 1, slot = (uint32_t)hash & mask;
  for (; map->slots[slot]; slot = (slot + 1) & mask) {
    leat_bytes_entry *entry = &map->entries[map->slots[slot] - 1];
    if (is_key(entry, key, size, hash)) return entry;
  }
  return NULL;
}

void *leat_bytes_map_get(const leat_bytes_map *map, const void *key, size_t size) {
  leat_bytes_entry *entry = bytes_find(map, key, size, leat_hash_bytes(key, size, 0));
  return entry ? entry->value : NULL;
}

static void bytes_grow(leat_bytes_map *map) {
  map->entries =
      grow(map->arena, map->entries, map->count, sizeof *map->entries, &map->capacity, &map->slots);
  for (uint32_t i = 0; i < map->count; i++)
    put_slot(map->slots, map->capacity, map->entries[i].hash, i);
}

static leat_bytes_entry *bytes_add(leat_bytes_map *map, const void *key, size_t size) {
  uint64_t hash = leat_hash_bytes(key, size, 0);
  leat_bytes_entry *entry = bytes_find(map, key, size, hash);
  if (entry) return entry;
  if (map->count == map->capacity) bytes_grow(map);
  const char *copy = leat_arena_strndup(map->arena, key, size);
  put_slot(map->slots, map->capacity, hash, map->count);
  entry = &map->entries[map->count++];
  *entry = (leat_bytes_entry){copy, size, hash, NULL};
  return entry;
}

void leat_bytes_map_set(leat_bytes_map *map, const void *key, size_t size, void *value) {
  bytes_add(map, key, size)->value = value;
}

const char *leat_bytes_map_keep(leat_bytes_map *map, const void *key, size_t size) {
  return bytes_add(map, key, size)->key;
}
