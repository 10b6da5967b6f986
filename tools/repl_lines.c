// Lines that are typed, or come through a pipe. With libedit they are edited; what belongs together
// (a block with its brackets) is one entry of the history, which is kept between sessions in
// $XDG_STATE_HOME/leat/history, else ~/.local/state/leat/history.
#define _GNU_SOURCE
#include "base/environment.h"
#include "frontend/syntax/parser.h"
#include "tools/repl.h"
#include "tools/repl_interrupt.h"
#include "tools/repl_keys.h"

#ifdef LEAT_HAVE_LIBEDIT
#include <editline/readline.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *read_plain_line(void) {
  char *line = NULL;
  size_t capacity = 0;
  ssize_t length = getline(&line, &capacity, stdin);
  if (length < 0) {
    free(line);
    return NULL;
  }
  line[strcspn(line, "\n")] = '\0';
  return line;
}

#ifdef LEAT_HAVE_LIBEDIT

static repl *completed; // whose names complete a word

static char *read_typed_line(const char *prompt) {
  return repl_edit_line(prompt);
}

// -- Completion --------------------------------------------------------------------------------

// What libedit takes for the word begins at `start`, which may be before ours, or, in a name with
// spaces, behind it.
static char **complete(const char *text, int start, int end) {
  leat_arena *arena = leat_arena_create();
  size_t begin = 0;
  repl_words words = repl_complete(completed, rl_line_buffer, (size_t)end, arena, &begin);
  int before = (int)begin > start ? (int)begin - start : 0;
  size_t there = start > (int)begin ? (size_t)start - begin : 0;
  rl_attempted_completion_over = 1;
  char **matches = NULL;
  if (words.count) {
    matches = calloc((size_t)words.count + 2, sizeof *matches);
    if (!matches) leat_out_of_memory();
    size_t common = strlen(words.items[0]);
    for (uint32_t i = 0; i < words.count; i++) {
      size_t same = 0;
      while (same < common && words.items[i][same] == words.items[0][same]) same++;
      common = same;
      matches[i + 1] = strdup(words.items[i] + (there < same ? there : same));
    }
    if (there > common) there = common;
    if (asprintf(&matches[0], "%.*s%.*s", before, text, (int)(common - there),
                 words.items[0] + there) < 0)
      leat_out_of_memory();
  }
  leat_arena_destroy(arena);
  return matches;
}

// -- History -----------------------------------------------------------------------------------

enum { MOST_ENTRIES = 1000 };
static char history_file[4096]; // "": none is kept

static void make_folders(char *path) {
  for (char *slash = path + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
    *slash = '\0';
    mkdir(path, 0700);
  }
}

static void find_history_file(void) {
  const char *state = leat_environment("XDG_STATE_HOME"), *home = leat_environment("HOME"),
             *end = "/leat/history";
  if (!state) state = home, end = "/.local/state/leat/history";
  if (!state) return;
  struct stat info;
  if (snprintf(history_file, sizeof history_file, "%s%s", state, end) >= (int)sizeof history_file)
    *history_file = '\0';
  else if (stat(history_file, &info))
    make_folders(history_file);
  else if (!S_ISREG(info.st_mode)) // a named pipe, say, which nobody feeds
    *history_file = '\0';
}

// A block is one entry, which is recalled whole.
void repl_remember(const leat_text *text) {
  char *entry = strndup(text->data, text->size - 1); // without the last newline
  if (!entry) leat_out_of_memory();
  add_history(entry);
  free(entry);
}

void repl_open_history(repl *r) {
  completed = r;
  repl_open_keys();
  using_history();
  stifle_history(MOST_ENTRIES);
  find_history_file();
  if (*history_file) read_history(history_file);
  rl_attempted_completion_function = complete;
  rl_completer_word_break_characters = (char *)" \t\n\"()[]{},=+*@%<>|&!;$";
  rl_completion_append_character = '\0';
}

void repl_close_history(void) {
  if (*history_file) write_history(history_file);
}
#else
static char *read_typed_line(const char *prompt) {
  fputs(prompt, stdout);
  fflush(stdout);
  leat_text text = {0};
  int byte;
  while ((byte = repl_interrupt_read(-1)) >= 0 && byte != '\n') leat_text_add(&text, "%c", byte);
  if (repl_interrupted()) putchar('\n');
  char *line = byte < 0 && !text.size ? NULL : strndup(text.size ? text.data : "", text.size);
  leat_text_finish(&text);
  return line;
}

void repl_remember(const leat_text *text) {
  (void)text;
}

void repl_open_history(repl *r) {
  (void)r;
}

void repl_close_history(void) {}
#endif

// The lines of a text, until no bracket is open; false at the end of the input.
static bool read_text(repl *r, leat_text *text) {
  do {
    const char *prompt = text->size ? "... " : ">>> ";
    char *line = r->terminal ? read_typed_line(prompt) : read_plain_line();
    if (line && !repl_interrupted()) leat_text_add(text, "%s\n", line);
    free(line);
    if (repl_interrupted()) return true;
    if (!line) return text->size > 0;
  } while (leat_parse_is_incomplete(text->data, text->size));
  return true;
}

// At ^C what was typed of the text is forgotten, and the program with all its variables goes on.
bool repl_read(repl *r, leat_text *text) {
  bool more;
  do {
    text->size = 0;
    if (r->terminal) repl_interrupt_begin();
    more = read_text(r, text);
    if (r->terminal) repl_interrupt_end();
  } while (repl_interrupted());
  if (more && r->terminal) repl_remember(text);
  return more;
}
