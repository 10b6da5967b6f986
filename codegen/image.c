// The image: units, launches and storage as the records of leat/artifact.h. Kernels are kept once,
// by their text, whose hash is their symbol.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "codegen/image_writer.h"
#include "codegen/stages.h"

#include <inttypes.h>

// A body's table, and the number that its region has given it.
typedef struct leat_pending_table {
  leat_table *table;
  uint32_t number;
} leat_pending_table;

struct leat_image_state {
  leat_image_writer out;
  leat_map buffers;       // leat_storage → number + 1
  leat_bytes_map kernels; // symbol → number + 1
  leat_bytes_map shapes;  // hash of a kernel's instructions → number + 1
  leat_map known;         // leat_kernel → number + 1
  leat_vec(leat_kernel *) kernel_list;
  leat_vec(const char *) symbols;
  leat_vec(leat_pending_table) pending; // of the regions of tables that are written
};

static leat_image_state *state_of(const leat_codegen_state *cg) {
  return cg->image;
}

// -- Storage --------------------------------------------------------------------------------------

// Whether it lies in a piece of memory of the table around.
static bool is_piece(const leat_storage *storage) {
  return storage->place.arena == 0 && storage->place.table->memory;
}

// The arena that it lies in.
static uint32_t arena_of(const leat_storage *storage) {
  const leat_table *table = storage->place.table;
  uint32_t arena = storage->place.arena;
  if (!table->body) return arena;
  return is_piece(storage) ? arena_of(table->memory) : table->arenas.items[arena].number;
}

static leat_dim offset_of(leat_codegen_state *cg, const leat_storage *storage) {
  leat_dim offset = storage->place.offset;
  bool fits =
      !is_piece(storage) ||
      leat_dim_add(cg->graph->dims, offset, offset_of(cg, storage->place.table->memory), &offset);
  if (!fits) leat_fail(cg->error, LEAT_UNSUPPORTED, "a step needs too much memory");
  return offset;
}

// The slot of a pool as an arena, which can change places with others.
static uint32_t piece_of(leat_codegen_state *cg, leat_storage *storage) {
  const leat_storage *pool = storage->place.pool;
  leat_dims *dims = cg->graph->dims;
  if (storage->place.piece) return storage->place.piece;
  uint32_t around = arena_of(pool);
  leat_arena_plan piece = {.needs = leat_dim_const(-1), // no set of dims
                           .size = pool->place.size,
                           .table = cg->arenas.items[around].table,
                           .within = around + 1};
  bool fits = leat_dim_mul(dims, piece.size, leat_dim_const(storage->place.slot), &piece.where) &&
              leat_dim_add(dims, piece.where, offset_of(cg, pool), &piece.where);
  if (!fits) leat_fail(cg->error, LEAT_UNSUPPORTED, "a step needs too much memory");
  leat_vec_push(cg->arena, &cg->arenas, piece);
  return storage->place.piece = cg->arenas.count - 1;
}

static uint64_t where_in_arena(leat_codegen_state *cg, const leat_storage *storage) {
  leat_dim offset = storage->place.pool ? leat_dim_const(0) : offset_of(cg, storage);
  return leat_image_writer_formula(&state_of(cg)->out, offset);
}

static uint64_t where_of(leat_codegen_state *cg, const leat_storage *storage) {
  leat_image_state *image = state_of(cg);
  switch (storage->kind) {
  case LEAT_BUFFER_ARENA: return where_in_arena(cg, storage);
  case LEAT_BUFFER_VARIABLE: return storage->state->id;
  case LEAT_BUFFER_FEED: return leat_image_writer_port(&image->out, storage->node);
  case LEAT_BUFFER_CONSTANT:
    return leat_image_writer_tensor(&image->out, leat_node_attr(storage->node, "value")->tensor);
  case LEAT_BUFFER_FILE:
    if (storage->placed)
      return leat_image_writer_placed(&image->out, storage->placed, &storage->type);
    return leat_image_writer_file(&image->out, storage->node, cg->options->files, cg->error);
  case LEAT_BUFFER_GROWN: return storage->grown;
  case LEAT_BUFFER_PREPARED: // its launch is the next one that is added
    LEAT_IMAGE_ADD(&image->out, prepared, (leat_image_prepared){image->out.launches.count});
    return image->out.prepared.count - 1;
  case LEAT_BUFFER_RUN_COUNT: break;
  }
  return 0;
}

