// What every transport must do, played by all ranks at once: each sends the same control messages
// and tensors to each other rank and checks what it gets.
#ifndef LEAT_TESTS_UNIT_TRANSPORT_CONFORMANCE_H
#define LEAT_TESTS_UNIT_TRANSPORT_CONFORMANCE_H

#include "runtime/signal.h"
#include "runtime/transport.h"
#include "tests/unit/check.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { CONFORMANCE_RANKS = 8, CONFORMANCE_CONTROLS = 200 };
enum { KIND_ORDERED = 3, KIND_PING, KIND_PONG, KIND_DONE };

// Around the sizes at which backends change their ways.
static const uint64_t conformance_sizes[] = {
    0, 1, 100, 64 << 10, (64 << 10) + 1, 1 << 20, (64 << 20) + 12345};
enum { CONFORMANCE_SIZES = sizeof conformance_sizes / sizeof *conformance_sizes };

typedef struct conformance {
  leat_transport *transport;
  leat_signal changed;
  _Atomic int controls[CONFORMANCE_RANKS]; // ordered ones from each rank so far
  _Atomic int landed, sent, pongs, done, faults;
  char fault[256]; // the first one
} conformance;

typedef struct conformance_tensor {
  leat_edge_key key;
  int peer;
  uint64_t bytes;
  unsigned char data[];
} conformance_tensor;

static unsigned char conformance_byte(int from, uint32_t edge, uint64_t i) {
  return (unsigned char)(i * 31 + i / 4093 + edge * 7 + (uint32_t)from * 101);
}

__attribute__((format(printf, 2, 3))) static void conformance_fault(conformance *c,
                                                                    const char *format, ...) {
  if (atomic_fetch_add(&c->faults, 1)) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(c->fault, sizeof c->fault, format, arguments);
  va_end(arguments);
}

static void *conformance_place(void *context, int peer, const leat_edge_key *key, uint64_t bytes,
                               void **token) {
  (void)context;
  conformance_tensor *tensor = malloc(sizeof *tensor + bytes);
  tensor->key = *key;
  tensor->peer = peer;
  tensor->bytes = bytes;
  *token = tensor;
  return tensor->data;
}

static void conformance_landed(void *context, void *token, leat_status status) {
  conformance *c = context;
  conformance_tensor *tensor = token;
  const leat_edge_key *key = &tensor->key;
  bool right = !status && key->session == 5 && key->step == 1ull << 40 && key->iteration == 2 &&
               key->edge < CONFORMANCE_SIZES && tensor->bytes == conformance_sizes[key->edge];
  for (uint64_t i = 0; right && i < tensor->bytes; i++)
    right = tensor->data[i] == conformance_byte(tensor->peer, key->edge, i);
  if (!right)
    conformance_fault(c, "tensor %u of rank %d: status %d, step %#llx, %llu bytes", key->edge,
                      tensor->peer, status, (unsigned long long)key->step,
                      (unsigned long long)tensor->bytes);
  free(tensor);
  atomic_fetch_add(&c->landed, 1);
  leat_signal_raise(&c->changed);
}

static size_t conformance_control_size(int i) {
  return i % 50 == 49 ? 100000 : (size_t)i;
}

static void conformance_control(void *context, int peer, uint32_t kind, const void *data,
                                size_t size) {
  conformance *c = context;
  if (kind == KIND_ORDERED) {
    int i = atomic_load(&c->controls[peer]);
    bool right = size == conformance_control_size(i);
    const unsigned char *bytes = data;
    for (size_t k = 0; right && k < size; k++)
      right = bytes[k] == conformance_byte(peer, (uint32_t)i, k);
    if (!right) conformance_fault(c, "message %d of rank %d: %zu bytes", i, peer, size);
    atomic_fetch_add(&c->controls[peer], 1);
  } else if (kind == KIND_PING) {
    leat_error error = {0};
    if (c->transport->backend->control(c->transport, peer, KIND_PONG, data, size, &error))
      conformance_fault(c, "pong to rank %d: %s", peer, error.message);
  } else if (kind == KIND_PONG) {
    atomic_fetch_add(&c->pongs, 1);
  } else if (kind == KIND_DONE) {
    atomic_fetch_add(&c->done, 1);
  }
  leat_signal_raise(&c->changed);
}

static void conformance_failed(void *context, const char *message) {
  conformance *c = context;
  conformance_fault(c, "failed: %s", message);
  leat_signal_raise(&c->changed);
}

static void conformance_sent(void *context, leat_status status) {
  conformance *c = context;
  if (status) conformance_fault(c, "a tensor was not sent: status %d", status);
  atomic_fetch_add(&c->sent, 1);
  leat_signal_raise(&c->changed);
}

