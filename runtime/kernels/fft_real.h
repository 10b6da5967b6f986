// Transforms of rows in one precision; fft.c includes it for float and for double.
//
// Rows go `beside` at a time through the passes, as split complex numbers [point][row]: real parts
// in one array, imaginary parts in another. An inverse transform is the forward one with the two
// exchanged.
#define SPLIT R(split)
#define STEPS R(steps)
#define RUN R(run)

typedef struct SPLIT {
  REAL *re, *im;
} SPLIT;

// What fft_pass.h says, for vectors of one width.
typedef struct STEPS {
  void (*pass)(int radix, int64_t m, int64_t s, const SPLIT *x, const SPLIT *y, const REAL *twiddle,
               const REAL *roots);
  void (*turn)(const SPLIT *x, const SPLIT *table, int64_t n, int64_t beside, REAL scale);
  void (*fold)(const SPLIT *x, const REAL *roots, int64_t h, int64_t beside, bool back);
} STEPS;

#define PASS "runtime/kernels/fft_pass.h"
#include "runtime/kernels/each_width.h"

// What the calls on some tiles share, in their scratch.
typedef struct RUN {
  const leat_fft_plan *plan;
  int64_t n;      // points of a row, as the caller sees it
  int64_t widest; // bytes of the CPU's vectors
  REAL *twiddles; // of the passes, one after the other
  REAL *folding;  // e^(-2πi k / n), k ≤ n / 4: of real transforms
  SPLIT chirp;    // Bluestein: e^(-πi k² / n) …
  SPLIT kernel;   // … and the transform of its conjugate, over `length`
  SPLIT a, b;     // length × beside
} RUN;

// Of the widest vectors of which `count` numbers are a multiple.
static const STEPS *R(steps_for)(const RUN *run, int64_t count) {
  int64_t bytes = count * (int64_t)sizeof(REAL);
#if WIDEST == 64
  if (run->widest >= 64 && bytes % 64 == 0) return &R(steps_64);
  if (run->widest >= 32 && bytes % 32 == 0) return &R(steps_32);
#endif
#if WIDEST >= 16
  if (run->widest >= 16 && bytes % 16 == 0) return &R(steps_16);
#endif
  return &R(steps_1);
}

static void R(swap)(SPLIT *x, SPLIT *y) {
  SPLIT t = *x;
  *x = *y;
  *y = t;
}

// The transform of what is in x, with y's memory; returns in which of the two it is.
static SPLIT R(transform)(const RUN *run, SPLIT x, SPLIT y, int64_t beside) {
  const leat_fft_plan *plan = run->plan;
  const REAL *twiddle = run->twiddles;
  int64_t m = plan->length, s = beside;
  for (int i = 0; i < plan->passes; i++) {
    int radix = plan->radix[i];
    REAL roots[2 * LEAT_FFT_MOST_RADIX];
    for (int j = 0; j < radix; j++) {
      double c, d;
      unit_root(j, radix, &c, &d);
      roots[2 * j] = (REAL)c;
      roots[2 * j + 1] = (REAL)d;
    }
    m /= radix;
    R(steps_for)(run, s)->pass(radix, m, s, &x, &y, twiddle, roots);
    twiddle += 2 * m * (radix - 1);
    s *= radix;
    R(swap)(&x, &y);
  }
  return x;
}

// -- Tables --------------------------------------------------------------------------------------

static void R(put)(REAL *table, int64_t at, const root_table *roots, int64_t turns) {
  double c, s;
  table_root(roots, turns, &c, &s);
  table[2 * at] = (REAL)c;
  table[2 * at + 1] = (REAL)s;
}

static void R(make_twiddles)(const RUN *run) {
  const leat_fft_plan *plan = run->plan;
  root_table roots = make_roots(plan->length, run->a.re);
  REAL *out = run->twiddles;
  int64_t m = plan->length, step = 1; // step: length / what is left to transform
  for (int i = 0; i < plan->passes; i++) {
    int radix = plan->radix[i];
    m /= radix;
    for (int64_t p = 0; p < m; p++, out += 2 * (radix - 1))
      for (int k = 1; k < radix; k++) R(put)(out, k - 1, &roots, p * k * step);
    step *= radix;
  }
}

