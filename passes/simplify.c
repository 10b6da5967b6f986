// simplify: local rewrites that never change a bit of any value.
//
//   keeps   types, and the names of the nodes that stay
//   rules   one function an op, in the table `rules`: it answers a value that stands for the node
//           from now on, or none; it may change the node's own inputs and attributes instead
//
// A subnormal, which the arithmetic that goes may have taken for zero, stays what it is: whatever
// computes with it takes it for zero, too. Why a rule is exact stands with it where it is not
// plain: for floats x + (-0), x - (+0), x * 1 and x / 1 are x for every x, but x + (+0) turns -0
// into +0, and x * 0 is not 0 for NaN and infinities. Nodes after control edges are not replaced:
// who uses them waits for those edges too.
#include "ops/ops.h"
#include "ops/ref.h"
#include "passes/layout.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

#include <string.h>

typedef struct simplifier {
  leat_graph *graph;
  leat_arena *scratch;
  leat_layout layout;
  bool lost_effects;
} simplifier;

typedef leat_value (*rule)(simplifier *s, leat_node *node);

static const leat_value none = {NULL, 0};

static bool is_integer(const leat_node *node) {
  leat_dtype_kind kind = leat_dtype_kind_of(node->outputs[0].dtype);
  return kind == LEAT_KIND_SIGNED || kind == LEAT_KIND_UNSIGNED;
}

// The node that computes the value, if it does so with `op` and waits for nothing but its inputs.
static const leat_node *made_by(leat_value value, leat_op op) {
  return value.node->op == op && value.node->control_count == 0 ? value.node : NULL;
}

static leat_value input_of(const leat_node *node) {
  return node->inputs[0];
}

static leat_value forward(simplifier *s, leat_node *node) {
  (void)s;
  return node->inputs[0];
}

// -- Constants as operands -----------------------------------------------------------------

// The one element that the value has everywhere, or NULL.
static const void *element_of(leat_value value) {
  const leat_node *node = value.node;
  while (node->op == LEAT_OP_broadcast || node->op == LEAT_OP_reshape) node = node->inputs[0].node;
  if (node->op != LEAT_OP_const) return NULL;
  const leat_tensor *tensor = leat_node_attr(node, "value")->tensor;
  return leat_shape_elements(tensor->rank, tensor->shape) == 1 ? tensor->data : NULL;
}

static bool is_bits(leat_value value, const void *wanted) {
  const void *element = element_of(value);
  return element && memcmp(element, wanted, leat_dtype_size(leat_value_type(value)->dtype)) == 0;
}

static bool is_number(leat_value value, int64_t number) {
  uint64_t element[2] = {0};
  return leat_store_signed(leat_value_type(value)->dtype, element, 0, number) &&
         is_bits(value, element);
}

static bool is_negative_zero(leat_value value) {
  uint64_t element[2] = {0};
  leat_dtype dtype = leat_value_type(value)->dtype;
  return leat_dtype_kind_of(dtype) == LEAT_KIND_FLOAT &&
         leat_store_float(dtype, element, 0, -0.0) && is_bits(value, element);
}

// What adds nothing: 0 of integers, -0 of floats.
static bool adds_nothing(const leat_node *node, leat_value value) {
  return is_integer(node) ? is_number(value, 0) : is_negative_zero(value);
}

static leat_value simplify_add(simplifier *s, leat_node *node) {
  (void)s;
  if (adds_nothing(node, node->inputs[1])) return node->inputs[0];
  return adds_nothing(node, node->inputs[0]) ? node->inputs[1] : none;
}

static leat_value simplify_sub(simplifier *s, leat_node *node) {
  (void)s;
  return is_number(node->inputs[1], 0) ? node->inputs[0] : none;
}

static leat_value simplify_mul(simplifier *s, leat_node *node) {
  (void)s;
  for (uint32_t i = 0; i < 2; i++) {
    if (is_number(node->inputs[i], 1)) return node->inputs[1 - i];
    if (is_integer(node) && is_number(node->inputs[i], 0)) return node->inputs[i];
  }
  return none;
}

