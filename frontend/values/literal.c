// Literals as tensors: compile-time numbers and lists become constants of the dtype they meet.
#include "frontend/values/tensors.h"

#include "base/half.h"
#include "base/number.h"
#include "frontend/values/names.h"
#include "frontend/values/region.h"
#include "frontend/values/rows.h"
#include "ops/complex.h"

#include <string.h>

static bool store_integer(leat_dtype dtype, ev literal, char *to) {
  if (dtype == LEAT_u64 && literal.kind == EV_FLOAT && literal.magnitude) {
    memcpy(to, &literal.magnitude, sizeof literal.magnitude);
    return true;
  }
  if (literal.kind != EV_INT || !leat_integer_fits(dtype, literal.i)) return false;
  memcpy(to, &literal.i, leat_dtype_size(dtype)); // little-endian: the low bytes
  return true;
}

static bool store_float(leat_dtype dtype, ev literal, char *to) {
  if (literal.kind != EV_INT && literal.kind != EV_FLOAT) return false;
  double value = literal.kind == EV_INT ? (double)literal.i : literal.f;
  float narrow = (float)value;
  uint16_t half = leat_dtype_is_half(dtype) ? leat_half_of(dtype, value) : 0;
  if (leat_dtype_is_half(dtype))
    memcpy(to, &half, sizeof half);
  else if (dtype == LEAT_f64)
    memcpy(to, &value, sizeof value);
  else
    memcpy(to, &narrow, sizeof narrow);
  return true;
}

// A real number has no imaginary part.
static bool store_complex(leat_dtype dtype, ev literal, char *to) {
  leat_dtype part = leat_part_dtype(dtype);
  ev re = literal, im = ev_float(0);
  if (literal.kind == EV_COMPLEX) re = ev_float(literal.re), im = ev_float(literal.im);
  return store_float(part, re, to) && store_float(part, im, to + leat_dtype_size(part));
}

static bool store_string(ev literal, char *to) {
  leat_str element = {literal.text, literal.size};
  if (literal.kind == EV_STRING) memcpy(to, &element, sizeof element);
  return literal.kind == EV_STRING;
}

// Writes one element; false when the literal has no such value in the dtype.
static bool store(leat_dtype dtype, ev literal, char *to) {
  switch (leat_dtype_kind_of(dtype)) {
  case LEAT_KIND_BOOL: *to = (char)literal.i; return literal.kind == EV_BOOL;
  case LEAT_KIND_SIGNED:
  case LEAT_KIND_UNSIGNED: return store_integer(dtype, literal, to);
  case LEAT_KIND_FLOAT: return store_float(dtype, literal, to);
  case LEAT_KIND_COMPLEX: return store_complex(dtype, literal, to);
  case LEAT_KIND_STRING: return store_string(literal, to);
  }
  return false;
}

// Whether the value is a list of so many items, as those beside it are.
static bool is_list_of(evaluator *e, ev value, int64_t count, leat_span span) {
  if (value.kind == EV_LIST && (int64_t)value.list->count == count) return true;
  ev_fail(e, span, "expected a list of %lld here, found %s", (long long)count,
          value.kind == EV_LIST ? leat_arena_printf(e->arena, "one of %u", value.list->count)
                                : ev_kind_name(value));
  return false;
}

static bool is_no_list(evaluator *e, ev value, leat_span span) {
  if (value.kind == EV_LIST)
    ev_fail(e, span, "a list is nested deeper than its type has dimensions");
  return value.kind != EV_LIST;
}

static bool fill(evaluator *e, ev value, leat_tensor *tensor, int32_t axis, char **to,
                 leat_span span) {
  if (axis == tensor->rank) {
    if (!is_no_list(e, value, span)) return false;
    if (!store(tensor->dtype, value, *to)) {
      leat_text text = {0};
      ev_print(value, &text);
      bool number = value.kind == EV_FLOAT && !value.magnitude &&
                    leat_dtype_in_class(tensor->dtype, LEAT_CLASS_INTEGER);
      ev_fail(e, span, "%.100s is no %s%s", text.data, leat_dtype_name(tensor->dtype),
              number ? "; only `cast` converts" : "");
      leat_text_finish(&text);
      return false;
    }
    *to += leat_dtype_size(tensor->dtype);
    return true;
  }
  if (!is_list_of(e, value, tensor->shape[axis], span)) return false;
  for (uint32_t i = 0; i < value.list->count; i++)
    if (!fill(e, value.list->items[i], tensor, axis + 1, to, span)) return false;
  return true;
}

static int64_t bytes_of_strings(ev value) {
  if (value.kind != EV_LIST) return value.kind == EV_STRING ? (int64_t)value.size : 0;
  int64_t bytes = 0; // of at most EV_MAX_LIST strings of EV_MAX_STRING bytes
  for (uint32_t i = 0; i < value.list->count; i++) bytes += bytes_of_strings(value.list->items[i]);
  return bytes;
}

