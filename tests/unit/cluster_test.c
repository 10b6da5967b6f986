// A session over several ranks, here runtimes of one process joined by the inproc transport: the
// same losses as alone, and peers that disagree find out.
#include "tests/unit/inproc.h"
#include "tests/unit/ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char training[] =
    "graph net(seed: int = 3)\n"
    "fn net(x: f32[N, 4]) -> f32[N, 3] {\n"
    "  return dense(dense(x, units=16, activation=tanh) as hidden, units=3) as output\n"
    "}\n"
    "entry train(x: f32[N, 4], y: i32[N]) training -> (loss: f32[]) {\n"
    "  for t in tasks(\"worker\") {\n"
    "    on \"/job:worker/task:{t}\" {\n"
    "      losses[t] = mean(softmax_cross_entropy(net(x) as net, y))\n"
    "      grads[t] = grad(losses[t], trainables(losses[t]))\n"
    "    }\n"
    "  }\n"
    "  apply(momentum, trainables(losses[0]), mean_of(grads), lr=0.1)\n"
    "  loss = mean_of(losses)\n"
    "}\n";

enum { ROWS = 24, STEPS = 8 };

static void make_batch(float *x, int32_t *y) {
  for (int i = 0; i < ROWS; i++) {
    y[i] = i % 3;
    for (int k = 0; k < 4; k++) x[4 * i + k] = sinf((float)(7 * i + 3 * k)) + (k == y[i] ? 1 : 0);
  }
}

static leat_session_options options_for(const char *cluster) {
  return (leat_session_options){.cluster = cluster, .cache = "off", .threads = 1, .deadline = 20};
}

// Runs STEPS steps and writes each loss.
static leat_status train(leat_session *session, float *losses) {
  float x[ROWS * 4];
  int32_t y[ROWS];
  make_batch(x, y);
  leat_step *step;
  const char *entry = "train";
  LEAT_TRY(leat_session_extend(session, training, 0, "net.leat"));
  LEAT_TRY(
      leat_session_prepare(session, &(leat_step_spec){.entries = &entry, .entry_count = 1}, &step));
  leat_tensor feeds[] = {{LEAT_f32, 2, {ROWS, 4}, x}, {LEAT_i32, 1, {ROWS}, y}}, loss;
  leat_status status = LEAT_OK;
  for (int i = 0; i < STEPS && !status; i++) {
    status = leat_step_run(step, feeds, &loss);
    if (!status) losses[i] = *(float *)loss.data;
  }
  leat_step_destroy(step);
  return status;
}

// Trains over `count` sessions of this process.
static void train_on(const char *cluster, int count, float *losses) {
  leat_session_options options[MOST_RANKS];
  for (int i = 0; i < count; i++) options[i] = options_for(cluster);
  ranks r = ranks_begin(options, count);
  if (train(r.client, losses)) CHECK_FAILED("%s: %s", cluster, leat_session_message(r.client));
  ranks_end(&r);
}

static void train_alone(float *losses) {
  leat_session *session;
  leat_session_options options = options_for(NULL);
  CHECK_EQ_INT(leat_session_create(&options, &session), LEAT_OK);
  if (train(session, losses)) CHECK_FAILED("alone: %s", leat_session_message(session));
  leat_session_destroy(session);
}

TEST(two_ranks_give_the_same_bits) {
  float alone[STEPS] = {0}, two[STEPS] = {1};
  train_alone(alone);
  train_on("ps=1,worker=1", 2, two);
  for (int i = 0; i < STEPS; i++) CHECK(alone[i] == two[i]);
  CHECK(alone[STEPS - 1] < alone[0]);
}

TEST(replicas_average_their_gradients) {
  float alone[STEPS] = {0}, three[STEPS] = {0};
  train_alone(alone);
  train_on("ps=1,worker=2", 3, three); // both workers see the same batch
  for (int i = 0; i < STEPS; i++) CHECK(fabsf(alone[i] - three[i]) < 1e-5f);
}

