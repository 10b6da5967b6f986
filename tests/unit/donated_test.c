// Donated feeds: results are made where they lie, and nothing that is read later is overwritten.
#include "leat/leat.h"
#include "tests/unit/opened.h"

#include <stdlib.h>

enum { SIZE = 4096 };

// A step of `f` in text that may write to `donated`; the others it may not.
static leat_step *prepare_donated(leat_session *session, const char *donated) {
  leat_step *step = NULL;
  const char *entry = "f";
  leat_step_spec spec = {
      .entries = &entry, .entry_count = 1, .donated = &donated, .donated_count = 1};
  CHECK_EQ_INT(leat_session_prepare(session, &spec, &step), LEAT_OK);
  return step;
}

// As NumPy's large arrays lie, 16 bytes behind a line of the cache.
typedef struct numbers {
  _Alignas(64) float unaligned[4];
  float at[SIZE];
} numbers;

static leat_tensor fill(numbers *n) {
  for (int i = 0; i < SIZE; i++) n->at[i] = (float)(i % 97) - 40;
  return (leat_tensor){LEAT_f32, 1, {SIZE}, n->at};
}

static void shape_as_matrix(leat_tensor *tensor) {
  tensor->rank = 2;
  tensor->shape[0] = tensor->shape[1] = 64;
}

// Runs f(x, k) -> (y, …), x donated, and without; whether y lay in x.
static bool run_both(const char *text, const leat_session_options *options) {
  static numbers x, other;
  float k = 3;
  leat_session *session = open_session_with(text, options);
  leat_step *plain = prepare(session, "f"), *given = prepare_donated(session, "x");
  bool in_place = true;
  for (int round = 0; round < 3; round++) {
    leat_tensor scalar = {LEAT_f32, 0, {0}, &k}, want[4], got[4];
    leat_tensor feeds[] = {fill(&x), scalar}, own[] = {fill(&other), scalar};
    if (leat_step_feed(plain, 0)->rank == 2) shape_as_matrix(&feeds[0]), shape_as_matrix(&own[0]);
    CHECK_EQ_INT(leat_step_run(plain, feeds, want), LEAT_OK);
    CHECK_EQ_INT(leat_step_run(given, own, got), LEAT_OK);
    CHECK_EQ_STR(leat_session_message(session), "");
    for (int i = 0; i < leat_step_fetch_count(plain); i++) {
      CHECK(want[i].data != x.at);
      CHECK(memcmp(want[i].data, got[i].data, (size_t)leat_tensor_bytes(&want[i])) == 0);
    }
    in_place &= got[0].data == other.at;
    for (int i = 0; i < SIZE; i++) CHECK(x.at[i] == (float)(i % 97) - 40);
  }
  leat_session_destroy(session);
  return in_place;
}

static bool run_as(const char *text, const char *target, int threads, int devices) {
  leat_session_options options = {
      .target = target, .threads = threads, .devices = devices, .cache = "off"};
  return run_both(text, &options);
}

// Results where the feed lies, on every compiled target, whatever the threads.
TEST(results_lie_in_the_feed) {
  static const char *const texts[] = {
      "entry f(x: f32[4096], k: f32[]) -> (y: f32[4096]) { y = x * k + 1.0 }\n",
      "entry f(x: f32[N], k: f32[]) -> (y: f32[N]) { y = x * k }\n",
      // Itself, and in another shape.
      "entry f(x: f32[4096], k: f32[]) -> (y: f32[4096]) { y = identity(x)\n print(k) }\n",
      "entry f(x: f32[4096], k: f32[]) -> (y: f32[64, 64]) { y = reshape(x, [64, 64])\n"
      "  print(k) }\n",
      // By way of a value in between, and in a shape of its own.
      "entry f(x: f32[4096], k: f32[]) -> (y: f32[4096]) { h = cumsum(x, axis=0)\n"
      "  y = sort(h * k + x)\n}\n",
      "entry f(x: f32[4096], k: f32[]) -> (y: f32[4096]) { s = softmax(x * k)\n y = s + x\n}\n",
      "entry f(x: f32[4096], k: f32[]) -> (y: f32[4096]) {\n"
      "  y = scatter_add(x, [7, 9, 7], stack([k, k, k]))\n}\n",
      "entry f(x: f32[64, 64], k: f32[]) -> (y: f32[64, 64]) {\n"
      "  y = (ones(f32[64, 64]) * k) @ ones(f32[64, 64]) + x\n}\n",
      // What is made when the feed is over, in another shape too.
      "entry f(x: f32[64, 64], k: f32[]) -> (y: f32[64, 64]) { y = x @ x @ (ones(f32[64, 64]) * k) "
      "}\n",
      "entry f(x: f32[64, 64], k: f32[]) -> (y: f32[4096]) {\n"
      "  y = sort(reshape(x @ x, [4096])) * k\n}\n",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    CHECK(run_as(texts[i], "cpu", 1, 1));
    CHECK(run_as(texts[i], "cpu", 3, 1));
    CHECK(run_as(texts[i], "c", 1, 1));
    run_as(texts[i], "ref", 1, 1); // computes elsewhere
  }
}

