// What codegen decides: which nodes share a kernel, what is written in place, how memory is shared,
// where a step is cut into tasks; and that the compiled step gives the bits that ref:0 gives.
#include "leat/leat.h"
#include "tests/unit/check.h"

#include <stdlib.h>

enum { MOST_BYTES = 1 << 20, MOST_PORTS = 8, ELEMENTS = 1 << 16 };

typedef struct dump {
  char *text; // all stages that were asked for
  size_t size;
} dump;

static void keep(void *context, const char *text) {
  dump *d = context;
  size_t size = strlen(text);
  d->text = realloc(d->text, d->size + size + 1);
  memcpy(d->text + d->size, text, size + 1);
  d->size += size;
}

// The text of one stage's dump of the step itself.
static dump dump_of(const char *text, const char *stage, bool symbolic) {
  dump d = {0};
  leat_session *session;
  leat_step *step = NULL;
  leat_session_options options = {.target = "cpu",
                                  .cache = "off",
                                  .dump_after = stage,
                                  .stop_after = stage,
                                  .symbolic = symbolic,
                                  .log = keep,
                                  .log_context = &d};
  keep(&d, "");
  leat_step_spec spec = {.entries = (const char *[]){"f"}, .entry_count = 1};
  CHECK_EQ_INT(leat_session_create(&options, &session), LEAT_OK);
  if (leat_session_extend(session, text, 0, "test.leat") ||
      leat_session_prepare(session, &spec, &step))
    CHECK_FAILED("%s", leat_session_message(session));
  leat_step_destroy(step);
  leat_session_destroy(session);
  return d;
}

static int count(const char *text, const char *what) {
  int n = 0;
  for (const char *at = text; (at = strstr(at, what)); at += strlen(what)) n++;
  return n;
}

static int units_of(const char *text) {
  dump d = dump_of(text, "schedule", true);
  char *end = strstr(d.text + 1, "table step");
  end = end ? strstr(end, "\ntable ") : NULL; // tables of initial values follow
  if (end) *end = '\0';
  int n = count(d.text, "\nunit ");
  free(d.text);
  return n;
}

// -- Same bits as ref:0 ---------------------------------------------------------------------------

static void fill(leat_tensor *tensor, int64_t elements, unsigned seed) {
  static float room[MOST_PORTS][ELEMENTS];
  float *x = room[seed];
  for (int64_t i = 0; i < elements; i++) {
    uint32_t bits = ((uint32_t)i * 2654435761u + seed * 40503u) >> 8;
    x[i] = (float)(int32_t)(bits % 4001) / 1000 - 2;
  }
  tensor->data = x;
}

// Runs `f` on feeds of the given extents `steps` times; the last run's results are copied out.
static bool run(const char *text, const leat_session_options *options, leat_tensor *feeds,
                int steps, leat_tensor *out) {
  leat_session *session;
  leat_step *step = NULL;
  leat_step_spec spec = {.entries = (const char *[]){"f"}, .entry_count = 1};
  bool ok = !leat_session_create(options, &session) &&
            !leat_session_extend(session, text, 0, "test.leat") &&
            !leat_session_prepare(session, &spec, &step);
  for (int i = 0; ok && i < steps; i++) ok = !leat_step_run(step, feeds, out);
  if (!ok) CHECK_FAILED("%s: %s", options->target, leat_session_message(session));
  for (int i = 0; ok && i < leat_step_fetch_count(step); i++) {
    size_t bytes = (size_t)leat_tensor_bytes(&out[i]);
    out[i].data = memcpy(malloc(bytes + 1), out[i].data, bytes);
  }
  leat_step_destroy(step);
  leat_session_destroy(session);
  return ok;
}

static void compare(const char *text, int results, leat_tensor *feeds, int steps) {
  static const leat_session_options ways[] = {
      {.target = "cpu", .cache = "off", .threads = 1},
      {.target = "cpu", .cache = "off", .threads = 3, .symbolic = true},
  };
  leat_tensor expected[MOST_PORTS] = {0}, found[MOST_PORTS] = {0};
  if (!run(text, &(leat_session_options){.target = "ref"}, feeds, steps, expected)) return;
  for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
    if (!run(text, &ways[way], feeds, steps, found)) continue;
    for (int i = 0; i < results; i++) {
      size_t bytes = (size_t)leat_tensor_bytes(&expected[i]);
      if (leat_tensor_bytes(&found[i]) != (int64_t)bytes ||
          memcmp(found[i].data, expected[i].data, bytes) != 0)
        CHECK_FAILED("result %d differs (way %zu) of\n%s", i, way, text);
      free(found[i].data);
    }
  }
  for (int i = 0; i < results; i++) free(expected[i].data);
}

// FEED2(number, extents)
#define FEED2(seed, a, b)                                                                          \
  (leat_tensor) {                                                                                  \
    LEAT_f32, 2, {a, b}, NULL                                                                      \
  }
#define FEED1(seed, a)                                                                             \
  (leat_tensor) {                                                                                  \
    LEAT_f32, 1, {a}, NULL                                                                         \
  }

