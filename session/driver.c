// Runs the table of passes. Everything a person may see of it comes from here: dumps begin with a
// comment line, so that what `leat` prints it reads back.
#include "session/driver.h"

#include "base/checked.h"

#include "ir/print.h"
#include "ir/verify.h"
#include "ops/turns.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

// Between processes, for `place`.
#define LINK_BANDWIDTH 5e9
#define LINK_LATENCY 5e-6

// Stages besides the passes. `code` is what a target's generator writes in its own language, `asm`
// what that becomes.
static const char first_stage[] = "frontend";
static const char *const last_stages[] = {"fuse",  "schedule", "plan", "lower",
                                          "image", "code",     "asm"};
enum { LAST_STAGES = sizeof last_stages / sizeof *last_stages };

static uint32_t stage_count(void) {
  return 1 + leat_pass_count + LAST_STAGES;
}

const char *leat_stage_name(uint32_t i) {
  if (i == 0) return first_stage;
  if (i <= leat_pass_count) return leat_passes[i - 1].name;
  i -= 1 + leat_pass_count;
  return i < LAST_STAGES ? last_stages[i] : NULL;
}

static uint32_t stage_number(const char *name) { // stage_count() when there is none
  uint32_t i = 0;
  while (i < stage_count() && strcmp(leat_stage_name(i), name) != 0) i++;
  return i;
}

// -- What is logged ----------------------------------------------------------------------------

void leat_session_log(leat_session *session, const char *format, ...) {
  if (!session->options.log) return;
  leat_text text = {0};
  va_list arguments;
  va_start(arguments, format);
  leat_text_add_v(&text, format, arguments);
  va_end(arguments);
  session->options.log(session->options.log_context, text.data);
  leat_text_finish(&text);
}

static bool list_has(const char *list, const char *name) {
  size_t length = strlen(name);
  for (const char *at = list; at; at = strchr(at, ',')) {
    at += *at == ',';
    size_t item = strcspn(at, ",");
    if (item == length && memcmp(at, name, length) == 0) return true;
  }
  return false;
}

static leat_status unknown_stage(const char *name, leat_error *error) {
  leat_text names = {0};
  for (uint32_t i = 0; i < stage_count(); i++)
    leat_text_add(&names, "%s%s", i ? ", " : "", leat_stage_name(i));
  leat_fail(error, LEAT_INVALID, "there is no stage `%s`; there are %s", name, names.data);
  leat_text_finish(&names);
  return LEAT_INVALID;
}

leat_status leat_stage_check(const char *stage, leat_error *error) {
  bool known = !stage || stage_number(stage) < stage_count();
  return known ? LEAT_OK : unknown_stage(stage, error);
}

leat_status leat_stages_check(const char *stages, leat_error *error) {
  for (const char *at = stages; at && *at;) {
    char name[64] = "";
    size_t length = strcspn(at, ",");
    if (length < sizeof name) memcpy(name, at, length);
    if (stage_number(name) == stage_count() && strcmp(name, "all") != 0)
      return unknown_stage(length < sizeof name ? name : at, error);
    at += length + (at[length] == ',');
  }
  return LEAT_OK;
}

// Stages after the one to stop at are not shown, even where they run (codegen goes in one go).
static bool is_past_stop(const leat_session *session, const char *stage) {
  const char *stop = session->options.stop_after;
  return stop && stage_number(stage) > stage_number(stop);
}

bool leat_stage_dumped(const leat_session *session, const char *stage) {
  const char *list = session->options.dump_after;
  return list && (list_has(list, stage) || list_has(list, "all")) && !is_past_stop(session, stage);
}

void leat_session_dump(leat_session *session, const char *stage, const char *of, const char *text) {
  if (leat_stage_dumped(session, stage))
    leat_session_log(session, "# after %s%s%s\n%s", stage, of ? " on " : "", of ? of : "", text);
}

static void dump_graph(leat_session *session, const char *stage, const leat_graph *graph) {
  if (!leat_stage_dumped(session, stage)) return;
  leat_text text = {0};
  leat_graph_print(graph, &text);
  leat_session_dump(session, stage, graph->device, text.data);
  leat_text_finish(&text);
}

double leat_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void leat_session_time(leat_session *session, const char *stage, double start) {
  if (session->options.time_passes)
    leat_session_log(session, "# time: %-10s %9.3f ms\n", stage, 1e3 * (leat_seconds() - start));
}

// -- Passes ------------------------------------------------------------------------------------

