// Takes a graph with primitives of control flow apart: frames, what is alive where, what is placed
// as one. What breaks a rule of theirs is reported here, but for what only placing shows.
#include "ops/raise/web.h"

#include <stdarg.h>
#include <string.h>

const char *const leat_web_too_many = "switches are too many here to see what is alive where";

bool leat_web_fail(const leat_web *web, const leat_web_node *at, const char *format, ...) {
  leat_text text = {0};
  va_list args;
  va_start(args, format);
  leat_text_add_v(&text, format, args);
  va_end(args);
  leat_error_at(web->raising->diag, at->node->span, "%s", text.data);
  leat_text_finish(&text);
  return false;
}

leat_web_ref leat_web_through(leat_web_ref ref) {
  while (ref.of->node->op == LEAT_OP_switch || ref.of->node->op == LEAT_OP_loop_cond)
    ref = ref.of->inputs[0];
  return ref;
}

leat_truth leat_web_live(leat_web_ref ref) {
  return ref.of->live[ref.port ? 1 : 0];
}

// -- The graph as it was --------------------------------------------------------------------------

static void take_node(leat_web *web, leat_web_node *n, leat_node *node) {
  n->node = node;
  n->input_count = node->input_count;
  n->control_count = node->control_count;
  n->inputs = leat_new_array(web->scratch, leat_web_ref, (size_t)node->input_count + 1);
  n->controls = leat_new_array(web->scratch, leat_web_node *, (size_t)node->control_count + 1);
  n->now = leat_new_array(web->scratch, leat_value, (size_t)node->output_count + 1);
  for (uint32_t i = 0; i < node->input_count; i++) {
    n->inputs[i] = (leat_web_ref){&web->nodes[node->inputs[i].node->id], node->inputs[i].port};
    n->inputs[i].of->numbered |= node->inputs[i].port == 1;
  }
  for (uint32_t i = 0; i < node->control_count; i++)
    n->controls[i] = &web->nodes[node->controls[i]->id];
}

static void take_nodes(leat_web *web) {
  leat_graph_renumber(web->graph);
  web->count = web->graph->nodes.count;
  web->nodes = leat_new_array(web->scratch, leat_web_node, web->count);
  leat_map_init(&web->by_node, web->scratch);
  for (uint32_t i = 0; i < web->count; i++) {
    take_node(web, &web->nodes[i], web->graph->nodes.items[i]);
    leat_map_set(&web->by_node, web->nodes[i].node, &web->nodes[i]);
  }
}

// -- Frames ---------------------------------------------------------------------------------------

static const char *frame_text(const leat_web *web, const leat_web_frame *frame) {
  return frame->name ? leat_arena_printf(web->scratch, "the frame \"%s\"", frame->name)
                     : "no frame";
}

static leat_web_frame *find_frame(const leat_web *web, const char *name) {
  for (uint32_t i = 0; i < web->frames.count; i++)
    if (!strcmp(web->frames.items[i]->name, name)) return web->frames.items[i];
  return NULL;
}

// What counts a completed step is the last effect of an entry that trains: it runs behind all
// others, dead ones and those in frames, too.
static bool counts_steps(const leat_node *node) {
  const leat_entry *entry = node->entry;
  if (node->op != LEAT_OP_assign_add || !entry || !entry->training ||
      strcmp(leat_node_state(node)->name, "global_step") != 0)
    return false;
  uint32_t last = entry->effects.count;
  while (last && entry->effects.items[last - 1]->op == LEAT_OP_fetch) last--;
  return last && entry->effects.items[last - 1] == node;
}

// A control edge that orders two operations on one state, a dim and who has it, or a step and its
// end, and means no more.
static bool only_orders(const leat_web_node *n, const leat_web_node *before) {
  const leat_state *state = leat_node_state(n->node);
  if (counts_steps(n->node)) return true;
  return before->node->op == LEAT_OP_bind || (state && state == leat_node_state(before->node));
}

