// The parts of the pass `regions`, each a walk over one graph that changes its nodes with bodies,
// and these bodies. Internal to passes/.
#ifndef LEAT_PASSES_REGIONS_H
#define LEAT_PASSES_REGIONS_H

#include "ops/build.h"
#include "ops/cost.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

enum { LEAT_BODIES = 2 };

typedef struct leat_regions {
  leat_pass_context *context;
  leat_map bodies;  // leat_graph → how it is; none: as the passes before have left it
  uint32_t changes; // so far
} leat_regions;

// A node with bodies, taken apart.
typedef struct leat_region_node {
  leat_node *node;
  leat_graph *bodies[LEAT_BODIES];
  uint32_t first;    // input that is parameter 0
  uint32_t params;   // of each body
  uint32_t carried;  // the first so many parameters change from iteration to iteration
  uint32_t yielding; // the bodies from this on give the node's outputs
} leat_region_node;

// -- region_node.c --------------------------------------------------------------------------------
leat_region_node leat_region_node_of(leat_node *node);
leat_value leat_region_input(const leat_region_node *region, uint32_t param);
// The number of the parameter that a value in a body is; -1: something else.
int64_t leat_region_param(leat_value value);
// What a value in a body is outside, if it is captured; else {NULL}.
leat_value leat_region_captured(const leat_region_node *region, leat_value value);
// Builds what stands for `like`, or is made of it, in a body or in the graph around.
leat_builder leat_region_builder(const leat_region_node *region, leat_diag *diag, leat_graph *graph,
                                 const leat_node *like);
// What stands for the value of outside in the body: a new parameter, the last.
leat_value leat_region_add_parameter(const leat_region_node *region, leat_graph *body,
                                     leat_value value);
// The same of a body that does nothing with them yet.
void leat_region_add_parameters(const leat_region_node *region, leat_graph *body,
                                const leat_value *values, uint32_t count, leat_arena *scratch);
// The inputs of such parameters, which all bodies have by now.
void leat_region_add_inputs(leat_graph *graph, const leat_region_node *region,
                            const leat_value *values, uint32_t count);
// The loop carries more, which begins with `values`, behind what it carried: both bodies have the
// parameters, what it becomes is yet to be yielded behind what is.
void leat_region_carry_more(leat_graph *graph, leat_region_node *region, const leat_value *values,
                            uint32_t count, leat_arena *scratch);
void leat_region_yield(leat_graph *body, const leat_value *values, uint32_t count);
// The node runs after what binds the dims that it has.
void leat_region_wait_for_dims(leat_graph *graph, leat_node *node);
// The entry has these effects in the place of the node's, as far as they are some.
void leat_region_effects(leat_graph *graph, const leat_node *node, leat_node *const *nodes,
                         uint32_t count);

// -- regions.c ------------------------------------------------------------------------------------
// It has other inputs or bodies than before.
void leat_region_changed(leat_regions *regions, leat_graph *graph, leat_node *node);
// Whether a node in a body waits for others, or is to be elsewhere than the node with the body.
bool leat_region_is_bound(const leat_node *node);
// Whether it may be computed outside of its body where its inputs are, also if that does not run:
// it has no effect, no state, no random numbers and cannot fail.
bool leat_region_may_move(leat_diag *diag, const leat_node *node);
// Visits each loop of the graph; what is built there meanwhile stands in front of it.
typedef void leat_loop_visitor(leat_regions *regions, leat_graph *graph, leat_node *loop);
void leat_regions_visit_loops(leat_regions *regions, leat_graph *graph, leat_loop_visitor *visit);

// -- regions_rows.c -------------------------------------------------------------------------------
enum { LEAT_MOST_ROWS_BYTES = 1 << 28 }; // of what is made of all rows

typedef struct leat_row_maker leat_row_maker; // of a loop, whose body stays as it is
leat_row_maker *leat_row_maker_create(const leat_pass_context *context, leat_graph *graph,
                                      leat_node *loop);
// What reads the row that a value in the body is made of, and of nothing else that varies; NULL: it
// is no such value.
leat_node *leat_row_read(const leat_row_maker *m, leat_value value);
leat_dim leat_row_count(const leat_node *read);
// What it is of all rows, built outside, and along which axis they are. {NULL}: a dim cannot be
// said.
leat_value leat_rows_of(leat_row_maker *m, leat_value value, int32_t *axis);
leat_value leat_first_rows_of(leat_row_maker *m, leat_value value); // along axis 0

// -- regions_fill.c -------------------------------------------------------------------------------
typedef struct leat_row_filling {
  leat_value row; // in the body: that of the turn
  leat_dim count; // of rows
  bool appends;   // there is none in the beginning, and each turn appends one
} leat_row_filling;
// The loop carries, behind what it carried, rows of each of these values of its body, of which each
// turn sets one, or appends it.
void leat_region_fill_rows(const leat_pass_context *context, leat_graph *graph,
                           leat_region_node *region, const leat_value *values, uint32_t count,
                           const leat_row_filling *filling);

// -- regions_*.c ----------------------------------------------------------------------------------
void leat_regions_decide(leat_regions *regions, leat_graph *graph);
void leat_regions_narrow(leat_regions *regions, leat_graph *graph);
void leat_regions_hoist(leat_regions *regions, leat_graph *graph);
void leat_regions_batch(leat_regions *regions, leat_graph *graph);

#endif
