// The contraction generator: c[row, column] = Σ a[row, k] · b[k, column] for k ascending, one
// accumulator an element, by fused multiply-add, and what is done with c in place.
//
// A tile of the kernel is a block of rows by a panel of columns. In it, blocks of `high` rows by
// `wide` vectors of columns are held in registers while k runs. Sizes only change which elements
// are computed together, never an element's own sum, so they are free.
#include "codegen/lower.h"

#include <assert.h>

enum {
  REGISTERS = 28,    // vector registers of 64 bytes for accumulators
  LEAST_CHAINS = 12, // accumulators that hide the latency of an fma
  MOST_DIRECT = 160, // instructions of what is done with c that are written out for each vector
};

typedef struct contraction {
  leat_lower *w;
  k_builder *b;
  const leat_item *item;
  const k_buffer *a_buffer, *b_buffer;
  bool transposed;               // a is [k, row]
  unsigned batch_axes, row_axes; // of the unit's space
  int column_axis;               // -1: there is one column
  leat_dim batch_dim, row_dim, column_dim, depth_dim;
  k_value rows, columns, depth;
  k_value a_base, b_base; // first elements of the batch's matrices
  int high, wide;
  k_value column;   // the panel's first
  k_value masks[4]; // which columns of each vector exist
  leat_stores stores;
} contraction;

// -- Sizes
// ------------------------------------------------------------------------------------------------

static int registers_of(leat_dtype dtype) {
  return leat_dtype_size(dtype) == 8 ? 2 : 1;
}

// Vectors of columns: few that hang over, rather more than fewer.
static int choose_wide(leat_dim columns, int unit) {
  static const double slower[] = {0, 1.25, 1.05, 1, 1};
  int best = 4 / unit;
  if (!leat_dim_is_const(columns)) return best;
  double least = 0;
  int64_t vectors = (columns.value + LEAT_LANES - 1) / LEAT_LANES;
  for (int wide = 4 / unit; wide >= 1; wide--) {
    double cost = (double)((vectors + wide - 1) / wide * wide) * slower[wide * unit];
    if (least == 0 || cost < least) least = cost, best = wide;
  }
  return best;
}

// Rows: as many as registers allow, or fewer when all blocks are whole then.
static int choose_high(leat_dim rows, int wide, int unit) {
  int most = REGISTERS / (wide * unit), least = LEAST_CHAINS / (wide * unit);
  if (wide == 1 && most > 16) most = 16;
  if (!leat_dim_is_const(rows)) return most;
  if (rows.value <= most) return rows.value < 1 ? 1 : (int)rows.value;
  for (int high = most; high >= least && high > 1; high--)
    if (rows.value % high == 0) return high;
  return most;
}

// -- What is done with a vector of c
// ---------------------------------------------------------------------

