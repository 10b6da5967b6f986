// What of a frame depends on dims. Whatever an image says about sizes and places is checked here
// against the memory that there is, so kernels get only buffers that lie where they should.
// It runs seldom: compiled for size.
#include "runtime/frame.h"

#include <stdlib.h>
#include <string.h>

static const double TURN = 5e7; // nanoseconds

enum { NO_VALUE = -1 }; // of a formula that overflows or divides by 0

static void resolve_formulas(leat_frame *frame, const leat_scope *scope) {
  const leat_view *view = &frame->program->view;
  for (uint32_t k = 0; k < scope->formulas.count; k++) {
    uint32_t i = scope->formulas.items[k];
    if (frame->formula_known[i] || !leat_formula_is_bound(view, i, frame->dims)) continue;
    frame->formula_known[i] = leat_formula_value(view, i, frame->dims, &frame->formulas[i]);
    if (!frame->formula_known[i]) frame->formulas[i] = NO_VALUE, frame->whole = false;
  }
}

void leat_frame_say(const leat_frame *frame, leat_text_index says, const int64_t *first,
                    uint32_t arg_first, uint32_t arg_count, leat_text *out) {
  const leat_view *view = &frame->program->view;
  static const char place[] = "%lld";
  uint32_t used = 0;
  for (const char *text = leat_view_text(view, says); *text; text++) {
    if ((!first && used == arg_count) || strncmp(text, place, strlen(place)) != 0) {
      leat_text_add_n(out, text, 1);
      continue;
    }
    leat_text_add_i64(out, first ? *first : frame->formulas[view->args[arg_first + used++].index]);
    text += strlen(place) - 1;
    first = NULL;
  }
}

leat_status leat_frame_fail(const leat_frame *frame, const leat_image_claim *claim,
                            leat_error *error) {
  leat_text words = {0};
  leat_frame_say(frame, claim->says, NULL, claim->arg_first, claim->arg_count, &words);
  leat_status status = leat_fail(error, LEAT_INVALID, "%s", words.size ? words.data : "");
  leat_text_finish(&words);
  return status;
}

// Which claims of the table, and of those in it, do not hold: those of the table itself end the
// step at once, and others when their table begins, which is refused then with all that stand in
// it. Returns whether some are.
static bool check_claims(leat_frame *frame, uint32_t table) {
  const leat_program *program = frame->program;
  const leat_scope *scope = &program->scopes[table];
  bool any = false;
  for (uint32_t k = 0; k < scope->claims.count; k++) {
    const leat_image_claim *claim = &program->view.claims[scope->claims.items[k]];
    const leat_image_claim **first =
        claim->table == table ? &frame->failed : &frame->refusals[claim->table];
    bool bound = leat_formula_is_bound(&program->view, claim->room, frame->dims);
    if (bound && frame->formulas[claim->room] < 0 && !*first) *first = claim;
  }
  for (uint32_t k = 0; k < scope->tables.count; k++) { // outer ones come first
    uint32_t t = scope->tables.items[k], owner = program->table_owners[t];
    if (owner != LEAT_NO_TASK && !frame->refusals[t])
      frame->refusals[t] = frame->refusals[program->task_tables[owner]];
    any |= frame->refusals[t] != NULL;
  }
  return any;
}

leat_status leat_frame_too_large(const leat_frame *frame, leat_error *error) {
  const leat_program *program = frame->program;
  return leat_fail(error, LEAT_INVALID, "a size in `%s` is too large for these dims",
                   leat_program_text(program, program->image->name));
}

// What is known of the dims' values: what they come to, and what that allows.
static leat_status resolve_dims(leat_frame *frame, uint32_t table, bool checks, leat_error *error) {
  frame->failed = NULL;
  resolve_formulas(frame, &frame->program->scopes[table]);
  bool refuses = check_claims(frame, table); // what makes no sense is there, then
  if (frame->failed && checks) return leat_frame_fail(frame, frame->failed, error);
  frame->failed = NULL;
  return frame->whole || refuses ? LEAT_OK : leat_frame_too_large(frame, error);
}

