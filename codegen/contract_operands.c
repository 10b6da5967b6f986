// How a contraction's operands are read where they are not simply in memory, and the kernel that
// copies b into panels.
//
// An operand that is another's elements at other places (a transpose, the windows of a convolution)
// is never stored: a's are computed into a local array, a tile's rows at a time, b's while its
// panels are packed.
#include "codegen/contract.h"

// -- Begin, and places ----------------------------------------------------------------------------

// NULL: the operand is computed.
static const k_buffer *operand_buffer(leat_contraction *c, uint32_t i) {
  leat_item *item = leat_item_memory(c->w->table, c->p->item->node->inputs[i]);
  return item->role == LEAT_ROLE_FREE ? NULL : leat_lower_buffer(c->w, item->storage);
}

static leat_block usual_block(const leat_contraction_plan *p) {
  return (leat_block){p->high, p->wide, LEAT_LANES};
}

leat_contraction leat_contraction_begin_bare(leat_lower *w) {
  const leat_contraction_plan *p = w->unit->contraction;
  return (leat_contraction){.p = p, .w = w, .b = &w->builder, .block = usual_block(p)};
}

leat_contraction leat_contraction_begin(leat_lower *w) {
  leat_contraction c = leat_contraction_begin_bare(w);
  c.a_buffer = operand_buffer(&c, 0);
  c.b_buffer = leat_contraction_has_panels(c.p) ? leat_lower_buffer(w, w->unit->scratch)
                                                : operand_buffer(&c, 1);
  c.rows = leat_lower_dim(w, c.p->rows);
  c.columns = leat_lower_dim(w, c.p->columns);
  c.depth = leat_lower_dim(w, c.p->depth);
  return c;
}

void leat_contraction_put(leat_contraction *c, unsigned axes, k_value linear) {
  leat_index rest = {.base = linear};
  for (int k = c->w->rank - 1; k >= 0; k--) {
    if (!(axes >> k & 1)) continue;
    axes &= ~(1u << k);
    if (axes)
      leat_index_divmod(&c->w->l, rest, leat_lower_dim(c->w, c->w->dims[k]), &rest, &c->w->at[k]);
    else
      c->w->at[k] = rest;
  }
}

static bool has_whole_panels(const leat_contraction_plan *p) {
  return leat_dim_is_const(p->columns) && p->columns.value % p->width == 0;
}

void leat_contraction_place_columns(leat_contraction *c, k_value panel) {
  k_builder *b = c->b;
  const leat_contraction_plan *p = c->p;
  c->column = k_mul(b, panel, k_i64(b, p->width));
  for (int j = 0; j < p->wide && !has_whole_panels(p); j++) {
    k_value first = k_add(b, c->column, k_i64(b, (int64_t)j * LEAT_LANES));
    c->masks[j] = leat_lower_mask(c->w, k_sub(b, c->columns, first));
  }
}

void leat_contraction_place_whole(leat_contraction *c, k_value panel) {
  const leat_contraction_plan *p = c->p;
  c->block = usual_block(p);
  c->column = k_mul(c->b, panel, k_i64(c->b, p->width));
  for (int j = 0; j < p->wide; j++) c->masks[j] = NULL;
}

void leat_contraction_place_last(leat_contraction *c) {
  k_builder *b = c->b;
  const leat_contraction_plan *p = c->p;
  int64_t rest = p->columns.value % p->width;
  int lanes = p->last.lanes;
  c->block = p->last;
  c->column = k_i64(b, p->columns.value - rest);
  for (int j = 0; j < p->last.wide; j++, rest -= lanes) {
    k_value count = k_int(b, LEAT_i32, lanes, rest);
    c->masks[j] = rest < lanes ? k_lt(b, k_lane(b, LEAT_i32, lanes), count) : NULL;
  }
}

// -- Rows of b ------------------------------------------------------------------------------------

