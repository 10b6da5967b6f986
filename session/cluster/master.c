// The master's side of a cluster: parts go out as text, runs as one request a rank.
#include "session/cluster.h"

#include "base/file.h"
#include "ir/print.h"
#include "runtime/stopping.h"

#include <stdlib.h>

#define COMPILE_DEADLINE 600.0 // seconds a worker may take to compile its part

// -- Asking ------------------------------------------------------------------------------------

static void free_message(void *message) {
  free(((leat_message *)message)->data);
}

// The next reply to `ticket`, of any rank; `body` reads what stands behind status and message.
// message->data stays NULL when none came.
static leat_status receive(leat_session *session, uint64_t ticket, double seconds,
                           leat_message *message, leat_wire *body) {
  for (;;) {
    LEAT_TRY(leat_runtime_receive(session->runtime, seconds, message, &session->error));
    *body = (leat_wire){message->data, message->data + message->size, false};
    uint64_t kind = leat_wire_get(body), answered = leat_wire_get(body);
    if (kind == LEAT_MESSAGE_STOP) leat_stopped = SIGTERM;
    if (body->bad || (kind != LEAT_MESSAGE_REPLY && kind != LEAT_MESSAGE_STOP))
      return leat_fail(&session->error, LEAT_MISMATCH, "rank %d sent a message that is no reply",
                       message->peer);
    if (kind == LEAT_MESSAGE_REPLY && answered == ticket) break;
    free(message->data);
    *message = (leat_message){0};
  }
  uint64_t status = leat_wire_get(body);
  const char *text = leat_wire_get_string(body);
  if (body->bad || status > LEAT_INTERNAL)
    status =
        leat_fail(&session->error, LEAT_MISMATCH, "rank %d sent a damaged reply", message->peer);
  else if (status)
    leat_fail(&session->error, (leat_status)status, "rank %d: %s", message->peer, text);
  return (leat_status)status;
}

// One question to one rank. *out is the reply, to be freed in any case; `answer` reads its body.
static leat_status ask(leat_session *session, int rank, leat_message_kind kind,
                       const leat_text *question, leat_message *out, leat_wire *answer) {
  uint64_t ticket = session->cluster->next_ticket++;
  LEAT_TRY(leat_message_send(session, rank, kind, ticket, question));
  return receive(session, ticket, COMPILE_DEADLINE, out, answer);
}

static void take_homes(leat_session *session, leat_wire *in, int rank) {
  uint64_t count = leat_wire_get(in);
  for (uint64_t i = 0; i < count && !in->bad; i++) {
    const char *name = leat_wire_get_string(in);
    int *home = leat_new(session->arena, int);
    *home = rank;
    leat_map_set(&session->cluster->homes, leat_intern(session->strings, name), home);
  }
}

// All workers of a step answer, whatever the first answer is; the first cause is kept.
static leat_status receive_all(leat_session *session, const leat_remote *remote, double seconds,
                               bool homes) {
  leat_status first = LEAT_OK;
  for (uint32_t i = 0; i < remote->parts.count; i++) {
    leat_message message = {0};
    leat_wire body;
    leat_cleanup cleanup;
    leat_cleanup_hold(&cleanup, free_message, &message);
    leat_status status = receive(session, remote->ticket, seconds, &message, &body);
    if (!status && homes) take_homes(session, &body, message.peer);
    bool silent = !message.data;
    leat_cleanup_run(&cleanup);
    if (!first) first = status;
    if (silent) break;
  }
  return first;
}

// -- Registering -------------------------------------------------------------------------------

static leat_status put_file(leat_text *out, const char *path, leat_error *error) {
  leat_file_view view;
  LEAT_TRY(leat_file_view_map(&view, path, error));
  uint64_t hash[2];
  leat_file_hash(view.data, view.size, hash);
  leat_wire_put_string(out, path);
  leat_wire_put(out, view.size);
  leat_wire_put(out, hash[0]);
  leat_wire_put(out, hash[1]);
  leat_file_view_close(&view);
  return LEAT_OK;
}

// Every file that the parts of a rank load, as size and hash: the worker reads its own copy.
static leat_status put_files(leat_session *session, const leat_driver *driver, int rank,
                             leat_text *out) {
  leat_map files;
  leat_map_init(&files, driver->context.scratch);
  for (uint32_t p = 0; p < driver->context.parts.count; p++) {
    leat_graph *part = driver->context.parts.items[p];
    if (leat_cluster_route(session, part->device) == rank) leat_files_of(part, &files);
  }
  leat_wire_put(out, files.count);
  for (uint32_t i = 0; i < files.count; i++)
    LEAT_TRY(put_file(out, files.entries[i].key, &session->error));
  return LEAT_OK;
}

