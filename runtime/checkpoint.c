// Checkpoints: safetensors files of variables, by their names.
// It runs seldom: compiled for size.
#include "runtime/checkpoint.h"

#include "base/checksum.h"
#include "base/portable.h"
#include "base/tensor.h"
#include "leat/leat.h"
#include "runtime/replace.h"
#include "runtime/runtime.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RUN_COUNT "run_count/"
#define UNINITIALISED "uninitialised"

uint64_t *leat_run_count_of(leat_run_counts *counts, const char *entry) {
  for (uint32_t i = 0; i < counts->items.count; i++)
    if (strcmp(counts->items.items[i]->entry, entry) == 0) return &counts->items.items[i]->runs;
  leat_run_count *count = leat_new(counts->arena, leat_run_count);
  count->entry = leat_arena_strndup(counts->arena, entry, strlen(entry));
  leat_vec_push(counts->arena, &counts->items, count);
  return &count->runs;
}

static const char *counted_entry(const leat_metadata *pair) {
  size_t prefix = strlen(RUN_COUNT);
  return strncmp(pair->key, RUN_COUNT, prefix) == 0 ? pair->key + prefix : NULL;
}

static bool read_count(const char *text, uint64_t *out) {
  *out = 0;
  for (const char *c = text; *c; c++)
    if (*c < '0' || *c > '9' || __builtin_mul_overflow(*out, 10, out) ||
        __builtin_add_overflow(*out, (uint64_t)(*c - '0'), out))
      return false;
  return *text;
}

void leat_run_counts_restore(leat_run_counts *counts, const leat_data_file *file) {
  for (size_t i = 0; i < file->metadata_count; i++) {
    const char *entry = counted_entry(&file->metadata[i]);
    uint64_t runs;
    if (entry && read_count(file->metadata[i].value, &runs))
      *leat_run_count_of(counts, entry) = runs;
  }
}

// -- Reading --------------------------------------------------------------------------------------

leat_status leat_checkpoint_open(leat_data_file *out, const char *path, leat_error *error) {
  LEAT_TRY(leat_data_file_open(out, path, true, error));
  leat_status status = leat_data_file_read_all(out, error);
  for (size_t i = 0; i < out->metadata_count && !status; i++) {
    uint64_t runs;
    const leat_metadata *pair = &out->metadata[i];
    if (counted_entry(pair) && !read_count(pair->value, &runs))
      status = leat_fail(error, LEAT_INVALID,
                         "'%s': the metadata key '%s' is '%.40s', which is no number", path,
                         pair->key, pair->value);
  }
  if (status) leat_data_file_close(out);
  return status;
}

bool leat_checkpoint_lacked(const leat_data_file *file, const char *variable) {
  const char *names = "";
  size_t length = strlen(variable);
  for (size_t i = 0; i < file->metadata_count; i++)
    if (strcmp(file->metadata[i].key, UNINITIALISED) == 0) names = file->metadata[i].value;
  for (size_t size; *names; names += size + (names[size] == ' ')) {
    size = strcspn(names, " ");
    if (size == length && memcmp(names, variable, size) == 0) return true;
    if (!size && *names != ' ') break;
  }
  return false;
}

enum { MOST_NAMED = 3 };

// "`a`, `b`, `c` and 2 others"
static void name_some(leat_text *out, const char *const *names, size_t count) {
  for (size_t i = 0; i < count && i < MOST_NAMED; i++)
    leat_text_add(out, "%s`%s`", !i ? "" : i + 1 == count ? " and " : ", ", names[i]);
  if (count > MOST_NAMED)
    leat_text_add(out, " and %zu other%s", count - MOST_NAMED, count > MOST_NAMED + 1 ? "s" : "");
}

static leat_status fail_naming(const char *path, const char *has, const char *const *names,
                               size_t count, const char *advice, leat_error *error) {
  leat_text text = {0};
  name_some(&text, names, count);
  leat_status status =
      leat_fail(error, LEAT_MISMATCH, "%s has %s %s%s", path, has, text.data, advice);
  leat_text_finish(&text);
  return status;
}

