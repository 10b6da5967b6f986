// Eigenvalues and vectors of symmetric matrices of REAL numbers or, where REAL is a complex type,
// of Hermitian ones: Householder's reduction to a real tridiagonal form, then the implicit QR
// method.

// a = Q T Qᵀ: T's diagonal and the one below it; the vectors of Q's reflections stand below that,
// each in a column of a.
static void R(tridiagonal)(int64_t n, REAL *a, PART *diagonal, PART *below, REAL *tau,
                           REAL *lines) {
  for (int64_t k = 0; k < n; k++) {
    int64_t rows = n - k - 1;
    REAL *v = lines, *pairs = lines + n, *across = pairs + 2 * n, *rest = a + (k + 1) * (n + 1);
    diagonal[k] = R_REAL(a[k * n + k]);
    if (rows == 0) return;
    for (int64_t i = 0; i < rows; i++) v[i] = R_CONJ(a[k * n + k + 1 + i]);
    tau[k] = R(householder)(rows, v, &below[k]);
    for (int64_t i = 0; i < rows; i++) a[(k + 1 + i) * n + k] = v[i];
    if (rows == 1) continue; // what turns one number from both sides leaves it as it is
    for (int64_t i = 0; i < rows; i++) across[n + i] = R_CONJ(v[i]);
    for (int64_t i = 0; i < rows; i++) across[i] = tau[k] * R(dot)(rows, rest + i * n, across + n);
    REAL half = R_CONJ(tau[k]) / 2 * R(dot)(rows, across, v);
    for (int64_t i = 0; i < rows; i++) {
      across[i] -= half * v[i];
      pairs[2 * i] = v[i];
      pairs[2 * i + 1] = across[i];
      across[i] = R_CONJ(across[i]);
    }
    R(subtract)(rows, rows, 2, pairs, 2, across, n, rest, n);
  }
}

// Of size 1: what makes x positive.
static REAL R(to_positive)(REAL x) {
  return x == 0 ? 1 : R_CONJ(x) / R_ABS(x);
}

// x times `by`, which makes `best` positive; that exactly so.
static REAL R(turned)(REAL x, REAL by, REAL best) {
  return x == best ? R_ABS(best) : by * x;
}

// The largest number of x, of equal ones the first.
static REAL R(best)(int64_t n, const REAL *x) {
  REAL best = 0;
  for (int64_t i = 0; i < n; i++)
    if (R_ABS(x[i]) > R_ABS(best)) best = x[i];
  return best;
}

// Of the symmetric part of x: values ascending; the columns of `vectors`, each with its largest
// number positive. NaN everywhere when x holds a NaN or an infinity.
static void R(eigh)(int64_t n, const REAL *x, PART *values, REAL *vectors, REAL *scratch) {
  REAL *a = scratch, *tau = a + n * n, *lines = a + ALIGNED(n * n + 3 * n);
  PART *d = (PART *)(tau + n), *e = d + n;
  int64_t *order = (int64_t *)(void *)lines;
  R(symmetric)(n, x, a);
  PART scale = R(largest)(n * n, a);
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
    P(diagonals) t = {.n = n, .d = d, .e = e};
    t.left = P(sweeps_of)(n, n * PARTS, (PART *)a, (PART *)lines);
    done = P(make_diagonal)(&t, P(eigh_step));
  }
  if (!done) {
    P(fill)(values, n, NAN);
    return R(fill)(vectors, n * n, NAN);
  }
  P(sort)(n, d, false, order);
  for (int64_t i = 0; i < n; i++) {
    const REAL *row = a + order[i] * n, best = R(best)(n, row), by = R(to_positive)(best);
    values[i] = d[order[i]] * scale;
    for (int64_t j = 0; j < n; j++) vectors[j * n + i] = R(turned)(row[j], by, best);
  }
}
