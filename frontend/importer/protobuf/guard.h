// Protobuf messages of files that others wrote. protobuf-c unpacks whatever it is given, as deep as
// it is nested and as large as that gets, and copies all of it; so the wire format is walked first,
// and what a field of bytes has, a model's weights, is left where it lies.
//
// Stated limits: messages nested at most 100 deep, at most LEAT_LARGEST_MESSAGE_COUNT messages and
// strings, a file of at most 2 GiB less a byte, as protobuf itself has it.
#ifndef LEAT_FRONTEND_PROTOBUF_GUARD_H
#define LEAT_FRONTEND_PROTOBUF_GUARD_H

#include "base/arena.h"
#include "leat/status.h"

#include <protobuf-c/protobuf-c.h>

enum { LEAT_DEEPEST_MESSAGE = 100, LEAT_LARGEST_MESSAGE_COUNT = 16000000 };

// The message, in the arena: nothing else frees it. The data of its fields of bytes is that in
// `bytes`, which lives as long. `what` is what messages call the file's kind:
// "an ONNX model".
LEAT_MUST_USE leat_status leat_protobuf_unpack(leat_arena *arena,
                                               const ProtobufCMessageDescriptor *descriptor,
                                               const char *path, const char *what,
                                               const void *bytes, size_t size,
                                               const ProtobufCMessage **out, leat_error *error);

#endif
