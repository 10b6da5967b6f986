// Calls of ops that fold or order elements along axes, and of those that draw random ones.
#include "tests/sweep/call.h"

#include <stdio.h>
#include <string.h>

// Reductions: any set of axes. A choice needs something to choose from.
void make_reduction(call *c) {
  bool chooses = c->op == LEAT_OP_argmax || c->op == LEAT_OP_argmin;
  bool any_count = !chooses && c->op != LEAT_OP_max && c->op != LEAT_OP_min,
       keepdims = rng_percent(&c->p->random, 30);
  test_value x = call_first_operand(c, c->dtype, 0, SHAPE_RANK, !any_count);
  int64_t axes[LEAT_MAX_RANK];
  int count = 0, all = rng_percent(&c->p->random, 25);
  c->out.rank = 0;
  for (int i = 0; i < x.rank; i++) {
    bool reduced = all || rng_percent(&c->p->random, 50);
    if (reduced) axes[count++] = i;
    if (!reduced || keepdims) c->out.dims[c->out.rank++] = reduced ? dim_const(1) : x.dims[i];
  }
  call_add_ints(c, "axis", count, axes);
  call_add_attribute(c, "keepdims");
  call_add_words(c, keepdims ? "true" : "false");
  c->out.dtype = chooses ? LEAT_i32 : c->dtype;
}

static void matrix(test_dim *dims, int batch, test_dim row, test_dim column, bool transposed) {
  dims[batch] = transposed ? column : row;
  dims[batch + 1] = transposed ? row : column;
}

void make_matmul(call *c) {
  program *p = c->p;
  bool transpose_a = rng_percent(&p->random, 30), transpose_b = rng_percent(&p->random, 30);
  test_value a = call_first_operand(c, c->dtype, 2, 3, false);
  int batch = a.rank - 2, shared = rng_percent(&p->random, 50) ? batch : 0;
  if (p->aliased) transpose_b = !transpose_a, shared = batch; // x by itself, turned
  test_dim row = a.dims[batch + transpose_a], inner = a.dims[batch + !transpose_a], column[1];
  test_dim b[LEAT_MAX_RANK];
  c->inner = inner;
  int64_t most = p->most_elements;
  p->most_elements = 130;
  program_shape(p, 1, 1, false, column);
  p->most_elements = most;
  if (p->aliased) *column = row;
  memcpy(b, a.dims, sizeof b);
  matrix(b, shared, inner, *column, transpose_b);
  call_operand(c, c->dtype, shared + 2, b);
  matrix(c->out.dims, batch, row, *column, false);
  call_add_attribute(c, "transpose_a");
  call_add_words(c, transpose_a ? "true" : "false");
  call_add_attribute(c, "transpose_b");
  call_add_words(c, transpose_b ? "true" : "false");
}

// Along one axis, in either direction; top_k needs as many elements as it takes.
void make_sort(call *c) {
  test_value x = call_first_operand(c, c->dtype, 1, SHAPE_RANK, false);
  int axis = (int)rng_below(&c->p->random, x.rank);
  if (c->op == LEAT_OP_top_k) {
    int64_t most = x.dims[axis].plus; // a run-time dim has at least these
    c->out.dims[axis] = dim_const(rng_below(&c->p->random, most + 1));
    call_add_int(c, "k", c->out.dims[axis].plus);
    c->second = c->out;
    c->second.dtype = LEAT_i32;
    snprintf(c->second.name, sizeof c->second.name, "p%u", c->p->values.count);
  } else {
    call_add_attribute(c, "descending");
    call_add_words(c, rng_percent(&c->p->random, 50) ? "true" : "false");
  }
  call_add_int(c, "axis", axis);
  if (c->op == LEAT_OP_argsort) c->out.dtype = LEAT_i32;
}

// Whether or not what is searched is sorted.
void make_searchsorted(call *c) {
  test_dim dims[LEAT_MAX_RANK];
  test_value x = call_first_operand(c, c->dtype, 1, 1, false);
  c->out.rank = program_shape(c->p, 0, 3, false, dims);
  if (c->p->aliased) c->out.rank = 1, dims[0] = x.dims[0];
  call_operand(c, c->dtype, c->out.rank, dims);
  memcpy(c->out.dims, dims, sizeof dims);
  c->out.dtype = LEAT_i32;
  call_add_attribute(c, "side");
  call_add_words(c, rng_percent(&c->p->random, 50) ? "\"left\"" : "\"right\"");
}

void make_cumulation(call *c) {
  test_value x = call_first_operand(c, c->dtype, 1, SHAPE_RANK, false);
  call_add_int(c, "axis", rng_below(&c->p->random, x.rank));
  call_add_attribute(c, "reverse");
  call_add_words(c, rng_percent(&c->p->random, 50) ? "true" : "false");
  call_add_attribute(c, "exclusive");
  call_add_words(c, rng_percent(&c->p->random, 50) ? "true" : "false");
}

void make_random_bits(call *c) {
  c->out.dtype = LEAT_u32;
  c->out.rank = program_shape(c->p, 0, SHAPE_RANK, false, c->out.dims);
  for (int i = 0; i < c->out.rank; i++) program_bind(c->p, c->out.dims[i]);
  call_add_dims(c, "shape", c->out.rank, c->out.dims);
  call_add_int(c, "seed", (int64_t)rng_next(&c->p->random) >> 1);
}

void make_permutation(call *c) {
  program_shape(c->p, 1, 1, false, c->out.dims);
  c->out.dtype = LEAT_i32;
  c->out.rank = 1;
  program_bind(c->p, c->out.dims[0]);
  call_add_attribute(c, "n");
  leat_text words = {0};
  test_dim_print(c->out.dims[0], &words);
  call_add_words(c, words.data);
  leat_text_finish(&words);
  call_add_int(c, "seed", (int64_t)rng_next(&c->p->random) >> 1);
  call_add_int(c, "count", rng_below(&c->p->random, 1 << 20));
}
