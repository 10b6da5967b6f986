// Reading is a cursor over JSON of exactly one shape, three levels deep; decoded strings share one
// block as long as the header. Tables are sorted to find duplicates, holes and names.
//
//     {"__metadata__": {"key": "value"},
//      "W": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}
// It runs seldom: compiled for size.
#include "base/safetensors.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/safetensors_checksums.h"
#include "base/safetensors_complex.h"
#include "base/safetensors_parts.h"
#include "base/safetensors_strings.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "data is used as it lies in the file");

const char *const leat_safetensors_dtypes[LEAT_DTYPE_COUNT] = {
    [LEAT_bool] = "BOOL", [LEAT_i8] = "I8",   [LEAT_i16] = "I16",   [LEAT_i32] = "I32",
    [LEAT_i64] = "I64",   [LEAT_u8] = "U8",   [LEAT_u16] = "U16",   [LEAT_u32] = "U32",
    [LEAT_u64] = "U64",   [LEAT_f16] = "F16", [LEAT_bf16] = "BF16", [LEAT_f32] = "F32",
    [LEAT_f64] = "F64",   [LEAT_c64] = "C64",
};

// -- The JSON of a header ------------------------------------------------------------------------

typedef struct reader {
  leat_json json;
  leat_safetensors *out;
  size_t capacity, metadata_capacity;
  const unsigned char *data;
  size_t data_size;
  bool metadata_seen, verified;
} reader;

#define INVALID(r, ...) leat_fail((r)->json.error, LEAT_INVALID, __VA_ARGS__)

static leat_status read_sizes(reader *r, int64_t *out, int32_t limit, int32_t *out_count) {
  *out_count = 0;
  LEAT_TRY(leat_json_expect(&r->json, '['));
  if (leat_json_accept(&r->json, ']')) return LEAT_OK;
  do {
    if (*out_count == limit)
      return INVALID(r, "a list in the safetensors header has more than %d numbers", limit);
    LEAT_TRY(leat_json_size(&r->json, &out[(*out_count)++]));
  } while (leat_json_accept(&r->json, ','));
  return leat_json_expect(&r->json, ']');
}

static leat_status read_dtype(reader *r, leat_dtype *out) {
  const char *name;
  LEAT_TRY(leat_json_string(&r->json, &name));
  for (size_t i = 0; i < LEAT_DTYPE_COUNT; i++) {
    if (!leat_safetensors_dtypes[i] || strcmp(leat_safetensors_dtypes[i], name) != 0) continue;
    *out = (leat_dtype)i;
    return LEAT_OK;
  }
  return leat_fail(r->json.error, LEAT_UNSUPPORTED, "safetensors dtype '%.40s' is not supported",
                   name);
}

static leat_status read_tensor(reader *r, leat_named_tensor *out) {
  leat_tensor *tensor = &out->tensor;
  int64_t offsets[2] = {0};
  int32_t offset_count = 0;
  unsigned seen = 0, field;
  LEAT_TRY(leat_json_expect(&r->json, '{'));
  do {
    const char *key;
    LEAT_TRY(leat_json_string(&r->json, &key));
    LEAT_TRY(leat_json_expect(&r->json, ':'));
    if (strcmp(key, "dtype") == 0) {
      field = 1;
      LEAT_TRY(read_dtype(r, &tensor->dtype));
    } else if (strcmp(key, "shape") == 0) {
      field = 2;
      LEAT_TRY(read_sizes(r, tensor->shape, LEAT_MAX_RANK, &tensor->rank));
    } else if (strcmp(key, "data_offsets") == 0) {
      field = 4;
      LEAT_TRY(read_sizes(r, offsets, 2, &offset_count));
    } else {
      return INVALID(r, "tensor '%s' has an unknown field '%.40s'", out->name, key);
    }
    if (seen & field) return INVALID(r, "tensor '%s' has '%s' twice", out->name, key);
    seen |= field;
  } while (leat_json_accept(&r->json, ','));
  LEAT_TRY(leat_json_expect(&r->json, '}'));
  if (seen != 7 || offset_count != 2)
    return INVALID(r, "tensor '%s' lacks a dtype, a shape or two data_offsets", out->name);
  if (offsets[0] > offsets[1] || (uint64_t)offsets[1] > r->data_size)
    return INVALID(r, "the data of tensor '%s' lies outside the file", out->name);
  if (leat_tensor_bytes(tensor) != offsets[1] - offsets[0])
    return INVALID(r, "tensor '%s' has %lld bytes of data, which its dtype and shape do not need",
                   out->name, (long long)(offsets[1] - offsets[0]));
  tensor->data = (void *)(r->data + offsets[0]);
  return LEAT_OK;
}

