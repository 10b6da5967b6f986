// Sessions: made from options, grown by texts, asked for messages.
#include "session/session.h"

#include "base/cpuid.h"
#include "base/environment.h"
#include "base/file.h"
#include "frontend/import.h"
#include "ir/print.h"
#include "session/cluster.h"
#include "session/data_files.h"
#include "session/driver.h"
#include "session/machine.h"
#include "session/object_cache.h"
#include "session/target.h"
#include "targets/target_info.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SETTINGS = 1 << 20 }; // graph parameters

// -- Messages ----------------------------------------------------------------------------------

static leat_handles sessions = LEAT_HANDLES(leat_session);

bool leat_session_is_live(const leat_session *session) {
  return leat_handle_is_live(session, &sessions);
}

bool leat_session_is_made(const leat_session *session) {
  return leat_session_is_live(session) && session->made;
}

leat_error *leat_session_begin(leat_session *session) {
  if (!leat_session_is_made(session)) return NULL;
  session->error.status = LEAT_OK;
  session->error.message[0] = '\0';
  session->message.size = 0;
  leat_session_tell_nothing(session);
  leat_diag_clear(session->diag);
  return &session->error;
}

static leat_status write_message(leat_session *session, leat_status status) {
  leat_diag_print(session->diag, &session->message);
  leat_session_tell(session, status);
  if (status && !leat_diag_errors(session->diag))
    leat_text_add(&session->message, "error: %s\n",
                  session->error.status ? session->error.message : leat_status_name(status));
  return LEAT_OK;
}

// There is always room for so much.
static leat_status say_no_memory(leat_session *session) {
  session->message.size = 0;
  leat_session_tell_no_memory(session);
  leat_text_add(&session->message, "error: %s\n", leat_status_name(LEAT_MEMORY));
  return LEAT_MEMORY;
}

leat_status leat_session_end(leat_session *session, leat_status status) {
  leat_status written;
  if (status == LEAT_MEMORY && !session->error.status) return say_no_memory(session);
  LEAT_RECOVER(written, write_message(session, status));
  return written ? say_no_memory(session) : status;
}

leat_status leat_session_refuse(leat_session *session, const char *says) {
  return leat_session_end(session, leat_fail(&session->error, LEAT_INVALID, "%s", says));
}

const char *leat_session_message(const leat_session *session) {
  if (!leat_session_is_live(session))
    return "error: there is no such session: NULL, or destroyed\n";
  return session->message.size ? session->message.data : "";
}

// -- Creation ----------------------------------------------------------------------------------

static const char *copy_text(leat_session *session, const char *text) {
  return text ? leat_arena_strndup(session->arena, text, strlen(text)) : NULL;
}

static void copy_options(leat_session *session, const leat_session_options *options) {
  leat_session_options *copy = &session->options;
  *copy = *options;
  copy->cluster = copy_text(session, options->cluster);
  copy->target = copy_text(session, options->target ? options->target : "cpu");
  copy->cpu = copy_text(session, options->cpu ? options->cpu : "host");
  copy->cache = copy_text(session, options->cache);
  copy->denormals = copy_text(session, options->denormals ? options->denormals : "zero");
  copy->numerics = copy_text(session, options->numerics ? options->numerics : "fast");
  copy->dump_after = copy_text(session, options->dump_after);
  copy->stop_after = copy_text(session, options->stop_after);
  if (!copy->devices) copy->devices = 1;
}

static leat_status check_options(const leat_session_options *options, leat_error *error) {
  LEAT_TRY(leat_reserved_check(options->reserved, LEAT_RESERVED - 2, error));
  if (options->setting_count < 0 || options->setting_count > MOST_SETTINGS)
    return leat_fail(error, LEAT_INVALID, "%d settings: expected 0 to %d", options->setting_count,
                     MOST_SETTINGS);
  if (options->memory_limit < 0)
    return leat_fail(error, LEAT_INVALID, "a memory limit of %d MiB", options->memory_limit);
  for (int i = 0; i < options->setting_count; i++)
    if (!options->settings || !options->settings[i].name || !options->settings[i].value)
      return leat_fail(error, LEAT_INVALID, "setting %d is NULL", i);
  return LEAT_OK;
}

