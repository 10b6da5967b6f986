// Reading. Interrupted and short transfers are resumed here, and in base/file_write.c, and nowhere
// else.
// It runs seldom: compiled for size.
#include "base/file.h"

#include "base/file_parts.h"
#include "base/memory.h"
#include "base/portable.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_READ = 1 << 16 };

// What is no file may have no end.
static const size_t longest_stream = (size_t)1 << 30;

leat_status leat_file_fail(leat_error *error, const char *doing, const char *path) {
  int cause = errno;
  leat_status status = cause == ENOENT ? LEAT_NOT_FOUND : cause == ENOMEM ? LEAT_MEMORY : LEAT_IO;
  return leat_fail(error, status, "cannot %s '%s': %s", doing, path, strerror(cause));
}

static leat_status fail_memory(leat_error *error, const char *path) {
  return leat_fail(error, LEAT_MEMORY, "out of memory for '%s'", path);
}

static leat_status fail_limit(leat_error *error, const char *path, size_t limit) {
  return leat_fail(error, LEAT_INVALID, "'%s' has more than %zu bytes", path, limit);
}

// What was given to the process on purpose: its standard input, a shell's <(…).
static bool is_own_stream(const char *path) {
  return strcmp(path, "/dev/stdin") == 0 || strncmp(path, "/dev/fd/", 8) == 0 ||
         strncmp(path, "/proc/self/fd/", 14) == 0;
}

static const char *kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  return S_ISSOCK(mode) ? "a socket" : "a device";
}

static leat_status check_kind(int fd, const char *path, mode_t mode, leat_error *error) {
  if (S_ISREG(mode)) return LEAT_OK;
  if (S_ISFIFO(mode) && !is_own_stream(path))
    return leat_fail(
        error, LEAT_IO,
        "cannot read '%s': it is a pipe, which nobody may ever fill; `<(cat %s)` reads it", path,
        path);
  if (S_ISDIR(mode) || !is_own_stream(path))
    return leat_fail(error, LEAT_IO, "cannot read '%s': it is %s", path, kind_of(mode));
  return fcntl(fd, F_SETFL, 0) ? leat_file_fail(error, "read", path)
                               : LEAT_OK; // its writer may wait
}

// Whoever opens a named pipe would wait for a writer; O_NONBLOCK does not.
static leat_status open_to_read(const char *path, int *out_fd, struct stat *out_info,
                                leat_error *error) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return leat_file_fail(error, "open", path);
  leat_status status = fstat(fd, out_info) ? leat_file_fail(error, "read", path)
                                           : check_kind(fd, path, out_info->st_mode, error);
  if (status)
    close(fd);
  else
    *out_fd = fd;
  return status;
}

leat_status leat_file_check_regular(const char *path, leat_error *error) {
  struct stat info;
  if (stat(path, &info)) return leat_file_fail(error, "open", path);
  if (S_ISREG(info.st_mode)) return LEAT_OK;
  return leat_fail(error, LEAT_IO, "cannot read '%s': it is %s, and a text names files", path,
                   kind_of(info.st_mode));
}

bool leat_file_stays_beside(const char *name) {
  bool inside = *name && *name != '/';
  for (const char *at = name; inside && at; at = strchr(at, '/')) {
    at += *at == '/';
    inside = strncmp(at, "..", 2) != 0 || (at[2] && at[2] != '/');
  }
  return inside;
}

static ssize_t read_some(int fd, char *to, size_t size) {
  ssize_t got;
  do {
    got = read(fd, to, size < LEAT_FILE_MOST_AT_ONCE ? size : LEAT_FILE_MOST_AT_ONCE);
  } while (got < 0 && errno == EINTR);
  return got;
}

// Reads to the end of the file. `expected` bytes are made room for at first; the limit is checked
// as bytes come.
static leat_status read_all(int fd, const char *path, size_t expected, size_t limit,
                            char **out_data, size_t *out_size, leat_error *error) {
  size_t size = 0, capacity = expected <= limit ? expected + 2 : FIRST_READ;
  char *data = malloc(capacity);
  if (data) leat_memory_in_huge_pages(data, capacity);
  leat_status status = data ? LEAT_OK : fail_memory(error, path);
  while (!status) {
    ssize_t got = read_some(fd, data + size, capacity - 1 - size);
    if (got == 0) break;
    if (got < 0) {
      status = leat_file_fail(error, "read", path);
      break;
    }
    size += (size_t)got;
    if (size > limit) status = fail_limit(error, path, limit);
    if (size < capacity - 1) continue;
    char *larger = capacity <= SIZE_MAX / 4 ? realloc(data, capacity * 2) : NULL;
    if (!larger) {
      status = fail_memory(error, path);
      break;
    }
    data = larger;
    capacity *= 2;
  }
  if (status) {
    free(data);
    return status;
  }
  data[size] = '\0';
  *out_data = data;
  *out_size = size;
  return LEAT_OK;
}

