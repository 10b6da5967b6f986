// Rows by index: gather reads them, the scatters write them, one_hot marks them, check_index sees
// to it that there are such rows.
#include "kernel/lowering.h"
#include "ops/build.h"
#include "ops/ref.h"
#include "ops/shape.h"

// The result of gathering: x.dims[:axis] + indices.dims + x.dims[axis+1:]. For the
// scatters the shape of the updates.
static bool gathered(leat_shape_context *context, leat_type *out) {
  const leat_type *x = leat_shape_input(context, 0), *indices = leat_shape_input(context, 1);
  int32_t axis = (int32_t)leat_node_attr(context->node, "axis")->i;
  if (!leat_shape_axis(context, leat_node_attr(context->node, "axis")->i, x->rank)) return false;
  if (indices->dtype != LEAT_i32 && indices->dtype != LEAT_i64)
    return leat_shape_fail(context, "indices must be i32 or i64, not %s%s",
                           leat_dtype_name(indices->dtype),
                           leat_quotient_hint(context->node->inputs[1]));
  if (x->rank - 1 + indices->rank > LEAT_MAX_RANK)
    return leat_shape_fail(context, "rank %d, but at most %d is supported",
                           x->rank - 1 + indices->rank, LEAT_MAX_RANK);
  *out = (leat_type){.dtype = x->dtype};
  for (int32_t i = 0; i < axis; i++) out->dims[out->rank++] = x->dims[i];
  for (int32_t i = 0; i < indices->rank; i++) out->dims[out->rank++] = indices->dims[i];
  for (int32_t i = axis + 1; i < x->rank; i++) out->dims[out->rank++] = x->dims[i];
  return true;
}

bool shape_gather(leat_shape_context *context) {
  return gathered(context, &context->outputs[0]);
}

static bool scattered(leat_shape_context *context) {
  leat_type wanted;
  const leat_type *updates = leat_shape_input(context, 2);
  if (!gathered(context, &wanted) || !leat_shape_same_dtype(context, 0, 2)) return false;
  if (updates->rank != wanted.rank)
    return leat_shape_fail(context, "updates must be %s",
                           leat_type_text(context->graph->arena, &wanted));
  for (int32_t i = 0; i < wanted.rank; i++)
    if (!leat_shape_dims_equal(context, updates->dims[i], wanted.dims[i], "axis %d of the updates",
                               i))
      return false;
  context->outputs[0] = *leat_shape_input(context, 0);
  return true;
}

bool shape_scatter_set(leat_shape_context *context) {
  return scattered(context);
}
bool shape_scatter_add(leat_shape_context *context) {
  return scattered(context);
}
bool shape_scatter_mul(leat_shape_context *context) {
  return scattered(context);
}
bool shape_scatter_min(leat_shape_context *context) {
  return scattered(context);
}
bool shape_scatter_max(leat_shape_context *context) {
  return scattered(context);
}

// x as [outer, extent, inner] around the axis.
typedef struct rows {
  int64_t outer, extent, inner;
} rows;

static rows rows_of(const leat_tensor *x, int64_t axis) {
  return (rows){leat_shape_elements((int32_t)axis, x->shape), x->shape[axis],
                leat_shape_elements(x->rank - (int32_t)axis - 1, x->shape + axis + 1)};
}

// Of empty slices nothing is read or written, wherever they are.
static leat_status check_indices(leat_ref_context *context, const leat_tensor *indices, rows r) {
  int64_t count = r.outer && r.inner ? leat_ref_count(indices) : 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t index = leat_load_index(indices, i);
    if (index < 0 || index >= r.extent)
      return leat_ref_fail(context, LEAT_OUT_OF_RANGE, LEAT_SAYS_INDEX, (long long)index,
                           (long long)r.extent);
  }
  return LEAT_OK;
}

leat_status ref_gather(leat_ref_context *context) {
  const leat_tensor *x = &context->inputs[0], *indices = &context->inputs[1];
  rows r = rows_of(x, leat_node_attr(context->node, "axis")->i);
  int64_t count = leat_ref_count(indices), to = 0;
  LEAT_TRY(check_indices(context, indices, r));
  for (int64_t o = 0; o < r.outer; o++)
    for (int64_t i = 0; i < count; i++)
      for (int64_t e = 0; e < r.inner; e++)
        leat_copy_element(&context->outputs[0], to++, x,
                          (o * r.extent + leat_load_index(indices, i)) * r.inner + e);
  return LEAT_OK;
}

