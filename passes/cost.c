// Operations and bytes of each op, and the speeds that they are divided by.
#include "passes/cost.h"

#include "ir/device_name.h"
#include "ops/ops.h"

static const double node_overhead = 1e-7;   // starting any piece of work
static const double local_latency = 1e-5;   // between devices of one process: tasks hand over
static const double local_bandwidth = 1e10; // and a copy
enum { GUESSED_DIM = 32 };

static const int64_t *guess_dims(const leat_pass_context *context, uint32_t count) {
  int64_t *values = leat_new_array(context->scratch, int64_t, count);
  for (uint32_t i = 0; i < count; i++) {
    const leat_atom *atom = leat_dims_atom(context->graph->dims, i);
    values[i] = GUESSED_DIM;
    if (atom->kind != LEAT_ATOM_NAMED) continue;
    if (values[i] < atom->low) values[i] = atom->low;
    if (values[i] > atom->high) values[i] = atom->high;
  }
  return values;
}

// Devices whose names differ only in their last part belong to one process.
static const uint32_t *find_processes(const leat_pass_context *context) {
  uint32_t *process = leat_new_array(context->scratch, uint32_t, context->device_count);
  leat_map first; // "/job:ps/task:0" → 1 + the first device of it
  leat_map_init(&first, context->scratch);
  for (uint32_t i = 0; i < context->device_count; i++) {
    leat_strings *strings = context->graph->strings;
    leat_device_name name = {.task = -1, .index = -1};
    if (leat_device_name_parse(strings, context->devices[i].name, &name)) {
      name.type = NULL;
      name.index = -1;
    }
    const char *key = leat_device_name_format(strings, name);
    if (!leat_map_get(&first, key)) leat_map_set(&first, key, (void *)(uintptr_t)(i + 1));
    process[i] = (uint32_t)(uintptr_t)leat_map_get(&first, key);
  }
  return process;
}

leat_cost_model leat_cost_model_create(const leat_pass_context *context) {
  leat_cost_model model = {.context = context};
  uint32_t count = leat_dims_atom_count(context->graph->dims);
  bool *known = leat_new_array(context->scratch, bool, count);
  for (uint32_t i = 0; i < count; i++) known[i] = true;
  model.dim_values = guess_dims(context, count);
  model.dim_known = known;
  model.process = find_processes(context);
  return model;
}

static double dim_value(const leat_cost_model *model, leat_dim dim) {
  int64_t value;
  if (leat_dim_is_const(dim)) return (double)dim.value;
  bool found = leat_dim_eval(dim, model->dim_values, model->dim_known, &value) && value >= 0;
  return found ? (double)value : GUESSED_DIM;
}

static double elements(const leat_cost_model *model, const leat_type *type) {
  double count = 1;
  for (int32_t i = 0; i < type->rank; i++) count *= dim_value(model, type->dims[i]);
  return count;
}

double leat_cost_bytes(const leat_cost_model *model, const leat_type *type) {
  return elements(model, type) * (double)leat_dtype_size(type->dtype);
}

double leat_cost_result_bytes(const leat_cost_model *model, const leat_node *node) {
  double bytes = 0;
  for (uint32_t i = 0; i < node->output_count; i++)
    bytes += leat_cost_bytes(model, &node->outputs[i]);
  return bytes;
}

static double operations(const leat_cost_model *model, const leat_node *node, double outputs) {
  switch (node->info->kind) {
  case LEAT_KIND_ELEMENT:
    return outputs * leat_op_cost_of(node->op).picoseconds / LEAT_INSTRUCTION_PICOSECONDS;
  case LEAT_KIND_REDUCE: return elements(model, leat_value_type(node->inputs[0]));
  case LEAT_KIND_SCATTER: return 4 * elements(model, leat_value_type(node->inputs[2]));
  case LEAT_KIND_CONTRACT: {
    leat_dim depth;
    double each = leat_contraction_depth(node, &depth);
    return 2 * outputs * each * dim_value(model, depth);
  }
  case LEAT_KIND_LIBRARY: return 20 * outputs;
  case LEAT_KIND_STRUCTURE:
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

leat_work leat_cost_work(const leat_cost_model *model, const leat_node *node) {
  if (is_free(node)) return (leat_work){0};
  const leat_op_info *info = node->info;
  bool picks = info->reads == LEAT_READS_GATHERED || info->reads == LEAT_READS_PICKED;
  double outputs = node->output_count ? elements(model, &node->outputs[0]) : 0;
  double result = leat_cost_result_bytes(model, node);
  leat_work work = {operations(model, node, outputs), result};
  if (picks) work.bytes += result; // it reads no more than it gives
  for (uint32_t i = 0; !picks && i < node->input_count; i++)
    work.bytes += leat_cost_bytes(model, leat_value_type(node->inputs[i]));
  return work;
}

double leat_cost_seconds(const leat_cost_model *model, leat_work work, uint32_t device) {
  const leat_device_info *info = &model->context->devices[device];
  if (work.operations == 0 && work.bytes == 0) return 0;
  double computing = info->flops > 0 ? work.operations / info->flops : 0;
  double moving = info->bandwidth > 0 ? work.bytes / info->bandwidth : 0;
  return node_overhead + (computing > moving ? computing : moving);
}

double leat_cost_transfer(const leat_cost_model *model, uint32_t from, uint32_t to, double bytes) {
  if (from == to) return 0;
  if (model->process[from] == model->process[to]) return local_latency + bytes / local_bandwidth;
  double bandwidth = model->context->link_bandwidth;
  return model->context->link_latency + (bandwidth > 0 ? bytes / bandwidth : 0);
}
