// A unit that runs again: the launches of the first time (lower_unit.c), with storage of its own
// for what it makes, so that its bits are the same. Who reads that from then on has the new storage
// instead (leat_instead), which plan.c and image.c go by; lowering knows nothing of it.
//
// So what a unit is given may not have changed: of variables whoever chooses sees to that. A random
// number depends on its node and the run alone.
#include "codegen/recompute.h"

#include "codegen/contract_plan.h"

#include <string.h>

// -- Versions -------------------------------------------------------------------------------------

typedef struct version {
  leat_storage *storage;
  uint32_t from; // the position of who makes it
} version;
typedef leat_vec(version) version_list;

static void add_version(leat_versions *versions, const leat_storage *first, leat_storage *storage,
                        uint32_t from) {
  version_list *list = leat_map_get(&versions->of, first);
  if (!list) leat_map_set(&versions->of, first, list = leat_new(versions->arena, version_list));
  leat_vec_push(versions->arena, list, (version){storage, from});
}

void leat_versions_find(leat_versions *versions, const leat_table *table) {
  leat_map_init(&versions->of, versions->arena);
  for (uint32_t i = 0; i < table->units.count; i++) {
    const leat_unit *unit = table->units.items[i];
    for (uint32_t k = 0; unit->again && k < unit->outputs.count; k++)
      add_version(versions, unit->again->outputs.items[k].storage, unit->outputs.items[k].storage,
                  i);
  }
}

// Of two from one position the one that was added last.
leat_storage *leat_version_at(const leat_versions *versions, leat_storage *first,
                              uint32_t position) {
  const version_list *list = leat_map_get(&versions->of, first);
  const version *best = NULL;
  for (uint32_t i = 0; list && i < list->count; i++) {
    const version *v = &list->items[i];
    if (v->from <= position && (!best || v->from >= best->from)) best = v;
  }
  return best ? best->storage : first;
}

// -- What can be repeated -------------------------------------------------------------------------

static bool is_own(const leat_output *output) {
  const leat_storage *storage = output->storage;
  return storage->kind == LEAT_BUFFER_ARENA && !storage->place.pool && !output->into &&
         storage->type.dtype != LEAT_str;
}

// A chain has scratch memory of several.
bool leat_unit_is_repeatable(const leat_unit *unit) {
  bool computes = unit->kind == LEAT_UNIT_LOOPS || unit->kind == LEAT_UNIT_CONTRACT ||
                  unit->kind == LEAT_UNIT_GEMM || unit->kind == LEAT_UNIT_LIBRARY;
  for (uint32_t i = 0; computes && i < unit->outputs.count; i++)
    computes = is_own(&unit->outputs.items[i]);
  return computes && !unit->chain.count;
}

// What has bodies has told them where its inputs lie.
bool leat_unit_can_read_version(const leat_table *table, const leat_unit *unit,
                                const leat_unit *before) {
  bool in_order = unit == before || leat_unit_runs_before(table, before, unit);
  return in_order && unit->kind != LEAT_UNIT_REGION;
}

// They lie in its scratch, and no launch of its own makes them.
static bool has_panels_of_another(const leat_unit *unit) {
  return unit->kind == LEAT_UNIT_CONTRACT && unit->contraction->packed;
}

leat_storages leat_unit_scratch(leat_arena *arena, const leat_unit *unit) {
  leat_storages list = {0};
  bool own = unit->scratch && unit->scratch->kind == LEAT_BUFFER_ARENA;
  if (own && !has_panels_of_another(unit)) leat_vec_push(arena, &list, unit->scratch);
  if (unit->parts) leat_vec_push(arena, &list, unit->parts);
  return list;
}

// -- Repeating ------------------------------------------------------------------------------------

static void read_instead(leat_arena *arena, leat_unit *unit, const leat_storage *of,
                         leat_storage *is) {
  for (uint32_t i = 0; i < unit->instead.count; i++)
    if (unit->instead.items[i].of == of) {
      unit->instead.items[i].is = is;
      return;
    }
  leat_vec_push(arena, &unit->instead, (leat_instead){of, is});
}

// Storage of its own in the place of what the first time makes.
static leat_storage *other_storage(leat_table *table, leat_unit *unit, leat_storage *first) {
  leat_storage *storage = leat_storage_arena(table, &first->type);
  read_instead(table->cg->arena, unit, first, storage);
  return storage;
}

