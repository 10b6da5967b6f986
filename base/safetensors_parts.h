// What reading and writing of safetensors share. For base/safetensors*.c alone.
#ifndef LEAT_BASE_SAFETENSORS_PARTS_H
#define LEAT_BASE_SAFETENSORS_PARTS_H

#include "base/safetensors.h"

enum {
  LEAT_SAFETENSORS_LENGTH = 8, // bytes of the header's length, before it
  LEAT_SAFETENSORS_LARGEST_HEADER = 100000000,
};

extern const char *const leat_safetensors_dtypes[LEAT_DTYPE_COUNT]; // "F32"; NULL: there is none

// For qsort: of leat_named_tensor and of leat_metadata.
int leat_by_tensor_name(const void *a, const void *b);
int leat_by_metadata_key(const void *a, const void *b);

#endif
