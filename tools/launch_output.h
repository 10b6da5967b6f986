// What mpiexec writes, on its way to stdout and stderr. It ends its ranks by SIGKILL as soon as
// nobody reads what it writes, and what they have trained would be lost. So a process for each of
// the two reads it and passes it on: no reader is too slow for who watches the ranks, and the
// state survives whoever is killed but these.
#ifndef LEAT_TOOLS_LAUNCH_OUTPUT_H
#define LEAT_TOOLS_LAUNCH_OUTPUT_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct launch_output {
  int from[2], to[2]; // the ends of the pipes that mpiexec has for stdout and stderr
  pid_t relays[2];    // 0: none
} launch_output;

// False: errno.
bool launch_output_open(launch_output *output);
// In mpiexec's process: stdout and stderr are the pipes.
void launch_output_enter(const launch_output *output);
// In its parent, once: passes on what `mpiexec` writes until that ends. This process gets SIGPIPE
// when it can be passed on no more; the rest is read and thrown away. False: errno.
bool launch_output_relay(launch_output *output, pid_t mpiexec);
// Whether something is still to be passed on.
bool launch_output_goes_on(launch_output *output);
void launch_output_end(launch_output *output);

#endif
