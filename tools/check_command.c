// leat check: whether files are whole and mean what they should; nothing is run or written.
#include "base/data_file.h"
#include "base/intern.h"
#include "base/show.h"
#include "base/text.h"
#include "frontend/import.h"
#include "runtime/checkpoint.h"
#include "session/data_files.h"
#include "session/session.h"
#include "tools/session_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What each entry is compiled up to: what follows depends on the machine, and finds no mistakes.
static const char last_stage[] = "lower";

static int check_entries(leat_session *session, const char *path) {
  int count = leat_session_entry_count(session);
  int worst = tool_report(session, leat_session_check_definitions(session));
  for (int i = 0; i < count; i++) {
    const char *entry = leat_session_entry(session, i);
    leat_step_spec spec = {.entries = &entry, .entry_count = 1};
    leat_step *step = NULL;
    int status = tool_report(session, leat_session_prepare(session, &spec, &step));
    leat_step_destroy(step);
    if (status) worst = status;
  }
  if (!worst) leat_show(stdout, "%s: %d entr%s\n", path, count, count == 1 ? "y" : "ies");
  return worst;
}

static int check_text(session_options *options, const char *path) {
  int status;
  leat_session *session = tool_open(options, path, &status);
  if (session) status = check_entries(session, path);
  return tool_close(options, session, status);
}

static leat_status tell_notes(const char *path, const leat_imported *imported, leat_error *error) {
  const leat_import_options options = {.data = leat_path_last(path)};
  const char *note;
  char *text;
  LEAT_TRY(imported->importer->write(imported->model, &options, &text, error));
  free(text);
  for (uint32_t i = 0; (note = imported->importer->note(imported->model, i)); i++)
    leat_show(stdout, "%s: %s\n", path, note);
  return LEAT_OK;
}

// As the text that it is; then where it is otherwise than the file says.
static int check_model(session_options *options, const char *path, const char *format,
                       const leat_file_view *view) {
  leat_imported imported = {0};
  leat_error error = {0};
  int worst = check_text(options, path);
  if (worst) return worst;
  leat_status status = leat_import_open(&imported, format, path, view->data, view->size, &error);
  if (!status) status = tell_notes(path, &imported, &error);
  leat_import_close(&imported);
  return status ? tool_fail(&error) : TOOL_OK;
}

// A checkpoint, or what others wrote: every format that is read.
static int check_data(const char *path) {
  leat_data_file file;
  leat_error error = {0};
  leat_session_extend_data_files();
  if (leat_checkpoint_open(&file, path, &error)) return tool_fail(&error);
  unsigned long long size = leat_data_file_size(&file);
  if (file.count == 1 && !*file.tensors[0].name)
    leat_show(stdout, "%s: a tensor, %llu bytes\n", path, size);
  else
    leat_show(stdout, "%s: %zu tensor%s, %llu bytes, %s\n", path, file.count,
              file.count == 1 ? "" : "s", size,
              file.checksums ? "as its checksums say" : "which have no checksums");
  leat_data_file_close(&file);
  return TOOL_OK;
}

// By its name; a checkpoint and a model file may have any.
static int check(session_options *options, const char *path) {
  leat_file_view view;
  if (leat_ends_with(path, ".leat")) return check_text(options, path);
  if (leat_file_view_map(&view, path, NULL)) return check_data(path);
  const char *format = leat_import_format(path, view.data, view.size);
  int status = format ? check_model(options, path, format, &view) : check_data(path);
  leat_file_view_close(&view);
  return status;
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
