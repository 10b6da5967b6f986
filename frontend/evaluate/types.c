// Types: what a type expression means, whether a value fits it, and what becomes of a value that
// does.
#include "frontend/evaluate/types.h"

#include "base/name.h"

#include "frontend/evaluate/calls.h"
#include "frontend/evaluate/statements.h"
#include "frontend/values/names.h"
#include "ops/shape.h"

#include <ctype.h>
#include <string.h>

// -- Type expressions ---------------------------------------------------------------------------

static bool is_generic_name(const char *name) {
  return isupper((unsigned char)name[0]);
}

bool ev_is_type(evaluator *e, const leat_expr *expr) {
  if (expr->kind != LEAT_EXPR_INDEX || expr->base->kind != LEAT_EXPR_NAME) return false;
  leat_dtype dtype;
  const char *name = expr->base->name;
  const ev_binding *binding = ev_lookup(e->frame->scope, name);
  if (binding) return !binding->members && binding->value.kind == EV_DTYPE;
  return leat_dtype_parse(name, strlen(name), &dtype);
}

// `int[N]`, `float[]`: other languages' dtypes are what is known while compiling here.
static const char *meant_dtype(const leat_expr *expr) {
  static const char *const meant[][2] = {
      {"int", "; a tensor's integers are `i32` or `i64`"},
      {"float", "; a tensor's floats are `f32` or `f64`"},
      {"complex", "; a tensor's complex numbers are `c64` or `c128`"}};
  const char *name = expr->kind == LEAT_EXPR_NAME ? expr->name : "";
  for (size_t i = 0; i < sizeof meant / sizeof *meant; i++)
    if (!strcmp(name, meant[i][0])) return meant[i][1];
  return "";
}

static bool dtype_of(evaluator *e, const leat_expr *expr, leat_dtype *out) {
  ev value = ev_expr(e, expr, NULL);
  if (value.kind == EV_DTYPE)
    *out = (leat_dtype)value.i;
  else if (value.kind != EV_ERROR)
    ev_fail(e, expr->span, "expected a dtype such as `f32`, found %s%s", ev_kind_name(value),
            meant_dtype(expr));
  return value.kind == EV_DTYPE;
}

const char *ev_as_dynamic(evaluator *e, ev value, leat_span span, const char *otherwise) {
  const leat_type *type = ev_tensor_type(value);
  leat_dtype_kind kind = type ? leat_dtype_kind_of(type->dtype) : LEAT_KIND_BOOL;
  if (!type || type->rank || (kind != LEAT_KIND_SIGNED && kind != LEAT_KIND_UNSIGNED))
    return otherwise;
  const char *text = ev_source_text(e, span); // of a list where it is an item
  return leat_arena_printf(e->arena, "; as a dim it is `dynamic(%s)`", *text == '[' ? "…" : text);
}

static bool as_dim(evaluator *e, ev value, bool negative, leat_span span, leat_dim *out) {
  value = ev_as_known(e, value);
  if (value.kind == EV_INT && value.i < 0 && !negative) {
    ev_fail(e, span, "a dimension cannot be %lld", (long long)value.i);
    return false;
  }
  if (value.kind == EV_INT)
    *out = leat_dim_const(value.i);
  else if (value.kind == EV_DIM)
    *out = value.dim;
  else if (value.kind != EV_ERROR)
    ev_fail(e, span, "expected a dimension, found %s%s", ev_found_no_int(e, value),
            ev_as_dynamic(e, value, span, ""));
  return value.kind == EV_INT || value.kind == EV_DIM;
}

bool ev_as_dim(evaluator *e, ev value, leat_span span, leat_dim *out) {
  return as_dim(e, value, false, span, out);
}

bool ev_as_offset(evaluator *e, ev value, leat_span span, leat_dim *out) {
  return as_dim(e, value, true, span, out);
}

