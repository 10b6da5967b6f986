// Ends runs that take longer than they may: a thread that looks now and then how long each has been
// in flight. Only a runtime with a limit has one, and only there runs note when they began.
// It runs seldom: compiled for size.
#include "runtime/watch.h"

#include "runtime/executor.h"

#include <signal.h>
#include <stdlib.h>

struct leat_watch {
  leat_runtime *runtime;
  pthread_t thread;
  leat_signal ends;
};

static const int64_t LEAST_PAUSE = 1000000, MOST_PAUSE = 100000000; // nanoseconds between two looks

static int64_t pause_of(double limit) {
  double pause = limit * 1e9 / 16;
  return pause < (double)LEAST_PAUSE  ? LEAST_PAUSE
         : pause > (double)MOST_PAUSE ? MOST_PAUSE
                                      : (int64_t)pause;
}

static void look(leat_runtime *runtime) {
  pthread_mutex_lock(&runtime->runs_lock);
  int64_t now = leat_clock();
  for (leat_ending *ending = atomic_load(&runtime->endings); ending; ending = ending->next) {
    if (!atomic_load(&ending->flight) || (double)(now - ending->began) <= runtime->limit * 1e9)
      continue;
    atomic_store(&ending->late, true);
    atomic_store(&ending->now, true);
  }
  pthread_mutex_unlock(&runtime->runs_lock);
}

static void *thread_main(void *argument) {
  leat_watch *watch = argument;
  int64_t pause = pause_of(watch->runtime->limit);
  while (!leat_signal_value(&watch->ends)) {
    leat_signal_wait(&watch->ends, 0, 0, leat_clock() + pause);
    look(watch->runtime);
  }
  return NULL;
}

leat_status leat_watch_start(leat_runtime *runtime, leat_error *error) {
  if (LEAT_ONE_THREAD)
    return leat_fail(error, LEAT_UNSUPPORTED,
                     "a deadline needs a thread, and this was compiled without any");
  leat_watch *watch = runtime->watch = calloc(1, sizeof *watch);
  if (!watch) return leat_fail(error, LEAT_MEMORY, "no memory for the runtime");
  watch->runtime = runtime;
  sigset_t all, before; // signals are for the threads of the program
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  int failure = pthread_create(&watch->thread, NULL, thread_main, watch);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!failure) return LEAT_OK;
  free(watch);
  runtime->watch = NULL;
  return leat_fail(error, LEAT_MEMORY, "cannot start the thread that watches the deadline");
}

void leat_watch_end(leat_watch *watch) {
  if (!watch) return;
  leat_signal_raise(&watch->ends);
  pthread_join(watch->thread, NULL);
  free(watch);
}
