// The units of a table and their order: one unit for each item that is computed or has an effect,
// in an order that every edge follows, kept while `fuse` merges them (Pearce and Kelly, "A dynamic
// topological sort algorithm for directed acyclic graphs", 2006: a search looks only at what lies
// between the two units in the order).
#include "codegen/image_writer.h"
#include "codegen/stages.h"
#include "ops/ops.h"

#include <assert.h>
#include <string.h>

enum { LABEL_GAP = 1 << 20, MOST_VISITS = 2000 };

// -- The order ------------------------------------------------------------------------------------

static void append(leat_table *table, leat_unit *unit) {
  unit->prev = table->tail;
  unit->label = table->tail ? table->tail->label + LABEL_GAP : 0;
  *(table->tail ? &table->tail->next : &table->head) = unit;
  table->tail = unit;
}

static void unlink_unit(leat_table *table, leat_unit *unit) {
  *(unit->prev ? &unit->prev->next : &table->head) = unit->next;
  *(unit->next ? &unit->next->prev : &table->tail) = unit->prev;
}

static void number_again(leat_table *table) {
  int64_t label = 0;
  for (leat_unit *u = table->head; u; u = u->next, label += LABEL_GAP) u->label = label;
}

static void move_before(leat_table *table, leat_unit *unit, leat_unit *place) {
  unlink_unit(table, unit);
  unit->prev = place->prev;
  unit->next = place;
  *(place->prev ? &place->prev->next : &table->head) = unit;
  place->prev = unit;
  int64_t low = unit->prev ? unit->prev->label : place->label - 2 * LABEL_GAP;
  unit->label = low + (place->label - low) / 2;
  if (unit->label == low) number_again(table);
}

typedef leat_vec(leat_unit *) unit_list;

// Units after `first` that `unit` needs, itself included, join `found`; false when `first` is one
// of them or there are too many.
static bool needs_between(leat_table *table, leat_unit *first, leat_unit *unit, unit_list *found) {
  uint32_t next = found->count;
  if (unit->mark != table->searches) leat_vec_push(table->cg->arena, found, unit);
  unit->mark = table->searches;
  for (; next < found->count; next++) {
    const leat_unit *u = found->items[next];
    for (uint32_t i = 0; i < u->before.count; i++) {
      leat_unit *needed = leat_unit_launcher(u->before.items[i]);
      if (needed == first || found->count > MOST_VISITS) return false;
      if (needed->label < first->label || needed->mark == table->searches) continue;
      needed->mark = table->searches;
      leat_vec_push(table->cg->arena, found, needed);
    }
  }
  return true;
}

static void sort_by_label(unit_list *list) {
  for (uint32_t i = 1; i < list->count; i++) {
    leat_unit *unit = list->items[i];
    uint32_t j = i;
    for (; j > 0 && list->items[j - 1]->label > unit->label; j--)
      list->items[j] = list->items[j - 1];
    list->items[j] = unit;
  }
}

bool leat_units_merge_order(leat_table *table, leat_unit *first, leat_unit *second) {
  assert(first->label < second->label);
  if (first->recvs != second->recvs) return false;
  unit_list between = {0};
  table->searches++;
  for (uint32_t i = 0; i < second->before.count; i++) {
    leat_unit *needed = leat_unit_launcher(second->before.items[i]);
    if (needed == first || needed == second || needed->label < first->label) continue;
    if (!needs_between(table, first, needed, &between)) return false;
  }
  sort_by_label(&between);
  for (uint32_t i = 0; i < between.count; i++) move_before(table, between.items[i], first);
  unlink_unit(table, second);
  return true;
}

leat_unit *leat_unit_of(leat_unit *unit) {
  leat_unit *root = unit;
  while (root && root->into) root = root->into;
  while (unit && unit->into) {
    leat_unit *next = unit->into;
    unit->into = root;
    unit = next;
  }
  return root;
}

leat_unit *leat_unit_launcher(leat_unit *unit) {
  unit = leat_unit_of(unit);
  return unit && unit->chained ? unit->chained : unit;
}

