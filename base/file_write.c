// Writing. A file is written aside, as PATH.leat-tmp, and renamed. Whoever has a file aside holds a
// lock (flock) on it until it has its final name, which the kernel takes away when he dies: so a
// file aside that nobody holds was left by a killed process, and the next one removes it. A file
// counts as locked only if it still has its name: between its making and its locking another may
// have taken it for a leftover.
// It runs seldom: compiled for size.
#include "base/file.h"

#include "base/file_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_NAMES_TRIED = 100, MOST_LINKS = 40, LONGEST_SUFFIX = 32 };

static leat_status fail_memory(leat_error *error, const char *path) {
  return leat_fail(error, LEAT_MEMORY, "out of memory for '%s'", path);
}

// -- Files aside ---------------------------------------------------------------------------------

static bool has_name(int fd, const char *name) {
  struct stat held, named;
  return fstat(fd, &held) == 0 && lstat(name, &named) == 0 && held.st_ino == named.st_ino &&
         held.st_dev == named.st_dev;
}

// Removes a file that a killed process has left. False: somebody holds it, or it is none of ours.
static bool remove_leftover(const char *name) {
  struct stat info;
  int fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT;
  bool gone = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
              has_name(fd, name) && unlink(name) == 0;
  close(fd);
  return gone;
}

// A new file of that name, locked where the file system can. -1, and EEXIST: somebody holds it.
static int make_aside(const char *name, mode_t mode) {
  for (int i = 0; i < MOST_NAMES_TRIED; i++) {
    int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0 && errno != EEXIST) return -1;
    if (fd >= 0) {
      bool held = flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
      if (held && has_name(fd, name)) return fd;
      close(fd);
    } else if (!remove_leftover(name)) {
      break;
    }
  }
  errno = EEXIST;
  return -1;
}

// The name of the file aside that is tried first, malloc'ed, with room for the others; NULL: no
// memory.
static char *name_aside(const char *path) {
  size_t size = strlen(path) + LONGEST_SUFFIX;
  char *name = malloc(size);
  if (name) snprintf(name, size, "%s.leat-tmp", path);
  return name;
}

// A file beside `path`; its name replaces the first, in `name`, if that is taken. To one path one
// process at a time saves; of other writers, who are quick, each has a file of its own.
static int open_aside(const char *path, leat_file_promise promise, char *name) {
  mode_t mode = promise == LEAT_FILE_PRIVATE ? S_IRUSR | S_IWUSR : 0666;
  int fd = -1;
  for (int i = 0; i < MOST_NAMES_TRIED && fd < 0; i++) {
    if (i) snprintf(name, strlen(path) + LONGEST_SUFFIX, "%s.%d.leat-tmp", path, i);
    fd = make_aside(name, mode);
    if (promise == LEAT_FILE_DURABLE || (fd < 0 && errno != EEXIST)) break;
  }
  return fd;
}

static leat_status fail_aside(leat_error *error, const char *path) {
  if (errno != EEXIST) return leat_file_fail(error, "write", path);
  return leat_fail(error, LEAT_IO,
                   "cannot write '%s': another process is going to; it holds '%s.leat-tmp'", path,
                   path);
}

// -- Claims --------------------------------------------------------------------------------------

// A file aside that is held before there is anything to write.
typedef struct claim {
  struct claim *next;
  int fd;
  char *name;
} claim;

static pthread_mutex_t claims_lock = PTHREAD_MUTEX_INITIALIZER;
static claim *claims;

// The place in the list of the claim whose file has that name; the caller holds the lock.
static claim **find_claim(const char *name) {
  for (claim **at = &claims; *at; at = &(*at)->next)
    if (has_name((*at)->fd, name)) return at;
  return NULL;
}

// -- Where and how -------------------------------------------------------------------------------

