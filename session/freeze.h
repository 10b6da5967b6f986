// Putting the values of a checkpoint into a step's graph, ahead of time.
#ifndef LEAT_SESSION_FREEZE_H
#define LEAT_SESSION_FREEZE_H

#include "base/safetensors.h"
#include "codegen/codegen.h"

// Variables that the graph never assigns become constants; the others get the file's value as their
// initial one. What the file lacks stays as it is, with a warning; a value of another type is an
// error. The constants are added to `out`, in the graph's arena. `path` names the file in messages.
LEAT_MUST_USE leat_status leat_freeze(leat_graph *graph, leat_diag *diag,
                                      const leat_safetensors *file, const char *path,
                                      leat_frozen_list *out, leat_error *error);

#endif
