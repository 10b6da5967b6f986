// Writing: the header as text, then the tensors' data as they lie in memory, in one atomic write.
// It runs seldom: compiled for size.
#include "base/recovery.h"
#include "base/safetensors_checksums.h"
#include "base/safetensors_complex.h"
#include "base/safetensors_parts.h"
#include "base/safetensors_strings.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER_ALIGNMENT = 8 };

static leat_status fail_memory(leat_error *error) {
  return leat_fail(error, LEAT_MEMORY, "out of memory for the table of a safetensors file");
}

// Larger elements first, as the reference implementation does, so that all data is aligned to its
// elements.
static int by_size_and_name(const void *a, const void *b) {
  const leat_named_tensor *x = a, *y = b;
  size_t x_size = leat_dtype_size(x->tensor.dtype), y_size = leat_dtype_size(y->tensor.dtype);
  if (x_size != y_size) return x_size > y_size ? -1 : 1;
  return strcmp(x->name, y->name);
}

static leat_status put_string(leat_text *json, const char *text, leat_error *error) {
  leat_text_add(json, "\"");
  for (size_t left = strlen(text), length; left; text += length, left -= length) {
    length = leat_utf8_character(text, left);
    if (!length)
      return leat_fail(error, LEAT_INVALID, "safetensors names and metadata must be UTF-8");
    if ((unsigned char)*text < 0x20)
      leat_text_add(json, "\\u%04x", (unsigned char)*text);
    else if (*text == '"' || *text == '\\')
      leat_text_add(json, "\\%c", *text);
    else
      leat_text_add_n(json, text, length);
  }
  leat_text_add(json, "\"");
  return LEAT_OK;
}

static leat_status put_metadata(leat_text *json, const leat_metadata *sorted, size_t count,
                                leat_error *error) {
  leat_text_add(json, "\"__metadata__\":{");
  for (size_t i = 0; i < count; i++) {
    if (i && strcmp(sorted[i - 1].key, sorted[i].key) == 0)
      return leat_fail(error, LEAT_INVALID, "the metadata key '%s' comes twice", sorted[i].key);
    if (i) leat_text_add(json, ",");
    LEAT_TRY(put_string(json, sorted[i].key, error));
    leat_text_add(json, ":");
    LEAT_TRY(put_string(json, sorted[i].value, error));
  }
  leat_text_add(json, "}");
  return LEAT_OK;
}

static leat_status put_tensor(leat_text *json, const leat_named_tensor *item, uint64_t *offset,
                              leat_error *error) {
  const leat_tensor *tensor = &item->tensor;
  int64_t bytes = leat_tensor_bytes(tensor);
  if (!leat_safetensors_dtypes[tensor->dtype])
    return leat_fail(error, LEAT_UNSUPPORTED, "'%s': safetensors files cannot hold %s", item->name,
                     leat_dtype_name(tensor->dtype));
  if (bytes < 0) return leat_fail(error, LEAT_INVALID, "'%s': the shape is too large", item->name);
  LEAT_TRY(put_string(json, item->name, error));
  leat_text_add(json, ":{\"dtype\":\"%s\",\"shape\":[", leat_safetensors_dtypes[tensor->dtype]);
  for (int32_t i = 0; i < tensor->rank; i++)
    leat_text_add(json, i ? ",%lld" : "%lld", (long long)tensor->shape[i]);
  leat_text_add(json, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)*offset,
                (unsigned long long)(*offset + (uint64_t)bytes));
  *offset += (uint64_t)bytes;
  return LEAT_OK;
}

