// Where the panels of a product's b are made. What a loop does not change is packed in front of it,
// of loops in each other in front of the outermost that does not; what stays for good, in the step,
// once for all runs.
#include "codegen/contract_plan.h"

#include "codegen/lower.h"

typedef leat_vec(leat_item *) item_list;

// What the value is computed from, in memory; false: it is not the same each time, or may fail
// where a loop that turns not once would not.
static bool find_sources(leat_table *table, leat_value value, item_list *out) {
  leat_item *item = leat_item_memory(table, value);
  if (item->role != LEAT_ROLE_FREE) {
    leat_vec_push(table->cg->scratch, out, item);
    return true;
  }
  bool same = leat_node_is_static(item->node) && item->node->input_count > 0 &&
              !(table->body && leat_node_may_fail(item->node));
  for (uint32_t i = 0; same && i < item->node->input_count; i++)
    same = find_sources(table, item->node->inputs[i], out);
  return same;
}

static bool is_given(const leat_item *item) {
  return leat_leaf_is_fixed(item->node->info->leaf);
}

// What the body is given there.
static leat_item *outside(const leat_table *body, const leat_item *param) {
  const leat_node *region = body->region->members.items[0]->node;
  uint32_t first = region->input_count - body->body->params.count;
  uint32_t index = (uint32_t)leat_node_attr(param->node, "index")->i;
  return leat_item_memory(body->around, region->inputs[first + index]);
}

// Has the sources as those of the table around, if its region is a launch of a segment and changes
// none of them: what a loop carries is read, as variables are.
static bool go_out(const leat_table *body, item_list *sources) {
  for (uint32_t i = 0; i < sources->count; i++)
    if (!is_given(sources->items[i]) &&
        (sources->items[i]->held || sources->items[i]->node->info->leaf != LEAT_LEAF_PARAMETER))
      return false;
  if (body->region->region.waits) return false;
  for (uint32_t i = 0; i < sources->count; i++)
    if (!is_given(sources->items[i])) sources->items[i] = outside(body, sources->items[i]);
  return true;
}

static void see_whether_kept(const leat_table *table, const item_list *sources,
                             leat_panels_home *home) {
  home->kept = !table->initialises;
  for (uint32_t i = 0; i < sources->count; i++) {
    const leat_storage *storage = sources->items[i]->storage;
    home->kept &= storage && leat_storage_is_kept(table->cg, storage);
    home->in_variable |= storage && storage->kind == LEAT_BUFFER_VARIABLE;
  }
}

leat_panels_home leat_panels_find_home(leat_table *table, leat_value b) {
  leat_panels_home home = {.table = table};
  item_list sources = {0};
  leat_unit *region = NULL;
  if (!find_sources(table, b, &sources)) return home;
  while (table->body && go_out(table, &sources)) {
    region = table->region;
    table = table->around;
    if (region->members.items[0]->node->op != LEAT_OP_while_loop) continue;
    home.table = table;
    home.region = region;
  }
  if (table->body) return home;
  see_whether_kept(table, &sources, &home);
  if (home.kept) home.table = table, home.region = region;
  return home;
}

void leat_panels_move_out(const leat_table *body) {
  leat_arena *arena = body->cg->arena;
  for (uint32_t i = 0; i < body->units.count; i++) {
    leat_unit *unit = body->units.items[i];
    bool packs = unit->kind == LEAT_UNIT_CONTRACT && leat_contraction_packs(unit->contraction) &&
                 !unit->contraction->packed;
    leat_unit *region = packs ? unit->contraction->ahead_of : NULL;
    if (!region) continue;
    leat_vec_push(arena, &region->launches, unit->launches.items[0]);
    for (uint32_t k = 1; k < unit->launches.count; k++)
      unit->launches.items[k - 1] = unit->launches.items[k];
    unit->launches.count--;
  }
}
