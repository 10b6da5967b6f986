// What devices say to each other, here and over the transport: tensors go to the rendezvous, the
// session's messages to a queue, aborts to the runs that they name.
#include "base/wire.h"
#include "runtime/executor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONTROL_SESSION, CONTROL_ABORT }; // kinds of control messages

typedef struct abort_notice {
  uint64_t session, step;
  leat_error error;
} abort_notice;

enum { LARGEST_NOTICE = 4 * sizeof(uint64_t) + sizeof(leat_error) };

static void on_control(void *context, int peer, uint32_t kind, const void *data, size_t size);

static void *on_place(void *context, int peer, const leat_edge_key *key, uint64_t bytes,
                      void **token) {
  (void)peer;
  leat_runtime *runtime = context;
  return leat_rendezvous_place(runtime->rendezvous, key, bytes, token);
}

static void on_landed(void *context, void *token, leat_status status) {
  leat_runtime *runtime = context;
  leat_rendezvous_landed(runtime->rendezvous, token, status);
}

static void on_failed(void *context, const char *message) {
  leat_runtime *runtime = context;
  pthread_mutex_lock(&runtime->runs_lock);
  leat_fail(&runtime->failure, LEAT_ABORTED, "%s", message);
  for (leat_run *run = runtime->runs; run; run = run->next_active)
    leat_run_fail(run, 0, LEAT_ABORTED, "%s", message);
  pthread_mutex_unlock(&runtime->runs_lock);
  leat_signal_raise(&runtime->mail_came);
}

// -- Messages of the session layer ----------------------------------------------------------------

leat_status leat_runtime_send(leat_runtime *runtime, int peer, const void *data, size_t size,
                              leat_error *error) {
  leat_transport *transport = runtime->transport;
  if (!transport || peer < 0 || peer >= transport->size || peer == transport->rank)
    return leat_fail(error, LEAT_INVALID, "there is no rank %d to send to", peer);
  return transport->backend->control(transport, peer, CONTROL_SESSION, data, size, error);
}

static void keep_message(leat_runtime *runtime, int peer, const void *data, size_t size) {
  leat_queued_message *queued = malloc(sizeof *queued);
  char *copy = malloc(size + 1);
  if (!queued || !copy) {
    free(queued);
    free(copy);
    on_failed(runtime, "no memory for a message");
    return;
  }
  if (size) memcpy(copy, data, size);
  copy[size] = '\0';
  *queued = (leat_queued_message){.message = {.peer = peer, .data = copy, .size = size}};
  pthread_mutex_lock(&runtime->mail_lock);
  *runtime->mail_end = queued;
  runtime->mail_end = &queued->next;
  pthread_mutex_unlock(&runtime->mail_lock);
  leat_signal_raise(&runtime->mail_came);
}

static bool take_message(leat_runtime *runtime, leat_message *out) {
  pthread_mutex_lock(&runtime->mail_lock);
  leat_queued_message *first = runtime->mail;
  if (first) {
    runtime->mail = first->next;
    if (!runtime->mail) runtime->mail_end = &runtime->mail;
  }
  pthread_mutex_unlock(&runtime->mail_lock);
  if (!first) return false;
  *out = first->message;
  free(first);
  return true;
}

leat_status leat_runtime_receive(leat_runtime *runtime, double seconds, leat_message *out,
                                 leat_error *error) {
  leat_transport *transport = runtime->transport;
  if (!transport) return leat_fail(error, LEAT_INVALID, "there is no other rank");
  int64_t until = leat_clock_after(seconds);
  for (;;) {
    int64_t look = leat_clock_after(LEAT_LONGEST_WAIT);
    uint32_t seen = leat_signal_value(&runtime->mail_came);
    if (take_message(runtime, out)) return LEAT_OK;
    pthread_mutex_lock(&runtime->runs_lock);
    leat_error failure = runtime->failure;
    pthread_mutex_unlock(&runtime->runs_lock);
    if (failure.status) return leat_fail(error, failure.status, "%s", failure.message);
    if (leat_runtime_is_interrupted(runtime)) return leat_fail(error, LEAT_ABORTED, "interrupted");
    if (transport->backend->wait(transport, &runtime->mail_came, seen, look < until ? look : until))
      continue;
    if (leat_clock() >= until)
      return leat_fail(error, LEAT_DEADLINE, "no message came within %g s", seconds);
  }
}

// -- Aborts ---------------------------------------------------------------------------------------

static void abort_here(leat_runtime *runtime, int from, const abort_notice *notice) {
  pthread_mutex_lock(&runtime->runs_lock);
  leat_run *run = runtime->runs;
  while (run && (run->executor->session != notice->session || run->step != notice->step))
    run = run->next_active;
  if (run) {
    leat_run_fail(run, from, notice->error.status, "%s", notice->error.message);
  } else {
    leat_aborted_step *slot = &runtime->aborted[runtime->aborted_count++ % LEAT_ABORTED_STEPS];
    *slot = (leat_aborted_step){notice->session, notice->step, notice->error};
    leat_rendezvous_close(runtime->rendezvous, notice->session, notice->step);
  }
  pthread_mutex_unlock(&runtime->runs_lock);
}

