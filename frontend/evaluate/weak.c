// Weak tensors: made of literals, compile-time numbers and dims alone, with no dtype written
// anywhere. They are built in their natural dtype (i32, f32, i64 of dims), and where one meets a
// tensor of another dtype it is settled: built again in that one from what it was made of, as if it
// had been written for it, so that nothing is rounded twice.
#include "frontend/evaluate/calls.h"

#include "frontend/evaluate/names.h"

#include <string.h>

// What a weak node was made of: the number, or NONE of a node that computes with weak inputs.
typedef struct weak {
  ev number;
} weak;

static const weak *find(const evaluator *e, leat_value value) {
  return value.port ? NULL : leat_map_get(&e->weak, value.node);
}

bool ev_is_weak(const evaluator *e, ev value) {
  return value.kind == EV_TENSOR && !value.typed && find(e, value.tensor);
}

void ev_make_weak(evaluator *e, leat_value value, ev number) {
  if (!value.node || e->absolute || value.node->output_count != 1) return;
  weak *made = leat_new(e->arena, weak);
  made->number = number;
  ev_set(e, &e->weak, value.node, made);
}

ev ev_number_of(const evaluator *e, ev value) {
  return ev_is_weak(e, value) ? find(e, value.tensor)->number : ev_none();
}

// -- Settling -----------------------------------------------------------------------------------

typedef struct settling {
  evaluator *e;
  leat_dtype dtype;
  leat_span span;
  leat_map done; // node → its settled leat_node
} settling;

static leat_value settle(settling *s, leat_value value);

// Inputs that were broadcast by the way are again.
static leat_value without_broadcast(const evaluator *e, leat_value value) {
  bool by_the_way = value.node->op == LEAT_OP_broadcast && !find(e, value);
  return by_the_way && find(e, value.node->inputs[0]) ? value.node->inputs[0] : value;
}

static leat_value converted(settling *s, leat_value value) {
  leat_attr to = {.i = s->dtype};
  leat_builder builder = ev_builder(s->e, s->span);
  return leat_build(&builder, ev_node_name(s->e, NULL, "cast"), LEAT_OP_cast, &value, 1, &to);
}

static leat_value rebuilt(settling *s, const leat_node *node) {
  leat_value *inputs = leat_new_array(s->e->arena, leat_value, (size_t)node->input_count + 1);
  for (uint32_t i = 0; i < node->input_count; i++) {
    leat_value input = without_broadcast(s->e, node->inputs[i]);
    inputs[i] = (int)i == node->info->apart ? input : settle(s, input);
    if (!inputs[i].node) return inputs[i];
  }
  size_t count = (size_t)node->info->attr_count;
  leat_attr *attrs = leat_new_array(s->e->arena, leat_attr, count + 1);
  if (count) memcpy(attrs, node->attrs, count * sizeof *attrs);
  int dtype = leat_op_attr_index(node->op, "dtype");
  if (dtype >= 0) attrs[dtype].i = s->dtype;
  leat_builder builder = ev_builder(s->e, s->span);
  const char *name = ev_node_name(s->e, NULL, leat_op_name(node->op));
  return leat_build(&builder, name, node->op, inputs, node->input_count, attrs);
}

static leat_value settle(settling *s, leat_value value) {
  const weak *made = find(s->e, value);
  leat_dtype from = leat_value_type(value)->dtype;
  if (!made || from == s->dtype) return value;
  bool whole = leat_dtype_in_class(from, LEAT_CLASS_INTEGER);
  bool to_whole = leat_dtype_in_class(s->dtype, LEAT_CLASS_INTEGER);
  if (!leat_dtype_in_class(s->dtype, LEAT_CLASS_NUMERIC) || (!whole && to_whole)) return value;
  leat_node *before = leat_map_get(&s->done, value.node);
  if (before) return (leat_value){before, 0};
  leat_value result;
  if (made->number.kind != EV_NONE)
    result = ev_as_tensor(s->e, made->number, (int)s->dtype, s->span);
  else if (value.node->op == LEAT_OP_cast)
    result = converted(s, value.node->inputs[0]);
  else if (whole && !to_whole)
    result = converted(s, value);
  else
    result = rebuilt(s, value.node);
  leat_map_set(&s->done, value.node, result.node);
  ev_make_weak(s->e, result, made->number);
  return result;
}

leat_value ev_settle(evaluator *e, leat_value value, leat_dtype dtype, leat_span span) {
  if (!find(e, value) || leat_value_type(value)->dtype == dtype) return value;
  settling s = {.e = e, .dtype = dtype, .span = span};
  leat_map_init(&s.done, e->arena);
  return settle(&s, value);
}

// -- Where numbers and tensors meet ---------------------------------------------------------------

// A float is among them, as an int that no i64 holds is not.
static bool has_fraction(ev value) {
  if (value.kind != EV_LIST) return value.kind == EV_FLOAT && !value.magnitude;
  for (uint32_t i = 0; i < value.list->count; i++)
    if (has_fraction(value.list->items[i])) return true;
  return false;
}

ev_meeting ev_meet(const evaluator *e, leat_op op, const ev *inputs, uint32_t count) {
  const leat_op_info *info = leat_op_info_of(op);
  leat_dtype_class class = info->dtypes;
  bool floats = class == LEAT_CLASS_FLOAT || class == LEAT_CLASS_INEXACT, fraction = false;
  bool has_complex = false, has_dim = false, any = false;
  ev_meeting result = {.dtype = -1, .weak = true};
  for (uint32_t i = 0; i < count; i++) {
    if ((int)i == info->apart) continue;
    any = true;
    const leat_type *type = ev_tensor_type(inputs[i]);
    if (type && !ev_is_weak(e, inputs[i])) {
      if (result.weak) result.dtype = (int)type->dtype;
      result.weak = false;
      continue;
    }
    has_dim = has_dim || ev_has_kind(inputs[i], EV_DIM) || (type && type->dtype == LEAT_i64);
    has_complex = has_complex || ev_has_kind(inputs[i], EV_COMPLEX) ||
                  (type && leat_dtype_in_class(type->dtype, LEAT_CLASS_COMPLEX));
    fraction = fraction || has_fraction(inputs[i]) ||
               (type && leat_dtype_in_class(type->dtype, LEAT_CLASS_FLOAT));
    floats = floats || fraction || ev_has_kind(inputs[i], EV_FLOAT);
  }
  if (!any) result.weak = false;
  if (result.dtype < 0) {
    result.dtype = has_complex ? LEAT_c64 : floats ? LEAT_f32 : has_dim ? LEAT_i64 : -1;
    return result;
  }
  leat_dtype dtype = (leat_dtype)result.dtype;
  bool whole = leat_dtype_in_class(dtype, LEAT_CLASS_INTEGER);
  // The library is written for the dtype that it is given, or refuses it.
  bool written = !ev_in_library(e->frame) && !e->absolute;
  result.promotes = whole && fraction && written && leat_dtype_in_class(LEAT_f32, class);
  if (result.promotes) result.dtype = leat_dtype_size(dtype) == 8 ? LEAT_f64 : LEAT_f32;
  return result;
}
