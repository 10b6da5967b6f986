// Kernels of element-wise ops and reductions.
//
// A tile is a number of rows (positions on the axes outside the inner ones), or a chunk of a row
// where there are no reductions. For each row there are passes over the inner axes: a reduction
// belongs to the pass in which its operand is known, what reads its result to a later one, so a
// softmax is three passes in one kernel. Vectors lie along the innermost axis: along the reduced
// elements where that axis is reduced (rule 1 of ops/reduce.c), else over the outputs (rule 2), and
// a row is then as many outputs as a vector has lanes. Short rows are unrolled, and what one pass
// computed the next one has in registers; of long ones, costly values are kept in a local array.
#include "codegen/loops.h"
#include "codegen/stages.h"

#include "ops/ops.h"
#include "ops/reduce.h"

#include <math.h>

enum {
  COSTLY = 100,      // picoseconds of an element that is kept from pass to pass
  LEAST_CHUNK = 256, // elements of a tile
  LEAST_PANEL = 256, // outputs of a tile that reads rows in long runs
  MOST_CHUNK = 1 << 20,
  MOST_WIDE_COST = 48, // instructions of a pass that makes vectors of outputs side by side
};

bool leat_is_at_most(k_value value, int64_t most) {
  return value->op == K_CONST && value->imm.i <= most;
}

// -- Axes -----------------------------------------------------------------------------------------

static leat_dim product(leat_loops *s, unsigned axes) {
  leat_dim dims[LEAT_MAX_RANK];
  int count = 0;
  for (int k = 0; k < s->w->rank; k++)
    if (axes >> k & 1) dims[count++] = s->w->dims[k];
  return leat_lower_product(s->w, dims, count);
}

