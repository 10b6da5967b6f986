// What the files of the pass `prune` use of one another. Internal to passes/.
//
//   prune.c        the pass: checks, copies      prune_ports.c  feeds and fetches
//   prune_needs.c  what the step needs           prune_order.c  what runs before what
#ifndef LEAT_PASSES_PRUNE_H
#define LEAT_PASSES_PRUNE_H

#include "passes/clone.h"
#include "passes/pass.h"

typedef struct leat_pruner {
  leat_pass_context *context;
  const leat_graph *session;
  const leat_step_request *request;
  uint8_t *needs;     // of the step, by id; 0: it does not need the node
  bool *initial;      // needed by a state's initial value, by id
  bool *fed;          // some output is fed, by id
  leat_node **copies; // by id
  leat_value *feeds;  // `feed` nodes, in the order of request->feeds
  const char **homes; // by state id of the session's graph
  uint32_t fetches;   // made so far
  leat_cloner cloner;
} leat_pruner;

leat_state *leat_prune_copy_state(leat_pruner *pruner, const leat_state *state);
bool leat_step_has_entry(const leat_step_request *step, const leat_entry *entry);

// -- prune_needs.c --------------------------------------------------------------------------------
// Sets `needs` and `initial`.
LEAT_MUST_USE leat_status leat_prune_find_needs(leat_pruner *pruner);

// -- prune_ports.c --------------------------------------------------------------------------------
// What is fed for the value; NULL: it is computed.
const leat_value *leat_prune_feed(const leat_pruner *pruner, leat_value value);
leat_value leat_prune_copy_of(const leat_pruner *pruner, leat_value value); // or what is fed for it
void leat_prune_copy_feeds(leat_pruner *pruner);
// When all nodes are copied.
LEAT_MUST_USE leat_status leat_prune_number_feeds(leat_pruner *pruner);
void leat_prune_add_fetches(leat_pruner *pruner);

// -- prune_order.c --------------------------------------------------------------------------------
// Sorts the copy, and sets its control edges.
LEAT_MUST_USE leat_status leat_prune_order(leat_pruner *pruner);

#endif
