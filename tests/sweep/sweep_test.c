// Every op of ir/ops.def in every dtype that it takes, on random shapes and data: the targets cpu
// and c give what ref does, in shapes of constants and of run-time dims.
//
// A case is an op, a dtype and a seed. The cases of a dtype are one program (starting a C compiler
// is what costs); a program that does not run at all is halved until its culprit stands alone. Each
// op has cases with a fixed seed and cases seeded by $LEAT_TEST_SEED; those of several operands
// have one in which they are the same value, and in memory that the op may write over. Of a dtype's
// programs that seed draws a fifth, and every fourth dtype whose first of these the C compiler
// gets, too. LEAT_SWEEP=N: all of them, and N that are seeded.
#include "tests/sweep/op_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const test_way targets[] = {
    {.name = "ref", .options = {.target = "ref", .symbolic = true, .devices = 2}},
    {.name = "cpu", .options = {.target = "cpu", .symbolic = true, .devices = 2}},
    {.name = "c", .options = {.target = "c", .symbolic = true, .devices = 2}},
};
enum { TARGETS = 3, MOST_TEXT_SHOWN = 3000, PROGRAM_SEED = 7 };

// Cases so far. Processes share it.
typedef struct counts {
  int passed, failed, skipped; // with a slow build what is sampled
} counts;

static counts *all;

static void count(int *of, uint32_t cases) {
  __atomic_fetch_add(of, (int)cases, __ATOMIC_RELAXED);
}

// -- Cases ---------------------------------------------------------------------------------------

typedef struct sweep_case {
  leat_op op;
  leat_dtype dtype;
  int variant;
  uint64_t seed;
} sweep_case;

typedef leat_vec(sweep_case) case_list;

typedef enum sweep_kind { CONSTANT, SYMBOLIC, ALIASED } sweep_kind; // of a program

static void build(program *p, const sweep_case *cases, uint32_t n, sweep_kind kind) {
  program_init(p, PROGRAM_SEED);
  p->symbolic = kind == SYMBOLIC;
  p->aliased = kind == ALIASED;
  for (uint32_t i = 0; i < n; i++) {
    p->random.state = cases[i].seed;
    p->group = (int)i;
    p->most_elements = rng_percent(&p->random, 10) ? 40000 : 1500;
    uint32_t made = p->values.count;
    op_call(p, cases[i].op, cases[i].dtype, cases[i].variant);
    for (; made < p->values.count; made++)
      if (!p->values.items[made].is_input) program_fetch(p, &p->values.items[made]);
  }
}

static int target_count = TARGETS; // of the program that runs

static leat_status run(program *p, const sweep_case *cases, uint32_t n, sweep_kind kind,
                       leat_text *why, bool *wrong) {
  build(p, cases, n, kind);
  if (getenv("LEAT_SWEEP_SHOW")) fputs(program_text(p, false), stderr); // to see what crashed
  return program_agrees(p, targets, target_count, kind == SYMBOLIC ? 3 : 1, why, wrong);
}

// A case whose result is wrong, in a program of its own if it is wrong there too: `among` is what
// was said of it among the others.
static void report_wrong(const sweep_case *one, sweep_kind kind, const char *among) {
  program p;
  leat_text why = {0};
  leat_status status = run(&p, one, 1, kind, &why, NULL);
  printf("%s\n%.*s\n", status ? why.data : among, MOST_TEXT_SHOWN, program_text(&p, false));
  if (!status) printf("This program alone is right; it is wrong among the dtype's others.\n");
  fflush(stdout);
  program_finish(&p);
  leat_text_finish(&why);
}

// Runs cases as one program. One that does not run is halved.
static void check(const sweep_case *cases, uint32_t n, sweep_kind kind) {
  program p;
  leat_text why = {0};
  bool *wrong = calloc(n, sizeof *wrong);
  leat_status status = run(&p, cases, n, kind, &why, wrong);
  if (status && status != LEAT_MISMATCH && n > 1) {
    check(cases, n / 2, kind);
    check(cases + n / 2, n - n / 2, kind);
  } else {
    for (uint32_t i = 0; i < n; i++) {
      bool failed = wrong[i] || (status && n == 1);
      count(failed ? &all->failed : &all->passed, 1);
      if (failed) report_wrong(&cases[i], kind, why.data);
    }
  }
  program_finish(&p);
  leat_text_finish(&why);
  free(wrong);
}

// What the command line asks for: NULL is all.
static const char *only_dtype, *only_op;

static bool wanted(leat_op op, leat_dtype dtype, sweep_kind kind) {
  if (only_op && strcmp(only_op, leat_op_name(op)) != 0) return false;
  if (kind == ALIASED && leat_op_info_of(op)->max_inputs < 2) return false;
  return op_calls_cover(op) && op_takes(op, dtype);
}

static void add_cases(leat_arena *arena, leat_dtype dtype, sweep_kind kind, rng *random,
                      case_list *out) {
  for (int op = 0; op < LEAT_OP_COUNT; op++)
    for (int variant = 0; variant < op_variants((leat_op)op); variant++) {
      sweep_case added = {(leat_op)op, dtype, variant, rng_next(random)};
      if (wanted(added.op, dtype, kind)) leat_vec_push(arena, out, added);
    }
}

static bool runs_all(void) {
  return getenv("LEAT_SWEEP") || only_dtype;
}

