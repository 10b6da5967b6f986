// Steps: prepared once, run many times.
//
// A step has variants: its code specialised to the values of the run-time dims that its feeds bind,
// for the first few sets of values that come, then one for all others (symbolic). A run finds its
// variant by comparing the dims with those of the last one, so the usual run looks nothing up.
#include "session/cluster.h"
#include "session/request.h"
#include "session/step_cache.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SPECIALISED = 4, MOST_DIMS = 64, MOST_NAMES = 1 << 20 };

// A dim that feeds bind.
typedef struct bound_dim {
  const leat_atom *atom;
  uint32_t feed;
  int axis;
} bound_dim;

typedef struct variant {
  leat_session *session;
  leat_cleanup cleanup; // while it is made
  bool symbolic;
  int64_t *dims; // the step's, when specialised
  leat_arena *arena;
  leat_arena *compiled;  // what it was made in, where it refers to that; else NULL
  leat_loaded_step here; // the part of this process
  leat_remote remote;    // those of others
  leat_tensor *feeds;    // where the executor has more than the step: scratch, with what is held
} variant;

struct leat_step {
  leat_handle handle;
  leat_session *session;
  leat_step *next, *previous; // of the session's
  leat_arena *arena;
  leat_request request;
  uint64_t *run_count;            // what run_count() is: of the first entry
  leat_vec(uint64_t *) completed; // counters that a completed run adds one to: of its entries
  leat_vec(bound_dim) dims;
  int64_t *dim_values; // of the run in progress
  leat_vec(variant *) variants;
  variant *current;
  leat_results *taken; // that are not released
};

// What somebody took over: the run whose memory it lies in.
struct leat_results {
  leat_handle handle;
  leat_step *step;
  leat_results *next, *previous; // of the step's
  leat_run *run;                 // NULL: the step has nothing to compute
};

// -- Dims --------------------------------------------------------------------------------------

static bool has_dim(const leat_step *step, const leat_atom *atom) {
  for (uint32_t i = 0; i < step->dims.count; i++)
    if (step->dims.items[i].atom == atom) return true;
  return false;
}

// A dim is bound where it stands alone; the runtime checks the others. A `?` has no value that a
// step could be specialised to.
static void find_dims(leat_step *step) {
  for (uint32_t i = 0; i < step->request.feed_types.count; i++) {
    const leat_type *type = step->request.feed_types.items[i];
    for (int axis = 0; axis < type->rank; axis++) {
      const leat_atom *atom = leat_dim_atom(type->dims[axis]);
      if (!atom || atom->kind != LEAT_ATOM_NAMED || has_dim(step, atom) ||
          step->dims.count == MOST_DIMS)
        continue;
      leat_vec_push(step->arena, &step->dims, (bound_dim){atom, i, axis});
    }
  }
  step->dim_values = leat_new_array(step->arena, int64_t, step->dims.count);
}

// "feed `x` (file:line:column)", in the words of the runtime.
static const char *feed_name(const leat_step *step, uint32_t feed) {
  leat_text place = {0};
  leat_diag_place(step->session->diag, step->request.feed_spans.items[feed], &place);
  const char *name = leat_arena_printf(step->arena, place.size ? "feed `%s` (%s)" : "feed `%s`",
                                       step->request.feeds.items[feed].name, place.data);
  leat_text_finish(&place);
  return name;
}

static leat_status bind_dims(leat_step *step, const leat_tensor *feeds) {
  for (uint32_t i = 0; i < step->dims.count; i++) {
    const bound_dim *dim = &step->dims.items[i];
    const leat_tensor *feed = &feeds[dim->feed];
    const leat_port *port = &step->request.feeds.items[dim->feed];
    if (!feed->data)
      return leat_fail(&step->session->error, LEAT_INVALID, "%s is missing: it is %s",
                       feed_name(step, dim->feed), port->type);
    if (feed->rank != port->rank)
      return leat_fail(&step->session->error, LEAT_INVALID, "%s: expected %s, found %s of rank %d",
                       feed_name(step, dim->feed), port->type, leat_dtype_name(feed->dtype),
                       feed->rank);
    int64_t value = feed->shape[dim->axis];
    if (value < dim->atom->low || value > dim->atom->high)
      return leat_fail(&step->session->error, LEAT_OUT_OF_RANGE,
                       "%s: axis %d: expected %s in %" PRId64 " … %" PRId64 ", found %" PRId64,
                       feed_name(step, dim->feed), dim->axis, dim->atom->name, dim->atom->low,
                       dim->atom->high, value);
    step->dim_values[i] = value;
  }
  return LEAT_OK;
}

