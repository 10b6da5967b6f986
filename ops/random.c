// Random bits and permutations: pure functions of (seed, replica, key, count, element), by the
// formulas of ops/random.h.
#include "ops/random.h"

#include "ops/ref.h"
#include "ops/shape.h"

static bool check_count(leat_shape_context *context) {
  return leat_shape_is_dtype(context, 0, LEAT_i64) &&
         (leat_shape_input(context, 0)->rank == 0 ||
          leat_shape_fail(context, "the count must be a scalar"));
}

bool shape_random_bits(leat_shape_context *context) {
  return check_count(context) &&
         leat_shape_of_dims(context, LEAT_u32, leat_node_attr(context->node, "shape"),
                            &context->outputs[0]);
}

bool shape_permutation(leat_shape_context *context) {
  leat_dim n = leat_node_attr(context->node, "n")->dim;
  if (!check_count(context) || !leat_shape_dim_ok(context, n)) return false;
  if (!leat_shape_claim_counted(context, n)) return false;
  context->outputs[0] = (leat_type){.dtype = LEAT_i32, .rank = 1, .dims = {n}};
  return true;
}

static uint64_t key_of(const leat_ref_context *context) {
  return leat_random_key(leat_node_attr(context->node, "seed")->i,
                         leat_node_attr(context->node, "key")->i, context->replica);
}

static uint64_t count_of(const leat_ref_context *context) {
  return (uint64_t) * (const int64_t *)context->inputs[0].data;
}

leat_status ref_random_bits(leat_ref_context *context) {
  leat_tensor *out = &context->outputs[0];
  uint64_t key = key_of(context), count = count_of(context);
  for (int64_t i = 0; i < leat_ref_count(out); i++)
    ((uint32_t *)out->data)[i] = leat_random_word(key, count, (uint64_t)i);
  return LEAT_OK;
}

static uint32_t mix(uint32_t x) {
  x *= LEAT_PERMUTATION_MIX_0;
  x ^= x >> 15;
  x *= LEAT_PERMUTATION_MIX_1;
  return x ^ x >> 13;
}

static uint32_t permute_once(uint32_t value, int half, const uint32_t *round_keys) {
  uint32_t mask = (1u << half) - 1, left = value >> half, right = value & mask;
  for (int round = 0; round < LEAT_PERMUTATION_ROUNDS; round++) {
    uint32_t next = left ^ (mix(right ^ round_keys[round]) & mask);
    left = right;
    right = next;
  }
  return left << half | right;
}

leat_status ref_permutation(leat_ref_context *context) {
  leat_tensor *out = &context->outputs[0];
  int64_t n = out->shape[0];
  if (n > INT32_MAX)
    return leat_ref_fail(context, LEAT_OUT_OF_RANGE, "%lld is more than an i32 can count",
                         (long long)n);
  uint32_t round_keys[LEAT_PERMUTATION_ROUNDS];
  for (int r = 0; r < LEAT_PERMUTATION_ROUNDS; r++)
    round_keys[r] = leat_random_word(key_of(context), count_of(context), (uint64_t)r);
  for (int64_t i = 0; i < n; i++) {
    uint32_t value = (uint32_t)i;
    do value = permute_once(value, leat_permutation_half(n), round_keys);
    while (value >= n);
    ((int32_t *)out->data)[i] = (int32_t)value;
  }
  return LEAT_OK;
}