static void R(make_folding)(const RUN *run) {
  root_table roots = make_roots(run->n, run->a.re);
  for (int64_t k = 0; k <= run->n / 4; k++) R(put)(run->folding, k, &roots, k);
}

// k² mod 2n grows by 2k + 1.
static void R(make_chirp)(const RUN *run) {
  int64_t n = run->plan->n, length = run->plan->length, square = 0;
  root_table roots = make_roots(2 * n, run->a.re);
  for (int64_t k = 0; k < n; k++) {
    double c, s;
    table_root(&roots, square, &c, &s);
    run->chirp.re[k] = (REAL)c;
    run->chirp.im[k] = (REAL)s;
    square = (square + 2 * k + 1) % (2 * n);
  }
  memset(run->a.re, 0, (size_t)length * sizeof(REAL));
  memset(run->a.im, 0, (size_t)length * sizeof(REAL));
  for (int64_t k = 0; k < n; k++) {
    int64_t mirror = k ? length - k : 0;
    run->a.re[k] = run->a.re[mirror] = run->chirp.re[k];
    run->a.im[k] = run->a.im[mirror] = -run->chirp.im[k];
  }
  SPLIT result = R(transform)(run, run->a, run->b, 1);
  memcpy(run->kernel.re, result.re, (size_t)length * sizeof(REAL));
  memcpy(run->kernel.im, result.im, (size_t)length * sizeof(REAL));
}

// Lays out the scratch and fills the tables. `real`: the run is of a real transform.
static RUN R(start)(const leat_fft_plan *plan, int64_t n, bool real, REAL *scratch) {
  int64_t length = plan->length, points = length * plan->beside;
  RUN run = {.plan = plan, .n = n, .widest = vector_bytes(), .a = {scratch, scratch + points}};
  scratch += 2 * points;
  run.b = (SPLIT){scratch, scratch + points};
  run.twiddles = scratch += 2 * points;
  run.folding = scratch += 2 * length;
  scratch += 2 * plan->n + 2;
  R(make_twiddles)(&run);
  if (real && n % 2 == 0) R(make_folding)(&run);
  if (length == plan->n) return run;
  run.chirp = (SPLIT){scratch, scratch + plan->n};
  scratch += 2 * plan->n;
  run.kernel = (SPLIT){scratch, scratch + length};
  R(make_chirp)(&run);
  return run;
}

// -- Rows ----------------------------------------------------------------------------------------

// Bluestein: x_k chirp_k, convolved with the chirp's conjugate, times chirp_k. The inverse
// transform of the convolution is the forward one with real and imaginary parts exchanged.
static SPLIT R(convolve)(const RUN *run, SPLIT x, SPLIT spare, int64_t beside) {
  int64_t n = run->plan->n, length = run->plan->length;
  const STEPS *steps = R(steps_for)(run, beside);
  size_t rest = (size_t)((length - n) * beside) * sizeof(REAL);
  steps->turn(&x, &run->chirp, n, beside, 1);
  memset(x.re + n * beside, 0, rest);
  memset(x.im + n * beside, 0, rest);
  SPLIT y = R(transform)(run, x, spare, beside), other = y.re == x.re ? spare : x;
  steps->turn(&y, &run->kernel, length, beside, 1 / (REAL)length);
  y = R(transform)(run, (SPLIT){y.im, y.re}, (SPLIT){other.im, other.re}, beside);
  y = (SPLIT){y.im, y.re};
  steps->turn(&y, &run->chirp, n, beside, 1);
  return y;
}

// The transform of run->a.
static SPLIT R(forward)(const RUN *run, bool inverse, int64_t beside) {
  SPLIT x = inverse ? (SPLIT){run->a.im, run->a.re} : run->a;
  SPLIT spare = inverse ? (SPLIT){run->b.im, run->b.re} : run->b;
  bool direct = run->plan->length == run->plan->n;
  SPLIT y = direct ? R(transform)(run, x, spare, beside) : R(convolve)(run, x, spare, beside);
  return inverse ? (SPLIT){y.im, y.re} : y;
}

// The first n of the `points` interleaved numbers of each row to run->a, and back.
static void R(split_rows)(const RUN *run, const REAL *in, int64_t n, int64_t points,
                          int64_t beside) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t row = 0; row < beside; row++) {
      run->a.re[i * beside + row] = in[2 * (row * points + i)];
      run->a.im[i * beside + row] = in[2 * (row * points + i) + 1];
    }
}

