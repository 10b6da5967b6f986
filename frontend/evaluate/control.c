// `if` and `while`: what is known while compiling is evaluated away, the rest becomes regions.
#include "frontend/evaluate/calls.h"
#include "frontend/evaluate/region.h"
#include "frontend/evaluate/statements.h"
#include "frontend/evaluate/types.h"
#include "ops/shape.h"

#include <string.h>

// -- Types of results ---------------------------------------------------------------------------

static bool is_predicate(const leat_type *type) {
  return type->dtype == LEAT_bool && type->rank == 0;
}

static leat_value predicate_of(evaluator *e, const leat_stmt *stmt, ev condition) {
  leat_value value = ev_as_tensor(e, condition, -1, stmt->condition->span);
  if (!value.node || is_predicate(leat_value_type(value))) return value;
  const leat_type *type = leat_value_type(value);
  const char *hint = type->dtype != LEAT_bool ? "a comparison, such as `x > 0`, gives one"
                                              : "`any` and `all` make one of it";
  ev_fail(e, stmt->condition->span, "the condition of `%s` is one bool, this is %s; %s",
          stmt->kind == LEAT_STMT_IF ? "if" : "while", leat_type_text(e->arena, type), hint);
  return (leat_value){0};
}

static bool may_be_equal(evaluator *e, const leat_type *a, const leat_type *b) {
  bool may = a->dtype == b->dtype && a->rank == b->rank;
  for (int32_t i = 0; may && i < a->rank; i++)
    may = leat_dims_may_be_equal(e->graph, a->dims[i], b->dims[i]);
  return may;
}

// A value that is to have the type, where only a running step can tell with a check. {NULL}: it has
// another; not reported.
static leat_value as_type(evaluator *e, leat_value value, const leat_type *type, leat_span span) {
  leat_builder builder = ev_builder(e, span);
  if (leat_type_equal(leat_value_type(value), type)) return value;
  if (!may_be_equal(e, leat_value_type(value), type)) return (leat_value){0};
  return leat_build_ensure(&builder, value, type);
}

// -- If -----------------------------------------------------------------------------------------

// The values that the targets get of an `if`: tensors, or where it is decided while compiling
// anything.
typedef struct choice {
  const ev_aim *aims;
  uint32_t count;
  ev *values;
} choice;

static bool if_values(evaluator *e, const leat_stmt *stmt, choice *out);

static const leat_stmt *yield_of(const leat_stmts *block) {
  for (uint32_t i = 0; i < block->count; i++)
    if (block->items[i]->kind == LEAT_STMT_YIELD) return block->items[i];
  return NULL;
}

static bool is_else_if(const leat_stmts *block) {
  return block->count == 1 && block->items[0]->kind == LEAT_STMT_IF &&
         !block->items[0]->targets.count;
}

// What the block yields, evaluated in the scope that is there. False: reported.
static bool block_values(evaluator *e, const leat_stmt *stmt, const leat_stmts *block,
                         choice *out) {
  if (out->count && is_else_if(block)) return if_values(e, block->items[0], out);
  const leat_stmt *yield = yield_of(block);
  uint32_t given = yield ? yield->values.count : 0, errors = leat_diag_errors(e->diag);
  if (given != out->count) {
    ev_fail(e, stmt->span, "each side of this `if` must yield %u value%s", out->count,
            out->count == 1 ? "" : "s");
    return false;
  }
  ev_statements(e, block);
  for (uint32_t i = 0; i < out->count && !e->frame->returned; i++)
    out->values[i] = ev_target_value(e, &out->aims[i], yield->values.items[i]);
  return leat_diag_errors(e->diag) == errors;
}

// -- If, while running --------------------------------------------------------------------------

static const char *target_name(const choice *c, uint32_t i) {
  const char *name = c->aims[i].target->name;
  return name ? name : "_";
}

// A literal stays one: it takes the dtype of what the other side yields.
static void settle(evaluator *e, choice *c, leat_span span) {
  for (uint32_t i = 0; i < c->count; i++)
    if (!ev_takes_dtype(c->values[i]) && c->values[i].kind != EV_STRING)
      c->values[i] = ev_tensor(ev_as_tensor(e, c->values[i], -1, span));
}