static int64_t arena_size(const leat_frame *frame, uint32_t number) {
  const leat_image_arena *arena = &frame->program->view.arenas[number];
  int64_t size = frame->formulas[arena->size];
  bool is_empty = size < 0 || frame->refusals[arena->table]; // below 0: where nothing is checked
  return is_empty ? 0 : size;
}

uint64_t leat_frame_memory(const leat_frame *frame) {
  const leat_view *view = &frame->program->view;
  uint64_t needed = 0;
  for (uint32_t i = 0; i < view->image->arenas.count; i++)
    if (frame->formula_known[view->arenas[i].size] && !view->arenas[i].within)
      needed += (uint64_t)arena_size(frame, i);
  for (uint32_t i = 0; i < view->image->grown.count; i++) needed += frame->grown[i].block.size;
  for (uint32_t i = 0; i < view->image->prepared.count; i++) needed += frame->prepared[i]->bytes;
  return needed;
}

leat_status leat_frame_check_memory(const leat_frame *frame, uint64_t more,
                                    const leat_frame_limits *limits, leat_error *error) {
  uint64_t needed = leat_frame_memory(frame) + more, most = limits->memory;
  if (!most || needed <= most) return LEAT_OK;
  return leat_fail(error, LEAT_MEMORY,
                   "the values of the step take at least %llu bytes, and the memory limit is %llu",
                   (unsigned long long)needed, (unsigned long long)most);
}

static leat_status check_lent(const leat_frame *frame, uint64_t needed, leat_error *error) {
  if (needed <= frame->lent.size) return LEAT_OK;
  return leat_fail(error, LEAT_MEMORY, "a run takes %llu bytes, and the memory lent to it has %zu",
                   (unsigned long long)needed, frame->lent.size);
}

// A piece that has no place yet gets the one that the image says, if it lies in the arena there.
static void place_piece(leat_frame *frame, uint32_t number) {
  const leat_image_arena *piece = &frame->program->view.arenas[number];
  const leat_block *around = &frame->arenas[piece->within - 1];
  leat_block *block = &frame->arenas[number];
  if (block->memory || !around->memory || !frame->formula_known[piece->where]) return;
  int64_t offset = frame->formulas[piece->where], all = arena_size(frame, piece->within - 1);
  bool inside = offset >= 0 && offset <= all && arena_size(frame, number) <= all - offset;
  if (inside && offset % LEAT_IMAGE_ALIGNMENT == 0) block->memory = (char *)around->memory + offset;
}

static leat_status resolve_arenas(leat_frame *frame, const leat_scope *scope,
                                  const leat_frame_limits *limits, leat_error *error) {
  const leat_view *view = &frame->program->view;
  LEAT_TRY(leat_frame_check_memory(frame, 0, limits, error));
  for (uint32_t k = 0; k < scope->arenas.count; k++) {
    uint32_t i = scope->arenas.items[k];
    leat_block *block = &frame->arenas[i];
    int64_t size = arena_size(frame, i);
    if (!frame->formula_known[view->arenas[i].size]) continue;
    if (view->arenas[i].within) place_piece(frame, i);
    if (view->arenas[i].within || (block->memory && (uint64_t)size <= block->size)) continue;
    if (i == 0 && frame->lent.memory) {
      LEAT_TRY(check_lent(frame, (uint64_t)size, error));
      block->memory = frame->lent.memory;
    } else {
      block->size = 0;
      LEAT_TRY(leat_frame_reallocate(&block->memory, (uint64_t)size, error));
    }
    block->size = (uint64_t)size;
  }
  return LEAT_OK;
}

