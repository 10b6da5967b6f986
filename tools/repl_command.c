// leat repl: each line extends the session's graph; effects happen and expressions are shown at
// once. A line goes on while brackets are open. A mistake is shown and leaves all as it was.
#include "frontend/parser.h"
#include "tools/describe.h"
#include "tools/session_options.h"
#include "tools/values.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef LEAT_HAVE_LIBEDIT
#include <editline/readline.h>
#endif

// -- Lines -------------------------------------------------------------------------------------

static volatile sig_atomic_t interrupted;

static void interrupt(int number) {
  (void)number;
  interrupted = 1;
}

// A line without its newline, malloc'ed; NULL at the end, and at ^C. Without a terminal nothing is
// prompted.
static char *read_any_line(const char *prompt) {
#ifdef LEAT_HAVE_LIBEDIT
  if (isatty(STDIN_FILENO)) {
    char *edited = readline(prompt);
    if (edited && *edited) add_history(edited);
    return edited;
  }
#endif
  char *line = NULL;
  size_t capacity = 0;
  if (isatty(STDIN_FILENO)) fputs(prompt, stdout), fflush(stdout);
  ssize_t length = getline(&line, &capacity, stdin);
  if (length < 0) {
    free(line);
    return NULL;
  }
  line[strcspn(line, "\n")] = '\0';
  return line;
}

// ^C at a terminal ends the line, not the program with all its variables; while something runs it
// ends that.
static char *read_line(const char *prompt) {
  struct sigaction ends_line = {.sa_handler = interrupt}, before;
  interrupted = 0;
  if (!isatty(STDIN_FILENO)) return read_any_line(prompt);
  sigaction(SIGINT, &ends_line, &before);
  char *line = read_any_line(prompt);
  sigaction(SIGINT, &before, NULL);
  return line;
}

// Lines until no bracket is open; in `text`. False at the end of the input.
static bool read_statement(leat_text *text) {
  text->size = 0;
  do {
    char *line = read_line(text->size ? "... " : ">>> ");
    if (!line && !interrupted) return text->size > 0;
    if (line)
      leat_text_add(text, "%s\n", line);
    else // ^C: what was typed is forgotten
      putchar('\n'), clearerr(stdin), text->size = 0;
    free(line);
  } while (!text->size || leat_parse_is_incomplete(text->data, text->size));
  return true;
}

// -- Evaluation --------------------------------------------------------------------------------

static int execute(leat_session *session, const leat_step_spec *spec) {
  leat_step *step = NULL;
  int status = tool_report(session, leat_session_prepare(session, spec, &step));
  if (status || !step) return status;
  leat_tensor *values = calloc((size_t)spec->fetch_count + 1, sizeof *values);
  if (!values) abort();
  status = tool_report(session, leat_step_run(step, NULL, values));
  for (int i = 0; !status && i < spec->fetch_count; i++) tool_print_value(NULL, &values[i]);
  free(values);
  leat_step_destroy(step);
  return status;
}

// Runs what the last text did at top level, and shows what it asked for.
static int execute_last(leat_session *session) {
  fputs(leat_session_shown_text(session), stdout);
  leat_step_spec spec = {.fetch_count = leat_session_shown_count(session),
                         .run_count = leat_session_effect_count(session)};
  if (!spec.fetch_count && !spec.run_count) return TOOL_OK;
  size_t count = (size_t)(spec.fetch_count + spec.run_count);
  const char **names = calloc(count, sizeof *names);
  if (!names) abort();
  for (int i = 0; i < spec.fetch_count; i++) names[i] = leat_session_shown(session, i);
  for (int i = 0; i < spec.run_count; i++)
    names[spec.fetch_count + i] = leat_session_effect(session, i);
  spec.fetches = names;
  spec.runs = names + spec.fetch_count;
  int status = execute(session, &spec);
  free(names);
  return status;
}

static int evaluate(leat_session *session, const leat_text *text) {
  int status = tool_report(session, leat_session_extend(session, text->data, text->size, "repl"));
  return status ? status : execute_last(session);
}

// -- Commands ----------------------------------------------------------------------------------

static int show_graph(leat_session *session) {
  char *text;
  int status = tool_report(session, leat_session_print(session, &text));
  if (!status) fputs(text, stdout), free(text);
  return status;
}

static int show_variables(leat_session *session) {
  for (int i = 0; i < leat_session_variable_count(session); i++) {
    const char *name = leat_session_variable(session, i);
    leat_tensor value;
    int status = tool_report(session, leat_variable_read(session, name, &value));
    if (status) return status;
    tool_print_value(name, &value);
    free(value.data);
  }
  return TOOL_OK;
}

static int load_file(leat_session *session, const char *path) {
  int status = tool_report(session, leat_session_extend_file(session, path));
  return status ? status : execute_last(session);
}

// Of a name: what the texts define, else what Leat has.
static int show_help_of(leat_session *session, const char *name) {
  char *text = leat_session_describe(session, name);
  if (!text) return tool_describe(name);
  fputs(text, stdout);
  free(text);
  return TOOL_OK;
}

static int show_help(void) {
  puts("Type statements and expressions of the language: `x = iota([3])`, then `x + 1`.\n"
       ":load FILE   add a file's text\n"
       ":graph       show the whole graph\n"
       ":vars        show the variables and their values\n"
       ":help        this text; :help NAME describes a function or an op\n"
       ":quit        leave");
  return TOOL_OK;
}

// False: leave.
static bool command(leat_session *session, char *line) {
  char *word = line + 1, *argument = word + strcspn(word, " \n");
  if (*argument) *argument++ = '\0';
  argument += strspn(argument, " ");
  argument[strcspn(argument, "\n")] = '\0';
  if (strcmp(word, "quit") == 0 || strcmp(word, "q") == 0) return false;
  if (strcmp(word, "help") == 0)
    *argument ? show_help_of(session, argument) : show_help();
  else if (strcmp(word, "graph") == 0)
    show_graph(session);
  else if (strcmp(word, "vars") == 0)
    show_variables(session);
  else if (strcmp(word, "load") == 0 && *argument)
    load_file(session, argument);
  else if (strcmp(word, "load") == 0)
    fprintf(stderr, "error: `:load FILE` wants the name of a file\n");
  else
    fprintf(stderr, "error: there is no command `:%s`; :help lists them\n", word);
  return true;
}

static void loop(leat_session *session) {
  leat_text text = {0};
  while (read_statement(&text)) {
    if (text.data[0] == ':') {
      if (!command(session, text.data)) break;
    } else {
      evaluate(session, &text);
    }
  }
  leat_text_finish(&text);
}

static int run(const tool_command *self, int argc, char **argv) {
  session_options o;
  tool_option shared[SESSION_OPTION_COUNT];
  const tool_options groups[] = {tool_session_options(&o, shared)};
  int first, status;
  if (!tool_parse(self, groups, TOOL_COUNT(groups), argc, argv, &first, &status)) return status;
  if (argc - first > 1) return tool_usage_error(self, "one FILE at most is expected");
  o.options.interactive = true;
  leat_session *session = tool_open(&o, first < argc ? argv[first] : NULL, &status);
  if (!session) return tool_close(&o, NULL, status);
  if (isatty(STDIN_FILENO)) printf("leat %s; :help helps\n", LEAT_VERSION);
  loop(session);
  return tool_close(&o, session, TOOL_OK);
}

const tool_command repl_command = {"repl", "[FILE]", "type a graph, see its values", run};
