// Lowering of shape and movement ops: the output element is an input's element at an index computed
// from the output's. What an op reads only for some indices (concat, pad) is guarded: by a branch
// where all lanes agree, else by the mask, so that nothing is loaded outside its tensor.
#include "ops/ops.h"

static k_value dim_of(leat_lowering *l, const leat_type *type, int axis) {
  return l->dim(l, type->dims[axis]);
}

static bool is_one(k_value value) {
  return value->op == K_CONST && value->imm.i == 1;
}

static k_value zero_of(leat_lowering *l, leat_dtype dtype) {
  dtype = k_dtype(dtype);
  if (leat_dtype_kind_of(dtype) == LEAT_KIND_FLOAT) return k_float(l->b, dtype, l->lanes, 0);
  return k_int(l->b, dtype, l->lanes, 0);
}

// -- Reshape: runs of axes with the same number of elements on both sides become one number ------

static void reshape_run(leat_lowering *l, const leat_index *from, const k_value *from_dims,
                        int from_count, leat_index *to, const k_value *to_dims, int to_count) {
  leat_index linear = leat_index_const(l, 0);
  for (int i = 0; i < from_count; i++) {
    linear = leat_index_mul(l, linear, from_dims[i]);
    linear = leat_index_add(l, linear, from[i]);
  }
  int first = 0; // the first axis takes what the others leave
  while (first < to_count && is_one(to_dims[first])) first++;
  for (int i = to_count - 1; i >= 0; i--) {
    if (is_one(to_dims[i]))
      to[i] = leat_index_const(l, 0);
    else if (i == first)
      to[i] = linear;
    else
      leat_index_divmod(l, linear, to_dims[i], &linear, &to[i]);
  }
}

k_value lower_reshape(leat_lowering *l, const leat_node *node, const leat_index *at) {
  const leat_type *from = &node->outputs[0], *to = leat_value_type(node->inputs[0]);
  k_value from_dims[LEAT_MAX_RANK], to_dims[LEAT_MAX_RANK];
  leat_index in[LEAT_MAX_RANK];
  for (int i = 0; i < from->rank; i++) from_dims[i] = dim_of(l, from, i);
  for (int i = 0; i < to->rank; i++) to_dims[i] = dim_of(l, to, i);
  int i = 0, j = 0; // both sides agree before these
  while (i < from->rank || j < to->rank) {
    int i1 = i, j1 = j;
    k_value x = k_i64(l->b, 1), y = x;
    do { // the shortest runs of equal product; the sides' totals are equal
      bool constant = x->op == K_CONST && y->op == K_CONST;
      bool left = j1 == to->rank || (constant ? x->imm.i <= y->imm.i : i1 - i <= j1 - j);
      if (i1 == from->rank) left = false;
      if (left)
        x = k_mul(l->b, x, from_dims[i1++]);
      else
        y = k_mul(l->b, y, to_dims[j1++]);
    } while (x != y && (i1 < from->rank || j1 < to->rank));
    reshape_run(l, at + i, from_dims + i, i1 - i, in + j, to_dims + j, j1 - j);
    i = i1, j = j1;
  }
  return leat_operand(l, node, 0, in);
}

// -- Axes in another order, more often, or in steps -----------------------------------------------

k_value lower_transpose(leat_lowering *l, const leat_node *node, const leat_index *at) {
  const leat_attr *perm = leat_node_attr(node, "perm");
  leat_index in[LEAT_MAX_RANK];
  for (uint32_t i = 0; i < perm->count; i++) in[perm->ints[i]] = at[i];
  return leat_operand(l, node, 0, in);
}

k_value lower_broadcast(leat_lowering *l, const leat_node *node, const leat_index *at) {
  const leat_type *from = leat_value_type(node->inputs[0]), *to = &node->outputs[0];
  leat_index in[LEAT_MAX_RANK];
  for (int i = 0; i < from->rank; i++)
    in[i] = leat_dim_is(from->dims[i], 1) ? leat_index_const(l, 0) : at[to->rank - from->rank + i];
  return leat_operand(l, node, 0, in);
}

