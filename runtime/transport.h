// Between the ranks of a cluster: control messages in order, and tensors for edges.
//
// A backend is one table of functions, a module's (`leat_mpi_transport`) or a test's (inproc.h).
// Tensors are received without being asked for: `place` says where one shall go (its buffer when a
// recv waits for it, else memory of the rendezvous), so a sender never waits for a receiver's
// schedule. Callbacks come from any thread, one at a time for each peer; they must not wait.
#ifndef LEAT_RUNTIME_TRANSPORT_H
#define LEAT_RUNTIME_TRANSPORT_H

#include "leat/status.h"
#include "runtime/signal.h"

#include <stddef.h>
#include <stdint.h>

enum { LEAT_TRANSPORT_VERSION = 4 };

// Names one tensor; compared whole.
typedef struct leat_edge_key {
  uint64_t session, step;
  uint32_t edge, iteration;
} leat_edge_key;

typedef struct leat_receiver {
  void *context;
  // A tensor of `bytes` begins to arrive. Returns where to put it (NULL: no memory, the transport
  // fails) and a token for the one call of `landed` that follows.
  void *(*place)(void *context, int peer, const leat_edge_key *key, uint64_t bytes, void **token);
  void (*landed)(void *context, void *token, leat_status status);
  // A control message; `data` is valid during the call.
  void (*control)(void *context, int peer, uint32_t kind, const void *data, size_t size);
  // Nothing will arrive any more, and why. Called once at most.
  void (*failed)(void *context, const char *message);
} leat_receiver;

// Called once when the source memory is not needed any more.
typedef void (*leat_sent_function)(void *context, leat_status status);

typedef struct leat_transport_counts {
  uint64_t tensor_bytes;  // of tensors sent to the peer
  uint64_t control_bytes; // of everything else: control messages and the transport's own
} leat_transport_counts;

// The world that a process expects to be in.
typedef struct leat_transport_world {
  const char *identity; // runtime/identity.h: every rank must have the same; NULL: nothing
  double deadline;      // seconds until all must have said hello; then the longest silence of any
} leat_transport_world;

typedef struct leat_transport leat_transport;

typedef struct leat_transport_backend {
  uint32_t version; // LEAT_TRANSPORT_VERSION
  const char *name;
  // Joins the world that this process was started in. NULL where there is none.
  leat_status (*connect)(const leat_transport_world *world, leat_transport **out,
                         leat_error *error);
  // Callbacks begin. Messages that came earlier were kept.
  void (*start)(leat_transport *transport, const leat_receiver *receiver);
  leat_status (*control)(leat_transport *transport, int peer, uint32_t kind, const void *data,
                         size_t size, leat_error *error);
  // Small tensors are copied before it returns; of others `data` is read until `sent` is called.
  // `sent` is called exactly once, perhaps before this returns, whatever happens.
  void (*send)(leat_transport *transport, int peer, const leat_edge_key *key, const void *data,
               uint64_t bytes, leat_sent_function sent, void *context);
  // Waits until the signal's value is not `seen` (leat_signal_wait) for something that comes from
  // another rank: callbacks may come from this thread meanwhile.
  bool (*wait)(leat_transport *transport, leat_signal *signal, uint32_t seen, int64_t until);
  void (*counts)(leat_transport *transport, int peer, leat_transport_counts *out);
  // Ends the world: every rank fails with the message (MPI: the job is killed).
  void (*abort)(leat_transport *transport, const char *message);
  // Sends what is queued (5 seconds at most), then leaves. No callback comes afterwards.
  void (*close)(leat_transport *transport);
} leat_transport_backend;

// Backends extend it.
struct leat_transport {
  const leat_transport_backend *backend;
  int rank, size;
  int ranks_on_host; // that share this host's cores, this one included
};

// -- mpi: the module leat-mpi, table `leat_mpi_transport` ----------------------------------------
//
// The world that mpiexec, Slurm or an MPI operator started; one connection a process, once:
//     leat_module_load("mpi", "leat_mpi_transport", &table, error), then table->connect(…).

#endif
