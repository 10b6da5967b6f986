// Weak tensors: made of literals, compile-time numbers and dims alone, with no dtype written
// anywhere. They are built in their natural dtype (i32, f32, i64 of dims), and where one meets a
// tensor of another dtype it is settled: built again in that one from what it was made of, as if it
// had been written for it, so that nothing is rounded twice. What a loop carries (carried.c) or an
// `if` gives of numbers alone is computed in 64 bits, since nobody knows then what it will meet; it
// is converted, from these, where it does.
#include "frontend/values/tensors.h"

#include "frontend/values/names.h"
#include "frontend/values/region.h"
#include "ops/complex.h"

#include <string.h>

// What a weak node was made of: the number, the tensor of 64 bits that it is rounded from, or NONE
// of a node that computes with weak inputs.
typedef struct weak {
  ev number;
  bool runs;       // it is computed of what a loop carries, or is that
  ev_carry *carry; // of that, while the loop is tried; else NULL
} weak;

static const void *key_of(leat_value value) {
  return value.port ? (const void *)leat_value_type(value) : value.node;
}

static const weak *find(const evaluator *e, leat_value value) {
  return leat_map_get(&e->weak, key_of(value));
}

bool ev_is_weak(const evaluator *e, ev value) {
  return value.kind == EV_TENSOR && !value.typed && find(e, value.tensor);
}

static void mark(evaluator *e, leat_value value, weak is) {
  if (value.node && !e->at.absolute)
    ev_set(e, &e->weak, key_of(value), leat_arena_memdup(e->arena, &is, sizeof is));
}

void ev_make_weak(evaluator *e, leat_value value, ev number) {
  mark(e, value, (weak){.number = number});
}

void ev_make_carried(evaluator *e, leat_value value, ev_carry *carry) {
  mark(e, value, (weak){.number = ev_none(), .runs = true, .carry = carry});
}

ev ev_given_number(evaluator *e, leat_value output, leat_span span) {
  leat_dtype dtype = leat_value_type(output)->dtype, alone = LEAT_f32;
  ev_make_carried(e, output, NULL);
  if (ev_rank_of(dtype) < 2) return ev_tensor(output);
  if (ev_rank_of(dtype) == 3) alone = LEAT_c64;
  leat_attr to = {.i = alone};
  leat_builder builder = ev_builder(e, span);
  const char *name = ev_node_name(e, NULL, "cast");
  leat_value rounded = leat_build(&builder, name, LEAT_OP_cast, &output, 1, &to);
  ev_make_weak(e, rounded, ev_tensor(output));
  return ev_tensor(rounded);
}

void ev_note_weak(evaluator *e, ev result, const leat_value *inputs, uint32_t count) {
  if (result.kind != EV_TENSOR || e->at.gradient_path || !count) return;
  const leat_op_info *info = result.tensor.node->info;
  if (info->kind == LEAT_KIND_STRUCTURE || info->kind == LEAT_KIND_REGION) return;
  if (result.tensor.node->output_count != 1) return;
  leat_dtype dtype = leat_value_type(inputs[info->apart == 0 ? 1 : 0])->dtype;
  weak is = {.number = ev_none()};
  for (uint32_t i = 0; i < count; i++) is.runs = is.runs || ev_runs(e, inputs[i]);
  if (leat_value_type(result.tensor)->dtype == dtype) mark(e, result.tensor, is);
}

bool ev_runs(const evaluator *e, leat_value value) {
  const weak *made = find(e, value);
  return made && made->runs;
}

bool ev_is_of_numbers(const evaluator *e, ev value) {
  if (value.kind != EV_LIST)
    return value.kind == EV_DIM || (ev_is_literal(value) && value.kind != EV_BOOL);
  for (uint32_t i = 0; i < value.list->count; i++) {
    ev item = value.list->items[i];
    bool scalar = ev_is_weak(e, item) && !leat_value_type(item.tensor)->rank;
    if (!scalar && !ev_is_of_numbers(e, item)) return false;
  }
  return !value.list->results;
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
  value = leat_region_origin(value);
  if (value.node->op != LEAT_OP_broadcast || find(e, value)) return value;
  leat_value narrow = leat_region_origin(value.node->inputs[0]);
  return find(e, narrow) ? narrow : value;
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
  leat_builder builder = ev_builder(s->e, node->span); // it stands where that one does
  builder.device = node->device;
  builder.colocate = node->colocate;
  const char *name = ev_node_name(s->e, NULL, leat_op_name(node->op));
  return leat_build(&builder, name, node->op, inputs, node->input_count, attrs);
}

// Of an op that makes no such numbers, such as iota complex ones: the real ones, converted.
static leat_value settled_real(settling *s, leat_value value) {
  settling real = *s;
  real.dtype = leat_part_dtype(s->dtype);
  leat_map_init(&real.done, s->e->arena);
  leat_value parts = settle(&real, value);
  return parts.node ? converted(s, parts) : parts;
}

// By a region: in a loop, or behind it.
static bool is_given(const leat_node *node) {
  return node->op == LEAT_OP_parameter || node->info->kind == LEAT_KIND_REGION;
}