// With run-time dims, whether the slice is inside is only known now.
static void check_slice(leat_lowering *l, const leat_node *node, int axis) {
  k_builder *b = l->b;
  leat_fail_site site = {node,
                         LEAT_SAYS_SLICE,
                         {leat_value_type(node->inputs[0])->dims[axis], node->outputs[0].dims[axis],
                          leat_node_attr(node, "start")->dims[axis],
                          leat_dim_const(leat_node_attr(node, "step")->ints[axis])},
                         4};
  k_value extent = l->dim(l, site.dims[0]), size = l->dim(l, site.dims[1]), zero = k_i64(b, 0);
  k_value start = l->dim(l, site.dims[2]), step = l->dim(l, site.dims[3]);
  k_value last = k_add(b, start, k_mul(b, k_sub(b, size, k_i64(b, 1)), step));
  k_value low = k_binary(b, K_MIN, start, last), high = k_binary(b, K_MAX, start, last);
  k_value outside = k_binary(b, K_OR, k_lt(b, low, zero), k_binary(b, K_LE, extent, high));
  outside = k_binary(b, K_AND, outside, k_lt(b, zero, size));
  if (outside->op == K_CONST && !outside->imm.i) return;
  k_fail_if(b, outside, k_i64(b, axis), l->site(l, &site), LEAT_OUT_OF_RANGE);
}

k_value lower_slice(leat_lowering *l, const leat_node *node, const leat_index *at) {
  const leat_attr *start = leat_node_attr(node, "start"), *steps = leat_node_attr(node, "step");
  leat_index in[LEAT_MAX_RANK];
  for (uint32_t i = 0; i < start->count; i++) {
    k_value first = l->dim(l, start->dims[i]), step = k_i64(l->b, steps->ints[i]);
    check_slice(l, node, (int)i);
    in[i] = leat_index_add(l, leat_index_mul(l, at[i], step), (leat_index){.base = first});
  }
  return leat_operand(l, node, 0, in);
}

// -- Guarded reads: concat and pad ----------------------------------------------------------------

// Where an operand is read: `branch` for all lanes at once, `mask` lane by lane; NULL: everywhere.
typedef struct guard {
  k_value branch, mask;
} guard;

static k_value both(leat_lowering *l, k_value x, k_value y) {
  return x && y ? k_binary(l->b, K_AND, x, y) : x ? x : y;
}

// What is to hold: of all lanes at once, or lane by lane.
static void guard_that(leat_lowering *l, guard *g, k_value condition) {
  k_value *part = condition->lanes == 1 ? &g->branch : &g->mask;
  *part = both(l, *part, condition);
}

// Of the lanes, or the one that stands for all.
static k_value lanes_of(leat_lowering *l, leat_index index) {
  bool uniform = !index.vector && (index.step == 0 || l->lanes == 1);
  return uniform ? index.base : leat_index_value(l, index);
}

// How many lanes in a row lie before the place, of which the first is at `first`: few bits are
// enough.
static k_value lanes_before(leat_lowering *l, k_value first, k_value place) {
  k_value count = k_binary(l->b, K_MAX, k_sub(l->b, place, first), k_i64(l->b, 0));
  return k_cast(l->b, LEAT_i32, k_binary(l->b, K_MIN, count, k_i64(l->b, l->lanes)));
}

// Adds low <= index < high; NULL: no such bound.
static void guard_between(leat_lowering *l, guard *g, leat_index index, k_value low, k_value high) {
  if (!index.vector && index.step == 1 && l->lanes > 1) {
    k_value lane = k_lane(l->b, LEAT_i32, l->lanes);
    if (low) guard_that(l, g, k_binary(l->b, K_LE, lanes_before(l, index.base, low), lane));
    if (high) guard_that(l, g, k_lt(l->b, lane, lanes_before(l, index.base, high)));
    return;
  }
  k_value value = lanes_of(l, index);
  if (low) guard_that(l, g, k_binary(l->b, K_LE, low, value));
  if (high) guard_that(l, g, k_lt(l->b, value, high));
}

