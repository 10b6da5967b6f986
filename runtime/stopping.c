// Whether a step ends is looked at by a timer's signal, four times a second from the first signal
// on: so it costs a step nothing, and needs no thread.
// It runs seldom: compiled for size.
#include "runtime/stopping.h"

#include "base/printable.h"
#include "runtime/runtime.h"
#include "runtime/signal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { TICK = 250000 };                // microseconds
static const int64_t SOON = 500000000; // nanoseconds in which most steps end

volatile sig_atomic_t leat_stopped;
static leat_stopping stopping;
static volatile sig_atomic_t computes; // what runs can be broken off
static volatile sig_atomic_t broken;   // it has been
static volatile sig_atomic_t said;     // that it is waited for
static _Atomic int64_t asked;          // the clock when the first signal came; 0: none has
static char where[200];                // " in `node`", for people
static char next[400];                 // what another signal does

static void take_time(bool on) {
  const struct timeval tick = {0, on ? TICK : 0};
  setitimer(ITIMER_REAL, &(struct itimerval){tick, tick}, NULL);
}

// " in `NAME`", cut short where it is long.
static void find_where(void) {
  static const char in[] = " in `";
  size_t size = sizeof in - 1;
  const char *name = leat_runtime_node(stopping.runtime);
  where[0] = '\0';
  if (!name || !*name) return;
  memcpy(where, in, size);
  for (; *name && size < sizeof where - 2; name++) where[size++] = *name;
  where[size++] = '`';
  where[size] = '\0';
  leat_mask_controls(where);
}

static void break_off(void) {
  find_where();
  broken = true;
  leat_runtime_interrupt(stopping.runtime, true);
}

// Only what a signal handler may do.
static void say_what_is_waited_for(void) {
  static const char begin[] = "\nstopping: waits for the step that runs";
  char words[sizeof begin + sizeof where + sizeof next];
  size_t at = 0;
  const char *const parts[] = {begin, where, next};
  said = true;
  if (stopping.works_for_another || !computes) return;
  find_where();
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    memcpy(words + at, parts[i], strlen(parts[i]));
    at += strlen(parts[i]);
  }
  if (write(STDERR_FILENO, words, at) < 0) return; // nobody reads it
}

static void look(int number) {
  (void)number;
  int kept = errno;
  if (asked && !said && leat_clock() - asked >= SOON) say_what_is_waited_for();
  errno = kept;
}

// A terminal that is closed sends SIGHUP more than once, every line gives another SIGPIPE, and each
// second beyond the limit another SIGXCPU.
static void stop(int number) {
  int kept = errno;
  bool patient = number != SIGINT && number != SIGTERM;
  leat_stopped = number;
  if (!patient && !asked) {
    asked = leat_clock();
    if (computes) take_time(true);
  } else if (!patient && (double)(leat_clock() - asked) > stopping.same_seconds * 1e9) {
    if (computes && !broken) {
      asked = leat_clock(); // of the second one
      break_off();
    } else {
      signal(number, SIG_DFL);
      raise(number);
    }
  }
  errno = kept;
}

static void describe_next(void) {
  char process[40] = "";
  if (stopping.same_seconds > 0.1)
    snprintf(process, sizeof process, " to process %ld", (long)getpid());
  snprintf(next, sizeof next,
           "; a second signal%s breaks it off, and the state before it is saved; a third one ends "
           "all at "
           "once, and what has not been saved yet is lost\n",
           process);
}

static void catch_signals(void) {
  struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESTART}, before;
  sigaction(SIGPIPE, &action, NULL);
  sigaction(SIGXCPU, &action, NULL);
  sigaction(SIGHUP, &action, &before);
  if (before.sa_handler == SIG_IGN) sigaction(SIGHUP, &before, NULL); // as nohup wants it
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGUSR2, &action, NULL); // by which batch systems warn; the tests wait for it
}

void leat_stop_at_signals(const leat_stopping *how) {
  stopping = *how;
  describe_next();
  computes = true;
  const struct sigaction action = {.sa_handler = look, .sa_flags = SA_RESTART};
  if (!stopping.saves) return;
  sigaction(SIGALRM, &action, NULL);
  catch_signals();
}

void leat_stop_computes_no_more(void) {
  computes = false;
  take_time(false);
  if (stopping.runtime) leat_runtime_interrupt(stopping.runtime, false);
}

const char *leat_stop_reason(void) {
  return leat_stopped == SIGPIPE ? "stopped, for nobody reads stdout any more"
                                 : "stopped by a signal";
}

const char *leat_stop_broke_off(void) {
  static char words[sizeof where + 100];
  if (!broken) return NULL;
  snprintf(words, sizeof words, "%s, the step that ran is broken off%s", leat_stop_reason(), where);
  return words;
}
