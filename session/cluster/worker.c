// A worker: compiles the parts that the master sends, runs them when asked, until it is told to
// stop.
#include "session/cluster.h"

#include "base/file.h"
#include "ir/verify.h"
#include "runtime/stopping.h"

#include <stdlib.h>
#include <string.h>

static const double LISTENING = 0.1; // seconds: no longer does it take to notice a signal

// A registered step's parts on this process.
typedef struct worker_step {
  leat_arena *arena;
  uint64_t number;
  leat_graph_hash hash;
  leat_loaded_step loaded;
} worker_step;

typedef struct worker {
  leat_session *session;
  leat_vec(worker_step *) steps;
  bool stop;
  bool told; // the master, of a signal
} worker;

static leat_status malformed(worker *w) {
  return leat_fail(&w->session->error, LEAT_MISMATCH,
                   "the master sent a message that makes no sense");
}

// -- Registering ---------------------------------------------------------------------------------

// The text of a part becomes a graph again, with a frontend of its own.
static leat_status parse_part(worker *w, leat_arena *arena, const char *device, const char *text,
                              size_t size, leat_graph **out) {
  leat_session *session = w->session;
  leat_frontend_options options = {0};
  leat_frontend *frontend =
      leat_frontend_create(arena, leat_strings_create(arena), session->diag, &options);
  if (!leat_frontend_extend(frontend, device, text, size, false)) {
    leat_text words = {0};
    leat_diag_print(session->diag, &words);
    leat_fail(&session->error, LEAT_INVALID, "the part for %s cannot be read: %s", device,
              words.data ? words.data : "");
    leat_text_finish(&words);
    return LEAT_INVALID;
  }
  *out = leat_frontend_graph(frontend);
  if ((*out)->device && !strcmp((*out)->device, device)) return LEAT_OK;
  return leat_fail(&session->error, LEAT_MISMATCH, "the part for %s is for another device", device);
}

// The hash that stands in the message must be the step's.
static leat_status check_hash(worker *w, const worker_step *step, leat_wire *in) {
  leat_graph_hash sent;
  sent.words[0] = leat_wire_get(in);
  sent.words[1] = leat_wire_get(in);
  if (in->bad || !step) return malformed(w);
  if (leat_graph_hash_equal(&sent, &step->hash)) return LEAT_OK;
  return leat_fail(&w->session->error, LEAT_MISMATCH,
                   "the graph's hash differs from the master's: another version of Leat, another "
                   "cluster, or a text that was changed on its way");
}

static leat_status check_file(worker *w, const char *path, uint64_t size, const uint64_t hash[2]) {
  leat_file_view view;
  LEAT_TRY(leat_file_view_map(&view, path, &w->session->error));
  uint64_t mine[2];
  leat_file_hash(view.data, view.size, mine);
  bool same = view.size == size && mine[0] == hash[0] && mine[1] == hash[1];
  leat_file_view_close(&view);
  if (same) return LEAT_OK;
  return leat_fail(&w->session->error, LEAT_MISMATCH, "`%s` differs from the client's", path);
}

static leat_status check_files(worker *w, leat_wire *in) {
  uint64_t count = leat_wire_get(in);
  for (uint64_t i = 0; i < count && !in->bad; i++) {
    const char *path = leat_wire_get_string(in);
    uint64_t size = leat_wire_get(in), hash[2];
    hash[0] = leat_wire_get(in);
    hash[1] = leat_wire_get(in);
    LEAT_TRY(in->bad ? malformed(w) : check_file(w, path, size, hash));
  }
  return in->bad ? malformed(w) : LEAT_OK;
}

// A part may come from elsewhere, and no pass have seen it.
static leat_status check_part(worker *w, const leat_driver *driver, const leat_graph *part) {
  const leat_pass_info *last = &leat_passes[leat_pass_count - 1];
  leat_phase phase = leat_pass_leaves(&driver->context, last, part);
  leat_error broken = {0};
  if (!leat_verify_phase(part, phase, phase, &broken)) return LEAT_OK;
  return leat_fail(&w->session->error, LEAT_INVALID,
                   "the part for %s is not as passes leave it: %s", part->device, broken.message);
}

