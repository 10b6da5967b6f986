#include "ops/library.h"

#include <assert.h>

bool leat_library_batch(leat_dims *dims, const leat_type *type, int32_t inner, leat_dim *out) {
  *out = leat_dim_const(1);
  for (int32_t i = 0; i < type->rank - inner; i++)
    if (!leat_dim_mul(dims, *out, type->dims[i], out)) return false;
  return true;
}

void leat_library_scalar(leat_library_call *call, leat_dim value) {
  assert(call->scalar_count < LEAT_MAX_LIBRARY_SCALARS);
  call->scalars[call->scalar_count++] = value;
}

bool leat_library_each(leat_dims *dims, const leat_node *node, const char *function,
                       leat_library_call *out) {
  enum { EACH = 1024, NANOSECONDS = 20 };
  leat_dim count, size = leat_dim_const(EACH), tiles;
  if (!leat_type_elements(dims, leat_value_type(node->inputs[0]), &count) ||
      !leat_dim_add(dims, count, leat_dim_const(EACH - 1), &tiles) ||
      !leat_dim_floordiv(dims, tiles, size, &tiles))
    return false;
  *out =
      (leat_library_call){.function = function, .tiles = tiles, .work = (double)EACH * NANOSECONDS};
  leat_library_scalar(out, count);
  leat_library_scalar(out, size);
  return true;
}

bool leat_library_scratch(leat_dims *dims, leat_library_call *call, leat_dim bytes_of_tile) {
  leat_dim line = leat_dim_const(64), bytes;
  if (!leat_dim_add(dims, bytes_of_tile, leat_dim_const(63), &bytes) ||
      !leat_dim_floordiv(dims, bytes, line, &bytes) || !leat_dim_mul(dims, bytes, line, &bytes))
    return false;
  leat_library_scalar(call, bytes);
  return leat_dim_mul(dims, bytes, call->tiles, &call->scratch);
}
