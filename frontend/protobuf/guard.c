// The walk goes by the message's descriptor, as unpacking does: what is no message there is not
// looked into.
#include "frontend/protobuf/guard.h"

#include <stdbool.h>
#include <string.h>

typedef struct guard {
  const unsigned char *begin, *at;
  uint64_t messages; // and strings
  const char *path, *what;
  leat_error *error;
} guard;

static leat_status damaged(const guard *g, const char *why) {
  return leat_fail(g->error, LEAT_INVALID, "%s: %s at byte %zu: it is damaged, or not %s", g->path,
                   why, (size_t)(g->at - g->begin), g->what);
}

static leat_status read_varint(guard *g, const unsigned char *end, uint64_t *out) {
  *out = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (g->at == end) return damaged(g, "it ends within a number");
    unsigned char byte = *g->at++;
    *out |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) return LEAT_OK;
  }
  return damaged(g, "there is a number of more than 64 bits");
}

static leat_status skip(guard *g, const unsigned char *end, uint64_t count) {
  if (count > (uint64_t)(end - g->at)) return damaged(g, "it ends within a field");
  g->at += count;
  return LEAT_OK;
}

static leat_status count_message(guard *g) {
  if (g->messages++ < LEAT_LARGEST_MESSAGE_COUNT) return LEAT_OK;
  return leat_fail(g->error, LEAT_INVALID, "%s: has more than %d messages", g->path,
                   LEAT_LARGEST_MESSAGE_COUNT);
}

static leat_status check_message(guard *g, const ProtobufCMessageDescriptor *descriptor,
                                 const unsigned char *end, unsigned depth);

// What a field of a length holds.
static leat_status check_bytes(guard *g, const ProtobufCFieldDescriptor *field,
                               const unsigned char *end, unsigned depth) {
  uint64_t size;
  LEAT_TRY(read_varint(g, end, &size));
  if (size > (uint64_t)(end - g->at)) return damaged(g, "it ends within a field");
  LEAT_TRY(count_message(g));
  if (field && field->type == PROTOBUF_C_TYPE_STRING && memchr(g->at, 0, size))
    return damaged(g, "a string has a zero byte, which would end it");
  if (!field || field->type != PROTOBUF_C_TYPE_MESSAGE) return skip(g, end, size);
  return check_message(g, field->descriptor, g->at + size, depth + 1);
}

static leat_status check_field(guard *g, const ProtobufCMessageDescriptor *descriptor,
                               const unsigned char *end, unsigned depth) {
  uint64_t tag, number;
  LEAT_TRY(read_varint(g, end, &tag));
  const ProtobufCFieldDescriptor *field =
      tag >> 3 <= UINT32_MAX
          ? protobuf_c_message_descriptor_get_field(descriptor, (unsigned)(tag >> 3))
          : NULL;
  bool message = field && field->type == PROTOBUF_C_TYPE_MESSAGE;
  if (tag >> 3 == 0 || (message && (tag & 7) != PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED))
    return damaged(g, "there is no such field");
  switch (tag & 7) {
  case PROTOBUF_C_WIRE_TYPE_VARINT: return read_varint(g, end, &number);
  case PROTOBUF_C_WIRE_TYPE_64BIT: return skip(g, end, 8);
  case PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED: return check_bytes(g, field, end, depth);
  case PROTOBUF_C_WIRE_TYPE_32BIT: return skip(g, end, 4);
  default: return damaged(g, "there is a field of no type");
  }
}

static leat_status check_message(guard *g, const ProtobufCMessageDescriptor *descriptor,
                                 const unsigned char *end, unsigned depth) {
  if (depth > LEAT_DEEPEST_MESSAGE)
    return leat_fail(g->error, LEAT_INVALID, "%s: messages are nested more than %d deep", g->path,
                     LEAT_DEEPEST_MESSAGE);
  while (g->at < end) LEAT_TRY(check_field(g, descriptor, end, depth));
  return LEAT_OK;
}

static void *allocate(void *arena, size_t size) {
  return leat_arena_alloc(arena, size);
}

static void leave(void *arena, void *data) {
  (void)arena;
  (void)data;
}

leat_status leat_protobuf_unpack(leat_arena *arena, const ProtobufCMessageDescriptor *descriptor,
                                 const char *path, const char *what, const void *bytes, size_t size,
                                 const ProtobufCMessage **out, leat_error *error) {
  guard g = {bytes, bytes, 0, path, what, error};
  *out = NULL;
  if (size > INT32_MAX)
    return leat_fail(error, LEAT_INVALID, "%s: has more than 2 GiB, which %s never has", path,
                     what);
  LEAT_TRY(check_message(&g, descriptor, g.begin + size, 0));
  ProtobufCAllocator allocator = {allocate, leave, arena};
  *out = protobuf_c_message_unpack(descriptor, &allocator, size, bytes);
  if (*out) return LEAT_OK;
  return leat_fail(error, LEAT_INVALID, "%s: a field is not of its type: it is damaged, or not %s",
                   path, what);
}
