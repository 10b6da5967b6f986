// A checkpoint of TensorFlow, version 2: PREFIX.index is a table of LevelDB, sorted keys and
// values in blocks, behind them an index of the blocks and a footer of 48 bytes; the values are
// BundleEntryProto, and say where in PREFIX.data-NNNNN-of-NNNNN the bytes of a tensor lie.
#include "base/file.h"
#include "base/varint.h"
#include "frontend/importer/graphdef/model.h"
#include "frontend/importer/protobuf/guard.h"

#include <string.h>
#include <unistd.h>

enum { FOOTER = 48, TRAILER = 5, MOST_SHARDS = 99999 };
static const uint64_t magic = 0xdb4775248b80fb57;

typedef struct reader {
  leat_arena *arena;
  tf_saved *saved;
  const char *prefix, *path;
  leat_file_view file;
  int32_t shards;
  tf_bundle_entry objects; // where the graph of objects lies; path NULL: there is none
  leat_error *error;
} reader;

static leat_status damaged(const reader *r, const char *why) {
  return leat_fail(r->error, LEAT_INVALID, "%s: %s: it is damaged, or no checkpoint of TensorFlow",
                   r->path, why);
}

// -- Checksums: CRC-32C, as https://www.rfc-editor.org/rfc/rfc3720#appendix-B.4 has it ------------

static uint32_t crc32c(const unsigned char *data, size_t size) {
  uint32_t table[256], crc = UINT32_MAX;
  for (uint32_t i = 0; i < 256; i++) {
    table[i] = i;
    for (int bit = 0; bit < 8; bit++) table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0x82f63b78 : 0);
  }
  for (size_t i = 0; i < size; i++) crc = table[(crc ^ data[i]) & 255] ^ crc >> 8;
  return ~crc;
}

// As LevelDB and TensorFlow keep it.
static uint32_t masked(uint32_t crc) {
  return (crc >> 15 | crc << 17) + 0xa282ead8;
}

// -- The table ------------------------------------------------------------------------------------

