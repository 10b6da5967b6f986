// Loops over the positions of windows (unfold): along the last axis that they slide along, those at
// which no window hangs over are code of their own, where no place is asked whether it is inside.
#include "codegen/loops.h"

#include "ops/ops.h"

#include <string.h>

// The axes of the unit that axes of operand i are, of a node whose own are `map`; false: it is read
// elsewhere.
static bool operand_axes(const leat_node *node, uint32_t i, const int8_t *map, int8_t *axis) {
  if (!leat_item_operand_axes(node, i, axis)) return false;
  for (int k = 0; k < leat_value_type(node->inputs[i])->rank; k++)
    if (axis[k] >= 0) axis[k] = map[axis[k]];
  return true;
}

static void add_windows(leat_windows *windows, const leat_node *node, const int8_t *map) {
  leat_window window;
  for (uint32_t i = 0; leat_window_of(node, i, &window); i++) {
    int axis = map[window.axis], within = map[window.within];
    if (within >= 0) windows->within |= 1u << within;
    if (axis < 0) continue;
    if (!(windows->slides >> axis & 1)) windows->low[axis] = 0, windows->high[axis] = INT64_MAX;
    windows->slides |= 1u << axis;
    if (window.low > windows->low[axis]) windows->low[axis] = window.low;
    if (window.high < windows->high[axis]) windows->high[axis] = window.high;
  }
}

// Those that are computed where they are read.
static void find_in_value(const leat_loops *s, leat_value value, const int8_t *map,
                          leat_windows *windows) {
  const leat_item *item = leat_item_of(s->w->table, value);
  const leat_node *node = value.node;
  int8_t axis[LEAT_MAX_RANK];
  if (item->role != LEAT_ROLE_FREE && item->role != LEAT_ROLE_ALIAS) return;
  add_windows(windows, node, map);
  for (uint32_t i = 0; i < node->input_count; i++)
    if (operand_axes(node, i, map, axis)) find_in_value(s, node->inputs[i], axis, windows);
}

void leat_windows_find(leat_loops *s) {
  int8_t axis[LEAT_MAX_RANK];
  if (s->w->flat || s->by_lanes) return;
  for (uint32_t i = 0; i < s->unit->members.count; i++) {
    const leat_item *item = s->unit->members.items[i];
    for (uint32_t j = 0; j < item->node->input_count; j++)
      if (operand_axes(item->node, j, item->axis, axis))
        find_in_value(s, item->node->inputs[j], axis, &s->windows);
  }
}

int leat_windows_run(const leat_loops *s, unsigned axes) {
  int last = s->w->rank - 1;
  while (last >= 0 && !(axes >> last & 1)) last--;
  if (last < 0 || !(s->windows.slides >> last & 1)) return -1;
  for (int k = 0; k < s->w->rank; k++)
    if ((axes & s->windows.slides) >> k & 1 && !leat_dim_is_const(s->w->dims[k])) return -1;
  return s->windows.low[last] < s->windows.high[last] ? last : -1;
}

// Those of the axes along which some window hangs over.
static unsigned overhung(const leat_loops *s, unsigned axes) {
  unsigned found = 0;
  for (int k = 0; k < s->w->rank; k++)
    if ((axes & s->windows.slides) >> k & 1 &&
        (s->windows.low[k] > 0 || s->windows.high[k] < s->w->dims[k].value))
      found |= 1u << k;
  return found;
}

// Whether the position along the axes is inside.
static k_value is_inside(const leat_loops *s, unsigned axes) {
  k_builder *b = s->b;
  k_value inside = k_int(b, LEAT_bool, 1, 1);
  for (int k = 0; k < s->w->rank; k++) {
    if (!(axes >> k & 1)) continue;
    k_value here = s->w->at[k].base;
    k_value low = k_binary(b, K_LE, k_i64(b, s->windows.low[k]), here);
    k_value high = k_lt(b, here, k_i64(b, s->windows.high[k]));
    inside = k_binary(b, K_AND, inside, k_binary(b, K_AND, low, high));
  }
  return inside;
}

// The position there is as it was, but known to be inside.
static void put_inside(const leat_loops *s, unsigned axes) {
  k_builder *b = s->b;
  for (int k = 0; k < s->w->rank; k++) {
    if (!(axes >> k & 1)) continue;
    k_value here = k_binary(b, K_MAX, s->w->at[k].base, k_i64(b, s->windows.low[k]));
    s->w->at[k].base = k_binary(b, K_MIN, here, k_i64(b, s->windows.high[k] - 1));
  }
}

typedef struct run {
  leat_loops *loops;
  int axis;
  leat_run_body *body;
  void *context;
} run;

static void positions(const run *r, k_value begin, k_value end, k_value *acc, uint32_t count) {
  k_builder *b = r->loops->b;
  k_instr *loop = k_loop_begin(b, begin, end, 1, acc, count);
  for (uint32_t i = 0; i < count; i++) acc[i] = k_loop_carried(loop, i);
  r->loops->w->at[r->axis] = (leat_index){.base = k_loop_index(loop)};
  r->body(r->loops, r->context, k_loop_index(loop), acc);
  k_loop_end(b, acc, count);
  for (uint32_t i = 0; i < count; i++) acc[i] = k_result(b, loop, i);
}

// Twice: what hangs over in front and then what is inside; what hangs over behind and then nothing.
void leat_windows_walk(leat_loops *s, unsigned axes, k_value begin, k_value end,
                       leat_run_body *body, void *context, k_value *acc, uint32_t count) {
  k_builder *b = s->b;
  run r = {s, leat_windows_run(s, axes), body, context};
  unsigned cut = overhung(s, axes), others = cut & ~(1u << r.axis);
  if (!cut) {
    positions(&r, begin, end, acc, count);
    return;
  }
  k_value low = k_i64(b, s->windows.low[r.axis]), high = k_i64(b, s->windows.high[r.axis]);
  leat_index at[LEAT_MAX_RANK];
  memcpy(at, s->w->at, sizeof at);
  k_value inside = is_inside(s, others);
  k_value first = k_select(b, inside, k_binary(b, K_MAX, begin, low), end);
  first = k_binary(b, K_MIN, first, end);
  k_value last = k_binary(b, K_MAX, first, k_binary(b, K_MIN, end, high));
  k_instr *twice = k_loop_begin(b, k_i64(b, 0), k_i64(b, 2), 1, acc, count);
  k_value front = k_binary(b, K_EQ, k_loop_index(twice), k_i64(b, 0));
  for (uint32_t i = 0; i < count; i++) acc[i] = k_loop_carried(twice, i);
  positions(&r, k_select(b, front, begin, last), k_select(b, front, first, end), acc, count);
  put_inside(s, others);
  k_value stop = k_select(b, front, last, first);
  positions(&r, k_binary(b, K_MAX, first, low), k_binary(b, K_MIN, stop, high), acc, count);
  k_loop_end(b, acc, count);
  for (uint32_t i = 0; i < count; i++) acc[i] = k_result(b, twice, i);
  memcpy(s->w->at, at, sizeof at);
}
