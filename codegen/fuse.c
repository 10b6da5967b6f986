// Fusion: merges units of loops with the units that make what they read, where both can be computed
// in one pass over a space.
//
// Units are joined greedily: consumers in topological order with their producers, then units that
// read the same value at the same positions, or reduce the same windows, so that it is read once.
// Two of them fit when their spaces are the same (axes in the same order), or when one is the rows
// of the other: its axes are those outside the other's inner axes, which a reduction folds (a
// softmax: reductions, what they read and what reads them) or which are the last. Every value that
// one reads of the other must be at the reader's own position. The result must not need itself
// through a third unit. An assignment joins the unit that makes its value, when no other element of
// the old value is read there.
#include "codegen/stages.h"

#include "kernel/kernel.h"
#include "ops/reduce.h"

#include <stdlib.h>

enum {
  MOST_MEMBERS = 128,
  MOST_REDUCTIONS = 16,
  FEW_ROWS = 16,          // tiles that a reduction would have at most …
  LONG_WORK = 500 * 1000, // … and elements that it would have at least, to be shared by threads
};

// Axes of the second unit as axes of the first; -1: not known yet.
typedef struct axis_map {
  int8_t to[LEAT_MAX_RANK];
} axis_map;

typedef enum relation {
  UNRELATED,
  SAME,          // one space
  FIRST_IS_ROWS, // the first's space is the second's without its inner axes
  SECOND_IS_ROWS,
} relation;

unsigned leat_unit_inner(const leat_unit *unit) {
  if (unit->reduced) return unit->reduced;
  return unit->rank ? 1u << (unit->rank - 1) : 0;
}

bool leat_item_is_full(const leat_item *item) {
  const leat_unit *unit = leat_unit_of(item->unit);
  int rank = leat_item_space(item)->rank, axes = 0;
  for (int k = 0; k < rank; k++) axes += item->axis[k] >= 0;
  return axes == unit->rank;
}

bool leat_unit_is_long(const leat_unit *unit) {
  int64_t kept = 1, reduced = 1;
  bool last_reduced = unit->rank && unit->reduced >> (unit->rank - 1) & 1;
  if (!unit->reduced || unit->by_lanes != last_reduced) return false;
  if (unit->by_lanes && unit->innermost != unit->reduced) return false;
  for (int k = 0; k < unit->rank; k++) {
    int64_t *product = unit->reduced >> k & 1 ? &reduced : &kept;
    if (!leat_dim_is_const(unit->dims[k])) return false;
    if (__builtin_mul_overflow(*product, unit->dims[k].value, product)) return false;
  }
  int64_t block = unit->by_lanes ? LEAT_REDUCE_BLOCK_INNER : LEAT_REDUCE_BLOCK_OUTER;
  int64_t tiles = unit->by_lanes ? kept : kept / (4 * LEAT_LANES);
  return tiles < FEW_ROWS && reduced > 2 * block && (double)kept * (double)reduced > LONG_WORK;
}

// -- Do two units fit? ----------------------------------------------------------------------------

// What reads the result of a reduction and goes over all its elements again is a pass of its own.
static bool starts_a_pass(const leat_access *access) {
  const leat_unit *made = leat_unit_of(access->producer->unit);
  const leat_unit *read = leat_unit_of(access->consumer->unit);
  int axes = 0;
  for (int k = 0; k < leat_item_type(access->producer)->rank; k++)
    axes += leat_item_result_axis(access->producer, k) >= 0;
  return axes < made->rank && read->rank == made->rank;
}

// Learns from one access between them which axes are the same; false: it is elsewhere.
static bool learn(const leat_access *access, const leat_unit *second, axis_map *map) {
  const leat_item *producer = access->producer, *consumer = access->consumer;
  if (!access->aligned) return false;
  if (leat_unit_is_long(leat_unit_of(producer->unit)) && starts_a_pass(access)) return false;
  bool producer_is_second = leat_unit_of(producer->unit) == second;
  for (int k = 0; k < leat_item_type(producer)->rank; k++) {
    int result = leat_item_result_axis(producer, k);
    if (result < 0 || producer->axis[result] < 0) continue;
    int made = producer->axis[result];
    int read = access->axis[k] < 0 ? -1 : consumer->axis[access->axis[k]];
    if (read < 0) return false;
    int8_t *to = &map->to[producer_is_second ? made : read];
    int first = producer_is_second ? read : made;
    if (*to >= 0 && *to != first) return false;
    *to = (int8_t)first;
  }
  return true;
}

