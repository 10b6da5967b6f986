// Checks an image, which may come from a damaged or foreign file, record by record. A check reads
// only what an earlier one has found to be inside the image.
// It runs seldom: compiled for size.
#include "runtime/image.h"

#include "base/cpuid.h"

#include <stdlib.h>
#include <string.h>

typedef struct checker {
  leat_view view;
  leat_error *error;
} checker;

#define DAMAGED(c, ...) leat_fail((c)->error, LEAT_INVALID, "damaged image: " __VA_ARGS__)

static bool within(uint64_t first, uint64_t count, uint64_t limit) {
  return first <= limit && count <= limit - first;
}

static leat_status check_range(checker *c, const char *name, leat_range range, size_t record,
                               size_t alignment, const void **out) {
  uint64_t size = c->view.image->size;
  if ((range.count && range.offset % alignment) || range.offset > size ||
      range.count > (size - range.offset) / record || (record > 1 && range.count > UINT32_MAX))
    return DAMAGED(c, "range `%s` does not lie in it", name);
  *out = (const char *)c->view.image + range.offset;
  return LEAT_OK;
}

static leat_status check_header(checker *c, const void *bytes, size_t size) {
  const leat_image *image = bytes;
  if (size < sizeof *image || memcmp(image->magic, LEAT_IMAGE_MAGIC, sizeof image->magic) != 0)
    return leat_fail(c->error, LEAT_INVALID, "this is not an image of a compiled step");
  if (image->version != LEAT_IMAGE_VERSION || image->header_size != sizeof *image)
    return leat_fail(c->error, LEAT_INVALID,
                     "the image has format version %u, this program runs version %d",
                     image->version, LEAT_IMAGE_VERSION);
  if (image->size != size)
    return DAMAGED(c, "%zu bytes instead of the %llu it says", size,
                   (unsigned long long)image->size);
  c->view.image = image;
#define X(name, type)                                                                              \
  LEAT_TRY(check_range(c, #name, image->name, sizeof(type),                                        \
                       strcmp(#name, "data") == 0 ? LEAT_IMAGE_ALIGNMENT : 8,                      \
                       (const void **)&c->view.name));
  LEAT_IMAGE_RANGES(X)
#undef X
  const char *text = c->view.text;
  if (image->text.count == 0 || text[0] != '\0' || text[image->text.count - 1] != '\0')
    return DAMAGED(c, "its text is not terminated");
  return LEAT_OK;
}

static bool text_ok(const checker *c, leat_text_index index) {
  return index < c->view.image->text.count;
}

static bool origin_ok(const checker *c, leat_image_origin origin) {
  return text_ok(c, origin.name) && text_ok(c, origin.place);
}

static bool formula_ok(const checker *c, uint64_t index) {
  return index < c->view.image->formulas.count;
}

static bool type_ok(const checker *c, const leat_image_type *type) {
  return type->dtype < LEAT_DTYPE_COUNT && type->rank <= LEAT_MAX_RANK &&
         within(type->shape_first, type->rank, c->view.image->formulas.count);
}

int64_t leat_view_strings(const leat_view *view, uint64_t where) {
  uint64_t low = 0, high = view->image->strings.count;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (view->strings[middle].where < where)
      low = middle + 1;
    else
      high = middle;
  }
  return low < view->image->strings.count && view->strings[low].where == where ? (int64_t)low : -1;
}

static leat_status check_strings(checker *c) {
  uint64_t size = c->view.image->data.count, end = 0;
  for (uint32_t i = 0; i < c->view.image->strings.count; i++) {
    const leat_image_strings *strings = &c->view.strings[i];
    if (strings->where < end || strings->where % leat_dtype_alignment(LEAT_str) ||
        strings->count > size / sizeof(leat_str) ||
        !within(strings->where, strings->count * sizeof(leat_str), size))
      return DAMAGED(c, "strings %u", i);
    end = strings->where + strings->count * sizeof(leat_str);
    const leat_str *elements = (const void *)(c->view.data + strings->where);
    for (uint64_t k = 0; k < strings->count; k++)
      if (!within((uintptr_t)elements[k].data, elements[k].size, size))
        return DAMAGED(c, "string %llu of strings %u", (unsigned long long)k, i);
  }
  return LEAT_OK;
}

