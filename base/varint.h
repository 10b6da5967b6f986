// Numbers of 7 bits a byte, the lowest first, as Protobuf and LevelDB write them.
#ifndef LEAT_BASE_VARINT_H
#define LEAT_BASE_VARINT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct leat_unread {
  const unsigned char *at, *end;
} leat_unread;

// False: it is cut off, or of more than 64 bits.
static inline bool leat_read_varint(leat_unread *in, uint64_t *out) {
  *out = 0;
  for (unsigned shift = 0; in->at < in->end && shift < 64; shift += 7) {
    unsigned char byte = *in->at++;
    *out |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) return true;
  }
  return false;
}

#endif
