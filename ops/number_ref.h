// The factorisations of matrices of NUMBER; linalg_ref.c includes it for real and for complex
// numbers. Transposes are conjugate, symmetric matrices Hermitian.

static void N(fill)(NUMBER *x, int64_t count, NUMBER value) {
  for (int64_t i = 0; i < count; i++) x[i] = value;
}

// The symmetric part of x, of complex numbers the Hermitian one.
static void N(make_symmetric)(int64_t n, NUMBER *x) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j <= i; j++) {
      NUMBER half = (x[i * n + j] + N_CONJ(x[j * n + i])) / 2;
      x[j * n + i] = N_CONJ(half);
      x[i * n + j] = half;
    }
}

static void N(cholesky)(leat_ref_context *context, leat_arena *arena, int64_t batch) {
  int64_t n = columns_of(&context->inputs[0]);
  NUMBER *x = N(load)(arena, &context->inputs[0], batch, n * n), *l = N(numbers)(arena, n * n);
  N(make_symmetric)(n, x);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j <= i; j++) {
      NUMBER rest = x[i * n + j];
      for (int64_t k = 0; k < j; k++) rest -= l[i * n + k] * N_CONJ(l[j * n + k]);
      if (i == j && !(N_REAL(rest) > 0)) {
        N(fill)(l, n * n, NAN);
        i = n;
        break;
      }
      l[i * n + j] = i == j ? sqrtl(N_REAL(rest)) : rest / l[j * n + j];
    }
  N(store)(&context->outputs[0], batch, n * n, l);
}

static void N(exchange)(NUMBER *a, NUMBER *b, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    NUMBER t = a[i];
    a[i] = b[i];
    b[i] = t;
  }
}

static void N(lu)(leat_ref_context *context, leat_arena *arena, int64_t batch) {
  int64_t m = rows_of(&context->inputs[0]), n = columns_of(&context->inputs[0]);
  int64_t count = m < n ? m : n;
  NUMBER *a = N(load)(arena, &context->inputs[0], batch, m * n);
  int32_t *pivots = (int32_t *)context->outputs[1].data + batch * count;
  int32_t *permutation = (int32_t *)context->outputs[2].data + batch * m;
  for (int64_t i = 0; i < m; i++) permutation[i] = (int32_t)i;
  for (int64_t j = 0; j < count; j++) {
    int64_t best = j;
    for (int64_t i = j + 1; i < m; i++)
      if (N_ABS(a[i * n + j]) > N_ABS(a[best * n + j])) best = i;
    int32_t t = permutation[j];
    pivots[j] = (int32_t)best;
    permutation[j] = permutation[best];
    permutation[best] = t;
    if (best != j) N(exchange)(a + j * n, a + best * n, n);
    for (int64_t i = j + 1; i < m; i++) {
      if (a[j * n + j] != 0) a[i * n + j] /= a[j * n + j];
      for (int64_t k = j + 1; k < n; k++) a[i * n + k] -= a[i * n + j] * a[j * n + k];
    }
  }
  N(store)(&context->outputs[0], batch, m * n, a);
}

// One system of n unknowns whose numbers are `step` apart in x; `at` is op(a).
static void N(substitute)(int64_t n, const NUMBER *at, bool lower, bool unit, NUMBER *x,
                          int64_t step) {
  for (int64_t k = 0; k < n; k++) {
    int64_t i = lower ? k : n - 1 - k;
    for (int64_t j = lower ? 0 : i + 1; j < (lower ? i : n); j++)
      x[i * step] -= at[i * n + j] * x[j * step];
    if (!unit) x[i * step] /= at[i * n + i];
  }
}

