// What the measuring programs share: they print one line of JSON for each line that they read, so
// that a driver (bench/run) can take turns between them and a peer.
#ifndef LEAT_BENCH_H
#define LEAT_BENCH_H

#include "leat/leat.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double read_clock(clockid_t clock) { // seconds
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double now(void) {
  return read_clock(CLOCK_MONOTONIC);
}

static inline void check(leat_session *session, leat_status status) {
  if (status == LEAT_OK) return;
  fprintf(stderr, "%s: %s\n", leat_status_name(status), leat_session_message(session));
  exit(1);
}

static inline int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static inline double median(double *values, int count) { // sorts them
  qsort(values, (size_t)count, sizeof *values, compare_doubles);
  return values[count / 2];
}

static inline void report(double *seconds, int runs) { // the median, as the driver reads it
  printf("{\"ms\": %.6f}\n", 1e3 * median(seconds, runs));
  fflush(stdout);
}

// The next number on standard input; 0 when the driver has no more.
static inline int next_round(void) {
  int runs = 0;
  return scanf("%d", &runs) == 1 ? runs : 0;
}

// Times calls of `run` until the driver has no more: for each of its lines `scale` times the
// median, and that of the processors' time, which other processes change less. False: no memory.
static inline bool serve(void (*run)(void *context), void *context, double scale) {
  for (int runs; (runs = next_round()) > 0;) {
    double *wall = calloc((size_t)runs, sizeof *wall), *used = calloc((size_t)runs, sizeof *used);
    for (int i = 0; wall && used && i < runs; i++) {
      double start = now(), before = read_clock(CLOCK_PROCESS_CPUTIME_ID);
      run(context);
      used[i] = scale * (read_clock(CLOCK_PROCESS_CPUTIME_ID) - before);
      wall[i] = scale * (now() - start);
    }
    bool served = wall && used;
    if (served)
      printf("{\"ms\": %.6f, \"processor_ms\": %.6f}\n", 1e3 * median(wall, runs),
             1e3 * median(used, runs));
    fflush(stdout);
    free(wall);
    free(used);
    if (!served) return false;
  }
  return true;
}

#endif
