// How the members of a gang walk a segment: segment.c its launches, walk.c the branches and loops
// among them. Internal to runtime/.
#ifndef LEAT_RUNTIME_WALK_H
#define LEAT_RUNTIME_WALK_H

#include "runtime/executor.h"

// What a predicate says of what comes next.
typedef enum leat_choice {
  LEAT_CHOICE_STOP, // nothing: the segment has failed
  LEAT_CHOICE_TRUE,
  LEAT_CHOICE_FALSE,
} leat_choice;

#define LEAT_NEVER UINT64_MAX

typedef struct leat_segment_walk {
  const leat_run *run;
  leat_frame *frame;
  const leat_image_task *task;
  leat_string_heap *heap;    // the task's
  const char *const *labels; // of launches, when tracing
  uint64_t step;
  _Atomic uint64_t
      last; // the era in which a launch failed, behind which nothing runs, or LEAT_NEVER
  leat_failure failure;   // the frame's lock holds
  leat_choice choices[2]; // of the caller, for all members; in turns, so that one is read by all
                          // when it is written again
} leat_segment_walk;

// A member on its way.
typedef struct leat_walker {
  leat_segment_walk *walk;
  leat_gang *gang;
  int member, size; // size: of those who walk this
  uint64_t era;     // how often all have met
  bool met;         // nothing has run since
  bool wide_before; // the launch before was everybody's
  int64_t clock;    // when this thread ended its last launch, if that was just now, else 0; for
                    // traces

  leat_string_heap *heap; // of the table that it walks
} leat_walker;

// segment.c. Between two meetings either one launch of all members runs, or some of the caller's
// alone.
void leat_walk_begin(leat_walker *w, bool wide);
void leat_walk_meet(leat_walker *w);
// False: the segment has failed, and nobody is waited for any more.
bool leat_walk_launches(leat_walker *w, uint32_t first, uint32_t count);
void leat_walk_fail(leat_segment_walk *walk, uint64_t era, const leat_failure *failure);

// walk.c. A launch that is a branch or a loop; wide: several members walk it. As above.
bool leat_walk_region(leat_walker *w, uint32_t number, bool wide);

#endif
