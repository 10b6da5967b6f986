// leat_codegen: the stages, once for each table of the image: the step, and the initialisation of
// each variable that has a computed initial value.
#include "codegen/codegen.h"

#include "codegen/units.h"

#include <assert.h>

// -- Before all: ops in terms of others -----------------------------------------------------------

static leat_node *append(leat_graph *graph, const leat_node *like, leat_op op, const char *suffix,
                         const leat_value *inputs, uint32_t count, const leat_attr *attrs,
                         const leat_type *type) {
  const char *path = leat_arena_printf(graph->arena, "%s/%s", like->name, suffix);
  leat_node *node =
      leat_graph_append(graph, op, leat_graph_unique_name(graph, path), inputs, count, attrs);
  leat_type *output = leat_new(graph->arena, leat_type);
  *output = *type;
  node->outputs = output;
  node->device = like->device;
  node->span = like->span;
  node->place = like->place;
  return node;
}

static leat_node *transpose_of(leat_graph *graph, leat_node *node) {
  leat_type type = *leat_value_type(node->inputs[1]);
  int64_t *perm = leat_new_array(graph->arena, int64_t, (size_t)type.rank);
  for (int k = 0; k < type.rank; k++) perm[k] = k;
  int last = type.rank - 1;
  leat_dim columns = type.dims[last];
  type.dims[last] = type.dims[last - 1];
  type.dims[last - 1] = columns;
  perm[last] = last - 1;
  perm[last - 1] = last;
  leat_attr attr = {.count = (uint32_t)type.rank, .ints = perm};
  return append(graph, node, LEAT_OP_transpose, "transposed", &node->inputs[1], 1, &attr, &type);
}

// The generator wants the columns of b next to each other: one transpose for all products of it.
static void expand_transpose_b(leat_graph *graph, leat_map *transposes, leat_node *node) {
  const leat_type *b = leat_value_type(node->inputs[1]);
  leat_node *moved = leat_map_get(transposes, b);
  if (!moved) leat_map_set(transposes, b, moved = transpose_of(graph, node));
  node->inputs[1] = (leat_value){moved, 0};
  leat_node_set_attr(graph, node, "transpose_b", (leat_attr){.i = 0});
}

static void expand(void *context, leat_graph *graph) {
  leat_codegen_state *cg = context;
  uint32_t count = graph->nodes.count;
  leat_node *in_cycle;
  leat_map transposes; // type of b, which is the value's own → node
  leat_map_init(&transposes, cg->arena);
  for (uint32_t i = 0; i < count; i++) {
    leat_node *node = graph->nodes.items[i];
    if (node->op == LEAT_OP_matmul && leat_node_attr(node, "transpose_b")->i &&
        !leat_uses_blis(cg, node))
      expand_transpose_b(graph, &transposes, node);
  }
  bool sorted = leat_graph_sort(graph, &in_cycle);
  assert(sorted);
  (void)sorted;
}

// -- Tables ---------------------------------------------------------------------------------------

static void dump(const leat_table *table, const char *stage) {
  const leat_codegen_options *options = table->cg->options;
  if (!options->dump) return;
  leat_text text = {0};
  leat_units_print(table, &text);
  options->dump(options->dump_context, stage, text.data ? text.data : "");
  leat_text_finish(&text);
}

static void link_units(leat_table *table) {
  for (leat_unit *unit = table->head; unit; unit = unit->next)
    leat_vec_push(table->cg->arena, &table->units, unit);
}

void leat_table_arrange(leat_table *table, leat_node *const *roots, uint32_t count) {
  leat_table_collect(table, roots, count);
  leat_units_make(table);
  leat_fuse(table);
  link_units(table);
  dump(table, "fuse");
  leat_schedule(table);
  dump(table, "schedule");
}

leat_status leat_table_prepare(leat_table *table) {
  leat_map_init(&table->packed, table->cg->arena);
  LEAT_TRY(leat_concats_in_place(table));
  for (uint32_t i = 0; i < table->units.count; i++) {
    leat_unit *unit = table->units.items[i];
    if (unit->kind == LEAT_UNIT_CONTRACT) leat_contract_prepare(table, unit);
    if (unit->kind == LEAT_UNIT_LOOPS) leat_loops_prepare(table, unit);
    if (unit->kind == LEAT_UNIT_LIBRARY) leat_library_prepare(table, unit);
    if (unit->kind == LEAT_UNIT_REGION) LEAT_TRY(leat_region_prepare(table, unit));
  }
  leat_plan_lives(table);
  return LEAT_OK;
}

leat_status leat_table_plan(leat_table *table) {
  if (!table->in_kernel) LEAT_TRY(leat_plan_places(table));
  dump(table, "plan");
  return LEAT_OK;
}

leat_status leat_table_lower(leat_table *table) {
  for (uint32_t i = 0; i < table->units.count; i++)
    LEAT_TRY(leat_lower_unit(table, table->units.items[i]));
  return LEAT_OK;
}

