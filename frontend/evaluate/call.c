// Calls: what is called, with what, and the evaluation of a function's body.
#include "frontend/evaluate/calls.h"

#include "frontend/evaluate/statements.h"
#include "frontend/values/names.h"
#include "frontend/values/region.h"

#include <string.h>

// -- Results ------------------------------------------------------------------------------------

// What a body that ends without a `return` gives: what it bound for the results, all named.
static ev bound_results(evaluator *e, const ev_function *function) {
  const leat_stmt *definition = function->definition;
  const leat_bindings *declared = &definition->results;
  if (definition->kind != LEAT_STMT_FN || !declared->count) return ev_nothing();
  ev *items = leat_new_array(e->arena, ev, declared->count);
  for (uint32_t i = 0; i < declared->count; i++) {
    if (!declared->items[i].name)
      return ev_fail(e, definition->name_span,
                     "`%s` declares %u result%s and ends without a `return`", function->name,
                     declared->count, declared->count == 1 ? "" : "s");
    items[i] = ev_named_result(e, &declared->items[i]);
  }
  return declared->count == 1 ? items[0] : ev_take_results(e, items, declared->count);
}

// One result as its function declares it.
static ev fit_result(evaluator *e, const ev_function *function, const leat_binding *declared,
                     ev result) {
  if (!declared->type) return result;
  const char *what = declared->name ? declared->name : function->name;
  return ev_fit(e, declared->type, result, e->frame->call, what, e->frame->hint);
}

static ev fit_results(evaluator *e, const ev_function *function, ev result) {
  const leat_bindings *declared = &function->definition->results;
  if (function->definition->kind != LEAT_STMT_FN || !declared->count) return result;
  bool several = result.kind == EV_LIST && result.list->results;
  uint32_t count = several ? result.list->count : result.kind != EV_NONE;
  if (result.kind == EV_ERROR) return result;
  if (count != declared->count)
    return ev_fail(e, e->frame->call, "`%s` declares %u result%s and returns %u", function->name,
                   declared->count, declared->count == 1 ? "" : "s", count);
  if (!several) return fit_result(e, function, &declared->items[0], result);
  ev *items = leat_new_array(e->arena, ev, count);
  for (uint32_t i = 0; i < count; i++)
    items[i] = fit_result(e, function, &declared->items[i], result.list->items[i]);
  return ev_take_results(e, items, count);
}

// -- Calls that have a gradient rule of their own -----------------------------------------------

// Whether the call made this tensor, of a node of its own: nothing else has that node as its
// source.
static bool is_own(const ev *results, uint32_t number, uint32_t first_node) {
  const leat_node *node = results[number].tensor.node;
  for (uint32_t i = 0; i < number; i++)
    if (results[i].tensor.node == node) return false;
  return node->id >= first_node;
}

// The results as tensors of the call's own: what it only passes on becomes an identity. False when
// one is no tensor.
static bool own_results(evaluator *e, ev *results, uint32_t count, uint32_t first_node,
                        leat_span span) {
  for (uint32_t i = 0; i < count; i++)
    if (results[i].kind != EV_TENSOR) return false;
  leat_builder builder = ev_builder(e, span);
  for (uint32_t i = 0; i < count; i++) {
    if (is_own(results, i, first_node)) continue;
    const char *name = ev_node_name(e, NULL, "identity");
    results[i] =
        ev_tensor(leat_build(&builder, name, LEAT_OP_identity, &results[i].tensor, 1, NULL));
  }
  return count > 0;
}

// By parameter. A variable is what the body read of it; later writes do not matter to the rule.
static const ev_list *arguments_of(evaluator *e, const ev_function *function,
                                   const ev_scope *scope) {
  const leat_bindings *params = &function->definition->params;
  ev *args = leat_new_array(e->arena, ev, (size_t)params->count + 1);
  for (uint32_t i = 0; i < params->count; i++) {
    const ev_binding *binding = leat_map_get(&scope->names, params->items[i].name);
    args[i] = binding ? binding->value : ev_none();
    if (args[i].kind != EV_STATE) continue;
    leat_value read = ev_last_read(e, args[i].state);
    if (read.node) args[i] = ev_tensor(read);
  }
  return ev_take_list(e, args, params->count).list;
}

// The result of a call; of one that has a rule its own tensors.
static ev with_rule(evaluator *e, const ev_function *function, const ev_scope *scope, ev result,
                    uint32_t first_node, leat_span span) {
  const ev_function *rule = ev_find_gradient(e, function->name);
  // The user's rule, or the library's for a function of its own.
  if (!rule || e->at.initialising || (rule->library && !function->library)) return result;
  const ev_list *args = arguments_of(e, function, scope);
  for (uint32_t i = 0; args && i < args->count; i++)
    if (args->items[i].kind == EV_ROWS) return result; // the rule is for tensors
  bool several = result.kind == EV_LIST && result.list->results;
  uint32_t count = several ? result.list->count : 1;
  ev *results =
      leat_arena_memdup(e->arena, several ? result.list->items : &result, count * sizeof(ev));
  if (!args || !own_results(e, results, count, first_node, span)) return result;
  ev_record_call(e, rule, args, results, count);
  return several ? ev_take_results(e, results, count) : results[0];
}

