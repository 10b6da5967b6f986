// Products of rows that a loop reads are made in front of it, all in one (passes/regions.c).
//
// gather(x, i) @ w is gather(x @ w, i) where neither x nor w varies, to the bit, and so is what an
// element-wise op or a reshape has made of the row before (regions_rows.c). The loop then reads a
// row of the product. Which row it reads in which turn does not matter, nor whether it reads one
// twice or fails because there is no such row: the rows are as many.
//
// That is worth it where the loop surely turns at least as often as there are rows, so that nothing
// is computed that nobody asks for, and where reading a row takes less time than computing it. The
// product's size is bounded.
//
// Of the other products, what does not vary is read along rows: it is transposed in front of the
// loop, where it is read across, so that no turn has to. Where it is multiplied by a column, that
// becomes a row, so that several elements are computed together. All elements are added in the same
// order.
#include "ops/build.h"
#include "ops/turns.h"
#include "passes/regions.h"

// A product that is read.
typedef struct row_product {
  leat_node *read; // of the row that it is made of; NULL: it stays in the loop
  leat_value rows; // outside
  int32_t axis;    // along which it has the rows
} row_product;

typedef struct batcher {
  leat_regions *regions;
  leat_graph *graph; // around the loop
  leat_region_node region;
  leat_row_maker *maker;
  row_product *products;     // by id, in the body
  leat_vec(leat_value) made; // outside, of which the bodies get new parameters
  leat_node_list old, new;   // reads
  bool changed;              // the body is another
} batcher;

static leat_builder builder_of(const batcher *b, leat_graph *graph, const leat_node *like) {
  return leat_region_builder(&b->region, b->regions->context->diag, graph, like);
}

// What is made outside, in the body.
static leat_value bring_in(batcher *b, leat_value made) {
  leat_vec_push(b->graph->arena, &b->made, made);
  b->changed = true;
  return leat_region_add_parameter(&b->region, b->region.bodies[1], made);
}

// -- What is worth it ----------------------------------------------------------------------------

static bool at_least(leat_dims *dims, leat_dim a, leat_dim b) {
  leat_dim more;
  return leat_dim_sub(dims, a, b, &more) && leat_dim_bounds(more).low >= 0;
}

// Bytes of the operand that is a row, where it is not as it was read.
static double bytes_made(const batcher *b, const leat_node *product) {
  leat_value row = product->inputs[!leat_row_read(b->maker, product->inputs[0])];
  const leat_node *node = row.node;
  while (node->op == LEAT_OP_reshape) node = node->inputs[0].node;
  bool read = node == leat_row_read(b->maker, row);
  return read ? 0 : leat_cost_bytes(leat_value_type(row));
}

static bool is_worth_it(const batcher *b, const leat_node *product) {
  double bytes = leat_cost_result_bytes(product) + bytes_made(b, product);
  leat_work work = leat_cost_work(b->regions->context->target, product);
  return leat_cost_nanoseconds(work) > bytes / LEAT_MEMORY_RATE;
}

static void make_products(batcher *b, leat_dim turns) {
  const leat_graph *body = b->region.bodies[1];
  for (uint32_t i = 0; i < body->nodes.count; i++) {
    leat_node *node = body->nodes.items[i];
    leat_node *read = leat_row_read(b->maker, (leat_value){node, 0});
    if (node->op != LEAT_OP_matmul || !read || !is_worth_it(b, node)) continue;
    if (!at_least(b->graph->dims, turns, leat_row_count(read))) continue;
    row_product *p = &b->products[i];
    p->rows = leat_rows_of(b->maker, (leat_value){node, 0}, &p->axis);
    if (p->rows.node) p->read = read;
  }
}

// -- The loop ------------------------------------------------------------------------------------