void leat_loops_put(leat_loops *s, unsigned axes, leat_index linear) {
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

static void choose_axes(leat_loops *s) {
  leat_lower *w = s->w;
  unsigned all = (1u << w->rank) - 1, last = w->rank ? 1u << (w->rank - 1) : 0;
  s->by_lanes = !w->reduced || s->unit->by_lanes;
  s->inner = w->reduced ? w->reduced : last;
  s->lanes = !w->reduced ? last : s->by_lanes ? w->innermost : last & ~w->reduced;
  s->steps = w->reduced & ~s->lanes;
  s->rows = all & ~s->inner & ~s->lanes;
  if (s->by_lanes && (s->lanes & (s->lanes - 1))) w->joined[0].axes = s->lanes; // more than one
  s->row_count = product(s, s->rows);
  s->length = leat_lower_dim(w, product(s, s->lanes));
  s->step_count = leat_lower_dim(w, product(s, s->steps));
}

// -- Tiles ----------------------------------------------------------------------------------------

static void columns_here(leat_loops *s, k_value block) {
  if (block)
    leat_loops_block(s, block);
  else
    leat_loops_row(s);
}

static void loop_over_columns(leat_loops *s, k_value low, k_value high, k_value block) {
  k_instr *loop = k_loop_begin(s->b, low, high, (int64_t)s->wide * LEAT_LANES, NULL, 0);
  s->columns = k_loop_index(loop);
  columns_here(s, block);
  k_loop_end(s->b, NULL, 0);
}

// Those that are left, by as few vectors as they need.
static void last_columns(leat_loops *s, int64_t low, int64_t high, k_value block) {
  int wide = s->wide;
  s->wide = (int)((high - low + LEAT_LANES - 1) / LEAT_LANES);
  s->columns = k_i64(s->b, low);
  columns_here(s, block);
  s->wide = wide;
}

// Rule 2: outputs [low, high) of a row, or a block of theirs.
static void columns(leat_loops *s, k_value low, k_value high, k_value block) {
  if (s->panels) {
    leat_loops_panels(s, low, high, block);
    return;
  }
  bool all = low->op == K_CONST && low->imm.i == 0 && high->op == K_CONST;
  int64_t rest = all ? high->imm.i % ((int64_t)s->wide * LEAT_LANES) : 0;
  if (rest) {
    int64_t whole = high->imm.i - rest;
    s->whole = true;
    if (whole) loop_over_columns(s, low, k_i64(s->b, whole), block);
    s->whole = false;
    last_columns(s, whole, high->imm.i, block);
  } else {
    loop_over_columns(s, low, high, block);
  }
}

static void row_here(leat_loops *s, k_value block) {
  if (!s->by_lanes && s->lanes)
    columns(s, k_i64(s->b, 0), s->length, block);
  else if (block)
    leat_loops_block(s, block);
  else
    leat_loops_row(s);
}

static void row(leat_loops *s, k_value number, k_value block) {
  s->row_number = number;
  leat_loops_put(s, s->rows, (leat_index){.base = number});
  row_here(s, block);
}

// Rows [tile × count, …) of the unit.
static void tile_of_rows(leat_loops *s, int64_t count) {
  k_builder *b = s->b;
  if (leat_dim_is(s->row_count, 1)) {
    row(s, k_i64(b, 0), NULL);
    return;
  }
  k_value first = k_mul(b, k_tile(b), k_i64(b, count)), rows = leat_lower_dim(s->w, s->row_count);
  if (count == 1) {
    row(s, first, NULL);
    return;
  }
  k_value end = k_add(b, first, k_i64(b, count));
  if (rows->op != K_CONST || rows->imm.i % count) end = k_binary(b, K_MIN, end, rows);
  k_instr *loop = k_loop_begin(b, first, end, 1, NULL, 0);
  row(s, k_loop_index(loop), NULL);
  k_loop_end(b, NULL, 0);
}

static void row_of_run(leat_loops *s, void *context, k_value position, k_value *acc) {
  (void)context, (void)position, (void)acc;
  row_here(s, NULL);
}

// About `count` rows: of runs along an axis that windows slide along, several or a part of one.
static leat_dim tiles_of_runs(leat_loops *s, int axis, int64_t count) {
  k_builder *b = s->b;
  unsigned others = s->rows & ~(1u << axis);
  int64_t size = s->w->dims[axis].value, several = count / size > 1 ? count / size : 1;
  int64_t parts = count < size ? (size + count - 1) / count : 1;
  leat_dim all = product(s, others),
           tiles[] = {leat_lower_ceil_div(s->w, all, several), leat_dim_const(parts)};
  leat_index number, part, tile = {.base = k_tile(b)};
  leat_index_divmod(&s->w->l, tile, k_i64(b, parts), &number, &part);
  k_value begin = k_mul(b, part.base, k_i64(b, (size + parts - 1) / parts));
  k_value end = k_add(b, begin, k_i64(b, (size + parts - 1) / parts));
  end = k_binary(b, K_MIN, end, k_i64(b, size));
  k_value first = k_mul(b, number.base, k_i64(b, several));
  k_value last = k_add(b, first, k_i64(b, several));
  last = k_binary(b, K_MIN, last, leat_lower_dim(s->w, all));
  k_instr *loop = k_loop_begin(b, first, last, 1, NULL, 0);
  leat_loops_put(s, others, (leat_index){.base = k_loop_index(loop)});
  leat_windows_walk(s, s->rows, begin, end, row_of_run, NULL, NULL, 0);
  k_loop_end(b, NULL, 0);
  return leat_lower_product(s->w, tiles, 2);
}

// Elements or outputs [chunk × size, …) of one row.
static void tile_of_chunk(leat_loops *s, leat_dim chunks, int64_t size) {
  k_builder *b = s->b;
  leat_index number, chunk, tile = {.base = k_tile(b)};
  leat_index_divmod(&s->w->l, tile, leat_lower_dim(s->w, chunks), &number, &chunk);
  if (leat_dim_is(s->row_count, 1)) chunk = tile;
  s->row_number = number.base;
  leat_loops_put(s, s->rows, number);
  k_value low = k_mul(b, chunk.base, k_i64(b, size));
  k_value high = k_binary(b, K_MIN, k_add(b, low, k_i64(b, size)), s->length);
  if (!s->by_lanes) {
    columns(s, low, high, NULL);
    return;
  }
  leat_lower_prime(s->w, leat_unit_inner(s->unit));
  s->unrolled = false;
  leat_loops_vectors(s, low, high, NULL);
}

// Elements of a row for the passes behind, if they stay in a quarter of the second cache.
static void keep_costly(leat_loops *s) {
  const leat_target_info *target = s->w->table->cg->options->target;
  int64_t most = target->l2 / 4 / (int64_t)sizeof(float);
  if (s->unrolled || s->steps || !s->by_lanes || !leat_is_at_most(s->length, most)) return;
  int64_t size = (s->length->imm.i + LEAT_LANES - 1) / LEAT_LANES * LEAT_LANES;
  int64_t room = s->room;
  for (uint32_t i = 0; i < s->unit->members.count; i++) {
    const leat_item *item = s->unit->members.items[i];
    if (leat_item_reduces(item) || !leat_item_is_full(item) || item->last_use <= item->first_use)
      continue;
    leat_dtype dtype = item->node->outputs[0].dtype;
    if (leat_op_cost_of(item->node->op).picoseconds < COSTLY || k_words(dtype) > 1) continue;
    room -= size * (int64_t)leat_dtype_size(k_dtype(dtype));
    if (room < 0) return; // the others are computed again
    const k_buffer *kept = k_local(s->b, K_SPACE_REGISTER, k_dtype(dtype), size);
    leat_lower_keep(s->w, item, kept, item->first_use);
  }
}

// Vectors that registers hold beside what is read.
static int64_t most_in_registers(const leat_loops *s) {
  enum { BESIDE = 4 };
  const leat_target_info *target = s->w->table->cg->options->target;
  return (target->vector_registers - BESIDE) / leat_vector_registers(target, LEAT_f32);
}

static int most_side_by_side(const leat_loops *s) {
  const leat_target_info *target = s->w->table->cg->options->target;
  int most = target->vector_registers / leat_vector_registers(target, LEAT_f32);
  return most < LEAT_MOST_SIDE_BY_SIDE ? most : LEAT_MOST_SIDE_BY_SIDE;
}

// Where positions are summed for each element of a window, for all elements at once, or for those
// along one axis: what is read there is read once.
static void choose_tall(leat_loops *s) {
  uint32_t count = leat_loops_accumulators(s, -1);
  unsigned axes = s->windows.slides & s->steps && count ? s->rows & s->windows.within : 0;
  int64_t most = axes ? most_in_registers(s) / count : 0;
  while (axes) {
    leat_dim rows = product(s, axes);
    if (leat_dim_is_const(rows) && rows.value <= most) break;
    axes &= axes - 1;
  }
  s->side = axes;
  s->rows &= ~axes;
  s->tall = (int)product(s, axes).value;
  s->row_count = product(s, s->rows);
}

// Side by side as far as there are outputs and the code stays small: rows are then read in longer
// runs, and sums do not wait for each other.
static void choose_wide(leat_loops *s) {
  int cost = 0;
  s->wide = s->tall = 1;
  if (s->by_lanes || !s->lanes) return;
  choose_tall(s);
  int64_t most = s->tall > 1 ? most_in_registers(s) / s->tall : s->side_by_side;
  if (s->windows.within & s->steps && leat_is_at_most(s->step_count, LEAT_MOST_STRAIGHT) &&
      s->step_count->imm.i * most > LEAT_MOST_STRAIGHT)
    most = LEAT_MOST_STRAIGHT / s->step_count->imm.i;
  for (uint32_t i = 0; i < s->unit->members.count; i++) cost += s->unit->members.items[i]->cost + 1;
  if (most > s->side_by_side) most = s->side_by_side;
  while (s->wide < most && cost * (s->wide + 1) <= MOST_WIDE_COST &&
         leat_loops_accumulators(s, -1) * (uint32_t)((s->wide + 1) * s->tall) <
             LEAT_MOST_ACCUMULATORS &&
         !leat_is_at_most(s->length, (int64_t)s->wide * LEAT_LANES))
    s->wide++;
  while (s->windows.slides && s->wide > 2 && s->length->op == K_CONST &&
         s->length->imm.i % ((int64_t)s->wide * LEAT_LANES))
    s->wide--;
}

// Tiles are chunks of rows where whole rows take long: in a row nothing may depend on all of it.
static leat_dim make_tiles(leat_loops *s, double cost) {
  leat_lower *w = s->w;
  bool separate = s->lanes && (!s->by_lanes || (!s->unit->reduced && !s->unit->has_rows));
  double per_row = cost / (leat_cost_elements(&s->row_count, 1) + 1e-9);
  leat_dim length = product(s, s->lanes);
  if (separate && (per_row > 2 * LEAT_TILE_NANOSECONDS || leat_dim_is(s->row_count, 1))) {
    double per_element = per_row / (leat_cost_elements(&length, 1) + 1e-9);
    int64_t step = s->panels ? LEAST_PANEL : (int64_t)s->wide * LEAT_LANES;
    int64_t least = s->by_lanes ? LEAST_CHUNK : step;
    int64_t size = (int64_t)fmin(LEAT_TILE_NANOSECONDS / (per_element + 1e-9), MOST_CHUNK);
    size = size < least ? least : size / step * step;
    while (w->general && size & (size - 1)) size &= size - 1; // many sizes, one kernel
    leat_dim both[] = {s->row_count, leat_lower_ceil_div(w, length, size)};
    if (!leat_dim_is(both[1], 1) || !leat_dim_is(both[0], 1)) {
      tile_of_chunk(s, both[1], size);
      return leat_lower_product(w, both, 2);
    }
  }
  int64_t count = (int64_t)fmin(LEAT_TILE_NANOSECONDS / (per_row + 1e-9), MOST_CHUNK) + 1;
  if (leat_dim_is_const(s->row_count) && count > s->row_count.value) count = s->row_count.value;
  if (count < 1) count = 1;
  int axis = leat_windows_run(s, s->rows);
  if (axis >= 0) return tiles_of_runs(s, axis, count);
  tile_of_rows(s, count);
  return leat_lower_ceil_div(w, s->row_count, count);
}

// A tile is a block of a row's reduced elements.
static leat_dim make_block_tiles(leat_loops *s) {
  leat_dim reduced = product(s, s->w->reduced), tiles[] = {s->row_count, {0}};
  leat_index number, block;
  tiles[1] = leat_lower_ceil_div(s->w, reduced, leat_loops_block_size(s));
  leat_index_divmod(&s->w->l, (leat_index){.base = k_tile(s->b)}, leat_lower_dim(s->w, tiles[1]),
                    &number, &block);
  row(s, number.base, block.base);
  return leat_lower_product(s->w, tiles, 2);
}

static leat_loops begin(leat_lower *w, leat_fold_part part) {
  leat_loops s = {
      .w = w, .unit = w->unit, .b = &w->builder, .part = part, .room = LEAT_MOST_LOCAL_BYTES};
  s.column = s.columns = s.row_number = s.side_number = k_i64(s.b, 0);
  leat_loops_find_passes(&s);
  choose_axes(&s);
  return s;
}

static void choose_rows(leat_loops *s) {
  leat_windows_find(s);
  s->side_by_side = most_side_by_side(s);
  choose_wide(s);
  s->panels = leat_loops_fit_panels(s);
  s->unrolled =
      s->by_lanes && !s->steps && leat_is_at_most(s->length, (int64_t)s->side_by_side * LEAT_LANES);
  keep_costly(s);
}

void leat_lower_rows(leat_lower *w, k_value low, k_value high, int64_t room) {
  leat_loops s = begin(w, LEAT_FOLD_ALL);
  s.room = room;
  choose_rows(&s);
  k_instr *loop = k_loop_begin(s.b, low, high, 1, NULL, 0);
  row(&s, k_loop_index(loop), NULL);
  k_loop_end(s.b, NULL, 0);
}

static void lower_part(leat_table *table, leat_unit *unit, leat_fold_part part) {
  leat_lower *w = leat_lower_begin(table, unit);
  leat_loops s = begin(w, part);
  double cost = part == LEAT_FOLD_TOTALS ? 0 : leat_unit_estimate(table, unit);
  if (unit->scratch) s.scratch = leat_lower_buffer(w, unit->scratch);
  int across = leat_loops_across(&s);
  if (across >= 0) {
    leat_lower_end(w, leat_loops_squares(&s, across), cost);
    return;
  }
  choose_rows(&s);
  leat_lower_end(w, part == LEAT_FOLD_BLOCKS ? make_block_tiles(&s) : make_tiles(&s, cost), cost);
}

// Room for a number of each block, when the reduction is worth two kernels.
void leat_loops_prepare(leat_table *table, leat_unit *unit) {
  if (!leat_unit_is_long(unit) || unit->reductions != 1) return;
  leat_lower w = {.table = table, .unit = unit};
  const leat_item *item = NULL;
  for (uint32_t i = 0; i < unit->members.count; i++)
    if (leat_item_reduces(unit->members.items[i])) item = unit->members.items[i];
  if (!item || leat_reducer_of(item->node->op)->count != 1) return;
  leat_dim kept[LEAT_MAX_RANK], reduced[LEAT_MAX_RANK];
  int kept_count = 0, reduced_count = 0;
  for (int k = 0; k < unit->rank; k++)
    *(unit->reduced >> k & 1 ? &reduced[reduced_count++] : &kept[kept_count++]) = unit->dims[k];
  int64_t block = unit->by_lanes ? LEAT_REDUCE_BLOCK_INNER : LEAT_REDUCE_BLOCK_OUTER;
  leat_dim all = leat_lower_product(&w, reduced, reduced_count);
  leat_dim dims[] = {leat_lower_product(&w, kept, kept_count), leat_lower_ceil_div(&w, all, block)};
  leat_type type = {.dtype = item->node->outputs[0].dtype, .rank = 1};
  type.dims[0] = leat_lower_product(&w, dims, 2);
  unit->scratch = leat_storage_arena(table, &type);
}

void leat_lower_loops(leat_table *table, leat_unit *unit) {
  if (!unit->scratch) {
    lower_part(table, unit, LEAT_FOLD_ALL);
    return;
  }
  lower_part(table, unit, LEAT_FOLD_BLOCKS);
  lower_part(table, unit, LEAT_FOLD_TOTALS);
}