static bool variant_fits(const leat_step *step, const variant *v) {
  return v->symbolic || memcmp(v->dims, step->dim_values, step->dims.count * sizeof *v->dims) == 0;
}

// -- Making a variant --------------------------------------------------------------------------

// The values by atom id, as `infer` wants them.
static void specialise(const leat_step *step, const variant *v, leat_driver *driver) {
  uint32_t count = leat_dims_atom_count(driver->context.graph->dims);
  int64_t *values = leat_new_array(driver->context.arena, int64_t, count);
  bool *known = leat_new_array(driver->context.arena, bool, count);
  for (uint32_t i = 0; i < step->dims.count; i++) {
    uint32_t id = step->dims.items[i].atom->id;
    values[id] = v->dims[i];
    known[id] = true;
  }
  driver->context.dim_values = values;
  driver->context.dim_known = known;
  driver->context.dim_count = count;
}

static bool uses_cache(const leat_session *session) {
  return session->cache && !session->remakes_steps && !session->cluster &&
         !session->options.dump_after && !session->options.stop_after;
}

// *stopped: the session's options end it before there is code.
static leat_status make_code(leat_step *step, variant *v, leat_driver *driver, leat_step_code *code,
                             bool *stopped) {
  leat_session *session = step->session;
  leat_text key = {0};
  leat_status status = leat_driver_run(driver, "check");
  bool cached = false;
  if (!status && !driver->stopped && uses_cache(session)) {
    double start = leat_seconds();
    leat_step_cache_key(driver, &key);
    cached = leat_step_cache_get(session, &key, code);
    leat_session_time(session, cached ? "cache hit" : "cache miss", start);
  }
  if (!status && !driver->stopped && session->cluster) {
    status = leat_driver_run(driver, NULL);
    if (!status && !driver->stopped) status = leat_remote_register(driver, v->arena, &v->remote);
  }
  if (!status && !driver->stopped && !cached) {
    status = leat_step_compile(driver, code);
    if (!status && !driver->stopped && key.size) leat_step_cache_put(session, &key, code);
  }
  *stopped = driver->stopped;
  leat_text_finish(&key);
  return status;
}

static leat_status other_port(leat_step *step, const char *name) {
  return leat_fail(&step->session->error, LEAT_INTERNAL, "the compiled step has a port `%s`", name);
}

// The executor's ports are the step's, in its order. Behind its feeds there may be parameters of
// entries that are not run, which have defaults, and what the session holds.
static leat_status find_ports(leat_step *step, variant *v) {
  const leat_executor *executor = v->here.executor;
  uint32_t feeds = step->request.feeds.count, fetches = step->request.fetches.count;
  size_t all = leat_executor_feed_count(executor);
  leat_port_info info;
  if (all > feeds) v->feeds = leat_new_array(v->arena, leat_tensor, all);
  for (size_t i = 0; i < all; i++) {
    leat_executor_feed(executor, i, &info);
    const leat_tensor *held = i < feeds ? NULL : leat_session_held(step->session, info.name);
    if (held) v->feeds[i] = *held;
    bool same = i < feeds && strcmp(info.name, step->request.feeds.items[i].name) == 0;
    if (!same && !held && (i < feeds || !info.has_fallback)) return other_port(step, info.name);
  }
  for (size_t i = 0; i < leat_executor_fetch_count(executor); i++) {
    leat_executor_fetch(executor, i, &info);
    if (i >= fetches || strcmp(info.name, step->request.fetches.items[i].name) != 0)
      return other_port(step, info.name);
  }
  return LEAT_OK;
}

static leat_status start_variant(leat_step *step, variant *v, const leat_step_code *code) {
  leat_session *session = step->session;
  double start = leat_seconds();
  LEAT_TRY(leat_loaded_step_start(session, v->arena, code, &v->here));
  if (v->here.executor) LEAT_TRY(find_ports(step, v));
  if (session->cluster) {
    if (v->here.executor) leat_vec_push(session->arena, &session->cluster->steps, &v->here);
    LEAT_TRY(leat_remote_ready(session, &v->remote));
  }
  leat_session_time(session, "load", start);
  return leat_session_deliver(session, &session->error);
}

static leat_status drop_remote(const variant *v) {
  leat_remote_drop(v->session, &v->remote);
  return LEAT_OK;
}

