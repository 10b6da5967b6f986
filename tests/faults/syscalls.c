// Put before libc (LD_PRELOAD) it has one call of the system fail: $LEAT_FAULT is
// NUMBER:ERRNO:COUNT, the calls from NUMBER on, COUNT of them, fail with errno ERRNO; -1 is a write
// or read of half of what was asked for. At the end $LEAT_FAULT_LOG gets a line a call: its name.
// What is counted are the calls that the program and its modules make themselves, not those from
// inside of libc.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { MOST = 1 << 20, HALF = -1 };

static atomic_int calls;
static int first = -1, code, count;
static const char *names[MOST], *log_path;

__attribute__((constructor)) static void begin(void) {
  const char *fault = getenv("LEAT_FAULT");
  log_path = getenv("LEAT_FAULT_LOG");
  if (fault) sscanf(fault, "%d:%d:%d", &first, &code, &count);
  unsetenv("LD_PRELOAD"); // what it starts is left alone
}

__attribute__((destructor)) static void end(void) {
  FILE *log = log_path ? fopen(log_path, "w") : NULL;
  for (int i = 0; log && i < calls && i < MOST; i++) fprintf(log, "%s\n", names[i]);
  if (log) fclose(log);
}

// 0, or what the call fails with.
static int fault_of(const char *name) {
  int number = atomic_fetch_add(&calls, 1);
  if (number < MOST) names[number] = name;
  if (first < 0 || number < first || number >= first + count) return 0;
  return code;
}

#define NEXT(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name))

#define FAULTED(type, name, parameters, arguments, none, ...)                                      \
  type name parameters {                                                                           \
    int fault = fault_of(#name);                                                                   \
    if (fault > 0) {                                                                               \
      errno = fault;                                                                               \
      return none;                                                                                 \
    }                                                                                              \
    return NEXT(type, name, __VA_ARGS__) arguments;                                                \
  }

// Of which half may be done.
#define MOVES(name, pointer)                                                                       \
  ssize_t name(int fd, pointer data, size_t size) {                                                \
    int fault = fault_of(#name);                                                                   \
    if (fault == HALF && size > 1) size /= 2;                                                      \
    if (fault > 0) {                                                                               \
      errno = fault;                                                                               \
      return -1;                                                                                   \
    }                                                                                              \
    return NEXT(ssize_t, name, int, pointer, size_t)(fd, data, size);                              \
  }

#define OPENS(name)                                                                                \
  int name(const char *path, int flags, ...) {                                                     \
    va_list rest;                                                                                  \
    va_start(rest, flags);                                                                         \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                        \
    va_end(rest);                                                                                  \
    int fault = fault_of(#name);                                                                   \
    if (fault > 0) {                                                                               \
      errno = fault;                                                                               \
      return -1;                                                                                   \
    }                                                                                              \
    return NEXT(int, name, const char *, int, ...)(path, flags, mode);                             \
  }

#define STATS(name, key, of)                                                                       \
  FAULTED(int, name, (key of, struct stat64 * out), (of, out), -1, key, struct stat64 *)

OPENS(open64)
MOVES(read, void *)
MOVES(write, const void *)
FAULTED(int, close, (int fd), (fd), -1, int)
FAULTED(int, fsync, (int fd), (fd), -1, int)
FAULTED(int, fdatasync, (int fd), (fd), -1, int)
FAULTED(int, ftruncate64, (int fd, off64_t size), (fd, size), -1, int, off64_t)
FAULTED(int, rename, (const char *from, const char *to), (from, to), -1, const char *, const char *)
FAULTED(int, unlink, (const char *path), (path), -1, const char *)
FAULTED(int, mkdir, (const char *path, mode_t mode), (path, mode), -1, const char *, mode_t)
FAULTED(int, access, (const char *path, int how), (path, how), -1, const char *, int)
FAULTED(int, fchmod, (int fd, mode_t mode), (fd, mode), -1, int, mode_t)
FAULTED(int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group), -1, int, uid_t, gid_t)
FAULTED(int, flock, (int fd, int how), (fd, how), -1, int, int)
FAULTED(char *, realpath, (const char *path, char *out), (path, out), NULL, const char *, char *)
FAULTED(char *, mkdtemp, (char *path), (path), NULL, char *)
FAULTED(int, mkstemp64, (char *path), (path), -1, char *)
FAULTED(int, munmap, (void *at, size_t size), (at, size), -1, void *, size_t)
FAULTED(int, mprotect, (void *at, size_t size, int how), (at, size, how), -1, void *, size_t, int)
FAULTED(void *, mmap64, (void *at, size_t size, int how, int flags, int fd, off64_t from),
        (at, size, how, flags, fd, from), MAP_FAILED, void *, size_t, int, int, int, off64_t)
STATS(stat64, const char *, path)
STATS(lstat64, const char *, path)
STATS(fstat64, int, fd)
FAULTED(int, unlinkat, (int at, const char *path, int how), (at, path, how), -1, int, const char *,
        int)
FAULTED(int, chmod, (const char *path, mode_t mode), (path, mode), -1, const char *, mode_t)
FAULTED(ssize_t, readlink, (const char *path, char *out, size_t size), (path, out, size), -1,
        const char *, char *, size_t)
FAULTED(DIR *, opendir, (const char *path), (path), NULL, const char *)

int fcntl64(int fd, int what, ...) {
  va_list rest;
  va_start(rest, what);
  void *with = va_arg(rest, void *);
  va_end(rest);
  int fault = fault_of("fcntl");
  if (fault <= 0) return NEXT(int, fcntl64, int, int, ...)(fd, what, with);
  errno = fault;
  return -1;
}

FAULTED(int, pipe2, (int ends[2], int flags), (ends, flags), -1, int *, int)

// Which says what is wrong by its result.
int pthread_create(pthread_t *out, const pthread_attr_t *how, void *(*run)(void *), void *with) {
  int fault = fault_of("pthread_create");
  return fault > 0 ? EAGAIN
                   : NEXT(int, pthread_create, pthread_t *, const pthread_attr_t *,
                          void *(*)(void *), void *)(out, how, run, with);
}