leat_status leat_checkpoint_check(const leat_data_file *file, const char *path,
                                  const char *const *variables, size_t count, bool partial,
                                  leat_error *error) {
  leat_arena *scratch = leat_arena_create();
  const char **missing = leat_new_array(scratch, const char *, count);
  size_t found = 0, lacking = 0;
  for (size_t i = 0; i < count; i++) {
    if (leat_data_file_find(file, variables[i]))
      found++;
    else if (!leat_checkpoint_lacked(file, variables[i]))
      missing[lacking++] = variables[i];
  }
  leat_status status = LEAT_OK;
  if (lacking && !found && file->count)
    status = fail_naming(path, "none of the variables here:", missing, lacking, "", error);
  else if (lacking && !partial)
    status = fail_naming(path, "no", missing, lacking, "; --partial restores what it has", error);
  leat_arena_destroy(scratch);
  return status;
}

leat_status leat_value_checksum(const leat_tensor *value, uint64_t *out, leat_error *error) {
  uint64_t size;
  void *made;
  const void *bytes = leat_tensor_packed(value, &size, &made);
  if (!bytes) return leat_fail(error, LEAT_MEMORY, "no memory for the checksum of a variable");
  int64_t words[2 + LEAT_MAX_RANK] = {value->dtype, (int64_t)leat_checksum_and_drop(bytes, size)};
  memcpy(words + 2, value->shape, (size_t)value->rank * sizeof *words);
  *out = leat_checksum(words, (2 + (size_t)value->rank) * sizeof *words);
  free(made);
  return LEAT_OK;
}

// -- Writing --------------------------------------------------------------------------------------

leat_status leat_checkpoint_write(const char *path, const leat_named_tensor *tensors, size_t count,
                                  const char *uninitialised, const leat_run_counts *runs,
                                  bool overwrite, leat_error *error) {
  if (!overwrite) LEAT_TRY(leat_check_replaced(path, tensors, count, error));
  leat_arena *scratch = leat_arena_create();
  leat_vec(leat_metadata) metadata = {0};
  leat_vec_push(scratch, &metadata, (leat_metadata){"leat", LEAT_VERSION});
  if (uninitialised)
    leat_vec_push(scratch, &metadata, (leat_metadata){UNINITIALISED, uninitialised});
  for (uint32_t i = 0; i < runs->items.count; i++) {
    const leat_run_count *run = runs->items.items[i];
    leat_metadata pair = {leat_arena_printf(scratch, RUN_COUNT "%s", run->entry),
                          leat_arena_printf(scratch, "%" PRIu64, run->runs)};
    leat_vec_push(scratch, &metadata, pair);
  }
  leat_status status =
      leat_safetensors_write(path, tensors, count, metadata.items, metadata.count, error);
  leat_arena_destroy(scratch);
  return status;
}

// -- Variables of a store -------------------------------------------------------------------------

static leat_status fail_of_type(const char *path, const leat_variable_info *here,
                                const leat_tensor *there, leat_error *error) {
  leat_text is = {0}, other = {0};
  leat_tensor_type_print(here->dtype, here->rank, here->shape, &is);
  leat_tensor_type_print(there->dtype, there->rank, there->shape, &other);
  leat_status status = leat_fail(error, LEAT_INVALID, "%s: variable `%s` is %s there, and %s here",
                                 path, here->name, other.data, is.data);
  leat_text_finish(&is);
  leat_text_finish(&other);
  return status;
}

static leat_status check_types(leat_store *store, const leat_data_file *file, const char *path,
                               leat_error *error) {
  for (size_t i = 0; i < leat_store_count(store); i++) {
    leat_variable_info info;
    leat_store_info(store, i, &info);
    const leat_tensor *tensor = leat_data_file_find(file, info.name);
    if (!tensor) continue;
    if (tensor->dtype != info.dtype || tensor->rank != info.rank ||
        memcmp(tensor->shape, info.shape, (size_t)info.rank * sizeof *info.shape) != 0)
      return fail_of_type(path, &info, tensor, error);
  }
  return LEAT_OK;
}

// Whether the file has the variables of the store.
static leat_status check_names(leat_store *store, const leat_data_file *file, const char *path,
                               bool partial, leat_error *error) {
  size_t count = leat_store_count(store);
  leat_arena *scratch = leat_arena_create();
  const char **names = leat_new_array(scratch, const char *, count);
  for (size_t i = 0; i < count; i++) {
    leat_variable_info info;
    leat_store_info(store, i, &info);
    names[i] = info.name; // stays where it is as long as the store lives
  }
  leat_status status = leat_checkpoint_check(file, path, names, count, partial, error);
  leat_arena_destroy(scratch);
  return status;
}

