// f16 and bf16: every one of the 65,536 values widened and narrowed, every rounding boundary from
// f32 and f64, and known cases; by base/half.c, and in kernels by constant folding, which is what
// every target computes.
#include "base/half.h"
#include "kernel/lowering.h"
#include "tests/unit/check.h"

#include <math.h>

enum { VALUES = 1 << 16, SIGN = 0x8000, BATCH = 256, SLOW = 8 };

static int mantissa_bits(leat_dtype dtype) {
  return dtype == LEAT_f16 ? 10 : 7;
}

static int infinity_of(leat_dtype dtype) {
  return 0x7fff >> mantissa_bits(dtype) << mantissa_bits(dtype);
}

static bool is_nan(leat_dtype dtype, int half) {
  return (half & 0x7fff) > infinity_of(dtype);
}

// -- Kernels --------------------------------------------------------------------------------------

static k_builder builder;
static int built;

// Folding leaves instructions in the arena, so every now and then it is a new one.
static k_builder *kernel(void) {
  if (built++ % BATCH == 0) {
    if (builder.arena) leat_arena_destroy(builder.arena);
    k_begin(&builder, leat_arena_create(), "half");
  }
  return &builder;
}

static double kernel_value(leat_dtype dtype, int half) {
  k_builder *b = kernel();
  k_value wide = k_convert(b, dtype, LEAT_f32, k_int(b, LEAT_u16, 1, half));
  CHECK_EQ_INT(wide->op, K_CONST);
  return wide->imm.f;
}

static uint16_t kernel_half(leat_dtype dtype, leat_dtype from, double value) {
  k_builder *b = kernel();
  k_value half = k_convert(b, from, dtype, k_float(b, from, 1, value));
  CHECK_EQ_INT(half->op, K_CONST);
  return (uint16_t)half->imm.i;
}

// -- Widening and back ----------------------------------------------------------------------------

// By the definition of the format.
static double expected_value(leat_dtype dtype, int half) {
  int bits = mantissa_bits(dtype), bias = dtype == LEAT_f16 ? 15 : 127;
  int fraction = half & ((1 << bits) - 1), exponent = (half & 0x7fff) >> bits;
  double value = exponent ? ldexp(1 + ldexp(fraction, -bits), exponent - bias)
                          : ldexp(fraction, 1 - bias - bits);
  if ((half & 0x7fff) == infinity_of(dtype)) value = INFINITY;
  return half & SIGN ? -value : value;
}

static bool same_number(double a, double b) { // -0 is not 0
  return a == b && signbit(a) == signbit(b);
}

static void check_widening(leat_dtype dtype) {
  CHECK_EACH(half, 0, VALUES, SLOW) {
    double value = leat_half_value(dtype, (uint16_t)half), same = kernel_value(dtype, half);
    if (is_nan(dtype, half)) {
      int quiet = half | 1 << (mantissa_bits(dtype) - 1);
      CHECK(isnan(value) && isnan(same));
      CHECK_EQ_INT(leat_half_of(dtype, value), quiet);
      CHECK_EQ_INT(kernel_half(dtype, LEAT_f32, same), quiet);
      continue;
    }
    double expected = expected_value(dtype, half);
    CHECK(same_number(value, expected));
    CHECK(same_number(same, expected));
    CHECK_EQ_INT(leat_half_of(dtype, value), half);
    CHECK_EQ_INT(kernel_half(dtype, LEAT_f32, value), half);
    CHECK_EQ_INT(kernel_half(dtype, LEAT_f64, value), half);
  }
}

TEST(f16_widens_exactly) {
  check_widening(LEAT_f16);
}
TEST(bf16_widens_exactly) {
  check_widening(LEAT_bf16);
}

// -- Rounding -------------------------------------------------------------------------------------

