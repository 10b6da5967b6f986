// The commands of leat repl, a row each; `:help` is printed from the table.
#include "tools/describe.h"
#include "tools/repl.h"
#include "tools/session_options.h"
#include "tools/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int show_graph(repl *r, const char *argument) {
  (void)argument;
  char *text;
  int status = tool_report(r->session, leat_session_print(r->session, &text));
  if (!status) fputs(text, stdout), free(text);
  return status;
}

static int show_variables(repl *r, const char *argument) {
  (void)argument;
  for (int i = 0; i < leat_session_variable_count(r->session); i++) {
    const char *name = leat_session_variable(r->session, i);
    leat_tensor value;
    int status = tool_report(r->session, leat_variable_read(r->session, name, &value));
    if (status) return status;
    tool_print_value(name, &value);
    free(value.data);
  }
  return TOOL_OK;
}

static int quit(repl *r, const char *argument) {
  (void)argument;
  r->ended = true;
  return TOOL_OK;
}

static int help(repl *r, const char *argument);

static const repl_command_row commands[] = {
    {"load", "FILE", "add a file's text", REPL_FILE, false, repl_load},
    {"graph", "", "show the whole graph", REPL_NO_ARGUMENT, false, show_graph},
    {"vars", "", "show the variables and their values", REPL_NO_ARGUMENT, false, show_variables},
    {"help", "[NAME]", "this text; what a function or an op is", REPL_NAME, true, help},
    {"quit", "", "leave", REPL_NO_ARGUMENT, false, quit},
};

const repl_command_row *repl_command_at(int i) {
  return i < TOOL_COUNT(commands) ? &commands[i] : NULL;
}

static int show_commands(void) {
  puts("Type statements and expressions of the language: `x = iota([3])`, then `x + 1`.\n"
       "`_` is what was shown last. An entry is run by a line of its own: `train(lr=0.1)`,\n"
       "`y = predict(x)`.\n");
  for (int i = 0; i < TOOL_COUNT(commands); i++) {
    char usage[64];
    snprintf(usage, sizeof usage, ":%s %s", commands[i].name, commands[i].argument);
    printf("%-20s %s\n", usage, commands[i].help);
  }
  return TOOL_OK;
}

// Of a name: what the texts define, else what Leat has.
static int help(repl *r, const char *name) {
  if (!*name) return show_commands();
  char *text = leat_session_describe(r->session, name);
  if (!text) return tool_describe(name);
  fputs(text, stdout);
  free(text);
  return TOOL_OK;
}

// -- Obeying -----------------------------------------------------------------------------------

static int complain(const char *what, const char *name, const char *rest) {
  fflush(stdout);
  fprintf(stderr, "error: %s `:%s`%s\n", what, name, rest);
  return TOOL_FAILED;
}

static int complain_of_missing(const repl_command_row *row) {
  fflush(stdout);
  fprintf(stderr, "error: `:%s %s` lacks its %s\n", row->name, row->argument, row->argument);
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

int repl_obey(repl *r, const char *line) {
  size_t length = strcspn(line + 1, " \n");
  char *word = strndup(line + 1, length), *argument = strdup(line + 1 + length);
  if (!word || !argument) leat_out_of_memory();
  char *start = argument + strspn(argument, " \n"), *end = start + strlen(start);
  while (end > start && strchr(" \n", end[-1])) *--end = '\0';
  const repl_command_row *row = find(word);
  int status;
  if (!row)
    status = complain("there is no command", word, "; :help lists them");
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
