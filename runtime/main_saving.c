// It runs seldom: compiled for size.
#include "runtime/main_saving.h"

#include "base/file.h"
#include "base/show.h"
#include "runtime/model.h"
#include "runtime/replace.h"
#include "runtime/stopping.h"

#include <stdio.h>

// -- What has state -------------------------------------------------------------------------------

static leat_status shown(const leat_saving_run *run, leat_status status, const char *message) {
  if (status) leat_show(stderr, "%s: %s\n", run->program, message);
  return status;
}

static leat_status take_state(void *of, void **out) {
  leat_model *model = ((leat_saving_run *)of)->model;
  leat_error ignored = {0};
  leat_store_copy *copy;
  leat_status status = leat_store_copy_take(model->store, &model->counts, &copy, &ignored);
  *out = copy;
  return status;
}

static void drop_state(void *copy) {
  leat_store_copy_drop(copy);
}

static leat_status put_state_back(void *of, const void *copy) {
  const leat_saving_run *run = of;
  leat_error error = {0};
  leat_status status =
      leat_store_copy_put_back(run->model->store, &run->model->counts, copy, &error);
  return shown(run, status, error.message);
}

static leat_status write_state(void *of, const void *copy, const char *path) {
  const leat_saving_run *run = of;
  leat_error error = {0};
  leat_status status;
  LEAT_RECOVER(status, leat_store_copy_write(copy, path, run->model->overwrite, &error));
  return shown(run, status, error.message);
}

static leat_status save_state(void *of, const char *path) {
  const leat_saving_run *run = of;
  leat_status status = leat_model_save(run->model, path);
  return shown(run, status, leat_model_message(run->model));
}

static leat_status run_state_again(void *of) {
  const leat_saving_run *run = of;
  return run->again(run->context);
}

// -- Running --------------------------------------------------------------------------------------

static leat_status from_model(leat_model *model, leat_status status, leat_error *error) {
  return status ? leat_fail(error, status, "%s", leat_model_message(model)) : LEAT_OK;
}

static leat_status begin_saving(leat_saving_run *run, const leat_saving_options *o,
                                leat_error *error) {
  static const leat_kept calls = {take_state,  drop_state, put_state_back,
                                  write_state, save_state, run_state_again};
  leat_model *model = run->model;
  LEAT_TRY(leat_check_save_path(o->save, o->restore, o->overwrite, error));
  if (o->save) LEAT_TRY(from_model(model, leat_model_check_save(model, o->save), error));
  LEAT_TRY(leat_file_claim(o->save, error));
  leat_status status = LEAT_OK;
  if (o->restore)
    status = o->partial ? leat_model_restore_partial(model, o->restore)
                        : leat_model_restore(model, o->restore);
  run->keeping =
      (leat_keeping){.calls = &calls, .of = run, .path = o->save, .restored = o->restore != NULL};
  if (!status)
    leat_stop_at_signals(
        &(leat_stopping){.runtime = model->runtime, .saves = o->save, .same_seconds = 0.1});
  return from_model(model, status, error);
}

static void note_saved_step(leat_saving_run *run, bool last) {
  leat_keeping_note_step(&run->keeping, last);
}

static bool is_run_stopped(void) {
  return leat_stopped;
}

static leat_status end_saving(leat_saving_run *run, bool failed, leat_error *error) {
  return leat_keeping_end(&run->keeping, failed, error);
}

static void finish_saving(leat_saving_run *run, const leat_saving_options *o) {
  if (run->keeping.calls) leat_keeping_finish(&run->keeping);
  leat_file_unclaim(o->save);
}

const leat_executable_saving *leat_saves_variables(void) {
  static const leat_executable_saving saving = {begin_saving, note_saved_step, is_run_stopped,
                                                end_saving, finish_saving};
  return &saving;
}
