// Branches and loops: the tables of their bodies, which are compiled as the step is. What
// they give lies where region_results.c says, their values in one piece of memory of the table
// around them, that of the other body too: never do both run. Those of a body with checks of dims
// (check_dims) lie in an arena, which is empty where it cannot run; those whose sizes need dims
// that the body binds in one for these, which is made when they are bound, in each iteration.
#include "codegen/contract_plan.h"
#include "codegen/stages.h"
#include "ops/turns.h"

// The bodies are the first attributes.
static uint32_t body_count(const leat_node *node) {
  uint32_t count = 0;
  while (count < (uint32_t)node->info->attr_count && leat_node_body(node, (int)count)) count++;
  return count;
}

static leat_graph *body_of(const leat_node *node, uint32_t i) {
  return leat_node_body(node, (int)i);
}

// -- The unit -------------------------------------------------------------------------------------

// Inputs that are copied to what the loop carries, before it.
static uint32_t copied_inputs(const leat_node *node) {
  return leat_is_loop(node) ? node->output_count : 0;
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
    if (!leat_is_loop(node)) item[i].storage = leat_region_result(table, node, i);
    if (leat_is_loop(node)) leat_vec_push(cg->arena, &region->carried, item[i].storage);
    add_extents(cg, node, i, item[i].storage, &node->outputs[i], &region->extents);
  }
  const leat_type truth = leat_type_scalar(LEAT_bool);
  region->predicate =
      leat_is_loop(node) ? leat_storage_arena(table, &truth) : leat_item_operand(item, 0)->storage;
  region->goes_on = region->predicate;
  if (leat_is_loop(node)) leat_append_find(table, unit);
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
