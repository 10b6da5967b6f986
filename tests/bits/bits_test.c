// Same bits, however a program is run: with 1, 2 and 3 threads, over one device and two,
// specialised and symbolic, in the least memory, in the memory of its feeds, in process and as a
// built executable. (At equal --cpu: other levels may differ.)
//
// The programs are random ones of tests/sweep/, training steps of small networks with random sizes,
// and the example digits for 50 steps.
#include "tests/sweep/random_program.h"

#include "base/npy.h"
#include "tests/unit/check.h"
#include "tests/unit/kernel_cache.h"
#include "tests/unit/scratch.h"

enum { STEPS = 50, MOST_RUNS = 200, MOST_TEXT_SHOWN = 6000 };

static const test_way ways[] = {
    {.name = "one thread", .options = {.threads = 1, .symbolic = true, .devices = 2}},
    {.name = "two threads", .options = {.threads = 2, .symbolic = true, .devices = 2}},
    {.name = "three threads", .options = {.threads = 3, .symbolic = true, .devices = 2}},
    {.name = "specialised", .options = {.threads = 1, .devices = 2}},
    {.name = "two devices", .options = {.threads = 1, .devices = 2}, .spread = true},
    {.name = "two devices, three threads",
     .options = {.threads = 3, .symbolic = true, .devices = 2},
     .spread = true},
    {.name = "least memory", .options = {.threads = 2, .devices = 2}, .least = true},
    {.name = "least memory, two devices",
     .options = {.threads = 1, .devices = 2},
     .spread = true,
     .least = true},
    {.name = "donated feeds, three threads",
     .options = {.threads = 3, .symbolic = true, .devices = 2},
     .donates = true},
    {.name = "donated feeds, two devices",
     .options = {.threads = 2, .devices = 2},
     .spread = true,
     .donates = true},
    {.name = "donated feeds, least memory",
     .options = {.threads = 1, .devices = 2},
     .least = true,
     .donates = true},
};
enum { WAYS = sizeof ways / sizeof *ways };

static bool is_sanitized(void) {
  return getenv("LEAT_SANITIZED") != NULL;
}

// All results, exactly. Of a NaN only that it is one: whose payload an instruction hands on depends
// on the order of its operands, which no compiler promises.
static void check_bits(program *p, int rounds) {
  leat_text why = {0};
  for (uint32_t i = 0; i < p->results.count; i++) p->results.items[i].value.match = MATCH_VALUES;
  if (program_agrees(p, ways, WAYS, rounds, &why, NULL))
    CHECK_FAILED("%s\n%.*s", why.data, MOST_TEXT_SHOWN, program_text(p, true));
  leat_text_finish(&why);
  program_finish(p);
}

TEST(random_programs) {
  rng seeds = {test_seed()};
  printf("bits: LEAT_TEST_SEED=%llu\n", (unsigned long long)test_seed());
  for (int i = 0; i < (is_sanitized() ? 2 : 8); i++) {
    program p;
    program_random(&p, rng_next(&seeds), true);
    check_bits(&p, p.symbolic ? 2 : 1);
  }
  printf("bits: %d results were made in a feed\n", prepared_donated);
}

// -- Training steps of random networks ---------------------------------------------------------

static void fetch(program *p, const char *name) {
  test_value value = {.label = name};
  snprintf(value.name, sizeof value.name, "%s", name);
  program_fetch(p, &value);
}

// A classifier with a normalised hidden layer, trained by the given rows of a table: matmul, its
// gradients, reductions along both axes, gather and scatter_add, exp, log, sqrt.
static void add_network(program *p, uint64_t seed) {
  program_init(p, seed);
  int64_t in = 5 + rng_below(&p->random, 90), hidden = 17 + rng_below(&p->random, 200);
  int64_t classes = 2 + rng_below(&p->random, 30);
  test_dim table[] = {dim_const(1500), dim_const(in)}, batch[] = {{DIM_B, 1, 0}};
  p->dims[DIM_B] = 400 + rng_below(&p->random, 300);
  test_value rows = program_input(p, LEAT_f32, 2, table, FILL_UNIT, dim_const(0));
  test_value chosen = program_input(p, LEAT_i32, 1, batch, FILL_INDEX, dim_const(1500));
  test_value labels = program_input(p, LEAT_i32, 1, batch, FILL_INDEX, dim_const(classes));
  leat_text_add(&p->declarations,
                "var w: f32[%d, %d] = uniform(-0.3, 0.3, seed=3)\n"
                "var b: f32[%d] = zeros()\n"
                "var v: f32[%d, %d] = uniform(-0.3, 0.3, seed=4)\n"
                "fn net(x: f32[N, I]) -> f32[N, %d] {\n"
                "  h = tanh(x @ w + b)\n"
                "  d = h - sum(h, axis=1, keepdims=true) / %d.0\n"
                "  return (d / sqrt(sum(d * d, axis=1, keepdims=true) + 1.0)) @ v\n"
                "}\n",
                (int)in, (int)hidden, (int)hidden, (int)hidden, (int)classes, (int)classes,
                (int)hidden);
  leat_text_add(&p->body,
                "  x = gather(%s, %s, axis=0)\n"
                "  y = net(x)\n"
                "  loss = mean(softmax_cross_entropy(y, %s))\n"
                "  g = grad(loss, [w, b, v, %s])\n"
                "  dx = g[3]\n"
                "  w += -0.1 * g[0]\n"
                "  b += -0.1 * g[1]\n"
                "  v += -0.1 * g[2]\n",
                rows.name, chosen.name, labels.name, rows.name);
  static const char *const fetched[] = {"loss", "y", "dx", "w", "b", "v"};
  for (int i = 0; i < 6; i++) fetch(p, fetched[i]);
}

