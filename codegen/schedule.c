// The order of units, and their tasks.
//
// Order: any that follows the edges keeps the meaning; this one takes, of the units that are ready,
// first what others wait for (sends), then what frees more memory than it takes, then the first in
// the order of the text. Where a recv starts is in the graph already (partition's control edges).
//
// Tasks: units that need the same waits (sends, recvs, prints, binds) run one after the other as a
// segment; a segment ends where something that waits needs its last unit, so that this starts at
// once.
#include "codegen/stages.h"

#include "base/heap.h"

#include <assert.h>
#include <stdlib.h>

// -- Order ----------------------------------------------------------------------------------------

enum { MUCH_SMALLER = 16 }; // times

typedef struct slot {
  leat_unit *unit;
  uint32_t missing; // edges from units that have not run
  bool taken;
  leat_vec(uint32_t) followers;
} slot;

typedef leat_vec(uint32_t) number_list;

typedef struct scheduler {
  leat_table *table;
  slot *slots; // by the position in the table's first order
  uint32_t count;
  leat_heap ready;  // rank, then number; who came to free memory since is in it twice
  leat_map readers; // leat_storage of the arena → numbers of who reads it
} scheduler;

static bool is_task(const leat_unit *unit) {
  return leat_unit_task_kind(unit) != LEAT_TASK_SEGMENT;
}

// Whether what dies with the unit is more than what it makes, or would be if it were the last that
// reads it: what is read by several that make little goes when all have run. `readers` counts those
// to come.
static bool frees_memory(const scheduler *s, const leat_unit *unit) {
  double read = 0, dies = 0, made = 0;
  leat_storages reads = leat_unit_reads(s->table->cg->arena, unit);
  leat_storages writes = leat_unit_writes(s->table->cg->arena, unit);
  for (uint32_t i = 0; i < reads.count; i++) {
    if (reads.items[i]->kind != LEAT_BUFFER_ARENA) continue;
    read += leat_cost_bytes(&reads.items[i]->type);
    if (reads.items[i]->readers == 1) dies += leat_cost_bytes(&reads.items[i]->type);
  }
  for (uint32_t i = 0; i < writes.count; i++)
    if (writes.items[i]->kind == LEAT_BUFFER_ARENA) made += leat_cost_bytes(&writes.items[i]->type);
  return made < dies || made * MUCH_SMALLER < read;
}

static void push_ready(scheduler *s, uint32_t number) {
  const leat_unit *unit = s->slots[number].unit;
  uint64_t rank = is_task(unit) && leat_unit_task_kind(unit) != LEAT_TASK_RECV ? 0
                  : frees_memory(s, unit)                                      ? 1
                                                                               : 2;
  leat_heap_push(s->table->cg->arena, &s->ready, rank << 32 | number);
}

static void add_reader(scheduler *s, leat_storage *storage, uint32_t number) {
  leat_arena *arena = s->table->cg->arena;
  storage->readers++;
  if (storage->kind != LEAT_BUFFER_ARENA) return;
  number_list *list = leat_map_get(&s->readers, storage);
  if (!list) leat_map_set(&s->readers, storage, list = leat_new(arena, number_list));
  leat_vec_push(arena, list, number);
}

// The last reader to come may free memory now, and has waited since before that.
static void remove_reader(scheduler *s, leat_storage *storage) {
  storage->readers--;
  if (storage->kind != LEAT_BUFFER_ARENA || storage->readers != 1) return;
  const number_list *list = leat_map_get(&s->readers, storage);
  for (uint32_t i = 0; i < list->count; i++) {
    const slot *reader = &s->slots[list->items[i]];
    if (!reader->taken && !reader->missing) push_ready(s, list->items[i]);
  }
}

static void count_edges(scheduler *s) {
  leat_arena *arena = s->table->cg->arena;
  for (leat_unit *unit = s->table->head; unit; unit = unit->next) {
    unit->position = s->count;
    s->slots[s->count++].unit = unit;
  }
  for (uint32_t i = 0; i < s->count; i++) {
    const leat_unit *unit = s->slots[i].unit;
    leat_storages reads = leat_unit_reads(arena, unit);
    for (uint32_t j = 0; j < reads.count; j++) add_reader(s, reads.items[j], i);
    for (uint32_t j = 0; j < unit->before.count; j++) {
      const leat_unit *needed = leat_unit_launcher(unit->before.items[j]);
      if (needed == unit) continue;
      s->slots[i].missing++;
      leat_vec_push(arena, &s->slots[needed->position].followers, i);
    }
  }
}

