// The conformance suite on the inproc transport, and the rendezvous.
#include "runtime/identity.h"
#include "runtime/rendezvous.h"
#include "tests/unit/inproc.h"
#include "tests/unit/transport_conformance.h"

typedef struct player {
  pthread_t thread;
  leat_transport *transport;
  conformance state;
  const char *result;
} player;

static void *play(void *context) {
  player *p = context;
  p->result = conformance_play(p->transport, &p->state);
  return NULL;
}

static void play_inproc(int size) {
  leat_inproc_world *world;
  leat_error error = {0};
  static player players[CONFORMANCE_RANKS];
  CHECK_EQ_INT(leat_inproc_world_create(size, &world, &error), LEAT_OK);
  for (int i = 0; i < size; i++) {
    CHECK_EQ_INT(leat_inproc_join(world, i, &players[i].transport, &error), LEAT_OK);
    CHECK_EQ_INT(players[i].transport->rank, i);
    pthread_create(&players[i].thread, NULL, play, &players[i]);
  }
  for (int i = 0; i < size; i++) {
    pthread_join(players[i].thread, NULL);
    CHECK_EQ_STR(players[i].result, "");
  }
  for (int i = 0; i < size; i++) players[i].transport->backend->close(players[i].transport);
  leat_inproc_world_destroy(world);
}

TEST(inproc_2) {
  play_inproc(2);
}
TEST(inproc_3) {
  play_inproc(3);
}

TEST(inproc_abort_reaches_everybody) {
  leat_inproc_world *world;
  leat_transport *transports[2];
  leat_error error = {0};
  conformance c[2] = {0};
  CHECK_EQ_INT(leat_inproc_world_create(2, &world, &error), LEAT_OK);
  for (int i = 0; i < 2; i++) {
    CHECK_EQ_INT(leat_inproc_join(world, i, &transports[i], &error), LEAT_OK);
    transports[i]->backend->start(transports[i],
                                  &(leat_receiver){.context = &c[i], .failed = conformance_failed});
  }
  transports[0]->backend->abort(transports[0], "enough");
  CHECK_EQ_INT(c[0].faults, 1);
  CHECK_EQ_INT(c[1].faults, 1);
  CHECK_EQ_INT(transports[1]->backend->control(transports[1], 0, 1, "", 0, &error), LEAT_ABORTED);
  for (int i = 0; i < 2; i++) transports[i]->backend->close(transports[i]);
  leat_inproc_world_destroy(world);
}

// -- A receiver without memory --------------------------------------------------------------------

static void *no_place(void *context, int peer, const leat_edge_key *key, uint64_t bytes,
                      void **token) {
  (void)context, (void)peer, (void)key, (void)bytes, (void)token;
  return NULL;
}

static void note_failure(void *context, const char *message) {
  CHECK_EQ_STR(message, "no memory for a tensor");
  ++*(int *)context;
}

static void note_sent(void *context, leat_status status) {
  *(leat_status *)context = status;
}

TEST(both_sides_hear_that_there_is_no_memory) {
  leat_error error = {0};
  leat_inproc_world *world;
  leat_transport *ranks[2];
  int failures = 0;
  leat_receiver receiver = {.context = &failures, .place = no_place, .failed = note_failure};
  CHECK_EQ_INT(leat_inproc_world_create(2, &world, &error), LEAT_OK);
  for (int i = 0; i < 2; i++) {
    CHECK_EQ_INT(leat_inproc_join(world, i, &ranks[i], &error), LEAT_OK);
    ranks[i]->backend->start(ranks[i], &receiver);
  }
  leat_edge_key key = {.step = 1};
  leat_status sent = LEAT_OK;
  ranks[0]->backend->send(ranks[0], 1, &key, "x", 1, note_sent, &sent);
  CHECK_EQ_INT(sent, LEAT_MEMORY);
  CHECK_EQ_INT(failures, 1);
  for (int i = 0; i < 2; i++) ranks[i]->backend->close(ranks[i]);
  leat_inproc_world_destroy(world);
}

