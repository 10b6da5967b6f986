// What products pack, as they want it, before all else: the only changes of the graph.
//
// What a branch or a loop is given for nothing but products to pack it: a transpose of it is done
// inside, where packing does it, and so nowhere else (panels_home.c). What a file gives is loaded
// there, so that an artifact may have its panels.
#include "codegen/image_writer.h"
#include "codegen/stages.h"
#include "ops/build.h"

#include <assert.h>

// -- What may be done inside ----------------------------------------------------------------------

static bool is_moved(const leat_node *node) {
  leat_op_reads reads = node->info->reads;
  bool moves = reads == LEAT_READS_RESHAPED || reads == LEAT_READS_PERMUTED;
  return moves && node->input_count == 1 && !node->control_count && leat_node_is_static(node);
}

// What is moved, behind all the moves.
static leat_value source_of(leat_value value) {
  while (is_moved(value.node)) value = value.node->inputs[0];
  return value;
}

static bool is_transposed(leat_value value) {
  for (; is_moved(value.node); value = value.node->inputs[0])
    if (value.node->info->reads == LEAT_READS_PERMUTED) return true;
  return false;
}

static leat_node *param_of_input(const leat_node *region, const leat_graph *body, uint32_t input) {
  return body->params.items[input - (region->input_count - body->params.count)];
}

// Inputs in front are the predicate of a branch, or are carried.
static bool is_captured(const leat_node *region, uint32_t input) {
  bool loop = region->op == LEAT_OP_while_loop;
  return input >= (loop ? region->output_count : 1);
}

static bool is_packed(const leat_codegen_state *cg, const leat_graph *graph, const leat_node *value,
                      bool *used);

static bool packs(const leat_codegen_state *cg, const leat_node *node, uint32_t input, bool *used) {
  if (node->info->kind == LEAT_KIND_CONTRACT) {
    *used = true;
    return input == 1 && !leat_uses_blis(cg, node);
  }
  if (is_moved(node)) return is_packed(cg, node->graph, node, used);
  if (node->info->kind != LEAT_KIND_REGION || !is_captured(node, input)) return false;
  for (int k = 0; k < node->info->attr_count; k++) {
    const leat_graph *body = leat_node_body(node, k);
    if (body && !is_packed(cg, body, param_of_input(node, body, input), used)) return false;
  }
  return true;
}

// By whatever uses it, if anything does.
static bool is_packed(const leat_codegen_state *cg, const leat_graph *graph, const leat_node *value,
                      bool *used) {
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    const leat_node *node = graph->nodes.items[i];
    for (uint32_t j = 0; j < node->input_count; j++)
      if (node->inputs[j].node == value && !packs(cg, node, j, used)) return false;
  }
  return true;
}

// -- Doing it inside ------------------------------------------------------------------------------

static leat_value copy_into(leat_graph *body, const leat_node *node, const leat_value *inputs) {
  leat_entry *entry = body->owner->entry;
  leat_node *copy =
      leat_graph_append_like(body, node, node->name, inputs, node->attrs, entry, NULL);
  return (leat_value){copy, 0};
}

// The value in the body, of which `param` is the source.
static leat_value move_inside(leat_graph *body, leat_value value, leat_node *param) {
  if (!is_moved(value.node)) {
    bool load = value.node->op == LEAT_OP_load;
    return load ? copy_into(body, value.node, NULL) : (leat_value){param, 0};
  }
  leat_value moved = move_inside(body, value.node->inputs[0], param);
  return copy_into(body, value.node, &moved);
}

static void sort(leat_graph *graph) {
  leat_node *in_cycle;
  bool sorted = leat_graph_sort(graph, &in_cycle);
  assert(sorted);
  (void)sorted;
}

// Returns whether the region still has the input.
static bool give(leat_node *region, uint32_t input, leat_value value);