// leat_contraction_inside, of a b that is packed, too.
static k_value find_inside(const leat_contraction *c, k_value low, k_value end) {
  const leat_contraction_plan *p = c->p;
  if (!p->reads_over || !c->b_buffer || !leat_dim_is_const(p->columns) || p->columns.value < 1 ||
      has_whole_panels(p))
    return NULL;
  int64_t last = (p->width - 2 + p->columns.value) / p->columns.value;
  k_value inside = k_sub(c->b, c->depth, k_i64(c->b, last));
  return k_binary(c->b, K_MIN, k_binary(c->b, K_MAX, inside, low), end);
}

// Of vector j of a row of b that is read where it lies.
static k_value mask_of(const leat_contraction *c, int j) {
  return c->inside ? NULL : c->masks[j];
}

static bool is_packed(const leat_contraction *c) {
  return c->piece || leat_contraction_has_panels(c->p);
}

// Whether all columns of the panel exist.
static bool is_whole(const leat_contraction *c) {
  for (int j = 0; j < c->block.wide; j++)
    if (c->masks[j]) return false;
  return true;
}

k_value leat_contraction_inside(const leat_contraction *c, k_value low, k_value end) {
  return is_packed(c) || is_whole(c) ? NULL : find_inside(c, low, end);
}

// Asks for what is read of b some rows later.
static void prefetch_b(leat_contraction *c, k_value k) {
  k_builder *b = c->b;
  k_value later = k_mul(b, k_add(b, k, k_i64(b, c->p->ahead)), c->columns);
  k_value from = k_add(b, later, c->column);
  if (!c->piece) from = k_add(b, from, c->b_base);
  for (int j = 0; j < c->block.wide; j++)
    k_prefetch(b, c->b_buffer, k_add(b, from, k_i64(b, (int64_t)j * c->block.lanes)));
}

void leat_contraction_load_b(leat_contraction *c, k_value k, k_value *columns) {
  k_builder *b = c->b;
  bool packed = is_packed(c);
  const k_buffer *buffer = c->piece ? c->piece : c->b_buffer;
  k_value row = c->piece ? k_sub(b, k, c->piece_k) : k;
  k_value from = k_add(b, c->b_base, k_mul(b, row, packed ? k_i64(b, c->p->width) : c->columns));
  if (!packed) from = k_add(b, from, c->column);
  if (c->b_buffer && c->p->ahead) prefetch_b(c, k);
  int lanes = c->block.lanes;
  for (int j = 0; j < c->block.wide; j++) {
    k_value at = k_add(b, from, k_i64(b, (int64_t)j * lanes));
    columns[j] = buffer ? k_load(b, buffer, at, lanes, packed ? NULL : mask_of(c, j))
                        : leat_contraction_operand(c, 1, k, c->column, c->columns);
  }
}

// -- Operands that are computed -------------------------------------------------------------------

// The place of an operand's matrix.
static void put_matrix(leat_contraction *c, int rank, leat_index *in) {
  for (int k = 0; k < rank - 2; k++) {
    int axis = c->p->item->axis[k];
    in[k] = axis < 0 ? leat_index_const(&c->w->l, 0) : c->w->at[axis];
  }
}

k_value leat_contraction_operand(leat_contraction *c, uint32_t i, k_value row, k_value at,
                                 k_value end) {
  leat_lower *w = c->w;
  const leat_node *node = c->p->item->node;
  int rank = leat_value_type(node->inputs[i])->rank;
  leat_index in[LEAT_MAX_RANK];
  put_matrix(c, rank, in);
  in[rank - 2] = (leat_index){.base = row};
  in[rank - 1] = (leat_index){.base = at, .step = 1};
  w->l.lanes = LEAT_LANES;
  w->l.mask = leat_lower_mask(w, k_sub(c->b, end, at));
  k_value value = leat_operand(&w->l, node, i, in);
  w->l.lanes = 1;
  w->l.mask = NULL;
  return value;
}

