// Which values are made again where they are read late, of a table that takes more memory than
// there is to be.
//
// What values need is known by unit, in the order of the schedule (recompute_needs.h). While the
// most of it, the peak, is too much, it is lowered by a share at a time: a *goal*, over which all
// is excess. The candidates are units, each with a place where what they make is read after a
// while: run again there, its outputs need no memory in between. What it is made of and is no
// longer there, is made again as well, if it is large, else kept for it. The gain is the excess
// that goes, by what it costs to compute; the best are taken, those that depend on no other that
// is. Then lives are planned anew, and what has not gained is put back. (As Chen et al., "Training
// Deep Nets with Sublinear Memory Cost", 2016, but chosen by the plan, as XLA's rematerialization
// is.)
#include "codegen/recompute_needs.h"
#include "codegen/stages.h"

#include <stdlib.h>

enum {
  MOST_TRIED = 64,   // units that are looked at for a candidate
  FINENESS = 16,     // a goal is the peak without such a part of it
  MUCH_SMALLER = 16, // times: what is rather kept than made again
  LEAST_COST = 100,  // nanoseconds
  MANY = INT32_MAX,
};
// Positions that are looked at in all: more take longer than they are worth.
static const uint64_t most_work = UINT64_C(1) << 31;

// Bytes that are needed more, or less, at some positions.
typedef struct change {
  uint32_t first, last;
  int64_t bytes;
} change;

// Between those that run again one has made it, and one needs it.
typedef struct temporary {
  const leat_storage *first;
  int64_t size;
  uint32_t made, used;
} temporary;

typedef struct candidate {
  uint32_t at;
  leat_vec(leat_unit *) units; // that are run again before the unit there, in order
  leat_vec(change) changes;
  leat_vec(leat_block *) blocks; // that it was found by
  leat_vec(temporary) temporaries;
  int tried;
  double cost; // nanoseconds
  int64_t gain;
} candidate;
typedef leat_vec(candidate *) candidate_list;

// What is known of a unit wherever it is to run again.
typedef struct facts {
  leat_storages reads, scratch;
  int64_t size; // of its outputs
  double cost;  // nanoseconds
} facts;

typedef struct chooser {
  leat_needs n;     // of the table as it is
  facts **facts;    // by position; NULL: not asked yet
  bool *is_again;   // by position
  leat_map refused; // units that did not gain, for this goal → themselves
  uint64_t work;
  int64_t goal;
} chooser;

static leat_status look(chooser *c) {
  uint32_t count = c->n.table->units.count;
  c->work += count;
  LEAT_TRY(leat_needs_find(&c->n));
  c->facts = leat_new_array(c->n.arena, facts *, count);
  c->is_again = leat_new_array(c->n.arena, bool, count);
  for (uint32_t i = 0; i < count; i++) c->is_again[i] = c->n.table->units.items[i]->again;
  return LEAT_OK;
}

// What runs again counts where it was not to be: at the positions of all others.
static int64_t excess_at(const chooser *c, uint32_t position) {
  int64_t over = c->n.live[position] - c->goal;
  return over > 0 && !c->is_again[position] ? over : 0;
}

static int64_t excess(const chooser *c) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < c->n.table->units.count; i++) sum += excess_at(c, i);
  return sum;
}

// -- A candidate ----------------------------------------------------------------------------------

static const leat_unit *unit_at(const chooser *c, uint32_t position) {
  return c->n.table->units.items[position];
}

static void add_change(const chooser *c, candidate *to, uint32_t first, uint32_t end,
                       int64_t bytes) {
  if (first < end) leat_vec_push(c->n.arena, &to->changes, (change){first, end - 1, bytes});
}

static void depend_on(const chooser *c, candidate *to, leat_block *b) {
  leat_vec_push(c->n.arena, &to->blocks, b);
}

