// fold: evaluates constant subgraphs.
//
//   keeps   types and names; a folded node becomes a `const`, or a `broadcast` of a scalar `const`
//           where all its elements are equal
//   folds   ops whose reference is exact, by that reference, into at most MOST_ELEMENTS elements;
//           values that are one scalar everywhere are followed as that scalar, so their size does
//           not count and may be unknown
//   leaves  random, stateful and effectful ops, nodes after control edges, and what fails (it
//           fails when it runs)
//
// A node becomes a constant only where something that stays uses it; the rest falls in the
// sweep. `iota` and `broadcast` stay as they are: computing them is cheaper than loading them.
#include "base/float_mode.h"
#include "ops/build.h"
#include "ops/complex.h"
#include "ops/ops.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

#include <string.h>

enum { MOST_ELEMENTS = 1024, MOST_INPUTS = 64 };

// What a node is known to be: NULL when nothing, a scalar that all its elements have, or the whole
// tensor.
typedef struct folder {
  leat_pass_context *context;
  const leat_tensor **known; // by id
  bool *wanted;              // by id: something that stays uses it
} folder;

static bool is_scalar(const leat_tensor *tensor) {
  return tensor->rank == 0;
}

// The op at one index depends on its inputs at that index alone.
static bool is_pointwise(const leat_node *node) {
  const leat_op_info *info = node->info;
  return info->reads == LEAT_READS_SAME && info->kind != LEAT_KIND_REDUCE;
}

// The op only moves elements of its one input, and cannot fail while it runs.
static bool is_movement(const leat_node *node) {
  leat_op_reads reads = node->info->reads;
  if (reads == LEAT_READS_BROADCAST || reads == LEAT_READS_PERMUTED) return true;
  bool is_static = leat_type_is_static(&node->outputs[0]);
  return is_static && (reads == LEAT_READS_RESHAPED || reads == LEAT_READS_PICKED);
}

// -- Values --------------------------------------------------------------------------------

static const leat_tensor *scalar_at(leat_arena *arena, const leat_tensor *tensor) {
  leat_tensor *scalar = leat_new(arena, leat_tensor);
  *scalar = (leat_tensor){.dtype = tensor->dtype, .data = tensor->data};
  return scalar;
}

// The tensor, or the scalar that all its elements are.
static const leat_tensor *simplest(leat_arena *arena, const leat_tensor *tensor) {
  size_t size = leat_dtype_size(tensor->dtype);
  int64_t bytes = leat_tensor_bytes(tensor);
  if (is_scalar(tensor) || bytes <= 0) return tensor;
  bool equal = memcmp(tensor->data, (const char *)tensor->data + size, (size_t)bytes - size) == 0;
  return equal ? scalar_at(arena, tensor) : tensor;
}

// A tensor of `type`, which is static and small, with the scalar everywhere.
static leat_tensor spread(leat_arena *arena, const leat_tensor *scalar, const leat_type *type) {
  leat_tensor tensor = {.dtype = type->dtype, .rank = type->rank};
  for (int32_t i = 0; i < type->rank; i++) tensor.shape[i] = type->dims[i].value;
  size_t size = leat_dtype_size(type->dtype), count = (size_t)leat_type_static_elements(type);
  char *data = leat_arena_alloc_array(arena, count, size);
  for (size_t i = 0; i < count; i++) memcpy(data + i * size, scalar->data, size);
  tensor.data = data;
  return tensor;
}

// -- Evaluation ----------------------------------------------------------------------------

static const leat_tensor *evaluate(folder *f, const leat_node *node, const leat_tensor *inputs) {
  leat_error error = {0};
  leat_ref_context context = {.node = node, .inputs = inputs, .error = &error};
  if (leat_ref_evaluate(f->context->scratch, &context)) return NULL;
  return simplest(f->context->scratch, &context.outputs[0]);
}

// The op on the scalars that its inputs are.
static const leat_tensor *evaluate_scalar(folder *f, const leat_node *node) {
  leat_tensor inputs[MOST_INPUTS];
  leat_value values[MOST_INPUTS];
  leat_node stand_ins[MOST_INPUTS];
  leat_type types[MOST_INPUTS], result = leat_type_scalar(node->outputs[0].dtype);
  for (uint32_t i = 0; i < node->input_count; i++) {
    inputs[i] = *f->known[node->inputs[i].node->id];
    types[i] = leat_type_scalar(inputs[i].dtype);
    stand_ins[i] = (leat_node){.outputs = &types[i]};
    values[i] = (leat_value){&stand_ins[i], 0};
  }
  leat_node scalar = *node;
  scalar.inputs = values;
  scalar.outputs = &result;
  return evaluate(f, &scalar, inputs);
}

static const leat_tensor *evaluate_tensor(folder *f, const leat_node *node) {
  leat_tensor inputs[MOST_INPUTS];
  int64_t elements = leat_type_static_elements(&node->outputs[0]);
  if (elements < 0 || elements > MOST_ELEMENTS) return NULL;
  for (uint32_t i = 0; i < node->input_count; i++) {
    const leat_tensor *known = f->known[node->inputs[i].node->id];
    const leat_type *type = leat_value_type(node->inputs[i]);
    elements = leat_type_static_elements(type);
    if (elements < 0) return NULL;
    bool small = elements <= MOST_ELEMENTS;
    if (is_scalar(known) && type->rank > 0 && !small) return NULL;
    inputs[i] = is_scalar(known) ? spread(f->context->scratch, known, type) : *known;
  }
  return evaluate(f, node, inputs);
}

