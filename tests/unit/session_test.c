// Sessions through the public API: shapes that change from run to run, values by name, mistakes.
#include "base/safetensors.h"
#include "leat/leat.h"
#include "session/session.h"
#include "tests/unit/opened.h"
#include "tests/unit/scratch.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static int64_t read_i64(leat_session *session, const char *name) {
  leat_tensor value;
  CHECK_EQ_INT(leat_variable_read(session, name, &value), LEAT_OK);
  int64_t number;
  memcpy(&number, value.data, sizeof number);
  free(value.data);
  return number;
}

// More sets of dims than are specialised: the later ones share the symbolic code. From run to run
// one dim changes, now this, now that: code for the others would fit.
TEST(shapes_change) {
  static const char text[] = "entry f(x: f32[B, T], k: f32[]) -> (s: f32[B], y: f32[T, B]) {\n"
                             "  s = sum(x, axis=1)\n"
                             "  y = transpose(x, perm=[1, 0]) * k\n"
                             "}\n";
  for (int t = 0; t < 2; t++) {
    leat_session *session = open_session(text, t ? "ref" : "cpu");
    leat_step *step = prepare(session, "f");
    CHECK_EQ_STR(leat_step_fetch(step, 1)->type, "f32[T, B]");
    float x[64], k = 2;
    for (int i = 0; i < 64; i++) x[i] = (float)i;
    for (int round = 0; round < 14; round++) {
      int64_t rows = 1 + (round + 1) / 2 % 7, columns = 8 - round / 2 % 7;
      leat_tensor feeds[] = {{LEAT_f32, 2, {rows, columns}, x}, {LEAT_f32, 0, {0}, &k}}, out[2];
      CHECK_EQ_INT(leat_step_run(step, feeds, out), LEAT_OK);
      CHECK_EQ_INT(out[0].shape[0], rows);
      CHECK_EQ_INT(out[1].shape[0], columns);
      CHECK_EQ_INT(out[1].shape[1], rows);
      int64_t first = (rows - 1) * columns; // of the last row, whose numbers follow each other
      int64_t sum = columns * first + columns * (columns - 1) / 2;
      CHECK(((float *)out[0].data)[rows - 1] == (float)sum);
      float last = ((float *)out[1].data)[rows * columns - 1];
      CHECK(last == 2 * x[rows * columns - 1]);
    }
    leat_tensor wrong[] = {{LEAT_f32, 1, {3}, x}, {LEAT_f32, 0, {0}, &k}}, out[2];
    CHECK_EQ_INT(leat_step_run(step, wrong, out), LEAT_INVALID);
    CHECK(strstr(leat_session_message(session), "feed `x`"));
    leat_step_destroy(step);
    leat_session_destroy(session);
  }
}

// Large files are not copied: a step that would see half of another is refused.
TEST(a_file_that_changes_between_steps) {
  char path[SCRATCH_PATH], text[SCRATCH_PATH + 100];
  int64_t rows = LEAT_FILE_MAPPED_FROM / 64;
  leat_tensor table = {LEAT_u8, 2, {rows, 64}, calloc((size_t)rows, 64)}, out;
  leat_named_tensor named = {"table", table};
  scratch_path(path, "table.safetensors");
  snprintf(text, sizeof text,
           "entry f() -> (y: u8[3]) {\n  y = load(\"%s\", \"table\")[0:3, 1]\n}\n", path);
  for (int t = 0; t < 2; t++) {
    CHECK_EQ_INT(leat_safetensors_write(path, &named, 1, NULL, 0, NULL), LEAT_OK);
    leat_session *session = open_session(text, t ? "ref" : "cpu");
    leat_step *step = prepare(session, "f");
    CHECK_EQ_INT(leat_step_run(step, NULL, &out), LEAT_OK);
    FILE *file = fopen(path, "a");
    CHECK(file && fputc(1, file) == 1 && fclose(file) == 0);
    CHECK_EQ_INT(leat_step_run(step, NULL, &out), LEAT_IO);
    CHECK(strstr(leat_session_message(session), "has changed since it was opened"));
    leat_step_destroy(step);
    leat_session_destroy(session);
  }
  free(table.data);
}

