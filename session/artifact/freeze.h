// Putting the values of a checkpoint into the graphs of steps, ahead of time.
#ifndef LEAT_SESSION_ARTIFACT_FREEZE_H
#define LEAT_SESSION_ARTIFACT_FREEZE_H

#include "base/data_file.h"
#include "codegen/codegen.h"

// A step, and what became constants of it, in its graph's arena.
typedef struct leat_freezing {
  leat_graph *graph;
  leat_frozen_list *frozen;
} leat_freezing;

// Variables that none of the steps assigns become constants; the others get the file's value as
// their initial one. What the file lacks stays as it is, with a warning; a value of another type is
// an error. `path` names the file, in messages and where a large value stays in it: with
// `as_loads` it is a `load`.
LEAT_MUST_USE leat_status leat_freeze(const leat_freezing *steps, size_t count, leat_diag *diag,
                                      const leat_data_file *file, const char *path, bool as_loads,
                                      leat_error *error);

#endif
