// The steps of a transform over vectors of LANES numbers; included once for each REAL and width by
// fft_real.h. They are loops over independent elements: every width gives the same bits.
//
// One pass of Stockham's transform: x holds `radix` blocks of m × s numbers, y takes m blocks of
// radix × s:
//   y[p][k] = w^(p k) Σ_j x[j][p] e^(-2πi j k / radix)
// where the powers w^p, w^2p … of each p stand in `twiddle`. s is a multiple of LANES.

typedef struct NAME(complex) {
  V re, im;
} NAME(complex);
#define C NAME(complex)

INLINE C NAME(load)(const SPLIT *x, int64_t at) {
  return (C){*(const V *)(x->re + at), *(const V *)(x->im + at)};
}

INLINE void NAME(store)(const SPLIT *y, int64_t at, C value) {
  *(V *)(y->re + at) = value.re;
  *(V *)(y->im + at) = value.im;
}

// value × the twiddle factor at w.
INLINE void NAME(store_turned)(const SPLIT *y, int64_t at, C value, const REAL *w) {
  NAME(store)(y, at, (C){value.re * w[0] - value.im * w[1], value.re * w[1] + value.im * w[0]});
}

INLINE C NAME(add)(C a, C b) {
  return (C){a.re + b.re, a.im + b.im};
}

INLINE C NAME(sub)(C a, C b) {
  return (C){a.re - b.re, a.im - b.im};
}

INLINE C NAME(times_minus_i)(C a) {
  return (C){a.im, -a.re};
}

// a × (1 - i) / √2 and a × (-1 - i) / √2
INLINE C NAME(eighth)(C a) {
  const REAL half = (REAL)0.70710678118654752440;
  return (C){(a.re + a.im) * half, (a.im - a.re) * half};
}

INLINE C NAME(three_eighths)(C a) {
  const REAL half = (REAL)0.70710678118654752440;
  return (C){(a.im - a.re) * half, -(a.re + a.im) * half};
}

// a[0 … 4) replaced by their transform.
INLINE void NAME(four)(C *a) {
  C s = NAME(add)(a[0], a[2]), d = NAME(sub)(a[0], a[2]);
  C t = NAME(add)(a[1], a[3]), e = NAME(times_minus_i)(NAME(sub)(a[1], a[3]));
  a[0] = NAME(add)(s, t);
  a[1] = NAME(add)(d, e);
  a[2] = NAME(sub)(s, t);
  a[3] = NAME(sub)(d, e);
}

INLINE void NAME(eight)(C *a) {
  C even[4] = {a[0], a[2], a[4], a[6]}, odd[4] = {a[1], a[3], a[5], a[7]};
  NAME(four)(even);
  NAME(four)(odd);
  odd[1] = NAME(eighth)(odd[1]);
  odd[2] = NAME(times_minus_i)(odd[2]);
  odd[3] = NAME(three_eighths)(odd[3]);
  UNROLL for (int k = 0; k < 4; k++) {
    a[k] = NAME(add)(even[k], odd[k]);
    a[k + 4] = NAME(sub)(even[k], odd[k]);
  }
}

// An odd radix, from the sums and differences of a[j] and a[radix - j]; roots: cos and -sin of
// 2πj / radix.
INLINE void NAME(odd)(C *a, int radix, const REAL *roots) {
  C sum[LEAT_FFT_MOST_RADIX / 2 + 1] = {}, difference[LEAT_FFT_MOST_RADIX / 2 + 1] = {};
  C first = a[0];
  int half = radix / 2;
  UNROLL for (int j = 1; j <= half; j++) {
    sum[j] = NAME(add)(a[j], a[radix - j]);
    difference[j] = NAME(sub)(a[j], a[radix - j]);
    a[0] = NAME(add)(a[0], sum[j]);
  }
  UNROLL for (int k = 1; k <= half; k++) {
    C even = first, odd = {sum[1].re - sum[1].re, sum[1].re - sum[1].re};
    UNROLL for (int j = 1, turn = k; j <= half; j++, turn = (turn + k) % radix) {
      REAL c = roots[2 * turn], s = roots[2 * turn + 1];
      even.re += sum[j].re * c;
      even.im += sum[j].im * c;
      odd.re -= difference[j].im * s;
      odd.im += difference[j].re * s;
    }
    a[k] = NAME(add)(even, odd);
    a[radix - k] = NAME(sub)(even, odd);
  }
}

