// An importer on any bytes: the guard, the text, the tensors; what can be written is a text that
// the language's parser takes.
#include "tests/fuzz/fuzz.h"

#include "frontend/import.h"
#include "frontend/syntax/parser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const leat_importer leat_importer_table;

static void parse(const char *text) {
  leat_arena *arena = leat_arena_create();
  leat_diag *diag = leat_diag_create(arena);
  uint32_t source = leat_diag_add_source(diag, "fuzz", text, strlen(text));
  leat_parse(arena, leat_strings_create(arena), diag, source);
  if (leat_diag_errors(diag)) {
    leat_text messages = {0};
    leat_diag_print(diag, &messages);
    fprintf(stderr, "%s\n%s", text, messages.data);
    abort();
  }
  leat_arena_destroy(arena);
}

static void read_all(leat_model_file *model) {
  size_t count;
  leat_error error = {0};
  const leat_named_tensor *tensors = leat_importer_table.tensors(model, &count);
  for (size_t i = 0; i < count; i++) {
    leat_tensor tensor;
    if (i && strcmp(tensors[i - 1].name, tensors[i].name) >= 0) abort();
    if (leat_importer_table.read(model, i, &tensor, &error)) continue;
    if (!tensor.data || leat_tensor_bytes(&tensor) < 0) abort();
  }
}

static void import_any(const char *path, const uint8_t *data, size_t size) {
  leat_model_file *model;
  leat_error error = {0};
  leat_import_options options = {.data = path};
  char *text;
  leat_import_format("m", data, size);
  if (leat_importer_table.open(&model, path, data, size, &error)) return;
  if (!leat_importer_table.write(model, &options, &text, &error)) {
    if (!leat_importer_table.problem(model, 0)) parse(text);
    read_all(model);
    free(text);
  }
  leat_importer_table.close(model);
}
