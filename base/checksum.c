// Stripes of 32 bytes go to four lanes, so that four products are in flight; what is left is added
// word by word.
#include "base/checksum.h"

#include "base/file.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are read as they lie");

static const uint64_t prime1 = 0x9e3779b185ebca87u, prime2 = 0xc2b2ae3d27d4eb4fu,
                      prime3 = 0x165667b19e3779f9u, prime4 = 0x85ebca77c2b2ae63u,
                      prime5 = 0x27d4eb2f165667c5u;

enum {
  STRIPE = 32,
  AT_ONCE = (1 << 26) / STRIPE, // stripes that are read before anybody is told
};

static uint64_t rotate(uint64_t value, int bits) {
  return value << bits | value >> (64 - bits);
}

static uint64_t word_at(const unsigned char *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

static uint64_t add_word(uint64_t lane, uint64_t word) {
  return rotate(lane + word * prime2, 31) * prime1;
}

static const unsigned char *add_stripes(uint64_t lanes[4], const unsigned char *bytes,
                                        size_t count) {
  for (size_t i = 0; i < count; i++, bytes += STRIPE)
    for (int k = 0; k < 4; k++) lanes[k] = add_word(lanes[k], word_at(bytes + (size_t)k * 8));
  return bytes;
}

static uint64_t join_lanes(const uint64_t lanes[4]) {
  uint64_t sum =
      rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
  for (int k = 0; k < 4; k++) sum = (sum ^ add_word(0, lanes[k])) * prime1 + prime4;
  return sum;
}

static uint64_t add_rest(uint64_t sum, const unsigned char *bytes, size_t size) {
  for (; size >= 8; bytes += 8, size -= 8)
    sum = rotate(sum ^ add_word(0, word_at(bytes)), 27) * prime1 + prime4;
  if (size >= 4) {
    uint32_t half;
    memcpy(&half, bytes, sizeof half);
    sum = rotate(sum ^ half * prime1, 23) * prime2 + prime3;
    bytes += 4;
    size -= 4;
  }
  for (; size; bytes++, size--) sum = rotate(sum ^ *bytes * prime5, 11) * prime1;
  return sum;
}

static uint64_t finish(uint64_t sum, const unsigned char *rest, size_t size) {
  sum += size;
  if (size % STRIPE) sum = add_rest(sum, rest, size % STRIPE);
  sum = (sum ^ sum >> 33) * prime2;
  sum = (sum ^ sum >> 29) * prime3;
  return sum ^ sum >> 32;
}

// `done` is told what was read, many stripes at a time.
static uint64_t checksum(const unsigned char *bytes, size_t size,
                         void (*done)(const void *from, size_t size)) {
  uint64_t lanes[4] = {prime1 + prime2, prime2, 0, 0 - prime1};
  size_t stripes = size / STRIPE;
  for (size_t left = stripes; left;) {
    size_t count = left < AT_ONCE ? left : AT_ONCE;
    const unsigned char *next = add_stripes(lanes, bytes, count);
    if (done) done(bytes, count * STRIPE);
    bytes = next;
    left -= count;
  }
  return finish(stripes ? join_lanes(lanes) : prime5, bytes, size);
}

uint64_t leat_checksum(const void *data, size_t size) {
  return checksum(data, size, NULL);
}

uint64_t leat_checksum_and_drop(const void *data, size_t size) {
  return checksum(data, size, leat_file_drop);
}
