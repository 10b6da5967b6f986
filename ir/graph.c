// The graph: adding, finding, ordering.
#include "ir/graph.h"

#include "base/heap.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { FEW_CONTROLS = 16 }; // so many are compared one by one

typedef enum named_kind { NAMED_NODE, NAMED_STATE, NAMED_ENTRY } named_kind;

// What a name in graph->names->by_name stands for.
typedef struct named {
  named_kind kind;
  void *object;
} named;

leat_graph *leat_graph_create(leat_arena *arena, leat_strings *strings, const char *name) {
  leat_graph *graph = leat_new(arena, leat_graph);
  graph->arena = arena;
  graph->strings = strings;
  graph->dims = leat_dims_create(arena, strings);
  graph->name = leat_intern(strings, name);
  graph->names = leat_new(arena, leat_graph_names);
  leat_map_init(&graph->names->by_name, arena);
  leat_map_init(&graph->names->binders, arena);
  leat_map_init(&graph->names->next_suffix, arena);
  return graph;
}

// -- Bodies --------------------------------------------------------------------------------------

leat_graph *leat_graph_create_body(leat_graph *outer) {
  leat_graph *body = leat_new(outer->arena, leat_graph);
  body->arena = outer->arena;
  body->strings = outer->strings;
  body->dims = outer->dims;
  body->names = outer->names;
  body->name = outer->name;
  body->device = outer->device;
  return body;
}

leat_graph *leat_node_body(const leat_node *node, int i) {
  return node->info->attrs[i].kind == LEAT_ATTR_GRAPH ? node->attrs[i].body : NULL;
}

const leat_node *leat_node_outermost(const leat_node *node) {
  while (node->graph->owner) node = node->graph->owner;
  return node;
}

void leat_graph_visit(leat_graph *graph, leat_graph_visitor visit, void *context) {
  for (uint32_t n = 0; n < graph->nodes.count; n++) {
    const leat_node *node = graph->nodes.items[n];
    for (int i = 0; i < node->info->attr_count; i++)
      if (leat_node_body(node, i)) leat_graph_visit(node->attrs[i].body, visit, context);
  }
  visit(context, graph);
}

static bool has_effect(const leat_node *node) {
  bool effect = node->info->flags & LEAT_FLAG_EFFECT;
  for (int i = 0; i < node->info->attr_count && !effect; i++) {
    const leat_graph *body = leat_node_body(node, i);
    for (uint32_t n = 0; body && n < body->nodes.count; n++)
      effect |= body->nodes.items[n]->effect && body->nodes.items[n] != body->yield;
  }
  return effect || leat_region_lets_grow(node); // somebody may have its dims
}

// -- Binders -------------------------------------------------------------------------------------

const leat_dim *leat_node_binds(const leat_node *node, uint32_t *count) {
  *count = node->op == LEAT_OP_bind;
  if (node->op == LEAT_OP_bind) return &node->attrs[0].dim;
  if (node->info->kind != LEAT_KIND_REGION) return NULL;
  const leat_attr *dims = leat_node_attr(node, "dims");
  *count = dims->count;
  return dims->dims;
}

static void set_binder(leat_graph *graph, leat_dim dim, leat_node *binder) {
  if (leat_dim_atom(dim)) leat_map_set(&graph->names->binders, leat_dim_atom(dim), binder);
}

// binder: the node, or NULL.
static void set_binders(leat_graph *graph, const leat_node *node, leat_node *binder) {
  uint32_t count;
  const leat_dim *dims = leat_node_binds(node, &count);
  for (uint32_t i = 0; i < count; i++) set_binder(graph, dims[i], binder);
  for (int b = 0; count && node->op == LEAT_OP_while_loop && leat_node_body(node, b); b++) {
    const leat_node_list *params = &node->attrs[b].body->params;
    for (uint32_t i = 0; i < params->count && i < node->output_count; i++)
      for (int32_t k = 0; k < params->items[i]->outputs[0].rank; k++)
        if (leat_region_grows(node, i, k))
          set_binder(graph, params->items[i]->outputs[0].dims[k], binder ? params->items[i] : NULL);
  }
}

// -- Names ---------------------------------------------------------------------------------------

