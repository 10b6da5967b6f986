// Handles: the structs behind the public API's pointers. A destroyed one keeps its memory, so that
// a call that is given it can tell, until 64 more of its kind have been destroyed; then the memory
// is the next one's.
//
//     struct leat_thing { leat_handle handle; … };
//     static leat_handles things = LEAT_HANDLES(leat_thing);
#ifndef LEAT_BASE_HANDLE_H
#define LEAT_BASE_HANDLE_H

#include "base/portable.h"
#include "leat/status.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

// All handles of one kind.
typedef struct leat_handles {
  size_t size;
  pthread_mutex_t lock;
  struct leat_handle *oldest, *newest; // of those destroyed
  unsigned destroyed;                  // how many these are
} leat_handles;

#define LEAT_HANDLES(T)                                                                            \
  { .size = sizeof(T), .lock = PTHREAD_MUTEX_INITIALIZER }

// The first member of the struct.
typedef struct leat_handle {
  leat_handles *_Atomic kind; // NULL: destroyed
  struct leat_handle *newer;
} leat_handle;

void *leat_handle_create(leat_handles *kind); // zeroed; NULL: no memory
void leat_handle_destroy(void *handle);       // a live one

// False: NULL, destroyed, or of another kind.
static inline bool leat_handle_is_live(const void *handle, const leat_handles *kind) {
  const leat_handle *given = handle;
  return given && atomic_load_explicit(&given->kind, memory_order_relaxed) == kind;
}

// Whether options say nothing that this version does not know.
LEAT_MUST_USE leat_status leat_reserved_check(const void *const *reserved, size_t count,
                                              leat_error *error);

#endif
