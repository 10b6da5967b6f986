// Compiles steps as the JIT does, but into one object that also holds their images, and has it
// written (session/artifact/files.h). What a program sees is one symbol, NAME_steps, NAME being
// that of the output file; kernels that are equal in two steps are one. For several CPU levels each
// step is compiled as often, from its first pass on: plans and roundings are a level's own.
#include "session/artifact.h"

#include "runtime/image.h"
#include "runtime/kernels/library.h"
#include "session/artifact/files.h"
#include "session/artifact/freeze.h"
#include "session/artifact/toolchain.h"
#include "session/driver.h"
#include "targets/target_info.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// "out/my-model.o" → "my_model"
static const char *symbol_prefix(leat_arena *arena, const char *path) {
  const char *base = leat_path_last(path);
  size_t length = strcspn(base, ".");
  char *name = leat_arena_printf(arena, "%s%.*s", isdigit((unsigned char)*base) ? "_" : "",
                                 (int)length, base);
  for (char *c = name; *c; c++)
    if (!isalnum((unsigned char)*c)) *c = '_';
  return *name ? name : "model";
}

// Of all codes, each step's one after the other.
static leat_artifact_code *code_at(const leat_artifact *a, uint32_t i) {
  return &a->steps[i / a->code_count].codes[i % a->code_count];
}

// -- Compiling ---------------------------------------------------------------------------------

static void close_file(void *file) {
  leat_data_file_close(file);
}

static leat_status freeze_from(leat_artifact *a, const leat_data_file *file) {
  const char *path = a->options->vars;
  leat_error *error = &a->session->error;
  uint32_t count = a->step_count * a->code_count;
  leat_freezing *steps = leat_new_array(a->arena, leat_freezing, count);
  for (uint32_t i = 0; i < count; i++) {
    leat_driver *driver = &code_at(a, i)->driver;
    leat_graph *graph = driver->context.graph;
    LEAT_TRY(leat_graph_check_restored(graph, file, path, a->options->partial, error));
    steps[i] = (leat_freezing){graph, &driver->frozen};
  }
  bool as_loads = a->options->weights != LEAT_WEIGHTS_LOAD;
  LEAT_TRY(leat_freeze(steps, count, a->session->diag, file, path, as_loads, error));
  leat_run_counts_restore(&a->session->counts, file);
  return LEAT_OK;
}

static leat_status freeze(leat_artifact *a) {
  if (!a->options->vars) return LEAT_OK;
  leat_data_file file;
  LEAT_TRY(leat_checkpoint_open(&file, a->options->vars, &a->session->error));
  leat_cleanup cleanup;
  leat_cleanup_hold(&cleanup, close_file, &file);
  leat_status status = freeze_from(a, &file);
  leat_cleanup_run(&cleanup);
  return status;
}

// Of several devices one is said where the text computes there.
static leat_status has_devices(const leat_artifact *a, const leat_artifact_step *step,
                               const leat_pass_context *context) {
  const char *first = context->parts.items[0]->device;
  const leat_node_list *nodes = &context->graph->nodes;
  uint32_t at = 0;
  while (at < nodes->count && strcmp(nodes->items[at]->device, first) == 0) at++;
  assert(at < nodes->count);
  leat_error_at(a->session->diag, nodes->items[at]->span,
                "an artifact runs on one device, but `%s` on %s and, here, on %s: leave out `on`",
                step->name, first, nodes->items[at]->device);
  return LEAT_UNSUPPORTED;
}

static leat_status only_part(leat_artifact *a, const leat_artifact_step *step,
                             leat_artifact_code *code) {
  const leat_pass_context *context = &code->driver.context;
  if (context->parts.count != 1) return has_devices(a, step, context);
  code->part = context->parts.items[0];
  a->target = leat_devices_find(&a->session->devices, code->part->device)->target;
  if (a->target->generator) return LEAT_OK;
  return leat_fail(&a->session->error, LEAT_UNSUPPORTED, "the target `%s` makes no artifacts",
                   a->target->name);
}

