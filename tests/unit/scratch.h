// A directory of its own for a test program's files, made at the first use and removed when the
// program ends.
#ifndef LEAT_TESTS_UNIT_SCRATCH_H
#define LEAT_TESTS_UNIT_SCRATCH_H

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

enum { SCRATCH_PATH = 4096 };

static char scratch_root[SCRATCH_PATH / 2];

static int scratch_remove_one(const char *path, const struct stat *info, int kind, struct FTW *at) {
  (void)info, (void)kind, (void)at;
  return remove(path);
}

static void scratch_remove(void) {
  nftw(scratch_root, scratch_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

// Puts the path of `name` in the scratch directory into `out`.
static inline void scratch_path(char out[SCRATCH_PATH], const char *name) {
  if (!*scratch_root) {
    const char *parent = getenv("TMPDIR");
    snprintf(scratch_root, sizeof scratch_root, "%s/leat-test-XXXXXX", parent ? parent : "/tmp");
    if (!mkdtemp(scratch_root)) {
      perror(scratch_root);
      exit(2);
    }
    atexit(scratch_remove);
  }
  snprintf(out, SCRATCH_PATH, "%s/%s", scratch_root, name);
}

// Files in a folder of the scratch directory.
static inline int scratch_count(const char *folder) {
  char path[SCRATCH_PATH];
  scratch_path(path, folder);
  DIR *directory = opendir(path);
  int count = 0;
  for (struct dirent *entry; directory && (entry = readdir(directory));)
    count += entry->d_name[0] != '.';
  if (directory) closedir(directory);
  return count;
}

#endif
