// Roles and accesses: which nodes are computed where they are needed, and how the others read each
// other through them.
//
// Movement, small scalar arithmetic and values that their one consumer reads at other places (a
// permutation of which a slice is taken) are free: never stored, computed at the index that is
// asked for. What a scatter, an effect or an unaligned reader reads is in memory, and what a
// contraction reads, unless it is such movement.
#include "codegen/stages.h"

#include "ops/ops.h"

#include <stdlib.h>

enum {
  MOST_FREE_COST = 32,    // instructions of a free value, with the free values below it
  MOST_REPEATED_COST = 4, // of one that is computed for each element that it is broadcast to
  ANY_COST = 1 << 20,     // of a value that moved into its only consumer
};

// -- Items ----------------------------------------------------------------------------------------

static int compare_items(const void *a, const void *b) {
  const leat_item *x = *(leat_item *const *)a, *y = *(leat_item *const *)b;
  return x->node->id < y->node->id ? -1 : x->node->id > y->node->id;
}

static uint32_t item_count(const leat_node *node) {
  return node->output_count > 1 ? node->output_count : 1;
}

// What is held in the memory that the node reads or stores to; NULL: it does neither.
static leat_storage *held_by(const leat_table *table, const leat_node *node) {
  leat_state *state = leat_node_state(node);
  if (state) return leat_storage_variable(table->cg, state);
  bool given = table->body && node->info->leaf == LEAT_LEAF_PARAMETER;
  return given ? leat_region_held(table, node) : NULL;
}

// Items are collected as those of the nodes' first outputs.
static leat_item *add_node(leat_table *table, leat_node *node) {
  leat_arena *arena = table->cg->arena;
  if (table->item_of[node->id]) return table->item_of[node->id];
  leat_item *items = leat_new_array(arena, leat_item, item_count(node));
  for (uint32_t port = 0; port < item_count(node); port++)
    items[port] = (leat_item){.node = node, .port = port};
  items->inputs = leat_new_array(arena, leat_item *, (size_t)node->input_count + 1);
  items->held = held_by(table, node);
  leat_vec_push(arena, &table->items, items);
  return table->item_of[node->id] = items;
}

static void reach(leat_table *table) {
  for (uint32_t i = 0; i < table->items.count; i++) {
    leat_item *item = table->items.items[i];
    const leat_node *node = item->node;
    for (uint32_t j = 0; j < node->input_count; j++)
      item->inputs[j] = add_node(table, node->inputs[j].node) + node->inputs[j].port;
    for (uint32_t j = 0; j < node->control_count; j++)
      leat_vec_push(table->cg->arena, &item->controls, add_node(table, node->controls[j]));
  }
  if (table->items.count)
    qsort(table->items.items, table->items.count, sizeof *table->items.items, compare_items);
}

// Effects, and what is stored where a variable begins or a body's results are.
static void collect_items(leat_table *table) {
  const leat_graph *graph = table->body ? table->body : table->cg->graph;
  const leat_state *state = table->initialises;
  leat_item *begins = state ? add_node(table, state->init.node) + state->init.port : NULL;
  for (uint32_t i = 0; i < graph->nodes.count && !state; i++) {
    leat_node *node = graph->nodes.items[i];
    bool checks = node->op == LEAT_OP_check_dims;
    table->has_checks |= checks && table->body;
    if (node->effect && !checks) add_node(table, node);
  }
  reach(table);
  if (state) leat_item_store(table, begins, leat_storage_variable(table->cg, state));
  if (table->body) leat_region_store_results(table, table->item_of[graph->yield->id]);
}

// All outputs, one beside the other.
static void number_items(leat_table *table) {
  leat_items firsts = table->items;
  table->items = (leat_items){0};
  for (uint32_t i = 0; i < firsts.count; i++)
    for (uint32_t port = 0; port < item_count(firsts.items[i]->node); port++) {
      firsts.items[i][port].position = table->items.count;
      leat_vec_push(table->cg->arena, &table->items, &firsts.items[i][port]);
    }
}

