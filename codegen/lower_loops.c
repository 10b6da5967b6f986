// Kernels of element-wise ops and reductions.
//
// A tile is a number of rows (positions on the axes outside the inner ones), or a chunk of a row
// where there are no reductions. For each row there are passes over the inner axes: a reduction
// belongs to the pass in which its operand is known, what reads its result to a later one, so a
// softmax is three passes in one kernel. Vectors lie along the innermost axis: along the reduced
// elements where that axis is reduced (rule 1 of ops/reduce.c), else over the outputs (rule 2), and
// a row is then as many outputs as a vector has lanes. Short rows are unrolled, and what one pass
// computed the next one has in registers; of long ones, costly values are kept in a local array.
#include "codegen/lower.h"

#include "ops/ops.h"
#include "ops/reduce.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
  MOST_UNROLLED_LANES = 64, // of a row
  MOST_UNROLLED_STEPS = 4,  // of reduced elements under vectors of outputs
  MOST_KEPT = 4096,         // elements of a row that is kept from pass to pass
  MOST_ACCUMULATORS = 64,
  LEAST_CHUNK = 256, // elements of a tile
  MOST_CHUNK = 1 << 20,
  MOST_WIDE = 4,       // vectors of outputs that a pass makes at once
  MOST_WIDE_COST = 48, // instructions of a pass that does
};

typedef struct loops {
  leat_lower *w;
  leat_unit *unit;
  k_builder *b;
  bool by_lanes;      // vectors along the inner axes
  unsigned inner;     // axes of the passes
  unsigned lanes;     // axes that vectors run along, one after the other: 0 is one lane
  unsigned steps;     // reduced axes outside `lanes`
  unsigned rows;      // the others
  k_value length;     // elements along `lanes`
  k_value step_count; // along `steps`
  leat_dim row_count;
  int passes;
  bool unrolled; // the passes are straight code
  k_value step;  // number of the element along `steps`
  // Rule 2: vectors of outputs side by side, the first output of all and of the one at hand.
  int wide;
  k_value columns, column, column_mask;
  k_value results[MOST_WIDE][MOST_ACCUMULATORS]; // of reductions, in the order of members
  leat_stores stores;
  uint32_t accumulators; // of this pass, for one vector
} loops;

static bool is_reduction(const leat_item *item) {
  return leat_item_reduces(item);
}

static bool is_constant(k_value value, int64_t most) {
  return value->op == K_CONST && value->imm.i <= most;
}

// -- Passes ---------------------------------------------------------------------------------------

static int pass_of(const leat_unit *unit, const leat_item *item) {
  int pass = 0;
  for (uint32_t i = 0; i < item->reads.count; i++) {
    const leat_item *producer = item->reads.items[i]->producer;
    if (!producer->unit || leat_unit_of(producer->unit) != unit) continue;
    int ready = producer->pass + is_reduction(producer);
    if (ready > pass) pass = ready;
  }
  return pass;
}

static void use_in(leat_item *item, int first, int last) {
  if (first < item->first_use) item->first_use = first;
  if (last > item->last_use) item->last_use = last;
}

