// Ops, and functions of the library, on compile-time numbers: evaluated at once, by reference and
// in 64 bits, so that a number keeps what it holds until it meets a dtype: cast(log(2.0), f64) is
// the logarithm of 2 to the last bit of an f64.
#include "frontend/evaluate/calls.h"
#include "frontend/values/region.h"

#include "frontend/evaluate/statements.h"
#include "frontend/evaluate/types.h"
#include "ops/ops.h"

#include <math.h>

static bool is_number(ev value) {
  bool fits = value.kind != EV_FLOAT || !value.magnitude; // it was written as an int beyond i64
  return ev_is_literal(value) && fits;
}

// An op that takes its inputs' elements one by one, all of one dtype, and nothing else.
static bool is_of_numbers(leat_op op) {
  const leat_op_info *info = leat_op_info_of(op);
  return info->kind == LEAT_KIND_ELEMENT && !info->attr_count && info->outputs == 1 &&
         info->min_inputs > 0 && info->apart < 0;
}

static bool has_kind(const ev_argument *args, uint32_t count, ev_kind kind) {
  for (uint32_t i = 0; i < count; i++)
    if (args[i].value.kind == kind) return true;
  return false;
}

static leat_dtype dtype_for(leat_op op, const ev_argument *args, uint32_t count) {
  leat_dtype_class class = leat_op_info_of(op)->dtypes;
  bool floats = class == LEAT_CLASS_FLOAT || class == LEAT_CLASS_INEXACT;
  if (class == LEAT_CLASS_COMPLEX || has_kind(args, count, EV_COMPLEX)) return LEAT_c128;
  if (has_kind(args, count, EV_BOOL)) return LEAT_bool;
  return floats || has_kind(args, count, EV_FLOAT) ? LEAT_f64 : LEAT_i64;
}

static ev number_of(const leat_tensor *tensor) {
  const double *parts = tensor->data;
  switch ((int)tensor->dtype) {
  case LEAT_bool: return ev_bool(*(const uint8_t *)tensor->data);
  case LEAT_i64: return ev_int(*(const int64_t *)tensor->data);
  case LEAT_f64: return ev_float(*parts);
  case LEAT_c128: return ev_complex(parts[0], parts[1]);
  }
  return ev_none();
}

// In a graph of its own, so that nothing of it stays.
static ev evaluate(evaluator *e, leat_arena *arena, leat_op op, const ev_argument *args,
                   uint32_t count, leat_span span) {
  leat_builder builder = {.graph = leat_graph_create(arena, e->strings, "numbers"),
                          .diag = e->diag,
                          .span = ev_place(e, span)};
  leat_type type = leat_type_scalar(dtype_for(op, args, count));
  leat_tensor *inputs = leat_new_array(arena, leat_tensor, count);
  leat_value *values = leat_new_array(arena, leat_value, count);
  for (uint32_t i = 0; i < count; i++) {
    if (!ev_literal(e, args[i].value, &type, args[i].span, &inputs[i])) return ev_error();
    values[i] = leat_build_const(&builder, "number", &inputs[i]);
  }
  leat_value result = leat_build(&builder, "number", op, values, count, NULL);
  if (!result.node) return ev_error();
  leat_error error = {0};
  leat_ref_context context = {.node = result.node, .inputs = inputs, .error = &error};
  if (leat_ref_evaluate(arena, &context)) return ev_fail(e, span, "%s", error.message);
  return number_of(&context.outputs[0]);
}

// While running a quotient of ints by 0 is 0.
static bool divides_by_zero(leat_op op, const ev_argument *args, ev result) {
  bool divides = op == LEAT_OP_div_trunc || op == LEAT_OP_rem || op == LEAT_OP_floor_div ||
                 op == LEAT_OP_remainder;
  return divides && result.kind == EV_INT && !args[1].value.i;
}

// pow of ints wraps while running; a compile-time int does not.
static bool overflows(leat_op op, const ev_argument *args, ev result) {
  return op == LEAT_OP_pow && result.kind == EV_INT &&
         fabs(pow((double)args[0].value.i, (double)args[1].value.i)) >= 0x1p63;
}

// max(a, b) and min(a, b) of numbers or dimensions.
static bool is_extreme(leat_op op, const ev_argument *args, uint32_t count) {
  if ((op != LEAT_OP_max && op != LEAT_OP_min) || count != 2) return false;
  for (uint32_t i = 0; i < 2; i++) {
    ev_kind kind = args[i].value.kind;
    if (args[i].key || (kind != EV_DIM && kind != EV_INT && kind != EV_FLOAT)) return false;
  }
  return true;
}