// What is made in a donated feed is a buffer of that, with its own type.
static uint32_t add_buffer(leat_codegen_state *cg, leat_storage *storage, const leat_type *type) {
  leat_image_writer *out = &state_of(cg)->out;
  leat_storage *owner = leat_storage_owner(storage);
  if (owner->kind == LEAT_BUFFER_FEED) storage = owner;
  leat_image_buffer buffer = {.kind = storage->kind,
                              .where = where_of(cg, storage),
                              .type = leat_image_writer_type(out, type)};
  if (storage->kind == LEAT_BUFFER_ARENA)
    buffer.arena = storage->place.pool ? piece_of(cg, storage) : arena_of(storage);
  LEAT_IMAGE_ADD(out, buffers, buffer);
  return out->buffers.count - 1;
}

static uint32_t buffer_of(leat_codegen_state *cg, leat_storage *storage) {
  leat_image_state *image = state_of(cg);
  uintptr_t known = (uintptr_t)leat_map_get(&image->buffers, storage);
  if (known) return (uint32_t)known - 1;
  uint32_t number = add_buffer(cg, storage, &storage->type);
  leat_map_set(&image->buffers, storage, (void *)((uintptr_t)number + 1));
  return number;
}

// The same memory under another shape.
static uint32_t buffer_as(leat_codegen_state *cg, leat_storage *storage, const leat_type *type) {
  if (leat_type_equal(&storage->type, type)) return buffer_of(cg, storage);
  return add_buffer(cg, storage, type);
}

// -- Launches -------------------------------------------------------------------------------------

// What a kernel is made of, in the order in which it was built: equal for kernels that were built
// alike, which so need not be printed to find out.
static void add_shape(const k_block *block, leat_text *out) {
  for (uint32_t i = 0; i < block->instrs.count; i++) {
    const k_instr *instr = block->instrs.items[i];
    int64_t words[] = {instr->op,
                       instr->dtype,
                       instr->lanes,
                       instr->id,
                       instr->imm.i,
                       instr->imm2,
                       instr->buffer ? (int64_t)instr->buffer->space << 24 | instr->buffer->number
                                     : -1,
                       instr->buffer ? instr->buffer->count : 0};
    leat_text_add_n(out, (const char *)words, sizeof words);
    for (uint32_t j = 0; j < instr->arg_count; j++)
      leat_text_add_n(out, (const char *)&instr->args[j]->id, sizeof instr->args[j]->id);
    for (int j = 0; j < 2; j++)
      if (instr->body[j]) add_shape(instr->body[j], out);
  }
  for (uint32_t i = 0; i < block->yields.count; i++)
    leat_text_add_n(out, (const char *)&block->yields.items[i]->id, sizeof(uint32_t));
  if (block->condition) leat_text_add_n(out, (const char *)&block->condition->id, sizeof(uint32_t));
  leat_text_add_n(out, ";", 1);
}

// The number of the symbol; *added when it is new.
static uint32_t symbol_number(leat_codegen_state *cg, const char *symbol, const char *title,
                              bool *added) {
  leat_image_state *image = state_of(cg);
  uintptr_t known = (uintptr_t)leat_bytes_map_get(&image->kernels, symbol, strlen(symbol));
  *added = !known;
  if (known) return (uint32_t)known - 1;
  leat_image_kernel record = {.symbol = leat_image_writer_text(&image->out, symbol),
                              .title = leat_image_writer_text(&image->out, title)};
  LEAT_IMAGE_ADD(&image->out, kernels, record);
  uint32_t number = image->out.kernels.count - 1;
  leat_bytes_map_set(&image->kernels, symbol, strlen(symbol), (void *)((uintptr_t)number + 1));
  return number;
}

