// Variables by name, and checkpoints. A value that comes before any step has declared its variable
// waits in session->restored; leat_session_deliver brings it to the store of its device.
#include "base/tensor.h"
#include "runtime/replace.h"
#include "session/cluster.h"
#include "session/snapshot.h"

#include <stdlib.h>
#include <string.h>

static const leat_graph *graph_of(const leat_session *session) {
  return leat_frontend_graph(session->frontend);
}

int leat_session_variable_count(const leat_session *session) {
  if (!leat_session_is_made(session)) return 0;
  return (int)graph_of(session)->states.count;
}

static const leat_state *variable(const leat_session *session, int i) {
  bool there = i >= 0 && i < leat_session_variable_count(session);
  return there ? graph_of(session)->states.items[i] : NULL;
}

const char *leat_session_variable(const leat_session *session, int i) {
  const leat_state *state = variable(session, i);
  return state ? state->name : NULL;
}

const char *leat_session_slot_of(const leat_session *session, int i) {
  const leat_state *state = variable(session, i);
  return state ? state->slot_of : NULL;
}

static leat_status find_state(leat_session *session, const char *name, leat_state **out) {
  const leat_graph *graph = graph_of(session);
  *out = leat_graph_find_state(graph, name);
  if (*out) return LEAT_OK;
  leat_arena *scratch = leat_arena_create();
  leat_vec(const char *) names = {0};
  for (uint32_t i = 0; i < graph->states.count; i++)
    leat_vec_push(scratch, &names, graph->states.items[i]->name);
  const char *nearest = leat_nearest(name, names.items, names.count);
  leat_arena_destroy(scratch);
  return leat_fail(&session->error, LEAT_NOT_FOUND, "there is no variable `%s`%s%s%s", name,
                   nearest ? "; did you mean `" : "", nearest ? nearest : "", nearest ? "`?" : "");
}

// The store that has declared the variable, or NULL.
static leat_store *find_store(const leat_session *session, const leat_state *state,
                              leat_variable_info *out) {
  for (uint32_t i = 0; i < session->devices.items.count; i++) {
    leat_store *store = session->devices.items.items[i].store;
    leat_error none = {0};
    if (!store) continue;
    leat_status status = leat_store_find(store, state->container, state->name, out, &none);
    if (status == LEAT_MEMORY) leat_out_of_memory();
    if (!status) return store;
  }
  return NULL;
}

// -- Values that wait --------------------------------------------------------------------------

static leat_status copy_value(leat_session *session, const leat_tensor *value, leat_tensor *out) {
  *out = *value;
  out->data = leat_tensor_clone(value);
  return out->data ? LEAT_OK : leat_fail(&session->error, LEAT_MEMORY, "no memory for a value");
}

static void set_waiting(leat_session *session, const char *name, leat_tensor *value) {
  leat_tensor *old = leat_map_get(&session->restored, name);
  if (old) free(old->data);
  free(old);
  leat_map_set(&session->restored, name, value);
}

// The entry in the map is there before the value is copied: nothing else can fail then.
static leat_status wait_for_store(leat_session *session, const char *name,
                                  const leat_tensor *value) {
  if (!leat_map_get(&session->restored, name)) leat_map_set(&session->restored, name, NULL);
  leat_tensor *copy = malloc(sizeof *copy);
  if (!copy) return LEAT_MEMORY;
  leat_status status = copy_value(session, value, copy);
  if (status)
    free(copy);
  else
    set_waiting(session, name, copy);
  return status;
}

static leat_status put(leat_session *session, const leat_state *state, const leat_tensor *value) {
  leat_variable_info info;
  leat_store *store = find_store(session, state, &info);
  leat_map_set(&session->known, state->name, (void *)state->name);
  if (store) return leat_store_write(store, state->container, state->name, value, &session->error);
  int home = leat_remote_home(session, state);
  if (home >= 0) return leat_remote_write(session, home, state, value);
  return wait_for_store(session, state->name, value);
}

leat_status leat_session_deliver(leat_session *session, leat_error *error) {
  for (uint32_t i = 0; i < session->restored.count; i++) {
    const leat_map_entry *entry = &session->restored.entries[i];
    const leat_state *state = leat_graph_find_state(graph_of(session), entry->key);
    leat_variable_info info;
    leat_store *store = entry->value ? find_store(session, state, &info) : NULL;
    int home = entry->value && !store ? leat_remote_home(session, state) : -1;
    if (!store && home < 0) continue;
    if (store)
      LEAT_TRY(leat_store_write(store, state->container, state->name, entry->value, error));
    else
      LEAT_TRY(leat_remote_write(session, home, state, entry->value));
    set_waiting(session, entry->key, NULL);
  }
  return LEAT_OK;
}

