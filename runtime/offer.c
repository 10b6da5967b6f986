// Offering work to the threads of a pool, and taking it.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // sched_getcpu
#endif
#include "base/cpuid.h"
#include "runtime/pool_thread.h"

#include <sched.h>
#include <time.h>

// Who waited for a thread that had no core, for so many nanoseconds, asks it no more for REST times
// as long. Beside a process that takes a core the thread has it half of the time, and is in the
// middle of some tiles when it loses it: that others waited all that time would cost more than the
// thread gains.
enum { LEAST_STALL = 100000, REST = 8 };

enum { SHORTEST_NAP = 1000000, MOST_NAPS = 4 }; // each twice as long as the one before
// A thread that came to another core only after a stall, as others have that one too, stays where
// it is woken for so many times as long.
enum { STAY = 64 };

// -- A thread's round -----------------------------------------------------------------------------

static bool go_on(leat_pool_thread *thread, uint32_t from, uint32_t by) {
  return atomic_compare_exchange_strong(&thread->turn.value, &from, from + by);
}

uint32_t leat_pool_thread_offer(leat_pool_thread *thread, leat_pool_work work, void *context,
                                int member, int spins, int core) {
  uint32_t idle = leat_signal_value(&thread->turn);
  int64_t rests_until = atomic_load_explicit(&thread->rests_until, memory_order_relaxed);
  if (rests_until && rests_until > leat_clock()) return 0;
  if (idle % LEAT_THREAD_PHASES != LEAT_THREAD_IDLE || !go_on(thread, idle, LEAT_THREAD_CLAIMED))
    return 0;
  thread->work = work;
  thread->context = context;
  thread->member = member;
  atomic_store_explicit(&thread->spins, spins, memory_order_relaxed);
  atomic_store_explicit(&thread->core, core, memory_order_relaxed);
  leat_signal_raise(&thread->turn);
  return idle + LEAT_THREAD_OFFERED;
}

// The processor time that the thread has had.
static int64_t computed(const leat_pool_thread *thread) {
  clockid_t clock;
  struct timespec time = {0};
  if (pthread_getcpuclockid(thread->thread, &clock) || clock_gettime(clock, &time)) return 0;
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// Waits for the thread to end what it is busy with. If it had no core meanwhile, it gets a rest.
static void wait_for(leat_pool_thread *thread, uint32_t busy, int spins) {
  if (leat_signal_wait(&thread->turn, busy, spins, 0)) return;
  int64_t begin = leat_clock(), before = computed(thread);
  leat_signal_wait(&thread->turn, busy, 0, INT64_MAX);
  int64_t end = leat_clock(), idle = end - begin - (computed(thread) - before);
  if (idle > LEAST_STALL) atomic_store(&thread->rests_until, end + REST * idle);
}

static void take_back(leat_pool_thread *thread, uint32_t offered, int spins) {
  if (!go_on(thread, offered, LEAT_THREAD_PHASES - LEAT_THREAD_OFFERED))
    wait_for(thread, offered + 1, spins);
}

// Whether the thread is on the core of who offers it work, or did, and would keep him from going
// on: with all cores taken by others, it was woken there.
static bool is_in_the_way(const leat_pool_thread *thread) {
  int core = atomic_load_explicit(&thread->core, memory_order_relaxed);
  return core >= 0 && core == sched_getcpu();
}

// He has the core for a while; the offer stands.
static void nap(leat_pool_thread *thread, uint32_t offered, int naps) {
  int64_t until = leat_clock() + (SHORTEST_NAP << naps);
  atomic_store(&thread->rests_until, until);
  leat_signal_wait(&thread->turn, offered, 0, until);
}

// Off the core of who offers it work, unless that was in vain lately: left alone, Linux goes on
// waking it there, since it looks for an idle core only while few are busy, and one of two is too
// many.
static bool leave_core(const leat_pool_thread *thread, int64_t *stays_until) {
  int64_t begin = leat_clock();
  if (begin < *stays_until) return false;
  bool left = leat_cpu_leave(atomic_load_explicit(&thread->core, memory_order_relaxed));
  int64_t stall = leat_clock() - begin;
  if (!left || stall > LEAST_STALL) *stays_until = begin + (1 + STAY) * stall;
  return left;
}

static void wait_for_work(leat_pool_thread *thread, uint32_t seen) {
  int spins = atomic_load_explicit(&thread->spins, memory_order_relaxed);
  if (seen % LEAT_THREAD_PHASES == LEAT_THREAD_IDLE && is_in_the_way(thread)) spins = 0;
  leat_signal_wait(&thread->turn, seen, spins, INT64_MAX);
}

void *leat_pool_thread_main(void *argument) {
  leat_pool_thread *thread = argument;
  int naps = 0;
  for (int64_t stays_until = 0;;) {
    uint32_t seen = leat_signal_value(&thread->turn);
    if (seen % LEAT_THREAD_PHASES != LEAT_THREAD_OFFERED) {
      wait_for_work(thread, seen);
      if (seen % LEAT_THREAD_PHASES == LEAT_THREAD_IDLE) naps = 0;
    } else if (naps < MOST_NAPS && is_in_the_way(thread)) {
      if (!leave_core(thread, &stays_until)) nap(thread, seen, naps++);
    } else if (go_on(thread, seen, 1)) {
      if (!thread->work) return NULL;
      thread->work(thread->context, thread->member);
      leat_signal_raise(&thread->turn);
    }
  }
}

// -- Work -----------------------------------------------------------------------------------------

int leat_pool_spins(const leat_pool *pool) {
  return pool->spins;
}

void leat_pool_do(leat_pool *pool, int width, leat_pool_work work, void *context) {
  uint32_t offered[LEAT_MOST_THREADS];
  int others = width - 1 < pool->count ? width - 1 : pool->count;
  int core = pool->spins ? sched_getcpu() : -1; // else there are more threads than cores
  for (int i = 0; i < others; i++)
    offered[i] = leat_pool_thread_offer(pool->threads[i], work, context, i + 1, pool->spins, core);
  work(context, 0);
  for (int i = 0; i < others; i++)
    if (offered[i]) take_back(pool->threads[i], offered[i], pool->spins);
}

bool leat_pool_help(leat_pool *pool, leat_pool_work work, void *context) {
  for (int i = 0; i < pool->count; i++)
    if (leat_pool_thread_offer(pool->threads[i], work, context, 1, pool->spins, -1)) return true;
  return false;
}
