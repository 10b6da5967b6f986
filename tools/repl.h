// leat repl, whose parts are
//
//   repl_command.c   the loop: a line is read, evaluated or obeyed, and what it gave is shown
//   repl_lines.c     lines: prompts, history, editing where there is libedit
//   repl_evaluate.c  what is typed: texts that extend the graph, entries that run, `_`
//   repl_commands.c  the table of `:commands`
#ifndef LEAT_TOOLS_REPL_H
#define LEAT_TOOLS_REPL_H

#include "base/text.h"
#include "leat/leat.h"
#include "tools/options.h"

typedef struct repl {
  leat_session *session;
  bool terminal;    // somebody types
  bool timing;      // each step says what it took
  bool ended;       // by :quit
  int status;       // TOOL_FAILED once a line of a script was wrong
  leat_tensor last; // what was shown last, malloc'ed; data NULL: nothing, or no tensor
  bool last_held;   // the session knows it as `_`
  leat_arena *step_arena;
  leat_step_spec step; // the last one that ran, for those who look at its code
} repl;

// -- repl_lines.c ------------------------------------------------------------------------------

// Reads lines until no bracket is open; false at the end of the input. Where somebody types, ^C
// forgets what was typed.
bool repl_read(repl *r, leat_text *text);
// The history of earlier sessions, where somebody types.
void repl_open_history(repl *r);
void repl_close_history(void);

// -- repl_evaluate.c; each shows its messages and returns an exit status -----------------------

int repl_evaluate(repl *r, const char *text, size_t size);
int repl_load(repl *r, const char *path);
// What an expression gives, computed but not shown: malloc'ed, the caller's.
int repl_compute(repl *r, const char *expression, leat_tensor *out);
void repl_finish(repl *r);

// -- repl_commands.c ---------------------------------------------------------------------------

typedef enum repl_argument {
  REPL_NO_ARGUMENT,
  REPL_FILE,
  REPL_NAME,
  REPL_ENTRY,
  REPL_STAGE,
  REPL_EXPRESSION,
} repl_argument;

typedef struct repl_command_row {
  const char *name, *argument, *help; // "load", "FILE", "add a file's text"
  repl_argument kind;                 // how its argument is completed
  bool optional;                      // the argument may be missing
  int (*run)(repl *r, const char *argument);
} repl_command_row;

const repl_command_row *repl_command_at(int i); // NULL past the last
// Obeys a line that begins with `:`.
int repl_obey(repl *r, const char *line);

#endif
