// Chains: a product whose left operand is made of another product's rows by loops (attention: the
// scores, their softmax, the values) becomes one unit with these. Its kernel makes a tile of rows
// of the first product in a local array, goes over them, and multiplies what comes of it, so that
// what lies between the products is never whole, unless others read it.
//
// Each of the three stays a unit with a space and a plan of its own; the last one, which is
// launched, has the others as its `chain`. An element is computed as ever: no bit changes.
#include "codegen/contract_plan.h"
#include "codegen/lower.h"
#include "codegen/stages.h"

enum {
  MOST_DEPTH = 1024,   // of the first product, so that its k is not in blocks
  LEAST_ROWS = 12,     // of a tile, for which b is read once
  SPARE_NUMBERS = 256, // of a row, for whole panels
};

typedef struct row_chain {
  leat_table *table;
  leat_unit *first, *loops, *last; // the products, and what is between
  leat_item *a;                    // of the last one
} row_chain;

leat_item *leat_unit_product(const leat_unit *unit) {
  for (uint32_t i = 0; i < unit->members.count; i++)
    if (unit->members.items[i]->node->info->kind == LEAT_KIND_CONTRACT)
      return unit->members.items[i];
  return NULL;
}

// -- Do they fit? ---------------------------------------------------------------------------------

static bool is_plain(const leat_item *product) {
  const leat_node *node = product->node;
  return !leat_winograd_of(node).tile && !leat_is_depthwise(node) &&
         !leat_node_attr(node, "transpose_a")->i && leat_node_is_static(node);
}

// Matrices that share b are one with all rows.
static leat_dim rows_of(const leat_node *node) {
  const leat_type *out = &node->outputs[0];
  int64_t rows = 1;
  int first = leat_value_type(node->inputs[1])->rank == 2 ? 0 : out->rank - 2;
  for (int k = first; k < out->rank - 1; k++) rows *= out->dims[k].value;
  return leat_dim_const(rows);
}

// Its elements lie as the unit's space has them.
static bool has_axes_of(const leat_item *item, const leat_unit *unit) {
  int next = 0;
  for (int k = 0; k < leat_item_type(item)->rank; k++) {
    int axis = leat_item_result_axis(item, k);
    if (axis >= 0 && item->axis[axis] >= 0 && item->axis[axis] != next++) return false;
  }
  return next == unit->rank;
}

static bool same_space(const leat_unit *a, const leat_unit *b) {
  bool same = a->rank == b->rank;
  for (int k = 0; same && k < a->rank; k++) same = leat_dim_equal(a->dims[k], b->dims[k]);
  return same;
}

// Rows are folded whole, each by itself.
static bool goes_over_rows(const leat_unit *unit) {
  unsigned last = unit->rank ? 1u << (unit->rank - 1) : 0;
  return unit->kind == LEAT_UNIT_LOOPS && unit->rank > 1 && unit->by_lanes &&
         unit->reduced == last && unit->innermost == last && !leat_unit_is_long(unit);
}

// At the reader's own position in a space that is the same.
static bool is_read_in_place(const leat_access *access) {
  const leat_item *producer = access->producer, *consumer = access->consumer;
  if (!access->aligned) return false;
  for (int k = 0; k < leat_item_type(producer)->rank; k++) {
    int result = leat_item_result_axis(producer, k);
    int made = result < 0 ? -1 : producer->axis[result];
    int read = access->axis[k] < 0 ? -1 : consumer->axis[access->axis[k]];
    if (made != read) return false;
  }
  return true;
}

static leat_unit *unit_of(const leat_item *item) {
  return item->unit ? leat_unit_of(item->unit) : NULL;
}

// What is stored in memory that is not its own may be what another tile reads.
static bool has_own_outputs(const leat_unit *unit) {
  for (uint32_t i = 0; i < unit->outputs.count; i++) {
    const leat_output *output = &unit->outputs.items[i];
    bool own = output->storage->kind == LEAT_BUFFER_ARENA && !output->storage->place.pool;
    if (!own || k_words(output->storage->type.dtype) > 1 || output->into) return false;
  }
  return unit->outputs.count > 0;
}

// The product that the loops read; NULL: none, or several.
static leat_unit *product_before(const leat_unit *loops) {
  leat_unit *found = NULL;
  for (uint32_t i = 0; i < loops->members.count; i++) {
    const leat_item *item = loops->members.items[i];
    for (uint32_t j = 0; j < item->reads.count; j++) {
      leat_unit *unit = unit_of(item->reads.items[j]->producer);
      if (!unit || unit == loops || unit->kind != LEAT_UNIT_CONTRACT || unit->chained) continue;
      if (!same_space(unit, loops) || (found && found != unit)) return NULL;
      found = unit;
    }
  }
  return found;
}