static void find_passes(loops *s) {
  const leat_unit *unit = s->unit;
  for (uint32_t i = 0; i < unit->members.count; i++) {
    leat_item *item = unit->members.items[i];
    item->pass = pass_of(unit, item);
    item->first_use = INT32_MAX;
    item->last_use = -1;
    if (is_reduction(item)) use_in(item, item->pass, item->pass);
    if (leat_item_is_full(item) && item->pass >= s->passes) s->passes = item->pass + 1;
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

// -- Axes -----------------------------------------------------------------------------------------

static leat_dim product(loops *s, unsigned axes) {
  leat_dim dims[LEAT_MAX_RANK];
  int count = 0;
  for (int k = 0; k < s->w->rank; k++)
    if (axes >> k & 1) dims[count++] = s->w->dims[k];
  return leat_lower_product(s->w, dims, count);
}

// Sets the position on `axes` from the number of the element along them.
static void put(loops *s, unsigned axes, leat_index linear) {
  leat_lowering *l = &s->w->l;
  for (int k = s->w->rank - 1; k >= 0; k--) {
    if (!(axes >> k & 1)) continue;
    axes &= ~(1u << k);
    if (axes)
      leat_index_divmod(l, linear, leat_lower_dim(s->w, s->w->dims[k]), &linear, &s->w->at[k]);
    else
      s->w->at[k] = linear;
  }
}

static void choose_axes(loops *s) {
  leat_lower *w = s->w;
  unsigned all = (1u << w->rank) - 1, last = w->rank ? 1u << (w->rank - 1) : 0;
  s->by_lanes = !w->reduced || s->unit->by_lanes;
  s->inner = w->reduced ? w->reduced : last;
  s->lanes = !w->reduced ? last : s->by_lanes ? w->innermost : last & ~w->reduced;
  s->steps = w->reduced & ~s->lanes;
  s->rows = all & ~s->inner & ~s->lanes;
  if (s->by_lanes && (s->lanes & (s->lanes - 1))) w->run = s->lanes; // more than one axis
  s->row_count = product(s, s->rows);
  s->length = leat_lower_dim(w, product(s, s->lanes));
  s->step_count = leat_lower_dim(w, product(s, s->steps));
}

// -- Reductions -----------------------------------------------------------------------------------

typedef enum fold_step { FOLD_INIT, FOLD_MERGE, FOLD_STEP, FOLD_FINISH } fold_step;

// Does one thing with every accumulator of the pass: to[i] = init · merge(a[i], b[i]) · step(a[i],
// the operand here) · and for FINISH the result stands for the reduction.
static void fold(loops *s, fold_step what, const k_value *a, const k_value *b, k_value position,
                 k_value *to) {
  leat_lowering *l = &s->w->l;
  uint32_t next = 0;
  for (uint32_t i = 0; i < s->unit->members.count; i++) {
    const leat_item *item = s->unit->members.items[i];
    if (!is_reduction(item) || item->pass != s->w->pass) continue;
    const leat_reducer *reducer = leat_reducer_of(item->node->op);
    switch (what) {
    case FOLD_INIT: reducer->init(l, item->node, to + next); break;
    case FOLD_MERGE: reducer->merge(l, item->node, a + next, b + next, to + next); break;
    case FOLD_STEP:
      reducer->step(l, item->node, a + next, leat_lower_operand(s->w, item, 0), position,
                    to + next);
      break;
    case FOLD_FINISH:
      leat_lower_substitute(s->w, item, reducer->finish(l, item->node, a + next));
      break;
    }
    next += (uint32_t)reducer->count;
    assert(next <= MOST_ACCUMULATORS);
  }
}

static uint32_t count_accumulators(const loops *s, int pass) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < s->unit->members.count; i++) {
    const leat_item *item = s->unit->members.items[i];
    if (is_reduction(item) && (pass < 0 || item->pass == pass))
      count += (uint32_t)leat_reducer_of(item->node->op)->count;
  }
  return count;
}

static void fold_halves(loops *s, k_value *acc) {
  leat_lowering *l = &s->w->l;
  k_value low[MOST_ACCUMULATORS], high[MOST_ACCUMULATORS];
  for (l->lanes = LEAT_LANES / 2; l->lanes; l->lanes /= 2) {
    for (uint32_t i = 0; i < s->accumulators; i++) {
      bool two = acc[i]->lanes == 2;
      low[i] = two ? k_extract(s->b, acc[i], 0) : k_half(s->b, acc[i], 0);
      high[i] = two ? k_extract(s->b, acc[i], 1) : k_half(s->b, acc[i], 1);
    }
    fold(s, FOLD_MERGE, low, high, NULL, acc);
  }
  l->lanes = LEAT_LANES;
}

