// What a checkpoint holds besides the variables, as metadata of its safetensors file: Leat's
// version
// (`leat`); how often each entry had run (`run_count/ENTRY`), by which random numbers are drawn;
// and the names of the variables that had no value yet (`uninitialised`, separated by spaces),
// which it therefore lacks. Sessions and compiled models read and write it here, so that each reads
// what the other wrote.
#ifndef LEAT_RUNTIME_CHECKPOINT_H
#define LEAT_RUNTIME_CHECKPOINT_H

#include "base/data_file.h"
#include "base/vec.h"

typedef struct leat_run_count {
  const char *entry;
  uint64_t runs; // completed
} leat_run_count;

// Of all entries that were run here or that a checkpoint named. Begins as {.arena = …}.
typedef struct leat_run_counts {
  leat_arena *arena;
  leat_vec(leat_run_count *) items;
} leat_run_counts;

// The count of an entry, which is 0 at first; valid as long as the arena.
uint64_t *leat_run_count_of(leat_run_counts *counts, const char *entry);

// The counts that the file has; the others stay.
void leat_run_counts_restore(leat_run_counts *counts, const leat_data_file *file);

// Opens a file to restore from: its checksums hold, and what should be numbers are. Others may have
// written it; then it has neither, and no counts.
LEAT_MUST_USE leat_status leat_checkpoint_open(leat_data_file *out, const char *path,
                                               leat_error *error);

// Whether the file has all these variables, but those that had no value when it was saved; the
// error names what is missing. With `partial` one of them is enough.
LEAT_MUST_USE leat_status leat_checkpoint_check(const leat_data_file *file, const char *path,
                                                const char *const *variables, size_t count,
                                                bool partial, leat_error *error);
// Whether the variable had no value when the file was saved.
bool leat_checkpoint_lacked(const leat_data_file *file, const char *variable);

// Of a variable's dtype, shape and value: what an artifact keeps of those that became constants.
LEAT_MUST_USE leat_status leat_value_checksum(const leat_tensor *value, uint64_t *out,
                                              leat_error *error);

// A copy of all variables of a store that have a value, and of the counts. *out is the caller's;
// NULL on failure.
typedef struct leat_store_copy leat_store_copy;
struct leat_store;
LEAT_MUST_USE leat_status leat_store_copy_take(struct leat_store *store,
                                               const leat_run_counts *counts, leat_store_copy **out,
                                               leat_error *error);
void leat_store_copy_drop(leat_store_copy *copy); // NULL is fine
// What had no value then keeps the one it has.
LEAT_MUST_USE leat_status leat_store_copy_put_back(struct leat_store *store,
                                                   leat_run_counts *counts,
                                                   const leat_store_copy *copy, leat_error *error);
// As leat_store_save.
LEAT_MUST_USE leat_status leat_store_copy_write(const leat_store_copy *copy, const char *path,
                                                bool overwrite, leat_error *error);

// `uninitialised` as above; NULL: none. Unless `overwrite`, a checkpoint that holds more is not
// replaced (runtime/replace.h).
LEAT_MUST_USE leat_status leat_checkpoint_write(const char *path, const leat_named_tensor *tensors,
                                                size_t count, const char *uninitialised,
                                                const leat_run_counts *runs, bool overwrite,
                                                leat_error *error);

#endif
