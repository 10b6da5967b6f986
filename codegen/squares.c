// Kernels of what reads its inputs across: y[…, i, …, j] = f(x[…, j, …, i]).
//
// Vectors along the outputs would take each of their elements from another cache line. So such a
// unit is cut into squares of LEAT_LANES × LEAT_LANES elements along the output's last axis and
// `across`, the axis that is the inputs' last: a square is computed by vectors along `across`,
// turned in registers, and stored by vectors along the last axis. Where an axis is no multiple of
// LEAT_LANES the last square overlaps the one before: its elements are stored twice, with the same
// bits.
//
// A tile is a block of squares. It goes along the side, read or written, whose rows are the farther
// apart: that one is then touched in runs, the other a line at a time in rows that are near. Where
// the rows of both sides fall into the same few sets of the TLB and the caches, being a multiple of
// ALIASED bytes apart, neither may be touched a line at a time: then the block is computed by rows
// into a local array, and turned from there.
#include "codegen/loops.h"

#include <math.h>

enum {
  RUN_BYTES = 1024, // of a tile along the axis that it goes along
  BLOCK = 128,      // elements of it along the other one
  ALIASED = 64 << 10,
  LINE = 64, // what rows of the local array are longer, so that they do not fall into one set
};

// An axis that squares lie along, and what a tile has of it: never less than a square.
typedef struct side {
  int axis;
  int64_t size; // elements of a tile
  k_value begin, end;
} side;

typedef struct squares {
  leat_loops *loops;
  side across, last;
  bool reads_in_runs;    // squares follow each other along `across`
  const k_buffer *local; // the block, by rows along `across`; NULL: squares are computed in place
  int64_t pitch;         // elements between its rows
} squares;

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

// -- Where rows are ------------------------------------------------------------------------------

// Bytes from an element to the next one along an axis.
static double bytes_between(const leat_type *type, int axis) {
  int after = type->rank - axis - 1;
  return leat_elements_estimate(type->dims + axis + 1, after) *
         (double)leat_dtype_size(type->dtype);
}

// Of what the unit reads: the farthest that neighbours along its axis are apart.
static double farthest_read(const leat_unit *unit, int axis) {
  double most = 0;
  for (uint32_t i = 0; i < unit->members.count; i++) {
    const leat_item *item = unit->members.items[i];
    for (uint32_t j = 0; j < item->reads.count; j++) {
      const leat_access *access = item->reads.items[j];
      const leat_type *type = leat_item_type(access->producer);
      if (access->producer->unit && leat_unit_of(access->producer->unit) == unit) continue;
      for (int k = 0; k < type->rank; k++)
        if (access->axis[k] >= 0 && item->axis[access->axis[k]] == axis)
          most = fmax(most, bytes_between(type, k));
    }
  }
  return most;
}

static bool is_aliased(double bytes) {
  return fmod(bytes, ALIASED) == 0;
}

static void choose_blocks(squares *q) {
  const leat_unit *unit = q->loops->unit;
  const leat_type *type = &unit->outputs.items[0].storage->type;
  int64_t size = (int64_t)leat_dtype_size(k_dtype(type->dtype));
  leat_type space = {.dtype = type->dtype, .rank = unit->rank};
  for (int k = 0; k < unit->rank; k++) space.dims[k] = unit->dims[k];
  double read = farthest_read(unit, q->last.axis), written = bytes_between(&space, q->across.axis);
  bool by_local = is_aliased(read) && is_aliased(written) && unit->outputs.count == 1;
  q->reads_in_runs = by_local || read >= written;
  q->across.size = q->reads_in_runs ? RUN_BYTES / size : BLOCK;
  q->last.size = q->reads_in_runs ? BLOCK : RUN_BYTES / size;
  q->pitch = q->across.size + LINE / size;
  if (by_local)
    q->local = k_local(q->loops->b, K_SPACE_REGISTER, k_dtype(type->dtype), BLOCK * q->pitch);
}

// -- Code ----------------------------------------------------------------------------------------

static void set_block(squares *q, side *side, k_value number) {
  k_builder *b = q->loops->b;
  int64_t dim = q->loops->w->dims[side->axis].value;
  k_value begin = k_mul(b, number, k_i64(b, side->size));
  side->begin = k_binary(b, K_MIN, begin, k_i64(b, dim - LEAT_LANES));
  side->end = k_binary(b, K_MIN, k_add(b, begin, k_i64(b, side->size)), k_i64(b, dim));
}

