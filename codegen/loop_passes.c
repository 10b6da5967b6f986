// The passes over a row's elements: reductions fold them in the order of ops/reduce.c, outputs of
// all elements are stored on the way.
#include "codegen/loops.h"

#include "ops/ops.h"
#include "ops/reduce.h"

#include <assert.h>
#include <string.h>

enum {
  MOST_UNROLLED_STEPS = 4, // reduced elements under vectors of outputs
  SIDE_BY_SIDE = 4,        // vectors of reduced elements, each with accumulators of its own
};

static bool is_reduction(const leat_item *item) {
  return leat_item_reduces(item);
}

// -- Passes ---------------------------------------------------------------------------------------

static void use_in(leat_item *item, int first, int last) {
  if (first < item->first_use) item->first_use = first;
  if (last > item->last_use) item->last_use = last;
}

void leat_loops_find_passes(leat_loops *s) {
  const leat_unit *unit = s->unit;
  s->passes = leat_unit_find_passes(unit);
  for (uint32_t i = 0; i < unit->members.count; i++) {
    leat_item *item = unit->members.items[i];
    item->first_use = INT32_MAX;
    item->last_use = -1;
    if (is_reduction(item)) use_in(item, item->pass, item->pass);
  }
  for (uint32_t i = 0; i < unit->outputs.count; i++) {
    leat_item *item = unit->outputs.items[i].item;
    if (leat_item_is_full(item) && !is_reduction(item)) use_in(item, item->pass, item->pass);
  }
  for (uint32_t i = unit->members.count; i-- > 0;) {
    const leat_item *item = unit->members.items[i];
    for (uint32_t j = 0; j < item->reads.count && item->last_use >= 0; j++)
      use_in(item->reads.items[j]->producer, item->first_use, item->last_use);
  }
}

// -- Reductions -----------------------------------------------------------------------------------

void leat_loops_fold(leat_loops *s, leat_fold_step what, const k_value *a, const k_value *b,
                     k_value position, k_value *to) {
  leat_lowering *l = &s->w->l;
  uint32_t next = 0;
  for (uint32_t i = 0; i < s->unit->members.count; i++) {
    const leat_item *item = s->unit->members.items[i];
    if (!is_reduction(item) || item->pass != s->w->pass) continue;
    const leat_reducer *reducer = leat_reducer_of(item->node->op);
    switch (what) {
    case LEAT_FOLD_INIT: reducer->init(l, item->node, to + next); break;
    case LEAT_FOLD_MERGE: reducer->merge(l, item->node, a + next, b + next, to + next); break;
    case LEAT_FOLD_STEP:
      reducer->step(l, item->node, a + next, leat_lower_operand(s->w, item, 0), position,
                    to + next);
      break;
    case LEAT_FOLD_FINISH:
      leat_lower_substitute(s->w, item, reducer->finish(l, item->node, a + next));
      break;
    }
    next += (uint32_t)reducer->count;
    assert(next <= LEAT_MOST_ACCUMULATORS);
  }
}

uint32_t leat_loops_accumulators(const leat_loops *s, int pass) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < s->unit->members.count; i++) {
    const leat_item *item = s->unit->members.items[i];
    if (is_reduction(item) && (pass < 0 || item->pass == pass))
      count += (uint32_t)leat_reducer_of(item->node->op)->count;
  }
  return count;
}

static void fold_halves(leat_loops *s, k_value *acc) {
  leat_lowering *l = &s->w->l;
  k_value low[LEAT_MOST_ACCUMULATORS], high[LEAT_MOST_ACCUMULATORS];
  for (l->lanes = LEAT_LANES / 2; l->lanes; l->lanes /= 2) {
    for (uint32_t i = 0; i < s->accumulators; i++) {
      bool two = acc[i]->lanes == 2;
      low[i] = two ? k_extract(s->b, acc[i], 0) : k_half(s->b, acc[i], 0);
      high[i] = two ? k_extract(s->b, acc[i], 1) : k_half(s->b, acc[i], 1);
    }
    leat_loops_fold(s, LEAT_FOLD_MERGE, low, high, NULL, acc);
  }
  l->lanes = LEAT_LANES;
}

