// Replacements are looked up by node id, so the walk and the sweep cost one visit an edge.
#include "passes/rewrite.h"

#include "ir/device_name.h"

#include <assert.h>
#include <string.h>

leat_rewriter leat_rewrite_begin(leat_graph *graph, leat_arena *scratch) {
  leat_rewriter r = {.graph = graph, .scratch = scratch, .count = graph->nodes.count};
  r.built = r.count;
  r.instead = leat_new_array(scratch, leat_value *, r.count);
  r.stays = leat_new_array(scratch, bool, r.count);
  r.seen = leat_new_array(scratch, uint32_t, r.count);
  leat_vec_reserve(graph->arena, &r.nodes, r.count);
  return r;
}

static leat_value current(const leat_rewriter *r, leat_value value) {
  bool replaced = value.node && value.node->id < r->count && r->instead[value.node->id];
  return replaced ? r->instead[value.node->id][value.port] : value;
}

static leat_node *current_node(const leat_rewriter *r, leat_node *node) {
  bool stays = node->id < r->count && r->stays[node->id];
  return stays ? node : current(r, (leat_value){node, 0}).node;
}

// Control edges to one node from two that became one are one.
static void rewrite_controls(leat_rewriter *r, leat_node *node) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < node->control_count; i++) {
    leat_node *before = current_node(r, node->controls[i]);
    if (before->id < r->count) {
      if (r->seen[before->id] == node->id + 1) continue;
      r->seen[before->id] = node->id + 1;
    }
    node->controls[kept++] = before;
  }
  node->control_count = kept;
}

void leat_rewrite_inputs(leat_rewriter *r, leat_node *node) {
  for (uint32_t i = 0; i < node->input_count; i++) node->inputs[i] = current(r, node->inputs[i]);
  rewrite_controls(r, node);
}

static void take_built(leat_rewriter *r) {
  for (; r->built < r->graph->nodes.count; r->built++)
    leat_vec_push(r->graph->arena, &r->nodes, r->graph->nodes.items[r->built]);
}

void leat_rewrite_keep(leat_rewriter *r, leat_node *node) {
  take_built(r);
  leat_vec_push(r->graph->arena, &r->nodes, node);
}

void leat_rewrite_replace(leat_rewriter *r, leat_node *node, leat_value value) {
  if (!value.node) {
    leat_rewrite_keep(r, node);
    return;
  }
  assert(node->output_count == 1);
  leat_rewrite_replace_all(r, node, &value);
}

static void replace(leat_rewriter *r, const leat_node *node, const leat_value *values,
                    uint32_t count) {
  assert(node->id < r->count);
  r->instead[node->id] = leat_arena_memdup(r->scratch, values, count * sizeof *values);
}

void leat_rewrite_replace_all(leat_rewriter *r, leat_node *node, const leat_value *values) {
  take_built(r);
  replace(r, node, values, node->output_count);
}

void leat_rewrite_outputs(leat_rewriter *r, leat_node *node, const leat_value *values,
                          uint32_t count) {
  replace(r, node, values, count);
  r->stays[node->id] = true;
}

// -- The sweep -----------------------------------------------------------------------------

static void mark_value(bool *marks, leat_value value) {
  if (value.node) marks[value.node->id] = true;
}

static void mark_roots(const leat_graph *graph, bool *marks) {
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    const leat_node *node = graph->nodes.items[i];
    leat_op_leaf leaf = node->info->leaf;
    bool given = leaf == LEAT_LEAF_FEED || leaf == LEAT_LEAF_PARAMETER;
    if (node->effect || given) marks[i] = true;
  }
  for (uint32_t i = 0; i < graph->entries.count; i++) {
    const leat_entry *entry = graph->entries.items[i];
    for (uint32_t j = 0; j < entry->results.count; j++)
      mark_value(marks, entry->results.items[j].value);
  }
}

static void mark_ancestors(const leat_graph *graph, bool *marks) {
  for (uint32_t i = graph->nodes.count; i-- > 0;) {
    const leat_node *node = graph->nodes.items[i];
    for (uint32_t j = 0; marks[i] && j < node->input_count; j++) mark_value(marks, node->inputs[j]);
  }
}

bool *leat_step_nodes(const leat_graph *graph, leat_arena *scratch) {
  bool *marks = leat_new_array(scratch, bool, graph->nodes.count);
  mark_roots(graph, marks);
  mark_ancestors(graph, marks);
  return marks;
}