// Whether the bytes at `offset` of `data` can hold elements of the type: aligned, and begun inside.
// Those of str are known as such.
static bool data_ok(const checker *c, uint64_t offset, const leat_image_type *type) {
  if (type->dtype == LEAT_str) return leat_view_strings(&c->view, offset) >= 0;
  return offset <= c->view.image->data.count &&
         offset % leat_dtype_alignment((leat_dtype)type->dtype) == 0;
}

static bool arena_ok(const checker *c, uint32_t number) {
  const leat_image *image = c->view.image;
  const leat_image_arena *arena = &c->view.arenas[number];
  if (!formula_ok(c, arena->size) || arena->table >= image->tables.count) return false;
  if (!arena->within) return true;
  const leat_image_arena *around = &c->view.arenas[arena->within - 1];
  return arena->within - 1 < number && !around->within && around->table == arena->table &&
         formula_ok(c, arena->where);
}

static leat_status check_formulas(checker *c) {
  const leat_image *image = c->view.image;
  for (uint32_t i = 0; i < image->dims.count; i++) {
    const leat_image_dim *dim = &c->view.dims[i];
    if (!text_ok(c, dim->name) || dim->low < 0 || dim->low > dim->high)
      return DAMAGED(c, "dim %u", i);
  }
  for (uint32_t i = 0; i < image->formulas.count; i++) {
    const leat_formula *f = &c->view.formulas[i];
    if (f->code_count == 0) continue;
    if (!within(f->code_first, f->code_count, image->code.count) ||
        !leat_formula_check(c->view.code + f->code_first, f->code_count, image->dims.count))
      return DAMAGED(c, "formula %u", i);
  }
  for (uint32_t i = 0; i < image->arenas.count; i++)
    if (!arena_ok(c, i)) return DAMAGED(c, "arena %u", i);
  if (image->arenas.count == 0 || !text_ok(c, image->device) || !text_ok(c, image->name) ||
      !text_ok(c, image->entry) || !text_ok(c, image->about) ||
      image->level > (uint32_t)LEAT_CPU_AVX512 + 1)
    return DAMAGED(c, "the header's indices");
  return LEAT_OK;
}

static bool is_constant(const checker *c, const leat_image_type *type) {
  for (uint32_t i = 0; i < type->rank; i++)
    if (!leat_formula_is_constant(&c->view, type->shape_first + i)) return false;
  return true;
}

static leat_status check_variable(checker *c, uint32_t number) {
  const leat_image *image = c->view.image;
  const leat_image_variable *v = &c->view.variables[number];
  if (!origin_ok(c, v->origin) || !text_ok(c, v->container) || !type_ok(c, &v->type) ||
      v->table >= image->tables.count)
    return DAMAGED(c, "variable %u", number);
  if (!is_constant(c, &v->type))
    return leat_fail(c->error, LEAT_UNSUPPORTED, "variable `%s` has a shape that is not constant",
                     c->view.text + v->origin.name);
  int64_t shape[LEAT_MAX_RANK], bytes;
  if (!leat_type_value(&c->view, &v->type, NULL, shape, &bytes))
    return DAMAGED(c, "the shape of variable %u", number);
  if ((v->flags & LEAT_VARIABLE_INITIAL) && !data_ok(c, v->initial, &v->type))
    return DAMAGED(c, "the initial value of variable %u", number);
  return LEAT_OK;
}

