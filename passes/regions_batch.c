// Products of rows that a loop reads are made in front of it, all in one (passes/regions.c).
//
// gather(x, i) @ w is gather(x @ w, i) where neither x nor w varies, to the bit: an element of a
// product sums over one row, in an order that does not depend on how many rows there are. The loop
// then reads a row of the product. Which row it reads in which turn does not matter, nor whether it
// reads one twice or fails because there is no such row: the rows are as many.
//
// That is worth it where the loop surely turns at least as often as there are rows, so that nothing
// is computed that nobody asks for, and where reading a row takes less time than computing it. The
// product's size is bounded.
//
// Of the other products, what does not vary and is read transposed is transposed in front of the
// loop, so that no turn has to: the elements are added in the same order.
#include "ops/build.h"
#include "ops/turns.h"
#include "passes/regions.h"

static const double most_bytes = 1 << 28; // of a product
static const double bytes_per_second = 1e10;

typedef struct batcher {
  leat_regions *regions;
  const leat_cost_model *cost;
  leat_graph *graph; // around the loop
  leat_region_node region;
  leat_dim turns;
  leat_vec(leat_value) made; // outside, of which the bodies get new parameters
  leat_node_list old, new;   // reads
} batcher;

// matmul(read, weight), the read one of rows or, if it is whole, of any shape of a row.
typedef struct row_product {
  leat_node *product, *read;
  leat_value rows, weight; // outside
  int32_t axis;            // of the rows
} row_product;

// -- What is such a product ----------------------------------------------------------------------

static bool is_free(const leat_node *node) {
  return !node->control_count && !node->device && !node->colocate;
}

static leat_node *read_of(leat_value value) {
  while (value.node->op == LEAT_OP_reshape && is_free(value.node)) value = value.node->inputs[0];
  bool one = value.node->op == LEAT_OP_gather && !leat_value_type(value.node->inputs[1])->rank;
  return one && is_free(value.node) ? value.node : NULL;
}

static bool is_row_product(const batcher *b, leat_node *node, row_product *out) {
  if (node->op != LEAT_OP_matmul || !is_free(node) || leat_node_may_fail(node)) return false;
  leat_node *read = read_of(node->inputs[0]);
  if (!read || leat_node_attr(node, "transpose_a")->i || node->outputs[0].rank != 2) return false;
  *out = (row_product){node, read, leat_region_captured(&b->region, read->inputs[0]),
                       leat_region_captured(&b->region, node->inputs[1]),
                       (int32_t)leat_node_attr(read, "axis")->i};
  if (!out->rows.node || !out->weight.node) return false;
  bool as_read = node->inputs[0].node == read && out->axis < read->outputs[0].rank;
  return out->axis == 0 || as_read;
}

// -- What is worth it ----------------------------------------------------------------------------

static bool at_least(leat_dims *dims, leat_dim a, leat_dim b) {
  leat_dim more;
  return leat_dim_sub(dims, a, b, &more) && leat_dim_bounds(more).low >= 0;
}

static bool is_worth_it(const batcher *b, const row_product *p) {
  const leat_type *rows = leat_value_type(p->rows);
  double row = leat_cost_result_bytes(b->cost, p->product);
  leat_type whole = p->product->outputs[0];
  whole.dims[whole.rank++] = rows->dims[p->axis];
  double computing = leat_cost_work(b->cost, p->product).operations;
  return at_least(b->graph->dims, b->turns, rows->dims[p->axis]) &&
         leat_cost_bytes(b->cost, &whole) <= most_bytes &&
         computing * LEAT_INSTRUCTION_PICOSECONDS * 1e-12 > row / bytes_per_second;
}

// -- Outside -------------------------------------------------------------------------------------

static leat_builder builder_of(const batcher *b, leat_graph *graph, const leat_node *like) {
  return leat_region_builder(&b->region, b->regions->context->diag, graph, like);
}

// The rows as one matrix times the weight, with the axes of the rows. {NULL}: a dim cannot be said.
static leat_value multiply(const batcher *b, const row_product *p) {
  leat_builder builder = builder_of(b, b->graph, p->product);
  const leat_type *a = leat_value_type(p->product->inputs[0]);
  leat_type whole = p->product->outputs[0];
  const char *name = p->product->name;
  leat_type matrix = {.rank = 2, .dims = {a->dims[0], a->dims[1]}};
  leat_dim count = leat_value_type(p->rows)->dims[p->axis];
  for (int32_t i = whole.rank++; i > p->axis; i--) whole.dims[i] = whole.dims[i - 1];
  whole.dims[p->axis] = count;
  if (!leat_dim_mul(b->graph->dims, count, a->dims[0], &matrix.dims[0])) return (leat_value){0};
  leat_value operands[] = {leat_build_reshape(&builder, name, p->rows, &matrix), p->weight};
  if (!operands[0].node) return (leat_value){0};
  leat_value product = leat_build(&builder, name, LEAT_OP_matmul, operands, 2, p->product->attrs);
  return leat_build_reshape(&builder, name, product, &whole);
}

