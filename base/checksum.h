// XXH64, with seed 0, as its specification has it
// (https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md), so that others can compute it
// too. Written here since libleat_rt compiles without any library. It finds damage, not forgery.
#ifndef LEAT_BASE_CHECKSUM_H
#define LEAT_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

uint64_t leat_checksum(const void *data, size_t size);
// The same of what need not stay in memory (leat_file_drop), as the tensors of large files.
uint64_t leat_checksum_and_drop(const void *data, size_t size);

#endif
