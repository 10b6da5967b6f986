// Chooses the plan of a contraction: which axes are rows, columns and depth, how each operand is
// read, and the sizes of blocks, panels and tiles.
#include "codegen/contract_plan.h"

#include "codegen/lower.h"
#include "ops/reduce.h"

#include <math.h>

enum {
  WIDENING = 10,     // vector registers that products of narrow integers take
  LEAST_CHAINS = 12, // accumulators that hide the latency of an fma
  FEW_ROWS = 4,
  MOST_TURNED_ROWS = 8,    // above, packing b costs less
  PACKED_ROWS = 48,        // that are worth packing b, if it is too large for a cache
  MANY_ROWS = 1024,        // from which packing costs next to nothing
  FAR_APART = 1024,        // bytes from one k to the next
  COLLIDING_BYTES = 2048,  // from one row of b to the next
  MOST_DEPTH = 1024,       // elements of k in one go …
  MOST_DEPTH_ACROSS = 512, // … of a by columns, whose rows are read in longer pieces then
  LEAST_PARTS = 4,         // of k, that tiles of their own are worth
  MOST_CACHE = 512 << 10,  // of the second one: more gains nothing
  MOST_STREAMED_ROWS = 16,
  ROWS_AHEAD = 8,              // of b
  MOST_PARTS_BYTES = 64 << 20, // of the sums of the parts of k
  MOST_GATHERED = 4,           // vectors of a in one go
  MOST_RUNS = 24,              // the same of what lies together in runs
};

typedef struct contraction_planner {
  leat_lower w; // for the arithmetic of dims
  const leat_target_info *target;
  leat_dtype dtype;
  leat_contraction_plan *p;
} contraction_planner;

// -- Caches ---------------------------------------------------------------------------------------

// Bytes of the second cache for what a tile has: a half for its b, LEAT_DEPTH_BLOCK deep, 14 of 64
// parts for the rows of a that are gathered together, 11 for the local c of a deep tile.
static int64_t cache_for(const contraction_planner *s, int parts) {
  return (s->target->l2 < MOST_CACHE ? s->target->l2 : MOST_CACHE) * parts / 64;
}

static int64_t tile_columns(const contraction_planner *s) {
  return cache_for(s, 32) / (LEAT_DEPTH_BLOCK * (int64_t)leat_dtype_size(s->dtype));
}

static int64_t gathered_bytes(const contraction_planner *s) {
  return cache_for(s, 14);
}

static int64_t tile_bytes(const contraction_planner *s) {
  return cache_for(s, 11);
}

// -- Axes -----------------------------------------------------------------------------------------

static unsigned axis_bit(const leat_item *item, int k) {
  return item->axis[k] < 0 ? 0 : 1u << item->axis[k];
}

static bool is_computed(const contraction_planner *s, uint32_t i) {
  return leat_item_memory(s->w.table, s->p->item->node->inputs[i])->role == LEAT_ROLE_FREE;
}

// Whether b is what lies in memory with its last two axes in each other's place.
static bool lies_across(const contraction_planner *s) {
  const leat_value b = s->p->item->node->inputs[1];
  int rank = leat_value_type(b)->rank;
  int8_t axis[LEAT_MAX_RANK];
  if (s->p->column_axis < 0 || leat_dtype_size(leat_value_type(b)->dtype) < 4 ||
      !b.node->input_count)
    return false;
  const leat_value of = b.node->inputs[0];
  if (leat_value_type(of)->rank != rank || !leat_item_operand_axes(b.node, 0, axis)) return false;
  for (int k = 0; k < rank - 2; k++)
    if (axis[k] >= 0 && axis[k] != k) return false;
  return axis[rank - 2] == rank - 1 && axis[rank - 1] == rank - 2 && is_computed(s, 1) &&
         leat_item_memory(s->w.table, of)->role != LEAT_ROLE_FREE;
}

