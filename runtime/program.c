// Loads programs: checks the image, prepares look-ups. What reads its files is program_files.c.
// It runs seldom: compiled for size.
#include "runtime/program.h"

#include "base/map.h"
#include "base/tensor.h"

#include <stdlib.h>
#include <string.h>

static const leat_image_buffer *arg_buffer(const leat_view *view, uint32_t arg) {
  return view->args[arg].is_scalar ? NULL : &view->buffers[view->args[arg].index];
}

static void list_feed_args(leat_program *program) {
  const leat_view *view = &program->view;
  uint32_t feeds = (uint32_t)program->image->feeds.count;
  uint32_t args = (uint32_t)program->image->args.count;
  uint32_t *first = leat_new_array(program->arena, uint32_t, (size_t)feeds + 2);
  uint32_t *list = leat_new_array(program->arena, uint32_t, (size_t)args + 1);
  // first[i + 2] counts feed i, becomes its end by adding up, and its begin moves by one as the
  // list is filled.
  for (uint32_t i = 0; i < args; i++) {
    const leat_image_buffer *buffer = arg_buffer(view, i);
    if (buffer && buffer->kind == LEAT_BUFFER_FEED) first[buffer->where + 2]++;
  }
  for (uint32_t i = 2; i < feeds + 2; i++) first[i] += first[i - 1];
  for (uint32_t i = 0; i < args; i++) {
    const leat_image_buffer *buffer = arg_buffer(view, i);
    if (buffer && buffer->kind == LEAT_BUFFER_FEED) list[first[buffer->where + 1]++] = i;
  }
  program->feed_first = first;
  program->feed_args = list;
}

static leat_store_access buffer_access(const leat_view *view, const leat_image_buffer *buffer) {
  if (buffer && buffer->kind == LEAT_BUFFER_PREPARED) return LEAT_STORE_READ;
  if (!buffer || buffer->kind != LEAT_BUFFER_VARIABLE) return LEAT_STORE_NONE;
  bool written = view->variables[buffer->where].flags & LEAT_VARIABLE_WRITTEN;
  return written ? LEAT_STORE_WRITE : LEAT_STORE_READ;
}

static leat_store_access args_access(const leat_view *view, uint32_t first, uint32_t count) {
  leat_store_access most = LEAT_STORE_NONE;
  for (uint32_t i = 0; i < count; i++) {
    leat_store_access access = buffer_access(view, arg_buffer(view, first + i));
    if (access > most) most = access;
  }
  return most;
}

static leat_store_access more(leat_store_access a, leat_store_access b) {
  return a > b ? a : b;
}

// `known`: that of the tables behind the task's.
static leat_store_access segment_access(const leat_view *view, const leat_image_task *task,
                                        const leat_store_access *known) {
  leat_store_access most = LEAT_STORE_NONE;
  for (uint32_t i = 0; i < task->count; i++) {
    const leat_image_launch *launch = &view->launches[task->first + i];
    const leat_image_region *region = leat_task_region(view, task, i);
    most = more(most, args_access(view, launch->arg_first, launch->arg_count));
    if (region) most = more(most, buffer_access(view, &view->buffers[region->predicate]));
    for (int k = 0; region && k < 2; k++) {
      const leat_image_table *table = &view->tables[region->tables[k]];
      if (table->task_count) most = more(most, known[table->task_first]);
    }
  }
  return most;
}

// What a task may do to variables: but for launches only read. (A recv fills none.) The tasks of a
// region see to themselves.
static leat_store_access task_access(const leat_view *view, const leat_image_task *task,
                                     const leat_store_access *known) {
  leat_store_access most = LEAT_STORE_NONE;
  switch (leat_task_range_of(task->kind)) {
  case LEAT_RANGE_LAUNCHES: return segment_access(view, task, known);
  case LEAT_RANGE_MESSAGE:
    most = buffer_access(view, &view->buffers[view->messages[task->first].buffer]);
    break;
  case LEAT_RANGE_ARGS: most = args_access(view, task->first, task->count); break;
  case LEAT_RANGE_REGION:
    most = buffer_access(view, &view->buffers[view->regions[task->first].predicate]);
    break;
  }
  return most ? LEAT_STORE_READ : LEAT_STORE_NONE;
}