void leat_session_forget_waiting(leat_session *session) {
  for (uint32_t i = 0; i < session->restored.count; i++)
    set_waiting(session, session->restored.entries[i].key, NULL);
}

// -- One by one --------------------------------------------------------------------------------

// A step that fetches the variable initialises it.
static leat_status initialise_and_read(leat_session *session, const char *name, leat_tensor *out) {
  leat_step_spec spec = {.fetches = &name, .fetch_count = 1};
  leat_step *step;
  leat_tensor value;
  LEAT_TRY(leat_session_prepare(session, &spec, &step));
  if (!step) return LEAT_ABORTED;
  leat_status status = leat_step_run(step, NULL, &value);
  if (!status) {
    status = copy_value(session, &value, out);
    if (status) leat_session_end(session, status);
  }
  leat_step_destroy(step);
  return status;
}

// *found: whether it has a value already.
static leat_status read_value(leat_session *session, const leat_state *state, leat_tensor *out,
                              bool *found) {
  leat_variable_info info;
  leat_store *store = find_store(session, state, &info);
  const leat_tensor *waiting = leat_map_get(&session->restored, state->name);
  int home = store || waiting ? -1 : leat_remote_home(session, state);
  if (home >= 0) return leat_remote_read(session, home, state, out, found);
  *found = store ? info.initialised : waiting != NULL;
  if (!*found) return LEAT_OK;
  if (store) return leat_store_read(store, state->container, state->name, out, &session->error);
  return copy_value(session, waiting, out);
}

static leat_status find_and_read(leat_session *session, const char *name, leat_tensor *out,
                                 bool *found) {
  leat_state *state;
  LEAT_TRY(find_state(session, name, &state));
  return read_value(session, state, out, found);
}

leat_status leat_variable_read(leat_session *session, const char *name, leat_tensor *out) {
  if (!leat_session_begin(session)) return LEAT_INVALID;
  if (!name) return leat_session_refuse(session, "`name` is NULL");
  if (!out) return leat_session_refuse(session, "`out` is NULL");
  bool found = false;
  leat_status status;
  LEAT_RECOVER(status, find_and_read(session, name, out, &found));
  if (status || found) return leat_session_end(session, status);
  return initialise_and_read(session, name, out);
}

// Dims of variables are constants, or the run says so.
static bool fits(const leat_state *state, const leat_tensor *value) {
  bool same = state->type.dtype == value->dtype && state->type.rank == value->rank;
  for (int i = 0; same && i < value->rank; i++)
    same = leat_dim_is(state->type.dims[i], value->shape[i]);
  return same;
}

// `path`: the file that has the value, or NULL.
static leat_status misfit(leat_session *session, const leat_state *state, const leat_tensor *value,
                          const char *path) {
  leat_text expected = {0}, found = {0};
  leat_type type = leat_type_of_tensor(value);
  leat_type_print(&state->type, &expected);
  leat_type_print(&type, &found);
  leat_fail(&session->error, LEAT_INVALID,
            path ? "variable `%s` is %s, %s has %s" : "variable `%s` is %s, %s is %s", state->name,
            expected.data, path ? path : "the value", found.data);
  leat_text_finish(&expected);
  leat_text_finish(&found);
  return LEAT_INVALID;
}

static leat_status write_variable(leat_session *session, const char *name,
                                  const leat_tensor *value) {
  leat_state *state;
  LEAT_TRY(leat_tensor_check(value, name, &session->error));
  LEAT_TRY(find_state(session, name, &state));
  return fits(state, value) ? put(session, state, value) : misfit(session, state, value, NULL);
}

leat_status leat_variable_write(leat_session *session, const char *name, const leat_tensor *value) {
  if (!leat_session_begin(session)) return LEAT_INVALID;
  if (!name) return leat_session_refuse(session, "`name` is NULL");
  leat_status status;
  LEAT_RECOVER(status, write_variable(session, name, value));
  return leat_session_end(session, status);
}

// -- Checkpoints -------------------------------------------------------------------------------

struct leat_snapshot {
  leat_arena *arena;
  leat_vec(leat_named_tensor) tensors; // the data is malloc'ed
  const char *uninitialised;           // the names of the others; NULL: none
  leat_run_counts counts;
};

