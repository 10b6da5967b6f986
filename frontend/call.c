// Calls: of functions of the language, of primitive ops, and the operators that are sugar for ops.
#include "frontend/evaluator.h"

#include <string.h>

// -- Nodes
// -----------------------------------------------------------------------------------------

leat_builder ev_builder(evaluator *e, leat_span span) {
  return (leat_builder){.graph = e->graph,
                        .diag = e->diag,
                        .span = span,
                        .device = e->device,
                        .colocate = e->colocate,
                        .entry = e->entry};
}

const char *ev_node_name(evaluator *e, const char *hint, const char *fallback) {
  if (e->gradient_path) return e->gradient_path;
  const char *name = hint ? hint : fallback;
  return *e->path ? leat_intern_printf(e->strings, "%s/%s", e->path, name) : name;
}

// FNV-1a of the node's path: what random numbers are keyed by. Part of the language: never changes.
static uint64_t path_key(const char *path) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (; *path; path++) hash = (hash ^ (unsigned char)*path) * 0x100000001b3u;
  return hash;
}

// -- Primitive ops
// -----------------------------------------------------------------------------------

static bool is_random(leat_op op) {
  return leat_op_info_of(op)->flags & LEAT_FLAG_RANDOM;
}

// Which inputs of an op share its dtype, so that a literal there takes it.
static bool input_has_op_dtype(leat_op op, uint32_t input) {
  switch (op) {
  case LEAT_OP_where: return input != 0;
  case LEAT_OP_gather: return input == 0;
  case LEAT_OP_scatter_add: return input != 1;
  case LEAT_OP_random_bits:
  case LEAT_OP_permutation: return false;
  default: return true;
  }
}

static int op_dtype(leat_op op, const ev *inputs, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (!input_has_op_dtype(op, i)) continue;
    if (inputs[i].kind == EV_TENSOR) return (int)leat_value_type(inputs[i].tensor)->dtype;
    if (inputs[i].kind == EV_STATE) return (int)inputs[i].state->type.dtype;
    if (inputs[i].kind == EV_DIM) return LEAT_i64;
  }
  for (uint32_t i = 0; i < count; i++)
    if (input_has_op_dtype(op, i) && inputs[i].kind == EV_FLOAT) return LEAT_f32;
  return -1;
}

ev ev_op(evaluator *e, leat_op op, const ev *inputs, uint32_t count, const leat_attr *attrs,
         leat_span span, const char *hint) {
  int dtype = op_dtype(op, inputs, count);
  leat_value *values = leat_new_array(e->arena, leat_value, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    int want = is_random(op) ? LEAT_i64 : input_has_op_dtype(op, i) ? dtype : -1;
    values[i] = ev_as_tensor(e, inputs[i], want, span);
    if (!values[i].node) return ev_error();
  }
  leat_builder builder = ev_builder(e, span);
  const char *name = ev_node_name(e, hint, leat_op_name(op));
  return ev_tensor(leat_build(&builder, name, op, values, count, attrs));
}

// An axis counted from the end becomes one counted from the front.
static bool normal_axis(evaluator *e, int64_t *axis, int32_t rank, leat_span span) {
  if (*axis < -rank || *axis >= rank) {
    ev_fail(e, span, "axis %lld of a tensor of rank %d", (long long)*axis, rank);
    return false;
  }
  if (*axis < 0) *axis += rank;
  return true;
}

static int32_t rank_of(ev value) {
  if (value.kind == EV_TENSOR) return leat_value_type(value.tensor)->rank;
  return value.kind == EV_STATE ? value.state->type.rank : 0;
}