// The node of an item that stands for none of the graph.
static leat_node *node_beside(const leat_table *table, leat_op op) {
  const leat_node *owner = table->body ? table->body->owner : NULL;
  leat_node *node = leat_new(table->cg->arena, leat_node);
  leat_node_set_op(node, op);
  node->name = owner ? leat_arena_printf(table->cg->arena, "%s/%s", owner->name, leat_op_name(op))
                     : leat_arena_printf(table->cg->arena, "%s/init/%s", table->initialises->name,
                                         leat_op_name(op));
  if (owner) node->span = owner->span, node->place = owner->place;
  return node;
}

static leat_item *add_beside(leat_table *table, leat_node *node, leat_storage *held) {
  leat_item *item = leat_new(table->cg->arena, leat_item);
  *item = (leat_item){.node = node, .held = held};
  leat_vec_push(table->cg->arena, &table->items, item);
  return item;
}

leat_item *leat_item_store(leat_table *table, leat_item *value, leat_storage *place) {
  leat_node *node = node_beside(table, LEAT_OP_assign);
  leat_item *item = add_beside(table, node, place);
  item->inputs = leat_new(table->cg->arena, leat_item *);
  item->inputs[0] = value;
  node->input_count = 1;
  return item;
}

leat_item *leat_item_behind(leat_table *table, leat_item *store) {
  leat_node *node = node_beside(table, LEAT_OP_read);
  leat_item *item = add_beside(table, node, store->held);
  node->outputs = &store->held->type;
  leat_vec_push(table->cg->arena, &item->controls, store);
  return item;
}

// What the node reads is read by the item of its first output.
static uint32_t input_count(const leat_item *item) {
  return item->port ? 0 : item->node->input_count;
}

leat_item *leat_item_of(const leat_table *table, leat_value value) {
  leat_item *item = &table->item_of[value.node->id][value.port];
  return item->behind ? item->behind : item;
}

leat_item *leat_item_first(const leat_item *item) {
  return (leat_item *)item - item->port;
}

const leat_type *leat_item_type(const leat_item *item) {
  return &item->node->outputs[item->port];
}

uint32_t leat_item_copied_reads(const leat_item *item) {
  bool loop = item->node->op == LEAT_OP_while_loop && !item->port;
  return loop ? item->node->output_count : 0;
}

static leat_item *behind_aliases(leat_item *item) {
  while (item->role == LEAT_ROLE_ALIAS) item = item->inputs[0];
  return item;
}

leat_item *leat_item_memory(leat_table *table, leat_value value) {
  return behind_aliases(leat_item_of(table, value));
}

leat_item *leat_item_operand(const leat_item *item, uint32_t i) {
  return behind_aliases(item->inputs[i]);
}

const leat_type *leat_item_space(const leat_item *item) {
  bool reduces = item->node->info->kind == LEAT_KIND_REDUCE;
  return reduces ? leat_value_type(item->node->inputs[0]) : leat_item_type(item);
}

static bool is_one(const leat_type *type, int axis) {
  return leat_dim_is(type->dims[axis], 1);
}

static bool reduces_axis(const leat_node *node, int axis) {
  const leat_attr *axes = leat_node_attr(node, "axis");
  for (uint32_t i = 0; i < axes->count; i++)
    if (axes->ints[i] == axis) return true;
  return false;
}

bool leat_item_reduces(const leat_item *item) {
  const leat_node *node = item->node;
  if (node->info->kind != LEAT_KIND_REDUCE) return false;
  const leat_attr *axes = leat_node_attr(node, "axis");
  for (uint32_t i = 0; i < axes->count; i++)
    if (!is_one(leat_value_type(node->inputs[0]), (int)axes->ints[i])) return true;
  return false;
}

