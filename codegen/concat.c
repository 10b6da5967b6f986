// A concat whose parts are all made by products: each stores its part where the whole lies, so that
// the concat has nothing left to do. A part that is read elsewhere too is stored twice.
#include "codegen/stages.h"

static leat_output *output_of(const leat_unit *unit, const leat_item *item) {
  for (uint32_t i = 0; i < unit->outputs.count; i++)
    if (unit->outputs.items[i].item == item) return &unit->outputs.items[i];
  return NULL;
}

// The unit that makes the part, a product that can store it elsewhere; NULL: none does.
static leat_unit *maker_of(const leat_table *table, leat_value part) {
  const leat_item *item = leat_item_of(table, part);
  leat_unit *unit = item->role == LEAT_ROLE_WORK && item->unit ? leat_unit_of(item->unit) : NULL;
  return unit && unit->kind == LEAT_UNIT_CONTRACT && output_of(unit, item) ? unit : NULL;
}

// Not of bodies, which may be one kernel.
static bool can_be_made_in_place(const leat_table *table, const leat_unit *unit) {
  if (table->body || unit->kind != LEAT_UNIT_LOOPS || unit->members.count != 1) return false;
  const leat_node *node = unit->members.items[0]->node;
  if (node->op != LEAT_OP_concat || unit->outputs.count != 1) return false;
  const leat_storage *storage = unit->outputs.items[0].storage;
  if (storage->kind != LEAT_BUFFER_ARENA || storage->place.pool) return false;
  for (uint32_t i = 0; i < node->input_count; i++)
    if (!maker_of(table, node->inputs[i])) return false;
  return leat_type_equal(&storage->type, &node->outputs[0]);
}

static void store_in(leat_table *table, leat_value part, const leat_output *place) {
  leat_item *item = leat_item_of(table, part);
  leat_unit *unit = maker_of(table, part);
  leat_output *output = output_of(unit, item);
  leat_output stored = *place;
  stored.item = item;
  if (item->users.count == 1 && !output->into) {
    *output = stored;
    item->storage = place->storage;
  } else {
    leat_vec_push(table->cg->arena, &unit->outputs, stored);
  }
}

static bool make_in_place(leat_table *table, leat_unit *unit) {
  leat_item *item = unit->members.items[0];
  const leat_node *node = item->node;
  int axis = (int)leat_node_attr(node, "axis")->i;
  leat_output place = {.storage = unit->outputs.items[0].storage,
                       .into = node,
                       .axis = axis,
                       .offset = leat_dim_const(0)};
  for (uint32_t i = 0; i < node->input_count; i++) {
    store_in(table, node->inputs[i], &place);
    leat_dim extent = leat_value_type(node->inputs[i])->dims[axis];
    if (!leat_dim_add(table->cg->graph->dims, place.offset, extent, &place.offset)) return false;
  }
  unit->kind = LEAT_UNIT_CONCAT;
  item->reads.count = 0;
  return true;
}

leat_status leat_concats_in_place(leat_table *table) {
  for (uint32_t i = 0; i < table->units.count; i++)
    if (can_be_made_in_place(table, table->units.items[i]) &&
        !make_in_place(table, table->units.items[i]))
      return leat_fail(table->cg->error, LEAT_UNSUPPORTED, "a concat has too many elements");
  return LEAT_OK;
}
