// Operators: on compile-time values they are computed here; on tensors they are sugar for ops.
#include "frontend/evaluate/calls.h"

#include "frontend/values/rows.h"

#include <math.h>
#include <string.h>

static bool is_number(ev v) {
  return v.kind == EV_INT || v.kind == EV_FLOAT;
}

static ev not_for(evaluator *e, leat_operator operator, const char * what, leat_span span) {
  return ev_fail(e, span, "`%s` is not for %s", leat_operator_spelling(operator), what);
}

// The quotient, by one more than truncating does.
static bool rounds_down(int64_t a, int64_t b) {
  return a % b != 0 && (a < 0) != (b < 0);
}

static ev int_operator(evaluator *e, leat_operator operator, int64_t a, int64_t b, leat_span span) {
  int64_t result = 0;
  bool overflow = false;
  switch (operator) {
  case LEAT_OPERATOR_ADD: overflow = __builtin_add_overflow(a, b, &result); break;
  case LEAT_OPERATOR_SUB: overflow = __builtin_sub_overflow(a, b, &result); break;
  case LEAT_OPERATOR_MUL: overflow = __builtin_mul_overflow(a, b, &result); break;
  case LEAT_OPERATOR_DIV:
    if (b == 0) return ev_fail(e, span, "division by zero");
    return (ev){.kind = EV_FLOAT, .quotient = true, .f = (double)a / (double)b};
  case LEAT_OPERATOR_FLOOR_DIV:
    if (b == 0) return ev_fail(e, span, "division by zero");
    overflow = b == -1 && __builtin_sub_overflow(0, a, &result);
    if (b != -1) result = a / b - rounds_down(a, b);
    break;
  case LEAT_OPERATOR_REMAINDER:
    if (b == 0) return ev_fail(e, span, "division by zero");
    if (b != -1) result = a % b + (rounds_down(a, b) ? b : 0);
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
  case LEAT_OPERATOR_POW:
  case LEAT_OPERATOR_MATMUL: return not_for(e, operator, "numbers", span);
  }
  return overflow ? ev_fail(e, span, "the number does not fit 64 bits") : ev_int(result);
}

static ev float_op(evaluator *e, leat_op op, double a, double b, leat_span span) {
  ev_argument args[] = {{.value = ev_float(a), .span = span}, {.value = ev_float(b), .span = span}};
  return ev_call_on_numbers(e, op, args, 2, span);
}

static ev float_operator(evaluator *e, leat_operator operator, double a, double b, leat_span span) {
  switch (operator) {
  case LEAT_OPERATOR_ADD: return ev_float(a + b);
  case LEAT_OPERATOR_SUB: return ev_float(a - b);
  case LEAT_OPERATOR_MUL: return ev_float(a * b);
  case LEAT_OPERATOR_DIV: return ev_float(a / b);
  case LEAT_OPERATOR_FLOOR_DIV: return float_op(e, LEAT_OP_floor_div, a, b, span);
  case LEAT_OPERATOR_REMAINDER: return float_op(e, LEAT_OP_remainder, a, b, span);
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
  case LEAT_OPERATOR_POW:
  case LEAT_OPERATOR_MATMUL: break;
  }
  return not_for(e, operator, "floats", span);
}

static double re_of(ev value) {
  return value.kind == EV_COMPLEX ? value.re : value.kind == EV_INT ? (double)value.i : value.f;
}

static double im_of(ev value) {
  return value.kind == EV_COMPLEX ? value.im : 0;
}

// As ops on complex tensors compute; what divides by 0 is a tensor's.
static ev complex_operator(evaluator *e, leat_operator operator, ev left, ev right,
                           leat_span span) {
  double a = re_of(left), b = im_of(left), c = re_of(right), d = im_of(right);
  double ratio = fabs(c) < fabs(d) ? c / d : d / c;
  double size = fabs(c) < fabs(d) ? d + c * ratio : c + d * ratio;
  switch (operator) {
  case LEAT_OPERATOR_ADD: return ev_complex(a + c, b + d);
  case LEAT_OPERATOR_SUB: return ev_complex(a - c, b - d);
  case LEAT_OPERATOR_MUL: return ev_complex(a * c - b * d, a * d + b * c);
  case LEAT_OPERATOR_DIV:
    if (c == 0 && d == 0) return ev_fail(e, span, "division by zero");
    return fabs(c) < fabs(d) ? ev_complex((b + a * ratio) / size, (b * ratio - a) / size)
                             : ev_complex((a + b * ratio) / size, (b - a * ratio) / size);
  case LEAT_OPERATOR_EQUAL: return ev_bool(a == c && b == d);
  case LEAT_OPERATOR_NOT_EQUAL: return ev_bool(a != c || b != d);
  default: return not_for(e, operator, "complex numbers", span);
  }
}

