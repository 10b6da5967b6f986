// Complex numbers as pairs of reals: what each op on them means, once, in ops on their parts.
//
// Whoever computes says how a real op is applied: `legalize` adds nodes, the reference evaluates.
// So every target rounds where the formulas of ops/complex.c do.
#ifndef LEAT_OPS_COMPLEX_H
#define LEAT_OPS_COMPLEX_H

#include "ir/graph.h"

// A complex value, or a real one: then `im` is none.
typedef struct leat_parts {
  leat_value re, im;
} leat_parts;

typedef struct leat_real_ops {
  void *context;
  // {NULL}: it failed, and has said so. Inputs have one shape, but for `number`s.
  leat_value (*apply)(void *context, leat_op op, const leat_value *inputs, uint32_t count,
                      const leat_attr *attrs);
  leat_value (*number)(void *context, leat_dtype dtype, double value); // a scalar
} leat_real_ops;

static inline bool leat_dtype_is_complex(leat_dtype dtype) {
  return leat_dtype_kind_of(dtype) == LEAT_KIND_COMPLEX;
}

leat_dtype leat_part_dtype(leat_dtype complex); // f32 of c64, f64 of c128
// The op computes with, or converts to, complex numbers, and is defined by its parts.
bool leat_is_complex_op(const leat_node *node);
// Output 0 of such a node.
leat_parts leat_complex_parts(const leat_real_ops *ops, const leat_node *node,
                              const leat_parts *inputs);

#endif
