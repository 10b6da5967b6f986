// What a program with variables needs beyond others: when it is bound it finds them in the store of
// its device, and when a run begins those without a value are given their first.
// It runs seldom: compiled for size.
#include "base/tensor.h"
#include "runtime/executor.h"

#include <stdlib.h>

static leat_status bind(leat_executor *executor, leat_bound_part *part, leat_error *error) {
  const leat_view *view = &part->program->view;
  uint64_t count = view->image->variables.count;
  part->variables = leat_new_array(executor->arena, leat_variable *, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    const leat_image_variable *record = &view->variables[i];
    leat_variable_info info = {
        .name = leat_view_text(view, record->origin.name),
        .container = leat_view_text(view, record->container),
        .dtype = (leat_dtype)record->type.dtype,
        .rank = (int32_t)record->type.rank,
        .trainable = record->flags & LEAT_VARIABLE_TRAINABLE,
    };
    int64_t bytes;
    if (!leat_type_value(view, &record->type, NULL, info.shape, &bytes))
      return leat_fail(error, LEAT_INVALID, "damaged image: variable %u", i);
    LEAT_TRY(leat_store_variable(part->store, &info, &part->variables[i], error));
  }
  return leat_prepared_bind(executor, part, error);
}

static leat_status set_initial(const leat_bound_part *part, const leat_image_variable *record,
                               leat_variable *variable, leat_error *error) {
  const leat_tensor *value = &variable->tensor;
  const void *initial =
      leat_program_data(part->program, record->initial, value->dtype, leat_tensor_bytes(value));
  if (!initial)
    return leat_fail(error, LEAT_INVALID, "damaged image: the value of `%s`", variable->name);
  leat_store_lock(part->store, LEAT_STORE_WRITE);
  leat_status status = leat_variable_set(variable, initial);
  leat_store_unlock(part->store, LEAT_STORE_WRITE);
  return status ? leat_fail(error, status, "no memory for variable `%s`", variable->name) : LEAT_OK;
}

static leat_status not_restored(const leat_bound_part *part, const leat_image_variable *record,
                                leat_error *error) {
  leat_text name = {0};
  leat_origin_print(&part->program->view, record->origin, &name);
  leat_status status = leat_fail(
      error, LEAT_NOT_FOUND, "variable %s has no initial value and was not restored", name.data);
  leat_text_finish(&name);
  return status;
}

static leat_status initialise_variable(leat_run *run, uint32_t p, uint32_t number,
                                       leat_error *error) {
  const leat_bound_part *part = &run->executor->parts[p];
  const leat_image_variable *record = &part->program->view.variables[number];
  leat_variable *variable = part->variables[number];
  leat_store_lock(part->store, LEAT_STORE_READ);
  bool initialised = variable->initialised;
  leat_store_unlock(part->store, LEAT_STORE_READ);
  if (initialised) return LEAT_OK;
  if (record->flags & LEAT_VARIABLE_INITIAL) {
    LEAT_TRY(set_initial(part, record, variable, error));
  } else if (record->table) {
    for (uint32_t i = 0; i < run->executor->part_count; i++) run->tables[i] = LEAT_NO_TABLE;
    run->tables[p] = record->table;
    LEAT_TRY(leat_run_tables(run, error));
  } else {
    return not_restored(part, record, error);
  }
  leat_store_lock(part->store, LEAT_STORE_WRITE);
  variable->initialised = true;
  variable->version++;
  leat_store_unlock(part->store, LEAT_STORE_WRITE);
  return LEAT_OK;
}

static leat_status initialise(leat_run *run, uint32_t p, leat_error *error) {
  leat_bound_part *part = &run->executor->parts[p];
  if (atomic_load_explicit(&part->initialised, memory_order_acquire)) return LEAT_OK;
  leat_status status = LEAT_OK;
  leat_store_lock_initialisation(part->store);
  for (uint32_t i = 0; i < part->program->image->variables.count && !status; i++)
    status = initialise_variable(run, p, i, error);
  if (!status) atomic_store(&part->initialised, true);
  leat_store_unlock_initialisation(part->store);
  return status;
}

static leat_status keep(leat_run *run, uint32_t p, leat_error *error) {
  const leat_bound_part *part = &run->executor->parts[p];
  bool fine = true;
  leat_store_lock(part->store, LEAT_STORE_READ);
  for (uint32_t i = 0; i < part->program->image->variables.count && fine; i++) {
    if (!(part->program->view.variables[i].flags & LEAT_VARIABLE_WRITTEN)) continue;
    run->kept[p][i] = leat_tensor_clone(&part->variables[i]->tensor);
    fine = run->kept[p][i] != NULL;
  }
  leat_store_unlock(part->store, LEAT_STORE_READ);
  return fine ? LEAT_OK : leat_fail(error, LEAT_MEMORY, "no memory for a copy of the variables");
}

static leat_status let_go(leat_run *run, uint32_t p, bool put_back, leat_error *error) {
  const leat_bound_part *part = &run->executor->parts[p];
  leat_status status = LEAT_OK;
  for (uint32_t i = 0; i < part->program->image->variables.count; i++) {
    void *kept = run->kept[p][i];
    if (!kept) continue;
    leat_store_lock(part->store, LEAT_STORE_WRITE);
    if (put_back && leat_variable_set(part->variables[i], kept)) status = LEAT_MEMORY;
    leat_store_unlock(part->store, LEAT_STORE_WRITE);
    free(kept);
    run->kept[p][i] = NULL;
  }
  return status ? leat_fail(error, status, "no memory to put variables back") : LEAT_OK;
}

const leat_keeper *leat_keeps_variables(void) {
  static const leat_keeper keeper = {bind,   initialise,         keep,
                                     let_go, leat_prepared_lend, leat_prepared_take_back};
  return &keeper;
}