static leat_dim dim_of(ev value) {
  return value.kind == EV_INT ? leat_dim_const(value.i) : value.dim;
}

// What is known of a comparison of two dims by their forms and bounds. EV_NONE: nothing, so that it
// is one of tensors.
static ev compare_dims(evaluator *e, leat_operator operator, leat_dim a, leat_dim b) {
  leat_dim difference;
  bool same = leat_dim_equal(a, b);
  bool differ =
      !same && leat_dim_sub(e->graph->dims, a, b, &difference) && !leat_dim_may_be(difference, 0);
  if (operator== LEAT_OPERATOR_EQUAL &&(same || differ)) return ev_bool(same);
  if (operator== LEAT_OPERATOR_NOT_EQUAL &&(same || differ)) return ev_bool(differ);
  return ev_none();
}

static ev dim_operator(evaluator *e, leat_operator operator, leat_dim a, leat_dim b,
                       leat_span span) {
  leat_dims *dims = e->graph->dims;
  leat_dim result, quotient;
  bool ok = false,
       divides = operator== LEAT_OPERATOR_FLOOR_DIV || operator== LEAT_OPERATOR_REMAINDER;
  if (divides && leat_dim_is(b, 0)) return ev_fail(e, span, "division by zero");
  switch (operator) {
  case LEAT_OPERATOR_ADD: ok = leat_dim_add(dims, a, b, &result); break;
  case LEAT_OPERATOR_NEG:
  case LEAT_OPERATOR_SUB: ok = leat_dim_sub(dims, a, b, &result); break;
  case LEAT_OPERATOR_MUL: ok = leat_dim_mul(dims, a, b, &result); break;
  case LEAT_OPERATOR_DIV: return ev_none(); // a float, which no dim is
  case LEAT_OPERATOR_FLOOR_DIV: ok = leat_dim_floordiv(dims, a, b, &result); break;
  case LEAT_OPERATOR_REMAINDER: // a - a // b * b
    ok = leat_dim_floordiv(dims, a, b, &quotient) && leat_dim_mul(dims, quotient, b, &quotient) &&
         leat_dim_sub(dims, a, quotient, &result);
    break;
  case LEAT_OPERATOR_EQUAL:
  case LEAT_OPERATOR_NOT_EQUAL:
  case LEAT_OPERATOR_LESS:
  case LEAT_OPERATOR_LESS_EQUAL:
  case LEAT_OPERATOR_GREATER:
  case LEAT_OPERATOR_GREATER_EQUAL: return compare_dims(e, operator, a, b);
  case LEAT_OPERATOR_AND:
  case LEAT_OPERATOR_OR:
  case LEAT_OPERATOR_NOT:
  case LEAT_OPERATOR_POW:
  case LEAT_OPERATOR_MATMUL: return not_for(e, operator, "dimensions", span);
  }
  return ok ? ev_of_dim(result) : ev_fail(e, span, "this dimension has too many terms or digits");
}

static bool is_order(leat_operator operator) {
  return operator>= LEAT_OPERATOR_LESS && operator<= LEAT_OPERATOR_GREATER_EQUAL;
}

static ev unary(evaluator *e, leat_operator operator, ev value, leat_span span) {
  if (operator== LEAT_OPERATOR_NOT) return value.kind == EV_BOOL ? ev_bool(!value.i) : ev_none();
  if (value.kind == EV_INT) return int_operator(e, LEAT_OPERATOR_SUB, 0, value.i, span);
  if (value.kind == EV_FLOAT)
    return (ev){.kind = EV_FLOAT, .quotient = value.quotient, .f = -value.f};
  if (value.kind == EV_COMPLEX) return ev_complex(-value.re, -value.im);
  if (value.kind != EV_DIM) return ev_none();
  return dim_operator(e, operator, leat_dim_const(0), value.dim, span);
}

