// The contraction generator: c[row, column] = Σ a[row, k] · b[k, column] for k ascending (ops/
// contract.c says how), and what is done with c in place.
//
// A tile of the kernel is some rows by some panels of columns. In it, blocks of `high` rows by
// `wide` vectors of columns are held in registers while k runs. The plan says how many.
#include "codegen/contract.h"
#include "ops/reduce.h"

#include <assert.h>

enum {
  LEAST_PREFETCHED = 64, // products of an element of c, while which something can be on its way
  PREFETCHED_ROWS = 4,   // ahead, where there are no products meanwhile
  MOST_DIRECT = 160,     // instructions of what is done with c that are written out for each vector
};

// -- What is done with a vector of c --------------------------------------------------------------

void leat_contraction_finish(leat_contraction *c, int j, k_value value) {
  leat_lower *w = c->w;
  if (c->p->column_axis >= 0) {
    k_value column = k_add(c->b, c->column, k_i64(c->b, (int64_t)j * c->block.lanes));
    w->at[c->p->column_axis] = (leat_index){.base = column, .step = 1};
    w->l.lanes = c->block.lanes;
    w->l.mask = c->masks[j];
  } else {
    value = k_extract(c->b, value, 0);
  }
  leat_lower_substitute(w, c->p->item, value);
  for (uint32_t i = 0; i < w->unit->outputs.count; i++)
    leat_lower_store(w, &c->stores, &w->unit->outputs.items[i]);
  leat_lower_flush(w, &c->stores);
  w->l.lanes = 1;
  w->l.mask = NULL;
}

static void finish_vector(leat_contraction *c, k_value row, int j, k_value value) {
  leat_contraction_put(c, c->p->row_axes, row);
  leat_contraction_finish(c, j, value);
}

// What finish_vector will read for the row: it is on its way while k runs.
static void prefetch_row(leat_contraction *c, k_value row) {
  leat_lower *w = c->w;
  if (c->p->column_axis < 0 || !leat_lower_reads_along(w, c->p->column_axis)) return;
  leat_contraction_put(c, c->p->row_axes, row);
  for (int j = 0; j < c->block.wide; j++) {
    k_value column = k_add(c->b, c->column, k_i64(c->b, (int64_t)j * c->block.lanes));
    w->at[c->p->column_axis] = (leat_index){.base = column, .step = 1};
    leat_lower_prefetch(w, c->p->column_axis);
  }
}

// Where vector j of row i is in a local c, of which a block begins at element `first`.
static k_value place_in_local(const leat_contraction *c, k_value first, int i, int j) {
  int64_t at = i * c->p->width + (int64_t)j * c->block.lanes;
  return k_add(c->b, first, k_i64(c->b, at));
}

// `high` rows of a local c, from element `first`.
static void store_block(leat_contraction *c, const k_buffer *local, k_value first, int high,
                        const k_value *acc) {
  int wide = c->block.wide;
  for (int i = 0; i < high * wide; i++)
    k_store(c->b, local, place_in_local(c, first, i / wide, i % wide), acc[i], NULL);
}

// Rows [row, end) from a local c, of which they begin at element `first`.
static void finish_rows(leat_contraction *c, const k_buffer *local, k_value first, k_value row,
                        k_value end, bool ahead) {
  k_builder *b = c->b;
  k_instr *loop = k_loop_begin(b, row, end, 1, NULL, 0);
  k_value here = k_loop_index(loop);
  if (ahead)
    prefetch_row(c, k_binary(b, K_MIN, k_add(b, here, k_i64(b, PREFETCHED_ROWS)),
                             k_sub(b, end, k_i64(b, 1))));
  k_value from = k_add(b, first, k_mul(b, k_sub(b, here, row), k_i64(b, c->p->width)));
  for (int j = 0; j < c->block.wide; j++) {
    k_value at = place_in_local(c, from, 0, j);
    finish_vector(c, here, j, k_load(b, local, at, c->block.lanes, NULL));
  }
  k_loop_end(b, NULL, 0);
}

// Row by row from a local array: for results that need much code, or when the number of rows is
// only known while running.
static void finish_by_rows(leat_contraction *c, k_value row, int high, const k_value *acc,
                           k_value end) {
  k_builder *b = c->b;
  const k_buffer *local = k_local(b, K_SPACE_REGISTER, acc[0]->dtype, high * c->p->width);
  store_block(c, local, k_i64(b, 0), high, acc);
  finish_rows(c, local, k_i64(b, 0), row, end, false);
}