static void destroy_variant(void *made) {
  variant *v = made;
  leat_status told;
  if (v->session->cluster) {
    LEAT_RECOVER(told, drop_remote(v));
    (void)told; // who is not told keeps it for longer
    leat_cluster_forget(v->session, &v->here);
  }
  leat_loaded_step_finish(&v->here);
  leat_arena_destroy(v->compiled);
  leat_arena_destroy(v->arena);
}

static leat_status make_variant(leat_step *step, variant *v, bool *stopped) {
  leat_driver driver;
  leat_step_code code = {.arena = leat_arena_create(), .keepable = true};
  leat_driver_init(&driver, step->session, code.arena, &step->request.step);
  if (!v->symbolic) specialise(step, v, &driver);
  leat_status status = make_code(step, v, &driver, &code, stopped);
  if (!status && !*stopped) status = start_variant(step, v, &code);
  leat_driver_finish(&driver);
  if (code.keepable)
    leat_arena_destroy(code.arena);
  else
    v->compiled = code.arena;
  return status;
}

// For the dims in step->dim_values, or symbolic. Becomes the current one, unless stopped.
static leat_status add_variant(leat_step *step, bool symbolic, bool *stopped) {
  leat_vec_reserve(step->arena, &step->variants, step->variants.count + 1u);
  leat_arena *arena = leat_arena_create();
  variant *v = leat_new(arena, variant);
  v->session = step->session;
  v->arena = arena;
  v->symbolic = symbolic;
  leat_cleanup_hold(&v->cleanup, destroy_variant, v);
  size_t size = step->dims.count * sizeof *v->dims;
  if (!symbolic && size) v->dims = leat_arena_memdup(arena, step->dim_values, size);
  leat_status status = make_variant(step, v, stopped);
  if (status || *stopped) {
    leat_cleanup_run(&v->cleanup);
    return status;
  }
  leat_let_go(&v->cleanup.held);
  leat_vec_push(step->arena, &step->variants, v);
  step->current = v;
  return LEAT_OK;
}

// -- Preparing ---------------------------------------------------------------------------------

// A step whose feeds bind no dims is compiled at once; else with the first feeds.
static leat_status prepare(leat_step *step, const leat_step_spec *spec, bool *stopped) {
  leat_session *session = step->session;
  LEAT_TRY(leat_reserved_check(spec->reserved, LEAT_RESERVED - 2, &session->error));
  if (!session->options.stop_after) LEAT_TRY(leat_session_check_cpu(session));
  LEAT_TRY(leat_request_resolve(session, step->arena, spec, &step->request));
  find_dims(step);
  const char *entry = step->request.count_of;
  step->run_count = entry ? leat_run_count_of(&session->counts, entry) : &session->unnamed_runs;
  for (int i = 0; i < spec->entry_count; i++)
    leat_vec_push(step->arena, &step->completed,
                  leat_run_count_of(&session->counts, spec->entries[i]));
  leat_session_warn_untrained(session, &step->request.step);
  bool symbolic = session->options.symbolic || session->options.stop_after;
  if (step->dims.count && !symbolic) return LEAT_OK;
  return add_variant(step, true, stopped);
}

static leat_handles steps = LEAT_HANDLES(leat_step);

static leat_step *create_step(leat_session *session) {
  leat_step *step = leat_handle_create(&steps);
  if (!step) return NULL;
  step->arena = leat_arena_try_create();
  if (!step->arena) {
    leat_handle_destroy(step);
    return NULL;
  }
  step->session = session;
  step->next = session->steps_made;
  if (step->next) step->next->previous = step;
  session->steps_made = step;
  return step;
}

static bool are_names(const char *const *names, int count) {
  if (count < 0 || count > MOST_NAMES || (count && !names)) return false;
  for (int i = 0; i < count; i++)
    if (!names[i]) return false;
  return true;
}

static const char *fault_of(const leat_step_spec *spec) { // NULL: none
  if (!spec) return "`spec` is NULL";
  if (!are_names(spec->entries, spec->entry_count)) return "`entries` are not `entry_count` names";
  if (!are_names(spec->feeds, spec->feed_count)) return "`feeds` are not `feed_count` names";
  if (!are_names(spec->fetches, spec->fetch_count)) return "`fetches` are not `fetch_count` names";
  if (!are_names(spec->donated, spec->donated_count))
    return "`donated` are not `donated_count` names";
  return are_names(spec->runs, spec->run_count) ? NULL : "`runs` are not `run_count` names";
}