static bool branch(evaluator *e, const leat_stmt *stmt, const leat_stmts *block, choice *out) {
  uint32_t errors = leat_diag_errors(e->diag);
  ev_region_open(e);
  bool ok = block_values(e, stmt, block, out);
  if (ok && e->frame->returned) {
    e->frame->returned = false;
    ev_fail(e, stmt->condition->span,
            "a `return` cannot depend on what is known only while running: bind its value, "
            "`y = if %s { … yield … } else { … yield … }`, and return that",
            ev_source_text(e, stmt->condition->span));
  }
  if (ok) settle(e, out, stmt->span);
  ev_region_close(e);
  return leat_diag_errors(e->diag) == errors;
}

static leat_value tensor_of_pair(evaluator *e, ev value, ev other, leat_span span) {
  const leat_type *type = ev_tensor_type(other);
  bool inexact = ev_has_kind(other, EV_FLOAT) || ev_has_kind(value, EV_FLOAT);
  return ev_as_tensor(e, value, type ? (int)type->dtype : inexact ? LEAT_f32 : -1, span);
}

static bool report_types(evaluator *e, const leat_stmt *stmt, const choice *c, uint32_t i,
                         leat_value then, leat_value otherwise) {
  ev_fail(e, stmt->span, "`%s` is %s where the condition holds, and %s where it does not",
          target_name(c, i), leat_type_text(e->arena, leat_value_type(then)),
          leat_type_text(e->arena, leat_value_type(otherwise)));
  return false;
}

// Literals become constants outside, which both branches may take.
static bool give(evaluator *e, const leat_stmt *stmt, const choice *then, const choice *otherwise) {
  leat_region *built = &e->region->built;
  leat_builder builder = ev_builder(e, stmt->span);
  ev_region *inside = e->region;
  for (uint32_t i = 0; i < then->count; i++) {
    e->region = inside->outer;
    leat_value a = tensor_of_pair(e, then->values[i], otherwise->values[i], stmt->span);
    leat_value b = tensor_of_pair(e, otherwise->values[i], then->values[i], stmt->span);
    e->region = inside;
    if (!a.node || !b.node) return false;
    if (!leat_type_equal(leat_value_type(a), leat_value_type(b)))
      return report_types(e, stmt, then, i, a, b);
    leat_region_give(built, &builder, 0, a);
    leat_region_give(built, &builder, 1, b);
  }
  return true;
}

static bool if_running(evaluator *e, const leat_stmt *stmt, ev condition, choice *out) {
  leat_value predicate = predicate_of(e, stmt, condition);
  if (!predicate.node) return false;
  if (out->count && !stmt->has_else) {
    ev_fail(e, stmt->span, "an `if` that gives values has an `else`");
    return false;
  }
  choice otherwise = *out;
  otherwise.values = leat_new_array(e->arena, ev, (size_t)out->count + 1);
  ev_region region;
  ev_region_begin(e, &region, LEAT_OP_conditional, out->count ? out->aims[0].hint : "if",
                  stmt->span);
  bool ok = branch(e, stmt, &stmt->body, out);
  ok = branch(e, stmt, &stmt->otherwise, &otherwise) && ok;
  if (!ok || !give(e, stmt, out, &otherwise)) {
    ev_region_drop(e);
    return false;
  }
  leat_node *node = ev_region_end(e, &predicate);
  for (uint32_t i = 0; node && i < out->count; i++)
    out->values[i] = ev_tensor((leat_value){node, i});
  return node;
}

// -- If, while compiling ------------------------------------------------------------------------

static bool if_values(evaluator *e, const leat_stmt *stmt, choice *out) {
  ev condition = ev_expr(e, stmt->condition, NULL);
  if (ev_is_tensor(condition)) return if_running(e, stmt, condition, out);
  if (condition.kind != EV_BOOL) {
    if (condition.kind != EV_ERROR)
      ev_fail(e, stmt->condition->span, "the condition of `if` is a bool, found %s",
              ev_kind_name(condition));
    return false;
  }
  const leat_stmts *block = condition.i ? &stmt->body : &stmt->otherwise;
  ev_scope *outer = e->frame->scope;
  if (out->count) e->frame->scope = ev_scope_new(e, outer);
  bool ok = block_values(e, stmt, block, out);
  e->frame->scope = outer;
  return ok;
}

void ev_if(evaluator *e, const leat_stmt *stmt) {
  choice c = {.aims = ev_aims_of(e, &stmt->targets), .count = stmt->targets.count};
  c.values = leat_new_array(e->arena, ev, (size_t)c.count + 1);
  bool ok = if_values(e, stmt, &c);
  if (e->frame->returned) return;
  if (!ok) ev_bind_nothing(e, stmt);
  for (uint32_t i = 0; ok && i < c.count; i++) ev_bind_target(e, &c.aims[i], c.values[i]);
}

