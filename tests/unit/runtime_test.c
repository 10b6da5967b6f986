// Runs of one device: tasks and gangs of threads, dims, variables, what is printed.
#include "tests/unit/runtime_fixture.h"

#include "runtime/format.h"

#include <math.h>

TEST(adds_two_scalars) {
  fixture f;
  if (set_up(&f, (leat_runtime_options){.threads = 1}, NULL, (image_builder *[]){sum_image()}, 1)) {
    float a = 1, b = 2;
    leat_tensor feeds[] = {scalar(&a), scalar(&b)}, y;
    CHECK_EQ_INT(execute(&f, 1, feeds, &y), LEAT_OK);
    CHECK(first(&y) == 3 && y.rank == 0);
    b = 5;
    CHECK_EQ_INT(execute(&f, 2, feeds, &y), LEAT_OK);
    CHECK(first(&y) == 6);
    // An unaligned feed is copied.
    char bytes[16];
    float nine = 9;
    memcpy(bytes + 1, &nine, sizeof nine);
    feeds[1].data = bytes + 1;
    CHECK_EQ_INT(execute(&f, 3, feeds, &y), LEAT_OK);
    CHECK(first(&y) == 10);
  }
  tear_down(&f);
}

// Nanoseconds of the processor that a run takes: others may use it meanwhile.
static double time_runs(fixture *f, int runs) {
  float a = 1, b = 2, total = 0;
  leat_tensor feeds[] = {scalar(&a), scalar(&b)}, y;
  struct timespec from, to;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
  for (int i = 0; i < runs; i++) {
    a = (float)(i % 100);
    if (leat_run_execute(f->run, &(leat_run_request){.feeds = feeds}, &y, &f->error)) break;
    total += first(&y);
  }
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
  CHECK(total > 0);
  return ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / runs;
}

TEST(run_takes_less_than_a_microsecond) {
  fixture f;
  if (set_up(&f, (leat_runtime_options){.threads = 1}, NULL, (image_builder *[]){sum_image()}, 1)) {
    enum { TIMES = 20, RUNS = 10000 };
    double ns = time_runs(&f, RUNS);
    for (int i = 1; i < TIMES; i++) ns = fmin(ns, time_runs(&f, RUNS));
    printf("a + b: %.0f ns a run\n", ns);
    CHECK(getenv("LEAT_SANITIZED") || ns < 1000);
  }
  tear_down(&f);
}

// A diamond of tasks: each of the n middle ones increments its own element, the last adds two.
TEST(tasks_wait_for_their_dependencies) {
  enum { N = 8 };
  image_builder *b = begin("/job:local/task:0/device:cpu:0");
  leat_image_type type = image_type(LEAT_f32, -1);
  uint32_t x = image_feed(b, "x", type), start = image_arena_buffer(b, 4, type), middle[N];
  image_task(b, LEAT_TASK_SEGMENT,
             image_launch(b, SLOW_INCREMENT, 1, 1, BUFFERS((int)start, (int)x)), 1, "start");
  for (int i = 0; i < N; i++) {
    middle[i] = image_arena_buffer(b, 4, type);
    uint32_t launch =
        image_launch(b, SLOW_INCREMENT, 1, 1000000, BUFFERS((int)middle[i], (int)start));
    image_task(b, LEAT_TASK_SEGMENT, launch, 1, "middle");
  }
  uint32_t y = image_arena_buffer(b, 4, type);
  uint32_t launch = image_launch(b, ADD, 1, 1, BUFFERS((int)y, (int)middle[0], (int)middle[N - 1]));
  uint32_t last = image_task(b, LEAT_TASK_SEGMENT, launch, 1, "last");
  for (uint32_t i = 0; i < N; i++) image_order(b, 0, i + 1);
  for (uint32_t i = 0; i < N; i++) image_order(b, i + 1, last);
  image_fetch(b, "y", y);
  fixture f;
  if (set_up(&f, (leat_runtime_options){.threads = 3}, NULL, (image_builder *[]){b}, 1)) {
    for (int i = 0; i < 5; i++) {
      float value = (float)i;
      leat_tensor feed = scalar(&value), out;
      CHECK_EQ_INT(execute(&f, (uint64_t)i, &feed, &out), LEAT_OK);
      CHECK(first(&out) == 2 * (value + 2));
    }
  }
  tear_down(&f);
}

