// What keeps the state of a run that saves in the end. A failing step leaves variables half
// updated, and nobody knows before which step will fail. So the state is kept from time to time,
// and when a step fails it is put back and the steps since then, which give the same bits again,
// are repeated.
#ifndef LEAT_RUNTIME_KEEPING_H
#define LEAT_RUNTIME_KEEPING_H

#include "leat/status.h"

#include <stdbool.h>
#include <stdint.h>

// What has state: a session, a model. Each call shows by itself what is wrong, but for `take` and
// `again`.
typedef struct leat_kept {
  leat_status (*take)(void *of, void **out); // a copy of the state
  void (*drop)(void *copy);                  // NULL is fine
  leat_status (*put_back)(void *of, const void *copy);
  leat_status (*write)(void *of, const void *copy, const char *path);
  leat_status (*save)(void *of, const char *path); // as it is now
  leat_status (*again)(void *of);                  // a step as those before, which says nothing
} leat_kept;

typedef struct leat_keeping {
  const leat_kept *calls;
  void *of;
  const char *path; // NULL: nothing is saved
  bool restored;    // it began with a checkpoint: to save that without a step is no loss
  int64_t steps;    // that have run
  void *copy;       // after some of them, to go back to; NULL: none yet
  int64_t copied;   // steps that had run by then
  int64_t due;      // the clock when the next is
} leat_keeping;

// After each step that has run; `last`: none follows that could fail.
void leat_keeping_note_step(leat_keeping *keeping, bool last);
// After the last one: saves. `failed`: another has failed. A run that was not stopped and whose
// state is saved is fine; all else is a failure, whose words say what the file holds, if `error` is
// not empty afterwards.
LEAT_MUST_USE leat_status leat_keeping_end(leat_keeping *keeping, bool failed, leat_error *error);
void leat_keeping_finish(leat_keeping *keeping);

#endif
