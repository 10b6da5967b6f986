// The public API for compiled models (include/leat/runtime.h): programs on one device, which share
// their variables, with their own runtime. model_state.c is what concerns the variables.
// It runs seldom: compiled for size.
#include "runtime/model.h"

#include <stdlib.h>

static leat_handles models = LEAT_HANDLES(leat_model);

static bool is_live(const leat_model *model) {
  return leat_handle_is_live(model, &models);
}

bool leat_has_model(const leat_model *model) {
  return is_live(model) && model->made;
}

leat_error *leat_begin_model_call(leat_model *model) {
  if (!leat_has_model(model)) return NULL;
  model->error = (leat_error){0};
  return &model->error;
}

// -- Making --------------------------------------------------------------------------------------

static void count_runs(leat_model *model, leat_model_entry *entry) {
  const leat_view *view = &entry->program->view;
  entry->run_count = &model->runs;
  for (uint32_t i = 0; i < view->image->entries.count; i++) {
    const leat_image_entry *counted = &view->entries[i];
    uint64_t *count = leat_run_count_of(&model->counts, leat_view_text(view, counted->name));
    *count = counted->runs;
    if (i == 0) entry->run_count = count;
    if (counted->completes) leat_vec_push(model->arena, &entry->completed, count);
  }
}

static leat_status load_entry(leat_model *model, leat_model_entry *entry) {
  leat_error *error = &model->error;
  const leat_built_step *code = leat_choose_level(entry->levels);
  const leat_image *image = code->image;
  if (!code->kernels) return leat_fail(error, LEAT_INVALID, "an entry has no kernels");
  leat_program_source source = {.image = image,
                                .size = image->size,
                                .kernels = code->kernels,
                                .kernel_count = image->kernels.count + leat_image_calls_blis(image),
                                .weights = code->weights,
                                .control = code->control ? code->control() : NULL,
                                .reader = code->files ? code->files() : NULL,
                                .keeper = code->keeper ? code->keeper() : NULL};
  if (image->messages.count)
    return leat_fail(error, LEAT_UNSUPPORTED, "an entry is one device's part of a step");
  LEAT_TRY(leat_program_open(&source, &entry->program, error));
  leat_part part = {entry->program, model->store};
  LEAT_TRY(leat_executor_create(model->runtime, &part, 1, &(leat_executor_options){0},
                                &entry->executor, error));
  entry->run = leat_run_acquire(entry->executor);
  if (!entry->run) return leat_fail(error, LEAT_MEMORY, "no memory for a model");
  count_runs(model, entry);
  return LEAT_OK;
}

static leat_status build(leat_model *model, const leat_built_step *steps,
                         const leat_model_options *options) {
  static const leat_model_options defaults;
  leat_error *error = &model->error;
  if (!options) options = &defaults;
  LEAT_TRY(leat_reserved_check(options->reserved, LEAT_RESERVED, error));
  if (!steps || !steps->image) return leat_fail(error, LEAT_INVALID, "there are no steps");
  model->overwrite = options->overwrite;
  leat_runtime_options runtime_options = {.threads = options->threads,
                                          .limit = options->deadline,
                                          .print = options->print,
                                          .print_context = options->print_context};
  model->arena = model->counts.arena = leat_arena_try_create();
  if (!model->arena) return leat_fail(error, LEAT_MEMORY, "no memory for a model");
  if (options->base) model->base = leat_arena_printf(model->arena, "%s", options->base);
  LEAT_TRY(leat_runtime_create_alone(&runtime_options, &model->runtime, error));
  LEAT_TRY(leat_store_create(&model->store, error));
  size_t count = 0;
  while (steps[count].image) count++;
  model->entries = leat_new_array(model->arena, leat_model_entry, count);
  for (; steps->image; steps += leat_count_levels(steps)) {
    leat_model_entry *entry = &model->entries[model->entry_count++];
    entry->levels = steps;
    LEAT_TRY(load_entry(model, entry));
  }
  return LEAT_OK;
}