static int threads_in_trace(const char *trace, const char *kernel) {
  char name[64];
  snprintf(name, sizeof name, "\"name\":\"%s\"", kernel);
  unsigned seen = 0;
  for (const char *at = trace; (at = strstr(at, name)); at++) {
    const char *tid = strstr(at, "\"tid\":");
    if (tid) seen |= 1u << atoi(tid + 6);
  }
  return __builtin_popcount(seen);
}

// Three launches over many tiles with a narrow one between, on gangs of 1, 2 and 3 threads.
static void run_gang(int threads) {
  enum { N = 300 };
  image_builder *b = begin("/job:local/task:0/device:cpu:0");
  leat_image_type type = image_type(LEAT_f32, image_constant(b, N));
  uint32_t x = image_feed(b, "x", type), buffers[4];
  for (int i = 0; i < 4; i++) buffers[i] = image_arena_buffer(b, N * 4, type);
  const int wide = 100000000;
  image_launch(b, SLOW_INCREMENT, N, wide, BUFFERS((int)buffers[0], (int)x));
  image_launch(b, INCREMENT, N, 1, BUFFERS((int)buffers[1], (int)buffers[0]));
  image_launch(b, INCREMENT, N, 1, BUFFERS((int)buffers[2], (int)buffers[1]));
  image_launch(b, SLOW_INCREMENT, N, wide, BUFFERS((int)buffers[3], (int)buffers[2]));
  image_task(b, LEAT_TASK_SEGMENT, 0, 4, "gang");
  image_fetch(b, "y", buffers[3]);
  fixture f;
  leat_runtime_options options = {.threads = threads, .trace = true};
  if (set_up(&f, options, NULL, (image_builder *[]){b}, 1)) {
    float values[N];
    for (int i = 0; i < N; i++) values[i] = (float)i;
    leat_tensor feed = vector(values, N), y;
    for (int step = 0; step < 3; step++) {
      CHECK_EQ_INT(execute(&f, (uint64_t)step, &feed, &y), LEAT_OK);
      for (int i = 0; i < N; i++)
        if (((float *)y.data)[i] != values[i] + 4) CHECK_FAILED("element %d", i);
    }
    leat_text trace = {0};
    leat_runtime_trace(f.runtime, &trace);
    CHECK_EQ_INT(threads_in_trace(trace.data, "slow_increment"), threads);
    CHECK_EQ_INT(threads_in_trace(trace.data, "increment"), 1);
    const char *slow = strstr(trace.data, "\"name\":\"slow_increment\"");
    double begin, taken; // in microseconds
    CHECK(slow && (slow = strstr(slow, "\"ph\":")) &&
          sscanf(slow, "\"ph\":\"X\",\"ts\":%lf,\"dur\":%lf,", &begin, &taken) == 2 && taken > 0);
    leat_text_finish(&trace);
  }
  tear_down(&f);
}

TEST(gang_of_1) {
  run_gang(1);
}
TEST(gang_of_2) {
  run_gang(2);
}
TEST(gang_of_3) {
  run_gang(3);
}

// -- Dims -----------------------------------------------------------------------------------------

// y[N] = a[N] + b[N], N in 1 … 100
static image_builder *vector_sum(void) {
  image_builder *b = begin("/job:local/task:0/device:cpu:0");
  uint32_t n = image_dim(b, "N", 1, 100);
  leat_image_type type = image_type(LEAT_f32, image_dim_formula(b, n));
  uint32_t a = image_feed(b, "a", type), c = image_feed(b, "b", type);
  uint32_t y = image_arena_buffer(b, 400, type);
  uint32_t launch = image_launch(b, ADD, 0, 1, BUFFERS((int)y, (int)a, (int)c));
  b->launches[launch].tiles = image_dim_formula(b, n);
  image_task(b, LEAT_TASK_SEGMENT, launch, 1, "sum");
  image_fetch(b, "y", y);
  return b;
}

