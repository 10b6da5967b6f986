// What the headers say may be done from which thread, for ThreadSanitizer; `run` builds and starts
// it. With the argument `race` it does what they say may not be done.
#include "leat/leat.h"
#include "leat/runtime.h"
#include "tests/unit/check.h"
#include "tests/unit/image_builder.h"
#include "tests/unit/scratch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4, RUNS = 20 };

static const char text[] =
    "var w: f32[64] = 1\n"
    "var name: str[] = \"w\"\n"
    "entry train(x: f32[B, 64]) training -> (loss: f32[]) {\n"
    "  loss = mean(square(x @ w - 1))\n"
    "  print(loss)\n"
    "  minimize(loss, momentum, lr=0.001)\n"
    "}\n"
    "entry look() -> (s: f32[], t: str[]) { s = sum(sort(w))\n t = str_upper(name) }\n";

static const char *target; // of the sessions
static double deadline;    // 0: the default
static char scratch[SCRATCH_PATH];

static void drop(void *context, const char *said) {
  ++*(int *)context; // one call at a time
  (void)said;
}

static leat_session *open_session(int *printed) {
  leat_session_options options = {.target = target,
                                  .cache = "off",
                                  .threads = 2,
                                  .trace = true,
                                  .deadline = deadline,
                                  .print = drop,
                                  .print_context = printed};
  leat_session *session;
  CHECK_EQ_INT(leat_session_create(&options, &session), LEAT_OK);
  CHECK_EQ_INT(leat_session_extend(session, text, 0, "threads.leat"), LEAT_OK);
  return session;
}

static leat_status prepare(leat_session *session, const char *entry, leat_step **out) {
  return leat_session_prepare(session, &(leat_step_spec){.entries = &entry, .entry_count = 1}, out);
}

static leat_status train(leat_step *step, int64_t rows) {
  static float data[8 * 64];
  leat_tensor x = {LEAT_f32, 2, {rows, 64}, data}, loss;
  return leat_step_run(step, &x, &loss);
}

static void in_threads(void *(*work)(void *context), void *context) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, context);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

// -- Sessions of their own -----------------------------------------------------------------------

static void *live(void *counter) {
  char path[SCRATCH_PATH + 16];
  int printed = 0;
  snprintf(path, sizeof path, "%s.%d", scratch, atomic_fetch_add((atomic_int *)counter, 1));
  leat_session *session = open_session(&printed);
  leat_step *step = NULL, *look = NULL;
  leat_tensor results[2], w;
  char *trace = NULL;
  CHECK_EQ_INT(prepare(session, "train", &step), LEAT_OK);
  CHECK_EQ_INT(prepare(session, "look", &look), LEAT_OK);
  for (int i = 0; i < RUNS; i++) CHECK_EQ_INT(train(step, 1 + i % 8), LEAT_OK);
  CHECK_EQ_INT(leat_step_run(look, NULL, results), LEAT_OK);
  CHECK_EQ_INT(leat_session_save(session, path), LEAT_OK);
  CHECK_EQ_INT(leat_session_restore(session, path), LEAT_OK);
  CHECK_EQ_INT(leat_variable_read(session, "w", &w), LEAT_OK);
  CHECK_EQ_INT(leat_session_trace(session, &trace), LEAT_OK);
  CHECK_EQ_INT(leat_session_extend(session, "entry wrong( {", 0, "wrong"), LEAT_INVALID);
  CHECK_EQ_INT(printed, RUNS);
  free(trace);
  free(w.data);
  leat_session_destroy(session);
  unlink(path);
  return NULL;
}

TEST(sessions_in_threads_of_their_own) {
  scratch_path(scratch, "saved.safetensors");
  for (int t = 0; t < 2; t++) {
    atomic_int next = 0;
    target = t ? "ref" : "cpu";
    in_threads(live, &next);
  }
}

// -- One session ---------------------------------------------------------------------------------

typedef struct shared {
  pthread_mutex_t lock;
  leat_session *session;
  leat_step *step;
  atomic_bool over;
} shared;