static void choose_axes(contraction_planner *s) {
  leat_contraction_plan *p = s->p;
  const leat_node *node = p->item->node;
  const leat_type *a = leat_value_type(node->inputs[0]), *b = leat_value_type(node->inputs[1]);
  const leat_type *out = &node->outputs[0];
  int rank = out->rank;
  p->transposed = leat_node_attr(node, "transpose_a")->i != 0;
  p->one_b = b->rank == 2;
  bool joined = p->one_b && !p->transposed;
  for (int k = 0; k + 2 < rank; k++)
    *(joined ? &p->row_axes : &p->batch_axes) |= axis_bit(p->item, k);
  p->row_axes |= axis_bit(p->item, rank - 2);
  p->column_axis = p->item->axis[rank - 1];
  p->batch = leat_lower_product(&s->w, out->dims, joined ? 0 : rank - 2);
  p->rows = leat_lower_product(&s->w, out->dims + (joined ? 0 : rank - 2), joined ? rank - 1 : 1);
  p->columns = out->dims[rank - 1];
  p->depth = a->dims[p->transposed ? rank - 2 : rank - 1];
  p->deep = !leat_dim_is_const(p->depth) ||
            p->depth.value > (p->transposed ? MOST_DEPTH_ACROSS : MOST_DEPTH);
  p->long_sums = !leat_dim_is_const(p->depth) || p->depth.value > LEAT_PRODUCT_BLOCK;
}

// -- Blocks and panels ----------------------------------------------------------------------------

// Vectors of columns: few that hang over, rather more than fewer. Few rows only wait for b, which
// is read best in long runs.
static int choose_wide(const leat_target_info *target, leat_dim rows, leat_dim columns, int unit) {
  static const double slower[] = {0, 1.25, 1.05, 1}; // by the registers side by side
  int side = target->vector_registers / 8, most = unit < side ? side / unit : 1, best = most;
  if (!leat_dim_is_const(columns)) return best;
  double least = 0;
  int64_t vectors = (columns.value + LEAT_LANES - 1) / LEAT_LANES;
  if (leat_dim_is_const(rows) && rows.value >= 1 && rows.value <= FEW_ROWS && vectors > best) {
    int64_t wide = target->vector_registers / 2 / (rows.value * unit);
    if (wide > LEAT_MOST_VECTORS) wide = LEAT_MOST_VECTORS;
    return wide < 1 ? 1 : (int)(wide < vectors ? wide : vectors);
  }
  for (int wide = most; wide >= 1; wide--) {
    int64_t whole = (vectors + wide - 1) / wide * wide;
    int across = wide * unit;
    double cost = (double)whole * (across < 4 ? slower[across] : 1);
    if (least == 0 || cost < least) least = cost, best = wide;
  }
  return best;
}

// Rows that registers have room for, beside a row of b and what a takes.
static int most_high(const leat_target_info *target, int across, leat_dtype dtype) {
  int beside = across + !target->broadcasts + !target->has_fma;
  int room = target->vector_registers - beside, most = LEAT_ACCUMULATORS;
  if (leat_dtype_size(dtype) < 4) most -= WIDENING;
  if (most > room) most = room;
  return most < across ? 1 : most / across;
}

int leat_contraction_wide(const leat_target_info *target, leat_dim rows, leat_dim columns,
                          leat_dtype dtype) {
  return choose_wide(target, rows, columns, leat_vector_registers(target, dtype));
}

int leat_contraction_most_high(const leat_target_info *target, int wide, leat_dtype dtype) {
  return most_high(target, wide * leat_vector_registers(target, dtype), dtype);
}

// Rows: as many as registers allow, or fewer when all blocks are whole then.
static int choose_high(const leat_target_info *target, leat_dim rows, int wide, leat_dtype dtype) {
  int across = wide * leat_vector_registers(target, dtype);
  int most = most_high(target, across, dtype), least = LEAST_CHAINS / across;
  if (wide == 1 && most > 16) most = 16;
  if (!leat_dim_is_const(rows)) return most;
  if (rows.value <= most) return rows.value < 1 ? 1 : (int)rows.value;
  for (int high = most; high >= least && high > 1; high--)
    if (rows.value % high == 0) return high;
  return most;
}

// Of [k, row] an element is pages away from the next in k: it is read once, for many columns.
static bool is_far_apart(const contraction_planner *s) {
  const leat_contraction_plan *p = s->p;
  double bytes = leat_cost_extent(p->rows) * (double)leat_dtype_size(s->dtype);
  return p->transposed && bytes >= FAR_APART && leat_cost_extent(p->columns) >= 64;
}

static void choose_block(contraction_planner *s) {
  leat_contraction_plan *p = s->p;
  int unit = leat_vector_registers(s->target, s->dtype);
  bool turned = p->b == LEAT_OPERAND_TURNED;
  p->wide = turned ? 1 : choose_wide(s->target, p->rows, p->columns, unit);
  p->width = (int64_t)p->wide * LEAT_LANES;
  p->high = choose_high(s->target, p->rows, p->wide, s->dtype);
  p->panels = leat_lower_ceil_div(&s->w, p->columns, p->width);
}

