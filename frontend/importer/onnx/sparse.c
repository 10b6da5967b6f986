// A SparseTensorProto as the dense tensor that it stands for, made when the model is read.
#include "frontend/importer/onnx/model.h"

#include <string.h>

static leat_status unfit(const char *name, const char *why, leat_error *error) {
  return leat_fail(error, LEAT_INVALID, "sparse tensor `%s`: %s", name, why);
}

// The values' type in the shape of the whole.
static leat_status dense_type(const onnx_sparse *sparse, const char *name,
                              const leat_tensor *values, int64_t *left, leat_tensor *out,
                              leat_error *error) {
  onnx_tensor shape = *sparse->values;
  shape.dims = sparse->dims;
  shape.n_dims = sparse->n_dims;
  LEAT_TRY(onnx_tensor_type(&shape, name, out, error));
  if (values->dtype == LEAT_str || onnx_dtype_of(shape.data_type)->bits < 8)
    return leat_fail(error, LEAT_UNSUPPORTED,
                     "sparse tensor `%s` has elements of type %s, which is not supported: store it "
                     "dense",
                     name, onnx_dtype_of(shape.data_type)->name);
  if (leat_tensor_bytes(out) > *left)
    return leat_fail(
        error, LEAT_UNSUPPORTED,
        "sparse tensor `%s` takes %lld bytes when it is dense, of which %lld are left: "
        "compute with its parts instead",
        name, (long long)leat_tensor_bytes(out), (long long)*left);
  *left -= leat_tensor_bytes(out);
  return LEAT_OK;
}

static int64_t index_at(const leat_tensor *indices, int64_t i) {
  int64_t index; // which may lie anywhere
  memcpy(&index, (const char *)indices->data + (size_t)i * sizeof index, sizeof index);
  return index;
}

// Where value i is in the whole, row by row; below 0: nowhere. Indices are of the whole, or one of
// each axis.
static int64_t place_of(const leat_tensor *type, const leat_tensor *indices, int64_t i) {
  int64_t place = 0, count = leat_shape_elements(type->rank, type->shape);
  if (indices->rank == 1) return index_at(indices, i) < count ? index_at(indices, i) : -1;
  for (int32_t axis = 0; axis < type->rank; axis++) {
    int64_t index = index_at(indices, i * type->rank + axis);
    if (index < 0 || index >= type->shape[axis]) return -1;
    place = place * type->shape[axis] + index;
  }
  return place;
}

static leat_status scatter(const char *name, const leat_tensor *values, const leat_tensor *indices,
                           const leat_tensor *to, leat_error *error) {
  size_t size = leat_dtype_size(to->dtype);
  memset(to->data, 0, (size_t)leat_tensor_bytes(to));
  for (int64_t i = 0; i < values->shape[0]; i++) {
    int64_t place = place_of(to, indices, i);
    if (place < 0) return unfit(name, "an index is outside of its shape", error);
    memcpy((char *)to->data + (size_t)place * size, (const char *)values->data + (size_t)i * size,
           size);
  }
  return LEAT_OK;
}

leat_status onnx_dense(leat_arena *arena, const char *path, const onnx_sparse *sparse,
                       const char *name, int64_t *left, onnx_tensor **out, leat_error *error) {
  leat_tensor values, indices, dense;
  if (!sparse->values || !sparse->indices) return unfit(name, "it lacks values or indices", error);
  LEAT_TRY(onnx_tensor_read(arena, path, sparse->values, name, &values, error));
  LEAT_TRY(onnx_tensor_read(arena, path, sparse->indices, name, &indices, error));
  bool fits = values.rank == 1 && indices.dtype == LEAT_i64 && indices.rank >= 1 &&
              indices.rank <= 2 && indices.shape[0] == values.shape[0] &&
              (indices.rank == 1 || indices.shape[1] == (int64_t)sparse->n_dims);
  if (!fits) return unfit(name, "its values and indices do not fit each other", error);
  LEAT_TRY(dense_type(sparse, name, &values, left, &dense, error));
  size_t size = (size_t)leat_tensor_bytes(&dense);
  dense.data = leat_arena_try_alloc(arena, size + 1);
  if (!dense.data) return leat_fail(error, LEAT_MEMORY, "no memory for sparse tensor `%s`", name);
  LEAT_TRY(scatter(name, &values, &indices, &dense, error));
  *out = leat_new(arena, onnx_tensor);
  **out = (onnx_tensor)ONNX__TENSOR_PROTO__INIT;
  (*out)->name = leat_arena_strndup(arena, name, strlen(name));
  (*out)->data_type = sparse->values->data_type;
  (*out)->dims = sparse->dims;
  (*out)->n_dims = sparse->n_dims;
  (*out)->has_data_type = (*out)->has_raw_data = true;
  (*out)->raw_data = (ProtobufCBinaryData){size, dense.data};
  return LEAT_OK;
}