const char *ev_as_dynamic_items(evaluator *e, ev value, leat_span span) {
  const leat_type *type = ev_tensor_type(value);
  if (!type || type->rank != 1 || !leat_dtype_in_class(type->dtype, LEAT_CLASS_INTEGER)) return "";
  const char *text = ev_source_text(e, span);
  bool is_word = leat_name_is_word(text, strlen(text));
  return leat_arena_printf(e->arena,
                           ", of which not all is known while compiling; as a dim an item of it is "
                           "`dynamic(%s%s%s[0])`",
                           is_word ? "" : "(", text, is_word ? "" : ")");
}

static bool as_dims(evaluator *e, ev value, bool negative, uint32_t most, leat_span span,
                    leat_dim **out, uint32_t *count) {
  value = ev_as_known(e, value);
  if (value.kind == EV_ERROR) return false;
  if (value.kind != EV_LIST) {
    ev_fail(e, span, "expected a list of dimensions, found %s%s", ev_kind_name(value),
            ev_as_dynamic_items(e, value, span));
    return false;
  }
  if (value.list->count > most) {
    ev_fail(e, span, "%u dimensions; at most %u are supported", value.list->count, most);
    return false;
  }
  *count = value.list->count;
  *out = leat_new_array(e->arena, leat_dim, (size_t)*count + 1);
  for (uint32_t i = 0; i < *count; i++)
    if (!as_dim(e, value.list->items[i], negative, span, &(*out)[i])) return false;
  return true;
}

bool ev_as_dims(evaluator *e, ev value, leat_span span, leat_dim **out, uint32_t *count) {
  return as_dims(e, value, false, LEAT_MAX_RANK, span, out, count);
}

bool ev_as_offsets(evaluator *e, ev value, uint32_t most, leat_span span, leat_dim **out,
                   uint32_t *count) {
  return as_dims(e, value, true, most, span, out, count);
}

static bool add_dim(evaluator *e, leat_type *type, leat_dim dim, leat_span span) {
  if (type->rank == LEAT_MAX_RANK) {
    ev_fail(e, span, "a tensor has at most %d dimensions", LEAT_MAX_RANK);
    return false;
  }
  type->dims[type->rank++] = dim;
  return true;
}

// What stands between the commas of a type.
static bool dim_of(evaluator *e, const leat_expr *item, leat_dim *out) {
  ev value = ev_expr(e, item, NULL);
  bool unknown = value.kind == EV_ERROR && item->kind == LEAT_EXPR_NAME &&
                 !is_generic_name(item->name) && !ev_lookup(e->frame->scope, item->name);
  if (unknown) leat_note_at(e->diag, item->span, "a dim that a type names begins with a capital");
  return ev_as_dim(e, value, item->span, out);
}

static bool add_dims_of(evaluator *e, leat_type *type, const leat_expr *item) {
  if (item->kind == LEAT_EXPR_ANY_DIM) {
    const char *name =
        item->number_of_dim ? leat_intern_printf(e->strings, "?%u", item->number_of_dim) : NULL;
    return add_dim(e, type, leat_dim_anonymous(e->graph->dims, name), item->span);
  }
  if (item->kind != LEAT_EXPR_ELLIPSIS || !item->name) {
    leat_dim dim;
    return dim_of(e, item, &dim) && add_dim(e, type, dim, item->span);
  }
  leat_dim *dims;
  uint32_t count;
  if (!ev_lookup(e->frame->scope, item->name)) {
    ev_fail(e, item->span,
            "nothing says which dims `...%s` stands for: it is of the parameters of a `fn`",
            item->name);
    return false;
  }
  ev rest = ev_name(e, item->name, item->span);
  if (!ev_as_dims(e, rest, item->span, &dims, &count)) return false;
  for (uint32_t i = 0; i < count; i++)
    if (!add_dim(e, type, dims[i], item->span)) return false;
  return true;
}

static bool no_type(evaluator *e, const leat_expr *expr) {
  const char *name = expr->kind == LEAT_EXPR_NAME ? expr->name : "";
  bool compiles = !strcmp(name, "int") || !strcmp(name, "float") || !strcmp(name, "type");
  ev_fail(e, expr->span,
          compiles ? "expected the type of a tensor, such as `f32[]`; what is known while "
                     "compiling is a parameter of a `fn` or of the `graph`"
                   : "expected a type such as `f32[N, 64]` (a scalar is `f32[]`)");
  return false;
}