// The first time, a variable was what it is there, too.
static bool is_unchanged(const chooser *c, const leat_storage *variable, const leat_unit *unit,
                         const leat_unit *before) {
  const leat_need *v = leat_need_of(&c->n, variable);
  for (uint32_t i = 0; v && i < v->makers.count; i++) {
    const leat_unit *writer = v->makers.items[i];
    if (!leat_unit_runs_before(c->n.table, writer, unit) &&
        (writer == before || !leat_unit_runs_before(c->n.table, before, writer)))
      return false;
  }
  return true;
}

static bool add_unit(chooser *c, candidate *to, leat_unit *unit);

static temporary *temporary_of(const candidate *in, const leat_storage *first) {
  for (uint32_t i = 0; i < in->temporaries.count; i++)
    if (in->temporaries.items[i].first == first) return &in->temporaries.items[i];
  return NULL;
}

// The unit that alone makes it, of which others are repetitions.
static leat_unit *maker_of(const chooser *c, const leat_storage *first) {
  const leat_need *v = leat_need_of(&c->n, first);
  return v && v->makers.count == 1 ? v->makers.items[0] : NULL;
}

// Makes again what is no longer there, or lets it be kept until then.
static bool add_lost(chooser *c, candidate *to, const leat_storage *first, const leat_need *here,
                     int64_t size) {
  leat_unit *maker = maker_of(c, first);
  bool small = here->block->size * MUCH_SMALLER <= size;
  candidate with = *to;
  if (!small && maker && add_unit(c, &with, maker)) {
    *to = with;
    return true;
  }
  to->tried = with.tried;
  depend_on(c, to, here->block);
  add_change(c, to, here->last + 1, to->at + 1, here->block->size);
  return true;
}

// What the unit reads or has of another, the value of `first`, is there when it runs again.
static bool add_input(chooser *c, candidate *to, const leat_unit *unit, leat_storage *first,
                      int64_t size) {
  const leat_unit *before = unit_at(c, to->at);
  if (first->kind == LEAT_BUFFER_VARIABLE) return is_unchanged(c, first, unit, before);
  if (first->kind == LEAT_BUFFER_GROWN) return false;
  if (first->kind != LEAT_BUFFER_ARENA || temporary_of(to, first)) return true;
  leat_storage *storage = leat_version_at(&c->n.versions, first, to->at);
  const leat_need *here = leat_need_of(&c->n, storage);
  if (!here || !here->block) return false;
  for (uint32_t i = 0; i < here->makers.count; i++)
    if (!leat_unit_runs_before(c->n.table, here->makers.items[i], before)) return false;
  depend_on(c, to, here->block);
  return here->last >= to->at || add_lost(c, to, first, here, size);
}

static void add_temporary(const chooser *c, candidate *to, const leat_storage *first,
                          int64_t size) {
  temporary t = {first, size, to->units.count, to->units.count};
  leat_vec_push(c->n.arena, &to->temporaries, t);
}

// All who are to read it from there on can, and nobody else needs its memory.
static bool can_move(const chooser *c, const leat_need *v, const leat_storage *storage,
                     uint32_t at) {
  const leat_unit *before = unit_at(c, at);
  if (v->block->stays || v->last < at) return false;
  for (uint32_t i = 0; i < v->block->touches.count; i++) {
    const leat_touch *t = &v->block->touches.items[i];
    if (t->position >= at && t->storage == storage &&
        !leat_unit_can_read_version(c->n.table, unit_at(c, t->position), before))
      return false;
  }
  return true;
}

// The output is read from its new place on, and its old one is free before, or it is there for a
// moment.
static void add_output(chooser *c, candidate *to, leat_storage *first) {
  const leat_storage *storage = leat_version_at(&c->n.versions, first, to->at);
  const leat_need *v = leat_need_of(&c->n, storage);
  add_temporary(c, to, first, can_move(c, v, storage, to->at) ? 0 : v->block->size);
  depend_on(c, to, v->block);
  if (!can_move(c, v, storage, to->at)) return;
  uint32_t before = 0;
  for (uint32_t i = 0; i < v->block->touches.count; i++)
    if (v->block->touches.items[i].position < to->at) before = v->block->touches.items[i].position;
  add_change(c, to, before + 1, to->at, -v->block->size);
}