int leat_item_result_axis(const leat_item *item, int k) {
  const leat_type *space = leat_item_space(item);
  if (is_one(leat_item_type(item), k)) return -1;
  if (item->node->info->kind != LEAT_KIND_REDUCE) return k;
  bool keepdims = leat_node_attr(item->node, "keepdims")->i != 0;
  for (int axis = 0; axis < space->rank; axis++) {
    if (keepdims ? axis == k : !reduces_axis(item->node, axis) && k-- == 0) return axis;
  }
  return -1;
}

// -- Where an op reads its operands ---------------------------------------------------------------

// Non-one axes in order must be the same on both sides.
static bool map_reshape(const leat_type *in, const leat_type *out, int8_t *axis) {
  int j = 0;
  for (int i = 0; i < in->rank; i++) {
    if (is_one(in, i)) continue;
    while (j < out->rank && is_one(out, j)) j++;
    if (j == out->rank || !leat_dim_equal(in->dims[i], out->dims[j])) return false;
    axis[i] = (int8_t)j++;
  }
  while (j < out->rank && is_one(out, j)) j++;
  return j == out->rank;
}

bool leat_item_operand_axes(const leat_node *node, uint32_t i, int8_t *axis) {
  const leat_type *in = leat_value_type(node->inputs[i]), *out = &node->outputs[0];
  bool aligned = true;
  for (int k = 0; k < in->rank; k++) axis[k] = (int8_t)k;
  switch (node->info->reads) {
  case LEAT_READS_WHOLE:
  case LEAT_READS_SAME:
  case LEAT_READS_INDEX: break;
  case LEAT_READS_RESHAPED: aligned = map_reshape(in, out, axis); break;
  case LEAT_READS_BROADCAST:
    for (int k = 0; k < in->rank; k++) axis[k] = (int8_t)(k + out->rank - in->rank);
    break;
  case LEAT_READS_PERMUTED: {
    const leat_attr *perm = leat_node_attr(node, "perm");
    for (int k = 0; k < in->rank; k++) axis[perm->ints[k]] = (int8_t)k;
    break;
  }
  case LEAT_READS_PICKED:
  case LEAT_READS_PLACES: aligned = in->rank == 0; break;
  case LEAT_READS_GATHERED:
    for (int k = 0; k < in->rank; k++) axis[k] = (int8_t)(k + leat_node_attr(node, "axis")->i);
    aligned = i == 1;
    break;
  }
  for (int k = 0; k < in->rank; k++)
    if (is_one(in, k)) axis[k] = -1;
  return aligned;
}

// -- Roles ----------------------------------------------------------------------------------------

static bool is_inline(const leat_node *node) {
  return node->info->flags & LEAT_FLAG_INLINE;
}

static bool keeps_memory(const leat_node *node) {
  return node->info->flags & LEAT_FLAG_ALIAS;
}

// A contraction computes an operand while packing it when it is another's elements at other places
// (or as another dtype): not when it lies in memory as it is. What becomes tiles is read too often.
static bool is_packed(const leat_table *table, const leat_item *item, uint32_t i) {
  if (item->node->info->kind != LEAT_KIND_CONTRACT) return false;
  if (leat_uses_blis(table->cg, item->node)) return false;
  leat_winograd what = leat_winograd_of(item->node);
  if (what.tile && (i == 0 || what.weights)) return false;
  if (leat_is_depthwise(item->node)) return false;
  const leat_node *operand = item->node->inputs[i].node;
  while (keeps_memory(operand)) operand = operand->inputs[0].node;
  return operand->input_count > 0 && is_inline(operand);
}

// Reads operand i as a whole, in memory.
static bool reads_memory(const leat_table *table, const leat_item *item, uint32_t i) {
  leat_op_kind kind = item->node->info->kind;
  return item->role == LEAT_ROLE_EFFECT || kind == LEAT_KIND_SCATTER || kind == LEAT_KIND_LIBRARY ||
         kind == LEAT_KIND_REGION || (kind == LEAT_KIND_CONTRACT && !is_packed(table, item, i));
}