static leat_status choose_cpu(leat_session *session, leat_error *error) {
  leat_cpu_level level = leat_cpu_host_level();
  if (!leat_cpu_level_parse(session->options.cpu, &level))
    return leat_fail(error, LEAT_INVALID, "unknown cpu `%s`; there are host, %s",
                     session->options.cpu, leat_cpu_level_names());
  session->cpu = leat_cpu_level_name(level);
  session->target = leat_target_info_find(leat_machine_here(), level);
  return LEAT_OK;
}

static leat_status choose_denormals(leat_session *session, leat_error *error) {
  const char *wanted = session->options.denormals;
  session->keep_denormals = strcmp(wanted, "keep") == 0;
  if (session->keep_denormals || strcmp(wanted, "zero") == 0) return LEAT_OK;
  return leat_fail(error, LEAT_INVALID, "unknown denormals `%s`; there are zero, keep", wanted);
}

static leat_status choose_numerics(leat_session *session, leat_error *error) {
  const char *wanted = session->options.numerics;
  session->strict = strcmp(wanted, "strict") == 0;
  if (session->strict || strcmp(wanted, "fast") == 0) return LEAT_OK;
  return leat_fail(error, LEAT_INVALID, "unknown numerics `%s`; there are fast, strict", wanted);
}

static bool is_interrupted(void *runtime) {
  return leat_runtime_is_interrupted(runtime);
}

static void create_frontend(leat_session *session) {
  const leat_session_options *options = &session->options;
  size_t count = (size_t)options->setting_count;
  const char **names = leat_new_array(session->arena, const char *, count);
  const char **values = leat_new_array(session->arena, const char *, count);
  for (size_t i = 0; i < count; i++) {
    names[i] = copy_text(session, options->settings[i].name);
    values[i] = copy_text(session, options->settings[i].value);
  }
  const char *own = options->path ? options->path : "", *shared = leat_environment("LEAT_PATH");
  const char *path = leat_arena_printf(session->arena, "%s:%s", own, shared ? shared : "");
  leat_frontend_options frontend = {.path = path,
                                    .setting_names = names,
                                    .setting_values = values,
                                    .setting_count = options->setting_count,
                                    .jobs = session->devices.jobs.items,
                                    .job_count = (int)session->devices.jobs.count,
                                    .memory_limit = session->memory_limit,
                                    .is_interrupted = is_interrupted,
                                    .context = session->runtime};
  session->frontend =
      leat_frontend_create(session->arena, session->strings, session->diag, &frontend);
}

// Takes the transport over.
static leat_status create_runtime(leat_session *session, leat_transport *transport,
                                  leat_error *error) {
  const leat_session_options *options = &session->options;
  leat_runtime_options runtime = {.threads = options->threads,
                                  .deadline = transport ? options->deadline : 0,
                                  .limit = transport ? 0 : options->deadline,
                                  .memory_limit = session->memory_limit,
                                  .trace = options->trace,
                                  .transport = transport,
                                  .print = options->print,
                                  .print_context = options->print_context};
  leat_status status = leat_runtime_create(&runtime, &session->runtime, error);
  if (status && transport) transport->backend->close(transport);
  return status;
}

static leat_status create_devices(leat_session *session, leat_transport *transport,
                                  leat_error *error) {
  const leat_session_options *options = &session->options;
  leat_devices_spec devices = {.per_process = options->devices,
                               .target = options->target,
                               .rank = transport ? transport->rank : 0};
  LEAT_TRY(create_runtime(session, transport, error));
  LEAT_TRY(leat_devices_init(&session->devices, session->arena, session->strings, &devices, error));
  return transport ? leat_cluster_init(session, transport) : LEAT_OK;
}

// A cache that cannot be trusted is gone without; in a cluster the client alone says so.
static leat_status open_cache(leat_session *session, leat_error *error) {
  leat_error reason = {0};
  leat_status status = leat_object_cache_open(session->options.cache, &session->cache, &reason);
  if (status == LEAT_INVALID && leat_session_is_client(session))
    leat_warn_at(session->diag, (leat_span){0}, "%s", reason.message);
  if (!status || status == LEAT_INVALID) return LEAT_OK;
  return leat_fail(error, status, "%s", reason.message);
}

// In a cluster the client alone says so.
static void check_target(leat_session *session) {
  leat_error lack = {0};
  if (leat_target_lacks(session->options.target, &lack) && leat_session_is_client(session))
    leat_warn_at(session->diag, (leat_span){0}, "%s", lack.message);
}