// The last product reads nothing else of the others than its `a`, the loops nothing elsewhere.
static bool reads_by_rows(const row_chain *c) {
  uint32_t of_a = 0;
  for (uint32_t i = 0; i < c->last->members.count; i++) {
    const leat_item *item = c->last->members.items[i];
    for (uint32_t j = 0; j < item->reads.count; j++) {
      const leat_unit *unit = unit_of(item->reads.items[j]->producer);
      if (unit == c->first || (unit == c->loops && item->reads.items[j]->producer != c->a))
        return false;
      of_a += unit == c->loops;
    }
  }
  for (uint32_t i = 0; i < c->loops->members.count; i++) {
    const leat_item *item = c->loops->members.items[i];
    for (uint32_t j = 0; j < item->reads.count; j++)
      if (unit_of(item->reads.items[j]->producer) == c->first &&
          !is_read_in_place(item->reads.items[j]))
        return false;
  }
  return of_a == 1;
}

// Only the chain reads it.
static bool is_within(const row_chain *c, const leat_item *item) {
  for (uint32_t i = 0; i < item->users.count; i++) {
    const leat_item *user = item->users.items[i]->consumer;
    const leat_unit *unit = unit_of(user);
    bool within = unit && (unit == c->first || unit == c->loops || unit == c->last);
    if (!within || user->node->op == LEAT_OP_fetch) return false;
  }
  return true;
}

static bool find(leat_table *table, leat_unit *last, row_chain *c) {
  leat_item *product = last->kind == LEAT_UNIT_CONTRACT ? leat_unit_product(last) : NULL;
  *c = (row_chain){.table = table, .last = last};
  if (!product || last->chain.count || last->chained || !is_plain(product)) return false;
  c->a = leat_item_memory(table, product->node->inputs[0]);
  c->loops = c->a->role == LEAT_ROLE_WORK ? unit_of(c->a) : NULL;
  if (!c->loops || c->loops->chained || !goes_over_rows(c->loops)) return false;
  c->first = product_before(c->loops);
  if (!c->first || c->first->chain.count) return false;
  const leat_item *before = leat_unit_product(c->first);
  if (!is_plain(before) || leat_contraction_depth(before->node).value > MOST_DEPTH ||
      !leat_dim_equal(rows_of(before->node), rows_of(product->node)) ||
      !has_axes_of(before, c->first) || !has_axes_of(c->a, c->loops))
    return false;
  for (uint32_t i = 0; i < c->first->outputs.count; i++)
    if (!has_axes_of(c->first->outputs.items[i].item, c->first)) return false;
  return reads_by_rows(c) && has_own_outputs(c->first) && has_own_outputs(c->loops) &&
         has_own_outputs(c->last) && !leat_unit_is_fenced(c->loops, c->first) &&
         !leat_unit_is_fenced(c->last, c->first) && !leat_unit_is_fenced(c->last, c->loops);
}

// -- Is it worth it? ------------------------------------------------------------------------------

// The output of the first product whose place `a` takes; NULL: none, or others read `a`.
static leat_storage *place_of_a(const row_chain *c) {
  if (!is_within(c, c->a) || !leat_unit_makes_last(c->loops, c->a)) return NULL;
  for (uint32_t i = 0; i < c->first->outputs.count; i++) {
    const leat_output *output = &c->first->outputs.items[i];
    bool same = output->storage->type.dtype == c->a->storage->type.dtype;
    if (same && is_within(c, output->item)) return output->storage;
  }
  return NULL;
}

// Of what only the chain reads, in tiles.
static double bytes_within(const row_chain *c) {
  double bytes = 0;
  for (uint32_t i = 0; i < c->first->outputs.count; i++) {
    const leat_item *item = c->first->outputs.items[i].item;
    if (is_within(c, item)) bytes += leat_cost_bytes(leat_item_type(item));
  }
  bool own = bytes > 0 && is_within(c, c->a) && !place_of_a(c);
  return own ? bytes + leat_cost_bytes(leat_item_type(c->a)) : bytes;
}

// Of what stays in a cache until the last product has read it, in tiles or stored.
static double bytes_at_hand(const row_chain *c) {
  double bytes = bytes_within(c);
  return is_within(c, c->a) ? bytes : bytes + leat_cost_bytes(leat_item_type(c->a));
}