// The path that symbolic links lead to, whether or not something is there; malloc'ed. NULL: errno
// says why.
static char *follow(const char *path) {
  char *at = strdup(path), link[4096];
  for (int i = 0; at && i < MOST_LINKS; i++) {
    ssize_t length = readlink(at, link, sizeof link - 1);
    if (length < 0) return at;
    const char *slash = *link == '/' ? NULL : strrchr(at, '/');
    int kept = slash ? (int)(slash + 1 - at) : 0;
    size_t size = (size_t)kept + (size_t)length + 1;
    char *next = malloc(size);
    if (next) snprintf(next, size, "%.*s%.*s", kept, at, (int)length, link);
    free(at);
    at = next;
  }
  if (at) errno = ELOOP;
  free(at);
  return NULL;
}

// What the new file takes over from the one that it replaces. A group that it cannot be given has
// no rights to it.
static void take_over_rights(int fd, const struct stat *old) {
  mode_t mode = old->st_mode & 0777;
  if (fchown(fd, old->st_uid, old->st_gid) && fchown(fd, (uid_t)-1, old->st_gid))
    mode &= (mode_t) ~(S_IRWXG);
  if (fchmod(fd, mode)) return; // the file system has no modes
}

static bool write_pieces(int fd, const leat_bytes *pieces, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const char *from = pieces[i].data;
    for (size_t left = pieces[i].size; left;) {
      size_t most = left < LEAT_FILE_WRITTEN_AT_ONCE ? left : LEAT_FILE_WRITTEN_AT_ONCE;
      ssize_t put = write(fd, from, most);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return false;
      leat_file_drop(from, (size_t)put); // perhaps a copy of a part of a large file
      from += put;
      left -= (size_t)put;
    }
  }
  return true;
}

static bool sync_directory_of(char *path) {
  char *slash = strrchr(path, '/');
  const char *directory = !slash ? "." : slash == path ? "/" : path;
  if (slash) *slash = '\0';
  int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (slash) *slash = '/';
  if (fd < 0) return false;
  bool done = fsync(fd) == 0 || errno == EINVAL; // some file systems cannot and need not
  close(fd);
  return done;
}

// Some file systems say only at a close what could not be written.
static bool close_a_copy(int fd) {
  int copy = dup(fd);
  return copy >= 0 && close(copy) == 0;
}

// -- Writing -------------------------------------------------------------------------------------

// `replaced`: what is there, or NULL. The name stays when it fails.
static leat_status fill(int fd, const char *name, char *target, const struct stat *replaced,
                        const leat_bytes *pieces, size_t count, leat_file_promise promise,
                        leat_error *error) {
  bool durable = promise == LEAT_FILE_DURABLE;
  if (replaced && promise != LEAT_FILE_PRIVATE) take_over_rights(fd, replaced);
  bool written = write_pieces(fd, pieces, count) && (!durable || fsync(fd) == 0) &&
                 close_a_copy(fd) && rename(name, target) == 0;
  if (!written) return leat_file_fail(error, "write", target);
  if (durable && !sync_directory_of(target)) return leat_file_fail(error, "sync", target);
  return LEAT_OK;
}

// Into the claimed file; then there is another one for the next time. The caller holds the lock.
static leat_status write_claimed(claim **at, char *target, const struct stat *replaced,
                                 const leat_bytes *pieces, size_t count, leat_file_promise promise,
                                 leat_error *error) {
  claim *held = *at;
  leat_status status = fill(held->fd, held->name, target, replaced, pieces, count, promise, error);
  if (status && has_name(held->fd, held->name)) {
    if (ftruncate(held->fd, 0) == 0 && lseek(held->fd, 0, SEEK_SET) == 0) return status;
    unlink(held->name);
  }
  close(held->fd);
  held->fd = make_aside(held->name, 0666);
  if (held->fd >= 0) return status;
  *at = held->next;
  free(held->name);
  free(held);
  return status;
}

