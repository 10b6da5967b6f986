#define _GNU_SOURCE
#include "tools/saving.h"

#include "runtime/replace.h"
#include "runtime/stopping.h"
#include "session/snapshot.h"

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

int tool_saving_begin(tool_saving *saving, const session_options *options, leat_session *session) {
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

// -- What has state ----------------------------------------------------------------------------

static leat_status take(void *of, void **out) {
  leat_snapshot *taken;
  leat_status status = leat_snapshot_take(((tool_saving *)of)->session, &taken);
  *out = taken;
  return status;
}

static void drop(void *copy) {
  leat_snapshot_destroy(copy);
}

static leat_status shown(const leat_session *session, leat_status status) {
  if (status) tool_report(session, status);
  return status;
}

static leat_status put_back(void *of, const void *copy) {
  leat_session *session = ((tool_saving *)of)->session;
  return shown(session, leat_snapshot_put_back(session, copy));
}

static leat_status write_copy(void *of, const void *copy, const char *path) {
  leat_session *session = ((tool_saving *)of)->session;
  return shown(session, leat_snapshot_write(session, copy, path));
}

static leat_status save(void *of, const char *path) {
  leat_session *session = ((tool_saving *)of)->session;
  return shown(session, leat_session_save(session, path));
}

static leat_status again(void *of) {
  const prepared *p = ((tool_saving *)of)->prepared;
  tool_show_prints(false);
  leat_status status = leat_step_run(p->step, p->feed_values, p->fetch_values);
  tool_show_prints(true);
  return status;
}

// -- Running -----------------------------------------------------------------------------------

void tool_saving_start(tool_saving *saving, const session_options *options, leat_session *session,
                       const prepared *prepared) {
  static const leat_kept calls = {take, drop, put_back, write_copy, save, again};
  saving->session = session;
  saving->prepared = prepared;
  saving->keeping = (leat_keeping){
      .calls = &calls, .of = saving, .path = saving->save, .restored = saving->restore != NULL};
  tool_stop_at_signals(options, session);
}

void tool_saving_note_step(tool_saving *saving) {
  leat_keeping_note_step(&saving->keeping, false);
}

int tool_saving_finish(tool_saving *saving, int status) {
  leat_error error = {0};
  if (leat_keeping_end(&saving->keeping, status, &error)) status = TOOL_FAILED;
  if (error.message[0]) tool_fail(&error);
  leat_keeping_finish(&saving->keeping);
  if (leat_stopped == SIGPIPE) { // that nobody reads has been said
    __fpurge(stdout);
    clearerr(stdout);
  }
  return status;
}
