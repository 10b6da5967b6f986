// What a job that was killed leaves in /dev/shm: MPICH makes a file there while it begins, which
// its ranks map and then unlink.
#ifndef LEAT_TOOLS_LEFTOVERS_H
#define LEAT_TOOLS_LEFTOVERS_H

// Removes such files of this user which no process of the host, in whatever container, has open or
// mapped.
void clear_shared_memory(void);

#endif