// Operators on compile-time values. EV_NONE: not those.
static ev binary(evaluator *e, leat_operator operator, ev left, ev right, leat_span span) {
  if (left.kind == EV_INT && right.kind == EV_INT)
    return int_operator(e, operator, left.i, right.i, span);
  bool dims = (left.kind == EV_DIM || left.kind == EV_INT) &&
              (right.kind == EV_DIM || right.kind == EV_INT);
  if (dims) return dim_operator(e, operator, dim_of(left), dim_of(right), span);
  bool complex = left.kind == EV_COMPLEX || right.kind == EV_COMPLEX;
  if (complex && (is_number(left) || left.kind == EV_COMPLEX) &&
      (is_number(right) || right.kind == EV_COMPLEX))
    return complex_operator(e, operator, left, right, span);
  if (is_number(left) && is_number(right)) {
    double a = left.kind == EV_INT ? (double)left.i : left.f;
    double b = right.kind == EV_INT ? (double)right.i : right.f;
    ev result = float_operator(e, operator, a, b, span);
    result.quotient = result.kind == EV_FLOAT && (left.quotient || right.quotient);
    return result;
  }
  if (left.kind == EV_BOOL && right.kind == EV_BOOL && operator== LEAT_OPERATOR_AND)
    return ev_bool(left.i && right.i);
  if (left.kind == EV_BOOL && right.kind == EV_BOOL && operator== LEAT_OPERATOR_OR)
    return ev_bool(left.i || right.i);
  bool sequences = left.kind == right.kind && (left.kind == EV_LIST || left.kind == EV_STRING);
  if (sequences && operator== LEAT_OPERATOR_ADD) return ev_append(e, left, right, span);
  if (sequences && left.kind == EV_STRING && !ev_spend(e, left.size / 64, span)) return ev_error();
  if (sequences && left.kind == EV_STRING && is_order(operator))
    return int_operator(e, operator, ev_compare_strings(left, right), 0, span);
  bool compares = operator== LEAT_OPERATOR_EQUAL || operator== LEAT_OPERATOR_NOT_EQUAL;
  bool none = left.kind == EV_NONE || right.kind == EV_NONE; // a tensor is not none
  if (!compares || (!none && (ev_is_tensor(left) || ev_is_tensor(right)))) return ev_none();
  if (left.kind == EV_LIST && !ev_spend(e, left.list->weight, span)) return ev_error();
  return ev_bool(ev_equal(left, right) == (operator== LEAT_OPERATOR_EQUAL));
}

static bool is_plain_list(const evaluator *e, ev value) {
  if (value.kind != EV_LIST || value.list->results) return false;
  return ev_is_of_numbers(e, value) ||
         (!ev_has_kind(value, EV_TENSOR) && !ev_has_kind(value, EV_STATE));
}

// A list is a tensor beside a tensor; among compile-time values it is a list, which `+` joins.
static bool is_list_alone(const evaluator *e, ev left, ev right) {
  return (is_plain_list(e, left) || is_plain_list(e, right)) && !ev_is_tensor(left) &&
         !ev_is_tensor(right);
}

static ev not_for_lists(evaluator *e, leat_operator operator, leat_span span) {
  static const char way_out[] = "beside a tensor a list is one, and `tensor([1, 2])` is one";
  if (operator== LEAT_OPERATOR_ADD) return ev_fail(e, span, "`+` joins two lists; %s", way_out);
  return ev_fail(e, span, "`%s` is not for lists, which `+` joins; %s",
                 leat_operator_spelling(operator), way_out);
}

// Of integers `/` is a float: an f32, of 64 bits an f64, computed in a float that holds them all
// and rounded once.
static ev quotient_of_integers(evaluator *e, ev left, ev right, const leat_type *type,
                               leat_span span, const char *hint) {
  size_t size = leat_dtype_size(type->dtype);
  leat_attr wide = {.i = size <= 2 ? LEAT_f32 : LEAT_f64}, narrow = {.i = LEAT_f32};
  ev parts[] = {left, right};
  for (uint32_t i = 0; i < 2; i++) {
    bool counts = ev_is_weak(e, parts[i]) && ev_runs(e, parts[i].tensor);
    if (!ev_is_tensor(parts[i]) || (ev_is_weak(e, parts[i]) && !counts)) continue;
    parts[i] = ev_op(e, LEAT_OP_cast, &parts[i], 1, &wide, span, NULL);
    if (counts && parts[i].kind == EV_TENSOR) ev_make_carried(e, parts[i].tensor, NULL);
  }
  if (parts[0].kind == EV_ERROR || parts[1].kind == EV_ERROR) return ev_error();
  bool rounds = size == 4;
  ev result = ev_op(e, LEAT_OP_div, parts, 2, NULL, span, rounds ? NULL : hint);
  if (!rounds || result.kind == EV_ERROR) return result;
  bool counts = ev_is_weak(e, result);
  result = ev_op(e, LEAT_OP_cast, &result, 1, &narrow, span, hint);
  if (counts && result.kind == EV_TENSOR) ev_make_carried(e, result.tensor, NULL);
  return result;
}