#define RADIX_PASS(RADIX, BUTTERFLY)                                                               \
  for (int64_t p = 0; p < m; p++, twiddle += 2 * ((RADIX)-1))                                      \
    for (int64_t q = 0; q < s; q += LANES) {                                                       \
      C a[RADIX];                                                                                  \
      UNROLL for (int j = 0; j < (RADIX); j++) a[j] = NAME(load)(x, q + s * (p + m * j));          \
      BUTTERFLY;                                                                                   \
      NAME(store)(y, q + s * (RADIX)*p, a[0]);                                                     \
      UNROLL for (int k = 1; k < (RADIX); k++)                                                     \
          NAME(store_turned)(y, q + s * ((RADIX)*p + k), a[k], twiddle + 2 * (k - 1));             \
    }

TARGET static void NAME(pass)(int radix, int64_t m, int64_t s, const SPLIT *x, const SPLIT *y,
                              const REAL *twiddle, const REAL *roots) {
  switch (radix) {
  case 2: RADIX_PASS(2, C t = a[0]; a[0] = NAME(add)(t, a[1]); a[1] = NAME(sub)(t, a[1])) break;
  case 3: RADIX_PASS(3, NAME(odd)(a, 3, roots)) break;
  case 4: RADIX_PASS(4, NAME(four)(a)) break;
  case 5: RADIX_PASS(5, NAME(odd)(a, 5, roots)) break;
  case 7: RADIX_PASS(7, NAME(odd)(a, 7, roots)) break;
  case 8: RADIX_PASS(8, NAME(eight)(a)) break;
  case 11: RADIX_PASS(11, NAME(odd)(a, 11, roots)) break;
  case 13: RADIX_PASS(13, NAME(odd)(a, 13, roots)) break;
  default:
    for (int64_t p = 0; p < m; p++, twiddle += 2 * (radix - 1))
      for (int64_t q = 0; q < s; q += LANES) {
        C a[LEAT_FFT_MOST_RADIX] = {};
        for (int j = 0; j < radix; j++) a[j] = NAME(load)(x, q + s * (p + m * j));
        NAME(odd)(a, radix, roots);
        NAME(store)(y, q + s * radix * p, a[0]);
        for (int k = 1; k < radix; k++)
          NAME(store_turned)(y, q + s * (radix * p + k), a[k], twiddle + 2 * (k - 1));
      }
  }
}

// x[k][row] × table_k × scale, for n points of `beside` rows, a multiple of LANES.
TARGET static void NAME(turn)(const SPLIT *x, const SPLIT *table, int64_t n, int64_t beside,
                              REAL scale) {
  for (int64_t k = 0; k < n; k++) {
    REAL w[2] = {table->re[k] * scale, table->im[k] * scale};
    for (int64_t at = k * beside; at < (k + 1) * beside; at += LANES)
      NAME(store_turned)(x, at, NAME(load)(x, at), w);
  }
}

// Between the transform Z of the h pairs of numbers of real rows and that of the 2h numbers, X.
// With w_k = e^(-πi k / h), E = Z_k + Z*_(h-k) and D = Z_k - Z*_(h-k):
//   2 X_k = E - i w_k D   and back, twice too large,   Z_k = E + i w*_k D
// where for h - k the sum is E* - (…)*. Both ways x_0 holds X_0 + i X_h, which are real.
TARGET static void NAME(fold)(const SPLIT *x, const REAL *roots, int64_t h, int64_t beside,
                              bool back) {
  REAL sign = back ? 1 : -1, scale = back ? 1 : (REAL)0.5;
  for (int64_t q = 0; q < beside; q += LANES) {
    C first = NAME(load)(x, q);
    NAME(store)(x, q, (C){first.re + first.im, first.re - first.im});
    for (int64_t k = 1; 2 * k <= h; k++) {
      int64_t at = k * beside + q, mirror = (h - k) * beside + q;
      C a = NAME(load)(x, at), b = NAME(load)(x, mirror);
      C even = {a.re + b.re, a.im - b.im}, odd = {a.re - b.re, a.im + b.im};
      REAL re = roots[2 * k + 1] * scale, im = roots[2 * k] * (sign * scale);
      C turned = {odd.re * re - odd.im * im, odd.re * im + odd.im * re};
      even = (C){even.re * scale, even.im * scale};
      NAME(store)(x, mirror, (C){even.re - turned.re, turned.im - even.im});
      NAME(store)(x, at, NAME(add)(even, turned));
    }
  }
}

static const STEPS NAME(steps) = {NAME(pass), NAME(turn), NAME(fold)};

#undef RADIX_PASS
#undef C
