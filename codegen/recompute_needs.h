// What the values of a table need, by unit in the order of the schedule. Internal to codegen/.
#ifndef LEAT_CODEGEN_RECOMPUTE_NEEDS_H
#define LEAT_CODEGEN_RECOMPUTE_NEEDS_H

#include "codegen/offsets.h"
#include "codegen/recompute.h"

typedef struct leat_touch {
  uint32_t position;
  const leat_storage *storage;
} leat_touch;

// Memory that one value has, or several, each in place of the one before.
typedef struct leat_block {
  int64_t size;
  bool stays;                   // something in it is fetched
  bool changes;                 // by what is to be made again
  leat_vec(leat_touch) touches; // in order
} leat_block;

typedef struct leat_need {
  leat_block *block;            // NULL: it is no memory of the arena, or not of known size
  leat_vec(leat_unit *) makers; // who writes it
  uint32_t last;                // position of who touches it last
} leat_need;

typedef struct leat_needs {
  leat_table *table;
  leat_arena *arena; // of all that follows
  leat_versions versions;
  leat_map values; // leat_storage → leat_need
  leat_sized_list sized;
  int64_t *live;    // bytes by position
  int64_t *between; // bytes that are needed before and behind it
  int64_t peak;
} leat_needs;

// Plans lives, and finds anew what they need, of a table and in an arena, which is emptied.
LEAT_MUST_USE leat_status leat_needs_find(leat_needs *needs);
// NULL: nobody touches it.
leat_need *leat_need_of(const leat_needs *needs, const leat_storage *storage);

#endif