static leat_value simplify_div(simplifier *s, leat_node *node) {
  (void)s;
  return is_number(node->inputs[1], 1) ? node->inputs[0] : none;
}

static leat_value simplify_shift(simplifier *s, leat_node *node) {
  (void)s;
  return is_number(node->inputs[1], 0) ? node->inputs[0] : none;
}

// and, bit_and: `all` leaves the other operand, 0 is the result. or, bit_or the other way round.
static leat_value simplify_lattice(const leat_node *node, int64_t neutral, int64_t absorbing) {
  for (uint32_t i = 0; i < 2; i++) {
    if (is_number(node->inputs[i], neutral)) return node->inputs[1 - i];
    if (is_number(node->inputs[i], absorbing)) return node->inputs[i];
  }
  return leat_value_same(node->inputs[0], node->inputs[1]) ? node->inputs[0] : none;
}

static leat_value simplify_and(simplifier *s, leat_node *node) {
  (void)s;
  return simplify_lattice(node, node->op == LEAT_OP_and ? 1 : -1, 0);
}

static leat_value simplify_or(simplifier *s, leat_node *node) {
  (void)s;
  return simplify_lattice(node, 0, node->op == LEAT_OP_or ? 1 : -1);
}

static leat_value simplify_xor(simplifier *s, leat_node *node) {
  (void)s;
  if (is_number(node->inputs[1], 0)) return node->inputs[0];
  return is_number(node->inputs[0], 0) ? node->inputs[1] : none;
}

static leat_value simplify_where(simplifier *s, leat_node *node) {
  (void)s;
  if (leat_value_same(node->inputs[1], node->inputs[2])) return node->inputs[1];
  if (is_number(node->inputs[0], 1)) return node->inputs[1];
  return is_number(node->inputs[0], 0) ? node->inputs[2] : none;
}

// -- Ops on themselves ---------------------------------------------------------------------

// neg, not: twice is not at all.
static leat_value simplify_involution(simplifier *s, leat_node *node) {
  (void)s;
  const leat_node *inner = made_by(node->inputs[0], node->op);
  return inner ? input_of(inner) : none;
}

static leat_value simplify_abs(simplifier *s, leat_node *node) {
  (void)s;
  if (made_by(node->inputs[0], LEAT_OP_abs)) return node->inputs[0];
  const leat_node *inner = made_by(node->inputs[0], LEAT_OP_neg);
  if (inner) node->inputs[0] = input_of(inner);
  return none;
}

static leat_value simplify_extremum(simplifier *s, leat_node *node) {
  (void)s;
  return leat_value_same(node->inputs[0], node->inputs[1]) ? node->inputs[0] : none;
}

// cast, reshape, broadcast and slice that do nothing.
static leat_value forward_if_same_type(simplifier *s, leat_node *node) {
  (void)s;
  return leat_type_equal(leat_value_type(node->inputs[0]), &node->outputs[0]) ? node->inputs[0]
                                                                              : none;
}

// -- Movement ------------------------------------------------------------------------------

static leat_value simplify_reshape(simplifier *s, leat_node *node) {
  const leat_node *inner = made_by(node->inputs[0], LEAT_OP_reshape);
  leat_dim before, after;
  if (inner && leat_type_elements(s->graph->dims, leat_value_type(input_of(inner)), &before) &&
      leat_type_elements(s->graph->dims, &node->outputs[0], &after) &&
      leat_dim_equal(before, after))
    node->inputs[0] = input_of(inner);
  return forward_if_same_type(s, node);
}

static leat_value simplify_broadcast(simplifier *s, leat_node *node) {
  const leat_node *inner = made_by(node->inputs[0], LEAT_OP_broadcast);
  if (inner) node->inputs[0] = input_of(inner);
  return forward_if_same_type(s, node);
}

// Only axes of extent 1 change places.
static bool keeps_order(const leat_node *transpose) {
  const leat_attr *perm = leat_node_attr(transpose, "perm");
  int64_t before = -1;
  for (uint32_t i = 0; i < perm->count; i++) {
    if (leat_dim_is(transpose->outputs[0].dims[i], 1)) continue;
    if (perm->ints[i] < before) return false;
    before = perm->ints[i];
  }
  return true;
}