static leat_status create(leat_session *session, leat_transport *transport, leat_error *error) {
  const leat_session_options *options = &session->options;
  LEAT_TRY(check_options(options, error));
  LEAT_TRY(leat_stages_check(options->dump_after, error));
  LEAT_TRY(leat_stage_check(options->stop_after, error));
  LEAT_TRY(choose_cpu(session, error));
  session->memory_limit = (uint64_t)session->options.memory_limit << 20;
  LEAT_TRY(choose_denormals(session, error));
  LEAT_TRY(choose_numerics(session, error));
  LEAT_TRY(leat_devices_read_cluster(&session->devices, session->arena, session->strings,
                                     options->cluster, error));
  if (session->devices.size > 1 && options->deadline == 0) session->options.deadline = 60;
  if (!transport && session->devices.size > 1)
    LEAT_TRY(leat_cluster_join(session, &transport, error));
  LEAT_TRY(create_devices(session, transport, error));
  LEAT_TRY(open_cache(session, error));
  check_target(session);
  create_frontend(session);
  session->made = true;
  return LEAT_OK;
}

static leat_status set_dumps(leat_session *session, const char *dump_after,
                             const char *stop_after) {
  LEAT_TRY(leat_stages_check(dump_after, &session->error));
  LEAT_TRY(leat_stage_check(stop_after, &session->error));
  dump_after = copy_text(session, dump_after);
  session->options.stop_after = copy_text(session, stop_after);
  session->options.dump_after = dump_after;
  return LEAT_OK;
}

leat_status leat_session_set_dumps(leat_session *session, const char *dump_after,
                                   const char *stop_after) {
  leat_status status;
  if (!leat_session_begin(session)) return LEAT_INVALID;
  LEAT_RECOVER(status, set_dumps(session, dump_after, stop_after));
  return leat_session_end(session, status);
}

leat_status leat_session_set_deadline(leat_session *session, double seconds) {
  if (!leat_session_begin(session)) return LEAT_INVALID;
  return leat_session_end(session,
                          leat_runtime_set_limit(session->runtime, seconds, &session->error));
}

static leat_status init(leat_session *session, const leat_session_options *options) {
  session->strings = leat_strings_create(session->arena);
  session->diag = leat_diag_create(session->arena);
  session->counts.arena = session->arena;
  leat_map_init(&session->restored, session->arena);
  leat_map_init(&session->known, session->arena);
  leat_map_init(&session->held, session->arena);
  copy_options(session, options);
  return LEAT_OK;
}

// A session without anything in it, which can at least say what is wrong; NULL: no memory for it.
static leat_session *create_empty(const leat_session_options *options) {
  enum { SHORTEST_MESSAGE = 64 };
  leat_session *session = leat_handle_create(&sessions);
  if (!session) return NULL;
  leat_status status = LEAT_MEMORY;
  session->arena = leat_arena_try_create();
  session->told = leat_arena_try_create();
  if (session->arena && session->told && leat_text_reserve(&session->message, SHORTEST_MESSAGE))
    LEAT_RECOVER(status, init(session, options));
  if (!status) return session;
  leat_session_destroy(session);
  return NULL;
}

leat_status leat_session_create_on(const leat_session_options *options, leat_transport *transport,
                                   leat_session **out) {
  static const leat_session_options none = {0};
  if (!out) return LEAT_INVALID;
  leat_session_extend_data_files();
  leat_session *session = *out = create_empty(options ? options : &none);
  if (!session) return LEAT_MEMORY;
  if (!options) return leat_session_refuse(session, "the options are NULL");
  leat_status status;
  LEAT_RECOVER(status, create(session, transport, &session->error));
  return leat_session_end(session, status);
}

leat_status leat_session_create(const leat_session_options *options, leat_session **out) {
  return leat_session_create_on(options, NULL, out);
}

// Where the transport has failed the others know; they must not wait for what could not be said.
static void shut_down(leat_session *session) {
  leat_status told;
  LEAT_RECOVER(told, leat_remote_shutdown(session));
  leat_transport *transport = session->cluster->transport;
  if (told == LEAT_MEMORY)
    transport->backend->abort(transport, "the client had no memory to end the session");
}