// Of complex numbers these are not correctly rounded.
static bool is_inexact(const leat_node *node) {
  bool rounds = node->op == LEAT_OP_abs || node->op == LEAT_OP_sqrt;
  return rounds && leat_dtype_is_complex(leat_value_type(node->inputs[0])->dtype);
}

static bool may_fold(const folder *f, const leat_node *node) {
  const leat_op_info *info = node->info;
  unsigned never = LEAT_FLAG_RANDOM | LEAT_FLAG_STATE | LEAT_FLAG_EFFECT;
  if (!(info->flags & LEAT_FLAG_EXACT) || is_inexact(node) || info->flags & never ||
      node->control_count || node->output_count != 1 || node->input_count > MOST_INPUTS ||
      !leat_ref_of(node->op))
    return false;
  for (uint32_t i = 0; i < node->input_count; i++)
    if (!f->known[node->inputs[i].node->id]) return false;
  return true;
}

static const leat_tensor *find_value(folder *f, const leat_node *node) {
  if (node->op == LEAT_OP_const)
    return simplest(f->context->scratch, leat_node_attr(node, "value")->tensor);
  if (!may_fold(f, node)) return NULL;
  bool scalars = node->input_count > 0;
  for (uint32_t i = 0; i < node->input_count; i++)
    scalars = scalars && is_scalar(f->known[node->inputs[i].node->id]);
  if (scalars && is_movement(node)) return f->known[node->inputs[0].node->id];
  return scalars && is_pointwise(node) ? evaluate_scalar(f, node) : evaluate_tensor(f, node);
}

// -- Replacement ---------------------------------------------------------------------------

// Known, but better computed where it is used.
static bool stays(const folder *f, const leat_node *node) {
  if (!f->known[node->id] || node->op == LEAT_OP_const || node->op == LEAT_OP_iota) return true;
  return node->op == LEAT_OP_broadcast && node->inputs[0].node->outputs[0].rank == 0;
}

static void find_wanted(folder *f) {
  const leat_graph *graph = f->context->graph;
  for (uint32_t i = 0; i < graph->states.count; i++)
    if (graph->states.items[i]->init.node) f->wanted[graph->states.items[i]->init.node->id] = true;
  for (uint32_t i = graph->nodes.count; i-- > 0;) {
    const leat_node *node = graph->nodes.items[i];
    if (!stays(f, node) || (f->known[i] && !f->wanted[i])) continue;
    for (uint32_t j = 0; j < node->input_count; j++) f->wanted[node->inputs[j].node->id] = true;
  }
}

static void become(leat_node *node, leat_op op, const leat_value *input, const leat_attr *attr,
                   leat_arena *arena) {
  leat_node_set_op(node, op);
  node->attrs = leat_arena_memdup(arena, attr, sizeof *attr);
  node->input_count = input ? 1 : 0;
  if (input) node->inputs = leat_arena_memdup(arena, input, sizeof *input);
}

static void become_constant(folder *f, leat_node *node) {
  leat_graph *graph = f->context->graph;
  const leat_type *type = &node->outputs[0];
  const leat_tensor *known = f->known[node->id];
  leat_builder builder = {.graph = graph,
                          .diag = f->context->diag,
                          .span = node->span,
                          .device = node->device,
                          .colocate = node->colocate,
                          .entry = node->entry};
  if (is_scalar(known) && type->rank > 0) {
    leat_value scalar = leat_build_const(
        &builder, leat_arena_printf(f->context->scratch, "%s/value", node->name), known);
    leat_attr shape = {.count = (uint32_t)type->rank, .dims = type->dims};
    become(node, LEAT_OP_broadcast, &scalar, &shape, graph->arena);
    return;
  }
  leat_tensor *value = leat_arena_memdup(graph->arena, known, sizeof *known);
  value->data = leat_arena_memdup(graph->arena, known->data, (size_t)leat_tensor_bytes(known));
  become(node, LEAT_OP_const, NULL, &(leat_attr){.tensor = value}, graph->arena);
}

leat_status leat_pass_fold(leat_pass_context *context) {
  leat_graph *graph = context->graph;
  folder f = {.context = context};
  f.known = leat_new_array(context->scratch, const leat_tensor *, graph->nodes.count);
  f.wanted = leat_new_array(context->scratch, bool, graph->nodes.count);
  leat_float_mode before = leat_float_mode_begin(context->keep_denormals);
  for (uint32_t i = 0; i < graph->nodes.count; i++)
    f.known[i] = find_value(&f, graph->nodes.items[i]);
  leat_float_mode_end(before);
  find_wanted(&f);

  leat_rewriter r = leat_rewrite_begin(graph, context->scratch);
  for (uint32_t i = 0; i < r.count; i++) {
    leat_node *node = graph->nodes.items[i];
    if (f.wanted[i] && !stays(&f, node)) become_constant(&f, node);
    leat_rewrite_keep(&r, node);
  }
  leat_rewrite_finish(&r);
  return LEAT_OK;
}