static void find_owners(leat_program *program) {
  const leat_view *view = &program->view;
  uint64_t tables = program->image->tables.count;
  uint32_t *owners = leat_new_array(program->arena, uint32_t, tables);
  uint32_t *heaps = leat_new_array(program->arena, uint32_t, tables); // outer tables come first
  uint32_t *task_tables = leat_new_array(program->arena, uint32_t, program->image->tasks.count + 1);
  for (uint32_t t = 0; t < tables; t++) owners[t] = LEAT_NO_TASK;
  for (uint32_t t = 0; t < tables; t++) {
    for (uint32_t k = 0; k < view->tables[t].task_count; k++) {
      uint32_t number = view->tables[t].task_first + k;
      const leat_image_task *task = &view->tasks[number];
      task_tables[number] = t;
      for (uint32_t i = 0; i < leat_task_regions(task); i++) {
        const leat_image_region *region = leat_task_region(view, task, i);
        if (!region) continue;
        owners[region->tables[0]] = owners[region->tables[1]] = number;
        uint32_t own = (uint32_t)(region - view->regions) + 1;
        heaps[region->tables[0]] = heaps[region->tables[1]] =
            leat_task_loops(view, task, i) ? own : heaps[t];
      }
    }
  }
  program->table_owners = owners;
  program->table_heaps = heaps;
  program->task_tables = task_tables;
}

// Whether what runs in the table initialises a variable.
static bool initialises(const leat_program *program, uint32_t table) {
  while (program->table_owners[table] != LEAT_NO_TASK)
    table = program->task_tables[program->table_owners[table]];
  return table > 0;
}

static void find_access(leat_program *program) {
  const leat_view *view = &program->view;
  uint64_t tasks = program->image->tasks.count;
  leat_store_access *access = leat_new_array(program->arena, leat_store_access, tasks + 1);
  bool *assigns = leat_new_array(program->arena, bool, tasks + 1);
  for (uint32_t t = (uint32_t)program->image->tables.count; t-- > 0;) {
    bool writes = initialises(program, t);
    for (uint32_t i = 0; i < view->tables[t].task_count; i++) {
      leat_store_access *one = &access[view->tables[t].task_first + i];
      *one = task_access(view, &view->tasks[view->tables[t].task_first + i], access);
      assigns[view->tables[t].task_first + i] = *one == LEAT_STORE_WRITE && !writes;
      if (*one && writes) *one = LEAT_STORE_WRITE;
    }
  }
  program->access = access;
  program->assigns = assigns;
}

// -- What is prepared -----------------------------------------------------------------------------

// Of the launches of a table, or of those behind one of them that is a region.
static bool prepares(const leat_program *program, const leat_image_task *task) {
  const leat_view *view = &program->view;
  if (task->kind != LEAT_TASK_SEGMENT) return false;
  for (uint32_t i = 0; i < task->count; i++) {
    if (program->makes[task->first + i]) return true;
    const leat_image_region *region = leat_task_region(view, task, i);
    for (int k = 0; region && k < 2; k++) {
      const leat_image_table *table = &view->tables[region->tables[k]];
      if (table->task_count && program->prepares[table->task_first]) return true;
    }
  }
  return false;
}

// A file tensor is there for good if the artifact has it, or if anything reads it but launches that
// prepare once and for all.
static void find_lent(leat_program *program, const bool *of_makers) {
  const leat_view *view = &program->view;
  const leat_image *image = program->image;
  bool *lent = leat_new_array(program->arena, bool, image->files.count + 1);
  bool *other = leat_new_array(program->arena, bool, image->buffers.count + 1);
  for (uint32_t i = 0; i < image->args.count; i++)
    if (!view->args[i].is_scalar && !of_makers[i]) other[view->args[i].index] = true;
  for (uint32_t i = 0; i < image->fetches.count; i++) other[view->fetches[i].buffer] = true;
  for (uint32_t i = 0; i < image->messages.count; i++) other[view->messages[i].buffer] = true;
  for (uint32_t i = 0; i < image->regions.count; i++) other[view->regions[i].predicate] = true;
  for (uint32_t i = 0; i < image->files.count; i++)
    lent[i] = image->prepared.count && view->files[i].kind != LEAT_FILE_WITHIN;
  for (uint32_t i = 0; i < image->buffers.count; i++)
    if (view->buffers[i].kind == LEAT_BUFFER_FILE && other[i]) lent[view->buffers[i].where] = false;
  program->lent = lent;
}

