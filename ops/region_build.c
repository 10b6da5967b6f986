// The nodes at the end of a graph become a body.
#include "ops/region.h"

#include "ops/turns.h"

#include <assert.h>
#include <string.h>

leat_region leat_region_begin(leat_graph *graph, const char *path) {
  return (leat_region){.graph = graph, .path = path};
}

uint32_t leat_region_add(leat_region *region, leat_value value) {
  leat_vec_push(region->graph->arena, &region->inputs, (leat_region_input){.value = value});
  return region->inputs.count - 1;
}

void leat_region_open(leat_region *region) {
  assert(region->body_count < LEAT_REGION_BODIES);
  region->first = region->graph->nodes.count;
}

void leat_region_grow(leat_region *region, uint32_t i, uint32_t axes) {
  for (uint32_t k = 0; k < LEAT_MAX_RANK; k++)
    if (axes >> k & 1) leat_vec_push(region->graph->arena, &region->axes, i * LEAT_MAX_RANK + k);
}

void leat_region_carry(leat_region *region, uint32_t input) {
  leat_region_grow(region, region->carried.count, region->inputs.items[input].grows);
  leat_vec_push(region->graph->arena, &region->carried, input);
}

// -- Parameters -----------------------------------------------------------------------------------

static void run_after(leat_region *region, leat_node *const *nodes, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    leat_vec_push(region->graph->arena, &region->before, nodes[i]);
}

static leat_node *make_parameter(leat_region *region, leat_builder *builder, const char *name,
                                 uint32_t input) {
  leat_strings *strings = region->graph->strings;
  const char *path = leat_intern_path(strings, region->path, leat_intern(strings, name));
  leat_type type = *leat_value_type(region->inputs.items[input].value);
  for (int32_t k = 0; k < type.rank; k++)
    if (region->inputs.items[input].grows >> k & 1)
      type.dims[k] = leat_dim_anonymous(region->graph->dims, NULL);
  leat_attr attrs[] = {{.i = input},
                       {.type = leat_arena_memdup(region->graph->arena, &type, sizeof type)}};
  leat_node *param = leat_build(builder, path, LEAT_OP_parameter, NULL, 0, attrs).node;
  run_after(region, param->controls, param->control_count); // what binds dims of it
  param->control_count = 0;
  return param;
}

leat_value leat_region_parameter(leat_region *region, leat_builder *builder, const char *name,
                                 uint32_t input) {
  leat_node **param = &region->inputs.items[input].params[region->body_count];
  if (!*param) *param = make_parameter(region, builder, name, input);
  return (leat_value){*param, 0};
}

// Made after the body was taken out of the graph.
static leat_node *parameter_of(leat_region *region, leat_builder *builder, uint32_t body,
                               uint32_t input) {
  leat_node **param = &region->inputs.items[input].params[body];
  if (*param) return *param;
  const char *name = leat_path_last(region->inputs.items[input].value.node->name);
  *param = make_parameter(region, builder, name, input);
  region->graph->nodes.count--;
  (*param)->graph = region->bodies[body].graph;
  return *param;
}

// The input that a value of outside is captured as.
static uint32_t capture(leat_region *region, leat_value value) {
  for (uint32_t i = 0; i < region->inputs.count; i++) {
    const leat_region_input *input = &region->inputs.items[i];
    if (input->captured && input->value.node == value.node && input->value.port == value.port)
      return i;
  }
  uint32_t number = leat_region_add(region, value);
  region->inputs.items[number].captured = true;
  return number;
}

// -- Closing --------------------------------------------------------------------------------------

static void leave_entry(leat_node *node) {
  leat_entry *entry = node->entry;
  uint32_t kept = 0;
  if (!node->effect || !entry) return;
  for (uint32_t i = 0; i < entry->effects.count; i++)
    if (entry->effects.items[i] != node) entry->effects.items[kept++] = entry->effects.items[i];
  entry->effects.count = kept;
}

static void enter_body(leat_graph *body, leat_node *node) {
  node->graph = body;
  leave_entry(node);
  if (node->op == LEAT_OP_yield) body->yield = node;
  if (node->op != LEAT_OP_parameter) leat_vec_push(body->arena, &body->nodes, node);
}

