// Gradients through what may be dead, and through frames (white paper 4.4): the walk knows regions
// only, so that what primitives have to do with becomes regions first.
//
// Of all that the losses are made of, what depends on a primitive is copied into a graph beside,
// which is raised as a step's is (ops/raise.h), and moved back; the walk goes through that. A loss
// that may be dead is zeros there where it is, its gradients are dead again behind the walk. What
// comes out of a frame and is always alive is what comes out of the loop that was made of it, so
// that nothing turns twice; of other values the pass `cse` finds that they are done already.
#include "frontend/gradient/walk.h"

#include "frontend/evaluate/calls.h"
#include "frontend/values/region.h"
#include "frontend/values/rows.h"
#include "ops/raise.h"

// What is raised.
typedef struct web {
  evaluator *e;
  leat_span span;
  leat_arena *scratch;
  uint32_t first, count;  // ids of the nodes that are looked at: from `first` to below `count`
  bool *depends;          // by id: on a primitive
  const char **frames;    // by id: the frame that it is in, as far as inputs tell; NULL: none
  leat_map frames_around; // interned name of a frame → that of the one around it
  const char *frame;      // that the losses are in, of one turn of which they are; NULL: none
  bool *asked;            // by id: what the losses are made of
  leat_map back_edges;    // leat_node *, a merge → the leat_node * that says what it is next
  leat_node_list leaves;  // of the part
  leat_map instead;       // leat_node *, what is asked of the graph around → leat_value *
} web;

static leat_node *node_at(const web *w, uint32_t id) {
  return w->e->graph->nodes.items[id];
}

static bool is_here(const web *w, const leat_node *node) {
  return node->id >= w->first && node->id < w->count;
}

static bool may_die(const web *w, leat_value value) {
  return is_here(w, value.node) && w->depends[value.node->id];
}

static bool is_part(const web *w, const leat_node *node) {
  return is_here(w, node) && w->depends[node->id] && w->asked[node->id];
}

// A control edge that orders two operations on one state, or a dim and who has it.
static bool only_orders(const leat_node *node, const leat_node *before) {
  const leat_state *state = leat_node_state(node);
  return before->op == LEAT_OP_bind || (state && state == leat_node_state(before));
}

// Whether it is in a frame in the one that the losses are in.
static bool is_inside(const web *w, uint32_t id) {
  return w->frames[id] && w->frames[id] != w->frame;
}

// -- Frames ---------------------------------------------------------------------------------------

static void look_at_frame(web *w, const leat_node *node) {
  const char **frame = &w->frames[node->id];
  for (uint32_t i = 0; i < node->input_count && !*frame; i++)
    if (is_here(w, node->inputs[i].node)) *frame = w->frames[node->inputs[i].node->id];
  for (uint32_t i = 0; i < node->control_count && !*frame; i++)
    if (is_here(w, node->controls[i]) && !only_orders(node, node->controls[i]))
      *frame = w->frames[node->controls[i]->id];
  if (node->op == LEAT_OP_leave && *frame) *frame = leat_map_get(&w->frames_around, *frame);
  if (node->op != LEAT_OP_enter) return;
  const char *name = leat_node_attr(node, "frame")->string;
  if (*frame) leat_map_set(&w->frames_around, name, (void *)*frame);
  *frame = name;
}

static void find_frames(web *w, const ev_seeds *seeds) {
  w->frames = leat_new_array(w->scratch, const char *, (size_t)w->count + 1);
  leat_map_init(&w->frames_around, w->scratch);
  for (uint32_t id = w->first; id < w->count; id++) look_at_frame(w, node_at(w, id));
  for (uint32_t i = 0; i < seeds->count && !w->frame; i++)
    if (is_here(w, seeds->ys[i].node)) w->frame = w->frames[seeds->ys[i].node->id];
}

// -- What depends on primitives -------------------------------------------------------------------

// What a turn of the losses' frame begins with, and whether there is one.
static bool begins_turn(const web *w, const leat_node *node) {
  if (!w->frame || w->frames[node->id] != w->frame) return false;
  bool carried = node->op == LEAT_OP_merge && node->inputs[0].node->op == LEAT_OP_enter;
  return carried || node->op == LEAT_OP_enter || node->op == LEAT_OP_loop_cond;
}

