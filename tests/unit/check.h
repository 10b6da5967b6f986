// The whole test harness: one C file is one program. Tests run in the order in which they are
// written.
//
//     #include "tests/unit/check.h"
//     TEST(two_and_two) { CHECK_EQ_INT(2 + 2, 4); }
//     CHECK_MAIN("sums")
//
// Each failing check prints a line and the test goes on; the last line is `sums: N passed, N
// failed, N skipped`. With `--list` the program prints the names of its tests, with `--case NAME…`
// it runs these, with FILTER… those that have one of the words in their names, and says nothing if
// it has none of them. A test that takes longer than $LEAT_CASE_SECONDS (450) ends the program, and
// is named.
#ifndef LEAT_TESTS_UNIT_CHECK_H
#define LEAT_TESTS_UNIT_CHECK_H

#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

enum { CHECK_MOST_TESTS = 512 };

static struct {
  const char *name;
  void (*run)(void);
} check_tests[CHECK_MOST_TESTS];

static int check_count;
static int check_failures; // of the test that runs
static int check_skipped;  // set by a test that cannot run here, with CHECK_SKIP

#define TEST(id)                                                                                   \
  static void test_##id(void);                                                                     \
  __attribute__((constructor)) static void add_##id(void) {                                        \
    check_tests[check_count].name = #id;                                                           \
    check_tests[check_count++].run = test_##id;                                                    \
  }                                                                                                \
  static void test_##id(void)

#define CHECK_FAILED(...)                                                                          \
  (check_failures++, printf("%s:%d: ", __FILE__, __LINE__), printf(__VA_ARGS__), printf("\n"))

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) CHECK_FAILED("%s", #condition);                                              \
  } while (0)

#define CHECK_EQ_INT(actual, expected)                                                             \
  do {                                                                                             \
    intmax_t check_a = (intmax_t)(actual), check_e = (intmax_t)(expected);                         \
    if (check_a != check_e)                                                                        \
      CHECK_FAILED("%s is %" PRIdMAX ", not %" PRIdMAX, #actual, check_a, check_e);                \
  } while (0)

#define CHECK_EQ_STR(actual, expected)                                                             \
  do {                                                                                             \
    const char *check_a = (actual), *check_e = (expected);                                         \
    if (!check_a || !check_e || strcmp(check_a, check_e) != 0)                                     \
      CHECK_FAILED("%s is\n%s\nnot\n%s", #actual, check_a ? check_a : "NULL",                      \
                   check_e ? check_e : "NULL");                                                    \
  } while (0)

#define CHECK_SKIP(reason)                                                                         \
  do {                                                                                             \
    check_skipped = 1;                                                                             \
    printf("skipped: %s\n", reason);                                                               \
    return;                                                                                        \
  } while (0)

// Of what takes long a slow build ($LEAT_SANITIZED) does one in `slow`, from which on
// $LEAT_TEST_SEED says; with $LEAT_EVERY all.
static inline int check_step(int slow) {
  return getenv("LEAT_SANITIZED") && !getenv("LEAT_EVERY") ? slow : 1;
}

static inline int check_seed(void) {
  const char *seed = getenv("LEAT_TEST_SEED");
  return seed ? (int)(strtoull(seed, NULL, 0) % INT32_MAX) : 0;
}

static inline int check_first(int slow) {
  return check_seed() % check_step(slow);
}

#define CHECK_EACH(i, from, to, slow)                                                              \
  for (int i = (from) + check_first(slow); i < (int)(to); i += check_step(slow))

// What a test takes goes to $LEAT_TEST_TIMES, of which `./dev test` shows the slowest.
static inline void check_note_time(const char *program, const char *test, struct timespec begin) {
  struct timespec end;
  const char *path = getenv("LEAT_TEST_TIMES");
  FILE *times = path ? fopen(path, "a") : NULL;
  if (!times) return;
  clock_gettime(CLOCK_MONOTONIC, &end);
  fprintf(times, "%.2f %s: %s\n",
          (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec),
          program, test);
  fclose(times);
}

static char check_said[256]; // of a test whose time is over

static void check_over(int number) {
  (void)number;
  fputs_unlocked(check_said, stdout);
  fflush_unlocked(stdout);
  _Exit(124);
}

// 0: no limit any more.
static inline void check_limit(int seconds) {
  struct itimerval limit = {.it_value.tv_sec = seconds};
  fflush(stdout);
  signal(SIGALRM, check_over);
  setitimer(ITIMER_REAL, &limit, NULL);
}

static inline void check_run_one(const char *program, int i) {
  const char *limit = getenv("LEAT_CASE_SECONDS");
  int seconds = limit ? atoi(limit) : 450;
  snprintf(check_said, sizeof check_said, "%s: %s: no end after %d s\n", program,
           check_tests[i].name, seconds);
  check_limit(seconds);
  check_tests[i].run();
  check_limit(0);
}

static char **check_words; // of the command line, which ask for tests; NULL: all run

static inline bool check_wanted(const char *name) {
  if (!check_words) return true;
  bool whole = strcmp(*check_words, "--case") == 0;
  for (char **word = check_words + whole; *word; word++)
    if (whole ? strcmp(name, *word) == 0 : strstr(name, *word) != NULL) return true;
  return false;
}

static inline int check_run(const char *program) {
  int passed = 0, failed = 0, skipped = 0;
  for (int i = 0; i < check_count; i++) {
    struct timespec begin;
    if (!check_wanted(check_tests[i].name)) continue;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    check_failures = check_skipped = 0;
    check_run_one(program, i);
    check_note_time(program, check_tests[i].name, begin);
    if (check_failures) printf("%s: %s failed\n", program, check_tests[i].name);
    *(check_failures ? &failed : check_skipped ? &skipped : &passed) += 1;
  }
  if (check_words && passed + failed + skipped == 0) return 0;
  printf("%s: %d passed, %d failed, %d skipped\n", program, passed, failed, skipped);
  return failed != 0 || passed + skipped == 0;
}

static inline int check_main(const char *program, int count, char **words) {
  bool lists = count == 2 && strcmp(words[1], "--list") == 0;
  for (int i = 0; lists && i < check_count; i++) printf("%s\n", check_tests[i].name);
  if (lists) return 0;
  if (count > 1) check_words = words + 1;
  return check_run(program);
}

#define CHECK_MAIN(program)                                                                        \
  int main(int count, char **words) {                                                              \
    return check_main(program, count, words);                                                      \
  }

#endif
