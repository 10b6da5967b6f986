// Singular values and vectors after Golub and Kahan: reflections from both sides leave two
// diagonals, rotations by the implicit QR method make one of them. Errors are some units in the
// last place of the largest value. A matrix that is much taller than wide is factorised as Q R
// first.

// a = H B Gᵀ, m ≥ n: B's diagonal and the one above it; the vectors of H's reflections stand below
// the diagonal of a, G's right of the upper one in rows. lines: 3 m + 2 n.
static void R(bidiagonal)(int64_t m, int64_t n, REAL *a, REAL *d, REAL *e, REAL *left, REAL *right,
                          REAL *lines) {
  REAL *u = lines, *pairs = u + m, *w = pairs + 2 * m, *v = w + n;
  for (int64_t k = 0; k < n; k++) {
    int64_t rows = m - k, columns = n - k - 1;
    REAL *rest = a + k * n + k + 1;
    for (int64_t i = 0; i < rows; i++) u[i] = a[(k + i) * n + k];
    left[k] = R(householder)(rows, u, &d[k]);
    for (int64_t i = 0; i < rows; i++) a[(k + i) * n + k] = u[i];
    if (columns == 0) return;
    R(fill)(w, columns, 0);
    R(subtract)(1, columns, rows, u, rows, rest, n, w, columns);
    for (int64_t j = 0; j < columns; j++) { // rest + u wᵀ is what the reflection makes of rest
      w[j] *= left[k];
      v[j] = rest[j] + w[j];
    }
    right[k] = R(householder)(columns, v, &e[k]);
    REAL along = R(dot)(columns, w, v);
    for (int64_t i = 1; i < rows; i++) {
      pairs[2 * i] = -u[i];
      pairs[2 * i + 1] = right[k] * (R(dot)(columns, rest + i * n, v) + u[i] * along);
    }
    R(subtract)(rows - 1, columns, 2, pairs + 2, 2, w, n, rest + n, n);
    memcpy(rest, v, (size_t)columns * sizeof(REAL));
  }
}

// The smaller singular value of [[f, g], [0, h]]: the larger one is half the sum of the two roots.
static REAL R(smaller_value)(REAL f, REAL g, REAL h) {
  f = R_ABS(f);
  h = R_ABS(h);
  REAL largest = R_HYPOT(f + h, g) / 2 + R_HYPOT(f - h, g) / 2;
  return largest == 0 ? 0 : f * (h / largest);
}

// One implicit QR step on the rows [l, last] of the two diagonals.
static void R(svd_step)(int64_t l, int64_t last, REAL shift, REAL *d, REAL *e, R(sweeps) * left,
                        R(sweeps) * right) {
  REAL *u = R(new_sweep)(left, l, last), *v = R(new_sweep)(right, l, last);
  REAL f = shift == 0 ? d[l] : (d[l] - shift) * (1 + shift / d[l]), g = e[l];
  for (int64_t i = l; i < last; i++) {
    REAL r = R(rotation)(f, g, v + 2 * i), c = v[2 * i], s = v[2 * i + 1];
    if (i > l) e[i - 1] = r;
    f = c * d[i] + s * e[i];
    e[i] = c * e[i] - s * d[i];
    g = s * d[i + 1];
    d[i + 1] *= c;
    d[i] = R(rotation)(f, g, u + 2 * i);
    c = u[2 * i];
    s = u[2 * i + 1];
    f = c * e[i] + s * d[i + 1];
    d[i + 1] = c * d[i + 1] - s * e[i];
    if (i + 1 < last) {
      g = s * e[i + 1];
      e[i + 1] *= c;
    }
  }
  e[last - 1] = f;
}

// The shift for the rows [l, last]; 0, which moves a zero on the diagonal to the end, where one is
// (or is no more than rounding).
static REAL R(shift)(int64_t l, int64_t last, REAL nothing, REAL *d, const REAL *e) {
  bool singular = false;
  for (int64_t i = l; i <= last; i++)
    if (R_ABS(d[i]) <= nothing) {
      d[i] = 0;
      singular = true;
    }
  return singular ? 0 : R(smaller_value)(d[last - 1], e[last - 1], d[last]);
}

// d becomes the singular values, maybe negative; the rows of both matrices turn along. False: they
// did not converge.
static bool R(svd_of_bidiagonal)(int64_t n, REAL *d, REAL *e, R(sweeps) * left, R(sweeps) * right) {
  REAL nothing = R_EPSILON * (R(largest)(n, d) + R(largest)(n - 1, e)) / 2;
  int64_t steps = MOST_STEPS * n;
  for (int64_t last = n - 1; last > 0;) {
    int64_t l = R(block_begin)(last, e, nothing);
    if (l == last)
      last--;
    else if (steps-- == 0)
      return false;
    else
      R(svd_step)(l, last, R(shift)(l, last, nothing, d, e), d, e, left, right);
  }
  R(turn_rows)(left);
  R(turn_rows)(right);
  return true;
}

// best[j]: 1, or -1 when the largest number of column j of x, of equal ones the first, is negative.
static void R(column_signs)(int64_t rows, int64_t columns, const REAL *x, REAL *best) {
  R(fill)(best, columns, 0);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++)
      if (R_ABS(x[i * columns + j]) > R_ABS(best[j])) best[j] = x[i * columns + j];
  for (int64_t j = 0; j < columns; j++) best[j] = best[j] < 0 ? -1 : 1;
}

