// Sparse rows: the gradient of a tensor of which only some rows were read, as a pair of tensors,
// the rows' indices (a row may be there more than once: its values add up) and their values
// (Distributed TensorFlow 4.2; `IndexedSlices` elsewhere).
//
// They are a compile-time value that stands for a tensor, and is made one only where something
// needs the whole of it. What keeps them sparse: a sign, a factor or divisor (a scalar or a tensor
// of the same shape: rows that are not there are zero and stay so), their sum with others and with
// a tensor, `v += rows`, the gradient of a gather of gathered rows, and a loop (loops.c).
#include "frontend/values/rows.h"

#include "frontend/values/builtin.h"
#include "frontend/values/tensors.h"

ev ev_make_rows(evaluator *e, const leat_type *type, ev indices, ev values) {
  if (indices.kind != EV_TENSOR || values.kind != EV_TENSOR) return ev_error();
  ev_rows *rows = leat_new(e->arena, ev_rows);
  *rows = (ev_rows){.indices = indices.tensor, .values = values.tensor, .type = *type};
  return (ev){.kind = EV_ROWS, .rows = rows};
}

static ev with_values(evaluator *e, ev rows, ev values) {
  return ev_make_rows(e, &rows.rows->type, ev_tensor(rows.rows->indices), values);
}

static ev op2(evaluator *e, leat_op op, ev a, ev b, leat_span span) {
  ev inputs[] = {a, b};
  return ev_op(e, op, inputs, 2, NULL, span, NULL);
}

static ev add_to(evaluator *e, ev tensor, ev rows, leat_span span) {
  ev inputs[] = {tensor, ev_tensor(rows.rows->indices), ev_tensor(rows.rows->values)};
  leat_attr axis = {.i = 0};
  bool has_row = leat_dim_bounds(rows.rows->type.dims[0]).low > 0;
  if (rows.rows->count.node && !has_row) return ev_add_counted(e, tensor, rows, span);
  return ev_op(e, LEAT_OP_scatter_add, inputs, 3, &axis, span, NULL);
}

leat_value ev_rows_dense(evaluator *e, ev rows, leat_span span) {
  const leat_value *known = leat_map_get(&e->dense, rows.rows);
  if (known) return *known;
  leat_value zeros = ev_literal_tensor(e, ev_int(0), &rows.rows->type, NULL, span);
  ev whole = add_to(e, ev_tensor(zeros), rows, span);
  if (whole.kind != EV_TENSOR) return (leat_value){0};
  if (!e->at.region) // what a body makes is not there behind it
    ev_set(e, &e->dense, rows.rows,
           leat_arena_memdup(e->arena, &whole.tensor, sizeof whole.tensor));
  return whole.tensor;
}

// -- Arithmetic that keeps rows sparse ----------------------------------------------------------

// What the values of the rows are multiplied by: a scalar, or these rows of a tensor. None:
// neither.
static ev factor_of(evaluator *e, const ev_rows *rows, ev value, leat_span span) {
  const leat_type *type = ev_tensor_type(value);
  if (value.kind == EV_ROWS || (!type && !ev_is_literal(value))) return ev_none();
  if (!type || (type->rank == 0 && type->dtype == rows->type.dtype)) return value;
  if (!leat_type_equal(type, &rows->type)) return ev_none();
  ev inputs[] = {value, ev_tensor(rows->indices)};
  leat_attr axis = {.i = 0};
  return ev_op(e, LEAT_OP_gather, inputs, 2, &axis, span, NULL);
}

static ev scaled(evaluator *e, leat_op op, ev rows, ev by, leat_span span) {
  ev factor = factor_of(e, rows.rows, by, span);
  if (factor.kind == EV_NONE || factor.kind == EV_ERROR) return factor;
  return with_values(e, rows, op2(e, op, ev_tensor(rows.rows->values), factor, span));
}

static ev concat(evaluator *e, leat_value a, leat_value b, leat_span span) {
  ev inputs[] = {ev_tensor(a), ev_tensor(b)};
  leat_attr axis = {.i = 0};
  return ev_op(e, LEAT_OP_concat, inputs, 2, &axis, span, NULL);
}

// Of the same rows the values add up, so that they do not double where ways part and meet.
static ev join(evaluator *e, ev a, ev b, leat_span span) {
  if (a.rows->count.node || b.rows->count.node) return ev_join_counted(e, a, b, span);
  leat_value at = a.rows->indices, other = b.rows->indices;
  if (at.node == other.node && at.port == other.port)
    return with_values(
        e, a, op2(e, LEAT_OP_add, ev_tensor(a.rows->values), ev_tensor(b.rows->values), span));
  leat_dtype dtype = leat_value_type(a.rows->indices)->dtype;
  ev indices = ev_tensor(b.rows->indices);
  if (leat_value_type(b.rows->indices)->dtype != dtype) {
    leat_attr to = {.i = (int64_t)dtype};
    indices = ev_op(e, LEAT_OP_cast, &indices, 1, &to, span, NULL);
  }
  if (indices.kind != EV_TENSOR) return ev_error();
  return ev_make_rows(e, &a.rows->type, concat(e, a.rows->indices, indices.tensor, span),
                      concat(e, a.rows->values, b.rows->values, span));
}

