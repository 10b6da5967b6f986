// Gradients through branches and loops. What a body does is done again in the gradient's bodies, so
// that nothing has to be kept of it but what a loop carries.
//
// The gradient of a branch is a branch on the same predicate; that of a loop stands in loops.c.
#include "frontend/gradient/walk.h"

#include "frontend/gradient/reversal.h"
#include "frontend/values/rows.h"

// -- Branches -----------------------------------------------------------------------------------

// Of the open body: the other one can say that it has none.
static bool can_give_rows(const reversal *r, const ev_rows *rows) {
  return !leat_graph_binds(r->e->at.body, leat_value_type(rows->values));
}

// The open body is that of one side: its gradients of the wanted inputs, sparse rows or tensors, or
// EV_ERROR where there is none.
static bool reverse_branch(const reversal *r, const leat_graph *body, const uint32_t *inputs,
                           const uint32_t *partials, ev *out) {
  evaluator *e = r->e;
  uint32_t count = body->params.count, results = body->yield->input_count;
  leat_value *params = leat_new_array(e->arena, leat_value, (size_t)count + 1);
  leat_value *ys = leat_new_array(e->arena, leat_value, (size_t)results + 1);
  ev *dys = leat_new_array(e->arena, ev, (size_t)results + 1);
  ev *targets = leat_new_array(e->arena, ev, (size_t)count + 1);
  for (uint32_t i = 0; i < count; i++) {
    params[i] = ev_parameter(r, "x", inputs[i]);
    targets[i] = ev_tensor(params[i]);
  }
  for (uint32_t i = 0; i < results; i++) {
    bool known = r->partials[i].kind != EV_ERROR;
    dys[i] = known ? ev_tensor(ev_parameter(r, "dy", partials[i])) : ev_error();
  }
  ev_region_repeat(e, body, params, ys);
  leat_builder builder = ev_builder(e, r->span);
  for (uint32_t i = 0; i < results; i++) // what grows is of another extent on the other side
    if (dys[i].kind == EV_TENSOR)
      dys[i].tensor = leat_build_ensure(&builder, dys[i].tensor, leat_value_type(ys[i]));
  if (!ev_gradients_between(e, ys, dys, results, targets, count, out, r->span)) return false;
  for (uint32_t i = 0; i < count; i++)
    if (out[i].kind == EV_ROWS && !can_give_rows(r, out[i].rows))
      out[i] = ev_tensor(ev_dense(r, out[i]));
  return true;
}

// A branch's own result, and zeros of the other one, or what that has instead.
static void give(const reversal *r, uint32_t branch, leat_value value, leat_value instead) {
  const leat_type *type = leat_value_type(value);
  if (!instead.node) instead = ev_literal_tensor(r->e, ev_int(0), type, NULL, r->span);
  for (uint32_t b = 0; b < LEAT_REGION_BODIES; b++) ev_give(r, b, b == branch ? value : instead);
}

static leat_value tensor_of(ev gradient) {
  return gradient.kind == EV_TENSOR ? gradient.tensor : (leat_value){0};
}

static bool has_tensor(const ev gradients[LEAT_REGION_BODIES]) {
  bool rows = gradients[0].kind == EV_ROWS || gradients[1].kind == EV_ROWS;
  return !rows || tensor_of(gradients[0]).node || tensor_of(gradients[1]).node;
}

// What the branches have of an input: a tensor, and sparse rows of either, of which there are none
// where it is not taken.
static void give_gradients(const reversal *r, leat_value input,
                           const ev gradients[LEAT_REGION_BODIES]) {
  if (has_tensor(gradients)) {
    bool first = tensor_of(gradients[0]).node;
    leat_value one = tensor_of(gradients[!first]);
    if (!one.node) one = ev_or_zeros(r, ev_error(), input);
    give(r, !first, one, tensor_of(gradients[first]));
  }
  for (uint32_t b = 0; b < LEAT_REGION_BODIES; b++) {
    if (gradients[b].kind != EV_ROWS) continue;
    leat_value none = {0}, count = ev_row_count(r->e, gradients[b], r->span);
    give(r, b, gradients[b].rows->indices, none);
    give(r, b, gradients[b].rows->values, none);
    give(r, b, count, none);
  }
}

