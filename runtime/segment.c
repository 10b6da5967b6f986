// A segment: launches in order, which the caller walks. The tiles of a launch are divided among the
// threads that it is worth, and taken as these come: each begins with its own, which are the same
// ones in every run, and goes on with what others have left. After a failure no tile is begun that
// lies behind it: so the failure of the lowest tiles is found, whoever computes them.
// Each thread computes in the image's mode of floats, and has afterwards the one that it had.
// What is a branch or a loop is walk.c's.
#include "runtime/walk.h"

#include "base/float_mode.h"
#include "base/str.h"

#include <string.h>

// Into a variable, which owns its strings, or out of one, whose strings may change after this task.
static int32_t copy_strings(leat_string_heap *heap, leat_str *to, const leat_str *from,
                            int64_t count, bool into_variable) {
  if (!into_variable) return (int32_t)leat_string_heap_keep(heap, to, from, count);
  for (int64_t i = 0; i < count; i++)
    if (!leat_str_own(&to[i], from[i])) return LEAT_MEMORY;
  return LEAT_OK;
}

static int32_t copy_tiles(const leat_frame *frame, leat_string_heap *heap,
                          const leat_image_launch *launch, const leat_arg *args, int64_t tiles,
                          int64_t begin, int64_t end) {
  const leat_image_arg *numbers = &frame->program->view.args[launch->arg_first];
  const leat_image_buffer *to = &frame->program->view.buffers[numbers[0].index];
  const leat_image_buffer *from = &frame->program->view.buffers[numbers[1].index];
  int64_t size = (int64_t)leat_dtype_size((leat_dtype)to->type.dtype);
  int64_t count = frame->buffers[numbers[0].index].bytes / size, part = count / tiles;
  int64_t first = part * begin, last = end == tiles ? count : part * end;
  if (first >= last) return LEAT_OK;
  char *out = (char *)args[0].pointer + first * size;
  const char *in = (const char *)args[1].pointer + first * size;
  bool into = to->kind == LEAT_BUFFER_VARIABLE, out_of = from->kind == LEAT_BUFFER_VARIABLE;
  if (to->type.dtype == LEAT_str && (into || out_of))
    return copy_strings(heap, (leat_str *)out, (const leat_str *)in, last - first, into);
  memmove(out, in, (size_t)((last - first) * size));
  return LEAT_OK;
}

static int32_t gemm_tiles(const leat_frame *frame, const leat_image_launch *launch,
                          const leat_arg *args, int64_t begin, int64_t end) {
  const leat_view *view = &frame->program->view;
  leat_gemm gemm = {
      .dtype = (leat_dtype)view->buffers[view->args[launch->arg_first].index].type.dtype,
      .c = args[0].pointer,
      .a = args[1].pointer,
      .b = args[2].pointer,
      .m = args[3].value,
      .n = args[4].value,
      .k = args[5].value,
      .transpose_a = args[6].value != 0,
      .transpose_b = args[7].value != 0,
      .batch = args[8].value,
  };
  return frame->program->gemm(&gemm, begin, end);
}

static int32_t run_tiles(leat_frame *frame, leat_call *call, uint32_t number, int64_t begin,
                         int64_t end) {
  const leat_image_launch *launch = &frame->program->view.launches[number];
  const leat_arg *args = frame->args + launch->arg_first;
  int64_t tiles = frame->launches[number].tiles;
  switch ((leat_launch_kind)launch->kind) {
  case LEAT_LAUNCH_KERNEL: return frame->program->kernels[launch->kernel](call, args, begin, end);
  case LEAT_LAUNCH_COPY: return copy_tiles(frame, call->heap, launch, args, tiles, begin, end);
  case LEAT_LAUNCH_GEMM: return gemm_tiles(frame, launch, args, begin, end);
  case LEAT_LAUNCH_ROTATE: frame->program->control->rotate(frame, number); return LEAT_OK;
  case LEAT_LAUNCH_IF:
  case LEAT_LAUNCH_WHILE: break;
  }
  return LEAT_INTERNAL;
}

static void trace_launch(const leat_walk *walk, uint32_t number, int64_t tiles, int64_t begin,
                         int64_t end) {
  const leat_launch_plan *plan = &walk->frame->launches[number];
  double share = (double)tiles / (double)plan->tiles;
  leat_trace *trace = walk->run->executor->runtime->trace;
  trace->add(trace, &(leat_trace_event){
                        .begin = begin,
                        .end = end,
                        .kind = LEAT_TRACE_KERNEL,
                        .label = walk->labels[number],
                        .tiles = (uint64_t)tiles,
                        .bytes = (uint64_t)((double)plan->bytes * share),
                        .step = walk->step,
                    });
}

// -- Taking tiles ---------------------------------------------------------------------------------

enum { MOST_RANGES = 64 }; // more threads share some

// A launch that several threads compute.
typedef struct shared_launch {
  leat_walk *walk;
  uint32_t number;
  int ranges;
  _Atomic int64_t failed; // where the lowest tiles begin that failed
  struct {
    _Atomic int64_t next;
    char apart[56]; // from what others write
  } range[MOST_RANGES];
} shared_launch;

static int64_t range_begin(const shared_launch *shared, int range) {
  int64_t tiles = shared->walk->frame->launches[shared->number].tiles;
  int64_t part = tiles / shared->ranges, rest = tiles % shared->ranges;
  return range * part + (range < rest ? range : rest);
}