// -- A block in registers -------------------------------------------------------------------------

static k_value zero(const leat_contraction *c, int lanes) {
  leat_dtype dtype = c->p->item->node->outputs[0].dtype;
  return leat_dtype_kind_of(dtype) == LEAT_KIND_FLOAT ? k_float(c->b, dtype, lanes, 0)
                                                      : k_int(c->b, dtype, lanes, 0);
}

// Row i of the block from `row`; `clamped`: the last one in place of those that there are not.
static k_value row_of_block(const leat_contraction *c, k_value row, int i, bool clamped) {
  k_value at = k_add(c->b, row, k_i64(c->b, i));
  return clamped && i > 0 ? k_binary(c->b, K_MIN, at, k_sub(c->b, c->rows, k_i64(c->b, 1))) : at;
}

// Element k of that row.
static k_value load_a(leat_contraction *c, k_value row, int i, bool clamped, k_value k) {
  k_builder *b = c->b;
  if (c->gathered) return leat_contraction_gathered(c, row, i, k);
  k_value at = row_of_block(c, row, i, clamped);
  k_value index =
      c->p->transposed ? k_add(b, k_mul(b, k, c->rows), at) : k_add(b, k_mul(b, at, c->depth), k);
  return k_load(b, c->a_buffer, k_add(b, c->a_base, index), 1, NULL);
}

// acc += a's column k times b's row k.
static void multiply(leat_contraction *c, k_value row, int high, bool clamped, k_value k,
                     k_value *acc) {
  k_builder *b = c->b;
  k_value columns[LEAT_MOST_VECTORS];
  leat_contraction_load_b(c, k, columns);
  for (int i = 0; i < high; i++) {
    k_value x = load_a(c, row, i, clamped, k);
    for (int j = 0; j < c->block.wide; j++) {
      k_value *sum = &acc[i * c->block.wide + j];
      *sum = k_mul_add(b, x, columns[j], *sum);
    }
  }
}

// acc of `high` rows from `row` by `together` squares of columns from `column` on.
static void add_squares(leat_contraction *c, k_value row, int high, bool clamped, k_value low,
                        k_value end, k_value column, int together, k_value *acc) {
  k_builder *b = c->b;
  k_value rows[LEAT_LANES];
  uint32_t count = (uint32_t)(high * together);
  k_instr *loop = k_loop_begin(b, low, end, c->p->square, acc, count);
  for (uint32_t i = 0; i < count; i++) acc[i] = k_loop_carried(loop, i);
  k_value k = k_loop_index(loop);
  for (int s = 0; s < together; s++) {
    k_value first = k_add(b, column, k_i64(b, (int64_t)s * c->p->square));
    leat_contraction_read_square(c, k, first, rows);
    for (int j = 0; j < c->p->square; j++)
      for (int i = 0; i < high; i++) {
        k_value x = load_a(c, row, i, clamped, k_add(b, k, k_i64(b, j)));
        k_value *sum = &acc[i * together + s];
        *sum = k_mul_add(b, x, rows[j], *sum);
      }
  }
  k_loop_end(b, acc, count);
  for (uint32_t i = 0; i < count; i++) acc[i] = k_result(b, loop, i);
}

// Of narrow sum number i, of which a row has `together` from column `side` of a panel on.
static k_value place_narrow(const leat_contraction *c, k_value side, int i, int together) {
  int64_t at = (int64_t)(i / together) * LEAT_LANES + (int64_t)(i % together) * c->p->square;
  return k_add(c->b, side, k_i64(c->b, at));
}

