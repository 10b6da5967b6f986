// leat fmt: texts in the canonical hand-written style. `-` is standard input.
#include "base/file.h"
#include "base/show.h"
#include "frontend/syntax/format.h"
#include "tools/options.h"
#include "tools/session_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fmt_options {
  bool in_place, check;
} fmt_options;

static int show_mistakes(const leat_diag *diag) {
  leat_text messages = {0};
  leat_diag_print(diag, &messages);
  leat_show(stderr, "%s", messages.data);
  leat_text_finish(&messages);
  return TOOL_FAILED;
}

static int deliver(const fmt_options *o, const char *path, leat_bytes old, leat_bytes formatted) {
  leat_error error = {0};
  bool same = old.size == formatted.size && memcmp(old.data, formatted.data, old.size) == 0;
  if (o->check) {
    if (!same) leat_show(stdout, "%s\n", path);
    return same ? TOOL_OK : TOOL_FAILED;
  }
  if (!o->in_place) {
    bool written = fwrite(formatted.data, 1, formatted.size, stdout) == formatted.size;
    return written ? TOOL_OK : TOOL_FAILED;
  }
  if (same) return TOOL_OK;
  leat_status status = leat_file_write(path, &formatted, 1, LEAT_FILE_ATOMIC, &error);
  return status ? tool_fail(&error) : TOOL_OK;
}

static bool is_input(const char *path) {
  return strcmp(path, "-") == 0;
}

static int format_file(const fmt_options *o, const char *path) {
  leat_error error = {0};
  char *text;
  size_t size;
  const char *file = is_input(path) ? "/dev/stdin" : path;
  if (is_input(path)) path = "stdin"; // in messages
  if (leat_file_read(file, LEAT_LARGEST_SOURCE, &text, &size, &error)) return tool_fail(&error);
  leat_arena *arena = leat_arena_create();
  leat_diag *diag = leat_diag_create(arena);
  leat_text formatted = {0};
  int status = TOOL_OK;
  if (!leat_format(diag, leat_diag_add_source(diag, path, text, size), &formatted))
    status = show_mistakes(diag);
  else
    status = deliver(o, path, (leat_bytes){text, size},
                     (leat_bytes){formatted.data ? formatted.data : "", formatted.size});
  leat_text_finish(&formatted);
  leat_arena_destroy(arena);
  free(text);
  return status;
}

static int run(const tool_command *command, int argc, char **argv) {
  fmt_options o = {0};
  const tool_option own[] = {
      {"in-place", 'i', TOOL_FLAG, &o.in_place, NULL, "write the files instead of stdout"},
      {"check", 'c', TOOL_FLAG, &o.check, NULL, "only name files that would change (exit code 1)"},
  };
  const tool_options groups[] = {{"Options", own, TOOL_COUNT(own)}};
  int first, status, worst = TOOL_OK;
  if (!tool_parse(command, groups, TOOL_COUNT(groups), argc, argv, &first, &status)) return status;
  if (first == argc) return tool_usage_error(command, "which files? `-` is standard input");
  for (int i = first; o.in_place && i < argc; i++)
    if (is_input(argv[i])) return tool_usage_error(command, "-i: `-` is no file to write");
  for (int i = first; i < argc; i++) {
    status = format_file(&o, argv[i]);
    if (status) worst = status;
  }
  return worst;
}

const tool_command fmt_command = {"fmt", "[-i | --check] FILE…",
                                  "lay texts out in the one style (`-`: standard input)", run};
