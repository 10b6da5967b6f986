// Variables of a store to and from safetensors files, by their names.
#include "runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

leat_status leat_store_restore(leat_store *store, const char *path, leat_error *error) {
  leat_safetensors file = {0};
  LEAT_TRY(leat_safetensors_open(&file, path, error));
  leat_status status = LEAT_OK;
  size_t found = 0, count = leat_store_count(store);
  // First look at all, then write: a file that does not fit changes nothing.
  for (size_t i = 0; i < count && !status; i++) {
    leat_variable_info info;
    leat_store_info(store, i, &info);
    const leat_tensor *tensor = leat_safetensors_find(&file, info.name);
    if (!tensor) continue;
    found++;
    if (tensor->dtype != info.dtype || tensor->rank != info.rank ||
        memcmp(tensor->shape, info.shape, (size_t)info.rank * sizeof *info.shape) != 0)
      status = leat_fail(error, LEAT_INVALID, "%s: variable `%s` has another dtype or shape there",
                         path, info.name);
  }
  if (!status && !found && count)
    status = leat_fail(error, LEAT_NOT_FOUND, "%s: has none of the %zu variables", path, count);
  for (size_t i = 0; i < count && !status; i++) {
    leat_variable_info info;
    leat_store_info(store, i, &info);
    const leat_tensor *tensor = leat_safetensors_find(&file, info.name);
    if (tensor) status = leat_store_write(store, info.container, info.name, tensor, error);
  }
  leat_safetensors_close(&file);
  return status;
}

leat_status leat_store_save(leat_store *store, const char *path, leat_error *error) {
  size_t count = leat_store_count(store), saved = 0;
  leat_named_tensor *tensors = calloc(count + 1, sizeof *tensors);
  if (!tensors) return leat_fail(error, LEAT_MEMORY, "no memory to save %zu variables", count);
  leat_status status = LEAT_OK;
  for (size_t i = 0; i < count && !status; i++) {
    leat_variable_info info;
    leat_store_info(store, i, &info);
    if (!info.initialised) continue;
    status = leat_store_read(store, info.container, info.name, &tensors[saved].tensor, error);
    if (!status) tensors[saved++].name = info.name;
  }
  if (!status) status = leat_safetensors_write(path, tensors, saved, NULL, 0, error);
  for (size_t i = 0; i < saved; i++) free(tensors[i].tensor.data);
  free(tensors);
  return status;
}
