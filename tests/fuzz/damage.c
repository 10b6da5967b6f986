// Drives a fuzz target without libFuzzer: NAME_fuzz MUTANTS FILE…
//
// Each file as it is, then MUTANTS of them with a few bytes changed, cut out, doubled or brought
// from another file: the same ones every time. An input that takes longer than the alarm ends the
// program, as one that crashes does; the number of the mutant and its file are shown then.
#include "tests/fuzz/fuzz.h"

#include "base/file.h"
#include "base/philox.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 16, MOST_PIECE = 64, SECONDS_EACH = 20 };

typedef struct seed {
  char *data;
  size_t size;
} seed;

static uint32_t random_index; // of Philox: counts the numbers drawn

static uint32_t random_below(size_t bound) {
  uint32_t random[4];
  leat_philox((uint32_t[]){random_index++, 0, 0, 0}, (uint32_t[]){1, 0}, random);
  return bound ? (uint32_t)(random[0] % bound) : 0;
}

// One change of `input`, whose room is MOST_BYTES.
static size_t damage(uint8_t *input, size_t size, const seed *other) {
  static const uint64_t numbers[] = {
      0, 1, 0x7f, 0x80, 0xff, 0xffff, 0x7fffffff, 0x80000000u, UINT32_MAX, INT64_MAX, 1ull << 63};
  size_t at = random_below(size + 1), left = size - at;
  size_t piece = 1 + random_below(MOST_PIECE);
  switch (random_below(5)) {
  case 0: // a byte
    if (left) input[at] = (uint8_t)random_below(256);
    return size;
  case 1: { // a number at an aligned place
    size_t bytes = 1u << random_below(4);
    at -= at % bytes;
    uint64_t number = numbers[random_below(sizeof numbers / sizeof *numbers)];
    if (at + bytes <= size) memcpy(input + at, &number, bytes);
    return size;
  }
  case 2: // a piece goes
    if (piece > left) piece = left;
    memmove(input + at, input + at + piece, left - piece);
    return size - piece;
  case 3: { // a piece of the same or another file comes
    if (piece > other->size) piece = other->size;
    if (size + piece > MOST_BYTES) return size;
    memmove(input + at + piece, input + at, left);
    memcpy(input + at, other->data + random_below(other->size - piece + 1), piece);
    return size + piece;
  }
  default: // a bit
    if (left) input[at] ^= (uint8_t)(1u << random_below(8));
    return size;
  }
}

static char current[256]; // what is tried, for the alarm

static void too_slow(int number) {
  (void)number;
  (void)!write(2, current, strlen(current));
  _exit(3);
}

static void try_input(const char *path, unsigned long mutant, const uint8_t *data, size_t size) {
  uint8_t *copy = malloc(size ? size : 1); // of its exact size for the sanitizer
  memcpy(copy, data, size);
  snprintf(current, sizeof current, "too slow: mutant %lu, of %s\n", mutant, path);
  alarm(SECONDS_EACH);
  LLVMFuzzerTestOneInput(copy, size);
  alarm(0);
  free(copy);
}

int main(int argc, char **argv) {
  unsigned long mutants = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
  int count = argc > 2 ? argc - 2 : 0;
  char **paths = argv + 2;
  seed *seeds = calloc((size_t)count + 1, sizeof *seeds);
  uint8_t *input = malloc(MOST_BYTES);
  signal(SIGALRM, too_slow);
  for (int i = 0; i < count; i++) {
    leat_error error = {0};
    if (leat_file_read(paths[i], MOST_BYTES, &seeds[i].data, &seeds[i].size, &error)) {
      fprintf(stderr, "%s\n", error.message);
      return 1;
    }
    try_input(paths[i], 0, (uint8_t *)seeds[i].data, seeds[i].size);
  }
  for (unsigned long i = 1; count && i <= mutants; i++) {
    const seed *from = &seeds[i % (unsigned long)count];
    size_t size = from->size;
    memcpy(input, from->data, size);
    for (uint32_t changes = 1 + random_below(4); changes > 0; changes--)
      size = damage(input, size, random_below(2) ? from : &seeds[random_below((size_t)count)]);
    try_input(paths[i % (unsigned long)count], i, input, size);
  }
  for (int i = 0; i < count; i++) free(seeds[i].data);
  free(seeds);
  free(input);
  return 0;
}