// Reductions of no elements have the value that their op says, or none.
static void finish(leat_loops *s, const k_value *acc) {
  k_value count = k_mul(s->b, s->length, s->step_count);
  if (!s->by_lanes) count = s->step_count;
  leat_loops_fold(s, LEAT_FOLD_FINISH, acc, NULL, NULL, NULL);
  if (count->op == K_CONST && count->imm.i > 0) return;
  k_value none = k_binary(s->b, K_EQ, count, k_i64(s->b, 0));
  for (uint32_t i = 0; i < s->unit->members.count; i++) {
    const leat_item *item = s->unit->members.items[i];
    if (!is_reduction(item) || item->pass != s->w->pass) continue;
    const leat_reducer *reducer = leat_reducer_of(item->node->op);
    if (!reducer->of_none) {
      leat_fail_site site = {.node = item->node, .says = LEAT_SAYS_NONE};
      k_fail_if(s->b, none, count, s->w->l.site(&s->w->l, &site), LEAT_OUT_OF_RANGE);
      continue;
    }
    k_value value = leat_lower_item(s->w, item), of_none;
    int lanes = s->w->l.lanes;
    s->w->l.lanes = value->lanes;
    reducer->of_none(&s->w->l, item->node, &of_none);
    s->w->l.lanes = lanes;
    leat_lower_substitute(s->w, item, k_select(s->b, none, of_none, value));
  }
}

static bool all_exact(const leat_loops *s) {
  for (uint32_t i = 0; i < s->unit->members.count; i++) {
    const leat_item *item = s->unit->members.items[i];
    if (is_reduction(item) && item->pass == s->w->pass && leat_reducer_of(item->node->op)->rounds &&
        leat_dtype_kind_of(item->node->outputs[0].dtype) == LEAT_KIND_FLOAT)
      return false;
  }
  return true;
}

// -- One vector -----------------------------------------------------------------------------------

static void store_full(leat_loops *s) {
  for (uint32_t i = 0; i < s->unit->outputs.count; i++) {
    const leat_output *output = &s->unit->outputs.items[i];
    const leat_item *item = output->item;
    if (leat_item_is_full(item) && !is_reduction(item) && item->pass == s->w->pass)
      leat_lower_store(s->w, &s->stores, output);
  }
  if (!s->unrolled) leat_lower_flush(s->w, &s->stores);
}

// The elements from `first` along the lanes, of which the mask's count.
static void vector(leat_loops *s, k_value first, k_value mask, k_value *acc) {
  leat_lowering *l = &s->w->l;
  k_value next[LEAT_MOST_ACCUMULATORS];
  l->lanes = s->lanes ? LEAT_LANES : 1;
  l->mask = mask = s->lanes ? mask : NULL;
  if (s->lanes) leat_loops_put(s, s->lanes, (leat_index){.base = first, .step = 1});
  s->w->inner = first;
  s->w->joined[0].place = (leat_index){.base = first, .step = 1};
  if (s->accumulators) {
    leat_index position = {.base = s->step ? s->step : k_i64(s->b, 0)};
    if (s->by_lanes) {
      position = leat_index_mul(l, position, s->length);
      position = leat_index_add(l, position, (leat_index){.base = first, .step = s->lanes != 0});
    }
    leat_loops_fold(s, LEAT_FOLD_STEP, acc, NULL, leat_index_value(l, position), next);
    for (uint32_t i = 0; i < s->accumulators; i++)
      acc[i] = mask ? k_select(s->b, mask, next[i], acc[i]) : next[i];
  }
  store_full(s);
  l->mask = NULL;
}

