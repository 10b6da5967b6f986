// Convolutions by Winograd's transforms, as two kernels. The first transforms the weights into
// panels, [panel, place, channel, column]. A tile of the second is some blocks of tiles of the
// image by some panels: of a block it transforms what the tiles read, [place, tile, channel], and
// of each panel it makes the products of all places, [place, tile, column], transforms them back
// and does in place what is done with the outputs.
#include "codegen/winograd.h"

enum { PACKED_CHANNELS = 16 }; // of a tile of the first kernel

// -- Weights --------------------------------------------------------------------------------------

static k_value weight(leat_winograd_kernel *s, int tap, k_value channel, k_value column) {
  leat_lower *w = s->w;
  if (s->to->what.turned) tap = s->window * s->window - 1 - tap;
  leat_index at[] = {leat_index_const(&w->l, tap / s->window),
                     leat_index_const(&w->l, tap % s->window),
                     {.base = channel},
                     {.base = column, .step = 1}};
  return leat_operand(&w->l, s->node, 1, at);
}

static void pack_vector(leat_winograd_kernel *s, k_value panel, k_value channel, int j) {
  leat_lower *w = s->w;
  k_value taps[LEAT_MOST_SQUARE], out[LEAT_MOST_SQUARE];
  int count = s->window * s->window;
  k_value side = k_i64(s->b, (int64_t)j * LEAT_LANES);
  w->l.lanes = LEAT_LANES;
  w->l.mask = s->c.masks[j];
  for (int i = 0; i < count; i++) taps[i] = weight(s, i, channel, k_add(s->b, s->c.column, side));
  w->l.lanes = 1;
  w->l.mask = NULL;
  leat_winograd_square(s, leat_winograd_transform_window, s->window, s->places, taps, out);
  for (int i = 0; i < s->places * s->places; i++) {
    k_value place =
        k_add(s->b, leat_winograd_times(s, panel, s->places * s->places), k_i64(s->b, i));
    k_value row = k_add(s->b, leat_winograd_times(s, place, s->to->channels), channel);
    k_store(s->b, s->c.b_buffer, k_add(s->b, leat_winograd_times(s, row, s->p->width), side),
            out[i], NULL);
  }
}

static void pack(leat_table *table, leat_unit *unit) {
  leat_lower *w = leat_lower_begin_bare(table, unit, "transform weights");
  leat_winograd_kernel s = leat_winograd_begin(w);
  k_builder *b = s.b;
  s.c.b_buffer = leat_lower_buffer(w, unit->scratch);
  leat_lower_reads_of(w, s.node->inputs[1]);
  leat_index panel, block;
  int64_t blocks = (s.to->channels + PACKED_CHANNELS - 1) / PACKED_CHANNELS;
  leat_index_divmod(&w->l, (leat_index){.base = k_tile(b)}, k_i64(b, blocks), &panel, &block);
  leat_contraction_place_columns(&s.c, panel.base);
  k_value low = leat_winograd_times(&s, block.base, PACKED_CHANNELS);
  k_value high = k_add(b, low, k_i64(b, PACKED_CHANNELS));
  k_instr *loop =
      k_loop_begin(b, low, k_binary(b, K_MIN, high, k_i64(b, s.to->channels)), 1, NULL, 0);
  for (int j = 0; j < s.p->wide; j++) pack_vector(&s, panel.base, k_loop_index(loop), j);
  k_loop_end(b, NULL, 0);
  leat_dim tiles[] = {s.p->panels, leat_dim_const(blocks)};
  leat_lower_end(w, leat_lower_product(w, tiles, 2), leat_cost_copy(&unit->scratch->type));
}

// -- Products -------------------------------------------------------------------------------------

