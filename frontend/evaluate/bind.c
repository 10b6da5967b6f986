// Parameters: how a call's arguments meet those of a function.
//
// In a `fn` a capital name is generic to the call: in the place of a dtype it is a type variable,
// in the place of a dim it is bound by the first parameter in which it stands alone, else by the
// first that computes with it and with what is known.
#include "frontend/evaluate/types.h"

#include "frontend/evaluate/calls.h"
#include "frontend/evaluate/statements.h"
#include "frontend/values/names.h"

#include <string.h>

enum { PARAMS_A_STEP = 64 }; // searched for a name, see ev_spend

typedef enum param_kind { PARAM_ANY, PARAM_TENSOR, PARAM_VAR, PARAM_STATIC } param_kind;

static param_kind kind_of(const leat_expr *type) {
  if (!type) return PARAM_ANY;
  if (type->kind == LEAT_EXPR_VAR_TYPE) return PARAM_VAR;
  return ev_is_tensor_type(type) ? PARAM_TENSOR : PARAM_STATIC;
}

typedef struct binder {
  evaluator *e;
  const ev_function *function, *caller; // NULL: no function calls it
  const leat_bindings *params;
  ev_scope *scope;
  leat_span call;
  const ev_argument *args;
  uint32_t count;
  const ev_argument **given; // by parameter; NULL: not given
  bool *bound;
} binder;

static const char *describe_argument(const binder *b, uint32_t i) {
  return ev_describe_value(b->e, b->params->items[i].name, b->function->name);
}

static ev_match match_argument(const binder *b, uint32_t i, leat_span span) {
  return (ev_match){.e = b->e,
                    .generics = b->scope,
                    .span = span,
                    .what = b->params->items[i].name,
                    .of = b->function->name};
}

// An optimiser is called by `minimize`: whoever calls one means to give it what it takes besides a
// variable and its gradient. "" of other functions.
static const char *called_optimiser(const binder *b) {
  const leat_bindings *params = b->params;
  const char *own = "";
  if (params->count < 3 || kind_of(params->items[0].type) != PARAM_VAR) return own;
  if (b->given[0] && ev_is_literal(b->given[0]->value))
    own = leat_arena_printf(b->e->arena, ", %s=%s", params->items[2].name,
                            ev_source_text(b->e, b->given[0]->span));
  for (uint32_t i = 2; i < params->count; i++)
    if (b->given[i])
      own = leat_arena_printf(b->e->arena, "%s, %s=%s", own, params->items[i].name,
                              ev_source_text(b->e, b->given[i]->span));
  return leat_arena_printf(b->e->arena,
                           "; an optimiser is named, not called: `minimize(loss, %s%s)`",
                           b->function->name, own);
}

const char *ev_as_one_list(evaluator *e, const char *name, const ev_argument *args, uint32_t count,
                           uint32_t from) {
  const char *items = "";
  uint32_t position = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (args[i].key || position++ < from) continue;
    if (args[i].value.kind == EV_LIST) return "";
    items = leat_arena_printf(e->arena, "%s%s%s", items, *items ? ", " : "",
                              ev_source_text(e, args[i].span));
  }
  return leat_arena_printf(e->arena, "; `%s` is one list: `[%s]`", name, items);
}

static bool is_list_type(const leat_expr *type) {
  return type && (type->kind == LEAT_EXPR_LIST ||
                  (type->kind == LEAT_EXPR_NAME && !strcmp(type->name, "list")));
}

// stack(x, y), tile(x, 2, 3): the items of a list, given one by one.
static const char *items_given(const binder *b, uint32_t fixed) {
  const leat_binding *params = b->params->items;
  uint32_t at = fixed && is_list_type(params[fixed - 1].type) ? fixed - 1 : 0;
  if (!fixed || !is_list_type(params[at].type)) return "";
  return ev_as_one_list(b->e, params[at].name, b->args, b->count, at);
}

// zeros([2, 3]), normal(0, 1, [2, 3]): a shape, where the whole type is meant, which `out` is.
static const char *shape_given(const binder *b, uint32_t i, ev found) {
  uint32_t out = 0;
  while (out < b->params->count && strcmp(b->params->items[out].name, "out")) out++;
  bool shape = found.kind == EV_LIST ? found.list->count && !ev_has_kind(found, EV_FLOAT)
                                     : found.kind == EV_INT && i == out;
  if (out < i || out == b->params->count || !shape) return "";
  leat_text text = {0};
  if (found.kind == EV_INT) found = ev_make_list(b->e, &found, 1);
  ev_print(found, &text);
  const char *key = i == out ? "" : "out=";
  const char *hint =
      leat_arena_printf(b->e->arena, "; a type says the shape: `%sf32%s`", key, text.data);
  leat_text_finish(&text);
  return hint;
}

