// A loop that runs backwards: in each iteration it has what the loop carried then, adds up the
// gradients of what the bodies captured, and makes those of what was carried before.
#include "frontend/gradient/walk.h"

#include "frontend/gradient/reversal.h"

// The inputs of the backward loop: the gradients, what is captured, rows, what is undone.
typedef struct backward {
  ev_history *history;
  uint32_t *gradients, *captured;
  uint32_t *kept, *undone; // by carried value: the first of its rows; itself, 0: it is not undone
} backward;

bool ev_is_wanted(const reversal *r, uint32_t input) {
  if (input < r->carried && ev_appends(r, input)) return false; // as it is appended
  bool wanted = input >= r->carried ? r->wanted[input] : ev_has_gradient(r->node->inputs[input]);
  return wanted && r->needed[input];
}

const char *ev_gradient_name(const reversal *r, uint32_t input) {
  return input < r->carried ? "dy" : "sum";
}

// -- The loop -------------------------------------------------------------------------------------

uint32_t *ev_backward_begin(const reversal *r, ev_region *region, leat_value count,
                            const leat_value *gradients) {
  uint32_t *added = leat_new_array(r->e->arena, uint32_t, (size_t)r->node->input_count + 1);
  ev_region_begin(r->e, region, LEAT_OP_while_loop, NULL, r->span);
  region->built.parallel = leat_node_attr(r->node, "parallel")->i;
  leat_region_add(&region->built, count);
  for (uint32_t i = 0; i < r->node->input_count; i++)
    if (ev_is_wanted(r, i)) added[i] = leat_region_add(&region->built, gradients[i]);
  return added;
}

bool ev_backward_open(const reversal *r) {
  ev_region_open(r->e);
  leat_value left = ev_operation(r, LEAT_OPERATOR_GREATER, ev_parameter(r, "count", 0), ev_int(0));
  ev_body_ends(r->e);
  if (left.node) ev_give(r, 0, left);
  ev_region_open(r->e);
  return left.node;
}

bool ev_backward_next(const reversal *r, uint32_t input, leat_value value) {
  if (!value.node) return false;
  ev_give(r, 1, value);
  leat_region_carry(&r->e->at.region->built, input);
  return true;
}

leat_node *ev_backward_end(const reversal *r, bool ok) {
  ev_body_ends(r->e);
  if (ok) return ev_region_end(r->e, NULL);
  ev_region_drop(r->e);
  return NULL;
}

// -- Its body -------------------------------------------------------------------------------------

static leat_value recall_carried(const reversal *r, const backward *b, uint32_t i,
                                 leat_value count) {
  uint32_t kept;
  if (ev_appends(r, i)) return ev_no_rows(r, i); // none is read
  ev_kept_types(r, i, &kept);
  if (ev_is_counter(r, i)) {
    leat_value first = ev_parameter(r, "rows", b->kept[i]);
    return ev_recall_counter(r, i, *b->history->kept[i], first, count);
  }
  leat_value *rows = leat_new_array(r->e->arena, leat_value, (size_t)kept + 1), behind = {0};
  for (uint32_t k = 0; k < kept; k++) rows[k] = ev_parameter(r, "rows", b->kept[i] + k);
  if (b->undone[i]) behind = ev_parameter(r, "x", b->undone[i]);
  if (ev_sets_row(r, i)) return ev_unset_row(r, i, behind, ev_turn_of(r, b->history, count));
  return ev_recall(r, i, behind, rows, count);
}

// What the loop carried when it had run `count` times, in the open body, and what it captures.
static bool recall(const reversal *r, const backward *b, leat_value count, leat_value *params) {
  for (uint32_t i = r->carried; i < r->node->input_count; i++)
    params[i] = ev_parameter(r, "x", b->captured[i]);
  if (!count.node) return false;
  for (uint32_t i = 0; i < r->carried; i++) {
    params[i] = recall_carried(r, b, i, count);
    if (!params[i].node) return false;
  }
  return true;
}

