// The disk cache of compiled code: (kind, key) → bytes, for objects of kernels and blobs of whole
// steps alike.
//
// An entry is one file, named by the kind and the 128-bit hash of the key's bytes. It is written
// aside and renamed, so processes may share the directory; a file whose header, length or checksum
// is wrong is not there, and the next put replaces it. When the directory grows over its limit, the
// entries that were longest unused go.
#ifndef LEAT_SESSION_OBJECT_CACHE_H
#define LEAT_SESSION_OBJECT_CACHE_H

#include "base/file.h"
#include "leat/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct leat_cache leat_cache;

enum { LEAT_CACHE_DEFAULT_LIMIT = 1 << 30 };

// `directory` NULL: $LEAT_CACHE_DIR, else $XDG_CACHE_HOME/leat, else ~/.cache/leat. It is made on
// the first put. `limit` in bytes; 0 switches the cache off, as does $LEAT_CACHE_DIR=off: get finds
// nothing, put keeps nothing. Never NULL.
leat_cache *leat_cache_create(const char *directory, uint64_t limit);
void leat_cache_destroy(leat_cache *cache); // NULL is fine

// A key: 128 bits of XXH3 over everything that the cached bytes depend on.
typedef struct leat_cache_key {
  uint64_t words[2];
} leat_cache_key;
leat_cache_key leat_cache_key_of(const void *data, size_t size);

// An entry's bytes, mapped (64-byte aligned) until leat_cache_release.
typedef struct leat_cache_entry {
  const void *data;
  size_t size;
  leat_file_view file;
} leat_cache_entry;

// False when it is not there. `kind` is a short word of letters: "kernel", "step". Any thread may
// call.
bool leat_cache_get(leat_cache *cache, const char *kind, leat_cache_key key, leat_cache_entry *out);
void leat_cache_release(leat_cache_entry *entry);
// A cache that cannot be written is no error of a compile: the status is for those who want to tell
// the user.
leat_status leat_cache_put(leat_cache *cache, const char *kind, leat_cache_key key,
                           const void *data, size_t size, leat_error *error);

#endif