// Of folds whose order changes no bit, some vectors at a time, none of which waits for the one
// before. Returns where the vectors begin that are left.
static k_value fold_side_by_side(leat_loops *s, k_value low, k_value whole, k_value *acc) {
  k_builder *b = s->b;
  uint32_t each = s->accumulators, count = each * SIDE_BY_SIDE;
  k_value all[LEAT_MOST_ACCUMULATORS], merged[LEAT_MOST_ACCUMULATORS];
  if (!each || count > LEAT_MOST_ACCUMULATORS || !all_exact(s)) return low;
  k_value size = k_i64(b, SIDE_BY_SIDE * LEAT_LANES), rest = k_sub(b, whole, low);
  k_value end = k_add(b, low, k_mul(b, k_binary(b, K_DIV, rest, size), size));
  s->w->l.lanes = LEAT_LANES;
  for (uint32_t i = 0; i < each; i++) all[i] = acc[i];
  for (uint32_t u = each; u < count; u += each)
    leat_loops_fold(s, LEAT_FOLD_INIT, NULL, NULL, NULL, all + u);
  k_instr *loop = k_loop_begin(b, low, end, SIDE_BY_SIDE * LEAT_LANES, all, count);
  for (uint32_t i = 0; i < count; i++) all[i] = k_loop_carried(loop, i);
  for (uint32_t u = 0; u < SIDE_BY_SIDE; u++)
    vector(s, k_add(b, k_loop_index(loop), k_i64(b, u * LEAT_LANES)), NULL, all + u * each);
  k_loop_end(b, all, count);
  for (uint32_t i = 0; i < each; i++) acc[i] = k_result(b, loop, i);
  for (uint32_t u = each; u < count; u += each) {
    for (uint32_t i = 0; i < each; i++) all[i] = k_result(b, loop, u + i);
    leat_loops_fold(s, LEAT_FOLD_MERGE, acc, all, NULL, merged);
    memcpy(acc, merged, each * sizeof *acc);
  }
  return end;
}

void leat_loops_vectors(leat_loops *s, k_value low, k_value high, k_value *acc) {
  k_builder *b = s->b;
  k_value length = k_sub(b, high, low);
  if (leat_is_at_most(length, (int64_t)s->side_by_side * LEAT_LANES) && low->op == K_CONST) {
    for (int64_t p = low->imm.i; p < high->imm.i; p += LEAT_LANES)
      vector(s, k_i64(b, p), leat_lower_mask(s->w, k_i64(b, high->imm.i - p)), acc);
    return;
  }
  k_value rest = k_binary(b, K_AND, length, k_i64(b, LEAT_LANES - 1));
  k_value whole = k_sub(b, high, rest);
  low = fold_side_by_side(s, low, whole, acc);
  k_instr *loop = k_loop_begin(b, low, whole, LEAT_LANES, acc, s->accumulators);
  for (uint32_t i = 0; i < s->accumulators; i++) acc[i] = k_loop_carried(loop, i);
  vector(s, k_loop_index(loop), NULL, acc);
  k_loop_end(b, acc, s->accumulators);
  for (uint32_t i = 0; i < s->accumulators; i++) acc[i] = k_result(b, loop, i);
  if (!leat_is_at_most(rest, 0)) vector(s, whole, leat_lower_mask(s->w, rest), acc);
}

// -- Rule 1: reduced elements lie along the lanes -------------------------------------------------

// Elements [low, high) of a row folded to one number.
static void fold_block(leat_loops *s, k_value low, k_value high, k_value *one) {
  s->w->l.lanes = LEAT_LANES;
  leat_loops_fold(s, LEAT_FOLD_INIT, NULL, NULL, NULL, one);
  leat_loops_vectors(s, low, high, one);
  fold_halves(s, one);
}

// Where the number of a block is in `scratch`; of rule 2 that of the first output.
static k_value block_place(leat_loops *s, k_value block) {
  k_value length = s->by_lanes ? s->length : s->step_count;
  k_value size = k_i64(s->b, leat_loops_block_size(s));
  k_value more = k_add(s->b, length, k_sub(s->b, size, k_i64(s->b, 1)));
  k_value row = k_mul(s->b, s->row_number, k_i64(s->b, s->tall));
  if (!s->by_lanes) row = k_add(s->b, row, s->side_number);
  k_value place = k_mul(s->b, row, k_binary(s->b, K_DIV, more, size));
  place = k_add(s->b, place, block);
  return s->by_lanes ? place : k_add(s->b, k_mul(s->b, place, s->length), s->column);
}