// All of that, from *port on.
static ev take_gradient(const reversal *r, leat_node *node, uint32_t *port,
                        const ev gradients[LEAT_REGION_BODIES]) {
  ev sum = has_tensor(gradients) ? ev_tensor((leat_value){node, (*port)++}) : ev_error();
  for (uint32_t b = 0; b < LEAT_REGION_BODIES; b++) {
    if (gradients[b].kind != EV_ROWS) continue;
    leat_value parts[] = {{node, *port}, {node, *port + 1}, {node, *port + 2}};
    ev rows = ev_count_rows(r->e, &gradients[b].rows->type, parts[0], parts[1], parts[2]);
    sum = sum.kind == EV_ERROR ? rows : ev_rows_add(r->e, sum, rows, r->span);
    *port += 3;
  }
  return sum;
}

// Where neither branch has a gradient there is none, rather than zeros.
static bool is_given(const reversal *r, uint32_t input, const ev gradients[LEAT_REGION_BODIES]) {
  return r->wanted[input] && (gradients[0].kind != EV_ERROR || gradients[1].kind != EV_ERROR);
}

static bool reverse_conditional(const reversal *r) {
  evaluator *e = r->e;
  uint32_t count = r->node->input_count - 1;
  ev *results[LEAT_REGION_BODIES];
  uint32_t *inputs = leat_new_array(e->arena, uint32_t, (size_t)count + 1);
  uint32_t *partials = leat_new_array(e->arena, uint32_t, (size_t)r->node->output_count + 1);
  leat_value *dys = leat_new_array(e->arena, leat_value, (size_t)r->node->output_count + 1);
  for (uint32_t i = 0; i < r->node->output_count; i++) dys[i] = ev_dense(r, r->partials[i]);
  ev_region region;
  ev_region_begin(e, &region, LEAT_OP_conditional, NULL, r->span);
  for (uint32_t i = 0; i < count; i++)
    inputs[i] = leat_region_add(&region.built, r->node->inputs[i + 1]);
  for (uint32_t i = 0; i < r->node->output_count; i++)
    if (dys[i].node) partials[i] = leat_region_add(&region.built, dys[i]);
  bool ok = true;
  for (uint32_t b = 0; b < LEAT_REGION_BODIES; b++) {
    results[b] = leat_new_array(e->arena, ev, (size_t)count + 1);
    ev_region_open(e);
    ok = ok && reverse_branch(r, r->node->attrs[b].body, inputs, partials, results[b]);
    ev_body_ends(e);
  }
  for (uint32_t i = 0; ok && i < count; i++) {
    ev both[] = {results[0][i], results[1][i]};
    if (is_given(r, i + 1, both)) give_gradients(r, r->node->inputs[i + 1], both);
  }
  if (!ok) ev_region_drop(e);
  leat_node *node = ok ? ev_region_end(e, &r->node->inputs[0]) : NULL;
  uint32_t port = 0;
  for (uint32_t i = 0; node && i < count; i++) {
    ev both[] = {results[0][i], results[1][i]};
    if (is_given(r, i + 1, both)) r->out[i + 1] = take_gradient(r, node, &port, both);
  }
  return node;
}

bool ev_region_gradients(evaluator *e, leat_node *node, const ev *partials, const bool *wanted,
                         ev *out, leat_span span) {
  reversal r = {
      .e = e, .node = node, .partials = partials, .wanted = wanted, .out = out, .span = span};
  for (uint32_t i = 0; i < node->input_count; i++) out[i] = ev_error();
  if (node->op == LEAT_OP_conditional) return reverse_conditional(&r);
  r.condition = leat_node_attr(node, "condition")->body;
  r.body = leat_node_attr(node, "body")->body;
  r.carried = node->output_count;
  r.needed = ev_needed(&r);
  bool any = false;
  for (uint32_t i = 0; i < node->input_count; i++) any = any || (wanted[i] && r.needed[i]);
  if (!any) return true; // there is no way through it
  bool grows = false;
  for (uint32_t i = 0; i < r.carried; i++)
    grows = grows || (leat_region_result_grows(node, i) && !ev_appends(&r, i));
  if (grows) {
    ev_fail(
        e, span,
        "gradients through what a loop lets grow are not supported yet where a turn reads it, or "
        "does more than to put rows of one shape behind it");
    leat_note_at(e->diag, node->span, "it grows here, where it is declared with a `?`");
    return false;
  }
  return ev_reverse_loop(&r);
}
