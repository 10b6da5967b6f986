// Units and images as text, for dumps.
#include "codegen/contract_plan.h"
#include "codegen/stages.h"
#include "ir/print.h"

const char *leat_unit_kind_name(const leat_unit *unit) {
  switch (unit->kind) {
  case LEAT_UNIT_LOOPS: return "loops";
  case LEAT_UNIT_CONTRACT: return "contract";
  case LEAT_UNIT_SCATTER: return "scatter";
  case LEAT_UNIT_CONCAT: return "concat";
  case LEAT_UNIT_LIBRARY: return "library";
  case LEAT_UNIT_COPY: return "copy";
  case LEAT_UNIT_ROTATE: return "rotate";
  case LEAT_UNIT_ROOM: return "room";
  case LEAT_UNIT_GEMM: return "gemm";
  case LEAT_UNIT_REGION:
  case LEAT_UNIT_TASK: return unit->members.items[0]->node->info->name;
  }
  return "";
}

static void print_storage(const leat_storage *storage, leat_text *out) {
  if (storage->kind == LEAT_BUFFER_VARIABLE) leat_text_add(out, " -> var %s", storage->state->name);
  if (storage->kind != LEAT_BUFFER_ARENA) return;
  leat_text_add(out, " -> ");
  leat_type_print(&storage->type, out);
  if (storage->in_tile) leat_text_add(out, " in tiles");
  if (storage->in_tile) return;
  if (storage->place.table->in_kernel) return;
  const leat_storage *owner = leat_storage_owner((leat_storage *)storage);
  if (owner->kind == LEAT_BUFFER_FEED) {
    leat_text_add(out, " in feed %s", owner->node->name);
    return;
  }
  leat_text_add(out, " at ");
  const leat_storage *pool = storage->place.pool;
  leat_dim_print((pool ? pool : storage)->place.offset, out);
  if (pool) leat_text_add(out, ", slot %u", storage->place.slot);
  uint32_t arena = (pool ? pool : storage)->place.arena;
  if (arena) leat_text_add(out, " of arena %u", arena);
}

static void print_output(const leat_output *output, leat_text *out) {
  print_storage(output->storage, out);
  if (!output->into) return;
  leat_text_add(out, ", from ");
  leat_dim_print(output->offset, out);
  leat_text_add(out, " on along axis %d", output->axis);
}

static void print_decision(const leat_unit *unit, leat_text *out) {
  const leat_region_tables *region = &unit->region;
  const char *name = unit->members.items[0]->node->name;
  if (region->kernel) leat_text_add(out, "region %s: one kernel\n", name);
  if (region->why) leat_text_add(out, "region %s: launch by launch: %s\n", name, region->why);
}

static void print_space(const leat_unit *unit, leat_text *out) {
  leat_text_add(out, "%s [", leat_unit_kind_name(unit));
  for (int k = 0; k < unit->rank; k++) {
    leat_text_add(out, "%s%s", k ? ", " : "", unit->reduced >> k & 1 ? "+" : "");
    leat_dim_print(unit->dims[k], out);
  }
  leat_text_add(out, "]");
}

static void print_members(const leat_unit *unit, leat_text *out) {
  for (uint32_t i = 0; i < unit->members.count; i++) {
    const leat_item *item = unit->members.items[i];
    leat_text_add(out, "  ");
    if (!item->port) leat_node_print(item->node, out);
    for (uint32_t j = 0; j < unit->outputs.count; j++)
      if (unit->outputs.items[j].item == item) print_output(&unit->outputs.items[j], out);
    leat_text_add(out, "\n");
  }
  if (unit->kind == LEAT_UNIT_CONTRACT && unit->contraction)
    leat_contraction_plan_print(unit->contraction, out);
}

static void print_unit(const leat_unit *unit, leat_text *out) {
  leat_text_add(out, "unit %u ", unit->position);
  print_space(unit, out);
  leat_text_add(out, " task %u%s\n", unit->task, unit->again ? ", again" : "");
  for (uint32_t i = 0; i < unit->chain.count; i++) {
    leat_text_add(out, " by rows of ");
    print_space(unit->chain.items[i], out);
    leat_text_add(out, "\n");
    print_members(unit->chain.items[i], out);
  }
  if (unit->chain.count) leat_text_add(out, " then\n");
  print_members(unit, out);
  if (unit->kind == LEAT_UNIT_REGION) print_decision(unit, out);
  const leat_storage *filled = leat_unit_filled(unit);
  if (filled) print_storage(filled, out), leat_text_add(out, "\n");
}

void leat_units_print(const leat_table *table, leat_text *out) {
  const char *name = table->initialises ? table->initialises->name
                     : table->body      ? table->body->owner->name
                                        : "step";
  leat_text_add(out, "table %s\n", name);
  for (uint32_t i = 0; i < table->units.count; i++) print_unit(table->units.items[i], out);
}
