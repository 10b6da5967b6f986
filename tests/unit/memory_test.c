// Memory that runs out, at each allocation of a session's life: the call answers LEAT_MEMORY, is
// repeated, and in the end all is as if nothing had happened. The linker puts these malloc, calloc
// … in the place of libleat's own (not of LLVM's).
//
// $LEAT_FAULTS says how many allocations of each target are tried, "all" that each is; a sample is
// drawn by $LEAT_TEST_SEED.
#include "base/vec.h"
#include "leat/leat.h"
#include "runtime/checkpoint.h"
#include "runtime/store.h"
#include "session/cluster.h"
#include "tests/unit/check.h"
#include "tests/unit/inproc.h"
#include "tests/unit/scratch.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

// -- Allocations ---------------------------------------------------------------------------------

static atomic_long calls;   // so far
static atomic_long failing; // the number of the call that fails; -1: none
static atomic_bool hit;     // it has failed
static atomic_bool emptied; // and all that come behind it fail, too
static bool empties;

static bool fails(void) {
  if (atomic_load(&emptied)) {
    errno = ENOMEM;
    return true;
  }
  if (atomic_fetch_add(&calls, 1) != atomic_load(&failing)) return false;
  atomic_store(&hit, true);
  atomic_store(&emptied, empties);
  errno = ENOMEM;
  return true;
}

#define WRAPPED(type, name, parameters, arguments, none)                                           \
  type __real_##name parameters;                                                                   \
  type __wrap_##name parameters;                                                                   \
  type __wrap_##name parameters {                                                                  \
    return fails() ? none : __real_##name arguments;                                               \
  }

WRAPPED(void *, malloc, (size_t size), (size), NULL)
WRAPPED(void *, calloc, (size_t count, size_t size), (count, size), NULL)
WRAPPED(void *, realloc, (void *old, size_t size), (old, size), NULL)
WRAPPED(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size), NULL)
WRAPPED(int, posix_memalign, (void **out, size_t alignment, size_t size), (out, alignment, size),
        12)
WRAPPED(char *, strdup, (const char *text), (text), NULL)
WRAPPED(char *, strndup, (const char *text, size_t size), (text, size), NULL)

// An arena has memory for many: each of them may be the one for which there is none.
void *__real_leat_arena_alloc(leat_arena *arena, size_t size);
void *__wrap_leat_arena_alloc(leat_arena *arena, size_t size);
void *__wrap_leat_arena_alloc(leat_arena *arena, size_t size) {
  if (fails()) leat_out_of_memory();
  return __real_leat_arena_alloc(arena, size);
}

void *__real_leat_arena_alloc_array(leat_arena *arena, size_t count, size_t size);
void *__wrap_leat_arena_alloc_array(leat_arena *arena, size_t count, size_t size);
void *__wrap_leat_arena_alloc_array(leat_arena *arena, size_t count, size_t size) {
  if (fails()) leat_out_of_memory();
  return __real_leat_arena_alloc_array(arena, count, size);
}

void *__real_leat_vec_grow(leat_arena *arena, void *items, uint32_t count, uint32_t *capacity,
                           uint32_t needed, size_t size);
void *__wrap_leat_vec_grow(leat_arena *arena, void *items, uint32_t count, uint32_t *capacity,
                           uint32_t needed, size_t size);
void *__wrap_leat_vec_grow(leat_arena *arena, void *items, uint32_t count, uint32_t *capacity,
                           uint32_t needed, size_t size) {
  if (needed > *capacity && fails()) leat_out_of_memory();
  return __real_leat_vec_grow(arena, items, count, capacity, needed, size);
}

// -- A session's life ----------------------------------------------------------------------------