// fori(0, n, f, x), matrix_power(a, n): what stands in the place of a function, and what is known
// too late.
static const char *misplaced(const binder *b, uint32_t i, const char *expected, ev found,
                             leat_span span) {
  static const char *const early[] = {"int", "float", "bool", "str", "list", "[int]"};
  for (size_t k = 0; ev_is_tensor(found) && k < sizeof early / sizeof *early; k++)
    if (!strcmp(expected, early[k]))
      return leat_arena_printf(b->e->arena, ", which is known only while running%s",
                               k ? "" : ev_as_dynamic(b->e, found, span, ""));
  if (strcmp(expected, "fn") || !b->function->library) return "";
  const char *params = b->params->items[0].name;
  for (uint32_t k = 1; k < b->params->count && (k <= i || !b->params->items[k].value); k++)
    params = leat_arena_printf(b->e->arena, "%s, %s", params, b->params->items[k].name);
  return leat_arena_printf(b->e->arena, "; it is `%s(%s)`", b->function->name, params);
}

static bool wrong_kind(binder *b, uint32_t i, const char *expected, ev found, leat_span span) {
  const char *hint = i ? "" : called_optimiser(b);
  if (!strcmp(expected, "[int]")) hint = ev_as_dynamic_items(b->e, found, span);
  if (ev_is_tensor(found) && i && !*hint) hint = items_given(b, b->params->count);
  if (!*hint) hint = shape_given(b, i, found);
  if (!*hint) hint = misplaced(b, i, expected, found, span);
  if (!strcmp(expected, "type")) expected = *hint ? "a type" : "a type such as `f32[3, 4]`";
  ev_fail(b->e, span, "%s: expected %s, found %s%s", describe_argument(b, i), expected,
          strcmp(expected, "int") ? ev_kind_name(found) : ev_found_no_int(b->e, found), hint);
  return false;
}

// The first item that is none of those that the declared list is of.
static bool wrong_item(binder *b, uint32_t i, ev found, leat_span span) {
  const leat_expr *type = b->params->items[i].type;
  uint32_t at = 0;
  while (ev_static_value(b->e, type->list.items[0], found.list->items[at]).kind != EV_ERROR) at++;
  ev item = found.list->items[at];
  ev_fail(b->e, span, "%s: expected %s, found %s as item %u%s", describe_argument(b, i),
          ev_source_text(b->e, type->span), ev_kind_name(item), at,
          item.quotient ? LEAT_QUOTIENT_HINT : "");
  return false;
}

static bool fit_var(binder *b, uint32_t i, ev value, leat_span span) {
  if (value.kind != EV_STATE) return wrong_kind(b, i, "a variable", value, span);
  ev_match m = match_argument(b, i, span);
  m.found = &value.state->type;
  m.declared = b->params->items[i].type->of;
  return !m.declared || ev_match_type(&m);
}

// The dtype that a literal takes: the declared one when it is known by now.
static int literal_dtype(binder *b, const leat_expr *base) {
  if (base->kind != LEAT_EXPR_NAME) return -1;
  leat_dtype dtype;
  const ev_binding *known = leat_map_get(&b->scope->names, base->name);
  if (known) return known->value.kind == EV_DTYPE ? (int)known->value.i : -1;
  return leat_dtype_parse(base->name, strlen(base->name), &dtype) ? (int)dtype : -1;
}

static bool fit_argument(binder *b, uint32_t i, ev *value, leat_span span) {
  const leat_expr *type = b->params->items[i].type;
  bool takes = ev_takes_dtype(*value) || ev_is_weak(b->e, *value);
  int dtype = takes ? literal_dtype(b, type->base) : -1;
  bool typed = value->kind == EV_TENSOR && value->typed;
  ev number = ev_is_of_numbers(b->e, *value) ? *value : ev_none();
  if (value->kind != EV_ROWS && !typed) *value = ev_tensor(ev_as_tensor(b->e, *value, dtype, span));
  if (value->kind == EV_ERROR) return false;
  ev_match m = match_argument(b, i, span);
  m.declared = type;
  m.weak = takes;
  *value = ev_match_value(&m, *value);
  if (value->kind != EV_TENSOR) return value->kind != EV_ERROR;
  bool weak = takes && ev_is_weak_dtype(b->scope, type->base);
  value->typed = typed || (dtype >= 0 && !weak);
  if (weak && number.kind != EV_NONE) ev_make_weak(b->e, value->tensor, number);
  return true;
}

