// Memory: where each value of the arena lies. A value's memory is free for another as soon as all
// that touch it have run, by the order of tasks and, in a segment, of units; values of run-time
// size lie in the places of others that are as large, in an arena for the dims that they need.
// Outputs take the memory of an input that ends there, where each element is read for the last time
// before the same element is written; that of a scatter the memory of what it begins as. Such an
// input may be a feed that is donated.
#include "codegen/offsets.h"
#include "codegen/stages.h"

#include <stdlib.h>

enum { ALIGNMENT = 64, MOST_TASKS = 4096 };

// -- What units touch -----------------------------------------------------------------------------

static void add_once(leat_arena *arena, leat_storages *list, leat_storage *storage) {
  for (uint32_t i = 0; i < list->count; i++)
    if (list->items[i] == storage) return;
  leat_vec_push(arena, list, storage);
}

// The unit that it runs again, whose members' unit is that one; itself if it runs for the first
// time.
static const leat_unit *first_run(const leat_unit *unit) {
  return unit->again ? unit->again : unit;
}

leat_storage *leat_unit_storage(const leat_unit *unit, leat_storage *named) {
  for (uint32_t i = 0; i < unit->instead.count; i++)
    if (unit->instead.items[i].of == named) return unit->instead.items[i].is;
  return named;
}

// What `part` reads, which is the unit or in its chain.
static void add_reads(leat_arena *arena, leat_storages *list, const leat_unit *unit,
                      const leat_unit *part) {
  const leat_unit *first = first_run(unit);
  for (uint32_t i = 0; i < part->members.count; i++) {
    const leat_item *item = part->members.items[i];
    for (uint32_t j = leat_item_copied_reads(item); j < item->reads.count; j++) {
      const leat_item *producer = item->reads.items[j]->producer;
      bool inside = producer->unit && leat_unit_launcher(producer->unit) == first;
      if (!inside && producer->storage)
        add_once(arena, list, leat_unit_storage(unit, producer->storage));
    }
  }
}

leat_storages leat_unit_reads(leat_arena *arena, const leat_unit *unit) {
  leat_storages list = {0};
  for (uint32_t i = 0; i < unit->chain.count; i++)
    add_reads(arena, &list, unit, unit->chain.items[i]);
  add_reads(arena, &list, unit, unit);
  if (unit->kind == LEAT_UNIT_COPY)
    add_once(arena, &list, leat_unit_storage(unit, unit->copy.from));
  return list;
}

static void add_writes(leat_arena *arena, leat_storages *list, const leat_unit *unit) {
  for (uint32_t i = 0; i < unit->outputs.count; i++)
    if (!unit->outputs.items[i].storage->in_tile)
      add_once(arena, list, unit->outputs.items[i].storage);
  leat_storage *filled = leat_unit_filled(unit);
  if (filled) add_once(arena, list, filled);
  if (unit->scratch) add_once(arena, list, unit->scratch);
  if (unit->parts) add_once(arena, list, unit->parts);
}

leat_storages leat_unit_writes(leat_arena *arena, const leat_unit *unit) {
  leat_storages list = {0};
  for (uint32_t i = 0; i < unit->chain.count; i++) add_writes(arena, &list, unit->chain.items[i]);
  add_writes(arena, &list, unit);
  // Of a loop that is one kernel it is the kernel's.
  bool region = unit->kind == LEAT_UNIT_REGION;
  bool loop = region && unit->members.items[0]->node->op == LEAT_OP_while_loop;
  if (region && !(loop && unit->region.kernel)) add_once(arena, &list, unit->region.goes_on);
  if (region && unit->region.rows.count) add_once(arena, &list, unit->region.predicate);
  for (uint32_t i = 0; region && i < unit->region.rows.count; i++)
    add_once(arena, &list, unit->region.rows.items[i].count);
  for (uint32_t i = 0; region && i < unit->region.panels.count; i++)
    add_once(arena, &list, unit->region.panels.items[i]);
  return list;
}

// -- Lifetimes ------------------------------------------------------------------------------------

// Of the arena, and no piece of the table around.
static bool is_own(const leat_planner *p, const leat_storage *storage) {
  return storage->kind == LEAT_BUFFER_ARENA && storage->place.table == p->table;
}

// A feed that is the step's to write to. What its bodies read of it, it touches in their name.
static bool is_given(const leat_planner *p, const leat_storage *storage) {
  return storage->donated && !p->table->body && !p->table->initialises;
}