// -- Who they are ---------------------------------------------------------------------------------

// What is said of rank 0's identity and rank 3's; "": they are the same.
static const char *difference(const char *a, const char *b) {
  static char words[200];
  words[0] = '\0';
  leat_rank_identity first = {0, a, strlen(a)}, second = {3, b, strlen(b)};
  bool same = leat_identity_same(&first, &second, words, sizeof words);
  CHECK_EQ_INT(same, !*words);
  return words;
}

TEST(identities_differ_in_words) {
  static const char own[] = "build\t7\n--cpu\tx86-64\n";
  CHECK_EQ_STR(difference(own, own), "");
  CHECK_EQ_STR(difference("", ""), "");
  CHECK_EQ_STR(difference(own, "build\t7\n--cpu\thost\n"),
               "all ranks must be started with the same --cpu: rank 0 has x86-64, rank 3 has host");
  CHECK_EQ_STR(difference(own, "build\t8\n--cpu\thost\n"),
               "all ranks must be started with the same build: rank 0 has 7, rank 3 has 8");
  CHECK_EQ_STR(difference(own, "build\t7\n"),
               "all ranks must be started with the same --cpu: rank 0 has x86-64, rank 3 has ");
  CHECK_EQ_STR(difference("build\t7\n", own),
               "all ranks must be started with the same --cpu: rank 0 has , rank 3 has x86-64");
  CHECK(*difference(own, "") && *difference(own, "\n\n\n") && *difference(own, "build\t7\n--cpu"));
  static char huge[5000];
  memset(huge, 'x', sizeof huge - 1);
  CHECK(strstr(difference(own, huge), "rank 0 has 7, rank 3 has xxx"));
}

// -- The rendezvous -------------------------------------------------------------------------------

typedef struct arrival {
  int calls;
  leat_status status;
  char taken[16]; // by a recv without a buffer
  uint64_t bytes;
} arrival;

static void note_arrival(void *context, leat_status status, const void *data, uint64_t bytes) {
  arrival *a = context;
  a->calls++;
  a->status = status;
  a->bytes = bytes;
  if (data && bytes <= sizeof a->taken) memcpy(a->taken, data, bytes);
}

TEST(either_side_may_come_first) {
  leat_rendezvous *r;
  CHECK_EQ_INT(leat_rendezvous_create(&r, NULL), LEAT_OK);
  for (uint32_t edge = 0; edge < 3000; edge++) {
    leat_edge_key key = {1, 2, edge, 0};
    uint32_t from = edge * 3, to = 0;
    arrival a = {0};
    bool recv_first = edge % 2;
    if (recv_first) leat_rendezvous_recv(r, &key, &to, sizeof to, note_arrival, &a);
    CHECK_EQ_INT(a.calls, 0);
    CHECK_EQ_INT(leat_rendezvous_send(r, &key, &from, sizeof from), LEAT_OK);
    if (!recv_first) leat_rendezvous_recv(r, &key, &to, sizeof to, note_arrival, &a);
    CHECK_EQ_INT(a.calls, 1);
    CHECK_EQ_INT(a.status, LEAT_OK);
    CHECK_EQ_INT(to, edge * 3);
  }
  leat_rendezvous_destroy(r);
}

