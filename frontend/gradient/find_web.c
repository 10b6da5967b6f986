// What of the losses a primitive of control flow has to do with: what depends on one, and so may be
// dead, the frames that it is in, and whether a gradient goes through that.
#include "frontend/gradient/walk.h"

#include "frontend/values/region.h"

bool ev_may_die(const ev_web *w, leat_value value) {
  return w->depends[ev_number_of(&w->all, value)];
}

bool ev_is_part(const ev_web *w, uint32_t number) {
  return w->depends[number] && w->asked[number];
}

// Whether it is in a frame in the one that the losses are in.
bool ev_is_inside(const ev_web *w, uint32_t number) {
  return w->frames[number] && w->frames[number] != w->frame;
}

// A control edge that orders two operations on one state, or a dim and who has it.
static bool only_orders(const leat_node *node, const leat_node *before) {
  const leat_state *state = leat_node_state(node);
  return before->op == LEAT_OP_bind || (state && state == leat_node_state(before));
}

static const char *frame_of(const ev_web *w, leat_value value) {
  return w->frames[ev_number_of(&w->all, value)];
}

// -- Frames ---------------------------------------------------------------------------------------

static void look_at_frame(ev_web *w, uint32_t number) {
  const leat_node *node = w->all.nodes[number];
  const char *frame = NULL;
  for (uint32_t i = 0; i < node->input_count && !frame; i++) frame = frame_of(w, node->inputs[i]);
  for (uint32_t i = 0; i < node->control_count && !frame; i++)
    if (!only_orders(node, node->controls[i]))
      frame = frame_of(w, (leat_value){node->controls[i], 0});
  if (node->op == LEAT_OP_leave && frame) frame = leat_map_get(&w->frames_around, frame);
  w->frames[number] = frame;
  if (node->op != LEAT_OP_enter) return;
  const char *name = leat_node_attr(node, "frame")->string;
  if (frame) leat_map_set(&w->frames_around, name, (void *)frame);
  w->frames[number] = name;
}

static void find_frames(ev_web *w, const ev_seeds *seeds) {
  w->frames = leat_new_array(w->scratch, const char *, (size_t)w->all.count + 1);
  leat_map_init(&w->frames_around, w->scratch);
  for (uint32_t i = 0; i < w->all.count; i++) look_at_frame(w, i);
  for (uint32_t i = 0; i < seeds->count && !w->frame; i++) w->frame = frame_of(w, seeds->ys[i]);
}

// -- What depends on primitives -------------------------------------------------------------------

// What a turn of the losses' frame begins with, and whether there is one.
static bool begins_turn(const ev_web *w, uint32_t number) {
  const leat_node *node = w->all.nodes[number];
  if (!w->frame || w->frames[number] != w->frame) return false;
  bool carried = node->op == LEAT_OP_merge && node->inputs[0].node->op == LEAT_OP_enter;
  return carried || node->op == LEAT_OP_enter || node->op == LEAT_OP_loop_cond;
}

static bool depends(const ev_web *w, uint32_t number) {
  const leat_node *node = w->all.nodes[number];
  if (begins_turn(w, number)) return false;
  bool found = leat_is_primitive(node);
  for (uint32_t i = 0; i < node->input_count && !found; i++) found = ev_may_die(w, node->inputs[i]);
  for (uint32_t i = 0; i < node->control_count && !found; i++)
    found =
        !only_orders(node, node->controls[i]) && ev_may_die(w, (leat_value){node->controls[i], 0});
  return found;
}

static void find_dependent(ev_web *w) {
  w->depends = leat_new_array(w->scratch, bool, (size_t)w->all.count + 1);
  for (uint32_t i = 0; i < w->all.count; i++) w->depends[i] = depends(w, i);
}

static bool has_primitives(const ev_web *w) {
  for (uint32_t i = 0; i < w->all.count; i++)
    if (leat_is_primitive(w->all.nodes[i])) return true;
  return false;
}

// -- What the losses are made of ------------------------------------------------------------------

typedef struct search {
  ev_web *w;
  leat_vec(uint32_t) pending;
} search;

static void ask(search *s, leat_value value) {
  uint32_t number = ev_number_of(&s->w->all, value);
  if (number == s->w->all.count || s->w->asked[number]) return;
  s->w->asked[number] = true;
  leat_vec_push(s->w->scratch, &s->pending, number);
}

static ev ask_item(void *searching, ev item) {
  if (item.kind == EV_TENSOR) ask(searching, item.tensor);
  return item;
}

