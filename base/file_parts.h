// What functions on files share. For base/ alone.
#ifndef LEAT_BASE_FILE_PARTS_H
#define LEAT_BASE_FILE_PARTS_H

#include "leat/status.h"

enum { // bytes that one system call is asked for
  LEAT_FILE_MOST_AT_ONCE = 1 << 30,
  LEAT_FILE_WRITTEN_AT_ONCE = 1 << 26,
};

// "cannot DOING 'PATH': " and what errno says.
leat_status leat_file_fail(leat_error *error, const char *doing, const char *path);

#endif