// x op(a) = b is op(a)ᵀ xᵀ = bᵀ.
static void N(triangular_solve)(leat_ref_context *context, leat_arena *arena, int64_t batch) {
  const leat_node *node = context->node;
  bool right = leat_node_attr(node, "right")->i, lower = leat_node_attr(node, "lower")->i;
  bool unit = leat_node_attr(node, "unit_diagonal")->i;
  bool transpose = right != (leat_node_attr(node, "transpose")->i != 0);
  int64_t n = columns_of(&context->inputs[0]), m = rows_of(&context->inputs[1]);
  int64_t k = columns_of(&context->inputs[1]), systems = right ? m : k;
  NUMBER *a = N(load)(arena, &context->inputs[0], batch, n * n), *at = N(numbers)(arena, n * n);
  NUMBER *x = N(load)(arena, &context->inputs[1], batch, m * k);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) at[i * n + j] = transpose ? a[j * n + i] : a[i * n + j];
  for (int64_t i = 0; i < systems; i++)
    N(substitute)(n, at, lower != transpose, unit, right ? x + i * k : x + i, right ? 1 : k);
  N(store)(&context->outputs[0], batch, m * k, x);
}

// -- QR: Householder's reflections, each applied to r and to q ------------------------------------

static NUMBER *N(identity)(leat_arena *arena, int64_t n) {
  NUMBER *out = N(numbers)(arena, n * n);
  for (int64_t i = 0; i < n; i++) out[i * n + i] = 1;
  return out;
}

static bool N(is_finite)(const NUMBER *x, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    if (!isfinite(N_ABS(x[i]))) return false;
  return true;
}

// x / |x|, 1 of 0: the sign of a real number.
static NUMBER N(direction)(NUMBER x) {
  real size = N_ABS(x);
  return size > 0 ? x / size : 1;
}

static void N(scale)(int64_t count, int64_t step, NUMBER *x, NUMBER by) {
  for (int64_t i = 0; i < count; i++) x[i * step] *= by;
}

// xᵀ y
static NUMBER N(product)(int64_t count, int64_t step, const NUMBER *x, const NUMBER *y) {
  NUMBER sum = 0;
  for (int64_t i = 0; i < count; i++) sum += N_CONJ(x[i * step]) * y[i * step];
  return sum;
}

static real N(square)(int64_t count, int64_t step, const NUMBER *x) {
  return N_REAL(N(product)(count, step, x, x));
}

// a (rows × columns) = (I - 2 v vᵀ / vᵀv) a, or a (I - 2 v vᵀ / vᵀv) from the right.
static void N(reflect_left)(int64_t rows, int64_t columns, const NUMBER *v, real square,
                            NUMBER *a) {
  for (int64_t j = 0; j < columns; j++) {
    NUMBER along = 0;
    for (int64_t i = 0; i < rows; i++) along += N_CONJ(v[i]) * a[i * columns + j];
    for (int64_t i = 0; i < rows; i++) a[i * columns + j] -= 2 * along / square * v[i];
  }
}

static void N(reflect_right)(int64_t rows, int64_t columns, const NUMBER *v, real square,
                             NUMBER *a) {
  for (int64_t i = 0; i < rows; i++) {
    NUMBER along = 0;
    for (int64_t j = 0; j < columns; j++) along += v[j] * a[i * columns + j];
    for (int64_t j = 0; j < columns; j++) a[i * columns + j] -= 2 * along / square * N_CONJ(v[j]);
  }
}

static void N(qr)(leat_ref_context *context, leat_arena *arena, int64_t batch) {
  int64_t m = rows_of(&context->inputs[0]), n = columns_of(&context->inputs[0]);
  int64_t height = columns_of(&context->outputs[0]), count = m < n ? m : n;
  NUMBER *r = N(load)(arena, &context->inputs[0], batch, m * n), *q = N(identity)(arena, m);
  NUMBER *v = N(numbers)(arena, m), *short_q = N(numbers)(arena, m * height);
  for (int64_t k = 0; k < count; k++) {
    for (int64_t i = 0; i < m; i++) v[i] = i < k ? 0 : r[i * n + k];
    v[k] += N(direction)(v[k]) * sqrtl(N(square)(m, 1, v));
    real square = N(square)(m, 1, v);
    if (square == 0) continue;
    N(reflect_left)(m, n, v, square, r);
    N(reflect_right)(m, m, v, square, q);
    for (int64_t i = k + 1; i < m; i++) r[i * n + k] = 0;
  }
  for (int64_t k = 0; k < count; k++) {
    NUMBER direction = N(direction)(r[k * n + k]);
    real size = N_ABS(r[k * n + k]);
    N(scale)(n, 1, r + k * n, N_CONJ(direction));
    N(scale)(m, m, q + k, direction);
    r[k * n + k] = size;
  }
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < height; j++) short_q[i * height + j] = q[i * m + j];
  N(store)(&context->outputs[0], batch, m * height, short_q);
  N(store)(&context->outputs[1], batch, height * n, r);
}