static bool depends(const web *w, const leat_node *node) {
  if (begins_turn(w, node)) return false;
  bool found = leat_is_primitive(node);
  for (uint32_t i = 0; i < node->input_count && !found; i++) found = may_die(w, node->inputs[i]);
  for (uint32_t i = 0; i < node->control_count && !found; i++)
    found = !only_orders(node, node->controls[i]) && may_die(w, (leat_value){node->controls[i], 0});
  return found;
}

static void find_dependent(web *w) {
  w->depends = leat_new_array(w->scratch, bool, (size_t)w->count + 1);
  for (uint32_t id = w->first; id < w->count; id++) w->depends[id] = depends(w, node_at(w, id));
}

static bool has_primitives(const web *w) {
  for (uint32_t id = w->first; id < w->count; id++)
    if (leat_is_primitive(node_at(w, id))) return true;
  return false;
}

// -- What the losses are made of ------------------------------------------------------------------

typedef struct search {
  web *w;
  leat_node_list pending;
} search;

static void ask(search *s, leat_node *node) {
  if (!is_here(s->w, node) || s->w->asked[node->id]) return;
  s->w->asked[node->id] = true;
  leat_vec_push(s->w->scratch, &s->pending, node);
}

static ev ask_item(void *searching, ev item) {
  if (item.kind == EV_TENSOR) ask(searching, item.tensor.node);
  return item;
}

// What decides where it is alive is asked for, too, and all of a call with a rule of its own.
static void ask_sources(search *s, const leat_node *node) {
  const ev_call_record *record = leat_map_get(&s->w->e->records, node);
  for (uint32_t i = 0; i < node->input_count; i++) ask(s, node->inputs[i].node);
  for (uint32_t i = 0; i < node->control_count; i++)
    if (!only_orders(node, node->controls[i])) ask(s, node->controls[i]);
  if (!record) return;
  ev_with_items(s->w->e, (ev){.kind = EV_LIST, .list = record->args}, ask_item, s);
  ev_with_items(s->w->e, (ev){.kind = EV_LIST, .list = record->results}, ask_item, s);
}

// The back edges of what frames carry, by merge.
static leat_map find_back_edges(const web *w) {
  leat_map edges;
  leat_map_init(&edges, w->scratch);
  for (uint32_t id = w->first; id < w->count; id++)
    if (node_at(w, id)->op == LEAT_OP_next_iteration)
      leat_map_set(&edges, node_at(w, id)->inputs[1].node, node_at(w, id));
  return edges;
}

static bool find_part(web *w, const ev_seeds *seeds) {
  search s = {.w = w};
  leat_map edges = w->back_edges = find_back_edges(w);
  w->asked = leat_new_array(w->scratch, bool, (size_t)w->count + 1);
  for (uint32_t i = 0; i < seeds->count; i++)
    if (may_die(w, seeds->ys[i])) ask(&s, seeds->ys[i].node);
  bool any = s.pending.count;
  while (s.pending.count) {
    leat_node *node = s.pending.items[--s.pending.count], *edge = leat_map_get(&edges, node);
    if (node->op == LEAT_OP_leave) leat_vec_push(w->scratch, &w->leaves, node);
    if (edge && w->depends[node->id]) ask(&s, edge);
    ask_sources(&s, node);
  }
  return any;
}

// -- Whether the gradient goes through primitives -------------------------------------------------

typedef struct reach {
  const web *w;
  leat_map wanted; // targets: leat_node * or leat_state * → itself
  bool *reaches;   // by id: it depends on a target
  bool found;      // what is looked at does
} reach;

static void look_at(reach *r, const leat_node *node) {
  r->found |= is_here(r->w, node) && r->reaches[node->id];
}

static ev look_at_item(void *reaching, ev item) {
  if (item.kind == EV_TENSOR) look_at(reaching, item.tensor.node);
  return item;
}

static bool depends_on_target(reach *r, const leat_node *node) {
  evaluator *e = r->w->e;
  const leat_state *state = ev_state_read(e, node);
  const ev_call_record *record = leat_map_get(&e->records, node);
  const leat_node *edge = leat_map_get(&r->w->back_edges, node);
  r->found = leat_map_get(&r->wanted, node) || (state && leat_map_get(&r->wanted, state));
  for (uint32_t i = 0; i < node->input_count && !r->found; i++) look_at(r, node->inputs[i].node);
  if (edge) look_at(r, edge);
  if (record) ev_with_items(e, (ev){.kind = EV_LIST, .list = record->args}, look_at_item, r);
  return r->found;
}