static bool is_outside(const leat_web *web, leat_op op) {
  leat_op_leaf leaf = leat_op_info_of(op)->leaf;
  if (leaf == LEAT_LEAF_VARIABLE) return web->state_is_outside;
  if (leaf == LEAT_LEAF_PARAMETER) return !web->raising->shared;
  return leaf == LEAT_LEAF_FEED || leaf == LEAT_LEAF_RECEIVED;
}

static bool add_frame(leat_web *web, leat_web_frame **frame, const leat_web_node *n,
                      const leat_web_node *from) {
  if (!from->frame || from->frame == *frame) return true;
  if (*frame)
    return leat_web_fail(web, n,
                         "`%s` uses a value of %s and one of %s: a value comes into a frame "
                         "by `enter` and out of it by `leave`",
                         leat_op_name(n->node->op), frame_text(web, *frame),
                         frame_text(web, from->frame));
  *frame = from->frame;
  return true;
}

static bool inputs_frame(leat_web *web, const leat_web_node *n, leat_web_frame **out) {
  for (uint32_t i = 0; i < n->input_count; i++)
    if (!add_frame(web, out, n, n->inputs[i].of)) return false;
  for (uint32_t i = 0; i < n->control_count; i++) {
    if (only_orders(n, n->controls[i])) continue;
    if (n->controls[i]->node->op == LEAT_OP_switch)
      return leat_web_fail(web, n,
                           "what runs after a `switch` would run whatever it decides: after the "
                           "`identity` of one of its outputs it runs where that is alive");
    if (!add_frame(web, out, n, n->controls[i])) return false;
  }
  return true;
}

static void set_outer(leat_web *web, leat_web_frame *frame, leat_web_frame *outer) {
  if (frame->outer) return;
  frame->outer = outer;
  web->late |= frame->leaves.count > 0;
}

static bool enter(leat_web *web, leat_web_node *n, leat_web_frame *from) {
  const char *name = leat_node_attr(n->node, "frame")->string;
  leat_web_frame *frame = find_frame(web, name);
  if (!frame) {
    frame = leat_new(web->scratch, leat_web_frame);
    *frame = (leat_web_frame){.name = name, .live = LEAT_ALWAYS};
    leat_vec_push(web->scratch, &web->frames, frame);
  }
  if (from) set_outer(web, frame, from);
  if (from && frame->outer != from)
    return leat_web_fail(web, n,
                         "the frame \"%s\" is entered from %s and from %s: a frame is in one "
                         "other",
                         name, frame_text(web, frame->outer), frame_text(web, from));
  leat_vec_push(web->scratch, &frame->enters, n);
  n->frame = frame;
  return true;
}

static bool leave(leat_web *web, leat_web_node *n, leat_web_frame *from) {
  if (!from || !from->name)
    return leat_web_fail(web, n,
                         "`leave` takes a value of a frame, and this one is in none: no "
                         "`enter` leads to it");
  leat_vec_push(web->scratch, &from->leaves, n);
  n->frame = from->outer;
  return true;
}

static bool set_cond(leat_web *web, leat_web_node *n, leat_web_frame *frame) {
  if (!frame || !frame->name)
    return leat_web_fail(web, n,
                         "`loop_cond` says whether a frame has another iteration, and this "
                         "value is in none: no `enter` leads to it");
  if (frame->cond)
    return leat_web_fail(web, n, "%s has another `loop_cond`: a frame has one",
                         frame_text(web, frame));
  frame->cond = n;
  return true;
}

static bool repeat(leat_web *web, leat_web_node *n, leat_web_frame *frame) {
  leat_web_node *merge = n->inputs[1].of;
  if (!frame || !frame->name)
    return leat_web_fail(web, n, "`next_iteration` is in no frame: no `enter` leads to it");
  if (merge->next)
    return leat_web_fail(web, n,
                         "the merge has another `next_iteration`: it has one, of what all "
                         "branches come to");
  if (merge->input_count != 1 || merge->inputs[0].of->node->op != LEAT_OP_enter)
    return leat_web_fail(web, merge,
                         "a merge that has a `next_iteration` has one input, an `enter`");
  merge->next = n;
  leat_vec_push(web->scratch, &frame->carried, merge);
  return true;
}

