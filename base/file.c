// POSIX files behind whole-file calls. Interrupted and short transfers are resumed here and nowhere
// else.
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_READ = 1 << 16, MOST_AT_ONCE = 1 << 30, MOST_NAMES_TRIED = 100 };
enum { LONGEST_SUFFIX = 48 }; // bytes of what the name of a file aside ends with

// What is no file may have no end.
static const size_t longest_stream = (size_t)1 << 30;

static leat_status fail_errno(leat_error *error, const char *doing, const char *path) {
  int cause = errno;
  return leat_fail(error, cause == ENOENT ? LEAT_NOT_FOUND : LEAT_IO, "cannot %s '%s': %s", doing,
                   path, strerror(cause));
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
  return fcntl(fd, F_SETFL, 0) ? fail_errno(error, "read", path) : LEAT_OK; // its writer may wait
}

// Whoever opens a named pipe would wait for a writer; O_NONBLOCK does not.
static leat_status open_to_read(const char *path, int *out_fd, struct stat *out_info,
                                leat_error *error) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return fail_errno(error, "open", path);
  leat_status status = fstat(fd, out_info) ? fail_errno(error, "read", path)
                                           : check_kind(fd, path, out_info->st_mode, error);
  if (status)
    close(fd);
  else
    *out_fd = fd;
  return status;
}

leat_status leat_file_check_regular(const char *path, leat_error *error) {
  struct stat info;
  if (stat(path, &info)) return fail_errno(error, "open", path);
  if (S_ISREG(info.st_mode)) return LEAT_OK;
  return leat_fail(error, LEAT_IO, "cannot read '%s': it is %s, and a text names files", path,
                   kind_of(info.st_mode));
}

static ssize_t read_some(int fd, char *to, size_t size) {
  ssize_t got;
  do {
    got = read(fd, to, size < MOST_AT_ONCE ? size : MOST_AT_ONCE);
  } while (got < 0 && errno == EINTR);
  return got;
}

