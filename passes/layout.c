// Down the inputs of a transpose as far as each element is computed of elements at the same place.
// A value that is used in both orders is computed twice; in nets of layers nobody is left who uses
// the old one.
#include "passes/layout.h"

enum { DEEPEST = 200 };

typedef enum verdict { UNKNOWN, NO, FREE, CANCELS } verdict; // FREE: what only broadcasts

typedef struct transposed {
  verdict verdict;
  leat_value built;
} transposed;

void leat_layout_init(leat_layout *layout, leat_graph *graph, leat_diag *diag,
                      leat_arena *scratch) {
  *layout = (leat_layout){.graph = graph, .diag = diag};
  leat_bytes_map_init(&layout->known, scratch);
}

static transposed *known(leat_layout *layout, const leat_node *node, const leat_attr *perm) {
  int64_t key[LEAT_MAX_RANK + 1] = {(int64_t)(intptr_t)node};
  for (uint32_t i = 0; i < perm->count; i++) key[i + 1] = perm->ints[i];
  size_t size = (perm->count + 1) * sizeof *key;
  transposed *found = leat_bytes_map_get(&layout->known, key, size);
  if (found) return found;
  found = leat_new(layout->known.arena, transposed);
  leat_bytes_map_set(&layout->known, key, size, found);
  return found;
}

static bool is_inverse(const leat_attr *inner, const leat_attr *outer) {
  for (uint32_t i = 0; i < outer->count; i++)
    if (inner->ints[outer->ints[i]] != (int64_t)i) return false;
  return true;
}

static bool is_element_wise(const leat_node *node) {
  const unsigned others = LEAT_FLAG_FAILS | LEAT_FLAG_FAILS_LATE | LEAT_FLAG_EFFECT |
                          LEAT_FLAG_STATE | LEAT_FLAG_RANDOM;
  return node->info->kind == LEAT_KIND_ELEMENT && node->info->reads == LEAT_READS_SAME &&
         !(node->info->flags & others) && node->input_count > 0;
}

static verdict judge(leat_layout *layout, leat_value value, const leat_attr *perm, unsigned depth);

static verdict judge_inputs(leat_layout *layout, const leat_node *node, const leat_attr *perm,
                            unsigned depth) {
  verdict whole = FREE;
  for (uint32_t i = 0; i < node->input_count; i++) {
    verdict each = judge(layout, node->inputs[i], perm, depth + 1);
    if (each == NO) return NO;
    if (each == CANCELS) whole = CANCELS;
  }
  return whole;
}

static verdict judge_node(leat_layout *layout, const leat_node *node, const leat_attr *perm,
                          unsigned depth) {
  if (node->control_count || node->output_count != 1 || depth > DEEPEST) return NO;
  if (node->op == LEAT_OP_transpose)
    return is_inverse(leat_node_attr(node, "perm"), perm) ? CANCELS : NO;
  if (node->op == LEAT_OP_broadcast) return FREE;
  bool joins = node->op == LEAT_OP_concat || is_element_wise(node);
  return joins ? judge_inputs(layout, node, perm, depth) : NO;
}

static verdict judge(leat_layout *layout, leat_value value, const leat_attr *perm, unsigned depth) {
  transposed *of = known(layout, value.node, perm);
  if (of->verdict == UNKNOWN) of->verdict = judge_node(layout, value.node, perm, depth);
  return of->verdict;
}

static leat_value build(leat_layout *layout, leat_value value, const leat_attr *perm);

// The attributes of a node, of which a concat's axis is another one now.
static leat_attr *attrs_of(leat_layout *layout, const leat_node *node, const leat_attr *perm) {
  uint32_t count = (uint32_t)node->info->attr_count;
  leat_attr *attrs = leat_new_array(layout->graph->arena, leat_attr, count + 1);
  for (uint32_t i = 0; i < count; i++) attrs[i] = node->attrs[i];
  for (uint32_t i = 0; node->op == LEAT_OP_concat && i < perm->count; i++)
    if (perm->ints[i] == node->attrs[0].i) attrs[0].i = (int64_t)i;
  return attrs;
}

// Dims in the other order.
static leat_attr turned(leat_layout *layout, const leat_dim *dims, const leat_attr *perm) {
  leat_dim *made = leat_new_array(layout->graph->arena, leat_dim, perm->count + 1);
  for (uint32_t i = 0; i < perm->count; i++) made[i] = dims[perm->ints[i]];
  return (leat_attr){.count = perm->count, .dims = made};
}

// What is broadcast has few elements: if these lie along one axis, it is put into its place there.
static leat_value build_broadcast(leat_layout *layout, leat_builder *builder, leat_node *node,
                                  const leat_attr *perm) {
  const leat_type *from = leat_value_type(node->inputs[0]);
  leat_value whole = {node, 0};
  leat_dim dims[LEAT_MAX_RANK];
  uint32_t front = perm->count - (uint32_t)from->rank, longer = 0;
  for (uint32_t i = 0; i < perm->count; i++) {
    dims[i] = i < front ? leat_dim_const(1) : from->dims[i - front];
    longer += !leat_dim_is(dims[i], 1);
  }
  if (longer > 1) return leat_build(builder, node->name, LEAT_OP_transpose, &whole, 1, perm);
  leat_attr shape = turned(layout, dims, perm), all = turned(layout, node->outputs[0].dims, perm);
  leat_value place = leat_build(builder, node->name, LEAT_OP_reshape, &node->inputs[0], 1, &shape);
  return leat_build(builder, node->name, LEAT_OP_broadcast, &place, 1, &all);
}

static leat_value build_node(leat_layout *layout, leat_node *node, const leat_attr *perm) {
  leat_builder builder = {.graph = layout->graph,
                          .diag = layout->diag,
                          .span = node->span,
                          .device = node->device,
                          .colocate = node->colocate,
                          .entry = node->entry,
                          .place = node->place};
  if (node->op == LEAT_OP_transpose) return node->inputs[0];
  if (node->op == LEAT_OP_broadcast) return build_broadcast(layout, &builder, node, perm);
  leat_value *inputs = leat_new_array(layout->known.arena, leat_value, node->input_count);
  for (uint32_t i = 0; i < node->input_count; i++) inputs[i] = build(layout, node->inputs[i], perm);
  return leat_build(&builder, node->name, node->op, inputs, node->input_count,
                    attrs_of(layout, node, perm));
}

static leat_value build(leat_layout *layout, leat_value value, const leat_attr *perm) {
  transposed *of = known(layout, value.node, perm);
  if (!of->built.node) of->built = build_node(layout, value.node, perm);
  return of->built;
}

leat_value leat_layout_cancel(leat_layout *layout, leat_value value, const leat_attr *perm) {
  if (judge(layout, value, perm, 0) != CANCELS) return (leat_value){0};
  return build(layout, value, perm);
}
