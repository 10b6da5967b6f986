// What the bodies of a region that is being made use of outside: a parameter stands for it.
#include "ops/region.h"

const char *leat_region_path(const leat_region *region, const char *name) {
  leat_strings *strings = region->builder.graph->strings;
  return leat_intern_path(strings, region->path, leat_intern(strings, name));
}

uint32_t leat_region_add(leat_region *region, leat_value value) {
  leat_vec_push(region->builder.graph->arena, &region->inputs, (leat_region_input){.value = value});
  return region->inputs.count - 1;
}

// -- Parameters -----------------------------------------------------------------------------------

static leat_node *make_parameter(const leat_region *region, leat_graph *body, const char *name,
                                 int64_t number, const leat_type *type) {
  const leat_builder *builder = &region->builder;
  leat_type *own = leat_arena_memdup(body->arena, type, sizeof *type);
  leat_attr attrs[] = {{.i = number}, {.type = own}};
  const char *path = leat_graph_unique_name(body, leat_region_path(region, name));
  leat_node *param = leat_graph_append_typed(body, LEAT_OP_parameter, path, NULL, 0, attrs, own);
  param->device = builder->device;
  param->colocate = builder->colocate;
  param->entry = builder->entry;
  param->span = builder->span;
  param->place = builder->place;
  return param;
}

static leat_value parameter_of(leat_region *region, uint32_t body, const char *name,
                               uint32_t number) {
  leat_region_input *input = &region->inputs.items[number];
  leat_node **param = &input->params[body];
  if (*param) return (leat_value){*param, 0};
  leat_graph *graph = region->bodies[body].graph;
  leat_type type = *leat_value_type(input->value);
  for (int32_t k = 0; k < type.rank; k++)
    if (input->grows >> k & 1) type.dims[k] = leat_dim_anonymous(graph->dims, NULL);
  *param = make_parameter(region, graph, name, number, &type);
  if (input->captured && !input->value.port) (*param)->elements = input->value.node->elements;
  return (leat_value){*param, 0};
}

leat_value leat_region_parameter(leat_region *region, const char *name, uint32_t input) {
  return parameter_of(region, region->body_count - 1, name, input);
}

static const char *name_outside(const leat_region *region, uint32_t input) {
  return leat_path_last(leat_region_origin(region->inputs.items[input].value).node->name);
}

leat_value leat_region_parameter_of(leat_region *region, uint32_t body, uint32_t input) {
  return parameter_of(region, body, name_outside(region, input), input);
}

// -- What is captured -----------------------------------------------------------------------------

// The input that a value of outside is captured as.
static uint32_t input_of(leat_region *region, leat_value value) {
  for (uint32_t i = 0; i < region->inputs.count; i++) {
    const leat_region_input *input = &region->inputs.items[i];
    if (input->captured && input->value.node == value.node && input->value.port == value.port)
      return i;
  }
  uint32_t number = leat_region_add(region, value);
  region->inputs.items[number].captured = true;
  return number;
}

// Until the body is closed it is called what nothing else can be called.
static const char *name_meanwhile(const leat_region *region, uint32_t input) {
  leat_strings *strings = region->builder.graph->strings;
  return leat_intern_join(strings, "<", name_outside(region, input), ">");
}

static uint32_t number_of(const leat_region *region, const leat_graph *body) {
  return body != region->bodies[0].graph;
}

leat_value leat_region_inside(leat_graph *graph, leat_value value) {
  leat_region *region = graph->region;
  if (!region || value.node->graph == graph) return value;
  if (!region->apart) value = leat_region_inside(region->builder.graph, value);
  uint32_t input = input_of(region, value), body = number_of(region, graph);
  if (region->bodies[body].closed) return leat_region_parameter_of(region, body, input);
  return parameter_of(region, body, name_meanwhile(region, input), input);
}

// What the parameter of an open body stands for; NULL: a body that is read has its own.
static const leat_region_input *input_at(const leat_node *param) {
  const leat_region *region = param->graph->region;
  uint64_t index = (uint64_t)leat_node_attr(param, "index")->i;
  if (index >= region->inputs.count) return NULL;
  const leat_region_input *input = &region->inputs.items[index];
  return input->params[number_of(region, param->graph)] == param ? input : NULL;
}

leat_value leat_region_origin(leat_value value) {
  while (value.node->op == LEAT_OP_parameter && value.node->graph->region) {
    const leat_region_input *input = input_at(value.node);
    if (!input || !input->captured) break;
    value = input->value;
  }
  return value;
}

bool leat_region_reaches(const leat_graph *graph, const leat_node *node) {
  while (graph != node->graph && graph->region) graph = graph->region->builder.graph;
  return graph == node->graph;
}

void leat_region_close(leat_region *region) {
  uint32_t body = region->body_count - 1;
  leat_graph *graph = region->bodies[body].graph;
  for (uint32_t i = 0; i < region->inputs.count; i++) {
    leat_node *param = region->inputs.items[i].params[body];
    if (!param || !region->inputs.items[i].captured) continue;
    const char *name = leat_region_path(region, name_outside(region, i));
    leat_graph_rename_node(graph, param, leat_graph_unique_name(graph, name));
  }
  region->bodies[body].closed = true;
}
