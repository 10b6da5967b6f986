// Gradients through branches and loops. What a body does is done again in the gradient's bodies, so
// that nothing has to be kept of it but what a loop carries.
//
// The gradient of a branch is a branch on the same predicate. That of a loop is a loop that runs
// backwards: in each iteration it has what the loop carried then, adds up the gradients of what the
// bodies captured, and makes those of what was carried before. What was carried is kept by a second
// loop, row by row, in tensors with as many rows as there may be iterations: as the condition says
// where it compares a count with a dim, else as many as a first loop counts. Where that cannot be
// said (in a body no dim can be computed), the loop is run again from its beginning.
#include "frontend/gradient/walk.h"

#include "frontend/evaluate/region.h"
#include "frontend/gradient/gradient.h"
#include "ops/turns.h"

typedef struct reversal {
  evaluator *e;
  leat_node *node;
  const ev *partials; // of the outputs
  const bool *wanted; // by input
  ev *out;            // by input
  leat_span span;
  const leat_graph *condition, *body; // of a loop
  uint32_t carried;                   // of a loop: so many inputs are
} reversal;

static bool has_gradient(leat_value value) {
  return leat_dtype_in_class(leat_value_type(value)->dtype, LEAT_CLASS_INEXACT);
}

static leat_value dense(const reversal *r, ev gradient) {
  if (gradient.kind == EV_ROWS) return ev_rows_dense(r->e, gradient, r->span);
  return gradient.kind == EV_TENSOR ? gradient.tensor : (leat_value){0};
}

static leat_value zeros(const reversal *r, leat_value like) {
  return ev_literal_tensor(r->e, ev_int(0), leat_value_type(like), NULL, r->span);
}

// The gradient, or zeros of the value's type.
static leat_value or_zeros(const reversal *r, ev gradient, leat_value like) {
  return gradient.kind == EV_ERROR ? zeros(r, like) : dense(r, gradient);
}

static leat_value operation(const reversal *r, leat_operator operator, leat_value a, ev b) {
  ev value = ev_operator(r->e, operator, ev_tensor(a), b, r->span, NULL);
  return value.kind == EV_TENSOR ? value.tensor : (leat_value){0};
}

static leat_value parameter(const reversal *r, const char *name, uint32_t input) {
  leat_builder builder = ev_builder(r->e, r->span);
  return leat_region_parameter(&r->e->region->built, &builder, name, input);
}

static void give(const reversal *r, uint32_t body, leat_value value) {
  leat_builder builder = ev_builder(r->e, r->span);
  leat_region_give(&r->e->region->built, &builder, body, value);
}

// -- Branches -----------------------------------------------------------------------------------

// The open body is that of one side: its gradients of the wanted inputs.
static bool reverse_branch(const reversal *r, const leat_graph *body, const uint32_t *inputs,
                           const uint32_t *partials, leat_value *out) {
  evaluator *e = r->e;
  uint32_t count = body->params.count, results = body->yield->input_count, first;
  leat_value *params = leat_new_array(e->arena, leat_value, (size_t)count + 1);
  leat_value *ys = leat_new_array(e->arena, leat_value, (size_t)results + 1);
  ev *dys = leat_new_array(e->arena, ev, (size_t)results + 1);
  ev *targets = leat_new_array(e->arena, ev, (size_t)count + 1);
  ev *gradients = leat_new_array(e->arena, ev, (size_t)count + 1);
  first = e->graph->nodes.count;
  for (uint32_t i = 0; i < count; i++) {
    params[i] = parameter(r, "x", inputs[i]);
    targets[i] = ev_tensor(params[i]);
  }
  for (uint32_t i = 0; i < results; i++) {
    bool known = r->partials[i].kind != EV_ERROR;
    dys[i] = known ? ev_tensor(parameter(r, "dy", partials[i])) : ev_error();
  }
  ev_region_repeat(e, body, params, ys);
  if (!ev_gradients_between(e, first, ys, dys, results, targets, count, gradients, r->span))
    return false;
  for (uint32_t i = 0; i < count; i++)
    if (r->wanted[i + 1]) out[i] = or_zeros(r, gradients[i], params[i]);
  return true;
}

