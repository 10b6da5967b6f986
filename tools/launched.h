// The line between `leat launch` and the ranks that it started: a Unix socket named by an
// environment variable. A rank says hello with its number and process id when it begins and bye
// with its exit code when it ends; a line that closes without a bye is a rank that died.
#ifndef LEAT_TOOLS_LAUNCHED_H
#define LEAT_TOOLS_LAUNCHED_H

#define LAUNCH_VARIABLE "LEAT_LAUNCH"

// The processes that mpiexec, srun or another launcher started together with this one, and its
// place among them; 1 and 0 where none did.
int launched_size(void);
int launched_rank(void);

// Both do nothing in a process that `leat launch` did not start.
void launched_hello(void);
void launched_bye(int exit_code);

#endif