// -- While --------------------------------------------------------------------------------------

// The first values, of the types that are written.
static bool first_values(evaluator *e, const leat_stmt *stmt, leat_value *out) {
  bool ok = true;
  for (uint32_t i = 0; i < stmt->carried.count; i++) {
    const leat_binding *carried = &stmt->carried.items[i];
    ev value = ev_value(e, carried->value, carried->name);
    if (carried->type)
      value = ev_fit(e, carried->type, value, carried->value->span, carried->name, NULL);
    out[i] = ev_as_tensor(e, value, -1, carried->value->span);
    ok = ok && out[i].node;
  }
  return ok;
}

static void bind_carried(evaluator *e, const leat_stmt *stmt) {
  leat_builder builder = ev_builder(e, stmt->span);
  for (uint32_t i = 0; i < stmt->carried.count; i++) {
    const leat_binding *carried = &stmt->carried.items[i];
    leat_value param = leat_region_parameter(&e->region->built, &builder, carried->name, i);
    ev_bind(e, e->frame->scope, carried->span, carried->name, ev_tensor(param));
  }
}

static bool evaluate_condition(evaluator *e, const leat_stmt *stmt, leat_value *out) {
  uint32_t errors = leat_diag_errors(e->diag);
  ev_region_open(e);
  bind_carried(e, stmt);
  *out = predicate_of(e, stmt, ev_expr(e, stmt->condition, NULL));
  ev_region_close(e);
  return leat_diag_errors(e->diag) == errors;
}

static const leat_stmt *next_of(const leat_stmts *block) {
  for (uint32_t i = 0; i < block->count; i++)
    if (block->items[i]->kind == LEAT_STMT_NEXT) return block->items[i];
  return NULL;
}

static leat_value next_value(evaluator *e, const leat_stmt *stmt, const leat_expr *from,
                             uint32_t i) {
  const leat_binding *carried = &stmt->carried.items[i];
  const leat_type *type = leat_value_type(e->region->built.inputs.items[i].value);
  ev value = ev_value(e, from, carried->name);
  leat_value next = ev_as_tensor(e, value, (int)type->dtype, from->span);
  leat_value fitting = next.node ? as_type(e, next, type, from->span) : next;
  if (next.node && !fitting.node) {
    ev_fail(e, from->span, "the loop carries `%s` as %s, and its next value is %s", carried->name,
            leat_type_text(e->arena, type), leat_type_text(e->arena, leat_value_type(next)));
    leat_note_at(e->diag, carried->span,
                 carried->type ? "its first value is here"
                               : "its first value is here; `%s: f32[] = …` says its type",
                 carried->name);
  }
  return fitting;
}

static void next_values(evaluator *e, const leat_stmt *stmt, leat_value *out) {
  const leat_stmt *next = next_of(&stmt->body);
  uint32_t count = stmt->carried.count;
  if (!next || next->values.count != count) {
    ev_fail(e, next ? next->span : stmt->span,
            "the body of this `while` ends in `next`, with %u value%s", count,
            count == 1 ? "" : "s");
    return;
  }
  for (uint32_t i = 0; i < count; i++) out[i] = next_value(e, stmt, next->values.items[i], i);
}

// The next number of the iteration, where somebody asked for it; {NULL}: nobody has.
static leat_value next_iteration(evaluator *e) {
  ev_region *region = e->region;
  if (!region->iteration) return (leat_value){0};
  leat_builder builder = ev_builder(e, region->span);
  leat_value now =
      leat_region_parameter(&region->built, &builder, "iteration", region->iteration - 1);
  ev next = ev_operator(e, LEAT_OPERATOR_ADD, ev_tensor(now), ev_int(1), region->span, NULL);
  return next.kind == EV_TENSOR ? next.tensor : (leat_value){0};
}

static bool evaluate_body(evaluator *e, const leat_stmt *stmt, leat_value *next) {
  uint32_t errors = leat_diag_errors(e->diag), count = stmt->carried.count;
  ev_region_open(e);
  bind_carried(e, stmt);
  ev_statements(e, &stmt->body);
  if (leat_diag_errors(e->diag) == errors) next_values(e, stmt, next);
  if (leat_diag_errors(e->diag) == errors) next[count] = next_iteration(e);
  ev_region_close(e);
  return leat_diag_errors(e->diag) == errors;
}

