// Convolutions of channels: along a row, the sums of some outputs beside each other are in
// registers, of as many channels as fill one, with the weights if the window is small, and each
// element of x that their windows share is read once. A row of sums, LEAT_LANES channels wide, is
// then done with.
#include "codegen/depthwise.h"

typedef struct row_of_sums {
  const k_buffer *sums; // [vector of the tile, output of the part, channel]
  k_value output;       // that is done with
  bool direct;          // sums are done with in registers
  k_value weights[LEAT_ACCUMULATORS], acc[LEAT_ACCUMULATORS];
} row_of_sums;

k_value leat_depthwise_sums(const leat_depthwise_kernel *s, k_value output) {
  k_value at = leat_depthwise_times(s, s->number, s->to->part);
  return leat_depthwise_times(s, k_add(s->b, at, output), LEAT_LANES);
}

static k_value place_of_sum(const leat_depthwise_kernel *s, k_value output) {
  return k_add(s->b, leat_depthwise_sums(s, output), s->side);
}

static void add_element(leat_depthwise_kernel *s, void *context, int i, int tap, k_value x) {
  row_of_sums *r = context;
  r->acc[i] = k_mul_add(s->b, x, r->weights[tap], r->acc[i]);
}

// What is done with sums in registers: of output i of those together, a piece of a vector.
static void finish_piece(leat_depthwise_kernel *s, k_value output, k_value sum) {
  leat_lower *w = s->w;
  leat_depthwise_put(s, 2, output);
  if (s->p->column_axis >= 0)
    w->at[s->p->column_axis] = (leat_index){.base = s->channel, .step = 1};
  w->l.lanes = s->p->column_axis >= 0 ? s->to->lanes : 1;
  w->l.mask = w->l.lanes > 1 ? s->piece_mask : NULL;
  leat_lower_substitute(w, s->p->item, w->l.lanes > 1 ? sum : k_extract(s->b, sum, 0));
  for (uint32_t i = 0; i < w->unit->outputs.count; i++)
    leat_lower_store(w, &s->c.stores, &w->unit->outputs.items[i]);
  leat_lower_flush(w, &s->c.stores);
  w->l.lanes = 1;
  w->l.mask = NULL;
}

// To what is there already, if it is a row of the window.
static void add_outputs(leat_depthwise_kernel *s, void *context,
                        const leat_depthwise_outputs *outputs, k_value *acc) {
  k_builder *b = s->b;
  row_of_sums *r = context;
  k_value places[LEAT_ACCUMULATORS];
  (void)acc;
  for (int i = 0; i < outputs->count; i++) {
    places[i] = place_of_sum(s, k_add(b, outputs->at, k_i64(b, i)));
    r->acc[i] = outputs->taps->row ? k_load(b, r->sums, places[i], s->to->lanes, NULL)
                                   : leat_depthwise_zero(s, s->to->lanes);
  }
  leat_depthwise_elements(s, outputs, add_element, r);
  for (int i = 0; i < outputs->count; i++) {
    if (r->direct)
      finish_piece(s, k_add(b, s->first, k_add(b, outputs->at, k_i64(b, i))), r->acc[i]);
    else
      k_store(b, r->sums, places[i], r->acc[i], NULL);
  }
}

static void add_taps(leat_depthwise_kernel *s, void *context, const leat_depthwise_taps *taps) {
  k_builder *b = s->b;
  row_of_sums *r = context;
  for (int i = 0; i < leat_depthwise_count(s, taps); i++) {
    k_value tap = leat_depthwise_number(s, taps, i);
    k_value at = k_add(b, leat_depthwise_times(s, tap, s->to->what.channels), s->channel);
    r->weights[i] = k_load(b, s->other, at, s->to->lanes, s->piece_mask);
  }
  leat_depthwise_walk(s, taps, add_outputs, r, NULL, 0);
}

static void clear(leat_depthwise_kernel *s, void *context) {
  k_builder *b = s->b;
  const row_of_sums *r = context;
  k_instr *loop = k_loop_begin(b, k_i64(b, 0), k_sub(b, s->end, s->first), 1, NULL, 0);
  k_value at = place_of_sum(s, k_loop_index(loop));
  k_store(b, r->sums, at, leat_depthwise_zero(s, s->to->lanes), NULL);
  k_loop_end(b, NULL, 0);
}

static void sum_piece(leat_depthwise_kernel *s, void *context) {
  leat_depthwise_window(s, clear, add_taps, context);
}

static void sum_vector(leat_depthwise_kernel *s, void *context) {
  leat_depthwise_pieces(s, sum_piece, context);
}

static void finish_vector(leat_depthwise_kernel *s, void *context) {
  const row_of_sums *r = context;
  k_value at = leat_depthwise_sums(s, k_sub(s->b, r->output, s->first));
  leat_contraction_finish(&s->c, 0, k_load(s->b, r->sums, at, LEAT_LANES, NULL));
}

static void one_row(leat_depthwise_kernel *s, void *context) {
  row_of_sums *r = context;
  leat_depthwise_put(s, 0, s->image);
  leat_depthwise_put(s, 1, s->row);
  leat_depthwise_vectors(s, sum_vector, context);
  if (r->direct) return;
  k_instr *loop = k_loop_begin(s->b, s->first, s->end, 1, NULL, 0);
  r->output = k_loop_index(loop);
  leat_depthwise_put(s, 2, r->output);
  leat_depthwise_vectors(s, finish_vector, context);
  k_loop_end(s->b, NULL, 0);
}

// Whether an output is stored past the caches, which wants whole lines.
static bool is_streamed(leat_lower *w) {
  bool streamed = false;
  for (uint32_t i = 0; i < w->unit->outputs.count; i++)
    streamed |= leat_lower_output(w, &w->unit->outputs.items[i])->streamed;
  return streamed;
}

void leat_lower_depthwise(leat_table *table, leat_unit *unit) {
  leat_lower *w = leat_lower_begin(table, unit);
  leat_depthwise_kernel s = leat_depthwise_begin(w);
  s.x = leat_lower_buffer(w, leat_item_memory(table, s.node->inputs[0])->storage);
  s.other = leat_lower_buffer(w, leat_item_memory(table, s.node->inputs[1])->storage);
  int64_t element = (int64_t)s.p->tile_panels * LEAT_LANES;
  s.ring = k_local(s.b, K_SPACE_REGISTER, s.dtype, s.to->slots * s.to->pitch * element);
  row_of_sums r = {.sums = k_local(s.b, K_SPACE_REGISTER, s.dtype, s.to->part * element)};
  r.direct = s.to->together && !is_streamed(w);
  leat_depthwise_place(&s);
  leat_depthwise_rows(&s, one_row, &r);
  leat_lower_end(w, leat_depthwise_tiles(&s), leat_unit_estimate(table, unit));
}
