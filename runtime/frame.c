// Frames. Whatever an image says about sizes and places is checked here against the memory that
// there is, so kernels get only buffers that lie where they should.
#include "runtime/frame.h"

#include <stdlib.h>
#include <string.h>

void leat_frame_init(leat_frame *frame, const leat_program *program,
                     leat_variable *const *variables, leat_arena *arena) {
  const leat_image *image = program->image;
  *frame = (leat_frame){
      .program = program,
      .variables = variables,
      .dims = leat_new_array(arena, int64_t, image->dims.count + 1),
      .formulas = leat_new_array(arena, int64_t, image->formulas.count + 1),
      .buffers = leat_new_array(arena, leat_slot, image->buffers.count + 1),
      .args = leat_new_array(arena, leat_arg, image->args.count + 1),
      .launches = leat_new_array(arena, leat_launch_plan, image->launches.count + 1),
      .tasks = leat_new_array(arena, leat_task_plan, image->tasks.count + 1),
      .fetches = leat_new_array(arena, leat_tensor, image->fetches.count + 1),
      .fetch_copies = leat_new_array(arena, void *, image->fetches.count + 1),
      .feeds = leat_new_array(arena, void *, image->feeds.count + 1),
      .feed_copies = leat_new_array(arena, void *, image->feeds.count + 1),
  };
}

void leat_frame_finish(leat_frame *frame) {
  if (!frame->program) return;
  for (uint64_t i = 0; i < frame->program->image->fetches.count; i++) free(frame->fetch_copies[i]);
  for (uint64_t i = 0; i < frame->program->image->feeds.count; i++) free(frame->feed_copies[i]);
  free(frame->memory);
}

// 64-byte aligned memory in place of *memory.
static leat_status reallocate(void **memory, uint64_t size, leat_error *error) {
  free(*memory);
  *memory = NULL;
  if (size <= (uint64_t)PTRDIFF_MAX - 64) *memory = aligned_alloc(64, (size + 64) & ~(size_t)63);
  if (*memory) return LEAT_OK;
  return leat_fail(error, LEAT_MEMORY, "no memory for a buffer of %llu bytes",
                   (unsigned long long)size);
}

static leat_status resolve_formulas(leat_frame *frame, leat_error *error) {
  const leat_program *program = frame->program;
  for (uint32_t i = 0; i < program->image->formulas.count; i++)
    if (!leat_formula_value(&program->view, i, frame->dims, &frame->formulas[i]))
      return leat_fail(error, LEAT_INVALID, "a size in `%s` is too large for these dims",
                       leat_program_text(program, program->image->name));
  int64_t size = frame->formulas[program->image->arena_size];
  if (size < 0) return leat_fail(error, LEAT_INVALID, "damaged image: the arena's size");
  if (frame->memory && (uint64_t)size <= frame->memory_size) return LEAT_OK;
  frame->memory_size = 0;
  LEAT_TRY(reallocate(&frame->memory, (uint64_t)size, error));
  frame->memory_size = (uint64_t)size;
  return LEAT_OK;
}

// Bytes of a type, from the formulas' values; -1: impossible.
static int64_t type_bytes(const leat_frame *frame, const leat_image_type *type) {
  leat_tensor tensor = {.dtype = (leat_dtype)type->dtype, .rank = (int32_t)type->rank};
  memcpy(tensor.shape, frame->formulas + type->shape_first, type->rank * sizeof(int64_t));
  return leat_tensor_bytes(&tensor);
}

static bool resolve_buffer(leat_frame *frame, uint32_t number) {
  const leat_program *program = frame->program;
  const leat_view *view = &program->view;
  const leat_image_buffer *buffer = &view->buffers[number];
  leat_slot *slot = &frame->buffers[number];
  int64_t bytes = slot->bytes = type_bytes(frame, &buffer->type);
  if (bytes < 0) return false;
  uint64_t where = buffer->where;
  switch ((leat_buffer_kind)buffer->kind) {
  case LEAT_BUFFER_ARENA: {
    int64_t offset = frame->formulas[where], size = frame->formulas[program->image->arena_size];
    if (offset < 0 || offset > size || bytes > size - offset) return false;
    slot->data = (char *)frame->memory + offset;
    return offset % (int64_t)leat_dtype_alignment((leat_dtype)buffer->type.dtype) == 0;
  }
  case LEAT_BUFFER_VARIABLE:
    slot->data = frame->variables[where]->tensor.data;
    return bytes == leat_tensor_bytes(&frame->variables[where]->tensor);
  case LEAT_BUFFER_FEED: return bytes == type_bytes(frame, &view->feeds[where].type);
  case LEAT_BUFFER_CONSTANT:
    slot->data = (void *)(uintptr_t)(view->data + where);
    return (uint64_t)bytes <= program->image->data.count - where;
  case LEAT_BUFFER_FILE:
    slot->data = (void *)(uintptr_t)program->files[where];
    return bytes == type_bytes(frame, &view->files[where].type);
  case LEAT_BUFFER_RUN_COUNT: slot->data = &frame->run_count; return true;
  }
  return false;
}