// Whether program i of the dtype's runs this time: a fifth of them do, with a slow build one.
static bool is_drawn(leat_dtype dtype, int i, int programs) {
  uint64_t turn = test_seed() + (uint64_t)dtype / 2 + (uint64_t)i;
  return runs_all() || turn % (getenv("LEAT_SANITIZED") ? (uint64_t)programs : 5) == 0;
}

// Whether target c runs what is drawn of the dtype first: of every fourth dtype, with a slow build
// every eighth.
static bool is_for_c(leat_dtype dtype) {
  uint64_t turn = test_seed() + (uint64_t)dtype;
  return runs_all() || turn % (getenv("LEAT_SANITIZED") ? 8 : 4) == 0;
}

// What is drawn of a program of all ops with constant shapes, one with run-time dims and one of
// aliases, from fixed seeds, and `sampled` more of the first two kinds.
static void sweep_dtype(leat_dtype dtype, int sampled) {
  leat_arena *arena = leat_arena_create();
  rng fixed = {(uint64_t)dtype}, sample = {test_seed() + (uint64_t)dtype};
  int programs = ALIASED + 1 + sampled;
  bool for_c = is_for_c(dtype);
  for (int i = 0; i < programs; i++) {
    case_list cases = {0};
    sweep_kind kind = i <= ALIASED ? (sweep_kind)i : rng_percent(&sample, 50) ? SYMBOLIC : CONSTANT;
    add_cases(arena, dtype, kind, i <= ALIASED ? &fixed : &sample, &cases);
    if (!is_drawn(dtype, i, programs)) {
      count(&all->skipped, cases.count);
    } else if (cases.count) {
      target_count = for_c ? TARGETS : TARGETS - 1;
      for_c = runs_all();
      check(cases.items, cases.count, kind);
    }
  }
  leat_arena_destroy(arena);
}

// -- Processes: one a dtype, so that one that crashes takes no other with it ---------------------

static void start(leat_dtype dtype, int sampled) {
  fflush(stdout);
  pid_t child = fork();
  if (child < 0) {
    perror("fork");
    exit(2);
  }
  if (child) return;
  sweep_dtype(dtype, sampled);
  fflush(stdout);
  _exit(0);
}

static void finish_one(void) {
  int status;
  if (wait(&status) < 0 || status == 0) return;
  printf("a process ended with status %d\n", status);
  count(&all->failed, 1);
}

// Whether the op has values of the dtype; where its row says ALL there can still be just one.
static bool has_values_of(leat_op op, leat_dtype dtype) {
  switch ((int)op) {
  case LEAT_OP_run_count:
  case LEAT_OP_dim:
  case LEAT_OP_bind:
  case LEAT_OP_check_dims: return dtype == LEAT_i64;
  case LEAT_OP_random_bits: return dtype == LEAT_u32;
  case LEAT_OP_permutation: return dtype == LEAT_i32;
  }
  return true;
}

// What is compared, for docs/ops.md (tests/reference/run): a line for each op and dtype that it
// takes: op, dtype, the test, and how near, `=`, or ULPs, of some so many a row.
static void list(void) {
  for (int op = 0; op < LEAT_OP_COUNT; op++)
    for (int d = 0; d < LEAT_DTYPE_COUNT; d++) {
      leat_dtype dtype = (leat_dtype)d;
      const char *test = op_tested_by((leat_op)op), *name = leat_op_name((leat_op)op);
      if (!test || !has_values_of((leat_op)op, dtype)) continue;
      if (!op_takes((leat_op)op, dtype)) continue;
      printf("%s %s %s ", name, leat_dtype_name(dtype), test);
      int ulps = op_ulps((leat_op)op, dtype);
      if (op_growth((leat_op)op) > 0)
        printf("≤%gn\n", op_growth((leat_op)op));
      else if (ulps)
        printf("≤%d%s\n", ulps,
               op_cancels((leat_op)op)        ? "¹"
               : op_turns((leat_op)op, dtype) ? "²"
                                              : "");
      else
        puts("=");
    }
}

// With a slow build every fourth dtype has its turn.
static bool is_this_time(int dtype) {
  bool every = getenv("LEAT_SWEEP") || !getenv("LEAT_SANITIZED");
  return every || (test_seed() + (uint64_t)dtype) % 4 == 0;
}

// sweep_test [DTYPE [OP]]; --list: the dtypes; --compared: how near each op is, and whose test says
// so
int main(int argc, char **argv) {
  const char *many = getenv("LEAT_SWEEP");
  int sampled = many ? atoi(many) : 1, running = 0;
  long most = sysconf(_SC_NPROCESSORS_ONLN);
  if (argc == 2 && !strcmp(argv[1], "--compared")) return list(), 0;
  if (lists_dtypes(&argc, &argv)) return 0;
  all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  only_dtype = argc > 1 ? argv[1] : NULL;
  only_op = argc > 2 ? argv[2] : NULL;
  printf("sweep: LEAT_TEST_SEED=%llu\n", (unsigned long long)test_seed());
  for (int dtype = 0; dtype < LEAT_DTYPE_COUNT; dtype++) {
    if (!only_dtype && !is_this_time(dtype)) continue;
    if (only_dtype && strcmp(only_dtype, leat_dtype_name((leat_dtype)dtype)) != 0) continue;
    for (; running >= most; running--) finish_one();
    start((leat_dtype)dtype, sampled);
    running++;
  }
  for (; running > 0; running--) finish_one();
  printf("sweep: %d passed, %d failed, %d skipped\n", all->passed, all->failed, all->skipped);
  return all->failed != 0;
}
