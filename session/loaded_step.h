// A step's code, loaded: its programs on the devices of this process, and the run that is reused.
#ifndef LEAT_SESSION_LOADED_STEP_H
#define LEAT_SESSION_LOADED_STEP_H

#include "session/step_code.h"

typedef struct leat_loaded_step {
  leat_vec(leat_program *) programs;
  leat_vec(leat_part) parts;
  leat_executor *executor; // NULL: this process has no part of the step
  leat_run *run;
} leat_loaded_step;

// The lists lie in `arena`. On failure too leat_loaded_step_finish is due.
LEAT_MUST_USE leat_status leat_loaded_step_start(leat_session *session, leat_arena *arena,
                                                 const leat_step_code *code, leat_loaded_step *out);
void leat_loaded_step_finish(leat_loaded_step *step);

#endif
