// leat repl, whose parts are
//
//   repl_command.c    the loop: a line is read, evaluated or obeyed, and what it gave is shown
//   repl_lines.c      lines: prompts, history, editing where there is libedit
//   repl_keys.c       the keys that libedit gets: ^C, and arrows within a block
//   repl_interrupt.c  ^C while a text is typed
//   repl_edit.c       :edit, in an editor of the user's
//   repl_evaluate.c   what is typed: texts that extend the graph, entries that run, `_`
//   repl_complete.c   what Tab completes
//   repl_commands.c   the table of `:commands`
//   repl_plot.c       :plot, over picture.h
//   repl_inspect.c    what a step becomes, and what it takes: :time, :dump, :plan, :asm
#ifndef LEAT_TOOLS_REPL_H
#define LEAT_TOOLS_REPL_H

#include "base/text.h"
#include "leat/leat.h"
#include "tools/options.h"

#include <signal.h>

typedef struct repl {
  leat_session *session;
  bool terminal;    // somebody types
  bool timing;      // each step says what it takes
  bool ended;       // by :quit
  int status;       // TOOL_FAILED once a line of a script was wrong
  leat_tensor last; // what was shown last, malloc'ed; data NULL: nothing, or no tensor
  bool last_held;   // the session knows it as `_`
  leat_text typed;  // the last text that is no command
  leat_arena *step_arena;
  leat_step_spec step; // the last one, for those who look at its code: names
  leat_tensor *feeds;  // of its entry, malloc'ed; NULL: none
  int feed_count;
} repl;

// -- repl_lines.c ------------------------------------------------------------------------------

// Reads lines until no bracket is open; false at the end of the input. Where somebody types, ^C
// forgets what was typed.
bool repl_read(repl *r, leat_text *text);
// The history of earlier sessions, where somebody types.
void repl_open_history(repl *r);
void repl_remember(const leat_text *text); // as one entry
void repl_close_history(void);

// -- repl_complete.c ---------------------------------------------------------------------------

typedef leat_vec(char *) repl_words;
// What may stand in line[*begin, at), by what stands before it: a command, its argument, a path, a
// file, a key, a name. The words are in `arena`, sorted.
repl_words repl_complete(repl *r, const char *line, size_t at, leat_arena *arena, size_t *begin);

// -- repl_evaluate.c; each shows its messages and returns an exit status -----------------------

int repl_evaluate(repl *r, const char *text, size_t size);
int repl_load(repl *r, const char *path);
// Makes r->step what an expression would run, or an entry by its name; of "" it stays what it was.
// `feeds`: what an entry that is called is fed is computed; by its name it is called with nothing.
int repl_step_of(repl *r, const char *expression, bool feeds);
// The last value that an expression gives, computed and not shown: malloc'ed, the caller's.
int repl_compute(repl *r, const char *expression, leat_tensor *out);
// NAME [EXPRESSION]: shows one value of the graph, that may be in an entry, a branch or a loop.
int repl_fetch(repl *r, const char *argument);
// Sets `_`.
void repl_set_last(repl *r, const leat_tensor *value);
void repl_finish(repl *r);

// -- repl_edit.c -------------------------------------------------------------------------------

// Evaluates what the user's editor makes of the text that was typed last.
int repl_edit(repl *r, const char *argument);
void repl_set_typed(repl *r, const leat_text *text); // what is edited

// -- repl_plot.c -------------------------------------------------------------------------------

int repl_plot(repl *r, const char *argument);

// -- repl_inspect.c ----------------------------------------------------------------------------

// "[1.2 ms to compile, 130 ns to run]"
void repl_show_times(double compiling, double running);
int repl_time(repl *r, const char *expression);
int repl_dump(repl *r, const char *argument);
int repl_show_plan(repl *r, const char *expression);
int repl_show_code(repl *r, const char *expression);

// -- repl_command.c ----------------------------------------------------------------------------

// While on, a first ^C only sets what is returned; a second one interrupts, as any else does.
const volatile sig_atomic_t *repl_stop_gently(bool on);

// -- repl_commands.c ---------------------------------------------------------------------------

typedef enum repl_argument {
  REPL_NO_ARGUMENT,
  REPL_NUMBER,
  REPL_FILE,
  REPL_NAME,
  REPL_VARIABLE,
  REPL_ENTRY,
  REPL_STAGE,
  REPL_FETCH,
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