bool ev_type_of(evaluator *e, const leat_expr *expr, leat_type *out) {
  *out = (leat_type){0};
  if (expr->kind != LEAT_EXPR_INDEX) return no_type(e, expr);
  if (!dtype_of(e, expr->base, &out->dtype)) return false;
  for (uint32_t i = 0; i < expr->items.count; i++)
    if (!add_dims_of(e, out, expr->items.items[i])) return false;
  return true;
}

bool ev_check_type(evaluator *e, const leat_expr *type) {
  static const char *const words[] = {"any", "int",  "float", "bool",  "str",
                                      "fn",  "list", "type",  "queue", "mutex"};
  leat_dtype dtype;
  if (type->kind == LEAT_EXPR_VAR_TYPE) return !type->of || ev_check_type(e, type->of);
  if (type->kind == LEAT_EXPR_LIST)
    return type->list.count == 1 ? ev_check_type(e, type->list.items[0]) : no_type(e, type);
  if (type->kind == LEAT_EXPR_INDEX) {
    const leat_expr *base = type->base;
    bool given = base->kind == LEAT_EXPR_NAME && ev_lookup(e->frame->scope, base->name);
    return given || dtype_of(e, base, &dtype);
  }
  for (size_t i = 0; type->kind == LEAT_EXPR_NAME && i < sizeof words / sizeof *words; i++)
    if (!strcmp(type->name, words[i])) return true;
  no_type(e, type);
  ev_note_brackets(e, type);
  return false;
}

// -- Matching -----------------------------------------------------------------------------------

const char *ev_source_text(evaluator *e, leat_span span) {
  size_t size;
  const char *text = leat_diag_source_text(e->diag, span.source, &size);
  if (!text || span.end > size) return "something else";
  return leat_arena_strndup(e->arena, text + span.begin, span.end - span.begin);
}

// Adds what the names of a type stand for in this call, as far as that is known: ", T = f32".
static void add_meanings(const ev_match *m, const leat_expr *expr, leat_text *out) {
  if (expr->kind == LEAT_EXPR_BINARY) {
    add_meanings(m, expr->left, out);
    add_meanings(m, expr->right, out);
  }
  bool named = expr->kind == LEAT_EXPR_NAME || expr->kind == LEAT_EXPR_ELLIPSIS;
  if (!named || !expr->name) return;
  const ev_binding *bound = leat_map_get(&m->generics->names, expr->name);
  if (!bound || bound->members) return;
  leat_text meaning = {0};
  leat_text_add(&meaning, ", %s = ", expr->name);
  ev_print(bound->value, &meaning);
  if (!out->data || !strstr(out->data, meaning.data)) leat_text_add(out, "%s", meaning.data);
  leat_text_finish(&meaning);
}

// " with T = f32, N = 3"; nothing when no name of the declared type is known.
static const char *known_names(const ev_match *m) {
  leat_text known = {0};
  if (!m->generics || m->declared->kind != LEAT_EXPR_INDEX) return "";
  add_meanings(m, m->declared->base, &known);
  for (uint32_t i = 0; i < m->declared->items.count; i++)
    add_meanings(m, m->declared->items.items[i], &known);
  const char *text = known.size ? leat_arena_printf(m->e->arena, " with%s", known.data + 1) : "";
  leat_text_finish(&known);
  return text;
}

const char *ev_describe_value(evaluator *e, const char *what, const char *of) {
  return of ? leat_arena_printf(e->arena, "argument `%s` of `%s`", what, of)
            : leat_arena_printf(e->arena, "`%s`", what);
}

static bool mismatch(ev_match *m) {
  ev_fail(m->e, m->span, "%s: expected %s%s, found %s", ev_describe_value(m->e, m->what, m->of),
          ev_source_text(m->e, m->declared->span), known_names(m),
          leat_type_text(m->e->arena, m->found));
  return false;
}

// Whether the name is generic and not bound yet.
static bool is_new(const ev_match *m, const leat_expr *expr) {
  return m->generics && expr->kind == LEAT_EXPR_NAME && is_generic_name(expr->name) &&
         !leat_map_get(&m->generics->names, expr->name);
}