// The passes have run at the master: what is left is codegen and the targets.
static leat_status compile_parts(worker *w, worker_step *step, leat_driver *driver) {
  for (uint32_t i = 0; i < driver->context.parts.count; i++)
    LEAT_TRY(check_part(w, driver, driver->context.parts.items[i]));
  leat_step_code code = {.arena = step->arena};
  driver->next = leat_pass_count;
  LEAT_TRY(leat_step_compile(driver, &code));
  return leat_loaded_step_start(w->session, step->arena, &code, &step->loaded);
}

static leat_status read_parts(worker *w, worker_step *step, leat_wire *in, leat_driver *driver) {
  uint64_t count = leat_wire_get(in);
  for (uint64_t i = 0; i < count; i++) {
    const char *device = leat_wire_get_string(in);
    size_t size;
    const char *text = leat_wire_get_bytes(in, &size);
    leat_graph *graph = NULL;
    LEAT_TRY(in->bad ? malformed(w) : parse_part(w, step->arena, device, text, size, &graph));
    leat_vec_push(step->arena, &driver->context.parts, graph);
  }
  return check_files(w, in);
}

// The hash is checked before anything is made of the texts.
static leat_status read_registration(worker *w, worker_step *step, leat_wire *in,
                                     leat_driver *driver) {
  step->number = leat_wire_get(in);
  leat_wire said = *in;
  leat_wire_get(in);
  leat_wire_get(in);
  step->hash = leat_graph_hash_begin(LEAT_VERSION, w->session->options.cluster);
  leat_graph_hash_add(&step->hash, in->at, (size_t)(in->end - in->at));
  LEAT_TRY(check_hash(w, step, &said));
  return read_parts(w, step, in, driver);
}

static void destroy_step(void *registered) {
  worker_step *step = registered;
  leat_loaded_step_finish(&step->loaded);
  leat_arena_destroy(step->arena);
}

static void put_variables(const worker_step *step, leat_text *reply) {
  leat_text names = {0};
  uint64_t count = 0;
  for (uint32_t p = 0; p < step->loaded.programs.count; p++) {
    const leat_program *program = step->loaded.programs.items[p];
    const leat_image *image = leat_program_image(program);
    const leat_image_variable *variables =
        (const void *)((const char *)image + image->variables.offset);
    for (uint64_t i = 0; i < image->variables.count; i++, count++)
      leat_wire_put_string(&names, leat_program_text(program, variables[i].origin.name));
  }
  leat_wire_put(reply, count);
  if (names.size) leat_text_add_n(reply, names.data, names.size);
  leat_text_finish(&names);
}

static leat_status register_step(worker *w, leat_wire *in, leat_text *reply) {
  leat_cleanup cleanup;
  leat_vec_reserve(w->session->arena, &w->steps, w->steps.count + 1u);
  leat_vec_reserve(w->session->arena, &w->session->cluster->steps,
                   w->session->cluster->steps.count + 1u);
  leat_arena *arena = leat_arena_create();
  worker_step *step = leat_new(arena, worker_step);
  step->arena = arena;
  leat_cleanup_hold(&cleanup, destroy_step, step);
  leat_driver driver;
  leat_driver_init(&driver, w->session, arena, NULL);
  leat_status status = read_registration(w, step, in, &driver);
  if (!status) status = compile_parts(w, step, &driver);
  leat_driver_finish(&driver);
  if (!status) put_variables(step, reply);
  if (status) {
    leat_cleanup_run(&cleanup);
    return status;
  }
  leat_let_go(&cleanup.held);
  leat_vec_push(w->session->arena, &w->steps, step);
  leat_vec_push(w->session->arena, &w->session->cluster->steps, &step->loaded);
  return LEAT_OK;
}

// -- Running -------------------------------------------------------------------------------------

static worker_step *find_step(const worker *w, uint64_t number) {
  for (uint32_t i = 0; i < w->steps.count; i++)
    if (w->steps.items[i] && w->steps.items[i]->number == number) return w->steps.items[i];
  return NULL;
}

