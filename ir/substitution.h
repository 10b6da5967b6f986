// Dims in the place of others, in what nodes know of dims: types and attributes.
#ifndef LEAT_IR_SUBSTITUTION_H
#define LEAT_IR_SUBSTITUTION_H

#include "ir/graph.h"

typedef struct leat_substitution {
  leat_dims *dims;
  leat_arena *arena; // of the arrays
  uint32_t count;    // of atoms that they hold; 0: nothing is replaced
  leat_dim *values;  // by atom id: what stands for it
  bool *known;
  bool failed; // a dim overflowed
} leat_substitution;

leat_substitution leat_substitution_begin(leat_dims *dims, leat_arena *arena);
void leat_substitution_set(leat_substitution *s, const leat_atom *atom, leat_dim value);
leat_dim leat_substitute_dim(leat_substitution *s, leat_dim dim);
leat_type leat_substitute_type(leat_substitution *s, const leat_type *type);
// In the graph's arena; bodies stay as they are.
void leat_substitute_attrs(leat_substitution *s, leat_graph *graph, leat_node *node);

#endif
