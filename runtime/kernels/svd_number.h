// Singular values and vectors after Golub and Kahan, of REAL numbers or, where REAL is a complex
// type, of those: reflections from both sides leave two real diagonals, rotations by the implicit
// QR method make one of them. Errors are some units in the
// last place of the largest value. A matrix that is much taller than wide is factorised as Q R
// first.

// a = H B Gᵀ, m ≥ n: B's diagonal and the one above it; the vectors of H's reflections stand below
// the diagonal of a, G's right of the upper one in rows. lines: 3 m + 2 n.
static void R(bidiagonal)(int64_t m, int64_t n, REAL *a, PART *d, PART *e, REAL *left, REAL *right,
                          REAL *lines) {
  REAL *u = lines, *pairs = u + m, *w = pairs + 2 * m, *v = w + n;
  for (int64_t k = 0; k < n; k++) {
    int64_t rows = m - k, columns = n - k - 1;
    REAL *rest = a + k * n + k + 1;
    for (int64_t i = 0; i < rows; i++) u[i] = a[(k + i) * n + k];
    left[k] = R(householder)(rows, u, &d[k]);
    for (int64_t i = 0; i < rows; i++) a[(k + i) * n + k] = u[i];
    if (columns == 0) return;
    for (int64_t i = 1; i < rows; i++) pairs[2 * i] = -u[i];
    R(conjugate)(rows, u);
    R(fill)(w, columns, 0);
    R(subtract)(1, columns, rows, u, rows, rest, n, w, columns);
    for (int64_t j = 0; j < columns; j++) { // rest + u wᵀ is what the reflection makes of rest
      w[j] *= R_CONJ(left[k]);
      v[j] = R_CONJ(rest[j] + w[j]);
    }
    right[k] = R(householder)(columns, v, &e[k]);
    memcpy(rest, v, (size_t)columns * sizeof(REAL));
    R(conjugate)(columns, v);
    REAL along = R(dot)(columns, w, v);
    for (int64_t i = 1; i < rows; i++)
      pairs[2 * i + 1] = right[k] * (R(dot)(columns, rest + i * n, v) - pairs[2 * i] * along);
    R(subtract)(rows - 1, columns, 2, pairs + 2, 2, w, n, rest + n, n);
  }
}

// best[j]: the largest number of column j of x, of equal ones the first; by[j]: what makes it
// positive.
static void R(best_of_columns)(int64_t rows, int64_t columns, const REAL *x, REAL *best, REAL *by) {
  R(fill)(best, columns, 0);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++)
      if (R_ABS(x[i * columns + j]) > R_ABS(best[j])) best[j] = x[i * columns + j];
  for (int64_t j = 0; j < columns; j++) by[j] = R(to_positive)(best[j]);
}

// Memory of the decomposition of a matrix or, where it is wide, of its transpose: length × count.
typedef struct R(svd_parts) {
  REAL *a;            // the matrix; length × count
  REAL *core;         // what is reduced to two diagonals: R of a, `rows` × count, or a itself
  REAL *left, *right; // length × count, count × count: the vectors
  REAL *tau, *left_tau, *right_tau, *lines;
  PART *d, *e;
  int64_t *order; // of the values
  int64_t length, count, rows;
} R(svd_parts);

static R(svd_parts) R(svd_parts_in)(int64_t length, int64_t count, REAL *scratch) {
  R(svd_parts) p = {.a = scratch, .length = length, .count = count};
  p.left = p.a + length * count;
  p.right = p.left + length * count;
  p.core = p.right + count * count;
  p.order = (int64_t *)(void *)(scratch + ALIGNED(2 * count * (length + count)));
  p.tau = (REAL *)(void *)(p.order + count);
  p.left_tau = p.tau + count;
  p.right_tau = p.left_tau + count;
  p.lines = p.right_tau + 3 * count;
  p.d = (PART *)(p.right_tau + count);
  p.e = p.d + count;
  p.rows = 2 * length > 3 * count ? count : length;
  return p;
}

// a = H B Gᵀ; u, v: the values' vectors in B, in rows. False: they did not converge.
static bool R(svd_of_parts)(R(svd_parts) * p, PART *u, PART *v) {
  int64_t n = p->count;
  if (p->rows < p->length) {
    R(reflector) r = R(reflector_in)(p->length, n, p->lines);
    R(qr_in_place)(&r, p->length, n, p->a, p->tau);
    for (int64_t i = 0; i < n * n; i++) p->core[i] = i / n <= i % n ? p->a[i] : 0;
  } else
    p->core = p->a;
  R(bidiagonal)(p->rows, n, p->core, p->d, p->e, p->left_tau, p->right_tau, p->lines);
  for (int64_t i = 0; i < n * n; i++) u[i] = v[i] = i % (n + 1) == 0;
  P(diagonals) b = {.n = n, .d = p->d, .e = p->e};
  b.left = P(sweeps_of)(n, n, u, (PART *)p->lines);
  b.right = P(sweeps_of)(n, n, v, (PART *)p->lines + 4 * BLOCK * n);
  return P(make_diagonal)(&b, P(svd_step));
}

