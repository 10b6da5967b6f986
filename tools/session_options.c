// One table for the options that make a session. A command takes, and lists, those that mean
// something to what it does; any other is a mistake.
#include "tools/session_options.h"

#include "base/file.h"
#include "base/show.h"
#include "runtime/stopping.h"
#include "session/session.h"
#include "tools/launched.h"
#include "tools/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

tool_options tool_session_options(session_options *shared, session_use use,
                                  tool_option items[SESSION_OPTION_COUNT]) {
  *shared = (session_options){0};
  leat_session_options *o = &shared->options;
  enum { ANY = CHECKS | BUILDS | RUNS | TALKS };
  const struct {
    tool_option option;
    unsigned uses; // that it means something to
  } table[] = {
      {{"set", 0, TOOL_LIST, &shared->settings, "NAME=VALUE", "a graph parameter's value"}, ANY},
      {{"path", 0, TOOL_TEXT, &o->path, "DIRS", "where `use` looks too, then in $LEAT_PATH"}, ANY},
      {{"target", 0, TOOL_TEXT, &o->target, "cpu|c|ref", "what runs it (default: cpu)"}, ANY},
      {{"threads", 't', TOOL_NUMBER, &o->threads, "N", "threads to compute with (default: cores)"},
       RUNS | TALKS},
      {{"devices", 0, TOOL_NUMBER, &o->devices, "N", "virtual CPU devices (default: 1)"},
       CHECKS | RUNS | TALKS},
      {{"cluster", 0, TOOL_TEXT, &o->cluster, "JOBS", "tasks of each job: ps=1,worker=2"},
       CHECKS | RUNS | TALKS},
      {{"cpu", 0, TOOL_TEXT, &o->cpu, "host|x86-64|x86-64-v2|x86-64-v3|x86-64-v4",
        "instruction set (default: host)"},
       CHECKS | RUNS | TALKS},
      {{"blis", 0, TOOL_FLAG, &o->blis, NULL, "BLIS carries plain dense matmuls"}, ANY},
      {{"denormals", 0, TOOL_TEXT, &o->denormals, "zero|keep",
        "subnormal numbers where something is computed of them (default: zero)"},
       ANY},
      {{"numerics", 0, TOOL_TEXT, &o->numerics, "fast|strict",
        "whether sums may be made in another order, or by another method (default: fast)"},
       ANY},
      {{"symbolic", 0, TOOL_FLAG, &o->symbolic, NULL, "do not specialise to the dims' values"},
       RUNS | TALKS},
      {{"cache", 0, TOOL_TEXT, &o->cache, "DIR", "where compiled code is kept; off: nowhere"},
       BUILDS | RUNS | TALKS},
      {{"memory-limit", 0, TOOL_NUMBER, &o->memory_limit, "MIB",
        "most memory for a step's values, by device: what is read late is rather made again"},
       ANY},
      {{"dump-after", 0, TOOL_TEXT, &o->dump_after, "STAGES", "show the result of these, or all"},
       ANY},
      {{"stop-after", 0, TOOL_TEXT, &o->stop_after, "STAGE", "go no further than this stage"}, ANY},
      {{"time-passes", 0, TOOL_FLAG, &o->time_passes, NULL, "say what each stage took"}, ANY},
      {{"trace", 0, TOOL_TEXT, &shared->trace, "FILE", "write what ran when (Chrome trace JSON)"},
       RUNS | TALKS},
      {{"traffic", 0, TOOL_FLAG, &shared->traffic, NULL, "say what each process sent to others"},
       RUNS},
      {{"deadline", 0, TOOL_SECONDS, &o->deadline, "SECONDS",
        "most for a step, else it is undone; in a cluster without progress (default there: 60)"},
       CHECKS | RUNS | TALKS},
  };
  _Static_assert(TOOL_COUNT(table) <= SESSION_OPTION_COUNT, "room for the table");
  int count = 0;
  for (int i = 0; i < TOOL_COUNT(table); i++)
    if (table[i].uses & use) items[count++] = table[i].option;
  return (tool_options){"Compiling and running", items, count};
}

int tool_report(const leat_session *session, leat_status status) {
  const char *message = session ? leat_session_message(session) : "error: out of memory\n";
  fflush(stdout);
  leat_show(stderr, "%s", message);
  return status ? TOOL_FAILED : TOOL_OK;
}

