// Convolutions by Winograd's transforms, and gradients of their weights, of small images and of
// channels that fill no vectors, with what is done with them in place.
#include "tests/sweep/kernel_tests.h"

enum { CALLS = 4, MOST_EXTENT = 14 };

// What is done with the result in place.
static void add_epilogue(program *p, leat_dtype dtype, const test_dim *dims) {
  test_value bias = kernel_operand(p, dtype, 1, dims + 3),
             beside = kernel_operand(p, dtype, 4, dims);
  switch (rng_below(&p->random, 3)) {
  case 0: leat_text_add(&p->body, " + %s", bias.name); break;
  case 1: leat_text_add(&p->body, " * %s + %s", bias.name, beside.name); break;
  }
}

// Of the images x and of what windows give of them, with zeros before and behind.
static void draw_extents(program *p, int64_t window, int64_t before[2], test_dim *x, test_dim *y) {
  for (int i = 0; i < 2; i++) {
    int64_t extent = 1 + rng_below(&p->random, MOST_EXTENT), after = rng_below(&p->random, 4) - 1;
    before[i] = rng_below(&p->random, 4) - 1;
    int64_t size = extent + before[i] + after - (window - 1);
    x[i + 1] = dim_const(extent);
    y[i + 1] = dim_const(size < 0 ? 0 : size);
  }
}

static void add_call(program *p, leat_dtype dtype, bool exact, int number) {
  static const int64_t channels[] = {1, 3, 16, 20, 32, 40}, outputs[] = {1, 5, 16, 24, 64, 70};
  static const int64_t images[] = {1, 2, 5};
  test_dim batch = p->symbolic ? (test_dim){DIM_N0, 1, 0} : dim_const(RNG_PICK(&p->random, images));
  int64_t window = rng_percent(&p->random, 40) ? 5 : 3;
  test_dim x[4] = {batch}, w[4] = {dim_const(window), dim_const(window)}, y[4] = {batch};
  int64_t before[2];
  draw_extents(p, window, before, x, y);
  x[3] = w[2] = dim_const(RNG_PICK(&p->random, channels));
  y[3] = w[3] = dim_const(RNG_PICK(&p->random, outputs));
  bool turned = rng_percent(&p->random, 50);
  int tile = window == 3 && rng_percent(&p->random, 70) ? 4 : 2;
  test_value a = kernel_operand(p, dtype, 4, x), b = kernel_operand(p, dtype, 4, w);
  test_value out = {.dtype = dtype, .rank = 4, .match = exact ? MATCH_BITS : MATCH_NEAR};
  memcpy(out.dims, y, sizeof y);
  out.tolerance = test_unit(dtype) * op_growth(LEAT_OP_winograd) * (double)(x[3].plus + 32) *
                  (double)(window * window) / 9;
  snprintf(out.name, sizeof out.name, "y%d", number);
  out.label = leat_arena_printf(p->arena, "%s", out.name);
  bool given = rng_percent(&p->random, 30); // the operand is made by another kernel
  leat_text_add(&p->body, "  %s = %s(winograd(%s%s, %s, size=[%lld, %lld], before=[%lld, %lld], ",
                out.name, rng_percent(&p->random, 50) ? "relu" : "identity", a.name,
                given ? " * 1.0" : "", b.name, (long long)y[1].plus, (long long)y[2].plus,
                (long long)before[0], (long long)before[1]);
  leat_text_add(&p->body, "turned=%s, tile=%d)", turned ? "true" : "false", tile);
  add_epilogue(p, dtype, y);
  leat_text_add(&p->body, ")\n");
  program_fetch(p, &out);
}

// The gradient of weights, with what an optimiser does of it in place.
static void add_weights(program *p, leat_dtype dtype, bool exact, int number) {
  static const int64_t channels[] = {1, 3, 16, 20, 32, 40}, outputs[] = {1, 5, 16, 24, 64, 70};
  static const int64_t images[] = {1, 2, 5, 9};
  test_dim batch = p->symbolic ? (test_dim){DIM_N0, 1, 0} : dim_const(RNG_PICK(&p->random, images));
  int64_t window = rng_percent(&p->random, 40) ? 5 : 3, before[2], tiles = 9;
  int tile = window == 3 && rng_percent(&p->random, 70) ? 4 : 2;
  test_dim x[4] = {batch}, y[4] = {batch};
  draw_extents(p, window, before, x, y);
  for (int i = 0; i < 2; i++) tiles *= (y[i + 1].plus + tile - 1) / tile;
  x[3] = dim_const(RNG_PICK(&p->random, channels));
  y[3] = dim_const(RNG_PICK(&p->random, outputs));
  test_value a = kernel_operand(p, dtype, 4, x), dy = kernel_operand(p, dtype, 4, y);
  test_value out = {.dtype = dtype, .rank = 2, .match = exact ? MATCH_BITS : MATCH_NEAR};
  out.dims[0] = dim_const(window * window * x[3].plus);
  out.dims[1] = y[3];
  out.tolerance = test_unit(dtype) * op_growth(LEAT_OP_winograd_weights) * (double)(tiles + 32) *
                  (double)(window * window) / 9;
  snprintf(out.name, sizeof out.name, "w%d", number);
  out.label = leat_arena_printf(p->arena, "%s", out.name);
  test_value old = kernel_operand(p, dtype, 2, out.dims);
  leat_text_add(&p->body, "  %s = %s - 0.5 * winograd_weights(%s, %s, before=[%lld, %lld], ",
                out.name, old.name, a.name, dy.name, (long long)before[0], (long long)before[1]);
  leat_text_add(&p->body, "window=%lld, tile=%d)\n", (long long)window, tile);
  program_fetch(p, &out);
}

static void add_calls(program *p, bool exact) {
  for (int i = 0; i < CALLS; i++) {
    leat_dtype dtype = i % 3 ? LEAT_f32 : LEAT_f64;
    add_call(p, dtype, exact, i);
    add_weights(p, dtype, exact, i);
  }
}

KERNEL_TESTS("winograd", add_calls)