static bool give_gradients(const reversal *r, const backward *b, const leat_value *params,
                           const ev *gradients, leat_value count) {
  uint32_t inputs = r->node->input_count;
  bool ok = true;
  for (uint32_t i = 0; ok && i < inputs; i++) {
    if (!ev_is_wanted(r, i)) continue;
    leat_value next = i < r->carried
                          ? ev_or_zeros(r, gradients[i], params[i])
                          : ev_sum_of_turns(r, b->history, b->gradients[i], gradients[i]);
    ok = ev_backward_next(r, b->gradients[i], next);
  }
  for (uint32_t i = r->carried; ok && i < inputs; i++)
    if (ev_is_wanted(r, i)) ok = ev_keep_sparse(r, b->history, i, gradients[i], count);
  return ok;
}

static bool reverse_body(const reversal *r, const backward *b) {
  evaluator *e = r->e;
  uint32_t inputs = r->node->input_count;
  leat_value *params = leat_new_array(e->arena, leat_value, (size_t)inputs + 1);
  leat_value *ys = leat_new_array(e->arena, leat_value, (size_t)r->carried + 1);
  ev *dys = leat_new_array(e->arena, ev, (size_t)r->carried + 1);
  ev *targets = leat_new_array(e->arena, ev, (size_t)inputs + 1);
  ev *gradients = leat_new_array(e->arena, ev, (size_t)inputs + 1);
  leat_value count = ev_operation(r, LEAT_OPERATOR_SUB, ev_parameter(r, "count", 0), ev_int(1));
  if (!recall(r, b, count, params)) return false;
  for (uint32_t i = 0; i < inputs; i++) targets[i] = ev_tensor(params[i]);
  for (uint32_t i = 0; i < r->carried; i++)
    if (ev_appends(r, i))
      dys[i] = ev_rows_of_turn(r, b->history, i, count);
    else
      dys[i] = ev_is_wanted(r, i) ? ev_tensor(ev_parameter(r, "dy", b->gradients[i])) : ev_error();
  ev_type_appended(r, ev_region_repeat(e, r->body, params, ys), params);
  if (!ev_gradients_between(e, ys, dys, r->carried, targets, inputs, gradients, r->span) ||
      !ev_backward_next(r, 0, count) || !give_gradients(r, b, params, gradients, count))
    return false;
  for (uint32_t i = 0; i < r->carried; i++)
    if (b->undone[i] && !ev_backward_next(r, b->undone[i], params[i])) return false;
  return true;
}

static void add_kept(const reversal *r, backward *b, leat_region *built) {
  const ev_history *h = b->history;
  for (uint32_t i = 0; i < r->carried; i++) {
    uint32_t kept;
    leat_node_list changes;
    ev_kept_types(r, i, &kept);
    b->kept[i] = built->inputs.count;
    if (ev_is_counter(r, i)) leat_region_add(built, *h->kept[i]);
    for (uint32_t k = 0; k < kept; k++) leat_region_add(built, h->kept[i][k]);
    if (ev_is_undone(r, i, &changes))
      b->undone[i] = leat_region_add(built, (leat_value){h->count.node, i});
  }
}

leat_node *ev_reverse_turns(const reversal *r, ev_history *h) {
  evaluator *e = r->e;
  uint32_t inputs = r->node->input_count;
  backward b = {.history = h,
                .captured = leat_new_array(e->arena, uint32_t, (size_t)inputs + 1),
                .kept = leat_new_array(e->arena, uint32_t, (size_t)r->carried + 1),
                .undone = leat_new_array(e->arena, uint32_t, (size_t)r->carried + 1)};
  ev_region region;
  b.gradients = ev_backward_begin(r, &region, h->count, h->gradients);
  for (uint32_t i = r->carried; i < inputs; i++)
    b.captured[i] = leat_region_add(&region.built, r->node->inputs[i]);
  add_kept(r, &b, &region.built);
  bool ok = ev_backward_open(r) && reverse_body(r, &b);
  leat_node *node = ev_backward_end(r, ok);
  if (node) ev_take_sparse(r, h, node);
  return node;
}