leat_dim leat_contraction_matrices(const leat_contraction_plan *p) {
  return p->one_b ? leat_dim_const(1) : p->batch;
}

bool leat_contraction_packs(const leat_contraction_plan *p) {
  return p->b == LEAT_OPERAND_PACKED || p->b == LEAT_OPERAND_PREPARED;
}

bool leat_contraction_has_panels(const leat_contraction_plan *p) {
  return leat_contraction_packs(p) || p->b == LEAT_OPERAND_STORED;
}

// -- Operands that are computed, and panels -------------------------------------------------------

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
static leat_item *load_of_b(const contraction_planner *s) {
  const leat_node *node = s->p->item->node->inputs[1].node;
  while (node->info->reads == LEAT_READS_RESHAPED || node->info->reads == LEAT_READS_PERMUTED)
    node = node->inputs[0].node;
  if (node->op != LEAT_OP_load) return NULL;
  leat_item *load = leat_item_of(s->w.table, (leat_value){(leat_node *)node, 0});
  return is_multiplied(load, s->p->item) ? load : NULL;
}

static void read_no_more(leat_item *item, const leat_item *producer) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < item->reads.count; i++)
    if (item->reads.items[i]->producer != producer)
      item->reads.items[kept++] = item->reads.items[i];
  item->reads.count = kept;
}

// Where an artifact has the panels of b, as a value of `type`; NULL: they are made while running.
static leat_storage *stored_panels(contraction_planner *s, const leat_type *type) {
  const leat_contraction_plan *p = s->p;
  leat_codegen_state *cg = s->w.table->cg;
  const leat_file_table *files = cg->options->files;
  const leat_node *b = p->item->node->inputs[1].node;
  leat_item *load = files && files->place ? load_of_b(s) : NULL;
  leat_dim matrices = leat_contraction_matrices(p);
  if (!load || !leat_type_is_static(&b->outputs[0]) || !leat_dim_is_const(matrices)) return NULL;
  leat_panels panels = {matrices.value, p->depth.value, p->columns.value, p->width};
  leat_placed_file *placed = leat_new(cg->arena, leat_placed_file);
  leat_status status = files->place(files->context, b, &panels, placed, cg->error);
  if (status || placed->kind != LEAT_FILE_WITHIN) return NULL;
  read_no_more((leat_item *)p->item, load);
  return leat_storage_packed(cg, placed, type);
}

// Whether the value is made of what stays, in each run the same: variables that the step does not
// assign (`in_variable`: there are some), files and constants.
static bool is_kept(const contraction_planner *s, leat_value value, bool *in_variable) {
  const leat_item *item = leat_item_memory(s->w.table, value);
  const leat_node *node = item->node;
  if (item->role == LEAT_ROLE_FREE) {
    if (!leat_node_is_static(node)) return false;
    for (uint32_t i = 0; i < node->input_count; i++)
      if (!is_kept(s, node->inputs[i], in_variable)) return false;
    return node->input_count > 0;
  }
  *in_variable |= item->storage && item->storage->kind == LEAT_BUFFER_VARIABLE;
  return item->storage && leat_storage_is_kept(s->w.table->cg, item->storage);
}

static bool is_made_of(const contraction_planner *s, leat_value value, const leat_item *source) {
  const leat_item *item = leat_item_memory(s->w.table, value);
  bool found = item == source;
  for (uint32_t i = 0; item->role == LEAT_ROLE_FREE && i < item->node->input_count && !found; i++)
    found = is_made_of(s, item->node->inputs[i], source);
  return found;
}

// The product reads panels, not what these are made of, so that nobody may need that any more.
static void read_panels(const contraction_planner *s, leat_value value) {
  const leat_item *product = s->p->item, *item = leat_item_memory(s->w.table, value);
  if (item->role != LEAT_ROLE_FREE) {
    if (!is_made_of(s, product->node->inputs[0], item)) read_no_more((leat_item *)product, item);
    return;
  }
  for (uint32_t i = 0; i < item->node->input_count; i++) read_panels(s, item->node->inputs[i]);
}

