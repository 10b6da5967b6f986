// What a unit is to do, for tile sizes, the order of units and the number of threads: nothing that
// it decides changes a bit of a result.
#include "codegen/units.h"

// What is not updated stays where it is, or is copied by a launch of its own.
static leat_work scatter_work(const leat_target_info *target, const leat_node *node) {
  double updates = leat_cost_bytes(leat_value_type(node->inputs[2]));
  return (leat_work){leat_cost_computing(target, node), 2 * updates};
}

// No more is read for an element than one element of each operand, but for a contraction.
static double bytes_read(const leat_unit *unit, const leat_item *item) {
  double elements = leat_cost_elements(unit->dims, unit->rank), bytes = 0;
  for (uint32_t j = 0; j < item->reads.count; j++) {
    const leat_item *producer = item->reads.items[j]->producer;
    bool in_tile = producer->storage && producer->storage->in_tile;
    if (in_tile || (producer->unit && leat_unit_of(producer->unit) == unit)) continue;
    double all = leat_cost_bytes(leat_item_type(producer));
    double most = elements * (double)leat_dtype_size(leat_item_type(producer)->dtype);
    bytes += item->node->info->kind == LEAT_KIND_CONTRACT || all < most ? all : most;
  }
  return bytes;
}

// Beside what is in its chain.
static leat_work work_alone(const leat_table *table, const leat_unit *unit) {
  const leat_target_info *target = table->cg->options->target;
  const leat_node *first = unit->members.count ? unit->members.items[0]->node : NULL;
  if (first && first->info->kind == LEAT_KIND_SCATTER) return scatter_work(target, first);
  leat_work work = {0};
  for (uint32_t i = 0; i < unit->members.count; i++) {
    work.computing += leat_cost_computing(target, unit->members.items[i]->node);
    work.bytes += bytes_read(unit, unit->members.items[i]);
  }
  for (uint32_t i = 0; i < unit->outputs.count; i++)
    if (!unit->outputs.items[i].storage->in_tile)
      work.bytes += leat_cost_bytes(&unit->outputs.items[i].storage->type);
  if (unit->kind == LEAT_UNIT_COPY) work.bytes += 2 * leat_cost_bytes(&unit->copy.to->type);
  return work;
}

leat_work leat_unit_work(const leat_table *table, const leat_unit *unit) {
  leat_work work = work_alone(table, unit);
  for (uint32_t i = 0; i < unit->chain.count; i++) {
    leat_work part = work_alone(table, unit->chain.items[i]);
    work.computing += part.computing;
    work.bytes += part.bytes;
  }
  return work;
}

double leat_unit_estimate(const leat_table *table, const leat_unit *unit) {
  return LEAT_LAUNCH_NANOSECONDS + leat_cost_nanoseconds(leat_unit_work(table, unit));
}