// Whether the bytes lie in the arena, at an offset that suits the dtype.
static bool place_in_arena(const leat_frame *frame, const leat_image_buffer *buffer,
                           leat_slot *slot) {
  uint32_t size_formula = frame->program->view.arenas[buffer->arena].size;
  if (!frame->formula_known[buffer->where] || !frame->formula_known[size_formula]) return false;
  if (!frame->arenas[buffer->arena].memory) return false;
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
  int64_t bytes = slot->bytes = leat_frame_type_bytes(frame, &buffer->type);
  if (bytes < 0) return false;
  uint64_t where = buffer->where;
  switch ((leat_buffer_kind)buffer->kind) {
  case LEAT_BUFFER_ARENA: return place_in_arena(frame, buffer, slot);
  case LEAT_BUFFER_VARIABLE:
    slot->data = frame->variables[where]->tensor.data;
    return bytes == leat_tensor_bytes(&frame->variables[where]->tensor);
  case LEAT_BUFFER_FEED: return bytes == leat_frame_type_bytes(frame, &view->feeds[where].type);
  case LEAT_BUFFER_CONSTANT:
    slot->data =
        (void *)(uintptr_t)leat_program_data(program, where, (leat_dtype)buffer->type.dtype, bytes);
    return slot->data;
  case LEAT_BUFFER_FILE:
    slot->data = (void *)(uintptr_t)program->files[where];
    return bytes == leat_frame_type_bytes(frame, &view->files[where].type);
  case LEAT_BUFFER_RUN_COUNT: slot->data = &frame->run_count; return true;
  case LEAT_BUFFER_GROWN:
    slot->data = frame->grown[where].block.memory;
    return slot->data && bytes == frame->grown[where].bytes;
  case LEAT_BUFFER_PREPARED:
    slot->data = frame->prepared[where]->data;
    return (uint64_t)bytes == frame->prepared[where]->bytes;
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

static bool are_equally_large(const leat_frame *frame, const leat_image_launch *launch) {
  const leat_view *view = &frame->program->view;
  const leat_image_arg *args = &view->args[launch->arg_first];
  int64_t size = arena_size(frame, view->buffers[args[0].index].arena);
  for (uint32_t i = 1; i < launch->arg_count; i++)
    if (arena_size(frame, view->buffers[args[i].index].arena) != size) return false;
  return true;
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
  if (launch->kind == LEAT_LAUNCH_ROTATE && !are_equally_large(frame, launch)) return;
  leat_launch_plan *plan = &frame->launches[number];
  *plan = (leat_launch_plan){.known = true,
                             .tiles = frame->formulas[launch->tiles],
                             .work = (double)frame->formulas[launch->work]};
  if (plan->tiles < 0) plan->tiles = 0;
  uint32_t makes = frame->program->makes[number];
  if (makes) plan->makes = frame->prepared[makes - 1];
  double width = plan->work / limits->grain;
  if (width > limits->threads) width = limits->threads;
  if (width > (double)plan->tiles) width = (double)plan->tiles;
  plan->width = width > 1 ? (int32_t)width : 1;
  plan->turn = plan_turn(view, launch, plan->tiles, plan->work);
  double taken = (double)plan->tiles * limits->grain / (plan->work + 1);
  plan->taken = taken < (double)plan->turn ? (int64_t)taken : plan->turn;
  if (plan->taken < 1) plan->taken = 1;
  for (uint32_t i = 0; i < launch->arg_count && launch->kind != LEAT_LAUNCH_ROTATE; i++)
    if (!args[i].is_scalar) plan->bytes += (uint64_t)frame->buffers[args[i].index].bytes;
}

// What grows is as large as it is.
static bool region_known(const leat_frame *frame, const leat_image_region *region) {
  const leat_view *view = &frame->program->view;
  bool known = frame->buffers[region->predicate].known;
  for (uint32_t i = region->carried_first; i < region->carried_first + region->carried_count; i++)
    known &= frame->arg_known[i] || view->buffers[view->args[i].index].kind == LEAT_BUFFER_GROWN;
  for (uint32_t i = 0; i < region->rows_count; i++)
    known &= frame->buffers[view->rows[region->rows_first + i].count].known;
  return known;
}

// Of a region that is a launch: its tables come later and are planned.
static leat_launch_plan plan_region(const leat_frame *frame, const leat_image_region *region,
                                    bool loops) {
  leat_launch_plan plan = {.known = region_known(frame, region)};
  double work[2] = {0};
  for (int k = 0; k < 2; k++) {
    const leat_image_table *table = &frame->program->view.tables[region->tables[k]];
    if (!table->task_count || frame->refusals[region->tables[k]]) continue;
    const leat_task_plan *inner = &frame->tasks[table->task_first];
    plan.known &= inner->known;
    work[k] = inner->work;
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
  }
  plan->known = true;
}

static void plan_task(leat_frame *frame, uint32_t number) {
  const leat_view *view = &frame->program->view;
  const leat_image_task *task = &view->tasks[number];
  leat_task_plan *plan = &frame->tasks[number];
  *plan = (leat_task_plan){0};
  switch (leat_task_range_of(task->kind)) {
  case LEAT_RANGE_LAUNCHES: plan_segment(frame, task, plan); break;
  case LEAT_RANGE_MESSAGE:
    plan->known = frame->buffers[view->messages[task->first].buffer].known;
    break;
  case LEAT_RANGE_ARGS: plan->known = args_known(frame, task->first, task->count); break;
  case LEAT_RANGE_REGION: plan->known = region_known(frame, &view->regions[task->first]); break;
  }
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
  bool feed = buffer->kind == LEAT_BUFFER_FEED;
  if (feed && view->feeds[buffer->where].donated) { // where it is, each run says
    tensor->data = frame->feeds;
    return LEAT_OK;
  }
  if (!feed && buffer->kind != LEAT_BUFFER_VARIABLE) return LEAT_OK;
  LEAT_TRY(leat_frame_reallocate(&frame->fetch_copies[number],
                                 (uint64_t)frame->buffers[index].bytes, error));
  tensor->data = frame->fetch_copies[number];
  return LEAT_OK;
}

// Resolves what of the table's scope is not yet, as far as the dims that are bound allow.
static leat_status settle(leat_frame *frame, uint32_t table, const leat_frame_limits *limits,
                          bool checks, leat_error *error) {
  const leat_scope *scope = &frame->program->scopes[table];
  LEAT_TRY(resolve_dims(frame, table, checks, error));
  LEAT_TRY(resolve_arenas(frame, scope, limits, error));
  for (uint32_t k = 0; k < scope->buffers.count; k++) {
    uint32_t i = scope->buffers.items[k];
    if (!frame->buffers[i].known) frame->buffers[i].known = resolve_buffer(frame, i);
  }
  for (uint32_t k = 0; k < scope->args.count; k++)
    if (!frame->arg_known[scope->args.items[k]]) resolve_arg(frame, scope->args.items[k]);
  for (uint32_t k = 0; k < scope->launches.count; k++)
    if (!frame->launches[scope->launches.items[k]].known)
      plan_launch(frame, scope->launches.items[k], limits);
  for (uint32_t k = 0; k < scope->tasks.count; k++)
    if (!frame->tasks[scope->tasks.items[k]].known) plan_task(frame, scope->tasks.items[k]);
  for (uint32_t i = 0; !table && i < frame->program->image->fetches.count; i++)
    if (!frame->fetches[i].data) LEAT_TRY(resolve_fetch(frame, i, error));
  return LEAT_OK;
}

static void forget_piece(leat_frame *frame, uint32_t number) {
  if (frame->program->view.arenas[number].within) frame->arenas[number].memory = NULL;
}

leat_status leat_frame_resolve(leat_frame *frame, const leat_frame_limits *limits, bool checks,
                               leat_error *error) {
  const leat_image *image = frame->program->image;
  frame->resolved = false;
  frame->whole = true;
  for (uint32_t i = 0; i < image->tables.count; i++) frame->refusals[i] = NULL;
  memset(frame->formula_known, 0, image->formulas.count * sizeof *frame->formula_known);
  memset(frame->arg_known, 0, image->args.count * sizeof *frame->arg_known);
  for (uint32_t i = 0; i < image->arenas.count; i++) forget_piece(frame, i);
  for (uint32_t i = 0; i < image->buffers.count; i++) frame->buffers[i].known = false;
  for (uint32_t i = 0; i < image->launches.count; i++) frame->launches[i].known = false;
  for (uint32_t i = 0; i < image->tasks.count; i++) frame->tasks[i].known = false;
  for (uint32_t i = 0; i < image->fetches.count; i++) frame->fetches[i].data = NULL;
  LEAT_TRY(settle(frame, 0, limits, checks, error));
  frame->resolved = true;
  return LEAT_OK;
}

static void forget(leat_frame *frame, uint32_t table) {
  const leat_scope *s = &frame->program->scopes[table];
  for (uint32_t k = 0; k < s->dims.count; k++) frame->dims[s->dims.items[k]] = -1;
  for (uint32_t k = 0; k < s->formulas.count; k++)
    frame->formula_known[s->formulas.items[k]] = false;
  for (uint32_t k = 0; k < s->arenas.count; k++) forget_piece(frame, s->arenas.items[k]);
  for (uint32_t k = 0; k < s->buffers.count; k++) frame->buffers[s->buffers.items[k]].known = false;
  for (uint32_t k = 0; k < s->args.count; k++) frame->arg_known[s->args.items[k]] = false;
  for (uint32_t k = 0; k < s->launches.count; k++)
    frame->launches[s->launches.items[k]].known = false;
  for (uint32_t k = 0; k < s->tasks.count; k++) frame->tasks[s->tasks.items[k]].known = false;
  for (uint32_t k = 0; k < s->tables.count; k++) frame->refusals[s->tables.items[k]] = NULL;
  check_claims(frame, table);
  frame->failed = NULL;
}

static leat_status set_dim(leat_frame *frame, uint32_t number, int64_t value, leat_error *error) {
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
  *bound = value;
  return LEAT_OK;
}

// Those of one scope.
static leat_status bind_extents(leat_frame *frame, uint32_t first, uint32_t count,
                                const leat_frame_limits *limits, leat_error *error) {
  for (uint32_t i = first; i < first + count; i++) {
    const leat_image_extent *extent = &frame->program->view.extents[i];
    LEAT_TRY(set_dim(frame, extent->dim, frame->grown[extent->grown].shape[extent->axis], error));
  }
  if (!count) return LEAT_OK;
  uint32_t dim = frame->program->view.extents[first].dim;
  return settle(frame, frame->program->dim_scopes[dim], limits, true, error);
}

leat_status leat_frame_begin_table(leat_frame *frame, uint32_t number,
                                   const leat_frame_limits *limits, leat_error *error) {
  const leat_image_table *table = &frame->program->view.tables[number];
  if (!frame->program->scopes[number].dims.count || !number) return LEAT_OK;
  pthread_mutex_lock(&frame->lock);
  forget(frame, number);
  leat_status status = bind_extents(frame, table->extent_first, table->extent_count, limits, error);
  pthread_mutex_unlock(&frame->lock);
  return status;
}

leat_status leat_frame_end_region(leat_frame *frame, const leat_image_region *region,
                                  const leat_frame_limits *limits, leat_error *error) {
  if (!region->extent_count) return LEAT_OK;
  pthread_mutex_lock(&frame->lock);
  leat_status status =
      bind_extents(frame, region->extent_first, region->extent_count, limits, error);
  pthread_mutex_unlock(&frame->lock);
  return status;
}

static leat_status bind_dim(leat_frame *frame, uint32_t number, int64_t value,
                            const leat_frame_limits *limits, leat_error *error) {
  bool known = frame->dims[number] >= 0;
  LEAT_TRY(set_dim(frame, number, value, error));
  return known ? LEAT_OK : settle(frame, frame->program->dim_scopes[number], limits, true, error);
}

leat_status leat_frame_bind(leat_frame *frame, uint32_t dim, int64_t value,
                            const leat_frame_limits *limits, leat_error *error) {
  pthread_mutex_lock(&frame->lock);
  leat_status status = bind_dim(frame, dim, value, limits, error);
  pthread_mutex_unlock(&frame->lock);
  return status;
}