void leat_driver_init(leat_driver *driver, leat_session *session, leat_arena *arena,
                      const leat_step_request *step) {
  *driver = (leat_driver){.session = session};
  driver->context = (leat_pass_context){.graph = leat_frontend_graph(session->frontend),
                                        .arena = arena,
                                        .scratch = leat_arena_create(),
                                        .diag = session->diag,
                                        .error = &session->error,
                                        .step = step,
                                        .target = session->target,
                                        .blis = session->options.blis,
                                        .memory_limit = session->memory_limit > 0,
                                        .strict = session->strict,
                                        .keep_denormals = session->keep_denormals,
                                        .devices = session->devices.infos.items,
                                        .device_count = session->devices.infos.count,
                                        .client_device = session->devices.client,
                                        .link_bandwidth = LINK_BANDWIDTH,
                                        .link_latency = LINK_LATENCY};
  driver->brought = leat_brought_phase(driver->context.graph);
}

void leat_driver_finish(leat_driver *driver) {
  leat_arena_destroy(driver->context.scratch);
}

leat_status leat_driver_set_dims(leat_driver *driver, const leat_setting *dims, int count) {
  leat_dims *known_dims = driver->context.graph->dims;
  uint32_t atoms = leat_dims_atom_count(known_dims);
  int64_t *values = leat_new_array(driver->context.arena, int64_t, atoms);
  bool *known = leat_new_array(driver->context.arena, bool, atoms);
  for (int i = 0; i < count; i++) {
    const leat_atom *atom = leat_dim_find(known_dims, dims[i].name);
    char *end;
    long long value = strtoll(dims[i].value, &end, 10);
    if (!atom || atom->kind != LEAT_ATOM_NAMED)
      return leat_fail(driver->context.error, LEAT_NOT_FOUND, "there is no dim `%s`", dims[i].name);
    if (*end || end == dims[i].value || value < atom->low || value > atom->high)
      return leat_fail(driver->context.error, LEAT_INVALID, "dim %s=%s: expected %lld..%lld",
                       dims[i].name, dims[i].value, (long long)atom->low, (long long)atom->high);
    values[atom->id] = value;
    known[atom->id] = true;
  }
  if (!count) return LEAT_OK;
  driver->context.dim_values = values;
  driver->context.dim_known = known;
  driver->context.dim_count = atoms;
  return LEAT_OK;
}

// `pass` NULL: none has run.
static leat_status verify_and_dump(leat_driver *driver, const leat_pass_info *pass,
                                   const leat_graph *graph) {
  const leat_pass_context *context = &driver->context;
  const char *stage = pass ? pass->name : first_stage;
  leat_phase phase = pass ? leat_pass_leaves(context, pass, graph) : LEAT_PHASE_TEXT;
  leat_error broken = {0};
  if (leat_verify_phase(graph, phase, driver->brought, &broken) ||
      leat_verify_turns(graph, &broken))
    return leat_fail(context->error, LEAT_INTERNAL, "the graph is broken after `%s`: %s", stage,
                     broken.message);
  dump_graph(driver->session, stage, graph);
  return LEAT_OK;
}

// What nobody sees is not looked at, unless faults are looked for: that takes as long as the
// passes.
static leat_status end_stage(leat_driver *driver, const leat_pass_info *pass, bool is_last) {
  const leat_pass_context *context = &driver->context;
  const char *stage = pass ? pass->name : first_stage;
  const char *stop = driver->session->options.stop_after;
  driver->stopped = stop && strcmp(stop, stage) == 0;
  bool seen =
      LEAT_IS_CHECKED || is_last || driver->stopped || leat_stage_dumped(driver->session, stage);
  if (seen && !context->parts.count) LEAT_TRY(verify_and_dump(driver, pass, context->graph));
  for (uint32_t i = 0; seen && i < context->parts.count; i++)
    LEAT_TRY(verify_and_dump(driver, pass, context->parts.items[i]));
  return LEAT_OK;
}

typedef struct graph_list {
  leat_arena *arena;
  leat_vec(leat_graph *) graphs;
} graph_list;

static void list_graph(void *context, leat_graph *graph) {
  graph_list *list = context;
  leat_vec_push(list->arena, &list->graphs, graph);
}

// The step or its parts, and all bodies in them, an inner graph before the one around it: a node
// finds in its bodies what the pass has made of them.
static leat_status run_on_each(leat_driver *driver, const leat_pass_info *pass) {
  leat_pass_context *context = &driver->context;
  leat_graph *step = context->graph;
  graph_list list = {.arena = context->arena};
  if (!context->parts.count) leat_graph_visit(step, list_graph, &list);
  for (uint32_t i = 0; i < context->parts.count; i++)
    leat_graph_visit(context->parts.items[i], list_graph, &list);
  leat_status status = LEAT_OK;
  for (uint32_t i = 0; i < list.graphs.count && !status; i++) {
    context->graph = list.graphs.items[i];
    status = pass->function(context);
    leat_arena_reset(context->scratch);
  }
  context->graph = step;
  return status;
}

