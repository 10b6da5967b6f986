// What run and train do about checkpoints: --restore, --save and --overwrite. A run that is stopped
// by a signal or by a stdout that nobody reads ends behind a step and is saved; one that a failing
// step ends is saved as it was before that step. A run without a step saves nothing.
#ifndef LEAT_TOOLS_SAVING_H
#define LEAT_TOOLS_SAVING_H

#include "session/snapshot.h"
#include "tools/prepared.h"
#include "tools/session_options.h"

typedef struct tool_saving {
  const char *restore, *save; // NULL: not asked for
  bool partial;               // the file to restore may lack variables
  int64_t steps;              // that have run
  leat_snapshot *kept;        // after some of them, to go back to; NULL: none yet
  int64_t kept_steps;         // that had run by then
  double keep_at;             // when the next is due
} tool_saving;

enum { SAVING_OPTION_COUNT = 4 };

tool_options tool_saving_options(tool_saving *saving, session_options *session,
                                 tool_option items[SAVING_OPTION_COUNT]);

// Before anything is compiled: restores, and looks whether what will be saved may be. Shows what is
// wrong and gives the exit code. The file is claimed then: leat_file_unclaim gives it up.
int tool_saving_begin(const tool_saving *saving, const session_options *options,
                      leat_session *session);
// After each step that has run.
void tool_saving_note_step(tool_saving *saving, leat_session *session);
// After the last step: saves. `status`: the exit code so far, not 0 when a step has failed.
int tool_saving_finish(tool_saving *saving, leat_session *session, const prepared *step,
                       int status);

#endif
