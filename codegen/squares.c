// Kernels of what reads its inputs across: y[…, i, …, j] = f(x[…, j, …, i]).
//
// Vectors along the outputs would take each of their elements from another cache line. So such a
// unit is cut into squares of LEAT_LANES × LEAT_LANES elements along the output's last axis and
// `across`, the axis that is the inputs' last: a square is computed by vectors along `across`,
// turned in registers, and stored by vectors along the last axis. Where an axis is no multiple of
// LEAT_LANES the last square overlaps the one before: its elements are stored twice, with the same
// bits.
#include "codegen/loops.h"

enum { BLOCK = 128 }; // elements along each axis of a tile

// The unit's axis that is the last one of every input, and not the unit's last: -1 when there is
// none.
static int axis_across(const leat_unit *unit) {
  int across = -1, last = unit->rank - 1;
  for (uint32_t i = 0; i < unit->members.count; i++) {
    const leat_item *item = unit->members.items[i];
    for (uint32_t j = 0; j < item->reads.count; j++) {
      const leat_access *access = item->reads.items[j];
      int rank = leat_item_type(access->producer)->rank;
      if (access->producer->unit && leat_unit_of(access->producer->unit) == unit) continue;
      if (rank == 0) continue;
      int axis = access->aligned ? access->axis[rank - 1] : -1;
      if (axis < 0) return -1;
      axis = item->axis[axis];
      if (axis == last || (across >= 0 && axis != across)) return -1;
      across = axis;
    }
  }
  return across;
}

static bool has_square(leat_dim dim) {
  return leat_dim_is_const(dim) && dim.value >= LEAT_LANES;
}

int leat_loops_across(const leat_loops *s) {
  const leat_unit *unit = s->unit;
  if (s->w->flat || unit->reduced || unit->has_rows || s->part != LEAT_PART_ALL) return -1;
  if (unit->rank < 2 || !has_square(unit->dims[unit->rank - 1])) return -1;
  for (uint32_t i = 0; i < unit->outputs.count; i++) {
    const leat_output *output = &unit->outputs.items[i];
    if (!leat_item_is_full(output->item) || k_words(output->storage->type.dtype) > 1) return -1;
  }
  int across = axis_across(unit);
  return across >= 0 && has_square(unit->dims[across]) ? across : -1;
}

// Rows become columns: to put halves together, element by element, turns the bits of (row, column)
// by one; four times make each the other.
static void turn(k_builder *b, k_value *rows) {
  for (int bits = LEAT_LANES; bits > 1; bits /= 2) {
    k_value turned[LEAT_LANES];
    for (int i = 0; i < LEAT_LANES; i++)
      turned[i] = k_zip(b, rows[i / 2], rows[i / 2 + LEAT_LANES / 2], i % 2);
    for (int i = 0; i < LEAT_LANES; i++) rows[i] = turned[i];
  }
}

static void square(leat_loops *s, int across, k_value first, k_value low,
                   const leat_output *output) {
  leat_lower *w = s->w;
  k_builder *b = s->b;
  int last = w->rank - 1;
  k_value rows[LEAT_LANES];
  w->l.lanes = LEAT_LANES;
  w->at[across] = (leat_index){.base = first, .step = 1};
  for (int i = 0; i < LEAT_LANES; i++) {
    w->at[last] = (leat_index){.base = k_add(b, low, k_i64(b, i))};
    rows[i] = k_splat(b, LEAT_LANES, leat_lower_item(w, output->item));
  }
  turn(b, rows);
  w->at[last] = (leat_index){.base = low, .step = 1};
  for (int i = 0; i < LEAT_LANES; i++) {
    w->at[across] = (leat_index){.base = k_add(b, first, k_i64(b, i))};
    k_value place = leat_lower_element(w, output->item).base;
    k_store(b, leat_lower_buffer(w, output->storage), place, rows[i], NULL);
  }
  w->l.lanes = 1;
}

// Squares from `begin` along an axis, those of one block: the loop, and where its square begins.
static k_value squares_begin(leat_loops *s, k_value begin, leat_dim dim) {
  k_builder *b = s->b;
  k_value end = k_binary(b, K_MIN, k_add(b, begin, k_i64(b, BLOCK)), k_i64(b, dim.value));
  k_instr *loop = k_loop_begin(b, begin, end, LEAT_LANES, NULL, 0);
  return k_binary(b, K_MIN, k_loop_index(loop), k_i64(b, dim.value - LEAT_LANES));
}

// A tile is a block of squares: the pages that it reads and writes are few enough to be remembered.
leat_dim leat_loops_squares(leat_loops *s, int across) {
  leat_lower *w = s->w;
  k_builder *b = s->b;
  int last = w->rank - 1;
  leat_dim dims[3];
  dims[1] = leat_lower_ceil_div(w, w->dims[across], BLOCK);
  dims[2] = leat_lower_ceil_div(w, w->dims[last], BLOCK);
  unsigned others = s->rows & ~(1u << across);
  leat_dim other_dims[LEAT_MAX_RANK];
  int count = 0;
  for (int k = 0; k < w->rank; k++)
    if (others >> k & 1) other_dims[count++] = w->dims[k];
  dims[0] = leat_lower_product(w, other_dims, count);
  leat_index other, row, column, tile = {.base = k_tile(b)};
  leat_index_divmod(&w->l, tile, leat_lower_dim(w, dims[2]), &tile, &column);
  leat_index_divmod(&w->l, tile, leat_lower_dim(w, dims[1]), &other, &row);
  leat_loops_put(s, others, other);
  k_value size = k_i64(b, BLOCK);
  k_value first = squares_begin(s, k_mul(b, row.base, size), w->dims[across]);
  k_value low = squares_begin(s, k_mul(b, column.base, size), w->dims[last]);
  for (uint32_t i = 0; i < s->unit->outputs.count; i++)
    square(s, across, first, low, &s->unit->outputs.items[i]);
  k_loop_end(b, NULL, 0);
  k_loop_end(b, NULL, 0);
  return leat_lower_product(w, dims, 3);
}
