// The module leat-onnx: a file, its text, its tensors.
#include "frontend/onnx/model.h"

#include "frontend/onnx/writer.h"
#include "frontend/protobuf/guard.h"

#include <stdlib.h>
#include <string.h>

static leat_status read_model(leat_model_file *model, const char *path, const void *bytes,
                              size_t size, leat_error *error) {
  const ProtobufCMessage *message;
  model->path = leat_arena_strndup(model->arena, path, strlen(path));
  LEAT_TRY(leat_protobuf_unpack(model->arena, &onnx__model_proto__descriptor, path, "an ONNX model",
                                bytes, size, &message, error));
  model->proto = (const Onnx__ModelProto *)message;
  if (!model->proto->graph)
    return leat_fail(error, LEAT_INVALID,
                     "%s: it has no graph: it is damaged, or not an ONNX model", path);
  return LEAT_OK;
}

static void close_model(leat_model_file *model) {
  if (model) leat_arena_destroy(model->arena);
  free(model);
}

// The arena is the model's from the beginning, so that nobody else gives it back.
static leat_status open_model(leat_model_file **out, const char *path, const void *bytes,
                              size_t size, leat_error *error) {
  leat_model_file *model = calloc(1, sizeof *model);
  *out = NULL;
  if (model) model->arena = leat_arena_try_create();
  if (!model || !model->arena) {
    free(model);
    return leat_fail(error, LEAT_MEMORY, "%s: no memory to read it", path);
  }
  leat_status status;
  LEAT_RECOVER(status, read_model(model, path, bytes, size, error));
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
  LEAT_RECOVER(status, onnx_write_model(model, options, out));
  if (status) return leat_fail(error, status, "%s: no memory for its text", model->path);
  return LEAT_OK;
}

static const char *problem(const leat_model_file *model, uint32_t i) {
  return i < model->problems.count ? model->problems.items[i] : NULL;
}

// -- Tensors
// ----------------------------------------------------------------------------------------

static int compare_weights(const void *a, const void *b) {
  return strcmp(((const onnx_weight *)a)->name, ((const onnx_weight *)b)->name);
}

// What is loaded has a type: writing has seen to it.
static leat_status list_tensors(leat_model_file *model) {
  uint32_t count = model->weights.count;
  leat_named_tensor *list = leat_new_array(model->arena, leat_named_tensor, count + 1);
  if (count) qsort(model->weights.items, count, sizeof *model->weights.items, compare_weights);
  for (uint32_t i = 0; i < count; i++) {
    const onnx_weight *weight = &model->weights.items[i];
    list[i].name = weight->name;
    if (onnx_tensor_type(weight->tensor, weight->name, &list[i].tensor, NULL)) list[i].name = "";
    if (weight->window_first && onnx_window_first(model->arena, &list[i].tensor, NULL))
      list[i].name = "";
  }
  model->tensors = list;
  return LEAT_OK;
}

static const leat_named_tensor *tensors(leat_model_file *model, size_t *out_count) {
  leat_status status = LEAT_OK;
  if (!model->tensors) LEAT_RECOVER(status, list_tensors(model));
  *out_count = status ? 0 : model->weights.count;
  return status ? NULL : model->tensors;
}

static leat_status read_weight(leat_model_file *model, const onnx_weight *weight, leat_tensor *out,
                               leat_error *error) {
  LEAT_TRY(onnx_tensor_read(model->arena, model->path, weight->tensor, weight->name, out, error));
  return weight->window_first ? onnx_window_first(model->arena, out, error) : LEAT_OK;
}

static leat_status read_tensor(leat_model_file *model, size_t i, leat_tensor *out,
                               leat_error *error) {
  leat_tensor *tensor = &model->tensors[i].tensor;
  const onnx_weight *weight = &model->weights.items[i];
  leat_status status = LEAT_OK;
  if (!tensor->data) LEAT_RECOVER(status, read_weight(model, weight, tensor, error));
  *out = *tensor;
  if (!status) return LEAT_OK;
  tensor->data = NULL;
  return leat_fail(error, status, "no memory for tensor `%s`", weight->name);
}

__attribute__((visibility("default"))) extern const leat_importer leat_importer_table;
const leat_importer leat_importer_table = {.open = open_model,
                                           .close = close_model,
                                           .write = write_model,
                                           .problem = problem,
                                           .tensors = tensors,
                                           .read = read_tensor};
