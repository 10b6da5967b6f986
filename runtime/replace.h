// What a checkpoint may replace: never one that holds more than it does.
#ifndef LEAT_RUNTIME_REPLACE_H
#define LEAT_RUNTIME_REPLACE_H

#include "base/safetensors.h"

// Before a run, for --save: whether `path` can be written and holds nothing yet, or just what the
// run begins with, which comes from `restored` (NULL: from nowhere). `path` NULL is fine.
LEAT_MUST_USE leat_status leat_check_save_path(const char *path, const char *restored,
                                               bool overwrite, leat_error *error);

// Whether the tensors may replace the checkpoint at `path`: it has no other variables, and no later
// `global_step`. A tensor without data may get any value. Whatever is no checkpoint is replaced.
LEAT_MUST_USE leat_status leat_check_replaced(const char *path, const leat_named_tensor *tensors,
                                              size_t count, leat_error *error);

#endif