// acc of the block of `high` rows from `row`, square by square of k. Narrow sums are local between.
static k_value accumulate_across(leat_contraction *c, k_value row, int high, bool clamped,
                                 k_value low, k_value end, k_value *acc) {
  k_builder *b = c->b;
  int square = c->p->square, together = c->p->squares;
  k_value count = k_sub(b, end, low), rest = k_binary(b, K_AND, count, k_i64(b, square - 1));
  k_value whole = k_sub(b, end, rest);
  if (square == LEAT_LANES) {
    add_squares(c, row, high, clamped, low, whole, c->column, 1, acc);
    return whole;
  }
  const k_buffer *local = k_local(b, K_SPACE_REGISTER, acc[0]->dtype, high * LEAT_LANES);
  k_value narrow[LEAT_ACCUMULATORS];
  store_block(c, local, k_i64(b, 0), high, acc);
  k_instr *loop = k_loop_begin(b, k_i64(b, 0), k_i64(b, LEAT_LANES), together * square, NULL, 0);
  k_value side = k_loop_index(loop);
  for (int i = 0; i < high * together; i++)
    narrow[i] = k_load(b, local, place_narrow(c, side, i, together), square, NULL);
  add_squares(c, row, high, clamped, low, whole, k_add(b, c->column, side), together, narrow);
  for (int i = 0; i < high * together; i++)
    k_store(b, local, place_narrow(c, side, i, together), narrow[i], NULL);
  k_loop_end(b, NULL, 0);
  for (int i = 0; i < high; i++)
    acc[i] = k_load(b, local, k_i64(b, i * LEAT_LANES), LEAT_LANES, NULL);
  return whole;
}

// Instructions of what is done with one vector of c, beside storing it.
static uint32_t code_of_epilogue(const leat_contraction *c) {
  uint32_t code = 0;
  for (uint32_t i = 0; i < c->w->unit->members.count; i++)
    code += (uint32_t)c->w->unit->members.items[i]->cost;
  return code;
}

static void accumulate_rows(leat_contraction *c, k_value row, int high, bool clamped, k_value low,
                            k_value end, k_value *acc) {
  uint32_t count = (uint32_t)(high * c->block.wide);
  assert(count <= LEAT_ACCUMULATORS);
  k_instr *loop = k_loop_begin(c->b, low, end, 1, acc, count);
  for (uint32_t i = 0; i < count; i++) acc[i] = k_loop_carried(loop, i);
  multiply(c, row, high, clamped, k_loop_index(loop), acc);
  k_loop_end(c->b, acc, count);
  for (uint32_t i = 0; i < count; i++) acc[i] = k_result(c->b, loop, i);
}

// acc of the block of `high` rows from `row`, for k in [low, end).
static void accumulate(leat_contraction *c, k_value row, int high, bool clamped, k_value low,
                       k_value end, k_value *acc) {
  if (c->p->b == LEAT_OPERAND_TURNED) low = accumulate_across(c, row, high, clamped, low, end, acc);
  k_value inside = leat_contraction_inside(c, low, end);
  if (inside) {
    c->inside = true;
    accumulate_rows(c, row, high, clamped, low, inside, acc);
    c->inside = false;
  }
  accumulate_rows(c, row, high, clamped, inside ? inside : low, end, acc);
}

// The block of `high` rows from `row`; `clamped`: of those below c->rows.
static void block(leat_contraction *c, k_value row, int high, bool clamped) {
  k_builder *b = c->b;
  k_value acc[LEAT_ACCUMULATORS];
  uint32_t count = (uint32_t)(high * c->block.wide);
  for (uint32_t i = 0; i < count; i++) acc[i] = zero(c, c->block.lanes);
  bool hides = leat_dim_is_const(c->p->depth) && c->p->depth.value >= LEAST_PREFETCHED;
  for (int i = 0; i < high && hides; i++) prefetch_row(c, k_add(b, row, k_i64(b, i)));
  accumulate(c, row, high, clamped, k_i64(b, 0), c->depth, acc);
  uint32_t code = code_of_epilogue(c) * count;
  if (clamped) {
    finish_by_rows(c, row, high, acc, c->rows);
  } else if (code > MOST_DIRECT) {
    finish_by_rows(c, row, high, acc, k_add(b, row, k_i64(b, high)));
  } else {
    for (int i = 0; i < high; i++)
      for (int j = 0; j < c->block.wide; j++)
        finish_vector(c, k_add(b, row, k_i64(b, i)), j, acc[i * c->block.wide + j]);
  }
}

// Rows [low, high) of a panel: whole blocks, then what is left.
static void panel(leat_contraction *c, k_value low, k_value high) {
  k_builder *b = c->b;
  k_value size = k_i64(b, c->block.high), count = k_sub(b, high, low);
  k_value whole = k_add(b, low, k_mul(b, k_binary(b, K_DIV, count, size), size));
  if (low->op == K_CONST && high->op == K_CONST)
    whole = k_add(b, low, k_i64(b, count->imm.i / c->block.high * c->block.high));
  k_instr *loop = k_loop_begin(b, low, whole, c->block.high, NULL, 0);
  block(c, k_loop_index(loop), c->block.high, false);
  k_loop_end(b, NULL, 0);
  if (leat_dim_is_const(c->p->rows)) {
    int rest = (int)(c->p->rows.value % c->block.high);
    if (!rest) return;
    k_if_begin(b, k_lt(b, whole, high));
    block(c, whole, rest, false);
    k_if_end(b, NULL, 0);
    return;
  }
  k_if_begin(b, k_lt(b, whole, high));
  block(c, whole, c->block.high, true);
  k_if_end(b, NULL, 0);
}

