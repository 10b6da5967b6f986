// Types and parameters: what a type expression means, whether a value fits it, and how a call's
// arguments meet the parameters of a function.
//
// In a `fn` a capital name is generic to the call: in the place of a dtype it is a type variable,
// in the place of a dim it is bound by the first parameter in which it stands alone.
#include "frontend/evaluator.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// -- Type expressions
// --------------------------------------------------------------------------------

static bool is_generic_name(const char *name) {
  return isupper((unsigned char)name[0]);
}

bool ev_is_type(evaluator *e, const leat_expr *expr) {
  if (expr->kind != LEAT_EXPR_INDEX || expr->base->kind != LEAT_EXPR_NAME) return false;
  leat_dtype dtype;
  const char *name = expr->base->name;
  ev_binding *binding = ev_lookup(e->frame->scope, name);
  if (binding) return binding->value.kind == EV_DTYPE;
  return leat_dtype_parse(name, strlen(name), &dtype);
}

static bool dtype_of(evaluator *e, const leat_expr *expr, leat_dtype *out) {
  ev value = ev_expr(e, expr, NULL);
  if (value.kind == EV_DTYPE)
    *out = (leat_dtype)value.i;
  else if (value.kind != EV_ERROR)
    ev_fail(e, expr->span, "expected a dtype such as `f32`, found %s", ev_kind_name(value));
  return value.kind == EV_DTYPE;
}

bool ev_as_dim(evaluator *e, ev value, leat_span span, leat_dim *out) {
  if (value.kind == EV_INT && value.i < 0) {
    ev_fail(e, span, "a dimension cannot be %lld", (long long)value.i);
    return false;
  }
  if (value.kind == EV_INT)
    *out = leat_dim_const(value.i);
  else if (value.kind == EV_DIM)
    *out = value.dim;
  else if (value.kind != EV_ERROR)
    ev_fail(e, span, "expected a dimension, found %s", ev_kind_name(value));
  return value.kind == EV_INT || value.kind == EV_DIM;
}

bool ev_as_dims(evaluator *e, ev value, leat_span span, leat_dim **out, uint32_t *count) {
  if (value.kind == EV_ERROR) return false;
  if (value.kind != EV_LIST) {
    ev_fail(e, span, "expected a list of dimensions, found %s", ev_kind_name(value));
    return false;
  }
  if (value.list->count > LEAT_MAX_RANK) {
    ev_fail(e, span, "%u dimensions; at most %d are supported", value.list->count, LEAT_MAX_RANK);
    return false;
  }
  *count = value.list->count;
  *out = leat_new_array(e->arena, leat_dim, LEAT_MAX_RANK);
  for (uint32_t i = 0; i < *count; i++)
    if (!ev_as_dim(e, value.list->items[i], span, &(*out)[i])) return false;
  return true;
}

static leat_dim any_dim(evaluator *e, const leat_expr *item) {
  const char *name =
      item->number_of_dim ? leat_intern_printf(e->strings, "?%u", item->number_of_dim) : NULL;
  return leat_dim_anonymous(e->graph->dims, name);
}

static bool add_dim(evaluator *e, leat_type *type, leat_dim dim, leat_span span) {
  if (type->rank == LEAT_MAX_RANK) {
    ev_fail(e, span, "a tensor has at most %d dimensions", LEAT_MAX_RANK);
    return false;
  }
  type->dims[type->rank++] = dim;
  return true;
}

