// A thread of the process, as pool.c has it and offer.c gives it work: for these, and their test.
#ifndef LEAT_RUNTIME_POOL_THREAD_H
#define LEAT_RUNTIME_POOL_THREAD_H

#include "runtime/pool.h"
#include "runtime/signal.h"

#include <pthread.h>

// It goes round: it is idle, claimed by one who has work, offered it, busy with it, and idle again.
// How often it went on is the value of its signal, on which it waits for work, and others for its
// end; an offer that is taken back skips being busy.
enum {
  LEAT_THREAD_IDLE,
  LEAT_THREAD_CLAIMED,
  LEAT_THREAD_OFFERED,
  LEAT_THREAD_BUSY,
  LEAT_THREAD_PHASES
};

typedef struct leat_pool_thread {
  leat_signal turn;    // its value % LEAT_THREAD_PHASES is the phase
  char apart[56];      // what follows is written while the thread looks at `turn`
  leat_pool_work work; // NULL: end
  void *context;
  int member;
  // When it waits for work, and where who offers it is (-1: anywhere): looked at at any time.
  _Atomic int spins, core;
  pthread_t thread;
  struct leat_pool_thread *next;
  _Atomic int64_t rests_until; // the clock
  int users;                   // pools that have it
  const leat_pool *last;       // of these, while it is made
} leat_pool_thread;

struct leat_pool {
  int count;
  int spins;
  leat_pool_thread *threads[];
};

// offer.c. `leat_pool_thread` as an argument: runs until it is offered no work, NULL.
void *leat_pool_thread_main(void *thread);
// Returns the value that says that it is offered the work; 0: it was not idle. `core`: where who
// offers it is; -1: it does not matter.
uint32_t leat_pool_thread_offer(leat_pool_thread *thread, leat_pool_work work, void *context,
                                int member, int spins, int core);

#endif
