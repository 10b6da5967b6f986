// Statements and expressions: what compile time decides is decided here; the rest becomes nodes.
#include "frontend/evaluate/statements.h"

#include "frontend/evaluate/calls.h"
#include "frontend/values/names.h"
#include "frontend/values/region.h"

#include <inttypes.h>
#include <string.h>

// -- Expressions --------------------------------------------------------------------------------

static bool add_part(evaluator *e, const leat_expr *expr, leat_text *text) {
  ev value = ev_expr(e, expr, NULL);
  if (value.kind == EV_TENSOR || value.kind == EV_STATE)
    ev_fail(e, expr->span, "a string is made while compiling, %s is not known then",
            ev_kind_name(value));
  else if (value.kind == EV_STRING)
    leat_text_add_n(text, value.text, value.size);
  else
    ev_print(value, text);
  return value.kind != EV_ERROR && value.kind != EV_TENSOR && value.kind != EV_STATE;
}

static ev string_value(evaluator *e, const leat_expr *expr) {
  leat_text text = {0};
  bool ok = true;
  for (uint32_t i = 0; i < expr->part_count && text.size <= EV_MAX_STRING; i++) {
    const leat_string_part *part = &expr->parts[i];
    if (!part->expr)
      leat_text_add_n(&text, part->text, part->size);
    else
      ok = add_part(e, part->expr, &text) && ok;
  }
  return ev_take_text(e, &text, ok, expr->span);
}

bool ev_string(evaluator *e, const leat_expr *expr, const char **out) {
  ev value = ev_expr(e, expr, NULL);
  if (value.kind == EV_ERROR) return false;
  if (value.kind != EV_STRING || memchr(value.text, 0, value.size)) {
    ev_fail(e, expr->span, "expected a string%s, found %s",
            value.kind == EV_STRING ? " without NUL" : "", ev_kind_name(value));
    return false;
  }
  *out = leat_intern_n(e->strings, value.text, value.size);
  return true;
}

static ev list_value(evaluator *e, const leat_expr *expr) {
  ev *items = ev_new_items(e, expr->list.count);
  if (!items) return ev_error();
  for (uint32_t i = 0; i < expr->list.count; i++) {
    items[i] = ev_value(e, expr->list.items[i], NULL);
    if (items[i].kind == EV_ERROR) return ev_error();
  }
  return ev_take_list(e, items, expr->list.count);
}

static ev int_value(const leat_expr *expr) {
  if (!expr->negative && expr->magnitude > INT64_MAX)
    return (ev){.kind = EV_FLOAT, .f = (double)expr->magnitude, .magnitude = expr->magnitude};
  return ev_int((int64_t)(expr->negative ? 0 - expr->magnitude : expr->magnitude));
}

static ev type_value(evaluator *e, const leat_expr *expr) {
  leat_type *type = leat_new(e->arena, leat_type);
  return ev_type_of(e, expr, type) ? (ev){.kind = EV_TYPE, .type = type} : ev_error();
}

static ev any_dim(evaluator *e, const leat_expr *expr) {
  if (!expr->number_of_dim) return ev_fail(e, expr->span, "`?` stands only in a type");
  const char *name = leat_intern_printf(e->strings, "?%u", expr->number_of_dim);
  return ev_of_dim(leat_dim_anonymous(e->graph->dims, name));
}

// Whether `and` or `or` needs no second operand.
static bool decides(leat_operator operator, ev left) {
  return left.kind == EV_BOOL &&
         ((operator== LEAT_OPERATOR_AND && !left.i) || (operator== LEAT_OPERATOR_OR && left.i));
}

static ev body_value(evaluator *e, const leat_expr *expr) {
  if (!e->at.absolute)
    return ev_fail(
        e, expr->span,
        "a function without a name stands in dumps only; `fn NAME(…) { … }` defines one");
  leat_graph *body = ev_body(e, expr->body);
  return body ? (ev){.kind = EV_BODY, .body = body} : ev_error();
}

