// A loop, done again: as often as it turns or up to a limit, from its beginning or from some
// iteration on. It counts, and keeps what it carries, row by row.
#include "frontend/gradient/reversal.h"
#include "ops/turns.h"

// -- Rows -----------------------------------------------------------------------------------------

// Of a value that has all dims a tensor may have, the last two are one in its row.
static bool row_type(const reversal *r, const leat_type *of, leat_type *out) {
  *out = *of;
  if (of->rank < LEAT_MAX_RANK) return true;
  out->rank--;
  leat_dim *last = &out->dims[out->rank - 1];
  if (leat_dim_mul(r->e->graph->dims, *last, of->dims[out->rank], last)) return true;
  ev_fail(r->e, r->span, "the gradient of a loop that carries %s needs too many dimensions",
          leat_type_text(r->e->arena, of));
  return false;
}

leat_value ev_new_rows(const reversal *r, leat_value like, leat_dim count) {
  leat_type row;
  if (!row_type(r, leat_value_type(like), &row)) return (leat_value){0};
  leat_type type = leat_type_rows(&row, count);
  ev zero = type.dtype == LEAT_bool  ? ev_bool(false)
            : type.dtype == LEAT_str ? ev_text(r->e, "", 0)
                                     : ev_int(0);
  return ev_literal_tensor(r->e, zero, &type, NULL, r->span);
}

leat_value ev_set_row(const reversal *r, leat_value rows, leat_value at, leat_value value) {
  leat_builder builder = ev_builder(r->e, r->span);
  return leat_build_set_row(&builder, ev_node_name(r->e, NULL, "row"), rows, at, value);
}

leat_value ev_row(const reversal *r, leat_value rows, leat_value at, const leat_type *type) {
  ev inputs[] = {ev_tensor(rows), ev_tensor(at)};
  leat_attr axis = {.i = 0};
  ev row = ev_op(r->e, LEAT_OP_gather, inputs, 2, &axis, r->span, NULL);
  if (row.kind != EV_TENSOR) return (leat_value){0};
  if (type->rank < LEAT_MAX_RANK) return row.tensor;
  leat_builder builder = ev_builder(r->e, r->span);
  return leat_build_reshape(&builder, ev_node_name(r->e, NULL, "row"), row.tensor, type);
}

// -- Counters -------------------------------------------------------------------------------------

// A counter needs no rows: what it was in a turn is computed. Its dtype has all small steps.
static bool is_counter(const reversal *r, uint32_t i, int64_t *step) {
  return leat_loop_step(r->node, i, step) && -128 < *step && *step < 128;
}

bool ev_has_rows(const reversal *r, uint32_t carried) {
  int64_t step;
  return !is_counter(r, carried, &step);
}

// What a counter was when the loop had run `count` times.
static leat_value recall_counter(const reversal *r, leat_value outside, leat_value first,
                                 int64_t step, leat_value count) {
  leat_attr dtype = {.i = leat_value_type(first)->dtype};
  ev value = ev_tensor(count);
  if (dtype.i != LEAT_i64) value = ev_op(r->e, LEAT_OP_cast, &value, 1, &dtype, r->span, NULL);
  if (value.kind != EV_TENSOR) return (leat_value){0};
  int64_t by = step < 0 ? -step : step;
  leat_dim from;
  leat_value grown = value.tensor;
  if (by != 1) grown = ev_operation(r, LEAT_OPERATOR_MUL, grown, ev_int(by));
  bool from_zero = leat_known_integer(outside, &from) && leat_dim_is(from, 0);
  if (!grown.node || (from_zero && step >= 0)) return grown;
  leat_operator sign = step < 0 ? LEAT_OPERATOR_SUB : LEAT_OPERATOR_ADD;
  return ev_operation(r, sign, first, ev_tensor(grown));
}

leat_value ev_recall(const reversal *r, uint32_t carried, leat_value outside, leat_value kept,
                     leat_value count) {
  int64_t step;
  if (is_counter(r, carried, &step)) return recall_counter(r, outside, kept, step, count);
  return ev_row(r, kept, count, leat_value_type(r->node->inputs[carried]));
}

// -- The loop -------------------------------------------------------------------------------------

static leat_value *begin_body(const reversal *r) {
  leat_value *params = leat_new_array(r->e->arena, leat_value, r->node->input_count);
  ev_region_open(r->e);
  for (uint32_t i = 0; i < r->node->input_count; i++) params[i] = ev_parameter(r, "x", i);
  return params;
}

