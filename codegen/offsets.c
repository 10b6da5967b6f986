// Values of known sizes, each in the tightest gap between those that are placed already and needed
// at the same time, or at their end. What comes first finds most room, so several orders are tried:
// as the step makes them, which costs next to nothing; where that takes more than what is needed at
// once, the largest first, those that are needed longest, and those that are both.
#include "codegen/offsets.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
  MOST_PAIRS = 1 << 24, // that one order compares: more take longer than they are worth
  ENOUGH = 128,         // a share of what is needed at once that no order is tried for
};

// -- Lifetimes ------------------------------------------------------------------------------------

void leat_storage_life(const leat_storage *storage, uint32_t *first, uint32_t *last) {
  const leat_arena_place *place = &storage->place;
  *first = UINT32_MAX;
  *last = 0;
  for (uint32_t i = 0; i < place->touched.count; i++) {
    uint32_t position = place->touched.items[i]->position;
    if (position < *first) *first = position;
    if (position > *last) *last = position;
  }
  if (place->lasts) *last = place->table->units.count - 1;
}

bool leat_never_together(const leat_planner *p, const leat_storage *a, const leat_storage *b) {
  return leat_ends_before_all(p, a, b) || leat_ends_before_all(p, b, a);
}

// Of two tasks the order of their units says nothing.
static bool are_together(const leat_planner *p, const leat_sized *a, const leat_sized *b) {
  if (a->first <= b->last && b->first <= a->last) return true;
  return p->task_count > 1 && !leat_never_together(p, a->storage, b->storage);
}

// The most that is needed at once: no order takes less.
static int64_t most_together(const leat_planner *p, const leat_sized_list *values) {
  uint32_t units = p->table->units.count;
  leat_arena *arena = leat_arena_create();
  int64_t *change = leat_new_array(arena, int64_t, (size_t)units + 1), sum = 0, most = 0;
  for (uint32_t i = 0; i < values->count; i++) {
    change[values->items[i].first] += values->items[i].size;
    change[values->items[i].last + 1] -= values->items[i].size;
  }
  for (uint32_t i = 0; i < units; i++) {
    sum += change[i];
    if (sum > most) most = sum;
  }
  leat_arena_destroy(arena);
  return most;
}

// -- As the step makes them -----------------------------------------------------------------------

typedef struct range {
  int64_t low, high;
} range;

typedef leat_vec(range) ranges; // ascending

// In a task all is in order, so that it is known what is free when a unit runs; of other tasks
// nothing is taken to be, so that what several touch is never free.
typedef struct in_order {
  const leat_planner *p;
  leat_arena *arena;
  ranges *gaps, *ending; // what each task may take below `end`; what each unit is the last to touch
  int64_t end;
  uint32_t passed; // units that have run
} in_order;

// Gaps that touch become one; one that nothing follows is none.
static void free_range(in_order *o, ranges *gaps, range freed) {
  leat_vec_push(o->arena, gaps, freed);
  uint32_t i = gaps->count - 1;
  for (; i > 0 && gaps->items[i - 1].low > freed.low; i--) gaps->items[i] = gaps->items[i - 1];
  gaps->items[i] = freed;
  uint32_t first = i > 0 && gaps->items[i - 1].high == freed.low ? i - 1 : i;
  uint32_t last = i + 1 < gaps->count && gaps->items[i + 1].low == freed.high ? i + 1 : i;
  gaps->items[first].high = gaps->items[last].high;
  memmove(&gaps->items[first + 1], &gaps->items[last + 1],
          (gaps->count - last - 1) * sizeof *gaps->items);
  gaps->count -= last - first;
  if (o->p->task_count == 1 && gaps->items[gaps->count - 1].high == o->end)
    o->end = gaps->items[--gaps->count].low;
}

// The tightest gap, or the end.
static int64_t take_range(in_order *o, ranges *gaps, int64_t size) {
  uint32_t best = gaps->count;
  int64_t best_size = INT64_MAX;
  for (uint32_t i = 0; i < gaps->count; i++) {
    int64_t gap = gaps->items[i].high - gaps->items[i].low;
    if (gap >= size && gap < best_size) best = i, best_size = gap;
  }
  if (best == gaps->count) return o->end += size, o->end - size;
  int64_t low = gaps->items[best].low;
  if (best_size > size) return gaps->items[best].low += size, low;
  memmove(&gaps->items[best], &gaps->items[best + 1], (--gaps->count - best) * sizeof *gaps->items);
  return low;
}

static void place_in_order(in_order *o, leat_sized *value) {
  const leat_arena_place *place = &value->storage->place;
  const leat_table *table = o->p->table;
  uint32_t task = place->touched.items[0]->task;
  for (; o->passed < place->touched.items[0]->position; o->passed++) {
    ranges *gaps = &o->gaps[table->units.items[o->passed]->task];
    for (uint32_t i = 0; i < o->ending[o->passed].count; i++)
      free_range(o, gaps, o->ending[o->passed].items[i]);
  }
  bool in_task = true;
  for (uint32_t i = 0; i < place->touched.count; i++)
    in_task &= place->touched.items[i]->task == task;
  ranges none = {0};
  bool anywhere = place->slots && !in_task; // it may begin in another task
  value->low = take_range(o, anywhere ? &none : &o->gaps[task], value->size);
  range taken = {value->low, value->low + value->size};
  if (in_task && !place->lasts) leat_vec_push(o->arena, &o->ending[value->last], taken);
}

