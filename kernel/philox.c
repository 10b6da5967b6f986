// Philox4x32-10 (base/philox.h) as kernel code. Every lane makes the four words of its block and
// takes one of them.
#include "base/philox.h"

#include "kernel/lowering.h"

static k_value low_word(k_builder *b, k_value x) {
  return k_cast(b, LEAT_u32, x);
}

static k_value high_word(k_builder *b, k_value x) {
  return k_cast(b, LEAT_u32, k_binary(b, K_SHR, x, k_int(b, LEAT_u64, 1, 32)));
}

static k_value word(k_builder *b, uint32_t value) {
  return k_int(b, LEAT_u32, 1, value);
}

// c = {high(m1 · c2) ^ c1 ^ k0, low(m1 · c2), high(m0 · c0) ^ c3 ^ k1, low(m0 · c0)}
static void rounds(k_builder *b, k_value *c, k_value key) {
  k_value k0 = low_word(b, key), k1 = high_word(b, key);
  for (int round = 0; round < LEAT_PHILOX_ROUNDS; round++) {
    k_value m0 = k_int(b, LEAT_u64, 1, LEAT_PHILOX_M0), m1 = k_int(b, LEAT_u64, 1, LEAT_PHILOX_M1);
    k_value p0 = k_mul(b, k_cast(b, LEAT_u64, c[0]), m0);
    k_value p1 = k_mul(b, k_cast(b, LEAT_u64, c[2]), m1);
    k_value x0 = k_binary(b, K_XOR, k_binary(b, K_XOR, high_word(b, p1), c[1]), k0);
    k_value x2 = k_binary(b, K_XOR, k_binary(b, K_XOR, high_word(b, p0), c[3]), k1);
    c[0] = x0, c[1] = low_word(b, p1), c[2] = x2, c[3] = low_word(b, p0);
    k0 = k_add(b, k0, word(b, LEAT_PHILOX_W0));
    k1 = k_add(b, k1, word(b, LEAT_PHILOX_W1));
  }
}

k_value k_philox(k_builder *b, k_value element, k_value count, k_value key) {
  element = k_bitcast(b, LEAT_u64, element);
  count = k_bitcast(b, LEAT_u64, count);
  key = k_bitcast(b, LEAT_u64, key);
  k_value block = k_binary(b, K_SHR, element, k_int(b, LEAT_u64, 1, 2));
  k_value c[] = {low_word(b, block), high_word(b, block), low_word(b, count), high_word(b, count)};
  rounds(b, c, key);
  k_value which = k_binary(b, K_AND, low_word(b, element), word(b, 3)), out = c[3];
  for (uint32_t i = 3; i-- > 0;) out = k_select(b, k_binary(b, K_EQ, which, word(b, i)), c[i], out);
  return out;
}