// Numbers, all of which lie in what the artifact holds.
static bool weights_ok(const checker *c, const leat_image_file *file) {
  int64_t shape[LEAT_MAX_RANK], bytes;
  return file->type.dtype != LEAT_str && file->where % LEAT_IMAGE_ALIGNMENT == 0 &&
         is_constant(c, &file->type) &&
         leat_type_value(&c->view, &file->type, NULL, shape, &bytes) &&
         within(file->where, (uint64_t)bytes, c->view.image->weights);
}

static leat_status check_storage(checker *c) {
  const leat_image *image = c->view.image;
  for (uint32_t i = 0; i < image->variables.count; i++) LEAT_TRY(check_variable(c, i));
  for (uint32_t i = 0; i < image->feeds.count; i++) {
    const leat_image_feed *feed = &c->view.feeds[i];
    if (!origin_ok(c, feed->origin) || !type_ok(c, &feed->type) || feed->donated > 1 ||
        (feed->has_fallback && !data_ok(c, feed->fallback, &feed->type)))
      return DAMAGED(c, "feed %u", i);
  }
  for (uint32_t i = 0; i < image->files.count; i++) {
    const leat_image_file *file = &c->view.files[i];
    if (!text_ok(c, file->file) || !text_ok(c, file->name) || !type_ok(c, &file->type) ||
        file->kind > LEAT_FILE_BESIDE || (file->kind == LEAT_FILE_WITHIN && !weights_ok(c, file)))
      return DAMAGED(c, "file %u", i);
  }
  return LEAT_OK;
}

// Whether a buffer's type may stand for the thing's: how many bytes they are is compared when dims
// are known.
static bool same_kind(const leat_image_type *a, const leat_image_type *b) {
  return a->dtype == b->dtype;
}

static bool is_grown(const checker *c, const leat_image_type *type, uint64_t number) {
  return type->dtype == c->view.grown[number].dtype && type->rank == c->view.grown[number].rank;
}

static bool extents_ok(const checker *c, uint32_t first, uint32_t count) {
  const leat_image *image = c->view.image;
  if (!within(first, count, image->extents.count)) return false;
  for (uint32_t i = first; i < first + count; i++) {
    const leat_image_extent *extent = &c->view.extents[i];
    if (extent->dim >= image->dims.count || extent->grown >= image->grown.count ||
        extent->axis >= c->view.grown[extent->grown].rank)
      return false;
  }
  return true;
}

static bool buffer_ok(const checker *c, const leat_image_buffer *buffer) {
  const leat_image *image = c->view.image;
  if (!type_ok(c, &buffer->type)) return false;
  uint64_t where = buffer->where;
  switch (buffer->kind) {
  case LEAT_BUFFER_ARENA: return formula_ok(c, where) && buffer->arena < image->arenas.count;
  case LEAT_BUFFER_VARIABLE:
    return where < image->variables.count &&
           same_kind(&buffer->type, &c->view.variables[where].type);
  case LEAT_BUFFER_FEED:
    return where < image->feeds.count && same_kind(&buffer->type, &c->view.feeds[where].type);
  case LEAT_BUFFER_CONSTANT: return data_ok(c, where, &buffer->type);
  case LEAT_BUFFER_FILE:
    return where < image->files.count && same_kind(&buffer->type, &c->view.files[where].type);
  case LEAT_BUFFER_RUN_COUNT: return buffer->type.dtype == LEAT_i64 && buffer->type.rank == 0;
  case LEAT_BUFFER_GROWN:
    return where < image->grown.count && buffer->type.dtype == c->view.grown[where].dtype;
  case LEAT_BUFFER_PREPARED: return where < image->prepared.count && is_constant(c, &buffer->type);
  }
  return false;
}

// Arguments from `first`: `buffers` buffers, then `scalars` scalars.
static bool args_are(const checker *c, uint32_t first, uint32_t buffers, uint32_t scalars) {
  for (uint32_t i = 0; i < buffers + scalars; i++)
    if ((c->view.args[first + i].is_scalar != 0) != (i >= buffers)) return false;
  return true;
}