// A list of ints; for `axis` each is counted from the front, and they are ascending and distinct.
static bool int_list(evaluator *e, ev value, bool axes, int32_t rank, leat_span span,
                     leat_attr *out) {
  ev single = value;
  ev_list one = {.count = 1, .items = &single};
  if (value.kind == EV_INT) value = (ev){.kind = EV_LIST, .list = &one};
  if (value.kind != EV_LIST) {
    ev_fail(e, span, "expected an int or a list of ints, found %s", ev_kind_name(value));
    return false;
  }
  uint32_t count = value.list->count;
  int64_t *ints = leat_new_array(e->arena, int64_t, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    if (value.list->items[i].kind != EV_INT) {
      ev_fail(e, span, "expected ints, found %s", ev_kind_name(value.list->items[i]));
      return false;
    }
    ints[i] = value.list->items[i].i;
    if (axes && !normal_axis(e, &ints[i], rank, span)) return false;
    uint32_t at = i;
    for (; axes && at > 0 && ints[at - 1] > ints[at]; at--) {
      int64_t swap = ints[at];
      ints[at] = ints[at - 1];
      ints[at - 1] = swap;
    }
    if (axes && at > 0 && ints[at - 1] == ints[at]) {
      ev_fail(e, span, "axis %lld stands there twice", (long long)ints[at]);
      return false;
    }
  }
  out->count = count;
  out->ints = ints;
  return true;
}

// reshape(x, [2, -1]): the one -1 is what is left of the elements.
static bool shape_list(evaluator *e, leat_op op, ev value, ev input, leat_span span,
                       leat_attr *out) {
  leat_dim *dims;
  if (value.kind == EV_TYPE) {
    out->count = (uint32_t)value.type->rank;
    out->dims = value.type->dims;
    return true;
  }
  int64_t hole = -1;
  leat_dim known = leat_dim_const(1), total;
  ev *items = NULL;
  if (op == LEAT_OP_reshape && value.kind == EV_LIST && input.kind != EV_ERROR) {
    items = leat_new_array(e->arena, ev, value.list->count + 1);
    for (uint32_t i = 0; i < value.list->count; i++) {
      items[i] = value.list->items[i];
      if (items[i].kind == EV_INT && items[i].i == -1 && hole < 0) {
        hole = i;
        items[i] = ev_int(1);
      }
      leat_dim dim;
      if (!ev_as_dim(e, items[i], span, &dim)) return false;
      if (!leat_dim_mul(e->graph->dims, known, dim, &known)) return false;
    }
    if (hole >= 0) {
      leat_value tensor = ev_as_tensor(e, input, -1, span);
      bool ok = tensor.node &&
                leat_type_elements(e->graph->dims, leat_value_type(tensor), &total) &&
                leat_dim_floordiv(e->graph->dims, total, known, &total);
      if (!ok) {
        ev_fail(e, span, "there is no dimension for the -1");
        return false;
      }
      items[hole] = ev_of_dim(total);
    }
    value = ev_make_list(e, items, value.list->count);
  }
  if (!ev_as_dims(e, value, span, &dims, &out->count)) return false;
  out->dims = dims;
  return true;
}

typedef struct op_call {
  leat_op op;
  leat_span span;
  ev *inputs;
  uint32_t input_count;
  const char *path; // of the node, for random keys
} op_call;

static bool wrong_attr(evaluator *e, const op_call *call, const char *name, const char *expected,
                       ev found, leat_span span) {
  ev_fail(e, span, "attribute `%s` of `%s`: expected %s, found %s", name, leat_op_name(call->op),
          expected, ev_kind_name(found));
  return false;
}

static bool convert_attr(evaluator *e, const op_call *call, const leat_attr_info *info, ev value,
                         leat_span span, leat_attr *out) {
  ev first = call->input_count ? call->inputs[0] : ev_error();
  int32_t rank = rank_of(first);
  if (call->op == LEAT_OP_gather || call->op == LEAT_OP_scatter_add || call->op == LEAT_OP_concat)
    rank = rank > 0 ? rank : 1;
  bool axis = !strcmp(info->name, "axis");
  switch (info->kind) {
  case LEAT_ATTR_INT:
    if (value.kind != EV_INT) return wrong_attr(e, call, info->name, "an int", value, span);
    out->i = value.i;
    return !axis || call->op == LEAT_OP_iota || normal_axis(e, &out->i, rank, span);
  case LEAT_ATTR_BOOL:
    if (value.kind != EV_BOOL) return wrong_attr(e, call, info->name, "a bool", value, span);
    out->i = value.i;
    return true;
  case LEAT_ATTR_STRING:
    if (value.kind != EV_STRING) return wrong_attr(e, call, info->name, "a string", value, span);
    out->string = leat_intern_n(e->strings, value.text, value.size);
    return true;
  case LEAT_ATTR_DTYPE:
    if (value.kind != EV_DTYPE) return wrong_attr(e, call, info->name, "a dtype", value, span);
    out->i = value.i;
    return true;
  case LEAT_ATTR_DIM: return ev_as_dim(e, value, span, &out->dim);
  case LEAT_ATTR_INTS: return int_list(e, value, axis, rank, span, out);
  case LEAT_ATTR_DIMS: return shape_list(e, call->op, value, first, span, out);
  case LEAT_ATTR_TYPE:
    if (value.kind != EV_TYPE) return wrong_attr(e, call, info->name, "a type", value, span);
    out->type = value.type;
    return true;
  case LEAT_ATTR_STATE:
    if (value.kind != EV_STATE) return wrong_attr(e, call, info->name, "a variable", value, span);
    out->state = value.state;
    return true;
  case LEAT_ATTR_TENSOR: break;
  }
  return wrong_attr(e, call, info->name, "nothing: write the value itself", value, span);
}

