// What loops append to. Where something else in the loop is a task, what is appended is one, too
// (APPEND). Else it is a launch that stores rows behind those that are there, and counts them; the
// memory has room for more, and the loop turns as long as its condition holds and there is room. So
// it is launches, or one kernel, as any loop is. What runs it is a task (ROWS): it makes room, runs
// the loop, and does so again while that has ended for want of room; what the loop carries is where
// it left it.
#include "codegen/image_writer.h"
#include "codegen/lower.h"
#include "codegen/stages.h"
#include "ops/appended.h"

#include <string.h>

// -- Which loops ----------------------------------------------------------------------------------

static bool bodies_are_launched(const leat_node *node) {
  for (int k = 0; k < node->info->attr_count; k++) {
    const leat_graph *body = leat_node_body(node, k);
    for (uint32_t i = 0; body && i < body->nodes.count; i++) {
      const leat_node *in = body->nodes.items[i];
      bool region = in->info->kind == LEAT_KIND_REGION;
      if (region ? leat_region_lets_grow(in) || !bodies_are_launched(in)
                 : leat_task_kind_of(in->op) != LEAT_TASK_SEGMENT)
        return false;
    }
  }
  return true;
}

bool leat_region_is_launched(const leat_node *node) {
  for (uint32_t i = 0; i < node->output_count; i++)
    if (leat_region_result_grows(node, i) &&
        !(leat_loop_only_appends(node, i) && node->outputs[i].dtype != LEAT_str))
      return false;
  return bodies_are_launched(node);
}

void leat_append_find(leat_table *table, leat_unit *loop) {
  leat_codegen_state *cg = table->cg;
  const leat_item *item = loop->members.items[0];
  const leat_type number = leat_type_scalar(LEAT_i64), truth = leat_type_scalar(LEAT_bool);
  if (!leat_region_lets_grow(item->node) || !leat_region_is_launched(item->node)) return;
  for (uint32_t i = 0; i < item->node->output_count; i++) {
    if (!leat_region_result_grows(item->node, i)) continue;
    leat_appended rows = {.to = item[i].storage,
                          .count = leat_storage_arena(table, &number),
                          .room = leat_dim_anonymous(cg->graph->dims, NULL)};
    const leat_node *next = leat_node_body(item->node, 1)->yield->inputs[i].node;
    leat_type all = item->node->outputs[i];
    rows.each = leat_value_type(next->inputs[1])->dims[0];
    all.dims[0] = rows.room;
    rows.all = leat_storage_grown(cg, rows.to->grown, &all);
    leat_vec_push(cg->arena, &loop->region.rows, rows);
  }
  loop->region.goes_on = leat_storage_arena(table, &truth);
}

const leat_appended *leat_append_of(const leat_table *body, const leat_storage *to) {
  const leat_region_tables *region = &body->region->region;
  for (uint32_t i = 0; i < region->rows.count; i++)
    if (region->rows.items[i].to == to) return &region->rows.items[i];
  return NULL;
}

// -- What is launched -----------------------------------------------------------------------------

static leat_launch *new_launch(leat_table *table, leat_unit *unit, const char *title, double work) {
  leat_arena *arena = table->cg->arena;
  leat_launch *launch = leat_new(arena, leat_launch);
  *launch = (leat_launch){.kind = LEAT_LAUNCH_KERNEL,
                          .title = title,
                          .tiles = leat_dim_const(1),
                          .work = leat_dim_const((int64_t)work)};
  leat_vec_push(arena, &unit->launches, launch);
  return launch;
}

static const k_buffer *pass(leat_table *table, k_builder *b, leat_launch *launch,
                            leat_storage *storage) {
  leat_vec_push(table->cg->arena, &launch->buffers, storage);
  return k_argument(b, k_dtype(storage->type.dtype));
}

static k_value number(leat_table *table, k_builder *b, leat_launch *launch, leat_dim dim) {
  if (leat_dim_is_const(dim)) return k_i64(b, dim.value);
  leat_vec_push(table->cg->arena, &launch->scalars, dim);
  return k_scalar(b);
}

static void store_rows(k_builder *b, const k_buffer *to, k_value at, const k_buffer *from,
                       k_value size) {
  bool known = size->op == K_CONST, one = known && size->imm.i == 1;
  int lanes = one ? 1 : LEAT_LANES;
  k_value i = k_loop_index(k_loop_begin(b, k_i64(b, 0), size, lanes, NULL, 0)), mask = NULL;
  if (!known || size->imm.i % lanes) mask = k_lt(b, k_add(b, k_lane(b, LEAT_i64, lanes), i), size);
  k_store(b, to, k_add(b, at, i), k_load(b, from, i, lanes, mask), mask);
  k_loop_end(b, NULL, 0);
}

