// What a checkpoint holds besides the variables, as metadata of its safetensors file: Leat's
// version
// (`leat`), and how often each entry had run (`run_count/ENTRY`), by which random numbers are
// drawn. Sessions and compiled models read and write it here, so that each reads what the other
// wrote.
#ifndef LEAT_RUNTIME_CHECKPOINT_H
#define LEAT_RUNTIME_CHECKPOINT_H

#include "base/safetensors.h"
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
void leat_run_counts_restore(leat_run_counts *counts, const leat_safetensors *file);

// Unless `overwrite`, a checkpoint that holds more is not replaced (runtime/replace.h).
LEAT_MUST_USE leat_status leat_checkpoint_write(const char *path, const leat_named_tensor *tensors,
                                                size_t count, const leat_run_counts *runs,
                                                bool overwrite, leat_error *error);

#endif
