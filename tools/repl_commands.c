// The commands of leat repl, a row each; `:help` is printed from the table.
#include "base/diag.h"
#include "base/npy.h"
#include "base/show.h"
#include "session/session.h"
#include "tools/describe.h"
#include "tools/loop.h"
#include "tools/repl.h"
#include "tools/session_options.h"
#include "tools/values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int show_text(repl *r, leat_status (*give)(leat_session *session, char **out)) {
  char *text;
  int status = tool_report(r->session, give(r->session, &text));
  if (!status) leat_show(stdout, "%s", text), free(text);
  return status;
}

static int show_graph(repl *r, const char *argument) {
  (void)argument;
  return show_text(r, leat_session_print);
}

// What the texts bind, not the library's.
static int show_names(repl *r, const char *argument) {
  (void)argument;
  return show_text(r, leat_session_show_names);
}

// EXPRESSION FILE.npy
static int write_value(repl *r, const char *argument) {
  const char *space = strrchr(argument, ' '), *path = space ? space + 1 : argument;
  size_t length = strlen(path);
  if (!space || length < 5 || strcmp(path + length - 4, ".npy") != 0) {
    leat_show(stderr, "%s",
              "error: `:write EXPRESSION FILE.npy` says what is written, and where to\n");
    return TOOL_FAILED;
  }
  const char *expression = leat_arena_strndup(tool_arena(), argument, (size_t)(space - argument));
  leat_tensor value = {0};
  leat_error error = {0};
  int status = repl_compute(r, expression, &value);
  if (!status && leat_npy_write(path, &value, &error)) status = tool_fail(&error);
  free(value.data);
  return status;
}

enum { FEW_ELEMENTS = 8 };

// Slots of optimisers are of interest to few: `:vars all` shows them too. Large values are shown
// whole when they are named.
static int show_variables(repl *r, const char *argument) {
  bool all = strcmp(argument, "all") == 0, found = false;
  int hidden = 0;
  for (int i = 0; i < leat_session_variable_count(r->session); i++) {
    const char *name = leat_session_variable(r->session, i);
    bool slot = leat_session_slot_of(r->session, i) != NULL;
    bool named = *argument && !all;
    if (named ? strncmp(name, argument, strlen(argument)) != 0 : slot && !all) {
      hidden += slot && !named;
      continue;
    }
    found = true;
    leat_tensor value;
    int status = tool_report(r->session, leat_variable_read(r->session, name, &value));
    if (status) return status;
    bool few = leat_shape_elements(value.rank, value.shape) <= FEW_ELEMENTS;
    (few || named ? tool_print_value : tool_print_summary)(name, &value);
    free(value.data);
  }
  if (*argument && !all && !found) {
    fflush(stdout);
    leat_show(stderr, "error: no variable is called `%s`, or stands below it\n", argument);
    return TOOL_FAILED;
  }
  if (hidden)
    leat_show(stdout, "and %d slot%s of optimisers (:vars all)\n", hidden, hidden > 1 ? "s" : "");
  return TOOL_OK;
}

static int save(repl *r, const char *path) {
  return tool_report(r->session, leat_session_save(r->session, path));
}

static int restore(repl *r, const char *path) {
  static const char option[] = "--partial ";
  size_t length = sizeof option - 1;
  bool partial = strncmp(path, option, length) == 0;
  return tool_restore(r->session, partial ? path + length + strspn(path + length, " ") : path,
                      partial);
}

// -- :run --------------------------------------------------------------------------------------

enum { LOG_LINES = 10, MOST_STEPS = 1000000000 };

// ENTRY [N] [NAME=VALUE | @FILE.npz]…; false: not so, which is shown.
static bool read_run(char *words, prepared *out, int *steps) {
  char *state, *word = strtok_r(words, " ", &state), *end;
  leat_vec_push(tool_arena(), &out->entries, leat_arena_strndup(tool_arena(), word, strlen(word)));
  while ((word = strtok_r(NULL, " ", &state))) {
    long number = strtol(word, &end, 10);
    if (strchr(word, '=') || *word == '@') {
      const char *feed = leat_arena_strndup(tool_arena(), word, strlen(word));
      leat_vec_push(tool_arena(), &out->feeds, feed);
    } else if (!*end && number > 0 && number <= MOST_STEPS) {
      *steps = (int)number;
    } else {
      leat_show(stderr, "error: `%s` is neither a number of steps nor NAME=VALUE\n", word);
      return false;
    }
  }
  return true;
}