static int64_t size_of(const chooser *c, const leat_storage *storage) {
  const leat_need *v = leat_need_of(&c->n, storage);
  return v && v->block ? v->block->size : 0;
}

static facts *found_facts(const chooser *c, leat_unit *unit) {
  facts *f = leat_new(c->n.arena, facts);
  leat_unit plain = *unit;
  plain.again = unit;
  plain.instead.count = 0;
  f->reads = leat_unit_reads(c->n.arena, &plain);
  f->scratch = leat_unit_scratch(c->n.arena, unit);
  if (unit->scratch && !f->scratch.count) leat_vec_push(c->n.arena, &f->reads, unit->scratch);
  for (uint32_t i = 0; i < unit->outputs.count; i++)
    f->size += size_of(c, unit->outputs.items[i].storage);
  f->cost = leat_unit_estimate(c->n.table, unit);
  return f;
}

static const facts *facts_of(const chooser *c, leat_unit *unit) {
  facts **of = &c->facts[unit->position];
  if (!*of) *of = found_facts(c, unit);
  return *of;
}

// Whether it alone makes this output, in memory of the arena the first time and now: a repetition's
// may have become that of a feed.
static bool can_make_again(const chooser *c, uint32_t at, leat_storage *first) {
  const leat_need *v = leat_need_of(&c->n, first);
  const leat_need *now = leat_need_of(&c->n, leat_version_at(&c->n.versions, first, at));
  return v->block && now->block && v->makers.count == 1;
}

// False: it cannot run there again.
static bool add_unit(chooser *c, candidate *to, leat_unit *unit) {
  if (to->tried++ >= MOST_TRIED || !leat_unit_is_repeatable(unit) ||
      leat_map_get(&c->refused, unit))
    return false;
  for (uint32_t i = 0; i < unit->outputs.count; i++)
    if (!can_make_again(c, to->at, unit->outputs.items[i].storage)) return false;
  const facts *f = facts_of(c, unit);
  for (uint32_t i = 0; i < f->reads.count; i++)
    if (!add_input(c, to, unit, f->reads.items[i], f->size)) return false;
  for (uint32_t i = 0; i < f->reads.count; i++) {
    temporary *made = temporary_of(to, f->reads.items[i]);
    if (made) made->used = to->units.count;
  }
  for (uint32_t i = 0; i < unit->outputs.count; i++)
    add_output(c, to, unit->outputs.items[i].storage);
  for (uint32_t i = 0; i < f->scratch.count; i++)
    add_temporary(c, to, NULL, size_of(c, f->scratch.items[i]));
  leat_vec_push(c->n.arena, &to->units, unit);
  to->cost += f->cost;
  return true;
}

// -- What it gains --------------------------------------------------------------------------------

static int64_t above(int64_t bytes, int64_t goal) {
  return bytes > goal ? bytes - goal : 0;
}

// Returns by how much the excess shrinks.
static int64_t make_change(chooser *c, const change *made) {
  int64_t gain = 0, goal = c->goal, bytes = made->bytes, *live = c->n.live;
  const bool *is_again = c->is_again;
  for (uint32_t i = made->first; i <= made->last; i++) {
    int64_t shrinks = above(live[i], goal) - above(live[i] + bytes, goal);
    gain += is_again[i] ? 0 : shrinks;
    live[i] += bytes;
  }
  return gain;
}

static int64_t make_changes(chooser *c, const candidate *from) {
  int64_t gain = 0;
  for (uint32_t i = 0; i < from->changes.count; i++) {
    const change *made = &from->changes.items[i];
    c->work += made->last - made->first + 1;
    gain += make_change(c, made);
  }
  return gain;
}

static void take_back_changes(chooser *c, const candidate *from) {
  for (uint32_t i = 0; i < from->changes.count; i++) {
    const change *made = &from->changes.items[i];
    c->work += made->last - made->first + 1;
    for (uint32_t k = made->first; k <= made->last; k++) c->n.live[k] -= made->bytes;
  }
}

