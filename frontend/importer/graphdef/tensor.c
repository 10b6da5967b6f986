// The data of a TensorProto: bytes as they lie in memory, or a list of numbers, of which the last
// one stands for all that are left.
#include "frontend/importer/graphdef/model.h"

#include <string.h>

bool tf_dtype(int64_t data_type, leat_dtype *out) {
  static const struct {
    int64_t data_type;
    leat_dtype dtype;
  } dtypes[] = {
      {TENSORFLOW__DATA_TYPE__DT_FLOAT, LEAT_f32},
      {TENSORFLOW__DATA_TYPE__DT_DOUBLE, LEAT_f64},
      {TENSORFLOW__DATA_TYPE__DT_INT32, LEAT_i32},
      {TENSORFLOW__DATA_TYPE__DT_UINT8, LEAT_u8},
      {TENSORFLOW__DATA_TYPE__DT_INT16, LEAT_i16},
      {TENSORFLOW__DATA_TYPE__DT_INT8, LEAT_i8},
      {TENSORFLOW__DATA_TYPE__DT_STRING, LEAT_str},
      {TENSORFLOW__DATA_TYPE__DT_COMPLEX64, LEAT_c64},
      {TENSORFLOW__DATA_TYPE__DT_INT64, LEAT_i64},
      {TENSORFLOW__DATA_TYPE__DT_BOOL, LEAT_bool},
      {TENSORFLOW__DATA_TYPE__DT_BFLOAT16, LEAT_bf16},
      {TENSORFLOW__DATA_TYPE__DT_UINT16, LEAT_u16},
      {TENSORFLOW__DATA_TYPE__DT_COMPLEX128, LEAT_c128},
      {TENSORFLOW__DATA_TYPE__DT_HALF, LEAT_f16},
      {TENSORFLOW__DATA_TYPE__DT_UINT32, LEAT_u32},
      {TENSORFLOW__DATA_TYPE__DT_UINT64, LEAT_u64},
  };
  enum { REFERENCE = 100 };
  if (data_type > REFERENCE) data_type -= REFERENCE;
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
    if (dtypes[i].data_type == data_type) {
      *out = dtypes[i].dtype;
      return true;
    }
  return false;
}

leat_status tf_tensor_type(const tf_tensor *tensor, const char *name, leat_tensor *out,
                           leat_error *error) {
  const Tensorflow__TensorShapeProto *shape = tensor->tensor_shape;
  *out = (leat_tensor){0};
  if (!tf_dtype(tensor->dtype, &out->dtype))
    return leat_fail(error, LEAT_UNSUPPORTED, "tensor `%s` is of data type %d, which Leat lacks",
                     name, (int)tensor->dtype);
  size_t rank = shape ? shape->n_dim : 0;
  if (rank > LEAT_MAX_RANK)
    return leat_fail(error, LEAT_UNSUPPORTED, "tensor `%s` has %zu axes; at most %d are supported",
                     name, rank, LEAT_MAX_RANK);
  out->rank = (int32_t)rank;
  for (size_t i = 0; i < rank; i++) out->shape[i] = shape->dim[i]->size;
  if (leat_tensor_bytes(out) >= 0) return LEAT_OK;
  return leat_fail(error, LEAT_INVALID, "tensor `%s` has a shape that no tensor has", name);
}

// A list of numbers: element i, or the last one.
typedef struct list {
  const void *items;
  size_t count, size; // of an item, in the message
} list;

static list list_of(const tf_tensor *t, leat_dtype dtype) {
  switch (dtype) {
  case LEAT_f32: return (list){t->float_val, t->n_float_val, sizeof(float)};
  case LEAT_f64: return (list){t->double_val, t->n_double_val, sizeof(double)};
  case LEAT_i64: return (list){t->int64_val, t->n_int64_val, sizeof(int64_t)};
  case LEAT_bool: return (list){t->bool_val, t->n_bool_val, sizeof(protobuf_c_boolean)};
  case LEAT_f16:
  case LEAT_bf16: return (list){t->half_val, t->n_half_val, sizeof(int32_t)};
  case LEAT_u32: return (list){t->uint32_val, t->n_uint32_val, sizeof(uint32_t)};
  case LEAT_u64: return (list){t->uint64_val, t->n_uint64_val, sizeof(uint64_t)};
  case LEAT_c64: return (list){t->scomplex_val, t->n_scomplex_val / 2, 2 * sizeof(float)};
  case LEAT_c128: return (list){t->dcomplex_val, t->n_dcomplex_val / 2, 2 * sizeof(double)};
  case LEAT_i8:
  case LEAT_i16:
  case LEAT_i32:
  case LEAT_u8:
  case LEAT_u16: return (list){t->int_val, t->n_int_val, sizeof(int32_t)};
  case LEAT_str: break;
  }
  return (list){0};
}

// Items are at least as large as elements, in the byte order of all machines that Leat runs on.
static void fill(const list *from, leat_tensor *out, size_t count) {
  size_t size = leat_dtype_size(out->dtype);
  for (size_t i = 0; i < count && from->count; i++) {
    size_t item = i < from->count ? i : from->count - 1;
    const char *at = (const char *)from->items + item * from->size;
    if (out->dtype == LEAT_bool)
      ((bool *)out->data)[i] = *(const protobuf_c_boolean *)(const void *)at != 0;
    else
      memcpy((char *)out->data + i * size, at, size);
  }
}

static void fill_strings(const tf_tensor *tensor, leat_tensor *out, size_t count) {
  leat_str *strings = out->data;
  for (size_t i = 0; i < count && tensor->n_string_val; i++) {
    size_t item = i < tensor->n_string_val ? i : tensor->n_string_val - 1;
    const ProtobufCBinaryData *bytes = &tensor->string_val[item];
    strings[i] = (leat_str){(const char *)bytes->data, bytes->len};
  }
}

leat_status tf_tensor_read(leat_arena *arena, const tf_tensor *tensor, const char *name,
                           leat_tensor *out, leat_error *error) {
  LEAT_TRY(tf_tensor_type(tensor, name, out, error));
  size_t bytes = (size_t)leat_tensor_bytes(out);
  size_t count = (size_t)leat_shape_elements(out->rank, out->shape);
  const ProtobufCBinaryData *content = &tensor->tensor_content;
  if (content->len && (content->len != bytes || out->dtype == LEAT_str))
    return leat_fail(error, LEAT_INVALID, "tensor `%s` has %zu bytes where its shape has %zu", name,
                     content->len, bytes);
  out->data = leat_arena_try_alloc(arena, bytes + 1);
  if (!out->data) return leat_fail(error, LEAT_MEMORY, "no memory for tensor `%s`", name);
  list numbers = list_of(tensor, out->dtype);
  if (content->len)
    memcpy(out->data, content->data, bytes);
  else if (out->dtype == LEAT_str)
    fill_strings(tensor, out, count);
  else
    fill(&numbers, out, count);
  return LEAT_OK;
}
