// What the library_X of ops over batches of rows or matrices share.
#ifndef LEAT_OPS_LIBRARY_H
#define LEAT_OPS_LIBRARY_H

#include "ops/ops.h"

// The product of all axes but the last `inner`; false on overflow.
bool leat_library_batch(leat_dims *dims, const leat_type *type, int32_t inner, leat_dim *out);
// Adds a scalar argument.
void leat_library_scalar(leat_library_call *call, leat_dim value);
// A call for the elements of the first input, strings or what is as slow; as first scalars how many
// there are, and how many of them a tile has.
bool leat_library_each(leat_dims *dims, const leat_node *node, const char *function,
                       leat_library_call *out);
// Scratch of so many bytes for each of call->tiles, rounded up to a multiple of 64; what a tile has
// becomes a scalar argument.
bool leat_library_scratch(leat_dims *dims, leat_library_call *call, leat_dim bytes_of_tile);

#endif
