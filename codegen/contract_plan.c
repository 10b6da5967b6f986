// Chooses the plan of a contraction: which axes are rows, columns and depth, how each operand is
// read, and the sizes of blocks and panels; contract_tiles.c has those of tiles.
#include "codegen/contract_planner.h"
#include "codegen/stages.h"
#include "ops/reduce.h"

#include <math.h>

enum {
  SMALL_SQUARE = 4,      // elements of vectors that one instruction puts together, of any CPU
  NARROW_SUMS = 8,       // of a small square's columns each
  WIDENING = 10,         // vector registers that products of narrow integers take
  LEAST_CHAINS = 10,     // accumulators that hide the latency of an fma
  MOST_NARROW_ROWS = 16, // of a block of one vector
  FEW_ROWS = 4,
  MOST_TURNED_ROWS = 8,    // above, packing b costs less
  MOST_TURNED_SMALL = 4,   // the same in small squares
  PACKED_ROWS = 48,        // that are worth packing b, if it is too large for a cache
  MOST_TILED_ROWS = 64,    // that are a tile, which so may pack b for itself
  MANY_ROWS = 1024,        // from which packing costs next to nothing
  REUSED_ROWS = 384,       // the same, if panels stay in a first cache
  FAR_APART = 256,         // bytes from one k to the next, for many columns
  COLLIDING_BYTES = 2048,  // from one row of b to the next
  MOST_DEPTH = 1024,       // elements of k in one go …
  MOST_DEPTH_ACROSS = 512, // … of a by columns, whose rows are read in longer pieces then
  ROWS_AHEAD = 8,          // of b …
  MOST_ROWS_WAITING = 16,  // … that so many of c at most ask for
};

static const double BESIDE_CHAINS = 0.7; // of an fma, for what a block loads of a row of b
static const double WORTH_FEWER = 0.96;  // of what more rows in a block take …
static const double WORTH_WHOLE = 1.02;  // … and of the least, where all blocks are whole

// -- Axes -----------------------------------------------------------------------------------------

static unsigned axis_bit(const leat_item *item, int k) {
  return item->axis[k] < 0 ? 0 : 1u << item->axis[k];
}

static bool is_computed(const leat_contraction_planner *s, uint32_t i) {
  return leat_item_memory(s->w.table, s->p->item->node->inputs[i])->role == LEAT_ROLE_FREE;
}

