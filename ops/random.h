// Random numbers as the ops define them; kernels make the same bits from the same formulas.
//
// The stream of an op is given by a 64-bit key (leat_random_key) and a 64-bit count. Its word
// number e is
//     philox(counter = {low32(e / 4), high32(e / 4), low32(count), high32(count)},
//            key = {low32(key), high32(key)})[e % 4]
//
// random_bits: element e (its row-major position) is word e.
//
// permutation of [0, n), n <= 2^31 - 1: a balanced Feistel network on `bits` bits, the smallest
// even number >= 2 with 2^bits >= n, and cycle walking. With h = bits / 2, mask = 2^h - 1, and
// round keys k[r] = word r of the op's stream, r < 6:
//     once(v):  left = v >> h, right = v & mask
//               for r = 0 … 5:  left, right = right, left ^ (mix(right ^ k[r]) & mask)
//               return left << h | right
//     element i = the first of once(i), once(once(i)), … that is < n
//     mix(x):   x *= 0x9e3779b1;  x ^= x >> 15;  x *= 0x85ebca77;  x ^= x >> 13
//               (u32, wrapping)
#ifndef LEAT_OPS_RANDOM_H
#define LEAT_OPS_RANDOM_H

#include "base/philox.h"

#include <stdint.h>

enum { LEAT_PERMUTATION_ROUNDS = 6 };
#define LEAT_PERMUTATION_MIX_0 0x9e3779b1u
#define LEAT_PERMUTATION_MIX_1 0x85ebca77u

// `key` is the op's attribute (a hash of its path); replica 0 and seed 0 leave it as it is.
static inline uint64_t leat_random_key(int64_t seed, int64_t key, uint32_t replica) {
  return (uint64_t)key ^ (uint64_t)seed * 0x9e3779b97f4a7c15u ^
         (uint64_t)replica * 0xd1342543de82ef95u;
}

static inline uint32_t leat_random_word(uint64_t key, uint64_t count, uint64_t element) {
  uint64_t block = element / 4;
  uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)count,
                         (uint32_t)(count >> 32)};
  uint32_t words[2] = {(uint32_t)key, (uint32_t)(key >> 32)}, out[4];
  leat_philox(counter, words, out);
  return out[element % 4];
}

// `bits` / 2 for a permutation of [0, n).
static inline int leat_permutation_half(int64_t n) {
  int half = 1;
  while (half < 16 && ((int64_t)1 << 2 * half) < n) half++;
  return half;
}

#endif
