// The module leat-onnx: what it makes of a file.
#include "frontend/importer/onnx/model.h"

#include "frontend/importer/protobuf/guard.h"

leat_status leat_model_read(leat_model_file *model, const void *bytes, size_t size,
                            leat_error *error) {
  const ProtobufCMessage *message;
  LEAT_TRY(leat_protobuf_unpack(model->arena, &onnx__model_proto__descriptor, model->path,
                                "an ONNX model", bytes, size, &message, error));
  const Onnx__ModelProto *proto = (const Onnx__ModelProto *)message;
  if (!proto->graph)
    return leat_fail(error, LEAT_INVALID,
                     "%s: it has no graph: it is damaged, or not an ONNX model", model->path);
  model->content = proto;
  return LEAT_OK;
}
