// The tasks of an image, each executed under its device's lock of variables: a segment's result
// becomes an error here. What is no segment is control.c's.
// It runs seldom: compiled for size.
#include "runtime/executor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void leat_run_trace(leat_run *run, leat_task_place place, leat_trace_kind kind, int64_t begin,
                    uint64_t bytes) {
  leat_trace *trace = run->executor->runtime->trace;
  if (__builtin_expect(trace == NULL, 1)) return;
  trace->add(trace, &(leat_trace_event){
                        .begin = begin,
                        .end = leat_clock(),
                        .kind = kind,
                        .label = run->executor->parts[place.part].task_labels[place.task],
                        .bytes = bytes,
                        .step = run->step,
                    });
}

void leat_run_fail_node(leat_run *run, leat_task_place place, leat_image_origin node,
                        leat_status status, const char *format, ...) {
  leat_text words = {0};
  leat_text_add(&words, "%s: node ", leat_run_device(run, place.part));
  leat_origin_print(&run->frames[place.part].program->view, node, &words);
  leat_text_add(&words, ": ");
  va_list arguments;
  va_start(arguments, format);
  leat_text_add_v(&words, format, arguments);
  va_end(arguments);
  leat_run_fail(run, -1, status, "%s", words.data);
  leat_text_finish(&words);
}

void leat_run_fail_claim(leat_run *run, leat_task_place place, const leat_image_claim *claim) {
  leat_error why = {0};
  leat_status status = leat_frame_fail(&run->frames[place.part], claim, &why);
  leat_run_fail_node(run, place, claim->node, status, "%s", why.message);
}

static void report_failure(leat_run *run, leat_task_place place, const leat_failure *failure) {
  const leat_frame *frame = &run->frames[place.part];
  const leat_view *view = &frame->program->view;
  const leat_image_launch *launch = &view->launches[failure->launch];
  leat_image_site site = {.node = launch->node};
  int64_t found = failure->call.value;
  uint32_t number = (uint32_t)failure->result >> 8;
  if (number < launch->site_count) site = view->sites[launch->site_first + number];
  leat_status status = (leat_status)(failure->result & 0xff);
  const char *says = failure->call.says;
  leat_text why = {0};
  if (says || site.says) leat_text_add(&why, ": ");
  if (says)
    leat_text_add(&why, "%s", says);
  else
    leat_frame_say(frame, site.says, &found, site.arg_first, site.arg_count, &why);
  leat_run_fail_node(run, place, site.node, status ? status : LEAT_INTERNAL, "%s%s",
                     leat_status_name(status), why.size ? why.data : "");
  leat_text_finish(&why);
}

static bool run_segment(leat_run *run, leat_task_place place) {
  int64_t begin = leat_run_clock(run);
  leat_failure failure = leat_segment_run(run, place);
  leat_run_trace(run, place, LEAT_TRACE_SEGMENT, begin, 0);
  if (__builtin_expect(failure.result == 0, 1)) return true;
  if (leat_run_ends(run)) return false;
  if (failure.refusal)
    leat_run_fail_claim(run, place, failure.refusal);
  else
    report_failure(run, place, &failure);
  return false;
}

// Whether all that the task works on has its place and size, which a sound image sees to.
static bool check_known(leat_run *run, leat_task_place place) {
  const leat_frame *frame = &run->frames[place.part];
  if (__builtin_expect(frame->tasks[place.task].known, 1)) return true;
  leat_error why = {0};
  if (!frame->whole)
    leat_run_fail(run, -1, leat_frame_too_large(frame, &why), "%s", why.message);
  else
    leat_run_fail(run, -1, LEAT_INVALID,
                  "damaged image: task `%s` works on memory whose place or size is not known",
                  leat_program_text(frame->program, leat_run_task_of(run, place)->node.name));
  return false;
}

static bool all_fresh(const leat_bound_part *part) {
  for (uint64_t i = 0; i < part->program->image->prepared.count; i++)
    if (!leat_prepared_is_fresh(part->prepared[i])) return false;
  return true;
}

// Who prepares writes what all runs of the store read. What may be assigned has another version
// from now on; what is initialised, when it is (keeper.c).
static leat_store_access lock(const leat_bound_part *part, uint32_t task) {
  const leat_program *program = part->program;
  leat_store_access access = program->access[task];
  leat_store_lock(part->store, access);
  if (access == LEAT_STORE_READ && program->prepares[task] && !all_fresh(part)) {
    leat_store_unlock(part->store, access);
    access = LEAT_STORE_WRITE;
    leat_store_lock(part->store, access);
  }
  for (uint64_t i = 0; program->assigns[task] && i < program->image->variables.count; i++)
    if (program->view.variables[i].flags & LEAT_VARIABLE_WRITTEN) part->variables[i]->version++;
  return access;
}

bool leat_run_task(leat_run *run, leat_task_place place) {
  leat_store *store = run->executor->parts[place.part].store;
  const leat_program *program = run->frames[place.part].program;
  if (!check_known(run, place)) return false;
  leat_store_access access = lock(&run->executor->parts[place.part], place.task);
  bool segment = leat_run_task_of(run, place)->kind == LEAT_TASK_SEGMENT;
  bool done = segment ? run_segment(run, place) : program->control->run(run, place);
  leat_store_unlock(store, access);
  return done;
}
