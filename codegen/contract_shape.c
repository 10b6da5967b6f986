// What a contraction is before it is code: which axes are rows, columns and depth, the sizes of its
// blocks, panels and tiles, and where the kernel's batch and panel lie.
#include "codegen/contract.h"

enum {
  WIDENING = 10,     // vector registers that products of narrow integers take
  LEAST_CHAINS = 12, // accumulators that hide the latency of an fma
  FEW_ROWS = 4,
  MOST_DEPTH = 1024,        // elements of k in one go
  DEEP_ROWS = 96,           // rows of a tile of a deep contraction
  LEAST_TILES = 16,         // tiles that are worth smaller ones
  GATHERED_BYTES = 1 << 16, // of the rows of a that are computed together
};

// -- Sizes ----------------------------------------------------------------------------------------

static int registers_of(leat_dtype dtype) {
  return leat_dtype_size(dtype) == 8 ? 2 : 1;
}

// Vectors of columns: few that hang over, rather more than fewer. Few rows only wait for b, which
// is read best in long runs.
static int choose_wide(leat_dim rows, leat_dim columns, int unit) {
  static const double slower[] = {0, 1.25, 1.05, 1, 1};
  int best = 4 / unit;
  if (!leat_dim_is_const(columns)) return best;
  double least = 0;
  int64_t vectors = (columns.value + LEAT_LANES - 1) / LEAT_LANES;
  if (leat_dim_is_const(rows) && rows.value >= 1 && rows.value <= FEW_ROWS && vectors > best) {
    int64_t wide = LEAT_MOST_VECTORS / (rows.value * unit);
    return (int)(wide < vectors ? wide : vectors);
  }
  for (int wide = 4 / unit; wide >= 1; wide--) {
    int64_t whole = (vectors + wide - 1) / wide * wide;
    double cost = (double)whole * slower[wide * unit];
    if (least == 0 || cost < least) least = cost, best = wide;
  }
  return best;
}

// Rows: as many as registers allow, or fewer when all blocks are whole then.
static int choose_high(leat_dim rows, int wide, leat_dtype dtype) {
  int unit = registers_of(dtype);
  int room = leat_dtype_size(dtype) < 4 ? LEAT_ACCUMULATORS - WIDENING : LEAT_ACCUMULATORS;
  int most = room / (wide * unit), least = LEAST_CHAINS / (wide * unit);
  if (wide == 1 && most > 16) most = 16;
  if (!leat_dim_is_const(rows)) return most;
  if (rows.value <= most) return rows.value < 1 ? 1 : (int)rows.value;
  for (int high = most; high >= least && high > 1; high--)
    if (rows.value % high == 0) return high;
  return most;
}

static int64_t whole_vectors(int64_t elements) {
  return (elements + LEAT_LANES - 1) / LEAT_LANES * LEAT_LANES;
}

// Elements of k that there is room for.
static int64_t depth_gathered(const leat_contraction *c) {
  if (c->deep) return LEAT_DEPTH_BLOCK;
  return c->depth_dim.value ? whole_vectors(c->depth_dim.value) : LEAT_LANES;
}

// At most so many rows of a are gathered, in whole blocks.
static int64_t fewer_rows(const leat_contraction *c, int64_t rows) {
  int64_t size = (int64_t)leat_dtype_size(c->item->node->outputs[0].dtype);
  int64_t most = GATHERED_BYTES / (depth_gathered(c) * size) / c->high * c->high;
  if (c->a_buffer || rows <= most) return rows;
  return most < c->high ? c->high : most;
}

static int64_t rows_of_tile(const leat_contraction *c, leat_dim panels) {
  int64_t rows = DEEP_ROWS / c->high * c->high;
  if (c->deep) {
    double panel = leat_elements_estimate(&panels, 1) * leat_elements_estimate(&c->batch_dim, 1);
    double tall = leat_elements_estimate(&c->row_dim, 1);
    while (rows > c->high && tall / (double)rows * panel < LEAST_TILES) rows -= c->high;
    return rows;
  }
  double row = 2.0 * (double)c->width * leat_elements_estimate(&c->depth_dim, 1) /
               (160.0 / registers_of(c->item->node->outputs[0].dtype));
  int64_t blocks = (int64_t)(LEAT_TILE_NANOSECONDS / (row * c->high + 1)) + 1;
  return blocks * c->high;
}

