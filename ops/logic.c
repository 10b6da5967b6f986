// Comparison, logic, selection and conversion.
#include "base/float_mode.h"
#include "base/half.h"
#include "ops/complex.h"
#include "ops/ref.h"
#include "ops/shape.h"

// -- Shapes --------------------------------------------------------------------------------------

static bool comparison(leat_shape_context *context) {
  if (!leat_shape_like_input(context)) return false;
  context->outputs[0].dtype = LEAT_bool;
  return true;
}

#define SHAPE(function, rule)                                                                      \
  bool function(leat_shape_context *context) {                                                     \
    return rule(context);                                                                          \
  }
SHAPE(shape_equal, comparison)
SHAPE(shape_not_equal, comparison)
SHAPE(shape_less, comparison)
SHAPE(shape_less_equal, comparison)
SHAPE(shape_greater, comparison)
SHAPE(shape_greater_equal, comparison)
SHAPE(shape_and, leat_shape_like_input)
SHAPE(shape_or, leat_shape_like_input)
SHAPE(shape_not, leat_shape_like_input)

bool shape_where(leat_shape_context *context) {
  if (!leat_shape_is_dtype(context, 0, LEAT_bool) || !leat_shape_same_dtype(context, 1, 2))
    return false;
  context->outputs[0] = *leat_shape_input(context, 1);
  return true;
}

const leat_node *leat_narrowed_dim(const leat_node *node) {
  if (node->op != LEAT_OP_cast || node->inputs[0].node->op != LEAT_OP_identity) return NULL;
  const leat_node *from = node->inputs[0].node->inputs[0].node;
  return from->op == LEAT_OP_dim ? from : NULL;
}

// A dim that an integer has no room for ends the step.
static bool claim_fits(leat_shape_context *context, const leat_node *dim, leat_dtype to) {
  if (to == LEAT_i64 || !leat_dtype_in_class(to, LEAT_CLASS_INTEGER)) return true;
  leat_dims *dims = context->graph->dims;
  leat_arena *arena = context->graph->arena;
  leat_dim value = leat_node_attr(dim, "value")->dim;
  int bits = 8 * (int)leat_dtype_size(to);
  bool is_signed = leat_dtype_kind_of(to) == LEAT_KIND_SIGNED;
  int64_t most = (int64_t)(UINT64_MAX >> (bits == 64 ? 1 : 64 - bits + is_signed));
  leat_dim low = leat_dim_const(is_signed ? -most - 1 : 0), high = leat_dim_const(most);
  leat_claim above = {.count = 1, .values = {value}}, below = above;
  above.says = leat_arena_printf(arena, "%s = %%lld is no %s", leat_dim_text(arena, value),
                                 leat_dtype_name(to));
  below.says = above.says;
  return !leat_dim_sub(dims, value, low, &above.room) ||
         !leat_dim_sub(dims, high, value, &below.room) ||
         (leat_shape_claim(context, &above) && leat_shape_claim(context, &below));
}

bool shape_cast(leat_shape_context *context) {
  leat_dtype from = leat_shape_input(context, 0)->dtype;
  leat_dtype to = (leat_dtype)leat_node_attr(context->node, "dtype")->i;
  if (!leat_dtype_in_class(to, LEAT_CLASS_ANY_DTYPE))
    return leat_shape_fail(context, "there is no cast to %s", leat_dtype_name(to));
  if (leat_dtype_is_complex(from) && !leat_dtype_is_complex(to))
    return leat_shape_fail(context, "a complex number is no %s; `real` takes its real part",
                           leat_dtype_name(to));
  context->outputs[0] = *leat_shape_input(context, 0);
  context->outputs[0].dtype = to;
  const leat_node *dim = leat_narrowed_dim(context->node);
  return !dim || claim_fits(context, dim, to);
}

// -- Values --------------------------------------------------------------------------------------

#define EACH_COMPARISON(ID, T, WIDE, expression) LEAT_EACH_PAIR(ID, T, WIDE, uint8_t, expression)

#define COMPARISON_CASES(expression)                                                               \
  LEAT_SIGNED_CASES(EACH_COMPARISON, expression)                                                   \
  LEAT_UNSIGNED_CASES(EACH_COMPARISON, expression)                                                 \
  LEAT_FLOAT_CASES(EACH_COMPARISON, expression) LEAT_BOOL_CASES(EACH_COMPARISON, expression)
