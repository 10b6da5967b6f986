// A counter that threads wait on: spin briefly, then sleep in the kernel (futex; where there is
// none, short naps). Raising it costs one atomic add when nobody sleeps.
#ifndef LEAT_RUNTIME_SIGNAL_H
#define LEAT_RUNTIME_SIGNAL_H

#include "base/portable.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct leat_signal {
  _Atomic uint32_t value;
  _Atomic uint32_t sleepers;
} leat_signal;

static inline uint32_t leat_signal_value(leat_signal *signal) {
  return atomic_load_explicit(&signal->value, memory_order_acquire);
}

// What was written before is seen by whoever sees the new value. The memory must stay mapped (not
// necessarily the same object) until the call returns: waiters may be gone by then.
void leat_signal_raise(leat_signal *signal);

// Waits until the value is not `seen`. `spins`: turns before sleeping. False when the clock passed
// `until` (nanoseconds of leat_clock; INT64_MAX: never) first.
bool leat_signal_wait(leat_signal *signal, uint32_t seen, int spins, int64_t until);

int64_t leat_clock(void); // monotonic, nanoseconds
// The clock `seconds` from now, saturated.
int64_t leat_clock_after(double seconds);

#endif