static bool fit_static(binder *b, uint32_t i, ev *value, leat_span span) {
  const leat_expr *type = b->params->items[i].type;
  ev fitting = ev_static_value(b->e, type, *value);
  if (b->e->stopped) return false; // a limit was hit, which is said
  bool lists = type->kind == LEAT_EXPR_LIST && value->kind == EV_LIST;
  if (fitting.kind == EV_ERROR && lists && type->list.count == 1)
    return wrong_item(b, i, *value, span);
  if (fitting.kind == EV_ERROR) {
    wrong_kind(b, i, ev_source_text(b->e, type->span), *value, span);
    ev_note_brackets(b->e, type);
    return false;
  }
  *value = fitting;
  return true;
}

static bool takes_function(const leat_expr *type) {
  return type && type->kind == LEAT_EXPR_NAME && !strcmp(type->name, "fn");
}

// Where a function is wanted, a value of its name does not stand in its way: `op=mean`.
static ev function_meant(binder *b, ev value, leat_span span) {
  const char *text = ev_source_text(b->e, span);
  const ev_function *function = ev_find_function(b->e, leat_intern(b->e->strings, text));
  return function ? (ev){.kind = EV_FUNCTION, .function = function} : value;
}

static bool bind_param(binder *b, uint32_t i, ev value, leat_span span) {
  const leat_binding *param = &b->params->items[i];
  b->bound[i] = true;
  if (takes_function(param->type) && (ev_is_tensor(value) || value.kind == EV_STATE))
    value = function_meant(b, value, span);
  if (value.kind == EV_ERROR) return false;
  bool none = value.kind == EV_NONE && param->value && param->value->kind == LEAT_EXPR_NONE;
  bool ok = true;
  switch (none ? PARAM_ANY : kind_of(param->type)) {
  case PARAM_ANY: break;
  case PARAM_VAR: ok = fit_var(b, i, value, span); break;
  case PARAM_TENSOR: ok = fit_argument(b, i, &value, span); break;
  case PARAM_STATIC: ok = fit_static(b, i, &value, span); break;
  }
  return ok && ev_bind(b->e, b->scope, param->span, param->name, value);
}

static uint32_t find_param(const leat_bindings *params, const char *name) {
  uint32_t i = 0;
  while (i < params->count && (params->items[i].collects || params->items[i].name != name)) i++;
  return i;
}

static bool unknown_key(binder *b, const ev_argument *arg) {
  if (!strcmp(arg->key, "name")) {
    ev_fail(b->e, arg->key_span, "a call is named behind it: `%s(…) as NAME`", b->function->name);
    return false;
  }
  const char **names = leat_new_array(b->e->arena, const char *, (size_t)b->params->count + 1);
  for (uint32_t i = 0; i < b->params->count; i++) names[i] = b->params->items[i].name;
  ev_fail(b->e, arg->key_span, "`%s` has no parameter `%s`%s", b->function->name, arg->key,
          ev_suggestion(b->e, arg->key, names, b->params->count));
  return false;
}

static ev positional(const binder *b) {
  ev *values = leat_new_array(b->e->arena, ev, (size_t)b->count + 1);
  uint32_t count = 0;
  for (uint32_t i = 0; i < b->count; i++)
    if (!b->args[i].key) values[count++] = b->args[i].value;
  return ev_take_list(b->e, values, count);
}

// What arguments beyond the last parameter most often are; zeros(2, 3) too.
static const char *more_given(const binder *b, uint32_t fixed) {
  const char *hint = items_given(b, fixed);
  ev all = positional(b);
  bool ints = all.kind == EV_LIST && all.list->height == 1;
  for (uint32_t i = 0; ints && i < all.list->count; i++)
    ints = all.list->items[i].kind == EV_INT || all.list->items[i].kind == EV_DIM;
  return *hint || !ints ? hint : shape_given(b, 0, all);
}