static void take_dims(leat_wire *in, const leat_executor *executor, int64_t *dims) {
  size_t known = leat_executor_dim_count(executor);
  for (size_t d = 0; d < known; d++) dims[d] = -1;
  uint64_t count = leat_wire_get(in);
  for (uint64_t i = 0; i < count && !in->bad; i++) {
    const char *name = leat_wire_get_string(in);
    int64_t value = (int64_t)leat_wire_get(in);
    for (size_t d = 0; d < known; d++)
      if (!strcmp(leat_executor_dim(executor, d), name)) dims[d] = value;
  }
}

static leat_status execute(worker *w, worker_step *step, leat_wire *in, leat_run_request *request) {
  const leat_executor *executor = step->loaded.executor;
  if (!executor) return malformed(w);
  size_t known = leat_executor_dim_count(executor);
  int64_t *dims = calloc(known + 1, sizeof *dims);
  if (!dims) return LEAT_MEMORY;
  take_dims(in, executor, dims);
  if (known) request->dims = dims;
  leat_status status = in->bad
                           ? malformed(w)
                           : leat_run_execute(step->loaded.run, request, NULL, &w->session->error);
  free(dims);
  return status;
}

// A request that is refused ends the run everywhere: the others wait for this process's part.
static leat_status run_step(worker *w, leat_wire *in) {
  worker_step *step = find_step(w, leat_wire_get(in));
  leat_status status = check_hash(w, step, in);
  leat_run_request request = {.step = leat_wire_get(in)};
  request.run_count = (int64_t)leat_wire_get(in);
  bool refused = status;
  if (!refused) LEAT_RECOVER(status, execute(w, step, in, &request));
  if (refused || status == LEAT_MEMORY)
    leat_runtime_abort(w->session->runtime, LEAT_CLUSTER_RUNS, request.step, status,
                       refused ? w->session->error.message : leat_status_name(status));
  return status;
}

static void drop_step(worker *w, uint64_t number) {
  for (uint32_t i = 0; i < w->steps.count; i++) {
    worker_step *step = w->steps.items[i];
    if (step->number != number) continue;
    w->steps.items[i] = w->steps.items[--w->steps.count];
    leat_cluster_forget(w->session, &step->loaded);
    destroy_step(step);
    return;
  }
}

// -- Variables ---------------------------------------------------------------------------------

// The store that has declared the variable. NULL: there is none.
static leat_store *take_variable(worker *w, leat_wire *in, const char **name,
                                 const char **container, leat_variable_info *out) {
  leat_session *session = w->session;
  *name = leat_wire_get_string(in);
  *container = leat_wire_get_string(in);
  for (uint32_t i = 0; i < session->devices.items.count; i++) {
    leat_store *store = session->devices.items.items[i].store;
    leat_error none = {0};
    leat_status found =
        store ? leat_store_find(store, *container, *name, out, &none) : LEAT_NOT_FOUND;
    if (found == LEAT_MEMORY) leat_out_of_memory();
    if (!found) return store;
  }
  leat_fail(&session->error, LEAT_NOT_FOUND, "there is no variable `%s` here", *name);
  return NULL;
}

static leat_status read_variable(worker *w, leat_wire *in, leat_text *reply) {
  const char *name, *container;
  leat_variable_info info;
  leat_tensor value = {0};
  leat_store *store = take_variable(w, in, &name, &container, &info);
  leat_status status = store ? LEAT_OK : LEAT_NOT_FOUND;
  if (store && info.initialised)
    status = leat_store_read(store, container, name, &value, &w->session->error);
  leat_cleanup cleanup;
  leat_cleanup_hold(&cleanup, free, value.data);
  if (!status) leat_wire_put(reply, info.initialised);
  if (!status && info.initialised) leat_wire_put_tensor(reply, &value);
  leat_cleanup_run(&cleanup);
  return status;
}

static leat_status write_variable(worker *w, leat_wire *in) {
  const char *name, *container;
  leat_variable_info info;
  leat_tensor value;
  leat_store *store = take_variable(w, in, &name, &container, &info);
  leat_status status = store ? LEAT_OK : LEAT_NOT_FOUND;
  if (!leat_wire_get_tensor(in, &value)) status = malformed(w);
  if (!status) status = leat_store_write(store, container, name, &value, &w->session->error);
  free(value.data);
  return status;
}

// -- The loop ------------------------------------------------------------------------------------