static leat_status fail_memory(leat_error *error) {
  return leat_fail(error, LEAT_MEMORY, "out of memory for the table of a safetensors file");
}

static leat_status add_tensor(reader *r, leat_named_tensor tensor) {
  leat_safetensors *out = r->out;
  leat_named_tensor *grown =
      leat_memory_with_room(out->tensors, out->count, &r->capacity, sizeof tensor);
  if (!grown) return fail_memory(r->json.error);
  out->tensors = grown;
  out->tensors[out->count++] = tensor;
  return LEAT_OK;
}

static leat_status add_metadata(reader *r, leat_metadata item) {
  leat_safetensors *out = r->out;
  leat_metadata *grown =
      leat_memory_with_room(out->metadata, out->metadata_count, &r->metadata_capacity, sizeof item);
  if (!grown) return fail_memory(r->json.error);
  out->metadata = grown;
  out->metadata[out->metadata_count++] = item;
  return LEAT_OK;
}

static leat_status read_metadata(reader *r) {
  if (r->metadata_seen) return INVALID(r, "the safetensors header has '__metadata__' twice");
  r->metadata_seen = true;
  LEAT_TRY(leat_json_expect(&r->json, '{'));
  if (leat_json_accept(&r->json, '}')) return LEAT_OK;
  do {
    leat_metadata item;
    LEAT_TRY(leat_json_string(&r->json, &item.key));
    LEAT_TRY(leat_json_expect(&r->json, ':'));
    LEAT_TRY(leat_json_string(&r->json, &item.value));
    LEAT_TRY(add_metadata(r, item));
  } while (leat_json_accept(&r->json, ','));
  return leat_json_expect(&r->json, '}');
}

static leat_status read_header(reader *r) {
  if (r->json.at == r->json.end || *r->json.at != '{')
    return INVALID(r, "the safetensors header does not begin with '{'");
  r->json.at++;
  if (!leat_json_accept(&r->json, '}')) {
    do {
      leat_named_tensor item = {0};
      LEAT_TRY(leat_json_string(&r->json, &item.name));
      LEAT_TRY(leat_json_expect(&r->json, ':'));
      if (strcmp(item.name, "__metadata__") == 0) {
        LEAT_TRY(read_metadata(r));
        continue;
      }
      LEAT_TRY(read_tensor(r, &item));
      LEAT_TRY(add_tensor(r, item));
    } while (leat_json_accept(&r->json, ','));
    LEAT_TRY(leat_json_expect(&r->json, '}'));
  }
  leat_json_skip_space(&r->json);
  return r->json.at == r->json.end ? LEAT_OK
                                   : INVALID(r, "text follows the safetensors header's '}'");
}

// -- Files ---------------------------------------------------------------------------------------

int leat_by_metadata_key(const void *a, const void *b) {
  return strcmp(((const leat_metadata *)a)->key, ((const leat_metadata *)b)->key);
}

static int by_place(const void *a, const void *b) {
  const leat_tensor *x = &((const leat_named_tensor *)a)->tensor;
  const leat_tensor *y = &((const leat_named_tensor *)b)->tensor;
  if (x->data != y->data) return (const char *)x->data < (const char *)y->data ? -1 : 1;
  int64_t x_bytes = leat_tensor_bytes(x), y_bytes = leat_tensor_bytes(y);
  return x_bytes < y_bytes ? -1 : x_bytes > y_bytes;
}

static leat_status check_data(reader *r) {
  leat_safetensors *out = r->out;
  const unsigned char *next = r->data;
  if (out->count) qsort(out->tensors, out->count, sizeof *out->tensors, by_place);
  for (size_t i = 0; i < out->count; i++) {
    const leat_tensor *tensor = &out->tensors[i].tensor;
    if (tensor->data != next)
      return INVALID(r, "the data of tensor '%s' overlaps another or leaves a hole",
                     out->tensors[i].name);
    next += leat_tensor_bytes(tensor);
    for (const unsigned char *b = tensor->data; tensor->dtype == LEAT_bool && b < next; b++)
      if (*b > 1)
        return INVALID(r, "tensor '%s' has a bool that is neither 0 nor 1", out->tensors[i].name);
  }
  if (next != r->data + r->data_size)
    return INVALID(r, "%zu bytes at the end of the safetensors file belong to no tensor",
                   (size_t)(r->data + r->data_size - next));
  return LEAT_OK;
}