// What has the memory that the storage lies in: all slots of a pool are alive together.
static leat_storage *whole(leat_storage *storage) {
  bool slot = storage->kind == LEAT_BUFFER_ARENA && storage->place.pool;
  return slot ? storage->place.pool : storage;
}

static void touch(leat_planner *p, const leat_storages *list, leat_unit *unit) {
  for (uint32_t i = 0; i < list->count; i++) {
    leat_storage *storage = whole(list->items[i]);
    if (!is_own(p, storage) && !is_given(p, storage)) continue;
    if (!storage->place.touched.count)
      leat_vec_push(p->table->cg->arena, is_own(p, storage) ? &p->table->planned : &p->table->given,
                    storage);
    leat_vec_push(p->table->cg->arena, &storage->place.touched, unit);
  }
}

static void find_lifetimes(leat_planner *p) {
  leat_table *table = p->table;
  for (uint32_t i = 0; i < table->units.count; i++) {
    leat_unit *unit = table->units.items[i];
    leat_storages writes = leat_unit_writes(p->arena, unit);
    leat_storages reads = leat_unit_reads(p->arena, unit);
    touch(p, &reads, unit);
    touch(p, &writes, unit);
  }
  for (uint32_t i = 0; i < table->fetches.count; i++)
    whole(table->fetches.items[i].storage)->place.lasts = true;
}

static void find_task_order(leat_table *table) {
  uint32_t n = table->tasks.count;
  if (table->after || n <= 1 || n > MOST_TASKS) return;
  uint8_t *after = table->after = leat_new_array(table->cg->arena, uint8_t, (size_t)n * n);
  for (uint32_t b = 0; b < n; b++) { // tasks are numbered so that what they need is before them
    const leat_task *task = &table->tasks.items[b];
    for (uint32_t i = 0; i < task->needs.count; i++) {
      uint32_t a = task->needs.items[i];
      after[(size_t)a * n + b] = 1;
      for (uint32_t c = 0; c < a; c++) after[(size_t)c * n + b] |= after[(size_t)c * n + a];
    }
  }
}

bool leat_unit_runs_before(const leat_table *table, const leat_unit *a, const leat_unit *b) {
  if (a->task == b->task) return a->position < b->position;
  return table->after && table->after[(size_t)a->task * table->tasks.count + b->task];
}

// Everything that touches `old` has run when `unit` does.
static bool ends_before(const leat_planner *p, const leat_storage *old, const leat_unit *unit) {
  const leat_arena_place *place = &old->place;
  if (place->lasts) return false;
  for (uint32_t i = place->touched.count; i-- > 0;)
    if (!leat_unit_runs_before(p->table, place->touched.items[i], unit)) return false;
  return true;
}

bool leat_ends_before_all(const leat_planner *p, const leat_storage *old,
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
      leat_storage *named = access->producer->storage;
      bool reads = named && leat_unit_storage(unit, named) == storage;
      if (reads && !leat_access_is_same_element(access, value)) return false;
    }
  }
  return true;
}

static bool can_share(const leat_planner *p, const leat_unit *unit, const leat_output *output,
                      const leat_storage *input) {
  const leat_storage *out = output->storage;
  const leat_arena_place *place = &input->place;
  if (input == out || !(is_own(p, input) || is_given(p, input))) return false;
  if (!is_own(p, out) || out->place.pool || place->pool) return false;
  if (out->place.touched.items[0] != unit || place->lasts || place->taken) return false;
  for (uint32_t i = 0; i < place->touched.count; i++)
    if (place->touched.items[i] != unit &&
        !leat_unit_runs_before(p->table, place->touched.items[i], unit))
      return false;
  return true;
}

// The result of a scatter, in the memory of what it begins as.
static void share_scatter(leat_planner *p, const leat_unit *unit) {
  const leat_item *item = unit->members.items[0];
  leat_output *output = &unit->outputs.items[0];
  leat_storage *x = leat_unit_storage(unit, item->reads.items[0]->producer->storage);
  bool once = unit->outputs.count == 1 && output->storage->kind == LEAT_BUFFER_ARENA;
  for (uint32_t i = 1; i < item->reads.count; i++)
    once = once && leat_unit_storage(unit, item->reads.items[i]->producer->storage) != x;
  if (!once || !can_share(p, unit, output, x)) return;
  output->storage->place.shares = x;
  x->place.taken = true;
}