static const char text[] = "graph life(rate: float = 0.5)\n"
                           "var w: f32[3] = [1, 2, 3]\n"
                           "var names: str[2] = [\"a\", \"b\"]\n"
                           "fn twice(x: T[N]) { return x + x }\n"
                           "entry train(x: f32[B, 3]) training -> (loss: f32[]) {\n"
                           "  y = x @ w\n"
                           "  loss = mean(square(y - 1))\n"
                           "  minimize(loss, momentum, lr=rate)\n"
                           "}\n"
                           "entry look(x: f32[3]) -> (y: f32[3], s: str[2]) {\n"
                           "  print(\"x\", x)\n"
                           "  y = sort(twice(tanh(x))) + w\n"
                           "  s = str_upper(names)\n"
                           "}\n"
                           "entry wrong(x: f32[3]) -> (y: f32[3]) { y = unknown(x) }\n";
static const char more[] = "entry more(x: f32[3]) -> (y: f32[3]) { y = cumsum(x * w) }\n";

static int errors;

// What fails for want of memory is repeated, and succeeds.
static bool again(leat_status status, const leat_session *session, const char *what) {
  bool was_hit = atomic_exchange(&hit, false);
  atomic_store(&emptied, false);
  if (!status) return false;
  if (!was_hit || status != LEAT_MEMORY)
    CHECK_FAILED("allocation %ld: %s: %s: %s", atomic_load(&failing), what,
                 leat_status_name(status), leat_session_message(session));
  CHECK(strstr(leat_session_message(session), "error: "));
  errors++;
  return was_hit;
}