// The user's function that `fori`, `scan` or another of the library calls is called as that says:
// ": `fori` calls it with 2, `f(i, carry, ...)`". "" of other calls.
static const char *called_back(const binder *b) {
  const ev_function *caller = b->caller;
  if (!caller || !caller->library || b->function->library) return "";
  const char *call = ev_source_text(b->e, b->call), *written = "";
  const leat_bindings *params = &caller->definition->params;
  for (uint32_t i = 0; i < params->count; i++) {
    size_t size = strlen(params->items[i].name);
    if (!strncmp(call, params->items[i].name, size) && call[size] == '(')
      written =
          leat_arena_printf(b->e->arena, ", `%.*s`", (int)(strrchr(call, ')') - call) + 1, call);
  }
  return leat_arena_printf(b->e->arena, ": `%s` calls it with %u%s", caller->name, b->count,
                           written);
}

static bool give(binder *b, const ev_argument *arg, uint32_t param, uint32_t fixed) {
  if (param >= fixed) {
    const char *hint = called_back(b);
    ev_fail(b->e, arg->span, "`%s` takes %u argument%s, found more%s", b->function->name, fixed,
            fixed == 1 ? "" : "s", *hint ? hint : more_given(b, fixed));
    return false;
  }
  if (b->given[param]) {
    ev_fail(b->e, arg->span, "%s is given twice", describe_argument(b, param));
    return false;
  }
  b->given[param] = arg;
  return true;
}

// What a parameter `...` collects: a list with names, NULL of what was given by position.
static bool collect(binder *b, uint32_t param, const ev *values, const char *const *names,
                    uint32_t count) {
  ev list = ev_take_list(b->e, values, count);
  if (list.kind == EV_ERROR) return false;
  ((ev_list *)list.list)->names = names;
  b->bound[param] = true;
  return ev_bind(b->e, b->scope, b->params->items[param].span, b->params->items[param].name, list);
}

static uint32_t find_collecting(const leat_bindings *params) {
  uint32_t i = 0;
  while (i < params->count && !params->items[i].collects) i++;
  return i;
}

// Which argument each parameter gets; what is left over goes to `...`, behind which parameters are
// given by name.
static bool distribute(binder *b, const ev_argument *args, uint32_t count) {
  uint32_t params = b->params->count, rest_count = 0, position = 0;
  uint32_t collecting = find_collecting(b->params);
  ev *rest = leat_new_array(b->e->arena, ev, (size_t)count + 1);
  const char **names = leat_new_array(b->e->arena, const char *, (size_t)count + 1);
  for (uint32_t i = 0; i < count; i++) {
    const ev_argument *arg = &args[i];
    if (arg->key && !ev_spend(b->e, params / PARAMS_A_STEP, arg->span)) return false;
    uint32_t param = arg->key ? find_param(b->params, arg->key) : position++;
    bool known = param < (arg->key ? params : collecting);
    if (!known && collecting < params) {
      rest[rest_count] = arg->value;
      names[rest_count++] = arg->key;
    } else if (!arg->key || known) {
      if (!give(b, arg, param, params)) return false;
    } else {
      return unknown_key(b, arg);
    }
  }
  return collecting == params || collect(b, collecting, rest, names, rest_count);
}

// A generic name is bound by the first tensor in whose type it stands alone, be it behind another
// whose type computes with it.
static bool bind_generics(binder *b, bool weak) {
  for (uint32_t i = 0; i < b->params->count; i++) {
    const leat_expr *type = b->params->items[i].type;
    param_kind kind = kind_of(type);
    const ev *value = b->given[i] ? &b->given[i]->value : NULL;
    const leat_type *found = value ? ev_tensor_type(*value) : NULL;
    if (found && ev_is_weak(b->e, *value) != weak) continue;
    if (!found || (kind != PARAM_TENSOR && kind != PARAM_VAR)) continue;
    ev_match m = match_argument(b, i, b->given[i]->span);
    m.only_binds = true;
    m.weak = weak;
    m.declared = kind == PARAM_VAR ? type->of : type;
    m.found = found;
    if (m.declared && !ev_match_type(&m)) return false;
  }
  return true;
}

static bool is_number(const binder *b, const ev_argument *arg) {
  return ev_is_weak(b->e, arg->value) || ev_is_of_numbers(b->e, arg->value);
}

