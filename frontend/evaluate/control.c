// `if` and `while`: what is known while compiling is evaluated away, the rest becomes regions.
#include "frontend/evaluate/calls.h"
#include "frontend/evaluate/statements.h"
#include "frontend/evaluate/types.h"
#include "frontend/values/names.h"
#include "frontend/values/region.h"
#include "ops/appended.h"
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
  const char *hint =
      type->dtype != LEAT_bool ? "a comparison, such as `x > 0`, gives one"
      : stmt->kind == LEAT_STMT_IF
          ? "`any` and `all` make one of it, `where(p, x, y)` chooses for each element"
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
  const ev *beside; // of an `else if`: what is yielded where a condition before it holds, or NULL
  leat_vec(bool) numbers; // for each leaf: it is one on both sides
} choice;

static bool if_values(evaluator *e, const leat_stmt *stmt, choice *out);

const leat_stmt *ev_last_of(const leat_stmts *block, leat_stmt_kind kind) {
  const leat_stmt *last = block->count ? block->items[block->count - 1] : NULL;
  return last && last->kind == kind ? last : NULL;
}

static bool is_else_if(const leat_stmts *block) {
  return block->count == 1 && block->items[0]->kind == LEAT_STMT_IF &&
         !block->items[0]->targets.count;
}

// Whether the block yields as many values as there are targets. False: reported.
static bool yields(evaluator *e, const leat_stmt *stmt, const leat_stmts *block, uint32_t count) {
  const leat_stmt *yield = ev_last_of(block, LEAT_STMT_YIELD);
  uint32_t given = yield ? yield->values.count : 0;
  if (given == count || (count && is_else_if(block))) return true;
  ev_fail(e, yield ? yield->span : stmt->span,
          "each side of this `if` ends in `yield`, with %u value%s: `{ … yield x%s }`", count,
          count == 1 ? "" : "s", count == 1 ? "" : ", …");
  return false;
}

