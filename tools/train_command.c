// leat train: runs the training entry until global_step says that it is enough (tools/loop.h).
#include "base/show.h"
#include "base/text.h"
#include "runtime/stopping.h"
#include "tools/loop.h"
#include "tools/values.h"

#include <stdio.h>
#include <string.h>

typedef struct train_options {
  session_options session;
  prepared step;
  tool_saving saving;
  const char *entry;
  int steps, log_every;
  bool log_bits;
} train_options;

// The entry `train`, else the only training one; NULL: a mistake, which was shown.
static const char *choose_entry(const leat_session *session) {
  const char *chosen = NULL;
  leat_text trains = {0};
  int count = 0;
  for (int i = 0; i < leat_session_entry_count(session) && count >= 0; i++) {
    const char *name = leat_session_entry(session, i);
    bool is_train = strcmp(name, "train") == 0;
    if (!is_train && !leat_session_entry_trains(session, i)) continue;
    leat_text_add(&trains, "%s`%s`", count ? ", " : "", name);
    chosen = name;
    count = is_train ? -1 : count + 1;
  }
  if (!chosen)
    leat_show(stderr,
              "error: the graph has no training entry, such as `entry train() training { … }`\n");
  if (count > 1)
    leat_show(stderr, "error: which of the training entries? --entry names one of %s\n",
              trains.data);
  leat_text_finish(&trains);
  return count > 1 ? NULL : chosen;
}

// Only the Runs of a training entry count steps and see `training` as true; an entry that is not
// there is for the session to report.
static bool trains(const leat_session *session, const char *entry) {
  bool found = false;
  for (int i = 0; i < leat_session_entry_count(session); i++) {
    if (strcmp(leat_session_entry(session, i), entry)) continue;
    if (leat_session_entry_trains(session, i)) return true;
    found = true;
  }
  if (found)
    leat_show(
        stderr,
        "error: the entry `%s` is not a training one: write `training` behind its parameters, "
        "`entry %s(…) training -> …`, or run it with `leat run --entry %s`\n",
        entry, entry, entry);
  return !found;
}

static int train_session(train_options *o, leat_session *session) {
  int64_t step = 0;
  int status = tool_saving_begin(&o->saving, &o->session, session);
  if (status) return status;
  const char *entry = o->entry ? o->entry : choose_entry(session);
  if (!entry || !trains(session, entry)) return TOOL_FAILED;
  leat_vec_push(tool_arena(), &o->step.entries, entry);
  status = tool_prepare(&o->step, session);
  if (!status && o->step.step) status = tool_read_global_step(session, &step);
  if (status || !o->step.step) return status;
  tool_loop loop = {.step = &o->step,
                    .first = step,
                    .last = o->steps,
                    .log_every = o->log_every,
                    .log_bits = o->log_bits,
                    .saving = &o->saving,
                    .stopped = &leat_stopped};
  tool_saving_start(&o->saving, &o->session, session, &o->step);
  status = tool_run_loop(&loop, session);
  status = tool_saving_finish(&o->saving, status);
  return status ? status : tool_show_traffic(&o->session, session);
}

static int run(const tool_command *command, int argc, char **argv) {
  train_options o = {.steps = 1000, .log_every = 100};
  tool_option saving[SAVING_OPTION_COUNT], shared[SESSION_OPTION_COUNT];
  const tool_option own[] = {
      {"entry", 'e', TOOL_TEXT, &o.entry, "ENTRY",
       "the entry (default: train, else the only training one)"},
      {"steps", 'n', TOOL_NUMBER, &o.steps, "N", "stop when global_step is N (default: 1000)"},
      {"feed", 'f', TOOL_LIST, &o.step.feeds, "NAME=VALUE",
       "a value: 0.5, [1, 2, 3], @file.npy; @FILE.npz alone feeds each array by its name"},
      {"log-every", 'l', TOOL_NUMBER, &o.log_every, "K", "a log line every K steps (default: 100)"},
      {"log-bits", 0, TOOL_FLAG, &o.log_bits, NULL, "log losses as bits, and no speed"},
  };
  const tool_options session_group = tool_session_options(&o.session, RUNS, shared);
  const tool_options groups[] = {{"Options", own, TOOL_COUNT(own)},
                                 tool_saving_options(&o.saving, &o.session, saving),
                                 session_group};
  int first, status;
  if (!tool_parse(command, groups, TOOL_COUNT(groups), argc, argv, &first, &status)) return status;
  if (argc - first != 1) return tool_usage_error(command, "one FILE is expected");
  if (o.log_every < 1) return tool_usage_error(command, "--log-every must be at least 1");
  o.session.save = o.saving.save;
  leat_session *session = tool_open(&o.session, argv[first], &status);
  if (session) status = train_session(&o, session);
  leat_file_unclaim(o.saving.save);
  tool_prepared_finish(&o.step);
  return tool_close(&o.session, session, status);
}

const tool_command train_command = {"train", "FILE [--steps N] [--save FILE]",
                                    "run the training entry until global_step is N", run};
