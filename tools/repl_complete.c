// Completion: what is being typed says which names can stand there.
#include "base/name.h"
#include "tools/repl.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct completion {
  leat_session *session;
  leat_arena *arena;
  const char *word; // what is typed of it
  const char *suffix;
  repl_words words;
} completion;

static void take(void *context, const char *name) {
  completion *c = context;
  if (strncmp(name, c->word, strlen(c->word)) != 0) return;
  leat_vec_push(c->arena, &c->words, leat_arena_printf(c->arena, "%s%s", name, c->suffix));
}

// A name as a text has it, in backquotes where it has to be; typed with or without these.
static void take_written(completion *c, const char *name, const char *written) {
  bool typed = strncmp(name, c->word, strlen(c->word)) == 0 ||
               strncmp(written, c->word, strlen(c->word)) == 0;
  if (typed)
    leat_vec_push(c->arena, &c->words, leat_arena_printf(c->arena, "%s%s", written, c->suffix));
}

static void take_name(void *context, const char *name) {
  leat_text written = {0};
  if (leat_name_is_keyword(name, strlen(name)))
    leat_text_add_string(&written, name);
  else
    leat_name_print(name, &written);
  take_written(context, name, written.data);
  leat_text_finish(&written);
}

static void take_path(void *context, const char *path) {
  leat_text written = {0};
  leat_path_print(path, &written);
  take_written(context, path, written.data + 1); // the `$` stands there already
  leat_text_finish(&written);
}

static int compare(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_once(repl_words *words) {
  uint32_t kept = 0;
  if (words->count) qsort(words->items, words->count, sizeof *words->items, compare);
  for (uint32_t i = 0; i < words->count; i++)
    if (!kept || strcmp(words->items[kept - 1], words->items[i]) != 0)
      words->items[kept++] = words->items[i];
  words->count = kept;
}

// -- Files -------------------------------------------------------------------------------------

// Hidden ones where a dot is typed; a folder has its slash.
static void take_files(completion *c) {
  const char *slash = strrchr(c->word, '/');
  size_t length = slash ? (size_t)(slash - c->word) + 1 : 0;
  const char *folder = length ? leat_arena_strndup(c->arena, c->word, length) : "";
  DIR *directory = opendir(length ? folder : ".");
  if (!directory) return;
  for (struct dirent *entry; (entry = readdir(directory));) {
    if (entry->d_name[0] == '.' && c->word[length] != '.') continue;
    struct stat status;
    const char *path = leat_arena_printf(c->arena, "%s%s", folder, entry->d_name);
    c->suffix = stat(path, &status) == 0 && S_ISDIR(status.st_mode) ? "/" : "";
    take(c, path);
  }
  closedir(directory);
}

// -- Commands ----------------------------------------------------------------------------------

static void take_entries(completion *c) {
  for (int i = 0; i < leat_session_entry_count(c->session); i++)
    take(c, leat_session_entry(c->session, i));
}

static const repl_command_row *row_of(const char *line) {
  size_t length = strcspn(line + 1, " ");
  for (int i = 0; repl_command_at(i); i++)
    if (strlen(repl_command_at(i)->name) == length &&
        strncmp(line + 1, repl_command_at(i)->name, length) == 0)
      return repl_command_at(i);
  return NULL;
}

// The first argument of a command is of its kind; false: it is as in a text.
static bool take_argument(completion *c, const char *line, size_t begin) {
  const repl_command_row *row = row_of(line);
  size_t first = strcspn(line, " ");
  if (!row) return true;
  if (first + strspn(line + first, " ") != begin) return false;
  switch (row->kind) {
  case REPL_NO_ARGUMENT:
  case REPL_NUMBER: return true;
  case REPL_FILE: take_files(c); return true;
  case REPL_ENTRY: take_entries(c); return true;
  case REPL_STAGE: leat_session_names(c->session, LEAT_STAGES, NULL, take, c); return true;
  case REPL_FETCH:
    leat_session_names(c->session, LEAT_FETCHES, leat_session_entry_run(c->session)->entry, take,
                       c);
    return true;
  case REPL_VARIABLE:
    for (int i = 0; i < leat_session_variable_count(c->session); i++)
      take(c, leat_session_variable(c->session, i));
    return true;
  case REPL_NAME:
  case REPL_EXPRESSION: return false;
  }
  return false;
}

// -- Texts -------------------------------------------------------------------------------------

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_' || (c & 0x80);
}

