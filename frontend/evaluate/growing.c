// Results of regions that are declared with a `?`, or `any`: along these axes they have another
// extent each time.
#include "frontend/evaluate/calls.h"
#include "frontend/values/region.h"

#include <string.h>

static uint32_t open_axes(const leat_expr *declared) {
  uint32_t axes = 0;
  if (!declared || declared->kind != LEAT_EXPR_INDEX) return 0;
  for (uint32_t k = 0; k < declared->items.count && k < LEAT_MAX_RANK; k++)
    if (declared->items.items[k]->kind == LEAT_EXPR_ANY_DIM) axes |= 1u << k;
  return axes;
}

bool ev_grows_anyhow(const leat_expr *declared) {
  return declared && declared->kind == LEAT_EXPR_NAME && !strcmp(declared->name, "any");
}

uint32_t ev_growing_axes(const leat_expr *declared, const leat_type *type) {
  uint32_t axes = open_axes(declared);
  return axes && declared->items.count == (uint32_t)type->rank ? axes : 0;
}

const char *ev_open_type(evaluator *e, uint32_t axes, const leat_type *type,
                         const leat_type *other) {
  leat_text text = {0};
  leat_text_add(&text, "%s[", leat_dtype_name(type->dtype));
  for (int32_t k = 0; k < type->rank; k++) {
    bool same = !(axes >> k & 1) && leat_dim_equal(type->dims[k], other->dims[k]);
    leat_text_add(&text, "%s%s", k ? ", " : "",
                  same ? leat_dim_text(e->arena, type->dims[k]) : "?");
  }
  leat_text_add(&text, "]");
  const char *kept = leat_arena_printf(e->arena, "%s", text.data);
  leat_text_finish(&text);
  return kept;
}

ev ev_fit_open(evaluator *e, const leat_expr *declared, ev value, leat_span span) {
  leat_type type;
  if (value.kind != EV_LIST || !open_axes(declared) || !ev_type_of(e, declared, &type))
    return value;
  return ev_tensor(ev_as_tensor(e, value, (int)type.dtype, span));
}

leat_type ev_grown_to(const leat_type *type, uint32_t axes, leat_value value) {
  leat_type wanted = *type;
  const leat_type *found = leat_value_type(value);
  for (int32_t k = 0; k < type->rank && type->rank == found->rank; k++)
    if (axes >> k & 1) wanted.dims[k] = found->dims[k];
  return wanted;
}
