#include "tools/values.h"

#include "base/half.h"
#include "base/name.h"
#include "base/show.h"
#include "runtime/format.h"
#include "tools/options.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tool_split(const char *text, char **out_name, const char **out_value) {
  size_t size;
  const char *name = leat_name_given(text, &size, out_value);
  if (name) *out_name = leat_arena_strndup(tool_arena(), name, size);
  return name;
}

// -- Numbers -----------------------------------------------------------------------------------

double tool_element(const leat_tensor *tensor, int64_t i) {
  const void *data = tensor->data;
  switch (tensor->dtype) {
  case LEAT_bool: return ((const bool *)data)[i];
  case LEAT_i8: return ((const int8_t *)data)[i];
  case LEAT_i16: return ((const int16_t *)data)[i];
  case LEAT_i32: return ((const int32_t *)data)[i];
  case LEAT_i64: return (double)((const int64_t *)data)[i];
  case LEAT_u8: return ((const uint8_t *)data)[i];
  case LEAT_u16: return ((const uint16_t *)data)[i];
  case LEAT_u32: return ((const uint32_t *)data)[i];
  case LEAT_u64: return (double)((const uint64_t *)data)[i];
  case LEAT_f16:
  case LEAT_bf16: return leat_half_value(tensor->dtype, ((const uint16_t *)data)[i]);
  case LEAT_f32: return (double)((const float *)data)[i];
  case LEAT_f64: return ((const double *)data)[i];
  case LEAT_c64:
  case LEAT_c128:
  case LEAT_str: break;
  }
  return NAN;
}

// -- Output ------------------------------------------------------------------------------------

void tool_print_summary(const char *name, const leat_tensor *tensor) {
  int64_t count = leat_shape_elements(tensor->rank, tensor->shape);
  double low = INFINITY, high = -INFINITY, sum = 0;
  for (int64_t i = 0; i < count; i++) {
    double value = tool_element(tensor, i);
    low = value < low ? value : low;
    high = value > high ? value : high;
    sum += value;
  }
  leat_text text = {0};
  leat_type_format(name, tensor, &text);
  if (low <= high)
    leat_text_add(&text, " from %.4g to %.4g, mean %.4g", low, high, sum / (double)count);
  leat_show(stdout, "%s\n", text.data);
  leat_text_finish(&text);
}

void tool_print_value(const char *name, const leat_tensor *tensor) {
  leat_text text = {0};
  leat_result_format(name, tensor, &text);
  leat_show(stdout, "%s\n", text.data);
  leat_text_finish(&text);
}
