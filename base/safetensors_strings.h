// Tensors of str in safetensors files, whose format has no such dtype: NAME is two tensors there,
// `NAME#sizes`, a u64 for each string, of its shape, and `NAME#bytes`, u8, one string behind the
// other. Names of variables hold no `#`. For base/safetensors.c alone.
#ifndef LEAT_BASE_SAFETENSORS_STRINGS_H
#define LEAT_BASE_SAFETENSORS_STRINGS_H

#include "base/safetensors.h"

// Each such pair of a file that was read becomes one tensor; the list is to be sorted again.
LEAT_MUST_USE leat_status leat_safetensors_join_strings(leat_safetensors *file, leat_error *error);

// A list to write, with each tensor of str in two; `tensors` has room for twice as many. What it
// makes is in *memory, which the caller frees, whatever is returned.
LEAT_MUST_USE leat_status leat_safetensors_part_strings(leat_named_tensor *tensors, size_t *count,
                                                        void **memory, leat_error *error);

#endif
