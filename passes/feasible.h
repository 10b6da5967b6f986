// On which devices each node and state may be: the white paper's section 4.3.
//
// Items are the nodes of the graph by id, then its states: state s is item nodes.count + s. Items
// that must share a device form a component, and a component has one set of devices, as bits. A
// node with bodies is where all in them may be, if there is such a device; if there is none, these
// go apart, each to devices of its own.
#ifndef LEAT_PASSES_FEASIBLE_H
#define LEAT_PASSES_FEASIBLE_H

#include "passes/pass.h"

typedef struct leat_feasible {
  uint32_t item_count;
  uint32_t *component;  // by item: the item that stands for its component
  const uint64_t **set; // by that item: the devices allowed
  leat_map in_bodies;   // node of a body of the step → the devices allowed
} leat_feasible;

static inline bool leat_device_set_has(const uint64_t *set, uint32_t device) {
  return set[device / 64] >> (device % 64) & 1;
}

// in_step by node id: the others are left out. Reports names that are none, constraints that no
// device satisfies and colocations that contradict each other.
LEAT_MUST_USE leat_status leat_find_feasible(const leat_pass_context *context, const bool *in_step,
                                             leat_feasible *out);

#endif
