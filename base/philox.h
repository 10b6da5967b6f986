// Philox4x32-10, the counter-based generator of Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3" (SC 2011), with the same bits as Random123's philox4x32. One (counter, key) gives 128
// random bits, independent of all others.
#ifndef LEAT_BASE_PHILOX_H
#define LEAT_BASE_PHILOX_H

#include <stdint.h>

enum { LEAT_PHILOX_ROUNDS = 10 };
#define LEAT_PHILOX_M0 0xd2511f53u // the multipliers
#define LEAT_PHILOX_M1 0xcd9e8d57u
#define LEAT_PHILOX_W0 0x9e3779b9u // what each round adds to the key: golden ratio, sqrt(3) - 1
#define LEAT_PHILOX_W1 0xbb67ae85u

static inline void leat_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
  uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
  uint32_t k0 = key[0], k1 = key[1];
  for (int round = 0; round < LEAT_PHILOX_ROUNDS; round++) {
    uint64_t p0 = (uint64_t)LEAT_PHILOX_M0 * c0, p1 = (uint64_t)LEAT_PHILOX_M1 * c2;
    c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
    c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c1 = (uint32_t)p1;
    c3 = (uint32_t)p0;
    k0 += LEAT_PHILOX_W0;
    k1 += LEAT_PHILOX_W1;
  }
  out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

#endif
