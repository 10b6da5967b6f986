// Folders for what lies on the disk for a moment, in $TMPDIR, else /tmp: `leat-temporary-XXXXXX`,
// for the user alone. Whoever makes one holds a lock on it (flock) for as long as it lives, so that
// the next who makes one knows what dead processes left behind, whatever ended them, and removes
// it.
#ifndef LEAT_BASE_TEMPORARY_H
#define LEAT_BASE_TEMPORARY_H

#include "leat/status.h"

enum { LEAT_TEMPORARY_PATH = 4096 };

typedef struct leat_temporary leat_temporary;

// Any thread may call; files are put into it, no folders.
LEAT_MUST_USE leat_status leat_temporary_make(leat_temporary **out, leat_error *error);
const char *leat_temporary_path(const leat_temporary *folder);
// With all that is in it; NULL is fine.
void leat_temporary_remove(leat_temporary *folder);

// All of this process: what a handler of a signal that ends it may call.
void leat_temporary_remove_all(void);

#endif
