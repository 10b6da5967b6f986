// What is known before a run begins: the dims that its feeds bind, what of the frames depends on
// them, and where the feeds are.
// It runs seldom: compiled for size.
#include "runtime/executor.h"

// "DEVICE: node `path` (file:line:column): why", of a check that failed.
static leat_status name_claim(const leat_run *run, uint32_t part, const leat_error *why,
                              leat_error *error) {
  const leat_frame *frame = &run->frames[part];
  leat_text words = {0};
  leat_text_add(&words, "%s: node ", leat_run_device(run, part));
  leat_origin_print(&frame->program->view, frame->failed->node, &words);
  leat_status status = leat_fail(error, why->status, "%s: %s", words.data, why->message);
  leat_text_finish(&words);
  return status;
}

static leat_status resolve_frame(leat_run *run, uint32_t part, bool checks, leat_error *error) {
  leat_frame *frame = &run->frames[part];
  leat_error why = {0};
  frame->resolved = false;
  leat_status status = leat_frame_resolve(frame, &run->executor->runtime->limits, checks, &why);
  if (status && frame->failed) return name_claim(run, part, &why, error);
  return status ? leat_fail(error, status, "%s", why.message) : LEAT_OK;
}

leat_status leat_run_resolve(leat_run *run, bool checks, leat_error *error) {
  leat_executor *executor = run->executor;
  for (uint32_t p = 0; p < executor->part_count; p++) {
    const leat_bound_part *part = &executor->parts[p];
    const leat_view *view = &part->program->view;
    leat_frame *frame = &run->frames[p];
    bool same = frame->resolved && !part->program->has_late;
    for (uint32_t d = 0; d < view->image->dims.count; d++) {
      int64_t value = run->dims[part->dims[d]];
      bool later = value < 0 && part->program->late[d];
      if (!later && (value < view->dims[d].low || value > view->dims[d].high)) {
        const char *name = leat_view_text(view, view->dims[d].name);
        if (value < 0) return leat_fail(error, LEAT_INVALID, "dim `%s` is bound by no feed", name);
        return leat_fail(error, LEAT_INVALID, "dim `%s` = %lld is not in %lld … %lld", name,
                         (long long)value, (long long)view->dims[d].low,
                         (long long)view->dims[d].high);
      }
      same &= frame->dims[d] == value;
      frame->dims[d] = value;
    }
    if (same) continue;
    LEAT_TRY(resolve_frame(run, p, checks, error));
  }
  return LEAT_OK;
}

leat_status leat_run_prepare(leat_run *run, const leat_run_request *request, leat_error *error) {
  leat_executor *executor = run->executor;
  for (uint32_t d = 0; d < executor->dim_count; d++)
    run->dims[d] = request->dims ? request->dims[d] : -1;
  LEAT_TRY(leat_executor_bind(executor, request->feeds, run->dims, error));
  if (executor->ranges) LEAT_TRY(leat_executor_check_donated(executor, request->feeds, error));
  LEAT_TRY(leat_run_resolve(run, true, error));
  for (uint32_t i = 0; i < executor->feed_count; i++) {
    leat_frame *frame = &run->frames[executor->feeds[i].part];
    const leat_tensor *tensor = &request->feeds[i];
    if (tensor->data) LEAT_TRY(leat_executor_check_feed(executor, i, tensor, frame, error));
    LEAT_TRY(leat_frame_feed(frame, executor->feeds[i].index, tensor, error));
  }
  for (uint32_t p = 0; p < executor->part_count; p++) {
    leat_frame_clear(&run->frames[p]);
    run->frames[p].run_count = request->run_count;
    const leat_image *image = executor->parts[p].program->image;
    for (uint32_t t = 0; t < image->tasks.count; t++)
      run->transfer[p][t].count = run->transfer[p][t].on_way = 0;
  }
  return LEAT_OK;
}
