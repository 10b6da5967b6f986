// It runs seldom: compiled for size.
#include "base/tensor.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

// NULL: nothing.
static const char *fault_of(const leat_tensor *tensor) {
  if (!tensor) return "there is none";
  if (!leat_dtype_is_known(tensor->dtype)) return "its dtype is none";
  if (tensor->rank < 0 || tensor->rank > LEAT_MAX_RANK) return "its rank is none";
  int64_t bytes = leat_tensor_bytes(tensor);
  if (bytes < 0) return "its shape is none";
  if (bytes && !tensor->data) return "its data is NULL";
  bool strings = bytes && tensor->dtype == LEAT_str;
  return strings && !leat_strs_have_bytes(tensor->data, leat_tensor_elements(tensor))
             ? "the data of a string is NULL"
             : NULL;
}

leat_status leat_tensor_check(const leat_tensor *tensor, const char *name, leat_error *error) {
  const char *fault = fault_of(tensor);
  if (!fault) return LEAT_OK;
  return leat_fail(error, LEAT_INVALID, "the value of `%s`: %s", name, fault);
}

leat_tensor *leat_tensor_copy(leat_arena *arena, const leat_tensor *tensor) {
  leat_tensor *copy = leat_arena_memdup(arena, tensor, sizeof *tensor);
  copy->data = leat_arena_memdup(arena, tensor->data, (size_t)leat_tensor_bytes(tensor));
  if (tensor->dtype != LEAT_str) return copy;
  int64_t count = leat_tensor_elements(tensor);
  char *bytes = leat_arena_alloc(arena, (size_t)leat_strs_bytes(copy->data, count));
  leat_strs_copy(copy->data, copy->data, count, bytes);
  return copy;
}

void *leat_tensor_clone(const leat_tensor *tensor) {
  size_t size = (size_t)leat_tensor_bytes(tensor);
  bool strings = tensor->dtype == LEAT_str;
  uint64_t bytes = strings ? leat_strs_bytes(tensor->data, leat_tensor_elements(tensor)) : 0;
  char *block = bytes < PTRDIFF_MAX - size ? malloc(size + bytes + 1) : NULL;
  if (!block) return NULL;
  if (strings)
    leat_strs_copy((leat_str *)block, tensor->data, leat_tensor_elements(tensor), block + size);
  else if (size)
    memcpy(block, tensor->data, size);
  return block;
}

uint64_t leat_tensor_packed_size(const leat_tensor *tensor) {
  if (tensor->dtype == LEAT_str)
    return leat_strs_packed_size(tensor->data, leat_tensor_elements(tensor));
  return (uint64_t)leat_tensor_bytes(tensor);
}

void leat_tensor_pack(const leat_tensor *tensor, void *to) {
  size_t size = (size_t)leat_tensor_bytes(tensor);
  if (tensor->dtype == LEAT_str)
    leat_strs_pack(tensor->data, leat_tensor_elements(tensor), to);
  else if (size)
    memcpy(to, tensor->data, size);
}

static leat_status unpack_strings(int64_t count, const void *from, uint64_t size, void **out) {
  // Each string takes eight bytes of what came, so the elements are not much larger than that.
  if ((uint64_t)count > size / sizeof(uint64_t)) return LEAT_MISMATCH;
  size_t elements = (size_t)count * sizeof(leat_str);
  leat_str *strings = malloc(elements + size + 1);
  if (!strings) return LEAT_MEMORY;
  void *bytes = memcpy((char *)strings + elements, from, size);
  bool whole = leat_strs_unpack(strings, count, bytes, size);
  if (!whole) free(strings);
  *out = whole ? strings : NULL;
  return whole ? LEAT_OK : LEAT_MISMATCH;
}

const void *leat_tensor_packed(const leat_tensor *tensor, uint64_t *size, void **made) {
  *made = NULL;
  *size = leat_tensor_packed_size(tensor);
  if (tensor->dtype != LEAT_str) return tensor->data ? tensor->data : "";
  *made = *size < PTRDIFF_MAX ? malloc(*size + 1) : NULL;
  if (*made) leat_tensor_pack(tensor, *made);
  return *made;
}

leat_status leat_tensor_unpack(leat_tensor *tensor, const void *from, uint64_t size) {
  int64_t bytes = leat_tensor_bytes(tensor);
  tensor->data = NULL;
  if (bytes < 0) return LEAT_MISMATCH;
  if (tensor->dtype == LEAT_str)
    return unpack_strings(leat_tensor_elements(tensor), from, size, &tensor->data);
  if ((uint64_t)bytes != size) return LEAT_MISMATCH;
  tensor->data = malloc(size + 1);
  if (tensor->data && size) memcpy(tensor->data, from, size);
  return tensor->data ? LEAT_OK : LEAT_MEMORY;
}