// The entries whose runs are counted, from the checkpoint's counts on; run_count() is the first's.
static void count_entries(const leat_artifact *a, const leat_request *request,
                          leat_driver *driver) {
  uint32_t executed = request->step.entries.count;
  leat_counted_entry *entries = leat_new_array(a->arena, leat_counted_entry, executed + 1);
  if (request->count_of) entries[0].name = request->count_of;
  for (uint32_t i = 0; i < executed; i++)
    entries[i] = (leat_counted_entry){request->step.entries.items[i]->name, true, 0};
  driver->entries = entries;
  driver->entry_count = executed ? executed : request->count_of != NULL;
  for (uint32_t i = 0; i < driver->entry_count; i++)
    entries[i].runs = *leat_run_count_of(&a->session->counts, entries[i].name);
}

static bool has_levels(const leat_artifact *a) {
  return a->code_count > 1;
}

// For the image. Of C with one level, whoever compiles it knows what it is for.
static uint32_t level_of(const leat_artifact *a, uint32_t number) {
  bool any = a->options->kind == LEAT_ARTIFACT_C && !has_levels(a);
  return any || !a->machine.level_count ? 0 : (uint32_t)a->machine.levels[number] + 1;
}

// C may be for any machine, unless it is said which: most have registers as those of x86-64-v3.
static const leat_target_info *target_of(const leat_artifact *a, uint32_t number) {
  const leat_artifact_options *o = a->options;
  if (o->kind == LEAT_ARTIFACT_C && !o->cpus && !o->triple)
    return leat_target_info_find("x86_64", LEAT_CPU_AVX2);
  leat_cpu_level level = a->machine.level_count ? a->machine.levels[number] : LEAT_CPU_BASELINE;
  return leat_target_info_find(a->machine.name, level);
}

static leat_status generate(leat_artifact *a, const leat_artifact_step *step, uint32_t number) {
  leat_artifact_code *code = &step->codes[number];
  leat_driver *driver = &code->driver;
  LEAT_TRY(leat_driver_run(driver, NULL));
  if (driver->stopped) return LEAT_OK;
  LEAT_TRY(only_part(a, step, code));
  count_entries(a, &step->request, driver);
  if (a->weights.kind != LEAT_WEIGHTS_LOAD)
    driver->files = (leat_file_table){.place = leat_weights_place, .context = &a->weights};
  driver->entry = step->name;
  driver->about = step->about;
  driver->level = level_of(a, number);
  return leat_driver_codegen(driver, code->part, &code->compiled);
}

// What is frozen depends on all steps.
static leat_status compile(leat_artifact *a) {
  uint32_t all = a->step_count * a->code_count;
  for (uint32_t i = 0; i < all; i++) {
    leat_driver *driver = &code_at(a, i)->driver;
    LEAT_TRY(leat_driver_set_dims(driver, a->options->dims, a->options->dim_count));
    LEAT_TRY(leat_driver_run(driver, "check"));
  }
  LEAT_TRY(freeze(a));
  for (uint32_t i = 0; i < all; i++) {
    leat_graph *graph = code_at(a, i)->driver.context.graph;
    LEAT_TRY(leat_weights_take_small(&a->weights, graph, &a->session->error));
  }
  for (uint32_t i = 0; i < a->step_count; i++)
    for (uint32_t k = 0; k < a->code_count; k++) LEAT_TRY(generate(a, &a->steps[i], k));
  return LEAT_OK;
}

// What the images say of them is known when all are.
static leat_status write_weights(leat_artifact *a) {
  uint64_t id;
  LEAT_TRY(leat_weights_write_file(&a->weights, &id, &a->session->error));
  for (uint32_t i = 0; i < a->step_count * a->code_count; i++) {
    leat_image *image = code_at(a, i)->compiled.image;
    image->weights = a->weights.size;
    image->beside = id;
  }
  if (a->weights.size) a->weights_symbol = leat_arena_printf(a->arena, "%s_weights", a->name);
  return LEAT_OK;
}

// -- The object ---------------------------------------------------------------------------------

// "NAME", or with several levels of each "NAME_v3". Symbols begin with it, so that a program can
// hold several models with equal kernels.
static const char *prefix_of(const leat_artifact *a, uint32_t number) {
  if (!has_levels(a)) return a->name;
  return leat_arena_printf(a->arena, "%s_v%d", a->name, a->machine.levels[number] + 1);
}

