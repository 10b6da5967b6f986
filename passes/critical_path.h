// ASAP and ALAP times of a placed step: when each node can start at the earliest, and when it must
// at the latest for the step to end no later (white paper, section 5.2).
#ifndef LEAT_PASSES_CRITICAL_PATH_H
#define LEAT_PASSES_CRITICAL_PATH_H

#include "passes/cost.h"

typedef struct leat_critical_path {
  double *earliest_end; // by node id
  double *latest_start; // by node id
  leat_node **before;   // by node id: its input on the same device that is ready last, or NULL
} leat_critical_path;

// device: by node id; in_step by node id: the nodes that count.
leat_critical_path leat_critical_path_find(const leat_cost_model *cost, const bool *in_step,
                                           const uint32_t *device);

// What the receiving of a value for `user` can wait for: a node on the user's device and on its
// critical path that is done, by the earliest, just early enough for the transfer to be complete
// when `user` must start. NULL when receiving should start at once, or when `producer` is not done
// earlier anyway.
leat_node *leat_critical_path_delay(const leat_critical_path *path, const leat_node *producer,
                                    const leat_node *user, double transfer);

#endif
