// Eigenvalues and vectors of symmetric matrices: Householder's reduction to tridiagonal form, then
// the implicit QR method.

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

// The eigenvalue of [[a, b], [b, c]] that is nearer to c; Wilkinson's shift.
static REAL R(nearer_value)(REAL a, REAL b, REAL c) {
  REAL half = a / 2 - c / 2, root = R_HYPOT(half, b);
  return root == 0 ? c : c - b * (b / (half < 0 ? half - root : half + root));
}

// One implicit QR step on the rows [l, last].
static void R(eigh_step)(int64_t l, int64_t last, REAL *d, REAL *e, R(sweeps) * z) {
  REAL *turns = R(new_sweep)(z, l, last);
  REAL f = d[l] - R(nearer_value)(d[last - 1], e[last - 1], d[last]), g = e[l];
  for (int64_t i = l; i < last; i++) {
    REAL r = R(rotation)(f, g, turns + 2 * i), c = turns[2 * i], s = turns[2 * i + 1];
    if (i > l) e[i - 1] = r;
    r = (d[i + 1] - d[i]) * s + 2 * c * e[i];
    d[i] += s * r;
    d[i + 1] -= s * r;
    f = e[i] = c * r - e[i];
    if (i + 1 < last) {
      g = s * e[i + 1];
      e[i + 1] *= c;
    }
  }
}

// d becomes the eigenvalues; the rows of z turn along. False: they did not converge.
static bool R(eigh_of_tridiagonal)(int64_t n, REAL *d, REAL *e, R(sweeps) * z) {
  REAL nothing = R_EPSILON * (R(largest)(n, d) + R(largest)(n - 1, e)) / 2;
  int64_t steps = MOST_STEPS * n;
  for (int64_t last = n - 1; last > 0;) {
    int64_t l = R(block_begin)(last, e, nothing);
    if (l == last)
      last--;
    else if (steps-- == 0)
      return false;
    else
      R(eigh_step)(l, last, d, e, z);
  }
  R(turn_rows)(z);
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
    R(sweeps) z = R(sweeps_of)(n, a, lines);
    done = R(eigh_of_tridiagonal)(n, d, e, &z);
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