// Operand i at `in` where the guard holds, `otherwise` elsewhere.
static k_value guarded(leat_lowering *l, const leat_node *node, uint32_t i, const leat_index *in,
                       guard g, k_value otherwise) {
  k_instr *branch = g.branch ? k_if_begin(l->b, g.branch) : NULL;
  k_value outer_mask = l->mask;
  l->mask = both(l, outer_mask, g.mask);
  k_value value = leat_operand(l, node, i, in);
  l->mask = outer_mask;
  if (g.mask) value = k_select(l->b, g.mask, value, otherwise);
  if (!branch) return value;
  value = k_splat(l->b, l->lanes, value);
  k_if_else(l->b, &value, 1);
  k_if_end(l->b, &otherwise, 1);
  return k_result(l->b, branch, 0);
}

enum { MANY_PARTS = 8 };

// What a concat puts one behind the other.
typedef struct parts {
  leat_lowering *l;
  const leat_node *node;
  const leat_index *at;
  const k_value *begin; // of each input along the axis, in the output
} parts;

// The element at `at`.
static k_value one_part(const parts *p, uint32_t input) {
  int64_t axis = leat_node_attr(p->node, "axis")->i;
  leat_index in[LEAT_MAX_RANK];
  for (int i = 0; i < p->node->outputs[0].rank; i++) in[i] = p->at[i];
  leat_index back = {.base = k_sub(p->l->b, k_i64(p->l->b, 0), p->begin[input])};
  in[axis] = leat_index_add(p->l, p->at[axis], back);
  return leat_operand(p->l, p->node, input, in);
}

static k_value none_of(const parts *p) {
  return k_splat(p->l->b, p->l->lanes, zero_of(p->l, p->node->outputs[0].dtype));
}

static k_value some_parts(const parts *p, uint32_t first, uint32_t count);

// Where `here` holds; of so many inputs that lanes are often in none of them, only if one is.
static k_value masked_parts(const parts *p, uint32_t first, uint32_t count, k_value here) {
  k_builder *b = p->l->b;
  k_value outer = p->l->mask, none = none_of(p);
  p->l->mask = both(p->l, outer, here);
  k_instr *branch = count >= MANY_PARTS ? k_if_begin(b, k_any(b, p->l->mask)) : NULL;
  k_value value = some_parts(p, first, count);
  p->l->mask = outer;
  if (!branch) return value;
  value = k_splat(b, p->l->lanes, value);
  k_if_else(b, &value, 1);
  k_if_end(b, &none, 1);
  return k_result(b, branch, 0);
}

// The element of that one of inputs `first` … in which it is, found by halves.
static k_value some_parts(const parts *p, uint32_t first, uint32_t count) {
  if (count == 1) return one_part(p, first);
  k_builder *b = p->l->b;
  uint32_t half = count / 2;
  leat_index index = p->at[leat_node_attr(p->node, "axis")->i];
  k_value before = k_lt(b, lanes_of(p->l, index), p->begin[first + half]);
  if (before->lanes > 1) {
    k_value left = masked_parts(p, first, half, before);
    k_value behind = k_unary(b, K_NOT, before);
    return k_select(b, before, left, masked_parts(p, first + half, count - half, behind));
  }
  k_instr *branch = k_if_begin(b, before);
  k_value value = k_splat(b, p->l->lanes, some_parts(p, first, half));
  k_if_else(b, &value, 1);
  value = k_splat(b, p->l->lanes, some_parts(p, first + half, count - half));
  k_if_end(b, &value, 1);
  return k_result(b, branch, 0);
}

