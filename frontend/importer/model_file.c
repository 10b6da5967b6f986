// What a module of an importer exports.
#include "frontend/importer/model_file.h"

#include <stdlib.h>
#include <string.h>

// What was made of the tensors that the last write listed.
static void forget_tensors(leat_model_file *model) {
  for (uint32_t i = 0; model->tensors && i < model->weights.count; i++)
    leat_arena_destroy(model->made[i]);
  model->tensors = NULL;
}

static void close_model(leat_model_file *model) {
  if (!model) return;
  forget_tensors(model);
  leat_arena_destroy(model->arena);
}

// The arena is the model's from the beginning, so that nobody else gives it back.
static leat_model_file *create(const char *path) {
  leat_arena *arena = leat_arena_try_create();
  leat_model_file *model = arena ? leat_arena_try_alloc(arena, sizeof *model) : NULL;
  char *copy = model ? leat_arena_try_alloc(arena, strlen(path) + 1) : NULL;
  if (!copy) {
    leat_arena_destroy(arena);
    return NULL;
  }
  memcpy(copy, path, strlen(path));
  *model = (leat_model_file){.arena = arena, .path = copy};
  return model;
}

static leat_status open_model(leat_model_file **out, const char *path, const void *bytes,
                              size_t size, leat_error *error) {
  leat_model_file *model = create(path);
  leat_status status = model ? LEAT_OK : LEAT_MEMORY;
  *out = NULL;
  if (model) LEAT_RECOVER(status, leat_model_read(model, bytes, size, error));
  if (status) {
    close_model(model);
    return leat_fail(error, status, "%s: no memory to read it", path);
  }
  *out = model;
  return LEAT_OK;
}

static leat_status write_model(leat_model_file *model, const leat_import_options *options,
                               char **out, leat_error *error) {
  leat_status status;
  *out = NULL;
  forget_tensors(model);
  model->weights.count = model->problems.count = model->notes.count = 0;
  LEAT_RECOVER(status, leat_model_write(model, options, out));
  if (status) return leat_fail(error, status, "%s: no memory for its text", model->path);
  return LEAT_OK;
}

const char *leat_model_function(leat_arena *arena, const leat_import_options *options,
                                const char *name) {
  return options->as ? leat_arena_printf(arena, "%s_%s", options->as, name) : name;
}

static const char *problem(const leat_model_file *model, uint32_t i) {
  return i < model->problems.count ? model->problems.items[i] : NULL;
}

static const char *note(const leat_model_file *model, uint32_t i) {
  return i < model->notes.count ? model->notes.items[i] : NULL;
}

// -- Tensors --------------------------------------------------------------------------------------

static int compare_weights(const void *a, const void *b) {
  return strcmp(((const leat_weight *)a)->name, ((const leat_weight *)b)->name);
}

static leat_status list_tensors(leat_model_file *model) {
  uint32_t count = model->weights.count;
  leat_named_tensor *list = leat_new_array(model->arena, leat_named_tensor, count + 1);
  if (count) qsort(model->weights.items, count, sizeof *model->weights.items, compare_weights);
  for (uint32_t i = 0; i < count; i++) {
    list[i].name = model->weights.items[i].name;
    list[i].tensor = model->weights.items[i].type;
  }
  model->made = leat_new_array(model->arena, leat_arena *, count + 1);
  model->tensors = list;
  return LEAT_OK;
}

static const leat_named_tensor *tensors(leat_model_file *model, size_t *out_count) {
  leat_status status = LEAT_OK;
  if (!model->tensors) LEAT_RECOVER(status, list_tensors(model));
  *out_count = status ? 0 : model->weights.count;
  return status ? NULL : model->tensors;
}

static void forget_tensor(leat_model_file *model, size_t i) {
  leat_arena_destroy(model->made[i]);
  model->made[i] = NULL;
  model->tensors[i].tensor.data = NULL;
}

static leat_status read_tensor(leat_model_file *model, size_t i, leat_tensor *out,
                               leat_error *error) {
  leat_tensor *tensor = &model->tensors[i].tensor;
  const leat_weight *weight = &model->weights.items[i];
  leat_status status = LEAT_OK;
  if (!tensor->data && !(model->made[i] = leat_arena_try_create()))
    return leat_fail(error, LEAT_MEMORY, "no memory for tensor `%s`", weight->name);
  if (!tensor->data)
    LEAT_RECOVER(status, weight->read(model, weight, model->made[i], tensor, error));
  *out = *tensor;
  if (!status) return LEAT_OK;
  forget_tensor(model, i);
  return leat_fail(error, status, "no memory for tensor `%s`", weight->name);
}

__attribute__((visibility("default"))) extern const leat_importer leat_importer_table;
const leat_importer leat_importer_table = {.open = open_model,
                                           .close = close_model,
                                           .write = write_model,
                                           .problem = problem,
                                           .note = note,
                                           .tensors = tensors,
                                           .read = read_tensor,
                                           .forget = forget_tensor};
