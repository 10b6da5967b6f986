// Rows that the turns of a loop have of a gradient: of all that the loop appends each turn has
// those that it appended; sparse rows of each turn stand one behind the other behind the loop.
#include "frontend/evaluate/evaluate.h"
#include "frontend/gradient/reversal.h"
#include "frontend/values/rows.h"

// -- Of what the loop appends ---------------------------------------------------------------------

static leat_value index_of(const reversal *r, leat_value count, leat_dim each, leat_dim first) {
  leat_value at = count;
  if (!leat_dim_is(each, 1)) at = ev_operation(r, LEAT_OPERATOR_MUL, at, ev_of_dim(each));
  if (!at.node || leat_dim_is(first, 0)) return at;
  return ev_operation(r, LEAT_OPERATOR_ADD, at, ev_of_dim(first));
}

// So many from `at` on, of the gradient of all rows.
static ev some_rows(const reversal *r, leat_value all, leat_value at, const leat_type *like) {
  evaluator *e = r->e;
  leat_dim *count = leat_arena_memdup(e->arena, like->dims, sizeof *count);
  leat_attr axis = {.i = 0}, numbers[] = {{.count = 1, .dims = count}, {.i = 0}, {.i = LEAT_i64}};
  if (leat_dim_is(*count, 1)) {
    leat_builder builder = ev_builder(e, r->span);
    leat_value row = ev_row(r, all, at, &(leat_type){.rank = like->rank - 1});
    return row.node
               ? ev_tensor(leat_build_reshape(&builder, ev_node_name(e, NULL, "row"), row, like))
               : ev_error();
  }
  ev places = ev_op(e, LEAT_OP_iota, NULL, 0, numbers, r->span, NULL);
  if (places.kind != EV_TENSOR) return places;
  ev inputs[] = {ev_tensor(all),
                 ev_tensor(ev_operation(r, LEAT_OPERATOR_ADD, places.tensor, ev_tensor(at)))};
  return ev_op(e, LEAT_OP_gather, inputs, 2, &axis, r->span, NULL);
}

leat_value ev_turn_of(const reversal *r, const ev_history *h, leat_value count) {
  return h->first.node ? ev_operation(r, LEAT_OPERATOR_ADD, count, ev_tensor(h->first)) : count;
}

ev ev_rows_of_turn(const reversal *r, const ev_history *h, uint32_t carried, leat_value count) {
  leat_value all = h->appended[carried];
  leat_value next = r->body->yield->inputs[carried];
  const leat_type *added = leat_value_type(next.node->inputs[1]);
  leat_dim first = leat_value_type(r->node->inputs[carried])->dims[0];
  if (!all.node) return ev_error();
  leat_value turn = ev_turn_of(r, h, count);
  if (!turn.node) return ev_error();
  leat_value at = index_of(r, turn, added->dims[0], first);
  return at.node ? some_rows(r, all, at, added) : ev_error();
}

ev ev_rows_before(const reversal *r, uint32_t carried, leat_value all) {
  const leat_type *type = leat_value_type(r->node->inputs[carried]);
  if (!all.node || leat_dim_is(type->dims[0], 0)) return ev_error();
  return some_rows(r, all, ev_number(r, 0), type);
}

// -- Sparse rows ----------------------------------------------------------------------------------

// A tensor with a row for each turn, which in this one is `value`.
static bool stack_up(const reversal *r, leat_dim turns, leat_value count, leat_value value) {
  evaluator *e = r->e;
  ev_context from = ev_step_out(e);
  leat_value rows = ev_new_rows(r, leat_value_type(value), turns);
  e->at = from;
  if (!rows.node) return false;
  uint32_t input = leat_region_add(&e->at.region->built, rows);
  return ev_backward_next(r, input, ev_set_row(r, ev_parameter(r, "rows", input), count, value));
}

// Zeros for so many times the value's rows; {NULL}: a dim cannot be said.
static leat_value new_table(const reversal *r, leat_value value, leat_dim times) {
  leat_type all = *leat_value_type(value);
  if (!leat_dim_mul(r->e->graph->dims, times, all.dims[0], &all.dims[0])) return (leat_value){0};
  return ev_literal_tensor(r->e, ev_int(0), &all, NULL, r->span);
}