static void put_texts(leat_session *session, const leat_driver *driver, int rank, leat_text *out) {
  leat_text list = {0};
  uint64_t count = 0;
  for (uint32_t i = 0; i < driver->context.parts.count; i++) {
    const leat_graph *part = driver->context.parts.items[i];
    if (leat_cluster_route(session, part->device) != rank) continue;
    leat_text text = {0};
    leat_graph_print(part, &text);
    leat_wire_put_string(&list, part->device);
    leat_wire_put_bytes(&list, text.data, text.size);
    leat_text_finish(&text);
    count++;
  }
  leat_wire_put(out, count);
  leat_text_add_n(out, list.data, list.size);
  leat_text_finish(&list);
}

static leat_status register_at(leat_driver *driver, const leat_remote *remote,
                               leat_remote_part *part) {
  leat_session *session = driver->session;
  leat_text step = {0}, body = {0};
  put_texts(session, driver, part->rank, &step);
  leat_status status = put_files(session, driver, part->rank, &step);
  part->hash = leat_graph_hash_begin(LEAT_VERSION, session->options.cluster);
  leat_graph_hash_add(&part->hash, step.data, step.size);
  leat_wire_put(&body, remote->step);
  leat_wire_put(&body, part->hash.words[0]);
  leat_wire_put(&body, part->hash.words[1]);
  leat_text_add_n(&body, step.data, step.size);
  if (!status)
    status = leat_message_send(session, part->rank, LEAT_MESSAGE_REGISTER, remote->ticket, &body);
  leat_text_finish(&step);
  leat_text_finish(&body);
  return status;
}

static bool has_rank(const leat_remote *remote, int rank) {
  for (uint32_t i = 0; i < remote->parts.count; i++)
    if (remote->parts.items[i].rank == rank) return true;
  return false;
}

static leat_status find_ranks(leat_driver *driver, leat_arena *arena, leat_remote *out) {
  leat_session *session = driver->session;
  for (uint32_t i = 0; i < driver->context.parts.count; i++) {
    const char *device = driver->context.parts.items[i]->device;
    int rank = leat_cluster_route(session, device);
    if (rank < 0)
      return leat_fail(&session->error, LEAT_INTERNAL, "no rank has the device %s", device);
    if (rank != session->cluster->rank && !has_rank(out, rank))
      leat_vec_push(arena, &out->parts, (leat_remote_part){.rank = rank});
  }
  return LEAT_OK;
}

leat_status leat_remote_register(leat_driver *driver, leat_arena *arena, leat_remote *out) {
  leat_session *session = driver->session;
  leat_pass_context *context = &driver->context;
  out->step = session->cluster->next_step++;
  out->ticket = session->cluster->next_ticket++;
  LEAT_TRY(find_ranks(driver, arena, out));
  for (uint32_t i = 0; i < out->parts.count; i++)
    LEAT_TRY(register_at(driver, out, &out->parts.items[i]));
  uint32_t kept = 0;
  for (uint32_t i = 0; i < context->parts.count; i++)
    if (leat_cluster_route(session, context->parts.items[i]->device) == session->cluster->rank)
      context->parts.items[kept++] = context->parts.items[i];
  context->parts.count = kept;
  return LEAT_OK;
}

leat_status leat_remote_ready(leat_session *session, const leat_remote *remote) {
  return receive_all(session, remote, COMPILE_DEADLINE, true);
}

void leat_remote_drop(leat_session *session, const leat_remote *remote) {
  leat_text body = {0};
  leat_wire_put(&body, remote->step);
  for (uint32_t i = 0; i < remote->parts.count; i++)
    if (leat_message_send(session, remote->parts.items[i].rank, LEAT_MESSAGE_DROP, 0, &body)) break;
  leat_text_finish(&body);
}

// -- Running -----------------------------------------------------------------------------------

