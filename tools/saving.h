// What run and train do about checkpoints: --restore, --save and --overwrite. A run that is stopped
// by a signal or by a stdout that nobody reads ends behind a step and is saved; one that a failing
// step ends is saved as it was before that step. A run without a step saves nothing.
#ifndef LEAT_TOOLS_SAVING_H
#define LEAT_TOOLS_SAVING_H

#include "runtime/keeping.h"
#include "tools/prepared.h"
#include "tools/session_options.h"

typedef struct tool_saving {
  const char *restore, *save; // NULL: not asked for
  bool partial;               // the file to restore may lack variables
  leat_keeping keeping;       // of what follows, once it runs
  leat_session *session;
  const prepared *prepared;
} tool_saving;

enum { SAVING_OPTION_COUNT = 4 };

tool_options tool_saving_options(tool_saving *saving, session_options *session,
                                 tool_option items[SAVING_OPTION_COUNT]);

// Before anything is compiled: restores, and looks whether what will be saved may be. Shows what is
// wrong and gives the exit code. The file is claimed then: leat_file_unclaim gives it up.
int tool_saving_begin(tool_saving *saving, const session_options *options, leat_session *session);
// Before the first step. Signals are caught from then on.
void tool_saving_start(tool_saving *saving, const session_options *options, leat_session *session,
                       const prepared *prepared);
void tool_saving_note_step(tool_saving *saving); // after each step that has run
// After the last step: saves. `status`: the exit code so far, not 0 when a step has failed.
int tool_saving_finish(tool_saving *saving, int status);

#endif