static bool carried_ok(const checker *c, const leat_image_region *region) {
  uint32_t first = region->carried_first, count = region->carried_count;
  if (!within(first, count, c->view.image->args.count) || !args_are(c, first, count, 0))
    return false;
  for (uint32_t i = first; i < first + count; i++) {
    const leat_image_buffer *buffer = &c->view.buffers[c->view.args[i].index];
    bool own = buffer->kind == LEAT_BUFFER_ARENA || buffer->kind == LEAT_BUFFER_GROWN;
    if (!own || buffer->type.dtype != LEAT_str) return false;
  }
  return true;
}

static bool is_one(const checker *c, uint32_t buffer, leat_dtype dtype) {
  int64_t shape[LEAT_MAX_RANK], bytes;
  if (buffer >= c->view.image->buffers.count) return false;
  const leat_image_type *type = &c->view.buffers[buffer].type;
  return type->dtype == dtype && is_constant(c, type) &&
         leat_type_value(&c->view, type, NULL, shape, &bytes) &&
         bytes == (int64_t)leat_dtype_size(dtype);
}

// Their numbers are to be read and written, whatever the dims are.
static bool rows_ok(const checker *c, const leat_image_region *region) {
  const leat_image *image = c->view.image;
  if (!within(region->rows_first, region->rows_count, image->rows.count)) return false;
  for (uint32_t i = region->rows_first; i < region->rows_first + region->rows_count; i++) {
    const leat_image_rows *rows = &c->view.rows[i];
    if (rows->grown >= image->grown.count || !c->view.grown[rows->grown].rank ||
        c->view.grown[rows->grown].dtype == LEAT_str || !is_one(c, rows->count, LEAT_i64) ||
        c->view.buffers[rows->count].kind != LEAT_BUFFER_ARENA)
      return false;
  }
  return true;
}

// One bool is to be read as its predicate, whatever the dims are.
static bool region_ok(const checker *c, const leat_image_region *region) {
  const leat_image *image = c->view.image;
  for (int k = 0; k < 2; k++)
    if (region->tables[k] >= image->tables.count) return false;
  if (region->predicate >= image->buffers.count || !carried_ok(c, region) || !rows_ok(c, region) ||
      !extents_ok(c, region->extent_first, region->extent_count))
    return false;
  return is_one(c, region->predicate, LEAT_bool);
}

static leat_status check_buffers(checker *c) {
  const leat_image *image = c->view.image;
  for (uint32_t i = 0; i < image->grown.count; i++)
    if (c->view.grown[i].dtype >= LEAT_DTYPE_COUNT || c->view.grown[i].rank > LEAT_MAX_RANK)
      return DAMAGED(c, "growing memory %u", i);
  for (uint32_t i = 0; i < image->tables.count; i++)
    if (!extents_ok(c, c->view.tables[i].extent_first, c->view.tables[i].extent_count))
      return DAMAGED(c, "the extents of table %u", i);
  for (uint32_t i = 0; i < image->buffers.count; i++)
    if (!buffer_ok(c, &c->view.buffers[i])) return DAMAGED(c, "buffer %u", i);
  for (uint32_t i = 0; i < image->args.count; i++) {
    const leat_image_arg *arg = &c->view.args[i];
    if (arg->index >= (arg->is_scalar ? image->formulas.count : image->buffers.count))
      return DAMAGED(c, "argument %u", i);
  }
  for (uint32_t i = 0; i < image->entries.count; i++)
    if (!text_ok(c, c->view.entries[i].name)) return DAMAGED(c, "entry %u", i);
  for (uint32_t i = 0; i < image->frozen.count; i++)
    if (!text_ok(c, c->view.frozen[i].name)) return DAMAGED(c, "frozen variable %u", i);
  for (uint32_t i = 0; i < image->fetches.count; i++) {
    const leat_image_fetch *fetch = &c->view.fetches[i];
    if (!text_ok(c, fetch->name) || fetch->buffer >= image->buffers.count)
      return DAMAGED(c, "fetch %u", i);
  }
  for (uint32_t i = 0; i < image->messages.count; i++) {
    const leat_image_message *m = &c->view.messages[i];
    if (m->buffer >= image->buffers.count || !text_ok(c, m->peer) || !text_ok(c, m->name) ||
        (m->lag && c->view.buffers[m->buffer].type.dtype != LEAT_bool))
      return DAMAGED(c, "message %u", i);
  }
  for (uint32_t i = 0; i < image->regions.count; i++)
    if (!region_ok(c, &c->view.regions[i])) return DAMAGED(c, "region %u", i);
  return LEAT_OK;
}

