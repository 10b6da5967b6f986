// leat check: whether files are whole and mean what they should; nothing is run or written.
#include "base/data_file.h"
#include "frontend/import.h"
#include "runtime/checkpoint.h"
#include "session/data_files.h"
#include "tools/session_options.h"

#include <stdio.h>
#include <string.h>

// What each entry is compiled up to: what follows depends on the machine, and finds no mistakes.
static const char last_stage[] = "lower";

static int check_entries(leat_session *session, const char *path) {
  int worst = TOOL_OK, count = leat_session_entry_count(session);
  for (int i = 0; i < count; i++) {
    const char *entry = leat_session_entry(session, i);
    leat_step_spec spec = {.entries = &entry, .entry_count = 1};
    leat_step *step = NULL;
    int status = tool_report(session, leat_session_prepare(session, &spec, &step));
    leat_step_destroy(step);
    if (status) worst = status;
  }
  if (!worst) printf("%s: %d entr%s\n", path, count, count == 1 ? "y" : "ies");
  return worst;
}

static int check_text(session_options *options, const char *path) {
  int status;
  leat_session *session = tool_open(options, path, &status);
  if (session) status = check_entries(session, path);
  return tool_close(options, session, status);
}

// A checkpoint, or what others wrote: every format that is read.
static int check_data(const char *path) {
  leat_data_file file;
  leat_error error = {0};
  leat_session_extend_data_files();
  if (leat_checkpoint_open(&file, path, &error)) return tool_fail(&error);
  unsigned long long size = leat_data_file_size(&file);
  if (file.count == 1 && !*file.tensors[0].name)
    printf("%s: a tensor, %llu bytes\n", path, size);
  else
    printf("%s: %zu tensor%s, %llu bytes, %s\n", path, file.count, file.count == 1 ? "" : "s", size,
           file.checksums ? "as its checksums say" : "which have no checksums");
  leat_data_file_close(&file);
  return TOOL_OK;
}

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), tail = strlen(end);
  return length > tail && strcmp(text + length - tail, end) == 0;
}

static bool is_model(const char *path) {
  leat_file_view view;
  if (leat_file_view_open(&view, path, NULL)) return false;
  bool known = leat_import_format(path, view.data, view.size) != NULL;
  leat_file_view_close(&view);
  return known;
}

// By its name; a checkpoint and a model file may have any.
static int check(session_options *options, const char *path) {
  if (ends_with(path, ".leat") || is_model(path)) return check_text(options, path);
  return check_data(path);
}

static int run(const tool_command *command, int argc, char **argv) {
  session_options session;
  tool_option shared[SESSION_OPTION_COUNT];
  const tool_options groups[] = {tool_session_options(&session, CHECKS, shared)};
  int first, status, worst = TOOL_OK;
  if (!tool_parse(command, groups, TOOL_COUNT(groups), argc, argv, &first, &status)) return status;
  if (first == argc) return tool_usage_error(command, "which files?");
  if (!session.options.stop_after) session.options.stop_after = last_stage;
  for (int i = first; i < argc; i++) {
    status = check(&session, argv[i]);
    if (status) worst = status;
  }
  return worst;
}

const tool_command check_command = {
    "check", "[OPTION…] PATH…",
    "whether texts compile, and .safetensors, .npz and .npy files are undamaged", run};