// What gives nothing is there for its effect; other ops without code give what comes from outside.
static leat_role first_role(const leat_node *node) {
  if (node->info->kind == LEAT_KIND_REGION) return LEAT_ROLE_WORK;
  if (!node->output_count) return LEAT_ROLE_EFFECT;
  return node->info->kind == LEAT_KIND_STRUCTURE ? LEAT_ROLE_LEAF : LEAT_ROLE_WORK;
}

static bool slides(const leat_node *node) {
  leat_window window;
  bool slides = false;
  for (uint32_t i = 0; leat_window_of(node, i, &window); i++)
    slides |= !leat_dim_is(node->outputs[0].dims[window.within], 1);
  return slides;
}

// Windows over axes that lie together are as long as they are in memory alone.
static bool joins_last_axis(const leat_node *node) {
  if (!keeps_memory(node) || node->info->reads != LEAT_READS_RESHAPED) return false;
  const leat_type *from = leat_value_type(node->inputs[0]), *to = &node->outputs[0];
  return from->rank && to->rank &&
         !leat_dim_equal(from->dims[from->rank - 1], to->dims[to->rank - 1]);
}

// Elements beside each other that windows would each read from far apart, time and again.
static bool slides_across(const leat_node *node) {
  if (!slides(node)) return false;
  if (joins_last_axis(node->inputs[0].node)) return true;
  const leat_type *x = leat_value_type(node->inputs[0]);
  leat_dim last = x->dims[x->rank - 1];
  for (node = node->inputs[0].node; keeps_memory(node);) node = node->inputs[0].node;
  if (node->info->reads != LEAT_READS_PERMUTED) return false;
  int8_t axis[LEAT_MAX_RANK];
  leat_item_operand_axes(node, 0, axis);
  int rank = node->outputs[0].rank;
  return axis[rank - 1] != rank - 1 && leat_dim_is_const(last) && last.value >= LEAT_LANES;
}

// Axes put together of a product in another order, with its columns last: the product stores it so.
static bool joins_permuted_product(const leat_table *table, const leat_node *node) {
  int8_t axis[LEAT_MAX_RANK];
  if (!keeps_memory(node) || leat_item_operand_axes(node, 0, axis)) return false;
  const leat_node *permuted = node->inputs[0].node;
  if (permuted->info->reads != LEAT_READS_PERMUTED) return false;
  const leat_node *product = permuted->inputs[0].node;
  leat_item_operand_axes(permuted, 0, axis);
  int last = permuted->outputs[0].rank - 1;
  return product->info->kind == LEAT_KIND_CONTRACT && axis[last] == last &&
         !leat_uses_blis(table->cg, product);
}

// What is read in memory, from the last item to the first.
static void find_wanted(leat_table *table) {
  for (uint32_t p = table->items.count; p-- > 0;) {
    leat_item *item = table->items.items[p];
    item->role = first_role(item->node);
    leat_op_kind kind = item->node->info->kind;
    item->wanted |= kind == LEAT_KIND_LIBRARY || kind == LEAT_KIND_REGION ||
                    joins_permuted_product(table, item->node);
    if (item->wanted && keeps_memory(item->node) && item->node->control_count == 0)
      item->role = LEAT_ROLE_ALIAS;
    bool alias = item->role == LEAT_ROLE_ALIAS;
    for (uint32_t i = 0; i < input_count(item); i++) {
      item->inputs[i]->readers++;
      bool slides = i == 0 && slides_across(item->node);
      if (alias || slides || reads_memory(table, item, i)) item->inputs[i]->wanted = true;
    }
  }
}