static void *take_turns(void *context) {
  shared *s = context;
  for (int i = 0; i < RUNS; i++) {
    leat_tensor w;
    pthread_mutex_lock(&s->lock);
    CHECK_EQ_INT(train(s->step, 1 + i % 8), LEAT_OK);
    CHECK_EQ_INT(leat_variable_read(s->session, "w", &w), LEAT_OK);
    pthread_mutex_unlock(&s->lock);
    free(w.data);
  }
  return NULL;
}

TEST(one_session_by_one_thread_at_a_time) {
  int printed = 0;
  shared s = {.lock = PTHREAD_MUTEX_INITIALIZER};
  target = "ref";
  s.session = open_session(&printed);
  CHECK_EQ_INT(prepare(s.session, "train", &s.step), LEAT_OK);
  in_threads(take_turns, &s);
  CHECK_EQ_INT(printed, THREADS * RUNS);
  leat_session_destroy(s.session);
}

static void *interrupt(void *context) {
  shared *s = context;
  for (bool on = true; !atomic_load(&s->over); on = !on) {
    leat_session_interrupt(s->session, on);
    usleep(200);
  }
  leat_session_interrupt(s->session, false);
  return NULL;
}

TEST(interrupted_by_another_thread) {
  int printed = 0, aborted = 0;
  shared s = {0};
  pthread_t thread;
  target = "ref";
  s.session = open_session(&printed);
  pthread_create(&thread, NULL, interrupt, &s);
  for (int i = 0; i < 10 * RUNS; i++) {
    leat_step *step = NULL;
    leat_status status = prepare(s.session, "train", &step);
    for (int k = 1; !status && k <= 4; k++) status = train(step, k);
    CHECK(status == LEAT_OK || status == LEAT_ABORTED);
    aborted += status == LEAT_ABORTED;
    leat_step_destroy(step);
  }
  atomic_store(&s.over, true);
  pthread_join(thread, NULL);
  CHECK(aborted > 0);
  leat_session_destroy(s.session);
}

// -- Models of one image -------------------------------------------------------------------------

static int32_t k_double(leat_call *call, const leat_arg *args, int64_t begin, int64_t end) {
  (void)call;
  const float *x = args[1].pointer;
  for (int64_t i = begin; i < end; i++) ((float *)args[0].pointer)[i] = 2 * x[i];
  return 0;
}

static const leat_kernel_function kernels[] = {k_double};

static void *run_models(void *image) {
  float x[1000];
  for (int i = 0; i < 1000; i++) x[i] = (float)i;
  for (int i = 0; i < RUNS; i++) {
    leat_model *model;
    const leat_built_step steps[] = {{.image = image, .kernels = kernels}, {.image = NULL}};
    leat_tensor feed = {LEAT_f32, 1, {1000}, x}, y;
    CHECK_EQ_INT(leat_model_create(steps, &(leat_model_options){.threads = 2}, &model), LEAT_OK);
    for (int k = 0; k < 5; k++) CHECK_EQ_INT(leat_model_run(model, 0, &feed, &y), LEAT_OK);
    CHECK(((float *)y.data)[999] == 1998);
    leat_model_destroy(model);
    leat_model_destroy(model); // does nothing
  }
  return NULL;
}

TEST(models_of_one_image) {
  leat_image *image = image_of_one_kernel(1000, 1000000);
  in_threads(run_models, image);
  free(image);
}

// -- What may not be done ------------------------------------------------------------------------

static void *run_without_lock(void *context) {
  shared *s = context;
  leat_status status = train(s->step, 2);
  (void)status;
  return NULL;
}

static void race(void) {
  int printed = 0;
  shared s = {0};
  target = "ref";
  deadline = 1; // of runs that wait for what others took
  s.session = open_session(&printed);
  CHECK_EQ_INT(prepare(s.session, "train", &s.step), LEAT_OK);
  CHECK_EQ_INT(train(s.step, 2), LEAT_OK);
  in_threads(run_without_lock, &s);
}

int main(int argc, char **argv) {
  if (argc < 2 || strcmp(argv[1], "race") != 0) return check_run("threads");
  race();
  return 0;
}