// Whether b is what lies in memory with its last two axes in each other's place.
static bool lies_across(const leat_contraction_planner *s) {
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

// Elements along a square of what lies across: a vector, if registers have room for all of it.
static int choose_square(const leat_contraction_planner *s) {
  int registers = LEAT_LANES * leat_vector_registers(s->target, s->dtype);
  return registers <= s->target->vector_registers ? LEAT_LANES : SMALL_SQUARE;
}

static void choose_axes(leat_contraction_planner *s) {
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
    int64_t whole = leat_round_up(vectors, wide);
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

// Of a block: an fma for each accumulator, or, where they are few, its latency, and what it loads.
static double cost_of_block(int64_t high, int across) {
  return high ? fmax((double)high * across, LEAST_CHAINS) + BESIDE_CHAINS : 0;
}

// Those that are left over are a block of their own, but of a deep product one more of the others.
static double cost_of_rows(const leat_contraction_plan *p, int high, int across) {
  int64_t blocks = p->rows.value / high, rest = p->rows.value % high;
  if (p->deep && rest) rest = high;
  return (double)blocks * cost_of_block(high, across) + cost_of_block(rest, across);
}

// Rows: as many as registers allow, or fewer where what is left over costs less then, or where
// nothing is, which is less code.
static int choose_high(const leat_contraction_planner *s) {
  const leat_contraction_plan *p = s->p;
  int across = p->wide * leat_vector_registers(s->target, s->dtype);
  int most = most_high(s->target, across, s->dtype), best;
  if (p->wide == 1 && most > MOST_NARROW_ROWS) most = MOST_NARROW_ROWS;
  if (!leat_dim_is_const(p->rows)) return most;
  if (p->rows.value <= most) return p->rows.value < 1 ? 1 : (int)p->rows.value;
  best = most;
  for (int high = most - 1; high > 1; high--)
    if (cost_of_rows(p, high, across) < WORTH_FEWER * cost_of_rows(p, best, across)) best = high;
  double least = cost_of_rows(p, best, across);
  for (int high = most; high > 1; high--)
    if (p->rows.value % high == 0 && cost_of_rows(p, high, across) <= WORTH_WHOLE * least)
      return high;
  return best;
}

// Of [k, row] an element is pages away from the next in k: it is read once, for many columns.
static bool is_far_apart(const leat_contraction_planner *s) {
  const leat_contraction_plan *p = s->p;
  double bytes = leat_cost_extent(p->rows) * (double)leat_dtype_size(s->dtype);
  double columns = leat_cost_extent(p->columns);
  return p->transposed && columns >= 64 && bytes >= FAR_APART && bytes * columns >= 128 * FAR_APART;
}

static void choose_block(leat_contraction_planner *s) {
  leat_contraction_plan *p = s->p;
  int unit = leat_vector_registers(s->target, s->dtype);
  bool turned = p->b == LEAT_OPERAND_TURNED;
  p->wide = turned ? 1 : choose_wide(s->target, p->rows, p->columns, unit);
  p->width = (int64_t)p->wide * LEAT_LANES;
  p->high = choose_high(s);
  p->panels = leat_lower_ceil_div(&s->w, p->columns, p->width);
}

// The last panel holds as few registers as its columns need, and so more rows: where masks cost, it
// is the only one that has any.
static void choose_last_block(leat_contraction_planner *s) {
  leat_contraction_plan *p = s->p;
  int64_t rest = leat_dim_is_const(p->columns) ? p->columns.value % p->width : 0;
  if (rest < 1 || p->b == LEAT_OPERAND_TURNED) return;
  int least = LEAT_LANES / leat_vector_registers(s->target, s->dtype), lanes = LEAT_LANES;
  while (lanes > least && lanes / 2 >= rest) lanes /= 2;
  leat_block last = {p->high, (int)((rest + lanes - 1) / lanes), lanes};
  int across = last.wide * leat_vector_registers(s->target, s->dtype) * lanes / LEAT_LANES;
  int most = most_high(s->target, across, s->dtype);
  if (last.wide == 1 && most > MOST_NARROW_ROWS) most = MOST_NARROW_ROWS;
  bool several = !leat_dim_is_const(p->rows) || p->rows.value > p->high;
  if (several && !p->strips) last.high = most / p->high * p->high;
  if (last.high < p->high) last.high = p->high;
  if (!s->target->masks || last.wide < p->wide) p->last = last;
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
static leat_item *load_of_b(const leat_contraction_planner *s) {
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
static leat_storage *stored_panels(leat_contraction_planner *s, const leat_type *type) {
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

static bool is_made_of(const leat_contraction_planner *s, leat_value value,
                       const leat_item *source) {
  const leat_item *item = leat_item_memory(s->w.table, value);
  bool found = item == source;
  for (uint32_t i = 0; item->role == LEAT_ROLE_FREE && i < item->node->input_count && !found; i++)
    found = is_made_of(s, item->node->inputs[i], source);
  return found;
}

// The product reads panels, not what these are made of, so that nobody may need that any more.
static void read_panels(const leat_contraction_planner *s, leat_value value) {
  const leat_item *product = s->p->item, *item = leat_item_memory(s->w.table, value);
  if (item->role != LEAT_ROLE_FREE) {
    if (!is_made_of(s, product->node->inputs[0], item)) read_no_more((leat_item *)product, item);
    return;
  }
  for (uint32_t i = 0; i < item->node->input_count; i++) read_panels(s, item->node->inputs[i]);
}

// What lies beside a variable takes memory, which is worth it only where it would be packed in each
// run.
static bool can_prepare(const leat_panels_home *home, bool would_pack) {
  return home->kept && (would_pack || !home->in_variable);
}

// What is of run-time size is packed where it is multiplied.
static leat_panels_home home_of(const leat_contraction_planner *s, const leat_type *panels) {
  leat_panels_home here = {.table = s->w.table};
  if (!leat_type_is_static(panels)) return here;
  return leat_panels_find_home(s->w.table, s->p->item->node->inputs[1]);
}

static leat_type type_of_panels(leat_contraction_planner *s) {
  const leat_contraction_plan *p = s->p;
  leat_dim dims[] = {leat_contraction_matrices(p), p->panels, p->depth, leat_dim_const(p->width)};
  return (leat_type){.dtype = leat_value_type(p->item->node->inputs[1])->dtype,
                     .rank = 1,
                     .dims = {leat_lower_product(&s->w, dims, 4)}};
}

// Whether panels stay in a first cache while so many rows are multiplied by them that these make up
// for packing; in place the rows of b are mostly too far apart to stay there.
static bool stays_near(const leat_contraction_planner *s) {
  const leat_contraction_plan *p = s->p;
  int64_t panel = LEAT_DEPTH_BLOCK * p->width * (int64_t)leat_dtype_size(s->dtype);
  return panel <= s->target->l1 / 2 && leat_dim_is_const(p->rows) && p->rows.value >= REUSED_ROWS;
}

// What lies so far apart, in elements, that few places of a cache are for all of it.
static bool collide(const leat_contraction_planner *s, leat_dim apart) {
  int64_t size = (int64_t)leat_dtype_size(s->dtype);
  return leat_dim_is_const(apart) && apart.value * size % COLLIDING_BYTES == 0;
}

static bool collides(const leat_contraction_planner *s) {
  return collide(s, s->p->columns);
}

// Whether other products of it would share its panels.
static bool is_multiplied_elsewhere(const leat_contraction_planner *s) {
  const leat_value b = s->p->item->node->inputs[1];
  const leat_item *item = leat_item_of(s->w.table, b);
  if (item->role == LEAT_ROLE_FREE) return item->readers > 1;
  for (uint32_t i = 0; i < item->users.count; i++) {
    const leat_item *user = item->users.items[i]->consumer;
    if (user != s->p->item && user->node->info->kind == LEAT_KIND_CONTRACT &&
        leat_item_of(s->w.table, user->node->inputs[1]) == item)
      return true;
  }
  return item->role == LEAT_ROLE_ALIAS;
}

// A tile that has all rows packs what it needs of b near to where it multiplies: else that would be
// written to memory, and read from there. Fewer rows stream through what lies well.
static bool is_worth_tiling(const leat_contraction_planner *s) {
  const leat_contraction_plan *p = s->p;
  int64_t rows = leat_dim_is_const(p->rows) ? p->rows.value : MOST_TILED_ROWS + 1;
  bool again = rows > p->high && (rows >= PACKED_ROWS || collides(s));
  bool far = leat_cost_bytes(leat_value_type(p->item->node->inputs[1])) > (double)s->target->l2;
  return rows > FEW_ROWS && rows <= MOST_TILED_ROWS && (again || is_computed(s, 1)) && far &&
         p->a == LEAT_OPERAND_DIRECT && leat_dim_is(p->batch, 1) && !is_multiplied_elsewhere(s);
}

// Of what lies across: whether its rows are few enough to turn squares of b in registers.
static bool is_worth_turning(const leat_contraction_planner *s) {
  const leat_contraction_plan *p = s->p;
  int64_t most = p->square == LEAT_LANES ? MOST_TURNED_ROWS : MOST_TURNED_SMALL;
  return p->across && leat_dim_is_const(p->rows) && p->rows.value <= most;
}

// So many squares side by side that their sums hide how long an fma takes, unless what is read of
// their columns would collide.
static int choose_squares(const leat_contraction_planner *s) {
  if (s->p->square == LEAT_LANES) return 1;
  int squares = collide(s, s->p->depth) ? 2 : LEAT_LANES / SMALL_SQUARE;
  while (squares > 1 && squares * s->p->high > NARROW_SUMS) squares /= 2;
  return squares;
}

// For one product, or for all of a loop's turns.
static bool is_worth_packing(const leat_contraction_planner *s, const leat_panels_home *home) {
  double bytes = leat_cost_bytes(leat_value_type(s->p->item->node->inputs[1]));
  bool many = !leat_dim_is_const(s->p->rows) || s->p->rows.value >= PACKED_ROWS || home->region;
  bool large = bytes >= (double)s->target->l2 / 2;
  return is_computed(s, 1) || (many && large) || is_worth_tiling(s) ||
         (stays_near(s) && bytes >= 4 * (double)s->target->l1);
}

// A deep tile reads long pieces of b's rows, or all of them one after the other: that is as good as
// panels are, unless these stay nearer or many rows make up for what packing takes.
static bool reads_well(const leat_contraction_planner *s) {
  const leat_contraction_plan *p = s->p;
  bool many = !leat_dim_is_const(p->rows) || p->rows.value >= MANY_ROWS;
  int most = leat_contraction_most_panels(s);
  bool all = leat_dim_is(p->panels, most);
  return !is_computed(s, 1) && p->deep && !collides(s) && !stays_near(s) &&
         (all || (most > 1 && !many));
}

static bool same_panels(const leat_type *a, const leat_type *b) {
  return a->dtype == b->dtype && leat_dim_equal(a->dims[0], b->dims[0]);
}

static bool same_transform(const leat_contraction_plan *a, const leat_contraction_plan *b) {
  const leat_winograd_plan *x = a->winograd, *y = b->winograd;
  return x && y ? x->what.tile == y->what.tile && x->what.turned == y->what.turned : x == y;
}

static leat_storage *new_panels(const leat_contraction_planner *s, const leat_panels_home *home,
                                const leat_type *type) {
  leat_codegen_state *cg = s->w.table->cg;
  leat_storage *panels = s->p->b == LEAT_OPERAND_PREPARED
                             ? leat_storage_prepared(cg, s->p->item->node, type)
                             : leat_storage_arena(home->table, type);
  if (home->region) leat_vec_push(cg->arena, &home->region->region.panels, panels);
  return panels;
}

// A product of the same b, before this one in its segment, may have packed it alike.
static void pack(leat_contraction_planner *s, leat_unit *unit, const leat_type *type,
                 leat_operand_way way, const leat_panels_home *home) {
  leat_contraction_plan *p = s->p;
  leat_table *table = s->w.table;
  const leat_type *b = leat_value_type(p->item->node->inputs[1]);
  const leat_unit *other = leat_map_get(&table->packed, b);
  p->b = way;
  p->ahead_of = home->region;
  if (other && other->task == unit->task && other->contraction->width == p->width &&
      other->contraction->b == way && same_transform(other->contraction, p) &&
      same_panels(&other->scratch->type, type)) {
    p->packed = other;
    unit->scratch = other->scratch;
  } else {
    unit->scratch = new_panels(s, home, type);
    leat_map_set(&table->packed, b, unit);
  }
}

// Few rows only wait for b, whose rows lie too far apart for a processor to see what comes. What a
// tile packs next is on its way while it multiplies.
static void choose_prefetching(leat_contraction_planner *s) {
  leat_contraction_plan *p = s->p;
  bool few = leat_dim_is_const(p->rows) && p->rows.value <= MOST_ROWS_WAITING;
  bool far = leat_cost_bytes(leat_value_type(p->item->node->inputs[1])) > (double)s->target->l2;
  if (few && far && p->b == LEAT_OPERAND_DIRECT) p->ahead = ROWS_AHEAD;
  if (p->b == LEAT_OPERAND_TILED && !is_computed(s, 1)) p->ahead = LEAT_DEPTH_BLOCK;
}

// Panels that an artifact has are rather read than squares turned, or rows.
static void choose_panels(leat_contraction_planner *s, leat_unit *unit) {
  leat_contraction_plan *p = s->p;
  choose_block(s);
  leat_type type = type_of_panels(s);
  leat_panels_home home = home_of(s, &type);
  if (!is_worth_packing(s, &home)) return;
  unit->scratch = stored_panels(s, &type);
  bool turns = !home.region && is_worth_turning(s);
  if (unit->scratch) {
    p->b = LEAT_OPERAND_STORED;
  } else if (can_prepare(&home, !turns && !reads_well(s))) {
    pack(s, unit, &type, LEAT_OPERAND_PREPARED, &home);
    read_panels(s, p->item->node->inputs[1]);
  } else if (turns) {
    p->b = LEAT_OPERAND_TURNED;
    choose_block(s);
    p->squares = choose_squares(s);
  } else if (!reads_well(s) && !home.region && is_worth_tiling(s)) {
    p->b = LEAT_OPERAND_TILED;
    p->deep = true;
  } else if (!reads_well(s)) {
    pack(s, unit, &type, LEAT_OPERAND_PACKED, &home);
  }
}

// Room for the sums of all parts: [part, batch, row, column], whole panels of columns.
static leat_storage *make_room_for_parts(leat_contraction_planner *s) {
  const leat_contraction_plan *p = s->p;
  leat_dim dims[] = {p->parts, p->batch, p->rows, p->panels, leat_dim_const(p->width)};
  leat_type type = {.dtype = s->dtype, .rank = 1, .dims = {leat_lower_product(&s->w, dims, 5)}};
  return leat_storage_arena(s->w.table, &type);
}

// Of a, which lies by columns: of each k a block's rows are copied as lanes.
static void choose_strips(leat_contraction_planner *s) {
  leat_contraction_plan *p = s->p;
  if (p->high < 2 || p->high > LEAT_LANES) return;
  p->strips = 1;
  for (p->strip_lanes = 2; p->strip_lanes < p->high;) p->strip_lanes *= 2;
}

// -- A unit ---------------------------------------------------------------------------------------

static leat_contraction_planner begin(leat_table *table, leat_unit *unit) {
  leat_contraction_planner s = {.w = {.table = table, .unit = unit},
                                .target = table->cg->options->target};
  s.p = leat_new(table->cg->arena, leat_contraction_plan);
  s.p->item = leat_unit_product(unit);
  s.dtype = s.p->item->node->outputs[0].dtype;
  unit->contraction = s.p;
  return s;
}

static void choose_operands(leat_contraction_planner *s, leat_unit *unit) {
  choose_axes(s);
  s->p->across = lies_across(s);
  s->p->square = choose_square(s);
  s->p->reads_over = !s->target->masks;
  if (is_computed(s, 0) || is_far_apart(s)) s->p->a = LEAT_OPERAND_GATHERED;
  choose_panels(s, unit);
  if (s->p->a == LEAT_OPERAND_GATHERED && !is_computed(s, 0)) choose_strips(s);
  choose_last_block(s);
  choose_prefetching(s);
}

// -- A chain --------------------------------------------------------------------------------------

// The products of a chain have the same tiles: some rows of all columns.
static void prepare_chain(leat_table *table, leat_unit *unit) {
  leat_unit *before = unit->chain.items[0];
  before->task = unit->task;
  leat_contraction_planner first = begin(table, before), last = begin(table, unit);
  choose_operands(&first, before);
  choose_operands(&last, unit);
  last.p->a = LEAT_OPERAND_MADE;
  leat_contraction_choose_chain_tile(&first, &last, unit);
}

void leat_contract_prepare(leat_table *table, leat_unit *unit) {
  if (unit->chain.count) {
    prepare_chain(table, unit);
    return;
  }
  leat_contraction_planner s = begin(table, unit);
  if (leat_winograd_of(s.p->item->node).weights) {
    leat_winograd_prepare_weights(table, unit, s.p);
    return;
  }
  if (leat_winograd_of(s.p->item->node).tile) {
    leat_type weights = leat_winograd_prepare(table, unit, s.p);
    leat_panels_home home = home_of(&s, &weights);
    pack(&s, unit, &weights, home.kept ? LEAT_OPERAND_PREPARED : LEAT_OPERAND_PACKED, &home);
    return;
  }
  if (leat_is_depthwise(s.p->item->node)) {
    leat_depthwise_prepare(table, unit, s.p);
    return;
  }
  choose_operands(&s, unit);
  leat_contraction_choose_tile(&s);
  if (s.p->split) unit->parts = make_room_for_parts(&s);
}
