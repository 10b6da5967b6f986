// Regular expressions (base/regex.h), which the module leat-pcre2 computes on every target.
#include "base/regex.h"
#include "base/module.h"
#include "ops/library.h"
#include "ops/ref.h"
#include "ops/shape.h"

static leat_status find(const leat_regex_functions **out, leat_error *error) {
  const void *table = NULL;
  leat_error why = {0};
  leat_status status = leat_module_load("pcre2", "leat_pcre2", &table, &why);
  *out = table;
  return status ? leat_fail(error, status, "regular expressions need PCRE2: %s", why.message)
                : LEAT_OK;
}

// -- Shapes ---------------------------------------------------------------------------------------

// The input, if it is known while compiling.
static const leat_str *known(const leat_shape_context *context, uint32_t input) {
  const leat_node *node = context->node->inputs[input].node;
  return node->op == LEAT_OP_const ? leat_node_attr(node, "value")->tensor->data : NULL;
}

static leat_status check(const leat_shape_context *context, leat_error *error) {
  const leat_regex_functions *functions;
  LEAT_TRY(find(&functions, error));
  const leat_str *pattern = known(context, 1);
  if (!pattern) return LEAT_OK;
  LEAT_TRY(functions->check(*pattern, error));
  const leat_str *rewrite = context->node->input_count > 2 ? known(context, 2) : NULL;
  return rewrite ? functions->check_rewrite(*pattern, *rewrite, error) : LEAT_OK;
}

// What would fail in each step is refused at once.
static bool shape(leat_shape_context *context, leat_dtype dtype) {
  static const char *const what[] = {[1] = "pattern", [2] = "rewrite"};
  leat_error error = {0};
  for (uint32_t i = 1; i < context->node->input_count; i++)
    if (leat_shape_input(context, i)->rank)
      return leat_shape_fail(context, "the %s is one string", what[i]);
  if (check(context, &error)) return leat_shape_fail(context, "%s", error.message);
  context->outputs[0] = *leat_shape_input(context, 0);
  context->outputs[0].dtype = dtype;
  return true;
}

bool shape_regex_full_match(leat_shape_context *context) {
  return shape(context, LEAT_bool);
}

bool shape_regex_replace(leat_shape_context *context) {
  return shape(context, LEAT_str);
}

// -- Values ---------------------------------------------------------------------------------------

static void *allocate(void *arena, uint64_t size) {
  return leat_arena_try_alloc(arena, size);
}

static leat_regex_work work_of(const leat_ref_context *context) {
  return (leat_regex_work){.pattern = *(const leat_str *)context->inputs[1].data,
                           .x = context->inputs[0].data,
                           .end = leat_ref_count(&context->inputs[0]),
                           .allocate = allocate,
                           .context = context->arena};
}

leat_status ref_regex_full_match(leat_ref_context *context) {
  leat_error error = {0};
  const leat_regex_functions *functions;
  leat_regex_work work = work_of(context);
  leat_status status = find(&functions, &error);
  if (!status) status = functions->full_match(&work, context->outputs[0].data, &error);
  return status ? leat_ref_fail(context, status, "%s", error.message) : LEAT_OK;
}

leat_status ref_regex_replace(leat_ref_context *context) {
  leat_error error = {0};
  const leat_regex_functions *functions;
  leat_regex_work work = work_of(context);
  work.rewrite = *(const leat_str *)context->inputs[2].data;
  work.all = leat_node_attr(context->node, "all")->i;
  leat_status status = find(&functions, &error);
  if (!status) status = functions->replace(&work, context->outputs[0].data, &error);
  return status ? leat_ref_fail(context, status, "%s", error.message) : LEAT_OK;
}

// -- Code -----------------------------------------------------------------------------------------

static bool each(leat_dims *dims, const leat_node *node, const char *function,
                 leat_library_call *out) {
  enum { TIMES = 20 }; // as slow as other functions of strings
  bool fits = leat_library_each(dims, node, function, out);
  out->module = "pcre2";
  out->work *= TIMES;
  return fits;
}

bool library_regex_full_match(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  return each(dims, node, "full_match", out);
}

bool library_regex_replace(leat_dims *dims, const leat_node *node, leat_library_call *out) {
  if (!each(dims, node, "replace", out)) return false;
  leat_library_scalar(out, leat_dim_const(leat_node_attr(node, "all")->i));
  return true;
}
