// Sparse rows of which the first `count` are meant; those behind them are zeros of row 0. A branch
// that may not be taken gives such, and a loop that does so in some turns, one turn's behind the
// other's. They never leave the walk: what a rule and the text are handed has as many rows as there
// are, or is the whole tensor inside of a region, which would be none of launches if it computed a
// dim.
#include "frontend/values/rows.h"

#include "frontend/values/region.h"
#include "frontend/values/tensors.h"

ev ev_count_rows(evaluator *e, const leat_type *type, leat_value indices, leat_value values,
                 leat_value count) {
  ev rows = ev_make_rows(e, type, ev_tensor(indices), ev_tensor(values));
  rows.rows->count = count;
  return rows;
}

leat_value ev_row_count(evaluator *e, ev rows, leat_span span) {
  if (rows.rows->count.node) return rows.rows->count;
  ev all = ev_of_dim(leat_value_type(rows.rows->values)->dims[0]);
  return ev_as_tensor(e, all, LEAT_i64, span);
}

static leat_value op(evaluator *e, leat_op op, const leat_value *inputs, uint32_t count,
                     const leat_attr *attrs, leat_span span) {
  ev values[3];
  for (uint32_t i = 0; i < count; i++) {
    if (!inputs[i].node) return (leat_value){0};
    values[i] = ev_tensor(inputs[i]);
  }
  ev result = ev_op(e, op, values, count, attrs, span, NULL);
  return result.kind == EV_TENSOR ? result.tensor : (leat_value){0};
}

leat_value ev_put_rows(evaluator *e, leat_value table, leat_value at, leat_value rows,
                       leat_span span) {
  leat_attr axis = {.i = 0};
  leat_dim *count = leat_arena_memdup(e->arena, leat_value_type(rows)->dims, sizeof *count);
  leat_attr numbers[] = {{.count = 1, .dims = count}, {.i = 0}, {.i = LEAT_i64}};
  leat_value place[] = {op(e, LEAT_OP_iota, NULL, 0, numbers, span), at};
  leat_value inputs[] = {table, op(e, LEAT_OP_add, place, 2, NULL, span), rows};
  return op(e, LEAT_OP_scatter_set, inputs, 3, &axis, span);
}

// b's rows behind those of a that are meant.
static leat_value put_behind(evaluator *e, leat_value a, leat_value count, leat_value b,
                             leat_span span) {
  leat_attr axis = {.i = 0}, dtype = {.i = (int64_t)leat_value_type(a)->dtype};
  if (leat_value_type(b)->dtype != leat_value_type(a)->dtype)
    b = op(e, LEAT_OP_cast, &b, 1, &dtype, span);
  if (!b.node) return b;
  leat_value both[] = {a, ev_literal_tensor(e, ev_int(0), leat_value_type(b), NULL, span)};
  leat_value table = op(e, LEAT_OP_concat, both, 2, &axis, span);
  return table.node ? ev_put_rows(e, table, count, b, span) : table;
}

ev ev_join_counted(evaluator *e, ev a, ev b, leat_span span) {
  leat_value counts[] = {ev_row_count(e, a, span), ev_row_count(e, b, span)};
  leat_value indices = put_behind(e, a.rows->indices, counts[0], b.rows->indices, span);
  leat_value values = put_behind(e, a.rows->values, counts[0], b.rows->values, span);
  leat_value count = op(e, LEAT_OP_add, counts, 2, NULL, span);
  if (!indices.node || !values.node || !count.node) return ev_error();
  return ev_count_rows(e, &a.rows->type, indices, values, count);
}

// The first `count` rows.
static ev first_rows(evaluator *e, leat_value rows, leat_dim count, leat_span span) {
  const leat_type *type = leat_value_type(rows);
  uint32_t rank = (uint32_t)type->rank;
  leat_dim *size = leat_arena_memdup(e->arena, type->dims, sizeof type->dims);
  int64_t *ones = leat_new_array(e->arena, int64_t, rank);
  for (uint32_t i = 0; i < rank; i++) ones[i] = 1;
  size[0] = count;
  leat_attr attrs[] = {{.count = rank, .dims = leat_new_array(e->arena, leat_dim, rank)},
                       {.count = rank, .dims = size},
                       {.count = rank, .ints = ones}};
  ev value = ev_tensor(rows);
  return ev_op(e, LEAT_OP_slice, &value, 1, attrs, span, NULL);
}

// Into a tensor with one row more, which is the row 0 of one that has none.
ev ev_add_counted(evaluator *e, ev tensor, ev rows, leat_span span) {
  const leat_type *type = ev_tensor_type(tensor);
  leat_type one = *type;
  leat_attr axis = {.i = 0};
  one.dims[0] = leat_dim_const(1);
  leat_value both[] = {tensor.tensor, ev_literal_tensor(e, ev_int(0), &one, NULL, span)};
  leat_value more[] = {op(e, LEAT_OP_concat, both, 2, &axis, span), rows.rows->indices,
                       rows.rows->values};
  leat_value sum = op(e, LEAT_OP_scatter_add, more, 3, &axis, span);
  return sum.node ? first_rows(e, sum, type->dims[0], span) : ev_error();
}

ev ev_settle_rows(evaluator *e, ev value, leat_span span) {
  if (value.kind != EV_ROWS || !value.rows->count.node) return value;
  if (e->at.region) {
    leat_value whole = ev_rows_dense(e, value, span);
    return whole.node ? ev_tensor(whole) : ev_error();
  }
  ev dim = ev_dynamic(e, ev_tensor(value.rows->count), span);
  if (dim.kind != EV_DIM) return ev_error();
  ev indices = first_rows(e, value.rows->indices, dim.dim, span);
  ev values = first_rows(e, value.rows->values, dim.dim, span);
  return ev_make_rows(e, &value.rows->type, indices, values);
}
