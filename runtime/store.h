// Variables as executors see them: found once by name, then used by address. See runtime.h.
#ifndef LEAT_RUNTIME_STORE_H
#define LEAT_RUNTIME_STORE_H

#include "runtime/runtime.h"

typedef struct leat_variable {
  const char *name, *container;
  // Its data is 64-byte aligned and at one address as long as the store lives; elements of str own
  // their bytes (leat_str_own), so nothing may point to these when a task has ended.
  leat_tensor tensor;
  bool initialised, trainable;
} leat_variable;

typedef enum leat_store_access {
  LEAT_STORE_NONE,
  LEAT_STORE_READ,
  LEAT_STORE_WRITE
} leat_store_access;

// LEAT_STORE_NONE: nothing is locked.
void leat_store_lock(leat_store *store, leat_store_access access);
void leat_store_unlock(leat_store *store, leat_store_access access);

// Makes the variable, uninitialised, or finds it with the same dtype and shape. *out is the
// store's.
LEAT_MUST_USE leat_status leat_store_variable(leat_store *store, const leat_variable_info *info,
                                              leat_variable **out, leat_error *error);

// Puts a value of the variable's type into it: strings as copies that it owns. Its store is locked
// for writing. LEAT_MEMORY: some elements may be new and some old.
LEAT_MUST_USE leat_status leat_variable_set(leat_variable *variable, const void *data);

// Only one thread at a time initialises variables of a store.
void leat_store_lock_initialisation(leat_store *store);
void leat_store_unlock_initialisation(leat_store *store);

#endif