TEST(training_steps) {
  rng seeds = {test_seed() + 1};
  for (int i = 0; i < (is_sanitized() ? 1 : 3); i++) {
    program p;
    add_network(&p, rng_next(&seeds));
    check_bits(&p, 3);
  }
}

// -- Deep networks: what is kept for gradients -------------------------------------------------

enum { MOST_LAYERS = 9 };

// What a layer makes of h and its weights: of each kind that is kept, or made again, in another
// way.
static const char *const layers[] = {
    "tanh(h @ w + b)",
    "h + maximum(h @ w, 0.0)",
    "concat([h @ w[:, :8], tanh(h) @ w[:, 8:]], axis=1)",
    "where(uniform(0, 1, out=f32[N, H]) < 0.8, h / 0.8, 0.0) * sigmoid(h @ w)",
    "softmax(h @ w) * h + exp(-(h * h))",
    "sort(h, axis=1) @ w",
    "cumsum(h, axis=1) / 100.0 + sin(h @ w)",
    "repeated(h) @ w",
};

static void add_deep(program *p, uint64_t seed) {
  program_init(p, seed);
  int64_t units = 9 + rng_below(&p->random, 60), depth = 5 + rng_below(&p->random, MOST_LAYERS - 4);
  test_dim shape[] = {{DIM_B, 1, 0}, dim_const(units)};
  p->dims[DIM_B] = 100 + rng_below(&p->random, 300);
  test_value x = program_input(p, LEAT_f32, 2, shape, FILL_UNIT, dim_const(0));
  leat_text parameters = {0};
  leat_text_add(&p->declarations,
                "var b: f32[%d] = uniform(-0.3, 0.3, seed=3)\n"
                "fn repeated(h: f32[N, H]) {\n"
                "  _, y = while (t = 0, y = h) t < 3 { next t + 1, tanh(y) + 0.5 * h }\n"
                "  return y\n"
                "}\n",
                (int)units);
  leat_text_add(&p->body, "  h0 = %s\n", x.name);
  for (int i = 0; i < depth; i++) {
    leat_text_add(&p->declarations,
                  "var w%d: f32[%d, %d] = uniform(-0.3, 0.3, seed=%d)\n"
                  "fn layer%d(h: f32[N, H], w: f32[H, H]) { return %s }\n",
                  i, (int)units, (int)units, 10 + i, i, RNG_PICK(&p->random, layers));
    leat_text_add(&p->body, "  h%d = layer%d(h%d, w%d)\n", i + 1, i, i, i);
    leat_text_add(&parameters, ", w%d", i);
  }
  leat_text_add(&p->body, "  loss = mean(h%d ** 2)\n  g = grad(loss, [b%s])\n  b += -0.1 * g[0]\n",
                (int)depth, parameters.data);
  leat_text_finish(&parameters);
  for (int i = 0; i < depth; i++) leat_text_add(&p->body, "  w%d += -0.1 * g[%d]\n", i, i + 1);
  static const char *const fetched[] = {"loss", "b", "w0", "w1"};
  for (int i = 0; i < 4; i++) fetch(p, fetched[i]);
}

static int count(const char *text, const char *part) {
  int found = 0;
  for (; text && (text = strstr(text, part)); text++) found++;
  return found;
}

