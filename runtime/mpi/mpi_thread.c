// The transport's thread: it joins the world, takes turns when nobody else does, watches over the
// health of the others, and leaves. After turns without an event it sleeps longer and longer, woken
// by whoever needs it.
#define _GNU_SOURCE
#include "runtime/mpi/mpi_transport.h"

#include "base/cpuid.h"
#include "base/environment.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

static const double FLUSH_SECONDS = 5;

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
  int64_t deadline = (int64_t)(t->deadline * 1e9), interval = deadline / 8;
  if (t->now - t->beat < interval || atomic_load(&t->stage) != JOINED) return;
  bool was_away = t->now - t->beat > 2 * interval; // this process stood still: it has heard nobody
  t->beat = t->now;
  for (int i = 0; i < t->base.size && !t->error.status; i++) {
    if (i == t->base.rank) continue;
    if (was_away) t->heard[i] = t->now;
    if (t->now - t->heard[i] > deadline) {
      char message[64];
      snprintf(message, sizeof message, "rank %d has been silent for %g s", i, t->deadline);
      leat_mpi_fail(t, LEAT_DEADLINE, message);
      return;
    }
    leat_mpi_send_own(t, i, (envelope_header){.type = BEAT}, NULL, 0);
  }
}

static void loop(mpi_transport *t, bool (*finished)(mpi_transport *), int64_t until) {
  for (bool over = false; !over;) {
    uint32_t seen = leat_signal_value(&t->wake);
    pthread_mutex_lock(&t->mpi);
    if (atomic_load(&t->aborting)) MPI_Abort(MPI_COMM_WORLD, 1);
    bool any = !t->error.status && leat_mpi_turn(t);
    if (!t->error.status) beat(t);
    over = t->error.status || finished(t) || t->now > until;
    int64_t idle = t->now - t->last_event;
    bool pending = leat_mpi_has_pending(t);
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
  return !leat_mpi_has_pending(t);
}

// On one host (Hydra says so) System V segments alone: 20 GB/s where reading the other process'
// memory (CMA, UCX's choice) gives 8, no ptrace rights needed, and MPI_Finalize, which may hang
// where UCX has opened TCP connections, does not. A choice of the user's stays.
static void choose_transports(void) {
  const char *local = leat_environment("MPI_LOCALNRANKS"), *all = leat_environment("PMI_SIZE");
  if (local && all && strcmp(local, all) == 0) setenv("UCX_TLS", "sysv,self", 0);
}

static bool initialise(mpi_transport *t) {
  prctl(PR_SET_PDEATHSIG, SIGKILL); // a rank does not outlive its launcher
  prctl(PR_SET_TIMERSLACK, 1000);   // naps are as short as they say
  choose_transports();
  int provided = 0;
  if (!leat_mpi_check(t, MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided),
                      "MPI_Init_thread"))
    return false;
  if (provided < MPI_THREAD_SERIALIZED) {
    leat_mpi_fail(t, LEAT_FOREIGN, "this MPI serves no program with threads");
    return false;
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (!leat_mpi_check(t, MPI_Comm_dup(MPI_COMM_WORLD, &t->world), "MPI_Comm_dup")) return false;
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
  leat_mpi_fail(t, LEAT_MEMORY, "no memory for the ranks");
  return false;
}

// Says hello to all and waits for theirs.
static void join_world(mpi_transport *t, int64_t until) {
  envelope_header hello = {
      .type = HELLO, .kind = LEAT_TRANSPORT_VERSION, .bytes = t->greeting_size};
  t->greeted[t->base.rank] = true;
  for (int i = 0; i < t->base.size && !t->error.status; i++)
    if (i != t->base.rank) leat_mpi_send_own(t, i, hello, t->greeting, t->greeting_size);
  loop(t, all_greeted, until);
  if (t->error.status) return;
  for (int i = 0; i < t->base.size; i++) {
    if (t->greeted[i]) continue;
    char message[128];
    snprintf(message, sizeof message, "rank %d has not said hello within %g s", i, t->deadline);
    leat_mpi_fail(t, LEAT_DEADLINE, message);
    return;
  }
  t->crowded = t->base.ranks_on_host > leat_cpu_cores();
  t->beat = t->now = leat_clock();
  for (int i = 0; i < t->base.size; i++) t->heard[i] = t->now;
  leat_mpi_set_stage(t, JOINED);
}

// Between two looks at what ends: nobody waits for that, and others want the core.
static void nap(void) {
  nanosleep(&(struct timespec){.tv_nsec = 100 * MICROSECOND}, NULL);
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
    if (!done) nap();
  }
  if (!done) return;
  for (until = leat_clock() + 20 * MILLISECOND; leat_clock() < until; nap()) {
    MPI_Message message;
    MPI_Improbe(MPI_ANY_SOURCE, ENVELOPE_TAG, t->world, &done, &message, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
}

void *leat_mpi_main(void *argument) {
  mpi_transport *t = argument;
  int64_t until = leat_clock_after(t->deadline);
  if (!initialise(t)) return NULL;
  join_world(t, until);
  if (t->error.status) return NULL;
  loop(t, is_closing, INT64_MAX);
  while (!is_closing(t)) // failed: until it is noticed
    leat_signal_wait(&t->wake, leat_signal_value(&t->wake), 0, leat_clock_after(0.1));
  loop(t, is_flushed, leat_clock_after(FLUSH_SECONDS));
  pthread_mutex_lock(&t->mpi);
  leat_mpi_end_all(t);
  if (!t->error.status) finalize(t);
  pthread_mutex_unlock(&t->mpi);
  leat_mpi_set_stage(t, CLOSED);
  return NULL;
}