static const char *kernel_symbol(leat_artifact *a, const char *symbol, uint32_t number) {
  const char *module = leat_library_module(symbol);
  if (module) a->foreign |= leat_foreign_of_module(module);
  if (module || leat_library_find(symbol)) return symbol;
  return leat_arena_printf(a->arena, "%s_%s", prefix_of(a, number), symbol);
}

// The entry points in the order of the image's kernels.
static leat_object_pointers kernel_pointers(leat_artifact *a, const leat_artifact_step *step,
                                            uint32_t number) {
  const leat_image *image = step->codes[number].compiled.image;
  const char *base = (const char *)image;
  const leat_image_kernel *kernels = (const void *)(base + image->kernels.offset);
  size_t count = image->kernels.count;
  bool blis = leat_image_calls_blis(image);
  const char **targets = leat_new_array(a->arena, const char *, count + blis + 1);
  for (size_t i = 0; i < count; i++)
    targets[i] = kernel_symbol(a, base + image->text.offset + kernels[i].symbol, number);
  if (blis) {
    targets[count] = "leat_blis_gemm";
    a->foreign |= 1u << LEAT_FOREIGN_BLIS;
  }
  return (leat_object_pointers){
      .symbol = leat_arena_printf(a->arena, "%s_%s_kernels", prefix_of(a, number), step->c_name),
      .targets = targets,
      .count = count + blis};
}

typedef struct kernel_list {
  const leat_kernel **kernels;
  const char **symbols;
  const leat_target_info **targets;
  leat_bytes_map known; // symbols
} kernel_list;

static void add_kernels_of(leat_artifact *a, kernel_list *list, const leat_compiled *code,
                           uint32_t number) {
  for (uint32_t k = 0; k < code->kernel_count; k++) {
    const char *symbol = kernel_symbol(a, code->symbols[k], number);
    if (leat_bytes_map_get(&list->known, symbol, strlen(symbol))) continue;
    leat_bytes_map_set(&list->known, symbol, strlen(symbol), code->kernels[k]);
    size_t i = a->codegen.kernel_count++;
    list->kernels[i] = code->kernels[k];
    list->symbols[i] = symbol;
    list->targets[i] = target_of(a, number);
  }
}

// Each kernel once a level, whichever steps have it.
static void add_kernels(leat_artifact *a, kernel_list *list) {
  uint32_t all = a->step_count * a->code_count;
  size_t most = 0;
  for (uint32_t i = 0; i < all; i++) most += code_at(a, i)->compiled.kernel_count;
  list->kernels = leat_new_array(a->arena, const leat_kernel *, most + 1);
  list->symbols = leat_new_array(a->arena, const char *, most + 1);
  list->targets = leat_new_array(a->arena, const leat_target_info *, most + 1);
  leat_bytes_map_init(&list->known, a->arena);
  for (uint32_t i = 0; i < all; i++)
    add_kernels_of(a, list, &code_at(a, i)->compiled, i % a->code_count);
}

// What the C target's compiler is, where it is not this system's.
static leat_status choose_compiler(leat_artifact *a) {
  const leat_artifact_options *o = a->options;
  if (strcmp(a->target->name, "c") != 0 || o->kind == LEAT_ARTIFACT_C) return LEAT_OK;
  return leat_toolchain_words(&a->machine, o->cc, o->sysroot, a->arena, &a->codegen.cc,
                              &a->session->error);
}

// Whether it has files that are not weights within the artifact.
static bool reads_files(const leat_image *image) {
  const leat_image_file *files = (const void *)((const char *)image + image->files.offset);
  for (uint64_t i = 0; i < image->files.count; i++)
    if (files[i].kind != LEAT_FILE_WITHIN) return true;
  return false;
}

static bool keeps(const leat_image *image) {
  return image->variables.count || image->prepared.count;
}

