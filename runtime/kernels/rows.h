// Rows of a tensor along one axis, which functions of runtime/kernels work on: the tensor is
// [outer, n, inner], a row is n elements that lie `inner` apart, and a tile is a share of the rows.
#ifndef LEAT_RUNTIME_KERNELS_ROWS_H
#define LEAT_RUNTIME_KERNELS_ROWS_H

#include <stdint.h>

typedef struct leat_rows {
  int64_t rows, tiles, n, inner;
} leat_rows;

// The first row of a tile; of `tiles` the end of the last.
static inline int64_t leat_rows_first(const leat_rows *r, int64_t tile) {
  int64_t part = r->rows / r->tiles, rest = r->rows % r->tiles;
  return tile * part + (tile < rest ? tile : rest);
}

// Where the first element of a row is in a tensor whose rows are `length` long.
static inline int64_t leat_rows_start(const leat_rows *r, int64_t row, int64_t length) {
  return row / r->inner * length * r->inner + row % r->inner;
}

#endif