static bool set_frame(leat_web *web, leat_web_node *n) {
  leat_web_frame *frame = NULL;
  leat_op op = n->node->op;
  if (!inputs_frame(web, n, &frame)) return false;
  if (op == LEAT_OP_enter) return enter(web, n, frame);
  if (op == LEAT_OP_leave) return leave(web, n, frame);
  n->frame = frame ? frame : is_outside(web, op) || n->node->effect ? &web->root : NULL;
  if (op == LEAT_OP_loop_cond) return set_cond(web, n, frame);
  return op != LEAT_OP_next_iteration || repeat(web, n, frame);
}

static void forget_nodes(leat_web_frame *frame) {
  frame->enters.count = frame->leaves.count = frame->carried.count = 0;
  frame->cond = NULL;
}

// Which frame a frame is in shows where it is entered with what is no constant, and that may stand
// behind a `leave` of it: then all is looked at again.
static bool set_frames(leat_web *web) {
  do {
    for (uint32_t i = 0; i < web->frames.count; i++) forget_nodes(web->frames.items[i]);
    for (uint32_t i = 0; i < web->count; i++) web->nodes[i].next = NULL;
    web->late = false;
    for (uint32_t i = 0; i < web->count; i++)
      if (!set_frame(web, &web->nodes[i])) return false;
    for (uint32_t i = 0; i < web->frames.count && !web->late; i++)
      set_outer(web, web->frames.items[i], &web->root);
  } while (web->late);
  return true;
}

static bool is_constant(const leat_web_node *n) {
  return n->node->op == LEAT_OP_enter && leat_node_attr(n->node, "is_constant")->i;
}

// An enter gives its value once, so that only a merge can use it.
static bool check_enters(leat_web *web, const leat_web_node *n) {
  for (uint32_t i = 0; i < n->input_count; i++) {
    const leat_web_node *from = n->inputs[i].of;
    if (from->node->op != LEAT_OP_enter || (n->next && !is_constant(from))) continue;
    if (n->node->op == LEAT_OP_merge)
      return leat_web_fail(web, n,
                           "a merge of an `enter` has a `next_iteration`, and the enter no "
                           "`is_constant`");
    if (!is_constant(from))
      return leat_web_fail(web, n,
                           "`%s` uses an `enter` that gives its value in the first iteration "
                           "alone: a `merge` carries it, or it has `is_constant`",
                           leat_op_name(n->node->op));
  }
  return true;
}

static bool check_frames(leat_web *web) {
  for (uint32_t i = 0; i < web->count; i++)
    if (!check_enters(web, &web->nodes[i])) return false;
  for (uint32_t i = 0; i < web->frames.count; i++) {
    const leat_web_frame *frame = web->frames.items[i];
    if (!frame->cond)
      return leat_web_fail(web, frame->enters.items[0], "%s has no `loop_cond`: nothing ends it",
                           frame_text(web, frame));
    if (!frame->carried.count)
      return leat_web_fail(web, frame->enters.items[0],
                           "%s has no `next_iteration`: each of its iterations is the first",
                           frame_text(web, frame));
  }
  return true;
}

// -- Order ----------------------------------------------------------------------------------------