static void check(const char *text, int units, int results, int feeds_count, leat_tensor *feeds,
                  int steps) {
  CHECK_EQ_INT(units_of(text), units);
  for (int i = 0; i < feeds_count; i++)
    fill(&feeds[i], leat_shape_elements(feeds[i].rank, feeds[i].shape), (unsigned)i);
  compare(text, results, feeds, steps);
}

#define CHECK_PROGRAM(text, units, results, steps, ...)                                            \
  do {                                                                                             \
    leat_tensor feeds_[] = {__VA_ARGS__};                                                          \
    check(text, units, results, (int)(sizeof feeds_ / sizeof *feeds_), feeds_, steps);             \
  } while (0)

// -- Fusion ---------------------------------------------------------------------------------------

TEST(element_wise_is_one_kernel) {
  CHECK_PROGRAM("entry f(a: f32[N, 70], b: f32[70]) -> (c: f32[N, 70], d: f32[N, 70]) {\n"
                "  c = a * b + 1\n  d = maximum(c, 0) / (b + 9)\n}\n",
                1, 2, 1, FEED2(0, 33, 70), FEED1(1, 70));
}

TEST(normalising_rows_is_one_kernel) {
  CHECK_PROGRAM(
      "entry f(x: f32[N, 200], g: f32[200]) -> (y: f32[N, 200]) {\n"
      "  m = sum(x, axis=1, keepdims=true) / 200.0\n  d = x - m\n"
      "  v = sum(d * d, axis=1, keepdims=true) / 200.0\n  y = d / sqrt(v + 0.01) * g\n}\n",
      1, 1, 1, FEED2(0, 21, 200), FEED1(1, 200));
}

TEST(softmax_is_one_kernel) {
  CHECK_EQ_INT(units_of("entry f(x: f32[N, 200]) -> (y: f32[N, 200]) { y = softmax(x) }\n"), 1);
  CHECK_EQ_INT(units_of("entry f(x: f32[N, 10]) -> (y: f32[N, 10]) { y = softmax(x) }\n"), 1);
}

TEST(statistics_of_rows_are_one_kernel) {
  CHECK_PROGRAM("entry f(x: f32[N, 200]) -> (m: f32[N], v: f32[N], l: f32[N], b: i32[N]) {\n"
                "  m = mean(x, axis=1)\n  v = variance(x, axis=1)\n  l = max(x * 2, axis=1)\n"
                "  b = argmin(x, axis=1)\n}\n",
                1, 4, 1, FEED2(0, 21, 200));
  CHECK_EQ_INT(
      units_of("entry f(x: f32[N, 200]) -> (l: f32[N], s: f32[N, 200], a: bool[N]) {\n"
               "  l = logsumexp(x, axis=1)\n  s = softmax(x)\n  a = any(x > 1, axis=1)\n}\n"),
      1);
}

TEST(normalising_columns_is_one_kernel) {
  CHECK_PROGRAM("entry f(x: f32[N, 100]) -> (y: f32[N, 100], m: f32[100]) {\n"
                "  m = sum(x, axis=0) / 50.0\n  y = (x - m) * (x - m)\n}\n",
                1, 2, 1, FEED2(0, 50, 100));
}

TEST(a_layer_is_one_kernel) {
  CHECK_PROGRAM("entry f(x: f32[N, 64], w: f32[64, 128], b: f32[128], v: f32[128, 10]) "
                "-> (y: f32[N, 10], m: bool[N, 128]) {\n"
                "  h = maximum(x @ w + b, 0)\n  m = h > 0\n  y = h @ v * 2\n}\n",
                2, 2, 1, FEED2(0, 37, 64), FEED2(1, 64, 128), FEED1(2, 128), FEED2(3, 128, 10));
}

TEST(what_a_third_kernel_needs_is_not_merged) {
  // d needs both c and the reduction of c's consumer: the graph of kernels must stay acyclic.
  CHECK_PROGRAM("entry f(a: f32[40, 40]) -> (d: f32[40, 40]) {\n"
                "  c = a * 3\n  e = c @ c\n  d = transpose(c + e, perm=[1, 0]) + c\n}\n",
                3, 1, 1, FEED2(0, 40, 40));
}

TEST(a_thousand_additions_are_one_kernel) {
  const char *text = "entry f(x: f32[], b: f32[]) -> (y: f32[]) {\n  h[0] = x\n"
                     "  for i in 0..1000 {\n    h[i+1] = h[i] + b\n  }\n  y = h[1000]\n}\n";
  dump d = dump_of(text, "image", false);
  CHECK_EQ_INT(count(d.text, " tiles 1 "), 1);
  CHECK_EQ_INT(count(d.text, "    kernel "), 1);
  free(d.text);
}

TEST(a_slice_of_a_permutation_computes_no_more) {
  dump d = dump_of("entry f() -> (y: i32[128]) { y = permutation(5000, seed=1, count=0)[0:128] }\n",
                   "schedule", false);
  CHECK_EQ_INT(count(d.text, "[5000] ="), 0);
  CHECK_EQ_INT(count(d.text, "\nunit "), 1);
  free(d.text);
}

