// Reductions and the order they promise, products of matrices, random bits and permutations.
#include "base/philox.h"
#include "ops/random.h"
#include "ops/reduce.h"
#include "tests/unit/built.h"

#include <math.h>

// -- Reductions ----------------------------------------------------------------------------------

TEST(reductions) {
  start();
  leat_value x = X23, f = V(f32, 2, SHAPE(2, 3), 1, NAN, 3, -0.0, 0.0, -5);
  CHECK_VALUE(OP(sum, IN(x), LIST(0), I(0)), "i32[3] = [5, 7, 9]");
  CHECK_VALUE(OP(sum, IN(x), LIST(1), I(1)), "i32[2, 1] = [[6], [15]]");
  CHECK_VALUE(OP(sum, IN(x), LIST(0, 1), I(0)), "i32[] = 21");
  CHECK_VALUE(OP(sum, IN(x), NO_INTS, I(0)), "i32[2, 3] = [[1, 2, 3], [4, 5, 6]]");
  CHECK_VALUE(OP(sum, IN(V1(u8, 200, 100)), LIST(0), I(0)), "u8[] = 44");
  CHECK_VALUE(OP(sum, IN(V1(f32, -0.0)), LIST(0), I(0)), "f32[] = -0.0");
  CHECK_VALUE(OP(sum, IN(V(f32, 2, SHAPE(2, 0), 0)), LIST(1), I(0)), "f32[2] = [0.0, 0.0]");
  CHECK_VALUE(OP(prod, IN(x), LIST(1), I(0)), "i32[2] = [6, 120]");
  CHECK_VALUE(OP(prod, IN(V1(u8, 200, 2)), LIST(0), I(0)), "u8[] = 144");
  CHECK_VALUE(OP(prod, IN(V1(f32, -0.0, 3)), LIST(0), I(0)), "f32[] = -0.0");
  CHECK_VALUE(OP(prod, IN(V(f32, 2, SHAPE(2, 0), 0)), LIST(1), I(0)), "f32[2] = [1.0, 1.0]");
  leat_value p = V(bool, 2, SHAPE(3, 2), 0, 0, 0, 1, 1, 1), none = V(bool, 2, SHAPE(2, 0), 0);
  CHECK_VALUE(OP(any, IN(p), LIST(1), I(0)), "bool[3] = [false, true, true]");
  CHECK_VALUE(OP(all, IN(p), LIST(1), I(0)), "bool[3] = [false, false, true]");
  CHECK_VALUE(OP(any, IN(none), LIST(1), I(0)), "bool[2] = [false, false]");
  CHECK_VALUE(OP(all, IN(none), LIST(1), I(0)), "bool[2] = [true, true]");
  CHECK_REFUSED(OP(any, IN(x), LIST(1), I(0)), "any takes bool, not i32");
  CHECK_VALUE(OP(max, IN(f), LIST(1), I(0)), "f32[2] = [nan, 0.0]");
  CHECK_VALUE(OP(min, IN(f), LIST(0), I(1)), "f32[1, 3] = [[-0.0, nan, -5.0]]");
  CHECK_VALUE(OP(max, IN(V1(f32, 0.0, -0.0)), LIST(0), I(0)), "f32[] = 0.0");
  CHECK_VALUE(OP(min, IN(V1(f32, 0.0, -0.0)), LIST(0), I(0)), "f32[] = -0.0");
  CHECK_VALUE(OP(min, IN(V1(u64, 3, 18e18)), LIST(0), I(0)), "u64[] = 3");
  CHECK_VALUE(OP(argmax, IN(f), LIST(1), I(0)), "i32[2] = [1, 0]");
  CHECK_VALUE(OP(argmax, IN(V1(i32, 1, 5, 5)), LIST(0), I(1)), "i32[1] = [1]");
  CHECK_VALUE(OP(argmax, IN(x), LIST(0, 1), I(0)), "i32[] = 5");
  CHECK_VALUE(OP(argmin, IN(f), LIST(1), I(0)), "i32[2] = [1, 2]");
  CHECK_VALUE(OP(argmin, IN(V1(u8, 255, 1, 1)), LIST(0), I(0)), "i32[] = 1");
  CHECK_TYPE(OP(sum, IN(F(f64, named("B"), num(2), named("T"))), LIST(0, 2), I(1)), "f64[1, 2, 1]");
  CHECK_REFUSED(OP(sum, IN(x), LIST(1, 0), I(0)), "the axes are not in ascending order");
  CHECK_REFUSED(OP(sum, IN(x), LIST(2), I(0)), "there is no axis 2");
  CHECK_REFUSED(OP(max, IN(V(f32, 2, SHAPE(2, 0), 0)), LIST(1), I(0)),
                "axis 1 has no elements to choose from");
  CHECK_REFUSED(OP(argmax, IN(F(f32, num(65536), num(65536))), LIST(0, 1), I(0)),
                "more than an i32 can count");
  leat_value i = OP(iota, NONE, DIMS(named("B")), I(0), I(LEAT_i32));
  set_dim("B", 0);
  leat_value m = OP(max, IN(i), LIST(0), I(0));
  CHECK(strstr(value_of(m), "there are no elements to choose from"));
}