leat_status leat_file_read(const char *path, size_t limit, char **out_data, size_t *out_size,
                           leat_error *error) {
  int fd;
  struct stat info;
  LEAT_TRY(open_to_read(path, &fd, &info, error));
  size_t expected = S_ISREG(info.st_mode) ? (size_t)info.st_size : FIRST_READ;
  leat_status status = S_ISREG(info.st_mode) && expected > limit
                           ? fail_limit(error, path, limit)
                           : read_all(fd, path, expected, limit, out_data, out_size, error);
  close(fd);
  return status;
}

// As much as `info` says, into memory aligned like that of a tensor. What changes meanwhile would
// be half old and half new.
static leat_status read_regular(int fd, const struct stat *info, const char *path,
                                unsigned char **out, leat_error *error) {
  size_t size = (size_t)info->st_size, got = 0;
  void *data = leat_memory_allocate(size + 1);
  if (!data) return fail_memory(error, path);
  ssize_t more = 0;
  while (got <= size && (more = read_some(fd, (char *)data + got, size + 1 - got)) > 0)
    got += (size_t)more;
  struct stat now;
  leat_status status = LEAT_OK;
  if (more < 0 || fstat(fd, &now))
    status = leat_file_fail(error, "read", path);
  else if (got != size || now.st_size != info->st_size ||
           now.st_mtim.tv_sec != info->st_mtim.tv_sec ||
           now.st_mtim.tv_nsec != info->st_mtim.tv_nsec)
    status = leat_fail(error, LEAT_IO, "cannot read '%s': it changes while it is read", path);
  if (status)
    free(data);
  else
    *out = data;
  return status;
}

// -- Mapped files ---------------------------------------------------------------------------------

// The list only grows, for a signal handler walks it; what is not mapped any more is used again.
typedef struct mapping {
  struct mapping *next;
  _Atomic uintptr_t data; // 0: free
  _Atomic size_t size;
  _Atomic bool cut; // pages of it are no longer the file's
} mapping;

static pthread_mutex_t mappings_lock = PTHREAD_MUTEX_INITIALIZER;
static mapping *_Atomic mappings;

static mapping *find_mapping(uintptr_t data) {
  mapping *m = atomic_load(&mappings);
  while (m && atomic_load(&m->data) != data) m = m->next;
  return m;
}

static bool note_mapping(const void *data, size_t size) {
  pthread_mutex_lock(&mappings_lock);
  mapping *m = find_mapping(0);
  if (!m && (m = calloc(1, sizeof *m))) {
    m->next = atomic_load(&mappings);
    atomic_store(&mappings, m);
  }
  if (m) {
    atomic_store(&m->size, size);
    atomic_store(&m->cut, false);
    atomic_store(&m->data, (uintptr_t)data);
  }
  pthread_mutex_unlock(&mappings_lock);
  return m;
}

static void forget_mapping(const leat_file_view *view) {
  pthread_mutex_lock(&mappings_lock);
  mapping *m = find_mapping((uintptr_t)view->data);
  if (m) atomic_store(&m->data, 0);
  pthread_mutex_unlock(&mappings_lock);
}

static bool is_cut(const leat_file_view *view) {
  const mapping *m = find_mapping((uintptr_t)view->data);
  return m && atomic_load(&m->cut);
}