static void find_prepared(leat_program *program) {
  const leat_view *view = &program->view;
  const leat_image *image = program->image;
  uint32_t *makes = leat_new_array(program->arena, uint32_t, image->launches.count + 1);
  bool *of_makers = leat_new_array(program->arena, bool, image->args.count + 1);
  bool *any = leat_new_array(program->arena, bool, image->tasks.count + 1);
  for (uint32_t i = 0; i < image->prepared.count; i++) {
    const leat_image_launch *launch = &view->launches[view->prepared[i].launch];
    makes[view->prepared[i].launch] = i + 1;
    bool once = args_access(view, launch->arg_first + 1, launch->arg_count - 1) == LEAT_STORE_NONE;
    for (uint32_t k = 0; k < launch->arg_count; k++) of_makers[launch->arg_first + k] = once;
  }
  program->makes = makes;
  program->prepares = any;
  for (uint32_t t = (uint32_t)image->tables.count; t-- > 0;)
    for (uint32_t i = 0; i < view->tables[t].task_count; i++)
      any[view->tables[t].task_first + i] =
          prepares(program, &view->tasks[view->tables[t].task_first + i]);
  find_lent(program, of_makers);
}

static void place_strings(leat_program *program) {
  const leat_view *view = &program->view;
  uint64_t tensors = program->image->strings.count;
  program->strings = leat_new_array(program->arena, leat_str *, tensors + 1);
  for (uint64_t i = 0; i < tensors; i++) {
    uint64_t count = view->strings[i].count;
    leat_str *placed = leat_new_array(program->arena, leat_str, count + 1);
    memcpy(placed, view->data + view->strings[i].where, count * sizeof *placed);
    for (uint64_t k = 0; k < count; k++)
      placed[k].data = (const char *)view->data + (uintptr_t)placed[k].data;
    program->strings[i] = placed;
  }
}

const void *leat_program_data(const leat_program *program, uint64_t where, leat_dtype dtype,
                              int64_t bytes) {
  const leat_view *view = &program->view;
  if (dtype != LEAT_str)
    return (uint64_t)bytes <= program->image->data.count - where ? view->data + where : NULL;
  int64_t number = leat_view_strings(view, where);
  bool fits = (uint64_t)bytes <= view->strings[number].count * sizeof(leat_str);
  return fits ? program->strings[number] : NULL;
}

static leat_status copy_kernels(leat_program *program, const leat_program_source *source,
                                leat_error *error) {
  const leat_image *image = program->image;
  LEAT_TRY(leat_image_check_level(image, error));
  uint64_t count = image->kernels.count, all = count + leat_image_calls_blis(image);
  const leat_kernel_function *from = source->kernels;
  if (all != source->kernel_count)
    return leat_fail(error, LEAT_INVALID, "the image has %llu kernels, its code %zu",
                     (unsigned long long)all, source->kernel_count);
  for (size_t i = 0; i < all; i++)
    if (!from[i])
      return leat_fail(error, LEAT_INVALID, "kernel `%s` has no code",
                       i < count ? leat_view_text(&program->view, program->view.kernels[i].symbol)
                                 : "leat_blis_gemm");
  leat_kernel_function *kernels = leat_new_array(program->arena, leat_kernel_function, count + 1);
  if (count) memcpy(kernels, from, count * sizeof *kernels);
  program->kernels = kernels;
  if (all > count) program->gemm = (leat_gemm_function)(void (*)(void))from[count];
  return LEAT_OK;
}

