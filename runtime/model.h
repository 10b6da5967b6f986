// A model as the files see it that make up its API. Internal to runtime/.
#ifndef LEAT_RUNTIME_MODEL_H
#define LEAT_RUNTIME_MODEL_H

#include "leat/runtime.h"

#include "base/handle.h"
#include "runtime/program.h"
#include "runtime/runtime.h"

// What one run can do: a program, on the variables of all.
typedef struct leat_model_entry {
  const leat_built_step *levels; // what it was built as, for each CPU level
  leat_program *program;
  leat_executor *executor;
  leat_run *run;
  bool read; // its files are
  leat_port_info *feeds, *fetches;
  leat_text *types; // of the feeds, then of the fetches
  int feed_count, fetch_count;
  uint64_t *run_count;            // what run_count() is
  leat_vec(uint64_t *) completed; // counters that a completed run adds one to
} leat_model_entry;

struct leat_model {
  leat_handle handle;
  bool made; // it was created without a failure: more can be asked than its message
  leat_error error;
  leat_arena *arena;
  leat_runtime *runtime;
  leat_store *store;
  leat_model_entry *entries;
  int entry_count;
  const char *base; // of its files, or NULL
  bool overwrite;   // what saves replace
  uint64_t runs;    // of this model
  leat_run_counts counts;
  leat_text *variable_types; // in the order of the store
};

// Whether more can be asked of it than its message.
bool leat_has_model(const leat_model *model);
// The error record of the call that begins; NULL: there is no such model.
leat_error *leat_begin_model_call(leat_model *model);
// Reads the files that the entry needs.
LEAT_MUST_USE leat_status leat_read_model_files(leat_model *model, leat_model_entry *entry);

#endif