TEST(a_recv_without_a_buffer_takes_what_comes) {
  leat_rendezvous *r;
  CHECK_EQ_INT(leat_rendezvous_create(&r, NULL), LEAT_OK);
  for (uint32_t edge = 0; edge < 48; edge++) { // recv first, sent first, placed by a transport
    leat_edge_key key = {.edge = edge};
    arrival a = {0};
    uint64_t bytes = edge / 3;
    void *token;
    if (edge % 3 != 1) leat_rendezvous_recv(r, &key, NULL, 0, note_arrival, &a);
    if (edge % 3 == 2) {
      void *place = leat_rendezvous_place(r, &key, bytes, &token);
      memcpy(place, "0123456789abcdef", bytes);
      leat_rendezvous_landed(r, token, LEAT_OK);
    } else {
      CHECK_EQ_INT(leat_rendezvous_send(r, &key, "0123456789abcdef", bytes), LEAT_OK);
    }
    if (edge % 3 == 1) leat_rendezvous_recv(r, &key, NULL, 0, note_arrival, &a);
    CHECK(a.calls == 1 && a.status == LEAT_OK && a.bytes == bytes);
    CHECK(!memcmp(a.taken, "0123456789abcdef", bytes));
  }
  leat_edge_key waits = {.step = 1}, lands = {.step = 1, .edge = 1};
  arrival never = {0}, late = {0};
  void *token;
  leat_rendezvous_recv(r, &waits, NULL, 0, note_arrival, &never);
  leat_rendezvous_recv(r, &lands, NULL, 0, note_arrival, &late);
  memset(leat_rendezvous_place(r, &lands, 100, &token), 1, 100);
  CHECK_EQ_INT(leat_rendezvous_close(r, 0, 1), 2);
  leat_rendezvous_landed(r, token, LEAT_OK);
  CHECK(!never.calls && !late.calls);
  leat_rendezvous_destroy(r);
}

// A recv that waits is one when the step is closed, although there was no memory for its tensor.
TEST(what_has_no_room_leaves_its_recv_waiting) {
  leat_rendezvous *r;
  CHECK_EQ_INT(leat_rendezvous_create(&r, NULL), LEAT_OK);
  leat_edge_key waits = {.step = 1}, early = {.step = 1, .edge = 1};
  arrival never[2] = {0};
  void *token;
  leat_rendezvous_recv(r, &waits, NULL, 0, note_arrival, &never[0]);
  CHECK(!leat_rendezvous_place(r, &waits, UINT64_MAX, &token));
  CHECK(!leat_rendezvous_place(r, &early, UINT64_MAX, &token));
  leat_rendezvous_recv(r, &early, NULL, 0, note_arrival, &never[1]);
  CHECK_EQ_INT(leat_rendezvous_close(r, 0, 1), 2);
  CHECK(!never[0].calls && !never[1].calls);
  leat_rendezvous_destroy(r);
}

// Keys that differ in one member alone, so many that there are several in every bucket of the
// table.
enum { ALIKE = 8192 };

static leat_edge_key alike(int member, uint32_t i) {
  leat_edge_key key = {1, 2, 3, 4};
  if (member == 0) key.session += i;
  if (member == 1) key.step += i;
  if (member == 2) key.edge += i;
  if (member == 3) key.iteration += i;
  return key;
}

// Whoever comes first, each recv gets what was sent with its key.
TEST(keys_are_compared_whole) {
  static uint32_t to[ALIKE];
  static arrival a[ALIKE];
  for (int way = 0; way < 8; way++) {
    leat_rendezvous *r;
    int member = way % 4;
    bool recv_first = way / 4;
    CHECK_EQ_INT(leat_rendezvous_create(&r, NULL), LEAT_OK);
    memset(a, 0, sizeof a);
    for (int turn = 0; turn < 2; turn++) {
      bool receives = recv_first == !turn;
      for (uint32_t i = 0; i < ALIKE; i++) {
        leat_edge_key key = alike(member, i);
        if (receives)
          leat_rendezvous_recv(r, &key, &to[i], sizeof *to, note_arrival, &a[i]);
        else
          CHECK_EQ_INT(leat_rendezvous_send(r, &key, &i, sizeof i), LEAT_OK);
      }
    }
    int wrong = 0;
    for (uint32_t i = 0; i < ALIKE; i++) wrong += a[i].calls != 1 || a[i].status || to[i] != i;
    if (wrong) CHECK_FAILED("member %d: %d of %d tensors are another's", member, wrong, ALIKE);
    leat_rendezvous_destroy(r);
  }
}