TEST(variables_by_name) {
  leat_session *session = open_session("var n: i64[] = 5\n"
                                       "var w: f32[2] = 0\n"
                                       "entry inc() -> (c: i64[]) {\n"
                                       "  n += 1\n"
                                       "  c = run_count()\n"
                                       "}\n",
                                       "cpu");
  CHECK_EQ_INT(leat_session_variable_count(session), 2);
  CHECK_EQ_INT(read_i64(session, "n"), 5); // reading initialises
  int64_t seven = 7;
  leat_tensor value = {LEAT_i64, 0, {0}, &seven};
  CHECK_EQ_INT(leat_variable_write(session, "n", &value), LEAT_OK);
  leat_step *step = prepare(session, "inc");
  leat_tensor count;
  for (int64_t i = 0; i < 3; i++) {
    CHECK_EQ_INT(leat_step_run(step, NULL, &count), LEAT_OK);
    CHECK_EQ_INT(*(int64_t *)count.data, i);
  }
  CHECK_EQ_INT(read_i64(session, "n"), 10);
  CHECK_EQ_INT(leat_variable_write(session, "w", &value), LEAT_INVALID);
  CHECK(strstr(leat_session_message(session), "variable `w` is f32[2], the value is i64[]"));
  CHECK_EQ_INT(leat_variable_write(session, "nn", &value), LEAT_NOT_FOUND);
  CHECK(strstr(leat_session_message(session), "`nn`"));
  CHECK_EQ_INT(read_i64(session, "n"), 10);
  leat_step_destroy(step);
  leat_session_destroy(session);
}

// -- Inside of branches and loops ----------------------------------------------------------------

static const char loops[] = "entry f(x: f32[N], n: i64[]) -> (h: f32[N]) {\n"
                            "  t, h = while (t: i64[] = 0, h = x) t < n {\n"
                            "    z = h * 2\n"
                            "    next t + 1, z + 1\n"
                            "  }\n"
                            "}\n";

// One prepared step gives as many rows as there are iterations; where the last is missing it fails,
// and goes on afterwards.
TEST(values_inside) {
  static const char *const last[] = {"t/z"}, *const all[] = {"f/t/z:all", "f/t/h:all"};
  for (int t = 0; t < 2; t++) {
    leat_session *session = open_session(loops, t ? "ref" : "cpu");
    leat_step_spec of_last = {.fetches = last, .fetch_count = 1};
    leat_step_spec of_all = {.fetches = all, .fetch_count = 2};
    leat_step *first = prepare(session, "f"), *one, *rows;
    of_last.entries = of_all.entries = (const char *const[]){"f"};
    of_last.entry_count = of_all.entry_count = 1;
    CHECK_EQ_INT(leat_session_prepare(session, &of_last, &one), LEAT_OK);
    CHECK_EQ_INT(leat_session_prepare(session, &of_all, &rows), LEAT_OK);
    CHECK_EQ_STR(leat_step_fetch(one, 1)->type, "f32[N]");
    CHECK_EQ_STR(leat_step_fetch(rows, 1)->name, "f/t/z:all");
    CHECK_EQ_INT(leat_step_fetch(rows, 1)->rank, 2);
    for (int64_t n = 4; n-- > 0;) {
      float x[] = {1, 2};
      leat_tensor feeds[] = {{LEAT_f32, 1, {2}, x}, {LEAT_i64, 0, {0}, &n}}, out[3];
      CHECK_EQ_INT(leat_step_run(first, feeds, out), LEAT_OK);
      CHECK_EQ_INT(leat_step_run(rows, feeds, out), LEAT_OK);
      CHECK_EQ_INT(out[2].shape[0], n);
      CHECK_EQ_INT(out[2].shape[1], 2);
      const float *z = out[1].data, *h = out[2].data;
      for (int64_t i = 0; i < 2 * n; i++) CHECK(z[i] == 2 * h[i]);
      for (int64_t i = 2; i < 2 * n; i++) CHECK(h[i] == z[i - 2] + 1);
      float end = n ? z[2 * n - 1] : 0;
      CHECK_EQ_INT(leat_step_run(one, feeds, out), n ? LEAT_OK : LEAT_INVALID);
      if (n) CHECK(((float *)out[1].data)[1] == end);
    }
    CHECK(strstr(leat_session_message(session), "`t/z` is in a loop that had no iteration"));
    leat_step_destroy(first), leat_step_destroy(one), leat_step_destroy(rows);
    leat_session_destroy(session);
  }
}

