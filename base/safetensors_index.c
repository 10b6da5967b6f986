// The index of a model whose tensors lie in several safetensors files beside it, as Hugging Face's
// libraries write it: JSON, of which the map of names to files counts.
//
//     {"metadata": {"total_size": 24},
//      "weight_map": {"W": "model-00001-of-00002.safetensors", …}}
// It runs seldom: compiled for size.
#include "base/data_formats.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/safetensors_parts.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SHARDS = 4096 };

typedef struct shard {
  const char *name;
  leat_safetensors file;
} shard;

typedef struct index_content {
  char *strings; // decoded names of tensors and files
  shard *shards;
  size_t count, capacity;
} index_content;

typedef struct reader {
  leat_json json;
  leat_data_file *out;
  index_content *content;
  size_t capacity;
  bool verified;
} reader;

static bool is_index(const char *path, const unsigned char *bytes, size_t size) {
  (void)path;
  size_t at = 0;
  while (at < size && (bytes[at] == ' ' || bytes[at] == '\n' || bytes[at] == '\r')) at++;
  return at < size && bytes[at] == '{';
}

static leat_status fail_memory(const reader *r) {
  return leat_fail(r->json.error, LEAT_MEMORY, "no memory for the index");
}

static leat_status open_shard(reader *r, shard *out) {
  const leat_file_view *view;
  leat_error cause = {0};
  LEAT_TRY(leat_data_file_add_part(r->out, out->name, &view, r->json.error));
  leat_status status =
      r->verified ? leat_safetensors_parse_verified(&out->file, view->data, view->size, &cause)
                  : leat_safetensors_parse(&out->file, view->data, view->size, &cause);
  if (!status) return LEAT_OK;
  return leat_fail(r->json.error, status, "'%.200s': %s", out->name, cause.message);
}

// The file of that name, opened when it is met first: mostly the one that was met last.
static leat_status find_shard(reader *r, const char *name, shard **out) {
  index_content *c = r->content;
  for (size_t i = c->count; i-- > 0;) {
    *out = &c->shards[i];
    if (strcmp((*out)->name, name) == 0) return LEAT_OK;
  }
  if (c->count == MOST_SHARDS)
    return leat_fail(r->json.error, LEAT_UNSUPPORTED, "the index names more than %d files",
                     MOST_SHARDS);
  shard *grown = leat_memory_with_room(c->shards, c->count, &c->capacity, sizeof *grown);
  if (!grown) return fail_memory(r);
  c->shards = grown;
  *out = &c->shards[c->count++];
  **out = (shard){.name = name};
  LEAT_TRY(open_shard(r, *out));
  r->out->checksums += (*out)->file.checksums;
  return LEAT_OK;
}

static leat_status add_tensor(reader *r, const char *name, const char *file) {
  shard *from = NULL;
  leat_data_file *out = r->out;
  LEAT_TRY(find_shard(r, file, &from));
  const leat_tensor *tensor = leat_safetensors_find(&from->file, name);
  if (!tensor)
    return leat_fail(r->json.error, LEAT_INVALID,
                     "the index says that `%.200s` is in '%s', which lacks it", name, file);
  leat_named_tensor *grown =
      leat_memory_with_room(out->tensors, out->count, &r->capacity, sizeof *grown);
  if (!grown) return fail_memory(r);
  out->tensors = grown;
  out->tensors[out->count++] = (leat_named_tensor){name, *tensor};
  return LEAT_OK;
}

static leat_status read_map(reader *r) {
  LEAT_TRY(leat_json_expect(&r->json, '{'));
  if (leat_json_accept(&r->json, '}')) return LEAT_OK;
  do {
    const char *name, *file;
    LEAT_TRY(leat_json_string(&r->json, &name));
    LEAT_TRY(leat_json_expect(&r->json, ':'));
    LEAT_TRY(leat_json_string(&r->json, &file));
    LEAT_TRY(add_tensor(r, name, file));
  } while (leat_json_accept(&r->json, ','));
  return leat_json_expect(&r->json, '}');
}

static leat_status read_index(reader *r) {
  bool found = false;
  LEAT_TRY(leat_json_expect(&r->json, '{'));
  do {
    const char *key;
    LEAT_TRY(leat_json_string(&r->json, &key));
    LEAT_TRY(leat_json_expect(&r->json, ':'));
    bool is_map = strcmp(key, "weight_map") == 0;
    if (is_map && found) return leat_fail(r->json.error, LEAT_INVALID, "the index has two maps");
    found |= is_map;
    LEAT_TRY(is_map ? read_map(r) : leat_json_skip(&r->json));
  } while (leat_json_accept(&r->json, ','));
  LEAT_TRY(leat_json_expect(&r->json, '}'));
  leat_json_skip_space(&r->json);
  if (r->json.at != r->json.end)
    return leat_fail(r->json.error, LEAT_INVALID, "text follows the index");
  if (found) return LEAT_OK;
  return leat_fail(r->json.error, LEAT_INVALID,
                   "it is JSON without a \"weight_map\", so no index of safetensors files");
}

static leat_status open_index(leat_data_file *file, bool verified, leat_error *error) {
  const char *text = (const char *)file->view.data;
  if (file->view.size > LEAT_SAFETENSORS_LARGEST_HEADER)
    return leat_fail(error, LEAT_INVALID, "an index of more than %d bytes is not read",
                     LEAT_SAFETENSORS_LARGEST_HEADER);
  index_content *c = file->content = calloc(1, sizeof *c);
  if (c) c->strings = malloc(file->view.size + 1);
  if (!c || !c->strings) return leat_fail(error, LEAT_MEMORY, "no memory for the index");
  reader r = {.json = {text, text + file->view.size, c->strings, "the index", error},
              .out = file,
              .content = c,
              .verified = verified};
  return read_index(&r);
}

static void close_index(leat_data_file *file) {
  index_content *c = file->content;
  for (size_t i = 0; c && i < c->count; i++) leat_safetensors_close(&c->shards[i].file);
  if (c) free(c->shards), free(c->strings);
  free(c);
}

const leat_data_format leat_safetensors_index_format = {
    "safetensors index", is_index, open_index, NULL, NULL, close_index};
