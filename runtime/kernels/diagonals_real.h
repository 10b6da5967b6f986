// The implicit QR method, which makes symmetric tridiagonal and bidiagonal matrices diagonal: both
// have n real numbers d on their diagonal and n - 1 numbers e beside it.

typedef struct R(diagonals) {
  int64_t n;
  REAL *d, *e;
  REAL nothing;          // what is no larger counts as 0
  R(sweeps) left, right; // the matrices whose rows turn along; `right` of bidiagonal ones
} R(diagonals);

// Where the block begins that ends in row `last`.
static int64_t R(block_begin)(const R(diagonals) * x, int64_t last) {
  int64_t begin = last;
  while (begin > 0 && !(R_ABS(x->e[begin - 1]) <= x->nothing)) begin--;
  return begin;
}

// By steps on the rows [l, last]. False: they did not converge.
static bool R(make_diagonal)(R(diagonals) * x,
                             void (*step)(R(diagonals) * x, int64_t l, int64_t last)) {
  int64_t steps = MOST_STEPS * x->n;
  x->nothing = R_EPSILON * (R(largest)(x->n, x->d) + R(largest)(x->n - 1, x->e)) / 2;
  for (int64_t last = x->n - 1; last > 0;) {
    int64_t l = R(block_begin)(x, last);
    if (l == last)
      last--;
    else if (steps-- == 0)
      return false;
    else
      step(x, l, last);
  }
  R(turn_rows)(&x->left);
  R(turn_rows)(&x->right);
  return true;
}

// The eigenvalue of [[a, b], [b, c]] that is nearer to c; Wilkinson's shift.
static REAL R(nearer_value)(REAL a, REAL b, REAL c) {
  REAL half = a / 2 - c / 2, root = R_HYPOT(half, b);
  return root == 0 ? c : c - b * (b / (half < 0 ? half - root : half + root));
}

// One step of a symmetric tridiagonal matrix, e below its diagonal; its vectors are in rows.
static void R(eigh_step)(R(diagonals) * x, int64_t l, int64_t last) {
  REAL *d = x->d, *e = x->e, *turns = R(new_sweep)(&x->left, l, last);
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

// The smaller singular value of [[f, g], [0, h]]: the larger one is half the sum of the two roots.
static REAL R(smaller_value)(REAL f, REAL g, REAL h) {
  f = R_ABS(f);
  h = R_ABS(h);
  REAL largest = R_HYPOT(f + h, g) / 2 + R_HYPOT(f - h, g) / 2;
  return largest == 0 ? 0 : f * (h / largest);
}

// The shift for the rows [l, last]; 0, which moves a zero on the diagonal to the end, where one is
// (or is no more than rounding).
static REAL R(shift)(R(diagonals) * x, int64_t l, int64_t last) {
  REAL *d = x->d;
  bool singular = false;
  for (int64_t i = l; i <= last; i++)
    if (R_ABS(d[i]) <= x->nothing) {
      d[i] = 0;
      singular = true;
    }
  return singular ? 0 : R(smaller_value)(d[last - 1], x->e[last - 1], d[last]);
}

// One step of a bidiagonal matrix, e above its diagonal. The values may come out negative.
static void R(svd_step)(R(diagonals) * x, int64_t l, int64_t last) {
  REAL *d = x->d, *e = x->e, shift = R(shift)(x, l, last);
  REAL *u = R(new_sweep)(&x->left, l, last), *v = R(new_sweep)(&x->right, l, last);
  REAL f = shift == 0 ? d[l] : (d[l] - shift) * (1 + shift / d[l]), g = e[l];
  for (int64_t i = l; i < last; i++) {
    REAL r = R(rotation)(f, g, v + 2 * i), c = v[2 * i], s = v[2 * i + 1];
    if (i > l) e[i - 1] = r;
    f = c * d[i] + s * e[i];
    e[i] = c * e[i] - s * d[i];
    g = s * d[i + 1];
    d[i + 1] *= c;
    d[i] = R(rotation)(f, g, u + 2 * i);
    c = u[2 * i];
    s = u[2 * i + 1];
    f = c * e[i] + s * d[i + 1];
    d[i + 1] = c * d[i + 1] - s * e[i];
    if (i + 1 < last) {
      g = s * e[i + 1];
      e[i + 1] *= c;
    }
  }
  e[last - 1] = f;
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
