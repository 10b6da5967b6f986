// The runtime on images made by hand, with C functions as kernels.
#ifndef LEAT_TESTS_UNIT_RUNTIME_FIXTURE_H
#define LEAT_TESTS_UNIT_RUNTIME_FIXTURE_H

#include "runtime/runtime.h"
#include "runtime/string_heap.h"

#include "tests/unit/check.h"
#include "tests/unit/image_builder.h"

#include <stdatomic.h>
#include <time.h>

// Long enough for a machine with other things to do, short enough to be waited for.
#define SHORT 0.2
#define LONG 20.0

// -- Kernels: args are out, a, b; a tile is an element ------------------------------------------

static inline int32_t k_add(leat_call *call, const leat_arg *args, int64_t begin, int64_t end) {
  (void)call;
  float *out = args[0].pointer;
  const float *a = args[1].pointer, *b = args[2].pointer;
  for (int64_t i = begin; i < end; i++) out[i] = a[i] + b[i];
  return 0;
}

// out = a + 1
static inline int32_t k_increment(leat_call *call, const leat_arg *args, int64_t begin,
                                  int64_t end) {
  (void)call;
  float *out = args[0].pointer;
  const float *a = args[1].pointer;
  for (int64_t i = begin; i < end; i++) out[i] = a[i] + 1;
  return 0;
}

static inline int32_t k_slow_increment(leat_call *call, const leat_arg *args, int64_t begin,
                                       int64_t end) {
  nanosleep(&(struct timespec){0, 1000000}, NULL);
  return k_increment(call, args, begin, end);
}

static atomic_int increments; // that were counted
static inline int32_t k_counted_increment(leat_call *call, const leat_arg *args, int64_t begin,
                                          int64_t end) {
  increments++;
  return k_increment(call, args, begin, end);
}

// Fails at site 1 on the first element below 0. The first tiles are the last to be looked at.
static inline int32_t k_check(leat_call *call, const leat_arg *args, int64_t begin, int64_t end) {
  const float *a = args[1].pointer;
  if (begin == 0) nanosleep(&(struct timespec){0, 1000000}, NULL);
  for (int64_t i = begin; i < end; i++) {
    call->value = i;
    if (a[i] < 0) return 1 << 8 | LEAT_OUT_OF_RANGE;
  }
  return k_increment(call, args, begin, end);
}

// out = a < b, bools. The first tiles are the first to be there.
static inline int32_t k_less(leat_call *call, const leat_arg *args, int64_t begin, int64_t end) {
  (void)call;
  bool *out = args[0].pointer;
  const float *a = args[1].pointer, *b = args[2].pointer;
  if (begin > 0) nanosleep(&(struct timespec){0, 1000000}, NULL);
  for (int64_t i = begin; i < end; i++) out[i] = a[i] < b[i];
  return 0;
}

// out = a, counted up to; a kernel that may run for ever
static inline int32_t k_count(leat_call *call, const leat_arg *args, int64_t begin, int64_t end) {
  float *out = args[0].pointer;
  const float *a = args[1].pointer;
  for (int64_t i = begin; i < end; i++)
    for (out[i] = 0; out[i] < a[i]; out[i]++)
      if (__atomic_load_n(call->ends, __ATOMIC_RELAXED)) return LEAT_ABORTED;
  return 0;
}

// out = a string of so many bytes, each one more than a's first
enum { NEXT_SIZE = 1000 };
static _Atomic uint64_t most_bytes; // that a heap had, of those which it was called with
static inline int32_t k_next(leat_call *call, const leat_arg *args, int64_t begin, int64_t end) {
  leat_str *out = args[0].pointer;
  const leat_str *a = args[1].pointer;
  for (int64_t i = begin; i < end; i++) {
    char *bytes = leat_string_heap_allocate(call->heap, NEXT_SIZE);
    memset(bytes, (a[i].size ? a[i].data[0] : 0) + 1, NEXT_SIZE);
    out[i] = (leat_str){bytes, NEXT_SIZE};
  }
  uint64_t bytes = call->heap->bytes, before = most_bytes;
  while (bytes > before && !atomic_compare_exchange_weak(&most_bytes, &before, bytes)) continue;
  return 0;
}

// The first tile waits for all others.
static atomic_int tiles_done;
static inline int32_t k_wait_for_rest(leat_call *call, const leat_arg *args, int64_t begin,
                                      int64_t end) {
  int64_t tiles = args[1].value, until = (int64_t)time(NULL) + (int64_t)LONG;
  while (begin == 0 && tiles_done < tiles - end) {
    if (time(NULL) > until) return LEAT_DEADLINE;
    nanosleep(&(struct timespec){0, 100000}, NULL);
  }
  tiles_done += (int)(end - begin);
  (void)call;
  return 0;
}

enum {
  ADD,
  INCREMENT,
  SLOW_INCREMENT,
  CHECK_SIGN,
  LESS,
  COUNT,
  NEXT,
  WAIT_FOR_REST,
  COUNTED_INCREMENT,
  KERNELS
};
static const leat_kernel_function kernels[KERNELS] = {
    k_add,  k_increment,     k_slow_increment,   k_check, k_less, k_count,
    k_next, k_wait_for_rest, k_counted_increment};