// Of what a loss is made of by others alone all is alive where it is.
static bool goes_through_primitives(const web *w, const ev *targets, uint32_t count) {
  reach r = {.w = w, .reaches = leat_new_array(w->scratch, bool, (size_t)w->count + 1)};
  leat_map_init(&r.wanted, w->scratch);
  for (uint32_t i = 0; i < count; i++) {
    const void *target = targets[i].kind == EV_STATE ? (const void *)targets[i].state
                                                     : (const void *)targets[i].tensor.node;
    leat_map_set(&r.wanted, target, (void *)target);
  }
  bool through = false, more = true;
  while (more && !through) {
    more = false;
    for (uint32_t id = w->first; id < w->count && !through; id++) {
      const leat_node *node = node_at(w, id);
      if (!w->asked[id] || r.reaches[id] || !depends_on_target(&r, node)) continue;
      r.reaches[id] = more = true;
      through = is_part(w, node) && leat_is_primitive(node);
    }
  }
  return through;
}

// -- What is asked of the graph around ------------------------------------------------------------

// format: has one %s, the name.
static bool refuse(const web *w, const leat_node *at, const char *format, const char *name) {
  const char *text = leat_arena_printf(w->scratch, format, name);
  ev_fail(w->e, w->span, "%s", text);
  leat_note_at(w->e->diag, at->span, "it is here");
  return false;
}

// A frame that finds in a variable what it left there: reads are of the graph around.
static bool check_changes(const web *w) {
  bool *read = leat_new_array(w->scratch, bool, (size_t)w->e->graph->states.count + 1);
  for (uint32_t id = w->first; id < w->count; id++) {
    const leat_state *state = w->asked[id] ? leat_node_state(node_at(w, id)) : NULL;
    if (state && !node_at(w, id)->effect) read[state->id] = true;
  }
  for (uint32_t id = w->first; id < w->count && w->leaves.count; id++) {
    const leat_node *node = node_at(w, id);
    const leat_state *state = node->effect && is_inside(w, id) ? leat_node_state(node) : NULL;
    if (state && read[state->id])
      return refuse(w, node,
                    "the gradient goes through a frame that assigns `%s`, which it depends on: "
                    "that is not supported yet, in `while` it is",
                    state->name);
  }
  return true;
}

// Only all of the graph knows how often a turn of that frame has been.
static bool check_random(const web *w) {
  for (uint32_t id = w->first; id < w->count && w->frame; id++)
    if (is_part(w, node_at(w, id)) && node_at(w, id)->info->flags & LEAT_FLAG_RANDOM)
      return refuse(w, node_at(w, id),
                    "gradients in a turn of a frame do not know its random numbers yet, of `%s`",
                    node_at(w, id)->name);
  return true;
}

// The value, or zeros where it is dead.
static leat_value or_zeros(evaluator *e, leat_value value, leat_span span) {
  ev zeros = ev_tensor(ev_literal_tensor(e, ev_int(0), leat_value_type(value), NULL, span));
  ev either[] = {ev_tensor(value), zeros};
  if (zeros.kind == EV_ERROR) return (leat_value){0};
  ev merged = ev_op(e, LEAT_OP_merge, either, 2, NULL, span, NULL);
  return merged.kind == EV_LIST ? merged.list->items[0].tensor : (leat_value){0};
}

static bool take_instead(web *w, const leat_node *node, leat_value value) {
  if (!value.node) return false;
  leat_map_set(&w->instead, node, leat_arena_memdup(w->scratch, &value, sizeof value));
  return true;
}

// A read of the part may be dead: what is never is read of the variable, too.
static bool read_around(web *w) {
  leat_map_init(&w->instead, w->scratch);
  for (uint32_t id = w->first; id < w->count; id++) {
    leat_node *node = node_at(w, id);
    if (node->op != LEAT_OP_read || !is_part(w, node)) continue;
    if (is_inside(w, id))
      return refuse(w, node,
                    "the gradient goes through a frame that reads `%s` after something of it: that "
                    "is not supported yet, in `while` it is",
                    leat_node_state(node)->name);
    leat_value read = or_zeros(w->e, (leat_value){node, 0}, w->span);
    if (!take_instead(w, node, read)) return false;
    ev_set(w->e, &w->e->body_reads, read.node, leat_node_state(node));
  }
  return true;
}

