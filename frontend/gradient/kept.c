// What is kept of a loop's turn, as a row, and what was carried in it, of such rows: of an array
// that the loop changes in a few places these, and what was there, by which each turn is undone.
#include "frontend/evaluate/evaluate.h"
#include "frontend/gradient/reversal.h"
#include "ops/appended.h"
#include "ops/turns.h"

#include <assert.h>

// Arrays of fewer elements are kept whole; of others at most a quarter may change in a turn.
enum { FEW = 64, PARTS = 4 };

// -- Rows -----------------------------------------------------------------------------------------

// Of a value that has all dims a tensor may have, the last two are one in its row.
static bool row_type(const reversal *r, const leat_type *of, leat_type *out) {
  *out = *of;
  if (of->rank < LEAT_MAX_RANK) return true;
  out->rank--;
  leat_dim *last = &out->dims[out->rank - 1];
  if (leat_dim_mul(r->e->graph->dims, *last, of->dims[out->rank], last)) return true;
  ev_fail(r->e, r->span, "the gradient of a loop that carries %s needs too many dimensions",
          leat_type_text(r->e->arena, of));
  return false;
}

static leat_value zeros(const reversal *r, const leat_type *type) {
  ev zero = type->dtype == LEAT_bool  ? ev_bool(false)
            : type->dtype == LEAT_str ? ev_text(r->e, "", 0)
                                      : ev_int(0);
  return ev_literal_tensor(r->e, zero, type, NULL, r->span);
}

leat_value ev_new_rows(const reversal *r, const leat_type *like, leat_dim count) {
  leat_type row;
  if (!row_type(r, like, &row)) return (leat_value){0};
  leat_type type = leat_type_rows(&row, count);
  return zeros(r, &type);
}

leat_value ev_set_row(const reversal *r, leat_value rows, leat_value at, leat_value value) {
  leat_builder builder = ev_builder(r->e, r->span);
  return leat_build_set_row(&builder, ev_node_name(r->e, NULL, "row"), rows, at, value);
}

leat_value ev_no_rows(const reversal *r, uint32_t carried) {
  leat_type type = *leat_value_type(r->node->inputs[carried]);
  type.dims[0] = leat_dim_const(0);
  return zeros(r, &type);
}

leat_value ev_append_row(const reversal *r, leat_value rows, leat_value value) {
  leat_builder builder = ev_builder(r->e, r->span);
  return leat_build_append_row(&builder, ev_node_name(r->e, NULL, "row"), rows, value);
}

leat_value ev_row(const reversal *r, leat_value rows, leat_value at, const leat_type *type) {
  ev inputs[] = {ev_tensor(rows), ev_tensor(at)};
  leat_attr axis = {.i = 0};
  ev row = ev_op(r->e, LEAT_OP_gather, inputs, 2, &axis, r->span, NULL);
  if (row.kind != EV_TENSOR) return (leat_value){0};
  if (type->rank < LEAT_MAX_RANK) return row.tensor;
  leat_builder builder = ev_builder(r->e, r->span);
  return leat_build_reshape(&builder, ev_node_name(r->e, NULL, "row"), row.tensor, type);
}

// -- Counters -------------------------------------------------------------------------------------

// A counter needs no rows: what it was in a turn is computed. Its dtype has all small steps.
static bool is_counter(const reversal *r, uint32_t i, int64_t *step) {
  return leat_loop_step(r->node, i, step) && -128 < *step && *step < 128;
}

bool ev_is_counter(const reversal *r, uint32_t carried) {
  int64_t step;
  return is_counter(r, carried, &step);
}

bool ev_appends(const reversal *r, uint32_t carried) {
  return leat_region_result_grows(r->node, carried) && leat_loop_only_appends(r->node, carried);
}

bool ev_has_rows(const reversal *r, uint32_t carried) {
  return !ev_is_counter(r, carried) && !ev_appends(r, carried);
}

leat_value ev_recall_counter(const reversal *r, uint32_t carried, leat_value outside,
                             leat_value first, leat_value count) {
  int64_t step = 0;
  is_counter(r, carried, &step);
  leat_attr dtype = {.i = leat_value_type(first)->dtype};
  ev value = ev_tensor(count);
  if (dtype.i != LEAT_i64) value = ev_op(r->e, LEAT_OP_cast, &value, 1, &dtype, r->span, NULL);
  if (value.kind != EV_TENSOR) return (leat_value){0};
  int64_t by = step < 0 ? -step : step;
  leat_dim from;
  leat_value grown = value.tensor;
  if (by != 1) grown = ev_operation(r, LEAT_OPERATOR_MUL, grown, ev_int(by));
  bool from_zero = leat_known_integer(outside, &from) && leat_dim_is(from, 0);
  if (!grown.node || (from_zero && step >= 0)) return grown;
  leat_operator sign = step < 0 ? LEAT_OPERATOR_SUB : LEAT_OPERATOR_ADD;
  return ev_operation(r, sign, first, ev_tensor(grown));
}