void leat_snapshot_destroy(leat_snapshot *snapshot) {
  if (!snapshot) return;
  for (uint32_t i = 0; i < snapshot->tensors.count; i++)
    free(snapshot->tensors.items[i].tensor.data);
  leat_arena_destroy(snapshot->arena);
}

static leat_status take(leat_session *session, leat_snapshot *out) {
  const leat_graph *graph = graph_of(session);
  const char *without = NULL;
  for (uint32_t i = 0; i < graph->states.count; i++) {
    leat_named_tensor named = {graph->states.items[i]->name, {0}};
    bool found;
    leat_vec_reserve(out->arena, &out->tensors, out->tensors.count + 1u);
    LEAT_TRY(read_value(session, graph->states.items[i], &named.tensor, &found));
    if (found)
      leat_vec_push(out->arena, &out->tensors, named);
    else
      without = leat_arena_printf(out->arena, "%s%s%s", without ? without : "", without ? " " : "",
                                  named.name);
  }
  out->uninitialised = without;
  for (uint32_t i = 0; i < session->counts.items.count; i++) {
    const leat_run_count *count = session->counts.items.items[i];
    *leat_run_count_of(&out->counts, count->entry) = count->runs;
  }
  return LEAT_OK;
}

static leat_status write_snapshot(leat_session *session, const leat_snapshot *snapshot,
                                  const char *path) {
  return leat_checkpoint_write(path, snapshot->tensors.items, snapshot->tensors.count,
                               snapshot->uninitialised, &snapshot->counts,
                               session->options.overwrite, &session->error);
}

static void destroy_snapshot(void *snapshot) {
  leat_snapshot_destroy(snapshot);
}

static leat_status create_snapshot(leat_session *session, leat_snapshot **out) {
  leat_cleanup cleanup;
  leat_arena *arena = leat_arena_create();
  leat_snapshot *snapshot = leat_new(arena, leat_snapshot);
  *snapshot = (leat_snapshot){.arena = arena, .counts = {.arena = arena}};
  leat_cleanup_hold(&cleanup, destroy_snapshot, snapshot);
  leat_status status = take(session, snapshot);
  if (status) {
    leat_cleanup_run(&cleanup);
    return status;
  }
  leat_let_go(&cleanup.held);
  *out = snapshot;
  return LEAT_OK;
}

leat_status leat_snapshot_take(leat_session *session, leat_snapshot **out) {
  *out = NULL;
  if (!leat_session_begin(session)) return LEAT_INVALID;
  leat_status status;
  LEAT_RECOVER(status, create_snapshot(session, out));
  status = leat_session_end(session, status);
  if (status) leat_snapshot_destroy(*out); // there was no memory for what the session says
  if (status) *out = NULL;
  return status;
}

static leat_status put_back(leat_session *session, const leat_snapshot *snapshot) {
  for (uint32_t i = 0; i < snapshot->tensors.count; i++) {
    const leat_named_tensor *named = &snapshot->tensors.items[i];
    const leat_state *state = leat_graph_find_state(graph_of(session), named->name);
    LEAT_TRY(put(session, state, &named->tensor));
  }
  for (uint32_t i = 0; i < session->counts.items.count; i++)
    session->counts.items.items[i]->runs = 0;
  for (uint32_t i = 0; i < snapshot->counts.items.count; i++) {
    const leat_run_count *count = snapshot->counts.items.items[i];
    *leat_run_count_of(&session->counts, count->entry) = count->runs;
  }
  return LEAT_OK;
}

leat_status leat_snapshot_put_back(leat_session *session, const leat_snapshot *snapshot) {
  leat_status status;
  if (!leat_session_begin(session)) return LEAT_INVALID;
  LEAT_RECOVER(status, put_back(session, snapshot));
  return leat_session_end(session, status);
}

leat_status leat_snapshot_write(leat_session *session, const leat_snapshot *snapshot,
                                const char *path) {
  leat_status status;
  if (!leat_session_begin(session)) return LEAT_INVALID;
  LEAT_RECOVER(status, write_snapshot(session, snapshot, path));
  return leat_session_end(session, status);
}

leat_status leat_session_save(leat_session *session, const char *path) {
  if (!leat_session_begin(session)) return LEAT_INVALID;
  if (!path) return leat_session_refuse(session, "`path` is NULL");
  leat_snapshot *snapshot;
  LEAT_TRY(leat_snapshot_take(session, &snapshot));
  leat_status status = leat_snapshot_write(session, snapshot, path);
  leat_snapshot_destroy(snapshot);
  return status;
}

