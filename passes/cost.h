// What `place` and `partition` ask besides the model that all share (ops/cost.h): how long a node
// takes on a device, and a tensor on a link. Seconds throughout.
#ifndef LEAT_PASSES_COST_H
#define LEAT_PASSES_COST_H

#include "ops/cost.h"
#include "passes/pass.h"

typedef struct leat_cost_model {
  const leat_pass_context *context;
  const uint32_t *process; // by device: devices of one process have the same number
} leat_cost_model;

leat_cost_model leat_cost_model_create(const leat_pass_context *context);
double leat_cost_seconds(const leat_cost_model *model, leat_work work, uint32_t device);
// From one device to another; 0 when they are the same.
double leat_cost_transfer(const leat_cost_model *model, uint32_t from, uint32_t to, double bytes);

#endif
