// Frames. Whatever an image says about sizes and places is checked here against the memory that
// there is, so kernels get only buffers that lie where they should.
#include "runtime/frame.h"

#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double TURN = 5e7; // nanoseconds

enum { NO_VALUE = -1 }; // of a formula that overflows or divides by 0

void leat_frame_init(leat_frame *frame, const leat_program *program,
                     leat_variable *const *variables, leat_arena *arena) {
  const leat_image *image = program->image;
  *frame = (leat_frame){
      .program = program,
      .variables = variables,
      .dims = leat_new_array(arena, int64_t, image->dims.count + 1),
      .formulas = leat_new_array(arena, int64_t, image->formulas.count + 1),
      .formula_known = leat_new_array(arena, bool, image->formulas.count + 1),
      .refusals = leat_new_array(arena, const leat_image_claim *, image->tables.count),
      .arenas = leat_new_array(arena, leat_block, image->arenas.count),
      .buffers = leat_new_array(arena, leat_slot, image->buffers.count + 1),
      .args = leat_new_array(arena, leat_arg, image->args.count + 1),
      .arg_known = leat_new_array(arena, bool, image->args.count + 1),
      .launches = leat_new_array(arena, leat_launch_plan, image->launches.count + 1),
      .tasks = leat_new_array(arena, leat_task_plan, image->tasks.count + 1),
      .fetches = leat_new_array(arena, leat_tensor, image->fetches.count + 1),
      .fetch_copies = leat_new_array(arena, void *, image->fetches.count + 1),
      .feeds = leat_new_array(arena, void *, image->feeds.count + 1),
      .feed_copies = leat_new_array(arena, void *, image->feeds.count + 1),
      .heaps = leat_new_array(arena, leat_string_heap, image->regions.count + 1),
  };
  for (uint64_t i = 0; i <= image->regions.count; i++) leat_string_heap_init(&frame->heaps[i]);
  pthread_mutex_init(&frame->lock, NULL);
}

int32_t leat_call_explain(leat_call *call, leat_status status, const char *format, ...) {
  enum { LONGEST = 256 };
  char *says = leat_string_heap_allocate(call->heap, LONGEST);
  va_list words;
  va_start(words, format);
  if (says) vsnprintf(says, LONGEST, format, words);
  va_end(words);
  call->says = says;
  return (int32_t)status;
}

void leat_frame_clear(leat_frame *frame) {
  for (uint64_t i = 0; i <= frame->program->image->regions.count; i++)
    leat_string_heap_clear(&frame->heaps[i]);
}

void leat_frame_finish(leat_frame *frame) {
  if (!frame->program) return;
  const leat_image *image = frame->program->image;
  for (uint64_t i = 0; i <= image->regions.count; i++) leat_string_heap_finish(&frame->heaps[i]);
  for (uint64_t i = 0; i < image->fetches.count; i++) free(frame->fetch_copies[i]);
  for (uint64_t i = 0; i < image->feeds.count; i++) free(frame->feed_copies[i]);
  for (uint64_t i = 0; i < image->arenas.count; i++) free(frame->arenas[i].memory);
  pthread_mutex_destroy(&frame->lock);
}

