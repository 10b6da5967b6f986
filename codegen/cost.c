// Estimates of run time in nanoseconds on one core, for tile sizes, the order of units and the
// number of threads. Nothing that they decide changes a bit of a result.
#include "codegen/units.h"

#include <math.h>

double leat_elements_estimate(const leat_dim *dims, int rank) {
  double elements = 1;
  for (int i = 0; i < rank; i++)
    elements *= leat_dim_is_const(dims[i]) ? (double)dims[i].value : LEAT_GUESS;
  return elements;
}

// 16 lanes: an instruction of a vector takes half a cycle, memory 50 bytes a nanosecond.
double leat_node_cost(const leat_node *node) {
  switch ((int)node->op) {
  case LEAT_OP_exp:
  case LEAT_OP_log:
  case LEAT_OP_tanh: return 0.15;
  case LEAT_OP_random_bits: return 1.5;
  case LEAT_OP_floor_div:
  case LEAT_OP_remainder: return 0.5;
  case LEAT_OP_exp2:
  case LEAT_OP_expm1:
  case LEAT_OP_hypot:
  case LEAT_OP_sinh:
  case LEAT_OP_cosh: return 0.6;
  case LEAT_OP_log2:
  case LEAT_OP_log10:
  case LEAT_OP_log1p:
  case LEAT_OP_sin:
  case LEAT_OP_cos:
  case LEAT_OP_tan:
  case LEAT_OP_asin:
  case LEAT_OP_acos:
  case LEAT_OP_atan:
  case LEAT_OP_cbrt: return 1;
  case LEAT_OP_asinh:
  case LEAT_OP_acosh:
  case LEAT_OP_atanh:
  case LEAT_OP_atan2:
  case LEAT_OP_erf:
  case LEAT_OP_erfc:
  case LEAT_OP_pow: return 2;
  case LEAT_OP_gcd:
  case LEAT_OP_erfinv:
  case LEAT_OP_lgamma:
  case LEAT_OP_digamma: return 5;
  case LEAT_OP_permutation: return 8;
  case LEAT_OP_gather: return 0.5;
  case LEAT_OP_div:
  case LEAT_OP_mod:
  case LEAT_OP_sqrt: return 0.1;
  }
  return 0.015;
}

static double bytes_of(const leat_type *type) {
  return leat_elements_estimate(type->dims, type->rank) * (double)leat_dtype_size(type->dtype);
}

static double contraction_cost(const leat_node *node) {
  const leat_type *a = leat_value_type(node->inputs[0]), *out = &node->outputs[0];
  int k_axis = a->rank - (leat_node_attr(node, "transpose_a")->i ? 2 : 1);
  double k = leat_elements_estimate(&a->dims[k_axis], 1);
  double lanes =
      ceil(leat_elements_estimate(&out->dims[out->rank - 1], 1) / LEAT_LANES) * LEAT_LANES;
  double rows = leat_elements_estimate(out->dims, out->rank - 1);
  return rows * lanes * k * 2 / (out->dtype == LEAT_f64 ? 80 : 160);
}

double leat_unit_estimate(const leat_unit *unit) {
  double elements = leat_elements_estimate(unit->dims, unit->rank), cost = 50;
  for (uint32_t i = 0; i < unit->members.count; i++) {
    const leat_item *item = unit->members.items[i];
    cost += leat_elements_estimate(leat_item_space(item)->dims, leat_item_space(item)->rank) *
            leat_node_cost(item->node);
    if (leat_op_info_of(item->node->op)->kind == LEAT_KIND_CONTRACT)
      cost += contraction_cost(item->node);
    for (uint32_t j = 0; j < item->reads.count; j++) {
      const leat_item *producer = item->reads.items[j]->producer;
      double bytes = bytes_of(leat_item_type(producer));
      double most = elements * (double)leat_dtype_size(leat_item_type(producer)->dtype);
      if (!producer->unit || leat_unit_of(producer->unit) != unit)
        cost += (bytes < most ? bytes : most) / 50;
    }
  }
  for (uint32_t i = 0; i < unit->outputs.count; i++)
    cost += bytes_of(&unit->outputs.items[i].storage->type) / 50;
  if (unit->kind == LEAT_UNIT_COPY) cost += bytes_of(&unit->to->type) / 25;
  return cost;
}
