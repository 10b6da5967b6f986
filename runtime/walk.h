// How a segment is walked: segment.c its launches, walk.c the branches and loops among them.
// Internal to runtime/.
#ifndef LEAT_RUNTIME_WALK_H
#define LEAT_RUNTIME_WALK_H

#include "runtime/executor.h"

typedef struct leat_walk {
  const leat_run *run;
  leat_frame *frame;
  leat_string_heap *heap;    // of the table that is walked
  const char *const *labels; // of launches, when tracing
  uint64_t step;
  int64_t clock;        // when the last launch ended, if that was just now, else 0; for traces
  leat_failure failure; // the frame's lock holds it while several threads compute
} leat_walk;

// segment.c. False: the segment has failed.
bool leat_walk_launches(leat_walk *walk, uint32_t first, uint32_t count);

// walk.c. A launch that is a branch or a loop. As above.
bool leat_walk_region(leat_walk *walk, uint32_t number);

#endif