static bool evaluate_loop(evaluator *e, const leat_stmt *stmt) {
  leat_region *built = &e->region->built;
  uint32_t count = stmt->carried.count;
  leat_value condition, *next = leat_new_array(e->arena, leat_value, (size_t)count + 1);
  if (!evaluate_condition(e, stmt, &condition)) return false;
  for (uint32_t i = 0; i < e->region->states.count; i++)
    if (e->region->states.items[i].written) {
      ev_fail(e, stmt->condition->span, "the condition of a `while` cannot change `%s`",
              e->region->states.items[i].state->name);
      return false;
    }
  if (!evaluate_body(e, stmt, next)) return false;
  leat_builder builder = ev_builder(e, stmt->span);
  leat_region_give(built, &builder, 0, condition);
  for (uint32_t i = 0; i < count; i++) {
    leat_region_give(built, &builder, 1, next[i]);
    leat_region_carry(built, i);
  }
  if (!next[count].node) return true;
  leat_region_give(built, &builder, 1, next[count]);
  leat_region_carry(built, e->region->iteration - 1);
  return true;
}

static leat_node *while_node(evaluator *e, const leat_stmt *stmt, const ev_aim *aims) {
  uint32_t count = stmt->carried.count;
  leat_value *first = leat_new_array(e->arena, leat_value, (size_t)count + 1);
  if (!first_values(e, stmt, first)) return NULL;
  ev_region region;
  ev_region_begin(e, &region, LEAT_OP_while_loop, stmt->targets.count ? aims[0].hint : "while",
                  stmt->span);
  for (uint32_t i = 0; i < count; i++) leat_region_add(&region.built, first[i]);
  if (evaluate_loop(e, stmt)) return ev_region_end(e, NULL);
  ev_region_drop(e);
  return NULL;
}

void ev_while(evaluator *e, const leat_stmt *stmt) {
  uint32_t count = stmt->targets.count;
  const ev_aim *aims = ev_aims_of(e, &stmt->targets);
  leat_node *node = NULL;
  if (count && count != stmt->carried.count)
    ev_fail(e, stmt->span, "%u name%s for the %u value%s that the loop carries", count,
            count == 1 ? "" : "s", stmt->carried.count, stmt->carried.count == 1 ? "" : "s");
  else
    node = while_node(e, stmt, aims);
  if (!node) ev_bind_nothing(e, stmt);
  for (uint32_t i = 0; node && i < count; i++)
    ev_bind_target(e, &aims[i], ev_tensor((leat_value){node, i}));
}

// -- Canonical text -----------------------------------------------------------------------------

static bool make_parameter(evaluator *e, const leat_binding *param, uint32_t index) {
  leat_type *type = leat_new(e->arena, leat_type);
  if (!ev_type_of(e, param->type, type)) return false;
  leat_attr attrs[] = {{.i = index}, {.type = type}};
  leat_builder builder = ev_builder(e, param->span);
  return leat_build(&builder, param->name, LEAT_OP_parameter, NULL, 0, attrs).node;
}

leat_graph *ev_body(evaluator *e, const leat_stmt *body) {
  uint32_t errors = leat_diag_errors(e->diag), first = e->graph->nodes.count;
  bool absolute = e->absolute;
  const char *path = e->path, *place = e->place;
  e->place = NULL;
  for (uint32_t i = 0; i < body->params.count; i++)
    if (!make_parameter(e, &body->params.items[i], i)) return NULL;
  ev_statements(e, &body->body);
  const leat_stmt *yield = yield_of(&body->body);
  uint32_t count = yield ? yield->values.count : 0;
  leat_value *results = leat_new_array(e->arena, leat_value, (size_t)count + 1);
  if (!yield) ev_fail(e, body->span, "this body ends in no `yield`");
  for (uint32_t i = 0; i < count && leat_diag_errors(e->diag) == errors; i++)
    results[i] = ev_as_tensor(e, ev_expr(e, yield->values.items[i], NULL), -1, yield->span);
  e->absolute = absolute;
  e->path = path;
  e->place = place;
  if (leat_diag_errors(e->diag) != errors) return NULL;
  leat_builder builder = ev_builder(e, body->span);
  leat_graph *made = leat_body_of(&builder, first, results, count);
  if (!made) ev_fail(e, body->span, "a body uses its parameters and what stands in it alone");
  return made;
}
