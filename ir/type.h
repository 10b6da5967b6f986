// Tensor types: a dtype and a dim for each axis.
#ifndef LEAT_IR_TYPE_H
#define LEAT_IR_TYPE_H

#include "ir/dim.h"
#include "leat/dtype.h"

typedef struct leat_type {
  leat_dtype dtype;
  int32_t rank;
  leat_dim dims[LEAT_MAX_RANK];
} leat_type;

bool leat_type_equal(const leat_type *a, const leat_type *b);
bool leat_type_is_static(const leat_type *type); // every dim is a constant
// The product of the dims; false on overflow.
bool leat_type_elements(leat_dims *dims, const leat_type *type, leat_dim *out);
int64_t leat_type_static_elements(const leat_type *type);    // -1 when not static or on overflow
void leat_type_print(const leat_type *type, leat_text *out); // f32[B, 128]
const char *leat_type_text(leat_arena *arena, const leat_type *type); // the same, in the arena
leat_type leat_type_scalar(leat_dtype dtype);
leat_type leat_type_rows(const leat_type *row,
                         leat_dim count); // rank < LEAT_MAX_RANK: with a new axis 0
leat_type leat_type_of_tensor(const leat_tensor *tensor);

#endif
