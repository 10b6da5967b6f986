// The public API for compiled models (include/leat/runtime.h): one program on one device, with its
// own runtime.
#include "leat/runtime.h"

#include "base/handle.h"
#include "runtime/program.h"
#include "runtime/runtime.h"

#include <stdlib.h>

struct leat_model {
  leat_handle handle;
  bool made; // it was created without a failure: more can be asked than its message
  leat_error error;
  leat_runtime *runtime;
  leat_store *store;
  leat_program *program;
  leat_executor *executor;
  leat_run *run;
  leat_port_info *feeds, *fetches;
  leat_text *types; // of the feeds, then of the fetches
  int feed_count, fetch_count;
  bool overwrite; // what saves replace
  uint64_t runs;  // of this model
  leat_run_counts counts;
  uint64_t *run_count;            // what run_count() is
  leat_vec(uint64_t *) completed; // counters that a completed run adds one to
};

static leat_handles models = LEAT_HANDLES(leat_model);

static bool is_live(const leat_model *model) {
  return leat_handle_is_live(model, &models);
}

static bool is_made(const leat_model *model) {
  return is_live(model) && model->made;
}

// The error record of the call that begins; NULL: there is no such model.
static leat_error *begin(leat_model *model) {
  if (!is_made(model)) return NULL;
  model->error = (leat_error){0};
  return &model->error;
}

static void count_runs(leat_model *model) {
  const leat_view *view = &model->program->view;
  leat_arena *arena = model->counts.arena;
  model->run_count = &model->runs;
  for (uint32_t i = 0; i < view->image->entries.count; i++) {
    const leat_image_entry *entry = &view->entries[i];
    uint64_t *count = leat_run_count_of(&model->counts, leat_view_text(view, entry->name));
    *count = entry->runs;
    if (i == 0) model->run_count = count;
    if (entry->completes) leat_vec_push(arena, &model->completed, count);
  }
}

static leat_status build(leat_model *model, const leat_image *image,
                         const leat_kernel_function *kernels, const leat_model_options *options) {
  leat_error *error = &model->error;
  if (!image || !kernels || !options)
    return leat_fail(error, LEAT_INVALID, "the image, its kernels or the options are NULL");
  LEAT_TRY(leat_reserved_check(options->reserved, error));
  model->overwrite = options->overwrite;
  leat_runtime_options runtime_options = {.threads = options->threads,
                                          .deadline = options->deadline,
                                          .print = options->print,
                                          .print_context = options->print_context};
  leat_program_source source = {.image = image,
                                .size = image->size,
                                .kernels = kernels,
                                .kernel_count = image->kernels.count + leat_image_calls_blis(image),
                                .base = options->base};
  LEAT_TRY(leat_runtime_create(&runtime_options, &model->runtime, error));
  LEAT_TRY(leat_store_create(&model->store, error));
  LEAT_TRY(leat_program_load(&source, &model->program, error));
  leat_part part = {model->program, model->store};
  LEAT_TRY(leat_executor_create(model->runtime, &part, 1, &(leat_executor_options){0},
                                &model->executor, error));
  model->run = leat_run_acquire(model->executor);
  model->counts.arena = leat_arena_try_create();
  if (!model->run || !model->counts.arena)
    return leat_fail(error, LEAT_MEMORY, "no memory for a model");
  count_runs(model);
  return LEAT_OK;
}

static leat_status describe(leat_model *model) {
  bool cut = false; // some text
  int feeds = (int)leat_executor_feed_count(model->executor);
  int fetches = (int)leat_executor_fetch_count(model->executor);
  model->feeds = calloc((size_t)feeds + 1, sizeof *model->feeds);
  model->fetches = calloc((size_t)fetches + 1, sizeof *model->fetches);
  model->types = calloc((size_t)feeds + (size_t)fetches + 1, sizeof *model->types);
  if (!model->feeds || !model->fetches || !model->types)
    return leat_fail(&model->error, LEAT_MEMORY, "no memory for a model");
  for (int i = 0; i < feeds; i++) {
    leat_executor_feed(model->executor, (size_t)i, &model->feeds[i]);
    leat_port_print(&model->feeds[i], &model->types[i]);
    cut |= model->types[i].cut;
  }
  for (int i = 0; i < fetches; i++) {
    leat_executor_fetch(model->executor, (size_t)i, &model->fetches[i]);
    leat_port_print(&model->fetches[i], &model->types[feeds + i]);
    cut |= model->types[feeds + i].cut;
  }
  model->feed_count = feeds;
  model->fetch_count = fetches;
  return cut ? LEAT_MEMORY : LEAT_OK;
}

leat_status leat_model_create(const leat_image *image, const leat_kernel_function *kernels,
                              const leat_model_options *options, leat_model **out) {
  if (!out) return LEAT_INVALID;
  leat_model *model = *out = leat_handle_create(&models);
  if (!model) return LEAT_MEMORY;
  leat_status status;
  LEAT_RECOVER(status, build(model, image, kernels, options));
  if (!status) status = describe(model);
  if (status) return leat_fail(&model->error, status, "no memory for a model");
  model->made = true;
  return LEAT_OK;
}