void leat_units_replace(leat_table *table, leat_unit *unit, leat_unit *other) {
  other->prev = unit->prev;
  other->next = unit->next;
  other->label = unit->label;
  *(unit->prev ? &unit->prev->next : &table->head) = other;
  *(unit->next ? &unit->next->prev : &table->tail) = other;
}

void leat_units_remove(leat_table *table, leat_unit *unit) {
  unlink_unit(table, unit);
}

leat_task_kind leat_unit_task_kind(const leat_unit *unit) {
  if (unit->kind == LEAT_UNIT_REGION && unit->region.waits)
    return unit->members.items[0]->node->op == LEAT_OP_while_loop ? LEAT_TASK_WHILE : LEAT_TASK_IF;
  if (unit->kind == LEAT_UNIT_REGION && unit->region.rows.count) return LEAT_TASK_ROWS;
  if (unit->kind == LEAT_UNIT_COPY && unit->copy.to->kind == LEAT_BUFFER_GROWN && !unit->copy.rows)
    return unit->copy.appends ? LEAT_TASK_APPEND : LEAT_TASK_GROW;
  if (unit->kind != LEAT_UNIT_TASK) return LEAT_TASK_SEGMENT;
  return leat_task_kind_of(unit->members.items[0]->node->op);
}

// A region ends no sooner than the regions of other devices that it sends to and receives from.
static bool exchanges(const leat_unit *unit) {
  return unit->kind == LEAT_UNIT_REGION && unit->region.exchanges;
}

bool leat_unit_sends(const leat_unit *unit) {
  return leat_unit_task_kind(unit) == LEAT_TASK_SEND || exchanges(unit);
}

bool leat_unit_receives(const leat_unit *unit) {
  return leat_unit_task_kind(unit) == LEAT_TASK_RECV || exchanges(unit);
}

leat_storage *leat_unit_filled(const leat_unit *unit) {
  if (unit->kind == LEAT_UNIT_COPY) return unit->copy.to;
  return unit->kind == LEAT_UNIT_TASK ? unit->received : NULL;
}

// -- Making ---------------------------------------------------------------------------------------

static leat_unit *new_unit(leat_table *table, leat_unit_kind kind) {
  leat_unit *unit = leat_new(table->cg->arena, leat_unit);
  unit->kind = kind;
  append(table, unit);
  return unit;
}

static void goes_before(leat_table *table, leat_unit *unit, leat_unit *needed) {
  if (unit && needed && unit != needed) leat_vec_push(table->cg->arena, &unit->before, needed);
}

static void fence(leat_table *table, leat_unit *unit, leat_unit *needed) {
  if (!unit || !needed || unit == needed) return;
  goes_before(table, unit, needed);
  leat_vec_push(table->cg->arena, &unit->fences, needed);
}

// A reduction's order of adding, as ops/reduce.c has it; axes here are the unit's.
static void set_reduction(leat_unit *unit, const leat_item *item) {
  const leat_type *space = leat_item_space(item);
  const leat_attr *axes = leat_node_attr(item->node, "axis");
  bool reduced[LEAT_MAX_RANK] = {false};
  for (uint32_t i = 0; i < axes->count; i++) reduced[axes->ints[i]] = true;
  bool innermost = true;
  unit->by_lanes = space->rank > 0 && reduced[space->rank - 1];
  for (int k = space->rank - 1; k >= 0; k--) {
    innermost = innermost && reduced[k];
    if (!reduced[k] || item->axis[k] < 0) continue;
    unit->reduced |= 1u << item->axis[k];
    if (innermost) unit->innermost |= 1u << item->axis[k];
  }
}

static void add_member(leat_table *table, leat_unit *unit, leat_item *item) {
  const leat_type *space = leat_item_space(item);
  for (int k = 0; k < space->rank; k++) {
    item->axis[k] = -1;
    if (leat_dim_is(space->dims[k], 1)) continue;
    unit->dims[unit->rank] = space->dims[k];
    item->axis[k] = (int8_t)unit->rank++;
  }
  leat_vec_push(table->cg->arena, &unit->members, item);
  if (!leat_item_reduces(item)) return;
  set_reduction(unit, item);
  unit->reductions = 1;
}