static bool learn_all(const leat_unit *first, const leat_unit *second, axis_map *map) {
  const leat_unit *small = first->members.count < second->members.count ? first : second;
  const leat_unit *large = small == first ? second : first;
  for (uint32_t i = 0; i < small->members.count; i++) {
    const leat_item *item = small->members.items[i];
    for (uint32_t j = 0; j < item->reads.count; j++) {
      const leat_access *access = item->reads.items[j];
      if (access->producer->unit && leat_unit_of(access->producer->unit) == large &&
          !learn(access, second, map))
        return false;
    }
    for (uint32_t j = 0; j < item->users.count; j++) {
      const leat_access *access = item->users.items[j];
      if (access->consumer->unit && leat_unit_of(access->consumer->unit) == large &&
          !learn(access, second, map))
        return false;
    }
  }
  return true;
}

static unsigned all_axes(const leat_unit *unit) {
  return (1u << unit->rank) - 1;
}

// Maps the second's axes to the first's axes of `among`, all of them, in order and of equal extent.
static bool complete(const leat_unit *first, unsigned among, const leat_unit *second,
                     axis_map *map) {
  int next = 0;
  for (int k = 0; k < second->rank; k++) {
    while (next < first->rank && !(among >> next & 1)) next++;
    if (next == first->rank || (map->to[k] >= 0 && map->to[k] != next)) return false;
    if (!leat_dim_equal(first->dims[next], second->dims[k])) return false;
    map->to[k] = (int8_t)next++;
  }
  while (next < first->rank && !(among >> next & 1)) next++;
  return next == first->rank;
}

// A product's rows may be stored in another order: whether all axes of the second are known, its
// last one as the product's columns.
static bool is_permuted(const leat_unit *product, const leat_unit *second, const axis_map *map) {
  unsigned seen = 0;
  int last = product->rank - 1;
  if (product->kind != LEAT_UNIT_CONTRACT || product->rank != second->rank) return false;
  for (int k = 0; k < second->rank; k++) {
    if (map->to[k] < 0 || !leat_dim_equal(product->dims[map->to[k]], second->dims[k])) return false;
    seen |= 1u << map->to[k];
  }
  return last >= 0 && seen == all_axes(product) && map->to[last] == last;
}

static bool inverse(const axis_map *map, int rank, axis_map *out) {
  for (int k = 0; k < LEAT_MAX_RANK; k++) out->to[k] = -1;
  for (int k = 0; k < rank; k++) {
    if (map->to[k] < 0) continue;
    if (out->to[map->to[k]] >= 0) return false;
    out->to[map->to[k]] = (int8_t)k;
  }
  return true;
}

static unsigned mapped(unsigned axes, const axis_map *map) {
  unsigned out = 0;
  for (int k = 0; k < LEAT_MAX_RANK; k++)
    if (axes >> k & 1) out |= 1u << map->to[k];
  return out;
}

static bool same_reductions(const leat_unit *first, const leat_unit *second, const axis_map *map) {
  if (!first->reduced || !second->reduced) return true;
  if (leat_unit_is_long(first)) return false;
  return first->reduced == mapped(second->reduced, map) && first->by_lanes == second->by_lanes &&
         first->innermost == mapped(second->innermost, map);
}

// Members that are rows of one of them stay rows in the result.
static bool same_rows(const leat_unit *first, const leat_unit *second, const axis_map *map) {
  unsigned reduced = first->reduced | mapped(second->reduced, map);
  unsigned inner = reduced ? reduced : leat_unit_inner(first);
  return (!first->has_rows || leat_unit_inner(first) == inner) &&
         (!second->has_rows || mapped(leat_unit_inner(second), map) == inner);
}

static bool is_loops(const leat_unit *unit) {
  return unit->kind == LEAT_UNIT_LOOPS;
}

// Without a reduction, the tiles of a unit share the row that all of it is.
static bool has_several_rows(const leat_unit *unit) {
  return unit->reduced || unit->rank != 1;
}