leat_status leat_session_prepare(leat_session *session, const leat_step_spec *spec,
                                 leat_step **out) {
  if (!leat_session_begin(session)) return LEAT_INVALID;
  if (!out) return leat_session_refuse(session, "`out` is NULL");
  *out = NULL;
  const char *fault = fault_of(spec);
  if (fault) return leat_session_refuse(session, fault);
  leat_step *step = create_step(session);
  if (!step) return leat_session_end(session, LEAT_MEMORY);
  bool stopped = false;
  leat_status status;
  leat_float_mode mode = leat_float_mode_begin(true);
  LEAT_RECOVER(status, prepare(step, spec, &stopped));
  leat_float_mode_end(mode);
  *out = status || stopped ? NULL : step;
  if (!*out) leat_step_destroy(step);
  return leat_session_end(session, status);
}

static bool is_live(const leat_step *step) {
  return leat_handle_is_live(step, &steps);
}

void leat_step_destroy(leat_step *step) {
  if (!is_live(step)) return;
  while (step->taken) leat_results_release(step->taken);
  for (uint32_t i = 0; i < step->variants.count; i++) destroy_variant(step->variants.items[i]);
  if (step->next) step->next->previous = step->previous;
  *(step->previous ? &step->previous->next : &step->session->steps_made) = step->next;
  leat_arena_destroy(step->arena);
  leat_handle_destroy(step);
}

int leat_step_feed_count(const leat_step *step) {
  return is_live(step) ? (int)step->request.feeds.count : 0;
}

int leat_step_fetch_count(const leat_step *step) {
  return is_live(step) ? (int)step->request.fetches.count : 0;
}

const leat_port *leat_step_feed(const leat_step *step, int i) {
  return i >= 0 && i < leat_step_feed_count(step) ? &step->request.feeds.items[i] : NULL;
}

const leat_port *leat_step_fetch(const leat_step *step, int i) {
  return i >= 0 && i < leat_step_fetch_count(step) ? &step->request.fetches.items[i] : NULL;
}

// -- Running -----------------------------------------------------------------------------------

static leat_status choose_variant(leat_step *step, const leat_tensor *feeds) {
  LEAT_TRY(bind_dims(step, feeds));
  if (step->current && variant_fits(step, step->current)) return LEAT_OK;
  for (uint32_t i = 0; i < step->variants.count; i++)
    if (variant_fits(step, step->variants.items[i])) {
      step->current = step->variants.items[i];
      return LEAT_OK;
    }
  bool stopped = false;
  leat_float_mode mode = leat_float_mode_begin(true);
  leat_status status = add_variant(step, step->variants.count >= MOST_SPECIALISED, &stopped);
  leat_float_mode_end(mode);
  return status;
}

static void end_remote(leat_session *session, const leat_run_request *request, leat_status status) {
  leat_runtime_abort(session->runtime, LEAT_CLUSTER_RUNS, request->step, status,
                     session->error.message);
}

// One request to each worker, then this process's part. A failure anywhere ends the run everywhere;
// the workers' answers are awaited, unless all is to end at once.
static leat_status execute_remote(leat_step *step, variant *v, const leat_run_request *request,
                                  leat_tensor *results) {
  leat_session *session = step->session;
  leat_named_dim dims[MOST_DIMS];
  for (uint32_t i = 0; i < step->dims.count; i++)
    dims[i] = (leat_named_dim){step->dims.items[i].atom->name, step->dim_values[i]};
  LEAT_TRY(leat_remote_run(session, &v->remote, request->step, request->run_count, dims,
                           step->dims.count));
  leat_status here =
      v->here.run ? leat_run_execute(v->here.run, request, results, &session->error) : LEAT_OK;
  if (here) end_remote(session, request, here); // its part may have nothing to do with the others
  leat_status there = leat_remote_done(session, &v->remote, here != LEAT_OK);
  if (!here && (there == LEAT_DEADLINE || there == LEAT_ABORTED))
    end_remote(session, request, there); // a worker may compute for ever, and nobody wait for it
  return here ? here : there;
}

// Where memory runs out, some may have been asked who now wait for the others.
static leat_status ask_all(leat_step *step, variant *v, const leat_run_request *request,
                           leat_tensor *results) {
  leat_status status;
  LEAT_RECOVER(status, execute_remote(step, v, request, results));
  if (status == LEAT_MEMORY)
    leat_runtime_abort(step->session->runtime, LEAT_CLUSTER_RUNS, request->step, status,
                       leat_status_name(status));
  return status;
}

