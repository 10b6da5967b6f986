// Command lines: tables of options, from which parsing and --help both come.
#ifndef LEAT_TOOLS_OPTIONS_H
#define LEAT_TOOLS_OPTIONS_H

#include "base/vec.h"

#include <stdbool.h>

enum { TOOL_OK = 0, TOOL_FAILED = 1, TOOL_USAGE = 2 }; // exit codes

// For what lives as long as the process: all that a command line becomes.
leat_arena *tool_arena(void);

// The arguments of an option that may come again and again; in tool_arena.
typedef leat_vec(const char *) tool_list;

typedef enum tool_option_kind {
  TOOL_FLAG,    // target: bool
  TOOL_TEXT,    // const char *
  TOOL_NUMBER,  // int, not negative
  TOOL_SECONDS, // double, not negative
  TOOL_LIST,    // tool_list
} tool_option_kind;

typedef struct tool_option {
  const char *name; // --name
  char letter;      // -l; 0: none
  tool_option_kind kind;
  void *target;
  const char *argument; // what --help calls it, see tools/complete.c; NULL for a flag
  const char *help;
} tool_option;

typedef struct tool_options {
  const char *title; // of its part of --help
  const tool_option *items;
  int count;
} tool_options;

typedef struct tool_command {
  const char *name, *usage, *summary; // "run", "FILE [--entry NAME] …", "run an entry once"
  int (*run)(const struct tool_command *command, int argc, char **argv);
} tool_command;

// Parses argv[1 …) into the targets; operands may stand between options. On true *first is the
// first operand's index. On false *status is the exit code: --help was printed, or the mistake.
bool tool_parse(const tool_command *command, const tool_options *groups, int group_count, int argc,
                char **argv, int *first, int *status);

bool tool_parse_seconds(const char *text, double *out); // false: no number, or it is negative

// Prints a mistake of the command line and returns TOOL_USAGE.
int tool_usage_error(const tool_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Runs a command with `form`, --man or --complete, and the words behind it (tools/forms.h).
void tool_ask(const tool_command *command, const char *form, int count, char **words);

extern const tool_option tool_help_option; // which every command has

#define TOOL_COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

extern const tool_command run_command, train_command, build_command, repl_command, fmt_command,
    check_command, inspect_command, convert_command, ops_command, launch_command;

#endif