static bool trains(const repl *r, const char *entry) {
  for (int i = 0; i < leat_session_entry_count(r->session); i++)
    if (strcmp(leat_session_entry(r->session, i), entry) == 0)
      return leat_session_entry_trains(r->session, i);
  return false;
}

static int run_prepared(repl *r, const prepared *p, int steps) {
  int64_t done = 0;
  bool training = trains(r, p->entries.items[0]);
  int status = training ? tool_read_global_step(r->session, &done) : TOOL_OK;
  tool_loop loop = {.step = p,
                    .first = done,
                    .last = done + steps,
                    .log_every = steps > LOG_LINES ? steps / LOG_LINES : 1,
                    .stopped = repl_stop_gently(true)};
  if (!status) status = tool_run_loop(&loop, r->session);
  repl_stop_gently(false);
  for (int i = 0; !status && i < leat_step_fetch_count(p->step); i++) {
    if (!training) tool_print_value(leat_step_fetch(p->step, i)->name, &p->fetch_values[i]);
    repl_set_last(r, &p->fetch_values[i]);
  }
  return status;
}

// ^C stops it behind a step.
static int run_many(repl *r, const char *argument) {
  prepared p = {0};
  int steps = 1;
  char *words = strdup(argument);
  if (!words) leat_out_of_memory();
  int status = read_run(words, &p, &steps) ? tool_prepare(&p, r->session) : TOOL_FAILED;
  if (p.step && !status) status = run_prepared(r, &p, steps);
  tool_prepared_finish(&p);
  free(words);
  return status;
}

// As --deadline, for what runs from here on.
static int set_deadline(repl *r, const char *argument) {
  double seconds;
  if (tool_parse_seconds(argument, &seconds))
    return tool_report(r->session, leat_session_set_deadline(r->session, seconds));
  fflush(stdout);
  leat_show(stderr, "error: `%s` is no number of seconds\n", argument);
  return TOOL_FAILED;
}

// -- The table ---------------------------------------------------------------------------------

static int quit(repl *r, const char *argument) {
  (void)argument;
  r->ended = true;
  return TOOL_OK;
}

static int help(repl *r, const char *argument);

static const repl_command_row commands[] = {
    {"load", "FILE", "add a file's text", REPL_FILE, false, repl_load},
    {"run", "ENTRY [N] [NAME=VALUE]…", "run an entry N times", REPL_ENTRY, false, run_many},
    {"fetch", "NAME [EXPRESSION]",
     "a value of an entry, a branch or a loop; of each turn: NAME:all", REPL_FETCH, false,
     repl_fetch},
    {"plot", "[EXPRESSION] [FILE.png]", "a vector as a line, a matrix as colours, images",
     REPL_EXPRESSION, true, repl_plot},
    {"names", "", "what the texts bind: values with their types, functions, entries",
     REPL_NO_ARGUMENT, false, show_names},
    {"write", "EXPRESSION FILE.npy", "its value, as NumPy's files are", REPL_EXPRESSION, false,
     write_value},
    {"edit", "", "the last text, in the editor of $VISUAL or $EDITOR", REPL_NO_ARGUMENT, false,
     repl_edit},
    {"vars", "[all | NAME]", "show variables; those of NAME…; all: slots too", REPL_VARIABLE, true,
     show_variables},
    {"save", "FILE", "write the variables to a .safetensors", REPL_FILE, false, save},
    {"restore", "[--partial] FILE", "read them from there", REPL_FILE, false, restore},
    {"time", "[EXPRESSION]", "what a step takes; alone: say it of every line", REPL_EXPRESSION,
     true, repl_time},
    {"deadline", "SECONDS", "steps that take longer end, and are undone; 0: none", REPL_NUMBER,
     false, set_deadline},
    {"graph", "", "show the whole graph", REPL_NO_ARGUMENT, false, show_graph},
    {"dump", "STAGE [EXPRESSION]", "what a step is after a stage: cse, fuse, lower, code …",
     REPL_STAGE, false, repl_dump},
    {"plan", "[EXPRESSION]", "its kernels in order, its buffers and memory", REPL_EXPRESSION, true,
     repl_show_plan},
    {"asm", "[EXPRESSION]", "its kernels' machine code, or what target c compiles", REPL_EXPRESSION,
     true, repl_show_code},
    {"help", "[NAME]", "this text; what a function or an op is", REPL_NAME, true, help},
    {"quit", "", "leave", REPL_NO_ARGUMENT, false, quit},
};