// Another than the one that was taken.
static leat_status renew_run(leat_step *step, leat_loaded_step *here) {
  here->run = leat_run_acquire(here->executor);
  if (here->run) return LEAT_OK;
  return leat_fail(&step->session->error, LEAT_MEMORY, "no memory for a run");
}

static leat_status execute(leat_step *step, const leat_tensor *feeds, leat_tensor *fetches) {
  leat_session *session = step->session;
  variant *v = step->current;
  if (!v->here.run && v->here.executor) LEAT_TRY(renew_run(step, &v->here));
  if (v->feeds) {
    for (uint32_t i = 0; i < step->request.feeds.count; i++) v->feeds[i] = feeds[i];
    feeds = v->feeds;
  }
  leat_run_request request = {
      .step = session->steps++, .run_count = (int64_t)*step->run_count, .feeds = feeds};
  leat_status status = LEAT_OK;
  if (v->remote.parts.count)
    status = ask_all(step, v, &request, fetches);
  else if (v->here.run) // a step with nothing to do has none
    status = leat_run_execute(v->here.run, &request, fetches, &session->error);
  if (status) return status;
  if (session->cluster && !v->remote.parts.count) leat_remote_listen(session);
  for (uint32_t i = 0; i < step->completed.count; i++) ++*step->completed.items[i];
  return LEAT_OK;
}

// Every nanosecond counts here.
leat_status leat_step_run(leat_step *step, const leat_tensor *feeds, leat_tensor *fetches) {
  if (!is_live(step)) return LEAT_INVALID;
  leat_session *session = step->session;
  if (session->error.status || session->message.size) leat_session_begin(session);
  if (!feeds && step->request.feeds.count) return leat_session_refuse(session, "`feeds` is NULL");
  if (!fetches && step->request.fetches.count)
    return leat_session_refuse(session, "`fetches` is NULL");
  leat_status status = LEAT_OK;
  if (step->dims.count) LEAT_RECOVER(status, choose_variant(step, feeds));
  if (!status) status = execute(step, feeds, fetches);
  return status ? leat_session_end(session, status) : LEAT_OK;
}

// -- Results that are taken over ------------------------------------------------------------------

// Of the lists of all steps: who releases may be another thread than who runs.
static pthread_mutex_t taken_lock = PTHREAD_MUTEX_INITIALIZER;
static leat_handles taken = LEAT_HANDLES(leat_results);

static leat_loaded_step *last_of(const leat_step *step) { // NULL: it has not run
  return is_live(step) && step->current ? &step->current->here : NULL;
}

leat_status leat_step_take(leat_step *step, leat_results **out) {
  if (!is_live(step) || !leat_session_begin(step->session)) return LEAT_INVALID;
  if (!out) return leat_session_refuse(step->session, "`out` is NULL");
  leat_loaded_step *here = last_of(step);
  *out = NULL;
  if (!here || (here->executor && !here->run))
    return leat_session_refuse(step->session, "the step has no results that are not taken");
  leat_results *results = leat_handle_create(&taken);
  if (!results) return leat_session_end(step->session, LEAT_MEMORY);
  results->step = step;
  results->run = here->run;
  here->run = NULL;
  pthread_mutex_lock(&taken_lock);
  results->next = step->taken;
  if (results->next) results->next->previous = results;
  step->taken = results;
  pthread_mutex_unlock(&taken_lock);
  *out = results;
  return LEAT_OK;
}

uint64_t leat_step_memory(const leat_step *step) {
  const leat_loaded_step *here = last_of(step);
  return here && here->run ? leat_run_memory(here->run) : 0;
}

bool leat_step_is_constant(const leat_step *step, int i) {
  const leat_loaded_step *here = last_of(step);
  if (!here || !here->executor || i < 0 || i >= leat_step_fetch_count(step)) return false;
  return leat_executor_fetch_is_constant(here->executor, (size_t)i);
}

void leat_results_release(leat_results *results) {
  pthread_mutex_lock(&taken_lock);
  bool live = leat_handle_is_live(results, &taken);
  if (live) {
    if (results->next) results->next->previous = results->previous;
    *(results->previous ? &results->previous->next : &results->step->taken) = results->next;
    leat_run_release(results->run);
    leat_handle_destroy(results);
  }
  pthread_mutex_unlock(&taken_lock);
}