void leat_frame_release(leat_frame *frame) {
  leat_frame_clear(frame);
  if (!frame->program->has_late) return;
  for (uint64_t i = 1; i < frame->program->image->arenas.count; i++) {
    free(frame->arenas[i].memory);
    frame->arenas[i] = (leat_block){0};
    frame->resolved = false;
  }
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

static void resolve_formulas(leat_frame *frame) {
  const leat_program *program = frame->program;
  frame->whole = true;
  for (uint32_t i = 0; i < program->image->formulas.count; i++) {
    if (frame->formula_known[i] || !leat_formula_is_bound(&program->view, i, frame->dims)) continue;
    frame->formula_known[i] =
        leat_formula_value(&program->view, i, frame->dims, &frame->formulas[i]);
    if (!frame->formula_known[i]) frame->formulas[i] = NO_VALUE, frame->whole = false;
  }
}

void leat_frame_say(const leat_frame *frame, leat_text_index says, const int64_t *first,
                    uint32_t arg_first, uint32_t arg_count, leat_text *out) {
  const leat_view *view = &frame->program->view;
  const char *text = leat_view_text(view, says), *at;
  uint32_t used = 0;
  while ((at = strstr(text, "%lld")) && (first || used < arg_count)) {
    int64_t number = first ? *first : frame->formulas[view->args[arg_first + used++].index];
    leat_text_add(out, "%.*s%lld", (int)(at - text), text, (long long)number);
    text = at + strlen("%lld");
    first = NULL;
  }
  leat_text_add(out, "%s", text);
}

leat_status leat_frame_fail(const leat_frame *frame, const leat_image_claim *claim,
                            leat_error *error) {
  leat_text words = {0};
  leat_frame_say(frame, claim->says, NULL, claim->arg_first, claim->arg_count, &words);
  leat_status status = leat_fail(error, LEAT_INVALID, "%s", words.size ? words.data : "");
  leat_text_finish(&words);
  return status;
}

// What stands in a table that is refused is so too. False: no table is.
static bool refuse_inner(leat_frame *frame) {
  const leat_program *program = frame->program;
  bool any = false;
  for (uint32_t t = 0; t < program->image->tables.count; t++) { // outer ones have lower numbers
    uint32_t owner = program->table_owners[t];
    bool inner = owner != LEAT_NO_TASK && frame->refusals[program->task_tables[owner]];
    if (inner && !frame->refusals[t])
      frame->refusals[t] = frame->refusals[program->task_tables[owner]];
    any |= frame->refusals[t] != NULL;
  }
  return any;
}

// Returns whether claims hold that end the step at once, which are those of table 0.
static bool check_claims(leat_frame *frame) {
  const leat_view *view = &frame->program->view;
  for (uint32_t i = 0; i < view->image->claims.count; i++) {
    const leat_image_claim *claim = &view->claims[i];
    const leat_image_claim **first = claim->table ? &frame->refusals[claim->table] : &frame->failed;
    bool bound = leat_formula_is_bound(view, claim->room, frame->dims);
    bool fails = bound && frame->formulas[claim->room] < 0;
    if (fails && !*first) *first = claim;
  }
  return !frame->failed;
}

leat_status leat_frame_too_large(const leat_frame *frame, leat_error *error) {
  const leat_program *program = frame->program;
  return leat_fail(error, LEAT_INVALID, "a size in `%s` is too large for these dims",
                   leat_program_text(program, program->image->name));
}

// What is known of the dims' values: what they come to, and what that allows.
static leat_status resolve_dims(leat_frame *frame, bool checks, leat_error *error) {
  frame->failed = NULL;
  resolve_formulas(frame);
  if (!check_claims(frame) && checks) return leat_frame_fail(frame, frame->failed, error);
  frame->failed = NULL;
  bool refuses = refuse_inner(frame); // what makes no sense is there, then
  return frame->whole || refuses ? LEAT_OK : leat_frame_too_large(frame, error);
}

static int64_t arena_size(const leat_frame *frame, uint32_t number) {
  const leat_image_arena *arena = &frame->program->view.arenas[number];
  int64_t size = frame->formulas[arena->size];
  bool is_empty = size < 0 || frame->refusals[arena->table]; // below 0: where nothing is checked
  return is_empty ? 0 : size;
}

static leat_status check_memory(const leat_frame *frame, uint64_t most, leat_error *error) {
  const leat_view *view = &frame->program->view;
  uint64_t needed = 0;
  for (uint32_t i = 0; i < view->image->arenas.count; i++)
    if (frame->formula_known[view->arenas[i].size]) needed += (uint64_t)arena_size(frame, i);
  if (!most || needed <= most) return LEAT_OK;
  return leat_fail(error, LEAT_MEMORY,
                   "the values of the step take %llu bytes, and the memory limit is %llu",
                   (unsigned long long)needed, (unsigned long long)most);
}

static leat_status resolve_arenas(leat_frame *frame, const leat_frame_limits *limits,
                                  leat_error *error) {
  const leat_view *view = &frame->program->view;
  LEAT_TRY(check_memory(frame, limits->memory, error));
  for (uint32_t i = 0; i < view->image->arenas.count; i++) {
    leat_block *block = &frame->arenas[i];
    int64_t size = arena_size(frame, i);
    if (!frame->formula_known[view->arenas[i].size]) continue;
    if (block->memory && (uint64_t)size <= block->size) continue;
    block->size = 0;
    LEAT_TRY(reallocate(&block->memory, (uint64_t)size, error));
    block->size = (uint64_t)size;
  }
  return LEAT_OK;
}

// Bytes of a type, from the formulas' values; -1: impossible, or not known yet.
static int64_t type_bytes(const leat_frame *frame, const leat_image_type *type) {
  leat_tensor tensor = {.dtype = (leat_dtype)type->dtype, .rank = (int32_t)type->rank};
  for (uint32_t i = 0; i < type->rank; i++)
    if (!frame->formula_known[type->shape_first + i]) return -1;
  memcpy(tensor.shape, frame->formulas + type->shape_first, type->rank * sizeof(int64_t));
  return leat_tensor_bytes(&tensor);
}

// Whether the bytes lie in the arena, at an offset that suits the dtype.
static bool place_in_arena(const leat_frame *frame, const leat_image_buffer *buffer,
                           leat_slot *slot) {
  uint32_t size_formula = frame->program->view.arenas[buffer->arena].size;
  if (!frame->formula_known[buffer->where] || !frame->formula_known[size_formula]) return false;
  int64_t offset = frame->formulas[buffer->where], size = arena_size(frame, buffer->arena);
  if (offset < 0 || offset > size || slot->bytes > size - offset) return false;
  slot->data = (char *)frame->arenas[buffer->arena].memory + offset;
  return offset % (int64_t)leat_dtype_alignment((leat_dtype)buffer->type.dtype) == 0;
}

// False: its place or size is not known yet, or impossible. No task runs that works on it.
static bool resolve_buffer(leat_frame *frame, uint32_t number) {
  const leat_program *program = frame->program;
  const leat_view *view = &program->view;
  const leat_image_buffer *buffer = &view->buffers[number];
  leat_slot *slot = &frame->buffers[number];
  int64_t bytes = slot->bytes = type_bytes(frame, &buffer->type);
  if (bytes < 0) return false;
  uint64_t where = buffer->where;
  switch ((leat_buffer_kind)buffer->kind) {
  case LEAT_BUFFER_ARENA: return place_in_arena(frame, buffer, slot);
  case LEAT_BUFFER_VARIABLE:
    slot->data = frame->variables[where]->tensor.data;
    return bytes == leat_tensor_bytes(&frame->variables[where]->tensor);
  case LEAT_BUFFER_FEED: return bytes == type_bytes(frame, &view->feeds[where].type);
  case LEAT_BUFFER_CONSTANT:
    slot->data =
        (void *)(uintptr_t)leat_program_data(program, where, (leat_dtype)buffer->type.dtype, bytes);
    return slot->data;
  case LEAT_BUFFER_FILE:
    slot->data = (void *)(uintptr_t)program->files[where];
    return bytes == type_bytes(frame, &view->files[where].type);
  case LEAT_BUFFER_RUN_COUNT: slot->data = &frame->run_count; return true;
  }
  return false;
}

static void resolve_arg(leat_frame *frame, uint32_t number) {
  const leat_image_arg *arg = &frame->program->view.args[number];
  bool known = arg->is_scalar ? frame->formula_known[arg->index] : frame->buffers[arg->index].known;
  if (!known) return;
  if (arg->is_scalar)
    frame->args[number].value = frame->formulas[arg->index];
  else
    frame->args[number].pointer = frame->buffers[arg->index].data;
  frame->arg_known[number] = true;
}

static bool args_known(const leat_frame *frame, uint32_t first, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (!frame->arg_known[first + i]) return false;
  return true;
}

// What writes a variable is not stopped in the middle of it.
static bool writes_variable(const leat_view *view, const leat_image_launch *launch) {
  for (uint32_t i = launch->arg_first; i < launch->arg_first + launch->arg_count; i++) {
    const leat_image_buffer *buffer = &view->buffers[view->args[i].index];
    if (!view->args[i].is_scalar && buffer->kind == LEAT_BUFFER_VARIABLE &&
        view->variables[buffer->where].flags & LEAT_VARIABLE_WRITTEN)
      return true;
  }
  return false;
}

// As many tiles as take about TURN nanoseconds; all of what is done sooner.
static int64_t plan_turn(const leat_view *view, const leat_image_launch *launch, int64_t tiles,
                         double work) {
  bool whole = work <= TURN || launch->kind != LEAT_LAUNCH_KERNEL || writes_variable(view, launch);
  int64_t turn = whole ? tiles : (int64_t)((double)tiles * TURN / work);
  return turn > 0 ? turn : 1;
}

static void plan_launch(leat_frame *frame, uint32_t number, const leat_frame_limits *limits) {
  const leat_view *view = &frame->program->view;
  const leat_image_launch *launch = &view->launches[number];
  const leat_image_arg *args = &view->args[launch->arg_first];
  if (leat_launch_has_region(launch->kind)) return; // plan_segment sees to it
  if (!frame->formula_known[launch->tiles] || !frame->formula_known[launch->work] ||
      !args_known(frame, launch->arg_first, launch->arg_count))
    return;
  if (launch->kind == LEAT_LAUNCH_COPY &&
      frame->buffers[args[0].index].bytes != frame->buffers[args[1].index].bytes)
    return;
  leat_launch_plan *plan = &frame->launches[number];
  *plan = (leat_launch_plan){.known = true,
                             .tiles = frame->formulas[launch->tiles],
                             .work = (double)frame->formulas[launch->work]};
  if (plan->tiles < 0) plan->tiles = 0;
  double width = plan->work / limits->grain;
  if (width > limits->threads) width = limits->threads;
  if (width > (double)plan->tiles) width = (double)plan->tiles;
  plan->width = width > 1 ? (int32_t)width : 1;
  plan->turn = plan_turn(view, launch, plan->tiles, plan->work);
  for (uint32_t i = 0; i < launch->arg_count; i++)
    if (!args[i].is_scalar) plan->bytes += (uint64_t)frame->buffers[args[i].index].bytes;
}

static bool region_known(const leat_frame *frame, const leat_image_region *region) {
  return frame->buffers[region->predicate].known &&
         args_known(frame, region->carried_first, region->carried_count);
}

// Of a region that is a launch: its tables come later and are planned.
static leat_launch_plan plan_region(const leat_frame *frame, const leat_image_region *region,
                                    bool loops) {
  leat_launch_plan plan = {.known = region_known(frame, region), .width = 1};
  double work[2] = {0};
  for (int k = 0; k < 2; k++) {
    const leat_image_table *table = &frame->program->view.tables[region->tables[k]];
    if (!table->task_count || frame->refusals[region->tables[k]]) continue;
    const leat_task_plan *inner = &frame->tasks[table->task_first];
    plan.known &= inner->known;
    work[k] = inner->work;
    if (inner->width > plan.width) plan.width = inner->width;
  }
  if (loops)
    plan.work = LEAT_ROUNDS * (work[0] + work[1]);
  else
    plan.work = work[0] > work[1] ? work[0] : work[1];
  return plan;
}

static void plan_segment(leat_frame *frame, const leat_image_task *task, leat_task_plan *plan) {
  const leat_view *view = &frame->program->view;
  for (uint32_t i = 0; i < task->count; i++) {
    leat_launch_plan *launch = &frame->launches[task->first + i];
    const leat_image_region *region = leat_task_region(view, task, i);
    if (region) *launch = plan_region(frame, region, leat_task_loops(view, task, i));
    if (!launch->known) return;
    plan->work += launch->work;
    if (launch->width > plan->width) plan->width = launch->width;
  }
  plan->known = true;
}

static void plan_task(leat_frame *frame, uint32_t number) {
  const leat_view *view = &frame->program->view;
  const leat_image_task *task = &view->tasks[number];
  leat_task_plan *plan = &frame->tasks[number];
  *plan = (leat_task_plan){.width = 1};
  switch (leat_task_range_of(task->kind)) {
  case LEAT_RANGE_LAUNCHES: plan_segment(frame, task, plan); break;
  case LEAT_RANGE_MESSAGE:
    plan->known = frame->buffers[view->messages[task->first].buffer].known;
    break;
  case LEAT_RANGE_ARGS: plan->known = args_known(frame, task->first, task->count); break;
  case LEAT_RANGE_REGION: plan->known = region_known(frame, &view->regions[task->first]); break;
  }
}

static void plan_table(leat_frame *frame, uint32_t number) {
  const leat_image_table *table = &frame->program->view.tables[number];
  for (uint32_t i = table->task_first; i < table->task_first + table->task_count; i++)
    if (!frame->tasks[i].known) plan_task(frame, i);
}

static leat_status resolve_fetch(leat_frame *frame, uint32_t number, leat_error *error) {
  const leat_view *view = &frame->program->view;
  uint32_t index = view->fetches[number].buffer;
  const leat_image_buffer *buffer = &view->buffers[index];
  leat_tensor *tensor = &frame->fetches[number];
  if (!frame->buffers[index].known) return LEAT_OK;
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

// Resolves what is not yet, as far as the dims that are bound allow.
static leat_status settle(leat_frame *frame, const leat_frame_limits *limits, bool checks,
                          leat_error *error) {
  const leat_image *image = frame->program->image;
  LEAT_TRY(resolve_dims(frame, checks, error));
  LEAT_TRY(resolve_arenas(frame, limits, error));
  for (uint32_t i = 0; i < image->buffers.count; i++)
    if (!frame->buffers[i].known) frame->buffers[i].known = resolve_buffer(frame, i);
  for (uint32_t i = 0; i < image->args.count; i++)
    if (!frame->arg_known[i]) resolve_arg(frame, i);
  for (uint32_t i = 0; i < image->launches.count; i++)
    if (!frame->launches[i].known) plan_launch(frame, i, limits);
  for (uint32_t t = (uint32_t)image->tables.count; t-- > 0;) plan_table(frame, t);
  for (uint32_t i = 0; i < image->fetches.count; i++)
    if (!frame->fetches[i].data) LEAT_TRY(resolve_fetch(frame, i, error));
  return LEAT_OK;
}

leat_status leat_frame_resolve(leat_frame *frame, const leat_frame_limits *limits, bool checks,
                               leat_error *error) {
  const leat_image *image = frame->program->image;
  frame->resolved = false;
  for (uint32_t i = 0; i < image->tables.count; i++) frame->refusals[i] = NULL;
  memset(frame->formula_known, 0, image->formulas.count * sizeof *frame->formula_known);
  memset(frame->arg_known, 0, image->args.count * sizeof *frame->arg_known);
  for (uint32_t i = 0; i < image->buffers.count; i++) frame->buffers[i].known = false;
  for (uint32_t i = 0; i < image->launches.count; i++) frame->launches[i].known = false;
  for (uint32_t i = 0; i < image->tasks.count; i++) frame->tasks[i].known = false;
  for (uint32_t i = 0; i < image->fetches.count; i++) frame->fetches[i].data = NULL;
  LEAT_TRY(settle(frame, limits, checks, error));
  frame->resolved = true;
  return LEAT_OK;
}

static leat_status bind_dim(leat_frame *frame, uint32_t number, int64_t value,
                            const leat_frame_limits *limits, leat_error *error) {
  const leat_view *view = &frame->program->view;
  const leat_image_dim *dim = &view->dims[number];
  const char *name = leat_view_text(view, dim->name);
  int64_t *bound = &frame->dims[number];
  if (value < dim->low || value > dim->high)
    return leat_fail(error, LEAT_OUT_OF_RANGE, "dim %s is %lld, which is not in %lld..%lld", name,
                     (long long)value, (long long)dim->low, (long long)dim->high);
  if (*bound >= 0 && *bound != value)
    return leat_fail(error, LEAT_INVALID, "dim %s is %lld, and it was fed as %lld", name,
                     (long long)value, (long long)*bound);
  if (*bound >= 0) return LEAT_OK;
  *bound = value;
  return settle(frame, limits, true, error);
}

leat_status leat_frame_bind(leat_frame *frame, uint32_t dim, int64_t value,
                            const leat_frame_limits *limits, leat_error *error) {
  pthread_mutex_lock(&frame->lock);
  leat_status status = bind_dim(frame, dim, value, limits, error);
  pthread_mutex_unlock(&frame->lock);
  return status;
}

leat_status leat_frame_feed(leat_frame *frame, uint32_t feed, const leat_tensor *tensor,
                            leat_error *error) {
  const leat_program *program = frame->program;
  const leat_image_feed *record = &program->view.feeds[feed];
  void *data = tensor->data;
  if (!data) {
    int64_t bytes = type_bytes(frame, &record->type);
    if (bytes >= 0)
      data = (void *)(uintptr_t)leat_program_data(program, record->fallback,
                                                  (leat_dtype)record->type.dtype, bytes);
    if (!data)
      return leat_fail(error, LEAT_INVALID, "damaged image: the default of feed `%s`",
                       leat_program_text(program, record->origin.name));
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

bool leat_frame_holds(const leat_frame *frame, const leat_image_region *region) {
  return *(const uint8_t *)leat_frame_buffer(frame, region->predicate) != 0;
}

// -- Strings that loops make ----------------------------------------------------------------------

static leat_str *carried(const leat_frame *frame, const leat_image_region *loop, uint32_t i,
                         int64_t *count) {
  uint32_t arg = loop->carried_first + i;
  const leat_slot *slot = &frame->buffers[frame->program->view.args[arg].index];
  *count = slot->bytes / (int64_t)sizeof(leat_str);
  return slot->data;
}

// Of all that the loop carries, packed. What is there more than once counts as often.
static uint64_t carried_bytes(const leat_frame *frame, const leat_image_region *loop) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < loop->carried_count; i++) {
    int64_t count;
    const leat_str *strings = carried(frame, loop, i, &count);
    if (__builtin_add_overflow(bytes, leat_strs_packed_size(strings, count), &bytes))
      return UINT64_MAX;
  }
  return bytes;
}

static void keep_carried(leat_frame *frame, const leat_image_region *loop, leat_string_heap *heap) {
  leat_string_heap old;
  leat_string_heap_init(&old);
  leat_string_heap_move(heap, &old);
  leat_status status = LEAT_OK;
  for (uint32_t i = 0; i < loop->carried_count && !status; i++) {
    int64_t count;
    leat_str *strings = carried(frame, loop, i, &count);
    status = leat_string_heap_keep(heap, strings, strings, count);
  }
  if (status) leat_string_heap_move(&old, heap); // some lie there still
  leat_string_heap_finish(&old);
}

// Frees what a loop does not carry. That is at least half of the heap then: so each byte that is
// made pays for one that is copied, however little of what is carried an iteration makes.
static void renew(leat_frame *frame, const leat_image_region *loop, leat_string_heap *heap) {
  enum { LITTLE = 1 << 18 };
  if (heap->bytes < LITTLE || heap->bytes < heap->enough) return;
  uint64_t needed = carried_bytes(frame, loop);
  uint64_t enough = needed < UINT64_MAX / 2 ? 2 * needed : UINT64_MAX;
  if (heap->bytes >= enough) keep_carried(frame, loop, heap);
  heap->enough = enough;
}

bool leat_frame_goes_on(leat_frame *frame, const leat_image_region *loop) {
  const leat_program *program = frame->program;
  leat_string_heap *heap = leat_frame_heap(frame, loop->tables[1]);
  uint32_t owner = program->table_owners[loop->tables[1]];
  bool goes_on = leat_frame_holds(frame, loop);
  if (goes_on)
    renew(frame, loop, heap);
  else
    leat_string_heap_move(heap, leat_frame_heap(frame, program->task_tables[owner]));
  return goes_on;
}

// -- Results --------------------------------------------------------------------------------------

// Strings may lie in the client's feeds or in the image: a result has its own.
static leat_status fetch_strings(leat_frame *frame, leat_tensor *tensor, leat_error *error) {
  const leat_str *from = tensor->data;
  int64_t count = leat_shape_elements(tensor->rank, tensor->shape);
  leat_str *copy = leat_string_heap_allocate(&frame->heaps[0], (uint64_t)count * sizeof *copy);
  tensor->data = copy;
  if (copy && !leat_string_heap_keep(&frame->heaps[0], copy, from, count)) return LEAT_OK;
  return leat_fail(error, LEAT_MEMORY, "no memory for a result's strings");
}

leat_status leat_frame_fetch(leat_frame *frame, leat_store *store, uint32_t fetch, leat_tensor *out,
                             leat_error *error) {
  uint32_t index = frame->program->view.fetches[fetch].buffer;
  const leat_image_buffer *buffer = &frame->program->view.buffers[index];
  void *from = leat_frame_buffer(frame, index);
  leat_store_access access =
      buffer->kind == LEAT_BUFFER_VARIABLE ? LEAT_STORE_READ : LEAT_STORE_NONE;
  leat_status status = LEAT_OK;
  *out = frame->fetches[fetch];
  leat_store_lock(store, access);
  if (out->dtype == LEAT_str) {
    out->data = from;
    status = fetch_strings(frame, out, error);
  } else if (frame->fetch_copies[fetch]) {
    memcpy(out->data, from, (size_t)frame->buffers[index].bytes);
  }
  leat_store_unlock(store, access);
  return status;
}