// -- The panels of a tile -------------------------------------------------------------------------

// Where its b and its local c are.
static void place_panel(leat_contraction *c, k_value number) {
  k_builder *b = c->b;
  if (leat_contraction_has_panels(c->p)) {
    k_value before = k_mul(b, c->matrix, leat_lower_dim(c->w, c->p->panels));
    k_value size = k_mul(b, c->depth, k_i64(b, c->p->width));
    c->b_base = k_mul(b, k_add(b, before, number), size);
  } else if (c->piece) {
    k_value size = k_i64(b, LEAT_PIECE_ROWS * c->p->width);
    c->b_base = k_mul(b, k_sub(b, number, c->first_panel), size);
  } else {
    c->b_base = k_mul(b, c->matrix, k_mul(b, c->depth, c->columns));
  }
  k_value size = k_i64(b, c->p->tile_rows * c->p->width);
  c->local_base = k_mul(b, k_sub(b, number, c->first_panel), size);
}

typedef enum panel_kind {
  PANELS_NONE,  // yet
  PANELS_ALL,   // alike
  PANELS_WHOLE, // but for the last
  PANEL_LAST,
} panel_kind;

// What is done for each panel of a tile is emitted for panels that are alike, and for the last one
// if that has a block of its own.
typedef struct panels {
  panel_kind kind;
  k_instr *loop; // NULL: there is one
  bool chosen;   // it, or the last, is in an `if`
} panels;

static void begin_panels(leat_contraction *c, panels *s, k_value end) {
  bool one = c->p->tile_panels == 1;
  s->loop = one ? NULL : k_loop_begin(c->b, c->first_panel, end, 1, NULL, 0);
  k_value number = s->loop ? k_loop_index(s->loop) : c->first_panel;
  if (s->kind == PANELS_WHOLE)
    leat_contraction_place_whole(c, number);
  else
    leat_contraction_place_columns(c, number);
  place_panel(c, number);
}

static void begin_whole_panels(leat_contraction *c, panels *s, k_value last) {
  k_builder *b = c->b;
  s->kind = PANELS_WHOLE;
  s->chosen = c->p->tile_panels == 1;
  if (s->chosen) k_if_begin(b, k_lt(b, c->first_panel, last));
  begin_panels(c, s, k_binary(b, K_MIN, c->end_panel, last));
}

static void begin_last_panel(leat_contraction *c, panels *s, k_value last) {
  k_builder *b = c->b;
  if (s->loop) {
    k_loop_end(b, NULL, 0);
    k_value here = k_lt(b, last, c->end_panel);
    s->chosen = here->op != K_CONST;
    if (s->chosen) k_if_begin(b, here);
  } else if (s->chosen) {
    k_if_else(b, NULL, 0);
  }
  s->kind = PANEL_LAST;
  leat_contraction_place_last(c);
  place_panel(c, last);
}

static void end_panels(leat_contraction *c, const panels *s) {
  if (s->kind == PANELS_ALL && s->loop) k_loop_end(c->b, NULL, 0);
  if (s->kind == PANEL_LAST && s->chosen) k_if_end(c->b, NULL, 0);
}

// The next ones of them, for which what follows is emitted; false: there are no more.
static bool next_panels(leat_contraction *c, panels *s) {
  if (!c->p->last.high && s->kind == PANELS_NONE) {
    s->kind = PANELS_ALL;
    begin_panels(c, s, c->end_panel);
    return true;
  }
  if (s->kind == PANELS_ALL || s->kind == PANEL_LAST) {
    end_panels(c, s);
    return false;
  }
  k_value last = k_i64(c->b, c->p->panels.value - 1);
  if (s->kind == PANELS_NONE && c->p->panels.value > 1)
    begin_whole_panels(c, s, last);
  else
    begin_last_panel(c, s, last);
  return true;
}

// -- Deep contractions: k in blocks, so that what is read of a and b stays near -------------------

static int64_t local_elements(const leat_contraction *c) {
  return c->p->tile_rows * c->p->width * c->p->tile_panels;
}

