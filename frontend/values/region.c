// Regions: the nodes of a body stand at the end of the graph while it is open (ops/region.h). What
// belongs further out and is made meanwhile (the read of a variable, an initial value) is noted in
// e->outside, and stays there when the body is closed.
#include "frontend/values/region.h"

#include "frontend/values/names.h"
#include "frontend/values/tensors.h"

#include <string.h>

static leat_builder region_builder(evaluator *e) {
  leat_builder builder = ev_builder(e, e->region->span);
  builder.place = NULL;
  return builder;
}

// -- What belongs further out -------------------------------------------------------------------

static void set_depth(evaluator *e, leat_node *node, uint32_t depth) {
  leat_map_set(&e->outside, node, (void *)((uintptr_t)depth + 1));
}

// True when the node, made while the region was open, is of a body or the graph around it.
static bool is_outside(const evaluator *e, const leat_node *node, const ev_region *region) {
  uintptr_t depth = (uintptr_t)leat_map_get(&e->outside, node);
  return depth && depth - 1 < region->depth;
}

bool ev_region_is_outside(const evaluator *e, const leat_node *node) {
  return e->region && (node->op == LEAT_OP_parameter || is_outside(e, node, e->region));
}

ev_stepped_out ev_region_step_to(evaluator *e, ev_region *region) {
  ev_stepped_out out = {e->region, e->graph->nodes.count};
  e->region = region;
  return out;
}

ev_stepped_out ev_region_step_out(evaluator *e) {
  return ev_region_step_to(e, e->region->outer);
}

void ev_region_step_back(evaluator *e, ev_stepped_out out) {
  uint32_t depth = e->region ? e->region->depth : 0;
  for (uint32_t i = out.nodes; i < e->graph->nodes.count && e->region != out.region; i++) {
    leat_node *node = e->graph->nodes.items[i];
    if (!leat_map_get(&e->outside, node)) set_depth(e, node, depth);
  }
  e->region = out.region;
}

void ev_region_leave_out(evaluator *e, leat_value initial) {
  leat_vec(leat_node *) pending = {0};
  if (!e->region || !initial.node) return;
  leat_vec_push(e->arena, &pending, initial.node);
  while (pending.count) {
    leat_node *node = pending.items[--pending.count];
    if (leat_map_get(&e->outside, node) == (void *)(uintptr_t)1) continue;
    set_depth(e, node, 0);
    for (uint32_t i = 0; i < node->input_count; i++)
      leat_vec_push(e->arena, &pending, node->inputs[i].node);
  }
}

// -- State --------------------------------------------------------------------------------------

static ev_region_state *find_state(ev_region *region, const leat_state *state) {
  for (uint32_t i = 0; i < region->states.count; i++)
    if (region->states.items[i].state == state) return &region->states.items[i];
  return NULL;
}

// Its value before the region is an input.
static ev_region_state *add_state(evaluator *e, leat_state *state, leat_span span) {
  ev_region *region = e->region;
  ev_stepped_out out = ev_region_step_out(e);
  leat_value before = ev_read(e, state, span);
  ev_region_step_back(e, out);
  if (!before.node) return NULL;
  leat_vec_push(
      e->arena, &region->states,
      (ev_region_state){.state = state, .input = leat_region_add(&region->built, before)});
  return &region->states.items[region->states.count - 1];
}

leat_value ev_region_read(evaluator *e, leat_state *state, leat_span span) {
  ev_region_state *s = find_state(e->region, state);
  if (!s) s = add_state(e, state, span);
  if (!s) return (leat_value){0};
  if (!s->now.node) {
    leat_builder builder = region_builder(e);
    const char *name = leat_path_last(state->name);
    s->now = leat_region_parameter(&e->region->built, &builder, name, s->input);
    ev_set(e, &e->body_reads, s->now.node, state);
  }
  return s->now;
}

leat_state *ev_state_read(const evaluator *e, const leat_node *node) {
  return node->op == LEAT_OP_read ? leat_node_state(node) : leat_map_get(&e->body_reads, node);
}

leat_value ev_region_last_read(evaluator *e, const leat_state *state) {
  const ev_region_state *s = find_state(e->region, state);
  return s ? s->now : (leat_value){0};
}

// Whether a value of the open body may be dead.
static bool has_primitives(const evaluator *e) {
  const leat_graph *graph = e->graph;
  for (uint32_t i = e->region->built.first; i < graph->nodes.count; i++)
    if (leat_op_last_phase(graph->nodes.items[i]->op) < LEAT_PHASE_RAISED) return true;
  return false;
}

// What is dead leaves the variable as it is.
static leat_value assigned(evaluator *e, leat_state *state, leat_value value) {
  leat_value either[] = {value, {0}};
  if (!has_primitives(e)) return value;
  leat_builder builder = ev_builder(e, e->span);
  either[1] = ev_region_read(e, state, e->span);
  const char *name = ev_node_name(e, leat_path_last(state->name), NULL);
  return leat_build(&builder, name, LEAT_OP_merge, either, 2, NULL);
}