// -- Peers that disagree -------------------------------------------------------------------------

static const char part[] =
    "graph net device=\"/job:ps/task:0/device:cpu:0\"\n"
    "$w/init/const: f32[] = 1.5\n"
    "var $w: f32[] = $w/init/const on \"/job:ps/task:0/device:cpu:0\"\n"
    "$r: f32[] = read(state=$w) on \"/job:ps/task:0/device:cpu:0\"\n"
    "$s = assign($r, state=$w) on \"/job:ps/task:0/device:cpu:0\" after [$r]\n";

// A master that this test plays, rank 1, and workers that serve in threads: rank 0 and, of three
// ranks, rank 2.
typedef struct world {
  leat_inproc_world *world;
  int size;
  const char *cluster;
  leat_session *sessions[MOST_RANKS], *master;
  pthread_t threads[MOST_RANKS];
} world;

enum { MASTER = 1 };

static world world_begin(int size) {
  world w = {.size = size, .cluster = size == 2 ? "ps=1,worker=1" : "ps=1,worker=2"};
  leat_transport *transports[MOST_RANKS];
  leat_error error = {0};
  leat_session_options options = options_for(w.cluster);
  CHECK_EQ_INT(leat_inproc_world_create(size, &w.world, &error), LEAT_OK);
  for (int i = 0; i < size; i++)
    CHECK_EQ_INT(leat_inproc_join(w.world, i, &transports[i], &error), LEAT_OK);
  for (int i = 0; i < size; i++)
    CHECK_EQ_INT(leat_session_create_on(&options, transports[i], &w.sessions[i]), LEAT_OK);
  for (int i = 0; i < size; i++)
    if (i != MASTER) pthread_create(&w.threads[i], NULL, serve, w.sessions[i]);
  w.master = w.sessions[MASTER];
  return w;
}

static void world_end(world *w) {
  leat_session_destroy(w->master);
  for (int i = 0; i < w->size; i++) {
    if (i == MASTER) continue;
    pthread_join(w->threads[i], NULL);
    leat_session_destroy(w->sessions[i]);
  }
  leat_inproc_world_destroy(w->world);
}

static void send(world *w, int rank, leat_message_kind kind, uint64_t ticket,
                 const leat_text *body) {
  CHECK_EQ_INT(leat_message_send(w->master, rank, kind, ticket, body), LEAT_OK);
}

// Sends a rank its part of a step, whose hash is made with this version and whose text is altered
// afterwards; the hash.
static leat_graph_hash send_part(world *w, int rank, uint64_t ticket, const char *version,
                                 const char *text, bool alter) {
  leat_text step = {0}, body = {0};
  leat_wire_put(&step, 1);
  leat_wire_put_string(&step, rank == 0 ? "/job:ps/task:0/device:cpu:0"
                                        : "/job:worker/task:1/device:cpu:0");
  leat_wire_put_bytes(&step, text, strlen(text));
  leat_wire_put(&step, 0);
  leat_graph_hash hash = leat_graph_hash_begin(version, w->cluster);
  leat_graph_hash_add(&hash, step.data, step.size);
  if (alter) *strstr(step.data + step.size - strlen(text) - sizeof(uint64_t), "1.5") = '2';
  leat_wire_put(&body, ticket);
  leat_wire_put(&body, hash.words[0]);
  leat_wire_put(&body, hash.words[1]);
  leat_text_add_n(&body, step.data, step.size);
  send(w, rank, LEAT_MESSAGE_REGISTER, ticket, &body);
  leat_text_finish(&step);
  leat_text_finish(&body);
  return hash;
}

static leat_graph_hash send_step(world *w, uint64_t ticket, const char *version, bool alter) {
  return send_part(w, 0, ticket, version, part, alter);
}

