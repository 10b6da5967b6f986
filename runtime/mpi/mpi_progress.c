// Progress. A turn looks what has arrived, sends what was queued, and tests what is on its way; the
// lock `mpi` is held. Threads that wait take turns; the transport's own thread does when nobody
// else does: after turns without an event it sleeps longer and longer, woken by whoever needs it.
#define _GNU_SOURCE
#include "runtime/mpi/mpi_transport.h"

#include "base/cpuid.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static const int64_t MICROSECOND = 1000, MILLISECOND = 1000000;
static const double FLUSH_SECONDS = 5;

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

static void set_stage(mpi_transport *t, transport_stage stage) {
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

// Ends everything that is under way; nothing is accepted any more. Memory that MPI may still touch
// (envelopes on their way) is left to the process' end.
static void end_all(mpi_transport *t) {
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

static void fail(mpi_transport *t, leat_status status, const char *message) {
  pthread_mutex_lock(&t->lock);
  bool first = !t->error.status;
  leat_fail(&t->error, status, "%s", message);
  pthread_mutex_unlock(&t->lock);
  if (!first) return;
  set_stage(t, UNUSABLE);
  end_all(t);
  if (atomic_load(&t->started)) t->receiver.failed(t->receiver.context, message);
}

// False, and everything fails, when an MPI call did.
static bool check(mpi_transport *t, int code, const char *call) {
  if (code == MPI_SUCCESS) return true;
  char text[MPI_MAX_ERROR_STRING] = "", message[MPI_MAX_ERROR_STRING + 64];
  int length = 0;
  MPI_Error_string(code, text, &length);
  snprintf(message, sizeof message, "%s failed: %s", call, text);
  fail(t, LEAT_FOREIGN, message);
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
  check(t,
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
    if (!check(t, MPI_Test(&e->request, &done, MPI_STATUS_IGNORE), "MPI_Test")) return true;
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
    fail(t, LEAT_MEMORY, "no memory for the requests of a tensor");
    return false;
  }
  for (uint64_t i = 0; i < count; i++) {
    uint64_t first = i * CHUNK, left = x->bytes - first;
    int size = left < CHUNK ? (int)left : CHUNK;
    int code =
        x->sent
            ? MPI_Isend(x->data + first, size, MPI_BYTE, x->peer, tag, t->world, &x->requests[i])
            : MPI_Irecv(x->data + first, size, MPI_BYTE, x->peer, tag, t->world, &x->requests[i]);
    if (!check(t, code, x->sent ? "MPI_Isend" : "MPI_Irecv")) return false;
    x->request_count++;
  }
  return true;
}

// Whether all chunks have been sent or received; they are looked at in their order.
static bool has_landed(mpi_transport *t, transfer *x) {
  while (x->requests_done < x->request_count) {
    int done = 0;
    MPI_Request *request = &x->requests[x->requests_done];
    if (!check(t, MPI_Test(request, &done, MPI_STATUS_IGNORE), "MPI_Test") || !done) return false;
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

static void send_own(mpi_transport *t, int peer, envelope_header header, const void *payload,
                     size_t size) {
  envelope *e = leat_mpi_envelope(peer, header, payload, size);
  if (e)
    post_envelope(t, e);
  else
    fail(t, LEAT_MEMORY, "no memory for a message");
}

static void accept_announcement(mpi_transport *t, const envelope *e) {
  transfer *x = calloc(1, sizeof *x);
  void *token = NULL;
  void *place =
      x ? t->receiver.place(t->receiver.context, e->peer, &e->header.key, e->header.bytes, &token)
        : NULL;
  if (!place) {
    free(x);
    fail(t, LEAT_MEMORY, "no memory for a tensor");
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
    send_own(t, e->peer,
             (envelope_header){.type = GRANT, .kind = (uint32_t)tag, .id = e->header.id}, NULL, 0);
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
    fail(t, LEAT_MEMORY, "no memory for a tensor");
    return;
  }
  memcpy(place, e->payload, e->header.bytes);
  t->receiver.landed(t->receiver.context, token, LEAT_OK);
}

static greeting own_greeting(const mpi_transport *t) {
  greeting own = {.identity = {t->expected.identity[0], t->expected.identity[1]}};
  gethostname(own.host, sizeof own.host - 1);
  return own;
}

static void greet(mpi_transport *t, const envelope *e) {
  greeting own = own_greeting(t), theirs;
  bool same = e->header.kind == LEAT_TRANSPORT_VERSION && e->header.bytes == sizeof theirs;
  if (same) {
    memcpy(&theirs, e->payload, sizeof theirs);
    same = memcmp(theirs.identity, own.identity, sizeof own.identity) == 0;
  }
  if (!same) {
    char message[128];
    snprintf(message, sizeof message,
             "rank %d was started with another cluster, number of devices or version of Leat",
             e->peer);
    fail(t, LEAT_MISMATCH, message);
  } else if (!t->greeted[e->peer]) {
    t->greeted[e->peer] = true;
    t->base.ranks_on_host += memcmp(theirs.host, own.host, sizeof own.host) == 0;
  }
}

static void handle(mpi_transport *t, const envelope *e) {
  // Nothing reads past what has arrived.
  bool payload = e->header.type == CONTROL || e->header.type == TENSOR || e->header.type == HELLO;
  if (payload && e->header.bytes != e->size - sizeof e->header) {
    fail(t, LEAT_MISMATCH, "a rank sent a damaged message");
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
    if (!check(t, MPI_Improbe(MPI_ANY_SOURCE, ENVELOPE_TAG, t->world, &here, &message, &status),
               "MPI_Improbe"))
      return true;
    if (!here) return any;
    MPI_Get_count(&status, MPI_BYTE, &size);
    envelope *e = malloc(sizeof *e + (size_t)size);
    if (!e || (size_t)size < sizeof e->header) {
      free(e);
      fail(t, LEAT_MEMORY, "no memory for a message, or a damaged one");
      return true;
    }
    *e = (envelope){.peer = status.MPI_SOURCE, .request = MPI_REQUEST_NULL, .size = (size_t)size};
    leat_mpi_append(&t->incoming, e);
    t->heard[e->peer] = t->now;
    if (!check(t, MPI_Imrecv(&e->header, size, MPI_BYTE, &message, &e->request), "MPI_Imrecv"))
      return true;
  }
}

// Handles what has been received, in order, until one that is not complete. Before the start only
// greetings are; what came behind one waits.
static bool handle_incoming(mpi_transport *t) {
  bool any = false, joining = atomic_load(&t->stage) == JOINING;
  for (envelope **at = &t->incoming.first; *at;) {
    envelope *e = *at;
    int done = e->request == MPI_REQUEST_NULL;
    if (!done && !check(t, MPI_Test(&e->request, &done, MPI_STATUS_IGNORE), "MPI_Test"))
      return true;
    if (!done) return any;
    if (!atomic_load(&t->started) && !(joining && e->header.type == HELLO)) {
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

static bool has_pending(const mpi_transport *t) {
  return t->outgoing.first || t->flying || t->announced;
}

static bool turn(mpi_transport *t) {
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
  bool done = !has_pending(t);
  pthread_mutex_unlock(&t->mpi);
  return done;
}

// Whether something happened in a turn, or in that of another thread.
static bool try_turn(mpi_transport *t) {
  if (pthread_mutex_trylock(&t->mpi)) return true;
  bool any = !t->error.status && turn(t);
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

// -- The thread -----------------------------------------------------------------------------------

// After a turn in which nothing happened. A thread that polls does the work; large tensors that are
// on their way deserve the core; otherwise a rank that waits for long costs next to nothing.
static void back_off(mpi_transport *t, uint32_t seen, int64_t idle, bool pending) {
  if (pending && !t->crowded && idle < 2 * MILLISECOND) {
    sched_yield();
    return;
  }
  int64_t nap = atomic_load(&t->pollers)   ? MILLISECOND
                : idle < 2 * MILLISECOND   ? 20 * MICROSECOND
                : idle < 100 * MILLISECOND ? 50 * MICROSECOND
                                           : 500 * MICROSECOND;
  leat_signal_wait(&t->wake, seen, 0, leat_clock() + nap);
}

// The health check: a rank that has been silent for the deadline is lost, and the world with it.
static void beat(mpi_transport *t) {
  int64_t deadline = (int64_t)(t->expected.deadline * 1e9), interval = deadline / 8;
  if (t->now - t->beat < interval || atomic_load(&t->stage) != JOINED) return;
  bool was_away = t->now - t->beat > 2 * interval; // this process stood still: it has heard nobody
  t->beat = t->now;
  for (int i = 0; i < t->base.size && !t->error.status; i++) {
    if (i == t->base.rank) continue;
    if (was_away) t->heard[i] = t->now;
    if (t->now - t->heard[i] > deadline) {
      char message[64];
      snprintf(message, sizeof message, "rank %d has been silent for %g s", i,
               t->expected.deadline);
      fail(t, LEAT_DEADLINE, message);
      return;
    }
    send_own(t, i, (envelope_header){.type = BEAT}, NULL, 0);
  }
}

static void loop(mpi_transport *t, bool (*finished)(mpi_transport *), int64_t until) {
  for (bool over = false; !over;) {
    uint32_t seen = leat_signal_value(&t->wake);
    pthread_mutex_lock(&t->mpi);
    if (atomic_load(&t->aborting)) MPI_Abort(MPI_COMM_WORLD, 1);
    bool any = !t->error.status && turn(t);
    if (!t->error.status) beat(t);
    over = t->error.status || finished(t) || t->now > until;
    int64_t idle = t->now - t->last_event;
    bool pending = has_pending(t);
    pthread_mutex_unlock(&t->mpi);
    if (!any && !over) back_off(t, seen, idle, pending);
  }
}

static bool all_greeted(mpi_transport *t) {
  for (int i = 0; i < t->base.size; i++)
    if (!t->greeted[i]) return false;
  return true;
}

static bool is_closing(mpi_transport *t) {
  return atomic_load(&t->closing);
}

static bool is_flushed(mpi_transport *t) {
  return !has_pending(t);
}

// On one host (Hydra says so) System V segments alone: 20 GB/s where reading the other process'
// memory (CMA, UCX's choice) gives 8, no ptrace rights needed, and MPI_Finalize, which may hang
// where UCX has opened TCP connections, does not. A choice of the user's stays.
static void choose_transports(void) {
  const char *local = getenv("MPI_LOCALNRANKS"), *all = getenv("PMI_SIZE");
  if (local && all && strcmp(local, all) == 0) setenv("UCX_TLS", "sysv,self", 0);
}

static bool initialise(mpi_transport *t) {
  prctl(PR_SET_PDEATHSIG, SIGKILL); // a rank does not outlive its launcher
  prctl(PR_SET_TIMERSLACK, 1000);   // naps are as short as they say
  choose_transports();
  int provided = 0;
  if (!check(t, MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread"))
    return false;
  if (provided < MPI_THREAD_SERIALIZED) {
    fail(t, LEAT_FOREIGN, "this MPI serves no program with threads");
    return false;
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (!check(t, MPI_Comm_dup(MPI_COMM_WORLD, &t->world), "MPI_Comm_dup")) return false;
  MPI_Comm_set_errhandler(t->world, MPI_ERRORS_RETURN);
  MPI_Comm_rank(t->world, &t->base.rank);
  MPI_Comm_size(t->world, &t->base.size);
  t->base.backend = &leat_mpi_transport;
  t->base.ranks_on_host = 1;
  t->crowded = true; // until it is known who else is here
  t->last_event = leat_clock();
  t->sent = calloc((size_t)t->base.size, sizeof *t->sent);
  t->greeted = calloc((size_t)t->base.size, sizeof *t->greeted);
  t->heard = calloc((size_t)t->base.size, sizeof *t->heard);
  if (t->sent && t->greeted && t->heard) return true;
  fail(t, LEAT_MEMORY, "no memory for the ranks");
  return false;
}

// Says hello to all and waits for theirs.
static void join_world(mpi_transport *t, int64_t until) {
  greeting own = own_greeting(t);
  envelope_header hello = {.type = HELLO, .kind = LEAT_TRANSPORT_VERSION, .bytes = sizeof own};
  t->greeted[t->base.rank] = true;
  for (int i = 0; i < t->base.size && !t->error.status; i++)
    if (i != t->base.rank) send_own(t, i, hello, &own, sizeof own);
  loop(t, all_greeted, until);
  if (t->error.status) return;
  for (int i = 0; i < t->base.size; i++) {
    if (t->greeted[i]) continue;
    char message[128];
    snprintf(message, sizeof message, "rank %d has not said hello within %g s", i,
             t->expected.deadline);
    fail(t, LEAT_DEADLINE, message);
    return;
  }
  t->crowded = t->base.ranks_on_host > leat_cpu_cores();
  t->beat = t->now = leat_clock();
  for (int i = 0; i < t->base.size; i++) t->heard[i] = t->now;
  set_stage(t, JOINED);
}

// MPI_Finalize of MPICH waits for UCX connections to close, for which the other end must still make
// progress, and then for all ranks without making any. So all ranks come here together first and
// go on for a while, until nothing is left to say.
static void finalize(mpi_transport *t) {
  MPI_Request request;
  int done = 0;
  int64_t until = leat_clock_after(FLUSH_SECONDS);
  if (MPI_Ibarrier(t->world, &request) != MPI_SUCCESS) return;
  while (!done && leat_clock() < until) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (!done) sched_yield();
  }
  if (!done) return;
  for (until = leat_clock() + 20 * MILLISECOND; leat_clock() < until; sched_yield()) {
    MPI_Message message;
    MPI_Improbe(MPI_ANY_SOURCE, ENVELOPE_TAG, t->world, &done, &message, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
}

void *leat_mpi_main(void *argument) {
  mpi_transport *t = argument;
  int64_t until = leat_clock_after(t->expected.deadline);
  if (!initialise(t)) return NULL;
  join_world(t, until);
  if (t->error.status) return NULL;
  loop(t, is_closing, INT64_MAX);
  while (!is_closing(t)) // failed: until it is noticed
    leat_signal_wait(&t->wake, leat_signal_value(&t->wake), 0, leat_clock_after(0.1));
  loop(t, is_flushed, leat_clock_after(FLUSH_SECONDS));
  pthread_mutex_lock(&t->mpi);
  end_all(t);
  if (!t->error.status) finalize(t);
  pthread_mutex_unlock(&t->mpi);
  set_stage(t, CLOSED);
  return NULL;
}
