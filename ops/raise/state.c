// State in frames. What a frame does to a variable becomes primitives, like anything it carries:
// the variable is read in front of the frame and enters it; a merge has what it is in an iteration,
// what is assigned there, where that is alive, goes to the next one, and what the last one leaves
// is assigned behind the frame. The operations of a frame on one variable take effect in their
// order in the graph, in each iteration; those outside of it before or behind all iterations.
//
// One frame at a time, an inner one first: the read in front of it and the assignment behind it are
// operations of the frame around it.
#include "ops/raise/web.h"

typedef leat_vec(leat_web_frame *) frames;

// What an operation in the frame is replaced by.
typedef struct replacement {
  leat_value value;  // for who uses it in the frame, or runs after it there
  leat_node *behind; // for who runs after it because of the state
  bool stays;        // it is a read that others use, too
} replacement;

typedef struct carrier {
  leat_web *web;
  frames *done_in; // of an operation on state, by id: the frames that it is done in
  const leat_web_frame *frame;
  leat_map replaced;        // leat_node * → replacement *
  leat_node_list *inserted; // by id: new nodes, before that one
  // one of its variables
  leat_state *state;
  leat_web_nodes uses;               // in the frame, in order
  const leat_web_node *first, *last; // of those that write; NULL: none does
  leat_builder builder;
  leat_node *front, *behind; // the read in front, and what is done last outside
  leat_value start, now;     // in an iteration: at its beginning, and behind the uses so far
} carrier;

// -- What is done where ---------------------------------------------------------------------------

// The frame that the inputs of the node are of.
static leat_web_frame *frame_of_inputs(const leat_web_node *n) {
  return n->node->op == LEAT_OP_enter ? n->frame->outer : n->frame;
}

static bool is_free_read(const leat_web_node *n) {
  return n->node->op == LEAT_OP_read && !n->frame;
}

static bool has_frame(const frames *in, const leat_web_frame *frame) {
  for (uint32_t i = 0; i < in->count; i++)
    if (in->items[i] == frame) return true;
  return false;
}

// What is computed of variables and constants alone is of the frame that uses it; what several use
// is of the root.
static void settle_free(leat_web *web) {
  bool *free = leat_new_array(web->scratch, bool, (size_t)web->count + 1);
  for (uint32_t i = 0; i < web->count; i++) {
    const leat_web_node *n = &web->nodes[i];
    for (uint32_t k = 0; k < n->input_count && !n->frame; k++)
      free[i] |= free[n->inputs[k].of->node->id] || is_free_read(n->inputs[k].of);
  }
  for (uint32_t i = web->count; i-- > 0;)
    for (uint32_t k = 0; k < web->nodes[i].input_count; k++) {
      leat_web_node *from = web->nodes[i].inputs[k].of;
      leat_web_frame *frame = frame_of_inputs(&web->nodes[i]);
      if (free[from->node->id])
        from->frame = from->frame && from->frame != frame ? &web->root : frame;
    }
}

static void find_operations(carrier *c) {
  leat_web *web = c->web;
  c->done_in = leat_new_array(web->scratch, frames, (size_t)web->count + 1);
  for (uint32_t i = 0; i < web->count; i++) {
    leat_web_node *n = &web->nodes[i];
    if (leat_node_state(n->node) && !is_free_read(n))
      leat_vec_push(web->scratch, &c->done_in[i], n->frame);
    for (uint32_t k = 0; k < n->input_count; k++) {
      const leat_web_node *from = n->inputs[k].of;
      leat_web_frame *frame = frame_of_inputs(n);
      if (is_free_read(from) && !has_frame(&c->done_in[from->node->id], frame))
        leat_vec_push(web->scratch, &c->done_in[from->node->id], frame);
    }
  }
}

static bool has_state(const carrier *c, const leat_web_frame *frame) {
  for (uint32_t i = 0; i < c->web->count; i++)
    if (has_frame(&c->done_in[i], frame)) return true;
  return false;
}

static bool is_within(const leat_web_frame *frame, const leat_web_frame *outer) {
  while (frame && frame != outer) frame = frame->outer;
  return frame;
}

// NULL: no frame is left that has to do with state.
static const leat_web_frame *innermost_frame(const carrier *c) {
  const leat_web_frame *found = NULL;
  for (uint32_t i = 0; i < c->web->frames.count; i++) {
    const leat_web_frame *frame = c->web->frames.items[i];
    if ((!found || is_within(frame, found)) && has_state(c, frame)) found = frame;
  }
  return found;
}

// -- One variable ---------------------------------------------------------------------------------