// -- Eigenvalues and singular values: Jacobi's rotations ------------------------------------------

// (x, y) = (c x - s y, s x + c y), y times `turn` before.
static void N(rotate)(int64_t count, int64_t step, NUMBER *x, NUMBER *y, real c, real s,
                      NUMBER turn) {
  for (int64_t i = 0; i < count; i++) {
    NUMBER a = x[i * step], b = y[i * step] * turn;
    x[i * step] = c * a - s * b;
    y[i * step] = s * a + c * b;
  }
}

// x turned so that its largest number, of equal ones the first, is positive; returns by what.
static NUMBER N(make_positive)(int64_t count, int64_t step, NUMBER *x) {
  int64_t best = 0;
  for (int64_t i = 1; i < count; i++)
    if (N_ABS(x[i * step]) > N_ABS(x[best])) best = i * step;
  real size = N_ABS(x[best]);
  NUMBER by = N_CONJ(N(direction)(x[best]));
  N(scale)(count, step, x, by);
  x[best] = size;
  return by;
}

// a (n × n) becomes diagonal, vᵀ a v of what it was.
static void N(make_diagonal)(int64_t n, NUMBER *a, NUMBER *v) {
  bool turned = true;
  for (int sweep = 0; sweep < MOST_SWEEPS && turned; sweep++) {
    turned = false;
    for (int64_t p = 0; p < n; p++)
      for (int64_t q = p + 1; q < n; q++) {
        real c, s, pp = N_REAL(a[p * n + p]), qq = N_REAL(a[q * n + q]), pq = N_ABS(a[p * n + q]);
        NUMBER turn = N(direction)(a[p * n + q]);
        if (pq <= 1e-22L * sqrtl(fabsl(pp)) * sqrtl(fabsl(qq)) || pq < 1e-4000L) continue;
        rotation(pp, pq, qq, &c, &s);
        N(rotate)(n, 1, a + p * n, a + q * n, c, s, turn);
        N(rotate)(n, n, a + p, a + q, c, s, N_CONJ(turn));
        N(rotate)(n, n, v + p, v + q, c, s, N_CONJ(turn));
        turned = true;
      }
  }
}

static void N(eigh)(leat_ref_context *context, leat_arena *arena, int64_t batch) {
  int64_t n = columns_of(&context->inputs[0]);
  NUMBER *a = N(load)(arena, &context->inputs[0], batch, n * n), *v = N(identity)(arena, n);
  NUMBER *vectors = N(numbers)(arena, n * n);
  real *values = numbers_real(arena, n), *out = numbers_real(arena, n);
  N(make_symmetric)(n, a);
  bool finite = N(is_finite)(a, n * n);
  if (finite) N(make_diagonal)(n, a, v);
  for (int64_t i = 0; i < n; i++) values[i] = N_REAL(a[i * n + i]);
  int64_t *order = sorted(arena, values, n, false);
  for (int64_t k = 0; k < n; k++) {
    N(make_positive)(n, n, v + order[k]);
    out[k] = values[order[k]];
    for (int64_t i = 0; i < n; i++) vectors[i * n + k] = v[i * n + order[k]];
  }
  if (!finite) fill_real(out, n, NAN), N(fill)(vectors, n * n, NAN);
  store_real(&context->outputs[0], batch, n, out);
  N(store)(&context->outputs[1], batch, n * n, vectors);
}

