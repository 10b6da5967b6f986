// It runs seldom: compiled for size.
#include "base/safetensors_checksums.h"

#include "base/checksum.h"
#include "base/safetensors_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char any_prefix[] = "checksum/", tensor_prefix[] = "checksum/tensor/",
                  key_prefix[] = "checksum/key/";

enum {
  ANY = sizeof any_prefix - 1,
  TENSOR = sizeof tensor_prefix - 1,
  KEY = sizeof key_prefix - 1,
  MOST_VALUE = 256, // a dtype, a shape of LEAT_MAX_RANK, 16 digits
};

static bool is_checksum(const leat_metadata *pair) {
  return strncmp(pair->key, any_prefix, ANY) == 0;
}

static int put_sum(char *out, const void *data, size_t size) {
  return sprintf(out, "xxh64:%016" PRIx64, leat_checksum_and_drop(data, size));
}

// "F32 [2,3] "; its length.
static int put_type(char *out, const leat_tensor *tensor) {
  int length = sprintf(out, "%s [", leat_safetensors_dtypes[tensor->dtype]);
  for (int32_t i = 0; i < tensor->rank; i++)
    length += sprintf(out + length, i ? ",%" PRId64 : "%" PRId64, tensor->shape[i]);
  return length + sprintf(out + length, "] ");
}

// -- Writing -------------------------------------------------------------------------------------

// Puts prefix and name at `at`, behind them the value, both as strings; returns the end.
static char *put_key(char *at, const char *prefix, const char *name, leat_metadata *out) {
  out->key = at;
  at += sprintf(at, "%s%s", prefix, name) + 1;
  out->value = at;
  return at;
}

leat_status leat_safetensors_add_checksums(const leat_named_tensor *tensors, size_t count,
                                           leat_metadata *metadata, size_t *metadata_count,
                                           void **memory, leat_error *error) {
  size_t given = *metadata_count, room = 1;
  for (size_t i = 0; i < count; i++) room += TENSOR + strlen(tensors[i].name) + 1 + MOST_VALUE;
  for (size_t i = 0; i < given; i++) room += KEY + strlen(metadata[i].key) + 1 + MOST_VALUE;
  char *at = *memory = malloc(room);
  if (!at) return leat_fail(error, LEAT_MEMORY, "out of memory for the checksums of a file");
  for (size_t i = 0; i < given; i++) {
    if (is_checksum(&metadata[i]))
      return leat_fail(error, LEAT_INVALID, "the metadata key '%s' is a checksum's",
                       metadata[i].key);
    at = put_key(at, key_prefix, metadata[i].key, &metadata[(*metadata_count)++]);
    at += put_sum(at, metadata[i].value, strlen(metadata[i].value)) + 1;
  }
  for (size_t i = 0; i < count; i++) {
    const leat_tensor *tensor = &tensors[i].tensor;
    at = put_key(at, tensor_prefix, tensors[i].name, &metadata[(*metadata_count)++]);
    at += put_type(at, tensor);
    at += put_sum(at, tensor->data, (size_t)leat_tensor_bytes(tensor)) + 1;
  }
  return LEAT_OK;
}

// -- Reading -------------------------------------------------------------------------------------

static const char *find_value(const leat_safetensors *file, const char *key) {
  leat_metadata wanted = {.key = key};
  const leat_metadata *found =
      bsearch(&wanted, file->metadata, file->metadata_count, sizeof wanted, leat_by_metadata_key);
  return found ? found->value : NULL;
}

static leat_status verify_tensor(const leat_safetensors *file, const char *name,
                                 const char *expected, leat_error *error) {
  char value[MOST_VALUE];
  const leat_tensor *tensor = leat_safetensors_find(file, name);
  if (!tensor)
    return leat_fail(error, LEAT_INVALID, "tensor '%s', of which it has a checksum, is missing",
                     name);
  int type = put_type(value, tensor);
  if (strncmp(value, expected, (size_t)type) != 0)
    return leat_fail(error, LEAT_INVALID, "tensor '%s' is damaged: it is %.*s, its checksum of %s",
                     name, type - 1, value, expected);
  put_sum(value + type, tensor->data, (size_t)leat_tensor_bytes(tensor));
  if (strcmp(value, expected) == 0) return LEAT_OK;
  return leat_fail(error, LEAT_INVALID, "tensor '%s' is damaged: its data has checksum %s, not %s",
                   name, value + type, expected + type);
}

static leat_status verify_pair(const leat_safetensors *file, const char *key, const char *expected,
                               leat_error *error) {
  char sum[MOST_VALUE];
  const char *value = find_value(file, key);
  if (!value)
    return leat_fail(error, LEAT_INVALID,
                     "the metadata key '%s', of which it has a checksum, is missing", key);
  put_sum(sum, value, strlen(value));
  if (strcmp(sum, expected) == 0) return LEAT_OK;
  return leat_fail(error, LEAT_INVALID,
                   "the metadata key '%s' is damaged: '%.40s' has checksum %s, not %s", key, value,
                   sum, expected);
}

static leat_status verify(const leat_safetensors *file, const leat_metadata *checksum,
                          leat_error *error) {
  const char *key = checksum->key, *value = checksum->value;
  if (strncmp(key, tensor_prefix, TENSOR) == 0)
    return verify_tensor(file, key + TENSOR, value, error);
  if (strncmp(key, key_prefix, KEY) == 0) return verify_pair(file, key + KEY, value, error);
  return leat_fail(error, LEAT_INVALID, "the metadata key '%s' is no checksum's", key);
}

leat_status leat_safetensors_verify(const leat_safetensors *file, leat_error *error) {
  size_t tensors = 0, checksums = 0;
  for (size_t i = 0; i < file->metadata_count; i++) {
    const leat_metadata *pair = &file->metadata[i];
    if (!is_checksum(pair)) continue;
    LEAT_TRY(verify(file, pair, error));
    checksums++;
    tensors += strncmp(pair->key, tensor_prefix, TENSOR) == 0;
  }
  if (!checksums || tensors == file->count) return LEAT_OK;
  for (size_t i = 0; i < file->count; i++) { // each checksum is one tensor's: some have none
    char *key = malloc(TENSOR + strlen(file->tensors[i].name) + 1);
    if (!key) return leat_fail(error, LEAT_MEMORY, "out of memory for the checksums of a file");
    sprintf(key, "%s%s", tensor_prefix, file->tensors[i].name);
    bool found = find_value(file, key);
    free(key);
    if (!found)
      return leat_fail(error, LEAT_INVALID, "tensor '%s' has no checksum, others have",
                       file->tensors[i].name);
  }
  return LEAT_OK;
}

void leat_safetensors_drop_checksums(leat_safetensors *file) {
  size_t kept = 0;
  for (size_t i = 0; i < file->metadata_count; i++)
    if (!is_checksum(&file->metadata[i])) file->metadata[kept++] = file->metadata[i];
  file->checksums = file->metadata_count - kept;
  file->metadata_count = kept;
}
