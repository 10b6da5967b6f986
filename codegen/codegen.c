// leat_codegen: the stages, once for each table of the image: the step, and the initialisation of
// each variable that has a computed initial value.
#include "codegen/codegen.h"

#include "base/checked.h"
#include "codegen/stages.h"
#include "ir/print.h"
#include "ir/verify.h"

#include <string.h>

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

// What a region's bodies do is known when the units behind it are made.
static void make_units(leat_table *table) {
  leat_units_find_copied_reads(table);
  for (uint32_t p = 0; p < table->items.count; p++) {
    leat_item *item = table->items.items[p];
    leat_unit_make(table, item);
    if (item->node->info->kind == LEAT_KIND_REGION && leat_item_first(item) == item)
      leat_region_arrange(table, item->unit);
  }
  leat_units_order(table);
}

void leat_table_arrange(leat_table *table) {
  leat_table_collect(table);
  make_units(table);
  leat_fuse(table);
  leat_chain_rows(table);
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

// Of the step, or of a variable's initial value.
static leat_status compile_table(leat_codegen_state *cg, leat_state *initialises) {
  leat_table *table = leat_new(cg->arena, leat_table);
  *table = (leat_table){.cg = cg, .initialises = initialises, .item_of = cg->item_of};
  leat_vec_push(cg->arena, &cg->tables, table);
  leat_table_arrange(table);
  LEAT_TRY(leat_table_prepare(table));
  LEAT_TRY(leat_recompute(table));
  LEAT_TRY(leat_table_plan(table));
  LEAT_TRY(leat_table_lower(table));
  if (!initialises) leat_merge_kernels(table);
  leat_image_add_table(table);
  for (uint32_t i = 0; i < table->items.count; i++)
    table->item_of[table->items.items[i]->node->id] = NULL;
  return cg->error->status;
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
  LEAT_TRY(compile_table(cg, NULL));
  for (uint32_t i = 0; i < graph->states.count; i++)
    if (has_initial(cg, graph->states.items[i]))
      LEAT_TRY(compile_table(cg, graph->states.items[i]));
  return LEAT_OK;
}

// -- The graph ------------------------------------------------------------------------------------

// What is read may not change. Nobody looks but where faults are looked for.
static leat_status begin_reading(const leat_codegen_state *cg, leat_text *before) {
  if (!LEAT_IS_CHECKED && !cg->options->dump) return LEAT_OK;
  leat_graph_print(cg->graph, before);
  return leat_verify(cg->graph, cg->error);
}

static leat_status end_reading(const leat_codegen_state *cg, const leat_text *before) {
  if (!before->data) return LEAT_OK;
  leat_text after = {0};
  leat_graph_print(cg->graph, &after);
  bool same = strcmp(before->data, after.data) == 0;
  leat_text_finish(&after);
  if (!same) return leat_fail(cg->error, LEAT_INTERNAL, "code generation has changed its graph");
  return leat_verify(cg->graph, cg->error);
}

static leat_status read_graph(leat_codegen_state *cg) {
  leat_text before = {0};
  leat_status status = begin_reading(cg, &before);
  cg->scratch = leat_arena_create();
  if (!status) status = compile_tables(cg);
  leat_arena_destroy(cg->scratch);
  if (!status) status = end_reading(cg, &before);
  leat_text_finish(&before);
  return status;
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
  leat_graph_visit(graph, leat_transpose_operands, cg);
  leat_map_init(&cg->leaves, arena);
  leat_map_init(&cg->region_places, arena);
  leat_bytes_map_init(&cg->recipes, arena);
  leat_vec_push(arena, &cg->arenas, (leat_arena_plan){0});
  cg->item_of = leat_new_array(arena, leat_item *, graph->nodes.count + 1);
  cg->variables = leat_new_array(arena, leat_storage *, (size_t)graph->states.count + 1);
  cg->assigned = leat_new_array(arena, bool, (size_t)graph->states.count + 1);
  for (uint32_t i = 0; i < graph->nodes.count; i++)
    if (graph->nodes.items[i]->op == LEAT_OP_assign)
      cg->assigned[leat_node_state(graph->nodes.items[i])->id] = true;
  leat_image_begin(cg);
  LEAT_TRY(read_graph(cg));
  LEAT_TRY(leat_image_end(cg, out));
  if (options->inspection) inspect(cg, out->image);
  return verify_kernels(out, cg->error);
}
