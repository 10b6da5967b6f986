// C -= A · B over vectors of VECTOR_BYTES, or over single numbers, once for each width. Every
// element subtracts its products one by one, k ascending: every width, and every split of k into
// blocks, gives the same bits.

// `rows` × `vectors` accumulators in registers.
INLINE void NAME(tile)(int rows, int vectors, int64_t k, const REAL *a, int64_t lda, const REAL *b,
                       int64_t ldb, REAL *c, int64_t ldc) {
  V sum[4][8];
  UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < vectors; j++) sum[i][j] =
      *(const V *)(c + i * ldc + j * LANES);
  for (int64_t l = 0; l < k; l++) UNROLL for (int j = 0; j < vectors; j++) {
      V right = *(const V *)(b + l * ldb + j * LANES);
      UNROLL for (int i = 0; i < rows; i++) sum[i][j] -= a[i * lda + l] * right;
    }
  UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < vectors; j++) *
      (V *)(c + i * ldc + j * LANES) = sum[i][j];
}

INLINE void NAME(rows)(int vectors, int64_t m, int64_t k, const REAL *a, int64_t lda, const REAL *b,
                       int64_t ldb, REAL *c, int64_t ldc) {
  int64_t i = 0;
  for (; i + 4 <= m; i += 4) NAME(tile)(4, vectors, k, a + i * lda, lda, b, ldb, c + i * ldc, ldc);
  for (; i < m; i++) NAME(tile)(1, vectors, k, a + i * lda, lda, b, ldb, c + i * ldc, ldc);
}

// As many columns as fill vectors; returns how many. One row takes more of them at once, for the
// long steps from row to row of B. With few products an element a wide C is passed over as it
// lies.
TARGET static int64_t NAME(columns)(int64_t m, int64_t n, int64_t k, const REAL *a, int64_t lda,
                                    const REAL *b, int64_t ldb, REAL *c, int64_t ldc) {
  int64_t height = k < 8 && n >= 8 * LANES ? 4 : m;
  for (int64_t i = 0, j; i < m; i += height, a += height * lda, c += height * ldc) {
    int64_t rows = height < m - i ? height : m - i;
    for (j = 0; rows == 1 && j + 8 * LANES <= n; j += 8 * LANES)
      NAME(tile)(1, 8, k, a, lda, b + j, ldb, c + j, ldc);
    for (; j + 2 * LANES <= n; j += 2 * LANES)
      NAME(rows)(2, rows, k, a, lda, b + j, ldb, c + j, ldc);
    for (; j + LANES <= n; j += LANES) NAME(rows)(1, rows, k, a, lda, b + j, ldb, c + j, ldc);
  }
  return n / LANES * LANES;
}
