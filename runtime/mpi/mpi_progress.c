// Progress. A turn looks what has arrived, sends what was queued, and tests what is on its way; the
// lock `mpi` is held. Threads that wait take turns; the transport's own thread (mpi_thread.c) does
// when nobody else does.
#define _GNU_SOURCE
#include "runtime/mpi/mpi_transport.h"

#include "runtime/identity.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void leat_mpi_append(envelope_list *list, envelope *e) {
  e->next = NULL;
  *list->end = e;
  list->end = &e->next;
}

envelope *leat_mpi_envelope(int peer, envelope_header header, const void *data, size_t size) {
  envelope *e = malloc(sizeof *e + size);
  if (!e) return NULL;
  *e = (envelope){
      .peer = peer, .request = MPI_REQUEST_NULL, .header = header, .size = sizeof header + size};
  if (size) memcpy(e->payload, data, size);
  return e;
}

static envelope *take_first(envelope_list *list) {
  envelope *e = list->first;
  list->first = e->next;
  if (!list->first) list->end = &list->first;
  return e;
}

void leat_mpi_set_stage(mpi_transport *t, transport_stage stage) {
  atomic_store(&t->stage, stage);
  leat_signal_raise(&t->stage_changed);
}

// -- Failure --------------------------------------------------------------------------------------

static void end_transfer(mpi_transport *t, transfer *x, leat_status status) {
  if (x->sent)
    x->sent(x->context, status);
  else
    t->receiver.landed(t->receiver.context, x->context, status);
  free(x->requests);
  free(x);
}

static void end_transfers(mpi_transport *t, transfer **list) {
  while (*list) {
    transfer *x = *list;
    *list = x->next;
    end_transfer(t, x, LEAT_ABORTED);
  }
}

static void drop_envelopes(mpi_transport *t, envelope_list *list) {
  while (list->first) {
    envelope *e = take_first(list);
    if (e->announces) end_transfer(t, e->announces, LEAT_ABORTED);
    if (e->request == MPI_REQUEST_NULL) free(e);
  }
}

void leat_mpi_end_all(mpi_transport *t) {
  envelope_list queued;
  pthread_mutex_lock(&t->lock);
  queued = t->queued;
  t->queued = (envelope_list){.end = &t->queued.first};
  pthread_mutex_unlock(&t->lock);
  if (!queued.first) queued.end = &queued.first;
  drop_envelopes(t, &queued);
  drop_envelopes(t, &t->incoming);
  end_transfers(t, &t->announced);
  end_transfers(t, &t->flying);
}

void leat_mpi_fail(mpi_transport *t, leat_status status, const char *message) {
  pthread_mutex_lock(&t->lock);
  bool first = !t->error.status;
  leat_fail(&t->error, status, "%s", message);
  pthread_mutex_unlock(&t->lock);
  if (!first) return;
  leat_mpi_set_stage(t, UNUSABLE);
  leat_mpi_end_all(t);
  if (atomic_load(&t->started)) t->receiver.failed(t->receiver.context, message);
}

bool leat_mpi_check(mpi_transport *t, int code, const char *call) {
  if (code == MPI_SUCCESS) return true;
  char text[MPI_MAX_ERROR_STRING] = "", message[MPI_MAX_ERROR_STRING + 64];
  int length = 0;
  MPI_Error_string(code, text, &length);
  snprintf(message, sizeof message, "%s failed: %s", call, text);
  leat_mpi_fail(t, LEAT_FOREIGN, message);
  return false;
}

// -- Sending --------------------------------------------------------------------------------------

static void post_envelope(mpi_transport *t, envelope *e) {
  bool tensor = e->header.type == TENSOR;
  if (tensor) atomic_fetch_add(&t->sent[e->peer].tensor, e->header.bytes);
  atomic_fetch_add(&t->sent[e->peer].control, tensor ? sizeof e->header : e->size);
  if (e->announces) {
    e->header.id = e->announces->id = t->next_id++;
    e->announces->next = t->announced;
    t->announced = e->announces;
    e->announces = NULL;
  }
  leat_mpi_append(&t->outgoing, e);
  leat_mpi_check(
      t,
      MPI_Isend(&e->header, (int)e->size, MPI_BYTE, e->peer, ENVELOPE_TAG, t->world, &e->request),
      "MPI_Isend");
}

