#include "codegen/winograd_transform.h"

#include <math.h>

static k_value number(k_builder *b, k_value like, double x) {
  return k_float(b, like->dtype, like->lanes, x);
}

// factor · x + y.
static k_value multiple(k_builder *b, double factor, k_value x, k_value y) {
  return k_mul_add(b, x, number(b, x, factor), y);
}

static void pair(k_builder *b, double point, k_value even, k_value odd, k_value *out) {
  out[0] = multiple(b, point, odd, even);
  out[1] = multiple(b, -point, odd, even);
}

void leat_winograd_elements(k_builder *b, int places, const k_value *x, k_value *out) {
  if (places == 4) {
    out[0] = k_sub(b, x[0], x[2]);
    out[1] = k_add(b, x[1], x[2]);
    out[2] = k_sub(b, x[2], x[1]);
    out[3] = k_sub(b, x[1], x[3]);
    return;
  }
  out[0] = multiple(b, -2.5, x[2], k_add(b, x[0], x[4]));
  pair(b, M_SQRT1_2, multiple(b, -2, x[2], x[4]), multiple(b, -2, x[1], x[3]), &out[1]);
  pair(b, M_SQRT2, multiple(b, -0.5, x[2], x[4]), multiple(b, -0.5, x[1], x[3]), &out[3]);
  out[5] = multiple(b, -2.5, x[3], k_add(b, x[1], x[5]));
}

// w[0] + square · w[2] + square² · w[4] …
static k_value every_other(k_builder *b, int count, double square, const k_value *w) {
  int last = (count - 1) / 2 * 2;
  k_value sum = w[last];
  for (int i = last - 2; i >= 0; i -= 2) sum = multiple(b, square, sum, w[i]);
  return sum;
}

// The window's polynomial at ±√square, times `factor`.
static void at_points(k_builder *b, int window, double square, double factor, const k_value *w,
                      k_value *out) {
  k_value even = every_other(b, window, square, w), odd = every_other(b, window - 1, square, w + 1);
  pair(b, sqrt(square) * factor, k_mul(b, even, number(b, even, factor)), odd, out);
}

void leat_winograd_window(k_builder *b, int places, int window, const k_value *w, k_value *out) {
  out[0] = w[0];
  if (places == 4) {
    at_points(b, window, 1, 0.5, w, &out[1]);
  } else {
    at_points(b, window, 0.5, -2.0 / 3, w, &out[1]);
    at_points(b, window, 2, 1.0 / 6, w, &out[3]);
  }
  out[places - 1] = w[window - 1];
}

// Output number i is the sum over points of point^i · what was summed there; of infinity only the
// last one has something. (Of 4 places what is summed there has the other sign.)
void leat_winograd_outputs(k_builder *b, int places, int tile, const k_value *sums, k_value *out) {
  k_value near = k_add(b, sums[1], sums[2]), near_odd = k_sub(b, sums[1], sums[2]);
  if (places == 4) {
    out[0] = k_add(b, sums[0], near);
    for (int i = 1; i < tile; i++) out[i] = i % 2 ? near_odd : near;
    out[tile - 1] = k_sub(b, out[tile - 1], sums[3]);
    return;
  }
  k_value far = k_add(b, sums[3], sums[4]), far_odd = k_sub(b, sums[3], sums[4]);
  out[0] = k_add(b, k_add(b, sums[0], near), far);
  for (int i = 1; i < tile; i++) {
    k_value x = i % 2 ? near_odd : near, y = i % 2 ? far_odd : far;
    k_value rest = i == tile - 1 ? multiple(b, pow(M_SQRT1_2, i), x, sums[5])
                                 : k_mul(b, x, number(b, x, pow(M_SQRT1_2, i)));
    out[i] = multiple(b, pow(M_SQRT2, i), y, rest);
  }
}
