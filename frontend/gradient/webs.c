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

// -- What is asked of the graph around ------------------------------------------------------------

// format: has one %s, the name.
static bool refuse(const ev_web *w, const leat_node *at, const char *format, const char *name) {
  const char *text = leat_arena_printf(w->scratch, format, name);
  ev_fail(w->e, w->span, "%s", text);
  leat_note_at(w->e->diag, at->span, "it is here");
  return false;
}

// A frame that finds in a variable what it left there: reads are of the graph around.
static bool check_changes(const ev_web *w) {
  bool *read = leat_new_array(w->scratch, bool, (size_t)w->e->graph->states.count + 1);
  for (uint32_t i = 0; i < w->all.count; i++) {
    const leat_node *node = w->all.nodes[i];
    const leat_state *state = w->asked[i] ? leat_node_state(node) : NULL;
    if (state && !node->effect) read[state->id] = true;
  }
  for (uint32_t i = 0; i < w->all.count && w->leaves.count; i++) {
    const leat_node *node = w->all.nodes[i];
    const leat_state *state = node->effect && ev_is_inside(w, i) ? leat_node_state(node) : NULL;
    if (state && read[state->id])
      return refuse(w, node,
                    "the gradient goes through a frame that assigns `%s`, which it depends on: "
                    "that is not supported yet, in `while` it is",
                    state->name);
  }
  return true;
}

