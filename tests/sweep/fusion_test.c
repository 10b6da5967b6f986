// Random programs: 5 to 40 ops from the table in a graph where most values have several readers.
// The targets cpu and c give what ref does, however fuse, schedule and plan cut the graph.
//
// An exact program has no exp, log or tanh, and all data: its bits are equal. A smooth one has only
// ops that keep small differences small, and its results differ from ref's by at most what
// op_calls.c adds up; cpu and c give the same bits. The programs are seeded by $LEAT_TEST_SEED;
// LEAT_SWEEP=full takes many.
#include "tests/sweep/random_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT_SHOWN = 6000, WAYS = 5, FEWER = 3, OFTEN = 6 };

static const test_way ways[] = {
    {.name = "ref", .options = {.target = "ref", .symbolic = true}},
    {.name = "cpu", .options = {.target = "cpu", .symbolic = true}},
    {.name = "cpu, specialised", .options = {.target = "cpu"}},
    {.name = "cpu, x86-64", .options = {.target = "cpu", .cpu = "x86-64"}},
    {.name = "c", .options = {.target = "c", .symbolic = true}},
};

static bool check(uint64_t seed, int way_count) {
  program p;
  leat_text why = {0};
  program_random(&p, seed, false);
  if (getenv("LEAT_SWEEP_SHOW")) fputs(program_text(&p, false), stderr);
  leat_status status = program_agrees(&p, ways, way_count, p.symbolic ? 2 : 1, &why, NULL);
  if (status)
    printf("seed %llu: %s\n%.*s\n", (unsigned long long)seed, why.data, MOST_TEXT_SHOWN,
           program_text(&p, false));
  program_finish(&p);
  leat_text_finish(&why);
  return !status;
}

// fusion_test [SEED]: one program, or as many as $LEAT_SWEEP says.
int main(int argc, char **argv) {
  const char *mode = getenv("LEAT_SWEEP");
  bool full = mode && !strcmp(mode, "full");
  int programs = full ? 5000 : getenv("LEAT_SANITIZED") ? 30 : 100, failed = 0;
  rng seeds = {test_seed()};
  setvbuf(stdout, NULL, _IOLBF, 0); // an assertion loses no message
  printf("fusion: LEAT_TEST_SEED=%llu\n", (unsigned long long)test_seed());
  if (argc > 1) return !check(strtoull(argv[1], NULL, 0), WAYS);
  for (int i = 0; i < programs; i++) failed += !check(rng_next(&seeds), i % OFTEN ? FEWER : WAYS);
  printf("fusion: %d passed, %d failed, 0 skipped\n", programs - failed, failed);
  return failed != 0;
}