static bool not_more_elements(const leat_node *a, const leat_node *b) {
  int64_t x = leat_type_static_elements(&a->outputs[0]);
  int64_t y = leat_type_static_elements(&b->outputs[0]);
  bool picks = a->info->reads == LEAT_READS_PICKED;
  return picks || (x >= 0 && y >= 0 && x <= y);
}

// Whether its elements are those at any places of a row: vectors of them are put together.
static bool picks_elements(const leat_node *node) {
  return node->info->reads == LEAT_READS_GATHERED &&
         leat_node_attr(node, "axis")->i == leat_value_type(node->inputs[0])->rank - 1 &&
         leat_type_static_elements(&node->outputs[0]) != 1;
}

// What is only read to be broadcast is made again where it is needed, if that is but little work.
static bool moves_into_broadcast(leat_item *item, const leat_item *consumer) {
  bool repeats = consumer->node->info->reads == LEAT_READS_BROADCAST;
  bool moves = repeats && item->role == LEAT_ROLE_WORK && item->readers == 1 && !item->wanted &&
               !item->once && item->node->control_count == 0 &&
               item->node->info->kind == LEAT_KIND_ELEMENT && item->cost <= MOST_REPEATED_COST &&
               !picks_elements(item->node);
  if (moves) item->role = LEAT_ROLE_FREE;
  return moves;
}

// Whether units of loops or products make something of what it reads, in its own places.
static bool goes_on(const leat_item *item) {
  int8_t axis[LEAT_MAX_RANK];
  for (uint32_t i = 0; i < item->node->input_count; i++) {
    const leat_item *operand = item->inputs[i];
    bool aligned = leat_item_operand_axes(item->node, i, axis);
    if (aligned && operand->role == LEAT_ROLE_WORK) return true;
  }
  return false;
}

// Gives an item that only `consumer` reads, at other places and not more often than it has
// elements, to that consumer.
static bool moves_into(leat_item *item, uint32_t operand, leat_item *consumer) {
  int8_t axis[LEAT_MAX_RANK];
  bool moves = item->role == LEAT_ROLE_WORK && item->readers == 1 && !item->wanted &&
               item->node->control_count == 0 && item->node->info->kind == LEAT_KIND_ELEMENT &&
               consumer->node->info->kind == LEAT_KIND_ELEMENT &&
               consumer->role == LEAT_ROLE_WORK &&
               !leat_item_operand_axes(consumer->node, operand, axis) &&
               not_more_elements(consumer->node, item->node);
  if (!moves) return false;
  if (keeps_memory(consumer->node) && consumer->node->control_count == 0 && goes_on(item)) {
    consumer->role = LEAT_ROLE_ALIAS;
    item->wanted = true;
    return false;
  }
  item->role = LEAT_ROLE_FREE;
  item->cost = ANY_COST;
  return true;
}

// Less memory than what it is made of, which would be stored for it alone.
static bool is_narrower(const leat_item *item) {
  const leat_node *node = item->node;
  if (node->input_count != 1 || node->info->reads != LEAT_READS_SAME) return false;
  const leat_item *operand = item->inputs[0];
  size_t of_operand = leat_dtype_size(leat_item_type(operand)->dtype);
  bool scatters = operand->node->info->kind == LEAT_KIND_SCATTER; // with nothing done in place
  return operand->role == LEAT_ROLE_WORK && operand->readers == 1 && !operand->wanted &&
         !scatters && leat_dtype_size(leat_item_type(item)->dtype) < of_operand;
}