static ev dispatch(evaluator *e, const leat_expr *expr, const char *hint) {
  switch ((leat_expr_kind)expr->kind) {
  case LEAT_EXPR_NAME: return ev_name(e, expr->name, expr->span);
  case LEAT_EXPR_PATH: return ev_path(e, expr);
  case LEAT_EXPR_INT: return int_value(expr);
  case LEAT_EXPR_FLOAT: return ev_float(expr->number);
  case LEAT_EXPR_IMAGINARY: return ev_complex(0, expr->number);
  case LEAT_EXPR_BOOL: return ev_bool(expr->truth);
  case LEAT_EXPR_NONE: return ev_none();
  case LEAT_EXPR_STRING: return string_value(e, expr);
  case LEAT_EXPR_LIST: return list_value(e, expr);
  case LEAT_EXPR_FN: return body_value(e, expr);
  case LEAT_EXPR_CALL: return ev_call_expr(e, expr, hint);
  case LEAT_EXPR_INDEX: return ev_is_type(e, expr) ? type_value(e, expr) : ev_index(e, expr, hint);
  case LEAT_EXPR_UNARY: {
    ev value = ev_expr(e, expr->right, NULL);
    return ev_operator(e, expr->operator, value, ev_none(), expr->span, hint);
  }
  case LEAT_EXPR_BINARY: {
    ev left = ev_expr(e, expr->left, NULL);
    if (decides(expr->operator, left)) return left;
    ev right = ev_expr(e, expr->right, NULL);
    return ev_operator(e, expr->operator, left, right, expr->span, hint);
  }
  case LEAT_EXPR_RANGE:
  case LEAT_EXPR_VAR_TYPE: break; // parsed only where who evaluates it takes it apart
  case LEAT_EXPR_SLICE:
  case LEAT_EXPR_NEW_AXIS:
  case LEAT_EXPR_ELLIPSIS: return ev_fail(e, expr->span, "this stands only inside `x[…]`");
  case LEAT_EXPR_ANY_DIM: return any_dim(e, expr);
  }
  return ev_error();
}

// Whether there is room on the stack for one more level of what calls itself.
static bool descend(evaluator *e, leat_span span) {
  if (e->stopped) return false;
  if (e->depth < EV_MAX_DEPTH) return ++e->depth;
  e->stopped = true;
  ev_fail(e, span, "blocks, expressions and calls are nested more than %d deep", EV_MAX_DEPTH);
  return false;
}

// A body of the library ends at its first error, which is that of the user's call.
static bool library_failed(const evaluator *e) {
  return ev_in_library(e->frame) && leat_diag_errors(e->diag) > e->frame->errors;
}

ev ev_expr(evaluator *e, const leat_expr *expr, const char *hint) {
  if (library_failed(e) || !descend(e, expr->span)) return ev_error();
  ev value = dispatch(e, expr, hint);
  e->depth--;
  return value;
}

ev ev_value(evaluator *e, const leat_expr *expr, const char *hint) {
  ev value = ev_expr(e, expr, hint);
  if (!ev_is_nothing(value)) return value;
  const leat_expr *callee = expr->kind == LEAT_EXPR_CALL ? expr->callee : expr;
  return ev_fail(e, expr->span, "`%s` gives no value: its call is a line of its own",
                 ev_source_text(e, callee->span));
}

// -- What a REPL shows --------------------------------------------------------------------------

static bool is_all_tensors(ev list) {
  for (uint32_t i = 0; i < list.list->count; i++)
    if (!ev_is_tensor(list.list->items[i])) return false;
  return list.list->count > 0;
}

static void show(evaluator *e, ev value, leat_span span) {
  if (value.kind == EV_STATE || value.kind == EV_ROWS)
    value = ev_tensor(ev_as_tensor(e, value, -1, span));
  if (value.kind == EV_ERROR || value.kind == EV_NONE) return;
  if (value.kind == EV_TENSOR) {
    leat_vec_push(e->arena, &e->last->shown, ev_fetch_name(e, value.tensor));
  } else if (value.kind == EV_LIST && (value.list->results || is_all_tensors(value))) {
    for (uint32_t i = 0; i < value.list->count; i++) show(e, value.list->items[i], span);
  } else if (e->known.size <= EV_MAX_STRING &&
             ev_spend(e, value.kind == EV_LIST ? value.list->weight : 1, span)) {
    ev_print(value, &e->known);
    leat_text_add(&e->known, e->known.size > EV_MAX_STRING ? " …\n" : "\n");
    if (e->interactive) ev_bind(e, e->globals, span, leat_intern(e->strings, "_"), value);
  }
}

static void expression_statement(evaluator *e, const leat_stmt *stmt) {
  if (ev_entry_call(e, stmt)) return;
  bool top = !e->frame->caller && !e->at.entry;
  for (uint32_t i = 0; i < stmt->values.count; i++) {
    ev value = ev_expr(e, stmt->values.items[i], NULL);
    if (top && !e->at.region)
      show(e, value, stmt->span);
    else if (top && e->interactive && value.kind != EV_ERROR && !ev_is_nothing(value))
      leat_warn_at(e->diag, stmt->span,
                   "what is inside of an `if` or a `while` is not shown; `print(\"…\", x)` shows x "
                   "when it runs");
  }
}

// -- Control decided while compiling ------------------------------------------------------------