// -- The copy -------------------------------------------------------------------------------------

static leat_value identity(evaluator *e, leat_value value, leat_span span) {
  leat_builder builder = ev_builder(e, span);
  return leat_build(&builder, ev_node_name(e, NULL, "identity"), LEAT_OP_identity, &value, 1, NULL);
}

// What stands for a node that is not done again: it lives as that.
static void stand_in(const ev_repetition *copies, const leat_node *node, leat_value value) {
  leat_graph *graph = copies->e->graph;
  leat_value copy = identity(copies->e, value, node->span);
  for (uint32_t i = 1; i < node->input_count; i++) {
    leat_value input = ev_repeated(copies, node->inputs[i]);
    leat_node_add_control(graph, copy.node, identity(copies->e, input, node->span).node);
  }
  for (uint32_t i = 0; i < node->control_count; i++) {
    const leat_value *control = copies->copies[node->controls[i]->id];
    if (control) leat_node_add_control(graph, copy.node, control->node);
  }
  copies->copies[node->id] = leat_arena_memdup(copies->e->arena, &copy, sizeof copy);
}

static void copy_node(const web *w, const ev_repetition *copies, const leat_node *node) {
  const leat_value *instead = leat_map_get(&w->instead, node);
  if (instead)
    stand_in(copies, node, *instead);
  else if (node->effect && node->input_count)
    stand_in(copies, node, ev_repeated(copies, node->inputs[0]));
  else
    ev_repeat_node(copies, node);
}

// A target of the part: zeros are added to it, whose gradient is its own. Its bits are as they
// were.
static void add_zeros(const ev_repetition *copies, leat_value target, leat_value zeros) {
  evaluator *e = copies->e;
  ev args[] = {ev_tensor(ev_repeated(copies, target)), ev_tensor(zeros)};
  ev sum = ev_tensor(identity(e, args[0].tensor, target.node->span));
  ev_record_call(e, ev_find_gradient(e, "add"), ev_make_list(e, args, 2).list, &sum, 1);
  copies->copies[target.node->id][target.port] = sum.tensor;
}

static ev_repetition copy_part(const web *w, const ev *targets, const ev *zeros, uint32_t count) {
  ev_repetition copies = ev_repetition_begin(w->e, w->e->graph);
  bool *repeated = leat_new_array(w->scratch, bool, (size_t)copies.count + 1);
  for (uint32_t id = w->first; id < w->count; id++) {
    if (!is_part(w, node_at(w, id))) continue;
    copy_node(w, &copies, node_at(w, id));
    repeated[id] = true;
    for (uint32_t i = 0; i < count; i++)
      if (zeros[i].kind == EV_TENSOR && targets[i].tensor.node == node_at(w, id))
        add_zeros(&copies, targets[i].tensor, zeros[i].tensor);
  }
  ev_repeat_records(&copies, repeated);
  return copies;
}

// -- Targets --------------------------------------------------------------------------------------

// Those of the part become zeros that are added to them; others are ERROR.
static bool make_zeros(const web *w, const ev *targets, uint32_t count, ev *out) {
  for (uint32_t i = 0; i < count; i++) {
    leat_value target = targets[i].tensor;
    out[i] = ev_error();
    if (targets[i].kind != EV_TENSOR || !is_part(w, target.node)) continue;
    if (is_inside(w, target.node->id))
      return refuse(w, target.node,
                    "`%s` has a value in each turn of a frame: there are gradients with respect to "
                    "what enters it, or inside of a turn",
                    target.node->name);
    const leat_type *type = leat_value_type(target);
    out[i] = ev_tensor(ev_literal_tensor(w->e, ev_int(0), type, NULL, w->span));
    if (out[i].kind == EV_ERROR) return false;
  }
  return true;
}

// -- Raising --------------------------------------------------------------------------------------