static bool reverse_conditional(const reversal *r) {
  evaluator *e = r->e;
  uint32_t count = r->node->input_count - 1;
  leat_value *results[LEAT_REGION_BODIES];
  uint32_t *inputs = leat_new_array(e->arena, uint32_t, (size_t)count + 1);
  uint32_t *partials = leat_new_array(e->arena, uint32_t, (size_t)r->node->output_count + 1);
  leat_value *dys = leat_new_array(e->arena, leat_value, (size_t)r->node->output_count + 1);
  for (uint32_t i = 0; i < r->node->output_count; i++) dys[i] = dense(r, r->partials[i]);
  ev_region region;
  ev_region_begin(e, &region, LEAT_OP_conditional, NULL, r->span);
  for (uint32_t i = 0; i < count; i++)
    inputs[i] = leat_region_add(&region.built, r->node->inputs[i + 1]);
  for (uint32_t i = 0; i < r->node->output_count; i++)
    if (dys[i].node) partials[i] = leat_region_add(&region.built, dys[i]);
  bool ok = true;
  for (uint32_t b = 0; b < LEAT_REGION_BODIES; b++) {
    results[b] = leat_new_array(e->arena, leat_value, (size_t)count + 1);
    ev_region_open(e);
    ok = ok && reverse_branch(r, r->node->attrs[b].body, inputs, partials, results[b]);
    ev_region_close(e);
  }
  for (uint32_t i = 0; ok && i < count; i++)
    for (uint32_t b = 0; r->wanted[i + 1] && b < LEAT_REGION_BODIES; b++) give(r, b, results[b][i]);
  if (!ok) ev_region_drop(e);
  leat_node *node = ok ? ev_region_end(e, &r->node->inputs[0]) : NULL;
  uint32_t port = 0;
  for (uint32_t i = 0; node && i < count; i++)
    if (r->wanted[i + 1]) r->out[i + 1] = ev_tensor((leat_value){node, port++});
  return node;
}

// -- The loop again -------------------------------------------------------------------------------

// The loop with a count of its iterations behind what it carries, and with rows of `kept` dims a
// tensor that has what was carried in each; until the count reaches `limit`, where there is one.
typedef struct again {
  const leat_dim *kept;
  leat_value limit;
  leat_node *const *copies[LEAT_REGION_BODIES]; // what was made of the bodies
} again;

static leat_value new_rows(const reversal *r, leat_value of, leat_dim count) {
  leat_type type = *leat_value_type(of);
  for (int32_t k = type.rank++; k > 0; k--) type.dims[k] = type.dims[k - 1];
  type.dims[0] = count;
  ev zero = type.dtype == LEAT_bool ? ev_bool(false) : ev_int(0);
  return ev_literal_tensor(r->e, zero, &type, NULL, r->span);
}

static bool can_keep(leat_value value) {
  const leat_type *type = leat_value_type(value);
  return type->rank < LEAT_MAX_RANK && type->dtype != LEAT_str;
}

// A counter needs no rows: what it was in a turn is computed. Its dtype has all small steps.
static bool is_counter(const reversal *r, uint32_t i, int64_t *step) {
  return leat_loop_step(r->node, i, step) && -128 < *step && *step < 128;
}

static bool is_kept(const reversal *r, uint32_t i) {
  int64_t step;
  return can_keep(r->node->inputs[i]) && !is_counter(r, i, &step);
}

// rows[count] = value
static leat_value set_row(const reversal *r, leat_value rows, leat_value count, leat_value value) {
  leat_builder builder = ev_builder(r->e, r->span);
  leat_type one = leat_type_scalar(LEAT_i64), row = *leat_value_type(rows);
  one.rank = 1;
  one.dims[0] = row.dims[0] = leat_dim_const(1);
  leat_attr shape = {.count = 1, .dims = leat_arena_memdup(r->e->arena, one.dims, sizeof one.dims)};
  leat_attr whole = {.count = (uint32_t)row.rank,
                     .dims = leat_arena_memdup(r->e->arena, row.dims, sizeof row.dims)};
  leat_attr axis = {.i = 0};
  const char *name = ev_node_name(r->e, NULL, "row");
  leat_value inputs[] = {rows, count, value};
  inputs[1] = leat_build(&builder, name, LEAT_OP_reshape, &count, 1, &shape);
  inputs[2] = leat_build(&builder, name, LEAT_OP_reshape, &value, 1, &whole);
  if (!inputs[1].node || !inputs[2].node) return (leat_value){0};
  return leat_build(&builder, name, LEAT_OP_scatter_set, inputs, 3, &axis);
}

static void begin_body(const reversal *r, leat_value *params) {
  ev_region_open(r->e);
  for (uint32_t i = 0; i < r->node->input_count; i++) params[i] = parameter(r, "x", i);
}