// Waits until the counter is at least `value`, 30 seconds at most.
static bool conformance_wait(conformance *c, _Atomic int *counter, int value) {
  int64_t until = leat_clock_after(30);
  for (;;) {
    uint32_t seen = leat_signal_value(&c->changed);
    if (atomic_load(counter) >= value) return true;
    if (!c->transport->backend->wait(c->transport, &c->changed, seen, until)) return false;
  }
}

static bool conformance_say(conformance *c, int peer, uint32_t kind, const void *data,
                            size_t size) {
  leat_error error = {0};
  return !c->transport->backend->control(c->transport, peer, kind, data, size, &error);
}

static bool conformance_send_controls(conformance *c, int peer) {
  unsigned char *bytes = malloc(100000);
  bool fine = true;
  for (int i = 0; i < CONFORMANCE_CONTROLS; i++) {
    size_t size = conformance_control_size(i);
    for (size_t k = 0; k < size; k++)
      bytes[k] = conformance_byte(c->transport->rank, (uint32_t)i, k);
    fine &= conformance_say(c, peer, KIND_ORDERED, bytes, size);
  }
  free(bytes);
  return fine;
}

// The half-way time of a small control message there and back, in nanoseconds.
static double conformance_latency(conformance *c, int peer) {
  enum { TURNS = 1000 };
  int64_t begin = leat_clock();
  for (int i = 0; i < TURNS; i++) {
    if (!conformance_say(c, peer, KIND_PING, "ping", 4)) return -1;
    if (!conformance_wait(c, &c->pongs, i + 1)) return -1;
  }
  return (double)(leat_clock() - begin) / TURNS / 2;
}

// Plays one rank; the transport is started here and not closed. Returns "" or what is wrong.
static const char *conformance_play(leat_transport *transport, conformance *c) {
  const leat_transport_backend *backend = transport->backend;
  int rank = transport->rank, others = transport->size - 1;
  unsigned char *tensors[CONFORMANCE_SIZES];
  uint64_t total = 0;
  *c = (conformance){.transport = transport};
  if (rank == 1) usleep(50000); // what the others send before it starts is kept, in order
  backend->start(transport, &(leat_receiver){.context = c,
                                             .place = conformance_place,
                                             .landed = conformance_landed,
                                             .control = conformance_control,
                                             .failed = conformance_failed});
  for (uint32_t edge = 0; edge < CONFORMANCE_SIZES; edge++) {
    uint64_t size = conformance_sizes[edge];
    tensors[edge] = malloc(size + 1);
    total += size;
    for (uint64_t i = 0; i < size; i++) tensors[edge][i] = conformance_byte(rank, edge, i);
  }
  for (int peer = 0; peer < transport->size; peer++) {
    if (peer == rank) continue;
    if (!conformance_send_controls(c, peer)) return "a control message was not taken";
    for (uint32_t edge = 0; edge < CONFORMANCE_SIZES; edge++) {
      leat_edge_key key = {.session = 5, .step = 1ull << 40, .edge = edge, .iteration = 2};
      backend->send(transport, peer, &key, tensors[edge], conformance_sizes[edge], conformance_sent,
                    c);
    }
  }
  bool fine = conformance_wait(c, &c->sent, others * CONFORMANCE_SIZES) &&
              conformance_wait(c, &c->landed, others * CONFORMANCE_SIZES);
  for (int peer = 0; peer < transport->size; peer++)
    if (peer != rank) fine &= conformance_wait(c, &c->controls[peer], CONFORMANCE_CONTROLS);
  for (uint32_t edge = 0; edge < CONFORMANCE_SIZES; edge++) free(tensors[edge]);
  if (!fine) return "something did not arrive in time";
  for (int peer = 0; peer < transport->size; peer++) {
    leat_transport_counts counts = {0};
    backend->counts(transport, peer, &counts);
    if (peer != rank && (counts.tensor_bytes != total || counts.control_bytes == 0))
      return "the counters are wrong";
  }
  double latency = rank == 0 ? conformance_latency(c, 1) : 0;
  if (rank == 0) printf("%s: one way %.2f us\n", backend->name, latency / 1e3);
  for (int peer = 0; peer < transport->size; peer++)
    if (peer != rank && !conformance_say(c, peer, KIND_DONE, NULL, 0)) return "cannot say done";
  if (latency < 0 || !conformance_wait(c, &c->done, others)) return "the ranks do not end together";
  return atomic_load(&c->faults) ? c->fault : "";
}

#endif