int64_t leat_contraction_tile_rows(const leat_contraction *c, leat_dim panels) {
  return fewer_rows(c, rows_of_tile(c, panels));
}

void leat_contraction_begin_gathering(leat_contraction *c, int64_t rows) {
  if (c->a_buffer) return;
  int64_t depth = depth_gathered(c);
  c->pitch = c->transposed ? whole_vectors(rows) : depth;
  int64_t elements = c->pitch * (c->transposed ? depth : rows);
  c->gathered = k_local(c->b, K_SPACE_REGISTER, c->item->node->outputs[0].dtype, elements);
}

// -- Axes and places ------------------------------------------------------------------------------

static unsigned axis_bit(const leat_item *item, int k) {
  return item->axis[k] < 0 ? 0 : 1u << item->axis[k];
}

static void choose_axes(leat_contraction *c) {
  const leat_node *node = c->item->node;
  const leat_type *a = leat_value_type(node->inputs[0]), *b = leat_value_type(node->inputs[1]);
  const leat_type *out = &node->outputs[0];
  int rank = out->rank;
  c->transposed = leat_node_attr(node, "transpose_a")->i != 0;
  bool one_b = b->rank == 2 && !c->transposed; // batches are more rows
  for (int k = 0; k + 2 < rank; k++)
    *(one_b ? &c->row_axes : &c->batch_axes) |= axis_bit(c->item, k);
  c->row_axes |= axis_bit(c->item, rank - 2);
  c->column_axis = c->item->axis[rank - 1];
  c->batch_dim = leat_lower_product(c->w, out->dims, one_b ? 0 : rank - 2);
  c->row_dim = leat_lower_product(c->w, out->dims + (one_b ? 0 : rank - 2), one_b ? rank - 1 : 1);
  c->column_dim = out->dims[rank - 1];
  c->depth_dim = a->dims[c->transposed ? rank - 2 : rank - 1];
  int unit = registers_of(out->dtype);
  c->wide = choose_wide(c->row_dim, c->column_dim, unit);
  c->width = (int64_t)c->wide * LEAT_LANES;
  c->high = choose_high(c->row_dim, c->wide, out->dtype);
  c->deep = !leat_dim_is_const(c->depth_dim) || c->depth_dim.value > MOST_DEPTH;
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

void leat_contraction_place_batch(leat_contraction *c, k_value batch) {
  k_builder *b = c->b;
  bool one_b = leat_value_type(c->item->node->inputs[1])->rank == 2;
  leat_contraction_put(c, c->batch_axes, batch);
  c->a_base = k_mul(b, batch, k_mul(b, c->rows, c->depth));
  c->b_base = one_b ? k_i64(b, 0) : batch;
}

void leat_contraction_place_panel(leat_contraction *c, k_value number, leat_dim panels) {
  k_builder *b = c->b;
  c->column = k_mul(b, number, k_i64(b, c->width));
  if (c->packed) {
    k_value before = k_mul(b, c->b_base, leat_lower_dim(c->w, panels));
    k_value size = k_mul(b, c->depth, k_i64(b, c->width));
    c->b_base = k_mul(b, k_add(b, before, number), size);
  } else {
    c->b_base = k_mul(b, c->b_base, k_mul(b, c->depth, c->columns));
  }
  bool whole = leat_dim_is_const(c->column_dim) && c->column_dim.value % c->width == 0;
  for (int j = 0; j < c->wide && !whole; j++) {
    k_value first = k_add(b, c->column, k_i64(b, (int64_t)j * LEAT_LANES));
    c->masks[j] = leat_lower_mask(c->w, k_sub(b, c->columns, first));
  }
}

leat_dim leat_contraction_panels(leat_contraction *c) {
  return leat_lower_ceil_div(c->w, c->column_dim, c->width);
}

leat_contraction leat_contraction_of(leat_lower *w) {
  leat_contraction c = {.w = w, .b = &w->builder};
  for (uint32_t i = 0; i < w->unit->members.count; i++)
    if (w->unit->members.items[i]->node->info->kind == LEAT_KIND_CONTRACT)
      c.item = w->unit->members.items[i];
  choose_axes(&c);
  c.packed = w->unit->scratch != NULL;
  return c;
}