// What it is made of lies where it does at this position.
static leat_unit *copy_unit(leat_table *table, const leat_versions *versions, leat_unit *first,
                            const leat_unit *before) {
  leat_arena *arena = table->cg->arena;
  leat_unit *unit = leat_arena_memdup(arena, first, sizeof *first);
  unit->again = first;
  unit->task = before->task;
  memset(&unit->instead, 0, sizeof unit->instead);
  leat_unit plain = *unit;
  leat_storages reads = leat_unit_reads(versions->arena, &plain);
  for (uint32_t i = 0; i < reads.count; i++) {
    leat_storage *here = leat_version_at(versions, reads.items[i], before->position);
    if (here != reads.items[i]) read_instead(arena, unit, reads.items[i], here);
  }
  memset(&unit->outputs, 0, sizeof unit->outputs);
  for (uint32_t i = 0; i < first->outputs.count; i++) {
    leat_output output = first->outputs.items[i];
    output.storage = other_storage(table, unit, output.storage);
    leat_vec_push(arena, &unit->outputs, output);
  }
  leat_storages scratch = leat_unit_scratch(versions->arena, first);
  for (uint32_t i = 0; i < scratch.count; i++) {
    leat_storage *other = other_storage(table, unit, scratch.items[i]);
    *(scratch.items[i] == first->scratch ? &unit->scratch : &unit->parts) = other;
  }
  return unit;
}

static void read_new_versions(leat_table *table, leat_versions *versions, const leat_unit *unit,
                              const leat_unit *before) {
  for (uint32_t i = 0; i < unit->outputs.count; i++) {
    leat_storage *first = unit->again->outputs.items[i].storage;
    leat_storage *old = leat_version_at(versions, first, before->position);
    leat_storage *storage = unit->outputs.items[i].storage;
    for (uint32_t k = 0; k < old->place.touched.count; k++) {
      leat_unit *reader = old->place.touched.items[k];
      if (reader->position >= before->position && leat_unit_can_read_version(table, reader, before))
        read_instead(table->cg->arena, reader, first, storage);
    }
    add_version(versions, first, storage, before->position);
  }
}

static void number_units(leat_table *table) {
  for (uint32_t i = 0; i < table->tasks.count; i++) table->tasks.items[i].units.count = 0;
  for (uint32_t i = 0; i < table->units.count; i++) {
    leat_unit *unit = table->units.items[i];
    unit->position = i;
    leat_vec_push(table->cg->arena, &table->tasks.items[unit->task].units, unit);
  }
}

void leat_repeat(leat_table *table, leat_versions *versions, const leat_repetitions *repetitions) {
  leat_arena *arena = table->cg->arena;
  uint32_t count = table->units.count;
  typedef leat_vec(leat_unit *) unit_list;
  unit_list *added = leat_new_array(versions->arena, unit_list, count);
  for (uint32_t i = 0; i < repetitions->count; i++) {
    const leat_repetition *r = &repetitions->items[i];
    const leat_unit *before = table->units.items[r->before];
    leat_unit *unit = copy_unit(table, versions, r->unit, before);
    read_new_versions(table, versions, unit, before);
    leat_vec_push(versions->arena, &added[r->before], unit);
  }
  unit_list all = {0};
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t k = 0; k < added[i].count; k++)
      leat_vec_push(versions->arena, &all, added[i].items[k]);
    leat_vec_push(versions->arena, &all, table->units.items[i]);
  }
  table->units.count = 0;
  for (uint32_t i = 0; i < all.count; i++) leat_vec_push(arena, &table->units, all.items[i]);
  number_units(table);
}

// -- Going back -----------------------------------------------------------------------------------

leat_arrangement leat_arrangement_keep(const leat_table *table, leat_arena *arena) {
  uint32_t count = table->units.count;
  leat_arrangement kept = {
      .units = leat_arena_memdup(arena, table->units.items, count * sizeof *kept.units),
      .count = count,
      .instead = leat_new_array(arena, leat_instead *, count),
      .instead_count = leat_new_array(arena, uint32_t, count)};
  for (uint32_t i = 0; i < count; i++) {
    const leat_unit *unit = table->units.items[i];
    size_t size = unit->instead.count * sizeof *unit->instead.items;
    if (size) kept.instead[i] = leat_arena_memdup(arena, unit->instead.items, size);
    kept.instead_count[i] = unit->instead.count;
  }
  return kept;
}

void leat_arrangement_put_back(leat_table *table, const leat_arrangement *kept) {
  table->units.count = kept->count;
  for (uint32_t i = 0; i < kept->count; i++) {
    leat_unit *unit = table->units.items[i] = kept->units[i];
    unit->instead.count = kept->instead_count[i];
    size_t size = unit->instead.count * sizeof *unit->instead.items;
    if (size) memcpy(unit->instead.items, kept->instead[i], size);
  }
  number_units(table);
}