void leat_session_destroy(leat_session *session) {
  if (!leat_session_is_live(session)) return;
  while (session->steps_made) leat_step_destroy(session->steps_made);
  leat_session_forget_waiting(session);
  leat_session_forget_held(session);
  if (session->cluster && leat_session_is_client(session)) shut_down(session);
  leat_runtime_destroy(session->runtime);
  leat_devices_finish(&session->devices);
  leat_object_cache_close(session->cache);
  leat_text_finish(&session->message);
  leat_arena_destroy(session->told);
  leat_arena_destroy(session->arena);
  leat_handle_destroy(session);
}

void leat_session_interrupt(leat_session *session, bool on) {
  if (leat_session_is_made(session)) leat_runtime_interrupt(session->runtime, on);
}

leat_status leat_session_check_cpu(leat_session *session) {
  leat_cpu_level level = LEAT_CPU_BASELINE;
  leat_cpu_level_parse(session->cpu, &level);
  if (level <= leat_cpu_host_level()) return LEAT_OK;
  return leat_fail(&session->error, LEAT_UNSUPPORTED, "this machine cannot run code for `%s`",
                   session->cpu);
}

// -- Texts -------------------------------------------------------------------------------------

// What is typed in a REPL is right or refused.
static leat_status evaluate(leat_session *session, const char *text, size_t size, const char *name,
                            bool typed) {
  double start = leat_seconds();
  unsigned flags = (session->options.interactive ? LEAT_EXTEND_INTERACTIVE : 0) |
                   (typed ? 0 : LEAT_EXTEND_LEAVES_OUT);
  session->last = leat_frontend_extend(session->frontend, name, text, size, flags);
  leat_session_time(session, "frontend", start);
  if (session->last) return LEAT_OK;
  return leat_runtime_is_interrupted(session->runtime) ? LEAT_ABORTED : LEAT_INVALID;
}

// Ends the call. A text that is refused leaves nothing behind: the graph, and all that is known of
// it, lives in the arena, and is small before the texts that are large.
// Nodes of a model file for which entries are refused as a whole; false: none is new.
static bool note_refused(const leat_session *session, leat_text *refused) {
  const leat_withheld *errors;
  size_t known = refused->size;
  for (uint32_t i = 0; (errors = leat_frontend_whole(session->frontend, i)); i++)
    leat_withheld_nodes(session->diag, errors, refused);
  return refused->size > known;
}

// refused: of a model file, takes such nodes; where some are new the text is taken back, for
// another without them. NULL: a text is what it is.
static leat_status extend(leat_session *session, const char *text, size_t size, const char *name,
                          bool typed, leat_text *refused, bool *out_again) {
  leat_arena_copy *before = leat_arena_copy_create(session->arena);
  if (!before) return leat_session_end(session, LEAT_MEMORY);
  leat_status status;
  leat_float_mode mode = leat_float_mode_begin(true); // numbers of a text are what it says
  LEAT_RECOVER(status, evaluate(session, text, size, name, typed));
  leat_float_mode_end(mode);
  *out_again = refused && status != LEAT_MEMORY && note_refused(session, refused);
  if (*out_again)
    leat_diag_clear(session->diag);
  else
    status = leat_session_end(session, status);
  if (status || *out_again) {
    leat_arena_copy_put_back(before); // the message is made
    session->last = NULL;
  }
  leat_arena_copy_destroy(before);
  return status;
}

leat_status leat_session_extend(leat_session *session, const char *text, size_t size,
                                const char *name) {
  if (!leat_session_begin(session)) return LEAT_INVALID;
  if (!text) return leat_session_refuse(session, "`text` is NULL");
  if (!name) return leat_session_refuse(session, "`name` is NULL");
  if (!size) size = strlen(text);
  if (size > LEAT_LARGEST_SOURCE) return leat_session_refuse(session, "the text is too large");
  bool again;
  return extend(session, text, size, name, session->options.interactive, NULL, &again);
}

static leat_status check_definitions(leat_session *session) {
  bool fine = leat_frontend_check_definitions(session->frontend);
  return fine ? LEAT_OK : LEAT_INVALID;
}

leat_status leat_session_check_definitions(leat_session *session) {
  leat_status status;
  if (!leat_session_begin(session)) return LEAT_INVALID;
  LEAT_RECOVER(status, check_definitions(session));
  return leat_session_end(session, status);
}

// -- Files ----------------------------------------------------------------------------------------

