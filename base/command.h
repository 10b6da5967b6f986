// Running other programs (compilers, linkers): a command is a list of words, never a shell's text.
#ifndef LEAT_BASE_COMMAND_H
#define LEAT_BASE_COMMAND_H

#include "base/arena.h"
#include "base/text.h"
#include "leat/status.h"

#include <stdbool.h>

enum { LEAT_COMMAND_WORDS = 128 };

typedef struct leat_command {
  leat_arena *arena;
  char *words[LEAT_COMMAND_WORDS + 1]; // NULL at the end
  int count;
} leat_command;

void leat_command_add(leat_command *command, const char *word);
// The words of `text`, which are divided by any of `separators`, each behind `prefix`. Quotes mean
// nothing.
void leat_command_add_words(leat_command *command, const char *text, const char *separators,
                            const char *prefix);
// For people and shells: what these would divide or replace is quoted.
void leat_command_print(const leat_command *command, leat_text *out);

// Runs it and waits. An exit code that is not 0 is LEAT_FOREIGN with what the program said, as far
// as it fits; LEAT_UNSUPPORTED: there is no such program.
LEAT_MUST_USE leat_status leat_command_run(leat_command *command, leat_error *error);

// The system's C compiler, as words: $CC, else cc.
const char *leat_c_compiler(void);
// Whether the shell would find a program of that name.
bool leat_command_exists(const char *name);
// Words of a command as text for cache keys, with the path, size and time of its program; nothing
// when there is none.
void leat_command_key(const char *words, leat_text *out);

#endif
