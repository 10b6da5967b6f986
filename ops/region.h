// Building nodes that have bodies (ir/graph.h). What is built between leat_region_open and
// leat_region_close stands at the end of the graph until then, as anything else does; closing makes
// it a body, and what it uses of before becomes inputs of the node.
//
//     leat_region region = leat_region_begin(graph, "train/h");
//     uint32_t t = leat_region_add(&region, first_value);
//     leat_region_open(&region);
//     … leat_region_parameter(&region, &builder, "t", t) is the input, inside …
//     leat_region_close(&region, &builder, stays);            // once for each body
//     leat_region_give(&region, &builder, 1, next_value);     // what a body results in
//     leat_region_carry(&region, t);                          // of while_loop, in that order
//     leat_region_end(&region, &builder, LEAT_OP_while_loop, NULL);
//
// Regions nest: an inner one is begun and ended while a body of the outer one is open.
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
  leat_vec(leat_value) results;
} leat_region_body;

typedef struct leat_region {
  leat_graph *graph;
  const char *path;    // the node's name, and what names in its bodies begin with
  uint32_t first;      // of the open body
  uint32_t body_count; // closed ones
  leat_region_body bodies[LEAT_REGION_BODIES];
  leat_vec(leat_region_input) inputs;
  leat_vec(uint32_t) carried; // numbers of inputs, by result
  leat_vec(int64_t) axes;     // of what grows, as the node has them
  leat_node_list before;      // what nodes in the bodies are to run after
  int64_t parallel;           // of while_loop: its attribute
} leat_region;

leat_region leat_region_begin(leat_graph *graph, const char *path);
// The number of the new input.
uint32_t leat_region_add(leat_region *region, leat_value value);
void leat_region_open(leat_region *region);
// Inside the open body; made at its first use, under that name in the path.
leat_value leat_region_parameter(leat_region *region, leat_builder *builder, const char *name,
                                 uint32_t input);
// stays[i]: node number region->first + i belongs to the graph around, and needs nothing of the
// body. NULL: none does.
void leat_region_close(leat_region *region, leat_builder *builder, const bool *stays);
// What a value is in a closed body: itself, or the parameter that it is given as.
leat_value leat_region_inside(leat_region *region, leat_builder *builder, uint32_t body,
                              leat_value value);
// The next result of a closed body: a value of it, or one of outside.
void leat_region_give(leat_region *region, leat_builder *builder, uint32_t body, leat_value result);
// The same, of an input, as it is.
void leat_region_give_input(leat_region *region, leat_builder *builder, uint32_t body,
                            uint32_t input);
// Result i of a conditional, which both bodies have given, has another extent in each, along these
// axes: 1 << each.
void leat_region_grow(leat_region *region, uint32_t i, uint32_t axes);
// The next result of the last body is the next value of that input.
void leat_region_carry(leat_region *region, uint32_t input);
// The node, after the last body; {NULL}: reported. predicate: of a conditional, else NULL.
leat_value leat_region_end(leat_region *region, leat_builder *builder, leat_op op,
                           const leat_value *predicate);
// The closed body, for who makes no node of it: with the parameters of the
// inputs that it uses.
leat_graph *leat_region_take_body(leat_region *region);
// The nodes from `first` on, the last of the builder's graph, as a body with these results; its
// parameters are among them. NULL: they use something else.
leat_graph *leat_body_of(leat_builder *builder, uint32_t first, const leat_value *results,
                         uint32_t count);
// Forgets the closed bodies: there is a mistake in the text. What stands in an open one is left to
// who takes the text back.
void leat_region_drop(leat_region *region);

#endif
