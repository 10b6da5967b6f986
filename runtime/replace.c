// It runs seldom: compiled for size.
#include "runtime/replace.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

// A file that holds something. A name that mktemp has made holds nothing.
static bool is_filled(const char *path, struct stat *info) {
  return stat(path, info) == 0 && S_ISREG(info->st_mode) && info->st_size > 0;
}

leat_status leat_check_save_path(const char *path, const char *restored, bool overwrite,
                                 leat_error *error) {
  struct stat there, begun;
  if (!path) return LEAT_OK;
  LEAT_TRY(leat_file_check_writable(path, error));
  if (overwrite || !is_filled(path, &there)) return LEAT_OK;
  if (restored && stat(restored, &begun) == 0 && begun.st_dev == there.st_dev &&
      begun.st_ino == there.st_ino)
    return LEAT_OK;
  return leat_fail(
      error, LEAT_INVALID,
      "'%s' exists, and this run does not begin with what it holds: restore it, save to "
      "another file, or --overwrite it",
      path);
}

static int64_t step_of(const leat_tensor *tensor) {
  int64_t step = 0;
  if (tensor->dtype == LEAT_i64 && tensor->rank == 0) memcpy(&step, tensor->data, sizeof step);
  return step;
}

static leat_status check_step(const leat_tensor *old, const leat_tensor *new, const char *path,
                              leat_error *error) {
  if (!new->data || step_of(new) >= step_of(old)) return LEAT_OK;
  return leat_fail(error, LEAT_INVALID,
                   "'%s' is of a later step, global_step = %" PRId64 ", than what is to be saved, "
                   "%" PRId64 ": only --overwrite replaces it",
                   path, step_of(old), step_of(new));
}

static bool has(const leat_named_tensor *tensors, size_t count, const char *name) {
  while (count && strcmp(tensors[count - 1].name, name)) count--;
  return count > 0;
}

static leat_status compare(const leat_safetensors *there, const char *path,
                           const leat_named_tensor *tensors, size_t count, leat_error *error) {
  size_t kept = 0, lost = 0;
  for (size_t i = 0; i < count; i++) {
    const leat_tensor *old = leat_safetensors_find(there, tensors[i].name);
    if (old) kept++;
    if (old && strcmp(tensors[i].name, "global_step") == 0)
      LEAT_TRY(check_step(old, &tensors[i].tensor, path, error));
  }
  if (kept == there->count) return LEAT_OK;
  while (has(tensors, count, there->tensors[lost].name)) lost++;
  return leat_fail(error, LEAT_INVALID,
                   "'%s' has `%s`, which would be lost, for it has no value here: only "
                   "--overwrite replaces it",
                   path, there->tensors[lost].name);
}

leat_status leat_check_replaced(const char *path, const leat_named_tensor *tensors, size_t count,
                                leat_error *error) {
  struct stat info;
  leat_safetensors there;
  if (!is_filled(path, &info) || leat_safetensors_open(&there, path, NULL)) return LEAT_OK;
  leat_status status = compare(&there, path, tensors, count, error);
  leat_safetensors_close(&there);
  return status;
}
