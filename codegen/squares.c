// Kernels of what reads its inputs across: y[…, i, …, j] = f(x[…, j, …, i]).
//
// Vectors along the outputs would take each of their elements from another cache line. So such a
// unit is cut into squares along the output's last axis and `across`, the axis that is the inputs'
// last: a square is computed by vectors along `across`, turned in registers, and stored by vectors
// along the last axis. It has LEAT_LANES elements along `across` and, along the last axis, as many
// as a cache line. Where an axis is no multiple of that, the last square overlaps the one before:
// its elements are stored twice, with the same bits. Of an axis shorter than that, masks keep off
// what is no element. Either axis may be several that follow each other in the output and in all
// that is read: they are taken as one.
//
// A tile is a block of squares. It goes along the side, read or written, whose rows are the farther
// apart: that one is then touched in runs, the other a line at a time in rows that are near. Where
// squares write parts of lines, they rather follow each other along these lines. Where the rows of
// one side fall into the same few sets of the caches, being a multiple of PAGE bytes apart, blocks
// are smaller; where those of both sides fall into the same few sets of the TLB too, being a
// multiple of ALIASED apart, neither may be touched a line at a time: then the block is computed by
// rows into a local array, and turned from there.
#include "codegen/loops.h"

#include <math.h>

enum {
  LINE = 64,       // bytes of a cache line, and what rows of the local array are longer
  RUN = 1024,      // elements of a tile along the axis that it goes along, …
  BLOCK = 256,     // … and along the other one
  SMALL_RUN = 256, // the same of a smaller block
  SMALL_BLOCK = 128,
  PAGE = 4096,
  ALIASED = 64 << 10,
};

// An axis that squares lie along, the last one of `axes` that are taken as one, and what a tile has
// of it.
typedef struct side {
  int axis;
  unsigned axes;
  int64_t dim;
  int square;   // elements of a square
  int64_t size; // of a tile
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
      int rank = access->view ? leat_item_type(access->view)->rank : 0;
      if (access->producer->unit && leat_unit_of(access->producer->unit) == unit) continue;
      if (access->view && rank == 0) continue;
      int axis = access->view ? access->axis[rank - 1] : -1;
      if (axis < 0) return -1;
      axis = item->axis[axis];
      if (axis == last || (across >= 0 && axis != across)) return -1;
      across = axis;
    }
  }
  return across;
}

int leat_loops_across(const leat_loops *s) {
  const leat_unit *unit = s->unit;
  if (s->w->flat || unit->reduced || unit->has_rows || s->part != LEAT_FOLD_ALL) return -1;
  if (unit->rank < 2 || !leat_dim_is_const(unit->dims[unit->rank - 1])) return -1;
  for (uint32_t i = 0; i < unit->outputs.count; i++) {
    const leat_output *output = &unit->outputs.items[i];
    if (!leat_item_is_full(output->item)) return -1;
  }
  int across = axis_across(unit);
  return across >= 0 && leat_dim_is_const(unit->dims[across]) ? across : -1;
}

static int place_of_axis(const leat_access *access, const leat_item *item, int axis) {
  for (int k = 0; k < leat_item_type(access->view)->rank; k++)
    if (access->axis[k] >= 0 && item->axis[access->axis[k]] == axis) return k;
  return -1;
}

// Whether all that is read has the axis right before the next one, or neither.
static bool is_before_next(const leat_unit *unit, int axis) {
  for (uint32_t i = 0; i < unit->members.count; i++) {
    const leat_item *item = unit->members.items[i];
    for (uint32_t j = 0; j < item->reads.count; j++) {
      int here = place_of_axis(item->reads.items[j], item, axis);
      int next = place_of_axis(item->reads.items[j], item, axis + 1);
      if (here < 0 ? next >= 0 : next != here + 1) return false;
    }
  }
  return leat_dim_is_const(unit->dims[axis]);
}

static side side_of(const leat_unit *unit, int axis, int other) {
  side side = {.axis = axis, .axes = 1u << axis, .dim = unit->dims[axis].value};
  while (--axis >= 0 && axis != other && is_before_next(unit, axis)) {
    side.axes |= 1u << axis;
    side.dim *= unit->dims[axis].value;
  }
  return side;
}

static void put_side(const squares *q, const side *side, leat_index place) {
  leat_joined_axes *joined = &q->loops->w->joined[side == &q->last];
  leat_loops_put(q->loops, side->axes, place);
  *joined = (leat_joined_axes){.axes = side->axes, .place = place};
}

// -- Where rows are ------------------------------------------------------------------------------

// Bytes from an element to the next one along an axis.
static double bytes_between(const leat_type *type, int axis) {
  int after = type->rank - axis - 1;
  return leat_cost_elements(type->dims + axis + 1, after) * (double)leat_dtype_size(type->dtype);
}

