// Idle threads stand on a stack, so that the one that slept least is taken first. A gang's record
// belongs to its first taken thread: it outlives the gang, because a member that is about to leave
// may still look at it when the others have gone on.
#include "runtime/pool.h"

#include "base/portable.h"
#include "runtime/signal.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

enum { SPINS = 2000 }; // about 20 µs

struct leat_gang {
  leat_pool *pool;
  int size;
  _Atomic int arrived;
  leat_signal phase; // raised when all have arrived at a barrier
  leat_signal left;  // raised once by each member but the caller
};

typedef struct pool_thread {
  leat_pool *pool;
  pthread_t thread;
  leat_signal wake; // raised once a job
  // The job: a gang's or a helper's function; both NULL: end.
  leat_gang *gang;
  leat_gang_function gang_function;
  void (*help)(void *context);
  void *context;
  int member;
  leat_gang own_gang;
} pool_thread;

struct leat_pool {
  pthread_mutex_t lock; // of the stack
  int idle_count;
  pool_thread **idle;
  pool_thread *threads;
  int thread_count; // started ones
  int spins;
};

static void push_idle(leat_pool *pool, pool_thread *thread) {
  pthread_mutex_lock(&pool->lock);
  pool->idle[pool->idle_count++] = thread;
  pthread_mutex_unlock(&pool->lock);
}

static void *thread_main(void *argument) {
  pool_thread *thread = argument;
  leat_pool *pool = thread->pool;
  for (uint32_t seen = 0;; seen++) {
    leat_signal_wait(&thread->wake, seen, pool->spins, INT64_MAX);
    while (leat_signal_value(&thread->wake) == seen) // the wait ended early: it has no deadline
      leat_signal_wait(&thread->wake, seen, 0, INT64_MAX);
    if (thread->gang) {
      leat_gang *gang = thread->gang;
      thread->gang_function(thread->context, gang, thread->member);
      leat_signal_raise(&gang->left); // its caller makes this thread idle again
    } else if (thread->help) {
      thread->help(thread->context);
      push_idle(pool, thread);
    } else {
      return NULL;
    }
  }
}

leat_status leat_pool_create(int threads, bool spin, leat_pool **out, leat_error *error) {
  *out = NULL;
  leat_pool *pool = calloc(1, sizeof *pool);
  if (!pool) return leat_fail(error, LEAT_MEMORY, "no memory for the thread pool");
  pthread_mutex_init(&pool->lock, NULL);
  pool->spins = spin ? SPINS : 0;
  size_t count = threads > 1 && !LEAT_ONE_THREAD ? (size_t)threads - 1 : 0;
  if (count) {
    pool->threads = calloc(count, sizeof *pool->threads);
    pool->idle = calloc(count, sizeof *pool->idle);
    if (!pool->threads || !pool->idle) {
      leat_pool_destroy(pool);
      return leat_fail(error, LEAT_MEMORY, "no memory for %zu threads", count);
    }
  }
  // Signals are for the threads of the program, not for ours.
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGBUS); // of a file that is cut short, and no matter of another thread
  pthread_sigmask(SIG_BLOCK, &all, &before);
  int failure = 0;
  for (size_t i = 0; i < count && !failure; i++) {
    pool_thread *thread = &pool->threads[i];
    thread->pool = pool;
    failure = pthread_create(&thread->thread, NULL, thread_main, thread);
    if (failure) break;
    pool->thread_count++;
    push_idle(pool, thread);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (failure) {
    leat_pool_destroy(pool);
    return leat_fail(error, LEAT_MEMORY, "cannot start %d threads", threads);
  }
  *out = pool;
  return LEAT_OK;
}

void leat_pool_destroy(leat_pool *pool) {
  if (!pool) return;
  for (int i = 0; i < pool->thread_count; i++) {
    pool_thread *thread = &pool->threads[i];
    thread->gang = NULL;
    thread->help = NULL;
    leat_signal_raise(&thread->wake);
    pthread_join(thread->thread, NULL);
  }
  pthread_mutex_destroy(&pool->lock);
  free(pool->threads);
  free(pool->idle);
  free(pool);
}

int leat_pool_threads(const leat_pool *pool) {
  return pool->thread_count + 1;
}

int leat_pool_spins(const leat_pool *pool) {
  return pool->spins;
}

// Takes up to `wanted` idle threads, `limit` at most, and returns how many.
static int take(leat_pool *pool, int wanted, pool_thread **out, int limit) {
  if (wanted > limit) wanted = limit;
  pthread_mutex_lock(&pool->lock);
  int taken = wanted < pool->idle_count ? wanted : pool->idle_count;
  for (int i = 0; i < taken; i++) out[i] = pool->idle[--pool->idle_count];
  pthread_mutex_unlock(&pool->lock);
  return taken;
}

static void gang_prepare(leat_gang *gang, leat_pool *pool, int size) {
  gang->pool = pool;
  gang->size = size;
  atomic_store(&gang->arrived, 0);
  atomic_store(&gang->left.value, 0);
}

void leat_gang_run(leat_pool *pool, int wanted, leat_gang_function function, void *context) {
  enum { LIMIT = 1024 };
  pool_thread *members[LIMIT];
  int taken = take(pool, wanted, members, LIMIT);
  if (taken <= 0) {
    leat_gang alone = {.size = 1};
    function(context, &alone, 0);
    return;
  }
  leat_gang *gang = &members[0]->own_gang;
  gang_prepare(gang, pool, taken + 1);
  for (int i = 0; i < taken; i++) {
    members[i]->gang = gang;
    members[i]->gang_function = function;
    members[i]->context = context;
    members[i]->member = i + 1;
    leat_signal_raise(&members[i]->wake);
  }
  function(context, gang, 0);
  for (uint32_t left; (left = leat_signal_value(&gang->left)) < (uint32_t)taken;)
    leat_signal_wait(&gang->left, left, pool->spins, INT64_MAX);
  pthread_mutex_lock(&pool->lock);
  for (int i = taken; i-- > 0;) pool->idle[pool->idle_count++] = members[i];
  pthread_mutex_unlock(&pool->lock);
}

int leat_gang_size(const leat_gang *gang) {
  return gang->size;
}

void leat_gang_barrier(leat_gang *gang) {
  if (gang->size == 1) return;
  uint32_t phase = leat_signal_value(&gang->phase);
  if (atomic_fetch_add(&gang->arrived, 1) + 1 == gang->size) {
    atomic_store(&gang->arrived, 0);
    leat_signal_raise(&gang->phase);
    return;
  }
  while (leat_signal_value(&gang->phase) == phase)
    leat_signal_wait(&gang->phase, phase, gang->pool->spins, INT64_MAX);
}

bool leat_pool_help(leat_pool *pool, void (*function)(void *context), void *context) {
  pool_thread *thread = NULL;
  if (pool->thread_count == 0 || take(pool, 1, &thread, 1) == 0) return false;
  thread->gang = NULL;
  thread->help = function;
  thread->context = context;
  leat_signal_raise(&thread->wake);
  return true;
}