// The file tensors that the artifact holds; there must be somebody who reads others.
static leat_status find_weights(leat_program *program, const void *weights, leat_error *error) {
  for (uint32_t i = 0; i < program->image->files.count; i++) {
    const leat_image_file *file = &program->view.files[i];
    bool within = file->kind == LEAT_FILE_WITHIN;
    if (within ? !weights : !program->reader)
      return leat_fail(error, LEAT_INVALID, "damaged image: nothing reads its files");
    if (within) program->files[i] = (const char *)weights + file->where;
  }
  return LEAT_OK;
}

// What follows from the view.
leat_status leat_program_prepare(leat_program *program, const leat_program_source *source,
                                 leat_error *error) {
  program->image = program->view.image;
  program->code = source->image;
  LEAT_TRY(copy_kernels(program, source, error));
  program->files = leat_new_array(program->arena, const void *, program->image->files.count + 1);
  LEAT_TRY(find_weights(program, source->weights, error));
  if (leat_image_controls(program->image) && !program->control)
    return leat_fail(error, LEAT_INVALID, "damaged image: nothing runs its tasks");
  if ((program->image->variables.count || program->image->prepared.count) && !program->keeper)
    return leat_fail(error, LEAT_INVALID, "damaged image: nothing keeps its variables");
  find_prepared(program);
  place_strings(program);
  list_feed_args(program);
  find_owners(program);
  find_access(program);
  if (program->control ? program->control->find_scopes(program) : leat_scopes_none(program))
    return LEAT_OK;
  return leat_fail(error, LEAT_INVALID, "damaged image: the scopes of its dims");
}

static leat_status open_linked(leat_program *program, const leat_program_source *source,
                               leat_error *error) {
  LEAT_TRY(leat_image_open(source->image, &program->view, error));
  program->reader = source->reader;
  program->control = source->control;
  program->keeper = source->keeper;
  return leat_program_prepare(program, source, error);
}

leat_status leat_program_make(const leat_program_source *source, leat_program_filler *fill,
                              leat_program **out, leat_error *error) {
  *out = NULL;
  leat_program *program = calloc(1, sizeof *program);
  if (!program) return leat_fail(error, LEAT_MEMORY, "no memory for a program");
  program->arena = leat_arena_try_create();
  leat_status status = LEAT_MEMORY;
  if (program->arena) LEAT_RECOVER(status, fill(program, source, error));
  if (status) {
    leat_program_destroy(program);
    return leat_fail(error, status, "no memory for a program");
  }
  program->release = source->release;
  program->release_context = source->release_context;
  *out = program;
  return LEAT_OK;
}

leat_status leat_program_open(const leat_program_source *source, leat_program **out,
                              leat_error *error) {
  return leat_program_make(source, open_linked, out, error);
}

// The reader is what may not be linked.
leat_status leat_program_read_files(leat_program *program, const char *base, leat_error *error) {
  leat_status status = LEAT_OK;
  if (program->reader) LEAT_RECOVER(status, program->reader->read(program, base, error));
  return status ? leat_fail(error, status, "no memory for a program's files") : LEAT_OK;
}

leat_status leat_program_check_files(const leat_program *program, leat_error *error) {
  return program->reader ? program->reader->check(program, error) : LEAT_OK;
}

void leat_program_destroy(leat_program *program) {
  if (!program) return;
  if (program->reader) program->reader->close(program);
  free(program->own_image);
  if (program->release) program->release(program->release_context);
  leat_arena_destroy(program->arena);
  free(program);
}

const leat_image *leat_program_image(const leat_program *program) {
  return program->image;
}

void leat_origin_print(const leat_view *view, leat_image_origin origin, leat_text *out) {
  leat_text_add(out, "`%s`", leat_view_text(view, origin.name));
  if (origin.place) leat_text_add(out, " (%s)", leat_view_text(view, origin.place));
}

const char *leat_program_text(const leat_program *program, leat_text_index index) {
  return leat_view_text(&program->view, index);
}