// Tables with the rows of all turns, one behind the other, and how many there are so far.
static bool append(const reversal *r, leat_dim turns, ev gradient) {
  evaluator *e = r->e;
  leat_value parts[] = {gradient.rows->indices, gradient.rows->values};
  leat_value first[3], count = gradient.rows->count;
  uint32_t inputs[3];
  ev_context from = ev_step_out(e);
  for (int i = 0; i < 2; i++) first[i] = new_table(r, parts[i], turns);
  first[2] = ev_number(r, 0);
  e->at = from;
  for (int i = 0; i < 3; i++) {
    if (!first[i].node) return false;
    inputs[i] = leat_region_add(&e->at.region->built, first[i]);
  }
  leat_value at = ev_parameter(r, "count", inputs[2]);
  for (int i = 0; i < 2; i++) {
    leat_value table = ev_parameter(r, "rows", inputs[i]);
    table = ev_put_rows(e, table, at, parts[i], r->span);
    if (!ev_backward_next(r, inputs[i], table)) return false;
  }
  leat_value next = ev_operation(r, LEAT_OPERATOR_ADD, at, ev_tensor(count));
  return ev_backward_next(r, inputs[2], next);
}

// Whether it is the same in each turn, as far as `looks` at what it is made of tell.
static bool is_fixed(leat_value value, int *looks) {
  const leat_node *node = leat_region_origin(value).node;
  bool region = node->info->kind == LEAT_KIND_REGION;
  if (--*looks < 0 || region || node->op == LEAT_OP_parameter) return false;
  for (uint32_t i = 0; i < node->input_count; i++)
    if (!is_fixed(node->inputs[i], looks)) return false;
  return true;
}

// Rows that are the same in each turn are added to the whole, of which there is one.
static bool stays_sparse(const reversal *r, const ev_history *h, ev gradient) {
  leat_dim all;
  int looks = 100;
  if (gradient.kind != EV_ROWS || !h->turns) return false;
  if (!r->e->at.region->around.region && is_fixed(gradient.rows->indices, &looks)) return false;
  const leat_type *type = leat_value_type(gradient.rows->values);
  return type->rank < LEAT_MAX_RANK && !leat_graph_binds(r->e->at.body, type) &&
         leat_dim_mul(r->e->graph->dims, *h->turns, type->dims[0], &all);
}

leat_value ev_sum_of_turns(const reversal *r, const ev_history *h, uint32_t input, ev gradient) {
  leat_value sum = ev_parameter(r, "sum", input);
  if (gradient.kind == EV_ERROR || stays_sparse(r, h, gradient)) return sum;
  if (gradient.kind != EV_ROWS) return ev_operation(r, LEAT_OPERATOR_ADD, sum, gradient);
  ev next = ev_rows_add(r->e, ev_tensor(sum), gradient, r->span);
  return next.kind == EV_TENSOR ? next.tensor : (leat_value){0};
}

bool ev_keep_sparse(const reversal *r, ev_history *h, uint32_t input, ev gradient,
                    leat_value count) {
  if (!stays_sparse(r, h, gradient)) return true;
  h->sparse[input] = gradient;
  h->ports[input] = r->e->at.region->built.carried.count;
  if (gradient.rows->count.node) return append(r, *h->turns, gradient);
  return stack_up(r, *h->turns, count, gradient.rows->indices) &&
         stack_up(r, *h->turns, count, gradient.rows->values);
}

// The rows of all turns, one behind the other.
static ev rows_of_turns(const reversal *r, leat_node *node, uint32_t port, uint32_t input,
                        bool counted) {
  evaluator *e = r->e;
  const leat_type *table = leat_value_type(r->node->inputs[input]);
  ev parts[2];
  if (counted)
    return ev_count_rows(e, table, (leat_value){node, port}, (leat_value){node, port + 1},
                         (leat_value){node, port + 2});
  for (uint32_t i = 0; i < 2; i++) {
    leat_value all = {node, port + i};
    const leat_type *type = leat_value_type(all);
    leat_dim *dims = leat_arena_memdup(e->arena, type->dims + 1, sizeof type->dims - sizeof *dims);
    leat_attr shape = {.count = (uint32_t)type->rank - 1, .dims = dims};
    if (!leat_dim_mul(e->graph->dims, type->dims[0], type->dims[1], &dims[0])) return ev_error();
    ev value = ev_tensor(all);
    parts[i] = ev_op(e, LEAT_OP_reshape, &value, 1, &shape, r->span, NULL);
  }
  return ev_make_rows(e, table, parts[0], parts[1]);
}

void ev_take_sparse(const reversal *r, ev_history *h, leat_node *node) {
  for (uint32_t i = r->carried; h->turns && i < r->node->input_count; i++)
    if (h->sparse[i].kind == EV_ROWS)
      h->sparse[i] = rows_of_turns(r, node, h->ports[i], i, h->sparse[i].rows->count.node);
}
