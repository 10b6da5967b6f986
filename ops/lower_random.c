// Lowering of random bits and permutations, by the formulas of ops/random.h.
#include "ops/ops.h"
#include "ops/random.h"

static k_value key_of(leat_lowering *l, const leat_node *node) {
  int64_t seed = leat_node_attr(node, "seed")->i, key = leat_node_attr(node, "key")->i;
  return l->key(l, (int64_t)leat_random_key(seed, key, 0));
}

k_value lower_random_bits(leat_lowering *l, const leat_node *node, const leat_index *at) {
  leat_index element = l->element(l, node, at);
  k_value count = leat_operand(l, node, 0, at);
  return k_philox(l->b, leat_index_value(l, element), count, key_of(l, node));
}

static k_value u32(leat_lowering *l, uint32_t value) {
  return k_int(l->b, LEAT_u32, 1, value);
}

static k_value mix(leat_lowering *l, k_value x) {
  x = k_mul(l->b, x, u32(l, LEAT_PERMUTATION_MIX_0));
  x = k_binary(l->b, K_XOR, x, k_binary(l->b, K_SHR, x, u32(l, 15)));
  x = k_mul(l->b, x, u32(l, LEAT_PERMUTATION_MIX_1));
  return k_binary(l->b, K_XOR, x, k_binary(l->b, K_SHR, x, u32(l, 13)));
}

// Half the bits of the network, as leat_permutation_half.
static k_value half_of(leat_lowering *l, k_value n) {
  k_value half = k_i64(l->b, 1);
  for (int h = 1; h < 16; h++) {
    k_value more = k_lt(l->b, k_i64(l->b, (int64_t)1 << 2 * h), n);
    half = k_add(l->b, half, k_cast(l->b, LEAT_i64, more));
  }
  return k_cast(l->b, LEAT_u32, half);
}

k_value lower_permutation(leat_lowering *l, const leat_node *node, const leat_index *at) {
  k_builder *b = l->b;
  k_value n = l->dim(l, node->outputs[0].dims[0]);
  k_value half = half_of(l, n), limit = k_cast(b, LEAT_u32, n);
  k_value bits = k_sub(b, k_binary(b, K_SHL, u32(l, 1), half), u32(l, 1));
  int lanes = l->lanes;
  l->lanes = 1;
  k_value count = leat_operand(l, node, 0, at), keys[LEAT_PERMUTATION_ROUNDS];
  l->lanes = lanes;
  for (int round = 0; round < LEAT_PERMUTATION_ROUNDS; round++)
    keys[round] = k_philox(b, k_i64(b, round), count, key_of(l, node));

  // Lanes walk until their value is below n; the first walk is for all.
  k_value initial[] = {k_cast(b, LEAT_u32, leat_index_value(l, at[0])),
                       k_int(b, LEAT_bool, lanes, 1)};
  if (l->mask) initial[1] = l->mask;
  k_instr *walk = k_while_begin(b, initial, 2);
  k_value value = k_loop_carried(walk, 0), outside = k_loop_carried(walk, 1);
  k_while_do(b, k_any(b, outside));
  k_value left = k_binary(b, K_SHR, value, half), right = k_binary(b, K_AND, value, bits);
  for (int round = 0; round < LEAT_PERMUTATION_ROUNDS; round++) {
    k_value mixed = mix(l, k_binary(b, K_XOR, right, keys[round]));
    k_value next = k_binary(b, K_XOR, left, k_binary(b, K_AND, mixed, bits));
    left = right;
    right = next;
  }
  k_value walked = k_binary(b, K_OR, k_binary(b, K_SHL, left, half), right);
  k_value next[2] = {k_select(b, outside, walked, value)};
  next[1] = k_binary(b, K_AND, outside, k_binary(b, K_LE, limit, next[0]));
  k_while_end(b, next, 2);
  return k_cast(b, LEAT_i32, k_result(b, walk, 0));
}
