// Complex numbers: taking apart and putting together. What is computed with them is in the files of
// the ops that do; passes/complex.c says how kernels do it.
#include "ops/complex.h"

#include "ops/ref.h"
#include "ops/shape.h"

static bool part_of(leat_shape_context *context) {
  context->outputs[0] = *leat_shape_input(context, 0);
  context->outputs[0].dtype = leat_part_dtype(context->outputs[0].dtype);
  return true;
}

bool shape_real(leat_shape_context *context) {
  return part_of(context);
}

bool shape_imag(leat_shape_context *context) {
  return part_of(context);
}

bool shape_complex(leat_shape_context *context) {
  if (!leat_shape_like_input(context)) return false;
  leat_dtype *dtype = &context->outputs[0].dtype;
  if (*dtype != LEAT_f32 && *dtype != LEAT_f64)
    return leat_shape_fail(context, "parts are f32 or f64, not %s", leat_dtype_name(*dtype));
  *dtype = *dtype == LEAT_f32 ? LEAT_c64 : LEAT_c128;
  return true;
}

// Element i of `part` and word 2i + which of `whole`, in either direction.
static void copy_part(leat_tensor *to, int64_t to_step, int64_t to_first, const leat_tensor *from,
                      int64_t from_step, int64_t from_first, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    leat_copy_element(to, i * to_step + to_first, from, i * from_step + from_first);
}

static leat_tensor as_parts(const leat_tensor *complex) {
  leat_tensor words = *complex;
  words.dtype = leat_part_dtype(complex->dtype);
  return words;
}

static leat_status take_part(leat_ref_context *context, int64_t which) {
  leat_tensor words = as_parts(&context->inputs[0]);
  copy_part(&context->outputs[0], 1, 0, &words, 2, which, leat_ref_count(&words));
  return LEAT_OK;
}

leat_status ref_real(leat_ref_context *context) {
  return take_part(context, 0);
}

leat_status ref_imag(leat_ref_context *context) {
  return take_part(context, 1);
}

leat_status ref_complex(leat_ref_context *context) {
  leat_tensor words = as_parts(&context->outputs[0]);
  for (int64_t which = 0; which < 2; which++)
    copy_part(&words, 2, which, &context->inputs[which], 1, 0, leat_ref_count(&words));
  return LEAT_OK;
}

static k_value word_of(leat_lowering *l, const leat_node *node, const leat_index *at, int word) {
  int outer = l->word;
  l->word = word;
  k_value value = leat_operand(l, node, 0, at);
  l->word = outer;
  return value;
}

k_value lower_real(leat_lowering *l, const leat_node *node, const leat_index *at) {
  return word_of(l, node, at, 0);
}

k_value lower_imag(leat_lowering *l, const leat_node *node, const leat_index *at) {
  return word_of(l, node, at, 1);
}

k_value lower_complex(leat_lowering *l, const leat_node *node, const leat_index *at) {
  return leat_operand(l, node, (uint32_t)l->word, at);
}
