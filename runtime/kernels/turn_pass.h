// Sweeps of rotations over vectors of VECTOR_BYTES, or over single numbers: a strip of columns at a
// time, copied to where its rows follow one another, which stays in the cache while all sweeps pass
// over it. Every element goes through the same operations in every width.

INLINE void NAME(copy_strip)(int vectors, int64_t rows, const REAL *from, int64_t from_step,
                             REAL *to, int64_t to_step) {
  for (int64_t i = 0; i < rows; i++)
    UNROLL for (int j = 0; j < vectors; j++) * (V *)(to + i * to_step + j * LANES) =
        *(const V *)(from + i * from_step + j * LANES);
}

INLINE void NAME(turn_strip)(int vectors, const R(sweeps) * all, REAL *z) {
  int64_t n = all->n, width = vectors * LANES;
  NAME(copy_strip)(vectors, n, z, all->columns, all->strip, width);
  for (int k = 0; k < all->count; k++) {
    const REAL *turns = all->turns + 2 * k * n;
    REAL *row = all->strip + all->first[k] * width;
    V x[4];
    UNROLL for (int j = 0; j < vectors; j++) x[j] = *(V *)(row + j * LANES);
    for (int64_t i = all->first[k]; i < all->last[k]; i++, row += width) {
      REAL c = turns[2 * i], s = turns[2 * i + 1];
      UNROLL for (int j = 0; j < vectors; j++) {
        V y = *(V *)(row + width + j * LANES);
        *(V *)(row + j * LANES) = c * x[j] + s * y;
        x[j] = c * y - s * x[j];
      }
    }
    UNROLL for (int j = 0; j < vectors; j++) * (V *)(row + j * LANES) = x[j];
  }
  NAME(copy_strip)(vectors, n, all->strip, width, z, all->columns);
}

// The columns from `from` on, as many as fill vectors; returns the first one left.
TARGET static int64_t NAME(turn_columns)(const R(sweeps) * all, int64_t from) {
  int64_t j = from;
  for (; j + 4 * LANES <= all->columns; j += 4 * LANES) NAME(turn_strip)(4, all, all->z + j);
  for (; j + LANES <= all->columns; j += LANES) NAME(turn_strip)(1, all, all->z + j);
  return j;
}