bool leat_unit_makes_last(const leat_unit *unit, const leat_item *item) {
  if (unit->kind == LEAT_UNIT_CONTRACT) return true;
  if (unit->kind != LEAT_UNIT_LOOPS || unit->scratch) return false;
  if (!unit->reduced) return true;
  int passes = leat_unit_find_passes(first_run(unit));
  return leat_item_is_full(item) && !leat_item_reduces(item) && item->pass == passes - 1;
}

static bool takes(const leat_planner *p, const leat_unit *unit, const leat_output *output,
                  const leat_storage *input) {
  return can_share(p, unit, output, input) &&
         leat_type_equal(&input->type, &output->storage->type) &&
         at_same_element(unit, output->item, input);
}

// What the output reads that ends here; `given`: only what lies in a donated feed.
static void share_output(leat_planner *p, const leat_unit *unit, const leat_output *output,
                         const leat_storages *reads, bool given) {
  if (output->storage->kind != LEAT_BUFFER_ARENA || output->into) return;
  if (!leat_unit_makes_last(unit, output->item)) return;
  for (uint32_t j = 0; j < reads->count && !output->storage->place.shares; j++) {
    leat_storage *input = reads->items[j];
    if (given && leat_storage_owner(input)->kind != LEAT_BUFFER_FEED) continue;
    if (!takes(p, unit, output, input)) continue;
    output->storage->place.shares = input;
    input->place.taken = true;
  }
}

// What is fetched is rather made in a feed than anything else.
static void share_in_unit(leat_planner *p, const leat_unit *unit) {
  if (unit->kind == LEAT_UNIT_SCATTER) share_scatter(p, unit);
  if (unit->kind != LEAT_UNIT_CONTRACT && unit->kind != LEAT_UNIT_LOOPS) return;
  if (unit->chain.count) return; // others of a tile's rows are read when some are stored
  leat_storages reads = leat_unit_reads(p->arena, unit);
  for (uint32_t i = 0; i < unit->outputs.count; i++)
    if (whole(unit->outputs.items[i].storage)->place.lasts)
      share_output(p, unit, &unit->outputs.items[i], &reads, true);
  for (uint32_t i = 0; i < unit->outputs.count; i++)
    share_output(p, unit, &unit->outputs.items[i], &reads, false);
}

// The owner lives as long as whatever has its memory.
static void add_life(leat_planner *p, leat_storage *owner, const leat_storage *storage) {
  owner->place.lasts |= storage->place.lasts;
  for (uint32_t j = 0; j < storage->place.touched.count; j++)
    leat_vec_push(p->table->cg->arena, &owner->place.touched, storage->place.touched.items[j]);
}

static bool as_large(const leat_planner *p, const leat_type *a, const leat_type *b) {
  leat_dims *dims = p->table->cg->graph->dims;
  leat_dim x, y;
  return a->dtype == b->dtype && leat_type_elements(dims, a, &x) &&
         leat_type_elements(dims, b, &y) && leat_dim_equal(x, y);
}

// In a feed that nobody needs when anything touches it.
static void share_feed(leat_planner *p, const leat_output *output) {
  leat_storage *storage = output->storage;
  bool alone = is_own(p, storage) && !storage->place.pool && !storage->place.shares;
  for (uint32_t i = 0; alone && !output->into && i < p->table->given.count; i++) {
    leat_storage *feed = p->table->given.items[i];
    if (!as_large(p, &feed->type, &storage->type) || !leat_ends_before_all(p, feed, storage))
      continue;
    storage->place.shares = feed;
    add_life(p, feed, storage);
    return;
  }
}

static void share_feeds(leat_planner *p, bool fetched) {
  for (uint32_t i = 0; i < p->table->units.count; i++) {
    const leat_unit *unit = p->table->units.items[i];
    bool computes = unit->kind == LEAT_UNIT_CONTRACT || unit->kind == LEAT_UNIT_LOOPS ||
                    unit->kind == LEAT_UNIT_LIBRARY || unit->kind == LEAT_UNIT_GEMM;
    for (uint32_t k = 0; computes && k < unit->outputs.count; k++)
      if (unit->outputs.items[k].storage->place.lasts == fetched)
        share_feed(p, &unit->outputs.items[k]);
  }
}