TEST(dims_are_bound_and_checked) {
  fixture f;
  if (set_up(&f, (leat_runtime_options){.threads = 1}, NULL, (image_builder *[]){vector_sum()},
             1)) {
    float a[101], b[101];
    for (int i = 0; i < 101; i++) a[i] = (float)i, b[i] = (float)(2 * i);
    for (int n = 1; n <= 100; n += 33) {
      leat_tensor feeds[] = {vector(a, n), vector(b, n)}, y;
      CHECK_EQ_INT(execute(&f, 1, feeds, &y), LEAT_OK);
      CHECK_EQ_INT(y.shape[0], n);
      CHECK(((float *)y.data)[n - 1] == 3 * (float)(n - 1));
    }
    leat_tensor differ[] = {vector(a, 4), vector(b, 5)}, y;
    CHECK_EQ_INT(execute(&f, 1, differ, &y), LEAT_INVALID);
    CHECK_EQ_STR(f.error.message, "feed `b`: axis 0 of f32[N]: expected N = 4, found 5");
    leat_tensor large[] = {vector(a, 101), vector(b, 101)};
    CHECK_EQ_INT(execute(&f, 1, large, &y), LEAT_INVALID);
    CHECK_EQ_STR(f.error.message, "feed `a`: axis 0: expected N in 1 … 100, found 101");
    leat_tensor wrong[] = {vector(a, 4), vector(b, 4)};
    wrong[1].dtype = LEAT_f64;
    CHECK_EQ_INT(execute(&f, 1, wrong, &y), LEAT_INVALID);
    CHECK_EQ_STR(f.error.message, "feed `b`: expected f32[N], found f64 of rank 1");
    leat_tensor missing[] = {vector(a, 4), vector(NULL, 4)};
    CHECK_EQ_INT(execute(&f, 1, missing, &y), LEAT_INVALID);
    CHECK_EQ_STR(f.error.message, "feed `b` is missing");
    int64_t given = 3;
    leat_tensor right[] = {vector(a, 4), vector(b, 4)};
    leat_run_request request = {.feeds = right, .dims = &given};
    f.error = (leat_error){0};
    CHECK_EQ_INT(leat_run_execute(f.run, &request, &y, &f.error), LEAT_INVALID);
  }
  tear_down(&f);
}

// y[M] = a[i] + b[i] for the M in 0 … 100 that the feed n says while running; y has an arena alone.
static image_builder *bound_sum(bool ordered) {
  image_builder *b = begin("/job:local/task:0/device:cpu:0");
  uint32_t m = image_dim(b, "M", 0, 100), formula = image_dim_formula(b, m);
  leat_image_type all = image_type(LEAT_f32, image_constant(b, 100));
  uint32_t n = image_feed(b, "n", image_type(LEAT_i64, -1));
  uint32_t a = image_feed(b, "a", all), c = image_feed(b, "b", all);
  uint32_t y =
      image_buffer(b, LEAT_BUFFER_ARENA, image_constant(b, 0), image_type(LEAT_f32, formula));
  uint32_t word = b->code_count; // 4 · M bytes
  IMAGE_ADD(b, code, LEAT_FORMULA_PUSH | 4 << 8);
  IMAGE_ADD(b, code, LEAT_FORMULA_DIM | (int64_t)m << 8);
  IMAGE_ADD(b, code, LEAT_FORMULA_MUL);
  uint32_t size = IMAGE_ADD(b, formulas, (leat_formula){.code_first = word, .code_count = 3});
  b->buffers[y].arena = IMAGE_ADD(b, arenas, (leat_image_arena){.size = size});
  uint32_t launch = image_launch(b, ADD, 0, 1, BUFFERS((int)y, (int)a, (int)c));
  b->launches[launch].tiles = formula;
  uint32_t from = IMAGE_ADD(b, args, (leat_image_arg){.index = n});
  uint32_t bind = image_task(b, LEAT_TASK_BIND, from, 1, "bind");
  b->tasks[bind].dim = m;
  uint32_t sum = image_task(b, LEAT_TASK_SEGMENT, launch, 1, "sum");
  image_order(b, ordered ? bind : sum, ordered ? sum : bind);
  image_fetch(b, "y", y);
  return b;
}

TEST(tasks_bind_dims) {
  fixture f;
  if (set_up(&f, (leat_runtime_options){.threads = 1}, NULL, (image_builder *[]){bound_sum(true)},
             1)) {
    float a[100], b[100];
    for (int i = 0; i < 100; i++) a[i] = (float)i, b[i] = (float)(2 * i);
    int64_t n;
    leat_tensor feeds[] = {{.dtype = LEAT_i64, .data = &n}, vector(a, 100), vector(b, 100)}, y;
    for (n = 0; n <= 100; n += 20) {
      CHECK_EQ_INT(execute(&f, 1, feeds, &y), LEAT_OK);
      CHECK_EQ_INT(y.shape[0], n);
      CHECK(n == 0 || ((float *)y.data)[n - 1] == 3 * (float)(n - 1));
    }
    n = 101;
    CHECK_EQ_INT(execute(&f, 1, feeds, &y), LEAT_OUT_OF_RANGE);
    CHECK_EQ_STR(f.error.message, "/job:local/task:0/device:cpu:0: node `bind`: dim M is 101, "
                                  "which is not in 0..100");
    n = 3;
    CHECK_EQ_INT(execute(&f, 1, feeds, &y), LEAT_OK);
    CHECK_EQ_INT(y.shape[0], 3);
  }
  tear_down(&f);
}