// Its parameter becomes the source of the value that it was.
static void give_body(leat_graph *body, leat_node *param, leat_value value) {
  uint32_t count = body->nodes.count;
  leat_value inside = {0};
  leat_type *type = leat_new(body->arena, leat_type);
  *type = *leat_value_type(source_of(value));
  param->outputs = type;
  leat_node_set_attr(body, param, "type", (leat_attr){.type = type});
  for (uint32_t i = 0; i < count; i++) {
    leat_node *node = body->nodes.items[i];
    for (uint32_t j = node->input_count; j-- > 0;) {
      if (node->inputs[j].node != param) continue;
      if (node->info->kind == LEAT_KIND_REGION) {
        give(node, j, value);
        continue;
      }
      if (!inside.node) inside = move_inside(body, value, param);
      node->inputs[j] = inside;
    }
  }
  sort(body);
}

static void drop_param(leat_graph *body, leat_node *param) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < body->params.count; i++) {
    leat_node *other = body->params.items[i];
    if (other == param) continue;
    leat_node_set_attr(body, other, "index", (leat_attr){.i = kept});
    body->params.items[kept++] = other;
  }
  body->params.count = kept;
}

static void drop_input(leat_node *region, uint32_t input) {
  for (int k = 0; k < region->info->attr_count; k++) {
    leat_graph *body = leat_node_body(region, k);
    if (body) drop_param(body, param_of_input(region, body, input));
  }
  region->input_count--;
  for (uint32_t i = input; i < region->input_count; i++) region->inputs[i] = region->inputs[i + 1];
}

static bool give(leat_node *region, uint32_t input, leat_value value) {
  for (int k = 0; k < region->info->attr_count; k++) {
    leat_graph *body = leat_node_body(region, k);
    if (body) give_body(body, param_of_input(region, body, input), value);
  }
  bool needed = source_of(value).node->op != LEAT_OP_load;
  if (!needed) drop_input(region, input);
  return needed;
}

void leat_sink(void *context, leat_graph *graph) {
  const leat_codegen_state *cg = context;
  for (uint32_t i = 0; i < graph->nodes.count; i++) {
    leat_node *node = graph->nodes.items[i];
    if (node->info->kind != LEAT_KIND_REGION || !leat_region_is_launched(node)) continue;
    for (uint32_t j = node->input_count; j-- > 0;) {
      bool used = false;
      leat_value value = node->inputs[j];
      bool moves = is_captured(node, j) &&
                   (is_transposed(value) || source_of(value).node->op == LEAT_OP_load);
      if (!moves || !packs(cg, node, j, &used) || !used) continue;
      if (give(node, j, value)) node->inputs[j] = source_of(value);
    }
  }
}

// -- Transposes -----------------------------------------------------------------------------------

static leat_node *transpose_of(const leat_codegen_state *cg, leat_graph *graph,
                               const leat_node *product) {
  const int rank = leat_value_type(product->inputs[1])->rank;
  leat_builder builder = {.graph = graph,
                          .diag = cg->diag,
                          .span = product->span,
                          .device = product->device,
                          .place = product->place};
  int64_t *perm = leat_new_array(graph->arena, int64_t, (size_t)rank);
  for (int k = 0; k < rank - 2; k++) perm[k] = k;
  perm[rank - 2] = rank - 1;
  perm[rank - 1] = rank - 2;
  leat_attr attr = {.count = (uint32_t)rank, .ints = perm};
  const char *name = leat_arena_printf(graph->arena, "%s/transposed", product->name);
  return leat_build(&builder, name, LEAT_OP_transpose, &product->inputs[1], 1, &attr).node;
}

// The generator wants the columns of b next to each other: one transpose for all products of it.
void leat_transpose_operands(void *context, leat_graph *graph) {
  const leat_codegen_state *cg = context;
  uint32_t count = graph->nodes.count;
  leat_map transposes; // type of b, which is the value's own → node
  leat_map_init(&transposes, cg->arena);
  for (uint32_t i = 0; i < count; i++) {
    leat_node *node = graph->nodes.items[i];
    bool transposes_b = node->op == LEAT_OP_matmul && leat_node_attr(node, "transpose_b")->i;
    if (!transposes_b || leat_uses_blis(cg, node)) continue;
    const leat_type *b = leat_value_type(node->inputs[1]);
    leat_node *moved = leat_map_get(&transposes, b);
    if (!moved) leat_map_set(&transposes, b, moved = transpose_of(cg, graph, node));
    node->inputs[1] = (leat_value){moved, 0};
    leat_node_set_attr(graph, node, "transpose_b", (leat_attr){.i = 0});
  }
  sort(graph);
}