static void put(contraction *c, unsigned axes, k_value linear) {
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

static void finish_vector(contraction *c, k_value row, int j, k_value value) {
  leat_lower *w = c->w;
  put(c, c->row_axes, row);
  if (c->column_axis >= 0) {
    k_value column = k_add(c->b, c->column, k_i64(c->b, (int64_t)j * LEAT_LANES));
    w->at[c->column_axis] = (leat_index){.base = column, .step = 1};
    w->l.lanes = LEAT_LANES;
    w->l.mask = c->masks[j];
  } else {
    value = k_extract(c->b, value, 0);
  }
  leat_lower_substitute(w, c->item, value);
  for (uint32_t i = 0; i < w->unit->outputs.count; i++)
    leat_lower_store(w, &c->stores, &w->unit->outputs.items[i]);
  leat_lower_flush(w, &c->stores);
  w->l.lanes = 1;
  w->l.mask = NULL;
}

// Row by row from a local array: for results that need much code, or when the number of rows is
// only known while running.
static void finish_by_rows(contraction *c, k_value row, const k_value *acc, k_value end) {
  k_builder *b = c->b;
  int64_t width = (int64_t)c->wide * LEAT_LANES;
  const k_buffer *local = k_local(b, K_SPACE_REGISTER, acc[0]->dtype, c->high * width);
  for (int i = 0; i < c->high * c->wide; i++)
    k_store(b, local, k_i64(b, (int64_t)i * LEAT_LANES), acc[i], NULL);
  k_instr *loop = k_loop_begin(b, row, end, 1, NULL, 0);
  k_value here = k_loop_index(loop);
  k_value from = k_mul(b, k_sub(b, here, row), k_i64(b, width));
  for (int j = 0; j < c->wide; j++) {
    k_value at = k_add(b, from, k_i64(b, (int64_t)j * LEAT_LANES));
    finish_vector(c, here, j, k_load(b, local, at, LEAT_LANES, NULL));
  }
  k_loop_end(b, NULL, 0);
}

// -- A block in registers
// -----------------------------------------------------------------------------------

static k_value zero(k_builder *b, leat_dtype dtype) {
  return leat_dtype_kind_of(dtype) == LEAT_KIND_FLOAT ? k_float(b, dtype, LEAT_LANES, 0)
                                                      : k_int(b, dtype, LEAT_LANES, 0);
}

static k_value load_a(contraction *c, k_value row, k_value k) {
  k_builder *b = c->b;
  k_value index =
      c->transposed ? k_add(b, k_mul(b, k, c->rows), row) : k_add(b, k_mul(b, row, c->depth), k);
  return k_load(b, c->a_buffer, k_add(b, c->a_base, index), 1, NULL);
}

// acc += a's column k times b's row k.
static void multiply(contraction *c, k_value row, int high, bool clamped, k_value k, k_value *acc) {
  k_builder *b = c->b;
  k_value columns[4], last = k_sub(b, c->rows, k_i64(b, 1));
  k_value from = k_add(b, k_add(b, c->b_base, k_mul(b, k, c->columns)), c->column);
  for (int j = 0; j < c->wide; j++) {
    k_value at = k_add(b, from, k_i64(b, (int64_t)j * LEAT_LANES));
    columns[j] = k_load(b, c->b_buffer, at, LEAT_LANES, c->masks[j]);
  }
  for (int i = 0; i < high; i++) {
    k_value at = k_add(b, row, k_i64(b, i));
    if (clamped && i > 0) at = k_binary(b, K_MIN, at, last);
    k_value x = load_a(c, at, k);
    for (int j = 0; j < c->wide; j++) {
      k_value *sum = &acc[i * c->wide + j];
      *sum = k_fma(b, x, columns[j], *sum);
    }
  }
}

// Instructions of what is done with one vector of c, beside storing it.
static uint32_t code_of_epilogue(const contraction *c) {
  uint32_t code = 0;
  for (uint32_t i = 0; i < c->w->unit->members.count; i++)
    code += (uint32_t)c->w->unit->members.items[i]->cost;
  return code;
}

// The block of `high` rows from `row`; `clamped`: of those below c->rows.
static void block(contraction *c, k_value row, int high, bool clamped) {
  k_builder *b = c->b;
  k_value acc[REGISTERS];
  uint32_t count = (uint32_t)(high * c->wide);
  assert(count <= REGISTERS);
  for (uint32_t i = 0; i < count; i++) acc[i] = zero(b, c->a_buffer->dtype);
  k_instr *loop = k_loop_begin(b, k_i64(b, 0), c->depth, 1, acc, count);
  for (uint32_t i = 0; i < count; i++) acc[i] = k_loop_carried(loop, i);
  multiply(c, row, high, clamped, k_loop_index(loop), acc);
  k_loop_end(b, acc, count);
  for (uint32_t i = 0; i < count; i++) acc[i] = k_result(b, loop, i);
  uint32_t code = code_of_epilogue(c) * count;
  int whole = c->high;
  c->high = high;
  if (clamped) {
    finish_by_rows(c, row, acc, c->rows);
  } else if (code > MOST_DIRECT) {
    finish_by_rows(c, row, acc, k_add(b, row, k_i64(b, high)));
  } else {
    for (int i = 0; i < high; i++)
      for (int j = 0; j < c->wide; j++)
        finish_vector(c, k_add(b, row, k_i64(b, i)), j, acc[i * c->wide + j]);
  }
  c->high = whole;
}

// Rows [low, high) of a panel: whole blocks, then what is left.
static void panel(contraction *c, k_value low, k_value high) {
  k_builder *b = c->b;
  k_value size = k_i64(b, c->high), count = k_sub(b, high, low);
  k_value whole = k_add(b, low, k_mul(b, k_binary(b, K_DIV, count, size), size));
  if (low->op == K_CONST && high->op == K_CONST)
    whole = k_add(b, low, k_i64(b, count->imm.i / c->high * c->high));
  k_instr *loop = k_loop_begin(b, low, whole, c->high, NULL, 0);
  block(c, k_loop_index(loop), c->high, false);
  k_loop_end(b, NULL, 0);
  if (leat_dim_is_const(c->row_dim)) {
    int rest = (int)(c->row_dim.value % c->high);
    if (!rest) return;
    k_instr *some = k_if_begin(b, k_lt(b, whole, high));
    block(c, whole, rest, false);
    k_if_end(b, NULL, 0);
    (void)some;
    return;
  }
  k_if_begin(b, k_lt(b, whole, high));
  block(c, whole, c->high, true);
  k_if_end(b, NULL, 0);
}

// -- The kernel
// ---------------------------------------------------------------------------------------------

static unsigned axis_bit(const leat_item *item, int k) {
  return item->axis[k] < 0 ? 0 : 1u << item->axis[k];
}

static void choose_axes(contraction *c) {
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
  c->wide = choose_wide(c->column_dim, unit);
  c->high = choose_high(c->row_dim, c->wide, unit);
}

static void place_batch(contraction *c, k_value batch) {
  k_builder *b = c->b;
  bool one_b = leat_value_type(c->item->node->inputs[1])->rank == 2;
  put(c, c->batch_axes, batch);
  c->a_base = k_mul(b, batch, k_mul(b, c->rows, c->depth));
  c->b_base = one_b ? k_i64(b, 0) : k_mul(b, batch, k_mul(b, c->depth, c->columns));
}

static void place_panel(contraction *c, k_value number) {
  k_builder *b = c->b;
  c->column = k_mul(b, number, k_i64(b, (int64_t)c->wide * LEAT_LANES));
  bool whole = leat_dim_is_const(c->column_dim) &&
               c->column_dim.value % ((int64_t)c->wide * LEAT_LANES) == 0;
  for (int j = 0; j < c->wide && !whole; j++) {
    k_value first = k_add(b, c->column, k_i64(b, (int64_t)j * LEAT_LANES));
    c->masks[j] = leat_lower_mask(c->w, k_sub(b, c->columns, first));
  }
}

static int64_t rows_of_tile(const contraction *c) {
  double row = 2.0 * c->wide * LEAT_LANES * leat_elements_estimate(&c->depth_dim, 1) /
               (160 / registers_of(c->a_buffer->dtype));
  int64_t blocks = (int64_t)(LEAT_TILE_NANOSECONDS / (row * c->high + 1)) + 1;
  return blocks * c->high;
}

void leat_lower_contract(leat_table *table, leat_unit *unit) {
  leat_lower *w = leat_lower_begin(table, unit);
  contraction c = {.w = w, .b = &w->builder};
  for (uint32_t i = 0; i < unit->members.count; i++)
    if (leat_op_info_of(unit->members.items[i]->node->op)->kind == LEAT_KIND_CONTRACT)
      c.item = unit->members.items[i];
  const leat_value *inputs = c.item->node->inputs;
  c.a_buffer = leat_lower_buffer(w, leat_item_memory(table, inputs[0])->storage);
  c.b_buffer = leat_lower_buffer(w, leat_item_memory(table, inputs[1])->storage);
  choose_axes(&c);
  c.rows = leat_lower_dim(w, c.row_dim);
  c.columns = leat_lower_dim(w, c.column_dim);
  c.depth = leat_lower_dim(w, c.depth_dim);

  int64_t size = rows_of_tile(&c);
  leat_dim blocks = leat_lower_ceil_div(w, c.row_dim, size);
  leat_dim panels = leat_lower_ceil_div(w, c.column_dim, (int64_t)c.wide * LEAT_LANES);
  leat_index rest = {.base = k_tile(c.b)}, number, row_block;
  leat_index_divmod(&w->l, rest, leat_lower_dim(w, panels), &rest, &number);
  if (leat_dim_is(c.batch_dim, 1))
    row_block = rest, rest = leat_index_const(&w->l, 0);
  else
    leat_index_divmod(&w->l, rest, leat_lower_dim(w, blocks), &rest, &row_block);
  if (leat_dim_is(blocks, 1)) row_block = leat_index_const(&w->l, 0);
  place_batch(&c, rest.base);
  place_panel(&c, leat_dim_is(panels, 1) ? k_i64(c.b, 0) : number.base);
  k_value low = k_mul(c.b, row_block.base, k_i64(c.b, size));
  panel(&c, low, k_binary(c.b, K_MIN, k_add(c.b, low, k_i64(c.b, size)), c.rows));

  leat_dim tiles[] = {c.batch_dim, blocks, panels};
  leat_lower_end(w, leat_lower_product(w, tiles, 3), leat_unit_estimate(unit));
}
