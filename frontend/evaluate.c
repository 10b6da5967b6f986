// Statements and expressions: what compile time decides is decided here; the rest becomes nodes.
#include "frontend/evaluator.h"
#include "frontend/parser.h"
#include "frontend/stdlib.h"
#include "ir/device_name.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// -- Values --------------------------------------------------------------------------------------

ev ev_error(void) {
  return (ev){.kind = EV_ERROR};
}
ev ev_int(int64_t value) {
  return (ev){.kind = EV_INT, .i = value};
}
ev ev_bool(bool value) {
  return (ev){.kind = EV_BOOL, .i = value};
}

ev ev_tensor(leat_value value) {
  return value.node ? (ev){.kind = EV_TENSOR, .tensor = value} : ev_error();
}

ev ev_of_dim(leat_dim dim) {
  return leat_dim_is_const(dim) ? ev_int(dim.value) : (ev){.kind = EV_DIM, .dim = dim};
}

ev ev_make_list(evaluator *e, const ev *items, uint32_t count) {
  ev_list *list = leat_new(e->arena, ev_list);
  list->count = count;
  list->items = leat_arena_memdup(e->arena, items, count * sizeof *items);
  return (ev){.kind = EV_LIST, .list = list};
}

bool ev_is_literal(ev value) {
  return value.kind == EV_INT || value.kind == EV_FLOAT || value.kind == EV_BOOL;
}

const char *ev_kind_name(ev value) {
  switch (value.kind) {
  case EV_ERROR: return "an error";
  case EV_NONE: return "none";
  case EV_TENSOR: return "a tensor";
  case EV_INT: return "an int";
  case EV_FLOAT: return "a float";
  case EV_BOOL: return "a bool";
  case EV_STRING: return "a string";
  case EV_DTYPE: return "a dtype";
  case EV_TYPE: return "a type";
  case EV_DIM: return "a dimension";
  case EV_FUNCTION: return "a function";
  case EV_LIST: return "a list";
  case EV_STATE: return "a variable";
  case EV_ENTRY: return "an entry";
  }
  return "?";
}

bool ev_equal(ev a, ev b) {
  if (a.kind != b.kind) {
    bool numbers =
        (a.kind == EV_INT && b.kind == EV_FLOAT) || (a.kind == EV_FLOAT && b.kind == EV_INT);
    return numbers && (a.kind == EV_INT ? (double)a.i == b.f : a.f == (double)b.i);
  }
  switch (a.kind) {
  case EV_ERROR:
  case EV_NONE: return true;
  case EV_TENSOR: return a.tensor.node == b.tensor.node && a.tensor.port == b.tensor.port;
  case EV_INT:
  case EV_BOOL:
  case EV_DTYPE: return a.i == b.i;
  case EV_FLOAT: return a.f == b.f;
  case EV_STRING: return a.size == b.size && !memcmp(a.text, b.text, a.size);
  case EV_TYPE: return leat_type_equal(a.type, b.type);
  case EV_DIM: return leat_dim_equal(a.dim, b.dim);
  case EV_FUNCTION: return a.function == b.function;
  case EV_STATE:
  case EV_ENTRY: return a.state == b.state;
  case EV_LIST:
    if (a.list->count != b.list->count) return false;
    for (uint32_t i = 0; i < a.list->count; i++)
      if (!ev_equal(a.list->items[i], b.list->items[i])) return false;
    return true;
  }
  return false;
}

void ev_print(ev value, leat_text *out) {
  switch (value.kind) {
  case EV_ERROR:
  case EV_NONE: leat_text_add(out, "none"); return;
  case EV_TENSOR: leat_text_add(out, "%s", value.tensor.node->name); return;
  case EV_INT: leat_text_add(out, "%lld", (long long)value.i); return;
  case EV_FLOAT: leat_text_add_f64(out, value.f); return;
  case EV_BOOL: leat_text_add(out, value.i ? "true" : "false"); return;
  case EV_STRING: leat_text_add_quoted(out, value.text, value.size); return;
  case EV_DTYPE: leat_text_add(out, "%s", leat_dtype_name((leat_dtype)value.i)); return;
  case EV_TYPE: leat_type_print(value.type, out); return;
  case EV_DIM: leat_dim_print(value.dim, out); return;
  case EV_FUNCTION: leat_text_add(out, "%s", value.function->name); return;
  case EV_STATE:
  case EV_ENTRY: leat_text_add(out, "%s", value.state->name); return;
  case EV_LIST:
    leat_text_add(out, "[");
    for (uint32_t i = 0; i < value.list->count; i++) {
      if (i) leat_text_add(out, ", ");
      ev_print(value.list->items[i], out);
    }
    leat_text_add(out, "]");
    return;
  }
}

