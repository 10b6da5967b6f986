// XXH64, with seed 0, as its specification has it
// (https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md), so that others can compute it
// too. Written here since libleat_rt compiles without any library. It finds damage, not forgery.
#ifndef LEAT_BASE_CHECKSUM_H
#define LEAT_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

uint64_t leat_checksum(const void *data, size_t size);

#endif
