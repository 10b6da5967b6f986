// Evaluating one node by reference (ops/ref.h).
#include "base/float_mode.h"
#include "base/half.h"
#include "ops/complex.h"
#include "ops/ref.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static leat_status make_output(leat_arena *arena, leat_ref_context *context, const leat_type *type,
                               leat_tensor *out) {
  *out = (leat_tensor){.dtype = type->dtype, .rank = type->rank};
  for (int32_t i = 0; i < type->rank; i++)
    LEAT_TRY(leat_ref_dim(context, type->dims[i], &out->shape[i]));
  int64_t bytes = leat_tensor_bytes(out);
  if (bytes < 0) return leat_ref_fail(context, LEAT_OUT_OF_RANGE, "its result is too large");
  out->data = leat_arena_try_alloc(arena, (size_t)bytes);
  return out->data ? LEAT_OK : leat_ref_fail(context, LEAT_MEMORY, "no memory for its result");
}

// Computing in f16 and bf16 is computing in f32 and rounding each result once.
static leat_status widen(leat_ref_context *context, const leat_tensor *half, leat_tensor *wide) {
  int64_t count = leat_ref_count(half);
  *wide = *half;
  if (!leat_dtype_is_half(half->dtype)) return LEAT_OK;
  wide->dtype = LEAT_f32;
  float *to = wide->data = leat_arena_try_alloc(context->arena, (size_t)count * sizeof *to);
  if (!to) return leat_ref_fail(context, LEAT_MEMORY, "no memory for its values in f32");
  const uint16_t *from = half->data;
  for (int64_t i = 0; i < count; i++) to[i] = (float)leat_half_value(half->dtype, from[i]);
  return LEAT_OK;
}

static void narrow(const leat_tensor *wide, leat_tensor *half) {
  const float *from = wide->data;
  for (int64_t i = 0; i < leat_ref_count(half); i++)
    leat_store_float(half->dtype, half->data, i, (double)from[i]);
}

// A subnormal becomes a zero of its sign.
#define FLUSH(ID, BITS, EXPONENT)                                                                  \
  case ID: {                                                                                       \
    BITS *bits = tensor->data;                                                                     \
    for (int64_t i = 0; i < count; i++)                                                            \
      if (!(bits[i] & (EXPONENT))) bits[i] &= ~(~(BITS)0 >> 1);                                    \
    return;                                                                                        \
  }

static void flush(leat_tensor *tensor) {
  leat_dtype part = leat_part_dtype(tensor->dtype);
  int64_t count = leat_ref_count(tensor) * (part == tensor->dtype ? 1 : 2);
  switch ((int)part) {
    FLUSH(LEAT_f32, uint32_t, UINT32_C(0x7f800000))
    FLUSH(LEAT_f64, uint64_t, UINT64_C(0x7ff0000000000000))
  }
}

// What arithmetic does with operands and results while subnormals are zero, whatever the reference
// computes with.
static leat_status evaluate_flushed(leat_ref_context *context) {
  uint32_t count = context->node->input_count;
  leat_ref_context flushed = *context;
  leat_tensor *ins = leat_new_array(context->arena, leat_tensor, count);
  for (uint32_t i = 0; i < count; i++) {
    ins[i] = context->inputs[i];
    if (leat_dtype_in_class(ins[i].dtype, LEAT_CLASS_INEXACT)) {
      size_t bytes = (size_t)leat_tensor_bytes(&ins[i]);
      ins[i].data = leat_arena_try_alloc(context->arena, bytes);
      if (!ins[i].data) return leat_ref_fail(context, LEAT_MEMORY, "no memory for its operands");
      if (bytes) memcpy(ins[i].data, context->inputs[i].data, bytes);
      flush(&ins[i]);
    }
  }
  flushed.inputs = ins;
  LEAT_TRY(leat_ref_of(context->node->op)(&flushed));
  for (uint32_t i = 0; i < context->node->output_count; i++) flush(&context->outputs[i]);
  return LEAT_OK;
}

static leat_status evaluate_plain(leat_ref_context *context) {
  leat_op op = context->node->op;
  bool keeps = !leat_op_computes(op) || context->node->info->flags & LEAT_FLAG_KEEPS;
  return !keeps && leat_denormals_are_zero() ? evaluate_flushed(context) : leat_ref_of(op)(context);
}

static bool takes_or_gives_halves(const leat_ref_context *context) {
  bool halves = false;
  for (uint32_t i = 0; i < context->node->input_count; i++)
    halves |= leat_dtype_is_half(context->inputs[i].dtype);
  for (uint32_t i = 0; i < context->node->output_count; i++)
    halves |= leat_dtype_is_half(context->outputs[i].dtype);
  return halves;
}

static leat_status widen_all(leat_ref_context *context, leat_ref_context *wide) {
  leat_arena *arena = context->arena;
  uint32_t outputs = context->node->output_count;
  leat_tensor *ins = leat_new_array(arena, leat_tensor, context->node->input_count);
  for (uint32_t i = 0; i < context->node->input_count; i++)
    LEAT_TRY(widen(context, &context->inputs[i], &ins[i]));
  wide->inputs = ins;
  wide->outputs = leat_new_array(arena, leat_tensor, outputs);
  for (uint32_t i = 0; i < outputs; i++)
    LEAT_TRY(widen(context, &context->outputs[i], &wide->outputs[i]));
  return LEAT_OK;
}

// A bf16 is the first half of an f32, so its subnormals come and go as such.
static leat_status evaluate_wide(leat_ref_context *context) {
  leat_ref_context wide = *context;
  leat_float_mode before = leat_float_mode_begin(true);
  leat_status status = widen_all(context, &wide);
  leat_float_mode_end(before);
  if (!status) status = evaluate_plain(&wide);
  leat_float_mode_begin(true);
  for (uint32_t i = 0; i < context->node->output_count && !status; i++)
    if (leat_dtype_is_half(context->outputs[i].dtype))
      narrow(&wide.outputs[i], &context->outputs[i]);
  leat_float_mode_end(before);
  return status;
}

leat_status leat_ref_evaluate(leat_arena *arena, leat_ref_context *context) {
  leat_op op = context->node->op;
  context->arena = arena;
  if (!leat_ref_of(op)) return leat_ref_fail(context, LEAT_UNSUPPORTED, "has no value of its own");
  uint32_t outputs = context->node->output_count;
  context->outputs = leat_new_array(arena, leat_tensor, outputs);
  for (uint32_t i = 0; i < outputs; i++)
    LEAT_TRY(make_output(arena, context, &context->node->outputs[i], &context->outputs[i]));
  bool wide = leat_op_computes(op) && takes_or_gives_halves(context);
  return wide ? evaluate_wide(context) : evaluate_plain(context);
}
