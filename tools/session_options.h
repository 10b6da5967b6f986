// What run, train, build and repl share: the options that make a session, and its life in a tool.
#ifndef LEAT_TOOLS_SESSION_OPTIONS_H
#define LEAT_TOOLS_SESSION_OPTIONS_H

#include "leat/leat.h"
#include "tools/options.h"

typedef struct session_options {
  leat_session_options options;
  tool_list settings; // --set NAME=VALUE
  const char *trace;  // the file to write
  bool traffic;       // say what each process sent
  const char *save;   // where what runs is saved when a signal ends it; NULL: nowhere
} session_options;

enum { SESSION_OPTION_COUNT = 19 };

// What a command does with its session.
typedef enum session_use { CHECKS = 1, BUILDS = 2, RUNS = 4, TALKS = 8 } session_use;

// Fills a group of options that parse into *shared, which is set to its defaults: those that mean
// something to this use.
tool_options tool_session_options(session_options *shared, session_use use,
                                  tool_option items[SESSION_OPTION_COUNT]);

// Makes the session and, path not being NULL, reads the text. Messages are shown. NULL, with the
// exit code in *status, on failure, and where this process is no client of its cluster: it has
// served the client to the end then.
leat_session *tool_open(session_options *shared, const char *path, int *status);
// Before the first step: of what is saved signals only make leat_stopped true, and a step that does
// not end can be broken off (runtime/stopping.h).
void tool_stop_at_signals(const session_options *shared, leat_session *session);
// Says what was sent, if that is wanted. To be called while the steps are there.
int tool_show_traffic(const session_options *shared, leat_session *session);
// Writes the trace, if one is wanted, and destroys the session (NULL is fine). The exit code:
// `status`, or TOOL_FAILED when the trace cannot be written.
int tool_close(session_options *shared, leat_session *session, int status);

// Whether what print nodes say is shown; true at first.
void tool_show_prints(bool on);

// Shows the session's message, if there is one, and returns the exit code for the status.
int tool_report(const leat_session *session, leat_status status);
// The same of a step, which may have been broken off.
int tool_report_step(const leat_session *session, leat_status status);
int tool_fail(const leat_error *error);
// Brings variables back from a file, with `partial` from one that lacks some; the exit code.
int tool_restore(leat_session *session, const char *path, bool partial);

#endif