static leat_status describe(leat_model *model, leat_model_entry *entry) {
  int feeds = (int)leat_executor_feed_count(entry->executor);
  int fetches = (int)leat_executor_fetch_count(entry->executor);
  bool cut = false; // some text
  entry->feeds = leat_new_array(model->arena, leat_port_info, (size_t)feeds + 1);
  entry->fetches = leat_new_array(model->arena, leat_port_info, (size_t)fetches + 1);
  entry->types = leat_new_array(model->arena, leat_text, (size_t)feeds + (size_t)fetches + 1);
  entry->feed_count = feeds;
  entry->fetch_count = fetches;
  for (int i = 0; i < feeds; i++) {
    leat_executor_feed(entry->executor, (size_t)i, &entry->feeds[i]);
    leat_port_print(&entry->feeds[i], &entry->types[i]);
    cut |= entry->types[i].cut;
  }
  for (int i = 0; i < fetches; i++) {
    leat_executor_fetch(entry->executor, (size_t)i, &entry->fetches[i]);
    leat_port_print(&entry->fetches[i], &entry->types[feeds + i]);
    cut |= entry->types[feeds + i].cut;
  }
  return cut ? LEAT_MEMORY : LEAT_OK;
}

static leat_status describe_variables(leat_model *model) {
  size_t count = leat_store_count(model->store);
  bool cut = false;
  model->variable_types = leat_new_array(model->arena, leat_text, count + 1);
  for (size_t i = 0; i < count; i++) {
    leat_variable_info info;
    leat_store_info(model->store, i, &info);
    leat_port_info port = {.dtype = info.dtype, .rank = info.rank};
    memcpy(port.shape, info.shape, sizeof port.shape);
    leat_port_print(&port, &model->variable_types[i]);
    cut |= model->variable_types[i].cut;
  }
  return cut ? LEAT_MEMORY : LEAT_OK;
}

static leat_status make(leat_model *model, const leat_built_step *steps,
                        const leat_model_options *options) {
  LEAT_TRY(build(model, steps, options));
  for (int i = 0; i < model->entry_count; i++) LEAT_TRY(describe(model, &model->entries[i]));
  return describe_variables(model);
}

leat_status leat_model_create(const leat_built_step *steps, const leat_model_options *options,
                              leat_model **out) {
  if (!out) return LEAT_INVALID;
  leat_model *model = *out = leat_handle_create(&models);
  if (!model) return LEAT_MEMORY;
  leat_status status;
  LEAT_RECOVER(status, make(model, steps, options));
  if (status) return leat_fail(&model->error, status, "no memory for a model");
  model->made = true;
  return LEAT_OK;
}

static void finish_entry(leat_model_entry *entry) {
  for (int i = 0; i < entry->feed_count + entry->fetch_count; i++)
    leat_text_finish(&entry->types[i]);
  leat_run_release(entry->run);
  leat_executor_destroy(entry->executor);
  leat_program_destroy(entry->program);
}

void leat_model_destroy(leat_model *model) {
  if (!is_live(model)) return;
  for (size_t i = 0; model->variable_types && i < leat_store_count(model->store); i++)
    leat_text_finish(&model->variable_types[i]);
  for (int i = 0; i < model->entry_count; i++) finish_entry(&model->entries[i]);
  leat_store_destroy(model->store);
  leat_runtime_destroy(model->runtime);
  leat_arena_destroy(model->arena);
  leat_handle_destroy(model);
}

const char *leat_model_message(const leat_model *model) {
  return is_live(model) ? model->error.message : "there is no such model: NULL, or destroyed";
}

// -- What it has ---------------------------------------------------------------------------------

int leat_model_entry_count(const leat_model *model) {
  return leat_has_model(model) ? model->entry_count : 0;
}

// NULL: there is no such entry.
static leat_model_entry *find(const leat_model *model, int entry) {
  return entry >= 0 && entry < leat_model_entry_count(model) ? &model->entries[entry] : NULL;
}

const char *leat_model_entry_name(const leat_model *model, int entry) {
  const leat_model_entry *found = find(model, entry);
  return found ? leat_program_text(found->program, found->program->image->entry) : NULL;
}