// A body's panels may become memory of a kernel that is the whole loop; what initialises a variable
// runs once. What lies beside a variable takes memory, which is worth it only where it would be
// packed in each run.
static bool can_prepare(const contraction_planner *s, const leat_type *panels, bool would_pack) {
  const leat_table *table = s->w.table;
  bool in_variable = false;
  return !table->body && !table->initialises && leat_type_is_static(panels) &&
         is_kept(s, s->p->item->node->inputs[1], &in_variable) && (would_pack || !in_variable);
}

static leat_type type_of_panels(contraction_planner *s) {
  const leat_contraction_plan *p = s->p;
  leat_dim dims[] = {leat_contraction_matrices(p), p->panels, p->depth, leat_dim_const(p->width)};
  return (leat_type){.dtype = leat_value_type(p->item->node->inputs[1])->dtype,
                     .rank = 1,
                     .dims = {leat_lower_product(&s->w, dims, 4)}};
}

// All columns, if their b stays in a cache.
static int most_panels(const contraction_planner *s) {
  const leat_contraction_plan *p = s->p;
  int64_t most = tile_columns(s) / p->width;
  if (!leat_dim_is_const(p->panels) || most < 1 || p->panels.value < 1) return 1;
  if (p->b == LEAT_OPERAND_TURNED) return 1; // a row of what lies across is read in one go
  return (int)(p->panels.value < most ? p->panels.value : most);
}

static bool is_worth_packing(const contraction_planner *s) {
  const leat_type *b = leat_value_type(s->p->item->node->inputs[1]);
  double bytes = leat_cost_bytes(b);
  bool many = !leat_dim_is_const(s->p->rows) || s->p->rows.value >= PACKED_ROWS;
  return is_computed(s, 1) || (many && bytes >= (double)s->target->l2 / 2);
}

// Rows of b so far apart that few places of a cache are for all of them.
static bool collides(const contraction_planner *s) {
  const leat_dim columns = s->p->columns;
  int64_t size = (int64_t)leat_dtype_size(s->dtype);
  return leat_dim_is_const(columns) && columns.value * size % COLLIDING_BYTES == 0;
}

// A deep tile reads long pieces of b's rows, or all of them one after the other: that is as good as
// panels are, unless many rows make up for what packing takes.
static bool reads_well(const contraction_planner *s) {
  const leat_contraction_plan *p = s->p;
  bool many = !leat_dim_is_const(p->rows) || p->rows.value >= MANY_ROWS;
  bool all = leat_dim_is(p->panels, most_panels(s)), most = most_panels(s) > 1;
  return !is_computed(s, 1) && p->deep && !collides(s) && (all || (most && !many));
}

static bool same_panels(const leat_type *a, const leat_type *b) {
  return a->dtype == b->dtype && leat_dim_equal(a->dims[0], b->dims[0]);
}

static bool same_transform(const leat_contraction_plan *a, const leat_contraction_plan *b) {
  const leat_winograd_plan *x = a->winograd, *y = b->winograd;
  return x && y ? x->what.tile == y->what.tile && x->what.turned == y->what.turned : x == y;
}

// A product of the same b, before this one in its segment, may have packed it alike.
static void pack(contraction_planner *s, leat_unit *unit, const leat_type *type,
                 leat_operand_way way) {
  leat_contraction_plan *p = s->p;
  leat_table *table = s->w.table;
  const leat_type *b = leat_value_type(p->item->node->inputs[1]);
  const leat_unit *other = leat_map_get(&table->packed, b);
  p->b = way;
  if (other && other->task == unit->task && other->contraction->width == p->width &&
      other->contraction->b == way && same_transform(other->contraction, p) &&
      same_panels(&other->scratch->type, type)) {
    p->packed = other;
    unit->scratch = other->scratch;
  } else {
    unit->scratch = way == LEAT_OPERAND_PREPARED
                        ? leat_storage_prepared(table->cg, p->item->node, type)
                        : leat_storage_arena(table, type);
    leat_map_set(&table->packed, b, unit);
  }
}

// Few rows only wait for b, whose rows lie too far apart for a processor to see what comes.
static void choose_prefetching(contraction_planner *s) {
  leat_contraction_plan *p = s->p;
  bool few = leat_dim_is_const(p->rows) && p->rows.value <= MOST_STREAMED_ROWS;
  bool far = leat_cost_bytes(leat_value_type(p->item->node->inputs[1])) > (double)s->target->l2;
  if (few && far && p->b == LEAT_OPERAND_DIRECT) p->ahead = ROWS_AHEAD;
}