// Reductions of no elements: a sum is +0, nothing else has a value.
static void finish(loops *s, const k_value *acc) {
  k_value count = k_mul(s->b, s->length, s->step_count);
  if (!s->by_lanes) count = s->step_count;
  fold(s, FOLD_FINISH, acc, NULL, NULL, NULL);
  if (count->op == K_CONST && count->imm.i > 0) return;
  k_value none = k_binary(s->b, K_EQ, count, k_i64(s->b, 0));
  for (uint32_t i = 0; i < s->unit->members.count; i++) {
    const leat_item *item = s->unit->members.items[i];
    if (!is_reduction(item) || item->pass != s->w->pass) continue;
    if (item->node->op != LEAT_OP_sum) {
      k_fail_if(s->b, none, s->w->l.site(&s->w->l, item->node), LEAT_OUT_OF_RANGE);
      continue;
    }
    k_value value = leat_lower_item(s->w, item);
    bool is_float = leat_dtype_kind_of(value->dtype) == LEAT_KIND_FLOAT;
    k_value zero = is_float ? k_float(s->b, value->dtype, value->lanes, 0)
                            : k_int(s->b, value->dtype, value->lanes, 0);
    leat_lower_substitute(s->w, item, k_select(s->b, none, zero, value));
  }
}

static bool all_exact(const loops *s) {
  for (uint32_t i = 0; i < s->unit->members.count; i++) {
    const leat_item *item = s->unit->members.items[i];
    if (is_reduction(item) && item->pass == s->w->pass && item->node->op == LEAT_OP_sum &&
        leat_dtype_kind_of(item->node->outputs[0].dtype) == LEAT_KIND_FLOAT)
      return false;
  }
  return true;
}

// -- One vector -----------------------------------------------------------------------------------

static void store_full(loops *s) {
  for (uint32_t i = 0; i < s->unit->outputs.count; i++) {
    const leat_output *output = &s->unit->outputs.items[i];
    const leat_item *item = output->item;
    if (leat_item_is_full(item) && !is_reduction(item) && item->pass == s->w->pass)
      leat_lower_store(s->w, &s->stores, output);
  }
  if (!s->unrolled) leat_lower_flush(s->w, &s->stores);
}

// The elements from `first` along the lanes, of which the mask's count.
static void vector(loops *s, k_value first, k_value mask, k_value *acc) {
  leat_lowering *l = &s->w->l;
  k_value next[MOST_ACCUMULATORS];
  l->lanes = s->lanes ? LEAT_LANES : 1;
  l->mask = mask = s->lanes ? mask : NULL;
  if (s->lanes) put(s, s->lanes, (leat_index){.base = first, .step = 1});
  s->w->inner = first;
  if (s->accumulators) {
    leat_index position = {.base = s->step ? s->step : k_i64(s->b, 0)};
    if (s->by_lanes) {
      position = leat_index_mul(l, position, s->length);
      position = leat_index_add(l, position, (leat_index){.base = first, .step = s->lanes != 0});
    }
    fold(s, FOLD_STEP, acc, NULL, leat_index_value(l, position), next);
    for (uint32_t i = 0; i < s->accumulators; i++)
      acc[i] = mask ? k_select(s->b, mask, next[i], acc[i]) : next[i];
  }
  store_full(s);
  l->mask = NULL;
}

