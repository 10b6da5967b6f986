// The machine's limit for products on one processor: what a hundred million multiply-adds of f32
// take in registers, with the instructions of a level of x86-64 or, on other machines, of vectors
// of 16 bytes.
//
//     peak [LEVEL]           then, a line each on standard input: how many times
#include "bench/bench.h"

#include "base/cpuid.h"

#include <string.h>

#define SUMS 12 // that do not wait for each other: two pipes, four to six cycles
#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define WORK 1e8 // multiply-adds
#define TURNS 100000

#ifdef __x86_64__
#define REGISTER "+v"
#elif defined(__aarch64__)
#define REGISTER "+w"
#else
#define REGISTER "+m"
#endif

// Compiled with -ffp-contract=fast: an fma where the level has one. Where it has none the product
// waits for no sum, as in a product of matrices; the compiler cannot know that it is the same.
#define DECLARE(i) vector a##i = {i};
#define TURN(i)                                                                                    \
  {                                                                                                \
    vector other = factor;                                                                         \
    __asm__ volatile("" : REGISTER(other));                                                        \
    a##i += other * factor;                                                                        \
  }
#define ADD(i) +a##i[0]
#define LEVEL(name, bytes, attribute)                                                              \
  attribute static float name(float x) {                                                           \
    typedef float vector __attribute__((vector_size(bytes)));                                      \
    vector factor = {0};                                                                           \
    factor += x;                                                                                   \
    EACH(DECLARE)                                                                                  \
    for (long turns = TURNS; turns > 0; turns--) {                                                 \
      EACH(TURN)                                                                                   \
    }                                                                                              \
    return 0 EACH(ADD);                                                                            \
  }

typedef struct level_code {
  float (*run)(float x);
  int bytes; // of its vectors
} level_code;

#ifdef __x86_64__
LEVEL(with_sse, 16, )
LEVEL(with_avx2, 32, __attribute__((target("avx2,fma"))))
LEVEL(with_avx512, 64, __attribute__((target("avx512f"))))

static const level_code levels[] = {
    [LEAT_CPU_BASELINE] = {with_sse, 16},
    [LEAT_CPU_SSE4] = {with_sse, 16},
    [LEAT_CPU_AVX2] = {with_avx2, 32},
    [LEAT_CPU_AVX512] = {with_avx512, 64},
};
#else
LEVEL(with_vectors, 16, )

static const level_code levels[] = {[LEAT_CPU_BASELINE] = {with_vectors, 16}};
#endif

static void run(void *code) {
  static volatile float half = 0.5f, sum = 0;
  sum = sum + ((const level_code *)code)->run(half);
}

int main(int argc, char **argv) {
  leat_cpu_level level;
  if (argc > 2 || !leat_cpu_level_parse(argc == 2 ? argv[1] : "host", &level) ||
      level > leat_cpu_host_level())
    return fprintf(stderr, "usage: peak [LEVEL], one that this machine has\n"), 2;
  level_code code = levels[level];
  return !serve(run, &code, WORK / ((double)TURNS * SUMS * code.bytes / sizeof(float)));
}
