// Rows of a that are gathered for a tile into a local array: what is computed, or lies by columns.
// By columns what is in memory becomes strips, the rows of one block each, so that a block reads
// what it needs of a k together, and of the next right behind it.
#include "codegen/contract.h"

// One vector of `gathered`: elements of a's last axis from `at` on, those below `end`, where the
// other one is at `across`.
static void gather_vector(leat_contraction *c, k_value across, k_value at, k_value end,
                          k_value to) {
  const leat_contraction_plan *p = c->p;
  int row_axis = p->item->axis[p->item->node->outputs[0].rank - 2];
  k_value row = p->transposed ? across : row_axis < 0 ? k_i64(c->b, 0) : c->w->at[row_axis].base;
  k_store(c->b, c->gathered, to, leat_contraction_operand(c, 0, row, at, end), NULL);
}

// All of the last axis, run by run: what hangs over the end of one is where the next will be.
static void gather_runs(leat_contraction *c, k_value slow_low, k_value slow_high) {
  k_builder *b = c->b;
  const leat_contraction_plan *p = c->p;
  int64_t fast = p->transposed ? p->rows.value : p->depth.value;
  k_instr *slow = k_loop_begin(b, slow_low, slow_high, 1, NULL, 0);
  k_value i = k_loop_index(slow);
  if (!p->transposed) leat_contraction_put(c, p->row_axes, i);
  k_value to = k_mul(b, k_sub(b, i, slow_low), k_i64(b, p->pitch));
  c->w->l.run = p->run;
  for (int64_t first = 0; first < fast; first += p->run)
    for (int64_t at = first; at < first + p->run; at += LEAT_LANES)
      gather_vector(c, i, k_i64(b, at), k_i64(b, first + p->run), k_add(b, to, k_i64(b, at)));
  c->w->l.run = 0;
  k_loop_end(b, NULL, 0);
}

// Where a's last axis goes on is the outer loop, so that what there is to divide for it is divided
// once for all that lies across, and of what lies across it is divided once for some vectors.
static void gather_vectors(leat_contraction *c, k_value slow_low, k_value slow_high,
                           k_value fast_low, k_value fast_high) {
  k_builder *b = c->b;
  const leat_contraction_plan *p = c->p;
  int64_t step = (int64_t)p->gathered_vectors * LEAT_LANES;
  k_instr *fast = k_loop_begin(b, fast_low, fast_high, step, NULL, 0);
  k_value first = k_loop_index(fast);
  k_instr *slow = k_loop_begin(b, slow_low, slow_high, 1, NULL, 0);
  k_value i = k_loop_index(slow);
  if (!p->transposed) leat_contraction_put(c, p->row_axes, i);
  k_value to = k_mul(b, k_sub(b, i, slow_low), k_i64(b, p->pitch));
  to = k_add(b, to, k_sub(b, first, fast_low));
  for (int v = 0; v < p->gathered_vectors; v++) {
    k_value side = k_i64(b, (int64_t)v * LEAT_LANES);
    gather_vector(c, i, k_add(b, first, side), fast_high, k_add(b, to, side));
  }
  k_loop_end(b, NULL, 0);
  k_loop_end(b, NULL, 0);
}

// Some strips side by side: for each k the rows of one go where its row k is, and what hangs over
// is where the next one will be. `whole`: all these rows exist, and what hangs over them, too.
static void gather_strips(leat_contraction *c, k_value first, k_value from, k_value end,
                          bool whole) {
  k_builder *b = c->b;
  const leat_contraction_plan *p = c->p;
  int lanes = p->strip_lanes;
  k_value masks[LEAT_MOST_STRIPS] = {0}, lane = k_lane(b, LEAT_i32, lanes);
  for (int s = 0; s < p->strips && !whole; s++) {
    k_value rest = k_sub(b, c->rows, k_add(b, first, k_i64(b, (int64_t)s * p->high)));
    rest = k_binary(b, K_MIN, rest, k_i64(b, lanes));
    masks[s] = k_lt(b, lane, k_cast(b, LEAT_i32, k_binary(b, K_MAX, rest, k_i64(b, 0))));
  }
  k_instr *loop = k_loop_begin(b, from, end, 1, NULL, 0);
  k_value k = k_loop_index(loop), row = k_mul(b, k, c->rows);
  k_value at = k_add(b, k_add(b, c->a_base, row), first);
  k_value to = k_mul(b, k_sub(b, first, c->first_row), k_i64(b, p->pitch));
  to = k_add(b, to, k_mul(b, k_sub(b, k, from), k_i64(b, p->high)));
  for (int s = 0; s < p->strips; s++) {
    int64_t down = (int64_t)s * p->high;
    k_value x = k_load(b, c->a_buffer, k_add(b, at, k_i64(b, down)), lanes, masks[s]);
    k_store(b, c->gathered, k_add(b, to, k_i64(b, down * p->pitch)), x, NULL);
  }
  k_loop_end(b, NULL, 0);
}

static void gather_by_strips(leat_contraction *c, k_value low, k_value high, k_value from,
                             k_value end) {
  k_builder *b = c->b;
  const leat_contraction_plan *p = c->p;
  int64_t rows = (int64_t)p->strips * p->high, reach = rows - p->high + p->strip_lanes;
  k_instr *loop = k_loop_begin(b, low, high, rows, NULL, 0);
  k_value first = k_loop_index(loop);
  k_if_begin(b, k_lt(b, c->rows, k_add(b, first, k_i64(b, reach))));
  gather_strips(c, first, from, end, false);
  k_if_else(b, NULL, 0);
  gather_strips(c, first, from, end, true);
  k_if_end(b, NULL, 0);
  k_loop_end(b, NULL, 0);
}

// Rows [low, high) of a, for k in [from, end), become `gathered`.
void leat_contraction_gather(leat_contraction *c, k_value low, k_value high, k_value from,
                             k_value end) {
  bool transposed = c->p->transposed;
  c->first_row = low;
  c->first_k = from;
  if (c->p->strips)
    gather_by_strips(c, low, high, from, end);
  else if (c->p->run)
    gather_runs(c, transposed ? from : low, transposed ? end : high);
  else if (transposed)
    gather_vectors(c, from, end, low, high);
  else
    gather_vectors(c, low, high, from, end);
}

k_value leat_contraction_gathered(leat_contraction *c, k_value row, int i, k_value k) {
  k_builder *b = c->b;
  const leat_contraction_plan *p = c->p;
  k_value slow = k_sub(b, row, c->first_row), fast = k_sub(b, k, c->first_k);
  k_value number = k_i64(b, i);
  if (p->strips)
    fast = k_add(b, k_mul(b, fast, k_i64(b, p->high)), number);
  else
    slow = k_add(b, slow, number);
  if (p->transposed && !p->strips) {
    k_value down = slow;
    slow = fast, fast = down;
  }
  return k_load(b, c->gathered, k_add(b, k_mul(b, slow, k_i64(b, p->pitch)), fast), 1, NULL);
}
