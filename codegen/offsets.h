// Where values of known sizes lie, for plan.c.
#ifndef LEAT_CODEGEN_OFFSETS_H
#define LEAT_CODEGEN_OFFSETS_H

#include "codegen/units.h"

typedef struct leat_planner {
  leat_table *table;
  leat_arena_plans *arenas; // of a body's table its own, of others those of the step
  uint32_t task_count;
  const uint8_t *after; // the table's
  leat_arena *arena;    // of lists that are needed for a moment
} leat_planner;

typedef struct leat_sized {
  leat_storage *storage;
  int64_t size;         // bytes, of which the next value may follow
  int64_t low;          // out: the offset
  uint32_t first, last; // positions of the units that touch it
} leat_sized;
typedef leat_vec(leat_sized) leat_sized_list; // by who touches them first

// -- plan.c ---------------------------------------------------------------------------------------

// Whether everything that touches `old` has run when anything does that touches `storage`.
bool leat_ends_before_all(const leat_planner *p, const leat_storage *old,
                          const leat_storage *storage);

// The values of known sizes that have memory of their own, in `arena`, and the bytes that they
// would take. Of a table whose lives are known.
LEAT_MUST_USE leat_status leat_plan_sized(leat_table *table, leat_arena *arena,
                                          leat_sized_list *out);
int64_t leat_plan_extent(leat_table *table, leat_sized_list *values);

// -- offsets.c ------------------------------------------------------------------------------------

// Whether one of them ends before the other begins, so that they may lie in the same memory.
bool leat_never_together(const leat_planner *p, const leat_storage *a, const leat_storage *b);

// Chooses the offsets, by several orders of which the best counts. Returns where they all end.
int64_t leat_offsets_choose(leat_planner *p, leat_sized_list *values);

#endif