// Of what the unit reads: the farthest that neighbours along its axis are apart.
static double farthest_read(const leat_unit *unit, int axis) {
  double most = 0;
  for (uint32_t i = 0; i < unit->members.count; i++) {
    const leat_item *item = unit->members.items[i];
    for (uint32_t j = 0; j < item->reads.count; j++) {
      const leat_access *access = item->reads.items[j];
      const leat_type *type = leat_item_type(access->view);
      if (access->producer->unit && leat_unit_of(access->producer->unit) == unit) continue;
      for (int k = 0; k < type->rank; k++)
        if (access->axis[k] >= 0 && item->axis[access->axis[k]] == axis)
          most = fmax(most, bytes_between(type, k));
    }
  }
  return most;
}

static bool is_multiple(double bytes, int of) {
  return fmod(bytes, of) == 0;
}

static void choose_sides(squares *q) {
  const leat_unit *unit = q->loops->unit;
  const leat_type *type = &unit->outputs.items[0].storage->type;
  int size = (int)leat_dtype_size(type->dtype);
  leat_type space = {.dtype = type->dtype, .rank = unit->rank};
  for (int k = 0; k < unit->rank; k++) space.dims[k] = unit->dims[k];
  double read = farthest_read(unit, q->last.axis), written = bytes_between(&space, q->across.axis);
  q->across.square = LEAT_LANES;
  q->last.square = 2;
  while (q->last.square < LEAT_LANES && q->last.square * size < LINE &&
         q->last.square < q->last.dim)
    q->last.square *= 2;
  bool whole_lines = LEAT_LANES * size >= LINE;
  bool by_local = is_multiple(read, ALIASED) && is_multiple(written, ALIASED) &&
                  unit->outputs.count == 1 && k_words(type->dtype) == 1;
  q->reads_in_runs = by_local || read > written || (read == written && whole_lines);
  bool small = is_multiple(read, PAGE) || is_multiple(written, PAGE);
  int run = small ? SMALL_RUN : RUN, block = small ? SMALL_BLOCK : BLOCK;
  q->across.size = q->reads_in_runs ? run : block;
  q->last.size = q->reads_in_runs ? block : run;
  q->pitch = run + LINE / size;
  if (by_local)
    q->local = k_local(q->loops->b, K_SPACE_REGISTER, k_dtype(type->dtype), block * q->pitch);
}

// -- Squares --------------------------------------------------------------------------------------

// After that a row holds LEAT_LANES / count columns.
static k_value column_of(k_builder *b, const k_value *turned, int count, int column) {
  int columns = LEAT_LANES / count;
  k_value lanes = turned[column / columns];
  for (; columns > 1; columns /= 2) lanes = k_half(b, lanes, column % columns >= columns / 2);
  return lanes;
}

// The lanes that are elements of a side; NULL: all.
static k_value side_mask(k_builder *b, const side *side) {
  if (side->dim >= side->square) return NULL;
  return k_lt(b, k_lane(b, LEAT_i32, side->square), k_int(b, LEAT_i32, 1, side->dim));
}

// The output's elements [first, first + LEAT_LANES) along `across`, at `row` of the last axis.
static k_value compute(const squares *q, k_value first, k_value row, const leat_output *output) {
  leat_lower *w = q->loops->w;
  w->l.lanes = LEAT_LANES;
  w->l.mask = side_mask(q->loops->b, &q->across);
  put_side(q, &q->across, (leat_index){.base = first, .step = 1});
  put_side(q, &q->last, (leat_index){.base = row});
  k_value value = k_splat(q->loops->b, LEAT_LANES, leat_lower_item(w, output->item));
  w->l.lanes = 1;
  w->l.mask = NULL;
  return value;
}

static k_value local_place(const squares *q, k_value first, k_value row) {
  k_builder *b = q->loops->b;
  k_value rows = k_mul(b, k_sub(b, row, q->last.begin), k_i64(b, q->pitch));
  return k_add(b, rows, k_sub(b, first, q->across.begin));
}

// One word of a square's elements, turned.
static void read_square(const squares *q, k_value first, k_value low, const leat_output *output,
                        k_value *rows) {
  k_builder *b = q->loops->b;
  int64_t count = q->last.square < q->last.dim ? q->last.square : q->last.dim;
  for (int i = 0; i < q->last.square; i++) {
    k_value row = k_add(b, low, k_i64(b, i < count ? i : 0));
    rows[i] = q->local ? k_load(b, q->local, local_place(q, first, row), LEAT_LANES, NULL)
                       : compute(q, first, row, output);
  }
  leat_turn(b, rows, q->last.square);
}

