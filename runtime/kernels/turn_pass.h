// Sweeps of rotations over vectors of VECTOR_BYTES, or over single numbers: a strip of columns at a
// time, which stays in the first cache while all sweeps pass over it. Every element goes through
// the same operations in every width.

INLINE void NAME(turn_strip)(int vectors, const R(sweeps) * all, REAL *z) {
  for (int k = 0; k < all->count; k++) {
    const REAL *turns = all->turns + 2 * k * all->n;
    REAL *row = z + all->first[k] * all->n;
    V x[4];
    UNROLL for (int j = 0; j < vectors; j++) x[j] = *(V *)(row + j * NAME(LANES));
    for (int64_t i = all->first[k]; i < all->last[k]; i++, row += all->n) {
      REAL c = turns[2 * i], s = turns[2 * i + 1];
      UNROLL for (int j = 0; j < vectors; j++) {
        V y = *(V *)(row + all->n + j * NAME(LANES));
        *(V *)(row + j * NAME(LANES)) = c * x[j] + s * y;
        x[j] = c * y - s * x[j];
      }
    }
    UNROLL for (int j = 0; j < vectors; j++) * (V *)(row + j * NAME(LANES)) = x[j];
  }
}

// The columns from `from` on, as many as fill vectors; returns the first one left.
TARGET static int64_t NAME(turn_columns)(const R(sweeps) * all, int64_t from) {
  int64_t j = from;
  for (; j + 4 * NAME(LANES) <= all->n; j += 4 * NAME(LANES)) NAME(turn_strip)(4, all, all->z + j);
  for (; j + NAME(LANES) <= all->n; j += NAME(LANES)) NAME(turn_strip)(1, all, all->z + j);
  return j;
}