// What decides where it is alive is asked for, too, and all of a call with a rule of its own.
static void ask_sources(search *s, const leat_node *node) {
  const ev_call_record *record = leat_map_get(&s->w->e->records, node);
  for (uint32_t i = 0; i < node->input_count; i++) ask(s, node->inputs[i]);
  for (uint32_t i = 0; i < node->control_count; i++)
    if (!only_orders(node, node->controls[i])) ask(s, (leat_value){node->controls[i], 0});
  if (!record) return;
  ev_with_items(s->w->e, (ev){.kind = EV_LIST, .list = record->args}, ask_item, s);
  ev_with_items(s->w->e, (ev){.kind = EV_LIST, .list = record->results}, ask_item, s);
}

// Of what frames carry, by merge.
static void find_back_edges(ev_web *w) {
  leat_map_init(&w->back_edges, w->scratch);
  for (uint32_t i = 0; i < w->all.count; i++)
    if (w->all.nodes[i]->op == LEAT_OP_next_iteration)
      leat_map_set(&w->back_edges, w->all.nodes[i]->inputs[1].node, w->all.nodes[i]);
}

static bool find_part(ev_web *w, const ev_seeds *seeds) {
  search s = {.w = w};
  find_back_edges(w);
  w->asked = leat_new_array(w->scratch, bool, (size_t)w->all.count + 1);
  for (uint32_t i = 0; i < seeds->count; i++)
    if (ev_may_die(w, seeds->ys[i])) ask(&s, seeds->ys[i]);
  bool any = s.pending.count;
  while (s.pending.count) {
    uint32_t number = s.pending.items[--s.pending.count];
    leat_node *node = w->all.nodes[number], *edge = leat_map_get(&w->back_edges, node);
    if (node->op == LEAT_OP_leave) leat_vec_push(w->scratch, &w->leaves, node);
    if (edge && w->depends[number]) ask(&s, (leat_value){edge, 0});
    ask_sources(&s, node);
  }
  return any;
}

// -- Whether the gradient goes through primitives -------------------------------------------------

typedef struct reach {
  const ev_web *w;
  leat_map wanted; // targets: leat_node * or leat_state * → itself
  bool *reaches;   // by number: it depends on a target
} reach;

static bool reaches(const reach *r, leat_value value) {
  return r->reaches[ev_number_of(&r->w->all, value)];
}

const void *ev_target_key(ev target) {
  return target.kind == EV_STATE ? (const void *)target.state
                                 : leat_region_origin(target.tensor).node;
}

static bool depends_on_target(const reach *r, const leat_node *node) {
  const evaluator *e = r->w->e;
  const leat_state *state = ev_state_read(e, node);
  const ev_call_record *record = leat_map_get(&e->records, node);
  leat_node *edge = leat_map_get(&r->w->back_edges, node);
  bool found = leat_map_get(&r->wanted, node) || (state && leat_map_get(&r->wanted, state));
  for (uint32_t i = 0; i < node->input_count && !found; i++) found = reaches(r, node->inputs[i]);
  for (uint32_t i = 0; record && i < record->args->count && !found; i++) {
    ev arg = record->args->items[i];
    found = arg.kind == EV_TENSOR && reaches(r, arg.tensor);
  }
  return found || (edge && reaches(r, (leat_value){edge, 0}));
}

bool ev_web_is_between(const ev_web *w, const ev *targets, uint32_t count) {
  reach r = {.w = w, .reaches = leat_new_array(w->scratch, bool, (size_t)w->all.count + 1)};
  leat_map_init(&r.wanted, w->scratch);
  for (uint32_t i = 0; i < count; i++) {
    const void *target = ev_target_key(targets[i]);
    leat_map_set(&r.wanted, target, (void *)target);
  }
  bool through = false, more = true;
  while (more && !through) {
    more = false;
    for (uint32_t i = 0; i < w->all.count && !through; i++) {
      const leat_node *node = w->all.nodes[i];
      if (!w->asked[i] || r.reaches[i] || !depends_on_target(&r, node)) continue;
      r.reaches[i] = more = true;
      through = ev_is_part(w, i) && leat_is_primitive(node);
    }
  }
  return through;
}

bool ev_find_web(ev_web *w, bool around, const ev_seeds *seeds) {
  w->all = ev_number_nodes(w->e, around, w->scratch);
  if (!has_primitives(w) || ev_failed(w->e)) return false; // what it lacks may be what is wrong
  find_frames(w, seeds);
  find_dependent(w);
  return find_part(w, seeds);
}