static uint32_t function_number(leat_codegen_state *cg, const char *symbol) {
  bool added;
  return symbol_number(cg, symbol, symbol, &added);
}

static uint32_t kernel_of_text(leat_codegen_state *cg, leat_kernel *kernel, const char *title) {
  leat_image_state *image = state_of(cg);
  leat_text text = {0};
  leat_kernel_print(kernel, &text);
  XXH128_hash_t hash = XXH3_128bits(text.data, text.size);
  leat_text_finish(&text);
  char *symbol =
      leat_arena_printf(cg->arena, "k_%016" PRIx64 "%016" PRIx64, hash.high64, hash.low64);
  bool added;
  uint32_t number = symbol_number(cg, symbol, title, &added);
  if (!added) return number;
  leat_vec_push(cg->arena, &image->kernel_list, kernel);
  leat_vec_push(cg->arena, &image->symbols, symbol);
  return number;
}

static uint32_t kernel_of_shape(leat_codegen_state *cg, leat_kernel *kernel, const char *title) {
  leat_bytes_map *shapes = &state_of(cg)->shapes;
  leat_text shape = {0};
  for (uint32_t i = 0; i < kernel->buffers.count; i++) {
    const k_buffer *buffer = kernel->buffers.items[i];
    int32_t words[] = {buffer->dtype, buffer->written, buffer->streamed};
    leat_text_add_n(&shape, (const char *)words, sizeof words);
  }
  add_shape(&kernel->body, &shape);
  XXH128_hash_t key = XXH3_128bits(shape.data, shape.size);
  leat_text_finish(&shape);
  uintptr_t known = (uintptr_t)leat_bytes_map_get(shapes, &key, sizeof key);
  if (known) return (uint32_t)known - 1;
  uint32_t number = kernel_of_text(cg, kernel, title);
  leat_bytes_map_set(shapes, &key, sizeof key, (void *)((uintptr_t)number + 1));
  return number;
}

static uint32_t kernel_number(leat_codegen_state *cg, leat_kernel *kernel, const char *title) {
  leat_map *known = &state_of(cg)->known;
  uintptr_t number = (uintptr_t)leat_map_get(known, kernel);
  if (!number) {
    number = (uintptr_t)kernel_of_shape(cg, kernel, title) + 1;
    leat_map_set(known, kernel, (void *)number);
  }
  return (uint32_t)number - 1;
}

static void add_arg(leat_image_state *image, bool is_scalar, uint32_t index) {
  LEAT_IMAGE_ADD(&image->out, args, (leat_image_arg){is_scalar, index});
}

static leat_image_origin origin_of(leat_image_state *image, const leat_node *node) {
  return leat_image_writer_origin(&image->out, node->name, node->place);
}

static void add_site(leat_image_state *image, const leat_fail_site *site) {
  leat_image_site record = {.node = origin_of(image, site->node),
                            .says = leat_image_writer_text(&image->out, site->says),
                            .arg_first = image->out.args.count,
                            .arg_count = (uint32_t)site->dim_count};
  for (int i = 0; i < site->dim_count; i++)
    add_arg(image, true, leat_image_writer_formula(&image->out, site->dims[i]));
  LEAT_IMAGE_ADD(&image->out, sites, record);
}

// The node that the unit computes last.
static leat_image_origin origin_of_unit(leat_image_state *image, const leat_unit *unit) {
  if (unit->kind == LEAT_UNIT_ROTATE) return origin_of(image, unit->rotation->node);
  if (unit->kind == LEAT_UNIT_ROOM) return origin_of(image, unit->room_for);
  const leat_item *item = unit->kind == LEAT_UNIT_COPY
                              ? unit->copy.assign
                              : unit->members.items[unit->members.count - 1];
  return item ? origin_of(image, item->node) : leat_image_writer_origin(&image->out, "copy", NULL);
}