// Of a tensor; of numbers only if they are what a loop carries.
static const leat_type *type_of_tensor(const evaluator *e, ev value, bool carried) {
  bool weak = ev_is_weak(e, value), counts = weak && ev_runs(e, value.tensor);
  return weak == carried && weak == counts ? ev_tensor_type(value) : NULL;
}

// The type of both, or of the one that is a tensor, if it is of integers. NULL: it is not that.
static const leat_type *integers_of(const evaluator *e, ev left, ev right) {
  const leat_type *a = type_of_tensor(e, left, false), *b = type_of_tensor(e, right, false);
  if (!a && !b) a = type_of_tensor(e, left, true), b = type_of_tensor(e, right, true);
  if (a && b && ev_holds_more(a->dtype, b->dtype)) a = b;
  if (a && b && ev_holds_more(b->dtype, a->dtype)) b = a;
  const leat_type *type = a ? a : b;
  bool integers = type && leat_dtype_in_class(type->dtype, LEAT_CLASS_INTEGER);
  return integers && (!a || !b || a->dtype == b->dtype) ? type : NULL;
}

// `**` of numbers is their `pow`, of an int a float where the power is below 0; of a dim it is a
// dim, and a square x * x, as NumPy's is. EV_NONE: it is the op, which would truncate what an
// integer is to a power below 0.
static ev power(evaluator *e, ev left, ev right, leat_span span, const char *hint) {
  if (right.kind == EV_INT && right.i == 2 && ev_is_tensor(left))
    return ev_operator(e, LEAT_OPERATOR_MUL, left, left, span, hint);
  bool below = right.kind == EV_INT && right.i < 0;
  const leat_type *type = ev_tensor_type(left);
  if (below && type && leat_dtype_in_class(type->dtype, LEAT_CLASS_INTEGER))
    return ev_fail(e, span, "a power below 0 of an integer is none: `1 / x ** %llu`, or `cast` x",
                   0 - (unsigned long long)right.i);
  if (left.kind == EV_DIM && right.kind == EV_INT && !below) {
    ev result = ev_int(1);
    for (int64_t i = 0; i < right.i && result.kind != EV_ERROR; i++)
      result = binary(e, LEAT_OPERATOR_MUL, result, left, span);
    return result;
  }
  if (below && left.kind == EV_INT && left.i == 0) return ev_fail(e, span, "division by zero");
  if (below && left.kind == EV_INT) left = ev_float((double)left.i);
  ev_argument args[] = {{.value = left, .span = span}, {.value = right, .span = span}};
  return ev_call_on_numbers(e, LEAT_OP_pow, args, 2, span);
}

// What needs no op of the operator's name. EV_NONE: it is the op.
static ev without_the_op(evaluator *e, leat_operator operator, ev left, ev right, leat_span span,
                         const char *hint) {
  switch (operator) {
  case LEAT_OPERATOR_NEG:
  case LEAT_OPERATOR_NOT: return unary(e, operator, left, span);
  case LEAT_OPERATOR_POW: return power(e, left, right, span, hint);
  default: return binary(e, operator, left, right, span);
  }
}

ev ev_operator(evaluator *e, leat_operator operator, ev left, ev right, leat_span span,
               const char *hint) {
  if (left.kind == EV_ERROR || right.kind == EV_ERROR) return ev_error();
  bool one = operator== LEAT_OPERATOR_NEG || operator== LEAT_OPERATOR_NOT;
  ev result = without_the_op(e, operator, left, right, span, hint);
  if (result.kind != EV_NONE) return result;
  if (is_list_alone(e, left, right)) return not_for_lists(e, operator, span);
  if (left.kind == EV_ROWS || right.kind == EV_ROWS) {
    result = ev_rows_operator(e, operator, left, right, span);
    if (result.kind != EV_NONE) return result;
  }
  const leat_type *integers = operator== LEAT_OPERATOR_DIV ? integers_of(e, left, right) : NULL;
  if (integers) return quotient_of_integers(e, left, right, integers, span, hint);
  leat_op op;
  const char *name = leat_operator_op(operator);
  if (!leat_op_parse(name, strlen(name), &op)) return ev_error();
  ev inputs[] = {left, right};
  leat_attr attrs[LEAT_MAX_ATTRS] = {0};
  if (op == LEAT_OP_matmul) attrs[2].string = leat_intern(e->strings, "");
  return ev_op(e, op, inputs, one ? 1 : 2, attrs, span, hint);
}