// What is read once more must be there: by another launch, a task, a loop, a branch, at another
// element, on another device, as a result.
TEST(what_is_read_later_stays) {
  static const char *const texts[] = {
      "entry f(x: f32[4096], k: f32[]) -> (y: f32[4096], z: f32[4096]) {\n"
      "  y = x * k\n  z = sort(x) + cumsum(y, axis=0)\n}\n",
      "entry f(x: f32[4096], k: f32[]) -> (y: f32[4096], z: f32[4096]) { y = x * k\n z = x }\n",
      "entry f(x: f32[4096], k: f32[]) -> (y: f32[4096]) { y = x[::-1] * k }\n",
      "entry f(x: f32[4096], k: f32[]) -> (y: f32[4096]) { y = x - mean(x[:5]) * k }\n",
      "entry f(x: f32[4096], k: f32[]) -> (y: f32[4096]) { y = x * x[77] + k }\n",
      "entry f(x: f32[4096], k: f32[]) -> (y: f32[64, 64]) {\n"
      "  m = reshape(x, [64, 64])\n  y = m @ m + m * k\n}\n",
      "entry f(x: f32[4096], k: f32[]) -> (y: f32[4096], n: i32[]) {\n"
      "  y = x * k\n"
      "  _, n = while (v = x[0], i = 0) i < 20 and v < 1.0e9 {\n"
      "    next v + sum(sort(x) * y), i + 1\n"
      "  }\n"
      "}\n",
      "entry f(x: f32[4096], k: f32[]) -> (y: f32[4096]) {\n"
      "  h = x * k\n"
      "  y = if sum(h) > 1.0e9 { yield h + sort(x) } else { yield h - cumsum(x, axis=0) }\n"
      "}\n",
      "entry f(x: f32[4096], k: f32[]) -> (y: f32[4096], s: f32[]) {\n"
      "  y = x * k\n"
      "  on \"/device:cpu:1\" { t = sort(x) }\n"
      "  s = sum(t * y)\n"
      "}\n",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    run_as(texts[i], "cpu", 1, 2);
    run_as(texts[i], "cpu", 3, 2);
    run_as(texts[i], "ref", 1, 2);
  }
}

// What the caches have no room for is stored past them, in whole lines: not where none begins.
TEST(a_large_feed) {
  int64_t count = 24 << 20;
  char *bytes = aligned_alloc(64, (size_t)count * sizeof(float) + 64);
  leat_session *session =
      open_session("entry f(x: f32[25165824]) -> (y: f32[25165824]) { y = x * 2.0 }\n", "cpu");
  leat_step *step = prepare_donated(session, "x");
  float *x = (float *)(void *)(bytes + 16);
  for (int64_t i = 0; i < count; i++) x[i] = (float)i;
  leat_tensor in = {LEAT_f32, 1, {count}, x}, out;
  CHECK_EQ_INT(leat_step_run(step, &in, &out), LEAT_OK);
  CHECK(out.data == x);
  int64_t wrong = 0;
  for (int64_t i = 0; i < count; i++) wrong += x[i] != 2 * (float)i;
  CHECK_EQ_INT(wrong, 0);
  leat_session_destroy(session);
  free(bytes);
}