static bool writable(const checker *c, uint32_t buffer) {
  uint32_t kind = c->view.buffers[buffer].kind;
  return kind == LEAT_BUFFER_ARENA || kind == LEAT_BUFFER_VARIABLE;
}

// Elements that own their bytes: only copies take such a buffer.
static bool owns_strings(const checker *c, uint32_t buffer) {
  const leat_image_buffer *record = &c->view.buffers[buffer];
  return record->kind == LEAT_BUFFER_VARIABLE && record->type.dtype == LEAT_str;
}

static bool kernel_ok(const checker *c, const leat_image_launch *launch) {
  for (uint32_t i = 0; i < launch->arg_count; i++) {
    const leat_image_arg *arg = &c->view.args[launch->arg_first + i];
    if (!arg->is_scalar && owns_strings(c, arg->index)) return false;
  }
  return launch->kernel < c->view.image->kernels.count;
}

static bool copy_ok(const checker *c, const leat_image_launch *launch) {
  const leat_image_arg *args = &c->view.args[launch->arg_first];
  if (launch->arg_count != 2 || !args_are(c, launch->arg_first, 2, 0)) return false;
  uint32_t to = c->view.buffers[args[0].index].type.dtype;
  uint32_t from = c->view.buffers[args[1].index].type.dtype;
  return writable(c, args[0].index) && (to == LEAT_str) == (from == LEAT_str);
}

static bool rotate_ok(const checker *c, const leat_image_launch *launch) {
  if (launch->arg_count < 2 || !args_are(c, launch->arg_first, launch->arg_count, 0)) return false;
  for (uint32_t i = launch->arg_first; i < launch->arg_first + launch->arg_count; i++) {
    const leat_image_buffer *buffer = &c->view.buffers[c->view.args[i].index];
    if (buffer->kind != LEAT_BUFFER_ARENA || !c->view.arenas[buffer->arena].within) return false;
  }
  return true;
}

static bool launch_ok(const checker *c, const leat_image_launch *launch) {
  const leat_image *image = c->view.image;
  if (!within(launch->arg_first, launch->arg_count, image->args.count) ||
      !within(launch->site_first, launch->site_count, image->sites.count) ||
      !origin_ok(c, launch->node))
    return false;
  if (!leat_launch_has_region(launch->kind) &&
      !(formula_ok(c, launch->tiles) && formula_ok(c, launch->work)))
    return false;
  switch (launch->kind) {
  case LEAT_LAUNCH_KERNEL: return kernel_ok(c, launch);
  case LEAT_LAUNCH_COPY: return copy_ok(c, launch);
  case LEAT_LAUNCH_GEMM:
    return launch->arg_count == 9 && args_are(c, launch->arg_first, 3, 6) &&
           writable(c, c->view.args[launch->arg_first].index);
  case LEAT_LAUNCH_ROTATE: return rotate_ok(c, launch);
  case LEAT_LAUNCH_IF:
  case LEAT_LAUNCH_WHILE: return launch->arg_count == 0 && launch->region < image->regions.count;
  }
  return false;
}