// A loop stands where its first `leave` does, behind all that enters it.
static bool sort(leat_web *web) {
  leat_node *culprit;
  for (uint32_t i = 0; i < web->frames.count; i++) {
    const leat_web_frame *frame = web->frames.items[i];
    for (uint32_t k = 0; k < frame->leaves.count; k++)
      for (uint32_t j = 0; j < frame->enters.count; j++)
        leat_node_add_control(web->graph, frame->leaves.items[k]->node,
                              frame->enters.items[j]->node);
  }
  bool sorted = leat_graph_sort(web->graph, &culprit);
  for (uint32_t i = 0; i < web->frames.count; i++)
    for (uint32_t k = 0; k < web->frames.items[i]->leaves.count; k++) {
      leat_web_node *leave = web->frames.items[i]->leaves.items[k];
      leave->node->control_count = leave->control_count;
    }
  if (!sorted)
    leat_error_at(
        web->raising->diag, culprit->span,
        "a frame is entered with what comes out of it by `leave`: it would have to end before "
        "it begins");
  return sorted;
}

// -- What is alive where --------------------------------------------------------------------------

static leat_web_ref undecided(leat_web_ref ref, bool *negated) {
  while (true) {
    leat_op op = ref.of->node->op;
    *negated ^= op == LEAT_OP_not;
    if (op != LEAT_OP_not && op != LEAT_OP_identity && op != LEAT_OP_switch &&
        op != LEAT_OP_loop_cond)
      return ref;
    ref = ref.of->inputs[0];
  }
}

// Where the predicate holds, as far as it is alive.
static leat_truth truth_of(leat_web *web, leat_web_ref predicate) {
  bool negated = false;
  leat_web_ref value = undecided(predicate, &negated);
  uint32_t variable = 0;
  while (variable < web->predicates.count &&
         (web->predicates.items[variable].value.of != value.of ||
          web->predicates.items[variable].value.port != value.port))
    variable++;
  if (variable == web->predicates.count)
    leat_vec_push(web->scratch, &web->predicates,
                  (leat_web_predicate){value, leat_web_live(value)});
  leat_truth truth = leat_truth_variable(&web->truths, variable);
  return negated ? leat_truth_not(&web->truths, truth) : truth;
}

static leat_truth inputs_live(leat_web *web, const leat_web_node *n) {
  leat_truth live = LEAT_ALWAYS;
  for (uint32_t i = 0; i < n->input_count; i++)
    live = leat_truth_and(&web->truths, live, leat_web_live(n->inputs[i]));
  for (uint32_t i = 0; i < n->control_count; i++)
    if (!only_orders(n, n->controls[i]))
      live = leat_truth_and(&web->truths, live, n->controls[i]->live[0]);
  return live;
}

static void set_live(leat_web *web, leat_web_node *n) {
  leat_truths *truths = &web->truths;
  leat_op op = n->node->op;
  leat_truth live = op == LEAT_OP_merge ? LEAT_NEVER : inputs_live(web, n);
  for (uint32_t i = 0; op == LEAT_OP_merge && i < n->input_count; i++)
    live = leat_truth_or(truths, live, leat_web_live(n->inputs[i]));
  if (op == LEAT_OP_enter) {
    n->frame->live = leat_truth_and(truths, n->frame->live, live);
    live = LEAT_ALWAYS;
  }
  n->live[0] = n->live[1] = live;
  if (op == LEAT_OP_loop_cond) n->frame->again = truth_of(web, (leat_web_ref){n, 0});
  if (op != LEAT_OP_switch) return;
  leat_truth decided = truth_of(web, n->inputs[1]);
  n->live[1] = leat_truth_and(truths, live, decided);
  n->live[0] = leat_truth_and(truths, live, leat_truth_not(truths, decided));
}

// -- What is placed -------------------------------------------------------------------------------

static bool is_item(const leat_web_node *n) {
  switch ((int)n->node->op) {
  case LEAT_OP_switch:
  case LEAT_OP_enter:
  case LEAT_OP_leave:
  case LEAT_OP_next_iteration:
  case LEAT_OP_loop_cond: return false;
  default: return n->node->op != LEAT_OP_merge || !n->next;
  }
}

