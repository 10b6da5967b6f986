// leat convert: a model file of another system as a text, and its weights beside it.
#include "base/file.h"
#include "base/intern.h"
#include "base/show.h"
#include "frontend/import.h"
#include "tools/options.h"
#include "tools/session_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct convert_options {
  const char *output; // NULL: to stdout, and the weights stay where they are
  bool trainable;
} convert_options;

static int tell_problems(const leat_imported *imported, const char *path) {
  const char *problem;
  uint32_t i = 0;
  for (; (problem = imported->importer->problem(imported->model, i)); i++)
    leat_show(stderr, "error: %s: %s\n", path, problem);
  return i ? TOOL_FAILED : TOOL_OK;
}

// "m.leat" → "m.safetensors"
static const char *data_path(const char *output) {
  size_t length = strlen(output);
  bool known = length > 5 && strcmp(output + length - 5, ".leat") == 0;
  return leat_arena_printf(tool_arena(), "%.*s.safetensors", (int)(known ? length - 5 : length),
                           output);
}

static leat_status write_weights(const leat_imported *imported, const char *path,
                                 leat_error *error) {
  size_t count;
  const leat_named_tensor *listed = imported->importer->tensors(imported->model, &count);
  leat_named_tensor *tensors = leat_new_array(tool_arena(), leat_named_tensor, count + 1);
  for (size_t i = 0; i < count; i++) {
    tensors[i].name = listed[i].name;
    LEAT_TRY(imported->importer->read(imported->model, i, &tensors[i].tensor, error));
  }
  return count ? leat_safetensors_write(path, tensors, count, NULL, 0, error) : LEAT_OK;
}

static int convert(const convert_options *o, const char *path, const leat_imported *imported) {
  char *text;
  leat_error error = {0};
  const char *data = o->output ? data_path(o->output) : path;
  const leat_import_options options = {.data = leat_path_last(data), .trainable = o->trainable};
  if (imported->importer->write(imported->model, &options, &text, &error)) return tool_fail(&error);
  int status = tell_problems(imported, path);
  if (!status && !o->output) leat_show(stdout, "%s", text);
  if (!status && o->output &&
      (write_weights(imported, data, &error) ||
       leat_file_write(o->output, &(leat_bytes){text, strlen(text)}, 1, LEAT_FILE_ATOMIC, &error)))
    status = tool_fail(&error);
  free(text);
  return status;
}

static int convert_file(const convert_options *o, const char *path) {
  leat_file_view view = {0};
  leat_imported imported = {0};
  leat_error error = {0};
  if (leat_file_view_map(&view, path, &error)) return tool_fail(&error);
  const char *format = leat_import_format(path, view.data, view.size);
  int status = TOOL_OK;
  if (!format)
    leat_fail(&error, LEAT_UNSUPPORTED, "%s is no model file that is known: there is ONNX", path);
  if (!format || leat_import_open(&imported, format, path, view.data, view.size, &error))
    status = tool_fail(&error);
  else
    status = convert(o, path, &imported);
  if (!status && leat_file_view_check(&view, path, &error)) status = tool_fail(&error);
  leat_import_close(&imported);
  leat_file_view_close(&view);
  return status;
}

static int run(const tool_command *command, int argc, char **argv) {
  convert_options o = {0};
  const tool_option own[] = {
      {"output", 'o', TOOL_TEXT, &o.output, "FILE",
       "the text, FILE.leat, and its weights beside it, FILE.safetensors"},
      {"trainable", 0, TOOL_FLAG, &o.trainable, NULL,
       "weights are variables, which begin with what the file has"},
  };
  const tool_options groups[] = {{"Options", own, TOOL_COUNT(own)}};
  int first, status;
  if (!tool_parse(command, groups, TOOL_COUNT(groups), argc, argv, &first, &status)) return status;
  if (argc - first != 1) return tool_usage_error(command, "one FILE is expected");
  return convert_file(&o, argv[first]);
}

const tool_command convert_command = {
    "convert", "FILE [-o FILE.leat] [--trainable]",
    "show a model file of another system as a text, or write that and its weights", run};
