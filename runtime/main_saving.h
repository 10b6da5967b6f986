// How an executable restores and saves its variables. One without variables is linked without it.
// Internal to runtime/.
#ifndef LEAT_RUNTIME_MAIN_SAVING_H
#define LEAT_RUNTIME_MAIN_SAVING_H

#include "leat/runtime.h"

typedef struct leat_saving_options {
  const char *restore, *save; // paths, or NULL
  bool partial;               // the file to restore may lack variables
  bool overwrite;             // what is saved may replace anything
} leat_saving_options;

typedef struct leat_executable_saving {
  // Before the first run: looks whether the files will do, restores, and has signals stop the work.
  leat_status (*begin)(leat_model *model, const leat_saving_options *options, leat_error *error);
  bool (*is_stopped)(void);
  // Behind the last run: saves. LEAT_ABORTED: it has been stopped.
  leat_status (*end)(leat_model *model, const leat_saving_options *options, leat_error *error);
  void (*finish)(const leat_saving_options *options); // of what `begin` took
} leat_executable_saving;

#endif
