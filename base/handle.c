// Destroyed handles stand in a queue, zeroed; the oldest is used again when there are enough.
// It runs seldom: compiled for size.
#include "base/handle.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT = 64 };

static leat_handle *take_oldest(leat_handles *kind) {
  pthread_mutex_lock(&kind->lock);
  leat_handle *oldest = kind->destroyed > KEPT ? kind->oldest : NULL;
  if (oldest) {
    kind->oldest = oldest->newer;
    kind->destroyed--;
    oldest->newer = NULL;
  }
  pthread_mutex_unlock(&kind->lock);
  return oldest;
}

void *leat_handle_create(leat_handles *kind) {
  leat_handle *handle = take_oldest(kind);
  if (!handle) handle = calloc(1, kind->size);
  if (handle) atomic_store_explicit(&handle->kind, kind, memory_order_relaxed);
  return handle;
}

void leat_handle_destroy(void *handle) {
  leat_handle *gone = handle;
  leat_handles *kind = atomic_exchange_explicit(&gone->kind, NULL, memory_order_relaxed);
  memset(gone + 1, 0, kind->size - sizeof *gone);
  pthread_mutex_lock(&kind->lock);
  if (kind->destroyed++)
    kind->newest->newer = gone;
  else
    kind->oldest = gone;
  kind->newest = gone;
  pthread_mutex_unlock(&kind->lock);
}

leat_status leat_reserved_check(const void *const *reserved, size_t count, leat_error *error) {
  for (size_t i = 0; i < count; i++)
    if (reserved[i])
      return leat_fail(error, LEAT_INVALID,
                       "the options say what this version of Leat does not know: begin with {0}; a "
                       "program that was compiled for a later version needs its library");
  return LEAT_OK;
}