bool ev_binds_dtype(const ev_match *m) {
  return ev_is_tensor_type(m->declared) && is_new(m, m->declared->base);
}

static bool match_dtype(ev_match *m, const leat_expr *base) {
  leat_dtype dtype;
  if (is_new(m, base)) {
    ev value = {.kind = EV_DTYPE, .weak = m->weak, .i = m->found->dtype};
    return ev_bind(m->e, m->generics, base->span, base->name, value);
  }
  if (m->only_binds) return true;
  if (!dtype_of(m->e, base, &dtype)) return false;
  return dtype == m->found->dtype || mismatch(m);
}

static bool match_equal(ev_match *m, leat_dim expected, uint32_t axis) {
  leat_dim found = m->found->dims[axis];
  if (leat_dim_equal(expected, found)) return true;
  if (!m->checked || !leat_dims_may_be_equal(m->e->graph, expected, found)) return mismatch(m);
  m->checked->dims[axis] = expected;
  return true;
}

// The first name in the expression that is_new.
static const leat_expr *find_new(ev_match *m, const leat_expr *expr) {
  if (is_new(m, expr)) return expr;
  const leat_expr *found = NULL;
  if (expr->kind == LEAT_EXPR_BINARY) {
    found = find_new(m, expr->left);
    if (!found) found = find_new(m, expr->right);
  }
  for (uint32_t i = 0; expr->kind == LEAT_EXPR_CALL && i < expr->args.count && !found; i++)
    found = find_new(m, expr->args.items[i].value);
  return found;
}

static bool unsolvable(ev_match *m, const leat_expr *expr) {
  const leat_expr *name = find_new(m, expr);
  ev_fail(m->e, name->span,
          "nothing says what `%s` is: some type has it alone, or in a sum or product with what is "
          "known",
          name->name);
  return false;
}

// Binds the one new name of a dim such as 2 * N + 1 to what makes it `dim`, or nearly: that it does
// is for match_equal to say.
static bool solve(ev_match *m, const leat_expr *expr, leat_dim dim) {
  if (leat_dim_is_const(dim) && dim.value < 0) return mismatch(m);
  if (is_new(m, expr)) return ev_bind(m->e, m->generics, expr->span, expr->name, ev_of_dim(dim));
  bool binary = expr->kind == LEAT_EXPR_BINARY, left = binary && find_new(m, expr->left);
  if (!binary || (left && find_new(m, expr->right))) return unsolvable(m, expr);
  leat_dims *dims = m->e->graph->dims;
  leat_dim known;
  if (!dim_of(m->e, left ? expr->right : expr->left, &known)) return false;
  bool solved = false;
  if (expr->operator== LEAT_OPERATOR_ADD)
    solved = leat_dim_sub(dims, dim, known, &dim);
  else if (expr->operator== LEAT_OPERATOR_SUB)
    solved = left ? leat_dim_add(dims, dim, known, &dim) : leat_dim_sub(dims, known, dim, &dim);
  else if (expr->operator== LEAT_OPERATOR_MUL && !leat_dim_is(known, 0))
    solved = leat_dim_floordiv(dims, dim, known, &dim);
  return solved ? solve(m, left ? expr->left : expr->right, dim) : unsolvable(m, expr);
}

static bool match_dim(ev_match *m, const leat_expr *item, uint32_t axis) {
  ev found = ev_of_dim(m->found->dims[axis]);
  if (item->kind == LEAT_EXPR_ANY_DIM) return true;
  if (is_new(m, item)) return ev_bind(m->e, m->generics, item->span, item->name, found);
  leat_dim expected;
  if (m->only_binds) return true;
  if (find_new(m, item) && !solve(m, item, m->found->dims[axis])) return false;
  if (!dim_of(m->e, item, &expected)) return false;
  return match_equal(m, expected, axis);
}