// -- Reductions: the order of ops/reduce.c --------------------------------------------------------

TEST(long_reductions_keep_their_order) {
  CHECK_PROGRAM("entry f(a: f32[N, M]) -> (b: f32[N], c: f32[M], d: f32[]) {\n"
                "  b = sum(a, axis=1)\n  c = sum(a, axis=0)\n  d = sum(a)\n}\n",
                3, 3, 1, FEED2(0, 2, 20011));
  CHECK_PROGRAM("entry f(a: f32[N, M]) -> (c: f32[M], d: f32[]) {\n"
                "  c = sum(a, axis=0)\n  d = sum(a * 2)\n}\n",
                2, 2, 1, FEED2(0, 3001, 19));
}

// -- State ----------------------------------------------------------------------------------------

TEST(an_update_is_written_in_place) {
  dump d = dump_of("var w: f32[64, 64] = 1\nentry f(g: f32[64, 64]) { w += -0.1 * g }\n", "image",
                   false);
  CHECK_EQ_INT(count(d.text, "    copy("), 0);
  free(d.text);
}

TEST(a_scatter_is_written_in_place) {
  static const char *const texts[] = {
      "var w: f32[64, 8] = 1\n"
      "entry f(i: i32[9], g: f32[9, 8]) { w := scatter_add(w, i, g, axis=0) }\n",
      "entry f(i: i32[9], g: f32[9, 8]) -> (y: f32[64, 8]) {\n"
      "  y = scatter_max(zeros(f32[64, 8]), i, g, axis=0)\n}\n",
      "entry f(i: i32[9], x: f32[64, 8]) -> (y: f32[512]) {\n"
      "  y = scatter_set(reshape(exp(x), [512]), i, ones(f32[9]), axis=0)\n}\n",
  };
  for (int i = 0; i < 3; i++) {
    dump d = dump_of(texts[i], "image", false);
    CHECK_EQ_INT(count(d.text, "    copy("), 0);
    free(d.text);
  }
}

// What else reads the old value, or the new one, has it.
TEST(a_scatter_overwrites_nothing_that_is_read) {
  CHECK_PROGRAM(
      "var v: f32[50] = 3\n"
      "entry f(x: f32[50]) -> (a: f32[50], b: f32[50], c: f32[50], d: f32[50]) {\n"
      "  i = cast(abs(x) * 24, i32)\n  a = abs(x) * 0.5\n  b = scatter_set(a, i, v, axis=0)\n"
      "  c = scatter_add(v, i, v, axis=0)\n  v := c\n  d = v + a\n}\n",
      5, 4, 2, FEED1(0, 50));
}

TEST(an_old_value_outlives_its_variable) {
  CHECK_PROGRAM("var v: f32[70] = 1\nvar w: f32[70] = 2\n"
                "entry f(x: f32[70]) -> (a: f32[70], b: f32[70], c: f32[70]) {\n"
                "  a = v\n  b = w\n  v := b + x\n  w := a\n  v += a\n  c = v - w\n}\n",
                6, 3, 3, FEED1(0, 70));
}

TEST(a_variable_read_elsewhere_is_not_overwritten_too_early) {
  CHECK_PROGRAM("var v: f32[30, 30] = 0.5\nentry f(x: f32[30, 30]) -> (a: f32[30, 30]) {\n"
                "  v := transpose(v, perm=[1, 0]) + v @ x * 0.01\n  a = v\n}\n",
                3, 1, 3, FEED2(0, 30, 30));
}

// Whoever asks for a dump has it compared with what it was.
TEST(code_generation_changes_nothing_that_it_reads) {
  dump d =
      dump_of("var w: f32[8] = sum(normal(out=f32[8, 8]), axis=1)\n"
              "entry f(x: f32[4200], m: f32[8, 8], n: i64[]) -> (y: f32[4200], z: f32[8, 8]) {\n"
              "  _, y, b = while (t: i64[] = 0, a = x, b = x * 2) t < n {\n"
              "    _, c = while (u: i64[] = 0, c = a) u < t { next u + 1, scatter_set(c, u, 1) }\n"
              "    d = if t > 2 { yield scatter_set(c, t, 3) } else { yield c }\n"
              "    next t + 1, b, d\n"
              "  }\n"
              "  z = m @ transpose(m + w)\n"
              "  w := w + 1\n"
              "}\n",
              "plan", true);
  CHECK(count(d.text, "\ntable ") > 4);
  free(d.text);
}

// -- Memory ---------------------------------------------------------------------------------------

TEST(a_chain_of_layers_needs_the_memory_of_two) {
  const char *text = "entry f(x: f32[256, 256], w: f32[256, 256]) -> (y: f32[256, 256]) {\n"
                     "  h[0] = x\n  for i in 0..20 {\n    h[i+1] = h[i] @ w\n  }\n  y = h[20]\n}\n";
  dump d = dump_of(text, "image", false);
  const char *arena = strstr(d.text, "arena 0: ");
  CHECK(arena && strtol(arena + strlen("arena 0: "), NULL, 10) <= 2 * 256 * 256 * 4);
  free(d.text);
}

CHECK_MAIN("codegen")
