// Calls of ops on strings that have attributes.
#include "tests/sweep/call.h"

// A third counts characters.
static void add_utf8(call *c) {
  if (!rng_percent(&c->p->random, 33)) return;
  call_add_attribute(c, "utf8");
  call_add_words(c, "true");
}

void make_substring(call *c) {
  call_first(c);
  call_add_int(c, "start", rng_below(&c->p->random, 12) - 6);
  call_add_int(c, "size", rng_below(&c->p->random, 8));
  add_utf8(c);
}

void make_str_length(call *c) {
  make_elementwise(c);
  add_utf8(c);
}

void make_join_strings(call *c) {
  test_value x = call_first_operand(c, c->dtype, 1, SHAPE_RANK, false);
  call_operand(c, c->dtype, 0, NULL);
  int axis = (int)rng_below(&c->p->random, x.rank);
  call_add_int(c, "axis", axis);
  for (int i = axis; i + 1 < x.rank; i++) c->out.dims[i] = c->out.dims[i + 1];
  c->out.rank = x.rank - 1;
}

void make_strip_string(call *c) {
  make_elementwise(c);
  call_add_attribute(c, "left");
  call_add_words(c, rng_percent(&c->p->random, 60) ? "true" : "false");
  call_add_attribute(c, "right");
  call_add_words(c, rng_percent(&c->p->random, 60) ? "true" : "false");
}

// By a comma, with room for the pieces of all but the largest strings, which have none.
void make_split_strings(call *c) {
  enum { ROOM = 13 };
  call_first_operand(c, c->dtype, 0, SHAPE_RANK - 1, false);
  call_add_words(c, ", \"a,\"");
  call_add_int(c, "size", ROOM);
  c->out.dims[c->out.rank++] = dim_const(ROOM);
}

void make_regex(call *c) {
  static const char *const patterns[] = {"\"[a-z0-9]*\"", "\"(.)(.)\"", "\"a|b*\"",
                                         "\"(?i)[^a]+\""};
  enum { COUNT = sizeof patterns / sizeof *patterns };
  call_first_operand(c, c->dtype, 0, SHAPE_RANK, false);
  call_add_words(c, ", ");
  call_add_words(c, patterns[rng_below(&c->p->random, COUNT)]);
  if (c->op == LEAT_OP_regex_full_match) {
    c->out.dtype = LEAT_bool;
    return;
  }
  call_add_words(c, ", \"<\\\\0>\"");
  call_add_attribute(c, "all");
  call_add_words(c, rng_percent(&c->p->random, 50) ? "true" : "false");
}
