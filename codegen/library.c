// Nodes of kind LIBRARY: a launch of the function of runtime/kernels that library_X names.
#include "codegen/lower.h"
#include "codegen/stages.h"

#include "ops/ops.h"

static void too_large(leat_table *table, const leat_unit *unit) {
  leat_fail(table->cg->error, LEAT_UNSUPPORTED, "%s: a tensor has too many elements",
            unit->members.items[0]->node->name);
}

void leat_library_prepare(leat_table *table, leat_unit *unit) {
  leat_codegen_state *cg = table->cg;
  const leat_node *node = unit->members.items[0]->node;
  leat_library_call *call = leat_new(cg->arena, leat_library_call);
  if (!leat_library_of(node->op)(cg->graph->dims, node, call)) too_large(table, unit);
  unit->call = call;
  if (leat_dim_is(call->scratch, 0)) return;
  leat_type bytes = {.dtype = LEAT_u8, .rank = 1, .dims = {call->scratch}};
  unit->scratch = leat_storage_arena(table, &bytes);
}

void leat_lower_library(leat_table *table, leat_unit *unit) {
  leat_codegen_state *cg = table->cg;
  const leat_library_call *call = unit->call;
  const leat_node *node = unit->members.items[0]->node;
  leat_launch *launch = leat_new(cg->arena, leat_launch);
  launch->kind = LEAT_LAUNCH_KERNEL;
  launch->function = leat_arena_printf(cg->arena, "leat_%s_%s",
                                       call->module ? call->module : "library", call->function);
  for (uint32_t i = 0; i < unit->outputs.count; i++)
    leat_vec_push(cg->arena, &launch->buffers, unit->outputs.items[i].storage);
  for (uint32_t i = 0; i < node->input_count; i++)
    leat_vec_push(cg->arena, &launch->buffers, leat_item_memory(table, node->inputs[i])->storage);
  if (unit->scratch) leat_vec_push(cg->arena, &launch->buffers, unit->scratch);
  for (uint32_t i = 0; i < call->scalar_count; i++)
    leat_vec_push(cg->arena, &launch->scalars, call->scalars[i]);
  leat_vec_push(cg->arena, &launch->sites, (leat_fail_site){.node = node, .says = ""});
  launch->tiles = call->tiles;
  leat_dim each = leat_dim_const((int64_t)call->work + 1);
  if (!leat_dim_mul(cg->graph->dims, call->tiles, each, &launch->work)) too_large(table, unit);
  leat_vec_push(cg->arena, &unit->launches, launch);
}