static void add_item(leat_web *web, leat_web_node *n) {
  leat_web_frame *frame = n->frame ? n->frame : &web->root;
  leat_web_item item = {.node = n, .live = n->live[0]};
  if (n->node->op == LEAT_OP_merge) {
    item.choice_count = n->input_count;
    item.choices = leat_new_array(web->scratch, leat_web_choice, n->input_count);
    for (uint32_t i = 0; i < n->input_count; i++)
      item.choices[i] = (leat_web_choice){n->inputs[i], i};
  }
  leat_vec_push(web->scratch, &frame->items, item);
}

static void add_loop(leat_web *web, leat_web_frame *frame) {
  leat_web_item item = {.loop = frame, .live = frame->live};
  if (!frame->listed) leat_vec_push(web->scratch, &frame->outer->items, item);
  frame->listed = true;
}

static bool list_node(leat_web *web, leat_web_node *n) {
  leat_op op = n->node->op;
  if (op == LEAT_OP_leave) {
    leat_web_frame *frame = n->inputs[0].of->frame;
    n->live[0] = n->live[1] = frame->live;
    add_loop(web, frame);
    return true;
  }
  set_live(web, n);
  if (web->truths.full) return leat_web_fail(web, n, "%s", leat_web_too_many);
  if (n->live[0] == LEAT_NEVER && op != LEAT_OP_switch)
    return leat_web_fail(web, n,
                         "`%s` is never computed: it uses values of which one is always dead",
                         leat_op_name(op));
  if (is_item(n)) add_item(web, n);
  return true;
}

// In frames, the inner ones before those around them: of two the one that was entered later.
static void list_loops_without_exits(leat_web *web) {
  for (uint32_t i = web->frames.count; i-- > 0;) add_loop(web, web->frames.items[i]);
}

// -- The rules of frames that what is alive tells ------------------------------------------------

static leat_truth entered(leat_web *web, const leat_web_frame *frame, const leat_web_node *n) {
  leat_op op = n->node->op;
  const leat_web_frame *inner = op == LEAT_OP_leave ? n->inputs[0].of->frame : NULL;
  leat_truth all = n->next ? n->next->inputs[0].of->entered : LEAT_ALWAYS;
  if (op == LEAT_OP_enter && n->frame == frame) return leat_web_live(n->inputs[0]);
  for (uint32_t i = 0; inner && i < inner->enters.count; i++)
    if (inner->enters.items[i]->inputs[0].of->frame == frame)
      all = leat_truth_and(&web->truths, all, inner->enters.items[i]->inputs[0].of->entered);
  for (uint32_t i = 0; !inner && i < n->input_count; i++)
    if (n->inputs[i].of->frame == frame)
      all = leat_truth_and(&web->truths, all, n->inputs[i].of->entered);
  return all;
}

// All of the frame is computed where all that enters it is alive: what comes out of it, or has an
// effect, depends on all of that.
static bool check_entered(leat_web *web, const leat_web_frame *frame) {
  bool changed = true;
  for (uint32_t i = 0; i < web->count; i++) web->nodes[i].entered = LEAT_ALWAYS;
  while (changed) {
    changed = false;
    for (uint32_t i = 0; i < web->count; i++) {
      leat_web_node *n = &web->nodes[i];
      leat_truth now = n->frame == frame ? entered(web, frame, n) : LEAT_ALWAYS;
      changed |= now != n->entered;
      n->entered = now;
    }
  }
  for (uint32_t i = 0; i < web->count; i++) {
    const leat_web_node *n = &web->nodes[i];
    bool out = n->node->op == LEAT_OP_leave && n->inputs[0].of->frame == frame;
    leat_truth all = out ? n->inputs[0].of->entered : n->entered;
    if (!out && (n->frame != frame || !n->node->effect)) continue;
    if (leat_truth_and(&web->truths, all, frame->cond->entered) != frame->live)
      return leat_web_fail(web, n,
                           "%s is entered with values of which some may be dead, and this does not "
                           "depend on all of them, which is not supported yet: a switch before "
                           "each `enter` kills them together",
                           frame_text(web, frame));
  }
  return true;
}

