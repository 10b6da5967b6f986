// The memory that a model computes in.
// It runs seldom: compiled for size.
#include "runtime/executor.h"
#include "runtime/model.h"

#include <stdlib.h>

// dims: of the executor, and of the program.
static leat_status measure(const leat_model_entry *entry, const leat_tensor *feeds, int64_t *dims,
                           size_t *out, leat_error *error) {
  const leat_executor *executor = entry->executor;
  const leat_view *view = &entry->program->view;
  int64_t *own = dims + executor->dim_count, size;
  for (uint32_t i = 0; i < executor->dim_count; i++) dims[i] = -1;
  LEAT_TRY(leat_executor_bind(executor, feeds, dims, error));
  for (uint32_t i = 0; i < view->image->dims.count; i++) own[i] = dims[executor->parts[0].dims[i]];
  if (!leat_formula_is_bound(view, view->arenas[0].size, own))
    return leat_fail(error, LEAT_INVALID, "the shapes of the feeds do not say what a run needs");
  if (!leat_formula_value(view, view->arenas[0].size, own, &size) || size < 0)
    return leat_fail(error, LEAT_INVALID, "there is no memory of the size that a run needs");
  *out = ((size_t)size + 63) & ~(size_t)63;
  return LEAT_OK;
}

leat_status leat_model_memory(leat_model *model, int number, const leat_tensor *feeds,
                              size_t *out) {
  leat_error *error = leat_begin_model_call(model);
  if (!error) return LEAT_INVALID;
  if (number < 0 || number >= model->entry_count)
    return leat_fail(error, LEAT_INVALID, "there is no entry %d", number);
  const leat_model_entry *entry = &model->entries[number];
  if (!out || (!feeds && entry->feed_count))
    return leat_fail(error, LEAT_INVALID, "`feeds` or `out` is NULL");
  size_t count = entry->executor->dim_count + entry->program->image->dims.count;
  int64_t *dims = calloc(count + 1, sizeof *dims);
  if (!dims) return leat_fail(error, LEAT_MEMORY, "no memory for %zu dims", count);
  leat_status status = measure(entry, feeds, dims, out, error);
  free(dims);
  return status;
}

leat_status leat_model_lend(leat_model *model, void *memory, size_t size) {
  leat_error *error = leat_begin_model_call(model);
  if (!error) return LEAT_INVALID;
  if ((uintptr_t)memory % LEAT_IMAGE_ALIGNMENT)
    return leat_fail(error, LEAT_INVALID, "the memory is not %d-byte aligned",
                     LEAT_IMAGE_ALIGNMENT);
  for (int i = 0; i < model->entry_count; i++) leat_run_lend(model->entries[i].run, memory, size);
  return LEAT_OK;
}
