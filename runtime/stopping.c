#include "runtime/stopping.h"

#include <stddef.h>

volatile sig_atomic_t leat_stopped;

// A terminal that is closed sends SIGHUP more than once, and every line gives another SIGPIPE.
static void stop(int number) {
  leat_stopped = number;
  if (number == SIGHUP || number == SIGPIPE) return;
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
}

void leat_stop_at_signals(void) {
  struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESTART}, before;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGPIPE, &action, NULL);
  sigaction(SIGHUP, &action, &before);
  if (before.sa_handler == SIG_IGN) sigaction(SIGHUP, &before, NULL); // as nohup wants it
}

const char *leat_stop_reason(void) {
  return leat_stopped == SIGPIPE ? "stopped, for nobody reads stdout any more"
                                 : "stopped by a signal";
}