// Without a run of the entry, but by its short names: what does not lead there does not happen.
TEST(values_within_an_entry) {
  static const char text[] = "var runs: i64[] = 0\n"
                             "entry g(x: f32[]) -> (y: f32[]) {\n  y = x\n}\n"
                             "entry f(x: f32[], n: i64[] = 2) -> (h: f32[]) {\n"
                             "  t, h = while (t: i64[] = 0, h = x) t < n {\n"
                             "    z = h * 2\n"
                             "    next t + 1, z + 1\n"
                             "  }\n"
                             "  runs += 1\n"
                             "}\n";
  leat_session *session = open_session(text, "cpu");
  leat_step_spec spec = {.feeds = (const char *[]){"x"},
                         .feed_count = 1,
                         .fetches = (const char *[]){"t/z"},
                         .fetch_count = 1};
  leat_step *step;
  float x = 1;
  leat_tensor feed = {LEAT_f32, 0, {0}, &x}, out;
  CHECK_EQ_INT(leat_session_prepare(session, &spec, &step), LEAT_NOT_FOUND);
  spec.within = "ff";
  CHECK_EQ_INT(leat_session_prepare(session, &spec, &step), LEAT_NOT_FOUND);
  CHECK(strstr(leat_session_message(session), "there is no entry `ff`; did you mean `f`?"));
  spec.within = "f";
  CHECK_EQ_INT(leat_session_prepare(session, &spec, &step), LEAT_OK);
  CHECK_EQ_INT(leat_step_run(step, &feed, &out), LEAT_OK);
  CHECK(*(float *)out.data == 6);
  CHECK_EQ_INT(read_i64(session, "runs"), 0);
  leat_step_destroy(step);
  leat_session_destroy(session);
}

TEST(nothing_inside_is_fed_or_run) {
  static const char *const f[] = {"f"}, *const z[] = {"f/t/z"}, *const h[] = {"h:all"};
  const leat_step_spec wrong[] = {
      {.entries = f, .entry_count = 1, .feeds = z, .feed_count = 1},
      {.entries = f, .entry_count = 1, .runs = z, .run_count = 1},
      {.entries = f, .entry_count = 1, .fetches = h, .fetch_count = 1},
  };
  static const char *const words[] = {"`f/t/z` cannot be fed: it is inside of `f/t`",
                                      "`f/t/z` cannot be run: it is inside of `f/t`",
                                      "`h:all` cannot be fetched: it is in no loop"};
  leat_session *session = open_session(loops, "cpu");
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    leat_step *step;
    CHECK_EQ_INT(leat_session_prepare(session, &wrong[i], &step), LEAT_INVALID);
    CHECK(!step);
    CHECK(strstr(leat_session_message(session), words[i]));
  }
  leat_step_destroy(prepare(session, "f"));
  leat_session_destroy(session);
}

// -- Interrupts --------------------------------------------------------------------------------

// What a step prints interrupts it.
static void interrupt_session(void *session, const char *text) {
  (void)text;
  leat_session_interrupt(*(leat_session **)session, true);
}

static leat_session *open_interrupted(const char *text, const char *target,
                                      void (*print)(void *context, const char *text)) {
  static leat_session *session;
  leat_session_options options = {
      .target = target, .cache = "off", .print = print, .print_context = &session};
  CHECK_EQ_INT(leat_session_create(&options, &session), LEAT_OK);
  CHECK_EQ_INT(leat_session_extend(session, text, 0, "test.leat"), LEAT_OK);
  return session;
}

// What comes later does not happen, nothing compiles either, and then the session goes on.
TEST(interrupted_between_tasks) {
  for (int t = 0; t < 2; t++) {
    leat_session *session = open_interrupted("var n: i64[] = 1\n"
                                             "entry f() {\n"
                                             "  print(\"before\", n)\n"
                                             "  n += 1\n"
                                             "}\n",
                                             t ? "ref" : "cpu", interrupt_session);
    leat_step *step = prepare(session, "f"), *other;
    for (int i = 0; i < 2; i++) {
      CHECK_EQ_INT(leat_step_run(step, NULL, NULL), LEAT_ABORTED);
      CHECK_EQ_STR(leat_session_message(session), "error: interrupted\n");
    }
    const char *entry = "f";
    leat_step_spec spec = {.entries = &entry, .entry_count = 1};
    CHECK_EQ_INT(leat_session_prepare(session, &spec, &other), LEAT_ABORTED);
    CHECK_EQ_STR(leat_session_message(session), "error: interrupted\n");
    leat_session_interrupt(session, false);
    CHECK_EQ_INT(read_i64(session, "n"), 1);
    CHECK_EQ_INT(leat_session_prepare(session, &spec, &other), LEAT_OK);
    leat_step_destroy(other);
    leat_step_destroy(step);
    leat_session_destroy(session);
  }
}

