// Rotations of the rows of a matrix z, gathered by sweeps and carried out BLOCK sweeps at a
// time: what is computed of a rotation does not wait for the rows, and the rows stay in the cache.

// Carries out what was gathered: (z[i], z[i + 1]) = (c z[i] + s z[i + 1], c z[i + 1] - s z[i]).
static void R(turn_rows)(R(sweeps) * all) {
  int64_t done = 0;
#if WIDEST == 64
  leat_cpu_level level = leat_cpu_host_level();
  if (level == LEAT_CPU_AVX512) done = R(turn_columns_64)(all, done);
  if (level >= LEAT_CPU_AVX2) done = R(turn_columns_32)(all, done);
#endif
#if WIDEST >= 16
  done = R(turn_columns_16)(all, done);
#endif
  R(turn_columns_1)(all, done);
  all->count = 0;
}

// Where the cosine and the sine of a new sweep go.
static REAL *R(new_sweep)(R(sweeps) * all, int64_t first, int64_t last) {
  if (all->count == BLOCK) R(turn_rows)(all);
  all->first[all->count] = first;
  all->last[all->count] = last;
  return all->turns + 2 * all->n * all->count++;
}

// z: n × columns; memory: 4 BLOCK n
static R(sweeps) R(sweeps_of)(int64_t n, int64_t columns, REAL *z, REAL *memory) {
  REAL *strip = memory + 2 * BLOCK * n;
  return (R(sweeps)){.z = z, .n = n, .columns = columns, .turns = memory, .strip = strip};
}

// The rotation that maps (f, g) to (r, 0); returns r.
static REAL R(rotation)(REAL f, REAL g, REAL *turn) {
  REAL square = f * f + g * g, r = R_SQRT(square);
  if (!(square > R_LEAST / R_EPSILON)) r = R_HYPOT(f, g); // nothing was lost in the squares above
  turn[0] = r == 0 ? 1 : f / r;
  turn[1] = r == 0 ? 0 : g / r;
  return r;
}