// What an attribute is when the call does not give it; false: it must be given.
static bool default_attr(evaluator *e, const op_call *call, const leat_attr_info *info,
                         leat_attr *out) {
  bool reduce = leat_op_info_of(call->op)->kind == LEAT_KIND_REDUCE;
  ev first = call->input_count ? call->inputs[0] : ev_error();
  *out = (leat_attr){0};
  if (!strcmp(info->name, "key")) {
    out->i = (int64_t)path_key(call->path);
    return true;
  }
  if (!strcmp(info->name, "step")) { // of a slice: all ones
    int64_t *ints = leat_new_array(e->arena, int64_t, LEAT_MAX_RANK);
    for (int i = 0; i < LEAT_MAX_RANK; i++) ints[i] = 1;
    out->count = (uint32_t)rank_of(first);
    out->ints = ints;
    return true;
  }
  if (!strcmp(info->name, "perm") || (reduce && !strcmp(info->name, "axis"))) { // reversed · all
    uint32_t rank = (uint32_t)rank_of(first);
    int64_t *ints = leat_new_array(e->arena, int64_t, rank + 1);
    for (uint32_t i = 0; i < rank; i++) ints[i] = reduce ? i : rank - 1 - i;
    out->count = rank;
    out->ints = ints;
    return true;
  }
  if (!strcmp(info->name, "dtype") && call->op != LEAT_OP_cast) {
    out->i = call->op == LEAT_OP_one_hot ? LEAT_f32 : LEAT_i32;
    return true;
  }
  if (info->kind == LEAT_ATTR_STRING) {
    out->string = leat_intern(e->strings, "");
    return call->op == LEAT_OP_print || call->op == LEAT_OP_matmul;
  }
  return info->kind == LEAT_ATTR_BOOL || info->kind == LEAT_ATTR_INT;
}

// random_bits and permutation count by run_count() unless told; in an initialiser by 0.
static void default_count(evaluator *e, op_call *call) {
  if (!is_random(call->op) || call->input_count) return;
  call->inputs[0] = e->initialising || !e->entry
                        ? ev_int(0)
                        : ev_op(e, LEAT_OP_run_count, NULL, 0, NULL, call->span, NULL);
  call->input_count = 1;
}

static bool holds_tensor(ev list) {
  for (uint32_t i = 0; i < list.list->count; i++)
    if (list.list->items[i].kind == EV_TENSOR || list.list->items[i].kind == EV_STATE) return true;
  return false;
}

