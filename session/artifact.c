// Compiles a step as the JIT does, but into one object that also holds the image, and has it
// written (session/artifact_files.h). What a program sees are two symbols, NAME_image and
// NAME_kernels, NAME being that of the output file.
#include "session/artifact.h"

#include "runtime/image.h"
#include "runtime/kernels/library.h"
#include "session/artifact_files.h"
#include "session/driver.h"
#include "session/freeze.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// "out/my-model.o" → "my_model"
static const char *symbol_prefix(leat_arena *arena, const char *path) {
  const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
  size_t length = strcspn(base, ".");
  char *name = leat_arena_printf(arena, "%s%.*s", isdigit((unsigned char)*base) ? "_" : "",
                                 (int)length, base);
  for (char *c = name; *c; c++)
    if (!isalnum((unsigned char)*c)) *c = '_';
  return *name ? name : "model";
}

// -- Compiling ---------------------------------------------------------------------------------

static leat_status set_dims(leat_artifact *a, leat_driver *driver) {
  leat_dims *dims = leat_frontend_graph(a->session->frontend)->dims;
  uint32_t count = leat_dims_atom_count(dims);
  int64_t *values = leat_new_array(a->arena, int64_t, count);
  bool *known = leat_new_array(a->arena, bool, count);
  for (int i = 0; i < a->options->dim_count; i++) {
    const leat_setting *given = &a->options->dims[i];
    const leat_atom *atom = leat_dim_find(dims, given->name);
    char *end;
    long long value = strtoll(given->value, &end, 10);
    if (!atom || atom->kind != LEAT_ATOM_NAMED)
      return leat_fail(&a->session->error, LEAT_NOT_FOUND, "there is no dim `%s`", given->name);
    if (*end || end == given->value || value < atom->low || value > atom->high)
      return leat_fail(&a->session->error, LEAT_INVALID, "dim %s=%s: expected %lld..%lld",
                       given->name, given->value, (long long)atom->low, (long long)atom->high);
    values[atom->id] = value;
    known[atom->id] = true;
  }
  if (a->options->dim_count) {
    driver->context.dim_values = values;
    driver->context.dim_known = known;
  }
  return LEAT_OK;
}

static void close_file(void *file) {
  leat_safetensors_close(file);
}

static leat_status freeze(leat_artifact *a, leat_driver *driver) {
  const char *path = a->options->vars;
  leat_error *error = &a->session->error;
  leat_graph *graph = driver->context.graph;
  if (!path) return LEAT_OK;
  leat_safetensors file;
  LEAT_TRY(leat_checkpoint_open(&file, path, error));
  leat_cleanup cleanup;
  leat_cleanup_hold(&cleanup, close_file, &file);
  leat_status status = leat_graph_check_restored(graph, &file, path, a->options->partial, error);
  if (!status) status = leat_freeze(graph, a->session->diag, &file, path, &driver->frozen, error);
  if (!status) leat_run_counts_restore(&a->session->counts, &file);
  leat_cleanup_run(&cleanup);
  return status;
}

static leat_status only_part(leat_artifact *a, const leat_driver *driver) {
  if (driver->context.parts.count != 1)
    return leat_fail(&a->session->error, LEAT_UNSUPPORTED,
                     "an artifact runs on one device, this step on %u",
                     driver->context.parts.count);
  a->part = driver->context.parts.items[0];
  a->target = leat_devices_find(&a->session->devices, a->part->device)->target;
  if (a->target->generator) return LEAT_OK;
  return leat_fail(&a->session->error, LEAT_UNSUPPORTED, "the target `%s` makes no artifacts",
                   a->target->name);
}

// The entries whose runs are counted, from the checkpoint's counts on; run_count() is the first's.
static void count_entries(const leat_artifact *a, leat_driver *driver) {
  uint32_t executed = a->request.step.entries.count;
  leat_counted_entry *entries = leat_new_array(a->arena, leat_counted_entry, executed + 1);
  if (a->request.count_of) entries[0].name = a->request.count_of;
  for (uint32_t i = 0; i < executed; i++)
    entries[i] = (leat_counted_entry){a->request.step.entries.items[i]->name, true, 0};
  driver->entries = entries;
  driver->entry_count = executed ? executed : a->request.count_of != NULL;
  for (uint32_t i = 0; i < driver->entry_count; i++)
    entries[i].runs = *leat_run_count_of(&a->session->counts, entries[i].name);
}

