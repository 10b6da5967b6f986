// Archives of objects (`ar`, GNU's form, with an index of symbols), for any machine whose objects
// are 64-bit little-endian ELF. The same members give the same bytes: no times, owners or modes.
#ifndef LEAT_SESSION_ARTIFACT_ARCHIVE_H
#define LEAT_SESSION_ARTIFACT_ARCHIVE_H

#include "base/file.h"
#include "base/text.h"
#include "base/vec.h"

typedef struct leat_archive_member {
  const char *name;
  leat_bytes object;
  size_t rest; // of the last: bytes of it that whoever writes the file puts behind it; else 0
} leat_archive_member;

typedef struct leat_archive {
  leat_arena *arena; // what is added is borrowed until it is printed, and names are kept here
  leat_vec(leat_archive_member) members;
} leat_archive;

void leat_archive_add(leat_archive *archive, const char *name, leat_bytes object);
// The members of an archive in memory; `path` names it in messages. LEAT_INVALID: it is none, or
// thin.
LEAT_MUST_USE leat_status leat_archive_add_all(leat_archive *archive, leat_bytes other,
                                               const char *path, leat_error *error);
// The file. LEAT_INVALID: a member is no such object.
LEAT_MUST_USE leat_status leat_archive_print(const leat_archive *archive, leat_text *out,
                                             leat_error *error);

#endif