static const char *add_name(leat_graph *graph, const char *name, named_kind kind, void *object) {
  assert(!leat_map_get(&graph->names->by_name, name));
  named *entry = leat_new(graph->arena, named);
  *entry = (named){kind, object};
  leat_map_set(&graph->names->by_name, name, entry);
  return name;
}

static void *find_name(const leat_graph *graph, const char *name, named_kind kind) {
  const named *entry = leat_map_get(&graph->names->by_name, name); // as a rule it is interned
  if (!entry) entry = leat_map_get(&graph->names->by_name, leat_intern(graph->strings, name));
  return entry && entry->kind == kind ? entry->object : NULL;
}

const char *leat_graph_unique_name(leat_graph *graph, const char *path) {
  path = leat_intern(graph->strings, path);
  if (!leat_map_get(&graph->names->by_name, path)) return path;
  uintptr_t suffix = (uintptr_t)leat_map_get(&graph->names->next_suffix, path);
  const char *name;
  do {
    char number[24];
    snprintf(number, sizeof number, "%llu", (unsigned long long)++suffix);
    name = leat_intern_join(graph->strings, path, "_", number);
  } while (leat_map_get(&graph->names->by_name, name));
  leat_map_set(&graph->names->next_suffix, path, (void *)(suffix - 1));
  return name;
}

leat_node *leat_graph_find_node(const leat_graph *graph, const char *name) {
  leat_node *node = find_name(graph, name, NAMED_NODE);
  const leat_graph *home = node ? node->graph : graph;
  bool present = node && node->id < home->nodes.count && home->nodes.items[node->id] == node;
  return present ? node : NULL;
}

leat_state *leat_graph_find_state(const leat_graph *graph, const char *name) {
  return find_name(graph, name, NAMED_STATE);
}

leat_entry *leat_graph_find_entry(const leat_graph *graph, const char *name) {
  return find_name(graph, name, NAMED_ENTRY);
}

// -- Adding --------------------------------------------------------------------------------------

void leat_node_set_op(leat_node *node, leat_op op) {
  node->op = op;
  node->info = leat_op_info_of(op);
  node->output_count = (uint32_t)node->info->outputs;
  node->effect = has_effect(node);
  if (node->info->outputs != LEAT_ANY_OUTPUTS) return;
  for (int i = 0; i < node->info->attr_count; i++) {
    const leat_graph *body = leat_node_body(node, i);
    if (body) node->output_count = body->yield->input_count;
  }
}

leat_node *leat_graph_append_typed(leat_graph *graph, leat_op op, const char *name,
                                   const leat_value *inputs, uint32_t input_count,
                                   const leat_attr *attrs, const leat_type *outputs) {
  leat_node *node = leat_new(graph->arena, leat_node);
  size_t attr_count = (size_t)leat_op_info_of(op)->attr_count;
  if (attr_count) node->attrs = leat_arena_memdup(graph->arena, attrs, attr_count * sizeof *attrs);
  leat_node_set_op(node, op);
  node->graph = graph;
  node->id = graph->nodes.count;
  node->name = add_name(graph, name, NAMED_NODE, node);
  node->input_count = input_count;
  node->inputs = leat_new_array(graph->arena, leat_value, input_count);
  if (input_count) memcpy(node->inputs, inputs, input_count * sizeof *inputs);
  for (int i = 0; i < node->info->attr_count; i++)
    if (leat_node_body(node, i)) node->attrs[i].body->owner = node;
  node->outputs = outputs;
  leat_vec_push(graph->arena, &graph->nodes, node);
  if (op == LEAT_OP_yield) graph->yield = node;
  set_binders(graph, node, node);
  return node;
}

leat_node *leat_graph_append(leat_graph *graph, leat_op op, const char *name,
                             const leat_value *inputs, uint32_t input_count,
                             const leat_attr *attrs) {
  leat_node *node = leat_graph_append_typed(graph, op, name, inputs, input_count, attrs, NULL);
  node->outputs = leat_new_array(graph->arena, leat_type, node->output_count);
  return node;
}