static void share(leat_planner *p) {
  for (uint32_t i = 0; i < p->table->units.count; i++) share_in_unit(p, p->table->units.items[i]);
  for (uint32_t i = 0; i < p->table->planned.count; i++) {
    leat_storage *storage = p->table->planned.items[i], *owner = leat_storage_owner(storage);
    if (owner != storage) add_life(p, owner, storage);
  }
  if (!p->table->given.count) return;
  share_feeds(p, true);
  share_feeds(p, false);
}

// -- Sizes ----------------------------------------------------------------------------------------

static bool round_up(leat_dims *dims, leat_dim *size) {
  leat_dim unit = leat_dim_const(ALIGNMENT);
  return leat_dim_add(dims, *size, leat_dim_const(ALIGNMENT - 1), size) &&
         leat_dim_floordiv(dims, *size, unit, size) && leat_dim_mul(dims, *size, unit, size);
}

// *out: rounded up, so that another can follow; *out_bytes: before that.
static leat_status memory_of(leat_planner *p, leat_storage *storage, leat_dim *out,
                             leat_dim *out_bytes) {
  leat_codegen_state *cg = p->table->cg;
  leat_dims *dims = cg->graph->dims;
  leat_dim width = leat_dim_const((int64_t)leat_dtype_size(storage->type.dtype));
  bool fits = leat_type_elements(dims, &storage->type, out_bytes) &&
              leat_dim_mul(dims, *out_bytes, width, out_bytes);
  *out = *out_bytes;
  if (!fits || !round_up(dims, out))
    return leat_fail(cg->error, LEAT_UNSUPPORTED, "a tensor has too many elements");
  if (leat_dim_is(*out, 0)) *out = leat_dim_const(ALIGNMENT);
  if (!storage->place.slots) return LEAT_OK;
  storage->place.size = *out;
  if (leat_dim_mul(dims, *out, leat_dim_const(storage->place.slots), out)) {
    *out_bytes = *out;
    return LEAT_OK;
  }
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
static leat_status arena_for(leat_planner *p, leat_dim size, uint32_t *out) {
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

// A value of run-time size.
typedef struct run_time_value {
  leat_storage *storage;
  leat_dim size, bytes; // rounded up, and before that
  double estimate;
  uint32_t number;
} run_time_value;

// A place behind the constant part of its arena, for values that are never needed together, none of
// them larger than the first.
typedef struct room {
  leat_vec(const run_time_value *) values;
  leat_dim offset;
} room;

typedef leat_vec(room) room_list;
typedef leat_vec(run_time_value) run_time_values;

static bool is_as_large(leat_dims *dims, leat_dim a, leat_dim b) {
  leat_dim difference;
  return leat_dim_equal(a, b) ||
         (leat_dim_sub(dims, a, b, &difference) && leat_dim_bounds(difference).low >= 0);
}

static bool has_room(const leat_planner *p, const room *r, const run_time_value *value) {
  const run_time_value *first = r->values.items[0];
  if (first->storage->place.arena != value->storage->place.arena ||
      !is_as_large(p->table->cg->graph->dims, first->bytes, value->bytes))
    return false;
  for (uint32_t i = 0; i < r->values.count; i++)
    if (!leat_never_together(p, r->values.items[i]->storage, value->storage)) return false;
  return true;
}

static int larger_first(const void *a, const void *b) {
  const run_time_value *x = a, *y = b;
  if (x->estimate != y->estimate) return x->estimate > y->estimate ? -1 : 1;
  return x->number < y->number ? -1 : 1;
}

// In the last room that there is, which is the smallest.
static leat_status share_rooms(leat_planner *p, run_time_values *values, room_list *rooms) {
  leat_arena *arena = p->table->cg->arena;
  if (values->count) qsort(values->items, values->count, sizeof *values->items, larger_first);
  for (uint32_t i = 0; i < values->count; i++) {
    run_time_value *value = &values->items[i];
    LEAT_TRY(arena_for(p, value->size, &value->storage->place.arena));
    uint32_t k = rooms->count;
    while (k > 0 && !has_room(p, &rooms->items[k - 1], value)) k--;
    if (!k) {
      leat_vec_push(arena, rooms, (room){0});
      k = rooms->count;
    }
    leat_vec_push(arena, &rooms->items[k - 1].values, value);
  }
  return LEAT_OK;
}

// `end`: of the constant part, which only the first arena has.
static leat_status place_rooms(leat_planner *p, const room_list *rooms, int64_t end) {
  leat_codegen_state *cg = p->table->cg;
  leat_dims *dims = cg->graph->dims;
  leat_dim *ends = leat_new_array(cg->arena, leat_dim, p->arenas->count);
  ends[0] = leat_dim_const(end);
  bool fits = true;
  for (uint32_t i = 0; i < rooms->count; i++) {
    const room *r = &rooms->items[i];
    leat_dim *offset = &ends[r->values.items[0]->storage->place.arena];
    for (uint32_t k = 0; k < r->values.count; k++)
      r->values.items[k]->storage->place.offset = *offset;
    fits = fits && leat_dim_add(dims, *offset, r->values.items[0]->size, offset);
  }
  for (uint32_t i = 0; i < p->arenas->count; i++) {
    leat_arena_plan *arena = &p->arenas->items[i];
    if (!arena->table && !arena->within)
      fits = fits && leat_dim_max(dims, arena->size, ends[i], &arena->size);
  }
  return fits ? LEAT_OK : leat_fail(cg->error, LEAT_UNSUPPORTED, "a step needs too much memory");
}

// -------------------------------------------------------------------------------------------------

static leat_status find_sizes(leat_planner *p, leat_sized_list *sized, run_time_values *others) {
  const leat_table *table = p->table;
  leat_arena *arena = p->arena;
  for (uint32_t i = 0; i < table->planned.count; i++) {
    leat_storage *storage = table->planned.items[i];
    run_time_value value = {.storage = storage, .number = i};
    if (storage->place.shares) continue;
    LEAT_TRY(memory_of(p, storage, &value.size, &value.bytes));
    value.estimate =
        leat_cost_bytes(&storage->type) * (storage->place.slots ? storage->place.slots : 1);
    if (leat_dim_is_const(value.size))
      leat_vec_push(arena, sized, (leat_sized){.storage = storage, .size = value.size.value});
    else
      leat_vec_push(arena, others, value);
  }
  return LEAT_OK;
}

static leat_planner begin(leat_table *table) {
  return (leat_planner){.table = table,
                        .arenas = table->body ? &table->arenas : &table->cg->arenas,
                        .task_count = table->tasks.count,
                        .after = table->after,
                        .arena = table->cg->arena};
}

static void forget_lives_of(leat_storages *list) {
  for (uint32_t i = 0; i < list->count; i++) {
    leat_arena_place *place = &list->items[i]->place;
    place->touched.count = 0;
    place->lasts = place->taken = false;
    place->shares = NULL;
  }
  list->count = 0;
}

void leat_plan_lives(leat_table *table) {
  find_task_order(table);
  leat_planner p = begin(table);
  p.arena = leat_arena_create();
  forget_lives_of(&table->planned);
  forget_lives_of(&table->given);
  find_lifetimes(&p);
  share(&p);
  leat_arena_destroy(p.arena);
}

leat_status leat_plan_sized(leat_table *table, leat_arena *arena, leat_sized_list *out) {
  leat_planner p = begin(table);
  p.arena = arena;
  run_time_values others = {0};
  return find_sizes(&p, out, &others);
}

int64_t leat_plan_extent(leat_table *table, leat_sized_list *values) {
  leat_planner p = begin(table);
  return leat_offsets_choose(&p, values);
}

leat_status leat_plan_places(leat_table *table) {
  leat_planner p = begin(table);
  leat_sized_list sized = {0};
  run_time_values others = {0};
  room_list rooms = {0};
  LEAT_TRY(find_sizes(&p, &sized, &others));
  int64_t end = leat_offsets_choose(&p, &sized);
  for (uint32_t i = 0; i < sized.count; i++)
    sized.items[i].storage->place.offset = leat_dim_const(sized.items[i].low);
  LEAT_TRY(share_rooms(&p, &others, &rooms));
  LEAT_TRY(place_rooms(&p, &rooms, end));
  for (uint32_t i = 0; i < table->planned.count; i++) {
    leat_storage *storage = table->planned.items[i], *owner = leat_storage_owner(storage);
    if (owner->kind != LEAT_BUFFER_ARENA) continue;
    storage->place.offset = owner->place.offset;
    storage->place.arena = owner->place.arena;
  }
  return LEAT_OK;
}
