// What mpiexec writes, on its way to stdout and stderr, and what is typed for it. It ends its ranks
// by SIGKILL as soon as nobody reads what it writes, and what they have trained would be lost. So a
// process for each of the two reads it and passes it on: no reader is too slow for who watches the
// ranks, and the state survives whoever is killed but these.
//
// A terminal's ^C, too, makes it end its ranks, at the second one by SIGKILL. So it is in a process
// group of its own, which a terminal's signals do not reach, nor may that read from one: a third
// process does.
#ifndef LEAT_TOOLS_LAUNCH_OUTPUT_H
#define LEAT_TOOLS_LAUNCH_OUTPUT_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct launch_output {
  int from[2], to[2]; // the ends of the pipes that mpiexec has for stdout and stderr
  int typed[2];       // those of the one for stdin; -1: that is no terminal
  pid_t relays[3];    // for stdout, stderr and stdin; 0: none
} launch_output;

// False: errno.
bool launch_output_open(launch_output *output);
// In mpiexec's process: stdin, stdout and stderr are the pipes, and no terminal's signals come.
void launch_output_enter(const launch_output *output);
// In its parent, once: passes on what `mpiexec` writes until that ends. This process gets SIGPIPE
// when it can be passed on no more; the rest is read and thrown away. False: errno.
bool launch_output_relay(launch_output *output, pid_t mpiexec);
// Whether something is still to be passed on.
bool launch_output_goes_on(launch_output *output);
void launch_output_end(launch_output *output);

#endif
