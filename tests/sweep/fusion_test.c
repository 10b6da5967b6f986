// Random programs: 5 to 40 ops from the table in a graph where most values have several readers.
// The targets cpu and c give what ref does, however fuse, schedule and plan cut the graph.
//
// An exact program has no exp, log or tanh, and all data: its bits are equal. A smooth one has only
// ops that keep small differences small, and its results differ from ref's by at most what
// op_calls.c adds up; cpu and c give the same bits. The programs are seeded by $LEAT_TEST_SEED;
// LEAT_SWEEP=full takes many.
#include "tests/sweep/op_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT_SHOWN = 6000, LEAST_OPS = 5, MOST_OPS = 40, OFTEN = 4 };

static const test_way ways[] = {
    {.name = "ref", .options = {.target = "ref", .symbolic = true}},
    {.name = "cpu", .options = {.target = "cpu", .symbolic = true}},
    {.name = "cpu, specialised", .options = {.target = "cpu"}},
    {.name = "c", .options = {.target = "c", .symbolic = true}},
};

// The dtypes of a program: mostly one, so that its values meet.
static leat_dtype dtype_for(program *p, leat_dtype main_dtype) {
  static const leat_dtype others[] = {LEAT_f32, LEAT_f64, LEAT_i32, LEAT_bool, LEAT_i64, LEAT_u8};
  return rng_percent(&p->random, 85) ? main_dtype : RNG_PICK(&p->random, others);
}

static bool belongs(const program *p, leat_op op) {
  return op_calls_cover(op) && p->smooth >= (op_ulps(op) > 0);
}

// Contractions, reductions and what only moves stand among the element-wise ops more often than the
// table has them.
static leat_op random_op(program *p) {
  static const leat_op frequent[] = {LEAT_OP_sum,     LEAT_OP_matmul, LEAT_OP_broadcast,
                                     LEAT_OP_reshape, LEAT_OP_max,    LEAT_OP_transpose,
                                     LEAT_OP_mul,     LEAT_OP_add,    LEAT_OP_tanh};
  for (;;) {
    leat_op op = rng_percent(&p->random, 50) ? RNG_PICK(&p->random, frequent)
                                             : (leat_op)rng_below(&p->random, LEAT_OP_COUNT);
    if (belongs(p, op)) return op;
  }
}

// Most of what nobody reads, and some of the rest.
static void fetch_results(program *p) {
  for (uint32_t i = 0; i < p->values.count; i++) {
    const test_value *value = &p->values.items[i];
    bool last = i + 1 == p->values.count;
    if (!value->is_input && (last || rng_percent(&p->random, value->used ? 15 : 90)))
      program_fetch(p, value);
  }
}

static void build(program *p, uint64_t seed) {
  static const leat_dtype mains[] = {LEAT_f32, LEAT_f64, LEAT_i32};
  static const int64_t sizes[] = {2, 3, 5, 7, 16, 17, 31, 33, 64, 100};
  program_init(p, seed);
  p->reuse = true;
  for (int i = 0; i < 4; i++) p->sizes[i] = i ? RNG_PICK(&p->random, sizes) : 1;
  p->smooth = rng_percent(&p->random, 35);
  p->symbolic = rng_percent(&p->random, 40);
  leat_dtype main_dtype =
      p->smooth && rng_percent(&p->random, 50) ? LEAT_f32 : RNG_PICK(&p->random, mains);
  int64_t count = LEAST_OPS + rng_below(&p->random, MOST_OPS - LEAST_OPS + 1);
  for (int64_t tries = 0; count > 0 && tries < 1000; tries++) {
    leat_op op = random_op(p);
    leat_dtype dtype = dtype_for(p, main_dtype);
    int variant = (int)rng_below(&p->random, op_variants(op));
    if (op_call(p, op, dtype, variant)) count--;
  }
  fetch_results(p);
}

static bool check(uint64_t seed, int way_count) {
  program p;
  leat_text why = {0};
  build(&p, seed);
  if (getenv("LEAT_SWEEP_SHOW")) fputs(program_text(&p), stderr);
  leat_status status = program_agrees(&p, ways, way_count, p.symbolic ? 2 : 1, &why, NULL);
  if (status)
    printf("seed %llu: %s\n%.*s\n", (unsigned long long)seed, why.data, MOST_TEXT_SHOWN,
           program_text(&p));
  program_finish(&p);
  leat_text_finish(&why);
  return !status;
}

// fusion_test [SEED]: one program, or as many as $LEAT_SWEEP says.
int main(int argc, char **argv) {
  const char *mode = getenv("LEAT_SWEEP");
  bool full = mode && !strcmp(mode, "full");
  int programs = full ? 5000 : getenv("LEAT_SANITIZED") ? 40 : 150, failed = 0;
  rng seeds = {test_seed()};
  setvbuf(stdout, NULL, _IOLBF, 0); // an assertion loses no message
  printf("fusion: LEAT_TEST_SEED=%llu\n", (unsigned long long)test_seed());
  if (argc > 1) return !check(strtoull(argv[1], NULL, 0), 4);
  for (int i = 0; i < programs; i++) failed += !check(rng_next(&seeds), i % OFTEN ? 3 : 4);
  printf("fusion: %d passed, %d failed, 0 skipped\n", programs - failed, failed);
  return failed != 0;
}