// A task that does not wait for the dim that it needs computes nothing.
TEST(tasks_before_their_dims_fail) {
  fixture f;
  if (set_up(&f, (leat_runtime_options){.threads = 1}, NULL, (image_builder *[]){bound_sum(false)},
             1)) {
    float a[100] = {0};
    int64_t n = 3;
    leat_tensor feeds[] = {{.dtype = LEAT_i64, .data = &n}, vector(a, 100), vector(a, 100)}, y;
    CHECK_EQ_INT(execute(&f, 1, feeds, &y), LEAT_INVALID);
    CHECK_EQ_STR(f.error.message,
                 "damaged image: task `sum` works on memory whose place or size is not known");
  }
  tear_down(&f);
}

// Of what several threads meet, that of the lowest tiles is told.
TEST(failures_do_not_depend_on_threads) {
  enum { N = 90 };
  for (int threads = 1; threads <= 3; threads++) {
    image_builder *b = begin("/job:local/task:0/device:cpu:0");
    uint32_t size = image_constant(b, N);
    leat_image_type type = image_type(LEAT_f32, size);
    uint32_t x = image_feed(b, "x", type), y = image_arena_buffer(b, N * 4, type);
    uint32_t launch = image_launch(b, CHECK_SIGN, N, 1000000, BUFFERS((int)y, (int)x));
    add_sites(b, launch, size);
    image_task(b, LEAT_TASK_SEGMENT, launch, 1, "check");
    image_fetch(b, "y", y);
    fixture f;
    if (set_up(&f, (leat_runtime_options){.threads = threads}, NULL, (image_builder *[]){b}, 1)) {
      float values[N] = {[7] = -1, [8] = -1, [31] = -1, [89] = -1};
      leat_tensor feed = vector(values, N), out;
      CHECK_EQ_INT(execute(&f, 1, &feed, &out), LEAT_OUT_OF_RANGE);
      CHECK_EQ_STR(f.error.message, "/job:local/task:0/device:cpu:0: node `net/second`: index out "
                                    "of range: element 7 of 90 is negative");
      values[7] = 0;
      CHECK_EQ_INT(execute(&f, 2, &feed, &out), LEAT_OUT_OF_RANGE);
      CHECK(strstr(f.error.message, "element 8 of 90"));
    }
    tear_down(&f);
  }
}

// -- Variables ------------------------------------------------------------------------------------

// v starts as 41 (its initialiser increments a constant 40); a step increments it.
static image_builder *counter_image(void) {
  image_builder *b = begin("/job:local/task:0/device:cpu:0");
  leat_image_type type = image_type(LEAT_f32, -1);
  float forty = 40;
  memcpy(b->data, &forty, sizeof forty);
  b->data_count = 4;
  IMAGE_ADD(
      b, variables,
      (leat_image_variable){
          .origin.name = image_text(b, "v"), .container = 0, .type = type, .table = 1, .flags = 2});
  uint32_t v = image_buffer(b, LEAT_BUFFER_VARIABLE, 0, type);
  uint32_t constant = image_buffer(b, LEAT_BUFFER_CONSTANT, 0, type);
  image_launch(b, INCREMENT, 1, 1, BUFFERS((int)v, (int)v));
  image_launch(b, INCREMENT, 1, 1, BUFFERS((int)v, (int)constant));
  image_task(b, LEAT_TASK_SEGMENT, 0, 1, "count");
  image_task(b, LEAT_TASK_SEGMENT, 1, 1, "initialise");
  IMAGE_ADD(b, tables, (leat_image_table){.task_count = 1});
  IMAGE_ADD(b, tables, (leat_image_table){.task_first = 1, .task_count = 1});
  image_fetch(b, "v", v);
  return b;
}

