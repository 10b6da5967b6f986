// Bindings: what stands left of `=`, and the values for it, in texts as people write them and in
// canonical text.
#include "frontend/evaluate/statements.h"

#include "base/name.h"
#include "frontend/evaluate/calls.h"
#include "frontend/values/names.h"
#include "frontend/values/region.h"
#include "frontend/values/rows.h"

#include <string.h>

static ev_aim aim_at(evaluator *e, const leat_binding *target) {
  ev_aim a = {.target = target, .hint = target->name};
  if (!target->member) return a;
  a.index = ev_expr(e, target->member, NULL);
  if (a.index.kind == EV_INT)
    a.hint = leat_intern_printf(e->strings, "%s_%lld", target->name, (long long)a.index.i);
  return a;
}

// Whoever binds a name again in a block whose names end with it most often means the one outside.
static void warn_of_outer(evaluator *e, const leat_binding *target) {
  const char *name = target->name;
  if (!e->frame->scope->fleeting || ev_in_library(e->frame)) return;
  const ev_binding *outer = ev_bound_around(e, name);
  if (!outer || outer->value.kind == EV_STATE) return; // of which `warn_of_variable` tells
  if (e->at.region->op == LEAT_OP_while_loop)
    leat_warn_at(e->diag, target->span,
                 "this binds a new name in each turn, and the `%s` outside stays as it is; a loop "
                 "carries what it changes: `while (%s = %s, …) … { … next …, … }`",
                 name, name, name);
  else
    leat_warn_at(e->diag, target->span,
                 "this binds a new name, which ends with this block, and the `%s` outside stays as "
                 "it is; `y = if … { … yield %s } else { … }` gives a value",
                 name, name);
  ev_note_binding(e, outer, "it is bound here");
}

void ev_bind_target(evaluator *e, const ev_aim *a, ev value) {
  const leat_binding *target = a->target;
  if (target->absolute || !target->name) return;
  if (!target->member) warn_of_outer(e, target);
  if (target->member) {
    ev_bind_member(e, target, a->index, value);
    ev_add_alias(e, a->hint, value);
  } else if (e->frame->scope->turn
                 ? ev_bind_in_turn(e, target, value)
                 : ev_bind(e, e->frame->scope, target->span, target->name, value)) {
    ev_add_alias(e, target->name, value);
  }
}

static ev no_result(evaluator *e, const leat_binding *result) {
  const ev_function *function = e->frame->function;
  if (function)
    ev_fail(e, result->span, "`%s` binds no `%s` for this result, and no `return` gives it",
            function->name, result->name);
  else
    ev_fail(e, result->span, "the entry binds no `%s` for this result", result->name);
  ev_note_gone(e, result->name);
  return ev_error();
}

ev ev_named_result(evaluator *e, const leat_binding *result) {
  const ev_function *function = e->frame->function;
  if (result->value) return ev_expr(e, result->value, NULL);
  if (leat_map_get(&e->frame->scope->names, result->name))
    return ev_name(e, result->name, result->span);
  const ev_binding *outer = ev_lookup(e->frame->scope, result->name);
  if (!function && outer && outer->value.kind == EV_STATE)
    return ev_fail(e, result->span,
                   "the entry binds no `%s` for this result; `%s = %s` gives the variable's value",
                   result->name, result->name, result->name);
  return no_result(e, result);
}

static void bind_no_target(evaluator *e, const leat_binding *target) {
  ev_scope *scope = e->frame->scope;
  if (!target->absolute && target->name && !leat_map_get(&scope->names, target->name))
    ev_bind(e, scope, target->span, target->name, ev_error());
}

// The families that the turns of a `for` would have bound.
static void bind_no_member(evaluator *e, const leat_stmt *stmt) {
  for (uint32_t i = 0; i < stmt->body.count; i++) {
    const leat_bindings *targets = &stmt->body.items[i]->targets;
    for (uint32_t k = 0; k < targets->count; k++)
      if (targets->items[k].member) bind_no_target(e, &targets->items[k]);
  }
}

void ev_bind_nothing(evaluator *e, const leat_stmt *stmt) {
  ev_scope *scope = e->frame->scope;
  for (uint32_t i = 0; i < stmt->targets.count; i++) bind_no_target(e, &stmt->targets.items[i]);
  if (stmt->kind == LEAT_STMT_FOR) bind_no_member(e, stmt);
  bool declares =
      stmt->kind == LEAT_STMT_VAR || stmt->kind == LEAT_STMT_QUEUE || stmt->kind == LEAT_STMT_MUTEX;
  if (declares && !stmt->absolute && !leat_map_get(&scope->names, stmt->name))
    ev_bind(e, scope, stmt->name_span, stmt->name, ev_error());
}

// -- Canonical text -----------------------------------------------------------------------------

static bool is_feed(const leat_stmt *stmt) {
  const leat_expr *value = stmt->values.count ? stmt->values.items[0] : NULL;
  return value && value->kind == LEAT_EXPR_CALL && value->callee->kind == LEAT_EXPR_NAME &&
         !strcmp(value->callee->name, leat_op_name(LEAT_OP_feed));
}