bool leat_uses_blis(const leat_codegen_state *cg, const leat_node *node) {
  leat_dtype dtype = node->outputs[0].dtype;
  if (leat_winograd_of(node).tile || leat_is_depthwise(node)) return false;
  const char *family = leat_node_attr(node, "family")->string;
  bool plain = leat_value_type(node->inputs[1])->rank == node->outputs[0].rank;
  return cg->options->blis && plain && family && strcmp(family, "blis") == 0 &&
         (dtype == LEAT_f32 || dtype == LEAT_f64);
}

// `memory`: where the value is.
static leat_unit *copy_unit(leat_table *table, const leat_item *value, const leat_item *memory,
                            leat_storage *to) {
  leat_unit *unit = new_unit(table, LEAT_UNIT_COPY);
  unit->copy = (leat_copy){.from = memory->storage, .to = to, .type = leat_item_type(value)};
  return unit;
}

// What a loop carries begins as a copy of its input, which may be a variable, unless it lies there.
static leat_unit *unit_for_region(leat_table *table, leat_item *item) {
  const leat_node *node = item->node;
  leat_vec(leat_unit *) copies = {0};
  for (uint32_t i = 0; node->op == LEAT_OP_while_loop && i < node->output_count; i++) {
    item[i].storage = leat_region_result(table, node, i);
    if (leat_region_places_of(table->cg, node)->kept[i]) continue;
    const leat_item *memory = leat_item_operand(item, i);
    leat_unit *copy = copy_unit(table, item->inputs[i], memory, item[i].storage);
    goes_before(table, copy, memory->unit);
    leat_vec_push(table->cg->arena, &copies, copy);
  }
  leat_unit *unit = new_unit(table, LEAT_UNIT_REGION);
  leat_vec_push(table->cg->arena, &unit->members, item);
  for (uint32_t i = 0; i < copies.count; i++) goes_before(table, unit, copies.items[i]);
  return unit;
}

static leat_unit *unit_for_work(leat_table *table, leat_item *item) {
  leat_unit_kind kind = LEAT_UNIT_LOOPS;
  if (item->port) { // is made with the first output
    leat_unit *made = leat_item_first(item)->unit;
    leat_vec_push(table->cg->arena, &made->members, item);
    return made;
  }
  switch (item->node->info->kind) {
  case LEAT_KIND_CONTRACT:
    kind = leat_uses_blis(table->cg, item->node) ? LEAT_UNIT_GEMM : LEAT_UNIT_CONTRACT;
    break;
  case LEAT_KIND_SCATTER: kind = LEAT_UNIT_SCATTER; break;
  case LEAT_KIND_LIBRARY: kind = LEAT_UNIT_LIBRARY; break;
  case LEAT_KIND_REGION: return unit_for_region(table, item);
  case LEAT_KIND_ELEMENT:
  case LEAT_KIND_REDUCE:
  case LEAT_KIND_STRUCTURE:
  case LEAT_KIND_HOST: break;
  }
  leat_unit *unit = new_unit(table, kind);
  add_member(table, unit, item);
  return unit;
}

// What is fetched must stay as it is until the client has read it: the memory of a feed or a
// variable is copied, but for that of a feed that is the step's.
static leat_unit *unit_for_fetch(leat_table *table, leat_item *item) {
  const leat_item *value = item->inputs[0], *memory = leat_item_operand(item, 0);
  leat_fetched fetched = {
      .node = item->node, .storage = memory->storage, .type = leat_item_type(value)};
  leat_unit *unit = NULL;
  if (memory->role == LEAT_ROLE_LEAF && !memory->unit && !memory->storage->donated) {
    fetched.storage = leat_storage_arena(table, fetched.type);
    unit = copy_unit(table, value, memory, fetched.storage);
  }
  leat_vec_push(table->cg->arena, &table->fetches, fetched);
  return unit;
}

