// An artifact that has been compiled, and the files that it becomes. Internal to session/artifact/.
#ifndef LEAT_SESSION_ARTIFACT_FILES_H
#define LEAT_SESSION_ARTIFACT_FILES_H

#include "codegen/codegen.h"
#include "session/artifact.h"
#include "session/artifact/c_names.h"
#include "session/artifact/foreign.h"
#include "session/artifact/one_file.h"
#include "session/artifact/weights.h"
#include "session/driver.h"
#include "session/machine.h"
#include "session/request.h"

// A step as it is compiled for one CPU level.
typedef struct leat_artifact_code {
  leat_driver driver;
  leat_graph *part; // on its one device, after all passes
  leat_compiled compiled;
} leat_artifact_code;

typedef struct leat_artifact_step {
  const char *name; // "train+eval"
  // In the header, behind the artifact's name: its function, and the structs of what that takes.
  const char *c_name, *c_inputs, *c_outputs, *c_memory;
  const char *about; // its documentation
  leat_request request;
  leat_artifact_code *codes; // artifact->code_count
} leat_artifact_step;

typedef struct leat_artifact {
  leat_session *session;
  const leat_artifact_options *options;
  leat_arena *arena;
  const char *name; // the symbols' prefix
  const leat_target *target;
  leat_machine machine;
  leat_artifact_step *steps;
  uint32_t step_count;
  uint32_t code_count; // of each: one a CPU level, ascending, where machines have levels
  leat_weights weights;
  leat_codegen_request codegen; // all that the file holds, but for the weights
  const char *weights_symbol;   // NULL: it holds none
  leat_joined runtime;          // of one file
  leat_foreign_set foreign;     // what it calls
} leat_artifact;

// The output: what options->kind says.
LEAT_MUST_USE leat_status leat_artifact_write(leat_artifact *artifact);
// Its header beside it, and the names that no step may have there.
void leat_artifact_take_names(leat_c_scope *scope);
LEAT_MUST_USE leat_status leat_artifact_write_header(leat_artifact *artifact);

LEAT_MUST_USE leat_status leat_artifact_write_text(leat_artifact *artifact, const char *path,
                                                   const leat_text *text);

#endif