// The elements [low, high) along the lanes; low is a multiple of LEAT_LANES.
static void vectors(loops *s, k_value low, k_value high, k_value *acc) {
  k_builder *b = s->b;
  k_value length = k_sub(b, high, low);
  if (is_constant(length, MOST_UNROLLED_LANES) && low->op == K_CONST) {
    for (int64_t p = low->imm.i; p < high->imm.i; p += LEAT_LANES)
      vector(s, k_i64(b, p), leat_lower_mask(s->w, k_i64(b, high->imm.i - p)), acc);
    return;
  }
  k_value rest = k_binary(b, K_AND, length, k_i64(b, LEAT_LANES - 1));
  k_value whole = k_sub(b, high, rest);
  k_instr *loop = k_loop_begin(b, low, whole, LEAT_LANES, acc, s->accumulators);
  for (uint32_t i = 0; i < s->accumulators; i++) acc[i] = k_loop_carried(loop, i);
  vector(s, k_loop_index(loop), NULL, acc);
  k_loop_end(b, acc, s->accumulators);
  for (uint32_t i = 0; i < s->accumulators; i++) acc[i] = k_result(b, loop, i);
  if (!is_constant(rest, 0)) vector(s, whole, leat_lower_mask(s->w, rest), acc);
}

// -- Rule 1: reduced elements lie along the lanes -------------------------------------------------

// A row longer than a block: each block is folded to one number, which is added to lane (number of
// the block) mod 16 of `acc`.
static void blocks(loops *s, k_value *acc) {
  k_builder *b = s->b;
  uint32_t count = s->accumulators;
  k_value one[MOST_ACCUMULATORS], wide[MOST_ACCUMULATORS], merged[MOST_ACCUMULATORS];
  k_value size = k_i64(b, LEAT_REDUCE_BLOCK_INNER);
  k_instr *loop = k_loop_begin(b, k_i64(b, 0), s->length, LEAT_REDUCE_BLOCK_INNER, acc, count);
  k_value low = k_loop_index(loop);
  fold(s, FOLD_INIT, NULL, NULL, NULL, one);
  vectors(s, low, k_binary(b, K_MIN, k_add(b, low, size), s->length), one);
  fold_halves(s, one);
  for (uint32_t i = 0; i < count; i++) {
    wide[i] = k_splat(b, LEAT_LANES, one[i]);
    acc[i] = k_loop_carried(loop, i);
  }
  fold(s, FOLD_MERGE, acc, wide, NULL, merged);
  k_value block = k_binary(b, K_DIV, low, size);
  k_value lane = k_binary(b, K_AND, block, k_i64(b, LEAT_LANES - 1));
  k_value here = k_binary(b, K_EQ, k_lane(b, LEAT_i64, LEAT_LANES), lane);
  for (uint32_t i = 0; i < count; i++) acc[i] = k_select(b, here, merged[i], acc[i]);
  k_loop_end(b, acc, count);
  for (uint32_t i = 0; i < count; i++) acc[i] = k_result(b, loop, i);
}

static void row_of_lanes(loops *s, k_value *acc) {
  bool cut = s->accumulators && !all_exact(s) && !is_constant(s->length, LEAT_REDUCE_BLOCK_INNER);
  if (cut && s->steps && s->length->op != K_CONST) {
    // Whether to cut would have to be known before the steps; rows that long are not met there.
    k_value longer = k_lt(s->b, k_i64(s->b, LEAT_REDUCE_BLOCK_INNER), s->length);
    const leat_node *node = s->unit->members.items[0]->node;
    k_fail_if(s->b, longer, s->w->l.site(&s->w->l, node), LEAT_UNSUPPORTED);
    cut = false;
  }
  if (cut)
    blocks(s, acc);
  else
    vectors(s, k_i64(s->b, 0), s->length, acc);
}

// -- Steps: reduced elements one after the other --------------------------------------------------

typedef void step_function(loops *s, k_value *acc);

static void one_step(loops *s, k_value number, step_function *body, k_value *acc) {
  s->step = number;
  put(s, s->steps, (leat_index){.base = number});
  body(s, acc);
  s->step = NULL;
}