static bool is_used(const evaluator *e, const leat_node *node) {
  for (uint32_t id = node->id + 1; id < e->graph->nodes.count; id++) {
    const leat_node *user = e->graph->nodes.items[id];
    for (uint32_t i = 0; i < user->input_count; i++)
      if (user->inputs[i].node == node) return true;
    for (uint32_t i = 0; i < user->control_count; i++)
      if (user->controls[i] == node) return true;
  }
  return false;
}

// What a line says of its feed that the head of the entry may say otherwise.
static void take_port(evaluator *e, leat_node *feed, const leat_arguments *args) {
  const leat_argument *name = leat_arguments_find(args, leat_intern(e->strings, "name"));
  const leat_argument *index = leat_arguments_find(args, leat_intern(e->strings, "index"));
  ev text = name ? ev_expr(e, name->value, NULL) : ev_none();
  ev number = index ? ev_expr(e, index->value, NULL) : ev_none();
  if (text.kind == EV_STRING)
    leat_node_set_attr(e->graph, feed, "name",
                       (leat_attr){.string = leat_intern_n(e->strings, text.text, text.size)});
  if (number.kind == EV_INT)
    leat_node_set_attr(e->graph, feed, "index", (leat_attr){.i = number.i});
}

// The head of an entry makes the feeds of its parameters; a line of the body that repeats one says
// where it is: among the devices, and among the nodes.
static bool places_feed(evaluator *e, const leat_stmt *stmt) {
  const leat_binding *target = stmt->targets.count ? &stmt->targets.items[0] : NULL;
  if (!target || !target->absolute || !e->at.entry || !is_feed(stmt)) return false;
  leat_node *node = leat_graph_find_node(e->graph, target->name);
  if (!node || node->entry != e->at.entry || node->op != LEAT_OP_feed || is_used(e, node))
    return false;
  node->device = e->at.device;
  node->colocate = e->at.colocate;
  take_port(e, node, &stmt->values.items[0]->args);
  leat_node **nodes = e->graph->nodes.items;
  uint32_t last = e->graph->nodes.count - 1;
  memmove(nodes + node->id, nodes + node->id + 1, (last - node->id) * sizeof *nodes);
  nodes[last] = node;
  leat_graph_renumber(e->graph);
  e->first_node = last;
  return true;
}

static bool check_new_path(evaluator *e, const leat_binding *target) {
  const char *name = target->name;
  bool taken = leat_graph_find_node(e->graph, name) || leat_graph_find_state(e->graph, name) ||
               leat_graph_find_entry(e->graph, name);
  if (taken) ev_fail(e, target->span, "something above is called `$%s` already", name);
  return !taken;
}

// What canonical text names is a bare op, not below any path.
static ev canonical_value(evaluator *e, const leat_binding *target, const leat_expr *from) {
  if (!check_new_path(e, target)) return ev_error();
  const ev_context around = e->at;
  e->at.absolute = true;
  e->at.path = leat_intern(e->strings, "");
  ev value = ev_expr(e, from, target->name);
  bool several = value.kind == EV_LIST && value.list->results; // each fits a target of its own
  if (target->type && !several)
    value = ev_fit(e, target->type, value, from->span, target->name, target->name);
  e->at = around;
  return value;
}

// -- Values for targets -------------------------------------------------------------------------

static ev declared(evaluator *e, const ev_aim *a, ev value, leat_span span) {
  const leat_binding *target = a->target;
  if (value.kind != EV_STATE && !target->type) return value;
  return ev_fit(e, target->type, value, span, target->name ? target->name : "_", a->hint);
}

ev ev_target_value(evaluator *e, const ev_aim *a, const leat_expr *from) {
  if (a->target->absolute) return canonical_value(e, a->target, from);
  return declared(e, a, ev_value(e, from, a->hint), from->span);
}

ev_aim *ev_aims_of(evaluator *e, const leat_bindings *targets) {
  ev_aim *aims = leat_new_array(e->arena, ev_aim, (size_t)targets->count + 1);
  for (uint32_t i = 0; i < targets->count; i++) aims[i] = aim_at(e, &targets->items[i]);
  return aims;
}

static void bind_each(evaluator *e, const leat_stmt *stmt) {
  uint32_t count = stmt->targets.count;
  const ev_aim *aims = ev_aims_of(e, &stmt->targets);
  ev *values = leat_new_array(e->arena, ev, count);
  for (uint32_t i = 0; i < count; i++)
    values[i] = ev_target_value(e, &aims[i], stmt->values.items[i]);
  for (uint32_t i = 0; i < count; i++) ev_bind_target(e, &aims[i], values[i]);
}

static bool is_named(const leat_bindings *values, const leat_bindings *targets, uint32_t i) {
  for (uint32_t k = 0; k < targets->count; k++)
    if (targets->items[k].name && targets->items[k].name == values->items[i].name) return true;
  return false;
}