static leat_status compile_table(leat_table *table, leat_node *const *roots, uint32_t count) {
  table->item_of = table->cg->item_of;
  leat_vec_push(table->cg->arena, &table->cg->tables, table);
  leat_table_arrange(table, roots, count);
  LEAT_TRY(leat_table_prepare(table));
  LEAT_TRY(leat_recompute(table));
  LEAT_TRY(leat_table_plan(table));
  LEAT_TRY(leat_table_lower(table));
  if (!table->initialises) leat_merge_kernels(table);
  leat_image_add_table(table);
  for (uint32_t i = 0; i < table->items.count; i++)
    table->item_of[table->items.items[i]->node->id] = NULL;
  return table->cg->error->status;
}

static leat_status compile_step(leat_codegen_state *cg) {
  leat_vec(leat_node *) roots = {0};
  for (uint32_t i = 0; i < cg->graph->nodes.count; i++) {
    leat_node *node = cg->graph->nodes.items[i];
    bool is_root = node->effect && node->op != LEAT_OP_check_dims;
    if (is_root) leat_vec_push(cg->arena, &roots, node);
  }
  leat_table *table = leat_new(cg->arena, leat_table);
  table->cg = cg;
  return compile_table(table, roots.items, roots.count);
}

// The initial value is assigned to the variable like any other.
static leat_status compile_initial(leat_codegen_state *cg, leat_state *state) {
  leat_graph *graph = cg->graph;
  leat_attr attr = {.state = state};
  const char *path = leat_arena_printf(cg->arena, "%s/init/assign", state->name);
  leat_node *assign = leat_graph_append(graph, LEAT_OP_assign, leat_graph_unique_name(graph, path),
                                        &state->init, 1, &attr);
  leat_table *table = leat_new(cg->arena, leat_table);
  table->cg = cg;
  table->initialises = state;
  leat_status status = compile_table(table, &assign, 1);
  graph->nodes.count--;
  return status;
}

static bool has_initial(const leat_codegen_state *cg, const leat_state *state) {
  const leat_node *node = state->init.node;
  return node && node->op != LEAT_OP_const && node->id < cg->graph->nodes.count &&
         cg->graph->nodes.items[node->id] == node;
}

static leat_status verify_kernels(const leat_compiled *compiled, leat_error *error) {
  for (uint32_t i = 0; i < compiled->kernel_count; i++)
    LEAT_TRY(leat_kernel_verify(compiled->kernels[i], error));
  return LEAT_OK;
}

static leat_status compile_tables(leat_codegen_state *cg) {
  const leat_graph *graph = cg->graph;
  LEAT_TRY(compile_step(cg));
  for (uint32_t i = 0; i < graph->states.count; i++)
    if (has_initial(cg, graph->states.items[i]))
      LEAT_TRY(compile_initial(cg, graph->states.items[i]));
  return LEAT_OK;
}

static void inspect(const leat_codegen_state *cg, const leat_image *image) {
  const leat_inspection *asked = cg->options->inspection;
  if (asked->memory) leat_memory_print(cg, image, asked->all, asked->out);
  if (asked->memory && asked->plan) leat_text_add(asked->out, "\n");
  if (asked->plan) leat_plans_print(cg, asked->all, asked->out);
}

leat_status leat_codegen(leat_graph *graph, leat_arena *arena, leat_diag *diag,
                         const leat_codegen_options *options, leat_compiled *out,
                         leat_error *error) {
  leat_error own = {0};
  leat_codegen_state *cg = leat_new(arena, leat_codegen_state);
  *cg = (leat_codegen_state){.graph = graph,
                             .arena = arena,
                             .diag = diag,
                             .options = options,
                             .error = error ? error : &own};
  leat_graph_visit(graph, leat_sink, cg);
  leat_graph_visit(graph, expand, cg);
  leat_map_init(&cg->leaves, arena);
  leat_map_init(&cg->region_states, arena);
  leat_map_init(&cg->stored, arena);
  leat_map_init(&cg->appends, arena);
  leat_map_init(&cg->homes, arena);
  leat_map_init(&cg->rotated, arena);
  leat_map_init(&cg->rotations, arena);
  leat_bytes_map_init(&cg->recipes, arena);
  leat_vec_push(arena, &cg->arenas, (leat_arena_plan){0});
  cg->item_of = leat_new_array(arena, leat_item *, graph->nodes.count + 1);
  uint32_t states = graph->states.count + leat_regions_begin(cg);
  cg->variables = leat_new_array(arena, leat_storage *, (size_t)states + 1);
  cg->assigned = leat_new_array(arena, bool, (size_t)states + 1);
  for (uint32_t i = 0; i < graph->nodes.count; i++)
    if (graph->nodes.items[i]->op == LEAT_OP_assign)
      cg->assigned[leat_node_state(graph->nodes.items[i])->id] = true;
  leat_image_begin(cg);
  cg->scratch = leat_arena_create();
  leat_status status = compile_tables(cg);
  leat_arena_destroy(cg->scratch);
  LEAT_TRY(status);
  LEAT_TRY(leat_image_end(cg, out));
  if (options->inspection) inspect(cg, out->image);
  return verify_kernels(out, cg->error);
}