leat_state *leat_graph_add_state(leat_graph *graph, const char *name, const leat_type *type) {
  leat_state *state = leat_new(graph->arena, leat_state);
  state->kind = LEAT_STATE_VARIABLE;
  state->id = graph->states.count;
  state->name = add_name(graph, leat_intern(graph->strings, name), NAMED_STATE, state);
  state->type = *type;
  state->trainable = true;
  state->container = leat_intern(graph->strings, "");
  leat_vec_push(graph->arena, &graph->states, state);
  return state;
}

leat_entry *leat_graph_add_entry(leat_graph *graph, const char *name) {
  leat_entry *entry = leat_new(graph->arena, leat_entry);
  entry->name = add_name(graph, leat_intern(graph->strings, name), NAMED_ENTRY, entry);
  leat_vec_push(graph->arena, &graph->entries, entry);
  return entry;
}

// The head of an entry says its feeds' names: they go with it.
static void rename_feed(leat_graph *graph, const leat_entry *entry, const leat_param *param) {
  leat_map_set(&graph->names->by_name, param->node->name, NULL);
  const char *path = leat_intern_path(graph->strings, entry->name, param->name);
  const char *name = leat_graph_unique_name(graph, path);
  param->node->name = add_name(graph, name, NAMED_NODE, param->node);
}

void leat_graph_rename_entry(leat_graph *graph, leat_entry *entry, const char *name) {
  leat_map_set(&graph->names->by_name, entry->name, NULL);
  entry->name = add_name(graph, leat_intern(graph->strings, name), NAMED_ENTRY, entry);
  for (uint32_t i = 0; i < entry->params.count; i++)
    rename_feed(graph, entry, &entry->params.items[i]);
}

// What does not stand in the graph, its own node runs after.
static bool waits_inside(leat_node *node, leat_node *before) {
  leat_graph *graph = node->graph;
  bool outside = graph->region && before->graph != graph;
  if (outside) leat_vec_push(graph->arena, &graph->waits_for, before);
  return !outside;
}

void leat_node_add_controls(leat_graph *graph, leat_node *node, leat_node *const *before,
                            uint32_t count) {
  uint32_t own = node->control_count;
  if (!count) return;
  leat_arena *scratch = own + count > FEW_CONTROLS ? leat_arena_create() : NULL;
  leat_map known;
  if (scratch) leat_map_init(&known, scratch);
  leat_node **controls = leat_new_array(graph->arena, leat_node *, (size_t)own + count);
  node->control_count = 0;
  for (uint32_t i = 0; i < own + count; i++) {
    leat_node *control = i < own ? node->controls[i] : before[i - own];
    bool found = scratch && leat_map_get(&known, control);
    for (uint32_t k = 0; !scratch && !found && k < node->control_count; k++)
      found = controls[k] == control;
    if (found || !waits_inside(node, control)) continue;
    if (scratch) leat_map_set(&known, control, control);
    controls[node->control_count++] = control;
  }
  node->controls = controls;
  if (scratch) leat_arena_destroy(scratch);
}

void leat_node_add_control(leat_graph *graph, leat_node *node, leat_node *before) {
  leat_node_add_controls(graph, node, &before, 1);
}

// -- Run-time dims --------------------------------------------------------------------------------

bool leat_region_result_grows(const leat_node *region, uint32_t i) {
  for (int32_t k = 0; k < region->outputs[i].rank; k++)
    if (leat_region_grows(region, i, k)) return true;
  return false;
}

bool leat_region_lets_grow(const leat_node *node) {
  return node->info->kind == LEAT_KIND_REGION && leat_node_attr(node, "axes")->count;
}

bool leat_region_fits(const leat_node *region, uint32_t i, const leat_type *a, const leat_type *b) {
  bool same = a->dtype == b->dtype && a->rank == b->rank;
  for (int32_t k = 0; same && k < a->rank; k++)
    same = leat_dim_equal(a->dims[k], b->dims[k]) || leat_region_grows(region, i, k);
  return same;
}

bool leat_region_grows(const leat_node *region, uint32_t i, int32_t axis) {
  if (region->info->kind != LEAT_KIND_REGION) return false;
  const leat_attr *axes = leat_node_attr(region, "axes");
  for (uint32_t k = 0; k < axes->count; k++)
    if (axes->ints[k] == (int64_t)i * LEAT_MAX_RANK + axis) return true;
  return false;
}