static bool send_queued(mpi_transport *t) {
  pthread_mutex_lock(&t->lock);
  envelope *e = t->queued.first;
  t->queued = (envelope_list){.end = &t->queued.first};
  pthread_mutex_unlock(&t->lock);
  bool any = e != NULL;
  for (envelope *next; e; e = next) {
    next = e->next;
    post_envelope(t, e);
  }
  return any;
}

// Frees what has been sent; the rest is looked at again.
static bool test_outgoing(mpi_transport *t) {
  bool any = false;
  for (envelope **at = &t->outgoing.first; *at;) {
    envelope *e = *at;
    int done = 0;
    if (!leat_mpi_check(t, MPI_Test(&e->request, &done, MPI_STATUS_IGNORE), "MPI_Test"))
      return true;
    if (!done) {
      at = &e->next;
      continue;
    }
    *at = e->next;
    if (!*at) t->outgoing.end = at;
    free(e);
    any = true;
  }
  return any;
}

// Begins to send or receive the chunks of a tensor.
static bool post_chunks(mpi_transport *t, transfer *x, int tag) {
  uint64_t count = (x->bytes + CHUNK - 1) / CHUNK;
  x->requests = count <= INT32_MAX ? malloc(count * sizeof *x->requests) : NULL;
  if (!x->requests) {
    leat_mpi_fail(t, LEAT_MEMORY, "no memory for the requests of a tensor");
    return false;
  }
  for (uint64_t i = 0; i < count; i++) {
    uint64_t first = i * CHUNK, left = x->bytes - first;
    int size = left < CHUNK ? (int)left : CHUNK;
    int code =
        x->sent
            ? MPI_Isend(x->data + first, size, MPI_BYTE, x->peer, tag, t->world, &x->requests[i])
            : MPI_Irecv(x->data + first, size, MPI_BYTE, x->peer, tag, t->world, &x->requests[i]);
    if (!leat_mpi_check(t, code, x->sent ? "MPI_Isend" : "MPI_Irecv")) return false;
    x->request_count++;
  }
  return true;
}

// Whether all chunks have been sent or received; they are looked at in their order.
static bool has_landed(mpi_transport *t, transfer *x) {
  while (x->requests_done < x->request_count) {
    int done = 0;
    MPI_Request *request = &x->requests[x->requests_done];
    if (!leat_mpi_check(t, MPI_Test(request, &done, MPI_STATUS_IGNORE), "MPI_Test") || !done)
      return false;
    x->requests_done++;
  }
  return true;
}

static bool test_flying(mpi_transport *t) {
  bool any = false;
  for (transfer **at = &t->flying; *at;) {
    transfer *x = *at;
    if (!has_landed(t, x)) {
      if (t->error.status) return true; // the lists are gone
      at = &x->next;
      continue;
    }
    *at = x->next;
    if (x->sent) atomic_fetch_add(&t->sent[x->peer].tensor, x->bytes);
    end_transfer(t, x, LEAT_OK);
    any = true;
  }
  return any;
}

// -- Receiving ------------------------------------------------------------------------------------

void leat_mpi_send_own(mpi_transport *t, int peer, envelope_header header, const void *payload,
                       size_t size) {
  envelope *e = leat_mpi_envelope(peer, header, payload, size);
  if (e)
    post_envelope(t, e);
  else
    leat_mpi_fail(t, LEAT_MEMORY, "no memory for a message");
}

