// The static cost model: how long a node takes on a device, and a tensor on a link.
//
// It only has to rank choices, so it is coarse: an op is bound either by its operations or by its
// bytes, and a run-time dim is guessed. Seconds throughout.
#ifndef LEAT_PASSES_COST_H
#define LEAT_PASSES_COST_H

#include "passes/pass.h"

typedef struct leat_cost_model {
  const leat_pass_context *context;
  const uint32_t *process;   // by device: devices of one process have the same number
  const int64_t *dim_values; // by atom id: the step's value, or a guess
  const bool *dim_known;     // all true
} leat_cost_model;

typedef struct leat_work {
  double operations, bytes;
} leat_work;

leat_cost_model leat_cost_model_create(const leat_pass_context *context);
double leat_cost_bytes(const leat_cost_model *model, const leat_type *type);
double leat_cost_result_bytes(const leat_cost_model *model,
                              const leat_node *node); // of all outputs
leat_work leat_cost_work(const leat_cost_model *model, const leat_node *node);
double leat_cost_seconds(const leat_cost_model *model, leat_work work, uint32_t device);
// From one device to another; 0 when they are the same.
double leat_cost_transfer(const leat_cost_model *model, uint32_t from, uint32_t to, double bytes);

#endif
