// The Cholesky and LU factorisations and triangular systems, of NUMBER; linalg_ref.c includes it
// for real and for complex numbers.

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

#undef NUMBER
#undef N
#undef N_ABS
#undef N_CONJ
#undef N_REAL
