// Checksums of what a safetensors file holds, as pairs of its metadata, so that whoever knows
// nothing of them reads the file as any other:
//
//     "checksum/tensor/W": "F32 [2,3] xxh64:0123456789abcdef"    dtype, shape, the data's XXH64
//     "checksum/key/leat": "xxh64:0123456789abcdef"              of the value of that other pair
//
// Tensors are those of the file, halves of strings among them. For base/safetensors*.c alone.
#ifndef LEAT_BASE_SAFETENSORS_CHECKSUMS_H
#define LEAT_BASE_SAFETENSORS_CHECKSUMS_H

#include "base/safetensors.h"

// Adds a pair for each tensor and for each pair to `metadata`, which has room for them. What it
// makes is in *memory, which the caller frees, whatever is returned.
LEAT_MUST_USE leat_status leat_safetensors_add_checksums(const leat_named_tensor *tensors,
                                                         size_t count, leat_metadata *metadata,
                                                         size_t *metadata_count, void **memory,
                                                         leat_error *error);

// Of a file whose lists are sorted, before its strings are joined: if it has checksums, each tensor
// has one and each is that of what it names. Pairs that others added need none. The error names
// the first that is damaged or missing.
LEAT_MUST_USE leat_status leat_safetensors_verify(const leat_safetensors *file, leat_error *error);

// Takes the checksums out of the metadata, and counts them.
void leat_safetensors_drop_checksums(leat_safetensors *file);

#endif
