// A loop, done again: as often as it turns or up to a limit, from its beginning or from some
// iteration on. It counts, and keeps what it carries, row by row (kept.c). Where nobody sees that
// it is another loop, it takes the loop's place.
#include "frontend/evaluate/evaluate.h"
#include "frontend/gradient/reversal.h"
#include "ops/appended.h"

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
    uint32_t count_kept = ev_keep(r, i, params[i], how->copies[1], values);
    for (uint32_t k = 0; k < count_kept; k++) {
      leat_value rows = ev_parameter(r, "rows", row++);
      next[results++] =
          how->appends ? ev_append_row(r, rows, values[k]) : ev_set_row(r, rows, count, values[k]);
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

void ev_take_history(const reversal *r, leat_node *again, const leat_value *from, ev_history *out) {
  uint32_t port = r->carried;
  out->count = (leat_value){again, port};
  out->kept = leat_new_array(r->e->arena, leat_value *, (size_t)r->carried + 1);
  for (uint32_t i = 0; i < r->carried; i++) {
    uint32_t kept;
    ev_kept_types(r, i, &kept);
    out->kept[i] = leat_new_array(r->e->arena, leat_value, (size_t)kept + 1);
    *out->kept[i] = from[i];
    for (uint32_t k = 0; k < kept; k++) out->kept[i][k] = (leat_value){again, ++port};
  }
}

// -- In its place ---------------------------------------------------------------------------------

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
