// Rule 2 of rows that are longer than what registers hold: sums of many columns go on at once, in
// local arrays, so that rows are read in runs of pages, not of a few lines, and some rows at a
// time, so that a sum is loaded and stored once for all of them. Each column's sum has the order
// that loop_passes.c gives it.
#include "codegen/loops.h"

#include "ops/reduce.h"

#include <string.h>

enum {
  COLUMNS = 1024, // of a panel
  // Behind whole vectors is the place of one more, which may have no lanes.
  ROOM = COLUMNS + LEAT_LANES,
  ROWS = 4,            // at a time
  LEAST_STEPS = 16,    // fewer rows and
  LEAST_COLUMNS = 256, // columns do not pay for the arrays
};

typedef struct panel panel;
typedef void column_body(panel *p, k_value step); // for the vector of columns at hand

struct panel {
  leat_loops *s;
  k_value low, high; // columns
  uint32_t count;    // accumulators of a column
  int rows;          // from `step` on, which the body goes over
  const k_buffer *sums[LEAT_MOST_ACCUMULATORS], *totals[LEAT_MOST_ACCUMULATORS];
};

bool leat_loops_fit_panels(const leat_loops *s) {
  int64_t most = LEAT_MOST_LOCAL_BYTES / (2 * ROOM * (int64_t)sizeof(double));
  int64_t count = leat_loops_accumulators(s, 0);
  return !s->by_lanes && s->lanes && s->steps && s->passes == 1 && s->tall == 1 &&
         s->part != LEAT_FOLD_TOTALS && !s->unit->has_rows && !s->windows.slides && count > 0 &&
         count <= most && !leat_is_at_most(s->step_count, LEAST_STEPS - 1) &&
         !leat_is_at_most(s->length, LEAST_COLUMNS - 1);
}

static void each_vector(panel *p, column_body *body, k_value step) {
  leat_loops *s = p->s;
  k_builder *b = s->b;
  bool whole = s->length->op == K_CONST && s->length->imm.i % LEAT_LANES == 0;
  k_value rest = k_binary(b, K_AND, k_sub(b, p->high, p->low), k_i64(b, LEAT_LANES - 1));
  k_value end = whole ? p->high : k_sub(b, p->high, rest);
  k_instr *loop = k_loop_begin(b, p->low, end, LEAT_LANES, NULL, 0);
  leat_loops_at_columns(s, k_loop_index(loop), NULL);
  body(p, step);
  k_loop_end(b, NULL, 0);
  if (whole || leat_is_at_most(rest, 0)) return;
  leat_loops_at_columns(s, end, leat_lower_mask(s->w, rest));
  body(p, step);
}

static void load(const panel *p, const k_buffer *const *from, k_value *acc) {
  k_builder *b = p->s->b;
  k_value place = k_sub(b, p->s->column, p->low);
  for (uint32_t i = 0; i < p->count; i++) acc[i] = k_load(b, from[i], place, LEAT_LANES, NULL);
}

static void store(const panel *p, const k_buffer *const *to, const k_value *acc) {
  k_builder *b = p->s->b;
  k_value place = k_sub(b, p->s->column, p->low);
  for (uint32_t i = 0; i < p->count; i++) k_store(b, to[i], place, acc[i], NULL);
}

static void begin(const panel *p, const k_buffer *const *held) {
  k_value acc[LEAT_MOST_ACCUMULATORS];
  leat_loops_fold(p->s, LEAT_FOLD_INIT, NULL, NULL, NULL, acc);
  store(p, held, acc);
}

static void begin_sums(panel *p, k_value step) {
  (void)step;
  begin(p, p->sums);
}

static void begin_totals(panel *p, k_value step) {
  (void)step;
  begin(p, p->totals);
}

static void add_rows(panel *p, k_value step) {
  leat_loops *s = p->s;
  k_value acc[LEAT_MOST_ACCUMULATORS];
  load(p, p->sums, acc);
  for (int i = 0; i < p->rows; i++) leat_loops_step(s, k_add(s->b, step, k_i64(s->b, i)), acc);
  store(p, p->sums, acc);
}

