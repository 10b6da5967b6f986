// Estimates of run time in nanoseconds on one core, for tile sizes, the order of units and the
// number of threads. Nothing that they decide changes a bit of a result.
#include "codegen/units.h"
#include "ops/ops.h"

#include <math.h>

enum { BYTES_A_NANOSECOND = 50 }; // of memory

double leat_elements_estimate(const leat_dim *dims, int rank) {
  double elements = 1;
  for (int i = 0; i < rank; i++)
    elements *= leat_dim_is_const(dims[i]) ? (double)dims[i].value : LEAT_GUESS;
  return elements;
}

double leat_node_cost(const leat_node *node) {
  return leat_op_cost_of(node->op).picoseconds / 1000.0;
}

static double bytes_of(const leat_type *type) {
  return leat_elements_estimate(type->dims, type->rank) * (double)leat_dtype_size(type->dtype);
}

static double contraction_cost(const leat_node *node) {
  const leat_type *out = &node->outputs[0];
  leat_dim depth;
  double k = leat_contraction_depth(node, &depth) * leat_elements_estimate(&depth, 1);
  double lanes =
      ceil(leat_elements_estimate(&out->dims[out->rank - 1], 1) / LEAT_LANES) * LEAT_LANES;
  double rows = leat_elements_estimate(out->dims, out->rank - 1);
  return rows * lanes * k * 2 / (LEAT_FLOPS_A_NANOSECOND / (out->dtype == LEAT_f64 ? 2.0 : 1.0));
}

// What is not updated stays where it is, or is copied by a launch of its own.
static double scatter_cost(const leat_node *node) {
  const leat_type *updates = leat_value_type(node->inputs[2]);
  double elements = leat_elements_estimate(updates->dims, updates->rank);
  return elements * leat_node_cost(node) + 2 * bytes_of(updates) / BYTES_A_NANOSECOND;
}

double leat_unit_estimate(const leat_unit *unit) {
  double elements = leat_elements_estimate(unit->dims, unit->rank), cost = 50;
  const leat_node *first = unit->members.count ? unit->members.items[0]->node : NULL;
  if (first && first->info->kind == LEAT_KIND_SCATTER) return cost + scatter_cost(first);
  for (uint32_t i = 0; i < unit->members.count; i++) {
    const leat_item *item = unit->members.items[i];
    cost += leat_elements_estimate(leat_item_space(item)->dims, leat_item_space(item)->rank) *
            leat_node_cost(item->node);
    bool contracts =
        item->node->info->kind == LEAT_KIND_CONTRACT; // each result reads many elements
    if (contracts) cost += contraction_cost(item->node);
    for (uint32_t j = 0; j < item->reads.count; j++) {
      const leat_item *producer = item->reads.items[j]->producer;
      double bytes = bytes_of(leat_item_type(producer));
      double most = elements * (double)leat_dtype_size(leat_item_type(producer)->dtype);
      if (!producer->unit || leat_unit_of(producer->unit) != unit)
        cost += (contracts || bytes < most ? bytes : most) / BYTES_A_NANOSECOND;
    }
  }
  for (uint32_t i = 0; i < unit->outputs.count; i++)
    cost += bytes_of(&unit->outputs.items[i].storage->type) / BYTES_A_NANOSECOND;
  if (unit->kind == LEAT_UNIT_COPY) cost += 2 * bytes_of(&unit->copy.to->type) / BYTES_A_NANOSECOND;
  return cost;
}
