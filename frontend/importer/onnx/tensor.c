// The data of a tensor: raw bytes, a list of one of five types, or part of another file.
#include "frontend/importer/onnx/model.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const onnx_dtype dtypes[] = {
    [1] = {"FLOAT", LEAT_f32, 32, false},
    [2] = {"UINT8", LEAT_u8, 8, false},
    [3] = {"INT8", LEAT_i8, 8, false},
    [4] = {"UINT16", LEAT_u16, 16, false},
    [5] = {"INT16", LEAT_i16, 16, false},
    [6] = {"INT32", LEAT_i32, 32, false},
    [7] = {"INT64", LEAT_i64, 64, false},
    [8] = {"STRING", LEAT_str, 0, false},
    [9] = {"BOOL", LEAT_bool, 8, false},
    [10] = {"FLOAT16", LEAT_f16, 16, false},
    [11] = {"DOUBLE", LEAT_f64, 64, false},
    [12] = {"UINT32", LEAT_u32, 32, false},
    [13] = {"UINT64", LEAT_u64, 64, false},
    [14] = {"COMPLEX64", LEAT_c64, 64, false},
    [15] = {"COMPLEX128", LEAT_c128, 128, false},
    [16] = {"BFLOAT16", LEAT_bf16, 16, false},
    [17] = {"FLOAT8E4M3FN", LEAT_u8, 8, true},
    [18] = {"FLOAT8E4M3FNUZ", LEAT_u8, 8, true},
    [19] = {"FLOAT8E5M2", LEAT_u8, 8, true},
    [20] = {"FLOAT8E5M2FNUZ", LEAT_u8, 8, true},
    [21] = {"UINT4", LEAT_u8, 4, true},
    [22] = {"INT4", LEAT_u8, 4, true},
    [23] = {"FLOAT4E2M1", LEAT_u8, 4, true},
    [24] = {"FLOAT8E8M0", LEAT_u8, 8, true},
    [25] = {"UINT2", LEAT_u8, 2, true},
    [26] = {"INT2", LEAT_u8, 2, true},
};

const onnx_dtype *onnx_dtype_of(int64_t data_type) {
  bool known = data_type > 0 && data_type < (int64_t)(sizeof dtypes / sizeof *dtypes);
  return known ? &dtypes[data_type] : NULL;
}

leat_status onnx_tensor_type(const onnx_tensor *tensor, const char *name, leat_tensor *out,
                             leat_error *error) {
  const onnx_dtype *dtype = onnx_dtype_of(tensor->data_type);
  *out = (leat_tensor){0};
  if (!dtype)
    return leat_fail(error, LEAT_UNSUPPORTED, "tensor `%s`: data type %d is unknown", name,
                     tensor->data_type);
  if (tensor->n_dims > LEAT_MAX_RANK)
    return leat_fail(error, LEAT_UNSUPPORTED, "tensor `%s`: its rank is %zu, more than %d", name,
                     tensor->n_dims, LEAT_MAX_RANK);
  out->dtype = dtype->carrier;
  out->rank = (int32_t)tensor->n_dims;
  for (size_t i = 0; i < tensor->n_dims; i++) out->shape[i] = tensor->dims[i];
  if (leat_tensor_bytes(out) < 0)
    return leat_fail(error, LEAT_INVALID, "tensor `%s`: its shape is none", name);
  return LEAT_OK;
}

// -- Elements -------------------------------------------------------------------------------------

static leat_status wrong_size(const char *name, leat_error *error) {
  return leat_fail(error, LEAT_INVALID, "tensor `%s`: its data is not of the size of its shape",
                   name);
}

static leat_status reserve(leat_arena *arena, leat_tensor *out, const char *name,
                           leat_error *error) {
  out->data = leat_arena_try_alloc(arena, (size_t)leat_tensor_bytes(out) + 1);
  return out->data ? LEAT_OK : leat_fail(error, LEAT_MEMORY, "no memory for tensor `%s`", name);
}

// Codes of 4 and 2 bits, of which the first is in a byte's lowest ones; `byte` gives byte i.
static void unpack(const onnx_dtype *dtype, leat_tensor *out, int64_t count,
                   uint8_t (*byte)(const void *from, int64_t i), const void *from) {
  unsigned bits = dtype->bits, each = 8 / bits;
  uint8_t *to = out->data;
  for (int64_t i = 0; i < count; i++)
    to[i] = byte(from, i / each) >> (unsigned)(i % each) * bits & ((1u << bits) - 1);
}