static void *interrupt_soon(void *session) {
  nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
  leat_session_interrupt(session, true);
  return NULL;
}

static pthread_t interrupter;

static void start_interrupter(void *session, const char *text) {
  (void)text;
  pthread_create(&interrupter, NULL, interrupt_soon, *(leat_session **)session);
}

// One kernel that takes tens of seconds ends in its middle.
TEST(interrupted_kernel) {
  leat_session *session = open_interrupted(
      "entry f(start: i64[]) -> (y: f32[4096]) {\n"
      "  print(\"go\", start)\n"
      "  y = sum(sin(cast(iota([4096, 4194304]), f32)), axis=1) + cast(start, f32)\n"
      "}\n",
      "cpu", start_interrupter);
  leat_step *step = prepare(session, "f");
  int64_t start = 1;
  leat_tensor feed = {LEAT_i64, 0, {0}, &start}, y;
  CHECK_EQ_INT(leat_step_run(step, &feed, &y), LEAT_ABORTED);
  CHECK_EQ_STR(leat_session_message(session), "error: interrupted\n");
  pthread_join(interrupter, NULL);
  leat_step_destroy(step);
  leat_session_destroy(session);
}

// -- Values under names --------------------------------------------------------------------------

// What is held is fed to whatever needs it; a name that is held again leaves what was made of the
// first alone. A line runs an entry, with feeds and names for its results.
TEST(held_values) {
  leat_session *session;
  leat_session_options options = {.cache = "off", .interactive = true};
  CHECK_EQ_INT(leat_session_create(&options, &session), LEAT_OK);
  static const char text[] = "entry f(x: f32[N], k: f32[] = 2) -> (y: f32[N]) {\n  y = x * k\n}\n";
  CHECK_EQ_INT(leat_session_extend(session, text, 0, "test.leat"), LEAT_OK);
  CHECK(leat_session_entry_run(session)->entry == NULL);
  float first[] = {1, 2}, second[] = {5, 6, 7};
  leat_tensor a = {LEAT_f32, 1, {2}, first}, b = {LEAT_f32, 1, {3}, second}, out;
  CHECK_EQ_INT(leat_session_hold(session, "a", &a), LEAT_OK);
  CHECK_EQ_INT(leat_session_extend(session, "c = a + 1\n", 0, "test.leat"), LEAT_OK);
  first[0] = 100; // it was copied
  CHECK_EQ_INT(leat_session_hold(session, "a", &b), LEAT_OK);
  CHECK_EQ_INT(leat_session_extend(session, "a\nc\n", 0, "test.leat"), LEAT_OK);
  for (int i = 0; i < 2; i++) {
    const char *shown = leat_session_shown(session, i);
    leat_step *step;
    leat_step_spec spec = {.fetches = &shown, .fetch_count = 1};
    CHECK_EQ_INT(leat_session_prepare(session, &spec, &step), LEAT_OK);
    CHECK_EQ_INT(leat_step_feed_count(step), 0);
    CHECK_EQ_INT(leat_step_run(step, NULL, &out), LEAT_OK);
    CHECK_EQ_INT(out.shape[0], i ? 2 : 3);
    CHECK(*(float *)out.data == (i ? 2.0f : 5.0f));
    leat_step_destroy(step);
  }
  CHECK_EQ_INT(leat_session_extend(session, "z = f(a)\n", 0, "test.leat"), LEAT_OK);
  const leat_entry_run *run = leat_session_entry_run(session);
  CHECK_EQ_STR(run->entry, "f");
  CHECK_EQ_INT(run->feed_count, 2);
  CHECK(run->feeds[0] && !run->feeds[1]);
  CHECK_EQ_INT(run->target_count, 1);
  CHECK_EQ_STR(run->targets[0], "z");
  CHECK_EQ_INT(leat_session_hold(session, "f", &b), LEAT_INVALID);
  CHECK(strstr(leat_session_message(session), "`f` is an entry already"));
  leat_session_destroy(session);
}