static leat_status keep_left_out(leat_session *session, const leat_text *pairs) {
  size_t size = pairs->size;
  session->left_out =
      (leat_bytes){size ? leat_arena_memdup(session->arena, pairs->data, size) : NULL, size};
  return LEAT_OK;
}

static leat_status extend_once(leat_session *session, const char *path, const leat_file_view *view,
                               leat_text *refused, bool last, bool *out_again) {
  char *text;
  leat_text left_out = {0};
  const leat_import_options options = {.data = leat_path_last(path),
                                       .says_nodes = true,
                                       .refused = {refused->data, refused->size},
                                       .left_out = &left_out};
  *out_again = false;
  leat_status status = leat_import_text(path, (leat_bytes){view->data, view->size}, &options,
                                        session->diag, &text, &session->error);
  if (!status) status = leat_file_view_check(view, path, &session->error);
  const char *data = text ? text : (const char *)view->data;
  size_t size = text ? strlen(text) : view->size;
  if (!status && size > LEAT_LARGEST_SOURCE)
    status = leat_fail(&session->error, LEAT_INVALID, "'%s' has more than %d bytes", path,
                       LEAT_LARGEST_SOURCE);
  leat_diag_set_imported(session->diag, text != NULL);
  status =
      status ? leat_session_end(session, status)
             : extend(session, data, size, path, false, text && !last ? refused : NULL, out_again);
  leat_diag_set_imported(session->diag, false);
  if (!status && text) {
    LEAT_RECOVER(status, keep_left_out(session, &left_out));
    if (status) status = leat_session_end(session, status);
  }
  leat_text_finish(&left_out);
  free(text);
  return status;
}

// One bad node of a model file refuses what needs it and nothing else: where an effect has an error
// only the importer knows who needs it, so it is told which nodes have some.
static leat_status extend_bytes(leat_session *session, const char *path,
                                const leat_file_view *view) {
  enum { MOST_TEXTS = 20 };
  leat_text refused = {0};
  leat_status status = LEAT_OK;
  bool again = true;
  for (uint32_t i = 0; again && i < MOST_TEXTS; i++)
    status = extend_once(session, path, view, &refused, i + 1 == MOST_TEXTS, &again);
  leat_text_finish(&refused);
  return status;
}

static leat_status note_folder(leat_session *session, const char *path) {
  const char *slash = strrchr(path, '/');
  size_t length = slash ? (size_t)(slash + 1 - path) : 0;
  if (!session->folder) session->folder = leat_arena_strndup(session->arena, path, length);
  return LEAT_OK;
}

leat_status leat_session_extend_file(leat_session *session, const char *path) {
  leat_error *error = leat_session_begin(session);
  if (!error) return LEAT_INVALID;
  if (!path) return leat_session_refuse(session, "`path` is NULL");
  leat_file_view view = {0};
  leat_status status;
  LEAT_RECOVER(status, note_folder(session, path));
  if (!status) status = leat_file_view_map(&view, path, error);
  status = status ? leat_session_end(session, status) : extend_bytes(session, path, &view);
  leat_file_view_close(&view);
  return status;
}

// -- A cluster -----------------------------------------------------------------------------------

bool leat_session_is_client(const leat_session *session) {
  return leat_session_is_live(session) && session->devices.rank == session->devices.client_rank;
}

// Ends the call with the text that `write` makes.
static leat_status give_text(leat_session *session, char **out,
                             leat_status (*write)(leat_session *session, leat_text *text)) {
  if (!leat_session_begin(session)) return LEAT_INVALID;
  if (!out) return leat_session_refuse(session, "`out` is NULL");
  leat_text text = {0};
  leat_status status = leat_text_reserve(&text, 1) ? LEAT_OK : LEAT_MEMORY;
  if (!status) LEAT_RECOVER(status, write(session, &text));
  status = leat_session_end(session, status);
  if (!status) leat_text_add(&text, "%s", "");
  *out = status ? NULL : leat_text_take(&text);
  leat_text_finish(&text);
  return status;
}

static leat_status write_names(leat_session *session, leat_text *text) {
  leat_frontend_show_names(session->frontend, text);
  return LEAT_OK;
}

leat_status leat_session_show_names(leat_session *session, char **out) {
  return give_text(session, out, write_names);
}

static leat_status write_traffic(leat_session *session, leat_text *text) {
  return session->cluster ? leat_remote_traffic(session, text) : LEAT_OK;
}

