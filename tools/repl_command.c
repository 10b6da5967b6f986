// leat repl: each line extends the session's graph; effects happen and expressions are shown at
// once. A mistake is shown and leaves all as it was. Without a terminal the lines are a script:
// what each gives is written before the next is read, and the exit status is 1 if one was wrong.
#include "base/show.h"
#include "tools/repl.h"
#include "tools/session_options.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static leat_session *at_work;
static volatile sig_atomic_t gentle, stopped;

// ^C while something compiles or runs ends that.
static void interrupt(int number) {
  if (gentle && !stopped)
    stopped = number;
  else if (at_work)
    leat_session_interrupt(at_work, true);
}

const volatile sig_atomic_t *repl_stop_gently(bool on) {
  gentle = on;
  stopped = 0;
  return &stopped;
}

static void loop(repl *r) {
  leat_text text = {0};
  while (!r->ended && repl_read(r, &text)) {
    leat_session_interrupt(r->session, false);
    bool command = text.data[0] == ':';
    if (!command) repl_set_typed(r, &text);
    int status = command ? repl_obey(r, text.data) : repl_evaluate(r, text.data, text.size);
    if (status && !r->terminal) r->status = TOOL_FAILED;
    fflush(stdout);
  }
  leat_text_finish(&text);
}

static void work_at_terminal(repl *r) {
  struct sigaction ends_work = {.sa_handler = interrupt, .sa_flags = SA_RESTART}, before;
  at_work = r->session;
  setlocale(LC_CTYPE, ""); // what characters are, for editing and for pictures
  sigaction(SIGINT, &ends_work, &before);
  leat_show(stdout, "leat %s; :help helps\n", LEAT_VERSION);
  repl_open_history(r);
  loop(r);
  repl_close_history();
  sigaction(SIGINT, &before, NULL);
  at_work = NULL;
}

static int run(const tool_command *self, int argc, char **argv) {
  session_options o;
  tool_option shared[SESSION_OPTION_COUNT];
  const tool_options session_group = tool_session_options(&o, TALKS, shared);
  const tool_option own[] = {{"overwrite", 0, TOOL_FLAG, &o.options.overwrite, NULL,
                              ":save may replace whatever the file holds"}};
  const tool_options groups[] = {{"Options", own, TOOL_COUNT(own)}, session_group};
  int first, status;
  if (!tool_parse(self, groups, TOOL_COUNT(groups), argc, argv, &first, &status)) return status;
  if (argc - first > 1) return tool_usage_error(self, "one FILE at most is expected");
  o.options.interactive = true;
  leat_session *session = tool_open(&o, first < argc ? argv[first] : NULL, &status);
  if (!session) return tool_close(&o, NULL, status);
  repl r = {
      .session = session, .terminal = isatty(STDIN_FILENO), .step_arena = leat_arena_create()};
  if (r.terminal)
    work_at_terminal(&r);
  else
    loop(&r);
  repl_finish(&r);
  return tool_close(&o, session, r.status);
}

const tool_command repl_command = {"repl", "[FILE]", "type a graph, see its values", run};