// -- Rows by turn ---------------------------------------------------------------------------------

bool ev_sets_row(const reversal *r, uint32_t carried) {
  return leat_loop_sets_row(r->node, carried);
}

leat_value ev_unset_row(const reversal *r, uint32_t carried, leat_value behind, leat_value turn) {
  leat_value first = r->node->inputs[carried];
  leat_type type = {.rank = leat_value_type(first)->rank - 1};
  leat_value row = ev_row(r, first, turn, &type);
  return row.node ? ev_set_row(r, behind, turn, row) : row;
}

leat_value ev_turn_count(const reversal *r) {
  for (uint32_t i = 0; i < r->carried; i++)
    if (leat_loop_counts(r->node, i) && r->node->outputs[i].dtype == LEAT_i64)
      return (leat_value){r->node, i};
  return (leat_value){0};
}

// -- What is kept of a turn -----------------------------------------------------------------------

static int64_t axis_of(const leat_node *scatter) {
  return leat_node_attr(scatter, "axis")->i;
}

// Whether the scatters change a small part of what is carried.
static bool are_few(const leat_type *carried, const leat_node_list *scatters) {
  int64_t elements = leat_type_static_elements(carried);
  if (scatters->count && elements >= 0 && elements < FEW) return false;
  for (uint32_t i = 0; i < scatters->count; i++) {
    const leat_node *node = scatters->items[i];
    int64_t count = leat_type_static_elements(leat_value_type(node->inputs[1]));
    leat_dim extent = carried->dims[axis_of(node)];
    if (count < 0) return false;
    if (leat_dim_is_const(extent) && extent.value / PARTS / scatters->count < count) return false;
  }
  return true;
}

bool ev_is_undone(const reversal *r, uint32_t carried, leat_node_list *out) {
  leat_node_list scatters = {0};
  leat_value value = r->body->yield->inputs[carried];
  for (; value.node->info->kind == LEAT_KIND_SCATTER; value = value.node->inputs[0])
    leat_vec_push(r->e->arena, &scatters, value.node);
  *out = scatters;
  bool updated = value.node == r->body->params.items[carried];
  return updated && ev_has_rows(r, carried) &&
         (ev_sets_row(r, carried) || are_few(leat_value_type(value), &scatters));
}

// Of what a scatter changes. The updates have that type, too, but may have dims that the body
// binds.
static leat_type changed_type(const leat_node *scatter) {
  const leat_type *all = leat_value_type(scatter->inputs[0]);
  const leat_type *indices = leat_value_type(scatter->inputs[1]);
  int64_t axis = axis_of(scatter);
  leat_type type = {.dtype = all->dtype, .rank = all->rank - 1 + indices->rank};
  for (int32_t k = 0; k < type.rank; k++)
    type.dims[k] = k < axis                   ? all->dims[k]
                   : k < axis + indices->rank ? indices->dims[k - axis]
                                              : all->dims[k - indices->rank + 1];
  return type;
}

leat_type *ev_kept_types(const reversal *r, uint32_t carried, uint32_t *count) {
  leat_node_list changes;
  bool undone = ev_is_undone(r, carried, &changes);
  if (ev_sets_row(r, carried)) changes.count = 0; // what was there is what was before the loop
  leat_type *types = leat_new_array(r->e->arena, leat_type, 2 * (size_t)changes.count + 1);
  *count = undone ? 2 * changes.count : ev_has_rows(r, carried);
  *types = *leat_value_type(r->node->inputs[carried]);
  for (uint32_t i = 0; undone && i < changes.count; i++) {
    types[2 * i] = *leat_value_type(changes.items[i]->inputs[1]);
    types[2 * i + 1] = changed_type(changes.items[i]);
  }
  return types;
}

