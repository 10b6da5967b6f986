// Properties of element types, read from the one table in leat/dtype.h, and sizes of shapes with
// checked arithmetic.
// It runs seldom: compiled for size.
#include "leat/dtype.h"
#include "base/portable.h"

#include <assert.h>
#include <string.h>

typedef struct dtype_row {
  char name[8]; // not where it is: a table without pointers needs no relocations
  uint8_t size;
  leat_dtype_kind kind;
} dtype_row;

static const dtype_row rows[LEAT_DTYPE_COUNT] = {
#define X(id, size, kind) [LEAT_##id] = {#id, size, LEAT_KIND_##kind},
    LEAT_DTYPE_LIST(X)
#undef X
};

bool leat_dtype_is_known(leat_dtype dtype) {
  return (size_t)dtype < LEAT_DTYPE_COUNT;
}

static const dtype_row *row_of(leat_dtype dtype) {
  assert(leat_dtype_is_known(dtype));
  return &rows[dtype];
}

size_t leat_dtype_size(leat_dtype dtype) {
  return row_of(dtype)->size;
}

const char *leat_dtype_name(leat_dtype dtype) {
  return leat_dtype_is_known(dtype) ? row_of(dtype)->name : "no dtype";
}

leat_dtype_kind leat_dtype_kind_of(leat_dtype dtype) {
  return row_of(dtype)->kind;
}

bool leat_dtype_parse(const char *text, size_t length, leat_dtype *out) {
  for (size_t i = 0; i < LEAT_DTYPE_COUNT; i++) {
    if (strlen(rows[i].name) == length && memcmp(rows[i].name, text, length) == 0) {
      *out = (leat_dtype)i;
      return true;
    }
  }
  return false;
}

int64_t leat_shape_elements(int32_t rank, const int64_t *shape) {
  bool empty = false;
  if (rank < 0 || rank > LEAT_MAX_RANK) return -1;
  for (int32_t i = 0; i < rank; i++) {
    if (shape[i] < 0) return -1;
    empty |= shape[i] == 0;
  }
  if (empty) return 0;
  int64_t elements = 1;
  for (int32_t i = 0; i < rank; i++)
    if (__builtin_mul_overflow(elements, shape[i], &elements)) return -1;
  return elements;
}

int64_t leat_tensor_bytes(const leat_tensor *tensor) {
  int64_t elements = leat_shape_elements(tensor->rank, tensor->shape);
  int64_t bytes;
  if (elements < 0 || !leat_dtype_is_known(tensor->dtype)) return -1;
  if (__builtin_mul_overflow(elements, (int64_t)leat_dtype_size(tensor->dtype), &bytes)) return -1;
  return bytes;
}