static void add_extents(leat_image_state *image, const leat_extents *extents, uint32_t *first,
                        uint32_t *count) {
  *first = image->out.extents.count;
  *count = extents->count;
  for (uint32_t i = 0; i < extents->count; i++) {
    const leat_extent *extent = &extents->items[i];
    leat_image_writer_extent(&image->out, extent->dim, extent->grown, extent->axis);
  }
}

// Its tables are written when the one that it stands in is.
static uint32_t add_region(leat_codegen_state *cg, const leat_region_tables *region) {
  leat_image_state *image = state_of(cg);
  uint32_t number = leat_image_writer_region(&image->out, buffer_of(cg, region->goes_on));
  uint32_t count = region->carried.count, *carried = leat_new_array(cg->arena, uint32_t, count + 1);
  for (uint32_t i = 0; i < count; i++) carried[i] = buffer_of(cg, region->carried.items[i]);
  leat_image_writer_carried(&image->out, number, carried, count);
  leat_image_region *record = &image->out.regions.items[number];
  record->rows_first = image->out.rows.count;
  record->rows_count = region->rows.count;
  for (uint32_t i = 0; i < region->rows.count; i++) {
    const leat_appended *rows = &region->rows.items[i];
    LEAT_IMAGE_ADD(&image->out, rows,
                   (leat_image_rows){rows->to->grown, buffer_of(cg, rows->count)});
  }
  add_extents(image, &region->extents, &record->extent_first, &record->extent_count);
  for (int i = 0; i < 2; i++) {
    leat_pending_table pending = {region->tables[i], image->out.regions.items[number].tables[i]};
    leat_vec_push(cg->arena, &image->pending, pending);
  }
  return number;
}

static void add_launch(leat_codegen_state *cg, const leat_unit *unit, leat_launch *launch) {
  leat_image_state *image = state_of(cg);
  leat_image_launch record = {.kind = launch->kind,
                              .arg_count = launch->buffers.count + launch->scalars.count,
                              .tiles = leat_image_writer_formula(&image->out, launch->tiles),
                              .work = leat_image_writer_formula(&image->out, launch->work),
                              .site_first = image->out.sites.count,
                              .site_count = launch->sites.count,
                              .node = origin_of_unit(image, unit)};
  if (launch->kernel) record.kernel = kernel_number(cg, launch->kernel, launch->title);
  if (launch->function) record.kernel = function_number(cg, launch->function);
  if (launch->region) record.region = add_region(cg, launch->region);
  record.arg_first = image->out.args.count;
  for (uint32_t i = 0; i < launch->buffers.count; i++)
    add_arg(image, false, buffer_of(cg, leat_unit_storage(unit, launch->buffers.items[i])));
  for (uint32_t i = 0; i < launch->scalars.count; i++)
    add_arg(image, true, leat_image_writer_formula(&image->out, launch->scalars.items[i]));
  for (uint32_t i = 0; i < launch->sites.count; i++) add_site(image, &launch->sites.items[i]);
  LEAT_IMAGE_ADD(&image->out, launches, record);
}

// -- Tasks ----------------------------------------------------------------------------------------

static leat_image_task grow_task(leat_codegen_state *cg, const leat_unit *unit) {
  leat_image_state *image = state_of(cg);
  uint32_t from = buffer_as(cg, leat_unit_storage(unit, unit->copy.from), unit->copy.type);
  leat_image_task task = {.kind = leat_unit_task_kind(unit),
                          .first = image->out.args.count,
                          .count = 1,
                          .node = origin_of_unit(image, unit),
                          .grown = unit->copy.to->grown};
  add_arg(image, false, from);
  return task;
}

