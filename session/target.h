// Targets: who makes code for a device. One row each.
#ifndef LEAT_SESSION_TARGET_H
#define LEAT_SESSION_TARGET_H

#include "targets/generator.h"

#include <stdbool.h>

typedef struct leat_target {
  const char *name;
  // Kernels → objects, loaded on first need. NULL: the target runs graphs as they are (ref).
  leat_status (*generator)(const leat_code_generator **out, leat_error *error);
  void (*add_key)(leat_text *out); // who compiles: differs when the same text may give other code
  // The text that is compiled, with all else that its object depends on, but not who wrote it, so
  // that objects outlive builds of everything else.
  void (*add_text)(const leat_codegen_request *request, leat_text *out); // NULL as add_key is: ref
  bool whole; // one object for all kernels of a part, because starting the compiler is what costs
} leat_target;

// NULL: there is none of that name. `cpu` is the C target where LLVM is not built.
const leat_target *leat_target_find(const char *name);
// Whether the target of that name is not what this program was built to have, and why.
bool leat_target_lacks(const char *name, leat_error *why);
const char *leat_target_names(void); // "cpu, c, ref"

#endif