#define CALL(session, call)                                                                        \
  do {                                                                                             \
    if (again((call), session, #call)) CHECK_EQ_INT((call), LEAT_OK);                              \
  } while (0)

static void drop(void *context, const char *said) {
  (void)context;
  (void)said;
}

static leat_session *create(const char *target) {
  leat_setting rate = {"rate", "0.25"};
  leat_session_options options = {.target = target,
                                  .cache = "off",
                                  .threads = 2,
                                  .print = drop,
                                  .trace = true,
                                  .settings = &rate,
                                  .setting_count = 1};
  leat_session *session;
  while (again(leat_session_create(&options, &session), session, "create"))
    leat_session_destroy(session);
  return session;
}

static leat_step *prepare(leat_session *session, const char *entry) {
  leat_step_spec spec = {.entries = &entry, .entry_count = 1};
  leat_step *step = NULL;
  CALL(session, leat_session_prepare(session, &spec, &step));
  return step;
}

// A run that fails may have changed variables: they are put back before the next try.
static void train(leat_session *session, leat_step *step, int64_t rows, float *out_loss) {
  static float data[] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
  leat_tensor x = {LEAT_f32, 2, {rows, 3}, data}, loss, before[2];
  const char *const kept[] = {"w", leat_session_variable(session, 2)};
  for (int i = 0; i < 2; i++) CALL(session, leat_variable_read(session, kept[i], &before[i]));
  if (again(leat_step_run(step, &x, &loss), session, "train")) {
    for (int i = 0; i < 2; i++)
      CHECK_EQ_INT(leat_variable_write(session, kept[i], &before[i]), LEAT_OK);
    CHECK_EQ_INT(leat_step_run(step, &x, &loss), LEAT_OK);
  }
  *out_loss = *(float *)loss.data;
  for (int i = 0; i < 2; i++) free(before[i].data);
}

// What a life leaves: it must be the same however often memory ran out.
typedef struct remains {
  float losses[3], y[6], w[3];
  char *graph;
  size_t saved;
} remains;

static void look(leat_session *session, const char *entry, float *out) {
  float three[3] = {0.5f, -1, 2};
  leat_tensor x = {LEAT_f32, 1, {3}, three}, y[2];
  leat_step *step = prepare(session, entry);
  if (!step) return;
  CALL(session, leat_step_run(step, &x, y));
  memcpy(out, y[0].data, 3 * sizeof *out);
  if (leat_step_fetch_count(step) == 2) {
    const leat_str *s = y[1].data;
    CHECK(s[0].size == 1 && *s[0].data == 'A' && *s[1].data == 'B');
  }
  leat_step_destroy(step);
}

static size_t size_of(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) return 0;
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  fclose(file);
  return size;
}

static void ask_for_texts(leat_session *session, remains *out) {
  char *trace = NULL, *traffic = NULL;
  CALL(session, leat_session_print(session, &out->graph));
  CALL(session, leat_session_trace(session, &trace));
  CALL(session, leat_session_traffic(session, &traffic));
  free(leat_session_describe(session, "twice"));
  leat_session_names(session, LEAT_NAMES, NULL, drop, NULL);
  leat_session_names(session, LEAT_PATHS, NULL, drop, NULL);
  leat_session_names(session, LEAT_FETCHES, NULL, drop, NULL);
  again(LEAT_OK, session, "names");
  free(trace);
  free(traffic);
}

static char lacking[SCRATCH_PATH]; // a checkpoint without most variables

static void write_lacking(void) {
  float w[3] = {0};
  leat_named_tensor named = {"w", {LEAT_f32, 1, {3}, w}};
  scratch_path(lacking, "lacking.safetensors");
  CHECK_EQ_INT(leat_safetensors_write(lacking, &named, 1, NULL, 0, NULL), LEAT_OK);
}

static void refuse(leat_session *session) {
  leat_status status = leat_session_restore(session, lacking);
  while (status == LEAT_MEMORY && again(status, session, "refuse"))
    status = leat_session_restore(session, lacking);
  CHECK_EQ_INT(status, LEAT_MISMATCH);
  CHECK(strstr(leat_session_message(session), " has no `names`"));
}

static void live(const char *target, const char *path, remains *out) {
  static float number = 7;
  leat_session *session = create(target);
  leat_tensor held = {LEAT_f32, 0, {0}, &number}, w;
  CALL(session, leat_session_extend(session, text, 0, "life.leat"));
  leat_step *step = prepare(session, "train");
  for (int i = 0; step && i < 2; i++) train(session, step, i + 2, &out->losses[i]);
  look(session, "look", out->y);
  CALL(session, leat_session_hold(session, "h", &held));
  CALL(session, leat_session_extend(session, more, 0, "more.leat"));
  look(session, "more", out->y + 3);
  CALL(session, leat_session_save(session, path));
  out->saved = size_of(path);
  CALL(session, leat_session_restore(session, path));
  refuse(session);
  if (step) train(session, step, 4, &out->losses[2]);
  CALL(session, leat_variable_read(session, "w", &w));
  memcpy(out->w, w.data, sizeof out->w);
  free(w.data);
  ask_for_texts(session, out);
  leat_session_destroy(session);
  again(LEAT_OK, session, "destroy");
}

// -- Faults --------------------------------------------------------------------------------------

static bool same(const remains *a, const remains *b) {
  return a->graph && b->graph && !strcmp(a->graph, b->graph) && a->saved == b->saved &&
         !memcmp(a, b, offsetof(remains, graph));
}

static uint64_t seed(void) {
  const char *given = getenv("LEAT_TEST_SEED");
  return given ? strtoull(given, NULL, 0) : 1;
}

// How many of `all` are tried.
static long sample_of(long all, long usual) {
  const char *wanted = getenv("LEAT_FAULTS");
  long count = !wanted ? usual : !strcmp(wanted, "all") ? all : strtol(wanted, NULL, 10);
  return count < all ? count : all;
}

// The allocation that fails in try `i` of `count`, and whether all behind it do, too.
static void choose(long i, long count, long all) {
  empties = (seed() + (uint64_t)i) % 2;
  atomic_store(&failing, (long)(((uint64_t)i * (uint64_t)all + seed() % (uint64_t)all) /
                                (uint64_t)count % (uint64_t)all));
  atomic_store(&calls, 0);
  errors = 0;
}

static void check_target(const char *target, long usual) {
  char path[SCRATCH_PATH];
  scratch_path(path, "life.safetensors");
  remains expected = {0};
  atomic_store(&failing, -1);
  write_lacking();
  live(target, path, &expected); // what is made once in a process is made
  free(expected.graph);
  atomic_store(&calls, 0);
  live(target, path, &expected);
  long all = atomic_load(&calls), count = sample_of(all, usual), found = 0;
  for (long i = 0; i < count && !check_failures; i++) {
    remains left = {0};
    choose(i, count, all);
    live(target, path, &left);
    found += errors;
    if (!same(&left, &expected))
      CHECK_FAILED("allocation %ld changes something", atomic_load(&failing));
    free(left.graph);
  }
  atomic_store(&failing, -1);
  printf("%s: %ld of %ld allocations failed, %ld errors\n", target, count, all, found);
  CHECK(found * 2 > count);
  free(expected.graph);
  unlink(path);
  unlink(lacking);
}

TEST(sessions_survive_on_ref) {
  check_target("ref", 120);
}

TEST(sessions_survive_on_cpu) {
  check_target("cpu", HAS_LLVM ? 20 : 2); // a C compiler takes its time
}

// -- Variables of a compiled model ---------------------------------------------------------------

static leat_status keep(leat_store *store, const char *path, leat_error *error) {
  leat_run_counts counts = {.arena = leat_arena_create()};
  *leat_run_count_of(&counts, "train") = 7;
  leat_status status = leat_store_save(store, path, &counts, true, error);
  leat_arena_destroy(counts.arena);
  return status;
}

static leat_status bring_back(leat_store *store, const char *path, leat_error *error) {
  leat_data_file file;
  leat_status status = leat_checkpoint_open(&file, path, error), restored;
  if (status) return status;
  LEAT_RECOVER(restored, leat_store_restore(store, &file, path, false, error));
  leat_data_file_close(&file);
  return restored;
}

// The allocation with this number fails, if there are so many; `other` has a variable that the file
// lacks.
static bool keep_and_bring_back(leat_store *store, leat_store *other, const char *path, long n) {
  leat_error error = {0};
  leat_status status;
  atomic_store(&calls, 0);
  atomic_store(&failing, n);
  LEAT_RECOVER(status, keep(store, path, &error));
  if (!status) status = bring_back(store, path, &error);
  if (!status) status = bring_back(other, path, &error);
  atomic_store(&failing, -1);
  atomic_store(&emptied, false);
  bool was_hit = atomic_exchange(&hit, false);
  if (status != LEAT_MISMATCH && !(was_hit && status == LEAT_MEMORY))
    CHECK_FAILED("allocation %ld: %s", n, leat_status_name(status));
  return was_hit;
}

static leat_store *store_of(const char *const *names, int count) {
  leat_error error = {0};
  leat_store *store;
  CHECK_EQ_INT(leat_store_create(&store, &error), LEAT_OK);
  for (int i = 0; i < count; i++) {
    float data[3] = {1, 2, 3};
    leat_variable *variable;
    leat_variable_info info = {names[i], "", LEAT_f32, 1, {3}, false, false};
    CHECK_EQ_INT(leat_store_variable(store, &info, &variable, &error), LEAT_OK);
    leat_tensor value = {LEAT_f32, 1, {3}, data};
    CHECK_EQ_INT(leat_store_write(store, "", names[i], &value, &error), LEAT_OK);
  }
  return store;
}

TEST(stores_survive) {
  char path[SCRATCH_PATH];
  scratch_path(path, "store.safetensors");
  static const char *const names[] = {"v", "w", "x"};
  leat_store *store = store_of(names, 2), *other = store_of(names + 1, 2);
  long n = 0;
  empties = false;
  while (keep_and_bring_back(store, other, path, n)) n++;
  empties = true;
  for (long i = 0; i < n; i++) keep_and_bring_back(store, other, path, i);
  printf("a store: %ld allocations failed, twice\n", n);
  CHECK(n > 20);
  leat_store_destroy(store);
  leat_store_destroy(other);
  unlink(path);
}

// -- Two ranks -----------------------------------------------------------------------------------

static const char shared[] = "var w: f32[3] = [1, 2, 3] on \"/job:ps\"\n"
                             "var names: str[2] = [\"a\", \"b\"] on \"/job:ps\"\n"
                             "entry train(x: f32[B, 3]) training -> (loss: f32[], n: str[2]) {\n"
                             "  loss = mean(square(x @ w - 1))\n"
                             "  n = names + \"x\"\n"
                             "  minimize(loss, momentum, lr=0.5)\n"
                             "}\n";

// A rank that ends takes the others along.
static void *serve(void *context) {
  leat_session *session = context;
  if (leat_session_serve(session)) {
    leat_transport *transport = session->cluster->transport;
    transport->backend->abort(transport, "a rank has ended");
  }
  return NULL;
}

static leat_status read_and_write(leat_session *session, const char *name) {
  leat_tensor value;
  LEAT_TRY(leat_variable_read(session, name, &value));
  leat_status status = leat_variable_write(session, name, &value);
  free(value.data);
  return status;
}

static leat_status use(leat_session *session, leat_step *step, const char *path) {
  static float data[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  leat_tensor x = {LEAT_f32, 2, {3, 3}, data}, fetches[2];
  char *traffic = NULL;
  LEAT_TRY(leat_step_run(step, &x, fetches));
  LEAT_TRY(read_and_write(session, "w"));
  LEAT_TRY(read_and_write(session, "names"));
  LEAT_TRY(leat_session_save(session, path));
  LEAT_TRY(leat_session_restore(session, path));
  LEAT_TRY(leat_session_traffic(session, &traffic));
  free(traffic);
  return LEAT_OK;
}

static leat_status prepare_and_use(leat_session *session, const char *path) {
  const char *entry = "train";
  leat_step_spec spec = {.entries = &entry, .entry_count = 1};
  leat_step *step;
  LEAT_TRY(leat_session_prepare(session, &spec, &step));
  leat_status status = use(session, step, path);
  leat_step_destroy(step);
  return status;
}

// A call that fails may have ended the other rank, and the world with it.
static bool again_or_ended(leat_status status, const leat_session *session) {
  bool was_hit = atomic_exchange(&hit, false);
  atomic_store(&emptied, false);
  if (!status) return false;
  bool ended = status == LEAT_ABORTED && (was_hit || errors);
  if (!ended && !(was_hit && status == LEAT_MEMORY))
    CHECK_FAILED("allocation %ld: %s: %s", atomic_load(&failing), leat_status_name(status),
                 leat_session_message(session));
  errors++;
  return !ended && was_hit;
}

static void live_as_two(const char *path) {
  leat_inproc_world *world;
  leat_session *sessions[2];
  leat_session_options options = {
      .cluster = "ps=1,worker=1", .target = "ref", .cache = "off", .threads = 1, .deadline = 20};
  leat_error error = {0};
  pthread_t thread;
  long chosen = atomic_exchange(&failing, -1);
  unlink(path);
  CHECK_EQ_INT(leat_inproc_world_create(2, &world, &error), LEAT_OK);
  for (int i = 0; i < 2; i++) {
    leat_transport *transport;
    CHECK_EQ_INT(leat_inproc_join(world, i, &transport, &error), LEAT_OK);
    CHECK_EQ_INT(leat_session_create_on(&options, transport, &sessions[i]), LEAT_OK);
  }
  pthread_create(&thread, NULL, serve, sessions[0]);
  atomic_store(&calls, 0);
  atomic_store(&failing, chosen);
  while (again_or_ended(leat_session_extend(sessions[1], shared, 0, "shared.leat"), sessions[1]))
    continue;
  while (again_or_ended(prepare_and_use(sessions[1], path), sessions[1])) continue;
  leat_session_destroy(sessions[1]);
  pthread_join(thread, NULL);
  leat_session_destroy(sessions[0]);
  leat_inproc_world_destroy(world);
  errors += atomic_exchange(&hit, false); // at the end: nobody is left to answer
  atomic_store(&emptied, false);
}

TEST(clusters_survive_or_end) {
  char path[SCRATCH_PATH];
  scratch_path(path, "shared.safetensors");
  atomic_store(&failing, -1);
  live_as_two(path); // what is made once in a process is made
  live_as_two(path);
  long all = atomic_load(&calls), count = sample_of(all, 60), found = 0;
  for (long i = 0; i < count && !check_failures; i++) {
    choose(i, count, all);
    live_as_two(path);
    found += errors;
  }
  atomic_store(&failing, -1);
  printf("two ranks: %ld of %ld allocations failed, %ld errors\n", count, all, found);
  CHECK(found * 2 > count);
  unlink(path);
}

CHECK_MAIN("memory")