static uint8_t raw_byte(const void *from, int64_t i) {
  return ((const uint8_t *)from)[i];
}

static uint8_t int32_byte(const void *from, int64_t i) {
  return (uint8_t)((const int32_t *)from)[i];
}

static leat_status read_raw(leat_arena *arena, const void *bytes, size_t size,
                            const onnx_dtype *dtype, const char *name, leat_tensor *out,
                            leat_error *error) {
  int64_t count = leat_shape_elements(out->rank, out->shape);
  if (!dtype->bits)
    return leat_fail(error, LEAT_INVALID, "tensor `%s`: strings are no raw data", name);
  if (size != ((uint64_t)count * dtype->bits + 7) / 8) return wrong_size(name, error);
  if (dtype->bits >= 8) {
    out->data = (void *)bytes;
    return LEAT_OK;
  }
  LEAT_TRY(reserve(arena, out, name, error));
  unpack(dtype, out, count, raw_byte, bytes);
  return LEAT_OK;
}

// The lists: where the data lies, how many, and the bytes of an element there.
typedef struct list {
  const void *data;
  size_t count, size;
} list;

static list list_of(const onnx_tensor *t, leat_dtype carrier) {
  switch (carrier) {
  case LEAT_f32: return (list){t->float_data, t->n_float_data, 4};
  case LEAT_c64: return (list){t->float_data, t->n_float_data / 2, 8};
  case LEAT_f64: return (list){t->double_data, t->n_double_data, 8};
  case LEAT_c128: return (list){t->double_data, t->n_double_data / 2, 16};
  case LEAT_i64: return (list){t->int64_data, t->n_int64_data, 8};
  case LEAT_u64:
  case LEAT_u32: return (list){t->uint64_data, t->n_uint64_data, 8};
  case LEAT_bool:
  case LEAT_i8:
  case LEAT_i16:
  case LEAT_i32:
  case LEAT_u8:
  case LEAT_u16:
  case LEAT_f16:
  case LEAT_bf16:
  case LEAT_str: break;
  }
  return (list){t->int32_data, t->n_int32_data, 4};
}

static leat_status read_strings(leat_arena *arena, const onnx_tensor *tensor, int64_t count,
                                const char *name, leat_tensor *out, leat_error *error) {
  if ((uint64_t)count != tensor->n_string_data) return wrong_size(name, error);
  LEAT_TRY(reserve(arena, out, name, error));
  leat_str *to = out->data;
  for (int64_t i = 0; i < count; i++) {
    const ProtobufCBinaryData *from = &tensor->string_data[i];
    to[i] = (leat_str){from->len ? (const char *)from->data : "", from->len};
  }
  return LEAT_OK;
}

// Numbers of a list, whose lowest bytes are the elements (little-endian, as all that Leat runs on).
static leat_status read_list(leat_arena *arena, const onnx_tensor *tensor, const onnx_dtype *dtype,
                             const char *name, leat_tensor *out, leat_error *error) {
  int64_t count = leat_shape_elements(out->rank, out->shape);
  if (!dtype->bits) return read_strings(arena, tensor, count, name, out, error);
  list from = list_of(tensor, dtype->carrier);
  uint64_t items = ((uint64_t)count * (dtype->bits < 8 ? dtype->bits : 8) + 7) / 8;
  if (from.count != items) return wrong_size(name, error);
  size_t size = leat_dtype_size(dtype->carrier);
  if (from.size == size) {
    out->data = (void *)from.data;
    return LEAT_OK;
  }
  LEAT_TRY(reserve(arena, out, name, error));
  if (dtype->bits < 8) {
    unpack(dtype, out, count, int32_byte, from.data);
    return LEAT_OK;
  }
  for (int64_t i = 0; i < count; i++)
    memcpy((char *)out->data + (size_t)i * size, (const char *)from.data + (size_t)i * from.size,
           size);
  return LEAT_OK;
}

// -- Other files ----------------------------------------------------------------------------------

static const char *external(const onnx_tensor *tensor, const char *key) {
  for (size_t i = 0; i < tensor->n_external_data; i++) {
    const Onnx__StringStringEntryProto *pair = tensor->external_data[i];
    if (pair->key && pair->value && strcmp(pair->key, key) == 0) return pair->value;
  }
  return NULL;
}

