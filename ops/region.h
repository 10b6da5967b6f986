// Building nodes that have bodies (ir/graph.h). A body is a graph from the beginning: between
// leat_region_open and leat_region_close nodes are built in it. What they use of outside becomes a
// parameter of the body, and an input of the node, where it is used: it is *captured*.
//
//     leat_region region = leat_region_begin(&builder, "train/h");
//     uint32_t t = leat_region_add(&region, first_value);
//     leat_graph *body = leat_region_open(&region);
//     … leat_region_parameter(&region, "t", t) is the input, inside …
//     leat_region_close(&region);                            // once for each body
//     leat_region_give(&region, 1, next_value);              // what a body results in
//     leat_region_carry(&region, t);                         // of while_loop, in that order
//     leat_region_end(&region, LEAT_OP_while_loop, NULL);
//
// Regions nest: an inner one is begun and ended in a body of the outer one.
#ifndef LEAT_OPS_REGION_H
#define LEAT_OPS_REGION_H

#include "ops/build.h"

enum {
  LEAT_REGION_BODIES = 2,
  // What is random in a loop counts count × this + iteration + 1, for each loop around it, the
  // outermost first. Odd, so that no two iterations of a Run meet in the next Runs.
  LEAT_RANDOM_STEP = 0x5851f42d,
};

typedef struct leat_region_input {
  leat_value value;
  uint32_t grows;                        // of what is carried: 1 << each axis along which it does
  bool captured;                         // by use alone: who uses the value again uses this
  leat_node *params[LEAT_REGION_BODIES]; // NULL: that body does not use it
} leat_region_input;

typedef struct leat_region_body {
  leat_graph *graph;
  bool closed;
  leat_vec(leat_value) results;
} leat_region_body;

typedef struct leat_region {
  leat_builder builder; // of its node, and of what stands for its inputs
  const char *path;     // the node's name, and what names in its bodies begin with
  bool apart;           // nobody makes a node of it: its body captures from any graph around
  uint32_t body_count;  // of those opened
  leat_region_body bodies[LEAT_REGION_BODIES];
  leat_vec(leat_region_input) inputs;
  leat_vec(uint32_t) carried; // numbers of inputs, by result
  leat_vec(int64_t) axes;     // of what grows, as the node has them
  int64_t parallel;           // of while_loop: its attribute
} leat_region;

// A node with bodies, to stand in the builder's graph.
leat_region leat_region_begin(const leat_builder *builder, const char *path);
// The number of the new input.
uint32_t leat_region_add(leat_region *region, leat_value value);
// The next body, empty. It knows the region, which stays where it is until it is ended or dropped.
leat_graph *leat_region_open(leat_region *region);
// The open body is done, but for what it is to give: what it has captured gets its names, which
// are those that nothing in it has.
void leat_region_close(leat_region *region);
// Inside the body that was opened last; made at its first use, under that name in the path.
leat_value leat_region_parameter(leat_region *region, const char *name, uint32_t input);
// What a value is in the graph: itself, or in a body that is being made the parameter that it is
// captured as.
leat_value leat_region_inside(leat_graph *graph, leat_value value);
// What it was captured from, through all regions that are being made; else itself.
leat_value leat_region_origin(leat_value value);
// Whether what is built in the graph may use the node: it stands there, or around it.
bool leat_region_reaches(const leat_graph *graph, const leat_node *node);
// The next result of a body: a value of it, or one of outside.
void leat_region_give(leat_region *region, uint32_t body, leat_value result);
// The same, of an input, as it is.
void leat_region_give_input(leat_region *region, uint32_t body, uint32_t input);
// Result i of a conditional, which both bodies have given, has another extent in each, along these
// axes: 1 << each.
void leat_region_grow(leat_region *region, uint32_t i, uint32_t axes);
// The next result of the last body is the next value of that input.
void leat_region_carry(leat_region *region, uint32_t input);
// In that body, made if need be; it is called as the value is.
leat_value leat_region_parameter_of(leat_region *region, uint32_t body, uint32_t input);
const char *leat_region_path(const leat_region *region, const char *name); // of a name in it
// The node, after the last body; {NULL}: reported. predicate: of a conditional, else NULL.
leat_value leat_region_end(leat_region *region, leat_op op, const leat_value *predicate);
// The only body, in which its parameters stand already. NULL: it uses something of outside.
leat_graph *leat_region_take_body(leat_region *region);
// Forgets all that is in its bodies.
void leat_region_drop(leat_region *region);

#endif