static void become_reshape(leat_graph *graph, leat_node *node) {
  leat_attr *shape = leat_new(graph->arena, leat_attr);
  *shape = (leat_attr){.count = (uint32_t)node->outputs[0].rank, .dims = node->outputs[0].dims};
  leat_node_set_op(node, LEAT_OP_reshape);
  node->attrs = shape;
}

static leat_value simplify_transpose(simplifier *s, leat_node *node) {
  const leat_attr *perm = leat_node_attr(node, "perm");
  const leat_node *inner = made_by(node->inputs[0], LEAT_OP_transpose);
  if (inner) {
    const leat_attr *first = leat_node_attr(inner, "perm");
    int64_t *both = leat_new_array(s->graph->arena, int64_t, perm->count);
    for (uint32_t i = 0; i < perm->count; i++) both[i] = first->ints[perm->ints[i]];
    leat_node_set_attr(s->graph, node, "perm", (leat_attr){.count = perm->count, .ints = both});
    node->inputs[0] = input_of(inner);
  }
  if (leat_is_identity(leat_node_attr(node, "perm"))) return node->inputs[0];
  if (!keeps_order(node))
    return leat_layout_cancel(&s->layout, node->inputs[0], leat_node_attr(node, "perm"));
  become_reshape(s->graph, node);
  return simplify_reshape(s, node);
}

// Windows of one element, one after the other, are the elements.
static leat_value simplify_unfold(simplifier *s, leat_node *node) {
  static const char *const ones[] = {"window", "stride", "base"};
  const leat_attr *axes = leat_node_attr(node, "axes");
  const leat_type *x = leat_value_type(node->inputs[0]);
  for (uint32_t i = 0; i < axes->count; i++) {
    for (int k = 0; k < 3; k++)
      if (leat_node_attr(node, ones[k])->ints[i] != 1) return none;
    int64_t axis = axes->ints[i];
    if (leat_node_attr(node, "before")->ints[i] != 0 ||
        !leat_dim_equal(x->dims[axis], node->outputs[0].dims[axis]))
      return none;
  }
  if (leat_node_attr(node, "windowed")->i) return node->inputs[0];
  node->input_count = 1;
  become_reshape(s->graph, node);
  return simplify_reshape(s, node);
}

static leat_value simplify_slice(simplifier *s, leat_node *node) {
  const leat_attr *start = leat_node_attr(node, "start"), *step = leat_node_attr(node, "step");
  for (uint32_t i = 0; i < start->count; i++)
    if (!leat_dim_is(start->dims[i], 0) || step->ints[i] != 1) return none;
  return forward_if_same_type(s, node);
}

static leat_value simplify_pad(simplifier *s, leat_node *node) {
  (void)s;
  const leat_attr *before = leat_node_attr(node, "before"), *after = leat_node_attr(node, "after");
  for (uint32_t i = 0; i < before->count; i++)
    if (!leat_dim_is(before->dims[i], 0) || !leat_dim_is(after->dims[i], 0)) return none;
  return node->inputs[0];
}

static leat_value simplify_concat(simplifier *s, leat_node *node) {
  (void)s;
  return node->input_count == 1 ? node->inputs[0] : none;
}

// The sum over no axes still adds to -0: that makes a signalling NaN quiet, so floats keep it.
static leat_value simplify_sum(simplifier *s, leat_node *node) {
  (void)s;
  bool whole = is_integer(node) && leat_node_attr(node, "axis")->count == 0;
  return whole ? node->inputs[0] : none;
}

static leat_value simplify_max(simplifier *s, leat_node *node) {
  (void)s;
  return leat_node_attr(node, "axis")->count == 0 ? node->inputs[0] : none;
}

// -- Products ------------------------------------------------------------------------------

// The last two axes are exchanged and nothing else is.
static bool is_matrix_transpose(const leat_attr *perm) {
  uint32_t rank = perm->count;
  if (rank < 2 || perm->ints[rank - 1] != (int64_t)rank - 2) return false;
  for (uint32_t i = 0; i + 2 < rank; i++)
    if (perm->ints[i] != (int64_t)i) return false;
  return true;
}