static leat_status check_names(reader *r) {
  leat_safetensors *out = r->out;
  if (out->count) qsort(out->tensors, out->count, sizeof *out->tensors, leat_by_tensor_name);
  for (size_t i = 1; i < out->count; i++)
    if (leat_by_tensor_name(&out->tensors[i - 1], &out->tensors[i]) == 0)
      return INVALID(r, "the name '%s' comes twice", out->tensors[i].name);
  if (out->metadata_count)
    qsort(out->metadata, out->metadata_count, sizeof *out->metadata, leat_by_metadata_key);
  for (size_t i = 1; i < out->metadata_count; i++)
    if (leat_by_metadata_key(&out->metadata[i - 1], &out->metadata[i]) == 0)
      return INVALID(r, "the metadata key '%s' comes twice", out->metadata[i].key);
  return LEAT_OK;
}

static leat_status parse(reader *r, const unsigned char *bytes, size_t size) {
  uint64_t length = 0;
  if (size < LEAT_SAFETENSORS_LENGTH)
    return INVALID(r, "not a safetensors file: shorter than 8 bytes");
  for (size_t i = LEAT_SAFETENSORS_LENGTH; i-- > 0;) length = length << 8 | bytes[i];
  if (length > LEAT_SAFETENSORS_LARGEST_HEADER)
    return INVALID(r, "not a safetensors file: its header would have %llu bytes",
                   (unsigned long long)length);
  if (size - LEAT_SAFETENSORS_LENGTH < length)
    return INVALID(r, "the safetensors header is cut off");
  r->json.at = (const char *)bytes + LEAT_SAFETENSORS_LENGTH;
  r->json.end = r->json.at + length;
  r->data = bytes + LEAT_SAFETENSORS_LENGTH + length;
  r->data_size = size - LEAT_SAFETENSORS_LENGTH - (size_t)length;
  r->out->strings = r->json.strings = malloc((size_t)length + 1);
  if (!r->json.strings) return fail_memory(r->json.error);
  LEAT_TRY(read_header(r));
  LEAT_TRY(check_data(r));
  LEAT_TRY(check_names(r));
  if (r->verified) LEAT_TRY(leat_safetensors_verify(r->out, r->json.error));
  leat_safetensors_drop_checksums(r->out);
  LEAT_TRY(leat_safetensors_join_strings(r->out, r->json.error));
  leat_safetensors_join_parts(r->out);
  return check_names(r); // NAME may be there beside its parts
}

static leat_status parse_all(leat_safetensors *out, const void *bytes, size_t size, bool verified,
                             leat_error *error) {
  *out = (leat_safetensors){0};
  reader r = {.json = {.where = "the safetensors header", .error = error},
              .out = out,
              .verified = verified};
  leat_status status = parse(&r, bytes, size);
  if (status) leat_safetensors_close(out);
  return status;
}

leat_status leat_safetensors_parse(leat_safetensors *out, const void *bytes, size_t size,
                                   leat_error *error) {
  return parse_all(out, bytes, size, false, error);
}

leat_status leat_safetensors_parse_verified(leat_safetensors *out, const void *bytes, size_t size,
                                            leat_error *error) {
  return parse_all(out, bytes, size, true, error);
}

leat_status leat_safetensors_open(leat_safetensors *out, const char *path, leat_error *error) {
  leat_file_view file;
  leat_error cause = {0};
  *out = (leat_safetensors){0};
  LEAT_TRY(leat_file_view_open(&file, path, error));
  leat_status status = leat_safetensors_parse(out, file.data, file.size, &cause);
  out->file = file;
  if (!status) return LEAT_OK;
  leat_safetensors_close(out);
  return leat_fail(error, status, "'%s': %s", path, cause.message);
}

void leat_safetensors_close(leat_safetensors *file) {
  free(file->tensors);
  free(file->metadata);
  free(file->strings);
  free(file->elements);
  leat_file_view_close(&file->file);
  *file = (leat_safetensors){0};
}

const leat_tensor *leat_safetensors_find(const leat_safetensors *file, const char *name) {
  leat_named_tensor wanted = {.name = name};
  if (!file->count) return NULL;
  leat_named_tensor *found =
      bsearch(&wanted, file->tensors, file->count, sizeof wanted, leat_by_tensor_name);
  return found ? &found->tensor : NULL;
}