// The `count` axes from `first` on.
static bool match_rest(ev_match *m, const leat_expr *item, uint32_t first, uint32_t count) {
  if (!item->name) return true;
  leat_expr name = {.kind = LEAT_EXPR_NAME, .span = item->span, .name = item->name};
  if (is_new(m, &name)) {
    ev values[LEAT_MAX_RANK];
    for (uint32_t i = 0; i < count; i++) values[i] = ev_of_dim(m->found->dims[first + i]);
    return ev_bind(m->e, m->generics, item->span, item->name, ev_make_list(m->e, values, count));
  }
  if (m->only_binds) return true;
  leat_dim *expected;
  uint32_t expected_count;
  ev value = ev_name(m->e, item->name, item->span);
  if (!ev_as_dims(m->e, value, item->span, &expected, &expected_count)) return false;
  if (expected_count != count) return mismatch(m);
  for (uint32_t i = 0; i < count; i++)
    if (!match_equal(m, expected[i], first + i)) return false;
  return true;
}

static bool match_dims(ev_match *m, const leat_exprs *items, uint32_t rest) {
  uint32_t rank = (uint32_t)m->found->rank;
  uint32_t after = rest == items->count ? 0 : items->count - rest - 1; // items behind the `...`
  for (uint32_t i = 0; i < rest; i++)
    if (!match_dim(m, items->items[i], i)) return false;
  if (rest == items->count) return true;
  if (!match_rest(m, items->items[rest], rest, rank - rest - after)) return false;
  for (uint32_t i = 0; i < after; i++)
    if (!match_dim(m, items->items[rest + 1 + i], rank - after + i)) return false;
  return true;
}

bool ev_match_type(ev_match *m) {
  const leat_expr *declared = m->declared;
  if (declared->kind != LEAT_EXPR_INDEX) return no_type(m->e, declared);
  if (!match_dtype(m, declared->base)) return false;
  uint32_t items = declared->items.count, rank = (uint32_t)m->found->rank, rest = items;
  for (uint32_t i = 0; i < items; i++) {
    if (declared->items.items[i]->kind != LEAT_EXPR_ELLIPSIS) continue;
    if (rest != items) {
      ev_fail(m->e, declared->span, "a type has at most one `...`");
      return false;
    }
    rest = i;
  }
  bool fits = rest == items ? rank == items : rank + 1 >= items;
  if (!fits) return m->only_binds || mismatch(m);
  return match_dims(m, &declared->items, rest);
}

ev ev_match_value(ev_match *m, ev value) {
  m->found = ev_tensor_type(value);
  leat_type checked = *m->found;
  if (value.kind == EV_TENSOR) m->checked = &checked;
  if (!ev_match_type(m)) return ev_error();
  leat_builder builder = ev_builder(m->e, m->span);
  return m->checked ? ev_tensor(leat_build_ensure(&builder, value.tensor, &checked)) : value;
}

// -- Values for declared types ------------------------------------------------------------------

bool ev_is_tensor_type(const leat_expr *type) {
  return type->kind == LEAT_EXPR_INDEX;
}

bool ev_is_weak_dtype(const ev_scope *scope, const leat_expr *base) {
  if (base->kind != LEAT_EXPR_NAME) return false;
  const ev_binding *binding = ev_lookup(scope, base->name);
  return binding && binding->value.kind == EV_DTYPE && binding->value.weak;
}

static ev fit_tensor(evaluator *e, const leat_expr *declared, ev value, leat_span span,
                     const char *what, const char *hint) {
  bool counts = ev_is_computed(e, value);
  bool literal = ev_is_literal(value) || value.kind == EV_LIST || value.kind == EV_STRING;
  leat_type type;
  leat_dtype dtype;
  bool weak = ev_is_weak_dtype(e->frame->scope, declared->base);
  if (literal && !counts) {
    if (!ev_type_of(e, declared, &type)) return ev_error();
    leat_value tensor = ev_literal_tensor(e, value, &type, hint, span);
    if (weak && ev_is_of_numbers(e, value)) ev_make_weak(e, tensor, value);
    return ev_tensor(tensor);
  }
  counts = counts || ev_is_weak(e, value);
  if (counts && !dtype_of(e, declared->base, &dtype)) return ev_error();
  if (value.kind != EV_ROWS)
    value = ev_tensor(ev_as_tensor(e, value, counts ? (int)dtype : -1, span));
  if (value.kind == EV_ERROR) return value;
  ev_match m = {.e = e, .span = span, .what = what, .declared = declared};
  ev fitting = ev_match_value(&m, value);
  fitting.typed = fitting.kind == EV_TENSOR && !weak;
  return fitting;
}

