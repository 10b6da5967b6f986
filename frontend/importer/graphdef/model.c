// The module leat-graphdef: what it makes of a file.
#include "frontend/importer/graphdef/model.h"

#include "base/file.h"
#include "base/text.h"
#include "frontend/importer/protobuf/guard.h"

#include <ctype.h>
#include <string.h>

// -- Which message it is --------------------------------------------------------------------------

static bool is_text(const char *path) {
  return leat_ends_with(path, ".pbtxt") || leat_ends_with(path, ".prototxt");
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
  return leat_ends_with(path, ".meta") ? &tensorflow__meta_graph_def__descriptor
                                       : &tensorflow__graph_def__descriptor;
}

static leat_status take_message(const leat_model_file *model, tf_saved *out,
                                const ProtobufCMessage *message, leat_error *error) {
  const ProtobufCMessageDescriptor *d = message->descriptor;
  if (d == &tensorflow__saved_model__descriptor) {
    const Tensorflow__SavedModel *saved = (const void *)message;
    out->kind = "a saved model";
    if (saved->n_meta_graphs != 1)
      return leat_fail(
          error, LEAT_UNSUPPORTED,
          "%s: has %zu meta graphs, and one is supported: save it with one set of tags",
          model->path, saved->n_meta_graphs);
    out->meta = saved->meta_graphs[0];
  } else if (d == &tensorflow__meta_graph_def__descriptor) {
    out->kind = "a meta graph";
    out->meta = (const void *)message;
  } else {
    out->kind = "a GraphDef";
    out->graph = (const void *)message;
  }
  if (out->meta) out->graph = out->meta->graph_def;
  if (out->graph && out->graph->n_node) return LEAT_OK;
  return leat_fail(error, LEAT_INVALID, "%s: it has no nodes: it is damaged, or not %s",
                   model->path, out->kind);
}

// The checkpoint of a saved model lies below its folder, that of a meta graph beside it.
static const char *bundle_of(const leat_model_file *model, const tf_saved *saved) {
  const char *slash = strrchr(model->path, '/'), *dot = strrchr(model->path, '.');
  int folder = slash ? (int)(slash - model->path) + 1 : 0;
  if (strcmp(saved->kind, "a saved model") == 0)
    return leat_arena_printf(model->arena, "%.*svariables/variables", folder, model->path);
  return leat_arena_printf(model->arena, "%.*s", dot ? (int)(dot - model->path) : 0, model->path);
}

leat_status leat_model_read(leat_model_file *model, const void *bytes, size_t size,
                            leat_error *error) {
  const ProtobufCMessage *message;
  const char *path = model->path;
  leat_bytes wire = {bytes, size};
  const ProtobufCMessageDescriptor *descriptor = message_of(path, bytes, size);
  tf_saved *saved = leat_new(model->arena, tf_saved);
  if (is_text(path))
    LEAT_TRY(tf_read_text(model->arena, path, bytes, size, descriptor, &wire, error));
  LEAT_TRY(leat_protobuf_unpack(model->arena, descriptor, path, "a graph of TensorFlow", wire.data,
                                wire.size, &message, error));
  LEAT_TRY(take_message(model, saved, message, error));
  model->content = saved;
  return saved->meta ? tf_open_bundle(model->arena, saved, bundle_of(model, saved), error)
                     : LEAT_OK;
}