// One block of k for a block of rows from `row` of a panel of the tile whose first row is `top`:
// the sums resume from where the block before left them.
static void deepen_block(leat_contraction *c, k_value top, k_value row, int high, bool clamped,
                         k_value from, k_value end) {
  k_builder *b = c->b;
  k_value acc[LEAT_ACCUMULATORS];
  k_value above = k_mul(b, k_sub(b, row, top), k_i64(b, c->p->width));
  k_value first = k_add(b, c->local_base, above);
  int wide = c->block.wide;
  for (int i = 0; i < high * wide; i++)
    acc[i] =
        k_load(b, c->local, place_in_local(c, first, i / wide, i % wide), c->block.lanes, NULL);
  accumulate(c, row, high, clamped, from, end, acc);
  store_block(c, c->local, first, high, acc);
}

// Of rows [low, high). A tile of all rows has a block of what is left of them.
static void deepen(leat_contraction *c, k_value top, k_value low, k_value high, k_value from,
                   k_value end) {
  k_builder *b = c->b;
  const leat_contraction_plan *p = c->p;
  int64_t rest = leat_dim_is_const(p->rows) ? p->rows.value % c->block.high : 0;
  bool all = rest && p->gathered_rows >= p->rows.value;
  bool clamped = !all && (rest || !leat_dim_is_const(p->rows));
  if (all) low = k_i64(b, 0), high = k_i64(b, p->rows.value - rest);
  k_instr *loop = k_loop_begin(b, low, high, c->block.high, NULL, 0);
  deepen_block(c, top, k_loop_index(loop), c->block.high, clamped, from, end);
  k_loop_end(b, NULL, 0);
  if (all) deepen_block(c, top, high, (int)rest, false, from, end);
}

// Of all panels of the tile.
static void deepen_panels(leat_contraction *c, k_value top, k_value low, k_value high, k_value from,
                          k_value end) {
  if (c->gathered) leat_contraction_gather(c, low, high, from, end);
  if (c->piece) leat_contraction_pack_pieces(c, from, end);
  panels all = {0};
  while (next_panels(c, &all)) deepen(c, top, low, high, from, end);
}

static void clear(leat_contraction *c, const k_buffer *local) {
  k_builder *b = c->b;
  k_value none = zero(c, LEAT_LANES);
  k_instr *loop = k_loop_begin(b, k_i64(b, 0), k_i64(b, local_elements(c)), LEAT_LANES, NULL, 0);
  k_store(b, local, k_loop_index(loop), none, NULL);
  k_loop_end(b, NULL, 0);
}

// Rows [low, high) of the local c become the sums over k in [from, end).
static void sum_part(leat_contraction *c, k_value low, k_value high, k_value from, k_value end) {
  k_builder *b = c->b;
  clear(c, c->local);
  k_instr *loop = k_loop_begin(b, from, end, LEAT_DEPTH_BLOCK, NULL, 0);
  k_value k = k_loop_index(loop);
  k_value next = k_binary(b, K_MIN, k_add(b, k, k_i64(b, LEAT_DEPTH_BLOCK)), end);
  int64_t rows = c->p->gathered_rows;
  if (rows < c->p->tile_rows) {
    k_instr *some = k_loop_begin(b, low, high, rows, NULL, 0);
    k_value first = k_loop_index(some);
    k_value last = k_binary(b, K_MIN, k_add(b, first, k_i64(b, rows)), high);
    deepen_panels(c, low, first, last, k, next);
    k_loop_end(b, NULL, 0);
  } else {
    deepen_panels(c, low, low, high, k, next);
  }
  k_loop_end(b, NULL, 0);
}

// The sums of all blocks of products, added in order, become the local c.
static void sum_parts(leat_contraction *c, k_value low, k_value high) {
  k_builder *b = c->b;
  k_value first = k_i64(b, 0), step = k_i64(b, LEAT_PRODUCT_BLOCK),
          all = k_i64(b, local_elements(c));
  leat_dtype dtype = c->p->item->node->outputs[0].dtype;
  const k_buffer *total = k_local(b, K_SPACE_REGISTER, dtype, local_elements(c));
  clear(c, total);
  k_instr *loop = k_loop_begin(b, first, c->depth, LEAT_PRODUCT_BLOCK, NULL, 0);
  k_value from = k_loop_index(loop);
  sum_part(c, low, high, from, k_binary(b, K_MIN, k_add(b, from, step), c->depth));
  k_instr *each = k_loop_begin(b, first, all, LEAT_LANES, NULL, 0);
  k_value at = k_loop_index(each), part = k_load(b, c->local, at, LEAT_LANES, NULL);
  k_value sum = k_add(b, k_load(b, total, at, LEAT_LANES, NULL), part);
  k_store(b, total, at, k_select(b, k_lt(b, first, from), sum, part), NULL);
  k_loop_end(b, NULL, 0);
  k_loop_end(b, NULL, 0);
  c->local = total;
}