// A row longer than a block: each block is folded to one number, which is added to lane (number of
// the block) mod 16 of `acc`.
static void blocks(leat_loops *s, k_value *acc) {
  k_builder *b = s->b;
  uint32_t count = s->accumulators;
  k_value one[LEAT_MOST_ACCUMULATORS], wide[LEAT_MOST_ACCUMULATORS], merged[LEAT_MOST_ACCUMULATORS];
  k_value size = k_i64(b, LEAT_REDUCE_BLOCK_INNER);
  k_instr *loop = k_loop_begin(b, k_i64(b, 0), s->length, LEAT_REDUCE_BLOCK_INNER, acc, count);
  k_value low = k_loop_index(loop);
  k_value block = k_binary(b, K_DIV, low, size);
  if (s->part == LEAT_FOLD_TOTALS)
    one[0] = k_load(b, s->scratch, block_place(s, block), 1, NULL);
  else
    fold_block(s, low, k_binary(b, K_MIN, k_add(b, low, size), s->length), one);
  s->w->l.lanes = LEAT_LANES;
  for (uint32_t i = 0; i < count; i++) {
    wide[i] = k_splat(b, LEAT_LANES, one[i]);
    acc[i] = k_loop_carried(loop, i);
  }
  leat_loops_fold(s, LEAT_FOLD_MERGE, acc, wide, NULL, merged);
  k_value lane = k_binary(b, K_AND, block, k_i64(b, LEAT_LANES - 1));
  k_value here = k_binary(b, K_EQ, k_lane(b, LEAT_i64, LEAT_LANES), lane);
  for (uint32_t i = 0; i < count; i++) acc[i] = k_select(b, here, merged[i], acc[i]);
  k_loop_end(b, acc, count);
  for (uint32_t i = 0; i < count; i++) acc[i] = k_result(b, loop, i);
}

static void row_of_lanes(leat_loops *s, k_value *acc) {
  const int64_t block = LEAT_REDUCE_BLOCK_INNER;
  k_builder *b = s->b;
  k_value zero = k_i64(b, 0), cut[LEAT_MOST_ACCUMULATORS];
  bool may_be_cut = s->accumulators && !all_exact(s) && !leat_is_at_most(s->length, block);
  if (!may_be_cut && s->part != LEAT_FOLD_TOTALS) {
    leat_loops_vectors(s, zero, s->length, acc);
    return;
  }
  // a row that is one block has the bits of a fold uncut
  if (!s->steps || s->length->op == K_CONST) {
    blocks(s, acc);
    return;
  }
  memcpy(cut, acc, s->accumulators * sizeof *cut);
  k_instr *longer = k_if_begin(b, k_lt(b, k_i64(b, block), s->length));
  blocks(s, cut);
  k_if_else(b, cut, s->accumulators);
  leat_loops_vectors(s, zero, s->length, acc);
  k_if_end(b, acc, s->accumulators);
  for (uint32_t i = 0; i < s->accumulators; i++) acc[i] = k_result(b, longer, i);
}

// -- Steps: reduced elements one after the other --------------------------------------------------

typedef void step_function(leat_loops *s, k_value *acc);

static void one_step(leat_loops *s, k_value number, step_function *body, k_value *acc) {
  s->step = number;
  leat_loops_put(s, s->steps, (leat_index){.base = number});
  body(s, acc);
  s->step = NULL;
}

static bool is_unrolled(const leat_loops *s, k_value low, k_value high) {
  if (low->op != K_CONST || high->op != K_CONST) return false;
  int64_t most =
      s->windows.within & s->steps ? LEAT_MOST_STRAIGHT / (s->wide * s->tall) : MOST_UNROLLED_STEPS;
  return high->imm.i <= most;
}

// Of steps [low, high) those of one run along the last axis.
typedef struct run {
  step_function *body;
  k_value first; // number of its first step
} run;

