// What compilers without GNU C's words and without threads (tcc 0.9.27) are given instead, so that
// the runtime compiles with them: checked arithmetic of 8-byte integers, and for a process that
// runs models in one thread alone what <stdatomic.h> has. There a pool starts no threads.
#ifndef LEAT_BASE_PORTABLE_H
#define LEAT_BASE_PORTABLE_H

#ifdef __GNUC__
#define LEAT_ONE_THREAD 0

#include <stdatomic.h>

#else
#define LEAT_ONE_THREAD 1

#include <stdbool.h>
#include <stdint.h>

#define _Thread_local
#define _Atomic
typedef bool atomic_bool;
typedef int atomic_int;
typedef unsigned atomic_uint;
enum { memory_order_relaxed, memory_order_acquire, memory_order_release, memory_order_acq_rel };
#define atomic_load(at) (*(at))
#define atomic_load_explicit(at, order) (*(at))
#define atomic_store(at, value) ((void)(*(at) = (value)))
#define atomic_store_explicit(at, value, order) ((void)(*(at) = (value)))
#define atomic_fetch_add(at, by) ((*(at) += (by)) - (by))
#define atomic_fetch_add_explicit(at, by, order) atomic_fetch_add(at, by)
#define atomic_fetch_sub(at, by) ((*(at) -= (by)) + (by))
#define atomic_exchange(at, value)                                                                 \
  ({                                                                                               \
    __typeof__(*(at)) before_ = *(at);                                                             \
    *(at) = (value);                                                                               \
    before_;                                                                                       \
  })
#define atomic_exchange_explicit(at, value, order) atomic_exchange(at, value)
#define atomic_compare_exchange_strong(at, expected, value)                                        \
  (*(at) == *(expected) ? (*(at) = (value), true) : (*(expected) = *(at), false))
#define __atomic_load_n(at, order) (*(at))
#define __atomic_store_n(at, value, order) ((void)(*(at) = (value)))

static inline bool leat_add_signed(int64_t x, int64_t y, int64_t *out) {
  *out = (int64_t)((uint64_t)x + (uint64_t)y);
  return ((x ^ *out) & (y ^ *out)) < 0;
}

static inline bool leat_add_unsigned(uint64_t x, uint64_t y, uint64_t *out) {
  *out = x + y;
  return *out < x;
}

static inline bool leat_mul_unsigned(uint64_t x, uint64_t y, uint64_t *out) {
  *out = x * y;
  return x && *out / x != y;
}

static inline bool leat_mul_signed(int64_t x, int64_t y, int64_t *out) {
  bool negative = (x < 0) != (y < 0);
  uint64_t size, limit = (uint64_t)INT64_MAX + negative;
  bool over = leat_mul_unsigned(x < 0 ? 0 - (uint64_t)x : (uint64_t)x,
                                y < 0 ? 0 - (uint64_t)y : (uint64_t)y, &size);
  *out = (int64_t)(negative ? 0 - size : size);
  return over || size > limit;
}

#define LEAT_BY_SIGN(out, on_signed, on_unsigned)                                                  \
  _Generic(*(out), long : on_signed, long long : on_signed, default : on_unsigned)
#define __builtin_add_overflow(x, y, out)                                                          \
  LEAT_BY_SIGN(out, leat_add_signed, leat_add_unsigned)((x), (y), (void *)(out))
#define __builtin_mul_overflow(x, y, out)                                                          \
  LEAT_BY_SIGN(out, leat_mul_signed, leat_mul_unsigned)((x), (y), (void *)(out))
#endif

#endif