static bool external_number(const onnx_tensor *tensor, const char *key, int64_t otherwise,
                            int64_t *out) {
  const char *text = external(tensor, key);
  char *end = NULL;
  errno = 0;
  *out = text ? strtoll(text, &end, 10) : otherwise;
  return !text || (*text && !*end && !errno && *out >= 0);
}

typedef struct part {
  const char *folder, *location; // of the model, and of the file from there
  const char *file;              // both, for messages
  int64_t offset, size;
} part;

static leat_status find_part(leat_arena *arena, const char *path, const onnx_tensor *tensor,
                             const leat_tensor *type, const char *name, part *out,
                             leat_error *error) {
  const char *location = external(tensor, "location"), *slash = strrchr(path, '/');
  int64_t count = leat_shape_elements(type->rank, type->shape);
  unsigned bits = onnx_dtype_of(tensor->data_type)->bits;
  int64_t whole = (int64_t)(((uint64_t)count * bits + 7) / 8);
  if (!location || !leat_file_stays_beside(location)) // as the format demands
    return leat_fail(error, LEAT_INVALID,
                     "tensor `%s`: its data is in '%s', but only files beside the model are read",
                     name, location ? location : "");
  bool numbers = external_number(tensor, "offset", 0, &out->offset) &&
                 external_number(tensor, "length", whole, &out->size);
  if (!numbers || out->size != whole || out->offset > INT64_MAX - whole)
    return wrong_size(name, error);
  out->location = location;
  out->folder = !slash          ? "."
                : slash == path ? "/"
                                : leat_arena_strndup(arena, path, (size_t)(slash - path));
  out->file = slash ? leat_arena_printf(arena, "%s/%s", out->folder, location) : location;
  return LEAT_OK;
}