static leat_unit *unit_for_task(leat_table *table, leat_item *item) {
  leat_unit *unit = new_unit(table, LEAT_UNIT_TASK);
  leat_vec_push(table->cg->arena, &unit->members, item);
  return unit;
}

// One for all its results, which follow each other.
static leat_unit *unit_for_rotation(leat_table *table, leat_rotation *rotation) {
  if (rotation->unit) return rotation->unit;
  rotation->unit = new_unit(table, LEAT_UNIT_ROTATE);
  rotation->unit->rotation = rotation;
  return rotation->unit;
}

static leat_unit *unit_for_store(leat_table *table, leat_item *item) {
  if (item->moves) return unit_for_rotation(table, item->moves);
  const leat_item *memory = leat_item_operand(item, 0);
  if (memory->storage == item->held && memory->node->info->kind == LEAT_KIND_REGION)
    return memory->unit;
  leat_unit *unit = copy_unit(table, item->inputs[0], memory, item->held);
  unit->copy.assign = item;
  unit->copy.appends = item->appends;
  if (item->appends) unit->copy.rows = leat_append_of(table, item->held);
  return unit;
}

static leat_unit *unit_for_effect(leat_table *table, leat_item *item) {
  if (item->node->op == LEAT_OP_fetch) return unit_for_fetch(table, item);
  if (item->held) return unit_for_store(table, item);
  assert(leat_task_kind_of(item->node->op) != LEAT_TASK_SEGMENT);
  return unit_for_task(table, item);
}

static leat_unit *unit_for_leaf(leat_table *table, leat_item *item) {
  leat_codegen_state *cg = table->cg;
  const leat_type *type = &item->node->outputs[0];
  if (item->node->info->leaf == LEAT_LEAF_RECEIVED) {
    leat_unit *unit = unit_for_task(table, item);
    unit->received = item->storage = leat_storage_arena(table, type);
    return unit;
  }
  item->storage = item->held ? item->held : leat_storage_leaf(cg, item->node);
  if (item->held && item->held->kind == LEAT_BUFFER_GROWN)
    item->storage = leat_storage_grown(cg, item->held->grown, type);
  if (!item->copied) return NULL;
  leat_unit *copy = copy_unit(table, item, item, leat_storage_arena(table, type));
  item->storage = copy->copy.to;
  return copy;
}

// -- Edges ----------------------------------------------------------------------------------------

// Whether it reads what is held in memory; else it stores there, or it does neither.
static bool reads_held(const leat_item *item) {
  return item->held && item->role == LEAT_ROLE_LEAF;
}

// The places that a node with bodies has; NULL: it is none.
static const leat_region_places *places_of(leat_table *table, const leat_item *item) {
  bool region = item->node->info->kind == LEAT_KIND_REGION && !item->port;
  return region ? leat_region_places_of(table->cg, item->node) : NULL;
}

// What is to stay as it is while the node changes it.
static void copy_unchanging(const leat_item *item, const leat_region_places *places) {
  const leat_node *node = item->node;
  uint32_t first = leat_item_copied_reads(item);
  for (uint32_t k = first; k < node->input_count; k++) {
    leat_item *memory = leat_item_operand(item, k);
    if (!reads_held(memory)) continue;
    for (uint32_t i = 0; i < node->output_count; i++)
      if (places->kept[i] && places->begins[i] != k && places->results[i] == memory->held)
        memory->copied = true;
  }
}