// The units that run again in the way with the least memory.
static int count_repetitions(program *p) {
  prepared run;
  test_way way = {.options = {.threads = 1, .devices = 2, .dump_after = "plan"}, .least = true};
  const leat_tensor *feeds = program_feeds(p);
  leat_tensor *out = tensors_create(p->results.count);
  leat_status status = prepared_open(&run, p, &way);
  if (!status) status = prepared_run(&run, feeds, out);
  if (status) CHECK_FAILED("%s", prepared_message(&run));
  int again = count(run.log.data, ", again\n");
  tensors_destroy(out, p->results.count);
  prepared_close(&run);
  return again;
}

TEST(deep_networks) {
  rng seeds = {test_seed() + 4};
  int again = 0;
  for (int i = 0; i < (is_sanitized() ? 1 : 3) || (!again && i < 12); i++) { // some have too little
    program p;
    add_deep(&p, rng_next(&seeds));
    again += count_repetitions(&p);
    check_bits(&p, 3);
  }
  printf("bits: %d units run again\n", again);
  CHECK(again > 0);
}

// The second time, a value of several that a kernel makes lies in the memory of a feed, while
// others of it are to be made a third time.
TEST(made_again_in_a_feed) {
  program p;
  program_init(&p, 1);
  test_dim seven = dim_const(7), none[] = {dim_const(3), dim_const(0), seven};
  test_dim square[] = {seven, seven};
  program_input(&p, LEAT_c64, 3, none, FILL_UNIT, seven);
  program_input(&p, LEAT_c64, 2, square, FILL_UNIT, seven);
  program_input(&p, LEAT_c64, 2, &none[1], FILL_UNIT, seven);
  program_input(&p, LEAT_c64, 2, square, FILL_UNIT, seven);
  program_input(&p, LEAT_c64, 2, square, FILL_UNIT, seven);
  leat_text_add(&p.body, "  a = matmul(x0 * x0, x1, transpose_b=true)\n"
                         "  b = tanh(reshape(reshape(x1, [7, 1, 7]), [7, 1, 7, 1]))\n"
                         "  c = (sum(a, axis=2) + sum(x1, keepdims=true)) @ x2\n"
                         "  d = asin(sum(reshape(x3 * x4, [7, 7, 1])))\n");
  static const char *const fetched[] = {"b", "c", "d"};
  for (int i = 0; i < 3; i++) fetch(&p, fetched[i]);
  check_bits(&p, 1);
}

// -- Threads -----------------------------------------------------------------------------------

// Threads that ran tiles of kernels, from the trace.
static int threads_of(const char *trace) {
  bool seen[64] = {false};
  int count = 0;
  while ((trace = strstr(trace, "\"cat\":\"kernel\""))) {
    const char *tid = strstr(trace, "\"tid\":");
    int thread = tid ? atoi(tid + 6) : 0;
    if (thread >= 0 && thread < 64 && !seen[thread]) seen[thread] = true, count++;
    trace++;
  }
  return count;
}

static int threads_so_far(const prepared *run) {
  char *trace = NULL;
  leat_status status = leat_session_trace(run->session, &trace);
  int count = status ? -1 : threads_of(trace);
  free(trace);
  return count;
}

// A gang takes the threads that are free: on a busy machine that may be fewer, once or twice.
TEST(three_threads_run_tiles) {
  program p;
  prepared run;
  int count = 0;
  add_network(&p, 1);
  p.dims[DIM_B] = 1400;
  const leat_tensor *feeds = program_feeds(&p);
  test_way way = {.options = {.threads = 3, .trace = true, .devices = 2}};
  leat_status status = prepared_open(&run, &p, &way);
  for (int i = 0; i < MOST_RUNS && !status && count != 3; i++) {
    leat_tensor *out = tensors_create(p.results.count);
    status = prepared_run(&run, feeds, out);
    tensors_destroy(out, p.results.count);
    count = threads_so_far(&run);
  }
  if (status) CHECK_FAILED("%s", prepared_message(&run));
  CHECK_EQ_INT(count, 3);
  prepared_close(&run);
  program_finish(&p);
}

// -- The example digits ------------------------------------------------------------------------

typedef struct training {
  uint32_t losses[STEPS]; // bits of f32
  leat_tensor weights;
} training;

static bool train_digits(const leat_session_options *options, training *out) {
  leat_session *session;
  leat_step *step = NULL;
  leat_step_spec spec = {.entries = (const char *const[]){"train"}, .entry_count = 1};
  leat_status status = create_session(options, &session);
  if (!status) status = leat_session_extend_file(session, "examples/digits/digits.leat");
  if (!status) status = leat_session_prepare(session, &spec, &step);
  for (int i = 0; i < STEPS && !status; i++) {
    leat_tensor loss, no_feed = {0};
    status = leat_step_run(step, &no_feed, &loss);
    if (!status) memcpy(&out->losses[i], loss.data, sizeof(float));
  }
  if (!status) status = leat_variable_read(session, "net/hidden/w", &out->weights);
  if (status) CHECK_FAILED("digits: %s", session ? leat_session_message(session) : "no session");
  leat_step_destroy(step);
  leat_session_destroy(session);
  return !status;
}

