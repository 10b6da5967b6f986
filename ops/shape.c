// Errors and checks of shape rules.
#include "ops/shape.h"

#include "ops/build.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

// 3*B and 4*B: equal only when there is nothing.
static bool are_multiples(leat_dim a, leat_dim b) {
  if (!a.poly || !b.poly || a.poly->count != 1 || b.poly->count != 1) return false;
  const leat_term *x = a.poly->terms, *y = b.poly->terms;
  size_t bytes = x->count * sizeof *x->atoms;
  return x->count == y->count && !memcmp(x->atoms, y->atoms, bytes);
}

bool leat_dims_may_be_equal(const leat_graph *graph, leat_dim a, leat_dim b) {
  leat_dim difference;
  if (are_multiples(a, b) && !leat_dim_equal(a, b)) return false;
  return !leat_dim_sub(graph->dims, a, b, &difference) || leat_dim_may_be(difference, 0);
}

const char *leat_dims_clash(const leat_graph *graph, leat_dim a, leat_dim b) {
  return leat_arena_printf(graph->arena,
                           leat_dims_may_be_equal(graph, a, b)
                               ? "%s and %s are not known to be equal"
                               : "%s and %s differ",
                           leat_dim_text(graph->arena, a), leat_dim_text(graph->arena, b));
}

const leat_type *leat_shape_input(const leat_shape_context *context, uint32_t i) {
  return leat_value_type(context->node->inputs[i]);
}

bool leat_shape_fail(leat_shape_context *context, const char *format, ...) {
  enum { MAX_SHOWN = 4 };
  const leat_node *node = context->node;
  leat_text text = {0};
  leat_text_add(&text, "%s", leat_op_name(node->op));
  for (uint32_t i = 0; i < node->input_count && i < MAX_SHOWN; i++) {
    leat_text_add(&text, "%s", i == 0 ? " of " : i + 1 < node->input_count ? ", " : " and ");
    leat_type_print(leat_shape_input(context, i), &text);
  }
  if (node->input_count > MAX_SHOWN) leat_text_add(&text, ", …");
  leat_text_add(&text, ": ");
  va_list arguments;
  va_start(arguments, format);
  leat_text_add_v(&text, format, arguments);
  va_end(arguments);
  leat_error_at(context->diag, node->span, "%s", text.data);
  leat_text_finish(&text);
  return false;
}

bool leat_shape_is_dtype(leat_shape_context *context, uint32_t input, leat_dtype dtype) {
  return leat_shape_input(context, input)->dtype == dtype ||
         leat_shape_fail(context, "input %u must be %s", input + 1, leat_dtype_name(dtype));
}

bool leat_shape_same_dtype(leat_shape_context *context, uint32_t first, uint32_t other) {
  leat_dtype a = leat_shape_input(context, first)->dtype;
  leat_dtype b = leat_shape_input(context, other)->dtype;
  if (a == b) return true;
  const leat_value *inputs = context->node->inputs;
  const char *hint = leat_dtype_in_class(a, LEAT_CLASS_INTEGER) ? leat_quotient_hint(inputs[other])
                     : leat_dtype_in_class(b, LEAT_CLASS_INTEGER)
                         ? leat_quotient_hint(inputs[first])
                         : "";
  return leat_shape_fail(context, "dtypes %s and %s differ; only `cast` converts%s",
                         leat_dtype_name(a), leat_dtype_name(b), hint);
}

bool leat_shape_dims_equal(leat_shape_context *context, leat_dim a, leat_dim b, const char *format,
                           ...) {
  if (leat_dim_equal(a, b)) return true;
  if (context->checks && leat_dims_may_be_equal(context->graph, a, b)) {
    leat_vec_push(context->graph->arena, context->checks, (leat_dim_pair){a, b});
    return true;
  }
  va_list arguments;
  va_start(arguments, format);
  const char *where = leat_arena_vprintf(context->graph->arena, format, arguments);
  va_end(arguments);
  return leat_shape_fail(context, "%s: %s", where, leat_dims_clash(context->graph, a, b));
}

const char *leat_claim_text(leat_arena *arena, const leat_claim *claim) {
  const char *says = claim->says, *at, *text = "";
  for (uint32_t i = 0; i < claim->count && (at = strstr(says, "%lld")); i++) {
    const char *value = leat_dim_text(arena, claim->values[i]);
    text = leat_arena_printf(arena, "%s%.*s%s", text, (int)(at - says), says, value);
    says = at + strlen("%lld");
  }
  return leat_arena_printf(arena, "%s%s", text, says);
}

bool leat_shape_claim(leat_shape_context *context, const leat_claim *claim) {
  leat_graph *graph = context->graph;
  if (leat_dim_bounds(claim->room).low >= 0) return true;
  if (!leat_dim_is_const(claim->room)) {
    if (context->claims) leat_vec_push(graph->arena, context->claims, *claim);
    return true;
  }
  return leat_shape_fail(context, "%s", leat_claim_text(graph->arena, claim));
}

bool leat_shape_claim_counted(leat_shape_context *context, leat_dim count) {
  leat_claim claim = {
      .says = "%lld elements are more than an i32 can count", .count = 1, .values = {count}};
  return (leat_dim_sub(context->graph->dims, leat_dim_const(INT32_MAX), count, &claim.room) ||
          leat_shape_fail(context, "too many elements")) &&
         leat_shape_claim(context, &claim);
}

bool leat_shape_like_input(leat_shape_context *context) {
  for (uint32_t i = 1; i < context->node->input_count; i++)
    if (!leat_shape_same_dtype(context, 0, i)) return false;
  context->outputs[0] = *leat_shape_input(context, 0);
  return true;
}

bool leat_shape_axis(leat_shape_context *context, int64_t axis, int32_t rank) {
  return (axis >= 0 && axis < rank) ||
         leat_shape_fail(context, "there is no axis %lld in a tensor of rank %d", (long long)axis,
                         rank);
}

bool leat_shape_dim_ok(leat_shape_context *context, leat_dim dim) {
  return !leat_dim_is_const(dim) || dim.value >= 0 ||
         leat_shape_fail(context, "a dimension of %lld", (long long)dim.value);
}

bool leat_shape_of_dims(leat_shape_context *context, leat_dtype dtype, const leat_attr *dims,
                        leat_type *out) {
  assert(dims->count <= LEAT_MAX_RANK); // whoever reads a list of dims says so
  *out = (leat_type){.dtype = dtype, .rank = (int32_t)dims->count};
  for (uint32_t i = 0; i < dims->count; i++) {
    if (!leat_shape_dim_ok(context, dims->dims[i])) return false;
    out->dims[i] = dims->dims[i];
  }
  return true;
}