static bool check_loop(leat_web *web, const leat_web_frame *frame) {
  const char *text = frame_text(web, frame);
  leat_truth ends = leat_truth_not(&web->truths, frame->again);
  if (frame->cond->live[0] != LEAT_ALWAYS)
    return leat_web_fail(web, frame->cond, "the `loop_cond` of %s is dead in some iterations",
                         text);
  for (uint32_t i = 0; i < frame->carried.count; i++) {
    const leat_web_node *next = frame->carried.items[i]->next;
    if (leat_web_live(next->inputs[0]) != frame->again)
      return leat_web_fail(web, next,
                           "what `next_iteration` takes is to be alive just where the "
                           "`loop_cond` of %s holds: it comes from the second output of "
                           "switches by it",
                           text);
  }
  for (uint32_t i = 0; i < frame->leaves.count; i++)
    if (leat_web_live(frame->leaves.items[i]->inputs[0]) != ends)
      return leat_web_fail(
          web, frame->leaves.items[i],
          "what `leave` takes is to be alive just where the `loop_cond` of %s does "
          "not hold: it comes from the first output of switches by it",
          text);
  return check_entered(web, frame);
}

// Which frame a read is of shows when those are known that use it: first it is of none.
static bool find_frames(leat_web *web) {
  bool changed = true;
  while (changed) {
    take_nodes(web);
    if (!set_frames(web) || !check_frames(web) || !leat_web_carry_state(web, &changed))
      return false;
  }
  web->state_is_outside = true;
  take_nodes(web);
  return set_frames(web) && check_frames(web);
}

// What is of no frame is used in frames without entering: first constants are listed and what is
// computed of them, then the rest with all that it needs or waits for, as what binds a dim of it,
// which may be a loop of such constants.
typedef enum turn { FIRST, EARLY, LAST } turn;

static bool is_pure(const leat_web_node *n, const turn *turns) {
  if (n->frame || n->control_count) return false;
  for (uint32_t k = 0; k < n->input_count; k++)
    if (turns[n->inputs[k].of->node->id] != FIRST) return false;
  return true;
}

static void hasten(turn *turns, const leat_web_node *n) {
  if (turns[n->node->id] == LAST) turns[n->node->id] = EARLY;
}

// By place in the order.
static turn *find_turns(leat_web *web, leat_web_node **sorted) {
  turn *turns = leat_new_array(web->scratch, turn, (size_t)web->count + 1);
  for (uint32_t i = 0; i < web->count; i++) turns[i] = is_pure(sorted[i], turns) ? FIRST : LAST;
  for (uint32_t i = web->count; i-- > 0;) {
    const leat_web_node *n = sorted[i];
    bool leaves = n->node->op == LEAT_OP_leave;
    if (!n->frame) hasten(turns, n);
    if (turns[i] == LAST) continue;
    for (uint32_t k = 0; k < n->input_count; k++) hasten(turns, n->inputs[k].of);
    for (uint32_t k = 0; k < n->control_count; k++) hasten(turns, n->controls[k]);
    const leat_web_nodes *enters = leaves ? &n->inputs[0].of->frame->enters : NULL;
    for (uint32_t k = 0; enters && k < enters->count; k++) hasten(turns, enters->items[k]);
  }
  return turns;
}

bool leat_web_find(leat_web *web) {
  leat_truths_init(&web->truths, web->scratch);
  if (!find_frames(web) || !sort(web)) return false;
  leat_web_node **sorted = leat_new_array(web->scratch, leat_web_node *, web->count);
  for (uint32_t i = 0; i < web->count; i++) sorted[web->nodes[i].node->id] = &web->nodes[i];
  const turn *turns = find_turns(web, sorted);
  for (turn now = FIRST; now <= LAST; now++)
    for (uint32_t i = 0; i < web->count; i++)
      if (turns[i] == now && !list_node(web, sorted[i])) return false;
  list_loops_without_exits(web);
  for (uint32_t i = 0; i < web->frames.count; i++)
    if (!check_loop(web, web->frames.items[i])) return false;
  return true;
}