// What lies behind the file's new end becomes zeros, which who asks leat_file_view_check throws
// away. What is no page of a mapped file ends the process as ever.
static void on_cut(int number, siginfo_t *info, void *context) {
  uintptr_t page = (uintptr_t)getpagesize(), at = (uintptr_t)info->si_addr;
  (void)context;
  int kept = errno;
  for (mapping *m = atomic_load(&mappings); m; m = m->next) {
    uintptr_t data = atomic_load(&m->data), begin = at & ~(page - 1);
    size_t size = atomic_load(&m->size);
    if (info->si_code != BUS_ADRERR || !data || at < data || at >= data + size) continue;
    atomic_store(&m->cut, true);
    void *zeros = mmap((void *)begin, data + size - begin, PROT_READ,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    errno = kept;
    if (zeros != MAP_FAILED) return;
  }
  signal(number, SIG_DFL);
  raise(number);
}

void leat_file_survive_cuts(void) {
  struct sigaction action = {.sa_sigaction = on_cut, .sa_flags = SA_SIGINFO};
  sigaction(SIGBUS, &action, NULL);
}

// Of the process's own pages: what a mapped file holds is read again where it is used again.
void leat_file_drop(const void *from, size_t size) {
  uintptr_t page = (uintptr_t)getpagesize(), begin = (uintptr_t)from & ~(page - 1);
  pthread_mutex_lock(&mappings_lock);
  for (const mapping *m = mappings; m; m = m->next) {
    uintptr_t data = m->data;
    if (data && (uintptr_t)from >= data && (uintptr_t)from + size <= data + m->size)
      (void)!madvise((void *)begin, (uintptr_t)from + size - begin, MADV_DONTNEED);
  }
  pthread_mutex_unlock(&mappings_lock);
}

static leat_status fail_changed(const char *path, leat_error *error) {
  return leat_fail(error, LEAT_IO, "'%s' has changed since it was opened", path);
}

static bool is_unchanged(const leat_file_view *view, const struct stat *now) {
  return (uint64_t)now->st_size == view->size && now->st_mtim.tv_sec == view->modified[0] &&
         now->st_mtim.tv_nsec == view->modified[1];
}

leat_status leat_file_view_check(const leat_file_view *view, const char *path, leat_error *error) {
  struct stat now;
  if (!view->mapped) return LEAT_OK;
  if (fstat(view->fd, &now)) return leat_file_fail(error, "read", path);
  return is_unchanged(view, &now) && !is_cut(view) ? LEAT_OK : fail_changed(path, error);
}

// Takes over the file.
static leat_status map_regular(int fd, const struct stat *info, const char *path,
                               leat_file_view *out, leat_error *error) {
  size_t size = (size_t)info->st_size;
  void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED || !note_mapping(data, size)) {
    leat_status status = leat_file_fail(error, "map", path);
    if (data != MAP_FAILED) munmap(data, size);
    close(fd);
    return status;
  }
  *out = (leat_file_view){.data = data, .size = size, .mapped = true, .fd = fd};
  return LEAT_OK;
}

static leat_status read_view(int fd, const struct stat *info, bool known, const char *path,
                             leat_file_view *out, leat_error *error) {
  unsigned char *data = NULL;
  size_t size = (size_t)info->st_size;
  leat_status status =
      known ? read_regular(fd, info, path, &data, error)
            : read_all(fd, path, FIRST_READ, longest_stream, (char **)&data, &size, error);
  close(fd);
  *out = (leat_file_view){.data = data, .size = size};
  return status;
}

static leat_status open_view(leat_file_view *out, const char *path, bool may_map,
                             leat_error *error) {
  int fd;
  struct stat info;
  *out = (leat_file_view){0};
  LEAT_TRY(open_to_read(path, &fd, &info, error));
  bool known = S_ISREG(info.st_mode) && info.st_size > 0; // files of /proc say that they have 0
  leat_status status = known && may_map && info.st_size >= LEAT_FILE_MAPPED_FROM
                           ? map_regular(fd, &info, path, out, error)
                           : read_view(fd, &info, known, path, out, error);
  if (status) {
    *out = (leat_file_view){0};
  } else if (known) {
    out->modified[0] = info.st_mtim.tv_sec;
    out->modified[1] = info.st_mtim.tv_nsec;
    out->inode[0] = info.st_dev;
    out->inode[1] = info.st_ino;
  }
  return status;
}

leat_status leat_file_view_open(leat_file_view *out, const char *path, leat_error *error) {
  return open_view(out, path, false, error);
}

leat_status leat_file_view_map(leat_file_view *out, const char *path, leat_error *error) {
  return open_view(out, path, true, error);
}

void leat_file_view_close(leat_file_view *view) {
  if (view->mapped) {
    forget_mapping(view);
    munmap((void *)view->data, view->size);
    close(view->fd);
  } else {
    free((void *)view->data);
  }
  *view = (leat_file_view){0};
}
