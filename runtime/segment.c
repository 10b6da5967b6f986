// A segment: launches in order, each divided statically over the tiles. Every member of the gang
// walks the same list. A launch that is worth one thread only is the caller's; between two of
// those there is nothing to wait for, everywhere else all members meet at a barrier. After a
// failure the walk goes on without computing, so that all barriers are met; but the launch that
// fails is run by all members, so that the failure of the lowest tiles is found, whatever their
// number.
#include "runtime/executor.h"

#include "base/str.h"

#include <string.h>

typedef struct segment_walk {
  leat_runtime *runtime;
  leat_frame *frame;
  const leat_image_task *task;
  const char *const *labels; // of launches, when tracing
  uint64_t step;
  _Atomic uint32_t last; // the launch that failed, behind which nothing runs
  leat_failure failure;  // the frame's lock holds
} segment_walk;

// Into a variable, which owns its strings, or out of one, whose strings may change after this task.
static int32_t copy_strings(leat_frame *frame, leat_str *to, const leat_str *from, int64_t count,
                            bool into_variable) {
  if (!into_variable) return (int32_t)leat_frame_keep(frame, to, from, count);
  for (int64_t i = 0; i < count; i++)
    if (!leat_str_own(&to[i], from[i])) return LEAT_MEMORY;
  return LEAT_OK;
}

static int32_t copy_tiles(leat_frame *frame, const leat_image_launch *launch, const leat_arg *args,
                          int64_t tiles, int64_t begin, int64_t end) {
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
    return copy_strings(frame, (leat_str *)out, (const leat_str *)in, last - first, into);
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

static int32_t run_tiles(leat_call *call, uint32_t number, int64_t begin, int64_t end) {
  leat_frame *frame = call->frame;
  const leat_image_launch *launch = &frame->program->view.launches[number];
  const leat_arg *args = frame->args + launch->arg_first;
  int64_t tiles = frame->launches[number].tiles;
  switch ((leat_launch_kind)launch->kind) {
  case LEAT_LAUNCH_KERNEL: return frame->program->kernels[launch->kernel](call, args, begin, end);
  case LEAT_LAUNCH_COPY: return copy_tiles(frame, launch, args, tiles, begin, end);
  case LEAT_LAUNCH_GEMM: return gemm_tiles(frame, launch, args, begin, end);
  }
  return LEAT_INTERNAL;
}

static void trace_launch(const segment_walk *walk, uint32_t number, uint64_t tiles, int64_t begin,
                         int64_t end) {
  const leat_launch_plan *plan = &walk->frame->launches[number];
  double share = (double)tiles / (double)plan->tiles;
  leat_trace_add(walk->runtime->trace, &(leat_trace_event){
                                           .begin = begin,
                                           .end = end,
                                           .kind = LEAT_TRACE_KERNEL,
                                           .label = walk->labels[number],
                                           .tiles = tiles,
                                           .bytes = (uint64_t)((double)plan->bytes * share),
                                           .step = walk->step,
                                       });
}

static void note_failure(segment_walk *walk, const leat_failure *failure) {
  pthread_mutex_lock(&walk->frame->lock);
  if (!walk->failure.result || failure->tile < walk->failure.tile) walk->failure = *failure;
  pthread_mutex_unlock(&walk->frame->lock);
  atomic_store(&walk->last, failure->launch);
}

// *begin becomes where the tiles begin that failed.
static int32_t run_turns(const segment_walk *walk, leat_call *call, uint32_t number, int64_t *begin,
                         int64_t end) {
  int64_t turn = walk->frame->launches[number].turn;
  int32_t result = LEAT_OK;
  for (; *begin < end && !result; *begin += turn) {
    if (__builtin_expect(leat_runs_end(walk->runtime), 0)) return LEAT_ABORTED;
    result = run_tiles(call, number, *begin, end - *begin > turn ? *begin + turn : end);
  }
  if (result) *begin -= turn;
  return result;
}

// *clock: when this thread ended its last launch, if that was just now, else 0; for traces.
static void run_launch(segment_walk *walk, uint32_t number, int64_t begin, int64_t end,
                       int64_t *clock) {
  if (begin == end || number > atomic_load_explicit(&walk->last, memory_order_relaxed)) return;
  bool tracing = __builtin_expect(walk->runtime->trace != NULL, 0);
  uint64_t tiles = (uint64_t)(end - begin);
  if (tracing && *clock == 0) *clock = leat_clock();
  leat_call call = {.frame = walk->frame};
  int32_t result = run_turns(walk, &call, number, &begin, end);
  if (tracing) {
    int64_t began = *clock;
    *clock = leat_clock();
    trace_launch(walk, number, tiles, began, *clock);
  }
  if (__builtin_expect(result != 0, 0))
    note_failure(walk, &(leat_failure){result, number, begin, call});
}

static void walk_launches(void *context, leat_gang *gang, int member) {
  segment_walk *walk = context;
  const leat_launch_plan *plans = walk->frame->launches;
  int size = leat_gang_size(gang);
  bool wide_before = false; // the launch before was everybody's
  int64_t clock = 0;
  for (uint32_t i = walk->task->first; i < walk->task->first + walk->task->count; i++) {
    int64_t tiles = plans[i].tiles;
    int width = plans[i].width < size ? plans[i].width : size;
    bool wide = width > 1;
    if (wide || wide_before) {
      leat_gang_barrier(gang);
      clock = 0;
    }
    wide_before = wide;
    if (member >= width) continue;
    int64_t part = tiles / width, rest = tiles % width;
    int64_t begin = member * part + (member < rest ? member : rest);
    run_launch(walk, i, begin, begin + part + (member < rest), &clock);
  }
}

leat_failure leat_segment_run(leat_run *run, leat_task_place place) {
  leat_executor *executor = run->executor;
  leat_frame *frame = &run->frames[place.part];
  segment_walk walk = {
      .runtime = executor->runtime,
      .frame = frame,
      .task = &frame->program->view.tasks[place.task],
      .labels = executor->parts[place.part].launch_labels,
      .step = run->step,
      .last = UINT32_MAX,
  };
  int width = frame->tasks[place.task].width;
  if (width > 1) {
    leat_gang_run(executor->runtime->pool, width - 1, walk_launches, &walk);
  } else {
    int64_t clock = 0;
    for (uint32_t i = walk.task->first; i < walk.task->first + walk.task->count; i++)
      run_launch(&walk, i, 0, frame->launches[i].tiles, &clock);
  }
  return walk.failure;
}