// Where what is in `quote`s begins that is open at the end, behind the quote; 0: nothing is.
static size_t open_quote(const char *line, size_t at, char quote) {
  size_t open = 0;
  char mark = 0;
  for (size_t i = 0; i < at; i++) {
    bool quotes = line[i] == '"' || line[i] == LEAT_NAME_QUOTE;
    if (mark == '"' && line[i] == '\\') {
      i++;
    } else if (quotes && (!mark || line[i] == mark)) {
      open = i + 1;
      mark = mark ? 0 : line[i];
    }
  }
  return mark == quote ? open : 0;
}

// The name before the innermost bracket that is open at the end, or NULL.
static const char *callee(completion *c, const char *line, size_t at) {
  int closed = 0;
  while (at > 0) {
    char byte = line[--at];
    if (byte == ')' || byte == ']') closed++;
    if ((byte == '(' || byte == '[') && closed-- == 0) break;
    if (at == 0) return NULL;
  }
  size_t end = at;
  while (at > 0 && is_word(line[at - 1])) at--;
  bool call = end > at && line[end] == '(';
  return call ? leat_arena_strndup(c->arena, line + at, end - at) : NULL;
}

static size_t begin_of(const char *line, size_t at, bool *path) {
  size_t word = at, begin = at, quoted = open_quote(line, at, LEAT_NAME_QUOTE);
  if (quoted) {
    *path = quoted > 1 && line[quoted - 2] == '$';
    return quoted - 1;
  }
  while (word > 0 && is_word(line[word - 1])) word--;
  while (begin > 0 && (is_word(line[begin - 1]) || strchr("/.-:", line[begin - 1]))) begin--;
  *path = begin > 0 && line[begin - 1] == '$';
  return *path ? begin : word;
}

static size_t begin_of_argument(const char *line, size_t at) {
  size_t begin = at;
  while (begin > 0 && line[begin - 1] != ' ') begin--;
  return begin;
}

static void set_word(completion *c, const char *line, size_t begin, size_t at) {
  c->word = leat_arena_strndup(c->arena, line + begin, at - begin);
  c->suffix = "";
}

static void take_text(completion *c, const char *line, size_t at, size_t *begin) {
  bool path;
  size_t string = open_quote(line, at, '"');
  *begin = string ? string : begin_of(line, at, &path);
  set_word(c, line, *begin, at);
  if (string) {
    take_files(c);
  } else if (path) {
    leat_session_names(c->session, LEAT_PATHS, NULL, take_path, c);
  } else {
    const char *function = callee(c, line, *begin);
    c->suffix = "=";
    if (function) leat_session_names(c->session, LEAT_PARAMETERS, function, take_name, c);
    c->suffix = "";
    if (*c->word || !function) leat_session_names(c->session, LEAT_NAMES, NULL, take_name, c);
  }
}

repl_words repl_complete(repl *r, const char *line, size_t at, leat_arena *arena, size_t *begin) {
  completion c = {.session = r->session, .arena = arena};
  bool done = false;
  if (line[0] == ':' && !memchr(line, ' ', at)) {
    *begin = 1;
    set_word(&c, line, 1, at);
    for (int i = 0; repl_command_at(i); i++) take(&c, repl_command_at(i)->name);
    done = true;
  } else if (line[0] == ':') {
    *begin = begin_of_argument(line, at);
    set_word(&c, line, *begin, at);
    done = take_argument(&c, line, *begin);
  }
  if (!done) take_text(&c, line, at, begin);
  sort_once(&c.words);
  return c.words;
}
