// A session over several processes (white paper 3.3; in-graph).
//
// Rank → task is the order of the cluster's text. One rank is the client: its session is the
// master, which partitions the graph, sends every other rank the text of its parts, and then one
// request a run to each rank that has a part. The others serve (worker.c): they compile what they
// are sent.
//
// Both ends hash the cluster, Leat's version and what is registered of a step (texts of its parts,
// hashes of the files that they load); the registration and each run carry the hash, so processes
// that disagree find out before anything runs.
//
// A message is `kind, ticket`, then what is said at its kind. A reply has the ticket of what it
// answers: the master throws away replies to what it gave up.
#ifndef LEAT_SESSION_CLUSTER_H
#define LEAT_SESSION_CLUSTER_H

#include "base/wire.h"
#include "session/loaded_step.h"

enum { LEAT_CLUSTER_RUNS = 1 }; // the session that the runtimes know these runs by

typedef struct leat_graph_hash {
  uint64_t words[2];
} leat_graph_hash;

leat_graph_hash leat_graph_hash_begin(const char *version, const char *cluster);
void leat_graph_hash_add(leat_graph_hash *hash, const void *data, size_t size);
bool leat_graph_hash_equal(const leat_graph_hash *a, const leat_graph_hash *b);

typedef struct leat_cluster {
  leat_transport *transport; // the runtime's
  int rank, size;
  leat_map homes;       // interned variable name → int *: the rank of the worker that has it
  uint64_t next_step;   // number of the next step registered
  uint64_t next_ticket; // of the next message that is answered
  leat_vec(leat_loaded_step *) steps; // with a part here, for the traffic
} leat_cluster;

typedef enum leat_message_kind {
  // step, hash of what follows, count, (device, text)…, count, (file, size, hash)…
  // → count, name of a variable…
  LEAT_MESSAGE_REGISTER = 1,
  LEAT_MESSAGE_RUN,  // step, hash, run, run_count, count, (dim, value)…
  LEAT_MESSAGE_DROP, // step; no reply
  LEAT_MESSAGE_READ, // variable, container → whether it is initialised, dtype, rank, shape…, bytes
  LEAT_MESSAGE_WRITE,    // variable, container, dtype, rank, shape…, bytes
  LEAT_MESSAGE_TRAFFIC,  // → text, a line a tensor sent
  LEAT_MESSAGE_SHUTDOWN, // no reply
  LEAT_MESSAGE_STOP,     // to the master: a signal has come; no reply
  LEAT_MESSAGE_REPLY,    // status, message, then what `→` says above
} leat_message_kind;

// Joins the world that started this process. The runtime takes the transport over.
LEAT_MUST_USE leat_status leat_cluster_join(const leat_session *session, leat_transport **out,
                                            leat_error *error);
// Makes session->cluster.
leat_status leat_cluster_init(leat_session *session, leat_transport *transport);
// The rank of a device: leat_executor_options.route with the session as context.
int leat_cluster_route(void *session, const char *device);

// -- The master's side -------------------------------------------------------------------------

// A worker that has a part of the step.
typedef struct leat_remote_part {
  int rank;
  leat_graph_hash hash;
} leat_remote_part;

typedef struct leat_remote {
  uint64_t step;   // its number at the workers
  uint64_t ticket; // of what they were asked last
  leat_vec(leat_remote_part) parts;
} leat_remote;

// Sends the parts that are not here to their ranks and takes them out of the driver's list. The
// workers compile while the master does; leat_remote_ready waits for them.
LEAT_MUST_USE leat_status leat_remote_register(leat_driver *driver, leat_arena *arena,
                                               leat_remote *out);
LEAT_MUST_USE leat_status leat_remote_ready(leat_session *session, const leat_remote *remote);

typedef struct leat_named_dim {
  const char *name;
  int64_t value;
} leat_named_dim;
// Asks the workers to run their parts; leat_remote_done waits until they have. failed: they have
// been told that the run has.
LEAT_MUST_USE leat_status leat_remote_run(leat_session *session, leat_remote *remote, uint64_t run,
                                          int64_t run_count, const leat_named_dim *dims,
                                          uint32_t dim_count);
LEAT_MUST_USE leat_status leat_remote_done(leat_session *session, const leat_remote *remote,
                                           bool failed);
// Takes what workers say unasked; waits for nothing.
void leat_remote_listen(leat_session *session);
void leat_remote_drop(leat_session *session, const leat_remote *remote);

// Takes a step that ends out of cluster->steps.
void leat_cluster_forget(leat_session *session, const leat_loaded_step *step);

// The rank whose worker has declared the variable; negative: none has.
int leat_remote_home(const leat_session *session, const leat_state *state);
// *found: whether it has a value; its data is the caller's then.
LEAT_MUST_USE leat_status leat_remote_read(leat_session *session, int rank, const leat_state *state,
                                           leat_tensor *out, bool *found);
LEAT_MUST_USE leat_status leat_remote_write(leat_session *session, int rank,
                                            const leat_state *state, const leat_tensor *value);
LEAT_MUST_USE leat_status leat_remote_shutdown(leat_session *session);

// What this process has sent, as lines `rank 0 tensor train/h:0 to rank 1: 20 x 512 bytes` and
// `rank 0 control to rank 1: 3104 bytes`.
void leat_cluster_traffic(leat_session *session, leat_text *out);
// All processes': the master asks the workers.
LEAT_MUST_USE leat_status leat_remote_traffic(leat_session *session, leat_text *out);

// -- Both sides; tests play one of them --------------------------------------------------------

LEAT_MUST_USE leat_status leat_message_send(leat_session *session, int peer, leat_message_kind kind,
                                            uint64_t ticket, const leat_text *body);

#endif