// False: a copy between buffers of different sizes.
static bool plan_launch(leat_frame *frame, uint32_t number, const leat_frame_limits *limits) {
  const leat_view *view = &frame->program->view;
  const leat_image_launch *launch = &view->launches[number];
  leat_launch_plan *plan = &frame->launches[number];
  *plan = (leat_launch_plan){.tiles = frame->formulas[launch->tiles]};
  if (plan->tiles < 0) plan->tiles = 0;
  double width = (double)frame->formulas[launch->work] / limits->grain;
  if (width > limits->threads) width = limits->threads;
  if (width > (double)plan->tiles) width = (double)plan->tiles;
  plan->width = width > 1 ? (int32_t)width : 1;
  for (uint32_t i = 0; i < launch->arg_count; i++) {
    const leat_image_arg *arg = &view->args[launch->arg_first + i];
    if (!arg->is_scalar) plan->bytes += (uint64_t)frame->buffers[arg->index].bytes;
  }
  const leat_image_arg *args = &view->args[launch->arg_first];
  return launch->kind != LEAT_LAUNCH_COPY ||
         frame->buffers[args[0].index].bytes == frame->buffers[args[1].index].bytes;
}

static void plan_task(leat_frame *frame, uint32_t number) {
  const leat_image_task *task = &frame->program->view.tasks[number];
  leat_task_plan *plan = &frame->tasks[number];
  *plan = (leat_task_plan){.width = 1};
  if (task->kind != LEAT_TASK_SEGMENT) return;
  for (uint32_t i = task->first; i < task->first + task->count; i++) {
    plan->work += (double)frame->formulas[frame->program->view.launches[i].work];
    if (frame->launches[i].width > plan->width) plan->width = frame->launches[i].width;
  }
}

static leat_status resolve_fetch(leat_frame *frame, uint32_t number, leat_error *error) {
  const leat_view *view = &frame->program->view;
  uint32_t index = view->fetches[number].buffer;
  const leat_image_buffer *buffer = &view->buffers[index];
  leat_tensor *tensor = &frame->fetches[number];
  *tensor = (leat_tensor){.dtype = (leat_dtype)buffer->type.dtype,
                          .rank = (int32_t)buffer->type.rank,
                          .data = frame->buffers[index].data};
  memcpy(tensor->shape, frame->formulas + buffer->type.shape_first,
         buffer->type.rank * sizeof(int64_t));
  if (buffer->kind != LEAT_BUFFER_FEED && buffer->kind != LEAT_BUFFER_VARIABLE) return LEAT_OK;
  LEAT_TRY(reallocate(&frame->fetch_copies[number], (uint64_t)frame->buffers[index].bytes, error));
  tensor->data = frame->fetch_copies[number];
  return LEAT_OK;
}

leat_status leat_frame_resolve(leat_frame *frame, const leat_frame_limits *limits,
                               leat_error *error) {
  const leat_program *program = frame->program;
  const leat_image *image = program->image;
  frame->resolved = false;
  LEAT_TRY(resolve_formulas(frame, error));
  for (uint32_t i = 0; i < image->buffers.count; i++)
    if (!resolve_buffer(frame, i))
      return leat_fail(error, LEAT_INVALID, "damaged image: the place or size of buffer %u", i);
  for (uint32_t i = 0; i < image->args.count; i++) {
    const leat_image_arg *arg = &program->view.args[i];
    if (arg->is_scalar)
      frame->args[i].value = frame->formulas[arg->index];
    else
      frame->args[i].pointer = frame->buffers[arg->index].data;
  }
  for (uint32_t i = 0; i < image->launches.count; i++)
    if (!plan_launch(frame, i, limits))
      return leat_fail(error, LEAT_INVALID, "damaged image: the sizes of launch %u differ", i);
  for (uint32_t i = 0; i < image->tasks.count; i++) plan_task(frame, i);
  for (uint32_t i = 0; i < image->fetches.count; i++) LEAT_TRY(resolve_fetch(frame, i, error));
  frame->resolved = true;
  return LEAT_OK;
}

leat_status leat_frame_feed(leat_frame *frame, uint32_t feed, const leat_tensor *tensor,
                            leat_error *error) {
  const leat_program *program = frame->program;
  const leat_image_feed *record = &program->view.feeds[feed];
  void *data = tensor->data;
  if (!data) {
    int64_t bytes = type_bytes(frame, &record->type);
    if (bytes < 0 || (uint64_t)bytes > program->image->data.count - record->fallback)
      return leat_fail(error, LEAT_INVALID, "damaged image: the default of feed `%s`",
                       leat_program_text(program, record->name));
    data = (void *)(uintptr_t)(program->view.data + record->fallback);
  } else if ((uintptr_t)data % leat_dtype_alignment(tensor->dtype)) {
    int64_t bytes = leat_tensor_bytes(tensor);
    LEAT_TRY(reallocate(&frame->feed_copies[feed], (uint64_t)bytes, error));
    data = memcpy(frame->feed_copies[feed], data, (size_t)bytes);
  }
  frame->feeds[feed] = data;
  for (uint32_t i = program->feed_first[feed]; i < program->feed_first[feed + 1]; i++)
    frame->args[program->feed_args[i]].pointer = data;
  return LEAT_OK;
}

void *leat_frame_buffer(const leat_frame *frame, uint32_t buffer) {
  const leat_image_buffer *record = &frame->program->view.buffers[buffer];
  return record->kind == LEAT_BUFFER_FEED ? frame->feeds[record->where]
                                          : frame->buffers[buffer].data;
}

void leat_frame_fetch(leat_frame *frame, leat_store *store, uint32_t fetch, leat_tensor *out) {
  *out = frame->fetches[fetch];
  if (!frame->fetch_copies[fetch]) return;
  uint32_t index = frame->program->view.fetches[fetch].buffer;
  const leat_image_buffer *buffer = &frame->program->view.buffers[index];
  leat_store_access access =
      buffer->kind == LEAT_BUFFER_VARIABLE ? LEAT_STORE_READ : LEAT_STORE_NONE;
  leat_store_lock(store, access);
  memcpy(out->data, leat_frame_buffer(frame, index), (size_t)frame->buffers[index].bytes);
  leat_store_unlock(store, access);
}