static void drop_dead_controls(leat_node *node, const bool *live) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < node->control_count; i++)
    if (live[node->controls[i]->id]) node->controls[kept++] = node->controls[i];
  node->control_count = kept;
}

// Ids must be positions. What is dropped joins `gone`, by name.
static void sweep(leat_rewriter *r, leat_map *gone) {
  leat_graph *graph = r->graph;
  bool *live = leat_new_array(r->scratch, bool, graph->nodes.count);
  mark_roots(graph, live);
  for (uint32_t i = 0; i < graph->states.count; i++) mark_value(live, graph->states.items[i]->init);
  mark_ancestors(graph, live);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    leat_node *node = graph->nodes.items[i];
    drop_dead_controls(node, live);
    if (live[i])
      graph->nodes.items[kept++] = node;
    else
      leat_map_set(gone, node->name, node);
  }
  graph->nodes.count = kept;
  leat_graph_renumber(graph);
}

// -- Places --------------------------------------------------------------------------------

// The path from a folder, if it begins with that.
static const char *within(const char *folder, const char *path) {
  size_t length = folder ? strlen(folder) : 0;
  return length && strncmp(path, folder, length) == 0 ? path + length : path;
}

const char *leat_place_of(const leat_pass_context *context, leat_span span) {
  leat_text text = {0};
  leat_diag_place(context->diag, span, &text);
  const char *place = text.size ? within(context->folder, text.data) : NULL;
  if (place) place = leat_intern(context->graph->strings, place);
  leat_text_finish(&text);
  return place;
}

// -- Devices -------------------------------------------------------------------------------

void leat_constrain_device(leat_graph *graph, leat_node *node, const char *device) {
  leat_device_name a, b, both;
  if (!device || node->device == device) return;
  if (!node->device)
    node->device = device;
  else if (leat_device_name_parse(graph->strings, node->device, &a) &&
           leat_device_name_parse(graph->strings, device, &b) &&
           leat_device_name_merge(a, b, &both))
    node->device = leat_device_name_format(graph->strings, both);
}

// What shares its device with a node that is gone has that node's constraints itself; where there
// were none, it follows what took the node's place.
static void follow(leat_rewriter *r, leat_node *node, const leat_map *gone, const leat_map *heirs) {
  enum { MOST_STEPS = 64 }; // colocation may run in a circle
  for (int step = 0; node->colocate; step++) {
    const leat_node *target = leat_map_get(gone, node->colocate);
    if (!target) return;
    const leat_node *heir = leat_map_get(heirs, target->name);
    leat_constrain_device(r->graph, node, target->device);
    node->colocate = target->colocate;
    if (!target->colocate && !target->device && heir) node->colocate = heir->name;
    if (step == MOST_STEPS || node->colocate == node->name) node->colocate = NULL;
  }
}

void leat_rewrite_finish(leat_rewriter *r) {
  leat_graph *graph = r->graph;
  leat_map gone, heirs; // name → the dropped node, and what replaced it
  leat_map_init(&gone, r->scratch);
  leat_map_init(&heirs, r->scratch);
  take_built(r);
  for (uint32_t i = 0; i < r->count; i++) {
    if (!r->instead[i] || r->stays[i]) continue;
    leat_map_set(&gone, graph->nodes.items[i]->name, graph->nodes.items[i]);
    leat_map_set(&heirs, graph->nodes.items[i]->name, r->instead[i]->node);
  }
  for (uint32_t i = 0; i < graph->states.count; i++)
    graph->states.items[i]->init = current(r, graph->states.items[i]->init);
  for (uint32_t i = 0; i < graph->entries.count; i++)
    for (uint32_t j = 0; j < graph->entries.items[i]->results.count; j++) {
      leat_result *result = &graph->entries.items[i]->results.items[j];
      result->value = current(r, result->value);
    }
  graph->nodes.items = r->nodes.items;
  graph->nodes.count = r->nodes.count;
  graph->nodes.capacity = r->nodes.capacity;
  leat_graph_renumber(graph);
  sweep(r, &gone);
  for (uint32_t i = 0; gone.count && i < graph->nodes.count; i++)
    follow(r, graph->nodes.items[i], &gone, &heirs);
}