leat_node *leat_graph_binder(const leat_graph *graph, const leat_atom *atom) {
  return leat_map_get(&graph->names->binders, atom);
}

typedef struct dim_search {
  const leat_graph *graph;
  bool found;
} dim_search;

static void see_bound(void *context, const leat_atom *atom) {
  dim_search *search = context;
  const leat_node *binder = leat_graph_binder(search->graph, atom);
  if (binder && binder->graph == search->graph) search->found = true;
}

bool leat_graph_binds(const leat_graph *graph, const leat_type *type) {
  dim_search search = {.graph = graph};
  for (int32_t i = 0; i < type->rank; i++) leat_dim_visit(type->dims[i], see_bound, &search);
  return search.found;
}

typedef struct binder_search {
  const leat_graph *graph;
  const leat_node *node;
  leat_arena *arena;
  leat_node_list *out;
} binder_search;

static void seek_atom(void *context, const leat_atom *atom) {
  const leat_atom **sought = context;
  if (*sought == atom) *sought = NULL;
}

static bool has_atom(const leat_type *type, const leat_atom *atom) {
  for (int32_t i = 0; i < type->rank; i++) leat_dim_visit(type->dims[i], seek_atom, &atom);
  return !atom;
}

// What a node outside of a body binds, the body's own node runs after.
static void find_binder(void *context, const leat_atom *atom) {
  binder_search *search = context;
  leat_node *binder = leat_graph_binder(search->graph, atom);
  bool here = binder && binder->graph == search->graph;
  if (!here || binder == search->node || binder->op == LEAT_OP_parameter) return;
  for (uint32_t i = 0; i < search->node->input_count; i++)
    if (has_atom(leat_value_type(search->node->inputs[i]), atom)) return;
  for (uint32_t i = 0; i < search->out->count; i++)
    if (search->out->items[i] == binder) return;
  leat_vec_push(search->arena, search->out, binder);
}

static void search_attrs(binder_search *search, const leat_node *node) {
  const leat_op_info *info = node->info;
  bool knows =
      node->op == LEAT_OP_bind || node->op == LEAT_OP_feed || node->op == LEAT_OP_parameter;
  if (knows) return; // its dims
  for (int i = 0; i < info->attr_count; i++) {
    const leat_attr *attr = &node->attrs[i];
    const leat_graph *body = leat_node_body(node, i);
    if (info->attrs[i].kind == LEAT_ATTR_DIM) leat_dim_visit(attr->dim, find_binder, search);
    for (uint32_t j = 0; info->attrs[i].kind == LEAT_ATTR_DIMS && j < attr->count; j++)
      leat_dim_visit(attr->dims[j], find_binder, search);
    for (int32_t j = 0; info->attrs[i].kind == LEAT_ATTR_TYPE && j < attr->type->rank; j++)
      leat_dim_visit(attr->type->dims[j], find_binder, search);
    for (uint32_t j = 0; body && j < body->nodes.count; j++)
      search_attrs(search, body->nodes.items[j]);
  }
}

bool leat_node_is_static(const leat_node *node) {
  const leat_op_info *info = node->info;
  for (uint32_t i = 0; i < node->output_count; i++)
    if (!leat_type_is_static(&node->outputs[i])) return false;
  for (int i = 0; i < info->attr_count; i++) {
    const leat_attr *attr = &node->attrs[i];
    if (info->attrs[i].kind == LEAT_ATTR_DIM && !leat_dim_is_const(attr->dim)) return false;
    for (uint32_t j = 0; info->attrs[i].kind == LEAT_ATTR_DIMS && j < attr->count; j++)
      if (!leat_dim_is_const(attr->dims[j])) return false;
  }
  return true;
}

void leat_node_find_binders(const leat_graph *graph, const leat_node *node, leat_arena *arena,
                            leat_node_list *out) {
  binder_search search = {graph, node, arena, out};
  search_attrs(&search, node);
}

// -- Reading -------------------------------------------------------------------------------------

const leat_type *leat_value_type(leat_value value) {
  assert(value.node);
  return &value.node->outputs[value.port];
}