// Which variables there will be is known, their values are not.
static leat_status check_save(leat_session *session, const char *path) {
  const leat_graph *graph = graph_of(session);
  LEAT_TRY(leat_file_check_writable(path, &session->error));
  if (session->options.overwrite) return LEAT_OK;
  leat_arena *scratch = leat_arena_create();
  leat_named_tensor *names = leat_new_array(scratch, leat_named_tensor, graph->states.count);
  for (uint32_t i = 0; i < graph->states.count; i++)
    names[i] = (leat_named_tensor){.name = graph->states.items[i]->name};
  leat_status status = leat_check_replaced(path, names, graph->states.count, &session->error);
  leat_arena_destroy(scratch);
  return status;
}

leat_status leat_session_check_save(leat_session *session, const char *path) {
  if (!leat_session_begin(session)) return LEAT_INVALID;
  if (!path) return leat_session_refuse(session, "`path` is NULL");
  leat_status status;
  LEAT_RECOVER(status, check_save(session, path));
  return leat_session_end(session, status);
}

leat_status leat_graph_check_restored(const leat_graph *graph, const leat_data_file *file,
                                      const char *path, bool partial, leat_error *error) {
  leat_arena *scratch = leat_arena_create();
  const char **names = leat_new_array(scratch, const char *, graph->states.count);
  for (uint32_t i = 0; i < graph->states.count; i++) names[i] = graph->states.items[i]->name;
  leat_status status =
      leat_checkpoint_check(file, path, names, graph->states.count, partial, error);
  leat_arena_destroy(scratch);
  return status;
}

static leat_status check_types(leat_session *session, const leat_data_file *file,
                               const char *path) {
  const leat_graph *graph = graph_of(session);
  for (uint32_t i = 0; i < graph->states.count; i++) {
    const leat_tensor *value = leat_data_file_find(file, graph->states.items[i]->name);
    if (value && !fits(graph->states.items[i], value))
      return misfit(session, graph->states.items[i], value, path);
  }
  return LEAT_OK;
}

// Not an error: a text may need fewer variables than were saved, or have new ones.
static void warn_of_others(leat_session *session, const leat_data_file *file, const char *path) {
  const leat_graph *graph = graph_of(session);
  for (uint32_t i = 0; i < graph->states.count; i++)
    if (!leat_data_file_find(file, graph->states.items[i]->name) &&
        !leat_checkpoint_lacked(file, graph->states.items[i]->name))
      leat_warn_at(session->diag, (leat_span){0}, "%s has no `%s`: it keeps its value", path,
                   graph->states.items[i]->name);
  for (size_t i = 0; i < file->count; i++)
    if (!leat_graph_find_state(graph, file->tensors[i].name))
      leat_warn_at(session->diag, (leat_span){0}, "%s has `%s`, which is no variable here", path,
                   file->tensors[i].name);
}

static leat_status restore(leat_session *session, const leat_data_file *file, const char *path,
                           bool partial) {
  LEAT_TRY(check_types(session, file, path));
  LEAT_TRY(leat_graph_check_restored(graph_of(session), file, path, partial, &session->error));
  for (uint32_t i = 0; i < graph_of(session)->states.count; i++) {
    const leat_state *state = graph_of(session)->states.items[i];
    const leat_tensor *value = leat_data_file_find(file, state->name);
    if (value) LEAT_TRY(put(session, state, value));
  }
  leat_run_counts_restore(&session->counts, file);
  warn_of_others(session, file, path);
  return LEAT_OK;
}

static leat_status restore_file(leat_session *session, const char *path, bool partial) {
  leat_error *error = leat_session_begin(session);
  if (!error) return LEAT_INVALID;
  if (!path) return leat_session_refuse(session, "`path` is NULL");
  leat_data_file file;
  leat_status status = leat_checkpoint_open(&file, path, error);
  if (!status) {
    LEAT_RECOVER(status, restore(session, &file, path, partial));
    leat_data_file_close(&file);
  }
  return leat_session_end(session, status);
}

leat_status leat_session_restore(leat_session *session, const char *path) {
  return restore_file(session, path, false);
}

leat_status leat_session_restore_partial(leat_session *session, const char *path) {
  return restore_file(session, path, true);
}