bool ev_literal(evaluator *e, ev value, const leat_type *type, leat_span span, leat_tensor *out) {
  *out = (leat_tensor){.dtype = type->dtype, .rank = type->rank};
  if (value.kind == EV_LIST && value.list->results) {
    ev_fail(e, span, "%u results where one value is due: `y, _ = f(x)` takes the first of two",
            value.list->count);
    return false;
  }
  if (ev_has_kind(value, EV_TENSOR) || ev_has_kind(value, EV_STATE)) {
    ev_fail(e, span, "a list of tensors is no tensor; `stack` and `concat` join them");
    return false;
  }
  for (int32_t i = 0; i < out->rank; i++) {
    if (!leat_dim_is_const(type->dims[i])) {
      leat_text dim = {0};
      leat_dim_print(type->dims[i], &dim);
      ev_fail(e, span, "a literal has dimensions that are known while compiling, as %s is not",
              dim.data);
      leat_text_finish(&dim);
      return false;
    }
    out->shape[i] = type->dims[i].value;
  }
  int64_t bytes = leat_tensor_bytes(out), elements = leat_shape_elements(out->rank, out->shape);
  int64_t each = bytes_of_strings(value), most = EV_MAX_LITERAL;
  bool large = bytes < 0 || bytes > most; // then elements is no small number
  if (large || each * (value.kind == EV_LIST ? 1 : elements) > most - bytes) {
    ev_fail(e, span, "too large for a literal; keep it in a file and `load` it");
    return false;
  }
  char *to = out->data = leat_arena_alloc(e->arena, (size_t)bytes + 16);
  bool empty = value.kind == EV_LIST && !value.list->count; // `[]`, of whatever shape
  if (value.kind == EV_LIST && !(empty && !elements)) return fill(e, value, out, 0, &to, span);
  for (int64_t i = 0; i < elements; i++)
    if (!fill(e, value, out, out->rank, &to, span)) return false;
  return true;
}

leat_value ev_literal_tensor(evaluator *e, ev value, const leat_type *type, const char *hint,
                             leat_span span) {
  leat_value none = {0};
  leat_type scalar = leat_type_scalar(type->dtype);
  bool list = value.kind == EV_LIST, spread = !list && type->rank;
  leat_tensor tensor;
  if (!ev_literal(e, value, list ? type : &scalar, span, &tensor)) return none;
  leat_builder builder = ev_builder(e, span);
  const char *name = ev_node_name(e, spread ? NULL : hint, "const");
  leat_value literal = leat_build_const(&builder, name, &tensor);
  if (!literal.node || !spread) return literal;
  leat_attr shape = {.count = (uint32_t)type->rank};
  shape.dims = leat_arena_memdup(e->arena, type->dims, sizeof type->dims);
  const char *whole = ev_node_name(e, hint, "broadcast");
  return leat_build(&builder, whole, LEAT_OP_broadcast, &literal, 1, &shape);
}

// -- Any value as a tensor ----------------------------------------------------------------------

// The shape and natural dtype of nested lists, from their first items.
static void list_type(ev value, leat_type *type) {
  for (; value.kind == EV_LIST && type->rank < LEAT_MAX_RANK; value = value.list->items[0]) {
    type->dims[type->rank++] = leat_dim_const(value.list->count);
    if (!value.list->count) return;
  }
  if (value.kind == EV_BOOL) type->dtype = LEAT_bool;
}

bool ev_has_kind(ev value, ev_kind kind) {
  if (value.kind != EV_LIST) return value.kind == kind;
  for (uint32_t i = 0; i < value.list->count; i++)
    if (ev_has_kind(value.list->items[i], kind)) return true;
  return false;
}

// What holds the ints in it: u64, i64, or -1 where i32 does.
static int wide_int(ev value) {
  int wide = -1;
  if (value.kind == EV_FLOAT && value.magnitude) return LEAT_u64;
  if (value.kind == EV_INT) return value.i != (int32_t)value.i ? LEAT_i64 : -1;
  for (uint32_t i = 0; value.kind == EV_LIST && i < value.list->count && wide != LEAT_u64; i++) {
    int item = wide_int(value.list->items[i]);
    if (item >= 0) wide = item;
  }
  return wide;
}

// Whether a float is in it: an int beyond i64 is none.
static bool has_fraction(ev value) {
  if (value.kind != EV_LIST) return value.kind == EV_FLOAT && !value.magnitude;
  for (uint32_t i = 0; i < value.list->count; i++)
    if (has_fraction(value.list->items[i])) return true;
  return false;
}

int ev_exact_dtype(ev value) {
  if (ev_has_kind(value, EV_COMPLEX)) return LEAT_c128;
  return has_fraction(value) ? LEAT_f64 : wide_int(value);
}

