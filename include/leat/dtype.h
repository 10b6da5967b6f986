// Element types. One row here is the only place that lists them.
#ifndef LEAT_DTYPE_H
#define LEAT_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// X(id, size in bytes, kind). A str element is a pointer and a u64 length into the step's string
// heap.
#define LEAT_DTYPE_LIST(X)                                                                         \
  X(bool, 1, BOOL)                                                                                 \
  X(i8, 1, SIGNED)                                                                                 \
  X(i16, 2, SIGNED)                                                                                \
  X(i32, 4, SIGNED)                                                                                \
  X(i64, 8, SIGNED)                                                                                \
  X(u8, 1, UNSIGNED)                                                                               \
  X(u16, 2, UNSIGNED)                                                                              \
  X(u32, 4, UNSIGNED)                                                                              \
  X(u64, 8, UNSIGNED)                                                                              \
  X(f16, 2, FLOAT)                                                                                 \
  X(bf16, 2, FLOAT)                                                                                \
  X(f32, 4, FLOAT)                                                                                 \
  X(f64, 8, FLOAT)                                                                                 \
  X(c64, 8, COMPLEX)                                                                               \
  X(c128, 16, COMPLEX)                                                                             \
  X(str, 16, STRING)

typedef enum leat_dtype {
#define X(id, size, kind) LEAT_##id,
  LEAT_DTYPE_LIST(X)
#undef X
} leat_dtype;

enum {
#define X(id, size, kind) +1
  LEAT_DTYPE_COUNT = LEAT_DTYPE_LIST(X)
#undef X
};

typedef enum leat_dtype_kind {
  LEAT_KIND_BOOL,
  LEAT_KIND_SIGNED,
  LEAT_KIND_UNSIGNED,
  LEAT_KIND_FLOAT,
  LEAT_KIND_COMPLEX,
  LEAT_KIND_STRING,
} leat_dtype_kind;

enum { LEAT_MAX_RANK = 8 };

bool leat_dtype_is_known(leat_dtype dtype);
size_t leat_dtype_size(leat_dtype dtype);      // bytes of one element
const char *leat_dtype_name(leat_dtype dtype); // "f32"; "no dtype" of what is none
leat_dtype_kind leat_dtype_kind_of(leat_dtype dtype);
bool leat_dtype_parse(const char *text, size_t length, leat_dtype *out);

// An element of dtype str: `size` arbitrary bytes.
typedef struct leat_str {
  const char *data;
  uint64_t size;
} leat_str;

// A dense row-major tensor in host memory. Plain data: who owns `data` is said where one is passed.
typedef struct leat_tensor {
  leat_dtype dtype;
  int32_t rank;
  int64_t shape[LEAT_MAX_RANK];
  void *data;
} leat_tensor;

// Elements of a shape; -1 when a dimension is negative, the product overflows int64_t or the rank
// is none.
int64_t leat_shape_elements(int32_t rank, const int64_t *shape);
// Bytes of a tensor; -1 as above, and when its dtype is none.
int64_t leat_tensor_bytes(const leat_tensor *tensor);

#ifdef __cplusplus
}
#endif

#endif
