// Random programs: 5 to 40 ops from the table in a graph where most values have several readers.
// The targets cpu and c give what ref does, however fuse, schedule and plan cut the graph; and ref
// what it gives for each op alone, whatever the passes before them have made of the graph.
//
// An exact program has all data and no function that targets may round differently: its bits are
// equal. A smooth one has functions that keep small differences small, and its results differ from
// ref's by at most what op_errors.c adds up. The programs are seeded by $LEAT_TEST_SEED, one way of
// compiling each; LEAT_SWEEP=N takes N. First of all, every op that op_calls.h makes calls of
// is in some program.
#include "tests/sweep/random_program.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_TEXT_SHOWN = 6000, WAYS = 7, DRAFTS = 5000, PROGRAMS = 50, SANITIZED = 12 };
enum { CPU = 1, NO_FMA = 3 }; // ways

static const test_way ways[WAYS] = {
    {.name = "ref", .options = {.target = "ref", .symbolic = true}},
    {.name = "cpu", .options = {.target = "cpu", .symbolic = true}},
    {.name = "cpu, specialised", .options = {.target = "cpu"}},
    {.name = "cpu, x86-64", .options = {.target = "cpu", .cpu = "x86-64"}},
    {.name = "c", .options = {.target = "c", .symbolic = true}},
    {.name = "cpu, donated feeds", .options = {.target = "cpu"}, .donates = true},
    {.name = "ref, an op a step", .options = {.target = "ref"}, .alone = true},
};

// Where a level has no fma, a sum of products is rounded otherwise: exact programs with one have no
// such way.
static bool has_products(const program *p) {
  for (uint32_t v = 0; v < p->values.count; v++)
    if (!p->values.items[v].is_input && p->values.items[v].op == LEAT_OP_matmul) return true;
  return false;
}

// One of them, rather one that compiles fast.
static int way_of(uint64_t seed) {
  static const int chosen[] = {1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 5, 5};
  rng random = {~seed};
  return RNG_PICK(&random, chosen);
}

static bool agrees(program *p, uint64_t seed, const test_way *among, int count) {
  leat_text why = {0};
  if (getenv("LEAT_SWEEP_SHOW")) fputs(program_text(p, false), stderr);
  leat_status status = program_agrees(p, among, count, p->symbolic ? 2 : 1, &why, NULL);
  if (status)
    printf("seed %llu: %s\n%.*s\n", (unsigned long long)seed, why.data, MOST_TEXT_SHOWN,
           program_text(p, false));
  leat_text_finish(&why);
  program_finish(p);
  return !status;
}

// Two programs of the seed: one with one way, or all of them, and without run-time dims with the
// last; and one that turns back and forth, with the last.
static bool check(uint64_t seed, bool all) {
  program p;
  const test_way two[] = {ways[0], ways[WAYS - 1]};
  program_random(&p, seed, false);
  bool exact = !p.smooth && has_products(&p);
  int count = 0, picked = way_of(seed);
  test_way chosen[WAYS];
  if (exact && picked == NO_FMA) picked = CPU;
  for (int way = 0; way < WAYS - p.symbolic; way++) {
    bool one = way == 0 || way == picked || way == WAYS - 1;
    if (all ? !exact || way != NO_FMA : one) chosen[count++] = ways[way];
  }
  bool fine = agrees(&p, seed, chosen, count);
  program_turning(&p, seed);
  return agrees(&p, seed, two, 2) && fine;
}

static void list(int programs) {
  rng seeds = {test_seed()};
  for (int i = 0; i < programs; i++) printf("%llu\n", (unsigned long long)rng_next(&seeds));
}

// Every n-th of the programs; returns how many failed.
static int check_share(int programs, int first, int n) {
  rng seeds = {test_seed()};
  int failed = 0;
  for (int i = 0; i < programs; i++) {
    uint64_t seed = rng_next(&seeds);
    if (i % n == first) failed += !check(seed, false);
  }
  return failed;
}

// A process a processor: what it returns is how many of its programs failed, 255 of them at most.
static int check_all(int programs) {
  int n = (int)sysconf(_SC_NPROCESSORS_ONLN), failed = 0, status;
  for (int i = 0; i < n; i++) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      int wrong = check_share(programs, i, n);
      fflush(stdout);
      _exit(wrong > 255 ? 255 : wrong);
    }
    if (child < 0) return perror("fork"), programs;
  }
  while (wait(&status) > 0) {
    if (!WIFEXITED(status)) printf("a process ended with status %d\n", status);
    failed += WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  }
  return failed;
}

// Strings do not fuse; a power is no smooth function of large numbers.
static bool is_wanted(leat_op op) {
  bool strings = leat_op_info_of(op)->dtypes == LEAT_CLASS_STRING;
  return op_calls_cover(op) && !strings && op != LEAT_OP_pow;
}

// How many ops are in no program.
static int missing_ops(void) {
  bool made[LEAT_OP_COUNT] = {0};
  int missing = 0;
  rng seeds = {1};
  for (int i = 0; i < DRAFTS; i++) {
    program p;
    program_random(&p, rng_next(&seeds), false);
    for (uint32_t v = 0; v < p.values.count; v++)
      if (!p.values.items[v].is_input) made[p.values.items[v].op] = true;
    program_finish(&p);
  }
  for (int op = 0; op < LEAT_OP_COUNT; op++)
    if (is_wanted((leat_op)op) && !made[op])
      printf("no program has %s\n", leat_op_name((leat_op)op)), missing++;
  return missing;
}

// fusion_test [SEED]: one program all ways, or many.
int main(int argc, char **argv) {
  const char *many = getenv("LEAT_SWEEP");
  int programs = many ? atoi(many) : getenv("LEAT_SANITIZED") ? SANITIZED : PROGRAMS;
  setvbuf(stdout, NULL, _IOLBF, 0); // an assertion loses no message
  if (argc > 2 && strcmp(argv[1], "--case") == 0) argv++, argc--;
  if (argc > 1 && strcmp(argv[1], "--list") == 0) return list(programs), 0;
  if (argc > 1 && !isdigit(*argv[1])) return 0;
  printf("fusion: LEAT_TEST_SEED=%llu\n", (unsigned long long)test_seed());
  if (argc > 1) {
    bool fine = check(strtoull(argv[1], NULL, 0), true);
    printf("fusion: %d passed, %d failed, 0 skipped\n", fine, !fine);
    return !fine;
  }
  int missing = missing_ops(), failed = check_all(programs);
  printf("fusion: %d passed, %d failed, %d skipped\n", programs - failed, failed + missing,
         many ? 0 : PROGRAMS - programs);
  return failed || missing;
}