// Moves what does not stay from the graph's end into the body.
static void move_nodes(leat_region *region, const bool *stays, leat_graph *body) {
  leat_graph *graph = region->graph;
  uint32_t kept = region->first, count = graph->nodes.count;
  graph->yield = NULL;
  for (uint32_t i = region->first; i < count; i++) {
    leat_node *node = graph->nodes.items[i];
    if (stays && stays[i - region->first])
      node->id = kept, graph->nodes.items[kept++] = node;
    else
      enter_body(body, node);
  }
  graph->nodes.count = kept;
}

// Inside, what is outside is a parameter, and what is to run after it makes the node do so.
static void replace_captures(leat_region *region, leat_builder *builder, leat_node *node) {
  leat_graph *body = node->graph;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < node->input_count; i++) {
    if (node->inputs[i].node->graph == body) continue;
    uint32_t input = capture(region, node->inputs[i]);
    node->inputs[i] = (leat_value){parameter_of(region, builder, region->body_count, input), 0};
  }
  for (uint32_t i = 0; i < node->control_count; i++) {
    if (node->controls[i]->graph == body)
      node->controls[kept++] = node->controls[i];
    else
      run_after(region, &node->controls[i], 1);
  }
  node->control_count = kept;
}

void leat_region_close(leat_region *region, leat_builder *builder, const bool *stays) {
  leat_graph *body = leat_graph_create_body(region->graph);
  region->bodies[region->body_count].graph = body;
  move_nodes(region, stays, body);
  for (uint32_t i = 0; i < body->nodes.count; i++)
    replace_captures(region, builder, body->nodes.items[i]);
  region->body_count++;
}

// -- Results --------------------------------------------------------------------------------------

leat_value leat_region_inside(leat_region *region, leat_builder *builder, uint32_t body,
                              leat_value value) {
  if (value.node->graph == region->bodies[body].graph) return value;
  return (leat_value){parameter_of(region, builder, body, capture(region, value)), 0};
}

void leat_region_give(leat_region *region, leat_builder *builder, uint32_t body,
                      leat_value result) {
  result = leat_region_inside(region, builder, body, result);
  leat_vec_push(region->graph->arena, &region->bodies[body].results, result);
}

void leat_region_give_input(leat_region *region, leat_builder *builder, uint32_t body,
                            uint32_t input) {
  leat_value result = {parameter_of(region, builder, body, input), 0};
  leat_vec_push(region->graph->arena, &region->bodies[body].results, result);
}

// -- The node -------------------------------------------------------------------------------------

// What is carried comes first.
static uint32_t *order_inputs(const leat_region *region) {
  uint32_t count = region->inputs.count, next = region->carried.count;
  uint32_t *order = leat_new_array(region->graph->arena, uint32_t, count);
  bool *carried = leat_new_array(region->graph->arena, bool, count);
  for (uint32_t i = 0; i < region->carried.count; i++) {
    order[i] = region->carried.items[i];
    carried[order[i]] = true;
  }
  for (uint32_t i = 0; i < count; i++)
    if (!carried[i]) order[next++] = i;
  return order;
}

static void add_yield(leat_region *region, leat_builder *builder, uint32_t number) {
  leat_strings *strings = region->graph->strings;
  leat_graph *body = region->bodies[number].graph;
  const char *name = leat_intern_path(strings, region->path, leat_intern(strings, "yield"));
  leat_build(builder, name, LEAT_OP_yield, region->bodies[number].results.items,
             region->bodies[number].results.count, NULL);
  leat_node *yield = region->graph->yield;
  region->graph->nodes.count--;
  region->graph->yield = NULL;
  enter_body(body, yield);
}

// They stand before all else.
static void set_parameters(leat_graph *body, leat_node_list params) {
  leat_node_list others = body->nodes;
  body->nodes = (leat_node_list){0};
  body->params = params;
  for (uint32_t i = 0; i < params.count; i++)
    leat_vec_push(body->arena, &body->nodes, params.items[i]);
  for (uint32_t i = 0; i < others.count; i++)
    leat_vec_push(body->arena, &body->nodes, others.items[i]);
  leat_graph_renumber(body);
}

// With what it yields, and the parameters in their order.
static void finish_body(leat_region *region, leat_builder *builder, uint32_t number,
                        const uint32_t *order) {
  leat_graph *body = region->bodies[number].graph;
  leat_node_list params = {0};
  add_yield(region, builder, number);
  for (uint32_t i = 0; i < region->inputs.count; i++) {
    leat_node *param = parameter_of(region, builder, number, order[i]);
    leat_node_set_attr(body, param, "index", (leat_attr){.i = i});
    leat_vec_push(body->arena, &params, param);
  }
  set_parameters(body, params);
}

