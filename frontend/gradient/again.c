// A loop, done again: as often as it turns or up to a limit, from its beginning or from some
// iteration on. It counts, and keeps what it carries, row by row: of an array that it changes in a
// few places these, and what was there, by which each turn is undone.
#include "frontend/evaluate/evaluate.h"
#include "frontend/gradient/reversal.h"
#include "ops/appended.h"
#include "ops/turns.h"

#include <assert.h>

// Arrays of fewer elements are kept whole; of others at most a quarter may change in a turn.
enum { FEW = 64, PARTS = 4 };

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

static leat_value zeros(const reversal *r, const leat_type *type) {
  ev zero = type->dtype == LEAT_bool  ? ev_bool(false)
            : type->dtype == LEAT_str ? ev_text(r->e, "", 0)
                                      : ev_int(0);
  return ev_literal_tensor(r->e, zero, type, NULL, r->span);
}

leat_value ev_new_rows(const reversal *r, const leat_type *like, leat_dim count) {
  leat_type row;
  if (!row_type(r, like, &row)) return (leat_value){0};
  leat_type type = leat_type_rows(&row, count);
  return zeros(r, &type);
}

leat_value ev_set_row(const reversal *r, leat_value rows, leat_value at, leat_value value) {
  leat_builder builder = ev_builder(r->e, r->span);
  return leat_build_set_row(&builder, ev_node_name(r->e, NULL, "row"), rows, at, value);
}

leat_value ev_no_rows(const reversal *r, uint32_t carried) {
  leat_type type = *leat_value_type(r->node->inputs[carried]);
  type.dims[0] = leat_dim_const(0);
  return zeros(r, &type);
}