// The losses, and then what leaves frames.
static leat_raised *list_wanted(const web *w, const ev_seeds *seeds, const ev_repetition *copies) {
  leat_raised *wanted =
      leat_new_array(w->scratch, leat_raised, (size_t)seeds->count + w->leaves.count + 1);
  for (uint32_t i = 0; i < seeds->count; i++)
    if (may_die(w, seeds->ys[i])) wanted[i].value = ev_repeated(copies, seeds->ys[i]);
  for (uint32_t i = 0; i < w->leaves.count; i++) {
    leat_value leave = {w->leaves.items[i], 0};
    wanted[seeds->count + i] = (leat_raised){ev_repeated(copies, leave), true};
  }
  return wanted;
}

static leat_value around(const leat_region *region, leat_value value) {
  if (value.node && value.node->op == LEAT_OP_parameter)
    return region->inputs.items[leat_node_attr(value.node, "index")->i].value;
  return value;
}

// A node of the body becomes one of the graph around it, at its end.
static void adopt(leat_graph *graph, const leat_region *region, leat_node *node) {
  for (uint32_t i = 0; i < node->input_count; i++)
    node->inputs[i] = around(region, node->inputs[i]);
  node->graph = graph;
  node->id = graph->nodes.count;
  leat_vec_push(graph->arena, &graph->nodes, node);
}

// What leaves a frame is what leaves the loop, of which nobody knows if the text is taken back.
static void take_over(const web *w, leat_node *leave, leat_value raised) {
  evaluator *e = w->e;
  bool here = !e->region || leave->id >= e->region->built.first;
  bool taken_back_with_us = leave->id >= e->nodes && leave->entry == e->entry;
  if (!raised.node || !here || !taken_back_with_us) return;
  if (!leat_type_equal(leat_value_type(raised), &leave->outputs[0])) return;
  leat_node_set_op(leave, LEAT_OP_identity);
  leave->inputs[0] = raised;
}

// What could not be raised is as if it had not been.
static void forget(leat_graph *body, leat_node_list copies) {
  for (uint32_t i = 0; i < copies.count; i++)
    leat_vec_push(body->arena, &body->nodes, copies.items[i]);
  leat_graph_truncate(body, 0, 0, 0);
}

// False: reported.
static bool raise_copies(const web *w, leat_region *region, leat_raised *wanted, uint32_t count) {
  evaluator *e = w->e;
  leat_builder builder = ev_builder(e, w->span);
  ev_found_calls calls = ev_no_calls(e, w->span);
  leat_node_list copies = {0};
  leat_region_close(region, &builder, NULL);
  ev_keep_records(e, region, &builder, 0);
  leat_graph *body = leat_region_take_body(region);
  leat_raising raising = {.graph = body,
                          .diag = e->diag,
                          .scratch = w->scratch,
                          .shared = true,
                          .placed = ev_find_call,
                          .context = &calls};
  for (uint32_t i = 0; i < body->nodes.count; i++)
    leat_vec_push(w->scratch, &copies, body->nodes.items[i]);
  if (!leat_raise(&raising, wanted, count) || !ev_set_found_calls(&calls)) {
    forget(body, copies);
    return false;
  }
  for (uint32_t i = 0; i < count; i++) wanted[i].value = around(region, wanted[i].value);
  for (uint32_t i = 0; i < body->nodes.count; i++)
    if (body->nodes.items[i]->op != LEAT_OP_parameter)
      adopt(e->graph, region, body->nodes.items[i]);
  return true;
}

static bool take_raised(const web *w, const ev_seeds *seeds, const leat_raised *raised,
                        ev_seeds *out) {
  evaluator *e = w->e;
  leat_value *ys = leat_arena_memdup(e->arena, seeds->ys, seeds->count * sizeof *ys);
  ev *dys = leat_arena_memdup(e->arena, seeds->dys, seeds->count * sizeof *dys);
  leat_builder builder = ev_builder(e, w->span);
  for (uint32_t i = 0; i < seeds->count; i++) {
    if (raised[i].value.node) ys[i] = raised[i].value;
    if (dys[i].kind != EV_TENSOR) continue;
    leat_value dy = dys[i].tensor;
    if (may_die(w, dy)) dy = or_zeros(e, dy, w->span);
    if (dy.node) dy = leat_build_ensure(&builder, dy, leat_value_type(ys[i]));
    if (!dy.node) return false;
    dys[i].tensor = dy;
  }
  *out = (ev_seeds){ys, dys, seeds->count};
  return true;
}

