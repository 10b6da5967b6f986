// The walk goes by the message's descriptor, as unpacking does: what is no message there is not
// looked into.
//
// On the way the message is written again, but that a field of bytes holds a number instead: that
// is unpacked, and then each number becomes the bytes in the file.
#include "frontend/importer/protobuf/guard.h"

#include "base/text.h"
#include "base/vec.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

typedef struct guard {
  const unsigned char *begin, *at;
  uint64_t messages; // and strings
  const char *path, *what;
  leat_error *error;
  leat_arena *arena;
  const unsigned char *written; // what is before that is in `out`
  leat_text out;
  leat_vec(ProtobufCBinaryData) bytes; // by their numbers
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

// -- Writing --------------------------------------------------------------------------------------

// What was walked over since the last time, as it is.
static void write_rest(guard *g) {
  leat_text_add_n(&g->out, (const char *)g->written, (size_t)(g->at - g->written));
  g->written = g->at;
}

enum { SIZE_BYTES = 5, NUMBER_BYTES = 4 };

// A size, in a varint of as many bytes as any takes.
static void put_size(char out[SIZE_BYTES], size_t size) {
  for (int i = 0; i < SIZE_BYTES; i++)
    out[i] = (char)((size >> 7 * i & 127) | (i + 1 < SIZE_BYTES ? 128 : 0));
}

// `size` bytes are not written, but their number.
static void write_number(guard *g, size_t size) {
  uint32_t number = g->bytes.count;
  char field[SIZE_BYTES + NUMBER_BYTES];
  put_size(field, NUMBER_BYTES);
  memcpy(field + SIZE_BYTES, &number, NUMBER_BYTES);
  leat_text_add_n(&g->out, field, sizeof field);
  leat_vec_push(g->arena, &g->bytes,
                (ProtobufCBinaryData){size, size ? (uint8_t *)(uintptr_t)g->at : NULL});
  g->at += size;
  g->written = g->at;
}

// -- Walking --------------------------------------------------------------------------------------

static leat_status check_message(guard *g, const ProtobufCMessageDescriptor *descriptor,
                                 const unsigned char *end, unsigned depth);

static leat_status check_inner(guard *g, const ProtobufCMessageDescriptor *descriptor, size_t size,
                               unsigned depth) {
  char room[SIZE_BYTES] = {0};
  leat_text_add_n(&g->out, room, sizeof room);
  size_t begin = g->out.size;
  g->written = g->at;
  LEAT_TRY(check_message(g, descriptor, g->at + size, depth));
  write_rest(g);
  put_size(g->out.data + begin - SIZE_BYTES, g->out.size - begin);
  return LEAT_OK;
}

// What a field of a length holds.
static leat_status check_bytes(guard *g, const ProtobufCFieldDescriptor *field,
                               const unsigned char *end, unsigned depth) {
  uint64_t size;
  const unsigned char *begin = g->at;
  LEAT_TRY(read_varint(g, end, &size));
  if (size > (uint64_t)(end - g->at)) return damaged(g, "it ends within a field");
  LEAT_TRY(count_message(g));
  if (field && field->type == PROTOBUF_C_TYPE_STRING && memchr(g->at, 0, size))
    return damaged(g, "a string has a zero byte, which would end it");
  bool message = field && field->type == PROTOBUF_C_TYPE_MESSAGE;
  if (!message && (!field || field->type != PROTOBUF_C_TYPE_BYTES)) return skip(g, end, size);
  const unsigned char *data = g->at;
  g->at = begin;
  write_rest(g);
  g->at = data;
  if (message) return check_inner(g, field->descriptor, size, depth + 1);
  write_number(g, size);
  return LEAT_OK;
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

// -- Unpacking ------------------------------------------------------------------------------------

static void *allocate(void *arena, size_t size) {
  return leat_arena_alloc(arena, size);
}

static void leave(void *arena, void *data) {
  (void)arena;
  (void)data;
}

static void find_bytes(const guard *g, ProtobufCMessage *message);

// An absent one has none.
static void find_one(const guard *g, ProtobufCBinaryData *data) {
  uint32_t number;
  if (!data->len) return;
  assert(data->len == sizeof number);
  memcpy(&number, data->data, sizeof number);
  *data = g->bytes.items[number];
}

// How many there are, and where the first lies.
static size_t count_of(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                       void **out) {
  char *member = (char *)(uintptr_t)message + field->offset;
  const char *quantifier = (const char *)message + field->quantifier_offset;
  *out = member;
  if (field->label == PROTOBUF_C_LABEL_REPEATED) {
    *out = *(void **)member;
    return *(const size_t *)quantifier;
  }
  if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF && *(const uint32_t *)quantifier != field->id)
    return 0;
  if (field->type == PROTOBUF_C_TYPE_MESSAGE) return *(ProtobufCMessage **)member != NULL;
  bool optional =
      field->label == PROTOBUF_C_LABEL_OPTIONAL && !(field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF);
  return !optional || *(const protobuf_c_boolean *)quantifier;
}

static void find_in_field(const guard *g, const ProtobufCMessage *message,
                          const ProtobufCFieldDescriptor *field) {
  void *first;
  size_t count = count_of(message, field, &first);
  for (size_t i = 0; i < count; i++)
    if (field->type == PROTOBUF_C_TYPE_MESSAGE)
      find_bytes(g, ((ProtobufCMessage **)first)[i]);
    else
      find_one(g, &((ProtobufCBinaryData *)first)[i]);
}

// Each number becomes the bytes.
static void find_bytes(const guard *g, ProtobufCMessage *message) {
  for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
    const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
    if (field->type == PROTOBUF_C_TYPE_MESSAGE || field->type == PROTOBUF_C_TYPE_BYTES)
      find_in_field(g, message, field);
  }
}

static leat_status unpack(guard *g, const ProtobufCMessageDescriptor *descriptor, size_t size,
                          const ProtobufCMessage **out) {
  LEAT_TRY(check_message(g, descriptor, g->begin + size, 0));
  write_rest(g);
  ProtobufCAllocator allocator = {allocate, leave, g->arena};
  ProtobufCMessage *message = protobuf_c_message_unpack(
      descriptor, &allocator, g->out.size, (const uint8_t *)(g->out.data ? g->out.data : ""));
  *out = message;
  if (message) find_bytes(g, message);
  if (message) return LEAT_OK;
  return leat_fail(g->error, LEAT_INVALID,
                   "%s: a field is not of its type: it is damaged, or not %s", g->path, g->what);
}

leat_status leat_protobuf_unpack(leat_arena *arena, const ProtobufCMessageDescriptor *descriptor,
                                 const char *path, const char *what, const void *bytes, size_t size,
                                 const ProtobufCMessage **out, leat_error *error) {
  guard g = {.begin = bytes,
             .at = bytes,
             .path = path,
             .what = what,
             .error = error,
             .arena = arena,
             .written = bytes};
  *out = NULL;
  if (size > INT32_MAX)
    return leat_fail(error, LEAT_INVALID, "%s: has more than 2 GiB, which %s never has", path,
                     what);
  leat_status status = unpack(&g, descriptor, size, out);
  leat_text_finish(&g.out);
  return status;
}
