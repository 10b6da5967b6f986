// Convolutions of channels, and gradients of their weights, by windows of all kinds over small
// images, of channels that fill no vectors, with what is done with them in place.
#include "ops/ops.h"
#include "tests/sweep/kernel_tests.h"

enum { MOST_EXTENT = 17, LONG = 300 };

typedef struct sliding {
  int64_t extent[2], size[2], window[2], stride[2], dilation[2], base[2], before[2];
} sliding;

static sliding draw_any_sliding(program *p) {
  static const int64_t windows[] = {1, 2, 3, 3, 3, 5, 7, 11}, few[] = {1, 1, 1, 2, 3};
  static const int64_t dilations[] = {1, 1, -1, 2, -2, 0, 5};
  sliding s;
  bool is_long = rng_percent(&p->random, 10), is_plain = rng_percent(&p->random, 40);
  for (int i = 0; i < 2; i++) {
    s.extent[i] = 1 + rng_below(&p->random, is_long && i ? LONG : MOST_EXTENT);
    s.size[i] = rng_percent(&p->random, 5) ? 0 : 1 + rng_below(&p->random, (uint32_t)s.extent[i]);
    s.window[i] = is_plain ? 3 : RNG_PICK(&p->random, windows);
    s.stride[i] = is_plain ? 1 : RNG_PICK(&p->random, few);
    s.dilation[i] = is_plain ? 1 : RNG_PICK(&p->random, dilations);
    s.base[i] = is_plain ? 1 : RNG_PICK(&p->random, few);
    int64_t reach = (s.window[i] - 1) * s.dilation[i];
    s.before[i] = (reach < 0 ? reach : 0) + (int64_t)rng_below(&p->random, 5) - 1;
  }
  return s;
}

// Of which a ring of rows has room for what the windows reach over.
static sliding draw_sliding(program *p) {
  leat_depthwise what = {0};
  sliding s;
  do {
    s = draw_any_sliding(p);
    for (int i = 0; i < 2; i++)
      what.axes[i] = (leat_window_axis){.window = s.window[i],
                                        .stride = s.stride[i],
                                        .dilation = s.dilation[i],
                                        .base = s.base[i]};
  } while (!leat_depthwise_fits(&what));
  return s;
}

static void add_pair(program *p, const char *name, const int64_t *numbers) {
  leat_text_add(&p->body, ", %s=[%lld, %lld]", name, (long long)numbers[0], (long long)numbers[1]);
}

static test_dim draw_batch(program *p) {
  static const int64_t images[] = {0, 1, 2, 2, 5};
  if (!p->symbolic) return dim_const(RNG_PICK(&p->random, images));
  test_dim batch = {DIM_N0, 1 + rng_below(&p->random, 2), rng_below(&p->random, 2)};
  program_bind(p, batch);
  return batch;
}

static test_dim draw_channels(program *p) {
  static const int64_t channels[] = {0, 4, 16, 20, 32, 40, 70};
  bool any = rng_percent(&p->random, 50);
  return dim_const(any ? 1 + rng_below(&p->random, 48) : RNG_PICK(&p->random, channels));
}

// A call of one of the ops.
typedef struct call {
  sliding s;
  test_dim x[4], w[4], y[4];
  leat_dtype dtype;
  test_value images;
} call;

static call draw_call(program *p, leat_dtype dtype) {
  call c = {.s = draw_sliding(p), .dtype = dtype};
  c.w[2] = dim_const(1);
  c.x[3] = c.w[3] = c.y[3] = draw_channels(p);
  c.x[0] = c.y[0] = draw_batch(p);
  for (int i = 0; i < 2; i++) {
    c.x[i + 1] = dim_const(c.s.extent[i]);
    c.y[i + 1] = dim_const(c.s.size[i]);
    c.w[i] = dim_const(c.s.window[i]);
  }
  c.images = kernel_operand(p, dtype, 4, c.x);
  return c;
}

static void add_sliding(program *p, const call *c) {
  add_pair(p, "stride", c->s.stride);
  add_pair(p, "dilation", c->s.dilation);
  add_pair(p, "base", c->s.base);
  add_pair(p, "before", c->s.before);
  leat_text_add(&p->body, ")");
}

// A sum of so many products of numbers up to 1.
static void fetch(program *p, const call *c, bool exact, const char *name, double terms,
                  const test_dim *dims) {
  test_value out = {.dtype = c->dtype, .rank = 4, .match = exact ? MATCH_BITS : MATCH_NEAR};
  memcpy(out.dims, dims, 4 * sizeof *dims);
  out.tolerance = test_unit(c->dtype) * op_growth(LEAT_OP_depthwise) * (terms + 2);
  snprintf(out.name, sizeof out.name, "%s", name);
  out.label = leat_arena_printf(p->arena, "%s", name);
  program_fetch(p, &out);
}

static void add_call(program *p, leat_dtype dtype, bool exact, int number) {
  call c = draw_call(p, dtype);
  test_value w = kernel_operand(p, dtype, 4, c.w);
  const char *name = leat_arena_printf(p->arena, "y%d", number);
  leat_text_add(&p->body, "  %s = %s(depthwise(%s%s, %s", name,
                rng_percent(&p->random, 50) ? "relu" : "identity", c.images.name,
                rng_percent(&p->random, 30) ? " * 1.0" : "", w.name);
  add_pair(p, "size", c.s.size);
  add_sliding(p, &c);
  if (rng_percent(&p->random, 30)) {
    test_value bias = kernel_operand(p, dtype, 1, c.y + 3),
               beside = kernel_operand(p, dtype, 4, c.y);
    leat_text_add(&p->body, " + %s + %s", bias.name, beside.name);
  }
  leat_text_add(&p->body, ")\n");
  fetch(p, &c, exact, name, (double)(c.s.window[0] * c.s.window[1]), c.y);
}

static void add_weights(program *p, leat_dtype dtype, bool exact, int number) {
  call c = draw_call(p, dtype);
  test_value dy = kernel_operand(p, dtype, 4, c.y), old = kernel_operand(p, dtype, 4, c.w);
  const char *name = leat_arena_printf(p->arena, "w%d", number);
  leat_text_add(&p->body, "  %s = %s - 0.5 * depthwise_weights(%s, %s", name, old.name,
                c.images.name, dy.name);
  add_pair(p, "window", c.s.window);
  add_sliding(p, &c);
  leat_text_add(&p->body, "\n");
  fetch(p, &c, exact, name, (double)(dim_most(c.x[0]) * c.s.size[0] * c.s.size[1]), c.w);
}

static void add_calls(program *p, bool exact) {
  static const leat_dtype dtypes[] = {LEAT_f64, LEAT_f32, LEAT_f32, LEAT_f16, LEAT_bf16};
  for (int i = 0; i < 5; i++) {
    add_call(p, dtypes[i], exact, i);
    add_weights(p, dtypes[i], exact, i);
  }
}

KERNEL_TESTS("depthwise", add_calls)
