// For programs that save what they did: signals that would end them ask them to stop instead, and a
// step that does not end can be broken off.
#ifndef LEAT_RUNTIME_STOPPING_H
#define LEAT_RUNTIME_STOPPING_H

#include <signal.h>
#include <stdbool.h>

struct leat_runtime;

typedef struct leat_stopping {
  struct leat_runtime *runtime; // whose runs are broken off
  const char *saves;            // the file that is written in the end; NULL: signals end the
                                // process as they always do
  double same_seconds; // what comes within so many of the first signal is the same one, on its way
                       // by several processes
  bool works_for_another; // who says what is to be said
} leat_stopping;

// From now on the first SIGINT, SIGTERM, SIGHUP, SIGXCPU or SIGUSR2 is only noted, and so is the
// SIGPIPE of writing to a stdout that nobody reads any more; where what runs does not end soon
// then, stderr hears what it is, and what comes next. A second SIGINT or SIGTERM interrupts the
// runtime, a third one ends the process at once. Called once.
void leat_stop_at_signals(const leat_stopping *how);
// Nothing is computed any more, or what was told to end has: the runtime works again, and the next
// SIGINT or SIGTERM but the first ends the process.
void leat_stop_computes_no_more(void);

// The signal that came, here or, to the client of a cluster, at a worker; 0: none.
extern volatile sig_atomic_t leat_stopped;

// Why it stops, for a message: "stopped by a signal".
const char *leat_stop_reason(void);
// Why a step was broken off, with the node that it was at; NULL: none was.
const char *leat_stop_broke_off(void);

#endif