bool ev_type_of(evaluator *e, const leat_expr *expr, leat_type *out) {
  *out = (leat_type){0};
  if (expr->kind != LEAT_EXPR_INDEX) {
    ev_fail(e, expr->span, "expected a type such as `f32[N, 64]` (a scalar is `f32[]`)");
    return false;
  }
  if (!dtype_of(e, expr->base, &out->dtype)) return false;
  for (uint32_t i = 0; i < expr->items.count; i++) {
    const leat_expr *item = expr->items.items[i];
    if (item->kind == LEAT_EXPR_ANY_DIM) {
      if (!add_dim(e, out, any_dim(e, item), item->span)) return false;
    } else if (item->kind == LEAT_EXPR_ELLIPSIS && item->name) {
      leat_dim *dims;
      uint32_t count;
      if (!ev_as_dims(e, ev_name(e, item->name, item->span), item->span, &dims, &count))
        return false;
      for (uint32_t d = 0; d < count; d++)
        if (!add_dim(e, out, dims[d], item->span)) return false;
    } else {
      leat_dim dim;
      if (!ev_as_dim(e, ev_expr(e, item, NULL), item->span, &dim)) return false;
      if (!add_dim(e, out, dim, item->span)) return false;
    }
  }
  return true;
}

// -- Matching
// ------------------------------------------------------------------------------------------

typedef struct match {
  evaluator *e;
  ev_scope *generics; // where generic names are looked up and bound; NULL: nothing is generic
  leat_span span;
  const char *what; // for messages: "argument `x` of `dense`"
  const leat_expr *declared;
  const leat_type *found;
} match;

static bool mismatch(match *m) {
  leat_text expected = {0}, found = {0};
  size_t size;
  leat_span span = m->declared->span;
  const char *source = leat_diag_source_text(m->e->diag, span.source, &size);
  if (source && span.end <= size)
    leat_text_add_n(&expected, source + span.begin, span.end - span.begin);
  leat_type_print(m->found, &found);
  ev_fail(m->e, m->span, "%s: expected %s, found %s", m->what,
          expected.data ? expected.data : "another type", found.data);
  leat_text_finish(&expected);
  leat_text_finish(&found);
  return false;
}

static ev_binding *generic(match *m, const leat_expr *expr, bool *is_new) {
  *is_new = false;
  if (!m->generics || expr->kind != LEAT_EXPR_NAME || !is_generic_name(expr->name)) return NULL;
  ev_binding *binding = leat_map_get(&m->generics->names, expr->name);
  *is_new = !binding;
  return binding;
}

static bool match_dtype(match *m, const leat_expr *base) {
  bool is_new;
  leat_dtype dtype;
  generic(m, base, &is_new);
  if (is_new && !leat_dtype_parse(base->name, strlen(base->name), &dtype)) {
    ev value = {.kind = EV_DTYPE, .i = m->found->dtype};
    return ev_bind(m->e, m->generics, base->span, base->name, value);
  }
  if (!dtype_of(m->e, base, &dtype)) return false;
  return dtype == m->found->dtype || mismatch(m);
}

static bool match_dim(match *m, const leat_expr *item, leat_dim found) {
  if (item->kind == LEAT_EXPR_ANY_DIM) return true;
  bool is_new;
  generic(m, item, &is_new);
  if (is_new) return ev_bind(m->e, m->generics, item->span, item->name, ev_of_dim(found));
  leat_dim expected;
  if (!ev_as_dim(m->e, ev_expr(m->e, item, NULL), item->span, &expected)) return false;
  return leat_dim_equal(expected, found) || mismatch(m);
}

static bool match_rest(match *m, const leat_expr *item, const leat_dim *dims, uint32_t count) {
  if (!item->name) return true;
  leat_expr name = {.kind = LEAT_EXPR_NAME, .span = item->span, .name = item->name};
  bool is_new;
  generic(m, &name, &is_new);
  if (is_new) {
    ev values[LEAT_MAX_RANK];
    for (uint32_t i = 0; i < count; i++) values[i] = ev_of_dim(dims[i]);
    return ev_bind(m->e, m->generics, item->span, item->name, ev_make_list(m->e, values, count));
  }
  leat_dim *expected;
  uint32_t expected_count;
  ev value = ev_name(m->e, item->name, item->span);
  if (!ev_as_dims(m->e, value, item->span, &expected, &expected_count)) return false;
  if (expected_count != count) return mismatch(m);
  for (uint32_t i = 0; i < count; i++)
    if (!leat_dim_equal(expected[i], dims[i])) return mismatch(m);
  return true;
}

