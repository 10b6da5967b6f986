// QR by Householder reflections I - tau v vᵀ, BLOCK of them at a time as I - V T Vᵀ, of REAL
// numbers or, where REAL is a complex type, of those: then transposes are conjugate.

// x becomes a vector v with v[0] = 1, so that (I - tau v vᵀ)ᵀ maps the former x to beta e₀, beta a
// real number; its sign is the other than x[0]'s. A zero vector: tau 0.
static REAL R(householder)(int64_t n, REAL *x, PART *beta) {
  PART scale = R(largest)(n, x), norm;
  REAL tau, alpha = x[0];
  if (scale == 0 || (n == 1 && alpha == R_REAL(alpha))) {
    *beta = R_REAL(alpha);
    x[0] = 1;
    return 0;
  }
  for (int64_t i = 0; i < n; i++) x[i] /= scale;
  norm = R_SQRT(R_REAL(R(dot)(n, x, x)));
  alpha = x[0];
  if (R_REAL(alpha) > 0) norm = -norm;
  tau = (norm - alpha) / norm;
  for (int64_t i = 1; i < n; i++) x[i] /= alpha - norm;
  x[0] = 1;
  *beta = norm * scale;
  return tau;
}

// Scratch of reflections on m rows and up to n columns; V is m × BLOCK, vt its transpose.
typedef struct R(reflector) {
  REAL *v, *vt, *t, *w, *w2, *line;
} R(reflector);

static R(reflector) R(reflector_in)(int64_t m, int64_t n, REAL *scratch) {
  R(reflector) r = {.v = scratch};
  r.vt = r.v + m * BLOCK;
  r.t = r.vt + m * BLOCK;
  r.w = r.t + BLOCK * BLOCK;
  r.w2 = r.w + n * BLOCK;
  r.line = r.w2 + n * BLOCK;
  return r;
}

// V and T of the reflections whose vectors stand below the diagonal of the m × count matrix a;
// `row` and `column` are from one to the next.
static void R(gather_block)(const R(reflector) * r, int64_t m, int64_t count, const REAL *a,
                            int64_t row, int64_t column, const REAL *tau) {
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < count; j++) {
      REAL v = i > j ? a[i * row + j * column] : i == j;
      r->v[i * count + j] = v;
      r->vt[j * m + i] = R_CONJ(v);
    }
  for (int64_t j = 0; j < count; j++) {
    for (int64_t i = 0; i < BLOCK; i++) r->t[i * BLOCK + j] = 0;
    for (int64_t i = 0; i < j; i++) r->line[i] = -tau[j] * R(dot)(m, r->vt + i * m, r->vt + j * m);
    for (int64_t i = 0; i < j; i++)
      for (int64_t k = i; k < j; k++) r->t[i * BLOCK + j] += r->t[i * BLOCK + k] * r->line[k];
    r->t[j * BLOCK + j] = tau[j];
  }
}

// a = (I - V T Vᵀ) a, or with Tᵀ; a: m × n.
static void R(apply_block)(const R(reflector) * r, bool transposed, int64_t m, int64_t n,
                           int64_t count, REAL *a, int64_t lda) {
  REAL t[BLOCK * BLOCK];
  for (int i = 0; i < BLOCK; i++)
    for (int j = 0; j < BLOCK; j++)
      t[i * BLOCK + j] = transposed ? R_CONJ(r->t[j * BLOCK + i]) : r->t[i * BLOCK + j];
  R(fill)(r->w, count * n, 0);
  R(fill)(r->w2, count * n, 0);
  R(subtract)(count, n, m, r->vt, m, a, lda, r->w, n);
  R(subtract)(count, n, count, t, BLOCK, r->w, n, r->w2, n);
  R(subtract)(m, n, count, r->v, count, r->w2, n, a, lda);
}

// The columns [begin, end) of a, m × n, by reflections one by one.
static void R(qr_panel)(const R(reflector) * r, int64_t m, int64_t n, int64_t begin, int64_t end,
                        REAL *a, REAL *tau) {
  for (int64_t j = begin; j < end; j++) {
    int64_t rows = m - j, columns = end - j - 1;
    REAL *v = r->line, *w = r->w, *right = a + j * n + j + 1;
    PART beta;
    for (int64_t i = 0; i < rows; i++) v[i] = a[(j + i) * n + j];
    tau[j] = R(householder)(rows, v, &beta);
    R(fill)(w, columns, 0);
    R(conjugate)(rows, v);
    R(subtract)(1, columns, rows, v, rows, right, n, w, columns);
    R(conjugate)(rows, v);
    for (int64_t i = 0; i < columns; i++) w[i] *= -R_CONJ(tau[j]);
    R(subtract)(rows, columns, 1, v, 1, w, columns, right, n);
    a[j * n + j] = beta;
    for (int64_t i = 1; i < rows; i++) a[(j + i) * n + j] = v[i];
  }
}

// q, m × columns, becomes the first columns of the product of the `count` reflections in a.
static void R(form_q)(const R(reflector) * r, int64_t m, int64_t count, int64_t columns,
                      const REAL *a, int64_t lda, const REAL *tau, REAL *q, int64_t ldq) {
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < columns; j++) q[i * ldq + j] = i == j;
  for (int64_t begin = (count + BLOCK - 1) / BLOCK * BLOCK; begin > 0;) {
    int64_t end = begin < count ? begin : count;
    begin -= BLOCK;
    R(gather_block)(r, m - begin, end - begin, a + begin * lda + begin, lda, 1, tau + begin);
    R(apply_block)(r, false, m - begin, columns - begin, end - begin, q + begin * ldq + begin, ldq);
  }
}

// a = Q R, m × n: R, and below its diagonal the vectors of Q's reflections.
static void R(qr_in_place)(const R(reflector) * r, int64_t m, int64_t n, REAL *a, REAL *tau) {
  int64_t count = m < n ? m : n;
  for (int64_t begin = 0, end; begin < count; begin = end) {
    end = begin + BLOCK < count ? begin + BLOCK : count;
    R(qr_panel)(r, m, n, begin, end, a, tau);
    R(gather_block)(r, m - begin, end - begin, a + begin * n + begin, n, 1, tau + begin);
    R(apply_block)(r, true, m - begin, n - end, end - begin, a + begin * n + end, n);
  }
}

// x = q · r with a diagonal of r that is real and not negative. q is m × height, r is height × n,
// where height is m or min(m, n).
static void R(qr)(int64_t m, int64_t n, int64_t height, const REAL *x, REAL *q, REAL *out,
                  REAL *scratch) {
  int64_t count = m < n ? m : n;
  REAL *a = scratch, *tau = a + m * n;
  R(reflector) r = R(reflector_in)(m, m > n ? m : n, tau + count);
  memcpy(a, x, (size_t)(m * n) * sizeof(REAL));
  R(qr_in_place)(&r, m, n, a, tau);
  R(form_q)(&r, m, count, height, a, n, tau, q, height);
  for (int64_t i = 0; i < height; i++)
    for (int64_t j = 0; j < n; j++) out[i * n + j] = j >= i ? a[i * n + j] : 0;
  for (int64_t i = 0; i < count; i++) {
    if (!(R_REAL(a[i * n + i]) < 0)) continue;
    for (int64_t j = i; j < n; j++) out[i * n + j] = -out[i * n + j];
    for (int64_t j = 0; j < m; j++) q[j * height + i] = -q[j * height + i];
  }
}
