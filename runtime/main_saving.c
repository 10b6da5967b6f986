// It runs seldom: compiled for size.
#include "runtime/main_saving.h"

#include "base/file.h"
#include "runtime/replace.h"
#include "runtime/stopping.h"

static leat_status from_model(leat_model *model, leat_status status, leat_error *error) {
  return status ? leat_fail(error, status, "%s", leat_model_message(model)) : LEAT_OK;
}

static leat_status begin(leat_model *model, const leat_saving_options *o, leat_error *error) {
  LEAT_TRY(leat_check_save_path(o->save, o->restore, o->overwrite, error));
  if (o->save) LEAT_TRY(from_model(model, leat_model_check_save(model, o->save), error));
  LEAT_TRY(leat_file_claim(o->save, error));
  leat_status status = LEAT_OK;
  if (o->restore)
    status = o->partial ? leat_model_restore_partial(model, o->restore)
                        : leat_model_restore(model, o->restore);
  if (o->save && !status) leat_stop_at_signals(0.1);
  return from_model(model, status, error);
}

static bool is_stopped(void) {
  return leat_stopped;
}

static leat_status end(leat_model *model, const leat_saving_options *o, leat_error *error) {
  if (!o->save) return LEAT_OK;
  LEAT_TRY(from_model(model, leat_model_save(model, o->save), error));
  if (!leat_stopped) return LEAT_OK;
  return leat_fail(error, LEAT_ABORTED, "%s; %s holds the state behind the run", leat_stop_reason(),
                   o->save);
}

static void finish(const leat_saving_options *o) {
  leat_file_unclaim(o->save);
}

const leat_executable_saving *leat_saves_variables(void) {
  static const leat_executable_saving saving = {begin, is_stopped, end, finish};
  return &saving;
}
