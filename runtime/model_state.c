// The variables of a model: one by name, and all of them from and to checkpoints.
// It runs seldom: compiled for size.
#include "runtime/model.h"

#include <string.h>

// -- One ------------------------------------------------------------------------------------------

int leat_model_variable_count(const leat_model *model) {
  return leat_has_model(model) ? (int)leat_store_count(model->store) : 0;
}

static bool find_info(const leat_model *model, int i, leat_variable_info *out) {
  if (i < 0 || i >= leat_model_variable_count(model)) return false;
  leat_store_info(model->store, (size_t)i, out);
  return true;
}

const char *leat_model_variable_name(const leat_model *model, int i) {
  leat_variable_info info;
  return find_info(model, i, &info) ? info.name : NULL;
}

const char *leat_model_variable_type(const leat_model *model, int i) {
  leat_variable_info info;
  return find_info(model, i, &info) ? model->variable_types[i].data : NULL;
}

// Those that the entries begin with, as a run of each would.
static leat_status initialise(leat_model *model) {
  for (int i = 0; i < model->entry_count; i++) {
    LEAT_TRY(leat_read_model_files(model, &model->entries[i]));
    LEAT_TRY(leat_run_initialise(model->entries[i].run, &model->error));
  }
  return LEAT_OK;
}

// Names are unique whatever their containers are.
static const char *container_of(const leat_model *model, const char *name) {
  leat_variable_info info;
  for (int i = 0; find_info(model, i, &info); i++)
    if (strcmp(info.name, name) == 0) return info.container;
  return "";
}

leat_status leat_model_variable_read(leat_model *model, const char *name, leat_tensor *out) {
  leat_error *error = leat_begin_model_call(model);
  if (!error) return LEAT_INVALID;
  if (!name || !out) return leat_fail(error, LEAT_INVALID, "`name` or `out` is NULL");
  LEAT_TRY(initialise(model));
  return leat_store_read(model->store, container_of(model, name), name, out, error);
}

leat_status leat_model_variable_write(leat_model *model, const char *name,
                                      const leat_tensor *value) {
  leat_error *error = leat_begin_model_call(model);
  if (!error) return LEAT_INVALID;
  if (!name || !value || !value->data)
    return leat_fail(error, LEAT_INVALID, "`name`, `value` or its data is NULL");
  if (leat_tensor_bytes(value) < 0)
    return leat_fail(error, LEAT_INVALID, "`value` is no tensor: its dtype, rank or shape is none");
  return leat_store_write(model->store, container_of(model, name), name, value, error);
}

// -- All ------------------------------------------------------------------------------------------

// What is a constant here has the same value in the file, if it is there and `partial` does not
// keep the constant. *found: how many are there.
static leat_status check_frozen(leat_model *model, const leat_view *view,
                                const leat_data_file *file, const char *path, bool partial,
                                size_t *found) {
  for (uint32_t i = 0; i < view->image->frozen.count; i++) {
    const char *name = leat_view_text(view, view->frozen[i].name);
    const leat_tensor *value = leat_data_file_find(file, name);
    uint64_t checksum;
    if (!value) continue;
    ++*found;
    if (partial) continue;
    LEAT_TRY(leat_value_checksum(value, &checksum, &model->error));
    if (checksum != view->frozen[i].checksum)
      return leat_fail(&model->error, LEAT_MISMATCH,
                       "%s has another value of `%s`, which is a constant here: its value was "
                       "built in (leat build --vars); --partial keeps that",
                       path, name);
  }
  return LEAT_OK;
}

static leat_status restore(leat_model *model, const leat_data_file *file, const char *path,
                           bool partial) {
  size_t frozen = 0;
  for (int i = 0; i < model->entry_count; i++) {
    const leat_view *view = &model->entries[i].program->view;
    LEAT_TRY(check_frozen(model, view, file, path, partial, &frozen));
  }
  if (file->count && !frozen && !leat_store_count(model->store))
    return leat_fail(&model->error, LEAT_MISMATCH,
                     "%s: there is no variable to restore: what is not assigned here has the value "
                     "that it was built with",
                     path);
  LEAT_TRY(leat_store_restore(model->store, file, path, partial, &model->error));
  leat_run_counts_restore(&model->counts, file);
  return LEAT_OK;
}

static leat_status restore_file(leat_model *model, const char *path, bool partial) {
  leat_data_file file;
  leat_error *error = leat_begin_model_call(model);
  if (!error) return LEAT_INVALID;
  if (!path) return leat_fail(error, LEAT_INVALID, "`path` is NULL");
  LEAT_TRY(leat_checkpoint_open(&file, path, error));
  leat_status status;
  LEAT_RECOVER(status, restore(model, &file, path, partial));
  leat_data_file_close(&file);
  return status ? leat_fail(error, status, "no memory to restore %s", path) : LEAT_OK;
}

leat_status leat_model_restore(leat_model *model, const char *path) {
  return restore_file(model, path, false);
}

leat_status leat_model_restore_partial(leat_model *model, const char *path) {
  return restore_file(model, path, true);
}

leat_status leat_model_check_save(leat_model *model, const char *path) {
  leat_error *error = leat_begin_model_call(model);
  if (!error) return LEAT_INVALID;
  if (!path) return leat_fail(error, LEAT_INVALID, "`path` is NULL");
  LEAT_TRY(leat_file_check_writable(path, error));
  return model->overwrite ? LEAT_OK : leat_store_check_save(model->store, path, error);
}

leat_status leat_model_save(leat_model *model, const char *path) {
  leat_error *error = leat_begin_model_call(model);
  if (!error) return LEAT_INVALID;
  if (!path) return leat_fail(error, LEAT_INVALID, "`path` is NULL");
  leat_status status;
  LEAT_TRY(initialise(model));
  LEAT_RECOVER(status,
               leat_store_save(model->store, path, &model->counts, model->overwrite, error));
  return status ? leat_fail(error, status, "no memory to save %s", path) : LEAT_OK;
}
