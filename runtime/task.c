// The tasks of an image, each executed under its device's lock of variables: a segment's result
// becomes an error here, and what only the host can do (print, bind a dim, check, assert) is done.
#include "runtime/executor.h"
#include "runtime/format.h"

#include <stdio.h>
#include <string.h>

void leat_run_trace(leat_run *run, leat_task_place place, leat_trace_kind kind, int64_t begin,
                    uint64_t bytes) {
  leat_trace *trace = run->executor->runtime->trace;
  if (__builtin_expect(trace == NULL, 1)) return;
  leat_trace_add(trace, &(leat_trace_event){
                            .begin = begin,
                            .end = leat_clock(),
                            .kind = kind,
                            .label = run->executor->parts[place.part].task_labels[place.task],
                            .bytes = bytes,
                            .step = run->step,
                        });
}

static bool run_segment(leat_run *run, leat_task_place place) {
  int64_t begin = leat_run_clock(run);
  uint32_t launch;
  int32_t result = leat_segment_run(run, place, &launch);
  leat_run_trace(run, place, LEAT_TRACE_SEGMENT, begin, 0);
  if (__builtin_expect(result == 0, 1)) return true;
  const leat_program *program = run->frames[place.part].program;
  const leat_image_launch *record = &program->view.launches[launch];
  uint32_t site = (uint32_t)result >> 8;
  leat_text_index name =
      site < record->site_count ? program->view.sites[record->site_first + site] : record->name;
  leat_status status = (leat_status)(result & 0xff);
  leat_run_fail(run, -1, status ? status : LEAT_INTERNAL, "%s: node `%s`: %s",
                leat_run_device(run, place.part), leat_program_text(program, name),
                leat_status_name(status));
  return false;
}

static bool run_print(leat_run *run, leat_task_place place) {
  leat_runtime *runtime = run->executor->runtime;
  if (!runtime->print) return true;
  int64_t begin = leat_run_clock(run);
  const leat_image_task *task = leat_run_task_of(run, place);
  const leat_frame *frame = &run->frames[place.part];
  const leat_view *view = &frame->program->view;
  leat_text text = {0};
  leat_text_add(&text, "%s", leat_view_text(view, task->text));
  for (uint32_t i = 0; i < task->count; i++) {
    uint32_t index = view->args[task->first + i].index;
    const leat_image_type *type = &view->buffers[index].type;
    leat_tensor tensor = {.dtype = (leat_dtype)type->dtype,
                          .rank = (int32_t)type->rank,
                          .data = leat_frame_buffer(frame, index)};
    memcpy(tensor.shape, frame->formulas + type->shape_first, type->rank * sizeof(int64_t));
    if (text.size) leat_text_add(&text, tensor.rank > 1 ? "\n" : " ");
    leat_tensor_format(&tensor, &text);
  }
  pthread_mutex_lock(&runtime->print_lock);
  runtime->print(runtime->print_context, text.data);
  pthread_mutex_unlock(&runtime->print_lock);
  leat_text_finish(&text);
  leat_run_trace(run, place, LEAT_TRACE_PRINT, begin, 0);
  return true;
}

static bool run_bind(leat_run *run, leat_task_place place) {
  const leat_image_task *task = leat_run_task_of(run, place);
  leat_frame *frame = &run->frames[place.part];
  leat_error why = {0};
  int64_t value = *(const int64_t *)leat_frame_buffer(frame, task->first);
  leat_status status =
      leat_frame_bind(frame, task->count, value, &run->executor->runtime->limits, &why);
  if (status)
    leat_run_fail(run, -1, status, "%s: node `%s`: %s", leat_run_device(run, place.part),
                  leat_program_text(frame->program, task->text), why.message);
  return !status;
}

// A size as people know it: `B = 3`, or just the number.
static const char *size_text(const leat_frame *frame, uint32_t formula, char *text, size_t size) {
  const leat_view *view = &frame->program->view;
  int64_t dim = leat_formula_dim(view, formula);
  snprintf(text, size, "%s%s%lld", dim < 0 ? "" : leat_view_text(view, view->dims[dim].name),
           dim < 0 ? "" : " = ", (long long)frame->formulas[formula]);
  return text;
}

static bool run_check(leat_run *run, leat_task_place place) {
  const leat_image_task *task = leat_run_task_of(run, place);
  const leat_frame *frame = &run->frames[place.part];
  const leat_image_arg *args = &frame->program->view.args[task->first];
  char a[128], b[128];
  for (uint32_t i = 0; i < task->count; i += 2) {
    if (frame->formulas[args[i].index] == frame->formulas[args[i + 1].index]) continue;
    leat_run_fail(run, -1, LEAT_INVALID, "%s: node `%s`: axis %u: %s and %s differ",
                  leat_run_device(run, place.part), leat_program_text(frame->program, task->text),
                  i / 2, size_text(frame, args[i].index, a, sizeof a),
                  size_text(frame, args[i + 1].index, b, sizeof b));
    return false;
  }
  return true;
}

static bool run_assert(leat_run *run, leat_task_place place) {
  const leat_image_task *task = leat_run_task_of(run, place);
  const leat_frame *frame = &run->frames[place.part];
  size_t size = (size_t)frame->buffers[task->first].bytes;
  if (!size || !memchr(leat_frame_buffer(frame, task->first), false, size)) return true;
  leat_run_fail(run, -1, LEAT_INVALID, "%s: node `%s`: %s", leat_run_device(run, place.part),
                leat_program_text(frame->program, task->text),
                leat_program_text(frame->program, task->message));
  return false;
}

// Whether all that the task works on has its place and size, which a sound image sees to.
static bool check_known(leat_run *run, leat_task_place place) {
  const leat_frame *frame = &run->frames[place.part];
  if (__builtin_expect(frame->tasks[place.task].known, 1)) return true;
  leat_run_fail(run, -1, LEAT_INVALID,
                "damaged image: task `%s` works on memory whose place or size is not known",
                leat_program_text(frame->program, leat_run_task_of(run, place)->text));
  return false;
}

bool leat_run_task(leat_run *run, leat_task_place place) {
  leat_store *store = run->executor->parts[place.part].store;
  leat_store_access access = run->frames[place.part].program->access[place.task];
  bool done = false;
  if (!check_known(run, place)) return false;
  leat_store_lock(store, access);
  switch ((leat_task_kind)leat_run_task_of(run, place)->kind) {
  case LEAT_TASK_SEGMENT: done = run_segment(run, place); break;
  case LEAT_TASK_SEND: done = leat_transfer_send(run, place); break;
  case LEAT_TASK_RECV: leat_transfer_receive(run, place); break;
  case LEAT_TASK_PRINT: done = run_print(run, place); break;
  case LEAT_TASK_BIND: done = run_bind(run, place); break;
  case LEAT_TASK_CHECK: done = run_check(run, place); break;
  case LEAT_TASK_ASSERT: done = run_assert(run, place); break;
  }
  leat_store_unlock(store, access);
  return done;
}
