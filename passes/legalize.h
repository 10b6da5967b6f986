// What the files of pass `legalize` share: building what a node becomes, and complex numbers by
// their parts, a real and an imaginary one.
//
// A value {NULL} is one that could not be built, which has been said; what is built of it is {NULL}
// too.
#ifndef LEAT_PASSES_LEGALIZE_H
#define LEAT_PASSES_LEGALIZE_H

#include "ops/complex.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

typedef struct leat_legalizer {
  leat_graph *graph;
  leat_diag *diag;
  leat_rewriter rewriter;
  const leat_node *node; // being rewritten
} leat_legalizer;

// A complex value, or a real one: then `im` is none.
typedef struct leat_parts {
  leat_value re, im;
} leat_parts;

leat_value leat_legal_op(leat_legalizer *l, leat_op op, const leat_value *inputs, uint32_t count,
                         const leat_attr *attrs);
leat_value leat_legal_number(leat_legalizer *l, leat_dtype dtype, double value); // a scalar
leat_value leat_legal_cast(leat_legalizer *l, leat_dtype dtype, leat_value value);

// -- complex.c, complex_functions.c ---------------------------------------------------------------

// The op computes with, or converts to, complex numbers, and is written in ops on their parts.
bool leat_is_complex_op(const leat_node *node);
// Output 0 of such a node.
leat_parts leat_complex_parts(leat_legalizer *l, const leat_node *node, const leat_parts *inputs);
// The product of complex numbers that the node is.
leat_value leat_complex_product(leat_legalizer *l, const leat_node *node);

typedef leat_parts (*leat_complex_rule)(leat_legalizer *l, const leat_parts *inputs);
leat_complex_rule leat_complex_function(leat_op op); // exp, sin, …; NULL: the op is none of them

// -- Real ops -------------------------------------------------------------------------------------

static inline leat_value r_unary(leat_legalizer *l, leat_op op, leat_value x) {
  return leat_legal_op(l, op, &x, 1, NULL);
}

static inline leat_value r_binary(leat_legalizer *l, leat_op op, leat_value x, leat_value y) {
  leat_value both[] = {x, y};
  return leat_legal_op(l, op, both, 2, NULL);
}

static inline leat_value r_where(leat_legalizer *l, leat_value p, leat_value x, leat_value y) {
  leat_value all[] = {p, x, y};
  return leat_legal_op(l, LEAT_OP_where, all, 3, NULL);
}

static inline leat_dtype r_dtype(leat_value x) {
  return x.node ? leat_value_type(x)->dtype : LEAT_f32; // it failed before
}

static inline leat_value r_number(leat_legalizer *l, leat_value like, double value) {
  return leat_legal_number(l, r_dtype(like), value);
}

#define R_UNARY(function, op)                                                                      \
  static inline leat_value function(leat_legalizer *l, leat_value x) {                             \
    return r_unary(l, op, x);                                                                      \
  }
#define R_BINARY(function, op)                                                                     \
  static inline leat_value function(leat_legalizer *l, leat_value x, leat_value y) {               \
    return r_binary(l, op, x, y);                                                                  \
  }
R_UNARY(r_abs, LEAT_OP_abs)
R_UNARY(r_neg, LEAT_OP_neg)
R_UNARY(r_sqrt, LEAT_OP_sqrt)
R_UNARY(r_exp, LEAT_OP_exp)
R_UNARY(r_log, LEAT_OP_log)
R_UNARY(r_log1p, LEAT_OP_log1p)
R_UNARY(r_sin, LEAT_OP_sin)
R_UNARY(r_cos, LEAT_OP_cos)
R_BINARY(r_add, LEAT_OP_add)
R_BINARY(r_sub, LEAT_OP_sub)
R_BINARY(r_mul, LEAT_OP_mul)
R_BINARY(r_div, LEAT_OP_div)
R_BINARY(r_less, LEAT_OP_less)
R_BINARY(r_equal, LEAT_OP_equal)
R_BINARY(r_and, LEAT_OP_and)
R_BINARY(r_or, LEAT_OP_or)
R_BINARY(r_atan2, LEAT_OP_atan2)
R_BINARY(r_hypot, LEAT_OP_hypot)
R_BINARY(r_copysign, LEAT_OP_copysign)

static inline leat_value r_times(leat_legalizer *l, leat_value x, double by) {
  return r_mul(l, x, r_number(l, x, by));
}

static inline leat_value r_is(leat_legalizer *l, leat_value x, double value) {
  return r_equal(l, x, r_number(l, x, value));
}

static inline leat_value r_exceeds(leat_legalizer *l, leat_value x, double value) {
  return r_less(l, r_number(l, x, value), x);
}

#endif