// What a file lacks keeps its value, if that is asked for; else nothing changes.
TEST(partial_checkpoints) {
  char path[SCRATCH_PATH];
  scratch_path(path, "partial.safetensors");
  int64_t seven = 7;
  leat_session *session = open_session("var n: i64[] = 5\n", "ref");
  CHECK_EQ_INT(leat_variable_write(session, "n", &(leat_tensor){LEAT_i64, 0, {0}, &seven}),
               LEAT_OK);
  CHECK_EQ_INT(leat_session_save(session, path), LEAT_OK);
  leat_session_destroy(session);
  session = open_session("var n: i64[] = 1\nvar m: i64[] = 2\n", "ref");
  CHECK_EQ_INT(leat_session_restore(session, path), LEAT_MISMATCH);
  CHECK(strstr(leat_session_message(session), "has no `m`; --partial restores what it has"));
  CHECK_EQ_INT(read_i64(session, "n"), 1);
  CHECK_EQ_INT(leat_session_restore_partial(session, path), LEAT_OK);
  CHECK(strstr(leat_session_message(session), "has no `m`: it keeps its value"));
  CHECK_EQ_INT(read_i64(session, "n"), 7);
  CHECK_EQ_INT(read_i64(session, "m"), 2);
  leat_session_destroy(session);
}

// A value written before any step has declared its variable, and the counts of a checkpoint.
TEST(checkpoints) {
  static const char text[] = "var n: i64[] = 5\n"
                             "entry inc() -> (m: i64[], c: i64[]) {\n"
                             "  n += 1\n"
                             "  m = n\n"
                             "  c = run_count()\n"
                             "}\n";
  char path[SCRATCH_PATH];
  scratch_path(path, "session.safetensors");
  leat_tensor out[2];
  leat_session *session = open_session(text, "cpu");
  leat_step *step = prepare(session, "inc");
  for (int i = 0; i < 2; i++) CHECK_EQ_INT(leat_step_run(step, NULL, out), LEAT_OK);
  CHECK_EQ_INT(leat_session_save(session, path), LEAT_OK);
  leat_step_destroy(step);
  leat_session_destroy(session);

  session = open_session(text, "ref");
  CHECK_EQ_INT(leat_session_restore(session, path), LEAT_OK);
  CHECK_EQ_INT(read_i64(session, "n"), 7);
  step = prepare(session, "inc");
  CHECK_EQ_INT(leat_step_run(step, NULL, out), LEAT_OK);
  CHECK_EQ_INT(*(int64_t *)out[0].data, 8);
  CHECK_EQ_INT(*(int64_t *)out[1].data, 2);
  CHECK_EQ_INT(leat_session_restore(session, "no such file"), LEAT_NOT_FOUND);
  CHECK_EQ_INT(read_i64(session, "n"), 8);
  leat_step_destroy(step);
  leat_session_destroy(session);
}

// A run that fails draws no numbers of its own: the next one has its count, and a checkpoint too.
TEST(failed_runs_do_not_count) {
  static const char text[] = "var n: i64[] = 0\n"
                             "entry inc(fine: bool[]) -> (c: i64[]) {\n"
                             "  n += 1\n"
                             "  assert(fine, \"not fine\")\n"
                             "  c = run_count()\n"
                             "}\n";
  static const char *const targets[] = {"cpu", "ref"};
  static const bool fine[] = {true, false, true, false, false, true};
  char path[SCRATCH_PATH];
  scratch_path(path, "counts.safetensors");
  for (int t = 0; t < 2; t++) {
    leat_session *session = open_session(text, targets[t]);
    leat_step *step = prepare(session, "inc");
    int64_t counted = 0;
    for (size_t i = 0; step && i < sizeof fine; i++) {
      leat_tensor feed = {LEAT_bool, 0, {0}, (void *)&fine[i]}, count;
      if (!fine[i]) CHECK_EQ_INT(leat_step_run(step, &feed, &count), LEAT_INVALID);
      if (!fine[i]) continue;
      CHECK_EQ_INT(leat_step_run(step, &feed, &count), LEAT_OK);
      CHECK_EQ_INT(*(int64_t *)count.data, counted++);
    }
    CHECK_EQ_INT(leat_session_save(session, path), LEAT_OK);
    leat_step_destroy(step);
    leat_session_destroy(session);
    leat_safetensors file;
    CHECK_EQ_INT(leat_safetensors_open(&file, path, NULL), LEAT_OK);
    for (size_t i = 0; i < file.metadata_count; i++)
      if (!strcmp(file.metadata[i].key, "run_count/inc")) CHECK_EQ_STR(file.metadata[i].value, "3");
    leat_safetensors_close(&file);
    remove(path);
  }
}

