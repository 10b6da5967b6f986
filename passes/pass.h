// Passes: graph → graph. One file and one entry function each; pipeline.def lists them in order and
// nothing else does.
//
//   text ─ frontend ─▶ graph
//     prune      feeds and fetches of this step become nodes; only what they need stays
//     raise      primitives of control flow become regions
//     check      what must hold of dims while running becomes nodes
//     choose     kernel families, from op, dtype, CPU level and the dims as the text has them
//     infer      dims that feeds bound (when specialising)
//     fold       constant subgraphs whose result is exact
//     simplify   rewrites that never change a bit
//     cse        equal nodes become one
//     regions    branches and loops get, give and do no more than they need
//     place      a device for every node
//     partition  one graph a device, joined by send and recv
//     legalize   ops and dtypes that kernels compute in, but where ref runs
//   one graph per device ─ codegen (fuse, schedule, plan, lower) ─▶ image + kernels
//
// A pass gets a graph that verifies and leaves one that verifies. `scope` (pipeline.def) says
// whether that is all of the step, or one graph or body after the other. It allocates what stays in
// graph->arena and the rest in `scratch`, which is reset after it. User errors (an infeasible
// device) are reported in diag; the pass then returns LEAT_INVALID.
#ifndef LEAT_PASSES_PASS_H
#define LEAT_PASSES_PASS_H

#include "base/target_info.h"
#include "ir/graph.h"
#include "leat/status.h"

// What the step's devices are, for `place`; the session makes it.
typedef struct leat_device_info {
  const char *name; // interned, full: /job:worker/task:0/device:cpu:0
  const char *type; // interned: "cpu"
  bool (*feasible)(const leat_node *node, const char **out_why); // NULL: all
  double speed;      // beside a core of the machine that code is for
  int64_t memory;    // bytes; 0: no limit
  bool on_request;   // chosen only where a constraint names its type
  bool by_reference; // evaluates ops as they are: legalize leaves its part alone
} leat_device_info;

typedef struct leat_pass_context {
  leat_graph *graph; // the session's, which prune leaves alone and replaces here by the step's
  leat_arena *arena; // where the step's graphs live
  leat_arena *scratch;
  leat_diag *diag;
  leat_error *error;

  // The step: what prune needs.
  const struct leat_step_request *step;

  // infer: values of named dims by atom id when specialising; NULL otherwise. So many: those of the
  // session, to which passes add others.
  const int64_t *dim_values;
  const bool *dim_known;
  uint32_t dim_count;

  // prune, check, …: what the files of places are named from, with its slash; NULL: as users did
  const char *folder;

  const leat_target_info *target; // the machine that code is for

  // choose
  bool blis, strict;
  bool memory_limit; // for the values of the step there is one

  // fold
  bool keep_denormals;

  // place and partition
  const leat_device_info *devices;
  uint32_t device_count;
  const char *client_device;           // where feeds come from and fetches go to
  double link_bandwidth, link_latency; // bytes and seconds, between processes
  leat_vec(leat_graph *) parts;        // what partition made, one a device that has nodes
} leat_pass_context;

// A value that is fetched by a name, besides the entries' results; value.node NULL: the state that
// is called so.
typedef struct leat_wanted {
  const char *name;
  leat_value value;
  bool all; // of a value in a loop: those of all iterations, not the last one's
} leat_wanted;

// One Run, by name: resolved by the session from leat_step_spec.
typedef struct leat_step_request {
  leat_vec(leat_entry *) entries;
  leat_vec(leat_result) feeds; // values by the names they are fed by, besides the parameters
  leat_vec(leat_wanted) fetches;
  leat_vec(leat_node *) runs;
  leat_vec(int64_t) donated; // of the feeds, parameters first, those that the step may overwrite
} leat_step_request;

// Whether a node to be run is a fetch of the text that no entry of the Run has.
bool leat_step_fetches_run(const leat_step_request *step, const leat_node *node);

typedef leat_status (*leat_pass_function)(leat_pass_context *context);

#define PASS(name, on, phase, text)                                                                \
  leat_status leat_pass_##name(leat_pass_context *context) LEAT_MUST_USE;
#include "passes/pipeline.def"
#undef PASS

typedef enum leat_pass_scope { LEAT_PASS_WHOLE, LEAT_PASS_EACH } leat_pass_scope;

typedef struct leat_pass_info {
  const char *name, *text; // as pipeline.def says
  leat_pass_scope scope;
  leat_phase phase;
  leat_pass_function function;
} leat_pass_info;

extern const leat_pass_info leat_passes[]; // in the order in which they run
extern const uint32_t leat_pass_count;

// Whether the part is for a device that evaluates ops as they are.
bool leat_part_by_reference(const leat_pass_context *context, const leat_graph *part);
// The phase of a graph of the step when the pass has run.
leat_phase leat_pass_leaves(const leat_pass_context *context, const leat_pass_info *pass,
                            const leat_graph *graph);

#endif