// The loop over the vectors of a side, and where its vector begins.
static k_value vectors_begin(const squares *q, const side *side) {
  k_builder *b = q->loops->b;
  int64_t dim = q->loops->w->dims[side->axis].value;
  k_instr *loop = k_loop_begin(b, side->begin, side->end, LEAT_LANES, NULL, 0);
  return k_binary(b, K_MIN, k_loop_index(loop), k_i64(b, dim - LEAT_LANES));
}

// The output's elements [first, first + LEAT_LANES) along `across`, at `row` of the last axis.
static k_value compute(const squares *q, k_value first, k_value row, const leat_output *output) {
  leat_lower *w = q->loops->w;
  w->l.lanes = LEAT_LANES;
  w->at[q->across.axis] = (leat_index){.base = first, .step = 1};
  w->at[q->last.axis] = (leat_index){.base = row};
  k_value value = k_splat(q->loops->b, LEAT_LANES, leat_lower_item(w, output->item));
  w->l.lanes = 1;
  return value;
}

static k_value local_place(const squares *q, k_value first, k_value row) {
  k_builder *b = q->loops->b;
  k_value rows = k_mul(b, k_sub(b, row, q->last.begin), k_i64(b, q->pitch));
  return k_add(b, rows, k_sub(b, first, q->across.begin));
}

static void fill_local(const squares *q, const leat_output *output) {
  k_builder *b = q->loops->b;
  k_value row = k_loop_index(k_loop_begin(b, q->last.begin, q->last.end, 1, NULL, 0));
  k_value first = vectors_begin(q, &q->across), value = compute(q, first, row, output);
  k_store(b, q->local, local_place(q, first, row), value, NULL);
  k_loop_end(b, NULL, 0);
  k_loop_end(b, NULL, 0);
}

static void square(const squares *q, k_value first, k_value low, const leat_output *output) {
  leat_lower *w = q->loops->w;
  k_builder *b = q->loops->b;
  k_value rows[LEAT_LANES];
  for (int i = 0; i < LEAT_LANES; i++) {
    k_value row = k_add(b, low, k_i64(b, i));
    rows[i] = q->local ? k_load(b, q->local, local_place(q, first, row), LEAT_LANES, NULL)
                       : compute(q, first, row, output);
  }
  turn(b, rows);
  w->l.lanes = LEAT_LANES;
  w->at[q->last.axis] = (leat_index){.base = low, .step = 1};
  for (int i = 0; i < LEAT_LANES; i++) {
    w->at[q->across.axis] = (leat_index){.base = k_add(b, first, k_i64(b, i))};
    k_value place = leat_lower_element(w, output->item).base;
    k_store(b, leat_lower_buffer(w, output->storage), place, rows[i], NULL);
  }
  w->l.lanes = 1;
}

static void block_of_squares(const squares *q) {
  const leat_unit *unit = q->loops->unit;
  if (q->local) fill_local(q, &unit->outputs.items[0]);
  bool inner_across = q->reads_in_runs && !q->local;
  k_value outer = vectors_begin(q, inner_across ? &q->last : &q->across);
  k_value inner = vectors_begin(q, inner_across ? &q->across : &q->last);
  for (uint32_t i = 0; i < unit->outputs.count; i++)
    square(q, inner_across ? inner : outer, inner_across ? outer : inner, &unit->outputs.items[i]);
  k_loop_end(q->loops->b, NULL, 0);
  k_loop_end(q->loops->b, NULL, 0);
}

leat_dim leat_loops_squares(leat_loops *s, int across) {
  leat_lower *w = s->w;
  squares q = {.loops = s, .across.axis = across, .last.axis = w->rank - 1};
  choose_blocks(&q);
  leat_dim dims[3], other_dims[LEAT_MAX_RANK];
  unsigned others = s->rows & ~(1u << across);
  int count = 0;
  for (int k = 0; k < w->rank; k++)
    if (others >> k & 1) other_dims[count++] = w->dims[k];
  dims[0] = leat_lower_product(w, other_dims, count);
  dims[1] = leat_lower_ceil_div(w, w->dims[across], q.across.size);
  dims[2] = leat_lower_ceil_div(w, w->dims[q.last.axis], q.last.size);
  leat_index other, row, column, tile = {.base = k_tile(s->b)};
  leat_index_divmod(&w->l, tile, leat_lower_dim(w, dims[2]), &tile, &column);
  leat_index_divmod(&w->l, tile, leat_lower_dim(w, dims[1]), &other, &row);
  leat_loops_put(s, others, other);
  set_block(&q, &q.across, row.base);
  set_block(&q, &q.last, column.base);
  block_of_squares(&q);
  return leat_lower_product(w, dims, 3);
}
