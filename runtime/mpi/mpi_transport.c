// The MPI transport as other threads see it: the backend's table.
#include "runtime/mpi/mpi_transport.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CLOSE_SECONDS = 10 }; // flushing and MPI_Finalize

static mpi_transport *of(leat_transport *transport) {
  return (mpi_transport *)transport;
}

// Sends an envelope, or leaves it to the thread; false when it is too late (then `e` is freed).
static bool queue(mpi_transport *t, envelope *e) {
  pthread_mutex_lock(&t->lock);
  bool open = atomic_load(&t->stage) == JOINED && !atomic_load(&t->closing);
  if (open) leat_mpi_append(&t->queued, e);
  pthread_mutex_unlock(&t->lock);
  if (!open)
    free(e);
  else if (!leat_mpi_try_send(t))
    leat_signal_raise(&t->wake);
  return open;
}

static leat_status mpi_control(leat_transport *transport, int peer, uint32_t kind, const void *data,
                               size_t size, leat_error *error) {
  mpi_transport *t = of(transport);
  if (size > INT32_MAX - sizeof(envelope_header))
    return leat_fail(error, LEAT_INVALID, "a message of %zu bytes is too long", size);
  envelope_header header = {.type = CONTROL, .kind = kind, .bytes = size};
  envelope *e = leat_mpi_envelope(peer, header, data, size);
  if (!e) return leat_fail(error, LEAT_MEMORY, "no memory for a message of %zu bytes", size);
  if (queue(t, e)) return LEAT_OK;
  return leat_fail(error, LEAT_ABORTED, "the MPI world has ended");
}

static void mpi_send(leat_transport *transport, int peer, const leat_edge_key *key,
                     const void *data, uint64_t bytes, leat_sent_function sent, void *context) {
  mpi_transport *t = of(transport);
  envelope_header header = {.type = TENSOR, .bytes = bytes, .key = *key};
  if (bytes <= INLINE_LIMIT) {
    envelope *e = leat_mpi_envelope(peer, header, data, (size_t)bytes);
    leat_status status = !e ? LEAT_MEMORY : queue(t, e) ? LEAT_OK : LEAT_ABORTED;
    sent(context, status);
    return;
  }
  header.type = ANNOUNCE;
  transfer *announced = calloc(1, sizeof *announced);
  envelope *e = announced ? leat_mpi_envelope(peer, header, NULL, 0) : NULL;
  if (!e) {
    free(announced);
    sent(context, LEAT_MEMORY);
    return;
  }
  *announced = (transfer){.peer = peer,
                          .data = (char *)(uintptr_t)data,
                          .bytes = bytes,
                          .sent = sent,
                          .context = context};
  e->announces = announced;
  if (queue(t, e)) return;
  free(announced);
  sent(context, LEAT_ABORTED);
}

static void mpi_start(leat_transport *transport, const leat_receiver *receiver) {
  mpi_transport *t = of(transport);
  t->receiver = *receiver;
  atomic_store(&t->started, true);
  leat_signal_raise(&t->wake);
}

static bool mpi_wait(leat_transport *transport, leat_signal *signal, uint32_t seen, int64_t until) {
  return leat_mpi_wait(of(transport), signal, seen, until);
}

static void mpi_counts(leat_transport *transport, int peer, leat_transport_counts *out) {
  mpi_transport *t = of(transport);
  out->tensor_bytes = atomic_load(&t->sent[peer].tensor);
  out->control_bytes = atomic_load(&t->sent[peer].control);
}

static void mpi_abort(leat_transport *transport, const char *message) {
  (void)message; // mpiexec has no place for it; the session has told the others
  mpi_transport *t = of(transport);
  atomic_store(&t->aborting, true);
  leat_signal_raise(&t->wake);
}

// Waits until the thread has left `stage`; false when that took too long.
static bool wait_for_stage(mpi_transport *t, transport_stage stage, double seconds) {
  int64_t until = leat_clock_after(seconds);
  for (;;) {
    uint32_t seen = leat_signal_value(&t->stage_changed);
    if (atomic_load(&t->stage) != stage) return true;
    if (!leat_signal_wait(&t->stage_changed, seen, 0, until)) return false;
  }
}

static void destroy(mpi_transport *t) {
  pthread_mutex_destroy(&t->lock);
  pthread_mutex_destroy(&t->mpi);
  free(t->sent);
  free(t->greeting);
  free(t->greeted);
  free(t->heard);
  free(t);
}

static void mpi_close(leat_transport *transport) {
  mpi_transport *t = of(transport);
  pthread_mutex_lock(&t->lock);
  atomic_store(&t->closing, true);
  pthread_mutex_unlock(&t->lock);
  leat_signal_raise(&t->wake);
  // Where MPI_Finalize waits for a rank that does not come, the thread is left to the process' end.
  if (!wait_for_stage(t, JOINED, CLOSE_SECONDS)) return;
  pthread_join(t->thread, NULL);
  destroy(t);
}

static bool prepare_greeting(mpi_transport *t, const char *identity) {
  size_t length = identity ? strlen(identity) : 0;
  t->greeting_size = sizeof *t->greeting + length;
  t->greeting = calloc(1, t->greeting_size);
  if (!t->greeting) return false;
  gethostname(t->greeting->host, sizeof t->greeting->host - 1);
  if (length) memcpy(t->greeting->identity, identity, length);
  return true;
}

static leat_status mpi_connect(const leat_transport_world *world, leat_transport **out,
                               leat_error *error) {
  *out = NULL;
  mpi_transport *t = calloc(1, sizeof *t);
  if (!t || !prepare_greeting(t, world->identity)) {
    free(t);
    return leat_fail(error, LEAT_MEMORY, "no memory for the MPI transport");
  }
  pthread_mutex_init(&t->lock, NULL);
  pthread_mutex_init(&t->mpi, NULL);
  t->queued.end = &t->queued.first;
  t->outgoing.end = &t->outgoing.first;
  t->incoming.end = &t->incoming.first;
  t->deadline = world->deadline < 1e9 ? world->deadline : 1e9;
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGBUS); // of a file that is cut short, and no matter of another thread
  pthread_sigmask(SIG_BLOCK, &all, &before);
  int failure = pthread_create(&t->thread, NULL, leat_mpi_main, t);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (failure) {
    destroy(t);
    return leat_fail(error, LEAT_MEMORY, "cannot start the MPI thread");
  }
  // MPI_Init itself cannot be told a deadline: when it hangs, its thread is given up.
  if (!wait_for_stage(t, JOINING, world->deadline + 1)) {
    pthread_detach(t->thread);
    return leat_fail(error, LEAT_DEADLINE,
                     "MPI_Init did not end within %g s: some rank did not start", world->deadline);
  }
  if (atomic_load(&t->stage) == UNUSABLE) {
    pthread_join(t->thread, NULL);
    leat_status status = leat_fail(error, t->error.status, "%s", t->error.message);
    destroy(t);
    return status;
  }
  *out = &t->base;
  return LEAT_OK;
}

__attribute__((visibility("default"))) const leat_transport_backend leat_mpi_transport = {
    .version = LEAT_TRANSPORT_VERSION,
    .name = "mpi",
    .connect = mpi_connect,
    .start = mpi_start,
    .control = mpi_control,
    .send = mpi_send,
    .wait = mpi_wait,
    .counts = mpi_counts,
    .abort = mpi_abort,
    .close = mpi_close,
};