// Of a row of what the kernel computes besides: operands that it gathers, sums that it goes on
// with.
static double bytes_beside(const row_chain *c) {
  const leat_node *first = leat_unit_product(c->first)->node,
                  *last = leat_unit_product(c->last)->node;
  const leat_type *out = &last->outputs[0];
  double numbers = leat_cost_extent(leat_contraction_depth(first)) +
                   2 * leat_cost_extent(out->dims[out->rank - 1]) + SPARE_NUMBERS;
  return numbers * (double)leat_dtype_size(out->dtype);
}

static bool stores_nothing(const row_chain *c, const leat_unit *unit) {
  bool within = true;
  for (uint32_t i = 0; within && i < unit->outputs.count; i++)
    within = is_within(c, unit->outputs.items[i].item);
  return within;
}

// A chain does not run again (recompute.c): what it stores on the way would be kept.
static bool keeps_to_limit(const row_chain *c) {
  bool limited = c->table->cg->options->memory_limit > 0;
  return !limited || (stores_nothing(c, c->first) && stores_nothing(c, c->loops));
}

static double bytes_of_b(const leat_unit *unit) {
  const leat_type *b = leat_value_type(leat_unit_product(unit)->node->inputs[1]);
  return leat_cost_extent(b->dims[b->rank - 2]) * leat_cost_extent(b->dims[b->rank - 1]) *
         (double)leat_dtype_size(b->dtype);
}

// The cache from which each tile reads both b: what lies between is read from there, too, if it
// stays.
static double cache_of_b(const row_chain *c) {
  const leat_target_info *target = c->table->cg->options->target;
  double half = (double)target->l2 / 2;
  bool near = bytes_of_b(c->first) <= half && bytes_of_b(c->last) <= half;
  return (double)(near ? target->l2 : target->l3);
}

// What lies between the products is neither stored nor read again, which counts where it would not
// stay in the cache that has their b, if a tile has enough rows and there are enough tiles.
static bool gains(const row_chain *c) {
  const leat_target_info *target = c->table->cg->options->target;
  double rows = leat_cost_elements(c->loops->dims, c->loops->rank - 1);
  double matrix = leat_cost_extent(rows_of(leat_unit_product(c->last)->node));
  double least = matrix < LEAST_ROWS ? matrix : LEAST_ROWS;
  return bytes_within(c) > cache_of_b(c) &&
         least * (bytes_at_hand(c) / rows + bytes_beside(c)) <= LEAT_MOST_TILE_BYTES &&
         rows / least >= (double)target->cores;
}

// -- Joining --------------------------------------------------------------------------------------

static void keep_in_tile(const row_chain *c, leat_unit *unit) {
  for (uint32_t i = 0; i < unit->outputs.count; i++)
    if (is_within(c, unit->outputs.items[i].item)) unit->outputs.items[i].storage->in_tile = true;
}

static void join(row_chain *c) {
  leat_arena *arena = c->table->cg->arena;
  uint32_t before = c->last->before.count;
  if (c->loops->recvs != c->first->recvs) return;
  c->loops->chained = c->last;
  for (uint32_t i = 0; i < c->loops->before.count; i++)
    leat_vec_push(arena, &c->last->before, c->loops->before.items[i]);
  if (!leat_units_merge_order(c->table, c->first, c->last)) {
    c->loops->chained = NULL;
    c->last->before.count = before;
    return;
  }
  leat_units_remove(c->table, c->loops);
  leat_units_replace(c->table, c->first, c->last);
  c->first->chained = c->last;
  for (uint32_t i = 0; i < c->first->before.count; i++)
    leat_vec_push(arena, &c->last->before, c->first->before.items[i]);
  leat_vec_push(arena, &c->last->chain, c->first);
  leat_vec_push(arena, &c->last->chain, c->loops);
  c->a->storage->place.shares = place_of_a(c);
  keep_in_tile(c, c->first);
  keep_in_tile(c, c->loops);
}

int64_t leat_chain_row_bytes(const leat_unit *unit) {
  int64_t bytes = 0;
  for (uint32_t i = 0; i < unit->chain.count; i++) {
    const leat_unit *part = unit->chain.items[i];
    int64_t columns = part->dims[part->rank - 1].value;
    for (uint32_t k = 0; k < part->outputs.count; k++) {
      const leat_storage *storage = part->outputs.items[k].storage;
      if (storage->in_tile && !storage->place.shares)
        bytes += columns * (int64_t)leat_dtype_size(k_dtype(storage->type.dtype));
    }
  }
  return bytes;
}

// Bodies may become one kernel, whose local arrays are few.
void leat_chain_rows(leat_table *table) {
  row_chain c;
  if (table->body) return;
  for (leat_unit *unit = table->head, *next; unit; unit = next) {
    next = unit->next;
    if (find(table, unit, &c) && keeps_to_limit(&c) && gains(&c)) join(&c);
  }
}
