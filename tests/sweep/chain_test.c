// Products whose left operand is made of another product's rows (codegen/row_chain.c), as attention
// is: the bits of a step for each statement, where what is between lies in memory, on any number of
// threads and by c; and near what ref gives on each level that the machine has, gradients too.
// The seed chooses half of the programs; LEAT_SWEEP=N: all.
#include "tests/sweep/op_calls.h"
#include "tests/unit/check.h"

#include <stdlib.h>

enum { CALLS = 6, GROWTH = 4 };

static const test_way levels[] = {
    {.name = "ref", .options = {.target = "ref"}},
    {.name = "x86-64-v2", .options = {.cpu = "x86-64-v2"}},
    {.name = "x86-64-v3", .options = {.cpu = "x86-64-v3"}},
    {.name = "host", .options = {.threads = 2}},
    {.name = "in little memory", .least = true},
};
static const test_way same[] = {
    {.name = "one thread", .options = {.threads = 1}},
    {.name = "three threads", .options = {.threads = 3}},
    {.name = "eight threads", .options = {.threads = 8}},
    {.name = "c", .options = {.target = "c"}},
    {.name = "a statement a step", .options = {.threads = 2}, .alone = true},
};
#define COUNT(ways) (int)(sizeof(ways) / sizeof *(ways))

typedef struct sizes {
  test_dim batch[2], queries, keys, depth, values;
  int batches; // axes in front of the matrices
} sizes;

static sizes draw_sizes(program *p) {
  static const int64_t batches[] = {1, 3, 8, 12}, queries[] = {1, 40, 100, 130, 200},
                       keys[] = {16, 70, 100, 130, 300}, depths[] = {1, 8, 20, 64},
                       values[] = {1, 5, 16, 24, 64, 70};
  sizes s = {.queries = dim_const(RNG_PICK(&p->random, queries)),
             .keys = dim_const(rng_percent(&p->random, 10) ? 1100 : RNG_PICK(&p->random, keys)),
             .depth = dim_const(RNG_PICK(&p->random, depths)),
             .values = dim_const(RNG_PICK(&p->random, values)),
             .batches = (int)rng_below(&p->random, 2) + rng_percent(&p->random, 70)};
  for (int i = 0; i < 2; i++) s.batch[i] = dim_const(RNG_PICK(&p->random, batches));
  return s;
}

static test_value matrices(const sizes *s, leat_dtype dtype, test_dim rows, test_dim columns) {
  test_value value = {.dtype = dtype, .rank = s->batches + 2};
  for (int i = 0; i < s->batches; i++) value.dims[i] = s->batch[i];
  value.dims[s->batches] = rows;
  value.dims[s->batches + 1] = columns;
  return value;
}

static test_value operand(program *p, const sizes *s, leat_dtype dtype, test_dim rows,
                          test_dim columns) {
  test_value like = matrices(s, dtype, rows, columns);
  return program_input(p, dtype, like.rank, like.dims, FILL_UNIT, dim_const(0));
}

static const char *name_of(program *p, test_value value) {
  return leat_arena_printf(p->arena, "%s", value.name);
}

// Rows and matrices in each other's place in memory, as models have them that split what a layer
// gives among heads; what is written reads them in their order.
static const char *turned(program *p, const sizes *s, leat_dtype dtype, test_dim rows,
                          test_dim columns) {
  int last = s->batches - 1;
  if (last < 0 || rng_percent(&p->random, 60))
    return name_of(p, operand(p, s, dtype, rows, columns));
  sizes t = *s;
  t.batch[last] = rows;
  return leat_arena_printf(p->arena, "transpose(%s, perm=[%s])",
                           name_of(p, operand(p, &t, dtype, s->batch[last], columns)),
                           last ? "0, 2, 1, 3" : "1, 0, 2");
}

static void add(program *p, test_value *value, char letter, const char *expression) {
  snprintf(value->name, sizeof value->name, "%c%u", letter, p->values.count);
  value->label = leat_arena_printf(p->arena, "%s", value->name);
  leat_vec_push(p->arena, &p->values, *value);
  leat_text_add(&p->body, "  %s = %s\n", value->name, expression);
}

static const char *of_rows(program *p, const sizes *s, const char *x) {
  switch (rng_below(&p->random, 4)) {
  case 0:
    return leat_arena_printf(
        p->arena,
        "softmax(where(iota([%lld, %lld], axis=1) <= iota([%lld, %lld], axis=0), %s, -9))",
        (long long)s->queries.plus, (long long)s->keys.plus, (long long)s->queries.plus,
        (long long)s->keys.plus, x);
  case 1:
    return leat_arena_printf(p->arena, "%s / (1 + sum(abs(%s), axis=-1, keepdims=true))", x, x);
  case 2:
    return leat_arena_printf(
        p->arena,
        "(%s - mean(%s, axis=-1, keepdims=true)) / (1 + max(%s, axis=-1, keepdims=true) * "
        "max(%s, axis=-1, keepdims=true))",
        x, x, x, x);
  }
  return leat_arena_printf(p->arena, "softmax(%s)", x);
}

