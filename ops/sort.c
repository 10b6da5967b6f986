// sort, argsort, top_k, searchsorted. The order is NumPy's: by value, -0 and +0 equal, NaN greater
// than all else, strings by bytes; what is equal keeps its order, also with `descending` (where NaN
// comes first). top_k gives the first k of the falling order, and where they are. searchsorted
// gives the first place, or with side="right" the last, where a value could be put in; what is not
// sorted gives some place between 0 and n. Places are i32.
#define _GNU_SOURCE
#include "base/str.h"
#include "ops/axis.h"
#include "ops/ref.h"
#include "ops/shape.h"

#include <stdlib.h>
#include <string.h>

// -- Shapes ---------------------------------------------------------------------------------------

static bool shape_sorted(leat_shape_context *context) {
  int axis = leat_shape_axis_attr(context);
  return axis >= 0 && leat_shape_claim_counted(context, leat_shape_input(context, 0)->dims[axis]) &&
         leat_shape_like_input(context);
}

bool shape_sort(leat_shape_context *context) {
  return shape_sorted(context);
}

bool shape_argsort(leat_shape_context *context) {
  if (!shape_sorted(context)) return false;
  context->outputs[0].dtype = LEAT_i32;
  return true;
}

bool shape_top_k(leat_shape_context *context) {
  int axis = (int)leat_node_attr(context->node, "axis")->i;
  leat_dim k = leat_node_attr(context->node, "k")->dim;
  if (!shape_sorted(context) || !leat_shape_dim_ok(context, k)) return false;
  leat_dim extent = leat_shape_input(context, 0)->dims[axis];
  leat_claim fits = {.says = leat_arena_printf(context->graph->arena,
                                               "k is %%lld, but axis %d has %%lld elements", axis),
                     .count = 2,
                     .values = {k, extent}};
  if (!leat_dim_sub(context->graph->dims, extent, k, &fits.room))
    return leat_shape_fail(context, "too many elements");
  if (!leat_shape_claim(context, &fits)) return false;
  context->outputs[0].dims[axis] = k;
  context->outputs[1] = context->outputs[0];
  context->outputs[1].dtype = LEAT_i32;
  return true;
}

// -1: neither left nor right.
static int side_of(const leat_node *node) {
  const char *side = leat_node_attr(node, "side")->string;
  return !strcmp(side, "left") ? 0 : !strcmp(side, "right") ? 1 : -1;
}

bool shape_searchsorted(leat_shape_context *context) {
  const leat_type *sorted = leat_shape_input(context, 0);
  if (!leat_shape_same_dtype(context, 0, 1)) return false;
  if (sorted->rank != 1)
    return leat_shape_fail(context, "expected sorted values of rank 1, found rank %d",
                           sorted->rank);
  if (side_of(context->node) < 0)
    return leat_shape_fail(context, "side is \"left\" or \"right\", not \"%s\"",
                           leat_node_attr(context->node, "side")->string);
  if (!leat_shape_claim_counted(context, sorted->dims[0])) return false;
  context->outputs[0] = *leat_shape_input(context, 1);
  context->outputs[0].dtype = LEAT_i32;
  return true;
}

// -- Values ---------------------------------------------------------------------------------------

// -1, 0 or 1: element i before, equal to or after element j.
static int compare_elements(const leat_tensor *x, int64_t i, int64_t j) {
#define COMPARE(ID, T, WIDE, _)                                                                    \
  case ID: {                                                                                       \
    T a = ((const T *)x->data)[i], b = ((const T *)x->data)[j];                                    \
    bool a_is_nan = a != a, b_is_nan = b != b;                                                     \
    if (a_is_nan || b_is_nan) return a_is_nan - b_is_nan;                                          \
    return (a > b) - (a < b);                                                                      \
  }
  switch (x->dtype) {
    LEAT_BOOL_CASES(COMPARE, )
    LEAT_SIGNED_CASES(COMPARE, )
    LEAT_UNSIGNED_CASES(COMPARE, )
    LEAT_FLOAT_CASES(COMPARE, )
  case LEAT_str:
    return leat_str_compare(((const leat_str *)x->data)[i], ((const leat_str *)x->data)[j]);
  default: return 0;
  }
#undef COMPARE
}

typedef struct sorter {
  const leat_tensor *x;
  leat_axis_view view;
  bool descending;
  int64_t row; // [outer, inner] as one number
} sorter;

// Position in the tensor of element i of the row, when rows are `length` long.
static int64_t position(const sorter *s, int64_t length, int64_t i) {
  return (s->row / s->view.inner * length + i) * s->view.inner + s->row % s->view.inner;
}

static int compare_places(const void *a, const void *b, void *context) {
  const sorter *s = context;
  int64_t i = *(const int64_t *)a, j = *(const int64_t *)b;
  int order = compare_elements(s->x, position(s, s->view.n, i), position(s, s->view.n, j));
  if (s->descending) order = -order;
  return order ? order : (i > j) - (i < j);
}

