// Memory: where each value of the arena lies. A value's memory is free for another as soon as all
// that touch it have run, by the order of tasks and, in a segment, of units; values of run-time
// size share with those of the same size, in an arena for the dims that it needs. Outputs take the
// memory of an input that ends there, where each element is read before the same element is
// written; that of a scatter the memory of what it begins as.
#include "codegen/units.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, MOST_TASKS = 4096, NO_ROOM = UINT32_MAX };

// -- What units touch -----------------------------------------------------------------------------

static void add_once(leat_arena *arena, leat_storages *list, leat_storage *storage) {
  for (uint32_t i = 0; i < list->count; i++)
    if (list->items[i] == storage) return;
  leat_vec_push(arena, list, storage);
}

leat_storages leat_unit_reads(leat_table *table, const leat_unit *unit) {
  leat_storages list = {0};
  for (uint32_t i = 0; i < unit->members.count; i++) {
    const leat_item *item = unit->members.items[i];
    for (uint32_t j = leat_item_copied_reads(item); j < item->reads.count; j++) {
      const leat_item *producer = item->reads.items[j]->producer;
      bool inside = producer->unit && leat_unit_of(producer->unit) == unit;
      if (!inside && producer->storage) add_once(table->cg->arena, &list, producer->storage);
    }
  }
  if (unit->kind == LEAT_UNIT_COPY) add_once(table->cg->arena, &list, unit->copy.from);
  return list;
}

leat_storages leat_unit_writes(leat_table *table, const leat_unit *unit) {
  leat_storages list = {0};
  for (uint32_t i = 0; i < unit->outputs.count; i++)
    add_once(table->cg->arena, &list, unit->outputs.items[i].storage);
  leat_storage *filled = leat_unit_filled(unit);
  if (filled) add_once(table->cg->arena, &list, filled);
  if (unit->scratch) add_once(table->cg->arena, &list, unit->scratch);
  if (unit->kind == LEAT_UNIT_REGION) add_once(table->cg->arena, &list, unit->region.predicate);
  return list;
}

// -- Lifetimes ------------------------------------------------------------------------------------

typedef struct placed {
  leat_storage *storage;
  int64_t low, high;
} placed;

typedef leat_vec(placed) placed_list; // ascending by `low`

typedef struct range {
  int64_t low, high;
} range;

typedef leat_vec(range) ranges; // ascending

typedef struct planner {
  leat_table *table;
  leat_arena_plans *arenas;          // of a body's table its one, of others those of the step
  leat_vec(leat_storage *) storages; // of the arena, by who writes them first
  uint32_t task_count;
  uint8_t *after; // task_count²: after[a × n + b]: b runs when a has ended; NULL: too many, or one
  placed_list all; // with `after`: all that has a place
  // Without: what each task may take below `end`, above which all is free, when unit number
  // `passed` runs, and what each unit is the last to touch.
  ranges *gaps, *ending;
  int64_t end;
  uint32_t passed;
} planner;

// Of the arena, and no piece of the table around.
static bool is_own(const planner *p, const leat_storage *storage) {
  return storage->kind == LEAT_BUFFER_ARENA && storage->place.table == p->table;
}

// What has the memory that the storage lies in: all slots of a pool are alive together.
static leat_storage *whole(leat_storage *storage) {
  bool slot = storage->kind == LEAT_BUFFER_ARENA && storage->place.pool;
  return slot ? storage->place.pool : storage;
}

static void touch(planner *p, const leat_storages *list, leat_unit *unit) {
  for (uint32_t i = 0; i < list->count; i++) {
    leat_storage *storage = whole(list->items[i]);
    if (!is_own(p, storage)) continue;
    if (!storage->place.touched.count) leat_vec_push(p->table->cg->arena, &p->storages, storage);
    leat_vec_push(p->table->cg->arena, &storage->place.touched, unit);
  }
}

static void find_lifetimes(planner *p) {
  leat_table *table = p->table;
  for (uint32_t i = 0; i < table->units.count; i++) {
    leat_unit *unit = table->units.items[i];
    leat_storages writes = leat_unit_writes(table, unit), reads = leat_unit_reads(table, unit);
    touch(p, &reads, unit);
    touch(p, &writes, unit);
  }
  for (uint32_t i = 0; i < table->fetches.count; i++)
    whole(table->fetches.items[i].storage)->place.lasts = true;
}

