// The threads of the process, however many runtimes it has. A runtime's pool is its share of them:
// `threads` - 1, which others may have too. Who has work offers it to those of its pool that are
// idle, and does it himself meanwhile; whoever has not begun when nothing is left to do is not
// waited for. So a thread that does not get a core keeps nobody from going on.
#ifndef LEAT_RUNTIME_POOL_H
#define LEAT_RUNTIME_POOL_H

#include "leat/status.h"

#include <stdbool.h>

enum { LEAT_MOST_THREADS = 4096 }; // of a pool

typedef struct leat_pool leat_pool;

// All pools together have as many threads as they want, but no more than there are cores beside the
// caller's, or than one of them wants. `threads`: 1 to LEAT_MOST_THREADS, the caller included.
// `spin`: waiting may burn CPU for some microseconds before it sleeps (not wise with more threads
// than cores).
LEAT_MUST_USE leat_status leat_pool_create(int threads, bool spin, leat_pool **out,
                                           leat_error *error);
void leat_pool_destroy(leat_pool *pool);    // NULL is fine; nothing may run in it
int leat_pool_spins(const leat_pool *pool); // for leat_signal_wait

// Member 0 is the caller, the others are threads of the pool, always the same ones.
typedef void (*leat_pool_work)(void *context, int member);

// Does the work, with up to `width` members; returns when all that have begun have ended. The work
// must be whole when the caller's part of it ends, whoever of the others has begun.
void leat_pool_do(leat_pool *pool, int width, leat_pool_work work, void *context);

// Has an idle thread do the work, as member 1, and returns at once; false when there is none.
bool leat_pool_help(leat_pool *pool, leat_pool_work work, void *context);

#endif
