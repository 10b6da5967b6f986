// What the compiler decides for a step, for people (`leat inspect`).
#ifndef LEAT_SESSION_INSPECT_H
#define LEAT_SESSION_INSPECT_H

#include "session/session.h"

typedef struct leat_inspect_options {
  bool memory, plan, all;   // leat_inspection
  const leat_setting *dims; // values for run-time dims: B=128; the others stay symbolic
  int dim_count;
} leat_inspect_options;

// As the JIT compiles it, but that nothing is compiled to machine code; *out is malloc'ed, the
// caller's.
LEAT_MUST_USE leat_status leat_session_inspect(leat_session *session, const leat_step_spec *spec,
                                               const leat_inspect_options *options, char **out);

#endif