static inline image_builder *begin(const char *device) {
  static const char *const names[KERNELS] = {"add",   "increment",     "slow_increment",
                                             "check", "less",          "count",
                                             "next",  "wait_for_rest", "counted_increment"};
  image_builder *b = image_begin(device);
  for (int i = 0; i < KERNELS; i++) {
    leat_text_index name = image_text(b, names[i]);
    IMAGE_ADD(b, kernels, (leat_image_kernel){.symbol = name, .title = name});
  }
  return b;
}

// -- Everything that a test needs, made and destroyed at once ------------------------------------

enum { MOST_PARTS = 3 };

typedef struct fixture {
  leat_image *images[MOST_PARTS];
  leat_program *programs[MOST_PARTS];
  leat_store *stores[MOST_PARTS];
  leat_runtime *runtime;
  leat_executor *executor;
  leat_run *run;
  leat_error error;
} fixture;

static inline bool set_up(fixture *f, leat_runtime_options options,
                          const leat_executor_options *binding, image_builder **builders,
                          int count) {
  *f = (fixture){0};
  leat_part parts[MOST_PARTS];
  if (options.deadline == 0) options.deadline = LONG;
  leat_status status = leat_runtime_create(&options, &f->runtime, &f->error);
  for (int i = 0; i < count; i++) {
    f->images[i] = image_finish(builders[i]);
    leat_program_source source = {.image = f->images[i],
                                  .size = f->images[i]->size,
                                  .kernels = kernels,
                                  .kernel_count = KERNELS};
    if (!status) status = leat_program_load(&source, &f->programs[i], &f->error);
    if (!status) status = leat_store_create(&f->stores[i], &f->error);
    parts[i] = (leat_part){f->programs[i], f->stores[i]};
  }
  leat_executor_options none = {.session = 7};
  if (!status)
    status = leat_executor_create(f->runtime, parts, (size_t)count, binding ? binding : &none,
                                  &f->executor, &f->error);
  if (!status) f->run = leat_run_acquire(f->executor);
  if (status) CHECK_FAILED("set_up: %s", f->error.message);
  return !status;
}

static inline void tear_down(fixture *f) {
  leat_run_release(f->run);
  leat_executor_destroy(f->executor);
  leat_runtime_destroy(f->runtime);
  for (int i = 0; i < MOST_PARTS; i++) {
    leat_program_destroy(f->programs[i]);
    leat_store_destroy(f->stores[i]);
    free(f->images[i]);
  }
}

static inline leat_status execute(fixture *f, uint64_t step, const leat_tensor *feeds,
                                  leat_tensor *fetches) {
  f->error = (leat_error){0};
  return leat_run_execute(f->run, &(leat_run_request){.step = step, .feeds = feeds}, fetches,
                          &f->error);
}

static inline leat_tensor scalar(float *value) {
  return (leat_tensor){.dtype = LEAT_f32, .data = value};
}

static inline leat_tensor vector(float *values, int64_t count) {
  return (leat_tensor){.dtype = LEAT_f32, .rank = 1, .shape = {count}, .data = values};
}

static inline float first(const leat_tensor *tensor) {
  return *(const float *)tensor->data;
}

// y = a + b on scalars
static inline image_builder *sum_image(void) {
  image_builder *b = begin("/job:local/task:0/device:cpu:0");
  leat_image_type type = image_type(LEAT_f32, -1);
  uint32_t a = image_feed(b, "a", type), c = image_feed(b, "b", type);
  uint32_t y = image_arena_buffer(b, 4, type);
  image_launch(b, ADD, 1, 1, BUFFERS((int)y, (int)a, (int)c));
  image_task(b, LEAT_TASK_SEGMENT, 0, 1, "sum");
  image_fetch(b, "y", y);
  return b;
}

#define DEVICE(n) "/job:local/task:0/device:cpu:" #n
enum { PAYLOAD = 64 };

// Of the launch: what k_check finds.
static inline void add_sites(image_builder *b, uint32_t launch, uint32_t count) {
  uint32_t arg = IMAGE_ADD(b, args, (leat_image_arg){.is_scalar = 1, .index = count});
  b->launches[launch].site_first = b->sites_count;
  b->launches[launch].site_count = 2;
  IMAGE_ADD(b, sites, (leat_image_site){.node.name = image_text(b, "net/first")});
  IMAGE_ADD(b, sites,
            (leat_image_site){.node.name = image_text(b, "net/second"),
                              .says = image_text(b, "element %lld of %lld is negative"),
                              .arg_first = arg,
                              .arg_count = 1});
}

// y = kernel(x), sent over edge 1; edge 2 comes back and is fetched.
static inline image_builder *asker_image(uint32_t kernel, const char *self, const char *other) {
  image_builder *b = begin(self);
  uint32_t size = image_constant(b, PAYLOAD);
  leat_image_type type = image_type(LEAT_f32, size);
  uint32_t x = image_feed(b, "x", type), y = image_arena_buffer(b, PAYLOAD * 4, type);
  uint32_t back = image_arena_buffer(b, PAYLOAD * 4, type);
  uint32_t launch = image_launch(b, kernel, PAYLOAD, 1, BUFFERS((int)y, (int)x));
  add_sites(b, launch, size);
  image_task(b, LEAT_TASK_SEGMENT, launch, 1, "ask");
  image_task(b, LEAT_TASK_SEND, image_message(b, 1, y, other), 0, "send");
  image_task(b, LEAT_TASK_RECV, image_message(b, 2, back, other), 0, "recv");
  image_order(b, 0, 1);
  image_fetch(b, "back", back);
  return b;
}

#endif