#define REF_COMPARISON(function, expression) LEAT_REF(function, COMPARISON_CASES(expression))
#define REF_EQUALITY(function, expression)                                                         \
  LEAT_REF(function, COMPARISON_CASES(expression) LEAT_COMPLEX_CASES(EACH_COMPARISON, expression))
#define REF_BOOL(function, expression)                                                             \
  LEAT_REF(function, LEAT_BOOL_CASES(EACH_COMPARISON, expression))

REF_EQUALITY(ref_equal, a == b)
REF_EQUALITY(ref_not_equal, a != b)
REF_COMPARISON(ref_less, a < b)
REF_COMPARISON(ref_less_equal, a <= b)
REF_COMPARISON(ref_greater, a > b)
REF_COMPARISON(ref_greater_equal, a >= b)
REF_BOOL(ref_and, (a && b))
REF_BOOL(ref_or, a || b)

leat_status ref_not(leat_ref_context *context) {
  const uint8_t *x = context->inputs[0].data;
  uint8_t *out = context->outputs[0].data;
  for (int64_t i = 0; i < leat_ref_count(&context->outputs[0]); i++) out[i] = !x[i];
  return LEAT_OK;
}

leat_status ref_where(leat_ref_context *context) {
  const uint8_t *condition = context->inputs[0].data;
  leat_tensor *out = &context->outputs[0];
  for (int64_t i = 0; i < leat_ref_count(out); i++)
    leat_copy_element(out, i, &context->inputs[condition[i] ? 1 : 2], i);
  return LEAT_OK;
}

#define EACH_CAST(ID, T, WIDE, store)                                                              \
  case ID:                                                                                         \
    for (int64_t i = 0; i < count; i++)                                                            \
      if (!store(out->dtype, out->data, i, ((const T *)context->inputs[0].data)[i]))               \
        return leat_ref_unsupported(context);                                                      \
    return LEAT_OK;

#define EACH_HALF_CAST(ID)                                                                         \
  case ID:                                                                                         \
    for (int64_t i = 0; i < count; i++) {                                                          \
      float value = (float)leat_half_value(ID, ((const uint16_t *)context->inputs[0].data)[i]);    \
      if (!leat_store_float(out->dtype, out->data, i, value))                                      \
        return leat_ref_unsupported(context);                                                      \
    }                                                                                              \
    return LEAT_OK;

#define EACH_COMPLEX_CAST(ID, PART)                                                                \
  case ID:                                                                                         \
    for (int64_t i = 0; i < 2 * count; i++)                                                        \
      leat_store_float(leat_part_dtype(out->dtype), out->data, i,                                  \
                       ((const PART *)context->inputs[0].data)[i]);                                \
    return LEAT_OK;

static leat_status convert(leat_ref_context *context) {
  leat_tensor *out = &context->outputs[0];
  int64_t count = leat_ref_count(out);
  switch ((int)context->inputs[0].dtype) {
    EACH_HALF_CAST(LEAT_f16)
    EACH_HALF_CAST(LEAT_bf16)
    LEAT_SIGNED_CASES(EACH_CAST, leat_store_signed)
    LEAT_UNSIGNED_CASES(EACH_CAST, leat_store_unsigned)
    LEAT_BOOL_CASES(EACH_CAST, leat_store_unsigned)
    LEAT_FLOAT_CASES(EACH_CAST, leat_store_float)
    EACH_COMPLEX_CAST(LEAT_c64, float)
    EACH_COMPLEX_CAST(LEAT_c128, double)
  default: return leat_ref_unsupported(context);
  }
}

// How a dtype's numbers are written. A bf16 is the first half of an f32.
static leat_dtype format_of(leat_dtype dtype) {
  return dtype == LEAT_bf16 ? LEAT_f32 : leat_part_dtype(dtype);
}

// Subnormals are zero where numbers are computed, which is where their format changes.
leat_status ref_cast(leat_ref_context *context) {
  bool same = format_of(context->inputs[0].dtype) == format_of(context->outputs[0].dtype);
  leat_float_mode before = leat_float_mode_begin(same || !leat_denormals_are_zero());
  leat_status status = convert(context);
  leat_float_mode_end(before);
  return status;
}
