// Chooses a contraction's tiles: so many panels by so many rows, that what is near while one is
// computed stays in a cache, and that there are enough of them for all cores.
#include "codegen/contract_planner.h"
#include "ops/reduce.h"

#include <assert.h>
#include <math.h>

enum {
  MANY_TILES = 4,              // a core …
  LONG_TILE = 4,               // … of which each may take so much longer
  LEAST_PARTS = 4,             // of k, that tiles of their own are worth
  MOST_CACHE = 512 << 10,      // of the second one: more gains nothing
  MOST_PARTS_BYTES = 64 << 20, // of the sums of the parts of k
  MOST_GATHERED = 4,           // vectors of a in one go
  MOST_RUNS = 24,              // the same of what lies together in runs
  TILES_OF_CORE = 4,           // of a chain, at least
};

// -- Caches ---------------------------------------------------------------------------------------

// Bytes of the second cache for what a tile has: a half for its b, LEAT_DEPTH_BLOCK deep, or a
// quarter where it has pieces of it, 14 of 64 parts for the rows of a that are gathered together,
// 11 for the local c of a deep tile.
static int64_t cache_for(const leat_contraction_planner *s, int parts) {
  return (s->target->l2 < MOST_CACHE ? s->target->l2 : MOST_CACHE) * parts / 64;
}

// Of b: for all of k, where it goes in one piece. But an a that is gathered is so for each tile.
static int64_t tile_columns(const leat_contraction_planner *s) {
  const leat_contraction_plan *p = s->p;
  bool flat = !p->deep && p->a == LEAT_OPERAND_DIRECT && p->depth.value > LEAT_DEPTH_BLOCK;
  int64_t depth = flat ? p->depth.value : LEAT_DEPTH_BLOCK;
  return cache_for(s, p->b == LEAT_OPERAND_TILED ? 16 : 32) /
         (depth * (int64_t)leat_dtype_size(s->dtype));
}

static int64_t gathered_bytes(const leat_contraction_planner *s) {
  return cache_for(s, 14);
}

static int64_t tile_bytes(const leat_contraction_planner *s) {
  return cache_for(s, 11);
}

// All columns, if their b stays in a cache.
int leat_contraction_most_panels(const leat_contraction_planner *s) {
  const leat_contraction_plan *p = s->p;
  int64_t most = tile_columns(s) / p->width;
  if (!leat_dim_is_const(p->panels) || most < 1 || p->panels.value < 1) return 1;
  if (p->b == LEAT_OPERAND_TURNED) return 1; // a row of what lies across is read in one go
  return (int)(p->panels.value < most ? p->panels.value : most);
}

// -- Tiles ----------------------------------------------------------------------------------------

// Elements of k that are gathered together.
static int64_t depth_gathered(const leat_contraction_plan *p) {
  if (p->deep) return LEAT_DEPTH_BLOCK;
  return p->depth.value < 1 ? 1 : p->depth.value;
}

// What a tile's rows are a multiple of: blocks, and of a that is gathered by columns vectors, if
// there is room, so that a vector begins at a multiple of their size, where what lies in memory
// together often does.
static int64_t unit_of_rows(const leat_contraction_planner *s) {
  const leat_contraction_plan *p = s->p;
  int high = p->last.high > p->high ? p->last.high : p->high;
  int64_t unit = high, row = depth_gathered(p) * (int64_t)leat_dtype_size(s->dtype);
  if (p->a != LEAT_OPERAND_GATHERED || !p->transposed || p->strips) return unit;
  while (unit % LEAT_LANES) unit += high;
  return unit * row <= gathered_bytes(s) ? unit : high;
}

// Whole units that fit in `bytes`, of which a row takes so many elements: at least one.
static int64_t rows_within(const leat_contraction_planner *s, int64_t bytes, int64_t elements) {
  int64_t unit = unit_of_rows(s);
  int64_t rows = bytes / (elements * (int64_t)leat_dtype_size(s->dtype)) / unit * unit;
  return rows < unit ? unit : rows;
}

static double count_tiles(const leat_contraction_plan *p) {
  double across = ceil(leat_cost_extent(p->panels) / p->tile_panels);
  return leat_cost_extent(p->batch) * across *
         ceil(leat_cost_extent(p->rows) / (double)p->tile_rows);
}

static double count_parts(const leat_contraction_plan *p) {
  return ceil(leat_cost_extent(p->depth) / LEAT_PRODUCT_BLOCK);
}

// Whether the sums of all parts of k are worth their room: where there are few tiles else.
static bool is_worth_splitting(const leat_contraction_planner *s) {
  const leat_contraction_plan *p = s->p;
  double sums = leat_cost_extent(p->batch) * leat_cost_extent(p->rows) *
                leat_cost_extent(p->panels) * (double)p->width;
  double bytes = count_parts(p) * sums * (double)leat_dtype_size(s->dtype);
  return count_parts(p) >= LEAST_PARTS && count_tiles(p) < s->target->cores &&
         bytes <= MOST_PARTS_BYTES;
}