static float *noise(int64_t count) {
  float *data = leat_new_array(arena, float, (size_t)count);
  for (int64_t i = 0; i < count; i++)
    data[i] = (float)leat_random_word(1, 0, (uint64_t)i) / 4e9f - 0.3f;
  return data;
}

static float sum_lanes(const float *x, int64_t rows, int64_t row_step, int64_t n) {
  float a[LEAT_REDUCE_LANES];
  for (int i = 0; i < 16; i++) a[i] = -0.0f;
  for (int64_t r = 0; r < rows; r++)
    for (int64_t i = 0; i < n; i++) a[i & 15] += x[r * row_step + i];
  for (int i = 0; i < 8; i++) a[i] += a[i + 8];
  for (int i = 0; i < 4; i++) a[i] += a[i + 4];
  return (a[0] + a[2]) + (a[1] + a[3]);
}

// The result of a sum of noise of that shape, bit by bit.
static float sum_of_noise(int32_t rank, const int64_t *shape, leat_attr axes) {
  leat_tensor t = {.dtype = LEAT_f32, .rank = rank}, out;
  for (int32_t i = 0; i < rank; i++) t.shape[i] = shape[i];
  t.data = noise(leat_shape_elements(rank, shape));
  leat_value y = OP(sum, IN(leat_build_const(&builder, "c", &t)), axes, I(0));
  CHECK_EQ_INT(evaluate(y, &out), LEAT_OK);
  return *(float *)out.data;
}

TEST(sums_keep_the_promised_order) {
  start();
  float *x = noise(100000);
  leat_attr both = LIST(0, 1), first = LIST(0), ends = LIST(0, 2);
  // One logical axis, shorter and longer than a block.
  CHECK(sum_of_noise(2, SHAPE(3, 37), both) == sum_lanes(x, 1, 0, 111));
  float blocks[] = {sum_lanes(x, 1, 0, 16384), sum_lanes(x + 16384, 1, 0, 16384),
                    sum_lanes(x + 32768, 1, 0, 7232)};
  CHECK(sum_of_noise(2, SHAPE(200, 200), both) == sum_lanes(blocks, 1, 0, 3));
  // Two logical axes, the first output of [2, 3, 20] and of [2, 2, 20000] over 0 and 2.
  CHECK(sum_of_noise(3, SHAPE(2, 3, 20), ends) == sum_lanes(x, 2, 60, 20));
  float rows[] = {sum_lanes(x, 1, 0, 16384), sum_lanes(x + 16384, 1, 0, 3616),
                  sum_lanes(x + 40000, 1, 0, 16384), sum_lanes(x + 56384, 1, 0, 3616)};
  CHECK(sum_of_noise(3, SHAPE(2, 2, 20000), ends) == sum_lanes(rows, 2, 2, 2));
  // The innermost axis stays.
  float total = -0.0f;
  for (int64_t i = 0; i < 3000; i += 1024) {
    float block = -0.0f;
    for (int64_t k = i; k < 3000 && k < i + 1024; k++) block += x[k * 2];
    total += block;
  }
  CHECK(sum_of_noise(2, SHAPE(3000, 2), first) == total);
}

