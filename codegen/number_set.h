// Sets of numbers that never change and share what they have in common: tries over the bits of a
// number, the highest first, of which there is only one of each kind. Equal sets are one pointer,
// NULL is the empty one, and what a union costs is where the two differ.
#ifndef LEAT_CODEGEN_NUMBER_SET_H
#define LEAT_CODEGEN_NUMBER_SET_H

#include "base/map.h"

typedef struct leat_number_set leat_number_set;

typedef struct leat_number_sets {
  leat_arena *arena;
  leat_bytes_map known; // halves → the set of them
  int height;           // bits of a number
} leat_number_sets;

// Of numbers below `end`.
void leat_number_sets_init(leat_number_sets *sets, leat_arena *arena, uint32_t end);
const leat_number_set *leat_number_set_add(leat_number_sets *sets, const leat_number_set *set,
                                           uint32_t number);
const leat_number_set *leat_number_set_join(leat_number_sets *sets, const leat_number_set *a,
                                            const leat_number_set *b);

#endif