static void merge(panel *p, k_value step) {
  k_value sums[LEAT_MOST_ACCUMULATORS], totals[LEAT_MOST_ACCUMULATORS];
  k_value merged[LEAT_MOST_ACCUMULATORS];
  (void)step;
  load(p, p->sums, sums);
  load(p, p->totals, totals);
  leat_loops_fold(p->s, LEAT_FOLD_MERGE, totals, sums, NULL, merged);
  store(p, p->totals, merged);
}

static void finish(panel *p, k_value step) {
  k_value acc[LEAT_MOST_ACCUMULATORS];
  (void)step;
  load(p, p->totals[0] ? p->totals : p->sums, acc);
  leat_loops_finish_columns(p->s, acc);
}

static void keep_block(panel *p, k_value block) {
  k_value acc[LEAT_MOST_ACCUMULATORS];
  load(p, p->sums, acc);
  leat_loops_keep_block(p->s, block, acc);
}

static void rows_from(panel *p, k_value low, k_value high, int rows) {
  k_instr *loop = k_loop_begin(p->s->b, low, high, rows, NULL, 0);
  p->rows = rows;
  each_vector(p, add_rows, k_loop_index(loop));
  k_loop_end(p->s->b, NULL, 0);
}

// The rows [low, high) of a block.
static void sum_block(panel *p, k_value low, k_value high) {
  k_builder *b = p->s->b;
  k_value size = k_i64(b, ROWS);
  k_value whole = k_mul(b, k_binary(b, K_DIV, k_sub(b, high, low), size), size);
  k_value middle = k_add(b, low, whole);
  each_vector(p, begin_sums, NULL);
  rows_from(p, low, middle, ROWS);
  if (high->op != K_CONST || middle->op != K_CONST || middle->imm.i < high->imm.i)
    rows_from(p, middle, high, 1);
}

static k_value end_of_block(leat_loops *s, k_value low) {
  k_value end = k_add(s->b, low, k_i64(s->b, LEAT_REDUCE_BLOCK_OUTER));
  return k_binary(s->b, K_MIN, end, s->step_count);
}

static void sum_all(panel *p) {
  leat_loops *s = p->s;
  k_builder *b = s->b;
  if (!p->totals[0]) {
    sum_block(p, k_i64(b, 0), s->step_count);
    return;
  }
  each_vector(p, begin_totals, NULL);
  k_instr *loop = k_loop_begin(b, k_i64(b, 0), s->step_count, LEAT_REDUCE_BLOCK_OUTER, NULL, 0);
  sum_block(p, k_loop_index(loop), end_of_block(s, k_loop_index(loop)));
  each_vector(p, merge, NULL);
  k_loop_end(b, NULL, 0);
}

static void make_room(panel *p, bool for_totals) {
  leat_loops *s = p->s;
  k_value types[LEAT_MOST_ACCUMULATORS];
  leat_loops_at_columns(s, p->low, NULL);
  leat_loops_fold(s, LEAT_FOLD_INIT, NULL, NULL, NULL, types);
  for (uint32_t i = 0; i < p->count; i++) {
    p->sums[i] = k_local(s->b, K_SPACE_REGISTER, types[i]->dtype, ROOM);
    if (for_totals) p->totals[i] = k_local(s->b, K_SPACE_REGISTER, types[i]->dtype, ROOM);
  }
}

void leat_loops_panels(leat_loops *s, k_value low, k_value high, k_value block) {
  k_builder *b = s->b;
  s->w->pass = 0;
  s->accumulators = leat_loops_accumulators(s, 0);
  panel p = {.s = s, .low = low, .count = s->accumulators};
  make_room(&p, !block && !leat_loops_one_block(s));
  k_instr *loop = k_loop_begin(b, low, high, COLUMNS, NULL, 0);
  p.low = k_loop_index(loop);
  p.high = k_binary(b, K_MIN, k_add(b, p.low, k_i64(b, COLUMNS)), high);
  if (block) {
    k_value first = k_mul(b, block, k_i64(b, LEAT_REDUCE_BLOCK_OUTER));
    sum_block(&p, first, end_of_block(s, first));
    each_vector(&p, keep_block, block);
  } else {
    sum_all(&p);
    each_vector(&p, finish, NULL);
  }
  k_loop_end(b, NULL, 0);
  s->w->l.mask = NULL;
  s->w->l.lanes = 1;
}