// `lanes` elements of b along k, in one column.
static k_value operand_across(leat_contraction *c, k_value k, k_value column, int lanes) {
  leat_lower *w = c->w;
  const leat_node *node = c->p->item->node;
  int rank = leat_value_type(node->inputs[1])->rank;
  leat_index in[LEAT_MAX_RANK];
  put_matrix(c, rank, in);
  in[rank - 2] = (leat_index){.base = k, .step = 1};
  in[rank - 1] = (leat_index){.base = column};
  w->l.lanes = lanes;
  k_value value = leat_operand(&w->l, node, 1, in);
  w->l.lanes = 1;
  return value;
}

// Beyond the last column it stands once more.
void leat_contraction_read_square(leat_contraction *c, k_value k, k_value column, k_value *rows) {
  k_builder *b = c->b;
  const leat_contraction_plan *p = c->p;
  k_value last = k_sub(b, c->columns, k_i64(b, 1));
  for (int i = 0; i < p->square; i++) {
    k_value at = k_add(b, column, k_i64(b, i));
    if (!has_whole_panels(p)) at = k_binary(b, K_MIN, at, last);
    rows[i] = operand_across(c, k, at, p->square);
  }
  leat_turn(b, rows, p->square);
}

// -- Packing --------------------------------------------------------------------------------------

// Rows of a panel that begins at row `first` of `out`: those of k in [low, end), but for less than
// a square has, the first of which is returned. Few columns at a time, each in one long run.
static k_value pack_across(leat_contraction *c, const k_buffer *out, k_value first, k_value low,
                           k_value end) {
  k_builder *b = c->b;
  const leat_contraction_plan *p = c->p;
  k_value count = k_sub(b, end, low), rest = k_binary(b, K_AND, count, k_i64(b, p->square - 1));
  k_value whole = k_sub(b, end, rest), rows[LEAT_LANES], width = k_i64(b, p->width);
  k_instr *columns = k_loop_begin(b, k_i64(b, 0), width, p->square, NULL, 0);
  k_value side = k_loop_index(columns);
  k_instr *loop = k_loop_begin(b, low, whole, p->square, NULL, 0);
  k_value k = k_loop_index(loop), to = k_add(b, k_mul(b, k_add(b, first, k), width), side);
  leat_contraction_read_square(c, k, k_add(b, c->column, side), rows);
  for (int i = 0; i < p->square; i++)
    k_store(b, out, k_add(b, to, k_i64(b, i * p->width)), rows[i], NULL);
  k_loop_end(b, NULL, 0);
  k_loop_end(b, NULL, 0);
  return whole;
}

// Row k of it.
static void pack_row(leat_contraction *c, const k_buffer *out, k_value first, k_value k) {
  k_builder *b = c->b;
  k_value to = k_mul(b, k_add(b, first, k), k_i64(b, c->p->width));
  k_value from = k_add(b, k_add(b, c->b_base, k_mul(b, k, c->columns)), c->column);
  for (int j = 0; j < c->p->wide; j++) {
    k_value at = k_i64(b, (int64_t)j * LEAT_LANES);
    k_value x = c->b_buffer
                    ? k_load(b, c->b_buffer, k_add(b, from, at), LEAT_LANES, mask_of(c, j))
                    : leat_contraction_operand(c, 1, k, k_add(b, c->column, at), c->columns);
    k_store(b, out, k_add(b, to, at), x, NULL);
  }
}

static void pack_in_loop(leat_contraction *c, const k_buffer *out, k_value first, k_value low,
                         k_value end) {
  k_instr *loop = k_loop_begin(c->b, low, end, 1, NULL, 0);
  pack_row(c, out, first, k_loop_index(loop));
  k_loop_end(c->b, NULL, 0);
}

// Those in [low, end).
static void pack_rows(leat_contraction *c, const k_buffer *out, k_value first, k_value low,
                      k_value end) {
  k_value inside = find_inside(c, low, end);
  if (inside) {
    c->inside = true;
    pack_in_loop(c, out, first, low, inside);
    c->inside = false;
  }
  pack_in_loop(c, out, first, inside ? inside : low, end);
}

