// Branches and loops among the launches of a segment.
#include "runtime/walk.h"

// Whether what comes next may.
static bool goes_on(leat_walk *walk, uint32_t number) {
  if (__builtin_expect(leat_run_is_over(walk->run), 0))
    walk->failure = (leat_failure){.result = LEAT_ABORTED, .launch = number};
  return !walk->failure.result;
}

static bool walk_table(leat_walk *walk, uint32_t number) {
  const leat_frame *frame = walk->frame;
  const leat_view *view = &frame->program->view;
  const leat_image_table *table = &view->tables[number];
  const leat_image_claim *refusal = frame->refusals[number];
  if (__builtin_expect(refusal != NULL, 0)) {
    walk->failure = (leat_failure){.result = LEAT_INVALID, .refusal = refusal};
    return false;
  }
  if (!table->task_count) return true;
  const leat_image_task *task = &view->tasks[table->task_first];
  leat_string_heap *outer = walk->heap;
  walk->heap = leat_frame_heap(frame, number);
  bool whole = leat_walk_launches(walk, task->first, task->count);
  walk->heap = outer;
  return whole;
}

static bool walk_branch(leat_walk *walk, uint32_t number, const leat_image_region *region) {
  return goes_on(walk, number) &&
         walk_table(walk, region->tables[leat_frame_holds(walk->frame, region) ? 0 : 1]);
}

static bool walk_loop(leat_walk *walk, uint32_t number, const leat_image_region *region) {
  for (;;) {
    if (!walk_table(walk, region->tables[0]) || !goes_on(walk, number)) return false;
    if (!leat_frame_goes_on(walk->frame, region)) return true;
    if (!walk_table(walk, region->tables[1])) return false;
  }
}

bool leat_walk_region(leat_walk *walk, uint32_t number) {
  const leat_view *view = &walk->frame->program->view;
  const leat_image_launch *launch = &view->launches[number];
  const leat_image_region *region = &view->regions[launch->region];
  return (launch->kind == LEAT_LAUNCH_WHILE ? walk_loop : walk_branch)(walk, number, region);
}
