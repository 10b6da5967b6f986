// Sessions on a cluster whose ranks are runtimes of this process, joined by the inproc transport:
// one is the client, the others serve in threads of their own.
#ifndef LEAT_TESTS_UNIT_RANKS_H
#define LEAT_TESTS_UNIT_RANKS_H

#include "leat/leat.h"
#include "session/cluster.h"
#include "tests/unit/check.h"
#include "tests/unit/inproc.h"

#include <pthread.h>

enum { MOST_RANKS = 3 };

typedef struct ranks {
  leat_inproc_world *world;
  int count;
  leat_session *sessions[MOST_RANKS], *client;
  pthread_t threads[MOST_RANKS];
} ranks;

static void *serve(void *context) {
  leat_session *session = context;
  leat_status status = leat_session_serve(session);
  if (status) CHECK_FAILED("a worker ended: %s", leat_session_message(session));
  return NULL;
}

// options: of each rank.
static ranks ranks_begin(const leat_session_options *options, int count) {
  ranks r = {.count = count};
  leat_error error = {0};
  CHECK_EQ_INT(leat_inproc_world_create(count, &r.world, &error), LEAT_OK);
  for (int i = 0; i < count; i++) {
    leat_transport *transport;
    CHECK_EQ_INT(leat_inproc_join(r.world, i, &transport, &error), LEAT_OK);
    CHECK_EQ_INT(leat_session_create_on(&options[i], transport, &r.sessions[i]), LEAT_OK);
    if (leat_session_is_client(r.sessions[i])) r.client = r.sessions[i];
  }
  for (int i = 0; i < count; i++)
    if (r.sessions[i] != r.client) pthread_create(&r.threads[i], NULL, serve, r.sessions[i]);
  return r;
}

static void ranks_end(ranks *r) {
  leat_session_destroy(r->client);
  for (int i = 0; i < r->count; i++) {
    if (r->sessions[i] == r->client) continue;
    pthread_join(r->threads[i], NULL);
    leat_session_destroy(r->sessions[i]);
  }
  leat_inproc_world_destroy(r->world);
}

#endif