// -- Contractions --------------------------------------------------------------------------------

static leat_value matmul(leat_value a, leat_value b, bool transpose_a, bool transpose_b) {
  return OP(matmul, IN(a, b), I(transpose_a), I(transpose_b), {.string = ""});
}

TEST(matmul) {
  start();
  leat_value a = X23, b = V(i32, 2, SHAPE(3, 2), 1, 2, 3, 4, 5, 6);
  CHECK_VALUE(matmul(a, b, 0, 0), "i32[2, 2] = [[22, 28], [49, 64]]");
  CHECK_VALUE(matmul(a, a, 0, 1), "i32[2, 2] = [[14, 32], [32, 77]]");
  CHECK_VALUE(matmul(a, a, 1, 0), "i32[3, 3] = [[17, 22, 27], [22, 29, 36], [27, 36, 45]]");
  CHECK_VALUE(matmul(b, a, 1, 1), "i32[2, 2] = [[22, 49], [28, 64]]");
  leat_value batch = V(f32, 3, SHAPE(2, 1, 2), 1, 2, 3, 4), column = V(f32, 2, SHAPE(2, 1), 1, 10);
  CHECK_VALUE(matmul(batch, column, 0, 0), "f32[2, 1, 1] = [[[21.0]], [[43.0]]]");
  leat_value columns = V(f32, 3, SHAPE(2, 2, 1), 1, 10, 2, 20), row = V(f32, 2, SHAPE(1, 2), 1, 1);
  CHECK_VALUE(matmul(batch, columns, 0, 0), "f32[2, 1, 1] = [[[21.0]], [[86.0]]]");
  CHECK_VALUE(matmul(row, columns, 0, 0), "f32[2, 1, 1] = [[[11.0]], [[22.0]]]");
  // fma: 1 + e squared less 1 keeps what a rounded product would lose.
  float e = 1 + ldexpf(1, -12);
  CHECK_VALUE(matmul(V(f32, 2, SHAPE(1, 2), -1, e), V(f32, 2, SHAPE(2, 1), 1, e), 0, 0),
              "f32[1, 1] = [[0.00048834085]]");
  CHECK_VALUE(matmul(V(f32, 2, SHAPE(1, 0), 0), V(f32, 2, SHAPE(0, 2), 0), 0, 0),
              "f32[1, 2] = [[0.0, 0.0]]");
  CHECK_TYPE(matmul(F(f32, named("B"), num(64)), F(f32, num(64), num(10)), 0, 0), "f32[B, 10]");
  CHECK_TYPE(
      matmul(F(f32, named("B"), num(1), num(5), num(6)), F(f32, num(3), num(7), num(6)), 0, 1),
      "f32[B, 3, 5, 7]");
  CHECK_REFUSED(matmul(F(f32, named("B"), num(64)), F(f32, num(32), num(10)), 0, 0),
                "matmul of f32[B, 64] and f32[32, 10]: axis 1 of the first and axis 0 of the "
                "second: 64 and 32 differ");
  leat_value vector = V1(f32, 1, 10);
  CHECK_VALUE(matmul(V1(f32, 1), row, 0, 0), "f32[2] = [1.0, 1.0]");
  CHECK_VALUE(matmul(vector, vector, 1, 1), "f32[] = 101.0");
  CHECK_VALUE(matmul(batch, vector, 0, 0), "f32[2, 1] = [[21.0], [43.0]]");
  CHECK_VALUE(matmul(vector, columns, 0, 0), "f32[2, 1] = [[101.0], [202.0]]");
  CHECK_REFUSED(matmul(number(LEAT_f32, 1), row, 0, 0), "a scalar has no axis to contract");
  CHECK_REFUSED(matmul(batch, F(f32, num(3), num(2), num(1)), 0, 0), "axis 0: 2 and 3 differ");
}