static leat_status reply(worker *w, int peer, uint64_t ticket, leat_status status,
                         const leat_text *body) {
  leat_session *session = w->session;
  leat_text message = {0};
  leat_wire_put(&message, status);
  const char *words = session->error.message[0] ? session->error.message : leat_status_name(status);
  leat_wire_put_string(&message, status ? words : "");
  if (body->size) leat_text_add_n(&message, body->data, body->size);
  leat_status sent = leat_message_send(session, peer, LEAT_MESSAGE_REPLY, ticket, &message);
  leat_text_finish(&message);
  return sent;
}

// What is asked with a message of this kind, and the body of the answer.
static leat_status obey(worker *w, leat_message_kind kind, leat_wire *in, leat_text *body) {
  leat_text traffic = {0};
  switch (kind) {
  case LEAT_MESSAGE_REGISTER: return register_step(w, in, body);
  case LEAT_MESSAGE_RUN: return run_step(w, in);
  case LEAT_MESSAGE_READ: return read_variable(w, in, body);
  case LEAT_MESSAGE_WRITE: return write_variable(w, in);
  case LEAT_MESSAGE_TRAFFIC:
    leat_cluster_traffic(w->session, &traffic);
    leat_wire_put_bytes(body, traffic.data ? traffic.data : "", traffic.size);
    leat_text_finish(&traffic);
    return LEAT_OK;
  case LEAT_MESSAGE_DROP: drop_step(w, leat_wire_get(in)); return LEAT_OK;
  case LEAT_MESSAGE_SHUTDOWN: w->stop = true; return LEAT_OK;
  case LEAT_MESSAGE_STOP:
  case LEAT_MESSAGE_REPLY: return malformed(w);
  default: return malformed(w);
  }
}

// A run needs none: where it cannot begin, run_step tells the others, who wait for its part.
static bool has_body(leat_message_kind kind) {
  return kind == LEAT_MESSAGE_REGISTER || kind == LEAT_MESSAGE_READ || kind == LEAT_MESSAGE_TRAFFIC;
}

static leat_status handle(worker *w, const leat_message *message) {
  leat_wire in = {message->data, message->data + message->size, false};
  leat_text body = {0};
  leat_session_begin(w->session);
  leat_message_kind kind = (leat_message_kind)leat_wire_get(&in);
  uint64_t ticket = leat_wire_get(&in);
  leat_status status = LEAT_OK, sent = LEAT_OK;
  if (has_body(kind) && !leat_text_reserve(&body, 1)) status = LEAT_MEMORY; // it is ours
  if (!status) LEAT_RECOVER(status, obey(w, kind, &in, &body));
  if (kind != LEAT_MESSAGE_DROP && kind != LEAT_MESSAGE_SHUTDOWN)
    LEAT_RECOVER(sent, reply(w, message->peer, ticket, status, &body));
  leat_text_finish(&body);
  return sent;
}

// One message, or none in a while: the transport notices a master that is gone.
static leat_status serve(worker *w) {
  leat_session *session = w->session;
  leat_message message = {0};
  leat_error why = {0};
  leat_runtime_interrupt(session->runtime, false); // what a signal has broken off has ended
  if (leat_stopped && !w->told) {
    w->told = true;
    LEAT_TRY(leat_message_send(session, session->devices.client_rank, LEAT_MESSAGE_STOP, 0, NULL));
  }
  leat_status status = leat_runtime_receive(session->runtime, LISTENING, &message, &why);
  if (status == LEAT_DEADLINE || leat_runtime_is_interrupted(session->runtime)) return LEAT_OK;
  if (status) return leat_fail(&session->error, status, "%s", why.message);
  status = handle(w, &message);
  free(message.data);
  return status;
}

leat_status leat_session_serve(leat_session *session) {
  if (!leat_session_begin(session)) return LEAT_INVALID;
  if (!session->cluster || leat_session_is_client(session))
    return leat_session_end(session, leat_fail(&session->error, LEAT_INVALID,
                                               "this process is the client: it does not serve"));
  worker w = {.session = session};
  leat_status status = LEAT_OK;
  while (!status && !w.stop) status = serve(&w);
  for (uint32_t i = 0; i < w.steps.count; i++) destroy_step(w.steps.items[i]);
  session->cluster->steps.count = 0;
  return leat_session_end(session, status);
}