static void condition_again(const reversal *r, again *how, leat_value *params) {
  leat_value holds;
  begin_body(r, params);
  how->copies[0] = ev_region_repeat(r->e, r->condition, params, &holds);
  if (how->limit.node) {
    leat_value count = parameter(r, "count", r->node->input_count);
    leat_value limit = parameter(r, "limit", r->node->input_count + 1);
    holds = operation(r, LEAT_OPERATOR_LESS, count, ev_tensor(limit));
  }
  ev_region_close(r->e);
  if (holds.node) give(r, 0, holds);
}

static bool body_again(const reversal *r, again *how, leat_value *params) {
  evaluator *e = r->e;
  uint32_t inputs = r->node->input_count, kept = 0;
  leat_value *next = leat_new_array(e->arena, leat_value, 2 * (size_t)r->carried + 1);
  begin_body(r, params);
  leat_value count = parameter(r, "count", inputs);
  how->copies[1] = ev_region_repeat(e, r->body, params, next);
  next[r->carried] = operation(r, LEAT_OPERATOR_ADD, count, ev_int(1));
  for (uint32_t i = 0; how->kept && i < r->carried; i++)
    if (is_kept(r, i)) {
      leat_value rows = parameter(r, "rows", inputs + 1 + kept++);
      next[r->carried + kept] = set_row(r, rows, count, params[i]);
    }
  ev_region_close(e);
  for (uint32_t i = 0; i < r->carried + 1 + kept; i++) {
    if (!next[i].node) return false;
    give(r, 1, next[i]);
    leat_region_carry(&e->region->built, i < r->carried ? i : inputs + i - r->carried);
  }
  return true;
}

// NULL: reported.
static leat_node *run_again(const reversal *r, again *how) {
  evaluator *e = r->e;
  leat_value *params = leat_new_array(e->arena, leat_value, r->node->input_count);
  leat_type count = leat_type_scalar(LEAT_i64);
  leat_value *rows = leat_new_array(e->arena, leat_value, (size_t)r->carried + 1);
  leat_value zero = ev_literal_tensor(e, ev_int(0), &count, NULL, r->span);
  for (uint32_t i = 0; how->kept && i < r->carried; i++)
    if (is_kept(r, i)) rows[i] = new_rows(r, r->node->inputs[i], *how->kept);
  ev_region region;
  ev_region_begin(e, &region, LEAT_OP_while_loop, NULL, r->span);
  for (uint32_t i = 0; i < r->node->input_count; i++)
    leat_region_add(&region.built, r->node->inputs[i]);
  leat_region_add(&region.built, zero);
  if (how->limit.node) leat_region_add(&region.built, how->limit);
  for (uint32_t i = 0; how->kept && i < r->carried; i++)
    if (rows[i].node) leat_region_add(&region.built, rows[i]);
  condition_again(r, how, params);
  if (body_again(r, how, params)) return ev_region_end(e, NULL);
  ev_region_drop(e);
  return NULL;
}

// The loop with its count, and what it kept, is the loop from now on: it is not run twice.
static void replace_loop(const reversal *r, leat_node *by, const again *how) {
  evaluator *e = r->e;
  const leat_graph *bodies[] = {r->condition, r->body};
  bool here = !e->region || r->node->id >= e->region->built.first;
  bool taken_back_with_us = r->node->id >= e->nodes && r->node->entry == e->entry;
  if (r->node->effect || !here || !taken_back_with_us) return;
  leat_vec_push(e->arena, &e->replaced, (ev_replaced){r->node, by});
  for (int b = 0; b < 2; b++)
    for (uint32_t i = 0; i < bodies[b]->nodes.count; i++)
      if (how->copies[b][i])
        leat_graph_rename_node(e->graph, how->copies[b][i], bodies[b]->nodes.items[i]->name);
}

// -- Loops ----------------------------------------------------------------------------------------

// What the backward loop knows of the iteration that it reverses.
typedef struct history {
  leat_value count; // of iterations
  leat_value
      *rows; // by carried value: what it was in each, of a counter in the first; {NULL}: made again
  uint32_t row_first; // their inputs of the backward loop
} history;