static void fill_request(leat_artifact *a) {
  enum { STEP = sizeof(leat_built_step) / sizeof(void *) };
  size_t steps = (size_t)a->step_count * a->code_count;
  leat_object_data *images = leat_new_array(a->arena, leat_object_data, steps + 1);
  leat_object_pointers *pointers = leat_new_array(a->arena, leat_object_pointers, steps + 1);
  const char **table =
      leat_new_array(a->arena, const char *, (steps + 1) * STEP); // NULL at the end
  kernel_list list;
  a->codegen = (leat_codegen_request){.triple = a->machine.triple, .target = target_of(a, 0)};
  add_kernels(a, &list);
  for (uint32_t i = 0; i < steps; i++) {
    const leat_artifact_step *step = &a->steps[i / a->code_count];
    uint32_t number = i % a->code_count;
    const leat_image *image = step->codes[number].compiled.image;
    images[i] = (leat_object_data){
        .symbol = leat_arena_printf(a->arena, "%s_%s_image", prefix_of(a, number), step->c_name),
        .data = image,
        .size = image->size};
    pointers[i] = kernel_pointers(a, step, number);
    const char **record = table + (size_t)i * STEP;
    *record++ = images[i].symbol;
    *record++ = pointers[i].symbol;
    *record++ = reads_files(image) ? "leat_reads_files" : NULL;
    *record++ = leat_image_controls(image) ? "leat_runs_control" : NULL;
    *record++ = keeps(image) ? "leat_keeps_variables" : NULL;
    *record = a->weights_symbol;
  }
  pointers[steps] = (leat_object_pointers){leat_arena_printf(a->arena, "%s_steps", a->name), table,
                                           (steps + 1) * STEP};
  a->codegen.plain = a->options->one_file;
  a->codegen.kernels = list.kernels;
  a->codegen.symbols = list.symbols;
  a->codegen.kernel_targets = has_levels(a) ? list.targets : NULL;
  images[steps] = (leat_object_data){.symbol = a->weights_symbol};
  a->codegen.data = images;
  a->codegen.data_count = steps + (a->weights_symbol != NULL);
  a->codegen.pointers = pointers;
  a->codegen.pointers_count = steps + 1;
}

// -- The whole ----------------------------------------------------------------------------------

// "train", or "train+eval"; a step that runs no entry has a name too.
static const char *name_step(const leat_artifact *a, const leat_step_spec *spec) {
  const char *name = spec->entry_count ? spec->entries[0] : "run";
  for (int i = 1; i < spec->entry_count; i++)
    name = leat_arena_printf(a->arena, "%s+%s", name, spec->entries[i]);
  return name;
}

// The documentation of its entries.
static const char *document_step(const leat_artifact *a, const leat_step_spec *spec) {
  leat_text doc = {0};
  for (int i = 0; i < spec->entry_count; i++)
    leat_frontend_entry_doc(a->session->frontend, spec->entries[i], &doc);
  const char *kept = leat_arena_strndup(a->arena, doc.data ? doc.data : "", doc.size);
  leat_text_finish(&doc);
  return kept;
}

// What one entry of an artifact trains, another may use.
static void note_training(leat_artifact *a, const leat_artifact_step *step) {
  for (uint32_t i = 0; i < step->request.step.entries.count; i++)
    a->session->trains |= step->request.step.entries.items[i]->training;
}

static leat_status resolve(leat_artifact *a, const leat_step_spec *specs) {
  leat_c_scope scope;
  leat_c_scope_init(&scope, a->arena);
  leat_artifact_take_names(&scope);
  for (uint32_t i = 0; i < a->step_count; i++) {
    leat_artifact_step *step = &a->steps[i];
    step->name = name_step(a, &specs[i]);
    for (uint32_t k = 0; k < i; k++)
      if (strcmp(a->steps[k].name, step->name) == 0)
        return leat_fail(&a->session->error, LEAT_INVALID, "the entry `%s` is named twice",
                         step->name);
    LEAT_TRY(leat_request_resolve(a->session, a->arena, &specs[i], &step->request));
    step->c_name = leat_c_name(&scope, step->name);
    step->about = document_step(a, &specs[i]);
  }
  for (uint32_t i = 0; i < a->step_count; i++) {
    leat_artifact_step *step = &a->steps[i];
    step->c_inputs = leat_c_name(&scope, leat_arena_printf(a->arena, "%s_inputs", step->c_name));
    step->c_memory = leat_c_name(&scope, leat_arena_printf(a->arena, "%s_memory", step->c_name));
    step->c_outputs = leat_c_name(&scope, leat_arena_printf(a->arena, "%s_outputs", step->c_name));
  }
  if (a->options->vars) return LEAT_OK;
  for (uint32_t i = 0; i < a->step_count; i++) note_training(a, &a->steps[i]);
  for (uint32_t i = 0; i < a->step_count; i++)
    leat_session_warn_untrained(a->session, &a->steps[i].request.step);
  return LEAT_OK;
}

