#include "base/literal.h"

#include "base/half.h"
#include "base/number.h"
#include "base/str.h"

#include <string.h>

static void print_string(const void *element, leat_text *out) {
  leat_str string;
  memcpy(&string, element, sizeof string);
  leat_text_add_quoted(out, string.data ? string.data : "", string.size);
}

static void print_half(leat_dtype dtype, const void *element, leat_text *out) {
  uint16_t half;
  memcpy(&half, element, sizeof half);
  leat_text_add_f32(out, (float)leat_half_value(dtype, half));
}

static void print_complex(leat_dtype part, const char *element, leat_text *out) {
  leat_text_add_string(out, "complex(");
  leat_number_print(part, element, out);
  leat_text_add_string(out, ", ");
  leat_number_print(part, element + leat_dtype_size(part), out);
  leat_text_add_string(out, ")");
}

void leat_element_print(leat_dtype dtype, const void *element, leat_text *out) {
  switch (leat_dtype_kind_of(dtype)) {
  case LEAT_KIND_BOOL:
    leat_text_add_string(out, *(const uint8_t *)element ? "true" : "false");
    return;
  case LEAT_KIND_STRING: print_string(element, out); return;
  case LEAT_KIND_COMPLEX:
    print_complex(dtype == LEAT_c64 ? LEAT_f32 : LEAT_f64, element, out);
    return;
  case LEAT_KIND_SIGNED:
  case LEAT_KIND_UNSIGNED:
  case LEAT_KIND_FLOAT: break;
  }
  if (leat_dtype_is_half(dtype))
    print_half(dtype, element, out);
  else
    leat_number_print(dtype, element, out);
}

// Returns where the elements behind those below `axis` are.
static const char *print_axis(const leat_tensor *tensor, int32_t axis, const char *at,
                              leat_text *out) {
  if (axis == tensor->rank) {
    leat_element_print(tensor->dtype, at, out);
    return at + leat_dtype_size(tensor->dtype);
  }
  leat_text_add_string(out, "[");
  for (int64_t i = 0; i < tensor->shape[axis]; i++) {
    if (i) leat_text_add_string(out, ", ");
    at = print_axis(tensor, axis + 1, at, out);
  }
  leat_text_add_string(out, "]");
  return at;
}

void leat_tensor_print(const leat_tensor *tensor, leat_text *out) {
  print_axis(tensor, 0, tensor->data, out);
}
