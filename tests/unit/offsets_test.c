// codegen/plan.c and offsets.c: random tables of copies, in one task or several, and where their
// values lie: never two in the same memory unless all that touches one must have run before
// anything that touches the other.
#include "codegen/offsets.h"
#include "codegen/stages.h"
#include "tests/unit/check.h"

enum { UNITS = 60, MOST_TASKS = 6 };

typedef struct random_table {
  leat_arena *arena;
  leat_graph *graph;
  leat_codegen_state cg;
  leat_table table;
  leat_storage *values[UNITS + 1]; // what unit i reads, and i + 1 that it makes, are among them
  bool reaches[MOST_TASKS][MOST_TASKS];
} random_table;

static uint32_t below(uint64_t *state, uint32_t n) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33) % n;
}

static leat_type bytes(leat_dim count) {
  return (leat_type){.dtype = LEAT_u8, .rank = 1, .dims = {count}};
}

static void begin(random_table *t) {
  *t = (random_table){.arena = leat_arena_create()};
  t->graph = leat_graph_create(t->arena, leat_strings_create(t->arena), "test");
  t->cg = (leat_codegen_state){.graph = t->graph, .arena = t->arena};
  leat_vec_push(t->arena, &t->cg.arenas, (leat_arena_plan){0});
  t->table = (leat_table){.cg = &t->cg};
}

static void need(random_table *t, uint32_t task, uint32_t needed) {
  leat_vec_push(t->arena, &t->table.tasks.items[task].needs, needed);
  t->reaches[needed][task] = true;
  for (uint32_t a = 0; a < needed; a++) t->reaches[a][task] |= t->reaches[a][needed];
}

static void make_tasks(random_table *t, uint64_t *state) {
  uint32_t count = 1 + below(state, MOST_TASKS);
  for (uint32_t i = 0; i < count; i++) {
    leat_vec_push(t->arena, &t->table.tasks, (leat_task){0});
    for (uint32_t a = 0; a < i; a++)
      if (below(state, 3) == 0) need(t, i, a);
  }
}

static bool can_read(const random_table *t, const leat_storage *from, uint32_t task) {
  for (uint32_t i = 0; i < t->table.units.count; i++) {
    const leat_unit *unit = t->table.units.items[i];
    if (unit->copy.to == from) return unit->task == task || t->reaches[unit->task][task];
  }
  return true;
}

// Unit after unit, each of which copies what one before it in its task, or in one that it needs,
// has made.
static void make_units(random_table *t, uint64_t *state, leat_dim unit_size) {
  uint32_t task = 0, tasks = t->table.tasks.count;
  for (uint32_t i = 0; i <= UNITS; i++) {
    leat_dim size = leat_dim_const(1 + below(state, 4000));
    CHECK(leat_dim_mul(t->graph->dims, size, unit_size, &size));
    leat_type type = bytes(size);
    t->values[i] = leat_storage_arena(&t->table, &type);
  }
  for (uint32_t i = 0; i < UNITS; i++) {
    leat_unit *unit = leat_new(t->arena, leat_unit);
    task = i * tasks / UNITS;
    leat_storage *from = t->values[below(state, i + 1)];
    for (int tries = 0; !can_read(t, from, task) && tries < 20; tries++)
      from = t->values[below(state, i + 1)];
    if (!can_read(t, from, task)) from = t->values[0];
    *unit =
        (leat_unit){.kind = LEAT_UNIT_COPY,
                    .copy = {from, t->values[i + 1], &t->values[i + 1]->type, NULL, false, NULL},
                    .position = i,
                    .task = task};
    leat_vec_push(t->arena, &t->table.units, unit);
  }
}

static bool touches(const leat_unit *unit, const leat_storage *storage) {
  return unit->copy.from == storage || unit->copy.to == storage;
}

static bool all_before(const random_table *t, const leat_storage *a, const leat_storage *b) {
  for (uint32_t i = 0; i < UNITS; i++)
    for (uint32_t k = 0; k < UNITS; k++) {
      const leat_unit *x = t->table.units.items[i], *y = t->table.units.items[k];
      if (!touches(x, a) || !touches(y, b)) continue;
      if (x->task == y->task ? i >= k : !t->reaches[x->task][y->task]) return false;
    }
  return true;
}

static int64_t at(leat_dim dim, int64_t n) {
  const int64_t values[] = {n};
  const bool known[] = {true};
  int64_t out = -1;
  CHECK(leat_dim_eval(dim, values, known, &out));
  return out;
}

static void check_apart(const random_table *t, int64_t n) {
  for (uint32_t i = 0; i <= UNITS; i++)
    for (uint32_t k = i + 1; k <= UNITS; k++) {
      const leat_storage *a = t->values[i], *b = t->values[k];
      int64_t low = at(a->place.offset, n), other = at(b->place.offset, n);
      bool apart = low + at(a->type.dims[0], n) <= other || other + at(b->type.dims[0], n) <= low;
      if (!apart) CHECK(all_before(t, a, b) || all_before(t, b, a));
    }
}

// Sizes are multiples of N, of which these are values; 0: they are known.
static void check_random(uint64_t seed, const int64_t *numbers, int count) {
  random_table t;
  uint64_t state = seed;
  begin(&t);
  make_tasks(&t, &state);
  bool known = numbers[0] == 0;
  make_units(&t, &state,
             known ? leat_dim_const(1) : leat_dim_named(t.graph->dims, "N", 0, INT64_MAX));
  leat_plan_lives(&t.table);
  CHECK_EQ_INT(leat_plan_places(&t.table), LEAT_OK);
  for (int i = 0; i < count; i++) check_apart(&t, numbers[i]);
  leat_arena_destroy(t.arena);
}

TEST(values_that_are_needed_together_lie_apart) {
  for (uint64_t seed = 0; seed < 200; seed++) check_random(seed, (const int64_t[]){0}, 1);
}

TEST(so_do_those_of_run_time_size) {
  for (uint64_t seed = 0; seed < 50; seed++) check_random(seed, (const int64_t[]){1, 37}, 2);
}

// A chain in which each value is twice as large as the one before: as they come, each finds a gap
// that is too small for it, and all takes 4,032.
TEST(the_largest_come_first_where_that_takes_less) {
  static const int64_t sizes[] = {64, 128, 256, 512, 1024, 2048};
  enum { COUNT = sizeof sizes / sizeof *sizes };
  random_table t;
  begin(&t);
  leat_vec_push(t.arena, &t.table.tasks, (leat_task){0});
  for (uint32_t i = 0; i < COUNT; i++) {
    leat_type type = bytes(leat_dim_const(sizes[i]));
    t.values[i] = leat_storage_arena(&t.table, &type);
  }
  for (uint32_t i = 0; i + 1 < COUNT; i++) {
    leat_unit *unit = leat_new(t.arena, leat_unit);
    *unit =
        (leat_unit){.kind = LEAT_UNIT_COPY,
                    .copy = {t.values[i], t.values[i + 1], &t.values[i]->type, NULL, false, NULL},
                    .position = i};
    leat_vec_push(t.arena, &t.table.units, unit);
  }
  leat_plan_lives(&t.table);
  CHECK_EQ_INT(leat_plan_places(&t.table), LEAT_OK);
  CHECK_EQ_INT(t.table.cg->arenas.items[0].size.value, 1024 + 2048);
  leat_arena_destroy(t.arena);
}

CHECK_MAIN("offsets")