static void find_free(leat_table *table) {
  for (uint32_t p = 0; p < table->items.count; p++) {
    leat_item *item = table->items.items[p];
    const leat_node *node = item->node;
    if (item->role != LEAT_ROLE_WORK || node->info->kind != LEAT_KIND_ELEMENT) continue;
    item->cost = leat_op_cost_of(node->op).instructions;
    for (uint32_t i = 0; i < node->input_count; i++) {
      leat_item *operand = item->inputs[i];
      if (!moves_into_broadcast(operand, item) && moves_into(operand, i, item)) item->once = true;
      if (operand->role == LEAT_ROLE_FREE && item->cost < ANY_COST) item->cost += operand->cost;
    }
    bool one = leat_type_static_elements(&node->outputs[0]) == 1;
    bool cheap = (is_inline(node) || one) && item->cost <= MOST_FREE_COST;
    if (item->role == LEAT_ROLE_WORK && cheap && !item->wanted && !item->once &&
        node->control_count == 0 && !is_narrower(item))
      item->role = LEAT_ROLE_FREE;
  }
}

// -- Accesses -------------------------------------------------------------------------------------

static bool is_immediate(const leat_item *item) {
  return item->node->op == LEAT_OP_const && item->node->outputs[0].dtype != LEAT_str &&
         leat_type_static_elements(&item->node->outputs[0]) == 1;
}

// What a consumer reads in memory, as it sees it.
typedef struct sight {
  bool aligned;
  int8_t axis[LEAT_MAX_RANK]; // of an axis: the consumer's iteration axis
  const leat_item *view; // an alias of which these axes are, with which it ceased to be aligned
} sight;

static void add_access(leat_table *table, leat_item *consumer, leat_item *producer,
                       const sight *seen) {
  leat_access *access = leat_new(table->cg->arena, leat_access);
  *access = (leat_access){.producer = producer, .consumer = consumer, .aligned = seen->aligned};
  access->view = seen->aligned ? producer : seen->view;
  int rank = access->view ? leat_item_type(access->view)->rank : 0;
  for (int k = 0; k < rank; k++) access->axis[k] = seen->axis[k];
  leat_vec_push(table->cg->arena, &consumer->reads, access);
  leat_vec_push(table->cg->arena, &producer->users, access);
}

// Follows operand i of `through`, which the consumer sees so.
static void follow(leat_table *table, leat_item *consumer, const leat_item *through, uint32_t i,
                   const sight *seen) {
  leat_item *producer = through->inputs[i];
  sight here = {0};
  bool keeps = leat_item_operand_axes(through->node, i, here.axis);
  bool packed = consumer->node->info->kind == LEAT_KIND_CONTRACT;
  bool one = leat_type_static_elements(leat_item_type(producer)) == 1;
  here.aligned = ((seen->aligned && keeps) || one) && !packed;
  if (here.aligned) {
    for (int k = 0; k < leat_item_type(producer)->rank; k++)
      if (here.axis[k] >= 0) here.axis[k] = seen->axis[here.axis[k]];
  } else if (through->role == LEAT_ROLE_ALIAS) {
    here = *seen;
    if (seen->aligned) here.view = through;
    here.aligned = false;
  }
  if (producer->role == LEAT_ROLE_FREE || producer->role == LEAT_ROLE_ALIAS) {
    for (uint32_t j = 0; j < producer->node->input_count; j++)
      follow(table, consumer, producer, j, &here);
  } else if (!is_immediate(producer)) {
    add_access(table, consumer, producer, &here);
  }
}

static void find_accesses(leat_table *table) {
  sight same = {.aligned = true};
  const sight whole = {0};
  for (int k = 0; k < LEAT_MAX_RANK; k++) same.axis[k] = (int8_t)k;
  for (uint32_t p = 0; p < table->items.count; p++) {
    leat_item *item = table->items.items[p];
    if (item->role != LEAT_ROLE_WORK && item->role != LEAT_ROLE_EFFECT) continue;
    for (uint32_t i = 0; i < input_count(item); i++) {
      if (reads_memory(table, item, i))
        add_access(table, item, leat_item_operand(item, i), &whole);
      else
        follow(table, item, item, i, &same);
    }
  }
}

void leat_table_collect(leat_table *table) {
  collect_items(table);
  number_items(table);
  find_wanted(table);
  find_free(table);
  find_accesses(table);
}
