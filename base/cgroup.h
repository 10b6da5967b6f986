// What Linux control groups leave this process of the machine.
#ifndef LEAT_BASE_CGROUP_H
#define LEAT_BASE_CGROUP_H

// Processors, parts of one rounded up; INT_MAX: as many as there are. `root`: the folder that has
// proc/self/cgroup and sys/fs/cgroup, "" for this machine's.
int leat_cgroup_cores(const char *root);

#endif
