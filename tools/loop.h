// Many steps of what was prepared, with log lines and a progress bar.
#ifndef LEAT_TOOLS_LOOP_H
#define LEAT_TOOLS_LOOP_H

#include "tools/saving.h"

#include <signal.h>

typedef struct tool_loop {
  const prepared *step;
  int64_t first, last; // the number of the step before the first, and of the last
  int log_every;       // steps between log lines
  bool log_bits;       // losses as bits, so that two logs can be compared exactly; and no speed
  tool_saving *saving; // what learns of each step; NULL: nothing
  const volatile sig_atomic_t *stopped; // no further step once it is not 0
} tool_loop;

// Shows what is wrong; the result is an exit code.
int tool_run_loop(const tool_loop *loop, leat_session *session);
// Steps done already: the value of global_step, which is 0 before the first.
int tool_read_global_step(leat_session *session, int64_t *out);

#endif
