// The threads of the process, and who of them does what.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // sched_setaffinity
#endif
#include "runtime/pool.h"

#include "base/cpuid.h"
#include "runtime/pool_thread.h"
#include "tests/unit/runtime_fixture.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

static int threads_now(void) {
  DIR *tasks = opendir("/proc/self/task");
  int count = 0;
  for (const struct dirent *task; tasks && (task = readdir(tasks));)
    count += task->d_name[0] != '.';
  if (tasks) closedir(tasks);
  return count;
}

// A thread that has been joined is there for a moment still.
static bool soon_are(int threads) {
  for (int i = 0; i < 1000 && threads_now() != threads; i++)
    nanosleep(&(struct timespec){0, 10000000}, NULL);
  return threads_now() == threads;
}

static leat_pool *open_pool(int threads) {
  leat_pool *pool = NULL;
  leat_error error = {0};
  CHECK_EQ_INT(leat_pool_create(threads, false, &pool, &error), LEAT_OK);
  return pool;
}

static int larger(int a, int b) {
  return a > b ? a : b;
}

static int smaller(int a, int b) {
  return a < b ? a : b;
}

TEST(pools_share_the_threads_of_the_process) {
  enum { POOLS = 4, THREADS = 8 };
  leat_pool *first = open_pool(2), *pools[POOLS];
  int others = threads_now() - 1, beside = leat_cpu_cores() - 1;
  for (int i = 0; i < POOLS; i++) {
    pools[i] = open_pool(THREADS);
    int wanted = 1 + (i + 1) * (THREADS - 1);
    CHECK_EQ_INT(threads_now() - others, larger(smaller(wanted, beside), THREADS - 1));
  }
  leat_pool *alone = open_pool(1);
  int there = threads_now();
  leat_pool_destroy(alone);
  CHECK_EQ_INT(threads_now(), there);
  for (int i = 0; i < POOLS; i++) leat_pool_destroy(pools[i]);
  CHECK(soon_are(others + 1));
  leat_pool_destroy(first);
  CHECK(soon_are(others));
}

// -- Who comes ------------------------------------------------------------------------------------

typedef struct gate {
  atomic_int entered, members;
  atomic_bool open;
} gate;

static void wait_at(void *context, int member) {
  gate *g = context;
  atomic_fetch_or(&g->members, 1 << member);
  atomic_fetch_add(&g->entered, 1);
  while (!atomic_load(&g->open)) nanosleep(&(struct timespec){0, 100000}, NULL);
}

static void come(void *context, int member) {
  atomic_fetch_or((atomic_int *)context, 1 << member);
}

TEST(busy_threads_are_not_waited_for) {
  leat_pool *pool = open_pool(3), *other = open_pool(3);
  gate g = {0};
  while (leat_pool_help(pool, wait_at, &g)) continue;
  leat_pool_destroy(open_pool(2)); // which has one of them
  int helpers = 0;
  while ((helpers = atomic_load(&g.entered)) < 2) nanosleep(&(struct timespec){0, 100000}, NULL);
  CHECK_EQ_INT(helpers, 2);
  atomic_int came = 0;
  leat_pool_do(pool, 3, come, &came);
  CHECK_EQ_INT(came, 1);
  if (leat_cpu_cores() < 4) { // else there are others
    CHECK(!leat_pool_help(other, come, &came));
    leat_pool_do(other, 3, come, &came);
    CHECK_EQ_INT(came, 1);
  }
  atomic_store(&g.open, true);
  leat_pool_destroy(pool);
  leat_pool_destroy(other);
}

static void wait_for_three(void *context, int member) {
  gate *g = context;
  atomic_fetch_or(&g->members, 1 << member);
  if (atomic_fetch_add(&g->entered, 1) == 2) atomic_store(&g->open, true);
  while (!atomic_load(&g->open)) nanosleep(&(struct timespec){0, 100000}, NULL);
}

TEST(idle_threads_come) {
  for (int i = 0; i < 20; i++) {
    leat_pool *pool = open_pool(3);
    gate g = {0};
    leat_pool_do(pool, 3, wait_for_three, &g);
    CHECK_EQ_INT(g.members, 7);
    atomic_int came = 0;
    leat_pool_do(pool, 2, come, &came);
    CHECK(came == 1 || came == 3);
    leat_pool_destroy(pool);
  }
}

static void *do_often(void *pool) {
  for (int i = 0; i < 2000; i++) {
    atomic_int came = 0;
    leat_pool_do(pool, 1 + i % 3, come, &came);
    CHECK(came & 1);
  }
  return NULL;
}

TEST(callers_share_a_pool) {
  leat_pool *pool = open_pool(3);
  pthread_t callers[3];
  for (int i = 0; i < 3; i++) pthread_create(&callers[i], NULL, do_often, pool);
  for (int i = 0; i < 3; i++) pthread_join(callers[i], NULL);
  leat_pool_destroy(pool);
}