void leat_model_destroy(leat_model *model) {
  if (!is_live(model)) return;
  for (int i = 0; i < model->feed_count + model->fetch_count; i++)
    leat_text_finish(&model->types[i]);
  free(model->types);
  free(model->feeds);
  free(model->fetches);
  leat_run_release(model->run);
  leat_executor_destroy(model->executor);
  leat_program_destroy(model->program);
  leat_store_destroy(model->store);
  leat_runtime_destroy(model->runtime);
  leat_arena_destroy(model->counts.arena);
  leat_handle_destroy(model);
}

const char *leat_model_message(const leat_model *model) {
  return is_live(model) ? model->error.message : "there is no such model: NULL, or destroyed";
}

int leat_model_feed_count(const leat_model *model) {
  return is_made(model) ? model->feed_count : 0;
}

int leat_model_fetch_count(const leat_model *model) {
  return is_made(model) ? model->fetch_count : 0;
}

static bool has_feed(const leat_model *model, int i) {
  return i >= 0 && i < leat_model_feed_count(model);
}

static bool has_fetch(const leat_model *model, int i) {
  return i >= 0 && i < leat_model_fetch_count(model);
}

const char *leat_model_feed_name(const leat_model *model, int i) {
  return has_feed(model, i) ? model->feeds[i].name : NULL;
}

const char *leat_model_fetch_name(const leat_model *model, int i) {
  return has_fetch(model, i) ? model->fetches[i].name : NULL;
}

const char *leat_model_feed_type(const leat_model *model, int i) {
  return has_feed(model, i) ? model->types[i].data : NULL;
}

const char *leat_model_fetch_type(const leat_model *model, int i) {
  return has_fetch(model, i) ? model->types[model->feed_count + i].data : NULL;
}

leat_dtype leat_model_feed_dtype(const leat_model *model, int i) {
  return has_feed(model, i) ? model->feeds[i].dtype : (leat_dtype)LEAT_DTYPE_COUNT;
}

int leat_model_feed_rank(const leat_model *model, int i) {
  return has_feed(model, i) ? model->feeds[i].rank : -1;
}

bool leat_model_feed_has_fallback(const leat_model *model, int i) {
  return has_feed(model, i) && model->feeds[i].has_fallback;
}

leat_status leat_model_run(leat_model *model, const leat_tensor *feeds, leat_tensor *fetches) {
  leat_error *error = begin(model);
  if (!error) return LEAT_INVALID;
  if ((!feeds && model->feed_count) || (!fetches && model->fetch_count))
    return leat_fail(error, LEAT_INVALID, "the feeds or the fetches are NULL");
  leat_run_request request = {
      .step = model->runs, .run_count = (int64_t)*model->run_count, .feeds = feeds};
  LEAT_TRY(leat_run_execute(model->run, &request, fetches, error));
  model->runs++;
  for (uint32_t i = 0; i < model->completed.count; i++) ++*model->completed.items[i];
  return LEAT_OK;
}

// What is a constant here has the same value in the file, if it is there and `partial` does not
// keep the constant. *found: how many are there.
static leat_status check_frozen(leat_model *model, const leat_safetensors *file, const char *path,
                                bool partial, size_t *found) {
  const leat_view *view = &model->program->view;
  for (uint32_t i = 0; i < view->image->frozen.count; i++) {
    const char *name = leat_view_text(view, view->frozen[i].name);
    const leat_tensor *value = leat_safetensors_find(file, name);
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

static leat_status restore(leat_model *model, const leat_safetensors *file, const char *path,
                           bool partial) {
  size_t frozen = 0;
  LEAT_TRY(check_frozen(model, file, path, partial, &frozen));
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
  leat_safetensors file;
  leat_error *error = begin(model);
  if (!error) return LEAT_INVALID;
  if (!path) return leat_fail(error, LEAT_INVALID, "`path` is NULL");
  LEAT_TRY(leat_checkpoint_open(&file, path, error));
  leat_status status;
  LEAT_RECOVER(status, restore(model, &file, path, partial));
  leat_safetensors_close(&file);
  return status ? leat_fail(error, status, "no memory to restore %s", path) : LEAT_OK;
}

leat_status leat_model_restore(leat_model *model, const char *path) {
  return restore_file(model, path, false);
}

leat_status leat_model_restore_partial(leat_model *model, const char *path) {
  return restore_file(model, path, true);
}

leat_status leat_model_check_save(leat_model *model, const char *path) {
  leat_error *error = begin(model);
  if (!error) return LEAT_INVALID;
  if (!path) return leat_fail(error, LEAT_INVALID, "`path` is NULL");
  LEAT_TRY(leat_file_check_writable(path, error));
  return model->overwrite ? LEAT_OK : leat_store_check_save(model->store, path, error);
}

leat_status leat_model_save(leat_model *model, const char *path) {
  leat_error *error = begin(model);
  if (!error) return LEAT_INVALID;
  if (!path) return leat_fail(error, LEAT_INVALID, "`path` is NULL");
  leat_status status;
  LEAT_TRY(leat_run_initialise(model->run, error));
  LEAT_RECOVER(status,
               leat_store_save(model->store, path, &model->counts, model->overwrite, error));
  return status ? leat_fail(error, status, "no memory to save %s", path) : LEAT_OK;
}