// q = the product of the `count` reflections in a · q; q: m × columns.
static void R(apply_q)(const R(reflector) * r, int64_t m, int64_t count, int64_t columns,
                       const REAL *a, int64_t row, int64_t column, const REAL *tau, REAL *q) {
  for (int64_t begin = (count + BLOCK - 1) / BLOCK * BLOCK; begin > 0;) {
    int64_t end = begin < count ? begin : count;
    begin -= BLOCK;
    R(gather_block)
    (r, m - begin, end - begin, a + begin * (row + column), row, column, tau + begin);
    R(apply_block)(r, false, m - begin, columns, end - begin, q + begin * columns, columns);
  }
}

// From vectors of B to those of a: `left` = H uᵀ, `right` = G vᵀ, the values in their order.
static void R(svd_vectors)(const R(svd_parts) * p, const PART *u, const PART *v) {
  int64_t n = p->count, rows = p->rows;
  R(reflector) r = R(reflector_in)(p->length, n, p->lines);
  R(fill)(p->left + n * n, (p->length - n) * n, 0);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++) {
      p->left[i * n + j] = u[p->order[j] * n + i];
      p->right[i * n + j] = v[p->order[j] * n + i];
    }
  R(apply_q)(&r, rows, n, n, p->core, n, 1, p->left_tau, p->left);
  R(apply_q)(&r, n - 1, n - 1, n, p->core + 1, 1, n, p->right_tau, p->right + n);
  if (rows < p->length) R(apply_q)(&r, p->length, n, n, p->a, n, 1, p->tau, p->left);
}

// The matrix, divided by its largest number, which it returns.
static PART R(svd_load)(const R(svd_parts) * p, bool wide, const REAL *x) {
  int64_t m = p->length, n = p->count;
  PART scale = R(largest)(m * n, x), by = scale > 0 ? scale : 1;
  if (wide) R(transpose)(n, m, x, m, p->a, n);
  for (int64_t i = 0; i < m * n; i++) p->a[i] = (wide ? p->a : x)[i] / by;
  if (wide) R(conjugate)(m * n, p->a);
  return scale;
}

// s: what the diagonal holds, descending; rows of v take its signs.
static void R(svd_values)(const R(svd_parts) * p, PART scale, PART *s, PART *v) {
  int64_t n = p->count;
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n && p->d[i] < 0; j++) v[i * n + j] = -v[i * n + j];
    if (p->d[i] < 0) p->d[i] = -p->d[i];
  }
  P(sort)(n, p->d, true, p->order);
  for (int64_t i = 0; i < n; i++) s[i] = p->d[p->order[i]] * scale;
}

// u and vh, of m and n numbers a vector, turned so that the largest of each of u's is positive.
static void R(svd_store)(const R(svd_parts) * p, int64_t m, int64_t n, REAL *u, REAL *vh) {
  const REAL *left = m < n ? p->right : p->left, *right = m < n ? p->left : p->right;
  int64_t count = p->count;
  REAL *best = p->tau, *by = p->left_tau;
  R(best_of_columns)(m, count, left, best, by);
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < count; j++)
      u[i * count + j] = R(turned)(left[i * count + j], by[j], best[j]);
  R(transpose)(n, count, right, count, vh, n);
  for (int64_t j = 0; j < count; j++)
    for (int64_t i = 0; i < n; i++) vh[j * n + i] = R_CONJ(vh[j * n + i] * by[j]);
}

// x = u · diag(s) · vh: s descending, each column of u with its largest number positive; u is
// m × count, vh is count × n with count = min(m, n). NaN everywhere when x holds a NaN or an
// infinity. In between the vectors are in the outputs' memory, in rows.
static void R(svd)(int64_t m, int64_t n, const REAL *x, REAL *u, PART *s, REAL *vh, REAL *scratch) {
  PART *rows = (PART *)u, *columns = (PART *)vh;
  bool wide = m < n;
  int64_t count = wide ? m : n, length = wide ? n : m;
  R(svd_parts) p = R(svd_parts_in)(length, count, scratch);
  PART scale = R(svd_load)(&p, wide, x);
  if (scale - scale != 0 || !R(svd_of_parts)(&p, rows, columns)) {
    R(fill)(u, m * count, NAN);
    P(fill)(s, count, NAN);
    return R(fill)(vh, count * n, NAN);
  }
  R(svd_values)(&p, scale, s, columns);
  R(svd_vectors)(&p, rows, columns);
  R(svd_store)(&p, m, n, u, vh);
}