// The memory goes from run to run, and nothing is copied.
TEST(a_run_takes_what_the_last_one_gave) {
  static numbers x;
  leat_session *session =
      open_session("entry f(x: f32[4096]) -> (y: f32[4096]) { y = x * 0.5 + 1.0 }\n", "cpu");
  leat_step *step = prepare_donated(session, "x");
  CHECK(leat_step_feed(step, 0)->donated);
  CHECK(!leat_step_fetch(step, 0)->donated);
  leat_tensor state = fill(&x);
  for (int i = 0; i < 10; i++) CHECK_EQ_INT(leat_step_run(step, &state, &state), LEAT_OK);
  CHECK(state.data == x.at);
  for (int i = 0; i < SIZE; i++) {
    float expected = (float)(i % 97) - 40;
    for (int k = 0; k < 10; k++) expected = expected * 0.5F + 1.0F;
    CHECK(x.at[i] == expected);
  }
  CHECK_EQ_INT(leat_step_memory(step), 0);
  leat_session_destroy(session);
}

// What is left out, or lies where no float may, is copied and stays.
TEST(defaults_and_what_is_unaligned_are_copied) {
  static const char text[] =
      "entry f(x: f32[4], k: f32[4] = [1.0, 2.0, 3.0, 4.0]) -> (y: f32[4], z: f32[4]) {\n"
      "  y = x + 1.0\n  z = k * 2.0\n}\n";
  char bytes[4 * sizeof(float) + 1], before[sizeof bytes];
  float x[4] = {5, 6, 7, 8};
  memcpy(bytes + 1, x, sizeof x);
  bytes[0] = 0;
  memcpy(before, bytes, sizeof before);
  leat_session *session = open_session(text, "cpu");
  const char *entry = "f", *donated[] = {"x", "k", "x"};
  leat_step_spec spec = {
      .entries = &entry, .entry_count = 1, .donated = donated, .donated_count = 3};
  leat_step *step;
  CHECK_EQ_INT(leat_session_prepare(session, &spec, &step), LEAT_OK);
  for (int round = 0; round < 3; round++) {
    leat_tensor feeds[] = {{LEAT_f32, 1, {4}, bytes + 1}, {.data = NULL}}, out[2];
    CHECK_EQ_INT(leat_step_run(step, feeds, out), LEAT_OK);
    for (int i = 0; i < 4; i++) CHECK(((float *)out[0].data)[i] == x[i] + 1);
    for (int i = 0; i < 4; i++) CHECK(((float *)out[1].data)[i] == (float)(2 * i + 2));
    CHECK(memcmp(bytes, before, sizeof bytes) == 0);
    leat_results *kept = NULL;
    CHECK_EQ_INT(leat_step_take(step, &kept), LEAT_OK);
    float last = ((float *)out[1].data)[3];
    CHECK(last == 8);
    leat_results_release(kept);
  }
  leat_session_destroy(session);
}

static void check_refused(leat_step *step, leat_session *session, const leat_tensor *feeds,
                          const char *why) {
  leat_tensor out[4];
  CHECK_EQ_INT(leat_step_run(step, feeds, out), LEAT_INVALID);
  if (!strstr(leat_session_message(session), why))
    CHECK_FAILED("%s", leat_session_message(session));
}