static void step_of_run(leat_loops *s, void *context, k_value position, k_value *acc) {
  const run *r = context;
  s->step = k_add(s->b, r->first, position);
  r->body(s, acc);
  s->step = NULL;
}

static void runs(leat_loops *s, int axis, k_value low, k_value high, step_function *body,
                 k_value *acc) {
  k_builder *b = s->b;
  uint32_t count = s->accumulators * (uint32_t)(s->wide * s->tall);
  k_value size = leat_lower_dim(s->w, s->w->dims[axis]);
  k_value end = k_binary(b, K_DIV, k_add(b, high, k_sub(b, size, k_i64(b, 1))), size);
  k_instr *loop = k_loop_begin(b, k_binary(b, K_DIV, low, size), end, 1, acc, count);
  k_value number = k_loop_index(loop);
  for (uint32_t i = 0; i < count; i++) acc[i] = k_loop_carried(loop, i);
  run r = {body, k_mul(b, number, size)};
  leat_loops_put(s, s->steps & ~(1u << axis), (leat_index){.base = number});
  leat_windows_walk(s, s->steps, k_binary(b, K_MAX, k_sub(b, low, r.first), k_i64(b, 0)),
                    k_binary(b, K_MIN, k_sub(b, high, r.first), size), step_of_run, &r, acc, count);
  k_loop_end(b, acc, count);
  for (uint32_t i = 0; i < count; i++) acc[i] = k_result(b, loop, i);
}

static void steps(leat_loops *s, k_value low, k_value high, step_function *body, k_value *acc) {
  k_builder *b = s->b;
  uint32_t count = s->accumulators * (uint32_t)(s->wide * s->tall);
  if (is_unrolled(s, low, high)) {
    for (int64_t i = low->imm.i; i < high->imm.i; i++) one_step(s, k_i64(b, i), body, acc);
    return;
  }
  int axis = leat_windows_run(s, s->steps);
  if (axis >= 0) {
    runs(s, axis, low, high, body, acc);
    return;
  }
  k_instr *loop = k_loop_begin(b, low, high, 1, acc, count);
  for (uint32_t i = 0; i < count; i++) acc[i] = k_loop_carried(loop, i);
  one_step(s, k_loop_index(loop), body, acc);
  k_loop_end(b, acc, count);
  for (uint32_t i = 0; i < count; i++) acc[i] = k_result(b, loop, i);
}

static void put_columns(leat_loops *s, k_value column, k_value mask) {
  s->column = column;
  s->column_mask = mask;
  leat_loops_put(s, s->lanes, (leat_index){.base = column, .step = 1});
}

void leat_loops_at_columns(leat_loops *s, k_value column, k_value mask) {
  put_columns(s, column, mask);
  s->w->l.lanes = LEAT_LANES;
  s->w->l.mask = mask;
}

// Goes to vector number u of those side by side.
static void enter(leat_loops *s, int u) {
  leat_lowering *l = &s->w->l;
  uint32_t next = (uint32_t)(u * s->unit->reductions);
  if (s->by_lanes) return;
  s->side_number = k_i64(s->b, u / s->wide);
  leat_loops_put(s, s->side, (leat_index){.base = s->side_number});
  if (s->lanes) {
    k_value column = k_add(s->b, s->columns, k_i64(s->b, (int64_t)(u % s->wide) * LEAT_LANES));
    int64_t all = (int64_t)s->wide * LEAT_LANES;
    bool whole = s->whole || (s->length->op == K_CONST && s->length->imm.i % all == 0);
    put_columns(s, column, whole ? NULL : leat_lower_mask(s->w, k_sub(s->b, s->length, column)));
  }
  l->lanes = s->lanes ? LEAT_LANES : 1;
  l->mask = s->column_mask;
  for (uint32_t i = 0; i < s->unit->members.count; i++)
    if (is_reduction(s->unit->members.items[i]))
      leat_lower_substitute(s->w, s->unit->members.items[i], s->results[next++]);
}

static void one_vector(leat_loops *s, k_value *acc) {
  vector(s, s->column, s->column_mask, acc);
}

