// What a *_test.c program is written with: CHECK counts conditions, tests_end prints the closing
// line.
//
//     int main(void) {
//       CHECK(1 + 1 == 2);
//       CHECK_TEXT(leat_status_name(LEAT_OK), "ok");
//       return tests_end("status");
//     }
#ifndef LEAT_TESTS_CHECK_H
#define LEAT_TESTS_CHECK_H

#include <stdio.h>
#include <string.h>

static int tests_passed, tests_failed, tests_skipped;

// Counts and, when `ok` is false, says where and what.
static inline void tests_check(int ok, const char *file, int line, const char *what) {
  if (ok) {
    tests_passed++;
  } else {
    tests_failed++;
    printf("%s:%d: failed: %s\n", file, line, what);
  }
}

static inline void tests_check_text(const char *file, int line, const char *what, const char *got,
                                    const char *want) {
  int ok = got && want ? strcmp(got, want) == 0 : got == want;
  tests_check(ok, file, line, what);
  if (!ok) printf("---- got\n%s\n---- want\n%s\n", got ? got : "NULL", want ? want : "NULL");
}

static inline void tests_skip(const char *why) {
  tests_skipped++;
  printf("skipped: %s\n", why);
}

#define CHECK(condition) tests_check(!!(condition), __FILE__, __LINE__, #condition)
#define CHECK_TEXT(got, want) tests_check_text(__FILE__, __LINE__, #got, got, want)

// Prints the closing line; what main returns.
static inline int tests_end(const char *name) {
  printf("%s: %d passed, %d failed, %d skipped\n", name, tests_passed, tests_failed, tests_skipped);
  return tests_failed != 0;
}

#endif
