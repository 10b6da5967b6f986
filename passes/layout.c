// Down the inputs of a transpose as far as each element is computed of elements at the same place,
// or is an element of what is reshaped, if axes that are taken apart or together stay beside each
// other. A value that is used in both orders is computed twice; in nets of layers nobody is left
// who uses the old one.
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

// -- Orders of axes -------------------------------------------------------------------------------

static leat_attr new_perm(leat_layout *layout, uint32_t count) {
  int64_t *ints = leat_new_array(layout->graph->arena, int64_t, count + 1);
  return (leat_attr){.count = count, .ints = ints};
}

static void push(leat_attr *perm, int64_t axis) {
  ((int64_t *)perm->ints)[perm->count++] = axis;
}

bool leat_is_identity(const leat_attr *perm) {
  for (uint32_t i = 0; i < perm->count; i++)
    if (perm->ints[i] != (int64_t)i) return false;
  return true;
}

// One transpose in place of two.
static leat_attr composed(leat_layout *layout, const leat_attr *inner, const leat_attr *outer) {
  leat_attr both = new_perm(layout, outer->count);
  both.count = 0;
  for (uint32_t i = 0; i < outer->count; i++) push(&both, inner->ints[outer->ints[i]]);
  return both;
}

// Axes [from, from_end) that a reshape makes [to, to_end) of.
typedef struct run {
  int from, from_end, to, to_end;
} run;

// The shortest run behind what is done; false: none is known.
static bool next_run(const leat_type *from, const leat_type *to, run *r) {
  int64_t x = 1, y = 1;
  *r = (run){r->from_end, r->from_end, r->to_end, r->to_end};
  if (r->from < from->rank && r->to < to->rank &&
      leat_dim_equal(from->dims[r->from], to->dims[r->to])) {
    r->from_end++, r->to_end++;
    return true;
  }
  do {
    bool left = r->to_end == to->rank || (x <= y && r->from_end < from->rank);
    if (left && r->from_end == from->rank) return false;
    leat_dim dim = left ? from->dims[r->from_end++] : to->dims[r->to_end++];
    int64_t *product = left ? &x : &y;
    if (!leat_dim_is_const(dim) || dim.value <= 0 ||
        __builtin_mul_overflow(*product, dim.value, product))
      return false;
  } while (x != y);
  return true;
}

// A transpose of a reshape is a reshape to `dims` of the input transposed by `before`, transposed
// by `within`, which only exchanges axes that one run is taken apart to.
typedef struct crossing {
  leat_attr before, within;
  leat_dim dims[LEAT_MAX_RANK];
} crossing;

static bool cross_reshape(leat_layout *layout, const leat_node *reshape, const leat_attr *perm,
                          crossing *out) {
  const leat_type *from = leat_value_type(reshape->inputs[0]), *to = &reshape->outputs[0];
  run runs[2 * LEAT_MAX_RANK], at = {0};
  int count = 0, of[LEAT_MAX_RANK];
  while (at.from_end < from->rank || at.to_end < to->rank) {
    if (!next_run(from, to, &at)) return false;
    for (int k = at.to; k < at.to_end; k++) of[k] = count;
    runs[count++] = at;
  }
  out->before = new_perm(layout, (uint32_t)from->rank);
  out->within = new_perm(layout, (uint32_t)to->rank);
  out->before.count = out->within.count = 0;
  for (int i = 0; i < to->rank;) {
    const run *r = &runs[of[perm->ints[i]]];
    int begin = i;
    for (int k = r->from; k < r->from_end; k++) push(&out->before, k);
    for (int k = r->to; k < r->to_end; k++, i++) {
      if (of[perm->ints[i]] != of[perm->ints[begin]]) return false;
      out->dims[i] = to->dims[k];
      push(&out->within, begin + perm->ints[i] - r->to);
    }
  }
  for (int i = 0; i < count; i++) // axes of one element that go
    for (int k = runs[i].from; runs[i].to == runs[i].to_end && k < runs[i].from_end; k++)
      push(&out->before, k);
  return !leat_is_identity(&out->before);
}

// -- What can be built ----------------------------------------------------------------------------

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
  if (node->op == LEAT_OP_transpose) {
    leat_attr both = composed(layout, leat_node_attr(node, "perm"), perm);
    return leat_is_identity(&both) ? CANCELS : judge(layout, node->inputs[0], &both, depth + 1);
  }
  crossing crossing;
  if (node->op == LEAT_OP_reshape)
    return cross_reshape(layout, node, perm, &crossing)
               ? judge(layout, node->inputs[0], &crossing.before, depth + 1)
               : NO;
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

static leat_value build_reshape(leat_layout *layout, leat_builder *builder, leat_node *node,
                                const leat_attr *perm) {
  crossing *crossing = leat_new(layout->graph->arena, struct crossing);
  cross_reshape(layout, node, perm, crossing);
  leat_attr shape = {.count = perm->count, .dims = crossing->dims};
  leat_value value = build(layout, node->inputs[0], &crossing->before);
  value = leat_build(builder, node->name, LEAT_OP_reshape, &value, 1, &shape);
  if (leat_is_identity(&crossing->within)) return value;
  return leat_build(builder, node->name, LEAT_OP_transpose, &value, 1, &crossing->within);
}

static leat_value build_node(leat_layout *layout, leat_node *node, const leat_attr *perm) {
  leat_builder builder = {.graph = layout->graph,
                          .diag = layout->diag,
                          .span = node->span,
                          .device = node->device,
                          .colocate = node->colocate,
                          .entry = node->entry,
                          .place = node->place};
  if (node->op == LEAT_OP_transpose) {
    leat_attr both = composed(layout, leat_node_attr(node, "perm"), perm);
    return leat_is_identity(&both) ? node->inputs[0] : build(layout, node->inputs[0], &both);
  }
  if (node->op == LEAT_OP_reshape) return build_reshape(layout, &builder, node, perm);
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