static void find_task_order(planner *p) {
  uint32_t n = p->task_count = p->table->tasks.count;
  if (n <= 1 || n > MOST_TASKS) return;
  p->after = leat_new_array(p->table->cg->arena, uint8_t, (size_t)n * n);
  for (uint32_t b = 0; b < n; b++) { // tasks are numbered so that what they need is before them
    const leat_task *task = &p->table->tasks.items[b];
    for (uint32_t i = 0; i < task->needs.count; i++) {
      uint32_t a = task->needs.items[i];
      p->after[(size_t)a * n + b] = 1;
      for (uint32_t c = 0; c < a; c++) p->after[(size_t)c * n + b] |= p->after[(size_t)c * n + a];
    }
  }
}

static bool runs_before(const planner *p, const leat_unit *a, const leat_unit *b) {
  if (a->task == b->task) return a->position < b->position;
  return p->after && p->after[(size_t)a->task * p->task_count + b->task];
}

// Everything that touches `old` has run when `unit` does.
static bool ends_before(const planner *p, const leat_storage *old, const leat_unit *unit) {
  const leat_arena_place *place = &old->place;
  if (place->lasts) return false;
  for (uint32_t i = place->touched.count; i-- > 0;)
    if (!runs_before(p, place->touched.items[i], unit)) return false;
  return true;
}

// And when anything runs that touches `storage`: one unit is the first to touch it, but for a pool.
static bool ends_before_all(const planner *p, const leat_storage *old,
                            const leat_storage *storage) {
  const leat_arena_place *place = &storage->place;
  for (uint32_t i = 0; i < (place->slots ? place->touched.count : 1); i++)
    if (!ends_before(p, old, place->touched.items[i])) return false;
  return true;
}

// -- In place -------------------------------------------------------------------------------------

static bool at_same_element(const leat_unit *unit, const leat_item *value,
                            const leat_storage *storage) {
  for (uint32_t i = 0; i < unit->members.count; i++) {
    const leat_item *item = unit->members.items[i];
    for (uint32_t j = 0; j < item->reads.count; j++) {
      const leat_access *access = item->reads.items[j];
      if (access->producer->storage == storage && !leat_access_is_same_element(access, value))
        return false;
    }
  }
  return true;
}

static bool same_memory(const leat_type *a, const leat_type *b) {
  bool same = a->dtype == b->dtype && a->rank == b->rank;
  for (int k = 0; same && k < a->rank; k++) same = leat_dim_equal(a->dims[k], b->dims[k]);
  return same;
}

static bool can_share(const planner *p, const leat_output *output, const leat_storage *input) {
  const leat_unit *unit = leat_unit_of(output->item->unit);
  const leat_storage *out = output->storage;
  const leat_arena_place *place = &input->place;
  if (input->kind != LEAT_BUFFER_ARENA || input == out) return false;
  if (!is_own(p, out) || !is_own(p, input) || out->place.pool || place->pool) return false;
  if (out->place.touched.items[0] != unit || place->lasts || place->taken) return false;
  for (uint32_t i = 0; i < place->touched.count; i++)
    if (place->touched.items[i] != unit && !runs_before(p, place->touched.items[i], unit))
      return false;
  return true;
}

// The result of a scatter, in the memory of what it begins as.
static void share_scatter(planner *p, const leat_unit *unit) {
  const leat_item *item = unit->members.items[0];
  leat_output *output = &unit->outputs.items[0];
  leat_storage *x = item->reads.items[0]->producer->storage;
  bool once = unit->outputs.count == 1 && output->storage->kind == LEAT_BUFFER_ARENA;
  for (uint32_t i = 1; i < item->reads.count; i++)
    once = once && item->reads.items[i]->producer->storage != x;
  if (!once || !can_share(p, output, x)) return;
  output->storage->place.shares = x;
  x->place.taken = true;
}