TEST(variables_are_initialised_once) {
  fixture f;
  if (set_up(&f, (leat_runtime_options){.threads = 1}, NULL, (image_builder *[]){counter_image()},
             1)) {
    leat_tensor v, read;
    CHECK_EQ_INT(execute(&f, 1, NULL, &v), LEAT_OK);
    CHECK(first(&v) == 42);
    CHECK_EQ_INT(execute(&f, 2, NULL, &v), LEAT_OK);
    CHECK(first(&v) == 43);
    float value = 7;
    leat_tensor tensor = scalar(&value), wide = vector(&value, 1);
    CHECK_EQ_INT(leat_store_write(f.stores[0], NULL, "v", &tensor, &f.error), LEAT_OK);
    CHECK_EQ_INT(execute(&f, 3, NULL, &v), LEAT_OK);
    CHECK(first(&v) == 8);
    CHECK_EQ_INT(leat_store_write(f.stores[0], NULL, "v", &wide, &f.error), LEAT_INVALID);
    CHECK_EQ_STR(f.error.message, "variable `v` is f32[], not f32[1]");
    CHECK_EQ_INT(leat_store_read(f.stores[0], "c", "v", &read, &f.error), LEAT_NOT_FOUND);
    CHECK_EQ_INT(leat_store_read(f.stores[0], "", "v", &read, NULL), LEAT_OK);
    CHECK(first(&read) == 8);
    free(read.data);
    CHECK_EQ_INT(leat_store_count(f.stores[0]), 1);
  }
  tear_down(&f);
}

TEST(variable_without_a_value_is_an_error) {
  image_builder *b = counter_image();
  b->variables[0].table = 0;
  fixture f;
  if (set_up(&f, (leat_runtime_options){.threads = 1}, NULL, (image_builder *[]){b}, 1)) {
    leat_tensor v;
    CHECK_EQ_INT(execute(&f, 1, NULL, &v), LEAT_NOT_FOUND);
    CHECK_EQ_STR(f.error.message, "variable `v` has no initial value and was not restored");
  }
  tear_down(&f);
}

// -- Print ----------------------------------------------------------------------------------------

static void keep_text(void *context, const char *text) {
  leat_text_add(context, "%s;", text);
}

TEST(print_goes_to_the_sink) {
  image_builder *b = sum_image();
  uint32_t first_arg = IMAGE_ADD(b, args, (leat_image_arg){.index = 2});
  uint32_t print = image_task(b, LEAT_TASK_PRINT, first_arg, 1, "print");
  b->tasks[print].message = image_text(b, "y is");
  image_order(b, 0, 1);
  leat_text said = {0};
  fixture f;
  leat_runtime_options options = {.threads = 1, .print = keep_text, .print_context = &said};
  if (set_up(&f, options, NULL, (image_builder *[]){b}, 1)) {
    float a = 1, c = 0.5f;
    leat_tensor feeds[] = {scalar(&a), scalar(&c)}, y;
    CHECK_EQ_INT(execute(&f, 1, feeds, &y), LEAT_OK);
    CHECK_EQ_STR(said.data, "y is 1.5;");
  }
  tear_down(&f);
  leat_text_finish(&said);
}

static void check_format(leat_tensor tensor, const char *expected) {
  leat_text text = {0};
  leat_tensor_format(&tensor, &text);
  CHECK_EQ_STR(text.data, expected);
  leat_text_finish(&text);
}

TEST(tensors_as_text) {
  int32_t integers[] = {1, -20, 3, 4, 5, 6};
  check_format((leat_tensor){LEAT_i32, 2, {2, 3}, integers}, "[[  1 -20   3]\n [  4   5   6]]");
  check_format((leat_tensor){LEAT_i32, 3, {2, 1, 3}, integers},
               "[[[  1 -20   3]]\n\n [[  4   5   6]]]");
  check_format((leat_tensor){LEAT_i32, 2, {0, 3}, integers}, "[]");
  check_format((leat_tensor){LEAT_bool, 1, {2}, (bool[]){true, false}}, "[ true false]");
  check_format((leat_tensor){LEAT_f64, 0, {0}, &(double){0.1}}, "0.1");
  check_format((leat_tensor){LEAT_f16, 1, {3}, (uint16_t[]){0x3c00, 0xc000, 0x2e66}},
               "[     1.0     -2.0 0.099976]");
  check_format((leat_tensor){LEAT_bf16, 1, {2}, (uint16_t[]){0x3f80, 0x7f80}}, "[1.0 inf]");
  check_format((leat_tensor){LEAT_c64, 0, {0}, (float[]){1, -2}}, "1.0-2.0j");
  static int64_t many[2000];
  for (int i = 0; i < 2000; i++) many[i] = i;
  check_format((leat_tensor){LEAT_i64, 1, {2000}, many}, "[   0    1    2 ... 1997 1998 1999]");
  check_format((leat_tensor){LEAT_i64, 2, {1000, 2}, many},
               "[[   0    1]\n [   2    3]\n [   4    5]\n ...\n [1994 1995]\n [1996 1997]\n "
               "[1998 1999]]");
}

CHECK_MAIN("runtime")