// Puts the length and the header into `out`. The tensors are in the order of the file.
static leat_status put_header(leat_text *out, const leat_named_tensor *tensors, size_t count,
                              const leat_metadata *metadata, size_t metadata_count,
                              leat_error *error) {
  uint64_t offset = 0;
  leat_text_add_n(out, (char[LEAT_SAFETENSORS_LENGTH]){0}, LEAT_SAFETENSORS_LENGTH);
  leat_text_add(out, "{");
  if (metadata_count) LEAT_TRY(put_metadata(out, metadata, metadata_count, error));
  for (size_t i = 0; i < count; i++) {
    if (i || metadata_count) leat_text_add(out, ",");
    LEAT_TRY(put_tensor(out, &tensors[i], &offset, error));
  }
  leat_text_add(out, "}");
  while (out->size % HEADER_ALIGNMENT) leat_text_add(out, " ");
  uint64_t length = out->size - LEAT_SAFETENSORS_LENGTH;
  if (length > LEAT_SAFETENSORS_LARGEST_HEADER)
    return leat_fail(error, LEAT_INVALID, "too many tensors for one safetensors file");
  for (int i = 0; i < LEAT_SAFETENSORS_LENGTH; i++) out->data[i] = (char)(length >> (8 * i));
  return LEAT_OK;
}

// Sorts by name to find names that come twice, then into the order of the file.
static leat_status sort_tensors(leat_named_tensor *tensors, size_t count, leat_error *error) {
  if (!count) return LEAT_OK;
  qsort(tensors, count, sizeof *tensors, leat_by_tensor_name);
  for (size_t i = 0; i < count; i++) {
    if (strcmp(tensors[i].name, "__metadata__") == 0)
      return leat_fail(error, LEAT_INVALID, "a tensor cannot be named '__metadata__'");
    if (i && strcmp(tensors[i - 1].name, tensors[i].name) == 0)
      return leat_fail(error, LEAT_INVALID, "the name '%s' comes twice", tensors[i].name);
  }
  qsort(tensors, count, sizeof *tensors, by_size_and_name);
  return LEAT_OK;
}

// The work of leat_safetensors_write on copies of its lists, which it may sort; that of the
// metadata has room for the checksums.
static leat_status write_sorted(const char *path, leat_named_tensor *tensors, size_t count,
                                leat_metadata *metadata, size_t metadata_count, leat_bytes *pieces,
                                leat_text *header, void **checksums, leat_error *error) {
  LEAT_TRY(sort_tensors(tensors, count, error));
  LEAT_TRY(
      leat_safetensors_add_checksums(tensors, count, metadata, &metadata_count, checksums, error));
  if (metadata_count) qsort(metadata, metadata_count, sizeof *metadata, leat_by_metadata_key);
  leat_status status; // what is held of the lists is freed where it was made
  LEAT_RECOVER(status, put_header(header, tensors, count, metadata, metadata_count, error));
  if (status) return leat_fail(error, status, "no memory for the header of %s", path);
  pieces[0] = (leat_bytes){header->data, header->size};
  for (size_t i = 0; i < count; i++)
    pieces[i + 1] =
        (leat_bytes){tensors[i].tensor.data, (size_t)leat_tensor_bytes(&tensors[i].tensor)};
  return leat_file_write(path, pieces, count + 1, LEAT_FILE_DURABLE, error);
}

leat_status leat_safetensors_write(const char *path, const leat_named_tensor *tensors, size_t count,
                                   const leat_metadata *metadata, size_t metadata_count,
                                   leat_error *error) {
  leat_named_tensor *sorted = calloc(2 * count + 1, sizeof *sorted);
  leat_metadata *pairs = calloc(2 * metadata_count + 2 * count + 1, sizeof *pairs);
  leat_bytes *pieces = calloc(2 * count + 1, sizeof *pieces);
  void *strings = NULL, *names = NULL, *checksums = NULL;
  leat_text header = {0};
  leat_status status = LEAT_OK;
  if (!sorted || !pairs || !pieces || !leat_text_reserve(&header, 1)) status = fail_memory(error);
  if (!status) {
    if (count) memcpy(sorted, tensors, count * sizeof *sorted);
    if (metadata_count) memcpy(pairs, metadata, metadata_count * sizeof *pairs);
    status = leat_safetensors_part_strings(sorted, &count, &strings, error);
  }
  if (!status) status = leat_safetensors_part_complex(sorted, count, &names, error);
  if (!status)
    status = write_sorted(path, sorted, count, pairs, metadata_count, pieces, &header, &checksums,
                          error);
  free(sorted);
  free(pairs);
  free(pieces);
  free(strings);
  free(names);
  free(checksums);
  leat_text_finish(&header);
  return status;
}
