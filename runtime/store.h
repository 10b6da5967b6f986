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
  uint64_t version; // goes up whenever it may have been assigned; the store's lock holds it
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

// What a launch made of variables and of what never changes, for all executors of the store that
// would make the same (leat_image_prepared).
typedef struct leat_prepared {
  struct leat_prepared *next;
  uint64_t key[2]; // of the kernel, its numbers, and what it reads
  uint32_t users;  // executors
  void *data;      // 64-byte aligned, at one address as long as there are users
  uint64_t bytes;
  bool made; // the store's lock holds it, and the versions
  uint32_t source_count;
  struct leat_prepared_source {
    const leat_variable *variable;
    uint64_t version; // of which it was made
  } sources[];
} leat_prepared;

// Finds it by its key, or makes it with these variables as sources and without a value; one user
// more. *out is the store's.
LEAT_MUST_USE leat_status leat_store_prepared(leat_store *store, const uint64_t key[2],
                                              uint64_t bytes, leat_variable *const *sources,
                                              uint32_t source_count, leat_prepared **out,
                                              leat_error *error);
void leat_store_release(leat_store *store, leat_prepared *prepared); // NULL is fine
// Whether its value is that of what the variables hold now. The store is locked.
bool leat_prepared_is_fresh(const leat_prepared *prepared);
void leat_prepared_made(leat_prepared *prepared); // its store is locked for writing

// Puts a value of the variable's type into it: strings as copies that it owns. Its store is locked
// for writing. LEAT_MEMORY: some elements may be new and some old.
LEAT_MUST_USE leat_status leat_variable_set(leat_variable *variable, const void *data);

// Only one thread at a time initialises variables of a store.
void leat_store_lock_initialisation(leat_store *store);
void leat_store_unlock_initialisation(leat_store *store);

#endif
