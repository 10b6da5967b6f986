// Waiting: the sleeper announces itself before it looks at the value for the last time, the raiser
// changes the value before it looks for sleepers, so one of them sees the other.
#include "runtime/signal.h"

#include <limits.h>
#include <time.h>

#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
// As in linux/futex.h, which a cross compiler's libc may lack.
enum { FUTEX_WAIT_PRIVATE = 0 | 128, FUTEX_WAKE_PRIVATE = 1 | 128 };
#endif

int64_t leat_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t leat_clock_after(double seconds) {
  if (!(seconds < 1e9)) return INT64_MAX;
  return leat_clock() + (seconds > 0 ? (int64_t)(seconds * 1e9) : 0);
}

static void relax(void) {
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// Sleeps while the word holds `seen`, `nanoseconds` at most; may wake early.
static void sleep_on(_Atomic uint32_t *word, uint32_t seen, int64_t nanoseconds) {
#ifdef __linux__
  struct timespec limit = {nanoseconds / 1000000000, (long)(nanoseconds % 1000000000)};
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, &limit, NULL, 0);
#else
  (void)word, (void)seen;
  struct timespec nap = {0, nanoseconds < 50000 ? (long)nanoseconds : 50000};
  nanosleep(&nap, NULL);
#endif
}

void leat_signal_raise(leat_signal *signal) {
  atomic_fetch_add(&signal->value, 1);
#ifdef __linux__
  if (atomic_load(&signal->sleepers))
    syscall(SYS_futex, &signal->value, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
#endif
}

bool leat_signal_wait(leat_signal *signal, uint32_t seen, int spins, int64_t until) {
  for (int i = 0; i < spins; i++) {
    if (leat_signal_value(signal) != seen) return true;
    relax();
  }
  const int64_t longest = 3600 * (int64_t)1000000000;
  bool raised;
  atomic_fetch_add(&signal->sleepers, 1);
  while (!(raised = atomic_load(&signal->value) != seen)) {
    int64_t left = until == INT64_MAX ? longest : until - leat_clock();
    if (left <= 0) break;
    sleep_on(&signal->value, seen, left < longest ? left : longest);
  }
  atomic_fetch_sub(&signal->sleepers, 1);
  return raised;
}
