// Version 2 says the group in a line 0::PATH and its quota in PATH/cpu.max; version 1 in a line
// N:…cpu…:PATH and in two files of the hierarchy `cpu`. A group has no more than those around it;
// of these, a container may see none but the last, whatever its PATH is outside.
// It runs seldom: compiled for size.
#include "base/cgroup.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 4096 };

// The beginning of a file, as text; what cannot be read is empty.
static void read_file(char *out, size_t size, const char *folder, const char *name) {
  char path[2 * LONGEST];
  *out = 0;
  if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) return;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ssize_t count = read(file, out, size - 1);
  out[count > 0 ? count : 0] = 0;
  close(file);
}

static int cores_of(const char *folder, bool unified) {
  char text[64], *end = text;
  read_file(text, sizeof text, folder, unified ? "cpu.max" : "cpu.cfs_quota_us");
  long quota = strtol(text, &end, 10); // "max", nothing, -1: any
  if (!unified) read_file(end = text, sizeof text, folder, "cpu.cfs_period_us");
  long period = strtol(end, NULL, 10);
  if (quota <= 0 || period <= 0 || quota / period >= INT_MAX) return INT_MAX;
  return (int)((quota + period - 1) / period);
}

// Of the group at `path` of the hierarchy and of all around it.
static int least_cores(const char *root, const char *hierarchy, const char *path) {
  char folder[LONGEST];
  int least = INT_MAX;
  int base = snprintf(folder, sizeof folder, "%s/sys/fs/cgroup%s", root, hierarchy);
  if (base >= (int)sizeof folder) return least;
  if (snprintf(folder + base, sizeof folder - (size_t)base, "%s", path) >=
      (int)sizeof folder - base)
    folder[base] = 0;
  for (;;) {
    int cores = cores_of(folder, !*hierarchy);
    if (cores < least) least = cores;
    char *last = strrchr(folder + base, '/');
    if (!last) return least;
    *last = 0;
  }
}

// Whether a list, "cpu,cpuacct", has `cpu`.
static bool has_cpu(const char *list) {
  size_t size = strcspn(list, ",:");
  return (size == 3 && strncmp(list, "cpu", size) == 0) ||
         (list[size] == ',' && has_cpu(list + size + 1));
}

int leat_cgroup_cores(const char *root) {
  char text[LONGEST];
  int least = INT_MAX;
  read_file(text, sizeof text, root, "proc/self/cgroup");
  for (char *line = text, *next; *line; line = next) {
    next = line + strcspn(line, "\n");
    if (*next) *next++ = 0;
    const char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
    bool unified = path && path == list + 1;
    if (!path || (!unified && !has_cpu(list + 1))) continue;
    int cores = least_cores(root, unified ? "" : "/cpu", path + 1);
    if (cores < least) least = cores;
  }
  return least;
}