static void order_units(leat_table *table) {
  scheduler s = {.table = table};
  uint32_t count = table->units.count;
  table->units.count = 0;
  s.slots = leat_new_array(table->cg->arena, slot, count);
  leat_map_init(&s.readers, table->cg->arena);
  count_edges(&s);
  for (uint32_t i = 0; i < s.count; i++)
    if (s.slots[i].missing == 0) push_ready(&s, i);
  while (s.ready.count) {
    slot *next = &s.slots[(uint32_t)leat_heap_pop(&s.ready)];
    if (next->taken) continue;
    next->taken = true;
    leat_vec_push(table->cg->arena, &table->units, next->unit);
    leat_storages reads = leat_unit_reads(table->cg->arena, next->unit);
    for (uint32_t i = 0; i < reads.count; i++) remove_reader(&s, reads.items[i]);
    for (uint32_t i = 0; i < next->followers.count; i++)
      if (--s.slots[next->followers.items[i]].missing == 0)
        push_ready(&s, next->followers.items[i]);
  }
  assert(table->units.count == s.count);
  for (uint32_t i = 0; i < table->units.count; i++) table->units.items[i]->position = i;
}

// -- Tasks ----------------------------------------------------------------------------------------

typedef struct cutter {
  leat_table *table;
  const leat_number_set **needs; // by unit position: the tasks that wait below it
  bool *feeds;                   // by unit position: something that waits needs it
  leat_number_sets sets;
  leat_map open; // set → number + 1 of the segment that grows
} cutter;

static const leat_number_set *needs_of(cutter *c, const leat_unit *unit) {
  const leat_number_set *all = NULL;
  for (uint32_t i = 0; i < unit->before.count; i++) {
    const leat_unit *needed = leat_unit_launcher(unit->before.items[i]);
    if (needed == unit) continue;
    all = leat_number_set_join(&c->sets, all, c->needs[needed->position]);
    if (is_task(needed)) all = leat_number_set_add(&c->sets, all, needed->task);
  }
  return all;
}

static uint32_t new_task(leat_table *table) {
  leat_vec_push(table->cg->arena, &table->tasks, (leat_task){0});
  return table->tasks.count - 1;
}

static void put_in_task(cutter *c, leat_unit *unit) {
  leat_table *table = c->table;
  const leat_number_set *needs = c->needs[unit->position];
  if (is_task(unit)) {
    unit->task = new_task(table);
  } else {
    uintptr_t open = (uintptr_t)leat_map_get(&c->open, needs);
    unit->task = open ? (uint32_t)(open - 1) : new_task(table);
    bool ends = c->feeds[unit->position];
    leat_map_set(&c->open, needs, ends ? NULL : (void *)((uintptr_t)unit->task + 1));
  }
  leat_task *task = &table->tasks.items[unit->task];
  leat_vec_push(table->cg->arena, &task->units, unit);
  for (uint32_t i = 0; i < unit->before.count; i++) {
    uint32_t needed = leat_unit_launcher(unit->before.items[i])->task;
    if (needed != unit->task) leat_vec_push(table->cg->arena, &task->needs, needed);
  }
}

static int compare_numbers(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

// Ascending, each once.
static void sort_needs(leat_task *task) {
  uint32_t kept = 0, *items = task->needs.items;
  if (task->needs.count) qsort(items, task->needs.count, sizeof *items, compare_numbers);
  for (uint32_t i = 0; i < task->needs.count; i++)
    if (i == 0 || items[i] != items[i - 1]) items[kept++] = items[i];
  task->needs.count = kept;
}

static void cut_tasks(leat_table *table) {
  leat_arena *arena = table->cg->arena;
  cutter c = {.table = table};
  c.needs = leat_new_array(arena, const leat_number_set *, table->units.count);
  c.feeds = leat_new_array(arena, bool, table->units.count);
  leat_number_sets_init(&c.sets, arena, table->units.count);
  leat_map_init(&c.open, arena);
  for (uint32_t i = 0; i < table->units.count; i++) {
    const leat_unit *unit = table->units.items[i];
    for (uint32_t j = 0; is_task(unit) && j < unit->before.count; j++)
      c.feeds[leat_unit_launcher(unit->before.items[j])->position] = true;
  }
  for (uint32_t i = 0; i < table->units.count; i++) {
    c.needs[i] = needs_of(&c, table->units.items[i]);
    put_in_task(&c, table->units.items[i]);
  }
  for (uint32_t i = 0; i < table->tasks.count; i++) {
    leat_task *task = &table->tasks.items[i];
    sort_needs(task);
    for (uint32_t j = 0; j < task->needs.count; j++)
      leat_vec_push(arena, &table->tasks.items[task->needs.items[j]].successors, i);
  }
}

void leat_schedule(leat_table *table) {
  order_units(table);
  cut_tasks(table);
}
