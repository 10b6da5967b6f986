// Every op of ir/ops.def in every dtype that it takes, on random shapes and data: the targets cpu
// and c give what ref does, in shapes of constants and of run-time dims.
//
// A case is an op, a dtype and a seed. The cases of a dtype are one program (starting a C compiler
// is what costs); a program that does not run at all is halved until its culprit stands alone. Each
// op has cases with a fixed seed and cases seeded by $LEAT_TEST_SEED; LEAT_SWEEP=full takes many.
#include "tests/sweep/op_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const test_way targets[] = {
    {.name = "ref", .options = {.target = "ref", .symbolic = true, .devices = 2}},
    {.name = "cpu", .options = {.target = "cpu", .symbolic = true, .devices = 2}},
    {.name = "c", .options = {.target = "c", .symbolic = true, .devices = 2}},
};
enum { TARGETS = 3, MOST_TEXT_SHOWN = 3000, PROGRAM_SEED = 7 };

static int passed, failed, skipped;

// -- Cases
// -----------------------------------------------------------------------------------------

typedef struct sweep_case {
  leat_op op;
  leat_dtype dtype;
  int variant;
  uint64_t seed;
} sweep_case;

typedef leat_vec(sweep_case) case_list;

static void build(program *p, const sweep_case *cases, uint32_t count, bool symbolic) {
  program_init(p, PROGRAM_SEED);
  p->symbolic = symbolic;
  for (uint32_t i = 0; i < count; i++) {
    p->random.state = cases[i].seed;
    p->group = (int)i;
    p->most_elements = rng_percent(&p->random, 10) ? 40000 : 1500;
    op_call(p, cases[i].op, cases[i].dtype, cases[i].variant, true);
  }
}

static void report(const program *p, const leat_text *why) {
  printf("%s\n%.*s\n", why->data, MOST_TEXT_SHOWN, program_text(p));
  failed++;
}

// f16, bf16 and complex numbers: ref moves them, and the other targets say that they do not yet.
static bool only_moves(leat_dtype dtype) {
  return !op_takes(LEAT_OP_equal, dtype);
}

// Runs cases as one program. Those that fail are run again alone, for a short message.
static void check(const sweep_case *cases, uint32_t count, bool symbolic) {
  program p;
  leat_text why = {0};
  bool *wrong = calloc(count, sizeof *wrong);
  build(&p, cases, count, symbolic);
  leat_status status = program_agrees(&p, targets, TARGETS, symbolic ? 3 : 1, &why, wrong);
  if (!status) {
    passed += (int)count;
  } else if (status == LEAT_UNSUPPORTED && only_moves(cases->dtype)) {
    skipped += (int)count;
  } else if (count == 1) {
    report(&p, &why);
  } else if (status == LEAT_MISMATCH) {
    for (uint32_t i = 0; i < count; i++)
      if (wrong[i])
        check(&cases[i], 1, symbolic);
      else
        passed++;
  } else {
    check(cases, count / 2, symbolic);
    check(cases + count / 2, count - count / 2, symbolic);
  }
  program_finish(&p);
  leat_text_finish(&why);
  free(wrong);
}

// What the command line asks for: NULL is all.
static const char *only_dtype, *only_op;

static bool wanted(leat_op op, leat_dtype dtype) {
  if (only_op && strcmp(only_op, leat_op_name(op)) != 0) return false;
  return op_calls_cover(op) && op_takes(op, dtype);
}

static void add_cases(leat_arena *arena, leat_dtype dtype, rng *random, case_list *out) {
  for (int op = 0; op < LEAT_OP_COUNT; op++)
    for (int variant = 0; variant < op_variants((leat_op)op); variant++) {
      sweep_case added = {(leat_op)op, dtype, variant, rng_next(random)};
      if (wanted(added.op, dtype)) leat_vec_push(arena, out, added);
    }
}

// A program of all ops with constant shapes and one with run-time dims, from fixed seeds; then
// `sampled` of each.
static void sweep_dtype(leat_dtype dtype, int sampled) {
  leat_arena *arena = leat_arena_create();
  rng fixed = {(uint64_t)dtype}, sample = {test_seed() + (uint64_t)dtype};
  for (int i = -2; i < 2 * sampled; i++) {
    case_list cases = {0};
    add_cases(arena, dtype, i < 0 ? &fixed : &sample, &cases);
    if (cases.count) check(cases.items, cases.count, i & 1);
  }
  leat_arena_destroy(arena);
}

// sweep_test [DTYPE [OP]]
int main(int argc, char **argv) {
  const char *mode = getenv("LEAT_SWEEP");
  bool full = mode && !strcmp(mode, "full");
  setvbuf(stdout, NULL, _IOLBF, 0); // an assertion loses no message
  only_dtype = argc > 1 ? argv[1] : NULL;
  only_op = argc > 2 ? argv[2] : NULL;
  printf("sweep: LEAT_TEST_SEED=%llu\n", (unsigned long long)test_seed());
  for (int dtype = 0; dtype < LEAT_DTYPE_COUNT; dtype++)
    if (!only_dtype || !strcmp(only_dtype, leat_dtype_name((leat_dtype)dtype)))
      sweep_dtype((leat_dtype)dtype, full ? 40 : 0);
  printf("sweep: %d passed, %d failed, %d skipped\n", passed, failed, skipped);
  return failed != 0;
}