static void accept_announcement(mpi_transport *t, const envelope *e) {
  transfer *x = calloc(1, sizeof *x);
  void *token = NULL;
  void *place =
      x ? t->receiver.place(t->receiver.context, e->peer, &e->header.key, e->header.bytes, &token)
        : NULL;
  if (!place) {
    free(x);
    leat_mpi_fail(t, LEAT_MEMORY, "no memory for a tensor");
    return;
  }
  *x = (transfer){.peer = e->peer,
                  .data = place,
                  .bytes = e->header.bytes,
                  .context = token,
                  .next = t->flying};
  t->flying = x;
  int tag = FIRST_TENSOR_TAG + t->next_tag;
  t->next_tag = (t->next_tag + 1) % TENSOR_TAGS;
  if (post_chunks(t, x, tag))
    leat_mpi_send_own(t, e->peer,
                      (envelope_header){.type = GRANT, .kind = (uint32_t)tag, .id = e->header.id},
                      NULL, 0);
}

static void accept_grant(mpi_transport *t, const envelope *e) {
  transfer **at = &t->announced;
  while (*at && ((*at)->id != e->header.id || (*at)->peer != e->peer)) at = &(*at)->next;
  transfer *x = *at;
  if (!x) return; // a peer that is out of its mind
  *at = x->next;
  x->next = t->flying;
  t->flying = x;
  post_chunks(t, x, (int)e->header.kind);
}

static void accept_tensor(mpi_transport *t, const envelope *e) {
  void *token = NULL;
  void *place =
      t->receiver.place(t->receiver.context, e->peer, &e->header.key, e->header.bytes, &token);
  if (!place) {
    leat_mpi_fail(t, LEAT_MEMORY, "no memory for a tensor");
    return;
  }
  memcpy(place, e->payload, e->header.bytes);
  t->receiver.landed(t->receiver.context, token, LEAT_OK);
}

static leat_rank_identity identity_of(const greeting *from, int rank, size_t size) {
  return (leat_rank_identity){rank, from->identity, size - sizeof *from};
}

static bool is_one_of_us(mpi_transport *t, const envelope *e) {
  char message[512];
  size_t size = e->size - sizeof e->header;
  snprintf(message, sizeof message, "rank %d was started with another version of Leat", e->peer);
  bool same = e->header.kind == LEAT_TRANSPORT_VERSION && size >= sizeof *t->greeting;
  if (same) {
    leat_rank_identity own = identity_of(t->greeting, t->base.rank, t->greeting_size);
    leat_rank_identity theirs = identity_of((const greeting *)e->payload, e->peer, size);
    same = leat_identity_same(&own, &theirs, message, sizeof message);
  }
  if (!same) leat_mpi_fail(t, LEAT_MISMATCH, message);
  return same;
}

static void greet(mpi_transport *t, const envelope *e) {
  if (!is_one_of_us(t, e) || t->greeted[e->peer]) return;
  t->greeted[e->peer] = true;
  t->base.ranks_on_host += memcmp(e->payload, t->greeting->host, HOST_NAME) == 0;
}

static void handle(mpi_transport *t, const envelope *e) {
  // Nothing reads past what has arrived.
  bool payload = e->header.type == CONTROL || e->header.type == TENSOR || e->header.type == HELLO;
  if (payload && e->header.bytes != e->size - sizeof e->header) {
    leat_mpi_fail(t, LEAT_MISMATCH, "a rank sent a damaged message");
    return;
  }
  switch ((envelope_type)e->header.type) {
  case HELLO: greet(t, e); break;
  case BEAT: break;
  case CONTROL:
    t->receiver.control(t->receiver.context, e->peer, e->header.kind, e->payload, e->header.bytes);
    break;
  case TENSOR: accept_tensor(t, e); break;
  case ANNOUNCE: accept_announcement(t, e); break;
  case GRANT: accept_grant(t, e); break;
  }
}