// As large as its c and b may be, and smaller again while there are few of them.
static void choose_deep_tile(leat_contraction_planner *s) {
  leat_contraction_plan *p = s->p;
  int64_t unit = unit_of_rows(s);
  bool all = p->b == LEAT_OPERAND_TILED;
  p->tile_panels = leat_contraction_most_panels(s);
  int64_t panel = unit * p->width * (int64_t)leat_dtype_size(s->dtype);
  while (p->tile_panels > 1 && p->tile_panels * panel > tile_bytes(s))
    p->tile_panels = (p->tile_panels + 1) / 2;
  p->tile_rows = rows_within(s, tile_bytes(s), p->tile_panels * p->width);
  if (all) p->tile_rows = p->rows.value;
  if (leat_dim_is_const(p->rows) && p->rows.value <= p->tile_rows)
    p->tile_rows = leat_round_up(p->rows.value < 1 ? 1 : p->rows.value, unit);
  p->split = is_worth_splitting(s);
  double parts = p->split ? count_parts(p) : 1;
  while (count_tiles(p) * parts < s->target->cores) {
    if (p->tile_rows > 4 * unit && !all)
      p->tile_rows -= unit;
    else if (p->tile_panels > 1)
      p->tile_panels = (p->tile_panels + 1) / 2;
    else if (p->tile_rows > unit && !all)
      p->tile_rows -= unit;
    else
      break;
  }
}

// Of all columns whose b stays in a cache, if there are enough such tiles; of so many rows that
// what is near is used for long, if there are many then.
static void choose_flat_tile(leat_contraction_planner *s) {
  leat_contraction_plan *p = s->p;
  int64_t unit = unit_of_rows(s);
  double row =
      2.0 * (double)p->width * leat_cost_extent(p->depth) / leat_cost_flops(s->target, s->dtype);
  p->tile_rows = unit;
  p->tile_panels = leat_contraction_most_panels(s);
  while (p->tile_panels > 1 && count_tiles(p) < s->target->cores)
    p->tile_panels = (p->tile_panels + 1) / 2;
  double units = LEAT_TILE_NANOSECONDS / (row * p->tile_panels * (double)unit + 1);
  int64_t least = (int64_t)units + 1;
  p->tile_rows = ((int64_t)(LONG_TILE * units) + 1) * unit;
  while (p->tile_rows > least * unit && count_tiles(p) < MANY_TILES * s->target->cores)
    p->tile_rows -= unit;
}

// Elements of a's last axis that lie together: of windows, whose last two axes a has as one.
static int64_t find_run(const leat_contraction_planner *s) {
  const leat_contraction_plan *p = s->p;
  const leat_node *a = p->item->node->inputs[0].node;
  const leat_item *item = leat_item_of(s->w.table, p->item->node->inputs[0]);
  if (item->role != LEAT_ROLE_FREE || a->info->reads != LEAT_READS_RESHAPED) return 0;
  const leat_type *from = leat_value_type(a->inputs[0]);
  const leat_dim last = a->outputs[0].dims[a->outputs[0].rank - 1];
  if (from->rank < 2 || !leat_dim_is_const(last)) return 0;
  int64_t together = 1;
  for (int k = from->rank - 1; k >= 0 && together < last.value; k--) {
    if (!leat_dim_is_const(from->dims[k])) return 0;
    together *= from->dims[k].value;
  }
  int64_t run = from->dims[from->rank - 1].value;
  if (together != last.value || run < 1 || run % LEAT_LANES == 0) return 0;
  return last.value / run * (leat_round_up(run, LEAT_LANES) / LEAT_LANES) <= MOST_RUNS ? run : 0;
}

static void gather_in_strips(leat_contraction_plan *p, int64_t depth) {
  int64_t blocks = (p->gathered_rows + p->high - 1) / p->high;
  int64_t turns = (blocks + LEAT_MOST_STRIPS - 1) / LEAT_MOST_STRIPS;
  p->strips = (int)((blocks + turns - 1) / turns);
  p->pitch = depth + (p->strip_lanes - 1) / p->high;
  p->gathered = turns * p->strips * p->high * p->pitch + p->strip_lanes;
}

// Of a: so many rows together as leave room for what else is near. What is gathered by runs is all
// of a's last axis, and hangs over by less than a vector.
static void choose_gathering(leat_contraction_planner *s) {
  leat_contraction_plan *p = s->p;
  int64_t depth = depth_gathered(p);
  int64_t most = rows_within(s, gathered_bytes(s), leat_round_up(depth, LEAT_LANES));
  p->gathered_rows = p->tile_rows < most ? p->tile_rows : most;
  if (!p->deep) p->tile_rows = p->gathered_rows;
  if (p->strips) {
    gather_in_strips(p, depth);
    return;
  }
  bool all =
      p->transposed ? leat_dim_is_const(p->rows) && p->rows.value <= p->gathered_rows : !p->deep;
  p->run = all ? find_run(s) : 0;
  int64_t fast = p->transposed ? p->gathered_rows : depth;
  int64_t vectors = leat_round_up(fast, LEAT_LANES) / LEAT_LANES;
  p->gathered_vectors = (int)(vectors < MOST_GATHERED ? vectors : MOST_GATHERED);
  p->pitch = leat_round_up(fast, (int64_t)p->gathered_vectors * LEAT_LANES);
  if (p->run) p->pitch = leat_round_up(fast + LEAT_LANES - 1, LEAT_LANES);
  p->gathered = p->pitch * (p->transposed ? depth : p->gathered_rows);
}

