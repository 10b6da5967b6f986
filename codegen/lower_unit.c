// A unit as launches: by its kind a kernel, a copy, a product of BLIS, a function of the library,
// or none, where it is a task of its own.
#include "codegen/lower.h"
#include "codegen/stages.h"

static leat_launch *library_launch(leat_table *table, leat_unit *unit, leat_launch_kind kind) {
  leat_launch *launch = leat_new(table->cg->arena, leat_launch);
  launch->kind = kind;
  launch->tiles = leat_dim_const(1);
  launch->work = leat_dim_const((int64_t)leat_unit_estimate(table, unit));
  leat_vec_push(table->cg->arena, &unit->launches, launch);
  return launch;
}

static void lower_copy(leat_table *table, leat_unit *unit) {
  if (unit->copy.rows) {
    leat_lower_append(table, unit);
    return;
  }
  if (unit->copy.from == unit->copy.to) return;
  leat_launch *launch = library_launch(table, unit, LEAT_LAUNCH_COPY);
  leat_vec_push(table->cg->arena, &launch->buffers, unit->copy.to);
  leat_vec_push(table->cg->arena, &launch->buffers, unit->copy.from);
}

static void dump_rotation(const leat_table *table, const leat_rotation *rotation) {
  const leat_codegen_options *options = table->cg->options;
  if (!options->dump) return;
  leat_text text = {0};
  leat_text_add(&text, "region %s: results ", rotation->node->name);
  for (uint32_t i = 0; i < rotation->results.count; i++)
    leat_text_add(&text, i ? ", %u" : "%u", rotation->results.items[i]);
  leat_text_add(&text, " change places\n");
  options->dump(options->dump_context, "lower", text.data);
  leat_text_finish(&text);
}

static void lower_rotation(leat_table *table, leat_unit *unit) {
  const leat_rotation *rotation = unit->rotation;
  leat_launch *launch = library_launch(table, unit, LEAT_LAUNCH_ROTATE);
  for (uint32_t i = 0; i < rotation->places.count; i++)
    leat_vec_push(table->cg->arena, &launch->buffers, rotation->places.items[i]);
  dump_rotation(table, rotation);
}

static void lower_gemm(leat_table *table, leat_unit *unit) {
  leat_arena *arena = table->cg->arena;
  const leat_node *node = unit->members.items[0]->node;
  const leat_type *a = leat_value_type(node->inputs[0]), *out = &node->outputs[0];
  leat_launch *launch = library_launch(table, unit, LEAT_LAUNCH_GEMM);
  leat_lower w = {.table = table, .unit = unit};
  int64_t transpose_a = leat_node_attr(node, "transpose_a")->i;
  int64_t transpose_b = leat_node_attr(node, "transpose_b")->i;
  leat_dim m = out->dims[out->rank - 2], n = out->dims[out->rank - 1];
  leat_dim k = a->dims[a->rank - (transpose_a ? 2 : 1)];
  leat_dim batch = leat_lower_product(&w, out->dims, out->rank - 2);
  leat_dim scalars[] = {m, n, k, leat_dim_const(transpose_a), leat_dim_const(transpose_b), batch};
  leat_vec_push(arena, &launch->buffers, unit->outputs.items[0].storage);
  for (uint32_t i = 0; i < 2; i++)
    leat_vec_push(arena, &launch->buffers, leat_item_memory(table, node->inputs[i])->storage);
  for (uint32_t i = 0; i < sizeof scalars / sizeof *scalars; i++)
    leat_vec_push(arena, &launch->scalars, scalars[i]);
  leat_dim tiles[] = {batch, leat_lower_ceil_div(&w, m, LEAT_GEMM_ROWS),
                      leat_lower_ceil_div(&w, n, LEAT_GEMM_COLUMNS)};
  launch->tiles = leat_lower_product(&w, tiles, 3);
}

void leat_lower_alone(leat_table *table, leat_unit *unit) {
  if (unit->kind == LEAT_UNIT_CONTRACT)
    leat_lower_contract(table, unit);
  else
    leat_lower_loops(table, unit);
}

// By the launches of the first time, but for those that make what is there since.
static void lower_again(leat_table *table, leat_unit *unit) {
  for (uint32_t i = 0; i < unit->again->launches.count; i++) {
    leat_launch *launch = unit->again->launches.items[i];
    if (launch->buffers.items[0]->kind == LEAT_BUFFER_PREPARED) continue;
    leat_vec_push(table->cg->arena, &unit->launches, launch);
  }
}

// A region that is a kernel, or launches of its bodies' launches.
static void lower_region(leat_table *table, leat_unit *unit) {
  if (unit->region.waits) return;
  leat_launch *launch = unit->region.kernel;
  if (!launch) {
    bool loop = unit->members.items[0]->node->op == LEAT_OP_while_loop;
    launch = leat_new(table->cg->arena, leat_launch);
    *launch = (leat_launch){.kind = loop ? LEAT_LAUNCH_WHILE : LEAT_LAUNCH_IF,
                            .region = &unit->region,
                            .tiles = leat_dim_const(1),
                            .work = leat_dim_const(1)};
  }
  if (unit->region.rows.count)
    leat_append_wrap(table, unit, launch);
  else
    leat_vec_push(table->cg->arena, &unit->launches, launch);
}

leat_status leat_lower_unit(leat_table *table, leat_unit *unit) {
  if (unit->again) {
    lower_again(table, unit);
    return LEAT_OK;
  }
  switch (unit->kind) {
  case LEAT_UNIT_LOOPS:
  case LEAT_UNIT_CONTRACT: leat_lower_alike(table, unit); break;
  case LEAT_UNIT_SCATTER: leat_lower_scatter(table, unit); break;
  case LEAT_UNIT_LIBRARY: leat_lower_library(table, unit); break;
  case LEAT_UNIT_COPY: lower_copy(table, unit); break;
  case LEAT_UNIT_ROTATE: lower_rotation(table, unit); break;
  case LEAT_UNIT_GEMM: lower_gemm(table, unit); break;
  case LEAT_UNIT_REGION: lower_region(table, unit); break;
  case LEAT_UNIT_ROOM: // as soon as it is made
  case LEAT_UNIT_CONCAT:
  case LEAT_UNIT_TASK: break;
  }
  leat_arena_reset(table->cg->scratch);
  return table->cg->error->status;
}