const leat_attr *leat_node_attr(const leat_node *node, const char *name) {
  int index = leat_op_attr_index(node->op, name);
  assert(index >= 0);
  return &node->attrs[index];
}

void leat_node_set_attr(leat_graph *graph, leat_node *node, const char *name, leat_attr value) {
  int index = leat_op_attr_index(node->op, name);
  assert(index >= 0);
  size_t count = (size_t)node->info->attr_count;
  leat_attr *attrs = leat_arena_memdup(graph->arena, node->attrs, count * sizeof *attrs);
  attrs[index] = value;
  node->attrs = attrs;
}

leat_state *leat_node_state(const leat_node *node) {
  bool has_state = node->info->flags & LEAT_FLAG_STATE;
  return has_state ? leat_node_attr(node, "state")->state : NULL;
}

static bool is_open_attr(leat_attr_kind kind, const leat_attr *attr) {
  if (kind == LEAT_ATTR_DIM) return !leat_dim_is_const(attr->dim);
  for (uint32_t i = 0; kind == LEAT_ATTR_DIMS && i < attr->count; i++)
    if (!leat_dim_is_const(attr->dims[i])) return true;
  return false;
}

bool leat_node_is_open(const leat_node *node) {
  const leat_op_info *info = node->info;
  for (uint32_t i = 0; i < node->input_count; i++)
    if (!leat_type_is_static(leat_value_type(node->inputs[i]))) return true;
  for (uint32_t i = 0; i < node->output_count; i++)
    if (!leat_type_is_static(&node->outputs[i])) return true;
  for (int i = 0; i < info->attr_count; i++)
    if (is_open_attr(info->attrs[i].kind, &node->attrs[i])) return true;
  return false;
}

// Strings that move into a variable, or out of one, are copied.
static bool copies_strings(const leat_node *node) {
  const leat_state *state = leat_node_state(node);
  return state && state->type.dtype == LEAT_str;
}

bool leat_node_may_fail(const leat_node *node) {
  const leat_op_info *info = node->info;
  bool always = info->flags & LEAT_FLAG_FAILS || info->kind == LEAT_KIND_REGION;
  if (always || copies_strings(node)) return true;
  return info->flags & LEAT_FLAG_FAILS_LATE && leat_node_is_open(node);
}

// -- Order ---------------------------------------------------------------------------------------

void leat_graph_renumber(leat_graph *graph) {
  for (uint32_t i = 0; i < graph->nodes.count; i++) graph->nodes.items[i]->id = i;
}

// Number of edges into a node, and the node that edge number i comes from: data edges first.
static uint32_t edge_count(const leat_node *node) {
  return node->input_count + node->control_count;
}

static leat_node *edge_source(const leat_node *node, uint32_t i) {
  return i < node->input_count ? node->inputs[i].node : node->controls[i - node->input_count];
}

// items[offset[id] … offset[id + 1]) are the nodes that have node `id` as data or control input,
// once an edge.
typedef struct users {
  const uint32_t *offset;
  leat_node **items;
} users;

static users find_users(const leat_graph *graph, leat_arena *scratch) {
  uint32_t count = graph->nodes.count;
  uint32_t *offset = leat_new_array(scratch, uint32_t, (size_t)count + 1);
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t e = 0; e < edge_count(graph->nodes.items[i]); e++)
      offset[edge_source(graph->nodes.items[i], e)->id + 1]++;
  for (uint32_t i = 0; i < count; i++) offset[i + 1] += offset[i];
  leat_node **items = leat_new_array(scratch, leat_node *, offset[count]);
  uint32_t *next = leat_arena_memdup(scratch, offset, count * sizeof *offset);
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t e = 0; e < edge_count(graph->nodes.items[i]); e++)
      items[next[edge_source(graph->nodes.items[i], e)->id]++] = graph->nodes.items[i];
  return (users){offset, items};
}

// Every node that is still waiting waits for another such: following them leads into a cycle.
static leat_node *find_in_cycle(const leat_graph *graph, const uint32_t *waiting) {
  uint32_t first = 0;
  while (!waiting[first]) first++;
  leat_node *node = graph->nodes.items[first];
  for (uint32_t step = 0; step < graph->nodes.count; step++) {
    uint32_t e = 0;
    while (!waiting[edge_source(node, e)->id]) e++;
    node = edge_source(node, e);
  }
  return node;
}