// Memory of the decomposition of a matrix or, where it is wide, of its transpose: length × count.
typedef struct R(svd_parts) {
  REAL *a;            // the matrix; length × count
  REAL *core;         // what is reduced to two diagonals: R of a, `rows` × count, or a itself
  REAL *left, *right; // length × count, count × count: the vectors
  REAL *d, *e, *tau, *left_tau, *right_tau, *lines;
  int64_t *order; // of the values
  int64_t length, count, rows;
} R(svd_parts);

static R(svd_parts) R(svd_parts_in)(int64_t length, int64_t count, REAL *scratch) {
  R(svd_parts) p = {.a = scratch, .length = length, .count = count};
  p.left = p.a + length * count;
  p.right = p.left + length * count;
  p.core = p.right + count * count;
  p.order = (int64_t *)(void *)(scratch + ALIGNED(2 * count * (length + count)));
  p.d = (REAL *)(void *)(p.order + count);
  p.e = p.d + count;
  p.tau = p.e + count;
  p.left_tau = p.tau + count;
  p.right_tau = p.left_tau + count;
  p.lines = p.right_tau + count;
  p.rows = 2 * length > 3 * count ? count : length;
  return p;
}

// a = H B Gᵀ; u, v: the values' vectors in B, in rows. False: they did not converge.
static bool R(svd_of_parts)(R(svd_parts) * p, REAL *u, REAL *v) {
  int64_t n = p->count;
  if (p->rows < p->length) {
    R(reflector) r = R(reflector_in)(p->length, n, p->lines);
    R(qr_in_place)(&r, p->length, n, p->a, p->tau);
    for (int64_t i = 0; i < n * n; i++) p->core[i] = i / n <= i % n ? p->a[i] : 0;
  } else
    p->core = p->a;
  R(bidiagonal)(p->rows, n, p->core, p->d, p->e, p->left_tau, p->right_tau, p->lines);
  for (int64_t i = 0; i < n * n; i++) u[i] = v[i] = i % (n + 1) == 0;
  R(sweeps) left = R(sweeps_of)(n, u, p->lines);
  R(sweeps) right = R(sweeps_of)(n, v, p->lines + 4 * BLOCK * n);
  return R(svd_of_bidiagonal)(n, p->d, p->e, &left, &right);
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
static void R(svd_vectors)(const R(svd_parts) * p, const REAL *u, const REAL *v) {
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
static REAL R(svd_load)(const R(svd_parts) * p, bool wide, const REAL *x) {
  int64_t m = p->length, n = p->count;
  REAL scale = R(largest)(m * n, x), by = scale > 0 ? scale : 1;
  if (wide) R(transpose)(n, m, x, m, p->a, n);
  for (int64_t i = 0; i < m * n; i++) p->a[i] = (wide ? p->a : x)[i] / by;
  return scale;
}

// s: what the diagonal holds, descending; rows of v take its signs.
static void R(svd_values)(const R(svd_parts) * p, REAL scale, REAL *s, REAL *v) {
  int64_t n = p->count;
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n && p->d[i] < 0; j++) v[i * n + j] = -v[i * n + j];
    p->d[i] = R_ABS(p->d[i]);
  }
  R(sort)(n, p->d, true, p->order);
  for (int64_t i = 0; i < n; i++) s[i] = p->d[p->order[i]] * scale;
}

// u and vh, of m and n numbers a vector, with their signs.
static void R(svd_store)(const R(svd_parts) * p, int64_t m, int64_t n, REAL *u, REAL *vh) {
  const REAL *left = m < n ? p->right : p->left, *right = m < n ? p->left : p->right;
  int64_t count = p->count;
  REAL *signs = p->d;
  R(column_signs)(m, count, left, signs);
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < count; j++) u[i * count + j] = signs[j] * left[i * count + j];
  R(transpose)(n, count, right, count, vh, n);
  for (int64_t j = 0; j < count; j++)
    for (int64_t i = 0; i < n; i++) vh[j * n + i] *= signs[j];
}

// x = u · diag(s) · vh: s descending, each column of u with its largest number positive; u is
// m × count, vh is count × n with count = min(m, n). NaN everywhere when x holds a NaN or an
// infinity. In between the vectors are in the outputs' memory, in rows.
static void R(svd)(int64_t m, int64_t n, const REAL *x, REAL *u, REAL *s, REAL *vh, REAL *scratch) {
  bool wide = m < n;
  int64_t count = wide ? m : n, length = wide ? n : m;
  R(svd_parts) p = R(svd_parts_in)(length, count, scratch);
  REAL scale = R(svd_load)(&p, wide, x);
  if (scale - scale != 0 || !R(svd_of_parts)(&p, u, vh)) {
    R(fill)(u, m * count, NAN);
    R(fill)(s, count, NAN);
    return R(fill)(vh, count * n, NAN);
  }
  R(svd_values)(&p, scale, s, vh);
  R(svd_vectors)(&p, u, vh);
  R(svd_store)(&p, m, n, u, vh);
}
