// Philox4x32-10 (base/philox.h) as kernel code. Every lane makes the four words of its block and
// takes one of them. Words are u64 lanes of which the low half counts: what is above is masked off
// where it would matter, which is before a product (whose instruction reads the low halves alone).
#include "base/philox.h"

#include "kernel/math_parts.h"

static k_value xor_of(k_builder *b, k_value x, k_value y, k_value z) {
  return k_binary(b, K_XOR, k_binary(b, K_XOR, x, y), z);
}

// c = {high(m1 · c2) ^ c1 ^ k0, low(m1 · c2), high(m0 · c0) ^ c3 ^ k1, low(m0 · c0)}
static void rounds(k_builder *b, k_value *c, k_value key) {
  k_value k0 = k_low_half(b, key), k1 = k_high_half(b, key);
  for (int round = 0; round < LEAT_PHILOX_ROUNDS; round++) {
    k_value p0 = k_mul(b, k_low_half(b, c[0]), k_u64(b, LEAT_PHILOX_M0));
    k_value p1 = k_mul(b, k_low_half(b, c[2]), k_u64(b, LEAT_PHILOX_M1));
    c[0] = xor_of(b, k_high_half(b, p1), c[1], k0), c[1] = p1;
    c[2] = xor_of(b, k_high_half(b, p0), c[3], k1), c[3] = p0;
    k0 = k_add(b, k0, k_u64(b, LEAT_PHILOX_W0));
    k1 = k_add(b, k1, k_u64(b, LEAT_PHILOX_W1));
  }
}

k_value k_philox(k_builder *b, k_value element, k_value count, k_value key) {
  element = k_bitcast(b, LEAT_u64, element);
  count = k_bitcast(b, LEAT_u64, count);
  key = k_bitcast(b, LEAT_u64, key);
  k_value block = k_binary(b, K_SHR, element, k_u64(b, 2));
  k_value c[] = {block, k_high_half(b, block), count, k_high_half(b, count)};
  rounds(b, c, key);
  k_value which = k_binary(b, K_AND, element, k_u64(b, 3)), out = c[3];
  for (uint32_t i = 3; i-- > 0;)
    out = k_select(b, k_binary(b, K_EQ, which, k_u64(b, i)), c[i], out);
  return k_cast(b, LEAT_u32, out);
}