static bool sort_nodes(leat_graph *graph, leat_arena *scratch, leat_node **out_in_cycle) {
  uint32_t count = graph->nodes.count, done = 0;
  users of = find_users(graph, scratch);
  leat_node **sorted = leat_new_array(scratch, leat_node *, count);
  uint32_t *waiting = leat_new_array(scratch, uint32_t, count);
  leat_heap ready = {0};
  for (uint32_t i = 0; i < count; i++) {
    waiting[i] = edge_count(graph->nodes.items[i]);
    if (!waiting[i]) leat_heap_push(scratch, &ready, i);
  }
  while (ready.count) {
    uint32_t id = (uint32_t)leat_heap_pop(&ready);
    sorted[done++] = graph->nodes.items[id];
    for (uint32_t u = of.offset[id]; u < of.offset[id + 1]; u++)
      if (--waiting[of.items[u]->id] == 0) leat_heap_push(scratch, &ready, of.items[u]->id);
  }
  if (done < count) {
    *out_in_cycle = find_in_cycle(graph, waiting);
    return false;
  }
  if (count) memcpy(graph->nodes.items, sorted, count * sizeof *sorted);
  leat_graph_renumber(graph);
  return true;
}

bool leat_graph_sort(leat_graph *graph, leat_node **out_in_cycle) {
  leat_arena *scratch = leat_arena_create();
  leat_graph_renumber(graph);
  bool sorted = sort_nodes(graph, scratch, out_in_cycle);
  leat_arena_destroy(scratch);
  return sorted;
}

void leat_graph_list_effects(leat_graph *graph) {
  for (uint32_t i = 0; i < graph->entries.count; i++) graph->entries.items[i]->effects.count = 0;
  for (uint32_t i = 0; i < graph->nodes.count && !leat_graph_is_body(graph); i++) {
    leat_node *node = graph->nodes.items[i];
    if (node->entry && node->effect) leat_vec_push(graph->arena, &node->entry->effects, node);
  }
}

void leat_graph_rename_node(leat_graph *graph, leat_node *node, const char *name) {
  leat_map_set(&graph->names->by_name, node->name, NULL);
  leat_map_set(&graph->names->by_name, name, NULL);
  node->name = add_name(graph, name, NAMED_NODE, node);
}

// Of its entry: there is one of the two from now on.
static void take_effect(leat_node *node, const leat_node *other) {
  leat_entry *entry = node->entry;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < entry->effects.count; i++) {
    leat_node *effect = entry->effects.items[i];
    if (effect != other || !node->effect)
      entry->effects.items[kept++] = effect == other ? node : effect;
  }
  entry->effects.count = kept;
  node->effect = other->effect;
}

void leat_graph_take_over(leat_graph *graph, leat_node *node, leat_node *other) {
  uint32_t kept = other->id, count = graph->nodes.count;
  for (uint32_t i = other->id + 1; i < count; i++) {
    leat_node *user = graph->nodes.items[i];
    for (uint32_t k = 0; k < user->input_count; k++)
      if (user->inputs[k].node == other) user->inputs[k].node = node;
    for (uint32_t k = 0; k < user->control_count; k++)
      if (user->controls[k] == other) user->controls[k] = node;
    graph->nodes.items[kept++] = user;
  }
  graph->nodes.count = kept;
  leat_map_set(&graph->names->by_name, other->name, NULL);
  node->inputs = other->inputs;
  node->input_count = other->input_count;
  node->attrs = other->attrs;
  node->outputs = other->outputs;
  node->output_count = other->output_count;
  if (node->entry) take_effect(node, other);
  set_binders(graph, node, node);
  leat_node_add_controls(graph, node, other->controls, other->control_count);
  for (int i = 0; i < node->info->attr_count; i++)
    if (leat_node_body(node, i)) node->attrs[i].body->owner = node;
  leat_node *in_cycle;
  bool sorted = leat_graph_sort(graph, &in_cycle);
  assert(sorted);
  (void)sorted;
}

