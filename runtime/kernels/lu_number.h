// The LU factorisation and triangular systems by blocks of BLOCK columns, of REAL numbers or, where
// REAL is a complex type, of those: over R(subtract), C -= A · B.

static void R(fill)(REAL *x, int64_t count, REAL value) {
  for (int64_t i = 0; i < count; i++) x[i] = value;
}

static void R(conjugate)(int64_t count, REAL *x) {
  for (int64_t i = 0; i < count; i++) x[i] = R_CONJ(x[i]);
}

static void R(transpose)(int64_t rows, int64_t columns, const REAL *x, int64_t ldx, REAL *y,
                         int64_t ldy) {
  for (int64_t i = 0; i < rows; i += 8)
    for (int64_t j = 0; j < columns; j++)
      for (int64_t k = i; k < i + 8 && k < rows; k++) y[j * ldy + k] = x[k * ldx + j];
}

static void R(swap_rows)(int64_t n, REAL *x, REAL *y) {
  for (int64_t i = 0; i < n; i++) {
    REAL t = x[i];
    x[i] = y[i];
    y[i] = t;
  }
}

// Row of the largest number at or below the diagonal in column j; of equal ones the first.
static int64_t R(pivot)(int64_t m, int64_t n, const REAL *a, int64_t j) {
  int64_t best = j;
  for (int64_t i = j + 1; i < m; i++)
    if (R_ABS(a[i * n + j]) > R_ABS(a[best * n + j])) best = i;
  return best;
}

// x[permutation] = L · U, both in `a`: below the diagonal L, whose diagonal is 1, and U above.
// pivots[j]: the row that was exchanged with row j at step j. A column without a pivot leaves a 0
// on U's diagonal.
static void R(lu)(int64_t m, int64_t n, const REAL *x, REAL *a, int32_t *pivots,
                  int32_t *permutation) {
  int64_t count = m < n ? m : n;
  memcpy(a, x, (size_t)(m * n) * sizeof(REAL));
  for (int64_t i = 0; i < m; i++) permutation[i] = (int32_t)i;
  for (int64_t begin = 0, end; begin < count; begin = end) {
    end = begin + BLOCK < count ? begin + BLOCK : count;
    for (int64_t j = begin; j < end; j++) {
      int64_t chosen = R(pivot)(m, n, a, j);
      REAL *row = a + j * n;
      pivots[j] = (int32_t)chosen;
      if (chosen != j) {
        int32_t t = permutation[j];
        permutation[j] = permutation[chosen];
        permutation[chosen] = t;
        R(swap_rows)(n, row, a + chosen * n);
      }
      for (int64_t i = j + 1; i < m && row[j] != 0; i++) a[i * n + j] /= row[j];
      R(subtract)(m - j - 1, end - j - 1, 1, row + n + j, n, row + j + 1, n, row + n + j + 1, n);
    }
    for (int64_t i = begin + 1; i < end; i++) R(subtract)
    (1, n - end, i - begin, a + i * n + begin, n, a + begin * n + end, n, a + i * n + end, n);
    R(subtract)
    (m - end, n - end, end - begin, a + end * n + begin, n, a + begin * n + end, n,
     a + end * n + end, n);
  }
}

static void R(divide)(int64_t count, REAL *x, int64_t step, REAL by) {
  for (int64_t i = 0; i < count; i++) x[i * step] /= by;
}

// t · x = x in place; x: n × k.
static void R(solve_left)(bool lower, bool unit, int64_t n, int64_t k, const REAL *t, REAL *x) {
  int64_t blocks = (n + BLOCK - 1) / BLOCK;
  for (int64_t block = 0; block < blocks; block++) {
    int64_t begin = (lower ? block : blocks - 1 - block) * BLOCK;
    int64_t end = begin + BLOCK < n ? begin + BLOCK : n;
    for (int64_t step = 0; step < end - begin; step++) {
      int64_t i = lower ? begin + step : end - 1 - step, from = lower ? begin : i + 1;
      R(subtract)(1, k, step, t + i * n + from, n, x + from * k, k, x + i * k, k);
      if (!unit) R(divide)(k, x + i * k, 1, t[i * n + i]);
    }
    int64_t first = lower ? end : 0, rows = lower ? n - end : begin;
    R(subtract)(rows, k, end - begin, t + first * n + begin, n, x + begin * k, k, x + first * k, k);
  }
}

// x · t = x in place; x: m × n.
static void R(solve_right)(bool lower, bool unit, int64_t m, int64_t n, const REAL *t, REAL *x) {
  int64_t blocks = (n + BLOCK - 1) / BLOCK;
  for (int64_t block = 0; block < blocks; block++) {
    int64_t begin = (lower ? blocks - 1 - block : block) * BLOCK;
    int64_t end = begin + BLOCK < n ? begin + BLOCK : n;
    for (int64_t step = 0; step < end - begin; step++) {
      int64_t j = lower ? end - 1 - step : begin + step, to = lower ? begin : j + 1;
      if (!unit) R(divide)(m, x + j, n, t[j * n + j]);
      R(subtract)(m, end - begin - 1 - step, 1, x + j, n, t + j * n + to, n, x + to, n);
    }
    int64_t first = lower ? 0 : end, columns = lower ? begin : n - end;
    R(subtract)(m, columns, end - begin, x + begin, n, t + begin * n + first, n, x + first, n);
  }
}

// op(a) · x = b, or x · op(a) = b; only the triangle of `a` that `lower` names is looked at. b has
// m rows; transposed: n × n.
static void R(triangular_solve)(const triangle *how, int64_t n, int64_t m, int64_t k, const REAL *a,
                                const REAL *b, REAL *x, REAL *transposed) {
  bool lower = how->lower != how->transpose;
  const REAL *t = a;
  memcpy(x, b, (size_t)(m * k) * sizeof(REAL));
  if (how->transpose) {
    R(transpose)(n, n, a, n, transposed, n);
    t = transposed;
  }
  if (how->right)
    R(solve_right)(lower, how->unit, m, n, t, x);
  else
    R(solve_left)(lower, how->unit, n, k, t, x);
}