static bool match_type(match *m) {
  const leat_expr *declared = m->declared;
  if (declared->kind != LEAT_EXPR_INDEX) {
    ev_fail(m->e, declared->span, "expected a type such as `f32[N, 64]` (a scalar is `f32[]`)");
    return false;
  }
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
  if (!fits) return mismatch(m);
  uint32_t after = rest == items ? 0 : items - rest - 1; // items behind the `...`
  for (uint32_t i = 0; i < rest; i++)
    if (!match_dim(m, declared->items.items[i], m->found->dims[i])) return false;
  if (rest == items) return true;
  const leat_expr *dots = declared->items.items[rest];
  if (!match_rest(m, dots, m->found->dims + rest, rank - rest - after)) return false;
  for (uint32_t i = 0; i < after; i++)
    if (!match_dim(m, declared->items.items[rest + 1 + i], m->found->dims[rank - after + i]))
      return false;
  return true;
}

bool ev_check_type(evaluator *e, const leat_expr *declared, leat_value value, leat_span span,
                   const char *what) {
  match m = {.e = e,
             .span = span,
             .what = leat_arena_printf(e->arena, "`%s`", what),
             .declared = declared,
             .found = leat_value_type(value)};
  return match_type(&m);
}

// -- Literals as tensors
// ---------------------------------------------------------------------------------

static bool integer_fits(leat_dtype dtype, int64_t value) {
  switch (dtype) {
  case LEAT_i8: return value >= INT8_MIN && value <= INT8_MAX;
  case LEAT_i16: return value >= INT16_MIN && value <= INT16_MAX;
  case LEAT_i32: return value >= INT32_MIN && value <= INT32_MAX;
  case LEAT_u8: return value >= 0 && value <= UINT8_MAX;
  case LEAT_u16: return value >= 0 && value <= UINT16_MAX;
  case LEAT_u32: return value >= 0 && value <= UINT32_MAX;
  case LEAT_u64: return value >= 0;
  default: return true;
  }
}

// Writes one element; false when the literal has no such value in the dtype.
static bool store_literal(leat_dtype dtype, ev literal, char *to) {
  leat_dtype_kind kind = leat_dtype_kind_of(dtype);
  bool number = literal.kind == EV_INT || literal.kind == EV_FLOAT;
  if (kind == LEAT_KIND_BOOL && literal.kind == EV_BOOL) {
    *to = (char)literal.i;
    return true;
  }
  if (kind == LEAT_KIND_FLOAT && number) {
    double value = literal.kind == EV_INT ? (double)literal.i : literal.f;
    if (dtype == LEAT_f64) memcpy(to, &value, sizeof value);
    float narrow = (float)value;
    if (dtype == LEAT_f32) memcpy(to, &narrow, sizeof narrow);
    return dtype == LEAT_f64 || dtype == LEAT_f32;
  }
  bool integer = kind == LEAT_KIND_SIGNED || kind == LEAT_KIND_UNSIGNED;
  if (dtype == LEAT_u64 && literal.kind == EV_FLOAT && literal.magnitude) {
    memcpy(to, &literal.magnitude, sizeof literal.magnitude);
    return true;
  }
  if (!integer || literal.kind != EV_INT || !integer_fits(dtype, literal.i)) return false;
  memcpy(to, &literal.i, leat_dtype_size(dtype)); // little-endian: the low bytes
  return true;
}