static test_value add_chain(program *p, leat_dtype dtype, bool exact) {
  sizes s = draw_sizes(p);
  test_value scores = matrices(&s, dtype, s.queries, s.keys), weights = scores;
  test_value out = matrices(&s, dtype, s.queries, s.values);
  bool one_b = rng_percent(&p->random, 20), across = rng_percent(&p->random, 70);
  sizes of_b = s;
  if (one_b) of_b.batches = 0;
  const char *q = turned(p, &s, dtype, s.queries, s.depth);
  const char *k = across ? turned(p, &of_b, dtype, s.keys, s.depth)
                         : name_of(p, operand(p, &of_b, dtype, s.depth, s.keys));
  add(p, &scores, 's',
      leat_arena_printf(p->arena, "matmul(%s, %s, transpose_b=%s) * 0.3", q, k,
                        across ? "true" : "false"));
  add(p, &weights, 'w', of_rows(p, &s, scores.name));
  const char *v = turned(p, &of_b, dtype, s.keys, s.values);
  bool more = rng_percent(&p->random, 30);
  test_value beside = more ? operand(p, &s, dtype, s.queries, s.values) : out;
  out.match = exact ? MATCH_BITS : MATCH_NEAR;
  out.tolerance = GROWTH * test_unit(dtype) * (double)(s.depth.plus + s.keys.plus + 64);
  add(p, &out, 'y',
      leat_arena_printf(p->arena, more ? "%s @ %s + %s" : "%s @ %s", weights.name, v, beside.name));
  program_fetch(p, &out);
  weights.match = out.match;
  weights.tolerance = out.tolerance;
  if (rng_percent(&p->random, 20)) program_fetch(p, &weights); // whole in memory, too
  return out;
}

static bool has_its_turn(int number) {
  return getenv("LEAT_SWEEP") || (test_seed() + (uint64_t)number) % 2 == 0;
}

static void check_agrees(program *p, const test_way *ways, int count) {
  leat_text why = {0};
  if (getenv("LEAT_SWEEP_SHOW")) fputs(program_text(p, false), stderr);
  if (program_agrees(p, ways, count, 1, &why, NULL))
    CHECK_FAILED("seed %llu: %s\n%s", (unsigned long long)test_seed(), why.data,
                 program_text(p, false));
  leat_text_finish(&why);
  program_finish(p);
}

static void run(int number, bool exact) {
  if (!has_its_turn(number)) CHECK_SKIP("another seed's turn");
  program p;
  program_init(&p, test_seed() + (uint64_t)number);
  for (int i = 0; i < CALLS; i++) add_chain(&p, i % 3 ? LEAT_f32 : LEAT_f64, exact);
  check_agrees(&p, exact ? same : levels, exact ? COUNT(same) : COUNT(levels));
}

TEST(near_ref) {
  run(0, false);
}

TEST(same_bits) {
  run(1, true);
}

// Of the sum of the squares, which reads what attention gives.
static void add_gradients(program *p, leat_dtype dtype, bool exact) {
  sizes s = draw_sizes(p);
  test_value q = operand(p, &s, dtype, s.queries, s.depth);
  test_value k = operand(p, &s, dtype, s.keys, s.depth);
  test_value v = operand(p, &s, dtype, s.keys, s.values), of[] = {q, k, v};
  test_value y = matrices(&s, dtype, s.queries, s.values);
  bool causal = rng_percent(&p->random, 40);
  add(p, &y, 'y',
      leat_arena_printf(p->arena, "attention(%s, %s, %s, causal=%s)", q.name, k.name, v.name,
                        causal ? "true" : "false"));
  for (int i = 0; i < 3; i++) {
    test_value out = of[i];
    out.is_input = false;
    out.match = exact ? MATCH_BITS : MATCH_NEAR;
    out.tolerance = GROWTH * test_unit(dtype) * (double)(s.depth.plus + s.keys.plus + 64) *
                    (double)(s.queries.plus + s.values.plus + 8);
    add(p, &out, 'g',
        leat_arena_printf(p->arena, "grad(sum(%s * %s), %s)", y.name, y.name, of[i].name));
    program_fetch(p, &out);
  }
}

static void run_gradients(int number, bool exact) {
  if (!has_its_turn(number)) CHECK_SKIP("another seed's turn");
  program p;
  program_init(&p, test_seed() + (uint64_t)number);
  for (int i = 0; i < CALLS / 2; i++) add_gradients(&p, i % 3 ? LEAT_f32 : LEAT_f64, exact);
  check_agrees(&p, exact ? same : levels, exact ? COUNT(same) - 1 : COUNT(levels));
}

TEST(gradients_near_ref) {
  run_gradients(2, false);
}

TEST(gradients_of_the_same_bits) {
  run_gradients(3, true);
}

CHECK_MAIN("chain")