static void check_rounds(leat_dtype dtype, double value, int expected) {
  CHECK_EQ_INT(leat_half_of(dtype, value), expected);
  CHECK_EQ_INT(leat_half_of(dtype, -value), expected | SIGN);
  CHECK_EQ_INT(kernel_half(dtype, LEAT_f64, value), expected);
  CHECK_EQ_INT(kernel_half(dtype, LEAT_f64, -value), expected | SIGN);
  if ((double)(float)value == value) CHECK_EQ_INT(kernel_half(dtype, LEAT_f32, value), expected);
}

// Between each value and the next: the midpoint goes to the even one, what is a bit off to the
// nearer. After the largest comes what would be the next power of two: infinity.
static void check_rounding(leat_dtype dtype) {
  int infinity = infinity_of(dtype);
  CHECK_EACH(half, 0, infinity, SLOW) {
    double low = expected_value(dtype, half), next = expected_value(dtype, half + 1);
    if (half + 1 == infinity) next = 2 * low - expected_value(dtype, half - 1);
    double middle = (low + next) / 2;
    check_rounds(dtype, middle, half + (half & 1));
    check_rounds(dtype, nextafter(middle, 0), half);
    check_rounds(dtype, nextafter(middle, INFINITY), half + 1);
    check_rounds(dtype, (double)nextafterf((float)middle, 0), half);
    check_rounds(dtype, (double)nextafterf((float)middle, INFINITY), half + 1);
  }
}

TEST(f16_rounds_once_to_nearest_even) {
  check_rounding(LEAT_f16);
}
TEST(bf16_rounds_once_to_nearest_even) {
  check_rounding(LEAT_bf16);
}

TEST(known_cases) {
  check_rounds(LEAT_f16, 1, 0x3c00);
  check_rounds(LEAT_f16, 0.1, 0x2e66);
  check_rounds(LEAT_f16, 65504, 0x7bff);
  check_rounds(LEAT_f16, 65519.99, 0x7bff);
  check_rounds(LEAT_f16, 65520, 0x7c00);
  check_rounds(LEAT_f16, 1e300, 0x7c00);
  check_rounds(LEAT_f16, INFINITY, 0x7c00);
  check_rounds(LEAT_f16, 0x1p-24, 1);
  check_rounds(LEAT_f16, 0x1p-25, 0);
  check_rounds(LEAT_f16, 0x1.000002p-25, 1);
  check_rounds(LEAT_f16, 0x1p-1074, 0);
  check_rounds(LEAT_bf16, 1, 0x3f80);
  check_rounds(LEAT_bf16, 0.1, 0x3dcd);
  check_rounds(LEAT_bf16, 3.3895313892515355e38, 0x7f7f);
  check_rounds(LEAT_bf16, 3.4e38, 0x7f80);
  check_rounds(LEAT_bf16, 0x1p-133, 1);
  check_rounds(LEAT_bf16, 0x1p-134, 0);
  check_rounds(LEAT_bf16, 0x1.0000000000001p-134, 1); // by way of an f32 it would be a tie
}

TEST(integers_round_once) {
  k_builder *b = kernel();
  // 2^24 + 2^16 + 1 is above the middle of two bf16; as an f32 it would be that middle.
  k_value x = k_int(b, LEAT_i32, 1, (1 << 24) + (1 << 16) + 1);
  CHECK_EQ_INT(k_convert(b, LEAT_i32, LEAT_bf16, x)->imm.i, 0x4b81);
  CHECK_EQ_INT(leat_half_of(LEAT_bf16, (1 << 24) + (1 << 16) + 1), 0x4b81);
  CHECK_EQ_INT(k_convert(b, LEAT_i64, LEAT_f16, k_i64(b, -70000))->imm.i, 0xfc00);
  CHECK_EQ_INT(k_convert(b, LEAT_f16, LEAT_i8, k_int(b, LEAT_u16, 1, 0x7c00))->imm.i, 127);
  CHECK_EQ_INT(k_convert(b, LEAT_f16, LEAT_bool, k_int(b, LEAT_u16, 1, 0x8000))->imm.i, 0);
}

CHECK_MAIN("half")
