// The world that a session spans: joining it, routing, the hash, and what was sent.
#include "session/cluster.h"

#include "base/module.h"
#include "session/build_id.h"

#include <inttypes.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

// -- The hash ------------------------------------------------------------------------------------

void leat_graph_hash_add(leat_graph_hash *hash, const void *data, size_t size) {
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  XXH3_128bits_update(&state, hash->words, sizeof hash->words);
  XXH3_128bits_update(&state, data, size);
  XXH128_hash_t digest = XXH3_128bits_digest(&state);
  *hash = (leat_graph_hash){{digest.low64, digest.high64}};
}

leat_graph_hash leat_graph_hash_begin(const char *version, const char *cluster) {
  leat_graph_hash hash = {0};
  leat_graph_hash_add(&hash, version, strlen(version));
  leat_graph_hash_add(&hash, cluster, strlen(cluster));
  return hash;
}

bool leat_graph_hash_equal(const leat_graph_hash *a, const leat_graph_hash *b) {
  return a->words[0] == b->words[0] && a->words[1] == b->words[1];
}

// -- The world -----------------------------------------------------------------------------------

// What all ranks must have been started with: whatever shows in what they compute, or how long it
// takes. The CPU is the level that code is made for, so `host` on unlike hosts differs.
static void describe(const leat_session *session, leat_text *out) {
  const leat_session_options *options = &session->options;
  const leat_target *target = leat_target_find(options->target);
  leat_text_add(out, "build\t");
  leat_build_id_add(out);
  leat_text_add(out, "--cluster\t%s\n", options->cluster);
  leat_text_add(out, "--devices\t%d\n", options->devices);
  leat_text_add(out, "--target\t%s\n", target ? target->name : options->target);
  leat_text_add(out, "--cpu\t%s\n", session->cpu);
  leat_text_add(out, "--blis\t%s\n", options->blis ? "on" : "off");
  leat_text_add(out, "--denormals\t%s\n", options->denormals);
  leat_text_add(out, "--numerics\t%s\n", options->numerics);
  if (options->threads)
    leat_text_add(out, "--threads\t%d\n", options->threads);
  else
    leat_text_add(out, "--threads\tnone\n");
}

leat_status leat_cluster_join(const leat_session *session, leat_transport **out,
                              leat_error *error) {
  *out = NULL;
  const void *table = NULL;
  LEAT_TRY(leat_module_load("mpi", "leat_mpi_transport", &table, error));
  const leat_transport_backend *backend = table;
  leat_text identity = {0};
  describe(session, &identity);
  leat_transport_world world = {.identity = identity.data, .deadline = session->options.deadline};
  leat_status status = backend->connect(&world, out, error);
  leat_text_finish(&identity);
  LEAT_TRY(status);
  int tasks = session->devices.size, size = (*out)->size;
  if (size == tasks) return LEAT_OK;
  backend->close(*out);
  *out = NULL;
  return leat_fail(error, LEAT_MISMATCH,
                   "the cluster `%s` has %d tasks, and %d process%s started: run it as "
                   "`leat launch -n %d -- train …` or `mpiexec -n %d leat train …`",
                   session->options.cluster, tasks, size, size == 1 ? " was" : "es were", tasks,
                   tasks);
}

leat_status leat_cluster_init(leat_session *session, leat_transport *transport) {
  leat_cluster *cluster = leat_new(session->arena, leat_cluster);
  cluster->transport = transport;
  cluster->rank = transport->rank;
  cluster->size = transport->size;
  leat_map_init(&cluster->homes, session->arena);
  session->cluster = cluster;
  return LEAT_OK;
}

int leat_cluster_route(void *context, const char *device) {
  const leat_session *session = context;
  const leat_device *found = leat_devices_find(&session->devices, device);
  return found ? found->rank : -1;
}

leat_status leat_message_send(leat_session *session, int peer, leat_message_kind kind,
                              uint64_t ticket, const leat_text *body) {
  leat_text message = {0};
  leat_wire_put(&message, kind);
  leat_wire_put(&message, ticket);
  if (body && body->size) leat_text_add_n(&message, body->data, body->size);
  leat_status status =
      leat_runtime_send(session->runtime, peer, message.data, message.size, &session->error);
  leat_text_finish(&message);
  return status;
}

void leat_cluster_forget(leat_session *session, const leat_loaded_step *step) {
  leat_cluster *cluster = session->cluster;
  for (uint32_t i = 0; i < cluster->steps.count; i++)
    if (cluster->steps.items[i] == step)
      cluster->steps.items[i--] = cluster->steps.items[--cluster->steps.count];
}

// -- What was sent -------------------------------------------------------------------------------

void leat_cluster_traffic(leat_session *session, leat_text *out) {
  leat_cluster *cluster = session->cluster;
  for (uint32_t i = 0; i < cluster->steps.count; i++) {
    const leat_executor *executor = cluster->steps.items[i]->executor;
    for (size_t s = 0; s < leat_executor_send_count(executor); s++) {
      leat_send_info send;
      leat_executor_send(executor, s, &send);
      if (send.peer < 0 || send.peer == cluster->rank || !send.count) continue;
      leat_text_add(out, "rank %d tensor %s to rank %d: %" PRIu64 " x %" PRIu64 " bytes\n",
                    cluster->rank, send.name, send.peer, send.count, send.bytes / send.count);
    }
  }
  for (int peer = 0; peer < cluster->size; peer++) {
    leat_transport_counts counts = {0};
    if (peer != cluster->rank)
      cluster->transport->backend->counts(cluster->transport, peer, &counts);
    if (counts.control_bytes)
      leat_text_add(out, "rank %d control to rank %d: %" PRIu64 " bytes\n", cluster->rank, peer,
                    counts.control_bytes);
  }
}
