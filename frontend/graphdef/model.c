// The module leat-graphdef: a file, its text, its tensors.
#include "frontend/graphdef/model.h"

#include "base/file.h"
#include "frontend/graphdef/writer.h"
#include "frontend/protobuf/guard.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// -- Which message it is --------------------------------------------------------------------------

static bool ends_with(const char *path, const char *end) {
  size_t length = strlen(path), size = strlen(end);
  return length > size && strcmp(path + length - size, end) == 0;
}

static bool is_text(const char *path) {
  return ends_with(path, ".pbtxt") || ends_with(path, ".prototxt");
}

static const unsigned char *skip_varint(const unsigned char *at, const unsigned char *end) {
  while (at < end && *at >= 128) at++;
  return at < end ? at + 1 : end;
}

// A saved model begins with its version, a number; a meta graph has its graph in field 2, the
// fields of a graph's node are never messages with a field 1 that is a message.
static const ProtobufCMessageDescriptor *message_of(const char *path, const void *bytes,
                                                    size_t size) {
  const unsigned char *first = bytes, *end = first + size;
  bool text = is_text(path);
  if (text) {
    while (first < end && (isspace(*first) || *first == '#'))
      if (*first++ == '#')
        while (first < end && *first != '\n') first++;
    size_t left = (size_t)(end - first);
    if (left > 18 && !strncmp((const char *)first, "saved_model_schema", 18))
      return &tensorflow__saved_model__descriptor;
    if (left > 13 && !strncmp((const char *)first, "meta_info_def", 13))
      return &tensorflow__meta_graph_def__descriptor;
    return &tensorflow__graph_def__descriptor;
  }
  if (size && *first == 8 && skip_varint(first + 1, end) < end)
    return &tensorflow__saved_model__descriptor;
  return ends_with(path, ".meta") ? &tensorflow__meta_graph_def__descriptor
                                  : &tensorflow__graph_def__descriptor;
}

static leat_status take_message(leat_model_file *model, const ProtobufCMessage *message,
                                leat_error *error) {
  const ProtobufCMessageDescriptor *d = message->descriptor;
  if (d == &tensorflow__saved_model__descriptor) {
    const Tensorflow__SavedModel *saved = (const void *)message;
    model->kind = "a saved model";
    if (saved->n_meta_graphs != 1)
      return leat_fail(
          error, LEAT_UNSUPPORTED,
          "%s: has %zu meta graphs, and one is supported: save it with one set of tags",
          model->path, saved->n_meta_graphs);
    model->meta = saved->meta_graphs[0];
  } else if (d == &tensorflow__meta_graph_def__descriptor) {
    model->kind = "a meta graph";
    model->meta = (const void *)message;
  } else {
    model->kind = "a GraphDef";
    model->graph = (const void *)message;
  }
  if (model->meta) model->graph = model->meta->graph_def;
  if (model->graph && model->graph->n_node) return LEAT_OK;
  return leat_fail(error, LEAT_INVALID, "%s: it has no nodes: it is damaged, or not %s",
                   model->path, model->kind);
}

// The checkpoint of a saved model lies below its folder, that of a meta graph beside it.
static const char *bundle_of(const leat_model_file *model) {
  const char *slash = strrchr(model->path, '/'), *dot = strrchr(model->path, '.');
  int folder = slash ? (int)(slash - model->path) + 1 : 0;
  if (strcmp(model->kind, "a saved model") == 0)
    return leat_arena_printf(model->arena, "%.*svariables/variables", folder, model->path);
  return leat_arena_printf(model->arena, "%.*s", dot ? (int)(dot - model->path) : 0, model->path);
}

static leat_status read_model(leat_model_file *model, const char *path, const void *bytes,
                              size_t size, leat_error *error) {
  const ProtobufCMessage *message;
  leat_bytes wire = {bytes, size};
  const ProtobufCMessageDescriptor *descriptor = message_of(path, bytes, size);
  model->path = leat_arena_strndup(model->arena, path, strlen(path));
  if (is_text(path))
    LEAT_TRY(tf_read_text(model->arena, path, bytes, size, descriptor, &wire, error));
  LEAT_TRY(leat_protobuf_unpack(model->arena, descriptor, path, "a graph of TensorFlow", wire.data,
                                wire.size, &message, error));
  LEAT_TRY(take_message(model, message, error));
  return model->meta ? tf_open_bundle(model, bundle_of(model), error) : LEAT_OK;
}

// -- The file -------------------------------------------------------------------------------------

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
  LEAT_RECOVER(status, tf_write_model(model, options, out));
  if (status) return leat_fail(error, status, "%s: no memory for its text", model->path);
  return LEAT_OK;
}

static const char *problem(const leat_model_file *model, uint32_t i) {
  return i < model->problems.count ? model->problems.items[i] : NULL;
}

// -- Tensors --------------------------------------------------------------------------------------

static int compare_weights(const void *a, const void *b) {
  return strcmp(((const tf_weight *)a)->name, ((const tf_weight *)b)->name);
}

// What is loaded has a type: writing has seen to it.
static leat_status list_tensors(leat_model_file *model) {
  uint32_t count = model->weights.count;
  leat_named_tensor *list = leat_new_array(model->arena, leat_named_tensor, count + 1);
  if (count) qsort(model->weights.items, count, sizeof *model->weights.items, compare_weights);
  for (uint32_t i = 0; i < count; i++) {
    const tf_weight *weight = &model->weights.items[i];
    list[i].name = weight->name;
    if (weight->entry)
      list[i].tensor = weight->entry->type;
    else if (tf_tensor_type(weight->tensor, weight->name, &list[i].tensor, NULL))
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

static leat_status read_weight(leat_model_file *model, const tf_weight *weight, leat_tensor *out,
                               leat_error *error) {
  return weight->entry ? tf_read_variable(model->arena, weight->entry, out, error)
                       : tf_tensor_read(model->arena, weight->tensor, weight->name, out, error);
}

static leat_status read_tensor(leat_model_file *model, size_t i, leat_tensor *out,
                               leat_error *error) {
  leat_tensor *tensor = &model->tensors[i].tensor;
  const tf_weight *weight = &model->weights.items[i];
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