static void share_in_unit(planner *p, const leat_unit *unit) {
  if (unit->kind == LEAT_UNIT_SCATTER) share_scatter(p, unit);
  bool once = unit->kind == LEAT_UNIT_CONTRACT || (unit->kind == LEAT_UNIT_LOOPS && !unit->reduced);
  if (!once) return;
  leat_storages reads = leat_unit_reads(p->table, unit);
  for (uint32_t i = 0; i < unit->outputs.count; i++) {
    const leat_output *output = &unit->outputs.items[i];
    if (output->storage->kind != LEAT_BUFFER_ARENA) continue;
    for (uint32_t j = 0; j < reads.count && !output->storage->place.shares; j++) {
      if (!can_share(p, output, reads.items[j]) ||
          !same_memory(&reads.items[j]->type, &output->storage->type) ||
          !at_same_element(unit, output->item, reads.items[j]))
        continue;
      output->storage->place.shares = reads.items[j];
      reads.items[j]->place.taken = true;
    }
  }
}

leat_storage *leat_storage_owner(leat_storage *storage) {
  while (storage->kind == LEAT_BUFFER_ARENA && storage->place.shares)
    storage = storage->place.shares;
  return storage;
}

static void share(planner *p) {
  for (uint32_t i = 0; i < p->table->units.count; i++) share_in_unit(p, p->table->units.items[i]);
  for (uint32_t i = 0; i < p->storages.count; i++) {
    leat_storage *storage = p->storages.items[i], *owner = leat_storage_owner(storage);
    if (owner == storage) continue;
    owner->place.lasts |= storage->place.lasts;
    for (uint32_t j = 0; j < storage->place.touched.count; j++)
      leat_vec_push(p->table->cg->arena, &owner->place.touched, storage->place.touched.items[j]);
  }
}

// -- Offsets --------------------------------------------------------------------------------------

static void insert(leat_arena *arena, placed_list *list, placed item) {
  leat_vec_push(arena, list, item);
  uint32_t i = list->count - 1;
  for (; i > 0 && list->items[i - 1].low > item.low; i--) list->items[i] = list->items[i - 1];
  list->items[i] = item;
}

// Where the order of several tasks is known: in the tightest gap between those that are still alive
// when the unit runs, or at their end. Values that have ended by then may be in the way of another
// task.
static int64_t place_among_tasks(planner *p, leat_storage *storage, int64_t size) {
  int64_t low = -1, least = INT64_MAX, end = 0;
  for (uint32_t i = 0; i < p->all.count; i++) {
    placed one = p->all.items[i];
    if (ends_before_all(p, one.storage, storage)) continue;
    int64_t gap = one.low - end;
    if (gap >= size && gap < least) low = end, least = gap;
    if (one.high > end) end = one.high;
  }
  if (low < 0) low = end;
  insert(p->table->cg->arena, &p->all, (placed){storage, low, low + size});
  return low;
}

// Gaps that touch become one; one that nothing follows is none.
static void free_range(planner *p, ranges *gaps, range freed) {
  leat_vec_push(p->table->cg->arena, gaps, freed);
  uint32_t i = gaps->count - 1;
  for (; i > 0 && gaps->items[i - 1].low > freed.low; i--) gaps->items[i] = gaps->items[i - 1];
  gaps->items[i] = freed;
  uint32_t first = i > 0 && gaps->items[i - 1].high == freed.low ? i - 1 : i;
  uint32_t last = i + 1 < gaps->count && gaps->items[i + 1].low == freed.high ? i + 1 : i;
  gaps->items[first].high = gaps->items[last].high;
  memmove(&gaps->items[first + 1], &gaps->items[last + 1],
          (gaps->count - last - 1) * sizeof *gaps->items);
  gaps->count -= last - first;
  if (p->task_count == 1 && gaps->items[gaps->count - 1].high == p->end)
    p->end = gaps->items[--gaps->count].low;
}

// The tightest gap, or the end.
static int64_t take_range(planner *p, ranges *gaps, int64_t size) {
  uint32_t best = gaps->count;
  int64_t best_size = INT64_MAX;
  for (uint32_t i = 0; i < gaps->count; i++) {
    int64_t gap = gaps->items[i].high - gaps->items[i].low;
    if (gap >= size && gap < best_size) best = i, best_size = gap;
  }
  if (best == gaps->count) return p->end += size, p->end - size;
  int64_t low = gaps->items[best].low;
  if (best_size > size) return gaps->items[best].low += size, low;
  memmove(&gaps->items[best], &gaps->items[best + 1], (--gaps->count - best) * sizeof *gaps->items);
  return low;
}