static leat_value settle(settling *s, leat_value value) {
  value = leat_region_origin(value);
  const weak *made = find(s->e, value);
  leat_dtype from = leat_value_type(value)->dtype;
  if (!made || from == s->dtype) return value;
  bool whole = leat_dtype_in_class(from, LEAT_CLASS_INTEGER);
  bool to_whole = leat_dtype_in_class(s->dtype, LEAT_CLASS_INTEGER);
  bool complex = leat_dtype_in_class(s->dtype, LEAT_CLASS_COMPLEX);
  if (!leat_dtype_in_class(s->dtype, LEAT_CLASS_NUMERIC) || (!whole && to_whole)) return value;
  leat_node *before = value.port ? NULL : leat_map_get(&s->done, value.node);
  if (before) return (leat_value){before, 0};
  leat_value result;
  if (made->carry) ev_carry_widen(s->e, made->carry, s->dtype);
  if (made->number.kind != EV_NONE)
    result = ev_as_tensor(s->e, made->number, (int)s->dtype, s->span);
  else if (value.node->op == LEAT_OP_cast)
    result = converted(s, value.node->inputs[0]);
  else if ((whole && !to_whole) || is_given(value.node))
    result = converted(s, value);
  else if (complex && !leat_dtype_in_class(s->dtype, value.node->info->dtypes))
    result = settled_real(s, value);
  else
    result = rebuilt(s, value.node);
  if (!value.port) leat_map_set(&s->done, value.node, result.node);
  if (!find(s->e, result)) mark(s->e, result, (weak){.number = made->number, .runs = made->runs});
  return result;
}

leat_value ev_settle(evaluator *e, leat_value value, leat_dtype dtype, leat_span span) {
  if (!find(e, value) || leat_value_type(value)->dtype == dtype) return value;
  settling s = {.e = e, .dtype = dtype, .span = span};
  leat_map_init(&s.done, e->arena);
  return settle(&s, value);
}

// -- Where numbers and tensors meet ---------------------------------------------------------------

// The numbers of which some meet.
typedef struct numbers {
  bool complex, floats, dims;
  bool fraction; // a float is among them, as an int that no i64 holds is not
  int carried;   // the widest dtype that a loop carries; -1: none
} numbers;

static void add_tensor(const evaluator *e, leat_value value, numbers *all) {
  leat_dtype dtype = leat_value_type(value)->dtype;
  int rank = ev_rank_of(dtype);
  all->dims = all->dims || dtype == LEAT_i64;
  all->fraction = all->fraction || rank == 2;
  all->floats = all->floats || rank == 2;
  all->complex = all->complex || rank == 3;
  bool wider = all->carried < 0 || ev_holds_more((leat_dtype)all->carried, dtype);
  if (wider && ev_runs(e, value)) all->carried = (int)dtype;
}

static void add_number(const evaluator *e, ev value, numbers *all) {
  for (uint32_t i = 0; value.kind == EV_LIST && i < value.list->count; i++)
    add_number(e, value.list->items[i], all);
  if (ev_is_weak(e, value)) add_tensor(e, value.tensor, all);
  all->dims = all->dims || value.kind == EV_DIM;
  all->complex = all->complex || value.kind == EV_COMPLEX;
  all->floats = all->floats || value.kind == EV_FLOAT;
  all->fraction = all->fraction || (value.kind == EV_FLOAT && !value.magnitude);
}

// -1: that of ints alone.
static int dtype_of_numbers(const numbers *all) {
  int own = all->complex ? LEAT_c64 : all->floats ? LEAT_f32 : all->dims ? LEAT_i64 : -1;
  bool kept = all->carried >= 0 && ev_rank_of((leat_dtype)all->carried) ==
                                       ev_rank_of((leat_dtype)(own < 0 ? LEAT_i32 : own));
  return kept ? all->carried : own;
}

int ev_dtype_of_numbers(const evaluator *e, ev value) {
  numbers all = {.carried = -1};
  add_number(e, value, &all);
  return dtype_of_numbers(&all);
}

ev_meeting ev_meet(const evaluator *e, leat_op op, const ev *inputs, uint32_t count) {
  const leat_op_info *info = leat_op_info_of(op);
  leat_dtype_class class = info->dtypes;
  numbers all = {.carried = -1};
  bool any = false;
  ev_meeting result = {.dtype = -1, .weak = true};
  for (uint32_t i = 0; i < count; i++) {
    if ((int)i == info->apart) continue;
    any = true;
    const leat_type *type = ev_tensor_type(inputs[i]);
    bool strong = type && !ev_is_weak(e, inputs[i]);
    if (strong && result.weak) result.dtype = (int)type->dtype;
    result.weak = result.weak && !strong;
    if (!strong) add_number(e, inputs[i], &all);
  }
  if (!any) result.weak = false;
  all.floats = all.floats || class == LEAT_CLASS_FLOAT || class == LEAT_CLASS_INEXACT;
  if (result.dtype < 0) {
    result.dtype = dtype_of_numbers(&all);
    return result;
  }
  leat_dtype dtype = (leat_dtype)result.dtype;
  bool whole = leat_dtype_in_class(dtype, LEAT_CLASS_INTEGER);
  // The library is written for the dtype that it is given, or refuses it.
  bool written = !ev_in_library(e->frame) && !e->at.absolute;
  result.promotes = whole && all.fraction && written && leat_dtype_in_class(LEAT_f32, class);
  if (result.promotes) result.dtype = leat_dtype_size(dtype) == 8 ? LEAT_f64 : LEAT_f32;
  return result;
}