// Bytes that are needed for a moment while they run again.
static int64_t most_temporary(const candidate *from) {
  int64_t most = 0;
  for (uint32_t k = 0; k < from->units.count; k++) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < from->temporaries.count; i++) {
      const temporary *t = &from->temporaries.items[i];
      if (t->made <= k && k <= t->used) sum += t->size;
    }
    if (sum > most) most = sum;
  }
  return most;
}

static int64_t gain_of(chooser *c, const candidate *from) {
  int64_t over = c->n.between[from->at] + most_temporary(from) - c->goal;
  int64_t gain = make_changes(c, from) - (over > 0 ? over : 0);
  take_back_changes(c, from);
  return gain;
}

static double worth(const candidate *a) {
  return (double)a->gain / (a->cost + LEAST_COST);
}

static int by_worth(const void *a, const void *b) {
  const candidate *x = *(candidate *const *)a, *y = *(candidate *const *)b;
  double s = worth(x), t = worth(y);
  if (s != t) return s > t ? -1 : 1;
  return x->at != y->at ? (x->at < y->at ? -1 : 1)
                        : (x->units.items[0]->position < y->units.items[0]->position ? -1 : 1);
}

static bool is_segment(const leat_unit *unit) {
  return leat_unit_task_kind(unit) == LEAT_TASK_SEGMENT;
}

static void consider(chooser *c, leat_unit *unit, uint32_t at, candidate_list *out) {
  candidate found = {.at = at};
  if (!is_segment(unit_at(c, at)) || !add_unit(c, &found, unit)) return;
  found.gain = gain_of(c, &found);
  if (found.gain <= 0) return;
  candidate *kept = leat_arena_memdup(c->n.arena, &found, sizeof found);
  leat_vec_push(c->n.arena, out, kept);
}

static bool has_excess_between(chooser *c, uint32_t first, uint32_t last) {
  for (uint32_t i = first + 1; i < last; i++, c->work++)
    if (excess_at(c, i)) return true;
  return false;
}

// Each place where the output is read after a while in which memory is short.
static void consider_output(chooser *c, leat_unit *unit, const leat_storage *storage,
                            candidate_list *out) {
  const leat_need *v = leat_need_of(&c->n, storage);
  const leat_touch *before = NULL;
  for (uint32_t i = 0; v->block && i < v->block->touches.count; i++) {
    const leat_touch *t = &v->block->touches.items[i];
    if (t->storage != storage) continue;
    if (before && has_excess_between(c, before->position, t->position))
      consider(c, unit->again ? unit->again : unit, t->position, out);
    before = t;
  }
}

static candidate_list find_candidates(chooser *c) {
  candidate_list list = {0};
  for (uint32_t i = 0; i < c->n.table->units.count && c->work < most_work; i++) {
    leat_unit *unit = c->n.table->units.items[i];
    if (!leat_unit_is_repeatable(unit)) continue;
    for (uint32_t k = 0; k < unit->outputs.count; k++)
      consider_output(c, unit, unit->outputs.items[k].storage, &list);
  }
  if (list.count) qsort(list.items, list.count, sizeof *list.items, by_worth);
  return list;
}

// -- Choosing -------------------------------------------------------------------------------------

static bool depends_on_others(const candidate *from) {
  for (uint32_t i = 0; i < from->blocks.count; i++)
    if (from->blocks.items[i]->changes) return true;
  return false;
}

static bool is_reached(const chooser *c) {
  for (uint32_t i = 0; i < c->n.table->units.count; i++)
    if (c->n.live[i] > c->goal) return false;
  return true;
}

// At most so many of the best, as long as they gain.
static uint32_t take(chooser *c, const candidate_list *list, uint32_t most, leat_repetitions *out) {
  uint32_t taken = 0;
  for (uint32_t i = 0; i < list->count && taken < most && !is_reached(c); i++) {
    const candidate *one = list->items[i];
    if (depends_on_others(one) || gain_of(c, one) <= 0) continue;
    make_changes(c, one);
    for (uint32_t k = 0; k < one->blocks.count; k++) one->blocks.items[k]->changes = true;
    for (uint32_t k = 0; k < one->units.count; k++)
      leat_vec_push(c->n.arena, out, (leat_repetition){one->units.items[k], one->at});
    taken++;
  }
  return taken;
}

