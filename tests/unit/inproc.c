#include "tests/unit/inproc.h"

#include "base/portable.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct early_message { // that came before its rank started
  struct early_message *next;
  int peer;
  bool is_tensor;
  leat_edge_key key;
  uint32_t kind;
  size_t size;
  char data[];
} early_message;

typedef struct inproc_rank {
  leat_transport base;
  leat_inproc_world *world;
  leat_receiver receiver;
  pthread_rwlock_t lock; // held for reading while the receiver is called, for writing to change it
  bool joined, started;
  early_message *early, **early_end;
  struct {
    _Atomic uint64_t tensor, control;
  } * sent; // to each peer
} inproc_rank;

struct leat_inproc_world {
  int size;
  _Atomic bool failed;
  inproc_rank ranks[];
};

static inproc_rank *peer_of(leat_transport *transport, int peer) {
  return &((inproc_rank *)transport)->world->ranks[peer];
}

// False: the receiver has no memory for it, and knows.
static bool call_tensor(inproc_rank *to, int from, const leat_edge_key *key, const void *data,
                        uint64_t bytes) {
  void *token, *place = to->receiver.place(to->receiver.context, from, key, bytes, &token);
  if (!place) {
    to->receiver.failed(to->receiver.context, "no memory for a tensor");
    return false;
  }
  if (bytes) memcpy(place, data, bytes);
  to->receiver.landed(to->receiver.context, token, LEAT_OK);
  return true;
}

// Keeps a message for a rank that has not started; false when there is no memory.
static bool keep(inproc_rank *to, early_message header, const void *data) {
  early_message *message = malloc(sizeof *message + header.size);
  if (!message) return false;
  *message = header;
  message->next = NULL;
  if (header.size) memcpy(message->data, data, header.size);
  *to->early_end = message;
  to->early_end = &message->next;
  return true;
}

// Delivers a message or keeps it.
static bool deliver(inproc_rank *to, early_message header, const void *data) {
  bool done = true;
  pthread_rwlock_rdlock(&to->lock);
  if (!to->started) { // look again with the right to change it
    pthread_rwlock_unlock(&to->lock);
    pthread_rwlock_wrlock(&to->lock);
    if (!to->started) {
      done = keep(to, header, data);
      pthread_rwlock_unlock(&to->lock);
      return done;
    }
    pthread_rwlock_unlock(&to->lock);
    pthread_rwlock_rdlock(&to->lock);
  }
  if (header.is_tensor)
    done = call_tensor(to, header.peer, &header.key, data, header.size);
  else
    to->receiver.control(to->receiver.context, header.peer, header.kind, data, header.size);
  pthread_rwlock_unlock(&to->lock);
  return done;
}

static void inproc_start(leat_transport *transport, const leat_receiver *receiver) {
  inproc_rank *rank = (inproc_rank *)transport;
  pthread_rwlock_wrlock(&rank->lock);
  rank->receiver = *receiver;
  for (early_message *m = rank->early, *next; m; m = next) {
    next = m->next;
    if (m->is_tensor)
      call_tensor(rank, m->peer, &m->key, m->data, m->size);
    else
      receiver->control(receiver->context, m->peer, m->kind, m->data, m->size);
    free(m);
  }
  rank->early = NULL;
  rank->early_end = &rank->early;
  rank->started = true;
  pthread_rwlock_unlock(&rank->lock);
}

static leat_status inproc_control(leat_transport *transport, int peer, uint32_t kind,
                                  const void *data, size_t size, leat_error *error) {
  inproc_rank *self = (inproc_rank *)transport;
  if (atomic_load(&self->world->failed))
    return leat_fail(error, LEAT_ABORTED, "the cluster was aborted");
  atomic_fetch_add(&self->sent[peer].control, size);
  early_message header = {.peer = transport->rank, .kind = kind, .size = size};
  if (deliver(peer_of(transport, peer), header, data)) return LEAT_OK;
  return leat_fail(error, LEAT_MEMORY, "no memory for a message of %zu bytes", size);
}