// Made of what is the same in each run but for assignments.
static bool is_source(const checker *c, const leat_image_arg *arg) {
  if (arg->is_scalar) return leat_formula_is_constant(&c->view, arg->index);
  const leat_image_buffer *buffer = &c->view.buffers[arg->index];
  if (buffer->type.dtype == LEAT_str) return false;
  if (buffer->kind == LEAT_BUFFER_VARIABLE)
    return !(c->view.variables[buffer->where].flags & LEAT_VARIABLE_WRITTEN);
  return buffer->kind == LEAT_BUFFER_CONSTANT || buffer->kind == LEAT_BUFFER_FILE;
}

static bool prepared_ok(const checker *c, uint32_t number) {
  uint32_t at = c->view.prepared[number].launch;
  if (at >= c->view.image->launches.count) return false;
  const leat_image_launch *launch = &c->view.launches[at];
  if (launch->kind != LEAT_LAUNCH_KERNEL || !launch->arg_count ||
      !leat_formula_is_constant(&c->view, launch->tiles))
    return false;
  const leat_image_arg *args = &c->view.args[launch->arg_first];
  const leat_image_buffer *made = &c->view.buffers[args[0].index];
  if (args[0].is_scalar || made->kind != LEAT_BUFFER_PREPARED || made->where != number)
    return false;
  for (uint32_t i = 1; i < launch->arg_count; i++)
    if (!is_source(c, &args[i])) return false;
  return true;
}

static bool range_ok(const checker *c, const leat_image_task *task) {
  const leat_image *image = c->view.image;
  switch (leat_task_range_of(task->kind)) {
  case LEAT_RANGE_LAUNCHES: return within(task->first, task->count, image->launches.count);
  case LEAT_RANGE_MESSAGE: return task->first < image->messages.count;
  case LEAT_RANGE_ARGS:
    return within(task->first, task->count, image->args.count) &&
           args_are(c, task->first, task->count, 0);
  case LEAT_RANGE_REGION: return task->count == 1 && task->first < image->regions.count;
  }
  return false;
}

// What a task's first buffer has to be.
static bool first_is(const checker *c, const leat_image_task *task, leat_dtype dtype) {
  return task->count && c->view.buffers[c->view.args[task->first].index].type.dtype == dtype;
}

static bool kind_ok(const checker *c, const leat_image_task *task) {
  switch ((leat_task_kind)task->kind) {
  case LEAT_TASK_SEGMENT:
  case LEAT_TASK_IF:
  case LEAT_TASK_WHILE:
  case LEAT_TASK_ROWS:
  case LEAT_TASK_SEND: return true;
  case LEAT_TASK_RECV:
    return writable(c, c->view.messages[task->first].buffer) &&
           !owns_strings(c, c->view.messages[task->first].buffer);
  case LEAT_TASK_PRINT: return text_ok(c, task->message);
  case LEAT_TASK_BIND:
    return task->count == 1 && first_is(c, task, LEAT_i64) &&
           c->view.buffers[c->view.args[task->first].index].type.rank == 0 &&
           task->dim < c->view.image->dims.count;
  case LEAT_TASK_GROW:
  case LEAT_TASK_APPEND:
    return task->count == 1 && task->grown < c->view.image->grown.count &&
           is_grown(c, &c->view.buffers[c->view.args[task->first].index].type, task->grown);
  case LEAT_TASK_ASSERT: return first_is(c, task, LEAT_bool) && text_ok(c, task->message);
  case LEAT_TASK_COUNT: break;
  }
  return false;
}

static bool task_ok(const checker *c, const leat_image_task *task) {
  return task->kind < LEAT_TASK_COUNT && origin_ok(c, task->node) &&
         within(task->successor_first, task->successor_count, c->view.image->successors.count) &&
         range_ok(c, task) && kind_ok(c, task);
}