// Column k of u (rows × count) becomes orthogonal to those before it, and of length 1.
static void N(complete)(int64_t rows, int64_t count, int64_t k, NUMBER *u) {
  for (int64_t axis = 0; axis < rows; axis++) {
    for (int64_t i = 0; i < rows; i++) u[i * count + k] = i == axis;
    for (int64_t j = 0; j < 2 * k; j++) { // twice all of them
      NUMBER along = N(product)(rows, count, u + j % k, u + k);
      for (int64_t i = 0; i < rows; i++) u[i * count + k] -= along * u[i * count + j % k];
    }
    real size = sqrtl(N(square)(rows, count, u + k));
    if (2 * size * size * (real)rows < 1) continue;
    for (int64_t i = 0; i < rows; i++) u[i * count + k] /= size;
    return;
  }
}

// The columns of a (m ≥ n) are turned until they are orthogonal: a v = u s.
static void N(svd_tall)(leat_arena *arena, int64_t m, int64_t n, NUMBER *a, NUMBER *u, real *s,
                        NUMBER *v) {
  NUMBER *turns = N(identity)(arena, n);
  real *sizes = numbers_real(arena, n);
  bool turned = true;
  for (int sweep = 0; sweep < MOST_SWEEPS && turned; sweep++) {
    turned = false;
    for (int64_t p = 0; p < n; p++)
      for (int64_t q = p + 1; q < n; q++) {
        real c, t, pp = N(square)(m, n, a + p), qq = N(square)(m, n, a + q);
        NUMBER pq = N(product)(m, n, a + p, a + q), turn = N_CONJ(N(direction)(pq));
        if (N_ABS(pq) <= 1e-18L * sqrtl(pp) * sqrtl(qq)) continue;
        rotation(pp, N_ABS(pq), qq, &c, &t);
        N(rotate)(m, n, a + p, a + q, c, t, turn);
        N(rotate)(n, n, turns + p, turns + q, c, t, turn);
        turned = true;
      }
  }
  for (int64_t k = 0; k < n; k++) sizes[k] = sqrtl(N(square)(m, n, a + k));
  int64_t *order = sorted(arena, sizes, n, true);
  for (int64_t k = 0; k < n; k++) {
    s[k] = sizes[order[k]];
    for (int64_t i = 0; i < m && s[k] > 0; i++) u[i * n + k] = a[i * n + order[k]] / s[k];
    if (!(s[k] > 0)) N(complete)(m, n, k, u);
    for (int64_t i = 0; i < n; i++) v[i * n + k] = turns[i * n + order[k]];
  }
}

static NUMBER *N(transposed)(leat_arena *arena, int64_t m, int64_t n, const NUMBER *x) {
  NUMBER *out = N(numbers)(arena, m * n);
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) out[j * m + i] = N_CONJ(x[i * n + j]);
  return out;
}

static void N(svd)(leat_ref_context *context, leat_arena *arena, int64_t batch) {
  int64_t m = rows_of(&context->inputs[0]), n = columns_of(&context->inputs[0]);
  int64_t count = m < n ? m : n, length = m < n ? n : m;
  NUMBER *x = N(load)(arena, &context->inputs[0], batch, m * n);
  NUMBER *tall = N(numbers)(arena, length * count), *small = N(numbers)(arena, count * count);
  NUMBER *u = m < n ? small : tall, *v = m < n ? tall : small;
  real *s = numbers_real(arena, count);
  if (N(is_finite)(x, m * n)) {
    NUMBER *a = m < n ? N(transposed)(arena, m, n, x) : x;
    N(svd_tall)(arena, length, count, a, tall, s, small);
    for (int64_t k = 0; k < count; k++)
      N(scale)(n, count, v + k, N(make_positive)(m, count, u + k));
  } else {
    N(fill)(u, m * count, NAN), N(fill)(v, n * count, NAN), fill_real(s, count, NAN);
  }
  N(store)(&context->outputs[0], batch, m * count, u);
  store_real(&context->outputs[1], batch, count, s);
  N(store)(&context->outputs[2], batch, count * n, N(transposed)(arena, n, count, v));
}

#undef NUMBER
#undef N
#undef N_ABS
#undef N_CONJ
#undef N_REAL