static void steps(loops *s, k_value low, k_value high, step_function *body, k_value *acc) {
  k_builder *b = s->b;
  uint32_t count = s->accumulators * (uint32_t)s->wide;
  if (low->op == K_CONST && is_constant(high, MOST_UNROLLED_STEPS)) {
    for (int64_t i = low->imm.i; i < high->imm.i; i++) one_step(s, k_i64(b, i), body, acc);
    return;
  }
  k_instr *loop = k_loop_begin(b, low, high, 1, acc, count);
  for (uint32_t i = 0; i < count; i++) acc[i] = k_loop_carried(loop, i);
  one_step(s, k_loop_index(loop), body, acc);
  k_loop_end(b, acc, count);
  for (uint32_t i = 0; i < count; i++) acc[i] = k_result(b, loop, i);
}

// Goes to vector number u of those side by side.
static void enter(loops *s, int u) {
  leat_lowering *l = &s->w->l;
  uint32_t next = 0;
  if (s->by_lanes) return;
  if (s->lanes) {
    s->column = k_add(s->b, s->columns, k_i64(s->b, (int64_t)u * LEAT_LANES));
    int64_t all = (int64_t)s->wide * LEAT_LANES;
    bool whole = s->length->op == K_CONST && s->length->imm.i % all == 0;
    s->column_mask = whole ? NULL : leat_lower_mask(s->w, k_sub(s->b, s->length, s->column));
    put(s, s->lanes, (leat_index){.base = s->column, .step = 1});
  }
  l->lanes = s->lanes ? LEAT_LANES : 1;
  l->mask = s->column_mask;
  for (uint32_t i = 0; i < s->unit->members.count; i++)
    if (is_reduction(s->unit->members.items[i]))
      leat_lower_substitute(s->w, s->unit->members.items[i], s->results[u][next++]);
}

static void whole_vectors(loops *s, k_value *acc) {
  for (int u = 0; u < s->wide; u++) {
    enter(s, u);
    vector(s, s->column, s->column_mask, acc + (uint32_t)u * s->accumulators);
  }
}

static void fold_wide(loops *s, fold_step what, const k_value *a, const k_value *b, k_value *to) {
  for (uint32_t u = 0; u < (uint32_t)s->wide; u++) {
    uint32_t first = u * s->accumulators;
    enter(s, (int)u);
    fold(s, what, a + first, b + first, NULL, to + first);
  }
}

// Rule 2: a block's elements go to one accumulator, the blocks' results to another.
static void step_blocks(loops *s, k_value *acc) {
  k_builder *b = s->b;
  uint32_t count = s->accumulators * (uint32_t)s->wide;
  k_value one[MOST_ACCUMULATORS], total[MOST_ACCUMULATORS];
  k_value size = k_i64(b, LEAT_REDUCE_BLOCK_OUTER);
  if (!count || all_exact(s) || is_constant(s->step_count, LEAT_REDUCE_BLOCK_OUTER)) {
    steps(s, k_i64(b, 0), s->step_count, whole_vectors, acc);
    return;
  }
  k_instr *loop = k_loop_begin(b, k_i64(b, 0), s->step_count, LEAT_REDUCE_BLOCK_OUTER, acc, count);
  k_value low = k_loop_index(loop);
  fold_wide(s, FOLD_INIT, one, one, one);
  steps(s, low, k_binary(b, K_MIN, k_add(b, low, size), s->step_count), whole_vectors, one);
  for (uint32_t i = 0; i < count; i++) total[i] = k_loop_carried(loop, i);
  fold_wide(s, FOLD_MERGE, total, one, acc);
  k_loop_end(b, acc, count);
  for (uint32_t i = 0; i < count; i++) acc[i] = k_result(b, loop, i);
}

// -- A row ----------------------------------------------------------------------------------------

static void finish_wide(loops *s, const k_value *acc) {
  for (uint32_t u = 0; u < (uint32_t)s->wide; u++) {
    uint32_t next = 0;
    enter(s, (int)u);
    finish(s, acc + u * s->accumulators);
    for (uint32_t i = 0; i < s->unit->members.count; i++) {
      const leat_item *item = s->unit->members.items[i];
      if (!is_reduction(item)) continue;
      if (item->pass == s->w->pass) s->results[u][next] = leat_lower_item(s->w, item);
      next++;
    }
  }
}