leat_status leat_store_restore(leat_store *store, const leat_data_file *file, const char *path,
                               bool partial, leat_error *error) {
  LEAT_TRY(check_types(store, file, path, error));
  LEAT_TRY(check_names(store, file, path, partial, error));
  for (size_t i = 0; i < leat_store_count(store); i++) {
    leat_variable_info info;
    leat_store_info(store, i, &info);
    const leat_tensor *tensor = leat_data_file_find(file, info.name);
    if (tensor) LEAT_TRY(leat_store_write(store, info.container, info.name, tensor, error));
  }
  return LEAT_OK;
}

// The data of the tensors is malloc'ed.
struct leat_store_copy {
  leat_arena *arena;
  leat_named_tensor *tensors;
  size_t count;
  leat_run_counts counts;
};

void leat_store_copy_drop(leat_store_copy *copy) {
  if (!copy) return;
  for (size_t i = 0; i < copy->count; i++) free(copy->tensors[i].tensor.data);
  leat_arena_destroy(copy->arena);
}

static void drop(void *copy) {
  leat_store_copy_drop(copy);
}

static leat_status read_all(leat_store *store, leat_store_copy *out, leat_error *error) {
  for (size_t i = 0; i < leat_store_count(store); i++) {
    leat_variable_info info;
    leat_store_info(store, i, &info);
    leat_named_tensor *next = &out->tensors[out->count];
    if (!info.initialised) continue;
    LEAT_TRY(leat_store_read(store, info.container, info.name, &next->tensor, error));
    next->name = info.name; // stays where it is as long as the store lives
    out->count++;
  }
  return LEAT_OK;
}

static leat_status take(leat_store *store, const leat_run_counts *counts, leat_store_copy **out,
                        leat_error *error) {
  leat_cleanup cleanup;
  leat_arena *arena = leat_arena_create();
  leat_store_copy *copy = leat_new(arena, leat_store_copy);
  *copy = (leat_store_copy){.arena = arena, .counts = {.arena = arena}};
  leat_cleanup_hold(&cleanup, drop, copy);
  copy->tensors = leat_new_array(arena, leat_named_tensor, leat_store_count(store));
  for (uint32_t i = 0; i < counts->items.count; i++)
    *leat_run_count_of(&copy->counts, counts->items.items[i]->entry) = counts->items.items[i]->runs;
  leat_status status = read_all(store, copy, error);
  if (status)
    leat_cleanup_run(&cleanup);
  else
    leat_let_go(&cleanup.held);
  *out = status ? NULL : copy;
  return status;
}

leat_status leat_store_copy_take(leat_store *store, const leat_run_counts *counts,
                                 leat_store_copy **out, leat_error *error) {
  leat_status status;
  *out = NULL;
  LEAT_RECOVER(status, take(store, counts, out, error));
  return status ? leat_fail(error, status, "no memory to copy the variables") : LEAT_OK;
}

leat_status leat_store_copy_put_back(leat_store *store, leat_run_counts *counts,
                                     const leat_store_copy *copy, leat_error *error) {
  for (size_t i = 0; i < copy->count; i++) {
    leat_variable_info info;
    for (size_t k = 0; k < leat_store_count(store); k++) {
      leat_store_info(store, k, &info);
      if (info.name == copy->tensors[i].name) break;
    }
    LEAT_TRY(leat_store_write(store, info.container, info.name, &copy->tensors[i].tensor, error));
  }
  for (uint32_t i = 0; i < counts->items.count; i++) counts->items.items[i]->runs = 0;
  for (uint32_t i = 0; i < copy->counts.items.count; i++) {
    const leat_run_count *count = copy->counts.items.items[i];
    *leat_run_count_of(counts, count->entry) = count->runs;
  }
  return LEAT_OK;
}

leat_status leat_store_copy_write(const leat_store_copy *copy, const char *path, bool overwrite,
                                  leat_error *error) {
  return leat_checkpoint_write(path, copy->tensors, copy->count, NULL, &copy->counts, overwrite,
                               error);
}

leat_status leat_store_save(leat_store *store, const char *path, const leat_run_counts *runs,
                            bool overwrite, leat_error *error) {
  leat_store_copy *copy;
  leat_cleanup cleanup;
  LEAT_TRY(leat_store_copy_take(store, runs, &copy, error));
  leat_cleanup_hold(&cleanup, drop, copy);
  leat_status status = leat_store_copy_write(copy, path, overwrite, error);
  leat_cleanup_run(&cleanup);
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