ev ev_fail(evaluator *e, leat_span span, const char *format, ...) {
  char message[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  leat_error_at(e->diag, span, "%s", message);
  return ev_error();
}

// -- Names
// -----------------------------------------------------------------------------------------

ev_scope *ev_scope_new(evaluator *e, ev_scope *parent) {
  ev_scope *scope = leat_new(e->arena, ev_scope);
  scope->parent = parent;
  leat_map_init(&scope->names, e->arena);
  return scope;
}

ev_binding *ev_lookup(ev_scope *scope, const char *name) {
  for (; scope; scope = scope->parent) {
    ev_binding *binding = leat_map_get(&scope->names, name);
    if (binding) return binding;
  }
  return NULL;
}

bool ev_bind(evaluator *e, ev_scope *scope, leat_span span, const char *name, ev value) {
  ev_binding *old = leat_map_get(&scope->names, name);
  bool again = e->interactive && scope == e->globals && old && old->value.kind != EV_ENTRY;
  if (old && !again) {
    leat_error_at(e->diag, span, "`%s` is bound twice in this scope", name);
    if (old->span.source) leat_note_at(e->diag, old->span, "the first binding is here");
    return false;
  }
  ev_binding *binding = leat_new(e->arena, ev_binding);
  *binding = (ev_binding){.value = value, .span = span};
  ev_set(e, &scope->names, name, binding);
  return true;
}

// A definition of the library, parsed when it is first used.
static const ev_function *library(evaluator *e, leat_stdlib_kind kind, leat_map *map,
                                  const char *name) {
  const leat_stdlib_entry *entry = leat_stdlib_find(kind, name);
  if (!entry) return NULL;
  const leat_stdlib_file *file = &leat_stdlib_files[entry->file];
  uint32_t source =
      leat_diag_add_source(e->diag, file->name, file->text + entry->offset, entry->size);
  leat_diag_set_first_line(e->diag, source, entry->line);
  leat_ast_file *ast = leat_parse(e->arena, e->strings, e->diag, source);
  if (ast->stmts.count != 1) return NULL;
  ev_function *function = leat_new(e->arena, ev_function);
  *function = (ev_function){.name = name, .definition = ast->stmts.items[0]};
  leat_map_set(map, name, function); // stays, whatever becomes of the text that asked for it
  return function;
}

const ev_function *ev_find_gradient(evaluator *e, const char *name) {
  const ev_function *found = leat_map_get(&e->gradients, name);
  return found ? found : library(e, LEAT_STDLIB_GRADIENT, &e->gradients, name);
}

const ev_function *ev_find_function(evaluator *e, const char *name) {
  const ev_function *found = leat_map_get(&e->functions, name);
  if (found) return found;
  found = library(e, LEAT_STDLIB_FN, &e->functions, name);
  if (found) return found;
  const ev_builtin *builtin = ev_find_builtin(name);
  leat_op op = LEAT_OP_COUNT;
  if (!builtin && !leat_op_parse(name, strlen(name), &op)) return NULL;
  ev_function *function = leat_new(e->arena, ev_function);
  *function = (ev_function){.name = name, .builtin = builtin, .op = op};
  leat_map_set(&e->functions, name, function);
  return function;
}

// What an unknown name may have been meant to be.
static const char *nearest_name(evaluator *e, const char *name) {
  leat_vec(const char *) names = {0};
  for (ev_scope *scope = e->frame->scope; scope; scope = scope->parent)
    for (uint32_t i = 0; i < scope->names.count; i++)
      if (scope->names.entries[i].value)
        leat_vec_push(e->arena, &names, scope->names.entries[i].key);
  for (uint32_t i = 0; i < e->functions.count; i++)
    leat_vec_push(e->arena, &names, e->functions.entries[i].key);
  for (uint32_t i = 0; i < leat_stdlib_index_count; i++)
    leat_vec_push(e->arena, &names, leat_stdlib_index[i].name);
  for (uint32_t i = 0; ev_builtin_at(i); i++)
    leat_vec_push(e->arena, &names, ev_builtin_at(i)->name);
  for (int op = 0; op < LEAT_OP_COUNT; op++)
    leat_vec_push(e->arena, &names, leat_op_name((leat_op)op));
  return leat_nearest(name, names.items, names.count);
}

ev ev_name(evaluator *e, const char *name, leat_span span) {
  ev_binding *binding = ev_lookup(e->frame->scope, name);
  if (binding) return binding->value;
  leat_dtype dtype;
  if (leat_dtype_parse(name, strlen(name), &dtype)) return (ev){.kind = EV_DTYPE, .i = dtype};
  leat_state *state = leat_graph_find_state(e->graph, name); // global_step
  if (state && !strchr(name, '/')) return (ev){.kind = EV_STATE, .state = state};
  const ev_function *function = ev_find_function(e, name);
  if (function) return (ev){.kind = EV_FUNCTION, .function = function};
  const char *near = nearest_name(e, name);
  return near ? ev_fail(e, span, "unknown name `%s`; did you mean `%s`?", name, near)
              : ev_fail(e, span, "unknown name `%s`", name);
}

static ev path_value(evaluator *e, const leat_expr *expr) {
  leat_state *state = leat_graph_find_state(e->graph, expr->path);
  if (state && !expr->port) return (ev){.kind = EV_STATE, .state = state};
  leat_node *node = leat_graph_find_node(e->graph, expr->path);
  const leat_value *alias = node ? NULL : leat_map_get(&e->aliases, expr->path);
  if (alias) return ev_tensor(*alias);
  if (!node) {
    const char *near = leat_frontend_suggest(e, expr->path);
    return ev_fail(e, expr->span, "nothing above is called `$%s`%s%s%s", expr->path,
                   near ? "; did you mean `$" : "", near ? near : "", near ? "`?" : "");
  }
  if (expr->port >= (uint32_t)leat_op_info_of(node->op)->outputs)
    return ev_fail(e, expr->span, "`%s` (%s) has no output %u", node->name, leat_op_name(node->op),
                   expr->port);
  return ev_tensor((leat_value){node, expr->port});
}

// -- Expressions
// -------------------------------------------------------------------------------------

static ev string_value(evaluator *e, const leat_expr *expr) {
  leat_text text = {0};
  bool ok = true;
  for (uint32_t i = 0; i < expr->part_count; i++) {
    const leat_string_part *part = &expr->parts[i];
    if (!part->expr) {
      leat_text_add_n(&text, part->text, part->size);
      continue;
    }
    ev value = ev_expr(e, part->expr, NULL);
    ok = ok && value.kind != EV_ERROR;
    if (value.kind == EV_TENSOR) {
      ev_fail(e, part->expr->span, "a string is made while compiling, a tensor is not known then");
      ok = false;
    } else if (value.kind == EV_STRING) {
      leat_text_add_n(&text, value.text, value.size);
    } else {
      ev_print(value, &text);
    }
  }
  ev result = {.kind = EV_STRING, .size = text.size};
  result.text = leat_arena_strndup(e->arena, text.data ? text.data : "", text.size);
  leat_text_finish(&text);
  return ok ? result : ev_error();
}

bool ev_string(evaluator *e, const leat_expr *expr, const char **out) {
  ev value = ev_expr(e, expr, NULL);
  if (value.kind == EV_ERROR) return false;
  if (value.kind != EV_STRING || memchr(value.text, 0, value.size)) {
    ev_fail(e, expr->span, "expected a string, found %s", ev_kind_name(value));
    return false;
  }
  *out = leat_intern_n(e->strings, value.text, value.size);
  return true;
}

static ev list_value(evaluator *e, const leat_expr *expr) {
  ev *items = leat_new_array(e->arena, ev, expr->list.count + 1);
  for (uint32_t i = 0; i < expr->list.count; i++) {
    items[i] = ev_expr(e, expr->list.items[i], NULL);
    if (items[i].kind == EV_ERROR) return ev_error();
  }
  ev_list *list = leat_new(e->arena, ev_list);
  *list = (ev_list){.count = expr->list.count, .items = items};
  return (ev){.kind = EV_LIST, .list = list};
}

static ev int_value(const leat_expr *expr) {
  if (!expr->negative && expr->magnitude > INT64_MAX)
    return (ev){.kind = EV_FLOAT, .f = (double)expr->magnitude, .magnitude = expr->magnitude};
  return ev_int((int64_t)(expr->negative ? 0 - expr->magnitude : expr->magnitude));
}

static ev dispatch(evaluator *e, const leat_expr *expr, const char *hint) {
  switch (expr->kind) {
  case LEAT_EXPR_NAME: return ev_name(e, expr->name, expr->span);
  case LEAT_EXPR_PATH: return path_value(e, expr);
  case LEAT_EXPR_INT: return int_value(expr);
  case LEAT_EXPR_FLOAT: return (ev){.kind = EV_FLOAT, .f = expr->number};
  case LEAT_EXPR_BOOL: return ev_bool(expr->truth);
  case LEAT_EXPR_NONE: return (ev){.kind = EV_NONE};
  case LEAT_EXPR_STRING: return string_value(e, expr);
  case LEAT_EXPR_LIST: return list_value(e, expr);
  case LEAT_EXPR_CALL: return ev_call_expr(e, expr, hint);
  case LEAT_EXPR_INDEX:
    if (ev_is_type(e, expr)) {
      leat_type *type = leat_new(e->arena, leat_type);
      if (!ev_type_of(e, expr, type)) return ev_error();
      return (ev){.kind = EV_TYPE, .type = type};
    }
    return ev_index(e, expr, hint);
  case LEAT_EXPR_UNARY: {
    ev value = ev_expr(e, expr->right, NULL);
    return ev_operator(e, expr->operator, value, (ev){.kind = EV_NONE}, expr->span, hint);
  }
  case LEAT_EXPR_BINARY: {
    ev left = ev_expr(e, expr->left, NULL), right = ev_expr(e, expr->right, NULL);
    return ev_operator(e, expr->operator, left, right, expr->span, hint);
  }
  case LEAT_EXPR_RANGE:
    return ev_fail(e, expr->span, "a range `a..b` stands only in `for` and `dim`");
  case LEAT_EXPR_SLICE:
  case LEAT_EXPR_NEW_AXIS:
  case LEAT_EXPR_ELLIPSIS: return ev_fail(e, expr->span, "this stands only inside `x[…]`");
  case LEAT_EXPR_ANY_DIM:
    if (!expr->number_of_dim) return ev_fail(e, expr->span, "`?` stands only in a type");
    return ev_of_dim(leat_dim_anonymous(
        e->graph->dims, leat_intern_printf(e->strings, "?%u", expr->number_of_dim)));
  case LEAT_EXPR_VAR_TYPE:
    return ev_fail(e, expr->span, "`var` stands only in the type of a parameter");
  }
  return ev_error();
}

ev ev_expr(evaluator *e, const leat_expr *expr, const char *hint) {
  if (e->stopped) return ev_error();
  if (e->depth >= EV_MAX_DEPTH) {
    e->stopped = true;
    return ev_fail(e, expr->span, "expressions and calls are nested more than %d deep",
                   EV_MAX_DEPTH);
  }
  e->depth++;
  ev value = dispatch(e, expr, hint);
  e->depth--;
  return value;
}

// -- Suffixes
// ------------------------------------------------------------------------------------------

typedef struct placed {
  const char *device, *frame_device, *colocate;
  uint32_t first_node;
} placed;

// `on` inside `on`: both hold.
static bool narrow_device(evaluator *e, const leat_expr *on, const char **device) {
  const char *text;
  if (!ev_string(e, on, &text)) return false;
  leat_device_name outer, inner, both;
  if (!leat_device_name_parse(e->strings, text, &inner)) {
    ev_fail(e, on->span,
            "`%s` is no device name; they look like "
            "\"/job:worker/task:0/device:cpu:0\", with at least one part",
            text);
    return false;
  }
  if (!*device) {
    *device = leat_device_name_format(e->strings, inner);
    return true;
  }
  if (!leat_device_name_parse(e->strings, *device, &outer) ||
      !leat_device_name_merge(outer, inner, &both)) {
    ev_fail(e, on->span, "`on \"%s\"` stands inside `on \"%s\"`: nothing can be on both", text,
            *device);
    return false;
  }
  *device = leat_device_name_format(e->strings, both);
  return true;
}

static bool colocation(evaluator *e, const leat_expr *expr, const char **out) {
  if (expr->kind == LEAT_EXPR_STRING) return ev_string(e, expr, out);
  ev value = ev_expr(e, expr, NULL);
  if (value.kind == EV_STATE)
    *out = value.state->name;
  else if (value.kind == EV_TENSOR)
    *out = value.tensor.node->name;
  else if (value.kind != EV_ERROR)
    ev_fail(e, expr->span, "`colocate` names a tensor or a variable, this is %s",
            ev_kind_name(value));
  return value.kind == EV_STATE || value.kind == EV_TENSOR;
}

static bool enter_suffixes(evaluator *e, const leat_stmt *stmt, placed *saved) {
  *saved = (placed){e->device, e->frame->device, e->colocate, e->graph->nodes.count};
  bool ok = true;
  if (stmt->on) {
    ok = narrow_device(e, stmt->on, &e->device) && narrow_device(e, stmt->on, &e->frame->device);
  }
  if (ok && stmt->colocate) ok = colocation(e, stmt->colocate, &e->colocate);
  return ok;
}

static void wait_for(evaluator *e, const leat_expr *name, leat_node *before, uint32_t first,
                     uint32_t end) {
  for (uint32_t i = first; i < end; i++) {
    if (e->graph->nodes.items[i] == before) {
      ev_fail(e, name->span, "`%s` would have to wait for itself: a cycle", before->name);
      return;
    }
    leat_node_add_control(e->graph, e->graph->nodes.items[i], before);
  }
}

// The node that `after [name]` waits for; NULL when it is not bound yet.
static leat_node *awaited(evaluator *e, const leat_expr *name, ev_scope *scope) {
  if (name->kind == LEAT_EXPR_NAME && !ev_lookup(scope, name->name)) return NULL;
  if (name->kind == LEAT_EXPR_PATH) return leat_graph_find_node(e->graph, name->path);
  ev value = ev_expr(e, name, NULL);
  if (value.kind == EV_TENSOR) return value.tensor.node;
  if (value.kind != EV_ERROR)
    ev_fail(e, name->span, "`after` waits for tensors, this is %s", ev_kind_name(value));
  return NULL;
}

static void leave_suffixes(evaluator *e, const leat_stmt *stmt, const placed *saved) {
  uint32_t end = e->graph->nodes.count;
  for (uint32_t i = 0; i < stmt->after.count; i++) {
    const leat_expr *name = stmt->after.items[i];
    leat_node *before = awaited(e, name, e->frame->scope);
    if (before)
      wait_for(e, name, before, saved->first_node, end);
    else if (!leat_diag_errors(e->diag))
      leat_vec_push(e->arena, &e->pending,
                    (ev_pending_after){name, e->frame->scope, saved->first_node, end});
  }
  e->device = saved->device;
  e->frame->device = saved->frame_device;
  e->colocate = saved->colocate;
}

// Names in `after` that were bound further down: the edge may go against the order of the text, so
// the nodes are sorted again.
void ev_resolve_pending(evaluator *e, uint32_t first) {
  if (e->pending.count == first || leat_diag_errors(e->diag)) return;
  ev_scope *scope = e->frame->scope;
  leat_span span = e->pending.items[first].name->span;
  for (uint32_t i = first; i < e->pending.count; i++) {
    ev_pending_after *p = &e->pending.items[i];
    e->frame->scope = p->scope;
    leat_node *before = awaited(e, p->name, p->scope);
    if (before)
      wait_for(e, p->name, before, p->first_node, p->end_node);
    else if (!leat_diag_errors(e->diag))
      ev_expr(e, p->name, NULL); // says that it is unknown
  }
  e->frame->scope = scope;
  e->pending.count = first;
  leat_node *in_cycle;
  if (!leat_diag_errors(e->diag) && !leat_graph_sort(e->graph, &in_cycle))
    ev_fail(e, span, "`after` makes a cycle: `%s` would have to wait for itself", in_cycle->name);
}

// -- Statements
// ----------------------------------------------------------------------------------------

static void add_alias(evaluator *e, const char *name, ev value) {
  if (value.kind != EV_TENSOR || e->initialising) return;
  const char *path = *e->path ? leat_intern_printf(e->strings, "%s/%s", e->path, name) : name;
  if (leat_graph_find_node(e->graph, path)) return;
  leat_value *alias = leat_new(e->arena, leat_value);
  *alias = value.tensor;
  ev_set(e, &e->aliases, path, alias);
}

// x[t] = …: the member of a family, a list that grows in the scope around the `for`.
static void bind_member(evaluator *e, const leat_binding *target, ev value) {
  ev index = ev_expr(e, target->member, NULL);
  if (index.kind == EV_ERROR) return;
  if (index.kind != EV_INT || index.i < 0 || index.i > 1000000) {
    ev_fail(e, target->member->span, "a family's member is called by an int from 0 to 1000000");
    return;
  }
  ev_scope *scope = e->frame->scope;
  ev_binding *binding = leat_map_get(&scope->names, target->name);
  if (!binding) {
    ev none = ev_make_list(e, NULL, 0);
    if (!ev_bind(e, scope, target->span, target->name, none)) return;
    binding = leat_map_get(&scope->names, target->name);
    binding->family = true;
  }
  if (!binding->family) {
    ev_fail(e, target->span, "`%s` is bound already, and not as a family", target->name);
    return;
  }
  const ev_list *old = binding->value.list;
  uint32_t count = old->count > index.i ? old->count : (uint32_t)index.i + 1;
  if ((uint32_t)index.i < old->count && old->items[index.i].kind != EV_ERROR) {
    ev_fail(e, target->span, "`%s[%lld]` is bound twice", target->name, (long long)index.i);
    return;
  }
  // Grown by doubling, so that a long chain does not cost its square.
  ev *items = (ev *)old->items;
  if (count > old->count && (old->count & (old->count - 1)) == 0) {
    uint32_t room = 1;
    while (room < count) room *= 2;
    items = leat_new_array(e->arena, ev, room);
    memcpy(items, old->items, old->count * sizeof *items);
  } else if (count > old->count + 1) {
    items = leat_new_array(e->arena, ev, count * 2u);
    memcpy(items, old->items, old->count * sizeof *items);
    count = (uint32_t)index.i + 1;
  }
  items[index.i] = value;
  ev_list *list = leat_new(e->arena, ev_list);
  *list = (ev_list){.count = count, .items = items};
  ev_binding *grown = leat_new(e->arena, ev_binding);
  *grown =
      (ev_binding){.value = {.kind = EV_LIST, .list = list}, .span = binding->span, .family = true};
  ev_set(e, &scope->names, target->name, grown);
}

static void bind_target(evaluator *e, const leat_binding *target, ev value) {
  if (value.kind == EV_TENSOR && target->type &&
      !ev_check_type(e, target->type, value.tensor, target->span, target->name))
    return;
  if (target->member) {
    bind_member(e, target, value);
  } else if (!target->absolute) {
    if (e->frame->in_for) {
      ev_fail(e, target->span,
              "inside `for` a name would be bound once a turn: bind a family, `%s[…] = …`",
              target->name);
      return;
    }
    if (ev_bind(e, e->frame->scope, target->span, target->name, value))
      add_alias(e, target->name, value);
  }
}

// The name a target wishes for the node of its value.
static const char *target_hint(evaluator *e, const leat_binding *target) {
  if (!target->member) return target->name;
  ev index = ev_expr(e, target->member, NULL);
  if (index.kind != EV_INT) return target->name;
  return leat_intern_printf(e->strings, "%s_%lld", target->name, (long long)index.i);
}

// `x: f32[3] = [1, 2, 3]`: a literal takes the declared type.
static ev declared_literal(evaluator *e, const leat_binding *target, ev value, const char *hint,
                           leat_span span) {
  bool literal = ev_is_literal(value) || value.kind == EV_STRING || value.kind == EV_LIST;
  if (!target->type || !literal) return value;
  leat_type type;
  if (!ev_type_of(e, target->type, &type)) return ev_error();
  leat_value tensor = ev_literal_tensor(e, value, &type, ev_node_name(e, hint, "const"), span);
  return ev_tensor(tensor);
}

// In canonical text the head of an entry makes the feeds of its parameters; a line of the body that
// repeats one says where it is.
static bool places_feed(evaluator *e, const leat_stmt *stmt) {
  const leat_binding *target = stmt->targets.count ? &stmt->targets.items[0] : NULL;
  leat_node *node =
      target && target->absolute ? leat_graph_find_node(e->graph, target->name) : NULL;
  if (!node || !e->entry || node->entry != e->entry || node->op != LEAT_OP_feed) return false;
  node->device = e->device;
  node->colocate = e->colocate;
  return true;
}

static void bind_statement(evaluator *e, const leat_stmt *stmt) {
  uint32_t targets = stmt->targets.count;
  if (places_feed(e, stmt)) return;
  if (stmt->values.count != 1 && stmt->values.count != targets) {
    ev_fail(e, stmt->span, "%u names for %u values", targets, stmt->values.count);
    return;
  }
  if (stmt->values.count == targets) {
    ev *values = leat_new_array(e->arena, ev, targets);
    for (uint32_t i = 0; i < targets; i++) {
      const leat_binding *target = &stmt->targets.items[i];
      const char *hint = target_hint(e, target);
      const leat_expr *from = stmt->values.items[i];
      const char *path = e->path;
      e->absolute = target->absolute;
      if (target->absolute) e->path = leat_intern(e->strings, "");
      values[i] = ev_expr(e, from, hint);
      values[i] = declared_literal(e, target, values[i], hint, from->span);
      e->absolute = false;
      e->path = path;
    }
    for (uint32_t i = 0; i < targets; i++) bind_target(e, &stmt->targets.items[i], values[i]);
    return;
  }
  ev value = ev_expr(e, stmt->values.items[0], NULL);
  bool list = value.kind == EV_LIST && value.list->count == targets;
  if (!list && value.kind != EV_ERROR) {
    if (value.kind == EV_LIST)
      ev_fail(e, stmt->span, "%u names for %u results", targets, value.list->count);
    else
      ev_fail(e, stmt->span, "%u names for one value", targets);
  }
  for (uint32_t i = 0; i < targets; i++)
    bind_target(e, &stmt->targets.items[i], list ? value.list->items[i] : ev_error());
}

static void expression_statement(evaluator *e, const leat_stmt *stmt) {
  for (uint32_t i = 0; i < stmt->values.count; i++) {
    ev value = ev_expr(e, stmt->values.items[i], NULL);
    if (e->frame->caller || e->entry || value.kind == EV_ERROR || value.kind == EV_NONE) continue;
    if (value.kind == EV_STATE) value = ev_tensor(ev_read(e, value.state, stmt->span));
    if (value.kind == EV_TENSOR) {
      leat_vec_push(e->arena, &e->shown, value.tensor);
    } else if (value.kind != EV_ERROR) {
      ev_print(value, &e->shown_text);
      leat_text_add(&e->shown_text, "\n");
    }
  }
}

static void turn(evaluator *e, const leat_stmt *stmt, ev item, uint32_t number) {
  ev_scope *scope = e->frame->scope;
  // The loop's name is seen inside only; families go to the scope around.
  ev_binding binding = {.value = item, .span = stmt->name_span};
  ev_binding *outer = leat_map_get(&scope->names, stmt->name);
  leat_map_set(&scope->names, stmt->name, &binding);
  const char *path = e->path;
  long long value = item.kind == EV_INT ? (long long)item.i : (long long)number;
  e->path = leat_intern_printf(e->strings, "%s%s%s%lld", path, *path ? "/" : "", stmt->name, value);
  bool in_for = e->frame->in_for;
  e->frame->in_for = true;
  ev_statements(e, &stmt->body);
  e->frame->in_for = in_for;
  e->path = path;
  leat_map_set(&scope->names, stmt->name, outer);
}

static void for_loop(evaluator *e, const leat_stmt *stmt) {
  if (stmt->over->kind == LEAT_EXPR_RANGE) {
    ev low = ev_expr(e, stmt->over->begin, NULL), high = ev_expr(e, stmt->over->end, NULL);
    if (low.kind == EV_ERROR || high.kind == EV_ERROR) return;
    if (low.kind != EV_INT || high.kind != EV_INT) {
      ev_fail(e, stmt->over->span, "the bounds of a `for` are ints, found %s and %s",
              ev_kind_name(low), ev_kind_name(high));
      return;
    }
    for (int64_t i = low.i; i < high.i && !e->stopped && !e->frame->returned; i++)
      turn(e, stmt, ev_int(i), (uint32_t)(i - low.i));
    return;
  }
  ev list = ev_expr(e, stmt->over, NULL);
  if (list.kind == EV_ERROR) return;
  if (list.kind != EV_LIST) {
    ev_fail(e, stmt->over->span, "`for` goes over a range or a list, not over %s",
            ev_kind_name(list));
    return;
  }
  for (uint32_t i = 0; i < list.list->count && !e->stopped && !e->frame->returned; i++)
    turn(e, stmt, list.list->items[i], i);
}

// The `yield` of a block, or NULL.
static const leat_stmt *yield_of(const leat_stmts *block) {
  for (uint32_t i = 0; i < block->count; i++)
    if (block->items[i]->kind == LEAT_STMT_YIELD) return block->items[i];
  return NULL;
}

static void if_statement(evaluator *e, const leat_stmt *stmt);

static void yield_block(evaluator *e, const leat_stmt *stmt, const leat_stmts *block) {
  const leat_stmt *yield = yield_of(block);
  bool nested = block->count == 1 && block->items[0]->kind == LEAT_STMT_IF;
  if (nested && !block->items[0]->targets.count) { // else if
    leat_stmt inner = *block->items[0];
    inner.targets = stmt->targets;
    if_statement(e, &inner);
    return;
  }
  if (!yield || yield->values.count != stmt->targets.count) {
    ev_fail(e, stmt->span, "each side of this `if` must yield %u value%s", stmt->targets.count,
            stmt->targets.count == 1 ? "" : "s");
    return;
  }
  ev_scope *outer = e->frame->scope;
  e->frame->scope = ev_scope_new(e, outer);
  ev_statements(e, block);
  ev *values = leat_new_array(e->arena, ev, yield->values.count);
  for (uint32_t i = 0; i < yield->values.count; i++)
    values[i] = ev_expr(e, yield->values.items[i], target_hint(e, &stmt->targets.items[i]));
  e->frame->scope = outer;
  for (uint32_t i = 0; i < stmt->targets.count; i++)
    bind_target(e, &stmt->targets.items[i], values[i]);
}

static void if_statement(evaluator *e, const leat_stmt *stmt) {
  ev condition = ev_expr(e, stmt->condition, NULL);
  if (condition.kind == EV_ERROR) return;
  if (condition.kind == EV_TENSOR || condition.kind == EV_STATE) {
    ev_fail(e, stmt->condition->span,
            "`if` on a tensor (run-time control flow) is not supported yet; `where` chooses by "
            "element");
    return;
  }
  if (condition.kind != EV_BOOL) {
    ev_fail(e, stmt->condition->span, "the condition of `if` is a bool, found %s",
            ev_kind_name(condition));
    return;
  }
  const leat_stmts *block = condition.i ? &stmt->body : &stmt->otherwise;
  if (stmt->targets.count)
    yield_block(e, stmt, block);
  else
    ev_statements(e, block);
}

static void return_statement(evaluator *e, const leat_stmt *stmt, const char *hint) {
  if (!e->frame->caller) {
    ev_fail(e, stmt->span, "`return` stands only in a `fn` or a `gradient`");
    return;
  }
  uint32_t count = stmt->values.count;
  if (count == 1) {
    e->frame->result = ev_expr(e, stmt->values.items[0], hint);
  } else {
    ev *items = leat_new_array(e->arena, ev, count + 1);
    for (uint32_t i = 0; i < count; i++) items[i] = ev_expr(e, stmt->values.items[i], NULL);
    ev_list *list = leat_new(e->arena, ev_list);
    *list = (ev_list){.count = count, .items = items, .results = true};
    e->frame->result = (ev){.kind = EV_LIST, .list = list};
  }
  e->frame->returned = true;
}

static void dim_statement(evaluator *e, const leat_stmt *stmt) {
  int64_t low = 0, high = INT64_MAX;
  if (stmt->bounds) {
    ev from = ev_expr(e, stmt->bounds->begin, NULL), to = ev_expr(e, stmt->bounds->end, NULL);
    if (from.kind == EV_ERROR || to.kind == EV_ERROR) return;
    if (from.kind != EV_INT || to.kind != EV_INT || from.i < 0 || to.i < from.i) {
      ev_fail(e, stmt->bounds->span, "a dim's bounds are two ints, 0 <= low <= high");
      return;
    }
    low = from.i, high = to.i;
  }
  const leat_atom *old = leat_dim_find(e->graph->dims, stmt->name);
  if (old && (old->low != low || old->high != high)) {
    ev_fail(e, stmt->span, "dim `%s` is known already, with other bounds", stmt->name);
    return;
  }
  leat_dim dim = leat_dim_named(e->graph->dims, stmt->name, low, high);
  ev_bind(e, e->globals, stmt->name_span, stmt->name, ev_of_dim(dim));
}

// graph NAME(seed: int = 1): parameters become names; --set gives their values.
static void graph_statement(evaluator *e, const leat_stmt *stmt) {
  e->graph->name = stmt->name;
  const leat_arg *device = leat_args_find(&stmt->attributes, leat_intern(e->strings, "device"));
  if (device && !ev_string(e, device->value, &e->graph->device)) return;
  for (uint32_t i = 0; i < stmt->params.count; i++) {
    const leat_binding *param = &stmt->params.items[i];
    ev value = ev_setting(e, param);
    if (value.kind != EV_ERROR) ev_bind(e, e->globals, param->span, param->name, value);
  }
}

static void not_yet(evaluator *e, const leat_stmt *stmt, const char *what) {
  ev_fail(e, stmt->span, "%s not supported yet", what);
}

static void statement(evaluator *e, const leat_stmt *stmt) {
  switch (stmt->kind) {
  case LEAT_STMT_GRAPH: graph_statement(e, stmt); return;
  case LEAT_STMT_USE:
  case LEAT_STMT_FN:
  case LEAT_STMT_GRADIENT: return; // known beforehand
  case LEAT_STMT_DIM: dim_statement(e, stmt); return;
  case LEAT_STMT_ENTRY: ev_entry(e, stmt); return;
  case LEAT_STMT_VAR: ev_var(e, stmt); return;
  case LEAT_STMT_QUEUE: not_yet(e, stmt, "queues are"); return;
  case LEAT_STMT_MUTEX: not_yet(e, stmt, "mutexes are"); return;
  case LEAT_STMT_BIND: bind_statement(e, stmt); return;
  case LEAT_STMT_ASSIGN:
  case LEAT_STMT_UPDATE: ev_assign(e, stmt); return;
  case LEAT_STMT_EXPR: expression_statement(e, stmt); return;
  case LEAT_STMT_ON: ev_statements(e, &stmt->body); return;
  case LEAT_STMT_FOR: for_loop(e, stmt); return;
  case LEAT_STMT_IF: if_statement(e, stmt); return;
  case LEAT_STMT_WHILE: not_yet(e, stmt, "`while` (run-time control flow) is"); return;
  case LEAT_STMT_RETURN: return_statement(e, stmt, e->frame->hint); return;
  case LEAT_STMT_YIELD: return; // its `if` takes the values
  case LEAT_STMT_NEXT: ev_fail(e, stmt->span, "`next` stands only in a `while`"); return;
  }
}

void ev_statements(evaluator *e, const leat_stmts *stmts) {
  for (uint32_t i = 0; i < stmts->count && !e->stopped && !e->frame->returned; i++) {
    const leat_stmt *stmt = stmts->items[i];
    if (++e->steps > EV_MAX_STEPS || e->graph->nodes.count > EV_MAX_NODES) {
      e->stopped = true;
      ev_fail(e, stmt->span, "the text unrolls to more than %d statements or %d nodes",
              EV_MAX_STEPS, EV_MAX_NODES);
      return;
    }
    leat_span span = e->span;
    e->span = stmt->span;
    placed saved;
    if (enter_suffixes(e, stmt, &saved)) statement(e, stmt);
    leave_suffixes(e, stmt, &saved);
    e->span = span;
  }
}
