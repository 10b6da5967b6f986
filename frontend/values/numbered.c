// The nodes that gradients go through: of the open body, and of what is around it.
#include "frontend/values/region.h"

ev_numbered ev_number_nodes(const evaluator *e, bool around, leat_arena *arena) {
  ev_numbered n = {0};
  const leat_graph *graph = e->at.body;
  leat_vec_push(arena, &n.graphs, graph);
  while (around && graph->region) {
    graph = graph->region->builder.graph;
    leat_vec_push(arena, &n.graphs, graph);
  }
  uint32_t *begins = leat_new_array(arena, uint32_t, n.graphs.count);
  for (uint32_t g = 0; g < n.graphs.count; g++) n.count += n.graphs.items[g]->nodes.count;
  n.nodes = leat_new_array(arena, leat_node *, (size_t)n.count + 1);
  for (uint32_t g = n.graphs.count, next = 0; g-- > 0;) {
    graph = n.graphs.items[g];
    begins[g] = next;
    for (uint32_t i = 0; i < graph->nodes.count; i++) n.nodes[next++] = graph->nodes.items[i];
  }
  n.begins = begins;
  return n;
}

uint32_t ev_number_of(const ev_numbered *numbered, leat_value value) {
  const leat_node *node = leat_region_origin(value).node;
  uint32_t g = 0;
  while (g < numbered->graphs.count && numbered->graphs.items[g] != node->graph) g++;
  if (g == numbered->graphs.count) return numbered->count;
  uint32_t number = numbered->begins[g] + node->id;
  uint32_t end = g ? numbered->begins[g - 1] : numbered->count;
  return number < end ? number : numbered->count;
}