static void forget_node(leat_graph *graph, const leat_node *node) {
  leat_map_set(&graph->names->by_name, node->name, NULL);
  set_binders(graph, node, NULL);
  for (int i = 0; i < node->info->attr_count; i++) {
    const leat_graph *body = leat_node_body(node, i);
    for (uint32_t n = 0; body && n < body->nodes.count; n++)
      forget_node(graph, body->nodes.items[n]);
  }
}

void leat_graph_truncate(leat_graph *graph, uint32_t nodes, uint32_t states, uint32_t entries) {
  bool any =
      nodes < graph->nodes.count || states < graph->states.count || entries < graph->entries.count;
  for (uint32_t i = nodes; i < graph->nodes.count; i++) forget_node(graph, graph->nodes.items[i]);
  for (uint32_t i = states; i < graph->states.count; i++)
    leat_map_set(&graph->names->by_name, graph->states.items[i]->name, NULL);
  for (uint32_t i = entries; i < graph->entries.count; i++)
    leat_map_set(&graph->names->by_name, graph->entries.items[i]->name, NULL);
  graph->nodes.count = nodes;
  graph->states.count = states;
  graph->entries.count = entries;
  if (any) leat_map_init(&graph->names->next_suffix, graph->arena); // it only saves looking
}

// -- Attributes -----------------------------------------------------------------------------------

// Whether they do the same, whatever their nodes are called.
static bool bodies_equal(const leat_graph *a, const leat_graph *b) {
  bool same = a->nodes.count == b->nodes.count;
  for (uint32_t i = 0; same && a != b && i < a->nodes.count; i++) {
    const leat_node *x = a->nodes.items[i], *y = b->nodes.items[i];
    same = x->op == y->op && x->input_count == y->input_count &&
           leat_attrs_equal(x->op, x->attrs, y->attrs);
    for (uint32_t k = 0; same && k < x->input_count; k++)
      same =
          x->inputs[k].node->id == y->inputs[k].node->id && x->inputs[k].port == y->inputs[k].port;
  }
  return same;
}

// Nothing is at NULL, where memcmp must not look.
static bool same_bytes(const void *a, const void *b, size_t size) {
  return !size || !memcmp(a, b, size);
}

static bool attr_equal(leat_attr_kind kind, const leat_attr *a, const leat_attr *b) {
  switch (kind) {
  case LEAT_ATTR_INT:
  case LEAT_ATTR_BOOL:
  case LEAT_ATTR_DTYPE: return a->i == b->i;
  case LEAT_ATTR_STRING: return a->string == b->string || !strcmp(a->string, b->string);
  case LEAT_ATTR_DIM: return leat_dim_equal(a->dim, b->dim);
  case LEAT_ATTR_INTS:
    return a->count == b->count && same_bytes(a->ints, b->ints, a->count * sizeof *a->ints);
  case LEAT_ATTR_DIMS:
    if (a->count != b->count) return false;
    for (uint32_t i = 0; i < a->count; i++)
      if (!leat_dim_equal(a->dims[i], b->dims[i])) return false;
    return true;
  case LEAT_ATTR_TYPE: return leat_type_equal(a->type, b->type);
  case LEAT_ATTR_TENSOR: {
    int64_t bytes = leat_tensor_bytes(a->tensor);
    return a->tensor->dtype == b->tensor->dtype && a->tensor->rank == b->tensor->rank &&
           same_bytes(a->tensor->shape, b->tensor->shape,
                      (size_t)a->tensor->rank * sizeof *a->tensor->shape) &&
           same_bytes(a->tensor->data, b->tensor->data, (size_t)bytes);
  }
  case LEAT_ATTR_STATE: return a->state == b->state;
  case LEAT_ATTR_GRAPH: return bodies_equal(a->body, b->body);
  }
  return false;
}

bool leat_attrs_equal(leat_op op, const leat_attr *a, const leat_attr *b) {
  const leat_op_info *info = leat_op_info_of(op);
  for (int i = 0; i < info->attr_count; i++)
    if (!attr_equal(info->attrs[i].kind, &a[i], &b[i])) return false;
  return true;
}