// What the block yields, evaluated in the scope that is there. False: reported.
static bool block_values(evaluator *e, const leat_stmt *stmt, const leat_stmts *block,
                         choice *out) {
  if (out->count && is_else_if(block)) return if_values(e, block->items[0], out);
  const leat_stmt *yield = ev_last_of(block, LEAT_STMT_YIELD);
  uint32_t errors = leat_diag_errors(e->diag);
  if (!yields(e, stmt, block, out->count)) return false;
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
static ev settled(evaluator *e, ev value, leat_span span) {
  if (value.kind == EV_NONE)
    return ev_fail(e, span,
                   "a side of this `if` gives none: whether there is a value is to be known while "
                   "compiling; make the condition a constant, or give a tensor on both sides");
  if (value.kind != EV_LIST)
    return ev_takes_dtype(value) || value.kind == EV_STRING
               ? value
               : ev_tensor(ev_as_tensor(e, value, -1, span));
  ev *items = leat_new_array(e->arena, ev, (size_t)value.list->count + 1);
  for (uint32_t i = 0; i < value.list->count; i++)
    items[i] = settled(e, value.list->items[i], span);
  return ev_take_list(e, items, value.list->count);
}

static bool branch(evaluator *e, const leat_stmt *stmt, const leat_stmts *block, choice *out) {
  uint32_t errors = leat_diag_errors(e->diag);
  ev_region_open(e);
  e->frame->scope->fleeting = !out->count;
  bool ok = block_values(e, stmt, block, out);
  if (ok && e->frame->returned) {
    e->frame->returned = false;
    ev_fail(e, stmt->condition->span,
            "a `return` cannot depend on what is known only while running: bind its value, "
            "`y = if %s { … yield … } else { … yield … }`, and return that",
            ev_source_text(e, stmt->condition->span));
  }
  for (uint32_t i = 0; ok && i < out->count; i++)
    out->values[i] = settled(e, out->values[i], stmt->span);
  ev_body_ends(e);
  return leat_diag_errors(e->diag) == errors;
}

static bool is_number(const evaluator *e, ev value) {
  return ev_is_weak(e, value) || ev_is_of_numbers(e, value);
}

static const leat_type *strong_type(const evaluator *e, ev value) {
  return ev_is_weak(e, value) ? NULL : ev_tensor_type(value);
}

// The dtype of what is a number or made of numbers, beside the other side's; -1: its own, of ints.
static int dtype_of_pair(const evaluator *e, ev value, ev other, ev beside) {
  const leat_type *type = strong_type(e, other);
  if (!type) type = strong_type(e, beside);
  if (type) return (int)type->dtype;
  int a = ev_dtype_of_numbers(e, value), b = ev_dtype_of_numbers(e, other);
  if (b < 0 || (a >= 0 && ev_rank_of((leat_dtype)a) >= ev_rank_of((leat_dtype)b))) b = a;
  return b < 0 ? b : (int)ev_running_dtype((leat_dtype)b);
}

// `body`: that the value is given by. What is computed of numbers in it is settled there.
static leat_value tensor_of_pair(evaluator *e, uint32_t body, ev value, ev other, ev beside,
                                 leat_span span) {
  int dtype = dtype_of_pair(e, value, other, beside);
  bool tensor = value.kind == EV_TENSOR;
  bool inside = tensor && value.tensor.node->graph == e->at.region->built.bodies[body].graph;
  if (tensor && (dtype < 0 || !ev_is_weak(e, value))) return value.tensor;
  ev_context from = inside ? ev_step_into(e, body) : ev_step_out(e);
  leat_value settled = tensor ? ev_settle(e, value.tensor, (leat_dtype)dtype, span)
                              : ev_as_tensor(e, value, dtype, span);
  e->at = from;
  return settled;
}

static bool report_sides(evaluator *e, const leat_stmt *stmt, const char *name, ev then,
                         ev otherwise) {
  ev_fail(e, stmt->span, "`%s` is %s where the condition holds, and %s where it does not", name,
          ev_form_text(e, then), ev_form_text(e, otherwise));
  return false;
}

// The axes along which they differ, of those declared `?`.
static uint32_t differing_axes(const leat_expr *declared, const leat_type *a, const leat_type *b) {
  uint32_t all = (1u << a->rank) - 1;
  uint32_t axes = ev_grows_anyhow(declared) ? all : ev_growing_axes(declared, a);
  if (a->rank != b->rank) return 0;
  for (int32_t k = 0; k < a->rank; k++)
    if (axes >> k & 1 && leat_dim_equal(a->dims[k], b->dims[k])) axes -= 1u << k;
  return axes;
}

// Literals become constants outside, which both branches may take.
static bool give_leaf(evaluator *e, const leat_stmt *stmt, choice *c, uint32_t i,
                      const ev_leaf *then, const ev_leaf *otherwise) {
  const leat_binding *target = c->aims[i].target;
  const char *name = target_name(c, i);
  ev beside = c->beside ? c->beside[i] : ev_none();
  leat_region *built = &e->at.region->built;
  leat_value a = tensor_of_pair(e, 0, then->value, otherwise->value, beside, stmt->span);
  leat_value b = tensor_of_pair(e, 1, otherwise->value, then->value, beside, stmt->span);
  if (!a.node || !b.node) return false;
  uint32_t axes = differing_axes(target->type, leat_value_type(a), leat_value_type(b));
  leat_type wanted = ev_grown_to(leat_value_type(a), axes, b);
  if (!leat_type_equal(&wanted, leat_value_type(b))) {
    report_sides(e, stmt, leat_arena_printf(e->arena, "%s%s", name, then->place), ev_tensor(a),
                 ev_tensor(b));
    if (wanted.rank == leat_value_type(b)->rank && wanted.dtype == leat_value_type(b)->dtype)
      leat_note_at(
          e->diag, target->span, "declared as `%s: %s = …` it may have either extent", name,
          ev_open_type(e, ev_growing_axes(target->type, &wanted), &wanted, leat_value_type(b)));
    return false;
  }
  bool numbers = is_number(e, then->value) && is_number(e, otherwise->value);
  leat_vec_push(e->arena, &c->numbers, numbers && ev_rank_of(leat_value_type(a)->dtype));
  leat_region_grow(built, built->bodies[0].results.count, axes);
  leat_region_give(built, 0, a);
  leat_region_give(built, 1, b);
  return true;
}

// The form of each value is left in `then`.
static bool give(evaluator *e, const leat_stmt *stmt, choice *then, const choice *otherwise) {
  ev_leaves a = {0}, b = {0};
  for (uint32_t i = 0; i < then->count; i++) {
    const char *name = target_name(then, i);
    uint32_t first = a.count;
    ev form = ev_take_apart(e, then->values[i], otherwise->values[i], &a, &b);
    if (form.kind == EV_ERROR) return false;
    if (form.kind == EV_NONE)
      return report_sides(e, stmt, name, then->values[i], otherwise->values[i]);
    for (uint32_t k = first; k < a.count; k++)
      if (!give_leaf(e, stmt, then, i, &a.items[k], &b.items[k])) return false;
    then->values[i] = form;
  }
  return true;
}

// The outputs of the node, as its values are made of them. What are numbers on both sides are
// numbers behind it.
static void take_outputs(evaluator *e, const leat_stmt *stmt, leat_node *node, const choice *out) {
  ev *outputs = leat_new_array(e->arena, ev, (size_t)node->output_count + 1);
  for (uint32_t i = 0; i < node->output_count; i++) outputs[i] = ev_tensor((leat_value){node, i});
  for (uint32_t i = 0; i < out->numbers.count; i++)
    if (out->numbers.items[i]) outputs[i] = ev_given_number(e, outputs[i].tensor, stmt->span);
  for (uint32_t i = 0; i < out->count; i++)
    out->values[i] = ev_put_together(e, out->values[i], outputs);
}

// For the conditions behind this one: what the others yielded, or where that are numbers, what was
// before it.
static const ev *yielded(evaluator *e, const choice *then) {
  ev *values = leat_new_array(e->arena, ev, (size_t)then->count + 1);
  for (uint32_t i = 0; i < then->count; i++)
    values[i] =
        strong_type(e, then->values[i]) || !then->beside ? then->values[i] : then->beside[i];
  return values;
}

static bool if_running(evaluator *e, const leat_stmt *stmt, ev condition, choice *out) {
  leat_value predicate = predicate_of(e, stmt, condition);
  if (!predicate.node) return false;
  if (out->count && !stmt->has_else) {
    ev_fail(e, stmt->span, "an `if` that gives values has an `else`");
    return false;
  }
  if (!yields(e, stmt, &stmt->body, out->count) || !yields(e, stmt, &stmt->otherwise, out->count))
    return false;
  choice otherwise = *out;
  otherwise.values = leat_new_array(e->arena, ev, (size_t)out->count + 1);
  ev_region region;
  ev_region_begin(e, &region, LEAT_OP_conditional, out->count ? out->aims[0].hint : "if",
                  stmt->span);
  bool ok = branch(e, stmt, &stmt->body, out);
  if (ok) otherwise.beside = yielded(e, out);
  ok = branch(e, stmt, &stmt->otherwise, &otherwise) && ok;
  if (!ok || !give(e, stmt, out, &otherwise)) {
    ev_region_drop(e);
    return false;
  }
  leat_node *node = ev_region_end(e, &predicate);
  if (node) take_outputs(e, stmt, node, out);
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
  if (out->count) ev_scope_close(e, outer);
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

typedef struct loop {
  const leat_stmt *stmt;
  ev *forms;           // of what each name carries
  ev_leaves leaves;    // their first values, which are the first inputs
  uint32_t *begins;    // the first leaf of each name, and the number of all
  ev_carry *carries;   // what is known of each leaf
  ev_carry *evaluated; // with which it is evaluated
  leat_value *params;  // of each leaf, in the body
} loop;

static ev first_of(evaluator *e, const leat_binding *carried) {
  const leat_expr *declared = carried->type;
  bool typed = declared && ev_is_tensor_type(declared) && carried->value->kind == LEAT_EXPR_CALL;
  for (uint32_t i = 0; typed && i < declared->items.count; i++)
    typed = declared->items.items[i]->kind != LEAT_EXPR_ANY_DIM;
  leat_type type;
  if (!typed) return ev_value(e, carried->value, carried->name);
  return ev_type_of(e, declared, &type) ? ev_value_as(e, carried->value, &type) : ev_error();
}

// A number stays one.
static ev first_leaf(evaluator *e, ev value, leat_span span) {
  leat_value tensor = ev_as_tensor(e, value, -1, span);
  bool number = tensor.node && ev_is_of_numbers(e, value);
  if (number && ev_rank_of(leat_value_type(tensor)->dtype)) ev_make_weak(e, tensor, value);
  ev leaf = ev_tensor(tensor);
  leaf.typed = value.kind == EV_TENSOR && value.typed;
  return leaf;
}

// The first values, of the types that are written.
static bool first_values(evaluator *e, loop *l) {
  const leat_bindings *carried = &l->stmt->carried;
  uint32_t errors = leat_diag_errors(e->diag);
  ev_leaves again = {0};
  l->forms = leat_new_array(e->arena, ev, (size_t)carried->count + 1);
  l->begins = leat_new_array(e->arena, uint32_t, (size_t)carried->count + 1);
  for (uint32_t i = 0; i < carried->count; i++) {
    const leat_binding *c = &carried->items[i];
    ev value = first_of(e, c);
    value = ev_fit_open(e, c->type, value, c->value->span);
    if (c->type) value = ev_fit(e, c->type, value, c->value->span, c->name, NULL);
    l->forms[i] = ev_take_apart(e, value, value, &l->leaves, &again);
    l->begins[i + 1] = l->leaves.count;
    for (uint32_t k = l->begins[i]; k < l->leaves.count; k++) {
      ev *leaf = &l->leaves.items[k].value;
      *leaf = first_leaf(e, *leaf, c->value->span);
    }
  }
  return leat_diag_errors(e->diag) == errors;
}

static void declare_growing(const loop *l) {
  const leat_bindings *carried = &l->stmt->carried;
  for (uint32_t i = 0; i < carried->count; i++)
    for (uint32_t k = l->begins[i]; k < l->begins[i + 1]; k++)
      l->carries[k].grows |=
          ev_growing_axes(carried->items[i].type, leat_value_type(l->leaves.items[k].value.tensor));
}

static bool is_whole(const ev_carry *carry) {
  return ev_rank_of(carry->dtype) == 1;
}

// condition: of that; a count is no wider for what it meets in the body.
static void bind_carried(evaluator *e, const loop *l, bool condition) {
  bool trying = e->loops && e->loops->trying;
  ev *params = leat_new_array(e->arena, ev, (size_t)l->leaves.count + 1);
  for (uint32_t i = 0; i < l->stmt->carried.count; i++) {
    const leat_binding *carried = &l->stmt->carried.items[i];
    for (uint32_t k = l->begins[i]; k < l->begins[i + 1]; k++) {
      const char *name = ev_leaf_name(e, carried->name, &l->leaves.items[k]);
      l->params[k] = leat_region_parameter(&e->at.region->built, name, k);
      params[k] = ev_tensor(l->params[k]);
      ev_carry *carry = &l->carries[k];
      if (l->evaluated[k].weak)
        ev_make_carried(e, l->params[k], trying && condition ? carry : NULL);
      ev_add_alias(e, name, params[k]);
    }
    ev_scope *scope = e->frame->scope;
    if (ev_bind(e, scope, carried->span, carried->name, ev_put_together(e, l->forms[i], params)))
      ev_lookup(scope, carried->name)->carried = true;
  }
}

static bool evaluate_condition(evaluator *e, const loop *l, leat_value *out) {
  uint32_t errors = leat_diag_errors(e->diag);
  ev_region_open(e);
  bind_carried(e, l, true);
  ev condition = ev_expr(e, l->stmt->condition, NULL);
  if (condition.kind == EV_BOOL && condition.i && !ev_in_library(e->frame))
    leat_warn_at(
        e->diag, l->stmt->condition->span,
        "this condition always holds, so that the loop has no end; one of what it carries ends "
        "it: `while (t = 0, more = true) more and t < n { … }`");
  *out = predicate_of(e, l->stmt, condition);
  ev_body_ends(e);
  return out->node && leat_diag_errors(e->diag) == errors;
}

static void report_next(evaluator *e, const leat_binding *carried, const char *place, ev first,
                        ev next, leat_span span) {
  const leat_type *type = ev_tensor_type(first);
  bool integers = type && leat_dtype_in_class(type->dtype, LEAT_CLASS_INTEGER);
  ev_fail(e, span, "the loop carries `%s%s` as %s, and its next value is %s%s", carried->name,
          place, ev_form_text(e, first), ev_form_text(e, next),
          integers && next.kind == EV_TENSOR ? leat_quotient_hint(next.tensor) : "");
  if (ev_in_library(e->frame)) return;
  const char *note = "its first value is here";
  bool tensors = first.kind == EV_TENSOR && next.kind == EV_TENSOR;
  bool converts = tensors && ev_tensor_type(first)->dtype != ev_tensor_type(next)->dtype;
  bool grows = tensors && !ev_tensor_type(first)->rank && ev_tensor_type(next)->rank;
  if ((converts || grows) && !carried->type && !*place)
    note = leat_arena_printf(e->arena, "its first value is here; `%s: %s = …` says its type",
                             carried->name, ev_form_text(e, next));
  else if (first.kind == EV_LIST && next.kind == EV_LIST && first.list->count < next.list->count)
    note = "its first value is here; no list grows in a loop: a tensor has a row for each turn, "
           "`scatter_set(ys, t, y)`, and `scan` and `map` stack what each turn gives";
  else if (tensors && !converts && ev_tensor_type(first)->rank == ev_tensor_type(next)->rank)
    note = leat_arena_printf(
        e->arena, "its first value is here; declared as `%s: %s = …` it may grow", carried->name,
        ev_open_type(e, ev_growing_axes(carried->type, ev_tensor_type(first)),
                     ev_tensor_type(first), ev_tensor_type(next)));
  leat_note_at(e->diag, carried->span, "%s", note);
}

static leat_value next_leaf(evaluator *e, loop *l, const leat_binding *carried, uint32_t k,
                            ev value, leat_span span) {
  const ev_leaf *first = &l->leaves.items[k];
  const leat_type *type = leat_value_type(l->params[k]);
  ev_carry *carry = &l->carries[k];
  ev_carry_next(e, carry, value);
  if (carry->dtype != type->dtype) return l->params[k]; // the trial goes on with another
  leat_value next = ev_as_tensor(e, value, (int)type->dtype, span);
  if (!next.node) return next;
  if (ev_grows_anyhow(carried->type))
    ev_carry_grow(e, carry, differing_axes(carried->type, type, leat_value_type(next)));
  if (carry->grows != l->evaluated[k].grows) return l->params[k]; // likewise
  leat_type wanted = ev_grown_to(type, carry->grows, next);
  leat_value fitting = as_type(e, next, &wanted, span);
  leat_dtype began = ev_tensor_type(first->value)->dtype;
  bool number = carry->weak && type->dtype == ev_running_dtype(began);
  bool same = number || type->dtype == began;
  ev is = same ? first->value : ev_tensor(l->params[k]);
  if (!fitting.node) report_next(e, carried, first->place, is, ev_tensor(next), span);
  return fitting;
}

static ev first_value(evaluator *e, const loop *l, uint32_t i) {
  ev *leaves = leat_new_array(e->arena, ev, (size_t)l->leaves.count + 1);
  for (uint32_t k = 0; k < l->leaves.count; k++) leaves[k] = l->leaves.items[k].value;
  return ev_put_together(e, l->forms[i], leaves);
}

static void next_value(evaluator *e, loop *l, const leat_expr *from, uint32_t i, leat_value *out) {
  const leat_binding *carried = &l->stmt->carried.items[i];
  ev_leaves before = {0}, after = {0};
  ev first = first_value(e, l, i), value = ev_value(e, from, carried->name);
  if (value.kind == EV_ERROR) return;
  bool row = first.kind == EV_TENSOR && value.kind == EV_LIST && ev_is_of_numbers(e, value);
  if (row) { // of a loop that began with a list of numbers, which is one tensor
    leat_vec_push(e->arena, &after, ((ev_leaf){value, ""}));
  } else if (ev_take_apart(e, first, value, &before, &after).kind == EV_NONE) {
    report_next(e, carried, "", first, value, from->span);
    return;
  }
  leat_value *next = out + l->begins[i];
  for (uint32_t k = 0; k < after.count; k++)
    next[k] = next_leaf(e, l, carried, l->begins[i] + k, after.items[k].value, from->span);
}

// `next` lacks, or does not give a value for each that is carried.
static void wrong_next(evaluator *e, const leat_stmt *stmt, const leat_stmt *next) {
  const char *names = "";
  uint32_t count = stmt->carried.count;
  for (uint32_t i = 0; i < count; i++)
    names = leat_arena_printf(e->arena, "%s%s`%s`", names,
                              !i              ? ""
                              : i + 1 < count ? ", "
                                              : " and ",
                              stmt->carried.items[i].name);
  if (!next)
    ev_fail(e, stmt->span,
            "the body of this `while` ends without `next`, which gives %s the value "
            "of the next turn",
            names);
  else
    ev_fail(e, next->span, "`next` gives %u value%s: this `while` carries %u, %s",
            next->values.count, next->values.count == 1 ? "" : "s", count, names);
}

static void next_values(evaluator *e, loop *l, leat_value *out) {
  const leat_stmt *stmt = l->stmt, *next = ev_last_of(&stmt->body, LEAT_STMT_NEXT);
  uint32_t count = stmt->carried.count;
  if (!next || next->values.count != count) {
    wrong_next(e, stmt, next);
    return;
  }
  for (uint32_t i = 0; i < count; i++) next_value(e, l, next->values.items[i], i, out);
}

// The next number of the iteration, where somebody asked for it; {NULL}: nobody has.
static leat_value next_iteration(evaluator *e) {
  ev_region *region = e->at.region;
  if (!region->iteration) return (leat_value){0};
  leat_value now = leat_region_parameter(&region->built, "iteration", region->iteration - 1);
  ev next = ev_operator(e, LEAT_OPERATOR_ADD, ev_tensor(now), ev_int(1), region->span, NULL);
  return next.kind == EV_TENSOR ? next.tensor : (leat_value){0};
}

// next: of each leaf, then of the iteration. False: reported, here or where what the loop uses of
// outside was to be made.
static bool evaluate_body(evaluator *e, loop *l, leat_value *next) {
  uint32_t errors = leat_diag_errors(e->diag), made = 0;
  ev_region_open(e);
  bind_carried(e, l, false);
  e->frame->scope->fleeting = true;
  ev_statements(e, &l->stmt->body);
  if (e->frame->returned) {
    e->frame->returned = false;
    ev_fail(e, l->stmt->condition->span,
            "a `return` cannot depend on what is known only while running: what the loop carries "
            "can be returned behind it");
  }
  if (leat_diag_errors(e->diag) == errors) next_values(e, l, next);
  if (leat_diag_errors(e->diag) == errors) next[l->leaves.count] = next_iteration(e);
  ev_body_ends(e);
  while (made < l->leaves.count && next[made].node) made++;
  return made == l->leaves.count && leat_diag_errors(e->diag) == errors;
}

static bool check_condition(evaluator *e, const leat_stmt *stmt) {
  for (uint32_t i = 0; i < e->at.region->states.count; i++)
    if (e->at.region->states.items[i].written) {
      ev_fail(e, stmt->condition->span, "the condition of a `while` cannot change `%s`",
              e->at.region->states.items[i].state->name);
      return false;
    }
  return true;
}

// So that it is seen that the loop appends.
static void append_at_once(evaluator *e, const loop *l, const leat_value *next) {
  ev_context around = ev_step_into(e, 1);
  leat_builder builder = ev_builder(e, l->stmt->span);
  for (uint32_t k = 0; k < l->leaves.count; k++)
    if (l->carries[k].grows)
      leat_append_at_once(&builder, ev_node_name(e, NULL, "concat"), l->params[k], next[k].node);
  e->at = around;
}

static bool evaluate_loop(evaluator *e, loop *l) {
  leat_region *built = &e->at.region->built;
  uint32_t count = l->leaves.count;
  leat_value condition, *next = leat_new_array(e->arena, leat_value, (size_t)count + 1);
  if (!evaluate_condition(e, l, &condition) || !check_condition(e, l->stmt) ||
      !evaluate_body(e, l, next))
    return false;
  append_at_once(e, l, next);
  leat_region_give(built, 0, condition);
  for (uint32_t i = 0; i < count; i++) {
    leat_region_give(built, 1, next[i]);
    leat_region_carry(built, i);
  }
  if (!next[count].node) return true;
  leat_region_give(built, 1, next[count]);
  leat_region_carry(built, e->at.region->iteration - 1);
  return true;
}

// 0: not given.
static bool parallel_of(evaluator *e, const leat_stmt *stmt, int64_t *out) {
  *out = 0;
  for (uint32_t i = 0; i < stmt->options.count; i++) {
    const leat_argument *option = &stmt->options.items[i];
    ev value = ev_expr(e, option->value, NULL);
    if (value.kind == EV_ERROR) return false;
    if (value.kind == EV_NONE) continue; // as if it were not given
    if (strcmp(option->key, "parallel") || value.kind != EV_INT || value.i < 1) {
      ev_fail(e, option->span,
              "the option of a `while` is parallel=N, a number from 1 on; here `%s` is %s",
              option->key, ev_kind_name(value));
      return false;
    }
    *out = value.i;
  }
  return true;
}

static void begin_loop(evaluator *e, loop *l, ev_region *region, const char *name) {
  uint32_t count = l->leaves.count;
  leat_value *first = leat_new_array(e->arena, leat_value, (size_t)count + 1);
  l->evaluated = leat_arena_memdup(e->arena, l->carries, (count + 1) * sizeof *l->carries);
  l->params = leat_new_array(e->arena, leat_value, (size_t)count + 1);
  for (uint32_t k = 0; k < count; k++)
    first[k] = ev_settle(e, l->leaves.items[k].value.tensor, l->carries[k].dtype, l->stmt->span);
  ev_region_begin(e, region, LEAT_OP_while_loop, name, l->stmt->span);
  for (uint32_t k = 0; k < count; k++) {
    uint32_t input = leat_region_add(&region->built, first[k]);
    region->built.inputs.items[input].grows = l->carries[k].grows;
  }
}

// Numbers whose next value is made of them and ints count.
static void find_counts(evaluator *e, const loop *l) {
  const leat_stmt *next = ev_last_of(&l->stmt->body, LEAT_STMT_NEXT);
  for (uint32_t i = 0; next && i < l->stmt->carried.count && i < next->values.count; i++) {
    const char *name = l->stmt->carried.items[i].name;
    bool counts = ev_only_counts(e, next->values.items[i], name);
    for (uint32_t k = l->begins[i]; k < l->begins[i + 1]; k++)
      l->carries[k].counts = counts && l->carries[k].weak && is_whole(&l->carries[k]);
  }
}

// Evaluates the loop, or its condition alone, and takes that back; in no other trial. True: it is
// not known yet what it carries.
static bool try_loop(evaluator *e, loop *l, const char *name, bool whole) {
  ev_loops *loops = e->loops;
  uint32_t next = loops->next;
  ev_trial trial;
  ev_trial_begin(e, &trial, NULL);
  leat_diag_mark mark = leat_diag_take_mark(e->diag);
  ev_region region;
  leat_value condition;
  loops->trying = true;
  loops->changed = loops->grew = false;
  begin_loop(e, l, &region, name);
  if (whole)
    evaluate_loop(e, l);
  else
    evaluate_condition(e, l, &condition);
  ev_region_drop(e);
  ev_trial_end(e, &trial);
  if (!e->stopped) leat_diag_withhold(e->diag, mark, (leat_span){0}); // said when it is evaluated
  loops->trying = false;
  loops->next = next;
  return ev_carries_open(loops) && !e->stopped;
}

// What is not known of what it carries: along which axes it grows if it is declared `any`, and the
// dtypes of numbers.
static void find_types(evaluator *e, loop *l, const char *name) {
  bool open = false, weak = false, counts = false;
  for (uint32_t i = 0; i < l->stmt->carried.count; i++)
    open = open || ev_grows_anyhow(l->stmt->carried.items[i].type);
  for (uint32_t k = 0; k < l->leaves.count; k++) {
    weak = weak || (l->carries[k].weak && !l->carries[k].counts);
    counts = counts || l->carries[k].counts;
  }
  if (open || weak)
    while (try_loop(e, l, name, true)) {
    }
  else if (counts)
    try_loop(e, l, name, false);
}

// Whether the condition is made of what the body gives another value.
static bool changes(evaluator *e, const leat_node *loop, const leat_graph *condition) {
  const leat_graph *body = leat_node_attr(loop, "body")->body;
  bool *asked = leat_new_array(e->arena, bool, (size_t)condition->nodes.count + 1);
  asked[condition->yield->inputs[0].node->id] = true;
  for (uint32_t id = condition->nodes.count; id-- > 0;) {
    const leat_node *node = condition->nodes.items[id];
    uint32_t index = asked[id] && node->op == LEAT_OP_parameter
                         ? (uint32_t)leat_node_attr(node, "index")->i
                         : loop->output_count;
    if (index < loop->output_count && body->yield->inputs[index].node != body->params.items[index])
      return true;
    for (uint32_t i = 0; asked[id] && i < node->input_count; i++)
      asked[node->inputs[i].node->id] = true;
  }
  return false;
}

static void check_end(evaluator *e, const leat_stmt *stmt, const leat_node *loop) {
  const leat_graph *condition = leat_node_attr(loop, "condition")->body;
  bool always = condition->yield->inputs[0].node->op == LEAT_OP_const;
  if (always || ev_in_library(e->frame) || changes(e, loop, condition)) return;
  leat_warn_at(e->diag, stmt->condition->span,
               "nothing in the body changes this condition, so that the loop has no end where it "
               "holds; `next` gives what is carried its next value");
}

// What a trial has found of it, behind the loop.
static leat_value as_found(evaluator *e, const loop *l, uint32_t k, leat_value output) {
  const ev_carry *found = &l->carries[k];
  leat_builder builder = ev_builder(e, l->stmt->span);
  leat_type type = *leat_value_type(output);
  leat_attr to = {.i = found->dtype};
  for (int32_t axis = 0; axis < type.rank; axis++)
    if ((found->grows & ~l->evaluated[k].grows) >> axis & 1)
      type.dims[axis] = leat_dim_anonymous(e->graph->dims, NULL);
  if (found->grows != l->evaluated[k].grows) output = leat_build_ensure(&builder, output, &type);
  return type.dtype == found->dtype
             ? output
             : leat_build(&builder, ev_node_name(e, NULL, "cast"), LEAT_OP_cast, &output, 1, &to);
}

// The values behind the loop. A number is one there, too.
static void take_carried(evaluator *e, loop *l, leat_node *node) {
  ev *outputs = leat_new_array(e->arena, ev, (size_t)l->leaves.count + 1);
  for (uint32_t k = 0; k < l->leaves.count; k++) {
    leat_value output = as_found(e, l, k, (leat_value){node, k});
    outputs[k] = l->carries[k].weak ? ev_given_number(e, output, l->stmt->span) : ev_tensor(output);
  }
  for (uint32_t i = 0; i < l->stmt->carried.count; i++)
    l->forms[i] = ev_put_together(e, l->forms[i], outputs);
}

static leat_node *evaluated_loop(evaluator *e, loop *l, const char *name, int64_t parallel) {
  ev_region region;
  begin_loop(e, l, &region, name);
  region.built.parallel = parallel;
  if (!evaluate_loop(e, l)) {
    ev_region_drop(e);
    return NULL;
  }
  leat_node *node = ev_region_end(e, NULL);
  if (node) check_end(e, l->stmt, node);
  if (node) take_carried(e, l, node);
  return node;
}

static leat_node *while_node(evaluator *e, loop *l, const char *name) {
  int64_t parallel;
  if (!parallel_of(e, l->stmt, &parallel) || !first_values(e, l)) return NULL;
  uint32_t count = l->leaves.count;
  ev *first = leat_new_array(e->arena, ev, (size_t)count + 1);
  for (uint32_t k = 0; k < count; k++) first[k] = l->leaves.items[k].value;
  ev_loops *around = e->loops, own = {0};
  l->carries = ev_carries_known(e, l->stmt, first, count);
  bool known = l->carries;
  if (!known) {
    if (!around || !around->trying) e->loops = &own;
    l->carries = ev_carries_new(e, first, count);
    find_counts(e, l);
    ev_carry_add(e, l->stmt, l->carries, count);
  }
  declare_growing(l);
  if (!known && !e->loops->trying) find_types(e, l, name); // else a trial around does, or did
  leat_node *node = evaluated_loop(e, l, name, parallel);
  e->loops = around;
  return node;
}

void ev_while(evaluator *e, const leat_stmt *stmt) {
  uint32_t count = stmt->targets.count;
  const ev_aim *aims = ev_aims_of(e, &stmt->targets);
  loop l = {.stmt = stmt};
  leat_node *node = NULL;
  if (count && count != stmt->carried.count)
    ev_fail_names(e, stmt, stmt->carried.count, "value that the loop carries",
                  "values that the loop carries", &stmt->carried);
  else
    node = while_node(e, &l, count ? aims[0].hint : "while");
  if (!node) ev_bind_nothing(e, stmt);
  for (uint32_t i = 0; node && i < count; i++) ev_bind_target(e, &aims[i], l.forms[i]);
}
