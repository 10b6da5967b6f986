// Tiles of convolutions of channels, and the ring of rows that they read.
#include "codegen/depthwise.h"

leat_depthwise_kernel leat_depthwise_begin(leat_lower *w) {
  leat_depthwise_kernel s = {.w = w, .b = &w->builder, .p = w->unit->contraction};
  s.c = leat_contraction_begin_bare(w);
  s.c.columns = leat_lower_dim(w, s.p->columns);
  s.to = s.p->depthwise;
  s.node = s.p->item->node;
  s.dtype = s.node->outputs[0].dtype;
  return s;
}

k_value leat_depthwise_times(const leat_depthwise_kernel *s, k_value x, int64_t factor) {
  return k_mul(s->b, x, k_i64(s->b, factor));
}

k_value leat_depthwise_zero(const leat_depthwise_kernel *s, int lanes) {
  return k_float(s->b, s->dtype, lanes, 0);
}

void leat_depthwise_put(leat_depthwise_kernel *s, int axis, k_value at) {
  int of_unit = s->p->item->axis[axis];
  if (of_unit >= 0) s->w->at[of_unit] = (leat_index){.base = at};
}

// -- Where a tile is ------------------------------------------------------------------------------

static k_value range(leat_depthwise_kernel *s, k_value number, int64_t size, int64_t all,
                     k_value *end) {
  k_value first = leat_depthwise_times(s, number, size);
  *end = k_binary(s->b, K_MIN, k_add(s->b, first, k_i64(s->b, size)), k_i64(s->b, all));
  return first;
}

k_value leat_depthwise_place(leat_depthwise_kernel *s) {
  const leat_depthwise_plan *to = s->to;
  leat_lowering *l = &s->w->l;
  leat_index number, group, part, down, image;
  leat_index_divmod(l, (leat_index){.base = k_tile(s->b)}, k_i64(s->b, s->p->groups.value), &number,
                    &group);
  leat_index_divmod(l, number, k_i64(s->b, to->across), &down, &part);
  leat_index_divmod(l, down, k_i64(s->b, to->down), &image, &down);
  s->image = image.base;
  s->first_row = range(s, down.base, to->tile_rows, to->what.axes[0].size, &s->end_row);
  s->first = range(s, part.base, to->part, to->what.axes[1].size, &s->end);
  s->vector = range(s, group.base, s->p->tile_panels, s->p->panels.value, &s->end_vector);
  return number.base;
}

leat_dim leat_depthwise_tiles(leat_depthwise_kernel *s) {
  leat_dim tiles[] = {s->p->blocks, s->p->groups};
  return leat_lower_product(s->w, tiles, 2);
}

static void one_vector(leat_depthwise_kernel *s, k_value number, int64_t count,
                       leat_depthwise_body *body, void *context) {
  s->number = k_sub(s->b, number, s->vector);
  s->c.column = leat_depthwise_times(s, number, LEAT_LANES);
  s->mask = count == LEAT_LANES ? NULL : leat_lower_mask(s->w, k_i64(s->b, count));
  s->c.masks[0] = s->mask;
  body(s, context);
}

void leat_depthwise_vectors(leat_depthwise_kernel *s, leat_depthwise_body *body, void *context) {
  k_builder *b = s->b;
  int64_t whole = s->to->what.channels / LEAT_LANES, rest = s->to->what.channels % LEAT_LANES;
  k_value last = k_i64(b, whole);
  if (whole) {
    k_instr *loop = k_loop_begin(b, s->vector, k_binary(b, K_MIN, s->end_vector, last), 1, NULL, 0);
    one_vector(s, k_loop_index(loop), LEAT_LANES, body, context);
    k_loop_end(b, NULL, 0);
  }
  if (!rest) return;
  k_if_begin(b, k_lt(b, last, s->end_vector));
  one_vector(s, last, rest, body, context);
  k_if_end(b, NULL, 0);
}

static void piece(leat_depthwise_kernel *s, k_value number, leat_depthwise_body *body,
                  void *context) {
  s->side = leat_depthwise_times(s, number, s->to->lanes);
  s->channel = k_add(s->b, s->c.column, s->side);
  body(s, context);
}

void leat_depthwise_pieces(leat_depthwise_kernel *s, leat_depthwise_body *body, void *context) {
  k_builder *b = s->b;
  int64_t count = s->mask ? s->to->what.channels % LEAT_LANES : LEAT_LANES, lanes = s->to->lanes;
  s->piece_mask = NULL;
  if (count / lanes) {
    k_instr *loop = k_loop_begin(b, k_i64(b, 0), k_i64(b, count / lanes), 1, NULL, 0);
    piece(s, k_loop_index(loop), body, context);
    k_loop_end(b, NULL, 0);
  }
  if (count % lanes == 0) return;
  s->piece_mask = k_lt(b, k_lane(b, LEAT_i64, (int)lanes), k_i64(b, count % lanes));
  piece(s, k_i64(b, count / lanes), body, context);
  s->piece_mask = NULL;
}

// -- The ring -------------------------------------------------------------------------------------

int64_t leat_depthwise_floor_div(int64_t x, int64_t y) {
  return x / y - (x % y != 0 && x < 0);
}

int64_t leat_depthwise_least_offset(const leat_window_axis *a) {
  int64_t reach = (a->window - 1) * a->dilation;
  return (reach < 0 ? reach : 0) - a->before;
}

static int64_t most_offset(const leat_window_axis *a) {
  int64_t reach = (a->window - 1) * a->dilation;
  return (reach < 0 ? 0 : reach) - a->before;
}

