// The only place that jumps.
// It runs seldom: compiled for size.
#include "base/recovery.h"

#include "base/portable.h"

#include <stdio.h>
#include <stdlib.h>

static _Thread_local leat_recovery *current;

void leat_hold(leat_held *held, void (*release)(leat_held *held)) {
  *held = (leat_held){.release = release};
  if (!current) return;
  held->older = current->newest;
  held->newer = &current->newest;
  leat_held_moved(held);
}

void leat_held_moved(leat_held *held) {
  if (!held->newer) return;
  *held->newer = held;
  if (held->older) held->older->newer = &held->older;
}

void leat_let_go(leat_held *held) {
  if (!held->newer) return;
  *held->newer = held->older;
  if (held->older) held->older->newer = held->newer;
  held->newer = NULL;
}

static void run_cleanup(leat_held *held) {
  leat_cleanup *cleanup = (leat_cleanup *)held;
  cleanup->function(cleanup->context);
}

void leat_cleanup_hold(leat_cleanup *cleanup, void (*function)(void *context), void *context) {
  cleanup->function = function;
  cleanup->context = context;
  leat_hold(&cleanup->held, run_cleanup);
}

void leat_cleanup_run(leat_cleanup *cleanup) {
  leat_let_go(&cleanup->held);
  cleanup->function(cleanup->context);
}

void leat_recovery_begin(leat_recovery *recovery) {
  recovery->outer = current;
  recovery->newest = NULL;
  recovery->mode = leat_float_mode_of_thread();
  current = recovery;
}

void leat_recovery_end(leat_recovery *recovery) {
  while (recovery->newest) leat_let_go(recovery->newest);
  current = recovery->outer;
}

leat_recovery *leat_recovery_suspend(void) {
  leat_recovery *suspended = current;
  current = NULL;
  return suspended;
}

void leat_recovery_resume(leat_recovery *suspended) {
  current = suspended;
}

bool leat_can_recover(void) {
  return current;
}

// A release that runs out of memory itself comes here again, and the others go on.
void leat_out_of_memory(void) {
  leat_recovery *recovery = current;
  if (!recovery) {
    fputs("leat: out of memory\n", stderr);
    abort();
  }
  while (recovery->newest) {
    leat_held *held = recovery->newest;
    leat_let_go(held);
    held->release(held);
  }
  leat_float_mode_end(recovery->mode);
  longjmp(recovery->place, 1);
}