// -- Functions of the language ------------------------------------------------------------------

static bool enter_instance(evaluator *e, ev_frame *frame, const char *as, leat_span span) {
  ev_instance place;
  if (!ev_find_place(e, as, span, &place)) return false;
  if (!*as || as[strlen(as) - 1] == '.' || as[strlen(as) - 1] == '/') {
    ev_fail(e, span, "`%s` names no instance: a path ends with a name", as);
    return false;
  }
  frame->instance = place.instance;
  frame->unnamed = place.unnamed;
  frame->hint = NULL;
  e->at.path = place.path;
  // Below a call without a name there is no state, and nothing to name.
  return place.unnamed || ev_enter_instance(e, frame->function, frame->instance, span);
}

// Of the calls around a call, the innermost that stands in another of the same function.
static const ev_function *recursive(const ev_frame *frame, const ev_function *called) {
  const ev_frame *around = frame;
  while (around && around->function != called) around = around->caller;
  return around || !frame->caller ? called : recursive(frame->caller, frame->function);
}

static bool too_deep(evaluator *e, const ev_function *function, leat_span span) {
  if (e->frame->calls < EV_MAX_CALLS) return false;
  e->stopped = true;
  ev_fail(e, span,
          "calls are nested more than %d deep: does `%s` call itself? What is repeated while "
          "running is a `while`",
          EV_MAX_CALLS, recursive(e->frame, function)->name);
  return true;
}

static ev run_body(evaluator *e, ev_frame *frame, leat_span span) {
  const ev_function *function = frame->function;
  uint32_t first_node = e->at.body->nodes.count;
  const ev_context around = e->at;
  e->frame = frame;
  e->at.absolute = false;
  ev_statements(e, &function->definition->body);
  if (!frame->returned && leat_diag_errors(e->diag) == frame->errors)
    frame->result = bound_results(e, function);
  bool ok = leat_diag_errors(e->diag) == frame->errors && !e->stopped;
  bool tell = !frame->blamed && (!e->stopped || frame->calls == 1); // not the whole of a recursion
  if (!ok && tell) leat_note_at(e->diag, ev_place(e, span), "in this call of `%s`", function->name);
  ev result = ok ? fit_results(e, function, frame->result) : ev_error();
  if (ok && result.kind == EV_ERROR && frame->result.kind != EV_ERROR && !function->library)
    leat_note_at(e->diag, function->definition->name_span, "`%s` is defined here", function->name);
  e->frame = frame->caller;
  e->at = around;
  if (result.kind == EV_ERROR) return result;
  return with_rule(e, function, frame->scope, result, first_node, span);
}

ev ev_call_definition(evaluator *e, const ev_function *function, const ev_argument *args,
                      uint32_t count, leat_span span, const char *as, const char *hint) {
  if (too_deep(e, function, span)) return ev_error();
  ev_scope *scope = ev_bind_arguments(e, function, args, count, span);
  if (!scope) return ev_error();
  ev_frame frame = {.caller = e->frame,
                    .function = function,
                    .call = span,
                    .scope = scope,
                    .hint = hint,
                    .calls = e->frame->calls + 1,
                    .errors = leat_diag_errors(e->diag),
                    .instance = e->frame->instance,
                    .path = e->at.path,
                    .result = ev_none()};
  frame.unnamed = e->frame->unnamed ? e->frame->unnamed : &frame;
  const ev_context around = e->at;
  bool entered = !as || enter_instance(e, &frame, as, span);
  ev result = entered ? run_body(e, &frame, span) : ev_error();
  e->at = around;
  return result;
}

static ev call_any(evaluator *e, const ev_function *function, const ev_argument *args,
                   uint32_t count, leat_span span, const char *as, const char *hint) {
  for (uint32_t i = 0; i < count; i++)
    if (args[i].value.kind == EV_ERROR) return ev_error();
  if (function->definition) {
    ev number = as ? ev_none() : ev_call_library_on_numbers(e, function, args, count, span);
    return number.kind != EV_NONE ? number
                                  : ev_call_definition(e, function, args, count, span, as, hint);
  }
  if (as)
    return ev_fail(e, span, "`%s` holds no state: `as` is for functions that do", function->name);
  if (function->builtin) return ev_call_builtin(e, function->builtin, args, count, span, hint);
  ev number = ev_call_on_numbers(e, function->op, args, count, span);
  if (number.kind != EV_NONE) return number;
  return ev_call_op(e, function->op, args, count, span, hint);
}

ev ev_call(evaluator *e, const ev_function *function, const ev_argument *args, uint32_t count,
           leat_span span, const char *as, const char *hint) {
  uint32_t first_node = e->at.body->nodes.count;
  ev result = call_any(e, function, args, count, span, as, hint);
  bool users = function->definition && !function->library;
  return users ? result : ev_own(e, result, first_node, span, hint);
}