TEST(digits) {
  training first = {0};
  if (!train_digits(&ways[0].options, &first)) return;
  CHECK(first.losses[STEPS - 1] < first.losses[0]); // as positive floats are ordered
  for (int i = 1; i < WAYS; i++) {
    training other = {0};
    leat_text why = {0};
    if (ways[i].spread || ways[i].donates || !train_digits(&ways[i].options, &other)) continue;
    for (int k = 0; k < STEPS; k++)
      if (first.losses[k] != other.losses[k])
        CHECK_FAILED("%s: the loss of step %d has bits 0x%08x, not 0x%08x", ways[i].name, k,
                     other.losses[k], first.losses[k]);
    if (!tensor_matches(&first.weights, &other.weights, MATCH_BITS, 0, &why))
      CHECK_FAILED("%s: net/hidden/w: %s", ways[i].name, why.data);
    leat_text_finish(&why);
    free(other.weights.data);
  }
  free(first.weights.data);
}

// -- Built executables -------------------------------------------------------------------------

// Builds the program and runs the executable once on the feeds; out: what it wrote. False where it
// fails, which it must where the step does.
static bool run_built(const program *p, const leat_tensor *feeds, leat_npy *out) {
  char source[SCRATCH_PATH], path[SCRATCH_PATH];
  leat_error error = {0};
  leat_text build = {0}, run = {0};
  scratch_path(source, "built.leat");
  FILE *file = fopen(source, "w");
  bool fine = file && fputs(program_text(p, false), file) >= 0 && fclose(file) == 0;
  scratch_path(path, "built");
  leat_text_add(&build, "leat build '%s' --entry f --denormals %s -o '%s'", source,
                program_denormals(p), path);
  leat_text_add(&run, "'%s'", path);
  for (uint32_t i = 0; i < p->inputs.count && fine; i++) {
    scratch_path(path, p->inputs.items[i].value.name);
    fine = leat_npy_write(path, &feeds[i], &error) == LEAT_OK;
    leat_text_add(&run, " --feed '%s=@%s'", p->inputs.items[i].value.name, path);
  }
  for (uint32_t i = 0; i < p->results.count; i++) {
    scratch_path(path, p->results.items[i].value.name);
    leat_text_add(&build, " --fetch %s", p->results.items[i].value.name);
    leat_text_add(&run, " -o '%s=@%s'", p->results.items[i].value.name, path);
  }
  bool ends = program_expected(p) != LEAT_OK;
  fine = fine && system(build.data) == 0 && (system(run.data) != 0) == ends;
  if (!fine) CHECK_FAILED("%s\n%s\n%s", error.message, build.data, run.data);
  fine = fine && !ends;
  for (uint32_t i = 0; i < p->results.count && fine; i++) {
    scratch_path(path, p->results.items[i].value.name);
    fine = leat_npy_open(&out[i], path, &error) == LEAT_OK;
    if (!fine) CHECK_FAILED("%s", error.message);
  }
  leat_text_finish(&build);
  leat_text_finish(&run);
  return fine;
}

static void check_built(program *p) {
  prepared run;
  const leat_tensor *feeds = program_feeds(p);
  leat_tensor *want = tensors_create(p->results.count);
  leat_npy *got = leat_new_array(p->arena, leat_npy, p->results.count);
  leat_status status = prepared_open(&run, p, &ways[0]);
  if (!status) status = prepared_run(&run, feeds, want);
  if (status != program_expected(p)) CHECK_FAILED("%s", prepared_message(&run));
  bool fine = run_built(p, feeds, got);
  for (uint32_t i = 0; i < p->results.count && fine; i++) {
    leat_text why = {0};
    if (!tensor_matches(&want[i], &got[i].tensor, MATCH_VALUES, 0, &why))
      CHECK_FAILED("built: %s: %s", p->results.items[i].value.label, why.data);
    leat_text_finish(&why);
    leat_npy_close(&got[i]);
  }
  prepared_close(&run);
  tensors_destroy(want, p->results.count);
  program_finish(p);
}

TEST(built_executables) {
  rng seeds = {test_seed() + 2};
  for (int i = 0; i < (is_sanitized() ? 1 : 4); i++) {
    program p;
    program_random(&p, rng_next(&seeds), true);
    check_built(&p);
  }
}

CHECK_MAIN("bits")
