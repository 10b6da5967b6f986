// An artifact that has been compiled, and the files that it becomes. Internal to session/.
#ifndef LEAT_SESSION_ARTIFACT_FILES_H
#define LEAT_SESSION_ARTIFACT_FILES_H

#include "codegen/codegen.h"
#include "session/artifact.h"
#include "session/request.h"

typedef struct leat_artifact {
  leat_session *session;
  const leat_artifact_options *options;
  leat_arena *arena;
  leat_request request;
  const char *name; // the symbols' prefix
  leat_graph *part; // the step on its one device, after all passes
  const leat_target *target;
  leat_compiled code;
  leat_codegen_request codegen; // all that the file holds
  leat_object_data image_data;
  leat_object_pointers kernel_pointers;
  bool calls_blis;
} leat_artifact;

// The output: what options->kind says.
LEAT_MUST_USE leat_status leat_artifact_write(leat_artifact *artifact);
// Its header beside it.
LEAT_MUST_USE leat_status leat_artifact_write_header(leat_artifact *artifact);

LEAT_MUST_USE leat_status leat_artifact_write_text(leat_artifact *artifact, const char *path,
                                                   const leat_text *text);

#endif
