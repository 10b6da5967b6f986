#include "session/artifact/weights.h"

#include "base/checksum.h"
#include "base/tensor.h"
#include "base/text.h"
#include "ops/ops.h"
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
  const char *base = leat_path_last(path);
  if (!*name) name = leat_arena_printf(w->arena, "%.*s", (int)strcspn(base, "."), base);
  const char *unique = name;
  for (int i = 1; is_taken(w, unique); i++) unique = leat_arena_printf(w->arena, "%s_%d", name, i);
  return unique;
}

// What tells a value from others: the tensor, and in which order its elements are.
static leat_bytes key_of(leat_weights *w, const leat_node *node, const leat_panels *panels) {
  leat_text text = {0};
  for (; node->op != LEAT_OP_load; node = node->inputs[0].node) {
    const leat_type *type = &node->outputs[0];
    leat_text_add(&text, "%s", leat_op_name(node->op));
    for (int k = 0; k < type->rank; k++) leat_text_add(&text, " %" PRId64, type->dims[k].value);
    for (int k = 0; node->info->reads == LEAT_READS_PERMUTED && k < type->rank; k++)
      leat_text_add(&text, " %" PRId64, leat_node_attr(node, "perm")->ints[k]);
  }
  if (panels)
    leat_text_add(&text, " as %" PRId64 " of %" PRId64 " x %" PRId64 " in panels of %" PRId64,
                  panels->matrices, panels->depth, panels->columns, panels->width);
  const char *file = leat_node_attr(node, "file")->string;
  const char *name = leat_node_attr(node, "name")->string;
  leat_text_add(&text, ":%zu:%s:%s", strlen(file), file, name);
  leat_bytes key = {leat_arena_strndup(w->arena, text.data, text.size), text.size};
  leat_text_finish(&text);
  return key;
}

static leat_status place(leat_weights *w, const leat_node *load, leat_placed_file *out,
                         leat_error *error) {
  const leat_tensor *tensor;
  LEAT_TRY(read_tensor(w, load, &tensor, error));
  if (w->kind == LEAT_WEIGHTS_EMBED) {
    *out = (leat_placed_file){LEAT_FILE_WITHIN, "", "", 0, w->size};
    add_piece(w, tensor->data, (uint64_t)leat_tensor_bytes(tensor));
    return LEAT_OK;
  }
  const char *path = leat_node_attr(load, "file")->string;
  const char *name = name_beside(w, path, leat_node_attr(load, "name")->string);
  leat_vec_push(w->arena, &w->tensors, (leat_named_tensor){name, *tensor});
  *out = (leat_placed_file){LEAT_FILE_BESIDE, leat_path_last(w->file), name, 0, 0};
  return LEAT_OK;
}

// -- Panels ---------------------------------------------------------------------------------------

static leat_status value_of(leat_weights *w, leat_arena *arena, const leat_node *node,
                            leat_tensor *out, leat_error *error) {
  if (node->op == LEAT_OP_load) {
    const leat_tensor *tensor;
    LEAT_TRY(read_tensor(w, node, &tensor, error));
    *out = *tensor;
    return LEAT_OK;
  }
  leat_tensor input;
  LEAT_TRY(value_of(w, arena, node->inputs[0].node, &input, error));
  leat_ref_context context = {.node = node, .inputs = &input, .error = error};
  LEAT_TRY(leat_ref_evaluate(arena, &context));
  *out = context.outputs[0];
  return LEAT_OK;
}

static void pack(const leat_panels *p, const char *from, size_t size, char *out) {
  for (int64_t m = 0; m < p->matrices; m++)
    for (int64_t first = 0; first < p->columns; first += p->width)
      for (int64_t k = 0; k < p->depth; k++, out += (size_t)p->width * size) {
        int64_t rest = p->columns - first, count = rest < p->width ? rest : p->width;
        memcpy(out, from + (size_t)((m * p->depth + k) * p->columns + first) * size,
               (size_t)count * size);
      }
}

static leat_status place_panels(leat_weights *w, const leat_node *node, const leat_panels *panels,
                                leat_placed_file *out, leat_error *error) {
  enum { MOST_PACKED = 1 << 27 };
  size_t size = leat_dtype_size(node->outputs[0].dtype);
  int64_t columns = (panels->columns + panels->width - 1) / panels->width * panels->width;
  uint64_t bytes = (uint64_t)(panels->matrices * panels->depth * columns) * size;
  if (w->kind != LEAT_WEIGHTS_EMBED || !w->packs || bytes > MOST_PACKED - w->packed) return LEAT_OK;
  leat_tensor value;
  leat_arena *scratch = leat_arena_create();
  leat_status status = value_of(w, scratch, node, &value, error);
  char *packed = status ? NULL : leat_arena_alloc(w->arena, bytes);
  if (packed) {
    memset(packed, 0, bytes);
    pack(panels, value.data, size, packed);
    leat_file_drop(value.data, (size_t)leat_tensor_bytes(&value));
  }
  leat_arena_destroy(scratch);
  LEAT_TRY(status);
  *out = (leat_placed_file){LEAT_FILE_WITHIN, "", "", 0, w->size};
  add_piece(w, packed, bytes);
  w->packed += bytes;
  return LEAT_OK;
}

leat_status leat_weights_place(void *weights, const leat_node *node, const leat_panels *panels,
                               leat_placed_file *out, leat_error *error) {
  leat_weights *w = weights;
  leat_bytes key = key_of(w, node, panels);
  const leat_placed_file *placed = leat_bytes_map_get(&w->placed, key.data, key.size);
  if (!placed) {
    LEAT_TRY(panels ? place_panels(w, node, panels, out, error) : place(w, node, out, error));
    placed = leat_arena_memdup(w->arena, out, sizeof *out);
    leat_bytes_map_set(&w->placed, key.data, key.size, (void *)placed);
  }
  *out = *placed;
  return LEAT_OK;
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
