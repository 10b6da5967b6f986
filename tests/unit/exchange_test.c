// Sends and receives between devices of a process and between ranks, and how failures and deadlines
// end the step on all of them.
#include "tests/unit/inproc.h"
#include "tests/unit/runtime_fixture.h"

#include <pthread.h>

// Edge 1, incremented, goes back over edge 2.
static image_builder *answerer_image(const char *self, const char *other, bool answers) {
  image_builder *b = begin(self);
  leat_image_type type = image_type(LEAT_f32, image_constant(b, PAYLOAD));
  uint32_t x = image_arena_buffer(b, PAYLOAD * 4, type),
           y = image_arena_buffer(b, PAYLOAD * 4, type);
  image_task(b, LEAT_TASK_RECV, image_message(b, 1, x, other), 0, "recv");
  image_task(b, LEAT_TASK_SEGMENT, image_launch(b, INCREMENT, PAYLOAD, 1, BUFFERS((int)y, (int)x)),
             1, "answer");
  image_order(b, 0, 1);
  if (!answers) return b;
  image_task(b, LEAT_TASK_SEND, image_message(b, 2, y, other), 0, "send");
  image_order(b, 1, 2);
  return b;
}

TEST(two_devices_of_a_process_exchange) {
  image_builder *builders[] = {asker_image(INCREMENT, DEVICE(0), DEVICE(1)),
                               answerer_image(DEVICE(1), DEVICE(0), true)};
  fixture f;
  if (set_up(&f, (leat_runtime_options){.threads = 2, .trace = true}, NULL, builders, 2)) {
    float x[PAYLOAD];
    for (int i = 0; i < PAYLOAD; i++) x[i] = (float)i;
    leat_tensor feed = vector(x, PAYLOAD), back;
    for (uint64_t step = 0; step < 100; step++) {
      CHECK_EQ_INT(execute(&f, step, &feed, &back), LEAT_OK);
      CHECK(((float *)back.data)[5] == 7);
    }
    CHECK_EQ_INT(leat_executor_send_count(f.executor), 2);
    leat_send_info info;
    leat_executor_send(f.executor, 0, &info);
    CHECK_EQ_INT(info.edge, 1);
    CHECK_EQ_INT(info.bytes, 100 * PAYLOAD * 4);
    CHECK_EQ_INT(info.peer, -1);
  }
  tear_down(&f);
}

TEST(failing_kernel_names_its_node) {
  image_builder *builders[] = {asker_image(CHECK_SIGN, DEVICE(0), DEVICE(1)),
                               answerer_image(DEVICE(1), DEVICE(0), true)};
  fixture f;
  if (set_up(&f, (leat_runtime_options){.threads = 2}, NULL, builders, 2)) {
    float x[PAYLOAD] = {-1};
    leat_tensor feed = vector(x, PAYLOAD), back;
    CHECK_EQ_INT(execute(&f, 1, &feed, &back), LEAT_OUT_OF_RANGE);
    CHECK_EQ_STR(f.error.message,
                 "/job:local/task:0/device:cpu:0: node `net/second`: index out of range: "
                 "element 0 of 64 is negative");
    x[0] = 1; // and the run can be used again
    CHECK_EQ_INT(execute(&f, 2, &feed, &back), LEAT_OK);
    CHECK(first(&back) == 3);
  }
  tear_down(&f);
}

TEST(recv_without_a_send_reaches_the_deadline) {
  image_builder *builders[] = {asker_image(INCREMENT, DEVICE(0), DEVICE(1)),
                               answerer_image(DEVICE(1), DEVICE(0), false)};
  fixture f;
  if (set_up(&f, (leat_runtime_options){.threads = 1, .deadline = SHORT}, NULL, builders, 2)) {
    float x[PAYLOAD] = {0};
    leat_tensor feed = vector(x, PAYLOAD), back;
    CHECK_EQ_INT(execute(&f, 1, &feed, &back), LEAT_DEADLINE);
    CHECK_EQ_STR(f.error.message,
                 "no progress for 0.2 s: /job:local/task:0/device:cpu:0 waits for tensor "
                 "`tensor:0` (edge 2) from /job:local/task:0/device:cpu:1");
  }
  tear_down(&f);
}

// -- Two ranks over inproc ------------------------------------------------------------------------

static int route_task(void *context, const char *device) {
  (void)context;
  return device[strlen("/job:local/task:")] - '0';
}

#define TASK(n) "/job:local/task:" #n "/device:cpu:0"

typedef struct ranks {
  leat_inproc_world *world;
  fixture f[2];
} ranks;

static bool set_up_ranks(ranks *r, double deadline, uint32_t kernel, bool answers) {
  leat_error error = {0};
  leat_transport *transports[2] = {0};
  leat_executor_options binding = {.session = 9, .route = route_task};
  *r = (ranks){0};
  leat_status status = leat_inproc_world_create(2, &r->world, &error);
  for (int i = 0; i < 2 && !status; i++)
    status = leat_inproc_join(r->world, i, &transports[i], &error);
  if (status) {
    CHECK_FAILED("set_up_ranks: %s", error.message);
    return false;
  }
  image_builder *asker = asker_image(kernel, TASK(0), TASK(1));
  image_builder *answerer = answerer_image(TASK(1), TASK(0), answers);
  leat_runtime_options options = {.threads = 1, .deadline = deadline, .transport = transports[0]};
  bool fine = set_up(&r->f[0], options, &binding, &asker, 1);
  options.transport = transports[1];
  return set_up(&r->f[1], options, &binding, &answerer, 1) && fine;
}

