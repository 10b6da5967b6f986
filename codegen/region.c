// Branches and loops: the tables of their bodies, which are compiled as the step is.
//
// What a body gives is stored, and what a loop carries read, as variables are: where the node's
// outputs lie. So all that holds of variables (a store in place, a copy of what is used after it)
// holds here. The graph stays as it is: stores, and reads behind them, are items of the body's
// table alone. What a body gives of what is carried around it is
// changed where it lies (codegen/in_place.c). The values of a body lie in one piece of memory of
// the table around it, that of the other body too: never do both run. Those of a body with checks
// of dims (check_dims) lie in an arena, which is empty where it cannot run; those whose sizes need
// dims that the body binds in one for these, which is made when they are bound, in each iteration.
#include "codegen/contract_plan.h"
#include "ops/appended.h"

#include <assert.h>

static bool is_loop(const leat_node *node) {
  return node->op == LEAT_OP_while_loop;
}

// The bodies are the first attributes.
static uint32_t body_count(const leat_node *node) {
  uint32_t count = 0;
  while (count < (uint32_t)node->info->attr_count && leat_node_body(node, (int)count)) count++;
  return count;
}

static leat_graph *body_of(const leat_node *node, uint32_t i) {
  return leat_node_body(node, (int)i);
}

// -- Bodies ---------------------------------------------------------------------------------------

leat_region_places *leat_region_places_of(leat_codegen_state *cg, const leat_node *node) {
  leat_region_places *places = leat_map_get(&cg->region_places, node);
  if (places) return places;
  places = leat_new(cg->arena, leat_region_places);
  places->results = leat_new_array(cg->arena, leat_storage *, node->output_count);
  places->kept = leat_new_array(cg->arena, bool, node->output_count);
  places->begins = leat_new_array(cg->arena, uint32_t, node->output_count);
  leat_map_set(&cg->region_places, node, places);
  return places;
}

leat_storage *leat_region_held(const leat_table *body, const leat_node *param) {
  const leat_node *node = body->body->owner;
  const leat_region_places *places = leat_region_places_of(body->cg, node);
  uint32_t index = (uint32_t)leat_node_attr(param, "index")->i;
  if (is_loop(node)) return index < node->output_count ? places->results[index] : NULL;
  uint32_t input = node->input_count - body->body->params.count + index;
  for (uint32_t i = 0; i < node->output_count; i++)
    if (places->kept[i] && places->begins[i] == input) return places->results[i];
  return NULL;
}

static uint32_t number_of(leat_storage *const *places, uint32_t count, const leat_storage *place) {
  uint32_t i = 0;
  while (i < count && places[i] != place) i++;
  return i;
}

// In one pool with those of its type that are results of the same node.
static void move_to_pool(const leat_region_places *of, leat_storage *place) {
  leat_storage *pool = NULL;
  for (uint32_t k = 0; k < place->node->output_count; k++) {
    leat_storage *other = of->results[k];
    if (!of->kept[k] && other->place.pool && leat_type_equal(&other->type, &place->type))
      pool = other->place.pool;
  }
  leat_storage_move_to_pool(place, pool);
}

// Those that are exchanged, in the order in which they are results of the node whose they are.
static void move_to_pools(leat_codegen_state *cg, leat_storage **places, leat_storage **made,
                          uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (made[i] == places[i] || places[i]->place.pool) continue;
    const leat_region_places *of = leat_region_places_of(cg, places[i]->node);
    for (uint32_t k = 0; k < places[i]->node->output_count; k++) {
      uint32_t n = number_of(places, count, of->results[k]);
      bool moves = n < count && made[n] != places[n] && !places[n]->place.pool;
      if (moves) move_to_pool(of, places[n]);
    }
  }
}

// Each result that is made in another place than its own.
static void rotate_results(leat_table *body, const leat_item *yield, leat_storage **places,
                           leat_storage **made) {
  leat_arena *arena = body->cg->arena;
  uint32_t count = yield->node->input_count;
  bool *done = leat_new_array(arena, bool, (size_t)count + 1);
  move_to_pools(body->cg, places, made, count);
  for (uint32_t first = 0; first < count; first++) {
    if (done[first] || made[first] == places[first]) continue;
    leat_rotation *rotation = leat_new(arena, leat_rotation);
    rotation->node = body->body->owner;
    for (uint32_t i = first; !done[i]; i = number_of(places, count, made[i])) {
      leat_vec_push(arena, &rotation->results, i);
      leat_vec_push(arena, &rotation->places, places[i]);
      leat_item_store(body, yield->inputs[i], places[i])->moves = rotation;
      done[i] = true;
    }
  }
}