static bool fill(evaluator *e, ev value, leat_tensor *tensor, int32_t axis, char **to,
                 leat_span span) {
  if (axis == tensor->rank) {
    if (value.kind == EV_LIST) {
      ev_fail(e, span, "a list is nested deeper than its type has dimensions");
      return false;
    }
    if (!store_literal(tensor->dtype, value, *to)) {
      leat_text text = {0};
      ev_print(value, &text);
      ev_fail(e, span, "%s is no %s", text.data, leat_dtype_name(tensor->dtype));
      leat_text_finish(&text);
      return false;
    }
    *to += leat_dtype_size(tensor->dtype);
    return true;
  }
  if (value.kind != EV_LIST || (int64_t)value.list->count != tensor->shape[axis]) {
    ev_fail(e, span, "expected a list of %lld here", (long long)tensor->shape[axis]);
    return false;
  }
  for (uint32_t i = 0; i < value.list->count; i++)
    if (!fill(e, value.list->items[i], tensor, axis + 1, to, span)) return false;
  return true;
}

bool ev_literal(evaluator *e, ev value, const leat_type *type, leat_span span, leat_tensor *out) {
  *out = (leat_tensor){.dtype = type->dtype, .rank = type->rank};
  for (int32_t i = 0; i < out->rank; i++) {
    if (!leat_dim_is_const(type->dims[i])) {
      ev_fail(e, span, "a literal has dimensions that are known while compiling");
      return false;
    }
    out->shape[i] = type->dims[i].value;
  }
  int64_t bytes = leat_tensor_bytes(out), elements = leat_shape_elements(out->rank, out->shape);
  if (bytes < 0 || bytes > INT32_MAX) {
    ev_fail(e, span, "too large for a literal; keep it in a file and `load` it");
    return false;
  }
  char *to = out->data = leat_arena_alloc(e->arena, (size_t)bytes + 16);
  if (value.kind == EV_LIST) return !elements || fill(e, value, out, 0, &to, span);
  for (int64_t i = 0; i < elements; i++)
    if (!fill(e, value, out, out->rank, &to, span)) return false;
  return true;
}

leat_value ev_literal_tensor(evaluator *e, ev value, const leat_type *type, const char *name,
                             leat_span span) {
  leat_type element = leat_type_scalar(type->dtype);
  leat_tensor tensor;
  if (!ev_literal(e, value, value.kind == EV_LIST ? type : &element, span, &tensor))
    return (leat_value){0};
  leat_builder builder = ev_builder(e, span);
  leat_value literal = leat_build_const(&builder, name, &tensor);
  return literal.node ? leat_build_broadcast(&builder, literal, type) : literal;
}

// The shape and natural dtype of a nested list.
static void list_type(ev value, leat_type *type, bool *has_float) {
  if (value.kind == EV_FLOAT) *has_float = true;
  if (value.kind == EV_BOOL) type->dtype = LEAT_bool;
  if (value.kind != EV_LIST || type->rank == LEAT_MAX_RANK) return;
  type->dims[type->rank++] = leat_dim_const(value.list->count);
  for (uint32_t i = 0; i < value.list->count; i++) {
    leat_type inner = *type;
    list_type(value.list->items[i], &inner, has_float);
    if (i == 0) *type = inner;
    type->dtype = inner.dtype;
  }
}

static bool holds_tensors(ev value) {
  if (value.kind != EV_LIST) return value.kind == EV_TENSOR || value.kind == EV_STATE;
  return value.list->count && holds_tensors(value.list->items[0]);
}

