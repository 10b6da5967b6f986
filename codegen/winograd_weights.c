// The gradient of a convolution's weights by Winograd's transforms, as two kernels. A tile of the
// first takes its share of the tiles of all images, block by block: of a block it transforms what x
// has, [place, tile, channel], and of each panel of outputs what their gradient has, [place, tile,
// column], and adds their products, [panel, place, channel, column], to its sums. The second adds
// those of all shares, in order, and transforms them back.
#include "codegen/winograd.h"

enum { FINISHED_CHANNELS = 16 }; // of a tile of the second kernel

// -- Products -------------------------------------------------------------------------------------

// Elements of the sums from one panel to the next.
static int64_t sums_of_panel(const leat_winograd_kernel *s) {
  return s->to->sums / s->p->panels.value;
}

static int64_t sums_of_place(const leat_winograd_kernel *s) {
  return sums_of_panel(s) / (s->places * s->places);
}

// Sums of `high` channels from element `to` on: over `count` tiles, of x from element `a` on, of dy
// from `b` on.
static void multiply(leat_winograd_kernel *s, k_value count, k_value x, k_value dy, k_value to) {
  k_builder *b = s->b;
  int high = s->p->high, wide = s->p->wide;
  k_value acc[LEAT_ACCUMULATORS], columns[LEAT_MOST_VECTORS], places[LEAT_ACCUMULATORS];
  uint32_t all = (uint32_t)(high * wide);
  for (uint32_t i = 0; i < all; i++) {
    places[i] = k_add(b, to, k_i64(b, (int64_t)i * LEAT_LANES));
    acc[i] = k_load(b, s->room, places[i], LEAT_LANES, NULL);
  }
  k_instr *loop = k_loop_begin(b, k_i64(b, 0), count, 1, acc, all);
  k_value tile = k_loop_index(loop);
  k_value row = k_add(b, dy, leat_winograd_times(s, tile, s->p->width));
  k_value from = k_add(b, x, leat_winograd_times(s, tile, s->to->pitch));
  for (int j = 0; j < wide; j++) {
    k_value at = k_add(b, row, k_i64(b, (int64_t)j * LEAT_LANES));
    columns[j] = k_load(b, s->room, at, LEAT_LANES, NULL);
  }
  for (int i = 0; i < high; i++) {
    k_value a = k_load(b, s->room, k_add(b, from, k_i64(b, i)), 1, NULL);
    for (int j = 0; j < wide; j++) {
      uint32_t n = (uint32_t)(i * wide + j);
      acc[n] = k_mul_add(b, a, columns[j], k_loop_carried(loop, n));
    }
  }
  k_loop_end(b, acc, all);
  for (uint32_t i = 0; i < all; i++) k_store(b, s->room, places[i], k_result(b, loop, i), NULL);
}

// Of a panel, whose sums begin at `to`.
static void multiply_block(leat_winograd_kernel *s, k_value count, k_value x, k_value dy,
                           k_value to) {
  k_builder *b = s->b;
  int64_t places = (int64_t)s->places * s->places, block = s->to->block;
  k_instr *each = k_loop_begin(b, k_i64(b, 0), k_i64(b, places), 1, NULL, 0);
  k_value place = k_loop_index(each);
  k_value a = k_add(b, x, leat_winograd_times(s, place, block * s->to->pitch));
  k_value row = k_add(b, dy, leat_winograd_times(s, place, block * s->p->width));
  k_value sums = k_add(b, to, leat_winograd_times(s, place, sums_of_place(s)));
  k_instr *loop = k_loop_begin(b, k_i64(b, 0), k_i64(b, s->to->channels), s->p->high, NULL, 0);
  k_value channel = k_loop_index(loop);
  multiply(s, count, k_add(b, a, channel), row,
           k_add(b, sums, leat_winograd_times(s, channel, s->p->width)));
  k_loop_end(b, NULL, 0);
  k_loop_end(b, NULL, 0);
}

static void clear(leat_winograd_kernel *s, k_value first) {
  k_builder *b = s->b;
  k_value none = k_float(b, s->node->outputs[0].dtype, LEAT_LANES, 0);
  k_value end = k_add(b, first, k_i64(b, s->to->sums));
  k_instr *loop = k_loop_begin(b, first, end, LEAT_LANES, NULL, 0);
  k_store(b, s->room, k_loop_index(loop), none, NULL);
  k_loop_end(b, NULL, 0);
}

