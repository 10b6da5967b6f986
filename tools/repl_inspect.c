// What a step becomes and what it takes: :time, :dump, :plan, :asm. Each is of an expression, of an
// entry, or of the last step that ran.
#define _GNU_SOURCE
#include "base/show.h"
#include "session/driver.h"
#include "tools/repl.h"
#include "tools/session_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// -- Time --------------------------------------------------------------------------------------

enum { LEAST_RUNS = 3, MOST_RUNS = 1000 };
static const double ENOUGH = 1; // seconds of runs

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// "130 ns", "1.2 ms"; in a buffer of the caller's.
static const char *duration(double seconds, char out[32]) {
  static const char *const units[] = {"s", "ms", "us", "ns"};
  int unit = 0;
  while (unit < 3 && seconds < 1) seconds *= 1e3, unit++;
  snprintf(out, 32, "%.3g %s", seconds, units[unit]);
  return out;
}

void repl_show_times(double compiling, double running) {
  char a[32], b[32];
  leat_show(stdout, "[%s to compile, %s to run]\n", duration(compiling, a), duration(running, b));
}

// The first run, which may compile, is not among the times.
static int measure(repl *r, leat_step *step, double *times, int *out_count) {
  size_t results = (size_t)leat_step_fetch_count(step);
  leat_tensor *values = leat_new_array(r->step_arena, leat_tensor, results + 1);
  int status = tool_report(r->session, leat_step_run(step, r->feeds, values));
  double begin = leat_seconds(), now = begin;
  *out_count = 0;
  while (!status && *out_count < MOST_RUNS && (now - begin < ENOUGH || *out_count < LEAST_RUNS)) {
    double start = now;
    status = tool_report(r->session, leat_step_run(step, r->feeds, values));
    now = leat_seconds();
    times[(*out_count)++] = now - start;
  }
  return status;
}

static int time_step(repl *r) {
  double times[MOST_RUNS], start = leat_seconds();
  int count = 0;
  leat_step *step = NULL;
  int status = tool_report(r->session, leat_session_prepare(r->session, &r->step, &step));
  if (!step) return status;
  status = measure(r, step, times, &count);
  double end = leat_seconds();
  for (int i = 0; i < count; i++) end -= times[i];
  qsort(times, (size_t)count, sizeof *times, ascending);
  char compiled[32], median[32], least[32], most[32];
  if (!status)
    leat_show(stdout, "%s to compile, %s a step (the median of %d, from %s to %s)\n",
              duration(end - start, compiled), duration(times[count / 2], median), count,
              duration(times[0], least), duration(times[count - 1], most));
  leat_step_destroy(step);
  return status;
}

int repl_time(repl *r, const char *expression) {
  if (*expression) {
    int status = repl_step_of(r, expression, true);
    return status ? status : time_step(r);
  }
  r->timing = !r->timing;
  leat_show(stdout, "each line %s what it takes\n", r->timing ? "now says" : "no longer says");
  return TOOL_OK;
}

// -- Stages ------------------------------------------------------------------------------------

static int show_stage(repl *r, const char *stage, const char *expression) {
  int status = repl_step_of(r, expression, false);
  if (!status) status = tool_report(r->session, leat_session_set_dumps(r->session, stage, stage));
  if (status) return status;
  leat_step *step = NULL;
  status = tool_report(r->session, leat_session_prepare(r->session, &r->step, &step));
  leat_step_destroy(step);
  int reset = tool_report(r->session, leat_session_set_dumps(r->session, NULL, NULL));
  return status ? status : reset;
}

int repl_dump(repl *r, const char *argument) {
  size_t length = strcspn(argument, " ");
  char *stage = strndup(argument, length);
  if (!stage) leat_out_of_memory();
  int status = show_stage(r, stage, argument + length + strspn(argument + length, " "));
  free(stage);
  return status;
}

int repl_show_plan(repl *r, const char *expression) {
  return show_stage(r, "image", expression);
}

int repl_show_code(repl *r, const char *expression) {
  return show_stage(r, "asm", expression);
}