static void leave_out(leat_table *table, const leat_item *item) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < table->items.count; i++)
    if (table->items.items[i] != item) table->items.items[kept++] = table->items.items[i];
  table->items.count = kept;
}

static void store_results(leat_table *body, const leat_item *yield, leat_storage **places,
                          leat_storage **made) {
  for (uint32_t i = 0; i < yield->node->input_count; i++) {
    leat_item *value = yield->inputs[i];
    if (value->held == made[i]) continue; // it is there
    const leat_node *node = body->body->owner;
    bool appended = body->body == body_of(node, 1) && leat_loop_appends(node, i);
    if (appended) leave_out(body, value);
    leat_item *store = leat_item_store(body, appended ? value->inputs[1] : value, made[i]);
    store->appends = appended;
    if (made[i] != places[i]) yield->inputs[i] = leat_item_behind(body, store);
  }
  rotate_results(body, yield, places, made);
}

void leat_region_store_results(leat_table *body, leat_item *yield) {
  const leat_node *node = body->body->owner;
  bool condition = is_loop(node) && body->body == body_of(node, 0);
  leat_storage **places =
      condition ? &body->region->region.predicate : leat_region_places_of(body->cg, node)->results;
  leat_storage **made = condition ? places : leat_region_update_in_place(body, yield, places);
  leave_out(body, yield);
  store_results(body, yield, places, made);
}

// -- The unit -------------------------------------------------------------------------------------

// Inputs that are copied to what the loop carries, before it.
static uint32_t copied_inputs(const leat_node *node) {
  return is_loop(node) ? node->output_count : 0;
}

// Parameters lie where the inputs do.
static void set_parameters(leat_table *table, const leat_item *item, const leat_graph *body) {
  const leat_node *node = item->node;
  uint32_t first = node->input_count - body->params.count;
  for (uint32_t i = copied_inputs(node); i < body->params.count; i++) {
    const leat_item *memory = leat_item_operand(item, first + i);
    leat_map_set(&table->cg->leaves, body->params.items[i], memory->storage);
  }
}

static bool table_waits(const leat_table *table) {
  if (table->tasks.count > 1) return true;
  return table->tasks.count == 1 &&
         leat_unit_task_kind(table->tasks.items[0].units.items[0]) != LEAT_TASK_SEGMENT;
}

static bool table_exchanges(const leat_table *table) {
  for (const leat_unit *unit = table->head; unit; unit = unit->next)
    if (leat_unit_sends(unit) || leat_unit_receives(unit)) return true;
  return false;
}

static leat_table *arrange_body(leat_table *outer, leat_unit *region, const leat_graph *body) {
  leat_codegen_state *cg = outer->cg;
  leat_table *table = leat_new(cg->arena, leat_table);
  *table = (leat_table){.cg = cg, .body = body, .around = outer, .region = region};
  leat_vec_push(cg->arena, &table->arenas, (leat_arena_plan){0});
  table->item_of = leat_new_array(cg->arena, leat_item *, body->nodes.count + 1);
  leat_table_arrange(table);
  return table;
}

leat_storage *leat_region_result(leat_table *table, const leat_node *node, uint32_t i) {
  leat_codegen_state *cg = table->cg;
  const leat_type *type = &node->outputs[i];
  leat_region_places *places = leat_region_places_of(cg, node);
  if (places->kept[i]) return places->results[i];
  if (leat_region_result_grows(node, i)) {
    leat_vec_push(cg->arena, &cg->grown, type);
    return places->results[i] = leat_storage_grown(cg, cg->grown.count - 1, type);
  }
  places->results[i] = leat_storage_arena(table, type);
  places->results[i]->node = node;
  return places->results[i];
}

// Along the axes that result i of the node grows along.
static void add_extents(leat_codegen_state *cg, const leat_node *node, uint32_t i,
                        const leat_storage *storage, const leat_type *type, leat_extents *out) {
  for (int32_t k = 0; k < type->rank; k++)
    if (leat_region_grows(node, i, k))
      leat_vec_push(cg->arena, out, (leat_extent){type->dims[k], storage->grown, (uint32_t)k});
}