static bool keep_history(const reversal *r, history *h) {
  evaluator *e = r->e;
  leat_dim bound;
  bool exact, bounded = leat_loop_turns(r->node, &bound, &exact);
  int64_t step;
  h->rows = leat_new_array(e->arena, leat_value, (size_t)r->carried + 1);
  for (uint32_t i = 0; i < r->carried; i++)
    if (is_counter(r, i, &step)) h->rows[i] = r->node->inputs[i];
  if (!bounded) {
    again counting = {0};
    leat_node *counted = run_again(r, &counting);
    if (!counted) return false;
    replace_loop(r, counted, &counting);
    h->count = (leat_value){counted, r->carried};
    if (e->region) return true;
    ev dim = ev_dynamic(e, ev_tensor(h->count), r->span);
    if (dim.kind != EV_DIM) return false;
    bound = dim.dim;
  }
  again keeping = {.kept = &bound};
  leat_node *kept = run_again(r, &keeping);
  uint32_t port = r->carried;
  if (!kept) return false;
  if (bounded) replace_loop(r, kept, &keeping);
  h->count = (leat_value){kept, port};
  for (uint32_t i = 0; i < r->carried; i++)
    if (is_kept(r, i)) h->rows[i] = (leat_value){kept, ++port};
  return true;
}

// What a counter was when the loop had run `count` times.
static leat_value recall_counter(const reversal *r, leat_value first, int64_t step,
                                 leat_value count) {
  leat_attr dtype = {.i = leat_value_type(first)->dtype};
  ev value = ev_tensor(count);
  if (dtype.i != LEAT_i64) value = ev_op(r->e, LEAT_OP_cast, &value, 1, &dtype, r->span, NULL);
  if (value.kind != EV_TENSOR) return (leat_value){0};
  int64_t by = step < 0 ? -step : step;
  leat_dim from;
  leat_value grown = value.tensor;
  if (by != 1) grown = operation(r, LEAT_OPERATOR_MUL, grown, ev_int(by));
  bool from_zero = leat_known_integer(first, &from) && leat_dim_is(from, 0);
  if (!grown.node || (from_zero && step >= 0)) return grown;
  leat_operator sign = step < 0 ? LEAT_OPERATOR_SUB : LEAT_OPERATOR_ADD;
  return operation(r, sign, first, ev_tensor(grown));
}

// What carried value i was then.
static leat_value recall_value(const reversal *r, uint32_t i, leat_value rows, leat_value count) {
  leat_attr axis = {.i = 0};
  ev inputs[] = {ev_tensor(rows), ev_tensor(count)};
  int64_t step;
  if (is_counter(r, i, &step)) return recall_counter(r, rows, step, count);
  ev value = ev_op(r->e, LEAT_OP_gather, inputs, 2, &axis, r->span, NULL);
  return value.kind == EV_TENSOR ? value.tensor : (leat_value){0};
}

// What the loop carried then, in the open body.
static bool recall(const reversal *r, const history *h, leat_value count, leat_value *params) {
  bool all = true;
  for (uint32_t i = 0, row = 0; i < r->carried; i++) {
    if (!h->rows[i].node) {
      all = false;
      continue;
    }
    params[i] = recall_value(r, i, parameter(r, "rows", h->row_first + row++), count);
    if (!params[i].node) return false;
  }
  if (all) return true;
  leat_node *again_until = run_again(r, &(again){.limit = count});
  for (uint32_t i = 0; again_until && i < r->carried; i++)
    if (!params[i].node) params[i] = (leat_value){again_until, i};
  return again_until;
}

// The inputs of the backward loop: the count; the gradients of what is carried, by its number; the
// sums for what is captured; what is captured; rows.
typedef struct backward {
  uint32_t *carried, *sums, *captured;
  history history;
} backward;