static void store_column(const squares *q, const leat_output *output, const k_value *words) {
  leat_lower *w = q->loops->w;
  k_builder *b = q->loops->b;
  const k_buffer *buffer = leat_lower_output(w, output);
  k_value place = leat_lower_element(w, output->item).base, mask = side_mask(b, &q->last);
  if (k_words(output->storage->type.dtype) == 1) {
    k_store(b, buffer, place, words[0], mask);
    return;
  }
  place = k_mul(b, place, k_i64(b, 2));
  for (int half = 0; half < 2; half++) {
    k_value at = k_add(b, place, k_i64(b, half * q->last.square));
    k_value both = k_zip(b, words[0], words[1], half);
    k_store(b, buffer, at, both, mask ? k_zip(b, mask, mask, half) : NULL);
  }
}

static void square(const squares *q, k_value first, k_value low, const leat_output *output) {
  leat_lower *w = q->loops->w;
  k_builder *b = q->loops->b;
  k_value rows[2][LEAT_LANES];
  int words = k_words(output->storage->type.dtype);
  for (w->l.word = words - 1; w->l.word > 0; w->l.word--)
    read_square(q, first, low, output, rows[w->l.word]);
  read_square(q, first, low, output, rows[0]);
  put_side(q, &q->last, (leat_index){.base = low}); // of a column's first lane
  for (int i = 0; i < LEAT_LANES && i < q->across.dim; i++) {
    k_value column[2];
    for (int word = 0; word < words; word++)
      column[word] = column_of(b, rows[word], q->last.square, i);
    put_side(q, &q->across, (leat_index){.base = k_add(b, first, k_i64(b, i))});
    store_column(q, output, column);
  }
}

// -- Tiles ----------------------------------------------------------------------------------------

// The last square of an axis begins before its end.
static k_value square_begin(k_builder *b, const side *side, k_value place) {
  int64_t last = side->dim < side->square ? 0 : side->dim - side->square;
  return side->dim % side->square ? k_binary(b, K_MIN, place, k_i64(b, last)) : place;
}

static void set_block(k_builder *b, side *side, k_value number) {
  k_value begin = k_mul(b, number, k_i64(b, side->size));
  side->begin = square_begin(b, side, begin);
  side->end = k_binary(b, K_MIN, k_add(b, begin, k_i64(b, side->size)), k_i64(b, side->dim));
}

// The loop over the squares of a side, and where its square begins.
static k_value squares_begin(k_builder *b, const side *side) {
  k_instr *loop = k_loop_begin(b, side->begin, side->end, side->square, NULL, 0);
  return square_begin(b, side, k_loop_index(loop));
}

static void fill_local(const squares *q, const leat_output *output) {
  k_builder *b = q->loops->b;
  k_value row = k_loop_index(k_loop_begin(b, q->last.begin, q->last.end, 1, NULL, 0));
  k_value first = squares_begin(b, &q->across), value = compute(q, first, row, output);
  k_store(b, q->local, local_place(q, first, row), value, NULL);
  k_loop_end(b, NULL, 0);
  k_loop_end(b, NULL, 0);
}

static void block_of_squares(const squares *q) {
  const leat_unit *unit = q->loops->unit;
  k_builder *b = q->loops->b;
  if (q->local) fill_local(q, &unit->outputs.items[0]);
  bool inner_across = q->reads_in_runs && !q->local;
  k_value outer = squares_begin(b, inner_across ? &q->last : &q->across);
  k_value inner = squares_begin(b, inner_across ? &q->across : &q->last);
  for (uint32_t i = 0; i < unit->outputs.count; i++)
    square(q, inner_across ? inner : outer, inner_across ? outer : inner, &unit->outputs.items[i]);
  k_loop_end(b, NULL, 0);
  k_loop_end(b, NULL, 0);
}

leat_dim leat_loops_squares(leat_loops *s, int across) {
  leat_lower *w = s->w;
  squares q = {.loops = s};
  q.last = side_of(s->unit, w->rank - 1, across);
  q.across = side_of(s->unit, across, -1);
  choose_sides(&q);
  leat_dim dims[3], other_dims[LEAT_MAX_RANK];
  unsigned others = s->rows & ~(q.across.axes | q.last.axes);
  int count = 0;
  for (int k = 0; k < w->rank; k++)
    if (others >> k & 1) other_dims[count++] = w->dims[k];
  dims[0] = leat_lower_product(w, other_dims, count);
  dims[1] = leat_lower_ceil_div(w, leat_dim_const(q.across.dim), q.across.size);
  dims[2] = leat_lower_ceil_div(w, leat_dim_const(q.last.dim), q.last.size);
  leat_index other, row, column, tile = {.base = k_tile(s->b)};
  leat_index_divmod(&w->l, tile, leat_lower_dim(w, dims[2]), &tile, &column);
  leat_index_divmod(&w->l, tile, leat_lower_dim(w, dims[1]), &other, &row);
  leat_loops_put(s, others, other);
  set_block(s->b, &q.across, row.base);
  set_block(s->b, &q.last, column.base);
  block_of_squares(&q);
  return leat_lower_product(w, dims, 3);
}
