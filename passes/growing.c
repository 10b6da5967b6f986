// See growing.h.
#include "passes/growing.h"

typedef struct extent_search {
  const leat_graph *body;
  bool found;
} extent_search;

static void see_extent(void *context, const leat_atom *atom) {
  extent_search *search = context;
  const leat_node *binder = leat_graph_binder(search->body, atom);
  search->found |= binder && binder->op == LEAT_OP_parameter;
}

// Whether one is of what a region carries that lets it grow: only its device knows it.
static bool grows(const leat_graph *body, const leat_dim *dims, uint32_t count) {
  extent_search search = {.body = body};
  for (uint32_t i = 0; i < count; i++) leat_dim_visit(dims[i], see_extent, &search);
  return search.found;
}

static bool value_grows(const leat_graph *body, const leat_type *type) {
  return grows(body, type->dims, (uint32_t)type->rank);
}

// It, or something in its bodies.
static bool has_extents(const leat_node *node) {
  const leat_graph *body = node->graph;
  for (uint32_t i = 0; i < node->output_count; i++)
    if (value_grows(body, &node->outputs[i])) return true;
  for (uint32_t i = 0; i < node->input_count; i++)
    if (value_grows(body, leat_value_type(node->inputs[i]))) return true;
  for (int k = 0; k < node->info->attr_count; k++) {
    const leat_graph *inside = leat_node_body(node, k);
    leat_attr_kind kind = node->info->attrs[k].kind;
    if (kind == LEAT_ATTR_DIM && grows(body, &node->attrs[k].dim, 1)) return true;
    if (kind == LEAT_ATTR_DIMS && grows(body, node->attrs[k].dims, node->attrs[k].count))
      return true;
    for (uint32_t i = 0; inside && i < inside->nodes.count; i++)
      if (has_extents(inside->nodes.items[i])) return true;
  }
  return false;
}

// Whether the node makes a result of the region that grows.
static bool gives_growing(const leat_node *node) {
  const leat_node *owner = node->graph->owner, *yield = node->graph->yield;
  for (uint32_t i = 0; i < owner->output_count && i < yield->input_count; i++)
    if (yield->inputs[i].node == node && leat_region_result_grows(owner, i)) return true;
  return false;
}

bool leat_needs_extents(const leat_node *node) {
  return node->graph->owner && (has_extents(node) || gives_growing(node));
}