// The panel of the tile, whose piece begins at a row that is returned, as if it were row 0.
static k_value begin_piece(leat_contraction *c, k_value number, k_value low) {
  k_builder *b = c->b;
  k_value before = k_mul(b, k_sub(b, number, c->first_panel), k_i64(b, LEAT_PIECE_ROWS));
  leat_contraction_place_columns(c, number);
  return k_sub(b, before, low);
}

static void pack_pieces_across(leat_contraction *c, k_value low, k_value end) {
  k_instr *panels = k_loop_begin(c->b, c->first_panel, c->end_panel, 1, NULL, 0);
  k_value first = begin_piece(c, k_loop_index(panels), low);
  k_value rest = pack_across(c, c->piece, first, low, end);
  pack_rows(c, c->piece, first, rest, end);
  k_loop_end(c->b, NULL, 0);
}

// Row by row, in runs as long as the tile is wide. `begin`: of the rows that are packed.
static void pack_pieces_along(leat_contraction *c, k_value begin, k_value low, k_value end) {
  k_builder *b = c->b;
  k_instr *rows = k_loop_begin(b, low, end, 1, NULL, 0);
  k_instr *panels = k_loop_begin(b, c->first_panel, c->end_panel, 1, NULL, 0);
  k_value first = begin_piece(c, k_loop_index(panels), begin);
  pack_row(c, c->piece, first, k_loop_index(rows));
  k_loop_end(b, NULL, 0);
  k_loop_end(b, NULL, 0);
}

void leat_contraction_pack_pieces(leat_contraction *c, k_value low, k_value end) {
  c->piece_k = low;
  c->b_base = k_i64(c->b, 0);
  if (c->p->across) {
    pack_pieces_across(c, low, end);
    return;
  }
  k_value inside = find_inside(c, low, end);
  if (inside) {
    c->inside = true;
    pack_pieces_along(c, low, low, inside);
    c->inside = false;
  }
  pack_pieces_along(c, low, inside ? inside : low, end);
}

// A tile is LEAT_DEPTH_BLOCK rows of a panel.
void leat_contraction_pack(leat_table *table, leat_unit *unit) {
  leat_lower *w = leat_lower_begin_bare(table, unit, "pack");
  leat_contraction c = leat_contraction_begin_bare(w);
  const leat_contraction_plan *p = c.p;
  k_builder *b = c.b;
  const k_buffer *out = leat_lower_buffer(w, unit->scratch);
  leat_lower_reads_of(w, p->item->node->inputs[1]);
  c.b_buffer = operand_buffer(&c, 1);
  c.columns = leat_lower_dim(w, p->columns);
  c.depth = leat_lower_dim(w, p->depth);
  leat_dim blocks = leat_lower_ceil_div(w, p->depth, LEAT_DEPTH_BLOCK);
  leat_index tile = {.base = k_tile(b)}, block_number, number;
  leat_index_divmod(&w->l, tile, leat_lower_dim(w, blocks), &tile, &block_number);
  leat_index_divmod(&w->l, tile, leat_lower_dim(w, p->panels), &tile, &number);
  leat_contraction_put(&c, p->batch_axes, tile.base);
  leat_contraction_place_columns(&c, number.base);
  c.b_base = k_mul(b, tile.base, k_mul(b, c.depth, c.columns));
  k_value low = k_mul(b, block_number.base, k_i64(b, LEAT_DEPTH_BLOCK));
  k_value end = k_binary(b, K_MIN, k_add(b, low, k_i64(b, LEAT_DEPTH_BLOCK)), c.depth);
  k_value matrix = k_mul(b, tile.base, leat_lower_dim(w, p->panels));
  k_value first = k_mul(b, k_add(b, matrix, number.base), c.depth);
  if (p->across) low = pack_across(&c, out, first, low, end);
  pack_rows(&c, out, first, low, end);
  leat_dim tiles[] = {leat_contraction_matrices(p), p->panels, blocks};
  leat_lower_end(w, leat_lower_product(w, tiles, 3), leat_cost_copy(&unit->scratch->type));
}
