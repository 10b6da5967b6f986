// Rows that a loop fills (passes/regions.h).
#include "passes/regions.h"

static leat_value make_first(const leat_pass_context *context, leat_graph *graph,
                             const leat_region_node *region, leat_value value, leat_dim count) {
  leat_builder builder = leat_region_builder(region, context->diag, graph, value.node);
  leat_type type = leat_type_rows(leat_value_type(value), count);
  return leat_build_zeros(&builder, value.node->name, &type);
}

// -- What grows ----------------------------------------------------------------------------------

static void let_parameter_grow(leat_graph *body, leat_node *param) {
  leat_type *type = leat_arena_memdup(body->arena, param->outputs, sizeof *type);
  type->dims[0] = leat_dim_anonymous(body->dims, NULL);
  leat_node_set_attr(body, param, "type", (leat_attr){.type = type});
  param->outputs = type;
}

// The results from `first` on, and their parameters, grow along axis 0.
static void let_grow(leat_graph *graph, const leat_region_node *region, uint32_t first) {
  leat_node *loop = region->node;
  uint32_t before = leat_node_attr(loop, "axes")->count, count = region->carried - first;
  leat_dim *dims = leat_new_array(graph->arena, leat_dim, before + count);
  int64_t *axes = leat_new_array(graph->arena, int64_t, before + count);
  leat_type *outputs =
      leat_arena_memdup(graph->arena, loop->outputs, loop->output_count * sizeof *outputs);
  for (uint32_t i = 0; i < before; i++) {
    dims[i] = leat_node_attr(loop, "dims")->dims[i];
    axes[i] = leat_node_attr(loop, "axes")->ints[i];
  }
  for (uint32_t i = 0; i < count; i++) {
    for (int b = 0; b < LEAT_BODIES; b++)
      let_parameter_grow(region->bodies[b], region->bodies[b]->params.items[first + i]);
    dims[before + i] = leat_dim_anonymous(graph->dims, NULL);
    outputs[first + i].dims[0] = dims[before + i];
    axes[before + i] = (int64_t)LEAT_MAX_RANK * (first + i);
  }
  loop->outputs = outputs;
  leat_node_set_attr(graph, loop, "dims", (leat_attr){.count = before + count, .dims = dims});
  leat_node_set_attr(graph, loop, "axes", (leat_attr){.count = before + count, .ints = axes});
}

// -- What a turn fills ---------------------------------------------------------------------------

// The last parameters that are carried are the rows.
static void fill(const leat_pass_context *context, const leat_region_node *region,
                 const leat_value *values, uint32_t count, const leat_row_filling *filling) {
  leat_graph *body = region->bodies[1];
  leat_value *next = leat_new_array(context->scratch, leat_value, count);
  for (uint32_t i = 0; i < count; i++) {
    leat_value rows = {body->params.items[region->carried - count + i], 0};
    leat_builder builder = leat_region_builder(region, context->diag, body, values[i].node);
    const char *name = values[i].node->name;
    next[i] = filling->appends ? leat_build_append_row(&builder, name, rows, values[i])
                               : leat_build_set_row(&builder, name, rows, filling->row, values[i]);
  }
  leat_region_yield(body, next, count);
}

void leat_region_fill_rows(const leat_pass_context *context, leat_graph *graph,
                           leat_region_node *region, const leat_value *values, uint32_t count,
                           const leat_row_filling *filling) {
  leat_arena *scratch = context->scratch;
  leat_value *first = leat_new_array(scratch, leat_value, count);
  leat_dim rows = filling->appends ? leat_dim_const(0) : filling->count;
  uint32_t carried = region->carried;
  for (uint32_t i = 0; i < count; i++)
    first[i] = make_first(context, graph, region, values[i], rows);
  leat_region_carry_more(graph, region, first, count, scratch);
  if (filling->appends) let_grow(graph, region, carried);
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