void leat_region_arrange(leat_table *table, leat_unit *unit) {
  leat_codegen_state *cg = table->cg;
  leat_item *item = unit->members.items[0];
  const leat_node *node = item->node;
  leat_region_tables *region = &unit->region;
  for (uint32_t i = 0; i < node->output_count; i++) {
    if (!is_loop(node)) item[i].storage = leat_region_result(table, node, i);
    if (is_loop(node)) leat_vec_push(cg->arena, &region->carried, item[i].storage);
    add_extents(cg, node, i, item[i].storage, &node->outputs[i], &region->extents);
  }
  const leat_type truth = leat_type_scalar(LEAT_bool);
  region->predicate =
      is_loop(node) ? leat_storage_arena(table, &truth) : leat_item_operand(item, 0)->storage;
  region->goes_on = region->predicate;
  if (is_loop(node)) leat_append_find(table, unit);
  for (uint32_t i = 0; i < body_count(node); i++) {
    set_parameters(table, item, body_of(node, i));
    region->tables[i] = arrange_body(table, unit, body_of(node, i));
    for (uint32_t k = 0; k < copied_inputs(node) && !region->rows.count; k++)
      add_extents(cg, node, k, item[k].storage, &body_of(node, i)->params.items[k]->outputs[0],
                  &region->tables[i]->extents);
    region->waits |= table_waits(region->tables[i]);
    region->exchanges |= table_exchanges(region->tables[i]);
  }
}

// -- Memory ---------------------------------------------------------------------------------------

// Its own are what is sized by dims that the body binds, and all if it has checks: while these do
// not hold, its sizes mean nothing.
static void take_own_arenas(leat_table *body) {
  leat_codegen_state *cg = body->cg;
  for (uint32_t i = body->has_checks ? 0 : 1; i < body->arenas.count; i++) {
    leat_arena_plan *own = &body->arenas.items[i];
    own->needs = leat_dim_const(-1); // no set of dims
    own->table = body;
    own->number = cg->arenas.count;
    leat_vec_push(cg->arena, &cg->arenas, *own);
  }
}

static leat_status place_bodies(leat_table *table, leat_unit *unit) {
  leat_codegen_state *cg = table->cg;
  leat_type bytes = {.dtype = LEAT_u8, .rank = 1, .dims = {leat_dim_const(0)}};
  unit->scratch = leat_storage_arena(table, &bytes);
  for (uint32_t i = 0; i < 2; i++) {
    leat_table *body = unit->region.tables[i];
    leat_dim *all = &unit->scratch->type.dims[0];
    take_own_arenas(body);
    if (body->has_checks) continue;
    body->memory = unit->scratch;
    if (!leat_dim_max(cg->graph->dims, *all, body->arenas.items[0].size, all))
      return leat_fail(cg->error, LEAT_UNSUPPORTED, "a step needs too much memory");
  }
  return LEAT_OK;
}

leat_status leat_region_prepare(leat_table *table, leat_unit *unit) {
  leat_region_tables *region = &unit->region;
  for (uint32_t i = 0; i < 2; i++) {
    LEAT_TRY(leat_table_prepare(region->tables[i]));
    LEAT_TRY(leat_table_lower(region->tables[i]));
    if (i == 0 && region->rows.count) leat_append_ask_for_room(unit);
    leat_panels_move_out(region->tables[i]);
  }
  if (region->waits)
    region->why = "something in it waits, or is the host's";
  else
    LEAT_TRY(leat_decide_one_kernel(table, unit));
  for (uint32_t i = 0; i < 2; i++) {
    region->tables[i]->in_kernel = region->kernel;
    LEAT_TRY(leat_table_plan(region->tables[i]));
  }
  return region->kernel ? LEAT_OK : place_bodies(table, unit);
}

// -- Lowering -------------------------------------------------------------------------------------

static leat_launch *region_launch(leat_codegen_state *cg, leat_unit *unit) {
  leat_launch *launch = leat_new(cg->arena, leat_launch);
  bool loop = is_loop(unit->members.items[0]->node);
  *launch = (leat_launch){.kind = loop ? LEAT_LAUNCH_WHILE : LEAT_LAUNCH_IF,
                          .region = &unit->region,
                          .tiles = leat_dim_const(1),
                          .work = leat_dim_const(1)};
  return launch;
}

void leat_lower_region(leat_table *table, leat_unit *unit) {
  leat_codegen_state *cg = table->cg;
  if (unit->region.waits) return;
  leat_launch *launch = unit->region.kernel;
  if (!launch) launch = region_launch(cg, unit);
  if (unit->region.rows.count)
    leat_append_wrap(table, unit, launch);
  else
    leat_vec_push(cg->arena, &unit->launches, launch);
}
