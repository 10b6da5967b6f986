// Tests of ops that have kernels of their own, and a program for each, named by what it tests: near
// what ref gives, on cpu for each level that the machine has; and the same bits whatever the
// threads, the dims that are known, and whoever compiles. The seed chooses half of the programs;
// LEAT_SWEEP=N: all.
#ifndef LEAT_TESTS_SWEEP_KERNEL_TESTS_H
#define LEAT_TESTS_SWEEP_KERNEL_TESTS_H

#include "tests/sweep/op_calls.h"
#include "tests/unit/check.h"

#include <stdlib.h>

static const test_way kernel_levels[] = {
    {.name = "ref", .options = {.target = "ref"}},
    {.name = "x86-64-v2", .options = {.cpu = "x86-64-v2"}},
    {.name = "x86-64-v3", .options = {.cpu = "x86-64-v3"}},
    {.name = "host", .options = {.threads = 2}},
};
static const test_way kernel_same[] = {
    {.name = "one thread", .options = {.threads = 1}},
    {.name = "three threads", .options = {.threads = 3}},
    {.name = "four threads", .options = {.threads = 4}},
    {.name = "eight threads", .options = {.threads = 8}},
    {.name = "symbolic", .options = {.symbolic = true}},
    {.name = "c", .options = {.target = "c"}},
};
#define KERNEL_WAYS(ways) ways, (int)(sizeof(ways) / sizeof *(ways))

// Adds statements, and fetches what they give: to be compared by bits, or as near as it is to ref.
typedef void kernel_calls(program *p, bool exact);

static test_value kernel_operand(program *p, leat_dtype dtype, int rank, const test_dim *dims) {
  return program_input(p, dtype, rank, dims, FILL_UNIT, dim_const(0));
}

static void kernel_compare(program *p, const test_way *ways, int count) {
  leat_text why = {0};
  if (getenv("LEAT_SWEEP_SHOW")) fputs(program_text(p, false), stderr);
  if (program_agrees(p, ways, count, p->symbolic ? 3 : 1, &why, NULL))
    CHECK_FAILED("%s\n%s", why.data, program_text(p, false));
  leat_text_finish(&why);
}

static void kernel_test(int number, bool symbolic, bool exact, kernel_calls *add) {
  program p;
  if (!getenv("LEAT_SWEEP") && (test_seed() + (uint64_t)number) % 2)
    CHECK_SKIP("another seed's turn");
  program_init(&p, test_seed() + (uint64_t)number);
  p.symbolic = symbolic;
  add(&p, exact);
  if (exact)
    kernel_compare(&p, KERNEL_WAYS(kernel_same));
  else
    kernel_compare(&p, KERNEL_WAYS(kernel_levels));
  program_finish(&p);
}

#define KERNEL_TESTS(name, add)                                                                    \
  TEST(near_ref) {                                                                                 \
    kernel_test(0, false, false, add);                                                             \
  }                                                                                                \
  TEST(near_ref_of_any_batch) {                                                                    \
    kernel_test(1, true, false, add);                                                              \
  }                                                                                                \
  TEST(same_bits) {                                                                                \
    kernel_test(2, false, true, add);                                                              \
  }                                                                                                \
  TEST(same_bits_of_any_batch) {                                                                   \
    kernel_test(3, true, true, add);                                                               \
  }                                                                                                \
  CHECK_MAIN(name)

#endif