static bool raise_part(web *w, const ev_seeds *seeds, const ev *targets, uint32_t count,
                       ev_webs *out) {
  evaluator *e = w->e;
  ev *zeros = leat_new_array(e->arena, ev, (size_t)count + 1);
  if (!check_changes(w) || !check_random(w) || !read_around(w) ||
      !make_zeros(w, targets, count, zeros))
    return false;
  leat_region region = leat_region_begin(e->graph, e->path);
  leat_region_open(&region);
  ev_repetition copies = copy_part(w, targets, zeros, count);
  leat_raised *raised = list_wanted(w, seeds, &copies);
  bool ok = raise_copies(w, &region, raised, seeds->count + w->leaves.count) &&
            take_raised(w, seeds, raised, &out->seeds);
  for (uint32_t i = 0; ok && i < w->leaves.count; i++)
    take_over(w, w->leaves.items[i], raised[seeds->count + i].value);
  ev *reached = leat_new_array(e->arena, ev, (size_t)count + 1);
  for (uint32_t i = 0; i < count; i++) {
    reached[i] = zeros[i].kind == EV_TENSOR ? zeros[i] : targets[i];
    if (zeros[i].kind == EV_TENSOR) out->lives[i] = targets[i].tensor;
  }
  out->targets = reached;
  if (seeds->count == 1 && may_die(w, *seeds->ys)) out->loss = *seeds->ys;
  return ok;
}

bool ev_raise_webs(evaluator *e, uint32_t first, const ev_seeds *seeds, const ev *targets,
                   uint32_t count, leat_span span, ev_webs *out) {
  web w = {.e = e,
           .span = span,
           .scratch = leat_arena_create(),
           .first = first,
           .count = e->graph->nodes.count};
  leat_node *in_cycle;
  *out = (ev_webs){.seeds = *seeds, .targets = targets};
  out->lives = leat_new_array(e->arena, leat_value, (size_t)count + 1);
  bool ok = true, any = has_primitives(&w);
  if (any && ev_failed(e)) ok = any = false; // what it lacks may be what is wrong
  if (any) find_frames(&w, seeds);
  if (any) find_dependent(&w);
  any = any && find_part(&w, seeds);
  if (any && seeds->count == 1 && !goes_through_primitives(&w, targets, count)) {
    out->loss = *seeds->ys;
    any = false;
  }
  if (any) {
    ok = raise_part(&w, seeds, targets, count, out);
    ok = leat_graph_sort(e->graph, &in_cycle) && ok;
  }
  leat_arena_destroy(w.scratch);
  return ok;
}

// -- What is dead again ---------------------------------------------------------------------------

// A scalar of that dtype, which is alive where the value is.
static ev scalar_like(evaluator *e, leat_value value, leat_dtype dtype, leat_span span) {
  leat_builder builder = ev_builder(e, span);
  leat_value holder = identity(e, value, span);
  ev scalar = ev_tensor(leat_build_scalar_i64(&builder, ev_node_name(e, NULL, "const"), dtype, 0));
  if (scalar.kind == EV_TENSOR) leat_node_add_control(e->graph, scalar.tensor.node, holder.node);
  return scalar;
}

static ev dead_with(evaluator *e, ev gradient, leat_value value, leat_span span) {
  if (!value.node || gradient.kind == EV_ERROR) return gradient;
  leat_value tensor = ev_as_tensor(e, gradient, -1, span);
  if (!tensor.node) return ev_error();
  const leat_type *type = leat_value_type(tensor), *of = leat_value_type(value);
  ev choices[] = {ev_bool(false), ev_tensor(value), ev_tensor(tensor)};
  if (!leat_type_equal(type, of) && (of->rank || of->dtype != type->dtype))
    choices[1] = scalar_like(e, value, type->dtype, span);
  else
    choices[1] = ev_op(e, LEAT_OP_stop_gradient, &choices[1], 1, NULL, span, NULL);
  if (choices[1].kind == EV_ERROR) return ev_error();
  return ev_op(e, LEAT_OP_where, choices, 3, NULL, span, NULL);
}

ev ev_dead_again(evaluator *e, const ev_webs *webs, uint32_t target, ev gradient, leat_span span) {
  gradient = dead_with(e, gradient, webs->loss, span);
  return dead_with(e, gradient, webs->lives[target], span);
}