// Positional arguments are the inputs, then attributes in the table's order; a list at the place of
// a variadic input is its inputs.
static bool sort_arguments(evaluator *e, op_call *call, const ev_argument *args, uint32_t count,
                           const ev_argument **attrs) {
  const leat_op_info *info = leat_op_info_of(call->op);
  bool random = is_random(call->op) && !e->absolute;
  uint32_t next_attr = random ? 2 : 0; // the count, the seed and the key go by name
  for (uint32_t i = 0; i < count; i++) {
    const ev_argument *arg = &args[i];
    int attr = arg->key ? leat_op_attr_index(call->op, arg->key) : -1;
    if (arg->key && attr < 0) {
      if (random && !strcmp(arg->key, "count")) {
        call->inputs[call->input_count++] = arg->value;
        continue;
      }
      const char *names[LEAT_MAX_ATTRS];
      for (int a = 0; a < info->attr_count; a++) names[a] = info->attrs[a].name;
      const char *near = leat_nearest(arg->key, names, (size_t)info->attr_count);
      ev_fail(e, arg->span, "`%s` has no attribute `%s`%s%s%s", info->name, arg->key,
              near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
      return false;
    }
    bool variadic = info->max_inputs == LEAT_ANY_INPUTS;
    if (!arg->key && variadic && arg->value.kind == EV_LIST && holds_tensor(arg->value)) {
      for (uint32_t k = 0; k < arg->value.list->count; k++)
        call->inputs[call->input_count++] = arg->value.list->items[k];
      continue;
    }
    if (!arg->key && !random && (variadic || call->input_count < (uint32_t)info->max_inputs)) {
      call->inputs[call->input_count++] = arg->value;
      continue;
    }
    if (!arg->key) attr = (int)next_attr++;
    if (attr >= info->attr_count) {
      ev_fail(e, arg->span, "`%s` takes %d input%s and %d attribute%s, found more", info->name,
              info->max_inputs, info->max_inputs == 1 ? "" : "s", info->attr_count,
              info->attr_count == 1 ? "" : "s");
      return false;
    }
    if (attrs[attr]) {
      ev_fail(e, arg->span, "attribute `%s` of `%s` is given twice", info->attrs[attr].name,
              info->name);
      return false;
    }
    attrs[attr] = arg;
  }
  return true;
}

static uint32_t room_for_inputs(const ev_argument *args, uint32_t count) {
  uint32_t room = count + 1;
  for (uint32_t i = 0; i < count; i++)
    if (args[i].value.kind == EV_LIST) room += args[i].value.list->count;
  return room;
}

static ev call_op(evaluator *e, leat_op op, const ev_argument *args, uint32_t count, leat_span span,
                  const char *hint) {
  const leat_op_info *info = leat_op_info_of(op);
  op_call call = {.op = op,
                  .span = span,
                  .inputs = leat_new_array(e->arena, ev, room_for_inputs(args, count)),
                  .path = leat_graph_unique_name(e->graph, ev_node_name(e, hint, info->name))};
  const ev_argument *given[LEAT_MAX_ATTRS] = {0};
  leat_attr attrs[LEAT_MAX_ATTRS] = {0};
  if (!sort_arguments(e, &call, args, count, given)) return ev_error();
  default_count(e, &call);
  if (call.input_count < (uint32_t)info->min_inputs)
    return ev_fail(e, span, "`%s` takes %s%d input%s, found %u", info->name,
                   info->max_inputs == info->min_inputs ? "" : "at least ", info->min_inputs,
                   info->min_inputs == 1 ? "" : "s", call.input_count);
  for (int i = 0; i < info->attr_count; i++) {
    const leat_attr_info *attr = &info->attrs[i];
    bool none = given[i] && given[i]->value.kind == EV_NONE; // as if it were not given
    if (given[i] && !none) {
      if (!convert_attr(e, &call, attr, given[i]->value, given[i]->span, &attrs[i]))
        return ev_error();
    } else if (!default_attr(e, &call, attr, &attrs[i])) {
      return ev_fail(e, span, "`%s` needs `%s=`", info->name, attr->name);
    }
  }
  if ((info->flags & LEAT_FLAG_STATE) && !e->absolute) {
    leat_value value = {0};
    if (op == LEAT_OP_read) return ev_read_as(e, attrs[0].state, hint, span);
    value = ev_as_tensor(e, call.inputs[0], (int)attrs[0].state->type.dtype, span);
    if (value.node) ev_write(e, op, attrs[0].state, value, hint, span);
    return value.node ? (ev){.kind = EV_NONE} : ev_error();
  }
  ev result = ev_op(e, op, call.inputs, call.input_count, attrs, span, hint);
  return info->outputs || result.kind == EV_ERROR ? result : (ev){.kind = EV_NONE};
}

// -- Operators
// ---------------------------------------------------------------------------------------

static bool is_number(ev v) {
  return v.kind == EV_INT || v.kind == EV_FLOAT;
}

static ev int_operator(evaluator *e, leat_operator operator, int64_t a, int64_t b, leat_span span) {
  int64_t result = 0;
  bool overflow = false;
  switch (operator) {
  case LEAT_OPERATOR_ADD: overflow = __builtin_add_overflow(a, b, &result); break;
  case LEAT_OPERATOR_SUB: overflow = __builtin_sub_overflow(a, b, &result); break;
  case LEAT_OPERATOR_MUL: overflow = __builtin_mul_overflow(a, b, &result); break;
  case LEAT_OPERATOR_DIV:
  case LEAT_OPERATOR_MOD:
    if (b == 0) return ev_fail(e, span, "division by zero");
    if (b == -1)
      overflow = operator== LEAT_OPERATOR_DIV && __builtin_sub_overflow(0, a, &result);
    else
      result = operator== LEAT_OPERATOR_DIV ? a / b : a % b;
    break;
  case LEAT_OPERATOR_EQUAL: return ev_bool(a == b);
  case LEAT_OPERATOR_NOT_EQUAL: return ev_bool(a != b);
  case LEAT_OPERATOR_LESS: return ev_bool(a < b);
  case LEAT_OPERATOR_LESS_EQUAL: return ev_bool(a <= b);
  case LEAT_OPERATOR_GREATER: return ev_bool(a > b);
  case LEAT_OPERATOR_GREATER_EQUAL: return ev_bool(a >= b);
  case LEAT_OPERATOR_AND:
  case LEAT_OPERATOR_OR:
  case LEAT_OPERATOR_NOT:
  case LEAT_OPERATOR_NEG:
  case LEAT_OPERATOR_MATMUL:
    return ev_fail(e, span, "`%s` is not for numbers", leat_operator_spelling(operator));
  }
  return overflow ? ev_fail(e, span, "the number does not fit 64 bits") : ev_int(result);
}

static ev float_operator(evaluator *e, leat_operator operator, double a, double b, leat_span span) {
  switch (operator) {
  case LEAT_OPERATOR_ADD: return (ev){.kind = EV_FLOAT, .f = a + b};
  case LEAT_OPERATOR_SUB: return (ev){.kind = EV_FLOAT, .f = a - b};
  case LEAT_OPERATOR_MUL: return (ev){.kind = EV_FLOAT, .f = a * b};
  case LEAT_OPERATOR_DIV: return (ev){.kind = EV_FLOAT, .f = a / b};
  case LEAT_OPERATOR_EQUAL: return ev_bool(a == b);
  case LEAT_OPERATOR_NOT_EQUAL: return ev_bool(a != b);
  case LEAT_OPERATOR_LESS: return ev_bool(a < b);
  case LEAT_OPERATOR_LESS_EQUAL: return ev_bool(a <= b);
  case LEAT_OPERATOR_GREATER: return ev_bool(a > b);
  case LEAT_OPERATOR_GREATER_EQUAL: return ev_bool(a >= b);
  case LEAT_OPERATOR_MOD:
  case LEAT_OPERATOR_AND:
  case LEAT_OPERATOR_OR:
  case LEAT_OPERATOR_NOT:
  case LEAT_OPERATOR_NEG:
  case LEAT_OPERATOR_MATMUL: break;
  }
  return ev_fail(e, span, "`%s` is not for floats", leat_operator_spelling(operator));
}

static ev dim_operator(evaluator *e, leat_operator operator, ev left, ev right, leat_span span) {
  leat_dim a, b, result;
  if (operator== LEAT_OPERATOR_EQUAL && ev_equal(left, right)) return ev_bool(true);
  if (left.kind == EV_INT && left.i < 0 && operator== LEAT_OPERATOR_ADD) { // -1 + N
    ev swap = left;
    left = right;
    right = swap;
  }
  if (right.kind == EV_INT && right.i < 0 && operator== LEAT_OPERATOR_ADD) {
    operator= LEAT_OPERATOR_SUB;
    right.i = -right.i;
  }
  if (!ev_as_dim(e, left, span, &a) || !ev_as_dim(e, right, span, &b)) return ev_error();
  leat_dims *dims = e->graph->dims;
  bool ok = false, known = true;
  switch (operator) {
  case LEAT_OPERATOR_ADD: ok = leat_dim_add(dims, a, b, &result); break;
  case LEAT_OPERATOR_SUB: ok = leat_dim_sub(dims, a, b, &result); break;
  case LEAT_OPERATOR_MUL: ok = leat_dim_mul(dims, a, b, &result); break;
  case LEAT_OPERATOR_DIV: ok = leat_dim_floordiv(dims, a, b, &result); break;
  default: known = false;
  }
  if (!known)
    return ev_fail(e, span, "`%s` of a dimension that is known only while running",
                   leat_operator_spelling(operator));
  return ok ? ev_of_dim(result) : ev_fail(e, span, "this dimension does not fit 64 bits");
}

static ev append_lists(evaluator *e, ev left, ev right) {
  uint32_t a = left.list->count, b = right.list->count;
  ev *items = leat_new_array(e->arena, ev, a + b + 1);
  memcpy(items, left.list->items, a * sizeof *items);
  memcpy(items + a, right.list->items, b * sizeof *items);
  return ev_make_list(e, items, a + b);
}

// Operators on compile-time values. EV_NONE: not those.
static ev static_operator(evaluator *e, leat_operator operator, ev left, ev right, leat_span span) {
  bool dims = (left.kind == EV_DIM || left.kind == EV_INT) &&
              (right.kind == EV_DIM || right.kind == EV_INT);
  if (operator== LEAT_OPERATOR_NEG) {
    if (left.kind == EV_INT) return int_operator(e, LEAT_OPERATOR_SUB, 0, left.i, span);
    if (left.kind == EV_FLOAT) return (ev){.kind = EV_FLOAT, .f = -left.f};
    return (ev){.kind = EV_NONE};
  }
  if (operator== LEAT_OPERATOR_NOT)
    return left.kind == EV_BOOL ? ev_bool(!left.i) : (ev){.kind = EV_NONE};
  if (left.kind == EV_INT && right.kind == EV_INT)
    return int_operator(e, operator, left.i, right.i, span);
  if (dims) return dim_operator(e, operator, left, right, span);
  if (is_number(left) && is_number(right)) {
    double a = left.kind == EV_INT ? (double)left.i : left.f;
    double b = right.kind == EV_INT ? (double)right.i : right.f;
    return float_operator(e, operator, a, b, span);
  }
  if (left.kind == EV_BOOL && right.kind == EV_BOOL && operator== LEAT_OPERATOR_AND)
    return ev_bool(left.i && right.i);
  if (left.kind == EV_BOOL && right.kind == EV_BOOL && operator== LEAT_OPERATOR_OR)
    return ev_bool(left.i || right.i);
  if (left.kind == EV_LIST && right.kind == EV_LIST && operator== LEAT_OPERATOR_ADD)
    return append_lists(e, left, right);
  bool tensors = left.kind == EV_TENSOR || left.kind == EV_STATE || right.kind == EV_TENSOR ||
                 right.kind == EV_STATE;
  if (!tensors && operator== LEAT_OPERATOR_EQUAL) return ev_bool(ev_equal(left, right));
  if (!tensors && operator== LEAT_OPERATOR_NOT_EQUAL) return ev_bool(!ev_equal(left, right));
  return (ev){.kind = EV_NONE};
}

ev ev_operator(evaluator *e, leat_operator operator, ev left, ev right, leat_span span,
               const char *hint) {
  if (left.kind == EV_ERROR || right.kind == EV_ERROR) return ev_error();
  ev result = static_operator(e, operator, left, right, span);
  if (result.kind != EV_NONE) return result;
  leat_op op;
  const char *name = leat_operator_op(operator);
  if (!leat_op_parse(name, strlen(name), &op)) return ev_error();
  ev inputs[] = {left, right};
  uint32_t count = operator== LEAT_OPERATOR_NEG || operator== LEAT_OPERATOR_NOT ? 1 : 2;
  leat_attr attrs[LEAT_MAX_ATTRS] = {0};
  if (op == LEAT_OP_matmul) attrs[2].string = leat_intern(e->strings, "");
  return ev_op(e, op, inputs, count, attrs, span, hint);
}

// -- Functions
// ---------------------------------------------------------------------------------------

static uint32_t call_depth(const evaluator *e) {
  uint32_t depth = 0;
  for (const ev_frame *frame = e->frame; frame; frame = frame->caller) depth++;
  return depth;
}

// Notes that the result of a call has a gradient rule of its own.
static void record_call(evaluator *e, const ev_function *function, ev_scope *scope, ev result,
                        uint32_t first_node) {
  if (result.kind != EV_TENSOR || result.tensor.node->id < first_node) return;
  const ev_function *rule = ev_find_gradient(e, function->name);
  if (!rule || rule == function) return;
  const leat_bindings *params = &function->definition->params;
  ev *args = leat_new_array(e->arena, ev, params->count + 1);
  for (uint32_t i = 0; i < params->count; i++) {
    ev_binding *binding = leat_map_get(&scope->names, params->items[i].name);
    args[i] = binding ? binding->value : (ev){.kind = EV_NONE};
  }
  ev_call_record *record = leat_new(e->arena, ev_call_record);
  ev list = ev_make_list(e, args, params->count);
  *record = (ev_call_record){.rule = rule, .args = list.list, .result = result.tensor};
  ev_set(e, &e->records, result.tensor.node, record);
}

static bool check_results(evaluator *e, const ev_function *function, ev result) {
  const leat_bindings *declared = &function->definition->results;
  if (function->definition->kind != LEAT_STMT_FN || !declared->count) return true;
  bool several = result.kind == EV_LIST && result.list->results;
  const ev *items = several ? result.list->items : &result;
  uint32_t count = several ? result.list->count : 1;
  if (count != declared->count) {
    ev_fail(e, e->frame->call, "`%s` declares %u results and returns %u", function->name,
            declared->count, count);
    return false;
  }
  for (uint32_t i = 0; i < count; i++) {
    const leat_expr *type = declared->items[i].type;
    if (!type || type->kind != LEAT_EXPR_INDEX || items[i].kind != EV_TENSOR) continue;
    const char *what = leat_arena_printf(e->arena, "result of `%s`", function->name);
    if (!ev_check_type(e, type, items[i].tensor, e->frame->call, what)) return false;
  }
  return true;
}

static ev call_definition(evaluator *e, const ev_function *function, const ev_argument *args,
                          uint32_t count, leat_span span, const char *as, const char *hint) {
  if (call_depth(e) > EV_MAX_CALLS) {
    e->stopped = true;
    return ev_fail(e, span, "calls are nested more than %d deep: does `%s` call itself?",
                   EV_MAX_CALLS, function->name);
  }
  const char *instance = e->frame->instance, *path = e->path;
  ev_scope *scope = ev_bind_arguments(e, function, args, count, span);
  if (!scope) return ev_error();
  ev_frame frame = {.caller = e->frame,
                    .function = function,
                    .call = span,
                    .scope = scope,
                    .hint = hint,
                    .instance = instance,
                    .result = {.kind = EV_NONE}};
  frame.unnamed = e->frame->unnamed ? e->frame->unnamed : &frame;
  if (as) {
    frame.instance = *instance ? leat_intern_printf(e->strings, "%s/%s", instance, as) : as;
    frame.unnamed = e->frame->unnamed;
    frame.hint = NULL;
    if (!ev_enter_instance(e, function, frame.instance, span)) return ev_error();
    e->path = *path ? leat_intern_printf(e->strings, "%s/%s", path, as) : as;
  }
  uint32_t first_node = e->graph->nodes.count;
  uint32_t errors = leat_diag_errors(e->diag);
  e->frame = &frame;
  ev_statements(e, &function->definition->body);
  bool ok = leat_diag_errors(e->diag) == errors && check_results(e, function, frame.result);
  e->frame = frame.caller;
  e->path = path;
  if (!ok) {
    if (function->definition->span.source != span.source || errors == 0)
      leat_note_at(e->diag, span, "in this call of `%s`", function->name);
    return ev_error();
  }
  record_call(e, function, scope, frame.result, first_node);
  return frame.result;
}

ev ev_call(evaluator *e, const ev_function *function, const ev_argument *args, uint32_t count,
           leat_span span, const char *as, const char *hint) {
  for (uint32_t i = 0; i < count; i++)
    if (args[i].value.kind == EV_ERROR) return ev_error();
  if (function->definition) return call_definition(e, function, args, count, span, as, hint);
  if (function->builtin) {
    ev_builtin_call call = {.span = span, .args = args, .count = count, .hint = hint, .as = as};
    return function->builtin->evaluate(e, &call);
  }
  if (as)
    return ev_fail(e, span, "`%s` holds no state: `as` is for functions that do", function->name);
  return call_op(e, function->op, args, count, span, hint);
}

// The named arguments that `...` collected, passed on.
static uint32_t spread(evaluator *e, const leat_arg *arg, ev_argument *to) {
  ev_binding *binding = ev_lookup(e->frame->scope, leat_intern(e->strings, "..."));
  if (!binding || binding->value.kind != EV_LIST) {
    ev_fail(e, arg->span, "`...` passes on what a parameter `...` collected; there is none here");
    return 0;
  }
  const ev_list *list = binding->value.list;
  for (uint32_t i = 0; to && i < list->count; i++)
    to[i] = (ev_argument){list->names[i], list->items[i], arg->span};
  return list->count;
}

static bool is_spread(const leat_arg *arg) {
  return arg->value->kind == LEAT_EXPR_ELLIPSIS && !arg->key;
}

// In canonical text a call is of the primitive itself: `$train/y = max(…)`.
static const ev_function *primitive(evaluator *e, const leat_expr *callee) {
  leat_op op;
  if (callee->kind != LEAT_EXPR_NAME || !leat_op_parse(callee->name, strlen(callee->name), &op))
    return NULL;
  ev_function *function = leat_new(e->arena, ev_function);
  *function = (ev_function){.name = callee->name, .op = op};
  return function;
}

static const ev_function *callee(evaluator *e, const leat_expr *expr) {
  const ev_function *bare = e->absolute ? primitive(e, expr->callee) : NULL;
  if (bare) return bare;
  ev value = ev_expr(e, expr->callee, NULL);
  if (value.kind == EV_FUNCTION) return value.function;
  if (value.kind != EV_ERROR)
    ev_fail(e, expr->callee->span, "%s cannot be called", ev_kind_name(value));
  return NULL;
}

// max(T, 2) of dimensions is one.
static bool is_dim_max(const ev_function *function, const ev_argument *args, uint32_t count) {
  bool max = count == 2 && !strcmp(function->name, "max") && !args[0].key && !args[1].key;
  for (uint32_t i = 0; max && i < 2; i++)
    max = args[i].value.kind == EV_DIM || args[i].value.kind == EV_INT;
  return max;
}

static ev dim_max(evaluator *e, const ev_argument *args, leat_span span) {
  leat_dim a, b, max;
  if (!ev_as_dim(e, args[0].value, span, &a) || !ev_as_dim(e, args[1].value, span, &b))
    return ev_error();
  return leat_dim_max(e->graph->dims, a, b, &max) ? ev_of_dim(max) : ev_error();
}

ev ev_call_expr(evaluator *e, const leat_expr *expr, const char *hint) {
  if (++e->steps > EV_MAX_STEPS) {
    e->stopped = true;
    return ev_fail(e, expr->span, "the text unrolls to more than %d calls", EV_MAX_STEPS);
  }
  const ev_function *function = callee(e, expr);
  if (!function) return ev_error();
  uint32_t room = expr->args.count + 1, count = 0;
  for (uint32_t i = 0; i < expr->args.count; i++)
    if (is_spread(&expr->args.items[i])) room += spread(e, &expr->args.items[i], NULL);
  ev_argument *args = leat_new_array(e->arena, ev_argument, room);
  for (uint32_t i = 0; i < expr->args.count; i++) {
    const leat_arg *arg = &expr->args.items[i];
    if (is_spread(arg))
      count += spread(e, arg, args + count);
    else
      args[count++] = (ev_argument){arg->key, ev_expr(e, arg->value, NULL), arg->value->span};
  }
  if (is_dim_max(function, args, count)) return dim_max(e, args, expr->span);
  const char *as = NULL;
  if (expr->as && !ev_string(e, expr->as, &as)) return ev_error();
  return ev_call(e, function, args, count, expr->span, as, hint);
}
