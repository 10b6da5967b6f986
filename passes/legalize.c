// legalize: puts each part into the ops and dtypes that kernels compute in.
//
//   needs   parts (partition); those of devices that evaluate by reference stay as they are
//   keeps   types and names of what the part receives, sends, fetches and keeps in variables
//   makes   v += x      v := v + x
//           ensure_shape   is after a check_dims, which the host does
//           f16, bf16   what computes with them computes in f32, and each result is rounded to them
//                       once; what only moves them, or converts, stays
//
// What an op is written in terms of stands below its name: `a/b/add` of node `a/b`.
#include "base/half.h"
#include "ops/build.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

enum { MOST_OUTPUTS = 8 };

typedef struct legalizer {
  leat_graph *graph;
  leat_diag *diag;
  leat_rewriter rewriter;
  const leat_node *node; // being rewritten
} legalizer;

// -- Building -------------------------------------------------------------------------------------

static leat_value build_some(legalizer *l, leat_op op, const leat_value *inputs, uint32_t count,
                             const leat_attr *attrs) {
  const leat_node *node = l->node;
  leat_builder builder = {l->graph, l->diag, node->span, node->device, node->colocate, node->entry};
  const char *name = leat_arena_printf(l->graph->arena, "%s/%s", node->name, leat_op_name(op));
  return leat_build(&builder, name, op, inputs, count, attrs);
}

static leat_value cast_to(legalizer *l, leat_dtype dtype, leat_value value) {
  leat_attr attr = {.i = dtype};
  return build_some(l, LEAT_OP_cast, &value, 1, &attr);
}

// What waits for control edges is now the built node.
static void take_controls(legalizer *l, leat_node *built) {
  for (uint32_t i = 0; built && i < l->node->control_count; i++)
    leat_node_add_control(l->graph, built, l->node->controls[i]);
}

// -- f16 and bf16 ---------------------------------------------------------------------------------

static bool has_halves(const leat_node *node) {
  for (uint32_t i = 0; i < node->input_count; i++)
    if (leat_dtype_is_half(leat_value_type(node->inputs[i])->dtype)) return true;
  return false;
}

// The op on inputs that are f32 instead; `values`: its outputs, rounded to the dtypes they had.
static bool compute_wide(legalizer *l, leat_op op, const leat_value *inputs, uint32_t count,
                         const leat_attr *attrs, const leat_type *outputs, leat_value *values) {
  leat_value *wide = leat_new_array(l->graph->arena, leat_value, count);
  for (uint32_t i = 0; i < count; i++) {
    bool half = leat_dtype_is_half(leat_value_type(inputs[i])->dtype);
    wide[i] = half ? cast_to(l, LEAT_f32, inputs[i]) : inputs[i];
  }
  leat_value first = build_some(l, op, wide, count, attrs);
  if (!first.node) return false;
  take_controls(l, first.node);
  for (uint32_t i = 0; i < (uint32_t)leat_op_info_of(op)->outputs; i++) {
    leat_value value = {first.node, i};
    bool half = leat_dtype_is_half(outputs[i].dtype);
    values[i] = half ? cast_to(l, outputs[i].dtype, value) : value;
  }
  return true;
}

// -- v += x ---------------------------------------------------------------------------------------

static bool expand_update(legalizer *l, leat_node *node) {
  leat_attr state = *leat_node_attr(node, "state");
  const leat_type *type = &state.state->type;
  leat_value read = build_some(l, LEAT_OP_read, NULL, 0, &state);
  leat_value terms[] = {read, node->inputs[0]}, sum;
  take_controls(l, read.node);
  if (leat_dtype_is_half(type->dtype)) {
    if (!compute_wide(l, LEAT_OP_add, terms, 2, NULL, type, &sum)) return false;
  } else {
    sum = build_some(l, LEAT_OP_add, terms, 2, NULL);
  }
  if (!sum.node) return false;
  node->op = LEAT_OP_assign;
  node->inputs[0] = sum;
  leat_node_add_control(l->graph, node, read.node);
  return true;
}

// -- Dims that must be equal ----------------------------------------------------------------------

static bool check_before(legalizer *l, leat_node *node) {
  const leat_type *x = leat_value_type(node->inputs[0]);
  leat_attr attrs[] = {{.count = (uint32_t)x->rank, .dims = x->dims},
                       *leat_node_attr(node, "shape")};
  leat_value check = build_some(l, LEAT_OP_check_dims, NULL, 0, attrs);
  if (check.node) leat_node_add_control(l->graph, node, check.node);
  return check.node;
}

// -- The pass -------------------------------------------------------------------------------------

static bool legalize_node(legalizer *l, leat_node *node) {
  leat_value values[MOST_OUTPUTS];
  l->node = node;
  leat_op_kind kind = leat_op_info_of(node->op)->kind;
  bool keeps = kind == LEAT_KIND_STRUCTURE || kind == LEAT_KIND_HOST;
  if (node->op == LEAT_OP_assign_add && !expand_update(l, node)) return false;
  if (node->op == LEAT_OP_ensure_shape && !check_before(l, node)) return false;
  if (keeps || !has_halves(node) || !leat_op_computes(node->op)) {
    leat_rewrite_keep(&l->rewriter, node);
    return true;
  }
  if (!compute_wide(l, node->op, node->inputs, node->input_count, node->attrs, node->outputs,
                    values))
    return false;
  leat_rewrite_replace_all(&l->rewriter, node, values);
  return true;
}

static leat_status legalize(leat_pass_context *context, leat_graph *graph) {
  legalizer l = {.graph = graph, .diag = context->diag};
  l.rewriter = leat_rewrite_begin(graph, context->scratch);
  for (uint32_t i = 0; i < l.rewriter.count; i++) {
    leat_node *node = graph->nodes.items[i];
    leat_rewrite_inputs(&l.rewriter, node);
    if (!legalize_node(&l, node)) return LEAT_INVALID;
  }
  leat_rewrite_finish(&l.rewriter);
  return LEAT_OK;
}

static bool by_reference(const leat_pass_context *context, const leat_graph *part) {
  for (uint32_t i = 0; i < context->device_count; i++)
    if (context->devices[i].name == part->device) return context->devices[i].by_reference;
  return false;
}

leat_status leat_pass_legalize(leat_pass_context *context) {
  for (uint32_t i = 0; i < context->parts.count; i++)
    if (!by_reference(context, context->parts.items[i]))
      LEAT_TRY(legalize(context, context->parts.items[i]));
  return LEAT_OK;
}
