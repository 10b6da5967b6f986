// The process-wide thread pool. Idle threads are taken in two ways: several at once as a *gang*
// that runs one segment together, or one by one as *helpers* that run whatever is ready. Nobody
// ever waits for a thread to become idle, and a gang waits for its own members only.
#ifndef LEAT_RUNTIME_POOL_H
#define LEAT_RUNTIME_POOL_H

#include "leat/status.h"

#include <stdbool.h>

typedef struct leat_pool leat_pool;
typedef struct leat_gang leat_gang;

// `threads` - 1 are started: the callers are threads too. `spin`: waiting may burn CPU for some
// microseconds before it sleeps (not wise with more threads than cores).
LEAT_MUST_USE leat_status leat_pool_create(int threads, bool spin, leat_pool **out,
                                           leat_error *error);
void leat_pool_destroy(leat_pool *pool); // NULL is fine; all threads must be idle
int leat_pool_threads(const leat_pool *pool);
int leat_pool_spins(const leat_pool *pool); // for leat_signal_wait

// A member of a gang, 0 being the caller.
typedef void (*leat_gang_function)(void *context, leat_gang *gang, int member);

// Takes up to `wanted` idle threads, whole, and runs the function on all of them and the caller.
// Returns when all have left it. Without an idle thread the caller is a gang of one.
void leat_gang_run(leat_pool *pool, int wanted, leat_gang_function function, void *context);
int leat_gang_size(const leat_gang *gang);
// All members come here; what each wrote before, all see after.
void leat_gang_barrier(leat_gang *gang);

// Runs the function on an idle thread and returns at once; false when there is none.
bool leat_pool_help(leat_pool *pool, void (*function)(void *context), void *context);

#endif
