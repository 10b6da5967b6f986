// It runs seldom: compiled for size.
#include "runtime/keeping.h"

#include "runtime/signal.h"
#include "runtime/stopping.h"

#include <inttypes.h>
#include <stddef.h>

static const int64_t LEAST_PAUSE = 100000000; // nanoseconds between two copies of the state
static const int64_t MOST_EFFORT = 50;        // one part of so many of the time is spent on them

static void keep(leat_keeping *k) {
  int64_t begin = leat_clock();
  void *copy;
  if (!k->calls->take(k->of, &copy)) {
    k->calls->drop(k->copy);
    k->copy = copy;
    k->copied = k->steps;
  }
  int64_t end = leat_clock(), pause = (end - begin) * MOST_EFFORT;
  k->due = end + (pause > LEAST_PAUSE ? pause : LEAST_PAUSE);
}

void leat_keeping_note_step(leat_keeping *k, bool last) {
  k->steps++;
  if (k->path && !last && leat_clock() >= k->due) keep(k);
}

// To the state before the step that failed; false: something fails again.
static bool go_back(const leat_keeping *k) {
  bool fine = !k->calls->put_back(k->of, k->copy);
  for (int64_t i = k->copied; i < k->steps && fine; i++) fine = !k->calls->again(k->of);
  return fine && !k->calls->save(k->of, k->path);
}

// What was kept is written first: in a cluster whose ranks end it may be all that can be had.
static leat_status save_kept(const leat_keeping *k, leat_error *error) {
  int64_t lost = k->steps - k->copied;
  if (!k->copy)
    return leat_fail(error, LEAT_ABORTED,
                     "%s is not written: the state before the step that failed is lost", k->path);
  LEAT_TRY(k->calls->write(k->of, k->copy, k->path));
  if (lost && go_back(k)) lost = 0;
  if (lost)
    return leat_fail(error, LEAT_ABORTED,
                     "the step is undone; %s holds the state %" PRId64 " steps before it", k->path,
                     lost);
  return leat_fail(error, LEAT_ABORTED, "the step is undone; %s holds the state before it",
                   k->path);
}

static leat_status save_now(const leat_keeping *k, leat_error *error) {
  leat_status status = k->calls->save(k->of, k->path);
  if (status && k->copy && !k->calls->write(k->of, k->copy, k->path))
    leat_fail(error, status, "%s holds the state %" PRId64 " steps before the last", k->path,
              k->steps - k->copied);
  if (status || !leat_stopped) return status;
  return leat_fail(error, LEAT_ABORTED, "%s; %s holds the state behind the last step",
                   leat_stop_reason(), k->path);
}

leat_status leat_keeping_end(leat_keeping *k, bool failed, leat_error *error) {
  leat_stop_computes_no_more();
  if (!k->path) return failed ? LEAT_ABORTED : LEAT_OK;
  if (k->steps || (k->restored && !failed && !leat_stopped))
    return failed ? save_kept(k, error) : save_now(k, error);
  bool why = leat_stopped && !leat_stop_broke_off();
  return leat_fail(error, LEAT_ABORTED, "%s%s%s is not written: no step has run",
                   why ? leat_stop_reason() : "", why ? "; " : "", k->path);
}

void leat_keeping_finish(leat_keeping *k) {
  if (k->copy) k->calls->drop(k->copy);
  k->copy = NULL;
}