static leat_status write_aside(char *target, const struct stat *replaced, const leat_bytes *pieces,
                               size_t count, leat_file_promise promise, leat_error *error) {
  char *name = name_aside(target);
  if (!name) return fail_memory(error, target);
  pthread_mutex_lock(&claims_lock);
  claim **claimed = find_claim(name);
  leat_status status =
      claimed ? write_claimed(claimed, target, replaced, pieces, count, promise, error) : LEAT_OK;
  pthread_mutex_unlock(&claims_lock);
  if (claimed) {
    free(name);
    return status;
  }
  int fd = open_aside(target, promise, name);
  status = fd < 0 ? fail_aside(error, target)
                  : fill(fd, name, target, replaced, pieces, count, promise, error);
  if (status && fd >= 0 && has_name(fd, name)) unlink(name);
  if (fd >= 0) close(fd);
  free(name);
  return status;
}

static leat_status write_directly(const char *path, const leat_bytes *pieces, size_t count,
                                  leat_error *error) {
  int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0 && errno == ENXIO)
    return leat_fail(error, LEAT_IO, "cannot write '%s': nobody reads the pipe", path);
  bool written = fd >= 0 && !fcntl(fd, F_SETFL, 0) && write_pieces(fd, pieces, count);
  leat_status status = written ? LEAT_OK : leat_file_fail(error, "write", path);
  if (fd >= 0 && close(fd) != 0 && !status) status = leat_file_fail(error, "write", path);
  return status;
}

leat_status leat_file_write(const char *path, const leat_bytes *pieces, size_t count,
                            leat_file_promise promise, leat_error *error) {
  struct stat info;
  bool exists = stat(path, &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) return write_directly(path, pieces, count, error);
  char *target = follow(path);
  if (!target) return leat_file_fail(error, "write", path);
  leat_status status = write_aside(target, exists ? &info : NULL, pieces, count, promise, error);
  free(target);
  return status;
}

// -- Before the work -----------------------------------------------------------------------------

// A file aside tells of names that are too long, of folders that nobody may write to and of file
// systems that are read-only. `keep`: it is claimed, else it goes.
static leat_status try_aside(const char *path, bool keep, leat_error *error) {
  char *target = *path ? follow(path) : NULL;
  if (!*path) errno = ENOENT;
  if (!target) return leat_file_fail(error, "write", path);
  claim *made = calloc(1, sizeof *made);
  if (made) made->name = name_aside(target);
  leat_status status = made && made->name ? LEAT_OK : fail_memory(error, path);
  if (!status) {
    made->fd = open_aside(target, keep ? LEAT_FILE_DURABLE : LEAT_FILE_ATOMIC, made->name);
    if (made->fd < 0) status = fail_aside(error, path);
  }
  free(target);
  if (!status && keep) {
    pthread_mutex_lock(&claims_lock);
    made->next = claims;
    claims = made;
    pthread_mutex_unlock(&claims_lock);
    return LEAT_OK;
  }
  if (!status) unlink(made->name), close(made->fd);
  if (made) free(made->name);
  free(made);
  return status;
}

static leat_status check(const char *path, bool keep, leat_error *error) {
  struct stat info;
  if (!path) return LEAT_OK;
  bool exists = stat(path, &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    return leat_fail(error, LEAT_IO, "cannot write '%s': it is a folder", path);
  if (!exists || S_ISREG(info.st_mode)) return try_aside(path, keep, error);
  return access(path, W_OK) ? leat_file_fail(error, "write", path) : LEAT_OK;
}

leat_status leat_file_check_writable(const char *path, leat_error *error) {
  return check(path, false, error);
}

leat_status leat_file_claim(const char *path, leat_error *error) {
  return check(path, true, error);
}

void leat_file_unclaim(const char *path) {
  char *target = path ? follow(path) : NULL, *name = target ? name_aside(target) : NULL;
  pthread_mutex_lock(&claims_lock);
  claim **at = name ? find_claim(name) : NULL, *held = at ? *at : NULL;
  if (held) *at = held->next;
  pthread_mutex_unlock(&claims_lock);
  if (held) {
    unlink(held->name);
    close(held->fd);
    free(held->name);
    free(held);
  }
  free(name);
  free(target);
}