// (at · stride + offset) / base, rounded down; `at` is not negative.
static k_value element_at(const leat_depthwise_kernel *s, const leat_window_axis *a, k_value at,
                          int64_t offset) {
  k_builder *b = s->b;
  k_value place = leat_depthwise_times(s, at, a->stride);
  if (a->base == 1) return k_add(b, place, k_i64(b, offset));
  int64_t whole = leat_depthwise_floor_div(offset, a->base);
  place = k_add(b, place, k_i64(b, offset - whole * a->base));
  return k_add(b, k_binary(b, K_DIV, place, k_i64(b, a->base)), k_i64(b, whole));
}

k_value leat_depthwise_slot(const leat_depthwise_kernel *s, k_value row) {
  k_builder *b = s->b;
  const leat_window_axis *a = &s->to->what.axes[0];
  k_value number = k_sub(b, row, element_at(s, a, s->first_row, leat_depthwise_least_offset(a)));
  number = k_binary(b, K_REM, number, k_i64(b, s->to->slots));
  number = k_add(b, number, leat_depthwise_times(s, s->number, s->to->slots));
  return leat_depthwise_times(s, number, s->to->pitch * LEAT_LANES);
}

typedef struct copied {
  k_value row, element; // of x, and of the ring's row
  k_value from;         // element of x without channels; NULL: zeros
} copied;

static void copy_vector(leat_depthwise_kernel *s, void *context) {
  k_builder *b = s->b;
  const copied *c = context;
  k_value x = leat_depthwise_zero(s, LEAT_LANES);
  if (c->from) {
    k_value at = leat_depthwise_times(s, c->from, s->to->what.channels);
    x = k_load(b, s->x, k_add(b, at, s->c.column), LEAT_LANES, s->mask);
  }
  k_value to = leat_depthwise_times(s, c->element, LEAT_LANES);
  k_store(b, s->ring, k_add(b, leat_depthwise_slot(s, c->row), to), x, NULL);
}

// Elements [low, high) of a row of the ring: from x's element `from` on, or zeros.
static void copy(leat_depthwise_kernel *s, k_value row, k_value low, k_value high, k_value from) {
  k_builder *b = s->b;
  k_instr *loop = k_loop_begin(b, low, high, 1, NULL, 0);
  copied c = {row, k_loop_index(loop), from ? k_add(b, from, k_loop_index(loop)) : NULL};
  leat_depthwise_vectors(s, copy_vector, &c);
  k_loop_end(b, NULL, 0);
}

static k_value clamp(k_builder *b, k_value x, k_value low, k_value high) {
  return k_binary(b, K_MIN, k_binary(b, K_MAX, x, low), high);
}

static void copy_row(leat_depthwise_kernel *s, k_value row) {
  k_builder *b = s->b;
  const leat_depthwise *what = &s->to->what;
  const leat_window_axis *across = &what->axes[1];
  k_value none = k_i64(b, 0), all = k_i64(b, s->to->pitch);
  k_value there = k_binary(b, K_AND, k_binary(b, K_LE, none, row),
                           k_lt(b, row, k_i64(b, what->axes[0].extent)));
  k_value first = element_at(s, across, s->first, leat_depthwise_least_offset(across));
  k_value low = clamp(b, k_sub(b, none, first), none, all);
  k_value high = clamp(b, k_sub(b, k_i64(b, across->extent), first), low, all);
  low = k_select(b, there, low, all);
  high = k_select(b, there, high, all);
  copy(s, row, none, low, NULL);
  k_value from = k_add(b, leat_depthwise_times(s, s->image, what->axes[0].extent), row);
  copy(s, row, low, high, k_add(b, leat_depthwise_times(s, from, across->extent), first));
  copy(s, row, high, all, NULL);
}

void leat_depthwise_rows(leat_depthwise_kernel *s, leat_depthwise_body *body, void *context) {
  k_builder *b = s->b;
  const leat_window_axis *a = &s->to->what.axes[0];
  int64_t least = leat_depthwise_least_offset(a), most = most_offset(a);
  k_value one = k_i64(b, 1);
  k_instr *loop = k_loop_begin(b, s->first_row, s->end_row, 1, NULL, 0);
  s->row = k_loop_index(loop);
  k_value begins = k_binary(b, K_EQ, s->row, s->first_row);
  k_value before = k_binary(b, K_MAX, k_sub(b, s->row, one), s->first_row);
  k_value from = element_at(s, a, s->row, least);
  k_value next = k_add(b, element_at(s, a, before, most), one);
  from = k_select(b, begins, from, k_binary(b, K_MAX, from, next));
  k_value end = k_add(b, element_at(s, a, s->row, most), one);
  k_instr *rows = k_loop_begin(b, from, end, 1, NULL, 0);
  copy_row(s, k_loop_index(rows));
  k_loop_end(b, NULL, 0);
  body(s, context);
  k_loop_end(b, NULL, 0);
}

void leat_depthwise_prefetch(const leat_depthwise_kernel *s, k_value number) {
  k_builder *b = s->b;
  const leat_depthwise *what = &s->to->what;
  const leat_window_axis *down = &what->axes[0], *across = &what->axes[1];
  k_value row = element_at(s, down, k_add(b, s->row, k_i64(b, 1)), most_offset(down));
  k_value from = k_add(b, leat_depthwise_times(s, s->image, down->extent), row);
  from =
      k_add(b, leat_depthwise_times(s, from, across->extent), element_at(s, across, s->first, 0));
  int64_t count = (int64_t)s->to->high * across->stride / across->base;
  from = k_add(b, from, leat_depthwise_times(s, number, count));
  for (int64_t i = 0; i < count; i++) {
    k_value at = leat_depthwise_times(s, k_add(b, from, k_i64(b, i)), what->channels);
    k_prefetch(b, s->x, k_add(b, at, s->c.column));
  }
}