static leat_status run_pass(leat_driver *driver, const leat_pass_info *pass, bool is_last) {
  LEAT_TRY(leat_session_check(driver->session));
  double start = leat_seconds();
  leat_status status =
      pass->scope == LEAT_PASS_EACH ? run_on_each(driver, pass) : pass->function(&driver->context);
  leat_arena_reset(driver->context.scratch);
  leat_session_time(driver->session, pass->name, start);
  if (status)
    return leat_fail(driver->context.error, status, "`%s` failed: %s", pass->name,
                     leat_status_name(status));
  return end_stage(driver, pass, is_last);
}

leat_status leat_driver_run(leat_driver *driver, const char *last) {
  if (driver->next == 0) LEAT_TRY(end_stage(driver, NULL, true));
  bool is_last = false;
  while (driver->next < leat_pass_count && !driver->stopped && !is_last) {
    const leat_pass_info *pass = &leat_passes[driver->next++];
    is_last = driver->next == leat_pass_count || (last && strcmp(pass->name, last) == 0);
    LEAT_TRY(run_pass(driver, pass, is_last));
  }
  return LEAT_OK;
}

// -- Files ---------------------------------------------------------------------------------------

static void add_files(void *context, leat_graph *graph) {
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    const leat_node *node = graph->nodes.items[i];
    if (node->op != LEAT_OP_load) continue;
    const char *path = leat_node_attr(node, "file")->string;
    leat_map_set(context, path, (void *)path);
  }
}

void leat_files_of(leat_graph *graph, leat_map *files) {
  leat_graph_visit(graph, add_files, files);
}

leat_status leat_file_sizes(leat_graph *graph, leat_arena *arena, leat_map *sizes,
                            leat_error *error) {
  leat_map_init(sizes, arena);
  leat_files_of(graph, sizes);
  for (uint32_t i = 0; i < sizes->count; i++) {
    leat_map_entry *entry = &sizes->entries[i];
    struct stat info;
    if (stat(entry->key, &info))
      return leat_fail(error, LEAT_IO, "cannot read %s", (const char *)entry->key);
    entry->value = (void *)(uintptr_t)info.st_size;
  }
  return LEAT_OK;
}

// -- Codegen -----------------------------------------------------------------------------------

typedef struct stage_dump {
  leat_session *session;
  const char *device;
} stage_dump;

static void dump_stage(void *context, const char *stage, const char *text) {
  stage_dump *dump = context;
  leat_session_dump(dump->session, stage, dump->device, text);
}

void leat_print_kernels(const leat_compiled *code, leat_text *out) {
  for (uint32_t i = 0; i < code->kernel_count; i++) {
    leat_text_add(out, "# %s\n", code->symbols[i]);
    leat_kernel_print(code->kernels[i], out);
  }
}

static void dump_code(const stage_dump *dump, const leat_compiled *code) {
  leat_text kernels = {0}, image = {0};
  leat_print_kernels(code, &kernels);
  leat_image_print(code->image, &image);
  leat_session_dump(dump->session, "lower", dump->device, kernels.data ? kernels.data : "");
  leat_session_dump(dump->session, "image", dump->device, image.data ? image.data : "");
  leat_text_finish(&kernels);
  leat_text_finish(&image);
}

leat_status leat_driver_codegen(leat_driver *driver, leat_graph *part, leat_compiled *out) {
  leat_session *session = driver->session;
  LEAT_TRY(leat_session_check(session));
  stage_dump dump = {session, part->device};
  leat_file_table *files = &driver->files;
  files->sizes = (leat_map){0};
  LEAT_TRY(leat_file_sizes(part, driver->context.arena, &files->sizes, &session->error));
  leat_codegen_options options = {.target = driver->context.target,
                                  .blis = session->options.blis,
                                  .keep_denormals = session->keep_denormals,
                                  .memory_limit = session->memory_limit,
                                  .entry = driver->entry,
                                  .about = driver->about,
                                  .level = driver->level,
                                  .entries = driver->entries,
                                  .entry_count = driver->entry_count,
                                  .frozen = driver->frozen,
                                  .files = files,
                                  .inspection = driver->inspection};
  if (session->options.dump_after) options.dump = dump_stage, options.dump_context = &dump;
  double start = leat_seconds();
  LEAT_TRY(
      leat_codegen(part, driver->context.arena, session->diag, &options, out, &session->error));
  leat_session_time(session, "codegen", start);
  if (session->options.dump_after) dump_code(&dump, out);
  const char *stop = session->options.stop_after;
  driver->stopped = stop && stage_number(stop) < stage_number("code");
  return LEAT_OK;
}