void leat_loops_step(leat_loops *s, k_value number, k_value *acc) {
  one_step(s, number, one_vector, acc);
}

static void whole_vectors(leat_loops *s, k_value *acc) {
  for (int u = 0; u < s->wide * s->tall; u++) {
    enter(s, u);
    one_vector(s, acc + (uint32_t)u * s->accumulators);
  }
}

static void fold_wide(leat_loops *s, leat_fold_step what, const k_value *a, const k_value *b,
                      k_value *to) {
  for (uint32_t u = 0; u < (uint32_t)(s->wide * s->tall); u++) {
    uint32_t first = u * s->accumulators;
    enter(s, (int)u);
    leat_loops_fold(s, what, a + first, b + first, NULL, to + first);
  }
}

static k_value load_block(leat_loops *s, int u, k_value block) {
  enter(s, u);
  return k_load(s->b, s->scratch, block_place(s, block), s->w->l.lanes, s->w->l.mask);
}

static void fold_steps(leat_loops *s, k_value low, k_value high, k_value *one) {
  fold_wide(s, LEAT_FOLD_INIT, one, one, one);
  steps(s, low, high, whole_vectors, one);
}

bool leat_loops_one_block(const leat_loops *s) {
  return all_exact(s) || leat_is_at_most(s->step_count, LEAT_REDUCE_BLOCK_OUTER);
}

// Rule 2: a block's elements go to one accumulator, the blocks' results to another.
static void step_blocks(leat_loops *s, k_value *acc) {
  k_builder *b = s->b;
  uint32_t count = s->accumulators * (uint32_t)(s->wide * s->tall);
  k_value one[LEAT_MOST_ACCUMULATORS], total[LEAT_MOST_ACCUMULATORS];
  k_value size = k_i64(b, LEAT_REDUCE_BLOCK_OUTER);
  if (!count || (leat_loops_one_block(s) && s->part == LEAT_FOLD_ALL)) {
    steps(s, k_i64(b, 0), s->step_count, whole_vectors, acc);
    return;
  }
  k_instr *loop = k_loop_begin(b, k_i64(b, 0), s->step_count, LEAT_REDUCE_BLOCK_OUTER, acc, count);
  k_value low = k_loop_index(loop);
  if (s->part == LEAT_FOLD_TOTALS) {
    for (int u = 0; u < s->wide * s->tall; u++)
      one[u] = load_block(s, u, k_binary(b, K_DIV, low, size));
  } else {
    fold_steps(s, low, k_binary(b, K_MIN, k_add(b, low, size), s->step_count), one);
  }
  for (uint32_t i = 0; i < count; i++) total[i] = k_loop_carried(loop, i);
  fold_wide(s, LEAT_FOLD_MERGE, total, one, acc);
  k_loop_end(b, acc, count);
  for (uint32_t i = 0; i < count; i++) acc[i] = k_result(b, loop, i);
}

// -- A row ----------------------------------------------------------------------------------------

static void finish_wide(leat_loops *s, const k_value *acc) {
  for (uint32_t u = 0; u < (uint32_t)(s->wide * s->tall); u++) {
    uint32_t next = u * (uint32_t)s->unit->reductions;
    enter(s, (int)u);
    finish(s, acc + u * s->accumulators);
    for (uint32_t i = 0; i < s->unit->members.count; i++) {
      const leat_item *item = s->unit->members.items[i];
      if (!is_reduction(item)) continue;
      if (item->pass == s->w->pass) s->results[next] = leat_lower_item(s->w, item);
      next++;
    }
  }
}

// What the pass computes for a row is made before the pass goes over it: no compiler would take it
// out of the loop where it may fail.
static void make_row(leat_loops *s) {
  for (uint32_t i = 0; i < s->unit->members.count; i++) {
    const leat_item *item = s->unit->members.items[i];
    if (leat_item_is_full(item) || is_reduction(item) || item->pass > s->w->pass) continue;
    if (item->first_use <= s->w->pass && s->w->pass <= item->last_use) leat_lower_item(s->w, item);
  }
}

