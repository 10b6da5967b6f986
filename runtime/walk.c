// Branches and loops among the launches of a segment: all members walk them, who meet to agree on
// what comes next; one in which no launch is worth two threads is the caller's, whole.
#include "runtime/walk.h"

static bool has_failed(const leat_segment_walk *walk) {
  return atomic_load_explicit(&walk->last, memory_order_relaxed) != LEAT_NEVER;
}

static leat_choice choose(leat_walker *w, uint32_t number, const leat_image_region *region) {
  leat_segment_walk *walk = w->walk;
  if (__builtin_expect(leat_run_is_over(walk->run), 0))
    leat_walk_fail(walk, w->era, &(leat_failure){.result = LEAT_ABORTED, .launch = number});
  if (has_failed(walk)) return LEAT_CHOICE_STOP;
  bool loops = walk->frame->program->view.launches[number].kind == LEAT_LAUNCH_WHILE;
  bool holds =
      loops ? leat_frame_goes_on(walk->frame, region) : leat_frame_holds(walk->frame, region);
  return holds ? LEAT_CHOICE_TRUE : LEAT_CHOICE_FALSE;
}

// The same for all who walk the region. The caller looks at the predicate: it may be written again
// when the others know what it was.
static leat_choice decide(leat_walker *w, uint32_t number, const leat_image_region *region) {
  if (w->size == 1) return choose(w, number, region);
  if (w->wide_before) leat_walk_meet(w);
  leat_choice *next = &w->walk->choices[w->era % 2];
  if (w->member == 0) *next = choose(w, number, region);
  leat_walk_meet(w);
  return *next;
}

static bool walk_table(leat_walker *w, uint32_t number) {
  const leat_frame *frame = w->walk->frame;
  const leat_view *view = &frame->program->view;
  const leat_image_table *table = &view->tables[number];
  const leat_image_claim *refusal = frame->refusals[number];
  if (__builtin_expect(refusal != NULL, 0)) {
    leat_walk_fail(w->walk, w->era, &(leat_failure){.result = LEAT_INVALID, .refusal = refusal});
    return false;
  }
  if (!table->task_count) return true;
  const leat_image_task *task = &view->tasks[table->task_first];
  leat_string_heap *outer = w->heap;
  w->heap = leat_frame_heap(frame, number);
  bool whole = leat_walk_launches(w, task->first, task->count);
  w->heap = outer;
  return whole;
}

static bool walk_branch(leat_walker *w, uint32_t number, const leat_image_region *region) {
  leat_choice next = decide(w, number, region);
  return next != LEAT_CHOICE_STOP &&
         walk_table(w, region->tables[next == LEAT_CHOICE_TRUE ? 0 : 1]);
}

static bool walk_loop(leat_walker *w, uint32_t number, const leat_image_region *region) {
  leat_choice next;
  do {
    if (!walk_table(w, region->tables[0])) return false;
    next = decide(w, number, region);
  } while (next == LEAT_CHOICE_TRUE && walk_table(w, region->tables[1]));
  return next == LEAT_CHOICE_FALSE;
}

static bool walk_region(leat_walker *w, uint32_t number) {
  const leat_view *view = &w->walk->frame->program->view;
  const leat_image_launch *launch = &view->launches[number];
  const leat_image_region *region = &view->regions[launch->region];
  return (launch->kind == LEAT_LAUNCH_WHILE ? walk_loop : walk_branch)(w, number, region);
}

// Of one thread's work.
static bool walk_region_alone(leat_walker *w, uint32_t number) {
  leat_walk_begin(w, false);
  if (w->member > 0) return true;
  leat_walker alone = *w;
  alone.size = 1;
  bool whole = walk_region(&alone, number);
  w->clock = alone.clock;
  return whole || w->size > 1;
}

bool leat_walk_region(leat_walker *w, uint32_t number, bool wide) {
  return wide ? walk_region(w, number) : walk_region_alone(w, number);
}
