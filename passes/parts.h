// Taking a graph apart by devices: what `partition` does with a step and with the bodies of regions
// that are on several devices. Internal to passes/.
//
// What goes apart is one graph, the step or a body; of each device there is one that its nodes go
// to. Every node's own copy is made first, so that its name is its own; then a walk in topological
// order connects the copies and lists them in their new order.
#ifndef LEAT_PASSES_PARTS_H
#define LEAT_PASSES_PARTS_H

#include "passes/clone.h"
#include "passes/critical_path.h"
#include "passes/pass.h"

typedef struct leat_spanning leat_spanning;

// What a device has of the graph.
typedef struct leat_part {
  leat_cloner *cloner;
  leat_graph *graph; // that its nodes are added to: the cloner's, or a body in it
  leat_node_list order;
  leat_node *token; // what is sent for control edges; NULL: none yet
} leat_part;

typedef struct leat_partitioner {
  leat_pass_context *context;
  const leat_graph *graph;
  const bool *in_step;      // by node id; NULL: all are
  leat_part *parts;         // by device
  uint32_t *device;         // by node id
  leat_node **home;         // by node id: the copy on the node's own device
  leat_spanning **spanning; // by node id: of a region on several devices instead
  leat_spanning *around;    // of a body: the region whose it is
  bool *listed;             // by node id: that copy is in its part's order
  leat_bytes_map copies;    // leat_copy_key → leat_node
  leat_cost_model *cost;
  const leat_critical_path *path; // NULL: of a body
  const leat_map *numbers;        // device name → 1 + its number
  uint32_t *edges;                // made so far
} leat_partitioner;

// Which copy: of a node's output on a device that is not its own, or (port INITIAL) of a node for
// initial values there.
typedef struct leat_copy_key {
  uint32_t node, port, device;
} leat_copy_key;

enum {
  LEAT_COPY_INITIAL = UINT32_MAX,
  LEAT_COPY_CONTROL = UINT32_MAX - 1,
  LEAT_COPY_BINDER = UINT32_MAX - 2
};

leat_node *leat_parts_find(const leat_partitioner *p, leat_copy_key key);
void leat_parts_keep(leat_partitioner *p, leat_copy_key key, leat_node *copy);

// Of context, graph, parts, numbers and edges all else is made: the copies of nodes that are on one
// device.
void leat_parts_begin(leat_partitioner *p);
void leat_parts_connect(leat_partitioner *p);
// A part sizes memory by the dims that it has, so each checks all that it can.
void leat_parts_copy_checks(leat_partitioner *p);
void leat_parts_list(leat_partitioner *p, uint32_t device, leat_node *node);
void leat_parts_list_home(leat_partitioner *p, const leat_node *node);
// A copy on `device` besides the node's own, called as like it as possible.
leat_node *leat_parts_copy(leat_partitioner *p, const leat_node *node, leat_entry *entry,
                           uint32_t device, const leat_value *inputs);

// The value on the device, where `user` is the first that needs it.
leat_value leat_parts_value(leat_partitioner *p, leat_value value, const leat_node *user,
                            uint32_t device);
// Where the value is made.
uint32_t leat_parts_home(const leat_partitioner *p, leat_value value);
// Making it again costs less than sending it.
bool leat_parts_is_cheap(const leat_node *node);
// `copy`, which is the node's on `device`, runs after what the node runs after.
void leat_parts_connect_controls(leat_partitioner *p, const leat_node *node, leat_node *copy,
                                 uint32_t device);
// A token from one device to the other, named after `like`; answers the recv, which lags by so
// many.
leat_node *leat_parts_token(leat_partitioner *p, const leat_node *like, uint32_t from, uint32_t to,
                            int64_t lag, leat_node **out_send);
// Adds what binds the dims on the device of `user`: a node for each dim of what grows elsewhere.
void leat_parts_list_binders(leat_partitioner *p, const leat_node *binder, const leat_node *user,
                             uint32_t device, leat_node_list *out);

// -- spanning.c: regions on several devices -------------------------------------------------------

struct leat_spanning {
  const leat_node *node;
  leat_partitioner *bodies[2];
  bool *uses;         // by device, then parameter: the device's copy has it
  uint32_t *home;     // by result: the device whose copy has it
  uint32_t *port;     // by result: as which of that copy's
  leat_node **copies; // by device; NULL: there is nothing of it
};

// Whether something in the bodies is on another device than the node.
bool leat_is_spanning(const leat_node *node);
// Makes the copies of the region, one a device that has work in it, and lists them.
void leat_spanning_connect(leat_partitioner *p, const leat_node *node);
// The parameter of the copy on the device that stands for `param`; `p` is of the body.
leat_value leat_spanning_parameter(leat_partitioner *p, const leat_node *param, uint32_t device);

// spanning_ahead.c. Bounds how many iterations a copy of the loop may be ahead of another that it
// sends to, by its attribute `parallel`. To be called when the bodies have all their edges.
void leat_spanning_bound(leat_spanning *s);

#endif
