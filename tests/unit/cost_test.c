// ops/cost.h: the rates follow a machine's registers, and what is not known counts.
#include "tests/unit/passes_fixture.h"

#include "ops/cost.h"

static const leat_target_info *level(leat_cpu_level level) {
  return leat_target_info_find("x86_64", level);
}

// Of f32 by vectors of 64 bytes, in parts of it.
static int share(const leat_target_info *target, leat_dtype dtype) {
  return (int)(leat_cost_flops(level(LEAT_CPU_AVX512), LEAT_f32) / leat_cost_flops(target, dtype));
}

TEST(rates_follow_the_registers) {
  CHECK_EQ_INT(share(level(LEAT_CPU_AVX512), LEAT_f64), 2);
  CHECK_EQ_INT(share(level(LEAT_CPU_AVX2), LEAT_f32), 2);
  CHECK_EQ_INT(share(level(LEAT_CPU_SSE4), LEAT_f32), 8); // it multiplies, then adds
  CHECK_EQ_INT(share(leat_target_info_find("aarch64", LEAT_CPU_BASELINE), LEAT_f32), 4);
  CHECK_EQ_INT(share(leat_target_info_find("riscv64", LEAT_CPU_BASELINE), LEAT_f64), 16);
  double wide = leat_cost_element(level(LEAT_CPU_AVX512), LEAT_OP_exp);
  CHECK(leat_cost_element(level(LEAT_CPU_SSE4), LEAT_OP_exp) == 4 * wide);
  CHECK(wide == 10 * leat_cost_instruction(level(LEAT_CPU_AVX512)));
}

TEST(what_is_not_known_counts) {
  fixture f;
  set_up(&f);
  leat_dim dims[] = {leat_dim_named(f.session->dims, "B", 0, INT64_MAX), leat_dim_const(3)};
  leat_type type = {.dtype = LEAT_f64, .rank = 2, .dims = {dims[0], dims[1]}};
  CHECK(leat_cost_elements(dims, 2) == 3 * LEAT_UNKNOWN_EXTENT);
  CHECK(leat_cost_bytes(&type) == 8 * 3 * LEAT_UNKNOWN_EXTENT);
  CHECK(leat_cost_copy(&type) * LEAT_CACHE_RATE == 2 * leat_cost_bytes(&type));
  tear_down(&f);
}

// Columns are computed by vectors of LEAT_LANES; what renames elements is no work.
TEST(a_node_is_what_it_computes_and_moves) {
  fixture f;
  set_up(&f);
  new_entry(&f, "e");
  leat_value a = param(&f, "a", type_of(LEAT_f32, 2, 30, 50));
  leat_value b = param(&f, "b", type_of(LEAT_f32, 2, 50, 20));
  const leat_attr attrs[] = {{.i = 0}, {.i = 0}, {.string = leat_intern(f.strings, "")}};
  leat_value c = op(&f, "c", LEAT_OP_matmul, a, b, attrs);
  leat_type row = type_of(LEAT_f32, 1, 600, 0);
  leat_value d = leat_build_reshape(&f.b, "d", c, &row);
  const leat_target_info *target = f.context.target;
  leat_work work = leat_cost_work(target, c.node), none = leat_cost_work(target, d.node);
  double products = 2.0 * 30 * 32 * 50 / leat_cost_flops(target, LEAT_f32);
  CHECK(work.bytes == 4 * (30 * 50 + 50 * 20 + 30 * 20));
  CHECK(work.computing >= products && work.computing < products * 1.1);
  CHECK(none.computing == 0 && none.bytes == 0);
  CHECK(leat_cost_nanoseconds(work) == work.computing + work.bytes / LEAT_CACHE_RATE);
  tear_down(&f);
}

// 3 x 3 in many channels gains by transforms, most where processors multiply slowly; few channels
// do not. The gradient of the weights has sums to add behind it.
TEST(a_convolution_gains_by_its_channels) {
  const leat_target_info *fast = level(LEAT_CPU_AVX512), *slow = level(LEAT_CPU_SSE4);
  leat_convolution c = {3, false, 8, 28, 28, 128, 128}, few = c, weights = c;
  few.channels = few.outputs = 8;
  weights.weights = true;
  double gain = leat_cost_convolution(fast, &c, 0) / leat_cost_convolution(fast, &c, 4);
  CHECK(gain > 2 && gain < leat_cost_convolution(slow, &c, 0) / leat_cost_convolution(slow, &c, 4));
  CHECK(leat_cost_convolution(fast, &c, 4) < leat_cost_convolution(fast, &c, 2));
  CHECK(leat_cost_convolution(fast, &few, 0) < leat_cost_convolution(fast, &few, 4));
  CHECK(leat_cost_convolution(fast, &weights, 4) > leat_cost_convolution(fast, &c, 4));
  CHECK(leat_cost_convolution(fast, &weights, 0) == leat_cost_convolution(fast, &c, 0));
}

CHECK_MAIN("cost")
