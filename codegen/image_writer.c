// Sections are vectors; finishing lays them out one after the other, each at a multiple of 64.
#include "codegen/image_writer.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, OPERAND_SHIFT = 8 };

void leat_image_writer_init(leat_image_writer *writer, leat_arena *arena) {
  *writer = (leat_image_writer){.arena = arena};
  leat_bytes_map_init(&writer->known, arena);
  leat_map_init(&writer->ports, arena);
  leat_image_writer_text(writer, ""); // index 0
}

static uint32_t find(const leat_image_writer *writer, const void *key, size_t size) {
  return (uint32_t)(uintptr_t)leat_bytes_map_get(&writer->known, key, size);
}

static void keep(leat_image_writer *writer, const void *key, size_t size, uint32_t index) {
  leat_bytes_map_set(&writer->known, key, size, (void *)((uintptr_t)index + 1));
}

leat_text_index leat_image_writer_text(leat_image_writer *writer, const char *text) {
  size_t size = strlen(text) + 1;
  leat_text_index index = find(writer, text, size);
  if (index) return index - 1;
  index = writer->text.count;
  keep(writer, text, size, index);
  leat_vec_reserve(writer->arena, &writer->text, index + (uint32_t)size);
  memcpy(writer->text.items + index, text, size);
  writer->text.count += (uint32_t)size;
  return index;
}