// The count as an i64, or as what it meets.
static leat_value from_dim(evaluator *e, leat_dim dim, int dtype, leat_span span) {
  leat_attr value[] = {{.dim = dim}, {.i = false}}, to = {.i = dtype};
  leat_builder builder = ev_builder(e, span);
  leat_value count =
      leat_build(&builder, ev_node_name(e, NULL, "dim"), LEAT_OP_dim, NULL, 0, value);
  bool number = dtype >= 0 && leat_dtype_in_class((leat_dtype)dtype, LEAT_CLASS_NUMERIC);
  if (!number || dtype == LEAT_i64) return count;
  if (leat_dtype_in_class((leat_dtype)dtype, LEAT_CLASS_INTEGER)) // see leat_narrowed_dim
    count = leat_build(&builder, ev_node_name(e, NULL, "dim"), LEAT_OP_identity, &count, 1, NULL);
  return leat_build(&builder, ev_node_name(e, NULL, "cast"), LEAT_OP_cast, &count, 1, &to);
}

// One after the other what the lists of that shape hold.
static bool flatten(evaluator *e, ev value, const leat_type *type, int32_t axis, leat_value **to,
                    leat_span span) {
  if (axis == type->rank) {
    if (!is_no_list(e, value, span)) return false;
    leat_type one = {.dtype = type->dtype, .rank = 1, .dims = {leat_dim_const(1)}};
    leat_builder builder = ev_builder(e, span);
    leat_value part = ev_as_tensor(e, value, (int)type->dtype, span);
    if (part.node) part = leat_build_broadcast(&builder, part, &one);
    *(*to)++ = part;
    return part.node;
  }
  if (!is_list_of(e, value, type->dims[axis].value, span)) return false;
  for (uint32_t i = 0; i < value.list->count; i++)
    if (!flatten(e, value.list->items[i], type, axis + 1, to, span)) return false;
  return true;
}

// [N, 2], some of whose items are known only while running; also [[N / 2, 2], [1, 1]].
static leat_value from_items(evaluator *e, ev value, leat_type type, leat_span span) {
  leat_value *parts = leat_new_array(e->arena, leat_value, value.list->weight), *end = parts;
  if (!flatten(e, value, &type, 0, &end, span)) return (leat_value){0};
  leat_builder builder = ev_builder(e, span);
  leat_attr axis = {.i = 0}, shape = {.count = (uint32_t)type.rank};
  leat_value row = leat_build(&builder, ev_node_name(e, NULL, "concat"), LEAT_OP_concat, parts,
                              (uint32_t)(end - parts), &axis);
  if (!row.node || type.rank == 1) return row;
  shape.dims = leat_arena_memdup(e->arena, type.dims, sizeof type.dims);
  return leat_build(&builder, ev_node_name(e, NULL, "reshape"), LEAT_OP_reshape, &row, 1, &shape);
}

bool ev_is_computed(const evaluator *e, ev value) {
  return ev_has_kind(value, EV_DIM) ||
         (value.kind == EV_LIST && ev_has_kind(value, EV_TENSOR) && ev_is_of_numbers(e, value));
}

static leat_value from_literal(evaluator *e, ev value, int dtype, leat_span span) {
  if (value.kind == EV_LIST && !ev_spend(e, value.list->weight, span)) return (leat_value){0};
  int own = ev_dtype_of_numbers(e, value);
  leat_type type = {.dtype = own >= 0 ? (leat_dtype)own : LEAT_i32};
  list_type(value, &type);
  if (ev_has_kind(value, EV_STRING)) type.dtype = LEAT_str;
  if (dtype >= 0 && type.dtype != LEAT_bool) type.dtype = (leat_dtype)dtype;
  if (ev_is_computed(e, value)) return from_items(e, value, type, span);
  return ev_literal_tensor(e, value, &type, NULL, span);
}

leat_value ev_as_tensor(evaluator *e, ev value, int dtype, leat_span span) {
  leat_value none = {0};
  switch (value.kind) {
  case EV_ERROR: return none;
  case EV_TENSOR:
    return dtype < 0 || value.typed ? value.tensor
                                    : ev_settle(e, value.tensor, (leat_dtype)dtype, span);
  case EV_STATE: return ev_read(e, value.state, span);
  case EV_ROWS: return ev_rows_dense(e, value, span);
  case EV_DIM: return from_dim(e, value.dim, dtype, span);
  case EV_INT:
  case EV_FLOAT:
  case EV_COMPLEX:
  case EV_BOOL:
  case EV_STRING:
  case EV_LIST: return from_literal(e, value, dtype, span);
  case EV_NONE:
  case EV_DTYPE:
  case EV_TYPE:
  case EV_FUNCTION:
  case EV_ENTRY:
  case EV_BODY: break;
  }
  ev_fail(e, span, "expected a tensor, found %s%s", ev_kind_name(value),
          value.kind == EV_FUNCTION && value.function->name
              ? leat_arena_printf(e->arena, "; `%s(…)` gives one", value.function->name)
              : "");
  return none;
}