// By item: whether it may have to wait until a variable has been assigned. NULL: nodes with bodies
// change what is held by the way, so that any may.
static const bool *find_waiting(leat_table *table) {
  bool *waits = leat_new_array(table->cg->scratch, bool, table->items.count);
  leat_map assigned; // storage
  leat_map_init(&assigned, table->cg->scratch);
  for (uint32_t p = 0; p < table->items.count; p++) {
    const leat_item *item = table->items.items[p];
    if (table->body || item->node->info->kind == LEAT_KIND_REGION) return NULL;
    bool stores = item->held && !reads_held(item);
    waits[p] = stores || item->node->info->leaf == LEAT_LEAF_RECEIVED ||
               (item->held && leat_map_get(&assigned, item->held));
    if (stores) leat_map_set(&assigned, item->held, item->held);
    const leat_item *first = leat_item_first(table->items.items[p]);
    for (uint32_t i = 0; i < first->node->input_count; i++)
      waits[p] |= waits[first->inputs[i]->position];
    for (uint32_t i = 0; i < first->controls.count; i++)
      waits[p] |= waits[first->controls.items[i]->position];
  }
  return waits;
}

// A read of what is held happens when its users run. One whose value is used after the next
// store, by what may wait for one, keeps a copy, and so does one of strings that the variable
// owns: whatever moves them on moves pointers.
void leat_units_find_copied_reads(leat_table *table) {
  const bool *waits = find_waiting(table);
  leat_map last; // storage → who stores there next
  leat_map_init(&last, table->cg->scratch);
  for (uint32_t p = table->items.count; p-- > 0;) {
    leat_item *item = table->items.items[p];
    if (item->held && !reads_held(item)) leat_map_set(&last, item->held, item);
    const leat_region_places *places = places_of(table, item);
    for (uint32_t i = 0; places && i < item->node->output_count; i++)
      if (places->kept[i]) leat_map_set(&last, places->results[i], item);
    if (places) copy_unchanging(item, places);
    if (!reads_held(item)) continue;
    const leat_item *store = leat_map_get(&last, item->held);
    item->copied |= leat_storage_owns_strings(item->held);
    for (uint32_t i = 0; store && i < item->users.count; i++) {
      const leat_item *user = item->users.items[i]->consumer;
      bool later = user->position > store->position && (!waits || waits[user->position]);
      if (later && !user->moves) item->copied = true;
    }
  }
}

static bool is_carried(const leat_unit *loop, const leat_storage *storage) {
  for (uint32_t i = 0; i < loop->region.carried.count; i++)
    if (loop->region.carried.items[i] == storage) return true;
  return false;
}

// What a loop carries is copied before it is the loop's turn; another copy of the same, before an
// assignment, is none of the loop's.
static void fence_copies(leat_table *table, const leat_unit *user, const leat_storage *read,
                         leat_unit *needed) {
  bool region = user && user->kind == LEAT_UNIT_REGION;
  for (uint32_t i = 0, count = region ? user->before.count : 0; i < count; i++) {
    leat_unit *copy = user->before.items[i];
    if (copy->kind == LEAT_UNIT_COPY && copy->copy.from == read && is_carried(user, copy->copy.to))
      fence(table, copy, needed);
  }
}

static void all_users(leat_table *table, leat_item *read, leat_unit *needed, leat_unit *needing) {
  if (read->unit) {
    fence(table, read->unit, needed);
    goes_before(table, needing, read->unit);
    return;
  }
  for (uint32_t i = 0; i < read->users.count; i++) {
    leat_unit *user = read->users.items[i]->consumer->unit;
    if (needed) fence_copies(table, user, read->storage, needed);
    if (needed) fence(table, user, needed);
    if (needing) goes_before(table, needing, user);
  }
}

// What was done to what is held last: a store, then reads.
typedef struct held_uses {
  leat_unit *stored;
  leat_items reads;
} held_uses;

static held_uses *uses_of(leat_map *map, const leat_storage *held) {
  held_uses *uses = leat_map_get(map, held);
  if (!uses) leat_map_set(map, held, uses = leat_new(map->arena, held_uses));
  return uses;
}

static void change_held(leat_table *table, held_uses *uses, leat_unit *unit) {
  fence(table, unit, uses->stored);
  for (uint32_t i = 0; i < uses->reads.count; i++)
    all_users(table, uses->reads.items[i], NULL, unit);
  uses->reads.count = 0;
  uses->stored = unit;
}