static void add_block(leat_winograd_kernel *s, leat_winograd_source *x, leat_winograd_source *dy,
                      k_value first, k_value count, k_value sums) {
  k_builder *b = s->b;
  leat_winograd_transform_block(s, x, first, count);
  k_instr *loop = k_loop_begin(b, k_i64(b, 0), k_i64(b, s->p->panels.value), 1, NULL, 0);
  k_value panel = k_loop_index(loop);
  dy->low = leat_winograd_times(s, panel, s->p->width);
  dy->high = k_add(b, dy->low, k_i64(b, s->p->width));
  dy->high = k_binary(b, K_MIN, dy->high, s->c.columns);
  leat_winograd_transform_block(s, dy, first, count);
  multiply_block(s, count, x->to, dy->to,
                 k_add(b, sums, leat_winograd_times(s, panel, sums_of_panel(s))));
  k_loop_end(b, NULL, 0);
}

static const k_buffer *operand(const leat_winograd_kernel *s, uint32_t i) {
  return leat_lower_buffer(s->w, leat_item_memory(s->w->table, s->node->inputs[i])->storage);
}

static void add_blocks(leat_table *table, leat_unit *unit) {
  leat_lower *w = leat_lower_begin_bare(table, unit, "products of tiles");
  leat_winograd_kernel s = leat_winograd_begin(w);
  k_builder *b = s.b;
  s.room = leat_lower_buffer(w, unit->parts);
  k_value room = leat_winograd_times(&s, k_tile(b), s.to->room);
  leat_winograd_source x = {.input = 0,
                            .buffer = operand(&s, 0),
                            .before = {s.to->what.before[0], s.to->what.before[1]},
                            .side = s.places,
                            .transform = leat_winograd_transform_elements,
                            .low = k_i64(b, 0),
                            .high = k_i64(b, s.to->channels),
                            .to = room,
                            .pitch = s.to->pitch};
  leat_winograd_source dy = {.input = 1,
                             .buffer = operand(&s, 1),
                             .side = s.tile,
                             .transform = leat_winograd_transform_window,
                             .to = k_add(b, room, k_i64(b, s.to->transformed)),
                             .pitch = s.p->width};
  k_value sums = k_add(b, dy.to, k_i64(b, s.to->others));
  clear(&s, sums);
  k_value tiles = leat_lower_dim(w, s.to->tiles), rooms = leat_lower_dim(w, s.to->rooms);
  k_value low = k_binary(b, K_DIV, k_mul(b, k_tile(b), tiles), rooms);
  k_value next = k_add(b, k_tile(b), k_i64(b, 1));
  k_value end = k_binary(b, K_DIV, k_mul(b, next, tiles), rooms);
  k_instr *loop = k_loop_begin(b, low, end, s.to->block, NULL, 0);
  k_value first = k_loop_index(loop), rest = k_sub(b, end, first);
  k_value count = k_binary(b, K_MIN, rest, k_i64(b, s.to->block));
  add_block(&s, &x, &dy, first, count, sums);
  k_loop_end(b, NULL, 0);
  leat_lower_end(w, s.to->rooms, leat_unit_estimate(table, unit));
}

// -- Their sums -----------------------------------------------------------------------------------

// The channel's sums over all shares become `local`, [place, column].
static void add_shares(const leat_winograd_kernel *s, const k_buffer *local, k_value panel,
                       k_value channel) {
  k_builder *b = s->b;
  int64_t places = (int64_t)s->places * s->places;
  k_instr *each = k_loop_begin(b, k_i64(b, 0), k_i64(b, places), 1, NULL, 0);
  k_value place = k_loop_index(each);
  k_value from = k_add(b, leat_winograd_times(s, panel, sums_of_panel(s)),
                       leat_winograd_times(s, place, sums_of_place(s)));
  from = k_add(b, from, leat_winograd_times(s, channel, s->p->width));
  from = k_add(b, from, k_i64(b, s->to->transformed + s->to->others));
  for (int j = 0; j < s->p->wide; j++) {
    int64_t side = (int64_t)j * LEAT_LANES;
    k_value sum = NULL;
    for (int64_t share = 0; share < s->to->rooms.value; share++) {
      k_value at = k_add(b, from, k_i64(b, share * s->to->room + side));
      k_value x = k_load(b, s->room, at, LEAT_LANES, NULL);
      sum = sum ? k_add(b, sum, x) : x;
    }
    k_value to = k_add(b, leat_winograd_times(s, place, s->p->width), k_i64(b, side));
    k_store(b, local, to, sum, NULL);
  }
  k_loop_end(b, NULL, 0);
}