// What is computed for a row is computed without vectors, unless vectors lie across the rows. That
// must cost less than to read the row again in a kernel of its own.
static bool rows_are_cheap(const leat_unit *rows, const leat_unit *full) {
  double cost = 0, inner = 1;
  if (full->reduced && !full->by_lanes) return true;
  for (uint32_t i = 0; i < rows->members.count; i++) cost += rows->members.items[i]->cost;
  for (int k = 0; k < full->rank; k++)
    if (leat_unit_inner(full) >> k & 1) inner *= leat_cost_elements(&full->dims[k], 1);
  return cost <= 8 + inner / 8;
}

// `map`: what is known of the axes already; then all of it.
static relation relate(const leat_unit *first, const leat_unit *second, axis_map *map) {
  axis_map learnt = *map, back;
  bool contracts = first->kind == LEAT_UNIT_CONTRACT;
  if (!(is_loops(first) || contracts) || !(is_loops(second) || second->kind == LEAT_UNIT_CONTRACT))
    return UNRELATED;
  if (!is_loops(first) && !is_loops(second)) return UNRELATED;
  contracts |= second->kind == LEAT_UNIT_CONTRACT;
  if (!learn_all(first, second, &learnt)) return UNRELATED;
  *map = learnt;
  bool same = first->rank == second->rank && complete(first, all_axes(first), second, map);
  if (!same && is_permuted(first, second, &learnt)) {
    *map = learnt;
    same = true;
  }
  if (same)
    return (contracts ? !first->reduced && !second->reduced && !first->has_rows && !second->has_rows
                      : same_reductions(first, second, map) && same_rows(first, second, map))
               ? SAME
               : UNRELATED;
  if (contracts) return UNRELATED;
  *map = learnt;
  if (!second->reduced && !second->has_rows && has_several_rows(first) &&
      rows_are_cheap(second, first) &&
      complete(first, all_axes(first) & ~leat_unit_inner(first), second, map))
    return SECOND_IS_ROWS;
  *map = learnt;
  if (!first->reduced && !first->has_rows && has_several_rows(second) &&
      rows_are_cheap(first, second) && inverse(&learnt, second->rank, &back) &&
      complete(second, all_axes(second) & ~leat_unit_inner(second), first, &back)) {
    *map = back;
    return FIRST_IS_ROWS;
  }
  return UNRELATED;
}

bool leat_unit_is_fenced(const leat_unit *unit, const leat_unit *from) {
  for (uint32_t i = 0; i < unit->fences.count; i++)
    if (leat_unit_of(unit->fences.items[i]) == from) return true;
  return false;
}

// -- Merging --------------------------------------------------------------------------------------

static void renumber(leat_unit *unit, const axis_map *map) {
  for (uint32_t i = 0; i < unit->members.count; i++) {
    leat_item *item = unit->members.items[i];
    for (int k = 0; k < leat_item_space(item)->rank; k++)
      if (item->axis[k] >= 0) item->axis[k] = map->to[item->axis[k]];
  }
  unit->reduced = mapped(unit->reduced, map);
  unit->innermost = mapped(unit->innermost, map);
}

#define APPEND_ALL(arena, to, from)                                                                \
  for (uint32_t i_ = 0; i_ < (from)->count; i_++) leat_vec_push(arena, to, (from)->items[i_])

static void absorb(leat_table *table, leat_unit *unit, leat_unit *other) {
  leat_arena *arena = table->cg->arena;
  APPEND_ALL(arena, &unit->members, &other->members);
  APPEND_ALL(arena, &unit->before, &other->before);
  APPEND_ALL(arena, &unit->fences, &other->fences);
  APPEND_ALL(arena, &unit->outputs, &other->outputs);
  if (other->reduced) {
    unit->reduced = other->reduced;
    unit->innermost = other->innermost;
    unit->by_lanes = other->by_lanes;
  }
  if (other->kind == LEAT_UNIT_CONTRACT) unit->kind = LEAT_UNIT_CONTRACT;
  unit->has_rows |= other->has_rows;
  unit->reductions += other->reductions;
  other->into = unit;
}

static void set_space(leat_unit *unit, const leat_unit *like) {
  unit->rank = like->rank;
  for (int k = 0; k < like->rank; k++) unit->dims[k] = like->dims[k];
}

// `map`: the axes of `second`, which is behind `first` in the order, as those of `first`.
static void merge(leat_table *table, leat_unit *first, leat_unit *second, axis_map map) {
  if (first == second || first->members.count + second->members.count > MOST_MEMBERS ||
      first->reductions + second->reductions > MOST_REDUCTIONS)
    return;
  if (leat_unit_is_fenced(second, first)) return;
  relation r = relate(first, second, &map);
  if (r == UNRELATED || !leat_units_merge_order(table, first, second)) return;
  renumber(r == FIRST_IS_ROWS ? first : second, &map);
  if (r == FIRST_IS_ROWS) set_space(first, second);
  absorb(table, first, second);
  first->has_rows |= r != SAME;
}

