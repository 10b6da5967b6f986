// What tensors hold, where that is known while compiling (ops/known.h), as numbers and lists.
#include "frontend/values/tensors.h"

#include "frontend/values/builtin.h"
#include "ops/known.h"

// The elements from *next on, along `axis` and those behind it.
static ev held(evaluator *e, const leat_type *type, int32_t axis, const leat_element **next) {
  if (axis == type->rank) {
    leat_dim dim = (*next)++->dim;
    return type->dtype == LEAT_bool ? ev_bool(dim.value) : ev_of_dim(dim);
  }
  uint32_t count = (uint32_t)type->dims[axis].value;
  ev *items = ev_new_items(e, count);
  for (uint32_t i = 0; items && i < count; i++) items[i] = held(e, type, axis + 1, next);
  return items ? ev_take_list(e, items, count) : ev_error();
}

static bool is_all_known(ev value) {
  if (value.kind != EV_TENSOR) return false;
  const leat_type *type = leat_value_type(value.tensor);
  const leat_element *elements = leat_known_elements(value.tensor);
  int64_t count = leat_type_static_elements(type);
  bool all = elements || (count == 0 && type->rank == 1 &&
                          leat_dtype_in_class(type->dtype, LEAT_CLASS_INTEGER));
  for (int64_t i = 0; all && i < count; i++) all = elements[i].known;
  return all;
}

static ev static_value(evaluator *e, ev value) {
  if (!is_all_known(value)) return value;
  const leat_element *next = leat_known_elements(value.tensor);
  return held(e, leat_value_type(value.tensor), 0, &next);
}

ev ev_as_known(evaluator *e, ev value) {
  const leat_type *type = value.kind == EV_TENSOR ? leat_value_type(value.tensor) : NULL;
  bool may_be = type && type->rank <= 1 && type->dtype != LEAT_bool;
  return may_be ? static_value(e, value) : value;
}

bool ev_holds(ev value) {
  bool all = is_all_known(value);
  const leat_type *type = all ? leat_value_type(value.tensor) : NULL;
  for (int64_t i = 0; all && i < leat_type_static_elements(type); i++)
    all = type->dtype == LEAT_bool && leat_known_elements(value.tensor)[i].dim.value;
  return all;
}

ev ev_builtin_static_value(evaluator *e, const ev_builtin_call *call) {
  return static_value(e, call->args[0]);
}

// The dim that a count is, bound while running.
ev ev_dynamic(evaluator *e, ev value, leat_span span) {
  leat_value count = ev_as_tensor(e, value, LEAT_i64, span);
  if (!count.node) return ev_error();
  const leat_type *type = leat_value_type(count);
  bool integer = leat_dtype_in_class(type->dtype, LEAT_CLASS_INTEGER);
  if (type->rank != 0 || !integer)
    return ev_fail(e, span, "`dynamic` takes an integer scalar, found %s of rank %d%s",
                   leat_dtype_name(type->dtype), type->rank, leat_quotient_hint(count));
  ev wide = ev_tensor(count);
  leat_attr to = {.i = LEAT_i64}, dim = {.dim = leat_dim_anonymous(e->graph->dims, NULL)};
  if (type->dtype != LEAT_i64) wide = ev_op(e, LEAT_OP_cast, &wide, 1, &to, span, NULL);
  if (wide.kind == EV_ERROR) return wide;
  uint32_t errors = leat_diag_errors(e->diag);
  ev_op(e, LEAT_OP_bind, &wide, 1, &dim, span, NULL);
  return leat_diag_errors(e->diag) == errors ? ev_of_dim(dim.dim) : ev_error();
}
