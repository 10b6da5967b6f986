// Sums of products that are one product: of what is used at many places, as a recurrent network's
// weights in each step of time, the gradient is a sum of products that are each as large as it is.
// Those of all their rows one below the other are computed once, and stored once:
//
//     a₁ᵀ·b₁ + a₂ᵀ·b₂ + …  =  [a₁; a₂; …]ᵀ·[b₁; b₂; …]
#include "frontend/gradient/walk.h"

enum { LEAST_GAIN = 4 }; // times what is copied must be saved

typedef leat_vec(leat_value) value_list;

typedef struct joiner {
  evaluator *e;
  const ev_made *made;
  leat_span span;
  value_list products, others; // that are added
} joiner;

ev_made ev_made_since(evaluator *e, uint32_t first, leat_arena *scratch) {
  const leat_graph *graph = e->at.body;
  ev_made made = {.scratch = scratch, .first = first, .end = graph->nodes.count};
  made.uses = leat_new_array(scratch, uint32_t, (size_t)(made.end - first) + 1);
  for (uint32_t id = first; id < made.end; id++) {
    const leat_node *node = graph->nodes.items[id];
    for (uint32_t i = 0; i < node->input_count; i++)
      if (node->inputs[i].node->id >= first) made.uses[node->inputs[i].node->id - first]++;
  }
  return made;
}

static bool is_made(const joiner *j, const leat_node *node, uint32_t uses) {
  const ev_made *made = j->made;
  return node->graph == j->e->at.body && node->id >= made->first && node->id < made->end &&
         !node->control_count && made->uses[node->id - made->first] <= uses;
}

static bool is_transposed(const leat_node *product, int i) {
  return leat_node_attr(product, i ? "transpose_b" : "transpose_a")->i != 0;
}

static leat_dim depth_of(const leat_node *product) {
  return leat_value_type(product->inputs[0])->dims[is_transposed(product, 0) ? 0 : 1];
}

static bool is_product(const joiner *j, const leat_node *node) {
  if (node->op != LEAT_OP_matmul || !is_made(j, node, 1)) return false;
  if (leat_value_type(node->inputs[0])->rank != 2 || leat_value_type(node->inputs[1])->rank != 2)
    return false;
  if (!j->products.count) return true;
  const leat_node *first = j->products.items[0].node;
  return is_transposed(node, 0) == is_transposed(first, 0) &&
         is_transposed(node, 1) == is_transposed(first, 1) && node->device == first->device &&
         node->colocate == first->colocate;
}

// What `sum` adds up, from left to right.
static void find_terms(joiner *j, leat_value sum) {
  leat_arena *scratch = j->made->scratch;
  value_list open = {0};
  leat_vec_push(scratch, &open, sum);
  while (open.count) {
    leat_value term = open.items[--open.count];
    if (term.node->op == LEAT_OP_add && is_made(j, term.node, term.node != sum.node)) {
      leat_vec_push(scratch, &open, term.node->inputs[1]);
      leat_vec_push(scratch, &open, term.node->inputs[0]);
    } else if (is_product(j, term.node)) {
      leat_vec_push(scratch, &j->products, term);
    } else {
      leat_vec_push(scratch, &j->others, term);
    }
  }
}

// What is copied, beside what need not be stored and added.
static bool is_worth_it(const joiner *j, const leat_type *type) {
  double depth = 0, rows, columns;
  if (j->products.count < 2) return false;
  if (!leat_dim_is_const(type->dims[0]) || !leat_dim_is_const(type->dims[1])) return false;
  for (uint32_t i = 0; i < j->products.count; i++) {
    if (!leat_dim_is_const(depth_of(j->products.items[i].node))) return false;
    depth += (double)depth_of(j->products.items[i].node).value;
  }
  rows = (double)type->dims[0].value;
  columns = (double)type->dims[1].value;
  return LEAST_GAIN * depth * (rows + columns) < (j->products.count - 1) * rows * columns;
}

static ev below_each_other(joiner *j, int operand) {
  uint32_t count = j->products.count;
  ev *parts = leat_new_array(j->made->scratch, ev, count);
  for (uint32_t i = 0; i < count; i++)
    parts[i] = ev_tensor(j->products.items[i].node->inputs[operand]);
  bool along_last = is_transposed(j->products.items[0].node, operand) == (operand == 1);
  leat_attr axis = {.i = along_last};
  return ev_op(j->e, LEAT_OP_concat, parts, count, &axis, j->span, NULL);
}

static ev join(joiner *j) {
  const leat_node *first = j->products.items[0].node;
  ev operands[] = {below_each_other(j, 0), below_each_other(j, 1)};
  leat_attr attrs[] = {{.i = is_transposed(first, 0)},
                       {.i = is_transposed(first, 1)},
                       {.string = leat_intern(j->e->strings, "")}};
  if (operands[0].kind == EV_ERROR || operands[1].kind == EV_ERROR) return ev_error();
  ev sum = ev_op(j->e, LEAT_OP_matmul, operands, 2, attrs, j->span, NULL);
  for (uint32_t i = 0; i < j->others.count && sum.kind != EV_ERROR; i++) {
    ev terms[] = {sum, ev_tensor(j->others.items[i])};
    sum = ev_op(j->e, LEAT_OP_add, terms, 2, NULL, j->span, NULL);
  }
  return sum;
}

ev ev_join_products(evaluator *e, const ev_made *made, ev sum, leat_span span) {
  joiner j = {.e = e, .made = made, .span = span};
  if (sum.kind != EV_TENSOR || leat_value_type(sum.tensor)->rank != 2) return sum;
  find_terms(&j, sum.tensor);
  if (!is_worth_it(&j, leat_value_type(sum.tensor))) return sum;
  const leat_node *first = j.products.items[0].node;
  ev_context around = ev_enter(e, first->name, first);
  sum = join(&j);
  e->at = around;
  return sum;
}
