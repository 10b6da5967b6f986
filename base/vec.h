// A growable array in an arena: `leat_vec(leat_node *) nodes = {0}; leat_vec_push(arena, &nodes,
// n);`, read as nodes.items[i] for i < nodes.count. The old block stays in the arena when it grows.
#ifndef LEAT_BASE_VEC_H
#define LEAT_BASE_VEC_H

#include "base/arena.h"

#include <stdint.h>

#define leat_vec(T)                                                                                \
  struct {                                                                                         \
    T *items;                                                                                      \
    uint32_t count, capacity;                                                                      \
  }

#define leat_vec_push(arena, vec, ...)                                                             \
  do {                                                                                             \
    leat_vec_reserve((arena), (vec), (vec)->count + 1u);                                           \
    (vec)->items[(vec)->count++] = (__VA_ARGS__);                                                  \
  } while (0)

#define leat_vec_reserve(arena, vec, n)                                                            \
  ((vec)->items = leat_vec_grow((arena), (vec)->items, (vec)->count, &(vec)->capacity, (n),        \
                                sizeof *(vec)->items))

// Returns the block itself when it holds `needed` items, else a copy in a block at least twice as
// large.
void *leat_vec_grow(leat_arena *arena, void *items, uint32_t count, uint32_t *capacity,
                    uint32_t needed, size_t size);

#endif
