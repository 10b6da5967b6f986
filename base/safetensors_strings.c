// It runs seldom: compiled for size.
#include "base/safetensors_strings.h"

#include "base/portable.h"
#include "base/str.h"
#include "base/tensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char sizes_suffix[] = "#sizes", bytes_suffix[] = "#bytes";
enum { SUFFIX = sizeof sizes_suffix - 1 };

static leat_status fail_memory(leat_error *error) {
  return leat_fail(error, LEAT_MEMORY, "out of memory for the strings of a safetensors file");
}

// -- Reading -------------------------------------------------------------------------------------

// Whether this is the first half of a pair; names are text without NUL, so the key is, too.
static bool find_bytes(const leat_safetensors *file, const leat_named_tensor *sizes, char *key,
                       const leat_tensor **out) {
  size_t length = strlen(sizes->name);
  if (length < SUFFIX || strcmp(sizes->name + length - SUFFIX, sizes_suffix) != 0) return false;
  memcpy(key, sizes->name, length - SUFFIX);
  memcpy(key + length - SUFFIX, bytes_suffix, SUFFIX + 1);
  *out = leat_safetensors_find(file, key);
  return *out && (*out)->dtype == LEAT_u8 && (*out)->rank == 1 && sizes->tensor.dtype == LEAT_u64;
}

// Puts elements, which point into the file, in the place of the sizes, whose name loses its end;
// marks the bytes as gone.
static leat_status join(leat_named_tensor *sizes, leat_tensor *bytes, leat_str *elements,
                        leat_error *error) {
  if (!leat_strs_point(elements, leat_tensor_elements(&sizes->tensor), sizes->tensor.data,
                       bytes->data, (uint64_t)bytes->shape[0]))
    return leat_fail(error, LEAT_INVALID, "the sizes in tensor '%s' are not those of its bytes",
                     sizes->name);
  ((char *)sizes->name)[strlen(sizes->name) - SUFFIX] = '\0';
  sizes->tensor.dtype = LEAT_str;
  sizes->tensor.data = elements;
  bytes->rank = -1;
  return LEAT_OK;
}

leat_status leat_safetensors_join_strings(leat_safetensors *file, leat_error *error) {
  size_t longest = 0, kept = 0;
  int64_t elements = 0, used = 0;
  const leat_tensor **bytes = calloc(file->count + 1, sizeof *bytes);
  for (size_t i = 0; i < file->count; i++)
    if (strlen(file->tensors[i].name) > longest) longest = strlen(file->tensors[i].name);
  char *key = malloc(longest + 1);
  for (size_t i = 0; bytes && key && i < file->count; i++) {
    if (find_bytes(file, &file->tensors[i], key, &bytes[i]))
      elements += leat_tensor_elements(&file->tensors[i].tensor); // eight bytes of the file each
    else
      bytes[i] = NULL;
  }
  free(key);
  if (bytes && elements) file->elements = malloc((size_t)elements * sizeof *file->elements);
  leat_status status =
      !bytes || !key || (elements && !file->elements) ? fail_memory(error) : LEAT_OK;
  for (size_t i = 0; i < file->count && !status; i++) {
    leat_named_tensor *sizes = &file->tensors[i];
    if (!bytes[i]) continue;
    status = join(sizes, (leat_tensor *)bytes[i], file->elements + used, error);
    used += leat_tensor_elements(&sizes->tensor);
  }
  free(bytes);
  for (size_t i = 0; i < file->count && !status; i++)
    if (file->tensors[i].tensor.rank >= 0) file->tensors[kept++] = file->tensors[i];
  if (!status) file->count = kept;
  return status;
}

// -- Writing -------------------------------------------------------------------------------------

// What parting a tensor takes: its sizes, its bytes, and two names.
static uint64_t room_of(const leat_named_tensor *item) {
  const leat_str *strings = item->tensor.data;
  uint64_t bytes = leat_strs_packed_size(strings, leat_tensor_elements(&item->tensor));
  return bytes == UINT64_MAX ? bytes : bytes + 2 * (strlen(item->name) + SUFFIX + 1);
}

static char *put_name(char *at, const char *name, const char *suffix) {
  return at + sprintf(at, "%s%s", name, suffix) + 1;
}

// The sizes take the place of the tensor; `bytes` is a new one. Returns the end of what it used.
static char *part(leat_named_tensor *item, leat_named_tensor *bytes, char *at) {
  leat_tensor *tensor = &item->tensor;
  const leat_str *strings = tensor->data;
  int64_t count = leat_tensor_elements(tensor);
  char *sizes = at;
  leat_strs_pack(strings, count, at);
  at += (size_t)count * sizeof(uint64_t);
  uint64_t total = leat_strs_bytes(strings, count);
  bytes->tensor = (leat_tensor){.dtype = LEAT_u8, .rank = 1, .shape = {(int64_t)total}, .data = at};
  bytes->name = at += total;
  at = put_name(at, item->name, bytes_suffix);
  const char *name = at;
  at = put_name(at, item->name, sizes_suffix);
  item->name = name;
  tensor->dtype = LEAT_u64;
  tensor->data = sizes;
  return at;
}

leat_status leat_safetensors_part_strings(leat_named_tensor *tensors, size_t *count, void **memory,
                                          leat_error *error) {
  size_t given = *count;
  uint64_t room = 1;
  *memory = NULL;
  for (size_t i = 0; i < given; i++)
    if (tensors[i].tensor.dtype == LEAT_str &&
        __builtin_add_overflow(room, room_of(&tensors[i]), &room))
      return fail_memory(error);
  char *at = *memory = room < PTRDIFF_MAX ? malloc(room) : NULL;
  if (!at) return fail_memory(error);
  for (size_t i = 0; i < given; i++)
    if (tensors[i].tensor.dtype == LEAT_str) at = part(&tensors[i], &tensors[(*count)++], at);
  return LEAT_OK;
}