static void begin_deep_tile(leat_contraction *c) {
  leat_dtype dtype = c->p->item->node->outputs[0].dtype;
  c->local = k_local(c->b, K_SPACE_REGISTER, dtype, local_elements(c));
}

static void deep_tile(leat_contraction *c, k_value low, k_value high) {
  begin_deep_tile(c);
  if (c->p->long_sums)
    sum_parts(c, low, high);
  else
    sum_part(c, low, high, k_i64(c->b, 0), c->depth);
  panels all = {0};
  while (next_panels(c, &all)) finish_rows(c, c->local, c->local_base, low, high, true);
}

// -- The sums of parts of k, of a tile each -------------------------------------------------------

// Where the vector of row `row` at the panel's first column is among the sums of part `part`.
static k_value place_of_part(leat_contraction *c, k_value batch, k_value part, k_value row) {
  k_builder *b = c->b;
  k_value width = k_mul(b, leat_lower_dim(c->w, c->p->panels), k_i64(b, c->p->width));
  k_value number = k_add(b, k_mul(b, part, leat_lower_dim(c->w, c->p->batch)), batch);
  number = k_add(b, k_mul(b, number, c->rows), row);
  return k_add(b, k_mul(b, number, width), c->column);
}

// Rows [low, high) of the panel, which have been summed in the local c.
static void store_rows_of_part(leat_contraction *c, const k_buffer *parts, k_value batch,
                               k_value part, k_value low, k_value high) {
  k_builder *b = c->b;
  k_instr *loop = k_loop_begin(b, low, high, 1, NULL, 0);
  k_value row = k_loop_index(loop), to = place_of_part(c, batch, part, row);
  k_value above = k_mul(b, k_sub(b, row, low), k_i64(b, c->p->width));
  k_value from = k_add(b, c->local_base, above);
  for (int j = 0; j < c->block.wide; j++) {
    k_value sum = k_load(b, c->local, place_in_local(c, from, 0, j), c->block.lanes, NULL);
    k_store(b, parts, place_in_local(c, to, 0, j), sum, NULL);
  }
  k_loop_end(b, NULL, 0);
}

static void store_part(leat_contraction *c, const k_buffer *parts, k_value batch, k_value part,
                       k_value low, k_value high) {
  k_builder *b = c->b;
  k_value from = k_mul(b, part, k_i64(b, LEAT_PRODUCT_BLOCK));
  k_value end = k_binary(b, K_MIN, k_add(b, from, k_i64(b, LEAT_PRODUCT_BLOCK)), c->depth);
  sum_part(c, low, high, from, end);
  panels all = {0};
  while (next_panels(c, &all)) store_rows_of_part(c, parts, batch, part, low, high);
}

// Rows [low, high) of the panel: the sums of all parts, added in order.
static void add_rows_of_parts(leat_contraction *c, const k_buffer *parts, k_value batch,
                              k_value low, k_value high) {
  k_builder *b = c->b;
  k_value acc[LEAT_MOST_VECTORS], one = k_i64(b, 1);
  uint32_t wide = (uint32_t)c->block.wide;
  int lanes = c->block.lanes;
  k_instr *loop = k_loop_begin(b, low, high, 1, NULL, 0);
  k_value row = k_loop_index(loop), first = place_of_part(c, batch, k_i64(b, 0), row);
  for (uint32_t j = 0; j < wide; j++)
    acc[j] = k_load(b, parts, place_in_local(c, first, 0, (int)j), lanes, NULL);
  k_instr *each = k_loop_begin(b, one, leat_lower_dim(c->w, c->p->parts), 1, acc, wide);
  k_value from = place_of_part(c, batch, k_loop_index(each), row);
  for (uint32_t j = 0; j < wide; j++) {
    k_value part = k_load(b, parts, place_in_local(c, from, 0, (int)j), lanes, NULL);
    acc[j] = k_add(b, k_loop_carried(each, j), part);
  }
  k_loop_end(b, acc, wide);
  for (uint32_t j = 0; j < wide; j++) finish_vector(c, row, (int)j, k_result(b, each, j));
  k_loop_end(b, NULL, 0);
}