// What a checkpoint may replace (runtime/replace.h).
TEST(saves_replace_no_more_than_they_hold) {
  static const char text[] = "var w: f32[2] = 0\n"
                             "entry train() training -> (s: i64[]) {\n"
                             "  w += 1\n"
                             "  s = global_step\n"
                             "}\n"
                             "entry other() training -> (s: i64[]) { s = global_step }\n";
  char path[SCRATCH_PATH];
  scratch_path(path, "replaced.safetensors");
  leat_session *first = open_session(text, "ref"), *second = open_session(text, "ref");
  leat_step *step = prepare(first, "train"), *same = prepare(second, "train"),
            *fewer = prepare(second, "other");
  leat_tensor out;
  for (int i = 0; i < 3; i++) CHECK_EQ_INT(leat_step_run(step, NULL, &out), LEAT_OK);
  CHECK_EQ_INT(leat_session_check_save(first, path), LEAT_OK);
  CHECK_EQ_INT(leat_session_save(first, path), LEAT_OK);
  for (int i = 0; i < 4; i++) CHECK_EQ_INT(leat_step_run(fewer, NULL, &out), LEAT_OK);
  CHECK_EQ_INT(leat_session_save(second, path), LEAT_INVALID); // without `w`
  CHECK(strstr(leat_session_message(second), "has `w`, which would be lost"));
  CHECK_EQ_INT(leat_step_run(step, NULL, &out), LEAT_OK);
  CHECK_EQ_INT(leat_session_save(first, path), LEAT_OK);
  CHECK_EQ_INT(leat_session_restore(second, path), LEAT_OK);
  CHECK_EQ_INT(leat_session_save(second, path), LEAT_OK); // of the same step
  CHECK_EQ_INT(leat_step_run(same, NULL, &out), LEAT_OK);
  CHECK_EQ_INT(leat_session_save(second, path), LEAT_OK);
  CHECK_EQ_INT(leat_session_check_save(first, path), LEAT_OK); // who knows how far it will get
  CHECK_EQ_INT(leat_session_save(first, path), LEAT_INVALID);
  CHECK(strstr(leat_session_message(first), "global_step = 5, than what is to be saved, 4"));
  CHECK_EQ_INT(leat_session_check_save(first, "/no/such/folder/file"), LEAT_NOT_FOUND);
  leat_step_destroy(step), leat_step_destroy(same), leat_step_destroy(fewer);
  leat_session_destroy(first), leat_session_destroy(second);
}

// The parts of two numbers.
static bool holds(const leat_tensor *tensor, double a, double b, double c, double d) {
  const double expected[] = {a, b, c, d}, *parts = tensor->data;
  bool same = tensor->dtype == LEAT_c128 && tensor->rank == 1 && tensor->shape[0] == 2;
  for (int i = 0; same && i < 4; i++) same = parts[i] == expected[i];
  return same;
}