// The loop's name, and what a turn binds, are the turn's own; families go to the scope around.
static bool turn(evaluator *e, const leat_stmt *stmt, ev item, int64_t number) {
  uint32_t errors = leat_diag_errors(e->diag);
  if (!ev_spend(e, 1, stmt->span)) return false;
  ev_frame *frame = e->frame;
  ev_scope *outer = frame->scope;
  const char *path = e->at.path;
  long long value = item.kind == EV_INT ? item.i : number;
  frame->scope = ev_scope_new(e, outer);
  frame->scope->turn = true;
  ev_bind(e, frame->scope, stmt->name_span, stmt->name, item);
  if (stmt->body.count)
    e->at.path =
        leat_intern_printf(e->strings, "%s%s%s%lld", path, *path ? "/" : "", stmt->name, value);
  ev_statements(e, &stmt->body);
  e->at.path = path;
  frame->scope = outer;
  return !frame->returned && leat_diag_errors(e->diag) == errors; // one turn's are every turn's
}

// A bound of a `for` that is no int; true where it is one, or was a mistake before.
static bool check_bound(evaluator *e, const leat_expr *expr, ev bound) {
  if (bound.kind == EV_DIM || ev_is_tensor(bound))
    ev_fail(e, expr->span,
            "`for` is evaluated while compiling, and `%s` is known only while running; `while` and "
            "`fori(n, f, init)` loop then",
            ev_source_text(e, expr->span));
  else if (bound.kind != EV_INT && bound.kind != EV_ERROR)
    ev_fail(e, expr->span, "the bounds of a `for` are ints, found %s", ev_found_no_int(e, bound));
  return bound.kind == EV_INT;
}

// False: it has no turns, because of a mistake.
static bool for_range(evaluator *e, const leat_stmt *stmt) {
  ev low = ev_expr(e, stmt->over->begin, NULL), high = ev_expr(e, stmt->over->end, NULL);
  bool good = check_bound(e, stmt->over->begin, low);
  if (!check_bound(e, stmt->over->end, high) || !good) return false;
  for (int64_t i = low.i; i < high.i; i++)
    if (!turn(e, stmt, ev_int(i), i)) break;
  return true;
}

static bool for_list(evaluator *e, const leat_stmt *stmt) {
  ev list = ev_expr(e, stmt->over, NULL);
  const leat_type *type = ev_tensor_type(list);
  const char *rows =
      type && type->rank && leat_dim_is_const(type->dims[0])
          ? leat_arena_printf(e->arena, "; `for i in 0..%lld` takes `x[i]`, a row of x, each turn",
                              (long long)type->dims[0].value)
          : "";
  if (list.kind != EV_LIST && list.kind != EV_ERROR)
    ev_fail(e, stmt->over->span, "`for` goes over a range or a list, not over %s%s",
            ev_kind_name(list), rows);
  if (list.kind != EV_LIST) return false;
  for (uint32_t i = 0; i < list.list->count; i++)
    if (!turn(e, stmt, list.list->items[i], i)) break;
  return true;
}

static void for_loop(evaluator *e, const leat_stmt *stmt) {
  bool range = stmt->over->kind == LEAT_EXPR_RANGE;
  if (!(range ? for_range(e, stmt) : for_list(e, stmt))) ev_bind_nothing(e, stmt);
}

// In a `fn` or a `gradient`: the parser takes it nowhere else.
static void return_statement(evaluator *e, const leat_stmt *stmt) {
  ev_frame *frame = e->frame;
  uint32_t count = stmt->values.count;
  frame->returned = true;
  if (count == 1) {
    frame->result = ev_expr(e, stmt->values.items[0], frame->hint);
    return;
  }
  ev *items = leat_new_array(e->arena, ev, (size_t)count + 1);
  for (uint32_t i = 0; i < count; i++) items[i] = ev_value(e, stmt->values.items[i], NULL);
  frame->result = count ? ev_take_results(e, items, count) : ev_nothing();
}

// -- Definitions --------------------------------------------------------------------------------

static bool dim_bounds(evaluator *e, const leat_expr *bounds, int64_t *low, int64_t *high) {
  ev from = ev_expr(e, bounds->begin, NULL), to = ev_expr(e, bounds->end, NULL);
  if (from.kind == EV_ERROR || to.kind == EV_ERROR) return false;
  bool ok = from.kind == EV_INT && to.kind == EV_INT && from.i >= 0 && to.i >= from.i;
  if (!ok) ev_fail(e, bounds->span, "a dim's bounds are two ints, 0 <= low <= high");
  *low = from.i;
  *high = to.i;
  return ok;
}

static void dim_statement(evaluator *e, const leat_stmt *stmt) {
  int64_t low = 0, high = INT64_MAX;
  if (stmt->bounds && !dim_bounds(e, stmt->bounds, &low, &high)) return;
  const leat_atom *old = leat_dim_find(e->graph->dims, stmt->name);
  if (old && (old->low != low || old->high != high)) {
    ev_fail(e, stmt->span, "dim `%s` is known already, with other bounds", stmt->name);
    return;
  }
  leat_dim dim = leat_dim_named(e->graph->dims, stmt->name, low, high);
  ev_bind(e, e->globals, stmt->name_span, stmt->name, ev_of_dim(dim));
}

