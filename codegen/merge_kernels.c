// Kernels of a step that differ in numbers alone (kernel/numbers.h) become one, which is compiled
// once: where they differ it has scalars, which each launch gives. Bits stay what they are, for the
// same is computed of the same numbers.
//
// What is prepared keeps its kernel, whose text is in its key, so that steps share it; so do
// kernels that store past the caches, by what their places are known to be multiples of.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "codegen/stages.h"

#include "kernel/numbers.h"

enum { MOST_SCALARS = 24 }; // that a kernel gets

// A kernel, and who launches it.
typedef struct candidate {
  leat_kernel *kernel;
  k_numbers numbers;
  bool stays;
  leat_vec(leat_launch *) launches;
  struct candidate *first, *next; // of those that differ in numbers alone
} candidate;

// A scalar that the kernel gets: it differs as place `like` does.
typedef struct scalar {
  uint32_t like, number;
  k_value value;
} scalar;

typedef struct merger {
  leat_codegen_state *cg;
  leat_arena *arena;
  leat_map launches, kernels; // leat_launch, leat_kernel → candidate
  leat_vec(candidate *) all;
} merger;

// -- Collecting -----------------------------------------------------------------------------------

static bool is_streamed(const leat_kernel *kernel) {
  for (uint32_t i = 0; i < kernel->buffers.count; i++)
    if (kernel->buffers.items[i]->streamed) return true;
  return false;
}

static candidate *candidate_of(merger *m, leat_kernel *kernel) {
  candidate *known = leat_map_get(&m->kernels, kernel);
  if (known) return known;
  known = leat_new(m->arena, candidate);
  known->kernel = kernel;
  known->stays = is_streamed(kernel);
  leat_map_set(&m->kernels, kernel, known);
  leat_vec_push(m->arena, &m->all, known);
  return known;
}

static void add_table(merger *m, const leat_table *table);

static void add_launch(merger *m, leat_launch *launch) {
  for (int i = 0; launch->region && i < 2; i++) add_table(m, launch->region->tables[i]);
  if (!launch->kernel || leat_map_get(&m->launches, launch)) return;
  candidate *of = candidate_of(m, launch->kernel);
  leat_map_set(&m->launches, launch, of);
  leat_vec_push(m->arena, &of->launches, launch);
  of->stays |= launch->buffers.count && launch->buffers.items[0]->kind == LEAT_BUFFER_PREPARED;
}

static void add_table(merger *m, const leat_table *table) {
  for (uint32_t i = 0; i < table->units.count; i++) {
    const leat_unit *unit = table->units.items[i];
    for (uint32_t j = 0; j < unit->launches.count; j++) add_launch(m, unit->launches.items[j]);
    for (int j = 0;
         leat_unit_task_kind(unit) != LEAT_TASK_SEGMENT && unit->kind == LEAT_UNIT_REGION && j < 2;
         j++)
      add_table(m, unit->region.tables[j]);
  }
}

// Lists those of one shape, the first one first.
static void find_alike(merger *m, bool strides) {
  leat_bytes_map shapes;
  leat_bytes_map_init(&shapes, m->arena);
  for (uint32_t i = 0; i < m->all.count; i++) {
    candidate *c = m->all.items[i];
    c->first = c->next = NULL;
    if (c->stays) continue;
    k_numbers_find(c->kernel, strides, m->arena, &c->numbers);
    XXH128_hash_t key = XXH3_128bits(c->numbers.shape.data, c->numbers.shape.size);
    leat_text_finish(&c->numbers.shape);
    candidate *last = leat_bytes_map_get(&shapes, &key, sizeof key);
    c->first = last ? last->first : c;
    if (last) last->next = c;
    leat_bytes_map_set(&shapes, &key, sizeof key, c);
  }
}

// -- Merging --------------------------------------------------------------------------------------

static k_value number_of(const candidate *c, uint32_t place) {
  return *c->numbers.places.items[place];
}