static bool reverse_body(const reversal *r, const backward *b, leat_value *next) {
  evaluator *e = r->e;
  uint32_t inputs = r->node->input_count, first = e->graph->nodes.count;
  leat_value *params = leat_new_array(e->arena, leat_value, (size_t)inputs + 1);
  leat_value *ys = leat_new_array(e->arena, leat_value, (size_t)r->carried + 1);
  ev *dys = leat_new_array(e->arena, ev, (size_t)r->carried + 1);
  ev *targets = leat_new_array(e->arena, ev, (size_t)inputs + 1);
  ev *gradients = leat_new_array(e->arena, ev, (size_t)inputs + 1);
  leat_value count = operation(r, LEAT_OPERATOR_SUB, parameter(r, "count", 0), ev_int(1));
  for (uint32_t i = r->carried; i < inputs; i++) params[i] = parameter(r, "x", b->captured[i]);
  if (!count.node || !recall(r, &b->history, count, params)) return false;
  for (uint32_t i = 0; i < inputs; i++) targets[i] = ev_tensor(params[i]);
  for (uint32_t i = 0; i < r->carried; i++) {
    bool known = has_gradient(params[i]);
    dys[i] = known ? ev_tensor(parameter(r, "dy", b->carried[i])) : ev_error();
  }
  ev_region_repeat(e, r->body, params, ys);
  if (!ev_gradients_between(e, first, ys, dys, r->carried, targets, inputs, gradients, r->span))
    return false;
  *next++ = count;
  for (uint32_t i = 0; i < r->carried; i++)
    if (has_gradient(params[i])) *next++ = or_zeros(r, gradients[i], params[i]);
  for (uint32_t i = r->carried; i < inputs; i++) {
    if (!r->wanted[i]) continue;
    leat_value sum = parameter(r, "sum", b->sums[i]);
    leat_value more = dense(r, gradients[i]);
    *next++ = more.node ? operation(r, LEAT_OPERATOR_ADD, sum, ev_tensor(more)) : sum;
  }
  return true;
}

static uint32_t add_inputs(const reversal *r, backward *b, leat_region *built,
                           const leat_value *dys, const leat_value *sums) {
  uint32_t results = 1;
  leat_region_add(built, b->history.count);
  for (uint32_t i = 0; i < r->carried; i++)
    if (has_gradient(r->node->inputs[i])) b->carried[i] = leat_region_add(built, dys[i]), results++;
  for (uint32_t i = r->carried; i < r->node->input_count; i++)
    if (r->wanted[i]) b->sums[i] = leat_region_add(built, sums[i]), results++;
  for (uint32_t i = r->carried; i < r->node->input_count; i++)
    b->captured[i] = leat_region_add(built, r->node->inputs[i]);
  b->history.row_first = built->inputs.count;
  for (uint32_t i = 0; i < r->carried; i++)
    if (b->history.rows[i].node) leat_region_add(built, b->history.rows[i]);
  return results;
}

static leat_node *backward_loop(const reversal *r, backward *b, const leat_value *dys,
                                const leat_value *sums) {
  evaluator *e = r->e;
  ev_region region;
  ev_region_begin(e, &region, LEAT_OP_while_loop, NULL, r->span);
  uint32_t results = add_inputs(r, b, &region.built, dys, sums);
  leat_value *next = leat_new_array(e->arena, leat_value, results);
  ev_region_open(e);
  leat_value left = operation(r, LEAT_OPERATOR_GREATER, parameter(r, "count", 0), ev_int(0));
  ev_region_close(e);
  ev_region_open(e);
  bool ok = reverse_body(r, b, next);
  ev_region_close(e);
  for (uint32_t i = 0; i < results; i++) ok = ok && next[i].node;
  if (!ok || !left.node) {
    ev_region_drop(e);
    return NULL;
  }
  give(r, 0, left);
  for (uint32_t i = 0; i < results; i++) {
    give(r, 1, next[i]);
    leat_region_carry(&region.built, i);
  }
  return ev_region_end(e, NULL);
}

static bool reverse_loop(const reversal *r) {
  evaluator *e = r->e;
  uint32_t inputs = r->node->input_count;
  backward b = {0};
  b.carried = leat_new_array(e->arena, uint32_t, (size_t)inputs + 1);
  b.sums = leat_new_array(e->arena, uint32_t, (size_t)inputs + 1);
  b.captured = leat_new_array(e->arena, uint32_t, (size_t)inputs + 1);
  leat_value *dys = leat_new_array(e->arena, leat_value, (size_t)r->carried + 1);
  leat_value *sums = leat_new_array(e->arena, leat_value, (size_t)inputs + 1);
  if (!keep_history(r, &b.history)) return false;
  for (uint32_t i = 0; i < r->carried; i++)
    if (has_gradient(r->node->inputs[i])) dys[i] = or_zeros(r, r->partials[i], r->node->inputs[i]);
  for (uint32_t i = r->carried; i < inputs; i++)
    if (r->wanted[i]) sums[i] = zeros(r, r->node->inputs[i]);
  leat_node *node = backward_loop(r, &b, dys, sums);
  uint32_t port = 1;
  for (uint32_t i = 0; node && i < inputs; i++) {
    bool given = i < r->carried ? has_gradient(r->node->inputs[i]) : r->wanted[i];
    if (given) r->out[i] = ev_tensor((leat_value){node, port++});
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
  return reverse_loop(&r);
}