static void make_rows(leat_loops *s) {
  for (int u = 0; u < s->wide * s->tall && s->unit->has_rows; u++) {
    enter(s, u);
    if (s->by_lanes) s->w->l.lanes = 1;
    make_row(s);
  }
}

static void one_pass(leat_loops *s) {
  k_value acc[LEAT_MOST_ACCUMULATORS];
  leat_lowering *l = &s->w->l;
  make_rows(s);
  s->accumulators = leat_loops_accumulators(s, s->w->pass);
  l->lanes = s->lanes ? LEAT_LANES : 1;
  fold_wide(s, LEAT_FOLD_INIT, acc, acc, acc);
  if (!s->by_lanes)
    step_blocks(s, acc);
  else if (s->steps)
    steps(s, k_i64(s->b, 0), s->step_count, row_of_lanes, acc);
  else
    row_of_lanes(s, acc);
  if (s->accumulators && s->by_lanes && s->lanes) fold_halves(s, acc);
  if (s->by_lanes) l->lanes = 1;
  if (s->accumulators) finish_wide(s, acc);
}

static void store_row(leat_loops *s) {
  for (uint32_t i = 0; i < s->unit->outputs.count; i++) {
    const leat_output *output = &s->unit->outputs.items[i];
    if (!leat_item_is_full(output->item) || is_reduction(output->item))
      leat_lower_store(s->w, &s->stores, output);
  }
}

static void store_rows(leat_loops *s) {
  for (int u = 0; u < s->wide * s->tall; u++) {
    enter(s, u);
    store_row(s);
  }
  leat_lower_flush(s->w, &s->stores);
}

static void forget_results(leat_loops *s) {
  memset(s->results, 0, sizeof s->results);
  for (uint32_t i = 0; i < s->unit->members.count; i++)
    if (is_reduction(s->unit->members.items[i]))
      leat_lower_substitute(s->w, s->unit->members.items[i], NULL);
}

void leat_loops_finish_columns(leat_loops *s, const k_value *acc) {
  finish(s, acc);
  store_row(s);
  leat_lower_flush(s->w, &s->stores);
  forget_results(s);
}

static void prime(leat_loops *s) {
  for (int u = 0; u < s->wide * s->tall; u++) {
    enter(s, u);
    leat_lower_prime(s->w, leat_unit_inner(s->unit));
  }
}

void leat_loops_row(leat_loops *s) {
  prime(s);
  for (s->w->pass = 0; s->w->pass < s->passes; s->w->pass++) one_pass(s);
  store_rows(s);
  s->w->l.mask = NULL;
  s->w->l.lanes = 1;
  forget_results(s);
}

void leat_loops_keep_block(leat_loops *s, k_value block, const k_value *acc) {
  k_store(s->b, s->scratch, block_place(s, block), acc[0], s->column_mask);
}

int64_t leat_loops_block_size(const leat_loops *s) {
  return s->by_lanes ? LEAT_REDUCE_BLOCK_INNER : LEAT_REDUCE_BLOCK_OUTER;
}

void leat_loops_block(leat_loops *s, k_value block) {
  k_builder *b = s->b;
  k_value one[LEAT_MOST_ACCUMULATORS], size = k_i64(b, leat_loops_block_size(s));
  k_value low = k_mul(b, block, size), all = s->by_lanes ? s->length : s->step_count;
  k_value high = k_binary(b, K_MIN, k_add(b, low, size), all);
  s->w->pass = 0;
  s->accumulators = leat_loops_accumulators(s, 0);
  prime(s);
  if (s->by_lanes) {
    fold_block(s, low, high, one);
    k_store(b, s->scratch, block_place(s, block), one[0], NULL);
  } else {
    fold_steps(s, low, high, one);
    for (int u = 0; u < s->wide * s->tall; u++) {
      enter(s, u);
      leat_loops_keep_block(s, block, &one[u]);
    }
  }
  s->w->l.mask = NULL;
  s->w->l.lanes = 1;
}