// -- The loop ------------------------------------------------------------------------------------

// The row of the product that is read; it fails as the read does that it stands for.
static leat_value read_row(batcher *b, const row_product *p, leat_value product) {
  leat_value inputs[] = {product, p->read->inputs[1]};
  leat_builder builder = builder_of(b, b->region.bodies[1], p->read);
  leat_value read = leat_build(&builder, p->read->name, LEAT_OP_gather, inputs, 2, p->read->attrs);
  leat_vec_push(b->graph->arena, &b->old, p->read);
  leat_vec_push(b->graph->arena, &b->new, read.node);
  return read;
}

// An error names it as if nothing had changed, unless the other is there still.
static void take_names(const batcher *b) {
  for (uint32_t i = 0; i < b->new.count; i++)
    if (!leat_graph_find_node(b->graph, b->old.items[i]->name))
      leat_graph_rename_node(b->graph, b->new.items[i], b->old.items[i]->name);
}

static leat_value batch_node(batcher *b, leat_node *node) {
  row_product p;
  if (!is_row_product(b, node, &p) || !is_worth_it(b, &p)) return (leat_value){0};
  leat_value made = multiply(b, &p);
  if (!made.node) return made;
  leat_vec_push(b->graph->arena, &b->made, made);
  return read_row(b, &p, leat_region_add_parameter(&b->region, b->region.bodies[1], made));
}

static void turn_weight(batcher *b, leat_node *node) {
  if (node->op != LEAT_OP_matmul || !is_free(node) || *leat_node_attr(node, "family")->string)
    return;
  leat_value weight = leat_region_captured(&b->region, node->inputs[1]);
  if (!weight.node || !leat_node_attr(node, "transpose_b")->i) return;
  int32_t rank = leat_value_type(weight)->rank;
  int64_t *order = leat_new_array(b->graph->arena, int64_t, (size_t)rank);
  for (int32_t i = 0; i < rank; i++) order[i] = i;
  order[rank - 2] = rank - 1;
  order[rank - 1] = rank - 2;
  leat_attr attr = {.count = (uint32_t)rank, .ints = order};
  leat_builder builder = builder_of(b, b->graph, node);
  leat_value turned = leat_build(&builder, node->name, LEAT_OP_transpose, &weight, 1, &attr);
  if (!turned.node) return;
  leat_vec_push(b->graph->arena, &b->made, turned);
  node->inputs[1] = leat_region_add_parameter(&b->region, b->region.bodies[1], turned);
  leat_node_set_attr(b->region.bodies[1], node, "transpose_b", (leat_attr){.i = false});
}

static void batch_loop(batcher *b, bool counted) {
  leat_graph *body = b->region.bodies[1];
  leat_rewriter r = leat_rewrite_begin(body, b->regions->context->scratch);
  for (uint32_t i = 0; i < r.count; i++) {
    leat_node *node = body->nodes.items[i];
    leat_rewrite_inputs(&r, node);
    leat_value instead = counted ? batch_node(b, node) : (leat_value){0};
    if (!instead.node) turn_weight(b, node);
    if (instead.node)
      leat_rewrite_replace(&r, node, instead);
    else
      leat_rewrite_keep(&r, node);
  }
  leat_rewrite_finish(&r);
  if (!b->made.count) return;
  take_names(b);
  leat_region_add_parameters(&b->region, b->region.bodies[0], b->made.items, b->made.count,
                             b->regions->context->scratch);
  leat_region_add_inputs(b->graph, &b->region, b->made.items, b->made.count);
  leat_region_changed(b->regions, b->graph, b->region.node);
}

static void batch(leat_regions *regions, const leat_cost_model *cost, leat_graph *graph,
                  leat_node *loop) {
  bool exact;
  batcher b = {.regions = regions, .cost = cost, .graph = graph};
  b.region = leat_region_node_of(loop);
  batch_loop(&b, leat_loop_turns(loop, &b.turns, &exact) && exact);
}

void leat_regions_batch(leat_regions *regions, leat_graph *graph) {
  leat_regions_visit_loops(regions, graph, batch);
}