static const axis_map unknown = {{-1, -1, -1, -1, -1, -1, -1, -1}};

static void merge_with_producers(leat_table *table, const leat_item *item) {
  for (uint32_t i = 0; i < item->reads.count; i++) {
    leat_unit *made = leat_unit_of(item->reads.items[i]->producer->unit);
    leat_unit *read = leat_unit_of(item->unit);
    if (made && made->label < read->label)
      merge(table, made, read, unknown);
    else if (made && made->label > read->label)
      merge(table, read, made, unknown);
  }
}

// Where two units read all of one value, each position at a position of theirs: which axes of the
// second are which of the first.
static bool same_positions(const leat_access *a, const leat_access *b, axis_map *map) {
  const leat_unit *first = leat_unit_of(a->consumer->unit);
  const leat_unit *second = leat_unit_of(b->consumer->unit);
  int known = 0;
  *map = unknown;
  if (!a->aligned || !b->aligned || first->rank != second->rank) return false;
  for (int k = 0; k < leat_item_type(a->producer)->rank; k++) {
    int at_first = a->axis[k] < 0 ? -1 : a->consumer->axis[a->axis[k]];
    int at_second = b->axis[k] < 0 ? -1 : b->consumer->axis[b->axis[k]];
    if (at_first < 0 && at_second < 0) continue;
    if (at_first < 0 || at_second < 0) return false;
    map->to[at_second] = (int8_t)at_first;
    known++;
  }
  return known == second->rank;
}

static void merge_readers(leat_table *table, const leat_item *item) {
  const leat_access *last = NULL;
  for (uint32_t i = 0; i < item->users.count; i++) {
    const leat_access *access = item->users.items[i];
    axis_map map;
    if (access->consumer->role != LEAT_ROLE_WORK) continue;
    const leat_unit *unit = leat_unit_of(access->consumer->unit);
    const leat_unit *before = last ? leat_unit_of(last->consumer->unit) : unit;
    const leat_access *first = before->label < unit->label ? last : access;
    const leat_access *second = first == last ? access : last;
    if (before != unit && same_positions(first, second, &map))
      merge(table, leat_unit_of(first->consumer->unit), leat_unit_of(second->consumer->unit), map);
    last = access;
  }
}

// Of windows and the like, which each reduction would compute in place.
static void merge_reductions(leat_table *table) {
  leat_map last; // item that is free → the last reduction of it
  leat_map_init(&last, table->cg->scratch);
  for (uint32_t p = 0; p < table->items.count; p++) {
    leat_item *item = table->items.items[p];
    if (item->role != LEAT_ROLE_WORK || !leat_item_reduces(item)) continue;
    const leat_item *of = leat_item_of(table, item->node->inputs[0]);
    const leat_item *other = leat_map_get(&last, of);
    if (of->role != LEAT_ROLE_FREE) continue;
    leat_map_set(&last, of, item);
    if (!other || leat_unit_of(other->unit) == leat_unit_of(item->unit)) continue;
    bool in_order = leat_unit_of(other->unit)->label < leat_unit_of(item->unit)->label;
    const leat_item *first = in_order ? other : item, *second = in_order ? item : other;
    axis_map map = unknown;
    for (int k = 0; k < leat_item_space(item)->rank; k++)
      if (second->axis[k] >= 0) map.to[second->axis[k]] = first->axis[k];
    merge(table, leat_unit_of(first->unit), leat_unit_of(second->unit), map);
  }
}

// -- Assignments in place -------------------------------------------------------------------------

bool leat_access_is_same_element(const leat_access *access, const leat_item *value) {
  const leat_item *consumer = access->consumer;
  if (!access->aligned) return false;
  for (int k = 0; k < value->node->outputs[0].rank; k++) {
    int result = leat_item_result_axis(value, k);
    int written = result < 0 ? -1 : value->axis[result];
    int read = access->axis[k] < 0 ? -1 : consumer->axis[access->axis[k]];
    if (read != written) return false;
  }
  return true;
}