static void tear_down_ranks(ranks *r) {
  for (int i = 0; i < 2; i++) tear_down(&r->f[i]);
  leat_inproc_world_destroy(r->world);
}

typedef struct worker {
  pthread_t thread;
  fixture *f;
  uint64_t steps;
  leat_status last;
} worker;

static void *work(void *context) {
  worker *w = context;
  for (uint64_t step = 0; step < w->steps; step++) w->last = execute(w->f, step, NULL, NULL);
  return NULL;
}

TEST(two_ranks_exchange) {
  ranks r;
  if (set_up_ranks(&r, LONG, INCREMENT, true)) {
    enum { STEPS = 200 };
    worker w = {.f = &r.f[1], .steps = STEPS};
    pthread_create(&w.thread, NULL, work, &w);
    float x[PAYLOAD] = {0};
    leat_tensor feed = vector(x, PAYLOAD), back;
    for (uint64_t step = 0; step < STEPS; step++) {
      x[3] = (float)step;
      CHECK_EQ_INT(execute(&r.f[0], step, &feed, &back), LEAT_OK);
      CHECK(((float *)back.data)[3] == x[3] + 2);
    }
    pthread_join(w.thread, NULL);
    CHECK_EQ_INT(w.last, LEAT_OK);
  }
  tear_down_ranks(&r);
}

TEST(failure_ends_the_step_on_all_ranks) {
  ranks r;
  if (set_up_ranks(&r, LONG, CHECK_SIGN, true)) {
    worker w = {.f = &r.f[1], .steps = 1};
    pthread_create(&w.thread, NULL, work, &w);
    float x[PAYLOAD] = {-1};
    leat_tensor feed = vector(x, PAYLOAD), back;
    CHECK_EQ_INT(execute(&r.f[0], 0, &feed, &back), LEAT_OUT_OF_RANGE);
    pthread_join(w.thread, NULL);
    CHECK_EQ_INT(w.last, LEAT_OUT_OF_RANGE);
    CHECK_EQ_STR(r.f[1].error.message,
                 "rank 0: " TASK(0) ": node `net/second`: index out of range: "
                                    "element 0 of 64 is negative");
  }
  tear_down_ranks(&r);
}

// A feed of another size fails before anything runs; the other rank must not wait for its tensor.
TEST(failure_before_the_run_ends_it_on_all_ranks) {
  ranks r;
  if (set_up_ranks(&r, LONG, INCREMENT, true)) {
    worker w = {.f = &r.f[1], .steps = 1};
    pthread_create(&w.thread, NULL, work, &w);
    float x[PAYLOAD] = {0};
    leat_tensor feed = vector(x, PAYLOAD - 1), back;
    leat_status status = execute(&r.f[0], 0, &feed, &back);
    CHECK(status && status != LEAT_DEADLINE);
    pthread_join(w.thread, NULL);
    CHECK_EQ_INT(w.last, status);
    CHECK(!strncmp(r.f[1].error.message, "rank 0: ", 8));
    CHECK_EQ_STR(r.f[1].error.message + 8, r.f[0].error.message);
  }
  tear_down_ranks(&r);
}

TEST(deadline_names_the_edge_on_all_ranks) {
  ranks r;
  if (set_up_ranks(&r, SHORT, INCREMENT, false)) {
    worker w = {.f = &r.f[1], .steps = 1};
    pthread_create(&w.thread, NULL, work, &w);
    float x[PAYLOAD] = {0};
    leat_tensor feed = vector(x, PAYLOAD), back;
    CHECK_EQ_INT(execute(&r.f[0], 0, &feed, &back), LEAT_DEADLINE);
    pthread_join(w.thread, NULL);
    CHECK(strstr(r.f[0].error.message, "(edge 2) from " TASK(1)));
  }
  tear_down_ranks(&r);
}

TEST(messages_arrive_in_order) {
  ranks r;
  if (set_up_ranks(&r, LONG, INCREMENT, true)) {
    for (int i = 0; i < 100; i++)
      CHECK_EQ_INT(leat_runtime_send(r.f[0].runtime, 1, &i, sizeof i, NULL), LEAT_OK);
    for (int i = 0; i < 100; i++) {
      leat_message message;
      CHECK_EQ_INT(leat_runtime_receive(r.f[1].runtime, LONG, &message, NULL), LEAT_OK);
      CHECK_EQ_INT(*(int *)message.data, i);
      free(message.data);
    }
    leat_message none;
    CHECK_EQ_INT(leat_runtime_receive(r.f[1].runtime, 0.01, &none, NULL), LEAT_DEADLINE);
    CHECK_EQ_INT(leat_runtime_send(r.f[0].runtime, 0, "", 0, NULL), LEAT_INVALID);
  }
  tear_down_ranks(&r);
}

CHECK_MAIN("exchange")