// Whether the places have equal numbers in each of them.
static bool same_everywhere(const candidate *first, uint32_t a, uint32_t b) {
  for (const candidate *c = first; c; c = c->next)
    if (number_of(c, a)->imm.i != number_of(c, b)->imm.i) return false;
  return true;
}

static bool differs(const candidate *first, uint32_t place) {
  for (const candidate *c = first->next; c; c = c->next)
    if (number_of(c, place)->imm.i != number_of(first, place)->imm.i) return true;
  return false;
}

typedef leat_vec(scalar) scalars;

static bool is_of(const candidate *first, const scalar *known, uint32_t place, bool typed) {
  k_value a = number_of(first, known->like), b = number_of(first, place);
  bool alike = !typed || (a->dtype == b->dtype && a->lanes == b->lanes);
  return alike && same_everywhere(first, known->like, place);
}

// For each place that differs, the number of its value in *out.
static bool choose_scalars(merger *m, const candidate *first, uint32_t *value_of, bool *chosen,
                           scalars *out, uint32_t *count) {
  for (uint32_t place = 0; place < first->numbers.places.count; place++) {
    chosen[place] = differs(first, place);
    if (!chosen[place]) continue;
    scalar new = {.like = place, .number = *count};
    uint32_t i = 0;
    for (; i < out->count && !is_of(first, &out->items[i], place, true); i++)
      if (is_of(first, &out->items[i], place, false)) new.number = out->items[i].number;
    value_of[place] = i;
    if (i < out->count) continue;
    *count += new.number == *count;
    leat_vec_push(m->arena, out, new);
    if (*count > MOST_SCALARS) return false;
  }
  return *count > 0;
}

static void give(merger *m, const candidate *c, const scalars *all, leat_kernel *kernel) {
  for (uint32_t i = 0; i < c->launches.count; i++) {
    leat_launch *launch = c->launches.items[i];
    uint32_t next = 0;
    for (uint32_t j = 0; j < all->count; j++) {
      if (all->items[j].number != next) continue;
      next++;
      int64_t number = number_of(c, all->items[j].like)->imm.i;
      leat_vec_push(m->cg->arena, &launch->scalars, leat_dim_const(number));
    }
    launch->kernel = kernel;
  }
}

static void stay(candidate *first) {
  for (candidate *c = first; c; c = c->next) c->stays = true;
}

static void merge(merger *m, candidate *first, bool strides) {
  leat_kernel *kernel = first->kernel;
  uint32_t places = first->numbers.places.count, count = 0;
  uint32_t *value_of = leat_new_array(m->arena, uint32_t, (size_t)places + 1);
  bool *chosen = leat_new_array(m->arena, bool, (size_t)places + 1);
  scalars all = {0};
  if (!choose_scalars(m, first, value_of, chosen, &all, &count)) return;
  if (!k_numbers_are_cheap(kernel, strides, m->arena, chosen)) return;
  for (candidate *c = first; c; c = c->next) give(m, c, &all, kernel);
  uint32_t had = kernel->scalar_count;
  kernel->scalar_count += count;
  for (uint32_t i = 0; i < all.count; i++) {
    k_value number = number_of(first, all.items[i].like);
    all.items[i].value = k_number_argument(kernel, had + all.items[i].number, number);
  }
  for (uint32_t i = 0; i < places; i++)
    if (chosen[i]) *first->numbers.places.items[i] = all.items[value_of[i]].value;
  stay(first);
}

static void merge_alike(merger *m, bool strides) {
  find_alike(m, strides);
  for (uint32_t i = 0; i < m->all.count; i++) {
    candidate *c = m->all.items[i];
    if (c->first == c && c->next) merge(m, c, strides);
  }
}

void leat_merge_kernels(leat_table *table) {
  leat_arena *scratch = table->cg->scratch;
  merger m = {.cg = table->cg, .arena = scratch};
  leat_map_init(&m.launches, scratch);
  leat_map_init(&m.kernels, scratch);
  add_table(&m, table);
  merge_alike(&m, true);
  merge_alike(&m, false);
  leat_arena_reset(scratch);
}