static void on_control(void *context, int peer, uint32_t kind, const void *data, size_t size) {
  leat_runtime *runtime = context;
  if (kind == CONTROL_SESSION) {
    keep_message(runtime, peer, data, size);
  } else if (kind == CONTROL_ABORT) {
    leat_wire in = {data, (const char *)data + size, false};
    abort_notice notice = {.session = leat_wire_get(&in)};
    notice.step = leat_wire_get(&in);
    notice.error.status = (leat_status)leat_wire_get(&in);
    const char *said = leat_wire_get_string(&in);
    if (in.bad || !notice.error.status) return; // nothing has failed
    snprintf(notice.error.message, sizeof notice.error.message, "rank %d: %.1000s", peer, said);
    abort_here(runtime, peer, &notice);
  }
}

static void tell_abort(leat_runtime *runtime, uint64_t session, uint64_t step,
                       const leat_error *error) {
  leat_transport *transport = runtime->transport;
  if (!transport) return;
  char room[LARGEST_NOTICE]; // what fails may fail for lack of memory
  leat_text notice = {.data = room, .capacity = sizeof room};
  leat_wire_put(&notice, session);
  leat_wire_put(&notice, step);
  leat_wire_put(&notice, error->status);
  leat_wire_put_string(&notice, error->message);
  for (int peer = 0; peer < transport->size; peer++) {
    leat_error ignored = {0}; // a transport that has failed tells everybody itself
    if (peer != transport->rank && transport->backend->control(transport, peer, CONTROL_ABORT,
                                                               notice.data, notice.size, &ignored))
      return;
  }
}

void leat_runtime_abort(leat_runtime *runtime, uint64_t session, uint64_t step, leat_status status,
                        const char *message) {
  abort_notice notice = {.session = session, .step = step};
  leat_fail(&notice.error, status, "%s", message);
  abort_here(runtime, 0, &notice);
  tell_abort(runtime, session, step, &notice.error);
}

static void enter(leat_runtime *runtime, leat_run *run) {
  pthread_mutex_lock(&runtime->runs_lock);
  run->next_active = runtime->runs;
  run->active_at = &runtime->runs;
  if (runtime->runs) runtime->runs->active_at = &run->next_active;
  runtime->runs = run;
  size_t kept =
      runtime->aborted_count < LEAT_ABORTED_STEPS ? runtime->aborted_count : LEAT_ABORTED_STEPS;
  for (size_t i = 0; i < kept; i++) {
    const leat_aborted_step *aborted = &runtime->aborted[i];
    if (aborted->session == run->executor->session && aborted->step == run->step)
      leat_run_fail(run, 0, aborted->error.status, "%s", aborted->error.message);
  }
  if (runtime->failure.status)
    leat_run_fail(run, 0, runtime->failure.status, "%s", runtime->failure.message);
  pthread_mutex_unlock(&runtime->runs_lock);
}

static void leave(leat_runtime *runtime, leat_run *run) {
  pthread_mutex_lock(&runtime->runs_lock);
  *run->active_at = run->next_active;
  if (run->next_active) run->next_active->active_at = run->active_at;
  pthread_mutex_unlock(&runtime->runs_lock);
}

// -- Making ---------------------------------------------------------------------------------------

static void destroy(leat_runtime *runtime) {
  leat_rendezvous_destroy(runtime->rendezvous);
  for (leat_queued_message *m = runtime->mail, *next; m; m = next) {
    next = m->next;
    free(m->message.data);
    free(m);
  }
}

static size_t close_step(leat_runtime *runtime, uint64_t session, uint64_t step) {
  return leat_rendezvous_close(runtime->rendezvous, session, step);
}

leat_status leat_runtime_create(const leat_runtime_options *options, leat_runtime **out,
                                leat_error *error) {
  static const leat_exchange exchange = {.destroy = destroy,
                                         .enter = enter,
                                         .leave = leave,
                                         .close = close_step,
                                         .tell_abort = tell_abort,
                                         .send = leat_transfer_send,
                                         .receive = leat_transfer_receive,
                                         .describe = leat_transfer_describe};
  leat_runtime *runtime;
  LEAT_TRY(leat_runtime_create_alone(options, &runtime, error));
  *out = NULL;
  runtime->exchange = &exchange;
  runtime->mail_end = &runtime->mail;
  leat_status status = leat_rendezvous_create(&runtime->rendezvous, error);
  if (!status && options->trace) status = leat_trace_create(&runtime->trace, error);
  if (status) {
    leat_runtime_destroy(runtime); // the transport stays the caller's
    return status;
  }
  runtime->transport = options->transport;
  leat_receiver receiver = {.context = runtime,
                            .place = on_place,
                            .landed = on_landed,
                            .control = on_control,
                            .failed = on_failed};
  if (runtime->transport) runtime->transport->backend->start(runtime->transport, &receiver);
  *out = runtime;
  return LEAT_OK;
}
