// The system gives a lease for reading (fcntl(2), F_SETLEASE) of a file that nobody can write to
// any more: that none has it open for writing, or mapped from having opened it so. The ranks have
// theirs from its making to its unlinking.
#define _GNU_SOURCE
#include "tools/leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "/dev/shm"
#define PREFIX "mpich_shar_tmp" // then six letters and digits, as mkstemp chooses them
enum { RANDOM_LETTERS = 6 };

static bool is_name(const char *name) {
  return strncmp(name, PREFIX, strlen(PREFIX)) == 0 &&
         strlen(name) == strlen(PREFIX) + RANDOM_LETTERS;
}

static bool is_left(int file) {
  struct stat info;
  return !fstat(file, &info) && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
         !fcntl(file, F_SETLEASE, F_RDLCK);
}

void clear_shared_memory(void) {
  DIR *stream = opendir(FOLDER);
  if (!stream) return;
  void (*before)(int) = signal(SIGIO, SIG_IGN); // which tells that somebody else opens the file
  for (struct dirent *entry; (entry = readdir(stream));) {
    if (!is_name(entry->d_name)) continue;
    int file = openat(dirfd(stream), entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) continue;
    if (is_left(file)) unlinkat(dirfd(stream), entry->d_name, 0);
    close(file);
  }
  signal(SIGIO, before);
  closedir(stream);
}