// What a worker answers to the message with this ticket.
static leat_status reply_of(world *w, int rank, uint64_t ticket) {
  leat_remote remote = {.ticket = ticket};
  leat_vec_push(w->master->arena, &remote.parts, (leat_remote_part){.rank = rank});
  leat_session_begin(w->master);
  leat_status status = leat_remote_ready(w->master, &remote);
  char who[16];
  snprintf(who, sizeof who, "rank %d: ", rank);
  const char *message = w->master->error.message;
  if (status) CHECK(strstr(message, who) == message);
  return status;
}

static leat_status reply_to(world *w, uint64_t ticket) {
  return reply_of(w, 0, ticket);
}

TEST(a_part_that_was_altered_is_refused_and_leaves_no_trace) {
  world w = world_begin(2);
  send_step(&w, 1, LEAT_VERSION, false);
  CHECK_EQ_INT(reply_to(&w, 1), LEAT_OK);
  send_step(&w, 2, LEAT_VERSION, true);
  CHECK_EQ_INT(reply_to(&w, 2), LEAT_MISMATCH);
  send_step(&w, 3, "0.0.1", false);
  CHECK_EQ_INT(reply_to(&w, 3), LEAT_MISMATCH);
  send_step(&w, 4, LEAT_VERSION, false);
  CHECK_EQ_INT(reply_to(&w, 4), LEAT_OK);
  world_end(&w);
}

// Asks a rank for a run of the step that was sent with the ticket `step`.
static void send_run(world *w, int rank, uint64_t ticket, uint64_t step, leat_graph_hash hash,
                     uint64_t run) {
  leat_text body = {0};
  leat_wire_put(&body, step);
  leat_wire_put(&body, hash.words[0]);
  leat_wire_put(&body, hash.words[1]);
  leat_wire_put(&body, run);
  leat_wire_put(&body, 0); // run_count
  leat_wire_put(&body, 0); // dims
  send(w, rank, LEAT_MESSAGE_RUN, ticket, &body);
  leat_text_finish(&body);
}

static leat_status run_step(world *w, uint64_t ticket, uint64_t step, leat_graph_hash hash) {
  send_run(w, 0, ticket, step, hash, ticket);
  return reply_to(w, ticket);
}

TEST(a_run_of_another_graph_is_refused) {
  world w = world_begin(2);
  leat_graph_hash hash = send_step(&w, 1, LEAT_VERSION, false);
  CHECK_EQ_INT(reply_to(&w, 1), LEAT_OK);
  CHECK_EQ_INT(run_step(&w, 2, 1, hash), LEAT_OK);
  for (int word = 0; word < 2; word++) {
    leat_graph_hash other = hash;
    other.words[word] ^= 1;
    CHECK_EQ_INT(run_step(&w, 3 + (uint64_t)word, 1, other), LEAT_MISMATCH);
    CHECK(strstr(w.master->error.message, "the graph's hash differs from the master's"));
  }
  CHECK_EQ_INT(run_step(&w, 5, 9, hash), LEAT_MISMATCH); // never sent
  CHECK_EQ_INT(run_step(&w, 6, 1, hash), LEAT_OK);
  world_end(&w);
}

// Two parts of a step: rank 2 waits for what rank 0 sends.
static const char sender[] =
    "graph net device=\"/job:ps/task:0/device:cpu:0\"\n"
    "entry f() {\n"
    "  $f/a: f32[] = 1.5 on \"/job:ps/task:0/device:cpu:0\"\n"
    "  $f/send = send($f/a, edge=0, to=\"/job:worker/task:1/device:cpu:0\") "
    "on \"/job:ps/task:0/device:cpu:0\"\n"
    "}\n";