// out[0]: whether all lanes, from `low` to `high`, are in one of inputs `first` …, in which the
// lowest is; out[1]: then their elements. What lies behind the last input counts for nothing.
static void common_part(const parts *p, uint32_t first, uint32_t count, k_value low, k_value high,
                        k_value out[2]) {
  k_builder *b = p->l->b;
  uint32_t half = count / 2, next = first + (count > 1 ? half : 1);
  k_value none[2] = {k_int(b, LEAT_bool, 1, 0), none_of(p)};
  if (next == p->node->input_count) {
    out[0] = k_int(b, LEAT_bool, 1, 1);
    out[1] = k_splat(b, p->l->lanes, one_part(p, first));
    return;
  }
  k_instr *branch = k_if_begin(b, k_lt(b, count > 1 ? low : high, p->begin[next]));
  if (count > 1) {
    common_part(p, first, half, low, high, out);
    k_if_else(b, out, 2);
    common_part(p, next, count - half, low, high, none);
  } else {
    out[0] = k_int(b, LEAT_bool, 1, 1);
    out[1] = k_splat(b, p->l->lanes, one_part(p, first));
    k_if_else(b, out, 2);
  }
  k_if_end(b, none, 2);
  for (uint32_t i = 0; i < 2; i++) out[i] = k_result(b, branch, i);
}

// The elements of lanes that are in several inputs, one after the other.
static k_value parts_by_lane(const parts *p) {
  leat_lowering *l = p->l, all = *l;
  k_builder *b = l->b;
  leat_index at[LEAT_MAX_RANK];
  k_value none = none_of(p);
  k_instr *loop = k_loop_begin(b, k_i64(b, 0), k_i64(b, l->lanes), 1, &none, 1);
  k_value lane = k_loop_index(loop), others = k_loop_carried(loop, 0);
  k_value here = k_binary(b, K_EQ, k_lane(b, LEAT_i64, l->lanes), lane);
  k_instr *branch = k_if_begin(b, k_any(b, both(l, l->mask, here)));
  for (int i = 0; i < p->node->outputs[0].rank; i++) {
    k_value ahead = k_mul(b, lane, k_i64(b, p->at[i].step));
    at[i] = (leat_index){.base = k_add(b, p->at[i].base, ahead)};
  }
  l->lanes = 1;
  l->mask = NULL;
  k_value value = some_parts(&(parts){l, p->node, at, p->begin}, 0, p->node->input_count);
  l->lanes = all.lanes;
  l->mask = all.mask;
  value = k_select(b, here, k_splat(b, l->lanes, value), others);
  k_if_else(b, &value, 1);
  k_if_end(b, &others, 1);
  value = k_result(b, branch, 0);
  k_loop_end(b, &value, 1);
  return k_result(b, loop, 0);
}

// Of lanes whose positions rise from `low` to `high`: mostly they are all in one input.
static k_value parts_in_row(const parts *p, k_value low, k_value high) {
  k_builder *b = p->l->b;
  k_value found[2];
  common_part(p, 0, p->node->input_count, low, high, found);
  k_instr *branch = k_if_begin(b, found[0]);
  k_if_else(b, &found[1], 1);
  k_value value = parts_by_lane(p);
  k_if_end(b, &value, 1);
  return k_result(b, branch, 0);
}

static bool all_in_steps(const leat_index *at, int rank) {
  for (int i = 0; i < rank; i++)
    if (at[i].vector) return false;
  return true;
}

k_value lower_concat(leat_lowering *l, const leat_node *node, const leat_index *at) {
  k_builder *b = l->b;
  int axis = (int)leat_node_attr(node, "axis")->i;
  k_value *begin = leat_new_array(b->arena, k_value, node->input_count);
  begin[0] = k_i64(b, 0);
  for (uint32_t i = 1; i < node->input_count; i++)
    begin[i] = k_add(b, begin[i - 1], dim_of(l, leat_value_type(node->inputs[i - 1]), axis));
  parts p = {l, node, at, begin};
  bool in_row = l->lanes > 1 && at[axis].step && all_in_steps(at, node->outputs[0].rank);
  if (node->input_count < MANY_PARTS || !in_row) return some_parts(&p, 0, node->input_count);
  k_value last = k_add(b, at[axis].base, k_i64(b, (l->lanes - 1) * at[axis].step));
  bool rising = at[axis].step > 0;
  return parts_in_row(&p, rising ? at[axis].base : last, rising ? last : at[axis].base);
}

static bool may_add(leat_dim elements) {
  return !leat_dim_is_const(elements) || elements.value > 0;
}