// Only all of the graph knows how often a turn of that frame has been.
static bool check_random(const ev_web *w) {
  for (uint32_t i = 0; i < w->all.count && w->frame; i++) {
    const leat_node *node = w->all.nodes[i];
    if (ev_is_part(w, i) && node->info->flags & LEAT_FLAG_RANDOM)
      return refuse(w, node,
                    "gradients in a turn of a frame do not know its random numbers yet, of `%s`",
                    node->name);
  }
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

static bool take_instead(ev_web *w, const leat_node *node, leat_value value) {
  if (!value.node) return false;
  leat_map_set(&w->instead, node, leat_arena_memdup(w->scratch, &value, sizeof value));
  return true;
}

// A read of the part may be dead: what is never is read of the variable, too.
static bool read_around(ev_web *w) {
  leat_map_init(&w->instead, w->scratch);
  for (uint32_t i = 0; i < w->all.count; i++) {
    leat_node *node = w->all.nodes[i];
    if (node->op != LEAT_OP_read || !ev_is_part(w, i)) continue;
    if (ev_is_inside(w, i))
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
static void stand_in(ev_repetition *copies, const leat_node *node, leat_value value) {
  leat_graph *graph = copies->e->at.body;
  leat_value copy = identity(copies->e, value, node->span);
  for (uint32_t i = 1; i < node->input_count; i++) {
    leat_value input = ev_repeated(copies, node->inputs[i]);
    leat_node_add_control(graph, copy.node, identity(copies->e, input, node->span).node);
  }
  for (uint32_t i = 0; i < node->control_count; i++) {
    const leat_value *control = leat_map_get(&copies->copies, node->controls[i]);
    if (control) leat_node_add_control(graph, copy.node, control->node);
  }
  ev_stand_in(copies, node, copy);
}

static void copy_node(const ev_web *w, ev_repetition *copies, const leat_node *node) {
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
static void add_zeros(ev_repetition *copies, leat_value target, leat_value zeros) {
  evaluator *e = copies->e;
  leat_value *copy = leat_map_get(&copies->copies, target.node);
  ev args[] = {ev_tensor(copy[target.port]), ev_tensor(zeros)};
  ev sum = ev_tensor(identity(e, args[0].tensor, target.node->span));
  ev_record_call(e, ev_find_gradient(e, "add"), ev_make_list(e, args, 2).list, &sum, 1);
  copy[target.port] = sum.tensor;
}

static ev_repetition copy_part(const ev_web *w, const ev *targets, const ev *zeros,
                               uint32_t count) {
  ev_repetition copies = ev_repetition_begin(w->e);
  for (uint32_t number = 0; number < w->all.count; number++) {
    if (!ev_is_part(w, number)) continue;
    copy_node(w, &copies, w->all.nodes[number]);
    for (uint32_t i = 0; i < count; i++) {
      leat_value target = leat_region_origin(targets[i].tensor);
      if (zeros[i].kind == EV_TENSOR && target.node == w->all.nodes[number])
        add_zeros(&copies, target, zeros[i].tensor);
    }
  }
  ev_repeat_records(&copies);
  return copies;
}

// -- Targets --------------------------------------------------------------------------------------

// Those of the part become zeros that are added to them; others are ERROR.
static bool make_zeros(const ev_web *w, const ev *targets, uint32_t count, ev *out) {
  for (uint32_t i = 0; i < count; i++) {
    leat_value target = targets[i].tensor;
    out[i] = ev_error();
    uint32_t number = targets[i].kind == EV_TENSOR ? ev_number_of(&w->all, target) : w->all.count;
    if (!ev_is_part(w, number)) continue;
    if (ev_is_inside(w, number))
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
static leat_raised *list_wanted(const ev_web *w, const ev_seeds *seeds,
                                const ev_repetition *copies) {
  leat_raised *wanted =
      leat_new_array(w->scratch, leat_raised, (size_t)seeds->count + w->leaves.count + 1);
  for (uint32_t i = 0; i < seeds->count; i++)
    if (ev_may_die(w, seeds->ys[i])) wanted[i].value = ev_repeated(copies, seeds->ys[i]);
  for (uint32_t i = 0; i < w->leaves.count; i++) {
    leat_value leave = {w->leaves.items[i], 0};
    wanted[seeds->count + i] = (leat_raised){ev_repeated(copies, leave), true};
  }
  return wanted;
}

// What leaves a frame is what leaves the loop, of which nobody knows if the text is taken back.
static void take_over(const ev_web *w, leat_node *leave, leat_value raised) {
  if (!raised.node || !ev_is_taken_back_with_us(w->e, leave)) return;
  if (!leat_type_equal(leat_value_type(raised), &leave->outputs[0])) return;
  leat_node_set_op(leave, LEAT_OP_identity);
  leave->inputs[0] = raised;
}

// What could not be raised is as if it had not been.
static void forget(leat_graph *body, leat_node_list copies) {
  for (uint32_t i = 0; i < copies.count; i++)
    leat_vec_push(body->arena, &body->nodes, copies.items[i]);
}

// Nodes of the body become such of the one around it, at its end.
static void adopt(leat_graph *graph, leat_graph *body) {
  uint32_t kept = 0;
  for (uint32_t n = 0; n < body->nodes.count; n++) {
    leat_node *node = body->nodes.items[n];
    if (node->op == LEAT_OP_parameter) {
      body->nodes.items[kept++] = node;
      continue;
    }
    for (uint32_t i = 0; i < node->input_count; i++)
      node->inputs[i] = leat_region_inside(graph, leat_region_origin(node->inputs[i]));
    node->graph = graph;
    node->id = graph->nodes.count;
    leat_vec_push(graph->arena, &graph->nodes, node);
  }
  body->nodes.count = kept;
}

// False: reported.
static bool raise_copies(const ev_web *w, leat_graph *body, leat_raised *wanted, uint32_t count) {
  evaluator *e = w->e;
  ev_found_calls calls = ev_no_calls(e, w->span);
  leat_node_list copies = {0};
  leat_raising raising = {.graph = body,
                          .diag = e->diag,
                          .scratch = w->scratch,
                          .shared = true,
                          .placed = ev_find_call,
                          .context = &calls};
  for (uint32_t i = 0; i < body->nodes.count; i++)
    leat_vec_push(w->scratch, &copies, body->nodes.items[i]);
  if (!leat_raise(&raising, wanted, count)) {
    forget(body, copies);
    return false;
  }
  for (uint32_t i = 0; i < count; i++)
    if (wanted[i].value.node) wanted[i].value = leat_region_origin(wanted[i].value);
  adopt(e->at.body, body);
  return ev_set_found_calls(&calls);
}

static bool take_raised(const ev_web *w, const ev_seeds *seeds, const leat_raised *raised,
                        ev_seeds *out) {
  evaluator *e = w->e;
  leat_value *ys = leat_arena_memdup(e->arena, seeds->ys, seeds->count * sizeof *ys);
  ev *dys = leat_arena_memdup(e->arena, seeds->dys, seeds->count * sizeof *dys);
  leat_builder builder = ev_builder(e, w->span);
  for (uint32_t i = 0; i < seeds->count; i++) {
    if (raised[i].value.node) ys[i] = raised[i].value;
    if (dys[i].kind != EV_TENSOR) continue;
    leat_value dy = dys[i].tensor;
    if (ev_may_die(w, dy)) dy = or_zeros(e, dy, w->span);
    if (dy.node) dy = leat_build_ensure(&builder, dy, leat_value_type(ys[i]));
    if (!dy.node) return false;
    dys[i].tensor = dy;
  }
  *out = (ev_seeds){ys, dys, seeds->count};
  return true;
}

static bool raise_part(ev_web *w, const ev_seeds *seeds, const ev *targets, uint32_t count,
                       ev_webs *out) {
  evaluator *e = w->e;
  ev *zeros = leat_new_array(e->arena, ev, (size_t)count + 1);
  if (!check_changes(w) || !check_random(w) || !read_around(w) ||
      !make_zeros(w, targets, count, zeros))
    return false;
  leat_builder builder = ev_builder(e, w->span);
  leat_region region = leat_region_begin(&builder, e->at.path);
  e->at.body = leat_region_open(&region);
  ev_repetition copies = copy_part(w, targets, zeros, count);
  e->at.body = builder.graph;
  leat_region_close(&region);
  leat_raised *raised = list_wanted(w, seeds, &copies);
  bool ok = raise_copies(w, region.bodies[0].graph, raised, seeds->count + w->leaves.count);
  leat_region_drop(&region);
  ok = ok && take_raised(w, seeds, raised, &out->seeds);
  for (uint32_t i = 0; ok && i < w->leaves.count; i++)
    take_over(w, w->leaves.items[i], raised[seeds->count + i].value);
  ev *reached = leat_new_array(e->arena, ev, (size_t)count + 1);
  for (uint32_t i = 0; i < count; i++) {
    reached[i] = zeros[i].kind == EV_TENSOR ? zeros[i] : targets[i];
    if (zeros[i].kind == EV_TENSOR) out->lives[i] = targets[i].tensor;
  }
  out->targets = reached;
  if (seeds->count == 1 && ev_may_die(w, *seeds->ys)) out->loss = *seeds->ys;
  return ok;
}

bool ev_raise_webs(evaluator *e, bool around, const ev_seeds *seeds, const ev *targets,
                   uint32_t count, leat_span span, ev_webs *out) {
  ev_web w = {.e = e, .span = span, .scratch = leat_arena_create()};
  leat_node *in_cycle;
  *out = (ev_webs){.seeds = *seeds, .targets = targets};
  out->lives = leat_new_array(e->arena, leat_value, (size_t)count + 1);
  bool ok = true, any = ev_find_web(&w, around, seeds);
  if (any && seeds->count == 1 && !ev_web_is_between(&w, targets, count)) {
    out->loss = *seeds->ys;
  } else if (any) {
    ok = raise_part(&w, seeds, targets, count, out);
    ok = leat_graph_sort(e->at.body, &in_cycle) && ok;
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
  if (scalar.kind == EV_TENSOR) leat_node_add_control(e->at.body, scalar.tensor.node, holder.node);
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