static bool site_ok(const checker *c, const leat_image_site *site) {
  return origin_ok(c, site->node) && text_ok(c, site->says) &&
         within(site->arg_first, site->arg_count, c->view.image->args.count) &&
         args_are(c, site->arg_first, 0, site->arg_count);
}

static bool claim_ok(const checker *c, const leat_image_claim *claim) {
  return origin_ok(c, claim->node) && text_ok(c, claim->says) && formula_ok(c, claim->room) &&
         claim->table < c->view.image->tables.count &&
         within(claim->arg_first, claim->arg_count, c->view.image->args.count) &&
         args_are(c, claim->arg_first, 0, claim->arg_count);
}

static leat_status check_tasks(checker *c) {
  const leat_image *image = c->view.image;
  for (uint32_t i = 0; i < image->kernels.count; i++)
    if (!text_ok(c, c->view.kernels[i].symbol) || !text_ok(c, c->view.kernels[i].title))
      return DAMAGED(c, "kernel %u", i);
  for (uint32_t i = 0; i < image->sites.count; i++)
    if (!site_ok(c, &c->view.sites[i])) return DAMAGED(c, "fail site %u", i);
  for (uint32_t i = 0; i < image->claims.count; i++)
    if (!claim_ok(c, &c->view.claims[i])) return DAMAGED(c, "claim %u", i);
  for (uint32_t i = 0; i < image->launches.count; i++)
    if (!launch_ok(c, &c->view.launches[i])) return DAMAGED(c, "launch %u", i);
  for (uint32_t i = 0; i < image->prepared.count; i++)
    if (!prepared_ok(c, i)) return DAMAGED(c, "prepared value %u", i);
  for (uint32_t i = 0; i < image->tasks.count; i++)
    if (!task_ok(c, &c->view.tasks[i])) return DAMAGED(c, "task %u", i);
  return LEAT_OK;
}

leat_status leat_image_open(const leat_image *image, leat_view *out, leat_error *error) {
  if (memcmp(image->magic, LEAT_IMAGE_MAGIC, sizeof image->magic) != 0 ||
      image->version != LEAT_IMAGE_VERSION || image->header_size != sizeof *image)
    return leat_fail(error, LEAT_MISMATCH,
                     "made by another version of Leat than what it is linked "
                     "with: build it again");
  const char *base = (const char *)image;
  out->image = image;
#define X(name, type) out->name = (const void *)(base + image->name.offset);
  LEAT_IMAGE_RANGES(X)
#undef X
  return LEAT_OK;
}

leat_status leat_image_check(const void *image, size_t size, leat_view *out, leat_error *error) {
  checker c = {.error = error};
  LEAT_TRY(check_header(&c, image, size));
  LEAT_TRY(check_formulas(&c));
  LEAT_TRY(check_strings(&c));
  LEAT_TRY(check_storage(&c));
  LEAT_TRY(check_buffers(&c));
  LEAT_TRY(check_tasks(&c));
  LEAT_TRY(leat_tables_check(&c.view, error));
  *out = c.view;
  return LEAT_OK;
}

bool leat_image_calls_blis(const leat_image *image) {
  const leat_image_launch *launches = (const void *)((const char *)image + image->launches.offset);
  for (uint64_t i = 0; i < image->launches.count; i++)
    if (launches[i].kind == LEAT_LAUNCH_GEMM) return true;
  return false;
}

bool leat_image_controls(const leat_image *image) {
  const leat_image_task *tasks = (const void *)((const char *)image + image->tasks.offset);
  const leat_image_launch *launches = (const void *)((const char *)image + image->launches.offset);
  for (uint64_t i = 0; i < image->tasks.count; i++)
    if (tasks[i].kind != LEAT_TASK_SEGMENT) return true;
  for (uint64_t i = 0; i < image->launches.count; i++)
    if (launches[i].kind == LEAT_LAUNCH_ROTATE) return true;
  return image->regions.count || image->extents.count;
}