// What was assigned is read as a value of its own, as outside of bodies: no gradient goes through,
// but the reads behind it count as those before do, so that it goes to the value before.
static void pass_reads_on(evaluator *e, const ev_region_state *s, leat_value left) {
  if (!leat_dtype_in_class(leat_value_type(left)->dtype, LEAT_CLASS_INEXACT)) return;
  leat_builder builder = region_builder(e);
  const char *name = leat_path_last(s->state->name);
  ev before = ev_tensor(leat_region_parameter(&e->region->built, &builder, name, s->input));
  ev result = ev_tensor(left);
  const ev_list *args = ev_make_list(e, &before, 1).list;
  ev_record_call(e, ev_find_gradient(e, "identity"), args, &result, 1);
}

void ev_region_write(evaluator *e, leat_state *state, leat_value value) {
  leat_value before = ev_region_read(e, state, e->span);
  if (!before.node) return;
  ev_region_state *s = find_state(e->region, state);
  value = assigned(e, state, value);
  leat_builder builder = ev_builder(e, e->span);
  const char *name = ev_node_name(e, leat_path_last(state->name), NULL);
  leat_value left = leat_build(&builder, name, LEAT_OP_stop_gradient, &value, 1, NULL);
  if (!left.node) return;
  ev_set(e, &e->body_reads, left.node, state);
  pass_reads_on(e, s, left);
  s->now = left;
  s->left[e->region->built.body_count] = left;
  s->written = true;
}

// -- Beginning and ending -----------------------------------------------------------------------

void ev_region_begin(evaluator *e, ev_region *region, leat_op op, const char *name,
                     leat_span span) {
  const char *path = ev_node_name(e, name, leat_op_name(op));
  *region = (ev_region){.outer = e->region,
                        .depth = e->region ? e->region->depth + 1 : 1,
                        .op = op,
                        .built = leat_region_begin(e->graph, path),
                        .path = e->path,
                        .span = span};
  if (!e->region) leat_map_init(&e->outside, e->arena);
  e->region = region;
}

void ev_region_open(evaluator *e) {
  ev_region *region = e->region;
  region->scope = e->frame->scope;
  region->pending = e->pending.count;
  e->frame->scope = ev_scope_new(e, region->scope);
  e->path = region->built.path;
  leat_region_open(&region->built);
  for (uint32_t i = 0; i < region->states.count; i++) region->states.items[i].now.node = NULL;
}

typedef struct closed_body {
  leat_region *built;
  leat_builder *builder;
  uint32_t number;
} closed_body;

static ev inside_body(void *body, ev item) {
  const closed_body *closed = body;
  if (item.kind == EV_TENSOR)
    item.tensor = leat_region_inside(closed->built, closed->builder, closed->number, item.tensor);
  return item;
}

void ev_keep_records(evaluator *e, leat_region *built, leat_builder *builder, uint32_t number) {
  const leat_graph *graph = built->bodies[number].graph;
  closed_body body = {built, builder, number};
  for (uint32_t i = 0, count = graph->nodes.count; i < count; i++) {
    ev_call_record *record = leat_map_get(&e->records, graph->nodes.items[i]);
    if (!record || record->first != graph->nodes.items[i]) continue;
    ev args = {.kind = EV_LIST, .list = record->args};
    record->args = ev_with_items(e, args, inside_body, &body).list;
  }
}

void ev_region_close(evaluator *e) {
  ev_region *region = e->region;
  leat_graph *graph = e->graph;
  uint32_t first = region->built.first;
  bool *stays = leat_new_array(e->arena, bool, (size_t)(graph->nodes.count - first) + 1);
  for (uint32_t i = first; i < graph->nodes.count; i++)
    stays[i - first] = is_outside(e, graph->nodes.items[i], region);
  leat_builder builder = region_builder(e);
  uint32_t body = region->built.body_count;
  leat_region_close(&region->built, &builder, stays);
  ev_keep_records(e, &region->built, &builder, body);
  ev_scope_close(e, region->scope);
  e->path = region->path;
}

void ev_region_drop(evaluator *e) {
  ev_region *region = e->region;
  leat_region_drop(&region->built);
  e->path = region->path;
  e->region = region->outer;
}

// What each body of a conditional leaves in the variables, a loop in each iteration.
static void give_states(evaluator *e, leat_builder *builder) {
  ev_region *region = e->region;
  for (uint32_t i = 0; i < region->states.count; i++) {
    const ev_region_state *s = &region->states.items[i];
    uint32_t first = region->op == LEAT_OP_while_loop ? 1 : 0;
    if (!s->written) continue;
    for (uint32_t b = first; b < LEAT_REGION_BODIES; b++) {
      if (s->left[b].node)
        leat_region_give(&region->built, builder, b, s->left[b]);
      else
        leat_region_give_input(&region->built, builder, b, s->input);
    }
    if (first) leat_region_carry(&region->built, s->input);
  }
}

static void assign_states(evaluator *e, const ev_region *region, leat_node *node) {
  uint32_t port = node->output_count;
  for (uint32_t i = region->states.count; i-- > 0;) {
    const ev_region_state *s = &region->states.items[i];
    if (!s->written) continue;
    ev_write(e, LEAT_OP_assign, s->state, (leat_value){node, --port}, NULL, region->span);
  }
}

leat_node *ev_region_end(evaluator *e, const leat_value *predicate) {
  ev_region *region = e->region;
  leat_builder builder = region_builder(e);
  give_states(e, &builder);
  leat_node *node = leat_region_end(&region->built, &builder, region->op, predicate).node;
  e->region = region->outer;
  if (node) assign_states(e, region, node);
  return node;
}