// Panels that an artifact has are rather read than squares turned, or rows.
static void choose_panels(contraction_planner *s, leat_unit *unit) {
  leat_contraction_plan *p = s->p;
  choose_block(s);
  if (!is_worth_packing(s)) return;
  leat_type type = type_of_panels(s);
  unit->scratch = stored_panels(s, &type);
  bool turns = p->across && leat_dim_is_const(p->rows) && p->rows.value <= MOST_TURNED_ROWS;
  if (unit->scratch) {
    p->b = LEAT_OPERAND_STORED;
  } else if (can_prepare(s, &type, !turns && !reads_well(s))) {
    pack(s, unit, &type, LEAT_OPERAND_PREPARED);
    read_panels(s, p->item->node->inputs[1]);
  } else if (turns) {
    p->b = LEAT_OPERAND_TURNED;
    choose_block(s);
  } else if (!reads_well(s)) {
    pack(s, unit, &type, LEAT_OPERAND_PACKED);
  }
}

// -- Tiles ----------------------------------------------------------------------------------------

static int64_t round_up(int64_t x, int64_t unit) {
  return (x + unit - 1) / unit * unit;
}

// Elements of k that are gathered together.
static int64_t depth_gathered(const leat_contraction_plan *p) {
  if (p->deep) return LEAT_DEPTH_BLOCK;
  return p->depth.value < 1 ? 1 : p->depth.value;
}

// What a tile's rows are a multiple of: blocks, and of a that is gathered by columns vectors, if
// there is room, so that a vector begins at a multiple of their size, where what lies in memory
// together often does.
static int64_t unit_of_rows(const contraction_planner *s) {
  const leat_contraction_plan *p = s->p;
  int64_t unit = p->high, row = depth_gathered(p) * (int64_t)leat_dtype_size(s->dtype);
  if (p->a != LEAT_OPERAND_GATHERED || !p->transposed) return unit;
  while (unit % LEAT_LANES) unit += p->high;
  return unit * row <= gathered_bytes(s) ? unit : p->high;
}

