// The disk cache of compiled code: key bytes → bytes, for objects of kernels and for whole steps
// alike.
//
// An entry is one file, named by the 128-bit XXH3 of its key. It is written aside and renamed, so
// processes may share the directory; a file whose header, length or checksum is wrong is not there,
// and the next put replaces it. When the directory has grown over its limit, the entries that were
// longest unused go; it may grow by some sixteenths of it until that is seen.
#ifndef LEAT_SESSION_OBJECT_CACHE_H
#define LEAT_SESSION_OBJECT_CACHE_H

#include "leat/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct leat_object_cache leat_object_cache;

// `where` is a directory, or NULL: $LEAT_CACHE_DIR, else $XDG_CACHE_HOME/leat, else ~/.cache/leat.
// It is made where there is none. "off", there or here, and a directory that cannot be made give a
// NULL cache, in which nothing is found or kept; so does one that others may write to, or put
// another in place of, with LEAT_INVALID (base/trust.h): the code in it may be anybody's.
// $LEAT_CACHE_LIMIT is its size in MiB, by default 1024.
LEAT_MUST_USE leat_status leat_object_cache_open(const char *where, leat_object_cache **out,
                                                 leat_error *error);
void leat_object_cache_close(leat_object_cache *cache);

// Whether the key has bytes; they are malloc'ed and the caller's. Any thread may call, and put.
bool leat_object_cache_get(leat_object_cache *cache, const void *key, size_t key_size,
                           void **out_data, size_t *out_size);
// A cache that cannot be written is no error: what was to be kept is compiled again.
void leat_object_cache_put(leat_object_cache *cache, const void *key, size_t key_size,
                           const void *data, size_t size);

#endif
