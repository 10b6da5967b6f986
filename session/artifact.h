// Ahead of time: a step as an object file, a C file, a shared object or an executable.
#ifndef LEAT_SESSION_ARTIFACT_H
#define LEAT_SESSION_ARTIFACT_H

#include "session/session.h"

typedef enum leat_artifact_kind {
  LEAT_ARTIFACT_EXECUTABLE, // linked with libleat_rt; needs libc and libm only
  LEAT_ARTIFACT_OBJECT,     // .o and .h, to be linked with libleat_rt
  LEAT_ARTIFACT_SHARED,     // .so and .h, libleat_rt inside
  LEAT_ARTIFACT_C,          // .c and .h
} leat_artifact_kind;

typedef struct leat_artifact_options {
  leat_artifact_kind kind;
  const char *output;       // the path; headers stand beside it
  const char *vars;         // a .safetensors file (session/freeze.h), or NULL
  bool partial;             // it may lack variables
  const leat_setting *dims; // values for run-time dims: B=128
  int dim_count;
  const char *cc;  // words that link; NULL: $CC, else cc
  bool print_link; // log the command that links
} leat_artifact_options;

// The step is symbolic in its run-time dims but for those given.
LEAT_MUST_USE leat_status leat_artifact_build(leat_session *session, const leat_step_spec *spec,
                                              const leat_artifact_options *options);

#endif
