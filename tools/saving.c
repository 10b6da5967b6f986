// A failing step leaves variables half updated, and nobody knows before which step will fail. So
// the state is kept from time to time, and when a step fails it is put back and the steps since
// then, which give the same bits again, are repeated.
#define _GNU_SOURCE
#include "tools/saving.h"

#include "runtime/replace.h"
#include "runtime/stopping.h"
#include "session/driver.h"
#include "session/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>

tool_options tool_saving_options(tool_saving *saving, session_options *session,
                                 tool_option items[SAVING_OPTION_COUNT]) {
  *saving = (tool_saving){0};
  const tool_option table[] = {
      {"restore", 0, TOOL_TEXT, &saving->restore, "FILE",
       "begin with variables from a .safetensors, its index or an .npz"},
      {"partial", 0, TOOL_FLAG, &saving->partial, NULL, "even if that file lacks some of them"},
      {"save", 0, TOOL_TEXT, &saving->save, "FILE",
       "write all variables in the end, or when it is stopped"},
      {"overwrite", 0, TOOL_FLAG, &session->options.overwrite, NULL,
       "--save may replace whatever the file holds"},
  };
  _Static_assert(TOOL_COUNT(table) == SAVING_OPTION_COUNT, "room for the table");
  memcpy(items, table, sizeof table);
  return (tool_options){"Checkpoints", items, TOOL_COUNT(table)};
}

// -- Beginning ---------------------------------------------------------------------------------

int tool_saving_begin(const tool_saving *saving, const session_options *options,
                      leat_session *session) {
  leat_error error = {0};
  if (leat_check_save_path(saving->save, saving->restore, options->options.overwrite, &error))
    return tool_fail(&error);
  if (saving->restore && tool_restore(session, saving->restore, saving->partial))
    return TOOL_FAILED;
  if (!saving->save) return TOOL_OK;
  int exit_code = tool_report(session, leat_session_check_save(session, saving->save));
  if (!exit_code && leat_file_claim(saving->save, &error)) exit_code = tool_fail(&error);
  return exit_code;
}

// -- Going back --------------------------------------------------------------------------------

static const double LEAST_PAUSE = 0.1;  // seconds between two copies of the state
static const double MOST_EFFORT = 0.02; // of the time is spent on them

static void keep(tool_saving *saving, leat_session *session) {
  double begin = leat_seconds();
  leat_snapshot *taken;
  if (!leat_snapshot_take(session, &taken)) {
    leat_snapshot_destroy(saving->kept);
    saving->kept = taken;
    saving->kept_steps = saving->steps;
  }
  double end = leat_seconds(), pause = (end - begin) / MOST_EFFORT;
  saving->keep_at = end + (pause > LEAST_PAUSE ? pause : LEAST_PAUSE);
}

void tool_saving_note_step(tool_saving *saving, leat_session *session) {
  saving->steps++;
  if (saving->save && leat_seconds() >= saving->keep_at) keep(saving, session);
}

// To the state before the step that failed; false: something fails again.
static bool go_back(const tool_saving *saving, leat_session *session, const prepared *p) {
  bool fine = !leat_snapshot_put_back(session, saving->kept);
  tool_show_prints(false);
  for (int64_t i = saving->kept_steps; i < saving->steps && fine; i++)
    fine = !leat_step_run(p->step, p->feed_values, p->fetch_values);
  tool_show_prints(true);
  return fine && !leat_session_save(session, saving->save);
}

// -- The end -----------------------------------------------------------------------------------

// What was kept is written first: in a cluster whose ranks end it may be all that can be had.
static int save_kept(const tool_saving *saving, leat_session *session, const prepared *p) {
  int64_t lost = saving->steps - saving->kept_steps;
  if (!saving->kept) {
    fprintf(stderr, "error: %s is not written: the state before the step that failed is lost\n",
            saving->save);
    return TOOL_FAILED;
  }
  int status = tool_report(session, leat_snapshot_write(session, saving->kept, saving->save));
  if (status) return status;
  if (lost && go_back(saving, session, p)) lost = 0;
  if (lost)
    fprintf(stderr, "error: a step failed; %s holds the state %" PRId64 " steps before it\n",
            saving->save, lost);
  else
    fprintf(stderr, "error: a step failed; %s holds the state before it\n", saving->save);
  return TOOL_FAILED;
}

static int save(const tool_saving *saving, leat_session *session, const prepared *p, int status) {
  if (!saving->steps && (status || leat_stopped || !saving->restore)) {
    fprintf(stderr, "error: %s%s%s is not written: no step has run\n",
            leat_stopped ? leat_stop_reason() : "", leat_stopped ? "; " : "", saving->save);
    return TOOL_FAILED;
  }
  if (status) return save_kept(saving, session, p);
  status = tool_report(session, leat_session_save(session, saving->save));
  if (status && saving->kept && !leat_snapshot_write(session, saving->kept, saving->save))
    fprintf(stderr, "error: %s holds the state %" PRId64 " steps before the last\n", saving->save,
            saving->steps - saving->kept_steps);
  if (status || !leat_stopped) return status;
  fprintf(stderr, "error: %s; %s holds the state behind the last step\n", leat_stop_reason(),
          saving->save);
  return TOOL_FAILED;
}

int tool_saving_finish(tool_saving *saving, leat_session *session, const prepared *p, int status) {
  if (saving->save) status = save(saving, session, p, status);
  leat_snapshot_destroy(saving->kept);
  if (leat_stopped == SIGPIPE) { // that nobody reads has been said
    __fpurge(stdout);
    clearerr(stdout);
  }
  return status;
}