TEST(a_child_computes_alone) {
#ifdef __SANITIZE_THREAD__
  CHECK_SKIP("ThreadSanitizer knows no threads in a child of threads");
#endif
  leat_pool *pool = open_pool(3);
  pid_t child = fork();
  if (child == 0) {
    atomic_int came = 0;
    leat_pool_do(pool, 3, come, &came);
    bool alone = came == 1 && !leat_pool_help(pool, come, &came);
    leat_pool *own = open_pool(2);
    leat_pool_destroy(pool);
    leat_pool_destroy(own);
    _exit(alone ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK_EQ_INT(status, 0);
  atomic_int came = 0;
  leat_pool_do(pool, 3, come, &came);
  CHECK(came & 1);
  leat_pool_destroy(pool);
}

// -- Tiles ----------------------------------------------------------------------------------------

// Two steps side by side on the same threads, many times.
static void say_core(void *core, int member) {
  (void)member;
  atomic_store((_Atomic int *)core, sched_getcpu());
}

// Where the thread is when it gets work from one who is at `from`; -1: it got none.
static int core_of_work(leat_pool *pool, int from) {
  _Atomic int core = -1;
  leat_pool_thread *thread = pool->threads[0];
  uint32_t offered = leat_pool_thread_offer(thread, say_core, (void *)&core, 1, 0, from);
  while (offered && leat_signal_value(&thread->turn) <= offered + 1) // idle again is two further
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  return core;
}

// The core's owner went on computing there meanwhile. Few times others move it back, or away.
TEST(a_thread_leaves_the_core_of_who_offers) {
  enum { POOLS = 10 };
  cpu_set_t all, left;
  CHECK_EQ_INT(sched_getaffinity(0, sizeof all, &all), 0);
  if (CPU_COUNT(&all) == 1) CHECK_SKIP("one core");
  int moves = 0;
  for (int i = 0; i < POOLS; i++) {
    leat_pool *pool = open_pool(2);
    int core = core_of_work(pool, -1), other = core_of_work(pool, core);
    moves += core >= 0 && other >= 0 && core != other;
    leat_pool_destroy(pool);
  }
  CHECK(moves >= POOLS * 3 / 4);
  CHECK(leat_cpu_leave(sched_getcpu()));
  CHECK_EQ_INT(sched_getaffinity(0, sizeof left, &left), 0);
  CHECK(CPU_EQUAL(&left, &all));
}

static void *run_often(void *fixture_) {
  fixture *f = fixture_;
  enum { N = 64 };
  float values[N];
  for (int i = 0; i < N; i++) values[i] = (float)i;
  leat_tensor feed = vector(values, N), y;
  for (int step = 0; step < 200; step++) {
    CHECK_EQ_INT(execute(f, (uint64_t)step, &feed, &y), LEAT_OK);
    for (int i = 0; i < N; i++)
      if (((float *)y.data)[i] != values[i] + 2) CHECK_FAILED("element %d", i);
  }
  return NULL;
}

static image_builder *two_wide_launches(int size) {
  image_builder *b = begin(DEVICE(0));
  leat_image_type type = image_type(LEAT_f32, image_constant(b, size));
  uint32_t x = image_feed(b, "x", type), y = image_arena_buffer(b, size * 4, type);
  image_launch(b, INCREMENT, size, 1000000, BUFFERS((int)y, (int)x));
  image_launch(b, INCREMENT, size, 1000000, BUFFERS((int)y, (int)y));
  image_task(b, LEAT_TASK_SEGMENT, 0, 2, "twice");
  image_fetch(b, "y", y);
  return b;
}

TEST(runtimes_share_the_threads) {
  fixture f[2];
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) {
    image_builder *b = two_wide_launches(64);
    CHECK(set_up(&f[i], (leat_runtime_options){.threads = 3}, NULL, &b, 1));
  }
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, run_often, &f[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < 2; i++) tear_down(&f[i]);
}

// Who has the first tile leaves the rest of his to another thread.
TEST(tiles_are_taken_by_who_comes) {
  enum { TILES = 50 };
  for (int i = 0; i < 5; i++) {
    image_builder *b = begin(DEVICE(0));
    leat_image_type type = image_type(LEAT_f32, image_constant(b, TILES));
    uint32_t y = image_arena_buffer(b, TILES * 4, type);
    image_launch(b, WAIT_FOR_REST, TILES, 1000000, BUFFERS((int)y));
    IMAGE_ADD(b, args, (leat_image_arg){.is_scalar = 1, .index = type.shape_first});
    b->launches[0].arg_count++;
    image_task(b, LEAT_TASK_SEGMENT, 0, 1, "wait");
    fixture f;
    tiles_done = 0;
    if (set_up(&f, (leat_runtime_options){.threads = 2}, NULL, &b, 1)) {
      CHECK_EQ_INT(execute(&f, 1, NULL, NULL), LEAT_OK);
      CHECK_EQ_INT(tiles_done, TILES);
    }
    tear_down(&f);
  }
}

CHECK_MAIN("pool")
