// What the values of a table need, by unit.
#include "codegen/recompute_needs.h"
#include "codegen/stages.h"

leat_need *leat_need_of(const leat_needs *n, const leat_storage *storage) {
  return leat_map_get(&n->values, storage);
}

static leat_need *made_need(leat_needs *n, const leat_storage *storage) {
  leat_need *v = leat_need_of(n, storage);
  if (!v) leat_map_set(&n->values, storage, v = leat_new(n->arena, leat_need));
  return v;
}

static void find_blocks(leat_needs *n) {
  const leat_table *table = n->table;
  for (uint32_t i = 0; i < n->sized.count; i++) {
    const leat_sized *sized = &n->sized.items[i];
    leat_block *b = made_need(n, sized->storage)->block = leat_new(n->arena, leat_block);
    b->size = sized->size;
    b->stays = sized->storage->place.lasts;
  }
  for (uint32_t i = 0; i < table->planned.count; i++) {
    leat_storage *storage = table->planned.items[i];
    const leat_need *owner = leat_need_of(n, leat_storage_owner(storage));
    if (owner) made_need(n, storage)->block = owner->block;
  }
}

static void add_touch(leat_needs *n, const leat_storage *storage, uint32_t position) {
  leat_need *v = made_need(n, storage);
  v->last = position;
  if (v->block) leat_vec_push(n->arena, &v->block->touches, (leat_touch){position, storage});
}

static void find_touches(leat_needs *n) {
  for (uint32_t i = 0; i < n->table->units.count; i++) {
    leat_unit *unit = n->table->units.items[i];
    leat_storages reads = leat_unit_reads(n->arena, unit);
    leat_storages writes = leat_unit_writes(n->arena, unit);
    for (uint32_t k = 0; k < reads.count; k++) add_touch(n, reads.items[k], i);
    for (uint32_t k = 0; k < writes.count; k++) {
      add_touch(n, writes.items[k], i);
      leat_vec_push(n->arena, &leat_need_of(n, writes.items[k])->makers, unit);
    }
  }
}

static void find_live(leat_needs *n) {
  uint32_t count = n->table->units.count;
  n->live = leat_new_array(n->arena, int64_t, (size_t)count + 1);
  n->between = leat_new_array(n->arena, int64_t, (size_t)count + 1);
  n->peak = 0;
  for (uint32_t i = 0; i < n->sized.count; i++) {
    leat_sized *sized = &n->sized.items[i];
    leat_storage_life(sized->storage, &sized->first, &sized->last);
    n->live[sized->first] += sized->size;
    n->live[sized->last + 1] -= sized->size;
    n->between[sized->first] -= sized->size;
  }
  for (uint32_t i = 0; i < count; i++) {
    if (i) n->live[i] += n->live[i - 1];
    n->between[i] += n->live[i];
    if (n->live[i] > n->peak) n->peak = n->live[i];
  }
}

leat_status leat_needs_find(leat_needs *n) {
  leat_arena_reset(n->arena);
  leat_plan_lives(n->table);
  n->sized = (leat_sized_list){0};
  LEAT_TRY(leat_plan_sized(n->table, n->arena, &n->sized));
  n->versions.arena = n->arena;
  leat_versions_find(&n->versions, n->table);
  leat_map_init(&n->values, n->arena);
  find_blocks(n);
  find_touches(n);
  find_live(n);
  return LEAT_OK;
}