static void find_uses(carrier *c) {
  c->uses.count = 0;
  c->first = c->last = NULL;
  for (uint32_t i = 0; i < c->web->count; i++) {
    leat_web_node *n = &c->web->nodes[i];
    if (leat_node_state(n->node) != c->state || !has_frame(&c->done_in[i], c->frame)) continue;
    leat_vec_push(c->web->scratch, &c->uses, n);
    if (!n->node->effect) continue;
    if (!c->first) c->first = n;
    c->last = n;
  }
}

static bool is_done_outside(const carrier *c, const leat_web_node *n) {
  const frames *in = &c->done_in[n->node->id];
  return in->count > (has_frame(in, c->frame) ? 1 : 0);
}

// What is done outside is done before or behind all that is done in the frame, unless the order
// does not matter.
static bool check_order(const carrier *c) {
  uint32_t from = c->uses.items[0]->node->id, to = c->uses.items[c->uses.count - 1]->node->id;
  for (uint32_t i = from; i <= to; i++) {
    const leat_web_node *n = &c->web->nodes[i];
    if (leat_node_state(n->node) != c->state || !is_done_outside(c, n)) continue;
    if (!n->node->effect && (!c->first || i < c->first->node->id || i > c->last->node->id))
      continue;
    return leat_web_fail(c->web, n,
                         "`%s` is used here between two uses of it in the frame \"%s\": what is "
                         "outside of a frame is done before or behind all of its iterations, and "
                         "what depends on nothing of the frame is in it only `after` something of "
                         "it",
                         c->state->name, c->frame->name);
  }
  return true;
}

// It stands before node number `at`.
static leat_value insert(carrier *c, uint32_t at, leat_op op, const leat_value *inputs,
                         uint32_t count, const leat_attr *attrs) {
  leat_strings *strings = c->web->graph->strings;
  const char *name = leat_intern_path(strings, c->state->name, leat_op_name(op));
  if (c->builder.entry) name = leat_intern_path(strings, c->builder.entry->name, name);
  leat_value value = leat_build(&c->builder, name, op, inputs, count, attrs);
  leat_vec_push(c->web->scratch, &c->inserted[at], value.node);
  return value;
}

static void begin(carrier *c) {
  uint32_t at = c->uses.items[0]->node->id;
  leat_attr state = {.state = c->state};
  leat_attr attrs[] = {{.string = c->frame->name}, {.i = !c->first}};
  leat_value read = insert(c, at, LEAT_OP_read, NULL, 0, &state);
  c->start = insert(c, at, LEAT_OP_enter, &read, 1, attrs);
  if (c->first) c->start = insert(c, at, LEAT_OP_merge, &c->start, 1, NULL);
  c->now = c->start;
  c->front = c->behind = read.node;
}

static void end(carrier *c) {
  leat_node *cond = c->frame->cond->node;
  uint32_t last = c->uses.items[c->uses.count - 1]->node->id;
  uint32_t at = (last > cond->id ? last : cond->id) + 1;
  leat_attr state = {.state = c->state};
  leat_value decided[] = {c->now, {cond, 0}};
  leat_value left = insert(c, at, LEAT_OP_switch, decided, 2, NULL);
  leat_value next[] = {{left.node, 1}, c->start};
  insert(c, at, LEAT_OP_next_iteration, next, 2, NULL);
  left = insert(c, at, LEAT_OP_leave, &left, 1, NULL);
  c->behind = insert(c, at, LEAT_OP_assign, &left, 1, &state).node;
  leat_node_add_control(c->web->graph, c->behind, c->front);
}

// A node that is alive where the operation was.
static leat_value insert_for(carrier *c, const leat_web_node *n, leat_op op,
                             const leat_value *inputs, uint32_t count) {
  leat_value value = insert(c, n->node->id, op, inputs, count, NULL);
  for (uint32_t i = 0; i < n->control_count; i++)
    if (leat_node_state(n->controls[i]->node) != c->state)
      leat_node_add_control(c->web->graph, value.node, n->controls[i]->node);
  return value;
}

static void replace(carrier *c, const leat_web_node *n) {
  replacement *by = leat_new(c->web->scratch, replacement);
  leat_value both[] = {c->now, {0}};
  if (n->node->op == LEAT_OP_read) {
    by->value = n->control_count ? insert_for(c, n, LEAT_OP_identity, both, 1) : c->now;
  } else {
    both[1] = n->node->inputs[0];
    by->value = n->node->op == LEAT_OP_assign_add ? insert_for(c, n, LEAT_OP_add, both, 2)
                                                  : insert_for(c, n, LEAT_OP_identity, &both[1], 1);
    leat_value either[] = {by->value, c->now};
    c->now = insert(c, n->node->id, LEAT_OP_merge, either, 2, NULL);
  }
  leat_map_set(&c->replaced, n->node, by);
}