TEST(what_is_fed_twice) {
  static const char text[] = "entry f(a: f32[N], x: f32[M], b: f32[K]) -> (y: f32[M], s: f32[]) {\n"
                             "  y = x * 2.0\n  s = sum(a) + sum(b)\n}\n";
  static numbers n;
  fill(&n);
  leat_session *session = open_session(text, "cpu");
  leat_step *step = prepare_donated(session, "x"), *plain = prepare(session, "f");
  static const char why[] = "feed `x` (test.leat:1:20): it is donated, and `%s` lies in the same "
                            "memory: feed a copy";
  for (int order = 0; order < 2; order++) {
    int64_t begins[] = {order ? 50 : 0, order ? 0 : 50}; // of the other feed, and of x
    char expected[200];
    for (int other = 0; other < 2; other++) {
      leat_tensor feeds[3], out[2];
      feeds[other ? 2 : 0] = (leat_tensor){LEAT_f32, 1, {51}, n.at + begins[0]};
      feeds[other ? 0 : 2] = (leat_tensor){LEAT_f32, 1, {500}, n.at + 1000};
      feeds[1] = (leat_tensor){LEAT_f32, 1, {51}, n.at + begins[1]};
      snprintf(expected, sizeof expected, why, other ? "b" : "a");
      check_refused(step, session, feeds, expected);
      CHECK_EQ_INT(leat_step_run(plain, feeds, out), LEAT_OK);
      feeds[1] = (leat_tensor){LEAT_f32, 1, {50}, n.at + (order ? 0 : 51)};
      feeds[other ? 2 : 0].shape[0] = 50 + 1 - order;
      CHECK_EQ_INT(leat_step_run(step, feeds, out), LEAT_OK); // beside each other
      CHECK(out[0].data == feeds[1].data);
    }
  }
  // Two that nobody writes to may overlap, also around what is empty, and x within both.
  leat_tensor both[] = {{LEAT_f32, 1, {100}, n.at},
                        {LEAT_f32, 1, {0}, n.at + 3},
                        {LEAT_f32, 1, {90}, n.at}},
              out[2];
  CHECK_EQ_INT(leat_step_run(step, both, out), LEAT_OK);
  both[1].shape[0] = 2;
  check_refused(step, session, both, "is donated");
  both[1].data = n.at + 95;
  check_refused(step, session, both, "`a` lies in the same memory");
  both[1].data = n.at + 100;
  CHECK_EQ_INT(leat_step_run(step, both, out), LEAT_OK);
  leat_session_destroy(session);
}

static void check_unprepared(leat_session *session, const char *donated, leat_status status,
                             const char *why) {
  const char *entry = "f";
  leat_step *step;
  leat_step_spec spec = {
      .entries = &entry, .entry_count = 1, .donated = &donated, .donated_count = 1};
  CHECK_EQ_INT(leat_session_prepare(session, &spec, &step), status);
  CHECK(!step);
  CHECK_EQ_STR(leat_session_message(session), why);
}

TEST(what_cannot_be_donated) {
  leat_session *session =
      open_session("entry f(x: f32[4], s: str[4]) -> (y: f32[4]) { y = x\n print(s) }\n", "cpu");
  check_unprepared(session, "z", LEAT_NOT_FOUND,
                   "error: there is no feed `z` to be donated; there are x, s\n");
  check_unprepared(session, "s", LEAT_INVALID,
                   "error: `s` is str[4]: strings cannot be donated, only numbers\n");
  check_unprepared(session, NULL, LEAT_INVALID, "error: `donated` are not `donated_count` names\n");
  leat_session_destroy(session);
}

// A value that is fed by its name, and a dump that says that it was donated, which is no donation.
TEST(by_name_and_in_a_dump) {
  static numbers x;
  leat_session *session = open_session(
      "entry f(x: f32[4096]) -> (y: f32[4096]) {\n  h = x * 2.0\n  y = h + 1.0\n}\n", "cpu");
  const char *feed = "f/h", *fetch = "f/y";
  leat_step *step;
  leat_step_spec spec = {.feeds = &feed,
                         .feed_count = 1,
                         .fetches = &fetch,
                         .fetch_count = 1,
                         .donated = &feed,
                         .donated_count = 1};
  CHECK_EQ_INT(leat_session_prepare(session, &spec, &step), LEAT_OK);
  leat_tensor in = fill(&x), out;
  CHECK_EQ_INT(leat_step_run(step, &in, &out), LEAT_OK);
  CHECK(out.data == x.at);
  CHECK(x.at[0] == -39);
  leat_session_destroy(session);
  session =
      open_session("graph g\nentry f() -> (y: f32[4096] = $f/y) {\n"
                   "  $f/x: f32[4096] = feed(name=\"x\", index=0, type=f32[4096], donated=true)\n"
                   "  $f/y: f32[4096] = add($f/x, $f/x)\n}\n",
                   "cpu");
  spec = (leat_step_spec){
      .feeds = (const char *const[]){"f/x"}, .feed_count = 1, .fetches = &fetch, .fetch_count = 1};
  CHECK_EQ_INT(leat_session_prepare(session, &spec, &step), LEAT_OK);
  in = fill(&x);
  CHECK_EQ_INT(leat_step_run(step, &in, &out), LEAT_OK);
  CHECK(out.data != x.at);
  CHECK(x.at[0] == -40);
  leat_session_destroy(session);
}

CHECK_MAIN("donated")
