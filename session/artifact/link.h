// Linking an artifact's object with libleat_rt, and with libraries of others that it calls, by the
// system's C compiler; or putting both into an archive.
#ifndef LEAT_SESSION_ARTIFACT_LINK_H
#define LEAT_SESSION_ARTIFACT_LINK_H

#include "base/file.h"
#include "base/text.h"
#include "session/artifact.h"
#include "session/artifact/foreign.h"
#include "session/machine.h"

typedef struct leat_link {
  leat_bytes object;
  const leat_bytes *weights; // what it refers to by `weights_symbol`, one piece behind the other
  size_t weights_count;
  uint64_t weights_size; // 0: it refers to none
  const char *weights_symbol;
  const char *name;                     // of the symbol NAME_steps
  bool saves;                           // it has state, which an executable restores and saves
  leat_foreign_set foreign;             // what the object calls
  const leat_artifact_options *options; // what is made, and of which kind
  const leat_machine *machine;
  struct leat_object_cache *cache; // of a runtime that is compiled for it, or NULL
} leat_link;

// Adds the command that it ran, if it ran one, to *command. LEAT_UNSUPPORTED: there is no linker.
LEAT_MUST_USE leat_status leat_link_run(const leat_link *link, leat_text *command,
                                        leat_error *error);

#endif