uint32_t ev_keep(const reversal *r, uint32_t carried, leat_value now, leat_node *const *copies,
                 leat_value *out) {
  leat_node_list changes;
  *out = now;
  if (ev_sets_row(r, carried)) return 0;
  if (!ev_is_undone(r, carried, &changes)) return ev_has_rows(r, carried);
  for (uint32_t i = 0; i < changes.count; i++) {
    const leat_node *copy = copies[changes.items[i]->id];
    ev inputs[] = {ev_tensor(copy->inputs[0]), ev_tensor(copy->inputs[1])};
    leat_attr axis = {.i = axis_of(copy)};
    ev before = ev_op(r->e, LEAT_OP_gather, inputs, 2, &axis, copy->span, NULL);
    out[2 * i] = copy->inputs[1];
    out[2 * i + 1] = before.kind == EV_TENSOR ? before.tensor : (leat_value){0};
  }
  return 2 * changes.count;
}

// Whether that value of the body is kept as that part of what is carried.
static bool is_kept(const reversal *r, uint32_t carried, uint32_t part, leat_value value) {
  leat_node_list changes;
  if (!ev_is_undone(r, carried, &changes)) return value.node == r->body->params.items[carried];
  const leat_node *scatter = changes.items[part / 2];
  if (part % 2) return leat_reads_what_changes(value.node, scatter);
  leat_value indices = leat_reshape_origin(scatter->inputs[1]);
  return value.node == indices.node && value.port == indices.port;
}

// The result of the loop that has these rows; {NULL}: none.
static leat_value find_rows(const reversal *r, uint32_t carried, uint32_t part,
                            const leat_type *type, const leat_dim *turns) {
  for (uint32_t i = 0; type->rank < LEAT_MAX_RANK && i < r->carried; i++) {
    leat_value row = leat_loop_row_put(r->node, i);
    const leat_type *all = &r->node->outputs[i];
    if (!row.node || !is_kept(r, carried, part, leat_reshape_origin(row))) continue;
    leat_type wanted = leat_type_rows(type, all->dims[0]);
    bool enough = ev_appends(r, i) || (turns && leat_dim_equal(all->dims[0], *turns));
    if (enough && leat_type_equal(&wanted, all)) return (leat_value){r->node, i};
  }
  return (leat_value){0};
}

bool ev_find_history(const reversal *r, const leat_dim *turns, ev_history *out) {
  ev_take_history(r, r->node, r->node->inputs, out);
  out->count = ev_turn_count(r);
  bool found = out->count.node;
  for (uint32_t i = 0; found && i < r->carried; i++) {
    uint32_t kept;
    const leat_type *types = ev_kept_types(r, i, &kept);
    for (uint32_t k = 0; found && k < kept; k++) {
      out->kept[i][k] = find_rows(r, i, k, &types[k], turns);
      found = out->kept[i][k].node;
    }
  }
  return found;
}

static leat_value undo(const reversal *r, leat_value changed, const leat_node_list *changes,
                       const leat_value *kept, leat_value count) {
  for (uint32_t i = 0; i < changes->count && changed.node; i++) {
    const leat_node *scatter = changes->items[i];
    leat_type type = changed_type(scatter);
    leat_value indices = ev_row(r, kept[2 * i], count, leat_value_type(scatter->inputs[1]));
    leat_value before = ev_row(r, kept[2 * i + 1], count, &type);
    if (!indices.node || !before.node) return (leat_value){0};
    ev inputs[] = {ev_tensor(changed), ev_tensor(indices), ev_tensor(before)};
    leat_attr axis = {.i = axis_of(scatter)};
    ev undone = ev_op(r->e, LEAT_OP_scatter_set, inputs, 3, &axis, r->span, NULL);
    changed = undone.kind == EV_TENSOR ? undone.tensor : (leat_value){0};
  }
  return changed;
}

leat_value ev_recall(const reversal *r, uint32_t carried, leat_value behind, const leat_value *kept,
                     leat_value count) {
  leat_node_list changes;
  if (ev_is_undone(r, carried, &changes)) return undo(r, behind, &changes, kept, count);
  return ev_row(r, *kept, count, leat_value_type(r->node->inputs[carried]));
}

void ev_type_appended(const reversal *r, leat_node *const *copies, const leat_value *params) {
  for (uint32_t i = 0; i < r->carried; i++) {
    if (!ev_appends(r, i)) continue;
    leat_node *copy = copies[r->body->yield->inputs[i].node->id];
    leat_type *type = leat_arena_memdup(r->e->arena, copy->outputs, sizeof *type);
    bool fits = leat_dim_add(r->e->graph->dims, leat_value_type(params[i])->dims[0],
                             leat_value_type(copy->inputs[1])->dims[0], &type->dims[0]);
    assert(fits); // as in the loop itself
    (void)fits;
    copy->outputs = type;
  }
}
