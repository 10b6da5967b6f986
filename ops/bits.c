// Bits of integers, and values as the bits of another dtype.
#include "ops/element.h"

#include <string.h>

BINARY_INTEGER(shape_bit_and, ref_bit_and, (a & b), (a & b))
BINARY_INTEGER(shape_bit_or, ref_bit_or, a | b, a | b)
BINARY_INTEGER(shape_bit_xor, ref_bit_xor, a ^ b, a ^ b)
UNARY_INTEGER(shape_bit_not, ref_bit_not, ~a, ~a)

// Arithmetic for signed dtypes. A count outside 0 … bits-1 shifts everything out.
#define IN_RANGE ((uint64_t)b < 8 * sizeof *out)
BINARY_INTEGER(shape_shift_left, ref_shift_left, IN_RANGE ? (uint64_t)a << b : 0,
               IN_RANGE ? a << b : 0)
BINARY_INTEGER(shape_shift_right, ref_shift_right, IN_RANGE ? a >> b : (a < 0 ? -1 : 0),
               IN_RANGE ? a >> b : 0)

// The bits of a's own width.
#define OWN_BITS ((uint64_t)a & UINT64_MAX >> (64 - 8 * sizeof *out))
#define POPCOUNT __builtin_popcountll(OWN_BITS)
#define LEADING_ZEROS                                                                              \
  (OWN_BITS ? __builtin_clzll(OWN_BITS) - 64 + 8 * (int)sizeof *out : 8 * (int)sizeof *out)
UNARY_INTEGER(shape_popcount, ref_popcount, POPCOUNT, POPCOUNT)
UNARY_INTEGER(shape_count_leading_zeros, ref_count_leading_zeros, LEADING_ZEROS, LEADING_ZEROS)

bool shape_bitcast(leat_shape_context *context) {
  const leat_type *x = leat_shape_input(context, 0);
  leat_dtype dtype = (leat_dtype)leat_node_attr(context->node, "dtype")->i;
  if (!leat_dtype_in_class(dtype, LEAT_CLASS_REAL))
    return leat_shape_fail(context, "bitcast gives real numbers, not %s", leat_dtype_name(dtype));
  if (leat_dtype_size(dtype) != leat_dtype_size(x->dtype))
    return leat_shape_fail(context, "%s has %zu bytes and %s has %zu", leat_dtype_name(x->dtype),
                           leat_dtype_size(x->dtype), leat_dtype_name(dtype),
                           leat_dtype_size(dtype));
  context->outputs[0] = *x;
  context->outputs[0].dtype = dtype;
  return true;
}

leat_status ref_bitcast(leat_ref_context *context) {
  leat_tensor *out = &context->outputs[0];
  size_t bytes = (size_t)leat_ref_count(out) * leat_dtype_size(out->dtype);
  if (bytes) memcpy(out->data, context->inputs[0].data, bytes);
  return LEAT_OK;
}