int tool_fail(const leat_error *error) {
  fflush(stdout);
  leat_show(stderr, "error: %s\n", error->message);
  return TOOL_FAILED;
}

static void show(void *context, const char *text) {
  (void)context;
  leat_show(stdout, "%s", text);
}

static bool prints_are_hidden;

void tool_show_prints(bool on) {
  prints_are_hidden = !on;
}

static void show_line(void *context, const char *text) {
  (void)context;
  if (!prints_are_hidden) leat_show(stdout, "%s\n", text);
}

// False: --set without `=`.
static bool read_settings(session_options *shared) {
  uint32_t count = shared->settings.count;
  leat_setting *settings = leat_new_array(tool_arena(), leat_setting, count);
  shared->options.settings = settings;
  shared->options.setting_count = (int)count;
  for (uint32_t i = 0; i < count; i++) {
    char *name;
    if (!tool_split(shared->settings.items[i], &name, &settings[i].value)) {
      leat_show(stderr, "error: --set %s: expected NAME=VALUE\n", shared->settings.items[i]);
      return false;
    }
    settings[i].name = name;
  }
  return true;
}

// Several processes that know nothing of each other would all do the same, and write the same
// files. Rank 0 says so; the others give it time to, as mpiexec ends all when one fails.
static bool is_one_process(const leat_session_options *o) {
  int size = launched_size();
  if (o->cluster || size == 1) return true;
  if (launched_rank() == 0)
    leat_show(
        stderr,
        "error: %d processes were started, and none would know of the others: --cluster says what "
        "each is (for example --cluster ps=1,worker=%d); or start one\n",
        size, size - 1);
  else
    nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
  return false;
}

int tool_report_step(const leat_session *session, leat_status status) {
  leat_error error = {0};
  const char *broken = leat_stop_broke_off();
  if (!broken) return tool_report(session, status);
  leat_fail(&error, status, "%s", broken);
  return tool_fail(&error);
}

// `timeout` sends a signal to its child and then to its group, mpiexec to what it has started.
void tool_stop_at_signals(const session_options *shared, leat_session *session) {
  const leat_session_options *o = &shared->options;
  leat_stop_at_signals(&(leat_stopping){.runtime = session->runtime,
                                        .saves = shared->save,
                                        .same_seconds = o->cluster ? 0.5 : 0.1,
                                        .works_for_another = !leat_session_is_client(session)});
}

leat_session *tool_open(session_options *shared, const char *path, int *status) {
  leat_session_options *o = &shared->options;
  o->log = show;
  o->print = show_line;
  o->trace = shared->trace != NULL;
  leat_session *session = NULL;
  leat_error error = {0};
  *status = TOOL_FAILED;
  if (!is_one_process(o) || !read_settings(shared)) {
    *status = TOOL_USAGE;
    return NULL;
  }
  leat_status created = leat_session_create(o, &session);
  *status = tool_report(session, created);
  bool serves = !*status && !leat_session_is_client(session);
  if (serves) tool_stop_at_signals(shared, session);
  if (serves)
    *status = tool_report(session, leat_session_serve(session));
  else if (!*status && leat_file_check_writable(shared->trace, &error))
    *status = tool_fail(&error);
  else if (!*status && path)
    *status = tool_report(session, leat_session_extend_file(session, path));
  if (!*status && !serves) return session;
  leat_session_destroy(session);
  return NULL;
}

static int write_trace(leat_session *session, const char *path) {
  char *json;
  leat_error error = {0};
  leat_status status = leat_session_trace(session, &json);
  if (status) return tool_report(session, status);
  status = leat_file_write(path, &(leat_bytes){json, strlen(json)}, 1, LEAT_FILE_ATOMIC, &error);
  free(json);
  return status ? tool_fail(&error) : TOOL_OK;
}

int tool_restore(leat_session *session, const char *path, bool partial) {
  return tool_report(session, partial ? leat_session_restore_partial(session, path)
                                      : leat_session_restore(session, path));
}

int tool_show_traffic(const session_options *shared, leat_session *session) {
  char *text;
  if (!shared->traffic) return TOOL_OK;
  leat_status status = leat_session_traffic(session, &text);
  if (status) return tool_report(session, status);
  leat_show(stdout, "%s", text);
  free(text);
  return TOOL_OK;
}

int tool_close(session_options *shared, leat_session *session, int status) {
  if (session && shared->trace && write_trace(session, shared->trace)) status = TOOL_FAILED;
  leat_session_destroy(session);
  return status;
}
