// Calls of ops on strings that have attributes.
#include "tests/sweep/call.h"

void make_substring(call *c) {
  call_first(c);
  call_add_int(c, "start", rng_below(&c->p->random, 12) - 6);
  call_add_int(c, "size", rng_below(&c->p->random, 8));
}

void make_join_strings(call *c) {
  test_value x = call_first_operand(c, c->dtype, 1, SHAPE_RANK, false);
  call_operand(c, c->dtype, 0, NULL);
  int axis = (int)rng_below(&c->p->random, x.rank);
  call_add_int(c, "axis", axis);
  for (int i = axis; i + 1 < x.rank; i++) c->out.dims[i] = c->out.dims[i + 1];
  c->out.rank = x.rank - 1;
}
