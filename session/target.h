// Targets: who makes code for a device. One row each.
#ifndef LEAT_SESSION_TARGET_H
#define LEAT_SESSION_TARGET_H

#include "targets/generator.h"

#include <stdbool.h>

typedef struct leat_target {
  const char *name;
  // Kernels → objects, loaded on first need. NULL: the target runs graphs as they are (ref).
  leat_status (*generator)(const leat_code_generator **out, leat_error *error);
  // Adds all that the request's object depends on: its text and who compiles it, not who wrote it,
  // so that it outlives builds of everything else. NULL: there are no objects.
  void (*add_key)(const leat_codegen_request *request, leat_text *out);
  bool whole; // one object for all kernels of a part, because starting the compiler is what costs
} leat_target;

// NULL: there is none of that name. `cpu` is the C target where LLVM is not built.
const leat_target *leat_target_find(const char *name);
// Whether the target of that name is not what this program was built to have, and why.
bool leat_target_lacks(const char *name, leat_error *why);
const char *leat_target_names(void); // "cpu, c, ref"

#endif