static const char receiver[] =
    "graph net device=\"/job:worker/task:1/device:cpu:0\"\n"
    "$w/init/const: f32[] = 1.5\n"
    "var $w: f32[] = $w/init/const on \"/job:worker/task:1/device:cpu:0\"\n"
    "entry f() {\n"
    "  $f/recv: f32[] = recv(edge=0, from=\"/job:ps/task:0/device:cpu:0\", type=f32[]) "
    "on \"/job:worker/task:1/device:cpu:0\"\n"
    "  $f/set = assign($f/recv, state=$w) on \"/job:worker/task:1/device:cpu:0\"\n"
    "}\n";

// Else they would wait for it until their deadline.
TEST(peers_are_told_of_a_run_that_is_refused) {
  world w = world_begin(3);
  leat_graph_hash first = send_part(&w, 0, 1, LEAT_VERSION, sender, false);
  CHECK_EQ_INT(reply_of(&w, 0, 1), LEAT_OK);
  leat_graph_hash second = send_part(&w, 2, 2, LEAT_VERSION, receiver, false);
  CHECK_EQ_INT(reply_of(&w, 2, 2), LEAT_OK);
  send_run(&w, 2, 3, 2, second, 1);
  send_run(&w, 0, 4, 1, second, 1); // another's hash
  CHECK_EQ_INT(reply_of(&w, 2, 3), LEAT_MISMATCH);
  CHECK(strstr(w.master->error.message, "rank 2: rank 0: the graph's hash differs"));
  send_run(&w, 2, 5, 2, second, 2);
  send_run(&w, 0, 6, 1, first, 2);
  CHECK_EQ_INT(reply_of(&w, 2, 5), LEAT_OK);
  world_end(&w);
}

// A tensor of `rank` dims, each of extent 1, in a message.
static leat_text tensor_of_rank(uint64_t rank) {
  static const float one = 1;
  leat_text out = {0};
  leat_wire_put(&out, LEAT_f32);
  leat_wire_put(&out, rank);
  for (uint64_t i = 0; i < rank && i < 64; i++) leat_wire_put(&out, 1);
  leat_wire_put_bytes(&out, &one, sizeof one);
  return out;
}

TEST(tensors_of_too_many_dims_are_refused) {
  static const uint64_t ranks[] = {0, 1, LEAT_MAX_RANK, LEAT_MAX_RANK + 1, 60, 1ull << 32, ~0ull};
  for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
    struct {
      leat_tensor tensor;
      int64_t behind[64]; // that nothing is written there
    } out = {0};
    leat_text text = tensor_of_rank(ranks[i]);
    leat_wire in = {text.data, text.data + text.size, false};
    bool fits = ranks[i] <= LEAT_MAX_RANK;
    CHECK_EQ_INT(leat_wire_get_tensor(&in, &out.tensor), fits);
    CHECK_EQ_INT(in.bad, !fits);
    CHECK_EQ_INT(!out.tensor.data, !fits);
    for (int k = 0; k < 64; k++) CHECK_EQ_INT(out.behind[k], 0);
    free(out.tensor.data);
    leat_text_finish(&text);
  }
}