static void add_parts(leat_contraction *c, const k_buffer *parts, k_value batch, k_value low,
                      k_value high) {
  panels all = {0};
  while (next_panels(c, &all)) add_rows_of_parts(c, parts, batch, low, high);
}

// -- The kernels ----------------------------------------------------------------------------------

typedef struct leat_tile {
  k_value batch, low, high; // rows
} leat_tile;

// The tile's batch, panels and rows, from its number among those of a part.
static leat_tile place_tile(leat_contraction *c, leat_index rest) {
  const leat_contraction_plan *p = c->p;
  leat_lower *w = c->w;
  k_builder *b = c->b;
  leat_index group, rows;
  leat_index_divmod(&w->l, rest, leat_lower_dim(w, p->blocks), &rest, &rows);
  if (leat_dim_is(p->batch, 1))
    group = rest, rest = leat_index_const(&w->l, 0);
  else
    leat_index_divmod(&w->l, rest, leat_lower_dim(w, p->groups), &rest, &group);
  if (leat_dim_is(p->groups, 1)) group = leat_index_const(&w->l, 0);
  leat_contraction_put(c, p->batch_axes, rest.base);
  c->a_base = k_mul(b, rest.base, k_mul(b, c->rows, c->depth));
  c->matrix = p->one_b ? k_i64(b, 0) : rest.base;
  k_value size = k_i64(b, p->tile_panels);
  c->first_panel = k_mul(b, group.base, size);
  c->end_panel = k_binary(b, K_MIN, k_add(b, c->first_panel, size), leat_lower_dim(w, p->panels));
  k_value low = k_mul(b, rows.base, k_i64(b, p->tile_rows));
  k_value high = k_binary(b, K_MIN, k_add(b, low, k_i64(b, p->tile_rows)), c->rows);
  return (leat_tile){rest.base, low, high};
}

static leat_dim count_tiles(leat_lower *w, leat_dim parts) {
  const leat_contraction_plan *p = w->unit->contraction;
  leat_dim tiles[] = {parts, p->batch, p->groups, p->blocks};
  return leat_lower_product(w, tiles, 4);
}

static leat_contraction begin_kernel(leat_lower *w) {
  leat_contraction c = leat_contraction_begin(w);
  leat_dtype dtype = c.p->item->node->outputs[0].dtype;
  if (c.p->a == LEAT_OPERAND_GATHERED)
    c.gathered = k_local(c.b, K_SPACE_REGISTER, dtype, c.p->gathered);
  if (c.p->b == LEAT_OPERAND_TILED)
    c.piece =
        k_local(c.b, K_SPACE_REGISTER, dtype, LEAT_PIECE_ROWS * c.p->width * c.p->tile_panels);
  return c;
}

// A tile is a part of k, too: the one that changes last, so that what is read of it stays near.
static void lower_parts(leat_table *table, leat_unit *unit) {
  leat_lower *w = leat_lower_begin_bare(table, unit, "parts of matmul");
  leat_lower_reads(w, unit->contraction->item);
  const k_buffer *parts = leat_lower_buffer(w, unit->parts);
  leat_contraction c = begin_kernel(w);
  begin_deep_tile(&c);
  leat_dim tiles = count_tiles(w, leat_dim_const(1));
  leat_index rest = {.base = k_tile(c.b)}, part;
  leat_index_divmod(&w->l, rest, leat_lower_dim(w, tiles), &part, &rest);
  leat_tile tile = place_tile(&c, rest);
  store_part(&c, parts, tile.batch, part.base, tile.low, tile.high);
  leat_lower_end(w, count_tiles(w, unit->contraction->parts), leat_unit_estimate(table, unit));
}

static void add_all_parts(leat_table *table, leat_unit *unit) {
  leat_lower *w = leat_lower_begin(table, unit);
  leat_contraction c = leat_contraction_begin(w);
  const k_buffer *parts = leat_lower_buffer(w, unit->parts);
  leat_tile tile = place_tile(&c, (leat_index){.base = k_tile(c.b)});
  add_parts(&c, parts, tile.batch, tile.low, tile.high);
  leat_lower_end(w, count_tiles(w, leat_dim_const(1)),
                 leat_cost_bytes(&unit->parts->type) / LEAT_CACHE_RATE);
}