// The next tiles of the range; false: there are none.
static bool take_of(shared_launch *shared, int range, int64_t *begin, int64_t *end) {
  int64_t last = range_begin(shared, range + 1);
  int64_t count = shared->walk->frame->launches[shared->number].taken;
  _Atomic int64_t *next = &shared->range[range].next;
  if (atomic_load_explicit(next, memory_order_relaxed) >= last) return false;
  *begin = atomic_fetch_add_explicit(next, count, memory_order_relaxed);
  *end = *begin + count < last ? *begin + count : last;
  return *begin < last;
}

// *range: where to look first; then, where they were found.
static bool take(shared_launch *shared, int *range, int64_t *begin, int64_t *end) {
  for (int i = 0; i < shared->ranges; i++, *range = (*range + 1) % shared->ranges)
    if (take_of(shared, *range, begin, end)) return true;
  return false;
}

static void fail(shared_launch *shared, int64_t tile, const leat_failure *failure) {
  leat_walk *walk = shared->walk;
  pthread_mutex_lock(&walk->frame->lock);
  if (tile < atomic_load(&shared->failed)) {
    walk->failure = *failure;
    atomic_store(&shared->failed, tile);
  }
  pthread_mutex_unlock(&walk->frame->lock);
}

static leat_float_mode begin_mode(const leat_frame *frame) {
  return leat_float_mode_begin(frame->program->image->keep_denormals);
}

static void compute_tiles(void *context, int member) {
  shared_launch *shared = context;
  leat_walk *walk = shared->walk;
  const leat_launch_plan *plan = &walk->frame->launches[shared->number];
  bool stops = plan->turn < plan->tiles;
  int range = member % shared->ranges;
  int64_t clock = leat_run_clock(walk->run), computed = 0, begin, end;
  leat_float_mode before = begin_mode(walk->frame);
  while (take(shared, &range, &begin, &end)) {
    if (begin > atomic_load_explicit(&shared->failed, memory_order_relaxed)) continue;
    leat_call call = {.heap = walk->heap, .ends = leat_run_is_over_at(walk->run)};
    int32_t result = LEAT_ABORTED;
    if (!stops || !leat_run_is_over(walk->run))
      result = run_tiles(walk->frame, &call, shared->number, begin, end);
    computed += end - begin;
    if (__builtin_expect(result != 0, 0))
      fail(shared, begin,
           &(leat_failure){.result = result, .launch = shared->number, .call = call});
  }
  leat_float_mode_end(before);
  if (clock && computed) trace_launch(walk, shared->number, computed, clock, leat_clock());
}

static void run_shared(leat_walk *walk, uint32_t number, int width) {
  shared_launch shared; // of its ranges only those that there are become anything
  shared.walk = walk;
  shared.number = number;
  shared.ranges = width < MOST_RANGES ? width : MOST_RANGES;
  atomic_store(&shared.failed, INT64_MAX);
  for (int i = 0; i < shared.ranges; i++)
    atomic_store_explicit(&shared.range[i].next, range_begin(&shared, i), memory_order_relaxed);
  leat_pool_do(walk->run->executor->runtime->pool, width, compute_tiles, &shared);
  walk->clock = 0;
}

// -- Launches -------------------------------------------------------------------------------------

static void run_alone(leat_walk *walk, uint32_t number) {
  const leat_launch_plan *plan = &walk->frame->launches[number];
  leat_call call = {.heap = walk->heap, .ends = leat_run_is_over_at(walk->run)};
  bool tracing = __builtin_expect(walk->run->executor->runtime->trace != NULL, 0);
  int64_t began = walk->clock ? walk->clock : leat_run_clock(walk->run), begin = 0;
  int32_t result = LEAT_OK;
  while (begin < plan->tiles && !result) {
    int64_t end = plan->tiles - begin > plan->turn ? begin + plan->turn : plan->tiles;
    bool over = begin && leat_run_is_over(walk->run);
    result = over ? LEAT_ABORTED : run_tiles(walk->frame, &call, number, begin, end);
    begin = end;
  }
  if (tracing && begin) {
    walk->clock = leat_clock();
    trace_launch(walk, number, plan->tiles, began, walk->clock);
  }
  if (__builtin_expect(result != 0, 0))
    walk->failure = (leat_failure){.result = result, .launch = number, .call = call};
}

bool leat_walk_launches(leat_walk *walk, uint32_t first, uint32_t count) {
  const leat_frame *frame = walk->frame;
  const leat_view *view = &frame->program->view;
  for (uint32_t i = first; i < first + count && !walk->failure.result; i++) {
    if (leat_launch_has_region(view->launches[i].kind)) {
      frame->program->control->walk(walk, i);
      continue;
    }
    const leat_prepared *makes = frame->launches[i].makes;
    if (makes && leat_prepared_is_fresh(makes)) continue;
    leat_run_is_at(walk->run, frame->program, &view->launches[i].node);
    int width = frame->launches[i].width;
    if (makes && !frame->program->keeper->lend(walk, i)) break;
    if (__builtin_expect(leat_run_is_over(walk->run), 0))
      walk->failure = (leat_failure){.result = LEAT_ABORTED, .launch = i};
    else if (width > 1)
      run_shared(walk, i, width);
    else
      run_alone(walk, i);
    if (makes) frame->program->keeper->take_back(walk, i);
  }
  return !walk->failure.result;
}

leat_failure leat_segment_run(leat_run *run, leat_task_place place) {
  leat_frame *frame = &run->frames[place.part];
  const leat_image_task *task = leat_run_task_of(run, place);
  leat_walk walk = {
      .run = run,
      .frame = frame,
      .heap = leat_run_heap(run, place),
      .labels = run->executor->parts[place.part].launch_labels,
      .step = run->step,
  };
  leat_float_mode before = begin_mode(frame);
  leat_walk_launches(&walk, task->first, task->count);
  leat_float_mode_end(before);
  return walk.failure;
}