// As many tiles, alike.
static void even_out(leat_contraction_planner *s) {
  leat_contraction_plan *p = s->p;
  if (!leat_dim_is_const(p->rows) || p->rows.value < 1) return;
  int64_t tiles = (p->rows.value + p->tile_rows - 1) / p->tile_rows;
  p->tile_rows = leat_round_up((p->rows.value + tiles - 1) / tiles, unit_of_rows(s));
}

void leat_contraction_choose_tile(leat_contraction_planner *s) {
  leat_contraction_plan *p = s->p;
  if (p->deep)
    choose_deep_tile(s);
  else
    choose_flat_tile(s);
  even_out(s);
  p->gathered_rows = p->tile_rows;
  if (p->a == LEAT_OPERAND_GATHERED) choose_gathering(s);
  p->blocks = leat_lower_ceil_div(&s->w, p->rows, p->tile_rows);
  p->groups = leat_lower_ceil_div(&s->w, p->panels, p->tile_panels);
  p->parts =
      p->split ? leat_lower_ceil_div(&s->w, p->depth, LEAT_PRODUCT_BLOCK) : leat_dim_const(1);
}

// -- A chain --------------------------------------------------------------------------------------

static int64_t least_common_multiple(int64_t a, int64_t b) {
  int64_t multiple = a;
  while (multiple % b) multiple += a;
  return multiple;
}

// Rows that local arrays have room for: a chain's own, a that is gathered, and sums of k in blocks,
// beside one that loops may keep of a row.
static int64_t most_rows_of_chain(const leat_contraction_planner *first,
                                  const leat_contraction_planner *last, int64_t row) {
  int64_t most = cache_for(last, 32), room = row, size = (int64_t)leat_dtype_size(last->dtype);
  if (most > LEAT_MOST_TILE_BYTES) most = LEAT_MOST_TILE_BYTES;
  most /= row;
  if (first->p->a == LEAT_OPERAND_GATHERED) {
    int64_t depth = leat_round_up(depth_gathered(first->p), MOST_GATHERED * LEAT_LANES);
    int64_t gathered = rows_within(first, gathered_bytes(first), depth);
    if (gathered < most) most = gathered;
    room += depth * (int64_t)leat_dtype_size(first->dtype);
  }
  if (last->p->deep) room += 2 * last->p->panels.value * last->p->width * size;
  int64_t local = (LEAT_MOST_LOCAL_BYTES - row) / room;
  if (local < most) most = local;
  return most < 1 ? 1 : most;
}

// Both products' blocks divide a tile's rows, so the last panel's have no more than the others'.
static void even_last_block(leat_contraction_plan *p) {
  if (p->last.high) p->last.high = p->high;
}

// Rows of a tile: as many as stay in half of the second cache, fewer while there are few tiles.
static int64_t rows_of_chain(leat_contraction_planner *first, leat_contraction_planner *last,
                             const leat_unit *unit) {
  leat_contraction_plan *p = last->p;
  even_last_block(first->p);
  even_last_block(p);
  int64_t most = most_rows_of_chain(first, last, leat_chain_row_bytes(unit));
  int64_t step = least_common_multiple(first->p->high, p->high);
  if (step > most) {
    int high = first->p->high < p->high ? first->p->high : p->high;
    step = first->p->high = p->high = high < most ? high : (int)most;
    even_last_block(first->p);
    even_last_block(p);
  }
  p->tile_panels = (int)p->panels.value;
  p->tile_rows = most / step * step;
  if (p->rows.value < p->tile_rows) p->tile_rows = leat_round_up(p->rows.value, step);
  while (p->tile_rows > step && count_tiles(p) < TILES_OF_CORE * last->target->cores)
    p->tile_rows -= step;
  int64_t tiles = (p->rows.value + p->tile_rows - 1) / p->tile_rows;
  return leat_round_up((p->rows.value + tiles - 1) / tiles, step);
}

static void set_tile(leat_contraction_planner *s, int64_t rows) {
  leat_contraction_plan *p = s->p;
  p->tile_rows = p->gathered_rows = rows;
  p->tile_panels = (int)p->panels.value;
  if (p->a == LEAT_OPERAND_GATHERED) choose_gathering(s);
  p->blocks = leat_lower_ceil_div(&s->w, p->rows, p->tile_rows);
  p->groups = p->parts = leat_dim_const(1);
}

void leat_contraction_choose_chain_tile(leat_contraction_planner *first,
                                        leat_contraction_planner *last, const leat_unit *unit) {
  assert(!first->p->strips && !last->p->strips); // neither's a lies by columns
  assert(first->p->b != LEAT_OPERAND_TILED && last->p->b != LEAT_OPERAND_TILED); // nor rows are few
  set_tile(first, rows_of_chain(first, last, unit));
  set_tile(last, first->p->tile_rows); // fewer, if there is room to gather only so many
}
