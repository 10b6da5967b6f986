// An integer of any width is widened to 64 bits first, by its sign where it has one.
#include "base/number.h"

#include <string.h>

void leat_number_print(leat_dtype dtype, const void *number, leat_text *out) {
  size_t size = leat_dtype_size(dtype);
  int above = 64 - 8 * (int)size; // bits that the number has not
  uint64_t bits = 0;
  float narrow;
  double wide;
  switch ((int)leat_dtype_kind_of(dtype)) {
  case LEAT_KIND_SIGNED:
    memcpy(&bits, number, size); // little-endian: the low bytes
    leat_text_add_i64(out, (int64_t)(bits << above) >> above);
    break;
  case LEAT_KIND_UNSIGNED:
    memcpy(&bits, number, size);
    leat_text_add_u64(out, bits);
    break;
  case LEAT_KIND_FLOAT:
    if (dtype == LEAT_f32) {
      memcpy(&narrow, number, sizeof narrow);
      leat_text_add_f32(out, narrow);
    } else {
      memcpy(&wide, number, sizeof wide);
      leat_text_add_f64(out, wide);
    }
    break;
  }
}

bool leat_integer_fits(leat_dtype dtype, int64_t value) {
  int bits = 8 * (int)leat_dtype_size(dtype);
  if (leat_dtype_kind_of(dtype) == LEAT_KIND_SIGNED)
    return bits == 64 || (value >= -((int64_t)1 << (bits - 1)) && value < (int64_t)1 << (bits - 1));
  return value >= 0 && (bits == 64 || value < (int64_t)1 << bits);
}