leat_value ev_as_tensor(evaluator *e, ev value, int dtype, leat_span span) {
  leat_value none = {0};
  switch (value.kind) {
  case EV_ERROR: return none;
  case EV_TENSOR: return value.tensor;
  case EV_STATE: return ev_read(e, value.state, span);
  case EV_DIM: {
    leat_attr attr = {.dim = value.dim};
    leat_builder builder = ev_builder(e, span);
    return leat_build(&builder, ev_node_name(e, NULL, "dim"), LEAT_OP_dim, NULL, 0, &attr);
  }
  case EV_INT:
  case EV_FLOAT:
  case EV_BOOL:
  case EV_LIST: {
    if (holds_tensors(value)) {
      ev_fail(e, span, "a list of tensors is no tensor; `concat` joins them");
      return none;
    }
    leat_type type = {.dtype = LEAT_i32};
    bool has_float = false;
    list_type(value, &type, &has_float);
    if (has_float) type.dtype = LEAT_f32;
    if (dtype >= 0 && value.kind != EV_BOOL) type.dtype = (leat_dtype)dtype;
    return ev_literal_tensor(e, value, &type, ev_node_name(e, NULL, "const"), span);
  }
  case EV_NONE:
  case EV_STRING:
  case EV_DTYPE:
  case EV_TYPE:
  case EV_FUNCTION:
  case EV_ENTRY: break;
  }
  ev_fail(e, span, "expected a tensor, found %s", ev_kind_name(value));
  return none;
}

// -- Parameters
// --------------------------------------------------------------------------------------------

typedef enum param_kind { PARAM_ANY, PARAM_TENSOR, PARAM_VAR, PARAM_STATIC } param_kind;

static param_kind kind_of(const leat_expr *type) {
  if (!type) return PARAM_ANY;
  if (type->kind == LEAT_EXPR_VAR_TYPE) return PARAM_VAR;
  return type->kind == LEAT_EXPR_INDEX ? PARAM_TENSOR : PARAM_STATIC;
}

// A compile-time value for a declared `int`, `[str]`, …: converted, or EV_ERROR when it does not
// fit.
static ev static_value(evaluator *e, const leat_expr *type, ev value) {
  if (type->kind == LEAT_EXPR_LIST) {
    if (type->list.count != 1) return ev_error();
    if (value.kind != EV_LIST) { // one value where a list is wanted is a list of one
      ev one = static_value(e, type->list.items[0], value);
      return one.kind == EV_ERROR ? one : ev_make_list(e, &one, 1);
    }
    for (uint32_t i = 0; i < value.list->count; i++)
      if (static_value(e, type->list.items[0], value.list->items[i]).kind == EV_ERROR)
        return ev_error();
    return value;
  }
  const char *name = type->kind == LEAT_EXPR_NAME ? type->name : "";
  if (!strcmp(name, "int") && (value.kind == EV_INT || value.kind == EV_DIM)) return value;
  if (!strcmp(name, "float") && value.kind == EV_INT)
    return (ev){.kind = EV_FLOAT, .f = (double)value.i};
  if (!strcmp(name, "float") && value.kind == EV_FLOAT) return value;
  if (!strcmp(name, "bool") && value.kind == EV_BOOL) return value;
  if (!strcmp(name, "str") && value.kind == EV_STRING) return value;
  if (!strcmp(name, "type") && (value.kind == EV_TYPE || value.kind == EV_DTYPE)) return value;
  if (!strcmp(name, "list") && value.kind == EV_LIST) return value;
  if (!strcmp(name, "fn") && value.kind == EV_FUNCTION) return value;
  return ev_error();
}

typedef struct binder {
  evaluator *e;
  const ev_function *function;
  const leat_bindings *params;
  ev_scope *scope;
  leat_span call;
  const ev_argument **given; // by parameter; NULL: not given
  bool *bound;
} binder;

static const char *describe(binder *b, uint32_t i) {
  return leat_arena_printf(b->e->arena, "argument `%s` of `%s`", b->params->items[i].name,
                           b->function->name);
}

