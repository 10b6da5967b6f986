// Ops on str (base/str.h says what each computes). A comparison of strings is one of `str_compare`
// with 0, and `+` is `str_concat`: leat_build sees to that.
#include "base/half.h"
#include "base/str.h"
#include "ops/axis.h"
#include "ops/ref.h"
#include "ops/shape.h"

#include <string.h>

// -- Shapes ---------------------------------------------------------------------------------------

static bool shape_as(leat_shape_context *context, leat_dtype dtype) {
  context->outputs[0] = *leat_shape_input(context, 0);
  context->outputs[0].dtype = dtype;
  return true;
}

#define SHAPE(function, dtype)                                                                     \
  bool function(leat_shape_context *context) {                                                     \
    return shape_as(context, dtype);                                                               \
  }
SHAPE(shape_str_compare, LEAT_i32)
SHAPE(shape_str_length, LEAT_i64)
SHAPE(shape_str_hash, LEAT_i64)
SHAPE(shape_str_find, LEAT_i64)
SHAPE(shape_str_rfind, LEAT_i64)
SHAPE(shape_str_count, LEAT_i64)
SHAPE(shape_str_starts_with, LEAT_bool)
SHAPE(shape_str_ends_with, LEAT_bool)
SHAPE(shape_strip_string, LEAT_str)
SHAPE(shape_str_replace, LEAT_str)
SHAPE(shape_str_concat, LEAT_str)
SHAPE(shape_str_lower, LEAT_str)
SHAPE(shape_str_upper, LEAT_str)

bool shape_substring(leat_shape_context *context) {
  int64_t size = leat_node_attr(context->node, "size")->i;
  if (size < 0) return leat_shape_fail(context, "a string of %lld bytes", (long long)size);
  return shape_as(context, LEAT_str);
}

bool shape_str_to_number(leat_shape_context *context) {
  leat_dtype dtype = (leat_dtype)leat_node_attr(context->node, "dtype")->i;
  if (dtype != LEAT_i32 && dtype != LEAT_i64 && dtype != LEAT_f32 && dtype != LEAT_f64)
    return leat_shape_fail(context, "expected i32, i64, f32 or f64, found %s; `cast` makes others",
                           leat_dtype_name(dtype));
  return shape_as(context, dtype);
}

bool shape_number_to_str(leat_shape_context *context) {
  leat_dtype dtype = leat_shape_input(context, 0)->dtype;
  if (leat_dtype_is_half(dtype))
    return leat_shape_fail(context, "expected integers, f32 or f64, found %s; `cast` makes these",
                           leat_dtype_name(dtype));
  return shape_as(context, LEAT_str);
}

bool shape_format_number(leat_shape_context *context) {
  leat_dtype dtype = leat_shape_input(context, 0)->dtype;
  const char *notation = leat_node_attr(context->node, "notation")->string;
  const char *fill = leat_node_attr(context->node, "fill")->string;
  int64_t width = leat_node_attr(context->node, "width")->i;
  int64_t precision = leat_node_attr(context->node, "precision")->i;
  bool integer = leat_dtype_in_class(dtype, LEAT_CLASS_INTEGER);
  if (leat_dtype_is_half(dtype))
    return leat_shape_fail(context, "expected integers, f32 or f64, found %s; `cast` makes these",
                           leat_dtype_name(dtype));
  if (strlen(notation) != 1 || !strchr(integer ? "d" : "feg", *notation))
    return leat_shape_fail(context, "the notation of %s is %s, not `%s`", leat_dtype_name(dtype),
                           integer ? "`d`" : "`f`, `e` or `g`", notation);
  if (strlen(fill) > 1 || !strspn(fill, "0-+ ") != !*fill)
    return leat_shape_fail(context, "`fill` is 0, -, + or a space, not `%s`", fill);
  if (width < 0 || width > LEAT_STR_WIDEST || precision < 0 || precision > LEAT_STR_WIDEST)
    return leat_shape_fail(context, "width and precision are from 0 to %d", LEAT_STR_WIDEST);
  return shape_as(context, LEAT_str);
}

bool shape_join_strings(leat_shape_context *context) {
  int axis = leat_shape_axis_attr(context);
  if (axis < 0) return false;
  if (leat_shape_input(context, 1)->rank)
    return leat_shape_fail(context, "the separator is one string");
  leat_type *out = &context->outputs[0];
  *out = *leat_shape_input(context, 0);
  out->rank--;
  for (int k = axis; k < out->rank; k++) out->dims[k] = out->dims[k + 1];
  return true;
}

bool shape_split_strings(leat_shape_context *context) {
  leat_dim size = leat_node_attr(context->node, "size")->dim;
  leat_type *out = &context->outputs[0];
  if (leat_shape_input(context, 1)->rank)
    return leat_shape_fail(context, "the separator is one string");
  *out = *leat_shape_input(context, 0);
  if (out->rank == LEAT_MAX_RANK)
    return leat_shape_fail(context, "the pieces would have rank %d", LEAT_MAX_RANK + 1);
  out->dims[out->rank++] = size;
  return leat_shape_dim_ok(context, size);
}

