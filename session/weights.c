#include "session/weights.h"

#include "base/checksum.h"
#include "base/tensor.h"
#include "runtime/runtime.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

void leat_weights_start(leat_weights *w, leat_arena *arena, leat_weights_kind kind,
                        const char *output) {
  *w = (leat_weights){.arena = arena, .kind = kind};
  w->file = leat_arena_printf(arena, "%s.safetensors", output);
  leat_bytes_map_init(&w->files, arena);
  leat_bytes_map_init(&w->placed, arena);
}

void leat_weights_finish(leat_weights *w) {
  for (uint32_t i = 0; i < w->opened.count; i++) leat_data_file_close(w->opened.items[i]);
  w->opened.count = 0;
}

// -- Tensors --------------------------------------------------------------------------------------

static leat_status open_file(leat_weights *w, const char *path, leat_data_file **out,
                             leat_error *error) {
  *out = leat_bytes_map_get(&w->files, path, strlen(path));
  if (*out) return LEAT_OK;
  leat_data_file *file = leat_new(w->arena, leat_data_file);
  leat_vec_push(w->arena, &w->opened, file);
  leat_bytes_map_set(&w->files, path, strlen(path), file);
  *out = file;
  return leat_data_file_open(file, path, false, error);
}

static leat_status read_tensor(leat_weights *w, const leat_node *load, const leat_tensor **out,
                               leat_error *error) {
  leat_data_file *file;
  LEAT_TRY(open_file(w, leat_node_attr(load, "file")->string, &file, error));
  LEAT_TRY(leat_data_file_read(file, leat_node_attr(load, "name")->string, out, error));
  leat_type type = leat_type_of_tensor(*out);
  if (leat_type_equal(&type, &load->outputs[0])) return LEAT_OK;
  return leat_fail(error, LEAT_MISMATCH, "%s has changed since it was looked at", file->path);
}

// -- Small ones -----------------------------------------------------------------------------------

typedef struct taking {
  leat_weights *weights;
  leat_error *error;
  leat_status status;
} taking;

bool leat_is_constant(const leat_tensor *value) {
  enum { MOST_BYTES = 1 << 16 };
  return value->dtype == LEAT_str || leat_tensor_bytes(value) <= MOST_BYTES;
}

static leat_status take(leat_weights *w, leat_node *load, leat_error *error) {
  const leat_tensor *tensor;
  LEAT_TRY(read_tensor(w, load, &tensor, error));
  if (!leat_is_constant(tensor)) return LEAT_OK;
  leat_attr *value = leat_new(w->arena, leat_attr);
  value->tensor = leat_tensor_copy(w->arena, tensor);
  leat_node_set_op(load, LEAT_OP_const);
  load->attrs = value;
  return LEAT_OK;
}

static void take_small(void *context, leat_graph *graph) {
  taking *t = context;
  for (uint32_t i = 0; i < graph->nodes.count && !t->status; i++) {
    leat_node *node = graph->nodes.items[i];
    if (node->op == LEAT_OP_load) t->status = take(t->weights, node, t->error);
  }
}

leat_status leat_weights_take_small(leat_weights *w, leat_graph *graph, leat_error *error) {
  taking t = {w, error, LEAT_OK};
  if (w->kind != LEAT_WEIGHTS_LOAD) leat_graph_visit(graph, take_small, &t);
  return t.status;
}

// -- Places ---------------------------------------------------------------------------------------

static void add_piece(leat_weights *w, const void *data, uint64_t size) {
  static const char zeros[ALIGNMENT];
  leat_bytes piece = {data, size}, padding = {zeros, -size % ALIGNMENT};
  leat_vec_push(w->arena, &w->pieces, piece);
  if (padding.size) leat_vec_push(w->arena, &w->pieces, padding);
  w->size += piece.size + padding.size;
}

static bool is_taken(const leat_weights *w, const char *name) {
  for (uint32_t i = 0; i < w->tensors.count; i++)
    if (strcmp(w->tensors.items[i].name, name) == 0) return true;
  return false;
}

// The tensor's own name, or that of its file, which has no other; where two files have one,
// numbered.
static const char *name_beside(const leat_weights *w, const char *path, const char *name) {
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
  if (!*name) name = leat_arena_printf(w->arena, "%.*s", (int)strcspn(base, "."), base);
  const char *unique = name;
  for (int i = 1; is_taken(w, unique); i++) unique = leat_arena_printf(w->arena, "%s_%d", name, i);
  return unique;
}

static leat_status place(leat_weights *w, const leat_node *load, leat_error *error) {
  size_t size;
  const leat_tensor *tensor;
  const char *key = leat_load_key(w->arena, load, &size);
  if (leat_bytes_map_get(&w->placed, key, size)) return LEAT_OK;
  LEAT_TRY(read_tensor(w, load, &tensor, error));
  leat_placed_file *placed = leat_new(w->arena, leat_placed_file);
  leat_bytes_map_set(&w->placed, key, size, placed);
  if (w->kind == LEAT_WEIGHTS_EMBED) {
    *placed = (leat_placed_file){LEAT_FILE_WITHIN, "", "", 0, w->size};
    add_piece(w, tensor->data, (uint64_t)leat_tensor_bytes(tensor));
    return LEAT_OK;
  }
  const char *path = leat_node_attr(load, "file")->string, *slash = strrchr(w->file, '/');
  const char *name = name_beside(w, path, leat_node_attr(load, "name")->string);
  leat_vec_push(w->arena, &w->tensors, (leat_named_tensor){name, *tensor});
  *placed = (leat_placed_file){LEAT_FILE_BESIDE, slash ? slash + 1 : w->file, name, 0, 0};
  return LEAT_OK;
}

static void place_all(void *context, leat_graph *graph) {
  taking *t = context;
  for (uint32_t i = 0; i < graph->nodes.count && !t->status; i++)
    if (graph->nodes.items[i]->op == LEAT_OP_load)
      t->status = place(t->weights, graph->nodes.items[i], t->error);
}

leat_status leat_weights_place(leat_weights *w, leat_graph *graph, leat_error *error) {
  taking t = {w, error, LEAT_OK};
  if (w->kind != LEAT_WEIGHTS_LOAD) leat_graph_visit(graph, place_all, &t);
  return t.status;
}

// -- The file beside ------------------------------------------------------------------------------

// Of names, dtypes, shapes and values.
static uint64_t identify(const leat_weights *w) {
  uint64_t id = 0;
  for (uint32_t i = 0; i < w->tensors.count; i++) {
    const leat_named_tensor *item = &w->tensors.items[i];
    const leat_tensor *tensor = &item->tensor;
    size_t size = (size_t)leat_tensor_bytes(tensor);
    uint64_t words[4 + LEAT_MAX_RANK] = {id, leat_checksum(item->name, strlen(item->name)),
                                         leat_checksum_and_drop(tensor->data, size),
                                         (uint64_t)tensor->dtype};
    for (int32_t k = 0; k < tensor->rank; k++) words[4 + k] = (uint64_t)tensor->shape[k];
    id = leat_checksum(words, (4 + (size_t)tensor->rank) * sizeof *words);
  }
  return id;
}

leat_status leat_weights_write_file(leat_weights *w, uint64_t *out_id, leat_error *error) {
  *out_id = 0;
  if (!w->tensors.count) return LEAT_OK;
  *out_id = identify(w);
  leat_metadata id = {LEAT_WEIGHTS_ID, leat_arena_printf(w->arena, "%016" PRIx64, *out_id)};
  return leat_safetensors_write(w->file, w->tensors.items, w->tensors.count, &id, 1, error);
}