// "_, table = …", of those that are named as what they are to be; NULL: they are not.
static const char *named_targets(evaluator *e, const leat_bindings *values,
                                 const leat_bindings *targets) {
  leat_text text = {0};
  uint32_t found = 0;
  for (uint32_t i = 0; i < values->count; i++) {
    bool named = is_named(values, targets, i);
    found += named;
    if (i) leat_text_add_string(&text, ", ");
    if (named)
      leat_name_print(values->items[i].name, &text);
    else
      leat_text_add_string(&text, "_");
  }
  const char *out =
      found && found == targets->count ? leat_arena_printf(e->arena, "%s = …", text.data) : NULL;
  leat_text_finish(&text);
  return out;
}

ev ev_fail_names(evaluator *e, const leat_stmt *stmt, uint32_t count, const char *one,
                 const char *several, const leat_bindings *values) {
  const char *example = values ? named_targets(e, values, &stmt->targets) : NULL, *more = "";
  if (example)
    more = leat_arena_printf(e->arena, "; `_` is for what nobody needs: `%s`", example);
  else if (stmt->targets.count < count)
    more = "; `_` is for what nobody needs";
  return ev_fail(e, stmt->span, "%u name%s for %s%u %s%s", stmt->targets.count,
                 stmt->targets.count == 1 ? "" : "s", values ? "the " : "", count,
                 count == 1 ? one : several, more);
}

// a, b = f(x)
static void bind_results(evaluator *e, const leat_stmt *stmt) {
  uint32_t count = stmt->targets.count;
  const leat_expr *call = stmt->values.items[0];
  const leat_binding *first = &stmt->targets.items[0];
  ev value = first->absolute ? canonical_value(e, first, call) : ev_value(e, call, NULL);
  if (value.kind == EV_LIST && value.list->count == count) {
    const ev_aim *aims = ev_aims_of(e, &stmt->targets);
    for (uint32_t i = 0; i < count; i++)
      ev_bind_target(e, &aims[i],
                     declared(e, &aims[i], value.list->items[i], aims[i].target->span));
    return;
  }
  if (value.kind == EV_LIST)
    ev_fail_names(e, stmt, value.list->count, "result", "results", NULL);
  else if (value.kind != EV_ERROR)
    ev_fail(e, stmt->span, "%u names for one value", count);
  ev_bind_nothing(e, stmt);
}

// Whoever binds the name of a variable that is seen there most often means the variable. `w = w`
// and `w = $w`, its value as of now, do not.
static void warn_of_variable(evaluator *e, const leat_binding *target, const leat_expr *from) {
  const ev_scope *scope = ev_scope_around(e->frame->scope); // what stands there is an error
  const char *name = target->name;
  if (target->absolute || !name || leat_map_get(&scope->names, name)) return;
  if (from && from->kind == LEAT_EXPR_NAME && from->name == name) return;
  if (from && from->kind == LEAT_EXPR_PATH && !strcmp(from->path, name)) return;
  const ev_binding *outer = ev_lookup(scope, name);
  if (!outer || outer->value.kind != EV_STATE) return;
  if (target->member)
    leat_warn_at(
        e->diag, target->span,
        "this begins a family `%s`, and the variable `%s` stays as it is; one with new rows "
        "is `%s := scatter_set(%s, indices, rows)`",
        name, name, name, name);
  else
    leat_warn_at(
        e->diag, target->span,
        "this binds a new name, and the variable `%s` stays as it is; `%s := …` changes it", name,
        name);
  leat_note_at(e->diag, outer->span, "the variable is declared here");
}

void ev_bind_statement(evaluator *e, const leat_stmt *stmt) {
  if (places_feed(e, stmt) || ev_entry_call(e, stmt)) return;
  bool each = stmt->values.count == stmt->targets.count;
  for (uint32_t i = 0; i < stmt->targets.count; i++)
    warn_of_variable(e, &stmt->targets.items[i], each ? stmt->values.items[i] : NULL);
  if (each) {
    bind_each(e, stmt);
  } else if (stmt->values.count == 1) {
    bind_results(e, stmt);
  } else {
    ev_fail_names(e, stmt, stmt->values.count, "value", "values", NULL);
    ev_bind_nothing(e, stmt);
  }
}

// -- Aliases --------------------------------------------------------------------------------------

// So that its node is found by the name that the text gives it, whatever the node is called.
void ev_add_alias(evaluator *e, const char *name, ev value) {
  if (e->at.initialising || e->frame->unnamed) return;
  if (value.kind == EV_ROWS) value = ev_tensor(ev_rows_dense(e, value, e->span));
  if (value.kind != EV_TENSOR) return;
  const char *path = leat_intern_path(e->strings, e->at.path, name);
  bool same = value.tensor.node->name == path && !value.tensor.port;
  if (same && !leat_map_get(&e->aliases, path)) return;
  leat_value *alias = leat_new(e->arena, leat_value);
  *alias = value.tensor;
  ev_set(e, &e->aliases, path, alias);
}