// What is done in front waits for the writes that the uses waited for, what is done behind for the
// reads, too; who waited for them waits for that.
static void keep_order(const carrier *c) {
  for (uint32_t i = 0; i < c->uses.count; i++) {
    const leat_web_node *n = c->uses.items[i];
    replacement *by = leat_map_get(&c->replaced, n->node);
    by->behind = c->behind;
    by->stays = is_done_outside(c, n);
    for (uint32_t k = 0; k < n->control_count; k++) {
      const leat_web_node *before = n->controls[k];
      if (leat_node_state(before->node) == c->state && is_done_outside(c, before))
        leat_node_add_control(c->web->graph, before->node->effect ? c->front : c->behind,
                              before->node);
    }
  }
}

static bool carry(carrier *c, leat_state *state) {
  c->state = state;
  find_uses(c);
  if (!c->uses.count) return true;
  c->builder = leat_web_builder(c->web, c->uses.items[0]);
  if (!check_order(c)) return false;
  begin(c);
  for (uint32_t i = 0; i < c->uses.count; i++) replace(c, c->uses.items[i]);
  if (c->first) end(c);
  keep_order(c);
  return true;
}

// -- The graph ------------------------------------------------------------------------------------

static bool is_inside(const carrier *c, const leat_node *node) {
  return node->id >= c->web->count || frame_of_inputs(&c->web->nodes[node->id]) == c->frame;
}

static void take_replacements(const carrier *c, leat_node *node) {
  bool inside = is_inside(c, node);
  leat_node_list before = {0};
  for (uint32_t i = 0; i < node->input_count && inside; i++) {
    const replacement *by = leat_map_get(&c->replaced, node->inputs[i].node);
    if (by) node->inputs[i] = by->value;
  }
  for (uint32_t i = 0; i < node->control_count; i++) {
    leat_node *control = node->controls[i];
    const replacement *by = leat_map_get(&c->replaced, control);
    bool orders = leat_node_state(node) && leat_node_state(node) == leat_node_state(control);
    bool in_turn = by && inside && !orders;
    leat_node *instead = !by ? NULL : in_turn ? by->value.node : by->behind;
    if (instead && instead != node) leat_vec_push(c->web->scratch, &before, instead);
    if (!by || (by->stays && !in_turn)) leat_vec_push(c->web->scratch, &before, control);
  }
  node->control_count = 0;
  leat_node_add_controls(c->web->graph, node, before.items, before.count);
}

static void keep(const carrier *c, leat_node *node) {
  take_replacements(c, node);
  leat_vec_push(c->web->graph->arena, &c->web->graph->nodes, node);
}

static bool put_in(const carrier *c) {
  leat_graph *graph = c->web->graph;
  leat_node *culprit;
  graph->nodes.count = 0;
  for (uint32_t i = 0; i <= c->web->count; i++) {
    leat_node *node = i < c->web->count ? c->web->nodes[i].node : NULL;
    const replacement *by = node ? leat_map_get(&c->replaced, node) : NULL;
    for (uint32_t k = 0; k < c->inserted[i].count; k++) keep(c, c->inserted[i].items[k]);
    if (node && (!by || by->stays)) keep(c, node);
  }
  bool sorted = leat_graph_sort(graph, &culprit);
  if (sorted) leat_graph_list_effects(graph);
  if (sorted) return true;
  leat_error_at(c->web->raising->diag, culprit->span,
                "the frame \"%s\" uses a variable that is assigned, before, what comes out of the "
                "frame: it would have to end before it begins",
                c->frame->name);
  return false;
}

bool leat_web_carry_state(leat_web *web, bool *out_changed) {
  carrier c = {.web = web};
  *out_changed = false;
  if (!web->frames.count || !web->graph->states.count) return true;
  settle_free(web);
  find_operations(&c);
  c.frame = innermost_frame(&c);
  if (!c.frame) return true;
  leat_map_init(&c.replaced, web->scratch);
  c.inserted = leat_new_array(web->scratch, leat_node_list, (size_t)web->count + 1);
  for (uint32_t i = 0; i < web->graph->states.count; i++)
    if (!carry(&c, web->graph->states.items[i])) return false;
  *out_changed = true;
  return put_in(&c);
}
