// legalize: puts each part into the ops and dtypes that kernels compute in.
//
//   needs   parts (partition); those of devices that evaluate by reference stay as they are
//   keeps   types and names of what the part receives, sends, fetches and keeps in variables
//   makes   v += x      v := v + x
//           concat of very many   is one of concats
//           f16, bf16   what computes with them computes in f32, and each result is rounded to them
//                       once; what only moves them, or converts, stays
//
// What an op is written in terms of stands below its name: `a/b/add` of node `a/b`.
#include "passes/legalize.h"

#include "base/half.h"
#include "ops/build.h"

typedef leat_legalizer legalizer;

enum { MOST_OUTPUTS = 8, MOST_PARTS = 256 };

// -- Building -------------------------------------------------------------------------------------

static leat_builder builder_of(const legalizer *l) {
  const leat_node *node = l->node;
  return (leat_builder){.graph = l->graph,
                        .diag = l->diag,
                        .span = node->span,
                        .device = node->device,
                        .colocate = node->colocate,
                        .entry = node->entry,
                        .place = node->place};
}

leat_value leat_legal_op(legalizer *l, leat_op op, const leat_value *inputs, uint32_t count,
                         const leat_attr *attrs) {
  leat_builder builder = builder_of(l);
  const char *name = leat_arena_printf(l->graph->arena, "%s/%s", l->node->name, leat_op_name(op));
  return leat_build(&builder, name, op, inputs, count, attrs);
}

leat_value leat_legal_number(legalizer *l, leat_dtype dtype, double value) {
  leat_builder builder = builder_of(l);
  const char *name = leat_arena_printf(l->graph->arena, "%s/const", l->node->name);
  return leat_build_scalar(&builder, name, dtype, value);
}

leat_value leat_legal_cast(legalizer *l, leat_dtype dtype, leat_value value) {
  leat_attr attr = {.i = dtype};
  return leat_legal_op(l, LEAT_OP_cast, &value, 1, &attr);
}

// What waits for control edges is now the built node.
static void take_controls(legalizer *l, leat_node *built) {
  if (built) leat_node_add_controls(l->graph, built, l->node->controls, l->node->control_count);
}

// -- f16 and bf16 ---------------------------------------------------------------------------------

static bool has_halves(const leat_node *node) {
  for (uint32_t i = 0; i < node->input_count; i++)
    if (leat_dtype_is_half(leat_value_type(node->inputs[i])->dtype)) return true;
  return false;
}

// On inputs that are f32 instead; `values`: the outputs, rounded to the dtypes they had.
static bool compute_wide(legalizer *l, const leat_node *node, leat_value *values) {
  leat_value *wide = leat_new_array(l->graph->arena, leat_value, node->input_count);
  for (uint32_t i = 0; i < node->input_count; i++) {
    bool half = leat_dtype_is_half(leat_value_type(node->inputs[i])->dtype);
    wide[i] = half ? leat_legal_cast(l, LEAT_f32, node->inputs[i]) : node->inputs[i];
  }
  leat_value first = leat_legal_op(l, node->op, wide, node->input_count, node->attrs);
  if (!first.node) return false;
  take_controls(l, first.node);
  for (uint32_t i = 0; i < node->output_count; i++) {
    leat_value value = {first.node, i};
    bool half = leat_dtype_is_half(node->outputs[i].dtype);
    values[i] = half ? leat_legal_cast(l, node->outputs[i].dtype, value) : value;
  }
  return true;
}

// -- c64 and c128 ---------------------------------------------------------------------------------

// What was put together is not taken apart again.
static leat_parts parts_of(legalizer *l, leat_value value) {
  if (!leat_dtype_is_complex(leat_value_type(value)->dtype)) return (leat_parts){.re = value};
  const leat_node *node = value.node;
  if (node->op == LEAT_OP_complex) return (leat_parts){node->inputs[0], node->inputs[1]};
  return (leat_parts){leat_legal_op(l, LEAT_OP_real, &value, 1, NULL),
                      leat_legal_op(l, LEAT_OP_imag, &value, 1, NULL)};
}