// The row of the product that is read; it fails as the read does that it stands for.
static leat_value read_row(batcher *b, const row_product *p) {
  leat_attr axis = {.i = p->axis};
  leat_value inputs[] = {bring_in(b, p->rows), p->read->inputs[1]};
  leat_builder builder = builder_of(b, b->region.bodies[1], p->read);
  leat_value read = leat_build(&builder, p->read->name, LEAT_OP_gather, inputs, 2, &axis);
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

// What a product has captured, as its right operand, whose rows are read; else {NULL}.
static leat_value turned_weight(batcher *b, const leat_node *product, uint32_t input, bool turn) {
  leat_value weight = leat_region_captured(&b->region, product->inputs[input]);
  if (!weight.node || !turn) return weight.node ? product->inputs[input] : weight;
  int32_t rank = leat_value_type(weight)->rank;
  int64_t *order = leat_new_array(b->graph->arena, int64_t, (size_t)rank);
  for (int32_t i = 0; i < rank; i++) order[i] = i;
  order[rank - 2] = rank - 1;
  order[rank - 1] = rank - 2;
  leat_attr attr = {.count = (uint32_t)rank, .ints = order};
  leat_builder builder = builder_of(b, b->graph, product);
  weight = leat_build(&builder, product->name, LEAT_OP_transpose, &weight, 1, &attr);
  return weight.node ? bring_in(b, weight) : weight;
}

// w @ column as row @ transpose(w).
static leat_value multiply_row(batcher *b, const leat_node *product) {
  leat_graph *body = b->region.bodies[1];
  leat_builder builder = builder_of(b, body, product);
  const leat_type *out = &product->outputs[0];
  if (out->rank != 2 || !leat_dim_is(out->dims[1], 1) || leat_dim_is(out->dims[0], 1))
    return (leat_value){0};
  bool turned = leat_node_attr(product, "transpose_a")->i;
  leat_value weight = turned_weight(b, product, 0, !turned);
  if (!weight.node) return weight;
  leat_type row = {.rank = 2, .dims = {out->dims[1], leat_value_type(weight)->dims[0]}};
  leat_value operands[] = {leat_build_reshape(&builder, product->name, product->inputs[1], &row),
                           weight};
  leat_attr attrs[] = {{.i = false}, {.i = false}, *leat_node_attr(product, "family")};
  leat_value made = leat_build(&builder, product->name, LEAT_OP_matmul, operands, 2, attrs);
  b->changed |= made.node != NULL;
  return leat_build_reshape(&builder, product->name, made, out);
}

static leat_value read_along_rows(batcher *b, leat_node *node) {
  leat_value none = {0};
  if (node->op != LEAT_OP_matmul || leat_region_is_bound(node) ||
      *leat_node_attr(node, "family")->string)
    return none;
  if (leat_region_captured(&b->region, node->inputs[0]).node) return multiply_row(b, node);
  if (!leat_node_attr(node, "transpose_b")->i) return none;
  leat_value weight = turned_weight(b, node, 1, true);
  if (!weight.node) return none;
  node->inputs[1] = weight;
  leat_node_set_attr(b->region.bodies[1], node, "transpose_b", (leat_attr){.i = false});
  return none;
}

static void rewrite_body(batcher *b) {
  leat_graph *body = b->region.bodies[1];
  leat_rewriter r = leat_rewrite_begin(body, b->regions->context->scratch);
  for (uint32_t i = 0; i < r.count; i++) {
    leat_node *node = body->nodes.items[i];
    leat_rewrite_inputs(&r, node);
    const row_product *p = &b->products[i];
    leat_rewrite_replace(&r, node, p->read ? read_row(b, p) : read_along_rows(b, node));
  }
  leat_rewrite_finish(&r);
}

static void batch(leat_regions *regions, leat_graph *graph, leat_node *loop) {
  leat_arena *scratch = regions->context->scratch;
  leat_dim turns;
  batcher b = {.regions = regions, .graph = graph};
  b.region = leat_region_node_of(loop);
  b.products = leat_new_array(scratch, row_product, b.region.bodies[1]->nodes.count);
  if (!leat_loop_turns(loop, &turns)) leat_loop_set_turns(loop); // `fold` may know more
  if (leat_loop_turns(loop, &turns)) {
    b.maker = leat_row_maker_create(regions->context, graph, loop);
    make_products(&b, turns);
  }
  rewrite_body(&b);
  if (!b.changed) return;
  take_names(&b);
  leat_region_add_parameters(&b.region, b.region.bodies[0], b.made.items, b.made.count, scratch);
  leat_region_add_inputs(graph, &b.region, b.made.items, b.made.count);
  leat_region_changed(regions, graph, loop);
}

void leat_regions_batch(leat_regions *regions, leat_graph *graph) {
  leat_regions_visit_loops(regions, graph, batch);
}
