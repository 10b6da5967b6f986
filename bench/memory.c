// The machine's bandwidth on one processor: what it takes to read 64 MB, or to copy them with
// memcpy.
//
//     memory read|copy       then, a line each on standard input: how many times
#include "bench/bench.h"

#include <stdint.h>
#include <string.h>

#define WORDS (8 << 20)
typedef uint64_t vector __attribute__((vector_size(64)));

#define STREAMS 8 // read at once, ahead of their use: more memory is on its way than by one
#define AHEAD 16  // vectors

static uint64_t sum(const uint64_t *words) {
  const vector *from = (const vector *)words;
  const int each = WORDS / 8 / STREAMS;
  vector sums[STREAMS] = {0}, all = {0};
  for (int i = 0; i < each; i++) {
#pragma GCC unroll 8
    for (int s = 0; s < STREAMS; s++) {
      sums[s] += from[s * each + i];
      __builtin_prefetch(&from[s * each + i + AHEAD]);
    }
  }
  for (int s = 0; s < STREAMS; s++) all += sums[s];
  return all[0] + all[1] + all[2] + all[3] + all[4] + all[5] + all[6] + all[7];
}

typedef struct blocks {
  uint64_t *from, *to;
} blocks;

static void read_once(void *context) {
  static volatile uint64_t check;
  check = check + sum(((blocks *)context)->from);
}

static void copy_once(void *context) {
  blocks *b = context;
  memcpy(b->to, b->from, WORDS * sizeof(uint64_t));
}

int main(int argc, char **argv) {
  if (argc != 2) return fprintf(stderr, "usage: memory read|copy\n"), 2;
  size_t size = WORDS * sizeof(uint64_t);
  blocks b = {.from = aligned_alloc(64, size), .to = aligned_alloc(64, size)};
  if (!b.from || !b.to) return 1;
  memset(b.from, 1, size);
  memset(b.to, 2, size);
  bool served = serve(strcmp(argv[1], "copy") == 0 ? copy_once : read_once, &b, 1);
  free(b.from);
  free(b.to);
  return !served;
}