// The scatters: the result is x; then, in ascending order of the flattened indices, each update is
// combined with the element that its index names, as the element-wise op does it, or (NULL) put in
// its place. So of updates of one element, scatter_set's last one stays.
static leat_status scatter(leat_ref_context *context, leat_ref_function combine) {
  const leat_tensor *x = &context->inputs[0], *indices = &context->inputs[1];
  const leat_tensor *updates = &context->inputs[2];
  leat_tensor *out = &context->outputs[0];
  size_t size = leat_dtype_size(x->dtype);
  rows r = rows_of(x, leat_node_attr(context->node, "axis")->i);
  int64_t count = leat_ref_count(indices), from = 0;
  LEAT_TRY(check_indices(context, indices, r));
  for (int64_t i = 0; i < leat_ref_count(x); i++) leat_copy_element(out, i, x, i);
  for (int64_t o = 0; o < r.outer; o++)
    for (int64_t i = 0; i < count; i++)
      for (int64_t e = 0; e < r.inner; e++, from++) {
        int64_t to = (o * r.extent + leat_load_index(indices, i)) * r.inner + e;
        if (!combine) {
          leat_copy_element(out, to, updates, from);
          continue;
        }
        leat_tensor element = {.dtype = x->dtype, .data = (char *)out->data + (size_t)to * size};
        leat_tensor both[] = {element, element};
        both[1].data = (char *)updates->data + (size_t)from * size;
        leat_ref_context one = *context;
        one.inputs = both;
        one.outputs = &element;
        LEAT_TRY(combine(&one));
      }
  return LEAT_OK;
}

leat_status ref_scatter_set(leat_ref_context *context) {
  return scatter(context, NULL);
}
leat_status ref_scatter_add(leat_ref_context *context) {
  return scatter(context, ref_add);
}
leat_status ref_scatter_mul(leat_ref_context *context) {
  return scatter(context, ref_mul);
}
leat_status ref_scatter_min(leat_ref_context *context) {
  return scatter(context, ref_minimum);
}
leat_status ref_scatter_max(leat_ref_context *context) {
  return scatter(context, ref_maximum);
}

// The indices themselves, each at least 0 and below the extent.
bool shape_check_index(leat_shape_context *context) {
  return leat_shape_dim_ok(context, leat_node_attr(context->node, "extent")->dim) &&
         leat_shape_like_input(context);
}

leat_status ref_check_index(leat_ref_context *context) {
  int64_t extent;
  LEAT_TRY(leat_ref_dim(context, leat_node_attr(context->node, "extent")->dim, &extent));
  LEAT_TRY(check_indices(context, &context->inputs[0], (rows){1, extent, 1}));
  return ref_identity(context);
}

bool shape_one_hot(leat_shape_context *context) {
  leat_dtype dtype = (leat_dtype)leat_node_attr(context->node, "dtype")->i;
  leat_dim depth = leat_node_attr(context->node, "depth")->dim;
  leat_type *out = &context->outputs[0];
  *out = *leat_shape_input(context, 0);
  if (dtype != LEAT_bool && !leat_dtype_in_class(dtype, LEAT_CLASS_REAL))
    return leat_shape_fail(context, "one_hot gives real numbers or bool, not %s",
                           leat_dtype_name(dtype));
  if (!leat_shape_dim_ok(context, depth)) return false;
  if (out->rank == LEAT_MAX_RANK)
    return leat_shape_fail(context, "rank %d, but at most %d is supported", out->rank + 1,
                           LEAT_MAX_RANK);
  out->dtype = dtype;
  out->dims[out->rank++] = depth;
  return true;
}

leat_status ref_one_hot(leat_ref_context *context) {
  leat_tensor *out = &context->outputs[0];
  int64_t depth = out->shape[out->rank - 1];
  for (int64_t i = 0; i < leat_ref_count(&context->inputs[0]); i++) {
    int64_t index = leat_load_index(&context->inputs[0], i);
    if (index < 0 || index >= depth) continue; // a row of zeros
    if (!leat_store_signed(out->dtype, out->data, i * depth + index, 1))
      return leat_ref_unsupported(context);
  }
  return LEAT_OK;
}
