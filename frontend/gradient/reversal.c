// What is written again and again where branches and loops are reversed.
#include "frontend/gradient/reversal.h"

#include "frontend/evaluate/evaluate.h"
#include "frontend/values/rows.h"

bool ev_has_gradient(leat_value value) {
  return leat_dtype_in_class(leat_value_type(value)->dtype, LEAT_CLASS_INEXACT);
}

leat_value ev_dense(const reversal *r, ev gradient) {
  if (gradient.kind == EV_ROWS) return ev_rows_dense(r->e, gradient, r->span);
  return gradient.kind == EV_TENSOR ? gradient.tensor : (leat_value){0};
}

leat_value ev_or_zeros(const reversal *r, ev gradient, leat_value like) {
  if (gradient.kind != EV_ERROR) return ev_dense(r, gradient);
  return ev_literal_tensor(r->e, ev_int(0), leat_value_type(like), NULL, r->span);
}

leat_value ev_operation(const reversal *r, leat_operator operator, leat_value a, ev b) {
  ev value = ev_operator(r->e, operator, ev_tensor(a), b, r->span, NULL);
  return value.kind == EV_TENSOR ? value.tensor : (leat_value){0};
}

leat_value ev_number(const reversal *r, int64_t number) {
  leat_type type = leat_type_scalar(LEAT_i64);
  return ev_literal_tensor(r->e, ev_int(number), &type, NULL, r->span);
}

leat_value ev_parameter(const reversal *r, const char *name, uint32_t input) {
  return leat_region_parameter(&r->e->at.region->built, name, input);
}

void ev_give(const reversal *r, uint32_t body, leat_value value) {
  leat_region_give(&r->e->at.region->built, body, value);
}