// Complex numbers are pairs of floats for a client: fed, fetched, as variables and in checkpoints.
TEST(complex_numbers) {
  static const char text[] = "var v: c128[2] = [1j, 2]\n"
                             "entry f(z: c64[N], a: c128[] = 3 - 1j) -> (y: c64[N], s: c128[2]) {\n"
                             "  y = conj(z)\n"
                             "  v := v * a\n"
                             "  s = v\n"
                             "}\n";
  static const char *const targets[] = {"cpu", "c", "ref"};
  char path[SCRATCH_PATH];
  scratch_path(path, "complex.safetensors");
  for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
    leat_session *session = open_session(text, targets[t]);
    leat_step *step = prepare(session, "f");
    if (!step) continue;
    CHECK_EQ_INT(leat_step_feed(step, 0)->dtype, LEAT_c64);
    CHECK(leat_step_feed(step, 1)->has_fallback);
    CHECK_EQ_STR(leat_step_fetch(step, 1)->type, "c128[2]");
    float z[3][2] = {{1, 2}, {-0.5F, 0}, {0, -4}};
    double wide[2][2] = {{1, 2}, {3, 4}}, a[2] = {0, 2};
    leat_tensor feeds[] = {{LEAT_c64, 1, {3}, z}, {.data = NULL}}, out[2], v;
    leat_tensor value = {LEAT_c128, 1, {2}, wide};
    CHECK_EQ_INT(leat_step_run(step, feeds, out), LEAT_OK);
    CHECK(out[0].dtype == LEAT_c64 && out[0].shape[0] == 3);
    for (int i = 0; i < 3; i++) {
      const float *y = (float *)out[0].data + 2 * i;
      CHECK(y[0] == z[i][0] && y[1] == -z[i][1]);
    }
    CHECK(holds(&out[1], 1, 3, 6, -2));
    CHECK_EQ_INT(leat_variable_write(session, "v", &value), LEAT_OK);
    feeds[1] = (leat_tensor){LEAT_c128, 0, {0}, a};
    CHECK_EQ_INT(leat_step_run(step, feeds, out), LEAT_OK);
    CHECK(holds(&out[1], -4, 2, -8, 6));
    CHECK_EQ_INT(leat_session_save(session, path), LEAT_OK);
    CHECK_EQ_INT(leat_variable_write(session, "v", &value), LEAT_OK);
    CHECK_EQ_INT(leat_session_restore(session, path), LEAT_OK);
    CHECK_EQ_INT(leat_variable_read(session, "v", &v), LEAT_OK);
    CHECK(holds(&v, -4, 2, -8, 6));
    free(v.data);
    feeds[0] = (leat_tensor){LEAT_c128, 1, {2}, wide};
    CHECK_EQ_INT(leat_step_run(step, feeds, out), LEAT_INVALID);
    CHECK(strstr(leat_session_message(session), "found c128 of rank 1"));
    leat_step_destroy(step);
    leat_session_destroy(session);
  }
}

TEST(mistakes_change_nothing) {
  leat_session *session =
      open_session("entry f(x: f32[2] = [1, 2]) -> (y: f32[2]) { y = x + 1 }\n", "cpu");
  CHECK_EQ_INT(leat_session_extend(session, "entry g() -> (y: f32[2]) { y = f + h }", 0, "g.leat"),
               LEAT_INVALID);
  CHECK(strstr(leat_session_message(session), "g.leat:1:"));
  CHECK_EQ_INT(leat_session_entry_count(session), 1);
  leat_step *step = NULL;
  leat_step_spec spec = {.entries = (const char *[]){"g"}, .entry_count = 1};
  CHECK_EQ_INT(leat_session_prepare(session, &spec, &step), LEAT_NOT_FOUND);
  CHECK(step == NULL);
  step = prepare(session, "f");
  leat_tensor x = {.data = NULL}, y;
  CHECK_EQ_INT(leat_step_run(step, &x, &y), LEAT_OK);
  CHECK(((float *)y.data)[1] == 3);
  float three[3] = {0};
  leat_tensor wrong = {LEAT_f32, 1, {3}, three};
  CHECK(leat_step_run(step, &wrong, &y) != LEAT_OK);
  CHECK(strstr(leat_session_message(session), "feed `x`"));
  CHECK_EQ_INT(leat_step_run(step, &x, &y), LEAT_OK);
  CHECK_EQ_STR(leat_session_message(session), "");
  leat_step_destroy(step);
  leat_session_destroy(session);
}

// What was prepared keeps its code while the graph grows.
TEST(sessions_grow) {
  leat_session *session = open_session("var n: i64[] = 1\n"
                                       "entry f() -> (y: i64[]) { y = n * 2 }\n",
                                       "cpu");
  leat_step *f = prepare(session, "f");
  CHECK_EQ_INT(leat_session_extend(session, "entry g() -> (y: i64[]) { n += 1\n y = n }\n", 0, "g"),
               LEAT_OK);
  leat_step *g = prepare(session, "g");
  leat_tensor y;
  CHECK_EQ_INT(leat_step_run(g, NULL, &y), LEAT_OK);
  CHECK_EQ_INT(*(int64_t *)y.data, 2);
  CHECK_EQ_INT(leat_step_run(f, NULL, &y), LEAT_OK);
  CHECK_EQ_INT(*(int64_t *)y.data, 4);
  leat_step_destroy(f);
  leat_step_destroy(g);
  leat_session_destroy(session);
}