const repl_command_row *repl_command_at(int i) {
  return i < TOOL_COUNT(commands) ? &commands[i] : NULL;
}

enum { USAGE_COLUMN = 30 };

static int show_commands(void) {
  leat_show(
      stdout, "%s\n",
      "Type statements and expressions of the language: `x = iota([3])`, then `x + 1`.\n"
      "`_` is what was shown last. An entry is run by a line of its own: `train(lr=0.1)`,\n"
      "`y = predict(x)`. EXPRESSION may be an entry's name or call; without it the last step is\n"
      "meant. A command may be shortened.\n");
  for (int i = 0; i < TOOL_COUNT(commands); i++) {
    char usage[64];
    snprintf(usage, sizeof usage, ":%s %s", commands[i].name, commands[i].argument);
    int bytes_of_dots = strstr(usage, "…") ? 2 : 0; // one column of three bytes
    leat_show(stdout, "%-*s %s\n", USAGE_COLUMN + bytes_of_dots, usage, commands[i].help);
  }
  return TOOL_OK;
}

// Of a name: what the texts define, else what Leat has.
static int help(repl *r, const char *name) {
  if (!*name) return show_commands();
  char *text = leat_session_describe(r->session, name);
  if (!text) return tool_describe(name);
  leat_show(stdout, "%s", text);
  free(text);
  return TOOL_OK;
}

// -- Obeying -----------------------------------------------------------------------------------

static int complain(const char *what, const char *name, const char *rest) {
  fflush(stdout);
  leat_show(stderr, "error: %s `:%s`%s\n", what, name, rest);
  return TOOL_FAILED;
}

// Of "[--partial] FILE" it is FILE, of "STAGE [EXPRESSION]" STAGE.
static int complain_of_missing(const repl_command_row *row) {
  const char *missing = row->argument;
  if (*missing == '[') missing += strcspn(missing, " ") + 1;
  fflush(stdout);
  leat_show(stderr, "error: `:%s %s` lacks its %.*s\n", row->name, row->argument,
            (int)strcspn(missing, " "), missing);
  return TOOL_FAILED;
}

// A command, or a beginning that only one has.
static const repl_command_row *find(const char *word) {
  const repl_command_row *found = NULL;
  int count = 0;
  for (int i = 0; i < TOOL_COUNT(commands); i++) {
    if (strcmp(commands[i].name, word) == 0) return &commands[i];
    if (*word && strncmp(commands[i].name, word, strlen(word)) == 0) found = &commands[i], count++;
  }
  return count == 1 ? found : NULL;
}

static const char *near_command(const char *word) {
  const char *names[TOOL_COUNT(commands)];
  for (int i = 0; i < TOOL_COUNT(commands); i++) names[i] = commands[i].name;
  const char *near = leat_nearest(word, names, TOOL_COUNT(commands));
  return near ? leat_arena_printf(tool_arena(), "; did you mean `:%s`?", near)
              : "; :help lists them";
}

int repl_obey(repl *r, const char *line) {
  size_t length = strcspn(line + 1, " \n");
  char *word = strndup(line + 1, length), *argument = strdup(line + 1 + length);
  if (!word || !argument) leat_out_of_memory();
  char *start = argument + strspn(argument, " \n"), *end = start + strlen(start);
  while (end > start && strchr(" \n", end[-1])) *--end = '\0';
  const repl_command_row *row = find(word);
  int status;
  if (!row)
    status = complain("there is no command", word, near_command(word));
  else if (row->kind == REPL_NO_ARGUMENT && *start)
    status = complain("nothing stands behind", row->name, "");
  else if (row->kind != REPL_NO_ARGUMENT && !row->optional && !*start)
    status = complain_of_missing(row);
  else
    status = row->run(r, start);
  free(word);
  free(argument);
  return status;
}
