// Regions of the primitives of control flow (white paper 4.4): what the pass `raise` does to a
// step, and gradients to what they go through. ops/raise/ is how.
#ifndef LEAT_OPS_RAISE_H
#define LEAT_OPS_RAISE_H

#include "ops/build.h"

// Of a graph with `switch`, `merge`, `enter`, `leave`, `next_iteration`, `loop_cond`.
bool leat_is_primitive(const leat_node *node);
bool leat_has_primitives(const leat_graph *graph);

typedef struct leat_web leat_web; // the graph as it was, while it is raised

typedef struct leat_raising {
  leat_graph *graph; // what it has becomes regions, and what stands beside them
  leat_diag *diag;
  leat_arena *scratch;
  bool shared; // its parameters are of every frame, as constants are
  // Where a new node's text stands (leat_builder.place). NULL: `prune` finds it.
  const char *(*place)(const void *context, leat_span span);
  // Told of each node that stays, now the last in the graph or the open body; of one that is
  // computed in several places, in each. NULL: nobody asks.
  void (*placed)(const void *context, const leat_web *web, const leat_node *was, leat_node *now);
  const void *context; // of these
} leat_raising;

// A value of the graph that somebody wants, and then what it is: zeros where it is dead.
typedef struct leat_raised {
  leat_value value;
  bool alive; // wanted only where it is of no frame and never dead: {NULL} if it is not
} leat_raised;

// False: reported; the graph is in pieces.
bool leat_raise(const leat_raising *raising, leat_raised *wanted, uint32_t count);
// In `placed`: what stands there for a value of the graph as it was; {NULL}: nothing yet.
leat_value leat_raised_now(const leat_web *web, leat_value was);

#endif
