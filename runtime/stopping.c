// It runs seldom: compiled for size.
#include "runtime/stopping.h"

#include "runtime/signal.h"

#include <errno.h>
#include <stddef.h>

volatile sig_atomic_t leat_stopped;
static double same;
static _Atomic int64_t until; // the clock up to which a signal is the first one; 0: none has come

// A terminal that is closed sends SIGHUP more than once, every line gives another SIGPIPE, and each
// second beyond the limit another SIGXCPU.
static void stop(int number) {
  int kept = errno;
  bool patient = number != SIGINT && number != SIGTERM;
  leat_stopped = number;
  if (!patient && !until) {
    until = leat_clock_after(same);
  } else if (!patient && leat_clock() > until) {
    signal(number, SIG_DFL);
    raise(number);
  }
  errno = kept;
}

void leat_stop_at_signals(double same_seconds) {
  struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESTART}, before;
  same = same_seconds;
  sigaction(SIGPIPE, &action, NULL);
  sigaction(SIGXCPU, &action, NULL);
  sigaction(SIGHUP, &action, &before);
  if (before.sa_handler == SIG_IGN) sigaction(SIGHUP, &before, NULL); // as nohup wants it
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGUSR2, &action, NULL); // by which batch systems warn; the tests wait for it
}

const char *leat_stop_reason(void) {
  return leat_stopped == SIGPIPE ? "stopped, for nobody reads stdout any more"
                                 : "stopped by a signal";
}