// Whole units that fit in `bytes`, of which a row takes so many elements: at least one.
static int64_t rows_within(const contraction_planner *s, int64_t bytes, int64_t elements) {
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
static bool is_worth_splitting(const contraction_planner *s) {
  const leat_contraction_plan *p = s->p;
  double sums = leat_cost_extent(p->batch) * leat_cost_extent(p->rows) *
                leat_cost_extent(p->panels) * (double)p->width;
  double bytes = count_parts(p) * sums * (double)leat_dtype_size(s->dtype);
  return count_parts(p) >= LEAST_PARTS && count_tiles(p) < s->target->cores &&
         bytes <= MOST_PARTS_BYTES;
}

// As large as its c and b may be, and smaller again while there are few of them.
static void choose_deep_tile(contraction_planner *s) {
  leat_contraction_plan *p = s->p;
  int64_t unit = unit_of_rows(s);
  p->tile_panels = most_panels(s);
  int64_t panel = unit * p->width * (int64_t)leat_dtype_size(s->dtype);
  while (p->tile_panels > 1 && p->tile_panels * panel > tile_bytes(s))
    p->tile_panels = (p->tile_panels + 1) / 2;
  p->tile_rows = rows_within(s, tile_bytes(s), p->tile_panels * p->width);
  if (leat_dim_is_const(p->rows) && p->rows.value < p->tile_rows)
    p->tile_rows = round_up(p->rows.value < 1 ? 1 : p->rows.value, unit);
  p->split = is_worth_splitting(s);
  double parts = p->split ? count_parts(p) : 1;
  while (count_tiles(p) * parts < s->target->cores) {
    if (p->tile_rows > 4 * unit)
      p->tile_rows -= unit;
    else if (p->tile_panels > 1)
      p->tile_panels = (p->tile_panels + 1) / 2;
    else if (p->tile_rows > unit)
      p->tile_rows -= unit;
    else
      break;
  }
}

// Of so many nanoseconds; of all columns, if there are enough such tiles.
static void choose_flat_tile(contraction_planner *s) {
  leat_contraction_plan *p = s->p;
  int64_t unit = unit_of_rows(s);
  double row =
      2.0 * (double)p->width * leat_cost_extent(p->depth) / leat_cost_flops(s->target, s->dtype);
  p->tile_rows = unit;
  p->tile_panels = most_panels(s);
  while (p->tile_panels > 1 && count_tiles(p) < s->target->cores)
    p->tile_panels = (p->tile_panels + 1) / 2;
  double units = LEAT_TILE_NANOSECONDS / (row * p->tile_panels * (double)unit + 1);
  p->tile_rows = ((int64_t)units + 1) * unit;
}

// Elements of a's last axis that lie together: of windows, whose last two axes a has as one.
static int64_t find_run(const contraction_planner *s) {
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
  return last.value / run * (round_up(run, LEAT_LANES) / LEAT_LANES) <= MOST_RUNS ? run : 0;
}

// Of a: so many rows together as leave room for what else is near. What is gathered by runs is all
// of a's last axis, and hangs over by less than a vector.
static void choose_gathering(contraction_planner *s) {
  leat_contraction_plan *p = s->p;
  int64_t depth = depth_gathered(p);
  int64_t most = rows_within(s, gathered_bytes(s), round_up(depth, LEAT_LANES));
  p->gathered_rows = p->tile_rows < most ? p->tile_rows : most;
  if (!p->deep) p->tile_rows = p->gathered_rows;
  bool all =
      p->transposed ? leat_dim_is_const(p->rows) && p->rows.value <= p->gathered_rows : !p->deep;
  p->run = all ? find_run(s) : 0;
  int64_t fast = p->transposed ? p->gathered_rows : depth;
  int64_t vectors = round_up(fast, LEAT_LANES) / LEAT_LANES;
  p->gathered_vectors = (int)(vectors < MOST_GATHERED ? vectors : MOST_GATHERED);
  p->pitch = round_up(fast, (int64_t)p->gathered_vectors * LEAT_LANES);
  if (p->run) p->pitch = round_up(fast + LEAT_LANES - 1, LEAT_LANES);
  p->gathered = p->pitch * (p->transposed ? depth : p->gathered_rows);
}

// As many tiles, alike.
static void even_out(contraction_planner *s) {
  leat_contraction_plan *p = s->p;
  if (!leat_dim_is_const(p->rows) || p->rows.value < 1) return;
  int64_t tiles = (p->rows.value + p->tile_rows - 1) / p->tile_rows;
  p->tile_rows = round_up((p->rows.value + tiles - 1) / tiles, unit_of_rows(s));
}

static void choose_tile(contraction_planner *s) {
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

// Room for the sums of all parts: [part, batch, row, column], whole panels of columns.
static leat_storage *make_room_for_parts(contraction_planner *s) {
  const leat_contraction_plan *p = s->p;
  leat_dim dims[] = {p->parts, p->batch, p->rows, p->panels, leat_dim_const(p->width)};
  leat_type type = {.dtype = s->dtype, .rank = 1, .dims = {leat_lower_product(&s->w, dims, 5)}};
  return leat_storage_arena(s->w.table, &type);
}

void leat_contract_prepare(leat_table *table, leat_unit *unit) {
  contraction_planner s = {.w = {.table = table, .unit = unit},
                           .target = table->cg->options->target};
  s.p = leat_new(table->cg->arena, leat_contraction_plan);
  for (uint32_t i = 0; i < unit->members.count; i++)
    if (unit->members.items[i]->node->info->kind == LEAT_KIND_CONTRACT)
      s.p->item = unit->members.items[i];
  s.dtype = s.p->item->node->outputs[0].dtype;
  unit->contraction = s.p;
  if (leat_winograd_of(s.p->item->node).weights) {
    leat_winograd_prepare_weights(table, unit, s.p);
    return;
  }
  if (leat_winograd_of(s.p->item->node).tile) {
    leat_type weights = leat_winograd_prepare(table, unit, s.p);
    bool once = can_prepare(&s, &weights, true);
    pack(&s, unit, &weights, once ? LEAT_OPERAND_PREPARED : LEAT_OPERAND_PACKED);
    return;
  }
  choose_axes(&s);
  s.p->across = lies_across(&s);
  if (is_computed(&s, 0) || is_far_apart(&s)) s.p->a = LEAT_OPERAND_GATHERED;
  choose_panels(&s, unit);
  choose_prefetching(&s);
  choose_tile(&s);
  if (s.p->split) unit->parts = make_room_for_parts(&s);
}