k_value lower_pad(leat_lowering *l, const leat_node *node, const leat_index *at) {
  const leat_type *type = leat_value_type(node->inputs[0]);
  const leat_attr *before = leat_node_attr(node, "before"), *after = leat_node_attr(node, "after");
  leat_index in[LEAT_MAX_RANK];
  guard g = {0};
  for (int i = 0; i < type->rank; i++) {
    k_value first = k_sub(l->b, k_i64(l->b, 0), l->dim(l, before->dims[i]));
    in[i] = leat_index_add(l, at[i], (leat_index){.base = first});
    k_value low = may_add(before->dims[i]) ? k_i64(l->b, 0) : NULL;
    k_value high = may_add(after->dims[i]) ? dim_of(l, type, i) : NULL;
    if (low || high) guard_between(l, &g, in[i], low, high);
  }
  k_value otherwise = k_splat(l->b, l->lanes, leat_operand(l, node, 1, at));
  return guarded(l, node, 0, in, g, otherwise);
}

static int64_t floor_of(__int128 a, int64_t b) {
  __int128 quotient = a / b - (a % b < 0);
  return quotient < 0 ? 0 : quotient > INT64_MAX ? INT64_MAX : (int64_t)quotient;
}

static int64_t common_divisor(int64_t a, int64_t b) {
  return b ? common_divisor(b, a % b) : a;
}

bool leat_window_of(const leat_node *node, uint32_t i, leat_window *out) {
  const leat_attr *axes = node->op == LEAT_OP_unfold ? leat_node_attr(node, "axes") : NULL;
  if (!axes || i >= axes->count) return false;
  int64_t stride = leat_node_attr(node, "stride")->ints[i];
  int64_t before = leat_node_attr(node, "before")->ints[i];
  int64_t reach =
      (leat_node_attr(node, "window")->ints[i] - 1) * leat_node_attr(node, "dilation")->ints[i];
  int64_t base = leat_node_attr(node, "base")->ints[i];
  leat_dim extent = leat_value_type(node->inputs[0])->dims[axes->ints[i]];
  __int128 places = (__int128)base * (leat_dim_is_const(extent) ? extent.value : 0);
  *out = (leat_window){
      .axis = (int)axes->ints[i],
      .within = node->outputs[0].rank - (int)axes->count + (int)i,
      .low = floor_of((__int128)before - (reach < 0 ? reach : 0) + stride - 1, stride),
      .high = floor_of(places + before - (reach > 0 ? reach : 0) - 1 + stride, stride),
      .period = base / common_divisor(base, stride)};
  return true;
}

// Whether some window may begin before, or end behind, the elements of axis i.
static void find_overhang(const leat_node *node, uint32_t i, bool *low, bool *high) {
  leat_dim size = leat_node_attr(node, "size")->dims[i];
  leat_window window;
  leat_window_of(node, i, &window);
  *low = window.low > 0;
  *high = !leat_dim_is_const(size) || size.value > window.high;
}

// Where all lanes are outside, they read the nearest element there is instead, which costs less
// than a branch for each element of a window; NULL: there may be none.
static k_value nearest(leat_lowering *l, k_value place, leat_dim extent) {
  if (!leat_dim_is_const(extent) || extent.value == 0) return NULL;
  place = k_binary(l->b, K_MAX, place, k_i64(l->b, 0));
  return k_binary(l->b, K_MIN, place, k_i64(l->b, extent.value - 1));
}

