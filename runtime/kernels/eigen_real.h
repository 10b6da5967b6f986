// Eigenvalues and vectors of symmetric matrices: Householder's reduction to tridiagonal form, then
// the implicit QL method.

// a = Q T Qᵀ: T's diagonal and the one below it; the vectors of Q's reflections stand below that,
// each in a column of a.
static void R(tridiagonal)(int64_t n, REAL *a, REAL *diagonal, REAL *below, REAL *tau,
                           REAL *lines) {
  for (int64_t k = 0; k < n; k++) {
    int64_t rows = n - k - 1;
    REAL *v = lines, *pairs = lines + n, *across = pairs + 2 * n, *rest = a + (k + 1) * (n + 1);
    diagonal[k] = a[k * n + k];
    if (rows == 0) return;
    memcpy(v, a + k * n + k + 1, (size_t)rows * sizeof(REAL));
    tau[k] = R(householder)(rows, v, &below[k]);
    for (int64_t i = 0; i < rows; i++) across[i] = tau[k] * R(dot)(rows, rest + i * n, v);
    REAL half = tau[k] / 2 * R(dot)(rows, across, v);
    for (int64_t i = 0; i < rows; i++) {
      across[i] -= half * v[i];
      pairs[2 * i] = v[i];
      pairs[2 * i + 1] = across[i];
      across[n + i] = v[i];
    }
    R(subtract)(rows, rows, 2, pairs, 2, across, n, rest, n);
    for (int64_t i = 0; i < rows; i++) a[(k + 1 + i) * n + k] = v[i];
  }
}

// Where the tridiagonal matrix falls apart at or after l.
static int64_t R(split)(int64_t n, int64_t l, const REAL *d, const REAL *e) {
  for (; l < n - 1; l++)
    if (R_ABS(e[l]) <= R_EPSILON * (R_ABS(d[l]) + R_ABS(d[l + 1]))) break;
  return l;
}

// One implicit QL step on [l, m] with Wilkinson's shift; the rows of z turn along.
static void R(ql_step)(int64_t n, int64_t l, int64_t m, REAL *d, REAL *e, REAL *z) {
  REAL g = (d[l + 1] - d[l]) / (2 * e[l]), r = R_HYPOT(g, 1), s = 1, c = 1, p = 0;
  g = d[m] - d[l] + e[l] / (g + (g < 0 ? -r : r));
  for (int64_t i = m; i-- > l;) {
    REAL f = s * e[i], b = c * e[i];
    e[i + 1] = r = R_HYPOT(f, g);
    if (r == 0) {
      d[i + 1] -= p;
      e[m] = 0;
      return;
    }
    s = f / r;
    c = g / r;
    g = d[i + 1] - p;
    r = (d[i] - g) * s + 2 * c * b;
    p = s * r;
    d[i + 1] = g + p;
    g = c * r - b;
    R(rotate)(n, z + i * n, z + (i + 1) * n, c, s);
  }
  d[l] -= p;
  e[l] = g;
  e[m] = 0;
}

// d becomes the eigenvalues. False: one did not converge (NaN).
static bool R(ql)(int64_t n, REAL *d, REAL *e, REAL *z) {
  e[n - 1] = 0;
  for (int64_t l = 0; l < n; l++)
    for (int step = 0;; step++) {
      int64_t m = R(split)(n, l, d, e);
      if (m == l) break;
      if (step == MOST_STEPS) return false;
      R(ql_step)(n, l, m, d, e, z);
    }
  return true;
}

// The order of the values: ascending, or descending; equal ones as they came.
static void R(sort)(int64_t n, const REAL *values, bool descending, int64_t *order) {
  for (int64_t i = 0; i < n; i++) {
    int64_t at = i;
    for (; at > 0; at--) {
      REAL before = values[order[at - 1]], here = values[i];
      if (descending ? before >= here : before <= here) break;
      order[at] = order[at - 1];
    }
    order[at] = i;
  }
}

// -1 when the largest number of x, of equal ones the first, is negative.
static REAL R(sign)(int64_t n, const REAL *x) {
  REAL best = 0;
  for (int64_t i = 0; i < n; i++)
    if (R_ABS(x[i]) > R_ABS(best)) best = x[i];
  return best < 0 ? -1 : 1;
}

// Of the symmetric part of x: values ascending; the columns of `vectors`, each with its largest
// number positive. NaN everywhere when x holds a NaN or an infinity.
static void R(eigh)(int64_t n, const REAL *x, REAL *values, REAL *vectors, REAL *scratch) {
  REAL *a = scratch, *d = a + n * n, *e = d + n, *tau = e + n, *lines = a + ALIGNED(n * n + 3 * n);
  int64_t *order = (int64_t *)(void *)lines;
  R(symmetric)(n, x, a);
  REAL scale = R(largest)(n * n, a);
  bool done = scale - scale == 0;
  if (done && n > 0) {
    if (scale > 0)
      for (int64_t i = 0; i < n * n; i++) a[i] /= scale;
    R(tridiagonal)(n, a, d, e, tau, lines);
    R(reflector) r = R(reflector_in)(n, n, lines);
    R(fill)(vectors, n * n, 0);
    vectors[0] = 1;
    if (n > 1) R(form_q)(&r, n - 1, n - 1, n - 1, a + n, n, tau, vectors + n + 1, n);
    R(transpose)(n, n, vectors, n, a, n);
    done = R(ql)(n, d, e, a);
  }
  if (!done) {
    R(fill)(values, n, NAN);
    return R(fill)(vectors, n * n, NAN);
  }
  R(sort)(n, d, false, order);
  for (int64_t i = 0; i < n; i++) {
    const REAL *row = a + order[i] * n, sign = R(sign)(n, row);
    values[i] = d[order[i]] * scale;
    for (int64_t j = 0; j < n; j++) vectors[j * n + i] = sign * row[j];
  }
}