// Of a unit that is one: what it reads, a recv what it fills.
static leat_image_task own_task(leat_table *table, const leat_unit *unit) {
  leat_codegen_state *cg = table->cg;
  if (unit->kind == LEAT_UNIT_COPY) return grow_task(cg, unit);
  const leat_node *node = unit->members.items[0]->node;
  if (unit->kind == LEAT_UNIT_REGION)
    return (leat_image_task){.kind = leat_unit_task_kind(unit),
                             .first = add_region(cg, &unit->region),
                             .count = 1,
                             .node = origin_of(state_of(cg), node)};
  uint32_t *buffers = leat_new_array(cg->arena, uint32_t, (size_t)node->input_count + 1);
  if (unit->received) buffers[0] = buffer_of(cg, unit->received);
  for (uint32_t i = 0; i < node->input_count; i++) {
    leat_storage *storage = leat_item_memory(table, node->inputs[i])->storage;
    buffers[i] = buffer_as(cg, leat_unit_storage(unit, storage), leat_value_type(node->inputs[i]));
  }
  return leat_image_writer_task(&state_of(cg)->out, node, buffers);
}

static leat_image_task segment(leat_codegen_state *cg, const leat_task *from) {
  leat_image_state *image = state_of(cg);
  leat_image_task task = {.kind = LEAT_TASK_SEGMENT, .first = image->out.launches.count};
  task.node = origin_of_unit(image, from->units.items[0]);
  for (uint32_t i = 0; i < from->units.count; i++)
    for (uint32_t j = 0; j < from->units.items[i]->launches.count; j++)
      add_launch(cg, from->units.items[i], from->units.items[i]->launches.items[j]);
  task.count = image->out.launches.count - task.first;
  return task;
}

static void add_task(leat_table *table, const leat_task *from) {
  leat_image_state *image = state_of(table->cg);
  const leat_unit *first = from->units.items[0];
  leat_image_task task = leat_unit_task_kind(first) == LEAT_TASK_SEGMENT ? segment(table->cg, from)
                                                                         : own_task(table, first);
  task.dependencies = from->needs.count;
  task.successor_first = image->out.successors.count;
  task.successor_count = from->successors.count;
  for (uint32_t i = 0; i < from->successors.count; i++)
    LEAT_IMAGE_ADD(&image->out, successors, from->successors.items[i]);
  LEAT_IMAGE_ADD(&image->out, tasks, task);
}

static void fill_table(leat_table *table, uint32_t number) {
  leat_codegen_state *cg = table->cg;
  leat_image_state *image = state_of(cg);
  table->number = number;
  if (table->body) leat_image_writer_claims(&image->out, table->body, number);
  leat_image_table record = {.task_first = image->out.tasks.count,
                             .task_count = table->tasks.count};
  add_extents(image, &table->extents, &record.extent_first, &record.extent_count);
  image->out.tables.items[number] = record;
  for (uint32_t i = 0; i < table->tasks.count; i++) add_task(table, &table->tasks.items[i]);
  for (uint32_t i = 0; i < table->fetches.count; i++) {
    const leat_fetched *fetched = &table->fetches.items[i];
    uint32_t number = leat_image_writer_port(&image->out, fetched->node);
    uint32_t buffer = buffer_as(cg, fetched->storage, fetched->type);
    image->out.fetches.items[number].buffer = buffer;
  }
}

void leat_image_add_table(leat_table *table) {
  leat_image_writer *out = &state_of(table->cg)->out;
  uint32_t number = leat_image_writer_table(out);
  leat_image_state *image = state_of(table->cg);
  fill_table(table, number);
  for (uint32_t i = 0; i < image->pending.count; i++)
    fill_table(image->pending.items[i].table, image->pending.items[i].number);
  image->pending.count = 0;
  if (table->initialises) out->variables.items[table->initialises->id].table = number;
}

// -- Begin and end --------------------------------------------------------------------------------