// Reads and stores of what is held take effect in the order of the items.
static void order_held(leat_table *table) {
  leat_map map; // storage → held_uses
  leat_map_init(&map, table->cg->scratch);
  for (uint32_t p = 0; p < table->items.count; p++) {
    leat_item *item = table->items.items[p];
    const leat_region_places *places = places_of(table, item);
    for (uint32_t i = 0; places && i < item->node->output_count; i++)
      if (places->kept[i]) change_held(table, uses_of(&map, places->results[i]), item->unit);
    if (!item->held) continue;
    held_uses *uses = uses_of(&map, item->held);
    if (reads_held(item)) {
      all_users(table, item, uses->stored, NULL);
      leat_vec_push(map.arena, &uses->reads, item);
    } else {
      change_held(table, uses, item->unit);
    }
  }
}

static void order_item(leat_table *table, leat_item *item) {
  for (uint32_t i = 0; i < item->reads.count; i++)
    goes_before(table, item->unit, item->reads.items[i]->producer->unit);
  for (uint32_t i = 0; i < item->controls.count; i++) {
    leat_unit *needed = item->controls.items[i]->unit;
    if (reads_held(item))
      all_users(table, item, needed, NULL);
    else
      fence(table, item->unit, needed);
  }
}

// -- Recvs ----------------------------------------------------------------------------------------

// What a unit waits for from other devices. Units are joined only where this is the same, so that
// no send comes to wait for more than its own value needs: else two devices, each of which joined
// what it sends with what it awaits, would wait for each other.
static void find_recvs(leat_table *table) {
  bool sends = false;
  uint32_t count = 0, number = 0;
  for (const leat_unit *unit = table->head; unit; unit = unit->next, count++)
    sends |= leat_unit_sends(unit);
  if (!sends) return;
  leat_number_sets sets;
  leat_number_sets_init(&sets, table->cg->arena, count);
  for (leat_unit *unit = table->head; unit; unit = unit->next) {
    unit->position = number++;
    for (uint32_t i = 0; i < unit->before.count; i++) {
      const leat_unit *needed = leat_unit_of(unit->before.items[i]);
      unit->recvs = leat_number_set_join(&sets, unit->recvs, needed->recvs);
      if (leat_unit_receives(needed))
        unit->recvs = leat_number_set_add(&sets, unit->recvs, needed->position);
    }
  }
}

void leat_unit_make(leat_table *table, leat_item *item) {
  switch (item->role) {
  case LEAT_ROLE_LEAF: item->unit = unit_for_leaf(table, item); break;
  case LEAT_ROLE_WORK:
    if (item->wanted && !item->storage && item->node->output_count &&
        item->node->info->kind != LEAT_KIND_REGION)
      item->storage = leat_storage_arena(table, leat_item_type(item));
    item->unit = unit_for_work(table, item);
    break;
  case LEAT_ROLE_EFFECT: item->unit = unit_for_effect(table, item); break;
  case LEAT_ROLE_FREE:
  case LEAT_ROLE_ALIAS: break;
  }
}

void leat_units_order(leat_table *table) {
  for (uint32_t p = 0; p < table->items.count; p++) order_item(table, table->items.items[p]);
  order_held(table);
  find_recvs(table);
}

// -- Passes ---------------------------------------------------------------------------------------

static int pass_of(const leat_unit *unit, const leat_item *item) {
  int pass = 0;
  for (uint32_t i = 0; i < item->reads.count; i++) {
    const leat_item *producer = item->reads.items[i]->producer;
    if (!producer->unit || leat_unit_of(producer->unit) != unit) continue;
    int ready = producer->pass + leat_item_reduces(producer);
    if (ready > pass) pass = ready;
  }
  return pass;
}

int leat_unit_find_passes(const leat_unit *unit) {
  int passes = 1;
  for (uint32_t i = 0; i < unit->members.count; i++) {
    leat_item *item = unit->members.items[i];
    item->pass = pass_of(unit, item);
    if (leat_item_is_full(item) && item->pass >= passes) passes = item->pass + 1;
  }
  return passes;
}
