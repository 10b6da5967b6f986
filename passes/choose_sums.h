// Sums over the turns of a loop that are made behind it: choose_sums.c finds them, sums_behind.c
// makes them. Internal to passes/.
#ifndef LEAT_PASSES_CHOOSE_SUMS_H
#define LEAT_PASSES_CHOOSE_SUMS_H

#include "passes/regions.h"

typedef leat_vec(leat_value) leat_value_list;

// What a turn has of an operand, and where all turns' are: made outside of what the loop is given,
// or in what it fills.
typedef struct leat_sum_operand {
  leat_value value;  // in the body
  leat_value source; // that it is a reshape of, or itself
  bool given;
  uint32_t filled; // if it is not: the number of the rows
  leat_value rows; // outside
} leat_sum_operand;

// What a turn adds to a result of the loop: a product, or what is summed over the first axes.
typedef struct leat_sum_term {
  uint32_t result;
  const leat_node *next;        // in the body: what the result was to become
  const leat_node *of;          // in the body
  bool turned;                  // of a product: it is transposed
  uint32_t axes;                // of a sum: so many, or none
  leat_sum_operand operands[2]; // a sum has one
} leat_sum_term;

typedef struct leat_sums {
  const leat_pass_context *context;
  leat_graph *graph; // around the loop
  leat_region_node region;
  leat_graph *body;
  leat_value row; // in the body: which turn it is, in some order
  leat_row_maker *maker;
  leat_dim turns;
  uint32_t *uses; // by id, in the body
  bool *summed;   // by result
  leat_vec(leat_sum_term) terms;
  leat_value_list filled; // in the body: what rows are kept of
  uint32_t results;       // of the loop, without such rows
} leat_sums;

// Of the graph's loops that say nothing yet how their sums over turns are made: says it.
// *: loop → leat_sums, where some are made behind it.
leat_map leat_choose_sums(const leat_pass_context *context, leat_graph *graph);
// As the loop is by now.
void leat_sums_look_at(leat_sums *s, leat_node *loop);
// That the value is made of a row of what the loop is given, of another one in each turn.
bool leat_sums_is_given(const leat_sums *s, leat_value value);
bool leat_sums_find_filled(const leat_sums *s, leat_value value, uint32_t *out);

// -- sums_behind.c --------------------------------------------------------------------------------
// Makes them so. reads: of nodes that have gone since, what is read in their place.
void leat_make_sums_behind(leat_graph *graph, const leat_map *chosen, const leat_map *reads,
                           leat_arena *scratch);

#endif