static void one_pass(loops *s) {
  k_value acc[MOST_ACCUMULATORS];
  leat_lowering *l = &s->w->l;
  s->accumulators = count_accumulators(s, s->w->pass);
  l->lanes = s->lanes ? LEAT_LANES : 1;
  fold_wide(s, FOLD_INIT, acc, acc, acc);
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

static void store_rows(loops *s) {
  for (int u = 0; u < s->wide; u++) {
    enter(s, u);
    for (uint32_t i = 0; i < s->unit->outputs.count; i++) {
      const leat_output *output = &s->unit->outputs.items[i];
      if (!leat_item_is_full(output->item) || is_reduction(output->item))
        leat_lower_store(s->w, &s->stores, output);
    }
  }
  leat_lower_flush(s->w, &s->stores);
}

static void forget_results(loops *s) {
  memset(s->results, 0, sizeof s->results);
  for (uint32_t i = 0; i < s->unit->members.count; i++)
    if (is_reduction(s->unit->members.items[i]))
      leat_lower_substitute(s->w, s->unit->members.items[i], NULL);
}

// All that is done for one row, or for vectors of outputs side by side in a row.
static void passes(loops *s) {
  for (int u = 0; u < s->wide; u++) {
    enter(s, u);
    leat_lower_prime(s->w, leat_unit_inner(s->unit));
  }
  for (s->w->pass = 0; s->w->pass < s->passes; s->w->pass++) one_pass(s);
  store_rows(s);
  s->w->l.mask = NULL;
  s->w->l.lanes = 1;
  forget_results(s);
}

// Rule 2: outputs [low, high) of a row.
static void columns(loops *s, k_value low, k_value high) {
  k_instr *loop = k_loop_begin(s->b, low, high, (int64_t)s->wide * LEAT_LANES, NULL, 0);
  s->columns = k_loop_index(loop);
  passes(s);
  k_loop_end(s->b, NULL, 0);
}

static void row(loops *s, k_value number) {
  put(s, s->rows, (leat_index){.base = number});
  if (s->by_lanes || !s->lanes)
    passes(s);
  else
    columns(s, k_i64(s->b, 0), s->length);
}

// -- Tiles ----------------------------------------------------------------------------------------

// Rows [tile × count, …) of the unit.
static void tile_of_rows(loops *s, int64_t count) {
  k_builder *b = s->b;
  if (leat_dim_is(s->row_count, 1)) {
    row(s, k_i64(b, 0));
    return;
  }
  k_value first = k_mul(b, k_tile(b), k_i64(b, count)), rows = leat_lower_dim(s->w, s->row_count);
  if (count == 1) {
    row(s, first);
    return;
  }
  k_value end = k_add(b, first, k_i64(b, count));
  if (rows->op != K_CONST || rows->imm.i % count) end = k_binary(b, K_MIN, end, rows);
  k_instr *loop = k_loop_begin(b, first, end, 1, NULL, 0);
  row(s, k_loop_index(loop));
  k_loop_end(b, NULL, 0);
}

// Elements or outputs [chunk × size, …) of one row.
static void tile_of_chunk(loops *s, leat_dim chunks, int64_t size) {
  k_builder *b = s->b;
  leat_index number, chunk, tile = {.base = k_tile(b)};
  leat_index_divmod(&s->w->l, tile, leat_lower_dim(s->w, chunks), &number, &chunk);
  if (leat_dim_is(s->row_count, 1)) chunk = tile;
  put(s, s->rows, number);
  k_value low = k_mul(b, chunk.base, k_i64(b, size));
  k_value high = k_binary(b, K_MIN, k_add(b, low, k_i64(b, size)), s->length);
  if (!s->by_lanes) {
    columns(s, low, high);
    return;
  }
  leat_lower_prime(s->w, leat_unit_inner(s->unit));
  s->unrolled = false;
  vectors(s, low, high, NULL);
}

static void keep_costly(loops *s) {
  if (s->unrolled || s->steps || !s->by_lanes || !is_constant(s->length, MOST_KEPT)) return;
  int64_t size = (s->length->imm.i + LEAT_LANES - 1) / LEAT_LANES * LEAT_LANES;
  for (uint32_t i = 0; i < s->unit->members.count; i++) {
    const leat_item *item = s->unit->members.items[i];
    if (is_reduction(item) || !leat_item_is_full(item) || item->last_use <= item->first_use)
      continue;
    if (leat_node_cost(item->node) < 0.1) continue;
    const k_buffer *kept = k_local(s->b, K_SPACE_REGISTER, item->node->outputs[0].dtype, size);
    leat_lower_keep(s->w, item, kept, item->first_use);
  }
}

// Side by side as far as there are outputs and the code stays small: rows are then read in longer
// runs, and sums do not wait for each other.
static void choose_wide(loops *s) {
  int cost = 0;
  s->wide = 1;
  if (s->by_lanes || !s->lanes) return;
  for (uint32_t i = 0; i < s->unit->members.count; i++) cost += s->unit->members.items[i]->cost + 1;
  while (s->wide < MOST_WIDE && cost * (s->wide + 1) <= MOST_WIDE_COST &&
         count_accumulators(s, -1) * (uint32_t)(s->wide + 1) < MOST_ACCUMULATORS &&
         !is_constant(s->length, (int64_t)s->wide * LEAT_LANES))
    s->wide++;
}

// Tiles are chunks of rows where whole rows take long: in a row nothing may depend on all of it.
static leat_dim make_tiles(loops *s, double cost) {
  leat_lower *w = s->w;
  bool separate = s->lanes && (!s->by_lanes || (!s->unit->reduced && !s->unit->has_rows));
  double per_row = cost / (leat_elements_estimate(&s->row_count, 1) + 1e-9);
  leat_dim length = product(s, s->lanes);
  if (separate && (per_row > 2 * LEAT_TILE_NANOSECONDS || leat_dim_is(s->row_count, 1))) {
    double per_element = per_row / (leat_elements_estimate(&length, 1) + 1e-9);
    int64_t step = (int64_t)s->wide * LEAT_LANES, least = s->by_lanes ? LEAST_CHUNK : step;
    int64_t size = (int64_t)fmin(LEAT_TILE_NANOSECONDS / (per_element + 1e-9), MOST_CHUNK);
    size = size < least ? least : size / step * step;
    leat_dim both[] = {s->row_count, leat_lower_ceil_div(w, length, size)};
    if (!leat_dim_is(both[1], 1) || !leat_dim_is(both[0], 1)) {
      tile_of_chunk(s, both[1], size);
      return leat_lower_product(w, both, 2);
    }
  }
  int64_t count = (int64_t)fmin(LEAT_TILE_NANOSECONDS / (per_row + 1e-9), MOST_CHUNK) + 1;
  if (leat_dim_is_const(s->row_count) && count > s->row_count.value) count = s->row_count.value;
  if (count < 1) count = 1;
  tile_of_rows(s, count);
  return leat_lower_ceil_div(w, s->row_count, count);
}

void leat_lower_loops(leat_table *table, leat_unit *unit) {
  leat_lower *w = leat_lower_begin(table, unit);
  loops s = {.w = w, .unit = unit, .b = &w->builder, .passes = 1};
  double cost = leat_unit_estimate(unit);
  s.column = s.columns = k_i64(s.b, 0);
  find_passes(&s);
  choose_axes(&s);
  choose_wide(&s);
  s.unrolled = s.by_lanes && !s.steps && is_constant(s.length, MOST_UNROLLED_LANES);
  keep_costly(&s);
  leat_lower_end(w, make_tiles(&s, cost), cost);
}
