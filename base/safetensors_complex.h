// Tensors of c128 in safetensors files, whose format has c64 but no such dtype: NAME is
// `NAME#parts` there, of f64, with a last axis of 2 for the real and the imaginary part. For
// base/safetensors.c alone.
#ifndef LEAT_BASE_SAFETENSORS_COMPLEX_H
#define LEAT_BASE_SAFETENSORS_COMPLEX_H

#include "base/safetensors.h"

// Such tensors of a file that was read become c128; the list is to be sorted again.
void leat_safetensors_join_parts(leat_safetensors *file);

// The tensors of c128 in a list to write become f64. What it makes is in *memory, which the caller
// frees, whatever is returned.
LEAT_MUST_USE leat_status leat_safetensors_part_complex(leat_named_tensor *tensors, size_t count,
                                                        void **memory, leat_error *error);

#endif