static ev static_list(evaluator *e, const leat_expr *item, ev value) {
  if (item->kind == LEAT_EXPR_NAME && !strcmp(item->name, "int")) value = ev_as_known(e, value);
  if (value.kind != EV_LIST) { // one value where a list is wanted is a list of one
    ev one = ev_static_value(e, item, value);
    return one.kind == EV_ERROR ? one : ev_make_list(e, &one, 1);
  }
  uint32_t count = value.list->count;
  ev *items = leat_new_array(e->arena, ev, (size_t)count + 1);
  for (uint32_t i = 0; i < count; i++) {
    items[i] = ev_static_value(e, item, value.list->items[i]);
    if (items[i].kind == EV_ERROR) return ev_error();
  }
  return ev_take_list(e, items, count);
}

ev ev_static_value(evaluator *e, const leat_expr *declared, ev value) {
  if (declared->kind == LEAT_EXPR_LIST)
    return declared->list.count == 1 ? static_list(e, declared->list.items[0], value) : ev_error();
  if (declared->kind == LEAT_EXPR_VAR_TYPE) return value.kind == EV_STATE ? value : ev_error();
  const char *name = declared->kind == LEAT_EXPR_NAME ? declared->name : "";
  if (!strcmp(name, "int")) value = ev_as_known(e, value);
  if (!strcmp(name, "any")) return value;
  if (!strcmp(name, "float") && value.kind == EV_INT) return ev_float((double)value.i);
  if (!strcmp(name, "list") && value.kind != EV_LIST) return ev_make_list(e, &value, 1);
  static const struct {
    const char *name;
    ev_kind kinds[2];
  } types[] = {{"int", {EV_INT, EV_DIM}},         {"float", {EV_FLOAT, EV_FLOAT}},
               {"bool", {EV_BOOL, EV_BOOL}},      {"str", {EV_STRING, EV_STRING}},
               {"type", {EV_TYPE, EV_DTYPE}},     {"list", {EV_LIST, EV_LIST}},
               {"fn", {EV_FUNCTION, EV_FUNCTION}}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (!strcmp(name, types[i].name) &&
        (value.kind == types[i].kinds[0] || value.kind == types[i].kinds[1]))
      return value;
  return ev_error();
}

void ev_note_brackets(evaluator *e, const leat_expr *declared) {
  leat_dtype dtype;
  if (declared->kind != LEAT_EXPR_NAME) return;
  bool is_dtype = leat_dtype_parse(declared->name, strlen(declared->name), &dtype) &&
                  dtype != LEAT_bool && dtype != LEAT_str; // which are compile-time types, too
  if (is_dtype || is_generic_name(declared->name))
    leat_note_at(e->diag, declared->span,
                 "the type of a scalar is `%s[]`, that of any tensor `%s[...D]`", declared->name,
                 declared->name);
}

ev ev_fit(evaluator *e, const leat_expr *declared, ev value, leat_span span, const char *what,
          const char *hint) {
  if (value.kind == EV_ERROR) return value;
  if (value.kind == EV_STATE && (!declared || ev_is_tensor_type(declared)))
    value = ev_read_as(e, value.state, hint, span);
  if (!declared || value.kind == EV_ERROR) return value;
  if (ev_is_tensor_type(declared)) return fit_tensor(e, declared, value, span, what, hint);
  ev fitting = ev_static_value(e, declared, value);
  if (fitting.kind != EV_ERROR || e->stopped) return fitting;
  const char *expected = ev_source_text(e, declared->span);
  ev_fail(e, span, "`%s`: expected %s, found %s", what, expected,
          strcmp(expected, "int") ? ev_kind_name(value) : ev_found_no_int(e, value));
  ev_note_brackets(e, declared);
  return ev_error();
}
