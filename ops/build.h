// Building typed nodes: what front ends and passes call to add an op to a graph.
//
// A node is typed at birth: leat_build checks arity and dtypes, inserts `broadcast` nodes for ops
// with LEAT_FLAG_BROADCASTS (NumPy's rule; a run-time dim broadcasts only against a literal 1), and
// runs the op's shape rule. On a violation it reports at `span` and returns {NULL}; nothing was
// added then.
#ifndef LEAT_OPS_BUILD_H
#define LEAT_OPS_BUILD_H

#include "ops/ops.h"

typedef struct leat_builder {
  leat_graph *graph; // in a body that is being made, what is used of outside is captured (region.h)
  leat_diag *diag;
  leat_span span;       // where errors point, and the new nodes' span
  const char *device;   // given to the new nodes; NULL: free
  const char *colocate; // the same
  leat_entry *entry;    // the same; effects are appended to entry->effects
  const char *place;    // the same; NULL: `prune` finds it
  bool infers;          // what the new nodes' elements are, too (ops/known.h)
} leat_builder;

// `name` is the path wished for: made unique with _1, _2, …. attrs: one for each attribute of the
// op, in its order (NULL when it has none).
leat_value leat_build(leat_builder *builder, const char *name, leat_op op, const leat_value *inputs,
                      uint32_t input_count, const leat_attr *attrs);

// A constant of any dtype and rank; copies the tensor. leat_build_scalar converts `value` to the
// dtype, which is not str.
leat_value leat_build_const(leat_builder *builder, const char *name, const leat_tensor *tensor);
leat_value leat_build_scalar(leat_builder *builder, const char *name, leat_dtype dtype,
                             double value);
leat_value leat_build_scalar_i64(leat_builder *builder, const char *name, leat_dtype dtype,
                                 int64_t value);

// The shape NumPy broadcasting gives two types; reports and returns false when they do not fit.
// What only a check while running can tell is left to the node that broadcasts them.
bool leat_broadcast_shape(leat_builder *builder, const leat_type *a, const leat_type *b,
                          leat_type *out);
// `value` itself when it has the shape already, else a broadcast of it. Dtype stays.
leat_value leat_build_broadcast(leat_builder *builder, leat_value value, const leat_type *shape);

// Always a node of that name.
leat_value leat_build_reshape(leat_builder *builder, const char *name, leat_value value,
                              const leat_type *shape);
// Zeros, or empty strings: a constant of that name, and what broadcasts it.
leat_value leat_build_zeros(leat_builder *builder, const char *name, const leat_type *type);
// rows, but row `at`, an integer, is the elements of `row`. Three nodes of that name.
leat_value leat_build_set_row(leat_builder *builder, const char *name, leat_value rows,
                              leat_value at, leat_value row);
// rows, and behind them one more, the elements of `row`. Two nodes of that name.
leat_value leat_build_append_row(leat_builder *builder, const char *name, leat_value rows,
                                 leat_value row);

// Where integers are due and a float is found that `/` made (a few ops before), a message says so.
#define LEAT_QUOTIENT_HINT "; `/` gives a float, `//` is floor division"
bool leat_is_quotient(leat_value value);
const char *leat_quotient_hint(leat_value value);

// `value` itself when it has the shape already, else with a check while running that it has.
leat_value leat_build_ensure(leat_builder *builder, leat_value value, const leat_type *shape);

// The dim op that an implicit conversion makes an integer of, through an identity, which tells it
// from a `cast` that is written: the step ends where it has no room. NULL: `node` is none.
const leat_node *leat_narrowed_dim(const leat_node *node);
// Whether something may have to hold of dims: there are some in it, or it is such a conversion.
bool leat_node_may_claim(const leat_node *node);
// Adds what must hold of the dims of `node` while the step runs. False: reported.
bool leat_node_claims(leat_graph *graph, leat_diag *diag, const leat_node *node,
                      leat_claims *claims);
// Whether only a check of its dims tells that there can be such a tensor.
bool leat_type_needs_check(leat_graph *graph, const leat_type *type);
// What a check_dims says, with the values as they are written.
const char *leat_check_text(leat_arena *arena, const leat_node *check);

// Infers the types of `node` again from its inputs (after a pass changed their dims). False:
// reported.
bool leat_infer_node(leat_graph *graph, leat_diag *diag, leat_node *node);

#endif
