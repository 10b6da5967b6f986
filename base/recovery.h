// Memory that runs out while something is made of a text ends the call, not the process.
//
// A public function that compiles sets a recovery point. Below it nobody checks for NULL: what asks
// an arena or a text (base/arena.h, base/text.h) for memory that there is not comes back there, and
// all that was taken since and is *held* is released, the newest first: arenas and texts hold
// themselves; whoever has something else to give back while memory may run out (a file, a program,
// what LLVM made) holds it with a cleanup. When the call ends well, what is held then is its
// caller's.
//
// What jumps leaves the thread's mode of floats (base/float_mode.h) as it was where the point was
// set.
//
// Each thread has its own recovery points, one inside the other; a job that a thread is given sets
// one and hands the failure over as its status. Locks are not held across what may run out.
//
//     leat_status status;
//     LEAT_RECOVER(status, compile(session, step)); // compile's status, or LEAT_MEMORY
#ifndef LEAT_BASE_RECOVERY_H
#define LEAT_BASE_RECOVERY_H

#include "base/float_mode.h"
#include "leat/status.h"

#include <setjmp.h>
#include <stdbool.h>

// Part of what is held; it may move (leat_held_moved).
typedef struct leat_held {
  struct leat_held *older, **newer; // newer NULL: it is not held
  void (*release)(struct leat_held *held);
} leat_held;

// By the recovery point of this thread; without one, by nobody.
void leat_hold(leat_held *held, void (*release)(leat_held *held));
void leat_let_go(leat_held *held);
void leat_held_moved(leat_held *held); // to where it is now

// Of the caller's stack or of an arena, for as long as it is held.
typedef struct leat_cleanup {
  leat_held held;
  void (*function)(void *context);
  void *context;
} leat_cleanup;

void leat_cleanup_hold(leat_cleanup *cleanup, void (*function)(void *context), void *context);
void leat_cleanup_run(leat_cleanup *cleanup); // lets go and calls the function

typedef struct leat_recovery {
  jmp_buf place;
  struct leat_recovery *outer;
  leat_held *newest;
  leat_float_mode mode;
} leat_recovery;

void leat_recovery_begin(leat_recovery *recovery);
void leat_recovery_end(leat_recovery *recovery);

// From here on this thread has no recovery point, until it resumes: what runs with locks held, and
// with others that wait for it, fails by its status.
leat_recovery *leat_recovery_suspend(void);
void leat_recovery_resume(leat_recovery *suspended);

// What the call changes of its caller's locals it changes through pointers.
#define LEAT_RECOVER(status, call)                                                                 \
  do {                                                                                             \
    leat_recovery leat_recovery_;                                                                  \
    leat_recovery_begin(&leat_recovery_);                                                          \
    if (setjmp(leat_recovery_.place))                                                              \
      (status) = LEAT_MEMORY;                                                                      \
    else                                                                                           \
      (status) = (call);                                                                           \
    leat_recovery_end(&leat_recovery_);                                                            \
  } while (0)

// To the recovery point; a thread that has none ends the process.
_Noreturn void leat_out_of_memory(void);
bool leat_can_recover(void);

#endif
