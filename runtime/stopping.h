// For programs that save what they did: signals that would end them ask them to stop instead.
#ifndef LEAT_RUNTIME_STOPPING_H
#define LEAT_RUNTIME_STOPPING_H

#include <signal.h>

// From now on the first SIGINT, SIGTERM, SIGHUP, SIGXCPU or SIGUSR2 is only noted, and so is the
// SIGPIPE of writing to a stdout that nobody reads any more. A second SIGINT or SIGTERM ends the
// process at once; what comes within so many seconds of the first is the same one, on its way by
// several processes.
void leat_stop_at_signals(double same_seconds);

// The signal that came, here or, to the client of a cluster, at a worker; 0: none.
extern volatile sig_atomic_t leat_stopped;

// Why it stops, for a message: "stopped by a signal".
const char *leat_stop_reason(void);

#endif
