// A table of fixed size, since a signal handler can neither allocate nor lock: a place is taken
// when its descriptor is not 0. Folders are emptied by system calls alone, for the same reason.
#define _GNU_SOURCE
#include "base/temporary.h"

#include "base/portable.h"
#include "base/trust.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "leat-temporary-"
enum { PLACES = 64, RANDOM_LETTERS = 6, MOST_TRIES = 100 };

struct leat_temporary {
  _Atomic int lock; // of the folder, open; 0: nobody's place; -1: taken, and not open yet
  char path[LEAT_TEMPORARY_PATH];
};

static leat_temporary places[PLACES];

// -- Removing ------------------------------------------------------------------------------------

// What is in it and is no folder.
static void empty(int folder) {
  alignas(struct dirent64) char entries[4096];
  lseek(folder, 0, SEEK_SET);
  for (ssize_t size; (size = getdents64(folder, entries, sizeof entries)) > 0;) {
    for (ssize_t at = 0; at < size;) {
      const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
      unlinkat(folder, entry->d_name, 0);
      at += entry->d_reclen;
    }
  }
}

// The lock is given up last: until then nobody else takes the folder for a dead process'.
static void remove_folder(leat_temporary *folder) {
  int lock = atomic_exchange(&folder->lock, -1);
  if (lock > 0) {
    empty(lock);
    rmdir(folder->path);
    close(lock);
  }
  if (lock != -1) atomic_store(&folder->lock, 0);
}

void leat_temporary_remove(leat_temporary *folder) {
  if (folder) remove_folder(folder);
}

void leat_temporary_remove_all(void) {
  for (int i = 0; i < PLACES; i++)
    if (atomic_load(&places[i].lock) > 0) remove_folder(&places[i]);
}

// -- What dead processes left --------------------------------------------------------------------

static bool is_name(const char *name) {
  return strncmp(name, PREFIX, strlen(PREFIX)) == 0 &&
         strlen(name) == strlen(PREFIX) + RANDOM_LETTERS;
}

// Ours as mkdtemp made it, and nobody holds its lock.
static bool is_left(int folder) {
  struct stat info;
  return !fstat(folder, &info) && info.st_uid == geteuid() && (info.st_mode & 07777) == S_IRWXU &&
         !flock(folder, LOCK_EX | LOCK_NB);
}

static void clear(const char *parent) {
  DIR *stream = opendir(parent);
  for (struct dirent *entry; stream && (entry = readdir(stream));) {
    if (!is_name(entry->d_name)) continue;
    int folder =
        openat(dirfd(stream), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) continue;
    if (is_left(folder)) {
      empty(folder);
      unlinkat(dirfd(stream), entry->d_name, AT_REMOVEDIR);
    }
    close(folder);
  }
  if (stream) closedir(stream);
}

// -- Making --------------------------------------------------------------------------------------

static const char *parent_folder(void) {
  const char *parent = getenv("TMPDIR");
  return parent && *parent ? parent : "/tmp";
}

static void clear_parent(void) {
  clear(parent_folder());
}

static leat_temporary *take_place(void) {
  for (int i = 0; i < PLACES; i++) {
    int nobody = 0;
    if (atomic_compare_exchange_strong(&places[i].lock, &nobody, -1)) return &places[i];
  }
  return NULL;
}

// The lock of a new folder, or -1: between its making and its locking another process may have
// taken it for one that was left, and have removed it.
static int make_and_lock(char *path, bool *out_again) {
  struct stat here, there;
  *out_again = false;
  if (!mkdtemp(path)) return -1;
  int lock = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (lock < 0) {
    *out_again = errno == ENOENT;
    rmdir(path);
    return -1;
  }
  flock(lock, LOCK_EX); // a file system without locks: nobody else gets one either
  *out_again = fstat(lock, &here) || stat(path, &there) || here.st_ino != there.st_ino;
  if (!*out_again) return lock;
  close(lock);
  return -1;
}

static leat_status fail(leat_error *error, const char *why) {
  return leat_fail(error, LEAT_IO, "cannot make a folder %s/" PREFIX "XXXXXX: %s", parent_folder(),
                   why);
}

leat_status leat_temporary_make(leat_temporary **out, leat_error *error) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, clear_parent);
  *out = NULL;
  leat_temporary *folder = take_place();
  if (!folder) return fail(error, "this process has too many of them");
  int lock = -1, length = 0;
  bool again = true;
  for (int i = 0; lock < 0 && again && i < MOST_TRIES; i++) {
    length = snprintf(folder->path, sizeof folder->path, "%s/" PREFIX "XXXXXX", parent_folder());
    if (length >= (int)sizeof folder->path) break;
    lock = make_and_lock(folder->path, &again);
  }
  const char *why = length < (int)sizeof folder->path ? strerror(errno) : "its path is too long";
  atomic_store(&folder->lock, lock < 0 ? 0 : lock);
  if (lock < 0) return fail(error, why);
  *out = folder;
  return LEAT_OK;
}

const char *leat_temporary_path(const leat_temporary *folder) {
  return folder->path;
}
