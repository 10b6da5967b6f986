// Files as wholes: looked at, read, and written so that nobody ever sees half of one. Every failure
// names the path. Nothing here waits for somebody to open the other end of a pipe: only regular
// files are read, and what was given to the process open, /dev/stdin and /dev/fd/N.
#ifndef LEAT_BASE_FILE_H
#define LEAT_BASE_FILE_H

#include "leat/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The bytes of a file, read-only until closed: a copy, aligned to 64 bytes, which stays as it is
// whatever becomes of the file. A file that changes while it is read is an error; what is no
// regular file must end within a GB. A zeroed view is closed.
typedef struct leat_file_view {
  const unsigned char *data; // never NULL while open
  size_t size;
  bool mapped;         // it is no copy; then …
  int fd;              // … the file
  int64_t modified[2]; // when it was written, seconds and nanoseconds
  uint64_t inode[2];   // its device and number there; 0, 0: it is no regular file
} leat_file_view;

LEAT_MUST_USE leat_status leat_file_view_open(leat_file_view *out, const char *path,
                                              leat_error *error);
// The same, but that a large file is mapped: nothing is read before it is used, processes share
// what is, and the system takes it back when memory is short. Who uses it asks
// leat_file_view_check, for what is written into the file meanwhile is seen; and where one is cut
// short, what is read behind its new end ends the process by SIGBUS, unless that is survived. A
// file that is replaced, as leat_file_write does it, stays what it was for those who have it open.
enum { LEAT_FILE_MAPPED_FROM = 1 << 26 }; // bytes
LEAT_MUST_USE leat_status leat_file_view_map(leat_file_view *out, const char *path,
                                             leat_error *error);
// Whether a mapped file still has the size and the time of writing that it had when it was opened.
LEAT_MUST_USE leat_status leat_file_view_check(const leat_file_view *view, const char *path,
                                               leat_error *error);
// For programs, as a library has no signal handlers: from now on what is read behind the new end of
// a mapped file that is cut short is 0, and leat_file_view_check says so.
void leat_file_survive_cuts(void);
// What lies there is not needed soon: if it is of a mapped view, it takes no memory until it is
// read again.
void leat_file_drop(const void *from, size_t size);
void leat_file_view_close(leat_file_view *view);

// What a text names is a file, which may be read again, elsewhere too: /dev/stdin is none.
LEAT_MUST_USE leat_status leat_file_check_regular(const char *path, leat_error *error);

// Whether a name, of a file beside the one that names it or in folders there, leads nowhere else.
bool leat_file_stays_beside(const char *name);

// Reads a whole file. *out_data is malloc'ed, has a NUL after its *out_size bytes, and
// is the caller's. A file of more than `limit` bytes is an error.
LEAT_MUST_USE leat_status leat_file_read(const char *path, size_t limit, char **out_data,
                                         size_t *out_size, leat_error *error);

typedef struct leat_bytes {
  const void *data;
  size_t size;
} leat_bytes;

typedef enum leat_file_promise {
  LEAT_FILE_ATOMIC,  // other processes see the old file or the new one
  LEAT_FILE_PRIVATE, // and no other user may read or write the new one
  LEAT_FILE_DURABLE, // as ATOMIC, and so it is after a power cut: the file and its directory are
                     // fsynced
} leat_file_promise;

// Writes the pieces one after the other into a file aside, `PATH.leat-tmp`, then renames it to
// `path`; on failure nothing is left behind and an older file stays as it was. What a process that
// was killed has left there goes. The new file has the mode and, where that may be given, the owner
// of the old one. A symbolic link is followed; a device or pipe is written directly. To one path
// only one process at a time writes durably: the others get an error.
LEAT_MUST_USE leat_status leat_file_write(const char *path, const leat_bytes *pieces, size_t count,
                                          leat_file_promise promise, leat_error *error);

// Whether a file of that path can be written, or made, before the work that it is for; NULL: none.
LEAT_MUST_USE leat_status leat_file_check_writable(const char *path, leat_error *error);

// The same, and from now on until the claim is given up or the process ends only this process may
// write it durably: two that work long for one file are told when the second begins.
LEAT_MUST_USE leat_status leat_file_claim(const char *path, leat_error *error);
void leat_file_unclaim(const char *path); // NULL and what is not claimed are fine

#endif
