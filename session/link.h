// Linking an artifact's object with libleat_rt, and with BLIS if it calls it, by the system's C
// compiler; or putting both into an archive.
#ifndef LEAT_SESSION_LINK_H
#define LEAT_SESSION_LINK_H

#include "base/file.h"
#include "base/text.h"
#include "session/artifact.h"

#include <stdbool.h>

typedef struct leat_link {
  leat_bytes object;
  const char *name;        // of the symbol NAME_steps
  const char *output;      // the path of what is made
  leat_artifact_kind kind; // an executable, a shared object or an archive
  bool blis;               // the object calls leat_blis_gemm
  const char *cc;          // words; NULL: $CC, else cc
} leat_link;

// Adds the command that it ran, if it ran one, to *command. LEAT_UNSUPPORTED: there is no linker.
LEAT_MUST_USE leat_status leat_link_run(const leat_link *link, leat_text *command,
                                        leat_error *error);

#endif
