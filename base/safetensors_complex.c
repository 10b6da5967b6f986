// It runs seldom: compiled for size.
#include "base/safetensors_complex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char suffix[] = "#parts";
enum { SUFFIX = sizeof suffix - 1 };

// The name, which is the file's own copy, loses its end.
void leat_safetensors_join_parts(leat_safetensors *file) {
  for (size_t i = 0; i < file->count; i++) {
    leat_named_tensor *item = &file->tensors[i];
    leat_tensor *tensor = &item->tensor;
    size_t length = strlen(item->name);
    if (length < SUFFIX || strcmp(item->name + length - SUFFIX, suffix) != 0) continue;
    if (tensor->dtype != LEAT_f64 || !tensor->rank || tensor->shape[tensor->rank - 1] != 2)
      continue;
    ((char *)item->name)[length - SUFFIX] = '\0';
    tensor->dtype = LEAT_c128;
    tensor->shape[--tensor->rank] = 0;
  }
}

leat_status leat_safetensors_part_complex(leat_named_tensor *tensors, size_t count, void **memory,
                                          leat_error *error) {
  size_t room = 1;
  for (size_t i = 0; i < count; i++)
    if (tensors[i].tensor.dtype == LEAT_c128) room += strlen(tensors[i].name) + SUFFIX + 1;
  char *at = *memory = malloc(room);
  if (!at) return leat_fail(error, LEAT_MEMORY, "out of memory for the names of c128 tensors");
  for (size_t i = 0; i < count; i++) {
    leat_tensor *tensor = &tensors[i].tensor;
    if (tensor->dtype != LEAT_c128) continue;
    if (tensor->rank == LEAT_MAX_RANK)
      return leat_fail(error, LEAT_UNSUPPORTED,
                       "'%s': safetensors files hold c128 up to rank %d, not %d", tensors[i].name,
                       LEAT_MAX_RANK - 1, LEAT_MAX_RANK);
    tensor->dtype = LEAT_f64;
    tensor->shape[tensor->rank++] = 2;
    int length = sprintf(at, "%s%s", tensors[i].name, suffix);
    tensors[i].name = at;
    at += length + 1;
  }
  return LEAT_OK;
}