static bool bind_param(binder *b, uint32_t i, ev value, leat_span span) {
  const leat_binding *param = &b->params->items[i];
  evaluator *e = b->e;
  b->bound[i] = true;
  if (value.kind == EV_ERROR) return false;
  bool default_none = param->value && param->value->kind == LEAT_EXPR_NONE;
  if (value.kind == EV_NONE && default_none)
    return ev_bind(e, b->scope, param->span, param->name, value);
  match m = {
      .e = e, .generics = b->scope, .span = span, .what = describe(b, i), .declared = param->type};
  switch (kind_of(param->type)) {
  case PARAM_ANY: break;
  case PARAM_STATIC: {
    ev fitting = static_value(e, param->type, value);
    if (fitting.kind == EV_ERROR) {
      size_t size;
      leat_span declared = param->type->span;
      const char *text = leat_diag_source_text(e->diag, declared.source, &size);
      ev_fail(e, span, "%s: expected %.*s, found %s", m.what, (int)(declared.end - declared.begin),
              text + declared.begin, ev_kind_name(value));
      return false;
    }
    value = fitting;
    break;
  }
  case PARAM_VAR:
    if (value.kind != EV_STATE) {
      ev_fail(e, span, "%s: expected a variable, found %s", m.what, ev_kind_name(value));
      return false;
    }
    m.declared = param->type->of;
    m.found = &value.state->type;
    if (m.declared && !match_type(&m)) return false;
    break;
  case PARAM_TENSOR: {
    int dtype = -1;
    leat_dtype named;
    const leat_expr *base = param->type->base;
    ev_binding *known = base->kind == LEAT_EXPR_NAME ? ev_lookup(b->scope, base->name) : NULL;
    if (known && known->value.kind == EV_DTYPE)
      dtype = (int)known->value.i;
    else if (base->kind == LEAT_EXPR_NAME &&
             leat_dtype_parse(base->name, strlen(base->name), &named))
      dtype = (int)named;
    if (value.kind != EV_STATE) { // a variable stays one: it is read where it is used
      value = ev_tensor(ev_as_tensor(e, value, dtype, span));
      if (value.kind == EV_ERROR) return false;
    }
    m.found = value.kind == EV_STATE ? &value.state->type : leat_value_type(value.tensor);
    if (!match_type(&m)) return false;
    break;
  }
  }
  return ev_bind(e, b->scope, param->span, param->name, value);
}

static uint32_t find_param(const leat_bindings *params, const char *name) {
  uint32_t i = 0;
  while (i < params->count && (params->items[i].collects || params->items[i].name != name)) i++;
  return i;
}

