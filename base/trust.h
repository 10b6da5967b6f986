// Whether others could have changed what lies at a path, judged as OpenSSH judges the files of
// keys.
#ifndef LEAT_BASE_TRUST_H
#define LEAT_BASE_TRUST_H

#include "leat/status.h"

#include <stdbool.h>
#include <sys/stat.h>

// Whether it belongs to the user or root, and neither a group nor all others may write to it.
bool leat_is_trusted(const struct stat *info);

// The path without links, malloc'ed and the caller's, of a folder that only the user and root can
// put anything into, or another in place of: it is trusted, and so is every folder above it; of
// these, one with the sticky bit (/tmp), where nobody moves what is another's, may be open to all.
// What is not there is made in what can be trusted, for the user alone. LEAT_INVALID: others could
// change it, and which folder is why; LEAT_NOT_FOUND, LEAT_IO: there is none and none can be made.
LEAT_MUST_USE leat_status leat_trusted_folder(const char *path, char **out, leat_error *error);

// Whether only the user and root can write to the file, or put another in its place: it is trusted,
// and so is the folder that it is in, and that what it is a link to is in, as above.
LEAT_MUST_USE leat_status leat_trusted_file(const char *path, leat_error *error);

#endif
