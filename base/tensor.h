// Whole tensors: copies of their data with all that it refers to. The data of numbers is its bytes;
// elements of str come with the bytes that they point to.
#ifndef LEAT_BASE_TENSOR_H
#define LEAT_BASE_TENSOR_H

#include "base/arena.h"
#include "leat/dtype.h"
#include "leat/status.h"

#include <stdbool.h>

// What a program passes as the value of `name`: LEAT_INVALID when it is none.
LEAT_MUST_USE leat_status leat_tensor_check(const leat_tensor *tensor, const char *name,
                                            leat_error *error);

static inline int64_t leat_tensor_elements(const leat_tensor *tensor) {
  return leat_shape_elements(tensor->rank, tensor->shape);
}

// A copy in the arena.
leat_tensor *leat_tensor_copy(leat_arena *arena, const leat_tensor *tensor);
// A copy of the data in one block, malloc'ed: one free() ends it. NULL: no memory.
void *leat_tensor_clone(const leat_tensor *tensor);

// The data as bytes that mean the same elsewhere: numbers as they lie, strings packed (base/str.h).
uint64_t leat_tensor_packed_size(const leat_tensor *tensor); // UINT64_MAX: too large
void leat_tensor_pack(const leat_tensor *tensor, void *to);
// These bytes where they lie, or packed into *made, which the caller frees. NULL: no memory.
const void *leat_tensor_packed(const leat_tensor *tensor, uint64_t *size, void **made);
// Fills in the data, as one block of malloc, of a tensor whose type is known. LEAT_MISMATCH: these
// are not its bytes. On failure the data is NULL.
LEAT_MUST_USE leat_status leat_tensor_unpack(leat_tensor *tensor, const void *from, uint64_t size);

#endif
