// How an executable restores and saves its variables. One without variables is linked without it.
// Internal to runtime/.
#ifndef LEAT_RUNTIME_MAIN_SAVING_H
#define LEAT_RUNTIME_MAIN_SAVING_H

#include "leat/runtime.h"
#include "runtime/keeping.h"

typedef struct leat_saving_options {
  const char *restore, *save; // paths, or NULL
  bool partial;               // the file to restore may lack variables
  bool overwrite;             // what is saved may replace anything
} leat_saving_options;

// What is run, and how it is run again.
typedef struct leat_saving_run {
  const char *program; // its name, for messages
  leat_model *model;
  leat_status (*again)(void *context); // says nothing
  void *context;
  leat_keeping keeping;
} leat_saving_run;

typedef struct leat_executable_saving {
  // Before the first run: looks whether the files will do, restores, and has signals stop the work.
  leat_status (*begin)(leat_saving_run *run, const leat_saving_options *options, leat_error *error);
  // After each that has run; behind the last one nothing is kept.
  void (*note_step)(leat_saving_run *run, bool last);
  bool (*is_stopped)(void);
  // Behind the last run, or one that has `failed`: saves. LEAT_ABORTED: it has been stopped, or the
  // words say what the file holds.
  leat_status (*end)(leat_saving_run *run, bool failed, leat_error *error);
  void (*finish)(leat_saving_run *run, const leat_saving_options *options);
} leat_executable_saving;

#endif