ev ev_rows_add(evaluator *e, ev a, ev b, leat_span span) {
  if (a.kind == EV_ROWS && b.kind == EV_ROWS) return join(e, a, b, span);
  return a.kind == EV_ROWS ? add_to(e, b, a, span) : add_to(e, a, b, span);
}

// Of rows or of a tensor.
static ev negative(evaluator *e, ev value, leat_span span) {
  ev operand = value.kind == EV_ROWS ? ev_tensor(value.rows->values) : value;
  ev result = ev_op(e, LEAT_OP_neg, &operand, 1, NULL, span, NULL);
  return value.kind == EV_ROWS ? with_values(e, value, result) : result;
}

ev ev_rows_operator(evaluator *e, leat_operator operator, ev left, ev right, leat_span span) {
  if (operator== LEAT_OPERATOR_NEG) return negative(e, left, span);
  ev rows = left.kind == EV_ROWS ? left : right, other = left.kind == EV_ROWS ? right : left;
  const leat_type *type = ev_tensor_type(other);
  bool same = type && leat_type_equal(type, &rows.rows->type);
  if (operator== LEAT_OPERATOR_MUL) return scaled(e, LEAT_OP_mul, rows, other, span);
  if (operator== LEAT_OPERATOR_DIV && left.kind == EV_ROWS)
    return scaled(e, LEAT_OP_div, rows, other, span);
  if (operator== LEAT_OPERATOR_ADD && same) return ev_rows_add(e, left, right, span);
  if (operator!= LEAT_OPERATOR_SUB || !same) return ev_none();
  right = negative(e, right, span);
  return right.kind == EV_ERROR ? right : ev_rows_add(e, left, right, span);
}

// -- Builtins -----------------------------------------------------------------------------------

static ev wrong_values(evaluator *e, const ev_builtin_call *call, const leat_type *expected,
                       leat_value values) {
  return ev_fail(e, call->span, "expected values of %s, a row for each index, found %s",
                 leat_type_text(e->arena, expected),
                 leat_type_text(e->arena, leat_value_type(values)));
}

// rows(x, indices, values): indices of any rank become one list, as of gather.
ev ev_builtin_rows(evaluator *e, const ev_builtin_call *call) {
  const leat_type *type = ev_tensor_type(call->args[0]);
  leat_value indices = ev_as_tensor(e, call->args[1], LEAT_i64, call->span);
  if (!indices.node) return ev_error();
  if (!type || type->rank == 0)
    return ev_fail(e, call->span, "rows are of a tensor of rank 1 or more");
  leat_value values = ev_as_tensor(e, call->args[2], (int)type->dtype, call->span);
  if (!values.node) return ev_error();
  const leat_type *i = leat_value_type(indices);
  leat_type all = {.dtype = type->dtype, .rank = i->rank + type->rank - 1}, flat = *type;
  leat_dim count;
  if (!leat_dtype_in_class(i->dtype, LEAT_CLASS_INTEGER))
    return ev_fail(e, call->span, "the indices of rows are integers, not %s",
                   leat_dtype_name(i->dtype));
  if (all.rank > LEAT_MAX_RANK || !leat_type_elements(e->graph->dims, i, &count))
    return ev_fail(e, call->span, "the indices of these rows have too many dimensions");
  for (int32_t k = 0; k < all.rank; k++)
    all.dims[k] = k < i->rank ? i->dims[k] : type->dims[k - i->rank + 1];
  if (!leat_type_equal(leat_value_type(values), &all)) return wrong_values(e, call, &all, values);
  if (i->rank == 1) return ev_make_rows(e, type, ev_tensor(indices), ev_tensor(values));
  flat.dims[0] = count;
  const leat_dim *dims = leat_arena_memdup(e->arena, flat.dims, sizeof flat.dims);
  leat_attr shapes[] = {{.count = 1, .dims = dims}, {.count = (uint32_t)flat.rank, .dims = dims}};
  ev inputs[] = {ev_tensor(indices), ev_tensor(values)};
  for (int i = 0; i < 2; i++)
    inputs[i] = ev_op(e, LEAT_OP_reshape, &inputs[i], 1, &shapes[i], call->span, NULL);
  return ev_make_rows(e, type, inputs[0], inputs[1]);
}

ev ev_builtin_is_rows(evaluator *e, const ev_builtin_call *call) {
  (void)e;
  return ev_bool(call->args[0].kind == EV_ROWS);
}

static ev part(evaluator *e, const ev_builtin_call *call, bool indices) {
  ev rows = call->args[0];
  if (rows.kind != EV_ROWS)
    return ev_fail(e, call->span, "expected sparse rows, found %s", ev_kind_name(rows));
  return ev_tensor(indices ? rows.rows->indices : rows.rows->values);
}

ev ev_builtin_row_indices(evaluator *e, const ev_builtin_call *call) {
  return part(e, call, true);
}

ev ev_builtin_row_values(evaluator *e, const ev_builtin_call *call) {
  return part(e, call, false);
}

ev ev_builtin_in_body(evaluator *e, const ev_builtin_call *call) {
  (void)call;
  return ev_bool(e->at.region);
}