static void choose_in_order(const leat_planner *p, leat_sized_list *values) {
  in_order o = {.p = p, .arena = leat_arena_create()};
  o.ending = leat_new_array(o.arena, ranges, p->table->units.count);
  o.gaps = leat_new_array(o.arena, ranges, p->task_count);
  for (uint32_t i = 0; i < values->count; i++) place_in_order(&o, &values->items[i]);
  leat_arena_destroy(o.arena);
}

// -- In other orders ------------------------------------------------------------------------------

typedef leat_vec(leat_sized *) sized_order;

static double length(const leat_sized *value) {
  return (double)(value->last - value->first) + 1;
}

static int by_number(const leat_sized *a, const leat_sized *b) {
  return a < b ? -1 : a > b;
}

static int compare(double x, double y, const leat_sized *a, const leat_sized *b) {
  return x != y ? x > y ? -1 : 1 : by_number(a, b);
}

static int by_size(const void *a, const void *b) {
  const leat_sized *x = *(leat_sized *const *)a, *y = *(leat_sized *const *)b;
  return compare((double)x->size, (double)y->size, x, y);
}

static int by_length(const void *a, const void *b) {
  const leat_sized *x = *(leat_sized *const *)a, *y = *(leat_sized *const *)b;
  return length(x) != length(y) ? compare(length(x), length(y), x, y) : by_size(a, b);
}

static int by_area(const void *a, const void *b) {
  const leat_sized *x = *(leat_sized *const *)a, *y = *(leat_sized *const *)b;
  return compare(length(x) * (double)x->size, length(y) * (double)y->size, x, y);
}

static int by_start(const void *a, const void *b) {
  return by_number(*(leat_sized *const *)a, *(leat_sized *const *)b);
}

typedef int (*order_function)(const void *, const void *);

// The tightest gap, or the end. `placed` is ascending by offsets.
static void place_among(const leat_planner *p, sized_order *placed, leat_sized *value) {
  int64_t least = INT64_MAX, end = 0;
  value->low = -1;
  for (uint32_t i = 0; i < placed->count; i++) {
    const leat_sized *other = placed->items[i];
    if (!are_together(p, other, value)) continue;
    int64_t gap = other->low - end;
    if (gap >= value->size && gap < least) value->low = end, least = gap;
    if (other->low + other->size > end) end = other->low + other->size;
  }
  if (value->low < 0) value->low = end;
  uint32_t i = placed->count++; // there is room for all
  for (; i > 0 && placed->items[i - 1]->low > value->low; i--)
    placed->items[i] = placed->items[i - 1];
  placed->items[i] = value;
}

static void choose_by(const leat_planner *p, leat_sized_list *values, order_function order) {
  leat_arena *arena = leat_arena_create();
  leat_sized **list = leat_new_array(arena, leat_sized *, values->count);
  sized_order placed = {.items = leat_new_array(arena, leat_sized *, values->count)};
  for (uint32_t i = 0; i < values->count; i++) list[i] = &values->items[i];
  qsort(list, values->count, sizeof *list, order);
  for (uint32_t i = 0; i < values->count; i++) place_among(p, &placed, list[i]);
  leat_arena_destroy(arena);
}

// -------------------------------------------------------------------------------------------------

static int64_t end_of(const leat_sized_list *values) {
  int64_t end = 0;
  for (uint32_t i = 0; i < values->count; i++) {
    int64_t high = values->items[i].low + values->items[i].size;
    if (high > end) end = high;
  }
  return end;
}

static int by_offset(const void *a, const void *b) {
  const leat_sized *x = *(leat_sized *const *)a, *y = *(leat_sized *const *)b;
  return x->low < y->low ? -1 : x->low > y->low;
}

// Whether no two lie in the same memory that are needed together.
static bool are_apart(const leat_planner *p, leat_sized_list *values) {
  enum { MOST_CHECKED = 1 << 13 };
  uint32_t count = values->count < MOST_CHECKED ? values->count : MOST_CHECKED;
  leat_arena *arena = leat_arena_create();
  leat_sized **list = leat_new_array(arena, leat_sized *, count);
  bool apart = true;
  for (uint32_t i = 0; i < count; i++) list[i] = &values->items[i];
  qsort(list, count, sizeof *list, by_offset);
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t k = i + 1; k < count && list[k]->low < list[i]->low + list[i]->size; k++)
      apart = apart && leat_never_together(p, list[i]->storage, list[k]->storage);
  leat_arena_destroy(arena);
  return apart;
}

int64_t leat_offsets_choose(leat_planner *p, leat_sized_list *values) {
  static const order_function orders[] = {by_size, by_area, by_length};
  enum { ORDERS = sizeof orders / sizeof *orders };
  uint64_t pairs = (uint64_t)values->count * values->count / 2;
  leat_sized_list other = {.count = values->count};
  if (!values->count) return 0;
  for (uint32_t i = 0; i < values->count; i++) {
    leat_sized *value = &values->items[i];
    leat_storage_life(value->storage, &value->first, &value->last);
  }
  size_t size = values->count * sizeof *values->items;
  other.items = leat_arena_memdup(p->table->cg->arena, values->items, size);
  if (p->after)
    choose_by(p, values, by_start);
  else
    choose_in_order(p, values);
  int64_t least = most_together(p, values), end = end_of(values);
  for (int i = 0; i < ORDERS && end - least > least / ENOUGH && pairs <= MOST_PAIRS; i++) {
    choose_by(p, &other, orders[i]);
    int64_t here = end_of(&other);
    if (here < end) memcpy(values->items, other.items, size), end = here;
  }
  assert(are_apart(p, values));
  return end;
}