// What all numbers of that type variable have room in.
static ev numbers_of(const binder *b, const char *variable) {
  ev *numbers = leat_new_array(b->e->arena, ev, (size_t)b->params->count + 1);
  uint32_t count = 0;
  for (uint32_t i = 0; i < b->params->count; i++) {
    const leat_expr *type = b->params->items[i].type;
    bool shares = kind_of(type) == PARAM_TENSOR && type->base->kind == LEAT_EXPR_NAME &&
                  type->base->name == variable;
    if (shares && b->given[i] && is_number(b, b->given[i])) numbers[count++] = b->given[i]->value;
  }
  return ev_take_list(b->e, numbers, count);
}

// A type variable that only numbers bind is what they are together, as in an operator: of an int
// and a float a float, whichever stands first.
static bool bind_numbers(binder *b) {
  for (uint32_t i = 0; i < b->params->count; i++) {
    const leat_binding *param = &b->params->items[i];
    if (!b->given[i] || kind_of(param->type) != PARAM_TENSOR) continue;
    ev_match m = match_argument(b, i, b->given[i]->span);
    m.declared = param->type;
    if (!ev_binds_dtype(&m) || !is_number(b, b->given[i])) continue;
    const char *variable = param->type->base->name;
    int dtype = ev_dtype_of_numbers(b->e, numbers_of(b, variable));
    ev value = {.kind = EV_DTYPE, .weak = true, .i = dtype};
    if (dtype >= 0 && !ev_bind(b->e, b->scope, param->span, variable, value)) return false;
  }
  return true;
}

// Compile-time arguments first, since types may use them; then tensors, which bind generic names;
// literals for tensors, which take those dtypes; defaults last, since they may use all of it.
static bool bind_given(binder *b, int turn) {
  for (uint32_t i = 0; i < b->params->count; i++) {
    const ev_argument *arg = b->given[i];
    if (b->bound[i] || !arg) continue;
    param_kind kind = kind_of(b->params->items[i].type);
    bool takes = ev_takes_dtype(arg->value) || ev_is_weak(b->e, arg->value);
    int when = kind == PARAM_STATIC || kind == PARAM_ANY ? 0 : takes ? 2 : 1;
    if (when == turn && !bind_param(b, i, arg->value, arg->span)) return false;
  }
  return true;
}

static bool bind_defaults(binder *b) {
  for (uint32_t i = 0; i < b->params->count; i++) {
    if (b->bound[i]) continue;
    const leat_binding *param = &b->params->items[i];
    if (!param->value) {
      bool type =
          param->type && param->type->kind == LEAT_EXPR_NAME && !strcmp(param->type->name, "type");
      const char *hint = type ? ", a type such as `f32[3, 4]`" : called_optimiser(b);
      ev_fail(b->e, b->call, "%s is missing%s", describe_argument(b, i),
              *hint ? hint : called_back(b));
      leat_note_at(b->e->diag, b->function->definition->name_span, "`%s` is defined here",
                   b->function->name);
      return false;
    }
    if (!bind_param(b, i, ev_expr(b->e, param->value, NULL), b->call)) return false;
  }
  return true;
}

ev_scope *ev_bind_arguments(evaluator *e, const ev_function *function, const ev_argument *args,
                            uint32_t count, leat_span call) {
  const leat_bindings *params = &function->definition->params;
  binder b = {.e = e,
              .function = function,
              .caller = e->frame->function,
              .params = params,
              .scope = ev_scope_new(e, function->library ? NULL : e->globals),
              .call = call,
              .args = args,
              .count = count,
              .given = leat_new_array(e->arena, const ev_argument *, (size_t)params->count + 1),
              .bound = leat_new_array(e->arena, bool, (size_t)params->count + 1)};
  if (!distribute(&b, args, count)) return NULL;
  // Declared types and defaults see the parameters, and what the function sees.
  ev_frame inside = *e->frame, *outer = e->frame;
  inside.caller = outer;
  inside.call = call;
  inside.errors = leat_diag_errors(e->diag);
  inside.scope = b.scope;
  inside.function = function;
  e->frame = &inside;
  bool ok = bind_given(&b, 0) && bind_generics(&b, false) && bind_numbers(&b) &&
            bind_generics(&b, true) && bind_given(&b, 1) && bind_given(&b, 2) && bind_defaults(&b);
  e->frame = outer;
  return ok ? b.scope : NULL;
}