k_value lower_unfold(leat_lowering *l, const leat_node *node, const leat_index *at) {
  const leat_type *type = leat_value_type(node->inputs[0]);
  const leat_attr *axes = leat_node_attr(node, "axes");
  const int64_t *stride = leat_node_attr(node, "stride")->ints;
  const int64_t *dilation = leat_node_attr(node, "dilation")->ints;
  const int64_t *base = leat_node_attr(node, "base")->ints;
  const int64_t *before = leat_node_attr(node, "before")->ints;
  const leat_index *within = at + node->outputs[0].rank - axes->count;
  leat_index in[LEAT_MAX_RANK];
  guard all = {0}, chosen = {0};
  for (int i = 0; i < type->rank; i++) in[i] = at[i];
  for (uint32_t i = 0; i < axes->count; i++) {
    int axis = (int)axes->ints[i];
    bool low, high;
    guard g = {0};
    leat_index place = leat_index_mul(l, at[axis], k_i64(l->b, stride[i])), rest;
    place = leat_index_add(l, place, leat_index_mul(l, within[i], k_i64(l->b, dilation[i])));
    place = leat_index_add(l, place, leat_index_const(l, -before[i]));
    find_overhang(node, i, &low, &high);
    if (low) guard_between(l, &g, place, k_i64(l->b, 0), NULL);
    leat_index_divmod(l, place, k_i64(l->b, base[i]), &in[axis], &rest);
    if (base[i] > 1) guard_that(l, &g, k_binary(l->b, K_EQ, lanes_of(l, rest), k_i64(l->b, 0)));
    if (high) guard_between(l, &g, in[axis], NULL, dim_of(l, type, axis));
    k_value place_there = g.branch && !g.mask ? nearest(l, in[axis].base, type->dims[axis]) : NULL;
    if (place_there) in[axis] = (leat_index){.base = place_there};
    guard *to = place_there ? &chosen : &all;
    to->branch = both(l, to->branch, g.branch);
    to->mask = both(l, to->mask, g.mask);
  }
  k_value otherwise = k_splat(l->b, l->lanes, leat_operand(l, node, 1, at));
  k_value value = guarded(l, node, 0, in, all, otherwise);
  return chosen.branch ? k_select(l->b, chosen.branch, value, otherwise) : value;
}

// -- Indices that are data ------------------------------------------------------------------------

k_value lower_check_index(leat_lowering *l, const leat_node *node, const leat_index *at) {
  k_value index = leat_operand(l, node, 0, at);
  leat_index_check(l, node, index, leat_node_attr(node, "extent")->dim);
  return index;
}

k_value lower_gather(leat_lowering *l, const leat_node *node, const leat_index *at) {
  const leat_type *type = leat_value_type(node->inputs[0]);
  int axis = (int)leat_node_attr(node, "axis")->i;
  int indices_rank = leat_value_type(node->inputs[1])->rank;
  k_value index = leat_operand(l, node, 1, at + axis);
  index = leat_index_check(l, node, index, type->dims[axis]);
  leat_index in[LEAT_MAX_RANK];
  for (int i = 0; i < type->rank; i++)
    in[i] = i < axis ? at[i] : i == axis ? leat_index_of(l, index) : at[i + indices_rank - 1];
  return leat_operand(l, node, 0, in);
}

// Which lanes are at the place: of lanes in a row one or none, whose number has few bits.
static k_value lanes_at(leat_lowering *l, leat_index at, k_value place) {
  k_builder *b = l->b;
  if (at.vector || at.step != 1 || l->lanes == 1 || place->op != K_SPLAT)
    return k_binary(b, K_EQ, place, leat_index_value(l, at));
  k_value lane = k_binary(b, K_MAX, k_sub(b, place->args[0], at.base), k_i64(b, -1));
  lane = k_binary(b, K_MIN, lane, k_i64(b, l->lanes));
  return k_binary(b, K_EQ, k_lane(b, LEAT_i32, l->lanes), k_cast(b, LEAT_i32, lane));
}

k_value lower_one_hot(leat_lowering *l, const leat_node *node, const leat_index *at) {
  k_value label = k_cast(l->b, LEAT_i64, leat_operand(l, node, 0, at));
  k_value hit = lanes_at(l, at[node->outputs[0].rank - 1], label);
  return k_convert(l->b, LEAT_bool, node->outputs[0].dtype, hit);
}

// -- Values from nothing --------------------------------------------------------------------------

k_value lower_iota(leat_lowering *l, const leat_node *node, const leat_index *at) {
  int64_t axis = leat_node_attr(node, "axis")->i;
  return k_convert(l->b, LEAT_i64, node->outputs[0].dtype, leat_index_value(l, at[axis]));
}

k_value lower_dim(leat_lowering *l, const leat_node *node, const leat_index *at) {
  (void)at;
  k_value value = l->dim(l, leat_node_attr(node, "value")->dim);
  return k_cast(l->b, node->outputs[0].dtype, value);
}