// Whatever its compiler makes of a step's dims goes with it.
TEST(steps_keep_nothing) {
  leat_session *session =
      open_session("entry f(x: f32[B], y: f32[N]) -> (s: f32[2 * B + N], t: f32[]) {\n"
                   "  s = concat(x, x, y)\n  t = sum(s[:shape(x)[0] - 1])\n}\n",
                   "cpu");
  const leat_dims *dims = leat_frontend_graph(session->frontend)->dims;
  size_t used = 0;
  uint32_t count = leat_dims_atom_count(dims);
  for (int round = 0; round < 20; round++) {
    leat_step *step = prepare(session, "f");
    float x[20] = {1};
    leat_tensor feeds[] = {{LEAT_f32, 1, {1 + round}, x}, {LEAT_f32, 1, {20 - round}, x}}, out[2];
    CHECK_EQ_INT(leat_step_run(step, feeds, out), LEAT_OK);
    leat_step_destroy(step);
    if (round == 0) used = leat_arena_used(session->arena);
    CHECK_EQ_INT(leat_dims_atom_count(dims), count);
    CHECK_EQ_INT(leat_arena_used(session->arena), used);
  }
  leat_session_destroy(session);
}

// Whatever stage refuses it.
static const char *const refused[] = {
    "entry g( {",
    "entry g(x: f32[2]) -> (y: f32[2]) { y = unknown(x) }",
    "entry g(x: f32[2]) -> (y: f32[3]) { y = x + 1 }",
    ("fn twice(x: f32[2]) { return x + x }\nvar v: f32[2] = 0\n"
     "entry g(x: f32[2]) -> (y: f32[2]) { y = twice(twice(x)) * v\n static_assert(false, \"no\") "
     "}"),
    "entry f(x: f32[2]) -> (y: f32[2]) { y = x }",
    "use \"there/is/none.leat\"",
    "a = 1\nb = [a, a, \"{a}\"]\nstatic_assert(a == 2, \"two\")",
};

// A text that is refused leaves nothing: not in the graph, not in memory, nor in what later texts
// become.
TEST(refused_texts_leave_nothing) {
  static const char good[] = "var w: f32[2] = [1, 2]\n"
                             "entry f(x: f32[2]) -> (y: f32[2]) { y = x * w }\n";
  static const char later[] = "entry h(x: f32[2]) -> (y: f32[2]) { y = tanh(x - w) }\n";
  leat_session *session = open_session(good, "ref"), *other = open_session(good, "ref");
  leat_step *step = prepare(session, "f");
  size_t used = leat_arena_used(session->arena);
  char *before, *after, *expected;
  CHECK_EQ_INT(leat_session_print(session, &before), LEAT_OK);
  for (size_t i = 0; i < 50 * sizeof refused / sizeof *refused; i++) {
    const char *text = refused[i % (sizeof refused / sizeof *refused)];
    CHECK_EQ_INT(leat_session_extend(session, text, 0, "refused.leat"), LEAT_INVALID);
    CHECK(strstr(leat_session_message(session), "error: "));
    CHECK_EQ_INT(leat_arena_used(session->arena), used);
  }
  CHECK_EQ_INT(leat_session_print(session, &after), LEAT_OK);
  CHECK_EQ_STR(after, before);
  free(before), free(after);
  CHECK_EQ_INT(leat_session_extend(session, later, 0, "later.leat"), LEAT_OK);
  CHECK_EQ_INT(leat_session_extend(other, later, 0, "later.leat"), LEAT_OK);
  CHECK_EQ_INT(leat_session_print(session, &after), LEAT_OK);
  CHECK_EQ_INT(leat_session_print(other, &expected), LEAT_OK);
  CHECK_EQ_STR(after, expected);
  free(after), free(expected);
  float x[2] = {3, 4};
  leat_tensor feed = {LEAT_f32, 1, {2}, x}, y;
  CHECK_EQ_INT(leat_step_run(step, &feed, &y), LEAT_OK);
  CHECK(((float *)y.data)[1] == 8);
  leat_session_destroy(session);
  leat_session_destroy(other);
}

TEST(options_are_checked) {
  static const leat_session_options wrong[] = {
      {.target = "gpu"}, {.cpu = "z80"}, {.devices = -1}, {.cluster = "ps"}, {.dump_after = "x"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    leat_session *session;
    CHECK_EQ_INT(leat_session_create(&wrong[i], &session), LEAT_INVALID);
    CHECK(strlen(leat_session_message(session)) > 0);
    leat_session_destroy(session);
  }
  leat_session_destroy(NULL);
  leat_step_destroy(NULL);
}

CHECK_MAIN("session")