static ev extreme(evaluator *e, leat_op op, const ev_argument *args, leat_span span) {
  ev left = args[0].value, right = args[1].value;
  bool largest = op == LEAT_OP_max;
  if (left.kind != EV_DIM && right.kind != EV_DIM) {
    leat_operator first = largest ? LEAT_OPERATOR_GREATER_EQUAL : LEAT_OPERATOR_LESS_EQUAL;
    return ev_operator(e, first, left, right, span, NULL).i ? left : right;
  }
  leat_dims *dims = e->graph->dims;
  leat_dim a, b, both;
  if (!ev_as_offset(e, left, args[0].span, &a) || !ev_as_offset(e, right, args[1].span, &b))
    return ev_error();
  return (largest ? leat_dim_max : leat_dim_min)(dims, a, b, &both)
             ? ev_of_dim(both)
             : ev_fail(e, span, "this dimension has too many terms or digits");
}

ev ev_call_on_numbers(evaluator *e, leat_op op, const ev_argument *args, uint32_t count,
                      leat_span span) {
  if (is_extreme(op, args, count)) return extreme(e, op, args, span);
  const leat_op_info *info = leat_op_info_of(op);
  if (!is_of_numbers(op) || count < (uint32_t)info->min_inputs ||
      count > (uint32_t)info->max_inputs)
    return ev_none();
  for (uint32_t i = 0; i < count; i++)
    if (args[i].key || !is_number(args[i].value)) return ev_none();
  leat_arena *arena = leat_arena_create();
  ev result = evaluate(e, arena, op, args, count, span);
  leat_arena_destroy(arena);
  if (divides_by_zero(op, args, result)) return ev_fail(e, span, "division by zero");
  if (overflows(op, args, result)) return ev_fail(e, span, "the number does not fit 64 bits");
  return result;
}

// -- Functions of the library -------------------------------------------------------------------

// All of its parameters that are given are tensors, and each is given a number.
static bool takes_numbers(const ev_function *function, const ev_argument *args, uint32_t count) {
  const leat_bindings *params = &function->definition->params;
  if (!function->library || !count || count > params->count) return false;
  for (uint32_t i = 0; i < count; i++) {
    const leat_expr *type = params->items[i].type;
    bool tensor = !args[i].key && type && ev_is_tensor_type(type);
    if (!tensor || !is_number(args[i].value) || args[i].value.kind == EV_COMPLEX) return false;
  }
  return true;
}

// The call with numbers of that dtype. Not a number: NONE, and nothing is reported.
static ev call_as(evaluator *e, const ev_function *function, const ev_argument *args,
                  uint32_t count, leat_dtype dtype, leat_span span) {
  leat_type type = leat_type_scalar(dtype);
  leat_diag_mark mark = leat_diag_take_mark(e->diag);
  ev_argument *wide = leat_arena_memdup(e->arena, args, count * sizeof *args);
  for (uint32_t i = 0; i < count; i++)
    wide[i].value = ev_tensor(ev_literal_tensor(e, args[i].value, &type, NULL, args[i].span));
  ev result = leat_diag_errors(e->diag) == mark.counts[0]
                  ? ev_call_definition(e, function, wide, count, span, NULL, NULL)
                  : ev_error();
  leat_tensor tensor;
  bool scalar = result.kind == EV_TENSOR && !leat_value_type(result.tensor)->rank;
  bool made = scalar && result.tensor.node->op != LEAT_OP_const; // tensor(2.0) wants a tensor
  bool known = made && ev_constant_of(e, result.tensor, span, &tensor);
  if (e->stopped) return ev_error(); // a limit was hit, which is said
  bool wrong = leat_diag_withhold(e->diag, mark, (leat_span){0});
  return known && !wrong ? number_of(&tensor) : ev_none();
}

// On trial: what is no number after all is called as any function is. Ints that the function does
// not take are floats to it, as they are to an op.
ev ev_call_library_on_numbers(evaluator *e, const ev_function *function, const ev_argument *args,
                              uint32_t count, leat_span span) {
  if (e->at.on_numbers || e->stopped || !takes_numbers(function, args, count)) return ev_none();
  bool bools = has_kind(args, count, EV_BOOL), floats = has_kind(args, count, EV_FLOAT);
  leat_dtype dtype = bools ? LEAT_bool : floats ? LEAT_f64 : LEAT_i64;
  leat_arena *arena = leat_arena_create();
  leat_state stand_in = {.name = function->name}; // its body is pure, and binds no names that last
  ev_trial trial;
  ev_trial_begin(e, &trial, leat_graph_create(arena, e->strings, "numbers"));
  e->at.on_numbers = true;
  e->at.initialising = &stand_in;
  ev result = call_as(e, function, args, count, dtype, span);
  if (result.kind == EV_NONE && dtype == LEAT_i64)
    result = call_as(e, function, args, count, LEAT_f64, span);
  ev_trial_end(e, &trial);
  leat_arena_destroy(arena);
  return result;
}
