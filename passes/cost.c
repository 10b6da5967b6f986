#include "passes/cost.h"

#include "ir/device_name.h"

static const double local_latency = 1e-5; // between devices of one process: tasks hand over

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
  return (leat_cost_model){.context = context, .process = find_processes(context)};
}

double leat_cost_seconds(const leat_cost_model *model, leat_work work, uint32_t device) {
  if (work.computing == 0 && work.bytes == 0) return 0;
  double here = LEAT_LAUNCH_NANOSECONDS + leat_cost_nanoseconds(work);
  return 1e-9 * here / model->context->devices[device].speed;
}

double leat_cost_transfer(const leat_cost_model *model, uint32_t from, uint32_t to, double bytes) {
  if (from == to) return 0;
  if (model->process[from] == model->process[to])
    return local_latency + 1e-9 * bytes / LEAT_MEMORY_RATE;
  double bandwidth = model->context->link_bandwidth;
  return model->context->link_latency + (bandwidth > 0 ? bytes / bandwidth : 0);
}
