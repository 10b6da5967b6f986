// Rows that a loop fills (passes/regions.h).
#include "passes/regions.h"

static leat_value make_first(const leat_pass_context *context, leat_graph *graph,
                             const leat_region_node *region, leat_value value, leat_dim count) {
  leat_builder builder = leat_region_builder(region, context->diag, graph, value.node);
  leat_type type = leat_type_rows(leat_value_type(value), count);
  return leat_build_zeros(&builder, value.node->name, &type);
}

// The last parameters that are carried are the rows.
static void fill(const leat_pass_context *context, const leat_region_node *region,
                 const leat_value *values, uint32_t count, const leat_row_filling *filling) {
  leat_graph *body = region->bodies[1];
  leat_value *next = leat_new_array(context->scratch, leat_value, count);
  for (uint32_t i = 0; i < count; i++) {
    leat_value rows = {body->params.items[region->carried - count + i], 0};
    leat_builder builder =
        leat_region_builder(region, context->diag, body, values[i].node);
    next[i] = leat_build_set_row(&builder, values[i].node->name, rows, filling->row, values[i]);
  }
  leat_region_yield(body, next, count);
}

void leat_region_fill_rows(const leat_pass_context *context, leat_graph *graph,
                           leat_region_node *region, const leat_value *values, uint32_t count,
                           const leat_row_filling *filling) {
  leat_arena *scratch = context->scratch;
  leat_value *first = leat_new_array(scratch, leat_value, count);
  for (uint32_t i = 0; i < count; i++)
    first[i] = make_first(context, graph, region, values[i], filling->count);
  leat_region_carry_more(graph, region, first, count, scratch);
  leat_graph *body = region->bodies[1];
  leat_rewriter r = leat_rewrite_begin(body, scratch);
  for (uint32_t i = 0; i < r.count; i++) {
    leat_node *node = body->nodes.items[i];
    leat_rewrite_inputs(&r, node);
    if (node == body->yield) fill(context, region, values, count, filling);
    leat_rewrite_keep(&r, node);
  }
  leat_rewrite_finish(&r);
}