// In a task all is in order, so that it is known what is free when a unit runs; of other tasks
// nothing is, so that what several touch is never free.
static int64_t place_in_order(planner *p, leat_storage *storage, int64_t size) {
  const leat_arena_place *place = &storage->place;
  const leat_unit *first = place->touched.items[0], *last = first;
  for (; p->passed < first->position; p->passed++) {
    ranges *gaps = &p->gaps[p->table->units.items[p->passed]->task];
    for (uint32_t i = 0; i < p->ending[p->passed].count; i++)
      free_range(p, gaps, p->ending[p->passed].items[i]);
  }
  bool in_task = true;
  for (uint32_t i = 0; i < place->touched.count; i++) {
    const leat_unit *unit = place->touched.items[i];
    in_task &= unit->task == first->task;
    if (unit->position > last->position) last = unit;
  }
  ranges none = {0};
  bool anywhere = place->slots && !in_task; // it may begin in another task
  int64_t low = take_range(p, anywhere ? &none : &p->gaps[first->task], size);
  bool ends = !place->lasts && in_task;
  if (ends)
    leat_vec_push(p->table->cg->arena, &p->ending[last->position], (range){low, low + size});
  return low;
}

static leat_status bytes_of(planner *p, const leat_type *type, leat_dim *out) {
  leat_codegen_state *cg = p->table->cg;
  leat_dims *dims = cg->graph->dims;
  leat_dim size = leat_dim_const((int64_t)leat_dtype_size(type->dtype));
  bool fits = leat_type_elements(dims, type, out) && leat_dim_mul(dims, *out, size, out) &&
              leat_dim_add(dims, *out, leat_dim_const(ALIGNMENT - 1), out) &&
              leat_dim_floordiv(dims, *out, leat_dim_const(ALIGNMENT), out) &&
              leat_dim_mul(dims, *out, leat_dim_const(ALIGNMENT), out);
  if (!fits) return leat_fail(cg->error, LEAT_UNSUPPORTED, "a tensor has too many elements");
  if (leat_dim_is(*out, 0)) *out = leat_dim_const(ALIGNMENT);
  return LEAT_OK;
}

static leat_status memory_of(planner *p, leat_storage *storage, leat_dim *out) {
  leat_codegen_state *cg = p->table->cg;
  LEAT_TRY(bytes_of(p, &storage->type, out));
  if (!storage->place.slots) return LEAT_OK;
  storage->place.size = *out;
  if (leat_dim_mul(cg->graph->dims, *out, leat_dim_const(storage->place.slots), out))
    return LEAT_OK;
  return leat_fail(cg->error, LEAT_UNSUPPORTED, "a step needs too much memory");
}

// -- Run-time sizes -------------------------------------------------------------------------------

typedef struct need_search {
  const leat_graph *graph; // whose binders count
  leat_dim needs;
  bool fits;
} need_search;

static void forget_atom(void *context, const leat_atom *atom) {
  const leat_atom **sought = context;
  if (*sought == atom) *sought = NULL;
}

static void add_need(void *context, const leat_atom *atom) {
  need_search *search = context;
  const leat_atom *missing = atom;
  const leat_node *binder = leat_graph_binder(search->graph, atom);
  if (!binder || binder->graph != search->graph) return;
  leat_dim_visit(search->needs, forget_atom, &missing);
  leat_dims *dims = search->graph->dims;
  if (missing)
    search->fits &= leat_dim_add(dims, search->needs, leat_dim_of_atom(dims, atom), &search->needs);
}