static void R(join_rows)(SPLIT y, REAL *out, int64_t n, int64_t points, int64_t beside,
                         REAL scale) {
  for (int64_t row = 0; row < beside; row++)
    for (int64_t i = 0; i < n; i++) {
      out[2 * (row * points + i)] = y.re[i * beside + row] * scale;
      out[2 * (row * points + i) + 1] = y.im[i * beside + row] * scale;
    }
}

static void R(complex_rows)(const RUN *run, const REAL *in, REAL *out, bool inverse,
                            int64_t beside) {
  int64_t n = run->n;
  R(split_rows)(run, in, n, n, beside);
  SPLIT y = R(forward)(run, inverse, beside);
  R(join_rows)(y, out, n, n, beside, inverse ? 1 / (REAL)n : 1);
}

static void R(rfft_rows)(const RUN *run, const REAL *in, REAL *out, int64_t beside) {
  int64_t n = run->n, bins = n / 2 + 1;
  if (n % 2 == 0) {
    int64_t h = n / 2;
    R(split_rows)(run, in, h, h, beside);
    SPLIT x = R(forward)(run, false, beside);
    R(steps_for)(run, beside)->fold(&x, run->folding, h, beside, false);
    R(join_rows)(x, out, h, bins, beside, 1);
    for (int64_t row = 0; row < beside; row++) {
      REAL *first = out + 2 * row * bins, *last = first + 2 * h;
      *last = first[1];
      first[1] = last[1] = 0;
    }
    return;
  }
  for (int64_t i = 0; i < n; i++)
    for (int64_t row = 0; row < beside; row++) {
      run->a.re[i * beside + row] = in[row * n + i];
      run->a.im[i * beside + row] = 0;
    }
  R(join_rows)(R(forward)(run, false, beside), out, bins, bins, beside, 1);
}

static void R(irfft_rows)(const RUN *run, const REAL *in, REAL *out, int64_t beside) {
  int64_t n = run->n, bins = n / 2 + 1;
  if (n % 2 == 0) {
    int64_t h = n / 2;
    R(split_rows)(run, in, h, bins, beside);
    for (int64_t row = 0; row < beside; row++) run->a.im[row] = in[2 * (row * bins + h)];
    R(steps_for)(run, beside)->fold(&run->a, run->folding, h, beside, true);
    R(join_rows)(R(forward)(run, true, beside), out, h, h, beside, 1 / (REAL)n);
    return;
  }
  for (int64_t i = 0; i < n; i++)
    for (int64_t row = 0; row < beside; row++) {
      bool mirrored = i >= bins;
      const REAL *x = in + 2 * (row * bins + (mirrored ? n - i : i));
      run->a.re[i * beside + row] = x[0];
      run->a.im[i * beside + row] = i == 0 ? 0 : mirrored ? -x[1] : x[1];
    }
  SPLIT y = R(forward)(run, true, beside);
  for (int64_t row = 0; row < beside; row++)
    for (int64_t i = 0; i < n; i++) out[row * n + i] = y.re[i * beside + row] / (REAL)n;
}

static void R(rows)(const fft_call *call, int64_t begin, int64_t end) {
  REAL *out = call->out, *scratch = call->scratch;
  const REAL *in = call->in;
  bool from_real = call->kind == LEAT_FFT_FROM_REAL, to_real = call->kind == LEAT_FFT_TO_REAL;
  RUN run = R(start)(&call->plan, call->n, from_real || to_real, scratch);
  int64_t half = call->n / 2 * 2 + 2; // numbers of the half of a spectrum
  int64_t in_size = from_real ? call->n : to_real ? half : 2 * call->n;
  int64_t out_size = from_real ? half : to_real ? call->n : 2 * call->n;
  for (int64_t row = begin, beside; row < end; row += beside) {
    beside = end - row >= call->plan.beside ? call->plan.beside : 1;
    const REAL *x = in + row * in_size;
    REAL *y = out + row * out_size;
    if (from_real)
      R(rfft_rows)(&run, x, y, beside);
    else if (to_real)
      R(irfft_rows)(&run, x, y, beside);
    else
      R(complex_rows)(&run, x, y, call->kind == LEAT_FFT_INVERSE, beside);
  }
}

#undef STEPS
#undef SPLIT
#undef RUN
#undef REAL
#undef R
