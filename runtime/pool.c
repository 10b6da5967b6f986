// The threads of the process, and which of them a pool has.
// It runs seldom: compiled for size.
#include "runtime/pool.h"

#include "base/cpuid.h"
#include "base/portable.h"
#include "runtime/pool_thread.h"

#include <signal.h>
#include <stdlib.h>

enum { SPINS = 2000 }; // about 30 µs

static struct {
  pthread_mutex_t lock; // of what follows, and of what the threads have from `next` on
  leat_pool_thread *threads;
  bool knows_forks;
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

// -- The threads of the process: the lock is held -------------------------------------------------

static void lock_process(void) {
  pthread_mutex_lock(&process.lock);
}

static void unlock_process(void) {
  pthread_mutex_unlock(&process.lock);
}

// A child has none of its parent's threads: they look busy for ever to the pools that have them.
static void forget_threads(void) {
  for (leat_pool_thread *thread = process.threads; thread; thread = thread->next)
    atomic_store(&thread->turn.value, LEAT_THREAD_BUSY);
  process.threads = NULL;
  unlock_process();
}

static bool start_thread(void) {
  if (!process.knows_forks && pthread_atfork(lock_process, unlock_process, forget_threads))
    return false;
  process.knows_forks = true;
  enum { LINE = 64 };
  leat_pool_thread *thread = aligned_alloc(LINE, (sizeof *thread + LINE - 1) / LINE * LINE);
  if (!thread) return false;
  *thread = (leat_pool_thread){0};
  if (pthread_create(&thread->thread, NULL, leat_pool_thread_main, thread)) {
    free(thread);
    return false;
  }
  thread->next = process.threads;
  process.threads = thread;
  return true;
}

static bool start_threads(int count) {
  // Signals are for the threads of the program, not for ours.
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGBUS); // of a file that is cut short, and no matter of another thread
  pthread_sigmask(SIG_BLOCK, &all, &before);
  bool whole = true;
  for (int i = 0; i < count && whole; i++) whole = start_thread();
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return whole;
}

static void end_thread(leat_pool_thread *thread) {
  for (uint32_t seen; !leat_pool_thread_offer(thread, NULL, NULL, 0, 0, -1);)
    if ((seen = leat_signal_value(&thread->turn)) % LEAT_THREAD_PHASES != LEAT_THREAD_IDLE)
      leat_signal_wait(&thread->turn, seen, 0, INT64_MAX);
  pthread_join(thread->thread, NULL);
  free(thread);
}

static void end_unused(void) {
  for (leat_pool_thread **at = &process.threads, *thread; (thread = *at);) {
    if (thread->users) {
      at = &thread->next;
    } else {
      *at = thread->next;
      end_thread(thread);
    }
  }
}

// How many more there must be for another pool of `wanted`.
static int missing(int wanted) {
  int there = 0, all = wanted, beside = leat_cpu_cores() - 1;
  for (const leat_pool_thread *thread = process.threads; thread; thread = thread->next)
    there++, all += thread->users;
  int needed = all < beside ? all : beside;
  if (needed < wanted) needed = wanted;
  return needed - there;
}

// Adds a thread to the pool: of those that it has not, the first of those that the fewest have.
static void add_thread(leat_pool *pool) {
  leat_pool_thread *least = NULL;
  for (leat_pool_thread *thread = process.threads; thread; thread = thread->next)
    if (thread->last != pool && (!least || thread->users < least->users)) least = thread;
  least->last = pool;
  least->users++;
  pool->threads[pool->count++] = least;
}

// -- Pools ----------------------------------------------------------------------------------------

leat_status leat_pool_create(int threads, bool spin, leat_pool **out, leat_error *error) {
  int wanted = LEAT_ONE_THREAD ? 0 : threads - 1;
  leat_pool *pool = *out = malloc(sizeof *pool + (size_t)wanted * sizeof(leat_pool_thread *));
  if (!pool) return leat_fail(error, LEAT_MEMORY, "no memory for the thread pool");
  *pool = (leat_pool){.spins = spin ? SPINS : 0};
  lock_process();
  bool whole = start_threads(missing(wanted));
  while (whole && pool->count < wanted) add_thread(pool);
  unlock_process();
  if (whole) return LEAT_OK;
  leat_pool_destroy(pool);
  *out = NULL;
  return leat_fail(error, LEAT_MEMORY, "cannot start %d threads", threads);
}

void leat_pool_destroy(leat_pool *pool) {
  if (!pool) return;
  lock_process();
  for (int i = 0; i < pool->count; i++) {
    pool->threads[i]->users--;
    pool->threads[i]->last = NULL;
  }
  end_unused();
  unlock_process();
  free(pool);
}