static void absorb_transpose(simplifier *s, leat_node *node, uint32_t input, const char *flag) {
  const leat_node *inner = made_by(node->inputs[input], LEAT_OP_transpose);
  if (!inner || !is_matrix_transpose(leat_node_attr(inner, "perm"))) return;
  node->inputs[input] = input_of(inner);
  leat_node_set_attr(s->graph, node, flag, (leat_attr){.i = !leat_node_attr(node, flag)->i});
}

static leat_value simplify_matmul(simplifier *s, leat_node *node) {
  absorb_transpose(s, node, 0, "transpose_a");
  absorb_transpose(s, node, 1, "transpose_b");
  return none;
}

// An assertion of what holds does nothing, and goes.
static leat_value simplify_assert(simplifier *s, leat_node *node) {
  const bool *holds = element_of(node->inputs[0]);
  if (!holds || !*holds || node->control_count) return none;
  node->effect = false;
  s->lost_effects = true;
  return none;
}

// -- The pass ------------------------------------------------------------------------------

static const rule rules[LEAT_OP_COUNT] = {
    [LEAT_OP_identity] = forward,
    [LEAT_OP_stop_gradient] = forward,
    [LEAT_OP_add] = simplify_add,
    [LEAT_OP_sub] = simplify_sub,
    [LEAT_OP_mul] = simplify_mul,
    [LEAT_OP_div] = simplify_div,
    [LEAT_OP_div_trunc] = simplify_div,
    [LEAT_OP_neg] = simplify_involution,
    [LEAT_OP_abs] = simplify_abs,
    [LEAT_OP_maximum] = simplify_extremum,
    [LEAT_OP_minimum] = simplify_extremum,
    [LEAT_OP_and] = simplify_and,
    [LEAT_OP_or] = simplify_or,
    [LEAT_OP_not] = simplify_involution,
    [LEAT_OP_bit_and] = simplify_and,
    [LEAT_OP_bit_or] = simplify_or,
    [LEAT_OP_bit_xor] = simplify_xor,
    [LEAT_OP_shift_left] = simplify_shift,
    [LEAT_OP_shift_right] = simplify_shift,
    [LEAT_OP_where] = simplify_where,
    [LEAT_OP_cast] = forward_if_same_type,
    [LEAT_OP_reshape] = simplify_reshape,
    [LEAT_OP_transpose] = simplify_transpose,
    [LEAT_OP_broadcast] = simplify_broadcast,
    [LEAT_OP_concat] = simplify_concat,
    [LEAT_OP_unfold] = simplify_unfold,
    [LEAT_OP_slice] = simplify_slice,
    [LEAT_OP_pad] = simplify_pad,
    [LEAT_OP_sum] = simplify_sum,
    [LEAT_OP_prod] = simplify_max,
    [LEAT_OP_any] = simplify_max,
    [LEAT_OP_all] = simplify_max,
    [LEAT_OP_max] = simplify_max,
    [LEAT_OP_min] = simplify_max,
    [LEAT_OP_matmul] = simplify_matmul,
    [LEAT_OP_assert] = simplify_assert,
};

leat_status leat_pass_simplify(leat_pass_context *context) {
  simplifier s = {.graph = context->graph, .scratch = context->scratch};
  leat_layout_init(&s.layout, context->graph, context->diag, context->scratch);
  leat_rewriter r = leat_rewrite_begin(context->graph, context->scratch);
  for (uint32_t i = 0; i < r.count; i++) {
    leat_node *node = context->graph->nodes.items[i];
    leat_rewrite_inputs(&r, node);
    leat_value value = rules[node->op] ? rules[node->op](&s, node) : none;
    bool replaced = value.node && !node->control_count &&
                    leat_type_equal(leat_value_type(value), &node->outputs[0]);
    if (replaced)
      leat_rewrite_replace(&r, node, value);
    else
      leat_rewrite_keep(&r, node);
  }
  leat_rewrite_finish(&r);
  if (s.lost_effects) leat_graph_list_effects(context->graph);
  return LEAT_OK;
}
