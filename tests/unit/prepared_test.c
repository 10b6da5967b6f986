// What launches prepare: made once of a variable, and again when that was assigned, by whatever
// way; one for all steps of a store.
#include "tests/unit/runtime_fixture.h"

#include <pthread.h>

static leat_image_type vector_type(image_builder *b) {
  return image_type(LEAT_f32, image_constant(b, 1));
}

static uint32_t variable_buffer(image_builder *b, uint32_t flags, leat_image_type type) {
  static const float initial = 40;
  memcpy(b->data, &initial, sizeof initial);
  b->data_count = sizeof initial;
  leat_image_variable v = {
      .origin.name = image_text(b, "v"), .container = 0, .type = type, .flags = 4 | flags};
  return image_buffer(b, LEAT_BUFFER_VARIABLE, IMAGE_ADD(b, variables, v), type);
}

// y = x + (v + 1), where v + 1 is prepared by launch 0.
static image_builder *reader_image(void) {
  image_builder *b = begin("/job:local/task:0/device:cpu:0");
  leat_image_type type = vector_type(b);
  uint32_t x = image_feed(b, "x", type), v = variable_buffer(b, 0, type);
  uint32_t prepared = image_buffer(b, LEAT_BUFFER_PREPARED, 0, type);
  uint32_t y = image_arena_buffer(b, 4, type);
  uint32_t makes = image_launch(b, COUNTED_INCREMENT, 1, 1, BUFFERS((int)prepared, (int)v));
  IMAGE_ADD(b, prepared, (leat_image_prepared){makes});
  image_launch(b, ADD, 1, 1, BUFFERS((int)y, (int)x, (int)prepared));
  image_task(b, LEAT_TASK_SEGMENT, makes, 2, "read");
  image_fetch(b, "y", y);
  return b;
}

// Gives v, having added one to it.
static image_builder *writer_image(void) {
  image_builder *b = begin("/job:local/task:0/device:cpu:0");
  uint32_t v = variable_buffer(b, 2, vector_type(b));
  image_launch(b, INCREMENT, 1, 1, BUFFERS((int)v, (int)v));
  image_task(b, LEAT_TASK_SEGMENT, 0, 1, "write");
  image_fetch(b, "v", v);
  return b;
}

typedef struct step {
  leat_image *image;
  leat_program *program;
  leat_executor *executor;
  leat_run *run;
} step;

static bool open_step(step *s, leat_runtime *runtime, leat_store *store, image_builder *builder) {
  leat_error error = {0};
  *s = (step){.image = image_finish(builder)};
  leat_program_source source = {
      .image = s->image, .size = s->image->size, .kernels = kernels, .kernel_count = KERNELS};
  leat_status status = leat_program_load(&source, &s->program, &error);
  if (!status)
    status = leat_executor_create(runtime, &(leat_part){s->program, store}, 1,
                                  &(leat_executor_options){0}, &s->executor, &error);
  if (!status) s->run = leat_run_acquire(s->executor);
  if (status) CHECK_FAILED("%s", error.message);
  return !status;
}

static void close_step(step *s) {
  leat_run_release(s->run);
  leat_executor_destroy(s->executor);
  leat_program_destroy(s->program);
  free(s->image);
}

static float run(leat_run *in, float x) {
  leat_tensor feed = vector(&x, 1), y;
  leat_error error = {0};
  if (leat_run_execute(in, &(leat_run_request){.feeds = &feed}, &y, &error))
    CHECK_FAILED("%s", error.message);
  return first(&y);
}

typedef struct shared {
  leat_runtime *runtime;
  leat_store *store;
  step reader, writer;
} shared;

static bool open_shared(shared *s, int threads) {
  leat_runtime_options options = {.threads = threads, .deadline = LONG};
  increments = 0;
  return leat_runtime_create(&options, &s->runtime, NULL) == LEAT_OK &&
         leat_store_create(&s->store, NULL) == LEAT_OK &&
         open_step(&s->reader, s->runtime, s->store, reader_image()) &&
         open_step(&s->writer, s->runtime, s->store, writer_image());
}

static void close_shared(shared *s) {
  close_step(&s->reader);
  close_step(&s->writer);
  leat_store_destroy(s->store);
  leat_runtime_destroy(s->runtime);
}

TEST(made_once_and_again_when_assigned) {
  shared s;
  CHECK(open_shared(&s, 1));
  for (int i = 0; i < 3; i++) CHECK(run(s.reader.run, (float)i) == 41 + (float)i);
  CHECK_EQ_INT(increments, 1);
  CHECK(run(s.writer.run, 0) == 41);
  CHECK_EQ_INT(increments, 1);
  for (int i = 0; i < 2; i++) CHECK(run(s.reader.run, 0) == 42);
  CHECK_EQ_INT(increments, 2);
  float seven = 7;
  leat_tensor value = vector(&seven, 1);
  CHECK_EQ_INT(leat_store_write(s.store, NULL, "v", &value, NULL), LEAT_OK);
  for (int i = 0; i < 2; i++) CHECK(run(s.reader.run, 0) == 8);
  CHECK_EQ_INT(increments, 3);
  close_shared(&s);
}