static bool is_stopped(const leat_artifact *a) { // --stop-after
  for (uint32_t i = 0; i < a->step_count * a->code_count; i++)
    if (code_at(a, i)->driver.stopped) return true;
  return false;
}

static leat_status check_options(leat_artifact *a) {
  const leat_artifact_options *o = a->options;
  leat_error *error = &a->session->error;
  if (o->linked_statically && o->kind != LEAT_ARTIFACT_EXECUTABLE)
    return leat_fail(error, LEAT_INVALID, "--static links executables, not --emit=%s",
                     leat_artifact_kinds[o->kind].name);
  if (o->with_runtime && o->kind != LEAT_ARTIFACT_C)
    return leat_fail(error, LEAT_INVALID, "--with-runtime goes with --emit=c, not with --emit=%s",
                     leat_artifact_kinds[o->kind].name);
  if (o->one_file && o->kind != LEAT_ARTIFACT_C)
    return leat_fail(error, LEAT_INVALID, "--one-file goes with --emit=c, not with --emit=%s",
                     leat_artifact_kinds[o->kind].name);
  if (o->one_file && o->with_runtime)
    return leat_fail(error, LEAT_INVALID,
                     "--one-file has the runtime in it: without --with-runtime");
  if (o->one_file && o->cpus)
    return leat_fail(error, LEAT_INVALID,
                     "--one-file is C for any CPU: without --cpu; its compiler may be told");
  return leat_machine_find(o->triple, o->cpus, a->arena, &a->machine, error);
}

static void begin_codes(leat_artifact *a) {
  a->code_count = a->machine.level_count > 1 ? (uint32_t)a->machine.level_count : 1;
  for (uint32_t i = 0; i < a->step_count; i++)
    a->steps[i].codes = leat_new_array(a->arena, leat_artifact_code, a->code_count);
  for (uint32_t i = 0; i < a->step_count * a->code_count; i++) {
    leat_driver *driver = &code_at(a, i)->driver;
    leat_driver_init(driver, a->session, a->arena, &a->steps[i / a->code_count].request.step);
    driver->context.target = target_of(a, i % a->code_count);
    driver->context.folder = a->session->folder; // from wherever it is built: the same bytes
  }
  a->weights.packs = !has_levels(a);
}

static leat_status build(leat_artifact *a, const leat_step_spec *specs) {
  LEAT_TRY(check_options(a));
  LEAT_TRY(resolve(a, specs));
  begin_codes(a);
  leat_status status = compile(a);
  for (uint32_t i = 0; i < a->step_count * a->code_count; i++)
    leat_driver_finish(&code_at(a, i)->driver);
  if (status || is_stopped(a)) return status;
  LEAT_TRY(write_weights(a));
  fill_request(a);
  LEAT_TRY(choose_compiler(a));
  LEAT_TRY(leat_artifact_write(a));
  return leat_artifact_kinds[a->options->kind].has_header ? leat_artifact_write_header(a) : LEAT_OK;
}

static void finish_weights(void *weights) {
  leat_weights_finish(weights);
}

static leat_status build_in(leat_session *session, const leat_step_spec *specs, int count,
                            const leat_artifact_options *options) {
  leat_artifact a = {.session = session, .options = options, .arena = leat_arena_create()};
  a.name = symbol_prefix(a.arena, options->output);
  a.step_count = (uint32_t)count;
  a.steps = leat_new_array(a.arena, leat_artifact_step, (size_t)count);
  leat_weights_start(&a.weights, a.arena, options->weights, options->output);
  leat_cleanup cleanup;
  leat_cleanup_hold(&cleanup, finish_weights, &a.weights);
  leat_status status = build(&a, specs);
  leat_cleanup_run(&cleanup);
  leat_arena_destroy(a.arena);
  return status;
}

leat_status leat_artifact_build(leat_session *session, const leat_step_spec *specs, int count,
                                const leat_artifact_options *options) {
  if (!leat_session_begin(session)) return LEAT_INVALID;
  leat_status status;
  leat_float_mode mode = leat_float_mode_begin(true);
  LEAT_RECOVER(status, build_in(session, specs, count, options));
  leat_float_mode_end(mode);
  return leat_session_end(session, status);
}
