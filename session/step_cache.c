// Keys as text, entries as one block:
//
//   u64 magic and version, u64 parts, then for each part
//   u64 sizes: device name, image, number of objects, each object · then these bytes, one after
//   the other, each padded to 8
#include "session/step_cache.h"

#include "base/cpuid.h"
#include "base/wire.h"
#include "ir/print.h"
#include "session/build_id.h"
#include "session/object_cache.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define STEP_MAGIC 0x317065747374656cull // "letstep1"

enum { MOST_PARTS = 4096, MOST_OBJECTS = 1 << 20 };

// -- Keys --------------------------------------------------------------------------------------

static void add_devices(const leat_session *session, leat_text *out) {
  const leat_devices *devices = &session->devices;
  for (uint32_t i = 0; i < devices->items.count; i++) {
    const leat_target *target = devices->items.items[i].target;
    leat_text_add(out, "device %s %s ", devices->items.items[i].name, target->name);
    if (target->add_key) target->add_key(out);
    leat_text_add(out, "\n");
  }
  leat_text_add(out, "client %s\n", devices->client);
}

static void add_dims(const leat_driver *driver, leat_text *out) {
  const leat_pass_context *context = &driver->context;
  uint32_t count = context->dim_values ? context->dim_count : 0;
  for (uint32_t i = 0; i < count; i++)
    if (context->dim_known[i])
      leat_text_add(out, "dim %s %" PRId64 "\n", leat_dims_atom(context->graph->dims, i)->name,
                    context->dim_values[i]);
}

// Parameters are told apart in the text by their names alone, but errors say where they stand.
static void add_places(const leat_graph *graph, leat_text *out) {
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    const leat_node *node = graph->nodes.items[i];
    if (node->op == LEAT_OP_feed && node->place)
      leat_text_add(out, "feed %s %s\n", node->name, node->place);
  }
}

// What a load makes of a file is part of the code: its type, its size.
static void add_files(const leat_driver *driver, leat_text *out) {
  leat_map files;
  leat_map_init(&files, driver->context.scratch);
  leat_files_of(driver->context.graph, &files);
  for (uint32_t i = 0; i < files.count; i++) {
    struct stat info;
    if (stat(files.entries[i].key, &info)) continue;
    leat_text_add(out, "file %lld %lld.%09ld\n", (long long)info.st_size,
                  (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
  }
}

void leat_step_cache_key(const leat_driver *driver, leat_text *out) {
  const leat_session *session = driver->session;
  leat_text_add(out, "step\n");
  leat_build_id_add(out);
  leat_cpu_add_key(out);
  leat_text_add(out, "\ncpu %s blis %d denormals %s numerics %s memory %llu\n", session->cpu,
                session->options.blis, session->options.denormals, session->options.numerics,
                (unsigned long long)session->memory_limit);
  add_devices(session, out);
  add_dims(driver, out);
  add_places(driver->context.graph, out);
  add_files(driver, out);
  leat_graph_print(driver->context.graph, out);
}

// -- Entries -----------------------------------------------------------------------------------

static size_t padded(size_t size) {
  return (size + 7) & ~(size_t)7;
}

static void add_bytes(leat_text *out, leat_bytes bytes) {
  static const char zeros[8];
  leat_text_add_n(out, bytes.data, bytes.size);
  leat_text_add_n(out, zeros, padded(bytes.size) - bytes.size);
}

static void encode(const leat_step_code *code, leat_text *out) {
  leat_wire_put(out, STEP_MAGIC);
  leat_wire_put(out, code->parts.count);
  for (uint32_t i = 0; i < code->parts.count; i++) {
    const leat_part_code *part = &code->parts.items[i];
    leat_bytes device = {part->device, strlen(part->device)};
    leat_wire_put(out, device.size);
    leat_wire_put(out, part->image.size);
    leat_wire_put(out, part->objects.count);
    for (uint32_t j = 0; j < part->objects.count; j++)
      leat_wire_put(out, part->objects.items[j].size);
    add_bytes(out, device);
    add_bytes(out, part->image);
    for (uint32_t j = 0; j < part->objects.count; j++) add_bytes(out, part->objects.items[j]);
  }
}

static uint64_t take_word(leat_wire *in, uint64_t most) {
  uint64_t word = leat_wire_get(in);
  in->bad |= word > most;
  return in->bad ? 0 : word;
}

static leat_bytes take_bytes(leat_wire *in, uint64_t size) {
  if (in->bad || padded(size) > (size_t)(in->end - in->at)) {
    in->bad = true;
    return (leat_bytes){"", 0};
  }
  leat_bytes bytes = {in->at, size};
  in->at += padded(size);
  return bytes;
}

static void decode_part(leat_wire *in, leat_step_code *out) {
  uint64_t most = (uint64_t)(in->end - in->at);
  uint64_t device_size = take_word(in, most), image_size = take_word(in, most);
  uint64_t objects = take_word(in, MOST_OBJECTS);
  leat_part_code part = {0};
  for (uint64_t i = 0; i < objects && !in->bad; i++)
    leat_vec_push(out->arena, &part.objects, (leat_bytes){NULL, take_word(in, most)});
  leat_bytes device = take_bytes(in, device_size);
  part.device = leat_arena_strndup(out->arena, device.data, device.size);
  part.image = take_bytes(in, image_size);
  for (uint64_t i = 0; i < objects && !in->bad; i++)
    part.objects.items[i] = take_bytes(in, part.objects.items[i].size);
  leat_vec_push(out->arena, &out->parts, part);
}

static bool decode(const char *data, size_t size, leat_step_code *out) {
  leat_wire in = {data, data + size, false};
  if (leat_wire_get(&in) != STEP_MAGIC) return false;
  uint64_t parts = take_word(&in, MOST_PARTS);
  for (uint64_t i = 0; i < parts && !in.bad; i++) decode_part(&in, out);
  return !in.bad && in.at == in.end;
}

// -- The cache ---------------------------------------------------------------------------------

bool leat_step_cache_get(leat_session *session, const leat_text *key, leat_step_code *out) {
  void *data = NULL;
  size_t size = 0;
  if (!leat_object_cache_get(session->cache, key->data, key->size, &data, &size)) return false;
  const char *copy = leat_arena_memdup(out->arena, data, size);
  free(data);
  out->parts.count = 0;
  return decode(copy, size, out);
}

void leat_step_cache_put(leat_session *session, const leat_text *key, const leat_step_code *code) {
  if (!code->keepable || !session->cache) return;
  leat_text entry = {0};
  encode(code, &entry);
  leat_object_cache_put(session->cache, key->data, key->size, entry.data, entry.size);
  leat_text_finish(&entry);
}