static leat_status read_part(int fd, const part *from, char *to, leat_error *error) {
  enum { MOST = 1 << 30 };
  for (int64_t done = 0; done < from->size;) {
    int64_t rest = from->size - done;
    ssize_t got = pread(fd, to + done, (size_t)(rest < MOST ? rest : MOST), from->offset + done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return leat_fail(error, LEAT_IO, "cannot read '%s': %s", from->file, strerror(errno));
    if (!got) return leat_fail(error, LEAT_INVALID, "'%s' changed while it was read", from->file);
    done += got;
  }
  return LEAT_OK;
}

// What lies in the folder under that name, which is no link; -1: `errno` says why not.
static int open_in(int folder, const char *name, size_t size, bool last) {
  char copy[NAME_MAX + 1];
  if (size > NAME_MAX) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memcpy(copy, name, size);
  copy[size] = 0;
  int how = last ? O_RDONLY | O_NONBLOCK : O_RDONLY | O_DIRECTORY;
  return openat(folder, copy, how | O_NOFOLLOW | O_CLOEXEC);
}

// Folder by folder: a link would lead to where the model's author wants.
static int open_beside(const part *from) {
  int fd = open(from->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (const char *at = from->location; fd >= 0;) {
    at += strspn(at, "/");
    size_t size = strcspn(at, "/");
    bool last = !at[size];
    int next = open_in(fd, at, size, last);
    int why = errno;
    close(fd);
    errno = why;
    fd = next;
    if (last) return fd;
    at += size;
  }
  return fd;
}

// The open file, which has the part: a model may say any size.
static leat_status open_part(const part *from, int *out, leat_error *error) {
  struct stat info;
  *out = open_beside(from);
  if (*out < 0 && (errno == ELOOP || errno == ENOTDIR))
    return leat_fail(error, LEAT_IO,
                     "'%s' is a link, or lies behind one, which may lead anywhere: put the file "
                     "itself beside the model",
                     from->file);
  if (*out < 0)
    return leat_fail(error, LEAT_IO, "cannot read '%s': %s", from->file, strerror(errno));
  leat_status status = LEAT_OK;
  if (fstat(*out, &info) || !S_ISREG(info.st_mode))
    status = leat_fail(error, LEAT_IO, "'%s' is no regular file", from->file);
  else if (info.st_size < from->offset + from->size)
    status = leat_fail(error, LEAT_INVALID, "'%s' is shorter than the model says", from->file);
  if (status) close(*out);
  return status;
}

static leat_status read_external(leat_arena *arena, const char *path, const onnx_tensor *tensor,
                                 const onnx_dtype *dtype, const char *name, leat_tensor *out,
                                 leat_error *error) {
  part from;
  int fd;
  LEAT_TRY(find_part(arena, path, tensor, out, name, &from, error));
  LEAT_TRY(open_part(&from, &fd, error));
  void *bytes = leat_arena_try_alloc(arena, (size_t)from.size + 1);
  leat_status status = bytes ? read_part(fd, &from, bytes, error)
                             : leat_fail(error, LEAT_MEMORY, "no memory for tensor `%s`", name);
  close(fd);
  LEAT_TRY(status);
  return read_raw(arena, bytes, (size_t)from.size, dtype, name, out, error);
}

leat_status onnx_tensor_check(leat_arena *arena, const char *path, const onnx_tensor *tensor,
                              const char *name, leat_error *error) {
  leat_tensor type;
  part from;
  int fd;
  LEAT_TRY(onnx_tensor_type(tensor, name, &type, error));
  if (tensor->data_location != ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL) return LEAT_OK;
  LEAT_TRY(find_part(arena, path, tensor, &type, name, &from, error));
  LEAT_TRY(open_part(&from, &fd, error));
  close(fd);
  return LEAT_OK;
}

static leat_status read_data(leat_arena *arena, const char *path, const onnx_tensor *tensor,
                             const char *name, leat_tensor *out, leat_error *error) {
  const onnx_dtype *dtype = onnx_dtype_of(tensor->data_type);
  if (tensor->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
    return read_external(arena, path, tensor, dtype, name, out, error);
  if (tensor->has_raw_data)
    return read_raw(arena, tensor->raw_data.data, tensor->raw_data.len, dtype, name, out, error);
  return read_list(arena, tensor, dtype, name, out, error);
}

leat_status onnx_tensor_read(leat_arena *arena, const char *path, const onnx_tensor *tensor,
                             const char *name, leat_tensor *out, leat_error *error) {
  LEAT_TRY(onnx_tensor_type(tensor, name, out, error));
  LEAT_TRY(read_data(arena, path, tensor, name, out, error));
  return out->data ? LEAT_OK : reserve(arena, out, name, error); // no elements
}

// -- The order of axes ----------------------------------------------------------------------------

typedef struct turned {
  char *out;
  const char *in;
  int64_t a_count, b_count, k_count;
} turned;

// out[k][b][a] = in[a][b][k]; `most` of a at a time, so that lines of both stay at hand.
__attribute__((always_inline)) static inline void turn_elements(const turned *t, size_t size) {
  enum { MOST = 64 };
  for (int64_t first = 0; first < t->a_count; first += MOST) {
    int64_t last = first + MOST < t->a_count ? first + MOST : t->a_count;
    for (int64_t b = 0; b < t->b_count; b++)
      for (int64_t k = 0; k < t->k_count; k++)
        for (int64_t a = first; a < last; a++)
          memcpy(t->out + (size_t)((k * t->b_count + b) * t->a_count + a) * size,
                 t->in + (size_t)((a * t->b_count + b) * t->k_count + k) * size, size);
  }
}

// An element is moved by an instruction where its size is a constant, else by a call.
static void turn(const turned *t, size_t size) {
  switch (size) {
  case 1: turn_elements(t, 1); return;
  case 2: turn_elements(t, 2); return;
  case 4: turn_elements(t, 4); return;
  case 8: turn_elements(t, 8); return;
  }
  turn_elements(t, size);
}

leat_status onnx_window_first(leat_arena *arena, leat_tensor *tensor, leat_error *error) {
  leat_tensor from = *tensor;
  int64_t taps = 1;
  for (int32_t i = 2; i < from.rank; i++) {
    tensor->shape[i - 2] = from.shape[i];
    taps *= from.shape[i];
  }
  tensor->shape[from.rank - 2] = from.shape[1];
  tensor->shape[from.rank - 1] = from.shape[0];
  if (!from.data) return LEAT_OK;
  tensor->data = leat_arena_try_alloc(arena, (size_t)leat_tensor_bytes(tensor) + 1);
  if (!tensor->data) return leat_fail(error, LEAT_MEMORY, "no memory for a tensor");
  turned t = {tensor->data, from.data, from.shape[0], from.shape[1], taps};
  turn(&t, leat_dtype_size(from.dtype));
  return LEAT_OK;
}