// -- Random --------------------------------------------------------------------------------------

static leat_value bits(int64_t seed, int64_t key, int64_t count) {
  leat_value n = leat_build_scalar_i64(&builder, "c", LEAT_i64, count);
  return OP(random_bits, IN(n), I(seed), I(key), DIMS(num(6)));
}

TEST(random_bits) {
  start();
  // Random123's known answer for a zero counter and key, then block 1.
  uint32_t next[4];
  leat_philox((const uint32_t[4]){1, 0, 0, 0}, (const uint32_t[2]){0, 0}, next);
  CHECK_VALUE(bits(0, 0, 0),
              leat_arena_printf(arena, "u32[6] = [%u, %u, %u, %u, %u, %u]", 0x6627e8d5u,
                                0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u, next[0], next[1]));
  const char *base = value_of(bits(1, 2, 3));
  CHECK_EQ_STR(value_of(bits(1, 2, 3)), base);
  CHECK(strcmp(value_of(bits(2, 2, 3)), base) && strcmp(value_of(bits(1, 3, 3)), base));
  CHECK(strcmp(value_of(bits(1, 2, -3)), base));
  replica = 1;
  CHECK(strcmp(value_of(bits(1, 2, 3)), base));
  leat_value wrong = V1(i64, 1, 2), narrow = number(LEAT_i32, 1);
  CHECK_REFUSED(OP(random_bits, IN(wrong), I(0), I(0), DIMS(num(6))), "the count must be a scalar");
  CHECK_REFUSED(OP(random_bits, IN(narrow), I(0), I(0), DIMS(num(6))), "input 1 must be i64");
}

static bool is_permutation(const leat_tensor *t) {
  bool *seen = leat_new_array(arena, bool, (size_t)t->shape[0] + 1);
  for (int64_t i = 0; i < t->shape[0]; i++) {
    int32_t value = ((int32_t *)t->data)[i];
    if (value < 0 || value >= t->shape[0] || seen[value]) return false;
    seen[value] = true;
  }
  return true;
}

TEST(permutation) {
  start();
  const int64_t sizes[] = {0, 1, 2, 3, 4, 5, 16, 17, 100, 1438, 4096, 70000};
  leat_tensor t, other;
  leat_value c0 = leat_build_scalar_i64(&builder, "c", LEAT_i64, 0);
  leat_value c1 = leat_build_scalar_i64(&builder, "c", LEAT_i64, 1);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    leat_attr attrs[] = {I(7), I(9), {.dim = num(sizes[i])}};
    CHECK_EQ_INT(evaluate(op(LEAT_OP_permutation, &c0, 1, attrs), &t), LEAT_OK);
    CHECK(is_permutation(&t));
    CHECK_EQ_INT(evaluate(op(LEAT_OP_permutation, &c1, 1, attrs), &other), LEAT_OK);
    int64_t fixed = 0;
    for (int64_t k = 0; k < sizes[i]; k++)
      fixed += ((int32_t *)t.data)[k] == ((int32_t *)other.data)[k];
    if (sizes[i] >= 100) CHECK(fixed < 10);
  }
  CHECK_EQ_INT(leat_permutation_half(4), 1);
  CHECK_EQ_INT(leat_permutation_half(5), 2);
  CHECK_EQ_INT(leat_permutation_half(INT32_MAX), 16);
  leat_attr attrs[] = {I(7), I(9), {.dim = num(INT64_MAX)}};
  CHECK_REFUSED(op(LEAT_OP_permutation, &c0, 1, attrs), "more than an i32 can count");
}

CHECK_MAIN("ops_folds")