leat_status leat_remote_run(leat_session *session, leat_remote *remote, uint64_t run,
                            int64_t run_count, const leat_named_dim *dims, uint32_t dim_count) {
  leat_status status = LEAT_OK;
  leat_text body = {0};
  remote->ticket = session->cluster->next_ticket++;
  for (uint32_t i = 0; i < remote->parts.count && !status; i++) {
    const leat_remote_part *part = &remote->parts.items[i];
    body.size = 0;
    leat_wire_put(&body, remote->step);
    leat_wire_put(&body, part->hash.words[0]);
    leat_wire_put(&body, part->hash.words[1]);
    leat_wire_put(&body, run);
    leat_wire_put(&body, (uint64_t)run_count);
    leat_wire_put(&body, dim_count);
    for (uint32_t d = 0; d < dim_count; d++) {
      leat_wire_put_string(&body, dims[d].name);
      leat_wire_put(&body, (uint64_t)dims[d].value);
    }
    status = leat_message_send(session, part->rank, LEAT_MESSAGE_RUN, remote->ticket, &body);
  }
  leat_text_finish(&body);
  return status;
}

// A worker that cannot go on says so itself within the session's deadline; this waits a little
// longer. Of a run that has failed all know already: who computes something ends that.
leat_status leat_remote_done(leat_session *session, const leat_remote *remote, bool failed) {
  double longer = failed ? 0.0 : 10.0;
  return receive_all(session, remote, session->options.deadline + longer, false);
}

void leat_remote_listen(leat_session *session) {
  leat_message message = {0};
  while (!leat_runtime_receive(session->runtime, 0, &message, NULL)) {
    leat_wire body = {message.data, message.data + message.size, false};
    if (leat_wire_get(&body) == LEAT_MESSAGE_STOP) leat_stopped = SIGTERM;
    free(message.data);
  }
}

// -- Variables ---------------------------------------------------------------------------------

int leat_remote_home(const leat_session *session, const leat_state *state) {
  if (!session->cluster) return -1;
  const int *home =
      leat_map_get(&session->cluster->homes, leat_intern(session->strings, state->name));
  return home ? *home : -1;
}

leat_status leat_remote_read(leat_session *session, int rank, const leat_state *state,
                             leat_tensor *out, bool *found) {
  leat_text question = {0};
  leat_wire_put_string(&question, state->name);
  leat_wire_put_string(&question, state->container);
  leat_message message = {0};
  leat_wire answer;
  leat_cleanup cleanup;
  leat_cleanup_hold(&cleanup, free_message, &message);
  leat_status status = ask(session, rank, LEAT_MESSAGE_READ, &question, &message, &answer);
  *found = !status && leat_wire_get(&answer);
  if (*found && !leat_wire_get_tensor(&answer, out)) {
    status = leat_fail(&session->error, LEAT_MISMATCH, "rank %d sent a damaged reply", rank);
    *found = false;
  }
  leat_cleanup_run(&cleanup);
  leat_text_finish(&question);
  return status;
}

leat_status leat_remote_write(leat_session *session, int rank, const leat_state *state,
                              const leat_tensor *value) {
  leat_text question = {0};
  leat_wire_put_string(&question, state->name);
  leat_wire_put_string(&question, state->container);
  leat_wire_put_tensor(&question, value);
  leat_message message = {0};
  leat_wire answer;
  leat_status status = ask(session, rank, LEAT_MESSAGE_WRITE, &question, &message, &answer);
  free(message.data);
  leat_text_finish(&question);
  return status;
}

// -- The end -----------------------------------------------------------------------------------

leat_status leat_remote_traffic(leat_session *session, leat_text *out) {
  leat_status status = LEAT_OK;
  leat_cluster_traffic(session, out);
  for (int rank = 0; rank < session->cluster->size && !status; rank++) {
    if (rank == session->cluster->rank) continue;
    leat_message message = {0};
    leat_wire answer;
    leat_cleanup cleanup;
    leat_cleanup_hold(&cleanup, free_message, &message);
    status = ask(session, rank, LEAT_MESSAGE_TRAFFIC, NULL, &message, &answer);
    if (!status) {
      size_t size;
      const char *text = leat_wire_get_bytes(&answer, &size);
      leat_text_add_n(out, text, size);
    }
    leat_cleanup_run(&cleanup);
  }
  return status;
}

leat_status leat_remote_shutdown(leat_session *session) {
  for (int rank = 0; rank < session->cluster->size; rank++)
    if (rank != session->cluster->rank)
      LEAT_TRY(leat_message_send(session, rank, LEAT_MESSAGE_SHUTDOWN, 0, NULL));
  return LEAT_OK;
}