void leat_lower_append(leat_table *body, leat_unit *copy) {
  const leat_appended *rows = copy->copy.rows;
  const leat_type *type = copy->copy.type;
  k_builder b;
  leat_launch *launch = new_launch(body, copy, "append", leat_cost_copy(type));
  leat_lower w = {.table = body, .unit = copy};
  leat_dim words = leat_dim_const(k_words(type->dtype)), all[LEAT_MAX_RANK + 1] = {words};
  for (int32_t k = 1; k < type->rank; k++) all[k] = type->dims[k];
  leat_dim row = leat_lower_product(&w, all, type->rank);
  k_begin(&b, body->cg->arena, "append");
  const k_buffer *to = pass(body, &b, launch, rows->all);
  const k_buffer *from = pass(body, &b, launch, copy->copy.from);
  const k_buffer *count = pass(body, &b, launch, rows->count);
  k_value row_size = number(body, &b, launch, row);
  k_value added = number(body, &b, launch, type->dims[0]);
  k_value before = k_load(&b, count, k_i64(&b, 0), 1, NULL);
  store_rows(&b, to, k_mul(&b, before, row_size), from, k_mul(&b, added, row_size));
  k_store(&b, count, k_i64(&b, 0), k_add(&b, before, added), NULL);
  launch->kernel = k_finish(&b);
}

static leat_unit *append_unit(leat_table *table) {
  leat_arena *arena = table->cg->arena;
  leat_unit *unit = leat_new(arena, leat_unit);
  unit->kind = LEAT_UNIT_ROOM;
  unit->position = table->units.count;
  leat_vec_push(arena, &table->units, unit);
  if (!table->tasks.count) leat_vec_push(arena, &table->tasks, (leat_task){0});
  leat_vec_push(arena, &table->tasks.items[0].units, unit);
  return unit;
}

void leat_append_ask_for_room(leat_unit *loop) {
  leat_region_tables *region = &loop->region;
  leat_table *condition = region->tables[0];
  leat_unit *unit = append_unit(condition);
  unit->room_for = loop->members.items[0]->node;
  leat_launch *launch = new_launch(condition, unit, "room", 1);
  k_builder b;
  k_begin(&b, condition->cg->arena, "room");
  const k_buffer *goes_on = pass(condition, &b, launch, region->goes_on);
  const k_buffer *holds = pass(condition, &b, launch, region->predicate);
  const k_buffer **counts =
      leat_new_array(condition->cg->scratch, const k_buffer *, region->rows.count);
  for (uint32_t i = 0; i < region->rows.count; i++)
    counts[i] = pass(condition, &b, launch, region->rows.items[i].count);
  k_value answer = NULL;
  for (uint32_t i = 0; i < region->rows.count; i++) {
    const leat_appended *rows = &region->rows.items[i];
    k_value added = number(condition, &b, launch, rows->each);
    k_value room = number(condition, &b, launch, rows->room);
    k_value then = k_add(&b, k_load(&b, counts[i], k_i64(&b, 0), 1, NULL), added);
    k_value fits = k_binary(&b, K_LE, then, room);
    answer = answer ? k_binary(&b, K_AND, answer, fits) : fits;
  }
  answer = k_binary(&b, K_AND, answer, k_load(&b, holds, k_i64(&b, 0), 1, NULL));
  k_store(&b, goes_on, k_i64(&b, 0), answer, NULL);
  launch->kernel = k_finish(&b);
}

// -- What runs them -------------------------------------------------------------------------------

static leat_table *new_table(leat_table *around, leat_unit *region) {
  leat_table *table = leat_new(around->cg->arena, leat_table);
  *table = (leat_table){.cg = around->cg, .around = around, .region = region};
  return table;
}

void leat_append_wrap(leat_table *table, leat_unit *loop, leat_launch *launch) {
  leat_arena *arena = table->cg->arena;
  leat_unit *inner = leat_new(arena, leat_unit);
  leat_vec_push(arena, &loop->launches, launch); // behind what packs for it
  *inner = *loop;
  memset(&loop->launches, 0, sizeof loop->launches);
  inner->region.rows.count = 0;
  inner->region.extents.count = 0;
  if (launch->region) launch->region = &inner->region;
  leat_table *runs = new_table(table, loop);
  for (uint32_t i = 0; i < loop->region.rows.count; i++) {
    const leat_appended *rows = &loop->region.rows.items[i];
    leat_vec_push(arena, &runs->extents, (leat_extent){rows->room, rows->to->grown, 0});
  }
  leat_task task = {0};
  leat_vec_push(arena, &task.units, inner);
  leat_vec_push(arena, &runs->tasks, task);
  leat_vec_push(arena, &runs->units, inner);
  loop->region.tables[0] = runs;
  loop->region.tables[1] = new_table(table, loop);
  loop->region.goes_on = loop->region.predicate;
}