static void set_growing(const leat_region *region, leat_op op, leat_attr *attrs) {
  uint32_t count = region->axes.count;
  leat_dim *dims = leat_new_array(region->graph->arena, leat_dim, count);
  for (uint32_t k = 0; k < count; k++) dims[k] = leat_dim_anonymous(region->graph->dims, NULL);
  attrs[leat_op_attr_index(op, "dims")] = (leat_attr){.count = count, .dims = dims};
  attrs[leat_op_attr_index(op, "axes")] = (leat_attr){.count = count, .ints = region->axes.items};
}

leat_value leat_region_end(leat_region *region, leat_builder *builder, leat_op op,
                           const leat_value *predicate) {
  leat_arena *arena = region->graph->arena;
  const uint32_t *order = order_inputs(region);
  leat_vec(leat_value) inputs = {0};
  if (predicate) leat_vec_push(arena, &inputs, *predicate);
  for (uint32_t i = 0; i < region->inputs.count; i++)
    leat_vec_push(arena, &inputs, region->inputs.items[order[i]].value);
  leat_attr attrs[LEAT_MAX_ATTRS] = {[LEAT_REGION_BODIES] = {.i = region->parallel}};
  attrs[LEAT_REGION_BODIES + 1].string = leat_intern(region->graph->strings, ""); // of a loop
  set_growing(region, op, attrs);
  for (uint32_t i = 0; i < LEAT_REGION_BODIES; i++) {
    finish_body(region, builder, i, order);
    attrs[i] = (leat_attr){.body = region->bodies[i].graph};
  }
  leat_value result = leat_build(builder, region->path, op, inputs.items, inputs.count, attrs);
  if (!result.node)
    leat_region_drop(region);
  else
    leat_node_add_controls(region->graph, result.node, region->before.items, region->before.count);
  if (result.node && op == LEAT_OP_while_loop) leat_loop_set_turns(result.node);
  return result;
}

leat_graph *leat_region_take_body(leat_region *region) {
  leat_graph *body = region->bodies[0].graph;
  leat_node_list params = {0};
  for (uint32_t i = 0; i < region->inputs.count; i++) {
    leat_node *param = region->inputs.items[i].params[0];
    if (!param) continue;
    leat_node_set_attr(body, param, "index", (leat_attr){.i = i});
    leat_vec_push(body->arena, &params, param);
  }
  set_parameters(body, params);
  return body;
}

static void forget(leat_graph *graph, const leat_node *node) {
  if (node) leat_map_set(&graph->names->by_name, node->name, NULL);
}

void leat_region_drop(leat_region *region) {
  for (uint32_t b = 0; b < region->body_count; b++) {
    leat_graph_truncate(region->bodies[b].graph, 0, 0, 0);
    for (uint32_t i = 0; i < region->inputs.count; i++)
      forget(region->graph, region->inputs.items[i].params[b]);
  }
}

// What binds dims of a body runs before its node, which sees to that itself.
static bool waits_for_more_than_dims(const leat_region *region) {
  for (uint32_t i = 0; i < region->before.count; i++)
    if (region->before.items[i]->op != LEAT_OP_bind) return true;
  return false;
}

leat_graph *leat_body_of(leat_builder *builder, uint32_t first, const leat_value *results,
                         uint32_t count) {
  leat_graph *graph = builder->graph;
  leat_region region = leat_region_begin(graph, "body");
  leat_node_list params = {0};
  for (uint32_t i = first; i < graph->nodes.count; i++) {
    leat_node *node = graph->nodes.items[i];
    if (node->op != LEAT_OP_parameter) continue;
    node->control_count = 0;
    leat_vec_push(graph->arena, &params, node);
  }
  region.first = first;
  leat_region_close(&region, builder, NULL);
  for (uint32_t i = 0; i < count; i++) leat_region_give(&region, builder, 0, results[i]);
  if (region.inputs.count || waits_for_more_than_dims(&region)) return NULL;
  add_yield(&region, builder, 0);
  set_parameters(region.bodies[0].graph, params);
  return region.bodies[0].graph;
}
