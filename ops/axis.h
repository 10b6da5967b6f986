// Ops along one axis: a tensor seen as [outer, n, inner] around the attribute `axis`, in which a
// row is the n elements at one place of the other axes; and the part that their calls of
// runtime/kernels have in common (runtime/kernels/rows.h).
#ifndef LEAT_OPS_AXIS_H
#define LEAT_OPS_AXIS_H

#include "ops/library.h"

typedef struct leat_axis_view {
  int64_t outer, n, inner;
} leat_axis_view;

leat_axis_view leat_axis_view_of(const leat_tensor *x, int64_t axis);

// Checks the attribute `axis` and answers it, or reports and answers -1.
int leat_shape_axis_attr(leat_shape_context *context);

// Sets the function, the tiles, and as first scalars dtype, rows, tiles, n, inner, of the rows of
// input 0. `cost`: nanoseconds an element takes. False: dims overflow.
bool leat_library_rows(leat_dims *dims, const leat_node *node, const char *function, double cost,
                       leat_library_call *out);

#endif