// One round; *helps: the peak is nearer to the goal. When nothing is taken, nothing can.
static leat_status try_round(chooser *c, uint32_t most, leat_arena *arena, uint32_t *out_taken,
                             bool *helps) {
  candidate_list list = find_candidates(c);
  leat_repetitions repetitions = {0};
  int64_t before = excess(c), peak = c->n.peak;
  *out_taken = take(c, &list, most, &repetitions);
  if (!*out_taken) return LEAT_OK;
  leat_unit *last = repetitions.items[repetitions.count - 1].unit;
  leat_arena_reset(arena);
  leat_arrangement kept = leat_arrangement_keep(c->n.table, arena);
  leat_repeat(c->n.table, &c->n.versions, &repetitions);
  LEAT_TRY(look(c));
  *helps = excess(c) < before && c->n.peak <= peak;
  if (*helps) return LEAT_OK;
  leat_arrangement_put_back(c->n.table, &kept);
  if (*out_taken == 1) leat_map_set(&c->refused, last, last);
  return look(c);
}

// *out: false when nothing helps.
static leat_status lower_peak(chooser *c, int64_t goal, leat_arena *arena, bool *out) {
  uint32_t taken, most = MANY;
  c->goal = goal;
  leat_map_init(&c->refused, c->n.table->cg->arena);
  *out = false;
  do {
    LEAT_TRY(try_round(c, most, arena, &taken, out));
    most = 1;
  } while (!*out && taken);
  return LEAT_OK;
}

// `best` is the arrangement of the lowest peak; nothing else is worth what it costs.
static leat_status lower_to(chooser *c, int64_t limit, leat_arena *round, leat_arena *best) {
  leat_arrangement kept = leat_arrangement_keep(c->n.table, best);
  int64_t lowest = c->n.peak, aim = limit;
  bool helps = true;
  while (helps) {
    if (c->n.peak <= aim) {
      int64_t extent = leat_plan_extent(c->n.table, &c->n.sized);
      if (extent <= limit) return LEAT_OK;
      aim = c->n.peak - (extent - limit); // what lies between values is not used
    }
    int64_t far = c->n.peak - c->n.peak / FINENESS;
    LEAT_TRY(lower_peak(c, far > aim ? far : aim, round, &helps));
    // Little above a goal may be out of reach where more is not.
    if (!helps && far < aim) LEAT_TRY(lower_peak(c, far, round, &helps));
    if (helps && c->n.peak < lowest) {
      leat_arena_reset(best);
      kept = leat_arrangement_keep(c->n.table, best);
      lowest = c->n.peak;
    }
  }
  leat_arrangement_put_back(c->n.table, &kept);
  leat_plan_lives(c->n.table);
  return LEAT_OK;
}

// What the table may take; INT64_MAX: anything.
static int64_t limit_of(const leat_codegen_state *cg) {
  int64_t limit = (int64_t)cg->options->memory_limit;
  if (!limit) return INT64_MAX;
  for (uint32_t i = 0; i < cg->prepared.count; i++) {
    const leat_type *type = &cg->prepared.items[i]->type;
    limit -= leat_type_static_elements(type) * (int64_t)leat_dtype_size(type->dtype);
  }
  return limit > 0 ? limit : 0;
}

leat_status leat_recompute(leat_table *table) {
  int64_t limit = limit_of(table->cg);
  if (limit == INT64_MAX || !table->units.count) return LEAT_OK;
  leat_arena *arenas[3];
  for (int i = 0; i < 3; i++) arenas[i] = leat_arena_create();
  chooser c = {.n = {.table = table, .arena = arenas[0]}};
  leat_status status = look(&c);
  if (!status) status = lower_to(&c, limit, arenas[1], arenas[2]);
  for (int i = 0; i < 3; i++) leat_arena_destroy(arenas[i]);
  return status;
}
