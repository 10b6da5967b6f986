// A session over several processes (white paper 3.3; in-graph).
//
// Rank → task is the order of the cluster's text. One rank is the client: its session is the
// master, which partitions the graph, sends every other rank the text of its parts, and then one
// request a run to each rank that has a part. The others serve (worker.c): they compile what they
// are sent.
//
// Both ends keep a hash of the cluster, Leat's version and all texts registered so far; each
// request carries it, so processes that disagree find out before anything runs.
#ifndef LEAT_SESSION_CLUSTER_H
#define LEAT_SESSION_CLUSTER_H

#include "session/loaded_step.h"
#include "session/wire.h"

typedef struct leat_graph_hash {
  uint64_t words[2];
} leat_graph_hash;

leat_graph_hash leat_graph_hash_begin(const char *version, const char *cluster);
void leat_graph_hash_add(leat_graph_hash *hash, const char *text, size_t size);

typedef struct leat_cluster {
  leat_transport *transport; // the runtime's
  int rank, size;
  leat_graph_hash *hashes; // by rank, of what was registered there; a worker's own is its rank's
  leat_map homes;          // interned variable name → leat_home *: which worker has it
  uint64_t next_step;      // number of the next step registered
  leat_vec(leat_loaded_step *) steps; // with a part here, for the traffic
} leat_cluster;

// What a message is; the first word. A reply is `status, message`, then what is said here.
typedef enum leat_message_kind {
  // step, hash, count, (device, text)…, count, (file, size, hash)… → names of variables
  LEAT_MESSAGE_REGISTER = 1,
  LEAT_MESSAGE_RUN,      // step, hash, run, run_count, count, (dim, value)…
  LEAT_MESSAGE_DROP,     // step; no reply
  LEAT_MESSAGE_WRITE,    // variable, container, dtype, rank, shape…, bytes
  LEAT_MESSAGE_TRAFFIC,  // → text, a line a tensor sent
  LEAT_MESSAGE_SHUTDOWN, // no reply
  LEAT_MESSAGE_REPLY,
} leat_message_kind;

// Joins the world that started this process when the cluster has more than one task; else *out
// stays NULL. The runtime takes the transport over.
leat_status leat_cluster_join(const char *cluster, leat_transport **out, leat_error *error);
// Makes session->cluster.
leat_status leat_cluster_init(leat_session *session, leat_transport *transport);
// The rank of a device: leat_executor_options.route with the session as context.
int leat_cluster_route(void *session, const char *device);

// -- The master's side: `ranks` are the workers that have a part of the step
// ---------------------------

typedef struct leat_remote {
  uint64_t step; // its number at the workers
  leat_vec(int) ranks;
} leat_remote;

// Sends the parts that are not here to their ranks and takes them out of the driver's list. The
// workers compile while the master does; leat_remote_ready waits for them.
leat_status leat_remote_register(leat_driver *driver, leat_arena *arena, leat_remote *out);
leat_status leat_remote_ready(leat_session *session, const leat_remote *remote);
typedef struct leat_named_dim {
  const char *name;
  int64_t value;
} leat_named_dim;
leat_status leat_remote_run(leat_session *session, const leat_remote *remote, uint64_t run,
                            int64_t run_count, const leat_named_dim *dims, uint32_t dim_count);
leat_status leat_remote_done(leat_session *session, const leat_remote *remote);
void leat_remote_drop(leat_session *session, const leat_remote *remote);

// Takes a step that ends out of cluster->steps.
void leat_cluster_forget(leat_session *session, const leat_loaded_step *step);

// The rank whose worker has declared the variable; negative: none has.
int leat_remote_home(const leat_session *session, const leat_state *state);
leat_status leat_remote_write(leat_session *session, int rank, const leat_state *state,
                              const leat_tensor *value);
void leat_remote_shutdown(leat_session *session);

// What every process has sent, as lines `rank 0 tensor train/h:0 to rank 1: 20 x 512 bytes` and
// `rank 0 control to rank 1: 3104 bytes`; this one's alone.
void leat_cluster_traffic(leat_session *session, leat_text *out);
// All processes': the master asks the workers.
leat_status leat_remote_traffic(leat_session *session, leat_text *out);

// Takes a worker's next message of a kind apart: shared with tests that play one side.
leat_status leat_message_send(leat_session *session, int peer, leat_message_kind kind,
                              const leat_text *body);

#endif