// Returns its offset. Sections hold less than 4 GB.
static uint64_t put_data(leat_image_writer *writer, const void *data, size_t size) {
  if (size >= UINT32_MAX - writer->data.count - ALIGNMENT) leat_out_of_memory();
  uint32_t offset = (writer->data.count + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  leat_vec_reserve(writer->arena, &writer->data, offset + (uint32_t)size);
  uint32_t gap = offset - writer->data.count;
  if (gap) memset(writer->data.items + writer->data.count, 0, gap);
  if (size) memcpy(writer->data.items + offset, data, size);
  writer->data.count = offset + (uint32_t)size;
  return offset;
}

// Elements as the image has them: their bytes' offsets in place of pointers. There is always one,
// so that no two tensors begin at one place.
static uint64_t add_strings(leat_image_writer *writer, const leat_tensor *tensor) {
  int64_t elements = leat_shape_elements(tensor->rank, tensor->shape);
  uint64_t count = elements ? (uint64_t)elements : 1;
  const leat_str *from = tensor->data;
  leat_str *placed = leat_new_array(writer->arena, leat_str, count);
  leat_text bytes = {0};
  for (int64_t i = 0; i < elements; i++) leat_text_add_n(&bytes, from[i].data, from[i].size);
  uint64_t at = put_data(writer, bytes.data, bytes.size);
  leat_text_finish(&bytes);
  for (int64_t i = 0; i < elements; at += from[i++].size)
    placed[i] = (leat_str){(const char *)(uintptr_t)at, from[i].size};
  uint64_t where = put_data(writer, placed, count * sizeof *placed);
  LEAT_IMAGE_ADD(writer, strings, (leat_image_strings){where, count});
  return where;
}

uint64_t leat_image_writer_tensor(leat_image_writer *writer, const leat_tensor *tensor) {
  if (tensor->dtype == LEAT_str) return add_strings(writer, tensor);
  return put_data(writer, tensor->data, (size_t)leat_tensor_bytes(tensor));
}

// -- Formulas -------------------------------------------------------------------------------------

static int64_t word(enum leat_formula_op op, int64_t operand) {
  return (int64_t)((uint64_t)operand << OPERAND_SHIFT) | (int64_t)op;
}

// A word has 56 bits for an operand: a number of more is put together, 32 bits behind the others.
static void add_number(leat_image_writer *writer, int64_t value) {
  const int64_t most = INT64_MAX >> OPERAND_SHIFT, unit = (int64_t)1 << 32;
  if (value >= -most && value <= most) {
    LEAT_IMAGE_ADD(writer, code, word(LEAT_FORMULA_PUSH, value));
    return;
  }
  LEAT_IMAGE_ADD(writer, code, word(LEAT_FORMULA_PUSH, value >> 32));
  LEAT_IMAGE_ADD(writer, code, word(LEAT_FORMULA_PUSH, unit));
  LEAT_IMAGE_ADD(writer, code, word(LEAT_FORMULA_MUL, 0));
  LEAT_IMAGE_ADD(writer, code, word(LEAT_FORMULA_PUSH, value & (unit - 1)));
  LEAT_IMAGE_ADD(writer, code, word(LEAT_FORMULA_ADD, 0));
}

static uint32_t dim_number(leat_image_writer *writer, const leat_atom *atom) {
  for (uint32_t i = 0; i < writer->atoms.count; i++)
    if (writer->atoms.items[i] == atom) return i;
  LEAT_IMAGE_ADD(writer, atoms, atom);
  LEAT_IMAGE_ADD(writer, dims,
                 (leat_image_dim){.name = leat_image_writer_text(writer, atom->name),
                                  .low = atom->low,
                                  .high = atom->high});
  return writer->atoms.count - 1;
}

static void add_dim(leat_image_writer *writer, leat_dim dim);

static void add_atom(leat_image_writer *writer, const leat_atom *atom) {
  if (atom->kind == LEAT_ATOM_NAMED || atom->kind == LEAT_ATOM_ANONYMOUS) {
    LEAT_IMAGE_ADD(writer, code, word(LEAT_FORMULA_DIM, dim_number(writer, atom)));
    return;
  }
  add_dim(writer, atom->a);
  add_dim(writer, atom->b);
  LEAT_IMAGE_ADD(writer, code,
                 word(atom->kind == LEAT_ATOM_MAX ? LEAT_FORMULA_MAX : LEAT_FORMULA_FLOORDIV, 0));
}

// A dim that is just one atom is one word: so the runtime knows that it is bound there.
static void add_term(leat_image_writer *writer, const leat_term *term) {
  bool factor = term->coefficient != 1 || term->count == 0;
  if (factor) add_number(writer, term->coefficient);
  for (uint32_t a = 0; a < term->count; a++) {
    add_atom(writer, term->atoms[a]);
    if (a || factor) LEAT_IMAGE_ADD(writer, code, word(LEAT_FORMULA_MUL, 0));
  }
}

static void add_dim(leat_image_writer *writer, leat_dim dim) {
  if (leat_dim_is_const(dim)) {
    add_number(writer, dim.value);
    return;
  }
  for (uint32_t t = 0; t < dim.poly->count; t++) {
    add_term(writer, &dim.poly->terms[t]);
    if (t) LEAT_IMAGE_ADD(writer, code, word(LEAT_FORMULA_ADD, 0));
  }
}

static uint32_t add_formula(leat_image_writer *writer, leat_dim dim) {
  leat_formula formula = {.value = dim.value};
  if (!leat_dim_is_const(dim)) {
    formula.code_first = writer->code.count;
    add_dim(writer, dim);
    formula.code_count = writer->code.count - formula.code_first;
  }
  LEAT_IMAGE_ADD(writer, formulas, formula);
  return writer->formulas.count - 1;
}

uint32_t leat_image_writer_formula(leat_image_writer *writer, leat_dim dim) {
  struct {
    char what[8]; // no text of these 24 bytes ends with its only NUL
    leat_dim dim;
  } key = {.dim = dim};
  uint32_t index = find(writer, &key, sizeof key);
  if (index) return index - 1;
  index = add_formula(writer, dim);
  keep(writer, &key, sizeof key, index);
  return index;
}

leat_image_origin leat_image_writer_origin(leat_image_writer *writer, const char *name,
                                           const char *place) {
  return (leat_image_origin){leat_image_writer_text(writer, name),
                             place ? leat_image_writer_text(writer, place) : 0};
}

static void add_claim(leat_image_writer *writer, const leat_node *check, uint32_t table) {
  const leat_attr *values = leat_node_attr(check, "values");
  leat_image_claim claim = {
      .node = leat_image_writer_origin(writer, leat_node_attr(check, "of")->string, check->place),
      .says = leat_image_writer_text(writer, leat_node_attr(check, "says")->string),
      .room = leat_image_writer_formula(writer, leat_node_attr(check, "room")->dim),
      .arg_first = writer->args.count,
      .arg_count = values->count,
      .table = table};
  for (uint32_t k = 0; k < values->count; k++) {
    uint32_t formula = leat_image_writer_formula(writer, values->dims[k]);
    LEAT_IMAGE_ADD(writer, args, (leat_image_arg){.is_scalar = 1, .index = formula});
  }
  LEAT_IMAGE_ADD(writer, claims, claim);
}

void leat_image_writer_claims(leat_image_writer *writer, const leat_graph *graph, uint32_t table) {
  for (uint32_t i = 0; i < graph->nodes.count; i++)
    if (graph->nodes.items[i]->op == LEAT_OP_check_dims)
      add_claim(writer, graph->nodes.items[i], table);
}

leat_task_kind leat_task_kind_of(leat_op op) {
  static const leat_task_kind kinds[LEAT_OP_COUNT] = {
#define X(kind, op, range) [LEAT_OP_##op] = LEAT_TASK_##kind,
      LEAT_OP_TASKS(X)
#undef X
  };
  return kinds[op];
}

static leat_image_message message_of(leat_image_writer *writer, const leat_node *node,
                                     uint32_t buffer) {
  bool sends = node->op == LEAT_OP_send;
  const char *peer = leat_node_attr(node, sends ? "to" : "from")->string;
  const leat_node *tensor = sends ? node->inputs[0].node : node;
  return (leat_image_message){.edge = (uint32_t)leat_node_attr(node, "edge")->i,
                              .buffer = buffer,
                              .lag = sends ? 0 : (uint32_t)leat_node_attr(node, "lag")->i,
                              .peer = leat_image_writer_text(writer, peer),
                              .name = leat_image_writer_text(writer, tensor->name)};
}

leat_image_task leat_image_writer_task(leat_image_writer *writer, const leat_node *node,
                                       const uint32_t *buffers) {
  leat_image_task task = {.kind = leat_task_kind_of(node->op)};
  task.node = leat_image_writer_origin(writer, node->name, node->place);
  if (leat_task_range_of(task.kind) == LEAT_RANGE_MESSAGE) {
    task.first = writer->messages.count;
    task.count = 1;
    LEAT_IMAGE_ADD(writer, messages, message_of(writer, node, buffers[0]));
    return task;
  }
  task.first = writer->args.count;
  task.count = node->input_count;
  for (uint32_t i = 0; i < task.count; i++)
    LEAT_IMAGE_ADD(writer, args, (leat_image_arg){.index = buffers[i]});
  if (node->op == LEAT_OP_bind) {
    task.dim = dim_number(writer, leat_dim_atom(leat_node_attr(node, "size")->dim));
    return task;
  }
  const char *message = leat_node_attr(node, "message")->string;
  if (node->op == LEAT_OP_assert && !*message) message = "the assertion failed";
  task.message = leat_image_writer_text(writer, message);
  return task;
}

void leat_image_writer_extent(leat_image_writer *writer, leat_dim dim, uint32_t grown,
                              uint32_t axis) {
  leat_image_extent extent = {dim_number(writer, leat_dim_atom(dim)), grown, axis};
  LEAT_IMAGE_ADD(writer, extents, extent);
}

uint32_t leat_image_writer_table(leat_image_writer *writer) {
  LEAT_IMAGE_ADD(writer, tables, (leat_image_table){0});
  return writer->tables.count - 1;
}

uint32_t leat_image_writer_region(leat_image_writer *writer, uint32_t predicate) {
  leat_image_region region = {.predicate = predicate};
  for (int k = 0; k < 2; k++) region.tables[k] = leat_image_writer_table(writer);
  LEAT_IMAGE_ADD(writer, regions, region);
  return writer->regions.count - 1;
}

void leat_image_writer_carried(leat_image_writer *writer, uint32_t region, const uint32_t *buffers,
                               uint32_t count) {
  leat_image_region *loop = &writer->regions.items[region];
  loop->carried_first = writer->args.count;
  for (uint32_t i = 0; i < count; i++)
    if (writer->buffers.items[buffers[i]].type.dtype == LEAT_str)
      LEAT_IMAGE_ADD(writer, args, (leat_image_arg){.index = buffers[i]});
  loop->carried_count = writer->args.count - loop->carried_first;
}

leat_image_type leat_image_writer_type(leat_image_writer *writer, const leat_type *type) {
  leat_image_type result = {
      .dtype = type->dtype, .rank = (uint32_t)type->rank, .shape_first = writer->formulas.count};
  for (int i = 0; i < type->rank; i++) add_formula(writer, type->dims[i]);
  return result;
}

uint32_t leat_image_writer_placed(leat_image_writer *writer, const leat_placed_file *place,
                                  const leat_type *type) {
  leat_image_file file = {.kind = place->kind,
                          .file = leat_image_writer_text(writer, place->file),
                          .name = leat_image_writer_text(writer, place->name),
                          .size = place->size,
                          .where = place->where};
  file.type = leat_image_writer_type(writer, type);
  LEAT_IMAGE_ADD(writer, files, file);
  return writer->files.count - 1;
}

uint32_t leat_image_writer_file(leat_image_writer *writer, const leat_node *load,
                                const leat_file_table *files, leat_error *error) {
  const char *path = leat_node_attr(load, "file")->string;
  leat_placed_file place = {.file = path,
                            .name = leat_node_attr(load, "name")->string,
                            .size = (uintptr_t)leat_map_get(&files->sizes, path)};
  if (files->place && files->place(files->context, load, NULL, &place, error)) return 0;
  return leat_image_writer_placed(writer, &place, &load->outputs[0]);
}

// -- Ports ----------------------------------------------------------------------------------------

static int compare_places(const void *a, const void *b) {
  const leat_node *x = *(leat_node *const *)a, *y = *(leat_node *const *)b;
  int64_t i = leat_node_attr(x, "index")->i, j = leat_node_attr(y, "index")->i;
  if (i != j) return i < j ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

// The graph's nodes of the op, by their attribute `index`; their numbers are kept.
static leat_node_list number_ports(leat_image_writer *writer, const leat_graph *graph, leat_op op) {
  leat_node_list list = {0};
  for (uint32_t i = 0; i < graph->nodes.count; i++)
    if (graph->nodes.items[i]->op == op) leat_vec_push(writer->arena, &list, graph->nodes.items[i]);
  if (list.count) qsort(list.items, list.count, sizeof *list.items, compare_places);
  for (uint32_t i = 0; i < list.count; i++)
    leat_map_set(&writer->ports, list.items[i], (void *)(uintptr_t)i);
  return list;
}

static const char *port_name(const leat_node *node) {
  return leat_node_attr(node, "name")->string;
}

static void add_fallbacks(leat_image_writer *writer, const leat_entry *entry) {
  for (uint32_t i = 0; i < entry->params.count; i++) {
    const leat_param *param = &entry->params.items[i];
    if (!param->fallback) continue;
    leat_image_feed *feed = &writer->feeds.items[leat_image_writer_port(writer, param->node)];
    feed->has_fallback = 1;
    feed->fallback = leat_image_writer_tensor(writer, param->fallback);
  }
}

void leat_image_writer_ports(leat_image_writer *writer, const leat_graph *graph) {
  leat_node_list feeds = number_ports(writer, graph, LEAT_OP_feed);
  leat_node_list fetches = number_ports(writer, graph, LEAT_OP_fetch);
  for (uint32_t i = 0; i < feeds.count; i++) {
    const leat_node *node = feeds.items[i];
    leat_image_feed feed = {.origin =
                                leat_image_writer_origin(writer, port_name(node), node->place),
                            .donated = leat_node_attr(node, "donated")->i != 0,
                            .type = leat_image_writer_type(writer, &node->outputs[0])};
    LEAT_IMAGE_ADD(writer, feeds, feed);
  }
  for (uint32_t i = 0; i < fetches.count; i++) {
    leat_image_fetch fetch = {.name = leat_image_writer_text(writer, port_name(fetches.items[i]))};
    LEAT_IMAGE_ADD(writer, fetches, fetch);
  }
  for (uint32_t i = 0; i < graph->entries.count; i++)
    add_fallbacks(writer, graph->entries.items[i]);
}

uint32_t leat_image_writer_port(const leat_image_writer *writer, const leat_node *node) {
  return (uint32_t)(uintptr_t)leat_map_get(&writer->ports, node);
}

// -- Layout ---------------------------------------------------------------------------------------

static uint64_t aligned(uint64_t size) {
  return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

leat_image *leat_image_writer_finish(leat_image_writer *writer, const leat_image *header) {
  leat_image head = *header;
  memcpy(head.magic, LEAT_IMAGE_MAGIC, sizeof head.magic);
  head.version = LEAT_IMAGE_VERSION;
  head.header_size = sizeof head;
  head.size = aligned(sizeof head);
#define X(name, type)                                                                              \
  head.name = (leat_range){head.size, writer->name.count};                                         \
  head.size += aligned(writer->name.count * sizeof(type));
  LEAT_IMAGE_RANGES(X)
#undef X
  char *room = leat_arena_alloc(writer->arena, head.size + ALIGNMENT);
  char *block = room + (ALIGNMENT - (uintptr_t)room % ALIGNMENT) % ALIGNMENT;
  memcpy(block, &head, sizeof head);
#define X(name, type)                                                                              \
  if (writer->name.count)                                                                          \
    memcpy(block + head.name.offset, writer->name.items, writer->name.count * sizeof(type));
  LEAT_IMAGE_RANGES(X)
#undef X
  return (leat_image *)block;
}