// -- Values ---------------------------------------------------------------------------------------

#define REF(function, T, expression)                                                               \
  leat_status function(leat_ref_context *context) {                                                \
    const leat_str *x = context->inputs[0].data;                                                   \
    T *out = context->outputs[0].data;                                                             \
    for (int64_t i = 0; i < leat_ref_count(&context->outputs[0]); i++) out[i] = expression;        \
    return LEAT_OK;                                                                                \
  }
#define Y ((const leat_str *)context->inputs[1].data)[i]
REF(ref_str_compare, int32_t, leat_str_compare(x[i], Y))
REF(ref_str_find, int64_t, leat_str_find(x[i], Y, 0))
REF(ref_str_rfind, int64_t, leat_str_rfind(x[i], Y))
REF(ref_str_count, int64_t, leat_str_count(x[i], Y))
REF(ref_str_starts_with, bool, leat_str_starts_with(x[i], Y))
REF(ref_str_ends_with, bool, leat_str_ends_with(x[i], Y))
REF(ref_strip_string, leat_str,
    leat_str_strip(x[i], Y, leat_node_attr(context->node, "left")->i,
                   leat_node_attr(context->node, "right")->i))
REF(ref_str_length, int64_t,
    leat_node_attr(context->node, "utf8")->i ? leat_str_characters(x[i]) : (int64_t)x[i].size)
REF(ref_str_hash, int64_t, leat_str_hash(x[i]))
REF(ref_substring, leat_str,
    (leat_node_attr(context->node, "utf8")->i ? leat_str_character_part : leat_str_part)(
        x[i], leat_node_attr(context->node, "start")->i, leat_node_attr(context->node, "size")->i))

static leat_status refuse(leat_ref_context *context, leat_str x, int64_t i) {
  leat_text shown = {0};
  leat_str_show(x, &shown);
  leat_ref_fail(context, LEAT_INVALID, "element %lld, %s, is no %s", (long long)i, shown.data,
                leat_dtype_name(context->outputs[0].dtype));
  leat_text_finish(&shown);
  return LEAT_INVALID;
}

leat_status ref_str_to_number(leat_ref_context *context) {
  const leat_str *x = context->inputs[0].data;
  leat_dtype dtype = context->outputs[0].dtype;
  char *out = context->outputs[0].data;
  for (int64_t i = 0; i < leat_ref_count(&context->outputs[0]); i++)
    if (!leat_str_parse(x[i], dtype, out + (size_t)i * leat_dtype_size(dtype)))
      return refuse(context, x[i], i);
  return LEAT_OK;
}

static leat_status no_memory(leat_ref_context *context, leat_text *text) {
  leat_text_finish(text);
  return leat_ref_fail(context, LEAT_MEMORY, "no memory for the new strings");
}

// What the text holds becomes an element; false: there is no memory for it.
static bool take(leat_ref_context *context, leat_text *text, leat_str *out) {
  char *bytes = leat_arena_try_alloc(context->arena, text->size);
  if (!bytes) return false;
  if (text->size) memcpy(bytes, text->data, text->size);
  *out = (leat_str){bytes, text->size};
  text->size = 0;
  return true;
}

static leat_status make(leat_ref_context *context, leat_str_maker maker) {
  leat_str *out = context->outputs[0].data;
  const void *inputs[3];
  for (uint32_t i = 0; i < context->node->input_count; i++) inputs[i] = context->inputs[i].data;
  leat_text text = {0};
  for (int64_t i = 0; i < leat_ref_count(&context->outputs[0]); i++) {
    if (!leat_str_make(maker, context->inputs[0].dtype, inputs, i, &text) ||
        !take(context, &text, &out[i]))
      return no_memory(context, &text);
  }
  leat_text_finish(&text);
  return LEAT_OK;
}

leat_status ref_str_concat(leat_ref_context *context) {
  return make(context, LEAT_STR_CONCAT);
}

leat_status ref_str_replace(leat_ref_context *context) {
  return make(context, LEAT_STR_REPLACE);
}

leat_status ref_str_lower(leat_ref_context *context) {
  return make(context, LEAT_STR_LOWER);
}

leat_status ref_str_upper(leat_ref_context *context) {
  return make(context, LEAT_STR_UPPER);
}

leat_status ref_number_to_str(leat_ref_context *context) {
  return make(context, LEAT_STR_OF_NUMBER);
}

static leat_number_style style_of(const leat_node *node) {
  return (leat_number_style){.notation = *leat_node_attr(node, "notation")->string,
                             .fill = *leat_node_attr(node, "fill")->string,
                             .precision = (int)leat_node_attr(node, "precision")->i,
                             .width = (int)leat_node_attr(node, "width")->i};
}