// *stopped: --stop-after.
static leat_status compile(leat_artifact *a, leat_driver *driver, bool *stopped) {
  LEAT_TRY(set_dims(a, driver));
  LEAT_TRY(leat_driver_run(driver, "check"));
  LEAT_TRY(freeze(a, driver));
  LEAT_TRY(leat_driver_run(driver, NULL));
  *stopped = driver->stopped;
  if (*stopped) return LEAT_OK;
  LEAT_TRY(only_part(a, driver));
  count_entries(a, driver);
  LEAT_TRY(leat_driver_codegen(driver, a->part, &a->code));
  *stopped = driver->stopped;
  return LEAT_OK;
}

// The entry points in the order of the image's kernels. Symbols of generated ones are prefixed, so
// that a program can hold several models with equal kernels.
static void fill_pointers(leat_artifact *a, const char *const *generated) {
  const leat_image *image = a->code.image;
  const char *base = (const char *)image;
  const leat_image_kernel *kernels = (const void *)(base + image->kernels.offset);
  size_t count = image->kernels.count;
  const char **targets = leat_new_array(a->arena, const char *, count + 1);
  for (size_t i = 0; i < count; i++) {
    const char *symbol = base + image->text.offset + kernels[i].symbol;
    targets[i] = leat_library_find(symbol) ? symbol : *generated++;
  }
  a->calls_blis = leat_image_calls_blis(image);
  if (a->calls_blis) targets[count] = "leat_blis_gemm";
  a->kernel_pointers =
      (leat_object_pointers){.symbol = leat_arena_printf(a->arena, "%s_kernels", a->name),
                             .targets = targets,
                             .count = count + a->calls_blis};
}

static void fill_request(leat_artifact *a) {
  const char **symbols = leat_new_array(a->arena, const char *, a->code.kernel_count + 1);
  for (uint32_t i = 0; i < a->code.kernel_count; i++)
    symbols[i] = leat_arena_printf(a->arena, "%s_%s", a->name, a->code.symbols[i]);
  fill_pointers(a, symbols);
  a->image_data = (leat_object_data){.symbol = leat_arena_printf(a->arena, "%s_image", a->name),
                                     .data = a->code.image,
                                     .size = a->code.image->size};
  a->codegen =
      (leat_codegen_request){.kernels = (const leat_kernel *const *)(void *)a->code.kernels,
                             .symbols = symbols,
                             .kernel_count = a->code.kernel_count,
                             .cpu = a->session->cpu,
                             .data = &a->image_data,
                             .data_count = 1,
                             .pointers = &a->kernel_pointers,
                             .pointers_count = 1};
}

// -- The whole ----------------------------------------------------------------------------------

static leat_status build(leat_artifact *a, const leat_step_spec *spec) {
  LEAT_TRY(leat_request_resolve(a->session, a->arena, spec, &a->request));
  if (!a->options->vars) leat_session_warn_untrained(a->session, &a->request.step);
  leat_driver driver;
  bool stopped = false;
  leat_driver_init(&driver, a->session, a->arena, &a->request.step);
  leat_status status = compile(a, &driver, &stopped);
  leat_driver_finish(&driver);
  if (status || stopped) return status;
  fill_request(a);
  LEAT_TRY(leat_artifact_write(a));
  return leat_artifact_kinds[a->options->kind].has_header ? leat_artifact_write_header(a) : LEAT_OK;
}

static leat_status build_in(leat_session *session, const leat_step_spec *spec,
                            const leat_artifact_options *options) {
  leat_artifact a = {.session = session, .options = options, .arena = leat_arena_create()};
  a.name = symbol_prefix(a.arena, options->output);
  leat_status status = build(&a, spec);
  leat_arena_destroy(a.arena);
  return status;
}

leat_status leat_artifact_build(leat_session *session, const leat_step_spec *spec,
                                const leat_artifact_options *options) {
  if (!leat_session_begin(session)) return LEAT_INVALID;
  leat_status status;
  LEAT_RECOVER(status, build_in(session, spec, options));
  return leat_session_end(session, status);
}