TEST(one_for_all_steps_of_a_store) {
  shared s;
  step other, elsewhere;
  leat_store *store;
  CHECK(open_shared(&s, 1));
  CHECK_EQ_INT(leat_store_create(&store, NULL), LEAT_OK);
  CHECK(open_step(&other, s.runtime, s.store, reader_image()));
  CHECK(open_step(&elsewhere, s.runtime, store, reader_image()));
  CHECK(run(other.run, 0) == 41 && run(s.reader.run, 0) == 41);
  CHECK_EQ_INT(increments, 1);
  CHECK(run(s.writer.run, 0) == 41 && run(s.reader.run, 0) == 42 && run(other.run, 0) == 42);
  CHECK_EQ_INT(increments, 2);
  CHECK(run(elsewhere.run, 0) == 41);
  CHECK_EQ_INT(increments, 3);
  close_step(&other);
  CHECK(run(s.reader.run, 0) == 42);
  CHECK_EQ_INT(increments, 3);
  close_step(&elsewhere);
  leat_store_destroy(store);
  close_shared(&s);
}

enum { READERS = 3, RUNS = 300 };

// The values only go up, each of them that of a whole number of assignments.
static void *read_on(void *context) {
  shared *s = context;
  leat_run *mine = leat_run_acquire(s->reader.executor);
  float last = 41;
  for (int i = 0; i < RUNS; i++) {
    float y = run(mine, 0);
    CHECK(y >= last && y <= 41 + RUNS);
    last = y;
  }
  leat_run_release(mine);
  return NULL;
}

TEST(while_others_read_and_assign) {
  shared s;
  pthread_t threads[READERS];
  CHECK(open_shared(&s, 2));
  CHECK(run(s.reader.run, 0) == 41);
  for (int i = 0; i < READERS; i++) pthread_create(&threads[i], NULL, read_on, &s);
  for (int i = 0; i < RUNS; i++) CHECK(run(s.writer.run, 0) == 41 + (float)i);
  for (int i = 0; i < READERS; i++) pthread_join(threads[i], NULL);
  CHECK(run(s.reader.run, 0) == 41 + RUNS);
  CHECK(increments <= RUNS + 1);
  close_shared(&s);
}

TEST(counts_as_memory_of_the_step) {
  leat_runtime *runtime;
  leat_store *store;
  step s;
  leat_tensor y;
  leat_error error = {0};
  float x = 0;
  leat_tensor feed = vector(&x, 1);
  leat_runtime_options options = {.threads = 1, .memory_limit = 66};
  CHECK_EQ_INT(leat_runtime_create(&options, &runtime, NULL), LEAT_OK);
  CHECK_EQ_INT(leat_store_create(&store, NULL), LEAT_OK);
  CHECK(open_step(&s, runtime, store, reader_image()));
  CHECK_EQ_INT(leat_run_execute(s.run, &(leat_run_request){.feeds = &feed}, &y, &error),
               LEAT_MEMORY);
  CHECK_EQ_STR(error.message,
               "the values of the step take at least 68 bytes, and the memory limit is 66");
  close_step(&s);
  leat_store_destroy(store);
  leat_runtime_destroy(runtime);
}

// -- Damaged images -------------------------------------------------------------------------------

static void check_refused(image_builder *b, const char *why) {
  leat_image *image = image_finish(b);
  leat_program *program = NULL;
  leat_error error = {0};
  leat_program_source source = {
      .image = image, .size = image->size, .kernels = kernels, .kernel_count = KERNELS};
  CHECK_EQ_INT(leat_program_load(&source, &program, &error), LEAT_INVALID);
  CHECK_EQ_STR(error.message, why);
  leat_program_destroy(program);
  free(image);
}

TEST(damaged_images_are_refused) {
  enum { X, V, PREPARED, Y };
  image_builder *b = reader_image();
  b->prepared[0].launch = 2;
  check_refused(b, "damaged image: prepared value 0");
  b = reader_image();
  b->prepared[0].launch = 1; // whose first argument is another buffer
  check_refused(b, "damaged image: prepared value 0");
  b = reader_image();
  b->launches[0].arg_count = 0;
  check_refused(b, "damaged image: prepared value 0");
  b = reader_image();
  b->args[1].index = X; // a feed, which each run has its own
  check_refused(b, "damaged image: prepared value 0");
  b = reader_image();
  b->variables[0].flags |= 2; // which the step itself writes
  check_refused(b, "damaged image: prepared value 0");
  b = reader_image();
  b->buffers[PREPARED].where = 1;
  check_refused(b, "damaged image: buffer 2");
  b = reader_image();
  b->buffers[PREPARED].type = image_type(LEAT_f32, image_dim_formula(b, image_dim(b, "N", 1, 10)));
  check_refused(b, "damaged image: buffer 2");
  b = reader_image();
  IMAGE_ADD(b, prepared, (leat_image_prepared){0}); // the same launch
  check_refused(b, "damaged image: prepared value 1");
}

CHECK_MAIN("prepared")