// `high` tiles from `tile` on by the columns of the panel: of a from element `a` on, of b from `w`.
static void multiply(leat_winograd_kernel *s, k_value a, k_value w, k_value to) {
  k_builder *b = s->b;
  int high = s->p->high, wide = s->p->wide;
  k_value acc[LEAT_ACCUMULATORS], columns[LEAT_MOST_VECTORS];
  uint32_t count = (uint32_t)(high * wide);
  for (uint32_t i = 0; i < count; i++)
    acc[i] = k_float(b, s->node->outputs[0].dtype, LEAT_LANES, 0);
  k_instr *loop = k_loop_begin(b, k_i64(b, 0), k_i64(b, s->to->channels), 1, acc, count);
  k_value k = k_loop_index(loop), row = k_add(b, w, leat_winograd_times(s, k, s->p->width));
  for (int j = 0; j < wide; j++) {
    k_value at = k_add(b, row, k_i64(b, (int64_t)j * LEAT_LANES));
    columns[j] = k_load(b, s->c.b_buffer, at, LEAT_LANES, NULL);
  }
  for (int i = 0; i < high; i++) {
    k_value x = k_load(b, s->room, k_add(b, a, k_add(b, k_i64(b, i * s->to->pitch), k)), 1, NULL);
    for (int j = 0; j < wide; j++) {
      uint32_t n = (uint32_t)(i * wide + j);
      acc[n] = k_mul_add(b, x, columns[j], k_loop_carried(loop, n));
    }
  }
  k_loop_end(b, acc, count);
  for (uint32_t i = 0; i < count; i++) {
    k_value at = k_add(b, to, k_i64(b, (int64_t)i * LEAT_LANES));
    k_store(b, s->room, at, k_result(b, loop, i), NULL);
  }
}

static void multiply_block(leat_winograd_kernel *s, k_value panel, k_value count, k_value room,
                           k_value products) {
  k_builder *b = s->b;
  int64_t places = (int64_t)s->places * s->places;
  k_instr *each = k_loop_begin(b, k_i64(b, 0), k_i64(b, places), 1, NULL, 0);
  k_value place = k_loop_index(each);
  k_value a = k_add(b, room, leat_winograd_times(s, place, s->to->block * s->to->pitch));
  k_value to = k_add(b, products, leat_winograd_times(s, place, s->to->block * s->p->width));
  k_value w = k_add(b, leat_winograd_times(s, panel, places), place);
  w = leat_winograd_times(s, w, s->to->channels * s->p->width);
  k_instr *loop = k_loop_begin(b, k_i64(b, 0), count, s->p->high, NULL, 0);
  k_value tile = k_loop_index(loop);
  multiply(s, k_add(b, a, leat_winograd_times(s, tile, s->to->pitch)), w,
           k_add(b, to, leat_winograd_times(s, tile, s->p->width)));
  k_loop_end(b, NULL, 0);
  k_loop_end(b, NULL, 0);
}

// -- Outputs --------------------------------------------------------------------------------------

static void put(leat_winograd_kernel *s, int axis, k_value at) {
  int of_unit = s->p->item->axis[axis];
  if (of_unit >= 0) s->w->at[of_unit] = (leat_index){.base = at};
}

// How many outputs of a tile there are along an axis.
static k_value count_outputs(const leat_winograd_kernel *s, k_value first, int axis) {
  k_value rest = k_sub(s->b, k_i64(s->b, s->node->outputs[0].dims[axis].value), first);
  return k_binary(s->b, K_MIN, rest, k_i64(s->b, s->tile));
}

static void finish_tile(leat_winograd_kernel *s, leat_winograd_place place, const k_buffer *made) {
  k_builder *b = s->b;
  put(s, 0, place.image);
  k_instr *down = k_loop_begin(b, k_i64(b, 0), count_outputs(s, place.row, 1), 1, NULL, 0);
  put(s, 1, k_add(b, place.row, k_loop_index(down)));
  k_instr *across = k_loop_begin(b, k_i64(b, 0), count_outputs(s, place.column, 2), 1, NULL, 0);
  put(s, 2, k_add(b, place.column, k_loop_index(across)));
  k_value from =
      k_add(b, leat_winograd_times(s, k_loop_index(down), s->tile), k_loop_index(across));
  for (int j = 0; j < s->p->wide; j++) {
    k_value at =
        k_add(b, leat_winograd_times(s, from, s->p->width), k_i64(b, (int64_t)j * LEAT_LANES));
    leat_contraction_finish(&s->c, j, k_load(b, made, at, LEAT_LANES, NULL));
  }
  k_loop_end(b, NULL, 0);
  k_loop_end(b, NULL, 0);
}

