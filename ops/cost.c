#include "ops/cost.h"

#include "kernel/kernel.h"
#include "ops/ops.h"

#include <math.h>

enum {
  PRODUCT_FLOPS = 160,  // a nanosecond, where a register holds LEAT_LANES and there is fma
  LIBRARY_ELEMENT = 20, // instructions of a function's, about whose loops nothing is known
};

double leat_cost_extent(leat_dim dim) {
  return leat_dim_is_const(dim) ? (double)dim.value : LEAT_UNKNOWN_EXTENT;
}

double leat_cost_elements(const leat_dim *dims, int rank) {
  double elements = 1;
  for (int i = 0; i < rank; i++) elements *= leat_cost_extent(dims[i]);
  return elements;
}

double leat_cost_bytes(const leat_type *type) {
  return leat_cost_elements(type->dims, type->rank) * (double)leat_dtype_size(type->dtype);
}

double leat_cost_result_bytes(const leat_node *node) {
  double bytes = 0;
  for (uint32_t i = 0; i < node->output_count; i++) bytes += leat_cost_bytes(&node->outputs[i]);
  return bytes;
}

double leat_cost_instruction(const leat_target_info *target) {
  return LEAT_INSTRUCTION_PICOSECONDS / 1000.0 * leat_vector_registers(target, LEAT_f32);
}

double leat_cost_element(const leat_target_info *target, leat_op op) {
  return leat_op_cost_of(op).picoseconds / 1000.0 * leat_vector_registers(target, LEAT_f32);
}

double leat_cost_flops(const leat_target_info *target, leat_dtype dtype) {
  double rate = (double)PRODUCT_FLOPS / leat_vector_registers(target, dtype);
  return target->has_fma ? rate : rate / 2;
}

// Columns are computed by vectors.
static double products(const leat_target_info *target, const leat_node *node) {
  const leat_type *out = &node->outputs[0];
  int tile = leat_winograd_of(node).tile;
  if (tile) {
    leat_convolution convolution = leat_convolution_of(node);
    return leat_cost_convolution(target, &convolution, tile);
  }
  if (leat_is_depthwise(node)) {
    leat_depthwise what = leat_depthwise_of(node);
    double images = leat_cost_extent(leat_value_type(node->inputs[0])->dims[0]);
    return leat_cost_depthwise(target, out->dtype, &what, images);
  }
  double k = leat_cost_extent(leat_contraction_depth(node));
  double lanes = ceil(leat_cost_extent(out->dims[out->rank - 1]) / LEAT_LANES) * LEAT_LANES;
  double rows = leat_cost_elements(out->dims, out->rank - 1);
  return rows * lanes * k * 2 / leat_cost_flops(target, out->dtype);
}

static double elements_of(leat_value value) {
  const leat_type *type = leat_value_type(value);
  return leat_cost_elements(type->dims, type->rank);
}

double leat_cost_computing(const leat_target_info *target, const leat_node *node) {
  const leat_type *out = node->outputs;
  double element = leat_cost_element(target, node->op);
  double outputs = node->output_count ? leat_cost_elements(out->dims, out->rank) : 0;
  switch (node->info->kind) {
  case LEAT_KIND_STRUCTURE:
  case LEAT_KIND_ELEMENT: return outputs * element;
  case LEAT_KIND_REDUCE: return elements_of(node->inputs[0]) * element;
  case LEAT_KIND_SCATTER: return elements_of(node->inputs[2]) * element;
  case LEAT_KIND_CONTRACT: return outputs * element + products(target, node);
  case LEAT_KIND_LIBRARY: return outputs * element * LIBRARY_ELEMENT;
  case LEAT_KIND_HOST:
  case LEAT_KIND_REGION: return 0;
  }
  return 0;
}

// Nothing runs for what is fed, constant, loaded, read in place or fetched, and what only renames
// elements costs nothing in the kernel that uses it.
static bool is_free(const leat_node *node) {
  const leat_op_info *info = node->info;
  bool structure = info->kind == LEAT_KIND_STRUCTURE;
  return (structure && (node->input_count == 0 || node->op == LEAT_OP_fetch)) ||
         info->reads == LEAT_READS_RESHAPED || info->reads == LEAT_READS_BROADCAST;
}

leat_work leat_cost_work(const leat_target_info *target, const leat_node *node) {
  if (is_free(node)) return (leat_work){0};
  const leat_op_info *info = node->info;
  bool picks = info->reads == LEAT_READS_GATHERED || info->reads == LEAT_READS_PICKED;
  double result = leat_cost_result_bytes(node);
  leat_work work = {leat_cost_computing(target, node), result};
  if (picks) work.bytes += result; // it reads no more than it gives
  for (uint32_t i = 0; !picks && i < node->input_count; i++)
    work.bytes += leat_cost_bytes(leat_value_type(node->inputs[i]));
  return work;
}

double leat_cost_nanoseconds(leat_work work) {
  return work.computing + work.bytes / LEAT_CACHE_RATE;
}

double leat_cost_copy(const leat_type *type) {
  return 2 * leat_cost_bytes(type) / LEAT_CACHE_RATE;
}