// A scatter writes into the variable itself: it begins as its old value, or with a copy to it, and
// reads nothing else of it. Its result is nowhere else.
static bool can_scatter_into(const leat_item *value, const leat_storage *variable) {
  for (uint32_t i = 1; i < value->reads.count; i++)
    if (value->reads.items[i]->producer->storage == variable) return false;
  return value->users.count == 1;
}

// The old value is read there, if at all, only at the element that is then written.
static bool can_overwrite(const leat_unit *unit, const leat_item *value,
                          const leat_storage *variable) {
  bool in_passes = unit->reduced && leat_item_is_full(value);
  for (uint32_t i = 0; i < unit->members.count; i++) {
    const leat_item *item = unit->members.items[i];
    for (uint32_t j = 0; j < item->reads.count; j++) {
      const leat_access *access = item->reads.items[j];
      if (access->producer->storage != variable) continue;
      if (in_passes || !leat_access_is_same_element(access, value)) return false;
    }
  }
  return true;
}

static void assign_in_place(leat_table *table, leat_unit *unit) {
  leat_storage *variable = unit->copy.to;
  leat_item *value = leat_item_operand(unit->copy.assign, 0);
  leat_unit *maker = value->role == LEAT_ROLE_WORK ? leat_unit_of(value->unit) : NULL;
  // Only a copy knows what becomes of the old strings, and how much memory is needed.
  bool owns = leat_storage_owns_strings(variable) || variable->kind == LEAT_BUFFER_GROWN;
  if (!maker || owns || leat_unit_is_fenced(unit, maker)) return;
  if (maker->kind == LEAT_UNIT_SCATTER) {
    if (!can_scatter_into(value, variable)) return;
  } else if (!(is_loops(maker) || maker->kind == LEAT_UNIT_CONTRACT) ||
             !can_overwrite(maker, value, variable)) {
    return;
  }
  if (!leat_units_merge_order(table, maker, unit)) return;
  leat_output output = {.item = value, .storage = variable};
  absorb(table, maker, unit);
  leat_vec_push(table->cg->arena, &maker->outputs, output);
}

// -- Outputs --------------------------------------------------------------------------------------

static int compare_items(const void *a, const void *b) {
  const leat_item *x = *(leat_item *const *)a, *y = *(leat_item *const *)b;
  return x->position < y->position ? -1 : x->position > y->position;
}

bool leat_item_is_read_outside(const leat_item *item) {
  const leat_unit *unit = leat_unit_of(item->unit);
  for (uint32_t i = 0; i < item->users.count; i++) {
    const leat_item *consumer = item->users.items[i]->consumer;
    if (consumer->node->op == LEAT_OP_fetch) return true;
    if (leat_unit_of(consumer->unit) != unit) return true;
  }
  return false;
}

static void find_outputs(leat_table *table, leat_unit *unit) {
  if (unit->kind == LEAT_UNIT_TASK) return;
  if (unit->members.count)
    qsort(unit->members.items, unit->members.count, sizeof *unit->members.items, compare_items);
  for (uint32_t i = 0; i < unit->members.count; i++) {
    leat_item *item = unit->members.items[i];
    bool all = unit->kind == LEAT_UNIT_LIBRARY || unit->kind == LEAT_UNIT_REGION;
    if (!item->node->output_count || (!all && !leat_item_is_read_outside(item))) continue;
    if (!item->storage) item->storage = leat_storage_arena(table, leat_item_type(item));
    leat_output output = {.item = item, .storage = item->storage};
    leat_vec_push(table->cg->arena, &unit->outputs, output);
  }
}

void leat_fuse(leat_table *table) {
  for (uint32_t p = 0; p < table->items.count; p++) {
    leat_item *item = table->items.items[p];
    if (item->role == LEAT_ROLE_WORK) merge_with_producers(table, item);
  }
  for (uint32_t p = 0; p < table->items.count; p++) merge_readers(table, table->items.items[p]);
  merge_reductions(table);
  for (leat_unit *unit = table->head, *next; unit; unit = next) {
    next = unit->next;
    if (unit->kind == LEAT_UNIT_COPY && unit->copy.assign) assign_in_place(table, unit);
  }
  for (leat_unit *unit = table->head; unit; unit = unit->next)
    if (is_loops(unit) || unit->kind == LEAT_UNIT_CONTRACT) leat_remake(table, unit);
  for (leat_unit *unit = table->head; unit; unit = unit->next) find_outputs(table, unit);
}