const char *leat_model_entry_about(const leat_model *model, int entry) {
  const leat_model_entry *found = find(model, entry);
  return found ? leat_program_text(found->program, found->program->image->about) : NULL;
}

int leat_model_find_entry(const leat_model *model, const char *name) {
  for (int i = 0; name && i < leat_model_entry_count(model); i++)
    if (strcmp(leat_model_entry_name(model, i), name) == 0) return i;
  return -1;
}

int leat_model_feed_count(const leat_model *model, int entry) {
  const leat_model_entry *found = find(model, entry);
  return found ? found->feed_count : 0;
}

int leat_model_fetch_count(const leat_model *model, int entry) {
  const leat_model_entry *found = find(model, entry);
  return found ? found->fetch_count : 0;
}

// Of one of its feeds, or of its fetches; NULL: there is none.
static const leat_port_info *feed(const leat_model *model, int entry, int i) {
  return i >= 0 && i < leat_model_feed_count(model, entry) ? &model->entries[entry].feeds[i] : NULL;
}

static const leat_port_info *fetch(const leat_model *model, int entry, int i) {
  bool there = i >= 0 && i < leat_model_fetch_count(model, entry);
  return there ? &model->entries[entry].fetches[i] : NULL;
}

const char *leat_model_feed_name(const leat_model *model, int entry, int i) {
  const leat_port_info *port = feed(model, entry, i);
  return port ? port->name : NULL;
}

const char *leat_model_fetch_name(const leat_model *model, int entry, int i) {
  const leat_port_info *port = fetch(model, entry, i);
  return port ? port->name : NULL;
}

const char *leat_model_feed_type(const leat_model *model, int entry, int i) {
  return feed(model, entry, i) ? model->entries[entry].types[i].data : NULL;
}

const char *leat_model_fetch_type(const leat_model *model, int entry, int i) {
  if (!fetch(model, entry, i)) return NULL;
  return model->entries[entry].types[model->entries[entry].feed_count + i].data;
}

leat_dtype leat_model_feed_dtype(const leat_model *model, int entry, int i) {
  const leat_port_info *port = feed(model, entry, i);
  return port ? port->dtype : (leat_dtype)LEAT_DTYPE_COUNT;
}

int leat_model_feed_rank(const leat_model *model, int entry, int i) {
  const leat_port_info *port = feed(model, entry, i);
  return port ? port->rank : -1;
}

bool leat_model_feed_has_fallback(const leat_model *model, int entry, int i) {
  const leat_port_info *port = feed(model, entry, i);
  return port && port->has_fallback;
}

bool leat_model_feed_is_donated(const leat_model *model, int entry, int i) {
  const leat_port_info *port = feed(model, entry, i);
  return port && port->donated;
}

// -- Running -------------------------------------------------------------------------------------

leat_status leat_read_model_files(leat_model *model, leat_model_entry *entry) {
  if (!entry->read) LEAT_TRY(leat_program_read_files(entry->program, model->base, &model->error));
  entry->read = true;
  return LEAT_OK;
}

leat_status leat_model_run(leat_model *model, int number, const leat_tensor *feeds,
                           leat_tensor *fetches) {
  leat_error *error = leat_begin_model_call(model);
  if (!error) return LEAT_INVALID;
  leat_model_entry *entry = find(model, number);
  if (!entry) return leat_fail(error, LEAT_INVALID, "there is no entry %d", number);
  if ((!feeds && entry->feed_count) || (!fetches && entry->fetch_count))
    return leat_fail(error, LEAT_INVALID, "the feeds or the fetches are NULL");
  LEAT_TRY(leat_read_model_files(model, entry));
  leat_run_request request = {
      .step = model->runs, .run_count = (int64_t)*entry->run_count, .feeds = feeds};
  LEAT_TRY(leat_run_execute(entry->run, &request, fetches, error));
  model->runs++;
  for (uint32_t i = 0; i < entry->completed.count; i++) ++*entry->completed.items[i];
  return LEAT_OK;
}