// One more.
static leat_value append_row(const reversal *r, leat_value rows, leat_value value) {
  leat_builder builder = ev_builder(r->e, r->span);
  leat_type type = *leat_value_type(rows);
  leat_attr axis = {.i = 0};
  type.dims[0] = leat_dim_const(1);
  leat_value row = leat_build_reshape(&builder, ev_node_name(r->e, NULL, "row"), value, &type);
  ev inputs[] = {ev_tensor(rows), ev_tensor(row)};
  ev all = ev_op(r->e, LEAT_OP_concat, inputs, 2, &axis, r->span, NULL);
  return all.kind == EV_TENSOR ? all.tensor : (leat_value){0};
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

bool ev_is_counter(const reversal *r, uint32_t carried) {
  int64_t step;
  return is_counter(r, carried, &step);
}

bool ev_appends(const reversal *r, uint32_t carried) {
  return leat_region_result_grows(r->node, carried) && leat_loop_only_appends(r->node, carried);
}

bool ev_has_rows(const reversal *r, uint32_t carried) {
  return !ev_is_counter(r, carried) && !ev_appends(r, carried);
}

leat_value ev_recall_counter(const reversal *r, uint32_t carried, leat_value outside,
                             leat_value first, leat_value count) {
  int64_t step = 0;
  is_counter(r, carried, &step);
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

// -- What is kept of a turn -----------------------------------------------------------------------

static int64_t axis_of(const leat_node *scatter) {
  return leat_node_attr(scatter, "axis")->i;
}

// Whether the scatters change a small part of what is carried.
static bool are_few(const leat_type *carried, const leat_node_list *scatters) {
  int64_t elements = leat_type_static_elements(carried);
  if (scatters->count && elements >= 0 && elements < FEW) return false;
  for (uint32_t i = 0; i < scatters->count; i++) {
    const leat_node *node = scatters->items[i];
    int64_t count = leat_type_static_elements(leat_value_type(node->inputs[1]));
    leat_dim extent = carried->dims[axis_of(node)];
    if (count < 0) return false;
    if (leat_dim_is_const(extent) && extent.value / PARTS / scatters->count < count) return false;
  }
  return true;
}

bool ev_is_undone(const reversal *r, uint32_t carried, leat_node_list *out) {
  leat_node_list scatters = {0};
  leat_value value = r->body->yield->inputs[carried];
  for (; value.node->info->kind == LEAT_KIND_SCATTER; value = value.node->inputs[0])
    leat_vec_push(r->e->arena, &scatters, value.node);
  *out = scatters;
  bool updated = value.node == r->body->params.items[carried];
  return updated && ev_has_rows(r, carried) && are_few(leat_value_type(value), &scatters);
}

// Of what a scatter changes. The updates have that type, too, but may have dims that the body
// binds.
static leat_type changed_type(const leat_node *scatter) {
  const leat_type *all = leat_value_type(scatter->inputs[0]);
  const leat_type *indices = leat_value_type(scatter->inputs[1]);
  int64_t axis = axis_of(scatter);
  leat_type type = {.dtype = all->dtype, .rank = all->rank - 1 + indices->rank};
  for (int32_t k = 0; k < type.rank; k++)
    type.dims[k] = k < axis                   ? all->dims[k]
                   : k < axis + indices->rank ? indices->dims[k - axis]
                                              : all->dims[k - indices->rank + 1];
  return type;
}

leat_type *ev_kept_types(const reversal *r, uint32_t carried, uint32_t *count) {
  leat_node_list changes;
  bool undone = ev_is_undone(r, carried, &changes);
  leat_type *types = leat_new_array(r->e->arena, leat_type, 2 * (size_t)changes.count + 1);
  *count = undone ? 2 * changes.count : ev_has_rows(r, carried);
  *types = *leat_value_type(r->node->inputs[carried]);
  for (uint32_t i = 0; undone && i < changes.count; i++) {
    types[2 * i] = *leat_value_type(changes.items[i]->inputs[1]);
    types[2 * i + 1] = changed_type(changes.items[i]);
  }
  return types;
}

// Of a turn done again in the open body, whose scatters have these copies.
static uint32_t keep(const reversal *r, uint32_t carried, leat_value now, leat_node *const *copies,
                     leat_value *out) {
  leat_node_list changes;
  *out = now;
  if (!ev_is_undone(r, carried, &changes)) return ev_has_rows(r, carried);
  for (uint32_t i = 0; i < changes.count; i++) {
    const leat_node *copy = copies[changes.items[i]->id];
    ev inputs[] = {ev_tensor(copy->inputs[0]), ev_tensor(copy->inputs[1])};
    leat_attr axis = {.i = axis_of(copy)};
    ev before = ev_op(r->e, LEAT_OP_gather, inputs, 2, &axis, copy->span, NULL);
    out[2 * i] = copy->inputs[1];
    out[2 * i + 1] = before.kind == EV_TENSOR ? before.tensor : (leat_value){0};
  }
  return 2 * changes.count;
}

static leat_value undo(const reversal *r, leat_value changed, const leat_node_list *changes,
                       const leat_value *kept, leat_value count) {
  for (uint32_t i = 0; i < changes->count && changed.node; i++) {
    const leat_node *scatter = changes->items[i];
    leat_type type = changed_type(scatter);
    leat_value indices = ev_row(r, kept[2 * i], count, leat_value_type(scatter->inputs[1]));
    leat_value before = ev_row(r, kept[2 * i + 1], count, &type);
    if (!indices.node || !before.node) return (leat_value){0};
    ev inputs[] = {ev_tensor(changed), ev_tensor(indices), ev_tensor(before)};
    leat_attr axis = {.i = axis_of(scatter)};
    ev undone = ev_op(r->e, LEAT_OP_scatter_set, inputs, 3, &axis, r->span, NULL);
    changed = undone.kind == EV_TENSOR ? undone.tensor : (leat_value){0};
  }
  return changed;
}

leat_value ev_recall(const reversal *r, uint32_t carried, leat_value behind, const leat_value *kept,
                     leat_value count) {
  leat_node_list changes;
  if (ev_is_undone(r, carried, &changes)) return undo(r, behind, &changes, kept, count);
  return ev_row(r, *kept, count, leat_value_type(r->node->inputs[carried]));
}

void ev_type_appended(const reversal *r, leat_node *const *copies, const leat_value *params) {
  for (uint32_t i = 0; i < r->carried; i++) {
    if (!ev_appends(r, i)) continue;
    leat_node *copy = copies[r->body->yield->inputs[i].node->id];
    leat_type *type = leat_arena_memdup(r->e->arena, copy->outputs, sizeof *type);
    bool fits = leat_dim_add(r->e->graph->dims, leat_value_type(params[i])->dims[0],
                             leat_value_type(copy->inputs[1])->dims[0], &type->dims[0]);
    assert(fits); // as in the loop itself
    (void)fits;
    copy->outputs = type;
  }
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
  ev_body_ends(r->e);
  if (holds.node) ev_give(r, 0, holds);
}

static bool body_again(const reversal *r, ev_again *how) {
  evaluator *e = r->e;
  uint32_t inputs = r->node->input_count, results = r->carried + 1;
  uint32_t row_first = inputs + (how->limit.node ? 2 : 1);
  leat_value *next = leat_new_array(e->arena, leat_value, (size_t)results + how->rows);
  leat_value *values = leat_new_array(e->arena, leat_value, (size_t)how->rows + 1);
  const leat_value *params = how->params[1] = begin_body(r);
  leat_value count = ev_parameter(r, "count", inputs);
  how->copies[1] = ev_region_repeat(e, r->body, params, next);
  ev_type_appended(r, how->copies[1], params);
  for (uint32_t i = 0; how->drops && i < r->carried; i++)
    if (ev_appends(r, i)) next[i] = params[i];
  next[r->carried] = ev_operation(r, LEAT_OPERATOR_ADD, count, ev_int(1));
  for (uint32_t i = 0, row = row_first; how->kept && i < r->carried; i++) {
    uint32_t count_kept = keep(r, i, params[i], how->copies[1], values);
    for (uint32_t k = 0; k < count_kept; k++) {
      leat_value rows = ev_parameter(r, "rows", row++);
      next[results++] =
          how->appends ? append_row(r, rows, values[k]) : ev_set_row(r, rows, count, values[k]);
    }
  }
  ev_body_ends(e);
  for (uint32_t i = 0, row = row_first; i < results; i++) {
    if (!next[i].node) return false;
    ev_give(r, 1, next[i]);
    uint32_t input = i < r->carried ? i : i == r->carried ? inputs : row++;
    leat_region_carry(&e->at.region->built, input);
  }
  return true;
}

// What is carried, or captured, with the axes that it grows along.
static bool add_input(const reversal *r, const ev_again *how, uint32_t i) {
  const leat_node *loop = r->node;
  leat_region *built = &r->e->at.region->built;
  bool dropped = i < r->carried && how->drops && ev_appends(r, i);
  leat_value value = how->from && i < r->carried ? how->from[i] : loop->inputs[i];
  if (dropped) value = ev_no_rows(r, i);
  if (!value.node) return false;
  uint32_t input = leat_region_add(built, value);
  for (int32_t k = 0; !dropped && i < r->carried && k < loop->outputs[i].rank; k++)
    built->inputs.items[input].grows |= (uint32_t)leat_region_grows(loop, i, k) << k;
  return true;
}

leat_node *ev_run_again(const reversal *r, ev_again *how) {
  evaluator *e = r->e;
  uint32_t inputs = r->node->input_count;
  leat_vec(leat_value) rows = {0};
  leat_value count = how->count.node ? how->count : ev_number(r, 0);
  for (uint32_t i = 0; how->kept && i < r->carried; i++) {
    uint32_t kept;
    const leat_type *types = ev_kept_types(r, i, &kept);
    for (uint32_t k = 0; k < kept; k++) {
      leat_vec_push(e->arena, &rows, ev_new_rows(r, &types[k], *how->kept));
      if (!rows.items[rows.count - 1].node) return NULL;
    }
  }
  ev_region region;
  ev_region_begin(e, &region, LEAT_OP_while_loop, NULL, r->span);
  region.built.parallel = leat_node_attr(r->node, "parallel")->i;
  bool ok = true;
  for (uint32_t i = 0; i < inputs; i++) ok = ok && add_input(r, how, i);
  leat_region_add(&region.built, count);
  if (how->limit.node) leat_region_add(&region.built, how->limit);
  for (uint32_t i = 0; i < rows.count; i++) {
    uint32_t input = leat_region_add(&region.built, rows.items[i]);
    region.built.inputs.items[input].grows = how->appends;
  }
  how->rows = rows.count;
  condition_again(r, how);
  if (ok && body_again(r, how)) return ev_region_end(e, NULL);
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

// Whether somebody sees what it does, beside its results.
static bool acts(const leat_node *loop) {
  for (int b = 0; b < LEAT_REGION_BODIES; b++) {
    const leat_graph *body = leat_node_body(loop, b);
    for (uint32_t i = 0; i < body->nodes.count; i++)
      if (body->nodes.items[i]->effect && body->nodes.items[i] != body->yield) return true;
  }
  return false;
}

bool ev_may_replace(const reversal *r) {
  return ev_is_taken_back_with_us(r->e, r->node) && !acts(r->node);
}

// What grows has the dims that it has already.
static void take_dims(leat_graph *graph, leat_node *by, const leat_node *loop) {
  const leat_attr *own = leat_node_attr(loop, "dims");
  leat_attr all = *leat_node_attr(by, "dims");
  if (!own->count) return;
  leat_dim *dims = leat_arena_memdup(graph->arena, all.dims, all.count * sizeof *dims);
  for (uint32_t i = 0; i < own->count; i++) dims[i] = own->dims[i];
  all.dims = dims;
  leat_node_set_attr(graph, by, "dims", all);
  leat_type *outputs =
      leat_arena_memdup(graph->arena, by->outputs, by->output_count * sizeof *outputs);
  for (uint32_t i = 0; i < loop->output_count; i++) outputs[i] = loop->outputs[i];
  by->outputs = outputs;
}

void ev_replace_loop(const reversal *r, leat_node *by, const ev_again *how) {
  evaluator *e = r->e;
  const leat_graph *bodies[] = {r->condition, r->body};
  leat_vec_push(e->arena, &e->replaced, (ev_replaced){r->node, by});
  take_dims(e->at.body, by, r->node);
  for (int b = 0; b < 2; b++) {
    for (uint32_t i = 0; i < bodies[b]->params.count; i++)
      leat_graph_rename_node(e->at.body, how->params[b][i].node, bodies[b]->params.items[i]->name);
    for (uint32_t i = 0; i < bodies[b]->nodes.count; i++)
      if (how->copies[b][i]) take_names(e->at.body, how->copies[b][i], bodies[b]->nodes.items[i]);
    leat_graph_rename_node(e->at.body, leat_node_body(by, b)->yield, bodies[b]->yield->name);
  }
}