leat_status leat_session_traffic(leat_session *session, char **out) {
  return give_text(session, out, write_traffic);
}

// -- Looking at the graph ----------------------------------------------------------------------

// Those with errors are the last: to prepare one says what they are.
static const leat_broken_entry *broken_entry(const leat_session *session, int i) {
  uint32_t right = leat_frontend_graph(session->frontend)->entries.count;
  return (uint32_t)i < right ? NULL : leat_frontend_broken(session->frontend, (uint32_t)i - right);
}

int leat_session_entry_count(const leat_session *session) {
  if (!leat_session_is_made(session)) return 0;
  const leat_graph *graph = leat_frontend_graph(session->frontend);
  return (int)(graph->entries.count + leat_frontend_broken_count(session->frontend));
}

// Whether there is a number i of so many.
static bool has(int i, int count) {
  return i >= 0 && i < count;
}

const char *leat_session_entry(const leat_session *session, int i) {
  if (!has(i, leat_session_entry_count(session))) return NULL;
  const leat_broken_entry *broken = broken_entry(session, i);
  return broken ? broken->name : leat_frontend_graph(session->frontend)->entries.items[i]->name;
}

bool leat_session_entry_trains(const leat_session *session, int i) {
  if (!has(i, leat_session_entry_count(session))) return false;
  const leat_broken_entry *broken = broken_entry(session, i);
  return broken ? broken->training
                : leat_frontend_graph(session->frontend)->entries.items[i]->training;
}

static const leat_entry *entry_of(const leat_session *session, const char *name) {
  return name ? leat_graph_find_entry(leat_frontend_graph(session->frontend), name) : NULL;
}

static leat_status tell_names(leat_session *session, leat_name_kind kind, const char *of,
                              leat_name_taker *take, void *context) {
  switch (kind) {
  case LEAT_NAMES: leat_frontend_names(session->frontend, take, context); break;
  case LEAT_PATHS: leat_frontend_paths(session->frontend, take, context); break;
  case LEAT_FETCHES:
    leat_frontend_fetches(session->frontend, entry_of(session, of), take, context);
    break;
  case LEAT_PARAMETERS: leat_frontend_parameters(session->frontend, of, take, context); break;
  case LEAT_STAGES:
    for (uint32_t i = 0; leat_stage_name(i); i++) take(context, leat_stage_name(i));
    break;
  }
  return LEAT_OK;
}

void leat_session_names(leat_session *session, leat_name_kind kind, const char *of,
                        void (*take)(void *context, const char *name), void *context) {
  leat_status status;
  if (!leat_session_is_made(session) || !take || (kind == LEAT_PARAMETERS && !of)) return;
  LEAT_RECOVER(status, tell_names(session, kind, of, take, context));
  (void)status; // fewer names
}

static leat_status describe(const leat_session *session, const char *name, char **out) {
  leat_text text = {0};
  bool found = leat_frontend_describe(session->frontend, name, &text);
  *out = found ? leat_text_take(&text) : NULL;
  leat_text_finish(&text);
  return LEAT_OK;
}

char *leat_session_describe(const leat_session *session, const char *name) {
  char *text = NULL;
  leat_status status;
  if (!leat_session_is_made(session) || !name) return NULL;
  LEAT_RECOVER(status, describe(session, name, &text));
  return status ? NULL : text;
}

static leat_status describe_own(const char *name, char **out) {
  leat_text text = {0};
  *out = leat_describe_own(name, &text) ? leat_text_take(&text) : NULL;
  leat_text_finish(&text);
  return LEAT_OK;
}

char *leat_describe(const char *name) {
  char *text = NULL;
  leat_status status;
  if (!name) return NULL;
  LEAT_RECOVER(status, describe_own(name, &text));
  return status ? NULL : text;
}

static leat_status write_graph(leat_session *session, leat_text *text) {
  leat_graph_print(leat_frontend_graph(session->frontend), text);
  return LEAT_OK;
}

leat_status leat_session_print(leat_session *session, char **out) {
  return give_text(session, out, write_graph);
}

static leat_status write_trace(leat_session *session, leat_text *text) {
  leat_runtime_trace(session->runtime, text);
  return LEAT_OK;
}

leat_status leat_session_trace(leat_session *session, char **out) {
  return give_text(session, out, write_trace);
}
