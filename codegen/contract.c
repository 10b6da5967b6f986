// The contraction generator: c[row, column] = Σ a[row, k] · b[k, column] for k ascending, one
// accumulator an element, by fused multiply-add, and what is done with c in place.
//
// A tile of the kernel is a block of rows by a panel of columns. In it, blocks of `high` rows by
// `wide` vectors of columns are held in registers while k runs. Sizes only change which elements
// are computed together, never an element's own sum, so they are free.
//
// An operand that is another's elements at other places (a transpose, the windows of a convolution)
// is never stored: a's are computed into a local array, a tile's rows at a time, b's while its
// panels are packed.
#include "codegen/contract.h"

#include <assert.h>

enum {
  PACKED_BYTES = 1 << 20, // size of b from which its panels are copied together …
  PACKED_ROWS = 48,       // … when there are so many rows to use them
  MOST_DIRECT = 160, // instructions of what is done with c that are written out for each vector
};

// -- What is done with a vector of c --------------------------------------------------------------

static void finish_vector(leat_contraction *c, k_value row, int j, k_value value) {
  leat_lower *w = c->w;
  leat_contraction_put(c, c->row_axes, row);
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

// `high` rows of a local c, from element `first`.
static void store_block(leat_contraction *c, const k_buffer *local, k_value first, int high,
                        const k_value *acc) {
  for (int i = 0; i < high * c->wide; i++)
    k_store(c->b, local, k_add(c->b, first, k_i64(c->b, (int64_t)i * LEAT_LANES)), acc[i], NULL);
}

// Rows [row, end) from a local c that begins with `row`.
static void finish_rows(leat_contraction *c, const k_buffer *local, k_value row, k_value end) {
  k_builder *b = c->b;
  k_instr *loop = k_loop_begin(b, row, end, 1, NULL, 0);
  k_value here = k_loop_index(loop);
  k_value from = k_mul(b, k_sub(b, here, row), k_i64(b, c->width));
  for (int j = 0; j < c->wide; j++) {
    k_value at = k_add(b, from, k_i64(b, (int64_t)j * LEAT_LANES));
    finish_vector(c, here, j, k_load(b, local, at, LEAT_LANES, NULL));
  }
  k_loop_end(b, NULL, 0);
}

// Row by row from a local array: for results that need much code, or when the number of rows is
// only known while running.
static void finish_by_rows(leat_contraction *c, k_value row, const k_value *acc, k_value end) {
  k_builder *b = c->b;
  const k_buffer *local = k_local(b, K_SPACE_REGISTER, acc[0]->dtype, c->high * c->width);
  store_block(c, local, k_i64(b, 0), c->high, acc);
  finish_rows(c, local, row, end);
}

// -- A block in registers -------------------------------------------------------------------------

static k_value zero(k_builder *b, leat_dtype dtype) {
  return leat_dtype_kind_of(dtype) == LEAT_KIND_FLOAT ? k_float(b, dtype, LEAT_LANES, 0)
                                                      : k_int(b, dtype, LEAT_LANES, 0);
}

static k_value load_gathered(leat_contraction *c, k_value row, k_value k) {
  k_builder *b = c->b;
  k_value slow = k_sub(b, row, c->first_row), fast = k_sub(b, k, c->first_k);
  if (c->transposed) slow = k_sub(b, k, c->first_k), fast = k_sub(b, row, c->first_row);
  return k_load(b, c->gathered, k_add(b, k_mul(b, slow, k_i64(b, c->pitch)), fast), 1, NULL);
}

static k_value load_a(leat_contraction *c, k_value row, k_value k) {
  k_builder *b = c->b;
  if (c->gathered) return load_gathered(c, row, k);
  k_value index =
      c->transposed ? k_add(b, k_mul(b, k, c->rows), row) : k_add(b, k_mul(b, row, c->depth), k);
  return k_load(b, c->a_buffer, k_add(b, c->a_base, index), 1, NULL);
}

// acc += a's column k times b's row k.
static void multiply(leat_contraction *c, k_value row, int high, bool clamped, k_value k,
                     k_value *acc) {
  k_builder *b = c->b;
  k_value columns[LEAT_MOST_VECTORS], last = k_sub(b, c->rows, k_i64(b, 1));
  k_value width = c->packed ? k_i64(b, c->width) : c->columns;
  k_value from = k_add(b, c->b_base, k_mul(b, k, width));
  if (!c->packed) from = k_add(b, from, c->column);
  for (int j = 0; j < c->wide; j++) {
    k_value at = k_add(b, from, k_i64(b, (int64_t)j * LEAT_LANES));
    columns[j] = k_load(b, c->b_buffer, at, LEAT_LANES, c->packed ? NULL : c->masks[j]);
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
static uint32_t code_of_epilogue(const leat_contraction *c) {
  uint32_t code = 0;
  for (uint32_t i = 0; i < c->w->unit->members.count; i++)
    code += (uint32_t)c->w->unit->members.items[i]->cost;
  return code;
}

// acc of the block of `high` rows from `row`, for k in [low, end).
static void accumulate(leat_contraction *c, k_value row, int high, bool clamped, k_value low,
                       k_value end, k_value *acc) {
  uint32_t count = (uint32_t)(high * c->wide);
  assert(count <= LEAT_ACCUMULATORS);
  k_instr *loop = k_loop_begin(c->b, low, end, 1, acc, count);
  for (uint32_t i = 0; i < count; i++) acc[i] = k_loop_carried(loop, i);
  multiply(c, row, high, clamped, k_loop_index(loop), acc);
  k_loop_end(c->b, acc, count);
  for (uint32_t i = 0; i < count; i++) acc[i] = k_result(c->b, loop, i);
}

// The block of `high` rows from `row`; `clamped`: of those below c->rows.
static void block(leat_contraction *c, k_value row, int high, bool clamped) {
  k_builder *b = c->b;
  k_value acc[LEAT_ACCUMULATORS];
  uint32_t count = (uint32_t)(high * c->wide);
  for (uint32_t i = 0; i < count; i++) acc[i] = zero(b, c->item->node->outputs[0].dtype);
  accumulate(c, row, high, clamped, k_i64(b, 0), c->depth, acc);
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
static void panel(leat_contraction *c, k_value low, k_value high) {
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
    k_if_begin(b, k_lt(b, whole, high));
    block(c, whole, rest, false);
    k_if_end(b, NULL, 0);
    return;
  }
  k_if_begin(b, k_lt(b, whole, high));
  block(c, whole, c->high, true);
  k_if_end(b, NULL, 0);
}

// -- Operands that are computed -------------------------------------------------------------------

static bool is_computed(const leat_contraction *c, uint32_t i) {
  return leat_item_memory(c->w->table, c->item->node->inputs[i])->role == LEAT_ROLE_FREE;
}

// LEAT_LANES elements of an operand's last axis from `at` on, those below `end`; the axes before
// the last two are where the kernel is.
static k_value operand_value(leat_contraction *c, uint32_t i, k_value row, k_value at,
                             k_value end) {
  leat_lower *w = c->w;
  int rank = leat_value_type(c->item->node->inputs[i])->rank;
  leat_index in[LEAT_MAX_RANK];
  for (int k = 0; k < rank - 2; k++) {
    int axis = c->item->axis[k];
    in[k] = axis < 0 ? leat_index_const(&w->l, 0) : w->at[axis];
  }
  in[rank - 2] = (leat_index){.base = row};
  in[rank - 1] = (leat_index){.base = at, .step = 1};
  w->l.lanes = LEAT_LANES;
  w->l.mask = leat_lower_mask(w, k_sub(c->b, end, at));
  k_value value = leat_operand(&w->l, c->item->node, i, in);
  w->l.lanes = 1;
  w->l.mask = NULL;
  return value;
}

// Rows [low, high) of a, for k in [from, end), become `gathered`: where its last axis goes on is
// the outer loop, so that what there is to divide for it is divided once for all that lies across.
static void gather_a(leat_contraction *c, k_value low, k_value high, k_value from, k_value end) {
  k_builder *b = c->b;
  k_value slow_low = c->transposed ? from : low, fast_low = c->transposed ? low : from;
  k_value slow_high = c->transposed ? end : high, fast_high = c->transposed ? high : end;
  c->first_row = low;
  c->first_k = from;
  k_instr *fast = k_loop_begin(b, fast_low, fast_high, LEAT_LANES, NULL, 0);
  k_value j = k_loop_index(fast);
  k_instr *slow = k_loop_begin(b, slow_low, slow_high, 1, NULL, 0);
  k_value i = k_loop_index(slow);
  if (!c->transposed) leat_contraction_put(c, c->row_axes, i);
  int row_axis = c->item->axis[c->item->node->outputs[0].rank - 2];
  k_value row = c->transposed ? i : row_axis < 0 ? k_i64(b, 0) : c->w->at[row_axis].base;
  k_value value = operand_value(c, 0, row, j, fast_high);
  k_value to = k_mul(b, k_sub(b, i, slow_low), k_i64(b, c->pitch));
  k_store(b, c->gathered, k_add(b, to, k_sub(b, j, fast_low)), value, NULL);
  k_loop_end(b, NULL, 0);
  k_loop_end(b, NULL, 0);
}

// -- Deep contractions: k in blocks, so that what is read of a and b stays near -------------------

// One block of k for rows [low, high): the sums resume from where the block before left them.
static void deepen(leat_contraction *c, const k_buffer *local, k_value low, k_value high,
                   k_value from, k_value end) {
  k_builder *b = c->b;
  k_value acc[LEAT_ACCUMULATORS];
  bool clamped = !leat_dim_is_const(c->row_dim) || c->row_dim.value % c->high;
  k_instr *loop = k_loop_begin(b, low, high, c->high, NULL, 0);
  k_value row = k_loop_index(loop);
  k_value first = k_mul(b, k_sub(b, row, low), k_i64(b, c->width));
  for (int i = 0; i < c->high * c->wide; i++) {
    k_value at = k_add(b, first, k_i64(b, (int64_t)i * LEAT_LANES));
    acc[i] = k_load(b, local, at, LEAT_LANES, NULL);
  }
  accumulate(c, row, c->high, clamped, from, end, acc);
  store_block(c, local, first, c->high, acc);
  k_loop_end(b, NULL, 0);
}

static void deep_panel(leat_contraction *c, k_value low, k_value high, int64_t size) {
  k_builder *b = c->b;
  leat_dtype dtype = c->item->node->outputs[0].dtype;
  int64_t elements = (size + c->high - 1) / c->high * c->high * c->width;
  const k_buffer *local = k_local(b, K_SPACE_REGISTER, dtype, elements);
  k_instr *loop = k_loop_begin(b, k_i64(b, 0), k_i64(b, elements), LEAT_LANES, NULL, 0);
  k_store(b, local, k_loop_index(loop), zero(b, dtype), NULL);
  k_loop_end(b, NULL, 0);
  loop = k_loop_begin(b, k_i64(b, 0), c->depth, LEAT_DEPTH_BLOCK, NULL, 0);
  k_value from = k_loop_index(loop), end = k_add(b, from, k_i64(b, LEAT_DEPTH_BLOCK));
  end = k_binary(b, K_MIN, end, c->depth);
  if (c->gathered) gather_a(c, low, high, from, end);
  deepen(c, local, low, high, from, end);
  k_loop_end(b, NULL, 0);
  finish_rows(c, local, low, high);
}

// NULL: the operand is computed.
static const k_buffer *operand_buffer(leat_contraction *c, uint32_t i) {
  if (is_computed(c, i) && !(i == 1 && c->packed)) return NULL;
  leat_item *item = leat_item_memory(c->w->table, c->item->node->inputs[i]);
  return leat_lower_buffer(c->w, i == 1 && c->packed ? c->w->unit->scratch : item->storage);
}

static void begin_kernel(leat_contraction *c) {
  c->a_buffer = operand_buffer(c, 0);
  c->b_buffer = operand_buffer(c, 1);
  c->rows = leat_lower_dim(c->w, c->row_dim);
  c->columns = leat_lower_dim(c->w, c->column_dim);
  c->depth = leat_lower_dim(c->w, c->depth_dim);
}

// -- Packing --------------------------------------------------------------------------------------

// Matrices of b, one for all batches or one each.
static leat_dim matrices_of_b(const leat_contraction *c) {
  bool one_b = leat_value_type(c->item->node->inputs[1])->rank == 2;
  return one_b ? leat_dim_const(1) : c->batch_dim;
}

// Only products read what it loads, and this one once, so that an artifact that has it packed
// seldom needs it as it was, too.
static bool is_multiplied(const leat_item *load, const leat_item *product) {
  uint32_t here = 0;
  for (uint32_t i = 0; i < load->users.count; i++) {
    const leat_item *user = load->users.items[i]->consumer;
    if (user->node->info->kind != LEAT_KIND_CONTRACT) return false;
    here += user == product;
  }
  return here == 1;
}

// The `load` whose elements, in whatever order, b is, when it may be packed; else NULL.
static leat_item *load_of_b(const leat_contraction *c) {
  const leat_node *node = c->item->node->inputs[1].node;
  while (node->info->reads == LEAT_READS_RESHAPED || node->info->reads == LEAT_READS_PERMUTED)
    node = node->inputs[0].node;
  if (node->op != LEAT_OP_load) return NULL;
  leat_item *load = leat_item_of(c->w->table, (leat_value){(leat_node *)node, 0});
  return is_multiplied(load, c->item) ? load : NULL;
}

static void read_no_more(leat_item *item, const leat_item *producer) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < item->reads.count; i++)
    if (item->reads.items[i]->producer != producer)
      item->reads.items[kept++] = item->reads.items[i];
  item->reads.count = kept;
}

// Where an artifact has the panels of b, as a value of `type`; NULL: they are made while running.
static leat_storage *packed_before(leat_contraction *c, const leat_type *type) {
  leat_codegen_state *cg = c->w->table->cg;
  const leat_file_table *files = cg->options->files;
  const leat_node *b = c->item->node->inputs[1].node;
  leat_item *load = files && files->place ? load_of_b(c) : NULL;
  leat_dim matrices = matrices_of_b(c);
  if (!load || !leat_type_is_static(&b->outputs[0]) || !leat_dim_is_const(matrices)) return NULL;
  leat_panels panels = {matrices.value, c->depth_dim.value, c->column_dim.value, c->width};
  leat_placed_file *placed = leat_new(cg->arena, leat_placed_file);
  leat_status status = files->place(files->context, b, &panels, placed, cg->error);
  if (status || placed->kind != LEAT_FILE_WITHIN) return NULL;
  read_no_more(c->item, load);
  return leat_storage_packed(cg, placed, type);
}

void leat_contract_prepare(leat_table *table, leat_unit *unit) {
  leat_lower w = {.table = table, .unit = unit};
  leat_contraction c = leat_contraction_of(&w);
  const leat_type *b = leat_value_type(c.item->node->inputs[1]);
  double bytes = leat_elements_estimate(b->dims, b->rank) * (double)leat_dtype_size(b->dtype);
  bool many = !leat_dim_is_const(c.row_dim) || c.row_dim.value >= PACKED_ROWS;
  if ((!many || bytes < PACKED_BYTES) && !is_computed(&c, 1)) return;
  leat_dim dims[] = {matrices_of_b(&c), leat_contraction_panels(&c), c.depth_dim,
                     leat_dim_const(c.width)};
  leat_type type = {.dtype = b->dtype, .rank = 1, .dims = {leat_lower_product(&w, dims, 4)}};
  unit->scratch = packed_before(&c, &type);
  if (!unit->scratch) unit->scratch = leat_storage_arena(table, &type);
}

// A tile is LEAT_DEPTH_BLOCK rows of a panel.
static void pack(leat_table *table, leat_unit *unit) {
  leat_lower *w = leat_lower_begin_bare(table, unit, "pack");
  leat_contraction c = leat_contraction_of(w);
  k_builder *b = c.b;
  const k_buffer *out = leat_lower_buffer(w, unit->scratch);
  leat_lower_reads(w, c.item);
  c.packed = false;
  c.b_buffer = operand_buffer(&c, 1);
  c.columns = leat_lower_dim(w, c.column_dim);
  c.depth = leat_lower_dim(w, c.depth_dim);
  leat_dim panels = leat_contraction_panels(&c);
  leat_dim blocks = leat_lower_ceil_div(w, c.depth_dim, LEAT_DEPTH_BLOCK);
  leat_index tile = {.base = k_tile(b)}, block_number, number;
  leat_index_divmod(&w->l, tile, leat_lower_dim(w, blocks), &tile, &block_number);
  leat_index_divmod(&w->l, tile, leat_lower_dim(w, panels), &tile, &number);
  c.b_base = tile.base;
  leat_contraction_put(&c, c.batch_axes, tile.base);
  leat_contraction_place_panel(&c, number.base, panels);
  k_value low = k_mul(b, block_number.base, k_i64(b, LEAT_DEPTH_BLOCK));
  k_value end = k_binary(b, K_MIN, k_add(b, low, k_i64(b, LEAT_DEPTH_BLOCK)), c.depth);
  k_value matrix = k_mul(b, tile.base, leat_lower_dim(w, panels));
  k_value first = k_mul(b, k_add(b, matrix, number.base), c.depth);
  k_instr *loop = k_loop_begin(b, low, end, 1, NULL, 0);
  k_value k = k_loop_index(loop);
  k_value to = k_mul(b, k_add(b, first, k), k_i64(b, c.width));
  k_value from = k_add(b, k_add(b, c.b_base, k_mul(b, k, c.columns)), c.column);
  for (int j = 0; j < c.wide; j++) {
    k_value at = k_i64(b, (int64_t)j * LEAT_LANES);
    k_value x = c.b_buffer ? k_load(b, c.b_buffer, k_add(b, from, at), LEAT_LANES, c.masks[j])
                           : operand_value(&c, 1, k, k_add(b, c.column, at), c.columns);
    k_store(b, out, k_add(b, to, at), x, NULL);
  }
  k_loop_end(b, NULL, 0);
  leat_dim tiles[] = {matrices_of_b(&c), panels, blocks};
  leat_lower_end(w, leat_lower_product(w, tiles, 3),
                 leat_elements_estimate(unit->scratch->type.dims, 1) / 5);
}

// -- The kernel -----------------------------------------------------------------------------------

void leat_lower_contract(leat_table *table, leat_unit *unit) {
  if (unit->scratch && unit->scratch->kind == LEAT_BUFFER_ARENA) pack(table, unit);
  leat_lower *w = leat_lower_begin(table, unit);
  leat_contraction c = leat_contraction_of(w);
  begin_kernel(&c);
  leat_dim panels = leat_contraction_panels(&c);
  int64_t size = leat_contraction_tile_rows(&c, panels);
  leat_contraction_begin_gathering(&c, size);
  leat_dim blocks = leat_lower_ceil_div(w, c.row_dim, size);
  leat_index rest = {.base = k_tile(c.b)}, number, rows;
  leat_index_divmod(&w->l, rest, leat_lower_dim(w, blocks), &rest, &rows);
  if (leat_dim_is(c.batch_dim, 1))
    number = rest, rest = leat_index_const(&w->l, 0);
  else
    leat_index_divmod(&w->l, rest, leat_lower_dim(w, panels), &rest, &number);
  if (leat_dim_is(panels, 1)) number = leat_index_const(&w->l, 0);
  leat_contraction_place_batch(&c, rest.base);
  leat_contraction_place_panel(&c, number.base, panels);
  k_value low = k_mul(c.b, rows.base, k_i64(c.b, size));
  k_value high = k_binary(c.b, K_MIN, k_add(c.b, low, k_i64(c.b, size)), c.rows);
  if (c.deep) {
    deep_panel(&c, low, high, size);
  } else {
    if (c.gathered) gather_a(&c, low, high, k_i64(c.b, 0), c.depth);
    panel(&c, low, high);
  }
  leat_dim tiles[] = {c.batch_dim, panels, blocks};
  leat_lower_end(w, leat_lower_product(w, tiles, 3), leat_unit_estimate(unit));
}