// -- Call expressions ---------------------------------------------------------------------------

static bool is_spread(const leat_argument *arg) {
  return arg->value->kind == LEAT_EXPR_ELLIPSIS && !arg->key;
}

// The named arguments that `...` collected, to be passed on.
static const ev_list *collected(evaluator *e) {
  const ev_binding *binding = ev_lookup(e->frame->scope, leat_intern(e->strings, "..."));
  return binding && binding->value.kind == EV_LIST ? binding->value.list : NULL;
}

static leat_span key_span(const leat_argument *arg) {
  leat_span span = arg->span;
  if (arg->key) span.end = span.begin + (uint32_t)strlen(arg->key);
  return span;
}

ev_argument *ev_arguments(evaluator *e, const leat_arguments *args, uint32_t extra,
                          uint32_t *out_count) {
  const ev_list *rest = NULL;
  uint32_t room = args->count + extra + 1, count = 0;
  for (uint32_t i = 0; i < args->count; i++) {
    if (!is_spread(&args->items[i])) continue;
    rest = collected(e);
    if (!rest) {
      ev_fail(e, args->items[i].span,
              "`...` passes on what a parameter `...` collected; there is none here");
      return NULL;
    }
    room += rest->count;
  }
  ev_argument *out = leat_new_array(e->arena, ev_argument, room);
  for (uint32_t i = 0; i < args->count; i++) {
    const leat_argument *arg = &args->items[i];
    if (!is_spread(arg))
      out[count++] =
          (ev_argument){arg->key, ev_value(e, arg->value, NULL), arg->value->span, key_span(arg)};
    else
      for (uint32_t k = 0; k < rest->count; k++)
        out[count++] = (ev_argument){rest->names[k], rest->items[k], arg->span, arg->span};
  }
  *out_count = count;
  return out;
}

// In canonical text a call is of the primitive itself, whatever is called like it.
static const ev_function *bare_op(evaluator *e, const leat_expr *callee) {
  leat_op op;
  if (callee->kind != LEAT_EXPR_NAME || !leat_op_parse(callee->name, strlen(callee->name), &op)) {
    ev_fail(e, callee->span, "what a `$path` names is a call of an op");
    return NULL;
  }
  ev_function *function = leat_new(e->arena, ev_function);
  *function = (ev_function){.name = callee->name, .op = op};
  return function;
}

// A value of the same name does not stand in a function's way: `relu = relu(x)`.
ev ev_callee(evaluator *e, const leat_expr *expr) {
  ev value = ev_expr(e, expr, NULL);
  bool hidden = expr->kind == LEAT_EXPR_NAME && value.kind != EV_ERROR &&
                value.kind != EV_FUNCTION && value.kind != EV_ENTRY && value.kind != EV_DTYPE;
  const ev_function *function = hidden ? ev_find_function(e, expr->name) : NULL;
  return function ? (ev){.kind = EV_FUNCTION, .function = function} : value;
}

static const ev_function *callee(evaluator *e, const leat_expr *expr) {
  if (e->at.absolute) return bare_op(e, expr->callee);
  ev value = ev_callee(e, expr->callee);
  if (value.kind == EV_FUNCTION) return value.function;
  const char *name = expr->callee->kind == LEAT_EXPR_NAME ? expr->callee->name : NULL;
  if (value.kind == EV_DTYPE)
    ev_fail(e, expr->callee->span, "%s is a dtype: `%s` converts",
            leat_dtype_name((leat_dtype)value.i),
            value.i == LEAT_str
                ? "number_to_str(x)"
                : leat_arena_printf(e->arena, "cast(x, %s)", leat_dtype_name((leat_dtype)value.i)));
  else if (value.kind == EV_ENTRY)
    ev_fail(e, expr->callee->span,
            "`%s` is an entry, which is run: by `leat run`, or in `leat repl` by a line of its own",
            value.entry->name);
  else if (value.kind != EV_ERROR && name)
    ev_fail(e, expr->callee->span, "`%s` is %s, which cannot be called", name, ev_kind_name(value));
  else if (value.kind != EV_ERROR)
    ev_fail(e, expr->callee->span, "%s cannot be called", ev_kind_name(value));
  return NULL;
}

// A function that a parameter is may hold state, or be an op.
static bool is_by_its_name(const leat_expr *expr, const ev_function *function) {
  return expr->callee->kind == LEAT_EXPR_NAME && !strcmp(expr->callee->name, function->name);
}

ev ev_call_expr(evaluator *e, const leat_expr *expr, const char *hint) {
  if (!ev_spend(e, 1, expr->span)) return ev_error();
  const ev_function *function = callee(e, expr);
  uint32_t count;
  ev_argument *args = ev_arguments(e, &expr->args, 0, &count); // reports what is wrong in them too
  if (!function || !args) return ev_error();
  const char *as = NULL;
  if (expr->as && !ev_string(e, expr->as, &as)) return ev_error();
  if (!function->definition && !is_by_its_name(expr, function)) as = NULL;
  return ev_call(e, function, args, count, expr->span, as, hint);
}
