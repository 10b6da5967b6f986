// Reading. Interrupted and short transfers are resumed here, and in base/file_write.c, and nowhere
// else.
#include "base/file.h"

#include "base/file_parts.h"

#include <errno.h>
#include <fcntl.h>
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
      status = leat_file_fail(error, "map", path);
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