// What is not done yet says so once: its names are bound, to nothing.
static void not_yet(evaluator *e, const leat_stmt *stmt, const char *what) {
  ev_fail(e, stmt->span, "%s not supported yet", what);
  ev_bind_nothing(e, stmt);
}

// -- Statements ---------------------------------------------------------------------------------

static void statement(evaluator *e, const leat_stmt *stmt) {
  switch (stmt->kind) {
  case LEAT_STMT_GRAPH: return; // evaluated beforehand
  case LEAT_STMT_USE: ev_use(e, stmt); return;
  case LEAT_STMT_FN:
  case LEAT_STMT_GRADIENT: ev_define(e, stmt); return;
  case LEAT_STMT_DIM: dim_statement(e, stmt); return;
  case LEAT_STMT_ENTRY: ev_entry(e, stmt); return;
  case LEAT_STMT_VAR: ev_var(e, stmt); return;
  case LEAT_STMT_QUEUE: not_yet(e, stmt, "queues are"); return;
  case LEAT_STMT_MUTEX: not_yet(e, stmt, "mutexes are"); return;
  case LEAT_STMT_BIND: ev_bind_statement(e, stmt); return;
  case LEAT_STMT_ASSIGN:
  case LEAT_STMT_UPDATE: ev_assign(e, stmt); return;
  case LEAT_STMT_EXPR: expression_statement(e, stmt); return;
  case LEAT_STMT_ON: ev_statements(e, &stmt->body); return;
  case LEAT_STMT_FOR: for_loop(e, stmt); return;
  case LEAT_STMT_IF: ev_if(e, stmt); return;
  case LEAT_STMT_WHILE: ev_while(e, stmt); return;
  case LEAT_STMT_RETURN: return_statement(e, stmt); return;
  case LEAT_STMT_YIELD: return; // its `if` takes the values
  case LEAT_STMT_NEXT: return;  // of a `while`
  }
}

// "`softmax(x: i32[4])`": a call of the library as the user made it, its tensors with their types.
static const char *call_text(evaluator *e, const ev_frame *frame) {
  const leat_bindings *params = &frame->function->definition->params;
  const char *types = "";
  for (uint32_t i = 0; i < params->count; i++) {
    const ev_binding *binding = ev_lookup(frame->scope, params->items[i].name);
    const leat_type *type = binding ? ev_tensor_type(binding->value) : NULL;
    if (type)
      types = leat_arena_printf(e->arena, "%s%s%s: %s", types, *types ? ", " : "",
                                params->items[i].name, leat_type_text(e->arena, type));
  }
  return leat_arena_printf(e->arena, *types ? "`%s(%s)`" : "`%s`", frame->function->name, types);
}

// An error says which call of the library it is of, one note where in there it came up, and none
// shows the calls between.
static void leave_library(evaluator *e, leat_span where) {
  if (!library_failed(e)) return;
  const ev_function *function = e->frame->function;
  const char *rule =
      function->definition->kind == LEAT_STMT_GRADIENT ? "the gradient rule of " : "";
  ev_frame *called = e->frame;
  while (called->caller && ev_in_library(called->caller)) called = called->caller;
  if (!e->frame->blamed) {
    const ev_frame *unnamed = called->unnamed; // where a name is missing, the user's call
    bool told = e->stopped || (unnamed && unnamed->blamed);
    if (called->function->definition->kind == LEAT_STMT_FN && !told)
      leat_diag_say_of(e->diag, call_text(e, called));
    leat_note_at(e->diag, where, "in %s`%s` of the library", rule, function->name);
  }
  for (ev_frame *f = e->frame; f && ev_in_library(f); f = f->caller) f->blamed = true;
  e->frame->returned = true;
}

void ev_statements(evaluator *e, const leat_stmts *stmts) {
  for (uint32_t i = 0; i < stmts->count && !e->frame->returned; i++) {
    const leat_stmt *stmt = stmts->items[i];
    if (!ev_spend(e, 1, stmt->span) || !descend(e, stmt->span)) return;
    leat_span span = e->span;
    uint32_t first_node = e->first_node;
    e->span = stmt->span;
    bool top = !e->frame->caller && !e->at.entry && !e->at.region; // what functions see may change
    if (top) e->asked.count = 0;
    ev_placed saved;
    bool entered = ev_enter_suffixes(e, stmt, &saved);
    e->first_node = e->at.body->nodes.count; // what the suffixes make does not wait for itself
    if (entered)
      statement(e, stmt);
    else
      ev_bind_nothing(e, stmt);
    ev_leave_suffixes(e, stmt, &saved);
    leave_library(e, stmt->span);
    e->span = span;
    e->first_node = first_node;
    e->depth--;
  }
}
