// leat run: runs entries, or whatever is fetched, and shows or writes the results.
#include "base/npy.h"
#include "runtime/stopping.h"
#include "tools/saving.h"
#include "tools/values.h"

#include <string.h>

typedef struct run_options {
  session_options session;
  prepared step;
  tool_list outputs; // NAME=@FILE
  tool_saving saving;
  int steps;
} run_options;

// What NAME=@FILE says; false: it is none.
static bool split_output(const char *text, char **out_name, const char **out_path) {
  bool pair = tool_split(text, out_name, out_path) && **out_path == '@' && (*out_path)[1];
  if (pair) ++*out_path;
  return pair;
}

// The output that the fetch is written to, or NULL.
static const char *output_of(const run_options *o, const char *fetch) {
  for (uint32_t i = 0; i < o->outputs.count; i++) {
    const char *path;
    char *name;
    if (split_output(o->outputs.items[i], &name, &path) && strcmp(name, fetch) == 0) return path;
  }
  return NULL;
}

static int refuse_output(const tool_command *command, leat_step *step, const char *text) {
  leat_text names = {0};
  for (int i = 0; i < leat_step_fetch_count(step); i++)
    leat_text_add(&names, "%s%s", i ? ", " : "", leat_step_fetch(step, i)->name);
  int status = tool_usage_error(command, "-o %s: nothing of that name is fetched; there are %s",
                                text, names.data ? names.data : "none");
  leat_text_finish(&names);
  return status;
}

// Every -o is NAME=@FILE for a NAME that is fetched and a FILE that can be made.
static int check_outputs(const tool_command *command, const run_options *o) {
  leat_error error = {0};
  for (uint32_t i = 0; i < o->outputs.count; i++) {
    const char *text = o->outputs.items[i], *path;
    char *name;
    if (!split_output(text, &name, &path))
      return tool_usage_error(command, "-o %s: expected NAME=@FILE.npy", text);
    bool found = false;
    for (int j = 0; o->step.step && j < leat_step_fetch_count(o->step.step) && !found; j++)
      found = output_of(o, leat_step_fetch(o->step.step, j)->name) == path;
    if (o->step.step && !found) return refuse_output(command, o->step.step, text);
    if (leat_file_check_writable(path, &error)) return tool_fail(&error);
  }
  return TOOL_OK;
}

static int show_results(const run_options *o) {
  for (int i = 0; i < leat_step_fetch_count(o->step.step); i++) {
    const char *name = leat_step_fetch(o->step.step, i)->name, *path = output_of(o, name);
    const leat_tensor *value = &o->step.fetch_values[i];
    leat_error error = {0};
    if (!path)
      tool_print_value(name, value);
    else if (leat_npy_write(path, value, &error))
      return tool_fail(&error);
  }
  return TOOL_OK;
}

static int run_steps(run_options *o, leat_session *session) {
  int status = TOOL_OK;
  tool_saving_start(&o->saving, &o->session, session, &o->step);
  for (int i = 0; i < o->steps && !status && !leat_stopped; i++) {
    leat_status ran = leat_step_run(o->step.step, o->step.feed_values, o->step.fetch_values);
    if (ran)
      status = tool_report_step(session, ran);
    else
      tool_saving_note_step(&o->saving);
  }
  bool whole = !status && !leat_stopped;
  status = tool_saving_finish(&o->saving, status);
  int shown = whole ? show_results(o) : TOOL_OK;
  return status ? status : shown;
}

static int run_session(const tool_command *command, run_options *o, leat_session *session) {
  int status = tool_saving_begin(&o->saving, &o->session, session);
  if (!status) status = tool_prepare(&o->step, session);
  if (!status) status = check_outputs(command, o);
  if (!status && o->step.step) status = run_steps(o, session);
  if (!status) status = tool_show_traffic(&o->session, session);
  return status;
}

static int run(const tool_command *command, int argc, char **argv) {
  run_options o = {.steps = 1};
  tool_option saving[SAVING_OPTION_COUNT], shared[SESSION_OPTION_COUNT];
  const tool_option own[] = {
      {"entry", 'e', TOOL_LIST, &o.step.entries, "ENTRY",
       "run this entry (default: the only one); A+B: both"},
      {"feed", 'f', TOOL_LIST, &o.step.feeds, "NAME=VALUE",
       "a value: 0.5, [1, 2, 3], @file.npy; @FILE.npz alone feeds each array by its name"},
      {"fetch", 0, TOOL_LIST, &o.step.fetches, "NAME",
       "fetch this value too; in a loop that of the last iteration, NAME:all those of all"},
      {"run", 0, TOOL_LIST, &o.step.runs, "NAME", "execute this node, fetch nothing"},
      {"output", 'o', TOOL_LIST, &o.outputs, "NAME=@FILE", "write a result as .npy"},
      {"steps", 'n', TOOL_NUMBER, &o.steps, "N", "run N times, show the last results"},
  };
  const tool_options session_group = tool_session_options(&o.session, RUNS, shared);
  const tool_options groups[] = {{"Options", own, TOOL_COUNT(own)},
                                 tool_saving_options(&o.saving, &o.session, saving),
                                 session_group};
  int first, status;
  if (!tool_parse(command, groups, TOOL_COUNT(groups), argc, argv, &first, &status)) return status;
  if (argc - first != 1) return tool_usage_error(command, "one FILE is expected");
  if (o.step.entries.count > 1)
    return tool_usage_error(command, "one --entry is expected: %s+%s runs both together",
                            o.step.entries.items[0], o.step.entries.items[1]);
  if (o.steps < 1) return tool_usage_error(command, "--steps must be at least 1");
  o.session.save = o.saving.save;
  leat_session *session = tool_open(&o.session, argv[first], &status);
  if (session) status = run_session(command, &o, session);
  leat_file_unclaim(o.saving.save);
  tool_prepared_finish(&o.step);
  return tool_close(&o.session, session, status);
}

const tool_command run_command = {
    "run", "FILE [--entry NAME] [--feed NAME=VALUE]… [-o NAME=@FILE]…",
    "run entries of a graph, or fetch its values, and show the results", run};