// [place, column] becomes [tap, column].
static void transform_back(const leat_winograd_kernel *s, const k_buffer *sums,
                           const k_buffer *taps) {
  k_builder *b = s->b;
  for (int j = 0; j < s->p->wide; j++) {
    k_value in[LEAT_MOST_SQUARE], out[LEAT_MOST_SQUARE];
    int64_t side = (int64_t)j * LEAT_LANES;
    for (int i = 0; i < s->places * s->places; i++)
      in[i] = k_load(b, sums, k_i64(b, i * s->p->width + side), LEAT_LANES, NULL);
    leat_winograd_square(s, leat_winograd_transform_outputs, s->places, s->window, in, out);
    for (int i = 0; i < s->window * s->window; i++)
      k_store(b, taps, k_i64(b, i * s->p->width + side), out[i], NULL);
  }
}

static void finish_channel(leat_winograd_kernel *s, const k_buffer *taps, k_value channel) {
  k_builder *b = s->b;
  k_value count = k_i64(b, s->window * s->window);
  k_instr *loop = k_loop_begin(b, k_i64(b, 0), count, 1, NULL, 0);
  k_value tap = k_loop_index(loop);
  k_value row = k_add(b, leat_winograd_times(s, tap, s->to->channels), channel);
  for (int j = 0; j < s->p->wide; j++) {
    k_value at =
        k_add(b, leat_winograd_times(s, tap, s->p->width), k_i64(b, (int64_t)j * LEAT_LANES));
    leat_contraction_put(&s->c, s->p->row_axes, row);
    leat_contraction_finish(&s->c, j, k_load(b, taps, at, LEAT_LANES, NULL));
  }
  k_loop_end(b, NULL, 0);
}

static void finish(leat_table *table, leat_unit *unit) {
  leat_lower *w = leat_lower_begin(table, unit);
  leat_winograd_kernel s = leat_winograd_begin(w);
  k_builder *b = s.b;
  s.room = leat_lower_buffer(w, unit->parts);
  leat_dtype dtype = s.node->outputs[0].dtype;
  int64_t squares = (int64_t)LEAT_MOST_SQUARE * s.p->width;
  const k_buffer *sums = k_local(b, K_SPACE_REGISTER, dtype, squares);
  const k_buffer *taps = k_local(b, K_SPACE_REGISTER, dtype, squares);
  int64_t groups = (s.to->channels + FINISHED_CHANNELS - 1) / FINISHED_CHANNELS;
  leat_index panel, group;
  leat_index_divmod(&w->l, (leat_index){.base = k_tile(b)}, k_i64(b, groups), &panel, &group);
  leat_contraction_place_columns(&s.c, panel.base);
  k_value low = leat_winograd_times(&s, group.base, FINISHED_CHANNELS);
  k_value high = k_add(b, low, k_i64(b, FINISHED_CHANNELS));
  high = k_binary(b, K_MIN, high, k_i64(b, s.to->channels));
  k_instr *loop = k_loop_begin(b, low, high, 1, NULL, 0);
  k_value channel = k_loop_index(loop);
  add_shares(&s, sums, panel.base, channel);
  transform_back(&s, sums, taps);
  finish_channel(&s, taps, channel);
  k_loop_end(b, NULL, 0);
  leat_dim tiles[] = {s.p->panels, leat_dim_const(groups)};
  leat_lower_end(w, leat_lower_product(w, tiles, 2), (double)(s.to->sums * s.to->rooms.value) / 10);
}

void leat_lower_winograd_weights(leat_table *table, leat_unit *unit) {
  add_blocks(table, unit);
  finish(table, unit);
}
