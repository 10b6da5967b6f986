#include "ops/axis.h"

#include "ops/cost.h"
#include "ops/shape.h"

enum { MOST_TILES = 64 };

leat_axis_view leat_axis_view_of(const leat_tensor *x, int64_t axis) {
  return (leat_axis_view){leat_shape_elements((int32_t)axis, x->shape), x->shape[axis],
                          leat_shape_elements(x->rank - (int32_t)axis - 1, x->shape + axis + 1)};
}

int leat_shape_axis_attr(leat_shape_context *context) {
  int64_t axis = leat_node_attr(context->node, "axis")->i;
  return leat_shape_axis(context, axis, leat_shape_input(context, 0)->rank) ? (int)axis : -1;
}

// Tiles are no more than rows, and few: each has room of its own.
bool leat_library_rows(leat_dims *dims, const leat_node *node, const char *function, double cost,
                       leat_library_call *out) {
  const leat_type *x = leat_value_type(node->inputs[0]);
  int axis = (int)leat_node_attr(node, "axis")->i;
  leat_dim outer = leat_dim_const(1), inner = outer, rows, tiles;
  for (int k = 0; k < x->rank; k++)
    if (k != axis &&
        !leat_dim_mul(dims, k < axis ? outer : inner, x->dims[k], k < axis ? &outer : &inner))
      return false;
  if (!leat_dim_mul(dims, outer, inner, &rows) ||
      !leat_dim_min(dims, rows, leat_dim_const(MOST_TILES), &tiles))
    return false;
  double rows_a_tile =
      leat_cost_extent(rows) / (leat_cost_extent(tiles) > 0 ? leat_cost_extent(tiles) : 1);
  *out = (leat_library_call){.function = function,
                             .tiles = tiles,
                             .work = rows_a_tile * leat_cost_extent(x->dims[axis]) * cost};
  leat_dim first[] = {leat_dim_const((int64_t)x->dtype), rows, tiles, x->dims[axis], inner};
  for (size_t i = 0; i < sizeof first / sizeof *first; i++) leat_library_scalar(out, first[i]);
  return true;
}