static bool compute_parts(legalizer *l, const leat_node *node, leat_value *value) {
  leat_parts *inputs = leat_new_array(l->graph->arena, leat_parts, node->input_count);
  for (uint32_t i = 0; i < node->input_count; i++) inputs[i] = parts_of(l, node->inputs[i]);
  leat_parts parts = leat_complex_parts(l, node, inputs);
  leat_value both[] = {parts.re, parts.im};
  *value = parts.im.node ? leat_legal_op(l, LEAT_OP_complex, both, 2, NULL) : parts.re;
  if (value->node) take_controls(l, value->node);
  return value->node;
}

// -- Any op ---------------------------------------------------------------------------------------

static bool is_complex_product(const leat_node *node) {
  return node->op == LEAT_OP_prod && leat_dtype_is_complex(node->outputs[0].dtype);
}

static bool is_illegal(const leat_node *node) {
  leat_op_kind kind = node->info->kind;
  bool has_code = kind != LEAT_KIND_STRUCTURE && kind != LEAT_KIND_HOST;
  return leat_is_complex_op(node) || is_complex_product(node) ||
         (has_code && has_halves(node) && leat_op_computes(node->op));
}

// The node's op on its inputs; `values`: what stands for its outputs.
static bool compute(legalizer *l, const leat_node *node, leat_value *values) {
  if (leat_is_complex_op(node)) return compute_parts(l, node, values);
  if (is_complex_product(node)) {
    *values = leat_complex_product(l, node);
    return values->node;
  }
  if (is_illegal(node)) return compute_wide(l, node, values);
  *values = leat_legal_op(l, node->op, node->inputs, node->input_count, node->attrs);
  return values->node;
}

// -- v += x ---------------------------------------------------------------------------------------

static bool expand_update(legalizer *l, leat_node *node) {
  leat_attr state = *leat_node_attr(node, "state");
  const leat_type *type = &state.state->type;
  leat_value read = leat_legal_op(l, LEAT_OP_read, NULL, 0, &state);
  leat_value terms[] = {read, node->inputs[0]}, sum;
  leat_node add = *node;
  leat_node_set_op(&add, LEAT_OP_add);
  add.inputs = terms;
  add.input_count = 2;
  add.outputs = type;
  take_controls(l, read.node);
  if (!compute(l, &add, &sum)) return false;
  leat_node_set_op(node, LEAT_OP_assign);
  node->inputs[0] = sum;
  leat_node_add_control(l->graph, node, read.node);
  return true;
}

// -- Concats of very many ------------------------------------------------------------------------

// In parts: one kernel of n inputs takes a compiler time that grows with n². Concats do not fuse.
static bool concat_parts(legalizer *l, leat_node *node) {
  while (node->input_count > MOST_PARTS) {
    leat_vec(leat_value) parts = {0};
    for (uint32_t i = 0; i < node->input_count; i += MOST_PARTS) {
      uint32_t left = node->input_count - i, count = left < MOST_PARTS ? left : MOST_PARTS;
      leat_value part = leat_legal_op(l, LEAT_OP_concat, node->inputs + i, count, node->attrs);
      if (!part.node) return false;
      take_controls(l, part.node);
      leat_vec_push(l->graph->arena, &parts, part);
    }
    node->inputs = parts.items;
    node->input_count = parts.count;
  }
  return true;
}

// -- The pass -------------------------------------------------------------------------------------

static bool legalize_node(legalizer *l, leat_node *node) {
  leat_value values[MOST_OUTPUTS];
  l->node = node;
  if (node->op == LEAT_OP_assign_add && !expand_update(l, node)) return false;
  if (node->op == LEAT_OP_concat && !concat_parts(l, node)) return false;
  if (!is_illegal(node)) {
    leat_rewrite_keep(&l->rewriter, node);
    return true;
  }
  if (!compute(l, node, values)) return false;
  leat_rewrite_replace_all(&l->rewriter, node, values);
  return true;
}

leat_status leat_pass_legalize(leat_pass_context *context) {
  leat_graph *graph = context->graph;
  legalizer l = {.graph = graph, .diag = context->diag};
  if (leat_part_by_reference(context, graph)) return LEAT_OK;
  l.rewriter = leat_rewrite_begin(graph, context->scratch);
  for (uint32_t i = 0; i < l.rewriter.count; i++) {
    leat_node *node = graph->nodes.items[i];
    leat_rewrite_inputs(&l.rewriter, node);
    if (!legalize_node(&l, node)) return LEAT_INVALID;
  }
  leat_rewrite_finish(&l.rewriter);
  return LEAT_OK;
}