enum { TRAINABLE = 1, WRITTEN = 2, INITIAL = 4 }; // leat_image_variable.flags

static void add_variable(leat_image_state *image, const leat_state *state) {
  leat_image_variable variable = {
      .origin = leat_image_writer_origin(&image->out, state->name, state->place),
      .container = leat_image_writer_text(&image->out, state->container),
      .type = leat_image_writer_type(&image->out, &state->type),
      .flags = state->trainable ? TRAINABLE : 0};
  if (state->init.node && state->init.node->op == LEAT_OP_const) {
    variable.flags |= INITIAL;
    variable.initial =
        leat_image_writer_tensor(&image->out, leat_node_attr(state->init.node, "value")->tensor);
  }
  LEAT_IMAGE_ADD(&image->out, variables, variable);
}

void leat_image_begin(leat_codegen_state *cg) {
  leat_image_state *image = leat_new(cg->arena, leat_image_state);
  cg->image = image;
  leat_image_writer_init(&image->out, cg->arena);
  leat_map_init(&image->buffers, cg->arena);
  leat_bytes_map_init(&image->kernels, cg->arena);
  leat_bytes_map_init(&image->shapes, cg->arena);
  leat_map_init(&image->known, cg->arena);
  for (uint32_t i = 0; i < cg->graph->states.count; i++)
    add_variable(image, cg->graph->states.items[i]);
  for (uint32_t i = 0; i < cg->graph->states.count; i++)
    if (cg->assigned[i]) image->out.variables.items[i].flags |= WRITTEN;
  leat_image_writer_ports(&image->out, cg->graph);
  leat_image_writer_claims(&image->out, cg->graph, 0);
}

static leat_text_index text_or_none(leat_image_state *image, const char *text) {
  return leat_image_writer_text(&image->out, text ? text : "");
}

leat_status leat_image_end(leat_codegen_state *cg, leat_compiled *out) {
  leat_image_state *image = state_of(cg);
  leat_image header = {.device = text_or_none(image, cg->graph->device),
                       .keep_denormals = cg->options->keep_denormals};
  header.name = leat_image_writer_text(&image->out, cg->graph->name);
  header.entry = text_or_none(image, cg->options->entry);
  header.about = text_or_none(image, cg->options->about);
  header.level = cg->options->level;
  for (uint32_t i = 0; i < cg->arenas.count; i++) {
    const leat_arena_plan *arena = &cg->arenas.items[i];
    leat_image_arena record = {.size = leat_image_writer_formula(&image->out, arena->size),
                               .table = arena->table ? arena->table->number : 0,
                               .within = arena->within};
    if (arena->within) record.where = leat_image_writer_formula(&image->out, arena->where);
    LEAT_IMAGE_ADD(&image->out, arenas, record);
  }
  for (uint32_t i = 0; i < cg->grown.count; i++) {
    leat_image_grown record = {cg->grown.items[i]->dtype, (uint32_t)cg->grown.items[i]->rank};
    LEAT_IMAGE_ADD(&image->out, grown, record);
  }
  for (uint32_t i = 0; i < cg->options->entry_count; i++) {
    const leat_counted_entry *entry = &cg->options->entries[i];
    leat_image_entry record = {leat_image_writer_text(&image->out, entry->name), entry->completes,
                               entry->runs};
    LEAT_IMAGE_ADD(&image->out, entries, record);
  }
  for (uint32_t i = 0; i < cg->options->frozen.count; i++) {
    const leat_frozen_variable *variable = &cg->options->frozen.items[i];
    leat_image_frozen record = {.name = leat_image_writer_text(&image->out, variable->name),
                                .checksum = variable->checksum};
    LEAT_IMAGE_ADD(&image->out, frozen, record);
  }
  out->image = leat_image_writer_finish(&image->out, &header);
  out->kernels = image->kernel_list.items;
  out->symbols = image->symbols.items;
  out->kernel_count = image->kernel_list.count;
  return LEAT_OK;
}
