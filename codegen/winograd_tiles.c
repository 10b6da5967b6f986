// Tiles of operands, transformed.
#include "codegen/winograd.h"

leat_winograd_kernel leat_winograd_begin(leat_lower *w) {
  leat_winograd_kernel s = {.w = w, .b = &w->builder, .p = w->unit->contraction};
  s.c = leat_contraction_begin_bare(w);
  s.c.columns = leat_lower_dim(w, s.p->columns);
  s.to = s.p->winograd;
  s.node = s.p->item->node;
  s.places = s.to->places;
  s.tile = s.to->what.tile;
  s.window = s.to->what.window;
  return s;
}

k_value leat_winograd_times(const leat_winograd_kernel *s, k_value x, int64_t factor) {
  return k_mul(s->b, x, k_i64(s->b, factor));
}

void leat_winograd_transform_elements(const leat_winograd_kernel *s, const k_value *in,
                                      k_value *out) {
  leat_winograd_elements(s->b, s->places, in, out);
}

// What is multiplied with the elements: a window or, for its gradient, a tile of the outputs'.
void leat_winograd_transform_window(const leat_winograd_kernel *s, const k_value *in,
                                    k_value *out) {
  leat_winograd_window(s->b, s->places, s->to->what.weights ? s->tile : s->window, in, out);
}

void leat_winograd_transform_outputs(const leat_winograd_kernel *s, const k_value *in,
                                     k_value *out) {
  leat_winograd_outputs(s->b, s->places, s->to->what.weights ? s->window : s->tile, in, out);
}

void leat_winograd_square(const leat_winograd_kernel *s, leat_winograd_transform *one_axis,
                          int from, int to, const k_value *in, k_value *out) {
  k_value column[LEAT_MOST_PLACES], done[LEAT_MOST_PLACES], half[LEAT_MOST_SQUARE];
  for (int j = 0; j < from; j++) {
    for (int i = 0; i < from; i++) column[i] = in[i * from + j];
    one_axis(s, column, done);
    for (int i = 0; i < to; i++) half[i * from + j] = done[i];
  }
  for (int i = 0; i < to; i++) one_axis(s, &half[i * from], &out[i * to]);
}

leat_winograd_place leat_winograd_place_tile(const leat_winograd_kernel *s, k_value tile) {
  leat_index rest = {.base = tile}, image, down, across;
  leat_index_divmod(&s->w->l, rest, k_i64(s->b, s->to->across), &rest, &across);
  leat_index_divmod(&s->w->l, rest, k_i64(s->b, s->to->down), &image, &down);
  return (leat_winograd_place){image.base, leat_winograd_times(s, down.base, s->tile),
                               leat_winograd_times(s, across.base, s->tile)};
}

static int64_t extent(const leat_winograd_kernel *s, const leat_winograd_source *source, int axis) {
  return leat_value_type(s->node->inputs[source->input])->dims[axis].value;
}

// Whether all that a tile has along an axis, from `first` on, is there.
static k_value is_inside(const leat_winograd_kernel *s, const leat_winograd_source *source,
                         k_value first, int axis) {
  k_value last = k_i64(s->b, extent(s, source, axis) - source->side);
  return k_binary(s->b, K_AND, k_binary(s->b, K_LE, k_i64(s->b, 0), first),
                  k_binary(s->b, K_LE, first, last));
}

// Of what a tile has along an axis: where it is, in elements of `step`, and whether it is there.
typedef struct reach {
  k_value at[LEAT_MOST_PLACES], there[LEAT_MOST_PLACES]; // NULL: it is
} reach;

static reach reach_along(const leat_winograd_kernel *s, const leat_winograd_source *source,
                         k_value first, int axis, int64_t step, bool inside) {
  reach r = {0};
  k_value most = k_i64(s->b, extent(s, source, axis) - 1), none = k_i64(s->b, 0);
  for (int i = 0; i < source->side; i++) {
    k_value at = k_add(s->b, first, k_i64(s->b, i));
    if (!inside) {
      k_value nearest = k_binary(s->b, K_MIN, k_binary(s->b, K_MAX, at, none), most);
      r.there[i] = k_binary(s->b, K_EQ, at, nearest);
      at = nearest;
    }
    r.at[i] = leat_winograd_times(s, at, step);
  }
  return r;
}

// A tile becomes transformed tile number `tile` of the block.
static void transform_tile(const leat_winograd_kernel *s, const leat_winograd_source *source,
                           k_value image, k_value row, k_value column, k_value tile, bool inside) {
  k_builder *b = s->b;
  int64_t channels = extent(s, source, 3), line = extent(s, source, 2) * channels;
  leat_dtype dtype = s->node->outputs[0].dtype;
  int side = source->side;
  reach rows = reach_along(s, source, row, 1, line, inside);
  reach columns = reach_along(s, source, column, 2, channels, inside);
  image = leat_winograd_times(s, image, extent(s, source, 1) * line);
  k_instr *loop = k_loop_begin(b, source->low, source->high, LEAT_LANES, NULL, 0);
  k_value channel = k_loop_index(loop), none = k_float(b, dtype, LEAT_LANES, 0);
  k_value mask = NULL, in[LEAT_MOST_SQUARE], out[LEAT_MOST_SQUARE];
  if (channels % LEAT_LANES) mask = leat_lower_mask(s->w, k_sub(b, k_i64(b, channels), channel));
  k_value from = k_add(b, image, channel);
  for (int j = 0; j < side; j++)
    for (int i = 0; i < side; i++) {
      k_value at = k_add(b, from, k_add(b, rows.at[i], columns.at[j]));
      k_value x = k_load(b, source->buffer, at, LEAT_LANES, mask);
      if (!inside) x = k_select(b, k_binary(b, K_AND, rows.there[i], columns.there[j]), x, none);
      in[i * side + j] = x;
    }
  leat_winograd_square(s, source->transform, side, s->places, in, out);
  k_value to = k_add(b, source->to, leat_winograd_times(s, tile, source->pitch));
  to = k_add(b, to, k_sub(b, channel, source->low));
  for (int i = 0; i < s->places * s->places; i++) {
    k_value at = k_add(b, to, k_i64(b, i * s->to->block * source->pitch));
    k_store(b, s->room, at, out[i], NULL);
  }
  k_loop_end(b, NULL, 0);
}

void leat_winograd_transform_block(const leat_winograd_kernel *s,
                                   const leat_winograd_source *source, k_value first,
                                   k_value count) {
  k_builder *b = s->b;
  k_instr *loop = k_loop_begin(b, k_i64(b, 0), count, 1, NULL, 0);
  k_value tile = k_loop_index(loop);
  leat_winograd_place place = leat_winograd_place_tile(s, k_add(b, first, tile));
  k_value row = k_sub(b, place.row, k_i64(b, source->before[0]));
  k_value column = k_sub(b, place.column, k_i64(b, source->before[1]));
  k_if_begin(b, k_binary(b, K_AND, is_inside(s, source, row, 1), is_inside(s, source, column, 2)));
  transform_tile(s, source, place.image, row, column, tile, true);
  k_if_else(b, NULL, 0);
  transform_tile(s, source, place.image, row, column, tile, false);
  k_if_end(b, NULL, 0);
  k_loop_end(b, NULL, 0);
}
