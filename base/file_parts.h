// What functions on files share. For base/ alone.
#ifndef LEAT_BASE_FILE_PARTS_H
#define LEAT_BASE_FILE_PARTS_H

#include "leat/status.h"

enum { LEAT_FILE_MOST_AT_ONCE = 1 << 30 }; // bytes that one system call is asked for

// "cannot DOING 'PATH': " and what errno says.
leat_status leat_file_fail(leat_error *error, const char *doing, const char *path);

#endif
