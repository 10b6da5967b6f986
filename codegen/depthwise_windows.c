// Along a row of outputs, what their windows read of the ring: each element once for all of the
// outputs beside each other that have it.
#include "codegen/depthwise.h"

int leat_depthwise_count(const leat_depthwise_kernel *s, const leat_depthwise_taps *taps) {
  return taps->row ? taps->count : (int)s->to->what.axes[0].window * taps->count;
}

k_value leat_depthwise_number(const leat_depthwise_kernel *s, const leat_depthwise_taps *taps,
                              int i) {
  if (!taps->row) return k_i64(s->b, i);
  k_value row = leat_depthwise_times(s, taps->row, s->to->what.axes[1].window);
  return k_add(s->b, row, k_i64(s->b, taps->first + i));
}

// The window's row, times the base.
static k_value row_of_tap(const leat_depthwise_kernel *s, k_value tap) {
  const leat_window_axis *a = &s->to->what.axes[0];
  k_value at = leat_depthwise_times(s, s->row, a->stride);
  at = k_add(s->b, at, leat_depthwise_times(s, tap, a->dilation));
  return k_sub(s->b, at, k_i64(s->b, a->before));
}

// Elements between others are not there.
static k_value is_multiple(const leat_depthwise_kernel *s, k_value at, int64_t base) {
  k_value rest = k_binary(s->b, K_REM, at, k_i64(s->b, base));
  return k_binary(s->b, K_EQ, rest, k_i64(s->b, 0));
}

void leat_depthwise_window(leat_depthwise_kernel *s, leat_depthwise_body *before,
                           leat_depthwise_taps_body *body, void *context) {
  k_builder *b = s->b;
  const leat_window_axis *down = &s->to->what.axes[0];
  int across = (int)s->to->what.axes[1].window, most = s->to->taps;
  if (s->to->together) {
    body(s, context, &(leat_depthwise_taps){0, across, NULL});
    return;
  }
  if (before) before(s, context);
  k_instr *loop = k_loop_begin(b, k_i64(b, 0), k_i64(b, down->window), 1, NULL, 0);
  k_value row = k_loop_index(loop);
  if (down->base > 1) k_if_begin(b, is_multiple(s, row_of_tap(s, row), down->base));
  for (int first = 0; first < across; first += most) {
    int count = across - first < most ? across - first : most;
    body(s, context, &(leat_depthwise_taps){first, count, row});
  }
  if (down->base > 1) k_if_end(b, NULL, 0);
  k_loop_end(b, NULL, 0);
}

// -- Outputs --------------------------------------------------------------------------------------

void leat_depthwise_walk(leat_depthwise_kernel *s, const leat_depthwise_taps *taps,
                         leat_depthwise_outputs_body *body, void *context, k_value *acc,
                         uint32_t count) {
  k_builder *b = s->b;
  int high = s->to->high, rest = (int)(s->to->what.axes[1].size % high);
  k_value all = k_sub(b, s->end, s->first), whole = k_binary(b, K_DIV, all, k_i64(b, high));
  k_instr *loop = k_loop_begin(b, k_i64(b, 0), whole, 1, acc, count);
  for (uint32_t i = 0; i < count; i++) acc[i] = k_loop_carried(loop, i);
  k_value number = k_loop_index(loop);
  leat_depthwise_outputs o = {taps, number, leat_depthwise_times(s, number, high), high};
  body(s, context, &o, acc);
  k_loop_end(b, acc, count);
  for (uint32_t i = 0; i < count; i++) acc[i] = k_result(b, loop, i);
  if (!rest) return;
  k_value old[LEAT_ACCUMULATORS];
  for (uint32_t i = 0; i < count; i++) old[i] = acc[i];
  k_value begin = leat_depthwise_times(s, whole, high);
  k_instr *last = k_if_begin(b, k_lt(b, begin, all));
  body(s, context, &(leat_depthwise_outputs){taps, whole, begin, rest}, acc);
  if (count) k_if_else(b, acc, count);
  k_if_end(b, count ? old : NULL, count);
  for (uint32_t i = 0; i < count; i++) acc[i] = k_result(b, last, i);
}

// An element of the row that some windows have there, `from` from where output 0's begins.
static void element(leat_depthwise_kernel *s, const leat_depthwise_outputs *o, int64_t from,
                    int window_row, k_value slot, leat_depthwise_use *use, void *context) {
  k_builder *b = s->b;
  const leat_window_axis *a = &s->to->what.axes[1];
  int64_t at = from - a->before, here = leat_depthwise_floor_div(at, a->base);
  if (at != here * a->base) return;
  here -= leat_depthwise_floor_div(leat_depthwise_least_offset(a), a->base);
  k_value x = NULL;
  for (int k = 0; k < o->taps->count; k++) {
    int64_t of_output = from - (o->taps->first + k) * a->dilation;
    if (of_output < 0 || of_output % a->stride || of_output / a->stride >= o->count) continue;
    if (!x) {
      k_value place = leat_depthwise_times(s, o->number, s->to->high * a->stride / a->base);
      place = leat_depthwise_times(s, k_add(b, place, k_i64(b, here)), LEAT_LANES);
      x = k_load(b, s->ring, k_add(b, k_add(b, slot, place), s->side), s->to->lanes, NULL);
    }
    use(s, context, (int)(of_output / a->stride), window_row * o->taps->count + k, x);
  }
}

static void elements_of_row(leat_depthwise_kernel *s, const leat_depthwise_outputs *o,
                            int window_row, k_value slot, leat_depthwise_use *use, void *context) {
  const leat_window_axis *a = &s->to->what.axes[1];
  int64_t first = o->taps->first * a->dilation;
  int64_t last = (o->taps->first + o->taps->count - 1) * a->dilation;
  int64_t more = (o->count - 1) * a->stride;
  if (a->dilation < 0)
    for (int64_t from = first + more; from >= last; from--)
      element(s, o, from, window_row, slot, use, context);
  else
    for (int64_t from = first; from <= last + more; from++)
      element(s, o, from, window_row, slot, use, context);
}

void leat_depthwise_elements(leat_depthwise_kernel *s, const leat_depthwise_outputs *outputs,
                             leat_depthwise_use *use, void *context) {
  const leat_window_axis *down = &s->to->what.axes[0];
  int rows = outputs->taps->row ? 1 : (int)down->window;
  if (outputs->count == s->to->high && !outputs->taps->row)
    leat_depthwise_prefetch(s, outputs->number);
  for (int i = 0; i < rows; i++) {
    k_value tap = outputs->taps->row ? outputs->taps->row : k_i64(s->b, i);
    k_value row = row_of_tap(s, tap);
    if (down->base > 1) row = k_binary(s->b, K_DIV, row, k_i64(s->b, down->base));
    elements_of_row(s, outputs, i, leat_depthwise_slot(s, row), use, context);
  }
}
