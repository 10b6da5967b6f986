// Dot products over vectors of VECTOR_BYTES, or over single numbers: partial sums of as many
// numbers as 64 bytes hold, then what is left. Every width gives the same bits.

enum { NAME(SUMS) = 64 / sizeof(REAL) };

TARGET static REAL NAME(dot)(int64_t n, const REAL *x, const REAL *y) {
  V sums[NAME(SUMS) / LANES] = {};
  int64_t i = 0;
  for (; i + NAME(SUMS) <= n; i += NAME(SUMS))
    UNROLL for (int j = 0; j < NAME(SUMS) / LANES; j++) sums[j] +=
        *(const V *)(x + i + j * LANES) * *(const V *)(y + i + j * LANES);
  const REAL *sum = (const REAL *)sums;
  REAL total = 0;
  int quarter = NAME(SUMS) / 4;
  for (int j = 0; j < quarter; j++)
    total += (sum[j] + sum[j + quarter]) + (sum[j + 2 * quarter] + sum[j + 3 * quarter]);
  for (; i < n; i++) total += x[i] * y[i];
  return total;
}
