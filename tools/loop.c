// The loop that `leat train` and the REPL's `:run` share: log lines on stdout and, where stderr is
// a terminal, a progress bar there.
#define _GNU_SOURCE
#include "tools/loop.h"

#include "base/environment.h"
#include "base/show.h"
#include "base/text.h"
#include "session/driver.h"
#include "tools/session_options.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// -- What is shown -----------------------------------------------------------------------------

// 12345.6 → "12,346"
static void format_count(double value, char out[32]) {
  char digits[24];
  int length = snprintf(digits, sizeof digits, "%.0f", value), at = 0;
  for (int i = 0; i < length && at < 30; i++) {
    if (i && (length - i) % 3 == 0) out[at++] = ',';
    out[at++] = digits[i];
  }
  out[at] = '\0';
}

// A NaN without its sign, which says nothing.
static double plain(double value) {
  return isnan(value) ? fabs(value) : value;
}

// Scalars only; as bits, so that two logs can be compared exactly, when so asked.
static void print_scalar(const char *name, const leat_tensor *value, bool bits) {
  if (value->rank != 0) return;
  if (value->dtype == LEAT_f32) {
    float f;
    uint32_t word;
    memcpy(&f, value->data, sizeof f);
    memcpy(&word, value->data, sizeof word);
    bits ? leat_show(stdout, "  %s %08" PRIx32, name, word)
         : leat_show(stdout, "  %s %.4g", name, plain((double)f));
  } else if (value->dtype == LEAT_f64) {
    double f;
    uint64_t word;
    memcpy(&f, value->data, sizeof f);
    memcpy(&word, value->data, sizeof word);
    bits ? leat_show(stdout, "  %s %016" PRIx64, name, word)
         : leat_show(stdout, "  %s %.4g", name, plain(f));
  }
}

static void log_step(const tool_loop *l, int64_t step, double rate) {
  char speed[32];
  leat_show(stdout, "step %" PRId64, step);
  for (int i = 0; i < leat_step_fetch_count(l->step->step); i++)
    print_scalar(leat_step_fetch(l->step->step, i)->name, &l->step->fetch_values[i], l->log_bits);
  format_count(rate, speed);
  l->log_bits ? leat_show(stdout, "\n") : leat_show(stdout, "  %s steps/s\n", speed);
  fflush(stdout);
}

enum { BAR_WIDTH = 40 };

static void draw_bar(int64_t step, int64_t last) {
  int full = (int)(BAR_WIDTH * step / last);
  fprintf(stderr, "\r[%.*s%*s] %" PRId64 "/%" PRId64, full,
          "########################################", BAR_WIDTH - full, "", step, last);
  fflush(stderr);
}

static void erase_bar(void) {
  fputs("\r\033[K", stderr);
  fflush(stderr);
}

// -- The loop ----------------------------------------------------------------------------------

int tool_read_global_step(leat_session *session, int64_t *out) {
  leat_tensor value;
  *out = 0;
  bool present = false;
  for (int i = 0; i < leat_session_variable_count(session) && !present; i++)
    present = strcmp(leat_session_variable(session, i), "global_step") == 0;
  if (!present) return TOOL_OK;
  leat_status status = leat_variable_read(session, "global_step", &value);
  if (status) return tool_report(session, status);
  if (value.dtype == LEAT_i64) memcpy(out, value.data, sizeof *out);
  free(value.data);
  return TOOL_OK;
}

static bool can_draw(void) {
  const char *terminal = leat_environment("TERM");
  return isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

int tool_run_loop(const tool_loop *l, leat_session *session) {
  bool bar = can_draw();
  double start = leat_seconds(), logged = start, drawn = 0;
  int64_t step = l->first, logged_step = step;
  while (step < l->last && !*l->stopped) {
    leat_status status = leat_step_run(l->step->step, l->step->feed_values, l->step->fetch_values);
    if (status && bar) erase_bar();
    if (status) return tool_report_step(session, status);
    step++;
    if (l->saving) tool_saving_note_step(l->saving);
    bool last = step == l->last;
    if (bar && !last && !*l->stopped && leat_seconds() - drawn > 0.1)
      draw_bar(step, l->last), drawn = leat_seconds();
    if (step % l->log_every && !last) continue;
    if (bar) erase_bar();
    log_step(l, step, (double)(step - logged_step) / (leat_seconds() - logged));
    logged = leat_seconds();
    logged_step = step;
  }
  if (bar) erase_bar();
  int64_t count = step - l->first;
  if (!l->log_bits)
    leat_show(stdout, "%" PRId64 " step%s in %.3f s\n", count, count == 1 ? "" : "s",
              leat_seconds() - start);
  return TOOL_OK;
}