TEST(tensors_of_impossible_shapes_are_refused) {
  static const struct {
    int64_t shape[2];
    size_t bytes; // that come
    bool fits;
  } cases[] = {
      {{2, 3}, 24, true},          {{0, 5}, 0, true},
      {{2, 3}, 20, false},         {{2, 3}, 28, false},
      {{-1, 3}, 0, false},         {{-2, -3}, 24, false},
      {{INT64_MAX, 2}, 24, false}, {{INT64_MIN, 0}, 0, false},
      {{1ll << 62, 1}, 0, false},  {{1ll << 31, 1ll << 31}, 0, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    static const char bytes[32];
    leat_text text = {0};
    leat_wire_put(&text, LEAT_f32);
    leat_wire_put(&text, 2);
    for (int d = 0; d < 2; d++) leat_wire_put(&text, (uint64_t)cases[i].shape[d]);
    leat_wire_put_bytes(&text, bytes, cases[i].bytes);
    leat_wire in = {text.data, text.data + text.size, false};
    leat_tensor tensor;
    if (leat_wire_get_tensor(&in, &tensor) != cases[i].fits) CHECK_FAILED("case %zu", i);
    CHECK_EQ_INT(!tensor.data, !cases[i].fits);
    free(tensor.data);
    leat_text_finish(&text);
  }
}

// Too many dims from a peer: the variable keeps its value, and the worker serves on.
TEST(a_peer_cannot_write_a_tensor_of_too_many_dims) {
  world w = world_begin(2);
  leat_graph_hash hash = send_step(&w, 1, LEAT_VERSION, false);
  CHECK_EQ_INT(reply_to(&w, 1), LEAT_OK);
  for (uint64_t ticket = 2, rank = 0; rank < 60; rank += 20, ticket++) {
    leat_text body = {0}, tensor = tensor_of_rank(rank);
    leat_wire_put_string(&body, "w");
    leat_wire_put_string(&body, "");
    leat_text_add_n(&body, tensor.data, tensor.size);
    send(&w, 0, LEAT_MESSAGE_WRITE, ticket, &body);
    CHECK_EQ_INT(reply_to(&w, ticket), rank ? LEAT_MISMATCH : LEAT_OK);
    leat_text_finish(&body);
    leat_text_finish(&tensor);
  }
  CHECK_EQ_INT(run_step(&w, 9, 1, hash), LEAT_OK);
  world_end(&w);
}

TEST(a_part_that_no_pass_made_is_refused) {
  static const char raw[] = "graph net device=\"/job:ps/task:0/device:cpu:0\"\n"
                            "$w/init/const: f32[] = 1.5\n"
                            "var $w: f32[] = $w/init/const on \"/job:ps/task:0/device:cpu:0\"\n"
                            "$one: f32[] = 1 on \"/job:ps/task:0/device:cpu:0\"\n"
                            "$s = assign_add($one, state=$w) on \"/job:ps/task:0/device:cpu:0\"\n";
  world w = world_begin(2);
  send_part(&w, 0, 1, LEAT_VERSION, raw, false);
  CHECK_EQ_INT(reply_to(&w, 1), LEAT_INVALID);
  CHECK(strstr(w.master->error.message, "node $s: no graph of the phase `legal` has assign_add"));
  send_step(&w, 2, LEAT_VERSION, false);
  CHECK_EQ_INT(reply_to(&w, 2), LEAT_OK);
  world_end(&w);
}

TEST(replies_to_what_was_given_up_are_thrown_away) {
  world w = world_begin(2);
  send_step(&w, 1, "0.0.1", false);
  send_step(&w, 2, LEAT_VERSION, false);
  CHECK_EQ_INT(reply_to(&w, 2), LEAT_OK);
  world_end(&w);
}

TEST(messages_that_make_no_sense_are_refused) {
  world w = world_begin(2);
  uint64_t ticket = 1;
  for (int kind = LEAT_MESSAGE_REGISTER; kind <= LEAT_MESSAGE_REPLY + 1; kind++) {
    bool asks =
        kind != LEAT_MESSAGE_DROP && kind != LEAT_MESSAGE_SHUTDOWN && kind != LEAT_MESSAGE_TRAFFIC;
    if (!asks) continue;
    for (size_t size = 0; size < 80; size += 8) {
      leat_text body = {0};
      for (size_t i = 0; i < size; i++) leat_text_add_n(&body, i % 16 < 8 ? "\1" : "\377", 1);
      send(&w, 0, (leat_message_kind)kind, ticket, &body);
      CHECK(reply_to(&w, ticket++) != LEAT_OK);
      leat_text_finish(&body);
    }
  }
  send_step(&w, ticket, LEAT_VERSION, false);
  CHECK_EQ_INT(reply_to(&w, ticket), LEAT_OK);
  world_end(&w);
}

CHECK_MAIN("cluster")