static void condition_again(const reversal *r, ev_again *how) {
  leat_value holds;
  how->params[0] = begin_body(r);
  how->copies[0] = ev_region_repeat(r->e, r->condition, how->params[0], &holds);
  if (how->limit.node) {
    leat_value count = ev_parameter(r, "count", r->node->input_count);
    leat_value limit = ev_parameter(r, "limit", r->node->input_count + 1);
    holds = ev_operation(r, LEAT_OPERATOR_LESS, count, ev_tensor(limit));
  }
  ev_region_close(r->e);
  if (holds.node) ev_give(r, 0, holds);
}

static bool body_again(const reversal *r, ev_again *how) {
  evaluator *e = r->e;
  uint32_t inputs = r->node->input_count, results = r->carried + 1;
  uint32_t row_first = inputs + (how->limit.node ? 2 : 1);
  leat_value *next = leat_new_array(e->arena, leat_value, 2 * (size_t)r->carried + 1);
  const leat_value *params = how->params[1] = begin_body(r);
  leat_value count = ev_parameter(r, "count", inputs);
  how->copies[1] = ev_region_repeat(e, r->body, params, next);
  next[r->carried] = ev_operation(r, LEAT_OPERATOR_ADD, count, ev_int(1));
  for (uint32_t i = 0, row = row_first; how->kept && i < r->carried; i++)
    if (ev_has_rows(r, i))
      next[results++] = ev_set_row(r, ev_parameter(r, "rows", row++), count, params[i]);
  ev_region_close(e);
  for (uint32_t i = 0, row = row_first; i < results; i++) {
    if (!next[i].node) return false;
    ev_give(r, 1, next[i]);
    uint32_t input = i < r->carried ? i : i == r->carried ? inputs : row++;
    leat_region_carry(&e->region->built, input);
  }
  return true;
}

leat_node *ev_run_again(const reversal *r, ev_again *how) {
  evaluator *e = r->e;
  uint32_t inputs = r->node->input_count, kept = 0;
  leat_value *rows = leat_new_array(e->arena, leat_value, (size_t)r->carried + 1);
  leat_value count = how->count.node ? how->count : ev_number(r, 0);
  for (uint32_t i = 0; how->kept && i < r->carried; i++) {
    if (!ev_has_rows(r, i)) continue;
    rows[kept] = ev_new_rows(r, r->node->inputs[i], *how->kept);
    if (!rows[kept++].node) return NULL;
  }
  ev_region region;
  ev_region_begin(e, &region, LEAT_OP_while_loop, NULL, r->span);
  region.built.parallel = leat_node_attr(r->node, "parallel")->i;
  for (uint32_t i = 0; i < inputs; i++)
    leat_region_add(&region.built, how->from && i < r->carried ? how->from[i] : r->node->inputs[i]);
  leat_region_add(&region.built, count);
  if (how->limit.node) leat_region_add(&region.built, how->limit);
  for (uint32_t i = 0; i < kept; i++) leat_region_add(&region.built, rows[i]);
  condition_again(r, how);
  if (body_again(r, how)) return ev_region_end(e, NULL);
  ev_region_drop(e);
  return NULL;
}

// The copy is called as the node is, and what is in it as what is in that.
static void take_names(leat_graph *graph, leat_node *copy, const leat_node *node) {
  leat_graph_rename_node(graph, copy, node->name);
  for (int b = 0; b < node->info->attr_count; b++) {
    const leat_graph *body = leat_node_body(node, b);
    for (uint32_t i = 0; body && i < body->nodes.count; i++)
      take_names(graph, leat_node_body(copy, b)->nodes.items[i], body->nodes.items[i]);
  }
}

void ev_replace_loop(const reversal *r, leat_node *by, const ev_again *how) {
  evaluator *e = r->e;
  const leat_graph *bodies[] = {r->condition, r->body};
  bool here = !e->region || r->node->id >= e->region->built.first;
  bool taken_back_with_us = r->node->id >= e->nodes && r->node->entry == e->entry;
  if (r->node->effect || !here || !taken_back_with_us) return;
  leat_vec_push(e->arena, &e->replaced, (ev_replaced){r->node, by});
  for (int b = 0; b < 2; b++) {
    for (uint32_t i = 0; i < bodies[b]->params.count; i++)
      leat_graph_rename_node(e->graph, how->params[b][i].node, bodies[b]->params.items[i]->name);
    for (uint32_t i = 0; i < bodies[b]->nodes.count; i++)
      if (how->copies[b][i]) take_names(e->graph, how->copies[b][i], bodies[b]->nodes.items[i]);
  }
}
