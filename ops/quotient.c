// Floats that `/` made, of which messages say so.
#include "ops/region.h"

static bool holds_quotient(leat_value value, int depth) {
  value = leat_region_origin(value);
  if (value.node->op == LEAT_OP_div) return true;
  if (depth == 0 || leat_op_info_of(value.node->op)->kind != LEAT_KIND_ELEMENT) return false;
  for (uint32_t i = 0; i < value.node->input_count; i++)
    if (holds_quotient(value.node->inputs[i], depth - 1)) return true;
  return false;
}

bool leat_is_quotient(leat_value value) {
  bool is_float = leat_dtype_in_class(leat_value_type(value)->dtype, LEAT_CLASS_FLOAT);
  return is_float && holds_quotient(value, 4);
}

const char *leat_quotient_hint(leat_value value) {
  return leat_is_quotient(value) ? LEAT_QUOTIENT_HINT : "";
}
