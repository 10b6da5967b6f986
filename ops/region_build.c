// Nodes with bodies are built: what a body uses of outside is captured where it is used.
#include "ops/region.h"

#include "ops/turns.h"

#include <assert.h>
#include <string.h>

leat_region leat_region_begin(const leat_builder *builder, const char *path) {
  return (leat_region){.builder = *builder, .path = path};
}

static leat_arena *arena_of(const leat_region *region) {
  return region->builder.graph->arena;
}

leat_graph *leat_region_open(leat_region *region) {
  assert(region->body_count < LEAT_REGION_BODIES);
  leat_graph *body = leat_graph_create_body(region->builder.graph);
  body->region = region;
  region->bodies[region->body_count++].graph = body;
  return body;
}

void leat_region_grow(leat_region *region, uint32_t i, uint32_t axes) {
  for (uint32_t k = 0; k < LEAT_MAX_RANK; k++)
    if (axes >> k & 1) leat_vec_push(arena_of(region), &region->axes, i * LEAT_MAX_RANK + k);
}

void leat_region_carry(leat_region *region, uint32_t input) {
  leat_region_grow(region, region->carried.count, region->inputs.items[input].grows);
  leat_vec_push(arena_of(region), &region->carried, input);
}

// -- Results --------------------------------------------------------------------------------------

void leat_region_give(leat_region *region, uint32_t body, leat_value result) {
  leat_region_body *b = &region->bodies[body];
  leat_vec_push(arena_of(region), &b->results, leat_region_inside(b->graph, result));
}

void leat_region_give_input(leat_region *region, uint32_t body, uint32_t input) {
  leat_value result = leat_region_parameter_of(region, body, input);
  leat_vec_push(arena_of(region), &region->bodies[body].results, result);
}

// -- The node -------------------------------------------------------------------------------------

// What is carried comes first.
static uint32_t *order_inputs(const leat_region *region) {
  uint32_t count = region->inputs.count, next = region->carried.count;
  uint32_t *order = leat_new_array(arena_of(region), uint32_t, count);
  bool *carried = leat_new_array(arena_of(region), bool, count);
  for (uint32_t i = 0; i < region->carried.count; i++) {
    order[i] = region->carried.items[i];
    carried[order[i]] = true;
  }
  for (uint32_t i = 0; i < count; i++)
    if (!carried[i]) order[next++] = i;
  return order;
}

static void add_yield(leat_region *region, uint32_t body) {
  leat_builder builder = region->builder;
  const leat_region_body *b = &region->bodies[body];
  builder.graph = b->graph;
  leat_build(&builder, leat_region_path(region, "yield"), LEAT_OP_yield, b->results.items,
             b->results.count, NULL);
}

// They stand before all else.
static void set_parameters(leat_graph *body, leat_node_list params) {
  leat_node_list nodes = {0};
  for (uint32_t i = 0; i < params.count; i++) leat_vec_push(body->arena, &nodes, params.items[i]);
  for (uint32_t i = 0; i < body->nodes.count; i++)
    if (body->nodes.items[i]->op != LEAT_OP_parameter)
      leat_vec_push(body->arena, &nodes, body->nodes.items[i]);
  body->nodes = nodes;
  body->params = params;
  leat_graph_renumber(body);
}

// With what it yields, and a parameter for each input in that order. It is the region's no longer.
static void finish_body(leat_region *region, uint32_t number, const uint32_t *order) {
  leat_graph *body = region->bodies[number].graph;
  leat_node_list params = {0};
  add_yield(region, number);
  for (uint32_t i = 0; i < region->inputs.count; i++) {
    leat_node *param = leat_region_parameter_of(region, number, order[i]).node;
    leat_node_set_attr(body, param, "index", (leat_attr){.i = i});
    leat_vec_push(body->arena, &params, param);
  }
  set_parameters(body, params);
}

static void set_growing(const leat_region *region, leat_op op, leat_attr *attrs) {
  uint32_t count = region->axes.count;
  leat_dim *dims = leat_new_array(arena_of(region), leat_dim, count);
  for (uint32_t k = 0; k < count; k++)
    dims[k] = leat_dim_anonymous(region->builder.graph->dims, NULL);
  attrs[leat_op_attr_index(op, "dims")] = (leat_attr){.count = count, .dims = dims};
  attrs[leat_op_attr_index(op, "axes")] = (leat_attr){.count = count, .ints = region->axes.items};
}

leat_value leat_region_end(leat_region *region, leat_op op, const leat_value *predicate) {
  leat_arena *arena = arena_of(region);
  leat_graph *around = region->builder.graph;
  const uint32_t *order = order_inputs(region);
  leat_vec(leat_value) inputs = {0};
  if (predicate) leat_vec_push(arena, &inputs, *predicate);
  for (uint32_t i = 0; i < region->inputs.count; i++)
    leat_vec_push(arena, &inputs, region->inputs.items[order[i]].value);
  leat_attr attrs[LEAT_MAX_ATTRS] = {[LEAT_REGION_BODIES] = {.i = region->parallel}};
  attrs[LEAT_REGION_BODIES + 1].string = leat_intern(around->strings, ""); // of a loop
  set_growing(region, op, attrs);
  for (uint32_t i = 0; i < LEAT_REGION_BODIES; i++) {
    finish_body(region, i, order);
    attrs[i] = (leat_attr){.body = region->bodies[i].graph};
  }
  for (uint32_t i = 0; i < LEAT_REGION_BODIES; i++) region->bodies[i].graph->region = NULL;
  leat_value result =
      leat_build(&region->builder, region->path, op, inputs.items, inputs.count, attrs);
  if (!result.node) leat_region_drop(region);
  for (uint32_t i = 0; i < LEAT_REGION_BODIES && result.node; i++) {
    const leat_node_list *before = &region->bodies[i].graph->waits_for;
    leat_node_add_controls(around, result.node, before->items, before->count);
  }
  if (result.node && op == LEAT_OP_while_loop) leat_loop_set_turns(result.node);
  return result;
}

leat_graph *leat_region_take_body(leat_region *region) {
  leat_graph *body = region->bodies[0].graph;
  leat_node_list params = {0};
  if (region->inputs.count || body->waits_for.count) return NULL;
  for (uint32_t i = 0; i < body->nodes.count; i++)
    if (body->nodes.items[i]->op == LEAT_OP_parameter)
      leat_vec_push(body->arena, &params, body->nodes.items[i]);
  add_yield(region, 0);
  set_parameters(body, params);
  body->region = NULL;
  return body;
}

void leat_region_drop(leat_region *region) {
  for (uint32_t b = 0; b < region->body_count; b++) {
    leat_graph_truncate(region->bodies[b].graph, 0, 0, 0);
    region->bodies[b].graph->region = NULL;
  }
}