static void compute_tile(leat_contraction *c, leat_tile tile) {
  if (c->p->deep) {
    deep_tile(c, tile.low, tile.high);
    return;
  }
  if (c->gathered) leat_contraction_gather(c, tile.low, tile.high, k_i64(c->b, 0), c->depth);
  panels all = {0};
  while (next_panels(c, &all)) panel(c, tile.low, tile.high);
}

static void lower_whole(leat_table *table, leat_unit *unit) {
  leat_lower *w = leat_lower_begin(table, unit);
  leat_contraction c = begin_kernel(w);
  compute_tile(&c, place_tile(&c, (leat_index){.base = k_tile(c.b)}));
  leat_lower_end(w, count_tiles(w, leat_dim_const(1)), leat_unit_estimate(table, unit));
}

// -- A chain (row_chain.c) ------------------------------------------------------------------------

// Bytes of local arrays of a product's own.
static int64_t local_bytes(const leat_contraction *c) {
  int64_t sums = c->p->deep ? local_elements(c) * (c->p->long_sums ? 2 : 1) : 0;
  int64_t elements = sums + (c->gathered ? c->p->gathered : 0);
  return elements * (int64_t)leat_dtype_size(c->p->item->node->outputs[0].dtype);
}

// The rows of the tile that the last product reads: a tile has the others' alone.
static void find_rows(leat_contraction *c, leat_tile tile) {
  if (c->a_buffer->space != K_SPACE_ARGUMENT)
    c->a_base = k_sub(c->b, k_i64(c->b, 0), k_mul(c->b, tile.low, c->depth));
}

static void lower_chain(leat_table *table, leat_unit *unit) {
  leat_unit *before = unit->chain.items[0], *loops = unit->chain.items[1];
  int64_t bytes;
  leat_lower *w = leat_lower_begin_chain(table, unit, unit->contraction->tile_rows, &bytes);
  leat_index number = {.base = k_tile(&w->builder)};
  leat_lower_enter(w, before);
  leat_contraction first = begin_kernel(w);
  leat_tile tile = place_tile(&first, number);
  k_value begin = k_mul(first.b, tile.batch, first.rows);
  w->origin = k_mul(first.b, k_add(first.b, begin, tile.low), first.columns);
  compute_tile(&first, tile);
  leat_lower_enter(w, loops);
  const leat_contraction_plan *p = unit->contraction;
  leat_contraction last = {.p = p, .w = w};
  bytes += local_bytes(&first) + local_bytes(&last);
  leat_lower_rows(w, k_add(first.b, begin, tile.low), k_add(first.b, begin, tile.high),
                  LEAT_MOST_LOCAL_BYTES - bytes);
  leat_lower_enter(w, unit);
  last = begin_kernel(w);
  tile = place_tile(&last, number);
  find_rows(&last, tile);
  compute_tile(&last, tile);
  leat_lower_end(w, count_tiles(w, leat_dim_const(1)), leat_unit_estimate(table, unit));
}

// Those of the chain are the unit's.
static void pack_chain(leat_table *table, leat_unit *unit) {
  leat_unit *before = unit->chain.items[0];
  const leat_contraction_plan *p = before->contraction;
  if (!leat_contraction_packs(p) || p->packed) return;
  leat_contraction_pack(table, before);
  for (uint32_t i = 0; i < before->launches.count; i++)
    leat_vec_push(table->cg->arena, &unit->launches, before->launches.items[i]);
  before->launches.count = 0;
}

void leat_lower_contract(leat_table *table, leat_unit *unit) {
  const leat_contraction_plan *p = unit->contraction;
  if (p->winograd) {
    if (p->winograd->what.weights)
      leat_lower_winograd_weights(table, unit);
    else
      leat_lower_winograd(table, unit);
    return;
  }
  if (p->depthwise) {
    if (p->depthwise->what.weights)
      leat_lower_depthwise_weights(table, unit);
    else
      leat_lower_depthwise(table, unit);
    return;
  }
  if (unit->chain.count) pack_chain(table, unit);
  if (leat_contraction_packs(p) && !p->packed) leat_contraction_pack(table, unit);
  if (unit->chain.count) {
    lower_chain(table, unit);
  } else if (!p->split) {
    lower_whole(table, unit);
  } else {
    lower_parts(table, unit);
    add_all_parts(table, unit);
  }
}
