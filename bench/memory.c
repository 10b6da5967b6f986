// The machine's bandwidth on one processor: what it takes to read 64 MB, or to copy them with
// memcpy.
//
//     memory read|copy       then, a line each on standard input: how many times
#include "bench/bench.h"

#include <stdint.h>
#include <string.h>

#define WORDS (8 << 20)
typedef uint64_t vector __attribute__((vector_size(64)));

static uint64_t sum(const uint64_t *words) {
  const vector *from = (const vector *)words;
  vector a = {0}, b = {0}; // sums that do not wait for each other
  for (int i = 0; i < WORDS / 8; i += 2) {
    a += from[i];
    b += from[i + 1];
  }
  a += b;
  return a[0] + a[1] + a[2] + a[3] + a[4] + a[5] + a[6] + a[7];
}

int main(int argc, char **argv) {
  if (argc != 2) return fprintf(stderr, "usage: memory read|copy\n"), 2;
  bool copies = strcmp(argv[1], "copy") == 0;
  size_t size = WORDS * sizeof(uint64_t);
  uint64_t *from = aligned_alloc(64, size), *to = aligned_alloc(64, size), check = 0;
  if (!from || !to) return 1;
  memset(from, 1, size);
  memset(to, 2, size);
  for (int runs; (runs = next_round()) > 0;) {
    double *seconds = calloc((size_t)runs, sizeof *seconds);
    if (!seconds) return 1;
    for (int i = 0; i < runs; i++) {
      double start = now();
      if (copies) memcpy(to, from, size);
      check += copies ? to[i] : sum(from);
      seconds[i] = now() - start;
    }
    printf("{\"ms\": %.6f, \"check\": %llu}\n", 1e3 * median(seconds, runs),
           (unsigned long long)check);
    fflush(stdout);
    free(seconds);
  }
  free(from);
  free(to);
  return 0;
}