static uint32_t read_u32(const unsigned char *at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

// The entries of the block that a handle, an offset and a size, is of.
static leat_status read_block(reader *r, leat_unread *handle, leat_unread *out) {
  uint64_t offset, size;
  size_t all = r->file.size - FOOTER;
  if (!leat_read_varint(handle, &offset) || !leat_read_varint(handle, &size) || offset > all ||
      size > all - offset || all - offset - size < TRAILER || size < 4)
    return damaged(r, "a block lies outside of the file");
  const unsigned char *block = r->file.data + offset;
  if (block[size]) return leat_fail(r->error, LEAT_UNSUPPORTED, "%s: it is compressed", r->path);
  if (masked(crc32c(block, size + 1)) != read_u32(block + size + 1))
    return damaged(r, "the checksum of a block is another");
  uint64_t restarts = read_u32(block + size - 4);
  if (restarts > (size - 4) / 4) return damaged(r, "a block has too many places to begin at");
  *out = (leat_unread){block, block + size - 4 - 4 * restarts};
  return LEAT_OK;
}

// One entry of a block: its key goes on from the one before.
static leat_status read_entry(reader *r, leat_unread *block, leat_text *key, leat_unread *value) {
  uint64_t shared, own, size;
  if (!leat_read_varint(block, &shared) || !leat_read_varint(block, &own) ||
      !leat_read_varint(block, &size) || shared > key->size ||
      own > (uint64_t)(block->end - block->at) || size > (uint64_t)(block->end - block->at) - own)
    return damaged(r, "an entry goes past its block");
  key->size = shared;
  leat_text_add_n(key, (const char *)block->at, own);
  *value = (leat_unread){block->at + own, block->at + own + size};
  block->at = value->end;
  return LEAT_OK;
}

// -- Entries --------------------------------------------------------------------------------------

static leat_status unpack(reader *r, const ProtobufCMessageDescriptor *d, leat_unread bytes,
                          const ProtobufCMessage **out) {
  return leat_protobuf_unpack(r->arena, d, r->path, "a checkpoint of TensorFlow", bytes.at,
                              (size_t)(bytes.end - bytes.at), out, r->error);
}

static leat_status take_header(reader *r, leat_unread value) {
  const ProtobufCMessage *message;
  LEAT_TRY(unpack(r, &tensorflow__bundle_header_proto__descriptor, value, &message));
  const Tensorflow__BundleHeaderProto *header = (const void *)message;
  if (header->endianness)
    return leat_fail(r->error, LEAT_UNSUPPORTED, "%s: its numbers are big-endian", r->path);
  r->shards = header->num_shards;
  if (r->shards < 1 || r->shards > MOST_SHARDS) return damaged(r, "it has no data");
  return LEAT_OK;
}

static const char objects_key[] = "_CHECKPOINTABLE_OBJECT_GRAPH";

static const char *shard_path(const reader *r, int32_t shard) {
  return leat_arena_printf(r->arena, "%s.data-%05d-of-%05d", r->prefix, (int)shard, (int)r->shards);
}

// Strings and parts of variables are passed over: nothing is begun with them.
static leat_status take_entry(reader *r, const leat_text *key, leat_unread value) {
  const ProtobufCMessage *message;
  leat_arena *arena = r->arena;
  LEAT_TRY(unpack(r, &tensorflow__bundle_entry_proto__descriptor, value, &message));
  const Tensorflow__BundleEntryProto *entry = (const void *)message;
  const char *name = leat_arena_strndup(arena, key->data, key->size);
  tf_bundle_entry made = {.key = name,
                          .name = name,
                          .offset = entry->offset,
                          .size = entry->size,
                          .crc = entry->crc32c};
  Tensorflow__TensorProto type = TENSORFLOW__TENSOR_PROTO__INIT;
  if (strcmp(made.name, objects_key) == 0 && entry->shard_id >= 0) {
    r->objects = made;
    r->objects.path = shard_path(r, entry->shard_id);
  }
  type.dtype = entry->dtype;
  type.tensor_shape = entry->shape;
  if (tf_tensor_type(&type, made.name, &made.type, NULL) || made.type.dtype == LEAT_str)
    return LEAT_OK;
  if (leat_tensor_bytes(&made.type) != made.size || made.offset < 0 || entry->shard_id < 0 ||
      entry->shard_id >= r->shards)
    return damaged(r, "a tensor has another size than its shape");
  made.path = shard_path(r, entry->shard_id);
  leat_vec_push(arena, &r->saved->bundle, made);
  return LEAT_OK;
}

static leat_status read_data_block(reader *r, leat_unread *handle, leat_text *key) {
  leat_unread block, value;
  LEAT_TRY(read_block(r, handle, &block));
  key->size = 0;
  while (block.at < block.end) {
    LEAT_TRY(read_entry(r, &block, key, &value));
    if (key->size)
      LEAT_TRY(take_entry(r, key, value));
    else
      LEAT_TRY(take_header(r, value));
  }
  return LEAT_OK;
}

static leat_status read_table(reader *r, leat_text *key, leat_text *index_key) {
  if (r->file.size < FOOTER) return damaged(r, "it is too short");
  const unsigned char *end = r->file.data + r->file.size;
  uint64_t found = read_u32(end - 8) | (uint64_t)read_u32(end - 4) << 32, skipped;
  if (found != magic) return damaged(r, "its last bytes are others");
  leat_unread footer = {end - FOOTER, end - 8}, index, handle;
  for (int i = 0; i < 2; i++) // where the index of the file's own properties lies
    if (!leat_read_varint(&footer, &skipped)) return damaged(r, "its footer is cut");
  LEAT_TRY(read_block(r, &footer, &index));
  while (index.at < index.end) {
    LEAT_TRY(read_entry(r, &index, index_key, &handle));
    LEAT_TRY(read_data_block(r, &handle, key));
  }
  return LEAT_OK;
}

static void close_file(void *view) {
  leat_file_view_close(view);
}

// -- Version 2's objects: a key is the way to an object, which has the variable's name ------------

static tf_bundle_entry *find(const tf_saved *saved, const char *name) {
  for (uint32_t i = 0; i < saved->bundle.count; i++)
    if (strcmp(saved->bundle.items[i].name, name) == 0) return &saved->bundle.items[i];
  return NULL;
}

// A name that several objects have is nobody's.
static void name_variable(
    tf_saved *saved,
    const Tensorflow__TrackableObjectGraph__TrackableObject__SerializedTensor *tensor) {
  tf_bundle_entry *entry = find(saved, tensor->checkpoint_key);
  tf_bundle_entry *other = find(saved, tensor->full_name);
  if (!entry || !*tensor->full_name || entry == other) return;
  if (other) other->name = "";
  entry->name = other ? "" : tensor->full_name;
}

// The one string that it is: its size, a checksum of that, its bytes.
static leat_status read_objects(reader *r, const leat_file_view *file) {
  const tf_bundle_entry *e = &r->objects;
  uint64_t size;
  if (e->offset < 0 || (uint64_t)e->offset > file->size || e->size < 0 ||
      (uint64_t)e->size > file->size - (uint64_t)e->offset)
    return damaged(r, "its objects lie outside of the file");
  leat_unread in = {file->data + e->offset, file->data + e->offset + e->size};
  if (!leat_read_varint(&in, &size) || in.end - in.at < 4 || size != (uint64_t)(in.end - in.at - 4))
    return damaged(r, "its objects have another size");
  const ProtobufCMessage *message;
  in.at += 4;
  LEAT_TRY(unpack(r, &tensorflow__trackable_object_graph__descriptor, in, &message));
  const Tensorflow__TrackableObjectGraph *objects = (const void *)message;
  for (size_t i = 0; i < objects->n_nodes; i++)
    for (size_t k = 0; k < objects->nodes[i]->n_attributes; k++)
      name_variable(r->saved, objects->nodes[i]->attributes[k]);
  return LEAT_OK;
}

static leat_status take_objects(reader *r) {
  leat_file_view file = {0};
  if (!r->objects.path) return LEAT_OK;
  LEAT_TRY(leat_file_view_open(&file, r->objects.path, r->error));
  leat_cleanup cleanup;
  leat_cleanup_hold(&cleanup, close_file, &file);
  leat_status status = read_objects(r, &file);
  leat_cleanup_run(&cleanup);
  return status;
}

leat_status tf_open_bundle(leat_arena *arena, tf_saved *saved, const char *prefix,
                           leat_error *error) {
  reader r = {.arena = arena, .saved = saved, .prefix = prefix, .error = error};
  leat_text key = {0}, index_key = {0};
  r.path = leat_arena_printf(arena, "%s.index", prefix);
  if (access(r.path, F_OK)) return LEAT_OK;
  LEAT_TRY(leat_file_view_open(&r.file, r.path, error));
  leat_cleanup cleanup;
  leat_cleanup_hold(&cleanup, close_file, &r.file);
  leat_status status = read_table(&r, &key, &index_key);
  if (!status) status = take_objects(&r);
  leat_text_finish(&key);
  leat_text_finish(&index_key);
  leat_cleanup_run(&cleanup);
  return status;
}

const tf_bundle_entry *tf_find_saved(const tf_saved *saved, const char *key, const char *name) {
  for (uint32_t i = 0; key && i < saved->bundle.count; i++)
    if (strcmp(saved->bundle.items[i].key, key) == 0) return &saved->bundle.items[i];
  return name ? find(saved, name) : NULL;
}

static leat_status copy(const tf_bundle_entry *entry, const leat_file_view *file, leat_arena *arena,
                        leat_tensor *out, leat_error *error) {
  if ((uint64_t)entry->offset > file->size || (uint64_t)entry->size > file->size - entry->offset)
    return leat_fail(error, LEAT_INVALID, "%s: it ends before tensor `%s`", entry->path,
                     entry->name);
  const unsigned char *from = file->data + entry->offset;
  if (masked(crc32c(from, (size_t)entry->size)) != entry->crc)
    return leat_fail(error, LEAT_INVALID, "%s: the checksum of tensor `%s` is another", entry->path,
                     entry->name);
  *out = entry->type;
  out->data = leat_arena_try_alloc(arena, (size_t)entry->size + 1);
  if (!out->data) return leat_fail(error, LEAT_MEMORY, "no memory for tensor `%s`", entry->name);
  memcpy(out->data, from, (size_t)entry->size);
  return LEAT_OK;
}

leat_status tf_read_variable(leat_arena *arena, const tf_bundle_entry *entry, leat_tensor *out,
                             leat_error *error) {
  leat_file_view file = {0};
  LEAT_TRY(leat_file_view_open(&file, entry->path, error));
  leat_cleanup cleanup;
  leat_cleanup_hold(&cleanup, close_file, &file);
  leat_status status = copy(entry, &file, arena, out, error);
  leat_cleanup_run(&cleanup);
  return status;
}