static void unknown_key(binder *b, const ev_argument *arg) {
  const char **names = leat_new_array(b->e->arena, const char *, b->params->count + 1);
  for (uint32_t i = 0; i < b->params->count; i++) names[i] = b->params->items[i].name;
  const char *near = leat_nearest(arg->key, names, b->params->count);
  ev_fail(b->e, arg->span, "`%s` has no parameter `%s`%s%s%s", b->function->name, arg->key,
          near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
}

// Which argument each parameter gets; what is left over by name goes to a last `...`.
static bool distribute(binder *b, const ev_argument *args, uint32_t count) {
  evaluator *e = b->e;
  const leat_bindings *params = b->params;
  uint32_t fixed = params->count, rest_count = 0;
  bool collects = fixed && params->items[fixed - 1].collects;
  if (collects) fixed--;
  ev *rest = leat_new_array(e->arena, ev, count + 1);
  const char **rest_names = leat_new_array(e->arena, const char *, count + 1);
  uint32_t position = 0;
  for (uint32_t i = 0; i < count; i++) {
    const ev_argument *arg = &args[i];
    uint32_t p = arg->key ? find_param(params, arg->key) : position++;
    if (arg->key && p >= fixed) {
      if (!collects) return unknown_key(b, arg), false;
      rest[rest_count] = arg->value;
      rest_names[rest_count++] = arg->key;
      continue;
    }
    if (p >= fixed) {
      ev_fail(e, arg->span, "`%s` takes %u argument%s, found more", b->function->name, fixed,
              fixed == 1 ? "" : "s");
      return false;
    }
    if (b->given[p]) {
      ev_fail(e, arg->span, "%s is given twice", describe(b, p));
      return false;
    }
    b->given[p] = arg;
  }
  if (!collects) return true;
  ev_list *list = leat_new(e->arena, ev_list);
  *list = (ev_list){.count = rest_count, .items = rest, .names = rest_names};
  b->bound[fixed] = true;
  return ev_bind(e, b->scope, params->items[fixed].span, params->items[fixed].name,
                 (ev){.kind = EV_LIST, .list = list});
}

// Compile-time arguments first, since types may use them; then tensors, which bind generic names;
// literals for tensors, which take those dtypes; defaults last, since they may use all of it.
static bool bind_given(binder *b, int turn) {
  for (uint32_t i = 0; i < b->params->count; i++) {
    const ev_argument *arg = b->given[i];
    if (b->bound[i] || !arg) continue;
    param_kind kind = kind_of(b->params->items[i].type);
    bool literal = ev_is_literal(arg->value) || arg->value.kind == EV_LIST;
    int when = kind == PARAM_STATIC || kind == PARAM_ANY ? 0 : literal ? 2 : 1;
    if (when == turn && !bind_param(b, i, arg->value, arg->span)) return false;
  }
  return true;
}

static bool bind_defaults(binder *b) {
  for (uint32_t i = 0; i < b->params->count; i++) {
    if (b->bound[i]) continue;
    const leat_binding *param = &b->params->items[i];
    if (!param->value) {
      ev_fail(b->e, b->call, "%s is missing", describe(b, i));
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
              .params = params,
              .scope = ev_scope_new(e, e->globals),
              .call = call,
              .given = leat_new_array(e->arena, const ev_argument *, params->count + 1),
              .bound = leat_new_array(e->arena, bool, params->count + 1)};
  if (!distribute(&b, args, count)) return NULL;
  ev_scope *outer = e->frame->scope;
  e->frame->scope = b.scope; // declared types and defaults see the parameters
  bool ok = bind_given(&b, 0) && bind_given(&b, 1) && bind_given(&b, 2) && bind_defaults(&b);
  e->frame->scope = outer;
  return ok ? b.scope : NULL;
}

// -- Graph parameters
// ------------------------------------------------------------------------------------

static bool parse_setting(const leat_expr *type, const char *text, ev *out, evaluator *e) {
  const char *name = type && type->kind == LEAT_EXPR_NAME ? type->name : "int";
  char *end;
  errno = 0;
  if (!strcmp(name, "str")) {
    *out = (ev){.kind = EV_STRING, .text = leat_intern(e->strings, text), .size = strlen(text)};
    return true;
  }
  if (!strcmp(name, "bool")) {
    *out = ev_bool(!strcmp(text, "true"));
    return out->i || !strcmp(text, "false");
  }
  if (!strcmp(name, "float"))
    *out = (ev){.kind = EV_FLOAT, .f = strtod(text, &end)};
  else if (!strcmp(name, "int"))
    *out = ev_int(strtoll(text, &end, 10));
  else
    return false;
  return *text && !*end && !errno;
}

ev ev_setting(evaluator *e, const leat_binding *param) {
  const leat_frontend_options *options = &e->options;
  for (int i = 0; i < options->setting_count; i++) {
    if (strcmp(options->setting_names[i], param->name)) continue;
    ev value;
    if (parse_setting(param->type, options->setting_values[i], &value, e)) return value;
    return ev_fail(e, param->span, "`%s` is no value for the graph parameter `%s`",
                   options->setting_values[i], param->name);
  }
  if (!param->value)
    return ev_fail(e, param->span,
                   "the graph parameter `%s` has no default: give it with --set %s=…", param->name,
                   param->name);
  ev value = ev_expr(e, param->value, NULL);
  if (value.kind == EV_ERROR || !param->type) return value;
  ev fitting = static_value(e, param->type, value);
  return fitting.kind != EV_ERROR ? fitting
                                  : ev_fail(e, param->span, "the default of `%s` is %s",
                                            param->name, ev_kind_name(value));
}