// Of each row the first `wanted` elements of the order, and where they are; either may be NULL.
static leat_status order_rows(leat_ref_context *context, bool descending, int64_t wanted,
                              leat_tensor *values, leat_tensor *places) {
  sorter s = {.x = &context->inputs[0], .descending = descending};
  s.view = leat_axis_view_of(s.x, leat_node_attr(context->node, "axis")->i);
  if (wanted > s.view.n)
    return leat_ref_fail(context, LEAT_OUT_OF_RANGE, "k is %lld, but the axis has %lld elements",
                         (long long)wanted, (long long)s.view.n);
  int64_t *order = malloc(((size_t)s.view.n + 1) * sizeof *order);
  if (!order) return leat_ref_fail(context, LEAT_MEMORY, "no memory for a row");
  for (s.row = 0; s.row < s.view.outer * s.view.inner; s.row++) {
    for (int64_t i = 0; i < s.view.n; i++) order[i] = i;
    qsort_r(order, (size_t)s.view.n, sizeof *order, compare_places, &s);
    for (int64_t i = 0; i < wanted; i++) {
      int64_t to = position(&s, wanted, i);
      if (values) leat_copy_element(values, to, s.x, position(&s, s.view.n, order[i]));
      if (places) ((int32_t *)places->data)[to] = (int32_t)order[i];
    }
  }
  free(order);
  return LEAT_OK;
}

static int64_t extent_of(const leat_ref_context *context) {
  return context->inputs[0].shape[leat_node_attr(context->node, "axis")->i];
}

leat_status ref_sort(leat_ref_context *context) {
  bool descending = leat_node_attr(context->node, "descending")->i;
  return order_rows(context, descending, extent_of(context), &context->outputs[0], NULL);
}

leat_status ref_argsort(leat_ref_context *context) {
  bool descending = leat_node_attr(context->node, "descending")->i;
  return order_rows(context, descending, extent_of(context), NULL, &context->outputs[0]);
}

leat_status ref_top_k(leat_ref_context *context) {
  int64_t k;
  LEAT_TRY(leat_ref_dim(context, leat_node_attr(context->node, "k")->dim, &k));
  return order_rows(context, true, k, &context->outputs[0], &context->outputs[1]);
}

leat_status ref_searchsorted(leat_ref_context *context) {
  const leat_tensor *sorted = &context->inputs[0], *values = &context->inputs[1];
  bool right = side_of(context->node) == 1;
  leat_str pair_data[2]; // the largest of the elements
  leat_tensor pair = {.dtype = sorted->dtype, .rank = 1, .shape = {2}, .data = pair_data};
  for (int64_t i = 0; i < leat_ref_count(values); i++) {
    int64_t low = 0, high = sorted->shape[0]; // what is below `low` is before the value
    leat_copy_element(&pair, 0, values, i);
    while (low < high) {
      int64_t middle = low + (high - low - 1) / 2;
      leat_copy_element(&pair, 1, sorted, middle);
      int order = compare_elements(&pair, 1, 0);
      if (order < 0 || (right && order == 0))
        low = middle + 1;
      else
        high = middle;
    }
    ((int32_t *)context->outputs[0].data)[i] = (int32_t)low;
  }
  return LEAT_OK;
}

// -- Code -----------------------------------------------------------------------------------------

// Room for the keys and places of a row in each tile, twice.
static bool order_call(leat_dims *dims, const leat_node *node, const char *function,
                       int64_t descending, leat_dim wanted, double cost, leat_library_call *out) {
  enum { MERGED = 8 }; // strings, which have no keys
  const leat_type *x = leat_value_type(node->inputs[0]);
  if (x->dtype == LEAT_str) cost *= MERGED;
  if (!leat_library_rows(dims, node, function, cost, out)) return false;
  leat_dim n = x->dims[leat_node_attr(node, "axis")->i];
  leat_dim each = leat_dim_const(leat_dtype_size(x->dtype) >= 8 ? 32 : 16);
  leat_library_scalar(out, leat_dim_const(descending));
  leat_library_scalar(out, wanted);
  return leat_dim_mul(dims, out->tiles, n, &out->scratch) &&
         leat_dim_mul(dims, out->scratch, each, &out->scratch) &&
         leat_dim_add(dims, out->scratch, leat_dim_const(8), &out->scratch);
}

bool library_sort(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  return order_call(dims, node, "sort", leat_node_attr(node, "descending")->i,
                    leat_value_type(node->inputs[0])->dims[leat_node_attr(node, "axis")->i], 15,
                    out);
}

bool library_argsort(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  return order_call(dims, node, "argsort", leat_node_attr(node, "descending")->i,
                    leat_value_type(node->inputs[0])->dims[leat_node_attr(node, "axis")->i], 15,
                    out);
}

bool library_top_k(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  return order_call(dims, node, "top_k", 1, leat_node_attr(node, "k")->dim, 5, out);
}

bool library_searchsorted(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  enum { EACH = 1024, NANOSECONDS = 50 };
  const leat_type *sorted = leat_value_type(node->inputs[0]);
  leat_dim count, each = leat_dim_const(EACH), tiles;
  *out = (leat_library_call){.function = "searchsorted", .work = (double)EACH * NANOSECONDS};
  if (!leat_type_elements(dims, leat_value_type(node->inputs[1]), &count) ||
      !leat_dim_add(dims, count, leat_dim_const(EACH - 1), &tiles) ||
      !leat_dim_floordiv(dims, tiles, each, &out->tiles))
    return false;
  leat_dim scalars[] = {leat_dim_const((int64_t)sorted->dtype), sorted->dims[0], count, each,
                        leat_dim_const(side_of(node))};
  for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++)
    leat_library_scalar(out, scalars[i]);
  return true;
}
