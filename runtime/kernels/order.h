// The order that sort, top_k and searchsorted put elements in: NaN after everything, -0 and +0
// equal. Each element has an unsigned key that orders it among the others of its dtype.
#ifndef LEAT_RUNTIME_KERNELS_ORDER_H
#define LEAT_RUNTIME_KERNELS_ORDER_H

#include <stdint.h>
#include <string.h>

static inline uint32_t leat_bits_f32(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline uint64_t leat_bits_f64(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

// Of what is no NaN: negative ones by falling magnitude, then the others. -0 is just below +0.
static inline uint32_t leat_key_f32(float x) {
  uint32_t bits = leat_bits_f32(x);
  return bits ^ ((uint32_t)((int32_t)bits >> 31) | UINT32_C(1) << 31);
}

static inline uint64_t leat_key_f64(double x) {
  uint64_t bits = leat_bits_f64(x);
  return bits ^ ((uint64_t)((int64_t)bits >> 63) | UINT64_C(1) << 63);
}

#define LEAT_KEY_SIGNED(x, T, KEY) ((KEY)(x) + ((KEY)1 << (8 * sizeof(T) - 1)))
#define LEAT_KEY_UNSIGNED(x, T, KEY) ((KEY)(x))
#define LEAT_KEY_F32(x, T, KEY) ((x) != (x) ? UINT32_MAX : leat_key_f32((x) == 0 ? 0 : (x)))
#define LEAT_KEY_F64(x, T, KEY) ((x) != (x) ? UINT64_MAX : leat_key_f64((x) == 0 ? 0 : (x)))

// CASE(dtype id, type, key's type, key of an element), of which CASE makes LEAT_KEY(x, T, KEY).
#define LEAT_ORDERED_CASES(CASE)                                                                   \
  CASE(LEAT_bool, uint8_t, uint32_t, LEAT_KEY_UNSIGNED)                                            \
  CASE(LEAT_i8, int8_t, uint32_t, LEAT_KEY_SIGNED)                                                 \
  CASE(LEAT_i16, int16_t, uint32_t, LEAT_KEY_SIGNED)                                               \
  CASE(LEAT_i32, int32_t, uint32_t, LEAT_KEY_SIGNED)                                               \
  CASE(LEAT_i64, int64_t, uint64_t, LEAT_KEY_SIGNED)                                               \
  CASE(LEAT_u8, uint8_t, uint32_t, LEAT_KEY_UNSIGNED)                                              \
  CASE(LEAT_u16, uint16_t, uint32_t, LEAT_KEY_UNSIGNED)                                            \
  CASE(LEAT_u32, uint32_t, uint32_t, LEAT_KEY_UNSIGNED)                                            \
  CASE(LEAT_u64, uint64_t, uint64_t, LEAT_KEY_UNSIGNED)                                            \
  CASE(LEAT_f32, float, uint32_t, LEAT_KEY_F32)                                                    \
  CASE(LEAT_f64, double, uint64_t, LEAT_KEY_F64)

#endif