static void inproc_send(leat_transport *transport, int peer, const leat_edge_key *key,
                        const void *data, uint64_t bytes, leat_sent_function sent, void *context) {
  inproc_rank *self = (inproc_rank *)transport;
  leat_status status = LEAT_ABORTED;
  if (!atomic_load(&self->world->failed)) {
    atomic_fetch_add(&self->sent[peer].tensor, bytes);
    early_message header = {
        .peer = transport->rank, .is_tensor = true, .key = *key, .size = (size_t)bytes};
    status = deliver(peer_of(transport, peer), header, data) ? LEAT_OK : LEAT_MEMORY;
  }
  sent(context, status);
}

static bool inproc_wait(leat_transport *transport, leat_signal *signal, uint32_t seen,
                        int64_t until) {
  (void)transport;
  return leat_signal_wait(signal, seen, 0, until);
}

static void inproc_counts(leat_transport *transport, int peer, leat_transport_counts *out) {
  inproc_rank *self = (inproc_rank *)transport;
  out->tensor_bytes = atomic_load(&self->sent[peer].tensor);
  out->control_bytes = atomic_load(&self->sent[peer].control);
}

static void inproc_abort(leat_transport *transport, const char *message) {
  leat_inproc_world *world = ((inproc_rank *)transport)->world;
  if (atomic_exchange(&world->failed, true)) return;
  for (int i = 0; i < world->size; i++) {
    inproc_rank *rank = &world->ranks[i];
    pthread_rwlock_rdlock(&rank->lock);
    if (rank->started) rank->receiver.failed(rank->receiver.context, message);
    pthread_rwlock_unlock(&rank->lock);
  }
}

static void inproc_close(leat_transport *transport) {
  inproc_rank *rank = (inproc_rank *)transport;
  pthread_rwlock_wrlock(&rank->lock); // nobody is inside of the receiver now
  rank->started = false;
  pthread_rwlock_unlock(&rank->lock);
}

static const leat_transport_backend inproc_backend = {
    .version = LEAT_TRANSPORT_VERSION,
    .name = "inproc",
    .start = inproc_start,
    .control = inproc_control,
    .send = inproc_send,
    .wait = inproc_wait,
    .counts = inproc_counts,
    .abort = inproc_abort,
    .close = inproc_close,
};

leat_status leat_inproc_world_create(int size, leat_inproc_world **out, leat_error *error) {
  leat_inproc_world *world = *out = calloc(1, sizeof *world + (size_t)size * sizeof(inproc_rank));
  if (!world) return leat_fail(error, LEAT_MEMORY, "no memory for a world of %d ranks", size);
  world->size = size;
  for (int i = 0; i < size; i++) {
    inproc_rank *rank = &world->ranks[i];
    rank->base = (leat_transport){
        .backend = &inproc_backend, .rank = i, .size = size, .ranks_on_host = size};
    rank->world = world;
    rank->early_end = &rank->early;
    rank->sent = calloc((size_t)size, sizeof *rank->sent);
    pthread_rwlock_init(&rank->lock, NULL);
    if (!rank->sent) {
      leat_inproc_world_destroy(world);
      *out = NULL;
      return leat_fail(error, LEAT_MEMORY, "no memory for a world of %d ranks", size);
    }
  }
  return LEAT_OK;
}

void leat_inproc_world_destroy(leat_inproc_world *world) {
  if (!world) return;
  for (int i = 0; i < world->size; i++) {
    inproc_rank *rank = &world->ranks[i];
    if (!rank->world) continue;
    for (early_message *m = rank->early, *next; m; m = next) {
      next = m->next;
      free(m);
    }
    free(rank->sent);
    pthread_rwlock_destroy(&rank->lock);
  }
  free(world);
}

leat_status leat_inproc_join(leat_inproc_world *world, int rank, leat_transport **out,
                             leat_error *error) {
  *out = NULL;
  if (rank < 0 || rank >= world->size || world->ranks[rank].joined)
    return leat_fail(error, LEAT_INVALID, "rank %d cannot join a world of %d", rank, world->size);
  world->ranks[rank].joined = true;
  *out = &world->ranks[rank].base;
  return LEAT_OK;
}
