// Checkpoints: safetensors files of variables, by their names.
#include "runtime/checkpoint.h"

#include "leat/leat.h"
#include "runtime/replace.h"
#include "runtime/runtime.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RUN_COUNT "run_count/"

uint64_t *leat_run_count_of(leat_run_counts *counts, const char *entry) {
  for (uint32_t i = 0; i < counts->items.count; i++)
    if (strcmp(counts->items.items[i]->entry, entry) == 0) return &counts->items.items[i]->runs;
  leat_run_count *count = leat_new(counts->arena, leat_run_count);
  count->entry = leat_arena_strndup(counts->arena, entry, strlen(entry));
  leat_vec_push(counts->arena, &counts->items, count);
  return &count->runs;
}

void leat_run_counts_restore(leat_run_counts *counts, const leat_safetensors *file) {
  size_t prefix = strlen(RUN_COUNT);
  for (size_t i = 0; i < file->metadata_count; i++)
    if (strncmp(file->metadata[i].key, RUN_COUNT, prefix) == 0)
      *leat_run_count_of(counts, file->metadata[i].key + prefix) =
          strtoull(file->metadata[i].value, NULL, 10);
}

leat_status leat_checkpoint_write(const char *path, const leat_named_tensor *tensors, size_t count,
                                  const leat_run_counts *runs, bool overwrite, leat_error *error) {
  if (!overwrite) LEAT_TRY(leat_check_replaced(path, tensors, count, error));
  leat_arena *scratch = leat_arena_create();
  leat_metadata *metadata = leat_new_array(scratch, leat_metadata, runs->items.count + 1);
  metadata[0] = (leat_metadata){"leat", LEAT_VERSION};
  for (uint32_t i = 0; i < runs->items.count; i++) {
    const leat_run_count *run = runs->items.items[i];
    metadata[i + 1] = (leat_metadata){leat_arena_printf(scratch, RUN_COUNT "%s", run->entry),
                                      leat_arena_printf(scratch, "%" PRIu64, run->runs)};
  }
  leat_status status =
      leat_safetensors_write(path, tensors, count, metadata, runs->items.count + 1, error);
  leat_arena_destroy(scratch);
  return status;
}

// -- Variables of a store -------------------------------------------------------------------------

leat_status leat_store_restore(leat_store *store, const char *path, leat_run_counts *runs,
                               leat_error *error) {
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
  if (!status && !count && file.count)
    status =
        leat_fail(error, LEAT_MISMATCH,
                  "%s: there is no variable to restore: what is not assigned here has the value "
                  "that it was built with",
                  path);
  for (size_t i = 0; i < count && !status; i++) {
    leat_variable_info info;
    leat_store_info(store, i, &info);
    const leat_tensor *tensor = leat_safetensors_find(&file, info.name);
    if (tensor) status = leat_store_write(store, info.container, info.name, tensor, error);
  }
  if (!status) leat_run_counts_restore(runs, &file);
  leat_safetensors_close(&file);
  return status;
}

leat_status leat_store_save(leat_store *store, const char *path, const leat_run_counts *runs,
                            bool overwrite, leat_error *error) {
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
  if (!status) status = leat_checkpoint_write(path, tensors, saved, runs, overwrite, error);
  for (size_t i = 0; i < saved; i++) free(tensors[i].tensor.data);
  free(tensors);
  return status;
}

leat_status leat_store_check_save(leat_store *store, const char *path, leat_error *error) {
  size_t count = leat_store_count(store);
  leat_named_tensor *names = calloc(count + 1, sizeof *names);
  if (!names) return leat_fail(error, LEAT_MEMORY, "no memory to save %zu variables", count);
  for (size_t i = 0; i < count; i++) {
    leat_variable_info info;
    leat_store_info(store, i, &info);
    names[i].name = info.name;
  }
  leat_status status = leat_check_replaced(path, names, count, error);
  free(names);
  return status;
}
