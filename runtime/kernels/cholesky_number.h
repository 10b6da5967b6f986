// Cholesky's factorisation by blocks of BLOCK columns, of REAL numbers or, where REAL is a complex
// type, of those: then transposes are conjugate, and symmetric matrices Hermitian.

// The symmetric part of x.
static void R(symmetric)(int64_t n, const REAL *x, REAL *out) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j <= i; j++) {
      REAL a = x[i * n + j], b = R_CONJ(x[j * n + i]), half = a == b ? a : a / 2 + b / 2;
      out[j * n + i] = R_CONJ(half);
      out[i * n + j] = half;
    }
}

// The lower L with L Lᵀ = the symmetric part of x. NaN everywhere when that is not positive
// definite. panel: BLOCK × n.
static void R(cholesky)(int64_t n, const REAL *x, REAL *l, REAL *panel) {
  R(symmetric)(n, x, l);
  for (int64_t begin = 0, end; begin < n; begin = end) {
    end = begin + BLOCK < n ? begin + BLOCK : n;
    for (int64_t i = begin; i < n; i++)
      for (int64_t j = begin; j < end && j <= i; j++) {
        REAL rest = l[i * n + j] - R(dot)(j - begin, l + i * n + begin, l + j * n + begin);
        if (i == j && !(R_REAL(rest) > 0)) return R(fill)(l, n * n, NAN);
        l[i * n + j] = i == j ? R_SQRT(R_REAL(rest)) : rest / l[j * n + j];
      }
    R(transpose)(n - end, end - begin, l + end * n + begin, n, panel, n - end);
    for (int64_t i = 0; i < (n - end) * (end - begin); i++) panel[i] = R_CONJ(panel[i]);
    for (int64_t row = end, last; row < n; row = last) { // below the diagonal, and a bit above
      last = row + BLOCK < n ? row + BLOCK : n;
      R(subtract)
      (last - row, last - end, end - begin, l + row * n + begin, n, panel, n - end,
       l + row * n + end, n);
    }
  }
  for (int64_t i = 0; i < n; i++) R(fill)(l + i * n + i + 1, n - i - 1, 0);
}
