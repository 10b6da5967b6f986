// Counts what a model allocates while it runs: a thousand runs of one shape, and a thousand of
// changing shapes behind the largest; then lends it memory, in which it computes the same and
// allocates nothing. Prints the three numbers.
#define _GNU_SOURCE
#include HEADER // "steady.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static long allocations;

#define COUNTED(name, parameters, arguments)                                                       \
  void *name parameters {                                                                          \
    static void *(*next)parameters;                                                                \
    if (!next) next = (void *(*)parameters)dlsym(RTLD_NEXT, #name);                                \
    __atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);                                         \
    return next arguments;                                                                         \
  }
COUNTED(malloc, (size_t size), (size))
COUNTED(realloc, (void *old, size_t size), (old, size))
COUNTED(aligned_alloc, (size_t alignment, size_t size), (alignment, size))
// dlsym itself asks for some.
void *calloc(size_t count, size_t size) {
  extern void *__libc_calloc(size_t, size_t);
  __atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
  return __libc_calloc(count, size);
}

static float rows[64 * 16];

static void fail(const steady_model *model) {
  fprintf(stderr, "%s\n", steady_message(model));
  exit(1);
}

static void use(steady_model *model, int64_t n) {
  steady_fixed_inputs fixed = {.x = rows};
  steady_fixed_outputs one;
  steady_moving_inputs moving = {.N = n, .x = rows};
  steady_moving_outputs many;
  if (steady_fixed(model, &fixed, &one) || steady_moving(model, &moving, &many)) fail(model);
  if (steady_train(model, &(steady_train_inputs){.x = rows}, &(steady_train_outputs){0}))
    fail(model);
}

static _Alignas(64) unsigned char lent[1 << 20];

// The results are those that were there, in exactly as much memory as is said to be needed.
static void lend(steady_model *model) {
  steady_moving_inputs in = {.N = 64, .x = rows};
  steady_moving_outputs out;
  float own[64], other[64];
  size_t needed, fixed = steady_fixed_memory;
  if (steady_moving(model, &in, &out) || steady_moving_memory(model, &in, &needed)) fail(model);
  memcpy(own, out.y, sizeof own);
  if (needed > sizeof lent || fixed > sizeof lent) exit(2);
  memset(lent, 0xa5, sizeof lent);
  if (leat_model_lend(model, lent, needed) || steady_moving(model, &in, &out)) fail(model);
  memcpy(other, out.y, sizeof other);
  if ((const unsigned char *)out.y < lent || (const unsigned char *)out.y >= lent + needed) exit(3);
  for (size_t i = needed; i < sizeof lent; i++)
    if (lent[i] != 0xa5) exit(4);
  if (memcmp(own, other, sizeof own) != 0) exit(5);
  if (leat_model_lend(model, lent, needed - 1) || !steady_moving(model, &in, &out)) exit(6);
  fprintf(stderr, "%s\n", steady_message(model));
  if (!leat_model_lend(model, lent + 8, needed)) exit(7);
  fprintf(stderr, "%s\n", steady_message(model));
  if (leat_model_lend(model, lent, sizeof lent)) fail(model);
}

static long count(steady_model *model, bool moves) {
  long before = allocations;
  for (int i = 0; i < 1000; i++) use(model, moves ? 1 + i % 64 : 64);
  return allocations - before;
}

int main(int argc, char **argv) {
  steady_model *model;
  int threads = argc > 1 ? atoi(argv[1]) : 1;
  for (int i = 0; i < 64 * 16; i++) rows[i] = (float)(i % 7) - 3;
  if (steady_create(&(leat_model_options){.threads = threads}, &model)) fail(model);
  use(model, 64);
  long steady = count(model, false), moving = count(model, true);
  lend(model);
  use(model, 64);
  printf("%ld %ld %ld\n", steady, moving, count(model, true));
  steady_destroy(model);
  return 0;
}
