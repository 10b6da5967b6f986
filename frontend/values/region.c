// Regions: what the statements of a body make stands in it from the beginning (ops/region.h). What
// belongs further out and is made meanwhile (the read of a variable, a first value) is made there.
#include "frontend/values/region.h"

#include "frontend/values/names.h"
#include "frontend/values/tensors.h"

#include <string.h>

// -- Where nodes are made -------------------------------------------------------------------------

static ev_context step(evaluator *e, ev_region *region, leat_graph *body) {
  ev_context from = e->at;
  e->at.region = region;
  e->at.body = body;
  return from;
}

ev_context ev_step_out(evaluator *e) {
  const ev_context *around = &e->at.region->around;
  return step(e, around->region, around->body);
}

ev_context ev_step_to(evaluator *e, ev_region *region) {
  const leat_region *built = &region->built;
  return step(e, region, built->bodies[built->body_count - 1].graph);
}

ev_context ev_step_outermost(evaluator *e) {
  return step(e, NULL, e->graph);
}

ev_context ev_step_into(evaluator *e, uint32_t body) {
  return step(e, e->at.region, e->at.region->built.bodies[body].graph);
}

bool ev_is_taken_back_with_us(const evaluator *e, const leat_node *node) {
  bool made_before = node->graph == e->graph && node->id < e->nodes;
  return node->graph == e->at.body && !made_before && node->entry == e->at.entry;
}

// -- State --------------------------------------------------------------------------------------

static ev_region_state *find_state(ev_region *region, const leat_state *state) {
  for (uint32_t i = 0; i < region->states.count; i++)
    if (region->states.items[i].state == state) return &region->states.items[i];
  return NULL;
}

// Its value before the region is an input.
static ev_region_state *add_state(evaluator *e, leat_state *state, leat_span span) {
  ev_region *region = e->at.region;
  ev_context from = ev_step_out(e);
  leat_value before = ev_read(e, state, span);
  e->at = from;
  if (!before.node) return NULL;
  leat_vec_push(
      e->arena, &region->states,
      (ev_region_state){.state = state, .input = leat_region_add(&region->built, before)});
  return &region->states.items[region->states.count - 1];
}

leat_value ev_region_read(evaluator *e, leat_state *state, leat_span span) {
  ev_region_state *s = find_state(e->at.region, state);
  if (!s) s = add_state(e, state, span);
  if (!s) return (leat_value){0};
  if (!s->now.node) {
    const char *name = leat_path_last(state->name);
    s->now = leat_region_parameter(&e->at.region->built, name, s->input);
    ev_set(e, &e->body_reads, s->now.node, state);
  }
  return s->now;
}

leat_state *ev_state_read(const evaluator *e, const leat_node *node) {
  return node->op == LEAT_OP_read ? leat_node_state(node) : leat_map_get(&e->body_reads, node);
}

leat_value ev_region_last_read(evaluator *e, const leat_state *state) {
  const ev_region_state *s = find_state(e->at.region, state);
  return s ? s->now : (leat_value){0};
}

// Whether a value of the open body may be dead.
static bool has_primitives(const evaluator *e) {
  for (uint32_t i = 0; i < e->at.body->nodes.count; i++)
    if (leat_op_last_phase(e->at.body->nodes.items[i]->op) < LEAT_PHASE_RAISED) return true;
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
  const char *name = leat_path_last(s->state->name);
  ev before = ev_tensor(leat_region_parameter(&e->at.region->built, name, s->input));
  ev result = ev_tensor(left);
  const ev_list *args = ev_make_list(e, &before, 1).list;
  ev_record_call(e, ev_find_gradient(e, "identity"), args, &result, 1);
}

void ev_region_write(evaluator *e, leat_state *state, leat_value value) {
  leat_value before = ev_region_read(e, state, e->span);
  if (!before.node) return;
  ev_region_state *s = find_state(e->at.region, state);
  value = assigned(e, state, value);
  leat_builder builder = ev_builder(e, e->span);
  const char *name = ev_node_name(e, leat_path_last(state->name), NULL);
  leat_value left = leat_build(&builder, name, LEAT_OP_stop_gradient, &value, 1, NULL);
  if (!left.node) return;
  ev_set(e, &e->body_reads, left.node, state);
  pass_reads_on(e, s, left);
  s->now = left;
  s->left[e->at.region->built.body_count - 1] = left;
  s->written = true;
}

// -- Beginning and ending -----------------------------------------------------------------------

void ev_region_begin(evaluator *e, ev_region *region, leat_op op, const char *name,
                     leat_span span) {
  leat_builder builder = ev_builder(e, span);
  builder.place = NULL;
  *region =
      (ev_region){.op = op,
                  .around = e->at,
                  .built = leat_region_begin(&builder, ev_node_name(e, name, leat_op_name(op))),
                  .span = span};
  e->at.region = region;
}

void ev_region_open(evaluator *e) {
  ev_region *region = e->at.region;
  region->scope = e->frame->scope;
  region->pending = e->pending.count;
  e->frame->scope = ev_scope_new(e, region->scope);
  e->at.path = region->built.path;
  e->at.body = leat_region_open(&region->built);
  for (uint32_t i = 0; i < region->states.count; i++) region->states.items[i].now.node = NULL;
}

void ev_region_close(evaluator *e) {
  ev_region *region = e->at.region;
  leat_region_close(&region->built);
  ev_scope_close(e, region->scope);
  e->at = region->around;
  e->at.region = region;
}

void ev_region_drop(evaluator *e) {
  ev_region *region = e->at.region;
  leat_region_drop(&region->built);
  e->at = region->around;
}

// What each body of a conditional leaves in the variables, a loop in each iteration.
static void give_states(ev_region *region) {
  for (uint32_t i = 0; i < region->states.count; i++) {
    const ev_region_state *s = &region->states.items[i];
    uint32_t first = region->op == LEAT_OP_while_loop ? 1 : 0;
    if (!s->written) continue;
    for (uint32_t b = first; b < LEAT_REGION_BODIES; b++) {
      if (s->left[b].node)
        leat_region_give(&region->built, b, s->left[b]);
      else
        leat_region_give_input(&region->built, b, s->input);
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
  ev_region *region = e->at.region;
  give_states(region);
  leat_node *node = leat_region_end(&region->built, region->op, predicate).node;
  e->at = region->around;
  if (node) assign_states(e, region, node);
  return node;
}