leat_status ref_format_number(leat_ref_context *context) {
  leat_str *out = context->outputs[0].data;
  leat_number_style style = style_of(context->node);
  leat_text text = {0};
  for (int64_t i = 0; i < leat_ref_count(&context->outputs[0]); i++) {
    if (!leat_str_format_number(context->inputs[0].dtype, context->inputs[0].data, i, &style,
                                &text) ||
        !take(context, &text, &out[i]))
      return no_memory(context, &text);
  }
  leat_text_finish(&text);
  return LEAT_OK;
}

leat_status ref_split_strings(leat_ref_context *context) {
  const leat_str *x = context->inputs[0].data, *separator = context->inputs[1].data;
  const leat_tensor *out = &context->outputs[0];
  int64_t size = out->shape[out->rank - 1];
  for (int64_t i = 0; i < leat_ref_count(&context->inputs[0]); i++) {
    int64_t count = leat_str_split(x[i], *separator, (leat_str *)out->data + i * size, size);
    if (!count) return leat_ref_fail(context, LEAT_INVALID, "the separator is empty");
    if (count > size)
      return leat_ref_fail(context, LEAT_INVALID, "element %lld: %lld pieces, not %lld",
                           (long long)i, (long long)count, (long long)size);
  }
  return LEAT_OK;
}

leat_status ref_join_strings(leat_ref_context *context) {
  leat_axis_view view =
      leat_axis_view_of(&context->inputs[0], leat_node_attr(context->node, "axis")->i);
  const leat_str *x = context->inputs[0].data, *separator = context->inputs[1].data;
  leat_str *out = context->outputs[0].data;
  leat_text text = {0};
  for (int64_t i = 0; i < view.outer * view.inner; i++) {
    int64_t first = i / view.inner * view.n * view.inner + i % view.inner;
    if (!leat_str_join(x + first, view.n, view.inner, *separator, &text) ||
        !take(context, &text, &out[i]))
      return no_memory(context, &text);
  }
  leat_text_finish(&text);
  return LEAT_OK;
}

// -- Code -----------------------------------------------------------------------------------------

#define LIBRARY_EACH(function, kernel)                                                             \
  bool function(leat_dims *dims, const leat_node *node, leat_library_call *out) {                  \
    return leat_library_each(dims, node, kernel, out);                                             \
  }
LIBRARY_EACH(library_str_compare, "str_compare")
LIBRARY_EACH(library_str_hash, "str_hash")
LIBRARY_EACH(library_str_find, "str_find")
LIBRARY_EACH(library_str_rfind, "str_rfind")
LIBRARY_EACH(library_str_count, "str_count")
LIBRARY_EACH(library_str_starts_with, "str_starts_with")
LIBRARY_EACH(library_str_ends_with, "str_ends_with")
LIBRARY_EACH(library_str_replace, "str_replace")
LIBRARY_EACH(library_str_concat, "str_concat")
LIBRARY_EACH(library_str_lower, "str_lower")
LIBRARY_EACH(library_str_upper, "str_upper")

bool library_substring(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  if (!leat_library_each(dims, node, "substring", out)) return false;
  leat_library_scalar(out, leat_dim_const(leat_node_attr(node, "start")->i));
  leat_library_scalar(out, leat_dim_const(leat_node_attr(node, "size")->i));
  leat_library_scalar(out, leat_dim_const(leat_node_attr(node, "utf8")->i));
  return true;
}

bool library_str_length(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  if (!leat_library_each(dims, node, "str_length", out)) return false;
  leat_library_scalar(out, leat_dim_const(leat_node_attr(node, "utf8")->i));
  return true;
}

bool library_strip_string(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  if (!leat_library_each(dims, node, "strip_string", out)) return false;
  leat_library_scalar(out, leat_dim_const(leat_node_attr(node, "left")->i));
  leat_library_scalar(out, leat_dim_const(leat_node_attr(node, "right")->i));
  return true;
}

bool library_split_strings(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  if (!leat_library_each(dims, node, "split_strings", out)) return false;
  leat_library_scalar(out, leat_node_attr(node, "size")->dim);
  return true;
}

bool library_str_to_number(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  if (!leat_library_each(dims, node, "str_to_number", out)) return false;
  leat_library_scalar(out, leat_dim_const((int64_t)node->outputs[0].dtype));
  return true;
}

bool library_number_to_str(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  if (!leat_library_each(dims, node, "number_to_str", out)) return false;
  leat_library_scalar(out, leat_dim_const((int64_t)leat_value_type(node->inputs[0])->dtype));
  return true;
}

bool library_format_number(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  leat_number_style style = style_of(node);
  if (!leat_library_each(dims, node, "format_number", out)) return false;
  leat_library_scalar(out, leat_dim_const((int64_t)leat_value_type(node->inputs[0])->dtype));
  leat_library_scalar(out, leat_dim_const(style.notation));
  leat_library_scalar(out, leat_dim_const(style.fill));
  leat_library_scalar(out, leat_dim_const(style.precision));
  leat_library_scalar(out, leat_dim_const(style.width));
  return true;
}

bool library_join_strings(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  return leat_library_rows(dims, node, "join_strings", 10, out);
}
