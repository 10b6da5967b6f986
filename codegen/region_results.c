// Where the results of branches and loops lie, and how their bodies store them.
//
// What a body gives is stored, and what a loop carries read, as variables are: where the node's
// outputs lie. So all that holds of variables (a store in place, a copy of what is used after it)
// holds here. The graph stays as it is: stores, and reads behind them, are items of the body's
// table alone. What a body gives of what is carried around it is changed where it lies
// (codegen/in_place.c).
#include "codegen/stages.h"
#include "ops/appended.h"
#include "ops/turns.h"

// -- Places ---------------------------------------------------------------------------------------

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
  if (leat_is_loop(node)) return index < node->output_count ? places->results[index] : NULL;
  uint32_t input = node->input_count - body->body->params.count + index;
  for (uint32_t i = 0; i < node->output_count; i++)
    if (places->kept[i] && places->begins[i] == input) return places->results[i];
  return NULL;
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

// -- Stores ---------------------------------------------------------------------------------------

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
    bool appended = body->body == leat_node_body(node, 1) && leat_loop_appends(node, i);
    if (appended) leave_out(body, value);
    leat_item *store = leat_item_store(body, appended ? value->inputs[1] : value, made[i]);
    store->appends = appended;
    if (made[i] != places[i]) yield->inputs[i] = leat_item_behind(body, store);
  }
  rotate_results(body, yield, places, made);
}

void leat_region_store_results(leat_table *body, leat_item *yield) {
  const leat_node *node = body->body->owner;
  bool condition = leat_is_loop(node) && body->body == leat_node_body(node, 0);
  leat_storage **places =
      condition ? &body->region->region.predicate : leat_region_places_of(body->cg, node)->results;
  leat_storage **made = condition ? places : leat_region_update_in_place(body, yield, places);
  leave_out(body, yield);
  store_results(body, yield, places, made);
}
