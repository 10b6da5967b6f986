// Evaluates one node with ref_X, from buffers to buffers.
#include "base/str.h"
#include "ops/ref.h"
#include "targets/ref/ref.h"
#include "targets/ref/ref_site.h"

#include <string.h>

// The step's values by atom id, as ref_X and leat_dim_eval want them.
static void set_dims(leat_ref_context *context, leat_arena *arena, const leat_ref_site *site,
                     const leat_arg *values) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < site->dim_count; i++)
    if (site->atoms[i]->id >= most) most = site->atoms[i]->id + 1;
  int64_t *dim_values = leat_new_array(arena, int64_t, most + 1);
  bool *dim_known = leat_new_array(arena, bool, most + 1);
  for (uint32_t i = 0; i < site->dim_count; i++) {
    dim_values[site->atoms[i]->id] = values[i].value;
    dim_known[site->atoms[i]->id] = true;
  }
  context->dim_values = dim_values;
  context->dim_known = dim_known;
}

static bool set_tensor(const leat_ref_context *context, const leat_type *type, void *data,
                       leat_tensor *out) {
  *out = (leat_tensor){.dtype = type->dtype, .rank = type->rank, .data = data};
  for (int i = 0; i < type->rank; i++)
    if (!leat_dim_eval(type->dims[i], context->dim_values, context->dim_known, &out->shape[i]))
      return false;
  return true;
}

// What an evaluation made ends with its arena: strings move to the call's heap.
static leat_status keep_strings(leat_string_heap *heap, const leat_tensor *tensor) {
  int64_t count = leat_ref_count(tensor);
  char *bytes = leat_string_heap_allocate(heap, leat_strs_bytes(tensor->data, count));
  if (!bytes) return LEAT_MEMORY;
  leat_strs_copy(tensor->data, tensor->data, count, bytes);
  return LEAT_OK;
}

// Outputs are evaluated into memory of their own, because a ref_X may read and write in any order.
static leat_status evaluate(leat_string_heap *heap, leat_ref_context *context, leat_arena *arena,
                            const leat_arg *args) {
  const leat_node *node = context->node;
  uint32_t outputs = node->output_count;
  leat_tensor *inputs = leat_new_array(arena, leat_tensor, node->input_count);
  for (uint32_t i = 0; i < node->input_count; i++)
    if (!set_tensor(context, leat_value_type(node->inputs[i]), args[outputs + i].pointer,
                    &inputs[i]))
      return LEAT_OUT_OF_RANGE;
  context->inputs = inputs;
  LEAT_TRY(leat_ref_evaluate(arena, context));
  for (uint32_t i = 0; i < outputs; i++) {
    if (context->outputs[i].dtype == LEAT_str) LEAT_TRY(keep_strings(heap, &context->outputs[i]));
    size_t size = (size_t)leat_tensor_bytes(&context->outputs[i]);
    if (size) memcpy(args[i].pointer, context->outputs[i].data, size);
  }
  return LEAT_OK;
}

// The variable, the variable, the addend: an `add` in all but name.
static leat_status evaluate_update(leat_string_heap *heap, leat_ref_context *context,
                                   leat_arena *arena, const leat_arg *args) {
  leat_node add = *context->node;
  leat_value operands[] = {add.inputs[0], add.inputs[0]};
  leat_node_set_op(&add, LEAT_OP_add);
  add.inputs = operands;
  add.input_count = 2;
  add.outputs = leat_value_type(operands[0]);
  context->node = &add;
  return evaluate(heap, context, arena, args);
}

static leat_status run(leat_call *call, const leat_ref_site *site, const leat_arg *args,
                       leat_error *why) {
  leat_arena *arena = leat_arena_create();
  leat_ref_context context = {.node = site->node, .error = why};
  set_dims(&context, arena, site, args + 1);
  const leat_arg *buffers = args + 1 + site->dim_count;
  bool updates = site->node->op == LEAT_OP_assign_add;
  leat_status status = updates ? evaluate_update(call->heap, &context, arena, buffers)
                               : evaluate(call->heap, &context, arena, buffers);
  leat_arena_destroy(arena);
  return status;
}

// Arguments: the site's address, the dims, the outputs, the inputs.
int32_t leat_ref_kernel(leat_call *call, const leat_arg *args, int64_t tile_begin,
                        int64_t tile_end) {
  if (tile_begin >= tile_end) return 0;
  leat_error why = {0};
  leat_status status;
  LEAT_RECOVER(status, run(call, (const leat_ref_site *)(uintptr_t)args[0].value, args, &why));
  if (status && why.message[0]) leat_call_explain(call, status, "%s", why.message);
  return (int32_t)status; // site 0
}
