// Loops over the positions of windows (unfold): along the last axis that they slide along, those at
// which no window hangs over are code of their own, where no place is asked whether it is inside.
// Where windows read between the elements (the gradient of windows in longer steps), which element
// of a window is there depends on the position modulo the step: each remainder is code of its own.
#include "codegen/loops.h"

#include "ops/ops.h"

#include <string.h>

enum { MOST_KINDS = 16 }; // of positions, by remainders: code of its own for each

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
    if (!(windows->slides >> axis & 1)) {
      windows->low[axis] = 0;
      windows->high[axis] = INT64_MAX;
      windows->period[axis] = 1;
    }
    windows->slides |= 1u << axis;
    if (window.period > windows->period[axis]) windows->period[axis] = window.period;
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

// -- By remainders --------------------------------------------------------------------------------

static k_value place_by_rest(k_builder *b, k_value number, int64_t period, int64_t rest) {
  return k_add(b, k_mul(b, number, k_i64(b, period)), k_i64(b, rest));
}

// The positions of periods [begin, end), all of which are inside, where the kernel is along the
// other axes; along `axes` there is code for each remainder.
static void positions_by_rest(const run *r, unsigned axes, k_value begin, k_value end) {
  k_builder *b = r->loops->b;
  const leat_windows *windows = &r->loops->windows;
  int axis = axes ? __builtin_ctz(axes) : r->axis;
  int64_t period = windows->period[axis];
  leat_index *at = &r->loops->w->at[axis], here = *at;
  k_value size = k_i64(b, period);
  k_value number = axes ? k_binary(b, K_DIV, here.base, size)
                        : k_loop_index(k_loop_begin(b, begin, end, 1, NULL, 0));
  for (int64_t rest = 0; rest < period; rest++) {
    if (!axes) {
      at->base = place_by_rest(b, number, period, rest);
      r->body(r->loops, r->context, at->base, NULL);
      continue;
    }
    int64_t least = (windows->low[axis] - rest + period - 1) / period;
    int64_t most = (windows->high[axis] - 1 - rest + period) / period - 1;
    k_value inside = k_binary(b, K_MIN, number, k_i64(b, most));
    inside = k_binary(b, K_MAX, inside, k_i64(b, least));
    k_value over = k_sub(b, here.base, k_mul(b, number, size));
    k_if_begin(b, k_binary(b, K_EQ, over, k_i64(b, rest)));
    at->base = place_by_rest(b, inside, period, rest);
    positions_by_rest(r, axes & (axes - 1), begin, end);
    k_if_end(b, NULL, 0);
  }
  if (!axes) k_loop_end(b, NULL, 0);
  *at = here;
}

// The axes whose remainders are code of their own; 0: that is too much code, or in a window's
// elements there is a loop, in which nothing is known of them.
static unsigned axes_by_rest(const leat_loops *s, unsigned axes) {
  int64_t kinds = 1;
  unsigned found = 0;
  for (int k = 0; k < s->w->rank; k++) {
    if (!((axes & s->windows.slides) >> k & 1) || s->windows.period[k] == 1) continue;
    if (s->windows.period[k] > MOST_KINDS) return 0;
    kinds *= s->windows.period[k];
    found |= 1u << k;
  }
  bool straight = leat_is_at_most(s->step_count, LEAT_MOST_STRAIGHT / (s->wide * s->tall));
  return kinds <= MOST_KINDS && straight ? found : 0;
}

// Twice: what hangs over in front and then what is inside; what hangs over behind and then nothing.
// By remainders, what is not a whole period counts as hanging over.
void leat_windows_walk(leat_loops *s, unsigned axes, k_value begin, k_value end,
                       leat_run_body *body, void *context, k_value *acc, uint32_t count) {
  k_builder *b = s->b;
  run r = {s, leat_windows_run(s, axes), body, context};
  unsigned cut = overhung(s, axes), others = cut & ~(1u << r.axis);
  unsigned by_rest = acc ? 0 : axes_by_rest(s, axes);
  if (!cut && !by_rest) {
    positions(&r, begin, end, acc, count);
    return;
  }
  int64_t period = by_rest ? s->windows.period[r.axis] : 1;
  k_value low = k_i64(b, s->windows.low[r.axis]), high = k_i64(b, s->windows.high[r.axis]);
  k_value size = k_i64(b, period);
  leat_index at[LEAT_MAX_RANK];
  memcpy(at, s->w->at, sizeof at);
  k_value inside = is_inside(s, others);
  k_value first = k_select(b, inside, k_binary(b, K_MAX, begin, low), end);
  first = k_mul(b, k_binary(b, K_DIV, k_add(b, first, k_i64(b, period - 1)), size), size);
  first = k_binary(b, K_MIN, first, end);
  k_value last = k_mul(b, k_binary(b, K_DIV, k_binary(b, K_MIN, end, high), size), size);
  last = k_binary(b, K_MAX, first, last);
  k_instr *twice = k_loop_begin(b, k_i64(b, 0), k_i64(b, 2), 1, acc, count);
  k_value front = k_binary(b, K_EQ, k_loop_index(twice), k_i64(b, 0));
  for (uint32_t i = 0; i < count; i++) acc[i] = k_loop_carried(twice, i);
  positions(&r, k_select(b, front, begin, last), k_select(b, front, first, end), acc, count);
  put_inside(s, others);
  k_value stop = k_select(b, front, last, first);
  first = k_binary(b, K_MAX, first, low);
  stop = k_binary(b, K_MIN, stop, high);
  if (by_rest)
    positions_by_rest(&r, by_rest & ~(1u << r.axis),
                      k_binary(b, K_DIV, k_add(b, first, k_i64(b, period - 1)), size),
                      k_binary(b, K_DIV, stop, size));
  else
    positions(&r, first, stop, acc, count);
  k_loop_end(b, acc, count);
  for (uint32_t i = 0; i < count; i++) acc[i] = k_result(b, twice, i);
  memcpy(s->w->at, at, sizeof at);
}
