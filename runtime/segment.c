// A segment: launches in order, each divided statically over the tiles. Every member of the gang
// walks the same list. A launch that is worth one thread only is the caller's; between two of
// those there is nothing to wait for, everywhere else all members meet at a barrier. After a
// failure the walk goes on without computing, so that all barriers are met; but the launch that
// fails is run by all members, so that the failure of the lowest tiles is found, whatever their
// number.
// What is a branch or a loop is walk.c's.
#include "runtime/walk.h"

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

static void trace_launch(const leat_segment_walk *walk, uint32_t number, uint64_t tiles,
                         int64_t begin, int64_t end) {
  const leat_launch_plan *plan = &walk->frame->launches[number];
  double share = (double)tiles / (double)plan->tiles;
  leat_trace *trace = walk->run->executor->runtime->trace;
  trace->add(trace, &(leat_trace_event){
                        .begin = begin,
                        .end = end,
                        .kind = LEAT_TRACE_KERNEL,
                        .label = walk->labels[number],
                        .tiles = tiles,
                        .bytes = (uint64_t)((double)plan->bytes * share),
                        .step = walk->step,
                    });
}

void leat_walk_fail(leat_segment_walk *walk, uint64_t era, const leat_failure *failure) {
  pthread_mutex_lock(&walk->frame->lock);
  if (!walk->failure.result || failure->tile < walk->failure.tile) walk->failure = *failure;
  pthread_mutex_unlock(&walk->frame->lock);
  atomic_store(&walk->last, era);
}

// *begin becomes where the tiles begin that failed.
static int32_t run_turns(const leat_segment_walk *walk, leat_call *call, uint32_t number,
                         int64_t *begin, int64_t end) {
  int64_t turn = walk->frame->launches[number].turn;
  int32_t result = LEAT_OK;
  for (; *begin < end && !result; *begin += turn) {
    if (__builtin_expect(leat_run_is_over(walk->run), 0)) return LEAT_ABORTED;
    result =
        run_tiles(walk->frame, call, number, *begin, end - *begin > turn ? *begin + turn : end);
  }
  if (result) *begin -= turn;
  return result;
}

static void run_launch(leat_walker *w, uint32_t number, int64_t begin, int64_t end) {
  leat_segment_walk *walk = w->walk;
  if (begin == end) return;
  bool tracing = __builtin_expect(walk->run->executor->runtime->trace != NULL, 0);
  if (w->member == 0)
    leat_run_is_at(walk->run, walk->frame->program,
                   &walk->frame->program->view.launches[number].node);
  uint64_t tiles = (uint64_t)(end - begin);
  if (tracing && w->clock == 0) w->clock = leat_clock();
  leat_call call = {.heap = w->heap, .ends = leat_run_is_over_at(walk->run)};
  int32_t result = run_turns(walk, &call, number, &begin, end);
  if (tracing) {
    int64_t began = w->clock;
    w->clock = leat_clock();
    trace_launch(walk, number, tiles, began, w->clock);
  }
  if (__builtin_expect(result != 0, 0))
    leat_walk_fail(
        walk, w->era,
        &(leat_failure){.result = result, .launch = number, .tile = begin, .call = call});
}

void leat_walk_meet(leat_walker *w) {
  leat_gang_barrier(w->gang);
  w->era++;
  w->met = true;
  w->wide_before = false;
  w->clock = 0;
}

// Between two meetings either one launch of all members runs, or some of the caller's alone.
void leat_walk_begin(leat_walker *w, bool wide) {
  if (!w->met && (wide || w->wide_before)) leat_walk_meet(w);
  w->met = false;
  w->wide_before = wide;
}

static void run_share(leat_walker *w, uint32_t number, int width) {
  if (w->member >= width) return;
  uint64_t last = atomic_load_explicit(&w->walk->last, memory_order_relaxed);
  if (last != LEAT_NEVER && (width == 1 || last < w->era)) return;
  int64_t tiles = w->walk->frame->launches[number].tiles;
  int64_t part = tiles / width, rest = tiles % width;
  int64_t begin = w->member * part + (w->member < rest ? w->member : rest);
  run_launch(w, number, begin, begin + part + (w->member < rest));
}

bool leat_walk_launches(leat_walker *w, uint32_t first, uint32_t count) {
  const leat_frame *frame = w->walk->frame;
  for (uint32_t i = first; i < first + count; i++) {
    int width = frame->launches[i].width < w->size ? frame->launches[i].width : w->size;
    if (!leat_launch_has_region(frame->program->view.launches[i].kind)) {
      leat_walk_begin(w, width > 1);
      run_share(w, i, width);
    } else if (!frame->program->control->walk(w, i, width > 1)) {
      return false;
    }
  }
  return true;
}

// -- Segments -------------------------------------------------------------------------------------

static void walk_segment(void *context, leat_gang *gang, int member) {
  leat_segment_walk *walk = context;
  leat_walker w = {.walk = walk,
                   .gang = gang,
                   .member = member,
                   .size = gang ? leat_gang_size(gang) : 1,
                   .met = true,
                   .heap = walk->heap};
  leat_walk_launches(&w, walk->task->first, walk->task->count);
}

leat_failure leat_segment_run(leat_run *run, leat_task_place place) {
  leat_executor *executor = run->executor;
  leat_frame *frame = &run->frames[place.part];
  leat_segment_walk walk = {
      .run = run,
      .frame = frame,
      .task = &frame->program->view.tasks[place.task],
      .heap = leat_run_heap(run, place),
      .labels = executor->parts[place.part].launch_labels,
      .step = run->step,
      .last = LEAT_NEVER,
  };
  int width = frame->tasks[place.task].width;
  if (width > 1)
    leat_gang_run(executor->runtime->pool, width - 1, walk_segment, &walk);
  else
    walk_segment(&walk, NULL, 0);
  return walk.failure;
}