// Begins to receive every envelope that has come.
static bool probe(mpi_transport *t) {
  for (bool any = false;; any = true) {
    int here = 0, size = 0;
    MPI_Message message;
    MPI_Status status;
    if (!leat_mpi_check(
            t, MPI_Improbe(MPI_ANY_SOURCE, ENVELOPE_TAG, t->world, &here, &message, &status),
            "MPI_Improbe"))
      return true;
    if (!here) return any;
    MPI_Get_count(&status, MPI_BYTE, &size);
    envelope *e = malloc(sizeof *e + (size_t)size);
    if (!e || (size_t)size < sizeof e->header) {
      free(e);
      leat_mpi_fail(t, LEAT_MEMORY, "no memory for a message, or a damaged one");
      return true;
    }
    *e = (envelope){.peer = status.MPI_SOURCE, .request = MPI_REQUEST_NULL, .size = (size_t)size};
    leat_mpi_append(&t->incoming, e);
    t->heard[e->peer] = t->now;
    if (!leat_mpi_check(t, MPI_Imrecv(&e->header, size, MPI_BYTE, &message, &e->request),
                        "MPI_Imrecv"))
      return true;
  }
}

// Handles what has been received, in order, until one that is not complete. Before the start only
// greetings are; what came behind one waits.
static bool handle_incoming(mpi_transport *t) {
  bool any = false, joining = atomic_load(&t->stage) == JOINING;
  bool started = atomic_load(&t->started); // as at the first one, so that the order stays
  for (envelope **at = &t->incoming.first; *at;) {
    envelope *e = *at;
    int done = e->request == MPI_REQUEST_NULL;
    if (!done && !leat_mpi_check(t, MPI_Test(&e->request, &done, MPI_STATUS_IGNORE), "MPI_Test"))
      return true;
    if (!done) return any;
    if (!started && !(joining && e->header.type == HELLO)) {
      at = &e->next;
      continue;
    }
    *at = e->next;
    if (!*at) t->incoming.end = at;
    handle(t, e);
    free(e);
    any = true;
    if (t->error.status) return true; // the lists are gone
  }
  return any;
}

// -- Turns ----------------------------------------------------------------------------------------

bool leat_mpi_has_pending(const mpi_transport *t) {
  return t->outgoing.first || t->flying || t->announced;
}

bool leat_mpi_turn(mpi_transport *t) {
  bool (*const work[])(mpi_transport *) = {probe, handle_incoming, test_flying, send_queued,
                                           test_outgoing};
  bool any = false;
  t->now = leat_clock();
  for (size_t i = 0; i < sizeof work / sizeof *work && !t->error.status; i++) any |= work[i](t);
  if (any) t->last_event = t->now;
  return any;
}

bool leat_mpi_try_send(mpi_transport *t) {
  if (pthread_mutex_trylock(&t->mpi)) return false;
  if (!t->error.status && send_queued(t)) test_outgoing(t);
  bool done = !leat_mpi_has_pending(t);
  pthread_mutex_unlock(&t->mpi);
  return done;
}

// Whether something happened in a turn, or in that of another thread.
static bool try_turn(mpi_transport *t) {
  if (pthread_mutex_trylock(&t->mpi)) return true;
  bool any = !t->error.status && leat_mpi_turn(t);
  pthread_mutex_unlock(&t->mpi);
  return any;
}

// For a tenth of a millisecond without an event latency is all that counts; up to two, whoever else
// wants the core has it; then the transport's thread takes over.
bool leat_mpi_wait(mpi_transport *t, leat_signal *signal, uint32_t seen, int64_t until) {
  bool raised = false;
  int64_t now = leat_clock(), last = now;
  atomic_fetch_add(&t->pollers, 1);
  while (!(raised = leat_signal_value(signal) != seen) && now < until &&
         now - last < 2 * MILLISECOND) {
    if (try_turn(t))
      last = now;
    else if (t->crowded || now - last > MILLISECOND / 10)
      sched_yield();
    now = leat_clock();
  }
  atomic_fetch_sub(&t->pollers, 1);
  if (raised) return true;
  leat_signal_raise(&t->wake);
  return leat_signal_wait(signal, seen, 0, until);
}