static void finish_block(leat_winograd_kernel *s, k_value first, k_value count, k_value products) {
  k_builder *b = s->b;
  const k_buffer *made =
      k_local(b, K_SPACE_REGISTER, s->node->outputs[0].dtype, s->tile * s->tile * s->p->width);
  k_instr *loop = k_loop_begin(b, k_i64(b, 0), count, 1, NULL, 0);
  k_value tile = k_loop_index(loop);
  k_value from = k_add(b, products, leat_winograd_times(s, tile, s->p->width));
  for (int j = 0; j < s->p->wide; j++) {
    k_value sums[LEAT_MOST_SQUARE], out[LEAT_MOST_SQUARE];
    for (int i = 0; i < s->places * s->places; i++) {
      int64_t at = i * s->to->block * s->p->width + (int64_t)j * LEAT_LANES;
      sums[i] = k_load(b, s->room, k_add(b, from, k_i64(b, at)), LEAT_LANES, NULL);
    }
    leat_winograd_square(s, leat_winograd_transform_outputs, s->places, s->tile, sums, out);
    for (int i = 0; i < s->tile * s->tile; i++)
      k_store(b, made, k_i64(b, i * s->p->width + (int64_t)j * LEAT_LANES), out[i], NULL);
  }
  finish_tile(s, leat_winograd_place_tile(s, k_add(b, first, tile)), made);
  k_loop_end(b, NULL, 0);
}

// -------------------------------------------------------------------------------------------------

static void compute_block(leat_winograd_kernel *s, k_value block, k_value first_panel,
                          k_value room) {
  k_builder *b = s->b;
  k_value size = k_i64(b, s->to->block), first = k_mul(b, block, size);
  k_value rest = k_sub(b, leat_lower_dim(s->w, s->to->tiles), first);
  k_value count = k_binary(b, K_MIN, rest, size);
  leat_winograd_source x = {.buffer = s->c.a_buffer,
                            .before = {s->to->what.before[0], s->to->what.before[1]},
                            .side = s->places,
                            .transform = leat_winograd_transform_elements,
                            .low = k_i64(b, 0),
                            .high = k_i64(b, s->to->channels),
                            .to = room,
                            .pitch = s->to->pitch};
  leat_winograd_transform_block(s, &x, first, count);
  k_value products = k_add(b, room, k_i64(b, s->to->transformed));
  k_value end = k_add(b, first_panel, k_i64(b, s->p->tile_panels));
  end = k_binary(b, K_MIN, end, leat_lower_dim(s->w, s->p->panels));
  k_instr *loop = k_loop_begin(b, first_panel, end, 1, NULL, 0);
  k_value panel = k_loop_index(loop);
  leat_contraction_place_columns(&s->c, panel);
  multiply_block(s, panel, count, room, products);
  finish_block(s, first, count, products);
  k_loop_end(b, NULL, 0);
}

void leat_lower_winograd(leat_table *table, leat_unit *unit) {
  if (!unit->contraction->packed) pack(table, unit);
  leat_lower *w = leat_lower_begin(table, unit);
  leat_winograd_kernel s = leat_winograd_begin(w);
  s.room = leat_lower_buffer(w, unit->parts);
  s.c.a_buffer = leat_lower_buffer(w, leat_item_memory(table, s.node->inputs[0])->storage);
  s.c.b_buffer = leat_lower_buffer(w, unit->scratch);
  k_builder *b = s.b;
  k_value blocks = leat_lower_dim(w, s.to->blocks), rooms = leat_lower_dim(w, s.to->rooms);
  leat_index group, mine;
  leat_index_divmod(&w->l, (leat_index){.base = k_tile(b)}, rooms, &group, &mine);
  k_value room = leat_winograd_times(&s, k_tile(b), s.to->room);
  k_value low = k_binary(b, K_DIV, k_mul(b, mine.base, blocks), rooms);
  k_value next = k_add(b, mine.base, k_i64(b, 1));
  k_value end = k_binary(b, K_DIV, k_mul(b, next, blocks), rooms);
  k_value first_panel = leat_winograd_times(&s, group.base, s.p->tile_panels);
  k_instr *loop = k_loop_begin(b, low, end, 1, NULL, 0);
  compute_block(&s, k_loop_index(loop), first_panel, room);
  k_loop_end(b, NULL, 0);
  leat_dim tiles[] = {s.to->rooms, s.p->groups};
  leat_lower_end(w, leat_lower_product(w, tiles, 2), leat_unit_estimate(table, unit));
}