// A step that was closed closes no other one: neither of its session, nor of another.
TEST(steps_are_closed_one_by_one) {
  leat_rendezvous *r;
  CHECK_EQ_INT(leat_rendezvous_create(&r, NULL), LEAT_OK);
  int32_t value = 7, to = 0;
  CHECK_EQ_INT(leat_rendezvous_close(r, 1, 2), 0);
  leat_edge_key closed = {1, 2, 3, 4}, open[] = {{1, 9, 3, 4}, {9, 2, 3, 4}};
  for (int i = 0; i < 2; i++) {
    arrival a = {0};
    leat_rendezvous_recv(r, &open[i], &to, sizeof to, note_arrival, &a);
    CHECK_EQ_INT(leat_rendezvous_send(r, &open[i], &value, sizeof value), LEAT_OK);
    CHECK(a.calls == 1 && !a.status);
  }
  arrival a = {0};
  leat_rendezvous_recv(r, &closed, &to, sizeof to, note_arrival, &a);
  CHECK_EQ_INT(a.status, LEAT_ABORTED);
  leat_rendezvous_destroy(r);
}

TEST(sizes_that_differ_are_a_mismatch) {
  leat_rendezvous *r;
  CHECK_EQ_INT(leat_rendezvous_create(&r, NULL), LEAT_OK);
  leat_edge_key key = {.edge = 1};
  int32_t small = 1;
  int64_t large = 0;
  arrival first = {0}, second = {0};
  leat_rendezvous_recv(r, &key, &large, sizeof large, note_arrival, &first);
  CHECK_EQ_INT(leat_rendezvous_send(r, &key, &small, sizeof small), LEAT_OK);
  CHECK_EQ_INT(first.status, LEAT_MISMATCH);
  CHECK_EQ_INT(leat_rendezvous_send(r, &key, &small, sizeof small), LEAT_OK);
  leat_rendezvous_recv(r, &key, &large, sizeof large, note_arrival, &second);
  CHECK_EQ_INT(second.status, LEAT_MISMATCH);
  leat_rendezvous_destroy(r);
}

TEST(closing_a_step_forgets_it) {
  leat_rendezvous *r;
  CHECK_EQ_INT(leat_rendezvous_create(&r, NULL), LEAT_OK);
  leat_edge_key waits = {1, 2, 1, 0}, lands = {1, 2, 2, 0}, early = {1, 2, 3, 0};
  leat_edge_key attached = {1, 2, 4, 0}, other = {1, 3, 1, 0};
  int32_t to[5] = {0}, value = 7;
  arrival a[5] = {0};
  void *token, *attached_token;
  leat_rendezvous_recv(r, &waits, &to[0], 4, note_arrival, &a[0]);
  leat_rendezvous_recv(r, &lands, &to[1], 4, note_arrival, &a[1]);
  leat_rendezvous_recv(r, &other, &to[2], 4, note_arrival, &a[2]);
  CHECK(leat_rendezvous_place(r, &lands, 4, &token) == &to[1]);
  CHECK_EQ_INT(leat_rendezvous_send(r, &early, &value, 4), LEAT_OK);
  memcpy(leat_rendezvous_place(r, &attached, 4, &attached_token), &value, 4);
  leat_rendezvous_recv(r, &attached, &to[4], 4, note_arrival, &a[4]);
  CHECK_EQ_INT(leat_rendezvous_close(r, 1, 2), 2); // `waits` and `attached`
  leat_rendezvous_landed(r, token, LEAT_OK);       // the transport had its buffer already
  leat_rendezvous_landed(r, attached_token, LEAT_OK);
  CHECK_EQ_INT(a[0].calls, 0);
  CHECK_EQ_INT(a[1].calls, 1);
  CHECK_EQ_INT(a[4].calls, 0);
  CHECK_EQ_INT(to[4], 0);
  leat_rendezvous_recv(r, &early, &to[3], 4, note_arrival, &a[3]);
  CHECK_EQ_INT(a[3].status, LEAT_ABORTED);
  CHECK_EQ_INT(leat_rendezvous_send(r, &other, &value, 4), LEAT_OK);
  CHECK_EQ_INT(to[2], 7);
  leat_rendezvous_destroy(r);
}

CHECK_MAIN("transport")
