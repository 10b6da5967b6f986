// Extents of what is lowered, as dims.
#include "codegen/lower.h"

leat_dim leat_lower_product(leat_lower *w, const leat_dim *dims, int count) {
  leat_dim product = leat_dim_const(1);
  for (int i = 0; i < count; i++)
    if (!leat_dim_mul(w->table->cg->graph->dims, product, dims[i], &product))
      leat_fail(w->table->cg->error, LEAT_UNSUPPORTED, "a tensor has too many elements");
  return product;
}

leat_dim leat_lower_ceil_div(leat_lower *w, leat_dim a, int64_t b) {
  leat_dims *dims = w->table->cg->graph->dims;
  if (!leat_dim_add(dims, a, leat_dim_const(b - 1), &a) ||
      !leat_dim_floordiv(dims, a, leat_dim_const(b), &a))
    leat_fail(w->table->cg->error, LEAT_UNSUPPORTED, "a tensor has too many elements");
  return a;
}