// Reads to the end of the file. `expected` bytes are made room for at first; the limit is checked
// as bytes come.
static leat_status read_all(int fd, const char *path, size_t expected, size_t limit,
                            char **out_data, size_t *out_size, leat_error *error) {
  size_t size = 0, capacity = expected <= limit ? expected + 2 : FIRST_READ;
  char *data = malloc(capacity);
  leat_status status = data ? LEAT_OK : fail_memory(error, path);
  while (!status) {
    ssize_t got = read_some(fd, data + size, capacity - 1 - size);
    if (got == 0) break;
    if (got < 0) {
      status = fail_errno(error, "read", path);
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

// What is no regular file ends at `stream_limit`.
static leat_status read_path(const char *path, size_t limit, size_t stream_limit, char **out_data,
                             size_t *out_size, leat_error *error) {
  int fd;
  struct stat info;
  LEAT_TRY(open_to_read(path, &fd, &info, error));
  bool regular = S_ISREG(info.st_mode);
  size_t expected = regular ? (size_t)info.st_size : FIRST_READ;
  leat_status status =
      regular && expected > limit
          ? fail_limit(error, path, limit)
          : read_all(fd, path, expected, regular ? limit : stream_limit, out_data, out_size, error);
  close(fd);
  return status;
}

leat_status leat_file_read(const char *path, size_t limit, char **out_data, size_t *out_size,
                           leat_error *error) {
  return read_path(path, limit, limit, out_data, out_size, error);
}

leat_status leat_file_view_open(leat_file_view *out, const char *path, leat_error *error) {
  int fd;
  struct stat info;
  *out = (leat_file_view){0};
  LEAT_TRY(open_to_read(path, &fd, &info, error));
  leat_status status = LEAT_OK;
  if (S_ISREG(info.st_mode) && info.st_size > 0) {
    void *data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
      status = fail_errno(error, "map", path);
    else
      *out = (leat_file_view){.data = data, .size = (size_t)info.st_size, .mapped = true};
  } else {
    char *data = NULL;
    status = read_all(fd, path, FIRST_READ, longest_stream, &data, &out->size, error);
    out->data = (unsigned char *)data;
  }
  close(fd);
  return status;
}

leat_status leat_file_view_read(leat_file_view *out, const char *path, leat_error *error) {
  char *data = NULL;
  *out = (leat_file_view){0};
  LEAT_TRY(read_path(path, SIZE_MAX / 4, longest_stream, &data, &out->size, error));
  out->data = (unsigned char *)data;
  return LEAT_OK;
}

void leat_file_view_close(leat_file_view *view) {
  if (view->mapped)
    munmap((void *)view->data, view->size);
  else
    free((void *)view->data);
  *view = (leat_file_view){0};
}

static bool write_pieces(int fd, const leat_bytes *pieces, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const char *from = pieces[i].data;
    for (size_t left = pieces[i].size; left;) {
      ssize_t put = write(fd, from, left < MOST_AT_ONCE ? left : MOST_AT_ONCE);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return false;
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

// Opens a new file beside `path` and puts its name into `name`. It gets the permissions any new
// file gets, which mkstemp would not give it, unless it is private.
static int open_aside(const char *path, leat_file_promise promise, char *name, size_t size) {
  mode_t mode = promise == LEAT_FILE_PRIVATE ? S_IRUSR | S_IWUSR : 0666;
  for (unsigned i = 0; i < MOST_NAMES_TRIED; i++) {
    snprintf(name, size, "%s.%ld.%u.tmp", path, (long)getpid(), i);
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

static leat_status write_aside(char *path, const leat_bytes *pieces, size_t count,
                               leat_file_promise promise, leat_error *error) {
  size_t size = strlen(path) + LONGEST_SUFFIX;
  char *name = malloc(size);
  if (!name) return fail_memory(error, path);
  leat_status status = LEAT_OK;
  bool durable = promise == LEAT_FILE_DURABLE;
  int fd = open_aside(path, promise, name, size);
  bool written = fd >= 0 && write_pieces(fd, pieces, count) && (!durable || fsync(fd) == 0);
  if (!written) status = fail_errno(error, "write", path);
  if (fd >= 0 && close(fd) != 0 && !status) status = fail_errno(error, "write", path);
  if (!status && rename(name, path) != 0) status = fail_errno(error, "write", path);
  if (!status && durable && !sync_directory_of(path)) status = fail_errno(error, "sync", path);
  if (status && fd >= 0) unlink(name);
  free(name);
  return status;
}

static leat_status write_directly(const char *path, const leat_bytes *pieces, size_t count,
                                  leat_error *error) {
  int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0 && errno == ENXIO)
    return leat_fail(error, LEAT_IO, "cannot write '%s': nobody reads the pipe", path);
  bool written = fd >= 0 && !fcntl(fd, F_SETFL, 0) && write_pieces(fd, pieces, count);
  leat_status status = written ? LEAT_OK : fail_errno(error, "write", path);
  if (fd >= 0 && close(fd) != 0 && !status) status = fail_errno(error, "write", path);
  return status;
}

leat_status leat_file_write(const char *path, const leat_bytes *pieces, size_t count,
                            leat_file_promise promise, leat_error *error) {
  struct stat info;
  bool exists = stat(path, &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) return write_directly(path, pieces, count, error);
  char *target = exists ? realpath(path, NULL) : strdup(path); // renaming would replace a link
  if (!target) return fail_errno(error, "write", path);
  leat_status status = write_aside(target, pieces, count, promise, error);
  free(target);
  return status;
}

// A file aside is made and removed again: that alone tells of names that are too long, of folders
// that nobody may write to and of file systems that are read-only.
static bool can_make_aside(const char *target) {
  size_t size = strlen(target) + LONGEST_SUFFIX;
  char *name = malloc(size);
  int fd = name ? open_aside(target, LEAT_FILE_PRIVATE, name, size) : -1;
  int cause = errno;
  if (fd >= 0) close(fd), unlink(name);
  free(name);
  errno = cause;
  return fd >= 0;
}

leat_status leat_file_check_writable(const char *path, leat_error *error) {
  struct stat info;
  if (!path) return LEAT_OK;
  bool exists = stat(path, &info) == 0, regular = !exists || S_ISREG(info.st_mode);
  if (exists && S_ISDIR(info.st_mode))
    return leat_fail(error, LEAT_IO, "cannot write '%s': it is a folder", path);
  char *target = exists ? realpath(path, NULL) : strdup(path);
  if (!*path) errno = ENOENT;
  bool fine = *path && target && (regular ? can_make_aside(target) : !access(path, W_OK));
  leat_status status = fine ? LEAT_OK : fail_errno(error, "write", path);
  free(target);
  return status;
}
