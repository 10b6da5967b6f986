// The gradient of the weights of a convolution of channels, as two kernels. A tile of the first
// sums the products of some rows of an image for some channels, [part, tap, channel]: along a row
// the sums of a window are in registers. The second adds the parts in order.
#include "codegen/depthwise.h"

typedef struct part {
  k_value number;
  const k_buffer *sums;
  const k_buffer *gradients; // of the row: [vector of the tile, output of the part, channel]
  k_value output;            // that is copied
  k_value dy[LEAT_ACCUMULATORS], *acc;
} part;

static int64_t count_taps(const leat_depthwise_kernel *s) {
  return s->to->what.axes[0].window * s->to->what.axes[1].window;
}

static k_value place_of_sum(const leat_depthwise_kernel *s, k_value number, k_value tap,
                            k_value channel) {
  k_value at = k_add(s->b, leat_depthwise_times(s, number, count_taps(s)), tap);
  return k_add(s->b, leat_depthwise_times(s, at, s->p->panels.value * LEAT_LANES), channel);
}

static void add_product(leat_depthwise_kernel *s, void *context, int i, int tap, k_value x) {
  part *p = context;
  p->acc[tap] = k_mul_add(s->b, x, p->dy[i], p->acc[tap]);
}

static void add_outputs(leat_depthwise_kernel *s, void *context,
                        const leat_depthwise_outputs *outputs, k_value *acc) {
  k_builder *b = s->b;
  part *p = context;
  for (int i = 0; i < outputs->count; i++) {
    k_value at = leat_depthwise_sums(s, k_add(b, outputs->at, k_i64(b, i)));
    p->dy[i] = k_load(b, p->gradients, k_add(b, at, s->side), s->to->lanes, NULL);
  }
  p->acc = acc;
  leat_depthwise_elements(s, outputs, add_product, p);
}

static void add_taps(leat_depthwise_kernel *s, void *context, const leat_depthwise_taps *taps) {
  part *p = context;
  k_value at[LEAT_ACCUMULATORS], acc[LEAT_ACCUMULATORS];
  int count = leat_depthwise_count(s, taps);
  for (int i = 0; i < count; i++) {
    at[i] = place_of_sum(s, p->number, leat_depthwise_number(s, taps, i), s->channel);
    acc[i] = k_load(s->b, p->sums, at[i], s->to->lanes, NULL);
  }
  leat_depthwise_walk(s, taps, add_outputs, p, acc, (uint32_t)count);
  for (int i = 0; i < count; i++) k_store(s->b, p->sums, at[i], acc[i], NULL);
}

static void sum_piece(leat_depthwise_kernel *s, void *context) {
  leat_depthwise_window(s, NULL, add_taps, context);
}

static void sum_vector(leat_depthwise_kernel *s, void *context) {
  leat_depthwise_pieces(s, sum_piece, context);
}

static void copy_vector(leat_depthwise_kernel *s, void *context) {
  k_builder *b = s->b;
  const part *p = context;
  const leat_depthwise *what = &s->to->what;
  k_value row = k_add(b, leat_depthwise_times(s, s->image, what->axes[0].size), s->row);
  row = leat_depthwise_times(s, row, what->axes[1].size);
  k_value from = leat_depthwise_times(s, k_add(b, row, p->output), what->channels);
  k_value x = k_load(b, s->other, k_add(b, from, s->c.column), LEAT_LANES, s->mask);
  k_store(b, p->gradients, leat_depthwise_sums(s, k_sub(b, p->output, s->first)), x, NULL);
}

static void one_row(leat_depthwise_kernel *s, void *context) {
  part *p = context;
  k_instr *loop = k_loop_begin(s->b, s->first, s->end, 1, NULL, 0);
  p->output = k_loop_index(loop);
  leat_depthwise_vectors(s, copy_vector, context);
  k_loop_end(s->b, NULL, 0);
  leat_depthwise_vectors(s, sum_vector, context);
}

static void clear_vector(leat_depthwise_kernel *s, void *context) {
  k_builder *b = s->b;
  const part *p = context;
  k_instr *loop = k_loop_begin(b, k_i64(b, 0), k_i64(b, count_taps(s)), 1, NULL, 0);
  k_value at = place_of_sum(s, p->number, k_loop_index(loop), s->c.column);
  k_store(b, p->sums, at, leat_depthwise_zero(s, LEAT_LANES), NULL);
  k_loop_end(b, NULL, 0);
}

static void sum_parts(leat_table *table, leat_unit *unit) {
  leat_lower *w = leat_lower_begin_bare(table, unit, "products of windows");
  leat_depthwise_kernel s = leat_depthwise_begin(w);
  s.x = leat_lower_buffer(w, leat_item_memory(table, s.node->inputs[0])->storage);
  s.other = leat_lower_buffer(w, leat_item_memory(table, s.node->inputs[1])->storage);
  part p = {.sums = leat_lower_buffer(w, unit->parts)};
  int64_t element = (int64_t)s.p->tile_panels * LEAT_LANES;
  s.ring = k_local(s.b, K_SPACE_REGISTER, s.dtype, s.to->slots * s.to->pitch * element);
  p.gradients = k_local(s.b, K_SPACE_REGISTER, s.dtype, s.to->part * element);
  p.number = leat_depthwise_place(&s);
  leat_depthwise_vectors(&s, clear_vector, &p);
  leat_depthwise_rows(&s, one_row, &p);
  leat_lower_end(w, leat_depthwise_tiles(&s), leat_unit_estimate(table, unit));
}

// -- Their sums -----------------------------------------------------------------------------------

typedef struct tap_at_hand {
  k_value number;
  const k_buffer *sums;
} tap_at_hand;

static void add_vector(leat_depthwise_kernel *s, void *context) {
  k_builder *b = s->b;
  const tap_at_hand *tap = context;
  k_value sum = leat_depthwise_zero(s, LEAT_LANES);
  k_instr *loop = k_loop_begin(b, k_i64(b, 0), leat_lower_dim(s->w, s->p->blocks), 1, &sum, 1);
  k_value at = place_of_sum(s, k_loop_index(loop), tap->number, s->c.column);
  sum = k_add(b, k_loop_carried(loop, 0), k_load(b, tap->sums, at, LEAT_LANES, NULL));
  k_loop_end(b, &sum, 1);
  leat_contraction_finish(&s->c, 0, k_result(b, loop, 0));
}

static void add_parts(leat_table *table, leat_unit *unit) {
  leat_lower *w = leat_lower_begin(table, unit);
  leat_depthwise_kernel s = leat_depthwise_begin(w);
  k_builder *b = s.b;
  tap_at_hand tap = {k_tile(b), leat_lower_buffer(w, unit->parts)};
  leat_index row, column;
  leat_index_divmod(&w->l, (leat_index){.base = tap.number}, k_i64(b, s.to->what.axes[1].window),
                    &row, &column);
  leat_depthwise_put(&s, 0, row.base);
  leat_depthwise_put(&s, 1, column.base);
  s.vector = k_i64(b, 0);
  s.end_vector = k_i64(b, s.p->panels.value);
  leat_depthwise_vectors(&s, add_vector, &tap);
  leat_lower_end(w, leat_dim_const(count_taps(&s)),
                 leat_cost_bytes(&unit->parts->type) / LEAT_CACHE_RATE);
}

void leat_lower_depthwise_weights(leat_table *table, leat_unit *unit) {
  sum_parts(table, unit);
  add_parts(table, unit);
}
