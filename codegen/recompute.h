// Values that are made again where they are read late: what recompute_choose.c chooses,
// recompute.c does. Internal to codegen/.
#ifndef LEAT_CODEGEN_RECOMPUTE_H
#define LEAT_CODEGEN_RECOMPUTE_H

#include "codegen/units.h"

// The unit, which is nobody's repetition, is to run once more before the one at this position.
typedef struct leat_repetition {
  leat_unit *unit;
  uint32_t before;
} leat_repetition;
typedef leat_vec(leat_repetition)
    leat_repetitions; // of one position in the order in which they run

// Where a value lies that is made several times: what a unit has as an output the first time, by
// position of who reads it.
typedef struct leat_versions {
  leat_arena *arena;
  leat_map of; // leat_storage → those behind the first, in order
} leat_versions;

// Of a table whose units have their positions.
void leat_versions_find(leat_versions *versions, const leat_table *table);
leat_storage *leat_version_at(const leat_versions *versions, leat_storage *first,
                              uint32_t position);

// Whether it may be repeated: it makes values of the table's arena and does nothing else.
bool leat_unit_is_repeatable(const leat_unit *unit);
// Whether it can read a value in another place from then on that `before` reads it.
bool leat_unit_can_read_version(const leat_table *table, const leat_unit *unit,
                                const leat_unit *before);
// What it makes for itself alone; not the panels of another.
leat_storages leat_unit_scratch(leat_arena *arena, const leat_unit *unit);

// Puts the repetitions in front of the units that read what they make, which read the new versions
// from then on. Lives are to be planned anew.
void leat_repeat(leat_table *table, leat_versions *versions, const leat_repetitions *repetitions);

// The units of a table as they were, in an arena.
typedef struct leat_arrangement {
  leat_unit **units;
  uint32_t count;
  leat_instead **instead; // by unit
  uint32_t *instead_count;
} leat_arrangement;
leat_arrangement leat_arrangement_keep(const leat_table *table, leat_arena *arena);
void leat_arrangement_put_back(leat_table *table, const leat_arrangement *kept);

#endif