// The number of the arena for a value of this size: 0, or one for the dims that the table's own
// tasks bind and it needs.
static leat_status arena_for(planner *p, leat_dim size, uint32_t *out) {
  leat_codegen_state *cg = p->table->cg;
  const leat_graph *graph = p->table->body ? p->table->body : cg->graph;
  need_search search = {.graph = graph, .needs = leat_dim_const(0), .fits = true};
  *out = 0;
  leat_dim_visit(size, add_need, &search);
  if (!search.fits)
    return leat_fail(cg->error, LEAT_UNSUPPORTED, "a size needs too many run-time dims");
  for (; *out < p->arenas->count; ++*out)
    if (leat_dim_equal(p->arenas->items[*out].needs, search.needs)) return LEAT_OK;
  leat_vec_push(cg->arena, p->arenas, (leat_arena_plan){.needs = search.needs});
  return LEAT_OK;
}

// A place of run-time size behind the constant part of its arena, for one value after the other.
typedef struct room {
  leat_dim size, offset;
  uint32_t arena;
  leat_storage *last;
} room;

typedef leat_vec(room) room_list;

// *out: the room's number.
static leat_status place_in_room(planner *p, room_list *rooms, leat_storage *storage, leat_dim size,
                                 uint32_t *out) {
  leat_arena_place *place = &storage->place;
  uint32_t i = 0;
  while (i < rooms->count && !(leat_dim_equal(rooms->items[i].size, size) &&
                               ends_before_all(p, rooms->items[i].last, storage)))
    i++;
  LEAT_TRY(arena_for(p, size, &place->arena));
  if (i == rooms->count)
    leat_vec_push(p->table->cg->arena, rooms, (room){.size = size, .arena = place->arena});
  rooms->items[i].last = storage;
  *out = i;
  return LEAT_OK;
}

// `end`: of the constant part, which only the first arena has.
static leat_status place_rooms(planner *p, room_list *rooms, int64_t end) {
  leat_codegen_state *cg = p->table->cg;
  leat_dims *dims = cg->graph->dims;
  leat_dim *ends = leat_new_array(cg->arena, leat_dim, p->arenas->count);
  ends[0] = leat_dim_const(end);
  bool fits = true;
  for (uint32_t i = 0; i < rooms->count; i++) {
    leat_dim *offset = &ends[rooms->items[i].arena];
    rooms->items[i].offset = *offset;
    fits = fits && leat_dim_add(dims, *offset, rooms->items[i].size, offset);
  }
  for (uint32_t i = 0; i < p->arenas->count; i++) {
    leat_arena_plan *arena = &p->arenas->items[i];
    if (!arena->table && !arena->within)
      fits = fits && leat_dim_max(dims, arena->size, ends[i], &arena->size);
  }
  return fits ? LEAT_OK : leat_fail(cg->error, LEAT_UNSUPPORTED, "a step needs too much memory");
}

leat_status leat_plan(leat_table *table) {
  planner p = {.table = table, .arenas = table->body ? &table->arenas : &table->cg->arenas};
  room_list rooms = {0};
  int64_t end = 0;
  find_lifetimes(&p);
  find_task_order(&p);
  share(&p);
  p.ending = leat_new_array(table->cg->arena, ranges, table->units.count);
  p.gaps = leat_new_array(table->cg->arena, ranges, p.task_count);
  uint32_t *room_of = leat_new_array(table->cg->arena, uint32_t, p.storages.count);
  for (uint32_t i = 0; i < p.storages.count; i++) {
    leat_storage *storage = p.storages.items[i];
    leat_dim size;
    room_of[i] = NO_ROOM;
    if (storage->place.shares) continue;
    LEAT_TRY(memory_of(&p, storage, &size));
    if (!leat_dim_is_const(size)) {
      LEAT_TRY(place_in_room(&p, &rooms, storage, size, &room_of[i]));
      continue;
    }
    int64_t low = (p.after ? place_among_tasks : place_in_order)(&p, storage, size.value);
    storage->place.offset = leat_dim_const(low);
    if (low + size.value > end) end = low + size.value;
  }
  LEAT_TRY(place_rooms(&p, &rooms, end));
  for (uint32_t i = 0; i < p.storages.count; i++)
    if (room_of[i] != NO_ROOM) p.storages.items[i]->place.offset = rooms.items[room_of[i]].offset;
  for (uint32_t i = 0; i < p.storages.count; i++) {
    leat_storage *storage = p.storages.items[i], *owner = leat_storage_owner(storage);
    storage->place.offset = owner->place.offset;
    storage->place.arena = owner->place.arena;
  }
  return LEAT_OK;
}
