// What the devices of a process share.
// It runs seldom: compiled for size.
#include "base/cpuid.h"
#include "runtime/executor.h"
#include "runtime/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static leat_status check_options(const leat_runtime_options *options, leat_error *error) {
  if (options->threads < 0 || options->threads > LEAT_MOST_THREADS)
    return leat_fail(error, LEAT_INVALID, "%d threads: expected 0 to %d", options->threads,
                     LEAT_MOST_THREADS);
  if (options->deadline >= 0 && options->limit >= 0) return LEAT_OK;
  return leat_fail(error, LEAT_INVALID, "a deadline of %g seconds",
                   options->deadline >= 0 ? options->limit : options->deadline);
}

leat_status leat_runtime_create_alone(const leat_runtime_options *options, leat_runtime **out,
                                      leat_error *error) {
  *out = NULL;
  LEAT_TRY(check_options(options, error));
  leat_runtime *runtime = calloc(1, sizeof *runtime);
  if (!runtime) return leat_fail(error, LEAT_MEMORY, "no memory for the runtime");
  pthread_mutex_init(&runtime->print_lock, NULL);
  pthread_mutex_init(&runtime->runs_lock, NULL);
  pthread_mutex_init(&runtime->mail_lock, NULL);
  runtime->print = options->print;
  runtime->print_context = options->print_context;
  runtime->deadline = options->deadline > 0 ? options->deadline : 60;
  runtime->limit = options->limit;
  int cores = leat_cpu_cores(), ranks = options->transport ? options->transport->ranks_on_host : 1;
  int threads = options->threads > 0 ? options->threads : cores / ranks;
  if (threads < 1) threads = 1;
  runtime->limits = (leat_frame_limits){.threads = threads,
                                        .grain = options->grain > 0 ? options->grain : 10000,
                                        .memory = options->memory_limit};
  bool spin = (int64_t)threads * ranks <= cores;
  leat_status status = leat_pool_create(threads, spin, &runtime->pool, error);
  if (!status && runtime->limit > 0) status = leat_watch_start(runtime, error);
  if (status) {
    leat_runtime_destroy(runtime);
    return status;
  }
  *out = runtime;
  return LEAT_OK;
}

leat_status leat_runtime_set_limit(leat_runtime *runtime, double limit, leat_error *error) {
  if (!(limit >= 0)) return leat_fail(error, LEAT_INVALID, "a deadline of %g seconds", limit);
  if (runtime->transport)
    return leat_fail(error, LEAT_UNSUPPORTED, "in a cluster all processes begin with one deadline");
  if (limit == runtime->limit) return LEAT_OK;
  leat_watch_end(runtime->watch); // it looks as often as its limit asks for
  runtime->watch = NULL;
  runtime->limit = limit;
  leat_status status = limit > 0 ? leat_watch_start(runtime, error) : LEAT_OK;
  if (status) runtime->limit = 0;
  return status;
}

void leat_runtime_destroy(leat_runtime *runtime) {
  if (!runtime) return;
  leat_watch_end(runtime->watch);
  if (runtime->transport) runtime->transport->backend->close(runtime->transport);
  leat_pool_destroy(runtime->pool);
  if (runtime->exchange) runtime->exchange->destroy(runtime);
  for (leat_ending *ending = runtime->endings, *next; ending; ending = next) {
    next = ending->next;
    free(ending);
  }
  if (runtime->trace) runtime->trace->destroy(runtime->trace);
  pthread_mutex_destroy(&runtime->print_lock);
  pthread_mutex_destroy(&runtime->runs_lock);
  pthread_mutex_destroy(&runtime->mail_lock);
  free(runtime);
}

// -- Ending runs ----------------------------------------------------------------------------------

leat_ending *leat_runtime_take_ending(leat_runtime *runtime) {
  pthread_mutex_lock(&runtime->runs_lock);
  leat_ending *ending = runtime->endings;
  while (ending && ending->taken) ending = ending->next;
  if (!ending && (ending = calloc(1, sizeof *ending))) {
    ending->next = runtime->endings;
    atomic_store(&runtime->endings, ending);
  }
  if (ending) ending->taken = true;
  pthread_mutex_unlock(&runtime->runs_lock);
  return ending;
}

void leat_runtime_return_ending(leat_runtime *runtime, leat_ending *ending) {
  if (!ending) return;
  pthread_mutex_lock(&runtime->runs_lock);
  ending->taken = false;
  pthread_mutex_unlock(&runtime->runs_lock);
}

void leat_runtime_clear_ending(leat_runtime *runtime, leat_ending *ending) {
  atomic_store(&ending->late, false);
  atomic_store(&ending->now, false);
  if (leat_runtime_is_interrupted(runtime)) atomic_store(&ending->now, true);
}

// What was told to end does, though it be taken back meanwhile.
void leat_runtime_interrupt(leat_runtime *runtime, bool on) {
  atomic_store(&runtime->interrupted, on);
  for (leat_ending *ending = atomic_load(&runtime->endings); on && ending; ending = ending->next)
    atomic_store(&ending->now, true);
}

bool leat_runtime_is_interrupted(const leat_runtime *runtime) {
  return atomic_load(&runtime->interrupted);
}

// -- What is in flight ----------------------------------------------------------------------------

void leat_runtime_take_off(leat_runtime *runtime, leat_ending *ending) {
  uint64_t number = atomic_fetch_add_explicit(&runtime->flights, 1, memory_order_relaxed) + 1;
  atomic_store_explicit(&ending->node, NULL, memory_order_relaxed);
  if (runtime->limit > 0) pthread_mutex_lock(&runtime->runs_lock);
  if (runtime->limit > 0) ending->began = leat_clock();
  atomic_store_explicit(&ending->flight, number, memory_order_relaxed);
  if (runtime->limit > 0) pthread_mutex_unlock(&runtime->runs_lock);
}

// Whoever watches may hold the lock, and end what it has seen in flight: not the next one.
void leat_runtime_land(leat_runtime *runtime, leat_ending *ending) {
  if (runtime->limit > 0) pthread_mutex_lock(&runtime->runs_lock);
  atomic_store_explicit(&ending->flight, 0, memory_order_relaxed);
  if (runtime->limit > 0) pthread_mutex_unlock(&runtime->runs_lock);
}

// NULL: none is.
static leat_ending *in_flight(const leat_runtime *runtime) {
  leat_ending *ending = atomic_load(&runtime->endings);
  while (ending && !atomic_load(&ending->flight)) ending = ending->next;
  return ending;
}

const char *leat_runtime_node(const leat_runtime *runtime) {
  leat_ending *ending = in_flight(runtime);
  return ending ? atomic_load(&ending->node) : NULL;
}

void leat_runtime_trace(leat_runtime *runtime, leat_text *out) {
  if (runtime->trace)
    runtime->trace->write(runtime->trace, runtime->transport ? runtime->transport->rank : 0, out);
  else
    leat_text_add(out, "{\"traceEvents\":[]}\n");
}
